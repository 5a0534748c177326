/* inertiastage.c - the fit of second-order dynamics from data to model: rows, a fit without and with noise, which of
 * them predicts better, constant coefficients beside it, and what is told. See inertiafit.h. */
#include "inertia/inertiafit.h"
#include "inertia/inertiarules.h"

#include "la/la.h"
#include "tune/policy.h"
#include "tune/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Rows ---- */

void sk_inertial_clear(sk_inertial *w)
{
    sk_candidates_clear(&w->list);
    sk_frame_clear(&w->frame);
    sk_measured_clear(&w->m);
    sk_free(w->left);
    sk_free(w->zero);
    sk_free(w->scale);
    sk_row_sets_clear(&w->sets);
    *w = (sk_inertial){0};
}

/* The mean square velocity of all coordinates: products of mean velocities two steps apart, which share no noise. */
static double mean_square_speed(const sk_series *s)
{
    double sum = 0, near = 0, count = 0, all = 0;
    for (size_t run = 0; run < s->runs; run++)
        for (size_t i = s->first[run]; i < s->first[run + 1]; i++)
            for (size_t k = 0; k < s->d; k++) {
                const double v = (s->next[i * s->d + k] - s->y[i * s->d + k]) / s->h[i];
                near += v * v;
                all++;
                if (i + 2 >= s->first[run + 1]) continue;
                sum += v * (s->next[(i + 2) * s->d + k] - s->y[(i + 2) * s->d + k]) / s->h[i + 2];
                count++;
            }
    near /= fmax(all, 1);
    return count ? sk_inertia_square_speed(sum / count, near) : near;
}

static void set_clock(sk_inertial *w)
{
    const double speed = sqrt(mean_square_speed(&w->m.series));
    w->clock = speed > 0 && isfinite(speed) && w->spec->scaling ? speed : 1;
    for (size_t i = 0; i < w->sets.all->n; i++) w->sets.all->h[i] *= w->clock;
}

/* Nodes of position and velocity; before there is a filter, of mean velocities. */
static sock_status set_points(sk_inertial *w)
{
    const sk_transitions *t = w->sets.all;
    const size_t d = t->d, n = t->n;
    w->left = sk_doubles(w->ctx, n, 2 * d);
    w->zero = sk_doubles(w->ctx, 2, d);
    w->scale = sk_doubles(w->ctx, 2, d);
    if (!w->left || !w->zero || !w->scale) return SOCK_ENOMEM;
    memcpy(w->zero, t->zero, d * sizeof *w->zero);
    memcpy(w->scale, t->scale, d * sizeof *w->scale);
    for (size_t k = 0; k < d; k++) w->scale[d + k] = t->scale[k] * w->clock;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) {
            w->left[i * 2 * d + k] = t->next[i * d + k];
            w->left[i * 2 * d + d + k] = (t->next[i * d + k] - t->y[i * d + k]) / t->h[i];
        }
    w->rows = *t;
    w->rows.in = 2 * d;
    w->rows.left = w->rows.right = w->left;
    w->rows.zero = w->zero;
    w->rows.scale = w->scale;
    w->rows.hold = NULL;
    return SOCK_OK;
}

static size_t count_rows(const sk_series *s)
{
    size_t rows = 0;
    for (size_t r = 0; r < s->runs; r++) rows += s->first[r + 1] - s->first[r] - 1;
    return rows;
}

/* Second differences of the data, and of the pieces that cross-validation cuts them into. */
static sock_status check_rows(sock_context *ctx, const sock_data *data, const sk_series *pieces)
{
    size_t all = 0, left = pieces ? count_rows(pieces) : 0;
    for (size_t j = 0; j < data->trajectories; j++) all += SK_MAX(sk_data_length(data, j), (size_t)2) - 2;
    if (!sk_inertia_has_rows(all))
        return sk_fail(ctx, SOCK_EINPUT,
                       "order is 2, but the data have only %zu second differences; at least %d are needed", all,
                       SK_INERTIA_ROWS);
    if (pieces && !sk_inertia_has_rows(left))
        return sk_fail(
            ctx, SOCK_EINPUT,
            "order is 2, but of %zu second differences cross-validation leaves only %zu in its pieces; at least "
            "%d are needed: give fewer folds, or more data",
            all, left, SK_INERTIA_ROWS);
    return SOCK_OK;
}

