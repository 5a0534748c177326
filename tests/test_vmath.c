/* test_vmath.c - exp, cos, sin and log of arrays against long double, everywhere and in every place of the array. */
#include "test.h"

#include <float.h>

static const sk_key key = {2026, SK_PURPOSE_TEST};

typedef void (*bulk_fn)(size_t n, const double *x, double *y);

/* Distance in units of the last place of the exact value (which is never finer than the smallest subnormal). */
static double ulps(double value, long double exact)
{
    double nearest = (double)exact;
    if (isnan(nearest) || isinf(nearest)) return (isnan(value) && isnan(nearest)) || value == nearest ? 0 : INFINITY;
    double unit = fmax(nextafter(fabs(nearest), INFINITY) - fabs(nearest), DBL_TRUE_MIN);
    return (double)(fabsl((long double)value - exact) / (long double)unit);
}

static void within_ulps(bulk_fn bulk, long double (*exact)(long double), size_t n, const double *x, double allowed)
{
    double *y = malloc(n * sizeof *y);
    bulk(n, x, y);
    for (size_t i = 0; i < n; i++)
        if (!(ulps(y[i], exact((long double)x[i])) <= allowed)) {
            print_error("at %.17g: %.17g, exactly %.17Lg\n", x[i], y[i], exact((long double)x[i]));
            fail();
        }
    free(y);
}

static void test_vmath__exp_is_right_to_four_ulp(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    double *x = malloc(COUNT * sizeof *x);
    const double scale[] = {1e-300, 1e-10, 1, 30, 1400};
    for (uint64_t s = 0; s < 5; s++) {
        sk_uniforms(key, 1, s, 0, COUNT, x);
        for (size_t i = 0; i < COUNT; i++) x[i] = scale[s] * (x[i] - 0.5);
        within_ulps(sk_vexp, expl, COUNT, x, 4);
    }
    for (size_t i = 0; i < COUNT; i++) x[i] = -708 - 40.0 * (double)i / COUNT; /* into the subnormals and below */
    within_ulps(sk_vexp, expl, COUNT, x, 4);
    for (size_t i = 0; i < COUNT; i++) x[i] = 705 + 10.0 * (double)i / COUNT; /* over the top */
    within_ulps(sk_vexp, expl, COUNT, x, 4);
    free(x);
}

/* Against libm, which is right to one ulp for any argument; the long double functions are not, for huge ones. */
static void near_libm(bulk_fn bulk, double (*scalar)(double), size_t n, const double *x)
{
    double *y = malloc(n * sizeof *y);
    bulk(n, x, y);
    for (size_t i = 0; i < n; i++)
        if (!(ulps(y[i], (long double)scalar(x[i])) <= 4)) {
            print_error("at %.17g: %.17g, libm says %.17g\n", x[i], y[i], scalar(x[i]));
            fail();
        }
    free(y);
}

static void test_vmath__cos_and_sin_are_right_to_four_ulp(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    double *x = malloc(COUNT * sizeof *x);
    const double scale[] = {1e-300, 1e-8, 1, 10, 1e4, 1e9, 1e17, 1e300};
    for (uint64_t s = 0; s < 8; s++) {
        sk_uniforms(key, 2, s, 0, COUNT, x);
        for (size_t i = 0; i < COUNT; i++) x[i] = scale[s] * (x[i] - 0.5);
        near_libm(sk_vcos, cos, COUNT, x);
        near_libm(sk_vsin, sin, COUNT, x);
    }
    free(x);
}

static void test_vmath__log_is_right_to_four_ulp(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    double *x = malloc(COUNT * sizeof *x);
    const double scale[] = {5e-324, 1e-310, 1e-300, 1, 1e300};
    for (uint64_t s = 0; s < 5; s++) {
        sk_uniforms(key, 4, s, 0, COUNT, x);
        for (size_t i = 0; i < COUNT; i++) x[i] = scale[s] + scale[s] * x[i] * 1e3;
        near_libm(sk_vlog, log, COUNT, x);
    }
    for (size_t i = 0; i < COUNT; i++) x[i] = 1 + ((double)i - COUNT / 2.0) * 0x1p-40; /* where log crosses zero */
    near_libm(sk_vlog, log, COUNT, x);
    free(x);
}

static void test_vmath__special_values_pass_through(void **state)
{
    (void)state;
    double x[] = {-INFINITY, INFINITY, NAN, 0, -0.0, 1e308, -1e308, 710, -746, 5e-324, 1}, y[11];
    sk_vexp(11, x, y);
    assert_true(y[0] == 0 && y[1] == (double)INFINITY && isnan(y[2]) && y[3] == 1 && y[4] == 1);
    assert_true(y[5] == (double)INFINITY && y[6] == 0 && y[7] == (double)INFINITY && y[8] == 0 && y[9] == 1);
    sk_vcos(11, x, y);
    assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == 1 && y[4] == 1 && y[9] == 1);
    assert_true(ulps(y[5], (long double)cos(1e308)) <= 4);
    sk_vsin(11, x, y);
    assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == 0 && y[4] == 0 && y[9] == 5e-324);
    assert_true(ulps(y[5], (long double)sin(1e308)) <= 4);
    sk_vlog(11, x, y);
    assert_true(isnan(y[0]) && isinf(y[1]) && isnan(y[2]) && y[3] == -(double)INFINITY && y[4] == -(double)INFINITY);
    assert_true(isnan(y[6]) && y[10] == 0);
}

/* A value is the same wherever it stands, whatever its neighbours are, and when the result replaces it. */
static void prop_place_and_neighbours_do_not_matter(void **state)
{
    (void)state;
    enum { COUNT = 41 };
    const bulk_fn bulk[] = {sk_vexp, sk_vcos, sk_vsin, sk_vlog};
    double x[COUNT], y[COUNT], alone, moved[COUNT];
    sk_uniforms(key, 3, 0, 0, COUNT, x);
    for (size_t i = 0; i < COUNT; i++) x[i] = 20 * (x[i] - 0.5);
    x[5] = 1e9, x[6] = -INFINITY, x[12] = -745, x[20] = 1e300;
    for (size_t f = 0; f < 4; f++) {
        for (size_t i = 0; f == 3 && i < COUNT; i++) x[i] = fabs(x[i]); /* NaN has no one bit pattern to compare */
        if (f == 1 || f == 2) x[6] = 3;
        bulk[f](COUNT, x, y);
        for (size_t i = 0; i < COUNT; i++) {
            bulk[f](1, x + i, &alone);
            assert_memory_equal(&alone, y + i, sizeof alone);
            bulk[f](COUNT - i, x + i, moved);
            assert_memory_equal(moved, y + i, (COUNT - i) * sizeof *moved);
        }
        memcpy(moved, x, sizeof x);
        bulk[f](COUNT, moved, moved);
        assert_memory_equal(moved, y, sizeof y);
        bulk[f](0, NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vmath__exp_is_right_to_four_ulp),
        cmocka_unit_test(test_vmath__cos_and_sin_are_right_to_four_ulp),
        cmocka_unit_test(test_vmath__log_is_right_to_four_ulp),
        cmocka_unit_test(test_vmath__special_values_pass_through),
        cmocka_unit_test(prop_place_and_neighbours_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
