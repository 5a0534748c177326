/* modeldata.c - see modeldata.h. */
#define _GNU_SOURCE
#include "modeldata.h"

#include "report/memtext.h"

#include <stdlib.h>
#include <string.h>

bool path_ends_in(const char *path, const char *tail)
{
    size_t length = strlen(path), wanted = strlen(tail);
    return length >= wanted && strcmp(path + length - wanted, tail) == 0;
}

const char **model_names(const sock_model *model)
{
    const char **names = calloc(sock_model_dim(model), sizeof *names);
    for (size_t k = 0; names && k < sock_model_dim(model); k++) names[k] = sock_model_name(model, k);
    return names;
}

/* The names as the option `state` takes them: commas between, each in quotes. */
static char *state_list(size_t d, const char *const *names)
{
    memtext list;
    FILE *stream = memtext_open(&list);
    if (!stream) return NULL;
    for (size_t k = 0; k < d; k++) {
        fputs(k ? ",\"" : "\"", stream);
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every state has a name
        for (const char *p = names[k]; *p; p++) fputs(*p == '"' ? "\"\"" : (char[]){*p, 0}, stream);
        fputc('"', stream);
    }
    return memtext_close(stream, &list) == 0 ? list.text : NULL;
}

static sock_status set_states(const cli *c, size_t d, const char *const *names)
{
    char *list = state_list(d, names);
    sock_status status = list ? sock_options_set(c->ctx, c->opts, "state", list) : SOCK_ENOMEM;
    free(list);
    return status;
}

int named_data_read(const cli *c, size_t d, const char *const *names, const char *whose, const char *path,
                    sock_data **out)
{
    const char *given = sock_options_get(c->opts, "state");
    bool by_name = !path_ends_in(path, ".npy") && (!given || strcmp(given, "auto") == 0);
    sock_data *data = NULL;
    sock_status status = by_name ? set_states(c, d, names) : SOCK_OK;
    if (status >= 0) status = sock_data_read(c->ctx, path, c->opts, &data);
    if (status >= 0 && sock_data_dim(data) != d) {
        int code = cli_usage_error(c, "%s: has %zu states, %s %zu", path, sock_data_dim(data), whose, d);
        sock_data_free(data);
        return code;
    }
    if (status < 0) return cli_fail(c, status);
    cli_caveat(c, status);
    *out = data;
    return -1;
}

int model_data_read(const cli *c, const sock_model *model, const char *path, sock_data **out)
{
    const char **names = model_names(model);
    if (!names) return cli_fail(c, SOCK_ENOMEM);
    int code = named_data_read(c, sock_model_dim(model), names, "the model", path, out);
    free((void *)names);
    return code;
}
