/* smoothrows.c - rows of the diffusion. Without noise a row goes from observation to observation. With noise the law of
 * (x_i, x_{i+1}) given all observations is Gaussian: means ms, covariances Ps, B = (G Ps_{i+1})' Ps_i^-1. Two rows
 * stand for it, antithetic points of its first half with what the second half is to be expected at then,
 *
 *     x0 = ms_i +- L s,   x1 = ms_{i+1} +- B L s,   Z = Ps_{i+1} - B Ps_i B',   L L' = Ps_i,
 *
 * s a vector of signs that runs through the rows of a Hadamard matrix, step by step: one row at the mean would miss
 * that the spread of x_i is of the order of what is estimated. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Points ---- */

typedef struct points {
    double *x0, *x1, *h, *extra;
} points;

static void points_clear(points *p)
{
    sk_free(p->x0);
    sk_free(p->x1);
    sk_free(p->h);
    sk_free(p->extra);
}

static sock_status points_new(sock_context *ctx, size_t n, size_t d, points *p)
{
    *p = (points){sk_doubles(ctx, n, d), sk_doubles(ctx, n, d), sk_doubles(ctx, n, 1), sk_doubles(ctx, n, d * d)};
    return p->x0 && p->x1 && p->h && p->extra ? SOCK_OK : SOCK_ENOMEM;
}

/* Entry j of row i of the Hadamard matrix: the parity of the bits that they share. */
static double sign(size_t i, size_t j)
{
    size_t bits = i & j;
    bool odd = false;
    for (; bits; bits &= bits - 1) odd = !odd;
    return odd ? -1 : 1;
}

static size_t order_of(size_t d)
{
    size_t order = 1;
    while (order < d) order *= 2;
    return order;
}

/* B into space[0..], L into space[d2..]; where Ps_i is not definite both are 0. */
static void relate(size_t d, const double *gain, const double *p0, const double *p1, double *space)
{
    const size_t d2 = d * d;
    double *b = space, *c = space + d2, *t = space + 2 * d2;
    memset(b, 0, d2 * sizeof *b);
    if (sk_factor_copy(d, 0, p0, c)) {
        memset(c, 0, d2 * sizeof *c);
        return;
    }
    sk_small_product(d, gain, p1, false, t); /* cov(x_i, x_{i+1}) */
    for (size_t k = 0; k < d; k++) {         /* row k of B solves Ps_i B_k' = column k */
        for (size_t l = 0; l < d; l++) b[k * d + l] = t[l * d + k];
        sk_small_solve(d, c, b + k * d);
    }
}

/* The two rows of step i; s: smoothed, at point `at`. space: 4 d x d. */
static void put_pair(const sk_measured *m, const sk_smoothed *s, size_t i, size_t at, const points *out, double *space)
{
    const size_t d = m->series.d, d2 = d * d, row = i % order_of(d);
    double *b = space, *c = space + d2, *t = space + 2 * d2, *z = space + 3 * d2;
    relate(d, s->gain + i * d2, s->p + at * d2, s->p + (at + 1) * d2, space);
    sk_small_product(d, b, s->p + at * d2, false, t);
    sk_small_product(d, t, b, true, z);
    for (size_t k = 0; k < d2; k++) z[k] = s->p[(at + 1) * d2 + k] - z[k];
    sk_small_mean(d, z);
    for (size_t k = 0; k < d; k++) {
        t[k] = 0;
        for (size_t l = 0; l <= k; l++) t[k] += c[k * d + l] * sign(row, l);
    }
    for (size_t side = 0; side < 2; side++) {
        const size_t r = 2 * i + side;
        const double turn = side ? -1 : 1;
        out->h[r] = m->series.h[i];
        memcpy(out->extra + r * d2, z, d2 * sizeof *z);
        for (size_t k = 0; k < d; k++) {
            out->x0[r * d + k] = s->m[at * d + k] + turn * t[k];
            out->x1[r * d + k] = s->m[(at + 1) * d + k] + turn * sk_dot(d, b + k * d, t);
        }
    }
}

/* Mean over all points of (y - ms)(y - ms)' + Ps. */
static void em_noise(const sk_measured *m, const sk_smoothed *s, double *out)
{
    const sk_series *e = &m->series;
    const size_t d = e->d, d2 = d * d, count = e->steps + e->runs;
    memset(out, 0, d2 * sizeof *out);
    for (size_t r = 0; r < e->runs; r++)
        for (size_t i = e->first[r]; i <= e->first[r + 1]; i++) {
            const size_t at = i + r;
            const double *y = i < e->first[r + 1] ? e->y + i * d : e->next + (i - 1) * d;
            for (size_t k = 0; k < d; k++)
                for (size_t l = 0; l < d; l++)
                    out[k * d + l] +=
                        ((y[k] - s->m[at * d + k]) * (y[l] - s->m[at * d + l]) + s->p[at * d2 + k * d + l]) /
                        (double)count;
        }
}

