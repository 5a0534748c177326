/* drifttrial.c - cross-validation of drifts through sums over rows.
 *
 *   1. Features; psi, their integrals over every row (conditional quadrature), and the sums of psi by fold.
 *   2. Weights without each fold for every penalty, or learned.
 *   3. Held-out score of each penalty; the best one, and its weights from all rows. */
#include "tune/featurescreen.h"
#include "tune/rules.h"
#include "tune/tally.h"

#include "drift/driftsums.h"

#include <math.h>
#include <string.h>

typedef struct attempt {
    sock_context *ctx;
    const sk_candidate *candidate;
    size_t n, d, folds, lambdas, clusters; /* folds: those that are judged */
    const double *grid;                    /* penalties that are tried; NULL: weights are learned */
    bool plane;                            /* as many features as coordinates and a constant: terms may join */
    sk_trial *trial;
    sk_drift_sums *sums;
    size_t *list;   /* d x SK_WORKING_SET: what a screen leaves to each equation, or NULL */
    double *kept;   /* n x p: psi of all rows where they are few, else NULL */
    double *path;   /* (folds + 1) x lambdas x p x d: without each fold, and from all rows */
    double *score;  /* lambdas x clusters */
    sk_tally tally; /* of these */
    double dof[SK_DRIFT_LAMBDAS];
    double start;
} attempt;

static void attempt_free(attempt *t)
{
    if (!t) return;
    sk_trial_free(t->trial);
    sk_drift_sums_free(t->sums);
    sk_free(t->list);
    sk_free(t->kept);
    sk_free(t->path);
    sk_free(t->score);
    sk_tally_clear(&t->tally);
    sk_free(t);
}

/* Sums over what a screen leaves to each equation. */
static sock_status screened_sums(attempt *t, size_t folds, const sk_views *views)
{
    const size_t p = t->trial->p, each = SK_MIN(SK_WORKING_SET, p);
    t->list = sk_alloc(t->ctx, t->d * each, sizeof *t->list);
    if (!t->list) return SOCK_ENOMEM;
    SK_TRY(sk_screen_features(t->ctx, views, t->trial->map, each, t->list));
    return sk_drift_sums_listed(t->ctx, p, t->d, folds, each, t->list, &t->sums);
}

static sock_status new_sums(attempt *t, size_t folds, const sk_views *views)
{
    sk_trial *r = t->trial;
    const bool learned = t->candidate->learned;
    const sk_coupling coupling = sk_drift_coupling(r->p, t->d, sk_views_spec(views)->diagonal, learned);
    const double once = sk_drift_sums_bytes(r->p, t->d, folds, coupling);
    SK_TRY(sk_memory_check(t->ctx, sk_views_kept(views) ? once : 2 * once, t->candidate->name,
                           "use --drift to name a smaller kernel"));
    return sk_drift_sums_new(t->ctx, r->p, t->d, folds, coupling, &t->sums);
}

static sock_status allocate(attempt *t, size_t folds, const sk_views *views)
{
    sk_trial *r = t->trial;
    SK_TRY((t->candidate->screened ? screened_sums : new_sums)(t, folds, views));
    if (!sk_views_kept(views)) SK_TRY(sk_drift_sums_pair(t->ctx, t->sums));
    const bool few = sk_views_kept(views) && sk_keep_numbers(t->n, r->p);
    if (few && !(t->kept = sk_doubles_unset(t->ctx, t->n, r->p))) return SOCK_ENOMEM;
    t->path = sk_doubles(t->ctx, (t->folds + 1) * t->lambdas, r->size);
    t->score = sk_doubles(t->ctx, t->lambdas, t->clusters);
    if (!t->path || !t->score) return SOCK_ENOMEM;
    return sk_tally_new(t->ctx, !sk_views_kept(views), t->lambdas * t->clusters, t->score, &t->tally);
}

static sock_status attempt_new(sock_context *ctx, const sk_views *views, const sk_candidate *candidate, size_t folds,
                               attempt **out)
{
    const sk_transitions *rows = sk_views_rows(views);
    attempt *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    *t = (attempt){.ctx = ctx, .candidate = candidate, .n = rows->n, .d = rows->d, .clusters = rows->clusters};
    t->start = sk_seconds();
    t->folds = SK_MIN(folds, rows->folds);
    t->lambdas = candidate->learned || candidate->free ? 1 : SK_DRIFT_LAMBDAS;
    if (!candidate->learned) t->grid = sk_drift_lambdas;
    if (candidate->free) t->grid += SK_DRIFT_LAMBDAS - 1; /* they fall */
    sock_status status = sk_trial_new(ctx, rows, candidate, t->lambdas, t->grid, &t->trial);
    if (status >= 0) status = allocate(t, rows->folds, views);
    if (status >= 0) t->plane = t->trial->p <= SK_MIN(rows->in + 1, SK_PRUNE_TERMS);
    if (status < 0) {
        attempt_free(t);
        return status;
    }
    *out = t;
    return SOCK_OK;
}

