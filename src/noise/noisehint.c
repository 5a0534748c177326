/* noisehint.c - whether a fit with noise can be worth its time: what R gains in a model that was fitted without, on its
 * own rows.
 *
 *   0. Over short steps a small R: where it costs far more than neighbours of a right model can tell, none is looked
 * for.
 *   1. R a share of the variance of a step, the one of the best likelihood. Noise takes from the correlation of
 *      neighbours what a faster drift does: over long steps the drift is slowed down too, and a with it.
 *   2. Newton steps of R and of the scales of a.
 *   3. Where the drift has no penalty and few numbers, all of them together (noiseascent.c): over long steps R shows
 *      only where the drift gives way.
 *
 * Without noise the gain is half the sum of squares of as many normal variables as states, half of these 0: as R is
 * fitted to all rows in the verdict, too, a fit whose hint is small will not pass it. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Median variances of a step (d) under the model, and the log densities of all steps. */
static sock_status find_variances(const sk_measured *m, const sk_noisy *clean, double *out, double *term)
{
    const size_t d = m->series.d, n = m->series.steps;
    const sk_filter_spec spec = sk_noisy_spec(m, clean);
    sk_pass pass = {.term = term, .cov = sk_doubles(m->ctx, n, d * d)};
    double *value = sk_doubles(m->ctx, n, 1);
    sock_status status = pass.cov && value ? sk_filter(m->ctx, &m->series, &spec, &pass) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        for (size_t i = 0; i < n; i++) value[i] = pass.cov[i * d * d + k * (d + 1)];
        out[k] = sk_median(n, value);
    }
    sk_free(pass.cov);
    sk_free(value);
    return status;
}

/* The model with R (d x d), the drift times `pace` and scales of a; term (NULL or steps): its log densities. */
static sock_status model_with(const sk_measured *m, const sk_noisy *from, double pace, const double *noise,
                              const double *scale, double *term, sk_noisy *out)
{
    SK_TRY(sk_noisy_like(m, noise, from->substeps, out));
    SK_TRY(sk_add_drift_of(m->ctx, from->model, pace, out->model));
    SK_TRY(sk_add_diffusion_of(m->ctx, from->model, scale, out->model));
    return term ? sk_noisy_terms(m, out, term) : sk_noisy_score(m, out);
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
                            double pace, double *term, sk_noisy *best)
{
    const size_t d = m->series.d;
    double noise[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM] = {0}, scale[SK_NOISE_MOST_DIM];
    sk_noisy one = {0};
    for (size_t k = 0; k < d; k++) {
        noise[k * (d + 1)] = share * variance[k];
        scale[k] = pace * (1 - share);
    }
    const sock_status status = model_with(m, clean, pace, noise, scale, term, &one);
    keep(best, &one);
    return status;
}

/* Over short steps the smallest share is there, and larger ones are tried as long as they are better. */
static sock_status begin(const sk_measured *m, const sk_noisy *clean, const double *variance, sk_noisy *out)
{
    size_t shares, paces;
    const double *share = sk_hint_shares(&shares), *pace = sk_hint_paces(&paces);
    const bool is_long = clean->substeps.count > 1; /* there the corner of R = 0 is flat: a start beside it stays */
    const size_t first = is_long ? 1 : 0;
    const size_t last = sk_is_long(clean->substeps.count) ? paces : first + 1;
    for (size_t i = is_long ? 0 : 1; i < shares; i++) {
        const bool is_there = out->model;
        const double before = out->sum;
        for (size_t j = first; j < last; j++) SK_TRY(begin_at(m, clean, variance, share[i], pace[j], NULL, out));
        if (!is_long && is_there && !(out->sum > before)) break;
    }
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
    if (status >= 0) status = model_with(m, now, 1, noise, scale, NULL, &next);
    keep(now, &next);
    return status;
}

