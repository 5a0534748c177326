/* filtertangent.h - how what a frozen filter says of every observation moves with a and R, and with it the Fisher
 * information of its likelihood,
 *
 *     F_uv = sum over steps of de_u' S^-1 de_v + tr(S^-1 dS_u S^-1 dS_v) / 2.
 *
 * The recursion of the filter, differentiated: with 1 - K = B,
 *
 *     dm = J dx,   dPp = J dP J' + dV,   dS = dPp + dR,
 *     dx <- B dm + (B dPp - K dR) S^-1 e,         dP <- B dPp B' + K dR K'. */
#ifndef SK_FILTERTANGENT_H
#define SK_FILTERTANGENT_H

#include "noise/frozen.h"

/* Numbers that a step has of each direction: S^-1/2 de, and S^-1/2 dS S^-T/2 on and below the diagonal, so weighted
 * that their products add up to F. */
size_t sk_tangent_rows(size_t d);

/* Those of step i for a move of the mean (d) and the variance (d x d) of its end: y (sk_tangent_rows), ld apart. */
void sk_tangent_row(const sk_frozen *z, size_t i, const double *mean, const double *variance, double *y, size_t ld);

/* Those of all steps of a run, for `count` directions: dv (steps x count x d x d) are the moves of V, the variance
 * that a step adds, dr (count x d x d; NULL: none) those of R. y: (steps x sk_tangent_rows) x count, ld apart. */
sock_status sk_tangent_run(sock_context *ctx, const sk_frozen *z, size_t run, size_t count, const double *dv,
                           const double *dr, double *y, size_t ld);

#endif
