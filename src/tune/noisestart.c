/* noisestart.c - where the iterations begin; and whether there is noise at all.
 *
 * Residuals e_i of a model on the raw data have Cov(e_i) = V + R + J R J' and E[e_{i+1} e_i'] = -J_{i+1} R: 0 without
 * noise. So products of neighbours say what R is and, by their spread, whether it is there. With p = -sym(J' e_{i+1}
 * e_i'), B = sum w p and G = sum w J'J the least squares are G R + R G = 2 B.
 *
 * Beginnings: drifts by regression of increments, affine and the richest polynomial, plain (attracted to the noise) and
 * with the observation before as instrument (unbiased, but of larger variance); constant a, less what R explains. Where
 * steps are long, affine drifts too that are improved on the filter's likelihood, one of them from the logarithm of the
 * discrete regression: from the left point the way may end in a wrong valley. The best likelihood goes on. */
#include "tune/noisefit.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- The test ---- */

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

/* ---- One regression ---- */

/* Rows of a regression: psi (n x p), t (n x d), and what a linear fit of a wants beside residuals. */
typedef struct regression {
    const sk_measured *m;
    const sk_features *map;
    size_t p;
    sk_pulled *pulled; /* NULL: increments from the left point */
    double *psi, *used, *t, *precision, *u, *e, *variance;
    double *w;
} regression;

static void regression_clear(regression *g)
{
    double *const own[] = {g->psi, g->used, g->t, g->precision, g->u, g->e, g->variance, g->w};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sk_free(own[i]);
    sk_pulled_free(g->pulled);
}

