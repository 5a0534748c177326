/* test_explain.c - what an equation means, against closed forms, slow sums and simulation. */
#include "explain/explain.h"
#include "la/la.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"

#include <string.h>

#define THETA 0.7
#define OMEGA 1.3
#define NOISE 0.5 /* a */
#define PI 3.14159265358979323846

/* ---- Known equations ---- */

static void ou_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -THETA * x[i];
}

static void well_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] - x[i] * x[i] * x[i];
}

/* The same, not symmetric. */
static void tilted_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = 0.2 + x[i] - x[i] * x[i] * x[i];
}

static void even_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) ? 0 : NOISE;
}

/* Grows with the state. */
static void growing_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) a[i] = NOISE * (1 + 0.3 * x[i] + 0.2 * x[i] * x[i]);
}

static void rotating_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double omega = user ? *(double *)user : OMEGA;
    for (size_t i = 0; i < count; i++) {
        f[i * d] = -THETA * x[i * d] - omega * x[i * d + 1];
        f[i * d + 1] = -THETA * x[i * d + 1] + omega * x[i * d];
    }
}

/* dx = theta (mu - x) dt + s sqrt(x) dW has a gamma law of shape 2 theta mu / s^2. */
static void cir_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    for (size_t i = 0; i < count * d; i++) f[i] = THETA * (*(double *)user - x[i]);
}
static void cir_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) a[i] = NOISE * x[i];
}

static sk_explained explain(const sock_model *model, double low, double high)
{
    sk_explained e;
    double lower[4], upper[4];
    for (size_t k = 0; k < 4; k++) lower[k] = low, upper[k] = high;
    if (sk_explain(ctx, model, lower, upper, NULL, 0, &e) < 0) fail_msg("%s", sock_message(ctx));
    return e;
}

static const sk_told *law_of(const sk_explained *e) { return e->number + sk_explained_line(e); }

static char *call(const sock_model *model, const sock_data *data, const char *lower, const char *upper)
{
    sock_options *opts = sock_options_new(ctx);
    char *text = NULL;
    if (lower) assert_int_equal(sock_options_set(ctx, opts, "lower", lower), SOCK_OK);
    if (upper) assert_int_equal(sock_options_set(ctx, opts, "upper", upper), SOCK_OK);
    const sock_status status = sock_explain(ctx, model, data, NULL, opts, &text);
    sock_options_free(opts);
    return status < 0 ? NULL : text;
}

/* ---- Linear algebra ---- */

static void test_band__solves_as_a_dense_matrix_does(void **state)
{
    (void)state;
    enum { N = 9, WIDTH = 3 };
    double dense[N * N] = {0}, x[N], b[N] = {0};
    sk_band *band = NULL;
    assert_int_equal(sk_band_new(ctx, N, WIDTH, &band), SOCK_OK);
    for (size_t i = 0; i < N; i++) {
        x[i] = sin((double)i);
        for (size_t j = i > WIDTH ? i - WIDTH : 0; j < N && j <= i + WIDTH; j++)
            *sk_band_at(band, i, j) = dense[i * N + j] = cos((double)(3 * i + 7 * j * j));
    }
    for (size_t i = 0; i < N * N; i++) b[i / N] += dense[i] * x[i % N];
    assert_int_equal(sk_band_factor(ctx, band), SOCK_OK);
    sk_band_solve(band, b);
    for (size_t i = 0; i < N; i++) assert_close(b[i], x[i], 1e-11, 1);
    sk_band_free(band);
}

static void test_eigenvalues__of_a_rotation_are_a_pair(void **state)
{
    (void)state;
    double a[4] = {-1, -2, 2, -1}, re[2], im[2];
    assert_int_equal(sk_eigenvalues(ctx, 2, a, re, im), SOCK_OK);
    assert_close(re[0], -1, 1e-14, 0);
    assert_close(fabs(im[0]), 2, 1e-14, 0);
    assert_close(im[0] + im[1], 0, 1e-14, 1);
    a[0] = NAN;
    assert_int_equal(sk_eigenvalues(ctx, 2, a, re, im), SOCK_ENUMERIC);
}

/* ---- One dimension ---- */

static void test_line__ornstein_uhlenbeck_has_its_variance_and_relaxation_time(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, ou_drift, even_diffusion, NULL);
    const double sd = sqrt(NOISE / (2 * THETA));
    sk_explained e = explain(model, -8 * sd, 9 * sd);
    const sk_told *law = law_of(&e);
    assert_int_equal(e.fixed.count, 1);
    assert_close(e.number[0].value, 0, 1e-12, 1);
    assert_close(e.number[1].value, -THETA, 1e-9, 0);
    assert_close(e.number[3].value, 1 / THETA, 1e-9, 0);
    assert_close(law[SK_LINE_MEAN].value, 0, 1e-12, 1);
    assert_close(law[SK_LINE_SD].value * law[SK_LINE_SD].value, sd * sd, 1e-6, 0);
    assert_close(law[SK_LINE_RELAXATION].value, 1 / THETA, 1e-6, 0);
    assert_int_equal(e.wells, 1);
    assert_int_equal(e.draws, 0);
    const sk_told *phi = law + SK_LINE_TABLE, *p = phi + SK_EXPLAIN_TABLE;
    for (size_t i = 0; i < SK_EXPLAIN_TABLE; i++) {
        const double z = -8 + 17 * (double)i / (SK_EXPLAIN_TABLE - 1);
        assert_close(phi[i].value, 0.5 * z * z, 1e-9, 1);
        assert_close(p[i].value, exp(-0.5 * z * z) / (sd * sqrt(2 * PI)), 1e-8, 1e-30);
    }
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* Between narrow ends the slowest cosine of Brownian motion relaxes in 2 w^2 / (a pi^2), and the law is even. */
static void test_line__brownian_motion_between_mirrors(void **state)
{
    (void)state;
    double mean = 0;
    sock_model *model = wrap_fields(ctx, 1, ou_drift, even_diffusion, NULL);
    const double w = 1e-3; /* so narrow that the drift does nothing */
    sk_explained e = explain(model, -0.5 * w, 0.5 * w);
    const sk_told *law = law_of(&e);
    assert_close(law[SK_LINE_RELAXATION].value, 2 * w * w / (NOISE * PI * PI), 1e-6, 0);
    assert_close(law[SK_LINE_SD].value, w / sqrt(12), 1e-6, 0);
    for (size_t i = 0; i < 2; i++) mean += 0.5 * law[SK_LINE_ENDS + i].value;
    assert_close(mean, 1, 1e-5, 0);
    sk_explained_clear(&e);
    sock_model_free(model);
}

