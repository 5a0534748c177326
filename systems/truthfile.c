/* truthfile.c - an instance as a small JSON file, so that the truth behind a data set can be made again:
 *
 *     {"system": "dense", "seed": 1, "box": 1.0, "approximate": false, "parameters": {"A11": -0.4, ...}} */
#include "systems/systems.h"

#include "base/base.h"
#include "base/safefile.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *to_json(const sys_instance *instance)
{
    const sys_system *s = instance->system;
    json_t *parameters = json_object();
    for (size_t i = 0; i < sys_parameters(s); i++)
        json_object_set_new(parameters, s->parameters[i].name, json_real(instance->parameter[i]));
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:b, s:o}", "system", s->name, "title", s->title, "seed",
                     (json_int_t)instance->seed, "box", instance->box, "delta", s->delta, "approximate", s->approximate,
                     "parameters", parameters);
}

sock_status sys_describe(sock_context *ctx, const sys_instance *instance, char **json)
{
    sk_begin(ctx);
    SK_TRY(sk_reserve(ctx, SK_JSON_SMALL));
    json_t *root = to_json(instance);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text) return sk_fail(ctx, SOCK_ENOMEM, "out of memory while describing %s", instance->system->name);
    *json = text;
    return SOCK_OK;
}

sock_status sys_save(sock_context *ctx, const sys_instance *instance, const char *path)
{
    char *text = NULL;
    SK_TRY(sys_describe(ctx, instance, &text));
    sk_file *file = NULL;
    sock_status status = sk_file_create(ctx, path, &file);
    if (status >= 0) {
        sk_writef(file, "%s\n", text);
        status = sk_file_commit(ctx, file);
    }
    free(text);
    return status;
}

/* Every parameter of the system must be there, finite; others are refused (a file of another version, or a slip). */
static sock_status take_parameters(sock_context *ctx, const char *path, const json_t *object, sys_instance *instance)
{
    const sys_system *s = instance->system;
    for (size_t i = 0; i < sys_parameters(s); i++) {
        const json_t *value = json_object_get(object, s->parameters[i].name);
        if (!json_is_number(value)) /* numbers of JSON are finite */
            return sk_fail(ctx, SOCK_EINPUT, "%s: parameters must hold the number '%s' of system %s", path,
                           s->parameters[i].name, s->name);
        instance->parameter[i] = json_number_value(value);
    }
    if (json_object_size(object) != sys_parameters(s))
        return sk_fail(ctx, SOCK_EINPUT, "%s: parameters holds %zu entries; system %s has %zu", path,
                       json_object_size(object), s->name, sys_parameters(s));
    return SOCK_OK;
}

static sock_status from_json(sock_context *ctx, const char *path, const json_t *root, sys_instance **out)
{
    const char *name = json_string_value(json_object_get(root, "system"));
    const sys_system *system = sys_find(name);
    if (!system) return sk_fail(ctx, SOCK_EINPUT, "%s: '%s' is not a known system", path, name ? name : "");
    const json_t *seed = json_object_get(root, "seed"), *box = json_object_get(root, "box");
    if (!json_is_integer(seed) || json_integer_value(seed) < 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: seed must be a whole number >= 0", path);
    if (!json_is_number(box) || json_number_value(box) < 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: box must be a number >= 0", path);
    sys_instance *instance = NULL;
    SK_TRY(sys_new(ctx, system, (uint64_t)json_integer_value(seed), &instance));
    instance->box = json_number_value(box);
    sock_status status = take_parameters(ctx, path, json_object_get(root, "parameters"), instance);
    if (status < 0)
        sys_free(instance);
    else
        *out = instance;
    return status;
}

sock_status sys_parse(sock_context *ctx, const char *source, const char *bytes, size_t size, sys_instance **out)
{
    json_error_t error;
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * (size + 1024))); /* so many bytes are in memory: no overflow */
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) return sk_fail(ctx, SOCK_EINPUT, "%s, line %d: %s", source, error.line, error.text);
    sock_status status = from_json(ctx, source, root, out);
    json_decref(root);
    return status;
}

sock_status sys_load(sock_context *ctx, const char *source, uint64_t seed, sys_instance **out)
{
    sk_begin(ctx);
    if (sys_find(source)) return sys_new(ctx, sys_find(source), seed, out);
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, source, &bytes, &size));
    sock_status status = sys_parse(ctx, source, bytes, size, out);
    sk_free(bytes);
    return status;
}
