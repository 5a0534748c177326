/* test_bounds.c - where states end: units and letters of kernels, and nodes that stay inside. */
#include "occupation/transitions.h"
#include "onecontext.h"

#include <string.h>

static const double none = (double)INFINITY;

static void test_bounds__letters_and_units(void **state)
{
    (void)state;
    const double lower[] = {0, -none, 2, -none}, upper[] = {none, 5, 6, none};
    const double x[] = {1, 4, 3, -9, 3, 2, 5, 9}; /* two points */
    sk_bounds *b = NULL;
    assert_int_equal(sk_bounds_new(ctx, 4, lower, upper, 2, x, &b), SOCK_OK);
    assert_string_equal(b->sides, "lub-");
    const double origin[] = {0, 5, 2, 0}, scale[] = {2, 2, 4, 1};
    assert_memory_equal(b->origin, origin, sizeof origin);
    assert_memory_equal(b->scale, scale, sizeof scale);
    double at[] = {-1, 7, 8, -3};
    sk_bounds_clip(4, lower, upper, at);
    assert_true(at[0] == 0 && at[1] == 5 && at[2] == 6 && at[3] == -3);
    sk_bounds_free(b);
}

static void test_bounds__nothing_is_no_bounds(void **state)
{
    (void)state;
    const double lower[] = {-none}, upper[] = {none};
    sk_bounds *b = NULL;
    assert_int_equal(sk_bounds_new(ctx, 1, lower, upper, 0, NULL, &b), SOCK_OK);
    assert_null(b);
    assert_int_equal(sk_bounds_new(ctx, 1, NULL, NULL, 0, NULL, &b), SOCK_OK);
    assert_null(b);
}

static double skew(double lower, double upper, double m, double s)
{
    sk_bounds *b = NULL;
    assert_int_equal(sk_bounds_new(ctx, 1, &lower, &upper, 1, &m, &b), SOCK_OK);
    const double r = sk_skew(b, &m, &s, 1);
    sk_bounds_free(b);
    return r;
}

/* Both points inside, and none skewed without need. */
static void prop_points_stay_inside_in_one_dimension(void **state)
{
    (void)state;
    for (double size = 0.01; size <= 29; size *= 1.3)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double s = sign * size, r = skew(0, none, 1, s), up = skew(-none, 0, -1, s);
            assert_true(1 + r * s >= -1e-12 && 1 - s / r >= -1e-12);
            assert_true(-1 + up * s <= 1e-12 && -1 - s / up <= 1e-12);
            if (size < 1) assert_true(r == 1 && up == 1);
        }
    assert_true(skew(0, none, 1, 1e9) == 30 && skew(0, none, 1, -1e9) == 1.0 / 30);
}

/* A block of transitions near 0 with bounds. */
static sk_rule *rule_near(size_t d, const sk_bounds *bounds, double *f0, double *a0)
{
    double t[2] = {0, 0.5}, x[6];
    size_t length = 2, point = 0, fold = SK_ALWAYS, cluster = 0;
    sock_data *data = NULL;
    sk_transitions *rows = NULL;
    sk_rule *rule = NULL;
    for (size_t k = 0; k < 2 * d; k++) x[k] = 0.1 + 0.05 * (double)k;
    assert_int_equal(sock_data_from_arrays(ctx, d, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    const sk_split split = {1, 0, 1, &point, &fold, &cluster, NULL};
    assert_int_equal(sk_transitions_new(ctx, data, &split, NULL, &rows), SOCK_OK);
    rows->bounds = bounds;
    for (size_t k = 0; k < d; k++) {
        f0[k] = -0.02;
        for (size_t l = 0; l < d; l++) a0[k * d + l] = (k == l ? 0.6 : 0.2);
    }
    assert_int_equal(sk_rule_conditional(ctx, rows, 0, 1, f0, a0, &rule), SOCK_OK);
    sk_transitions_free(rows);
    sock_data_free(data);
    return rule;
}

/* Weights of h, mean y + h f and covariance h a of the end, whatever the skew. */
static void prop_skewed_points_carry_mean_and_covariance(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        double lower[3] = {0, 0, -none}, upper[3] = {none, none, none}, f0[3], a0[9], x[3] = {1, 1, 1}, total = 0;
        sk_bounds *bounds = NULL;
        assert_int_equal(sk_bounds_new(ctx, d, lower, upper, 1, x, &bounds), SOCK_OK);
        sk_rule *rule = rule_near(d, bounds, f0, a0);
        double mean[3] = {0}, square[9] = {0};
        for (size_t e = 1; e < rule->row[1]; e++) {
            total += rule->weight[e];
            for (size_t k = 0; k < d; k++) mean[k] += rule->weight[e] / 0.25 * rule->x[e * d + k];
        }
        for (size_t e = 1; e < rule->row[1]; e++)
            for (size_t k = 0; k < d * d; k++)
                square[k] += rule->weight[e] / 0.25 * (rule->x[e * d + k / d] - mean[k / d]) *
                             (rule->x[e * d + k % d] - mean[k % d]);
        assert_close(total, 0.25, 1e-14, 1);
        for (size_t k = 0; k < d; k++) assert_close(mean[k], 0.1 + 0.05 * (double)k - 0.01, 1e-14, 1);
        for (size_t k = 0; k < d * d; k++) assert_close(square[k], 0.5 * a0[k], 1e-13, 1);
        if (d == 1) assert_true(rule->x[1] >= 0 && rule->x[2] >= 0);
        assert_true(rule->weight[1] != rule->weight[2]); /* they are skewed */
        sk_rule_free(rule);
        sk_bounds_free(bounds);
    }
}

/* A mean beyond the bound is put next to it. */
static void test_bounds__the_mean_stays_inside(void **state)
{
    (void)state;
    const double lower = 0.2, upper = none, x = 1;
    double f0[1], a0[1];
    sk_bounds *bounds = NULL;
    assert_int_equal(sk_bounds_new(ctx, 1, &lower, &upper, 1, &x, &bounds), SOCK_OK);
    sk_rule *rule = rule_near(1, bounds, f0, a0);
    assert_true(rule->weight[1] > 0 && rule->weight[2] > 0 && rule->x[1] > 0.2);
    sk_rule_free(rule);
    sk_bounds_free(bounds);
}

static sock_status make_again(sock_context *context, void *arg)
{
    const double lower = 0, upper = none;
    sk_bounds *b = NULL;
    SK_TRY(sk_bounds_new(context, 1, &lower, &upper, 1, arg, &b));
    sk_bounds_free(b);
    return SOCK_OK;
}

static void test_bounds__survive_every_failed_allocation(void **state)
{
    (void)state;
    double x = 1;
    assert_true(for_each_allocation(ctx, make_again, &x) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds__letters_and_units),
        cmocka_unit_test(test_bounds__nothing_is_no_bounds),
        cmocka_unit_test(prop_points_stay_inside_in_one_dimension),
        cmocka_unit_test(prop_skewed_points_carry_mean_and_covariance),
        cmocka_unit_test(test_bounds__the_mean_stays_inside),
        cmocka_unit_test(test_bounds__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
