/* sampler.h - a model made ready to be evaluated again and again, as simulation does: the same f and a as
 * sk_model_fields to about eight digits, several times faster. It reads the model, which must live as long. */
#ifndef SK_SAMPLER_H
#define SK_SAMPLER_H

#include "model/model.h"

typedef struct sk_sampler sk_sampler;

sock_status sk_sampler_new(sock_context *ctx, const sock_model *model, sk_sampler **out);
void sk_sampler_free(sk_sampler *sampler);

/* From here on f and a come from a table over a range, several times faster and off by a millionth of them at most:
 * where the model has one coordinate and is no function of the user, and so many evaluations are worth it. */
sock_status sk_sampler_tabulate(sock_context *ctx, sk_sampler *sampler, double low, double high, double evaluations);
bool sk_model_has_tables(const sock_model *model);

/* Work space of one thread, in doubles, for up to `block` points. */
size_t sk_sampler_space(const sk_sampler *sampler, size_t block);

/* On the calling thread alone and without allocating, count <= block: f (count x d) and, unless NULL, a (count x d x
 * d) at points x (count x sk_model_in). The value at a point depends on `count` by rounding only. */
void sk_sampler_fields(sock_context *ctx, const sk_sampler *sampler, size_t count, const double *x, double *f,
                       double *a, double *space);

/* The same without the table. */
size_t sk_sampler_exact_space(const sk_sampler *sampler, size_t block);
void sk_sampler_exact(sock_context *ctx, const sk_sampler *sampler, size_t count, const double *x, double *f, double *a,
                      double *space);

/* The same model as a device knows it (base/device.h): its pieces and factors, which the sampler owns. *whole is false
 * where there is something else in it: functions of the user, features of another form, inputs, bounds. */
typedef struct sk_sampler_export {
    size_t pieces, factors;
    struct sk_device_piece *piece;
    struct sk_device_factor *factor;
    double work; /* features times columns, of all pieces */
} sk_sampler_export;
sock_status sk_sampler_for_device(sock_context *ctx, const sk_sampler *sampler, sk_sampler_export *out, bool *whole);
void sk_sampler_export_clear(sk_sampler_export *e);

/* Columns of V (kept: rank numbers of room) without those that together are next to nothing of every a_kk. */
sock_status sk_columns_that_count(sock_context *ctx, const sk_diffusion_term *term, size_t *kept, size_t *count);

#endif
