/* refitting.c - the model once more, with nodes and weights of its own: as long as that gains, and undone where it
 * loses. Where steps are long or a is almost singular, what a model says depends much on the one whose nodes it was
 * fitted with. */
#include "tune/searchstate.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The end of a search as it was before another pass: owned, moved from the search and back. Fields have the names that
 * they have there. */
typedef struct ended {
    sk_trial *drift[SK_MOST], *diffusion[SK_MOST];
    bool drifts[SK_MOST], diffusions[SK_MOST];
    double judged[SK_MOST];
    size_t best_drift, best_diffusion;
    sock_model *model;
    bool model_diagonal;
    sk_views *views;
    sk_remains *remains;
    sk_choice choice;
    double calibration, final_score, *final_cluster;
} ended;

/* What a pass makes anew, and so what is undone with it: the one list of it. `owned`: a search from which it was moved
 * has none. The array is of a negative size where the two fields are not alike. */
#define ALIKE(member) sizeof(char[sizeof(((ended *)0)->member) == sizeof(((sk_search *)0)->member) ? 1 : -1])
#define PART(member, owned)                                                                                            \
    {                                                                                                                  \
        offsetof(sk_search, member), offsetof(ended, member), ALIKE(member) * sizeof(((ended *)0)->member), owned      \
    }

static const struct {
    size_t in_search, in_ended, size;
    bool owned;
} parts[] = {PART(drift, true),           PART(diffusion, true),    PART(drifts, false),
             PART(diffusions, false),     PART(judged, false),      PART(best_drift, false),
             PART(best_diffusion, false), PART(model, true),        PART(model_diagonal, false),
             PART(views, true),           PART(remains, true),      PART(choice, false),
             PART(calibration, false),    PART(final_score, false), PART(final_cluster, true)};
enum { PARTS = sizeof parts / sizeof *parts };

static void ended_clear(ended *e)
{
    sk_remains_free(e->remains);
    sk_views_free(e->views);
    sk_clear_trials(e->drift);
    sk_clear_trials(e->diffusion);
    sock_model_free(e->model);
    sk_free(e->final_cluster);
}

/* Everything moves; the search is left with choices, and without trials. */
static void move_out(sk_search *s, ended *e)
{
    for (size_t i = 0; i < PARTS; i++) {
        char *from = (char *)s + parts[i].in_search;
        memcpy((char *)e + parts[i].in_ended, from, parts[i].size);
        if (parts[i].owned) memset(from, 0, parts[i].size);
    }
}

static void move_back(sk_search *s, const ended *e)
{
    ended failed;
    move_out(s, &failed);
    ended_clear(&failed);
    for (size_t i = 0; i < PARTS; i++)
        memcpy((char *)s + parts[i].in_search, (const char *)e + parts[i].in_ended, parts[i].size);
}

/* Trials that know nothing but their last penalty, near which the next pass looks first, and a drift's last score. */
static sock_status remember(sk_search *s, const ended *e)
{
    for (size_t i = 0; i < SK_MOST; i++) {
        const sk_trial *of[] = {e->drift[i], e->diffusion[i]};
        sk_trial **place[] = {&s->drift[i], &s->diffusion[i]};
        for (size_t k = 0; k < 2; k++) {
            if (!of[k]) continue;
            if (!(*place[k] = sk_alloc(s->ctx, 1, sizeof **place[k]))) return SOCK_ENOMEM;
            (*place[k])->l = of[k]->l;
            (*place[k])->score = of[k]->score;
            (*place[k])->rows = of[k]->rows;
        }
    }
    return SOCK_OK;
}

/* A last pass under another model, which is taken over. *gain: what it gained, held out; one that loses is undone. */
static sock_status pass_under(sk_search *s, const sk_stage *stage, sock_model *model, bool diagonal, double *gain)
{
    ended before;
    move_out(s, &before);
    sk_search_take_model(s, model, diagonal);
    sock_status status = remember(s, &before);
    if (status >= 0) status = sk_last_pass(s, stage);
    *gain = status >= 0 ? s->final_score - before.final_score : -(double)INFINITY;
    if (sk_round_accepted(*gain, 0))
        ended_clear(&before);
    else
        move_back(s, &before);
    if (status == SOCK_ENUMERIC) sk_begin(s->ctx);
    return sk_tolerate(status);
}

/* The last pass is solved as a model needs it. One that falls behind the model that was confirmed before is done again
 * with the nodes and weights which that had. */
sock_status sk_stage_final(sk_search *s, const sk_stage *stage)
{
    double gain;
    sk_stage last = *stage;
    if (!s->spec->polish) last.care = SK_LAST;
    SK_TRY(sk_last_pass(s, &last));
    if (!s->under || sk_round_accepted(s->final_score, s->score)) return SOCK_OK;
    sock_model *under = s->under;
    s->under = NULL;
    return pass_under(s, &last, under, s->under_diagonal, &gain);
}

static sock_status refit(sk_search *s, const sk_stage *stage, double *gain)
{
    sock_model *model = NULL;
    SK_TRY(sk_search_mixture(s, &s->choice, &model));
    for (size_t i = 0; i < s->list.diffusions; i++) s->diffusions[i] = s->choice.share[i] > 0;
    return pass_under(s, stage, model, sk_all_diagonal(s, &s->choice), gain);
}

sock_status sk_stage_refit(sk_search *s, const sk_stage *stage)
{
    double gain = (double)INFINITY;
    for (size_t pass = 0; pass < SK_REFITS && sk_worth_refitting(gain); pass++) {
        if (pass > 0 && sk_search_seconds_left(s) <= 0) break;
        SK_TRY(refit(s, stage, &gain));
    }
    return SOCK_OK;
}
