/* recordvalues.c - see recordvalues.h: numbers, texts and lists of them. */
#include "api/recordvalues.h"

#include <math.h>

static json_t *write_value(sk_json_kind what, const void *at, unsigned fit);
static sock_status read_value(sock_context *ctx, sk_json_kind what, json_t *value, void *at);

static json_t *write_field(const sk_json_field *f, const void *base, unsigned fit)
{
    return base ? write_value(f->kind, (const char *)base + f->offset, fit) : NULL;
}

void sk_json_put(json_t *object, const sk_json_field *f, const void *base, unsigned fit)
{
    json_t *value = f->fits & fit ? write_field(f, base, fit) : NULL;
    if (!(f->fits & fit) || (!value && (f->fits & OPTIONAL))) return;
    json_object_set_new(object, f->key, value ? value : json_null());
}

json_t *sk_json_write_object(const sk_json_field *fields, const void *base, unsigned fit)
{
    json_t *object = json_object();
    for (const sk_json_field *f = fields; f->key; f++) sk_json_put(object, f, base, fit);
    return object;
}

sock_status sk_json_get(sock_context *ctx, json_t *object, const sk_json_field *f, void *base)
{
    json_t *value = json_object_get(object, f->key);
    return value && base ? read_value(ctx, f->kind, value, (char *)base + f->offset) : SOCK_OK;
}

sock_status sk_json_read_object(sock_context *ctx, json_t *object, const sk_json_field *fields, void *base)
{
    for (const sk_json_field *f = fields; f->key; f++) SK_TRY(sk_json_get(ctx, object, f, base));
    return SOCK_OK;
}

const char *sk_json_text(json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

/* ---- Lists. What is owned and stands in the tables twice is read once: what is there stays. ---- */

json_t *sk_json_write_numbers(size_t n, const double *value)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, isfinite(value[i]) ? json_real(value[i]) : json_null());
    return list;
}

static sock_status read_numbers(sock_context *ctx, json_t *value, sk_numbers *list)
{
    if (!json_is_array(value) || list->value) return SOCK_OK;
    list->value = sk_doubles(ctx, json_array_size(value), 1);
    if (!list->value) return SOCK_ENOMEM;
    list->count = json_array_size(value);
    for (size_t i = 0; i < list->count; i++) {
        const json_t *one = json_array_get(value, i);
        list->value[i] = json_is_null(one) ? (double)NAN : json_number_value(one); /* null: no finite number */
    }
    return SOCK_OK;
}

enum { MOST_ROWS = 100 }; /* of a file that may say anything */

/* n^2 numbers, row by row. */
static json_t *write_matrix(const sk_numbers *list)
{
    size_t n = 0;
    while (n * n < list->count) n++;
    json_t *rows = list->value ? json_array() : NULL;
    for (size_t i = 0; rows && i < n; i++) json_array_append_new(rows, sk_json_write_numbers(n, list->value + i * n));
    return rows;
}

static sock_status read_matrix(sock_context *ctx, json_t *value, sk_numbers *list)
{
    const size_t n = json_array_size(value);
    if (!n || n > MOST_ROWS || list->value) return SOCK_OK;
    list->value = sk_doubles(ctx, n, n);
    if (!list->value) return SOCK_ENOMEM;
    list->count = n * n;
    for (size_t i = 0; i < n * n; i++)
        list->value[i] = json_number_value(json_array_get(json_array_get(value, i / n), i % n));
    return SOCK_OK;
}

static json_t *write_lists(const sk_number_lists *lists)
{
    json_t *array = json_array();
    for (size_t i = 0; i < lists->count; i++)
        json_array_append_new(array, sk_json_write_numbers(lists->list[i].count, lists->list[i].value));
    return array;
}

static sock_status read_lists(sock_context *ctx, json_t *value, sk_number_lists *lists)
{
    if (!json_is_array(value) || lists->list) return SOCK_OK;
    SK_TRY(sk_number_lists_new(ctx, json_array_size(value), lists));
    for (size_t i = 0; i < lists->count; i++) SK_TRY(read_numbers(ctx, json_array_get(value, i), &lists->list[i]));
    return SOCK_OK;
}

static json_t *write_texts(const sk_texts *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) json_array_append_new(array, json_string(list->text[i]));
    return array;
}

static sock_status read_texts(sock_context *ctx, json_t *value, sk_texts *list)
{
    if (list->count) return SOCK_OK;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *one = json_string_value(json_array_get(value, i));
        SK_TRY(sk_texts_add(ctx, list, one ? one : ""));
    }
    return SOCK_OK;
}

/* ---- Any value ---- */

static json_t *write_value(sk_json_kind what, const void *at, unsigned fit)
{
    const sk_numbers *list = at;
    const sk_number_lists *lists = at;
    const sk_texts *lines = at;
    char *const *text = at;
    switch (what) {
    case NUMBER: return isfinite(*(const double *)at) ? json_real(*(const double *)at) : NULL;
    case COUNT: return json_integer((json_int_t) * (const size_t *)at);
    case POSITIVE: return *(const size_t *)at ? json_integer((json_int_t) * (const size_t *)at) : NULL;
    case ITERATIONS: return *(const long *)at >= 0 ? json_integer(*(const long *)at) : NULL;
    case FLAG: return json_boolean(*(const bool *)at);
    case TEXT: return *text ? json_string(*text) : NULL;
    case PRESET: return *(const bool *)at ? json_string("paper") : NULL;
    case VERDICT: return json_string(sk_verdict_name(*(const sk_verdict *)at));
    case MATRIX: return write_matrix(at);
    case NUMBERS: return list->value ? sk_json_write_numbers(list->count, list->value) : NULL;
    case LISTS: return lists->count ? write_lists(lists) : NULL;
    case TEXTS: return write_texts(lines);
    case LINES: return lines->count ? write_texts(lines) : NULL;
    default: return sk_json_write_part(what, at, fit);
    }
}

static sock_status read_text(sock_context *ctx, json_t *value, char **text)
{
    if (!json_is_string(value) || *text) return SOCK_OK;
    *text = sk_strdup(ctx, json_string_value(value));
    return *text ? SOCK_OK : SOCK_ENOMEM;
}

/* What is of the wrong type changes nothing. */
static sock_status read_value(sock_context *ctx, sk_json_kind what, json_t *value, void *at)
{
    const bool natural = json_is_integer(value) && json_integer_value(value) >= 0;
    switch (what) {
    case NUMBER:
        if (json_is_number(value)) *(double *)at = json_number_value(value);
        return SOCK_OK;
    case COUNT:
    case POSITIVE:
        if (natural) *(size_t *)at = (size_t)json_integer_value(value);
        return SOCK_OK;
    case ITERATIONS:
        if (natural) *(long *)at = (long)json_integer_value(value);
        return SOCK_OK;
    case FLAG:
        if (json_is_boolean(value)) *(bool *)at = json_is_true(value);
        return SOCK_OK;
    case PRESET: *(bool *)at = json_string_length(value) > 0; return SOCK_OK;
    case VERDICT: *(sk_verdict *)at = sk_verdict_of(json_string_value(value)); return SOCK_OK;
    case TEXT: return read_text(ctx, value, at);
    case MATRIX: return read_matrix(ctx, value, at);
    case NUMBERS: return read_numbers(ctx, value, at);
    case LISTS: return read_lists(ctx, value, at);
    case TEXTS:
    case LINES: return read_texts(ctx, value, at);
    default: return sk_json_read_part(ctx, what, value, at);
    }
}
