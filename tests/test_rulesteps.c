/* test_rulesteps.c - rules at both sides of their thresholds that steps of a fit ask: bounds, guards, sweeps, substeps,
 * order; see test_rules.c. */
#include "api/orderstat.h"
#include "drift/driftsums.h"
#include "model/flow.h"
#include "score/score.h"
#include "test.h"
#include "tune/rules.h"

#include <math.h>

/* ---- Folds ---- */

/* Three that differ, or steps that cannot be cut; else two pieces for each fold, with a step between that is left out
 * where pieces have four steps. */
static void test_rulesteps__trajectories_are_held_out_whole(void **state)
{
    (void)state;
    assert_true(sk_folds_are_trajectories(3, 900) && !sk_folds_are_trajectories(2, 900) &&
                !sk_folds_are_trajectories(2, 2));
    assert_true(sk_folds_are_trajectories(2, 1) && sk_pieces_of(6) == 12);
    assert_true(sk_fold_has_gaps(48, 12) && !sk_fold_has_gaps(47, 12));
}

/* Scores of 45 000 clusters are kept, each with its own as long as they are not more. */
static void test_rulesteps__many_clusters_are_judged_together(void **state)
{
    (void)state;
    assert_true(sk_clusters_are_few(45000) && !sk_clusters_are_few(45001));
    assert_true(sk_clusters_each(7) == 6428 && sk_clusters_each(99999) == 1);
}

/* ---- Bounds ---- */

/* a at a bound is a tenth of the usual, or a fiftieth where nothing makes it vanish. */
static void test_rulesteps__noise_vanishes_at_a_bound(void **state)
{
    (void)state;
    assert_true(sk_bound_stands(0.29, 3) && !sk_bound_stands(0.31, 3));
    assert_true(sk_bound_is_gone(0.059, 3) && !sk_bound_is_gone(0.061, 3) && !sk_bound_is_gone(0, 0));
    assert_true(sk_bound_has_close(10) && !sk_bound_has_close(9));
}

/* ---- Guards ---- */

/* Some of the steps are enough where they gain twice what is needed. */
static void test_rulesteps__some_steps_say_so_beyond_doubt(void **state)
{
    (void)state;
    assert_true(sk_needed_of_some(7, 3) == 14);
    assert_close(sk_needed_of_some(0, 10), 2 * log(10), 1e-15, 1);
}

static void test_rulesteps__a_clear_gain_is_not_asked_about_again(void **state)
{
    (void)state;
    assert_true(sk_slope_is_clear(30.1) && !sk_slope_is_clear(30));
    assert_true(sk_richer_is_told(1.01) && !sk_richer_is_told(1) && !sk_richer_is_told((double)NAN));
}

/* By tenths. */
static void test_rulesteps__parts_give_way_to_the_floor(void **state)
{
    (void)state;
    assert_true(sk_shrink_keeps(0.5, 0) == 1);
    assert_close(sk_shrink_keeps(0.5, 1), 0.95, 1e-15, 1);
    assert_close(sk_shrink_keeps(0.5, 10), 0.5, 1e-15, 1);
}

/* ---- Fits with noise ---- */

/* A step may lose a nat; in a sweep twenty, or a hundredth for each step. */
static void test_rulesteps__a_sweep_may_lose(void **state)
{
    (void)state;
    assert_true(sk_loss_allowed(false, 100000) == 1 && sk_loss_allowed(true, 1999) == 20);
    assert_close(sk_loss_allowed(true, 3000), 30, 1e-12, 1);
}

static void test_rulesteps__a_twentieth_of_a_nat_is_nothing(void **state)
{
    (void)state;
    assert_true(sk_has_settled(0.049) && sk_has_settled(-0.049) && !sk_has_settled(0.051) && !sk_has_settled(-0.051));
}

/* Twenty-five Gaussian features; of a full a the order of Q is at most sixty. */
static void test_rulesteps__features_of_a_sweep(void **state)
{
    (void)state;
    assert_true(sk_sweep_rank(true, 9) == 25 && sk_sweep_rank(false, 2) == 25 && sk_sweep_rank(false, 3) == 20);
}

/* ---- Substeps ---- */

