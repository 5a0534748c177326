/* sweeptrial.h - what the trials over the rows of a filter, of states or of positions, have in common once their rows
 * are summed: solutions at every penalty without each fold, and the penalty that the held-out scores choose. */
#ifndef SK_SWEEPTRIAL_H
#define SK_SWEEPTRIAL_H

#include "diffusion/diffusionsums.h"
#include "drift/driftsums.h"
#include "tune/trial.h"

typedef struct sk_drift_sweep {
    sk_trial *trial;
    sk_drift_sums *sums;
    bool learned;
    size_t lambdas;
    double *path;  /* (folds + 1) x lambdas x p x d */
    double *score; /* lambdas x clusters */
    double *dof;   /* lambdas */
} sk_drift_sweep;

/* Closes the sums; path and dof. */
sock_status sk_drift_sweep_solve(sock_context *ctx, const sk_drift_sweep *s);

/* The trial's scores, and its solutions at the best penalty. SOCK_ENUMERIC where no penalty has a finite score. */
sock_status sk_drift_sweep_finish(const sk_drift_sweep *s, size_t clusters);

/* Weights of the rows (systems x n) by their sizes, spread (n x d x d): 1 / (size / typical + share)^2, of a diagonal a
 * each component by its own. typical: 1 + d, of |spread| and of its diagonal. */
void sk_diffusion_sweep_weights(const sk_trial *trial, size_t n, const double *spread, const double *typical,
                                double share, double *weight);

typedef struct sk_diffusion_sweep {
    sk_trial *trial;
    const sk_diffusion_sums *sums;
    const double *grid; /* falling */
    size_t lambdas;     /* the first of them */
    double tolerance;   /* of the solutions that stay */
    double *q;          /* folds x lambdas x size */
    double *score;      /* lambdas x clusters, filled in between */
} sk_diffusion_sweep;

/* q without fold f. */
sock_status sk_diffusion_sweep_fold(sock_context *ctx, const sk_diffusion_sweep *s, size_t f);

/* Which penalty is the best by the scores, and the trial's scores. SOCK_ENUMERIC where the best is not finite. */
sock_status sk_diffusion_sweep_choose(const sk_diffusion_sweep *s, size_t clusters, size_t *best);

/* The trial's solutions at this penalty: of all rows, with bounds; and without each fold, out of q or, with `folds`,
 * solved for. */
sock_status sk_diffusion_sweep_finish(sock_context *ctx, const sk_diffusion_sweep *s, size_t best, bool from_q,
                                      bool folds);

#endif
