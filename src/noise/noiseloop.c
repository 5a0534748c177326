/* noiseloop.c - the iterations of the fit of measured data and long steps.
 *
 *   1. A filter pass of the current model; a Newton step for R and the scale s of a.
 *   2. The drift on innovation rows; the model with it, s a and R is the next one but for the diffusion.
 *   3. The diffusion on the rows of the smoothed states of that model.
 *   4. Guard: the likelihood of the filter may hardly fall. Else the first that passes, or the best, of: half and a
 *      quarter of the drift step; no diffusion step; R and s alone; the drift alone.
 *
 * Candidates are compared in the sweeps, polynomials alone in the first two: they are scored about the current model,
 * so the incumbent has an advantage, and a Gaussian that comes first stays. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <float.h>
#include <math.h>
#include <string.h>

void sk_noise_fit_clear(sk_noise_fit *fit)
{
    sk_noisy_clear(&fit->now);
    for (size_t i = 0; i < SK_MOST; i++) {
        sk_trial_free(fit->drift[i]);
        sk_trial_free(fit->diffusion[i]);
    }
    sk_free(fit->floor);
    sk_free(fit->least);
    sk_free(fit->error);
    sk_free(fit->held);
    *fit = (sk_noise_fit){0};
}

/* ---- Models ---- */

static sock_status add_drift_trial(const sk_measured *m, const sk_trial *t, size_t f, double share, sock_model *to)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_trial_drift_term(m->ctx, t, f, share, &term));
    return sk_model_add_drift(m->ctx, to, term);
}

/* The diffusion of a trial without fold f, and its floor. */
static sock_status add_diffusion_trial(const sk_measured *m, const sk_trial *t, size_t f, const double *floor,
                                       sock_model *to)
{
    const size_t d = m->series.d;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM] = {0};
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_trial_diffusion_term(m->ctx, t, f, 1, &term));
    SK_TRY(sk_model_add_diffusion(m->ctx, to, term));
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = floor[k];
    return sk_add_constant(m->ctx, a, to);
}

/* ---- One iteration ---- */

enum { WHOLE, HALF, QUARTER, NO_DIFFUSION, NOISE_ALONE, DRIFT_ALONE, WAYS }; /* to take a step, or a part of it */

/* What an iteration goes through. */
typedef struct step {
    const sk_measured *m;
    sk_noise_fit *fit;
    bool sweep, polynomials;
    bool lenient; /* the step may lose, since the diffusion may become a simpler one */
    bool turned;  /* the first step with other kernels than those of the model */
    double noise[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM]; /* R after Newton */
    double scale[SK_NOISE_MOST_DIM], kappa[SK_NOISE_MOST_DIM];
    double floor[SK_NOISE_MOST_DIM];
    bool noisy;
    size_t f, a;     /* the choice so far; SK_MOST: there was none */
    int way;         /* that was taken; WAYS: none */
    sk_noisy middle; /* new drift, s a, R */
    sk_noisy next;   /* ... and the new diffusion */
} step;

static const double *noise_of(const step *s) { return s->noisy ? s->noise : NULL; }

/* Who is tried: in a sweep those that can be; else the one of the last. */
static void choose_drifts(const step *s, sk_sweep *sweep)
{
    const sk_candidates *list = s->m->list;
    size_t learned = 0;
    *sweep = (sk_sweep){.all = s->sweep};
    if (!s->sweep) {
        sweep->alive[s->fit->f] = true;
        sweep->l = s->fit->drift[s->fit->f]->l;
        return;
    }
    for (size_t c = 0; c < list->drifts; c++) learned += list->drift[c].learned;
    for (size_t c = 0; c < list->drifts; c++)
        sweep->alive[c] = !s->fit->behind_f[c] && (!learned || list->drift[c].learned ||
                                                   (!s->polynomials && sk_kernel_is_implicit(list->drift[c].kernel)));
    if (s->f < SK_MOST) sweep->alive[s->f] = true; /* it may stay */
}

static void choose_diffusions(const step *s, sk_sweep *sweep)
{
    const sk_candidates *list = s->m->list;
    size_t plain = 0;
    *sweep = (sk_sweep){.all = s->sweep};
    if (!s->sweep) {
        sweep->alive[s->fit->a] = true;
        sweep->l = s->fit->diffusion[s->fit->a]->l;
        return;
    }
    for (size_t c = 0; c < list->diffusions; c++) plain += !sk_kernel_is_implicit(list->diffusion[c].kernel);
    for (size_t c = 0; c < list->diffusions; c++)
        sweep->alive[c] = !list->diffusion[c].learned && !s->fit->behind_a[c] &&
                          !sk_kernel_is_bounded(list->diffusion[c].kernel) &&
                          (!s->polynomials || !plain || !sk_kernel_is_implicit(list->diffusion[c].kernel));
    if (s->a < SK_MOST) sweep->alive[s->a] = true;
}

