/* explaincall.c - sock_explain: what is given is looked at, the range is settled, the room `explain` does the work. */
#include "base/options.h"
#include "explain/explain.h"
#include "explain/explainrules.h"
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The range ---- */

/* As far as the data go, in state k. */
static void extent(const sock_data *data, size_t k, double *low, double *high)
{
    *low = (double)INFINITY, *high = -(double)INFINITY;
    for (size_t i = 0; i < data->points; i++) {
        *low = fmin(*low, data->x[i * data->d + k]);
        *high = fmax(*high, data->x[i * data->d + k]);
    }
}

/* Where a bound is auto: the range of the fit, or of the data. */
static sock_status fill_range(sock_context *ctx, const sock_model *model, const sock_data *data, size_t k, double *low,
                              double *high)
{
    double from, to;
    if (isnan(*low) || isnan(*high)) {
        if (!model->spread && !data)
            return sk_fail(ctx, SOCK_EUSAGE,
                           "explain: the model does not hold the range of its data; give %slower and upper",
                           model->structure->order == 2 ? "" : "data, or ");
        if (model->spread)
            from = model->spread->lower[k], to = model->spread->upper[k];
        else
            extent(data, k, &from, &to);
        *low = isnan(*low) ? from : *low;
        *high = isnan(*high) ? to : *high;
    }
    if (isinf(*low) || isinf(*high))
        return sk_fail(ctx, SOCK_EUSAGE, "explain: %s is none for the state '%s'; allowed: a number, or auto",
                       isinf(*low) ? "lower" : "upper", model->structure->state[k]);
    return SOCK_OK;
}

/* No farther than the bounds; data that come to one but for rounding reach it. */
static void end_at_bounds(const sk_structure *s, size_t k, double *low, double *high)
{
    const double nearly = 1e-9 * (*high - *low);
    if (s->lower && *low < s->lower[k] + nearly) *low = s->lower[k];
    if (s->upper && *high > s->upper[k] - nearly) *high = s->upper[k];
}

/* Where an end that nobody asked for is near a bound of the model, the bound. */
static void look_farther(const sk_structure *s, size_t k, const bool *asked, sk_explain_range *range)
{
    const double low = range->lower[k], high = range->upper[k], near = sk_explain_near_bound(high - low);
    range->farther[0] = !asked[0] && s->lower && low - s->lower[k] < near ? s->lower[k] : low;
    range->farther[1] = !asked[1] && s->upper && s->upper[k] - high < near ? s->upper[k] : high;
}

static sock_status settle_range(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const sock_options *opts, sk_explain_range *range)
{
    const size_t d = model->d;
    const sk_structure *s = model->structure;
    double *lower = range->lower, *upper = range->upper;
    SK_TRY(sk_read_bound(ctx, opts, "lower", d, -(double)INFINITY, lower));
    SK_TRY(sk_read_bound(ctx, opts, "upper", d, (double)INFINITY, upper));
    range->from = "options";
    for (size_t k = 0; k < d; k++) {
        const bool asked[2] = {!isnan(lower[k]), !isnan(upper[k])};
        if (!asked[0] || !asked[1]) range->from = model->spread ? "fit" : "data";
        SK_TRY(fill_range(ctx, model, data, k, lower + k, upper + k));
        end_at_bounds(s, k, lower + k, upper + k);
        if (!(lower[k] < upper[k]) || !isfinite(upper[k] - lower[k]))
            return sk_fail(ctx, SOCK_EUSAGE,
                           "explain: the range of the state '%s' is from %g to %g; it must begin below its end",
                           s->state[k], lower[k], upper[k]);
        if (d == 1) look_farther(s, k, asked, range);
    }
    return SOCK_OK;
}

/* ---- Data beside it ---- */

static json_t *data_object(const sock_model *model, const sock_data *data, const sk_explain_range *range)
{
    const size_t d = model->d, n = data->points;
    json_t *means = json_array(), *sds = json_array();
    size_t outside = 0;
    for (size_t k = 0; k < d; k++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) mean += data->x[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) square += (data->x[i * d + k] - mean) * (data->x[i * d + k] - mean);
        json_array_append_new(means, json_real(mean));
        json_array_append_new(sds, json_real(sqrt(square / (double)n)));
    }
    for (size_t i = 0; i < n; i++) {
        bool out = false;
        for (size_t k = 0; k < d; k++)
            out = out || data->x[i * d + k] < range->lower[k] || data->x[i * d + k] > range->upper[k];
        outside += out;
    }
    json_t *object = json_pack("{s:I, s:f, s:o, s:o}", "points", (json_int_t)n, "outside_share",
                               (double)outside / (double)n, "mean", means, "sd", sds);
    const double *noise = model->structure->noise;
    json_t *list = noise ? json_array() : NULL;
    for (size_t k = 0; noise && k < d; k++) json_array_append_new(list, json_real(sqrt(noise[k * d + k])));
    if (noise) json_object_set_new(object, "noise_sd", list);
    return object;
}

