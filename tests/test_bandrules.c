/* test_bandrules.c - every rule of bands at both sides of its threshold; the numbers are written out. */
#include "model/bandrules.h"

#include "test.h"

#include <math.h>

/* Five thousand steps, a million passes over the weights that move, 3e7 numbers kept; five hundred steps at least. */
static void test_bandrules__steps_that_are_followed(void **state)
{
    (void)state;
    assert_true(sk_band_measured_steps(1, 10) == 5000 && sk_band_measured_steps(1, 200) == 5000);
    assert_int_equal(sk_band_measured_steps(1, 250), 4000);
    assert_int_equal(sk_band_measured_steps(10, 100), 2727); /* 110 numbers of a law */
    assert_true(sk_band_measured_steps(1, 1999) == 500 && sk_band_measured_steps(1, 1e6) == 500);
    assert_int_equal(sk_band_measured_steps(1, 1950), 512);
}

/* Sixty columns, 3e5 substeps of passes for all of them. */
static void test_bandrules__other_drifts(void **state)
{
    (void)state;
    assert_true(sk_band_has_room(60, 0) && !sk_band_has_room(61, 0) && sk_band_has_room(10, 50));
    assert_false(sk_band_has_room(11, 50));
    assert_true(sk_band_other_steps(1) == 5000 && sk_band_other_steps(8) == 625 && sk_band_other_steps(16) == 500);
}

/* A hundredth of a direction is always known. */
static void test_bandrules__what_is_left_of_a_direction(void **state)
{
    (void)state;
    assert_true(sk_band_known(-1) == 0.01 && sk_band_known(0.009) == 0.01 && sk_band_known(0.011) == 0.011);
}

/* Four times its a is the most that a step may be off. */
static void test_bandrules__steps_that_run_away_are_calmed(void **state)
{
    (void)state;
    assert_true(sk_band_calm(3.9) == 1 && sk_band_calm(4.1) == 4 / 4.1 && sk_band_calm(400) == 0.01);
}

/* A fortieth of the values on each side; a tenth of the range beyond it. */
static void test_bandrules__the_middle_and_the_outside_of_the_data(void **state)
{
    (void)state;
    assert_true(sk_band_tail(39) == 0 && sk_band_tail(40) == 1 && sk_band_tail(1000) == 25);
    assert_true(sk_band_is_outside(0, 10, 11.1) && sk_band_is_outside(0, 10, -1.1));
    assert_false(sk_band_is_outside(0, 10, 10.9) || sk_band_is_outside(0, 10, -0.9));
}

/* A part with less than a thousandth of a counts as if it had that. */
static void test_bandrules__a_part_without_a(void **state)
{
    (void)state;
    assert_true(sk_band_own_a(0, 2) == 2e-3 && sk_band_own_a(1.9e-3, 2) == 2e-3 && sk_band_own_a(2.1e-3, 2) == 2.1e-3);
}

/* Of four hundred and of two hundred draws. */
static void test_bandrules__quantiles_of_draws(void **state)
{
    (void)state;
    assert_true(sk_band_sup_place(0.9) == 359 && sk_band_sup_place(0.5) == 199);
    assert_true(sk_band_sup_place(0) == 0 && sk_band_sup_place(1) == 399);
    assert_true(sk_band_sigma_tail(0.75) == 25 && sk_band_sigma_tail(0.5) == 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandrules__steps_that_are_followed),
        cmocka_unit_test(test_bandrules__other_drifts),
        cmocka_unit_test(test_bandrules__what_is_left_of_a_direction),
        cmocka_unit_test(test_bandrules__steps_that_run_away_are_calmed),
        cmocka_unit_test(test_bandrules__the_middle_and_the_outside_of_the_data),
        cmocka_unit_test(test_bandrules__a_part_without_a),
        cmocka_unit_test(test_bandrules__quantiles_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
