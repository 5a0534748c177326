/* sweeptrial.h - what the trials over the rows of a filter, of states or of positions, have in common once their rows
 * are summed: solutions at every penalty without each fold, and the penalty that the held-out scores choose. */
#ifndef SK_SWEEPTRIAL_H
#define SK_SWEEPTRIAL_H

#include "diffusion/diffusionsums.h"
#include "drift/driftsums.h"
#include "tune/candidates.h"
#include "tune/trial.h"

/* Which candidates are tried: all that are alive on a grid of penalties, or one at its penalty. */
typedef struct sk_sweep {
    bool alive[SK_MOST];
    bool all;
    double l;
} sk_sweep;

/* The trial of candidate c of the list. */
typedef sock_status (*sk_sweep_try)(void *arg, size_t c, sk_trial **out);

typedef struct sk_sweep_field {
    const sk_candidates *list;
    bool drift; /* these of the list, or the diffusions */
    size_t clusters;
    sk_trial **trial;    /* SK_MOST places, old ones freed */
    const char *nothing; /* what is told where no candidate can be fitted */
    sk_sweep_try try;
    void *arg;
} sk_sweep_field;

/* Trials of one field, as far as they are alive; *best: the simplest near the best. */
sock_status sk_sweep_each(sock_context *ctx, const sk_sweep *sweep, const sk_sweep_field *field, size_t *best);

/* Where all went well, the trial is *out's; answers the status. */
sock_status sk_sweep_hand_over(sock_status status, sk_trial **trial, sk_trial **out);

typedef struct sk_drift_sweep {
    sk_trial *trial;
    sk_drift_sums *sums;
    bool learned;
    size_t lambdas;
    double *path;  /* (folds + 1) x lambdas x p x d */
    double *score; /* lambdas x clusters, filled in between */
    double *dof;   /* lambdas */
} sk_drift_sweep;

/* An empty trial and sums of all components together. Clear it whatever comes back. SOCK_ENUMERIC: too expensive. */
sock_status sk_drift_sweep_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate,
                               const sk_sweep *sweep, sk_drift_sweep *out);
void sk_drift_sweep_clear(sk_drift_sweep *s);

/* Closes the sums; path and dof. */
sock_status sk_drift_sweep_solve(sock_context *ctx, const sk_drift_sweep *s);

/* The trial's scores, and its solutions at the best penalty. SOCK_ENUMERIC where no penalty has a finite score. */
sock_status sk_drift_sweep_finish(const sk_drift_sweep *s, size_t clusters);

typedef struct sk_diffusion_sweep {
    sk_trial *trial;
    sk_diffusion_sums *sums;
    const double *grid; /* falling */
    size_t lambdas;     /* the first of them */
    double tolerance;   /* of the solutions that stay */
    double *q;          /* folds x lambdas x size */
    double *score;      /* lambdas x clusters, filled in between */
} sk_diffusion_sweep;

/* An empty trial of the candidate, its rank cut to what is affordable. Clear it whatever comes back. */
sock_status sk_diffusion_sweep_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate,
                                   const sk_sweep *sweep, sk_diffusion_sweep *out);
void sk_diffusion_sweep_clear(sk_diffusion_sweep *s);

/* What the rows of a diffusion weigh: by their sizes, spread (n x d x d), 1 / (size / typical + share)^2, of a diagonal
 * a each component by its own; 0 where a row is not good. typical: 1 + d, of |spread| and of its diagonal. */
typedef struct sk_row_sizes {
    size_t n;
    const double *spread, *typical;
    double share;
    const unsigned char *good;
} sk_row_sizes;

/* systems x n. */
void sk_row_weights(const sk_row_sizes *sizes, const sk_trial *trial, double *weight);

/* Sums by fold, or of all rows; once all are added, they are closed and give the unit of the penalty. */
sock_status sk_diffusion_sweep_open(sock_context *ctx, sk_diffusion_sweep *s, bool folds);
void sk_diffusion_sweep_close(sk_diffusion_sweep *s);

/* q without fold f. */
sock_status sk_diffusion_sweep_fold(sock_context *ctx, const sk_diffusion_sweep *s, size_t f);

/* Which penalty is the best by the scores, and the trial's scores. SOCK_ENUMERIC where the best is not finite. */
sock_status sk_diffusion_sweep_choose(const sk_diffusion_sweep *s, size_t clusters, size_t *best);

/* The trial's solutions at this penalty: of all rows, with bounds; and without each fold, out of q or, with `folds`,
 * solved for. */
sock_status sk_diffusion_sweep_finish(sock_context *ctx, const sk_diffusion_sweep *s, size_t best, bool from_q,
                                      bool folds);

#endif
