/* noisestage.c - measurement noise and long steps after the clean search: whether there are any, and whether the model
 * that knows of them is better held out. Where not, the clean model stands as it is.
 *
 *   1. Long steps: more than one substep is asked for under the clean model. A fit with R = 0.
 *   2. The test of neighbouring residuals: a low hurdle, since noise at long steps hardly shows.
 *   3. The fit with R.
 *   4. Verdict: held-out filter likelihood against the better of 1 and of two passes without noise that begin at the
 *      noisy model, so that a drift that merely became better does not count for noise. */
#include "noise/noisestage.h"
#include "noise/noiserules.h"
#include "score/score.h"

#include "noise/noisefit.h"
#include "noise/noisespread.h"
#include "tune/searchspread.h"
#include "tune/searchstate.h"

#include "tune/scaling.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PEERS = 3 };

/* What the stage knows. */
typedef struct inquiry {
    sk_search *s;
    const sk_candidates *list; /* all of the search, where it fell back on constants too: noise hides drifts */
    sk_measured m;
    sk_noisy clean;
    double *clean_held; /* steps; NULL: not computed */
    sk_noise_fit plain; /* with R = 0, where steps are long */
    sk_noise_fit noisy;
    sk_noisy hint; /* the better of these two with R, where noise was suspected */
    bool wins;     /* the plain fit is better than the clean one, */
    double ahead;  /* by so many nats held out */
    double doubt;  /* nats that R gains, by the hint or held out; 0: none, or not asked */
    double gained; /* by the fit with R over the clean one, held out; NaN: it was not compared; */
    double hinted; /* the same of the hint, where it is about the fit of long steps, with the price of R */
    bool bounded;  /* a of the clean model vanishes at a bound */
    double z[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], r[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
} inquiry;

static void inquiry_clear(inquiry *q)
{
    sk_noise_fit_clear(&q->plain);
    sk_noise_fit_clear(&q->noisy);
    sk_noisy_clear(&q->clean);
    sk_noisy_clear(&q->hint);
    sk_measured_clear(&q->m);
    sk_free(q->clean_held);
}

/* ---- Held out ---- */

/* The filter of models of the folds, with R = 0; term: steps. */
static sock_status hold(const inquiry *q, const sk_held_model *held, double floor, sk_substeps substeps, double *term)
{
    sock_context *ctx = q->s->ctx;
    for (size_t f = 0; f < q->m.rows->folds; f++) {
        sk_noisy one = {.substeps = substeps};
        sk_series part = q->m.series;
        part.first += q->m.run_first[f];
        part.runs = q->m.run_first[f + 1] - q->m.run_first[f];
        sock_status status = sk_held_model_without(ctx, held, f, q->m.names, &one.model);
        if (status >= 0) one.model->floor = floor;
        const sk_filter_spec spec = sk_noisy_spec(&q->m, &one);
        if (status >= 0) status = sk_filter(ctx, &part, &spec, &(sk_pass){.term = term});
        sk_noisy_clear(&one);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

static sock_status hold_clean(inquiry *q)
{
    const sk_search *s = q->s;
    const sk_held_model held = sk_chosen(s, &s->choice);
    if (q->clean_held) return SOCK_OK;
    q->clean_held = sk_doubles(s->ctx, q->m.series.steps, 1);
    return q->clean_held ? hold(q, &held, s->choice.floor, q->clean.substeps, q->clean_held) : SOCK_ENOMEM;
}

/* ---- Fits ---- */

/* From the iterations to the held-out score. */
static sock_status go_on(const sk_measured *m, sk_noise_fit *fit)
{
    SK_TRY(sk_noise_iterate(m, fit, SK_NOISE_ITERATIONS));
    if (fit->hopeless) return SOCK_OK;
    SK_TRY(sk_noise_hold_out(m, fit));
    SK_TRY(sk_noise_smooth_drift(m, fit));
    SK_TRY(sk_noise_simplify(m, fit));
    return sk_noise_constant_drift(m, fit);
}

/* The whole fit; asked: likelihood that the first sweeps have to reach, or NaN. */
static sock_status fit_all(const sk_measured *m, double asked, sk_noise_fit *fit)
{
    *fit = (sk_noise_fit){.asked = asked, .plain = SK_MOST, .least = sk_doubles(m->ctx, m->series.d, 1)};
    if (!fit->least) return SOCK_ENOMEM;
    SK_TRY(sk_noise_start(m, &fit->now, fit->least));
    return go_on(m, fit);
}

/* The same from a model without noise. */
static sock_status fit_from(const sk_measured *m, const sk_noisy *known, double asked, sk_noise_fit *fit)
{
    *fit = (sk_noise_fit){.asked = asked, .plain = SK_MOST, .least = sk_doubles(m->ctx, m->series.d, 1)};
    if (!fit->least) return SOCK_ENOMEM;
    SK_TRY(sk_noisy_copy(m, known, &fit->now));
    return go_on(m, fit);
}

/* ---- Steps of the inquiry ---- */

/* The series of these rows, in the place of one before. */
static sock_status measure(inquiry *q, const sk_transitions *rows)
{
    const sk_search *s = q->s;
    sk_measured_clear(&q->m);
    SK_TRY(sk_measured_new(s->ctx, rows, q->list, (const char *const *)s->spec->data->state, &q->m));
    q->m.substeps = s->spec->substeps;
    q->m.units = s->sets.units;
    return SOCK_OK;
}

static sock_status count_substeps(inquiry *q)
{
    q->clean.substeps = (sk_substeps){SK_MAX(q->m.substeps, 1), q->m.substeps > 1};
    if (q->m.substeps || q->bounded || q->s->fell_back) return SOCK_OK;
    const sk_filter_spec spec = sk_noisy_spec(&q->m, &q->clean);
    SK_TRY(sk_series_substeps(q->s->ctx, &q->m.series, &spec, q->clean.substeps, &q->clean.substeps));
    return q->clean.substeps.count > 1 ? SOCK_OK : sk_noise_pilot(&q->m, &q->clean.substeps);
}

/* With a constant drift among them, if the choice is free. */
static sock_status list_candidates(inquiry *q)
{
    sk_search *s = q->s;
    sk_candidates *list = s->fell_back ? &s->given_up : &s->list;
    size_t place;
    q->list = list;
    return sk_free_choice(s) && list->drifts < SK_MOST ? sk_list_free_constant(s, list, &place) : SOCK_OK;
}

/* Many states with many substeps are followed on the rows of the screen; widen() ends with all. */
static sock_status begin(inquiry *q)
{
    sk_search *s = q->s;
    const sk_transitions *rows = s->rows == s->sets.all ? s->sets.search : s->rows;
    SK_TRY(list_candidates(q));
    SK_TRY(measure(q, rows));
    SK_TRY(sk_search_mixture(s, &s->choice, &q->clean.model));
    SK_TRY(count_substeps(q));
    if (rows == s->sets.screen || sk_flow_affordable(rows->n, q->clean.substeps.count, rows->d)) return SOCK_OK;
    return measure(q, s->sets.screen);
}

static sock_status try_long_steps(inquiry *q)
{
    const size_t substeps = q->clean.substeps.count;
    const size_t steps = q->m.substeps ? SIZE_MAX : q->m.series.steps; /* who names substeps gets them with few, too */
    double promise = 0;
    sk_gain gain;
    q->m.mode = SK_NOISE_NONE;
    if (substeps > 1 && !sk_is_long(substeps)) SK_TRY(sk_noise_promise(&q->m, &q->clean, &promise));
    if (!sk_long_steps_worth(steps, substeps, promise)) return SOCK_OK;
    SK_TRY(sk_noisy_score(&q->m, &q->clean));
    SK_TRY(sk_tolerate(fit_all(&q->m, sk_long_least(q->clean.sum, false), &q->plain)));
    if (!q->plain.held && !(q->s->sets.look.resolution > 0)) { /* a grain would have to be followed too */
        sk_noise_fit_clear(&q->plain);
        SK_TRY(sk_tolerate(fit_from(&q->m, &q->clean, sk_long_least(q->clean.sum, true), &q->plain)));
    }
    sk_begin(q->s->ctx);
    if (!q->plain.held) return SOCK_OK;
    SK_TRY(hold_clean(q));
    SK_TRY(sk_noise_compare(&q->m, q->plain.held, q->clean_held, &gain));
    q->wins = sk_long_steps_win(q->plain.now.substeps.count, gain.nats, gain.error);
    q->ahead = gain.nats;
    return SOCK_OK;
}

static sock_status tell_numbers(sock_context *ctx, size_t count, const double *value, sk_numbers *out)
{
    *out = (sk_numbers){count, sk_doubles(ctx, count, 1)};
    if (!out->value) return SOCK_ENOMEM;
    memcpy(out->value, value, count * sizeof *value);
    return SOCK_OK;
}

static sock_status say(sk_search *s, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sk_free(s->told->noise.reason);
    s->told->noise.reason = sk_strdup(s->ctx, text);
    return s->told->noise.reason ? SOCK_OK : SOCK_ENOMEM;
}

static bool asked(const inquiry *q, sk_noise_choice choice) { return q->s->spec->noise == choice; }

/* The best model without noise. */
static sk_noisy *best_without(inquiry *q) { return q->wins ? &q->plain.now : &q->clean; }

/* Whether steps are so long that noise hardly shows in neighbouring residuals. */
static bool has_long_steps(const inquiry *q) { return q->wins && sk_is_long(q->plain.now.substeps.count); }

static bool is_rounded(const inquiry *q) { return sk_rounding_shows(q->s->sets.rounding); }

static double largest_z(const inquiry *q)
{
    const size_t d = q->m.series.d;
    double largest = -(double)INFINITY;
    for (size_t k = 0; k < d; k++) largest = fmax(largest, q->z[k * (d + 1)]);
    return largest;
}

/* *suspected comes as what the z-scores say, and stays where R gains enough in the model without it, too; over long
 * steps either is enough, since noise hardly shows in residuals there. Where a vanishes at a bound the filter is no
 * judge of that model, and only what is beyond doubt is looked at. */
static sock_status look_closer(inquiry *q, bool *suspected)
{
    const double largest = largest_z(q);
    const bool enough = *suspected && has_long_steps(q);
    double gain = 0;
    *suspected = !q->bounded || largest >= SK_NOISE_SURE;
    if (!*suspected) return say(q->s, "none found beyond doubt (z = %.1f); a vanishes at a bound", largest);
    if (q->bounded) return SOCK_OK;
    SK_TRY(sk_noisy_score(&q->m, best_without(q)));
    const bool learned = q->wins && q->m.list->drift[q->plain.f].learned;
    SK_TRY(sk_noise_hint(&q->m, best_without(q), learned, &q->hint, &gain));
    sk_begin(q->s->ctx);
    q->doubt = fmax(gain, 0);
    if (q->wins && q->hint.noise) q->hinted = q->ahead + gain - SK_FREEDOM_PRICE * (double)q->m.series.d;
    *suspected = gain >= 0 && (enough || !q->hint.model || largest >= SK_NOISE_SURE || is_rounded(q) ||
                               gain >= sk_noise_hint_asked(q->m.series.d, has_long_steps(q)));
    if (*suspected) return SOCK_OK;
    return say(q->s, "none found (z = %.1f, R %s %.1f nats)", largest, gain < 0 ? "loses" : "gains", fabs(gain));
}

/* *suspected: whether the fit with R is worth its time. */
static sock_status test(inquiry *q, bool *suspected)
{
    sk_search *s = q->s;
    const size_t d = q->m.series.d;
    double z[SK_NOISE_MOST_DIM];
    sk_lagged lagged = {.r = q->r, .z = q->z};
    SK_TRY(sk_lag_test_model(&q->m, best_without(q), &lagged));
    for (size_t k = 0; k < d; k++) z[k] = q->z[k * (d + 1)];
    SK_TRY(tell_numbers(s->ctx, d, z, &s->told->noise.z));
    *suspected = sk_noise_has_pairs(lagged.pairs);
    if (!*suspected) return say(s, "%zu pairs of neighbouring steps are too few to tell noise", lagged.pairs);
    if (!asked(q, SK_ASK_AUTO)) return SOCK_OK;
    *suspected = sk_noise_suspected(d, z) || is_rounded(q);
    if (!*suspected && !has_long_steps(q)) return say(s, "none found (z = %.1f)", largest_z(q));
    return look_closer(q, suspected);
}

/* The gain over the fit without noise, and over passes without noise from the noisy model. */
static sock_status find_gains(inquiry *q, sk_gain *over_clean, sk_gain *over_same)
{
    const sk_noise_turn turn = {.f = q->noisy.f, .a = q->noisy.a, .passes = SK_RIVAL_PASSES};
    const sk_noise_mode mode = q->m.mode;
    sk_noise_fit rival;
    SK_TRY(hold_clean(q));
    SK_TRY(sk_noise_compare(&q->m, q->noisy.held, q->wins ? q->plain.held : q->clean_held, over_clean));
    *over_same = *over_clean;
    q->m.mode = SK_NOISE_NONE;
    sock_status status = sk_noise_turn_to(&q->m, &q->noisy, &turn, &rival);
    q->m.mode = mode;
    SK_TRY(status);
    if (rival.held) status = sk_noise_compare(&q->m, q->noisy.held, rival.held, over_same);
    sk_noise_fit_clear(&rival);
    return status;
}

/* Whether R of a state that is rounded is what rounding makes, at least about so much. */
static bool finds_rounding(const inquiry *q)
{
    const double *grain = q->s->sets.grain, *r = q->noisy.now.noise;
    const size_t d = q->m.series.d;
    bool any = false;
    for (size_t k = 0; k < d; k++) any |= grain[k] > 0 && sk_is_rounding_noise(r[k * (d + 1)], grain[k]);
    return any && is_rounded(q);
}

/* Scores of all steps under the best model without noise, what a rate of 1 does to them, and the run of each. */
static sock_status score_clean(inquiry *q, double *v, double *weight, size_t *run)
{
    const sk_series *series = &q->m.series;
    const sk_filter_spec spec = sk_noisy_spec(&q->m, best_without(q));
    const size_t d = series->d;
    sk_pass pass = {0};
    SK_TRY(sk_pass_new(q->s->ctx, series, true, &pass));
    const sock_status status = sk_filter(q->s->ctx, series, &spec, &pass);
    for (size_t r = 0; status >= 0 && r < series->runs; r++)
        for (size_t i = series->first[r]; i < series->first[r + 1]; i++) {
            run[i] = r;
            for (size_t k = 0; k < d; k++) {
                const double e = series->next[i * d + k] - pass.mean[i * d + k],
                             sd = sqrt(pass.cov[i * d * d + k * (d + 1)]);
                const bool good = !pass.lost[i] && sd > 0;
                v[i * d + k] = good ? e / sd : (double)NAN;
                weight[i * d + k] = good ? series->h[i] / sd : 0;
            }
        }
    sk_pass_clear(&pass);
    return status;
}

/* Nats by which what a trajectory was so far foretells the steps of the best model without noise. */
static sock_status ask_subjects(inquiry *q, double *nats)
{
    const sk_series *series = &q->m.series;
    sock_context *ctx = q->s->ctx;
    *nats = 0;
    if (!sk_noise_has_subjects(q->s->spec->data->trajectories, series->runs)) return SOCK_OK;
    double *v = sk_doubles(ctx, series->steps, series->d), *weight = sk_doubles(ctx, series->steps, series->d);
    size_t *run = sk_alloc(ctx, series->steps, sizeof *run);
    sock_status status = v && weight && run ? score_clean(q, v, weight, run) : SOCK_ENOMEM;
    if (status >= 0) status = sk_subject_gain(ctx, series->steps, series->d, v, series->y, weight, run, nats);
    sk_free(v);
    sk_free(weight);
    sk_free(run);
    return status;
}

/* Trajectories with set points of their own go to and fro about them, as measured ones do about the state. */
static sock_status weigh_subjects(inquiry *q, double gain, bool *used)
{
    double nats = 0;
    if (!*used || !asked(q, SK_ASK_AUTO)) return SOCK_OK;
    SK_TRY(ask_subjects(q, &nats));
    if (!sk_noise_is_subjects(nats, gain)) return SOCK_OK;
    *used = false;
    return say(q->s, "suspected, but that trajectories differ explains more (%.1f nats, noise %.1f), ignored", nats,
               gain);
}

/* Noise that rounding is known to make needs no evidence. */
static sock_status judge(inquiry *q, bool *used)
{
    sk_search *s = q->s;
    const size_t d = q->m.series.d;
    const bool by_default = asked(q, SK_ASK_AUTO);
    sk_gain clean, same;
    if (by_default && sk_noise_correlated(d, q->z)) SK_TRY(sk_noise_try_full(&q->m, q->r, &q->noisy));
    SK_TRY(find_gains(q, &clean, &same));
    if (q->bounded) clean = same;
    const sk_noise_evidence evidence = {d, sk_is_long(q->noisy.now.substeps.count), largest_z(q), clean, same};
    const bool better = sk_noise_gains(&evidence), sure = !better && sk_noise_is_sure(&evidence);
    const sk_gain gain = sure || same.nats < clean.nats ? same : clean;
    s->told->noise.gain = gain.nats;
    s->told->noise.gain_error = gain.error;
    const bool known = by_default && !better && !sure && gain.nats >= 0 && finds_rounding(q);
    *used = !by_default || better || sure || known;
    q->doubt = fmax(q->doubt, gain.nats);
    if (!q->bounded) q->gained = clean.nats + (q->wins ? q->ahead : 0);
    const char *side = gain.nats < 0 ? "worse" : "better", *other = sure ? "the same model " : "";
    sk_noise_evidence short_steps = evidence; /* by the rule for short steps it might be chance */
    short_steps.is_long = false;
    const char *weak = known ? ", little, but rounding is noise" : "";
    if (by_default && better && !sk_noise_gains(&short_steps)) weak = ", which may be chance";
    if (*used) {
        SK_TRY(say(s, "%.1f nats %s held out than %swithout%s", fabs(gain.nats), side, other, weak));
        return weigh_subjects(q, fmax(gain.nats, clean.nats), used);
    }
    return say(s, "suspected, no clear gain held out (%.1f +- %.1f nats), ignored", gain.nats + 0.0, gain.error);
}

/* What the first sweeps have to reach where noise is only suspected. */
static sock_status find_least(inquiry *q, double *least)
{
    *least = (double)NAN;
    if (!asked(q, SK_ASK_AUTO) || q->bounded) return SOCK_OK;
    SK_TRY(sk_noisy_score(&q->m, best_without(q)));
    *least = sk_noise_least(best_without(q)->sum, q->m.series.steps, q->m.series.d);
    return SOCK_OK;
}

/* Over long steps the way of the start may end in a wrong valley: the fit of long steps with R, from where the hint
 * found it, is taken where it is clearly better held out. */
static sock_status try_hint(inquiry *q)
{
    const sk_noise_turn turn = {.f = q->plain.f, .a = q->plain.a, .passes = SK_FULL_PASSES};
    sk_noise_fit from = q->plain, other;
    sk_gain gain = {INFINITY, 0};
    if (!has_long_steps(q) || !q->hint.noise) return SOCK_OK;
    from.now = q->hint;
    SK_TRY(sk_noise_turn_to(&q->m, &from, &turn, &other));
    sock_status status = SOCK_OK;
    if (other.held && q->noisy.held) status = sk_noise_compare(&q->m, other.held, q->noisy.held, &gain);
    if (status >= 0 && other.held && sk_noise_other_valley(gain.nats)) {
        const sk_noise_fit last = q->noisy;
        q->noisy = other;
        other = last;
    }
    sk_noise_fit_clear(&other);
    return status;
}

static sock_status try_noise(inquiry *q, bool *used)
{
    bool suspected = false;
    double least;
    SK_TRY(test(q, &suspected));
    if (!suspected) return SOCK_OK;
    SK_TRY(find_least(q, &least));
    q->m.mode = asked(q, SK_ASK_FULL) ? SK_NOISE_FULL : SK_NOISE_DIAGONAL;
    SK_TRY(sk_tolerate(fit_all(&q->m, least, &q->noisy)));
    sk_begin(q->s->ctx);
    SK_TRY(try_hint(q));
    if (q->noisy.hopeless) return say(q->s, "suspected, but models with noise are far behind, ignored");
    return q->noisy.held ? judge(q, used) : say(q->s, "suspected, but no model with noise could be fitted");
}

/* ---- The answer ---- */

/* The same steps held out by the search, under its own law of a step: a fit that is far behind that is no better model,
 * whatever the clean one is worth by the law of the filter (a steep drift over a long step is worth nothing there). */
static bool is_behind(const inquiry *q, const sk_noise_fit *fit, double *nats)
{
    const sk_search *s = q->s;
    *nats = -s->final_score;
    if (!fit->held || !asked(q, SK_ASK_AUTO) || s->fell_back || q->bounded || q->m.rows != s->rows) return false;
    for (size_t i = 0; i < q->m.rows->first[q->m.rows->folds]; i++) *nats += fit->held[i] + s->sets.look.density;
    return sk_noise_is_behind(*nats, sk_jitter_is_grain(s->sets.look.eps, s->sets.look.resolution));
}

static sock_status tell_behind(inquiry *q, double nats)
{
    q->gained = q->s->told->noise.gain = nats; /* what the filters said of each other is no gain */
    q->s->told->noise.gain_error = (double)NAN;
    return say(q->s, "suspected, but the fit with noise is %.1f nats behind the search held out, ignored", -nats);
}

static sock_status weigh_score(inquiry *q, bool *used)
{
    double nats;
    if (q->wins && is_behind(q, &q->plain, &nats)) q->wins = false, q->ahead = nats;
    if (!*used || !is_behind(q, &q->noisy, &nats)) return SOCK_OK;
    *used = false;
    return tell_behind(q, nats);
}

/* Where the fit was made on a part of the rows: a few passes on all of them, if such a pass can be kept. All rows are
 * held out in either case. */
static sock_status widen(inquiry *q, sk_noise_fit *fit)
{
    sk_search *s = q->s;
    const sk_noise_turn turn = {.f = fit->f, .a = fit->a, .passes = SK_NOISE_LAST_PASSES};
    sk_noise_fit wide = {0};
    sk_measured all;
    if (s->rows == q->m.rows) return SOCK_OK;
    SK_TRY(sk_measured_new(s->ctx, s->rows, &s->list, q->m.names, &all));
    all.substeps = q->m.substeps;
    all.units = s->sets.units;
    all.mode = fit->now.noise ? q->m.mode : SK_NOISE_NONE;
    sk_measured_clear(&q->m);
    q->m = all;
    if (sk_noise_keeps_pass(sk_noise_bytes(&all, fit->now.substeps.count)))
        SK_TRY(sk_noise_turn_to(&q->m, fit, &turn, &wide));
    if (!wide.held) return sk_noise_score_held(&q->m, fit);
    wide.iterations += fit->iterations;
    sk_noise_fit_clear(fit);
    *fit = wide;
    return SOCK_OK;
}

/* += the terms of the steps that were held out, by cluster too (clusters, zero on entry). */
static double add_held(const inquiry *q, const double *term, double *cluster)
{
    const sk_transitions *rows = q->m.rows;
    double sum = 0;
    for (size_t i = 0; i < rows->first[rows->folds]; i++) {
        const double one = term[i] + q->s->sets.look.density;
        cluster[rows->cluster[i]] += one;
        sum += one;
    }
    return sum;
}

/* The filter adds no jitter to a step. Where that of counted or rounded data is large, the score of constants, which
 * has it, is none to compare with: theirs is that of the filter, too. */
static sock_status score_constants(inquiry *q)
{
    sk_search *s = q->s;
    static const double one = 1;
    const sk_held_model held = {{1, &s->constant_drift, &one}, {1, &s->constant_diffusion, &one}, 0};
    if (!sk_jitter_is_grain(s->sets.look.eps, s->sets.look.resolution) || !s->constant_diffusion) return SOCK_OK;
    double *cluster = s->constant_diffusion->cluster, *term = sk_doubles(s->ctx, q->m.series.steps, 1);
    sock_status status = term ? hold(q, &held, 0, (sk_substeps){1, false}, term) : SOCK_ENOMEM;
    if (status >= 0) {
        memset(cluster, 0, q->m.rows->clusters * sizeof *cluster);
        s->told_constant = add_held(q, term, cluster);
    }
    sk_free(term);
    return status;
}

/* Score of the search: the held-out likelihood, by cluster too. */
static sock_status score(inquiry *q, const sk_noise_fit *fit)
{
    sk_search *s = q->s;
    double *by = sk_doubles(s->ctx, 2, q->m.rows->clusters);
    if (!by) return SOCK_ENOMEM;
    assert(fit->held && fit->diffusion[fit->a]);
    sk_free(s->final_cluster);
    s->final_cluster = by;
    s->final_score = add_held(q, fit->held, by);
    fit->diffusion[fit->a]->score = s->judged[fit->a] = s->final_score;
    return score_constants(q);
}

/* R, in the units of the data, to the model and the record. */
static sock_status tell_noise(sk_search *s, sk_noise_fit *fit)
{
    const size_t d = fit->now.model->d;
    const double *scale = s->sets.units ? s->sets.units->scale : NULL;
    sk_noise_told *told = &s->told->noise;
    double *noise = fit->now.noise;
    told->used = true;
    for (size_t k = 0; k < d; k++) SK_TRY(sk_texts_add(s->ctx, &told->states, s->spec->data->state[k]));
    for (size_t k = 0; scale && k < d * d; k++) noise[k] *= scale[k / d] * scale[k % d];
    for (size_t k = 0; scale && k < d; k++) fit->error[k] *= scale[k] * scale[k];
    SK_TRY(tell_numbers(s->ctx, d * d, noise, &told->r));
    SK_TRY(tell_numbers(s->ctx, d, fit->error, &told->r_error));
    SK_TRY(tell_numbers(s->ctx, d, fit->error, &told->sd));
    for (size_t k = 0; k < d; k++) told->sd.value[k] = sqrt(noise[k * (d + 1)]);
    fit->now.model->structure->noise = noise;
    fit->now.noise = NULL;
    return SOCK_OK;
}

/* ---- Peers ---- */

/* The models that the data do not tell apart: nats of each, held out, over the clean one. */
typedef struct company {
    double own; /* of the model that is delivered */
    size_t count;
    sock_model *peer[PEERS]; /* with a spread; the company owns them */
    double nats[PEERS];
} company;

static void company_clear(company *c)
{
    for (size_t i = 0; i < c->count; i++) sock_model_free(c->peer[i]);
}

/* A copy of a fit's model, as far as it can be trusted. A fit without bands is no peer. */
static sock_status invite(const sk_measured *m, const sk_noise_fit *fit, double nats, company *c)
{
    sk_noise_fit copy = *fit; /* the trials are only read */
    if (!(nats - c->own > SK_SHARE_NATS * log(SK_SHARE_LEAST))) return SOCK_OK;
    SK_TRY(sk_noisy_copy(m, &fit->now, &copy.now));
    sock_status status = sk_noise_spread(m, &copy);
    if (status >= 0 && copy.now.model->spread) {
        c->nats[c->count] = nats;
        c->peer[c->count++] = copy.now.model;
        copy.now.model = NULL;
    }
    sk_noisy_clear(&copy.now);
    return status;
}

/* The clean fit beside one with noise. */
static sock_status invite_clean(inquiry *q, company *c)
{
    sock_model *clean = NULL;
    if (!(0 - c->own > SK_SHARE_NATS * log(SK_SHARE_LEAST))) return SOCK_OK;
    SK_TRY(sk_search_mixture(q->s, &q->s->choice, &clean));
    const sock_status status = sk_search_spread(q->s, clean);
    if (status < 0 || !clean->spread) {
        sock_model_free(clean);
        return status;
    }
    c->nats[c->count] = 0;
    c->peer[c->count++] = clean;
    return SOCK_OK;
}

/* They count by what they say of held-out steps, as candidates of a search do. */
static sock_status seat(inquiry *q, company *c, sock_model *model)
{
    const sk_search *s = q->s;
    double sum = 0, top = c->own;
    if (!model->spread || !c->count) return SOCK_OK;
    for (size_t i = 0; i < c->count; i++) top = fmax(top, c->nats[i]);
    sum = exp((c->own - top) / SK_SHARE_NATS);
    for (size_t i = 0; i < c->count; i++) sum += exp((c->nats[i] - top) / SK_SHARE_NATS);
    while (c->count) {
        const size_t i = c->count - 1;
        SK_TRY(sk_spread_add_peer(s->ctx, model->spread, exp((c->nats[i] - top) / SK_SHARE_NATS) / sum, c->peer[i]));
        c->count--;
    }
    return sk_spread_at_data(s->ctx, s->rows, sk_transitions_in_memory(s->rows), model);
}

/* Whether noise was not found, but is not excluded either. */
static bool is_doubtful(const inquiry *q) { return q->doubt >= SK_DOUBT_NATS; }

/* The fit with R; where there was none, that of long steps as the hint left it. */
static sock_status invite_noisy(inquiry *q, company *c)
{
    sk_noise_fit hinted = q->plain;
    if (!is_doubtful(q)) return SOCK_OK;
    if (q->noisy.held && isfinite(q->gained)) return invite(&q->m, &q->noisy, q->gained, c);
    if (!isfinite(q->hinted)) return SOCK_OK;
    hinted.now = q->hint;
    return invite(&q->m, &hinted, q->hinted, c);
}

/* Beside the model with R, the fit of long steps or the clean one: who asks who else there is. */
static sock_status invite_all(inquiry *q, bool used, company *c)
{
    const bool free = asked(q, SK_ASK_AUTO);
    if (!q->s->spec->bands || q->bounded || (used && !(free && isfinite(q->gained)))) return SOCK_OK;
    c->own = used ? q->gained : q->wins ? q->ahead : 0;
    if (!used) SK_TRY(invite_noisy(q, c));
    if (q->plain.held && (used || !q->wins)) SK_TRY(invite(&q->m, &q->plain, q->ahead, c));
    return used && !q->wins ? invite_clean(q, c) : SOCK_OK;
}

/* The fit becomes what the search found; *out stays NULL where it is far behind the search on all rows. */
static sock_status deliver(inquiry *q, sk_noise_fit *fit, sock_model **out)
{
    sk_search *s = q->s;
    const bool part = q->m.rows != s->rows, free = !s->fell_back;
    double nats;
    if (s->fell_back) sk_take_back(s);
    q->m.list = &s->list;
    SK_TRY(widen(q, fit));
    if (part && free && is_behind(q, fit, &nats)) return fit->now.noise ? tell_behind(q, nats) : SOCK_OK;
    SK_TRY(score(q, fit));
    if (s->spec->bands) SK_TRY(sk_noise_spread(&q->m, fit));
    sk_replace(&s->drift[fit->f], fit->drift[fit->f]);
    sk_replace(&s->diffusion[fit->a], fit->diffusion[fit->a]);
    fit->drift[fit->f] = fit->diffusion[fit->a] = NULL;
    s->best_drift = fit->f;
    s->best_diffusion = fit->a;
    sk_choose_one(fit->f, fit->a, &s->choice);
    s->calibration = (double)NAN;
    s->told->noise.iterations = fit->iterations;
    s->told->noise.substeps = fit->now.substeps.count;
    if (fit->now.noise) SK_TRY(tell_noise(s, fit));
    *out = fit->now.model;
    fit->now.model = NULL;
    return SOCK_OK;
}

/* Long steps and noise that was not found, nor excluded: the law of long steps makes more of noise than no law does. */
static sock_status weigh_doubt(inquiry *q)
{
    const size_t values = q->m.series.steps * q->m.series.d;
    if (!has_long_steps(q) || !sk_long_steps_doubtful(q->doubt, q->ahead, values)) return SOCK_OK;
    q->wins = false;
    return say(q->s, "not told from long steps (R gains %.1f nats): the fit without either stands%s", q->doubt,
               q->s->spec->bands ? "; its bands count these, too" : "");
}

/* Substeps that were named and did not predict better. */
static sock_status tell_refused(inquiry *q)
{
    char known[120];
    const char *reason = q->s->told->noise.reason;
    if (q->s->spec->substeps < 2) return SOCK_OK;
    snprintf(known, sizeof known, "%s", reason ? reason : "none was looked for");
    return say(q->s, "%s; %zu substeps a step predict no better, and were left out", known, q->s->spec->substeps);
}

/* The clean fit, with its peers; without any, the search makes its model itself. */
static sock_status stand(inquiry *q, const company *c, sock_model **out)
{
    SK_TRY(tell_refused(q));
    if (!c->count) return SOCK_OK;
    SK_TRY(sk_search_mixture(q->s, &q->s->choice, out));
    return sk_search_spread(q->s, *out);
}

static sock_status answer(inquiry *q, company *c, sock_model **out)
{
    bool used = false;
    SK_TRY(begin(q));
    q->s->told->noise.substeps = 1;
    if (!q->bounded && !q->s->fell_back) SK_TRY(try_long_steps(q)); /* constants have no long steps */
    if (!asked(q, SK_ASK_NONE)) SK_TRY(try_noise(q, &used));
    SK_TRY(weigh_score(q, &used));
    if (!used) SK_TRY(weigh_doubt(q));
    SK_TRY(invite_all(q, used, c));
    if (used) return deliver(q, &q->noisy, out);
    return q->wins ? deliver(q, &q->plain, out) : stand(q, c, out);
}

static sock_status inquire(inquiry *q, sock_model **out)
{
    company c = {0};
    sock_status status = answer(q, &c, out);
    if (status >= 0 && *out && c.count) status = seat(q, &c, *out);
    company_clear(&c);
    return status;
}

static const char *const choices[] = {[SK_ASK_NOTHING] = "",
                                      [SK_ASK_NONE] = "none",
                                      [SK_ASK_AUTO] = "auto",
                                      [SK_ASK_DIAGONAL] = "diag",
                                      [SK_ASK_FULL] = "full"};

sk_noise_choice sk_noise_choice_named(const char *name)
{
    for (size_t i = SK_ASK_NONE; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(choices[i], name) == 0) return (sk_noise_choice)i;
    return SK_ASK_NOTHING;
}

/* Noise or substeps by name. Else the likelihood of the filter must be one that steps at rest cannot lead astray. */
static bool insists(const sk_tune_spec *spec)
{
    return spec->substeps > 1 || (spec->noise != SK_ASK_AUTO && spec->noise != SK_ASK_NONE);
}

/* Whether the leading diffusion vanishes at a bound. The law of a step that noise and long steps are followed by is
 * Gaussian: it goes beyond bounds, and a that is singular there pays without limit. */
static bool knows_bounds(const sk_search *s)
{
    size_t lead = 0;
    for (size_t i = 1; i < s->list.diffusions; i++)
        if (s->choice.share[i] > s->choice.share[lead]) lead = i;
    return sk_kernel_is_bounded(s->list.diffusion[lead].kernel);
}

sock_status sk_noise_stage(sk_search *s, sock_model **out)
{
    inquiry q = {.s = s, .gained = (double)NAN, .hinted = (double)NAN};
    sk_noise_told *told = &s->told->noise;
    told->gain = told->gain_error = (double)NAN;
    if (s->spec->noise == SK_ASK_NOTHING || (s->spec->noise == SK_ASK_NONE && s->spec->substeps == 1)) return SOCK_OK;
    told->mode = sk_strdup(s->ctx, choices[s->spec->noise]);
    if (!told->mode) return SOCK_ENOMEM;
    if (s->told->too_few) return say(s, "not looked for: too few steps");
    if (s->limited) return say(s, "not looked for: the budget was spent");
    if (sk_grain_hides(s->sets.rest) && !insists(s->spec))
        return say(s, "not looked for: most steps of a state rest, in counts or rounded data (--noise diag looks)");
    if (s->rows->d > SK_NOISE_MOST_DIM) return say(s, "not looked for in more than %d dimensions", SK_NOISE_MOST_DIM);
    q.bounded = knows_bounds(s) && !insists(s->spec);
    const sock_status status = inquire(&q, out);
    inquiry_clear(&q);
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(s->ctx); /* the fit without noise stands */
    told->gain = told->gain_error = (double)NAN;
    return say(s, "not fitted: the numbers do not allow it");
}
