/* sockmethods.c - SOCK itself in the settings of the comparison: the default, the paper's protocol, and the kernels
 * that the paper adapts to its data sets. */
#include "compare/compare.h"

#include "base/base.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static sock_status set(sock_context *ctx, sock_options *opts, const char *key, const char *value)
{
    return value && strcmp(value, "auto") != 0 ? sock_options_set(ctx, opts, key, value) : SOCK_OK;
}

/* What a fit takes from the options of the comparison. */
static sock_status take_options(sock_context *ctx, const cmp_case *c, sock_options *opts)
{
    static const char *const keys[] = {"seed", "grouping"};
    char text[40];
    for (size_t i = 0; c->options && i < sizeof keys / sizeof keys[0]; i++)
        SK_TRY(set(ctx, opts, keys[i], sock_options_get(c->options, keys[i])));
    if (!(c->budget > 0)) return SOCK_OK;
    text[sk_print_double(text, c->budget)] = 0;
    return sock_options_set(ctx, opts, "budget", text);
}

/* ---- What was chosen ---- */

static void add_text(char *buffer, const char *text) { strncat(buffer, text, CMP_TEXT_SIZE - strlen(buffer) - 1); }

/* "linear 60 % + poly:degree=2 40 %" */
static void list_shares(const json_t *list, char *buffer)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *kernel = json_string_value(json_object_get(entry, "kernel"));
        char share[24];
        snprintf(share, sizeof share, " %.0f %%", 100 * json_number_value(json_object_get(entry, "share")));
        add_text(buffer, i ? " + " : "");
        add_text(buffer, kernel ? kernel : "?");
        add_text(buffer, share);
    }
}

/* "affine; linear 60 % + poly:degree=2 40 %" */
static void list_kernels(const json_t *info, char *buffer)
{
    const json_t *drifts = json_object_get(info, "drifts"), *list = json_object_get(info, "diffusions");
    const json_t *one = json_object_get(info, "diffusion");
    const char *drift = json_string_value(json_object_get(info, "drift"));
    if (json_array_size(drifts) > 1)
        list_shares(drifts, buffer);
    else
        add_text(buffer, drift ? drift : "?");
    add_text(buffer, "; ");
    list_shares(list, buffer);
    if (!json_array_size(list) && json_is_string(one)) add_text(buffer, json_string_value(one));
}

static void list_warnings(const json_t *info, char *buffer)
{
    const json_t *list = json_object_get(info, "warnings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        add_text(buffer, i ? "; " : "");
        add_text(buffer, text ? text : "");
    }
}

static sock_status describe(sock_context *ctx, cmp_fitted *fitted)
{
    char *text = NULL;
    SK_TRY(sock_model_info(ctx, fitted->model, &text));
    json_t *info = json_loads(text, 0, NULL);
    list_kernels(info, fitted->kernels);
    list_warnings(info, fitted->note);
    json_decref(info);
    sock_string_free(text);
    return SOCK_OK;
}

/* ---- Fits ---- */

static sock_status finish(sock_context *ctx, const sock_data *data, const sock_options *opts, cmp_fitted *out)
{
    sock_status status = sock_fit(ctx, data, opts, &out->own);
    if (status < 0) return status;
    out->model = out->own;
    SK_TRY(describe(ctx, out));
    return status;
}

/* The search with the kernels that the parameters name (auto: all candidates). */
static sock_status fit_tuned(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    const sock_data *data;
    sock_data *own = NULL;
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = take_options(ctx, c, opts);
    if (status >= 0) status = set(ctx, opts, "drift", cmp_spec_text(spec, "drift"));
    if (status >= 0) status = set(ctx, opts, "diffusion", cmp_spec_text(spec, "diffusion"));
    if (status >= 0) status = cmp_training_data(ctx, spec, c, &data, &own);
    if (status >= 0) status = finish(ctx, data, opts, out);
    sock_data_free(own);
    sock_options_free(opts);
    return status;
}

/* Fitted on the training data, chosen on the validation data (or a fifth that it holds out), fitted again to all. */
static sock_status fit_paper(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = take_options(ctx, c, opts);
    if (status >= 0 && c->options) status = set(ctx, opts, "delta", sock_options_get(c->options, "delta"));
    if (status >= 0) status = sock_options_set(ctx, opts, "preset", "paper");
    if (status >= 0) status = set(ctx, opts, "drift", cmp_spec_text(spec, "drift"));
    if (status >= 0) status = set(ctx, opts, "diffusion", cmp_spec_text(spec, "diffusion"));
    if (status >= 0) status = sock_options_set_validation(ctx, opts, c->validation);
    if (status >= 0) status = finish(ctx, c->train, opts, out);
    sock_options_free(opts);
    return status;
}

#define KERNELS(drift, diffusion)                                                                                      \
    {"drift", drift, CMP_TEXT, 0, 0, "a kernel, see docs/kernels.md, or auto", "kernel of the drift"},                 \
    {                                                                                                                  \
        "diffusion", diffusion, CMP_TEXT, 0, 0, "a kernel, see docs/kernels.md, or auto", "kernel of the diffusion"    \
    }

static const cmp_parameter tuned[] = {KERNELS("auto", "auto"), CMP_FIT_ON("all"), {0}};
static const cmp_parameter paper[] = {KERNELS("auto", "auto"), {0}};
static const cmp_parameter linear[] = {KERNELS("linear", "linear"), CMP_FIT_ON("all"), {0}};
static const cmp_parameter poly[] = {KERNELS("poly:degree=2", "linear"), CMP_FIT_ON("all"), {0}};

const cmp_method cmp_sock_methods[] = {
    {"sock", "sock", "the default of sock fit: kernels and penalties by cross-validation", tuned, fit_tuned, NULL},
    {"sock-paper", "sock", "the paper's protocol: gauss drift, fourier diffusion, grids judged on validation data",
     paper, fit_paper, NULL},
    {"sock-linear", "sock", "the search with both kernels held linear", linear, fit_tuned, NULL},
    {"sock-poly", "sock", "the search with a polynomial drift and a linear diffusion kernel", poly, fit_tuned, NULL},
    {0}};
