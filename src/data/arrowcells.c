/* arrowcells.c - see arrowcells.h. What a buffer holds cannot be seen from outside: lengths and offsets are believed
 * where they are not negative. */
#include "arrowcells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IN_THE_VIEW = 12 /* bytes of text */, MARCH_TO_DECEMBER = 10 };

typedef enum kind {
    K_OTHER,
    K_NULL,
    K_BOOL,
    K_INT,
    K_UINT,
    K_HALF,
    K_FLOAT,
    K_DOUBLE,
    K_DAYS,
    K_TIME, /* since 1970, in so many parts of a second */
    K_TEXT,
    K_LONG_TEXT,
    K_VIEW
} kind;

typedef struct type {
    kind kind;
    int bytes;     /* of an integer */
    int64_t parts; /* of a second */
} type;

static type type_of(const char *format)
{
    static const struct {
        const char *format;
        type is;
    } known[] = {{"n", {K_NULL, 0, 0}},   {"b", {K_BOOL, 0, 0}},      {"c", {K_INT, 1, 0}},
                 {"C", {K_UINT, 1, 0}},   {"s", {K_INT, 2, 0}},       {"S", {K_UINT, 2, 0}},
                 {"i", {K_INT, 4, 0}},    {"I", {K_UINT, 4, 0}},      {"l", {K_INT, 8, 0}},
                 {"L", {K_UINT, 8, 0}},   {"e", {K_HALF, 2, 0}},      {"f", {K_FLOAT, 4, 0}},
                 {"g", {K_DOUBLE, 8, 0}}, {"tdD", {K_DAYS, 4, 1}},    {"tdm", {K_TIME, 8, 1000}},
                 {"u", {K_TEXT, 0, 0}},   {"U", {K_LONG_TEXT, 0, 0}}, {"vu", {K_VIEW, 0, 0}}};
    static const struct {
        const char *start;
        int64_t parts;
    } stamp[] = {{"tss:", 1}, {"tsm:", 1000}, {"tsu:", 1000000}, {"tsn:", 1000000000}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].format, format) == 0) return known[i].is;
    for (size_t i = 0; i < sizeof stamp / sizeof *stamp; i++)
        if (strncmp(format, stamp[i].start, 4) == 0) return (type){K_TIME, 8, stamp[i].parts};
    return (type){K_OTHER, 0, 0};
}

/* ---- Text ---- */

sock_status sk_text_put(sock_context *ctx, sk_text *text, const char *bytes, size_t count)
{
    SK_TRY(sk_grow(ctx, &text->bytes, &text->room, text->size + count + 1, 1));
    if (count) memcpy(text->bytes + text->size, bytes, count);
    text->size += count;
    text->bytes[text->size] = 0;
    return SOCK_OK;
}

static bool is_plain(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strchr("\",;\t\r\n ", bytes[i])) return false; /* and a 0 */
    return true;
}

sock_status sk_text_put_cell(sock_context *ctx, sk_text *text, const char *bytes, size_t count)
{
    if (is_plain(bytes, count)) return sk_text_put(ctx, text, bytes, count);
    SK_TRY(sk_text_put(ctx, text, "\"", 1));
    for (size_t i = 0; i < count; i++)
        SK_TRY(sk_text_put(ctx, text, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1));
    return sk_text_put(ctx, text, "\"", 1);
}

/* ---- Rules ---- */

static const char *name_of(const struct ArrowSchema *schema) { return schema->name ? schema->name : ""; }

static sock_status broken(sock_context *ctx, const struct ArrowSchema *schema, const char *what)
{
    return sk_fail(ctx, SOCK_EINPUT, "arrow stream: column '%s' (format '%s'): %s", name_of(schema), schema->format,
                   what);
}

sock_status sk_arrow_check_schema(sock_context *ctx, const struct ArrowSchema *schema, size_t column)
{
    if (!schema || !schema->format)
        return sk_fail(ctx, SOCK_EINPUT, "arrow stream: column %zu has no %s", column + 1,
                       schema ? "format" : "schema");
    if (!schema->dictionary) return SOCK_OK;
    const kind index = type_of(schema->format).kind;
    if (index != K_INT && index != K_UINT) return broken(ctx, schema, "places in a dictionary must be integers");
    if (!schema->dictionary->format) return broken(ctx, schema, "its dictionary has no format");
    if (schema->dictionary->dictionary) return broken(ctx, schema, "its dictionary has a dictionary of its own");
    return SOCK_OK;
}

