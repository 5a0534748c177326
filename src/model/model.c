/* model.c - a model in memory and its evaluation: blocks of points, in parallel, through the terms. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_AT_ONCE = 256 };

sock_status sk_model_new(sock_context *ctx, size_t d, const char *const *names, sock_model **out)
{
    sock_model *model = sk_alloc(ctx, 1, sizeof *model);
    if (!model) return SOCK_ENOMEM;
    model->d = d;
    model->state = sk_alloc(ctx, d, sizeof *model->state);
    model->info = sk_strdup(ctx, "{}");
    bool good = model->state && model->info;
    for (size_t k = 0; good && k < d; k++) {
        model->state[k] = names ? sk_strdup(ctx, names[k]) : sk_format(ctx, "x%zu", k);
        good = model->state[k] != NULL;
    }
    if (!good) {
        sock_model_free(model);
        return SOCK_ENOMEM;
    }
    *out = model;
    return SOCK_OK;
}

void sock_model_free(sock_model *model)
{
    if (!model) return;
    for (size_t k = 0; model->state && k < model->d; k++) sk_free(model->state[k]);
    for (size_t i = 0; i < model->drift_terms; i++) sk_drift_term_free(model->drift[i]);
    for (size_t i = 0; i < model->diffusion_terms; i++) sk_diffusion_term_free(model->diffusion[i]);
    sk_free(model->state);
    sk_free(model->drift);
    sk_free(model->diffusion);
    sk_free(model->info);
    sk_free(model->seconds);
    sk_free(model);
}

sock_status sk_model_add_drift(sock_context *ctx, sock_model *model, sk_drift_term *term)
{
    size_t capacity = model->drift_terms;
    sock_status status = sk_grow(ctx, &model->drift, &capacity, capacity + 1, sizeof *model->drift);
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    model->drift[model->drift_terms++] = term;
    return SOCK_OK;
}

sock_status sk_model_add_diffusion(sock_context *ctx, sock_model *model, sk_diffusion_term *term)
{
    size_t capacity = model->diffusion_terms;
    sock_status status = sk_grow(ctx, &model->diffusion, &capacity, capacity + 1, sizeof *model->diffusion);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    model->diffusion[model->diffusion_terms++] = term;
    model->has_diffusion = true;
    return SOCK_OK;
}

/* jansson allocates by itself: its text is copied, so that everything the library returns is freed in one way. */
static char *json_text(sock_context *ctx, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
    char *copy = text ? sk_strdup(ctx, text) : NULL;
    if (!text) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the model's information could not be written");
    free(text);
    return copy;
}

sock_status sk_model_set_info(sock_context *ctx, sock_model *model, const json_t *info, const json_t *seconds)
{
    char *text = json_text(ctx, info), *times = text && seconds ? json_text(ctx, seconds) : NULL;
    if (!text || (seconds && !times)) {
        sk_free(text);
        return SOCK_ENOMEM;
    }
    sk_free(model->info);
    sk_free(model->seconds);
    model->info = text;
    model->seconds = times;
    return SOCK_OK;
}

size_t sock_model_dim(const sock_model *model) { return model ? model->d : 0; }

const char *sock_model_name(const sock_model *model, size_t k)
{
    return model && k < model->d ? model->state[k] : NULL;
}

int sock_model_has_diffusion(const sock_model *model) { return model && model->has_diffusion; }

/* ---- Evaluation on one thread ---- */

size_t sk_model_space(const sock_model *model, size_t block)
{
    size_t most = 1;
    for (size_t i = 0; i < model->drift_terms; i++) most = SK_MAX(most, sk_drift_term_space(model->drift[i], block));
    for (size_t i = 0; i < model->diffusion_terms; i++)
        most = SK_MAX(most, sk_diffusion_term_space(model->diffusion[i], block));
    return most;
}

