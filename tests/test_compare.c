/* The comparison: its grammar, its rows, the projection. */
#include "onecontext.h"

#include "compare/compare.h"
#include "la/la.h"
#include "systems/systems.h"

/* ---- Grammar ---- */

static void assert_refused(const char *text, const char *part)
{
    cmp_spec *specs = NULL;
    size_t count = 0;
    assert_int_equal(cmp_specs_parse(ctx, text, &specs, &count), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), part)) fail_msg("'%s' is not in '%s'", part, sock_message(ctx));
    assert_null(specs);
}

static void test_methods__a_list_takes_parameters_groups_and_braces(void **state)
{
    cmp_spec *specs = NULL;
    size_t count = 0;
    char text[200];
    (void)state;
    assert_int_equal(
        cmp_specs_parse(ctx, "sock:drift=poly:degree=2,diffusion={fourier:p=50,eta=1},constant,truth", &specs, &count),
        SOCK_OK);
    assert_int_equal(count, 3);
    assert_string_equal(specs[0].method->name, "sock");
    assert_string_equal(cmp_spec_text(&specs[0], "drift"), "poly:degree=2");
    assert_string_equal(cmp_spec_text(&specs[0], "diffusion"), "fourier:p=50,eta=1");
    assert_true(cmp_spec_is(&specs[0], "fit-on", "all"));
    cmp_spec_format(&specs[0], text, sizeof text);
    assert_string_equal(text, "sock:drift=poly:degree=2,diffusion={fourier:p=50,eta=1}");
    assert_string_equal(specs[1].method->name, "constant");
    assert_string_equal(specs[2].method->name, "truth");
    cmp_specs_free(specs);
}

/* A number may be auto where the help says so, whatever its default is. */
static void test_methods__auto_is_a_value_where_it_is_allowed(void **state)
{
    cmp_spec spec;
    (void)state;
    assert_int_equal(cmp_spec_parse(ctx, "gedmd:degree=auto", &spec), SOCK_OK);
    assert_true(isnan(cmp_spec_number(&spec, "degree")));
    assert_int_equal(cmp_spec_parse(ctx, "gedmd", &spec), SOCK_OK);
    assert_true(cmp_spec_number(&spec, "degree") == 2);
}

static void prop_methods__text_reads_back_as_the_same_method(void **state)
{
    (void)state;
    for (size_t i = 0; cmp_method_at(i); i++) {
        cmp_spec one, two;
        char text[300];
        assert_ptr_equal(cmp_method_find(cmp_method_at(i)->name), cmp_method_at(i));
        assert_int_equal(cmp_spec_parse(ctx, cmp_method_at(i)->name, &one), SOCK_OK);
        cmp_spec_format(&one, text, sizeof text);
        assert_string_equal(text, cmp_method_at(i)->name);
        assert_int_equal(cmp_spec_parse(ctx, text, &two), SOCK_OK);
        assert_memory_equal(&one, &two, sizeof one);
    }
    assert_null(cmp_method_find("nobody"));
}

static void test_methods__groups_hold_their_methods_once(void **state)
{
    cmp_spec *specs = NULL;
    size_t count = 0, all = 0;
    (void)state;
    assert_int_equal(cmp_specs_parse(ctx, "baselines,constant,baselines-all", &specs, &count), SOCK_OK);
    for (size_t i = 0; i < count; i++) assert_string_equal(specs[i].method->group, "baselines");
    assert_true(count >= 2);
    cmp_specs_free(specs);
    assert_int_equal(cmp_specs_parse(ctx, "all", &specs, &all), SOCK_OK);
    assert_non_null(cmp_method_at(all - 1));
    assert_null(cmp_method_at(all));
    cmp_specs_free(specs);
    assert_int_equal(cmp_specs_parse(ctx, "sock-all", &specs, &count), SOCK_OK);
    assert_int_equal(count, 4);
    cmp_specs_free(specs);
}

