/* test_checkrules.c - every rule of the check of a model at both sides of its threshold: what is looked at, how much of
 * it, and when it says something. The numbers are written out. */
#include "check/checkrules.h"

#include "base/base.h"
#include "check/check.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* ---- What matters ---- */

/* However certain: an effect below its least is a remark, from there on an objection. */
static void test_checkrules__a_small_effect_is_a_remark(void **state)
{
    static const struct {
        const char *name;
        double below, above;
    } cases[] = {{"scale", 0.049, 0.05},        {"distribution", 0.019, 0.02}, {"drift", 0.0049, 0.005},
                 {"diffusion", 0.0049, 0.005},  {"memory", -0.029, -0.03},     {"cycles", 0.0049, 0.005},
                 {"volatility", 0.0049, 0.005}, {"time", 0.0049, 0.005},       {"horizon", -0.049, -0.05}};
    sock_check_test test[SK_CHECK_TESTS];
    sk_check_facts facts;
    (void)state;
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        for (int above = 0; above < 2; above++) {
            sk_check_begin(test, &facts);
            assert_string_equal(test[i].name, cases[i].name);
            test[i].valid = 1;
            test[i].p = 1e-9;
            test[i].effect = above ? cases[i].above : cases[i].below;
            sk_check_decide(0.01, test);
            assert_true(test[i].objects == above && test[i].remark == !above);
        }
}

/* ---- How much is looked at ---- */

static void test_checkrules__fits_of_second_order_are_checked_whole(void **state)
{
    (void)state;
    assert_true(sk_check_second_at_once(2));
    assert_false(sk_check_second_at_once(1));
}

/* Of many pieces chi-square, of few less: P(F(2, 20) > 5) is 0.0173. */
static void test_checkrules__few_subjects_have_heavier_tails(void **state)
{
    (void)state;
    assert_close(sk_check_subjects_surprise(10, 5), 20 * log(1.5), 1e-12, 1);
    assert_close(exp(-sk_check_subjects_surprise(10, 5) / 2), 0.0173, 0.01, 0);
    assert_close(sk_check_subjects_surprise(10, 1000000), 10, 1e-5, 0);
}

/* Ten whole paths in up to ten states, none beyond, and all where half of these leave; a hundred of a whole check. */
static void test_checkrules__whole_paths(void **state)
{
    (void)state;
    assert_true(sk_check_quick_exits(10, false) == 10 && sk_check_quick_exits(11, false) == 0);
    assert_true(sk_check_quick_exits(1, true) == 100 && sk_check_quick_exits(40, true) == 100);
    assert_true(sk_check_asks_all_paths((double[]){0.51, 0}) && sk_check_asks_all_paths((double[]){0, 0.01}));
    assert_false(sk_check_asks_all_paths((double[]){0.5, 0}));
    assert_true(sk_exit_times(1000) == 1000 && sk_exit_times(1001) == 1001 && sk_exit_times(1002) == 1001);
    assert_true(sk_exit_wider(4) == 2 && sk_exit_off(4) == 400);
}

/* A step has four inner steps and its part of a run of four steps twelve; Heun's rule asks twice. */
static void test_checkrules__what_an_end_costs(void **state)
{
    (void)state;
    assert_true(sk_check_cost(4, 12, false, false) == 1 && sk_check_cost(4, 12, true, false) == 2);
    assert_true(sk_check_cost(4, 12, false, true) == 5 && sk_check_cost(8, 24, true, true) == 20);
    assert_true(sk_check_cost(4, 40, false, false) == 2 && sk_check_cost(11, 12, false, false) == 2);
}

/* Eight inner steps for h |J| = 1, from those of a short step to 64; by Heun's rule from h |J| = 0.1 on. */
static void test_checkrules__long_steps_are_followed_finely(void **state)
{
    (void)state;
    assert_true(sk_check_path_of(0.01, 4).inner == 4 && sk_check_path_of(1, 4).inner == 8);
    assert_true(sk_check_path_of(7.9, 4).inner == 64 && sk_check_path_of(80, 4).inner == 64);
    assert_true(sk_check_path_of((double)NAN, 4).inner == 4 && sk_check_path_of(1, 12).inner == 12);
    assert_true(sk_check_path_of(0.101, 4).heun && !sk_check_path_of(0.099, 4).heun);
}