static void steady_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d; i++) f[i] = 1;
}

/* A steady drift against a mirror: 1 / (f^2 / 2a + a pi^2 / 2L^2), though the mode is e^(f x / a) times larger at the
 * other end, where there is no density. */
static void test_line__a_steady_drift_between_mirrors(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, steady_drift, even_diffusion, NULL);
    static const double nats[] = {10, 40, 150};
    for (size_t i = 0; i < 3; i++) {
        const double length = nats[i] * NOISE / 2;
        sk_explained e = explain(model, 0, length);
        assert_close(law_of(&e)[SK_LINE_RELAXATION].value,
                     1 / (1 / (2 * NOISE) + NOISE * PI * PI / (2 * length * length)), i < 2 ? 1e-6 : 2e-2, 0);
        sk_explained_clear(&e);
    }
    sock_model_free(model);
}

/* Phi by closed form, T by two nested sums of the midpoint rule. */
static double kramers_by_sums(double lower, double from, double to, size_t cells)
{
    const double h = (to - lower) / (double)cells, sign = to > lower ? 1 : -1;
    double inner = 0, time = 0;
    for (size_t i = 0; i < cells; i++) {
        const double x = lower + ((double)i + 0.5) * h, g = 2 / NOISE * (0.2 * x + x * x / 2 - x * x * x * x / 4);
        inner += 0.5 * exp(g) / NOISE * fabs(h);
        if ((x - from) * sign > 0) time += 2 * exp(-g) * inner * fabs(h);
        inner += 0.5 * exp(g) / NOISE * fabs(h);
    }
    return time;
}

static void test_line__escape_times_are_kramers_integrals(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, tilted_drift, even_diffusion, NULL);
    sk_explained e = explain(model, -2.5, 2.6);
    const sk_told *law = law_of(&e), *well = law + sk_line_wells();
    assert_int_equal(e.wells, 2);
    assert_int_equal(e.fixed.count, 3);
    for (size_t i = 0; i < 3; i++) { /* a is constant: the density turns where f is 0 */
        const double x = e.number[4 * i].value, turn = well[i == 1 ? 2 : i / 2].value;
        assert_close(0.2 + x - x * x * x, 0, 1e-12, 1);
        assert_close(turn, x, 1e-8, 1);
        assert_close(e.number[4 * i + 1].value, 1 - 3 * x * x, 1e-8, 1);
        assert_string_equal(sk_fixed_type(1, e.number + 4 * i + 1, e.number + 4 * i + 2),
                            i == 1 ? "unstable" : "stable");
    }
    const double left = well[0].value, right = well[1].value, top = well[2].value;
    const sk_told *up = law + sk_line_escape(2, 0, false), *down = law + sk_line_escape(2, 0, true);
    assert_close(up[SK_ESCAPE_TO_BARRIER].value, kramers_by_sums(-2.5, left, top, 400000), 1e-4, 0);
    assert_close(up[SK_ESCAPE_TO_WELL].value, kramers_by_sums(-2.5, left, right, 400000), 1e-4, 0);
    assert_close(down[SK_ESCAPE_TO_BARRIER].value, kramers_by_sums(2.6, right, top, 400000), 1e-4, 0);
    assert_close(down[SK_ESCAPE_TO_WELL].value, kramers_by_sums(2.6, right, left, 400000), 1e-4, 0);
    const double depth =
        -2 / NOISE * (0.2 * (top - left) + (top * top - left * left) / 2 - (pow(top, 4) - pow(left, 4)) / 4);
    assert_close(up[SK_ESCAPE_HEIGHT].value, depth, 1e-9, 0);
    sk_explained_clear(&e);
    sock_model_free(model);
}

static void given_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count * d; i++) a[i] = *(double *)user;
}

/* Kramers' formula, T = 2 pi / sqrt(|f'(well)| f'(top)) e^height to the next well and half of it to the top, up to a
 * part of a; e^500 is no obstacle. The slowest mode of two such wells is gone in half of T. */
static void test_line__deep_wells_follow_kramers_formula(void **state)
{
    (void)state;
    double a = 1e-3;
    sock_model *model = wrap_fields(ctx, 1, well_drift, given_diffusion, &a);
    sk_explained e = explain(model, -2.5, 2.5);
    const sk_told *law = law_of(&e), *up = law + sk_line_escape(2, 0, false);
    const double time = 2 * PI / sqrt(2) * exp(0.5 / a);
    assert_close(up[SK_ESCAPE_HEIGHT].value, 0.5 / a, 1e-9, 0);
    assert_close(up[SK_ESCAPE_TO_WELL].value, time, 2e-3, 0);
    assert_close(up[SK_ESCAPE_TO_BARRIER].value, 0.5 * time, 2e-3, 0);
    assert_close(law[SK_LINE_RELAXATION].value, 0.5 * time, 2e-3, 0);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* 2000 escapes by sock_simulate, in pieces of 500 outputs. */
static void test_line__simulated_escapes_take_as_long(void **state)
{
    (void)state;
    enum { PATHS = 2000, TIMES = 501 };
    const double step = 0.002;
    sock_model *model = wrap_fields(ctx, 1, well_drift, even_diffusion, NULL);
    sk_explained e = explain(model, -4, 4);
    const double wanted = law_of(&e)[sk_line_escape(2, 0, false) + SK_ESCAPE_TO_WELL].value;
    double *x = sk_doubles(ctx, PATHS, 1), *out = sk_doubles(ctx, PATHS, TIMES), t[TIMES], sum = 0, square = 0;
    size_t left = PATHS;
    for (size_t i = 0; i < PATHS; i++) x[i] = -1;
    for (size_t i = 0; i < TIMES; i++) t[i] = step * (double)i;
    for (size_t piece = 0; left && piece < 10000; piece++) {
        const sock_simulation spec = {
            .starts = left, .x0 = x, .paths = 1, .times = TIMES, .t = t, .step = step, .seed = 700 + piece};
        assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_OK);
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            size_t k = 1;
            while (k < TIMES && out[i * TIMES + k] < 1) k++;
            const double time = step * ((double)(piece * (TIMES - 1) + k));
            if (k == TIMES)
                x[kept++] = out[i * TIMES + TIMES - 1];
            else
                sum += time, square += time * time;
        }
        left = kept;
    }
    const double mean = sum / PATHS, se = sqrt((square / PATHS - mean * mean) / PATHS);
    if (!(fabs(mean - wanted) < 3 * se)) fail_msg("escapes took %g +- %g, not %g", mean, se, wanted);
    sk_free(x);
    sk_free(out);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* With a(x) the law is e^G / a, not e^G: mean and extremes by slow sums; wells are where f = a'/2. */
