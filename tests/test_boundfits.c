/* test_boundfits.c - whole fits of states with bounds: what is found on known systems, what the options do, what is
 * refused. */
#define _GNU_SOURCE
#include "onecontext.h"

#include "modelinfo.h"
#include "systems/systems.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
    sys_instance *instance;
    sock_data *train, *test;
    sock_model *truth;
} known;

static known known_of(const char *name, uint64_t seed)
{
    known k = {0};
    assert_int_equal(sys_new(ctx, sys_find(name), seed, &k.instance), SOCK_OK);
    assert_int_equal(sys_generate(ctx, k.instance, SYS_TRAIN, &k.train), SOCK_OK);
    assert_int_equal(sys_generate(ctx, k.instance, SYS_TEST, &k.test), SOCK_OK);
    assert_int_equal(sys_truth(ctx, k.instance, &k.truth), SOCK_OK);
    return k;
}

static void clear(known *k)
{
    sock_model_free(k->truth);
    sock_data_free(k->train);
    sock_data_free(k->test);
    sys_free(k->instance);
}

enum { MOST = 6 };

/* Options: key, value, ..., NULL. */
static sock_status try_fit(const sock_data *data, const char *const *option, sock_model **out)
{
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "check", "no"), SOCK_OK);
    for (size_t i = 0; option && option[i]; i += 2)
        assert_int_equal(sock_options_set(ctx, opts, option[i], option[i + 1]), SOCK_OK);
    const sock_status status = sock_fit(ctx, data, opts, out);
    sock_options_free(opts);
    return status;
}

static sock_model *fit(const sock_data *data, const char *const *option)
{
    sock_model *model = NULL;
    if (try_fit(data, option, &model) < 0) fail_msg("%s", sock_message(ctx));
    return model;
}

/* What is held out knows as much of where a state ends: a value below 0 there, and there is no bound. */
static void test_boundfits__held_out_data_are_asked(void **state)
{
    (void)state;
    static const size_t length[] = {40, 40};
    double t[80], x[80];
    sock_data *train = NULL, *held = NULL;
    for (size_t i = 0; i < 80; i++)
        t[i] = 0.1 * (double)(i % 40), x[i] = 1.02 + sin(0.9 * (double)i) + 0.02 * (double)(i % 7);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &train), SOCK_OK);
    x[5] = -0.3;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &held), SOCK_OK);
    for (int with = 0; with < 2; with++) {
        sock_model *model = NULL;
        sock_options *opts = sock_options_new(ctx);
        assert_int_equal(sock_options_set(ctx, opts, "diffusion", "linear:in=root"), SOCK_OK);
        if (with) assert_int_equal(sock_options_set_validation(ctx, opts, held), SOCK_OK);
        const sock_status status = sock_fit(ctx, train, opts, &model);
        if (with)
            assert_int_equal(status, SOCK_EUSAGE); /* a kernel that wants a bound, and there is none */
        else
            assert_true(status >= 0 && sock_model_bounds(model, NULL, NULL));
        sock_options_free(opts);
        sock_model_free(model);
    }
    sock_data_free(train);
    sock_data_free(held);
}

static sock_scores score(const known *k, const sock_model *model)
{
    sock_scores scores;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "0"), SOCK_OK);
    assert_true(sock_score(ctx, model, k->test, NULL, k->truth, opts, &scores) >= 0);
    sock_options_free(opts);
    return scores;
}

/* Within 8 %, and nearer than without the kernels that know bounds. */
static void test_boundfits__noise_of_cox_ingersoll_ross(void **state)
{
    (void)state;
    static const char *const without[] = {"lower", "none", NULL};
    known k = known_of("cir", 3);
    sock_model *model = fit(k.train, NULL), *plain = fit(k.train, without);
    const sock_scores with = score(&k, model), before = score(&k, plain);
    assert_true(with.re_a.value <= 8 && with.re_a.value < before.re_a.value);
    double lower, upper;
    assert_true(sock_model_bounds(model, &lower, &upper) && lower == 0 && isinf(upper));
    assert_false(sock_model_bounds(plain, &lower, &upper));
    json_t *info = info_of(model);
    assert_string_equal(json_string_value(json_array_get(json_object_get(info, "bounds"), 0)), "x >= 0");
    json_decref(info);
    sock_model_free(model), sock_model_free(plain);
    clear(&k);
}