/* Eight pieces at least, where not all are taken. */
static void test_checkrules__pieces_of_many_steps(void **state)
{
    (void)state;
    assert_true(sk_check_longest_piece(800, 800) == 800 && sk_check_longest_piece(801, 800) == 100);
    assert_int_equal(sk_check_longest_piece(90, 4), 1);
}

/* ---- What says something ---- */

static void test_checkrules__few_scores_say_nothing(void **state)
{
    (void)state;
    assert_true(sk_check_is_tested(15, 30) && !sk_check_is_tested(14, 20) && !sk_check_is_tested(15, 31));
    assert_true(sk_check_has_runs(30) && !sk_check_has_runs(29));
    assert_true(sk_check_has_subjects(5, 5) && !sk_check_has_subjects(4, 9) && !sk_check_has_subjects(9, 4));
}

static void test_checkrules__wild_steps(void **state)
{
    (void)state;
    assert_true(sk_check_is_wild(5.1) && sk_check_is_wild(-5.1) && !sk_check_is_wild(4.9));
}

/* Twice what the floor has put there. */
static void test_checkrules__a_variance_was_found(void **state)
{
    (void)state;
    assert_true(sk_check_is_found(2.01, 1) && !sk_check_is_found(1.99, 1));
}

/* A column of which a tenth is left. */
static void test_checkrules__columns_that_were_fitted(void **state)
{
    (void)state;
    assert_true(sk_check_is_gone(0.09 * 0.09) && !sk_check_is_gone(0.11 * 0.11) && sk_check_is_gone((double)NAN));
}

/* ---- What it is compared with ---- */

/* Five cosines in one state, four in several, forty in all. */
static void test_checkrules__waves_are_shared_among_the_states(void **state)
{
    (void)state;
    assert_true(sk_check_waves_of_state(1) == 5 && sk_check_waves_of_state(2) == 4 && sk_check_waves_of_state(10) == 4);
    assert_true(sk_check_waves_of_state(11) == 3 && sk_check_waves_of_state(20) == 2);
    assert_true(sk_check_waves_of_state(40) == 1 && sk_check_waves_of_state(90) == 1);
    assert_true(sk_check_states_with_waves(39) == 39 && sk_check_states_with_waves(41) == 40);
}

/* Tenths. */
static void test_checkrules__bins_of_a_states_values(void **state)
{
    (void)state;
    assert_true(sk_check_bin(0.099) == 0 && sk_check_bin(0.101) == 1 && sk_check_bin(0.999) == 9 &&
                sk_check_bin(1) == 9);
}

/* As many as the fit has degrees of freedom, forty at most; twelve where these are not known. */
static void test_checkrules__directions_of_many_features(void **state)
{
    (void)state;
    assert_true(sk_check_directions(0) == 1 && sk_check_directions(7.1) == 8 && sk_check_directions(60) == 40);
    assert_true(sk_check_directions(39.5) == 40 && sk_check_directions((double)NAN) == 12);
    assert_true(sk_check_directions_of(12, 3) == 12 && sk_check_directions_of(13, 3) == 3);
}

/* ---- Cycles ---- */

/* A quarter of a piece, forty at most; a spectrum of fifteen steps at least and 4096 at most. */
static void test_checkrules__lags_and_lines(void **state)
{
    (void)state;
    assert_true(sk_cycle_lags(40) == 10 && sk_cycle_lags(160) == 40 && sk_cycle_lags(9000) == 40);
    assert_true(sk_cycle_spectrum(14) == 0 && sk_cycle_spectrum(15) == 15);
    assert_true(sk_cycle_spectrum(4096) == 4096 && sk_cycle_spectrum(4097) == 4096);
}

