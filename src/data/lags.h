/* lags.h - how increments of a state follow each other, from the data alone. A diffusion seen without noise at short
 * steps has independent increments:
 *
 *                                    lag 1            lag 2               second differences, lag 1
 *   a diffusion, short steps         0                0                   -1/2
 *   measurement noise R              -R / (a h + 2R)  0                   to -2/3
 *   long steps, pulled back by rho   -(1 - rho) / 2   rho times lag 1     below -1/2
 *   inertia (a velocity)             above 0          above 0             to +1/4
 *
 * Over thinnings what is above 0 goes away beyond the memory. */
#ifndef SK_LAGS_H
#define SK_LAGS_H

#include "data/data.h"

/* Which correlation: of increments over m steps, the second one `gap` steps later; or of second differences. */
typedef struct sk_lag {
    size_t m, gap;
    bool second;
} sk_lag;

/* Sums over pairs of increments (u, v). */
typedef struct sk_lag_sums {
    size_t count;
    double u, v, uu, vv, uv; /* means; moments about them */
} sk_lag_sums;

/* Over the pairs of state k without a step of skip (points, or NULL). seen: so many points of the first trajectory are
 * there for pairs that end behind them. join: += those of other pairs. */
sk_lag_sums sk_lag_gather(const sock_data *data, const bool *skip, size_t seen, size_t k, sk_lag lag);
void sk_lag_join(const sk_lag_sums *part, sk_lag_sums *to);

/* Their correlation; NaN, and why (static text). */
double sk_lag_of(const sk_lag_sums *sums, const char **reason);

#endif
