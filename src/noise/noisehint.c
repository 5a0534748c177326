/* noisehint.c - whether a fit with noise can be worth its time: what R gains in a model that was fitted without, on its
 * own rows.
 *
 *   1. R a share of the variance of a step, the one of the best likelihood. Noise takes from the correlation of
 *      neighbours what a faster drift does: over long steps the drift is slowed down too, and a with it.
 *   2. Newton steps of R and of the scales of a.
 *   3. Where the drift has no penalty and few numbers, all of them together (noiseascent.c): over long steps R shows
 * only where the drift gives way.
 *
 * Without noise the gain is half the sum of squares of as many normal variables as states, half of these 0: as R is
 * fitted to all rows in the verdict, too, a fit whose hint is small will not pass it. */
#include "noise/noisefit.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Median variances of a step (d) under the model. */
static sock_status find_variances(const sk_measured *m, const sk_noisy *clean, double *out)
{
    const size_t d = m->series.d, n = m->series.steps;
    const sk_filter_spec spec = sk_noisy_spec(m, clean);
    sk_pass pass = {.term = sk_doubles(m->ctx, n, 1), .cov = sk_doubles(m->ctx, n, d * d)};
    double *value = sk_doubles(m->ctx, n, 1);
    sock_status status = pass.term && pass.cov && value ? sk_filter(m->ctx, &m->series, &spec, &pass) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        for (size_t i = 0; i < n; i++) value[i] = pass.cov[i * d * d + k * (d + 1)];
        out[k] = sk_median(n, value);
    }
    sk_free(pass.term);
    sk_free(pass.cov);
    sk_free(value);
    return status;
}

/* The model with R (d x d), the drift times `pace` and scales of a. */
static sock_status model_with(const sk_measured *m, const sk_noisy *from, double pace, const double *noise,
                              const double *scale, sk_noisy *out)
{
    SK_TRY(sk_noisy_like(m, noise, from->substeps, out));
    SK_TRY(sk_add_drift_of(m->ctx, from->model, pace, out->model));
    SK_TRY(sk_add_diffusion_of(m->ctx, from->model, scale, out->model));
    return sk_noisy_score(m, out);
}

/* best := the better of the two; the other is freed. */
static void keep(sk_noisy *best, sk_noisy *one)
{
    if (one->model && isfinite(one->sum) && (!best->model || one->sum > best->sum)) {
        const sk_noisy last = *best;
        *best = *one;
        *one = last;
    }
    sk_noisy_clear(one);
}

/* One start: a gives R a share of the variance of a step. */
static sock_status begin_at(const sk_measured *m, const sk_noisy *clean, const double *variance, double share,
                            double pace, sk_noisy *best)
{
    const size_t d = m->series.d;
    double noise[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM] = {0}, scale[SK_NOISE_MOST_DIM];
    sk_noisy one = {0};
    for (size_t k = 0; k < d; k++) {
        noise[k * (d + 1)] = share * variance[k];
        scale[k] = pace * (1 - share);
    }
    const sock_status status = model_with(m, clean, pace, noise, scale, &one);
    keep(best, &one);
    return status;
}

static sock_status begin(const sk_measured *m, const sk_noisy *clean, const double *variance, sk_noisy *out)
{
    static const double share[] = SK_HINT_SHARES, pace[] = SK_HINT_PACES;
    const bool is_long = clean->substeps.count > 1; /* there the corner of R = 0 is flat: a start beside it stays */
    const size_t first = is_long ? 1 : 0, last = is_long ? sizeof pace / sizeof *pace : 1;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        for (size_t j = first; j < last; j++) SK_TRY(begin_at(m, clean, variance, share[i], pace[j], out));
    return SOCK_OK;
}

static sock_status newton(const sk_measured *m, const double *least, sk_noisy *now)
{
    double noise[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], scale[SK_NOISE_MOST_DIM], kappa[SK_NOISE_MOST_DIM],
        error[SK_NOISE_MOST_DIM];
    const sk_newton step = {noise, scale, kappa, error};
    const sk_filter_spec spec = sk_noisy_spec(m, now);
    sk_noisy next = {0};
    sk_frozen *z = NULL;
    sock_status status = sk_frozen_new(m->ctx, &m->series, &spec, &z);
    if (status >= 0) status = sk_noise_newton(m, z, least, &step);
    sk_frozen_free(z);
    if (status >= 0) status = model_with(m, now, 1, noise, scale, &next);
    keep(now, &next);
    return status;
}

sock_status sk_noise_hint(const sk_measured *m, const sk_noisy *clean, bool together, sk_noisy *out, double *gain)
{
    const size_t d = m->series.d;
    double variance[SK_NOISE_MOST_DIM] = {0}, least[SK_NOISE_MOST_DIM];
    sock_status status = find_variances(m, clean, variance);
    *out = (sk_noisy){0};
    *gain = 0;
    for (size_t k = 0; k < d; k++) least[k] = SK_LEAST_LATER * SK_LEAST_NOISE * variance[k];
    if (status >= 0) status = begin(m, clean, variance, out);
    for (int i = 0; status >= 0 && out->model && i < SK_HINT_STEPS; i++) {
        const double before = out->sum;
        status = newton(m, least, out);
        if (status >= 0 && out->sum - before < SK_NOISE_SETTLED) break;
    }
    if (status >= 0 && out->model && together) status = sk_noise_ascend(m, least, out);
    if (status >= 0 && out->model) *gain = fmax(out->sum - clean->sum, 0);
    if (status < 0) sk_noisy_clear(out);
    return sk_tolerate(status);
}
