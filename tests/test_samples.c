/* test_samples.c - from how many rows on a part stands for all: at most so many are taken, and all as long as they are
 * not more. The numbers are written out. */
#include "data/samples.h"

#include "test.h"

/* Every second one from one more than `most` on, every third from one more than twice as many. */
static void assert_strides(size_t (*stride)(size_t), size_t most)
{
    assert_int_equal(stride(1), 1);
    assert_int_equal(stride(most), 1);
    assert_int_equal(stride(most + 1), 2);
    assert_int_equal(stride(2 * most), 2);
    assert_int_equal(stride(2 * most + 1), 3);
}

static void test_samples__rows_and_steps_are_thinned_evenly(void **state)
{
    (void)state;
    assert_strides(sk_pivot_stride, 20000);
    assert_strides(sk_typical_stride, 65536);
    assert_strides(sk_band_row_stride, 50000);
    assert_strides(sk_band_step_stride, 1000);
    assert_strides(sk_band_point_stride, 200);
    assert_strides(sk_moments_stride, 250);
}

/* About 500 points of a bound; no fewer than 20 000 windows, as long as there are so many. */
static void test_samples__points_and_windows(void **state)
{
    (void)state;
    assert_true(sk_bound_stride(499) == 1 && sk_bound_stride(500) == 2 && sk_bound_stride(1500) == 4);
    assert_true(sk_smooth_stride(0) == 1 && sk_smooth_stride(39999) == 1 && sk_smooth_stride(40000) == 2);
}

static void assert_most(size_t (*of)(size_t), size_t most)
{
    assert_true(of(0) == 0 && of(most - 1) == most - 1 && of(most) == most && of(most + 1) == most &&
                of(9 * most) == most);
}

static void test_samples__so_many_at_most(void **state)
{
    (void)state;
    assert_most(sk_order_rows, 20000);
    assert_most(sk_substeps_asked, 500);
    assert_most(sk_places_of_jacobian, 200);
    assert_most(sk_centres_of_kernel, 100);
}

/* Twenty thousand numbers over all states; a step at least. */
static void test_samples__binned_steps_are_shared_among_the_states(void **state)
{
    (void)state;
    assert_true(sk_binned_most(1) == 20000 && sk_binned_most(3) == 6666 && sk_binned_most(50000) == 1);
}

/* Fewer beyond ten states, where each costs their cube: 2e7 in all, but 200 steps in any case. */
static void test_samples__steps_of_quiet_states(void **state)
{
    (void)state;
    assert_true(sk_quiet_rows(1) == 20000 && sk_quiet_rows(10) == 20000 && sk_quiet_rows(20) == 2500);
    assert_true(sk_quiet_rows(46) == 205 && sk_quiet_rows(47) == 200 && sk_quiet_rows(1000) == 200);
}

/* All up to four thousand trajectories; then four thousand of them, spread over all. */
static void test_samples__trajectories_of_the_kernel_of_mmd(void **state)
{
    static const size_t all[] = {1, 3999, 4000, 4001, 10000};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        size_t count = 0, early = 0;
        for (size_t i = 0; i < all[k]; i++) {
            count += sk_mmd_stands_for_all(i, all[k]);
            if (2 * i < all[k]) early = count;
        }
        assert_int_equal(count, all[k] < 4000 ? all[k] : 4000);
        assert_true(2 * early >= count && 2 * early <= count + 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples__rows_and_steps_are_thinned_evenly),
        cmocka_unit_test(test_samples__points_and_windows),
        cmocka_unit_test(test_samples__so_many_at_most),
        cmocka_unit_test(test_samples__binned_steps_are_shared_among_the_states),
        cmocka_unit_test(test_samples__steps_of_quiet_states),
        cmocka_unit_test(test_samples__trajectories_of_the_kernel_of_mmd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
