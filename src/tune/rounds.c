/* rounds.c - the middle of the search: two rounds over the survivors of the screen, on all folds.
 *
 *   1. round: drifts, then diffusions on what the best drift leaves, under nodes and weights of the current model.
 *   2. confirm: the best few diffusions anew, with nodes and weights of their own.
 *   3. The best of those is the current model from now on, unless it is worse than the last one by a nat. */
#include "tune/searchstate.h"

#include <math.h>

sock_status sk_stage_round(sk_search *s, const sk_stage *stage)
{
    double alone[SK_MOST] = {0};
    SK_TRY(sk_renew_views(s));
    SK_TRY(sk_run_drifts(s, stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift));
    alone[s->best_drift] = 1;
    SK_TRY(sk_renew_remains(s, alone));
    return sk_run_diffusions(s, stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion);
}

sock_status sk_stage_near(sk_search *s, const sk_stage *stage)
{
    SK_TRY(sk_stage_round(s, stage));
    const sk_field_trials drifts = sk_drift_trials(s), diffusions = sk_diffusion_trials(s);
    sk_near_drifts(&drifts, s->drifts);
    sk_lost_drifts(&drifts, s->lost);
    sk_near_diffusions(&diffusions, s->spec->polish && s->rows->d > 1, s->diffusions);
    return SOCK_OK;
}

/* The budget is spent before all rows were looked at: the search ends with those of the screen. */
sock_status sk_retreat(sk_search *s)
{
    if (s->rows == s->sets.screen) return SOCK_OK;
    s->rows = s->sets.screen;
    return sk_constant_score(s);
}

/* ---- Confirm ---- */

/* A model and its parts, held out. */
typedef struct pair {
    sk_trial *f, *a;
} pair;

static void pair_clear(pair *p)
{
    sk_trial_free(p->f);
    sk_trial_free(p->a);
    *p = (pair){0};
}

/* A finalist under its own conditional quadrature: drift and diffusion anew, at its penalty and a decade more. */
static sock_status confirm(sk_search *s, const sk_stage *stage, size_t diffusion, pair *out)
{
    const sk_trial *finalist = s->diffusion[diffusion];
    const sk_candidate *drift = &s->list.drift[s->best_drift], *a = &s->list.diffusion[diffusion];
    sock_model *model = NULL;
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    size_t at = 0;
    sock_status status;
    SK_GO(sk_model_of_two(s, s->drift[s->best_drift], s->diffusion[diffusion], &model));
    SK_GO(sk_search_views(s, s->rows, model, finalist->diagonal, &views));
    SK_GO(sk_try_drift(s->ctx, views, drift, s->rows->folds, &out->f));
    SK_GO(sk_search_remains(s, views, &out->f, true, &remains));
    while (at + 1 < stage->grid.count && stage->grid.l[at] > finalist->l * 1.01) at++;
    const size_t first = at ? at - 1 : 0;
    const sk_diffusion_options options = {s->rows->folds, stage->grid.l + first,
                                          at - first + 1, sk_search_tolerance(s, stage->care),
                                          true,           {false, false}};
    SK_GO(sk_try_diffusion(s->ctx, remains, a, &options, &out->a));
    sk_search_log(s, stage->name, "both", a->name, finalist->l, out->a->score, false,
                  out->f->seconds + out->a->seconds);
out:
    sk_remains_free(remains);
    sk_views_free(views);
    sock_model_free(model);
    return status;
}

/* The finalists by score, the best of them into *best; answers who it is in *winner, SK_MOST: none could be fitted. */
static sock_status best_finalist(sk_search *s, const sk_stage *stage, pair *best, size_t *winner)
{
    const sk_field_trials diffusions = sk_diffusion_trials(s);
    size_t list[SK_MOST];
    const size_t count = sk_finalists(&diffusions, list);
    *winner = SK_MOST;
    for (size_t k = 0; k < count; k++) {
        if (*winner != SK_MOST && sk_search_seconds_left(s) <= 0) break;
        pair now = {0};
        const sock_status status = sk_tolerate(confirm(s, stage, list[k], &now));
        if (now.a && (!best->a || now.a->score > best->a->score)) {
            const pair last = *best;
            *best = now;
            *winner = list[k];
            now = last;
        }
        pair_clear(&now);
        if (status < 0) return status;
    }
    sk_begin(s->ctx);
    return SOCK_OK;
}

/* The winner's model becomes the current one unless it is worse than that. */
sock_status sk_stage_confirm(sk_search *s, const sk_stage *stage)
{
    pair best = {0};
    size_t winner;
    sock_status status;
    SK_GO(best_finalist(s, stage, &best, &winner));
    if (winner == SK_MOST) SK_GO(sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data"));
    if (sk_round_accepted(best.a->score, s->score)) {
        sock_model *model = NULL;
        SK_GO(sk_model_of_two(s, best.f, best.a, &model));
        sk_search_take_model(s, model, best.a->diagonal);
        s->best_diffusion = winner;
        s->score = fmax(best.a->score, s->score);
    }
out:
    pair_clear(&best);
    return status;
}