sock_status sk_inertial_new(sock_context *ctx, const sk_tune_spec *spec, sk_inertial *out)
{
    sk_inertial w = {.ctx = ctx, .spec = spec};
    sock_status status;
    SK_GO(check_rows(ctx, spec->data, NULL));
    SK_GO(sk_row_sets_new(ctx, spec, SIZE_MAX, SIZE_MAX, &w.sets));
    SK_GO(sk_measured_new(ctx, w.sets.all, &w.list, NULL, &w.m));
    w.m.tolerance = spec->tolerance > 0 ? spec->tolerance : SK_NOISE_TOLERANCE;
    SK_GO(check_rows(ctx, spec->data, &w.m.series));
    set_clock(&w);
    SK_GO(set_points(&w));
    SK_GO(sk_inertia_frame_new(ctx, &w.m.series, &w.frame));
    SK_GO(sk_candidates_new(ctx, spec, &w.rows, false, &w.list));
    *out = w;
    out->m.list = &out->list;
    return SOCK_OK;
out:
    sk_inertial_clear(&w);
    return status;
}

/* ---- What is told ---- */

typedef struct inquiry {
    sk_inertial w;
    sk_tune_outcome *told;
    sk_inertial_fit plain, noisy, constant, linear;
    sk_candidates constants, linears; /* what the last two of them were made of */
} inquiry;

static void inquiry_clear(inquiry *q)
{
    sk_inertial_fit_clear(&q->plain);
    sk_inertial_fit_clear(&q->noisy);
    sk_inertial_fit_clear(&q->constant);
    sk_inertial_fit_clear(&q->linear);
    sk_candidates_clear(&q->constants);
    sk_candidates_clear(&q->linears);
    sk_inertial_clear(&q->w);
}

