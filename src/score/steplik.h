/* steplik.h - what the two likelihoods of score.h share: a loop over the intervals of all trajectories, each of which
 * gets a term of the sum or a reason why it has none. */
#ifndef SK_STEPLIK_H
#define SK_STEPLIK_H

#include "model/modelinputs.h"
#include "score/score.h"

typedef enum sk_fate { SK_FATE_GOOD, SK_FATE_SINGULAR, SK_FATE_BROKEN, SK_FATE_UNSETTLED } sk_fate;

/* Work on intervals; i-th: from point start[i] of the data to the next. */
typedef struct sk_step_job {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    double delta;
    size_t *input; /* where the model's inputs stand in the data, or NULL */
    size_t intervals;
    size_t *start;
    double *space; /* space_each doubles for each worker */
    size_t space_each;
    double *term;        /* intervals: log densities, */
    unsigned char *fate; /* where this is SK_FATE_GOOD */
    double *keep;        /* intervals: the terms for the caller, -infinity where there is none; NULL: not wanted */
} sk_step_job;

/* Runs fn (whose arg is a const sk_step_job *) over all intervals in pieces of `grain` and adds up in their order. fn
 * fills term and fate of its range. */
sock_status sk_step_likelihood(sk_step_job *job, size_t grain, sk_range_fn fn, sk_loglik *out);

/* *out = log N(u; 0, S + delta I). S (d x d, symmetric) and u are destroyed. */
sk_fate sk_gauss_density(size_t d, double delta, double *s, double *u, double *out);

#endif
