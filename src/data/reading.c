/* reading.c - what is told of how several data sets were read: sk_reading of readers.h. */
#include "readers.h"

#include <string.h>

static sock_status add_ignored(sock_context *ctx, const sk_ignored *column, sk_reading *to)
{
    for (size_t i = 0; i < to->ignored_count; i++)
        if (strcmp(to->ignored[i].name, column->name) == 0) return SOCK_OK;
    size_t room = to->ignored_count;
    SK_TRY(sk_grow(ctx, &to->ignored, &room, to->ignored_count + 1, sizeof *to->ignored));
    char *name = sk_strdup(ctx, column->name);
    if (!name) return SOCK_ENOMEM;
    to->ignored[to->ignored_count++] = (sk_ignored){name, column->why};
    return SOCK_OK;
}

static sock_status begin(sock_context *ctx, const sock_data *data, sk_reading *to)
{
    const size_t columns = data->d + data->inputs - data->timed;
    char *time = sk_strdup(ctx, data->time);
    size_t *missing_in = sk_alloc(ctx, columns + 1, sizeof *missing_in);
    if (!time || !missing_in) {
        sk_free(time);
        sk_free(missing_in);
        return SOCK_ENOMEM;
    }
    to->columns = columns;
    to->time = time;
    to->unit = data->unit;
    to->missing_in = missing_in;
    return SOCK_OK;
}

sock_status sk_reading_add(sock_context *ctx, const sock_data *data, sk_reading *to)
{
    if (!to->time) SK_TRY(begin(ctx, data, to));
    to->rows += data->rows_read;
    to->missing += data->missing;
    to->thinned += data->thinned;
    if (data->unsorted && !to->unsorted) to->unsorted_at = data->unsorted_at;
    to->unsorted += data->unsorted;
    for (size_t k = 0; data->missing_in && k <= to->columns; k++) to->missing_in[k] += data->missing_in[k];
    for (size_t i = 0; i < data->ignored_count; i++) SK_TRY(add_ignored(ctx, &data->ignored[i], to));
    return SOCK_OK;
}

void sk_reading_clear(sk_reading *r)
{
    for (size_t i = 0; i < r->ignored_count; i++) sk_free(r->ignored[i].name);
    sk_free(r->ignored);
    sk_free(r->missing_in);
    sk_free(r->time);
    *r = (sk_reading){0};
}
