/* certificate.c - objective, dual objective and their difference.
 *
 * For any Q >= 0 and any dual point y, with S = -R*(y), r = R(Q) - t:
 *
 *     P - D = (1/n) |r - (n/2) y|^2  +  lambda |Q - S_+/(2 lambda)|^2  +  <S_-, Q>          (three terms >= 0)
 *
 * which is the expanded difference with the squares completed; no two large numbers are subtracted. At (y, Q(y)) only
 * the first term is left, and it is |grad J|^2 / n. With row weights everything holds for rows, targets and dual points
 * scaled by sqrt(w): y_i = beta_i / sqrt(w_i). */
#include "psdinner.h"

#include <math.h>
#include <string.h>

sock_status sk_psd_point_new(sock_context *ctx, const sk_psd_map *map, sk_psd_point *point)
{
    size_t D = map->p * map->d, length = map->d * (map->d + 1) / 2 * map->m;
    *point = (sk_psd_point){.y = sk_doubles(ctx, length, 1),
                            .g = sk_doubles(ctx, length, 1),
                            .rq = sk_doubles(ctx, length, 1),
                            .e = sk_doubles(ctx, D, D),
                            .values = sk_doubles(ctx, D, 1),
                            .q = sk_doubles(ctx, D, D)};
    if (point->y && point->g && point->rq && point->e && point->values && point->q) return SOCK_OK;
    sk_psd_point_clear(point);
    return SOCK_ENOMEM;
}

void sk_psd_point_clear(sk_psd_point *point)
{
    sk_free(point->y);
    sk_free(point->g);
    sk_free(point->rq);
    sk_free(point->e);
    sk_free(point->values);
    sk_free(point->q);
    *point = (sk_psd_point){0};
}

sock_status sk_psd_split(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point)
{
    size_t D = inner->map.p * inner->map.d;
    double start = sk_seconds(), largest = 0;
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j <= i; j++) point->e[i * D + j] = -point->e[i * D + j];
    }
    SK_TRY(sk_eigen_solve(ctx, inner->eigen, D, point->e, D, point->values));
    for (size_t i = 0; i < D; i++) largest = fmax(largest, fabs(point->values[i]));
    point->positive = 0;
    point->q2 = 0;
    double scale = 1 / (2 * inner->lambda);
    while (point->positive < D) {
        double value = point->values[D - 1 - point->positive];
        if (!(value > 1e-300 && value > 1e-18 * largest)) break;
        point->q2 += value * scale * (value * scale);
        point->positive++;
    }
    sk_psd_positive_part(ctx, D, point->e, point->values, point->positive, scale, point->q);
    inner->effort->eigen += sk_seconds() - start;
    inner->effort->eigendecompositions++;
    return SOCK_OK;
}

sock_status sk_psd_evaluate(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point)
{
    double start = sk_seconds();
    SK_TRY(sk_psd_map_adjoint(ctx, &inner->map, point->y, point->e));
    inner->effort->products += sk_seconds() - start;
    SK_TRY(sk_psd_split(ctx, inner, point));
    start = sk_seconds();
    SK_TRY(sk_psd_map_apply(ctx, &inner->map, point->q, point->rq));
    inner->effort->products += sk_seconds() - start;
    inner->effort->products_count += 2;
    return sk_psd_measure(ctx, inner, point);
}

sock_status sk_psd_measure(sock_context *ctx, const sk_psd_inner *inner, sk_psd_point *point)
{
    size_t length = inner->map.pairs * inner->map.m;
    double n = (double)inner->n, residual = inner->rest, square = 0;
    for (size_t i = 0; i < length; i++) {
        double r = point->rq[i] - inner->t[i];
        point->g[i] = n / 2 * point->y[i] - r;
        residual += r * r;
        square += point->y[i] * (n / 4 * point->y[i] + inner->t[i]);
    }
    double g = sk_norm(length, point->g);
    point->objective = square + inner->lambda * point->q2;
    point->primal = residual / n + inner->lambda * point->q2;
    point->gap = g * g / n;
    return isfinite(point->objective) && isfinite(point->primal)
               ? SOCK_OK
               : sk_fail(ctx, SOCK_ENUMERIC, "the diffusion problem overflows at lambda = %g (scaled)", inner->lambda);
}

bool sk_psd_done(const sk_psd_inner *inner, const sk_psd_point *point)
{
    return point->gap <= inner->tolerance * point->primal;
}

bool sk_psd_exhausted(sk_psd_inner *inner)
{
    inner->iterations++;
    return inner->iterations >= inner->max_iterations || (inner->deadline > 0 && sk_seconds() > inner->deadline);
}