static void test_line__the_noise_that_depends_on_the_state_counts(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, ou_drift, growing_diffusion, NULL);
    sk_explained e = explain(model, -2, 3);
    const sk_told *law = law_of(&e);
    const size_t cells = 200000;
    double g = 0, mass = 0, first = 0;
    for (size_t i = 0; i < cells; i++) {
        const double h = 5.0 / (double)cells, x = -2 + ((double)i + 0.5) * h, a = NOISE * (1 + 0.3 * x + 0.2 * x * x),
                     slope = -2 * THETA * x / a;
        g += 0.5 * h * slope;
        mass += exp(g) / a * h;
        first += x * exp(g) / a * h;
        g += 0.5 * h * slope;
    }
    assert_close(law[SK_LINE_MEAN].value, first / mass, 1e-7, 1);
    assert_int_equal(e.wells, 1);
    const double x = law[sk_line_wells()].value;
    assert_close(-THETA * x - 0.5 * NOISE * (0.3 + 0.4 * x), 0, 1e-7, 1);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* A bound where the diffusion vanishes: the gamma law, singular at 0 for a shape below 1; no law where mu is 0. */
static void test_line__a_diffusion_that_vanishes_at_the_end(void **state)
{
    (void)state;
    const double shapes[] = {0.6, 1, 2.5};
    for (size_t i = 0; i < 3; i++) {
        double mu = shapes[i] * NOISE / (2 * THETA), scale = NOISE / (2 * THETA);
        sock_model *model = wrap_fields(ctx, 1, cir_drift, cir_diffusion, &mu);
        sk_explained e = explain(model, 0, 40 * scale);
        assert_string_equal(e.stationary_reason, "");
        assert_close(law_of(&e)[SK_LINE_MEAN].value, mu, 1e-4, 0);
        assert_close(law_of(&e)[SK_LINE_SD].value, scale * sqrt(shapes[i]), 1e-4, 0);
        assert_close(law_of(&e)[SK_LINE_RELAXATION].value, 1 / THETA, 1e-4, 0);
        sk_explained_clear(&e);
        sock_model_free(model);
    }
    double none = 0;
    sock_model *model = wrap_fields(ctx, 1, cir_drift, cir_diffusion, &none);
    sk_explained e = explain(model, 0, 5);
    assert_false(e.stationary);
    assert_non_null(strstr(e.stationary_reason, "vanishes at the lower end"));
    assert_int_equal(e.fixed.count, 1); /* 0 itself */
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* ---- Two dimensions ---- */

static void test_plane__rotating_ornstein_uhlenbeck(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, rotating_drift, even_diffusion, NULL);
    const double sd = sqrt(NOISE / (2 * THETA)), reach = 5 * sd;
    sk_explained e = explain(model, -reach, reach);
    const sk_told *law = law_of(&e);
    assert_int_equal(e.fixed.count, 1);
    assert_string_equal(sk_fixed_type(2, e.number + 2, e.number + 4), "stable focus");
    for (size_t k = 0; k < 2; k++) {
        assert_close(e.number[k].value, 0, 1e-9, 1);
        assert_close(e.number[2 + k].value, -THETA, 1e-8, 0);
        assert_close(fabs(e.number[4 + k].value), OMEGA, 1e-8, 0);
        assert_close(law[SK_PLANE_SD + k].value, sd, 1e-4, 0);
        assert_close(law[SK_PLANE_MEAN + k].value, 0, 1e-8, 1);
    }
    assert_close(law[SK_PLANE_ENTROPY].value, 2 * OMEGA * OMEGA / THETA, 1e-3, 0);
    assert_close(law[SK_PLANE_CORRELATION].value, 0, 1e-8, 1);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* Means of p and of J = omega (-y, x) p over a cell, by the midpoint rule. */
static void cell_means(double x, double y, double side, double *out)
{
    enum { POINTS = 8 };
    const double var = NOISE / (2 * THETA);
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < POINTS * POINTS; i++) {
        const double u = x + side * (((double)(i / POINTS) + 0.5) / POINTS - 0.5),
                     v = y + side * (((double)(i % POINTS) + 0.5) / POINTS - 0.5);
        const double p = exp(-0.5 * (u * u + v * v) / var) / (2 * PI * var) / (POINTS * POINTS);
        out[0] += p, out[1] -= OMEGA * v * p, out[2] += OMEGA * u * p;
    }
}

