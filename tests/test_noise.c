/* test_noise.c - increments of a given covariance, and boxes: many points at once, singular and wrong matrices, ends of
 * the boxes. */
#include "onecontext.h"
#include "simulate/simulate.h"

#include <float.h>

/* y + scale C z at each of several points, full and diagonal ones in turn, with room between the rows of z. */
static void prop_noise__each_point_has_its_own_factor(void **state)
{
    (void)state;
    enum { N = 5, D = 2, STRIDE = 3 };
    const double scale = 0.3;
    double a[N * D * D], y[N * D + 1], expected[N * D], z[N * STRIDE];
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, 0, 0, 0, N * STRIDE, z);
    for (size_t i = 0; i < N; i++) {
        const double p = 1 + (double)i, r = 2.5, q = i % 2 ? 0.7 : 0;
        a[4 * i] = p, a[4 * i + 1] = a[4 * i + 2] = q, a[4 * i + 3] = r;
        y[2 * i] = 10 * (double)i, y[2 * i + 1] = -1;
        expected[2 * i] = y[2 * i] + scale * sqrt(p) * z[STRIDE * i];
        expected[2 * i + 1] =
            y[2 * i + 1] + scale * (q / sqrt(p) * z[STRIDE * i] + sqrt(r - q * q / p) * z[STRIDE * i + 1]);
    }
    y[N * D] = 42;
    sk_add_noise(D, N, scale, a, z, STRIDE, y);
    assert_all_close(N * D, y, expected, 1e-14);
    assert_true(y[N * D] == 42);
}

/* One state: variances of 0 and below make no noise, those that are not numbers come out. */
static void test_noise__one_state(void **state)
{
    (void)state;
    double a[5] = {4, 0, -1, 0.25, NAN}, y[6] = {1, 1, 1, 1, 1, 42};
    const double z[10] = {1, 9, 1, 9, 1, 9, -1, 9, 1, 9};
    sk_add_noise(1, 5, 0.5, a, z, 2, y);
    assert_true(y[0] == 2 && y[1] == 1 && y[2] == 1 && y[3] == 0.75 && isnan(y[4]) && y[5] == 42);
}

/* A diagonal matrix is taken entry by entry: variances below 0 are none. */
static void test_noise__a_diagonal_matrix(void **state)
{
    (void)state;
    double a[9] = {4, 0, 0, 0, -1, 0, 0, 0, 0.25}, y[3] = {0, 0, 0};
    const double z[3] = {1, 1, 1};
    sk_add_noise(3, 1, 1, a, z, 3, y);
    assert_true(y[0] == 2 && y[1] == 0 && y[2] == 0.5);
}

/* [1 1; 1 1 + e]: the second pivot e is noise of its own from 1e-14 on, and rounding below. */
static void test_noise__pivots_that_are_rounding_are_none(void **state)
{
    (void)state;
    for (int k = 20; k <= 100; k += 5) { /* 4.4e-15 to 2.2e-14 */
        const double e = k * DBL_EPSILON;
        double a[4] = {1, 1, 1, 1 + e}, y[2] = {0, 0};
        const double z[2] = {0, 1};
        sk_add_noise(2, 1, 1, a, z, 2, y);
        assert_true(y[0] == 0);
        if (e > 1e-14)
            assert_close(y[1], sqrt(e), 1e-12, 0);
        else
            assert_true(y[1] == 0);
    }
}

/* ---- Boxes ---- */

static double kept(sock_bounds mode, double low, double high, double x)
{
    sk_keep_within(1, mode, &low, &high, &x);
    return x;
}

/* What lies within, ends included, stays to the bit: 0.2 + (0.9 - 0.2) is not 0.9. */
static void test_noise__what_is_within_stays(void **state)
{
    (void)state;
    const double inside[4] = {0.2, 0.3, 0.65, 0.9};
    for (size_t i = 0; i < 4; i++) {
        assert_true(kept(SOCK_BOUNDS_REFLECT, 0.2, 0.9, inside[i]) == inside[i]);
        assert_true(kept(SOCK_BOUNDS_CLIP, 0.2, 0.9, inside[i]) == inside[i]);
    }
    assert_true(0.2 + (0.9 - 0.2) != 0.9);
}

/* Folding by hand: mirror at one end, then at the other, until it is within. Narrow and wide boxes. */
static void prop_noise__reflection_is_mirror_after_mirror(void **state)
{
    (void)state;
    static const double box[][2] = {{-1, 2}, {0.25, 0.75}, {-3, -2.5}, {5, 25}};
    for (size_t b = 0; b < 4; b++)
        for (int i = -40; i <= 40; i++) {
            const double low = box[b][0], high = box[b][1], x = 0.37 * i;
            double y = x;
            while (y < low || y > high) y = y < low ? 2 * low - y : 2 * high - y;
            assert_close(kept(SOCK_BOUNDS_REFLECT, low, high, x), y, 1e-13, 50);
        }
}

static void test_noise__boxes_without_width_or_without_ends(void **state)
{
    (void)state;
    const double low[2] = {1, -2}, high[2] = {3, 4};
    double x[3] = {0, 7, 42};
    assert_true(kept(SOCK_BOUNDS_REFLECT, 2, 2, 5) == 2 && kept(SOCK_BOUNDS_REFLECT, 2, 2, -5) == 2);
    assert_true(kept(SOCK_BOUNDS_REFLECT, 1, INFINITY, -5) == 7 && kept(SOCK_BOUNDS_REFLECT, 1, INFINITY, 5) == 5);
    assert_true(kept(SOCK_BOUNDS_REFLECT, -INFINITY, 1, 5) == -3 && kept(SOCK_BOUNDS_REFLECT, -INFINITY, 1, -5) == -5);
    sk_keep_within(2, SOCK_BOUNDS_CLIP, low, high, x);
    assert_true(x[0] == 1 && x[1] == 4 && x[2] == 42);
    x[0] = 9, x[1] = -9;
    sk_keep_within(2, SOCK_BOUNDS_CLIP, NULL, high, x);
    assert_true(x[0] == 3 && x[1] == -9);
    sk_keep_within(2, SOCK_BOUNDS_CLIP, low, NULL, x);
    assert_true(x[0] == 3 && x[1] == -2);
    sk_keep_within(2, SOCK_BOUNDS_CLIP, NULL, NULL, x);
    assert_true(x[0] == 3 && x[1] == -2 && x[2] == 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_noise__each_point_has_its_own_factor),
        cmocka_unit_test(test_noise__one_state),
        cmocka_unit_test(test_noise__a_diagonal_matrix),
        cmocka_unit_test(test_noise__pivots_that_are_rounding_are_none),
        cmocka_unit_test(test_noise__what_is_within_stays),
        cmocka_unit_test(prop_noise__reflection_is_mirror_after_mirror),
        cmocka_unit_test(test_noise__boxes_without_width_or_without_ends),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
