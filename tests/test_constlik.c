/* test_constlik.c - constant coefficients of data: mean rate, covariance of the steps and their likelihood, by slow
 * sums over steps. */
#include "onecontext.h"
#include "score/score.h"

enum { D = 2, TRAJECTORIES = 4, POINTS = 13 };
static const size_t length[TRAJECTORIES] = {5, 1, 2, 5};

/* Irregular times that do not begin at 0, correlated states; the second trajectory is a single point. */
static sock_data *some_data(double scale)
{
    double t[POINTS], x[D * POINTS], u[POINTS];
    sock_data *data = NULL;
    sk_uniforms((sk_key){8, SK_PURPOSE_TEST}, 0, 0, 0, POINTS, u);
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, 1, 0, 0, D * POINTS, x);
    for (size_t j = 0, i = 0; j < TRAJECTORIES; j++)
        for (size_t k = 0; k < length[j]; k++, i++) t[i] = k ? t[i - 1] + scale * (0.1 + u[i]) : -3 - u[i];
    for (size_t i = 0; i < POINTS; i++) x[2 * i + 1] += 0.5 * x[2 * i];
    assert_true(sock_data_from_arrays(ctx, D, TRAJECTORIES, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

/* Steps as a plain list. */
typedef struct steps {
    size_t n, point[POINTS];
    double h[POINTS], move[POINTS][D];
} steps;

static steps list_steps(const sock_data *data)
{
    steps s = {0};
    for (size_t j = 0, point = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        const size_t points = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < points; i++, s.n++) {
            s.point[s.n] = point + i;
            s.h[s.n] = t[i + 1] - t[i];
            for (size_t k = 0; k < D; k++) s.move[s.n][k] = x[(i + 1) * D + k] - x[i * D + k];
        }
        point += points;
    }
    return s;
}

static void slow_rate(const steps *s, double *rate)
{
    double time = 0, sum[D] = {0};
    for (size_t i = 0; i < s->n; i++) {
        time += s->h[i];
        for (size_t k = 0; k < D; k++) sum[k] += s->move[i][k];
    }
    for (size_t k = 0; k < D; k++) rate[k] = sum[k] / time;
}

/* Times in all of more and of less than 1. */
static void prop_constlik__mean_rate_is_moves_over_time(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        sock_data *data = some_data(run ? 0.01 : 1);
        const steps s = list_steps(data);
        double rate[D + 1] = {[D] = 5}, expected[D];
        slow_rate(&s, expected);
        sk_mean_rate(data, rate);
        assert_all_close(D, rate, expected, 1e-13);
        assert_true(rate[D] == 5);
        sock_data_free(data);
    }
    const size_t one = 1;
    const double t = 2, x[D] = {3, 4};
    double rate[D] = {9, 9};
    sock_data *single = NULL;
    assert_true(sock_data_from_arrays(ctx, D, 1, &one, &t, x, NULL, NULL, NULL, &single) >= 0);
    sk_mean_rate(single, rate);
    assert_true(rate[0] == 0 && rate[1] == 0); /* no time, no rate */
    sock_data_free(single);
}

/* f by point, and the same f everywhere. */
static void prop_constlik__step_covariance_is_the_mean_of_squares_over_h(void **state)
{
    (void)state;
    sock_data *data = some_data(1);
    const steps s = list_steps(data);
    double f[D * POINTS], a[D * D + 1], u[D];
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, 2, 0, 0, D * POINTS, f);
    for (size_t stride = 0; stride <= D; stride += D) {
        double expected[D * D] = {0};
        for (size_t i = 0; i < s.n; i++) {
            const double *own = f + s.point[i] * stride;
            for (size_t k = 0; k < D * D; k++)
                expected[k] += (s.move[i][k / D] - s.h[i] * own[k / D]) * (s.move[i][k % D] - s.h[i] * own[k % D]) /
                               (s.h[i] * (double)s.n);
        }
        for (size_t k = 0; k <= D * D; k++) a[k] = 7;
        sk_step_covariance(data, stride, f, a, u);
        assert_all_close(D * D, a, expected, 1e-13);
        assert_true(a[D * D] == 7);
    }
    sock_data_free(data);
}

/* By determinant and inverse of 2 x 2 matrices. */
static void prop_constlik__likelihood_is_that_of_the_constants(void **state)
{
    (void)state;
    const double delta = 0.1;
    sock_data *data = some_data(1);
    const steps s = list_steps(data);
    double f[D], a[D * D], u[D], sum = 0;
    sk_loglik l;
    slow_rate(&s, f);
    sk_step_covariance(data, 0, f, a, u);
    for (size_t i = 0; i < s.n; i++) {
        const double h = s.h[i], p = h * a[0] + delta, q = h * a[1], r = h * a[3] + delta, det = p * r - q * q;
        const double e = s.move[i][0] - h * f[0], g = s.move[i][1] - h * f[1];
        sum -= log(2 * acos(-1)) + 0.5 * log(det) + 0.5 * (r * e * e - 2 * q * e * g + p * g * g) / det;
    }
    assert_int_equal(sk_constant_likelihood(ctx, data, delta, &l), SOCK_OK);
    assert_true(l.intervals == s.n && l.singular == 0 && l.broken == 0 && l.unsettled == 0);
    assert_close(l.value, sum, 1e-13, 1);
    sock_data_free(data);
}

/* Equal steps have no covariance, huge ones no finite one: counted, and not in the sum. */
static void test_constlik__steps_without_a_density_are_counted(void **state)
{
    (void)state;
    const size_t points = 4;
    const double t[4] = {0, 1, 2, 3}, straight[4] = {0, 2, 4, 6}, huge[4] = {0, 1e200, 0, 1e200};
    sock_data *data = NULL;
    sk_loglik l;
    assert_true(sock_data_from_arrays(ctx, 1, 1, &points, t, straight, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_constant_likelihood(ctx, data, 0, &l), SOCK_OK);
    assert_true(l.intervals == 3 && l.singular == 3 && l.broken == 0 && l.value == 0);
    sock_data_free(data);
    data = NULL;
    assert_true(sock_data_from_arrays(ctx, 1, 1, &points, t, huge, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_constant_likelihood(ctx, data, 0, &l), SOCK_OK);
    assert_true(l.intervals == 3 && l.singular == 0 && l.broken == 3 && l.value == 0);
    sock_data_free(data);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)user, (void)fraction;
    return strcmp(stage, "constant coefficients") == 0;
}

static void test_constlik__can_be_interrupted(void **state)
{
    (void)state;
    sock_data *data = some_data(1);
    sk_loglik l;
    sock_set_monitor(ctx, stop, NULL);
    assert_int_equal(sk_constant_likelihood(ctx, data, 0, &l), SOCK_ECANCELLED);
    sock_set_monitor(ctx, NULL, NULL);
    sock_cancel_reset(ctx);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_constlik__mean_rate_is_moves_over_time),
        cmocka_unit_test(prop_constlik__step_covariance_is_the_mean_of_squares_over_h),
        cmocka_unit_test(prop_constlik__likelihood_is_that_of_the_constants),
        cmocka_unit_test(test_constlik__steps_without_a_density_are_counted),
        cmocka_unit_test(test_constlik__can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
