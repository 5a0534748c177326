/* test_tuneknown.c - the tuned fit on known processes: they are found again, and what the data lack is told. */
#include "systems/systems.h"
#include "tunefits.h"

/* ---- Known processes ---- */

static double slope(const sock_model *model)
{
    double at[] = {-1, 1}, f[2];
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    return 0.5 * (f[1] - f[0]);
}

/* ---- Known processes ---- */

/* h = 0.05, 20000 intervals: the standard error of the slope is sqrt(2 / T) = 0.045. Sanitizers and Valgrind look at a
 * fifth of them, with the errors that belong to it. */
static void test_tuneknown__finds_the_slope_of_ornstein_uhlenbeck(void **state)
{
    (void)state;
    const size_t paths = is_slow_run() ? 40 : 200;
    const double wider = sqrt(200 / (double)paths);
    sock_data *data = data_of(1, paths, 101, 0.05, ou_paths(1, paths, 101, 0.05, 1, 1));
    sock_model *model = fit(data, NULL);
    assert_close(slope(model), -1, 0.12 * wider, 1);
    double at[] = {-0.7, 0, 0.7}, a[3];
    assert_int_equal(sock_model_diffusion(ctx, model, 3, at, a), SOCK_OK);
    for (int i = 0; i < 3; i++) assert_close(a[i], 1, 0.06 * wider, 1);
    sock_model_free(model);
    sock_data_free(data);
}

/* The slope that the trapezoid converges to with M realisations of each of many starts: least squares of the mean
 * increment on the mean trapezoid. E xbar_t^2 = e^{-2t}/2 + (1 - e^{-2t})/(2 M): 0 for M = 1, and -1 in the limit. */
static double trapezoid_limit(size_t members, size_t steps, double h)
{
    double top = 0, bottom = 0, keep = exp(-h);
    for (size_t i = 0; i < steps; i++) {
        double here = exp(-2 * h * (double)i), there = here * keep * keep, m = (double)members;
        double now = 0.5 * here + 0.5 * (1 - here) / m, next = 0.5 * there + 0.5 * (1 - there) / m;
        top += 0.5 * (next - now);
        bottom += 0.25 * h * (now + next + 2 * keep * now);
    }
    return top / bottom;
}

/* The paper's rule is biased with one realisation, and the bias fades like 1/M. */
static void test_tuneknown__trapezoid_is_biased_with_one_realisation(void **state)
{
    (void)state;
    static const char *const pairs[] = {"tune",      "no",   "quadrature",   "trapezoid", "drift", "linear",
                                        "diffusion", "none", "drift-lambda", "1e-14",     NULL};
    static const char *const left[] = {"tune",      "no",   "quadrature",   "left",  "drift", "linear",
                                       "diffusion", "none", "drift-lambda", "1e-14", NULL};
    static const size_t members[] = {1, 5, 50};
    double found[3];
    for (size_t c = 0; c < 3; c++) {
        size_t trajectories = members[c] == 1 ? 1000 : members[c] == 5 ? 5000 : 10000;
        sock_data *data = data_of(1, trajectories, 21, 0.05, ou_paths(1, trajectories, 21, 0.05, members[c], 2));
        sock_model *model = fit(data, pairs);
        found[c] = slope(model);
        assert_close(found[c], trapezoid_limit(members[c], 20, 0.05), 0.09, 1);
        sock_model_free(model);
        if (members[c] == 1) { /* the left point has no such bias: (exp(-h) - 1)/h */
            model = fit(data, left);
            assert_close(slope(model), (exp(-0.05) - 1) / 0.05, 0.12, 1);
            sock_model_free(model);
        }
        sock_data_free(data);
    }
    assert_true(fabs(found[0]) < 0.09);
    assert_true(found[1] < -0.5 && found[2] < -0.9 && found[2] < found[1]);
}

static double relative_error(size_t n, const double *value, const double *truth)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += (value[i] - truth[i]) * (value[i] - truth[i]);
        size += truth[i] * truth[i];
    }
    return 100 * sqrt(difference / size);
}

