/* fuzz_model.c - any bytes as a model file. What loads evaluates: a(x) is symmetric and positive semi-definite wherever
 * it is finite.
 *
 * Two kinds of input. Bytes that begin with '{' are a file taken apart, so that a changed byte does not always break a
 * length or an escape: four texts with a 0 behind each (the arrays of the header, the description, the information; all
 * JSON), then the numbers. Other bytes are a file as it stands. */
#define _GNU_SOURCE
#include "api/record.h"
#include "fuzz.h"
#include "model/model.h"

#include <math.h>

/* The next of the texts; *size is what is left behind it. */
static const char *next_text(const char **at, size_t *size)
{
    const char *text = *at;
    size_t length = strnlen(text, *size), step = length < *size ? length + 1 : length;
    *at += step;
    *size -= step;
    return text;
}

/* The file put together; NULL when the first text is no JSON object. */
static char *assemble(const char *text, size_t size, size_t *total)
{
    const char *at = text, *arrays = next_text(&at, &size), *model = next_text(&at, &size),
               *info = next_text(&at, &size);
    json_t *header = json_loads(arrays, 0, NULL);
    json_t *metadata =
        json_pack("{s:s, s:s, s:s, s:s}", "format", "sock-model", "format_version", "2", "model", model, "info", info);
    char *all = NULL;
    if (json_is_object(header) && metadata) {
        json_object_set(header, "__metadata__", metadata);
        char *dump = json_dumps(header, JSON_COMPACT);
        uint64_t length = strlen(dump);
        *total = 8 + length + size;
        all = malloc(*total + 1);
        FUZZ_CHECK(all);
        memcpy(all, &length, 8);
        memcpy(all + 8, dump, length);
        memcpy(all + 8 + length, at, size);
        free(dump);
    }
    json_decref(header);
    json_decref(metadata);
    return all;
}

/* v'a v >= 0 to rounding for each pair of coordinates and signs. */
static void check_matrix(size_t d, const double *a)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double aii = a[i * d + i], aij = a[i * d + j], ajj = a[j * d + j];
            if (!isfinite(aii) || !isfinite(ajj) || !isfinite(aij) || !isfinite(aii + ajj)) continue;
            FUZZ_CHECK(aii >= 0);
            FUZZ_CHECK(fabs(aij - a[j * d + i]) <= 1e-12 * (aii + ajj));
            FUZZ_CHECK(fabs(aij) <= 0.5 * (aii + ajj) * (1 + 1e-9));
        }
}

/* Whatever the information says, it is read, and what was read can be written. */
static void check_record(sock_context *ctx, const sock_model *model)
{
    sk_record record;
    char *info = NULL, *seconds = NULL;
    FUZZ_CHECK(sk_record_of_model(ctx, model, &record) >= 0);
    FUZZ_CHECK(sk_record_write(ctx, &record, &info, &seconds) >= 0);
    sk_free(info);
    sk_free(seconds);
    sk_record_clear(&record);
}

/* What a caller asks of every model; texts are texts, numbers those of a model. */
static void check_answers(sock_context *ctx, const sock_model *model)
{
    enum { CALLS = 3 };
    static sock_status (*const tell[CALLS])(sock_context *, const sock_model *,
                                            char **) = {sock_model_info, sock_model_terms, sock_model_features};
    for (int k = 0; k < CALLS; k++) {
        char *json = NULL;
        const sock_status status = tell[k](ctx, model, &json);
        fuzz_check_refusal(ctx, status);
        FUZZ_CHECK((status >= 0) == (json != NULL) && (k > 0 || json));
        sock_string_free(json);
    }
    for (size_t k = 0; k < sock_model_inputs(model); k++)
        FUZZ_CHECK(sock_model_input_name(model, k)[0] && sock_model_input_hold(model, k)[0] &&
                   isfinite(sock_model_input_usual(model, k)));
    FUZZ_CHECK(sock_model_order(model) == 1 || (sock_model_order(model) == 2 && model->d % 2 == 0));
}

enum { MOST = 8, AT = 2 };

static bool is_in_order(size_t count, const double *low, const double *high)
{
    for (size_t i = 0; i < count; i++)
        if (low[i] > high[i]) return false;
    return true;
}

/* Bands and draws of a model that has them, at AT points x with inputs u: low ends are below high ones. */
static void check_spread(sock_context *ctx, const sock_model *model, const double *x, const double *u)
{
    const size_t d = model->d;
    double f[2][AT * MOST], a[2][AT * MOST * MOST];
    int outside[AT];
    sock_model *drawn = NULL;
    sock_bands bands = {.f_low = f[0], .f_high = f[1], .outside = outside};
    if (model->has_diffusion) bands.a_low = a[0], bands.a_high = a[1];
    sock_status status = sock_model_bands_at(ctx, model, AT, x, u, 0.9, &bands);
    FUZZ_CHECK(status >= 0 || status == SOCK_ENUMERIC || status == SOCK_ENOMEM || status == SOCK_EUSAGE);
    if (status >= 0) FUZZ_CHECK(is_in_order(AT * d, f[0], f[1]));
    for (size_t i = 0; status >= 0 && model->has_diffusion && i < AT; i++)
        for (size_t k = 0; k < d; k++) FUZZ_CHECK(!(a[0][(i * d + k) * d + k] > a[1][(i * d + k) * d + k]));
    status = sock_model_draw(ctx, model, 1, 0, &drawn);
    FUZZ_CHECK((status >= 0) == (drawn != NULL));
    if (drawn) FUZZ_CHECK(sock_model_evaluate_at(ctx, drawn, AT, x, u, f[0], model->has_diffusion ? a[0] : NULL) >= 0);
    sock_model_free(drawn);
}

static void check_model(sock_context *ctx, const sock_model *model)
{
    const size_t d = model->d, inputs = sock_model_inputs(model);
    double x[AT * MOST], u[AT * MOST], f[AT * MOST], a[AT * MOST * MOST], lower[MOST], upper[MOST], noise[MOST * MOST];
    check_record(ctx, model);
    check_answers(ctx, model);
    if (d > MOST || inputs > MOST || sk_model_space(model, AT) > 1000000) return;
    for (size_t i = 0; i < AT * MOST; i++) x[i] = u[i] = 0.25 * (double)(i + 1);
    (void)sock_model_bounds(model, lower, upper);
    for (size_t k = 0; k < d; k++) FUZZ_CHECK(!(lower[k] >= upper[k]));
    (void)sock_model_noise(model, noise);
    check_matrix(d, noise);
    FUZZ_CHECK(sock_model_evaluate_at(ctx, model, AT, x, u, f, model->has_diffusion ? a : NULL) >= 0);
    for (size_t i = 0; model->has_diffusion && i < AT; i++) check_matrix(d, a + i * d * d);
    if (sock_model_has_bands(model)) check_spread(ctx, model, x, u);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size), *all = NULL;
    sock_model *model = NULL;
    if (text[0] == '{') {
        all = assemble(text, size, &size);
        free(text);
        text = all;
        if (!all) return 0;
    }
    sock_status status = sk_model_parse(ctx, "fuzz.sock", text, size, &model);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (model != NULL));
    if (model) check_model(ctx, model);
    sock_model_free(model);
    free(text);
    return 0;
}