void sk_model_fields(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f, double *a,
                     double *space)
{
    size_t d = model->d;
    if (f && model->wrapped_drift)
        model->wrapped_drift(model->wrapped_user, count, d, x, f);
    else if (f) {
        memset(f, 0, count * d * sizeof *f);
        for (size_t i = 0; i < model->drift_terms; i++) sk_drift_term_add(ctx, model->drift[i], count, x, f, space);
    }
    if (a && model->wrapped_diffusion)
        model->wrapped_diffusion(model->wrapped_user, count, d, x, a);
    else if (a) {
        memset(a, 0, count * d * d * sizeof *a);
        for (size_t i = 0; i < model->diffusion_terms; i++)
            sk_diffusion_term_add(ctx, model->diffusion[i], count, x, a, space);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] += model->floor;
    }
}

/* ---- Evaluation in blocks, in parallel: the public door ---- */

typedef struct eval_job {
    sock_context *ctx;
    const sock_model *model;
    const double *x;
    double *f, *a, *space;
    size_t space_size;
} eval_job;

static sock_status eval_range(void *argument, size_t begin, size_t end, int worker)
{
    const eval_job *job = argument;
    size_t d = job->model->d;
    sk_model_fields(job->ctx, job->model, end - begin, job->x + begin * d, job->f ? job->f + begin * d : NULL,
                    job->a ? job->a + begin * d * d : NULL, job->space + (size_t)worker * job->space_size);
    return SOCK_OK;
}

static sock_status check_points(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                const double *out)
{
    if (!model || (count && (!x || !out)))
        return sk_fail(ctx, SOCK_EUSAGE, "model, points and output must not be NULL");
    for (size_t i = 0; i < count * model->d; i++)
        if (!isfinite(x[i]))
            return sk_fail(ctx, SOCK_EINPUT, "point %zu, coordinate %s is not finite", i / model->d,
                           model->state[i % model->d]);
    return SOCK_OK;
}

sock_status sk_model_evaluate(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f,
                              double *a)
{
    SK_TRY(check_points(ctx, model, count, x, f ? f : a));
    if (a && !model->has_diffusion)
        return sk_fail(ctx, SOCK_EUSAGE, "this model has no diffusion: only its drift was fitted");
    size_t block = SK_MIN(SK_MAX(count, 1), POINTS_AT_ONCE);
    eval_job job = {ctx, model, x, f, a, NULL, sk_model_space(model, block)};
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_size);
    if (!job.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, count, block, eval_range, &job);
    sk_free(job.space);
    return status;
}

sock_status sock_model_drift(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    return sk_model_evaluate(ctx, model, count, x, f, NULL);
}

sock_status sock_model_diffusion(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *a)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    return sk_model_evaluate(ctx, model, count, x, NULL, a);
}

sock_status sock_model_sigma(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *sigma)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(sk_model_evaluate(ctx, model, count, x, NULL, sigma));
    return sk_square_roots(ctx, model->d, count, sigma, sigma);
}

sock_status sock_model_info(sock_context *ctx, const sock_model *model, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * (strlen(model->info) + 64 * model->d) + SK_JSON_SMALL));
    json_t *info = json_loads(model->info, 0, NULL);
    json_t *state = json_array();
    for (size_t k = 0; k < model->d; k++) json_array_append_new(state, json_string(model->state[k]));
    if (info) json_object_set(info, "state", state);
    json_decref(state);
    if (info && model->seconds) json_object_set_new(info, "seconds", json_loads(model->seconds, 0, NULL));
    char *text = json_text(ctx, info);
    json_decref(info);
    if (!text) return SOCK_ENOMEM;
    *json = text;
    return SOCK_OK;
}

sock_status sock_model_wrap(sock_context *ctx, size_t d, const char *const *names, sock_field_fn drift,
                            sock_field_fn diffusion, void *user, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!d || !drift || !out) return sk_fail(ctx, SOCK_EUSAGE, "a wrapped model needs d >= 1, a drift and an output");
    sock_model *model = NULL;
    SK_TRY(sk_model_new(ctx, d, names, &model));
    model->wrapped_drift = drift;
    model->wrapped_diffusion = diffusion;
    model->has_diffusion = diffusion != NULL;
    model->wrapped_user = user;
    *out = model;
    return SOCK_OK;
}
