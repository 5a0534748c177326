/* steprows.c - see steprows.h. */
#include "compare/steprows.h"

#include <math.h>
#include <string.h>

void cmp_steps_free(cmp_steps *s)
{
    if (!s) return;
    sk_free(s->x);
    sk_free(s->dx);
    sk_free(s->h);
    sk_free(s->trajectory);
    sk_free(s->lower);
    sk_free(s->upper);
    sk_free(s);
}

static void widen(cmp_steps *s, size_t points, const double *x)
{
    for (size_t i = 0; i < points * s->d; i++) {
        s->lower[i % s->d] = fmin(s->lower[i % s->d], x[i]);
        s->upper[i % s->d] = fmax(s->upper[i % s->d], x[i]);
    }
}

static void take_steps(const sock_data *data, cmp_steps *s)
{
    size_t d = s->d, row = 0;
    for (size_t k = 0; k < d; k++) s->lower[k] = (double)INFINITY, s->upper[k] = -(double)INFINITY;
    for (size_t j = 0; j < s->trajectories; j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        widen(s, length, x);
        for (size_t i = 0; i + 1 < length; i++, row++, x += d) {
            memcpy(s->x + row * d, x, d * sizeof *x);
            for (size_t k = 0; k < d; k++) s->dx[row * d + k] = x[d + k] - x[k];
            s->h[row] = t[i + 1] - t[i];
            s->trajectory[row] = j;
        }
    }
}

sock_status cmp_steps_new(sock_context *ctx, const sock_data *data, cmp_steps **out)
{
    size_t count = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        count += length ? length - 1 : 0;
    }
    if (!count) return sk_fail(ctx, SOCK_EINPUT, "the data have no interval: no trajectory has two points");
    cmp_steps *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->count = count;
    s->d = sock_data_dim(data);
    s->trajectories = sock_data_trajectories(data);
    s->x = sk_doubles(ctx, count, s->d);
    s->dx = sk_doubles(ctx, count, s->d);
    s->h = sk_doubles(ctx, count, 1);
    s->trajectory = sk_alloc(ctx, count, sizeof *s->trajectory);
    s->lower = sk_doubles(ctx, s->d, 1);
    s->upper = sk_doubles(ctx, s->d, 1);
    if (!s->x || !s->dx || !s->h || !s->trajectory || !s->lower || !s->upper) {
        cmp_steps_free(s);
        return SOCK_ENOMEM;
    }
    take_steps(data, s);
    *out = s;
    return SOCK_OK;
}

double cmp_steps_deviation(const cmp_steps *s, size_t k)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < s->count; i++) mean += s->x[i * s->d + k] / (double)s->count;
    for (size_t i = 0; i < s->count; i++) {
        double u = s->x[i * s->d + k] - mean;
        square += u * u / (double)s->count;
    }
    return sqrt(square);
}
