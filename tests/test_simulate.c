/* test_simulate.c - paths against closed forms (strong and weak), the stream of noise, bounds, lost paths. */
#include "onecontext.h"
#include "simulate/innerstep.h"
#include "simulate/simulate.h"
#include "truths.h"

#include <string.h>

static const double unit_time[] = {0, 1};

/* ---- The noise ---- */

static void prop_random__bulk_normals_are_the_same_stream(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static double plain[COUNT], bulk[COUNT], part[COUNT];
    const sk_key key = {9, SK_PURPOSE_TEST};
    sk_normals(key, 3, 4, 17, COUNT, plain);
    sk_normals_bulk(key, 3, 4, 17, COUNT, bulk);
    assert_all_close(COUNT, bulk, plain, 1e-15);
    for (size_t begin = 0, length = 1; begin < COUNT; begin += length, length = length % 37 + 5) {
        length = SK_MIN(length, COUNT - begin);
        sk_normals_bulk(key, 3, 4, 17 + begin, length, part + begin);
    }
    assert_memory_equal(part, bulk, sizeof bulk);
}

/* Unit vectors through sk_add_noise give the columns of C: C C' = a for a full, a singular and a diagonal matrix. */
static void prop_noise__factor_gives_the_covariance_back(void **state)
{
    (void)state;
    enum { D = 4 };
    for (int rank = 0; rank <= D; rank++) {
        double b[D * D] = {0}, a[D * D] = {0}, columns[D * D] = {0}, back[D * D] = {0};
        sk_normals((sk_key){(uint64_t)rank, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)rank * D, b); /* rank rows */
        for (int k = 0; k < D; k++)
            for (int l = 0; l < D; l++)
                for (int r = 0; r < rank; r++) a[k * D + l] += b[r * D + k] * b[r * D + l];
        if (rank == 0)
            for (int k = 0; k < D; k++) a[k * D + k] = k; /* diagonal, with a zero */
        for (int r = 0; r < D; r++) {
            double unit[D] = {0}, copy[D * D];
            unit[r] = 1;
            memcpy(copy, a, sizeof a);
            sk_add_noise(D, 1, 1, copy, unit, D, columns + r * D);
        }
        for (int k = 0; k < D; k++)
            for (int l = 0; l < D; l++)
                for (int r = 0; r < D; r++) back[k * D + l] += columns[r * D + k] * columns[r * D + l];
        assert_all_close(D * D, back, a, 1e-13);
    }
}

/* ---- Convergence ---- */

/* Mean of |x_1 - x_1 exact| over paths driven by the same Brownian motion: the test sums the normals itself. */
static double strong_error(const sock_model *gbm, double step)
{
    enum { PATHS = 2000, MOST = 64 };
    static double out[PATHS * 2];
    const double x0 = 1;
    sock_simulation spec = {
        .starts = 1, .x0 = &x0, .paths = PATHS, .times = 2, .t = unit_time, .step = step, .seed = 5};
    assert_int_equal(sock_simulate(ctx, gbm, &spec, out, NULL, NULL), SOCK_OK);
    double error = 0, normals[MOST];
    size_t steps = (size_t)lround(1 / step);
    for (size_t i = 0; i < PATHS; i++) {
        double w = 0;
        sk_normals((sk_key){5, SK_PURPOSE_SIMULATE}, 0, i, 0, steps, normals);
        for (size_t k = 0; k < steps; k++) w += sqrt(step) * normals[k];
        error += fabs(out[2 * i + 1] - exp(1 - 0.045 + 0.3 * w)) / PATHS;
    }
    return error;
}

static void zero_field(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    memset(out, 0, count * d * sizeof *out);
}

static void square_field(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) out[i] = x[i] * x[i];
}

static double martingale_error(const sock_model *model, double step)
{
    enum { PATHS = 4000, MOST = 256 };
    static double out[PATHS * 2];
    const double x0 = 1;
    sock_simulation spec = {
        .starts = 1, .x0 = &x0, .paths = PATHS, .times = 2, .t = unit_time, .step = step, .seed = 6};
    assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_OK);
    double error = 0, normals[MOST];
    size_t steps = (size_t)lround(1 / step);
    for (size_t i = 0; i < PATHS; i++) {
        double w = 0;
        sk_normals((sk_key){6, SK_PURPOSE_SIMULATE}, 0, i, 0, steps, normals);
        for (size_t k = 0; k < steps; k++) w += sqrt(step) * normals[k];
        error += fabs(out[2 * i + 1] - exp(-0.5 + w)) / PATHS;
    }
    return error;
}

/* Strong order 1/2 where the noise is multiplicative: dx = x dW, whose solution is exp(W - t/2). In GBM with mu = 1 and
 * a small sigma the drift's own order 1 has its share, so there a quarter of the step takes more than 40% off. */