/* A population that dies out: a, the steps at rest, and the paths that rest there. */
static void test_boundfits__extinction_of_a_branching_population(void **state)
{
    (void)state;
    enum { PATHS = 4000 };
    known k = known_of("feller", 2);
    sock_model *model = fit(k.train, NULL);
    const sock_scores s = score(&k, model);
    assert_true(s.re_a.value <= 8 && s.perplexity_moments.valid && s.intervals < 3000);
    json_t *info = info_of(model);
    assert_true(json_integer_value(json_object_get(info, "absorbed_steps")) > 100);
    json_decref(info);
    const double start = 1, t[3] = {0, 2.5, 5};
    double *x = calloc(3 * PATHS, sizeof *x), dead = 0;
    const sock_simulation spec = {.starts = 1, .x0 = &start, .paths = PATHS, .times = 3, .t = t, .step = 0.01};
    assert_int_equal(sock_simulate(ctx, model, &spec, x, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < PATHS; i++) {
        assert_true(x[3 * i + 1] >= 0 && x[3 * i + 2] >= 0);
        if (x[3 * i + 1] == 0) assert_true(x[3 * i + 2] == 0);
        dead += x[3 * i + 2] == 0 ? 1.0 / PATHS : 0;
    }
    /* the branching diffusion with the fitted rate and noise at 1 */
    double f, a;
    assert_int_equal(sock_model_drift(ctx, model, 1, &start, &f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 1, &start, &a), SOCK_OK);
    assert_close(dead, exp(-2 * f / (a * (1 - exp(-5 * f)))), 0.05, 1);
    free(x);
    sock_model_free(model);
    clear(&k);
}

/* Two bounds: y (1 - y) and nothing else. */
static void test_boundfits__frequencies(void **state)
{
    (void)state;
    static const char *const upper[] = {"upper", "1", NULL};
    known k = known_of("wright-fisher", 3);
    sock_model *model = fit(k.train, upper);
    json_t *info = info_of(model);
    const char *a = json_string_value(json_object_get(info, "diffusion_equation"));
    assert_non_null(a);
    assert_non_null(strstr(a, "*x*(1 - x)"));
    assert_true(score(&k, model).re_a.value <= 10);
    json_decref(info);
    sock_model_free(model);
    clear(&k);
}

/* One term "c*m*[v v v]'" of a diffusion's equation: whether its monomial is m and its vector within 0.1 of v, up to
 * a sign. */
static bool is_reaction(const char *term, const char *m, const double *v)
{
    char name[16];
    double c, w[3], plus = 0, minus = 0;
    if (sscanf(term, "%lf*%15[^[][%lf %lf %lf]", &c, name, &w[0], &w[1], &w[2]) != 5) return false;
    name[strlen(name) - 1] = 0; /* its last * */
    for (size_t k = 0; k < 3; k++) plus = fmax(plus, fabs(w[k] - v[k])), minus = fmax(minus, fabs(w[k] + v[k]));
    return strcmp(name, m) == 0 && c > 0 && fmin(plus, minus) <= 0.1;
}

/* Infection and recovery, and nothing else; nearer than without bounds, by the kernel that the search ends with then
 * (the whole search would take ten times as long as all else here). */
static void test_boundfits__reactions_of_an_epidemic_can_be_read(void **state)
{
    (void)state;
    static const char *const without[] = {"lower", "none", "diffusion", "gauss:eta=4", NULL};
    static const double infection[] = {-1, 1, 0}, recovery[] = {0, -1, 1};
    known k = known_of("sir", 603);
    sock_model *model = fit(k.train, NULL), *plain = fit(k.train, without);
    json_t *info = info_of(model);
    const char *a = json_string_value(json_object_get(info, "diffusion_equation"));
    assert_non_null(a);
    size_t found[2] = {0}, terms = 1;
    for (const char *at = a; (at = strstr(at, " + ")); at += 3) terms++;
    for (const char *at = a + strlen("a = "); at; at = strstr(at, " + ") ? strstr(at, " + ") + 3 : NULL) {
        found[0] += is_reaction(at, "S*I", infection);
        found[1] += is_reaction(at, "I", recovery);
    }
    if (found[0] != 1 || found[1] != 1 || terms != 2) fail_msg("%s", a);
    const double with = score(&k, model).re_a.value;
    assert_true(with <= 15 && with < score(&k, plain).re_a.value);
    json_decref(info);
    sock_model_free(model), sock_model_free(plain);
    clear(&k);
}

/* Rates with and without the search; a model file carries them. */
static void test_boundfits__named_kernels(void **state)
{
    (void)state;
    static const char *const named[][MOST + 1] = {{"tune", "no", "diffusion", "rates:degree=1", NULL},
                                                  {"tune", "no", "diffusion", "linear:in=root", NULL},
                                                  {"diffusion", "rates:degree=1", NULL},
                                                  {"tune", "no", "diffusion", "gauss:in=root", NULL},
                                                  {"diffusion", "gauss:in=root", NULL}};
    static const double most[] = {5, 5, 5, 10, 20}; /* the truth is a rate; Gaussian kernels know less */
    known k = known_of("cir", 5);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        sock_model *model = fit(k.train, named[i]), *loaded = NULL;
        char path[] = "/tmp/sock-boundfits-XXXXXX";
        const int file = mkstemp(path);
        assert_true(file >= 0);
        const double x[3] = {0, 0.5, 2};
        double a[3], b[3];
        assert_int_equal(sock_model_save(ctx, model, path), SOCK_OK);
        assert_int_equal(sock_model_load(ctx, path, &loaded), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, 3, x, a), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, loaded, 3, x, b), SOCK_OK);
        assert_memory_equal(a, b, sizeof a);
        assert_true(score(&k, model).re_a.value < most[i] && sock_model_bounds(loaded, NULL, NULL));
        sock_model_free(model), sock_model_free(loaded);
        remove(path);
    }
    clear(&k);
}

