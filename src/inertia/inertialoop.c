/* inertialoop.c - the iterations of the fit of second-order dynamics.
 *
 *   1. What the filter pass of the current model says; a step for R.
 *   2. The force on its rows; the diffusion on what the force leaves.
 *   3. Guard: the likelihood of the innovations may hardly fall; else a half or a quarter of the step, or none.
 *
 * The first iterations have polynomials and a constant a alone; then candidates are compared in the sweeps. */
#include "inertia/inertiafit.h"
#include "inertia/inertiarules.h"

#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void sk_inertial_fit_clear(sk_inertial_fit *fit)
{
    sk_noisy_clear(&fit->now);
    sk_inertia_pass_clear(&fit->pass);
    for (size_t i = 0; i < SK_MOST; i++) {
        sk_trial_free(fit->drift[i]);
        sk_trial_free(fit->diffusion[i]);
    }
    sk_free(fit->error);
    sk_free(fit->floor);
    sk_free(fit->held);
    *fit = (sk_inertial_fit){0};
}

/* ---- Models ---- */

/* Free motion with R (d, NULL: none). */
static sock_status model_like(const sk_inertial *w, const double *r, sk_noisy *out)
{
    const size_t d = w->rows.d;
    *out = (sk_noisy){0};
    if (r) {
        out->noise = sk_doubles(w->ctx, d, d);
        if (!out->noise) return SOCK_ENOMEM;
        for (size_t k = 0; k < d; k++) out->noise[k * (d + 1)] = r[k];
    }
    return sk_free_motion(w->ctx, d, NULL, &out->model);
}

static sock_status add_floor(const sk_inertial *w, const double *floor, sock_model *to)
{
    const size_t d = w->rows.d;
    double *a = sk_doubles(w->ctx, d, d);
    if (!a) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = floor[k];
    const sock_status status = sk_add_constant_kicks(w->ctx, d, a, to);
    sk_free(a);
    return status;
}

/* The choice of a fit without fold f. */
static sock_status add_choice(const sk_inertial *w, const sk_inertial_fit *fit, size_t f, sock_model *to)
{
    SK_TRY(sk_add_force(w->ctx, fit->drift[fit->f], f, to));
    SK_TRY(sk_add_kicks(w->ctx, fit->diffusion[fit->a], f, to));
    return fit->diffusion[fit->a]->p > 1 ? add_floor(w, fit->floor, to) : SOCK_OK; /* a constant a needs none */
}

static sk_inertia_spec spec_of(const sk_inertial *w, const sk_noisy *n)
{
    return (sk_inertia_spec){.model = n->model,
                             .noise = n->noise,
                             .reach = w->frame.reach,
                             .low = w->frame.low,
                             .high = w->frame.high,
                             .kinematic = w->kinematic};
}

/* The filter of a model, whole; its likelihood goes to the model. */
static sock_status filter(const sk_inertial *w, sk_noisy *n, sk_inertia_pass *pass)
{
    const sk_inertia_spec spec = spec_of(w, n);
    SK_TRY(sk_inertia_pass_new(w->ctx, &w->m.series, true, pass));
    const sock_status status = sk_inertia(w->ctx, &w->m.series, &spec, pass);
    n->sum = 0;
    for (size_t i = 0; status >= 0 && i < w->m.series.steps; i++) n->sum += pass->term[i];
    if (status < 0) sk_inertia_pass_clear(pass);
    return status;
}

/* ---- One iteration ---- */

typedef struct step {
    const sk_inertial *w;
    sk_inertial_fit *fit;
    bool noisy, sweep, begins;
    double *r; /* d: R after its step */
    double *e; /* n x d: what the new force leaves */
    sk_noisy next;
    sk_inertia_pass pass; /* of it */
} step;