static sock_status regression_new(const sk_measured *m, const sk_features *map, regression *g)
{
    const size_t n = m->series.steps, d = m->series.d, p = sk_features_count(map);
    *g = (regression){.m = m, .map = map, .p = p};
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
static sock_status look_left(regression *g)
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
static sock_status look_along(regression *g, const sk_noisy *now)
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
static sock_status instrument(const regression *g)
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
static sock_status regress(const regression *g, const double *psi)
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
static void find_residuals(const regression *g)
{
    const size_t n = g->m->series.steps, d = g->m->series.d;
    double mean[SK_NOISE_MOST_DIM] = {0};
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
static void take_noise(const regression *g, size_t i, const double *noise, double *z)
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
static void mean_diffusion(const regression *g, const double *noise, double *a)
{
    const sk_series *s = &g->m->series;
    const size_t d = s->d, d2 = d * d;
    double z[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], plain[SK_NOISE_MOST_DIM] = {0}, time = 0;
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
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = fmax(a[k * (d + 1)], SK_PILOT_SHARE * plain[k] / time);
}

/* The least R: a share of the median square residual, which is 0.455 of the mean of a Gaussian's. */
static sock_status find_least(const regression *g, double *least)
{
    const size_t d = g->m->series.d, n = g->m->series.steps;
    double *value = sk_doubles_unset(g->m->ctx, n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < n; i++) value[i] = g->e[i * d + k] * g->e[i * d + k];
        least[k] = SK_LEAST_NOISE * sk_median(n, value) / 0.455;
    }
    sk_free(value);
    return SOCK_OK;
}

/* R from products of neighbours, not below the least. */
static sock_status find_noise(const regression *g, const double *least, double *noise)
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

static sock_status make_model(const sk_measured *m, const sk_features *map, const double *w, const double *a,
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

/* One pass about `now` (model NULL: the first, from the left point); now becomes what it found. */
static sock_status pass(const sk_measured *m, const sk_features *map, bool instruments, sk_noisy *now, double *least)
{
    const bool noisy = m->mode != SK_NOISE_NONE, first = !now->model;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    sock_model *model = NULL;
    regression g;
    sock_status status = regression_new(m, map, &g);
    if (status >= 0) status = first ? look_left(&g) : look_along(&g, now);
    if (status >= 0 && instruments && !first) status = instrument(&g);
    if (status >= 0) status = regress(&g, instruments && !first ? g.used : g.psi);
    if (status >= 0) {
        find_residuals(&g);
        status = find_least(&g, least);
    }
    if (status >= 0 && noisy) status = find_noise(&g, least, now->noise);
    if (status >= 0) {
        mean_diffusion(&g, noisy ? now->noise : NULL, a);
        status = make_model(m, map, g.w, a, &model);
    }
    if (status >= 0) {
        sock_model_free(now->model);
        now->model = model;
    }
    regression_clear(&g);
    return status;
}

/* The better of two goes on; the other is freed. */
static void keep_better(sk_noisy *best, double *best_least, sk_noisy *now, const double *least, size_t d)
{
    if (now->model && isfinite(now->sum) && (!best->model || now->sum > best->sum)) {
        const sk_noisy last = *best;
        *best = *now;
        *now = last;
        memcpy(best_least, least, d * sizeof *least);
    }
    sk_noisy_clear(now);
}

static sock_status begin(const sk_measured *m, const sk_features *map, bool instruments, sk_substeps substeps,
                         sk_noisy *best, double *best_least)
{
    const size_t d = m->series.d;
    const int passes = m->mode == SK_NOISE_NONE && substeps.count > 1 ? 1 : 2;
    double least[SK_NOISE_MOST_DIM];
    sk_noisy now = {.substeps = substeps};
    sock_status status = SOCK_OK;
    if (m->mode != SK_NOISE_NONE && !(now.noise = sk_doubles(m->ctx, d, d))) return SOCK_ENOMEM;
    for (int i = 0; status >= 0 && i < passes; i++) status = pass(m, map, instruments, &now, least);
    if (status >= 0) status = sk_noisy_score(m, &now);
    if (status >= 0) keep_better(best, best_least, &now, least, d);
    sk_noisy_clear(&now);
    return sk_tolerate(status);
}

/* ---- Affine pilots for long steps ---- */

/* Constant a about the model itself, from rows whose residual is not far out; the model gets it. */
static sock_status renew_a(const sk_measured *m, const sk_features *map, const double *w, sk_noisy *now)
{
    const size_t d = m->series.d, n = m->series.steps;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], *norm = sk_doubles(m->ctx, n, 1);
    sock_model *model = NULL;
    regression g;
    sock_status status = regression_new(m, map, &g);
    if (status >= 0) status = norm ? look_along(&g, now) : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(g.u, g.pulled->u, n * d * sizeof *g.u);
        for (size_t i = 0; i < n; i++) norm[i] = sk_norm(d, g.u + i * d);
        const double far = SK_FAR_OUT * sk_median(n, norm);
        for (size_t i = 0; i < n; i++) g.pulled->good[i] = g.pulled->good[i] && sk_norm(d, g.u + i * d) < far;
        mean_diffusion(&g, now->noise, a);
        status = make_model(m, map, w, a, &model);
    }
    if (status >= 0) {
        sock_model_free(now->model);
        now->model = model;
        status = sk_noisy_score(m, now);
    }
    regression_clear(&g);
    sk_free(norm);
    return status;
}

/* Weights of one Gauss-Newton step on the likelihood of the filter. */
static sock_status gauss_newton(const sk_measured *m, const sk_features *map, const sk_noisy *now, double *w)
{
    static const double l = SK_PILOT_RIDGE;
    const size_t p = sk_features_count(map), n = m->series.steps;
    const sk_filter_spec spec = sk_noisy_spec(m, now);
    sk_frozen *z = NULL;
    sk_rule *rule = NULL;
    sk_drift_sums *sums = NULL;
    double *psi = NULL;
    sock_status status;
    SK_GO(sk_frozen_new(m->ctx, &m->series, &spec, &z));
    SK_GO(sk_frozen_rule(m->ctx, z, 0, n, true, &rule));
    psi = sk_doubles_unset(m->ctx, n * z->times, p);
    SK_GO(psi ? sk_occupation_features(m->ctx, rule, map, 0, n * z->times, psi, p) : SOCK_ENOMEM);
    SK_GO(sk_drift_sums_new(m->ctx, p, m->series.d, 0, SK_JOINT, &sums));
    const sk_innovations in = sk_frozen_innovations(z, 0, n, 0);
    SK_GO(sk_drift_sums_add_innovations(m->ctx, sums, &in, psi));
    SK_GO(sk_drift_sums_ridge(m->ctx, sums, 0, 1, &l, w, NULL));
out:
    sk_drift_sums_free(sums);
    sk_rule_free(rule);
    sk_frozen_free(z);
    sk_free(psi);
    return status;
}

