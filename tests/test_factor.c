/* test_factor.c - normal laws around numbers: what further normal numbers add. */
#include "la/factor.h"

#include "la/la.h"
#include "onecontext.h"

/* Covariance of numbers i and j. */
static double covariance(const sk_factor *f, size_t i, size_t j)
{
    return f->group[i] == f->group[j] ? sk_dot(f->rank, f->value + i * f->rank, f->value + j * f->rank) : 0;
}

/* Two groups, 0 and 2 in the first; the law has as many columns as numbers whatever is added. */
static void prop_factor__is_widened_by_the_covariance_of_more(void **state)
{
    (void)state;
    const double value[] = {1, 0.5, 2, 0, -1, 0.3}, more[] = {0.1, 0.2, 0.3, 1, 1, 1, 0.5, -0.5, 0.25};
    sk_factor *f = NULL;
    double before[9];
    assert_int_equal(sk_factor_new(ctx, 3, 2, 2, &f), SOCK_OK);
    memcpy(f->value, value, sizeof value);
    for (size_t i = 0; i < 3; i++) {
        f->entry[i] = i;
        f->group[i] = i == 1;
    }
    for (size_t i = 0; i < 9; i++) before[i] = covariance(f, i / 3, i % 3);
    assert_int_equal(sk_factor_widen(ctx, f, 3, more), SOCK_OK);
    assert_int_equal(f->rank, 3);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const double added = f->group[i] == f->group[j] ? sk_dot(3, more + 3 * i, more + 3 * j) : 0;
            assert_close(covariance(f, i, j), before[3 * i + j] + added, 1e-12, 1);
        }
    sk_factor_free(f);
}

static sock_status widen_once(sock_context *own, void *arg)
{
    const double more[] = {0.1, 0.2};
    sk_factor *f = NULL;
    (void)arg;
    SK_TRY(sk_factor_new(own, 2, 1, 1, &f));
    f->value[0] = f->value[1] = 1;
    const sock_status status = sk_factor_widen(own, f, 1, more);
    sk_factor_free(f);
    return status;
}

static void test_factor__survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(for_single_allocations(ctx, widen_once, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_factor__is_widened_by_the_covariance_of_more),
        cmocka_unit_test(test_factor__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
