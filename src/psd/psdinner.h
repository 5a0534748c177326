/* psdinner.h - what the files of this room share: the scaled problem and the point at which it is evaluated.
 *
 * Inner coordinates. Rows are scaled by sqrt(w_i) and to mean square 1, targets to mean square 1, so every solver sees
 * the unweighted problem with numbers of order one. Targets and dual points are arrays pairs x m: one row for each pair
 * k <= l, pair = l (l + 1) / 2 + k, multiplied by sqrt(2) where k < l, so that plain dot products are the inner
 * products of symmetric matrices. Symmetric p x p matrices become vectors the same way (svec): entry (a <= b) at b (b +
 * 1) / 2 + a. In these coordinates the rows svec(M_i) form a matrix B (m x q), and
 *
 *     R(Q) = B X'  with X (pairs x q) = svec of the blocks,     S(y) = -R*(y),   J(y) = m-space dual, to be minimised:
 *     J(y) = n/4 |y|^2 + <y, t> + |S_+|^2 / (4 lambda),   grad = n/2 y + t - R(Q),  Q = S_+ / (2 lambda),
 *     gap at (y, Q(y)) = |grad|^2 / n   (a sum of squares: never negative, no cancellation). */
#ifndef SK_PSDINNER_H
#define SK_PSDINNER_H

#include "psd.h"

#define SK_ROOT_TWO 1.41421356237309504880
#define SK_ROOT_HALF 0.70710678118654752440

/* The operator B: explicit columns (c, m x h, for the svec entries (first[j], second[j])), or through Phi and W. */
typedef struct sk_psd_map {
    size_t m, p, d, pairs;
    const double *c; /* explicit when not NULL */
    size_t h;
    const unsigned *first, *second; /* h entries, first <= second */
    const double *phi;              /* nodes x p, rows ld apart */
    size_t nodes, ld;
    const size_t *row, *node;
    const double *weight;
    double *x;       /* work: pairs x h, or pairs x nodes */
    double *scratch; /* work: workers x panel, through Phi only */
} sk_psd_map;

/* Work space for the map's d; freed with sk_psd_map_clear. */
sock_status sk_psd_map_work(sock_context *ctx, sk_psd_map *map);
void sk_psd_map_clear(sk_psd_map *map);
/* y (pairs x m) = R(Q), Q pd x pd with both triangles. */
sock_status sk_psd_map_apply(sock_context *ctx, const sk_psd_map *map, const double *q, double *y);
/* s (pd x pd, both triangles) = R*(y). */
sock_status sk_psd_map_adjoint(sock_context *ctx, const sk_psd_map *map, const double *y, double *s);
/* Largest eigenvalue of B B', from above by a percent (power iteration). */
sock_status sk_psd_map_norm2(sock_context *ctx, const sk_psd_map *map, double *norm2);

/* pairs x q  <->  pd x pd: the adjoint pair P (symmetric part of the blocks) and T, for the listed svec entries. */
void sk_psd_pack(size_t p, size_t d, size_t h, const unsigned *first, const unsigned *second, const double *q,
                 double *x);
void sk_psd_unpack(size_t p, size_t d, size_t h, const unsigned *first, const unsigned *second, const double *x,
                   double *s);

/* One problem in inner coordinates, with everything a solver needs. */
typedef struct sk_psd_inner {
    sk_psd_map map;
    size_t n;        /* the n of the objective (map.m after compression is smaller) */
    const double *t; /* pairs x m targets */
    double rest;     /* |z|^2 outside the compressed rows */
    double lambda, tolerance;
    const double *s2; /* m squared singular values when B B' is diagonal, else NULL */
    double norm2;     /* largest eigenvalue of B B' (first-order solvers) */
    size_t max_iterations;
    double deadline; /* sk_seconds() value; 0: none */
    sk_eigen *eigen;
    sk_psd_effort *effort;
    size_t iterations;
} sk_psd_inner;

/* A dual point and what follows from it. */
typedef struct sk_psd_point {
    double *y, *g, *rq; /* pairs x m: the point, the gradient, R(Q) */
    double *e, *values; /* rows: eigenvectors of S(y); ascending eigenvalues */
    double *q;          /* S_+ / (2 lambda), both triangles */
    size_t positive;    /* number of positive eigenvalues: the last ones */
    double objective;   /* J */
    double primal, gap, q2;
} sk_psd_point;

sock_status sk_psd_point_new(sock_context *ctx, const sk_psd_map *map, sk_psd_point *point);
void sk_psd_point_clear(sk_psd_point *point);

/* Fills everything from point->y: one R*, one eigendecomposition, one R. */
sock_status sk_psd_evaluate(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point);
/* Its parts, for callers with products of their own. split: point->e holds R*(y) on entry; eigenvectors and eigenvalues
 * of S, Q and |Q|^2 on return. measure: point->rq holds R(Q); the gradient, the objectives and the gap. */
sock_status sk_psd_split(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point);
sock_status sk_psd_measure(sock_context *ctx, const sk_psd_inner *inner, sk_psd_point *point);

/* True when the gap at the point is small enough. */
bool sk_psd_done(const sk_psd_inner *inner, const sk_psd_point *point);
/* Counts an iteration; true when iterations or time have run out. */
bool sk_psd_exhausted(sk_psd_inner *inner);

/* From S = e' diag(values) e: q = scale * S_+, both triangles; work: rows of e are scaled in place and back. */
void sk_psd_positive_part(sock_context *ctx, size_t n, double *e, const double *values, size_t positive, double scale,
                          double *q);

/* The solvers. point->y holds the start and, on return, point is evaluated at the answer. SOCK_NOT_CONVERGED when the
 * tolerance was not reached. */
