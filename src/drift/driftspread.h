/* driftspread.h - how far the weights of a drift can be trusted. With H = sum psi psi' (x) P as in driftsums.h, the
 * penalty Lambda, and G = sum psi psi' (x) P (I a) P, the noise that the model says the weighted rows have:
 *
 *     S = (H + Lambda)^-1,     T = S (G + Lambda) S,
 *
 * the covariance of the weights. Rows are added block by block, as in the sums of the fit. */
#ifndef SK_DRIFTSPREAD_H
#define SK_DRIFTSPREAD_H

#include "drift/driftsums.h"
#include "la/factor.h"

typedef struct sk_drift_spread {
    sk_drift_sums shape;   /* of the fit; without numbers */
    size_t systems, order; /* one of order p d, or d of order p: components that share a system have a noise each */
    size_t *list;          /* systems x order: the features of each, SIZE_MAX: none; NULL: all p */
    double *h, *g;         /* systems x order^2; lower triangles */
    double rows, size, weight;
    size_t asked;        /* the feature of sk_drift_spread_ask, */
    const bool *counts;  /* d: components of which it is asked; NULL: none */
    const double *about; /* p x d */
    double *pull;        /* systems x order: what the rows say of its weights, Psi' P (t - Psi w) */
} sk_drift_spread;

sock_status sk_drift_spread_new(sock_context *ctx, size_t p, size_t d, sk_coupling coupling, sk_drift_spread **out);
/* Components apart, each with the features alone that have a weight in w (p x d): the others of a learned drift do not
 * move, and in many dimensions they are most of them. */
sock_status sk_drift_spread_listed(sock_context *ctx, size_t p, size_t d, const double *w, sk_drift_spread **out);
void sk_drift_spread_free(sk_drift_spread *spread);

/* Before rows are added: in the components that count (d) feature j, whose weight in w (p x d) is 0, is no more known
 * to be 0 than the others are what they are: it has no prior, and the law is that of the weights with it, about w. So
 * where they would be by the rows, w + delta, counts as an error of one size. All borrowed. w NULL: the targets of the
 * views are what w leaves. */
sock_status sk_drift_spread_ask(sock_context *ctx, sk_drift_spread *spread, size_t j, const bool *counts,
                                const double *w);

/* Rows of a view, with their integrated features psi (n x p). */
sock_status sk_drift_spread_add(sock_context *ctx, sk_drift_spread *spread, const sk_view *v, const double *psi);

/* The rows that were added stand for `times` as many. */
void sk_drift_spread_multiply(sk_drift_spread *spread, double times);

/* The penalty of l on every weight: n l times the unit of sk_drift_sums_unit. */
double sk_drift_spread_ridge(const sk_drift_spread *spread, double l);

/* The prior precisions of a learned drift with weights w (p x d) from the rows, by the evidence's own equation
 * alpha = 1 / (w^2 + S_jj), into lambda (d p, component after component); infinite where a weight is 0. */
sock_status sk_drift_spread_learned(sock_context *ctx, const sk_drift_spread *spread, const double *w, double *lambda);

/* The law of the weights (p x d, as those of a term), from lambda (d p, component after component); where it is
 * infinite the weight is 0 and does not move. SOCK_ENUMERIC when H + Lambda cannot be inverted. */
sock_status sk_drift_spread_factor(sock_context *ctx, const sk_drift_spread *spread, const double *lambda,
                                   sk_factor **out);

#endif