static void test_tuneknown__finds_known_systems_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double f, a; /* percent; medians over seeds are a third of these */
    } known[] = {{"gbm", 12, 6}, {"expdyn", 25, 35}, {"dense", 3, 12}};
    for (size_t c = 0; c < 3; c++) {
        sys_instance *system = NULL;
        sock_model *truth = NULL;
        sock_data *data = NULL;
        assert_int_equal(sys_new(ctx, sys_find(known[c].name), 3, &system), SOCK_OK);
        if (c == 0) system->trajectories[SYS_TRAIN] = 40;
        assert_int_equal(sys_generate(ctx, system, SYS_TRAIN, &data), SOCK_OK);
        assert_int_equal(sys_truth(ctx, system, &truth), SOCK_OK);
        sock_model *model = fit(data, NULL);
        size_t n = data->points, d = data->d;
        double *f = calloc(2 * n * d, sizeof *f), *a = calloc(2 * n * d * d, sizeof *a);
        assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
        assert_int_equal(sock_model_drift(ctx, truth, n, data->x, f + n * d), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, n, data->x, a), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, truth, n, data->x, a + n * d * d), SOCK_OK);
        double error_f = relative_error(n * d, f, f + n * d), error_a = relative_error(n * d * d, a, a + n * d * d);
        if (error_f > known[c].f || error_a > known[c].a)
            fail_msg("%s: errors of f and a are %.1f %% and %.1f %%", known[c].name, error_f, error_a);
        json_t *info = info_of(model);
        double gain = json_number_value(json_object_get(info, "score")) -
                      json_number_value(json_object_get(info, "score_constant"));
        assert_true(gain > 10);
        assert_false(warns(model, "correlated")); /* nonlinear steps are not memory */
        assert_true(tells(model, "pattern", "none"));
        json_decref(info);
        free(f), free(a);
        sock_model_free(model);
        sock_model_free(truth);
        sock_data_free(data);
        sys_free(system);
    }
}

/* ---- Warnings ---- */

static void test_tuneknown__measurement_noise_is_told(void **state)
{
    (void)state;
    double *x = ou_paths(1, 20, 51, 0.02, 1, 12), *noise = calloc(20 * 51, sizeof *noise);
    sk_normals((sk_key){12, SK_PURPOSE_TEST}, 41, 0, 0, 20 * 51, noise);
    sock_data *clean = data_of(1, 20, 51, 0.02, memcpy(calloc(20 * 51, sizeof *x), x, 20 * 51 * sizeof *x));
    for (size_t i = 0; i < 20 * 51; i++) x[i] += 0.15 * noise[i];
    sock_data *noisy = data_of(1, 20, 51, 0.02, x);
    sock_model *one = fit(clean, NULL), *two = fit(noisy, (const char *const[]){"noise", "none", NULL});
    assert_false(warns(one, "correlated") || warns(two, "correlated")); /* the verdict has the word */
    assert_true(tells(one, "verdict", "No objection: none of 9 tests objects, over 1000 steps") &&
                !tells(one, "advice", ""));
    assert_true(tells(two, "verdict", "Neighbouring residuals cancel: measurement noise"));
    assert_true(tells(two, "pattern", "noise") && tells(two, "advice", "Fit with --noise diag"));
    sock_model_free(one), sock_model_free(two);
    sock_data_free(clean), sock_data_free(noisy);
    free(noise);
}

static void test_tuneknown__random_walk_is_no_better_than_constant(void **state)
{
    (void)state;
    double *x = calloc(30 * 21, sizeof *x);
    sk_normals((sk_key){13, SK_PURPOSE_TEST}, 42, 0, 0, 30 * 21, x);
    for (size_t i = 0; i < 30 * 21; i++) x[i] = i % 21 ? x[i - 1] + 0.3 * x[i] : x[i];
    sock_data *data = data_of(1, 30, 21, 0.1, x);
    sock_model *model = fit(data, NULL);
    assert_true(warns(model, "no clear difference from constant coefficients"));
    sock_model_free(model);
    sock_data_free(data);
}

/* Steps from a microsecond to a second. */
static void test_tuneknown__steps_of_all_lengths_go_together(void **state)
{
    (void)state;
    enum { PATHS = 12, POINTS = 31 };
    double *t = calloc(PATHS * POINTS, sizeof *t), *x = calloc(PATHS * POINTS, sizeof *x);
    size_t length[PATHS];
    sk_normals((sk_key){51, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * POINTS, x);
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        for (size_t i = 1; i < POINTS; i++) {
            double h = pow(10, -6 + 0.2 * (double)((7 * i + j) % 31)), *at = x + j * POINTS + i;
            t[j * POINTS + i] = t[j * POINTS + i - 1] + h;
            *at = exp(-h) * at[-1] + sqrt(0.5 * (1 - exp(-2 * h))) * *at;
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_model *model = fit(data, NULL);
    double at = 0.2, a;
    assert_int_equal(sock_model_diffusion(ctx, model, 1, &at, &a), SOCK_OK);
    assert_close(a, 1, 0.35, 1);
    sock_model_free(model);
    sock_data_free(data);
    free(t), free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tuneknown__finds_the_slope_of_ornstein_uhlenbeck),
        cmocka_unit_test(test_tuneknown__trapezoid_is_biased_with_one_realisation),
        cmocka_unit_test(test_tuneknown__finds_known_systems_again),
        cmocka_unit_test(test_tuneknown__measurement_noise_is_told),
        cmocka_unit_test(test_tuneknown__random_walk_is_no_better_than_constant),
        cmocka_unit_test(test_tuneknown__steps_of_all_lengths_go_together),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
