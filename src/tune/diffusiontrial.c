/* diffusiontrial.c - cross-validation of diffusions through sums over rows.
 *
 *   1. Features; the sums of the products of the residuals by fold.
 *   2. Q without each fold for penalty after penalty, large to small, warm started.
 *   3. Held-out: I a of the conditional quadrature; the likelihood of the transition. Where the rows are few each
 *      penalty is scored before the next is solved, until the score has clearly passed its best: the smallest ones cost
 *      most. Where they are many all are solved first, and one visit to each block scores them all. */
#include "tune/ratechoice.h"
#include "tune/rules.h"
#include "tune/tally.h"
#include "tune/trial.h"

#include <math.h>
#include <string.h>

typedef struct attempt {
    sock_context *ctx;
    const sk_candidate *candidate;
    const sk_diffusion_options *options;
    const sk_remains *remains;
    size_t n, d, folds, clusters; /* folds: those that are judged */
    sk_trial *trial;
    sk_diffusion_sums *sums;
    sk_diffusion_path **paths; /* folds x systems */
    double *q;                 /* lambdas x folds x size */
    double *kept;              /* n x q: svec rows of the conditional rule where they are few, else NULL */
    double *held;              /* n x d x d where rows are few: I a at the penalty just scored */
    double *score;             /* lambdas x clusters */
    sk_tally tally;            /* of these */
    size_t count, *keep;       /* of learned rates: the monomials that were chosen; NULL: all */
    bool made;                 /* svec rows are in `kept` */
    double start;
} attempt;

static void attempt_free(attempt *t)
{
    if (!t) return;
    for (size_t i = 0; t->paths && i < t->folds * t->sums->systems; i++) sk_diffusion_path_free(t->paths[i]);
    sk_trial_free(t->trial);
    sk_diffusion_sums_free(t->sums);
    sk_free(t->paths);
    sk_free(t->q);
    sk_free(t->kept);
    sk_free(t->held);
    sk_free(t->score);
    sk_tally_clear(&t->tally);
    sk_free(t->keep);
    sk_free(t);
}

static sock_status allocate(attempt *t)
{
    const sk_transitions *rows = sk_views_rows(sk_remains_views(t->remains));
    sk_trial *r = t->trial;
    const size_t lambdas = t->options->lambdas, q = r->p * (r->p + 1) / 2;
    const sk_view like = {.d = t->d, .folds = rows->folds};
    const size_t each = r->picks.each ? r->picks.each : r->p;
    const bool few = sk_views_kept(sk_remains_views(t->remains));
    const double once = sk_diffusion_sums_bytes(each, t->d, rows->folds, r->diagonal);
    SK_TRY(
        sk_memory_check(t->ctx, few ? once : 2 * once, t->candidate->name, "use --diffusion to name a smaller kernel"));
    if (r->picks.each)
        SK_TRY(sk_diffusion_sums_picked(t->ctx, r->map, &like, &r->picks, t->folds, &t->sums));
    else
        SK_TRY(sk_diffusion_sums_new(t->ctx, r->map, &like, r->diagonal, t->folds, &t->sums));
    if (!few) SK_TRY(sk_diffusion_sums_pair(t->ctx, t->sums));
    SK_TRY(sk_diffusion_sums_offload(t->ctx, t->sums, t->n));
    if (few && sk_keep_numbers(t->n, q) && !(t->kept = sk_doubles_unset(t->ctx, t->n, q))) return SOCK_ENOMEM;
    t->paths = sk_alloc(t->ctx, t->folds * t->sums->systems, sizeof *t->paths);
    t->q = sk_doubles(t->ctx, lambdas * t->folds, r->size);
    t->score = sk_doubles(t->ctx, lambdas, t->clusters);
    bool good = t->paths && t->q && t->score;
    if (few) {
        t->held = sk_doubles(t->ctx, t->n, t->d * t->d);
        r->held = sk_doubles(t->ctx, t->n, t->d * t->d);
        good = good && t->held && r->held;
    }
    return good ? sk_tally_new(t->ctx, !few, lambdas * t->clusters, t->score, &t->tally) : SOCK_ENOMEM;
}

