/* plan.c - see plan.h. */
#include "tune/plan.h"

#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

static void clear_list(size_t count, sk_planned *list)
{
    for (size_t i = 0; list && i < count; i++) {
        sk_free(list[i].kernel);
        sk_free(list[i].rates.value);
    }
    sk_free(list);
}

void sk_plan_clear(sk_plan *p)
{
    sk_tune_outcome told = {.noise = p->noise, .search = p->search};
    sk_tune_outcome_clear(&told);
    sk_texts_clear(&p->states);
    sk_free(p->digest);
    sk_free(p->centre.value);
    sk_free(p->scale.value);
    clear_list(p->drifts, p->drift);
    clear_list(p->diffusions, p->diffusion);
    sock_model_free(p->model);
    sock_model_free(p->rival_model);
    sk_free(p->rival);
    *p = (sk_plan){0};
}

/* ---- Make ---- */

static sock_status copy_numbers(sock_context *ctx, size_t n, const double *value, sk_numbers *out)
{
    out->value = sk_doubles(ctx, n, 1);
    if (!out->value) return SOCK_ENOMEM;
    out->count = n;
    memcpy(out->value, value, n * sizeof *value);
    return SOCK_OK;
}

static sock_status make_rates(sock_context *ctx, uint64_t bits, sk_numbers *out)
{
    double list[8 * sizeof bits];
    size_t count = 0;
    for (size_t k = 0; k < 8 * sizeof bits; k++)
        if (bits >> k & 1) list[count++] = (double)k;
    return count ? copy_numbers(ctx, count, list, out) : SOCK_OK;
}

static sock_status make_drifts(const sk_search *s, sk_plan *out)
{
    out->drift = sk_alloc(s->ctx, s->list.drifts, sizeof *out->drift);
    if (!out->drift) return SOCK_ENOMEM;
    out->drifts = s->list.drifts;
    for (size_t i = 0; i < out->drifts; i++) {
        sk_planned *c = &out->drift[i];
        *c = (sk_planned){.share = s->choice.drift_share[i], .passes = s->drifts[i], .lost = s->lost[i]};
        c->l = (double)NAN;
        if (!s->fell_back) out->constants += s->list.drift[i].free;
        if (!(c->kernel = sk_strdup(s->ctx, s->list.drift[i].name))) return SOCK_ENOMEM;
    }
    out->free = s->fell_back && s->list.drift[0].free;
    return SOCK_OK;
}

static sock_status make_diffusions(const sk_search *s, sk_plan *out)
{
    out->diffusion = sk_alloc(s->ctx, s->list.diffusions, sizeof *out->diffusion);
    if (!out->diffusion) return SOCK_ENOMEM;
    out->diffusions = s->list.diffusions;
    for (size_t i = 0; i < out->diffusions; i++) {
        sk_planned *c = &out->diffusion[i];
        const sk_trial *t = s->diffusion[i];
        *c = (sk_planned){.share = s->choice.share[i], .passes = s->diffusions[i], .unpolished = s->unpolished[i]};
        c->l = t ? t->l : (double)NAN;
        if (!(c->kernel = sk_strdup(s->ctx, s->list.diffusion[i].name))) return SOCK_ENOMEM;
        if (t) SK_TRY(make_rates(s->ctx, sk_trial_rates(t), &c->rates));
    }
    return SOCK_OK;
}

static sock_status make_rivals(const sk_search *s, sk_plan *out)
{
    size_t count = 0;
    for (size_t i = 0; i < SK_MOST; i++) count += s->rival[i] != NULL;
    if (!count) return SOCK_OK;
    out->rival = sk_alloc(s->ctx, count, sizeof *out->rival);
    if (!out->rival) return SOCK_ENOMEM;
    SK_TRY(sk_model_new(s->ctx, s->rows->d, (const char *const *)s->spec->data->state, &out->rival_model));
    for (size_t i = 0; i < SK_MOST; i++) {
        const sk_trial *t = s->rival[i];
        sk_drift_term *term = NULL;
        if (!t) continue;
        SK_TRY(sk_trial_drift_term(s->ctx, t, t->folds, 1, &term));
        SK_TRY(sk_model_add_drift(s->ctx, out->rival_model, term));
        out->rival[out->rivals++] = (sk_planned_rival){i, t->score, t->dof};
    }
    return SOCK_OK;
}

static sock_status make(const sk_search *s, sk_plan *out)
{
    const size_t d = s->rows->d;
    const sk_units *units = s->sets.units;
    for (size_t k = 0; k < d; k++) SK_TRY(sk_texts_add(s->ctx, &out->states, s->spec->data->state[k]));
    if (units) SK_TRY(copy_numbers(s->ctx, d, units->centre, &out->centre));
    if (units) SK_TRY(copy_numbers(s->ctx, d, units->scale, &out->scale));
    SK_TRY(make_drifts(s, out));
    SK_TRY(make_diffusions(s, out));
    SK_TRY(sk_search_mixture(s, &s->choice, &out->model));
    return make_rivals(s, out);
}

