/* test_noiserules.c - every rule of the fit of measured data and long steps at both sides of its threshold. The numbers
 * are written out: a change of policy.h, of a comparison or of a sign in noiserules.c must fail here. */
#include "noise/noiserules.h"

#include "test.h"

#include <math.h>

/* ---- The iterations ---- */

/* All candidates are compared at once, after a pass, and twice more with two passes between. */
static void test_noiserules__sweeps_become_rarer(void **state)
{
    static const char expected[] = "++-+-+-------------";
    (void)state;
    for (size_t i = 1; i < sizeof expected; i++) assert_int_equal(sk_noise_sweeps(i), expected[i - 1] == '+');
    assert_false(sk_noise_sweeps(0));
}

/* In the first two passes bumps stay out, which would stay in once they were there; after them a hopeless fit shows. */
static void test_noiserules__polynomials_come_first(void **state)
{
    (void)state;
    assert_true(sk_noise_polynomials_alone(1) && sk_noise_polynomials_alone(2) && !sk_noise_polynomials_alone(3));
    assert_true(!sk_noise_shows_hope(1) && sk_noise_shows_hope(2) && !sk_noise_shows_hope(3));
}

/* Far fewer substeps may do from the second pass on, up to the last sweep. */
static void test_noiserules__substeps_are_counted_anew_while_the_model_changes(void **state)
{
    (void)state;
    assert_true(!sk_noise_counts_anew(1) && sk_noise_counts_anew(2) && sk_noise_counts_anew(6));
    assert_false(sk_noise_counts_anew(7));
}

/* An eighth or less of the substeps is no whim. */
static void test_noiserules__a_few_substeps_less_are_asked_about_again(void **state)
{
    (void)state;
    assert_true(sk_noise_hardly_fewer(8, 16) && sk_noise_hardly_fewer(4, 16));
    assert_false(sk_noise_hardly_fewer(2, 16) || sk_noise_hardly_fewer(16, 16) || sk_noise_hardly_fewer(16, 8));
    assert_false(sk_noise_hardly_fewer(1, 8));
    assert_true(sk_noise_hardly_fewer(1, 4));
}

/* Two passes of a fixed choice; else one behind the last sweep. */
static void test_noiserules__when_a_pass_may_be_the_last(void **state)
{
    (void)state;
    assert_int_equal(sk_noise_least_passes(true), 2);
    assert_int_equal(sk_noise_least_passes(false), 7);
}

/* Three passes in a row that do not raise the best likelihood by a twentieth of a nat. */
static void test_noiserules__passes_that_go_to_and_fro_end(void **state)
{
    (void)state;
    assert_int_equal(sk_noise_stalled(2, -100, -100.049), 3);
    assert_int_equal(sk_noise_stalled(2, -100, -100.051), 0);
    assert_int_equal(sk_noise_stalled(0, -101, -100), 1);
    assert_true(!sk_noise_goes_to_and_fro(2) && sk_noise_goes_to_and_fro(3));
}

/* ---- Where they begin ---- */

/* Whole runs until 2000 steps are there. */
static void test_noiserules__a_pilot_looks_at_runs_of_two_thousand_steps(void **state)
{
    static const size_t thousands[] = {0, 1000, 2000, 3000, 4000}, odd[] = {0, 1999, 3000, 4000}, one[] = {0, 90000};
    (void)state;
    assert_int_equal(sk_pilot_runs(4, thousands), 2);
    assert_int_equal(sk_pilot_runs(3, odd), 2);
    assert_int_equal(sk_pilot_runs(1, one), 1);
    assert_int_equal(sk_pilot_runs(1, thousands), 1);
}

/* Their system couples all components: order 400. */
static void test_noiserules__a_drift_to_begin_with_is_affordable(void **state)
{
    (void)state;
    assert_true(sk_noise_affords_drift(400, 1) && sk_noise_affords_drift(40, 10));
    assert_false(sk_noise_affords_drift(401, 1) || sk_noise_affords_drift(41, 10));
}

/* It goes on from half a nat on; a share of the way that gains more than one is taken at once. */
static void test_noiserules__a_pilot_goes_on_while_it_gains(void **state)
{
    (void)state;
    assert_true(sk_pilot_goes_on(0.5) && !sk_pilot_goes_on(0.49) && sk_pilot_goes_on((double)INFINITY));
    assert_true(sk_pilot_is_enough(1.01) && !sk_pilot_is_enough(1) && !sk_pilot_is_enough(0.6));
}

/* Ten medians; a tenth of the square of its residuals is always left to a. */
static void test_noiserules__residuals_of_a_pilot(void **state)
{
    (void)state;
    assert_true(sk_pilot_is_far_out(30.1, 3) && sk_pilot_is_far_out((double)NAN, 3) && !sk_pilot_is_far_out(29.9, 3));
    assert_true(sk_pilot_least_a(0.01, 2) == 0.2 && sk_pilot_least_a(0.3, 2) == 0.3);
}

