/* test_blascore.c - when OpenBLAS is told which processor it runs on. */
#include "la/la.h"
#include "test.h"

static void test_blascore__old_kernels_on_a_new_processor(void **state)
{
    (void)state;
    const char *const old[] = {"Prescott", "Core2", "Generic", "PRESCOTT", "generic"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        assert_string_equal(sk_blas_advice(old[i], true, true), "SKYLAKEX");
        assert_string_equal(sk_blas_advice(old[i], true, false), "HASWELL");
        assert_null(sk_blas_advice(old[i], false, false)); /* it is an old processor */
        assert_null(sk_blas_advice(old[i], false, true));
    }
}

static void test_blascore__kernels_that_fit_are_left(void **state)
{
    (void)state;
    const char *const good[] = {"Haswell", "SkylakeX",    "Cooperlake", "Sapphirerapids",
                                "Zen",     "Sandybridge", "",           "Core"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(sk_blas_advice(good[i], true, true));
        assert_null(sk_blas_advice(good[i], true, false));
    }
}

/* The three public answers agree, whatever this machine is. */
static void test_blascore__the_remark_names_the_advice(void **state)
{
    (void)state;
    const char *advice = sock_blas_advice(), *remark = sock_blas_remark();
    assert_non_null(sock_blas_core());
    assert_int_equal(remark[0] == 0, advice == NULL);
    if (!advice) return;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "OPENBLAS_CORETYPE=%s ", advice);
    assert_non_null(strstr(remark, wanted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blascore__old_kernels_on_a_new_processor),
        cmocka_unit_test(test_blascore__kernels_that_fit_are_left),
        cmocka_unit_test(test_blascore__the_remark_names_the_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