static void refused(const sock_data *data, const char *const *option, sock_status expected, const char *why)
{
    sock_model *model = NULL;
    sk_begin(ctx);
    assert_int_equal(try_fit(data, option, &model), expected);
    if (!strstr(sock_message(ctx), why)) fail_msg("%s", sock_message(ctx));
}

static void test_boundfits__refuses_what_cannot_be(void **state)
{
    (void)state;
    static const double t[] = {0, 1, 2, 3}, x[] = {1, -0.5, 2, 1};
    static const size_t length = 4;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    refused(data, (const char *const[]){"lower", "0", NULL}, SOCK_EINPUT, "is -0.5 at time 1, below its bound 0");
    refused(data, (const char *const[]){"upper", "1.5", NULL}, SOCK_EINPUT, "is 2 at time 2, above its bound 1.5");
    refused(data, (const char *const[]){"lower", "3", "upper", "-3", NULL}, SOCK_EUSAGE, "lower must be below upper");
    refused(data, (const char *const[]){"lower", "0,1", NULL}, SOCK_EUSAGE, "lower is '0,1'");
    refused(data, (const char *const[]){"tune", "no", "diffusion", "rates:degree=2", NULL}, SOCK_EUSAGE,
            "needs a state with a bound");
    refused(data, (const char *const[]){"tune", "no", "drift", "rates:degree=2", NULL}, SOCK_EUSAGE,
            "are for the diffusion");
    sock_data_free(data);
}