static void test_plane__current_goes_round(void **state)
{
    (void)state;
    enum { N = SK_EXPLAIN_GRID };
    sock_model *model = wrap_fields(ctx, 2, rotating_drift, even_diffusion, NULL);
    const double var = NOISE / (2 * THETA), reach = 5 * sqrt(var), side = 2 * reach / N,
                 largest[3] = {1 / (2 * PI * var), OMEGA * exp(-0.5) / (2 * PI * sqrt(var)),
                               OMEGA * exp(-0.5) / (2 * PI * sqrt(var))};
    sk_explained e = explain(model, -reach, reach);
    for (size_t c = 0; c < N * N; c++) {
        double mean[3];
        cell_means(-reach + side * ((double)(c / N) + 0.5), -reach + side * ((double)(c % N) + 0.5), side, mean);
        for (size_t k = 0; k < 3; k++) assert_close(e.table[k * N * N + c], mean[k], 1e-3, largest[k]);
    }
    sk_explained_clear(&e);
    sock_model_free(model);
}

static void central_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -THETA * x[i];
}

/* Mass of a standard normal between two points. */
static double mass(double from, double to) { return 0.5 * (erf(to / sqrt(2)) - erf(from / sqrt(2))); }

/* A box that cuts the law off unevenly, -0.5 to 2 deviations: the cells of the fine grid at its edges hold what is not
 * inside of them. */
static void test_plane__edges_hold_what_is_not_inside(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, central_drift, even_diffusion, NULL);
    const double sd = sqrt(NOISE / (2 * THETA)), cell = 2.5 / (2 * SK_EXPLAIN_GRID),
                 inside = mass(-0.5 + cell, 2 - cell) / mass(-0.5, 2);
    sk_explained e = explain(model, -0.5 * sd, 2 * sd);
    assert_close(law_of(&e)[SK_PLANE_EDGES].value, 1 - inside * inside, 1e-3, 0);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* dx = A x dt with a correlated, uneven a: S solves A S + S A' + a = 0; EP = tr((A + a S^-1 / 2)' 2 a^-1 (A + a S^-1 /
 * 2) S). Here A S = -a/2 + Q, Q antisymmetric: choose S, a and Q, and A = (Q - a/2) S^-1. */
typedef struct linear {
    double a[4], drift[4];
} linear;

static void linear_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double *m = ((linear *)user)->drift;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) f[i * d + k] = m[k * d] * x[i * d] + m[k * d + 1] * x[i * d + 1];
}
static void linear_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(a + i * d * d, ((linear *)user)->a, d * d * sizeof *a);
}

static void test_plane__correlated_noise(void **state)
{
    (void)state;
    const double s[4] = {1, 0.3, 0.3, 0.6}, det = s[0] * s[3] - s[1] * s[1], q = 0.4;
    const double inverse[4] = {s[3] / det, -s[1] / det, -s[1] / det, s[0] / det};
    linear w = {{0.8, 0.2, 0.2, 0.5}, {0}};
    const double half[4] = {-w.a[0] / 2, q - w.a[1] / 2, -q - w.a[2] / 2, -w.a[3] / 2};
    sk_small_product(2, half, inverse, false, w.drift);
    /* J = Q S^-1 x p: EP = 2 tr(Q' a^-1 Q S^-1) */
    const double da = w.a[0] * w.a[3] - w.a[1] * w.a[1], turned[4] = {0, q, -q, 0},
                 a_inverse[4] = {w.a[3] / da, -w.a[1] / da, -w.a[1] / da, w.a[0] / da};
    double one[4], two[4], three[4];
    sk_small_product(2, a_inverse, turned, false, one);
    sk_small_product(2, one, inverse, false, two);
    sk_small_product(2, two, turned, true, three); /* a^-1 Q S^-1 Q' */
    sock_model *model = wrap_fields(ctx, 2, linear_drift, linear_diffusion, &w);
    sk_explained e;
    const double lower[2] = {-5.5, -4.2}, upper[2] = {5.5, 4.2};
    assert_int_equal(sk_explain(ctx, model, lower, upper, NULL, 0, &e), SOCK_OK);
    const sk_told *law = law_of(&e);
    assert_close(law[SK_PLANE_ENTROPY].value, 2 * (three[0] + three[3]), 2e-3, 0);
    assert_close(law[SK_PLANE_SD].value, 1, 1e-3, 0);
    assert_close(law[SK_PLANE_SD + 1].value, sqrt(0.6), 1e-3, 0);
    assert_close(law[SK_PLANE_CORRELATION].value, 0.3 / sqrt(0.6), 1e-3, 0);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* Without rotation nothing is produced. */
static void test_plane__an_equilibrium_produces_nothing(void **state)
{
    (void)state;
    double omega = 0;
    sock_model *model = wrap_fields(ctx, 2, rotating_drift, even_diffusion, &omega);
    sk_explained e = explain(model, -2.5, 3);
    assert_close(law_of(&e)[SK_PLANE_ENTROPY].value, 0, 1e-8, 1);
    assert_string_equal(sk_fixed_type(2, e.number + 2, e.number + 4), "stable node");
    sk_explained_clear(&e);
    sock_model_free(model);
}

static void flat_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    even_diffusion(user, count, d, x, a);
    for (size_t i = 0; i < count; i++) a[i * d * d] = 0;
}

static void test_plane__a_singular_diffusion_is_said(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, rotating_drift, flat_diffusion, NULL);
    sk_explained e = explain(model, -2, 2);
    assert_false(e.stationary);
    assert_non_null(strstr(e.stationary_reason, "singular"));
    assert_int_equal(e.fixed.count, 1);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* ---- Fixed points ---- */

