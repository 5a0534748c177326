/* rounds.c - the middle of the search: two rounds over the survivors of the screen, on all folds.
 *
 *   1. round: drifts, then diffusions on what the best drift leaves, under nodes and weights of the current model.
 *   2. confirm: the best few diffusions anew, with nodes and weights of their own.
 *   3. The best of those is the current model from now on, unless it is worse than the last one by a nat. */
#include "tune/searchstate.h"

#include <math.h>

/* Drifts that were dropped come back where the model under which that was done may have been wrong, or they are cheap.
 * last: the scores then. */
static sock_status call_back(sk_search *s, const sk_stage *stage, const sk_judgement *last)
{
    bool asked[SK_MOST] = {false}, any = false;
    sk_trial *back[SK_MOST] = {0};
    size_t best = SK_MOST;
    const sk_field_trials now = sk_drift_trials(s);
    sk_drifts_back(last, &now, s->rows->d, s->drifts, asked);
    for (size_t i = 0; i < s->list.drifts; i++) any |= asked[i];
    if (!any) return SOCK_OK;
    sock_status status = sk_tolerate(sk_run_drifts(s, stage, s->views, &s->list, asked, back, &best));
    for (size_t i = 0; i < s->list.drifts; i++)
        if (back[i]) s->drift[i] = back[i];
    if (status < 0) return status;
    if (best != SK_MOST && s->drift[best]->score > s->drift[s->best_drift]->score) s->best_drift = best;
    const sk_field_trials drifts = sk_drift_trials(s);
    sk_near_drifts(&drifts, s->drifts);
    for (size_t i = 0; i < drifts.count; i++)
        if (asked[i]) s->drifts[i] = s->drifts[i] && sk_drift_stays(&drifts, i);
    sk_lost_drifts(&drifts, s->lost);
    return SOCK_OK;
}

static sk_judgement last_judgement(const sk_search *s)
{
    sk_judgement last = {.best = (double)INFINITY, .constant = s->constant_score};
    const sk_trial *best = s->best_drift < SK_MOST ? s->drift[s->best_drift] : NULL;
    const bool same = best && best->rows == s->rows; /* else scores are not to be compared */
    if (same) last.best = best->score;
    for (size_t i = 0; i < SK_MOST; i++) last.score[i] = same && s->drift[i] ? s->drift[i]->score : (double)NAN;
    return last;
}

sock_status sk_judge_drifts(sk_search *s, const sk_stage *stage)
{
    const sk_judgement last = last_judgement(s);
    SK_TRY(sk_run_drifts(s, stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift));
    return call_back(s, stage, &last);
}

sock_status sk_stage_round(sk_search *s, const sk_stage *stage)
{
    double alone[SK_MOST] = {0};
    SK_TRY(sk_renew_views(s));
    SK_TRY(sk_judge_drifts(s, stage));
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
    size_t drift, diffusion; /* places in the lists */
    sk_trial *f, *a;
    sock_model *under; /* whose nodes and weights they were fitted with */
    bool diagonal;
    double score; /* with the floor that is best for it */
} pair;

static void pair_clear(pair *p)
{
    sk_trial_free(p->f);
    sk_trial_free(p->a);
    sock_model_free(p->under);
    p->f = p->a = NULL;
    p->under = NULL;
}

/* A pair under its own conditional quadrature: drift and diffusion anew, this at its penalty and a decade more. */
static sock_status confirm(sk_search *s, const sk_stage *stage, pair *out)
{
    const sk_trial *finalist = s->diffusion[out->diffusion];
    const sk_candidate *drift = &s->list.drift[out->drift], *a = &s->list.diffusion[out->diffusion];
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sock_status status;
    SK_GO(sk_model_of_two(s, s->drift[out->drift], s->diffusion[out->diffusion], &out->under));
    out->diagonal = finalist->diagonal;
    SK_GO(sk_search_views(s, s->rows, out->under, out->diagonal, &views));
    SK_GO(sk_try_drift(s->ctx, views, drift, s->rows->folds, &out->f));
    SK_GO(sk_search_remains(s, views, &out->f, &remains));
    const size_t at = sk_lambda_place(stage->grid.count, stage->grid.l, finalist->l), first = at ? at - 1 : 0;
    const sk_diffusion_options options = {
        s->rows->folds, stage->grid.l + first, at - first + 1,          sk_search_tolerance(s, stage->care),
        true,           {false, false},        sk_trial_rates(finalist)};
    SK_GO(sk_try_diffusion(s->ctx, remains, a, &options, &out->a));
    SK_GO(sk_floored_score(s, remains, out->a, &out->score));
    sk_search_log(s, stage->name, "both", a->name, finalist->l, out->score, false, out->f->seconds + out->a->seconds);
out:
    sk_remains_free(remains);
    sk_views_free(views);
    return status;
}

/* One pair; the better of it and *best into *best. */
static sock_status confirm_against(sk_search *s, const sk_stage *stage, size_t drift, size_t diffusion, pair *best)
{
    pair now = {.drift = drift, .diffusion = diffusion};
    const sock_status status = sk_tolerate(confirm(s, stage, &now));
    const bool simpler = s->list.drift[drift].simplicity < s->list.drift[best->drift].simplicity;
    if (now.a && status >= 0 && (!best->a || sk_takes_over(now.score - best->score, simpler))) {
        const pair last = *best;
        *best = now;
        now = last;
    }
    pair_clear(&now);
    return status;
}

/* The finalists with the best drift, by score; then the rival of this drift, which is judged under the nodes of another
 * until then, with the best of them. best->a stays NULL where none could be fitted. */
static sock_status best_finalist(sk_search *s, const sk_stage *stage, pair *best)
{
    const sk_field_trials diffusions = sk_diffusion_trials(s), drifts = sk_drift_trials(s);
    size_t list[SK_MOST];
    const size_t count = sk_finalists(&diffusions, list), rival = sk_rival_drift(&drifts);
    for (size_t k = 0; k < count && (!best->a || sk_search_seconds_left(s) > 0); k++)
        SK_TRY(confirm_against(s, stage, s->best_drift, list[k], best));
    if (best->a && rival != SK_MOST && sk_search_seconds_left(s) > 0)
        SK_TRY(confirm_against(s, stage, rival, best->diffusion, best));
    sk_begin(s->ctx);
    return SOCK_OK;
}

/* The winner's model becomes the current one unless it is worse than that. */
sock_status sk_stage_confirm(sk_search *s, const sk_stage *stage)
{
    pair best = {0};
    sock_status status;
    SK_GO(best_finalist(s, stage, &best));
    if (!best.a) SK_GO(sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data"));
    if (sk_round_accepted(best.score, s->score)) {
        sock_model *model = NULL;
        SK_GO(sk_model_of_two(s, best.f, best.a, &model));
        sk_search_take_model(s, model, best.a->diagonal);
        s->best_diffusion = best.diffusion;
        s->best_drift = best.drift;
        s->drifts[best.drift] = true;
        if (best.score > s->score) {
            sock_model_free(s->under);
            s->under = best.under;
            s->under_diagonal = best.diagonal;
            best.under = NULL;
        }
        s->score = fmax(best.score, s->score);
    }
out:
    pair_clear(&best);
    return status;
}
