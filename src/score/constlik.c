/* constlik.c - what every model should beat: constant f and a, by maximum likelihood (but for delta) on the very data
 * that are scored,
 *
 *     f = sum dx / sum h,   a = mean of (dx - h f)(dx - h f)' / h,
 *
 * and their log-likelihood. With constant fields an Euler step is exact, so it stands beside both likelihoods. */
#include "score/steplik.h"

enum { AT_ONCE = 1024 }; /* intervals between two looks for an interrupt */

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

void sk_step_covariance(const sock_data *data, size_t stride, const double *f, double *a, double *u)
{
    size_t d = data->d, n = data->points - data->trajectories;
    for (size_t k = 0; k < d * d; k++) a[k] = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double h = sk_residual(data, i, f + i * stride, u);
            for (size_t k = 0; k < d * d; k++) a[k] += u[k / d] * u[k % d] / (h * (double)n);
        }
}

sock_status sk_constant_likelihood(sock_context *ctx, const sock_data *data, double delta, sk_loglik *out)
{
    const size_t d = data->d;
    double *f = sk_doubles(ctx, 2, d), *a = sk_doubles(ctx, 2, d * d);
    sock_status status = SOCK_ENOMEM;
    sk_loglik sum = {0};
    if (!f || !a) goto out;
    double *u = f + d, *s = a + d * d;
    for (size_t j = 0; j < data->trajectories; j++) sum.intervals += sk_data_length(data, j) - 1;
    sk_mean_rate(data, f);
    sk_step_covariance(data, 0, f, a, u);
    for (size_t j = 0, count = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            double term;
            if (count++ % AT_ONCE == 0 && (status = sk_progress(ctx, "constant coefficients", -1)) < 0) goto out;
            const double h = sk_residual(data, i, f, u);
            for (size_t k = 0; k < d * d; k++) s[k] = h * a[k];
            const sk_fate fate = sk_gauss_density(d, delta, s, u, &term);
            sum.singular += fate == SK_FATE_SINGULAR;
            sum.broken += fate == SK_FATE_BROKEN;
            if (fate == SK_FATE_GOOD) sum.value += term;
        }
    *out = sum;
    status = SOCK_OK;
out:
    sk_free(f);
    sk_free(a);
    return status;
}
