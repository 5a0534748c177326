/* scaling.h - units for the coordinates. The kernels of the search treat all coordinates alike and know a unit length
 * (x.y + 1 has one), so data in very small, very large or very different units are brought to standard deviation 1
 * before the search, and the model back to the user's units after it. */
#ifndef SK_SCALING_H
#define SK_SCALING_H

#include "tune/tune.h"

/* *out: d positive numbers (freed with sk_free), or NULL when the data can stay as they are: every standard deviation
 * within [0.1, 10] and none more than 4 times another; also where the user named a length scale, which is meant in the
 * units of the data. A coordinate that never moves gets its size. */
sock_status sk_scaling_choose(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, double **out);

/* The model of scaled steps as a model of the data: f_k(x) = s_k f'_k(x/s), a_kl(x) = s_k s_l a'_kl(x/s). Its floor
 * becomes a diagonal term. */
sock_status sk_scaling_restore(sock_context *ctx, const double *scale, sock_model *model);

/* At the end of a search: the model restored (scale NULL: as it is), and in the outcome the scale and the floor in the
 * user's units. */
sock_status sk_scaling_finish(sock_context *ctx, const double *scale, sock_model *model, sk_tune_outcome *told);

#endif
