/* noisepilot.c - affine drifts for long steps, improved on the likelihood of the filter: one from the left point, one
 * from the logarithm of the discrete regression y' = b + B y. From the left point alone the way may end in a wrong
 * valley: a turn by more than half a circle within a step looks like one backwards. */
#include "noise/noiseregression.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Affine pilots for long steps ---- */

/* Constant a about the model itself, from rows whose residual is not far out; the model gets it. */
static sock_status renew_a(const sk_measured *m, const sk_features *map, const double *w, sk_noisy *now)
{
    const size_t d = m->series.d, n = m->series.steps;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], *norm = sk_doubles(m->ctx, n, 1);
    sock_model *model = NULL;
    sk_regression g;
    sock_status status = sk_regression_new(m, map, &g);
    if (status >= 0) status = norm ? sk_regression_along(&g, now) : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(g.u, g.pulled->u, n * d * sizeof *g.u);
        for (size_t i = 0; i < n; i++) norm[i] = sk_norm(d, g.u + i * d);
        const double usual = sk_median(n, norm);
        for (size_t i = 0; i < n; i++)
            g.pulled->good[i] = g.pulled->good[i] && !sk_pilot_is_far_out(sk_norm(d, g.u + i * d), usual);
        sk_mean_diffusion(&g, now->noise, a);
        status = sk_first_model(m, map, w, a, &model);
    }
    if (status >= 0) {
        sock_model_free(now->model);
        now->model = model;
        status = sk_noisy_score(m, now);
    }
    sk_regression_clear(&g);
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

/* An affine drift with weights w, the constant a that goes with it, and R. */
static sock_status affine_model(const sk_measured *m, const sk_features *map, const double *w, const sk_noisy *like,
                                sk_noisy *out)
{
    SK_TRY(sk_noisy_like(m, like->noise, like->substeps, out));
    SK_TRY(sk_add_weights(m->ctx, map, w, out->model));
    SK_TRY(sk_add_diffusion_of(m->ctx, like->model, NULL, out->model)); /* until it has its own */
    return renew_a(m, map, w, out);
}

/* w := the best of 1, 1/2, 1/4 of the way to next, where one gains; *gain in nats. */
static sock_status line_search(const sk_measured *m, const sk_features *map, double *w, const double *next,
                               sk_noisy *now, double *gain)
{
    const size_t size = sk_features_count(map) * m->series.d;
    double *at = sk_doubles(m->ctx, size, 1), taken = 0;
    const double before = now->sum;
    sock_status status = at ? SOCK_OK : SOCK_ENOMEM;
    for (double share = 1; status >= 0 && share >= 0.25 && !sk_pilot_is_enough(now->sum - before); share /= 2) {
        sk_noisy one = {0};
        for (size_t i = 0; i < size; i++) at[i] = w[i] + share * (next[i] - w[i]);
        status = affine_model(m, map, at, now, &one);
        if (status >= 0 && one.sum > now->sum) {
            const sk_noisy last = *now;
            *now = one;
            one = last;
            taken = share;
        }
        sk_noisy_clear(&one);
    }
    for (size_t i = 0; i < size; i++) w[i] += taken * (next[i] - w[i]);
    *gain = now->sum - before;
    sk_free(at);
    return status;
}

/* An affine drift with weights w, improved until a pass gains less than half a nat. */
static sock_status improve(const sk_measured *m, const sk_features *map, double *w, const sk_noisy *like,
                           sk_noisy *best, double *best_least)
{
    const size_t d = m->series.d, size = sk_features_count(map) * d;
    double *next = sk_doubles(m->ctx, size, 1), gain = INFINITY, least[SK_NOISE_MOST_DIM];
    sk_noisy now = {0};
    sock_status status = next ? affine_model(m, map, w, like, &now) : SOCK_ENOMEM;
    memcpy(least, best_least, d * sizeof *least);
    for (int i = 0; status >= 0 && i < SK_PILOT_PASSES && sk_pilot_goes_on(gain); i++) {
        status = gauss_newton(m, map, &now, next);
        if (status >= 0) status = line_search(m, map, w, next, &now, &gain);
    }
    if (status >= 0) sk_keep_better(best, best_least, &now, least, d);
    sk_noisy_clear(&now);
    sk_free(next);
    return sk_tolerate(status);
}

/* ---- The logarithm of the discrete regression ---- */

enum { WIDE = SK_NOISE_MOST_DIM + 1 };

static bool steps_alike(const sk_series *s)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < s->steps; i++) {
        low = fmin(low, s->h[i]);
        high = fmax(high, s->h[i]);
    }
    return high - low <= 1e-6 * low; /* rounding of times */
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
    sk_regression r;
    sock_status status = sk_regression_new(m, map, &r);
    if (status >= 0) status = sk_features_eval(m->ctx, map, s->steps, s->y, r.psi, r.p);
    for (size_t i = 0; status >= 0 && i < s->steps; i++)
        for (size_t k = 0; k < d; k++) {
            const double *row = g + (k + 1) * (d + 1);
            r.t[i * d + k] = row[0] + sk_dot(d, row + 1, s->y + i * d);
            r.precision[(i * d + k) * d + k] = 1;
        }
    if (status >= 0) status = sk_regress(&r, r.psi);
    if (status >= 0) memcpy(w, r.w, r.p * d * sizeof *w);
    sk_regression_clear(&r);
    return status;
}

static sock_status pilot_of_logarithm(const sk_measured *m, const sk_features *affine, const sk_noisy *like,
                                      sk_noisy *best, double *least)
{
    const size_t n = m->series.d + 1;
    double g[WIDE * WIDE];
    if (!steps_alike(&m->series)) return SOCK_OK;
    SK_TRY(sk_tolerate(discrete(m, g)));
    if (!sk_matrix_logarithm(n, g)) return SOCK_OK;
    for (size_t k = 0; k < n * n; k++) g[k] /= m->series.h[0];
    double *w = sk_doubles(m->ctx, sk_features_count(affine), m->series.d);
    sock_status status = w ? weights_of(m, affine, g, w) : SOCK_ENOMEM;
    if (status >= 0) status = improve(m, affine, w, like, best, least);
    sk_free(w);
    return sk_tolerate(status);
}

static sock_status pilot_of_left(const sk_measured *m, const sk_features *affine, const sk_noisy *left,
                                 const sk_noisy *like, sk_noisy *best, double *least)
{
    const size_t size = sk_features_count(affine) * m->series.d;
    if (!left->model || !left->model->drift_terms) return SOCK_OK;
    double *w = sk_doubles(m->ctx, size, 1);
    if (!w) return SOCK_ENOMEM;
    memcpy(w, left->model->drift[0]->weight, size * sizeof *w);
    const sock_status status = improve(m, affine, w, like, best, least);
    sk_free(w);
    return status;
}

sock_status sk_noise_pilots(const sk_measured *m, const sk_features *affine, const sk_noisy *left, sk_noisy *best,
                            double *least)
{
    if (!best->model) return SOCK_OK;
    sk_noisy like = {0}; /* best may become another on the way */
    sock_status status = sk_noisy_like(m, best->noise, best->substeps, &like);
    if (status >= 0) status = sk_add_diffusion_of(m->ctx, best->model, NULL, like.model);
    if (status >= 0) status = pilot_of_left(m, affine, left, &like, best, least);
    if (status >= 0) status = pilot_of_logarithm(m, affine, &like, best, least);
    sk_noisy_clear(&like);
    return status;
}
