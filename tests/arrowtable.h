/* arrowtable.h - a small producer of Arrow streams: columns in plain memory, handed over in one or several tables, with
 * every release counted. What a test breaks, it breaks in `schema`, `column` and `array` before it hands them over. */
#ifndef SK_ARROWTABLE_H
#define SK_ARROWTABLE_H

#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARROW_COLUMNS = 8, ARROW_TABLES = 3 };

typedef struct arrow_table {
    size_t columns, tables, next;
    struct ArrowSchema schema, column[ARROW_COLUMNS], dictionary[ARROW_COLUMNS], *columns_of[ARROW_COLUMNS];
    struct ArrowArray table[ARROW_TABLES], array[ARROW_TABLES][ARROW_COLUMNS], values[ARROW_TABLES][ARROW_COLUMNS],
        *arrays_of[ARROW_TABLES][ARROW_COLUMNS];
    const void *buffer[ARROW_TABLES][ARROW_COLUMNS][5], *values_buffer[ARROW_TABLES][ARROW_COLUMNS][5], *none[1];
    int schemas_released, tables_released, streams_released; /* how often */
    int schema_error, next_error;                            /* what the producer answers */
    const char *said;
} arrow_table;

static inline void arrow_release_schema(struct ArrowSchema *schema)
{
    ((arrow_table *)schema->private_data)->schemas_released++;
    schema->release = NULL;
}

static inline void arrow_release_table(struct ArrowArray *array)
{
    ((arrow_table *)array->private_data)->tables_released++;
    array->release = NULL;
}

static inline void arrow_release_stream(struct ArrowArrayStream *stream)
{
    ((arrow_table *)stream->private_data)->streams_released++;
    stream->release = NULL;
}

static inline int arrow_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    arrow_table *t = stream->private_data;
    if (t->schema_error) return t->schema_error;
    *out = t->schema;
    return 0;
}

static inline int arrow_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    arrow_table *t = stream->private_data;
    if (t->next_error) return t->next_error;
    if (t->next < t->tables)
        *out = t->table[t->next++];
    else
        out->release = NULL;
    return 0;
}

static inline const char *arrow_said(struct ArrowArrayStream *stream)
{
    return ((arrow_table *)stream->private_data)->said;
}

/* A column of that format and name; the buffers of each table follow by arrow_buffers. */
static inline size_t arrow_column(arrow_table *t, const char *format, const char *name)
{
    const size_t k = t->columns++;
    t->column[k] = (struct ArrowSchema){.format = format, .name = name, .flags = ARROW_FLAG_NULLABLE};
    return k;
}

static inline void arrow_buffers(arrow_table *t, size_t table, size_t k, int64_t length, int64_t nulls, int64_t count,
                                 const void *first, const void *second, const void *third)
{
    const void *all[] = {first, second, third};
    memcpy(t->buffer[table][k], all, sizeof all);
    t->array[table][k] =
        (struct ArrowArray){.length = length, .null_count = nulls, .n_buffers = count, .buffers = t->buffer[table][k]};
}

static inline void arrow_finish(arrow_table *t, size_t tables, const int64_t *rows)
{
    t->tables = tables;
    for (size_t k = 0; k < ARROW_COLUMNS; k++) t->columns_of[k] = &t->column[k];
    t->schema = (struct ArrowSchema){.format = "+s",
                                     .n_children = (int64_t)t->columns,
                                     .children = t->columns_of,
                                     .release = arrow_release_schema,
                                     .private_data = t};
    for (size_t i = 0; i < tables; i++) {
        for (size_t k = 0; k < ARROW_COLUMNS; k++) t->arrays_of[i][k] = &t->array[i][k];
        t->table[i] = (struct ArrowArray){.length = rows[i],
                                          .n_buffers = 1,
                                          .n_children = (int64_t)t->columns,
                                          .buffers = t->none,
                                          .children = t->arrays_of[i],
                                          .release = arrow_release_table,
                                          .private_data = t};
    }
}

static inline struct ArrowArrayStream arrow_stream(arrow_table *t)
{
    return (struct ArrowArrayStream){arrow_get_schema, arrow_get_next, arrow_said, arrow_release_stream, t};
}

#endif