sock_status sk_plan_make(const sk_search *s, sk_plan *out)
{
    *out = (sk_plan){.folds = s->rows->folds,
                     .too_few = s->told->too_few,
                     .fell_back = s->fell_back,
                     .lead = s->choice.drift,
                     .floor = s->choice.floor,
                     .shrink = s->choice.shrink,
                     .diagonal = s->model_diagonal};
    const sock_status status = make(s, out);
    if (status < 0) sk_plan_clear(out);
    return status;
}

/* ---- Take ---- */

static sock_status list_candidates(sk_search *s, const sk_plan *p)
{
    sk_tune_spec spec = *s->spec;
    size_t place;
    if (p->fell_back) spec.drift = spec.diffusion = "constant";
    SK_TRY(sk_candidates_new(s->ctx, &spec, s->rows, false, &s->list));
    if (p->fell_back) s->list.drift[0].free = p->free;
    for (size_t i = 0; i < p->constants && s->list.drifts < SK_MOST; i++)
        SK_TRY(sk_list_free_constant(s, &s->list, &place));
    return SOCK_OK;
}

static sock_status compare(const sk_search *s, const char *field, size_t count, const sk_candidate *candidate,
                           size_t planned, const sk_planned *list)
{
    const char *place = s->spec->plan->place;
    if (count != planned)
        return sk_fail(s->ctx, SOCK_EINPUT, "%s: %ss has %zu entries; these data and options have %zu candidates",
                       place, field, planned, count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidate[i].name, list[i].kernel) != 0)
            return sk_fail(s->ctx, SOCK_EINPUT, "%s: %ss[%zu].kernel is '%s'; these data and options have '%s'", place,
                           field, i, list[i].kernel, candidate[i].name);
    return SOCK_OK;
}

/* Units are made of the sample alone, which is that of the plan; other ones are those of another program. */
static sock_status compare_units(const sk_search *s, const sk_plan *p)
{
    const sk_units *units = s->sets.units;
    const size_t d = s->rows->d, count = units ? d : 0;
    bool same = p->centre.count == count && p->scale.count == count && p->folds == s->rows->folds;
    for (size_t k = 0; same && k < count; k++)
        same = p->centre.value[k] == units->centre[k] && p->scale.value[k] == units->scale[k];
    if (same) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EINPUT,
                   "%s: centre, scale or folds are not those of these data and options; make the plan again", p->place);
}

/* What a pass asks of a diffusion of the sample. */
static sock_status remember(const sk_search *s, const sk_planned *c, sk_trial **out)
{
    if (isnan(c->l)) return SOCK_OK;
    *out = sk_alloc(s->ctx, 1, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    (*out)->l = c->l;
    for (size_t k = 0; k < c->rates.count; k++) (*out)->remembered_rates |= (uint64_t)1 << (unsigned)c->rates.value[k];
    return SOCK_OK;
}

/* The term is left without what the trial has of it. */
static sock_status take_rival(const sk_search *s, const sk_planned_rival *rival, sk_drift_term *term, sk_trial **out)
{
    sk_trial *t = *out = sk_alloc(s->ctx, 1, sizeof **out);
    if (!t) return SOCK_ENOMEM;
    *t = (sk_trial){.map = term->map, .p = sk_features_count(term->map), .d = term->d, .score = rival->score};
    t->field = SK_DRIFT;
    t->size = t->p * t->d;
    t->dof = rival->dof;
    t->solution = term->weight;
    term->map = NULL;
    term->weight = NULL;
    return SOCK_OK;
}

static void take_told(sk_search *s, sk_plan *p)
{
    s->told->search = p->search;
    s->told->noise = p->noise;
    s->told->too_few = p->too_few;
    p->search = (sk_search_table){0};
    p->noise = (sk_noise_told){0};
}

sock_status sk_plan_take(sk_search *s)
{
    sk_plan *p = s->spec->plan;
    SK_TRY(compare_units(s, p));
    SK_TRY(list_candidates(s, p));
    SK_TRY(compare(s, "drift", s->list.drifts, s->list.drift, p->drifts, p->drift));
    SK_TRY(compare(s, "diffusion", s->list.diffusions, s->list.diffusion, p->diffusions, p->diffusion));
    s->choice = (sk_choice){.drift = p->lead, .floor = p->floor, .shrink = p->shrink};
    for (size_t i = 0; i < p->drifts; i++) {
        s->choice.drift_share[i] = p->drift[i].share;
        s->drifts[i] = p->drift[i].passes;
        s->lost[i] = p->drift[i].lost;
    }
    for (size_t i = 0; i < p->diffusions; i++) {
        s->choice.share[i] = p->diffusion[i].share;
        s->diffusions[i] = p->diffusion[i].passes;
        s->unpolished[i] = p->diffusion[i].unpolished;
        SK_TRY(remember(s, &p->diffusion[i], &s->diffusion[i]));
    }
    for (size_t i = 0; i < p->rivals; i++)
        SK_TRY(take_rival(s, &p->rival[i], p->rival_model->drift[i], &s->rival[p->rival[i].place]));
    s->fell_back = p->fell_back;
    sk_search_take_model(s, p->model, p->diagonal);
    p->model = NULL;
    take_told(s, p);
    return SOCK_OK;
}
