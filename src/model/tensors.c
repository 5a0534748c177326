/* tensors.c - the safetensors format. Reading trusts nothing: sizes are checked before they are multiplied, offsets
 * must tile the data exactly (no hole, no overlap, no rest), every number must be finite. */
#include "model/tensors.h"

#include "base/safefile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 10000 }; /* a model has a handful for each term; lookups may then be plain loops */

_Static_assert(sizeof(double) == 8, "the file format stores 64-bit numbers");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file format is little-endian; this machine is not"
#endif

sock_status sk_tensors_add(sock_context *ctx, sk_tensors *t, const char *name, size_t rows, size_t cols,
                           const double *values)
{
    SK_TRY(sk_grow(ctx, &t->at, &t->capacity, t->count + 1, sizeof *t->at));
    sk_tensor *tensor = &t->at[t->count++];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->rows = rows;
    tensor->cols = cols;
    tensor->values = values;
    return SOCK_OK;
}

const sk_tensor *sk_tensors_find(const sk_tensors *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->at[i].name, name) == 0) return &t->at[i];
    return NULL;
}

void sk_tensors_clear(sk_tensors *t)
{
    sk_free(t->at);
    sk_free(t->storage);
    json_decref(t->metadata);
    *t = (sk_tensors){0};
}

/* ---- Writing ---- */

static json_t *make_header(const sk_tensors *t)
{
    json_t *header = json_object();
    json_int_t offset = 0;
    json_object_set(header, "__metadata__", t->metadata);
    for (size_t i = 0; i < t->count; i++) {
        const sk_tensor *tensor = &t->at[i];
        json_int_t end = offset + (json_int_t)(8 * tensor->rows * tensor->cols);
        json_object_set_new(header, tensor->name,
                            json_pack("{s:s, s:[I,I], s:[I,I]}", "dtype", "F64", "shape", (json_int_t)tensor->rows,
                                      (json_int_t)tensor->cols, "data_offsets", offset, end));
        offset = end;
    }
    return header;
}

sock_status sk_tensors_write(sock_context *ctx, const sk_tensors *t, const char *path)
{
    json_t *header = make_header(t);
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (!text) return sk_fail(ctx, SOCK_ENOMEM, "%s: out of memory while writing", path);
    sk_file *file = NULL;
    sock_status status = sk_file_create(ctx, path, &file);
    if (status >= 0) {
        size_t length = strlen(text), padding = (8 - length % 8) % 8; /* the numbers start on a multiple of 8 */
        uint64_t size = length + padding;
        sk_write(file, &size, 8);
        sk_write(file, text, length);
        sk_write(file, "        ", padding);
        for (size_t i = 0; i < t->count; i++) sk_write(file, t->at[i].values, 8 * t->at[i].rows * t->at[i].cols);
        status = sk_file_commit(ctx, file);
    }
    free(text);
    return status;
}

/* ---- Reading ---- */

typedef struct span {
    size_t begin, end;
} span;

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static sock_status broken(sock_context *ctx, const char *path, const char *reason, const char *name)
{
    return sk_fail(ctx, SOCK_EINPUT, "%s: not a valid model file: %s%s%s", path, reason, name ? " in " : "",
                   name ? name : "");
}

/* A byte that no control character has, and that may be in a text: none from 0xf8 on is. */
static bool is_plain(char byte) { return (unsigned char)byte >= ' ' && (unsigned char)byte < 0xf8; }

/* Whether the file begins as text does: a table, say, given in place of a model. */
static bool is_text(const char *bytes, size_t size)
{
    size_t plain = 0;
    while (plain < SK_MIN(size, 8) && is_plain(bytes[plain])) plain++;
    return plain > 0 &&
           (plain == SK_MIN(size, 8) || bytes[plain] == '\n' || bytes[plain] == '\r' || bytes[plain] == '\t');
}

static bool natural(json_t *value, size_t most, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (size_t)json_integer_value(value);
    return *out <= most;
}

/* One entry of the header: its size must be that of its shape, and lie inside the data. A shape with a 0 in it may have
 * any number beside that: the V of a diffusion that is 0 has no columns, and rows that follow from the features. */
