/* noisestage.c - measurement noise and long steps after the clean search: whether there are any, and whether the model
 * that knows of them is better held out. Where not, the clean model stands as it is.
 *
 *   1. Long steps: more than one substep is asked for under the clean model. A fit with R = 0.
 *   2. The test of neighbouring residuals: a low hurdle, since noise at long steps hardly shows.
 *   3. The fit with R.
 *   4. Verdict: held-out filter likelihood against the better of 1 and of two passes without noise that begin at the
 *      noisy model, so that a drift that merely became better does not count for noise. */
#include "tune/noisefit.h"
#include "tune/searchstate.h"

#include "tune/scaling.h"

#include <math.h>
#include <string.h>

/* What the stage knows. */
typedef struct inquiry {
    sk_search *s;
    sk_measured m;
    sk_noisy clean;
    double *clean_held; /* steps; NULL: not computed */
    sk_noise_fit plain; /* with R = 0, where steps are long */
    sk_noise_fit noisy;
    bool wins; /* the plain fit is better than the clean one */
    double z[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], r[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
} inquiry;

static void inquiry_clear(inquiry *q)
{
    sk_noise_fit_clear(&q->plain);
    sk_noise_fit_clear(&q->noisy);
    sk_noisy_clear(&q->clean);
    sk_measured_clear(&q->m);
    sk_free(q->clean_held);
}

/* ---- Held out ---- */

/* The filter of the clean models of the folds, with R = 0. */
static sock_status hold_clean(inquiry *q)
{
    sk_search *s = q->s;
    const sk_held_model held = sk_chosen(s, &s->choice);
    if (q->clean_held) return SOCK_OK;
    q->clean_held = sk_doubles(s->ctx, q->m.series.steps, 1);
    if (!q->clean_held) return SOCK_ENOMEM;
    for (size_t f = 0; f < q->m.rows->folds; f++) {
        sk_noisy one = {.substeps = q->clean.substeps};
        sk_series part = q->m.series;
        part.first += q->m.run_first[f];
        part.runs = q->m.run_first[f + 1] - q->m.run_first[f];
        sock_status status = sk_held_model_without(s->ctx, &held, f, q->m.names, &one.model);
        if (status >= 0) one.model->floor = s->choice.floor;
        const sk_filter_spec spec = sk_noisy_spec(&q->m, &one);
        if (status >= 0) status = sk_filter(s->ctx, &part, &spec, &(sk_pass){.term = q->clean_held});
        sk_noisy_clear(&one);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* Steps that were held out. */
static size_t judged(const inquiry *q) { return q->m.rows->first[q->m.rows->folds]; }

/* The least that a step counts: so far below the median one. */
static sock_status least_of(const inquiry *q, const double *held, double *out)
{
    const size_t n = judged(q);
    double *copy = sk_doubles(q->s->ctx, SK_MAX(n, 1), 1);
    if (!copy) return SOCK_ENOMEM;
    memcpy(copy, held, n * sizeof *copy);
    *out = n ? sk_median(n, copy) - SK_STEP_WORST : 0;
    sk_free(copy);
    return SOCK_OK;
}

/* Gain of one over other, and its standard error over clusters. */
static sock_status compare(const inquiry *q, const double *one, const double *other, double *gain, double *error)
{
    const sk_transitions *rows = q->m.rows;
    double least_one, least_other, *by = sk_doubles(q->s->ctx, 2, rows->clusters);
    sock_status status = by ? least_of(q, one, &least_one) : SOCK_ENOMEM;
    if (status >= 0) status = least_of(q, other, &least_other);
    *gain = 0;
    for (size_t i = 0; status >= 0 && i < judged(q); i++) {
        const double a = fmax(one[i], least_one), b = fmax(other[i], least_other);
        *gain += a - b;
        by[rows->cluster[i]] += a;
        by[rows->clusters + rows->cluster[i]] += b;
    }
    if (status >= 0) *error = sk_paired_error(rows->clusters, by, by + rows->clusters);
    sk_free(by);
    return status;
}

/* ---- Fits ---- */

/* From the start to the held-out score. */
static sock_status fit_all(sk_measured *m, sk_noise_fit *fit)
{
    fit->least = sk_doubles(m->ctx, m->series.d, 1);
    if (!fit->least) return SOCK_ENOMEM;
    SK_TRY(sk_noise_start(m, &fit->now, fit->least));
    SK_TRY(sk_noise_iterate(m, fit, SK_NOISE_ITERATIONS));
    return fit->hopeless ? SOCK_OK : sk_noise_hold_out(m, fit);
}

/* A stand-in that knows the penalty. */
static sock_status note_penalty(sock_context *ctx, const sk_trial *like, sk_trial **out)
{
    *out = sk_alloc(ctx, 1, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    (*out)->l = like->l;
    return SOCK_OK;
}

/* Two passes without noise from the noisy model, with its kernels. */
static sock_status fit_rival(inquiry *q, sk_noise_fit *rival)
{
    sk_measured *m = &q->m;
    const sk_noise_fit *from = &q->noisy;
    const sk_noise_mode mode = m->mode;
    rival->rival = (double)NAN;
    rival->f = from->f;
    rival->a = from->a;
    rival->now.substeps = from->now.substeps;
    rival->least = sk_doubles(m->ctx, m->series.d, 1);
    sock_status status = rival->least ? sk_model_new(m->ctx, m->series.d, m->names, &rival->now.model) : SOCK_ENOMEM;
    if (status >= 0) status = sk_add_drift_of(m->ctx, from->now.model, 1, rival->now.model);
    if (status >= 0) status = sk_add_diffusion_of(m->ctx, from->now.model, NULL, rival->now.model);
    if (status >= 0) status = note_penalty(m->ctx, from->drift[from->f], &rival->drift[from->f]);
    if (status >= 0) status = note_penalty(m->ctx, from->diffusion[from->a], &rival->diffusion[from->a]);
    m->mode = SK_NOISE_NONE;
    if (status >= 0) status = sk_noisy_score(m, &rival->now);
    if (status >= 0) status = sk_noise_iterate(m, rival, SK_RIVAL_PASSES);
    if (status >= 0) status = sk_noise_hold_out(m, rival);
    m->mode = mode;
    return status;
}

/* ---- Steps of the inquiry ---- */

static sock_status begin(inquiry *q)
{
    sk_search *s = q->s;
    SK_TRY(sk_measured_new(s->ctx, s->sets.search, &s->list, (const char *const *)s->spec->data->state, &q->m));
    q->m.substeps = s->spec->substeps;
    SK_TRY(sk_search_mixture(s, &s->choice, &q->clean.model));
    q->clean.substeps = (sk_substeps){SK_MAX(q->m.substeps, 1), q->m.substeps > 1};
    if (q->m.substeps) return SOCK_OK;
    const sk_filter_spec spec = sk_noisy_spec(&q->m, &q->clean);
    SK_TRY(sk_series_substeps(s->ctx, &q->m.series, &spec, q->clean.substeps, &q->clean.substeps));
    return q->clean.substeps.count > 1 ? SOCK_OK : sk_noise_pilot(&q->m, &q->clean.substeps);
}

static sock_status try_long_steps(inquiry *q)
{
    double gain, error;
    q->m.mode = SK_NOISE_NONE;
    SK_TRY(sk_noisy_score(&q->m, &q->clean));
    q->plain.rival = q->clean.sum;
    const sock_status status = fit_all(&q->m, &q->plain);
    if (status == SOCK_ENUMERIC) return SOCK_OK;
    SK_TRY(status);
    if (q->plain.hopeless) return SOCK_OK;
    SK_TRY(hold_clean(q));
    SK_TRY(compare(q, q->plain.held, q->clean_held, &gain, &error));
    q->wins = gain >= SK_NOISE_GAIN;
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

/* *suspected: whether the fit with R is worth its time. */
static sock_status test(inquiry *q, bool *suspected)
{
    sk_search *s = q->s;
    const size_t d = q->m.series.d;
    double z[SK_NOISE_MOST_DIM], largest = -(double)INFINITY;
    sk_lagged lagged = {.r = q->r, .z = q->z};
    SK_TRY(sk_lag_test_model(&q->m, q->wins ? &q->plain.now : &q->clean, &lagged));
    for (size_t k = 0; k < d; k++) {
        z[k] = q->z[k * (d + 1)];
        largest = fmax(largest, z[k]);
    }
    SK_TRY(tell_numbers(s->ctx, d, z, &s->told->noise.z));
    *suspected = lagged.pairs >= SK_NOISE_PAIRS;
    if (!*suspected) return say(s, "%zu pairs of neighbouring steps are too few to tell noise", lagged.pairs);
    if (strcmp(s->spec->noise, "auto") != 0) return SOCK_OK;
    *suspected = sk_noise_suspected(d, z);
    return *suspected ? SOCK_OK : say(s, "none found (z = %.1f)", largest);
}

static sock_status judge(inquiry *q, bool *used)
{
    sk_search *s = q->s;
    sk_noise_told *told = &s->told->noise;
    sk_noise_fit rival = {0};
    double gain = 0, error = 0;
    *used = false;
    sock_status status = hold_clean(q);
    if (status >= 0)
        status = compare(q, q->noisy.held, q->wins ? q->plain.held : q->clean_held, &told->gain, &told->gain_error);
    if (status >= 0) status = sk_tolerate(fit_rival(q, &rival));
    if (status >= 0 && rival.held) status = compare(q, q->noisy.held, rival.held, &gain, &error);
    if (status >= 0 && rival.held && gain < told->gain) {
        told->gain = gain;
        told->gain_error = error;
    }
    sk_noise_fit_clear(&rival);
    SK_TRY(status);
    sk_begin(s->ctx);
    *used = strcmp(s->spec->noise, "auto") != 0 || told->gain >= SK_NOISE_GAIN;
    if (*used) return say(s, "%.1f nats better held out than without", told->gain);
    return say(s, "suspected, no gain held out (%.1f nats), ignored", told->gain);
}

/* ---- The answer ---- */

/* The fit becomes what the search found. */
static sock_status deliver(inquiry *q, sk_noise_fit *fit, sock_model **out)
{
    sk_search *s = q->s;
    const size_t d = q->m.series.d;
    sk_noise_told *told = &s->told->noise;
    double sum = 0;
    for (size_t i = 0; i < judged(q); i++) sum += fit->held[i] + s->sets.look.density;
    fit->diffusion[fit->a]->score = sum;
    sk_replace(&s->drift[fit->f], fit->drift[fit->f]);
    sk_replace(&s->diffusion[fit->a], fit->diffusion[fit->a]);
    fit->drift[fit->f] = fit->diffusion[fit->a] = NULL;
    s->rows = q->m.rows;
    s->best_drift = fit->f;
    s->best_diffusion = fit->a;
    sk_choose_one(fit->f, fit->a, &s->choice);
    s->calibration = (double)NAN;
    told->iterations = fit->iterations;
    told->substeps = fit->now.substeps.count;
    if (fit->now.noise) {
        const double *scale = s->sets.units ? s->sets.units->scale : NULL;
        told->used = true;
        for (size_t k = 0; scale && k < d * d; k++) fit->now.noise[k] *= scale[k / d] * scale[k % d];
        for (size_t k = 0; scale && k < d; k++) fit->error[k] *= scale[k] * scale[k];
        SK_TRY(tell_numbers(s->ctx, d * d, fit->now.noise, &told->r));
        SK_TRY(tell_numbers(s->ctx, d, fit->error, &told->r_error));
        SK_TRY(tell_numbers(s->ctx, d, fit->error, &told->sd));
        for (size_t k = 0; k < d; k++) told->sd.value[k] = sqrt(fit->now.noise[k * (d + 1)]);
        fit->now.model->structure->noise = fit->now.noise;
        fit->now.noise = NULL;
    }
    *out = fit->now.model;
    fit->now.model = NULL;
    return SOCK_OK;
}

static sock_status inquire(inquiry *q, sock_model **out)
{
    sk_search *s = q->s;
    const bool none = strcmp(s->spec->noise, "none") == 0;
    bool suspected = false, used = false;
    SK_TRY(begin(q));
    s->told->noise.substeps = 1;
    if (q->clean.substeps.count > 1) SK_TRY(try_long_steps(q));
    if (!none) SK_TRY(test(q, &suspected));
    if (suspected) {
        q->m.mode = strcmp(s->spec->noise, "full") == 0 ? SK_NOISE_FULL : SK_NOISE_DIAGONAL;
        q->noisy.rival = (double)NAN;
        const sock_status status = fit_all(&q->m, &q->noisy);
        if (status == SOCK_ENUMERIC) {
            sk_begin(s->ctx);
            SK_TRY(say(s, "suspected, but no model with noise could be fitted"));
        } else {
            SK_TRY(status);
            SK_TRY(judge(q, &used));
        }
    }
    if (used) return deliver(q, &q->noisy, out);
    return q->wins ? deliver(q, &q->plain, out) : SOCK_OK;
}

sock_status sk_noise_stage(sk_search *s, sock_model **out)
{
    inquiry q = {.s = s};
    sk_noise_told *told = &s->told->noise;
    told->gain = told->gain_error = (double)NAN;
    if (!s->spec->noise || (strcmp(s->spec->noise, "none") == 0 && s->spec->substeps == 1)) return SOCK_OK;
    told->mode = sk_strdup(s->ctx, s->spec->noise);
    if (!told->mode) return SOCK_ENOMEM;
    if (s->fell_back) return say(s, "not looked for: constant coefficients were taken");
    if (s->rows->d > SK_NOISE_MOST_DIM) return say(s, "not looked for in more than %d dimensions", SK_NOISE_MOST_DIM);
    sock_status status = inquire(&q, out);
    inquiry_clear(&q);
    return status;
}