/* x' = x - x^3 in each of three states: 27 of them, 8 stable; a start finds the nearest, all are found. */
static void test_fixed__all_of_a_product_of_wells(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 3, well_drift, even_diffusion, NULL);
    sk_explained e = explain(model, -1.5, 1.6);
    size_t stable = 0, saddles = 0;
    assert_true(e.fixed.count >= 20 && e.fixed.count <= 27);
    for (size_t i = 0; i < e.fixed.count; i++) {
        const sk_told *at = e.number + 10 * i;
        for (size_t k = 0; k < 3; k++) assert_close(at[k].value - pow(at[k].value, 3), 0, 1e-10, 1);
        const char *type = sk_fixed_type(3, at + 3, at + 6);
        stable += strcmp(type, "stable node") == 0;
        saddles += strcmp(type, "saddle") == 0;
        if (strcmp(type, "stable node") == 0) assert_close(at[9].value, 0.5, 1e-6, 0);
    }
    assert_int_equal(stable, 8);
    assert_true(saddles >= 12);
    assert_non_null(strstr(e.stationary_reason, "one and two dimensions"));
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* The zero of f at the range's end counts; one beyond it does not. */
static void test_fixed__those_outside_the_range_are_not_told(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, well_drift, even_diffusion, NULL);
    sk_explained e = explain(model, 0.5, 3);
    assert_int_equal(e.fixed.count, 1);
    assert_close(e.number[0].value, 1, 1e-10, 0);
    sk_explained_clear(&e);
    e = explain(model, 1.5, 3);
    assert_int_equal(e.fixed.count, 0);
    assert_null(e.beyond);        /* it is a third of the range away */
    assert_int_equal(e.wells, 0); /* the density is largest at the lower end */
    assert_close(law_of(&e)[SK_LINE_ENDS].value, 1, 1e-3, 0);
    sk_explained_clear(&e);
    sock_model *plane = wrap_fields(ctx, 2, rotating_drift, even_diffusion, NULL);
    e = explain(plane, -3, -0.2);
    assert_int_equal(e.fixed.count, 0);
    assert_non_null(e.beyond); /* the centre is just outside: a place and a pair of eigenvalues */
    for (size_t k = 0; k < 2; k++) assert_close(e.beyond[k], 0, 1e-9, 1);
    assert_true(e.beyond[2] < 0 && e.beyond[4] != 0);
    sk_explained_clear(&e);
    sock_model_free(plane);
    sock_model_free(model);
}

/* -1 and 0 are within, 1 is just outside: it is told beside them; of a range that has all of them nothing is. */
static void test_fixed__the_nearest_outside_is_told_beside_those_within(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, well_drift, even_diffusion, NULL);
    sk_explained e = explain(model, -2, 0.9);
    assert_int_equal(e.fixed.count, 2);
    assert_non_null(e.beyond);
    assert_close(e.beyond[0], 1, 1e-9, 0);
    assert_close(e.beyond[1], -2, 1e-6, 0);
    sk_explained_clear(&e);
    e = explain(model, -2, 2);
    assert_int_equal(e.fixed.count, 3);
    assert_null(e.beyond);
    sk_explained_clear(&e);
    char *text = call(model, NULL, "-2", "0.9");
    assert_non_null(strstr(text, "fixed_point_outside"));
    sock_string_free(text);
    sock_model_free(model);
}

/* A normal law that its range cuts at so many standard deviations on all sides: from 1.4 on its long run is told,
 * below it hangs on the ends. */
static void test_plane__a_law_that_is_cut_off_tells_no_long_run(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, central_drift, even_diffusion, NULL);
    const double sd = sqrt(NOISE / (2 * THETA)), cut[2] = {1, 1.6};
    for (int i = 0; i < 2; i++) {
        char low[40], high[40];
        snprintf(low, sizeof low, "%.6g,%.6g", -cut[i] * sd, -cut[i] * sd);
        snprintf(high, sizeof high, "%.6g,%.6g", cut[i] * sd, cut[i] * sd);
        char *text = call(model, NULL, low, high);
        assert_int_equal(strstr(text, "stationary_caveat") != NULL, i == 0);
        sock_string_free(text);
    }
    sock_model_free(model);
}

/* What turns without falling back has no time to fall back in, though rounding has made its slope negative. */
static void test_fixed__a_centre_has_no_relaxation_time(void **state)
{
    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        linear w = {{1, 0, 0, 1}, {falls ? -0.25 : -1e-11, 1, -1, falls ? -0.25 : -1e-11}};
        sock_model *model = wrap_fields(ctx, 2, linear_drift, linear_diffusion, &w);
        sk_explained e = explain(model, -2, 2.1);
        assert_int_equal(e.fixed.count, 1);
        assert_string_equal(sk_fixed_type(2, e.number + 2, e.number + 4), falls ? "stable focus" : "centre");
        if (falls)
            assert_close(e.number[6].value, 4, 1e-6, 0);
        else
            assert_true(isnan(e.number[6].value));
        sk_explained_clear(&e);
        sock_model_free(model);
    }
}

/* At rest along y = 0, and nowhere else. */
static void resting_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++) f[i * d] = -x[i * d] * x[i * d + 1], f[i * d + 1] = x[i * d + 1];
}

static void test_fixed__a_line_of_them_is_said_and_not_listed(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, resting_drift, even_diffusion, NULL);
    sk_explained e = explain(model, -1, 1.1);
    assert_int_equal(e.fixed.count, 0);
    assert_true(e.fixed.lines);
    sk_explained_clear(&e);
    sock_model_free(model);
}

/* dx = x dt + 0.3 x dW over 0 has two worlds; over [1, 2] all of its density is near the upper end. */
static void test_call__says_where_the_law_hangs_on_the_ends(void **state)
{
    (void)state;
    truth gbm = truth_of(ctx, "gbm");
    char *text = call(gbm.model, NULL, "-2", "2");
    assert_non_null(strstr(text, "nearly vanishes within the range, at 0"));
    sock_string_free(text);
    text = call(gbm.model, NULL, "1", "2");
    assert_non_null(strstr(text, "stationary_caveat"));
    sock_string_free(text);
    const double bound = 2; /* a real end */
    assert_int_equal(sock_model_set_bounds(ctx, gbm.model, NULL, &bound), SOCK_OK);
    text = call(gbm.model, NULL, "1", "2");
    assert_null(strstr(text, "stationary_caveat"));
    sock_string_free(text);
    truth_free(gbm);
}

static void cubic_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double slope = *(const double *)user;
    for (size_t i = 0; i < count * d; i++) f[i] = slope * (x[i] - 0.3) - 0.02 * pow(x[i] - 0.3, 3);
}