static void test_simulate__strong_order_is_one_half(void **state)
{
    (void)state;
    sock_model *martingale = wrap_fields(ctx, 1, zero_field, square_field, NULL); /* dx = x dW */
    double order = log2(martingale_error(martingale, 1.0 / 16) / martingale_error(martingale, 1.0 / 256)) / 4;
    assert_close(order, 0.5, 0.1, 0);
    sock_model_free(martingale);
    truth gbm = truth_of(ctx, "gbm");
    assert_true(strong_error(gbm.model, 1.0 / 64) < 0.6 * strong_error(gbm.model, 1.0 / 16));
    truth_free(gbm);
}

/* Euler's mean of dx = mu x dt + sigma x dW is exactly (1 + mu h)^(1/h), and its second moment ((1 + mu h)^2 + sigma^2
 * h)^(1/h): weak order one with a known constant. */
static void test_simulate__gbm_moments_are_those_of_the_scheme(void **state)
{
    (void)state;
    enum { PATHS = 20000 };
    static double out[PATHS * 2];
    const double x0 = -0.7;
    truth gbm = truth_of(ctx, "gbm");
    for (size_t steps = 2; steps <= 32; steps *= 4) {
        double h = 1.0 / (double)steps, mean = 0, square = 0;
        sock_simulation spec = {
            .starts = 1, .x0 = &x0, .paths = PATHS, .times = 2, .t = unit_time, .step = h, .seed = 2};
        assert_int_equal(sock_simulate(ctx, gbm.model, &spec, out, NULL, NULL), SOCK_OK);
        for (size_t i = 0; i < PATHS; i++) {
            mean += out[2 * i + 1] / x0 / PATHS;
            square += out[2 * i + 1] * out[2 * i + 1] / (x0 * x0) / PATHS;
        }
        double m1 = pow(1 + h, (double)steps), m2 = pow((1 + h) * (1 + h) + 0.09 * h, (double)steps);
        assert_close(mean, m1, 5 * sqrt((m2 - m1 * m1) / PATHS) / m1, 0);
        assert_close(square, m2, 0.025, 0); /* five standard errors: the fourth moment is at most 1.5 m2^2 */
    }
    truth_free(gbm);
}

/* Irregular output times; the chain x <- (1 - h) x + sqrt(h) z has mean (1-h)^k x0 and variance (1-(1-h)^2k)/(2-h). */
static void test_simulate__ou_at_irregular_times(void **state)
{
    (void)state;
    enum { PATHS = 5000 };
    static double out[2 * PATHS * 4];
    const double x0[2] = {2, -1}, t[4] = {1, 1.25, 2, 3.5};
    truth ou = truth_of(ctx, "ou");
    sock_simulation_report report;
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = PATHS, .times = 4, .t = t, .step = 0.05, .seed = 3};
    assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, &report), SOCK_OK);
    assert_int_equal(report.paths, 2 * PATHS);
    assert_int_equal(report.steps, 50);
    assert_int_equal(report.lost, 0);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 4; i++) {
            double mean = 0, variance = 0, k = (t[i] - 1) / 0.05;
            for (size_t p = 0; p < PATHS; p++) mean += out[(s * PATHS + p) * 4 + i] / PATHS;
            for (size_t p = 0; p < PATHS; p++) variance += pow(out[(s * PATHS + p) * 4 + i] - mean, 2) / PATHS;
            double expected = (1 - pow(0.95, 2 * k)) / (2 - 0.05);
            assert_true(fabs(mean - x0[s] * pow(0.95, k)) <= 5 * sqrt(expected / PATHS) + 1e-12);
            assert_true(fabs(variance - expected) <= 5 * expected * sqrt(2.0 / PATHS) + 1e-20);
        }
    truth_free(ou);
}

/* Correlated noise of rank one: the increments of one step have covariance h a. */
static void test_simulate__one_step_has_covariance_h_a(void **state)
{
    (void)state;
    enum { PATHS = 20000 };
    static double out[PATHS * 4];
    truth dense = truth_of(ctx, "dense");
    const double x0[2] = {1, -0.5}, t[2] = {0, 0.1};
    sock_simulation spec = {.starts = 1, .x0 = x0, .paths = PATHS, .times = 2, .t = t, .step = 0.1, .seed = 8};
    assert_int_equal(sock_simulate(ctx, dense.model, &spec, out, NULL, NULL), SOCK_OK);
    double a[4], sum[4] = {0};
    dense.instance->system->diffusion(dense.instance, 1, 2, x0, a);
    for (size_t i = 0; i < PATHS; i++) {
        double e[2] = {out[4 * i + 2] - 1.1 * x0[0], out[4 * i + 3] - 1.1 * x0[1]};
        for (int k = 0; k < 4; k++) sum[k] += e[k / 2] * e[k % 2] / (0.1 * PATHS);
    }
    assert_all_close(4, sum, a, 5 * sqrt(2.0 / PATHS));
    truth_free(dense);
}

/* ---- Reproducible ---- */

static void simulate_lorenz(const sock_model *model, size_t starts, size_t paths, int threads, double *out)
{
    double x0[3 * 10], t[5] = {0, 0.01, 0.02, 0.05, 0.1};
    for (size_t i = 0; i < 30; i++) x0[i] = 0.1 * (double)(i % 7);
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    sock_simulation spec = {.starts = starts, .x0 = x0, .paths = paths, .times = 5, .t = t, .seed = 12};
    assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_OK);
}

