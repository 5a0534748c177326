/* test_datarules.c - every rule by which data are looked at before a fit, at both sides of its threshold; the numbers
 * are written out. */
#include "data/datarules.h"
#include "data/wild.h"

#include "test.h"

#include <math.h>

/* ---- Wild steps: what a step is compared with ---- */

static void test_datarules__sixty_steps_tell_of_the_rest(void **state)
{
    (void)state;
    assert_true(sk_wild_has_steps(60) && !sk_wild_has_steps(59));
}

/* Among ten thousand steps, or a hundred thousand numbers, never fewer than a thousand; a hundred neighbours, a quarter
 * of all at most. */
static void test_datarules__neighbours(void **state)
{
    (void)state;
    assert_true(sk_wild_sample(1) == 10000 && sk_wild_sample(10) == 10000 && sk_wild_sample(20) == 5000);
    assert_true(sk_wild_sample(99) == 1010 && sk_wild_sample(101) == 1000 && sk_wild_sample(5000) == 1000);
    assert_true(sk_wild_neighbours(400) == 100 && sk_wild_neighbours(399) == 99 && sk_wild_neighbours(10000) == 100);
}

static void assert_around(size_t s, size_t begin, size_t end, size_t from, size_t to)
{
    size_t found[2];
    sk_wild_around(s, begin, end, &found[0], &found[1]);
    assert_true(found[0] == from && found[1] == to);
}

/* Sixteen to each side, thirty-three with itself; in a shorter trajectory all. */
static void test_datarules__steps_around_one(void **state)
{
    (void)state;
    assert_around(50, 0, 100, 34, 67);
    assert_around(3, 0, 100, 0, 33);
    assert_around(99, 0, 100, 67, 100);
    assert_around(60, 58, 100, 58, 91);
    assert_around(20, 10, 30, 10, 30);
}

static void test_datarules__who_is_alone_is_compared_by_its_state(void **state)
{
    (void)state;
    assert_true(sk_wild_is_alone(8) && !sk_wild_is_alone(9));
}

/* Up to three deviations a step belongs to the rest, beyond five it is looked at; the largest part of all that is an
 * exception is three in a hundred, or four steps of few. */
static void test_datarules__far_steps_are_an_exception(void **state)
{
    (void)state;
    assert_true(sk_wild_is_body(3) && !sk_wild_is_body(3.01));
    assert_true(sk_wild_is_looked_at(5.01) && !sk_wild_is_looked_at(5));
    assert_true(sk_wild_is_exception(30, 1000) && !sk_wild_is_exception(31, 1000));
    assert_true(sk_wild_is_exception(4, 60) && !sk_wild_is_exception(5, 60));
    assert_true(sk_wild_is_exception(5, 167) && !sk_wild_is_exception(5, 166));
}

/* More than twenty times the median. */
static void test_datarules__a_gap_in_time(void **state)
{
    (void)state;
    assert_true(sk_is_gap(20.1, 1) && !sk_is_gap(20, 1) && sk_is_gap(2.1, 0.1) && !sk_is_gap(1.9, 0.1));
}

/* Three hours that begin, nine steps of ten alike. */
static void test_datarules__times_that_read_a_clock(void **state)
{
    (void)state;
    assert_true(sk_reads_clock(3, 90, 100) && !sk_reads_clock(2, 100, 100) && !sk_reads_clock(3, 89, 100));
}

/* Fifty spacings, or a two-hundredth of many; of few a fifth, but at least twelve. */
static void test_datarules__spacings_of_a_tail(void **state)
{
    (void)state;
    assert_true(sk_wild_tail(10) == 12 && sk_wild_tail(64) == 12 && sk_wild_tail(65) == 13 && sk_wild_tail(249) == 49);
    assert_true(sk_wild_tail(250) == 50 && sk_wild_tail(10000) == 50 && sk_wild_tail(20000) == 100);
}

/* Places of a power law of index 3: j ln(z_j / z_j+1) = 1/3 for each; of fifty spacings one and a half errors less. */
static void test_datarules__index_of_a_tail_is_taken_heavier(void **state)
{
    static double size[400];
    (void)state;
    size[0] = 1e6;
    for (size_t j = 1; j < 400; j++) size[j] = size[j - 1] * exp(-1 / (3.0 * (double)j));
    assert_close(sk_wild_tail_index(400, size, 0), 3 * (1 - 1.5 / sqrt(50)), 1e-12, 1);
    assert_close(sk_wild_tail_index(400, size, 20), 3 * (1 - 1.5 / sqrt(50)), 1e-12, 1);
    assert_close(sk_wild_tail_index(400, size, 375), 3 * (1 - 1.5 / sqrt(24)), 1e-12, 1);
}

/* Fifty spacings of index 3 below it: one step alone is wild from a ratio on that such a tail has once in ten thousand
 * data sets, 1e-4 = ratio^-index; two that are wild together from its root on. */
static void test_datarules__a_gap_is_wider_than_chance_makes_one(void **state)
{
    static double size[400];
    const double index = 3 * (1 - 1.5 / sqrt(50)), alone = pow(1e4, 1 / index);
    (void)state;
    for (int far = 1; far < 3; far++)
        for (int wide = 0; wide < 2; wide++) {
            const double ratio = pow(alone * (far > 1 ? pow(2, 1 / index) : 1), 1.0 / far) * (wide ? 1.01 : 0.99);
            size[far] = 1000;
            for (size_t j = (size_t)far + 1; j < 400; j++) size[j] = size[j - 1] * exp(-1 / (3.0 * (double)j));
            for (int a = 0; a < far; a++) size[a] = size[far] * ratio;
            assert_int_equal(sk_wild_gap(400, size, (size_t)far, NULL), wide ? far : 0);
        }
}

