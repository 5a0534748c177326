/* test_filtertangent.c - how a filter's likelihood moves with a and R: its slopes are those of differences. */
#include "noise/filtertangent.h"
#include "noisecases.h"

enum { STEPS = 7, D = 2 };

/* d log N(e; 0, S) of a step by its numbers y: y_e.v + (v' M v - tr M) / 2, v = C^-1 e, M of y. */
static double slope_of_step(const sk_frozen *z, size_t i, const double *y, size_t ld)
{
    double s[4], c[4], v[2];
    for (size_t k = 0; k < 4; k++) s[k] = z->pass.cov[4 * i + k] + z->spec.noise[k];
    assert_int_equal(sk_factor_copy(D, 0, s, c), 0);
    v[0] = z->e[2 * i] / c[0];
    v[1] = (z->e[2 * i + 1] - c[2] * v[0]) / c[3];
    const double m00 = sqrt(2) * y[2 * ld], m10 = y[3 * ld], m11 = sqrt(2) * y[4 * ld];
    return y[0] * v[0] + y[ld] * v[1] + (m00 * v[0] * v[0] + 2 * m10 * v[0] * v[1] + m11 * v[1] * v[1] - m00 - m11) / 2;
}

static double likelihood(const sk_frozen *z, const double *a, const double *noise)
{
    double term[STEPS], sum = 0;
    const sk_frozen_change change = {.diffusion = a, .noise = noise};
    assert_int_equal(sk_frozen_scores(ctx, z, 0, z->series->runs, &change, term), SOCK_OK);
    for (size_t i = 0; i < STEPS; i++) sum += term[i];
    return sum;
}

/* Two directions at once: I a of every step, and R. */
static void test_filtertangent__has_the_slopes_of_the_likelihood(void **state)
{
    (void)state;
    example e;
    sk_frozen *z = NULL;
    example_init(&e);
    assert_int_equal(sk_frozen_new(ctx, &e.series, &e.spec, &z), SOCK_OK);
    double da[STEPS * 2 * 4] = {0}, dr[2 * 4] = {0, 0, 0, 0, 0.02, -0.01, -0.01, 0.03}, y[STEPS * 5 * 2], sum[2] = {0};
    for (size_t i = 0; i < STEPS; i++) {
        da[8 * i] = 0.02 + 0.01 * (double)i;
        da[8 * i + 1] = da[8 * i + 2] = 0.005;
        da[8 * i + 3] = 0.01;
    }
    double dv[STEPS * 2 * 4] = {0}, half[4];
    for (size_t i = 0; i < STEPS; i++) { /* V = F I a F' */
        sk_small_product(D, z->average + 4 * i, da + 8 * i, false, half);
        sk_small_product(D, half, z->average + 4 * i, true, dv + 8 * i);
    }
    assert_int_equal(sk_tangent_rows(D), 5);
    for (size_t r = 0; r < z->series->runs; r++) {
        const size_t first = z->series->first[r];
        assert_int_equal(sk_tangent_run(ctx, z, r, 2, dv + 8 * first, dr, y + first * 10, 2), SOCK_OK);
    }
    for (size_t i = 0; i < STEPS; i++)
        for (size_t u = 0; u < 2; u++) sum[u] += slope_of_step(z, i, y + 10 * i + u, 2);
    const double step = 1e-5;
    double a[2][STEPS * 4], noise[2][4];
    for (size_t side = 0; side < 2; side++) {
        const double by = side ? -step : step;
        for (size_t k = 0; k < 4; k++) noise[side][k] = e.noise[k] + by * dr[4 + k];
        for (size_t k = 0; k < STEPS * 4; k++) a[side][k] = z->diffusion[k] + by * da[k / 4 * 8 + k % 4];
    }
    assert_close(sum[0], (likelihood(z, a[0], NULL) - likelihood(z, a[1], NULL)) / (2 * step), 1e-6, 1);
    assert_close(sum[1], (likelihood(z, NULL, noise[0]) - likelihood(z, NULL, noise[1])) / (2 * step), 1e-6, 1);
    assert_true(fabs(sum[0]) > 0.1 && fabs(sum[1]) > 0.1);
    sk_frozen_free(z);
    example_clear(&e);
}

/* A step alone: the same numbers, and none where the law was lost. */
static void test_filtertangent__has_no_row_where_the_law_is_lost(void **state)
{
    (void)state;
    example e;
    sk_frozen *z = NULL;
    example_init(&e);
    assert_int_equal(sk_frozen_new(ctx, &e.series, &e.spec, &z), SOCK_OK);
    const double mean[2] = {0.1, 0.2}, variance[4] = {0.3, 0.1, 0.1, 0.4};
    double y[5], dv[STEPS * 4], rows[STEPS * 5];
    for (size_t i = 0; i < STEPS * 4; i++) dv[i] = variance[i % 4];
    sk_tangent_row(z, 1, mean, variance, y, 1);
    assert_true(y[0] != 0 && y[4] != 0);
    z->pass.lost[1] = 1;
    sk_tangent_row(z, 1, mean, variance, y, 1);
    assert_int_equal(sk_tangent_run(ctx, z, 0, 1, dv, NULL, rows, 1), SOCK_OK);
    for (size_t k = 0; k < 5; k++) assert_true(y[k] == 0 && rows[5 + k] == 0);
    assert_true(rows[2] > 0 && rows[0] == 0);       /* the first start is known: no mean moves */
    assert_true(rows[10] == 0 && rows[10 + 2] > 0); /* after a lost law it begins anew */
    sk_frozen_free(z);
    example_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filtertangent__has_the_slopes_of_the_likelihood),
        cmocka_unit_test(test_filtertangent__has_no_row_where_the_law_is_lost),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
