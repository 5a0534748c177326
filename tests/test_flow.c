/* test_flow.c - moments of a step against an independent program, where they are known in closed form, and where
 * nothing can be right. */
#include "noisecases.h"
#include "wells.h"

enum { MOST = 512 };

/* What a flow gives for `count` starts of a model; all of it. */
typedef struct result {
    double mean[MOST], cov[MOST], slope[MOST], x[MOST], weight[MOST], onward[MOST], average[MOST], drift[MOST],
        diffusion[MOST];
} result;

static void run(const sock_model *model, const sk_flow_spec *spec, const sk_flow_starts *starts, bool nodes, result *r)
{
    sk_sampler *sampler = NULL;
    sk_flow *flow = NULL;
    assert_int_equal(sk_sampler_new(ctx, model, &sampler), SOCK_OK);
    assert_int_equal(sk_flow_new(ctx, model, sampler, spec, starts->count, &flow), SOCK_OK);
    sk_flow_ends ends = {.mean = r->mean, .cov = r->cov, .slope = r->slope};
    if (nodes)
        ends =
            (sk_flow_ends){r->mean, r->cov, r->slope, r->x, r->weight, r->onward, r->average, r->drift, r->diffusion};
    sk_flow_run(ctx, flow, starts, &ends);
    sk_flow_free(flow);
    sk_sampler_free(sampler);
}

/* ---- The oracle ---- */

static void check_case(const sock_model *model, json_t *at)
{
    double *m = oracle_numbers(at, "m", NULL), *p = oracle_numbers(at, "P", NULL);
    const double h = json_number_value(json_object_get(at, "h"));
    const size_t s = (size_t)json_integer_value(json_object_get(at, "substeps"));
    const bool certain = p[0] == 0;
    sk_flow_spec spec = {{s, false}, oracle_reach, NULL, NULL};
    const sk_flow_starts starts = {1, m, certain ? NULL : p, &h};
    static result r;
    run(model, &spec, &starts, true, &r);
    compare(at, "mean", r.mean);
    compare(at, "cov", r.cov);
    compare(at, "J", r.slope);
    compare(at, "J", r.onward);
    compare(at, "F", r.average);
    compare(at, "nodes", r.x);
    compare(at, "weights", r.weight);
    for (size_t j = 1; j <= s; j++)
        for (size_t k = 0; k < 2; k++) r.drift[k] += r.drift[2 * j + k];
    compare(at, "If", r.drift);
    compare(at, "Ia", r.diffusion);
    assert_int_equal(json_array_size(json_object_get(at, "weights")), sk_flow_nodes(2, s, certain));
    spec.substeps.split = true;
    run(model, &spec, &starts, true, &r);
    compare(at, s > 1 ? "split_mean" : "mean", r.mean);
    compare(at, s > 1 ? "split_cov" : "cov", r.cov);
    compare(at, "J", r.slope);
    compare(at, "Ia", r.diffusion);
    free(m);
    free(p);
}

static void test_flow__agrees_with_the_oracle(void **state)
{
    (void)state;
    json_t *root = oracle_load("noise_flow.json"), *cases = json_object_get(root, "cases");
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    assert_int_equal(json_array_size(cases), 3);
    for (size_t i = 0; i < 3; i++) check_case(model, json_array_get(cases, i));
    sock_model_free(model);
    json_decref(root);
}

/* ---- Linear drift: everything is known ---- */

static void turn(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++, x += d, f += d) {
        f[0] = -x[0] + 2 * x[1];
        f[1] = -2 * x[0] - x[1];
    }
}

/* Isotropic: the rotation does not show in V = s (1 - exp(-2 h)) / 2. */
static void steady(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count * d; i++) a[i * d + i % d] = 0.6;
}

static double linear_error(size_t s, bool split)
{
    const double h = 0.7, m[] = {1, -0.5}, reach[] = {1e-3, 1e-3}, c = cos(2 * h), si = sin(2 * h), decay = exp(-h);
    const double mean[] = {decay * (c * m[0] + si * m[1]), decay * (-si * m[0] + c * m[1])};
    const double v = 0.6 * (1 - exp(-2 * h)) / 2, slope[] = {decay * c, decay * si, -decay * si, decay * c};
    const sk_flow_spec spec = {{s, split}, reach, NULL, NULL};
    const sk_flow_starts starts = {1, m, NULL, &h};
    sock_model *model = wrap_fields(ctx, 2, turn, steady, NULL);
    double worst = 0;
    static result r;
    run(model, &spec, &starts, false, &r);
    for (size_t k = 0; k < 2; k++) worst = fmax(worst, fabs(r.mean[k] - mean[k]));
    for (size_t k = 0; k < 4; k++) worst = fmax(worst, fabs(r.cov[k] - (k % 3 == 0 ? v : 0)));
    for (size_t k = 0; k < 4; k++) worst = fmax(worst, fabs(r.slope[k] - slope[k]));
    sock_model_free(model);
    return worst;
}

