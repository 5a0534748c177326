/* stepends.h - the moments of steps under a model by simulation. The flow of model/flow.h follows a Gaussian: over long
 * steps of a nonlinear drift its variance is off, by a tenth in a double well at h = 0.5. */
#ifndef SK_STEPENDS_H
#define SK_STEPENDS_H

#include "score/filter.h"

typedef struct sk_step_starts {
    size_t n, paths, inner;   /* steps; paths of each, in so many inner steps of Heun's rule */
    const double *m, *p, *h;  /* laws of the starts (n x d, n x d x d; NULL: 0), and lengths */
    const double *low, *high; /* d: points beyond are evaluated at the wall, as those of the flow */
} sk_step_starts;

/* mean (n x d) and cov (n x d x d) of the ends; not finite where a path is lost. The numbers do not depend on the
 * threads. */
sock_status sk_step_ends(sock_context *ctx, const sock_model *model, const sk_step_starts *s, double *mean,
                         double *cov);

#endif
