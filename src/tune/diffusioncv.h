/* diffusioncv.h - one candidate for the diffusion: the convex problem on every fold's training part, scored on what the
 * fold holds out. */
#ifndef SK_DIFFUSIONCV_H
#define SK_DIFFUSIONCV_H

#include "tune/leftover.h"

typedef struct sk_diffusion_candidate {
    char *name;
    sk_kernel *kernel; /* resolved */
    bool diagonal;
    bool learned;    /* reweighted features; diagonal (or d = 1) only */
    int order;       /* simpler candidates have smaller numbers */
    size_t max_rank; /* gauss: most pivoted features */
} sk_diffusion_candidate;

void sk_diffusion_candidate_clear(sk_diffusion_candidate *candidate);

typedef struct sk_diffusion_options {
    size_t folds;    /* use the first so many */
    const double *l; /* natural units, falling */
    size_t lambdas;
    double tolerance;
    bool solve_all; /* also the fit to all rows, for a term */
} sk_diffusion_options;

typedef struct sk_diffusion_result {
    sk_features *map;
    size_t p, systems, order; /* order of one system's Q: p d, or p for each of d systems */
    bool diagonal;
    double score;    /* held-out log likelihood */
    double *cluster; /* clusters */
    double l;
    bool edge;
    size_t lambdas;
    const double *grid;  /* the l that were to be tried, borrowed from the options; NULL after a polish */
    double *by_l;        /* lambdas; -infinity: no score, or not tried */
    double *q;           /* (folds + 1) x systems x order x order: without each fold, and from all rows */
    double *held;        /* n x d x d: I a of each step by the fit without its fold */
    double lambda_scale; /* lambda = l * lambda_scale */
    double gap;          /* largest relative gap of the fits to all rows */
    sk_psd_bounds whole; /* of the fits to all rows, added up; before reweighting and polish */
    bool converged;
    bool polished;
    double seconds;
} sk_diffusion_result;

sock_status sk_diffusion_cross_validate(sock_context *ctx, const sk_problem *p, const sk_diffusion_candidate *candidate,
                                        const sk_leftover *leftover, const sk_diffusion_options *options,
                                        sk_diffusion_result **out);
void sk_diffusion_result_free(sk_diffusion_result *result);

/* Quasi-likelihood polish of every fold's Q and of the one from all rows; *out is a new result with its own score.
 * SOCK_ENUMERIC when it cannot be done. */
sock_status sk_diffusion_polish(sock_context *ctx, const sk_problem *p, const sk_leftover *leftover,
                                const sk_diffusion_result *result, sk_diffusion_result **out);

/* Score of held-out integrals with a floor added: sum and by cluster (may be NULL). e: residuals without each step's
 * fold. space: sk_scores_space(d). */
double sk_diffusion_score(const sk_problem *p, const double *held, double floor, const sk_leftover *leftover,
                          double *cluster, double *space);

/* The fit without fold f (folds: the one to all rows) times `share`, as a term of a model. */
sock_status sk_diffusion_result_term(sock_context *ctx, const sk_diffusion_result *result, size_t f, size_t d,
                                     double share, sk_diffusion_term **out);

/* out (rows begin .. end-1 of n x d x d) = I a of one term. */
sock_status sk_integrate_term(sock_context *ctx, const sk_problem *p, const sk_diffusion_term *term, size_t begin,
                              size_t end, double *out);

#endif