static void test_methods__bad_text_is_refused_with_what_is_allowed(void **state)
{
    (void)state;
    assert_refused("nobody", "'nobody' is not known; allowed: sock,");
    assert_refused("", "a name is missing");
    assert_refused("constant,", "ends in a comma");
    assert_refused(",constant", "a name is missing");
    assert_refused("constant,,truth", "a name is missing");
    assert_refused("constant:degree=2", "constant has no parameter 'degree'; allowed: fit-on");
    assert_refused("constant:fit-on=test", "fit-on is 'test'; allowed: all|train");
    assert_refused("gedmd:ridge=auto", "ridge is 'auto'; allowed: a number >= 0");
    assert_refused("constant:fit-on", "'fit-on' is not key=value");
    assert_refused("constant:", "is not key=value");
    assert_refused("truth:a=1", "allowed: none");
    assert_refused("constant=3", "after the name 'constant'");
    assert_refused("sock:drift={gauss", "the brace before the value of drift is not closed at its end: '{gauss'");
    assert_refused("sock:drift={", "the brace before the value of drift is not closed");
    assert_refused("sock:drift={gauss}x", "the brace before the value of drift is not closed at its end: '{gauss}x'");
    assert_refused("sock:drift=gauss}x,nobody", "'nobody' is not known"); /* a brace that closes nothing */
    assert_refused("sock:drift=", "drift is ''; allowed: a kernel");
    assert_refused("sock:drift={}", "drift is ''; allowed: a kernel");
    assert_refused("gedmd:ridge=", "ridge is ''; allowed: a number >= 0");
    assert_refused("gedmd:ridge=1x", "ridge is '1x'; allowed: a number >= 0");
    assert_refused("gedmd:ridge=-1", "ridge is '-1'; allowed: a number >= 0");
    assert_refused("gedmd:ridge=1e301", "ridge is '1e301'; allowed: a number >= 0");
    assert_refused("bisde:passes=2.5", "passes is '2.5'; allowed: a whole number from 1 to 10^6");
    assert_refused("bisde:passes=0", "passes is '0'; allowed: a whole number from 1 to 10^6");
    assert_refused("constant:fit-on=al", "fit-on is 'al'; allowed: all|train");
    char text[300] = "sock:drift=";
    memset(text + strlen(text), 'g', CMP_VALUE_SIZE);
    assert_refused(text, "the value of drift is longer than 95 characters");
    cmp_spec spec = {0};
    assert_int_equal(cmp_spec_parse(ctx, "constant,truth", &spec), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "'constant,truth' goes on after the method 'constant'; one is wanted"));
    assert_int_equal(cmp_spec_parse(ctx, "nobody", &spec), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "'nobody' is not known; allowed: sock,"));
    assert_null(spec.method);
}

static sock_status try_parse(sock_context *context, void *arg)
{
    cmp_spec *specs = NULL;
    size_t count = 0;
    SK_TRY(cmp_specs_parse(context, arg, &specs, &count));
    cmp_specs_free(specs);
    return SOCK_OK;
}

static void test_methods__every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const lists[] = {"constant,truth", "all", "nw,all"};
    for (size_t i = 0; i < 3; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", lists[i]);
        assert_true(for_each_allocation(ctx, try_parse, text) > 0);
    }
}

/* ---- Rows ---- */

typedef struct made {
    sys_instance *instance;
    sock_data *set[SYS_SETS];
    sock_model *truth;
    sock_options *options;
    cmp_case c;
} made;

