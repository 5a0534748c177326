/* constantdrift.c - a drift that tells of the data no more than a constant. A penalty that is right for predictions
 * makes such a drift nearly 0, with an error as small: what is shown is the mean of the increments and the error of a
 * mean. */
#include "tune/searchstate.h"

sock_status sk_list_free_constant(const sk_search *s, sk_candidates *list, size_t *place)
{
    sk_tune_spec blind = *s->spec;
    sk_candidates own = {0};
    blind.drift = blind.diffusion = "constant";
    *place = sk_free_constant(list);
    if (*place < SK_MOST) return SOCK_OK;
    *place = list->drifts;
    SK_TRY(sk_grow(s->ctx, &list->drift, &list->drift_capacity, *place + 1, sizeof *list->drift));
    SK_TRY(sk_candidates_new(s->ctx, &blind, s->rows, false, &own));
    own.drift[0].free = true;
    list->drift[list->drifts++] = own.drift[0]; /* which owns its name and its kernel */
    own.drifts = 0;
    sk_candidates_clear(&own);
    return SOCK_OK;
}

/* Under the views of the last pass, which cost nothing more: whether the gain is out of question. */
static sock_status gains_clearly(const sk_search *s, size_t place, bool *clearly)
{
    const sk_trial *lead = s->drift[s->choice.drift];
    sk_trial *f = NULL;
    *clearly = false;
    if (!s->views || sk_views_rows(s->views) != s->rows) return SOCK_OK;
    SK_TRY(sk_try_drift(s->ctx, s->views, &s->list.drift[place], s->rows->folds, &f));
    *clearly = sk_slope_is_clear(lead->score - f->score);
    sk_trial_free(f);
    return SOCK_OK;
}

/* Whether the leading drift predicts better than a constant one, both under the views of the final model. */
static sock_status gains(sk_search *s, size_t place, sk_side_fit *t, bool *enough)
{
    sk_trial *f = NULL;
    SK_TRY(gains_clearly(s, place, enough));
    if (*enough) return SOCK_OK;
    SK_TRY(sk_search_mixture(s, &s->choice, &t->model));
    SK_TRY(sk_side_drift(s, &s->list.drift[place], sk_all_diagonal(s, &s->choice), t));
    SK_TRY(sk_try_drift(s->ctx, t->views, &s->list.drift[s->choice.drift], s->rows->folds, &f));
    *enough = sk_worth_a_slope(s->rows->d, f->score - t->f->score);
    sk_trial_free(f);
    sk_search_log(s, "constant drift", "drift", s->list.drift[place].name, t->f->l, t->f->score, false, t->f->seconds);
    return SOCK_OK;
}

static sock_status take(sk_search *s, size_t place, sk_side_fit *t)
{
    SK_TRY(sk_side_remains(s, t));
    sk_keep_rivals(s);
    for (size_t i = 0; i < SK_MOST; i++) s->choice.drift_share[i] = i == place;
    s->choice.drift = s->best_drift = place;
    sk_replace(&s->drift[place], t->f);
    t->f = NULL;
    return sk_choose_floor(s, t->remains, &s->choice);
}

/* Diffusions stay as they are. */
static sock_status prefer_constant_drift(sk_search *s)
{
    sk_side_fit t = {0};
    size_t place;
    bool enough = true;
    SK_TRY(sk_list_free_constant(s, &s->list, &place));
    sock_status status = gains(s, place, &t, &enough);
    if (status >= 0 && !enough) status = take(s, place, &t);
    sk_side_fit_clear(&t);
    if (status == SOCK_ENUMERIC) sk_begin(s->ctx); /* a constant drift that cannot be had is no news */
    return sk_tolerate(status);
}

sock_status sk_stage_constant_drift(sk_search *s, const sk_stage *stage)
{
    if (s->fell_back) {
        if (s->list.drift[0].free) return SOCK_OK;
        SK_TRY(sk_free_constants(s));
        sk_fall_back(s);
        return SOCK_OK;
    }
    if (!sk_free_choice(s) || s->list.drift[s->choice.drift].free || s->list.drifts >= SK_MOST) return SOCK_OK;
    return sk_search_leave_out(s, stage->name) ? SOCK_OK : prefer_constant_drift(s);
}
