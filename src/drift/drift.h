/* drift.h - the drift f by ridge regression on occupation kernels (paper section 3.1, Theorem 1):
 *
 *     implicit    (L* + n lambda I) alpha = dy,        c = W' alpha,  f(x) = sum_a k(x, x_a) c_a
 *     explicit    (Psi'Psi + n lambda I) w = Psi' dy,  f(x) = w' phi(x)
 *     Nystrom     the explicit form with landmark features
 *
 * The implicit form has a fast path: a pivoted Cholesky factor of k(X, X) of small rank r gives features gamma with
 * gamma(x).gamma(y) = k(x, y) on the nodes, and the explicit form with them has the same solution in O(N r^2).
 *
 * A fit sees rows (Psi or L*, dy), never trajectories. */
#ifndef SK_DRIFT_H
#define SK_DRIFT_H

#include "occupation/occupation.h"

/* ---- One summand of f ---- */

/* A kernel with centres (f = sum_a K(x, x_a) c_a) or a feature map with weights (f = w' phi). */
typedef struct sk_drift_term {
    sk_kernel *kernel; /* kernel form; else NULL */
    size_t centres;
    double *centre;   /* centres x d */
    sk_features *map; /* feature form; else NULL */
    size_t d;
    double *weight; /* kernel form: centres x d; feature form: p x d */
} sk_drift_term;

void sk_drift_term_free(sk_drift_term *term);
sock_status sk_drift_term_copy(sock_context *ctx, const sk_drift_term *term, sk_drift_term **out);

/* f (count x d) += the term at x, on the calling thread; space: sk_drift_term_space(term, block) doubles, count <=
 * block. */
size_t sk_drift_term_space(const sk_drift_term *term, size_t block);
void sk_drift_term_add(sock_context *ctx, const sk_drift_term *term, size_t count, const double *x, double *f,
                       double *space);

/* How many numbers of each component make it: features, or centres; and what they are multiplied by, at x (count x d):
 * out (count x that many). Not of a matrix-valued kernel. */
size_t sk_drift_term_size(const sk_drift_term *term);
sock_status sk_drift_term_basis(sock_context *ctx, const sk_drift_term *term, size_t count, const double *x,
                                double *out);

/* ---- The system ---- */

typedef enum sk_path { SK_PATH_AUTO, SK_PATH_PIVOTED, SK_PATH_EXACT } sk_path;

typedef struct sk_drift_spec {
    const sk_kernel *kernel; /* resolved */
    sk_form form;
    sk_path path;     /* implicit, scalar kernels */
    size_t landmarks; /* Nystrom; 0: automatic */
    uint64_t seed;    /* choice of landmarks */
    double lambda;    /* the smallest lambda that will be asked for: sets how exact the pivoted features must be */
} sk_drift_spec;

/* What was chosen and what it cost. */
typedef struct sk_drift_report {
    const char *form; /* "implicit", "explicit", "nystrom" */
    const char *path; /* "exact", "pivoted", "features", "matrix-valued" */
    size_t rank;      /* features used, or n (nd) for the full system */
    double seconds_build, seconds_solve;
} sk_drift_report;

/* The rows, built once; any lambda can then be solved for. */
typedef struct sk_drift_system sk_drift_system;

/* Chooses form and path, checks that the work fits in memory, builds L* or Psi'Psi. The rule must live as long. */
sock_status sk_drift_system_new(sock_context *ctx, const sk_rule *rule, const sk_drift_spec *spec,
                                sk_drift_system **out);
void sk_drift_system_free(sk_drift_system *system);
sk_drift_report sk_drift_system_report(const sk_drift_system *system);

/* The solutions for `count` values of lambda. One value: a Cholesky factorisation. Many: one eigendecomposition serves
 * them all. terms[i] is made for each; on failure none is. dof (optional, count numbers): effective degrees of freedom
 * tr(L (L + n lambda)^-1), NaN when no eigendecomposition was made. */
sock_status sk_drift_solve(sock_context *ctx, sk_drift_system *system, size_t count, const double *lambda,
                           sk_drift_term **terms, double *dof);

/* The features that its unknowns are weights of; NULL where there are more unknowns than that: the full system of a
 * kernel. And weights w (their number x cols, rows of length cols) as numbers of the term that it makes. */
const sk_features *sk_drift_system_features(const sk_drift_system *system);
void sk_drift_system_as_term(sock_context *ctx, const sk_drift_system *system, size_t cols, double *w);

/* alpha (n x d) of the exact scalar system at one lambda; SOCK_EUSAGE for other systems. */
sock_status sk_drift_alpha(sock_context *ctx, sk_drift_system *system, double lambda, double *alpha);

/* lambda in natural units: lambda = l h^2 mean k(x, x), so that l is free of the scales of time and kernel. Fourier and
 * Nystrom terms count as the kernel they stand for, a matrix-valued kernel as tr K(x, x) / d. */
sock_status sk_drift_unit(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *unit);

#endif
