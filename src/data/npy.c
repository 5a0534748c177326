/* npy.c - NumPy's .npy format: magic, version, length of the header, a Python dictionary, the numbers.
 *
 * 1. Magic, version 1 (2-byte length) or 2 and 3 (4-byte length).
 * 2. The dictionary: exactly the keys descr, fortran_order and shape.
 * 3. The size that shape and type ask for must be the size that is there.
 * 4. Each number to a double; the time of point i is i dt. */
#include "readers.h"

#include "csvcells.h"
#include "npyarray.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAGIC_SIZE = 6 };

/* ---- The header ---- */

typedef struct scanner {
    const char *p, *end;
} scanner;

static void skip_space(scanner *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) s->p++;
}

static bool take(scanner *s, char c)
{
    skip_space(s);
    if (s->p >= s->end || *s->p != c) return false;
    s->p++;
    return true;
}

static bool take_word(scanner *s, const char *word)
{
    size_t length = strlen(word);
    skip_space(s);
    if ((size_t)(s->end - s->p) < length || memcmp(s->p, word, length) != 0) return false;
    s->p += length;
    return true;
}

/* A text in single or double quotes, without escapes. */
static bool take_text(scanner *s, char *text, size_t size)
{
    skip_space(s);
    if (s->p >= s->end || (*s->p != '\'' && *s->p != '"')) return false;
    char quote = *s->p++;
    size_t length = 0;
    for (; s->p < s->end && *s->p != quote; s->p++) {
        if (length + 1 >= size || *s->p == '\\') return false;
        text[length++] = *s->p;
    }
    text[length] = 0;
    if (s->p >= s->end) return false;
    s->p++;
    return true;
}

