/* test_steplik.c - the log density of one step, and the sum over all of them: written out by hand, and what is called
 * singular or broken. */
#include "onecontext.h"
#include "score/steplik.h"

#include <float.h>

static sk_fate density(size_t d, double delta, const double *s, const double *u, double *out)
{
    double matrix[9], vector[3];
    memcpy(matrix, s, d * d * sizeof *s);
    memcpy(vector, u, d * sizeof *u);
    return sk_gauss_density(d, delta, matrix, vector, out);
}

/* Three dimensions, by the cofactors; delta goes on the diagonal. */
static void prop_steplik__density_is_that_of_the_cofactors(void **state)
{
    (void)state;
    const double s[9] = {1.3, 0.4, -0.3, 0.4, 0.9, 0.2, -0.3, 0.2, 0.7}, u[3] = {0.5, -1.1, 0.8};
    for (int step = 0; step < 3; step++) {
        const double delta = 0.25 * step;
        double a[9], form = 0, det, out = 0;
        for (size_t i = 0; i < 9; i++) a[i] = s[i] + (i % 4 ? 0 : delta);
        const double c[9] = {a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6],
                             a[2] * a[7] - a[1] * a[8], a[0] * a[8] - a[2] * a[6], a[1] * a[6] - a[0] * a[7],
                             a[1] * a[5] - a[2] * a[4], a[2] * a[3] - a[0] * a[5], a[0] * a[4] - a[1] * a[3]};
        det = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
        for (size_t i = 0; i < 9; i++) form += u[i / 3] * c[i] * u[i % 3] / det;
        assert_int_equal(density(3, delta, s, u, &out), SK_FATE_GOOD);
        assert_close(out, -1.5 * log(2 * acos(-1)) - 0.5 * log(det) - 0.5 * form, 1e-14, 1);
    }
}

/* A last pivot of k units of rounding is nothing up to k = 4 in two dimensions and 8 in three. In one dimension there
 * is no rounding: any variance above 0 is one. */
static void test_steplik__pivots_that_are_rounding_are_singular(void **state)
{
    (void)state;
    const double u[3] = {0, 0, 0}, tiny = DBL_MIN, zero = 0, negative = -1;
    double out;
    for (int k = 3; k <= 10; k++) {
        const double last = 1 + k * DBL_EPSILON, two[4] = {1, 1, 1, last}, three[9] = {1, 0, 0, 0, 1, 1, 0, 1, last};
        assert_int_equal(density(2, 0, two, u, &out), k <= 4 ? SK_FATE_SINGULAR : SK_FATE_GOOD);
        assert_int_equal(density(3, 0, three, u, &out), k <= 8 ? SK_FATE_SINGULAR : SK_FATE_GOOD);
    }
    assert_int_equal(density(1, 0, &tiny, u, &out), SK_FATE_GOOD);
    assert_close(out, -0.5 * log(2 * acos(-1) * DBL_MIN), 1e-14, 1);
    assert_int_equal(density(1, 0, &zero, u, &out), SK_FATE_SINGULAR);
    assert_int_equal(density(1, 0, &negative, u, &out), SK_FATE_SINGULAR);
    assert_int_equal(density(1, 2, &negative, u, &out), SK_FATE_GOOD);
    assert_close(out, -0.5 * log(2 * acos(-1)), 1e-14, 1);
}

/* Any entry on or below the diagonal that is not finite, and any residual, breaks it; the upper triangle is not read.
 */
static void test_steplik__what_is_not_finite_is_broken(void **state)
{
    (void)state;
    const double bad[2] = {NAN, INFINITY};
    for (size_t b = 0; b < 2; b++) {
        double out;
        for (size_t i = 0; i < 9; i++) {
            double s[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[3] = {0, 0, 0};
            s[i] = bad[b];
            assert_int_equal(density(3, 0, s, u, &out), i % 3 > i / 3 ? SK_FATE_GOOD : SK_FATE_BROKEN);
        }
        for (size_t i = 0; i < 3; i++) {
            double s[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[3] = {0, 0, 0};
            u[i] = bad[b];
            assert_int_equal(density(3, 0, s, u, &out), SK_FATE_BROKEN);
        }
    }
}

/* ---- The sum ---- */

/* Interval i gets fate i % 4 and the term 2^i. */
static sock_status by_number(void *arg, size_t begin, size_t end, int worker)
{
    const sk_step_job *job = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        job->fate[i] = (unsigned char)(i % 4);
        job->term[i] = ldexp(1, (int)i);
    }
    return SOCK_OK;
}

/* Lengths 3, 1, 2, 5, 1: 2 + 0 + 1 + 4 + 0 intervals, of which 0 and 4 have a density. */
static void test_steplik__fates_are_counted_and_good_terms_added(void **state)
{
    (void)state;
    const size_t length[5] = {3, 1, 2, 5, 1};
    const double x[12] = {0}, t[12] = {0, 1, 2, 0, 0, 1, 0, 1, 2, 3, 4, 0};
    double keep[8] = {[7] = 5};
    sock_data *data = NULL;
    sk_loglik l;
    assert_true(sock_data_from_arrays(ctx, 1, 5, length, t, x, NULL, NULL, NULL, &data) >= 0);
    sk_step_job job = {.ctx = ctx, .data = data, .space_each = 1, .keep = keep};
    assert_int_equal(sk_step_likelihood(&job, 2, by_number, &l), SOCK_OK);
    assert_true(keep[7] == 5); /* and not one more */
    assert_true(l.intervals == 7 && l.singular == 2 && l.broken == 2 && l.unsettled == 1 && l.value == 1 + 16);
    for (size_t i = 0; i < 7; i++) assert_true(keep[i] == (i % 4 ? -(double)INFINITY : ldexp(1, (int)i)));
    sock_data_free(data);
}

static sock_status note_starts(void *arg, size_t begin, size_t end, int worker)
{
    const sk_step_job *job = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) job->term[i] = (double)job->start[i];
    return SOCK_OK;
}

static void test_steplik__intervals_begin_at_every_point_but_the_last_ones(void **state)
{
    (void)state;
    const size_t length[5] = {3, 1, 2, 5, 1};
    const double x[12] = {0}, t[12] = {0, 1, 2, 0, 0, 1, 0, 1, 2, 3, 4, 0}, expected[7] = {0, 1, 4, 6, 7, 8, 9};
    double keep[7];
    sock_data *data = NULL;
    sk_loglik l;
    assert_true(sock_data_from_arrays(ctx, 1, 5, length, t, x, NULL, NULL, NULL, &data) >= 0);
    sk_step_job job = {.ctx = ctx, .data = data, .space_each = 1, .keep = keep};
    assert_int_equal(sk_step_likelihood(&job, 2, note_starts, &l), SOCK_OK);
    assert_memory_equal(keep, expected, sizeof keep);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_steplik__density_is_that_of_the_cofactors),
        cmocka_unit_test(test_steplik__pivots_that_are_rounding_are_singular),
        cmocka_unit_test(test_steplik__what_is_not_finite_is_broken),
        cmocka_unit_test(test_steplik__fates_are_counted_and_good_terms_added),
        cmocka_unit_test(test_steplik__intervals_begin_at_every_point_but_the_last_ones),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
