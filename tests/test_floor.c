/* test_floor.c - the floor of a keeps a regular; it must not move its scale. Measurement noise is not asked for: where
 * it is found, a is another's matter. */
#include "tunefits.h"

enum { PATHS = 10, POINTS = 101, SETS = 6 };

/* The a of the steps themselves: what they leave of the true drift, exactly. */
static double own_scale(const sock_data *data, double h)
{
    const double keep = exp(-h), variance = 0.5 * (1 - keep * keep);
    double sum = 0, count = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, count++)
            sum += pow(data->x[i + 1] - keep * data->x[i], 2) / variance;
    return sum / count;
}

/* dx = -x dt + dW with ten paths: a is one number, and the fit knows it as well as the squares of the steps do. Where
 * the floor only adds, the mean is 0.05. */
static void test_floor__does_not_move_the_scale_of_a(void **state)
{
    (void)state;
    const double h = 0.05;
    double mean = 0, worst = 0;
    for (uint64_t seed = 0; seed < SETS; seed++) {
        sock_data *data = data_of(1, PATHS, POINTS, h, ou_paths(1, PATHS, POINTS, h, 1, 900 + seed));
        sock_model *model = fit(data, (const char *const[]){"noise", "none", NULL});
        double x[] = {-0.6, 0, 0.6}, a[3], shift = 0;
        assert_int_equal(sk_model_evaluate(ctx, model, 3, x, NULL, a), SOCK_OK);
        for (size_t i = 0; i < 3; i++) shift += log(a[i] / own_scale(data, h)) / 3;
        mean += shift / SETS;
        worst = fmax(worst, fabs(shift));
        sock_model_free(model);
        sock_data_free(data);
    }
    print_message("mean of log a over that of the steps %.4f, largest %.4f\n", mean, worst);
    assert_true(fabs(mean) < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor__does_not_move_the_scale_of_a)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