static void prop_simulate__paths_do_not_depend_on_threads_or_company(void **state)
{
    (void)state;
    enum { EACH = 5 * 10, MANY = 200 };
    static double one[3 * MANY * EACH], two[3 * MANY * EACH], few[2 * 7 * EACH];
    truth lorenz = truth_of(ctx, "lorenz96");
    simulate_lorenz(lorenz.model, 3, MANY, 1, one);
    simulate_lorenz(lorenz.model, 3, MANY, 2, two);
    simulate_lorenz(lorenz.model, 2, 7, 2, few);
    assert_memory_equal(one, two, sizeof one);
    for (size_t s = 0; s < 2; s++)
        assert_memory_equal(few + s * 7 * EACH, one + s * MANY * EACH, 7 * EACH * sizeof(double));
    assert_memory_not_equal(one + 1 * EACH, one + 2 * EACH, EACH * sizeof(double));
    truth_free(lorenz);
}

/* The same for a fitted model, whose matrix products may round differently with the number of points. */
static void prop_simulate__paths_of_a_fitted_model_do_not_depend_on_company(void **state)
{
    (void)state;
    enum { EACH = 3 * 2, MANY = 300 };
    static double one[MANY * EACH], two[MANY * EACH], few[5 * EACH];
    truth dense = truth_of(ctx, "dense");
    sock_data *train = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_true(sock_options_set(ctx, opts, "tune", "no") >= 0);
    sock_model *model = NULL;
    assert_int_equal(sys_generate(ctx, dense.instance, SYS_TRAIN, &train), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "drift", "gauss:eta=0.8"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "drift-lambda", "1e-4"), SOCK_OK);
    assert_true(sock_fit(ctx, train, opts, &model) >= 0);
    double *out[3] = {one, two, few}, x0[2] = {0.4, -0.3}, t[3] = {0, 0.1, 0.5};
    for (int run = 0; run < 3; run++) {
        sock_simulation spec = {.starts = 1, .x0 = x0, .paths = run == 2 ? 5 : MANY, .times = 3, .t = t, .seed = 4};
        assert_int_equal(sock_set_threads(ctx, run == 1 ? 2 : 1), SOCK_OK);
        assert_int_equal(sock_simulate(ctx, model, &spec, out[run], NULL, NULL), SOCK_OK);
    }
    assert_memory_equal(one, two, sizeof one);
    assert_memory_equal(one, few, sizeof few);
    sock_model_free(model);
    sock_options_free(opts);
    sock_data_free(train);
    truth_free(dense);
}

/* A start simulated alone, with its number in the stream. */
static void prop_simulate__first_start_goes_on_in_the_stream(void **state)
{
    (void)state;
    double x0[2] = {1, 2}, all[2 * 3 * 2], alone[3 * 2];
    truth gbm = truth_of(ctx, "gbm");
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 3, .times = 2, .t = unit_time, .seed = 1};
    assert_int_equal(sock_simulate(ctx, gbm.model, &spec, all, NULL, NULL), SOCK_OK);
    spec.starts = spec.first_start = 1;
    spec.x0 = x0 + 1;
    assert_int_equal(sock_simulate(ctx, gbm.model, &spec, alone, NULL, NULL), SOCK_OK);
    assert_memory_equal(alone, all + 6, sizeof alone);
    truth_free(gbm);
}

static void test_simulate__without_noise_it_is_eulers_method(void **state)
{
    (void)state;
    truth well = truth_of(ctx, "doublewell");
    sock_model *ode = wrap_fields(ctx, 1, well.instance->system->drift, zero_field, well.instance);
    sock_model *bare = wrap_fields(ctx, 1, well.instance->system->drift, NULL, well.instance);
    const double x0 = 0.3, t[3] = {0, 0.5, 2};
    double out[3], same[3], x = x0;
    sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 1, .times = 3, .t = t, .step = 0.1};
    assert_int_equal(sock_simulate(ctx, ode, &spec, out, NULL, NULL), SOCK_OK);
    assert_int_equal(sock_simulate(ctx, bare, &spec, same, NULL, NULL), SOCK_OK);
    assert_memory_equal(out, same, sizeof out);
    for (int k = 1; k <= 20; k++) {
        x += 0.1 * (x - x * x * x);
        if (k == 5) assert_close(out[1], x, 1e-14, 0);
    }
    assert_close(out[2], x, 1e-14, 0);
    assert_true(out[0] == x0);
    sock_model_free(bare);
    sock_model_free(ode);
    truth_free(well);
}

/* ---- Bounds and lost paths ---- */

