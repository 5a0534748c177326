/* test_explainrules.c - every rule of what an equation means at both sides of its threshold; the numbers are written
 * out. */
#include "explain/explainrules.h"

#include "test.h"

#include <math.h>

/* ---- Draws ---- */

/* Two hundred: a standard error is then known to a twentieth; a tenth of them where Newton's method takes the time. */
static void test_explainrules__draws_tell_errors(void **state)
{
    (void)state;
    assert_close(1 / sqrt(2.0 * (double)sk_explain_draws(1)), 0.05, 1e-12, 0);
    assert_int_equal(sk_explain_draws(2), sk_explain_draws(1));
    assert_int_equal(sk_explain_draws(3), 20);
}

static void test_explainrules__half_of_the_draws_make_an_error(void **state)
{
    (void)state;
    assert_true(sk_explain_has_error(100, 200) && !sk_explain_has_error(99, 200));
    assert_true(sk_explain_wells_are_sure(0.5) && !sk_explain_wells_are_sure(0.49));
}

/* Nine of ten lie in an interval; one that goes to a million times the value has no end. */
static void test_explainrules__intervals(void **state)
{
    (void)state;
    assert_close(sk_explain_outside(), 0.05, 1e-15, 0);
    assert_true(sk_explain_is_endless(3.01e6, 3) && !sk_explain_is_endless(2.99e6, 3));
}

/* ---- A line ---- */

/* Two hundred of them, more where the log density changes by more than a half in one, four thousand at most. */
static void test_explainrules__panels_are_narrow_where_the_density_is_steep(void **state)
{
    (void)state;
    assert_int_equal(sk_explain_panels(0), 200);
    assert_int_equal(sk_explain_panels(100), 200);
    assert_int_equal(sk_explain_panels(101), 202);
    assert_int_equal(sk_explain_panels(1999), 3998);
    assert_int_equal(sk_explain_panels(1e9), 4000);
}

static void test_explainrules__a_diffusion_that_vanishes(void **state)
{
    (void)state;
    assert_true(sk_explain_vanishes(0, 3) && sk_explain_vanishes(2.9e-6, 3) && !sk_explain_vanishes(3.1e-6, 3));
    assert_true(sk_explain_divides(1.9e-4, 2, 50) && sk_explain_divides(1.9e-4, 50, 2));
    assert_false(sk_explain_divides(2.1e-4, 2, 50) || sk_explain_divides(2.1e-4, 50, 2));
    assert_true(sk_explain_divides((double)NAN, 1, 1));
}

static void test_explainrules__wells_are_told_apart_by_a_tenth_of_a_power(void **state)
{
    (void)state;
    assert_true(sk_explain_is_dip(0.101) && sk_explain_is_dip(-0.101) && !sk_explain_is_dip(0.099));
}

/* ---- Ends ---- */

static void test_explainrules__what_hangs_on_an_end_is_said(void **state)
{
    (void)state;
    assert_true(sk_explain_hangs(0.51) && !sk_explain_hangs(0.49));
    assert_true(sk_explain_hangs_on_edges(0.021) && !sk_explain_hangs_on_edges(0.019));
    assert_close(sk_explain_near_bound(40), 2, 1e-14, 0);
}

/* ---- A plane ---- */

static void test_explainrules__a_plane_that_cannot_be_told(void **state)
{
    (void)state;
    assert_true(sk_explain_is_singular(0.9e-9, 1) && !sk_explain_is_singular(1.1e-9, 1));
    assert_true(sk_explain_is_singular(1, (double)INFINITY));
    assert_true(sk_explain_is_empty(1.9e-10, 2) && !sk_explain_is_empty(2.1e-10, 2));
    assert_true(sk_explain_grid_bears(0.0009) && !sk_explain_grid_bears(0.0011) && !sk_explain_grid_bears((double)NAN));
}

/* ---- Fixed points ---- */

/* A hundred, as long as f is asked at four hundred thousand points: forty steps, each with 2 d + 1; ten at least. */
static void test_explainrules__starts_of_newtons_method(void **state)
{
    (void)state;
    assert_int_equal(sk_explain_starts(2), 100);
    assert_int_equal(sk_explain_starts(49), 100);
    assert_int_equal(sk_explain_starts(99), 50);
    assert_int_equal(sk_explain_starts(499), 10);
    assert_int_equal(sk_explain_starts(5000), 10);
}

static void test_explainrules__points_that_are_one_and_slopes_that_are_none(void **state)
{
    (void)state;
    assert_true(sk_explain_is_same(0.9e-5) && !sk_explain_is_same(1.1e-5));
    assert_true(sk_explain_is_marginal(2.9e-6, 3) && sk_explain_is_marginal(-2.9e-6, 3));
    assert_false(sk_explain_is_marginal(3.1e-6, 3) || sk_explain_is_marginal(-3.1e-6, 3));
}

/* A quarter of the width beyond the range; of sixty-four states at most. */
static void test_explainrules__how_far_out_the_nearest_is_sought(void **state)
{
    (void)state;
    assert_true(sk_explain_beyond(8) == 2);
    assert_true(sk_explain_tells_states(64) && !sk_explain_tells_states(65));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explainrules__draws_tell_errors),
        cmocka_unit_test(test_explainrules__half_of_the_draws_make_an_error),
        cmocka_unit_test(test_explainrules__intervals),
        cmocka_unit_test(test_explainrules__panels_are_narrow_where_the_density_is_steep),
        cmocka_unit_test(test_explainrules__a_diffusion_that_vanishes),
        cmocka_unit_test(test_explainrules__wells_are_told_apart_by_a_tenth_of_a_power),
        cmocka_unit_test(test_explainrules__what_hangs_on_an_end_is_said),
        cmocka_unit_test(test_explainrules__a_plane_that_cannot_be_told),
        cmocka_unit_test(test_explainrules__starts_of_newtons_method),
        cmocka_unit_test(test_explainrules__points_that_are_one_and_slopes_that_are_none),
        cmocka_unit_test(test_explainrules__how_far_out_the_nearest_is_sought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
