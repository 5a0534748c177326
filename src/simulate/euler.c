/* euler.c - one block of paths, step by step.
 *
 * Problem: x_{k+1} = x_k + h f(x_k) + sqrt(h) C(x_k) z_k,  a = C C',  z_k ~ N(0, I), for many independent paths.
 *
 *  1. A block holds BLOCK paths; f and a of all of them are one call, so that the model works on matrices.
 *  2. The normals of a path for the next few steps are made at once: number (step * d + k) of the stream (start, path).
 *  3. A step: fields, noise, bounds; a path that has left the finite numbers is lost: it rests at its start and its
 *     output is NaN from there on.
 *     One that reaches a bound which the model says is never left stays there.
 *  4. At an output time the block is written out.
 *
 * Cost of a step: one evaluation of f and a for BLOCK points, and d^3/3 operations a path for C. The model may round
 * differently for different numbers of points, so the last block is filled up with copies of its first path: every
 * point is evaluated among BLOCK points, and a path does not depend on how many there are. */
#include "simulate.h"

#include "euler.h"
#include "la/la.h"
#include "model/modelinputs.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 1024 }; /* steps between two looks for an interrupt: a gap may take minutes */

size_t sk_inner_steps(double gap, double step)
{
    return (size_t)fmax(ceil(gap / step * (1 - 1e-12)), 1); /* 0.01 / 0.001 is 10 steps, not 11 */
}

size_t sk_euler_space(const sk_sampler *sampler, size_t d, size_t in)
{
    const size_t per_path = 4 * d + in + d * d + SK_NOISE_STEPS(d) * d;
    return SK_EULER_BLOCK * per_path + sk_sampler_space(sampler, SK_EULER_BLOCK);
}

typedef struct block {
    const sk_euler *job;
    size_t d, in;
    size_t count, filled; /* paths; points evaluated: BLOCK, or count where f and a are taken point by point */
    size_t first;         /* number of the first path */
    size_t step;          /* inner steps done */
    size_t alive;
    double *x, *x0, *f, *a, *noise, *space; /* filled x d, x d, x d, x d x d, count x SK_NOISE_STEPS d */
    double *rest;                           /* count x d: where paths are that rest on a bound for ever */
    double *z;                              /* filled x in: with the inputs, where there are some */
    size_t near[SK_EULER_BLOCK];            /* places in the tables of inputs */
    bool lost[SK_EULER_BLOCK], rests[SK_EULER_BLOCK];
} block;

static void start_block(const sk_euler *job, size_t first, size_t count, double *space, block *b)
{
    const size_t d = job->model->d;
    *b = (block){.job = job, .d = d, .in = sk_model_in(job->model), .count = count, .first = first, .alive = count};
    const bool by_point = !job->model->drift_terms && !job->model->diffusion_terms;
    b->filled = by_point || job->sparing ? count : (size_t)SK_EULER_BLOCK;
    b->x = space;
    b->x0 = b->x + SK_EULER_BLOCK * d;
    b->f = b->x0 + SK_EULER_BLOCK * d;
    b->a = b->f + SK_EULER_BLOCK * d;
    b->noise = b->a + SK_EULER_BLOCK * d * d;
    b->rest = b->noise + SK_EULER_BLOCK * SK_NOISE_STEPS(d) * d;
    b->z = b->rest + SK_EULER_BLOCK * d;
    b->space = b->z + SK_EULER_BLOCK * b->in;
    for (size_t p = 0; p < SK_EULER_BLOCK; p++) {
        size_t path = first + (p < count ? p : 0);
        memcpy(b->x0 + p * d, job->spec->x0 + path / job->spec->paths * d, d * sizeof *b->x0);
    }
    memcpy(b->x, b->x0, SK_EULER_BLOCK * d * sizeof *b->x);
}

/* Step 2. The stream of a path is (start, path within the start), so that more starts or more paths change nothing. */
static void make_noise(block *b)
{
    const sock_simulation *spec = b->job->spec;
    const size_t count = SK_NOISE_STEPS(b->d) * b->d;
    const sk_key key = {spec->seed, SK_PURPOSE_SIMULATE};
    for (size_t p = 0; p < b->count; p++) {
        size_t path = b->first + p;
        sk_normals_bulk(key, spec->first_start + path / spec->paths, b->job->first_path + path % spec->paths,
                        b->step * b->d, count, b->noise + p * count);
    }
}

/* Step 3, after the increment: bounds, and the paths that are lost. */
static void settle(block *b, double time)
{
    const sock_simulation *spec = b->job->spec;
    for (size_t p = 0; p < b->count; p++) {
        double *x = b->x + p * b->d;
        if (!b->lost[p] && sk_all_finite(b->d, x)) {
            if (spec->bounds != SOCK_BOUNDS_NONE) sk_keep_within(b->d, spec->bounds, spec->lower, spec->upper, x);
            continue;
        }
        if (!b->lost[p]) {
            b->lost[p] = true;
            b->alive--;
            if (b->job->lost_at) b->job->lost_at[b->first + p] = time;
        }
        memcpy(x, b->x0 + p * b->d, b->d * sizeof *x);
    }
}