static void choose_drifts(const step *s, sk_sweep *sweep)
{
    const sk_candidates *list = &s->w->list;
    size_t learned = 0;
    *sweep = (sk_sweep){.all = s->sweep || s->begins};
    if (!sweep->all) {
        sweep->alive[s->fit->f] = true;
        sweep->l = s->fit->drift[s->fit->f]->l;
        return;
    }
    for (size_t c = 0; c < list->drifts; c++) learned += list->drift[c].learned && !list->drift[c].screened;
    for (size_t c = 0; c < list->drifts; c++) {
        const sk_candidate *one = &list->drift[c];
        sweep->alive[c] = !s->fit->behind_f[c] && !one->screened &&
                          (!learned || one->learned || (!s->begins && sk_kernel_is_implicit(one->kernel)));
    }
}

static void choose_diffusions(const step *s, sk_sweep *sweep)
{
    const sk_candidates *list = &s->w->list;
    size_t plain = 0;
    *sweep = (sk_sweep){.all = s->sweep || s->begins};
    if (!sweep->all) {
        sweep->alive[s->fit->a] = true;
        sweep->l = s->fit->diffusion[s->fit->a]->l;
        return;
    }
    for (size_t c = 0; c < list->diffusions; c++) plain += (list->diffusion[c].roles & SK_ROLE_PLAIN) != 0;
    for (size_t c = 0; c < list->diffusions; c++) {
        const sk_candidate *one = &list->diffusion[c];
        sweep->alive[c] = !one->learned && !one->own && !s->fit->behind_a[c] && !sk_kernel_is_bounded(one->kernel) &&
                          (!s->begins || !plain || one->roles & SK_ROLE_PLAIN);
    }
}

/* Least a: a share of the mean over all nodes. */
static void find_floor(const step *s)
{
    const size_t d = s->w->rows.d, count = s->w->rows.n * SK_LIFT_NODES;
    for (size_t k = 0; k < d; k++) {
        double mean = 0;
        for (size_t i = 0; i < count; i++) mean += s->fit->pass.a[i * d * d + k * (d + 1)] / (double)count;
        s->fit->floor[k] = SK_NOISE_FLOOR * mean;
    }
}

/* Where the nodes of the next kernels may stand: the filtered states. */
static void move_points(const step *s)
{
    const sk_inertial *w = s->w;
    memcpy(w->left, s->fit->pass.m, w->rows.n * 2 * w->rows.d * sizeof *w->left);
}

static sock_status propose(step *s)
{
    const sk_inertial *w = s->w;
    sk_inertial_fit *fit = s->fit;
    const size_t d = w->rows.d;
    sk_inertial_rows rows;
    sk_sweep forces, kicks;
    double *noise = sk_doubles(w->ctx, d, d);
    if (!noise) return SOCK_ENOMEM;
    sock_status status = sk_inertial_rows_new(w, &fit->pass, fit->now.noise, &rows);
    if (status < 0) {
        sk_free(noise);
        return status;
    }
    move_points(s);
    find_floor(s);
    choose_drifts(s, &forces);
    choose_diffusions(s, &kicks);
    if (s->noisy) SK_GO(sk_inertial_noise(w, &rows, fit->now.noise, s->r, fit->error, NULL));
    for (size_t k = 0; k < d; k++) noise[k * (d + 1)] = s->noisy ? s->r[k] : 0;
    SK_GO(sk_inertial_drifts(w, &rows, &forces, fit->drift, &fit->f));
    SK_GO(sk_inertial_residuals(w, &rows, fit->drift[fit->f], w->rows.folds, s->e));
    const sk_inertial_kicks what = {&rows, s->e, s->noisy ? noise : NULL, fit->floor};
    SK_GO(sk_inertial_diffusions(w, &what, &kicks, true, fit->diffusion, &fit->a));
    SK_GO(model_like(w, s->noisy ? s->r : NULL, &s->next));
    SK_GO(add_choice(w, fit, w->rows.folds, s->next.model));
out:
    sk_inertial_rows_clear(&rows);
    sk_free(noise);
    return status;
}

/* ---- Guard ---- */

