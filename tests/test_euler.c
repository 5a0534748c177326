/* test_euler.c - the scheme step by step: a slow simulation of one path after the other, with correlated noise, bounds
 * and lost paths; how many inner steps there are; interrupts. */
#include "onecontext.h"
#include "simulate/simulate.h"
#include "truths.h"

static void test_euler__inner_steps_are_the_fewest_that_are_short_enough(void **state)
{
    (void)state;
    assert_int_equal(sk_inner_steps(0.01, 0.001), 10); /* the quotient is above 10 by rounding, or below */
    assert_int_equal(sk_inner_steps(0.3, 0.1), 3);
    assert_int_equal(sk_inner_steps(1, 0.4), 3);
    assert_int_equal(sk_inner_steps(1, 0.5), 2);
    assert_int_equal(sk_inner_steps(1, 1), 1);
    assert_int_equal(sk_inner_steps(1, 3), 1);
    assert_int_equal(sk_inner_steps(5e-324, 1e10), 1);
    assert_int_equal(sk_inner_steps(10 + 1e-10, 1), 11); /* more than rounding */
    assert_int_equal(sk_inner_steps(10 + 1e-12, 1), 10);
}

/* ---- A slow simulation ---- */

enum { D = 2, STARTS = 3, PATHS = 60, TIMES = 4, ALL = STARTS * PATHS };
static const double slow_t[TIMES] = {2, 2.5, 4, 4.3}, x0[STARTS * D] = {0.1, -0.2, 0.6, 0.3, -0.4, 0.5};
static const double step = 0.01;

/* Beyond 1.2 in its first state there is no drift, and a path is lost. */
static void fenced_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        f[d * i] = x[d * i] > 1.2 ? (double)INFINITY : 0.3 - x[d * i];
        f[d * i + 1] = -x[d * i] * x[d * i + 1];
    }
}

static void slanted_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count; i++, a += d * d) {
        a[0] = 0.5 + 0.1 * x[d * i + 1] * x[d * i + 1];
        a[1] = a[2] = 0.2 * x[d * i];
        a[3] = 0.8;
    }
}

/* Path p of start s: y (TIMES x D), and when it was lost. The factor of a is written out. */
static double slow_path(size_t s, size_t p, const sock_simulation *spec, double *y)
{
    double x[D], f[D], a[D * D], z[D], lost = INFINITY;
    size_t done = 0;
    memcpy(x, x0 + s * D, sizeof x);
    memcpy(y, x, sizeof x);
    for (size_t i = 1; i < TIMES; i++) {
        const double gap = slow_t[i] - slow_t[i - 1];
        const size_t steps = (size_t)lround(gap / step);
        for (size_t k = 0; k < steps && isinf(lost); k++, done++) {
            const double h = gap / (double)steps;
            fenced_drift(NULL, 1, D, x, f);
            slanted_diffusion(NULL, 1, D, x, a);
            sk_normals((sk_key){spec->seed, SK_PURPOSE_SIMULATE}, spec->first_start + s, p, done * D, D, z);
            x[0] += h * f[0] + sqrt(h) * sqrt(a[0]) * z[0];
            x[1] += h * f[1] + sqrt(h) * (a[1] / sqrt(a[0]) * z[0] + sqrt(a[3] - a[1] * a[1] / a[0]) * z[1]);
            for (size_t l = 0; l < D && spec->bounds == SOCK_BOUNDS_CLIP; l++)
                if (isfinite(x[0])) x[l] = fmin(fmax(x[l], spec->lower[l]), spec->upper[l]);
            if (!isfinite(x[0])) lost = slow_t[i - 1] + gap * (double)(k + 1) / (double)steps;
        }
        for (size_t l = 0; l < D; l++) y[i * D + l] = isinf(lost) ? x[l] : (double)NAN;
    }
    return lost;
}

