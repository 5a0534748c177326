/* test_relerr.c - relative errors against models whose error is known. */
#include "onecontext.h"
#include "score/score.h"
#include "truths.h"

#include <string.h>

/* The truth of an instance, f times 1.1 and a times 0.8. */
static void scaled_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    ((const sys_instance *)user)->system->drift(user, count, d, x, f);
    for (size_t i = 0; i < count * d; i++) f[i] *= 1.1;
}

static void scaled_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    ((const sys_instance *)user)->system->diffusion(user, count, d, x, a);
    for (size_t i = 0; i < count * d * d; i++) a[i] *= 0.8;
}

static sock_data *test_set(const truth *t)
{
    sock_data *data = NULL;
    assert_int_equal(sys_generate(ctx, t->instance, SYS_TEST, &data), SOCK_OK);
    return data;
}

static void test_relerr__scaled_fields_have_the_scale_as_error(void **state)
{
    (void)state;
    static const char *const names[] = {"gbm", "dense", "lorenz96"};
    for (size_t i = 0; i < 3; i++) {
        truth t = truth_of(ctx, names[i]);
        sock_data *test = test_set(&t);
        sock_model *scaled = wrap_fields(ctx, t.instance->system->d, scaled_drift, scaled_diffusion, t.instance);
        sock_options *opts = sock_options_new(ctx);
        sock_scores s;
        assert_int_equal(sock_options_set(ctx, opts, "delta", "0.001"), SOCK_OK);
        assert_int_equal(sock_score(ctx, scaled, test, NULL, t.model, opts, &s), SOCK_OK);
        assert_close(s.re_f.value, 10, 1e-12, 0);
        assert_close(s.re_a.value, 20, 1e-12, 0);
        assert_int_equal(sock_score(ctx, t.model, test, NULL, t.model, opts, &s), SOCK_OK);
        assert_true(s.re_f.valid && s.re_f.value == 0 && s.re_a.valid && s.re_a.value == 0);
        sock_options_free(opts);
        sock_model_free(scaled);
        sock_data_free(test);
        truth_free(t);
    }
}

/* Off by one matrix entry at one kind of point only: the sum is over all entries of all points. */
static void test_relerr__slow_sum_over_all_points(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou"), well = truth_of(ctx, "doublewell");
    sock_data *test = test_set(&ou);
    sock_scores s;
    double f_difference = 0, f_truth = 0, points = 0;
    for (size_t j = 0; j < sock_data_trajectories(test); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(test, j, &t, &x);
        for (size_t i = 0; i < length; i++, points++) {
            double difference = (x[i] - pow(x[i], 3)) - (-x[i]);
            f_difference += difference * difference;
            f_truth += x[i] * x[i];
        }
    }
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sock_score(ctx, well.model, test, NULL, ou.model, NULL, &s), SOCK_OK);
        assert_true((double)s.points == points);
        assert_close(s.re_f.value, 100 * sqrt(f_difference / f_truth), 1e-12, 0);
        assert_close(s.re_a.value, 100 * (1 - 0.25), 1e-12, 0); /* a: 0.25 for 1 */
    }
    sock_data_free(test);
    truth_free(well);
    truth_free(ou);
}

/* Two states at more points than two blocks hold, where every number differs: all four sums, and those of a only where
 * both models have one. */
static void wave_field(void *user, size_t count, size_t d, const double *x, double *f)
{
    for (size_t i = 0; i < count * d; i++) f[i] = sin(*(const double *)user * x[i]) + (double)(i % d);
}

static void wave_matrix(void *user, size_t count, size_t d, const double *x, double *a)
{
    for (size_t i = 0; i < count * d * d; i++) {
        const double *own = x + i / (d * d) * d;
        a[i] = own[i / d % d] * own[i % d] + *(const double *)user * (double)(i % (d * d) % (d + 1) == 0);
    }
}

static void test_relerr__the_four_sums_in_two_dimensions(void **state)
{
    (void)state;
    enum { N = 600 };
    double t[N], x[2 * N], speed[2] = {1, 3}, expected[4] = {0};
    const size_t length = N;
    sock_data *data = NULL;
    sk_field_errors e;
    sk_normals((sk_key){4, SK_PURPOSE_TEST}, 0, 0, 0, 2 * N, x);
    for (size_t i = 0; i < N; i++) t[i] = (double)i;
    for (size_t i = 0; i < N; i++) {
        double f[2][2], a[2][4];
        for (size_t m = 0; m < 2; m++) {
            wave_field(&speed[m], 1, 2, x + 2 * i, f[m]);
            wave_matrix(&speed[m], 1, 2, x + 2 * i, a[m]);
        }
        for (size_t k = 0; k < 2; k++) expected[0] += pow(f[0][k] - f[1][k], 2), expected[1] += pow(f[1][k], 2);
        for (size_t k = 0; k < 4; k++) expected[2] += pow(a[0][k] - a[1][k], 2), expected[3] += pow(a[1][k], 2);
    }
    assert_true(sock_data_from_arrays(ctx, 2, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    sock_model *one = wrap_fields(ctx, 2, wave_field, wave_matrix, &speed[0]);
    sock_model *two = wrap_fields(ctx, 2, wave_field, wave_matrix, &speed[1]);
    sock_model *bare[2] = {wrap_fields(ctx, 2, wave_field, NULL, &speed[0]),
                           wrap_fields(ctx, 2, wave_field, NULL, &speed[1])};
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sk_relative_errors(ctx, one, two, data, &e), SOCK_OK);
        assert_close(e.f_difference, expected[0], 1e-13, 0);
        assert_close(e.f_truth, expected[1], 1e-13, 0);
        assert_close(e.a_difference, expected[2], 1e-13, 0);
        assert_close(e.a_truth, expected[3], 1e-13, 0);
    }
    for (int run = 0; run < 2; run++) {
        assert_int_equal(sk_relative_errors(ctx, run ? bare[0] : one, run ? two : bare[1], data, &e), SOCK_OK);
        assert_close(e.f_difference, expected[0], 1e-13, 0);
        assert_true(e.a_difference == 0 && e.a_truth == 0);
    }
    sock_model_free(bare[1]), sock_model_free(bare[0]), sock_model_free(two), sock_model_free(one);
    sock_data_free(data);
}

static void zero_field(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    memset(out, 0, count * d * sizeof *out);
}

static void test_relerr__a_zero_truth_has_no_relative_error(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_model *zero = wrap_fields(ctx, 1, zero_field, NULL, NULL);
    sock_data *test = test_set(&ou);
    sock_scores s;
    assert_int_equal(sock_score(ctx, ou.model, test, NULL, zero, NULL, &s), SOCK_PARTIAL);
    assert_false(s.re_f.valid || s.re_a.valid);
    assert_non_null(strstr(s.re_f.reason, "zero"));
    assert_non_null(strstr(s.re_a.reason, "truth has no diffusion"));
    sock_data_free(test);
    sock_model_free(zero);
    truth_free(ou);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relerr__scaled_fields_have_the_scale_as_error),
        cmocka_unit_test(test_relerr__slow_sum_over_all_points),
        cmocka_unit_test(test_relerr__the_four_sums_in_two_dimensions),
        cmocka_unit_test(test_relerr__a_zero_truth_has_no_relative_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
