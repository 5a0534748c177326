/* resultrows.c - results as CSV and back. A cell is quoted when it holds a comma, a quote or the end of a line;
 * reading, an empty cell is null, one that is a finite number from its first to its last sign is a number, the rest is
 * text. What cannot be read as it stands (another header, a row of another length, a quote that is never closed, a zero
 * byte, text that is not UTF-8) is refused whole: rows that were dropped here would be lost at the next write. */
#define _POSIX_C_SOURCE 200809L
#include "experiments/resultrows.h"
#include "report/memtext.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *exp_columns(size_t count, const char *const *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_string(names[i]));
    return list;
}

int exp_is_named(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; p && *p; p += *p == ',') {
        size_t word = strcspn(p, ",");
        if (word == length && strncmp(p, name, length) == 0) return 1;
        p += word;
    }
    return 0;
}

/* ---- Writing ---- */

static void write_cell(FILE *stream, const json_t *cell)
{
    if (json_is_string(cell))
        memtext_csv(stream, json_string_value(cell));
    else if (json_is_boolean(cell))
        fputs(json_is_true(cell) ? "yes" : "no", stream);
    else if (json_is_integer(cell))
        fprintf(stream, "%lld", (long long)json_integer_value(cell));
    else if (json_is_real(cell) && isfinite(json_real_value(cell)))
        fprintf(stream, "%.17g", json_real_value(cell));
}

static void write_row(FILE *stream, const json_t *row)
{
    for (size_t j = 0; j < json_array_size(row); j++) {
        if (j) fputc(',', stream);
        write_cell(stream, json_array_get(row, j));
    }
    fputc('\n', stream);
}

sock_status exp_rows_write(sock_context *ctx, const char *path, const json_t *columns, const json_t *rows)
{
    memtext table;
    FILE *stream = memtext_open(&table);
    if (!stream) return SOCK_ENOMEM;
    write_row(stream, columns);
    for (size_t i = 0; i < json_array_size(rows); i++) write_row(stream, json_array_get(rows, i));
    if (memtext_close(stream, &table) != 0) return SOCK_ENOMEM;
    sock_status status = sock_write_file(ctx, path, table.text, table.size);
    free(table.text);
    return status;
}

/* ---- Reading ---- */

static json_t *cell_of(const char *text)
{
    char *end;
    if (!*text) return json_null();
    double number = strtod(text, &end);
    if (*end || !isfinite(number)) return json_string(text);
    return number == floor(number) && fabs(number) < 1e15 && !strpbrk(text, ".eE") ? json_integer((json_int_t)number)
                                                                                   : json_real(number);
}

/* A text that is read: where the reader stands, and what is wrong (empty: nothing so far). */
typedef struct reading {
    char *at;
    size_t line; /* of at, from 1 */
    char *fault; /* EXP_FAULT bytes */
} reading;

__attribute__((format(printf, 2, 3))) static void say_fault(reading *r, const char *format, ...)
{
    va_list args;
    if (r->fault[0]) return;
    va_start(args, format);
    vsnprintf(r->fault, EXP_FAULT, format, args);
    va_end(args);
}

/* One cell from *at on, unquoted in place; whether another follows in its row. */
static bool read_cell(reading *r, char **text)
{
    const size_t opened = r->line;
    char *p = r->at, *out = p;
    bool quoted = false;
    *text = p;
    for (; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
        r->line += *p == '\n';
        if (*p == '"' && quoted && p[1] == '"')
            *out++ = *p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (*p != '\r')
            *out++ = *p;
    }
    const bool more = *p == ',';
    r->line += *p == '\n';
    r->at = *p ? p + 1 : p;
    *out = 0;
    if (quoted) say_fault(r, "line %zu: a quote is opened and never closed", opened);
    return more;
}

static json_t *read_row(reading *r)
{
    json_t *row = json_array();
    const size_t line = r->line;
    char *text;
    bool more;
    do {
        more = read_cell(r, &text);
        if (json_array_append_new(row, cell_of(text)) != 0) /* or there is no memory */
            say_fault(r, "line %zu, column %zu: not UTF-8", line, json_array_size(row) + 1);
    } while (more && !r->fault[0]);
    return row;
}

/* The whole file as text with a 0 behind it, *cut when there is one in it too; NULL with errno. */
static char *read_text(const char *path, bool *cut)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    if (!file) return NULL;
    errno = 0;
    ssize_t length = getdelim(&text, &size, 0, file);
    int reason = errno;
    bool failed = ferror(file) || reason == ENOMEM || !text;
    fclose(file);
    if (!failed && length < 0) text[0] = 0; /* an empty file */
    if (!failed) *cut = length > 0 && !text[length - 1];
    if (!failed) return text;
    free(text);
    errno = reason ? reason : EIO;
    return NULL;
}

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

