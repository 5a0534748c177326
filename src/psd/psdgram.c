/* psdgram.c - the problem through its Gram matrix. The rows enter the solution only as
 *
 *     G = sum_i w_i svec(M_i) svec(M_i)'  (q x q),   c_kl = sum_i w_i svec(M_i) z_i,kl  (pairs x q),   zz = sum_i w_i
 * |z_i|^2
 *
 * so that sums over parts of the rows add and subtract: k-fold cross-validation costs one pass over the rows.
 *
 *   1. G = V' diag(s^2) V, small s^2 left out: rows C = diag(s) V (m x q) have the same G. Products of smooth features
 *      are far from independent: often m is a tenth of q, and the leading eigenpairs are all that is computed.
 *   2. Their targets are t = diag(1/s) V c', and |z|^2 - |t|^2 is what no Q can explain.
 *   3. The dual problem of m rows goes to the Newton solver; the certificate is that of the given G, c and zz.
 *
 * Cost: q m^2 (q^3 where m > q/3) once for each G, then m q (pairs) and an eigendecomposition of size pd for each step
 * of the solver. */
#include "psdinner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void sk_psd_gram_free(sk_psd_gram *gram)
{
    if (!gram) return;
    sk_free(gram->c);
    sk_free(gram->s2);
    sk_free(gram->pivot);
    sk_free(gram->first);
    sk_free(gram->second);
    sk_free(gram);
}

/* Mean square of a row, from the trace: what makes the inner rows of order one. */
static double row_scale(size_t n, size_t q, const double *g)
{
    double trace = 0;
    for (size_t j = 0; j < q; j++) trace += g[j * q + j];
    double scale = sqrt(trace / (double)n);
    return scale > 0 && isfinite(scale) ? scale : 1;
}

/* G is a sum and has rounding errors of some 1e-16 of its trace. What is left out moves the objective by at most this
 * over lambda, in natural units, times its share of the targets. */
static const double negligible = 4e-15;

static sock_status name_entries(sock_context *ctx, sk_psd_gram *gram)
{
    gram->first = sk_alloc(ctx, gram->q, sizeof *gram->first);
    gram->second = sk_alloc(ctx, gram->q, sizeof *gram->second);
    return gram->first && gram->second ? SOCK_OK : SOCK_ENOMEM;
}

/* Names of the svec entries. */
static sock_status list_entries(sock_context *ctx, sk_psd_gram *gram)
{
    SK_TRY(name_entries(ctx, gram));
    for (size_t b = 0, j = 0; b < gram->p; b++)
        for (size_t a = 0; a <= b; a++, j++) {
            gram->first[j] = (unsigned)a;
            gram->second[j] = (unsigned)b;
        }
    return SOCK_OK;
}

/* All but the names of the entries. */
static sock_status factor(sock_context *ctx, size_t n, size_t p, size_t q, const double *g, sk_psd_gram **out)
{
    sock_status status = SOCK_OK;
    double *work = sk_doubles_unset(ctx, q, q), *values = sk_doubles(ctx, q, 1), *vectors = sk_doubles_unset(ctx, q, q);
    sk_psd_gram *gram = sk_alloc(ctx, 1, sizeof *gram);
    if (!work || !values || !vectors || !gram) {
        status = SOCK_ENOMEM;
        goto out;
    }
    gram->p = p;
    gram->q = q;
    gram->scale = row_scale(n, q, g);
    for (size_t j = 0; j < q * q; j++) work[j] = g[j] / (gram->scale * gram->scale);
    SK_GO(sk_psd_leading(ctx, q, work, negligible, values, vectors, &gram->m));
    gram->m = SK_MAX(gram->m, 1);
    gram->c = sk_doubles_unset(ctx, gram->m, q);
    gram->s2 = sk_doubles(ctx, gram->m, 1);
    SK_GO(gram->c && gram->s2 ? SOCK_OK : SOCK_ENOMEM);
    for (size_t i = 0; i < gram->m; i++) {
        gram->s2[i] = values[i] > 0 ? values[i] : 0;
        double s = sqrt(gram->s2[i]);
        for (size_t j = 0; j < q; j++) gram->c[i * q + j] = s > 0 ? s * vectors[i * q + j] : 0;
    }
out:
    sk_free(work);
    sk_free(values);
    sk_free(vectors);
    if (status < 0)
        sk_psd_gram_free(gram);
    else
        *out = gram;
    return status;
}