static bool take_size(scanner *s, size_t *value)
{
    skip_space(s);
    const char *begin = s->p;
    *value = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        size_t digit = (size_t)(*s->p - '0');
        if (*value > (SIZE_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    bool any = s->p > begin;
    if (any && s->p < s->end && *s->p == 'L') s->p++; /* Python 2 */
    return any;
}

/* A tuple of whole numbers, with or without a comma at its end. */
static bool take_shape(scanner *s, sk_npy *a)
{
    if (!take(s, '(')) return false;
    while (!take(s, ')')) {
        if (a->dimensions == SK_NPY_DIMENSIONS || !take_size(s, &a->shape[a->dimensions++])) return false;
        if (!take(s, ',')) return take(s, ')');
    }
    return true;
}

/* Python's letters: byte order, kind, width. */
static sock_status set_type(sock_context *ctx, const char *descr, sk_npy *a)
{
    size_t width = strlen(descr) == 3 && descr[2] >= '0' && descr[2] <= '9' ? (size_t)(descr[2] - '0') : 0;
    char order = descr[0], kind = (char)(width ? descr[1] : 0);
    bool order_fits = order == '<' || order == '>' || (order == '|' && width == 1);
    bool is_float = kind == 'f' && (width == 4 || width == 8);
    bool is_whole = (kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
    if (!order_fits || (!is_float && !is_whole))
        return sk_fail(
            ctx, SOCK_EINPUT,
            "%s: the type of the numbers is '%s'; allowed: f8, f4, i1, i2, i4, i8, u1, u2, u4, u8 with < or >",
            a->source, descr);
    a->kind = kind;
    a->width = width;
    a->big_endian = order == '>';
    a->has_descr = true;
    return SOCK_OK;
}

static sock_status bad_header(sock_context *ctx, const sk_npy *a, const char *what)
{
    return sk_fail(ctx, SOCK_EINPUT, "%s: the .npy header cannot be understood: %s", a->source, what);
}

static sock_status read_entry(sock_context *ctx, scanner *s, sk_npy *a)
{
    char key[32] = "", descr[64] = "";
    if (!take_text(s, key, sizeof key) || !take(s, ':')) return bad_header(ctx, a, "a key in quotes and ':' expected");
    if (strcmp(key, "descr") == 0 && !a->has_descr) {
        if (!take_text(s, descr, sizeof descr)) return bad_header(ctx, a, "descr is not one plain type");
        return set_type(ctx, descr, a);
    }
    if (strcmp(key, "fortran_order") == 0 && !a->has_order) {
        a->has_order = true;
        a->fortran = take_word(s, "True");
        if (!a->fortran && !take_word(s, "False")) return bad_header(ctx, a, "fortran_order is neither True nor False");
        return SOCK_OK;
    }
    if (strcmp(key, "shape") == 0 && !a->has_shape) {
        a->has_shape = true;
        return take_shape(s, a) ? SOCK_OK : bad_header(ctx, a, "shape is not a list of whole numbers");
    }
    return bad_header(ctx, a, "a key is unknown or appears twice");
}

static sock_status read_dictionary(sock_context *ctx, scanner s, sk_npy *a)
{
    if (!take(&s, '{')) return bad_header(ctx, a, "'{' expected");
    while (!take(&s, '}')) {
        SK_TRY(read_entry(ctx, &s, a));
        if (take(&s, ',')) continue;
        if (!take(&s, '}')) return bad_header(ctx, a, "',' or '}' expected");
        break;
    }
    skip_space(&s);
    if (s.p != s.end) return bad_header(ctx, a, "something follows the dictionary");
    if (!a->has_descr || !a->has_order || !a->has_shape)
        return bad_header(ctx, a, "descr, fortran_order and shape must all be there");
    return SOCK_OK;
}

/* Steps 1 and 2. */
sock_status sk_npy_header(sock_context *ctx, const char *source, const char *bytes, size_t size, sk_npy *a)
{
    *a = (sk_npy){.source = source};
    const unsigned char *u = (const unsigned char *)bytes;
    if (size < MAGIC_SIZE || memcmp(bytes, "\x93NUMPY", MAGIC_SIZE) != 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: not a .npy file: it does not begin with \\x93NUMPY", a->source);
    if (size < 12) return sk_fail(ctx, SOCK_EINPUT, "%s: the .npy file is cut off in its header", a->source);
    if (u[6] < 1 || u[6] > 3)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the .npy version is %u.%u; allowed: 1 to 3", a->source, u[6], u[7]);
    size_t start = u[6] == 1 ? 10 : 12, length = (size_t)u[8] | (size_t)u[9] << 8;
    if (u[6] > 1) length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (length > size - start)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the .npy file is cut off in its header: %zu bytes announced, %zu there",
                       a->source, length, size - start);
    SK_TRY(read_dictionary(ctx, (scanner){bytes + start, bytes + start + length}, a));
    a->start = start + length;
    a->bytes = u + a->start;
    a->size = size - a->start;
    return SOCK_OK;
}

/* Step 3. Two dimensions mean d = 1. */
static sock_status check_shape(sock_context *ctx, sk_npy *a)
{
    if (a->dimensions == 2) a->shape[a->dimensions++] = 1;
    if (a->dimensions != 3)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: the array has %zu dimensions; allowed: (paths, times, d) or (paths, times)", a->source,
                       a->dimensions);
    size_t wanted = a->width;
    for (size_t k = 0; k < 3; k++) {
        if (a->shape[k] == 0)
            return sk_fail(ctx, SOCK_EINPUT, "%s: the array of shape (%zu, %zu, %zu) is empty", a->source, a->shape[0],
                           a->shape[1], a->shape[2]);
        wanted = wanted > SIZE_MAX / a->shape[k] ? SIZE_MAX : wanted * a->shape[k];
    }
    if (wanted == a->size) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: shape (%zu, %zu, %zu) with %zu-byte numbers needs %s%zu bytes, and there are %zu: %s",
                   a->source, a->shape[0], a->shape[1], a->shape[2], a->width, wanted == SIZE_MAX ? "more than " : "",
                   wanted, a->size, wanted > a->size ? "the file is cut off" : "the file has trailing bytes");
}

/* ---- The numbers ---- */

double sk_npy_number(const sk_npy *a, const unsigned char *bytes, size_t index)
{
    const unsigned char *p = bytes + index * a->width;
    uint64_t bits = 0;
    for (size_t i = 0; i < a->width; i++) bits = bits << 8 | p[a->big_endian ? i : a->width - 1 - i];
    if (a->kind == 'u') return (double)bits;
    if (a->kind == 'i') {
        assert(a->width >= 1); /* set_type saw to it */
        unsigned spare = 64 - 8 * (unsigned)a->width;
        uint64_t sign = 1ull << (63 - spare);
        return bits & sign ? -(double)(((~bits) & (sign - 1)) + 1) : (double)bits;
    }
    if (a->width == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t short_bits = (uint32_t)bits;
    float value;
    memcpy(&value, &short_bits, sizeof value);
    return (double)value;
}

/* Place of (path j, time i, state k) in the file. */
static size_t index_of(const sk_npy *a, size_t j, size_t i, size_t k)
{
    const size_t *n = a->shape;
    return a->fortran ? (k * n[1] + i) * n[0] + j : (j * n[1] + i) * n[2] + k;
}

/* Step 4. */
static sock_status read_numbers(sock_context *ctx, const sk_npy *a, double dt, sk_rows *rows)
{
    size_t paths = a->shape[0], times = a->shape[1], d = a->shape[2];
    rows->count = paths * times; /* no more than the size of the file: check_shape */
    rows->t = sk_doubles(ctx, rows->count, 1);
    rows->x = sk_doubles(ctx, rows->count, d);
    rows->label = sk_alloc(ctx, rows->count, sizeof *rows->label);
    rows->line = sk_alloc(ctx, rows->count, sizeof *rows->line);
    if (!rows->t || !rows->x || !rows->label || !rows->line) return SOCK_ENOMEM;
    for (size_t j = 0, row = 0; j < paths; j++)
        for (size_t i = 0; i < times; i++, row++) {
            rows->t[row] = (double)i * dt;
            rows->label[row] = j;
            rows->line[row] = i;
            for (size_t k = 0; k < d; k++) rows->x[row * d + k] = sk_npy_number(a, a->bytes, index_of(a, j, i, k));
        }
    return SOCK_OK;
}

/* ---- Names and options ---- */

/* The option state holds d names, or is auto. */
sock_status sk_named_columns(sock_context *ctx, const char *source, size_t d, const sock_options *opts, char ***out)
{
    const char *list = sk_option_text(opts, "state");
    size_t count = 0;
    if (strcmp(list, "auto") == 0) return sk_state_names(ctx, source, d, NULL, out);
    sk_cursor at = {.p = list, .line = 1, .source = "the option state"};
    char **names = sk_alloc(ctx, d, sizeof *names);
    sock_status status = names ? SOCK_OK : SOCK_ENOMEM;
    for (bool last = false; status >= 0 && !last; count++) {
        sk_cell cell;
        status = sk_next_cell(ctx, &at, &cell, &last) < 0 ? SOCK_EUSAGE : SOCK_OK;
        if (status >= 0 && count < d && !(names[count] = sk_cell_copy(ctx, &cell))) status = SOCK_ENOMEM;
    }
    if (status >= 0 && count != d)
        status = sk_fail(ctx, SOCK_EUSAGE, "%s: state is '%s', %zu names; the array has %zu state columns", source,
                         list, count, d);
    if (status >= 0) status = sk_state_names(ctx, source, d, (const char *const *)names, out);
    for (size_t k = 0; names && k < d; k++) sk_free(names[k]);
    sk_free(names);
    return status;
}

static sock_status name_all(sock_context *ctx, const sk_npy *a, const sock_options *opts, sk_rows *rows)
{
    const char *time = sk_option_text(opts, "time");
    SK_TRY(sk_named_columns(ctx, a->source, a->shape[2], opts, &rows->state));
    rows->d = a->shape[2];
    SK_TRY(sk_number_names(ctx, a->shape[0], &rows->id));
    rows->trajectories = a->shape[0];
    rows->place = "point";
    rows->time = sk_strdup(ctx, strcmp(time, "auto") == 0 ? "t" : time);
    rows->source = sk_strdup(ctx, a->source);
    return rows->time && rows->source ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status check_options(sock_context *ctx, const char *source, const sock_options *opts)
{
    static const char *const columns[] = {"id", "group"};
    for (size_t i = 0; i < 2; i++) {
        const char *value = sk_option_text(opts, columns[i]);
        if (strcmp(value, "auto") != 0 && strcmp(value, "none") != 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s: %s is '%s', but a .npy array has no such column", source, columns[i],
                           value);
    }
    if (isnan(sk_option_number(opts, "dt")))
        return sk_fail(ctx, SOCK_EUSAGE, "%s: a .npy array holds no times: give the time step with --dt (option dt)",
                       source);
    return SOCK_OK;
}

sock_status sk_npy_rows(sock_context *ctx, const char *source, const char *bytes, size_t size, const sock_options *opts,
                        sk_rows *rows)
{
    sk_npy a;
    SK_TRY(sk_npy_header(ctx, source, bytes, size, &a));
    SK_TRY(check_shape(ctx, &a));
    SK_TRY(check_options(ctx, source, opts));
    SK_TRY(name_all(ctx, &a, opts, rows));
    return read_numbers(ctx, &a, sk_option_number(opts, "dt"), rows);
}

sock_status sk_npy_parse(sock_context *ctx, const char *source, const char *bytes, size_t size,
                         const sock_options *opts, sock_data **out)
{
    sk_rows rows = {0};
    sock_status status = sk_npy_rows(ctx, source, bytes, size, opts, &rows);
    if (status >= 0) status = sk_rows_finish(ctx, opts, &rows, out);
    sk_rows_clear(&rows);
    return status;
}
