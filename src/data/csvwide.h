/* csvwide.h - CSV in wide form. With a time column every other column is a trajectory; without one every row is a
 * trajectory, and the names of the columns hold the times. */
#ifndef SK_CSVWIDE_H
#define SK_CSVWIDE_H

#include "csvcolumns.h"
#include "data.h"

/* Reads the rows at the cursor, behind the header `columns`, into `rows`. *dated: the times were dates, in seconds.
 * Options: id, time, state, input. Whatever happens, the caller clears rows. */
sock_status sk_wide_read(sock_context *ctx, sk_cursor *at, const sock_options *opts, sk_columns *columns, sk_rows *rows,
                         bool *dated);

/* What a header without a time column looks like: a sentence to add to the refusal, or "". */
const char *sk_wide_hint(const sk_columns *columns);

/* Whether the open columns are the twelve months. */
bool sk_wide_months(const sk_columns *columns);

#endif
