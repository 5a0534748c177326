/* csvtwins.h - points at the same time in a file that names no trajectories. */
#ifndef SK_CSVTWINS_H
#define SK_CSVTWINS_H

#include "csvcolumns.h"

/* The column that would tell the points of one time apart, were it the trajectory's name: no two rows share its value
 * and the time, and it has at least two rows for each value; of several the one with the fewest values. NULL: none.
 * rows: where they begin. */
sock_status sk_csv_teller(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                          const sk_column **teller);

#endif
