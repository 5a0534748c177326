/* filter.h - measured trajectories y_i = x(t_i) + e_i, e_i ~ N(0, R): what a model says of each observation given those
 * before it (filter, log likelihood), and of each state given all of them (smoother). The law of the state between two
 * observations is the flow of model/flow.h.
 *
 *     x_0 | y_0 ~ N(y_0, R);  for each step (mp, Pp, J) = flow of N(m, P),  S = Pp + R,  e = y - mp,  K = Pp S^-1,
 *     m <- mp + K e,   P <- (1 - K) Pp (1 - K)' + K R K',   l = sum log N(e; 0, S), that is of y_1.. given y_0
 *
 * With R = 0 it is the likelihood by the moments of each step. A step counts at least SK_STEP_LEAST; a law that is lost
 * starts again at the next observation. */
#ifndef SK_FILTER_H
#define SK_FILTER_H

#include "data/data.h"
#include "model/flow.h"

/* Runs of steps that follow each other. Points of a run: its steps and one more; those of run r begin at first[r] + r.
 */
typedef struct sk_series {
    size_t d, steps, runs;
    const size_t *first;    /* runs + 1: steps first[r] .. first[r+1]-1 are run r */
    const double *y, *next; /* steps x d: observations at both ends */
    const double *h;        /* steps */
    void *own[4];           /* for who has to free them */
} sk_series;

/* The trajectories of a data set, each a run. */
sock_status sk_series_of_data(sock_context *ctx, const sock_data *data, sk_series *out);
void sk_series_clear(sk_series *series);

/* Runs side by side on one thread, so that a model is evaluated for many at once: those that are not over, and their
 * laws, in this order. */
enum { SK_LANES = 32 }; /* speed only */
typedef struct sk_lanes {
    size_t count;
    size_t run[SK_LANES];
    double *m, *p, *h; /* w, w x w, the length of the step that comes next */
} sk_lanes;

/* Step k of each comes next: runs that have none leave, the others move up. */
void sk_lanes_close_up(const sk_series *series, size_t w, size_t k, sk_lanes *lanes);

/* Runs [begin, end) of job, at most SK_LANES. */
typedef void (*sk_follow)(const void *job, size_t begin, size_t end, int worker);

/* All runs of the series, in parallel. */
sock_status sk_series_follow(sock_context *ctx, const sk_series *series, sk_follow follow, const void *job);

/* What a flow needs to know of the data: a thousandth of the standard deviation of each state, and the box of the data
 * widened by half its width on each side. */
typedef struct sk_frame {
    double *reach, *low, *high; /* d each; one array, that of reach */
} sk_frame;
sock_status sk_frame_new(sock_context *ctx, const sk_series *series, sk_frame *out);
void sk_frame_clear(sk_frame *frame);

typedef struct sk_filter_spec {
    const sock_model *model;
    const double *noise; /* R, d x d; NULL: 0 */
    sk_flow_spec flow;
    const sk_sampler *sampler; /* of the model; NULL: one is made */
} sk_filter_spec;

/* The substeps that the series needs under a model, at least `least`. */
sock_status sk_series_substeps(sock_context *ctx, const sk_series *series, const sk_filter_spec *spec,
                               sk_substeps least, sk_substeps *out);

/* Laws of a filter. Any of the arrays may be NULL: not wanted. */
typedef struct sk_pass {
    double *term;        /* steps: log densities */
    unsigned char *lost; /* steps: 1 where the law was lost */
    double *m, *p;       /* points x d, points x d x d: given the observations up to the point */
    double *mean, *cov;  /* steps x d, steps x d x d: of its end, given those up to its beginning */
    double *slope;       /* steps x d x d: J */
} sk_pass;

/* All arrays of a pass, or those without m and all that follows. */
sock_status sk_pass_new(sock_context *ctx, const sk_series *series, bool laws, sk_pass *out);
void sk_pass_clear(sk_pass *pass);

/* Runs in parallel; the numbers do not depend on the threads. */
sock_status sk_filter(sock_context *ctx, const sk_series *series, const sk_filter_spec *spec, const sk_pass *out);

/* The sum of the log densities. */
double sk_pass_sum(const sk_series *series, const sk_pass *pass);

/* States given all observations, from a whole pass: m (points x d), p (points x d x d), and the gains of the steps
 * (steps x d x d; NULL: not wanted). */
typedef struct sk_smoothed {
    double *m, *p, *gain;
} sk_smoothed;
sock_status sk_smooth(sock_context *ctx, const sk_series *series, const sk_pass *pass, const sk_smoothed *out);

#endif