static sock_status step_noise(step *s, const sk_frozen *z)
{
    const sk_newton out = {s->noise, s->scale, s->kappa, s->fit->error};
    for (size_t k = 0; k < s->m->series.d; k++) s->scale[k] = 1;
    return s->noisy ? sk_noise_newton(s->m, z, s->fit->least, &out) : SOCK_OK;
}

/* The current model with the chosen drift, R after Newton, and a scaled. */
static sock_status make_middle(step *s)
{
    const sk_measured *m = s->m;
    const sk_noise_fit *fit = s->fit;
    sk_noisy_clear(&s->middle);
    SK_TRY(sk_noisy_like(m, noise_of(s), fit->now.substeps, &s->middle));
    SK_TRY(add_drift_trial(m, fit->drift[fit->f], m->rows->folds, 1, s->middle.model));
    return sk_add_diffusion_of(m->ctx, fit->now.model, s->scale, s->middle.model);
}

static sock_status step_drift(step *s)
{
    const sk_measured *m = s->m;
    sk_noise_fit *fit = s->fit;
    const sk_filter_spec spec = sk_noisy_spec(m, &fit->now);
    sk_sweep sweep;
    sk_frozen *z = NULL;
    sock_status status;
    choose_drifts(s, &sweep);
    SK_GO(sk_frozen_new(m->ctx, &m->series, &spec, &z));
    SK_GO(step_noise(s, z));
    SK_GO(sk_noise_drifts(m, z, &sweep, fit->drift, &fit->f));
    SK_GO(make_middle(s));
out:
    sk_frozen_free(z);
    return status;
}

/* Correlations of a full R by the formula of EM, its diagonal by Newton. */
static void correlate(step *s, const double *residual)
{
    const size_t d = s->m->series.d;
    if (s->m->mode != SK_NOISE_FULL) return;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            if (k != l)
                s->noise[k * d + l] = residual[k * d + l] * sqrt(s->noise[k * (d + 1)] * s->noise[l * (d + 1)] /
                                                                 (residual[k * (d + 1)] * residual[l * (d + 1)]));
}

static sock_status step_diffusion(step *s)
{
    const sk_measured *m = s->m;
    sk_noise_fit *fit = s->fit;
    const sk_filter_spec spec = sk_noisy_spec(m, &s->middle);
    sk_sweep sweep;
    sk_rows_of_a rows = {0};
    sk_frozen *z = NULL;
    sock_status status;
    choose_diffusions(s, &sweep);
    SK_GO(sk_rows_of_a_new(m, &s->middle, s->noisy ? s->kappa : NULL, &rows));
    if (s->sweep) SK_GO(sk_frozen_new(m->ctx, &m->series, &spec, &z));
    SK_GO(sk_noise_diffusions(m, &rows, z, &sweep, false, fit->diffusion, &fit->a));
    memcpy(s->floor, rows.floor, m->series.d * sizeof *s->floor);
    if (s->noisy) correlate(s, rows.residual);
    SK_GO(sk_noisy_like(m, noise_of(s), fit->now.substeps, &s->next));
    SK_GO(sk_add_drift_of(m->ctx, s->middle.model, 1, s->next.model));
    SK_GO(add_diffusion_trial(m, fit->diffusion[fit->a], m->rows->folds, s->floor, s->next.model));
out:
    sk_frozen_free(z);
    sk_rows_of_a_clear(&rows);
    return status;
}

/* The best drift that is no sum of bumps; SK_MOST: none was tried. */
static size_t best_plain(const sk_candidates *list, sk_trial *const *trial)
{
    size_t best = SK_MOST;
    for (size_t c = 0; c < list->drifts; c++)
        if (trial[c] && !sk_kernel_is_implicit(list->drift[c].kernel) &&
            (best == SK_MOST || trial[c]->score > trial[best]->score))
            best = c;
    return best;
}

/* After a sweep: who is too far behind stays out of the next. */
static void leave_behind(const step *s)
{
    const sk_candidates *list = s->m->list;
    sk_noise_fit *fit = s->fit;
    const sk_field_trials drifts = {list->drifts, s->m->rows->clusters, list->drift, fit->drift, 0};
    const sk_field_trials diffusions = {list->diffusions, s->m->rows->clusters, list->diffusion, fit->diffusion, 0};
    if (!s->sweep) return;
    const size_t plain = best_plain(list, fit->drift);
    if (plain < SK_MOST) fit->plain = plain;
    sk_noise_leave_behind(&drifts, fit->behind_f);
    sk_noise_leave_behind(&diffusions, fit->behind_a);
}

