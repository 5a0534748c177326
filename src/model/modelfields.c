/* modelfields.c - the fields of a model at points: blocks of them, in parallel, through the terms. */
#include "model/modelfields.h"

#include "occupation/bounds.h"

#include <math.h>
#include <string.h>

enum { POINTS_AT_ONCE = 256 };

/* ---- On one thread ---- */

size_t sk_model_space(const sock_model *model, size_t block)
{
    size_t most = 1;
    for (size_t i = 0; i < model->drift_terms; i++) most = SK_MAX(most, sk_drift_term_space(model->drift[i], block));
    for (size_t i = 0; i < model->diffusion_terms; i++)
        most = SK_MAX(most, sk_diffusion_term_space(model->diffusion[i], block));
    return most + (sk_structure_is_bounded(model->structure) ? block * sk_model_in(model) : 0);
}

static void drift_block(sock_context *ctx, const sock_model *model, const sk_fields *at, double *space)
{
    const size_t d = model->d;
    if (model->wrapped_drift) {
        model->wrapped_drift(model->wrapped_user, at->count, d, at->x, at->f);
        return;
    }
    memset(at->f, 0, at->count * d * sizeof *at->f);
    for (size_t i = 0; i < model->drift_terms; i++)
        sk_drift_term_add(ctx, model->drift[i], at->count, at->x, at->f, space);
}

static void diffusion_block(sock_context *ctx, const sock_model *model, const sk_fields *at, double *space)
{
    const size_t d = model->d;
    if (model->wrapped_diffusion) {
        model->wrapped_diffusion(model->wrapped_user, at->count, d, at->x, at->a);
        return;
    }
    memset(at->a, 0, at->count * d * d * sizeof *at->a);
    for (size_t i = 0; i < model->diffusion_terms; i++)
        sk_diffusion_term_add(ctx, model->diffusion[i], at->count, at->x, at->a, space);
    for (size_t i = 0; i < at->count; i++)
        for (size_t k = 0; k < d; k++) at->a[(i * d + k) * d + k] += model->floor;
}

const double *sk_model_inside(const sock_model *model, size_t count, const double *x, double *out)
{
    const size_t in = sk_model_in(model);
    memcpy(out, x, count * in * sizeof *out);
    for (size_t i = 0; i < count; i++)
        sk_bounds_clip(model->d, model->structure->lower, model->structure->upper, out + i * in);
    return out;
}

void sk_fields_block(sock_context *ctx, const sock_model *model, const sk_fields *at, double *space)
{
    if (at->f) drift_block(ctx, model, at, space);
    if (!at->a) return;
    sk_fields inside = *at;
    if (sk_structure_is_bounded(model->structure)) {
        inside.x = sk_model_inside(model, at->count, at->x, space);
        space += at->count * sk_model_in(model);
    }
    diffusion_block(ctx, model, &inside, space);
}

void sk_model_fields(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f, double *a,
                     double *space)
{
    sk_fields_block(ctx, model, &(sk_fields){.count = count, .x = x, .f = f, .a = a}, space);
}

/* ---- In blocks, in parallel ---- */

typedef struct eval_job {
    sock_context *ctx;
    const sock_model *model;
    const sk_fields *at;
    double *space;
    size_t space_size;
} eval_job;

/* Points begin to end of them, and what belongs there. */
static sk_fields part(const sock_model *model, const sk_fields *at, size_t begin, size_t end)
{
    const size_t d = model->d;
    return (sk_fields){.count = end - begin,
                       .x = at->x + begin * sk_model_in(model),
                       .f = at->f ? at->f + begin * d : NULL,
                       .a = at->a ? at->a + begin * d * d : NULL};
}

static sock_status eval_range(void *argument, size_t begin, size_t end, int worker)
{
    const eval_job *job = argument;
    const sk_fields here = part(job->model, job->at, begin, end);
    sk_fields_block(job->ctx, job->model, &here, job->space + (size_t)worker * job->space_size);
    return SOCK_OK;
}

