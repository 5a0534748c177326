/* scaling.c - see scaling.h. */
#include "tune/scaling.h"

#include "tune/rules.h"

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

/* Standard deviation of coordinate k over the left ends of all steps; its size where it does not move, and 1 where it
 * is zero. n: steps. */
static double unit_of(const sock_data *data, size_t k, double n)
{
    double mean = 0, square = 0, size = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            mean += data->x[i * data->d + k] / n;
            size = fmax(size, fabs(data->x[i * data->d + k]));
        }
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
            square += (data->x[i * data->d + k] - mean) * (data->x[i * data->d + k] - mean) / n;
    const double deviation = sqrt(square);
    return deviation > 1e-12 * size ? deviation : size > 0 ? size : 1;
}

sock_status sk_scaling_choose(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, double **out)
{
    bool named = false;
    *out = NULL;
    SK_TRY(names_eta(ctx, "drift", spec->drift, &named));
    SK_TRY(names_eta(ctx, "diffusion", spec->diffusion, &named));
    if (named || !spec->scaling) return SOCK_OK;
    double *scale = sk_doubles(ctx, data->d, 1), least = INFINITY, most = 0;
    if (!scale) return SOCK_ENOMEM;
    size_t steps = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        if (data->first[j + 1] > data->first[j]) steps += data->first[j + 1] - data->first[j] - 1;
    for (size_t k = 0; k < data->d; k++) {
        scale[k] = unit_of(data, k, (double)steps);
        least = fmin(least, scale[k]);
        most = fmax(most, scale[k]);
    }
    if (sk_units_are_fine(least, most)) {
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
    told->floor = (sk_numbers){model->d, sk_doubles(ctx, model->d, 1)};
    if (scale) told->scale = (sk_numbers){model->d, sk_doubles(ctx, model->d, 1)};
    if (!told->floor.value || (scale && !told->scale.value)) return SOCK_ENOMEM;
    for (size_t k = 0; k < model->d; k++) {
        double unit = scale ? scale[k] : 1;
        if (scale) told->scale.value[k] = unit;
        told->floor.value[k] = model->floor * unit * unit;
    }
    return scale ? sk_scaling_restore(ctx, scale, model) : SOCK_OK;
}