/* psi of the rows of a view: kept ones, or made into space (n x p). */
static sock_status features_of(const attempt *t, const sk_view *v, bool made, double *space, const double **psi)
{
    enum { AT_ONCE = 256 };
    const size_t p = t->trial->p;
    double *out = t->kept ? t->kept + v->begin * p : space;
    *psi = out;
    if (t->kept && made) return SOCK_OK;
    for (size_t at = 0; at < v->n; at += AT_ONCE)
        SK_TRY(sk_occupation_features(t->ctx, v->rule, t->trial->map, at, SK_MIN(at + AT_ONCE, v->n), out + at * p, p));
    return SOCK_OK;
}

/* work(t, v, psi) with psi of a view. */
static sock_status with_features(attempt *t, const sk_view *v, bool made,
                                 sock_status (*work)(attempt *, const sk_view *, const double *))
{
    double *space = t->kept ? NULL : sk_doubles_unset(t->ctx, v->n, t->trial->p);
    const double *psi = NULL;
    sock_status status = t->kept || space ? features_of(t, v, made, space, &psi) : SOCK_ENOMEM;
    if (status >= 0) status = work(t, v, psi);
    sk_free(space);
    return status;
}

/* ---- Step 1 ---- */

static sock_status add_rows(attempt *t, const sk_view *v, const double *psi)
{
    return sk_drift_sums_add(t->ctx, t->sums, v, psi);
}

static sock_status add(sock_context *ctx, void *arg, const sk_view *v)
{
    (void)ctx;
    return with_features(arg, v, false, add_rows);
}

/* ---- Step 2 ---- */

static sock_status solve(attempt *t)
{
    const size_t all = t->trial->folds;
    sk_drift_sums_close(t->sums);
    for (size_t f = 0; f <= t->folds; f++) {
        const size_t without = f < t->folds ? f : all;
        double *path = t->path + f * t->lambdas * t->trial->size, *dof = f < t->folds ? NULL : t->dof;
        SK_TRY(sk_progress(t->ctx, t->candidate->name, -1));
        if (t->candidate->learned)
            SK_TRY((t->plane ? sk_drift_sums_joined : sk_drift_sums_trimmed)(t->ctx, t->sums, without, path, dof));
        else
            SK_TRY(sk_drift_sums_ridge(t->ctx, t->sums, without, t->lambdas, t->grid, path, dof));
    }
    return SOCK_OK;
}

/* ---- Step 3 ---- */

/* The weights of every penalty side by side, p x (lambdas d). */
static void put_side_by_side(const attempt *t, size_t fold, double *w)
{
    const size_t d = t->d, size = t->trial->size;
    for (size_t i = 0; i < t->trial->p; i++)
        for (size_t j = 0; j < t->lambdas; j++, w += d)
            memcpy(w, t->path + (fold * t->lambdas + j) * size + i * d, d * sizeof *w);
}

