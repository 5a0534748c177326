/* psd.h - least squares over positive semi-definite matrices.
 *
 *     minimise over Q >= 0   (1/n) sum_i w_i | [<M_i, Q_kl>]_kl - z_i |_F^2 + lambda |Q|_F^2
 *
 * Q is symmetric, pd x pd, in blocks Q_kl of p x p (row k p + a, column l p + b); M_i = sum_a W_ia phi_a phi_a' is
 * never formed. Phi (nodes x p) and the sparse W (n x nodes) are the problem; the targets z (n x d x d, symmetric) and
 * lambda come at solve time, so that one preparation serves many lambdas and many targets.
 *
 *     sk_psd_prepared *prepared = NULL;
 *     sk_psd_result *result = NULL;
 *     SK_GO(sk_psd_prepare(ctx, &problem, &options, &prepared));
 *     SK_GO(sk_psd_solve(ctx, prepared, &(sk_psd_target){d, z, lambda}, &options, NULL, &result));
 *     ... result->factor: Q = V V' ...
 *
 * Every answer carries its certificate. With the dual point beta (n x d x d) and S = -R*(beta),
 *
 *     dual   D(beta) = -( n/4 sum |beta_i|^2 / w_i + <beta, z> + |S_+|^2 / (4 lambda) )   <= minimum
 *     gap    = P(Q) - D(beta) >= 0, and both are within the gap of the minimum.
 *
 * Signs: beta is (2/n) w_i (R(Q)_i - z_i) at the solution and Q = S_+ / (2 lambda). */
#ifndef SK_PSD_H
#define SK_PSD_H

#include "la/la.h"

/* The rows. All arrays are the caller's and only read. */
typedef struct sk_psd_problem {
    size_t n, nodes, p;
    const double *phi; /* nodes x p, rows ld apart */
    size_t ld;
    const size_t *row;        /* n + 1: entries row[i] .. row[i+1]-1 belong to row i */
    const size_t *node;       /* their nodes */
    const double *weight;     /* their weights W_ia */
    const double *row_weight; /* w_i > 0, n of them; NULL: all 1 */
} sk_psd_problem;

/* The targets. */
typedef struct sk_psd_target {
    size_t d;
    const double *z; /* n x d x d; only the symmetric part matters */
    double lambda;   /* > 0 */
} sk_psd_target;

#define SK_PSD_TOLERANCE 1e-6 /* of a solution where none is asked for */

/* All zero: the defaults. */
typedef struct sk_psd_options {
    const char *solver;    /* newton (NULL), lbfgs, fista, fista-restart, projgrad, projgrad-accelerated */
    double tolerance;      /* relative duality gap, gap / primal; 0: SK_PSD_TOLERANCE */
    size_t max_iterations; /* 0: 200 for newton, 100000 for the others */
    double seconds;        /* time cap; 0: none */
    double lambda_min;     /* the smallest lambda that will be asked for, if known: saves compressing again */
    bool no_compression;   /* solve in the features and rows as given (the plain methods of the literature) */
} sk_psd_options;

/* Where the time went, and how often. */
typedef struct sk_psd_effort {
    double prepare, eigen, products, linear, certificate, total; /* seconds; prepare: compression inside this solve */
    size_t eigendecompositions, products_count, cg_steps;
} sk_psd_effort;

typedef struct sk_psd_result {
    size_t n, p, d, rank;
    double *factor; /* V: pd x rank, Q = V V' in the features as given; columns orthogonal, by falling length, so that
                       the leading columns are the best approximation of lower rank */
    double *values; /* rank eigenvalues of Q, falling; those below 1e-14 of the largest are left out */
    double *beta;   /* n x d x d; NULL where there are no rows: then */
    double *point;  /* pairs x h: svec of X0 with beta_i = (2/n) w_i (R(X0)_i - z_i); else NULL */
    double lambda;
    double primal, dual, gap; /* gap >= 0 is computed without cancellation: more exact than primal - dual */
    size_t iterations, rows;  /* rows: after compression */
    bool converged;           /* gap <= tolerance * primal */
    const char *solver;       /* the method that gave the answer; static */
    sk_psd_effort effort;
} sk_psd_result;

/* ---- Solving ---- */

typedef struct sk_psd_prepared sk_psd_prepared;
typedef struct sk_psd_bounds sk_psd_bounds;

/* Scales, and (unless options->no_compression) reduces the features to their row space. problem->phi must stay as long
 * as *out is used; the other arrays are copied. SOCK_EINPUT for numbers that are not finite, weights w_i <= 0 or nodes
 * beyond the last. */
sock_status sk_psd_prepare(sock_context *ctx, const sk_psd_problem *problem, const sk_psd_options *options,
                           sk_psd_prepared **out);
void sk_psd_prepared_free(sk_psd_prepared *prepared);

/* Solves one problem. warm: an earlier result of the same prepared rows and the same d to start from, or NULL.
 * SOCK_NOT_CONVERGED, with the gap in the message, when iterations or time ran out or rounding forbids more; the result
 * is then usable and its certificate true. prepared may be improved inside (a finer compression), so it serves one
 * thread at a time. */
