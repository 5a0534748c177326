/* csvtwins.c - see csvtwins.h. One pass over the text for each column: it is asked only before a refusal. */
#include "csvtwins.h"

#include "dates.h"
#include "labels.h"

#include <math.h>
#include <string.h>

/* What one pass counts: values of the columns asked about, and these with the time and what names the trajectory. */
typedef struct pass {
    sk_labels values, pairs;
    char *value, *pair;
    size_t value_capacity, pair_capacity, rows;
} pass;

static void pass_clear(pass *p)
{
    sk_labels_clear(&p->values);
    sk_labels_clear(&p->pairs);
    sk_free(p->value);
    sk_free(p->pair);
}

/* The cell and a line end behind `length` bytes of a key. */
static sock_status put_cell(sock_context *ctx, const sk_cell *cell, char **key, size_t *capacity, size_t *length)
{
    SK_TRY(sk_grow(ctx, key, capacity, *length + cell->length + 1, 1));
    if (cell->length) memcpy(*key + *length, cell->text, cell->length);
    *length += cell->length;
    (*key)[(*length)++] = '\n';
    return SOCK_OK;
}

static sock_status read_pair(sock_context *ctx, sk_cursor *at, const sk_columns *columns, const size_t asked[2],
                             pass *p)
{
    size_t label, value = 0, pair = 0;
    bool last = false, is_new;
    for (size_t c = 0; !last; c++) {
        sk_cell cell;
        SK_TRY(sk_next_cell(ctx, at, &cell, &last));
        const bool is_asked = c == asked[0] || c == asked[1];
        const sk_role role = c < columns->count ? columns->column[c].role : SK_ROLE_IGNORED;
        if (is_asked) SK_TRY(put_cell(ctx, &cell, &p->value, &p->value_capacity, &value));
        if (is_asked || role == SK_ROLE_TIME || role == SK_ROLE_ID)
            SK_TRY(put_cell(ctx, &cell, &p->pair, &p->pair_capacity, &pair));
    }
    SK_TRY(sk_labels_find(ctx, &p->values, value ? p->value : "", value, &label, &is_new));
    SK_TRY(sk_labels_find(ctx, &p->pairs, pair ? p->pair : "", pair, &label, &is_new));
    p->rows++;
    return SOCK_OK;
}

/* *values: how many the columns have, where they tell; else 0. asked: one, twice, or two. */
static sock_status try_columns(sock_context *ctx, sk_cursor at, const sk_columns *columns, const size_t asked[2],
                               size_t *values)
{
    pass p = {0};
    sock_status status = SOCK_OK;
    while (status >= 0 && sk_next_row(&at)) status = read_pair(ctx, &at, columns, asked, &p);
    *values = p.pairs.count == p.rows && 2 * p.values.count <= p.rows ? p.values.count : 0;
    pass_clear(&p);
    return status;
}

static bool may_tell(const sk_column *column) { return column->role != SK_ROLE_TIME && column->role != SK_ROLE_ID; }

sock_status sk_csv_teller(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns, const sk_column **teller)
{
    size_t fewest = 0;
    *teller = NULL;
    for (size_t c = 0; c < columns->count; c++) {
        size_t values;
        if (!may_tell(&columns->column[c])) continue;
        SK_TRY(try_columns(ctx, *rows, columns, (const size_t[]){c, c}, &values));
        if (values < 2 || (fewest && values >= fewest)) continue;
        fewest = values;
        *teller = &columns->column[c];
    }
    return SOCK_OK;
}

sock_status sk_csv_tellers(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                           const sk_column *teller[2])
{
    enum { MOST = 12 }; /* columns, 66 passes: speed only */
    size_t fewest = 0;
    teller[0] = teller[1] = NULL;
    for (size_t c = 0; columns->count <= MOST && c < columns->count; c++)
        for (size_t other = c + 1; other < columns->count; other++) {
            size_t values;
            if (!may_tell(&columns->column[c]) || !may_tell(&columns->column[other])) continue;
            SK_TRY(try_columns(ctx, *rows, columns, (const size_t[]){c, other}, &values));
            if (values < 2 || (fewest && values >= fewest)) continue;
            fewest = values;
            teller[0] = &columns->column[c];
            teller[1] = &columns->column[other];
        }
    return SOCK_OK;
}

/* The cell of one column and the time of its row; the cursor goes on to the next row. */
static sock_status read_timed(sock_context *ctx, sk_cursor *at, const sk_columns *columns, size_t asked, sk_cell *cell,
                              double *time)
{
    sk_cell each;
    bool last = false;
    *cell = (sk_cell){.text = ""};
    *time = (double)NAN;
    for (size_t c = 0; !last; c++) {
        SK_TRY(sk_next_cell(ctx, at, &each, &last));
        if (c == asked) *cell = each;
        if (c >= columns->count || columns->column[c].role != SK_ROLE_TIME) continue;
        if (!columns->dated || !sk_parse_date(each.text, each.length, columns->order, time))
            sk_cell_value(at, &each, time);
    }
    return SOCK_OK;
}

/* *parts: in how many the column cuts the file where, and only where, the time steps back; 0: it does not. */
static sock_status try_restart(sock_context *ctx, sk_cursor at, const sk_columns *columns, size_t asked, size_t *parts,
                               size_t *line)
{
    sk_labels values = {0};
    sock_status status = SOCK_OK;
    size_t row = 0, runs = 0, label, before = 0;
    double time, last_time = (double)NAN;
    for (bool fits = true; fits && sk_next_row(&at); row++) {
        const size_t here = at.line;
        bool is_new;
        sk_cell cell;
        SK_GO(read_timed(ctx, &at, columns, asked, &cell, &time));
        SK_GO(sk_labels_find(ctx, &values, cell.text, cell.length, &label, &is_new));
        const bool changed = row == 0 || label != before;
        fits = changed == (row == 0 || time < last_time) && is_new == changed;
        if (changed && ++runs == 2) *line = here;
        if (!fits) runs = 0;
        before = label;
        last_time = time;
    }
    *parts = 2 * runs <= row ? runs : 0;
out:
    sk_labels_clear(&values);
    return status;
}

sock_status sk_csv_restart(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                           const sk_column **column, size_t *line)
{
    size_t parts = 0;
    *column = NULL;
    for (size_t c = 0; parts < 2 && c < columns->count; c++) {
        if (columns->column[c].role == SK_ROLE_TIME) continue;
        SK_TRY(try_restart(ctx, *rows, columns, c, &parts, line));
        if (parts > 1) *column = &columns->column[c];
    }
    return SOCK_OK;
}