static void make(const char *system, size_t trajectories, made *m)
{
    *m = (made){0};
    assert_int_equal(sys_new(ctx, sys_find(system), 3, &m->instance), SOCK_OK);
    for (int s = 0; s < SYS_SETS; s++) m->instance->trajectories[s] = trajectories;
    for (int s = 0; s < SYS_SETS; s++)
        assert_int_equal(sys_generate(ctx, m->instance, (sys_set)s, &m->set[s]), SOCK_OK);
    assert_int_equal(sys_truth(ctx, m->instance, &m->truth), SOCK_OK);
    m->options = sock_options_new(ctx);
    assert_non_null(m->options);
    assert_int_equal(sock_options_set(ctx, m->options, "mmd-paths", "20"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, m->options, "mmd-step", "0.02"), SOCK_OK);
    m->c = (cmp_case){.train = m->set[SYS_TRAIN],
                      .validation = m->set[SYS_VALIDATION],
                      .test = m->set[SYS_TEST],
                      .truth = m->truth,
                      .options = m->options};
}

static void unmake(made *m)
{
    sock_options_free(m->options);
    sock_model_free(m->truth);
    for (int s = 0; s < SYS_SETS; s++) sock_data_free(m->set[s]);
    sys_free(m->instance);
}

static size_t run(const char *text, const cmp_case *c, cmp_row rows[CMP_MOST_ROWS])
{
    cmp_spec spec;
    size_t count = 0;
    assert_int_equal(cmp_spec_parse(ctx, text, &spec), SOCK_OK);
    assert_int_equal(cmp_run(ctx, &spec, c, rows, &count), SOCK_OK);
    return count;
}

static void test_rows__the_truth_has_the_scores_of_the_truth(void **state)
{
    made m;
    cmp_row rows[CMP_MOST_ROWS];
    (void)state;
    make("gbm", 5, &m);
    assert_int_equal(run("truth", &m.c, rows), 1);
    assert_true(rows[0].made);
    assert_close(rows[0].scores.perplexity.value, 100, 1e-12, 0);
    assert_true(rows[0].scores.re_f.valid && rows[0].scores.re_f.value == 0);
    assert_true(rows[0].scores.mmd2.valid && rows[0].scores.mmd2.value == rows[0].scores.mmd2_truth.value);
    assert_true(rows[0].psd_fraction == 0 && rows[0].worst_eigenvalue >= 0);
    m.c.truth = NULL;
    assert_int_equal(run("truth", &m.c, rows), 1);
    assert_false(rows[0].made);
    assert_non_null(strstr(rows[0].reason, "no truth"));
    unmake(&m);
}

/* The steps again by hand: f = sum D / sum h, a = mean of r r' / h; with and without the validation data. */
static void test_rows__constant_is_the_mean_of_the_steps(void **state)
{
    made m;
    cmp_spec spec;
    cmp_fitted fitted;
    (void)state;
    make("dense", 4, &m);
    for (int joined = 0; joined < 2; joined++) {
        double f[2] = {0}, a[4] = {0}, got_f[2], got_a[4], time = 0, steps = 0;
        const double *t, *x, zero[2] = {0};
        for (int pass = 0; pass < 2; pass++)
            for (int s = 0; s <= joined; s++)
                for (size_t j = 0; j < 4; j++) {
                    size_t length = sock_data_trajectory(m.set[s], j, &t, &x);
                    for (size_t i = 1; i < length; i++) {
                        double h = t[i] - t[i - 1], r[2];
                        time += pass ? 0 : h;
                        steps += pass;
                        for (int k = 0; k < 2; k++) r[k] = x[2 * i + (size_t)k] - x[2 * i - 2 + (size_t)k];
                        for (int k = 0; k < 2; k++) f[k] += pass ? 0 : r[k];
                        for (int k = 0; pass && k < 4; k++)
                            a[k] += (r[k / 2] - h * f[k / 2] / time) * (r[k % 2] - h * f[k % 2] / time) / h;
                    }
                }
        for (int k = 0; k < 2; k++) f[k] /= time;
        for (int k = 0; k < 4; k++) a[k] /= steps;
        assert_int_equal(cmp_spec_parse(ctx, joined ? "constant" : "constant:fit-on=train", &spec), SOCK_OK);
        assert_int_equal(cmp_fit(ctx, &spec, &m.c, &fitted), SOCK_OK);
        assert_int_equal(sock_model_drift(ctx, fitted.model, 1, zero, got_f), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, fitted.model, 1, zero, got_a), SOCK_OK);
        assert_all_close(2, got_f, f, 1e-12);
        assert_all_close(4, got_a, a, 1e-12);
        assert_string_equal(sock_model_name(fitted.model, 1), sock_data_name(m.c.train, 1));
        cmp_fitted_clear(&fitted);
    }
    unmake(&m);
}

