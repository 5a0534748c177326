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
        json_pack("{s:s, s:s, s:s, s:s}", "format", "sock-model", "format_version", "1", "model", model, "info", info);
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

static void check_model(sock_context *ctx, const sock_model *model)
{
    enum { MOST = 8 };
    size_t d = model->d;
    double x[2 * MOST], f[2 * MOST], a[2 * MOST * MOST];
    char *info = NULL;
    FUZZ_CHECK(sock_model_info(ctx, model, &info) >= 0 && info);
    sock_string_free(info);
    check_record(ctx, model);
    if (d > MOST || sk_model_space(model, 2) > 1000000) return;
    for (size_t i = 0; i < 2 * d; i++) x[i] = 0.25 * (double)(i + 1);
    double *space = sk_doubles(ctx, sk_model_space(model, 2), 1);
    FUZZ_CHECK(space);
    sk_model_fields(ctx, model, 2, x, f, model->has_diffusion ? a : NULL, space);
    for (size_t i = 0; model->has_diffusion && i < 2; i++) check_matrix(d, a + i * d * d);
    sk_free(space);
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
