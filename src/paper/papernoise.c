/* papernoise.c - see papernoise.h. */
#include "paper/papernoise.h"

#include "score/score.h"

sock_status sk_constant_noise(sock_context *ctx, const sock_data *data, const double *f, sk_diffusion_term **out)
{
    size_t d = data->d;
    sk_kernel *one = NULL;
    double *a = sk_doubles(ctx, d + 1, d); /* and d to work with */
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    sock_status status = a && term ? sk_kernel_parse(ctx, "diffusion", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "diffusion", one, d, 0, NULL, &term->map);
    if (status >= 0 && !(term->v = sk_doubles(ctx, d, d))) status = SOCK_ENOMEM;
    if (status >= 0) {
        term->d = term->rank = d;
        sk_step_covariance(data, d, f, a, a + d * d);
        sk_factor_copy(d, 1e-14, a, term->v);
        *out = term;
        term = NULL;
    }
    sk_kernel_free(one);
    sk_diffusion_term_free(term);
    sk_free(a);
    return status;
}
