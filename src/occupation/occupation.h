/* occupation.h - from trajectories to rows. A quadrature rule is a set of nodes X (N x in: states, then
 * inputs) and a sparse matrix W (n x N): row i integrates over interval i and averages over the realisations of its
 * group. With a kernel or a feature map it gives everything the estimators need:
 *
 *     L* = W k(X, X) W'        Psi = W Phi(X)        W g = the integrals of g        W' b = its adjoint
 *
 * Behind this header nobody knows of times, groups or realisations. */
#ifndef SK_OCCUPATION_H
#define SK_OCCUPATION_H

#include "data/data.h"
#include "kernel/kernel.h"
#include "la/la.h"

/* How an estimator is computed; auto: follows from the kernel. */
typedef enum sk_form { SK_FORM_AUTO, SK_FORM_IMPLICIT, SK_FORM_EXPLICIT, SK_FORM_NYSTROM } sk_form;

/* SOCK_EUSAGE for a form that a scalar kernel does not have; field: "drift" or "diffusion", for the message. */
sock_status sk_form_check(sock_context *ctx, const char *field, const sk_kernel *kernel, sk_form form);

typedef struct sk_rule {
    size_t n, nodes;
    size_t in, out; /* coordinates of a node; targets of a row */
    double *x;      /* nodes x in */
    size_t *row;    /* n + 1: entries row[i] .. row[i+1]-1 belong to interval i */
    size_t *node;   /* their nodes */
    double *weight; /* their weights */
    double *h;      /* n: lengths of the intervals */
    double *dy;     /* n x out: mean increments */
} sk_rule;

/* quadrature: "trapezoid" or "left". SOCK_EINPUT when the data hold no interval. */
sock_status sk_rule_new(sock_context *ctx, const sock_data *data, const char *quadrature, sk_rule **out);
void sk_rule_free(sk_rule *rule);

/* A rule of n rows with `each` nodes, which stand together; x (n each x d), weights (n each) and lengths (n) are
 * copied. It has no increments. */
sock_status sk_rule_nodes(sock_context *ctx, size_t n, size_t each, size_t d, const double *x, const double *weight,
                          const double *h, sk_rule **out);

/* out (n x cols) = W g, g is nodes x cols (for the tests);  out (nodes x cols) = W' b, b is n x cols. */
void sk_rule_apply(const sk_rule *rule, size_t cols, const double *g, double *out);
void sk_rule_adjoint(const sk_rule *rule, size_t cols, const double *b, double *out);

/* e (d) of the interval from point i of the data by one value of the drift, next - y - h f; answers h. e may be f. */
double sk_residual(const sock_data *data, size_t i, const double *f, double *e);

/* z (n x d x d): mean over realisations of the outer product of the residuals of the drift, whose values at all points
 * of the data (points x d, in their order) are f. */
sock_status sk_residual_products(sock_context *ctx, const sock_data *data, const char *quadrature, const double *f,
                                 double *z);

/* L (n x n, rows of length ld, both triangles) = W k(X, X) W' for a scalar kernel, by blocks: memory O(n * block). */
sock_status sk_occupation_gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *l, size_t ld);

/* The same for a matrix-valued kernel: nd x nd, block (i, j) = sum_ab W_ia W_jb K(x_a, x_b). */
sock_status sk_occupation_matrix_gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *l,
                                      size_t ld);

/* Psi = W Phi(X) for the intervals begin .. end-1: (end - begin) x p, rows of length ld. The features of the nodes of
 * these intervals are in memory at once, so a caller with many intervals goes by blocks. */
sock_status sk_occupation_features(sock_context *ctx, const sk_rule *rule, const sk_features *map, size_t begin,
                                   size_t end, double *psi, size_t ld);

#endif
