/* uncertain.c - paths with what is not known of the model: path k of every start is one of the k-th draw of it. The
 * noise of a path is the one that it has without draws. */
#include "euler.h"

#include "model/draw.h"

#include <string.h>

typedef struct wave {
    sock_context *ctx;
    const sock_model *model;
    const sock_simulation *spec;
    double step, *out, *lost_at;
    size_t first; /* draw */
    atomic_size_t lost;
} wave;

/* All starts under one draw; some and when: starts x times x d, starts. */
static sock_status run_draw(wave *w, const sk_sampler *sampler, const sock_model *draw, size_t k, double *some,
                            double *when)
{
    sock_simulation one = *w->spec;
    one.paths = 1;
    const sk_euler job = {draw, sampler, &one, w->step, some, when, k, false};
    const size_t each = one.times * draw->d;
    double *space = sk_doubles(w->ctx, sk_euler_space(sampler, draw->d, sk_model_in(draw)), 1);
    sock_status status = space ? SOCK_OK : SOCK_ENOMEM;
    for (size_t first = 0; status >= 0 && first < one.starts; first += SK_EULER_BLOCK) {
        size_t lost;
        status = sk_euler_block(w->ctx, &job, first, SK_MIN(one.starts - first, (size_t)SK_EULER_BLOCK), space, &lost);
        if (status >= 0) atomic_fetch_add(&w->lost, lost);
    }
    for (size_t s = 0; status >= 0 && s < one.starts; s++) {
        memcpy(w->out + (s * w->spec->paths + k) * each, some + s * each, each * sizeof *some);
        if (w->lost_at) w->lost_at[s * w->spec->paths + k] = when[s];
    }
    sk_free(space);
    return status;
}

static sock_status some_draws(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    wave *w = argument;
    double *some = sk_doubles(w->ctx, w->spec->starts * w->spec->times, w->model->d);
    double *when = sk_doubles(w->ctx, w->spec->starts, 1);
    sock_status status = some && when ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = begin; status >= 0 && i < end; i++) {
        sock_model *draw = NULL;
        sk_sampler *sampler = NULL;
        status = sk_model_draw(w->ctx, w->model, w->spec->seed, w->first + i, &draw);
        if (status >= 0) status = sk_sampler_new(w->ctx, draw, &sampler);
        if (status >= 0) status = run_draw(w, sampler, draw, w->first + i, some, when);
        sk_sampler_free(sampler);
        sock_model_free(draw);
    }
    sk_free(some);
    sk_free(when);
    return status;
}

sock_status sk_simulate_draws(sock_context *ctx, const sock_model *model, const sk_euler *job, size_t *lost)
{
    const size_t at_once = 64 * (size_t)sk_workers(ctx); /* speed only */
    wave w = {
        .ctx = ctx, .model = model, .spec = job->spec, .step = job->step, .out = job->out, .lost_at = job->lost_at};
    atomic_init(&w.lost, 0);
    for (w.first = 0; w.first < job->spec->paths; w.first += at_once) {
        SK_TRY(sk_progress(ctx, "simulate", (double)w.first / (double)job->spec->paths));
        SK_TRY(sk_parallel_for(ctx, SK_MIN(at_once, job->spec->paths - w.first), 1, some_draws, &w));
    }
    *lost = atomic_load(&w.lost);
    return SOCK_OK;
}
