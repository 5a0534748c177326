/* model.h - a fitted model: f is a sum of drift terms, a is a sum of positive semi-definite terms plus floor * I.
 * Averages of models, parametric terms, the truth and rivals all evaluate, simulate, save and draw through this one
 * form. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include "drift/drift.h"

/* a(x) += B(x) B(x)', B(x)_k = phi(x)' V_k: V is (d p) x r, block k of p rows belongs to component k. A diagonal term
 * has separate factors: r columns of V serve component column_of[j] alone, and are zero elsewhere. */
typedef struct sk_diffusion_term {
    sk_features *map;
    size_t rank;
    double *v;     /* (d p) x rank */
    bool diagonal; /* every column of v is zero but for one block */
} sk_diffusion_term;

struct sock_model {
    size_t d;
    char **state; /* d names */
    size_t drift_terms;
    sk_drift_term **drift;
    size_t diffusion_terms;
    sk_diffusion_term *diffusion;
    double floor; /* a += floor * I */
    bool has_diffusion;
    sock_field_fn wrapped_drift, wrapped_diffusion; /* a wrapped model has these and no terms */
    void *wrapped_user;
    char *info; /* JSON object: specification, options, certificate, timings, provenance; never NULL */
};

/* A model without terms, names copied. */
sock_status sk_model_new(sock_context *ctx, size_t d, char *const *names, sock_model **out);

/* Work space of one thread for evaluating up to `block` points without allocating: sk_model_space() doubles. */
size_t sk_model_space(const sock_model *model, size_t block);

/* On the calling thread alone, count <= block: f (count x d) and a (count x d x d); either may be NULL. */
sock_status sk_model_fields(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f,
                            double *a, double *space);

/* out = symmetric square root of each a (count x d x d); eigenvalues below 0 count as 0. space: (2 d^2 + d) doubles. */
sock_status sk_square_roots(sock_context *ctx, size_t d, size_t count, const double *a, double *out);

#endif
