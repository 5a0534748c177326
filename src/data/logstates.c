/* logstates.c - states that are taken by their logarithm: log(x) in place of x. */
#include "base/nearest.h"
#include "csvcells.h"
#include "readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 256 };

bool sk_log_name(const char *name, size_t *from, size_t *length)
{
    const size_t all = strlen(name);
    if (all <= strlen("log()") || strncmp(name, "log(", 4) != 0 || name[all - 1] != ')') return false;
    *from = 4;
    *length = all - 5;
    return true;
}

sock_status sk_rows_take_log(sock_context *ctx, sk_rows *rows, size_t k)
{
    for (size_t i = 0; i < rows->count; i++) {
        double *value = rows->x + i * rows->d + k;
        if (*value <= 0)
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: %s %zu, column '%s': %g has no logarithm; allowed with log: values above 0 (--missing "
                           "leaves a code out; where zeros are counts, fit the state itself)",
                           sk_rows_source(rows, i), sk_rows_place(rows, i), rows->line[i], rows->state[k], *value);
        *value = log(*value);
    }
    char *name = sk_format(ctx, "log(%s)", rows->state[k]);
    if (!name) return SOCK_ENOMEM;
    sk_free(rows->state[k]);
    rows->state[k] = name;
    return SOCK_OK;
}

/* The states by name, as many as there is room for. */
static const char *state_list(const sk_rows *rows, size_t states, char text[LIST_SIZE])
{
    size_t used = 0;
    text[0] = 0;
    for (size_t k = 0; k < states; k++) {
        const char *comma = k ? ", " : "";
        if (used + strlen(comma) + strlen(rows->state[k]) + sizeof ", ..." > LIST_SIZE) {
            snprintf(text + used, LIST_SIZE - used, "%s...", comma);
            break;
        }
        used += (size_t)snprintf(text + used, LIST_SIZE - used, "%s%s", comma, rows->state[k]);
    }
    return text;
}

static sock_status take_one(sock_context *ctx, sk_rows *rows, const char *name)
{
    const size_t states = rows->d - rows->inputs;
    for (size_t k = 0; k < states; k++) {
        size_t from, length;
        const char *state = rows->state[k];
        if (strcmp(state, name) == 0) return sk_rows_take_log(ctx, rows, k);
        if (sk_log_name(state, &from, &length) && strlen(name) == length && strncmp(state + from, name, length) == 0)
            return SOCK_OK; /* it is one already */
    }
    char meant[SK_MEANT_ROOM], list[LIST_SIZE];
    sk_nearest near = sk_nearest_to(name, strlen(name));
    for (size_t k = 0; k < states; k++) sk_nearest_try(&near, rows->state[k]);
    return sk_fail(ctx, SOCK_EUSAGE, "%s: log is '%s', and there is no such state%s; there %s: %s", rows->source, name,
                   sk_meant(&near, meant), states == 1 ? "is" : "are", state_list(rows, states, list));
}

sock_status sk_rows_logs(sock_context *ctx, const sock_options *opts, sk_rows *rows)
{
    const char *list = sk_option_text(opts, "log");
    sk_cursor at = {.p = list, .line = 1, .source = "the option log"};
    if (strcmp(list, "none") == 0) return SOCK_OK;
    for (bool last = false; !last;) {
        sk_cell cell;
        if (sk_next_cell(ctx, &at, &cell, &last) < 0) return SOCK_EUSAGE;
        char *name = sk_cell_copy(ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        const sock_status status = take_one(ctx, rows, name);
        sk_free(name);
        if (status < 0) return status;
    }
    return SOCK_OK;
}
