/* test_logarithm.c - the logarithm of a small matrix: known ones, its exponential, and where there is none. */
#include "la/la.h"
#include "test.h"

#include <math.h>

/* exp(m) by its series, n <= 4 and |m| not large. */
static void exponential(size_t n, const double *m, double *out)
{
    double power[16] = {0}, next[16];
    for (size_t k = 0; k < n; k++) power[k * (n + 1)] = 1;
    for (size_t k = 0; k < n * n; k++) out[k] = power[k];
    for (int i = 1; i < 60; i++) {
        sk_small_product(n, power, m, false, next);
        for (size_t k = 0; k < n * n; k++) {
            power[k] = next[k] / i;
            out[k] += power[k];
        }
    }
}

static void prop_logarithm__undoes_the_exponential(void **state)
{
    (void)state;
    const double turn[] = {-1, 2, -2, -1}, affine[] = {0, 0, 0, 0.4, -1, 0.5, -0.3, 0, -2}, small[] = {0.01};
    const double *const m[] = {turn, affine, small};
    static const size_t n[] = {2, 3, 1};
    for (size_t i = 0; i < 3; i++) {
        double a[9];
        exponential(n[i], m[i], a);
        assert_true(sk_matrix_logarithm(n[i], a));
        assert_all_close(n[i] * n[i], a, m[i], 1e-11);
    }
}

/* A turn by more than half a circle comes back as the shorter one. */
static void test_logarithm__is_the_principal_one(void **state)
{
    (void)state;
    const double turn[] = {0, 4, -4, 0}, pi = acos(-1);
    double a[4];
    exponential(2, turn, a);
    assert_true(sk_matrix_logarithm(2, a));
    assert_close(a[1], 4 - 2 * pi, 1e-9, 1);
}

static void test_logarithm__there_is_none_of_what_is_not_positive(void **state)
{
    (void)state;
    double negative[] = {-0.5}, singular[] = {1, 1, 1, 1}, mixed[] = {2, 0, 0, -1};
    assert_false(sk_matrix_logarithm(1, negative));
    assert_false(sk_matrix_logarithm(2, singular));
    assert_false(sk_matrix_logarithm(2, mixed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_logarithm__undoes_the_exponential),
        cmocka_unit_test(test_logarithm__is_the_principal_one),
        cmocka_unit_test(test_logarithm__there_is_none_of_what_is_not_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
