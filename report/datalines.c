/* datalines.c - see datalines.h. */
#include "datalines.h"

#include <stdlib.h>

enum {
    SHOWN_MOST = 200,
    SHOWN_LEAST = 20,
    POINTS_MOST = 300,
    POINTS_ONE = 1500,
    POINTS_ALL = 20000,
    FEW_STATES = 2,
    PANELS_MOST = 6
};

/* Points of one panel: a figure of many panels has no more than one of two. */
static size_t points_all(const sock_data *data)
{
    const size_t d = sock_data_dim(data);
    return d <= FEW_STATES ? POINTS_ALL : POINTS_ALL / (d < PANELS_MOST ? d : PANELS_MOST);
}

size_t lines_shown(const sock_data *data)
{
    const size_t trajectories = sock_data_trajectories(data);
    size_t most = SHOWN_MOST;
    if (trajectories && sock_data_dim(data) > FEW_STATES) {
        const size_t length = sock_data_points(data) / trajectories + 1;
        most = points_all(data) / (length < POINTS_MOST ? length : POINTS_MOST);
        most = most < SHOWN_LEAST ? SHOWN_LEAST : most < SHOWN_MOST ? most : SHOWN_MOST;
    }
    return trajectories < most ? trajectories : most;
}

size_t lines_index(const sock_data *data, size_t i)
{
    const size_t shown = lines_shown(data);
    return shown ? i * sock_data_trajectories(data) / shown : 0;
}

size_t lines_every(const sock_data *data, size_t length)
{
    const size_t shown = lines_shown(data), share = points_all(data) / (shown + 1);
    const size_t room = shown && POINTS_ONE / shown > POINTS_MOST ? POINTS_ONE / shown : POINTS_MOST;
    return length / (share < room ? share : room) + 1;
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
