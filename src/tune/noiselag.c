/* noiselag.c - whether there is noise, and how much.
 *
 * Residuals e_i of a model on the raw data have Cov(e_i) = V + R + J R J' and E[e_{i+1} e_i'] = -J_{i+1} R: 0 without
 * noise. So products of neighbours say what R is and, by their spread, whether it is there. With p = -sym(J' e_{i+1}
 * e_i'), B = sum w p and G = sum w J'J the least squares are G R + R G = 2 B. */
#include "tune/noisefit.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

typedef struct lag {
    const sk_measured *m;
    const double *e, *slope, *variance; /* slope NULL: 1 */
    double sd[SK_NOISE_MOST_DIM];
    double b[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], g[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM],
        square[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
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
    unit_slope(w, i, j);
    for (size_t k = 0; k < d; k++) {
        v += 0.5 * (w->variance[(i - 1) * d + k] + w->variance[i * d + k]) / (w->sd[k] * w->sd[k] * (double)d);
        sk_axpy(d, after[k] / w->sd[k], j + k * d, back);
    }
    const double weight = pow(v + SK_SIZE_SHARE, -2);
    if (!isfinite(weight) || !isfinite(sk_norm(d, back)) || !isfinite(sk_norm(d, before))) return;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double p = -0.5 * (back[k] * before[l] / w->sd[l] + back[l] * before[k] / w->sd[k]);
            w->b[k * d + l] += weight * p;
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

sock_status sk_lag_test(const sk_measured *m, const double *e, const double *slope, const double *variance,
                        sk_lagged *out)
{
    const size_t d = m->series.d;
    lag w = {.m = m, .e = e, .slope = slope, .variance = variance};
    SK_TRY(find_units(&w));
    out->pairs = 0;
    for (size_t r = 0; r < m->series.runs; r++)
        for (size_t i = m->series.first[r] + 1; i < m->series.first[r + 1]; i++, out->pairs++) add_pair(&w, i);
    solve_lyapunov(d, w.g, w.b, out->r);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            out->z[k * d + l] = w.b[k * d + l] / sqrt(w.square[k * d + l] + 1e-300);
            out->r[k * d + l] *= w.sd[k] * w.sd[l];
        }
    return SOCK_OK;
}

sock_status sk_lag_test_model(const sk_measured *m, const sk_noisy *clean, sk_lagged *out)
{
    const size_t d = m->series.d, n = m->series.steps;
    const sk_filter_spec spec = sk_noisy_spec(m, clean);
    const sk_ends ends = {n, m->series.y, m->series.next, m->series.h, NULL};
    sk_pulled *q = NULL;
    double *e = sk_doubles(m->ctx, n, d), *variance = sk_doubles(m->ctx, n, d);
    sock_status status = e && variance ? sk_pulled_new(m->ctx, &spec, &ends, &q) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n * d; i++) {
        e[i] = m->series.next[i] - q->mean[i];
        variance[i] = q->cov[i / d * d * d + i % d * (d + 1)];
    }
    if (status >= 0) status = sk_lag_test(m, e, q->slope, variance, out);
    sk_pulled_free(q);
    sk_free(e);
    sk_free(variance);
    return status;
}
