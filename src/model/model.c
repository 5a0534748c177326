/* model.c - a model in memory: made of terms or of functions; what it says of itself. Its values: modelfields.c. */
#include "model/model.h"

#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sock_status sk_model_new(sock_context *ctx, size_t d, const char *const *names, sock_model **out)
{
    sock_model *model = sk_alloc(ctx, 1, sizeof *model);
    if (!model) return SOCK_ENOMEM;
    model->d = d;
    model->info = sk_strdup(ctx, "{}");
    if (!model->info || sk_structure_new(ctx, d, names, &model->structure) < 0) {
        sock_model_free(model);
        return SOCK_ENOMEM;
    }
    *out = model;
    return SOCK_OK;
}

void sock_model_free(sock_model *model)
{
    if (!model) return;
    for (size_t i = 0; i < model->drift_terms; i++) sk_drift_term_free(model->drift[i]);
    for (size_t i = 0; i < model->diffusion_terms; i++) sk_diffusion_term_free(model->diffusion[i]);
    sk_structure_free(model->structure);
    sk_spread_free(model->spread);
    sk_free(model->drift);
    sk_free(model->diffusion);
    sk_free(model->info);
    sk_free(model->seconds);
    sk_free(model);
}

sock_status sk_model_add_drift(sock_context *ctx, sock_model *model, sk_drift_term *term)
{
    size_t capacity = model->drift_terms;
    sock_status status = sk_grow(ctx, &model->drift, &capacity, capacity + 1, sizeof *model->drift);
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    model->drift[model->drift_terms++] = term;
    return SOCK_OK;
}

sock_status sk_model_add_diffusion(sock_context *ctx, sock_model *model, sk_diffusion_term *term)
{
    size_t capacity = model->diffusion_terms;
    sock_status status = sk_grow(ctx, &model->diffusion, &capacity, capacity + 1, sizeof *model->diffusion);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    model->diffusion[model->diffusion_terms++] = term;
    model->has_diffusion = true;
    return SOCK_OK;
}

/* jansson allocates by itself: its text is copied, so that everything the library returns is freed in one way. */
static char *json_text(sock_context *ctx, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
    char *copy = text ? sk_strdup(ctx, text) : NULL;
    if (!text) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the model's information could not be written");
    free(text);
    return copy;
}

void sk_model_take_info(sock_model *model, char *info, char *seconds)
{
    sk_free(model->info);
    sk_free(model->seconds);
    model->info = info;
    model->seconds = seconds;
}

sock_status sk_model_set_info(sock_context *ctx, sock_model *model, const json_t *info, const json_t *seconds)
{
    char *text = json_text(ctx, info), *times = text && seconds ? json_text(ctx, seconds) : NULL;
    if (!text || (seconds && !times)) {
        sk_free(text);
        return SOCK_ENOMEM;
    }
    sk_model_take_info(model, text, times);
    return SOCK_OK;
}

const char **sk_model_coordinates(sock_context *ctx, const sock_model *model)
{
    const sk_structure *s = model->structure;
    const char **names = sk_alloc(ctx, sk_model_in(model), sizeof *names);
    for (size_t k = 0; names && k < model->d; k++) names[k] = s->state[k];
    for (size_t k = 0; names && k < s->inputs; k++) names[model->d + k] = s->input[k].name;
    return names;
}

size_t sock_model_dim(const sock_model *model) { return model ? model->d : 0; }

const char *sock_model_name(const sock_model *model, size_t k)
{
    return model && k < model->d ? model->structure->state[k] : NULL;
}

int sock_model_has_diffusion(const sock_model *model) { return model && model->has_diffusion; }

int sock_model_noise(const sock_model *model, double *noise)
{
    const double *r = model ? model->structure->noise : NULL;
    for (size_t i = 0; model && noise && i < model->d * model->d; i++) noise[i] = r ? r[i] : 0;
    return r != NULL;
}

/* ---- Bounds ---- */

static void give(size_t d, const double *from, double absent, double *to)
{
    for (size_t k = 0; to && k < d; k++) to[k] = from ? from[k] : absent;
}

int sock_model_bounds(const sock_model *model, double *lower, double *upper)
{
    if (!model) return 0;
    const sk_structure *s = model->structure;
    give(model->d, s->lower, -(double)INFINITY, lower);
    give(model->d, s->upper, (double)INFINITY, upper);
    return sk_structure_is_bounded(s);
}

sock_status sk_model_set_bounds(sock_context *ctx, sock_model *model, const double *lower, const double *upper)
{
    const size_t d = model->d;
    double *low = sk_doubles(ctx, d, 1), *high = sk_doubles(ctx, d, 1);
    if (!low || !high) {
        sk_free(low);
        sk_free(high);
        return SOCK_ENOMEM;
    }
    give(d, lower, -(double)INFINITY, low);
    give(d, upper, (double)INFINITY, high);
    sk_free(model->structure->lower);
    sk_free(model->structure->upper);
    model->structure->lower = low;
    model->structure->upper = high;
    return SOCK_OK;
}

sock_status sk_model_copy_bounds(sock_context *ctx, const sock_model *from, sock_model *to)
{
    const sk_structure *s = from->structure;
    if (!sk_structure_is_bounded(s)) return SOCK_OK;
    SK_TRY(sk_model_set_bounds(ctx, to, s->lower, s->upper));
    if (!s->absorbing) return SOCK_OK;
    to->structure->absorbing = sk_alloc(ctx, from->d, sizeof *s->absorbing);
    if (!to->structure->absorbing) return SOCK_ENOMEM;
    memcpy(to->structure->absorbing, s->absorbing, from->d * sizeof *s->absorbing);
    return SOCK_OK;
}