static sock_status read_entry(sock_context *ctx, const char *path, const char *name, json_t *entry, size_t data_size,
                              sk_tensors *t, span *where)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    size_t rows, cols;
    if (strlen(name) >= sizeof t->at[0].name) return broken(ctx, path, "a name is too long", NULL);
    if (!dtype || strcmp(dtype, "F64") != 0) return broken(ctx, path, "dtype is not F64", name);
    if (json_array_size(shape) != 2 || !natural(json_array_get(shape, 0), SIZE_MAX, &rows) ||
        !natural(json_array_get(shape, 1), SIZE_MAX, &cols))
        return broken(ctx, path, "shape is not two sizes", name);
    if (json_array_size(offsets) != 2 || !natural(json_array_get(offsets, 0), data_size, &where->begin) ||
        !natural(json_array_get(offsets, 1), data_size, &where->end) || where->begin > where->end)
        return broken(ctx, path, "data_offsets do not fit the file", name);
    size_t bytes = where->end - where->begin;
    bool agrees = rows && cols ? bytes % 8 == 0 && bytes / 8 % cols == 0 && bytes / 8 / cols == rows : bytes == 0;
    if (!agrees || where->begin % 8) return broken(ctx, path, "data_offsets do not agree with the shape", name);
    return sk_tensors_add(ctx, t, name, rows, cols, t->storage + where->begin / 8);
}

static sock_status check_tiling(sock_context *ctx, const char *path, span *spans, size_t count, size_t data_size)
{
    size_t reached = 0;
    qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].begin != reached) return broken(ctx, path, "arrays overlap or leave a hole", NULL);
        reached = spans[i].end;
    }
    return reached == data_size ? SOCK_OK : broken(ctx, path, "there are bytes that belong to no array", NULL);
}

static sock_status read_header(sock_context *ctx, const char *path, json_t *header, const char *data, size_t data_size,
                               sk_tensors *t)
{
    const char *name;
    json_t *entry;
    size_t count = 0;
    t->storage = sk_doubles(ctx, data_size / 8, 1);
    span *spans = sk_alloc(ctx, json_object_size(header), sizeof *spans);
    sock_status status = t->storage && spans ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) memcpy(t->storage, data, data_size / 8 * 8);
    for (size_t i = 0; status == SOCK_OK && i < data_size / 8; i++)
        if (!isfinite(t->storage[i])) status = broken(ctx, path, "a number is not finite", NULL);
    if (status == SOCK_OK) {
        json_object_foreach(header, name, entry)
        {
            if (strcmp(name, "__metadata__") == 0) continue;
            status = read_entry(ctx, path, name, entry, data_size, t, &spans[count]);
            if (status < 0) break;
            count++;
        }
    }
    if (status == SOCK_OK) status = check_tiling(ctx, path, spans, count, data_size);
    sk_free(spans);
    return status;
}

sock_status sk_tensors_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_tensors *t)
{
    json_t *header = NULL;
    sock_status status = SOCK_OK;
    *t = (sk_tensors){0};
    uint64_t length = 0;
    if (size >= 8) memcpy(&length, bytes, 8);
    if (size < 10 || length < 2 || length > size - 8) {
        status = broken(ctx, path,
                        is_text(bytes, size) ? "this is text, a table of data perhaps; the model comes first, then data"
                        : size < 10          ? "it is too short"
                                             : "the length of the header is beyond the file",
                        NULL);
        goto out;
    }
    json_error_t error;
    SK_GO(sk_reserve(ctx, SK_JSON_GROWTH * ((size_t)length + 1024))); /* so many bytes are in memory: no overflow */
    header = json_loadb(bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    t->metadata = json_is_object(header) ? json_incref(json_object_get(header, "__metadata__")) : NULL;
    if (!json_is_object(header) || !json_is_object(t->metadata)) {
        status = broken(ctx, path, "the header is not a JSON object with __metadata__", NULL);
        goto out;
    }
    if (json_object_size(header) > MOST_ARRAYS) {
        status = broken(ctx, path, "it announces more than 10000 arrays", NULL);
        goto out;
    }
    SK_GO(read_header(ctx, path, header, bytes + 8 + length, size - 8 - (size_t)length, t));
out:
    json_decref(header);
    if (status < 0) sk_tensors_clear(t);
    return status;
}