/* At the root of a cubic f falls, slower than any exponential: stable, slope 0, and no time. With a slope it has both.
 */
static void test_fixed__at_the_root_of_a_cubic_no_time_is_told(void **state)
{
    (void)state;
    double slope = 0;
    sock_model *model = wrap_fields(ctx, 1, cubic_drift, even_diffusion, &slope);
    for (int sloped = 0; sloped < 2; sloped++) {
        slope = sloped ? -0.001 : 0;
        char *text = call(model, NULL, "-20", "21");
        json_t *all = json_loads(text, 0, NULL), *point = json_array_get(json_object_get(all, "fixed_points"), 0);
        const double told = json_number_value(json_object_get(json_object_get(point, "slope"), "value"));
        const json_t *time = json_object_get(json_object_get(point, "relaxation_time"), "value");
        assert_string_equal(json_string_value(json_object_get(point, "type")), "stable");
        assert_close(told, slope, 1e-4, 0);
        assert_int_equal(sloped, json_is_number(time));
        if (sloped) assert_close(json_number_value(time), 1000, 1e-4, 0);
        json_decref(all);
        sock_string_free(text);
    }
    sock_model_free(model);
}

static void test_fixed__types(void **state)
{
    (void)state;
    static const struct {
        double re[2], im[2];
        const char *type;
    } cases[] = {{{-1, -2}, {0, 0}, "stable node"},   {{1, 2}, {0, 0}, "unstable node"},   {{-1, 2}, {0, 0}, "saddle"},
                 {{-1, -1}, {2, -2}, "stable focus"}, {{1, 1}, {2, -2}, "unstable focus"}, {{0, 0}, {2, -2}, "centre"},
                 {{-1, 0}, {0, 0}, "marginal"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_told re[2] = {{.value = cases[i].re[0]}, {.value = cases[i].re[1]}},
                      im[2] = {{.value = cases[i].im[0]}, {.value = cases[i].im[1]}};
        assert_string_equal(sk_fixed_type(2, re, im), cases[i].type);
    }
}

static void test_call__says_what_range_it_needs(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, ou_drift, even_diffusion, NULL);
    assert_null(call(model, NULL, NULL, NULL));
    assert_non_null(strstr(sock_message(ctx), "give data, or lower and upper"));
    assert_null(call(model, NULL, "none", "1"));
    assert_non_null(strstr(sock_message(ctx), "lower is none for the state 'x0'"));
    assert_null(call(model, NULL, "2", "1"));
    assert_non_null(strstr(sock_message(ctx), "from 2 to 1"));
    const double bound = -0.5;
    assert_int_equal(sock_model_set_bounds(ctx, model, &bound, NULL), SOCK_OK);
    char *text = call(model, NULL, "-3", "3");
    json_t *all = json_loads(text, 0, NULL), *range = json_object_get(all, "range");
    assert_true(json_number_value(json_array_get(json_object_get(range, "lower"), 0)) == bound);
    assert_string_equal(json_string_value(json_object_get(range, "from")), "options");
    assert_non_null(strstr(json_string_value(json_object_get(all, "errors_reason")), "does not tell"));
    json_decref(all);
    sock_string_free(text);
    sock_model_free(model);
}

/* The slope of f of one state at its zero, by bisection and a difference. */
static double slope_at_zero(const sock_model *model)
{
    double low = -1.5, high = 1.5, x[2], f[2];
    for (int i = 0; i < 80; i++) {
        x[0] = 0.5 * (low + high);
        assert_int_equal(sock_model_drift(ctx, model, 1, x, f), SOCK_OK);
        *(f[0] > 0 ? &low : &high) = x[0];
    }
    x[0] = low - 1e-4, x[1] = low + 1e-4;
    assert_int_equal(sock_model_drift(ctx, model, 2, x, f), SOCK_OK);
    return (f[1] - f[0]) / 2e-4;
}

/* Errors are those of the draws that anyone can make: root mean square about the value. */
static void check_errors(const sock_model *model, double value, double se)
{
    double square = 0;
    assert_close(slope_at_zero(model), value, 1e-5, 0);
    for (size_t k = 0; k < SK_EXPLAIN_DRAWS; k++) {
        sock_model *draw = NULL;
        assert_int_equal(sock_model_draw(ctx, model, 0, k, &draw), SOCK_OK);
        const double off = slope_at_zero(draw) - value;
        square += off * off;
        sock_model_free(draw);
    }
    assert_close(se, sqrt(square / SK_EXPLAIN_DRAWS), 1e-3, 0);
}

static double told_at(json_t *table, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(table, key), i));
}

/* The interval of the potential surrounds it where the states are: 0.3 of its width and more on either side. */
static void test_call__the_interval_of_a_potential_surrounds_it(void **state)
{
    (void)state;
    truth well = truth_of(ctx, "doublewell");
    sock_data *data = NULL;
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "tune", "no"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "drift", "poly:degree=3"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "diffusion", "constant"), SOCK_OK);
    assert_int_equal(sys_generate(ctx, well.instance, SYS_TRAIN, &data), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_OK);
    char *text = call(model, data, NULL, NULL);
    json_t *all = json_loads(text, 0, NULL), *table = json_object_get(all, "table");
    double most = 0;
    size_t asked = 0;
    assert_int_equal(json_array_size(json_object_get(table, "x")), 101); /* one of them in the middle of the range */
    for (size_t i = 0; i < SK_EXPLAIN_TABLE; i++) most = fmax(most, told_at(table, "density", i));
    for (size_t i = 0; i < SK_EXPLAIN_TABLE; i++) {
        const double value = told_at(table, "potential", i), low = told_at(table, "potential_low", i),
                     high = told_at(table, "potential_high", i), room = 0.3 * (high - low);
        if (told_at(table, "density", i) < 0.2 * most) continue;
        assert_true(value - low > room && high - value > room);
        asked++;
    }
    assert_true(asked > 20);
    json_decref(all);
    sock_string_free(text);
    sock_options_free(opts);
    sock_model_free(model);
    sock_data_free(data);
    truth_free(well);
}

