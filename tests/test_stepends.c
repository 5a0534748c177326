/* test_stepends.c - moments of simulated steps against exact ones, and against what a Gaussian misses. */
#include "noise/stepends.h"
#include "onecontext.h"

#include <math.h>

enum { N = 40, PATHS = 500 };

static const double LOW = -10, HIGH = 10;

static void pull(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void well(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] - x[i] * x[i] * x[i];
}

static void constant(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count * d; i++) a[i] = *(const double *)user;
}

typedef struct law {
    double m[N], p[N], h[N], mean[N], cov[N];
} law;

static void run(sock_field_fn f, double a, bool spread, law *l)
{
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, f, constant, &a, &model), SOCK_OK);
    const sk_step_starts s = {N, PATHS, 32, l->m, spread ? l->p : NULL, l->h, &LOW, &HIGH};
    assert_int_equal(sk_step_ends(ctx, model, &s, l->mean, l->cov), SOCK_OK);
    sock_model_free(model);
}

/* Of an Ornstein-Uhlenbeck process mean and variance are known, from a point and from a law, for steps of two lengths.
 */
static void test_stepends__of_a_linear_pull(void **state)
{
    (void)state;
    for (int spread = 0; spread < 2; spread++) {
        law l;
        double chi = 0, ratio = 0;
        for (size_t i = 0; i < N; i++) {
            l.m[i] = 2 - 0.1 * (double)i;
            l.p[i] = 0.3;
            l.h[i] = i % 2 ? 1 : 0.5;
        }
        run(pull, 0.8, spread, &l);
        for (size_t i = 0; i < N; i++) {
            const double e = exp(-l.h[i]), var = 0.4 * (1 - e * e) + (spread ? 0.3 * e * e : 0);
            chi += pow(l.mean[i] - e * l.m[i], 2) * PATHS / var / N;
            ratio += l.cov[i] / var / N;
        }
        assert_close(chi, 1, 4 * sqrt(2.0 / N), 0);             /* means are within their errors */
        assert_close(ratio, 1, 4 * sqrt(2.0 / (N * PATHS)), 0); /* 0.04 */
    }
}

/* Density of the double well's ends by steps of a fine grid: its variance. */
static double variance_on_a_grid(double start, double h, double a)
{
    enum { CELLS = 400, TIMES = 4000 };
    static double now[CELLS], next[CELLS];
    const double width = 6.0 / CELLS, dt = h / TIMES;
    double mean = 0, square = 0, mass = 0;
    for (size_t i = 0; i < CELLS; i++) now[i] = 0;
    now[(size_t)((start + 3) / width)] = 1;
    for (size_t k = 0; k < TIMES; k++) {
        for (size_t i = 0; i < CELLS; i++) next[i] = 0;
        for (size_t i = 1; i + 1 < CELLS; i++) { /* a walk with the drift and the variance of dt */
            const double x = -3 + ((double)i + 0.5) * width, f = x - x * x * x;
            const double jump = a * dt / (2 * width * width), push = f * dt / (2 * width);
            next[i + 1] += now[i] * (jump + push);
            next[i - 1] += now[i] * (jump - push);
            next[i] += now[i] * (1 - 2 * jump);
        }
        for (size_t i = 0; i < CELLS; i++) now[i] = next[i];
    }
    for (size_t i = 0; i < CELLS; i++) {
        const double x = -3 + ((double)i + 0.5) * width;
        mass += now[i];
        mean += now[i] * x;
        square += now[i] * x * x;
    }
    mean /= mass;
    return square / mass - mean * mean;
}

/* From x = 1 over h = 0.5 the ends of a double well vary a tenth more than the Gaussian that flows from there. */
static void test_stepends__of_a_double_well(void **state)
{
    (void)state;
    const double exact = variance_on_a_grid(1.0075, 0.5, 0.25);
    law l;
    double ratio = 0;
    for (size_t i = 0; i < N; i++) {
        l.m[i] = 1.0075;
        l.h[i] = 0.5;
    }
    run(well, 0.25, false, &l);
    for (size_t i = 0; i < N; i++) ratio += l.cov[i] / exact / N;
    assert_close(ratio, 1, 0.045, 0);
}

/* A path beyond the box is driven as at its wall. */
static void test_stepends__beyond_the_box_are_driven_as_at_its_wall(void **state)
{
    (void)state;
    law l;
    for (size_t i = 0; i < N; i++) {
        l.m[i] = 50;
        l.h[i] = 0.01;
    }
    run(well, 0.25, false, &l);
    for (size_t i = 0; i < N; i++) assert_close(l.mean[i], 50 + 0.01 * (10 - 1000), 1e-2, 0);
}

static sock_status ends_once(sock_context *own, void *arg)
{
    double a = 1, m[2] = {0, 1}, h[2] = {1, 1}, mean[2], cov[2];
    const sk_step_starts s = {2, 3, 2, m, NULL, h, &LOW, &HIGH};
    sock_model *model = NULL;
    (void)arg;
    sock_status status = sock_model_wrap(own, 1, NULL, pull, constant, &a, &model);
    if (status >= 0) status = sk_step_ends(own, model, &s, mean, cov);
    sock_model_free(model);
    return status;
}

static void test_stepends__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    assert_true(for_each_allocation(ctx, ends_once, NULL) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stepends__of_a_linear_pull),
        cmocka_unit_test(test_stepends__of_a_double_well),
        cmocka_unit_test(test_stepends__beyond_the_box_are_driven_as_at_its_wall),
        cmocka_unit_test(test_stepends__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
