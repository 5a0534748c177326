/* bounds.h - where states end: what kernels and nodes near a bound have to know of it. */
#ifndef SK_BOUNDS_H
#define SK_BOUNDS_H

#include "kernel/kernel.h"

typedef struct sk_bounds {
    size_t d;
    double *lower, *upper;         /* d each, infinite where there is none */
    size_t in;                     /* states, and inputs behind them, which have no bounds */
    double *origin, *scale;        /* in each: zero and units of kernels that know bounds; 0 and 1 without one */
    char sides[SK_MOST_SIDES + 1]; /* the letters of kernel.h for the states; "" beyond so many */
} sk_bounds;

/* Copies the bounds. The unit of a state with one bound is its mean distance from there over the points x (count x d),
 * that of a state with two is what lies between them. *out stays NULL where no state has one. */
sock_status sk_bounds_new(sock_context *ctx, size_t d, const double *lower, const double *upper, size_t count,
                          const double *x, sk_bounds **out);

/* Inputs join the states: `in` coordinates in all. */
sock_status sk_bounds_widen(sock_context *ctx, size_t in, sk_bounds *bounds);

/* The letters of a kernel of the states and of those inputs that count (use: in - d, NULL: all), in + 1 bytes. false
 * where there are too many coordinates. */
bool sk_bounds_letters(const sk_bounds *bounds, const bool *use, char letters[SK_MOST_SIDES + 1]);
void sk_bounds_free(sk_bounds *bounds);

/* out (count x in) := the points x in the units of the kernels. */
void sk_bounds_units(const sk_bounds *bounds, size_t count, const double *x, double *out);

/* x (d) taken to the bounds where it is outside. */
void sk_bounds_clip(size_t d, const double *lower, const double *upper, double *x);

/* r of the two points m + r S and m - S / r that stand for the column S of a square root of a covariance, with weights
 * 1 / (1 + r^2) and r^2 / (1 + r^2): mean and covariance are the same for any r > 0. r = 1 where both points are
 * inside, else what brings the one outside to the bound, within 1/30 and 30. m: inside. */
double sk_skew(const sk_bounds *bounds, const double *m, const double *s, size_t stride);

#endif