static void test_noise__reflection_folds_the_line(void **state)
{
    (void)state;
    const double low = -1, high = 2, infinite = INFINITY;
    const struct {
        double x, folded;
    } both[] = {{0.5, 0.5}, {2.5, 1.5}, {-1.5, -0.5}, {5, -1}, {6, 0}, {-4, 2}, {-5, 1}, {8.5, 1.5}};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        double x = both[i].x;
        sk_keep_within(1, SOCK_BOUNDS_REFLECT, &low, &high, &x);
        assert_close(x, both[i].folded, 1e-15, 1);
        x = both[i].x;
        sk_keep_within(1, SOCK_BOUNDS_CLIP, &low, &high, &x);
        assert_true(x == (both[i].x < low ? low : both[i].x > high ? high : both[i].x));
    }
    double x = -7;
    sk_keep_within(1, SOCK_BOUNDS_REFLECT, &low, &infinite, &x);
    assert_true(x == 5);
    sk_keep_within(1, SOCK_BOUNDS_REFLECT, NULL, &high, &x);
    assert_true(x == -1);
}

static void one_field(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d; i++) out[i] = 1;
}

/* Brownian motion between two mirrors forgets its start and becomes uniform; clipped, it stays within the box too. */
static void test_simulate__mirrors_make_brownian_motion_uniform(void **state)
{
    (void)state;
    enum { PATHS = 4000 };
    static double out[PATHS * 2];
    sock_model *brownian = wrap_fields(ctx, 1, zero_field, one_field, NULL);
    const double x0 = 0.9, t[2] = {0, 3}, lower = 0, upper = 1;
    sock_simulation spec = {.starts = 1,
                            .x0 = &x0,
                            .paths = PATHS,
                            .times = 2,
                            .t = t,
                            .step = 0.01,
                            .bounds = SOCK_BOUNDS_REFLECT,
                            .lower = &lower,
                            .upper = &upper};
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    double mean = 0, square = 0;
    for (size_t i = 0; i < PATHS; i++) {
        double x = out[2 * i + 1];
        assert_true(x >= 0 && x <= 1);
        mean += x / PATHS;
        square += x * x / PATHS;
    }
    assert_close(mean, 0.5, 5 * sqrt(1.0 / 12 / PATHS) / 0.5, 0);
    assert_close(square, 1.0 / 3, 5 * sqrt(4.0 / 45 / PATHS) * 3, 0);
    spec.bounds = SOCK_BOUNDS_CLIP;
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    size_t at_bound = 0;
    for (size_t i = 0; i < PATHS; i++) {
        assert_true(out[2 * i + 1] >= 0 && out[2 * i + 1] <= 1);
        at_bound += out[2 * i + 1] == 0 || out[2 * i + 1] == 1;
    }
    assert_true(at_bound > 0);
    sock_model_free(brownian);
}

/* dx = x^2 dt blows up at time 1/x0 from a positive start and lives for ever from a negative one. */
static void test_simulate__lost_paths_are_counted_and_the_others_live(void **state)
{
    (void)state;
    sock_model *explosive = wrap_fields(ctx, 1, square_field, zero_field, NULL);
    const double x0[2] = {1, -1}, t[3] = {0, 0.5, 3};
    double out[6 * 3], lost_at[6];
    sock_simulation_report report;
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 3, .times = 3, .t = t, .step = 1e-3};
    assert_int_equal(sock_simulate(ctx, explosive, &spec, out, lost_at, &report), SOCK_PARTIAL);
    assert_int_equal(report.lost, 3);
    assert_non_null(strstr(sock_message(ctx), "3 of 6"));
    for (size_t i = 0; i < 3; i++) {
        assert_close(out[3 * i + 1], 2, 0.01, 0);
        assert_true(isnan(out[3 * i + 2]));
        assert_close(lost_at[i], 1.01, 0.02, 0);
        assert_close(out[9 + 3 * i + 2], -0.25, 0.01, 0);
        assert_true(isinf(lost_at[3 + i]));
    }
    sock_model_free(explosive);
}

static void test_simulate__bounds_come_from_the_options(void **state)
{
    (void)state;
    sock_options *opts = sock_options_new(ctx);
    sock_bounds mode;
    double lower[3], upper[3];
    assert_int_equal(sock_simulation_bounds(ctx, opts, 3, &mode, lower, upper), SOCK_OK);
    assert_true(mode == SOCK_BOUNDS_AUTO && isnan(lower[2]) && isnan(upper[0])); /* the model's */
    assert_int_equal(sock_options_set(ctx, opts, "bounds", "none"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "lower", "auto,none,1"), SOCK_OK);
    assert_int_equal(sock_simulation_bounds(ctx, opts, 3, &mode, lower, upper), SOCK_OK);
    assert_true(mode == SOCK_BOUNDS_NONE && isnan(lower[0]) && lower[1] == -(double)INFINITY && lower[2] == 1);
    assert_int_equal(sock_options_set(ctx, opts, "bounds", "reflect"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "lower", "-0.5"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "upper", "1,none,2e0"), SOCK_OK);
    assert_int_equal(sock_simulation_bounds(ctx, opts, 3, &mode, lower, upper), SOCK_OK);
    assert_true(mode == SOCK_BOUNDS_REFLECT && lower[0] == -0.5 && lower[2] == -0.5);
    assert_true(upper[0] == 1 && isinf(upper[1]) && upper[2] == 2);
    static const char *const bad[] = {"1,2", "1,2,3,4", "x", "1,", ",", "1;2;3", "1,2,3x", "nonee"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sock_options_set(ctx, opts, "upper", bad[i]), SOCK_OK);
        assert_int_equal(sock_simulation_bounds(ctx, opts, 3, &mode, lower, upper), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), bad[i]));
    }
    sock_options_free(opts);
}

