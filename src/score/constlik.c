/* constlik.c - what every model should beat: constant f and a, by maximum likelihood (but for delta) on the very data
 * that are scored,
 *
 *     f = sum dx / sum h,   a = mean of (dx - h f)(dx - h f)' / h,
 *
 * and their log-likelihood. With constant fields an Euler step is exact, so it stands beside both likelihoods. */
#include "score/scored.h"
#include "score/steplik.h"

enum { AT_ONCE = 1024 }; /* intervals between two looks for an interrupt */

sock_status sk_constants_new(sock_context *ctx, size_t d, sk_constants *out)
{
    double *room = sk_doubles(ctx, 2, d + d * d);
    if (!room) return SOCK_ENOMEM;
    *out = (sk_constants){.d = d, .rate = room, .a = room + d, .space = room + d + d * d};
    return SOCK_OK;
}

void sk_constants_clear(sk_constants *c)
{
    sk_free(c->rate);
    *c = (sk_constants){0};
}

void sk_constants_add(const sock_data *data, sk_constants *c)
{
    const size_t d = c->d;
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t first = data->first[j], last = data->first[j + 1] - 1;
        c->intervals += last - first;
        c->time += data->t[last] - data->t[first];
        for (size_t k = 0; k < d; k++) c->rate[k] += data->x[last * d + k] - data->x[first * d + k];
    }
}

void sk_constants_mean(sk_constants *c)
{
    for (size_t k = 0; k < c->d && c->time > 0; k++) c->rate[k] /= c->time;
}

/* += the mean of e e'/h over n steps, of which these are some. */
static void add_covariance(const sock_data *data, size_t n, size_t stride, const double *f, double *a, double *u)
{
    const size_t d = data->d;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double h = sk_residual(data, i, f + i * stride, u);
            for (size_t k = 0; k < d * d; k++) a[k] += u[k / d] * u[k % d] / (h * (double)n);
        }
}

void sk_constants_add_square(const sock_data *data, sk_constants *c)
{
    add_covariance(data, c->intervals, 0, c->rate, c->a, c->space);
}

void sk_mean_rate(const sock_data *data, double *rate)
{
    sk_constants c = {.d = data->d, .rate = rate};
    for (size_t k = 0; k < data->d; k++) rate[k] = 0;
    sk_constants_add(data, &c);
    sk_constants_mean(&c);
}

void sk_step_covariance(const sock_data *data, size_t stride, const double *f, double *a, double *u)
{
    for (size_t k = 0; k < data->d * data->d; k++) a[k] = 0;
    add_covariance(data, data->points - data->trajectories, stride, f, a, u);
}

sock_status sk_constants_likelihood(sock_context *ctx, const sock_data *data, double delta, const sk_constants *c,
                                    sk_loglik *out)
{
    const size_t d = c->d;
    double *u = c->space, *s = u + d;
    for (size_t j = 0, count = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            double term;
            if (count++ % AT_ONCE == 0) SK_TRY(sk_progress(ctx, "constant coefficients", -1));
            const double h = sk_residual(data, i, c->rate, u);
            for (size_t k = 0; k < d * d; k++) s[k] = h * c->a[k];
            const sk_fate fate = sk_gauss_density(d, delta, s, u, &term);
            out->intervals++;
            out->singular += fate == SK_FATE_SINGULAR;
            out->broken += fate == SK_FATE_BROKEN;
            if (fate == SK_FATE_GOOD) out->value += term;
        }
    return SOCK_OK;
}

sock_status sk_constant_likelihood(sock_context *ctx, const sock_data *data, double delta, sk_loglik *out)
{
    sk_constants c;
    SK_TRY(sk_constants_new(ctx, data->d, &c));
    *out = (sk_loglik){0};
    sk_constants_add(data, &c);
    sk_constants_mean(&c);
    sk_constants_add_square(data, &c);
    const sock_status status = sk_constants_likelihood(ctx, data, delta, &c, out);
    sk_constants_clear(&c);
    return status;
}
