/* tally.h - sums over rows by cluster. Where rows are visited by several threads, their order does not show
 * (base/sums.h); else they are plain sums in the order of the rows. */
#ifndef SK_TALLY_H
#define SK_TALLY_H

#include "base/comm.h"
#include "base/sums.h"
#include "occupation/transitions.h"

typedef struct sk_tally {
    size_t count;
    double *sum, *low; /* sum is borrowed, and right at any time; low is our own, NULL: plain sums */
} sk_tally;

/* sum: count zeros, or what is to be added to. apart: by several threads. */
static inline sock_status sk_tally_new(sock_context *ctx, bool apart, size_t count, double *sum, sk_tally *out)
{
    *out = (sk_tally){count, sum, apart ? sk_doubles(ctx, count, 1) : NULL};
    return out->low || !apart ? SOCK_OK : SOCK_ENOMEM;
}

static inline void sk_tally_clear(sk_tally *t)
{
    sk_free(t->low);
    t->low = NULL;
}

/* n values, number i for the place first + place[i]. */
static inline void sk_tally_take(sock_context *ctx, const sk_tally *t, size_t first, size_t n, const size_t *place,
                                 const double *value)
{
    if (!t->low) {
        for (size_t i = 0; i < n; i++) t->sum[first + place[i]] += value[i];
        return;
    }
    sk_sums_lock(ctx);
    for (size_t i = 0; i < n; i++) sk_sum_take(value[i], t->sum + first + place[i], t->low + first + place[i]);
    sk_sums_unlock(ctx);
}

/* After a pass over rows that went well: those of all processes that share them. */
static inline void sk_tally_over_all(sock_context *ctx, const sk_transitions *rows, const sk_tally *t)
{
    if (rows->store) sk_sum_over_all(ctx, t->count, t->sum, t->low);
}

#endif
