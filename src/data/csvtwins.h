/* csvtwins.h - signs of several trajectories in a file that names none: points at the same time, times that begin anew.
 */
#ifndef SK_CSVTWINS_H
#define SK_CSVTWINS_H

#include "csvcolumns.h"

/* The column that would tell the points of one time apart, were it the trajectory's name: no two rows share its value
 * and the time, and it has at least two rows for each value; of several the one with the fewest values. NULL: none.
 * rows: where they begin. */
sock_status sk_csv_teller(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                          const sk_column **teller);

/* The same of two columns together, in files of a dozen columns at most; teller[0] NULL: none. */
sock_status sk_csv_tellers(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                           const sk_column *teller[2]);

/* The column whose value is another wherever the time steps back from one row to the next, and nowhere else, and that
 * has no value twice: the time begins anew there, be it day and clock, or animal and clock. It has at least two rows
 * for each value; the first such column. NULL: none. *line: where the second value begins. */
sock_status sk_csv_restart(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns,
                           const sk_column **column, size_t *line);

#endif