/* Is the header the columns, or at least the first `least` of them? */
static void check_header(reading *r, const json_t *header, const json_t *columns, size_t least)
{
    const size_t count = json_array_size(header), wanted = json_array_size(columns);
    for (size_t i = 0; i < least_of(count, wanted); i++)
        if (!json_equal(json_array_get(header, i), json_array_get(columns, i)))
            say_fault(r, "line 1, column %zu: '%.60s', where this experiment has '%s'", i + 1, exp_text_at(header, i),
                      exp_text_at(columns, i));
    if (count > wanted) say_fault(r, "line 1, column %zu: this experiment has %zu columns", wanted + 1, wanted);
    if (count < least)
        say_fault(r, "line 1: %zu columns; this experiment has '%s' next", count, exp_text_at(columns, count));
}

exp_read exp_rows_parse(char *text, const json_t *columns, size_t least, char *fault, json_t **rows)
{
    char own[EXP_FAULT];
    reading r = {text, 1, fault ? fault : own};
    r.fault[0] = 0;
    json_t *list = json_array(), *header = read_row(&r);
    const size_t count = json_array_size(header);
    check_header(&r, header, columns, least);
    while (!r.fault[0] && *r.at) {
        const size_t line = r.line;
        json_t *row = read_row(&r);
        const size_t cells = json_array_size(row);
        if (cells != count)
            say_fault(&r, "line %zu, column %zu: %zu cells; the header has %zu", line, least_of(cells, count) + 1,
                      cells, count);
        for (size_t i = count; i < json_array_size(columns); i++) json_array_append_new(row, json_null());
        json_array_append_new(list, row);
    }
    json_decref(header);
    if (!r.fault[0])
        *rows = list;
    else
        json_decref(list);
    return r.fault[0] ? EXP_READ_FOREIGN : EXP_READ_DONE;
}

static size_t line_ends(const char *text)
{
    size_t count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

exp_read exp_rows_read(const char *path, const json_t *columns, size_t least, char *fault, json_t **rows)
{
    bool cut = false;
    if (fault) fault[0] = 0;
    char *text = read_text(path, &cut);
    if (!text && errno == ENOMEM) return EXP_READ_NO_MEMORY;
    if (!text) return errno == ENOENT ? EXP_READ_MISSING : EXP_READ_FAILED;
    exp_read result = cut ? EXP_READ_FOREIGN : exp_rows_parse(text, columns, least, fault, rows);
    if (cut && fault) snprintf(fault, EXP_FAULT, "line %zu: a zero byte", line_ends(text) + 1);
    free(text);
    return result;
}

sock_status exp_rows_resume(const char *path, const json_t *columns, size_t least,
                            void (*say)(void *user, const char *line), void *user, json_t **rows)
{
    char line[400 + EXP_FAULT], fault[EXP_FAULT] = "cannot be read";
    exp_read read = path ? exp_rows_read(path, columns, least, fault, rows) : EXP_READ_MISSING;
    if (read == EXP_READ_MISSING) *rows = json_array();
    if (read == EXP_READ_MISSING || read == EXP_READ_DONE) return SOCK_OK;
    if (read == EXP_READ_NO_MEMORY) return SOCK_ENOMEM;
    snprintf(line, sizeof line, "%.300s: %s%s", path, read == EXP_READ_FOREIGN ? fault : "cannot be read",
             read == EXP_READ_FOREIGN ? "; mend it, or give another place" : "");
    if (say) say(user, line);
    return read == EXP_READ_FOREIGN ? SOCK_EINPUT : SOCK_EIO;
}

/* ---- Cells and quantiles ---- */

double exp_number_at(const json_t *row, size_t column)
{
    const json_t *cell = json_array_get(row, column);
    return json_is_number(cell) ? json_number_value(cell) : (double)NAN;
}

const char *exp_text_at(const json_t *row, size_t column)
{
    const char *text = json_string_value(json_array_get(row, column));
    return text ? text : "";
}

json_t *exp_quantiles(const json_t *rows, size_t column)
{
    static const double at[] = {0.5, 0.1, 0.9};
    size_t count = json_array_size(rows);
    double *values = malloc((count ? count : 1) * sizeof *values);
    if (!values) return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) values[i] = exp_number_at(json_array_get(rows, i), column);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double value = exp_quantile(count, values, at[i]);
        json_array_append_new(list, isfinite(value) ? json_real(value) : json_null());
    }
    free(values);
    return list;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double exp_quantile(size_t count, double *values, double q)
{
    if (count == 0) return (double)NAN;
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i])) values[i] = (double)INFINITY;
    qsort(values, count, sizeof *values, compare);
    double place = q * (double)(count - 1), below = floor(place);
    size_t i = (size_t)below;
    if (i + 1 >= count || place == below) return values[i];
    return isinf(values[i + 1]) ? values[i + 1] : values[i] + (place - below) * (values[i + 1] - values[i]);
}
