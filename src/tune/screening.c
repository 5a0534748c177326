/* screening.c - the beginning of the search, on few rows: a pilot, and all candidates on two folds. */
#include "tune/searchstate.h"

#include <string.h>

sock_status sk_stage_pilot(sk_search *s, const sk_stage *stage)
{
    const sk_transitions *rows = s->sets.screen;
    sk_candidates few = {0};
    sk_trial *f[SK_MOST] = {0}, *a[SK_MOST] = {0};
    bool all[SK_MOST];
    size_t best_f = SK_MOST, best_a = SK_MOST;
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sock_model *model = NULL;
    sock_status status;
    memset(all, 1, sizeof all);
    SK_GO(sk_candidates_new(s->ctx, s->spec, rows, true, &few));
    SK_GO(sk_search_views(s, rows, NULL, rows->d > SK_FEW_DIMENSIONS, &views));
    SK_GO(sk_run_drifts(s, stage, views, &few, all, f, &best_f));
    SK_GO(sk_search_remains(s, views, &f[best_f], &remains));
    SK_GO(sk_run_diffusions(s, stage, remains, &few, all, a, &best_a));
    SK_GO(sk_model_of_two(s, f[best_f], a[best_a], &model));
    sk_search_take_model(s, model, a[best_a]->diagonal);
out:
    sk_remains_free(remains);
    sk_views_free(views);
    sk_clear_trials(f);
    sk_clear_trials(a);
    sk_candidates_clear(&few);
    return status;
}

sock_status sk_stage_screen(sk_search *s, const sk_stage *stage)
{
    sk_trial *f[SK_MOST] = {0}, *a[SK_MOST] = {0};
    bool all[SK_MOST];
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sock_status status;
    memset(all, 1, sizeof all);
    SK_GO(sk_candidates_new(s->ctx, s->spec, s->rows, false, &s->list));
    SK_GO(sk_search_views(s, s->sets.screen, s->model, s->model_diagonal, &views));
    SK_GO(sk_run_drifts(s, stage, views, &s->list, all, f, &s->best_drift));
    sk_field_trials drifts = sk_drift_trials(s);
    drifts.trial = f;
    sk_screen_drifts(&drifts, s->drifts);
    SK_GO(sk_search_remains(s, views, &f[s->best_drift], &remains));
    SK_GO(sk_run_diffusions(s, stage, remains, &s->list, all, a, &s->best_diffusion));
    sk_field_trials diffusions = sk_diffusion_trials(s);
    diffusions.trial = a;
    sk_screen_diffusions(&diffusions, s->rows->d, s->diffusions);
out:
    sk_remains_free(remains);
    sk_views_free(views);
    sk_clear_trials(f);
    sk_clear_trials(a);
    return status;
}
