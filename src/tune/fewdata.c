/* fewdata.c - the guards for few data: what the search found must be a clear gain over constant coefficients and over a
 * plain model (linear or affine drift, constant a), or those are taken. */
#include "score/score.h"
#include "tune/heldmodel.h"
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

sock_status sk_constant_score(sk_search *s)
{
    sk_tune_spec blind = *s->spec;
    blind.drift = "constant";
    blind.diffusion = "constant";
    sk_candidates list = {0};
    sk_drift_result *f = NULL;
    sk_diffusion_result *a = NULL;
    const double one = 1, zero = 0;
    double *e = NULL, *cluster = sk_doubles(s->ctx, s->full->clusters, 1);
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    if (!cluster) goto out;
    SK_GO(sk_candidates_new(s->ctx, &blind, s->full->steps, false, &list));
    SK_GO(sk_problem_condition(s->ctx, s->full, NULL, false, false));
    SK_GO(sk_drift_cross_validate(s->ctx, s->full, &list.drift[0], s->full->folds, &f));
    SK_GO(sk_fill_leftover(s, s->full, f, &e));
    sk_leftover leftover = {.e = e};
    sk_diffusion_options options = {s->full->folds, sk_thin_grid, 5, 1e-6, true};
    SK_GO(sk_diffusion_cross_validate(s->ctx, s->full, &list.diffusion[0], &leftover, &options, &a));
    sk_held_model model = {1, &f, NULL, 1, &a, &one};
    SK_GO(sk_euler_score(s->ctx, s->full, &model, 1, &zero, &s->constant_euler, cluster));
    s->constant_score = a->score;
    sk_drift_result_free(s->constant_drift);
    sk_diffusion_result_free(s->constant_diffusion);
    s->constant_drift = f;
    s->constant_diffusion = a;
    f = NULL;
    a = NULL;
out:
    sk_drift_result_free(f);
    sk_diffusion_result_free(a);
    sk_candidates_clear(&list);
    sk_free(e);
    sk_free(cluster);
    return status;
}

/* ---- A plain model for comparison ---- */

/* A gain of so many nats is one over the best constants too. */
enum { CLEAR_GAIN = 100 };

/* Where it is a question of nats, a constant a is that of the highest likelihood: least squares with the weights of the
 * search is a few percent off where steps differ much in length or residuals have long tails. */
static sock_status sharpen(sk_search *s, const sk_leftover *leftover, sk_diffusion_result **a)
{
    double gain;
    if (!s->spec->polish || s->final_score - (*a)->score > CLEAR_GAIN) return SOCK_OK;
    return sk_polish_result(s, "constant", leftover, a, &gain);
}

static sock_status sharpen_constant(sk_search *s)
{
    SK_TRY(sk_problem_condition(s->ctx, s->full, NULL, false, false));
    SK_TRY(sk_fill_leftover(s, s->full, s->constant_drift, &s->leftover));
    sk_leftover leftover = {.e = s->leftover};
    SK_TRY(sharpen(s, &leftover, &s->constant_diffusion));
    s->constant_score = s->constant_diffusion->score;
    return SOCK_OK;
}

static bool free_choice(const sk_search *s)
{
    return strcmp(s->spec->drift, "auto") == 0 && strcmp(s->spec->diffusion, "auto") == 0;
}

/* Where the plain model's drift and diffusion stand in the list: the drift of the final model if it is linear or
 * affine, else the affine one; a constant a, diagonal if that of the final model is. SK_MOST: not there. */
static void plain_names(const sk_search *s, size_t chosen, bool diagonal, size_t *drift, size_t *diffusion)
{
    static const char *const plain[] = {"linear", "affine", "affine learned", NULL};
    const char *constant = diagonal && s->full->d > 1 ? "constant diagonal" : "constant";
    *drift = *diffusion = SK_MOST;
    for (size_t i = 0; i < s->list.drifts; i++)
        if (strcmp(s->list.drift[i].name, "affine") == 0) *drift = i;
    if (sk_is_one_of(s->list.drift[chosen].name, plain)) *drift = chosen;
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (strcmp(s->list.diffusion[i].name, constant) == 0) *diffusion = i;
}

