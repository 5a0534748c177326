/* exits.c - how a model does away from single steps: whole paths that leave the data's range, steps that are long. */
#include "check/check.h"

#include "check/checkrules.h"
#include "data/datarules.h"
#include "data/samples.h"
#include "model/modelinputs.h"
#include "score/score.h"
#include "simulate/simulate.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

static void range_of(const sock_data *data, size_t k, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = -(double)INFINITY;
    for (size_t i = 0; i < data->points; i++) {
        *low = fmin(*low, data->x[i * data->d + k]);
        *high = fmax(*high, data->x[i * data->d + k]);
    }
    const double wider = sk_exit_wider(*high - *low);
    *low -= wider;
    *high += wider;
}

/* Leaves the range, or goes so far that it runs off. A path that is lost has done both. Of its states, w, the first d
 * are in the data. */
static void add_path(size_t times, size_t d, size_t w, const double *path, const double *low, const double *high,
                     double count[2])
{
    bool leaves = false, off = false;
    for (size_t i = 0; i < times * w; i++) {
        const size_t k = i % w;
        if (k >= d) continue;
        const double reach = sk_exit_off(high[k] - low[k]);
        leaves = leaves || !(path[i] >= low[k] && path[i] <= high[k]);
        off = off || !(path[i] >= low[k] - reach && path[i] <= high[k] + reach);
    }
    count[0] += leaves;
    count[1] += off;
}

/* The inputs of the model at the first points of trajectory j, times x inputs; NULL where it has none. */
static sock_status inputs_beside(sock_context *ctx, const sock_model *model, const sock_data *data, size_t j,
                                 size_t times, double **u)
{
    const size_t m = model->structure->inputs;
    size_t *place = NULL;
    *u = NULL;
    if (!m) return SOCK_OK;
    SK_TRY(sk_inputs_find(ctx, model, data, &place));
    *u = sk_doubles(ctx, times, m);
    for (size_t i = 0; *u && i < times; i++) sk_inputs_at(model, place, data, data->first[j] + i, 0, *u + i * m);
    sk_free(place);
    return *u ? SOCK_OK : SOCK_ENOMEM;
}

/* Paths beside trajectory j, from where it starts. */
typedef struct walks {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    const sk_check_spec *spec;
    sk_sampler *sampler;
    const double *start; /* points x d of the model */
    size_t paths;        /* beside each trajectory */
} walks;

/* The times of the first points from `first` on, where a gap that the fit left out takes no longer than the steps that
 * it did not: nobody knows what paths do in there, and few inner steps would carry them away. */
static sock_status times_beside(const walks *w, size_t first, size_t times, double **out)
{
    const double *t = w->data->t + first;
    const bool *skip = w->spec->skip ? w->spec->skip + first : NULL;
    double whole = 0, kept = 0;
    *out = sk_doubles_unset(w->ctx, times, 1);
    if (!*out) return SOCK_ENOMEM;
    memcpy(*out, t, times * sizeof *t);
    for (size_t i = 0; skip && i + 1 < times; i++) {
        whole += skip[i] ? 0 : t[i + 1] - t[i];
        kept += !skip[i];
    }
    double cut = 0;
    for (size_t i = 0; skip && kept > 0 && i + 1 < times; i++) {
        const double usual = whole / kept, step = t[i + 1] - t[i];
        if (skip[i] && sk_is_gap(step, usual)) cut += step - usual;
        (*out)[i + 1] -= cut;
    }
    return SOCK_OK;
}

static sock_status walk_beside(const walks *w, size_t j, double *out)
{
    const sock_data *data = w->data;
    const size_t first = data->first[j], times = sk_exit_times(sk_data_length(data, j));
    double *u = NULL, *t = NULL;
    sock_status status;
    SK_GO(times_beside(w, first, times, &t));
    SK_GO(inputs_beside(w->ctx, w->model, data, j, times, &u));
    sock_simulation_report report;
    const sock_simulation s = {.starts = 1,
                               .x0 = w->start + first * w->model->d,
                               .paths = w->paths,
                               .times = times,
                               .t = t,
                               .step = (t[times - 1] - t[0]) / (double)(times - 1) /
                                       SK_CHECK_INNER, /* of the mean step: gaps do not make them many */
                               .seed = w->spec->seed,
                               .first_start = j,
                               .bounds = w->spec->bounds,
                               .lower = w->spec->lower,
                               .upper = w->spec->upper,
                               .input_times = u ? times : 0,
                               .input_t = t,
                               .u = u};
    status = sk_simulate_by(w->ctx, w->model, w->sampler, &s, out, &report);
out:
    sk_free(u);
    sk_free(t);
    return status;
}

