/* innovation.h - rows of a drift from the innovations of a filter: Gauss-Newton on the filter's likelihood. The
 * derivative U (d x p d) of the filtered mean in the weights of the drift is carried along each run,
 *
 *     U <- J U + sum_t J_t (x) psi_t',    row = U,  target = e + u0,  weight (S + shift)^-1,    U <- (1 - K) U,
 *
 * psi_t the features at time t of the step, averaged and weighted, J_t the propagator from there to the end, and u0
 * what becomes of the current drift itself in the same way. Column k p + j belongs to component k and feature j.
 * Nothing here knows of models or filters: all comes as arrays. */
#ifndef SK_INNOVATION_H
#define SK_INNOVATION_H

#include "drift/driftsums.h"

/* Steps of whole runs, all of one fold. */
typedef struct sk_innovations {
    size_t n, d, times, fold;
    const unsigned char *begins; /* n: a run begins */
    const double *slope;         /* n x d x d: J */
    const double *onward;        /* n x times x d x d: J_t */
    const double *keep;          /* n x d x d: 1 - K */
    const double *white;         /* n x d x d: (S + shift)^-1 = white' white; 0 where a step does not count */
    const double *e;             /* n x d: innovations */
    const double *drift;         /* n x times x d: the current drift there, weighted as psi */
} sk_innovations;

/* The rows of features psi (n x times x p) into sums that are SK_JOINT. */
sock_status sk_drift_sums_add_innovations(sock_context *ctx, sk_drift_sums *sums, const sk_innovations *in,
                                          const double *psi);

/* score (n): minus half the squared residual of every step for a drift with values `other` (n x times x d, weighted as
 * psi) at the nodes. */
sock_status sk_innovation_scores(sock_context *ctx, const sk_innovations *in, const double *other, double *score);

#endif
