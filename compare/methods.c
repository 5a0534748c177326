/* methods.c - the table of methods and the grammar that names them (compare.h). */
#include "compare/compare.h"

#include "base/base.h"
#include "base/nearest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every table of methods stands here once. */
static const cmp_method *const tables[] = {cmp_sock_methods, cmp_bisde_methods, cmp_gedmd_methods, cmp_neural_methods,
                                           cmp_baseline_methods};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- The table ---- */

const cmp_method *cmp_method_at(size_t index)
{
    for (size_t i = 0; i < TABLES; i++)
        for (const cmp_method *m = tables[i]; m->name; m++)
            if (index-- == 0) return m;
    return NULL;
}

static const cmp_method *find_method(const char *name, size_t length)
{
    const cmp_method *m;
    for (size_t i = 0; (m = cmp_method_at(i)) != NULL; i++)
        if (strlen(m->name) == length && strncmp(m->name, name, length) == 0) return m;
    return NULL;
}

const cmp_method *cmp_method_find(const char *name) { return find_method(name, strlen(name)); }

/* ---- Parameters ---- */

static size_t parameter_count(const cmp_method *method)
{
    size_t count = 0;
    while (method->parameters && method->parameters[count].key) count++;
    assert(count <= CMP_MOST_PARAMETERS);
    return count;
}

static size_t parameter_index(const cmp_method *method, const char *key, size_t length)
{
    size_t count = parameter_count(method);
    for (size_t i = 0; i < count; i++)
        if (strlen(method->parameters[i].key) == length && strncmp(method->parameters[i].key, key, length) == 0)
            return i;
    return count;
}

static const char *value_of(const cmp_spec *spec, const char *key)
{
    size_t i = parameter_index(spec->method, key, strlen(key));
    assert(i < parameter_count(spec->method));
    return spec->value[i];
}

const char *cmp_spec_text(const cmp_spec *spec, const char *key) { return value_of(spec, key); }

int cmp_spec_is(const cmp_spec *spec, const char *key, const char *value)
{
    return strcmp(value_of(spec, key), value) == 0;
}

double cmp_spec_number(const cmp_spec *spec, const char *key)
{
    const char *end, *text = value_of(spec, key);
    double value = sk_parse_double(text, &end);
    return end == text ? (double)NAN : value;
}

static bool is_word_of(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (const char *p = words; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == length && strncmp(p, value, length) == 0) return true;
    return false;
}

static bool is_allowed(const cmp_parameter *p, const char *value)
{
    const char *end;
    if (p->kind == CMP_TEXT) return value[0] != 0;
    if (p->kind == CMP_CHOICE) return is_word_of(p->allowed, value);
    if (strcmp(value, "auto") == 0) return strstr(p->allowed, "auto") != NULL;
    double number = sk_parse_double(value, &end);
    if (end == value || *end || !(number >= p->low && number <= p->high)) return false;
    return p->kind == CMP_NUMBER || number == floor(number);
}

/* "library, degree, threshold", or "none" */
static void list_keys(const cmp_method *method, char *buffer, size_t size)
{
    size_t used = 0, count = parameter_count(method);
    snprintf(buffer, size, "none");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", method->parameters[i].key);
}

/* text: "key=value" of the given length; braces around the value are taken off. */
static sock_status take_parameter(sock_context *ctx, const char *text, size_t length, cmp_spec *spec)
{
    char keys[CMP_TEXT_SIZE];
    const cmp_method *method = spec->method;
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    size_t i = parameter_index(method, text, name);
    list_keys(method, keys, sizeof keys);
    if (!equals)
        return sk_fail(ctx, SOCK_EUSAGE, "methods: %s: '%.*s' is not key=value; keys: %s", method->name, (int)length,
                       text, keys);
    if (i == parameter_count(method))
        return sk_fail(ctx, SOCK_EUSAGE, "methods: %s has no parameter '%.*s'; allowed: %s", method->name, (int)name,
                       text, keys);
    const char *value = equals + 1;
    size_t size = length - name - 1;
    const cmp_parameter *p = &method->parameters[i];
    bool braced = size > 0 && value[0] == '{';
    if (braced && (size < 2 || value[size - 1] != '}'))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "methods: %s: the brace before the value of %s is not closed at its end: '%.*s'", method->name,
                       p->key, (int)size, value);
    if (braced) value++, size -= 2;
    if (size >= CMP_VALUE_SIZE)
        return sk_fail(ctx, SOCK_EUSAGE, "methods: %s: the value of %s is longer than %d characters", method->name,
                       p->key, CMP_VALUE_SIZE - 1);
    memcpy(spec->value[i], value, size);
    spec->value[i][size] = 0;
    if (is_allowed(p, spec->value[i])) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE, "methods: %s: %s is '%s'; allowed: %s", method->name, p->key, spec->value[i],
                   p->allowed);
}

