/* scaling.h - a zero and units for the coordinates. The kernels of the search treat all coordinates alike, know a unit
 * length and an origin (x.y + 1 has both). So data are brought to mean 0 and standard deviation 1 before the search,
 * and the model back to the user's units after it: no answer depends on the units, nor on a constant that was added.
 *
 * Kernels that vanish at their origin and fits that leave terms out mean a zero that is the states' own. It moves with
 * the data too, as far as that can be: it is the roundest number near their middle, which is 0 where they surround it
 * and 300 after 300 was added. */
#ifndef SK_SCALING_H
#define SK_SCALING_H

#include "occupation/transitions.h"
#include "tune/tune.h"

/* *out: freed with sk_units_free; NULL where the user wants the data as they are and
 * there are no inputs, which always get mean 0 and deviation 1. A coordinate that never moves gets its size. Where the
 * user named a kernel, the zero is that of the data; one with a length scale gets features in the units of the data
 * (sk_candidate.in_data_units), and nothing else changes for it. */
sock_status sk_scaling_choose(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, sk_units **out);
void sk_units_free(sk_units *units);

/* The model of scaled steps as a model of the data: f_k(x) = s_k f'_k(z), a_kl(x) = s_k s_l a'_kl(z), z = (x - c) / s.
 * Its floor becomes a diagonal term. */
sock_status sk_scaling_restore(sock_context *ctx, const sk_units *units, sock_model *model);

/* At the end of a search: the model restored (units NULL: as it is), and in the outcome centre, scale, and the floor in
 * the user's units. */
sock_status sk_scaling_finish(sock_context *ctx, const sk_units *units, sock_model *model, sk_tune_outcome *told);

/* floor I of a model in these units (NULL: 1) as a term of it, one column for each state; floor is 0 then. */
sock_status sk_floor_as_term(sock_context *ctx, const double *scale, sock_model *model);

#endif