/* A thousandth of the median square residual, and later a tenth of that. */
static void test_noiserules__the_least_R_falls_once_the_model_is_better(void **state)
{
    (void)state;
    assert_close(sk_noise_least_first(7), 7e-3, 1e-15, 0);
    assert_close(sk_noise_least_later(7e-3), 7e-4, 1e-15, 0);
}

/* A thousandth of the mean; a coordinate without any counts a thousandth of the others. */
static void test_noiserules__the_least_a(void **state)
{
    (void)state;
    assert_close(sk_noise_least_a(5, 3), 5e-3, 1e-15, 0);
    assert_close(sk_noise_least_a(0, 3), 3e-6, 1e-15, 0);
    assert_close(sk_noise_least_a(2.9e-3, 3), 3e-6, 1e-15, 0);
}

/* ---- The look for noise ---- */

/* From a fiftieth of the variance of a step to more than half of it, each two to five times the last: a Newton step
 * finds the way between neighbours. Paces from the drift as it is to a third of it, each at least two thirds of the
 * last. */
static void test_noiserules__starts_of_the_look_leave_no_gap(void **state)
{
    size_t shares, paces;
    const double *share = sk_hint_shares(&shares), *pace = sk_hint_paces(&paces);
    (void)state;
    assert_true(share[0] > 0.019 && share[0] < 0.021 && share[shares - 1] > 0.5 && share[shares - 1] < 1);
    for (size_t i = 1; i < shares; i++) assert_true(share[i] >= 1.99 * share[i - 1] && share[i] <= 5.01 * share[i - 1]);
    assert_true(pace[0] == 1 && pace[paces - 1] > 0.3 && pace[paces - 1] < 0.4);
    for (size_t i = 1; i < paces; i++) assert_true(pace[i] < 0.99 * pace[i - 1] && pace[i] > 0.66 * pace[i - 1]);
}

/* A thousand values and R of a fiftieth: 0.2 nats where there is none, so 20 and three times that. */
static void test_noiserules__no_R_is_looked_for_where_the_smallest_loses(void **state)
{
    (void)state;
    assert_true(sk_hint_is_hopeless(-20.61, 1000, 0.02));
    assert_false(sk_hint_is_hopeless(-20.59, 1000, 0.02) || sk_hint_is_hopeless(5, 1000, 0.02));
    assert_true(sk_hint_is_hopeless(-81, 1e5, 0.02) && !sk_hint_is_hopeless(-79, 1e5, 0.02));
}

static void test_noiserules__fifty_pairs_tell_of_noise(void **state)
{
    (void)state;
    assert_true(sk_noise_has_pairs(50) && !sk_noise_has_pairs(49));
    assert_true(sk_noise_may_clear(10, 200) && !sk_noise_may_clear(10, 199)); /* twenty steps for each feature */
}

/* Five trajectories in five runs can be told to differ; that is what noise seems to be where it is worth five nats, and
 * more than noise gains. */
static void test_noiserules__trajectories_that_differ(void **state)
{
    (void)state;
    assert_true(sk_noise_has_subjects(5, 5) && !sk_noise_has_subjects(4, 5) && !sk_noise_has_subjects(5, 4));
    assert_true(sk_noise_is_subjects(5, 4.9) && !sk_noise_is_subjects(4.9, 2) && !sk_noise_is_subjects(30, 30));
}

/* Twenty nats behind the clean model, or, begun at it, ahead of it. */
static void test_noiserules__a_fit_of_long_steps_is_given_up(void **state)
{
    (void)state;
    assert_true(sk_long_least(-500, false) == -520 && sk_long_least(-500, true) == -480);
}

static void test_noiserules__another_valley_is_ten_nats_better(void **state)
{
    (void)state;
    assert_true(sk_noise_other_valley(10.1) && !sk_noise_other_valley(10));
}

/* Two nats; it begins with correlations of at most 0.9, since products of residuals are noisy. */
static void test_noiserules__a_full_R(void **state)
{
    (void)state;
    assert_true(sk_full_noise_wins(2) && !sk_full_noise_wins(1.99));
    assert_close(sk_first_correlation(1, 4), 0.5, 1e-15, 0);
    assert_close(sk_first_correlation(5, 4), 0.9, 1e-15, 0);
    assert_close(sk_first_correlation(-1.9, 4), -0.9, 1e-15, 0);
    assert_close(sk_first_correlation(1.7, 4), 0.85, 1e-15, 0);
}

/* A step in a comparison counts at least 20 nats below the median one: a single one does not decide. */
static void test_noiserules__one_step_does_not_decide(void **state)
{
    (void)state;
    assert_true(sk_step_counts_least(1.5) == -18.5);
}

