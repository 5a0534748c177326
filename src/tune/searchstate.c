/* searchstate.c - small services for the stages: views, residuals, models out of trials. */
#include "tune/searchstate.h"

#include "model/modelintegral.h"

#include <math.h>
#include <string.h>

double sk_search_tolerance(const sk_search *s, sk_care care)
{
    if (care == SK_ROUGH) return SK_TOLERANCE_PILOT;
    if (s->spec->tolerance > 0) return s->spec->tolerance;
    return care == SK_USUAL && s->rows->d > SK_FEW_DIMENSIONS ? SK_TOLERANCE_MANY : SK_TOLERANCE;
}

sk_field_trials sk_drift_trials(const sk_search *s)
{
    return (sk_field_trials){s->list.drifts, s->rows->clusters, s->list.drift, s->drift, s->best_drift};
}

sk_field_trials sk_diffusion_trials(const sk_search *s)
{
    return (sk_field_trials){s->list.diffusions, s->rows->clusters, s->list.diffusion, s->diffusion, s->best_diffusion};
}

static sock_status evaluate(sock_context *ctx, const void *model, size_t count, const double *x, double *f, double *a)
{
    return sk_model_evaluate(ctx, model, count, x, f, a);
}

static sock_status integrate(sock_context *ctx, const void *model, const sk_rule *rule, double *out, bool *done)
{
    return sk_model_integrate(ctx, model, rule, out, done);
}

sock_status sk_search_views(const sk_search *s, const sk_transitions *rows, const sock_model *model, bool diagonal,
                            sk_views **out)
{
    sk_view_spec look = s->sets.look;
    look.fields = evaluate;
    look.integral = integrate;
    if (rows->d > SK_MANY_DIMENSIONS && !(look.keep > 0)) look.keep = SK_KEPT_BYTES_MANY;
    look.model = model;
    look.conditional = s->spec->conditional;
    look.diagonal = diagonal;
    return sk_views_new(s->ctx, rows, &look, out);
}

sock_status sk_search_remains(const sk_search *s, const sk_views *views, sk_trial *const *drift, sk_remains **out)
{
    static const double one = 1;
    const sk_mixture whole = {1, drift, &one};
    return sk_remains_new(s->ctx, views, &whole, sk_views_spec(views)->model && s->spec->correct, out);
}

bool sk_on_all_rows(const sk_search *s) { return s->rows == s->sets.all && s->rows != s->sets.search; }

sock_status sk_few_new(const sk_search *s, const sk_remains *all, const sk_mixture *drift, sk_few *out)
{
    const sk_view_spec *look = sk_views_spec(sk_remains_views(all));
    *out = (sk_few){.remains = all};
    if (!sk_on_all_rows(s)) return SOCK_OK;
    SK_TRY(sk_search_views(s, s->sets.search, look->model, look->diagonal, &out->views));
    SK_TRY(sk_remains_new(s->ctx, out->views, drift, sk_remains_corrected(all), &out->own));
    out->remains = out->own;
    return SOCK_OK;
}

void sk_few_clear(sk_few *few)
{
    sk_remains_free(few->own);
    sk_views_free(few->views);
}

sock_status sk_renew_views(sk_search *s)
{
    sk_remains_free(s->remains);
    s->remains = NULL;
    sk_views_free(s->views);
    s->views = NULL;
    return sk_search_views(s, s->rows, s->model, s->model_diagonal, &s->views);
}

sock_status sk_renew_remains(sk_search *s, const double *share)
{
    sk_remains_free(s->remains);
    s->remains = NULL;
    const sk_mixture drift = {s->list.drifts, s->drift, share};
    return sk_remains_new(s->ctx, s->views, &drift, s->spec->correct, &s->remains);
}

sock_status sk_model_of_two(const sk_search *s, sk_trial *f, sk_trial *a, sock_model **out)
{
    static const double one = 1;
    const sk_held_model held = {{1, &f, &one}, {1, &a, &one}, 0};
    return sk_held_model_without(s->ctx, &held, f->folds, (const char *const *)s->spec->data->state, out);
}

sk_held_model sk_chosen(const sk_search *s, const sk_choice *choice)
{
    return (sk_held_model){{s->list.drifts, s->drift, choice->drift_share},
                           {s->list.diffusions, s->diffusion, choice->share},
                           choice->shrink};
}

sock_status sk_search_mixture(const sk_search *s, const sk_choice *choice, sock_model **out)
{
    const sk_held_model held = sk_chosen(s, choice);
    SK_TRY(sk_held_model_without(s->ctx, &held, s->rows->folds, (const char *const *)s->spec->data->state, out));
    (*out)->floor = choice->floor;
    return SOCK_OK;
}

static void forget_views(sk_side_fit *t)
{
    sk_remains_free(t->remains);
    t->remains = NULL;
    sk_views_free(t->views);
    t->views = NULL;
}

void sk_side_fit_clear(sk_side_fit *t)
{
    forget_views(t);
    sk_trial_free(t->f);
    sk_trial_free(t->a);
    sock_model_free(t->model);
}

sock_status sk_side_drift(const sk_search *s, const sk_candidate *drift, bool diagonal, sk_side_fit *t)
{
    forget_views(t);
    SK_TRY(sk_search_views(s, s->rows, t->model, diagonal, &t->views));
    sk_replace(&t->f, NULL);
    return sk_try_drift(s->ctx, t->views, drift, s->rows->folds, &t->f);
}

sock_status sk_side_remains(const sk_search *s, sk_side_fit *t)
{
    return sk_search_remains(s, t->views, &t->f, &t->remains);
}

void sk_search_take_model(sk_search *s, sock_model *model, bool diagonal)
{
    sock_model_free(s->model);
    s->model = model;
    s->model_diagonal = diagonal;
}

void sk_replace(sk_trial **place, sk_trial *trial)
{
    sk_trial_free(*place);
    *place = trial;
}

void sk_clear_trials(sk_trial **trials)
{
    for (size_t i = 0; i < SK_MOST; i++) sk_replace(&trials[i], NULL);
}

void sk_choose_one(size_t i, size_t j, sk_choice *choice)
{
    *choice = (sk_choice){.drift = i};
    choice->drift_share[i] = choice->share[j] = 1;
}
