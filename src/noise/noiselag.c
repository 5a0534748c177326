/* noiselag.c - whether there is noise, and how much.
 *
 * Residuals e_i of a model on the raw data have Cov(e_i) = V + R + J R J' and E[e_{i+1} e_i'] = -J_{i+1} R: 0 without
 * noise. So products of neighbours say what R is and, by their spread, whether it is there. With p = -sym(J' e_{i+1}
 * e_i'), B = sum w p and G = sum w J'J the least squares are G R + R G = 2 B.
 *
 * For the z-scores e_i is cleared of what the state y_{i+1}, where the next step begins, says of it. A fitted drift has
 * made sum e_{i+1} phi(y_{i+1})' nothing, so that part of the products is nothing too, and its spread must not count:
 * over a step as long as the memory e_i is nearly all of y_{i+1}. And a drift that is wrong leaves e_{i+1} a function
 * of y_{i+1}, which is no noise. */
#include "noise/noiseregression.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

typedef struct lag {
    const sk_measured *m;
    const double *e, *slope, *variance; /* slope NULL: 1 */
    const double *cleared;              /* steps x d: of the step before, cleared; NULL: e itself */
    double sd[SK_NOISE_MOST_DIM];
    double b[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], g[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    double sum[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], square[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM]; /* for z */
} lag;

static sock_status find_units(lag *w)
{
    const size_t d = w->m->series.d, n = w->m->series.steps;
    double *value = sk_doubles_unset(w->m->ctx, n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < n; i++) value[i] = w->variance[i * d + k];
        const double middle = sk_median(n, value);
        w->sd[k] = middle > 0 ? sqrt(middle) : 1;
    }
    sk_free(value);
    return SOCK_OK;
}

/* J of step i in the units, cut to a norm of 2 sqrt(d). */
static void unit_slope(const lag *w, size_t i, double *j)
{
    const size_t d = w->m->series.d;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            j[k * d + l] = w->slope ? w->slope[(i * d + k) * d + l] * w->sd[l] / w->sd[k] : k == l;
    const double norm = sk_norm(d * d, j), most = 2 * sqrt((double)d);
    if (norm > most) sk_scale(d * d, most / norm, j);
}

/* The pair of steps i - 1 and i. */
static void add_pair(lag *w, size_t i)
{
    const size_t d = w->m->series.d;
    double j[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], back[SK_NOISE_MOST_DIM] = {0}, v = 0;
    const double *before = w->e + (i - 1) * d, *after = w->e + i * d;
    const double *cleared = w->cleared ? w->cleared + i * d : before;
    unit_slope(w, i, j);
    for (size_t k = 0; k < d; k++) {
        v += 0.5 * (w->variance[(i - 1) * d + k] + w->variance[i * d + k]) / (w->sd[k] * w->sd[k] * (double)d);
        sk_axpy(d, after[k] / w->sd[k], j + k * d, back);
    }
    const double weight = pow(v + SK_SIZE_SHARE, -2);
    if (!isfinite(weight) || !isfinite(sk_norm(d, back)) || !isfinite(sk_norm(d, before))) return;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double p = -0.5 * (back[k] * cleared[l] / w->sd[l] + back[l] * cleared[k] / w->sd[k]);
            w->b[k * d + l] -= 0.5 * weight * (back[k] * before[l] / w->sd[l] + back[l] * before[k] / w->sd[k]);
            w->sum[k * d + l] += weight * p;
            w->square[k * d + l] += weight * weight * p * p;
            for (size_t a = 0; a < d; a++) w->g[k * d + l] += weight * j[a * d + k] * j[a * d + l];
        }
}

/* G R + R G = 2 B through the eigenvectors of G. */
static void solve_lyapunov(size_t d, const double *g, const double *b, double *r)
{
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], v[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM],
        t[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], turned[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    memcpy(a, g, d * d * sizeof *a);
    sk_jacobi(d, a, v);
    sk_small_product(d, v, b, false, t);
    sk_small_product(d, t, v, true, turned);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) turned[k * d + l] *= 2 / (a[k * d + k] + a[l * d + l]);
    for (size_t k = 0; k < d; k++) /* V' X V */
        for (size_t l = 0; l < d; l++) t[k * d + l] = v[l * d + k];
    sk_small_product(d, t, turned, false, a);
    sk_small_product(d, a, t, true, r);
}