/* ---- Where a is not positive semi-definite ---- */

/* The nearest positive semi-definite matrix: P - A is the negative part, so P >= 0, P - A >= 0 and <P, P - A> = 0. */
static void prop_project__is_the_nearest_positive_semi_definite_matrix(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 6; d++) {
        double a[36] = {0}, p[36], u[36], values[6], inner = 0, size = 0;
        sk_normals((sk_key){7, SK_PURPOSE_TEST}, d, 0, 0, d * d, u);
        for (size_t i = 0; i < d * d; i++) a[i] = u[i] + u[i % d * d + i / d];
        memcpy(p, a, sizeof a);
        cmp_project(1, d, p);
        for (size_t i = 0; i < d * d; i++) {
            u[i] = p[i] - a[i];
            inner += p[i] * u[i];
            size += a[i] * a[i];
            assert_close(p[i], p[i % d * d + i / d], 1e-14, sqrt(size));
        }
        assert_true(fabs(inner) <= 1e-13 * size);
        for (int part = 0; part < 2; part++) {
            assert_int_equal(sk_eigh(ctx, d, part ? u : p, d, values), SOCK_OK);
            assert_true(values[0] >= -1e-13 * sqrt(size));
        }
    }
}

static void wavy_drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) out[i] = x[i];
}

/* a = x - 0.5: negative on part of the points. */
static void wavy_diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    (void)d;
    for (size_t i = 0; i < count; i++) out[i] = x[i] - 0.5;
}

static void test_rows__an_indefinite_a_gives_two_rows(void **state)
{
    made m;
    cmp_spec spec;
    cmp_row rows[CMP_MOST_ROWS];
    size_t count, bad = 0, points = 0;
    double worst = INFINITY;
    (void)state;
    make("gbm", 6, &m);
    assert_int_equal(cmp_spec_parse(ctx, "constant", &spec), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, m.options, "delta", "10"), SOCK_OK);
    cmp_fitted fitted = {.drift = wavy_drift, .diffusion = wavy_diffusion};
    assert_int_equal(cmp_wrap(ctx, m.c.train, &fitted), SOCK_OK);
    assert_int_equal(cmp_score(ctx, &spec, &m.c, &fitted, rows, &count), SOCK_OK);
    for (size_t j = 0; j < 6; j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(m.c.test, j, &t, &x);
        for (size_t i = 0; i < length; i++) {
            bad += x[i] < 0.5;
            worst = fmin(worst, x[i] - 0.5);
        }
        points += length;
    }
    assert_true(bad > 0 && bad < points);
    assert_int_equal(count, 2);
    assert_true(rows[0].made && rows[1].made && !rows[0].projected && rows[1].projected);
    for (int i = 0; i < 2; i++) {
        assert_close(rows[i].psd_fraction, (double)bad / (double)points, 1e-14, 0);
        assert_close(rows[i].worst_eigenvalue, worst, 1e-14, 0);
    }
    assert_false(rows[0].scores.perplexity.valid || rows[0].scores.mmd2.valid || rows[0].scores.perplexity_raw.valid);
    assert_non_null(strstr(rows[0].scores.mmd2.reason, "not positive semi-definite on"));
    assert_true(rows[0].scores.re_f.valid && rows[0].scores.re_a.valid);
    assert_true(rows[1].scores.perplexity.valid && rows[1].scores.mmd2.valid && rows[1].scores.re_a.valid);
    assert_true(rows[1].scores.re_a.value < rows[0].scores.re_a.value);
    assert_true(rows[1].scores.re_f.value == rows[0].scores.re_f.value);
    cmp_fitted_clear(&fitted);
    unmake(&m);
}

