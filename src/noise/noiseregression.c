/* noiseregression.c - one regression of increments, and the constant a and R that its residuals speak for. See
 * noiseregression.h. */
#include "noise/noiseregression.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void sk_regression_clear(sk_regression *g)
{
    double *const own[] = {g->psi, g->used, g->t, g->precision, g->u, g->e, g->variance, g->w};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sk_free(own[i]);
    sk_pulled_free(g->pulled);
}

sock_status sk_regression_new(const sk_measured *m, const sk_features *map, sk_regression *g)
{
    const size_t n = m->series.steps, d = m->series.d, p = sk_features_count(map);
    *g = (sk_regression){.m = m, .map = map, .p = p};
    g->psi = sk_doubles(m->ctx, n, p);
    g->used = sk_doubles(m->ctx, n, p);
    g->t = sk_doubles(m->ctx, n, d);
    g->precision = sk_doubles(m->ctx, n, d * d);
    g->u = sk_doubles(m->ctx, n, d);
    g->e = sk_doubles(m->ctx, n, d);
    g->variance = sk_doubles(m->ctx, n, d);
    g->w = sk_doubles(m->ctx, p, d);
    return g->psi && g->used && g->t && g->precision && g->u && g->e && g->variance && g->w ? SOCK_OK : SOCK_ENOMEM;
}

/* From the left point: h phi(y), increments, weights of the size of all increments. */
sock_status sk_regression_left(sk_regression *g)
{
    const sk_series *s = &g->m->series;
    const size_t d = s->d;
    double square = 0;
    SK_TRY(sk_features_eval(g->m->ctx, g->map, s->steps, s->y, g->psi, g->p));
    for (size_t i = 0; i < s->steps; i++) {
        sk_scale(g->p, s->h[i], g->psi + i * g->p);
        for (size_t k = 0; k < d; k++) {
            g->t[i * d + k] = s->next[i * d + k] - s->y[i * d + k];
            square += g->t[i * d + k] * g->t[i * d + k] / (double)(s->steps * d);
        }
    }
    for (size_t i = 0; i < s->steps; i++)
        for (size_t k = 0; k < d; k++) g->precision[(i * d + k) * d + k] = 1 / fmax(square, 1e-300);
    return SOCK_OK;
}

static void invert(size_t d, double *a)
{
    double c[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    sk_factor_copy(d, 0, a, c);
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l < d; l++) a[k * d + l] = k == l;
        sk_small_solve(d, c, a + k * d);
    }
}

/* About a model: its nodes, targets F^-1 (x1 - m_h) + I f, precisions of I a. */
sock_status sk_regression_along(sk_regression *g, const sk_noisy *now)
{
    const sk_series *s = &g->m->series;
    const size_t d = s->d, d2 = d * d;
    const sk_filter_spec spec = sk_noisy_spec(g->m, now);
    const sk_ends ends = {s->steps, s->y, s->next, s->h, NULL};
    SK_TRY(sk_pulled_new(g->m->ctx, &spec, &ends, &g->pulled));
    const sk_pulled *q = g->pulled;
    SK_TRY(sk_occupation_features(g->m->ctx, q->rule, g->map, 0, s->steps, g->psi, g->p));
    for (size_t i = 0; i < s->steps; i++)
        for (size_t k = 0; k < d; k++)
            g->variance[i] += q->diffusion[i * d2 + k * (d + 1)] / (double)d; /* for a while */
    memcpy(g->e, g->variance, s->steps * sizeof *g->e);
    const double middle = sk_median(s->steps, g->e);
    for (size_t i = 0; i < s->steps; i++) {
        double *w = g->precision + i * d2;
        for (size_t k = 0; k < d; k++) g->t[i * d + k] = q->u[i * d + k] + q->drift[i * d + k];
        if (!q->good[i]) continue;
        memcpy(w, q->diffusion + i * d2, d2 * sizeof *w);
        for (size_t k = 0; k < d; k++) w[k * (d + 1)] += SK_VARIANCE_SHARE * middle;
        invert(d, w);
    }
    return SOCK_OK;
}

