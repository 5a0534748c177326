/* modelintegral.h - the integrals of a model's a over the rows of a rule. */
#ifndef SK_MODELINTEGRAL_H
#define SK_MODELINTEGRAL_H

#include "model/model.h"

/* out (n x d x d) = W a, without a at the nodes. *done is false, and out as it was, where the model has no such form;
 * see diffusionintegral.h. */
sock_status sk_model_integrate(sock_context *ctx, const sock_model *model, const sk_rule *rule, double *out,
                               bool *done);

#endif
