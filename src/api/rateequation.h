/* rateequation.h - "a = 0.0031*S*I*[-1 1 0]' + 0.00036*I*[0 -1 1]'": the diffusion as reactions, where a part of it is
 * one of rates. */
#ifndef SK_RATEEQUATION_H
#define SK_RATEEQUATION_H

#include "api/record.h"
#include "model/model.h"

/* c m [v]' is c m(x) v v', v scaled to largest entry 1; what makes up less than a hundredth of the trace of a over the
 * data is left out. Of an average: of its rates that were learned, else of those of the largest share, divided by it.
 * Nothing where rates have next to no share. */
sock_status sk_rate_equation_add(sock_context *ctx, const sock_model *model, const sock_data *data, sk_record *record);

#endif
