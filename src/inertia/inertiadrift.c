/* inertiadrift.c - forces on the rows of a filter over positions and velocities.
 *
 *   1. Rows of the features; their sums by fold, all components together.
 *   2. Weights without each fold, for every penalty or learned and pruned.
 *   3. Held-out score: what a force leaves of the innovations of the fold. */
#include "inertia/inertiafit.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

typedef struct attempt {
    const sk_inertial *w;
    const sk_inertial_rows *rows;
    const sk_sweep *sweep;
    sk_drift_sweep s;
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
    const size_t d = t->rows->d, p = t->s.trial->p, n = end - begin;
    sock_context *ctx = t->w->ctx;
    double *psi = sk_doubles_unset(ctx, n, p), *row = sk_doubles_unset(ctx, n * d, p * d);
    double *target = sk_doubles_unset(ctx, n, d);
    sock_status status =
        psi && row && target ? sk_inertial_means(t->w, t->rows, t->s.trial->map, begin, end, psi) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        const double *white = t->rows->white + (begin + i) * d * d;
        whiten(d, p, white, psi + i * p, row + i * d * p * d);
        for (size_t a = 0; a < d; a++) target[i * d + a] = sk_dot(d, white + a * d, t->rows->target + (begin + i) * d);
    }
    if (status >= 0) status = sk_drift_sums_add_joint(ctx, t->s.sums, fold, n * d, row, target);
    sk_free(psi);
    sk_free(row);
    sk_free(target);
    return status;
}

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
    const size_t d = t->rows->d, p = t->s.trial->p, n = end - begin;
    sock_context *ctx = t->w->ctx;
    if (fold == t->w->rows.folds) return SOCK_OK;
    double *psi = sk_doubles_unset(ctx, n, p), *left = sk_doubles_unset(ctx, n, d);
    sock_status status = psi && left ? sk_inertial_means(t->w, t->rows, t->s.trial->map, begin, end, psi) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < t->s.lambdas; j++) {
        const double *weight = t->s.path + (fold * t->s.lambdas + j) * t->s.trial->size;
        memcpy(left, t->rows->target + begin * d, n * d * sizeof *left);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, n, d, p, -1, psi, p, weight, d, 1, left, d);
        for (size_t i = 0; i < n; i++)
            t->s.score[j * t->w->rows.clusters + t->w->rows.cluster[begin + i]] +=
                score_of(t->rows, begin + i, left + i * d);
    }
    sk_free(psi);
    sk_free(left);
    return status;
}

/* ---- One and all ---- */

/* The sweep of candidate c. */
static sock_status try_one(attempt *t, size_t c)
{
    const sk_inertial *w = t->w;
    SK_TRY(sk_drift_sweep_new(w->ctx, &w->rows, &w->list.drift[c], t->sweep, &t->s));
    SK_TRY(sk_inertial_each(w, add, t));
    SK_TRY(sk_drift_sweep_solve(w->ctx, &t->s));
    SK_TRY(sk_inertial_each(w, score, t));
    return sk_drift_sweep_finish(&t->s, w->rows.clusters);
}

static sock_status try_candidate(void *arg, size_t c, sk_trial **out)
{
    attempt *t = arg;
    const sock_status status = sk_sweep_hand_over(try_one(t, c), &t->s.trial, out);
    sk_drift_sweep_clear(&t->s);
    return status;
}

sock_status sk_inertial_drifts(const sk_inertial *w, const sk_inertial_rows *r, const sk_sweep *sweep, sk_trial **trial,
                               size_t *best)
{
    attempt t = {.w = w, .rows = r, .sweep = sweep};
    const sk_sweep_field field = {
        &w->list, true, w->rows.clusters, trial, "no force could be fitted to these positions", try_candidate, &t};
    return sk_sweep_each(w->ctx, sweep, &field, best);
}