/* A gamma law within a thousandth of the range, next to an end where the noise vanishes: its top is found, with its
 * mean and sd. */
static void test_line__a_density_next_to_an_end_is_found(void **state)
{
    (void)state;
    double mu = 0.5;
    sock_model *model = wrap_fields(ctx, 1, cir_drift, cir_diffusion, &mu);
    const double shape = 2 * THETA * mu / NOISE, scale = NOISE / (2 * THETA);
    for (double high = 20; high < 3000; high *= 10) {
        sk_explained e = explain(model, 0, high);
        const sk_told *law = law_of(&e);
        assert_int_equal(e.wells, 1);
        assert_close(law[sk_line_wells()].value, (shape - 1) * scale, 1e-6, 0);
        assert_close(law[SK_LINE_MEAN].value, shape * scale, 1e-4, 0);
        assert_close(law[SK_LINE_SD].value, sqrt(shape) * scale, 1e-4, 0);
        sk_explained_clear(&e);
    }
    sock_model_free(model);
}

/* A fit of OU paths: errors hold the truth within three of them, and the same call gives the same text. */
static void test_call__errors_of_a_fit_hold_the_truth(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_data *data = NULL;
    sock_model *model = NULL;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TRAIN, &data), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, NULL, &model), SOCK_OK);
    char *text = call(model, data, NULL, NULL), *again = call(model, data, NULL, NULL);
    assert_string_equal(text, again);
    json_t *all = json_loads(text, 0, NULL), *point = json_array_get(json_object_get(all, "fixed_points"), 0),
           *slope = json_object_get(point, "slope");
    const double value = json_number_value(json_object_get(slope, "value")),
                 se = json_number_value(json_object_get(slope, "se"));
    double x[1] = {1}, f[1];
    assert_int_equal(sock_model_drift(ctx, ou.model, 1, x, f), SOCK_OK);
    assert_int_equal(json_integer_value(json_object_get(all, "draws")), SK_EXPLAIN_DRAWS);
    assert_true(se > 0 && fabs(value - f[0]) < 3 * se);
    assert_true(json_number_value(json_object_get(slope, "low")) < value - 0.5 * se);
    assert_true(json_number_value(json_object_get(slope, "high")) > value + 0.5 * se);
    check_errors(model, value, se);
    assert_string_equal(json_string_value(json_object_get(json_object_get(all, "range"), "from")), "fit");
    assert_true(json_is_object(json_object_get(all, "data")));
    json_decref(all);
    sock_string_free(text);
    sock_string_free(again);
    sock_model_free(model);
    sock_data_free(data);
    truth_free(ou);
}

/* Every number with an interval lies in it, and what is never negative has none that is. */
static size_t check_intervals(const char *key, json_t *at)
{
    static const char *const positive[] = {"relaxation_time", "sd",     "to_barrier",
                                           "to_well",         "height", "entropy_production"};
    json_t *value = json_object_get(at, "value"), *low = json_object_get(at, "low"),
           *high = json_object_get(at, "high"), *part;
    const char *name;
    size_t i, found = 0;
    if (json_is_array(at)) json_array_foreach(at, i, part) found += check_intervals(key, part);
    if (json_is_object(at) && !value) json_object_foreach(at, name, part) found += check_intervals(name, part);
    if (!json_is_number(value) || !json_is_number(low)) return found;
    assert_true(json_number_value(low) <= json_number_value(value));
    assert_true(json_is_null(high) || json_number_value(high) >= json_number_value(value));
    for (i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!strcmp(key, positive[i])) assert_true(json_number_value(low) >= 0 && json_number_value(value) >= 0);
    return found + 1;
}

/* Data that the models of this room are hard on: few points, growth without an end, a walk, two wells, a plane. */
static sock_data *hard_data(size_t kind, uint64_t seed)
{
    enum { POINTS = 60 };
    const size_t d = kind == 4 ? 2 : 1;
    double t[POINTS], x[2 * POINTS], z[2 * POINTS];
    sock_data *data = NULL;
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, kind, 0, 0, 2 * POINTS, z);
    const size_t points = kind == 0 ? 12 : POINTS;
    for (size_t k = 0; k < d; k++) x[k] = kind == 1 ? 40 : 0.3;
    for (size_t i = 0; i < points; i++) t[i] = 0.3 * (double)i;
    for (size_t i = 1; i < points; i++)
        for (size_t k = 0; k < d; k++) {
            const double y = x[(i - 1) * d + k], *turned = x + (i - 1) * d;
            const double f = kind == 1   ? 8
                             : kind == 2 ? 0
                             : kind == 3 ? y - y * y * y
                             : kind == 4 ? (k ? turned[0] : -turned[1]) - y
                                         : -y;
            x[i * d + k] = y + 0.3 * f + (kind == 1 ? 0.1 * y : 0.6) * sqrt(0.3) * z[i * d + k];
        }
    assert_int_equal(sock_data_from_arrays(ctx, d, 1, &points, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static void test_call__intervals_hold_their_values(void **state)
{
    (void)state;
    size_t found = 0;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "noise", "none"), SOCK_OK);
    for (size_t i = 0; i < 6; i++) {
        sock_data *data = hard_data(i % 5, 3300 + i);
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_OK);
        char *text = call(model, data, NULL, NULL);
        assert_non_null(text);
        json_t *all = json_loads(text, 0, NULL);
        found += check_intervals("", all);
        json_decref(all);
        sock_string_free(text);
        sock_model_free(model);
        sock_data_free(data);
    }
    assert_true(found > 15);
    sock_options_free(opts);
}

/* f of one sign: only ends that the data happen to have make a law, so nothing is told of its long run; with ends that
 * were asked for, all is. */
