/* candidates.h - which kernels are tried. */
#ifndef SK_CANDIDATES_H
#define SK_CANDIDATES_H

#include "tune/trial.h"
#include "tune/tune.h"

typedef struct sk_candidates {
    size_t drifts, drift_capacity;
    sk_candidate *drift;
    size_t diffusions, diffusion_capacity;
    sk_candidate *diffusion;
} sk_candidates;

/* Kernels that can be afforded in d dimensions, with length scales in units of the rows' spread; the same for any
 * number of rows, but for a full a of four states and more (sk_full_is_tried). pilot: the few of the pilot. */
sock_status sk_candidates_new(sock_context *ctx, const sk_tune_spec *spec, const sk_transitions *rows, bool pilot,
                              sk_candidates *out);
void sk_candidates_clear(sk_candidates *c);

/* The constant drift without a penalty; SK_MOST: not in the list. */
size_t sk_free_constant(const sk_candidates *list);

#endif
