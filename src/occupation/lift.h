/* lift.h - rows of second-order dynamics along runs of steps: positions are observed, velocities are not.
 *
 * A filter over s = (x, v) has left for every step its transition E (2 x 2), the vectors c_k that carry what happens at
 * the three nodes of the step (its beginning, middle and end, weights g = h (1/6, 4/6, 1/6)) to its end, and the gain
 * K. All that a fit needs of them is linear in what stands at the nodes, and predictable: no row looks at its own
 * observation.
 *
 *     means     A- = E A + sum_k g_k c_k phi_k,             row = A-_x,    A = (1 - K H) A-
 *     spreads   T- = E T E' + sum_k g_k c_k c_k' q_k,       row = T-_xx,   T = (1 - K H) T- (1 - K H)'
 *     lags      D = T-_x - K T-_xx,   row of lag 1 at the next step = (E D)_x,   of lag 2: D carried on by (1 - K H) E
 *
 * The noise of the observations is one more column of the spreads: it adds 1 to T-_xx after the prediction and K K' to
 * T after the update. */
#ifndef SK_LIFT_H
#define SK_LIFT_H

#include "base/base.h"

enum { SK_LIFT_NODES = 3, SK_LIFT_LAGS = 3 }; /* lags 0, 1 and 2 */

/* Steps of whole runs. */
typedef struct sk_lift {
    size_t n;
    const unsigned char *begins; /* n: two points give position and velocity; no row */
    const double *h;             /* n */
    const double *carry;         /* n x 2 x 2: E */
    const double *onward;        /* n x 3 x 2: c_k */
    const double *gain;          /* n x 2: K, of x and of v */
} sk_lift;

/* The steps begin .. of it. */
sk_lift sk_lift_part(const sk_lift *lift, size_t begin, size_t end);

/* row (n x width) of `width` columns that stand at the nodes, at (n x 3 x width); 0 where a run begins. */
sock_status sk_lift_means(sock_context *ctx, const sk_lift *lift, size_t width, const double *at, double *row);

/* row (lags x n x width, 1 to 3 lags): the rows of E[e_i e_{i-l}], 0 where there is no such pair. */
sock_status sk_lift_spreads(sock_context *ctx, const sk_lift *lift, size_t width, const double *at, size_t lags,
                            double *row);

/* The same of the noise: row is lags x n. */
sock_status sk_lift_noise(sock_context *ctx, const sk_lift *lift, size_t lags, double *row);

#endif
