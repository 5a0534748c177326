/* modelfields.h - the fields of a model at points: one struct says where, and which are wanted. sk_model_fields and
 * sk_model_evaluate (model.h) are its short forms; simulation, which asks again and
 * again, has a faster way of its own (sampler.h). */
#ifndef SK_MODELFIELDS_H
#define SK_MODELFIELDS_H

#include "model/model.h"

typedef struct sk_fields {
    size_t count;
    const double *x; /* count x sk_model_in: the states of each point, then its inputs */
    double *f;       /* count x d; NULL: not wanted */
    double *a;       /* count x d x d; NULL: not wanted. Only of a model with a diffusion */
} sk_fields;

/* The points (count x sk_model_in) with their states taken to the bounds of the model where they are outside, into out:
 * a is taken there. */
const double *sk_model_inside(const sock_model *model, size_t count, const double *x, double *out);

/* Fills what is wanted, on the calling thread alone and without allocating. space: sk_model_space(model, block)
 * doubles, count <= block. */
void sk_fields_block(sock_context *ctx, const sock_model *model, const sk_fields *at, double *space);

/* The same for any number of points, in blocks and in parallel. Refuses points that are not finite, and a of a model
 * without a diffusion. */
sock_status sk_fields_eval(sock_context *ctx, const sock_model *model, const sk_fields *at);

/* States (count x d) and inputs (count x inputs) as points of a model that has inputs; freed with sk_free. */
sock_status sk_points_with_inputs(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                  const double *u, double **out);

/* For a call without inputs: fails for a model that has some, and names the call to be made instead. */
sock_status sk_refuse_inputs(sock_context *ctx, const sock_model *model, const char *instead);

#endif
