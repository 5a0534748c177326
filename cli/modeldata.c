/* modeldata.c - see modeldata.h. */
#define _GNU_SOURCE
#include "modeldata.h"

#include "report/memtext.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Arrays have no names for their columns, unless other files give them some. */
static bool have_names(size_t count, const char *const *path)
{
    for (size_t i = 0; i < count; i++)
        if (!path_ends_in(path[i], ".npy")) return true;
    return false;
}

static int named_files_read(const cli *c, size_t d, const char *const *names, const char *whose, size_t count,
                            const char *const *path, sock_data **out)
{
    const char *given = sock_options_get(c->opts, "state");
    bool by_name = have_names(count, path) && (!given || strcmp(given, "auto") == 0);
    sock_data *data = NULL;
    sock_status status = by_name ? set_states(c, d, names) : SOCK_OK;
    if (status >= 0) status = sock_data_read_files(c->ctx, count, path, c->opts, &data);
    if (status >= 0 && sock_data_dim(data) != d) {
        int code = cli_usage_error(c, "%s: has %zu states, %s %zu", path[0], sock_data_dim(data), whose, d);
        sock_data_free(data);
        return code;
    }
    if (status < 0) return cli_fail(c, status);
    cli_caveat(c, status);
    cli_keep_memory();
    *out = data;
    return -1;
}

int named_data_read(const cli *c, size_t d, const char *const *names, const char *whose, const char *path,
                    sock_data **out)
{
    return named_files_read(c, d, names, whose, 1, &path, out);
}

/* What stands first in a file: enough to hold a header, whatever comes before it. */
enum { HEADER_BYTES = 65536 };

static bool is_edge(char c) { return c == 0 || strchr(",;\t| \"'\r\n", c) != NULL; }

/* Whether a name stands in a text as a field of its own. */
static bool has_field(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = length ? strstr(text, name) : NULL; p; p = strstr(p + 1, name))
        if ((p == text || is_edge(p[-1]) || p[-1] == '\xbf') && is_edge(p[length])) return true; /* behind a BOM, too */
    return false;
}

/* The beginning of a file; freed with free(). */
static char *beginning(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(HEADER_BYTES + 1, 1) : NULL;
    if (text) text[fread(text, 1, HEADER_BYTES, file)] = 0;
    if (file) fclose(file);
    return text;
}

/* Whether every file has such a column. Of a pipe it is believed: it would lose what is read. Arrays have none. */
static bool have_column(size_t count, const char *const *path, const char *name)
{
    bool all = true;
    for (size_t i = 0; all && i < count; i++) {
        struct stat told;
        if (strcmp(path[i], "-") == 0) continue;
        if (path_ends_in(path[i], ".npy") || stat(path[i], &told) != 0 || S_ISDIR(told.st_mode)) return false;
        if (!S_ISREG(told.st_mode)) continue;
        char *text = beginning(path[i]);
        all = text && has_field(text, name);
        free(text);
    }
    return all;
}

/* The same of columns with commas between, unless the whole is the name of one. */
static bool have_columns(size_t count, const char *const *path, const char *names)
{
    if (have_column(count, path, names) || !strchr(names, ',')) return have_column(count, path, names);
    char *list = strdup(names), *rest = list;
    bool all = list != NULL;
    for (char *name; all && (name = strsep(&rest, ","));) all = have_column(count, path, name);
    free(list);
    return all;
}

/* A column that the user, or an option before, gave another part. */
static bool is_taken(const cli *c, const char *name)
{
    return strcmp(sock_options_get(c->opts, "id"), name) == 0 || strcmp(sock_options_get(c->opts, "time"), name) == 0 ||
           strcmp(sock_options_get(c->opts, "group"), name) == 0;
}

