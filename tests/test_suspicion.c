/* test_suspicion.c - when measurement noise is suspected: one z-score beyond its quantile, or many a little high. */
#include "onecontext.h"
#include "tune/policy.h"
#include "tune/rules.h"

/* P = 1 - 0.16 / d for the largest of d, whichever it is; beyond ten states as for ten. */
static void prop_suspicion__of_the_largest_by_the_normal_law(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 12; d++)
        for (size_t k = 0; k < d; k++) {
            const double quantile = sk_normal_quantile(1 - 0.16 / (double)(d < 10 ? d : 10));
            double z[12];
            for (size_t l = 0; l < d; l++) z[l] = -2;
            z[k] = quantile - 0.004;
            assert_false(sk_noise_suspected(d, z));
            z[k] = quantile + 0.004;
            assert_true(sk_noise_suspected(d, z));
        }
}

/* The sum over sqrt(d) is standard normal, too. */
static void prop_suspicion__of_all_together(void **state)
{
    (void)state;
    for (size_t d = 2; d <= 10; d++)
        for (int above = 0; above < 2; above++) {
            double z[10];
            for (size_t k = 0; k < d; k++) z[k] = (above ? 1.001 : 0.999) * SK_NOISE_SUM / sqrt((double)d);
            assert_int_equal(sk_noise_suspected(d, z), above);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_suspicion__of_the_largest_by_the_normal_law),
        cmocka_unit_test(prop_suspicion__of_all_together),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
