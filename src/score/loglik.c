/* loglik.c - the approximate log-likelihood (paper, section on hyperparameter tuning): each interval of each trajectory
 * is one Euler-Maruyama step,
 *
 *     l = sum_i log N(y_{i+1}; y_i + h_i f(y_i), S_i),   S_i = h_i a(y_i) + delta I.
 *
 * With S = C C' and u = C^-1 (y_{i+1} - y_i - h f):  log N = -(d log 2 pi + |u|^2)/2 - sum_k log C_kk. */
#include "score.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* points evaluated at once */

/* One interval's fate; a term of the sum, or why there is none. */
typedef enum fate { GOOD, SINGULAR, BROKEN, LAST } fate;

typedef struct likelihood_job {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    double delta;
    double *space;
    size_t space_each;
    double *term;         /* points */
    unsigned char *fates; /* points */
} likelihood_job;

/* Cholesky and forward substitution in one sweep, S in place. A pivot that is rounding only means a singular S. */
static fate log_density(size_t d, double *s, double *u, double *out)
{
    double sum = -0.5 * (double)d * log(2 * 3.14159265358979323846);
    for (size_t k = 0; k < d; k++) {
        double *row = s + k * d, pivot = row[k], rest = u[k];
        for (size_t j = 0; j < k; j++) pivot -= row[j] * row[j];
        if (!(pivot > 4 * DBL_EPSILON * (double)(d - 1) * row[k])) return isfinite(pivot) ? SINGULAR : BROKEN;
        for (size_t j = 0; j < k; j++) rest -= row[j] * u[j];
        row[k] = sqrt(pivot);
        u[k] = rest / row[k];
        for (size_t l = k + 1; l < d; l++) {
            double *below = s + l * d, entry = below[k];
            for (size_t j = 0; j < k; j++) entry -= below[j] * row[j];
            below[k] = entry / row[k];
        }
        sum -= 0.5 * u[k] * u[k] + log(row[k]);
    }
    *out = sum;
    return isfinite(sum) ? GOOD : BROKEN;
}

static fate interval_term(const likelihood_job *job, size_t point, double *f, double *a, double *out)
{
    const size_t d = job->data->d;
    const double *y = job->data->x + point * d;
    double h = job->data->t[point + 1] - job->data->t[point];
    for (size_t k = 0; k < d; k++) f[k] = y[d + k] - y[k] - h * f[k];
    for (size_t k = 0; k < d * d; k++) a[k] *= h;
    for (size_t k = 0; k < d; k++) a[k * d + k] += job->delta;
    return log_density(d, a, f, out);
}

/* The trajectory that holds a point. */
static size_t trajectory_of(const sock_data *data, size_t point)
{
    size_t low = 0, high = data->trajectories;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (data->first[middle] <= point)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static sock_status likelihood_range(void *arg, size_t begin, size_t end, int worker)
{
    const likelihood_job *job = arg;
    const sock_data *data = job->data;
    const size_t d = data->d;
    double *f = job->space + (size_t)worker * job->space_each, *a = f + BLOCK * d, *space = a + BLOCK * d * d;
    if (!job->model->has_diffusion) memset(a, 0, BLOCK * d * d * sizeof *a);
    sk_model_fields(job->ctx, job->model, end - begin, data->x + begin * d, f, job->model->has_diffusion ? a : NULL,
                    space);
    size_t j = trajectory_of(data, begin);
    for (size_t point = begin; point < end; point++) {
        while (point >= data->first[j + 1]) j++;
        size_t i = point - begin;
        job->fates[point] =
            (unsigned char)(point + 1 == data->first[j + 1]
                                ? LAST
                                : interval_term(job, point, f + i * d, a + i * d * d, &job->term[point]));
    }
    return SOCK_OK;
}

static void add_up(const likelihood_job *job, sk_loglik *out)
{
    *out = (sk_loglik){0};
    for (size_t i = 0; i < job->data->points; i++) {
        if (job->fates[i] == LAST) continue;
        out->intervals++;
        out->singular += job->fates[i] == SINGULAR;
        out->broken += job->fates[i] == BROKEN;
        if (job->fates[i] == GOOD) out->value += job->term[i];
    }
}

sock_status sk_log_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                              sk_loglik *out)
{
    const size_t d = data->d;
    likelihood_job job = {.ctx = ctx, .model = model, .data = data, .delta = delta};
    sock_status status = SOCK_ENOMEM;
    job.space_each = BLOCK * (d + d * d) + sk_model_space(model, BLOCK);
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_each);
    job.term = sk_doubles(ctx, data->points, 1);
    job.fates = sk_alloc(ctx, data->points, sizeof *job.fates);
    if (!job.space || !job.term || !job.fates) goto out;
    SK_GO(sk_parallel_for(ctx, data->points, BLOCK, likelihood_range, &job));
    add_up(&job, out);
out:
    sk_free(job.fates);
    sk_free(job.term);
    sk_free(job.space);
    return status;
}