static void test_flow__falls_by_four_when_substeps_double(void **state)
{
    (void)state;
    const double some = linear_error(8, false), twice = linear_error(16, false);
    assert_true(some < 0.02 && some / twice > 3.4 && some / twice < 4.6);
}

static void test_flow__split_changes_nothing_where_the_drift_is_linear(void **state)
{
    (void)state;
    /* the halves have the same substeps, but the points in the middle stand for the law only to reach^2 */
    assert_close(linear_error(16, true), linear_error(16, false), 1e-4, 1);
}

/* ---- Coordinates that do not know each other ---- */

static void prop_flow__independent_coordinates_flow_apart(void **state)
{
    (void)state;
    const double h = 0.4, m[] = {0.3, -1.1, 0.8}, reach[] = {1e-3, 1e-3, 1e-3}, hs[] = {h, h, h};
    const double p[9] = {0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.05}, alone[] = {0.1, 0.2, 0.05};
    const sk_flow_spec spec = {{4, false}, reach, NULL, NULL};
    sock_model *three = wrap_fields(ctx, 3, wells, growing, NULL), *one = wrap_fields(ctx, 1, wells, growing, NULL);
    static result r, q;
    run(three, &spec, &(sk_flow_starts){1, m, p, &h}, false, &r);
    run(one, &spec, &(sk_flow_starts){3, m, alone, hs}, false, &q);
    for (size_t k = 0; k < 3; k++) {
        assert_close(r.mean[k], q.mean[k], 1e-12, 1);
        assert_close(r.cov[4 * k], q.cov[k], 1e-12, 1);
        assert_close(r.slope[4 * k], q.slope[k], 1e-11, 1);
    }
    assert_close(r.cov[1], 0, 1e-14, 1);
    sock_model_free(three);
    sock_model_free(one);
}

/* Starts that flow together are as if alone, also beside one that is lost. */
static void prop_flow__starts_do_not_see_each_other(void **state)
{
    (void)state;
    const double x[] = {0.3, 0.2, 1e80, 2, -0.7, 1}, h[] = {0.2, 0.3, 0.1};
    const sk_flow_spec spec = {{2, true}, oracle_reach, NULL, NULL};
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    static result all, one;
    run(model, &spec, &(sk_flow_starts){3, x, NULL, h}, true, &all);
    assert_false(isfinite(all.mean[2]) && isfinite(all.mean[3]));
    for (size_t i = 0; i < 3; i += 2) {
        run(model, &spec, &(sk_flow_starts){1, x + 2 * i, NULL, h + i}, true, &one);
        assert_memory_equal(one.mean, all.mean + 2 * i, 2 * sizeof(double));
        assert_memory_equal(one.cov, all.cov + 4 * i, 4 * sizeof(double));
        assert_memory_equal(one.drift, all.drift + 6 * i, 6 * sizeof(double));
    }
    sock_model_free(model);
}

/* ---- Guards ---- */

static void test_flow__points_beyond_the_box_stand_at_its_wall(void **state)
{
    (void)state;
    const double low[] = {-2, -2}, high[] = {2, 2}, m[] = {1.9, 40}, h = 0.1;
    const sk_flow_spec spec = {{1, false}, oracle_reach, low, high};
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    static result r;
    run(model, &spec, &(sk_flow_starts){1, m, NULL, &h}, true, &r);
    assert_close(r.x[1], 2, 0, 1);                     /* the start as a node */
    assert_close(r.mean[0], 1.9 + 0.1 * 2, 1e-3, 1);   /* f_1 = x_2 at the wall */
    assert_true(r.mean[1] > 39 && isfinite(r.cov[3])); /* the state itself is where it is */
    sock_model_free(model);
}