static int64_t buffers_of(kind k)
{
    if (k == K_NULL) return 0;
    return k == K_TEXT || k == K_LONG_TEXT || k == K_VIEW ? 3 : 2;
}

sock_status sk_arrow_check_array(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 int64_t least, bool dictionary)
{
    const kind k = type_of(schema->format).kind;
    if (!array) return broken(ctx, schema, "it has no array");
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset)
        return broken(ctx, schema, "its length or offset is negative or too large");
    if (array->length < least) return broken(ctx, schema, "it is shorter than the table");
    if (k == K_OTHER) return SOCK_OK;
    if (array->null_count < -1 || array->null_count > array->length)
        return broken(ctx, schema, "its number of nulls is not between -1 and its length");
    if (k == K_VIEW ? array->n_buffers < 3 : array->n_buffers != buffers_of(k))
        return broken(ctx, schema, "it has another number of buffers than its format");
    if (array->n_buffers && !array->buffers) return broken(ctx, schema, "it has no buffers");
    const bool any = array->length + array->offset > 0;
    if (k != K_NULL && any && !array->buffers[1]) return broken(ctx, schema, "its values are missing");
    if (k != K_NULL && array->null_count > 0 && !array->buffers[0])
        return broken(ctx, schema, "it has nulls, and nothing says where");
    if (k == K_VIEW && any && array->n_buffers > 3 && !array->buffers[array->n_buffers - 1])
        return broken(ctx, schema, "the lengths of its buffers are missing");
    if (dictionary || !schema->dictionary) return SOCK_OK;
    return sk_arrow_check_array(ctx, schema->dictionary, array->dictionary, 0, true);
}

/* ---- Cells ---- */

static bool bit(const void *bits, int64_t i) { return ((const unsigned char *)bits)[i / 8] >> i % 8 & 1; }

static int64_t integer(const type *t, const void *values, int64_t i)
{
    const char *at = (const char *)values + i * t->bytes;
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (t->bytes) {
    case 1: memcpy(&one, at, 1); return t->kind == K_UINT ? (int64_t)(uint8_t)one : one;
    case 2: memcpy(&two, at, 2); return t->kind == K_UINT ? (int64_t)(uint16_t)two : two;
    case 4: memcpy(&four, at, 4); return t->kind == K_UINT ? (int64_t)(uint32_t)four : four;
    default: memcpy(&eight, at, 8); return eight;
    }
}