/* ---- SOCK itself ---- */

static void test_rows__sock_names_its_kernels(void **state)
{
    made m;
    cmp_row rows[CMP_MOST_ROWS];
    (void)state;
    make("gbm", 6, &m);
    assert_int_equal(run("sock-linear", &m.c, rows), 1);
    assert_true(rows[0].made && rows[0].scores.perplexity.valid);
    assert_non_null(strstr(rows[0].kernels, "linear"));
    assert_true(rows[0].cpu_seconds > 0 && rows[0].wall_seconds > 0);
    assert_true(rows[0].scores.re_f.value < 30);
    unmake(&m);
}

/* Memory that runs out anywhere gives a row with that reason: no crash, no leak, no table lost. */
static void test_rows__survive_every_failed_allocation(void **state)
{
    static const char *const methods[] = {"bisde:degree=2", "gedmd-commutator", "nw:choose=rule", "constant", "truth"};
    made m;
    (void)state;
    make("expdyn", 4, &m);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        cmp_row rows[CMP_MOST_ROWS];
        cmp_spec spec;
        size_t count = 0, failures = 0;
        assert_int_equal(cmp_spec_parse(ctx, methods[i], &spec), SOCK_OK);
        for (long k = 1;; k++) {
            const long before = sk_allocations(ctx);
            sk_fail_allocation(ctx, k);
            assert_int_equal(cmp_run(ctx, &spec, &m.c, rows, &count), SOCK_OK);
            bool reached = sk_allocations(ctx) - before >= k;
            sk_fail_allocation(ctx, 0);
            if (!reached) break;
            failures++;
            const cmp_row *failed = rows[0].made ? &rows[count - 1] : &rows[0];
            assert_false(failed->made);
            assert_int_equal(failed->status, SOCK_ENOMEM);
            assert_non_null(strstr(failed->reason, "out of memory"));
        }
        assert_true(rows[0].made && failures > 5);
    }
    unmake(&m);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return 1;
}

static void test_rows__an_interruption_ends_the_run(void **state)
{
    made m;
    cmp_spec spec;
    cmp_row rows[CMP_MOST_ROWS];
    size_t count;
    (void)state;
    make("gbm", 4, &m);
    assert_int_equal(cmp_spec_parse(ctx, "sock-linear", &spec), SOCK_OK);
    sock_set_monitor(ctx, stop, NULL);
    assert_int_equal(cmp_run(ctx, &spec, &m.c, rows, &count), SOCK_ECANCELLED);
    sock_set_monitor(ctx, NULL, NULL);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods__a_list_takes_parameters_groups_and_braces),
        cmocka_unit_test(test_methods__auto_is_a_value_where_it_is_allowed),
        cmocka_unit_test(prop_methods__text_reads_back_as_the_same_method),
        cmocka_unit_test(test_methods__groups_hold_their_methods_once),
        cmocka_unit_test(test_methods__bad_text_is_refused_with_what_is_allowed),
        cmocka_unit_test(test_methods__every_allocation_may_fail),
        cmocka_unit_test(test_rows__the_truth_has_the_scores_of_the_truth),
        cmocka_unit_test(test_rows__constant_is_the_mean_of_the_steps),
        cmocka_unit_test(prop_project__is_the_nearest_positive_semi_definite_matrix),
        cmocka_unit_test(test_rows__an_indefinite_a_gives_two_rows),
        cmocka_unit_test(test_rows__sock_names_its_kernels),
        cmocka_unit_test(test_rows__survive_every_failed_allocation),
        cmocka_unit_test(test_rows__an_interruption_ends_the_run),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