static sock_status copy_noise(const sk_measured *m, const double *from, double **to)
{
    const size_t d = m->series.d;
    if (!from) return SOCK_OK;
    *to = sk_doubles(m->ctx, d, d);
    if (!*to) return SOCK_ENOMEM;
    memcpy(*to, from, d * d * sizeof *from);
    return SOCK_OK;
}

/* The best of 1, 1/2, 1/4 of the way from w to next; *gain in nats. */
static sock_status line_search(const sk_measured *m, const sk_features *map, double *w, const double *next,
                               sk_noisy *now, double *gain)
{
    const size_t size = sk_features_count(map) * m->series.d;
    double *at = sk_doubles(m->ctx, size, 1), *taken = sk_doubles(m->ctx, size, 1);
    const double before = now->sum;
    sk_noisy best = {0};
    sock_status status = at && taken ? SOCK_OK : SOCK_ENOMEM;
    for (double share = 1; status >= 0 && share > 0.2; share /= 2) {
        sk_noisy one = {.substeps = now->substeps};
        for (size_t i = 0; i < size; i++) at[i] = w[i] + share * (next[i] - w[i]);
        status = copy_noise(m, now->noise, &one.noise);
        if (status >= 0) status = sk_model_new(m->ctx, m->series.d, m->names, &one.model);
        if (status >= 0) status = sk_add_weights(m->ctx, map, at, one.model);
        if (status >= 0) status = sk_add_diffusion_of(m->ctx, now->model, NULL, one.model); /* until it has its own */
        if (status >= 0) status = renew_a(m, map, at, &one);
        if (status >= 0 && (!best.model || one.sum > best.sum)) {
            const sk_noisy last = best;
            best = one;
            one = last;
            memcpy(taken, at, size * sizeof *at);
        }
        sk_noisy_clear(&one);
        if (status >= 0 && best.sum > before + 1) break;
    }
    *gain = best.model ? best.sum - before : 0;
    if (status >= 0 && *gain > 0) {
        sk_noisy_clear(now);
        *now = best;
        best = (sk_noisy){0};
        memcpy(w, taken, size * sizeof *w);
    }
    sk_noisy_clear(&best);
    sk_free(at);
    sk_free(taken);
    return status;
}

/* An affine drift with weights w, improved until a pass gains less than half a nat. */
static sock_status improve(const sk_measured *m, const sk_features *map, double *w, const sk_noisy *like,
                           sk_noisy *best, double *best_least)
{
    const size_t d = m->series.d, size = sk_features_count(map) * d;
    double *next = sk_doubles(m->ctx, size, 1), gain = INFINITY, least[SK_NOISE_MOST_DIM];
    sk_noisy now = {.substeps = like->substeps};
    sock_status status = next ? copy_noise(m, like->noise, &now.noise) : SOCK_ENOMEM;
    memcpy(least, best_least, d * sizeof *least);
    if (status >= 0) status = sk_model_new(m->ctx, d, m->names, &now.model);
    if (status >= 0) status = sk_add_weights(m->ctx, map, w, now.model);
    if (status >= 0) status = sk_add_diffusion_of(m->ctx, like->model, NULL, now.model);
    if (status >= 0) status = renew_a(m, map, w, &now);
    for (int i = 0; status >= 0 && i < SK_PILOT_PASSES && gain >= 0.5; i++) {
        status = gauss_newton(m, map, &now, next);
        if (status >= 0) status = line_search(m, map, w, next, &now, &gain);
    }
    if (status >= 0) keep_better(best, best_least, &now, least, d);
    sk_noisy_clear(&now);
    sk_free(next);
    return sk_tolerate(status);
}

