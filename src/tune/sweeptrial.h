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

/* Q without fold f at the first `count` penalties of a falling grid; out (count x size), or with `last` the last alone
 * (size), to this tolerance. The bounds of all rows, f = folds, are noted in the trial. */
typedef struct sk_diffusion_sweep {
    sk_trial *trial;
    const sk_diffusion_sums *sums;
    const double *grid;
    size_t count;
    bool last;
    double tolerance;
} sk_diffusion_sweep;
sock_status sk_diffusion_sweep_solve(sock_context *ctx, const sk_diffusion_sweep *s, size_t f, double *out);

#endif
