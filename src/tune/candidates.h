/* candidates.h - which kernels are tried. */
#ifndef SK_CANDIDATES_H
#define SK_CANDIDATES_H

#include "tune/diffusioncv.h"
#include "tune/driftcv.h"
#include "tune/tune.h"

typedef struct sk_candidates {
    size_t drifts, drift_capacity;
    sk_drift_candidate *drift;
    size_t diffusions, diffusion_capacity;
    sk_diffusion_candidate *diffusion;
} sk_candidates;

/* Kernels that the data can afford: n steps in d dimensions with a typical spread. pilot: the few of the pilot. */
sock_status sk_candidates_new(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *steps, bool pilot,
                              sk_candidates *out);
void sk_candidates_clear(sk_candidates *c);

#endif
