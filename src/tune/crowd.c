/* crowd.c - all candidates of a field side by side, held out, and the best of them. Where the views are kept each
 * candidate is a task of its own; where they are not, all go together through the blocks of rows. */
#include "base/comm.h"
#include "tune/dealt.h"
#include "tune/searchstate.h"

#include <math.h>
#include <stdio.h>

typedef struct task {
    sk_search *s;
    const sk_stage *stage;
    const sk_views *views;
    const sk_remains *remains; /* diffusions */
    const sk_candidate *candidate;
    size_t count;
    const bool *alive;
    sk_trial **out;
    size_t needed; /* this one is computed even when the budget is spent */
    bool skipped[SK_MOST];
    double last_l[SK_MOST];       /* best penalty of each diffusion in the stage before; 0: none */
    uint64_t last_rates[SK_MOST]; /* and the monomials of learned rates */
    size_t order[SK_MOST]; /* who comes first: those that take longest, so that no thread is left with one at the end */
    size_t done;           /* so many of them were computed before the loop */
    bool shared;           /* by several processes, */
    int owner[SK_MOST];    /* each of which makes its own; -1: all do */
} task;

/* ---- Cost ---- */

/* Time of a candidate, in units that only the same field shares. Speed only. */
static double cost_of(const sk_candidate *c, size_t d)
{
    const double p = sk_kernel_features(c->kernel, d, c->max_rank), order = p * (c->diagonal ? 1 : (double)d);
    if (c->field == SK_DRIFT) return p * (c->learned ? 2 : sk_kernel_is_implicit(c->kernel) ? 3 : 1);
    return order * order * order * (c->diagonal ? (double)d : 1) * (c->learned ? 4 : 1);
}

/* The most expensive first; equal ones as they are listed. With a budget all stay in the order of the list, where the
 * simple ones stand first: what it leaves out are the last. */