/* All penalties in one product for some rows. */
static sock_status score_rows(attempt *t, const sk_view *v, const double *psi)
{
    enum { AT_ONCE = 256 };
    const size_t p = t->trial->p, wide = t->lambdas * t->d, most = SK_MIN(AT_ONCE, v->n);
    double *w = sk_doubles_unset(t->ctx, p, wide), *e = sk_doubles_unset(t->ctx, most, wide);
    double *value = sk_doubles_unset(t->ctx, most, 1);
    const bool room = w && e && value;
    if (room) put_side_by_side(t, v->fold, w);
    for (size_t at = 0; room && at < v->n; at += most) {
        const size_t end = SK_MIN(at + most, v->n);
        sk_gemm(t->ctx, SK_PLAIN, SK_PLAIN, end - at, wide, p, 1, psi + at * p, p, w, wide, 0, e, wide);
        sk_residuals(v, at, end, t->lambdas, e);
        for (size_t j = 0; j < t->lambdas; j++) {
            sk_view_quick_scores(v, at, end, wide, e + j * t->d, value);
            sk_tally_take(t->ctx, &t->tally, j * t->clusters, end - at, v->cluster + at, value);
        }
    }
    sk_free(w);
    sk_free(e);
    sk_free(value);
    return room ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status score(sock_context *ctx, void *arg, const sk_view *v)
{
    (void)ctx;
    attempt *t = arg;
    return v->fold < t->folds ? with_features(t, v, true, score_rows) : SOCK_OK;
}

/* I f of every fit where the features are kept. */
static sock_status hold(const attempt *t)
{
    sk_trial *r = t->trial;
    const size_t p = r->p, d = t->d;
    if (!t->kept || !sk_keep_numbers(t->n, (r->folds + 1) * d)) return SOCK_OK;
    r->held = sk_doubles_unset(t->ctx, r->folds + 1, t->n * d);
    if (!r->held) return SOCK_ENOMEM;
    for (size_t f = 0; f <= r->folds; f++)
        sk_gemm(t->ctx, SK_PLAIN, SK_PLAIN, t->n, d, p, 1, t->kept, p, r->solution + f * r->size, d, 0,
                r->held + f * t->n * d, d);
    return SOCK_OK;
}

/* The trial is taken out of the attempt. */
static sock_status end(attempt *t, sk_trial **out)
{
    sk_trial *r = t->trial;
    for (size_t j = 0; j < t->lambdas; j++) {
        for (size_t u = 0; u < t->clusters; u++) r->by_l[j] += t->score[j * t->clusters + u];
        if (!isfinite(r->by_l[j])) r->by_l[j] = -(double)INFINITY;
    }
    const size_t best = sk_best_drift_lambda(t->lambdas, r->by_l, t->dof, (double)(t->n * t->d));
    r->score = r->by_l[best];
    if (!isfinite(r->score)) return sk_fail(t->ctx, SOCK_ENUMERIC, "%s has no finite score", t->candidate->name);
    memcpy(r->cluster, t->score + best * t->clusters, t->clusters * sizeof(double));
    r->l = t->candidate->learned ? 0 : t->grid[best];
    r->lambda_scale = sk_drift_sums_unit(t->sums);
    r->edge = t->lambdas > 1 && sk_at_edge(t->lambdas, r->by_l, best);
    r->dof = t->dof[best];
    for (size_t f = 0; f <= t->folds; f++)
        memcpy(r->solution + (f < t->folds ? f : r->folds) * r->size, t->path + (f * t->lambdas + best) * r->size,
               r->size * sizeof(double));
    SK_TRY(hold(t));
    if (t->list) SK_TRY(sk_trial_shrink(t->ctx, r));
    r->seconds = sk_seconds() - t->start;
    *out = r;
    t->trial = NULL;
    return SOCK_OK;
}

/* ---- Several at once, or one ---- */

typedef struct crowd {
    size_t count;
    attempt **at; /* NULL: dropped out */
    sk_view_fn work;
} crowd;

static sock_status each_of(sock_context *ctx, void *arg, const sk_view *v)
{
    const crowd *c = arg;
    SK_TRY(sk_progress(ctx, "drift", -1));
    for (size_t i = 0; i < c->count; i++)
        if (c->at[i]) SK_TRY(c->work(ctx, c->at[i], v));
    return SOCK_OK;
}

/* Fails for good, or goes on without it. */
static sock_status keep_or_drop(attempt **t, sock_status status)
{
    if (status == SOCK_ENUMERIC) {
        attempt_free(*t);
        *t = NULL;
    }
    return sk_tolerate(status);
}

sock_status sk_try_drifts(sock_context *ctx, const sk_views *views, size_t count, const sk_candidate *const *candidate,
                          size_t folds, sk_trial **out)
{
    const sk_transitions *rows = sk_views_rows(views);
    crowd c = {count, sk_alloc(ctx, count, sizeof *c.at), add};
    sock_status status = c.at ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++)
        status = sk_tolerate(attempt_new(ctx, views, candidate[i], folds, &c.at[i]));
    if (status >= 0) status = sk_views_each(ctx, views, each_of, &c);
    for (size_t i = 0; rows->store && status >= 0 && i < count; i++)
        if (c.at[i]) sk_drift_sums_over_all(ctx, c.at[i]->sums);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (c.at[i]) status = keep_or_drop(&c.at[i], solve(c.at[i]));
    c.work = score;
    if (status >= 0) status = sk_views_each(ctx, views, each_of, &c);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (c.at[i]) sk_tally_over_all(ctx, rows, &c.at[i]->tally);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (c.at[i]) status = keep_or_drop(&c.at[i], end(c.at[i], &out[i]));
    for (size_t i = 0; c.at && i < count; i++) attempt_free(c.at[i]);
    sk_free(c.at);
    return status;
}

sock_status sk_try_drift(sock_context *ctx, const sk_views *views, const sk_candidate *candidate, size_t folds,
                         sk_trial **out)
{
    SK_TRY(sk_try_drifts(ctx, views, 1, &candidate, folds, out));
    return *out ? SOCK_OK : SOCK_ENUMERIC;
}