/* The option as the fit had it, where the user says nothing of it and the files are of that kind. */
static sock_status keep_option(const cli *c, const json_t *options, const char *key, size_t count,
                               const char *const *path)
{
    const char *kept = json_string_value(json_object_get(options, key)), *given = sock_options_get(c->opts, key);
    const bool column = strcmp(key, "missing") != 0 && strcmp(key, "dt") != 0, none = kept && strcmp(kept, "none") == 0;
    if (!kept || (given && strcmp(given, cli_describe(key).fallback) != 0)) return SOCK_OK;
    if (column && !none && (is_taken(c, kept) || !have_columns(count, path, kept))) return SOCK_OK;
    return sock_options_set(c->ctx, c->opts, key, kept);
}

/* Wide form as in the fit, unless a column has the name of a state: then it is the long one. */
static sock_status keep_wide(const cli *c, const sock_model *model, const json_t *options, size_t count,
                             const char *const *path)
{
    const char *kept = json_string_value(json_object_get(options, "wide"));
    const bool chosen = strcmp(sock_options_get(c->opts, "id"), "auto") != 0;
    if (!kept || strcmp(kept, "yes") != 0 || chosen || !have_names(count, path)) return SOCK_OK;
    if (have_column(count, path, sock_model_name(model, 0))) return SOCK_OK;
    return sock_options_set(c->ctx, c->opts, "wide", kept);
}

/* What the fit was told of its files, and the unit of its dates, where the user says nothing of them: check, score and
 * others mostly get the same files. */
static sock_status set_as_fitted(const cli *c, const sock_model *model, size_t count, const char *const *path)
{
    static const char *const keys[] = {"id", "time", "group", "missing", "dt"};
    const char *given = sock_options_get(c->opts, "time-unit");
    char *info = NULL;
    sock_status status = sock_model_info(c->ctx, model, &info);
    json_t *record = status >= 0 ? json_loads(info, 0, NULL) : NULL;
    const json_t *options = json_object_get(record, "options");
    const char *unit = json_string_value(json_object_get(json_object_get(record, "data"), "time_unit"));
    if (status >= 0 && unit && (!given || strcmp(given, "auto") == 0))
        status = sock_options_set(c->ctx, c->opts, "time-unit", unit);
    for (size_t i = 0; status >= 0 && i < sizeof keys / sizeof *keys; i++)
        status = keep_option(c, options, keys[i], count, path);
    if (status >= 0) status = keep_wide(c, model, options, count, path);
    json_decref(record);
    sock_string_free(info);
    return status;
}

void model_unit(const cli *c, const sock_model *model, char text[UNIT_ROOM])
{
    char *info = NULL;
    json_t *record = sock_model_info(c->ctx, model, &info) >= 0 ? json_loads(info, 0, NULL) : NULL;
    const char *unit = json_string_value(json_object_get(json_object_get(record, "data"), "time_unit"));
    text[0] = 0;
    if (unit) snprintf(text, UNIT_ROOM, "%s", unit);
    json_decref(record);
    sock_string_free(info);
}

const char *model_unit_words(const cli *c, const sock_model *model, char text[UNIT_ROOM])
{
    char unit[UNIT_ROOM];
    model_unit(c, model, unit);
    text[0] = 0;
    if (*unit) snprintf(text, UNIT_ROOM, ", time in %.10ss", unit);
    return text;
}

int model_options(const cli *c, const sock_model *model, size_t count, const char *const *path)
{
    const char **names = model_names(model);
    sock_status status = names ? set_as_fitted(c, model, count, path) : SOCK_ENOMEM;
    if (status >= 0 && have_names(count, path) && strcmp(sock_options_get(c->opts, "state"), "auto") == 0)
        status = set_states(c, sock_model_dim(model), names);
    free((void *)names);
    return status < 0 ? cli_fail(c, status) : -1;
}

static int model_data_read_states(const cli *c, const sock_model *model, size_t count, const char *const *path,
                                  sock_data **out)
{
    const char **names = model_names(model);
    const sock_status status = set_as_fitted(c, model, count, path);
    if (!names || status < 0) {
        free((void *)names);
        return cli_fail(c, names ? status : SOCK_ENOMEM);
    }
    const size_t d = sock_model_dim(model), seen = sock_model_order(model) == 2 ? d / 2 : d; /* no velocities */
    int code = named_files_read(c, seen, names, "the model", count, path, out);
    free((void *)names);
    return code;
}

