/* heldmodel.h - the held-out likelihood of a whole model by Euler steps and by the moments of the step, and how much a
 * model must gain over a plain one. */
#ifndef SK_HELDMODEL_H
#define SK_HELDMODEL_H

#include "tune/diffusioncv.h"
#include "tune/driftcv.h"

/* A model as the search keeps it: for every fold the weights without that fold. */
typedef struct sk_held_model {
    size_t drifts;
    sk_drift_result *const *drift; /* drifts; may be NULL where the share is 0 */
    const double *drift_share;     /* drifts; NULL: 1 for each */
    size_t parts;
    sk_diffusion_result *const *diffusion; /* parts; may be NULL where the share is 0 */
    const double *share;                   /* parts */
} sk_held_model;

/* *out: the model of the weights without fold f (folds: of the fits to all rows), without a floor. names: of the
 * states; may be NULL. */
sock_status sk_held_model_without(sock_context *ctx, const sk_problem *p, const sk_held_model *held, size_t f,
                                  const char *const *names, sock_model **out);

/* score[g], g < floors: the sum over the held-out steps of log N(y'; y + h f(y), h (a(y) + floor[g] 1)) with the
 * jitter of problem.h in both places, f and a fitted without the step's fold; -infinity where the covariance is
 * singular. cluster (floors x clusters): the same by cluster, to be zero on entry. */
sock_status sk_euler_score(sock_context *ctx, const sk_problem *p, const sk_held_model *model, size_t floors,
                           const double *floor, double *score, double *cluster);

/* The same by the moments of the step (score.h) with eps as delta and without a floor: right where steps are long too,
 * and dearer. */
sock_status sk_moment_score(sock_context *ctx, const sk_problem *p, const sk_held_model *model, double *score,
                            double *cluster);

/* How many nats the best of so many tried models must gain, held out, over a plain one that was not chosen among them:
 * log tried, which is what the best of as many that are worth nothing may gain by chance; and a paired standard error.
 */
double sk_needed_gain(double error, size_t tried);

#endif