/* A V that rounding or the model made indefinite is raised, not lost. */
static void test_flow__an_indefinite_start_is_raised(void **state)
{
    (void)state;
    const double m[] = {0.5, 0.5}, p[] = {1, 1.001, 1.001, 1}, h = 0.1;
    const sk_flow_spec spec = {{2, false}, oracle_reach, NULL, NULL};
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    static result r;
    run(model, &spec, &(sk_flow_starts){1, m, p, &h}, true, &r);
    for (size_t k = 0; k < 4; k++) assert_true(isfinite(r.cov[k]) && isfinite(r.slope[k]));
    assert_close(r.cov[0], 1, 0.5, 1);
    sock_model_free(model);
}

static void test_flow__a_model_without_diffusion_has_no_variance(void **state)
{
    (void)state;
    const double m[] = {0.5, 0.5}, h = 0.1;
    const sk_flow_spec spec = {{1, false}, oracle_reach, NULL, NULL};
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, NULL, NULL);
    static result r;
    run(model, &spec, &(sk_flow_starts){1, m, NULL, &h}, true, &r);
    for (size_t k = 0; k < 4; k++) assert_close(r.cov[k], 0, 1e-15, 1);
    sock_model_free(model);
}

/* ---- The choice of substeps ---- */

static void quarter(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 0.25;
}

static sk_substeps choose(size_t steps, double h, sk_substeps least, double noise)
{
    enum { COUNT = 100 };
    double x[COUNT], hs[COUNT];
    const double reach = 1e-3;
    const sk_flow_spec spec = {.reach = &reach};
    sock_model *model = wrap_fields(ctx, 1, wells, quarter, NULL);
    sk_substeps out;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = -1.5 + 3.0 * (double)i / (COUNT - 1);
        hs[i] = h;
    }
    const sk_substeps_ask ask = {steps, COUNT, x, hs, &noise, least, &spec, NULL};
    assert_int_equal(sk_substeps_choose(ctx, model, &ask, &out), SOCK_OK);
    sock_model_free(model);
    return out;
}

static void test_substeps__long_steps_need_more(void **state)
{
    (void)state;
    const sk_substeps one = {1, false};
    assert_int_equal(choose(10000, 0.02, one, 0).count, 1);
    const sk_substeps coarse = choose(3000, 0.5, one, 0);
    assert_int_equal(coarse.count, 8);
    assert_true(coarse.split);
    assert_false(choose(10000, 0.02, one, 0).split);
}

static void test_substeps__more_steps_show_more(void **state)
{
    (void)state;
    const sk_substeps one = {1, false};
    assert_true(choose(20, 0.2, one, 0).count < choose(20000, 0.2, one, 0).count);
    assert_true(choose(20000, 0.2, one, 10).count < choose(20000, 0.2, one, 0).count); /* noise hides it */
}

static void test_substeps__never_fall(void **state)
{
    (void)state;
    assert_int_equal(choose(10000, 0.01, (sk_substeps){4, false}, 0).count, 4);
}

static sock_status choose_again(sock_context *context, void *arg)
{
    const double x[] = {0, 1}, h[] = {0.5, 0.5}, reach = 1e-3;
    const sk_flow_spec spec = {.reach = &reach};
    const sk_substeps_ask ask = {.steps = 3000, .count = 2, .x = x, .h = h, .spec = &spec};
    sk_substeps out;
    return sk_substeps_choose(context, arg, &ask, &out);
}

static void test_substeps__memory_may_end_anywhere(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, wells, quarter, NULL);
    assert_true(for_single_allocations(ctx, choose_again, model) > 5);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow__agrees_with_the_oracle),
        cmocka_unit_test(test_flow__falls_by_four_when_substeps_double),
        cmocka_unit_test(test_flow__split_changes_nothing_where_the_drift_is_linear),
        cmocka_unit_test(prop_flow__independent_coordinates_flow_apart),
        cmocka_unit_test(prop_flow__starts_do_not_see_each_other),
        cmocka_unit_test(test_flow__points_beyond_the_box_stand_at_its_wall),
        cmocka_unit_test(test_flow__an_indefinite_start_is_raised),
        cmocka_unit_test(test_flow__a_model_without_diffusion_has_no_variance),
        cmocka_unit_test(test_substeps__long_steps_need_more),
        cmocka_unit_test(test_substeps__more_steps_show_more),
        cmocka_unit_test(test_substeps__never_fall),
        cmocka_unit_test(test_substeps__memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
