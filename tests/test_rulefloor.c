/* test_rulefloor.c - polish, floor, bounds and guards; see test_rules.c. */
#include "rulecases.h"

/* ---- Polish ---- */

static void test_rulefloor__polish_jitter_and_penalty(void **state)
{
    (void)state;
    assert_close(sk_polish_jitter(1, 2, 0), 2e-4, 1e-15, 0);
    assert_close(sk_polish_jitter(2, 2, 0), 0.2, 1e-15, 0);
    assert_true(sk_polish_jitter(2, 2, 0.5) == 0.5 && sk_polish_jitter(1, 2, 0.5) == 0.5);
    assert_close(sk_polish_penalty(100, 0.02, 2, 1.3), 1, 1e-14, 0);
    assert_close(sk_polish_penalty(100, 0.02, 2, 2.6), 0.25, 1e-14, 0);
    assert_close(sk_polish_penalty(50, 0.02, 6, 1.3), 1.5, 1e-14, 0);
    assert_true(sk_polish_penalty(100, 0.02, 2, 0) == 0);
}

/* ---- Floor and guards ---- */

enum { FLOORS = 7 };

/* The floor for these scores; errors are those of the difference to a floor with error 0. */
static size_t floor_of(size_t rows, const double *score, const double *error, const double *euler,
                       const double *euler_error, double constant)
{
    double cluster[2 * FLOORS][CLUSTERS] = {{0}}, euler_cluster[2 * FLOORS][CLUSTERS] = {{0}};
    for (size_t g = 0; g < FLOORS; g++) {
        cluster[g][0] = euler_cluster[g][0] = 1e3; /* not to be looked at */
        cluster[FLOORS + g][0] = error[g];
        euler_cluster[FLOORS + g][0] = euler_error[g];
    }
    const sk_floor_scores s = {rows, CLUSTERS, score, cluster[FLOORS], euler, euler_cluster[FLOORS], constant, false};
    return sk_pick_floor(&s);
}

/* The same where the leading part vanishes at a bound; errors are those of the difference to no floor. */
static size_t floor_at_bound(const double *score, const double *error)
{
    double cluster[2 * FLOORS][CLUSTERS] = {{0}};
    for (size_t g = 0; g < FLOORS; g++) cluster[FLOORS + g][0] = error[g];
    const sk_floor_scores s = {1000, CLUSTERS, score, cluster[FLOORS], score, cluster[FLOORS], -1, true};
    return sk_pick_floor(&s);
}

static const double zeros[FLOORS] = {0};

/* There is none unless one gains a standard error over it. */
static void test_rulefloor__floor_at_a_bound_must_earn_its_error(void **state)
{
    (void)state;
    static const double level[FLOORS] = {0, -0.5, -1.9, -2, -2.01, -9, -9}, gains[FLOORS] = {0, 2.5, 1, 0, 0, 0, 0};
    static const double wide[FLOORS] = {0, 9, 9, 9, 9, 9, 9}, narrow[FLOORS] = {0, 1, 1, 1, 1, 1, 1};
    assert_int_equal(floor_at_bound(level, wide), 0);
    assert_int_equal(floor_at_bound(gains, wide), 0);
    assert_true(floor_at_bound(gains, narrow) >= 1);
}

/* 0 is the bound of what never falls below it and comes near it, a fifth of its mean. */
static void test_rulefloor__bounds_show_in_the_data(void **state)
{
    (void)state;
    assert_true(sk_has_bound(0, 1) && sk_has_bound(0.199, 1) && !sk_has_bound(0.201, 1));
    assert_true(!sk_has_bound(-1e-9, 1) && !sk_has_bound(0, 0) && !sk_has_bound(0, -1));
    assert_true(sk_has_bound(1.9, 10) && !sk_has_bound(4, 5));
}

/* Up to 44 features and orders of 60 (120 of the simple ones). */
static void test_rulefloor__kernels_of_bounds_are_affordable(void **state)
{
    (void)state;
    assert_true(sk_bounded_is_tried(1, 44, true) && !sk_bounded_is_tried(1, 45, false));
    assert_true(sk_bounded_is_tried(4, 15, true) && !sk_bounded_is_tried(4, 15.5, true));
    assert_true(sk_bounded_is_tried(4, 30, false) && !sk_bounded_is_tried(4, 30.5, false));
}

