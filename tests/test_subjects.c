/* test_subjects.c - what a trajectory was so far: columns by sums over its past, and what they gain by least squares,
 * with and without them, whose residuals are found by elimination. */
#include "onecontext.h"
#include "score/score.h"

enum { PIECES = 12, LENGTH = 25, ROWS = PIECES * LENGTH, MOST = 9 };

static const sk_key key = {23, SK_PURPOSE_TEST};
static double v[2 * ROWS], x[2 * ROWS], weight[2 * ROWS];
static size_t piece[ROWS];

/* x goes towards a place of the piece, one of five `own` apart, by three tenths a step, and v is what a model with f =
 * 0 leaves: the steps. Places far apart would be told by x itself. */
static void make(size_t d, size_t stream, double own)
{
    sk_normals(key, stream, 0, 0, ROWS * d, v);
    for (size_t i = 0; i < ROWS * d; i++) weight[i] = 1 + 0.1 * (double)(i % 4);
    for (size_t i = 0; i < ROWS; i++) {
        piece[i] = 3 * (i / LENGTH) + 1;
        for (size_t k = 0; k < d; k++) {
            const double to = own * ((double)(i / LENGTH % 5) - 2), before = i % LENGTH ? x[(i - 1) * d + k] : to;
            x[i * d + k] = i % LENGTH ? before + v[(i - 1) * d + k] : to;
            v[i * d + k] += 0.3 * (to - x[i * d + k]);
        }
    }
}

static void past_of(size_t i, size_t d, size_t k, double out[2])
{
    double states = 0, points = 0, scores = 0, count = 0;
    for (size_t j = 0; j <= i; j++) {
        if (piece[j] != piece[i]) continue;
        states += x[j * d + k], points++;
        if (j < i && !isnan(v[j * d + k])) scores += v[j * d + k], count++;
    }
    out[0] = (states / points - x[i * d + k]) * (1 + 0.1 * (double)((i * d + k) % 4));
    out[1] = scores / (10 + count);
}

/* A score that is missing counts for nobody, and its state does. */
static void test_subjects__columns_are_means_of_the_past(void **state)
{
    (void)state;
    double out[2 * ROWS];
    make(2, 1, 3);
    v[2 * 30 + 1] = NAN;
    const sk_subjects s = {ROWS, 2, 2, v + 1, x + 1, weight + 1, piece};
    sk_subject_columns(&s, out);
    for (size_t i = 0; i < ROWS; i++) {
        double want[2];
        past_of(i, 2, 1, want);
        assert_close(out[2 * i], want[0], 1e-12, 1);
        assert_close(out[2 * i + 1], want[1], 1e-12, 1);
        if (i % LENGTH == 0) assert_true(out[2 * i] == 0 && out[2 * i + 1] == 0);
    }
}

/* The residual square of y beside `columns` columns: normal equations, by elimination. */
static double residual(size_t columns, double (*column)[MOST], const double *y)
{
    double a[MOST][MOST + 1] = {{0}}, sum = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < columns; j++) {
            for (size_t k = 0; k < columns; k++) a[j][k] += column[i][j] * column[i][k];
            a[j][columns] += column[i][j] * y[i];
        }
    for (size_t j = 0; j < columns; j++)
        for (size_t k = 0; k < columns; k++) {
            const double factor = k == j ? 0 : a[k][j] / a[j][j];
            for (size_t l = 0; l <= columns; l++) a[k][l] -= factor * a[j][l];
        }
    for (size_t i = 0; i < ROWS; i++) {
        double left = y[i];
        for (size_t j = 0; j < columns; j++) left -= a[j][columns] / a[j][j] * column[i][j];
        sum += left * left;
    }
    return sum;
}

/* Half of what the residual square falls by, less one for each column. */
static void prop_subjects__the_gain_is_that_of_least_squares(void **state)
{
    (void)state;
    static double column[ROWS][MOST];
    double y[ROWS], gain;
    for (size_t d = 1; d <= 2; d++) {
        double want = 0;
        make(d, 2 + d, 1.5);
        for (size_t k = 0; k < d; k++) {
            for (size_t i = 0; i < ROWS; i++) {
                column[i][0] = 1;
                for (size_t j = 0; j < 3 * d; j++) column[i][1 + j] = pow(x[i * d + j / 3] / 3, (double)(j % 3 + 1));
                past_of(i, d, k, column[i] + 1 + 3 * d);
                y[i] = v[i * d + k];
            }
            want += (residual(1 + 3 * d, column, y) - residual(3 + 3 * d, column, y)) / 2 - 2;
        }
        assert_int_equal(sk_subject_gain(ctx, ROWS, d, v, x, weight, piece, &gain), SOCK_OK);
        assert_close(gain, want, 1e-8, 1);
        assert_true(gain > 3);
    }
}

/* Of chance twice the gain and two is chi-square with two degrees of freedom: the mean of the gain is -1, its standard
 * deviation 1. */
static void prop_subjects__chance_gains_nothing(void **state)
{
    (void)state;
    double sum = 0, gain;
    for (size_t j = 0; j < 100; j++) {
        make(1, 10 + j, 0);
        for (size_t i = 0; i < ROWS; i++) v[i] += 0.3 * x[i];
        assert_int_equal(sk_subject_gain(ctx, ROWS, 1, v, x, weight, piece, &gain), SOCK_OK);
        sum += gain / 100;
    }
    assert_close(sum, -1, 0.4, 0);
}

static sock_status gain_once(sock_context *c, void *arg)
{
    (void)arg;
    double gain;
    return sk_subject_gain(c, ROWS, 1, v, x, weight, piece, &gain);
}

static void test_subjects__every_allocation_may_fail(void **state)
{
    (void)state;
    make(1, 5, 1);
    assert_true(for_each_allocation(ctx, gain_once, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subjects__columns_are_means_of_the_past),
        cmocka_unit_test(prop_subjects__the_gain_is_that_of_least_squares),
        cmocka_unit_test(prop_subjects__chance_gains_nothing),
        cmocka_unit_test(test_subjects__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
