/* inertia.h - a Gaussian filter over s = (x, v) for models of second order, dx = v dt, dv = F dt + sigma dW, of which
 * positions y_i = x(t_i) + e_i, e_i ~ N(0, R), are observed. From N(m, P) over a step of any length h:
 *
 *     mean     one Runge-Kutta step of (v, F averaged over the spread of v)
 *     E        exp(h J), J = [[0, 1], [F_x, F_v]] in the middle of the step
 *     nodes    the beginning, the middle and the end, weights g = h (1/6, 4/6, 1/6), each a set of points v +- the
 *              columns of the root of d (P_vv + t a)
 *     spread   P- = E P E' + sum_k g_k c_k a(node_k) c_k',  c_k = exp((h - t_k) J)'s columns of v
 *     e = y - m-_x,  S = P-_xx + R,  K = P-_x S^-1,  m = m- + K e,  P = (1 - K H) P- (1 - K H)' + K R K'
 *
 * A run begins with two points: m = (y_1, (y_1 - y_0)/h + h F/2), P_xx = R, P_xv = R/h, P_vv = a h/3 + 2 R/h^2; its
 * first density is that of the third. What rows of a fit need of the steps is kept: see occupation/lift.h. In one
 * dimension these are the filter's own E, c and K; in several every coordinate has the same E = [[1, h], [0, 1]], and
 * the mean gain. */
#ifndef SK_INERTIA_H
#define SK_INERTIA_H

#include "occupation/lift.h"
#include "score/filter.h"

typedef struct sk_inertia_spec {
    const sock_model *model;  /* of order 2, 2d states */
    const double *noise;      /* R, d x d; NULL: 0 */
    const double *reach;      /* 2d: for differences */
    const double *low, *high; /* 2d: the model is evaluated at the walls of this box beyond it */
    bool kinematic;           /* rows as in several dimensions */
    /* A whole pass of a series of 2d states, or NULL: the laws of all points, for sk_smooth. Runs then begin at their
     * first point, with a velocity of which next to nothing is known, and their first density means nothing. */
    const sk_pass *laws;
} sk_inertia_spec;

/* What a filter leaves; any but the first five may be NULL, all that follow together: not wanted. Points of a node: 2d.
 */
typedef struct sk_inertia_pass {
    double *term;          /* steps: log densities; 0 where a run begins */
    unsigned char *begins; /* steps */
    unsigned char *lost;   /* steps: the law was lost; the run begins again */
    double *e, *s;         /* steps x d, steps x d x d */
    double *m;             /* steps x 2d: the state at the end of the step, given observations up to it */
    double *node;          /* steps x 3 x 2d points x 2d */
    double *f, *a;         /* steps x 3 x d, steps x 3 x d x d: F and a there, averaged over the points */
    double *carry, *onward, *gain;
    void *own[2];
} sk_inertia_pass;

sock_status sk_inertia_pass_new(sock_context *ctx, const sk_series *series, bool rows, sk_inertia_pass *out);
void sk_inertia_pass_clear(sk_inertia_pass *pass);

/* Units and a box for positions and velocities, from the data. */
sock_status sk_inertia_frame_new(sock_context *ctx, const sk_series *series, sk_frame *out);

/* Runs in parallel; the numbers do not depend on the threads. */
sock_status sk_inertia(sock_context *ctx, const sk_series *series, const sk_inertia_spec *spec,
                       const sk_inertia_pass *out);

/* The laws of position and velocity at every point of the data, given the positions up to it (a pass of 2d states, to
 * be cleared); noise: R, 2d x 2d, or NULL. See secondorder.c. */
sock_status sk_second_laws(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                           sk_pass *out);

/* The rows of the steps. */
sk_lift sk_inertia_lift(const sk_series *series, const sk_inertia_pass *pass);

#endif
