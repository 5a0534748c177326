/* diffusion.h - a(x) = sigma sigma'(x), positive semi-definite at every x, from the residuals of the drift (paper
 * section 3.2). With features phi of dimension p:
 *
 *     a_kl(x) = phi(x)' Q_kl phi(x),   Q >= 0 minimises (1/n) sum_i |[<M_i, Q_kl>] - z_i|^2 + lambda |Q|^2
 *
 * The explicit, the implicit and the Nystrom form differ in the features alone: those of the kernel; gamma, from a
 * pivoted Cholesky factor of k(X, X) (paper, Theorem 4); landmark features. One convex problem and one set of solvers
 * serve all. */
#ifndef SK_DIFFUSION_H
#define SK_DIFFUSION_H

#include "occupation/occupation.h"
#include "psd/psd.h"

/* ---- One summand of a ---- */

/* a(x) += B(x) B(x)', B(x)_k = phi(x)' V_k: V is (d p) x rank, block k of p rows belongs to component k. In a diagonal
 * term column j of V is zero outside the block owner[j]; it adds (phi' V_j)^2 to a_kk, k = owner[j], and nothing else.
 */
typedef struct sk_diffusion_term {
    size_t d, rank;
    sk_features *map;
    double *v;     /* (d p) x rank */
    size_t *owner; /* rank entries for a diagonal term; NULL for a full one */
} sk_diffusion_term;

void sk_diffusion_term_free(sk_diffusion_term *term);
sock_status sk_diffusion_term_copy(sock_context *ctx, const sk_diffusion_term *term, sk_diffusion_term **out);

/* a (count x d x d) += the term at x, on the calling thread; space: that many doubles, count <= block. */
size_t sk_diffusion_term_space(const sk_diffusion_term *term, size_t block);
void sk_diffusion_term_add(sock_context *ctx, const sk_diffusion_term *term, size_t count, const double *x, double *a,
                           double *space);

/* Q (order x order) = U U' with its leading eigenvectors: at most `most`, of eigenvalues above `share` of the largest.
 * U is order x *rank, allocated. */
sock_status sk_leading_factor(sock_context *ctx, size_t order, const double *q, size_t most, double share, double **u,
                              size_t *rank);

/* ---- The system ---- */

typedef struct sk_diffusion_spec {
    const sk_kernel *kernel;      /* resolved, scalar */
    const double *origin, *scale; /* of a kernel that knows bounds: where they are, and the units (d each); else NULL */
    sk_form form;
    bool diagonal;
    size_t landmarks; /* Nystrom; 0: automatic */
    size_t max_rank;  /* implicit: most features; 0: as many as keep pd <= 1000, at least 20 (diagonal: 100) */
    uint64_t seed;
    double lambda; /* the smallest that will be asked for */
    sk_psd_options solver;
} sk_diffusion_spec;

/* The certificate and what it cost. For a diagonal a the d problems are added up. */
typedef struct sk_diffusion_report {
    const char *form, *solver;
    size_t features, rank; /* p; columns of V */
    bool complete;         /* implicit: the features reproduce the kernel on the nodes (no cut by max_rank) */
    double primal, dual, gap;
    size_t iterations, rows;
    bool converged;
    sk_psd_effort effort;
    double seconds_features;
} sk_diffusion_report;

/* The problem of the residuals z (n x d x d, which stay as long as the system), to be solved for any lambda: its sums
 * where they are smaller than the rows, else features of the nodes and prepared rows. */
typedef struct sk_diffusion_system sk_diffusion_system;

sock_status sk_diffusion_system_new(sock_context *ctx, const sk_rule *rule, const double *z,
                                    const sk_diffusion_spec *spec, sk_diffusion_system **out);
void sk_diffusion_system_free(sk_diffusion_system *system);

/* Solves for `count` lambdas, large to small, warm started; terms[i] and reports[i] for each. SOCK_NOT_CONVERGED when
 * one of them stopped early: all are usable. beta (optional): n x d x d of the last lambda. */
sock_status sk_diffusion_solve(sock_context *ctx, sk_diffusion_system *system, size_t count, const double *lambda,
                               sk_diffusion_term **terms, sk_diffusion_report *reports, double *beta);

/* lambda in natural units: lambda = l h^2 (mean k(x, x))^2. */
double sk_diffusion_unit(const sk_diffusion_system *system);

#endif
