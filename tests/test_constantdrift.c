/* test_constantdrift.c - a drift that tells no more than a constant is shown as one, with the error of a mean. */
#include "api/record.h"
#include "test.h"
#include "tune/policy.h"
#include "tune/rules.h"

enum { PATHS = 4, STEPS = 150 };

/* dx = (c - pull x) dt + sqrt(0.04 + bowl x^2) dW, in steps of 0.1, four in each. */
static sock_data *walk(sock_context *ctx, double c, double pull, double bowl)
{
    size_t length[PATHS];
    static double t[PATHS * (STEPS + 1)], x[PATHS * (STEPS + 1)], noise[4 * PATHS * STEPS];
    sock_data *data = NULL;
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 1, 0, 0, 4 * PATHS * STEPS, noise);
    for (size_t j = 0, at = 0, i = 0; j < PATHS; j++, at++) {
        length[j] = STEPS + 1;
        double now = 0.5 * (double)j;
        for (size_t s = 0; s <= STEPS; s++) {
            if (s) at++;
            t[at] = 0.1 * (double)s;
            x[at] = now;
            for (int m = 0; s < STEPS && m < 4; m++, i++)
                now += (c - pull * now) * 0.025 + sqrt((0.04 + bowl * now * now) * 0.025) * noise[i];
        }
    }
    if (sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    return data;
}