sock_status sk_psd_gram_new(sock_context *ctx, size_t n, size_t p, const double *g, sk_psd_gram **out)
{
    sk_psd_gram *gram = NULL;
    SK_TRY(factor(ctx, n, p, p * (p + 1) / 2, g, &gram));
    if (list_entries(ctx, gram) < 0) {
        sk_psd_gram_free(gram);
        return SOCK_ENOMEM;
    }
    *out = gram;
    return SOCK_OK;
}

sock_status sk_psd_gram_entries(sock_context *ctx, size_t n, size_t p, size_t h, const size_t *first,
                                const size_t *second, const double *g, sk_psd_gram **out)
{
    sk_psd_gram *gram = NULL;
    SK_TRY(factor(ctx, n, p, h, g, &gram));
    if (name_entries(ctx, gram) < 0) {
        sk_psd_gram_free(gram);
        return SOCK_ENOMEM;
    }
    for (size_t j = 0; j < h; j++) {
        gram->first[j] = (unsigned)first[j];
        gram->second[j] = (unsigned)second[j];
    }
    *out = gram;
    return SOCK_OK;
}

sock_status sk_psd_gram_quick(sock_context *ctx, size_t n, size_t p, const double *g, sk_psd_gram **out)
{
    size_t q = p * (p + 1) / 2;
    sk_psd_pivots w = {0};
    double *work = sk_doubles_unset(ctx, q, q);
    sk_psd_gram *gram = sk_alloc(ctx, 1, sizeof *gram);
    sock_status status = work && gram ? sk_psd_pivots_new(ctx, q, q, &w) : SOCK_ENOMEM;
    if (status < 0) goto out;
    gram->p = p;
    gram->q = q;
    gram->scale = row_scale(n, q, g);
    for (size_t j = 0; j < q * q; j++) work[j] = g[j] / (gram->scale * gram->scale);
    gram->m = SK_MIN(sk_psd_pivoted_rows(ctx, work, negligible, &w), q);
    gram->c = w.l;
    gram->pivot = w.pivot;
    w.l = NULL;
    w.pivot = NULL;
    if (!gram->m) { /* G = 0: one row of zeros */
        gram->m = 1;
        memset(gram->c, 0, q * sizeof *gram->c);
    }
    status = list_entries(ctx, gram);
out:
    sk_psd_pivots_clear(&w);
    sk_free(work);
    if (status < 0)
        sk_psd_gram_free(gram);
    else
        *out = gram;
    return status;
}

/* t = diag(1/s) V c' in inner units: row i of C is s_i v_i. Without a spectrum C' t = c by substitution at the pivots.
 * Answers |t|^2. */
static double targets(const sk_psd_gram *gram, size_t pairs, const double *c, double target_scale, double *t)
{
    size_t q = gram->q, m = gram->m;
    double square = 0, unit = 1 / (gram->scale * target_scale);
    for (size_t pair = 0; pair < pairs; pair++)
        for (size_t i = 0; i < m; i++) {
            double value, *row = gram->c + i * q;
            if (gram->s2) {
                value = gram->s2[i] > 0 ? unit / gram->s2[i] * sk_dot(q, row, c + pair * q) : 0;
            } else {
                size_t at = gram->pivot[i];
                value = unit * c[pair * q + at];
                for (size_t j = 0; j < i; j++) value -= gram->c[j * q + at] * t[pair * m + j];
                value = row[at] > 0 ? value / row[at] : 0;
            }
            t[pair * m + i] = value;
            square += value * value;
        }
    return square;
}

/* y = -(n/2 + C C' / (2 lambda))^-1 t, the dual point of the unconstrained solution. */
static sock_status unconstrained(sock_context *ctx, const sk_psd_gram *gram, const sk_psd_inner *inner, double *y)
{
    size_t m = gram->m, pairs = inner->map.pairs;
    double half = 0.5 * (double)inner->n;
    if (gram->s2) {
        for (size_t i = 0; i < pairs * m; i++) y[i] = -inner->t[i] / (half + gram->s2[i % m] / (2 * inner->lambda));
        return SOCK_OK;
    }
    double *matrix = sk_doubles(ctx, m, m);
    if (!matrix) return SOCK_ENOMEM;
    sk_syrk(ctx, SK_PLAIN, m, gram->q, 1 / (2 * inner->lambda), gram->c, gram->q, 0, matrix, m);
    for (size_t i = 0; i < m; i++) matrix[i * m + i] += half;
    sock_status status = sk_cholesky(ctx, m, matrix, m);
    for (size_t pair = 0; pair < pairs; pair++) {
        for (size_t i = 0; i < m; i++) y[pair * m + i] = status < 0 ? 0 : -inner->t[pair * m + i];
        if (status >= 0) sk_cholesky_solve(ctx, m, 1, matrix, m, y + pair * m, 1);
    }
    sk_free(matrix);
    return status == SOCK_ENUMERIC ? SOCK_OK : status; /* 0 is as good a start as any */
}

