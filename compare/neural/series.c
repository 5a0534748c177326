/* series.c - the network's clock, places between Euler nodes, and the control path (series.h). */
#include "series.h"

#include <math.h>
#include <string.h>

void nn_network_times(nn_times times, double span, size_t n, const double *t, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = times == NN_TIMES_OWN ? (t[i] - t[0]) / span : n > 1 ? (double)i / (double)(n - 1) : 0;
}

/* 1 / 0.05 is 20 steps, not 21. */
size_t nn_steps_until(double end, double step)
{
    double steps = ceil(end / step * (1 - 1e-12));
    return steps < 1 ? 1 : (size_t)steps;
}

nn_place nn_place_of(double s, double step, size_t steps)
{
    double node = fmin(fmax(floor(s / step), 0), (double)(steps - 1));
    return (nn_place){(size_t)node, s / step - node};
}

/* Slope of interval i of coordinate k. */
static double slope(size_t d, const double *s, const double *y, size_t i, size_t k)
{
    return (y[(i + 1) * d + k] - y[i * d + k]) / (s[i + 1] - s[i]);
}

/* On interval i with u = s - s_i, h its length and m the slopes at its ends: m_{i+1} is the slope of the interval
 * itself, so y = y_i + m_i u + (m_{i+1} - m_i) u^2 (2 h - u) / h^2. */
void nn_spline(size_t d, size_t n, const double *s, const double *y, size_t count, const double *at, size_t stride,
               double *out)
{
    size_t i = 0;
    for (size_t c = 0; c < count; c++) {
        while (i > 0 && at[c] < s[i]) i--;
        while (i + 2 < n && at[c] >= s[i + 1]) i++;
        const double u = at[c] - s[i], h = s[i + 1] - s[i];
        double *x = out + c * stride;
        x[0] = at[c];
        for (size_t k = 0; k < d; k++) {
            double right = slope(d, s, y, i, k), left = i ? slope(d, s, y, i - 1, k) : right;
            x[1 + k] = y[i * d + k] + left * u + (right - left) * u * u * (2 * h - u) / (h * h);
        }
    }
}

/* ---- A data set ---- */

void nn_series_clear(nn_series *series)
{
    sk_free(series->first);
    sk_free(series->place);
    sk_free(series->y);
    sk_free(series->control);
    *series = (nn_series){0};
}

static void count_series(const sock_data *data, size_t *count, size_t *points, size_t *longest, double *span)
{
    *count = *points = *longest = 0;
    *span = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t n = sock_data_trajectory(data, j, &t, &x);
        if (n < 2) continue;
        *count += 1;
        *points += n;
        *longest = SK_MAX(*longest, n);
        *span = fmax(*span, t[n - 1] - t[0]);
    }
}

/* X at the beginnings of the steps: the spline, or its start for ever. Beyond its end a trajectory rests. */
static void fill_control(const nn_settings *settings, const nn_series *series, size_t n, const double *s,
                         const double *y, double *out)
{
    const size_t width = series->d + 1;
    for (size_t k = 0; k < series->steps; k++) {
        const double time = (double)k * settings->step, seen = fmin(time, s[n - 1]);
        double *x = out + k * width;
        memcpy(x + 1, y, series->d * sizeof *y);
        if (settings->control == NN_CONTROL_PATH) nn_spline(series->d, n, s, y, 1, &seen, width, x);
        x[0] = time;
    }
}

static void fill_series(const nn_settings *settings, const sock_data *data, double *s, nn_series *out)
{
    size_t j = 0;
    for (size_t i = 0; i < sock_data_trajectories(data); i++) {
        const double *t, *y;
        size_t n = sock_data_trajectory(data, i, &t, &y), first = out->first[j];
        if (n < 2) continue;
        nn_network_times(settings->times, out->span, n, t, s);
        for (size_t k = 0; k < n; k++) out->place[first + k] = nn_place_of(s[k], settings->step, out->steps);
        memcpy(out->y + first * out->d, y, n * out->d * sizeof *y);
        if (out->control) fill_control(settings, out, n, s, y, out->control + j * out->steps * (out->d + 1));
        out->first[++j] = first + n;
    }
}

sock_status nn_series_make(sock_context *ctx, const nn_settings *settings, bool controlled, const sock_data *data,
                           nn_series *out)
{
    size_t count, points, longest;
    nn_series s = {.d = sock_data_dim(data), .steps = nn_steps_until(1, settings->step)};
    count_series(data, &count, &points, &longest, &s.span);
    if (!count) return sk_fail(ctx, SOCK_EINPUT, "neural: no trajectory of the training data has two points");
    s.count = count;
    s.first = sk_alloc(ctx, count + 1, sizeof *s.first);
    s.place = sk_alloc(ctx, points, sizeof *s.place);
    s.y = sk_doubles(ctx, points, s.d);
    if (controlled) s.control = sk_doubles(ctx, count * s.steps, s.d + 1);
    double *times = sk_doubles(ctx, longest, 1);
    if (!s.first || !s.place || !s.y || (controlled && !s.control) || !times) {
        sk_free(times);
        nn_series_clear(&s);
        return SOCK_ENOMEM;
    }
    fill_series(settings, data, times, &s);
    sk_free(times);
    *out = s;
    return SOCK_OK;
}