/* Nats that the model with R gains over the one without (log densities `clean`), counted as the verdict counts them: a
 * few steps that the law of the model without R cannot explain would speak for any R. */
static sock_status find_gain(const sk_measured *m, const sk_noisy *with, const double *clean, double *gain)
{
    const sk_filter_spec spec = sk_noisy_spec(m, with);
    sk_gain all = {0};
    double *term = sk_doubles(m->ctx, m->series.steps, 1);
    sock_status status = term ? sk_filter(m->ctx, &m->series, &spec, &(sk_pass){.term = term}) : SOCK_ENOMEM;
    if (status >= 0) status = sk_noise_compare(m, term, clean, &all);
    *gain = all.nats;
    sk_free(term);
    return status;
}

/* Whether the smallest R of the starts costs far more than it does a model that is right, and without noise: there
 * neighbours of n steps tell of a share r by n r^2 / 2 nats in each state. *first: that start, if not. */
static sock_status is_hopeless(const sk_measured *m, const sk_noisy *clean, const double *variance, const double *term,
                               sk_noisy *first, double *gain, bool *hopeless)
{
    size_t shares;
    const double *share = sk_hint_shares(&shares);
    const double values = (double)m->series.steps * (double)m->series.d;
    *hopeless = false;
    if (clean->substeps.count > 1) return SOCK_OK;
    double *own = sk_doubles(m->ctx, m->series.steps, 1);
    sk_gain all = {0};
    sock_status status = own ? begin_at(m, clean, variance, share[0], 1, own, first) : SOCK_ENOMEM;
    if (status >= 0 && first->model) status = sk_noise_compare(m, own, term, &all);
    sk_free(own);
    *gain = all.nats;
    *hopeless = sk_hint_is_hopeless(*gain, values, share[0]);
    if (*hopeless) sk_noisy_clear(first);
    return status;
}

/* Whether a further Newton step, which gains no more than the last, would not let R gain enough: over short steps. */
static bool is_too_little(const sk_measured *m, const sk_noisy *clean, const sk_noisy *now, double before)
{
    return clean->substeps.count == 1 && 2 * now->sum - before - clean->sum < sk_noise_hint_asked(m->series.d, false);
}

/* The model with R and, if asked for, with weights that go with it. */
static sock_status fit_noise(const sk_measured *m, const sk_noisy *clean, bool together, const double *variance,
                             sk_noisy *out)
{
    const size_t d = m->series.d;
    double least[SK_NOISE_MOST_DIM];
    for (size_t k = 0; k < d; k++) least[k] = sk_noise_least_later(sk_noise_least_first(variance[k]));
    sock_status status = begin(m, clean, variance, out);
    for (int i = 0; status >= 0 && out->model && i < SK_HINT_STEPS; i++) {
        const double before = out->sum;
        status = newton(m, least, out);
        if (out->sum - before < SK_NOISE_SETTLED || is_too_little(m, clean, out, before)) break;
    }
    return status >= 0 && out->model && together ? sk_noise_ascend(m, least, out) : status;
}

sock_status sk_noise_hint(const sk_measured *m, const sk_noisy *clean, bool together, sk_noisy *out, double *gain)
{
    double variance[SK_NOISE_MOST_DIM] = {0}, *term = sk_doubles(m->ctx, m->series.steps, 1);
    sock_status status = term ? find_variances(m, clean, variance, term) : SOCK_ENOMEM;
    *out = (sk_noisy){0};
    *gain = 0;
    bool hopeless = false;
    if (status >= 0) status = is_hopeless(m, clean, variance, term, out, gain, &hopeless);
    if (status >= 0 && !hopeless) {
        status = fit_noise(m, clean, together, variance, out);
        if (status >= 0 && out->model) status = find_gain(m, out, term, gain);
        *gain = fmax(*gain, 0);
    }
    if (status < 0) sk_noisy_clear(out);
    sk_free(term);
    return sk_tolerate(status);
}
