/* test_elements.c - what a card does for each of many elements (cuda/elements.h), on the processor. */
#include "../cuda/elements.h"

#include "test.h"

#include <math.h>

/* To 4e-16 of the cosine with 64 digits of mantissa, near and far, at the ends of each half turn too. */
static void prop_cosine__is_the_cosine(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const double reach[] = {1e-9, 0.1, 2, 100, 1e6, 1e10, 9e14};
    static double u[N];
    for (size_t s = 0; s < sizeof reach / sizeof *reach; s++) {
        sk_uniforms((sk_key){3260, SK_PURPOSE_TEST}, s, 0, 0, N, u);
        for (size_t i = 0; i < N; i++) {
            const double x = reach[s] * (2 * u[i] - 1), half = 1.5707963267948966 * rint(x);
            assert_true(fabsl((long double)cosine(x) - cosl(x)) < 4e-16L);
            if (s < 4) assert_true(fabsl((long double)cosine(half) - cosl(half)) < 4e-16L);
        }
    }
}

static void test_cosine__of_anything(void **state)
{
    (void)state;
    const double far[] = {1e15, -3e15, 1e16, 1e300, -1e308};
    assert_true(cosine(0) == 1);
    assert_true(isnan(cosine((double)NAN)) && isnan(cosine((double)INFINITY)));
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) assert_true(fabs(cosine(far[i]) - cos(far[i])) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_cosine__is_the_cosine),
        cmocka_unit_test(test_cosine__of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