/* Drift i and diffusion j, held out, under the current rule. The old results are freed. */
static sock_status plain_pass(sk_search *s, size_t i, size_t j, sk_drift_result **f, sk_diffusion_result **a)
{
    const sk_problem *p = s->full;
    sk_drift_result_free(*f);
    sk_diffusion_result_free(*a);
    *f = NULL;
    *a = NULL;
    SK_TRY(sk_drift_cross_validate(s->ctx, p, &s->list.drift[i], p->folds, f));
    SK_TRY(sk_fill_leftover(s, p, *f, &s->leftover));
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct && p->conditional};
    sk_diffusion_options options = {p->folds, sk_thin_grid, 5, sk_last_tolerance(s), true};
    return sk_diffusion_cross_validate(s->ctx, p, &s->list.diffusion[j], &leftover, &options, a);
}

/* Twice, the second time with nodes, weights and F of its own. */
static sock_status plain_fit(sk_search *s, size_t i, size_t j, sk_drift_result **f, sk_diffusion_result **a)
{
    sock_model *model = NULL;
    sock_status status;
    SK_GO(sk_problem_condition(s->ctx, s->full, NULL, false, s->list.diffusion[j].diagonal));
    SK_GO(plain_pass(s, i, j, f, a));
    SK_GO(sk_model_of_two(s, s->full, *f, *a, &model));
    SK_GO(sk_problem_condition(s->ctx, s->full, model, s->spec->conditional, (*a)->diagonal));
    SK_GO(plain_pass(s, i, j, f, a));
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct && s->full->conditional};
    SK_GO(sharpen(s, &leftover, a));
    sk_search_log(s, "plain", "both", s->list.drift[i].name, (*f)->l, (*a)->score, false,
                  (*f)->seconds + (*a)->seconds);
out:
    sock_model_free(model);
    return status;
}

/* Whether the final model gains enough over another by the moments of the step. Euler's likelihood asks too much where
 * steps are long: a pull that brings the state home within one step overshoots in it, and the truth itself is refused.
 * Asked only then, since it is dear; Euler has the last word where it would be too dear. */
static sock_status gains_by_moments(sk_search *s, const sk_choice *choice, const sk_held_model *other, size_t tried,
                                    bool *enough)
{
    const sk_problem *p = s->full;
    const double d = (double)p->d, affordable = 1e6;
    if (p->d > SK_MOMENTS_MOST_DIM || (double)p->n * d * d * d > affordable) return SOCK_OK;
    sk_held_model final = {s->list.drifts,     s->drift,     choice->drift_share,
                           s->list.diffusions, s->diffusion, choice->share};
    double ours = 0, theirs = 0, *cluster = sk_doubles(s->ctx, 2, p->clusters);
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_moment_score(s->ctx, p, &final, &ours, cluster);
    if (status >= 0) status = sk_moment_score(s->ctx, p, other, &theirs, cluster + p->clusters);
    if (status >= 0) {
        const double error = sk_paired_error(p->clusters, cluster, cluster + p->clusters);
        *enough = isfinite(ours) && ours - theirs >= sk_needed_gain(error, tried);
    }
    sk_free(cluster);
    return status;
}

