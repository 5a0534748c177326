/* leftover.h - what the drift leaves over, from which the diffusion is learned. */
#ifndef SK_LEFTOVER_H
#define SK_LEFTOVER_H

#include "tune/problem.h"

/* What the drift left over: residuals of every step, without each fold and from all rows; (folds + 1) x n x d. */
typedef struct sk_leftover {
    const double *e;
    bool correct; /* E[e e'] is F (I a) F': apply F^-1 to e before the squares are formed */
} sk_leftover;

/* *out ((folds + 1) x n x d, freed with sk_free): the residuals with F^-1 applied; NULL when the leftover does not ask
 * for it, and they are to be taken as they are. */
sock_status sk_corrected_residuals(sock_context *ctx, const sk_problem *p, const sk_leftover *leftover, double **out);

#endif
