/* paper.h - the paper's own protocol (its section 4): one Gaussian kernel for the drift, Fourier features for the
 * diffusion, the trapezoid rule with groups averaged, and a grid search on validation data. */
#ifndef SK_PAPER_H
#define SK_PAPER_H

#include "tune/tune.h"

/* As sk_tune. Of the spec it reads data, validation (NULL: a fifth of the groups is held out), seed, drift, diffusion,
 * diagonal_only, delta, budget and tolerance; a kernel other than "auto" is taken as it is, and only its lambda is
 * searched. */
sock_status sk_tune_paper(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told);

#endif
