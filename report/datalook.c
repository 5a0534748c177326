/* datalook.c - see datalook.h. */
#define _GNU_SOURCE
#include "datalook.h"

#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void look_sort(size_t count, double *values) { qsort(values, count, sizeof *values, by_value); }

double look_quantile(size_t count, const double *sorted, double share)
{
    if (!count) return NAN;
    const double place = share * (double)(count - 1), below = floor(place);
    const size_t i = (size_t)below;
    if (i + 1 >= count) return sorted[count - 1];
    return sorted[i] * (1 - (place - below)) + sorted[i + 1] * (place - below);
}

double *look_sorted(const sock_data *data, size_t k, size_t *count)
{
    const size_t d = sock_data_dim(data);
    size_t points = 0, used = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) points += sock_data_trajectory(data, j, NULL, NULL);
    double *values = calloc(points + 1, sizeof *values);
    for (size_t j = 0; values && j < sock_data_trajectories(data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(data, j, NULL, &x);
        for (size_t i = 0; i < length; i++)
            if (isfinite(x[i * d + k])) values[used++] = x[i * d + k];
    }
    if (values) look_sort(used, values);
    *count = used;
    return values;
}

int look_finite(size_t d, const double *x)
{
    while (d && isfinite(x[d - 1])) d--;
    return !d;
}

double *look_points(const sock_data *data, size_t most, size_t *count)
{
    const size_t d = sock_data_dim(data), points = sock_data_points(data), every = points / most + 1;
    double *out = calloc(most * d + 1, sizeof *out);
    size_t number = 0, used = 0;
    for (size_t j = 0; out && j < sock_data_trajectories(data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(data, j, NULL, &x);
        for (size_t i = 0; i < length; i++)
            if (number++ % every == 0 && used < most && look_finite(d, x + i * d))
                memcpy(out + d * used++, x + i * d, d * sizeof *out);
    }
    *count = used;
    return out;
}

static char *time_name(sock_context *ctx, const sock_data *data, int axis)
{
    char *text = NULL;
    json_t *summary = sock_data_summary(ctx, data, &text) >= 0 ? info_parse(text) : NULL;
    const char *name = info_text(summary, "time_name"), *unit = info_text(summary, "time_unit");
    char *copy = summary ? calloc(strlen(name) + strlen(unit) + 16, 1) : NULL;
    const int dates = axis && json_is_object(json_object_get(summary, "dates"));
    if (copy) sprintf(copy, *unit ? (dates ? "%s [date, %s]" : "%s [%s]") : "%s%s", *name ? name : "time", unit);
    json_decref(summary);
    sock_string_free(text);
    return copy;
}

char *look_time_name(sock_context *ctx, const sock_data *data) { return time_name(ctx, data, 0); }
char *look_time_axis(sock_context *ctx, const sock_data *data) { return time_name(ctx, data, 1); }

sock_status look_time(const sock_data *data, look_times *out)
{
    const size_t trajectories = sock_data_trajectories(data);
    size_t points = 0, steps = 0;
    for (size_t j = 0; j < trajectories; j++) points += sock_data_trajectory(data, j, NULL, NULL);
    double *step = calloc(points + 1, sizeof *step);
    if (!step) return SOCK_ENOMEM;
    look_times found = {INFINITY, -INFINITY, 1};
    for (size_t j = 0; j < trajectories; j++) {
        const double *t;
        const size_t length = sock_data_trajectory(data, j, &t, NULL);
        for (size_t i = 1; i < length; i++) step[steps++] = t[i] - t[i - 1];
        if (length) found.first = fmin(found.first, t[0]), found.last = fmax(found.last, t[length - 1]);
    }
    look_sort(steps, step);
    if (steps) found.step = look_quantile(steps, step, 0.5);
    free(step);
    *out = found;
    return SOCK_OK;
}

/* ---- Starts ---- */

typedef struct start {
    size_t trajectory, d;
    double key;      /* what the starts are ordered by where they differ */
    const double *x; /* into the data */
} start;

static int by_state(const void *a, const void *b)
{
    const start *x = a, *y = b;
    for (size_t k = 0; k < x->d; k++)
        if (x->x[k] != y->x[k]) return x->x[k] < y->x[k] ? -1 : 1;
    return (x->trajectory > y->trajectory) - (x->trajectory < y->trajectory);
}

static int by_key(const void *a, const void *b)
{
    const start *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->trajectory > y->trajectory) - (x->trajectory < y->trajectory);
}

/* The first of the longest run of equal starts, in starts sorted by state; its length into *run. */
static size_t commonest(size_t count, const start *starts, size_t *run)
{
    size_t best = 0, first = 0;
    *run = 0;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(starts[i].x, starts[first].x, starts[i].d * sizeof *starts[i].x) != 0) first = i;
        if (i - first + 1 > *run) *run = i - first + 1, best = first;
    }
    return best;
}

/* key = sum over k of ((x_k - median_k) / spread_k)^2, spread: between the quartiles. */
static sock_status set_distances(size_t count, start *starts)
{
    double *values = calloc(count + 1, sizeof *values);
    if (!values) return SOCK_ENOMEM;
    for (size_t k = 0; k < starts[0].d; k++) {
        for (size_t i = 0; i < count; i++) values[i] = starts[i].x[k];
        look_sort(count, values);
        const double middle = look_quantile(count, values, 0.5);
        const double spread = look_quantile(count, values, 0.75) - look_quantile(count, values, 0.25);
        for (size_t i = 0; i < count && spread > 0; i++) {
            const double away = (starts[i].x[k] - middle) / spread;
            starts[i].key += away * away;
        }
    }
    free(values);
    return SOCK_OK;
}

static sock_status choose(size_t count, start *starts, look_starts *out)
{
    size_t run = 0;
    qsort(starts, count, sizeof *starts, by_state);
    const size_t common = commonest(count, starts, &run);
    *out = (look_starts){.count = 1, .trajectory = {starts[common].trajectory}, .sharing = run};
    if (run == count || (run >= 3 && 10 * run >= count)) return SOCK_OK;
    out->sharing = 1;
    if (starts[0].d > 1) {
        const sock_status status = set_distances(count, starts);
        qsort(starts, count, sizeof *starts, by_key);
        out->trajectory[0] = starts[(count - 1) / 2].trajectory;
        return status;
    }
    out->count = count < LOOK_STARTS_MOST ? count : LOOK_STARTS_MOST;
    for (size_t i = 0; i < out->count; i++) {
        const double share = out->count == 3 ? 0.1 + 0.4 * (double)i : (double)i;
        out->trajectory[i] = starts[(size_t)lround(share * (double)(count - 1))].trajectory;
    }
    return SOCK_OK;
}

sock_status look_start(const sock_data *data, look_starts *out)
{
    const size_t trajectories = sock_data_trajectories(data);
    size_t count = 0;
    start *starts = calloc(trajectories + 1, sizeof *starts);
    if (!starts) return SOCK_ENOMEM;
    for (size_t j = 0; j < trajectories; j++) {
        start one = {.trajectory = j, .d = sock_data_dim(data)};
        if (sock_data_trajectory(data, j, NULL, &one.x) > 1) starts[count++] = one;
    }
    *out = (look_starts){0};
    const sock_status status = count ? choose(count, starts, out) : SOCK_OK;
    free(starts);
    return status;
}
