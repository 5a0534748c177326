/* modelfeatures.c - a model as features and weights in one JSON object, for programs that evaluate it by themselves:
 * what a model file holds, without errors and provenance. Arrays are little-endian doubles in base64.
 *
 * Of features on pivots, gamma(x) = L^-1 k(pivots, x), the factor L is r x r numbers: where L^-T can go into the
 * weights without costing digits, it does (`solved`), and kernel values take the place of the features. */
#include "la/la.h"
#include "model/modelfile.h"
#include "model/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AGREED = 1e-7; /* share of the largest value: solved weights and the others agree, by rounding */

/* ---- Arrays ---- */

static char *base64(sock_context *ctx, size_t size, const unsigned char *bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = sk_alloc(ctx, size / 3 * 4 + 8, 1), *at = text;
    for (size_t i = 0; text && i < size; i += 3) {
        const size_t left = size - i;
        const unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        *at++ = digit[word >> 18], *at++ = digit[word >> 12 & 63];
        *at++ = (char)(left > 1 ? digit[word >> 6 & 63] : '=');
        *at++ = (char)(left > 2 ? digit[word & 63] : '=');
    }
    return text;
}

static sock_status set_array(sock_context *ctx, json_t *object, const char *name, size_t rows, size_t cols,
                             const double *values)
{
    SK_TRY(sk_reserve(ctx, rows * cols * 32 + SK_JSON_SMALL));
    char *text = base64(ctx, rows * cols * sizeof *values, (const unsigned char *)values);
    if (!text) return SOCK_ENOMEM;
    json_object_set_new(
        object, name, json_pack("{s:I, s:I, s:s}", "rows", (json_int_t)rows, "cols", (json_int_t)cols, "base64", text));
    sk_free(text);
    return SOCK_OK;
}

static sock_status set_map(sock_context *ctx, json_t *entry, const sk_features *map, bool solved)
{
    char *text = NULL;
    sk_array *arrays = NULL;
    size_t count = 0;
    SK_TRY(sk_features_export(ctx, map, &text, &arrays, &count));
    json_t *list = json_object();
    sock_status status = SOCK_OK;
    json_object_set_new(entry, "features", json_string(text));
    json_object_set_new(entry, "solved", json_boolean(solved));
    json_object_set_new(entry, "arrays", list);
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (!solved || strcmp(arrays[i].name, "0.factor") != 0)
            status = set_array(ctx, list, arrays[i].name, arrays[i].rows, arrays[i].cols, arrays[i].values);
    sk_free(text);
    sk_free(arrays);
    return status;
}

/* ---- Solved weights ---- */

/* L^-T into blocks of p rows of the weights (blocks p x cols), if that agrees with L^-1 k at the pivots themselves. */
static sock_status solve(sock_context *ctx, const sk_features *map, size_t blocks, size_t cols, double *weight,
                         bool *solved)
{
    const size_t p = sk_features_count(map), inner = sk_features_inner(map);
    const double *pivot = sk_features_pivots(map), *factor = sk_features_factor(map);
    *solved = false;
    if (!pivot) return SOCK_OK;
    double *k = sk_doubles(ctx, p, p), *gamma = sk_doubles(ctx, p, p), *made = sk_doubles(ctx, blocks * p, cols),
           *value = sk_doubles(ctx, 2 * p, cols), *space = sk_doubles(ctx, sk_kernel_space(inner, p), 1);
    sock_status status = k && gamma && made && value && space ? SOCK_OK : SOCK_ENOMEM;
    double largest = 0, worst = 0;
    if (status >= 0) {
        sk_kernel_block(ctx, sk_features_kernel(map), inner, p, pivot, p, pivot, k, p, space);
        memcpy(gamma, k, p * p * sizeof *k);
        sk_solve_lower_right(ctx, SK_TRANSPOSED, p, p, factor, p, gamma, p);
        memcpy(made, weight, blocks * p * cols * sizeof *made);
    }
    for (size_t b = 0; status >= 0 && b < blocks; b++) {
        double *own = made + b * p * cols;
        sk_solve_lower(ctx, SK_TRANSPOSED, p, cols, factor, p, own, cols);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, p, cols, p, 1, gamma, p, weight + b * p * cols, cols, 0, value, cols);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, p, cols, p, 1, k, p, own, cols, 0, value + p * cols, cols);
        for (size_t i = 0; i < p * cols; i++) {
            largest = fmax(largest, fabs(value[i]));
            worst = fmax(worst, fabs(value[i] - value[p * cols + i]));
        }
    }
    *solved = status >= 0 && worst <= AGREED * largest;
    if (*solved) memcpy(weight, made, blocks * p * cols * sizeof *made);
    sk_free(k), sk_free(gamma), sk_free(made), sk_free(value), sk_free(space);
    return status;
}

/* ---- Terms ---- */

