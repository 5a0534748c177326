/* noiseworth.c - whether a fit of long steps can be worth its time: what a model without one more fit leaves on the
 * table, by two score tests about it, with the law of its steps followed in substeps.
 *
 *   drift      e on the innovation rows of features phi: the gain of one Gauss-Newton step, g' H^-1 g / 2
 *   diffusion  r_k = e_k^2 / V_kk - 1 on phi(y), with the spread of r_k itself as its variance: g' H^-1 g / 2 with
 *              g = sum phi r_k, H = sum phi phi' r_k^2
 *
 * Under a model that is right either is half a chi-squared variable with as many degrees of freedom as weights; held
 * out such a step loses what it gains. So weights are paid twice, and what is left is a promise of nats. */
#include "noise/noiseregression.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Drift ---- */

/* Gain of the best w over none, from sums of rows with target e. */
static sock_status drift_gain(const sk_measured *m, const sk_features *map, const sk_frozen *z, double *gain)
{
    static const double l = SK_PILOT_RIDGE;
    const size_t p = sk_features_count(map), d = m->series.d, n = m->series.steps, rows = n * z->times;
    sk_rule *rule = NULL;
    sk_drift_sums *sums = NULL;
    sk_innovations in = sk_frozen_innovations(z, 0, n, 0);
    double *psi = sk_doubles_unset(m->ctx, rows, p), *other = sk_doubles(m->ctx, rows, d);
    double *none = sk_doubles(m->ctx, rows, d), *w = sk_doubles(m->ctx, p, d), *score = sk_doubles(m->ctx, n, 2);
    sock_status status = SOCK_OK;
    SK_GO(psi && other && none && w && score ? SOCK_OK : SOCK_ENOMEM);
    in.drift = none; /* the target is e alone */
    SK_GO(sk_frozen_rule(m->ctx, z, 0, n, true, &rule));
    SK_GO(sk_occupation_features(m->ctx, rule, map, 0, rows, psi, p));
    SK_GO(sk_drift_sums_new(m->ctx, p, d, 0, SK_JOINT, &sums));
    SK_GO(sk_drift_sums_add_innovations(m->ctx, sums, &in, psi));
    SK_GO(sk_drift_sums_ridge(m->ctx, sums, 0, 1, &l, w, NULL));
    SK_GO(sk_innovation_scores(m->ctx, &in, other, score));
    sk_gemm(m->ctx, SK_PLAIN, SK_PLAIN, rows, d, p, 1, psi, p, w, d, 0, other, d);
    SK_GO(sk_innovation_scores(m->ctx, &in, other, score + n));
    *gain = 0;
    for (size_t i = 0; i < n; i++) *gain += score[n + i] - score[i];
out:
    sk_drift_sums_free(sums);
    sk_rule_free(rule);
    sk_free(psi);
    sk_free(other);
    sk_free(none);
    sk_free(w);
    sk_free(score);
    return status;
}

/* ---- Diffusion ---- */

/* r_k of step i; an outlier is cut as the drift's are. */
static double excess(const sk_measured *m, const sk_frozen *z, size_t i, size_t k)
{
    const size_t d = m->series.d;
    const double e = z->e[i * d + k], v = z->pass.cov[i * d * d + k * (d + 1)];
    return z->pass.lost[i] || !(v > 0) ? 0 : sk_innovation_counts(e * e / v) - 1;
}

/* Of coordinate k; work: 2 p^2 + p. */
static sock_status excess_gain(const sk_measured *m, const sk_frozen *z, size_t p, const double *phi, size_t k,
                               double *work, double *gain)
{
    double *h = work, *g = work + p * p, *solved = g + p, trace = 0;
    memset(work, 0, (p * p + 2 * p) * sizeof *work);
    for (size_t i = 0; i < m->series.steps; i++) {
        const double r = excess(m, z, i, k), *at = phi + i * p;
        sk_axpy(p, r, at, g);
        for (size_t j = 0; j < p; j++) sk_axpy(p, r * r * at[j], at, h + j * p);
    }
    for (size_t j = 0; j < p; j++) trace += h[j * (p + 1)];
    for (size_t j = 0; j < p; j++) h[j * (p + 1)] += SK_PILOT_RIDGE * trace / (double)p;
    memcpy(solved, g, p * sizeof *g);
    SK_TRY(sk_cholesky(m->ctx, p, h, p));
    sk_cholesky_solve(m->ctx, p, 1, h, p, solved, 1);
    *gain = 0.5 * sk_dot(p, g, solved);
    return SOCK_OK;
}

static sock_status diffusion_gain(const sk_measured *m, const sk_features *map, const sk_frozen *z, double *gain)
{
    const size_t p = sk_features_count(map), n = m->series.steps;
    double *phi = sk_doubles_unset(m->ctx, n, p), *work = sk_doubles(m->ctx, p + 2, p);
    sock_status status = phi && work ? sk_features_eval(m->ctx, map, n, m->series.y, phi, p) : SOCK_ENOMEM;
    *gain = 0;
    for (size_t k = 0; status >= 0 && k < m->series.d; k++) {
        double one = 0;
        status = excess_gain(m, z, p, phi, k, work, &one);
        *gain += one;
    }
    sk_free(phi);
    sk_free(work);
    return status;
}

/* ---- Both ---- */

static sock_status promise(const sk_measured *m, sk_features *const *map, const sk_noisy *now, double *out)
{
    const sk_filter_spec spec = sk_noisy_spec(m, now);
    double f = 0, a = 0, best[2] = {0};
    sk_frozen *z = NULL;
    sock_status status = sk_frozen_new(m->ctx, &m->series, &spec, &z);
    for (size_t i = 0; status >= 0 && i < SK_NOISE_MAPS && map[i]; i++) {
        const double weights = (double)(sk_features_count(map[i]) * m->series.d);
        status = drift_gain(m, map[i], z, &f);
        if (status >= 0) status = diffusion_gain(m, map[i], z, &a);
        best[0] = fmax(best[0], f - weights);
        best[1] = fmax(best[1], a - weights);
    }
    sk_frozen_free(z);
    *out = best[0] + best[1];
    return status;
}

sock_status sk_noise_promise(const sk_measured *m, const sk_noisy *now, double *out)
{
    sk_features *map[SK_NOISE_MAPS] = {0};
    sock_status status = sk_noise_maps(m, map);
    if (status >= 0) status = promise(m, map, now, out);
    for (size_t i = 0; i < SK_NOISE_MAPS; i++) sk_features_free(map[i]);
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(m->ctx);
    *out = INFINITY; /* a model that has no such test is no good */
    return SOCK_OK;
}
