/* measured.c - what a model with measurement noise says of a data set: log likelihood by the filter, and its states. */
#include "score/filter.h"
#include "score/score.h"

#include <math.h>
#include <string.h>

/* A data set made ready for the filter of a model. */
typedef struct ready {
    sk_series series;
    sk_frame frame;
    sk_filter_spec spec;
} ready;

static void ready_clear(ready *r)
{
    sk_series_clear(&r->series);
    sk_frame_clear(&r->frame);
}

static sock_status get_ready(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                             ready *r)
{
    const sk_substeps one = {1, false};
    *r = (ready){0};
    sock_status status = sk_series_of_data(ctx, data, &r->series);
    if (status >= 0) status = sk_frame_new(ctx, &r->series, &r->frame);
    if (status >= 0) {
        r->spec = (sk_filter_spec){model, noise, {one, r->frame.reach, r->frame.low, r->frame.high}, NULL};
        if (r->series.steps) status = sk_series_substeps(ctx, &r->series, &r->spec, one, &r->spec.flow.substeps);
    }
    if (status < 0) ready_clear(r);
    return status;
}

sock_status sk_filter_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                                 sk_loglik *out)
{
    ready r;
    sk_pass pass = {0};
    SK_TRY(get_ready(ctx, model, data, noise, &r));
    sock_status status = sk_pass_new(ctx, &r.series, false, &pass);
    if (status >= 0) status = sk_filter(ctx, &r.series, &r.spec, &pass);
    if (status >= 0) {
        *out = (sk_loglik){.intervals = r.series.steps, .value = sk_pass_sum(&r.series, &pass)};
        for (size_t i = 0; i < r.series.steps; i++) out->unsettled += pass.lost[i];
    }
    sk_pass_clear(&pass);
    ready_clear(&r);
    return status;
}

/* A trajectory of one point has no step: its state is what was observed. */
static void put_states(const sock_data *data, const sk_smoothed *s, const double *noise, double *mean, double *sd)
{
    const size_t d = data->d;
    memcpy(mean, s->m, data->points * d * sizeof *mean);
    for (size_t i = 0; sd && i < data->points * d; i++) sd[i] = sqrt(fmax(s->p[i / d * d * d + i % d * (d + 1)], 0));
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t at = data->first[j];
        if (sk_data_length(data, j) > 1) continue;
        memcpy(mean + at * d, data->x + at * d, d * sizeof *mean);
        for (size_t k = 0; sd && k < d; k++) sd[at * d + k] = sqrt(noise[k * (d + 1)]);
    }
}

static sock_status smooth(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean, double *sd)
{
    const size_t d = data->d;
    const double *noise = model->structure->noise;
    ready r;
    sk_pass pass = {0};
    SK_TRY(get_ready(ctx, model, data, noise, &r));
    const sk_smoothed s = {sk_doubles(ctx, data->points, d), sk_doubles(ctx, data->points, d * d), NULL};
    sock_status status = s.m && s.p ? sk_pass_new(ctx, &r.series, true, &pass) : SOCK_ENOMEM;
    if (status >= 0) status = sk_filter(ctx, &r.series, &r.spec, &pass);
    if (status >= 0) status = sk_smooth(ctx, &r.series, &pass, &s);
    if (status >= 0) put_states(data, &s, noise, mean, sd);
    sk_pass_clear(&pass);
    sk_free(s.m);
    sk_free(s.p);
    ready_clear(&r);
    return status;
}

static sock_status second(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean, double *sd)
{
    if (model->has_diffusion) return sk_second_smooth(ctx, model, data, mean, sd);
    return sk_fail(ctx, SOCK_EUSAGE,
                   "smooth: the model of order 2 has no diffusion, which the law of a velocity needs");
}

sock_status sock_smooth(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean, double *sd)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !data || !mean) return sk_fail(ctx, SOCK_EUSAGE, "smooth: model, data and output must not be NULL");
    if (sk_model_observed(model) != data->d)
        return sk_fail(ctx, SOCK_EINPUT, "smooth: the model has %zu states that data hold, the data (%s) %zu",
                       sk_model_observed(model), data->source, data->d);
    if (model->structure->order == 2) return second(ctx, model, data, mean, sd);
    if (!model->structure->noise)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "smooth: the model knows of no measurement noise, so the states are what was observed; fit it "
                       "with --noise diag or full");
    if (model->structure->inputs)
        return sk_fail(ctx, SOCK_EUSAGE, "smooth: the model has the input %s; noise and inputs do not go together yet",
                       model->structure->input[0].name);
    return smooth(ctx, model, data, mean, sd);
}
