/* polish.h - quasi-likelihood polish of a diffusion a_kl(x) = phi(x)' Q_kl phi(x), Q = U U':
 *
 *     minimise over U (dp x rank)
 *         sum_i w_i (log det C_i + tr C_i^-1 (e_i e_i' + eps I)) / 2 + mu |U U'|_F^2,
 *         C_i = h_i / 2 (a(y_i) + a(y_{i+1})) + eps I.
 *
 * Least squares weighs large e_i too much and leaves spurious small eigenvalues; the likelihood does not, but is not
 * convex: this starts from the convex solution. The eps in the data term keeps a free of the bias -eps/h. */
#ifndef SK_POLISH_H
#define SK_POLISH_H

#include "la/la.h"

/* All arrays are the caller's and only read. */
typedef struct sk_polish_problem {
    size_t n, d, p;
    const double *phi0, *phi1; /* n x p: features at the beginning and at the end of each step */
    const double *h;           /* n step lengths */
    const double *e;           /* n x d residuals */
    double eps, mu;            /* >= 0 */
    const double *row_weight;  /* w_i >= 0, n of them; NULL: all 1 */
    const size_t *owner;       /* rank: column c of U has feature owner[c] alone, as in u (rates); NULL: all */
} sk_polish_problem;

/* u: (d p) x rank, row k p + a for feature a of component k; in: the start, out: the result, never worse than the
 * start. max_steps: 0 means 60. *before, *after (NULL: not wanted): the objective at both, INFINITY where it cannot be
 * computed; from such a start, u stays as it is. Numerical trouble on the way ends the work with the best so far.
 *
 * SOCK_EUSAGE for eps or mu below 0 or not finite; u is untouched by failures. */
sock_status sk_polish(sock_context *ctx, const sk_polish_problem *problem, size_t rank, double *u, size_t max_steps,
                      double *before, double *after);

/* The objective and its gradient (as u; NULL: not wanted) at u; for the tests. */
sock_status sk_polish_objective(sock_context *ctx, const sk_polish_problem *problem, size_t rank, const double *u,
                                double *value, double *gradient);

/* ---- Inside: the objective with its work space made once ---- */

/* Here the unknown is W (p x d rank), W[a][k rank + c] = U[k p + a][c]: one product serves all components. */
typedef struct sk_polish_space sk_polish_space;

sock_status sk_polish_space_new(sock_context *ctx, const sk_polish_problem *problem, size_t rank,
                                sk_polish_space **out);
void sk_polish_space_free(sk_polish_space *space);
void sk_polish_from_u(const sk_polish_problem *problem, size_t rank, const double *u, double *w);
void sk_polish_to_u(const sk_polish_problem *problem, size_t rank, const double *w, double *u);

/* *value is INFINITY when some C_i is not positive definite or a number is not finite; gradient (p x d rank) is then
 * without meaning. Sums are made in an order that does not depend on the threads. */
sock_status sk_polish_evaluate(sk_polish_space *space, const double *w, double *value, double *gradient);

/* Factor L (p x p, lower) of the curvature of one column of W at the point evaluated last, averaged over the
 * components: a metric for the descent. SOCK_ENUMERIC, without a message, when there is none. */
sock_status sk_polish_metric(sk_polish_space *space, double *l);

#endif
