/* search.c - walks over the stages of stages.c; then the model, and what is told of it. */
#include "tune/inputchoice.h"
#include "tune/plan.h"
#include "tune/quiet.h"
#include "tune/scaling.h"
#include "tune/searchspread.h"
#include "tune/searchstate.h"
#include "tune/streamrows.h"

#include <math.h>

/* Data so odd that no candidate has a finite score are left with constant coefficients. */
static sock_status run_stage(sk_search *s, const sk_stage *stage)
{
    const sock_status status = stage->run(s, stage);
    if (status != SOCK_ENUMERIC || !sk_free_choice(s) || s->fell_back || !s->constant_drift) return status;
    sk_begin(s->ctx);
    sk_fall_back(s);
    return SOCK_OK;
}

/* After a retreat to constants there is nothing to choose from: they are only made means, and fitted to all rows. */
static bool is_wanted(const sk_search *s, const sk_stage *stage)
{
    const bool of_constants = stage->run == sk_stage_all_rows || stage->run == sk_stage_constant_drift;
    return (!s->fell_back || of_constants) && (!stage->wanted || stage->wanted(s));
}

/* What a plan says of the sample is not done again. */
static const sk_stage *first_stage(const sk_search *s)
{
    const sk_stage *stage = sk_stages;
    while (s->spec->plan && stage->run != sk_stage_all_rows) stage++;
    return stage;
}

/* A stage that the budget leaves out takes the later ones of its group along. */
static sock_status walk(sk_search *s)
{
    int skipped = 0;
    for (const sk_stage *stage = first_stage(s); stage < sk_stages + sk_stage_count; stage++) {
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

/* The time itself has steps that recur, and is not rounded to them. */
static void forget_clocks(const sk_search *s)
{
    sk_numbers *grain = &s->told->grain;
    bool any = false;
    for (size_t k = 0; k < grain->count; k++) {
        if (sk_is_clock(sk_transitions_in_memory(s->rows), k)) grain->value[k] = 0;
        any |= grain->value[k] > 0;
    }
    if (any || !grain->count) return;
    sk_free(grain->value);
    *grain = (sk_numbers){0};
}

/* The inputs of the model get the names of the data, and their medians. */
static sock_status name_inputs(const sk_search *s, sock_model *model)
{
    const sock_data *data = s->spec->data;
    const size_t m = data->inputs;
    double *copy = m ? sk_doubles_unset(s->ctx, data->points, 1) : NULL;
    sock_status status = copy || !m ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < m; k++) {
        sk_input *input = &model->structure->input[k];
        for (size_t i = 0; i < data->points; i++) copy[i] = data->u[i * m + k];
        input->usual = sk_select(data->points, copy, data->points / 2);
        sk_free(input->name);
        input->name = sk_strdup(s->ctx, data->input[k]);
        if (!input->name) status = SOCK_ENOMEM;
    }
    sk_free(copy);
    return status;
}

/* What there is before the first stage. */
static sock_status begin(sk_search *s)
{
    if (s->spec->plan) return sk_plan_take(s);
    SK_TRY(sk_constant_score(s));
    if (!sk_too_few(s->rows->n) || !sk_free_choice(s)) return SOCK_OK;
    s->told->too_few = true;
    sk_fall_back(s);
    return SOCK_OK;
}

static sock_status run(sk_search *s, sock_model **out)
{
    SK_TRY(begin(s));
    SK_TRY(walk(s));
    if (s->spec->after && !s->spec->stream && !s->spec->data->inputs) SK_TRY(s->spec->after(s, out));
    if (!*out) {
        SK_TRY(sk_search_mixture(s, &s->choice, out));
        SK_TRY(sk_search_spread(s, *out));
    }
    SK_TRY(name_inputs(s, *out));
    SK_TRY(sk_search_describe(s, &s->choice));
    SK_TRY(tell_jitter(s));
    SK_TRY(sk_scaling_finish(s->ctx, s->sets.units, *out, s->told));
    for (size_t i = 0; s->spec->lower && i < (*out)->diffusion_terms; i++)
        sk_features_snap((*out)->diffusion[i]->map, s->spec->lower, s->spec->upper);
    SK_TRY(sk_silence(s->ctx, *out, s->spec->data, s->spec->wild, s->told));
    forget_clocks(s);
    return SOCK_OK;
}

void sk_search_free(sk_search *s)
{
    if (!s) return;
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
    sk_free(s);
}

sock_status sk_search_new(sock_context *ctx, const sk_tune_spec *spec, sk_tune_outcome *told, sk_search **out)
{
    const size_t d = spec->data->d;
    sk_search *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->ctx = ctx;
    s->spec = spec;
    s->told = told;
    s->start = sk_seconds();
    s->score = -(double)INFINITY;
    s->best_drift = s->best_diffusion = SK_MOST;
    const size_t few = sk_budget_rows(spec->budget, d, SK_SCREEN_ROWS);
    const sock_status status =
        spec->stream ? sk_stream_row_sets(ctx, spec, few, &s->sets)
                     : sk_row_sets_new(ctx, spec, sk_budget_rows(spec->budget, d, sk_search_rows(d)), few, &s->sets);
    s->rows = s->sets.search;
    if (status < 0)
        sk_search_free(s);
    else
        *out = s;
    return status;
}

static sock_status search(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    sk_search *s = NULL;
    sock_model *model = NULL;
    sock_status status = sk_search_new(ctx, spec, told, &s);
    if (status >= 0) status = run(s, &model);
    sk_search_free(s);
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

/* The inputs first; then a search over those that are needed. */
static sock_status search_inputs(sock_context *ctx, const sk_tune_spec *given, sock_model **out, sk_tune_outcome *told)
{
    sk_tune_spec spec = *given;
    sk_inputs inputs = {0};
    sk_inputs_told gains = {0};
    sock_data *data = NULL, *held = NULL;
    const double begun = sk_seconds();
    sock_status status;
    SK_GO(sk_choose_inputs(ctx, given, &inputs, &gains));
    if (given->validation) SK_GO(sk_inputs_part(ctx, given->validation, &inputs, &held));
    SK_GO(sk_inputs_part(ctx, given->data, &inputs, &data));
    sk_inputs_shrink(&inputs);
    if (data) spec.data = data;
    if (held) spec.validation = held;
    spec.inputs = &inputs;
    if (spec.budget > 0) spec.budget = fmax(SK_BUDGET_LEAST, spec.budget - (sk_seconds() - begun));
    SK_GO(search(ctx, &spec, out, told));
    told->inputs = gains;
    gains = (sk_inputs_told){0};
out:
    sk_inputs_told_clear(&gains);
    sk_inputs_clear(&inputs);
    sock_data_free(data);
    sock_data_free(held);
    return status;
}

sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    return (spec->data->inputs ? search_inputs : search)(ctx, spec, out, told);
}
