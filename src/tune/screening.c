/* screening.c - the beginning of the search, on few rows: a pilot, and all candidates on two folds. */
#include "tune/searchstate.h"

#include <string.h>

enum { SCREEN_FOLDS = 2 };

/* ---- Pilot ---- */

sock_status sk_search_pilot(sk_search *s)
{
    sk_problem *p = s->screen;
    sk_candidates few = {0};
    sk_drift_result *f[SK_MOST] = {0};
    sk_diffusion_result *a[SK_MOST] = {0};
    bool alive[SK_MOST];
    size_t best_f = SK_MOST, best_a = SK_MOST, folds = SK_MIN(SCREEN_FOLDS, p->folds);
    double *e = NULL;
    sock_model *model = NULL;
    sock_status status;
    memset(alive, 1, sizeof alive);
    SK_GO(sk_candidates_new(s->ctx, s->spec, p->steps, true, &few));
    SK_GO(sk_problem_condition(s->ctx, p, NULL, false, p->d > 3));
    SK_GO(sk_run_drifts(s, "pilot", p, &few, folds, alive, f, &best_f));
    SK_GO(sk_fill_leftover(s, p, f[best_f], &e));
    sk_leftover leftover = {.e = e};
    sk_diffusion_options options = {folds, sk_thin_grid, 4, 1e-4, true};
    SK_GO(sk_run_diffusions(s, "pilot", p, &few, &leftover, &options, alive, a, &best_a));
    SK_GO(sk_model_of_two(s, p, f[best_f], a[best_a], &model));
    sk_search_take_model(s, model, a[best_a]->diagonal);
out:
    sk_clear_drifts(f);
    sk_clear_diffusions(a);
    sk_candidates_clear(&few);
    sk_free(e);
    return status;
}

/* ---- Screen ---- */

/* Which candidates are within `errors` paired standard errors of the best, at most `most` of them by score. */
static void survivors(size_t count, const double *score, double *const *cluster, size_t clusters, size_t best,
                      size_t most, bool *alive)
{
    const double errors = 1.5;
    for (size_t i = 0; i < count; i++)
        alive[i] = cluster[i] && (i == best || score[best] - score[i] <=
                                                   errors * sk_paired_error(clusters, cluster[best], cluster[i]));
    for (size_t i = 0; i < count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < count; j++) better += alive[j] && cluster[j] && alive[i] && score[j] > score[i];
        if (better >= most) alive[i] = false;
    }
}

sock_status sk_screen_drifts(sk_search *s, sk_drift_result **f, size_t *best, bool *alive)
{
    bool all[SK_MOST];
    double score[SK_MOST] = {0}, *cluster[SK_MOST] = {0};
    memset(all, 1, sizeof all);
    SK_TRY(sk_run_drifts(s, "screen", s->screen, &s->list, SK_MIN(SCREEN_FOLDS, s->screen->folds), all, f, best));
    for (size_t i = 0; i < s->list.drifts; i++)
        if (f[i]) {
            score[i] = f[i]->score;
            cluster[i] = f[i]->cluster;
        }
    survivors(s->list.drifts, score, cluster, s->screen->clusters, *best, 6, alive);
    /* Least squares on few rows does these wrong where a is singular: the screen may not throw them out. */
    static const char *const basic[] = {"linear", "affine", "affine learned", "poly:degree=2 learned", NULL};
    for (size_t i = 0; i < s->list.drifts; i++)
        alive[i] = alive[i] || (f[i] && sk_is_one_of(s->list.drift[i].name, basic));
    return SOCK_OK;
}

sock_status sk_screen_diffusions(sk_search *s, const sk_drift_result *f, bool *alive)
{
    sk_diffusion_result *a[SK_MOST] = {0};
    bool all[SK_MOST];
    double score[SK_MOST] = {0}, *cluster[SK_MOST] = {0}, *e = NULL;
    size_t best = SK_MOST;
    sock_status status;
    memset(all, 1, sizeof all);
    SK_GO(sk_fill_leftover(s, s->screen, f, &e));
    sk_leftover leftover = {.e = e, .correct = s->spec->correct};
    sk_diffusion_options options = {SK_MIN(SCREEN_FOLDS, s->screen->folds), sk_thin_grid, 5, sk_search_tolerance(s),
                                    false};
    SK_GO(sk_run_diffusions(s, "screen", s->screen, &s->list, &leftover, &options, all, a, &best));
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (a[i]) {
            score[i] = a[i]->score;
            cluster[i] = a[i]->cluster;
        }
    survivors(s->list.diffusions, score, cluster, s->screen->clusters, best, 8, alive);
    s->best_diffusion = best;
    static const char *const basic[] = {"linear", "affine", "constant", "constant diagonal", NULL};
    for (size_t i = 0; s->full->d <= 3 && i < s->list.diffusions; i++)
        alive[i] = alive[i] || (a[i] && sk_is_one_of(s->list.diffusion[i].name, basic));
out:
    sk_clear_diffusions(a);
    sk_free(e);
    return status;
}
