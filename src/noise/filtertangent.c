/* filtertangent.c - see filtertangent.h. Cost of a step: d^3 for each direction. */
#include "noise/filtertangent.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { MOST = SK_NOISE_MOST_DIM, SQUARE = MOST * MOST };

size_t sk_tangent_rows(size_t d) { return d + d * (d + 1) / 2; }

/* C C' = S of step i, or false. */
static bool factor_of(const sk_frozen *z, size_t i, double *c)
{
    const size_t d = z->series->d, d2 = d * d;
    double s[SQUARE];
    for (size_t k = 0; k < d2; k++) s[k] = z->pass.cov[i * d2 + k] + (z->spec.noise ? z->spec.noise[k] : 0);
    return !z->pass.lost[i] && sk_factor_copy(d, 1e-12, s, c) == 0 && isfinite(c[d2 - 1]);
}

/* x := C^-1 x, numbers `ld` apart. */
static void forward(size_t d, const double *c, double *x, size_t ld)
{
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l < k; l++) x[k * ld] -= c[k * d + l] * x[l * ld];
        x[k * ld] /= c[k * (d + 1)];
    }
}

static void put_row(size_t d, const double *c, const double *mean, const double *variance, double *y, size_t ld)
{
    double e[MOST], m[SQUARE];
    memcpy(e, mean, d * sizeof *e);
    memcpy(m, variance, d * d * sizeof *m);
    forward(d, c, e, 1);
    for (size_t k = 0; k < d; k++) forward(d, c, m + k, d); /* columns, then rows */
    for (size_t k = 0; k < d; k++) forward(d, c, m + k * d, 1);
    for (size_t k = 0; k < d; k++, y += ld) *y = e[k];
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l <= k; l++, y += ld) *y = k == l ? m[k * d + l] / sqrt(2) : m[k * d + l];
}

void sk_tangent_row(const sk_frozen *z, size_t i, const double *mean, const double *variance, double *y, size_t ld)
{
    const size_t d = z->series->d;
    double c[SQUARE];
    if (factor_of(z, i, c)) {
        put_row(d, c, mean, variance, y, ld);
        return;
    }
    for (size_t k = 0; k < sk_tangent_rows(d); k++) y[k * ld] = 0;
}

/* What a direction carries from step to step. */
typedef struct carried {
    double x[MOST], p[SQUARE];
} carried;

static void begin_at(size_t d, const double *dr, carried *t)
{
    memset(t, 0, sizeof *t);
    if (dr) memcpy(t->p, dr, d * d * sizeof *dr);
}

/* out = m a m', d x d. */
static void about(size_t d, const double *m, const double *a, double *out)
{
    double t[SQUARE];
    sk_small_product(d, m, a, false, t);
    sk_small_product(d, t, m, true, out);
}

/* Mean and variance of the end of step i. */
static void predict(const sk_frozen *z, size_t i, const double *dv, const carried *t, double *mean, double *variance)
{
    const size_t d = z->series->d, d2 = d * d;
    for (size_t k = 0; k < d; k++) mean[k] = sk_dot(d, z->pass.slope + i * d2 + k * d, t->x);
    about(d, z->pass.slope + i * d2, t->p, variance);
    for (size_t k = 0; k < d2; k++) variance[k] += dv[k];
}

/* After the observation; c: factor of S. A step that does not count moves no mean by its innovation. */
static void observe(const sk_frozen *z, size_t i, const double *c, const double *dr, const double *mean,
                    const double *variance, carried *t)
{
    const size_t d = z->series->d, d2 = d * d;
    const double *keep = z->keep + i * d2;
    const bool counts = sk_norm(d2, z->white + i * d2) > 0;
    double gain[SQUARE], change[SQUARE], e[MOST], noise[SQUARE];
    for (size_t k = 0; k < d2; k++) gain[k] = (k % (d + 1) == 0) - keep[k];
    sk_small_product(d, keep, variance, false, change);
    if (dr) {
        sk_small_product(d, gain, dr, false, noise);
        for (size_t k = 0; k < d2; k++) change[k] -= noise[k];
    }
    for (size_t k = 0; k < d; k++) e[k] = counts ? z->e[i * d + k] : 0;
    sk_small_solve(d, c, e);
    for (size_t k = 0; k < d; k++) t->x[k] = sk_dot(d, keep + k * d, mean) + sk_dot(d, change + k * d, e);
    about(d, keep, variance, t->p);
    if (!dr) return;
    about(d, gain, dr, noise);
    for (size_t k = 0; k < d2; k++) t->p[k] += noise[k];
}

/* One step of one direction; c: factor of S, NULL where the law was lost. */
static void step_on(const sk_frozen *z, size_t i, const double *c, const double *dv, const double *dr, carried *t,
                    double *y, size_t ld)
{
    const size_t d = z->series->d, rows = sk_tangent_rows(d);
    double mean[MOST], variance[SQUARE], whole[SQUARE];
    if (!c) {
        begin_at(d, dr, t);
        for (size_t k = 0; k < rows; k++) y[k * ld] = 0;
        return;
    }
    predict(z, i, dv, t, mean, variance);
    for (size_t k = 0; k < d * d; k++) whole[k] = variance[k] + (dr ? dr[k] : 0);
    put_row(d, c, mean, whole, y, ld);
    observe(z, i, c, dr, mean, variance, t);
}

sock_status sk_tangent_run(sock_context *ctx, const sk_frozen *z, size_t run, size_t count, const double *dv,
                           const double *dr, double *y, size_t ld)
{
    const size_t d = z->series->d, d2 = d * d, first = z->series->first[run], rows = sk_tangent_rows(d);
    carried *t = sk_alloc(ctx, count, sizeof *t);
    double c[SQUARE];
    if (!t) return SOCK_ENOMEM;
    for (size_t u = 0; u < count; u++) begin_at(d, dr ? dr + u * d2 : NULL, &t[u]);
    for (size_t i = first; i < z->series->first[run + 1]; i++) {
        const bool good = factor_of(z, i, c);
        for (size_t u = 0; u < count; u++)
            step_on(z, i, good ? c : NULL, dv + ((i - first) * count + u) * d2, dr ? dr + u * d2 : NULL, &t[u],
                    y + (i - first) * rows * ld + u, ld);
    }
    sk_free(t);
    return SOCK_OK;
}
