/* allrows.c - the end of a search on a part of the rows: the diffusions that it chose, and the drifts that may lead on
 * more rows, are fitted to all of them, with penalties, shares and floor anew, in passes over blocks of rows. Nothing
 * here grows with their number but the rows themselves. */
#include "tune/searchstate.h"

#include "base/comm.h"
#include "tune/plan.h"

/* Noise and long steps are asked about on the sample of a stream: before the passes, which know of neither. */
static sock_status ask_sample(sk_search *s)
{
    sock_model *model = NULL;
    if (!s->spec->stream || !s->spec->after) return SOCK_OK;
    const sock_status status = s->spec->after(s, &model);
    const bool found = model != NULL;
    sock_model_free(model);
    if (status < 0 || !found) return status;
    return sk_fail(
        s->ctx, SOCK_EINPUT,
        "the sample of %zu steps asks for %s, and a stream is fitted without; give --noise none and --substeps 1 to "
        "do so all the same, or fit a part of the data without --stream",
        s->rows->n, s->told->noise.used ? "measurement noise" : "long steps in substeps");
}

/* Where the model is constants, those that it is to be compared with have only their score. */
static void forget_constants(sk_search *s)
{
    sk_candidates_clear(&s->constants);
    sk_trial_free(s->constant_drift);
    sk_trial_free(s->constant_diffusion);
    s->constant_drift = s->constant_diffusion = NULL;
}

/* Which candidates go on, under which model. */
static sock_status decide(sk_search *s)
{
    sock_model *model = NULL;
    SK_TRY(ask_sample(s));
    if (s->spec->stream) SK_TRY(sk_same_on_all(s->ctx, s->choice.share, sizeof s->choice.share, "the sample"));
    SK_TRY(sk_search_mixture(s, &s->choice, &model));
    sk_search_take_model(s, model, sk_all_diagonal(s, &s->choice));
    const sk_field_trials drifts = sk_drift_trials(s);
    sk_drifts_for_all(&drifts, s->rows->d, s->choice.drift_share, s->lost, s->drifts);
    sk_largest_shares(s->list.diffusions, s->choice.share, s->diffusions); /* each is a pass of its own */
    return SOCK_OK;
}

static sock_status keep_plan(const sk_search *s)
{
    sk_plan plan;
    if (!s->spec->stream || !s->spec->keep_plan) return SOCK_OK;
    SK_TRY(sk_search_logged(s)); /* it is in the plan */
    SK_TRY(sk_plan_make(s, &plan));
    plan.search = s->told->search; /* lent */
    plan.noise = s->told->noise;
    const sock_status status = s->spec->keep_plan(s->spec->keeper, &plan);
    plan.search = (sk_search_table){0};
    plan.noise = (sk_noise_told){0};
    sk_plan_clear(&plan);
    return status;
}

sock_status sk_stage_all_rows(sk_search *s, const sk_stage *stage)
{
    if (!s->spec->plan) SK_TRY(decide(s));
    SK_TRY(keep_plan(s));
    s->rows = s->sets.all;
    sk_free(s->richer); /* its score is that of other rows */
    s->richer = NULL;
    SK_TRY(sk_constant_score(s));
    if (s->fell_back) forget_constants(s);
    SK_TRY(sk_last_pass(s, stage));
    if (s->fell_back) {
        s->choice.floor = 0;
        s->constant_score = s->diffusion[s->best_diffusion]->score;
    }
    return SOCK_OK;
}