static void test_call__a_law_of_borrowed_ends_tells_no_long_run(void **state)
{
    (void)state;
    const double t[2] = {0, 1}, x[2] = {0, 2 * NOISE};
    const size_t points = 2;
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, 1, steady_drift, even_diffusion, NULL);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &points, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    char *text = call(model, data, NULL, NULL), *asked = call(model, NULL, "0", "2");
    json_t *all = json_loads(text, 0, NULL), *told = json_loads(asked, 0, NULL);
    assert_true(json_is_null(json_object_get(all, "relaxation_time")) && json_is_null(json_object_get(all, "escapes")));
    assert_non_null(json_object_get(all, "stationary_caveat"));
    assert_non_null(strstr(json_string_value(json_object_get(all, "wells_reason")), "hangs on"));
    assert_true(json_is_object(json_object_get(told, "relaxation_time")));
    assert_non_null(json_object_get(told, "stationary_caveat"));
    json_decref(all), json_decref(told);
    sock_string_free(text), sock_string_free(asked);
    sock_data_free(data);
    sock_model_free(model);
}

/* A gamma law of shape 1.4 has much density where data from `low` to 5 begin. Whether it hangs on them, its mean, and
 * where the range begins. */
static bool hangs_from(double low, double bound, double *mean, double *begin)
{
    double mu = 0.5;
    const double t[2] = {0, 1}, x[2] = {low, 5};
    const size_t points = 2;
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, 1, cir_drift, cir_diffusion, &mu);
    assert_int_equal(sock_model_set_bounds(ctx, model, &bound, NULL), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &points, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    char *text = call(model, data, NULL, NULL);
    json_t *all = json_loads(text, 0, NULL), *law = json_object_get(all, "stationary");
    const bool hangs = json_is_string(json_object_get(all, "stationary_caveat"));
    *begin = json_number_value(json_array_get(json_object_get(json_object_get(all, "range"), "lower"), 0));
    *mean = json_number_value(json_object_get(json_array_get(json_object_get(law, "mean"), 0), "value"));
    json_decref(all);
    sock_string_free(text);
    sock_data_free(data);
    sock_model_free(model);
    return hangs;
}

/* Data that begin next to a bound: the law goes on to it, and is that of the equation. Data that begin far from it, or
 * of a model without one there, tell no long run. */
static void test_call__a_law_goes_on_to_a_bound_that_is_near(void **state)
{
    (void)state;
    double mean, begin;
    assert_false(hangs_from(0.05, 0, &mean, &begin));
    assert_close(begin, 0, 0, 1e-300);
    assert_close(mean, 0.5, 1e-4, 0); /* but for what is beyond 5 */
    assert_true(hangs_from(0.5, 0, &mean, &begin));
    assert_close(begin, 0.5, 1e-12, 0);
    assert_true(hangs_from(0.05, -10, &mean, &begin));
    assert_close(begin, 0.05, 1e-12, 0);
}

static sock_status explain_once(sock_context *context, void *arg)
{
    const double lower[2] = {-2, -2}, upper[2] = {2, 2};
    sk_explained e;
    SK_TRY(sk_explain(context, arg, lower, upper, NULL, 0, &e));
    sk_explained_clear(&e);
    return SOCK_OK;
}

static void test_explain__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    sock_model *line = wrap_fields(ctx, 1, well_drift, even_diffusion, NULL),
               *plane = wrap_fields(ctx, 2, rotating_drift, even_diffusion, NULL);
    assert_true(for_each_allocation(ctx, explain_once, line) > 10);
    assert_true(for_each_allocation(ctx, explain_once, plane) > 10);
    sock_model_free(line);
    sock_model_free(plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_band__solves_as_a_dense_matrix_does),
        cmocka_unit_test(test_eigenvalues__of_a_rotation_are_a_pair),
        cmocka_unit_test(test_line__ornstein_uhlenbeck_has_its_variance_and_relaxation_time),
        cmocka_unit_test(test_line__brownian_motion_between_mirrors),
        cmocka_unit_test(test_line__a_steady_drift_between_mirrors),
        cmocka_unit_test(test_line__escape_times_are_kramers_integrals),
        cmocka_unit_test(test_line__deep_wells_follow_kramers_formula),
        cmocka_unit_test(test_line__simulated_escapes_take_as_long),
        cmocka_unit_test(test_line__the_noise_that_depends_on_the_state_counts),
        cmocka_unit_test(test_line__a_diffusion_that_vanishes_at_the_end),
        cmocka_unit_test(test_plane__rotating_ornstein_uhlenbeck),
        cmocka_unit_test(test_plane__current_goes_round),
        cmocka_unit_test(test_plane__edges_hold_what_is_not_inside),
        cmocka_unit_test(test_plane__correlated_noise),
        cmocka_unit_test(test_plane__an_equilibrium_produces_nothing),
        cmocka_unit_test(test_plane__a_singular_diffusion_is_said),
        cmocka_unit_test(test_fixed__all_of_a_product_of_wells),
        cmocka_unit_test(test_fixed__those_outside_the_range_are_not_told),
        cmocka_unit_test(test_fixed__the_nearest_outside_is_told_beside_those_within),
        cmocka_unit_test(test_plane__a_law_that_is_cut_off_tells_no_long_run),
        cmocka_unit_test(test_fixed__types),
        cmocka_unit_test(test_fixed__at_the_root_of_a_cubic_no_time_is_told),
        cmocka_unit_test(test_fixed__a_centre_has_no_relaxation_time),
        cmocka_unit_test(test_fixed__a_line_of_them_is_said_and_not_listed),
        cmocka_unit_test(test_call__says_where_the_law_hangs_on_the_ends),
        cmocka_unit_test(test_call__says_what_range_it_needs),
        cmocka_unit_test(test_line__a_density_next_to_an_end_is_found),
        cmocka_unit_test(test_call__a_law_goes_on_to_a_bound_that_is_near),
        cmocka_unit_test(test_call__errors_of_a_fit_hold_the_truth),
        cmocka_unit_test(test_call__the_interval_of_a_potential_surrounds_it),
        cmocka_unit_test(test_call__intervals_hold_their_values),
        cmocka_unit_test(test_call__a_law_of_borrowed_ends_tells_no_long_run),
        cmocka_unit_test(test_explain__every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