/* Half a standard error, from four on a quarter; never finer than 0.005 nor coarser than 0.05. */
static void test_rulesteps__laws_that_differ_by_less_than_data_can_show(void **state)
{
    (void)state;
    assert_close(sk_substeps_mean_allowed(400, 1), 0.025, 1e-12, 1);
    assert_close(sk_substeps_mean_allowed(400, 2), 0.025, 1e-12, 1);
    assert_close(sk_substeps_mean_allowed(400, 4), 0.0125, 1e-12, 1);
    assert_close(sk_substeps_cov_allowed(800, 1), 0.025, 1e-12, 1);
    assert_close(sk_substeps_cov_allowed(800, 8), 0.0125, 1e-12, 1);
    assert_true(sk_substeps_mean_allowed(10, 1) == 0.05 && sk_substeps_mean_allowed(1000000, 1) == 0.005);
}

/* One step in ten may be farther off; sixteen is the most. */
static void test_rulesteps__substeps_are_doubled(void **state)
{
    (void)state;
    assert_true(sk_substeps_too_few(51, 500) && !sk_substeps_too_few(50, 500));
    assert_true(sk_substeps_may_double(8) && !sk_substeps_may_double(16));
}

/* ---- Drifts ---- */

/* Two nats of evidence, and half a nat more for each power of e of more than a thousand steps. */
static void test_rulesteps__what_an_idle_term_costs(void **state)
{
    (void)state;
    assert_true(sk_idle_price(20) == 2 && sk_idle_price(1000) == 2);
    assert_close(sk_idle_price(100000), 2 + 0.5 * log(100), 1e-14, 1);
}

/* ---- Second order ---- */

/* Polynomials of degree 4 in two states, 3 in five, 2 in fifteen; five rows for each function, thirty pairs. */
static void test_rulesteps__how_states_go_on_is_sought_by_polynomials(void **state)
{
    static const size_t d[] = {1, 2, 3, 5, 6, 15, 16, 40}, degree[] = {4, 4, 3, 3, 2, 2, 1, 1};
    (void)state;
    for (size_t i = 0; i < sizeof d / sizeof *d; i++) assert_int_equal(sk_order_degree(d[i]), degree[i]);
    assert_true(sk_order_has_rows(120, 24) && !sk_order_has_rows(119, 24));
    assert_true(sk_order_has_pairs(30) && !sk_order_has_pairs(29));
}

/* Smooth beyond a correlation of a tenth, and more than half of the variance is left. */
static void test_rulesteps__a_position_goes_on_smoothly(void **state)
{
    (void)state;
    assert_true(sk_looks_second(&(sk_order_statistic){0.11, 0.51}));
    assert_false(sk_looks_second(&(sk_order_statistic){0.09, 0.9}) ||
                 sk_looks_second(&(sk_order_statistic){0.9, 0.49}));
}

/* Three points, or a tenth of all. */
static void test_rulesteps__first_points_say_how_fast_a_path_was(void **state)
{
    (void)state;
    assert_true(sk_second_head(5) == 3 && sk_second_head(39) == 3 && sk_second_head(40) == 4 &&
                sk_second_head(99) == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rulesteps__trajectories_are_held_out_whole),
        cmocka_unit_test(test_rulesteps__many_clusters_are_judged_together),
        cmocka_unit_test(test_rulesteps__noise_vanishes_at_a_bound),
        cmocka_unit_test(test_rulesteps__some_steps_say_so_beyond_doubt),
        cmocka_unit_test(test_rulesteps__a_clear_gain_is_not_asked_about_again),
        cmocka_unit_test(test_rulesteps__parts_give_way_to_the_floor),
        cmocka_unit_test(test_rulesteps__a_sweep_may_lose),
        cmocka_unit_test(test_rulesteps__a_twentieth_of_a_nat_is_nothing),
        cmocka_unit_test(test_rulesteps__features_of_a_sweep),
        cmocka_unit_test(test_rulesteps__laws_that_differ_by_less_than_data_can_show),
        cmocka_unit_test(test_rulesteps__substeps_are_doubled),
        cmocka_unit_test(test_rulesteps__what_an_idle_term_costs),
        cmocka_unit_test(test_rulesteps__how_states_go_on_is_sought_by_polynomials),
        cmocka_unit_test(test_rulesteps__a_position_goes_on_smoothly),
        cmocka_unit_test(test_rulesteps__first_points_say_how_fast_a_path_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
