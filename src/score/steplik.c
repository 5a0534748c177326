/* steplik.c - see steplik.h. With S = C C' and v = C^-1 u:  log N = -(d log 2 pi + |v|^2)/2 - sum_k log C_kk. */
#include "score/steplik.h"

#include "la/la.h"

#include <float.h>
#include <math.h>

static bool is_finite(size_t d, const double *s)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l <= k; l++)
            if (!isfinite(s[k * d + l])) return false;
    return true;
}

/* A pivot that is rounding only means a singular S. */
sk_fate sk_gauss_density(size_t d, double delta, double *s, double *u, double *out)
{
    double sum = -0.5 * (double)d * log(2 * 3.14159265358979323846);
    if (!is_finite(d, s)) return SK_FATE_BROKEN;
    for (size_t k = 0; k < d; k++) s[k * d + k] += delta;
    if (sk_factor_small(d, 4 * DBL_EPSILON * (double)(d - 1), s)) return SK_FATE_SINGULAR;
    for (size_t k = 0; k < d; k++) {
        const double *row = s + k * d;
        for (size_t j = 0; j < k; j++) u[k] -= row[j] * u[j];
        u[k] /= row[k];
        sum -= 0.5 * u[k] * u[k] + log(row[k]);
    }
    *out = sum;
    return isfinite(sum) ? SK_FATE_GOOD : SK_FATE_BROKEN;
}

static void list_intervals(sk_step_job *job)
{
    const sock_data *data = job->data;
    size_t count = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) job->start[count++] = i;
    job->intervals = count;
}

static void add_up(const sk_step_job *job, sk_loglik *out)
{
    *out = (sk_loglik){.intervals = job->intervals};
    for (size_t i = 0; i < job->intervals; i++) {
        out->singular += job->fate[i] == SK_FATE_SINGULAR;
        out->broken += job->fate[i] == SK_FATE_BROKEN;
        out->unsettled += job->fate[i] == SK_FATE_UNSETTLED;
        if (job->fate[i] == SK_FATE_GOOD) out->value += job->term[i];
        if (job->keep) job->keep[i] = job->fate[i] == SK_FATE_GOOD ? job->term[i] : -(double)INFINITY;
    }
}

sock_status sk_step_likelihood(sk_step_job *job, size_t grain, sk_range_fn fn, sk_loglik *out)
{
    sock_context *ctx = job->ctx;
    const size_t points = job->data->points;
    sock_status status = SOCK_ENOMEM;
    if (job->model) SK_TRY(sk_inputs_find(ctx, job->model, job->data, &job->input));
    job->space = sk_doubles_unset(ctx, (size_t)sk_workers(ctx), job->space_each);
    job->start = sk_alloc(ctx, points, sizeof *job->start);
    job->term = sk_doubles(ctx, points, 1);
    job->fate = sk_alloc(ctx, points, sizeof *job->fate);
    if (!job->space || !job->start || !job->term || !job->fate) goto out;
    list_intervals(job);
    SK_GO(sk_parallel_for(ctx, job->intervals, grain, fn, job));
    add_up(job, out);
out:
    sk_free(job->input);
    sk_free(job->fate);
    sk_free(job->term);
    sk_free(job->start);
    sk_free(job->space);
    return status;
}
