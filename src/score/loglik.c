/* loglik.c - the approximate log-likelihood (paper, section on hyperparameter tuning): each interval of each trajectory
 * is one Euler-Maruyama step,
 *
 *     l = sum_i log N(y_{i+1}; y_i + h_i f(y_i), h_i a(y_i) + delta I). */
#include "score/steplik.h"

#include <string.h>

enum { BLOCK = 256 }; /* points evaluated at once */

static sk_fate interval_term(const sk_step_job *job, size_t point, double *f, double *a, double *out)
{
    const size_t d = job->data->d;
    const double h = sk_residual(job->data, point, f, f);
    for (size_t k = 0; k < d * d; k++) a[k] *= h;
    return sk_gauss_density(d, job->delta, a, f, out);
}

static sock_status likelihood_range(void *arg, size_t begin, size_t end, int worker)
{
    const sk_step_job *job = arg;
    const size_t d = job->data->d, in = sk_model_in(job->model), count = end - begin;
    const bool noisy = job->model->has_diffusion;
    double *x = job->space + (size_t)worker * job->space_each, *f = x + BLOCK * in, *a = f + BLOCK * d;
    double *space = a + BLOCK * d * d;
    for (size_t i = 0; i < count; i++)
        sk_inputs_join(job->model, job->input, job->data, job->start[begin + i], job->start[begin + i] + 1, x + i * in);
    if (!noisy) memset(a, 0, count * d * d * sizeof *a);
    sk_model_fields(job->ctx, job->model, count, x, f, noisy ? a : NULL, space);
    for (size_t i = 0; i < count; i++)
        job->fate[begin + i] =
            (unsigned char)interval_term(job, job->start[begin + i], f + i * d, a + i * d * d, &job->term[begin + i]);
    return SOCK_OK;
}

sock_status sk_log_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                              sk_loglik *out)
{
    const size_t d = data->d;
    sk_step_job job = {.ctx = ctx, .model = model, .data = data, .delta = delta};
    job.space_each = BLOCK * (d + sk_model_in(model) + d * d) + sk_model_space(model, BLOCK);
    return sk_step_likelihood(&job, BLOCK, likelihood_range, out);
}