static sock_status write_text(sock_context *ctx, json_t *object, char **json)
{
    char *made = object ? json_dumps(object, JSON_REAL_PRECISION(12) | JSON_INDENT(1)) : NULL;
    if (!made) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the explanation could not be written");
    char *copy = made ? sk_strdup(ctx, made) : NULL;
    free(made);
    if (!copy) return SOCK_ENOMEM;
    *json = copy;
    return SOCK_OK;
}

/* ---- The call ---- */

/* Of one state whose density lies much at an end of the data next to a bound: up to the bound, where nothing hangs on
 * the end. Where there is no law up to the bound (it absorbs), all stays. */
static sock_status go_on_to_bounds(sock_context *ctx, const sock_model *model, uint64_t seed, sk_explain_range *range,
                                   sk_explained *e)
{
    const double *to = range->farther;
    if (model->d != 1 || !e->stationary || !sk_explained_caveat(model, range, e)) return SOCK_OK;
    if (to[0] == range->lower[0] && to[1] == range->upper[0]) return SOCK_OK;
    sk_explained other;
    double low = to[0], high = to[1];
    const sk_explain_range wide = {&low, &high, {low, high}, range->u, range->from};
    SK_TRY(sk_explain(ctx, model, &low, &high, range->u, seed, &other));
    if (!other.stationary || sk_explained_caveat(model, &wide, &other)) {
        sk_explained_clear(&other);
        return SOCK_OK;
    }
    sk_explained_clear(e);
    *e = other;
    range->lower[0] = low, range->upper[0] = high;
    return SOCK_OK;
}

/* Of a model whose times were dates: the unit of all times, which slopes are per. */
static void name_unit(const sock_model *model, json_t *object)
{
    json_t *info = json_loads(model->info, 0, NULL);
    const char *unit = json_string_value(json_object_get(json_object_get(info, "data"), "time_unit"));
    if (unit) json_object_set_new(object, "time_unit", json_string(unit));
    json_decref(info);
}

static sock_status explain(sock_context *ctx, const sock_model *model, const sock_data *data, const sock_options *opts,
                           sk_explain_range *range, char **json)
{
    sk_explained e;
    const uint64_t seed = sk_option_count(opts, "seed");
    SK_TRY(sk_explain(ctx, model, range->lower, range->upper, range->u, seed, &e));
    sock_status status = go_on_to_bounds(ctx, model, seed, range, &e);
    if (status >= 0) status = sk_reserve(ctx, 4 * SK_JSON_SMALL + 1000 * (e.size + 1));
    json_t *object = status >= 0 ? sk_explained_object(model, range, &e) : NULL;
    if (object && data) json_object_set_new(object, "data", data_object(model, data, range));
    if (object) name_unit(model, object);
    if (status >= 0) status = write_text(ctx, object, json);
    json_decref(object);
    sk_explained_clear(&e);
    return status;
}

static sock_status look_at(sock_context *ctx, const sock_model *model, const sock_data *data, char **json)
{
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    if (data && data->d != model->d)
        return model->structure->order == 2
                   ? sk_fail(ctx, SOCK_EUSAGE,
                             "explain: the model is of order 2, and data of positions say nothing of its velocities; "
                             "give no data, but lower and upper")
                   : sk_fail(ctx, SOCK_EUSAGE, "the model has dimension %zu, the data %zu", model->d, data->d);
    if (data && !data->points) return sk_fail(ctx, SOCK_EINPUT, "explain: the data have no points");
    return SOCK_OK;
}

sock_status sock_explain(sock_context *ctx, const sock_model *model, const sock_data *data, const double *u,
                         const sock_options *opts, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(look_at(ctx, model, data, json));
    const size_t d = model->d, m = model->structure->inputs;
    double *room = sk_doubles(ctx, 2 * d + m, 1);
    if (!room) return SOCK_ENOMEM;
    double *inputs = room + 2 * d;
    for (size_t k = 0; k < m; k++) inputs[k] = u && !isnan(u[k]) ? u[k] : model->structure->input[k].usual;
    sk_explain_range range = {.lower = room, .upper = room + d, .u = inputs};
    sock_status status = settle_range(ctx, model, data, opts, &range);
    for (size_t k = 0; status >= 0 && k < m; k++)
        if (!isfinite(inputs[k]))
            status =
                sk_fail(ctx, SOCK_EINPUT, "explain: the input '%s' is not finite", model->structure->input[k].name);
    if (status >= 0) status = explain(ctx, model, data, opts, &range, json);
    sk_free(room);
    return status;
}