static void outside(sock_status status, const char *why)
{
    assert_true(status < 0);
    if (!strstr(sock_message(ctx), why)) fail_msg("%s", sock_message(ctx));
}

/* Whoever takes data for a model with bounds: point, state, value and bound; on the bound and without bounds they are
 * taken. */
static void test_boundfits__data_beyond_are_refused_by_all(void **state)
{
    (void)state;
    static const double t[] = {0, 1, 2, 0, 1, 2}, x[] = {1, 0, 2, 3, -0.5, 1}, low = 0, x0 = -0.25, start = 0;
    static const size_t length[] = {3, 3};
    static const char why[] = "trajectory 1, state x0 is -0.5 at time 1, below its bound 0; ";
    double out[2];
    known k = known_of("cir", 0);
    sock_model *model =
        fit(k.train, (const char *const[]){"tune", "no", "diffusion", "rates:degree=1", "lower", "0", NULL});
    sock_data *data = NULL;
    sock_checks checks;
    sock_scores scores;
    sock_options *opts = sock_options_new(ctx);
    sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = t};
    assert_true(sock_model_bounds(model, NULL, NULL));
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    outside(sock_model_holds(ctx, model, data, opts), why);
    outside(sock_check(ctx, model, data, opts, &checks), why);
    outside(sock_score(ctx, model, data, NULL, NULL, opts, &scores), why);
    outside(sock_simulate(ctx, model, &spec, out, NULL, NULL), "at -0.25, outside its bounds 0 to inf");
    spec.bounds = SOCK_BOUNDS_AUTO;
    outside(sock_simulate(ctx, model, &spec, out, NULL, NULL), "at -0.25, outside its bounds 0 to inf");
    spec.bounds = SOCK_BOUNDS_NONE, spec.lower = &low;
    assert_true(sock_simulate(ctx, model, &spec, out, NULL, NULL) >= 0);
    spec = (sock_simulation){.starts = 1, .x0 = &start, .paths = 1, .times = 2, .t = t};
    assert_true(sock_simulate(ctx, model, &spec, out, NULL, NULL) >= 0);
    assert_int_equal(sock_options_set(ctx, opts, "upper", "2.5"), SOCK_OK);
    outside(sock_model_holds(ctx, model, data, opts), "trajectory 1, state x0 is 3 at time 0, above its bound 2.5; ");
    assert_int_equal(sock_options_set(ctx, opts, "bounds", "none"), SOCK_OK);
    assert_int_equal(sock_model_holds(ctx, model, data, opts), SOCK_OK);
    assert_true(sock_score(ctx, model, data, NULL, NULL, opts, &scores) >= 0);
    sock_options_free(opts);
    sock_data_free(data);
    sock_model_free(model);
    clear(&k);
}

/* Where no state comes near a bound every number is the one without any. */
static void test_boundfits__others_are_the_same_to_the_last_bit(void **state)
{
    (void)state;
    static const char *const names[] = {"gbm", "ou", "doublewell"};
    static const char *const without[] = {"lower", "none", "upper", "none", "noise", "none", NULL};
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        known k = {0};
        assert_int_equal(sys_new(ctx, sys_find(names[s]), 5, &k.instance), SOCK_OK);
        k.instance->trajectories[SYS_TRAIN] = 4;
        assert_int_equal(sys_generate(ctx, k.instance, SYS_TRAIN, &k.train), SOCK_OK);
        sock_model *one = fit(k.train, without + 4), *other = fit(k.train, without);
        const double *x;
        const size_t d = sock_model_dim(one), n = sock_data_trajectory(k.train, 0, NULL, &x);
        double *f = calloc(2 * n * (d + d * d), sizeof *f);
        assert_true(n > 5);
        for (size_t i = 0; i < 2; i++) {
            double *at = f + i * n * (d + d * d);
            assert_int_equal(sock_model_drift(ctx, i ? other : one, n, x, at), SOCK_OK);
            assert_int_equal(sock_model_diffusion(ctx, i ? other : one, n, x, at + n * d), SOCK_OK);
        }
        assert_memory_equal(f, f + n * (d + d * d), n * (d + d * d) * sizeof *f);
        assert_false(sock_model_bounds(one, NULL, NULL));
        free(f);
        sock_model_free(one), sock_model_free(other);
        clear(&k);
    }
}

