/* csvcolumns.h - the header of a CSV file, and what each column is for. */
#ifndef SK_CSVCOLUMNS_H
#define SK_CSVCOLUMNS_H

#include "base/options.h"
#include "csvcells.h"
#include "dates.h"

typedef enum sk_role {
    SK_ROLE_OPEN,
    SK_ROLE_IGNORED,
    SK_ROLE_ID,
    SK_ROLE_TIME,
    SK_ROLE_GROUP,
    SK_ROLE_STATE,
    SK_ROLE_INPUT
} sk_role;

enum { SK_ID_COLUMNS = 4 }; /* that may name a trajectory together */

typedef struct sk_column {
    char *name;
    sk_role role;
    bool truths;     /* its first cell is TRUE or FALSE: 1 and 0 */
    bool logged;     /* SK_ROLE_STATE: its logarithm is the state, which was named log(NAME) */
    size_t state;    /* SK_ROLE_STATE: which one; SK_ROLE_INPUT: the same, counted after the states; SK_ROLE_ID: which
                        part of the name */
    const char *why; /* SK_ROLE_IGNORED: static text */
} sk_column;

typedef struct sk_columns {
    size_t count, capacity;
    sk_column *column;
    size_t d;      /* state columns and inputs */
    size_t inputs; /* how many of them are inputs */
    size_t ids;    /* how many name a trajectory together */
    bool has_id, has_group;
    bool timeless;        /* rows of a trajectory follow one another at the step dt */
    bool dated;           /* the time column holds dates */
    sk_day_order order;   /* of them, where they have slashes */
    bool id_within_group; /* a trajectory is (group, id): the id column starts anew in each group */
} sk_columns;

/* Reads the header at the cursor and leaves the cursor behind it. */
sock_status sk_columns_read(sock_context *ctx, sk_cursor *at, sk_columns *columns);

/* Gives every column its role, from the options, the names, and (for state columns that nobody named) the first cell
 * of each column that is not missing, searched from `rows` on. */
sock_status sk_columns_assign(sock_context *ctx, const sk_cursor *rows, const sock_options *opts, sk_columns *columns);

/* Wide form: the id, the time (*timeless: there is none) and the inputs get their roles, all else stays open. */
sock_status sk_columns_assign_wide(sock_context *ctx, const sk_cursor *rows, const sock_options *opts,
                                   sk_columns *columns, bool *timeless);

/* Whether the first cell of column c that is not missing, from `at` on, holds text. */
sock_status sk_column_is_text(sock_context *ctx, sk_cursor at, size_t c, bool *text);

/* Whether a column of this name would be taken for the time. */
bool sk_is_time_name(const char *name);

/* Whether a column called `finer` would be a part of the time beside `coarser`: quarter and year, hour and day. */
bool sk_is_part_of(const char *finer, const char *coarser);

void sk_columns_clear(sk_columns *columns);

#endif
