/* ending.c - the end of the search: from the last trials to one model.
 *
 *   1. the simplest drift near the best one, if it is linear or a short equation; else the average of the near-best;
 *   2. polish of the best diffusions by quasi-likelihood, kept where the held-out score is better;
 *   3. the average of the near-best diffusions;
 *   4. a floor on a. */
#include "tune/searchstate.h"
#include "tune/tally.h"

#include <math.h>
#include <string.h>

/* ---- Polish ---- */

sock_status sk_polish_trial(sk_search *s, const char *name, const sk_remains *few, const sk_remains *all,
                            sk_trial **trial, double *gain)
{
    sk_trial *polished = NULL;
    *gain = 0;
    SK_TRY(sk_tolerate(sk_try_polish(s->ctx, few, all, *trial, &polished)));
    if (!polished) return SOCK_OK;
    sk_search_log(s, "polish", "diffusion", name, polished->l, polished->score, false, polished->seconds);
    *gain = polished->score - (*trial)->score;
    if (*gain > 0)
        sk_replace(trial, polished);
    else
        sk_trial_free(polished);
    return SOCK_OK;
}

static sock_status polish(sk_search *s, const sk_remains *few)
{
    const sk_field_trials trials = sk_diffusion_trials(s);
    size_t list[SK_MOST];
    const size_t count = sk_to_polish(&trials, s->unpolished, list);
    for (size_t k = 0; k < count; k++) {
        const size_t next = list[k];
        double gain = 0;
        SK_TRY(sk_polish_trial(s, s->list.diffusion[next].name, few, s->remains, &s->diffusion[next], &gain));
        s->unpolished[next] = sk_polish_is_hopeless(gain);
    }
    sk_begin(s->ctx);
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (s->diffusion[i] && s->diffusion[i]->score > s->diffusion[s->best_diffusion]->score) s->best_diffusion = i;
    return SOCK_OK;
}

/* ---- Floor ---- */

/* The average of the diffusions on the rows of a block, each by what it says of a row without the row's fold. */
static sock_status average_held(sock_context *ctx, const sk_mixture *a, const sk_view *v, double *held)
{
    const size_t size = v->n * v->d * v->d;
    double *part = sk_doubles_unset(ctx, size, 1);
    sock_status status = part ? SOCK_OK : SOCK_ENOMEM;
    memset(held, 0, size * sizeof *held);
    for (size_t i = 0; status >= 0 && i < a->count; i++) {
        if (!(a->share[i] > 0)) continue;
        status = sk_trial_held(ctx, a->trial[i], v, part);
        if (status >= 0) sk_axpy(size, a->share[i], part, held);
    }
    sk_free(part);
    return status;
}

/* Forms of a that are scored together: the parts times keep, and a floor. Sums over the held-out rows. */
enum { MOST_FORMS = SK_FLOORS > SK_SHRINKS ? SK_FLOORS : SK_SHRINKS };

/* Sums: of I a, and h: their ratio is the mean of a; of squared residuals, and what they should be: tr F (I a) F' of
 * the parts, and of a floor of 1. */
enum { TRACE, TIME, SQUARES, VARIANCE, ONE, SUMS };

typedef struct forms {
    const sk_search *s;
    sk_mixture a;
    size_t count;
    bool apart; /* blocks are visited by several threads */
    double keep[MOST_FORMS], level[MOST_FORMS];
    double sum[SUMS], low[SUMS]; /* over rows; low: base/sums.h */
    double score[MOST_FORMS];    /* -infinity where there is none */
    double *cluster;             /* count x clusters */
    sk_tally tally;              /* of these */
} forms;

/* Squared residuals of a row and what a says they should be, tr F A F'. */
static void compare_squares(const sk_view *v, size_t i, const double *e, const double *a, double *sum)
{
    const size_t d = v->d;
    const double *left = v->left + i * d * d;
    const bool diagonal = sk_is_diagonal(d, a);
    for (size_t r = 0; r < d; r++) {
        sum[SQUARES] += e[r] * e[r];
        for (size_t k = 0; k < d; k++) {
            double product = 0;
            for (size_t j = diagonal ? k : 0; j < (diagonal ? k + 1 : d); j++)
                product += left[r * d + j] * a[j * d + k];
            sum[VARIANCE] += product * left[r * d + k];
            sum[ONE] += left[r * d + k] * left[r * d + k] * v->h[i];
        }
    }
}

