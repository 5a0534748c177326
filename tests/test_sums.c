/* test_sums.c - long sums: the exact sum of 128-bit integers, rounded once, in any order and however they are cut. */
#include "base/sums.h"

#include "test.h"

static const sk_key key = {2026, SK_PURPOSE_TEST};

enum { MANY = 1000000 };

__extension__ typedef __int128 integer;

/* Multiples of 2^-60 of either sign, from 2^-60 to 2^40, nearly half of them the negative of another. */
static void mixed(double *x, integer *exact)
{
    double *u = malloc(3 * MANY * sizeof *u);
    sk_uniforms(key, 1, 0, 0, 3 * MANY, u);
    *exact = 0;
    for (size_t i = 0; i < MANY; i++) {
        const double size = ldexp(u[3 * i], (int)floor(100 * u[3 * i + 1]));
        const double whole = floor(fmin(size, ldexp(1, 100)));
        x[i] = ldexp(u[3 * i + 2] < 0.5 ? -whole : whole, -60);
        if (i % 2 && u[3 * i + 2] < 0.9) x[i] = -x[i - 1];
        *exact += (integer)ldexp(x[i], 60);
    }
    free(u);
}

/* In the given order, cut into `cuts` runs which are joined from the last to the first. */
static double in_pieces(const double *x, const size_t *order, size_t cuts)
{
    double sum = 0, low = 0;
    for (size_t c = cuts; c-- > 0;) {
        double part = 0, part_low = 0;
        for (size_t i = c * MANY / cuts; i < (c + 1) * MANY / cuts; i++) sk_sum_take(x[order[i]], &part, &part_low);
        sk_sums_join(1, &part, &part_low, &sum, &low);
    }
    return sum;
}

static void prop_sums__neither_order_nor_cuts_show(void **state)
{
    (void)state;
    double *x = malloc(MANY * sizeof *x), plain = 0;
    size_t *order = malloc(MANY * sizeof *order);
    integer exact;
    mixed(x, &exact);
    const double expected = ldexp((double)exact, -60);
    for (size_t i = 0; i < MANY; i++) plain += x[i];
    assert_true(plain != expected); /* a plain sum does not do it */
    for (size_t k = 0; k < 10; k++) {
        sk_shuffle(key, 2, k, MANY, order);
        const double found = in_pieces(x, order, k * k * k + 1);
        assert_memory_equal(&found, &expected, sizeof found);
    }
    free(order);
    free(x);
}

static void test_sums__blocks_are_taken(void **state)
{
    (void)state;
    double part[3] = {1, 1e-20, -2}, sum[3] = {1e20, 1, 2}, low[3] = {0};
    sk_sums_take(3, part, sum, low);
    assert_true(sum[0] == 1e20 && low[0] == 1 && sum[1] == 1 && low[1] == 1e-20 && sum[2] == 0 && low[2] == 0);
    part[0] = -1e20;
    sk_sums_take(1, part, sum, low);
    assert_true(sum[0] == 1 && low[0] == 0);
}

/* A score of -infinity stays one: it says that there is none. */
static void test_sums__what_is_not_finite_stays(void **state)
{
    (void)state;
    double sum = 1, low = 0, to = 5, to_low = 0;
    sk_sum_take(-(double)INFINITY, &sum, &low);
    sk_sum_take(3, &sum, &low);
    assert_true(sum == -(double)INFINITY);
    sk_sums_join(1, &sum, &low, &to, &to_low);
    assert_true(to == -(double)INFINITY);
    sk_sum_take((double)NAN, &to, &to_low);
    assert_true(isnan(to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_sums__neither_order_nor_cuts_show),
        cmocka_unit_test(test_sums__blocks_are_taken),
        cmocka_unit_test(test_sums__what_is_not_finite_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