/* ---- The logarithm of the discrete regression ---- */

enum { WIDE = SK_NOISE_MOST_DIM + 1 };

static bool invert_general(size_t n, const double *a, double *out)
{
    double m[WIDE * WIDE], column[WIDE];
    size_t pivot[WIDE];
    memcpy(m, a, n * n * sizeof *m);
    if (!sk_eliminate(n, 1e-12, m, pivot)) return false;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) column[i] = i == k;
        sk_unwind(n, m, pivot, column);
        for (size_t i = 0; i < n; i++) out[i * n + k] = column[i];
    }
    return true;
}

/* a := its square root (Denman and Beavers); false where it does not settle: an eigenvalue is negative. */
static bool take_root(size_t n, double *a)
{
    double z[WIDE * WIDE] = {0}, y1[WIDE * WIDE], z1[WIDE * WIDE];
    for (size_t k = 0; k < n; k++) z[k * (n + 1)] = 1;
    for (int i = 0; i < 60; i++) {
        double change = 0;
        if (!invert_general(n, z, z1) || !invert_general(n, a, y1)) return false;
        for (size_t k = 0; k < n * n; k++) {
            const double next = 0.5 * (a[k] + z1[k]);
            change += fabs(next - a[k]);
            z[k] = 0.5 * (z[k] + y1[k]);
            a[k] = next;
        }
        if (!isfinite(change)) return false;
        if (change < 1e-13 * (double)(n * n)) return true;
    }
    return false;
}

/* a := its logarithm: roots until it is near 1, then the series of log(1 + x). */
static bool take_logarithm(size_t n, double *a)
{
    double power[WIDE * WIDE], t[WIDE * WIDE], sum[WIDE * WIDE], factor = 1, size = INFINITY;
    for (int roots = 0; roots < 40 && size > 0.1; roots++) {
        if (!take_root(n, a)) return false;
        factor *= 2;
        size = 0;
        for (size_t k = 0; k < n * n; k++) size = fmax(size, fabs(a[k] - (k % (n + 1) == 0)));
    }
    for (size_t k = 0; k < n; k++) a[k * (n + 1)] -= 1;
    memcpy(power, a, n * n * sizeof *a);
    memcpy(sum, a, n * n * sizeof *a);
    for (int i = 2; i < 60; i++) {
        sk_small_product(n, power, a, false, t);
        memcpy(power, t, n * n * sizeof *t);
        sk_axpy(n * n, (i % 2 ? 1.0 : -1.0) / i, power, sum);
    }
    for (size_t k = 0; k < n * n; k++) a[k] = factor * sum[k];
    return size <= 0.1;
}

static bool steps_alike(const sk_series *s)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < s->steps; i++) {
        low = fmin(low, s->h[i]);
        high = fmax(high, s->h[i]);
    }
    return high - low <= 1e-6 * low;
}

/* [[1, 0], [b, B]] of the regression y' = b + B y. */
static sock_status discrete(const sk_measured *m, double *out)
{
    const sk_series *s = &m->series;
    const size_t d = s->d, n = d + 1;
    double gram[WIDE * WIDE] = {0}, side[WIDE * WIDE] = {0}, x[WIDE] = {1};
    for (size_t i = 0; i < s->steps; i++) {
        memcpy(x + 1, s->y + i * d, d * sizeof *x);
        for (size_t k = 0; k < n; k++) {
            sk_axpy(n, x[k], x, gram + k * n);
            sk_axpy(d, x[k], s->next + i * d, side + k * d);
        }
    }
    SK_TRY(sk_cholesky(m->ctx, n, gram, n));
    sk_cholesky_solve(m->ctx, n, d, gram, n, side, d);
    memset(out, 0, n * n * sizeof *out);
    out[0] = 1;
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < n; j++) out[(k + 1) * n + j] = side[j * d + k];
    return SOCK_OK;
}