static void test_checkrules__no_more_than_nineteen_twentieths_are_taken_out(void **state)
{
    (void)state;
    assert_true(sk_cycle_whitened(0.94) == 0.94 && sk_cycle_whitened(0.99) == 0.95 && sk_cycle_whitened(-1) == -0.95);
}

/* Three periods; parts down to a sixth; a tenth of the peak, as high as chance makes one in a thousand. */
static void test_checkrules__a_peak_and_its_overtones(void **state)
{
    (void)state;
    assert_true(sk_cycle_is_seen(3) && !sk_cycle_is_seen(2.9));
    assert_true(sk_cycle_may_be_part(6, 18) && !sk_cycle_may_be_part(7, 100) && !sk_cycle_may_be_part(6, 17));
    assert_true(sk_cycle_is_ground(11, 100, 9e-4));
    assert_false(sk_cycle_is_ground(9, 100, 1e-9) || sk_cycle_is_ground(50, 100, 1.1e-3));
}

/* Three steps in each of three periods show it, six its overtone, too; within a fiftieth of its length
 * a cycle has its name. */
static void test_checkrules__seasons_of_the_calendar(void **state)
{
    sk_calendar_season season[SK_CALENDAR_PERIODS];
    (void)state;
    assert_int_equal(sk_calendar_seasons("hour", 3.9, 72.1, season), 1);
    assert_int_equal(season[0].waves, 2);
    assert_int_equal(sk_calendar_seasons("hour", 7.9, 72.1, season), 1);
    assert_int_equal(season[0].waves, 1);
    assert_int_equal(sk_calendar_seasons("hour", 8.1, 72.1, season), 0);
    assert_int_equal(sk_calendar_seasons("hour", 3.9, 71.9, season), 0);
    assert_non_null(sk_calendar_name("hour", 24.4));
    assert_null(sk_calendar_name("hour", 24.6));
}

/* ---- Binned moments ---- */

/* Twenty-four of equal width; a hundred and twentieth of the steps in each, and ten at least; a thirty-sixth in a box.
 */
static void test_checkrules__bins_and_boxes(void **state)
{
    (void)state;
    assert_true(sk_binned_bin(-1) == 0 && sk_binned_bin(0.99 / 24) == 0 && sk_binned_bin(1.01 / 24) == 1);
    assert_true(sk_binned_bin(0.999) == 23 && sk_binned_bin(1) == 23);
    assert_true(sk_binned_least(1200) == 10 && sk_binned_least(1320) == 11 && sk_binned_least(30) == 10);
    assert_true(sk_binned_box_least(360) == 10 && sk_binned_box_least(396) == 11 && sk_binned_box_least(30) == 10);
    assert_true(sk_binned_planes(4) == 4 && sk_binned_planes(5) == 4 && sk_binned_planes(2) == 2);
}

/* Ten single intervals, sixty longer ones; up to slope times step of three, twice as long. */
static void test_checkrules__longer_steps_are_binned_while_they_know_their_starts(void **state)
{
    (void)state;
    assert_true(sk_binned_shows_plane(40) && !sk_binned_shows_plane(39));
    assert_true(sk_binned_has_steps(10, false) && !sk_binned_has_steps(9, false));
    assert_true(sk_binned_has_steps(60, true) && !sk_binned_has_steps(59, true));
    assert_true(sk_binned_forgets(1.51) && !sk_binned_forgets(1.5));
    assert_true(sk_binned_turn(-9) == -3 && sk_binned_turn(9) == 3 && sk_binned_turn(2.9) == 2.9);
    assert_true(sk_binned_kept(-0.97) == 0.97 && sk_binned_kept(0.99) == 0.98);
}

/* Of normal steps, simulated: outlines of two means hold nine of ten whatever the number of steps, and bars of a
 * variance miss as often as is told. With the law of many steps (4.6) 19 % of outlines of ten steps would miss. */