/* A share of the forces and kicks of a model; its free motion stays out. */
static sock_status add_share(const sk_inertial *w, const sock_model *from, double share, sock_model *to)
{
    for (size_t i = 1; i < from->drift_terms; i++) {
        sk_drift_term *term = NULL;
        SK_TRY(sk_drift_term_copy(w->ctx, from->drift[i], &term));
        for (size_t j = 0; j < sk_features_count(term->map) * term->d; j++) term->weight[j] *= share;
        SK_TRY(sk_model_add_drift(w->ctx, to, term));
    }
    for (size_t i = 0; i < from->diffusion_terms; i++) {
        sk_diffusion_term *term = NULL;
        SK_TRY(sk_diffusion_term_copy(w->ctx, from->diffusion[i], &term));
        const size_t count = term->d * sk_features_count(term->map) * term->rank;
        for (size_t j = 0; j < count; j++) term->v[j] *= sqrt(share);
        SK_TRY(sk_model_add_diffusion(w->ctx, to, term));
    }
    return SOCK_OK;
}

static sock_status part_of_step(const step *s, double share, sk_noisy *out)
{
    const sk_noisy *now = &s->fit->now, *next = &s->next;
    const size_t d = s->w->rows.d;
    SK_TRY(model_like(s->w, s->noisy ? s->r : NULL, out));
    assert(!out->noise || next->noise);
    for (size_t k = 0; out->noise && now->noise && k < d * d; k++)
        out->noise[k] = share * next->noise[k] + (1 - share) * now->noise[k];
    SK_TRY(add_share(s->w, next->model, share, out->model));
    return add_share(s->w, now->model, 1 - share, out->model);
}

static void take(step *s, sk_noisy *model, sk_inertia_pass *pass)
{
    sk_noisy_clear(&s->fit->now);
    sk_inertia_pass_clear(&s->fit->pass);
    s->fit->now = *model;
    s->fit->pass = *pass;
    *model = (sk_noisy){0};
    *pass = (sk_inertia_pass){0};
}

/* *gain: of the part that was taken; below the loss that is allowed: nothing was. */
static sock_status guard(step *s, double allowed, double *gain)
{
    static const double shares[] = {1, 0.5, 0.25};
    sock_status status = SOCK_OK;
    *gain = -(double)INFINITY;
    for (size_t i = 0; status >= 0 && i < 3 && *gain < -allowed; i++) {
        sk_noisy part = {0};
        sk_inertia_pass pass = {0};
        status = i ? part_of_step(s, shares[i], &part) : SOCK_OK;
        if (status >= 0) status = filter(s->w, i ? &part : &s->next, &pass);
        if (status >= 0) *gain = (i ? part.sum : s->next.sum) - s->fit->now.sum;
        if (status >= 0 && *gain >= -allowed) take(s, i ? &part : &s->next, &pass);
        sk_noisy_clear(&part);
        sk_inertia_pass_clear(&pass);
    }
    return status;
}

/* ---- All of them ---- */

static sock_status begin(const sk_inertial *w, bool noisy, sk_inertial_fit *fit)
{
    const size_t d = w->rows.d;
    double *a = sk_doubles(w->ctx, d, d), *r = sk_doubles(w->ctx, 2, d);
    fit->error = sk_doubles(w->ctx, d, 1);
    fit->floor = sk_doubles(w->ctx, d, 1);
    sock_status status = a && r && fit->error && fit->floor ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_inertial_start(w, noisy, r + d, r);
    for (size_t k = 0; status >= 0 && k < d; k++) a[k * (d + 1)] = r[d + k];
    if (status >= 0) status = model_like(w, noisy ? r : NULL, &fit->now);
    if (status >= 0) status = sk_add_constant_kicks(w->ctx, d, a, fit->now.model);
    if (status >= 0) status = filter(w, &fit->now, &fit->pass);
    sk_free(a);
    sk_free(r);
    return status;
}

/* The fits of a sweep, into the table of the search. */
static void log_trials(const step *s, size_t count, const sk_candidate *candidate, sk_trial *const *trial)
{
    const char *stage = s->noisy ? "inertia with noise" : "inertia";
    for (size_t c = 0; s->w->table && c < count; c++) {
        if (!trial[c]) continue;
        sk_search_row *row = sk_search_table_add(
            s->w->ctx, s->w->table, stage, candidate[c].field == SK_DRIFT ? "drift" : "diffusion", candidate[c].name);
        if (!row) return;
        if (trial[c]->l > 0) row->l = trial[c]->l;
        row->score = trial[c]->score;
        row->edge = trial[c]->edge;
        row->seconds = trial[c]->seconds;
    }
}