/* Adds the names of a model's inputs, less the time, to a list of room enough; answers whether the time is one. */
static bool add_inputs(const sock_model *model, const char **names, size_t *count)
{
    bool timed = false;
    for (size_t k = 0; k < sock_model_inputs(model); k++) {
        const char *name = sock_model_input_name(model, k);
        size_t seen = 0;
        if (strcmp(sock_model_input_hold(model, k), "time") == 0) {
            timed = true;
            continue;
        }
        while (seen < *count && strcmp(names[seen], name) != 0) seen++;
        if (seen == *count) names[(*count)++] = name;
    }
    return timed;
}

/* The options input and time-dependent as the models need them. */
static sock_status set_inputs(const cli *c, const sock_model *model, const sock_model *other)
{
    const size_t most = sock_model_inputs(model) + sock_model_inputs(other);
    const char **names = calloc(most + 1, sizeof *names);
    size_t count = 0;
    if (!names) return SOCK_ENOMEM;
    const bool one = add_inputs(model, names, &count), two = add_inputs(other, names, &count);
    char *list = count ? state_list(count, names) : NULL;
    sock_status status = list || !count ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "input", list ? list : "none");
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "time-dependent", one || two ? "yes" : "no");
    free(list);
    free((void *)names);
    return status;
}

int models_files_read(const cli *c, const sock_model *model, const sock_model *other, size_t count,
                      const char *const *path, sock_data **out)
{
    const sock_status status = set_inputs(c, model, other);
    if (status < 0) return cli_fail(c, status);
    return model_data_read_states(c, model, count, path, out);
}

int models_data_read(const cli *c, const sock_model *model, const sock_model *other, const char *path, sock_data **out)
{
    return models_files_read(c, model, other, 1, &path, out);
}

int model_data_read(const cli *c, const sock_model *model, const char *path, sock_data **out)
{
    return models_data_read(c, model, NULL, path, out);
}

bool model_velocities_read(const cli *c, const sock_model *model, const char *path, sock_data **out)
{
    const char **names = model_names(model);
    const char *given = sock_options_get(c->opts, "state");
    const bool by_name = names && !path_ends_in(path, ".npy") && strcmp(given, "auto") == 0;
    sock_data *data = NULL;
    sock_status status = by_name ? set_as_fitted(c, model, 1, &path) : SOCK_ENOMEM;
    if (status >= 0) status = set_states(c, sock_model_dim(model), names);
    if (status >= 0) status = sock_data_read(c->ctx, path, c->opts, &data);
    if (by_name) sock_options_set(c->ctx, c->opts, "state", "auto");
    free((void *)names);
    if (status < 0) return false;
    cli_caveat(c, status);
    *out = data;
    return true;
}

int model_states_read(const cli *c, const sock_model *model, const char *path, sock_data **out)
{
    const sock_status status = set_inputs(c, NULL, NULL);
    return status < 0 ? cli_fail(c, status) : model_data_read_states(c, model, 1, &path, out);
}

/* A data set has states: here they are the inputs. */
int model_inputs_read(const cli *c, const sock_model *model, const char *path, sock_data **out)
{
    const char **names = calloc(sock_model_inputs(model) + 1, sizeof *names);
    size_t count = 0;
    if (!names) return cli_fail(c, SOCK_ENOMEM);
    add_inputs(model, names, &count);
    int code = count ? -1 : cli_usage_error(c, "%s: the only input of the model is the time: it needs no file", path);
    sock_status status = code < 0 ? set_inputs(c, NULL, NULL) : SOCK_OK;
    if (code < 0 && status >= 0) status = set_states(c, count, names);
    if (code < 0 && status >= 0) status = sock_data_read(c->ctx, path, c->opts, out);
    free((void *)names);
    return status < 0 ? cli_fail(c, status) : code;
}