/* What no score needs, of a block. */
static void add_traces(forms *w, const sk_block *block, const double *held)
{
    const sk_view *v = block->view;
    const size_t d = v->d;
    const double *e = block->e + v->fold * v->n * d;
    double part[SUMS] = {0}, *sum = w->apart ? part : w->sum;
    for (size_t i = 0; i < v->n; i++) {
        sum[TIME] += v->h[i];
        for (size_t k = 0; k < d; k++) sum[TRACE] += held[(i * d + k) * d + k] / (double)d;
        compare_squares(v, i, e + i * d, held + i * d * d, sum);
    }
    if (!w->apart) return;
    sk_sums_lock(w->s->ctx);
    sk_sums_take(SUMS, part, w->sum, w->low);
    sk_sums_unlock(w->s->ctx);
}

static sock_status add_scores(forms *w, const sk_block *block, const double *held)
{
    const sk_view *v = block->view;
    const size_t size = v->n * v->d * v->d;
    const double *e = block->e + v->fold * v->n * v->d;
    double *value = sk_doubles_unset(w->s->ctx, v->n, 1), *space = sk_doubles(w->s->ctx, sk_scores_space(v->d), 1);
    double *kept = sk_doubles_unset(w->s->ctx, size, 1);
    sock_status status = value && space && kept ? SOCK_OK : SOCK_ENOMEM;
    for (size_t g = 0; status >= 0 && g < w->count; g++) {
        const size_t first = g * w->s->rows->clusters;
        for (size_t i = 0; i < size; i++) kept[i] = w->keep[g] * held[i];
        sk_view_scores(v, 0, v->n, e, kept, w->level[g], value, space);
        for (size_t i = 0; !w->apart && i < v->n; i++) w->score[g] += value[i];
        sk_tally_take(w->s->ctx, &w->tally, first, v->n, v->cluster, value);
    }
    sk_free(value);
    sk_free(space);
    sk_free(kept);
    return status;
}

/* From none. */
static sock_status begin_scores(forms *w, size_t count)
{
    const size_t clusters = w->s->rows->clusters;
    w->count = count;
    memset(w->cluster, 0, count * clusters * sizeof *w->cluster);
    memset(w->score, 0, sizeof w->score);
    sk_tally_clear(&w->tally);
    return sk_tally_new(w->s->ctx, w->apart, count * clusters, w->cluster, &w->tally);
}

static void sum_scores(forms *w)
{
    for (size_t g = 0; g < w->count; g++) {
        const double *cluster = w->cluster + g * w->s->rows->clusters;
        for (size_t u = 0; w->apart && u < w->s->rows->clusters; u++) w->score[g] += cluster[u];
        if (!isfinite(w->score[g])) w->score[g] = -(double)INFINITY;
    }
}

/* A floor as a share of the mean of a. */
static double level_of(const forms *w, double share) { return share * w->sum[TRACE] / w->sum[TIME]; }

typedef struct pass {
    forms *w;
    const sk_remains *remains;
    bool scores;
} pass;

static sock_status visit_block(sock_context *ctx, void *arg, size_t b)
{
    const pass *p = arg;
    sk_block block;
    SK_TRY(sk_remains_take(ctx, p->remains, b, &block));
    const sk_view *v = block.view;
    sock_status status = SOCK_OK;
    if (v->fold < v->folds) {
        double *held = sk_doubles_unset(ctx, v->n * v->d, v->d);
        status = held ? average_held(ctx, &p->w->a, v, held) : SOCK_ENOMEM;
        if (status >= 0 && !p->scores) add_traces(p->w, &block, held);
        if (status >= 0 && p->scores) status = add_scores(p->w, &block, held);
        sk_free(held);
    }
    sk_remains_give(p->remains, &block);
    return status;
}

/* Passes over the blocks that are held out: first traces and squares, then scores. */
static sock_status visit(forms *w, const sk_remains *remains, bool scores)
{
    const sk_views *views = sk_remains_views(remains);
    pass p = {w, remains, scores};
    const sk_transitions *rows = sk_views_rows(views);
    SK_TRY(sk_blocks_each(w->s->ctx, rows, w->apart, visit_block, &p));
    if (rows->store && !scores) sk_sum_over_all(w->s->ctx, SUMS, w->sum, w->low);
    if (scores) sk_tally_over_all(w->s->ctx, rows, &w->tally);
    if (scores) sum_scores(w);
    return SOCK_OK;
}

/* What a form scores by the likelihood of the search and by Euler's stays with the search. */
static sock_status keep_scores(sk_search *s, const forms *w, size_t chosen, const double *euler_cluster)
{
    const size_t clusters = s->rows->clusters;
    double *final = sk_doubles_unset(s->ctx, 2, clusters);
    if (!final) return SOCK_ENOMEM;
    memcpy(final, w->cluster + chosen * clusters, clusters * sizeof(double));
    memcpy(final + clusters, euler_cluster, clusters * sizeof(double));
    sk_free(s->final_cluster);
    s->final_cluster = final;
    s->final_score = w->score[chosen];
    return SOCK_OK;
}

