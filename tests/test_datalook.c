/* test_datalook.c - what figures take from data: quantiles, time steps, starts. */
#include "report/datalook.h"

#include "onecontext.h"

/* Trajectories of two points each: from x0 (count x d) at time 0 to x0 + 1 at time h[j]. */
static sock_data *two_points(size_t d, size_t count, const double *x0, const double *h)
{
    size_t length[64];
    double t[128], x[512];
    sock_data *data = NULL;
    for (size_t j = 0; j < count; j++) {
        length[j] = 2;
        t[2 * j] = 0, t[2 * j + 1] = h[j];
        for (size_t k = 0; k < d; k++) {
            x[2 * j * d + k] = x0[j * d + k];
            x[(2 * j + 1) * d + k] = x0[j * d + k] + 1;
        }
    }
    assert_int_equal(sock_data_from_arrays(ctx, d, count, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static void test_datalook__quantiles_interpolate(void **state)
{
    (void)state;
    const double v[] = {1, 2, 4, 8, 16};
    assert_close(look_quantile(5, v, 0), 1, 0, 0);
    assert_close(look_quantile(5, v, 1), 16, 0, 0);
    assert_close(look_quantile(5, v, 0.5), 4, 1e-15, 0);
    assert_close(look_quantile(5, v, 0.625), 6, 1e-15, 0);
    assert_close(look_quantile(1, v, 0.3), 1, 0, 0);
    assert_true(isnan(look_quantile(0, v, 0.5)));
}

static void test_datalook__values_and_times_of_all_trajectories(void **state)
{
    (void)state;
    const double x0[] = {3, 0, 5}, h[] = {0.1, 0.4, 0.2};
    sock_data *data = two_points(1, 3, x0, h);
    size_t count;
    look_times time;
    double *sorted = look_sorted(data, 0, &count);
    assert_int_equal(count, 6);
    assert_all_close(6, sorted, (const double[]){0, 1, 3, 4, 5, 6}, 0);
    free(sorted);
    assert_int_equal(look_time(data, &time), SOCK_OK);
    assert_close(time.first, 0, 0, 0);
    assert_close(time.last, 0.4, 0, 0);
    assert_close(time.step, 0.2, 1e-15, 0);
    sock_data_free(data);
}

static void test_datalook__shared_start_wins(void **state)
{
    (void)state;
    double x0[20], h[20];
    for (size_t j = 0; j < 20; j++) x0[j] = j % 4 == 2 ? 7 : (double)j, h[j] = 1;
    x0[7] = 7.5;
    sock_data *data = two_points(1, 20, x0, h);
    look_starts starts;
    const double *x;
    assert_int_equal(look_start(data, &starts), SOCK_OK);
    assert_int_equal(starts.count, 1);
    assert_int_equal(starts.sharing, 5);
    sock_data_trajectory(data, starts.trajectory[0], NULL, &x);
    assert_close(x[0], 7, 0, 0);
    sock_data_free(data);
}

/* 1-D: the starts at 10, 50 and 90 %, whatever their order in the file. */
static void test_datalook__three_starts_in_one_dimension(void **state)
{
    (void)state;
    double x0[21], h[21];
    for (size_t j = 0; j < 21; j++) x0[j] = (double)(j * 8 % 21), h[j] = 1;
    sock_data *data = two_points(1, 21, x0, h);
    look_starts starts;
    assert_int_equal(look_start(data, &starts), SOCK_OK);
    assert_int_equal(starts.count, 3);
    assert_int_equal(starts.sharing, 1);
    for (size_t i = 0; i < 3; i++) {
        const double *x;
        sock_data_trajectory(data, starts.trajectory[i], NULL, &x);
        assert_close(x[0], 2 + 8 * (double)i, 0, 0);
    }
    sock_data_free(data);
}

/* More dimensions: starts on a cross at distances 1 to 5 of the middle; the one at distance 3 is typical, also when one
 * coordinate is measured in other units. */
static void test_datalook__typical_start_is_at_the_median_distance(void **state)
{
    (void)state;
    double x0[2 * 21] = {0}, h[21];
    for (size_t j = 0; j < 20; j++) {
        const double sign = j % 2 ? -1 : 1, away = sign * (double)(j / 4 + 1);
        x0[2 * j] = j / 2 % 2 ? away : 0;
        x0[2 * j + 1] = j / 2 % 2 ? 0 : 1000 * away;
    }
    for (size_t j = 0; j < 21; j++) h[j] = 1;
    sock_data *data = two_points(2, 21, x0, h);
    look_starts starts;
    const double *x;
    assert_int_equal(look_start(data, &starts), SOCK_OK);
    assert_int_equal(starts.count, 1);
    assert_int_equal(starts.sharing, 1);
    sock_data_trajectory(data, starts.trajectory[0], NULL, &x);
    assert_close(fabs(x[0]) + fabs(x[1]) / 1000, 3, 1e-15, 0);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datalook__quantiles_interpolate),
        cmocka_unit_test(test_datalook__values_and_times_of_all_trajectories),
        cmocka_unit_test(test_datalook__shared_start_wins),
        cmocka_unit_test(test_datalook__three_starts_in_one_dimension),
        cmocka_unit_test(test_datalook__typical_start_is_at_the_median_distance),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
