/* runs.c - runs of steps out of a data set, and what a flow needs to know of them; see filter.h. */
#include "data/samples.h"
#include "score/filter.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

void sk_series_clear(sk_series *s)
{
    for (size_t i = 0; i < sizeof s->own / sizeof *s->own; i++) sk_free(s->own[i]);
    *s = (sk_series){0};
}

sock_status sk_series_of_data(sock_context *ctx, const sock_data *data, sk_series *out)
{
    const size_t d = data->d, runs = data->trajectories, steps = data->points - runs;
    size_t *first = sk_alloc(ctx, runs + 1, sizeof *first), at = 0;
    double *y = sk_doubles(ctx, steps, d), *next = sk_doubles(ctx, steps, d), *h = sk_doubles(ctx, steps, 1);
    *out = (sk_series){d, steps, runs, first, y, next, h, {first, y, next, h}};
    if (!first || !y || !next || !h) {
        sk_series_clear(out);
        return SOCK_ENOMEM;
    }
    for (size_t j = 0; j < runs; j++) {
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, at++) {
            memcpy(y + at * d, data->x + i * d, d * sizeof *y);
            memcpy(next + at * d, data->x + (i + 1) * d, d * sizeof *next);
            h[at] = data->t[i + 1] - data->t[i];
        }
        first[j + 1] = at;
    }
    return SOCK_OK;
}

void sk_lanes_close_up(const sk_series *s, size_t w, size_t k, sk_lanes *l)
{
    size_t left = 0;
    for (size_t i = 0; i < l->count; i++) {
        const size_t run = l->run[i];
        if (s->first[run] + k >= s->first[run + 1]) continue;
        l->run[left] = run;
        memmove(l->m + left * w, l->m + i * w, w * sizeof *l->m);
        memmove(l->p + left * w * w, l->p + i * w * w, w * w * sizeof *l->p);
        l->h[left++] = s->h[s->first[run] + k];
    }
    l->count = left;
}

typedef struct following {
    sock_context *ctx;
    sk_follow follow;
    const void *job;
} following;

static sock_status follow_range(void *argument, size_t begin, size_t end, int worker)
{
    const following *w = argument;
    for (size_t r = begin; r < end; r += SK_LANES) {
        if (sk_cancelled(w->ctx)) return sk_fail(w->ctx, SOCK_ECANCELLED, "interrupted during filter");
        w->follow(w->job, r, SK_MIN(r + SK_LANES, end), worker);
    }
    return SOCK_OK;
}

sock_status sk_series_follow(sock_context *ctx, const sk_series *series, sk_follow follow, const void *job)
{
    following w = {ctx, follow, job};
    return sk_parallel_for(ctx, series->runs, SK_LANES, follow_range, &w);
}

void sk_frame_clear(sk_frame *frame)
{
    sk_free(frame->reach);
    *frame = (sk_frame){0};
}

/* Over all observations; those inside a run are counted once as an end and once as a beginning, which is no matter. */
static void measure(const sk_series *s, size_t k, sk_frame *out)
{
    const double count = 2 * (double)s->steps;
    double mean = 0, square = 0, low = INFINITY, high = -(double)INFINITY;
    for (size_t i = 0; i < s->steps; i++) {
        const double one = s->y[i * s->d + k], other = s->next[i * s->d + k];
        mean += (one + other) / count;
        low = fmin(low, fmin(one, other));
        high = fmax(high, fmax(one, other));
    }
    for (size_t i = 0; i < s->steps; i++)
        square += (pow(s->y[i * s->d + k] - mean, 2) + pow(s->next[i * s->d + k] - mean, 2)) / count;
    const double size = fmax(fabs(low), fabs(high)), deviation = sqrt(square);
    out->reach[k] = SK_REACH * (deviation > 0 ? deviation : size > 0 ? size : 1);
    out->low[k] = low - SK_FLOW_MARGIN * (high - low);
    out->high[k] = high + SK_FLOW_MARGIN * (high - low);
}

sock_status sk_frame_new(sock_context *ctx, const sk_series *s, sk_frame *out)
{
    double *numbers = sk_doubles(ctx, 3, s->d);
    if (!numbers) return SOCK_ENOMEM;
    *out = (sk_frame){numbers, numbers + s->d, numbers + 2 * s->d};
    for (size_t k = 0; k < s->d; k++) measure(s, k, out);
    return SOCK_OK;
}

sock_status sk_series_substeps(sock_context *ctx, const sk_series *s, const sk_filter_spec *spec, sk_substeps least,
                               sk_substeps *out)
{
    const size_t d = s->d, count = sk_substeps_asked(s->steps);
    double *x = sk_doubles(ctx, count, d), *h = sk_doubles(ctx, count, 1);
    sock_status status = x && h ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        const size_t at = count > 1 ? i * (s->steps - 1) / (count - 1) : 0;
        memcpy(x + i * d, s->y + at * d, d * sizeof *x);
        h[i] = s->h[at];
    }
    const sk_substeps_ask ask = {s->steps, count, x, h, spec->noise, least, &spec->flow, spec->sampler};
    if (status >= 0) status = sk_substeps_choose(ctx, spec->model, &ask, out);
    sk_free(x);
    sk_free(h);
    return status;
}
