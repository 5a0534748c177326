/* heldmodel.h - whole models as the search keeps them, and their held-out likelihood by Euler steps and by the moments
 * of the step. */
#ifndef SK_HELDMODEL_H
#define SK_HELDMODEL_H

#include "tune/trial.h"

/* For every fold the solutions without that fold. */
typedef struct sk_held_model {
    sk_mixture drift, diffusion;
    double shrink; /* a is (1 - shrink) times its parts */
} sk_held_model;

/* *out: the model of the solutions without fold f (folds: of the fits to all rows), without a floor. names: of the
 * states; may be NULL. */
sock_status sk_held_model_without(sock_context *ctx, const sk_held_model *held, size_t f, const char *const *names,
                                  sock_model **out);

/* score[g], g < floors: the sum over the held-out rows of log N(y'; y + h f(y), h (a(y) + floor[g] 1)) with the jitter
 * of `look` in both places, f and a fitted without the row's fold; -infinity where the covariance is singular. cluster
 * (floors x clusters): the same by cluster, to be zero on entry. */
sock_status sk_euler_score(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                           const sk_held_model *model, size_t floors, const double *floor, double *score,
                           double *cluster);

/* The likelihood with which sock_score judges, on held-out rows: sum of log N(e; h a + eps 1) with the floor in a. (The
 * score also charges eps tr(h a + eps 1)^-1 / 2 for each row.) -infinity where there is none. */
sock_status sk_euler_likelihood(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                                const sk_held_model *model, double floor, double *loglik);

/* The same by the moments of the step (score.h) with eps as delta and without a floor: right where steps are long too,
 * and more expensive. */
sock_status sk_moment_score(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                            const sk_held_model *model, double *score, double *cluster);

#endif