/* Bounds of the model hold unless the specification says otherwise; what is never left is not. */
static void test_simulate__keeps_the_models_bounds(void **state)
{
    (void)state;
    enum { PATHS = 500 };
    static double out[PATHS * 3];
    sock_model *brownian = wrap_fields(ctx, 1, zero_field, one_field, NULL);
    const double x0 = 0.2, t[3] = {0, 1, 2}, lower = 0, free_below = -(double)INFINITY, far_away = -0.1;
    sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = PATHS, .times = 3, .t = t, .step = 0.01};
    size_t below = 0, left = 0, rest = 0;
    assert_int_equal(sock_model_set_bounds(ctx, brownian, &lower, NULL), SOCK_OK);
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < PATHS; i++) {
        assert_true(out[3 * i + 1] >= 0 && out[3 * i + 2] >= 0);
        left += out[3 * i + 1] == 0 && out[3 * i + 2] != 0;
    }
    assert_true(left > 0);
    spec.bounds = SOCK_BOUNDS_AUTO; /* given numbers come before the model's */
    spec.lower = &far_away;
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < PATHS; i++) below += out[3 * i + 2] < 0;
    assert_true(below > 0);
    spec.bounds = SOCK_BOUNDS_NONE;
    spec.lower = &free_below;
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    below = 0;
    for (size_t i = 0; i < PATHS; i++) below += out[3 * i + 2] < -0.5;
    assert_true(below > 0);
    spec.lower = NULL;
    brownian->structure->absorbing = sk_alloc(ctx, 1, sizeof *brownian->structure->absorbing);
    brownian->structure->absorbing[0] = SK_ABSORBS_LOWER;
    assert_int_equal(sock_simulate(ctx, brownian, &spec, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < PATHS; i++) {
        if (out[3 * i + 1] == 0) assert_true(out[3 * i + 2] == 0);
        rest += out[3 * i + 2] == 0;
    }
    assert_true(rest > PATHS / 2); /* 2 P(N(0, 2) > 0.2) = 0.89 reach it */
    sock_model_free(brownian);
}

static int stop_at_half(void *user, const char *stage, double fraction)
{
    assert_string_equal(stage, "simulate");
    *(double *)user = fraction;
    return fraction >= 0.5;
}

/* Told before each wave, so never at the end. */
static int never_done(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage;
    assert_true(fraction < 1);
    return 0;
}

static void test_simulate__tells_progress_and_can_be_cancelled(void **state)
{
    (void)state;
    enum { PATHS = 128 * 100 };
    static double out[PATHS * 2];
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0;
    double reached = 0;
    sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = PATHS, .times = 2, .t = unit_time};
    sock_set_monitor(ctx, stop_at_half, &reached);
    assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, NULL), SOCK_ECANCELLED);
    assert_true(reached >= 0.5 && reached < 0.6);
    sock_set_monitor(ctx, never_done, NULL);
    sock_cancel_reset(ctx);
    assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, NULL), SOCK_OK);
    sock_set_monitor(ctx, NULL, NULL);
    truth_free(ou);
}

static void test_simulate__wrong_specifications_are_refused(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0.5, bad_start = NAN, back[2] = {1, 0}, lower = 0.6, upper = 0.4;
    double out[2];
    const sock_simulation good = {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = unit_time};
    sock_simulation bad[9] = {good, good, good, good, good, good, good, good, good};
    bad[0].starts = 0;
    bad[1].x0 = &bad_start;
    bad[2].paths = 0;
    bad[3].t = back;
    bad[4].times = 0;
    bad[5].step = -1;
    bad[6].bounds = (sock_bounds)7;
    bad[7].bounds = bad[8].bounds = SOCK_BOUNDS_CLIP;
    bad[7].lower = &lower;
    bad[8].lower = &lower;
    bad[8].upper = &upper;
    assert_int_equal(sock_simulate(ctx, ou.model, &good, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sock_simulate(ctx, ou.model, &bad[i], out, NULL, NULL), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), "simulate:"));
    }
    assert_int_equal(sock_simulate(ctx, NULL, &good, out, NULL, NULL), SOCK_EUSAGE);
    truth_free(ou);
}

/* Steps without end are a slip of the units, or of the times: said at once. */
static void test_simulate__times_that_would_never_end(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0.5, uneven[3] = {0, 1e-9, 1e9}, wide[2] = {-1e308, 1e308}, far[2] = {0, 1e300};
    double out[3];
    const sock_simulation spec[] = {
        {.starts = 1, .x0 = &x0, .paths = 1, .times = 3, .t = uneven},
        {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = wide, .step = 1e300},
        {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = far, .step = 1e-3},
    };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sock_simulate(ctx, ou.model, &spec[i], out, NULL, NULL), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), "inner steps"));
    }
    truth_free(ou);
}

