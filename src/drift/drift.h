/* drift.h - the drift f by ridge regression on occupation kernels (paper section 3.1, Theorem 1):
 *
 *     implicit    (L* + n lambda I) alpha = dy,        c = W' alpha,  f(x) = sum_a k(x, x_a) c_a
 *     explicit    (Psi'Psi + n lambda I) w = Psi' dy,  f(x) = w' phi(x)
 *     Nystrom     the explicit form with landmark features
 *
 * A fit sees rows (Psi or L*, dy), never trajectories. */
#ifndef SK_DRIFT_H
#define SK_DRIFT_H

#include "occupation/occupation.h"

/* One summand of f: a kernel with centres (f = sum_a K(x, x_a) c_a) or a feature map with weights (f = w' phi). */
typedef struct sk_drift_term {
    sk_kernel *kernel; /* kernel form; else NULL */
    size_t centres;
    double *centre;   /* centres x d */
    sk_features *map; /* feature form; else NULL */
    size_t d;
    double *weight; /* kernel form: centres x d; feature form: p x d */
} sk_drift_term;

void sk_drift_term_free(sk_drift_term *term);

/* f (count x d) += the term at x, on the calling thread; space: sk_drift_term_space(term, block) doubles, count <=
 * block. */
size_t sk_drift_term_space(const sk_drift_term *term, size_t block);
sock_status sk_drift_term_add(sock_context *ctx, const sk_drift_term *term, size_t count, const double *x, double *f,
                              double *space);

#endif
