/* ending.c - the end of the search, on all rows: from the last tables to one model.
 *
 *   1. the simplest drift near the best one, if it is linear or a short equation; else the average of the near-best;
 *   2. polish of the best diffusions by quasi-likelihood, kept where the held-out score is better;
 *   3. the average of the near-best diffusions;
 *   4. a floor on a. */
#include "tune/heldmodel.h"
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

enum { POLISHED = 4, AVERAGED = 8, HOPELESS = 20 };

/* ---- Drift ---- */

/* The simplest drift that is near enough to the best. */
static size_t simplest_drift(const sk_search *s)
{
    const sk_drift_result *best = s->drift[s->best_drift];
    size_t chosen = s->best_drift;
    for (size_t i = 0; i < s->list.drifts; i++) {
        const sk_drift_result *r = s->drift[i];
        if (!r || s->list.drift[i].order >= s->list.drift[chosen].order) continue;
        double error = sk_paired_error(s->full->clusters, best->cluster, r->cluster);
        double allowed =
            sk_drift_allowance(error, best->dof - r->dof, s->full->n) + 1e-6; /* equal but for rounding is a tie */
        if (best->score - r->score <= allowed) chosen = i;
    }
    return chosen;
}

/* Straight lines, parabolas, and polynomials of few learned terms: equations to read, and to be believed if they do as
 * well as anything. */
static bool is_short(const sk_drift_candidate *candidate)
{
    static const char *const plain[] = {"linear", "affine", "poly:degree=2", NULL};
    return candidate->learned || sk_is_one_of(candidate->name, plain);
}

/* Where no short equation is near enough to the best, all kernels are stand-ins, and the mean of several that do about
 * equally well errs less than any: weights exp((score - dof) / 2) of the best few. Half, since the difference of two
 * scores is a draw with an error of about a nat; a nat for each degree of freedom, since what a richer one gains by
 * following the noise of neighbouring steps shows beyond the data, not in the score. */
static void drift_shares(const sk_search *s, sk_choice *choice)
{
    double weight[SK_MOST] = {0}, sum = 0, top = -(double)INFINITY;
    size_t chosen = simplest_drift(s);
    memset(choice->drift_share, 0, sizeof choice->drift_share);
    choice->drift = chosen;
    choice->drift_share[chosen] = 1;
    if (!s->spec->average || is_short(&s->list.drift[chosen])) return;
    for (size_t i = 0; i < s->list.drifts; i++)
        if (s->drift[i]) top = fmax(top, s->drift[i]->score - s->drift[i]->dof);
    for (size_t i = 0; i < s->list.drifts; i++) {
        if (s->drift[i]) weight[i] = exp((s->drift[i]->score - s->drift[i]->dof - top) / 2);
        if (!(weight[i] > 0.01)) weight[i] = 0;
        sum += weight[i];
        if (weight[i] > weight[choice->drift]) choice->drift = i;
    }
    for (size_t i = 0; i < s->list.drifts; i++) choice->drift_share[i] = weight[i] / sum;
}

/* ---- Polish ---- */

sock_status sk_polish_result(sk_search *s, const char *name, const sk_leftover *leftover, sk_diffusion_result **result,
                             double *gain)
{
    sk_diffusion_result *polished = NULL;
    *gain = 0;
    SK_TRY(sk_tolerate(sk_diffusion_polish(s->ctx, s->full, leftover, *result, &polished)));
    if (!polished) return SOCK_OK;
    sk_search_log(s, "polish", "diffusion", name, polished->l, polished->score, false, polished->seconds);
    *gain = polished->score - (*result)->score;
    if (*gain > 0) {
        sk_diffusion_result_free(*result);
        *result = polished;
    } else {
        sk_diffusion_result_free(polished);
    }
    return SOCK_OK;
}

