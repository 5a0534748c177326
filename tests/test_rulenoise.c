/* test_rulenoise.c - when noise and long steps are suspected, tried, given up and taken; see test_rules.c. */
#include "rulecases.h"

/* ---- Noise ---- */

static void test_rulenoise__a_full_R_is_tried_for_a_clear_correlation(void **state)
{
    (void)state;
    const double weak[] = {9, 2.9, 2.9, 9}, strong[] = {0, -3.1, -3.1, 0}, one[] = {9};
    assert_false(sk_noise_correlated(2, weak));
    assert_true(sk_noise_correlated(2, strong));
    assert_false(sk_noise_correlated(1, one));
}

static void test_rulenoise__long_steps_are_tried_where_many_substeps_or_a_gain_ask(void **state)
{
    (void)state;
    assert_false(sk_long_steps_worth(1000, 1, 100));
    assert_false(sk_long_steps_worth(1000, 2, 0.9));
    assert_true(sk_long_steps_worth(1000, 2, 1));
    assert_true(sk_long_steps_worth(60, 4, 0));
    assert_false(sk_long_steps_worth(59, 4, 0));
}

/* A nat, and with two substeps the gain's own error; one substep is no long step. */
static void test_rulenoise__long_steps_win_by_a_gain_beyond_its_error(void **state)
{
    (void)state;
    assert_true(sk_long_steps_win(2, 1, 0.5));
    assert_false(sk_long_steps_win(2, 0.99, 0.5));
    assert_true(sk_long_steps_win(2, 7, 7));
    assert_false(sk_long_steps_win(2, 6.9, 7));
    assert_true(sk_long_steps_win(4, 1, 7));
    assert_false(sk_long_steps_win(4, 0.99, 0.1));
    assert_false(sk_long_steps_win(1, 100, 1));
}

/* A diffusion that is not the simplest: by an error or two nats; over long steps by three nats and 1.5 errors. */
static void test_rulenoise__a_richer_diffusion_has_to_gain(void **state)
{
    (void)state;
    assert_close(sk_richer_diffusion_asked(false, 0.7), 0.7, 1e-12, 1);
    assert_close(sk_richer_diffusion_asked(false, 9), 2, 1e-12, 1);
    assert_close(sk_richer_diffusion_asked(true, 0.7), 3, 1e-12, 1);
    assert_close(sk_richer_diffusion_asked(true, 4), 6, 1e-12, 1);
    assert_close(sk_richer_drift_asked(0.7), 0.7, 1e-12, 1);
    assert_close(sk_richer_drift_asked(9), 4, 1e-12, 1);
}

/* A quarter of a nat for R, and 0.05 for each value that the fit of long steps is ahead. */
static void test_rulenoise__doubt_keeps_the_clean_fit(void **state)
{
    (void)state;
    assert_true(sk_long_steps_doubtful(0.81, 49, 1000));
    assert_false(sk_long_steps_doubtful(0.79, 49, 1000));
    assert_false(sk_long_steps_doubtful(0.81, 51, 1000));
}

static void test_rulenoise__steps_at_rest_hide_the_law_of_a_step(void **state)
{
    (void)state;
    assert_true(sk_grain_hides(0.81));
    assert_false(sk_grain_hides(0.79));
}

static void test_rulenoise__rounding_shows_by_its_share_of_a_step(void **state)
{
    (void)state;
    assert_true(sk_is_rounding_noise(0.251 / 12, 1) && sk_is_rounding_noise(0.251 * 4 / 12, 2));
    assert_false(sk_is_rounding_noise(0.249 / 12, 1) || sk_is_rounding_noise(0.249 * 4 / 12, 2));
    assert_true(sk_rounding_shows(0.041));
    assert_false(sk_rounding_shows(0.039));
}

/* 20 nats, or a tenth for each value. */
static void test_rulenoise__a_fit_with_suspected_noise_is_given_up_far_behind(void **state)
{
    (void)state;
    assert_close(sk_noise_least(7, 100, 1), -13, 1e-12, 1);
    assert_close(sk_noise_least(7, 100, 3), -23, 1e-12, 1);
}

static void test_rulenoise__noise_is_suspected_by_its_largest_score_or_their_sum(void **state)
{
    (void)state;
    const double below[] = {0.98}, above[] = {1.001}, two[] = {1.45, -1.4}, sum[] = {0.75, 0.75}, none[] = {1.3, -0.2};
    assert_false(sk_noise_suspected(1, below));
    assert_true(sk_noise_suspected(1, above));
    assert_true(sk_noise_suspected(2, two));
    assert_true(sk_noise_suspected(2, sum));
    assert_false(sk_noise_suspected(2, none));
}

static void test_rulenoise__noise_on_more_states_must_gain_more(void **state)
{
    (void)state;
    assert_close(sk_noise_gain_asked(1, false), 2, 1e-12, 0);
    assert_close(sk_noise_gain_asked(4, false), 4.1, 1e-12, 0);
    assert_close(sk_noise_gain_asked(1, true), 2, 1e-12, 0);
    assert_close(sk_noise_gain_asked(4, true), 3.8, 1e-12, 0);
}

