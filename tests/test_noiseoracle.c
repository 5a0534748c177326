/* The oracle of the study of noise, and its data: what can be told in closed form. */
#include "test.h"

#include "experiments/noiseoracle.h"

static noise_paths paths_of(sock_context *ctx, const char *system, size_t points, double h)
{
    noise_paths p = {noise_find(system), 1, points, h, NULL};
    assert_non_null(p.system);
    assert_int_equal(noise_simulate(ctx, &p, 7), SOCK_OK);
    return p;
}

/* Clean OU: the maximum is that of the autoregression, theta = -log(phi) / h, a = 2 theta s / (1 - phi^2). */
static void prop_noiseoracle__clean_ou_is_the_autoregression(void **state)
{
    sock_context *ctx = sock_context_new();
    noise_paths p = paths_of(ctx, "ou", 400, 0.02);
    noise_instance best;
    double xx = 0, xy = 0, left = 0;
    (void)state;
    for (size_t i = 0; i + 1 < p.points; i++) xx += p.x[i] * p.x[i], xy += p.x[i] * p.x[i + 1];
    const double phi = xy / xx, theta = -log(phi) / p.h;
    for (size_t i = 0; i + 1 < p.points; i++) left += pow(p.x[i + 1] - phi * p.x[i], 2) / (double)(p.points - 1);
    assert_int_equal(noise_oracle(&p, p.x, NULL, &best), SOCK_OK);
    assert_close(best.weight[0], -theta, 0.01, 1); /* the search ends 0.005 nats below its end */
    assert_close(best.weight[1], 2 * theta * left / (1 - phi * phi), 0.01, 1);
    noise_free(&p);
    sock_context_free(ctx);
}

/* Noise of the size of a step triples the squares of steps; the oracle sees through it. */
static void test_noiseoracle__noise_is_told_from_diffusion(void **state)
{
    sock_context *ctx = sock_context_new();
    noise_paths p = paths_of(ctx, "well", 4000, 0.02);
    noise_instance best;
    double variance, squares = 0, *y = malloc(p.points * sizeof *y);
    (void)state;
    noise_step_variances(&p, &variance);
    assert_close(variance, 0.25 * 0.02, 1e-12, 0);
    assert_int_equal(noise_measure(ctx, &p, &variance, 8, y), SOCK_OK);
    for (size_t i = 0; i + 1 < p.points; i++) squares += pow(y[i + 1] - y[i], 2) / (0.02 * (double)(p.points - 1));
    assert_close(squares, 3 * 0.25, 0.15, 0);
    assert_int_equal(noise_oracle(&p, y, &variance, &best), SOCK_OK);
    assert_close(best.weight[2], 0.25, 0.15, 0);
    free(y);
    noise_free(&p);
    sock_context_free(ctx);
}

/* Measured states: the variance that was asked for, no correlation from state to state or from point to point. */
static void test_noiseoracle__measured_states(void **state)
{
    sock_context *ctx = sock_context_new();
    noise_paths p = paths_of(ctx, "ourot", 5000, 0.02);
    const double variance[2] = {0.04, 0.09};
    double *y = malloc(2 * p.points * sizeof *y), sum[4] = {0};
    (void)state;
    assert_int_equal(noise_measure(ctx, &p, variance, 9, y), SOCK_OK);
    for (size_t i = 0; i + 1 < p.points; i++) {
        const double e[3] = {y[2 * i] - p.x[2 * i], y[2 * i + 1] - p.x[2 * i + 1], y[2 * i + 2] - p.x[2 * i + 2]};
        sum[0] += e[0] * e[0], sum[1] += e[1] * e[1], sum[2] += e[0] * e[1], sum[3] += e[0] * e[2];
    }
    for (int k = 0; k < 4; k++) sum[k] /= (double)p.points - 1;
    assert_close(sum[0], 0.04, 0.08, 0);
    assert_close(sum[1], 0.09, 0.08, 0);
    assert_close(sum[2], 0, 0.06, 0.06);
    assert_close(sum[3], 0, 0.06, 0.04);
    free(y);
    noise_free(&p);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_noiseoracle__clean_ou_is_the_autoregression),
        cmocka_unit_test(test_noiseoracle__noise_is_told_from_diffusion),
        cmocka_unit_test(test_noiseoracle__measured_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