static sock_status polish(sk_search *s)
{
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    bool tried[SK_MOST];
    memcpy(tried, s->unpolished, sizeof tried);
    for (int k = 0; k < POLISHED; k++) {
        size_t next = SK_MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (s->diffusion[i] && !tried[i] && (next == SK_MOST || s->diffusion[i]->score > s->diffusion[next]->score))
                next = i;
        if (next == SK_MOST) break;
        tried[next] = true;
        double gain = 0;
        SK_TRY(sk_polish_result(s, s->list.diffusion[next].name, &leftover, &s->diffusion[next], &gain));
        s->unpolished[next] = gain < -HOPELESS;
    }
    sk_begin(s->ctx);
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (s->diffusion[i] && s->diffusion[i]->score > s->diffusion[s->best_diffusion]->score) s->best_diffusion = i;
    return SOCK_OK;
}

/* ---- Finish ---- */

/* Weights exp((score - best) / 2) of the best few diffusions, and half a nat for each step in simplicity; without
 * averaging the best alone. Half, because a score from held-out steps is itself a draw: the difference of two that are
 * alike has an error of about a nat. */
static void shares(const sk_search *s, double *share)
{
    double sum = 0, best = s->diffusion[s->best_diffusion]->score;
    for (size_t i = 0; i < s->list.diffusions; i++) {
        share[i] = 0;
        if (!s->diffusion[i]) continue;
        size_t better = 0;
        for (size_t j = 0; j < s->list.diffusions; j++)
            better += s->diffusion[j] && s->diffusion[j]->score > s->diffusion[i]->score;
        int simpler = s->list.diffusion[s->best_diffusion].order - s->list.diffusion[i].order;
        double weight = exp((s->diffusion[i]->score - best + simpler) / 2);
        if (i == s->best_diffusion || (s->spec->average && better < AVERAGED && weight > 0.01)) share[i] = weight;
        sum += share[i];
    }
    for (size_t i = 0; i < s->list.diffusions; i++) share[i] /= sum;
}

/* Sum of the squared residuals of the held-out steps over the sum of what a says they should be, tr F (I a) F': a
 * moment that no likelihood is fooled about. NAN: none to be had. */
static double calibration(const sk_problem *p, const double *held, double floor, const sk_leftover *leftover)
{
    size_t d = p->d;
    double squares = 0, traces = 0;
    for (size_t f = 0; f < p->folds; f++)
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++) {
            const double *e = leftover->e + (f * p->n + i) * d, *left = p->left + i * d * d, *a = held + i * d * d;
            for (size_t r = 0; r < d; r++) {
                squares += e[r] * e[r];
                for (size_t k = 0; k < d; k++) {
                    double sum = left[r * d + k] * floor * p->steps->h[i];
                    for (size_t j = 0; j < d; j++) sum += left[r * d + j] * a[j * d + k];
                    traces += sum * left[r * d + k];
                }
            }
        }
    return traces > 0 ? squares / traces : (double)NAN;
}

/* Shares of a, each by what it says of a step without the step's fold; and the mean of its diagonal, or 0. */
static double average_held(const sk_search *s, const double *share, double *held)
{
    const sk_problem *p = s->full;
    size_t d = p->d;
    double mean = 0, time = 0;
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (share[i] > 0) sk_axpy(p->n * d * d, share[i], s->diffusion[i]->held, held);
    for (size_t i = 0; i < p->n; i++) {
        time += p->steps->h[i];
        for (size_t k = 0; k < d; k++) mean += held[(i * d + k) * d + k] / (double)d;
    }
    return time > 0 ? mean / time : 0;
}

enum { FLOORS = 7, USUAL_FLOORS = 6 };

/* The largest of the usual floors whose score is within one standard error (at most two nats) of the best, or, where
 * rows are few, within 50/n nats. A larger one where the Euler likelihood asks for it clearly, that is where steps are
 * long and a is almost singular: then the one with the best sum of both; only where rows are few or that likelihood is
 * below the one of constant coefficients. cluster, euler_cluster: FLOORS x clusters. */
