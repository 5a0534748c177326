/* monomials.h - sums of monomials of the states (and inputs) about an origin, with several coefficients each: the
 * fields of a model whose features are all monomials. */
#ifndef SK_MONOMIALS_H
#define SK_MONOMIALS_H

#include "model/model.h"

typedef struct sk_monomial_sum {
    sock_context *ctx;
    size_t d, values, count, /* d: coordinates, states and inputs */
        powers_room, numbers_room;
    double *origin;  /* d: monomials are products of (x_k - origin_k)^power_k */
    unsigned *power; /* count x d */
    double *number;  /* count x values */
} sk_monomial_sum;

/* Empty, about an origin (d, copied). */
sock_status sk_monomials_init(sock_context *ctx, size_t d, size_t values, const double *origin, sk_monomial_sum *out);
void sk_monomials_clear(sk_monomial_sum *s);

/* The coefficients of a monomial, new ones at zero; NULL when out of memory. */
double *sk_monomials_at(sk_monomial_sum *s, const unsigned *power);

/* Adds value (values numbers) times the product of (x_k - from_k)^power_k, written about the sum's origin; from NULL:
 * zero. */
sock_status sk_monomials_add(sk_monomial_sum *s, const unsigned *power, const double *from, const double *value);

/* Adds the features of a drift term, times factor. */
sock_status sk_monomials_add_drift(sk_monomial_sum *s, const sk_drift_term *term, double factor);

/* "x^2*y", "(x - 300)^2*y", "1". NULL when out of memory. */
char *sk_monomials_label(const sk_monomial_sum *s, const char *const *names, const unsigned *power);

/* The origin (a number for each coordinate) in which the polynomials of a model are short: the roundest that one of its
 * features has, and where all are about the middle of the data, the roundest number near that. 0 for a model in the
 * units of the data. scale (as many): the units of the first of its maps that has its own, else 1. */
void sk_model_origin(const sock_model *model, double *origin, double *scale);

#endif
