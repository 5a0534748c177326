/* inputvalues.c - see inputvalues.h. */
#define _GNU_SOURCE
#include "inputvalues.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void input_values_clear(input_values *values)
{
    free(values->value);
    *values = (input_values){0};
}

/* "a, b", the names of a model's inputs. */
static const char *list_inputs(const sock_model *model, char list[200])
{
    size_t used = 0;
    list[0] = 0;
    for (size_t k = 0; k < sock_model_inputs(model) && used < 180; k++)
        used += (size_t)snprintf(list + used, 200 - used, "%s%.60s", k ? ", " : "", sock_model_input_name(model, k));
    return list;
}

/* One "name=value". */
static int read_one(const cli *c, const sock_model *model, char *text, input_values *out)
{
    char list[200], *equals = strrchr(text, '='), *end = NULL;
    const double value = equals ? strtod(equals + 1, &end) : 0;
    size_t k = 0;
    if (!equals || end == equals + 1 || *end || !isfinite(value))
        return cli_usage_error(c, "--input-value: '%s' is not NAME=NUMBER", text);
    *equals = 0;
    while (k < out->count && strcmp(sock_model_input_name(model, k), text) != 0) k++;
    if (k == out->count)
        return cli_usage_error(c, "--input-value: the model has no input '%s'; it has: %s", text,
                               out->count ? list_inputs(model, list) : "none");
    if (!isnan(out->value[k])) return cli_usage_error(c, "--input-value names the input '%s' twice", text);
    out->value[k] = value;
    out->given++;
    return -1;
}

int input_values_read(const cli *c, const sock_model *model, const char *text, input_values *out)
{
    *out = (input_values){.count = sock_model_inputs(model)};
    out->value = calloc(out->count + 1, sizeof *out->value);
    char *copy = strdup(text ? text : ""), *rest = copy;
    int code = out->value && copy ? -1 : cli_fail(c, SOCK_ENOMEM);
    for (size_t k = 0; code < 0 && k < out->count; k++) out->value[k] = NAN;
    while (text && code < 0 && rest) code = read_one(c, model, strsep(&rest, ","), out);
    free(copy);
    return code;
}

int input_values_check(const cli *c, const sock_model *model, const input_values *values, bool with_time,
                       const char *way_out)
{
    char list[400] = "";
    size_t used = 0, missing = 0;
    for (size_t k = 0; k < values->count; k++) {
        const bool time = strcmp(sock_model_input_hold(model, k), "time") == 0;
        if (!isnan(values->value[k]) || (time && !with_time)) continue;
        if (used < 300)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s", missing ? ", " : "",
                                     sock_model_input_name(model, k));
        missing++;
    }
    if (!missing) return -1;
    return cli_usage_error(c, "the model needs a value of its input%s %s: %s", missing > 1 ? "s" : "", list, way_out);
}
