/* test_residuals.c - what a drift leaves of the rows of a view, against slow loops. (The products of residuals that the
 * plain estimators take are in test_occupation.c.) */
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static void test_residuals__are_target_minus_integral(void **state)
{
    (void)state;
    enum { SETS = 2 };
    case_bench b = case_bench_new(ctx, 3, false, true);
    for (size_t block = 0; block < b.rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b.views, block);
        const size_t begin = v->n / 3, end = v->n - 1, size = (end - begin) * SETS * 3;
        double *integral = sk_doubles(ctx, size, 1), *e = sk_doubles(ctx, size, 1);
        sk_normals((sk_key){3, SK_PURPOSE_TEST}, block, 0, 0, size, integral);
        memcpy(e, integral, size * sizeof *e);
        sk_residuals(v, begin, end, SETS, e);
        for (size_t i = 0; i < size; i++) {
            const size_t at = (begin + i / 3 / SETS) * 3 + i % 3;
            assert_true(e[i] == v->next[at] - v->y[at] - integral[i]);
        }
        sk_free(integral), sk_free(e);
        sk_views_give(b.views, v);
    }
    case_bench_clear(&b);
}

/* F z = e, for the residuals of several drifts. */
static void test_residuals__corrected_ones_are_those_before_the_left_factor(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        case_bench b = case_bench_new(ctx, d, false, false);
        enum { SETS = 4 };
        const size_t n = b.v->n, size = n * d;
        double *e = sk_doubles(ctx, SETS, size), *z = sk_doubles(ctx, SETS, size), back[3];
        sk_normals((sk_key){4, SK_PURPOSE_TEST}, d, 0, 0, SETS * size, e);
        memcpy(z, e, SETS * size * sizeof *z);
        assert_int_equal(sk_residuals_correct(ctx, b.v, SETS, z), SOCK_OK);
        for (size_t i = 0; i < SETS * n; i++) {
            const double *f = b.v->left + i % n * d * d;
            memset(back, 0, sizeof back);
            for (size_t k = 0; k < d * d; k++) back[k / d] += f[k] * z[i * d + k % d];
            for (size_t k = 0; k < d; k++) assert_close(back[k], e[i * d + k], 1e-13, 1);
        }
        sk_free(e), sk_free(z);
        case_bench_clear(&b);
    }
}

/* A step that is too long for a first order keeps its residual; its neighbours are corrected. */
static void test_residuals__of_a_singular_left_factor_stay(void **state)
{
    (void)state;
    double left[] = {2, 0, 0, 4, 1, 1, 1, 1 + 9e-4, 1, 1, 1, 1 + 2e-3}, e[] = {1, 1, 3, 5, 1, 1 + 4e-3};
    const sk_view v = {.n = 3, .d = 2, .left = left};
    assert_int_equal(sk_residuals_correct(ctx, &v, 1, e), SOCK_OK);
    assert_true(e[0] == 0.5 && e[1] == 0.25);
    assert_true(e[2] == 3 && e[3] == 5);
    assert_close(e[4], -1, 1e-10, 1);
    assert_close(e[5], 2, 1e-10, 1);
}

static void test_residuals__eulers_use_one_value(void **state)
{
    (void)state;
    const double y[] = {1, -2, 0.5}, next[] = {1.5, -1, 0.25}, f[] = {2, 3, -4};
    double e[3];
    sk_residual_euler(3, 0.25, y, next, f, e);
    for (size_t k = 0; k < 3; k++) assert_true(e[k] == next[k] - (y[k] + 0.25 * f[k]));
}

static sock_status correct_once(sock_context *c, void *arg)
{
    double left[] = {2, 0, 0, 4}, e[] = {1, 1};
    (void)arg;
    return sk_residuals_correct(c, &(sk_view){.n = 1, .d = 2, .left = left}, 1, e);
}

static void test_residuals__survive_every_failed_allocation(void **state)
{
    (void)state;
    assert_int_equal(for_each_allocation(ctx, correct_once, NULL), 2);
}

/* (3 - 1 - 0.5 * 2) / sqrt(0.5 * 8) = 1 / 2; no noise, no number. e may take the place of next. */
static void test_residuals__of_one_step(void **state)
{
    (void)state;
    const double y = 1, f = 2;
    double next = 3;
    sk_residual_euler(1, 0.5, &y, &next, &f, &next);
    assert_true(next == 1);
    assert_true(sk_residual_standard(0.5, 8, next) == 0.5 && sk_residual_standard(0.5, 8, -next) == -0.5);
    assert_true(isnan(sk_residual_standard(0.5, 0, 1)) && isnan(sk_residual_standard(0.5, -1, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residuals__of_one_step),
        cmocka_unit_test(test_residuals__are_target_minus_integral),
        cmocka_unit_test(test_residuals__corrected_ones_are_those_before_the_left_factor),
        cmocka_unit_test(test_residuals__of_a_singular_left_factor_stay),
        cmocka_unit_test(test_residuals__eulers_use_one_value),
        cmocka_unit_test(test_residuals__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
