/* test_inertiarules.c - every rule of fits of second order at both sides of its threshold; the numbers are written out.
 */
#include "inertia/inertiarules.h"

#include "onecontext.h"
#include "score/inertia.h"

#include <math.h>

static void test_inertiarules__thirty_second_differences_tell_of_a_force(void **state)
{
    (void)state;
    assert_true(sk_inertia_has_rows(30) && !sk_inertia_has_rows(29));
}

/* A tenth of what neighbours say, or it is chance. */
static void test_inertiarules__speed_is_what_steps_apart_have_in_common(void **state)
{
    (void)state;
    assert_true(sk_inertia_square_speed(0.11, 1) == 0.11 && sk_inertia_square_speed(0.09, 1) == 1);
    assert_true(sk_inertia_square_speed(-3, 1) == 1);
}

/* Velocities are found first; then all candidates are compared in every other pass, and after the last of these it may
 * end. */
static void test_inertiarules__sweeps_come_after_the_velocities(void **state)
{
    static const char begins[] = "++----------", sweeps[] = "--+-+-+-----", ends[] = "-------+++++";
    (void)state;
    for (size_t i = 1; i < sizeof begins; i++) {
        assert_int_equal(sk_inertia_begins(i), begins[i - 1] == '+');
        assert_int_equal(sk_inertia_sweeps(i), sweeps[i - 1] == '+');
        assert_int_equal(sk_inertia_may_end(i), ends[i - 1] == '+');
    }
}

static void test_inertiarules__a_is_never_nothing_at_the_start(void **state)
{
    (void)state;
    assert_close(sk_inertia_least_a(-1, 5), 5e-3, 1e-15, 0);
    assert_close(sk_inertia_least_a(6e-3, 5), 6e-3, 1e-15, 0);
}

/* A row without noise has fifty times the weight of a typical one, no more; of its squares a hundred times. */
static void test_inertiarules__rows_with_next_to_no_noise_do_not_outweigh_the_others(void **state)
{
    (void)state;
    assert_close(1.02 / sk_inertia_shift(1), 51, 1e-12, 1);
    assert_close(sk_inertia_pair_weight(0, 0), 100, 1e-13, 1);
    assert_close(sk_inertia_pair_weight(1.9, 0.9), 0.5, 1e-13, 1);
}

/* Ten deviations. */
static void test_inertiarules__an_outlier_says_nothing(void **state)
{
    (void)state;
    assert_true(sk_inertia_row_counts(100, 1) && sk_inertia_row_counts(299, 3));
    assert_false(sk_inertia_row_counts(101, 1) || sk_inertia_row_counts((double)NAN, 1));
}

/* A model is evaluated up to a width of the data beyond them, of positions and of speeds; differences of its force are
 * taken over a thousandth of a standard deviation. */
static void test_inertiarules__the_box_is_three_widths(void **state)
{
    static const size_t first[] = {0, 3};
    static const double y[] = {0, 1, 3}, next[] = {1, 3, 7}, h[] = {1, 1, 1};
    const sk_series series = {.d = 1, .steps = 3, .runs = 1, .first = first, .y = y, .next = next, .h = h};
    sk_frame frame;
    (void)state;
    assert_int_equal(sk_inertia_frame_new(ctx, &series, &frame), SOCK_OK);
    assert_true(frame.low[0] == -5 && frame.high[0] == 13 && frame.low[1] == -2 && frame.high[1] == 7);
    assert_close(frame.reach[0], 1e-3 * sqrt(168.0 / 27), 1e-12, 1);
    assert_close(frame.reach[1], 1e-3 * sqrt(14.0 / 9), 1e-12, 1);
    sk_frame_clear(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inertiarules__thirty_second_differences_tell_of_a_force),
        cmocka_unit_test(test_inertiarules__speed_is_what_steps_apart_have_in_common),
        cmocka_unit_test(test_inertiarules__sweeps_come_after_the_velocities),
        cmocka_unit_test(test_inertiarules__a_is_never_nothing_at_the_start),
        cmocka_unit_test(test_inertiarules__rows_with_next_to_no_noise_do_not_outweigh_the_others),
        cmocka_unit_test(test_inertiarules__an_outlier_says_nothing),
        cmocka_unit_test(test_inertiarules__the_box_is_three_widths),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