static sock_status check_points(sock_context *ctx, const sock_model *model, const sk_fields *at)
{
    if (!model || (at->count && (!at->x || !(at->f || at->a))))
        return sk_fail(ctx, SOCK_EUSAGE, "model, points and output must not be NULL");
    const size_t in = sk_model_in(model), d = model->d;
    const sk_structure *s = model->structure;
    for (size_t i = 0; i < at->count * in; i++)
        if (!isfinite(at->x[i]))
            return sk_fail(ctx, SOCK_EINPUT, "point %zu, %s %s is not finite", i / in,
                           i % in < d ? "coordinate" : "input",
                           i % in < d ? s->state[i % in] : s->input[i % in - d].name);
    return SOCK_OK;
}

sock_status sk_fields_eval(sock_context *ctx, const sock_model *model, const sk_fields *at)
{
    SK_TRY(check_points(ctx, model, at));
    if (at->a && !model->has_diffusion)
        return sk_fail(ctx, SOCK_EUSAGE, "this model has no diffusion: only its drift was fitted");
    size_t block = SK_MIN(SK_MAX(at->count, 1), POINTS_AT_ONCE); /* speed only */
    eval_job job = {ctx, model, at, NULL, sk_model_space(model, block)};
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_size);
    if (!job.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, at->count, block, eval_range, &job);
    sk_free(job.space);
    return status;
}

sock_status sk_model_evaluate(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f,
                              double *a)
{
    return sk_fields_eval(ctx, model, &(sk_fields){.count = count, .x = x, .f = f, .a = a});
}

/* ---- The public doors ---- */

sock_status sk_refuse_inputs(sock_context *ctx, const sock_model *model, const char *instead)
{
    if (!model->structure->inputs) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE, "the model has the input %s%s: its values are needed (%s)",
                   model->structure->input[0].name, model->structure->inputs > 1 ? " and more" : "", instead);
}

static sock_status refuse_inputs(sock_context *ctx, const sock_model *model)
{
    return model ? sk_refuse_inputs(ctx, model, "sock_model_evaluate_at") : SOCK_OK;
}

sock_status sk_points_with_inputs(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                  const double *u, double **out)
{
    const size_t d = model->d, m = model->structure->inputs;
    if (count && (!x || !u)) return sk_fail(ctx, SOCK_EUSAGE, "points and inputs must not be NULL");
    double *z = sk_doubles_unset(ctx, count, d + m);
    if (!z) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        memcpy(z + i * (d + m), x + i * d, d * sizeof *z);
        memcpy(z + i * (d + m) + d, u + i * m, m * sizeof *z);
    }
    *out = z;
    return SOCK_OK;
}

sock_status sock_model_drift(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(refuse_inputs(ctx, model));
    return sk_model_evaluate(ctx, model, count, x, f, NULL);
}

sock_status sock_model_diffusion(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *a)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(refuse_inputs(ctx, model));
    return sk_model_evaluate(ctx, model, count, x, NULL, a);
}

sock_status sock_model_sigma(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *sigma)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(refuse_inputs(ctx, model));
    SK_TRY(sk_model_evaluate(ctx, model, count, x, NULL, sigma));
    return sk_square_roots(ctx, model->d, count, sigma, sigma);
}

sock_status sock_model_evaluate_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                   const double *u, double *f, double *a)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !model->structure->inputs) return sk_model_evaluate(ctx, model, count, x, f, a);
    double *z = NULL;
    SK_TRY(sk_points_with_inputs(ctx, model, count, x, u, &z));
    sock_status status = sk_model_evaluate(ctx, model, count, z, f, a);
    sk_free(z);
    return status;
}

sock_status sock_model_sigma_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                const double *u, double *sigma)
{
    SK_TRY(sock_model_evaluate_at(ctx, model, count, x, u, NULL, sigma));
    return sk_square_roots(ctx, model->d, count, sigma, sigma);
}