/* A model whose paths are lost with their first step, so that any number of steps takes no time. */
static void nowhere(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d; i++) f[i] = (double)NAN;
}

/* 10^9 steps are allowed and one more is not, whatever the clock says and however many gaps they lie in. */
static void test_simulate__a_path_has_a_billion_steps_at_most(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, nowhere, NULL, NULL);
    const double x0 = 0.5, t[4][3] = {{7, 4e8, 1e9 + 7}, {7, 4e8, 1e9 + 8}, {-5e8, 0, 5e8}, {-5e8, 0, 5e8 + 1}};
    double out[3];
    for (size_t i = 0; i < 4; i++) {
        const sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 1, .times = 3, .t = t[i], .step = 1};
        assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), i % 2 ? SOCK_EUSAGE : SOCK_PARTIAL);
        if (i % 2) assert_non_null(strstr(sock_message(ctx), "a path would take 1e+09 inner steps of 1"));
    }
    sock_model_free(model);
}

/* A tenth of the smallest gap, wherever it is; any step above 0 is taken as it is. A single time takes none. */
static void test_simulate__the_step_is_a_tenth_of_the_smallest_gap(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0.5, t[3][3] = {{5, 5.05, 5.2}, {5, 5.15, 5.2}, {5, 5.2, 5.4}}, smallest[3] = {0.05, 0.05, 0.2};
    double out[3];
    sock_simulation_report report;
    for (size_t i = 0; i < 3; i++) {
        sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 1, .times = 3, .t = t[i]};
        assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, &report), SOCK_OK);
        assert_close(report.step, smallest[i] / 10, 1e-12, 0);
        assert_int_equal(report.steps, lround((t[i][2] - 5) / (smallest[i] / 10)));
        spec.step = 0.075;
        assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, &report), SOCK_OK);
        assert_true(report.step == 0.075);
        assert_int_equal(report.steps, i < 2 ? 3 : 6); /* gaps of 0.05 and 0.15, or 0.2 and 0.2 */
        spec.times = 1, spec.step = 0;
        assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, &report), SOCK_OK);
        assert_true(out[0] == x0 && report.steps == 0);
    }
    truth_free(ou);
}

/* dx = (-3 x + 2 y / unit) dt, dy = (-2 unit x - 3 y) dt + noise of size 1 in both: rates of 2 and 3 in any unit of y.
 */
static void turn(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double unit = *(const double *)user;
    for (size_t i = 0; i < count; i++) {
        f[i * d] = -3 * x[i * d] + 2 * x[i * d + 1] / unit;
        f[i * d + 1] = -2 * unit * x[i * d] - 3 * x[i * d + 1];
    }
}

static void shake(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double unit = *(const double *)user;
    (void)x;
    for (size_t i = 0; i < count; i++)
        a[i * d * d] = 1, a[i * d * d + 3] = unit * unit, a[i * d * d + 1] = a[i * d * d + 2] = 0;
}

/* However far the output times lie apart, a step is no more than a tenth of the time in which f changes, in any units;
 * the stationary variance is then 1 / (2 * 3) to the error of Euler's steps of 1/30, 5 %, and chance. */
static void test_simulate__the_step_follows_the_drift_between_rare_outputs(void **state)
{
    (void)state;
    enum { PATHS = 400 };
    for (double unit = 1e-3; unit < 2e3; unit *= 1e6) {
        sock_model *model = NULL;
        const double x0[] = {0, 0}, t[] = {0, 300, 600};
        static double out[PATHS * 3 * 2];
        sock_simulation_report report;
        assert_int_equal(sock_model_wrap(ctx, 2, NULL, turn, shake, &unit, &model), SOCK_OK);
        sock_simulation spec = {.starts = 1, .x0 = x0, .paths = PATHS, .times = 3, .t = t};
        assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, &report), SOCK_OK);
        assert_true(report.step <= 0.1 / 3 * 1.001 && report.step > 0.05 / 3); /* a gap of 300 in tenths, halved */
        double square = 0;
        for (size_t i = 0; i < PATHS; i++)
            for (size_t j = 1; j < 3; j++) square += out[(i * 3 + j) * 2] * out[(i * 3 + j) * 2] / (2 * PATHS);
        assert_close(square, 1.05 / 6, 0.15, 0); /* 3 standard errors */
        sock_model_free(model);
    }
}