/* Sign, five bits of exponent, ten of fraction. */
static double half(const void *values, int64_t i)
{
    uint16_t bits;
    memcpy(&bits, (const char *)values + 2 * i, 2);
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static sock_status put_number(sock_context *ctx, double value, sk_text *text)
{
    char cell[40];
    if (isnan(value)) return SOCK_OK; /* missing */
    return sk_text_put(ctx, text, cell, (size_t)snprintf(cell, sizeof cell, "%.17g", value));
}

/* ---- Dates ---- */

/* Year, month and day of a day since 1970, for years 1 to 9999: years begin in March, so that leap days come last. */
static bool put_day(int64_t day, char *out, size_t room)
{
    if (day < -719162 || day > 2932896) return false;
    const int64_t z = day + 719468, era = z / 146097, in_era = z % 146097;
    const int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const int64_t in_year = in_era - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
    const int64_t from_january = month < MARCH_TO_DECEMBER ? month + 3 : month - 9;
    snprintf(out, room, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, year + era * 400 + (from_january <= 2), from_january,
             in_year - (153 * month + 2) / 5 + 1);
    return true;
}

static sock_status put_date(sock_context *ctx, const struct ArrowSchema *schema, const type *t, int64_t value,
                            sk_text *text)
{
    const int64_t each = t->kind == K_DAYS ? 1 : 86400 * t->parts;
    int64_t day = value / each, rest = value % each;
    char cell[64];
    if (rest < 0) rest += each, day--;
    if (!put_day(day, cell, sizeof cell)) return broken(ctx, schema, "a date is outside of the years 1 to 9999");
    if (t->kind != K_DAYS) {
        const int64_t second = rest / t->parts, part = rest % t->parts * (1000000000 / t->parts);
        snprintf(cell + 10, sizeof cell - 10, "T%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%09" PRId64, second / 3600,
                 second / 60 % 60, second % 60, part);
    }
    return sk_text_put(ctx, text, cell, strlen(cell));
}

/* ---- Words ---- */

static sock_status put_text(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array, kind k,
                            int64_t i, sk_text *text)
{
    int64_t from, to;
    if (k == K_TEXT) {
        int32_t at[2];
        memcpy(at, (const char *)array->buffers[1] + 4 * i, sizeof at);
        from = at[0], to = at[1];
    } else {
        int64_t at[2];
        memcpy(at, (const char *)array->buffers[1] + 8 * i, sizeof at);
        from = at[0], to = at[1];
    }
    if (from < 0 || to < from) return broken(ctx, schema, "places of its text do not rise");
    if (to > from && !array->buffers[2]) return broken(ctx, schema, "its text is missing");
    return sk_text_put_cell(ctx, text, to > from ? (const char *)array->buffers[2] + from : "", (size_t)(to - from));
}

/* Length, then up to twelve bytes, or four of them, a buffer and a place in it. */
static sock_status put_view(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                            int64_t i, sk_text *text)
{
    const char *view = (const char *)array->buffers[1] + 16 * i;
    const int64_t *size = array->buffers[array->n_buffers - 1];
    int32_t length, place[2];
    memcpy(&length, view, 4);
    if (length < 0) return broken(ctx, schema, "a text has a negative length");
    if (length <= IN_THE_VIEW) return sk_text_put_cell(ctx, text, view + 4, (size_t)length);
    memcpy(place, view + 8, sizeof place);
    if (place[0] < 0 || place[0] >= array->n_buffers - 3 || place[1] < 0 || !array->buffers[2 + place[0]] ||
        (int64_t)place[1] + length > size[place[0]])
        return broken(ctx, schema, "a text lies outside of its buffers");
    return sk_text_put_cell(ctx, text, (const char *)array->buffers[2 + place[0]] + place[1], (size_t)length);
}

/* ---- The cell ---- */

static sock_status put_integer(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                               const type *t, int64_t i, sk_text *text)
{
    const int64_t value = integer(t, array->buffers[1], i);
    char cell[32];
    if (schema->dictionary) {
        if (value < 0 || value >= array->dictionary->length)
            return broken(ctx, schema, "a place is outside of its dictionary");
        return sk_arrow_put(ctx, schema->dictionary, array->dictionary, value, text);
    }
    const bool wide = t->kind == K_UINT && t->bytes == 8;
    const int count = wide ? snprintf(cell, sizeof cell, "%" PRIu64, (uint64_t)value)
                           : snprintf(cell, sizeof cell, "%" PRId64, value);
    return sk_text_put(ctx, text, cell, (size_t)count);
}

sock_status sk_arrow_put(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t place, sk_text *text)
{
    const type t = type_of(schema->format);
    const int64_t i = array->offset + place;
    float single;
    double number;
    if (t.kind == K_NULL) return SOCK_OK;
    if (t.kind == K_OTHER) return sk_text_put_cell(ctx, text, schema->format, strlen(schema->format));
    if (array->null_count != 0 && array->buffers[0] && !bit(array->buffers[0], i)) return SOCK_OK;
    const void *values = array->buffers[1];
    switch (t.kind) {
    case K_BOOL: return sk_text_put(ctx, text, bit(values, i) ? "1" : "0", 1);
    case K_INT:
    case K_UINT: return put_integer(ctx, schema, array, &t, i, text);
    case K_HALF: return put_number(ctx, half(values, i), text);
    case K_FLOAT: memcpy(&single, (const char *)values + 4 * i, 4); return put_number(ctx, (double)single, text);
    case K_DOUBLE: memcpy(&number, (const char *)values + 8 * i, 8); return put_number(ctx, number, text);
    case K_DAYS:
    case K_TIME: return put_date(ctx, schema, &t, integer(&t, values, i), text);
    case K_VIEW: return put_view(ctx, schema, array, i, text);
    default: return put_text(ctx, schema, array, t.kind, i, text);
    }
}
