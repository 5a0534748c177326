/* secondmoments.h - integrals of polynomials up to degree two over the rows of a rule, from the moments of their nodes.
 */
#ifndef SK_SECONDMOMENTS_H
#define SK_SECONDMOMENTS_H

#include "occupation/occupation.h"

/* Feature j is c_j z_a z_b, z = (x - origin, 1). */
typedef struct sk_quadratic {
    size_t p, d; /* p = 0: the map is none of these, or has too few dimensions for this to pay */
    size_t *a, *b;
    double *c;
    const double *origin; /* d, the map's; NULL: 0 */
} sk_quadratic;

sock_status sk_quadratic_new(sock_context *ctx, const sk_features *map, size_t d, sk_quadratic *out);
void sk_quadratic_clear(sk_quadratic *q);

/* sum of w (x, 1) (x, 1)' over the nodes of a row, (d + 1) x (d + 1), at the head of the space. */
size_t sk_moments_space(const sk_rule *rule);
const double *sk_row_moments(sock_context *ctx, const sk_rule *rule, size_t row, double *space);

/* Of these the sum of w z_a z_b. */
double sk_moment(const sk_quadratic *q, const double *moments, size_t a, size_t b);

/* W phi of one row (p), or of the rows begin .. end-1 (rows of length ld). */
void sk_quadratic_row(const sk_quadratic *q, const double *moments, double *out);
sock_status sk_quadratic_features(sock_context *ctx, const sk_rule *rule, const sk_quadratic *q, size_t begin,
                                  size_t end, double *psi, size_t ld);

#endif