/* ---- Guard ---- */

/* One way to take a part of the step. */
static sock_status part_of_step(const step *s, int way, sk_noisy *out)
{
    const sk_measured *m = s->m;
    const sk_noisy *now = &s->fit->now, *middle = &s->middle;
    const double share = way == HALF ? 0.5 : way == QUARTER ? 0.25 : way == NOISE_ALONE ? 0 : 1;
    const bool old = way == DRIFT_ALONE;
    SK_TRY(sk_noisy_like(m, old ? now->noise : noise_of(s), now->substeps, out));
    if (share > 0) SK_TRY(sk_add_drift_of(m->ctx, middle->model, share, out->model));
    if (share < 1) SK_TRY(sk_add_drift_of(m->ctx, now->model, 1 - share, out->model));
    return sk_add_diffusion_of(m->ctx, old ? now->model : middle->model, NULL, out->model);
}

/* The first way that loses at most `allowed` nats, or the best. Where other kernels were asked for the whole step is
 * the first that has them, whatever it loses: a part would keep those that were to go. */
static sock_status guard(step *s, double allowed, sk_noisy *out)
{
    const sk_noisy *now = &s->fit->now;
    sk_noisy best = {0};
    sock_status status = SOCK_OK;
    for (int way = 0; status >= 0 && way < WAYS; way++) {
        sk_noisy one = {0};
        if (way == WHOLE) {
            one = s->next;
            s->next = (sk_noisy){0};
        } else {
            status = part_of_step(s, way, &one);
        }
        if (status >= 0 && one.model) status = sk_noisy_score(s->m, &one);
        const double least = s->turned && way == WHOLE ? -DBL_MAX : now->sum - (s->lenient ? allowed : 0);
        const bool good = status >= 0 && one.model && one.sum > least;
        if (status >= 0 && one.model && (good || !best.model || one.sum > best.sum)) {
            const sk_noisy last = best;
            best = one;
            one = last;
            s->way = way;
        }
        sk_noisy_clear(&one);
        if (good) break;
    }
    *out = best;
    return status;
}

/* Of the drifts of the sweep that are simpler than the chosen one, the one of the highest likelihood with the diffusion
 * as it is; SK_MOST: there is none. */
static sock_status best_simpler(step *s, size_t *out)
{
    const sk_candidate *drift = s->m->list->drift;
    sk_noise_fit *fit = s->fit;
    const size_t f = fit->f;
    double best = -(double)INFINITY;
    sock_status status = SOCK_OK;
    *out = SK_MOST;
    for (size_t c = 0; status >= 0 && c < s->m->list->drifts; c++) {
        if (!fit->drift[c] || drift[c].simplicity >= drift[f].simplicity) continue;
        fit->f = c;
        status = make_middle(s);
        if (status >= 0) status = sk_noisy_score(s->m, &s->middle);
        if (status >= 0 && s->middle.sum > best) best = s->middle.sum, *out = c;
    }
    fit->f = f;
    return status;
}

/* The whole step with drift c, taken where it is better than *best. What the diffusions of the other say is lost then,
 * and else what those of this one do. */
static sock_status try_whole(step *s, size_t c, sk_noisy *best)
{
    sk_noise_fit *fit = s->fit;
    const step before = *s;
    const size_t f = fit->f, a = fit->a;
    sk_trial *kept[SK_MOST];
    memcpy(kept, fit->diffusion, sizeof kept);
    memset(fit->diffusion, 0, sizeof fit->diffusion);
    fit->f = c;
    sock_status status = make_middle(s);
    if (status >= 0) status = step_diffusion(s);
    if (status >= 0) status = sk_noisy_score(s->m, &s->next);
    const bool better = status >= 0 && s->next.sum > best->sum;
    for (size_t i = 0; i < SK_MOST; i++) sk_trial_free(better ? kept[i] : fit->diffusion[i]);
    if (better) {
        const sk_noisy last = *best;
        *best = s->next;
        s->next = last;
        s->way = WHOLE;
    } else {
        memcpy(fit->diffusion, kept, sizeof kept);
        memcpy(s->noise, before.noise, sizeof s->noise);
        memcpy(s->floor, before.floor, sizeof s->floor);
        fit->f = f;
        fit->a = a;
    }
    sk_noisy_clear(&s->next);
    return status;
}

