/* scaling.c - see scaling.h. */
#include "tune/scaling.h"

#include <math.h>
#include <string.h>

/* A kernel text that fixes a length scale. */
static sock_status names_eta(sock_context *ctx, const char *option, const char *text, bool *found)
{
    sk_kernel *kernel = NULL;
    if (strcmp(text, "auto") == 0) return SOCK_OK;
    SK_TRY(sk_kernel_parse(ctx, option, text, &kernel));
    if (sk_kernel_names_eta(kernel)) *found = true;
    sk_kernel_free(kernel);
    return SOCK_OK;
}

/* Standard deviation of coordinate k; its size where it does not move, and 1 where it is zero. */
static double unit_of(const sk_steps *s, size_t k, bool *moves)
{
    double mean = 0, square = 0, size = 0, n = (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        mean += s->y[i * s->d + k] / n;
        size = fmax(size, fabs(s->y[i * s->d + k]));
    }
    for (size_t i = 0; i < s->n; i++) square += (s->y[i * s->d + k] - mean) * (s->y[i * s->d + k] - mean) / n;
    double deviation = sqrt(square);
    *moves = deviation > 1e-12 * size;
    return *moves ? deviation : size > 0 ? size : 1;
}

sock_status sk_scaling_choose(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *steps, double **out)
{
    bool named = false;
    *out = NULL;
    SK_TRY(names_eta(ctx, "drift", spec->drift, &named));
    SK_TRY(names_eta(ctx, "diffusion", spec->diffusion, &named));
    if (named || !spec->scaling) return SOCK_OK;
    double *scale = sk_doubles(ctx, steps->d, 1), least = INFINITY, most = 0;
    if (!scale) return SOCK_ENOMEM;
    for (size_t k = 0; k < steps->d; k++) {
        bool moves;
        scale[k] = unit_of(steps, k, &moves);
        least = fmin(least, scale[k]);
        most = fmax(most, scale[k]);
    }
    if (least >= 0.1 && most <= 10 && most <= 4 * least) {
        sk_free(scale);
        return SOCK_OK;
    }
    if (!isfinite(most) || !(least > 1e-150) || most > 1e150) {
        sk_free(scale);
        return sk_fail(ctx, SOCK_EINPUT, "the states are too large or too small to be squared: rescale the data");
    }
    *out = scale;
    return SOCK_OK;
}

void sk_scaling_apply(const double *scale, sk_steps *s)
{
    for (size_t i = 0; i < s->n * s->d; i++) {
        s->y[i] /= scale[i % s->d];
        s->next[i] /= scale[i % s->d];
        s->dy[i] /= scale[i % s->d];
    }
}

/* floor * I of the scaled model as columns sqrt(floor) s_k, each for its own component. */
static sock_status floor_term(sock_context *ctx, const double *scale, sock_model *model)
{
    size_t d = model->d;
    sk_kernel *one = NULL;
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = term->rank = d;
    term->v = sk_doubles(ctx, d, d);
    term->owner = sk_alloc(ctx, d, sizeof *term->owner);
    sock_status status = term->v && term->owner ? sk_kernel_parse(ctx, "floor", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "floor", one, d, 0, NULL, &term->map);
    sk_kernel_free(one);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    for (size_t k = 0; k < d; k++) {
        term->v[k * d + k] = sqrt(model->floor) * scale[k];
        term->owner[k] = k;
    }
    model->floor = 0;
    return sk_model_add_diffusion(ctx, model, term);
}

sock_status sk_scaling_restore(sock_context *ctx, const double *scale, sock_model *model)
{
    size_t d = model->d;
    for (size_t i = 0; i < model->drift_terms; i++) {
        sk_drift_term *term = model->drift[i];
        SK_TRY(sk_features_set_scale(ctx, term->map, scale));
        for (size_t j = 0; j < sk_features_count(term->map) * d; j++) term->weight[j] *= scale[j % d];
    }
    for (size_t i = 0; i < model->diffusion_terms; i++) {
        sk_diffusion_term *term = model->diffusion[i];
        size_t block = sk_features_count(term->map) * term->rank;
        SK_TRY(sk_features_set_scale(ctx, term->map, scale));
        for (size_t j = 0; j < d * block; j++) term->v[j] *= scale[j / block];
    }
    return model->floor > 0 ? floor_term(ctx, scale, model) : SOCK_OK;
}

sock_status sk_scaling_finish(sock_context *ctx, const double *scale, sock_model *model, sk_tune_outcome *told)
{
    told->d = model->d;
    told->floor = sk_doubles(ctx, model->d, 1);
    if (scale) told->scale = sk_doubles(ctx, model->d, 1);
    if (!told->floor || (scale && !told->scale)) return SOCK_ENOMEM;
    for (size_t k = 0; k < model->d; k++) {
        double unit = scale ? scale[k] : 1;
        if (scale) told->scale[k] = unit;
        told->floor[k] = model->floor * unit * unit;
    }
    return scale ? sk_scaling_restore(ctx, scale, model) : SOCK_OK;
}