static sock_status smooth_points(const sk_measured *m, const sk_noisy *model, const points *out, double *residual)
{
    const sk_series *e = &m->series;
    const size_t d = e->d, count = e->steps + e->runs;
    const sk_filter_spec spec = sk_noisy_spec(m, model);
    sk_pass pass = {0};
    sk_smoothed s = {sk_doubles(m->ctx, count, d), sk_doubles(m->ctx, count, d * d),
                     sk_doubles(m->ctx, e->steps, d * d)};
    double *space = sk_doubles(m->ctx, 4, d * d);
    sock_status status = s.m && s.p && s.gain && space ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_pass_new(m->ctx, e, true, &pass);
    if (status >= 0) status = sk_filter(m->ctx, e, &spec, &pass);
    if (status >= 0) status = sk_smooth(m->ctx, e, &pass, &s);
    for (size_t r = 0; status >= 0 && r < e->runs; r++)
        for (size_t i = e->first[r]; i < e->first[r + 1]; i++) put_pair(m, &s, i, i + r, out, space);
    if (status >= 0) em_noise(m, &s, residual);
    sk_pass_clear(&pass);
    sk_free(s.m);
    sk_free(s.p);
    sk_free(s.gain);
    sk_free(space);
    return status;
}

/* ---- Rows ---- */

void sk_rows_of_a_clear(sk_rows_of_a *r)
{
    sk_pulled_free(r->pulled);
    sk_free(r->typical);
    sk_free(r->floor);
    sk_free(r->residual);
    *r = (sk_rows_of_a){0};
}

/* What smoothed rows say about a is a step of EM, short by the share of a that the smoother has put in itself. */
static void stretch(const sk_pulled *q, const double *kappa)
{
    const size_t d = q->d;
    for (size_t i = 0; i < q->n * d * d; i++) {
        const double own = q->diffusion[i];
        q->z[i] = own + sqrt(kappa[i / d % d] * kappa[i % d]) * (q->z[i] - own);
    }
}

/* |I a| of row i, or (I a)_kk for part = k + 1. */
static double size_of(const sk_pulled *q, size_t i, size_t part)
{
    const size_t d2 = q->d * q->d;
    return part ? q->diffusion[i * d2 + (part - 1) * (q->d + 1)] : sk_norm(d2, q->diffusion + i * d2);
}

static sock_status find_typical(sock_context *ctx, sk_rows_of_a *r)
{
    const sk_pulled *q = r->pulled;
    double *value = sk_doubles_unset(ctx, q->n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t part = 0; part <= q->d; part++) {
        size_t count = 0;
        for (size_t i = 0; i < q->n; i++)
            if (q->good[i]) value[count++] = size_of(q, i, part);
        r->typical[part] = count ? sk_median(count, value) : 0;
    }
    sk_free(value);
    return SOCK_OK;
}

/* The least a, coordinate by coordinate: a share of the mean of z/h. */
static void find_floor(const sk_rows_of_a *r)
{
    const sk_pulled *q = r->pulled;
    const size_t d = q->d;
    double mean[SK_NOISE_MOST_DIM] = {0}, trace = 0, time = 0;
    for (size_t i = 0; i < q->n; i++) {
        time += q->rule->h[i];
        for (size_t k = 0; k < d; k++) mean[k] += q->z[(i * d + k) * d + k];
    }
    for (size_t k = 0; k < d; k++) trace += fabs(mean[k]) / (double)d;
    for (size_t k = 0; k < d; k++) r->floor[k] = sk_noise_least_a(mean[k], trace) / time;
}

sock_status sk_rows_of_a_new(const sk_measured *m, const sk_noisy *model, const double *kappa, sk_rows_of_a *out)
{
    const sk_series *e = &m->series;
    const size_t d = e->d, each = model->noise ? 2 : 1;
    const sk_filter_spec spec = sk_noisy_spec(m, model);
    points p = {0};
    sock_status status = SOCK_OK;
    *out = (sk_rows_of_a){.each = each, .typical = sk_doubles(m->ctx, d + 1, 1), .floor = sk_doubles(m->ctx, d, 1)};
    if (model->noise) out->residual = sk_doubles(m->ctx, d, d);
    if (!out->typical || !out->floor || (model->noise && !out->residual)) status = SOCK_ENOMEM;
    sk_ends ends = {e->steps, e->y, e->next, e->h, NULL};
    if (status >= 0 && model->noise) {
        status = points_new(m->ctx, 2 * e->steps, d, &p);
        if (status >= 0) status = smooth_points(m, model, &p, out->residual);
        ends = (sk_ends){2 * e->steps, p.x0, p.x1, p.h, p.extra};
    }
    if (status >= 0) status = sk_pulled_new(m->ctx, &spec, &ends, &out->pulled);
    if (status >= 0 && kappa) stretch(out->pulled, kappa);
    if (status >= 0) status = find_typical(m->ctx, out);
    if (status >= 0) find_floor(out);
    points_clear(&p);
    if (status < 0) sk_rows_of_a_clear(out);
    return status;
}
