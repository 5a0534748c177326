/* driftsums.h - the sums over rows that a drift with features is solved from, by fold:
 *
 *     H = sum psi psi' (x) P,     g = sum psi (x) P t,
 *
 * psi the integrated features of a row, t its target, P its precision. Blocks of rows are added, sums of two sets of
 * rows merged, and the solution without a fold comes from the total less the share of that fold. */
#ifndef SK_DRIFTSUMS_H
#define SK_DRIFTSUMS_H

#include "occupation/view.h"

/* How the d components hang together: one system of order p d with whole precisions; d systems of order p, each with
 * the precision of its own component; or one system of order p that all share, with the mean precision: a d-th of the
 * cost, and good enough to be compared by. */
typedef enum sk_coupling { SK_JOINT, SK_APART, SK_SHARED } sk_coupling;

typedef struct sk_drift_sums {
    size_t p, d, folds;
    sk_coupling coupling;
    size_t systems, order, rhs; /* rhs: right-hand sides of a system */
    const size_t *list;         /* d x order: the features of each system, SIZE_MAX: none; borrowed. NULL: all p */
    double *h;           /* (folds + 2) x systems x order^2: each fold, always, total; without folds one is all */
    double *g;           /* as many times systems x rhs x order */
    size_t *rows;        /* as many */
    double size, weight; /* sums over rows of |psi|^2, and of the mean weight of a component */
    double *low;         /* of sums that do not show the order of blocks: what h, then g, are short of; else NULL */
    double low_size, low_weight;
} sk_drift_sums;

sock_status sk_drift_sums_new(sock_context *ctx, size_t p, size_t d, size_t folds, sk_coupling coupling,
                              sk_drift_sums **out);
void sk_drift_sums_free(sk_drift_sums *sums);

/* The components apart, each with features of its own: list is d x each, places among the p, SIZE_MAX where there is
 * none; borrowed. For learned solutions, whose features pay as ones of all p do. */
sock_status sk_drift_sums_listed(sock_context *ctx, size_t p, size_t d, size_t folds, size_t each, const size_t *list,
                                 sk_drift_sums **out);

/* The shape alone, without room for numbers; and the weight of row i of a view for components k and l in such sums. */
void sk_drift_sums_shape(size_t p, size_t d, sk_coupling coupling, sk_drift_sums *sums);
double sk_drift_sums_weight(const sk_drift_sums *sums, const sk_view *v, size_t i, size_t k, size_t l);

/* Bytes that the sums take. */
double sk_drift_sums_bytes(size_t p, size_t d, size_t folds, sk_coupling coupling);

/* Rows of a view with psi (n x p). A view without precisions has unit weights; then the coupling is SK_SHARED, and only
 * the lower triangle of h is made. */
sock_status sk_drift_sums_add(sock_context *ctx, sk_drift_sums *sums, const sk_view *v, const double *psi);

/* Rows that couple all components, whitened: n equations e (n x p d) w = t, column k p + j for component k and feature
 * j. The sums are SK_JOINT; their unit is the mean diagonal of H for an equation of d. */
sock_status sk_drift_sums_add_joint(sock_context *ctx, sk_drift_sums *sums, size_t fold, size_t n, const double *e,
                                    const double *t);

/* Before the first row: from now on the sums do not show the order of the blocks (sums.h), which may be added by
 * several threads. Twice the memory, and that of one fold for each thread. */
sock_status sk_drift_sums_pair(sock_context *ctx, sk_drift_sums *sums);

/* Those of all processes, of such sums, before they are closed; behind sk_together (base/comm.h). */
void sk_drift_sums_over_all(sock_context *ctx, sk_drift_sums *sums);

/* sums += those of other rows, of the same shape. */
void sk_drift_sums_merge(sk_drift_sums *sums, const sk_drift_sums *other);

/* After the last row: the total. */
void sk_drift_sums_close(sk_drift_sums *sums);

/* A system without fold f (folds: from all rows): h (order^2) and g (rhs x order). Answers the number of rows. */
size_t sk_drift_sums_subtract(const sk_drift_sums *sums, size_t f, size_t system, double *h, double *g);

/* The penalty of l = 1 for a row: mean |psi|^2 times mean weight. */
double sk_drift_sums_unit(const sk_drift_sums *sums);

/* Weights without fold f (folds: from all rows): by a ridge for `count` penalties l in natural units, path is count x p
 * x d; learned, by sequential sparse Bayes, p x d. dof: `count`, or one; may be NULL. */
sock_status sk_drift_sums_ridge(sock_context *ctx, const sk_drift_sums *sums, size_t f, size_t count, const double *l,
                                double *path, double *dof);
sock_status sk_drift_sums_learned(sock_context *ctx, const sk_drift_sums *sums, size_t f, double *w, double *dof);

/* Nats of evidence that a term costs, at most, which goes again for it. */
double sk_idle_price(size_t rows);

/* The same, and terms that later ones have made idle go again: sk_sparse_bayes_trim, with _join, and _prune. */
sock_status sk_drift_sums_trimmed(sock_context *ctx, const sk_drift_sums *sums, size_t f, double *w, double *dof);
sock_status sk_drift_sums_joined(sock_context *ctx, const sk_drift_sums *sums, size_t f, double *w, double *dof);
sock_status sk_drift_sums_pruned(sock_context *ctx, const sk_drift_sums *sums, size_t f, double *w, double *dof);

/* Without fold f by least squares: those weights alone that are not 0 in `like` (p x d). */
sock_status sk_drift_sums_among(sock_context *ctx, const sk_drift_sums *sums, size_t f, const double *like, double *w);

#endif
