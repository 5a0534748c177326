/* searchcases.h - a search between two stages, for the tests of its pieces: rows of a small known process, candidates
 * by name, trials of them. */
#ifndef SK_SEARCHCASES_H
#define SK_SEARCHCASES_H

#include "tune/searchstate.h"
#include "tunecases.h"

typedef struct case_search {
    sock_data *data;
    sk_tune_spec spec;
    sk_tune_outcome told;
    sk_search s;
} case_search;

/* Everything switched on, three folds, no candidate yet; the search works on about `some` of the steps (0: on all),
 * the screen on a third of these. */
static inline case_search *case_search_new(sock_context *ctx, size_t d, size_t steps, size_t each, size_t some)
{
    case_search *c = sk_alloc(ctx, 1, sizeof *c);
    c->data = case_data(ctx, steps, d, each, 31 + d);
    c->spec = (sk_tune_spec){.data = c->data, .folds = 3, .drift = "auto", .diffusion = "auto"};
    c->spec.conditional = c->spec.weighted = c->spec.learned = c->spec.correct = true;
    c->spec.polish = c->spec.average = true;
    c->s = (sk_search){.ctx = ctx, .spec = &c->spec, .told = &c->told, .start = sk_seconds()};
    c->s.score = -(double)INFINITY;
    c->s.best_drift = c->s.best_diffusion = SK_MOST;
    if (sk_row_sets_new(ctx, &c->spec, some ? some : steps, some ? some / 3 : steps, &c->s.sets) < 0)
        fail_msg("%s", sock_message(ctx));
    c->s.rows = c->s.sets.search;
    return c;
}

static inline void case_search_free(case_search *c)
{
    sk_search *s = &c->s;
    sk_remains_free(s->remains);
    sk_views_free(s->views);
    sk_clear_trials(s->drift);
    sk_clear_trials(s->rival);
    sk_clear_trials(s->diffusion);
    sk_trial_free(s->constant_drift);
    sk_trial_free(s->constant_diffusion);
    sk_candidates_clear(&s->list);
    sk_candidates_clear(&s->constants);
    sk_candidates_clear(&s->given_up);
    sock_model_free(s->model);
    sock_model_free(s->under);
    sk_free(s->final_cluster);
    sk_free(s->richer);
    sk_row_sets_clear(&s->sets);
    sk_tune_outcome_clear(&c->told);
    sock_data_free(c->data);
    sk_free(c);
}

/* One candidate more, alive. */
static inline sk_candidate *case_candidate(case_search *c, sk_field field, const char *kernel, int simplicity)
{
    sock_context *ctx = c->s.ctx;
    sk_candidates *list = &c->s.list;
    const bool drift = field == SK_DRIFT;
    if (!list->drift) list->drift = sk_alloc(ctx, SK_MOST, sizeof *list->drift);
    if (!list->diffusion) list->diffusion = sk_alloc(ctx, SK_MOST, sizeof *list->diffusion);
    const size_t i = drift ? list->drifts++ : list->diffusions++;
    (drift ? c->s.drifts : c->s.diffusions)[i] = true;
    sk_candidate *made = (drift ? list->drift : list->diffusion) + i;
    *made = (sk_candidate){.field = field, .simplicity = simplicity, .max_rank = 9};
    made->name = sk_strdup(ctx, kernel);
    made->kernel = case_kernel(ctx, kernel);
    return made;
}

/* Three drifts and three diffusions. */
static inline void case_candidates(case_search *c)
{
    static const char *const kernels[] = {"constant", "affine", "poly:degree=2"};
    for (int i = 0; i < 3; i++) {
        case_candidate(c, SK_DRIFT, kernels[i], i);
        case_candidate(c, SK_DIFFUSION, kernels[i], i);
    }
}

static const double case_grid[] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
enum { CASE_LAMBDAS = sizeof case_grid / sizeof *case_grid };

static inline sk_stage case_stage(void)
{
    return (sk_stage){.name = "stage",
                      .grid = {CASE_LAMBDAS, case_grid},
                      .care = SK_USUAL,
                      .whole = true,
                      .curves = true,
                      .drift = -1,
                      .diffusion = -1};
}

/* The row of the search table with these words, the last of them; NULL: none. */
static inline const sk_search_row *case_logged(const case_search *c, const char *stage, const char *kernel)
{
    const sk_search_row *found = NULL;
    for (size_t i = 0; i < c->told.search.count; i++) {
        const sk_search_row *row = &c->told.search.row[i];
        if (strcmp(row->stage, stage) == 0 && (!kernel || strcmp(row->kernel, kernel) == 0)) found = row;
    }
    return found;
}

#endif
