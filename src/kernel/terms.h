/* terms.h - one term of a kernel, seen from inside the room: values, gradients and what families have in common. */
#ifndef SK_TERMS_H
#define SK_TERMS_H

#include "kernel/kernel.h"

enum {
    SK_MAX_DEGREE = 100,
    SK_MAX_FEATURES = 1000000,
    SK_MAX_OWN_DIM = 64 /* largest d for a kernel of the user's own: its block stands on the stack */
};

/* "gauss", "poly", ... ("callback" for the user's own). */
const char *sk_family_name(sk_family family);

/* gauss, poly, linear, affine, constant: k(x, y) is a formula. */
bool sk_family_is_closed(sk_family family);

/* The family whose parameters the term has: that of `of` for nystrom, its own otherwise. */
sk_family sk_term_base(const sk_term *term);
bool sk_term_needs_eta(const sk_term *term);

/* A kernel of `count` copied terms (B too). */
sock_status sk_kernel_from_terms(sock_context *ctx, size_t count, const sk_term *terms, sk_kernel **out);

/* v^degree by squaring. */
double sk_power(double v, size_t degree);

/* k(x, y) of a closed term without B, and its gradient in x added to gradient (d). */
double sk_term_value(const sk_term *term, size_t d, const double *x, const double *y);
void sk_term_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient);

#endif