/* Weights of the features that give the drift b + B x with [., .; b, B] = g: by a regression on the data themselves. */
static sock_status weights_of(const sk_measured *m, const sk_features *map, const double *g, double *w)
{
    const sk_series *s = &m->series;
    const size_t d = s->d;
    regression r;
    sock_status status = regression_new(m, map, &r);
    if (status >= 0) status = sk_features_eval(m->ctx, map, s->steps, s->y, r.psi, r.p);
    for (size_t i = 0; status >= 0 && i < s->steps; i++)
        for (size_t k = 0; k < d; k++) {
            const double *row = g + (k + 1) * (d + 1);
            r.t[i * d + k] = row[0] + sk_dot(d, row + 1, s->y + i * d);
            r.precision[(i * d + k) * d + k] = 1;
        }
    if (status >= 0) status = regress(&r, r.psi);
    if (status >= 0) memcpy(w, r.w, r.p * d * sizeof *w);
    regression_clear(&r);
    return status;
}

static sock_status pilot_of_logarithm(const sk_measured *m, const sk_features *affine, const sk_noisy *like,
                                      sk_noisy *best, double *least)
{
    const size_t n = m->series.d + 1;
    double g[WIDE * WIDE];
    if (!steps_alike(&m->series)) return SOCK_OK;
    SK_TRY(sk_tolerate(discrete(m, g)));
    if (!take_logarithm(n, g)) return SOCK_OK;
    for (size_t k = 0; k < n * n; k++) g[k] /= m->series.h[0];
    double *w = sk_doubles(m->ctx, sk_features_count(affine), m->series.d);
    sock_status status = w ? weights_of(m, affine, g, w) : SOCK_ENOMEM;
    if (status >= 0) status = improve(m, affine, w, like, best, least);
    sk_free(w);
    return sk_tolerate(status);
}

/* From the best affine drift so far, and from the logarithm. */
static sock_status pilots(const sk_measured *m, const sk_features *affine, const sk_noisy *left, sk_noisy *best,
                          double *least)
{
    if (!best->model) return SOCK_OK;
    sk_noisy like = {.substeps = best->substeps};
    sock_status status = copy_noise(m, best->noise, &like.noise);
    if (status >= 0) status = sk_model_new(m->ctx, m->series.d, m->names, &like.model);
    if (status >= 0) status = sk_add_diffusion_of(m->ctx, best->model, NULL, like.model);
    if (status >= 0 && left->model && left->model->drift_terms) {
        const size_t size = sk_features_count(affine) * m->series.d;
        double *w = sk_doubles(m->ctx, size, 1);
        status = w ? SOCK_OK : SOCK_ENOMEM;
        if (status >= 0) memcpy(w, left->model->drift[0]->weight, size * sizeof *w);
        if (status >= 0) status = improve(m, affine, w, &like, best, least);
        sk_free(w);
    }
    if (status >= 0) status = pilot_of_logarithm(m, affine, &like, best, least);
    sk_noisy_clear(&like);
    return status;
}

/* ---- All of them ---- */

static sock_status affine_map(const sk_measured *m, sk_features **out)
{
    sk_kernel *kernel = NULL;
    SK_TRY(sk_kernel_parse(m->ctx, "drift", "affine", &kernel));
    sock_status status = sk_kernel_resolve(m->ctx, "drift", kernel, m->series.d, m->rows->n, m->rows->y);
    if (status >= 0) status = sk_features_new(m->ctx, "drift", kernel, m->series.d, m->rows->n, m->rows->y, out);
    sk_kernel_free(kernel);
    return status;
}

/* The map with the most features of those that are polynomials and can be afforded; NULL: there is none richer than
 * affine. */