static sock_status attempt_new(sock_context *ctx, const sk_remains *remains, const sk_candidate *candidate,
                               const sk_diffusion_options *options, attempt **out)
{
    const sk_transitions *rows = sk_views_rows(sk_remains_views(remains));
    attempt *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    *t = (attempt){.ctx = ctx, .candidate = candidate, .options = options, .remains = remains};
    t->n = rows->n, t->d = rows->d, t->clusters = rows->clusters;
    t->start = sk_seconds();
    t->folds = SK_MIN(options->folds, rows->folds);
    sock_status status = sk_trial_new(ctx, rows, candidate, options->lambdas, options->l, &t->trial);
    if (status >= 0) status = allocate(t);
    if (status < 0) {
        attempt_free(t);
        return status;
    }
    *out = t;
    return SOCK_OK;
}

/* ---- Step 2 ---- */

typedef struct stop { /* one penalty for all folds, which share no cluster: each can run on a thread of its own */
    attempt *t;
    size_t j;
} stop;

static sock_status open_path(const attempt *t, size_t f, size_t system, sk_diffusion_path **out)
{
    if (t->keep) return sk_diffusion_path_separate(t->ctx, t->sums, f, system, t->count, t->keep, out);
    return sk_diffusion_path_new(t->ctx, t->sums, f, system, t->candidate->learned, out);
}

static sock_status open_paths(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    attempt *t = argument;
    const size_t systems = t->sums->systems;
    for (size_t f = begin; f < end; f++)
        for (size_t s = 0; s < systems; s++) SK_TRY(open_path(t, f, s, &t->paths[f * systems + s]));
    return SOCK_OK;
}

/* Of the features that were chosen. */
static sock_status set_unit(attempt *t)
{
    double *one = t->keep ? sk_doubles(t->ctx, t->trial->p, 1) : NULL;
    if (t->keep && !one) return SOCK_ENOMEM;
    for (size_t i = 0; t->keep && i < t->count; i++) one[t->keep[i]] = 1;
    t->trial->lambda_scale = sk_diffusion_sums_unit(t->sums, 0, one);
    sk_free(one);
    return SOCK_OK;
}

static sock_status prepare(attempt *t)
{
    SK_TRY(set_unit(t));
    return sk_parallel_for(t->ctx, t->folds, 1, open_paths, t);
}

static sock_status solve_fold(const attempt *t, size_t j, size_t f)
{
    const size_t systems = t->sums->systems, order2 = t->trial->size / systems;
    double *q = t->q + (j * t->folds + f) * t->trial->size;
    SK_TRY(sk_progress(t->ctx, t->candidate->name, -1));
    for (size_t s = 0; s < systems; s++)
        SK_TRY(sk_diffusion_path_solve(t->ctx, t->paths[f * systems + s], t->options->l[j], t->options->tolerance,
                                       q + s * order2));
    return SOCK_OK;
}

static sock_status solve_folds(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const stop *at = argument;
    for (size_t f = begin; f < end; f++) SK_TRY(solve_fold(at->t, at->j, f));
    return SOCK_OK;
}

/* ---- Step 3 ---- */

/* Scores at the penalties from .. to-1 of the rows begin .. end-1 of a block, with their svec rows. */
typedef struct scoring {
    double *space, *integral;
} scoring;

enum { AT_ONCE = 256 };

static sock_status score_some(attempt *t, const sk_block *block, size_t begin, size_t end, const double *rows,
                              size_t from, size_t to, const scoring *desk)
{
    const sk_view *v = block->view;
    const size_t d = t->d, d2 = d * d;
    const double *e = block->e + v->fold * v->n * d;
    double value[AT_ONCE];
    for (size_t j = from; j < to; j++) {
        const double *q = t->q + (j * t->folds + v->fold) * t->trial->size;
        SK_TRY(sk_trial_integrate(t->ctx, t->trial, q, end - begin, rows, desk->integral + begin * d2));
        sk_view_scores(v, begin, end, e, desk->integral, 0, value, desk->space);
        sk_tally_take(t->ctx, &t->tally, j * t->clusters, end - begin, v->cluster + begin, value);
    }
    return SOCK_OK;
}

