/* driftcv.h - one candidate for the drift: fitted on every fold's training part, scored on what the fold holds out. */
#ifndef SK_DRIFTCV_H
#define SK_DRIFTCV_H

#include "tune/problem.h"

enum { SK_LAMBDAS = 14 };
extern const double sk_drift_lambdas[SK_LAMBDAS]; /* l = 10^2 ... 10^-11, in natural units */

typedef struct sk_drift_candidate {
    char *name;
    sk_kernel *kernel; /* resolved */
    bool learned;      /* learned feature weights instead of a ridge: no lambda */
    int order;         /* simpler candidates have smaller numbers */
    size_t max_rank;   /* gauss: most pivoted features */
} sk_drift_candidate;

void sk_drift_candidate_clear(sk_drift_candidate *candidate);

typedef struct sk_drift_result {
    sk_features *map;
    size_t p;
    double *psi;         /* n x p: integrated features, so that Psi w is I f */
    double score;        /* held-out log likelihood at the best l */
    double *cluster;     /* the same for each cluster */
    double l;            /* best, 0 for learned weights */
    double lambda_scale; /* lambda = l * lambda_scale */
    bool edge;           /* l is the first or the last of the grid */
    double by_l[SK_LAMBDAS];
    double *weight; /* (folds + 1) x p x d: without each fold; the last one from all rows */
    double dof;     /* of the fit to all rows */
    double seconds;
    double *variance; /* learned: posterior variances of the weights of the last fit, p x d; else NULL */
} sk_drift_result;

/* Uses the first `folds` folds. SOCK_ENUMERIC when the candidate cannot be fitted: the search goes on without it. */
sock_status sk_drift_cross_validate(sock_context *ctx, const sk_problem *p, const sk_drift_candidate *candidate,
                                    size_t folds, sk_drift_result **out);
void sk_drift_result_free(sk_drift_result *result);

/* How many nats a simpler drift may score below the best one: a paired standard error, at most two nats (more by
 * SK_FEW_ROWS / rows where they are fewer); or a quarter of a nat for each degree of freedom that it saves, at most ten
 * nats or a standard error. */
double sk_drift_allowance(double error, double saved, size_t rows);

/* Residuals dy - I f of all steps with the weights of fold f (folds: those of all rows); n x d. */
void sk_drift_residuals(sock_context *ctx, const sk_problem *p, const sk_drift_result *result, size_t f, double *e);

/* The fit to all rows as a term of a model. */
sock_status sk_drift_result_term(sock_context *ctx, const sk_drift_result *result, size_t folds, size_t d,
                                 sk_drift_term **out);

#endif
