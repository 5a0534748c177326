/* boundevidence.c - whether the data speak for bounds that nobody named: a vanishes there. */
#include "tune/searchstate.h"

#include "data/samples.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Points of the rows, and what a model says of a_kk there. */
typedef struct sample {
    size_t n, in, d;
    const double *x; /* n x in */
    double *moved;   /* the same, with one state elsewhere */
    double *a;       /* n x d x d */
    const sock_model *model;
} sample;

static sock_status mean_at(sock_context *ctx, const sample *s, const double *x, size_t k, double *mean)
{
    SK_TRY(sk_model_evaluate(ctx, s->model, s->n, x, NULL, s->a));
    *mean = 0;
    for (size_t i = 0; i < s->n; i++) *mean += s->a[i * s->d * s->d + k * (s->d + 1)] / (double)s->n;
    return SOCK_OK;
}

/* The noise of state k at the bound, beside that of all points. */
static sock_status compare(sock_context *ctx, const sample *s, size_t k, double bound, bool *vanishes)
{
    double usual, there;
    if (!isfinite(bound) || *vanishes) return SOCK_OK;
    memcpy(s->moved, s->x, s->n * s->in * sizeof *s->moved);
    for (size_t i = 0; i < s->n; i++) s->moved[i * s->in + k] = bound;
    SK_TRY(mean_at(ctx, s, s->x, k, &usual));
    SK_TRY(mean_at(ctx, s, s->moved, k, &there));
    *vanishes = sk_bound_stands(there, usual);
    return SOCK_OK;
}

sock_status sk_vanishes_at_bounds(const sk_search *s, sk_trial *a, bool *vanishes)
{
    const sk_transitions *rows = sk_transitions_in_memory(s->rows);
    const size_t stride = sk_bound_stride(rows->n), n = (rows->n + stride - 1) / stride, d = rows->d;
    double *x = sk_doubles_unset(s->ctx, n, 2 * rows->in), *space = sk_doubles_unset(s->ctx, n, d * d);
    sock_model *model = NULL;
    sock_status status = x && space ? SOCK_OK : SOCK_ENOMEM;
    *vanishes = false;
    for (size_t i = 0; x && i < n; i++)
        memcpy(x + i * rows->in, rows->left + i * stride * rows->in, rows->in * sizeof *x);
    if (status >= 0) status = sk_model_of_two(s, s->drift[s->best_drift], a, &model);
    const sample some = {n, rows->in, d, x, x ? x + n * rows->in : NULL, space, model};
    for (size_t k = 0; status >= 0 && k < d; k++) {
        status = compare(s->ctx, &some, k, rows->bounds->lower[k], vanishes);
        if (status >= 0) status = compare(s->ctx, &some, k, rows->bounds->upper[k], vanishes);
    }
    sock_model_free(model);
    sk_free(x);
    sk_free(space);
    return status;
}
