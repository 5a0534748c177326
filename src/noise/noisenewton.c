/* noisenewton.c - R and the scale of a by the frozen likelihood: a Newton step in (log R_kk, log s_k) with a Hessian
 * for each coordinate by differences. Eigenvalues of a Hessian are replaced by minus their moduli, steps cut, all
 * coordinates taken together at 1, 1/2, 1/4 of the step; the best is taken if the likelihood rises. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { SHARES = 3 };

typedef struct bench {
    const sk_measured *m;
    const sk_frozen *z;
    double *noise, *scale, *term; /* d x d, d, steps */
} bench;

/* The likelihood with R_kk exp(x_k0), s_k = exp(x_k1); x: d x 2. R and s stay on the bench. */
static sock_status likelihood(const bench *b, const double *x, double *out)
{
    const size_t d = b->m->series.d;
    for (size_t k = 0; k < d; k++) {
        b->scale[k] = exp(x[2 * k + 1]);
        for (size_t l = 0; l < d; l++)
            b->noise[k * d + l] = b->z->spec.noise[k * d + l] * exp(0.5 * (x[2 * k] + x[2 * l]));
    }
    const sk_frozen_change change = {.scale = b->scale, .noise = b->noise};
    SK_TRY(sk_frozen_scores(b->m->ctx, b->z, 0, b->m->series.runs, &change, b->term));
    *out = 0;
    for (size_t i = 0; i < b->m->series.steps; i++) *out += b->term[i];
    return SOCK_OK;
}

/* Gradient and Hessian of one coordinate; x (d x 2) is 0 and comes back so. */
typedef struct curve {
    double g[2], h[2][2];
} curve;

static sock_status differentiate(const bench *b, size_t k, double base, double *x, curve *out)
{
    static const double at[5][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}};
    const double e = SK_NEWTON_STEP;
    double l[5];
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        x[2 * k] = e * at[i][0];
        x[2 * k + 1] = e * at[i][1];
        SK_TRY(likelihood(b, x, &l[i]));
    }
    x[2 * k] = x[2 * k + 1] = 0;
    const double mixed = (l[4] - l[0] - l[2] + base) / (e * e);
    for (size_t i = 0; i < 2; i++) {
        out->g[i] = (l[2 * i] - l[2 * i + 1]) / (2 * e);
        out->h[i][i] = (l[2 * i] + l[2 * i + 1] - 2 * base) / (e * e);
        out->h[i][1 - i] = mixed;
    }
    return SOCK_OK;
}

/* step (2) = |H|^-1 g, cut. */
static void newton(const curve *c, double *step)
{
    double a[4] = {c->h[0][0], c->h[0][1], c->h[1][0], c->h[1][1]}, v[4];
    sk_jacobi(2, a, v);
    const double one = fabs(a[0]), other = fabs(a[3]), larger = fmax(one, other);
    const double along = (v[0] * c->g[0] + v[1] * c->g[1]) / sk_newton_curvature(one, larger);
    const double across = (v[2] * c->g[0] + v[3] * c->g[1]) / sk_newton_curvature(other, larger);
    step[0] = along * v[0] + across * v[2];
    step[1] = along * v[1] + across * v[3];
    const double cut = sk_newton_cut(fmax(fabs(step[0]), fabs(step[1])));
    for (int i = 0; i < 2; i++) step[i] *= cut;
}

/* sqrt of the first entry of (-H)^-1; NaN where there is none. */
static double error_of_log(const curve *c)
{
    const double determinant = c->h[0][0] * c->h[1][1] - c->h[0][1] * c->h[1][0];
    return sqrt(-c->h[1][1] / determinant);
}

static sock_status search(const bench *b, const double *floor, const sk_newton *out)
{
    static const double share[SHARES] = {1, 0.5, 0.25};
    const size_t d = b->m->series.d;
    double x[2 * SK_NOISE_MOST_DIM] = {0}, step[2 * SK_NOISE_MOST_DIM], base, best, taken = 0;
    SK_TRY(likelihood(b, x, &base));
    for (size_t k = 0; k < d; k++) {
        curve c = {.h = {{0}}};
        SK_TRY(differentiate(b, k, base, x, &c));
        newton(&c, step + 2 * k);
        const double complete = 0.5 * (double)b->m->series.steps / fmax(-c.h[1][1], 1e-9);
        out->kappa[k] = sk_newton_stretch(complete);
        out->error[k] = b->z->spec.noise[k * d + k] * error_of_log(&c);
    }
    best = base;
    for (size_t i = 0; i < SHARES; i++) {
        double value;
        for (size_t k = 0; k < 2 * d; k++) x[k] = share[i] * step[k];
        SK_TRY(likelihood(b, x, &value));
        if (value > best) best = value, taken = share[i];
    }
    for (size_t k = 0; k < 2 * d; k++) x[k] = taken * step[k];
    SK_TRY(likelihood(b, x, &best));
    memcpy(out->noise, b->noise, d * d * sizeof *out->noise);
    memcpy(out->scale, b->scale, d * sizeof *out->scale);
    for (size_t k = 0; k < d; k++) out->noise[k * d + k] = fmax(out->noise[k * d + k], floor[k]);
    return SOCK_OK;
}

sock_status sk_noise_newton(const sk_measured *m, const sk_frozen *z, const double *floor, const sk_newton *out)
{
    const size_t d = m->series.d;
    bench b = {m, z, sk_doubles(m->ctx, d, d), sk_doubles(m->ctx, d, 1), sk_doubles(m->ctx, m->series.steps, 1)};
    sock_status status = b.noise && b.scale && b.term ? search(&b, floor, out) : SOCK_ENOMEM;
    sk_free(b.noise);
    sk_free(b.scale);
    sk_free(b.term);
    return status;
}
