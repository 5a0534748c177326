/* papernoise.c - see papernoise.h. */
#include "tune/papernoise.h"

void sk_mean_rate(const sock_data *data, double *rate)
{
    size_t d = data->d;
    double time = 0;
    for (size_t k = 0; k < d; k++) rate[k] = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        size_t first = data->first[j], last = data->first[j + 1] - 1;
        time += data->t[last] - data->t[first];
        for (size_t k = 0; k < d; k++) rate[k] += data->x[last * d + k] - data->x[first * d + k];
    }
    for (size_t k = 0; k < d && time > 0; k++) rate[k] /= time;
}

/* a (d x d, zeros) += mean of e e'/h. */
static void covariance(const sock_data *data, const double *f, double *a)
{
    size_t d = data->d, n = data->points - data->trajectories;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double *x = data->x + i * d, *rate = f + i * d, h = data->t[i + 1] - data->t[i];
            for (size_t k = 0; k < d * d; k++)
                a[k] += (x[d + k / d] - x[k / d] - h * rate[k / d]) * (x[d + k % d] - x[k % d] - h * rate[k % d]) /
                        (h * (double)n);
        }
}

sock_status sk_constant_noise(sock_context *ctx, const sock_data *data, const double *f, sk_diffusion_term **out)
{
    size_t d = data->d;
    sk_kernel *one = NULL;
    double *a = sk_doubles(ctx, d, d);
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    sock_status status = a && term ? sk_kernel_parse(ctx, "diffusion", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "diffusion", one, d, 0, NULL, &term->map);
    if (status >= 0 && !(term->v = sk_doubles(ctx, d, d))) status = SOCK_ENOMEM;
    if (status >= 0) {
        term->d = term->rank = d;
        covariance(data, f, a);
        sk_factor_copy(d, 1e-14, a, term->v);
        *out = term;
        term = NULL;
    }
    sk_kernel_free(one);
    sk_diffusion_term_free(term);
    sk_free(a);
    return status;
}
