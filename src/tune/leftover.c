/* leftover.c - the O(h) correction: E[e e'] = F (I a) F' to first order in h, F that of the problem, so that F^-1 e has
 * the squares that a linear fit of a wants. */
#include "tune/leftover.h"

#include <string.h>

/* F = I + O(h): with a pivot below this the step is too long for a first order, and its residual stays as it is. */
static const double LEAST_PIVOT = 1e-3;

typedef struct correction {
    sock_context *ctx;
    const sk_problem *p;
    double *e; /* (folds + 1) x n x d */
} correction;

/* One factorisation of F serves the residuals of all folds. */
static sock_status correct_some(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const correction *c = argument;
    const sk_problem *p = c->p;
    size_t d = p->d, *pivot = sk_alloc(c->ctx, d, sizeof *pivot);
    double *m = sk_doubles(c->ctx, d, d);
    sock_status status = pivot && m ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = begin; status >= 0 && i < end; i++) {
        memcpy(m, p->left + i * d * d, d * d * sizeof *m);
        if (!sk_eliminate(d, LEAST_PIVOT, m, pivot)) continue;
        for (size_t f = 0; f <= p->folds; f++) sk_unwind(d, m, pivot, c->e + (f * p->n + i) * d);
    }
    sk_free(pivot);
    sk_free(m);
    return status;
}

sock_status sk_corrected_residuals(sock_context *ctx, const sk_problem *p, const sk_leftover *leftover, double **out)
{
    size_t count = (p->folds + 1) * p->n * p->d;
    *out = NULL;
    if (!leftover->correct) return SOCK_OK;
    *out = sk_doubles_unset(ctx, count, 1);
    if (!*out) return SOCK_ENOMEM;
    memcpy(*out, leftover->e, count * sizeof(double));
    correction c = {ctx, p, *out};
    return sk_parallel_for(ctx, p->n, 1024, correct_some, &c);
}