/* The largest within an error of the best, two nats at most; the last is none of them. */
static void test_rulefloor__floor_is_the_largest_that_is_not_worse(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -0.5, -1.9, -2, -2.01, -9, 50}, last[FLOORS] = {0, 0, 0, 0, 0, 9, 99};
    static const double later[FLOORS] = {-5, 0, -0.5, -1.9, -2.1, -9, 50};
    static const double some[FLOORS] = {0, 1.95, 1.95, 1.95, 1.95, 1.95, 1.95}, none[FLOORS] = {0, 0, 0, 0, 0, 0, 0};
    static const double wide[FLOORS] = {0, 99, 99, 99, 99, 99, 99}, shifted[FLOORS] = {9, 3, 4.8, 4.8, 4.8, 4.8, 4.8};
    assert_int_equal(floor_of(1000, score, some, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(1000, score, wide, zeros, zeros, -1), 3);
    assert_int_equal(floor_of(1000, score, none, zeros, zeros, -1), 0);
    assert_int_equal(floor_of(1000, later, shifted, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(1000, last, none, zeros, zeros, -1), 5);
}

/* 50 / n nats where there are fewer than 250 rows. */
static void test_rulefloor__floor_where_rows_are_few(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -0.2, -0.49, -0.51, -9, -9, -9};
    assert_int_equal(floor_of(250, score, zeros, zeros, zeros, -1), 0);
    assert_int_equal(floor_of(249, score, zeros, zeros, zeros, -1), 1);
    assert_int_equal(floor_of(100, score, zeros, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(98, score, zeros, zeros, zeros, -1), 3);
}

/* Euler's likelihood asks for another by more than two nats and an error, where rows are few or it is not above that of
 * constants: then the best by the sum of both. */
static void test_rulefloor__floor_that_eulers_likelihood_asks_for(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -3, -3, -3, -9, -9, -9}, asks[FLOORS] = {0, 0, 0, 5, 6, 0, 0};
    static const double hardly[FLOORS] = {0, 0, 0, 2, 0, 0, 0}, just[FLOORS] = {0, 0, 0, 2.01, 0, 0, 0};
    static const double last[FLOORS] = {0, 0, 0, 0, 0, 0, 50}, low[FLOORS] = {0, -2.1, -9, -9, -9, -9, -9};
    static const double here[FLOORS] = {0, 0, 0, 0, 6.01, 0, 0}, unsure[FLOORS] = {0, 0, 0, 0, 6, 0, 0};
    static const double sure[FLOORS] = {0, 9, 9, 9, 5.9, 9, 9}, none[FLOORS] = {-(double)INFINITY, 0, 1, 0, 0, 0, 0};
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, -1), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, 0), 3);
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, 1), 3);
    assert_int_equal(floor_of(250, score, zeros, asks, zeros, -1), 0);
    assert_int_equal(floor_of(249, score, zeros, asks, zeros, -1), 3);
    assert_int_equal(floor_of(1000, score, zeros, asks, unsure, 0), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, here, 0), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, sure, 0), 3);
    assert_int_equal(floor_of(1000, low, zeros, hardly, zeros, 0), 0);
    assert_int_equal(floor_of(1000, low, zeros, just, zeros, 0), 0); /* asked, but the sum is best at 0 */
    assert_int_equal(floor_of(1000, zeros, zeros, last, zeros, 0), 6);
    assert_int_equal(floor_of(1000, score, zeros, none, zeros, -1), 2);
    static const double even[FLOORS] = {0, -2, -2, -2, -9, -9, -9}, two[FLOORS] = {0, 0, 0, 2.01, 0, 0, 0};
    assert_int_equal(floor_of(1000, even, zeros, two, zeros, 0), 3);
    assert_int_equal(floor_of(1000, even, zeros, hardly, zeros, 0), 0);
    static const double same[FLOORS] = {0, -2, -2, -2, -2, -9, -9}, twice[FLOORS] = {0, 0, 0, 5, 5, 0, 0};
    static const double worse[FLOORS] = {0, 0, 0, 0, 9, 0, 0};
    assert_int_equal(floor_of(1000, same, zeros, twice, zeros, 0), 3); /* the first of equal ones */
    assert_int_equal(floor_of(1000, same, zeros, twice, worse, 0), 3);
}

static void test_rulefloor__guards(void **state)
{
    (void)state;
    assert_close(sk_needed_gain(1, 100), 4.6051701859880914, 1e-15, 1);
    assert_true(sk_needed_gain(6.9, 100) == 6.9 && sk_needed_gain(0, 1) == 0);
    assert_true(sk_needed_gain(7, 100) == 7 && sk_needed_gain(7.1, 100) == 7 && sk_needed_gain(7.1, 2000) > 7.6);
    assert_true(isinf(sk_needed_gain((double)INFINITY, 100)));
    assert_true(sk_worse_than_constant(-102.01, -100));
    assert_false(sk_worse_than_constant(-102, -100));
    assert_int_equal(sk_models_tried(true, 5, 7), 3);
    assert_int_equal(sk_models_tried(false, 5, 7), 35);
    assert_true(sk_worth_sharpening(100) && sk_worth_sharpening(-5));
    assert_false(sk_worth_sharpening(100.01));
}

/* n d^3 up to a million, in up to 20 dimensions. */
static void test_rulefloor__moments_are_asked_while_cheap(void **state)
{
    (void)state;
    assert_true(sk_moments_affordable(1000000, 1) && sk_moments_affordable(1000, 10) && sk_moments_affordable(125, 20));
    assert_false(sk_moments_affordable(1000001, 1) || sk_moments_affordable(1001, 10) ||
                 sk_moments_affordable(126, 20) || sk_moments_affordable(1, 21));
}

static void test_rulefloor__identical_is_to_rounding(void **state)
{
    (void)state;
    assert_true(sk_same_score(0, 1e-5) && sk_same_score(0, -0.9e-5) && sk_same_score(-999, -999.0099));
    assert_false(sk_same_score(0, 1.1e-5) || sk_same_score(0, -1.1e-5) || sk_same_score(-999, -999.0101));
    assert_true(sk_is_rounding(0.9e-14, 1) && sk_is_rounding(3.9e-14, 4) && sk_is_rounding(0, 0));
    assert_false(sk_is_rounding(1.1e-14, 1) || sk_is_rounding(4.1e-14, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rulefloor__polish_jitter_and_penalty),
        cmocka_unit_test(test_rulefloor__floor_is_the_largest_that_is_not_worse),
        cmocka_unit_test(test_rulefloor__floor_at_a_bound_must_earn_its_error),
        cmocka_unit_test(test_rulefloor__bounds_show_in_the_data),
        cmocka_unit_test(test_rulefloor__kernels_of_bounds_are_affordable),
        cmocka_unit_test(test_rulefloor__floor_where_rows_are_few),
        cmocka_unit_test(test_rulefloor__floor_that_eulers_likelihood_asks_for),
        cmocka_unit_test(test_rulefloor__guards),
        cmocka_unit_test(test_rulefloor__moments_are_asked_while_cheap),
        cmocka_unit_test(test_rulefloor__identical_is_to_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
