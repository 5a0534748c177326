/* datalines.c - see datalines.h. */
#include "datalines.h"

#include <stdlib.h>

enum { SHOWN_MOST = 200, POINTS_MOST = 300, POINTS_ALL = 20000 };

size_t lines_shown(const sock_data *data)
{
    const size_t trajectories = sock_data_trajectories(data);
    return trajectories < SHOWN_MOST ? trajectories : SHOWN_MOST;
}

size_t lines_index(const sock_data *data, size_t i) { return i * sock_data_trajectories(data) / lines_shown(data); }

size_t lines_every(const sock_data *data, size_t length)
{
    const size_t share = POINTS_ALL / (lines_shown(data) + 1), most = share < POINTS_MOST ? share : POINTS_MOST;
    return length / most + 1;
}

int lines_one(const panel *p, const sock_data *data, size_t k, size_t trajectory, const char *klass)
{
    const double *t, *x;
    const size_t d = sock_data_dim(data), length = sock_data_trajectory(data, trajectory, &t, &x);
    const size_t every = lines_every(data, length);
    double *xs = calloc(2 * length + 2, sizeof *xs), *ys = xs ? xs + length + 1 : NULL;
    size_t count = 0;
    for (size_t i = 0; xs && i < length; i++)
        if (i % every == 0 || i + 1 == length) xs[count] = t[i], ys[count++] = x[i * d + k];
    const int good = xs && panel_curve(p, klass, count, xs, ys);
    free(xs);
    return good;
}

int lines_draw(const panel *p, const sock_data *data, size_t k, const char *klass)
{
    int good = 1;
    for (size_t i = 0; good && i < lines_shown(data); i++) good = lines_one(p, data, k, lines_index(data, i), klass);
    return good;
}