sock_status sk_model_copy_inputs(sock_context *ctx, const sock_model *from, sock_model *to)
{
    sk_structure *copy = NULL, *own = to->structure;
    if (!from->structure->inputs) return SOCK_OK;
    SK_TRY(sk_structure_copy(ctx, from->structure, &copy));
    own->inputs = copy->inputs;
    own->input = copy->input;
    copy->inputs = 0;
    copy->input = NULL;
    sk_structure_free(copy);
    return SOCK_OK;
}

sock_status sock_model_set_bounds(sock_context *ctx, sock_model *model, const double *lower, const double *upper)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model) return sk_fail(ctx, SOCK_EUSAGE, "model must not be NULL");
    for (size_t k = 0; k < model->d; k++) {
        const double low = lower ? lower[k] : -(double)INFINITY, high = upper ? upper[k] : (double)INFINITY;
        if (!(low < high))
            return sk_fail(ctx, SOCK_EUSAGE, "bounds of state %s are %g and %g; lower must be below upper",
                           model->structure->state[k], low, high);
    }
    return sk_model_set_bounds(ctx, model, lower, upper);
}

/* ---- Inputs ---- */

size_t sock_model_inputs(const sock_model *model) { return model ? model->structure->inputs : 0; }

const char *sock_model_input_name(const sock_model *model, size_t k)
{
    return k < sock_model_inputs(model) ? model->structure->input[k].name : NULL;
}

const char *sock_model_input_hold(const sock_model *model, size_t k)
{
    static const char *const name[] = {"previous", "linear", "time"};
    return k < sock_model_inputs(model) ? name[model->structure->input[k].hold] : NULL;
}

double sock_model_input_usual(const sock_model *model, size_t k)
{
    return k < sock_model_inputs(model) ? model->structure->input[k].usual : 0;
}

/* ---- Order ---- */

int sock_model_order(const sock_model *model) { return model ? model->structure->order : 0; }

sock_status sock_model_set_order(sock_context *ctx, sock_model *model, int order)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model) return sk_fail(ctx, SOCK_EUSAGE, "model must not be NULL");
    if (!model->wrapped_drift || model->structure->inputs)
        return sk_fail(ctx, SOCK_EUSAGE, "an order is declared of a model made of functions, without inputs");
    if (order != 1 && order != 2) return sk_fail(ctx, SOCK_EUSAGE, "order is %d; allowed: 1 or 2", order);
    if (order == 2 && (model->d % 2 || model->d > 2 * SK_SECOND_MOST_DIM))
        return sk_fail(ctx, SOCK_EUSAGE, "order is 2 and the model has %zu states; allowed: an even number up to %d",
                       model->d, 2 * SK_SECOND_MOST_DIM);
    model->structure->order = order;
    return SOCK_OK;
}

sock_status sk_refuse_second(sock_context *ctx, const sock_model *model, const char *who)
{
    if (!model || model->structure->order != 2) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "%s: the model is of order 2, its velocities are not in the data; %s knows order 1", who, who);
}

/* ---- Information ---- */

sock_status sock_model_info(sock_context *ctx, const sock_model *model, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * (strlen(model->info) + 64 * model->d) + SK_JSON_SMALL));
    json_t *info = json_loads(model->info, 0, NULL);
    json_t *state = json_array();
    for (size_t k = 0; k < model->d; k++) json_array_append_new(state, json_string(model->structure->state[k]));
    if (info) json_object_set(info, "state", state);
    json_decref(state);
    if (info && model->seconds) json_object_set_new(info, "seconds", json_loads(model->seconds, 0, NULL));
    char *text = json_text(ctx, info);
    json_decref(info);
    if (!text) return SOCK_ENOMEM;
    *json = text;
    return SOCK_OK;
}

sock_status sock_model_wrap(sock_context *ctx, size_t d, const char *const *names, sock_field_fn drift,
                            sock_field_fn diffusion, void *user, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!d || !drift || !out) return sk_fail(ctx, SOCK_EUSAGE, "a wrapped model needs d >= 1, a drift and an output");
    sock_model *model = NULL;
    SK_TRY(sk_model_new(ctx, d, names, &model));
    model->wrapped_drift = drift;
    model->wrapped_diffusion = diffusion;
    model->has_diffusion = diffusion != NULL;
    model->wrapped_user = user;
    *out = model;
    return SOCK_OK;
}

sock_status sock_model_set_inputs(sock_context *ctx, sock_model *model, size_t inputs, const char *const *names,
                                  const char *const *hold)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !inputs || !names) return sk_fail(ctx, SOCK_EUSAGE, "model and names must not be NULL, inputs not 0");
    if (!model->wrapped_drift || model->structure->inputs)
        return sk_fail(ctx, SOCK_EUSAGE, "inputs are declared once, of a model made of functions");
    sk_hold *holds = sk_alloc(ctx, inputs, sizeof *holds);
    sock_status status = holds ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < inputs; k++) {
        const char *text = hold && hold[k] ? hold[k] : "previous";
        holds[k] = strcmp(text, "linear") == 0 ? SK_HOLD_LINEAR : SK_HOLD_PREVIOUS;
        if (!names[k]) status = sk_fail(ctx, SOCK_EUSAGE, "the name of input %zu must not be NULL", k);
        if (status >= 0 && strcmp(text, "linear") != 0 && strcmp(text, "previous") != 0)
            status = sk_fail(ctx, SOCK_EUSAGE, "hold of input %s is '%s'; allowed: previous, linear", names[k], text);
    }
    if (status >= 0) status = sk_structure_set_inputs(ctx, model->structure, inputs, names, holds, NULL);
    sk_free(holds);
    return status;
}
