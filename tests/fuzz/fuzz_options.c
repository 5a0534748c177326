/* fuzz_options.c - lines key=value as options. A value that is taken reads back as given, numbers are finite, and one
 * that is refused leaves the old one in force; the bounds of a simulation are made of what was set. */
#include "base/options.h"
#include "fuzz.h"

#include <math.h>

enum { D = 3 };

static void check_number(const sock_options *opts, const char *key, const char *value)
{
    size_t i = 0;
    while (strcmp(sock_option_describe(i).key, key) != 0) i++;
    const char type = sock_option_describe(i).type[0];
    if (type != 'n' && strcmp(sock_option_describe(i).type, "count") != 0) return;
    FUZZ_CHECK(isfinite(sk_option_number(opts, key)) != (strcmp(value, "auto") == 0));
}

static void set_one(sock_context *ctx, sock_options *opts, const char *key, const char *value)
{
    char before[64];
    const char *old = sock_options_get(opts, key);
    snprintf(before, sizeof before, "%s", old ? old : "");
    sock_status status = sock_options_set(ctx, opts, key, value);
    FUZZ_CHECK(status == SOCK_OK || (status == SOCK_EUSAGE && sock_message(ctx)[0]));
    FUZZ_CHECK(old || status == SOCK_EUSAGE);
    if (!old) return;
    const char *now = sock_options_get(opts, key);
    if (status == SOCK_OK) {
        FUZZ_CHECK(strcmp(now, value) == 0);
        check_number(opts, key, value);
    } else {
        FUZZ_CHECK(strncmp(now, before, sizeof before - 1) == 0);
    }
}

static void check_bounds(sock_context *ctx, const sock_options *opts)
{
    double lower[D], upper[D];
    sock_bounds mode;
    sock_status status = sock_simulation_bounds(ctx, opts, D, &mode, lower, upper);
    fuzz_check_refusal(ctx, status);
    if (status < 0) return;
    const bool model_low = strcmp(sock_options_get(opts, "lower"), "auto") == 0; /* NaN: the model's */
    const bool model_high = strcmp(sock_options_get(opts, "upper"), "auto") == 0;
    for (size_t k = 0; k < D; k++) FUZZ_CHECK(!!isnan(lower[k]) == model_low && !!isnan(upper[k]) == model_high);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sock_options *opts = sock_options_new(ctx);
    FUZZ_CHECK(opts);
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        *end = 0;
        char *equals = strchr(line, '=');
        if (equals) *equals = 0;
        set_one(ctx, opts, line, equals ? equals + 1 : "");
        line = next;
    }
    check_bounds(ctx, opts);
    sock_options_free(opts);
    free(text);
    return 0;
}
