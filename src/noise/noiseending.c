/* noiseending.c - fits of measured data beside each other: held out, simpler, with a full R, on all rows. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Held out ---- */

/* Steps that were held out. */
static size_t judged(const sk_measured *m) { return m->rows->first[m->rows->folds]; }

/* The least that a step counts: so far below the median one. */
static sock_status least_of(const sk_measured *m, const double *held, double *out)
{
    const size_t n = judged(m);
    double *copy = sk_doubles(m->ctx, SK_MAX(n, 1), 1);
    if (!copy) return SOCK_ENOMEM;
    memcpy(copy, held, n * sizeof *copy);
    *out = n ? sk_step_counts_least(sk_median(n, copy)) : 0;
    sk_free(copy);
    return SOCK_OK;
}

sock_status sk_noise_compare(const sk_measured *m, const double *one, const double *other, sk_gain *out)
{
    const sk_transitions *rows = m->rows;
    double least_one, least_other, *by = sk_doubles(m->ctx, 2, rows->clusters);
    sock_status status = by ? least_of(m, one, &least_one) : SOCK_ENOMEM;
    if (status >= 0) status = least_of(m, other, &least_other);
    out->nats = 0;
    for (size_t i = 0; status >= 0 && i < judged(m); i++) {
        const double a = fmax(one[i], least_one), b = fmax(other[i], least_other);
        out->nats += a - b;
        by[rows->cluster[i]] += a;
        by[rows->clusters + rows->cluster[i]] += b;
    }
    if (status >= 0) out->error = sk_paired_error(rows->clusters, by, by + rows->clusters);
    sk_free(by);
    return status;
}

/* ---- From one fit to another ---- */