static void set_defaults(const cmp_method *method, cmp_spec *spec)
{
    memset(spec, 0, sizeof *spec);
    spec->method = method;
    for (size_t i = 0; i < parameter_count(method); i++) {
        assert(strlen(method->parameters[i].fallback) < CMP_VALUE_SIZE);
        snprintf(spec->value[i], CMP_VALUE_SIZE, "%s", method->parameters[i].fallback);
    }
}

/* ---- Text in ---- */

/* Length up to the next comma that is not in braces. */
static size_t piece_length(const char *text)
{
    size_t depth = 0, i = 0;
    for (; text[i] && (depth || text[i] != ','); i++) {
        if (text[i] == '{') depth++;
        if (text[i] == '}' && depth) depth--;
    }
    return i;
}

/* A piece with "=" before any ":" goes on with the parameters of the method before it. */
static bool is_parameter(const char *text) { return text[strcspn(text, ",:={}")] == '='; }

/* "all", "bisde-all", or the group's bare name (which a method of the same name hides). */
static bool is_group(const cmp_method *method, const char *name, size_t length)
{
    size_t size = strlen(method->group);
    if (length == 3 && strncmp(name, "all", 3) == 0) return true;
    if (length < size || strncmp(method->group, name, size) != 0) return false;
    return length == size || (length == size + 4 && strncmp(name + size, "-all", 4) == 0);
}

/* Method names, then the groups in the order of the table. */
static void list_names(char *buffer, size_t size)
{
    size_t used = 0;
    const cmp_method *m;
    for (size_t i = 0; (m = cmp_method_at(i)) != NULL && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", m->name);
    for (size_t i = 0; i < TABLES && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s-all", i ? ", " : "; groups: ", tables[i]->group);
    if (used < size) snprintf(buffer + used, size - used, ", all");
}

static sock_status unknown_method(sock_context *ctx, const char *text, size_t length)
{
    char names[CMP_TEXT_SIZE * 2], meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(text, length);
    const cmp_method *m;
    for (size_t i = 0; (m = cmp_method_at(i)) != NULL; i++) sk_nearest_try(&near, m->name);
    list_names(names, sizeof names);
    return sk_fail(ctx, SOCK_EUSAGE, "methods: '%.*s' is not known%s; allowed: %s", (int)length, text,
                   sk_meant(&near, meant), names);
}

/* name[:key=value,...] up to its end in a list; *used: how far it went. */
static sock_status parse_method(sock_context *ctx, const char *text, cmp_spec *spec, size_t *used)
{
    size_t name = strcspn(text, ",:={}"), at = name;
    const cmp_method *method = find_method(text, name);
    if (!method) return unknown_method(ctx, text, name);
    set_defaults(method, spec);
    bool more = text[at] == ':';
    if (text[at] && text[at] != ':' && text[at] != ',')
        return sk_fail(ctx, SOCK_EUSAGE, "methods: '%s': after the name '%s' comes ':key=value' or ','", text,
                       method->name);
    while (more) {
        size_t length = piece_length(text + ++at);
        SK_TRY(take_parameter(ctx, text + at, length, spec));
        at += length;
        more = text[at] == ',' && is_parameter(text + at + 1);
    }
    *used = at;
    return SOCK_OK;
}

sock_status cmp_spec_parse(sock_context *ctx, const char *text, cmp_spec *out)
{
    cmp_spec spec;
    size_t used = 0;
    sk_begin(ctx);
    SK_TRY(parse_method(ctx, text, &spec, &used));
    if (text[used])
        return sk_fail(ctx, SOCK_EUSAGE, "methods: '%s' goes on after the method '%s'; one is wanted here", text,
                       spec.method->name);
    *out = spec;
    return SOCK_OK;
}

/* ---- Lists ---- */

typedef struct spec_list {
    cmp_spec *spec;
    size_t count, capacity;
} spec_list;

static bool is_same(const cmp_spec *a, const cmp_spec *b)
{
    bool same = a->method == b->method;
    for (size_t i = 0; same && i < parameter_count(a->method); i++) same = strcmp(a->value[i], b->value[i]) == 0;
    return same;
}

static sock_status add_spec(sock_context *ctx, spec_list *list, const cmp_spec *spec)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_same(&list->spec[i], spec)) return SOCK_OK;
    SK_TRY(sk_grow(ctx, &list->spec, &list->capacity, list->count + 1, sizeof *spec));
    list->spec[list->count++] = *spec;
    return SOCK_OK;
}

