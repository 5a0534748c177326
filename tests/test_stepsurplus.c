/* test_stepsurplus.c - what the rule of a fit makes of long steps, against the exact moments of linear models. */
#include "onecontext.h"
#include "tune/stepsurplus.h"

#include <math.h>

enum { N = 5 };

/* dx = A x dt + L dW with A = (-1 w; -w -1): a turn and a decay, whose moments are known; c = L L' = diag(1, 2). */
static const double TURN = 0.8;

static void turning(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += 2, f += 2) {
        f[0] = -x[0] + TURN * x[1];
        f[1] = -TURN * x[0] - x[1];
    }
}

static void two_sizes(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d, (void)x;
    for (size_t i = 0; i < count; i++, a += 4) {
        a[0] = 1, a[3] = 2;
        a[1] = a[2] = 0;
    }
}

/* exp(A h) x, and the integral of exp(A s) c exp(A' s): c = 3/2 + a part that turns twice as fast. */
static void moments(const double *x, double h, double mean[2], double cov[4])
{
    const double e = exp(-h), c = cos(TURN * h), s = sin(TURN * h);
    mean[0] = e * (c * x[0] + s * x[1]);
    mean[1] = e * (c * x[1] - s * x[0]);
    /* integrals of exp(-2 s) cos(2 w s) and of the sine */
    const double w = 2 * TURN, k = 4 + w * w, decay = exp(-2 * h);
    const double even = (2 + decay * (w * sin(w * h) - 2 * cos(w * h))) / k;
    const double odd = (w - decay * (w * cos(w * h) + 2 * sin(w * h))) / k;
    const double all = 1.5 * (1 - decay) / 2;
    cov[0] = all - 0.5 * even;
    cov[3] = all + 0.5 * even;
    cov[1] = cov[2] = 0.5 * odd;
}

/* I f and I a of the left rule, and steps of several lengths. */
typedef struct steps {
    double y[2 * N], h[N], f[2 * N], a[4 * N], left[4 * N];
} steps;

static void make_steps(steps *s)
{
    for (size_t i = 0; i < N; i++) {
        s->h[i] = 0.05 * (double)(i + 1);
        s->y[2 * i] = 3 - 1.5 * (double)i; /* far enough apart that no law reaches the end of their box */
        s->y[2 * i + 1] = 1.5 * (double)i - 2;
    }
    turning(NULL, N, 2, s->y, s->f);
    two_sizes(NULL, N, 2, s->y, s->a);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < 2; k++) s->f[2 * i + k] *= s->h[i];
        for (size_t k = 0; k < 4; k++) s->a[4 * i + k] *= s->h[i];
        /* F = exp(A h / 2) */
        const double e = exp(-s->h[i] / 2), c = e * cos(TURN * s->h[i] / 2), t = e * sin(TURN * s->h[i] / 2);
        s->left[4 * i] = s->left[4 * i + 3] = c;
        s->left[4 * i + 1] = t;
        s->left[4 * i + 2] = -t;
    }
}

static void test_stepsurplus__of_the_left_rule_is_what_the_moments_say(void **state)
{
    (void)state;
    steps s;
    double out[4 * N];
    sock_model *model = NULL;
    make_steps(&s);
    assert_int_equal(sock_model_wrap(ctx, 2, NULL, turning, two_sizes, NULL, &model), SOCK_OK);
    const sk_surplus_rows rows = {N, 2, s.y, s.h, s.f, s.a, NULL, NULL};
    assert_int_equal(sk_step_surplus(ctx, model, &rows, out), SOCK_OK);
    for (size_t i = 0; i < N; i++) {
        double mean[2], cov[4];
        moments(s.y + 2 * i, s.h[i], mean, cov);
        for (size_t k = 0; k < 2; k++) mean[k] -= s.y[2 * i + k] + s.f[2 * i + k];
        for (size_t k = 0; k < 4; k++)
            assert_close(out[4 * i + k], cov[k] + mean[k / 2] * mean[k % 2] - s.a[4 * i + k], 4e-3, s.h[i]);
        assert_true(fabs(cov[0] - s.a[4 * i]) > 0.03 * s.h[i]); /* a decay makes steps smaller */
    }
    sock_model_free(model);
}

