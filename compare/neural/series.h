/* series.h - trajectories as the network sees them: its own time, which Euler nodes a point lies between, and the
 * control path at the steps. */
#ifndef NN_SERIES_H
#define NN_SERIES_H

#include "base/base.h"
#include "neural.h"

/* Where a point in time lies between two nodes: yhat = (1 - weight) yhat[node] + weight yhat[node + 1]. */
typedef struct nn_place {
    size_t node;
    double weight;
} nn_place;

/* The network's time of the points of a trajectory: times in the data's clock, of which there are n. */
void nn_network_times(nn_times times, double span, size_t n, const double *t, double *out);

/* Steps up to the time `end`, at least one; and the place of a time s <= end among them. */
size_t nn_steps_until(double end, double step);
nn_place nn_place_of(double s, double step, size_t steps);

/* X = (s, y) at the times at[0 .. count-1] into out (count rows of d + 1, `stride` doubles apart): the cubic Hermite
 * spline through the n points (s, y), n >= 2, whose slope at a point is that of the interval before it (of the first
 * interval at the first point). */
void nn_spline(size_t d, size_t n, const double *s, const double *y, size_t count, const double *at, size_t stride,
               double *out);

/* The trajectories of a data set that have two points and more. */
typedef struct nn_series {
    size_t d, count, steps;
    size_t *first;   /* count + 1: points of trajectory j */
    nn_place *place; /* of each point */
    double *y;       /* points x d */
    double *control; /* count x steps x (d + 1), or NULL */
    double span;     /* of the longest trajectory in the data's clock */
} nn_series;

/* controlled: the control path is wanted. SOCK_EINPUT when there is no trajectory of two points. */
sock_status nn_series_make(sock_context *ctx, const nn_settings *settings, bool controlled, const sock_data *data,
                           nn_series *out);
void nn_series_clear(nn_series *series);

#endif
