/* sockmethods.c - SOCK itself in the settings of the comparison: the default, the paper's protocol, and the kernels
 * that the paper adapts to its data sets. */
#include "compare/compare.h"

#include "api/record.h"

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
static void list_shares(const sk_parts *list, char *buffer)
{
    for (size_t i = 0; i < list->count; i++) {
        char share[16];
        add_text(buffer, i ? " + " : "");
        add_text(buffer, list->part[i].kernel);
        add_text(buffer, " ");
        add_text(buffer, sk_percent(list->part[i].share, share));
        add_text(buffer, " %");
    }
}

/* "affine; linear 60 % + poly:degree=2 40 %" */
static void list_kernels(const sk_record *record, char *buffer)
{
    const sk_part *drift = sk_record_drift(record), *diffusion = sk_record_diffusion(record);
    if (record->found.drifts.count > 1)
        list_shares(&record->found.drifts, buffer);
    else
        add_text(buffer, drift ? drift->kernel : "?");
    add_text(buffer, "; ");
    if (record->tuned)
        list_shares(&record->found.diffusions, buffer);
    else
        add_text(buffer, diffusion ? diffusion->kernel : "");
}

static sock_status describe(sock_context *ctx, cmp_fitted *fitted)
{
    sk_record record;
    sock_status status = sk_record_of_model(ctx, fitted->model, &record);
    if (status >= 0) list_kernels(&record, fitted->kernels);
    for (size_t i = 0; status >= 0 && i < record.warnings.count; i++) {
        add_text(fitted->note, i ? "; " : "");
        add_text(fitted->note, record.warnings.text[i]);
    }
    sk_record_clear(&record);
    return status;
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