/* Trajectories that paths are simulated beside, evenly chosen: at most as many as paths. */
static sock_status walk(const walks *w, size_t beside, double *out, const double *low, const double *high,
                        double share[2])
{
    const sock_data *data = w->data;
    const size_t d = data->d, of = w->model->d;
    double left[2] = {0}, made = 0;
    for (size_t i = 0; i < beside; i++) {
        const size_t j = i * data->trajectories / beside;
        const size_t times = sk_exit_times(sk_data_length(data, j));
        if (times < 2) continue;
        SK_TRY(walk_beside(w, j, out));
        for (size_t p = 0; p < w->paths; p++) add_path(times, d, of, out + p * times * of, low, high, left);
        made += (double)w->paths;
    }
    for (int i = 0; i < 2; i++) share[i] = made > 0 ? left[i] / made : (double)NAN;
    return SOCK_OK;
}

sock_status sk_check_exits(sock_context *ctx, const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                           size_t paths, double share[2])
{
    const size_t d = data->d, of = model->d, beside = SK_MIN(data->trajectories, paths);
    const double length = fmin((double)data->points / (double)data->trajectories, SK_CHECK_EXIT_STEPS);
    walks w = {ctx, model, data, spec, NULL, data->x, paths / beside};
    double *low = sk_doubles(ctx, d, 1), *high = sk_doubles(ctx, d, 1);
    double *out = sk_doubles(ctx, w.paths * (SK_CHECK_EXIT_STEPS + 1), of);
    double *states = of > d ? sk_doubles(ctx, data->points, of) : NULL;
    if (of > d) w.start = states;
    sock_status status = low && high && out && w.start ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && of > d) status = sk_second_smooth(ctx, model, data, states, NULL);
    for (size_t k = 0; status >= 0 && k < d; k++) range_of(data, k, &low[k], &high[k]);
    if (status >= 0) status = sk_check_sampler(ctx, model, data, (double)(paths * SK_CHECK_INNER) * length, &w.sampler);
    if (status >= 0) status = walk(&w, beside, out, low, high, share);
    sk_sampler_free(w.sampler);
    sk_free(low);
    sk_free(high);
    sk_free(out);
    sk_free(states);
    return status < 0 ? status : SOCK_OK;
}

/* ---- Long steps ---- */

static double spread_of(const sk_check_rows *rows, size_t k)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < rows->n; i++) mean += rows->z[i * rows->in + k] / (double)rows->n;
    for (size_t i = 0; i < rows->n; i++) square += pow(rows->z[i * rows->in + k] - mean, 2) / (double)rows->n;
    return sqrt(square);
}

/* Sum over k of (df_k / dx_l * s_l / s_k)^2 at every place, added to sum. z, f: places x in and x d, twice. */
static sock_status add_derivative(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, size_t places,
                                  size_t l, const double *spread, double *z, double *f, double *sum)
{
    const size_t d = model->d, in = rows->in;
    if (!(spread[l] > 0)) return SOCK_OK;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < places; i++) {
            double *at = z + ((size_t)side * places + i) * in;
            memcpy(at, rows->z + i * rows->n / places * in, in * sizeof *at);
            at[l] += (side ? SK_CHECK_NUDGE : -SK_CHECK_NUDGE) * spread[l];
        }
    SK_TRY(sk_model_evaluate(ctx, model, 2 * places, z, f, NULL));
    for (size_t i = 0; i < places * d; i++)
        if (spread[i % d] > 0) sum[i / d] += pow((f[places * d + i] - f[i]) / (2 * SK_CHECK_NUDGE * spread[i % d]), 2);
    return SOCK_OK;
}

sock_status sk_check_long_step(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, double out[2])
{
    const size_t d = model->d, places = sk_places_of_jacobian(rows->n);
    double *spread = sk_doubles(ctx, d, 1), *z = sk_doubles(ctx, 2 * places, rows->in),
           *f = sk_doubles(ctx, 2 * places, d), *sum = sk_doubles(ctx, places, 1);
    sock_status status = spread && z && f && sum ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) spread[k] = spread_of(rows, k);
    for (size_t l = 0; status >= 0 && l < d; l++)
        status = add_derivative(ctx, model, rows, places, l, spread, z, f, sum);
    for (size_t i = 0; status >= 0 && i < places; i++)
        sum[i] = rows->h[i * rows->n / places] * sqrt(sum[i] / (double)d);
    if (status >= 0) {
        out[0] = sk_median(places, sum);
        out[1] = sk_select(places, sum, places * 9 / 10);
    }
    sk_free(spread);
    sk_free(z);
    sk_free(f);
    sk_free(sum);
    return status;
}
