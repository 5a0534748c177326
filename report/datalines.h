/* datalines.h - the data's trajectories as thin lines over time. */
#ifndef REPORT_DATALINES_H
#define REPORT_DATALINES_H

#include "axes.h"
#include "sock.h"

/* How many of the trajectories are drawn, evenly chosen; and the i-th of them. */
size_t lines_shown(const sock_data *data);
size_t lines_index(const sock_data *data, size_t i);

/* One trajectory's state k, or all that are shown. Long ones are thinned, so that a picture holds some 20000 points;
 * the last point is kept. 0 when memory ran out. */
int lines_one(const panel *p, const sock_data *data, size_t k, size_t trajectory, const char *klass);
int lines_draw(const panel *p, const sock_data *data, size_t k, const char *klass);

/* Which point of a trajectory is drawn: every so many-th. */
size_t lines_every(const sock_data *data, size_t length);

#endif