/* A step is halved while f changes by more than a tenth in it, and a path has fewer than a million. */
static void test_simulate__steps_are_halved_by_the_rate(void **state)
{
    (void)state;
    assert_true(sk_halved_step(1, 0, 10) == 1);
    assert_true(sk_halved_step(1, 0.099, 10) == 1 && sk_halved_step(1, 0.101, 10) == 0.5);
    assert_true(sk_halved_step(1, 0.199, 10) == 0.5 && sk_halved_step(1, 0.201, 10) == 0.25);
    assert_true(sk_halved_step(1, 1e9, 2e5) == 0.125); /* 0.25 is more than 2e5 / 1e6 */
    const double t[] = {0, 3, 5, 9};
    sock_simulation spec = {.times = 4, .t = t};
    assert_close(sk_widest_step(&spec), 0.2, 1e-15, 0);
    spec.step = 0.7;
    assert_true(sk_widest_step(&spec) == 0.7);
}

/* f is flat where a pilot begins, and steep further on: it is seen at the eighth point and not at the ninth. In 65
 * states it is not looked for. */
static void cliff(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = i % d ? 0 : x[i] < 2.5 ? 1 : 1 - 50 * (x[i] - 2.5);
}

static void test_simulate__a_pilot_goes_eight_steps_in_up_to_64_states(void **state)
{
    (void)state;
    static double x0[65], out[2 * 65];
    const double t[] = {0, 10};
    for (size_t d = 1; d <= 65; d += d == 1 ? 63 : 1) {
        for (int far = 0; far < 2; far++) {
            sock_model *model = NULL;
            sock_simulation_report report;
            x0[0] = far ? -4.8 : -4.2; /* steps of 1: beyond 2.5 at the ninth point, or at the eighth */
            assert_int_equal(sock_model_wrap(ctx, d, NULL, cliff, NULL, NULL, &model), SOCK_OK);
            sock_simulation spec = {.starts = 1, .x0 = x0, .paths = 1, .times = 2, .t = t};
            assert_true(sock_simulate(ctx, model, &spec, out, NULL, &report) >= 0);
            assert_true(d > 64 || far ? report.step == 1 : report.step < 0.1 / 50);
            sock_model_free(model);
        }
    }
}

/* dx = -x^3 dt + dW: a start far out wants shorter steps than one at 0, and neither is another for the other's sake. */
static void steep(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i] * x[i] * x[i];
}

static void even(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 1;
}

static void test_simulate__a_path_depends_on_no_other_start(void **state)
{
    (void)state;
    enum { PATHS = 3, TIMES = 3, EACH = PATHS * TIMES };
    const double x0[] = {0, 20, 0.5}, t[] = {0, 2, 7};
    double together[3 * EACH], alone[EACH], lost[3 * PATHS];
    sock_model *model = NULL;
    sock_simulation_report report;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, steep, even, NULL, &model), SOCK_OK);
    sock_simulation spec = {.starts = 3, .x0 = x0, .paths = PATHS, .times = TIMES, .t = t};
    assert_int_equal(sock_simulate(ctx, model, &spec, together, lost, &report), SOCK_OK);
    double least = INFINITY, most = 0;
    for (size_t s = 0; s < 3; s++) {
        sock_simulation one = spec;
        one.starts = 1, one.x0 = x0 + s, one.first_start = s;
        sock_simulation_report own;
        assert_int_equal(sock_simulate(ctx, model, &one, alone, NULL, &own), SOCK_OK);
        assert_memory_equal(alone, together + s * EACH, sizeof alone);
        least = fmin(least, own.step), most = fmax(most, own.step);
    }
    assert_true(report.step == least && most > 4 * least);
    for (size_t i = 0; i < 3 * PATHS; i++) assert_true(isinf(lost[i]));
    sock_model_free(model);
}

static sock_status simulate_plane(const sock_model *model, sock_simulation spec, const char *message)
{
    double out[2 * 2 * 3];
    const sock_status status = sock_simulate(ctx, model, &spec, out, NULL, NULL);
    if (message && !strstr(sock_message(ctx), message)) fail_msg("'%s' instead of '%s'", sock_message(ctx), message);
    return status;
}

/* Two starts in the plane; each end of each bound is allowed, and what is beyond is refused with start and state. */
static void test_simulate__starts_may_lie_on_their_bounds(void **state)
{
    (void)state;
    sock_model *still = wrap_fields(ctx, 2, zero_field, NULL, NULL);
    const double x0[4] = {0, 1, 0.5, 3}, low[2] = {0, 1}, high[2] = {0.5, 3}, tight[2] = {0, 1.5}, less[2] = {0.4, 3};
    const double equal[4] = {2, 2, 2, 2}, two[2] = {2, 2}, under[2] = {2, 1.9};
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 1, .times = 2, .t = unit_time, .bounds = SOCK_BOUNDS_CLIP};
    assert_int_equal(simulate_plane(still, spec, NULL), SOCK_OK); /* no bound at all */
    spec.lower = low, spec.upper = high;
    assert_int_equal(simulate_plane(still, spec, NULL), SOCK_OK);
    spec.bounds = SOCK_BOUNDS_REFLECT;
    assert_int_equal(simulate_plane(still, spec, NULL), SOCK_OK);
    spec.lower = tight;
    assert_int_equal(simulate_plane(still, spec, "start 1 has state 2 (x1) at 1, outside its bounds 1.5 to 3"),
                     SOCK_EUSAGE);
    spec.lower = NULL, spec.upper = less;
    assert_int_equal(simulate_plane(still, spec, "start 2 has state 1 (x0) at 0.5"), SOCK_EUSAGE);
    spec.bounds = SOCK_BOUNDS_NONE;
    assert_int_equal(simulate_plane(still, spec, NULL), SOCK_OK); /* bounds that are not asked for */
    spec.bounds = SOCK_BOUNDS_CLIP, spec.x0 = equal, spec.lower = spec.upper = two;
    assert_int_equal(simulate_plane(still, spec, NULL), SOCK_OK);
    spec.upper = under;
    assert_int_equal(simulate_plane(still, spec, "bounds of state 2 are 2 and 1.9"), SOCK_EUSAGE);
    sock_model_free(still);
}

