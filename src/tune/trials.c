/* trials.c - one stage of the search: all candidates of a field side by side, held out, and the best of them. */
#include "tune/searchstate.h"

#include <math.h>
#include <stdio.h>

typedef struct task {
    sk_search *s;
    const sk_problem *p;
    const sk_candidates *list;
    size_t folds;
    sk_drift_result **drift;
    sk_diffusion_result **diffusion;
    const bool *alive;
    size_t needed; /* this one is computed even when the budget is spent */
    bool skipped[SK_MOST];
    const sk_leftover *leftover;
    const sk_diffusion_options *options;
    double last_l[SK_MOST]; /* best penalty of each diffusion in the stage before; 0: none */
    size_t order[SK_MOST]; /* who comes first: those that take longest, so that no thread is left with one at the end */
    size_t done;           /* so many of them were computed before the loop */
} task;

/* Time of a candidate, in units that only the same field shares. */
static double drift_cost(const sk_drift_candidate *c, size_t d)
{
    return sk_kernel_features(c->kernel, d, c->max_rank) * (c->learned ? 2 : sk_kernel_is_implicit(c->kernel) ? 3 : 1);
}

static double diffusion_cost(const sk_diffusion_candidate *c, size_t d)
{
    double order = sk_kernel_features(c->kernel, d, c->max_rank) * (c->diagonal ? 1 : (double)d);
    return order * order * order * (c->diagonal ? (double)d : 1) * (c->learned ? 4 : 1);
}

/* The costliest first; equal ones as they are listed. With a budget all stay in the order of the list, where the simple
 * ones stand first: what it leaves out are the last. */
static void sort_by_cost(const sk_search *s, size_t count, const double *cost, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && !(s->spec->budget > 0) && cost[order[at - 1]] < cost[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

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

static void count_skipped(task *t, size_t candidates)
{
    for (size_t i = 0; i < candidates; i++) t->s->skipped += t->skipped[i];
    if (t->s->skipped) t->s->limited = true;
}

static sock_status drift_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    task *t = argument;
    for (size_t k = begin; k < end; k++) {
        size_t i = t->order[k];
        if (due(t, i))
            SK_TRY(sk_tolerate(sk_drift_cross_validate(t->s->ctx, t->p, &t->list->drift[i], t->folds, &t->drift[i])));
    }
    return SOCK_OK;
}

/* A candidate that has a best penalty from the stage before is looked at a decade to both sides of it; when the best is
 * then at the end of this window and not of the grid, the window moves there. */
static sock_status cross_validate_near(const task *t, size_t i, sk_diffusion_result **out)
{
    enum { MOVES = 3 };
    size_t at = 0, last = t->options->lambdas - 1;
    while (at < last && t->options->l[at] > t->last_l[i] * 1.01) at++;
    for (int move = 0; t->last_l[i] > 0 && move <= MOVES; move++) {
        sk_diffusion_options near = *t->options;
        size_t begin = at ? at - 1 : 0, end = SK_MIN(at + 1, last);
        near.l += begin;
        near.lambdas = end - begin + 1;
        sock_status status =
            sk_diffusion_cross_validate(t->s->ctx, t->p, &t->list->diffusion[i], t->leftover, &near, out);
        if (status < 0) {
            SK_TRY(sk_tolerate(status));
            break;
        }
        size_t best = begin;
        while (best < end && t->options->l[best] > (*out)->l * 1.01) best++;
        if (!(*out)->edge || best == at || best == 0 || best == last) return status;
        at = best;
        sk_diffusion_result_free(*out);
        *out = NULL;
    }
    return sk_diffusion_cross_validate(t->s->ctx, t->p, &t->list->diffusion[i], t->leftover, t->options, out);
}

static sock_status diffusion_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    task *t = argument;
    for (size_t k = begin; k < end; k++) {
        size_t i = t->order[t->done + k];
        if (due(t, i)) SK_TRY(sk_tolerate(cross_validate_near(t, i, &t->diffusion[i])));
    }
    return SOCK_OK;
}

/* One that takes longer than all others together is computed for itself, its folds side by side; then the others, each
 * on one thread. */