static sock_status rich_map(const sk_measured *m, sk_features **out)
{
    const size_t d = m->series.d;
    for (size_t c = 0; c < m->list->drifts; c++) {
        sk_features *map = NULL;
        if (sk_kernel_is_implicit(m->list->drift[c].kernel)) continue;
        SK_TRY(sk_features_new(m->ctx, "drift", m->list->drift[c].kernel, d, m->rows->n, m->rows->y, &map));
        const size_t p = sk_features_count(map), most = *out ? sk_features_count(*out) : d + 1;
        if (p > most && p * d <= SK_NOISE_ORDER) {
            sk_features_free(*out);
            *out = map;
            map = NULL;
        }
        sk_features_free(map);
    }
    return SOCK_OK;
}

static sock_status all_beginnings(const sk_measured *m, const sk_features *affine, const sk_features *rich,
                                  sk_substeps substeps, sk_noisy *best, double *least)
{
    const bool noisy = m->mode != SK_NOISE_NONE;
    double other[SK_NOISE_MOST_DIM];
    sk_noisy left = {0};
    sock_status status = SOCK_OK;
    for (int with = 0; status >= 0 && with <= noisy; with++) status = begin(m, affine, with, substeps, &left, other);
    sk_noisy copy = {.substeps = substeps, .sum = left.sum};
    if (status >= 0 && left.model) {
        status = copy_noise(m, left.noise, &copy.noise);
        if (status >= 0) status = sk_model_new(m->ctx, m->series.d, m->names, &copy.model);
        if (status >= 0) status = sk_add_drift_of(m->ctx, left.model, 1, copy.model);
        if (status >= 0) status = sk_add_diffusion_of(m->ctx, left.model, NULL, copy.model);
        if (status >= 0) keep_better(best, least, &copy, other, m->series.d);
    }
    sk_noisy_clear(&copy);
    for (int with = 0; status >= 0 && rich && with <= noisy; with++)
        status = begin(m, rich, with, substeps, best, least);
    if (status >= 0 && substeps.count > 1) status = pilots(m, affine, &left, best, least);
    sk_noisy_clear(&left);
    return status;
}

sock_status sk_noise_pilot(const sk_measured *m, sk_substeps *out)
{
    double floor[SK_NOISE_MOST_DIM];
    sk_features *affine = NULL, *rich = NULL;
    sk_noisy best = {0};
    sock_status status;
    SK_GO(affine_map(m, &affine));
    SK_GO(rich_map(m, &rich));
    SK_GO(all_beginnings(m, affine, rich, *out, &best, floor));
    sk_begin(m->ctx);
    if (best.model) {
        const sk_filter_spec spec = sk_noisy_spec(m, &best);
        SK_GO(sk_series_substeps(m->ctx, &m->series, &spec, *out, out));
    }
out:
    sk_noisy_clear(&best);
    sk_features_free(affine);
    sk_features_free(rich);
    return status;
}

sock_status sk_noise_start(const sk_measured *m, sk_noisy *out, double *floor)
{
    const sk_substeps one = {SK_MAX(m->substeps, 1), m->substeps > 1};
    sk_features *affine = NULL, *rich = NULL;
    sk_substeps substeps;
    sock_status status;
    *out = (sk_noisy){0};
    SK_GO(affine_map(m, &affine));
    SK_GO(rich_map(m, &rich));
    SK_GO(all_beginnings(m, affine, rich, one, out, floor));
    if (out->model && !m->substeps) {
        const sk_filter_spec spec = sk_noisy_spec(m, out);
        SK_GO(sk_series_substeps(m->ctx, &m->series, &spec, one, &substeps));
        if (substeps.count > 1) {
            sk_noisy_clear(out);
            SK_GO(all_beginnings(m, affine, rich, substeps, out, floor));
        }
    }
    sk_begin(m->ctx);
    if (!out->model) SK_GO(sk_fail(m->ctx, SOCK_ENUMERIC, "no model of noisy data could be begun"));
    for (size_t k = 0; k < m->series.d; k++) floor[k] *= SK_LEAST_LATER;
out:
    sk_features_free(affine);
    sk_features_free(rich);
    if (status < 0) sk_noisy_clear(out);
    return status;
}
