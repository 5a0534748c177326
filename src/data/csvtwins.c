/* csvtwins.c - see csvtwins.h. One pass over the text for each column: it is asked only before a refusal. */
#include "csvtwins.h"

#include "labels.h"

#include <string.h>

/* What one pass counts. */
typedef struct pass {
    sk_labels values, pairs;
    char *key; /* value and time, with a line end between */
    size_t capacity, rows;
} pass;

static void pass_clear(pass *p)
{
    sk_labels_clear(&p->values);
    sk_labels_clear(&p->pairs);
    sk_free(p->key);
}

static sock_status read_pair(sock_context *ctx, sk_cursor *at, const sk_columns *columns, size_t asked, pass *p)
{
    sk_cell cell, value = {0}, time = {0};
    size_t label;
    bool last = false, is_new;
    for (size_t c = 0; !last; c++) {
        SK_TRY(sk_next_cell(ctx, at, &cell, &last));
        if (c == asked) value = cell;
        if (c < columns->count && columns->column[c].role == SK_ROLE_TIME) time = cell;
    }
    SK_TRY(sk_grow(ctx, &p->key, &p->capacity, value.length + time.length + 1, 1));
    if (value.length) memcpy(p->key, value.text, value.length);
    p->key[value.length] = '\n';
    if (time.length) memcpy(p->key + value.length + 1, time.text, time.length);
    SK_TRY(sk_labels_find(ctx, &p->values, p->key, value.length, &label, &is_new));
    SK_TRY(sk_labels_find(ctx, &p->pairs, p->key, value.length + time.length + 1, &label, &is_new));
    p->rows++;
    return SOCK_OK;
}

/* *values: how many the column has, where it tells; else 0. */
static sock_status try_column(sock_context *ctx, sk_cursor at, const sk_columns *columns, size_t asked, size_t *values)
{
    pass p = {0};
    sock_status status = SOCK_OK;
    while (status >= 0 && sk_next_row(&at)) status = read_pair(ctx, &at, columns, asked, &p);
    *values = p.pairs.count == p.rows && 2 * p.values.count <= p.rows ? p.values.count : 0;
    pass_clear(&p);
    return status;
}

sock_status sk_csv_teller(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns, const sk_column **teller)
{
    size_t fewest = 0;
    *teller = NULL;
    for (size_t c = 0; c < columns->count; c++) {
        size_t values;
        if (columns->column[c].role == SK_ROLE_TIME) continue;
        SK_TRY(try_column(ctx, *rows, columns, c, &values));
        if (values < 2 || (fewest && values >= fewest)) continue;
        fewest = values;
        *teller = &columns->column[c];
    }
    return SOCK_OK;
}