static sock_model *fitted(sock_context *ctx, const sock_data *data, sk_record *record)
{
    sock_model *model = NULL;
    if (sock_fit(ctx, data, NULL, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sk_record_of_model(ctx, model, record), SOCK_OK);
    return model;
}

/* Both fields constant: the mean of the increments over the time, and the root of a over the time. */
static void test_constantdrift__the_mean_and_its_error(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *data = walk(ctx, 0.1, 0, 0);
    sk_record record;
    sock_model *model = fitted(ctx, data, &record);
    double f, a, x = 0.3, mean = 0, time = 0;
    assert_true(sock_model_drift(ctx, model, 1, &x, &f) >= 0 && sock_model_diffusion(ctx, model, 1, &x, &a) >= 0);
    for (size_t j = 0; j < PATHS; j++) {
        const size_t last = data->first[j + 1] - 1;
        mean += data->x[last] - data->x[data->first[j]];
        time += data->t[last] - data->t[data->first[j]];
    }
    assert_close(f, mean / time, 1e-9, 0);
    assert_int_equal(record.errors.count, 1);
    assert_close(record.errors.list[0].value[0], SK_BAND_FACTOR * sqrt(a / time), 1e-6, 0);
    assert_int_equal(record.against_constant, SK_SAME);
    sk_record_clear(&record);
    sock_model_free(model);
    sock_data_free(data);
    sock_context_free(ctx);
}

/* The score that models are compared with is that of constants as they predict best, also where the search shows their
 * means: what is held fixed does not move it. */
static void test_constantdrift__score_of_constants_is_the_same_for_any_fit(void **state)
{
    (void)state;
    static const char *const named[][2] = {{"drift", "affine"}, {"drift", "constant"}, {"diffusion", "gauss:eta=1"}};
    sock_context *ctx = sock_context_new();
    sock_data *data = walk(ctx, 0.1, 0, 0);
    sk_record free, record;
    sock_model *model = fitted(ctx, data, &free);
    assert_string_equal(sk_record_drift(&free)->kernel, "constant");
    assert_true(free.found.score < free.found.score_constant - 1e-3); /* shrunk, which is closer to the truth, 0.1 */
    sock_model_free(model);
    for (size_t i = 0; i < 3; i++) {
        sock_options *opts = sock_options_new(ctx);
        assert_true(sock_options_set(ctx, opts, named[i][0], named[i][1]) >= 0);
        assert_true(sock_fit(ctx, data, opts, &model) >= 0);
        assert_int_equal(sk_record_of_model(ctx, model, &record), SOCK_OK);
        assert_close(record.found.score_constant, free.found.score_constant, 1e-9, 1);
        sk_record_clear(&record);
        sock_model_free(model);
        sock_options_free(opts);
    }
    sk_record_clear(&free);
    sock_data_free(data);
    sock_context_free(ctx);
}

/* a varies, so the model is no constant; f is. What it was chosen among stays in the bands. */
static void test_constantdrift__beside_a_that_varies(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *data = walk(ctx, 0.1, 0, 0.3);
    sk_record record;
    sock_model *model = fitted(ctx, data, &record);
    assert_string_equal(sk_record_drift(&record)->kernel, "constant");
    assert_string_not_equal(sk_record_diffusion(&record)->kernel, "constant");
    const double error = record.errors.list[0].value[0];
    double low, high, x = 0.3, f;
    assert_true(sock_model_drift(ctx, model, 1, &x, &f) >= 0 && fabs(f - 0.1) < 3 * error);
    assert_true(error > 0.02 && error < 0.06);
    assert_true(sock_model_bands(ctx, model, 1, &x, 0.9, &(sock_bands){.f_low = &low, .f_high = &high}) >= 0);
    assert_true(high - low > 2 * 1.64 * error);
    sk_record_clear(&record);
    sock_model_free(model);
    sock_data_free(data);
    sock_context_free(ctx);
}

static void test_constantdrift__a_pull_stays(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *data = walk(ctx, 0.1, 0.5, 0.3);
    sk_record record;
    sock_model *model = fitted(ctx, data, &record);
    assert_string_not_equal(sk_record_drift(&record)->kernel, "constant");
    sk_record_clear(&record);
    sock_model_free(model);
    sock_data_free(data);
    sock_context_free(ctx);
}

/* The same walk with errors of the given sd in every value. */
static sock_data *measured(sock_context *ctx, const sock_data *walk, double sd)
{
    static double x[PATHS * (STEPS + 1)];
    size_t length[PATHS];
    sock_data *data = NULL;
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 1, 0, 0, PATHS * (STEPS + 1), x);
    for (size_t j = 0; j < PATHS; j++) length[j] = STEPS + 1;
    for (size_t i = 0; i < PATHS * (STEPS + 1); i++) x[i] = walk->x[i] + sd * x[i];
    if (sock_data_from_arrays(ctx, 1, PATHS, length, walk->t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    return data;
}

/* Without noise constants are all that the data support; with it they are, too, a and R are told apart, and the error
 * of the drift is that of a mean: sqrt(a / T), and a little for the ends of the paths. */
static void test_constantdrift__a_random_walk_with_noise(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *clean = walk(ctx, 0.1, 0, 0), *data = measured(ctx, clean, 0.06);
    sk_record record;
    sock_model *model = fitted(ctx, data, &record);
    double f, a, x = 0.3, time = 0;
    assert_true(record.found.noise.used && fabs(record.found.noise.sd.value[0] - 0.06) < 0.01);
    assert_string_equal(sk_record_drift(&record)->kernel, "constant");
    assert_string_equal(sk_record_diffusion(&record)->kernel, "constant");
    assert_true(sock_model_drift(ctx, model, 1, &x, &f) >= 0 && sock_model_diffusion(ctx, model, 1, &x, &a) >= 0);
    assert_true(fabs(a - 0.04) < 0.01);
    for (size_t j = 0; j < PATHS; j++) time += data->t[data->first[j + 1] - 1] - data->t[data->first[j]];
    const double error = record.errors.list[0].value[0];
    assert_true(fabs(f - 0.1) < 3 * error);
    assert_close(error, SK_BAND_FACTOR * sqrt(a / time), 0.1, 0);
    assert_true(record.found.score > record.found.score_constant);
    sk_record_clear(&record);
    sock_model_free(model);
    sock_data_free(data);
    sock_data_free(clean);
    sock_context_free(ctx);
}

static void test_constantdrift__what_a_slope_must_gain(void **state)
{
    (void)state;
    assert_true(!sk_worth_a_slope(1, 2) && sk_worth_a_slope(1, 2.01));
    assert_true(!sk_worth_a_slope(4, 3.5) && sk_worth_a_slope(4, 3.51));
    assert_true(sk_slope_asked(1) == 2 && sk_slope_asked(4) == 3.5);
    assert_true(SK_SLOPE_CLEAR == 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constantdrift__the_mean_and_its_error),
        cmocka_unit_test(test_constantdrift__score_of_constants_is_the_same_for_any_fit),
        cmocka_unit_test(test_constantdrift__beside_a_that_varies),
        cmocka_unit_test(test_constantdrift__a_pull_stays),
        cmocka_unit_test(test_constantdrift__a_random_walk_with_noise),
        cmocka_unit_test(test_constantdrift__what_a_slope_must_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
