/* companion.c - see companion.h. */
#include "companion.h"

#include "driven.h"
#include "evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS_MOST = 200, TIMES_MOST = 200, POINTS_MOST = 20000, STEPS_MOST = 20000, ALONE = 40, STEP_PARTS = 10 };
enum { LONG_PATHS = 64, LONG_TIMES = 400, LONG_STEPS = 4000 };
enum {
    LONG_FEW = 4,
    LONG_FEW_TIMES = 100,
    LONG_WORK = 100 * LONG_PATHS
}; /* from 10 dimensions on fewer paths: a step costs d^2 and more */

void companion_free(companion *c)
{
    free(c->x);
    *c = (companion){0};
}

/* Times of one trajectory, thinned; the number of them. */
static size_t thin_times(size_t length, const double *t, double *out)
{
    const size_t every = length / TIMES_MOST + 1;
    size_t count = 0;
    for (size_t i = 0; i < length && count < TIMES_MOST; i += every) out[count++] = t[i];
    return count;
}

static sock_simulation specify(const fig_input *in, double step)
{
    return (sock_simulation){
        .starts = 1, .seed = in->seed, .step = step, .bounds = in->bounds, .lower = in->lower, .upper = in->upper};
}

/* Appends the finite points of the paths from point `first` of each on. */
static void take_points(size_t d, size_t paths, size_t times, size_t first, const double *made, companion *out)
{
    for (size_t p = 0; p < paths; p++)
        for (size_t i = first; i < times; i++) {
            const double *x = made + (p * times + i) * d;
            size_t k = 0;
            while (k < d && isfinite(x[k])) k++;
            if (k == d) memcpy(out->x + d * out->count++, x, d * sizeof *x);
        }
}

sock_status companion_make(sock_context *ctx, const fig_input *in, const sock_model *model, companion *out)
{
    const size_t d = sock_model_dim(model), all = sock_data_trajectories(in->data);
    const size_t starts = all < STARTS_MOST ? all : STARTS_MOST;
    size_t paths = POINTS_MOST / (sock_data_points(in->data) * starts / all + 1);
    const size_t least = starts < ALONE ? ALONE / starts : 1; /* a path or two are no law */
    paths = paths < least ? least : paths > 40 ? 40 : paths;
    look_times time;
    double t[TIMES_MOST], *made = calloc(paths * TIMES_MOST * d, sizeof *made);
    companion c = {.x = calloc(starts * paths * TIMES_MOST * d + 1, sizeof *c.x)};
    sock_status status = made && c.x ? evidence_time(in, &time) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < starts; i++) {
        const double *times, *x;
        const size_t length = sock_data_trajectory(in->data, i * all / starts, &times, &x);
        const double span = length ? times[length - 1] - times[0] : 0; /* a long gap must not hold up the picture */
        sock_simulation spec = specify(in, fmax(time.step / STEP_PARTS, span / STEPS_MOST));
        sock_simulation_report report;
        double *u = NULL;
        spec.x0 = x, spec.paths = paths, spec.first_start = i, spec.t = t;
        spec.observed = !in->observed; /* with errors of measurement as the data have them; lifted states have none */
        spec.times = thin_times(length, times, t);
        if (spec.times < 2) continue;
        status = driven_paths(model, in->data, i * all / starts, &spec, &u);
        if (status >= 0) status = sock_simulate(ctx, model, &spec, made, NULL, &report);
        free(u);
        if (status >= 0) take_points(d, paths, spec.times, 0, made, &c);
        if (status >= 0) c.lost += (double)report.lost / (double)(paths * starts);
    }
    free(made);
    if (status < 0)
        companion_free(&c);
    else
        *out = c;
    return status < 0 ? status : SOCK_OK;
}

static size_t long_paths(size_t d)
{
    const size_t paths = LONG_WORK / (d * d);
    return paths < LONG_FEW ? LONG_FEW : paths > LONG_PATHS ? LONG_PATHS : paths;
}

/* Evenly chosen points of the data as starts. */
static double *long_starts(const fig_input *in, size_t *count)
{
    double *points = look_points(in->data, 8 * LONG_PATHS, count);
    const size_t d = sock_data_dim(in->data), most = long_paths(d), every = *count / most + 1;
    size_t used = 0;
    for (size_t i = 0; points && i < *count && used < most; i += every)
        memmove(points + d * used++, points + i * d, d * sizeof *points);
    *count = used;
    return points;
}

sock_status companion_long_run(sock_context *ctx, const fig_input *in, companion *out)
{
    const size_t d = sock_model_dim(in->model), times = long_paths(d) > LONG_FEW ? LONG_TIMES : LONG_FEW_TIMES;
    size_t starts = 0;
    look_times time;
    double t[LONG_TIMES], *x0 = long_starts(in, &starts), *made = calloc(LONG_PATHS * LONG_TIMES * d, sizeof *made);
    companion c = {.x = calloc(LONG_PATHS * LONG_TIMES * d + 1, sizeof *c.x)};
    sock_status status = x0 && made && c.x ? evidence_time(in, &time) : SOCK_ENOMEM;
    if (status >= 0 && starts && time.last > time.first) {
        const double step = time.step / 2, end = fmin(5 * (time.last - time.first), LONG_STEPS * step);
        for (size_t i = 0; i < times; i++) t[i] = end * (double)i / (double)(times - 1);
        sock_simulation spec = specify(in, step);
        sock_simulation_report report;
        double *u = NULL;
        spec.starts = starts, spec.x0 = x0, spec.paths = 1, spec.times = times, spec.t = t;
        status = driven_at_rest(in->model, &spec, &u);
        if (status >= 0) status = sock_simulate(ctx, in->model, &spec, made, NULL, &report);
        free(u);
        if (status >= 0) take_points(d, starts, times, times / 2, made, &c);
        if (status >= 0) c.lost = (double)report.lost / (double)starts;
    }
    free(made);
    free(x0);
    if (status < 0)
        companion_free(&c);
    else
        *out = c;
    return status < 0 ? status : SOCK_OK;
}

double companion_outside(size_t count, const double *x, size_t stride, range r)
{
    size_t outside = 0;
    for (size_t i = 0; i < count; i++) outside += !(x[i * stride] >= r.low && x[i * stride] <= r.high);
    return count ? (double)outside / (double)count : 0;
}

void companion_histogram(size_t count, const double *x, size_t stride, range r, size_t bins, double *out)
{
    const double width = (r.high - r.low) / (double)bins;
    memset(out, 0, bins * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const double place = floor((x[i * stride] - r.low) / width);
        if (place >= 0 && place < (double)bins) out[(size_t)place] += 1 / ((double)count * width);
    }
}
