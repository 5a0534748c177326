/* search.c - walks over the stages of stages.c; then the model, and what is told of it. */
#include "tune/quiet.h"
#include "tune/scaling.h"
#include "tune/searchspread.h"
#include "tune/searchstate.h"

#include <math.h>

/* Data so odd that no candidate has a finite score are left with constant coefficients. */
static sock_status run_stage(sk_search *s, const sk_stage *stage)
{
    const sock_status status = stage->run(s, stage);
    if (status != SOCK_ENUMERIC || !sk_free_choice(s) || s->fell_back) return status;
    sk_begin(s->ctx);
    sk_fall_back(s);
    return SOCK_OK;
}

/* After a retreat to constants there is nothing to choose from: they are only fitted to all rows. */
static bool is_wanted(const sk_search *s, const sk_stage *stage)
{
    return (!s->fell_back || stage->run == sk_stage_all_rows) && (!stage->wanted || stage->wanted(s));
}

/* A stage that the budget leaves out takes the later ones of its group along. */
static sock_status walk(sk_search *s)
{
    int skipped = 0;
    for (const sk_stage *stage = sk_stages; stage < sk_stages + sk_stage_count; stage++) {
        if (!is_wanted(s, stage) || (stage->group && stage->group == skipped)) continue;
        if (stage->group && sk_search_leave_out(s, stage->name)) {
            skipped = stage->group;
            if (stage->left) SK_TRY(stage->left(s));
            continue;
        }
        SK_TRY(run_stage(s, stage));
    }
    return SOCK_OK;
}

/* What the likelihood of the search adds to the variance of a step, and why where the data have a grain. */
static sock_status tell_jitter(const sk_search *s)
{
    const sk_held_model held = sk_chosen(s, &s->choice);
    const sk_row_sets *sets = &s->sets;
    const size_t d = s->rows->d;
    sk_tune_outcome *told = s->told;
    told->jitter = (sk_numbers){d, sk_doubles(s->ctx, d, 1)};
    if (sets->look.resolution > 0) told->grain = (sk_numbers){d, sk_doubles(s->ctx, d, 1)};
    if (!told->jitter.value || (sets->look.resolution > 0 && !told->grain.value)) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        const double unit = sets->units ? sets->units->scale[k] : 1;
        told->jitter.value[k] = sets->look.eps * unit * unit;
        if (told->grain.value) told->grain.value[k] = sets->grain[k] * unit;
    }
    return sk_euler_likelihood(s->ctx, s->rows, &sets->look, &held, s->choice.floor, &told->loglik);
}

static sock_status run(sk_search *s, sock_model **out)
{
    const size_t d = s->spec->data->d;
    SK_TRY(sk_row_sets_new(s->ctx, s->spec, sk_budget_rows(s->spec->budget, d, SK_SEARCH_ROWS),
                           sk_budget_rows(s->spec->budget, d, SK_SCREEN_ROWS), &s->sets));
    s->rows = s->sets.search;
    s->score = -(double)INFINITY;
    s->best_drift = s->best_diffusion = SK_MOST;
    SK_TRY(sk_constant_score(s));
    if (sk_too_few(s->rows->n) && sk_free_choice(s)) {
        s->told->too_few = true;
        sk_fall_back(s);
    }
    SK_TRY(walk(s));
    SK_TRY(sk_noise_stage(s, out));
    if (!*out) {
        SK_TRY(sk_search_mixture(s, &s->choice, out));
        SK_TRY(sk_search_spread(s, *out));
    }
    SK_TRY(sk_search_describe(s, &s->choice));
    SK_TRY(tell_jitter(s));
    SK_TRY(sk_scaling_finish(s->ctx, s->sets.units, *out, s->told));
    for (size_t i = 0; s->spec->lower && i < (*out)->diffusion_terms; i++)
        sk_features_snap((*out)->diffusion[i]->map, s->spec->lower, s->spec->upper);
    return sk_silence(s->ctx, *out, s->spec->data, s->spec->wild, s->told);
}

static void release(sk_search *s)
{
    sk_remains_free(s->remains);
    sk_views_free(s->views);
    sk_clear_trials(s->drift);
    sk_clear_trials(s->rival);
    sk_clear_trials(s->diffusion);
    sk_trial_free(s->constant_drift);
    sk_trial_free(s->constant_diffusion);
    sk_candidates_clear(&s->list);
    sk_candidates_clear(&s->constants);
    sock_model_free(s->model);
    sock_model_free(s->under);
    sk_free(s->final_cluster);
    sk_row_sets_clear(&s->sets);
    sk_free(s);
}

sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    sk_search *s = sk_alloc(ctx, 1, sizeof *s);
    sock_model *model = NULL;
    if (!s) return SOCK_ENOMEM;
    s->ctx = ctx;
    s->spec = spec;
    s->told = told;
    s->start = sk_seconds();
    sock_status status = run(s, &model);
    release(s);
    if (status < 0) {
        sock_model_free(model);
        sk_tune_outcome_clear(told);
        return status;
    }
    *out = model;
    if (told->limited)
        return sk_fail(ctx, SOCK_LIMITED,
                       "the budget of %g s ended the search early: %zu stages and %zu fits were left out", spec->budget,
                       told->left_out.count, told->skipped);
    return SOCK_OK;
}