/* Sum of the squared residuals over what a says they should be: a moment that no likelihood is fooled about. NAN: none
 * to be had. */
static double calibration(const forms *w, const sk_choice *choice)
{
    const double expected = (1 - choice->shrink) * w->sum[VARIANCE] + choice->floor * w->sum[ONE];
    return expected > 0 ? w->sum[SQUARES] / expected : (double)NAN;
}

/* Whether the part with the largest share knows bounds. */
static bool leads_bounded(const sk_mixture *a)
{
    size_t lead = 0;
    for (size_t i = 1; i < a->count; i++)
        if (a->share[i] > a->share[lead]) lead = i;
    return a->trial[lead] && sk_features_bounded(a->trial[lead]->map);
}

/* The floor, as a share of the mean of a. */
static sock_status pick_floor(sk_search *s, const sk_remains *remains, forms *w, sk_choice *choice, double *share)
{
    const sk_transitions *rows = s->rows;
    const sk_held_model model = sk_chosen(s, choice);
    double euler[SK_FLOORS] = {0}, *euler_cluster = sk_doubles(s->ctx, SK_FLOORS, rows->clusters);
    sock_status status = euler_cluster ? begin_scores(w, SK_FLOORS) : SOCK_ENOMEM;
    if (status >= 0) status = visit(w, remains, false);
    for (size_t g = 0; g < SK_FLOORS; g++) {
        w->keep[g] = 1;
        w->level[g] = level_of(w, sk_floors[g]);
    }
    if (status >= 0) status = visit(w, remains, true);
    if (status >= 0)
        status = sk_euler_score(s->ctx, rows, &s->sets.look, &model, SK_FLOORS, w->level, euler, euler_cluster);
    if (status >= 0) {
        const sk_floor_scores scores = {rows->n, rows->clusters, w->score,          w->cluster,
                                        euler,   euler_cluster,  s->constant_euler, leads_bounded(&w->a)};
        const size_t chosen = sk_pick_floor(&scores);
        choice->floor = w->level[chosen];
        *share = sk_floors[chosen];
    }
    sk_free(euler_cluster);
    return status;
}

/* A floor must not move the scale of a: the parts give way by what the held-out score wants, at most by what the floor
 * adds to their mean. */
static sock_status pick_shrink(sk_search *s, const sk_remains *remains, double share, forms *w, sk_choice *choice)
{
    double euler = 0, *euler_cluster = sk_doubles(s->ctx, s->rows->clusters, 1);
    sock_status status = euler_cluster ? begin_scores(w, share > 0 ? SK_SHRINKS : 1) : SOCK_ENOMEM;
    for (size_t k = 0; k < w->count; k++) {
        w->keep[k] = sk_shrink_keeps(share, k);
        w->level[k] = choice->floor;
    }
    if (status >= 0) status = visit(w, remains, true);
    const size_t best = sk_best_lambda(w->count, w->score);
    choice->shrink = 1 - w->keep[best];
    const sk_held_model model = sk_chosen(s, choice);
    if (status >= 0)
        status = sk_euler_score(s->ctx, s->rows, &s->sets.look, &model, 1, &choice->floor, &euler, euler_cluster);
    if (status >= 0) status = keep_scores(s, w, best, euler_cluster);
    sk_free(euler_cluster);
    return status;
}

sock_status sk_choose_floor(sk_search *s, const sk_remains *remains, sk_choice *choice)
{
    double share = 0;
    forms w = {.s = s,
               .a = sk_chosen(s, choice).diffusion,
               .apart = !sk_views_kept(sk_remains_views(remains)),
               .cluster = sk_doubles(s->ctx, MOST_FORMS, s->rows->clusters)};
    choice->floor = choice->shrink = 0;
    sock_status status = w.cluster ? pick_floor(s, remains, &w, choice, &share) : SOCK_ENOMEM;
    if (status >= 0) status = pick_shrink(s, remains, share, &w, choice);
    if (status >= 0) s->calibration = calibration(&w, choice);
    sk_tally_clear(&w.tally);
    sk_free(w.cluster);
    return status;
}

