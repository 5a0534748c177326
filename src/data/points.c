/* points.c - points of the state space from a CSV file, for evaluation: columns are taken by name, the rest is ignored.
 */
#include "base/safefile.h"
#include "csvcolumns.h"
#include "readers.h"

#include <math.h>
#include <string.h>

typedef struct points {
    size_t d, count, capacity;
    double *x;
    bool *logged;  /* of each coordinate: the file has NAME for log(NAME) */
    size_t *place; /* for each column of the file: which coordinate it is; d for none */
} points;

static sock_status find_columns(sock_context *ctx, const char *path, const sk_columns *columns,
                                const char *const *names, points *p)
{
    p->place = sk_alloc(ctx, columns->count, sizeof *p->place);
    p->logged = sk_alloc(ctx, p->d, sizeof *p->logged);
    if (!p->place || !p->logged) return SOCK_ENOMEM;
    for (size_t i = 0; i < columns->count; i++) p->place[i] = p->d;
    for (size_t k = 0; k < p->d; k++) {
        size_t i = 0, from, length;
        while (i < columns->count && strcmp(columns->column[i].name, names[k]) != 0) i++;
        p->logged[k] = i == columns->count && sk_log_name(names[k], &from, &length);
        for (size_t c = 0; p->logged[k] && c < columns->count; c++)
            if (strlen(columns->column[c].name) == length &&
                strncmp(columns->column[c].name, names[k] + from, length) == 0)
                i = c;
        if (i == columns->count)
            return sk_fail(ctx, SOCK_EINPUT, "%s: there is no column '%s', which the model's state needs", path,
                           names[k]);
        p->place[i] = k;
    }
    return SOCK_OK;
}

static sock_status read_row(sock_context *ctx, sk_cursor *at, const sk_columns *columns, points *p)
{
    size_t line = at->line, cells = 0;
    bool last = false;
    SK_TRY(sk_grow(ctx, &p->x, &p->capacity, (p->count + 1) * p->d, sizeof *p->x));
    while (!last) {
        sk_cell cell;
        double value = 0;
        SK_TRY(sk_next_cell(ctx, at, &cell, &last));
        size_t i = cells++;
        if (i >= columns->count || p->place[i] == p->d) continue;
        if (sk_cell_value(at, &cell, &value) != SK_CELL_NUMBER)
            return sk_fail(ctx, SOCK_EINPUT, "%s: line %zu, column %s: '%.*s' is not a finite number", at->source, line,
                           columns->column[i].name, (int)SK_MIN(cell.length, 60), cell.text);
        if (p->logged[p->place[i]] && !(value > 0))
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: line %zu, column %s: '%.*s' has no logarithm, which the model's state is", at->source,
                           line, columns->column[i].name, (int)SK_MIN(cell.length, 60), cell.text);
        p->x[p->count * p->d + p->place[i]] = p->logged[p->place[i]] ? log(value) : value;
    }
    if (cells != columns->count)
        return sk_fail(ctx, SOCK_EINPUT, "%s: line %zu has %zu cells; the header has %zu", at->source, line, cells,
                       columns->count);
    p->count++;
    return SOCK_OK;
}

static sock_status read_points(sock_context *ctx, const char *path, const char *text, const char *const *names,
                               points *p)
{
    sk_cursor at = {.p = text, .line = 1, .source = path};
    sk_csv_begin(&at);
    sk_columns columns = {0};
    sock_status status = SOCK_OK;
    if (!sk_next_row(&at)) {
        status = sk_fail(ctx, SOCK_EINPUT, "%s: the file is empty; a header with the state's columns is needed", path);
        goto out;
    }
    SK_GO(sk_columns_read(ctx, &at, &columns));
    SK_GO(find_columns(ctx, path, &columns, names, p));
    while (sk_next_row(&at)) SK_GO(read_row(ctx, &at, &columns, p));
out:
    sk_columns_clear(&columns);
    return status;
}

sock_status sk_points_parse(sock_context *ctx, const char *source, const char *text, size_t size, size_t d,
                            const char *const *names, size_t *count, double **x)
{
    points p = {.d = d};
    sock_status status = strlen(text) == size
                             ? read_points(ctx, source, text, names, &p)
                             : sk_fail(ctx, SOCK_EINPUT, "%s: not a text file: it holds a 0 byte", source);
    sk_free(p.place);
    sk_free(p.logged);
    if (status < 0) {
        sk_free(p.x);
        return status;
    }
    *count = p.count;
    *x = p.x;
    return SOCK_OK;
}

sock_status sock_points_read(sock_context *ctx, const char *path, size_t d, const char *const *names, size_t *count,
                             double **x)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || !d || !names || !count || !x)
        return sk_fail(ctx, SOCK_EUSAGE, "path, names and outputs must not be NULL, d must be at least 1");
    char *text = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, path, &text, &size));
    const sock_status status = sk_points_parse(ctx, path, text, size, d, names, count, x);
    sk_free(text);
    return status;
}

void sock_array_free(double *array) { sk_free(array); }