/* Regressors are replaced by their projection on the features of the observation before; rows without one do not count.
 */
sock_status sk_regression_instrument(const sk_regression *g)
{
    const sk_series *s = &g->m->series;
    const size_t n = s->steps, p = g->p;
    double *z = sk_doubles(g->m->ctx, n, p), *gram = sk_doubles(g->m->ctx, p, p), *c = sk_doubles(g->m->ctx, p, p);
    double trace = 0;
    sock_status status = z && gram && c ? SOCK_OK : SOCK_ENOMEM;
    for (size_t r = 0; status >= 0 && r < s->runs; r++)
        if (s->first[r + 1] > s->first[r] + 1)
            status = sk_features_eval(g->m->ctx, g->map, s->first[r + 1] - s->first[r] - 1, s->y + s->first[r] * s->d,
                                      z + (s->first[r] + 1) * p, p);
    if (status >= 0) {
        sk_syrk(g->m->ctx, SK_TRANSPOSED, p, n, 1, z, p, 0, gram, p);
        for (size_t k = 0; k < p; k++) trace += gram[k * (p + 1)];
        for (size_t k = 0; k < p; k++) gram[k * (p + 1)] += SK_PILOT_RIDGE * trace / (double)p;
        sk_gemm(g->m->ctx, SK_TRANSPOSED, SK_PLAIN, p, p, n, 1, z, p, g->psi, p, 0, c, p);
        status = sk_cholesky(g->m->ctx, p, gram, p);
    }
    if (status >= 0) {
        sk_cholesky_solve(g->m->ctx, p, p, gram, p, c, p);
        sk_gemm(g->m->ctx, SK_PLAIN, SK_PLAIN, n, p, p, 1, z, p, c, p, 0, g->used, p);
    }
    sk_free(z);
    sk_free(gram);
    sk_free(c);
    return status;
}

/* Weights of rows psi, t with precisions, next to no penalty. */
sock_status sk_regress(const sk_regression *g, const double *psi)
{
    static const double l = SK_PILOT_RIDGE;
    const size_t d = g->m->series.d;
    const sk_view v = {
        .n = g->m->series.steps, .d = d, .precision = g->precision, .t = g->t, .spec = {.weighted = true}};
    sk_drift_sums *sums = NULL;
    SK_TRY(sk_drift_sums_new(g->m->ctx, g->p, d, 0, SK_JOINT, &sums));
    sock_status status = sk_drift_sums_add(g->m->ctx, sums, &v, psi);
    if (status >= 0) status = sk_drift_sums_ridge(g->m->ctx, sums, 0, 1, &l, g->w, NULL);
    sk_drift_sums_free(sums);
    return status;
}

/* u = t - psi w, e = F u, and the variances of e. */
void sk_regression_residuals(const sk_regression *g)
{
    const size_t n = g->m->series.steps, d = g->m->series.d;
    double mean[SK_NOISE_MOST_DIM] = {0};
    assert(d > 0);
    memcpy(g->u, g->t, n * d * sizeof *g->u);
    sk_gemm(g->m->ctx, SK_PLAIN, SK_PLAIN, n, d, g->p, -1, g->psi, g->p, g->w, d, 1, g->u, d);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) {
            double *e = g->e + i * d + k;
            *e = g->pulled ? sk_dot(d, g->pulled->average + (i * d + k) * d, g->u + i * d) : g->u[i * d + k];
            if (g->pulled && !g->pulled->good[i]) *e = 0;
            mean[k] += *e * *e / (double)n;
            if (g->pulled) g->variance[i * d + k] = g->pulled->cov[(i * d + k) * d + k];
        }
    for (size_t i = 0; !g->pulled && i < n * d; i++) g->variance[i] = mean[i % d];
}

