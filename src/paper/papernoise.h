/* papernoise.h - a constant diffusion from the residuals of a drift: the stand-in for a while the drift is searched. */
#ifndef SK_PAPERNOISE_H
#define SK_PAPERNOISE_H

#include "diffusion/diffusion.h"

/* a = mean of e e'/h over all single steps, e = y' - y - h f(y), as a term; f: points x d. */
sock_status sk_constant_noise(sock_context *ctx, const sock_data *data, const double *f, sk_diffusion_term **out);

#endif