static sock_status score_block(attempt *t, const sk_block *block, bool made, size_t from, size_t to)
{
    const sk_view *v = block->view;
    const size_t q = t->trial->p * (t->trial->p + 1) / 2;
    double *own = t->held ? NULL : sk_doubles_unset(t->ctx, v->n, t->d * t->d);
    scoring desk = {sk_doubles(t->ctx, sk_scores_space(t->d), 1), own ? own : t->held + v->begin * t->d * t->d};
    double *space = t->kept ? NULL : sk_doubles_unset(t->ctx, AT_ONCE, q);
    sock_status status = desk.space && (own || t->held) && (space || t->kept) ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < v->n; at += AT_ONCE) {
        const size_t end = SK_MIN(at + AT_ONCE, v->n);
        double *rows = t->kept ? t->kept + (v->begin + at) * q : space;
        if (!t->kept || !made) status = sk_svec_rows(t->ctx, t->trial->map, v->rule, at, end, rows, NULL);
        if (status >= 0) status = score_some(t, block, at, end, rows, from, to, &desk);
    }
    sk_free(desk.space);
    sk_free(own);
    sk_free(space);
    return status;
}

/* The blocks of fold f at penalty j. */
static sock_status score_fold(attempt *t, size_t j, size_t f)
{
    const sk_transitions *rows = sk_views_rows(sk_remains_views(t->remains));
    for (size_t b = 0; b < rows->blocks; b++) {
        sk_block block;
        if (rows->block[b] < rows->first[f] || rows->block[b] >= rows->first[f + 1]) continue;
        SK_TRY(sk_remains_take(t->ctx, t->remains, b, &block));
        sock_status status = score_block(t, &block, t->made || j > 0, j, j + 1);
        sk_remains_give(t->remains, &block);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

static sock_status fit_and_score(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const stop *at = argument;
    for (size_t f = begin; f < end; f++) {
        SK_TRY(solve_fold(at->t, at->j, f));
        SK_TRY(score_fold(at->t, at->j, f));
    }
    return SOCK_OK;
}

/* The monomials that were chosen on fewer rows: on many a choice of its own would visit every block again and again. */
static sock_status take_rates(attempt *t)
{
    if (!t->candidate->learned || !sk_features_separate(t->trial->map) || !t->options->rates) return SOCK_OK;
    t->keep = sk_alloc(t->ctx, t->trial->p, sizeof *t->keep);
    for (size_t m = 0; t->keep && m < t->trial->p; m++)
        if (t->options->rates >> m & 1) t->keep[t->count++] = m;
    return t->keep ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Rates: which monomials ---- */

static void forget_scores(attempt *t)
{
    memset(t->score, 0, t->clusters * sizeof *t->score);
    if (t->tally.low) memset(t->tally.low, 0, t->clusters * sizeof *t->tally.low);
}

/* The monomials that are tried. */
typedef struct tried {
    attempt *t;
    const sk_choice_of_rates *of;
} tried;

static sock_status score_tried(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const tried *a = argument;
    attempt *t = a->t;
    const size_t systems = t->sums->systems, order2 = t->trial->size / systems;
    for (size_t f = begin; f < end; f++) {
        for (size_t s = 0; s < systems; s++) {
            sk_diffusion_path *path = NULL;
            SK_TRY(sk_diffusion_path_separate(t->ctx, t->sums, f, s, a->of->count, a->of->feature, &path));
            sock_status status = sk_diffusion_path_solve(t->ctx, path, SK_RATE_PENALTY, t->options->tolerance,
                                                         t->q + f * t->trial->size + s * order2);
            sk_diffusion_path_free(path);
            if (status < 0) return status;
        }
        SK_TRY(score_fold(t, 0, f));
    }
    return SOCK_OK;
}

static sock_status score_rates(void *argument, const sk_choice_of_rates *of, double *score)
{
    attempt *t = argument;
    tried a = {t, of};
    forget_scores(t);
    SK_TRY(sk_progress(t->ctx, t->candidate->name, -1));
    SK_TRY(sk_parallel_for(t->ctx, t->folds, 1, score_tried, &a));
    t->made = t->kept != NULL;
    *score = 0;
    for (size_t u = 0; u < t->clusters; u++) *score += t->score[u];
    if (!isfinite(*score)) *score = -(double)INFINITY;
    return SOCK_OK;
}

static sock_status choose_rates(attempt *t)
{
    if (!t->candidate->learned || !sk_features_separate(t->trial->map)) return SOCK_OK;
    sk_choice_of_rates chosen = {0};
    t->keep = sk_alloc(t->ctx, t->trial->p, sizeof *t->keep);
    chosen.feature = t->keep;
    sock_status status = t->keep ? sk_choose_rates(t->ctx, t->trial->p, score_rates, t, &chosen) : SOCK_ENOMEM;
    t->count = chosen.count;
    forget_scores(t);
    return status;
}

/* The sum over clusters, once the penalty is scored. */
static void sum_score(const attempt *t, size_t j)
{
    double sum = 0;
    for (size_t u = 0; u < t->clusters; u++) sum += t->score[j * t->clusters + u];
    t->trial->by_l[j] = isfinite(sum) ? sum : -(double)INFINITY;
}

/* Those of the best penalty so far stay; the others are written anew at the next one. */
static void keep_held(attempt *t)
{
    double *held = t->trial->held;
    t->trial->held = t->held;
    t->held = held;
}

/* Down the path; clearly past the best twice in a row, smaller penalties will not come back. */
static sock_status walk(attempt *t)
{
    sk_trial *r = t->trial;
    size_t j = 0;
    for (; j < r->lambdas && !sk_path_is_over(j, r->by_l); j++) {
        stop at = {t, j};
        SK_TRY(sk_parallel_for(t->ctx, t->folds, 1, fit_and_score, &at));
        sum_score(t, j);
        if (sk_best_lambda(j + 1, r->by_l) == j) keep_held(t);
    }
    for (; j < r->lambdas; j++) r->by_l[j] = -(double)INFINITY; /* not tried */
    return SOCK_OK;
}

/* ---- The fit to all rows ---- */

typedef struct whole {
    const attempt *t;
    size_t best;
    sk_diffusion_path **paths; /* systems */
} whole;

/* Down the same path: a cold start at a tiny penalty may fail. */
static sock_status some_systems(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const whole *w = argument;
    const attempt *t = w->t;
    const sk_trial *r = t->trial;
    const size_t order2 = r->size / t->sums->systems;
    for (size_t s = begin; s < end; s++) {
        double *q = r->solution + r->folds * r->size + s * order2;
        SK_TRY(open_path(t, r->folds, s, &w->paths[s]));
        for (size_t j = 0; j <= w->best; j++)
            SK_TRY(sk_diffusion_path_solve(t->ctx, w->paths[s], t->options->l[j], t->options->tolerance, q));
    }
    return SOCK_OK;
}

static sock_status fit_all(attempt *t, size_t best)
{
    sk_trial *r = t->trial;
    const size_t systems = t->sums->systems;
    whole w = {t, best, sk_alloc(t->ctx, systems, sizeof *w.paths)};
    sock_status status = w.paths ? sk_parallel_for(t->ctx, systems, 1, some_systems, &w) : SOCK_ENOMEM;
    for (size_t s = 0; w.paths && s < systems; s++) {
        if (status >= 0) {
            const sk_psd_bounds bounds = sk_diffusion_path_bounds(w.paths[s]);
            r->converged = r->converged && sk_diffusion_path_converged(w.paths[s]);
            r->gap = fmax(r->gap, bounds.primal > 0 ? bounds.gap / bounds.primal : 0);
            r->whole.primal += bounds.primal;
            r->whole.dual += bounds.dual;
            r->whole.gap += bounds.gap;
        }
        sk_diffusion_path_free(w.paths[s]);
    }
    sk_free(w.paths);
    return status;
}

/* An end of the penalties that is one of their grid, too. */
static bool at_edge(const attempt *t, size_t best)
{
    const sk_trial *r = t->trial;
    return r->lambdas > 1 && sk_at_edge(r->lambdas, r->by_l, best) && !t->options->beyond[best > 0];
}

/* The trial is taken out of the attempt. */
static sock_status end(attempt *t, sk_trial **out)
{
    sk_trial *r = t->trial;
    const size_t best = sk_best_lambda(r->lambdas, r->by_l);
    r->score = r->by_l[best];
    r->l = t->options->l[best];
    r->edge = at_edge(t, best);
    if (!isfinite(r->score)) return sk_fail(t->ctx, SOCK_ENUMERIC, "%s has no finite score", t->candidate->name);
    memcpy(r->cluster, t->score + best * t->clusters, t->clusters * sizeof(double));
    memcpy(r->solution, t->q + best * t->folds * r->size, t->folds * r->size * sizeof(double));
    if (t->options->solve_all) SK_TRY(fit_all(t, best));
    r->seconds = sk_seconds() - t->start;
    *out = r;
    t->trial = NULL;
    return SOCK_OK;
}

typedef struct crowd {
    const sk_remains *remains;
    size_t count;
    attempt **at; /* NULL: dropped out */
    sock_status (*work)(attempt *, const sk_block *);
} crowd;

static sock_status each_of(sock_context *ctx, void *arg, size_t b)
{
    const crowd *c = arg;
    sk_block block;
    SK_TRY(sk_progress(ctx, "diffusion", -1));
    SK_TRY(sk_remains_take(ctx, c->remains, b, &block));
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < c->count; i++)
        if (c->at[i]) status = c->work(c->at[i], &block);
    sk_remains_give(c->remains, &block);
    return status;
}

/* Every attempt on every block. */
static sock_status visit(sock_context *ctx, const sk_remains *remains, size_t count, attempt **at,
                         sock_status (*work)(attempt *, const sk_block *))
{
    crowd c = {remains, count, at, work};
    const sk_views *views = sk_remains_views(remains);
    return sk_blocks_each(ctx, sk_views_rows(views), !sk_views_kept(views), each_of, &c);
}

static sock_status add(attempt *t, const sk_block *block) { return sk_diffusion_sums_add(t->ctx, t->sums, block); }

static sock_status score_all(attempt *t, const sk_block *block)
{
    return block->view->fold < t->folds ? score_block(t, block, false, 0, t->trial->lambdas) : SOCK_OK;
}

sock_status sk_try_diffusion(sock_context *ctx, const sk_remains *remains, const sk_candidate *candidate,
                             const sk_diffusion_options *options, sk_trial **out)
{
    attempt *t = NULL;
    if (!sk_views_kept(sk_remains_views(remains))) return sk_try_diffusions(ctx, remains, 1, &candidate, options, out);
    SK_TRY(attempt_new(ctx, remains, candidate, options, &t));
    sock_status status = visit(ctx, remains, 1, &t, add);
    if (status >= 0) status = sk_diffusion_sums_fetch(ctx, t->sums, true);
    if (status >= 0) sk_diffusion_sums_close(t->sums);
    if (status >= 0) status = choose_rates(t);
    if (status >= 0) status = prepare(t);
    if (status >= 0) status = walk(t);
    if (status >= 0) status = end(t, out);
    attempt_free(t);
    return status;
}

/* ---- Several at once ---- */

static sock_status solve_all(attempt *t)
{
    sk_diffusion_sums_close(t->sums);
    SK_TRY(take_rates(t));
    SK_TRY(prepare(t));
    for (size_t j = 0; j < t->trial->lambdas; j++) {
        stop at = {t, j};
        SK_TRY(sk_parallel_for(t->ctx, t->folds, 1, solve_folds, &at));
    }
    return SOCK_OK;
}

static sock_status finish(attempt *t, sk_trial **out)
{
    for (size_t j = 0; j < t->trial->lambdas; j++) sum_score(t, j);
    return end(t, out);
}

static sock_status keep_or_drop(attempt **t, sock_status status)
{
    if (status == SOCK_ENUMERIC) {
        attempt_free(*t);
        *t = NULL;
    }
    return sk_tolerate(status);
}

sock_status sk_try_diffusions(sock_context *ctx, const sk_remains *remains, size_t count,
                              const sk_candidate *const *candidate, const sk_diffusion_options *options, sk_trial **out)
{
    const sk_transitions *rows = sk_views_rows(sk_remains_views(remains));
    attempt **at = sk_alloc(ctx, count, sizeof *at);
    sock_status status = at ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++)
        status = sk_tolerate(attempt_new(ctx, remains, candidate[i], &options[i], &at[i]));
    if (status >= 0) status = visit(ctx, remains, count, at, add);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (at[i]) status = sk_diffusion_sums_fetch(ctx, at[i]->sums, true);
    for (size_t i = 0; rows->store && status >= 0 && i < count; i++)
        if (at[i]) sk_diffusion_sums_over_all(ctx, at[i]->sums);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (at[i]) status = keep_or_drop(&at[i], solve_all(at[i]));
    if (status >= 0) status = visit(ctx, remains, count, at, score_all);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (at[i]) sk_tally_over_all(ctx, rows, &at[i]->tally);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (at[i]) status = keep_or_drop(&at[i], finish(at[i], &out[i]));
    for (size_t i = 0; at && i < count; i++) attempt_free(at[i]);
    sk_free(at);
    return status;
}