static void test_simulate__each_argument_is_checked(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0.5, same[3] = {0, 1, 1}, endless[2] = {0, INFINITY};
    const sock_simulation good = {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = unit_time};
    sock_simulation bad[7] = {good, good, good, good, good, good, good};
    sock_bounds mode;
    double out[3], low, high;
    bad[0].x0 = NULL;
    bad[1].t = NULL;
    bad[2].t = same, bad[2].times = 3;
    bad[3].t = endless;
    bad[4].step = INFINITY;
    bad[5].step = NAN;
    bad[6].bounds = (sock_bounds)-1;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(sock_simulate(ctx, ou.model, &bad[i], out, NULL, NULL), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), "simulate:"));
    }
    assert_int_equal(sock_simulate(NULL, ou.model, &good, out, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_simulate(ctx, ou.model, NULL, out, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_simulate(ctx, ou.model, &good, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(NULL, NULL, 1, &mode, &low, &high), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(ctx, NULL, 0, &mode, &low, &high), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(ctx, NULL, 1, NULL, &low, &high), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(ctx, NULL, 1, &mode, NULL, &high), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(ctx, NULL, 1, &mode, &low, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_simulation_bounds(ctx, NULL, 1, &mode, &low, &high), SOCK_OK);
    assert_true(mode == SOCK_BOUNDS_AUTO && isnan(low) && isnan(high));
    truth_free(ou);
}

static void test_simulate__survives_every_failed_allocation(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const double x0 = 0.5;
    double out[2];
    const sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 1, .times = 2, .t = unit_time};
    sock_status status = SOCK_ENOMEM;
    for (long k = 1; k < 50 && status == SOCK_ENOMEM; k++) {
        sk_fail_allocation(ctx, k);
        status = sock_simulate(ctx, ou.model, &spec, out, NULL, NULL);
        sk_fail_allocation(ctx, 0);
        assert_true(status == SOCK_OK || status == SOCK_ENOMEM);
    }
    assert_int_equal(status, SOCK_OK);
    truth_free(ou);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_random__bulk_normals_are_the_same_stream),
        cmocka_unit_test(prop_noise__factor_gives_the_covariance_back),
        cmocka_unit_test(test_simulate__strong_order_is_one_half),
        cmocka_unit_test(test_simulate__gbm_moments_are_those_of_the_scheme),
        cmocka_unit_test(test_simulate__ou_at_irregular_times),
        cmocka_unit_test(test_simulate__one_step_has_covariance_h_a),
        cmocka_unit_test(prop_simulate__paths_do_not_depend_on_threads_or_company),
        cmocka_unit_test(prop_simulate__paths_of_a_fitted_model_do_not_depend_on_company),
        cmocka_unit_test(prop_simulate__first_start_goes_on_in_the_stream),
        cmocka_unit_test(test_simulate__without_noise_it_is_eulers_method),
        cmocka_unit_test(test_noise__reflection_folds_the_line),
        cmocka_unit_test(test_simulate__mirrors_make_brownian_motion_uniform),
        cmocka_unit_test(test_simulate__lost_paths_are_counted_and_the_others_live),
        cmocka_unit_test(test_simulate__bounds_come_from_the_options),
        cmocka_unit_test(test_simulate__keeps_the_models_bounds),
        cmocka_unit_test(test_simulate__tells_progress_and_can_be_cancelled),
        cmocka_unit_test(test_simulate__wrong_specifications_are_refused),
        cmocka_unit_test(test_simulate__times_that_would_never_end),
        cmocka_unit_test(test_simulate__a_path_has_a_billion_steps_at_most),
        cmocka_unit_test(test_simulate__the_step_is_a_tenth_of_the_smallest_gap),
        cmocka_unit_test(test_simulate__the_step_follows_the_drift_between_rare_outputs),
        cmocka_unit_test(test_simulate__steps_are_halved_by_the_rate),
        cmocka_unit_test(test_simulate__a_pilot_goes_eight_steps_in_up_to_64_states),
        cmocka_unit_test(test_simulate__a_path_depends_on_no_other_start),
        cmocka_unit_test(test_simulate__starts_may_lie_on_their_bounds),
        cmocka_unit_test(test_simulate__each_argument_is_checked),
        cmocka_unit_test(test_simulate__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
