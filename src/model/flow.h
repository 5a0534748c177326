/* flow.h - the moments of a step under a model, from a Gaussian start N(m, P) over a length h:
 *
 *     m' = E f(X),   V' = A V + V A' + E a(X),   J' = A J,        X ~ N(m, V), V(0) = P, J(0) = 1
 *
 * A is the slope over the spread of X, E f(X) (X - m)' = A V; J says what a shift of the start becomes at the end. Many
 * starts flow side by side. Filters, long steps and rows of measured data are made of it. */
#ifndef SK_FLOW_H
#define SK_FLOW_H

#include "model/sampler.h"

/* How a step is followed. */
typedef struct sk_substeps {
    size_t count; /* S: equal substeps of Heun's rule */
    bool split;   /* the points of the law in the middle flow on by themselves: skewness shows in the variance */
} sk_substeps;

typedef struct sk_flow_spec {
    sk_substeps substeps;
    const double *reach;      /* d, > 0: standard deviations added to every law, so that slopes exist where V = 0 */
    const double *low, *high; /* d: points beyond this box are evaluated at its wall; NULL: there is none */
} sk_flow_spec;

typedef struct sk_flow_starts {
    size_t count;
    const double *m; /* count x d */
    const double *p; /* count x d x d; NULL: 0 */
    const double *h; /* count */
} sk_flow_starts;

/* What is wanted of it; a law that is lost is not finite. Nodes are the points at the times t_0 .. t_S: those of the
 * law, and at t_0 the start alone where p is NULL. I g is the sum over the nodes of weight times g. */
typedef struct sk_flow_ends {
    double *mean;  /* count x d */
    double *cov;   /* count x d x d */
    double *slope; /* count x d x d: J; NULL: not wanted, then x is NULL too */
    /* all of these, or x is NULL */
    double *x;         /* count x nodes x d */
    double *weight;    /* count x nodes */
    double *onward;    /* count x (S + 1) x d x d: J from each time to the end */
    double *average;   /* count x d x d: F, the mean of these over the step */
    double *drift;     /* count x (S + 1) x d: f at the nodes of each time, weighted; their sum is I f */
    double *diffusion; /* count x d x d: I a */
} sk_flow_ends;

/* Points of a law in d dimensions, and nodes of a step; certain: p is NULL. */
size_t sk_flow_points(size_t d);
size_t sk_flow_nodes(size_t d, size_t substeps, bool certain);

/* A sampler for the flows of so many starts: with a table over the box, where that is worth it. */
sock_status sk_flow_sampler(sock_context *ctx, const sock_model *model, const sk_flow_spec *spec, size_t starts,
                            sk_sampler **out);

/* Work space of one thread for up to `most` starts. Borrows model and sampler; the arrays of the specification too. */
typedef struct sk_flow sk_flow;
sock_status sk_flow_new(sock_context *ctx, const sock_model *model, const sk_sampler *sampler, const sk_flow_spec *spec,
                        size_t most, sk_flow **out);
void sk_flow_free(sk_flow *flow);

/* On the calling thread, without allocating. */
void sk_flow_run(sock_context *ctx, sk_flow *flow, const sk_flow_starts *starts, const sk_flow_ends *ends);

/* Steps to choose the substeps by. */
typedef struct sk_substeps_ask {
    size_t steps;              /* of the whole data set: more of them show more */
    size_t count;              /* some of them, */
    const double *x, *h;       /* from x (count x d) over h */
    const double *noise;       /* R, d x d; NULL: 0 */
    sk_substeps least;         /* not fewer than these */
    const sk_flow_spec *spec;  /* reach and box */
    const sk_sampler *sampler; /* of the model; NULL: one is made */
} sk_substeps_ask;

/* How far the means and the covariances of s and of 2 s substeps may be apart, in standard deviations and relative, for
 * so many steps; of how many of those that are asked one may be farther; and whether 2 s are tried. */
double sk_substeps_mean_allowed(size_t steps, size_t s);
double sk_substeps_cov_allowed(size_t steps, size_t s);
bool sk_substeps_too_few(size_t far, size_t asked);
bool sk_substeps_may_double(size_t s);

/* The smallest S of 1, 2, 4, 8, 16 with which nine steps of ten are where twice as many substeps lead, to half a
 * standard error of what so many steps can show (from 4 on a quarter); and whether the split changes the variance of
 * more than a tenth. */
sock_status sk_substeps_choose(sock_context *ctx, const sock_model *model, const sk_substeps_ask *ask,
                               sk_substeps *out);

#endif
