/* factor.c - see factor.h. */
#include "la/factor.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* What is left of a variance, as a share of it, that does not show. */
static const double INVISIBLE = 1e-12;

void sk_factor_free(sk_factor *f)
{
    if (!f) return;
    sk_free(f->entry);
    sk_free(f->group);
    sk_free(f->value);
    sk_free(f);
}

sock_status sk_factor_new(sock_context *ctx, size_t count, size_t rank, size_t groups, sk_factor **out)
{
    sk_factor *f = sk_alloc(ctx, 1, sizeof *f);
    if (!f) return SOCK_ENOMEM;
    *f = (sk_factor){.count = count, .rank = rank, .groups = groups};
    f->entry = sk_alloc(ctx, count, sizeof *f->entry);
    f->group = sk_alloc(ctx, count, sizeof *f->group);
    f->value = sk_doubles(ctx, count, rank);
    if (!f->entry || !f->group || !f->value) {
        sk_factor_free(f);
        return SOCK_ENOMEM;
    }
    *out = f;
    return SOCK_OK;
}

void sk_factor_move(const sk_factor *f, const double *z, double *numbers)
{
    for (size_t i = 0; i < f->count; i++)
        numbers[f->entry[i]] += sk_dot(f->rank, f->value + i * f->rank, z + f->group[i] * f->rank);
}

/* ---- Pivots ---- */

typedef struct unit_matrix {
    size_t n;
    const double *t, *scale;
} unit_matrix;

static sock_status unit_column(void *argument, size_t pivot, double *column)
{
    const unit_matrix *m = argument;
    for (size_t i = 0; i < m->n; i++) column[i] = m->t[i * m->n + pivot] / (m->scale[i] * m->scale[pivot]);
    return SOCK_OK;
}

sock_status sk_factor_symmetric(sock_context *ctx, size_t n, const double *t, double **l, size_t *rank)
{
    double *scale = sk_doubles(ctx, n, 1), *diagonal = sk_doubles(ctx, n, 1), *out = NULL;
    unit_matrix m = {n, t, scale};
    sk_pivoted *pivots = NULL;
    sock_status status = scale && diagonal ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        scale[i] = t[i * n + i] > 0 ? sqrt(t[i * n + i]) : 1;
        diagonal[i] = t[i * n + i] > 0;
    }
    if (status >= 0) status = sk_pivoted_cholesky(ctx, n, diagonal, unit_column, &m, INVISIBLE, n, false, &pivots);
    if (status >= 0 && !(out = sk_doubles(ctx, n, SK_MAX(pivots->rank, 1)))) status = SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++)
        for (size_t c = 0; c < pivots->rank; c++) out[i * pivots->rank + c] = scale[i] * pivots->factor[c * n + i];
    if (status >= 0) {
        *rank = pivots->rank;
        *l = out;
    }
    sk_pivoted_free(pivots);
    sk_free(scale);
    sk_free(diagonal);
    return status;
}

/* ---- More columns ---- */

/* Covariances of the numbers of one group, members x members: rows listed in `member` of value and more. */
static void group_covariance(const sk_factor *f, size_t members, const size_t *member, size_t columns,
                             const double *more, double *t)
{
    for (size_t i = 0; i < members; i++)
        for (size_t j = 0; j < members; j++)
            t[i * members + j] = sk_dot(f->rank, f->value + member[i] * f->rank, f->value + member[j] * f->rank) +
                                 sk_dot(columns, more + member[i] * columns, more + member[j] * columns);
}

static size_t list_group(const sk_factor *f, size_t group, size_t *member)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->group[i] == group) member[count++] = i;
    return count;
}

/* The rows of one group in out (count x count). */
static sock_status widen_group(sock_context *ctx, const sk_factor *f, size_t group, size_t columns, const double *more,
                               size_t *member, double *out)
{
    const size_t members = list_group(f, group, member);
    double *t = sk_doubles(ctx, members, SK_MAX(members, 1)), *l = NULL;
    size_t rank = 0;
    if (!t) return SOCK_ENOMEM;
    group_covariance(f, members, member, columns, more, t);
    sock_status status = sk_factor_symmetric(ctx, members, t, &l, &rank);
    for (size_t i = 0; status >= 0 && i < members; i++)
        memcpy(out + member[i] * f->count, l + i * rank, rank * sizeof *out);
    sk_free(t);
    sk_free(l);
    return status;
}

sock_status sk_factor_widen(sock_context *ctx, sk_factor *f, size_t columns, const double *more)
{
    double *value = sk_doubles(ctx, f->count, SK_MAX(f->count, 1));
    size_t *member = sk_alloc(ctx, f->count, sizeof *member);
    sock_status status = value && member ? SOCK_OK : SOCK_ENOMEM;
    for (size_t g = 0; status >= 0 && g < f->groups; g++) status = widen_group(ctx, f, g, columns, more, member, value);
    sk_free(member);
    if (status < 0) {
        sk_free(value);
        return status;
    }
    sk_free(f->value);
    f->value = value;
    f->rank = f->count;
    return SOCK_OK;
}