/* Where the drift of a sweep could not be taken whole: a simpler one. Drifts are chosen by what they say about the pass
 * of the current model, which does not see that one loses steps, or leaves the law that was made affine. */
static sock_status try_simpler(step *s, sk_noisy *best)
{
    size_t c;
    SK_TRY(best_simpler(s, &c));
    return c < SK_MOST ? try_whole(s, c, best) : SOCK_OK;
}

/* It becomes the current model. *gain: of it; where that is a loss and the step is not lenient, nothing changes. */
static sock_status commit(step *s, sk_noisy *best, double *gain)
{
    sk_noisy *now = &s->fit->now;
    *gain = best->model ? best->sum - now->sum : -(double)INFINITY;
    if (!s->lenient && !(*gain >= -SK_ROUND_LOSS)) {
        s->way = WAYS;
        return SOCK_OK;
    }
    const sk_noisy last = *now;
    *now = *best;
    *best = last;
    return sk_join_drifts(s->m->ctx, now->model);
}

/* The choice is what the model is made of: where drift or diffusion was not taken, the last one is. */
static void settle_choice(const step *s)
{
    sk_noise_fit *fit = s->fit;
    if ((s->way == NOISE_ALONE || s->way == WAYS) && s->f < SK_MOST && fit->drift[s->f]) fit->f = s->f;
    if (s->way != WHOLE && s->a < SK_MOST && fit->diffusion[s->a]) fit->a = s->a;
}

/* ---- All of them ---- */

/* *more: it needs more substeps than it had. anew: far fewer, too, where they are enough; a model that goes astray asks
 * for the most, and they would be paid in every pass to come. */
static sock_status renew_substeps(const sk_measured *m, bool anew, sk_noisy *now, bool *more)
{
    const sk_filter_spec spec = sk_noisy_spec(m, now);
    const sk_substeps one = {1, false};
    sk_substeps next;
    *more = false;
    if (m->substeps) return SOCK_OK;
    SK_TRY(sk_series_substeps(m->ctx, &m->series, &spec, anew ? one : now->substeps, &next));
    if (sk_noise_hardly_fewer(next.count, now->substeps.count))
        SK_TRY(sk_series_substeps(m->ctx, &m->series, &spec, now->substeps, &next));
    *more = next.count > now->substeps.count;
    if (next.count == now->substeps.count && next.split == now->substeps.split) return SOCK_OK;
    now->substeps = next;
    return sk_noisy_score(m, now);
}

static sock_status iterate(step *s, size_t iteration, double *gain)
{
    sk_noisy best = {0};
    sock_status status;
    SK_GO(sk_progress(s->m->ctx, "noise", -1));
    SK_GO(step_drift(s));
    SK_GO(step_diffusion(s));
    SK_GO(guard(s, sk_loss_allowed(s->lenient, s->m->series.steps), &best));
    if (s->sweep && (s->way == HALF || s->way == QUARTER || s->way == NOISE_ALONE)) {
        SK_GO(sk_tolerate(try_simpler(s, &best)));
        sk_begin(s->m->ctx);
    }
    SK_GO(commit(s, &best, gain));
    memcpy(s->fit->floor, s->floor, s->m->series.d * sizeof *s->floor);
    s->fit->iterations = iteration;
    settle_choice(s);
    leave_behind(s);
out:
    sk_noisy_clear(&best);
    sk_noisy_clear(&s->middle);
    sk_noisy_clear(&s->next);
    return status;
}

/* When the passes end. */
typedef struct course {
    size_t least;   /* the first pass that may be the last */
    bool calm;      /* the last pass was a sweep of all candidates that changed nothing */
    double best;    /* likelihood from the pass `least` on, */
    size_t stalled; /* and passes that did not raise it */
} course;

/* Passes of a fixed choice settle at once, but for the correlations of R, which go the slow way of EM. */
static course begin_course(const sk_measured *m, bool turn)
{
    const bool fast = turn && m->mode != SK_NOISE_FULL;
    return (course){.least = sk_noise_least_passes(fast), .best = -(double)INFINITY};
}

/* Where neither a sweep of all nor the pass after it moved anything, the last sweep would find the same. */
static bool is_over(const step *s, size_t i, double gain, course *c)
{
    const bool settled = sk_has_settled(gain), same = s->fit->f == s->f && s->fit->a == s->a, calm = c->calm;
    c->calm = s->sweep && !s->polynomials && same && settled;
    if (i < c->least) return calm && settled;
    c->stalled = sk_noise_stalled(c->stalled, s->fit->now.sum, c->best);
    c->best = fmax(c->best, s->fit->now.sum);
    return settled || sk_noise_goes_to_and_fro(c->stalled);
}