/* Before the increment: who is on a bound that is never left. After it: they are where they were. */
static void note_rest(block *b)
{
    const sk_structure *s = b->job->model->structure;
    if (!s->absorbing || b->job->spec->bounds == SOCK_BOUNDS_NONE) return;
    for (size_t p = 0; p < b->count; p++) {
        if (b->rests[p] || !sk_structure_absorbs(s, b->x + p * b->d)) continue;
        b->rests[p] = true;
        memcpy(b->rest + p * b->d, b->x + p * b->d, b->d * sizeof *b->x);
    }
}

static void keep_rest(block *b)
{
    for (size_t p = 0; b->job->model->structure->absorbing && p < b->count; p++)
        if (b->rests[p]) memcpy(b->x + p * b->d, b->rest + p * b->d, b->d * sizeof *b->x);
}

/* States and inputs of all points at a time; paths of one start have the same. */
static const double *with_inputs(block *b, double time)
{
    const sock_simulation *spec = b->job->spec;
    const size_t d = b->d, in = b->in, m = in - d;
    if (!m) return b->x;
    for (size_t p = 0; p < b->filled; p++) {
        const size_t start = (b->first + (p < b->count ? p : 0)) / spec->paths;
        const sk_input_table table = {spec->input_times, spec->input_t,
                                      spec->u ? spec->u + start * spec->input_times * m : NULL};
        memcpy(b->z + p * in, b->x + p * d, d * sizeof *b->z);
        sk_inputs_at_time(b->job->model, &table, time, &b->near[p], b->z + p * in + d);
    }
    return b->z;
}

void sk_add_second_noise(size_t m, size_t count, double h, double *a, const double *z, size_t stride, double *x)
{
    const size_t d = 2 * m;
    for (size_t p = 0; p < count; p++, a += d * d, z += stride, x += d) {
        for (size_t k = 0; k < m * m; k++) a[k] = a[(m + k / m) * d + m + k % m]; /* never behind what is read */
        sk_factor_small(m, 1e-14, a);
        for (size_t k = 0; k < m; k++) {
            const double u = sk_dot(k + 1, a + k * m, z + m), w = sk_dot(k + 1, a + k * m, z);
            x[k] += h * sqrt(h) * (u + w / sqrt(3)) / 2;
            x[m + k] += sqrt(h) * u;
        }
    }
}

/* Second order: x by v h + F h^2 / 2 and v by F h. */
static void add_second(block *b, double h, size_t within)
{
    const size_t d = b->d, m = d / 2, stride = SK_NOISE_STEPS(d) * d;
    for (size_t p = 0; p < b->count; p++) {
        double *x = b->x + p * d;
        const double *f = b->f + p * d;
        for (size_t k = 0; k < m; k++) x[k] += h * x[m + k] + h * h / 2 * f[m + k];
        for (size_t k = 0; k < m; k++) x[m + k] += h * f[m + k];
    }
    if (b->job->model->has_diffusion) sk_add_second_noise(m, b->count, h, b->a, b->noise + within * d, stride, b->x);
}

/* Over h, from one time to another. */
static void one_step(sock_context *ctx, block *b, double h, double from, double to)
{
    const size_t d = b->d, chunk = SK_NOISE_STEPS(d), within = b->step % chunk;
    const bool noisy = b->job->model->has_diffusion;
    note_rest(b);
    if (noisy && within == 0) make_noise(b);
    sk_sampler_fields(ctx, b->job->sampler, b->filled, with_inputs(b, from), b->f, noisy ? b->a : NULL, b->space);
    const bool second = b->job->model->structure->order == 2;
    if (second) add_second(b, h, within);
    for (size_t i = 0; !second && i < b->count * d; i++) b->x[i] += h * b->f[i];
    if (noisy && !second) sk_add_noise(d, b->count, sqrt(h), b->a, b->noise + within * d, chunk * d, b->x);
    keep_rest(b);
    settle(b, to);
    for (size_t p = b->count; p < b->filled; p++) memcpy(b->x + p * d, b->x, d * sizeof *b->x);
    b->step++;
}

static void write_out(const block *b, size_t time_index)
{
    const sk_euler *job = b->job;
    for (size_t p = 0; p < b->count; p++) {
        double *out = job->out + ((b->first + p) * job->spec->times + time_index) * b->d;
        for (size_t k = 0; k < b->d; k++) out[k] = b->lost[p] ? (double)NAN : b->x[p * b->d + k];
    }
}

sock_status sk_euler_block(sock_context *ctx, const sk_euler *job, size_t first, size_t count, double *space,
                           size_t *lost)
{
    const sock_simulation *spec = job->spec;
    block b;
    start_block(job, first, count, space, &b);
    for (size_t p = 0; job->lost_at && p < count; p++) job->lost_at[first + p] = INFINITY;
    write_out(&b, 0);
    for (size_t i = 1; i < spec->times; i++) {
        double gap = spec->t[i] - spec->t[i - 1];
        size_t steps = sk_inner_steps(gap, job->step);
        for (size_t k = 0; k < steps && b.alive; k++) {
            double from = spec->t[i - 1] + gap * (double)k / (double)steps;
            double to = spec->t[i - 1] + gap * (double)(k + 1) / (double)steps;
            if (k % AT_ONCE == 0 && sk_cancelled(ctx))
                return sk_fail(ctx, SOCK_ECANCELLED, "interrupted during simulate");
            one_step(ctx, &b, gap / (double)steps, from, to);
        }
        write_out(&b, i);
    }
    *lost = count - b.alive;
    return SOCK_OK;
}
