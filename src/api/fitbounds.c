/* fitbounds.c - the bounds of a fit: what the options lower and upper say, or, where they leave it open, what the data
 * show. */
#include "api/fitjob.h"
#include "data/absorbed.h"
#include "data/readers.h"
#include "data/samples.h"
#include "model/modelinputs.h"
#include "simulate/simulate.h"
#include "tune/policy.h"
#include "tune/rules.h"
#include "tune/streamrows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double lowest(const sock_data *data, size_t k)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < data->points; i++) least = fmin(least, data->x[i * data->d + k]);
    return least;
}

/* A state that never falls below 0, in data that are held out either, and comes near it has the lower bound 0. */
static double found_lower(const sk_fit_job *job, size_t k)
{
    const sock_data *held = sk_option_validation(job->opts);
    const sock_data *data = job->data;
    double least = lowest(data, k), mean = 0;
    if (held && held->d == data->d && lowest(held, k) < 0) return -(double)INFINITY;
    for (size_t i = 0; i < data->points; i++) mean += data->x[i * data->d + k] / (double)data->points;
    if (job->stream) least = sk_stream_tell(job->stream).low[k];
    return sk_has_bound(least, mean) ? 0 : -(double)INFINITY;
}

static sock_status check(const sk_fit_job *job)
{
    static const char *const advice[] = {"give another --lower, or none", "give another --upper, or none"};
    const sock_data *data = job->data;
    for (size_t k = 0; k < data->d; k++)
        if (!(job->lower[k] < job->upper[k]))
            return sk_fail(job->ctx, SOCK_EUSAGE,
                           "lower and upper of state %s are %g and %g; lower must be below upper", data->state[k],
                           job->lower[k], job->upper[k]);
    const sock_data *held = sk_option_validation(job->opts);
    SK_TRY(sk_data_within(job->ctx, data, job->lower, job->upper, advice));
    return held && held->d == data->d ? sk_data_within(job->ctx, held, job->lower, job->upper, advice) : SOCK_OK;
}

/* The sample is inside; is all of it? */
static sock_status check_stream(const sk_fit_job *job)
{
    const sk_stream_told told = sk_stream_tell(job->stream);
    for (size_t k = 0; k < job->data->d; k++) {
        const bool below = told.low[k] < job->lower[k];
        if (!below && !(told.high[k] > job->upper[k])) continue;
        return sk_fail(job->ctx, SOCK_EINPUT, "%s: state %s reaches %g, %s its bound %g; give another --%s, or none",
                       job->data->source, job->data->state[k], below ? told.low[k] : told.high[k],
                       below ? "below" : "above", below ? job->lower[k] : job->upper[k], below ? "lower" : "upper");
    }
    return SOCK_OK;
}

/* 0 as the least logarithm is a slip: vole >= 1 was not meant, and vole > 0 needs no bound. */
static sock_status refuse_log_bound(const sk_fit_job *job, size_t k)
{
    size_t from, length;
    const char *name = job->data->state[k];
    if (!(job->lower[k] == 0) || !sk_log_name(name, &from, &length)) return SOCK_OK;
    return sk_fail(job->ctx, SOCK_EUSAGE,
                   "lower is 0 for %s, which would keep %.*s at 1 and above; %.*s > 0 needs no bound: leave --lower "
                   "out, or give none",
                   name, (int)length, name + from, (int)length, name + from);
}

sock_status sk_fit_find_bounds(sk_fit_job *job)
{
    const size_t d = job->data->d;
    job->lower = sk_doubles(job->ctx, d, 1);
    job->upper = sk_doubles(job->ctx, d, 1);
    if (!job->lower || !job->upper) return SOCK_ENOMEM;
    SK_TRY(sk_read_bound(job->ctx, job->opts, "lower", d, -(double)INFINITY, job->lower));
    SK_TRY(sk_read_bound(job->ctx, job->opts, "upper", d, (double)INFINITY, job->upper));
    for (size_t k = 0; k < d; k++) SK_TRY(refuse_log_bound(job, k));
    for (size_t k = 0; k < d; k++) {
        job->bounds_said = job->bounds_said || isfinite(job->lower[k]) || isfinite(job->upper[k]);
        if (isnan(job->lower[k])) job->lower[k] = found_lower(job, k);
        if (isnan(job->upper[k])) job->upper[k] = (double)INFINITY;
    }
    SK_TRY(check(job));
    return job->stream ? check_stream(job) : SOCK_OK;
}

