/* datalook.h - what figures need to know of data: ranges, quantiles, starts, time steps. Guest code: it sees
 * trajectories through sock.h. */
#ifndef REPORT_DATALOOK_H
#define REPORT_DATALOOK_H

#include "sock.h"

/* All values of coordinate k, sorted (freed with free()); *count of them. NULL when out of memory. */
double *look_sorted(const sock_data *data, size_t k, size_t *count);

/* Whether d numbers are finite. */
int look_finite(size_t d, const double *x);

/* At most `most` points of the data (d numbers each), evenly chosen among those with finite numbers; freed with free().
 * NULL when out of memory. */
double *look_points(const sock_data *data, size_t most, size_t *count);

/* The quantile of sorted values, by straight lines between them; NaN when there are none. 0 <= share <= 1. */
double look_quantile(size_t count, const double *sorted, double share);
void look_sort(size_t count, double *values);

/* Standard deviations of a normal law on each side that hold 90 % of it: all bars, bands and limits are of 90 %. */
#define LOOK_NINETY 1.6448536269514722

/* The name of the time column, "time" where there is none, with its unit where times were dates: "t [day]". Freed with
 * free(); NULL when out of memory. */
char *look_time_name(sock_context *ctx, const sock_data *data);

/* The same for an axis: of times that were dates "t [date, day]" (datemarks.h). */
char *look_time_axis(sock_context *ctx, const sock_data *data);

typedef struct look_times {
    double first, last, step; /* of all trajectories; step: the median time between neighbours */
} look_times;

/* SOCK_OK or SOCK_ENOMEM. */
sock_status look_time(const sock_data *data, look_times *out);

/* Where simulated paths begin so that they can be compared with the data. */
enum { LOOK_STARTS_MOST = 3 };
typedef struct look_starts {
    size_t count;
    size_t trajectory[LOOK_STARTS_MOST]; /* one that begins there */
    size_t sharing;                      /* trajectories that share the start, when count is 1; else 1 */
} look_starts;

/* The start that most trajectories share, when a tenth of them do (and not fewer than 3). Where starts differ: in one
 * dimension the trajectories at 10, 50 and 90 % of the starts; in more, the one whose distance from the median start is
 * the median distance (coordinates in units of their spread): a typical start, where the median itself may be a point
 * of rest that no trajectory leaves. SOCK_OK or SOCK_ENOMEM. */
sock_status look_start(const sock_data *data, look_starts *out);

#endif