static size_t pick_floor(const sk_search *s, const double *score, const double *cluster, const double *euler,
                         const double *euler_cluster)
{
    const sk_problem *p = s->full;
    double allowed = p->n < SK_FEW_ROWS ? 50 / (double)p->n : 0;
    size_t best = 0, chosen, clearest, both;
    for (size_t g = 1; g < USUAL_FLOORS; g++)
        if (score[g] > score[best]) best = g;
    chosen = best;
    for (size_t g = best + 1; g < USUAL_FLOORS; g++) {
        double error = sk_paired_error(p->clusters, cluster + best * p->clusters, cluster + g * p->clusters);
        if (score[best] - score[g] <= fmin(fmax(error, allowed), 2)) chosen = g;
    }
    clearest = both = chosen;
    for (size_t g = chosen + 1; g < FLOORS; g++) {
        if (euler[g] > euler[clearest]) clearest = g;
        if (euler[g] + score[g] > euler[both] + score[both]) both = g;
    }
    double error =
        sk_paired_error(p->clusters, euler_cluster + chosen * p->clusters, euler_cluster + clearest * p->clusters);
    bool doubtful = p->n < SK_FEW_ROWS || !(euler[chosen] > s->constant_euler);
    return doubtful && !(euler[clearest] - euler[chosen] <= fmax(error, 2)) ? both : chosen;
}

/* A floor c mean(a) I: c from the grid. */
sock_status sk_choose_floor(sk_search *s, const sk_leftover *leftover, sk_choice *choice)
{
    static const double grid[FLOORS] = {0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};
    const sk_problem *p = s->full;
    size_t d = p->d, bytes = p->clusters * sizeof(double);
    double *held = sk_doubles(s->ctx, p->n, d * d), *cluster = sk_doubles(s->ctx, 2 * FLOORS, p->clusters);
    double *space = sk_doubles(s->ctx, sk_scores_space(d), 1), *final = sk_doubles(s->ctx, 2, p->clusters);
    double *euler_cluster = cluster ? cluster + FLOORS * p->clusters : NULL;
    double score[FLOORS] = {0}, euler[FLOORS] = {0}, level[FLOORS];
    sk_held_model model = {s->list.drifts,     s->drift,     choice->drift_share,
                           s->list.diffusions, s->diffusion, choice->share};
    sock_status status = SOCK_ENOMEM;
    if (!held || !cluster || !space || !final) goto out;
    double mean = average_held(s, choice->share, held);
    for (size_t g = 0; g < FLOORS; g++) {
        level[g] = grid[g] * mean;
        score[g] = sk_diffusion_score(p, held, level[g], leftover, cluster + g * p->clusters, space);
        if (!isfinite(score[g])) score[g] = -(double)INFINITY;
    }
    SK_GO(sk_euler_score(s->ctx, p, &model, FLOORS, level, euler, euler_cluster));
    size_t chosen = pick_floor(s, score, cluster, euler, euler_cluster);
    choice->floor = level[chosen];
    s->calibration = calibration(p, held, choice->floor, leftover);
    s->final_score = score[chosen];
    memcpy(final, cluster + chosen * p->clusters, bytes);
    memcpy(final + p->clusters, euler_cluster + chosen * p->clusters, bytes);
    sk_free(s->final_cluster);
    s->final_cluster = final;
    final = NULL;
out:
    sk_free(held);
    sk_free(cluster);
    sk_free(space);
    sk_free(final);
    return status;
}

void sk_choose_one(size_t i, size_t j, sk_choice *choice)
{
    *choice = (sk_choice){.drift = i};
    choice->drift_share[i] = choice->share[j] = 1;
}

bool sk_all_diagonal(const sk_search *s, const sk_choice *choice)
{
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (choice->share[i] > 0 && !s->diffusion[i]->diagonal) return false;
    return true;
}

sock_status sk_last_pass(sk_search *s, const char *stage, const bool *drifts, const bool *diffusions, double tolerance,
                         sk_choice *choice)
{
    SK_TRY(sk_sweep_drifts(s, stage, drifts));
    drift_shares(s, choice);
    SK_TRY(sk_fill_leftovers(s, choice->drift_share, &s->leftover));
    SK_TRY(sk_sweep_diffusions(s, stage, diffusions, tolerance));
    if (s->spec->polish && !sk_search_leave_out(s, "polish")) SK_TRY(polish(s));
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    shares(s, choice->share);
    return sk_choose_floor(s, &leftover, choice);
}
