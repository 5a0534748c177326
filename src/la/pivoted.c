/* pivoted.c - pivoted (rank-revealing) Cholesky of a positive semi-definite matrix known by its diagonal and columns.
 *
 *   1. residual = diagonal.
 *   2. pivot = place of the largest residual; stop when it is small.
 *   3. new column = (matrix column - previous columns' part) / sqrt(residual at the pivot).
 *   4. residual -= square of the new column.
 *
 * rank r costs r columns of the matrix and N r^2 operations; the matrix is never stored. Harbrecht, Peters, Schneider
 * 2012. */
#include "la.h"

#include <math.h>

static size_t largest(size_t n, const double *x)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

static double sum(size_t n, const double *x)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return total;
}

/* Steps 3 and 4 for row `k` of the factor, which holds the matrix column so far. */
typedef struct update {
    sock_context *ctx;
    sk_pivoted *p;
    size_t k;
    const double *weights; /* k: the earlier columns at the pivot */
    double scale;
} update;

/* Fixed pieces: the rounding does not depend on the number of threads. */
enum { GRAIN = 16384 };

static sock_status update_range(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    const update *u = arg;
    const size_t n = u->p->n;
    double *row = u->p->factor + u->k * n, *residual = u->p->residual;
    sk_gemv(u->ctx, SK_TRANSPOSED, u->k, end - begin, -1, u->p->factor + begin, n, u->weights, 1, row + begin);
    double poison = 0; /* stays 0 as long as all numbers are finite */
    for (size_t i = begin; i < end; i++) {
        row[i] *= u->scale;
        poison += 0 * row[i];
        residual[i] -= row[i] * row[i];
        if (!(residual[i] > 0)) residual[i] = 0;
    }
    if (poison != 0) return sk_fail(u->ctx, SOCK_ENUMERIC, "a kernel matrix has numbers that are not finite");
    return SOCK_OK;
}

static sock_status add_column(sock_context *ctx, sk_pivoted *p, size_t k, size_t pivot, sk_column_fn column, void *arg,
                              double *weights)
{
    double *row = p->factor + k * p->n, top = p->residual[pivot];
    SK_TRY(column(arg, pivot, row));
    for (size_t j = 0; j < k; j++) weights[j] = p->factor[j * p->n + pivot];
    update u = {.ctx = ctx, .p = p, .k = k, .weights = weights, .scale = 1 / sqrt(top)};
    SK_TRY(sk_parallel_for(ctx, p->n, GRAIN, update_range, &u));
    for (size_t j = 0; j < k; j++) row[p->pivot[j]] = 0; /* zero in exact arithmetic */
    row[pivot] = sqrt(top);
    p->residual[pivot] = 0;
    p->pivot[k] = pivot;
    return SOCK_OK;
}

/* The decay over the last half of the columns, carried on, tells how many more are needed. It is a guess: the decay
 * speeds up once the pivots lie closer than the length scale (low dimension) and slows down otherwise; on Gaussian
 * kernels in 1 to 10 dimensions it was off by up to a factor of three, so only a guess far beyond max_rank counts. */
static bool hopeless(double half_trace, double trace, size_t rank, double top, double target, size_t max_rank)
{
    double rate = log(half_trace / trace) / (0.5 * (double)rank);
    return !(rate > 0) || log(top / target) / rate > 3 * (double)(max_rank - rank);
}

static sock_status start(sock_context *ctx, const double *diagonal, size_t max_rank, sk_pivoted *p)
{
    p->pivot = sk_alloc(ctx, max_rank, sizeof *p->pivot);
    p->residual = sk_doubles(ctx, p->n, 1);
    if (!p->pivot || !p->residual) return SOCK_ENOMEM;
    for (size_t i = 0; i < p->n; i++) {
        if (!isfinite(diagonal[i]) || diagonal[i] < 0)
            return sk_fail(ctx, SOCK_ENUMERIC, "a kernel matrix has %g on its diagonal", diagonal[i]);
        p->residual[i] = diagonal[i];
    }
    return SOCK_OK;
}

/* When to stop, asked before each column. */
typedef struct limits {
    double target; /* of the largest residual */
    size_t max_rank;
    bool give_up_early;
    double half_trace; /* at half the rank */
} limits;

static sock_status is_enough(sock_context *ctx, sk_pivoted *p, size_t pivot, limits *l, bool *enough)
{
    enum { LOOK_EVERY = 64 };
    p->complete = !p->n || p->residual[pivot] <= l->target;
    *enough = p->complete || p->rank == l->max_rank;
    if (*enough || p->rank % LOOK_EVERY != 0) return SOCK_OK;
    SK_TRY(sk_progress(ctx, "pivoted Cholesky", -1));
    if (p->rank == LOOK_EVERY) l->half_trace = sum(p->n, p->residual);
    if (!l->give_up_early || p->rank < 2 * LOOK_EVERY || (p->rank & (p->rank - 1)) != 0) return SOCK_OK;
    const double trace = sum(p->n, p->residual);
    *enough = hopeless(l->half_trace, trace, p->rank, p->residual[pivot], l->target, l->max_rank);
    l->half_trace = trace;
    return SOCK_OK;
}

sock_status sk_pivoted_cholesky(sock_context *ctx, size_t n, const double *diagonal, sk_column_fn column, void *arg,
                                double tolerance, size_t max_rank, bool give_up_early, sk_pivoted **out)
{
    sock_status status = SOCK_OK;
    size_t entries = 0, needed;
    limits l = {.max_rank = SK_MIN(max_rank, n), .give_up_early = give_up_early};
    double *weights = sk_doubles(ctx, l.max_rank, 1);
    sk_pivoted *p = sk_alloc(ctx, 1, sizeof *p);
    if (!p || !weights) status = SOCK_ENOMEM;
    if (status < 0) goto out;
    p->n = n;
    SK_GO(start(ctx, diagonal, l.max_rank, p));
    l.target = n ? tolerance * p->residual[largest(n, p->residual)] : 0;
    for (bool enough = false; !enough;) {
        const size_t pivot = n ? largest(n, p->residual) : 0;
        SK_GO(is_enough(ctx, p, pivot, &l, &enough));
        if (enough) break;
        SK_GO(sk_product(ctx, p->rank + 1, n, &needed));
        SK_GO(sk_grow(ctx, &p->factor, &entries, needed, sizeof(double)));
        SK_GO(add_column(ctx, p, p->rank, pivot, column, arg, weights));
        p->rank++;
    }
out:
    sk_free(weights);
    if (status < 0)
        sk_pivoted_free(p);
    else
        *out = p;
    return status;
}

void sk_pivoted_free(sk_pivoted *p)
{
    if (!p) return;
    sk_free(p->pivot);
    sk_free(p->factor);
    sk_free(p->residual);
    sk_free(p);
}