SK_PRINTF(2, 3) static sock_status say(inquiry *q, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sk_free(q->told->noise.reason);
    q->told->noise.reason = sk_strdup(q->w.ctx, text);
    return q->told->noise.reason ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status tell_numbers(sock_context *ctx, size_t count, const double *value, sk_numbers *out)
{
    *out = (sk_numbers){count, sk_doubles(ctx, count, 1)};
    if (!out->value) return SOCK_ENOMEM;
    for (size_t i = 0; i < count && value; i++) out->value[i] = value[i];
    return SOCK_OK;
}

/* R in the units of the data. */
static sock_status tell_noise(const inquiry *q, const sk_inertial_fit *fit)
{
    const sk_inertial *w = &q->w;
    const size_t d = w->rows.d;
    sk_noise_told *told = &q->told->noise;
    told->used = true;
    for (size_t k = 0; k < d; k++) SK_TRY(sk_texts_add(w->ctx, &told->states, w->spec->data->state[k]));
    SK_TRY(tell_numbers(w->ctx, d * d, fit->now.noise, &told->r));
    SK_TRY(tell_numbers(w->ctx, d, fit->error, &told->r_error));
    SK_TRY(tell_numbers(w->ctx, d, NULL, &told->sd));
    for (size_t k = 0; k < d; k++) {
        const double unit = w->sets.units ? w->sets.units->scale[k] : 1;
        for (size_t l = 0; l < d; l++) told->r.value[k * d + l] *= unit * unit; /* it is diagonal */
        told->r_error.value[k] *= unit * unit;
        told->sd.value[k] = sqrt(told->r.value[k * (d + 1)]);
    }
    return SOCK_OK;
}

static sock_status tell_part(const inquiry *q, const sk_candidate *candidate, const sk_trial *r, double score,
                             sk_parts *out)
{
    sk_part *part = sk_alloc(q->w.ctx, 1, sizeof *part);
    if (!part) return SOCK_ENOMEM;
    *out = (sk_parts){1, part};
    *part = (sk_part){.kernel = sk_strdup(q->w.ctx, candidate->name),
                      .share = 1,
                      .l = r->l > 0 ? r->l : (double)NAN,
                      .lambda = r->l > 0 ? r->l * r->lambda_scale : (double)NAN,
                      .score = score,
                      .dof = r->field == SK_DRIFT ? r->dof : (double)NAN,
                      .edge = r->edge,
                      .learned = candidate->learned,
                      .converged = r->converged,
                      .relative_gap = r->gap,
                      .primal = r->whole.primal,
                      .dual = r->whole.dual,
                      .gap = r->whole.gap,
                      .iterations = -1};
    return part->kernel ? SOCK_OK : SOCK_ENOMEM;
}

/* Held-out log density of all rows in the units of the data; a row for each step but the first of a run. */
static double held_score(const inquiry *q, const double *held)
{
    const sk_transitions *rows = &q->w.rows;
    double sum = 0;
    for (size_t i = 0; i < rows->first[rows->folds]; i++) sum += held[i];
    return sum + q->w.sets.look.density * (double)count_rows(&q->w.m.series);
}

/* The gain of one fit over another; steps that begin a run, which have no density, say nothing. */
static sock_status compare(const inquiry *q, const double *one, const double *other, sk_gain *out)
{
    const sk_series *s = &q->w.m.series;
    double *both = sk_doubles(q->w.ctx, 2, s->steps);
    if (!both) return SOCK_ENOMEM;
    memcpy(both, one, s->steps * sizeof *one);
    memcpy(both + s->steps, other, s->steps * sizeof *one);
    for (size_t r = 0; r < s->runs; r++) both[s->first[r]] = both[s->steps + s->first[r]] = -SK_STEP_LEAST;
    const sock_status status = sk_noise_compare(&q->w.m, both, both + s->steps, out);
    sk_free(both);
    return status;
}

static sock_status tell(const inquiry *q, const sk_inertial_fit *fit, const sk_candidates *list)
{
    const sk_inertial *w = &q->w;
    sk_tune_outcome *told = q->told;
    sk_gain gain = {(double)NAN, (double)NAN};
    told->score = held_score(q, fit->held);
    told->score_constant = q->constant.held ? held_score(q, q->constant.held) : (double)NAN;
    if (q->constant.held) SK_TRY(compare(q, fit->held, q->constant.held, &gain));
    told->gain_error = gain.error;
    told->calibration = told->loglik = (double)NAN;
    told->folds = w->rows.folds;
    told->steps = count_rows(&w->m.series);
    told->drift_dof = fit->drift[fit->f]->dof;
    told->drift_rank = fit->drift[fit->f]->p;
    told->drift_best = sk_strdup(w->ctx, list->drift[fit->f].name);
    told->noise.iterations = fit->iterations;
    told->noise.substeps = 1;
    SK_TRY(tell_part(q, &list->drift[fit->f], fit->drift[fit->f], fit->drift[fit->f]->score, &told->drifts));
    SK_TRY(tell_part(q, &list->diffusion[fit->a], fit->diffusion[fit->a], told->score, &told->diffusions));
    SK_TRY(tell_numbers(w->ctx, w->rows.d, NULL, &told->floor));
    return told->drift_best ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- The fits ---- */

static bool wants_noise(const sk_tune_spec *spec) { return spec->noise > SK_ASK_NONE; }

/* With these kernels, and with the noise of the model or without; a fit that cannot be made has no held-out densities.
 */
static sock_status fit_named(const inquiry *q, const char *kernel, bool noisy, size_t passes, sk_candidates *list,
                             sk_inertial_fit *fit)
{
    sk_tune_spec blind = *q->w.spec;
    sk_inertial w = q->w;
    blind.drift = blind.diffusion = kernel;
    w.spec = &blind;
    w.table = NULL;
    SK_TRY(sk_candidates_new(w.ctx, &blind, &w.rows, false, list));
    w.list = *list;
    SK_TRY(sk_tolerate(sk_inertial_run(&w, noisy, passes, fit)));
    sk_begin(w.ctx);
    return SOCK_OK;
}

/* The fit, or what is plainer where that predicts better and nobody asked for kernels: where it is behind constant
 * coefficients, a linear force and an affine diffusion; where these are behind too, the constants. */
static sock_status retreat(inquiry *q, bool noisy, const sk_inertial_fit **fit, const sk_candidates **list)
{
    const sk_tune_spec *spec = q->w.spec;
    sk_gain gain;
    if (!q->constant.held || strcmp(spec->drift, "auto") != 0 || strcmp(spec->diffusion, "auto") != 0) return SOCK_OK;
    SK_TRY(compare(q, (*fit)->held, q->constant.held, &gain));
    if (gain.nats >= 0) return SOCK_OK;
    *fit = &q->constant;
    *list = &q->constants;
    SK_TRY(fit_named(q, "affine", noisy, SK_INERTIA_ITERATIONS, &q->linears, &q->linear));
    if (!q->linear.held) return SOCK_OK;
    SK_TRY(compare(q, q->linear.held, q->constant.held, &gain));
    if (!(gain.nats > 0)) return SOCK_OK;
    *fit = &q->linear;
    *list = &q->linears;
    return SOCK_OK;
}

static sock_status judge(inquiry *q, bool *used)
{
    sk_gain gain;
    if (!q->noisy.held) return say(q, "not fitted: the numbers do not allow it");
    *used = q->w.spec->noise != SK_ASK_AUTO;
    if (!q->plain.held) {
        *used = true;
        return say(q, "a fit without noise could not be made");
    }
    SK_TRY(compare(q, q->noisy.held, q->plain.held, &gain));
    q->told->noise.gain = gain.nats;
    q->told->noise.gain_error = gain.error;
    *used = *used || sk_inertia_noise_gains(q->w.rows.d, gain.nats, gain.error);
    if (*used) return say(q, "%.1f nats %s held out than without", fabs(gain.nats), gain.nats < 0 ? "worse" : "better");
    const char *refused = sk_inertia_noise_gains(q->w.rows.d, gain.nats, 0) ? "no more than its error" : "too few";
    return say(q, "no clear gain held out (%.1f +- %.1f nats: %s), ignored", gain.nats, gain.error, refused);
}

static sock_status inquire(inquiry *q, sock_model **out)
{
    bool used = false;
    const sk_candidates *list = &q->w.list;
    SK_TRY(sk_tolerate(sk_inertial_run(&q->w, false, SK_INERTIA_ITERATIONS, &q->plain)));
    if (wants_noise(q->w.spec)) {
        SK_TRY(sk_tolerate(sk_inertial_run(&q->w, true, SK_INERTIA_ITERATIONS, &q->noisy)));
        SK_TRY(judge(q, &used));
    }
    const sk_inertial_fit *fit = used ? &q->noisy : &q->plain;
    if (!fit->held) return sk_fail(q->w.ctx, SOCK_ENUMERIC, "no model of second order could be fitted to these data");
    sk_begin(q->w.ctx);
    SK_TRY(fit_named(q, "constant", used, SK_INERTIA_CONSTANT_PASSES, &q->constants, &q->constant));
    SK_TRY(retreat(q, used, &fit, &list));
    SK_TRY(tell(q, fit, list));
    if (used) SK_TRY(tell_noise(q, fit));
    SK_TRY(sk_inertial_restore(&q->w, fit->now.model, fit->now.noise, out));
    return q->w.spec->bands ? sk_inertial_spread(&q->w, fit, *out) : SOCK_OK;
}

sock_status sk_tune_inertia(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    inquiry q = {.told = told};
    told->noise.gain = told->noise.gain_error = (double)NAN;
    if (wants_noise(spec)) {
        told->noise.mode = sk_strdup(ctx, spec->noise == SK_ASK_AUTO ? "auto" : "diag");
        if (!told->noise.mode) return SOCK_ENOMEM;
    }
    sock_status status = sk_inertial_new(ctx, spec, &q.w);
    q.w.table = &told->search;
    if (status >= 0) status = inquire(&q, out);
    if (status >= 0 && told->search.status < 0)
        status = sk_fail(ctx, SOCK_ENOMEM, "out of memory: the table of the search");
    inquiry_clear(&q);
    if (status < 0) sk_tune_outcome_clear(told);
    return status;
}
