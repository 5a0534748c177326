/* inertiadrift.c - forces on the rows of a filter over positions and velocities.
 *
 *   1. Rows of the features; their sums by fold, all components together.
 *   2. Weights without each fold, for every penalty or learned and pruned.
 *   3. Held-out score: what a force leaves of the innovations of the fold. */
#include "inertia/inertiafit.h"

#include "la/la.h"
#include "tune/policy.h"
#include "tune/sweeptrial.h"

#include <math.h>
#include <string.h>

enum { LAMBDAS = SK_THIN_LAMBDAS };

typedef struct attempt {
    const sk_inertial *w;
    const sk_inertial_rows *rows;
    const sk_candidate *candidate;
    sk_trial *trial;
    sk_drift_sums *sums;
    size_t lambdas;
    double *path;  /* (folds + 1) x lambdas x p x d */
    double *score; /* lambdas x clusters */
    double dof[LAMBDAS];
} attempt;

/* ---- Step 1 ---- */

/* Whitened rows (d x p d) of a step with features psi (p). */
static void whiten(size_t d, size_t p, const double *white, const double *psi, double *row)
{
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++)
            for (size_t j = 0; j < p; j++) row[(a * d + b) * p + j] = white[a * d + b] * psi[j];
}

static sock_status add(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const size_t d = t->rows->d, p = t->trial->p, n = end - begin;
    sock_context *ctx = t->w->ctx;
    double *psi = sk_doubles_unset(ctx, n, p), *row = sk_doubles_unset(ctx, n * d, p * d);
    double *target = sk_doubles_unset(ctx, n, d);
    sock_status status =
        psi && row && target ? sk_inertial_means(t->w, t->rows, t->trial->map, begin, end, psi) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        const double *white = t->rows->white + (begin + i) * d * d;
        whiten(d, p, white, psi + i * p, row + i * d * p * d);
        for (size_t a = 0; a < d; a++) target[i * d + a] = sk_dot(d, white + a * d, t->rows->target + (begin + i) * d);
    }
    if (status >= 0) status = sk_drift_sums_add_joint(ctx, t->sums, fold, n * d, row, target);
    sk_free(psi);
    sk_free(row);
    sk_free(target);
    return status;
}

/* ---- Step 2 ---- */

/* ---- Step 3 ---- */

static double score_of(const sk_inertial_rows *r, size_t i, const double *left)
{
    double sum = 0;
    for (size_t a = 0; a < r->d; a++) {
        const double one = sk_dot(r->d, r->white + (i * r->d + a) * r->d, left);
        sum -= 0.5 * one * one;
    }
    return sum;
}

static sock_status score(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const size_t d = t->rows->d, p = t->trial->p, n = end - begin;
    sock_context *ctx = t->w->ctx;
    if (fold == t->w->rows.folds) return SOCK_OK;
    double *psi = sk_doubles_unset(ctx, n, p), *left = sk_doubles_unset(ctx, n, d);
    sock_status status = psi && left ? sk_inertial_means(t->w, t->rows, t->trial->map, begin, end, psi) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < t->lambdas; j++) {
        const double *weight = t->path + (fold * t->lambdas + j) * t->trial->size;
        memcpy(left, t->rows->target + begin * d, n * d * sizeof *left);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, n, d, p, -1, psi, p, weight, d, 1, left, d);
        for (size_t i = 0; i < n; i++)
            t->score[j * t->w->rows.clusters + t->w->rows.cluster[begin + i]] +=
                score_of(t->rows, begin + i, left + i * d);
    }
    sk_free(psi);
    sk_free(left);
    return status;
}

/* ---- One and all ---- */

static sock_status try_one(attempt *t, const sk_sweep *sweep)
{
    const sk_inertial *w = t->w;
    const double begun = sk_seconds();
    const double *from = t->candidate->learned ? NULL : sweep->all ? sk_thin_lambdas : &sweep->l;
    t->lambdas = t->candidate->learned || !sweep->all ? 1 : LAMBDAS;
    SK_TRY(sk_trial_new(w->ctx, &w->rows, t->candidate, t->lambdas, from, &t->trial));
    if (t->trial->p * w->rows.d > SK_NOISE_ORDER) return SOCK_ENUMERIC; /* too expensive */
    t->path = sk_doubles(w->ctx, (w->rows.folds + 1) * t->lambdas, t->trial->size);
    t->score = sk_doubles(w->ctx, t->lambdas, w->rows.clusters);
    if (!t->path || !t->score) return SOCK_ENOMEM;
    SK_TRY(sk_drift_sums_new(w->ctx, t->trial->p, w->rows.d, w->rows.folds, SK_JOINT, &t->sums));
    SK_TRY(sk_inertial_each(w, add, t));
    const sk_drift_sweep path = {t->trial, t->sums, t->candidate->learned, t->lambdas, t->path, t->score, t->dof};
    SK_TRY(sk_drift_sweep_solve(t->w->ctx, &path));
    SK_TRY(sk_inertial_each(w, score, t));
    SK_TRY(sk_drift_sweep_finish(&path, t->w->rows.clusters));
    t->trial->seconds = sk_seconds() - begun;
    return SOCK_OK;
}

sock_status sk_inertial_drifts(const sk_inertial *w, const sk_inertial_rows *r, const sk_sweep *sweep, sk_trial **trial,
                               size_t *best)
{
    for (size_t c = 0; c < w->list.drifts; c++) {
        sk_trial_free(trial[c]);
        trial[c] = NULL;
        if (!sweep->alive[c]) continue;
        attempt t = {.w = w, .rows = r, .candidate = &w->list.drift[c]};
        const sock_status status = try_one(&t, sweep);
        if (status >= 0) {
            trial[c] = t.trial;
            t.trial = NULL;
        }
        sk_trial_free(t.trial);
        sk_drift_sums_free(t.sums);
        sk_free(t.path);
        sk_free(t.score);
        SK_TRY(sk_tolerate(status));
    }
    sk_begin(w->ctx);
    const sk_field_trials all = {w->list.drifts, w->rows.clusters, w->list.drift, trial, 0};
    *best = sk_simplest_near(&all, SK_NOISE_DRIFT_NATS);
    return *best < SK_MOST ? SOCK_OK : sk_fail(w->ctx, SOCK_ENUMERIC, "no force could be fitted to these positions");
}
