/* Standardised residuals: of the truth on its own paths they are white; of a wrong model they say what is wrong. */
#include "test.h"

#include "report/whiteness.h"

enum { PATHS = 60, TIMES = 101 };

typedef struct law {
    double pull, noise; /* f = -pull x, a = noise^2 */
} law;

static void drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    const law *l = user;
    for (size_t i = 0; i < count * d; i++) out[i] = -l->pull * x[i];
}

static void diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    const law *l = user;
    (void)x;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t m = 0; m < d; m++) out[(i * d + k) * d + m] = k == m ? l->noise * l->noise : 0;
}

static sock_model *model_of(sock_context *ctx, law *l, size_t d)
{
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, d, NULL, drift, diffusion, l, &model), SOCK_OK);
    return model;
}

/* Paths of the law, with measurement noise of the given deviation on top. */
static sock_data *data_of(sock_context *ctx, law *l, double blur)
{
    static double x[PATHS * TIMES * 2], t[PATHS * TIMES], noise[PATHS * TIMES * 2];
    double times[TIMES];
    size_t length[PATHS];
    sock_model *model = model_of(ctx, l, 2);
    for (size_t i = 0; i < TIMES; i++) times[i] = 0.02 * (double)i;
    const sock_simulation spec = {
        .starts = 1, .x0 = (double[]){0.5, -1}, .paths = PATHS, .times = TIMES, .t = times, .step = 0.002, .seed = 3};
    assert_int_equal(sock_simulate(ctx, model, &spec, x, NULL, NULL), SOCK_OK);
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * TIMES * 2, noise);
    for (size_t i = 0; i < PATHS * TIMES * 2; i++) x[i] += blur * noise[i];
    for (size_t i = 0; i < PATHS * TIMES; i++) t[i] = times[i % TIMES];
    for (size_t j = 0; j < PATHS; j++) length[j] = TIMES;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_model_free(model);
    return data;
}

static res_moments look(sock_context *ctx, law *truth, law *believed, double blur)
{
    sock_data *data = data_of(ctx, truth, blur);
    sock_model *model = model_of(ctx, believed, 2);
    res_set set;
    assert_int_equal(res_make(ctx, model, data, &set), SOCK_OK);
    assert_int_equal(set.steps, PATHS * (TIMES - 1));
    const res_moments m = res_look(&set);
    res_free(&set);
    sock_model_free(model);
    sock_data_free(data);
    return m;
}

/* 12000 residuals: four standard errors each. */
static void test_whiteness__the_truth_leaves_white_noise(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    law l = {1, 0.5};
    const res_moments m = look(ctx, &l, &l, 0);
    const double error = 4 / sqrt((double)m.count);
    assert_int_equal(m.count, 2 * PATHS * (TIMES - 1));
    assert_true(fabs(m.mean) < error);
    assert_true(fabs(m.sd - 1) < error);
    assert_true(fabs(m.kurtosis - 3) < error * sqrt(24));
    assert_true(fabs(m.beyond - 0.1) < error * sqrt(0.1 * 0.9));
    assert_true(m.lag[0] > 1 - 1e-12 && m.lag[0] < 1 + 1e-12);
    for (int lag = 1; lag <= RES_LAGS; lag++) assert_true(fabs(m.lag[lag]) < 1.3 * error);
    sock_context_free(ctx);
}

/* A noise believed k times as large makes residuals 1 / k as wide; white noise on the states of deviation s adds 2 s^2
 * to the variance of an increment and -s^2 to the covariance of neighbours. */
static void test_whiteness__what_is_wrong_is_seen(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    law truth = {1, 0.5}, twice = {1, 1};
    const double h = 0.02, blur = 0.05, variance = h * 0.25 + 2 * blur * blur;
    const res_moments wide = look(ctx, &truth, &twice, 0), noisy = look(ctx, &truth, &truth, blur);
    assert_true(fabs(wide.sd - 0.5) < 0.02);
    assert_true(fabs(noisy.sd - sqrt(variance / (h * 0.25))) < 0.05);
    assert_true(fabs(noisy.lag[1] + blur * blur / variance) < 4 / sqrt((double)noisy.count));
    assert_true(fabs(noisy.lag[2]) < 4 / sqrt((double)noisy.count));
    sock_context_free(ctx);
}

static void square(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) out[i] = x[i] * x[i];
}

/* f = -x, a = x^2, one step of 0.1 from 2 to 2.3: the drift leads to 1.8, so f counts as -1.9 and a as (4 + 3.24) / 2.
 */
static void test_whiteness__one_step_by_hand(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    law l = {.pull = 1};
    sock_model *model = NULL;
    sock_data *data = NULL;
    res_set set;
    const double t[2] = {5, 5.1}, x[2] = {2, 2.3};
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, drift, square, &l, &model), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, (const size_t[]){2}, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(res_make(ctx, model, data, &set), SOCK_OK);
    assert_int_equal(set.steps, 1);
    assert_close(set.r[0], (0.3 + 0.19) / sqrt(0.1 * 3.62), 1e-12, 0);
    res_free(&set);
    sock_data_free(data);
    sock_model_free(model);
    sock_context_free(ctx);
}

static void test_whiteness__states_without_noise_are_left_out(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    law truth = {1, 0.5}, still = {1, 0};
    assert_int_equal(look(ctx, &truth, &still, 0).count, 0);
    sock_context_free(ctx);
}

static void prop_whiteness__normal_quantile_is_the_inverse(void **state)
{
    (void)state;
    for (double share = 0.001; share < 1; share += 0.0499) {
        const double at = res_normal_quantile(share);
        assert_close(0.5 * erfc(-at / sqrt(2)), share, 1e-12, 1);
    }
    assert_close(res_normal_quantile(0.975), 1.959963984540054, 1e-12, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whiteness__the_truth_leaves_white_noise),
                                       cmocka_unit_test(test_whiteness__what_is_wrong_is_seen),
                                       cmocka_unit_test(test_whiteness__one_step_by_hand),
                                       cmocka_unit_test(test_whiteness__states_without_noise_are_left_out),
                                       cmocka_unit_test(prop_whiteness__normal_quantile_is_the_inverse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