static void sort_by_cost(const sk_search *s, size_t count, const double *cost, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && !(s->spec->budget > 0) && cost[order[at - 1]] < cost[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* ---- Budget ---- */

/* The best so far, or else the first one alive. */
static size_t needed_candidate(size_t best, const bool *alive)
{
    if (best < SK_MOST && alive[best]) return best;
    for (best = 0; best < SK_MOST && !alive[best];) best++;
    return best;
}

static bool due(task *t, size_t i)
{
    if (!t->alive[i]) return false;
    t->skipped[i] = i != t->needed && sk_search_seconds_left(t->s) <= 0;
    return !t->skipped[i];
}

/* ---- One candidate ---- */

static sk_diffusion_options options_of(const task *t, size_t i)
{
    const size_t folds = t->stage->folds ? t->stage->folds : t->s->rows->folds;
    const sk_grid few = {SK_OWN_LAMBDAS, sk_own_lambdas}, grid = t->candidate[i].own ? few : t->stage->grid;
    return (sk_diffusion_options){.folds = folds,
                                  .l = grid.l,
                                  .lambdas = grid.count,
                                  .tolerance = sk_search_tolerance(t->s, t->stage->care),
                                  .solve_all = t->stage->whole,
                                  .rates = t->last_rates[i]};
}

/* A candidate that has a best penalty from the stage before is looked at some decades to both sides of it. at: its
 * place in the grid. */
static sk_diffusion_options window(const sk_diffusion_options *whole, size_t at, size_t reach)
{
    sk_diffusion_options near = *whole;
    const size_t begin = at > reach ? at - reach : 0, end = SK_MIN(at + reach, whole->lambdas - 1);
    near.l += begin;
    near.lambdas = end - begin + 1;
    return near;
}

/* An end of the window that is none of the grid. */
static bool inside(const sk_diffusion_options *whole, size_t at) { return at > 0 && at + 1 < whole->lambdas; }

/* When the best is at the end of the window and not of the grid, the window moves there. */
static sock_status try_near(const task *t, size_t i, sk_trial **out)
{
    enum { MOVES = 3 };
    const sk_diffusion_options whole = options_of(t, i);
    size_t at = sk_lambda_place(whole.lambdas, whole.l, t->last_l[i]);
    for (int move = 0; t->last_l[i] > 0 && move <= MOVES; move++) {
        const sk_diffusion_options near = window(&whole, at, 1);
        sock_status status = sk_try_diffusion(t->s->ctx, t->remains, &t->candidate[i], &near, out);
        if (status < 0) {
            SK_TRY(sk_tolerate(status));
            break;
        }
        const size_t best = sk_lambda_place(whole.lambdas, whole.l, (*out)->l);
        if (!(*out)->edge || best == at || !inside(&whole, best)) return status;
        at = best;
        sk_replace(out, NULL);
    }
    return sk_try_diffusion(t->s->ctx, t->remains, &t->candidate[i], &whole, out);
}

static bool is_mine(const task *t, size_t i)
{
    return !t->shared || t->owner[i] < 0 || t->owner[i] == sk_rank(t->s->ctx);
}

static sock_status try_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    task *t = argument;
    const size_t folds = t->stage->folds ? t->stage->folds : t->s->rows->folds;
    for (size_t k = begin; k < end; k++) {
        const size_t i = t->order[t->done + k];
        if (!due(t, i) || !is_mine(t, i)) continue;
        SK_TRY(sk_tolerate(t->remains ? try_near(t, i, &t->out[i])
                                      : sk_try_drift(t->s->ctx, t->views, &t->candidate[i], folds, &t->out[i])));
    }
    return SOCK_OK;
}

/* ---- Several processes ---- */

/* Time of a candidate on few rows: that of their features counts as much as that of the convex problems. */
static double dealt_cost(const sk_candidate *c, double rows, size_t d)
{
    const double p = sk_kernel_features(c->kernel, d, c->max_rank), order = p * (c->diagonal ? 1 : (double)d);
    if (c->field == SK_DRIFT) return cost_of(c, d);
    return 16 + p * (p + 1) / 2 + 1000 * order * order * order / rows; /* speed only */
}

/* What is screened has features that others cannot know: all make it. */
static void deal_out(task *t)
{
    double cost[SK_MOST];
    t->shared = sk_deals_out(t->s->ctx);
    if (!t->shared) return;
    for (size_t i = 0; i < t->count; i++)
        cost[i] = t->alive[i] && !t->candidate[i].screened
                      ? dealt_cost(&t->candidate[i], (double)t->s->rows->n, t->s->rows->d)
                      : 0;
    sk_deal_owners(sk_ranks(t->s->ctx), t->count, cost, t->owner);
}

static sock_status gather(task *t, sock_status status)
{
    const sk_transitions *rows = sk_views_rows(t->views);
    if (!t->shared) return status;
    for (size_t i = 0; i < t->count && status >= 0; i++)
        if (t->owner[i] >= 0)
            status = sk_deal_trial(t->s->ctx, status, t->owner[i], rows, &t->candidate[i],
                                   t->remains ? options_of(t, i).l : sk_drift_lambdas, &t->out[i]);
    return status;
}

/* ---- All of them ---- */

/* A diffusion that takes longer than all others together is computed for itself, its folds side by side; then the
 * others, each on one thread. */
static sock_status try_each(task *t)
{
    sock_context *ctx = t->s->ctx;
    double cost[SK_MOST], left = 0;
    for (size_t i = 0; i < t->count; i++) {
        cost[i] = t->alive[i] && is_mine(t, i) ? cost_of(&t->candidate[i], t->s->rows->d) : 0; /* speed only */
        left += cost[i];
    }
    sort_by_cost(t->s, t->count, cost, t->order);
    for (; t->remains && t->done < t->count && sk_workers(ctx) > 1; t->done++) {
        const double largest = cost[t->order[t->done]];
        if (!(2 * largest > left)) break; /* speed only */
        left -= largest;
        SK_TRY(try_range(t, 0, 1, 0));
    }
    return sk_parallel_for(ctx, t->count - t->done, 1, try_range, t);
}

static sock_status try_shared(task *t)
{
    deal_out(t);
    return gather(t, try_each(t));
}

/* Wider, since it does not move; its ends are no edge where the grid goes on. */
static sk_diffusion_options wide_window(const sk_diffusion_options *whole, double last_l)
{
    if (!(last_l > 0)) return *whole;
    sk_diffusion_options near = window(whole, sk_lambda_place(whole->lambdas, whole->l, last_l), 2);
    near.beyond[0] = near.l > whole->l;
    near.beyond[1] = near.l + near.lambdas < whole->l + whole->lambdas;
    return near;
}

/* All together through the blocks of rows. */
static sock_status try_together(task *t)
{
    const sk_candidate *who[SK_MOST];
    size_t index[SK_MOST] = {0}, count = 0;
    sk_trial *out[SK_MOST] = {0};
    sk_diffusion_options options[SK_MOST];
    for (size_t i = 0; i < t->count; i++) {
        if (!due(t, i)) continue;
        const sk_diffusion_options whole = options_of(t, i);
        who[count] = &t->candidate[i];
        options[count] = wide_window(&whole, t->last_l[i]);
        index[count++] = i;
    }
    const size_t folds = t->stage->folds ? t->stage->folds : t->s->rows->folds;
    sock_status status = t->remains ? sk_try_diffusions(t->s->ctx, t->remains, count, who, options, out)
                                    : sk_try_drifts(t->s->ctx, t->views, count, who, folds, out);
    for (size_t k = 0; k < count; k++) t->out[index[k]] = out[k];
    return status;
}

/* Logs what was tried and finds the best. */
static sock_status conclude(task *t, size_t *best)
{
    sk_search *s = t->s;
    *best = SK_MOST;
    for (size_t i = 0; i < t->count; i++) s->skipped += t->skipped[i];
    if (s->skipped) s->limited = true;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->alive[i] || t->skipped[i]) continue;
        sk_search_log_trial(s, t->stage, &t->candidate[i], t->out[i]);
        if (t->out[i] && (*best == SK_MOST || t->out[i]->score > t->out[*best]->score)) *best = i;
    }
    sk_begin(s->ctx); /* what one candidate had to say */
    if (*best == SK_MOST)
        return sk_fail(s->ctx, SOCK_ENUMERIC, "no %s could be fitted to these data",
                       t->remains ? "diffusion" : "drift");
    return SOCK_OK;
}

