/* searchstate.c - small services for the stages: errors of scores, residuals, models out of results. */
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

const double sk_fine_grid[SK_FINE] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
const double sk_thin_grid[SK_THIN] = {1, 1e-2, 1e-4, 1e-6, 1e-8};

sock_status sk_tolerate(sock_status status) { return status == SOCK_ENUMERIC ? SOCK_OK : status; }

bool sk_is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0) list++;
    return *list != NULL;
}

double sk_paired_error(size_t clusters, const double *a, const double *b)
{
    double mean = 0, square = 0;
    for (size_t u = 0; u < clusters; u++) mean += (a[u] - b[u]) / (double)clusters;
    for (size_t u = 0; u < clusters; u++) square += pow(a[u] - b[u] - mean, 2);
    return clusters > 1 ? sqrt((double)clusters * square / (double)(clusters - 1)) : (double)INFINITY;
}

sock_status sk_fill_leftover(sk_search *s, const sk_problem *p, const sk_drift_result *r, double **out)
{
    size_t size = p->n * p->d;
    double *e = sk_doubles(s->ctx, p->folds + 1, size);
    if (!e) return SOCK_ENOMEM;
    for (size_t f = 0; f <= p->folds; f++) sk_drift_residuals(s->ctx, p, r, f, e + f * size);
    sk_free(*out);
    *out = e;
    return SOCK_OK;
}

static sock_status make_model(sk_search *s, const sk_problem *p, const sk_drift_result *f, size_t parts,
                              sk_diffusion_result *const *a, const double *share, double floor, sock_model **out)
{
    sock_model *model = NULL;
    sk_drift_term *drift = NULL;
    SK_TRY(sk_model_new(s->ctx, p->d, (const char *const *)s->spec->data->state, &model));
    sock_status status = sk_drift_result_term(s->ctx, f, p->folds, p->d, &drift);
    if (status >= 0) status = sk_model_add_drift(s->ctx, model, drift);
    for (size_t i = 0; status >= 0 && i < parts; i++) {
        sk_diffusion_term *term = NULL;
        if (!(share[i] > 0)) continue;
        status = sk_diffusion_result_term(s->ctx, a[i], p->folds, p->d, share[i], &term);
        if (status >= 0) status = sk_model_add_diffusion(s->ctx, model, term);
    }
    model->floor = floor;
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return SOCK_OK;
}

sock_status sk_model_of_two(sk_search *s, const sk_problem *p, const sk_drift_result *f, sk_diffusion_result *a,
                            sock_model **out)
{
    double one = 1;
    return make_model(s, p, f, 1, &a, &one, 0, out);
}

void sk_search_take_model(sk_search *s, sock_model *model, bool diagonal)
{
    sock_model_free(s->model);
    s->model = model;
    s->model_diagonal = diagonal;
}

double sk_search_tolerance(const sk_search *s)
{
    return s->spec->tolerance > 0 ? s->spec->tolerance : s->full->d > 3 ? 1e-4 : 1e-6;
}

sock_status sk_search_mixture(sk_search *s, size_t drift, const double *share, double floor, sock_model **out)
{
    return make_model(s, s->full, s->drift[drift], s->list.diffusions, s->diffusion, share, floor, out);
}

void sk_clear_drifts(sk_drift_result **results)
{
    for (size_t i = 0; i < SK_MOST; i++) {
        sk_drift_result_free(results[i]);
        results[i] = NULL;
    }
}

void sk_clear_diffusions(sk_diffusion_result **results)
{
    for (size_t i = 0; i < SK_MOST; i++) {
        sk_diffusion_result_free(results[i]);
        results[i] = NULL;
    }
}
