/* rounds.c - the middle of the search: two rounds over the survivors of the screen, on all rows and folds.
 *
 *   1. sweep: drifts, then diffusions on what the best drift leaves over, under nodes and weights of the current model.
 *   2. confirm: the best few diffusions anew, with nodes and weights of their own.
 *   3. The best of those is the current model from now on, unless it is worse than the last one by a nat. */
#include "tune/searchstate.h"

#include <math.h>

enum { FINALISTS = 3 };

/* A finalist under its own conditional quadrature: drift and diffusion anew, held out. The results go to *f and *a. */
static sock_status confirm(sk_search *s, size_t drift, size_t diffusion, sk_drift_result **f, sk_diffusion_result **a,
                           double *score)
{
    sk_diffusion_result *finalist = s->diffusion[diffusion];
    sock_model *model = NULL;
    double *e = NULL;
    sock_status status;
    SK_GO(sk_model_of_two(s, s->full, s->drift[drift], finalist, &model));
    SK_GO(sk_problem_condition(s->ctx, s->full, model, s->spec->conditional, finalist->diagonal));
    SK_GO(sk_drift_cross_validate(s->ctx, s->full, &s->list.drift[drift], s->full->folds, f));
    SK_GO(sk_fill_leftover(s, s->full, *f, &e));
    sk_leftover leftover = {.e = e, .correct = s->spec->correct};
    size_t at = 0; /* the finalist's l, and a decade more */
    while (at + 1 < SK_FINE && sk_fine_grid[at] > finalist->l * 1.01) at++;
    size_t first = at ? at - 1 : 0;
    sk_diffusion_options options = {s->full->folds, sk_fine_grid + first, at - first + 1, sk_search_tolerance(s), true};
    SK_GO(sk_diffusion_cross_validate(s->ctx, s->full, &s->list.diffusion[diffusion], &leftover, &options, a));
    *score = (*a)->score;
    sk_search_log(s, "confirm", "both", s->list.diffusion[diffusion].name, finalist->l, *score, false,
                  (*f)->seconds + (*a)->seconds);
out:
    sock_model_free(model);
    sk_free(e);
    return status;
}

/* The best finalists by score; the winner's model becomes the current one unless it is worse than that by a nat. */
static sock_status choose(sk_search *s, bool *improved)
{
    sk_drift_result *f = NULL, *best_f = NULL;
    sk_diffusion_result *a = NULL, *best_a = NULL;
    bool tried[SK_MOST] = {false};
    double best = -(double)INFINITY;
    size_t winner = SK_MOST;
    sock_status status = SOCK_OK;
    *improved = false;
    for (int round = 0; round < FINALISTS; round++) {
        size_t next = SK_MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (s->diffusion[i] && !tried[i] && (next == SK_MOST || s->diffusion[i]->score > s->diffusion[next]->score))
                next = i;
        if (next == SK_MOST || (winner != SK_MOST && sk_search_seconds_left(s) <= 0)) break;
        tried[next] = true;
        double score = 0;
        status = sk_tolerate(confirm(s, s->best_drift, next, &f, &a, &score));
        if (status < 0) goto out;
        if (f && a && score > best) {
            best = score;
            winner = next;
            sk_drift_result_free(best_f);
            sk_diffusion_result_free(best_a);
            best_f = f;
            best_a = a;
            f = NULL;
            a = NULL;
        }
        sk_drift_result_free(f);
        sk_diffusion_result_free(a);
        f = NULL;
        a = NULL;
    }
    sk_begin(s->ctx);
    if (winner == SK_MOST) {
        status = sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data");
        goto out;
    }
    if (best > s->score - 1) {
        sock_model *model = NULL;
        SK_GO(sk_model_of_two(s, s->full, best_f, best_a, &model));
        sk_search_take_model(s, model, best_a->diagonal);
        s->best_diffusion = winner;
        s->score = SK_MAX(best, s->score);
        *improved = true;
    }
out:
    sk_drift_result_free(f);
    sk_diffusion_result_free(a);
    sk_drift_result_free(best_f);
    sk_diffusion_result_free(best_a);
    return status;
}

sock_status sk_sweep_drifts(sk_search *s, const char *stage, const bool *drifts)
{
    const sk_problem *p = s->full;
    SK_TRY(sk_problem_condition(s->ctx, s->full, s->model, s->spec->conditional, s->model_diagonal));
    return sk_run_drifts(s, stage, p, &s->list, p->folds, drifts, s->drift, &s->best_drift);
}

sock_status sk_sweep_diffusions(sk_search *s, const char *stage, const bool *diffusions, double tolerance)
{
    const sk_problem *p = s->full;
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    sk_diffusion_options options = {p->folds, sk_fine_grid, SK_FINE, tolerance, true};
    return sk_run_diffusions(s, stage, p, &s->list, &leftover, &options, diffusions, s->diffusion, &s->best_diffusion);
}

static sock_status sweep(sk_search *s, const char *stage, const bool *drifts, const bool *diffusions)
{
    SK_TRY(sk_sweep_drifts(s, stage, drifts));
    SK_TRY(sk_fill_leftover(s, s->full, s->drift[s->best_drift], &s->leftover));
    return sk_sweep_diffusions(s, stage, diffusions, sk_search_tolerance(s));
}

/* Who takes part in the next stage: near the best by nats or by standard errors, and the finalists, whatever they are:
 * under its own quadrature a candidate may do better than in the table. */
static void near_best(const sk_search *s, bool *drifts, bool *diffusions)
{
    const sk_drift_result *best_f = s->drift[s->best_drift];
    const sk_diffusion_result *best_a = s->diffusion[s->best_diffusion];
    double reach = s->spec->polish && s->full->d > 1 ? 60 : 20; /* the polish may still turn the order round */
    for (size_t i = 0; i < s->list.drifts; i++) drifts[i] = s->drift[i] && best_f->score - s->drift[i]->score < 20;
    for (size_t i = 0; i < s->list.diffusions; i++) {
        const sk_diffusion_result *r = s->diffusion[i];
        size_t better = 0;
        for (size_t j = 0; r && j < s->list.diffusions; j++)
            better += s->diffusion[j] && s->diffusion[j]->score > r->score;
        double error = r ? sk_paired_error(s->full->clusters, best_a->cluster, r->cluster) : 0;
        diffusions[i] = r && (better < FINALISTS || best_a->score - r->score < SK_MAX(reach, error));
    }
}

/* The budget is spent before all rows were looked at: the search ends with those of the screen. */
static sock_status retreat(sk_search *s)
{
    if (s->screen == s->full) return SOCK_OK;
    sk_problem *all = s->full;
    s->full = s->screen;
    s->screen = all;
    return sk_constant_score(s);
}

sock_status sk_search_rounds(sk_search *s, bool *drifts, bool *diffusions)
{
    bool improved;
    s->score = -(double)INFINITY;
    if (sk_search_leave_out(s, "round 1")) return retreat(s);
    SK_TRY(sweep(s, "round 1", drifts, diffusions));
    near_best(s, drifts, diffusions);
    if (sk_search_leave_out(s, "confirm")) return SOCK_OK;
    SK_TRY(choose(s, &improved));
    if (sk_search_leave_out(s, "round 2")) return SOCK_OK;
    SK_TRY(sweep(s, "round 2", drifts, diffusions));
    return sk_search_leave_out(s, "confirm 2") ? SOCK_OK : choose(s, &improved);
}