static void test_rulenoise__noise_is_taken_for_a_gain_or_where_it_is_sure(void **state)
{
    (void)state;
    assert_true(sk_noise_gains(&(sk_noise_evidence){1, false, 1, {2.1, 9}, {2.1, 2}}));
    assert_true(sk_noise_is_behind(-10.1, false));
    assert_false(sk_noise_is_behind(-9.9, false));
    assert_true(sk_noise_is_behind(-0.1, true));
    assert_false(sk_noise_is_behind(0.1, true));
    assert_false(sk_noise_gains(&(sk_noise_evidence){2, false, 9, {2.5, 0}, {30, 0}}));
    assert_false(sk_noise_gains(&(sk_noise_evidence){1, false, 9, {30, 0}, {1.9, 0}})); /* a better drift is no noise */
    assert_true(sk_noise_is_sure(&(sk_noise_evidence){2, false, 4.1, {-5, 0}, {30, 0}}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, false, 3.9, {-5, 0}, {30, 0}}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, false, 5, {-11, 0}, {30, 0}}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, false, 5, {-5, 0}, {2.6, 0}}));
}

/* One error of the gain over the same model; half of one where steps are long. */
static void test_rulenoise__noise_gains_beyond_the_error(void **state)
{
    (void)state;
    assert_false(sk_noise_gains(&(sk_noise_evidence){1, false, 1, {9, 0}, {5, 5.1}}));
    assert_true(sk_noise_gains(&(sk_noise_evidence){1, false, 1, {9, 0}, {5, 4.9}}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){1, false, 5, {9, 0}, {5, 5.1}}));
    assert_true(sk_noise_gains(&(sk_noise_evidence){1, true, 1, {2.1, 0}, {2.1, 4.1}}));
    assert_false(sk_noise_gains(&(sk_noise_evidence){1, true, 1, {2.1, 0}, {2.1, 4.3}}));
    assert_false(sk_noise_gains(&(sk_noise_evidence){1, true, 1, {1.9, 0}, {2.1, 1}}));
}

/* Three tenths of the gain that will be asked for, of more states all that is asked for them; over long steps three
 * tenths of all. Four substeps are long. */
static void test_rulenoise__a_hint_is_worth_a_fit(void **state)
{
    (void)state;
    assert_close(sk_noise_hint_asked(1, false), 0.6, 1e-12, 0);
    assert_close(sk_noise_hint_asked(10, false), 6.9, 1e-12, 0);
    assert_close(sk_noise_hint_asked(1, true), 0.6, 1e-12, 0);
    assert_close(sk_noise_hint_asked(2, true), 0.78, 1e-12, 0);
    assert_true(sk_is_long(4));
    assert_false(sk_is_long(2));
}

/* 5e5 steps x substeps x d^2; one substep is no long step. */
static void test_rulenoise__many_long_steps_are_followed_on_a_part(void **state)
{
    (void)state;
    assert_true(sk_flow_affordable(5000, 4, 5));
    assert_false(sk_flow_affordable(5001, 4, 5));
    assert_true(sk_flow_affordable(30000, 16, 1));
    assert_true(sk_flow_affordable(45000, 1, 10));
}

static void test_rulenoise__who_is_far_behind_in_a_sweep_stays_out(void **state)
{
    sk_trial near = {.score = -29}, far = {.score = -31}, best = {.score = 0};
    sk_trial *trial[] = {&far, NULL, &near, &best};
    bool out[] = {false, false, true, false};
    (void)state;
    sk_noise_leave_behind(&(sk_field_trials){4, 0, NULL, trial, 0}, out);
    assert_true(out[0]);
    assert_false(out[1]); /* was not tried */
    assert_true(out[2]);  /* was out before */
    assert_false(out[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rulenoise__a_full_R_is_tried_for_a_clear_correlation),
        cmocka_unit_test(test_rulenoise__long_steps_are_tried_where_many_substeps_or_a_gain_ask),
        cmocka_unit_test(test_rulenoise__long_steps_win_by_a_gain_beyond_its_error),
        cmocka_unit_test(test_rulenoise__a_richer_diffusion_has_to_gain),
        cmocka_unit_test(test_rulenoise__doubt_keeps_the_clean_fit),
        cmocka_unit_test(test_rulenoise__steps_at_rest_hide_the_law_of_a_step),
        cmocka_unit_test(test_rulenoise__rounding_shows_by_its_share_of_a_step),
        cmocka_unit_test(test_rulenoise__a_fit_with_suspected_noise_is_given_up_far_behind),
        cmocka_unit_test(test_rulenoise__noise_is_suspected_by_its_largest_score_or_their_sum),
        cmocka_unit_test(test_rulenoise__noise_on_more_states_must_gain_more),
        cmocka_unit_test(test_rulenoise__noise_is_taken_for_a_gain_or_where_it_is_sure),
        cmocka_unit_test(test_rulenoise__noise_gains_beyond_the_error),
        cmocka_unit_test(test_rulenoise__a_hint_is_worth_a_fit),
        cmocka_unit_test(test_rulenoise__many_long_steps_are_followed_on_a_part),
        cmocka_unit_test(test_rulenoise__who_is_far_behind_in_a_sweep_stays_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
