/* searchstate.c - small services for the stages: errors of scores, residuals, models out of results. */
#include "tune/searchstate.h"

#include "tune/heldmodel.h"

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

sock_status sk_fill_leftovers(sk_search *s, const double *share, double **out)
{
    const sk_problem *p = s->full;
    size_t size = p->n * p->d;
    double *sum = sk_doubles(s->ctx, p->folds + 1, size), *e = sk_doubles(s->ctx, p->n, p->d);
    sock_status status = sum && e ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < s->list.drifts; i++)
        for (size_t f = 0; share[i] > 0 && f <= p->folds; f++) {
            sk_drift_residuals(s->ctx, p, s->drift[i], f, e);
            sk_axpy(size, share[i], e, sum + f * size);
        }
    sk_free(e);
    if (status < 0) {
        sk_free(sum);
        return status;
    }
    sk_free(*out);
    *out = sum;
    return SOCK_OK;
}

sock_status sk_model_of_two(sk_search *s, const sk_problem *p, sk_drift_result *f, sk_diffusion_result *a,
                            sock_model **out)
{
    const double one = 1;
    sk_held_model held = {1, &f, NULL, 1, &a, &one};
    return sk_held_model_without(s->ctx, p, &held, p->folds, (const char *const *)s->spec->data->state, out);
}

sock_status sk_search_mixture(sk_search *s, const sk_choice *choice, sock_model **out)
{
    sk_held_model held = {s->list.drifts,     s->drift,     choice->drift_share,
                          s->list.diffusions, s->diffusion, choice->share};
    SK_TRY(
        sk_held_model_without(s->ctx, s->full, &held, s->full->folds, (const char *const *)s->spec->data->state, out));
    (*out)->floor = choice->floor;
    return SOCK_OK;
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

double sk_last_tolerance(const sk_search *s) { return s->spec->tolerance > 0 ? s->spec->tolerance : 1e-6; }

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