/* z += F^-1 (R + J R J') F^-T times -1, of row i. */
static void take_noise(const sk_regression *g, size_t i, const double *noise, double *z)
{
    const size_t d = g->m->series.d, d2 = d * d;
    double t[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], q[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM],
        f[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    size_t pivot[SK_NOISE_MOST_DIM];
    if (!g->pulled) {
        for (size_t k = 0; k < d2; k++) z[k] -= 2 * noise[k];
        return;
    }
    const double *j = g->pulled->slope + i * d2;
    sk_small_product(d, j, noise, false, t);
    sk_small_product(d, t, j, true, q);
    sk_axpy(d2, 1, noise, q);
    memcpy(f, g->pulled->average + i * d2, d2 * sizeof *f);
    if (!sk_eliminate(d, SK_LEAST_TURN, f, pivot)) return;
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < d; k++) sk_unwind(d, f, pivot, q + k * d);
        sk_transpose(d, d, q, d, t, d);
        memcpy(q, t, d2 * sizeof *q);
    }
    sk_axpy(d2, -1, q, z);
}

/* A constant a: the mean of z/h, its diagonal at least a tenth of that of u u'/h. */
void sk_mean_diffusion(const sk_regression *g, const double *noise, double *a)
{
    const sk_series *s = &g->m->series;
    const size_t d = s->d, d2 = d * d;
    double z[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM] = {0}, plain[SK_NOISE_MOST_DIM] = {0}, time = 0;
    memset(a, 0, d2 * sizeof *a);
    for (size_t i = 0; i < s->steps; i++) {
        const double *u = g->u + i * d;
        if (g->pulled && !g->pulled->good[i]) continue;
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) {
                const double *own = g->pulled ? g->pulled->u + i * d : NULL;
                z[k * d + l] = u[k] * u[l] + (own ? g->pulled->z[i * d2 + k * d + l] - own[k] * own[l] : 0);
            }
        if (noise) take_noise(g, i, noise, z);
        sk_axpy(d2, 1, z, a);
        for (size_t k = 0; k < d; k++) plain[k] += u[k] * u[k];
        time += s->h[i];
    }
    for (size_t k = 0; k < d2; k++) a[k] /= time;
    sk_nearest_psd(d, 0, a);
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = sk_pilot_least_a(a[k * (d + 1)], plain[k] / time);
}

/* The least R: a share of the median square residual, which is 0.455 of the mean of a Gaussian's, by theory. */
sock_status sk_least_noise(const sk_regression *g, double *least)
{
    const size_t d = g->m->series.d, n = g->m->series.steps;
    double *value = sk_doubles_unset(g->m->ctx, n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < n; i++) value[i] = g->e[i * d + k] * g->e[i * d + k];
        least[k] = sk_noise_least_first(sk_median(n, value)) / 0.455; /* by theory */
    }
    sk_free(value);
    return SOCK_OK;
}

/* R from products of neighbours, not below the least. */
sock_status sk_first_noise(const sk_regression *g, const double *least, double *noise)
{
    const size_t d = g->m->series.d;
    double z[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], smallest = INFINITY;
    sk_lagged lagged = {.r = noise, .z = z};
    SK_TRY(sk_lag_test(g->m, g->e, g->pulled ? g->pulled->slope : NULL, g->variance, &lagged));
    for (size_t k = 0; k < d; k++) smallest = fmin(smallest, least[k]);
    if (g->m->mode == SK_NOISE_FULL) sk_nearest_psd(d, smallest, noise);
    for (size_t k = 0; g->m->mode != SK_NOISE_FULL && k < d; k++)
        for (size_t l = 0; l < d; l++) noise[k * d + l] = k == l ? fmax(noise[k * d + l], least[k]) : 0;
    return SOCK_OK;
}

/* ---- Beginnings ---- */

sock_status sk_first_model(const sk_measured *m, const sk_features *map, const double *w, const double *a,
                           sock_model **out)
{
    sock_model *model = NULL;
    SK_TRY(sk_model_new(m->ctx, m->series.d, m->names, &model));
    sock_status status = sk_add_weights(m->ctx, map, w, model);
    if (status >= 0) status = sk_add_constant(m->ctx, a, model);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return SOCK_OK;
}
