/* factor.h - a normal law around some of many numbers (the weights of a field): number entry[i] moves by
 * sum_c value[i][c] z_c with z standard normal. Numbers of different groups move independently: each group has a z of
 * its own. */
#ifndef SK_FACTOR_H
#define SK_FACTOR_H

#include "base/base.h"

typedef struct sk_factor {
    size_t count, rank, groups;
    size_t *entry; /* count: which numbers, each at most once */
    size_t *group; /* count: below groups */
    double *value; /* count x rank */
} sk_factor;

/* All zeros. */
sock_status sk_factor_new(sock_context *ctx, size_t count, size_t rank, size_t groups, sk_factor **out);
void sk_factor_free(sk_factor *factor);

/* numbers += factor z; z: groups x rank standard normal numbers. */
void sk_factor_move(const sk_factor *factor, const double *z, double *numbers);

/* The symmetric positive semi-definite T (n x n, both triangles) = L L' by pivots, up to rounding: L is n x *rank,
 * allocated. Each number counts in its own units. */
sock_status sk_factor_symmetric(sock_context *ctx, size_t n, const double *t, double **l, size_t *rank);

/* The numbers also move by `more` (count x columns) times further normal numbers; the rank becomes count. Groups stay
 * independent of each other. */
sock_status sk_factor_widen(sock_context *ctx, sk_factor *factor, size_t columns, const double *more);

#endif