/* A stand-in that knows the penalty. */
static sock_status note_penalty(sock_context *ctx, double l, sk_trial **out)
{
    *out = sk_alloc(ctx, 1, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    (*out)->l = l;
    return SOCK_OK;
}

/* Everything but the passes. */
static sock_status begin_from(const sk_measured *m, const sk_noise_fit *from, const sk_noise_turn *turn,
                              sk_noise_fit *out)
{
    const size_t d = m->series.d;
    const double *noise = turn->noise ? turn->noise : from->now.noise;
    *out = (sk_noise_fit){.asked = (double)NAN, .f = turn->f, .a = turn->a, .plain = SK_MOST};
    out->changed = turn->a != from->a || turn->f != from->f;
    SK_TRY(sk_noisy_like(m, m->mode == SK_NOISE_NONE ? NULL : noise, from->now.substeps, &out->now));
    SK_TRY(sk_add_drift_of(m->ctx, from->now.model, 1, out->now.model));
    SK_TRY(sk_add_diffusion_of(m->ctx, from->now.model, NULL, out->now.model));
    out->least = sk_doubles(m->ctx, d, 1);
    if (!out->least) return SOCK_ENOMEM;
    memcpy(out->least, from->least, d * sizeof *out->least);
    SK_TRY(note_penalty(m->ctx, from->drift[from->f]->l, &out->drift[out->f]));
    const double l = turn->a != from->a ? SK_PILOT_RIDGE : from->diffusion[from->a]->l;
    SK_TRY(note_penalty(m->ctx, l, &out->diffusion[out->a]));
    return sk_noisy_score(m, &out->now);
}

sock_status sk_noise_turn_to(const sk_measured *m, const sk_noise_fit *from, const sk_noise_turn *turn,
                             sk_noise_fit *out)
{
    sock_status status = begin_from(m, from, turn, out);
    if (status >= 0) status = sk_noise_iterate(m, out, turn->passes);
    if (status >= 0) status = sk_noise_hold_out(m, out);
    if (status < 0) sk_noise_fit_clear(out);
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(m->ctx);
    return SOCK_OK;
}

static void swap(sk_noise_fit *one, sk_noise_fit *other)
{
    const sk_noise_fit last = *one;
    *one = *other;
    *other = last;
}

/* ---- Simpler ---- */

static size_t simplest(const sk_candidates *list)
{
    size_t best = 0;
    for (size_t c = 1; c < list->diffusions; c++)
        if (list->diffusion[c].simplicity < list->diffusion[best].simplicity) best = c;
    return best;
}

/* Nats by which the fit must be better held out than what the turn leads to. */
static double asked_of(const sk_measured *m, const sk_noise_fit *fit, const sk_noise_turn *turn, double error)
{
    if (turn->f != fit->f && m->list->drift[turn->f].free) return sk_slope_asked(m->series.d);
    if (turn->f != fit->f) return sk_richer_drift_asked(error);
    return sk_richer_diffusion_asked(sk_is_long(fit->now.substeps.count), error);
}

/* What the turn leads to instead, where the fit is not better held out by what the rules ask for. */
static sock_status take_simpler(const sk_measured *m, const sk_noise_turn *turn, sk_noise_fit *fit)
{
    sk_noise_fit plain;
    sk_gain gain;
    SK_TRY(sk_noise_turn_to(m, fit, turn, &plain));
    sock_status status = plain.held ? sk_noise_compare(m, fit->held, plain.held, &gain) : SOCK_OK;
    if (status >= 0 && plain.held && gain.nats <= asked_of(m, fit, turn, gain.error)) {
        plain.iterations += fit->iterations;
        swap(fit, &plain);
    }
    sk_noise_fit_clear(&plain);
    return status;
}

sock_status sk_noise_simplify(const sk_measured *m, sk_noise_fit *fit)
{
    const sk_noise_turn turn = {.f = fit->f, .a = simplest(m->list), .passes = SK_RIVAL_PASSES};
    return turn.a == fit->a ? SOCK_OK : take_simpler(m, &turn, fit);
}

sock_status sk_noise_smooth_drift(const sk_measured *m, sk_noise_fit *fit)
{
    const sk_noise_turn turn = {.f = fit->plain, .a = fit->a, .passes = SK_SMOOTH_PASSES};
    if (turn.f == SK_MOST || !sk_kernel_is_implicit(m->list->drift[fit->f].kernel)) return SOCK_OK;
    return take_simpler(m, &turn, fit);
}

/* Whether the drift gains more over constant c than further passes could change, both about the model as it is. */
static sock_status gains_clearly(const sk_measured *m, const sk_noise_fit *fit, size_t c, bool *clearly)
{
    const sk_filter_spec spec = sk_noisy_spec(m, &fit->now);
    sk_trial *trial[SK_MOST] = {0};
    sk_sweep sweep = {.l = fit->drift[fit->f]->l};
    sk_frozen *z = NULL;
    size_t best;
    sweep.alive[fit->f] = sweep.alive[c] = true;
    sock_status status = sk_frozen_new(m->ctx, &m->series, &spec, &z);
    if (status >= 0) status = sk_noise_drifts(m, z, &sweep, trial, &best);
    *clearly = status >= 0 && trial[fit->f] && trial[c] && sk_slope_is_clear(trial[fit->f]->score - trial[c]->score);
    sk_trial_free(trial[fit->f]);
    sk_trial_free(trial[c]);
    sk_frozen_free(z);
    return status;
}

sock_status sk_noise_constant_drift(const sk_measured *m, sk_noise_fit *fit)
{
    const sk_noise_turn turn = {.f = sk_free_constant(m->list), .a = fit->a, .passes = SK_RIVAL_PASSES};
    bool clearly;
    if (turn.f == SK_MOST || turn.f == fit->f) return SOCK_OK;
    SK_TRY(gains_clearly(m, fit, turn.f, &clearly));
    return clearly ? SOCK_OK : take_simpler(m, &turn, fit);
}

/* ---- Correlated noise ---- */

/* The diagonal of `noise` with the correlations of r, as far as r has any. */
static void correlate(size_t d, const double *r, const double *noise, double *out)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double product = r[k * (d + 1)] * r[l * (d + 1)];
            const bool both = r[k * (d + 1)] > 0 && r[l * (d + 1)] > 0;
            const double c = both ? sk_first_correlation(r[k * d + l], product) : 0;
            out[k * d + l] = (k == l ? 1 : c) * sqrt(noise[k * (d + 1)] * noise[l * (d + 1)]);
        }
    sk_nearest_psd(d, 0, out);
}

sock_status sk_noise_try_full(sk_measured *m, const double *r, sk_noise_fit *fit)
{
    double noise[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    const sk_noise_turn turn = {.f = fit->f, .a = fit->a, .passes = SK_FULL_PASSES, .noise = noise};
    const sk_noise_mode mode = m->mode;
    sk_noise_fit full;
    sk_gain gain = {0};
    correlate(m->series.d, r, fit->now.noise, noise);
    m->mode = SK_NOISE_FULL;
    sock_status status = sk_noise_turn_to(m, fit, &turn, &full);
    if (status >= 0 && full.held) status = sk_noise_compare(m, full.held, fit->held, &gain);
    if (status >= 0 && full.held && sk_full_noise_wins(gain.nats)) {
        full.iterations += fit->iterations;
        swap(fit, &full);
    }
    if (status >= 0) sk_noise_fit_clear(&full);
    m->mode = mode;
    return status;
}