/* A group's methods; *found: how many. */
static sock_status add_group(sock_context *ctx, spec_list *list, const char *name, size_t length, size_t *found)
{
    const cmp_method *m;
    cmp_spec spec;
    *found = 0;
    for (size_t i = 0; (m = cmp_method_at(i)) != NULL; i++) {
        if (!is_group(m, name, length)) continue;
        set_defaults(m, &spec);
        SK_TRY(add_spec(ctx, list, &spec));
        ++*found;
    }
    return SOCK_OK;
}

static sock_status parse_list(sock_context *ctx, const char *text, spec_list *list)
{
    for (size_t at = 0; text[at] || at == 0; at += text[at] == ',') {
        size_t name = strcspn(text + at, ",:={}"), found = 0, used = name;
        cmp_spec spec;
        if (name == 0) return sk_fail(ctx, SOCK_EUSAGE, "methods: '%s': a name is missing at '%s'", text, text + at);
        if (!find_method(text + at, name) && (text[at + name] == ',' || !text[at + name]))
            SK_TRY(add_group(ctx, list, text + at, name, &found));
        if (!found) {
            SK_TRY(parse_method(ctx, text + at, &spec, &used));
            SK_TRY(add_spec(ctx, list, &spec));
        }
        at += used;
        if (text[at] == ',' && !text[at + 1]) return sk_fail(ctx, SOCK_EUSAGE, "methods: '%s' ends in a comma", text);
    }
    return SOCK_OK;
}

sock_status cmp_specs_parse(sock_context *ctx, const char *text, cmp_spec **specs, size_t *count)
{
    spec_list list = {0};
    sk_begin(ctx);
    sock_status status = parse_list(ctx, text, &list);
    if (status < 0) {
        sk_free(list.spec);
        return status;
    }
    *specs = list.spec;
    *count = list.count;
    return SOCK_OK;
}

void cmp_specs_free(cmp_spec *specs) { sk_free(specs); }

/* ---- Text out ---- */

void cmp_spec_format(const cmp_spec *spec, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s", spec->method->name);
    char separator = ':';
    for (size_t i = 0; i < parameter_count(spec->method) && used < size; i++) {
        const cmp_parameter *p = &spec->method->parameters[i];
        if (strcmp(spec->value[i], p->fallback) == 0) continue;
        bool braces = strpbrk(spec->value[i], ",{}") != NULL;
        used += (size_t)snprintf(buffer + used, size - used, "%c%s=%s%s%s", separator, p->key, braces ? "{" : "",
                                 spec->value[i], braces ? "}" : "");
        separator = ',';
    }
}

void cmp_spec_settings(const cmp_spec *spec, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < parameter_count(spec->method) && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s %s", i ? ", " : "", spec->method->parameters[i].key,
                                 spec->value[i]);
}
