/* search.c - the stages of tune.h, in order. */
#include "tune/folds.h"
#include "tune/scaling.h"
#include "tune/twins.h"

enum { SCREEN_ROWS = 2000 };

/* Twice: the polished diffusion of the first pass weights the drift of the second, which may choose again. */
static sock_status finish(sk_search *s, bool *drifts, bool *diffusions, sock_model **out)
{
    sk_choice choice = {0};
    bool plain = false;
    const bool twice = s->spec->polish;
    SK_TRY(
        sk_last_pass(s, "final", drifts, diffusions, twice ? sk_search_tolerance(s) : sk_last_tolerance(s), &choice));
    if (twice && !sk_search_leave_out(s, "refit")) {
        sock_model *model = NULL;
        SK_TRY(sk_search_mixture(s, &choice, &model));
        sk_search_take_model(s, model, sk_all_diagonal(s, &choice));
        for (size_t i = 0; i < s->list.diffusions; i++) diffusions[i] = choice.share[i] > 0;
        SK_TRY(sk_last_pass(s, "refit", drifts, diffusions, sk_last_tolerance(s), &choice));
    }
    sk_join_twins(s, &choice); /* not before: the second pass wants them all */
    SK_TRY(sk_prefer_plain(s, &choice, &plain));
    SK_TRY(sk_prefer_constant(s, plain, &choice));
    SK_TRY(sk_search_mixture(s, &choice, out));
    return sk_search_describe(s, &choice);
}

static sock_status run(sk_search *s, sock_model **out)
{
    bool drifts[SK_MOST] = {false}, diffusions[SK_MOST] = {false};
    sk_drift_result *f[SK_MOST] = {0};
    size_t best = SK_MOST;
    sock_status status;
    SK_GO(sk_constant_score(s));
    SK_GO(sk_search_pilot(s));
    SK_GO(sk_candidates_new(s->ctx, s->spec, s->full->steps, false, &s->list));
    SK_GO(sk_problem_condition(s->ctx, s->screen, s->model, s->spec->conditional, s->model_diagonal));
    SK_GO(sk_screen_drifts(s, f, &best, drifts));
    s->best_drift = best;
    SK_GO(sk_screen_diffusions(s, f[best], diffusions));
    sk_clear_drifts(f);
    SK_GO(sk_search_rounds(s, drifts, diffusions));
    SK_GO(finish(s, drifts, diffusions, out));
out:
    sk_clear_drifts(f);
    return status;
}

sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    sk_search s = {.ctx = ctx, .spec = spec, .start = sk_seconds(), .told = told};
    sock_status status = sk_folds_problem(ctx, spec, SCREEN_ROWS, &s.full, &s.screen);
    const double *scale = status >= 0 ? s.full->scale : NULL; /* before a retreat to the rows of the screen */
    sock_model *model = NULL;
    if (status >= 0) status = run(&s, &model);
    if (status >= 0) status = sk_scaling_finish(ctx, scale, model, told);
    if (status >= 0) {
        *out = model;
    } else {
        sock_model_free(model);
        sk_tune_outcome_clear(told);
    }
    sk_clear_drifts(s.drift);
    sk_clear_diffusions(s.diffusion);
    sk_drift_result_free(s.constant_drift);
    sk_diffusion_result_free(s.constant_diffusion);
    sk_candidates_clear(&s.list);
    sock_model_free(s.model);
    sk_free(s.leftover);
    sk_free(s.final_cluster);
    if (s.screen != s.full) sk_problem_free(s.screen);
    sk_problem_free(s.full);
    if (status >= 0 && told->limited)
        return sk_fail(ctx, SOCK_LIMITED,
                       "the budget of %g s ended the search early: %zu stages and %zu fits were left out", spec->budget,
                       told->stages, told->skipped);
    return status;
}