static sock_status test(lag *given, sk_lagged *out)
{
    const sk_measured *m = given->m;
    const size_t d = m->series.d;
    lag w = *given;
    SK_TRY(find_units(&w));
    out->pairs = 0;
    for (size_t r = 0; r < m->series.runs; r++)
        for (size_t i = m->series.first[r] + 1; i < m->series.first[r + 1]; i++, out->pairs++) add_pair(&w, i);
    solve_lyapunov(d, w.g, w.b, out->r);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            out->z[k * d + l] = w.sum[k * d + l] / sqrt(w.square[k * d + l] + 1e-300);
            out->r[k * d + l] *= w.sd[k] * w.sd[l];
        }
    return SOCK_OK;
}

sock_status sk_lag_test(const sk_measured *m, const double *e, const double *slope, const double *variance,
                        sk_lagged *out)
{
    return test(&(lag){.m = m, .e = e, .slope = slope, .variance = variance}, out);
}

/* ---- Cleared of the state ---- */

/* Rows: steps with one before. H = phi' phi, with next to no penalty, and g = phi' e of the step before. */
static void add_features(const sk_measured *m, const double *e, size_t p, const double *phi, double *h, double *g)
{
    const size_t d = m->series.d;
    double trace = 0;
    for (size_t r = 0; r < m->series.runs; r++)
        for (size_t i = m->series.first[r] + 1; i < m->series.first[r + 1]; i++) {
            const double *before = e + (i - 1) * d, *at = phi + i * p;
            if (!isfinite(sk_norm(d, before))) continue; /* the step was lost */
            for (size_t j = 0; j < p; j++) {
                sk_axpy(p, at[j], at, h + j * p);
                sk_axpy(d, at[j], before, g + j * d);
            }
        }
    for (size_t j = 0; j < p; j++) trace += h[j * (p + 1)];
    for (size_t j = 0; j < p; j++) h[j * (p + 1)] += SK_PILOT_RIDGE * trace / (double)p;
}

/* out (steps x d): e of the step before, less what features of the state where the step begins say of it. */
static sock_status clear_with(const sk_measured *m, const sk_features *map, const double *e, double *out)
{
    const size_t d = m->series.d, n = m->series.steps, p = sk_features_count(map);
    double *phi = sk_doubles_unset(m->ctx, n, p), *h = sk_doubles(m->ctx, p + d, p), *g = h ? h + p * p : NULL;
    sock_status status = phi && h ? sk_features_eval(m->ctx, map, n, m->series.y, phi, p) : SOCK_ENOMEM;
    if (status >= 0) {
        add_features(m, e, p, phi, h, g);
        status = sk_cholesky(m->ctx, p, h, p);
    }
    if (status >= 0) {
        sk_cholesky_solve(m->ctx, p, d, h, p, g, d);
        sk_gemm(m->ctx, SK_PLAIN, SK_PLAIN, n, d, p, -1, phi, p, g, d, 0, out, d);
        for (size_t i = d; i < n * d; i++) out[i] += e[i - d];
    }
    sk_free(phi);
    sk_free(h);
    return status;
}

/* With the richest features whose number is small beside that of the steps. */
static sock_status clear(const sk_measured *m, const double *e, double *out)
{
    sk_features *map[SK_NOISE_MAPS] = {0};
    sock_status status = sk_noise_maps(m, map);
    const sk_features *rich = map[SK_NOISE_RICH];
    if (rich && !sk_noise_may_clear(sk_features_count(rich), m->series.steps)) rich = NULL;
    if (status >= 0) status = clear_with(m, rich ? rich : map[SK_NOISE_AFFINE], e, out);
    for (size_t i = 0; i < SK_NOISE_MAPS; i++) sk_features_free(map[i]);
    return status;
}

/* ---- Of a model ---- */

sock_status sk_lag_test_model(const sk_measured *m, const sk_noisy *clean, sk_lagged *out)
{
    const size_t d = m->series.d, n = m->series.steps;
    const sk_filter_spec spec = sk_noisy_spec(m, clean);
    const sk_ends ends = {n, m->series.y, m->series.next, m->series.h, NULL};
    sk_pulled *q = NULL;
    double *e = sk_doubles(m->ctx, n, d), *variance = sk_doubles(m->ctx, n, d), *cleared = sk_doubles(m->ctx, n, d);
    sock_status status = e && variance && cleared ? sk_pulled_new(m->ctx, &spec, &ends, &q) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n * d; i++) {
        e[i] = m->series.next[i] - q->mean[i];
        variance[i] = q->cov[i / d * d * d + i % d * (d + 1)];
    }
    if (status >= 0) status = clear(m, e, cleared);
    if (status >= 0)
        status = test(&(lag){.m = m, .e = e, .slope = q->slope, .variance = variance, .cleared = cleared}, out);
    sk_pulled_free(q);
    sk_free(cleared);
    sk_free(e);
    sk_free(variance);
    return status;
}
