/* steps.h - trajectories as single steps y -> next, each realisation for itself, for the estimators that condition on
 * the left end; and the conditional quadrature, whose nodes come from a pilot model. */
#ifndef SK_STEPS_H
#define SK_STEPS_H

#include "occupation/occupation.h"

typedef struct sk_steps {
    size_t n, d, trajectories;
    double *y, *next, *dy; /* n x d: left end, right end, increment */
    double *h;             /* n */
    size_t *trajectory;    /* n: where a step comes from */
} sk_steps;

/* All intervals of all realisations, in the order of the data. SOCK_EINPUT when there is none. */
sock_status sk_steps_new(sock_context *ctx, const sock_data *data, sk_steps **out);

/* The steps listed in keep, as steps of their own. */
sock_status sk_steps_subset(sock_context *ctx, const sk_steps *steps, size_t count, const size_t *keep, sk_steps **out);
void sk_steps_free(sk_steps *steps);

/* A rule with one row for each step and dy as targets.
 *
 *     f0 and a0 NULL: the left point, h g(y).
 *     else the trapezoid of E[g(x_t) | y]: h/2 g(y) + h/2 mean of g over the 2d sigma points of N(y + h f0, h a0),
 *     f0 (n x d) and a0 (n x d x d) at the left ends.
 *
 * Nodes of a step stand together, the left end first. */
sock_status sk_rule_conditional(sock_context *ctx, const sk_steps *steps, const double *f0, const double *a0,
                                sk_rule **out);

/* A rule of the trapezoid over the two ends of each step: nodes y_0, next_0, y_1, ... */
sock_status sk_rule_ends(sock_context *ctx, const sk_steps *steps, sk_rule **out);

#endif