sock_status sk_noise_iterate(const sk_measured *m, sk_noise_fit *fit, size_t most)
{
    const size_t d = m->series.d;
    const bool turn = most != SK_NOISE_ITERATIONS;
    course way = begin_course(m, turn);
    bool again = false, more = false;
    if (!fit->floor) fit->floor = sk_doubles(m->ctx, d, 1);
    if (!fit->error) fit->error = sk_doubles(m->ctx, d, 1);
    if (!fit->floor || !fit->error) return SOCK_ENOMEM;
    for (size_t i = 1; i <= most; i++) {
        double gain = 0;
        step s = {.m = m, .fit = fit, .noisy = fit->now.noise != NULL};
        s.f = fit->drift[fit->f] && i > 1 ? fit->f : SK_MOST;
        s.a = fit->diffusion[fit->a] && i > 1 ? fit->a : SK_MOST;
        s.sweep = !turn && sk_noise_sweeps(i);
        s.turned = fit->changed && i == 1;
        s.lenient = s.sweep || s.turned;
        s.polynomials = sk_noise_polynomials_alone(i);
        const bool anew = !turn && sk_noise_counts_anew(i);
        if (i <= 3 || s.sweep || again) SK_TRY(renew_substeps(m, anew, &fit->now, &more));
        SK_TRY(iterate(&s, i, &gain));
        fit->hopeless = sk_noise_shows_hope(i) && fit->now.sum < fit->asked;
        if (fit->hopeless || (!s.lenient && gain < -SK_ROUND_LOSS)) break;
        if (!is_over(&s, i, gain, &way)) continue;
        if (turn || again) break;
        SK_TRY(renew_substeps(m, false, &fit->now, &more));
        if (!more) break;
        again = true;
    }
    const bool is_slow = sk_is_long(fit->now.substeps.count) && m->list->drift[fit->f].learned;
    return is_slow && !fit->hopeless ? sk_noise_ascend(m, fit->least, &fit->now) : SOCK_OK;
}

/* ---- Held out ---- */

/* The filter of the model without fold f on the runs of that fold. */
static sock_status hold_out_fold(const sk_measured *m, const sk_noise_fit *fit, size_t f)
{
    sk_series part = m->series;
    sk_noisy one;
    sk_pass pass = {.term = fit->held};
    part.first += m->run_first[f];
    part.runs = m->run_first[f + 1] - m->run_first[f];
    sock_status status = sk_noisy_like(m, fit->now.noise, fit->now.substeps, &one);
    if (status >= 0) status = add_drift_trial(m, fit->drift[fit->f], f, 1, one.model);
    if (status >= 0) status = add_diffusion_trial(m, fit->diffusion[fit->a], f, fit->floor, one.model);
    const sk_filter_spec spec = sk_noisy_spec(m, &one);
    if (status >= 0) status = sk_filter(m->ctx, &part, &spec, &pass);
    sk_noisy_clear(&one);
    return status;
}

sock_status sk_noise_score_held(const sk_measured *m, sk_noise_fit *fit)
{
    sk_free(fit->held);
    fit->held = sk_doubles(m->ctx, m->series.steps, 1);
    sock_status status = fit->held ? SOCK_OK : SOCK_ENOMEM;
    for (size_t f = 0; status >= 0 && f < m->rows->folds; f++) status = hold_out_fold(m, fit, f);
    return status;
}

/* The last step may have been taken in part, or not at all: drifts without each fold are those about the model itself.
 */
static sock_status hold_out_drift(const sk_measured *m, sk_noise_fit *fit)
{
    const sk_filter_spec spec = sk_noisy_spec(m, &fit->now);
    sk_frozen *z = NULL;
    sock_status status = sk_frozen_new(m->ctx, &m->series, &spec, &z);
    if (status >= 0) status = sk_noise_drift_about(m, z, fit->now.model, fit->f, fit->drift[fit->f]);
    sk_frozen_free(z);
    return status;
}

sock_status sk_noise_hold_out(const sk_measured *m, sk_noise_fit *fit)
{
    sk_rows_of_a rows = {0};
    sk_sweep sweep = {.l = fit->diffusion[fit->a]->l};
    sweep.alive[fit->a] = true;
    sock_status status = hold_out_drift(m, fit);
    if (status >= 0) status = sk_rows_of_a_new(m, &fit->now, NULL, &rows);
    if (status >= 0) status = sk_noise_diffusions(m, &rows, NULL, &sweep, true, fit->diffusion, &fit->a);
    sk_rows_of_a_clear(&rows);
    return status < 0 ? status : sk_noise_score_held(m, fit);
}