/* What the final model gains over a plain one by either likelihood, and whether that is enough by both. */
static sock_status gains_enough(sk_search *s, const sk_choice *choice, sk_drift_result *f, sk_diffusion_result *a,
                                size_t tried, bool *enough)
{
    const sk_problem *p = s->full;
    const double one = 1, zero = 0;
    double euler = 0, *cluster = sk_doubles(s->ctx, p->clusters, 1), *final_euler = s->final_cluster + p->clusters;
    sk_held_model model = {1, &f, NULL, 1, &a, &one};
    if (!cluster) return SOCK_ENOMEM;
    sock_status status = sk_euler_score(s->ctx, p, &model, 1, &zero, &euler, cluster);
    if (status >= 0) {
        double gain = s->final_score - a->score, error = sk_paired_error(p->clusters, s->final_cluster, a->cluster);
        *enough = gain >= sk_needed_gain(error, tried);
        error = sk_paired_error(p->clusters, final_euler, cluster);
        gain = -euler;
        for (size_t u = 0; u < p->clusters; u++) gain += final_euler[u];
        const bool refused = *enough && !(gain >= sk_needed_gain(error, tried));
        *enough = *enough && !refused;
        if (refused) status = gains_by_moments(s, choice, &model, tried, enough);
    }
    sk_free(cluster);
    return status;
}

sock_status sk_prefer_plain(sk_search *s, sk_choice *choice, bool *plain)
{
    sk_drift_result *f = NULL;
    sk_diffusion_result *a = NULL;
    bool enough = true;
    size_t i, j;
    plain_names(s, choice->drift, s->diffusion[s->best_diffusion]->diagonal, &i, &j);
    if (!free_choice(s) || i == SK_MOST || j == SK_MOST || sk_search_leave_out(s, "plain")) return SOCK_OK;
    sock_status status = plain_fit(s, i, j, &f, &a);
    if (status >= 0) status = gains_enough(s, choice, f, a, s->list.drifts * s->list.diffusions, &enough);
    if (status < 0 || enough) {
        sk_drift_result_free(f);
        sk_diffusion_result_free(a);
        return sk_tolerate(status);
    }
    sk_drift_result_free(s->drift[i]);
    sk_diffusion_result_free(s->diffusion[j]);
    s->drift[i] = f;
    s->diffusion[j] = a;
    *plain = true;
    s->best_drift = i;
    s->best_diffusion = j;
    sk_choose_one(i, j, choice);
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct && s->full->conditional};
    return sk_choose_floor(s, &leftover, choice);
}

/* Constant coefficients are all that the data support where the model is two nats worse; or no clear gain over them. */
static sock_status worse_than_constant(sk_search *s, const sk_choice *choice, bool plain, bool *worse)
{
    bool enough = true;
    *worse = s->diffusion[s->best_diffusion]->score < s->constant_score - 2;
    if (*worse) return SOCK_OK;
    size_t tried = plain ? 3 : s->list.drifts * s->list.diffusions;
    SK_TRY(gains_enough(s, choice, s->constant_drift, s->constant_diffusion, tried, &enough));
    *worse = !enough;
    return SOCK_OK;
}

/* Constant coefficients take the place of the best drift and diffusion, and are all of the model. */
static sock_status fall_back(sk_search *s, sk_choice *choice)
{
    sk_drift_candidate *f = &s->list.drift[s->best_drift];
    sk_diffusion_candidate *a = &s->list.diffusion[s->best_diffusion];
    char *one = sk_strdup(s->ctx, "constant"), *other = sk_strdup(s->ctx, "constant");
    if (!one || !other) {
        sk_free(one);
        sk_free(other);
        return SOCK_ENOMEM;
    }
    sk_free(f->name);
    sk_free(a->name);
    f->name = one;
    a->name = other;
    sk_drift_result_free(s->drift[s->best_drift]);
    sk_diffusion_result_free(s->diffusion[s->best_diffusion]);
    s->drift[s->best_drift] = s->constant_drift;
    s->diffusion[s->best_diffusion] = s->constant_diffusion;
    s->constant_drift = NULL;
    s->constant_diffusion = NULL;
    sk_choose_one(s->best_drift, s->best_diffusion, choice);
    s->calibration = NAN; /* that of the model given up */
    return SOCK_OK;
}

sock_status sk_prefer_constant(sk_search *s, bool plain, sk_choice *choice)
{
    bool worse = false;
    if (!free_choice(s)) return SOCK_OK;
    SK_TRY(sharpen_constant(s));
    SK_TRY(worse_than_constant(s, choice, plain, &worse));
    return worse ? fall_back(s, choice) : SOCK_OK;
}
