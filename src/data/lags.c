/* lags.c - see lags.h. */
#include "data/lags.h"

#include <math.h>

/* The increment of coordinate k over m intervals from point i on, by the root of its length. */
static double increment(const sock_data *data, size_t i, size_t m, size_t k)
{
    return (data->x[(i + m) * data->d + k] - data->x[i * data->d + k]) / sqrt(data->t[i + m] - data->t[i]);
}

static double term(const sock_data *data, size_t i, size_t k, sk_lag lag)
{
    return lag.second ? increment(data, i + 1, 1, k) - increment(data, i, 1, k) : increment(data, i, lag.m, k);
}

/* Points from the first on that a pair needs. */
static size_t reach(sk_lag lag) { return lag.second ? 3 : lag.m + lag.gap; }

static bool is_usual(const bool *skip, size_t i, size_t steps)
{
    for (size_t j = i; skip && j < i + steps; j++)
        if (skip[j]) return false;
    return true;
}

/* Two passes: means first, then moments about them. */
sk_lag_sums sk_lag_gather(const sock_data *data, const bool *skip, size_t seen, size_t k, sk_lag lag)
{
    const size_t far = reach(lag), begin = seen > far ? seen - far : 0;
    sk_lag_sums p = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < data->trajectories; j++)
            for (size_t i = data->first[j] + (j == 0 ? begin : 0); i + far < data->first[j + 1]; i++) {
                if (!is_usual(skip, i, far)) continue;
                const double u = term(data, i, k, lag), v = term(data, i + lag.gap, k, lag);
                if (pass == 0) {
                    p.u += u;
                    p.v += v;
                    p.count++;
                } else {
                    p.uu += (u - p.u) * (u - p.u);
                    p.vv += (v - p.v) * (v - p.v);
                    p.uv += (u - p.u) * (v - p.v);
                }
            }
        if (pass == 0 && p.count) {
            p.u /= (double)p.count;
            p.v /= (double)p.count;
        }
    }
    return p;
}

void sk_lag_join(const sk_lag_sums *part, sk_lag_sums *to)
{
    if (!part->count) return;
    const double n = (double)(part->count + to->count), share = (double)part->count / n;
    const double du = part->u - to->u, dv = part->v - to->v, weight = (double)to->count * share;
    to->uu += part->uu + du * du * weight;
    to->vv += part->vv + dv * dv * weight;
    to->uv += part->uv + du * dv * weight;
    to->u += du * share;
    to->v += dv * share;
    to->count += part->count;
}

double sk_lag_of(const sk_lag_sums *p, const char **reason)
{
    const double r = p->uv / sqrt(p->uu) / sqrt(p->vv);
    *reason = NULL;
    if (p->count < 3)
        *reason = "fewer than 3 pairs of neighbouring intervals";
    else if (p->uu == 0 || p->vv == 0)
        *reason = "the increments do not vary";
    else if (!isfinite(r))
        *reason = "the increments are too large or too small to square";
    return *reason ? (double)NAN : fmax(-1, fmin(1, r));
}
