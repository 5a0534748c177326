/* heldmodel.c - whole models on held-out steps, by the likelihoods with which models are scored in the end. Euler's
 * does not know the second order in h, so that a model with an almost singular a and long steps can be good in the
 * search and bad there, or a strong pull good in truth and bad there; that by moments knows both. */
#include "tune/heldmodel.h"

#include "score/score.h"

#include <math.h>
#include <string.h>

/* A share of one drift, without fold f. */
static sock_status add_drift(sock_context *ctx, const sk_problem *p, const sk_drift_result *result, size_t f,
                             double share, sock_model *model)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_drift_result_term(ctx, result, f, p->d, &term));
    for (size_t j = 0; j < result->p * p->d; j++) term->weight[j] *= share;
    return sk_model_add_drift(ctx, model, term);
}

sock_status sk_held_model_without(sock_context *ctx, const sk_problem *p, const sk_held_model *held, size_t f,
                                  const char *const *names, sock_model **out)
{
    sock_model *model = NULL;
    sock_status status = sk_model_new(ctx, p->d, names, &model);
    for (size_t i = 0; status >= 0 && i < held->drifts; i++) {
        double share = held->drift_share ? held->drift_share[i] : 1;
        if (share > 0) status = add_drift(ctx, p, held->drift[i], f, share, model);
    }
    for (size_t i = 0; status >= 0 && i < held->parts; i++) {
        sk_diffusion_term *term = NULL;
        if (!(held->share[i] > 0)) continue;
        status = sk_diffusion_result_term(ctx, held->diffusion[i], f, p->d, held->share[i], &term);
        if (status >= 0) status = sk_model_add_diffusion(ctx, model, term);
    }
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return SOCK_OK;
}

/* The steps of one fold; f, a: fields of the model without it at their starts. space: 2 d^2 + 2 d. */
static void score_fold(const sk_problem *p, size_t fold, const double *f, const double *a, double floor,
                       double *cluster, double *space)
{
    size_t d = p->d, begin = p->first[fold];
    double *e = space, *c = space + d;
    for (size_t i = begin; i < p->first[fold + 1]; i++) {
        double h = p->steps->h[i];
        for (size_t k = 0; k < d; k++) e[k] = p->steps->dy[i * d + k] - h * f[(i - begin) * d + k];
        for (size_t k = 0; k < d * d; k++)
            c[k] = h * a[(i - begin) * d * d + k] + (k % (d + 1) ? 0 : h * floor + p->eps);
        cluster[p->cluster[i]] += p->density + sk_log_density(d, c, e, p->eps, c + d * d);
    }
}

sock_status sk_euler_score(sock_context *ctx, const sk_problem *p, const sk_held_model *held, size_t floors,
                           const double *floor, double *score, double *cluster)
{
    size_t d = p->d;
    double *f = sk_doubles(ctx, p->n, d), *a = sk_doubles(ctx, p->n, d * d), *space = sk_doubles(ctx, 2 * d + 2, d);
    sock_status status = f && a && space ? SOCK_OK : SOCK_ENOMEM;
    for (size_t fold = 0; status >= 0 && fold < p->folds; fold++) {
        size_t begin = p->first[fold], rows = p->first[fold + 1] - begin;
        sock_model *model = NULL;
        if (!rows) continue;
        status = sk_held_model_without(ctx, p, held, fold, NULL, &model);
        if (status >= 0) status = sk_model_evaluate(ctx, model, rows, p->steps->y + begin * d, f, a);
        for (size_t g = 0; status >= 0 && g < floors; g++)
            score_fold(p, fold, f, a, floor[g], cluster + g * p->clusters, space);
        sock_model_free(model);
    }
    for (size_t g = 0; status >= 0 && g < floors; g++) {
        score[g] = 0;
        for (size_t u = 0; u < p->clusters; u++) score[g] += cluster[g * p->clusters + u];
    }
    sk_free(f);
    sk_free(a);
    sk_free(space);
    return status;
}

/* The steps of one fold as trajectories of two points. */
static void fold_data(const sk_problem *p, size_t begin, sock_data *out)
{
    const size_t d = p->d;
    for (size_t i = 0; i < out->trajectories; i++) {
        const double *y = p->steps->y + (begin + i) * d, *dy = p->steps->dy + (begin + i) * d;
        out->first[i + 1] = 2 * (i + 1);
        out->t[2 * i + 1] = p->steps->h[begin + i];
        for (size_t k = 0; k < d; k++) out->x[2 * i * d + k] = y[k], out->x[(2 * i + 1) * d + k] = y[k] + dy[k];
    }
}

sock_status sk_moment_score(sock_context *ctx, const sk_problem *p, const sk_held_model *held, double *score,
                            double *cluster)
{
    double *term = sk_doubles(ctx, p->n, 1);
    sock_data data = {.d = p->d, .t = sk_doubles(ctx, 2 * p->n, 1), .x = sk_doubles(ctx, 2 * p->n, p->d)};
    data.first = sk_alloc(ctx, p->n + 1, sizeof *data.first);
    sock_status status = term && data.t && data.x && data.first ? SOCK_OK : SOCK_ENOMEM;
    for (size_t fold = 0; status >= 0 && fold < p->folds; fold++) {
        size_t begin = p->first[fold], rows = p->first[fold + 1] - begin;
        sock_model *model = NULL;
        if (!rows) continue;
        data.trajectories = rows;
        data.points = 2 * rows;
        fold_data(p, begin, &data);
        status = sk_held_model_without(ctx, p, held, fold, NULL, &model);
        if (status >= 0) status = sk_moment_terms(ctx, model, &data, p->eps, term);
        for (size_t i = 0; status >= 0 && i < rows; i++) cluster[p->cluster[begin + i]] += p->density + term[i];
        sock_model_free(model);
    }
    *score = 0;
    for (size_t u = 0; u < p->clusters; u++) *score += cluster[u];
    sk_free(term);
    sk_free(data.first);
    sk_free(data.t);
    sk_free(data.x);
    return status;
}

double sk_needed_gain(double error, size_t tried) { return fmax(error, log((double)tried)); }