sock_status sk_psd_solve(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_target *target,
                         const sk_psd_options *options, const sk_psd_result *warm, sk_psd_result **out);

/* Several sets of targets for the same rows, such as the coordinates of a diagonal diffusion. */
typedef struct sk_psd_targets {
    size_t parts, d;
    const double *z; /* parts x n x d x d */
} sk_psd_targets;

/* The same targets for count lambdas, in any order; solved from the largest to the smallest, each warm started. The
 * answer is the worst status. Large problems are solved together for all parts, which shares what depends on the rows
 * alone and the passes over them. out: count x parts pointers, those of the first lambda first; all set or none. Each
 * part has its own certificate; options->seconds and max_iterations are for one part and one lambda (together: seconds
 * times parts for all of them), and the seconds of what was done together are shared out equally. */
sock_status sk_psd_paths(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_targets *targets,
                         const sk_psd_options *options, size_t count, const double *lambda, sk_psd_result **out);

void sk_psd_result_free(sk_psd_result *result);

/* Q = V V' as a full matrix: pd x pd, both triangles. For the tests: fits keep V. */
void sk_psd_dense(sock_context *ctx, const sk_psd_result *result, double *q);

/* ---- The same through sums over rows, for cross-validation ---- */

/* Factored G = sum_i w_i svec(M_i) svec(M_i)' (q x q, q = p (p + 1) / 2, both triangles; entry (a <= b) of svec stands
 * at b (b + 1) / 2 + a and is multiplied by sqrt(2) off the diagonal). */
typedef struct sk_psd_gram sk_psd_gram;
sock_status sk_psd_gram_new(sock_context *ctx, size_t n, size_t p, const double *g, sk_psd_gram **out);

/* The same of rows with h entries of svec alone, (first[j] <= second[j]), all others being 0: g is h x h, and so are
 * the columns of c. Entries (j, j) alone make Q a matrix for each feature j, since nothing asks for products of two. */
sock_status sk_psd_gram_entries(sock_context *ctx, size_t n, size_t p, size_t h, const size_t *first,
                                const size_t *second, const double *g, sk_psd_gram **out);

/* The same by a Cholesky factorisation, without the spectrum: a fraction of the cost, for problems with d = 1 and so
 * few features (p <= SK_PSD_QUICK) that the solver forms its matrix in any case. No dual point is given or taken. */
enum { SK_PSD_QUICK = 12 };
sock_status sk_psd_gram_quick(sock_context *ctx, size_t n, size_t p, const double *g, sk_psd_gram **out);
void sk_psd_gram_free(sk_psd_gram *gram);
size_t sk_psd_gram_rows(const sk_psd_gram *gram); /* m: the rank of G; for the tests */

/* What is known of the targets: c (pairs x q) = sum_i w_i z_i,kl svec(M_i), pair (k <= l) at l (l + 1) / 2 + k and
 * multiplied by sqrt(2) where k < l; zz = sum_i w_i |z_i|^2. */
typedef struct sk_psd_moments {
    size_t d;
    const double *c;
    double zz, lambda;
} sk_psd_moments;

/* Q (pd x pd, both triangles) by the Newton solver. dual (pairs x m, or NULL): on return the dual point, with `warm`
 * also the one to start from. bounds may be NULL. SOCK_NOT_CONVERGED as sk_psd_solve. */
sock_status sk_psd_gram_solve(sock_context *ctx, const sk_psd_gram *gram, size_t n, const sk_psd_moments *z,
                              const sk_psd_options *options, double *dual, bool warm, double *q, sk_psd_bounds *bounds);

struct sk_psd_bounds {
    double primal, dual, gap;
    size_t iterations;
    sk_psd_effort effort;
};

/* The same as a result, certified by g as it was given to sk_psd_gram_new or _entries, c and zz. warm: an earlier
 * result of the same sums and d, or NULL. SOCK_NOT_CONVERGED as sk_psd_solve. */
sock_status sk_psd_gram_result(sock_context *ctx, const sk_psd_gram *gram, size_t n, const double *g,
                               const sk_psd_moments *z, const sk_psd_options *options, const sk_psd_result *warm,
                               sk_psd_result **out);

/* The same by a device (base/plugins.h), of all entries; no gram is needed. kept: sums whose G it still has; or NULL.
 * g may be NULL where the kept sums have a probe. SOCK_PARTIAL without a message: it could not, and no result was made.
 */
struct sk_plugin;
struct sk_device_sums;
sock_status sk_psd_gram_elsewhere(sock_context *ctx, struct sk_plugin *plugin, size_t n, size_t p, const double *g,
                                  const struct sk_device_sums *kept, const sk_psd_moments *z,
                                  const sk_psd_options *options, const sk_psd_result *warm, sk_psd_result **out);

/* A (n x n symmetric, lower triangle read) := the nearest positive semi-definite matrix, both triangles. space: made
 * for n or more. *rank: number of positive eigenvalues; may be NULL. */
sock_status sk_psd_project(sock_context *ctx, sk_eigen *space, size_t n, double *a, size_t *rank);

#endif