/* 180 paths are a block of 128 and another one; 230 steps are several loads of noise. */
static void prop_euler__paths_are_those_of_the_slow_simulation(void **state)
{
    (void)state;
    static double out[ALL * TIMES * D], lost_at[ALL], y[TIMES * D];
    const double lower[D] = {-0.5, -0.7}, upper[D] = {0.8, 9};
    sock_model *model = wrap_fields(ctx, D, fenced_drift, slanted_diffusion, NULL);
    for (int bounded = 0; bounded < 2; bounded++) {
        sock_simulation spec = {.starts = STARTS,
                                .x0 = x0,
                                .paths = PATHS,
                                .times = TIMES,
                                .t = slow_t,
                                .step = step,
                                .seed = 31,
                                .first_start = 5,
                                .bounds = bounded ? SOCK_BOUNDS_CLIP : SOCK_BOUNDS_NONE,
                                .lower = lower,
                                .upper = upper};
        sock_simulation_report report;
        size_t lost = 0;
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
            assert_true(sock_simulate(ctx, model, &spec, out, lost_at, &report) == (bounded ? SOCK_OK : SOCK_PARTIAL));
        }
        for (size_t i = 0; i < ALL; i++) {
            const double gone = slow_path(i / PATHS, i % PATHS, &spec, y);
            lost += isfinite(gone);
            assert_true(isfinite(gone) == isfinite(lost_at[i]));
            if (isfinite(gone)) assert_close(lost_at[i], gone, 1e-14, 0);
            for (size_t k = 0; k < TIMES * D; k++) {
                assert_true(isnan(y[k]) == isnan(out[i * TIMES * D + k]));
                if (!isnan(y[k])) assert_close(out[i * TIMES * D + k], y[k], 1e-11, 1);
            }
        }
        assert_true(bounded ? lost == 0 : lost > 20 && lost < ALL - 20);
        assert_true(report.lost == lost && report.paths == ALL && report.steps == 230 && report.step == step);
    }
    sock_model_free(model);
}

/* Three states without noise between them, a variance of 0 among them: x' = x + h f + sqrt(h a) z in each. */
static void apart_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) ? 0 : (double)(i % (d * d)) / 4;
}

static void falling_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i] * (double)(i % d + 1);
}

static void prop_euler__states_apart_are_simulated_apart(void **state)
{
    (void)state;
    enum { STATES = 3, STEPS = 70 };
    const double start[STATES] = {1, -2, 0.5}, t[2] = {0, 0.7};
    double out[2 * 2 * STATES], z[STATES];
    sock_model *model = wrap_fields(ctx, STATES, falling_drift, apart_diffusion, NULL);
    sock_simulation spec = {.starts = 1, .x0 = start, .paths = 2, .times = 2, .t = t, .step = 0.01, .seed = 3};
    assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_OK);
    for (size_t p = 0; p < 2; p++) {
        double x[STATES];
        memcpy(x, start, sizeof x);
        for (size_t n = 0; n < STEPS; n++) {
            sk_normals((sk_key){3, SK_PURPOSE_SIMULATE}, 0, p, n * STATES, STATES, z);
            for (size_t k = 0; k < STATES; k++)
                x[k] += -0.01 * x[k] * (double)(k + 1) + sqrt(0.01) * sqrt((double)k) * z[k];
        }
        assert_all_close(STATES, out + (2 * p + 1) * STATES, x, 1e-12);
    }
    sock_model_free(model);
}

/* ---- Interrupts ---- */

typedef struct impatient {
    size_t calls, patience;
} impatient;

static void interrupting_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    impatient *i = user;
    (void)x;
    memset(f, 0, count * d * sizeof *f);
    if (++i->calls == i->patience) sock_cancel(ctx);
}

/* In the only gap of the last block: the simulation stops within it, and nothing half done is called good. */
static void test_euler__an_interrupt_is_seen_within_a_gap(void **state)
{
    (void)state;
    const double t[2] = {0, 1e6}, start = 0;
    double out[2];
    impatient user = {.patience = 10};
    sock_model *model = wrap_fields(ctx, 1, interrupting_drift, NULL, &user);
    sock_simulation spec = {.starts = 1, .x0 = &start, .paths = 1, .times = 2, .t = t, .step = 1};
    assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_ECANCELLED);
    assert_true(user.calls >= 10 && user.calls < 5000);
    sock_cancel_reset(ctx);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_euler__inner_steps_are_the_fewest_that_are_short_enough),
        cmocka_unit_test(prop_euler__paths_are_those_of_the_slow_simulation),
        cmocka_unit_test(prop_euler__states_apart_are_simulated_apart),
        cmocka_unit_test(test_euler__an_interrupt_is_seen_within_a_gap),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
