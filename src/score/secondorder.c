/* secondorder.c - what a model of second order says of positions: the density of each given those before it, and its
 * errors at the states that the filter of the truth finds. */
#include "score/inertia.h"
#include "score/score.h"

#include <math.h>
#include <string.h>

/* A data set made ready for the filter. */
typedef struct ready {
    sk_series series;
    sk_frame frame;
    sk_inertia_pass pass;
} ready;

static void ready_clear(ready *r)
{
    sk_series_clear(&r->series);
    sk_frame_clear(&r->frame);
    sk_inertia_pass_clear(&r->pass);
}

/* R of the positions: the first block of that of all states. */
static sock_status take_noise(sock_context *ctx, size_t d, const double *noise, double **out)
{
    *out = NULL;
    if (!noise) return SOCK_OK;
    *out = sk_doubles(ctx, d, d);
    if (!*out) return SOCK_ENOMEM;
    for (size_t k = 0; k < d * d; k++) (*out)[k] = noise[k / d * 2 * d + k % d];
    return SOCK_OK;
}

static sock_status follow(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                          bool rows, ready *r)
{
    double *own = NULL;
    *r = (ready){0};
    sock_status status;
    SK_GO(take_noise(ctx, data->d, noise, &own));
    SK_GO(sk_series_of_data(ctx, data, &r->series));
    SK_GO(sk_inertia_frame_new(ctx, &r->series, &r->frame));
    SK_GO(sk_inertia_pass_new(ctx, &r->series, rows, &r->pass));
    const sk_inertia_spec spec = {
        .model = model, .noise = own, .reach = r->frame.reach, .low = r->frame.low, .high = r->frame.high};
    SK_GO(sk_inertia(ctx, &r->series, &spec, &r->pass));
out:
    sk_free(own);
    if (status < 0) ready_clear(r);
    return status;
}

sock_status sk_second_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                                 sk_loglik *out)
{
    ready r;
    SK_TRY(follow(ctx, model, data, noise, false, &r));
    *out = (sk_loglik){0};
    for (size_t i = 0; i < r.series.steps; i++) {
        out->intervals += !r.pass.begins[i] || r.pass.lost[i];
        out->unsettled += r.pass.lost[i];
        out->value += r.pass.term[i];
    }
    ready_clear(&r);
    return SOCK_OK;
}

static void add_squares(size_t n, const double *value, const double *truth, double *difference, double *norm)
{
    for (size_t i = 0; i < n; i++) {
        *difference += (value[i] - truth[i]) * (value[i] - truth[i]);
        *norm += truth[i] * truth[i];
    }
}

sock_status sk_second_errors(sock_context *ctx, const sock_model *model, const sock_model *truth, const sock_data *data,
                             const double *noise, sk_field_errors *out)
{
    const size_t d = data->d, w = 2 * d;
    ready r;
    SK_TRY(follow(ctx, truth, data, noise, true, &r));
    const size_t n = r.series.steps;
    double *f = sk_doubles(ctx, 2 * n, w), *a = sk_doubles(ctx, 2 * n, w * w);
    sock_status status = f && a ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_model_evaluate(ctx, model, n, r.pass.m, f, a);
    if (status >= 0) status = sk_model_evaluate(ctx, truth, n, r.pass.m, f + n * w, a + n * w * w);
    *out = (sk_field_errors){0};
    for (size_t i = 0; status >= 0 && i < n; i++) { /* of the velocities: the positions have f = v in both */
        add_squares(d, f + i * w + d, f + (n + i) * w + d, &out->f_difference, &out->f_truth);
        add_squares(w * w, a + i * w * w, a + (n + i) * w * w, &out->a_difference, &out->a_truth);
    }
    sk_free(f);
    sk_free(a);
    ready_clear(&r);
    return status;
}

/* ---- States ---- */

/* Laws of the filter over all points; laws: of a series of 2d states. */
static sock_status filter_laws(sock_context *ctx, const sock_model *model, const double *noise, const sk_series *series,
                               sk_pass *laws)
{
    sk_frame frame = {0};
    sk_inertia_pass pass = {0};
    sock_status status;
    SK_GO(sk_inertia_frame_new(ctx, series, &frame));
    SK_GO(sk_inertia_pass_new(ctx, series, false, &pass));
    const sk_inertia_spec spec = {
        .model = model, .noise = noise, .reach = frame.reach, .low = frame.low, .high = frame.high, .laws = laws};
    SK_GO(sk_inertia(ctx, series, &spec, &pass));
out:
    sk_inertia_pass_clear(&pass);
    sk_frame_clear(&frame);
    return status;
}

static sk_series widened(const sk_series *series)
{
    return (sk_series){2 * series->d, series->steps, series->runs, series->first, NULL, NULL, series->h, {0}};
}

sock_status sk_second_laws(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                           sk_pass *out)
{
    double *own = NULL;
    sk_series series = {0};
    sock_status status;
    *out = (sk_pass){0};
    SK_GO(take_noise(ctx, data->d, noise, &own));
    SK_GO(sk_series_of_data(ctx, data, &series));
    const sk_series wide = widened(&series);
    SK_GO(sk_pass_new(ctx, &wide, true, out));
    SK_GO(filter_laws(ctx, model, own, &series, out));
out:
    if (status < 0) sk_pass_clear(out);
    sk_series_clear(&series);
    sk_free(own);
    return status;
}

/* Those laws, then back from the last: m and p are points x 2d and points x 2d x 2d. */
static sock_status find_laws(sock_context *ctx, const sock_model *model, const double *noise, const sk_series *series,
                             const sk_smoothed *out)
{
    const sk_series wide = widened(series);
    sk_pass laws = {0};
    sock_status status;
    SK_GO(sk_pass_new(ctx, &wide, true, &laws));
    SK_GO(filter_laws(ctx, model, noise, series, &laws));
    SK_GO(sk_smooth(ctx, &wide, &laws, out));
out:
    sk_pass_clear(&laws);
    return status;
}

/* Of a trajectory of one point nothing is known of the velocity. */
static void put_states(const sock_data *data, const sk_smoothed *s, const double *noise, double *mean, double *sd)
{
    const size_t d = data->d, w = 2 * d;
    memcpy(mean, s->m, data->points * w * sizeof *mean);
    for (size_t i = 0; sd && i < data->points * w; i++) sd[i] = sqrt(fmax(s->p[i / w * w * w + i % w * (w + 1)], 0));
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t at = data->first[j];
        if (sk_data_length(data, j) > 1) continue;
        for (size_t k = 0; k < w; k++) {
            mean[at * w + k] = k < d ? data->x[at * d + k] : (double)NAN;
            if (sd) sd[at * w + k] = k >= d ? (double)NAN : noise ? sqrt(noise[k * (d + 1)]) : 0;
        }
    }
}

sock_status sk_second_smooth(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean,
                             double *sd)
{
    const size_t w = 2 * data->d;
    double *noise = NULL;
    sk_series series = {0};
    const sk_smoothed s = {sk_doubles(ctx, data->points, w), sk_doubles(ctx, data->points, w * w), NULL};
    sock_status status = s.m && s.p ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = take_noise(ctx, data->d, model->structure->noise, &noise);
    if (status >= 0) status = sk_series_of_data(ctx, data, &series);
    if (status >= 0 && series.steps) status = find_laws(ctx, model, noise, &series, &s);
    if (status >= 0) put_states(data, &s, noise, mean, sd);
    sk_series_clear(&series);
    sk_free(noise);
    sk_free(s.m);
    sk_free(s.p);
    return status;
}