static void prop_reach_and_chance__are_those_of_normal_steps(void **state)
{
    (void)state;
    enum { MOST = 40, TIMES = 20000 };
    static const size_t steps[] = {10, 14, 20, 40};
    const sk_key key = {83, SK_PURPOSE_TEST};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        const size_t n = steps[s];
        const double reach = sk_binned_reach(n), m = (double)n;
        size_t off_f = 0, off_a = 0;
        for (size_t t = 0; t < TIMES; t++) {
            double z[2 * MOST], x[MOST][2], mean[2] = {0}, c[3] = {0}, fourth = 0;
            sk_normals(key, s, t, 0, 2 * n, z);
            for (size_t i = 0; i < n; i++) {
                x[i][0] = z[2 * i], x[i][1] = 0.8 * z[2 * i] + 0.3 * z[2 * i + 1];
                mean[0] += x[i][0] / m, mean[1] += x[i][1] / m;
            }
            for (size_t i = 0; i < n; i++) {
                const double u = x[i][0] - mean[0], v = x[i][1] - mean[1];
                c[0] += u * u / (m - 1), c[1] += u * v / (m - 1), c[2] += v * v / (m - 1);
                fourth += pow(x[i][0], 4) / m;
            }
            double second = 0;
            for (size_t i = 0; i < n; i++) second += x[i][0] * x[i][0] / m;
            const double square = m *
                                  (c[2] * mean[0] * mean[0] - 2 * c[1] * mean[0] * mean[1] + c[0] * mean[1] * mean[1]) /
                                  (c[0] * c[2] - c[1] * c[1]);
            const double se = sqrt(fmax(2, (fourth - second * second) * m / (m - 1)) / m);
            off_f += square > reach;
            off_a += fabs(c[0] - 1) > 1.6448536 * se;
        }
        const double f = (double)off_f / TIMES, a = (double)off_a / TIMES;
        assert_close(f, 0.1, 4 * sqrt(0.09 / TIMES), 1);
        assert_close(a, sk_binned_chance(n), 4 * sqrt(a / TIMES) + 0.001, 1); /* and three digits of its table */
    }
    assert_close(sk_binned_reach(33), 32 * (pow(10, 2.0 / 31) - 1), 1e-12, 0);
    assert_close(sk_binned_reach(1000000), -2 * log(0.1), 1e-5, 0);
    assert_true(isinf(sk_binned_reach(2)));
    assert_true(sk_binned_chance(5) == 0.038 && sk_binned_chance(1000000) == 0.091);
    assert_close(sk_binned_chance(200), (0.069 + 0.082) / 2, 1e-12, 0); /* half of the way on a logarithmic scale */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkrules__a_small_effect_is_a_remark),
        cmocka_unit_test(test_checkrules__fits_of_second_order_are_checked_whole),
        cmocka_unit_test(test_checkrules__few_subjects_have_heavier_tails),
        cmocka_unit_test(test_checkrules__whole_paths),
        cmocka_unit_test(test_checkrules__what_an_end_costs),
        cmocka_unit_test(test_checkrules__long_steps_are_followed_finely),
        cmocka_unit_test(test_checkrules__pieces_of_many_steps),
        cmocka_unit_test(test_checkrules__few_scores_say_nothing),
        cmocka_unit_test(test_checkrules__wild_steps),
        cmocka_unit_test(test_checkrules__a_variance_was_found),
        cmocka_unit_test(test_checkrules__columns_that_were_fitted),
        cmocka_unit_test(test_checkrules__waves_are_shared_among_the_states),
        cmocka_unit_test(test_checkrules__bins_of_a_states_values),
        cmocka_unit_test(test_checkrules__directions_of_many_features),
        cmocka_unit_test(test_checkrules__lags_and_lines),
        cmocka_unit_test(test_checkrules__no_more_than_nineteen_twentieths_are_taken_out),
        cmocka_unit_test(test_checkrules__a_peak_and_its_overtones),
        cmocka_unit_test(test_checkrules__seasons_of_the_calendar),
        cmocka_unit_test(test_checkrules__bins_and_boxes),
        cmocka_unit_test(prop_reach_and_chance__are_those_of_normal_steps),
        cmocka_unit_test(test_checkrules__longer_steps_are_binned_while_they_know_their_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