/* With rows corrected by F, a law that it describes has no surplus: here F F' h c is what the middle of the step has.
 */
static void test_stepsurplus__is_that_of_corrected_rows(void **state)
{
    (void)state;
    steps s;
    double out[4 * N];
    sock_model *model = NULL;
    make_steps(&s);
    assert_int_equal(sock_model_wrap(ctx, 2, NULL, turning, two_sizes, NULL, &model), SOCK_OK);
    const sk_surplus_rows rows = {N, 2, s.y, s.h, s.f, s.a, s.left, NULL};
    assert_int_equal(sk_step_surplus(ctx, model, &rows, out), SOCK_OK);
    for (size_t i = 0; i < N; i++) {
        double mean[2], cov[4], back[4];
        const double *f = s.left + 4 * i;
        moments(s.y + 2 * i, s.h[i], mean, cov);
        for (size_t k = 0; k < 2; k++) mean[k] -= s.y[2 * i + k] + s.f[2 * i + k];
        for (size_t k = 0; k < 4; k++) /* F (surplus + I a) F' is the moment */
            back[k] = out[4 * i + k] + s.a[4 * i + k];
        for (size_t k = 0; k < 4; k++) {
            double sum = 0;
            for (size_t p = 0; p < 4; p++) sum += f[k / 2 * 2 + p / 2] * back[p] * f[k % 2 * 2 + p % 2];
            assert_close(sum, cov[k] + mean[k / 2] * mean[k % 2], 4e-3, s.h[i]);
        }
    }
    sock_model_free(model);
}

/* A force back that turns into one outwards beyond sqrt(5): a kernel's guess where there are no data. */
static void runaway(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = 0.2 * x[i] * x[i] * x[i] - x[i];
}

static void one(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d; i++) a[i] = 1;
}

/* The step from 2.5 runs away, to a surplus of some thousand a; no step is off by more than four, and the others are
 * what they are without it. */
static void test_stepsurplus__a_step_that_runs_away_is_not_all(void **state)
{
    (void)state;
    const double y[] = {0, 0.5, 2.5}, h[] = {1, 1, 1}, a[] = {1, 1, 1};
    double f[3], out[3];
    sock_model *model = NULL;
    runaway(NULL, 3, 1, y, f);
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, runaway, one, NULL, &model), SOCK_OK);
    assert_int_equal(sk_step_surplus(ctx, model, &(sk_surplus_rows){3, 1, y, h, f, a, NULL, NULL}, out), SOCK_OK);
    assert_close(fabs(out[2]), 4, 1e-12, 0);
    for (size_t i = 0; i < 2; i++) assert_true(fabs(out[i]) < 1);
    sock_model_free(model);
}

static sock_status surplus_once(sock_context *own, void *arg)
{
    const sk_surplus_rows rows = *(const sk_surplus_rows *)arg;
    double out[4 * N];
    sock_model *model = NULL;
    sock_status status = sock_model_wrap(own, 2, NULL, turning, two_sizes, NULL, &model);
    if (status >= 0) status = sk_step_surplus(own, model, &rows, out);
    sock_model_free(model);
    return status;
}

static void test_stepsurplus__survives_every_failed_allocation(void **state)
{
    (void)state;
    steps s;
    make_steps(&s);
    sk_surplus_rows rows = {N, 2, s.y, s.h, s.f, s.a, s.left, NULL};
    sock_set_threads(ctx, 1);
    assert_true(for_each_allocation(ctx, surplus_once, &rows) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stepsurplus__of_the_left_rule_is_what_the_moments_say),
        cmocka_unit_test(test_stepsurplus__is_that_of_corrected_rows),
        cmocka_unit_test(test_stepsurplus__a_step_that_runs_away_is_not_all),
        cmocka_unit_test(test_stepsurplus__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