/* Bounds that nobody asked for are the model's where its a knows of them. */
static bool knows_bounds(const sock_model *model)
{
    for (size_t i = 0; i < model->diffusion_terms; i++)
        if (sk_features_bounded(model->diffusion[i]->map)) return true;
    return false;
}

/* Mean of a_kk over points of the data, and with state k at `bound`. */
static sock_status means_of(const sk_fit_job *job, const sock_model *model, size_t k, double bound, double mean[2])
{
    const sock_data *data = job->data;
    const size_t stride = sk_bound_stride(data->points), n = (data->points - 1) / stride + 1, d = data->d;
    const size_t in = sk_model_in(model);
    size_t *place = NULL;
    SK_TRY(sk_inputs_find(job->ctx, model, data, &place));
    double *x = sk_doubles(job->ctx, n, in), *a = sk_doubles(job->ctx, n, d * d);
    sock_status status = x && a ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) sk_inputs_at(model, place, data, i * stride, 0, x + i * in + d);
    for (int there = 0; status >= 0 && there < 2; there++) {
        for (size_t i = 0; i < n; i++) memcpy(x + i * in, data->x + i * stride * d, d * sizeof *x);
        for (size_t i = 0; there && i < n; i++) x[i * in + k] = bound;
        status = sk_model_evaluate(job->ctx, model, n, x, NULL, a);
        mean[there] = 0;
        for (size_t i = 0; status >= 0 && i < n; i++) mean[there] += a[i * d * d + k * (d + 1)] / (double)n;
    }
    sk_free(place);
    sk_free(x);
    sk_free(a);
    return status;
}

/* Of observations with noise half of those close to a bound of the state alone would be beyond it: that none is speaks
 * for a bound where there are enough of them. */
static bool noise_stops_there(const sk_fit_job *job, const sock_model *model, size_t k, double bound)
{
    const double *r = model->structure->noise;
    size_t close = 0;
    if (!r || !(r[k * (job->data->d + 1)] > 0)) return true;
    for (size_t i = 0; i < job->data->points; i++)
        close += fabs(job->data->x[i * job->data->d + k] - bound) <= sqrt(r[k * (job->data->d + 1)]);
    return sk_bound_has_close(close);
}

/* Nor does noise cross a bound where it is gone: a of usual kernels may vanish there, too. Others are no bounds. */
static sock_status keep_where_noise_is_gone(sk_fit_job *job, const sock_model *model, bool *any)
{
    for (size_t k = 0; k < job->data->d; k++) {
        double mean[2] = {0};
        if (!isfinite(job->lower[k])) continue;
        SK_TRY(means_of(job, model, k, job->lower[k], mean));
        const bool gone = sk_bound_is_gone(mean[1], mean[0]);
        if (gone && noise_stops_there(job, model, k, job->lower[k]))
            *any = true;
        else
            job->lower[k] = -(double)INFINITY;
    }
    return SOCK_OK;
}

sock_status sk_fit_keep_bounds(sk_fit_job *job, bool searched, sock_model *model)
{
    const size_t d = job->data->d;
    bool keep = job->bounds_said || knows_bounds(model);
    if (!keep && searched && model->has_diffusion) SK_TRY(keep_where_noise_is_gone(job, model, &keep));
    if (!keep) return SOCK_OK;
    SK_TRY(sk_model_set_bounds(job->ctx, model, job->lower, job->upper));
    unsigned *absorbing = sk_alloc(job->ctx, d, sizeof *absorbing), any = 0;
    if (!absorbing) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        if (sk_absorbed_at(job->data, k, job->lower[k])) absorbing[k] |= SK_ABSORBS_LOWER;
        if (sk_absorbed_at(job->data, k, job->upper[k])) absorbing[k] |= SK_ABSORBS_UPPER;
        any |= absorbing[k];
    }
    model->structure->absorbing = any ? absorbing : NULL;
    if (!any) sk_free(absorbing);
    return SOCK_OK;
}
