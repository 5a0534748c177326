/* innerstep.c - how long an inner step may be.
 *
 * A tenth of the smallest gap between output times, halved until it is no more than a tenth of the time in which f
 * changes by itself: where outputs lie further apart than that, Euler's steps of a tenth of a gap would grow without
 * bound.
 *
 *   1. A pilot path from the start: at every point the Jacobian J of f by differences; the rate there is the largest
 *      sqrt(|J_kl J_lk|), which units do not change; a step of a tenth of 1 / rate, with its noise.
 *   2. The largest rate over the points of the path gives the step of this start: what a path is depends on no other.
 *
 * Where a model lets a path run off, rates grow with it: a path of a million inner steps is enough for any. */
#include "innerstep.h"

#include "la/la.h"
#include "model/model.h"
#include "model/modelinputs.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

static const double NUDGE = 1e-5; /* of a difference: rounding */

typedef struct pilot {
    const sock_model *model;
    const sock_simulation *spec;
    size_t d, in, start, step, near;
    double *point, *f, *a, *space; /* (d + 1) x in, (d + 1) x d, d x d */
} pilot;

static void release(pilot *p)
{
    sk_free(p->point);
    sk_free(p->f);
    sk_free(p->a);
    sk_free(p->space);
}

static sock_status prepare(sock_context *ctx, const sock_model *model, const sock_simulation *spec, pilot *p)
{
    const size_t d = model->d, in = sk_model_in(model);
    *p = (pilot){.model = model, .spec = spec, .d = d, .in = in};
    p->point = sk_doubles(ctx, d + 1, in);
    p->f = sk_doubles(ctx, d + 1, d);
    p->a = sk_doubles(ctx, d + 1, d * d);
    p->space = sk_doubles(ctx, sk_model_space(model, d + 1), 1);
    return p->point && p->f && p->a && p->space ? SOCK_OK : SOCK_ENOMEM;
}

/* The rate at the path's point x, the first row of `point`; f and a there. 0 where something is not finite. x is nudged
 * by a share of its size and of its move in a step. */
static double rate_at(sock_context *ctx, pilot *p, double time, double step)
{
    const size_t d = p->d, in = p->in, m = in - d;
    double most = 0, *const a = p->model->has_diffusion ? p->a : NULL;
    const sk_input_table table = {p->spec->input_times, p->spec->input_t,
                                  p->spec->u ? p->spec->u + p->start * p->spec->input_times * m : NULL};
    if (m) sk_inputs_at_time(p->model, &table, time, &p->near, p->point + d);
    sk_model_fields(ctx, p->model, 1, p->point, p->f, a, p->space);
    for (size_t k = 0; k < d; k++) {
        const double noise = a ? sqrt(fmax(step * a[k * d + k], 0)) : 0;
        memcpy(p->point + (k + 1) * in, p->point, in * sizeof *p->point);
        p->point[(k + 1) * in + k] += NUDGE * (fabs(p->point[k]) + fabs(step * p->f[k]) + noise);
    }
    sk_model_fields(ctx, p->model, d + 1, p->point, p->f, a, p->space);
    if (!sk_all_finite((d + 1) * d, p->f)) return 0;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l <= k; l++) {
            const double wide[] = {p->point[(k + 1) * in + k] - p->point[k], p->point[(l + 1) * in + l] - p->point[l]};
            if (wide[0] == 0 || wide[1] == 0) continue; /* at rest at 0, without noise */
            const double kl = (p->f[(l + 1) * d + k] - p->f[k]) / wide[1];
            const double lk = (p->f[(k + 1) * d + l] - p->f[l]) / wide[0];
            most = fmax(most, sqrt(fabs(kl * lk)));
        }
    return isfinite(most) ? most : 0;
}

static void move(pilot *p, double h)
{
    double z[SK_INNER_DIM];
    sk_normals((sk_key){p->spec->seed, SK_PURPOSE_SIMULATE}, p->spec->first_start + p->start, 0, p->step++ * p->d, p->d,
               z);
    for (size_t k = 0; k < p->d; k++) {
        const double own = p->model->has_diffusion ? fmax(p->a[k * p->d + k], 0) : 0;
        p->point[k] += h * p->f[k] + sqrt(h * own) * z[k];
    }
    if (p->spec->bounds != SOCK_BOUNDS_NONE)
        sk_keep_within(p->d, p->spec->bounds, p->spec->lower, p->spec->upper, p->point);
}

/* The largest rate on the pilot path of one start. */
static double rate_of(sock_context *ctx, pilot *p, size_t start, double step)
{
    const double *t = p->spec->t, end = t[p->spec->times - 1];
    double time = t[0], most = 0;
    p->start = start;
    p->step = p->near = 0;
    memcpy(p->point, p->spec->x0 + start * p->d, p->d * sizeof *p->point);
    for (size_t i = 0; i < SK_INNER_PILOT && time < end; i++) {
        const double rate = rate_at(ctx, p, time, step), h = rate > 0 ? fmin(step, SK_INNER_PART / rate) : step;
        most = fmax(most, rate);
        move(p, h);
        if (!sk_all_finite(p->d, p->point)) break;
        time += h;
    }
    return most;
}

double sk_widest_step(const sock_simulation *spec)
{
    double gap = INFINITY;
    for (size_t i = 1; i < spec->times; i++) gap = fmin(gap, spec->t[i] - spec->t[i - 1]);
    return spec->step > 0 ? spec->step : SK_INNER_PART * gap;
}

double sk_halved_step(double step, double rate, double span)
{
    while (step * rate > SK_INNER_PART && step > span / SK_INNER_MOST) step /= 2;
    return step;
}

sock_status sk_choose_inner_steps(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *step)
{
    const double widest = sk_widest_step(spec);
    for (size_t s = 0; s < spec->starts; s++) step[s] = widest;
    if (spec->step > 0 || spec->times < 2 || model->d > SK_INNER_DIM) return SOCK_OK;
    const double span = spec->t[spec->times - 1] - spec->t[0];
    pilot p;
    const sock_status status = prepare(ctx, model, spec, &p);
    for (size_t s = 0; status >= 0 && s < spec->starts; s++)
        step[s] = sk_halved_step(widest, rate_of(ctx, &p, s, widest), span);
    release(&p);
    return status;
}