static sock_status all_diffusions(task *t, size_t count)
{
    sock_context *ctx = t->s->ctx;
    double cost[SK_MOST], left = 0;
    for (size_t i = 0; i < count; i++) {
        cost[i] = t->alive[i] ? diffusion_cost(&t->list->diffusion[i], t->p->d) : 0;
        left += cost[i];
    }
    sort_by_cost(t->s, count, cost, t->order);
    for (; t->done < count && sk_workers(ctx) > 1; t->done++) {
        double largest = cost[t->order[t->done]];
        if (!(2 * largest > left)) break;
        left -= largest;
        SK_TRY(diffusion_range(t, 0, 1, 0));
    }
    return sk_parallel_for(ctx, count - t->done, 1, diffusion_range, t);
}

sock_status sk_run_drifts(sk_search *s, const char *stage, const sk_problem *p, const sk_candidates *list, size_t folds,
                          const bool *alive, sk_drift_result **out, size_t *best)
{
    task t = {.s = s, .p = p, .list = list, .folds = folds, .drift = out, .alive = alive};
    t.needed = needed_candidate(*best, alive);
    sk_clear_drifts(out);
    double cost[SK_MOST];
    for (size_t i = 0; i < list->drifts; i++) cost[i] = alive[i] ? drift_cost(&list->drift[i], p->d) : 0;
    sort_by_cost(s, list->drifts, cost, t.order);
    char text[48];
    snprintf(text, sizeof text, "%s: drift", stage);
    SK_TRY(sk_progress(s->ctx, text, sk_search_share_done(stage, false)));
    SK_TRY(sk_parallel_for(s->ctx, list->drifts, 1, drift_range, &t));
    count_skipped(&t, list->drifts);
    *best = SK_MOST;
    for (size_t i = 0; i < list->drifts; i++) {
        if (!alive[i] || t.skipped[i]) continue;
        sk_search_log(s, stage, "drift", list->drift[i].name, out[i] ? out[i]->l : 0,
                      out[i] ? out[i]->score : -(double)INFINITY, out[i] && out[i]->edge, out[i] ? out[i]->seconds : 0);
        if (out[i] && out[i]->l > 0) sk_search_log_curve(s, stage, SK_LAMBDAS, sk_drift_lambdas, out[i]->by_l);
        if (out[i] && (*best == SK_MOST || out[i]->score > out[*best]->score)) *best = i;
    }
    if (*best == SK_MOST) return sk_fail(s->ctx, SOCK_ENUMERIC, "no drift could be fitted to these data");
    sk_begin(s->ctx);
    return SOCK_OK;
}

sock_status sk_run_diffusions(sk_search *s, const char *stage, const sk_problem *p, const sk_candidates *list,
                              const sk_leftover *leftover, const sk_diffusion_options *options, const bool *alive,
                              sk_diffusion_result **out, size_t *best)
{
    task t = {.s = s, .p = p, .list = list, .diffusion = out, .alive = alive, .leftover = leftover, .options = options};
    t.needed = needed_candidate(*best, alive);
    for (size_t i = 0; i < list->diffusions; i++) t.last_l[i] = out[i] ? out[i]->l : 0;
    sk_clear_diffusions(out);
    char text[48];
    snprintf(text, sizeof text, "%s: diffusion", stage);
    SK_TRY(sk_progress(s->ctx, text, sk_search_share_done(stage, true)));
    SK_TRY(all_diffusions(&t, list->diffusions));
    count_skipped(&t, list->diffusions);
    *best = SK_MOST;
    for (size_t i = 0; i < list->diffusions; i++) {
        if (!alive[i] || t.skipped[i]) continue;
        sk_search_log(s, stage, "diffusion", list->diffusion[i].name, out[i] ? out[i]->l : 0,
                      out[i] ? out[i]->score : -(double)INFINITY, out[i] && out[i]->edge, out[i] ? out[i]->seconds : 0);
        if (out[i] && out[i]->grid) sk_search_log_curve(s, stage, out[i]->lambdas, out[i]->grid, out[i]->by_l);
        if (out[i] && (*best == SK_MOST || out[i]->score > out[*best]->score)) *best = i;
    }
    if (*best == SK_MOST) return sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data");
    sk_begin(s->ctx);
    return SOCK_OK;
}