/* dx = 0.4 x (1 - x) dt + sigma(x) dW in Heun's steps; measured with noise of sd `noise`, and, where `cut`, never below
 * 0. */
static sock_data *logistic(bool grows, double noise, bool cut, double base)
{
    enum { POINTS = 1500, INNER = 10 };
    const double h = 0.1;
    const size_t length[1] = {POINTS};
    double *t = calloc(POINTS, sizeof *t), *y = calloc(POINTS, sizeof *y), x = 1, z[2];
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = h * (double)i;
        sk_normals((sk_key){3440, SK_PURPOSE_TEST}, i, 1, 0, 1, z);
        y[i] = base + x + noise * z[0];
        if (cut && y[i] < 0) y[i] = 0;
        for (size_t j = 0; j < INNER; j++) {
            sk_normals((sk_key){3441, SK_PURPOSE_TEST}, i * INNER + j, 0, 0, 1, z);
            const double step = h / INNER, f = grows ? 0.4 * x * (1 - x) : 0.4 * (1 - x);
            x += step * f + sqrt(step) * 0.55 * (grows ? x : 0.5) * z[0];
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, length, t, y, NULL, NULL, NULL, &data), SOCK_OK);
    free(t), free(y);
    return data;
}

/* Noise does not cross a bound where it is gone, whatever kernel says so: a = c x^2 of the kernel of lines has the
 * bound 0 where data come near it. Beside measurement noise observations that keep to one side must say so, too; a
 * state that is far from 0, or has noise there, has none; nor has the fit that asks for none. */
static void test_boundfits__where_a_is_gone(void **state)
{
    (void)state;
    static const char *const lines[] = {"diffusion", "linear", "noise", "none", NULL},
                             *const noisy[] = {"diffusion", "linear", "noise", "diag", NULL},
                             *const constant[] = {"diffusion", "constant", "noise", "none", NULL},
                             *const none[] = {"diffusion", "linear", "noise", "none", "lower", "none", NULL};
    const struct {
        const char *const *option;
        bool grows, cut, bound;
        double noise, base;
    } cases[] = {{lines, true, false, true, 0, 0},
                 {noisy, true, true, true, 0.15, 0},
                 {lines, true, false, false, 0, 2},
                 {constant, false, true, false, 0, 0},
                 {none, true, false, false, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_data *data = logistic(cases[i].grows, cases[i].noise, cases[i].cut, cases[i].base);
        sock_model *model = fit(data, cases[i].option);
        double lower = 1;
        const int any = sock_model_bounds(model, &lower, NULL);
        if ((any != 0) != cases[i].bound || (any && lower != 0)) fail_msg("case %zu: %d, %g", i, any, lower);
        sock_model_free(model);
        sock_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundfits__where_a_is_gone),
        cmocka_unit_test(test_boundfits__held_out_data_are_asked),
        cmocka_unit_test(test_boundfits__noise_of_cox_ingersoll_ross),
        cmocka_unit_test(test_boundfits__extinction_of_a_branching_population),
        cmocka_unit_test(test_boundfits__frequencies),
        cmocka_unit_test(test_boundfits__reactions_of_an_epidemic_can_be_read),
        cmocka_unit_test(test_boundfits__named_kernels),
        cmocka_unit_test(test_boundfits__refuses_what_cannot_be),
        cmocka_unit_test(test_boundfits__data_beyond_are_refused_by_all),
        cmocka_unit_test(test_boundfits__others_are_the_same_to_the_last_bit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
