/* arrowcells.h - columns of the Arrow C data interface, cell by cell, as the text of a CSV file. */
#ifndef SK_ARROWCELLS_H
#define SK_ARROWCELLS_H

#include "base/base.h"

/* Text that grows. */
typedef struct sk_text {
    char *bytes;
    size_t size, room;
} sk_text;
sock_status sk_text_put(sock_context *ctx, sk_text *text, const char *bytes, size_t count);
/* In quotes where it needs them. */
sock_status sk_text_put_cell(sock_context *ctx, sk_text *text, const char *bytes, size_t count);

/* SOCK_EINPUT for a column that breaks the rules of the interface where they can be seen: counts, pointers, kinds.
 * least: places it must have. */
sock_status sk_arrow_check_schema(sock_context *ctx, const struct ArrowSchema *schema, size_t column);
sock_status sk_arrow_check_array(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 int64_t least, bool dictionary);

/* The cell at a place of the array, its offset not counted. */
sock_status sk_arrow_put(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t place, sk_text *text);

#endif