/* ---- Wild steps: what a state does by itself ---- */

static void test_datarules__places_within_a_quarter_of_a_step_are_one(void **state)
{
    (void)state;
    assert_true(sk_wild_is_near(7.99, 7, 4) && sk_wild_is_near(6.01, 7, -4));
    assert_false(sk_wild_is_near(8, 7, 4) || sk_wild_is_near(6, 7, -4));
}

/* More than one in a hundred live there, fewer than one in two hundred is out of the way; between two wells are fewer
 * than one for twenty in the emptier. */
static void test_datarules__places_that_are_lived_in(void **state)
{
    (void)state;
    assert_true(sk_wild_is_lived_in(11, 1000) && !sk_wild_is_lived_in(10, 1000));
    assert_true(sk_wild_is_lonely(4, 1000) && !sk_wild_is_lonely(5, 1000));
    assert_true(sk_wild_lies_between(0, 1) && sk_wild_lies_between(2, 41) && !sk_wild_lies_between(2, 40));
}

/* Two that are alike, where at most three times as many steps begin as far out; of more than a hundred the neighbours
 * tell. */
static void test_datarules__resets(void **state)
{
    (void)state;
    assert_true(sk_wild_are_resets(2, 6) && !sk_wild_are_resets(2, 7) && !sk_wild_are_resets(1, 1));
    assert_true(sk_wild_are_many(101) && !sk_wild_are_many(100));
}

static void test_datarules__what_belongs_together_in_time(void **state)
{
    (void)state;
    assert_true(sk_wild_in_stretch(20) && !sk_wild_in_stretch(21));
    assert_true(sk_wild_in_burst(5) && !sk_wild_in_burst(6));
    assert_true(sk_wild_in_excursion(9) && !sk_wild_in_excursion(10));
}

/* ---- Codes ---- */

/* Three times the same number, further from ten others than their range, and than five times that of their middle. */
static void test_datarules__a_code(void **state)
{
    (void)state;
    assert_true(sk_code_recurs(3) && !sk_code_recurs(2));
    assert_true(sk_code_others_vary(10) && !sk_code_others_vary(9));
    assert_true(sk_code_is_apart(10.1, 10, 2) && !sk_code_is_apart(9.9, 10, 1));
    assert_false(sk_code_is_apart(10.1, 10, 2.1));
}

/* ---- Courses ---- */

static void test_datarules__a_state_that_follows_others(void **state)
{
    (void)state;
    assert_true(sk_course_follows(1.9e-10, 2) && !sk_course_follows(2.1e-10, 2));
    assert_true(sk_course_has_steps(12, 4) && !sk_course_has_steps(11, 4));
}

/* A millionth of the mean square step, over thirty windows. */
static void test_datarules__a_smooth_state(void **state)
{
    (void)state;
    assert_true(sk_course_is_smooth(0.9e-6, 30));
    assert_false(sk_course_is_smooth(1.1e-6, 30) || sk_course_is_smooth(0, 29));
}

/* ---- Angles ---- */

static void test_datarules__steps_of_an_angle(void **state)
{
    (void)state;
    assert_true(sk_angle_is_seen(0.125) && !sk_angle_is_seen(0.126) && !sk_angle_is_seen((double)NAN));
    assert_true(sk_angle_jumps(0.751) && !sk_angle_jumps(0.75));
    assert_true(sk_angle_between(0.251) && sk_angle_between(0.75));
    assert_false(sk_angle_between(0.25) || sk_angle_between(0.751));
    assert_true(sk_angle_closes(0.85, 0.02) && !sk_angle_closes(0.83, 0.02) && !sk_angle_closes(0.7, 0.1));
}

/* Three jumps, of which nine in ten close, a tenth as many steps between, and a tenth of the points in the middle. */
static void test_datarules__an_angle(void **state)
{
    (void)state;
    assert_true(sk_angle_found(3, 0, 3, 100, 1000) && sk_angle_found(20, 2, 18, 100, 1000));
    assert_false(sk_angle_found(2, 0, 2, 100, 1000) || sk_angle_found(20, 3, 20, 100, 1000));
    assert_false(sk_angle_found(20, 0, 17, 100, 1000) || sk_angle_found(20, 0, 20, 99, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datarules__sixty_steps_tell_of_the_rest),
        cmocka_unit_test(test_datarules__neighbours),
        cmocka_unit_test(test_datarules__steps_around_one),
        cmocka_unit_test(test_datarules__who_is_alone_is_compared_by_its_state),
        cmocka_unit_test(test_datarules__far_steps_are_an_exception),
        cmocka_unit_test(test_datarules__a_gap_in_time),
        cmocka_unit_test(test_datarules__times_that_read_a_clock),
        cmocka_unit_test(test_datarules__spacings_of_a_tail),
        cmocka_unit_test(test_datarules__index_of_a_tail_is_taken_heavier),
        cmocka_unit_test(test_datarules__a_gap_is_wider_than_chance_makes_one),
        cmocka_unit_test(test_datarules__places_within_a_quarter_of_a_step_are_one),
        cmocka_unit_test(test_datarules__places_that_are_lived_in),
        cmocka_unit_test(test_datarules__resets),
        cmocka_unit_test(test_datarules__what_belongs_together_in_time),
        cmocka_unit_test(test_datarules__a_code),
        cmocka_unit_test(test_datarules__a_state_that_follows_others),
        cmocka_unit_test(test_datarules__a_smooth_state),
        cmocka_unit_test(test_datarules__steps_of_an_angle),
        cmocka_unit_test(test_datarules__an_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