sk_psd_map sk_psd_gram_map(const sk_psd_gram *gram, size_t d)
{
    return (sk_psd_map){.m = gram->m,
                        .p = gram->p,
                        .d = d,
                        .pairs = d * (d + 1) / 2,
                        .c = gram->c,
                        .h = gram->q,
                        .first = gram->first,
                        .second = gram->second};
}

/* Everything in inner units but the start; t: pairs x m. */
static void fill_inner(const sk_psd_gram *gram, const sk_psd_moments *z, const sk_psd_options *options,
                       double target_scale, double *t, sk_psd_inner *inner)
{
    const double n = (double)inner->n, square = targets(gram, inner->map.pairs, z->c, target_scale, t);
    inner->t = t;
    inner->s2 = gram->s2;
    inner->rest = n > square ? n - square : 0;
    inner->lambda = z->lambda / (gram->scale * gram->scale);
    inner->tolerance = options && options->tolerance > 0 ? options->tolerance : SK_PSD_TOLERANCE;
    inner->max_iterations = options && options->max_iterations ? options->max_iterations : 200;
    if (options && options->seconds > 0) inner->deadline = sk_seconds() + options->seconds;
}

static void give_answer(const sk_psd_inner *inner, const sk_psd_point *point, double unit, double square, double *q,
                        sk_psd_bounds *bounds)
{
    const size_t order = inner->map.p * inner->map.d;
    for (size_t i = 0; i < order * order; i++) q[i] = unit * point->q[i];
    if (bounds)
        *bounds = (sk_psd_bounds){square * point->primal, square * (point->primal - point->gap), square * point->gap,
                                  inner->iterations, *inner->effort};
}

sock_status sk_psd_gram_solve(sock_context *ctx, const sk_psd_gram *gram, size_t n, const sk_psd_moments *z,
                              const sk_psd_options *options, double *dual, bool warm, double *q, sk_psd_bounds *bounds)
{
    const size_t d = z->d, length = d * (d + 1) / 2 * gram->m, order = gram->p * d;
    const double target_scale = sqrt(z->zz / (double)n);
    assert(gram->s2 || (d == 1 && gram->p <= SK_PSD_QUICK && !dual));
    if (!(target_scale > 0)) { /* nothing to explain */
        memset(q, 0, order * order * sizeof *q);
        if (bounds) *bounds = (sk_psd_bounds){0};
        return SOCK_OK;
    }
    sk_psd_effort effort = {0};
    sk_psd_inner inner = {.n = n, .effort = &effort, .map = sk_psd_gram_map(gram, d)};
    sk_psd_point point = {0};
    double *t = sk_doubles(ctx, length, 1);
    sock_status status = t ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    SK_GO(sk_psd_map_work(ctx, &inner.map));
    SK_GO(sk_psd_point_new(ctx, &inner.map, &point));
    SK_GO(sk_eigen_new(ctx, order, &inner.eigen));
    fill_inner(gram, z, options, target_scale, t, &inner);
    if (dual && warm) /* where it ended last */
        memcpy(point.y, dual, length * sizeof *dual);
    else
        SK_GO(unconstrained(ctx, gram, &inner, point.y));
    SK_GO(sk_psd_newton(ctx, &inner, &point));
    give_answer(&inner, &point, target_scale / gram->scale, target_scale * target_scale, q, bounds);
    if (dual) memcpy(dual, point.y, length * sizeof *dual);
out:
    sk_eigen_free(inner.eigen);
    sk_psd_point_clear(&point);
    sk_psd_map_clear(&inner.map);
    sk_free(t);
    return status;
}

size_t sk_psd_gram_rows(const sk_psd_gram *gram) { return gram->m; }