sock_status sk_floored_clusters(const sk_search *s, const sk_remains *remains, sk_trial *trial, double *score,
                                double *cluster)
{
    static const double one = 1;
    forms w = {.s = s, .a = {1, &trial, &one}}; /* only where views are kept */
    *score = trial->score;
    if (cluster && cluster != trial->cluster) memcpy(cluster, trial->cluster, s->rows->clusters * sizeof *cluster);
    if (!sk_views_kept(sk_remains_views(remains))) return SOCK_OK;
    w.cluster = sk_doubles(s->ctx, SK_USUAL_FLOORS, s->rows->clusters);
    sock_status status = w.cluster ? begin_scores(&w, SK_USUAL_FLOORS) : SOCK_ENOMEM;
    if (status >= 0) status = visit(&w, remains, false);
    for (size_t g = 0; g < SK_USUAL_FLOORS; g++) {
        w.keep[g] = 1;
        w.level[g] = level_of(&w, sk_floors[g]);
    }
    if (status >= 0) status = visit(&w, remains, true);
    if (status >= 0) {
        const size_t best = sk_best_lambda(SK_USUAL_FLOORS, w.score), clusters = s->rows->clusters;
        *score = w.score[best];
        if (cluster) memcpy(cluster, w.cluster + best * clusters, clusters * sizeof *cluster);
    }
    sk_tally_clear(&w.tally);
    sk_free(w.cluster);
    return status;
}

sock_status sk_floored_score(const sk_search *s, const sk_remains *remains, sk_trial *trial, double *score)
{
    return sk_floored_clusters(s, remains, trial, score, NULL);
}

/* Bounds that nobody named are the model's only where its leading a knows of them, or vanishes there. Where it does
 * not, the parts that know of bounds say next to nothing of them, and would refuse data beyond. */
static sock_status doubt_bounds(sk_search *s, sk_field_trials *t, sk_trial **list, double *share)
{
    size_t lead = t->best;
    bool vanishes = false;
    for (size_t i = 0; i < t->count; i++)
        if (share[i] > share[lead]) lead = i;
    if (!s->rows->bounds || s->spec->bounds_said || sk_kernel_is_bounded(t->candidate[lead].kernel)) return SOCK_OK;
    SK_TRY(sk_vanishes_at_bounds(s, s->diffusion[lead], &vanishes));
    if (vanishes) return SOCK_OK;
    t->best = lead;
    for (size_t i = 0; i < t->count; i++) {
        if (t->trial[i] && sk_kernel_is_bounded(t->candidate[i].kernel)) list[i] = NULL; /* it is t->trial */
        if (!t->trial[i]) continue;
        if (!t->trial[t->best] || t->trial[i]->score > t->trial[t->best]->score) t->best = i;
    }
    sk_diffusion_shares(t, s->spec->average, share);
    return SOCK_OK;
}

/* Shares of the diffusions, by their scores with a floor. */
static sock_status share_diffusions(sk_search *s, double *share)
{
    sk_field_trials trials = sk_diffusion_trials(s);
    sk_trial judged[SK_MOST], *list[SK_MOST] = {0};
    for (size_t i = 0; i < trials.count; i++) {
        if (!trials.trial[i]) continue;
        judged[i] = *trials.trial[i];
        list[i] = &judged[i];
        SK_TRY(sk_floored_score(s, s->remains, s->diffusion[i], &judged[i].score));
        s->judged[i] = judged[i].score;
        if (!list[trials.best] || judged[i].score > judged[trials.best].score) trials.best = i;
    }
    trials.trial = list;
    sk_diffusion_shares(&trials, s->spec->average, share);
    SK_TRY(doubt_bounds(s, &trials, list, share));
    s->best_diffusion = trials.best;
    return SOCK_OK;
}

/* ---- Passes ---- */

bool sk_all_diagonal(const sk_search *s, const sk_choice *choice)
{
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (choice->share[i] > 0 && !s->diffusion[i]->diagonal) return false;
    return true;
}

static sock_status polish_few(sk_search *s)
{
    const sk_mixture drift = {s->list.drifts, s->drift, s->choice.drift_share};
    sk_few few;
    sock_status status = sk_few_new(s, s->remains, &drift, &few);
    if (status >= 0) status = polish(s, few.remains);
    sk_few_clear(&few);
    return status;
}

sock_status sk_last_pass(sk_search *s, const sk_stage *stage)
{
    sk_choice *choice = &s->choice;
    SK_TRY(sk_renew_views(s));
    SK_TRY(sk_judge_drifts(s, stage));
    const sk_field_trials drifts = sk_drift_trials(s);
    sk_drift_shares(&drifts, s->rows->n, s->spec->average, choice->drift_share, &choice->drift);
    SK_TRY(sk_renew_remains(s, choice->drift_share));
    SK_TRY(sk_run_diffusions(s, stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion));
    if (s->spec->polish && !sk_search_leave_out(s, "polish")) SK_TRY(polish_few(s));
    SK_TRY(share_diffusions(s, choice->share));
    return sk_choose_floor(s, s->remains, choice);
}