static sock_status run(task *t, size_t *best)
{
    char text[48];
    t->needed = needed_candidate(*best, t->alive);
    for (size_t i = 0; i < t->count; i++) {
        t->last_l[i] = t->remains && t->out[i] ? t->out[i]->l : 0;
        t->last_rates[i] = t->remains && t->out[i] ? sk_trial_rates(t->out[i]) : 0;
    }
    sk_clear_trials(t->out);
    snprintf(text, sizeof text, "%s: %s", t->stage->name, t->remains ? "diffusion" : "drift");
    SK_TRY(sk_progress(t->s->ctx, text, t->remains ? t->stage->diffusion : t->stage->drift));
    if (sk_views_kept(t->views))
        SK_TRY(try_shared(t));
    else
        SK_TRY(try_together(t));
    return conclude(t, best);
}

sock_status sk_run_drifts(sk_search *s, const sk_stage *stage, const sk_views *views, const sk_candidates *list,
                          const bool *alive, sk_trial **out, size_t *best)
{
    task t = {.s = s, .stage = stage, .views = views, .candidate = list->drift, .count = list->drifts};
    t.alive = alive;
    t.out = out;
    return run(&t, best);
}

sock_status sk_run_diffusions(sk_search *s, const sk_stage *stage, const sk_remains *remains, const sk_candidates *list,
                              const bool *alive, sk_trial **out, size_t *best)
{
    task t = {.s = s, .stage = stage, .views = sk_remains_views(remains), .remains = remains};
    t.candidate = list->diffusion;
    t.count = list->diffusions;
    t.alive = alive;
    t.out = out;
    return run(&t, best);
}