static sock_status tell_drift(sock_context *ctx, const sk_drift_term *term, json_t *list)
{
    json_t *entry = json_object();
    json_array_append_new(list, entry);
    const size_t rows = term->map ? sk_features_count(term->map) : term->centres;
    double *weight = sk_doubles(ctx, rows, term->d);
    bool solved = false;
    if (!weight) return SOCK_ENOMEM;
    memcpy(weight, term->weight, rows * term->d * sizeof *weight);
    sock_status status = SOCK_OK;
    if (term->map) {
        status = solve(ctx, term->map, 1, term->d, weight, &solved);
        if (status >= 0) status = set_map(ctx, entry, term->map, solved);
    } else if (!sk_kernel_has_text(term->kernel)) {
        status = sk_fail(ctx, SOCK_EUSAGE, "a model with a kernel given as a function has no features to tell");
    } else {
        char *text = sk_kernel_format(ctx, term->kernel);
        if (text) json_object_set_new(entry, "kernel", json_string(text));
        status = text ? set_array(ctx, entry, "centre", term->centres, term->d, term->centre) : SOCK_ENOMEM;
        sk_free(text);
    }
    if (status >= 0) status = set_array(ctx, entry, "weight", rows, term->d, weight);
    sk_free(weight);
    return status;
}

static sock_status tell_diffusion(sock_context *ctx, const sk_diffusion_term *term, json_t *list)
{
    const size_t rows = term->d * sk_features_count(term->map), r = term->rank;
    json_t *entry = json_object(), *owner = json_array();
    json_array_append_new(list, entry);
    size_t *kept = sk_alloc(ctx, r + 1, sizeof *kept), count = 0;
    double *v = sk_doubles(ctx, rows, r + 1);
    bool solved = false;
    sock_status status = kept && v ? sk_columns_that_count(ctx, term, kept, &count) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < rows; i++)
        for (size_t j = 0; j < count; j++) v[i * count + j] = term->v[i * r + kept[j]];
    if (status >= 0) status = solve(ctx, term->map, term->d, count, v, &solved);
    if (status >= 0) status = set_map(ctx, entry, term->map, solved);
    if (status >= 0) status = set_array(ctx, entry, "v", rows, count, v);
    for (size_t j = 0; term->owner && j < count; j++)
        json_array_append_new(owner, json_integer((json_int_t)term->owner[kept[j]]));
    json_object_set_new(entry, "owner", term->owner ? owner : json_null());
    if (!term->owner) json_decref(owner);
    sk_free(kept);
    sk_free(v);
    return status;
}

/* ---- The model ---- */

static json_t *bounds_of(size_t d, const double *bound)
{
    json_t *list = json_array();
    for (size_t k = 0; k < d; k++)
        json_array_append_new(list, bound && isfinite(bound[k]) ? json_real(bound[k]) : json_null());
    return list;
}

static void tell_structure(const sock_model *model, json_t *object)
{
    const sk_structure *s = model->structure;
    static const char *const hold[] = {"previous", "linear", "time"};
    json_t *state = json_array(), *absorbing = json_array(), *inputs = json_array();
    for (size_t k = 0; k < s->d; k++) json_array_append_new(state, json_string(s->state[k]));
    for (size_t k = 0; s->absorbing && k < s->d; k++)
        json_array_append_new(absorbing, json_integer((json_int_t)s->absorbing[k]));
    for (size_t k = 0; k < s->inputs; k++)
        json_array_append_new(inputs, json_pack("{s:s, s:s, s:f}", "name", s->input[k].name, "hold",
                                                hold[s->input[k].hold], "usual", s->input[k].usual));
    json_object_set_new(object, "d", json_integer((json_int_t)s->d));
    json_object_set_new(object, "order", json_integer(s->order == 2 ? 2 : 1));
    json_object_set_new(object, "state", state);
    json_object_set_new(object, "inputs", inputs);
    json_object_set_new(object, "lower", bounds_of(s->d, s->lower));
    json_object_set_new(object, "upper", bounds_of(s->d, s->upper));
    json_object_set_new(object, "absorbing", absorbing);
    json_object_set_new(object, "has_diffusion", json_boolean(model->has_diffusion));
    json_object_set_new(object, "floor", json_real(model->floor));
}

static sock_status write_text(sock_context *ctx, const json_t *object, char **json)
{
    char *made = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!made) return sk_fail(ctx, SOCK_ENOMEM, "out of memory: the features could not be written");
    char *copy = sk_strdup(ctx, made);
    free(made);
    if (!copy) return SOCK_ENOMEM;
    *json = copy;
    return SOCK_OK;
}

sock_status sock_model_features(sock_context *ctx, const sock_model *model, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    if (model->wrapped_drift || model->wrapped_diffusion)
        return sk_fail(ctx, SOCK_EUSAGE, "a model made of functions has no features to tell");
    SK_TRY(sk_reserve(ctx, SK_JSON_SMALL));
    json_t *object = json_object(), *drift = json_array(), *diffusion = json_array();
    sock_status status = SOCK_OK;
    tell_structure(model, object);
    json_object_set_new(object, "drift", drift);
    json_object_set_new(object, "diffusion", diffusion);
    for (size_t i = 0; status >= 0 && i < model->drift_terms; i++) status = tell_drift(ctx, model->drift[i], drift);
    for (size_t i = 0; status >= 0 && i < model->diffusion_terms; i++)
        status = tell_diffusion(ctx, model->diffusion[i], diffusion);
    if (status >= 0) status = write_text(ctx, object, json);
    json_decref(object);
    return status;
}