sock_status sk_psd_newton(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point);
sock_status sk_psd_lbfgs(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point);
sock_status sk_psd_fista(sock_context *ctx, sk_psd_inner *inner, bool restart, sk_psd_point *point);
sock_status sk_psd_projgrad(sock_context *ctx, sk_psd_inner *inner, bool accelerated, sk_psd_point *point);

/* The derivative of the projection at S = e' diag(values) e applied to H (n x n, both triangles), out both triangles;
 * work: 2 n^2 numbers. */
void sk_psd_projection_derivative(sock_context *ctx, const sk_psd_point *at, size_t n, const double *h, double *out,
                                  double *work);

/* Runs fn(arg) as if inside a parallel loop, so that BLAS uses one thread. For short pieces of work with many calls:
 * BLAS threads wait by spinning, and on a busy machine that costs far more than they save. */
enum { SK_PSD_ALONE_ROWS = 600 }; /* a solve with fewer rows is such a piece; speed only */
typedef sock_status (*sk_psd_task_fn)(void *arg);
sock_status sk_psd_alone(sock_context *ctx, sk_psd_task_fn fn, void *arg);

/* Leading eigenpairs of a positive semi-definite matrix (k x k, lower triangle, destroyed): those with eigenvalues
 * above share times the largest. values falling; row j of vectors (k x k) is the eigenvector of values[j]; *count of
 * them. */
sock_status sk_psd_leading(sock_context *ctx, size_t k, double *gram, double share, double *values, double *vectors,
                           size_t *count);

/* Pivoted Cholesky of such a matrix (lower triangle, only read): rows of l with l' l = G but for a rest whose trace is
 * at most a tenth of share times the trace of G. Row j is zero at the pivots of the rows before it. Answers their
 * number, or most + 1 when most were not enough. */
typedef struct sk_psd_pivots {
    size_t k, most;
    double *l;     /* most x k */
    size_t *pivot; /* most */
    double *rest, *weights;
} sk_psd_pivots;
sock_status sk_psd_pivots_new(sock_context *ctx, size_t k, size_t most, sk_psd_pivots *w);
void sk_psd_pivots_clear(sk_psd_pivots *w);
size_t sk_psd_pivoted_rows(sock_context *ctx, const double *gram, double share, const sk_psd_pivots *w);

/* ---- Sums over rows ---- */

struct sk_psd_gram {
    size_t p, q, m;
    double scale;  /* G_inner = G / scale^2 */
    double *c;     /* m x q rows */
    double *s2;    /* m; NULL: the rows are not orthogonal */
    size_t *pivot; /* m, then: row j is 0 at the pivots of the rows before it */
    unsigned *first, *second;
};

/* The rows of a factored G as a map without work space. */
sk_psd_map sk_psd_gram_map(const sk_psd_gram *gram, size_t d);

/* SOCK_OK, or SOCK_NOT_CONVERGED with the gap in the message. */
sock_status sk_psd_verdict(sock_context *ctx, const sk_psd_result *result, double tolerance);

/* ---- Prepared rows ---- */

struct sk_psd_prepared {
    size_t n, nodes, p_given, p;
    double row_scale;     /* M_given = row_scale M_inner */
    double *rotation;     /* p_given x p, orthonormal columns: phi_inner = rotation' phi / scale; NULL: identity */
    double *phi;          /* nodes x p; columns by falling energy when rotated */
    size_t *row, *node;   /* copies */
    double *weight;       /* scaled by sqrt(w_i) */
    double *root_weight;  /* sqrt(w_i), or NULL */
    double *pair_energy;  /* q: bounds of the squared column norms of B */
    double lambda_min;    /* inner units; 0: unknown */
    bool plain, accurate; /* no compression; features reduced by QR + SVD */
    const double *given;  /* the caller's features, rows given_ld apart */
    size_t given_ld;
    double phi_scale; /* length of their longest row */
    double seconds;
    /* Compressed rows, made when first needed: B ~ U C, B B' = U diag(s2) U', U = left * mix. */
    double drop; /* squared singular values below drop * n were left out; infinite: not made yet */
    size_t m, h, k;
    double *left; /* n x k */
    double *mix;  /* k x m, or NULL: identity (k = m) */
    double *c;    /* m x h */
    double *s2;   /* m */
    unsigned *first, *second;
};

/* Makes or refines the compressed rows so that they serve lambda (inner units) to the tolerance; with force, as exactly
 * as rounding allows. */
sock_status sk_psd_compress(sock_context *ctx, sk_psd_prepared *prepared, double lambda, double tolerance, bool force);
/* Rotates the features into their row space. accurate: by QR and SVD, else by the Gram matrix. */
sock_status sk_psd_reduce_features(sock_context *ctx, sk_psd_prepared *prepared, bool accurate);
/* Rows the compression would have for this lambda, before rank: min(n, pairs kept). */
size_t sk_psd_compressed_size(const sk_psd_prepared *prepared, double lambda, double tolerance);
/* y (pairs x m) = U' z and z (pairs x n) = U y. */
sock_status sk_psd_project_rows(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, const double *z,
                                double *y);
sock_status sk_psd_expand_rows(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, const double *y,
                               double *z);
/* The map through Phi and W of the prepared rows (no work space yet). */
sk_psd_map sk_psd_full_map(const sk_psd_prepared *prepared, size_t d);

/* Newton's method by levels of features, for large pd: `parts` problems of one dimension d over the same rows and with
 * one lambda, together; full[i]: the inner problem i through Phi and W, each with its own targets, tolerance, limits,
 * eigen space and effort. Each answer is certified for itself: see sk_psd_done. SOCK_NOT_CONVERGED when one is not. */
sock_status sk_psd_levels(sock_context *ctx, const sk_psd_prepared *prepared, size_t parts, sk_psd_inner *const *full,
                          sk_psd_point *const *point);

#endif