static void test_noiserules__a_pass_of_a_gigabyte_is_kept(void **state)
{
    (void)state;
    assert_true(sk_noise_keeps_pass(1e9) && !sk_noise_keeps_pass(1.001e9));
}

/* ---- Newton's method and the ascent ---- */

/* A curvature below a hundredth of the larger one is raised to it; a move of a logarithm is cut at log 4. */
static void test_noiserules__newton_goes_no_further_than_it_knows(void **state)
{
    (void)state;
    assert_close(sk_newton_curvature(0.5, 100), 1, 1e-7, 0);
    assert_close(sk_newton_curvature(1.5, 100), 1.5, 1e-15, 0);
    assert_true(sk_newton_curvature(0, 0) > 0);
    assert_true(sk_newton_cut(1.38) == 1 && sk_newton_cut(0) == 1);
    assert_close(exp(3 * sk_newton_cut(3)), 4, 1e-14, 1);
    assert_close(exp(1.4 * sk_newton_cut(1.4)), 4, 1e-14, 1);
}

/* Steps of the diffusion become up to eight times as long, and never shorter. */
static void test_noiserules__steps_of_a_are_stretched(void **state)
{
    (void)state;
    assert_true(sk_newton_stretch(0.3) == 1 && sk_newton_stretch(7.9) == 7.9 && sk_newton_stretch(8.1) == 8);
}

/* Sixteen numbers; a fiftieth of a nat promised, and half of it gained. */
static void test_noiserules__short_models_go_up_while_there_is_more(void **state)
{
    (void)state;
    assert_true(sk_ascent_is_short(16) && !sk_ascent_is_short(17));
    assert_true(sk_ascent_goes_on(0.02, 0.01));
    assert_false(sk_ascent_goes_on(0.019, 1) || sk_ascent_goes_on(1, 0.0099));
}

/* A ten-thousandth of a weight; one that is below a twentieth of the largest is moved as if it were that. */
static void test_noiserules__differences_of_weights(void **state)
{
    (void)state;
    assert_close(sk_ascent_difference(-3, 10), 3e-4, 1e-12, 0);
    assert_close(sk_ascent_difference(0.4, 10), 5e-5, 1e-12, 0);
    assert_close(sk_ascent_difference(0.6, 10), 6e-5, 1e-12, 0);
}

/* Ten deviations. */
static void test_noiserules__an_outlier_says_nothing(void **state)
{
    (void)state;
    assert_true(sk_innovation_counts(99) == 99 && sk_innovation_counts(101) == 100);
    assert_true(sk_innovation_is_outlier(100, 1) && sk_innovation_is_outlier((double)NAN, 1));
    assert_false(sk_innovation_is_outlier(99.9, 1) || sk_innovation_is_outlier(299, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noiserules__sweeps_become_rarer),
        cmocka_unit_test(test_noiserules__polynomials_come_first),
        cmocka_unit_test(test_noiserules__substeps_are_counted_anew_while_the_model_changes),
        cmocka_unit_test(test_noiserules__a_few_substeps_less_are_asked_about_again),
        cmocka_unit_test(test_noiserules__when_a_pass_may_be_the_last),
        cmocka_unit_test(test_noiserules__passes_that_go_to_and_fro_end),
        cmocka_unit_test(test_noiserules__a_pilot_looks_at_runs_of_two_thousand_steps),
        cmocka_unit_test(test_noiserules__a_drift_to_begin_with_is_affordable),
        cmocka_unit_test(test_noiserules__a_pilot_goes_on_while_it_gains),
        cmocka_unit_test(test_noiserules__residuals_of_a_pilot),
        cmocka_unit_test(test_noiserules__the_least_R_falls_once_the_model_is_better),
        cmocka_unit_test(test_noiserules__the_least_a),
        cmocka_unit_test(test_noiserules__starts_of_the_look_leave_no_gap),
        cmocka_unit_test(test_noiserules__no_R_is_looked_for_where_the_smallest_loses),
        cmocka_unit_test(test_noiserules__fifty_pairs_tell_of_noise),
        cmocka_unit_test(test_noiserules__trajectories_that_differ),
        cmocka_unit_test(test_noiserules__a_fit_of_long_steps_is_given_up),
        cmocka_unit_test(test_noiserules__another_valley_is_ten_nats_better),
        cmocka_unit_test(test_noiserules__a_full_R),
        cmocka_unit_test(test_noiserules__one_step_does_not_decide),
        cmocka_unit_test(test_noiserules__a_pass_of_a_gigabyte_is_kept),
        cmocka_unit_test(test_noiserules__newton_goes_no_further_than_it_knows),
        cmocka_unit_test(test_noiserules__steps_of_a_are_stretched),
        cmocka_unit_test(test_noiserules__short_models_go_up_while_there_is_more),
        cmocka_unit_test(test_noiserules__differences_of_weights),
        cmocka_unit_test(test_noiserules__an_outlier_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
