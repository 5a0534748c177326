/* model.h - a fitted model: f is a sum of drift terms, a is a sum of positive semi-definite terms plus floor * I.
 * Averages of models, parametric terms, the truth and rivals all evaluate, simulate, save and draw through this one
 * form. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include "diffusion/diffusion.h"
#include "drift/drift.h"
#include "model/spread.h"
#include "model/structure.h"

#include <jansson.h>

struct sock_model {
    size_t d;
    sk_structure *structure; /* what is known of the state, its names among it; never NULL */
    size_t drift_terms;
    sk_drift_term **drift;
    size_t diffusion_terms;
    sk_diffusion_term **diffusion;
    bool has_diffusion;
    double floor;                                   /* a += floor * I */
    sock_field_fn wrapped_drift, wrapped_diffusion; /* a wrapped model has these and no terms */
    void *wrapped_user;
    sk_spread *spread; /* how far the fields can be trusted; NULL: not told */
    char *info;        /* JSON object: specification, options, certificate, provenance; never NULL; saved */
    char *seconds;     /* JSON object: where the time went, or NULL; not saved, so that equal fits give equal files */
};

/* Coordinates of a point: the states, then the inputs. */
static inline size_t sk_model_in(const sock_model *model) { return model->d + model->structure->inputs; }

/* States that data have: all of them, or the positions of a model of second order. */
static inline size_t sk_model_observed(const sock_model *model)
{
    return model->structure->order == 2 ? model->d / 2 : model->d;
}

/* The names of these, borrowed; the list is freed with sk_free. NULL when out of memory. */
const char **sk_model_coordinates(sock_context *ctx, const sock_model *model);

/* SOCK_EUSAGE for a model of second order, in what does not know of it. */
sock_status sk_refuse_second(sock_context *ctx, const sock_model *model, const char *who);

/* A model without terms; names are copied, or x0, x1, ... when NULL. */
sock_status sk_model_new(sock_context *ctx, size_t d, const char *const *names, sock_model **out);

/* Takes the term over in any case. */
sock_status sk_model_add_drift(sock_context *ctx, sock_model *model, sk_drift_term *term);
sock_status sk_model_add_diffusion(sock_context *ctx, sock_model *model, sk_diffusion_term *term);

/* Copied; NULL: none on that side. */
sock_status sk_model_set_bounds(sock_context *ctx, sock_model *model, const double *lower, const double *upper);

/* Those of another, with what is never left again. */
sock_status sk_model_copy_bounds(sock_context *ctx, const sock_model *from, sock_model *to);
sock_status sk_model_copy_inputs(sock_context *ctx, const sock_model *from, sock_model *to);

/* Replaces the information; seconds may be NULL. Both texts are taken over, both objects are only read. */
void sk_model_take_info(sock_model *model, char *info, char *seconds);
sock_status sk_model_set_info(sock_context *ctx, sock_model *model, const json_t *info, const json_t *seconds);

/* A model from the bytes of a file, which `path` names in messages; nothing in them is trusted. */
sock_status sk_model_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sock_model **out);

/* Work space of one thread for evaluating up to `block` points: that many doubles. */
size_t sk_model_space(const sock_model *model, size_t block);

/* On the calling thread alone and without allocating, count <= block: f (count x d) and a (count x d x d) at points x
 * (count x sk_model_in); either may be NULL. a only when the model has a diffusion. */
void sk_model_fields(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f, double *a,
                     double *space);

/* The same for any number of points, in blocks and in parallel; points must be finite. */
sock_status sk_model_evaluate(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f,
                              double *a);

/* out = symmetric square root of each a (count x d x d); eigenvalues below 0 count as 0. out may be a.
 * SOCK_ENUMERIC when a number of a is not finite. */
sock_status sk_square_roots(sock_context *ctx, size_t d, size_t count, const double *a, double *out);

#endif