static void leave_behind(const step *s)
{
    const sk_candidates *list = &s->w->list;
    sk_inertial_fit *fit = s->fit;
    const sk_field_trials drifts = {list->drifts, s->w->rows.clusters, list->drift, fit->drift, 0};
    const sk_field_trials diffusions = {list->diffusions, s->w->rows.clusters, list->diffusion, fit->diffusion, 0};
    if (!s->sweep) return;
    log_trials(s, list->drifts, list->drift, fit->drift);
    log_trials(s, list->diffusions, list->diffusion, fit->diffusion);
    sk_noise_leave_behind(&drifts, fit->behind_f);
    sk_noise_leave_behind(&diffusions, fit->behind_a);
}

static sock_status iterate(const sk_inertial *w, bool noisy, size_t i, sk_inertial_fit *fit, double *gain)
{
    const size_t d = w->rows.d;
    step s = {.w = w, .fit = fit, .noisy = noisy, .begins = sk_inertia_begins(i), .sweep = sk_inertia_sweeps(i)};
    const bool lenient = s.begins || s.sweep;
    s.r = sk_doubles(w->ctx, d, 1);
    s.e = sk_doubles(w->ctx, w->rows.n, d);
    sock_status status = s.r && s.e ? sk_progress(w->ctx, "inertia", -1) : SOCK_ENOMEM;
    if (status >= 0) status = propose(&s);
    if (status >= 0) status = guard(&s, sk_loss_allowed(lenient, w->rows.n), gain);
    fit->iterations = i;
    if (status >= 0) leave_behind(&s);
    sk_noisy_clear(&s.next);
    sk_free(s.r);
    sk_free(s.e);
    return status;
}

/* ---- Held out ---- */

static sock_status hold_out_fold(const sk_inertial *w, const sk_inertial_fit *fit, size_t f)
{
    const size_t d = w->rows.d;
    sk_series part = w->m.series;
    sk_noisy one = {0};
    sk_inertia_pass pass;
    part.first += w->m.run_first[f];
    part.runs = w->m.run_first[f + 1] - w->m.run_first[f];
    SK_TRY(sk_inertia_pass_new(w->ctx, &w->m.series, false, &pass));
    sock_status status = model_like(w, NULL, &one);
    if (status >= 0 && fit->now.noise) {
        one.noise = sk_doubles(w->ctx, d, d);
        if (one.noise) memcpy(one.noise, fit->now.noise, d * d * sizeof *one.noise);
        if (!one.noise) status = SOCK_ENOMEM;
    }
    if (status >= 0) status = add_choice(w, fit, f, one.model);
    const sk_inertia_spec spec = spec_of(w, &one);
    if (status >= 0) status = sk_inertia(w->ctx, &part, &spec, &pass);
    for (size_t i = w->rows.first[f]; status >= 0 && i < w->rows.first[f + 1]; i++) fit->held[i] = pass.term[i];
    sk_inertia_pass_clear(&pass);
    sk_noisy_clear(&one);
    return status;
}

sock_status sk_inertial_run(const sk_inertial *w, bool noisy, size_t most, sk_inertial_fit *out)
{
    sock_status status;
    *out = (sk_inertial_fit){0};
    SK_GO(begin(w, noisy, out));
    for (size_t i = 1; i <= most; i++) {
        double gain = 0;
        SK_GO(iterate(w, noisy, i, out, &gain));
        if (sk_inertia_may_end(i) && (sk_has_settled(gain) || gain < -sk_loss_allowed(false, w->rows.n))) break;
    }
    out->held = sk_doubles(w->ctx, w->m.series.steps, 1);
    SK_GO(out->held ? SOCK_OK : SOCK_ENOMEM);
    for (size_t f = 0; f < w->rows.folds; f++) SK_GO(hold_out_fold(w, out, f));
out:
    if (status < 0) sk_inertial_fit_clear(out);
    return status;
}
