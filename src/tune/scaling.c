/* scaling.c - see scaling.h. */
#include "tune/scaling.h"

#include "tune/rules.h"

#include <math.h>
#include <string.h>

/* Whether the step that begins at a point says anything about units. */
static bool counts(const sk_tune_spec *spec, size_t i)
{
    if (!spec->wild && !spec->wild_held) return true;
    const size_t own = spec->data->points;
    const bool *wild = i < own ? spec->wild : spec->wild_held;
    return !wild || !wild[i < own ? i : i - own];
}

/* The states of a data set, or its inputs. */
typedef struct columns {
    size_t count;
    const double *value; /* points x count */
} columns;

/* Mean and standard deviation of column k over the left ends of all steps; as unit its size where it does not move,
 * and 1 where it is zero. n: steps. */
static void middle_of(const sk_tune_spec *spec, const sock_data *data, columns of, size_t k, double n, double *centre,
                      double *unit)
{
    double mean = 0, square = 0, size = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            if (!counts(spec, i)) continue;
            mean += of.value[i * of.count + k] / n;
            size = fmax(size, fabs(of.value[i * of.count + k]));
        }
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
            if (counts(spec, i))
                square += (of.value[i * of.count + k] - mean) * (of.value[i * of.count + k] - mean) / n;
    const double deviation = sqrt(square);
    *centre = mean;
    *unit = deviation > 1e-12 * size ? deviation : size > 0 ? size : 1;
}

static sock_status new_units(sock_context *ctx, size_t d, sk_units **out)
{
    sk_units *units = sk_alloc(ctx, 1, sizeof *units);
    if (!units) return SOCK_ENOMEM;
    units->centre = sk_doubles(ctx, d, 1);
    units->scale = sk_doubles(ctx, d, 1);
    units->zero = sk_doubles(ctx, d, 1);
    if (!units->centre || !units->scale || !units->zero) {
        sk_units_free(units);
        return SOCK_ENOMEM;
    }
    *out = units;
    return SOCK_OK;
}

void sk_units_free(sk_units *units)
{
    if (!units) return;
    sk_free(units->centre);
    sk_free(units->scale);
    sk_free(units->zero);
    sk_free(units);
}

static bool is_usable(double scale, double centre)
{
    return isfinite(scale) && isfinite(centre) && scale > 1e-150 && scale < 1e150;
}

/* Inputs have mean 0 and standard deviation 1, whatever is wished for the states. */
static sock_status fill_inputs(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, double steps,
                               sk_units *units)
{
    for (size_t k = 0; k < data->inputs; k++) {
        double *centre = &units->centre[data->d + k], *scale = &units->scale[data->d + k];
        middle_of(spec, data, (columns){data->inputs, data->u}, k, steps, centre, scale);
        if (!is_usable(*scale, *centre))
            return sk_fail(ctx, SOCK_EINPUT, "the input %s is too large or too small to be squared: rescale it",
                           data->input[k]);
        units->zero[data->d + k] = (sk_own_zero(*centre, *scale) - *centre) / *scale;
    }
    return SOCK_OK;
}

/* A state that ends at 0 has its zero there. */
static double own_zero(const sk_tune_spec *spec, size_t k, double mean, double spread)
{
    return spec->lower && spec->lower[k] == 0 ? 0 : sk_own_zero(mean, spread);
}

static sock_status fill_units(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, sk_units *units)
{
    /* a kernel that the user named is about the zero of the data */
    const bool named = strcmp(spec->drift, "auto") != 0 || strcmp(spec->diffusion, "auto") != 0;
    size_t steps = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) steps += counts(spec, i);
    for (size_t k = 0; k < data->d; k++) {
        double spread;
        middle_of(spec, data, (columns){data->d, data->x}, k, (double)steps, &units->centre[k], &spread);
        if (!is_usable(spread, units->centre[k]))
            return sk_fail(ctx, SOCK_EINPUT, "the states are too large or too small to be squared: rescale the data");
        const double zero = named ? 0 : own_zero(spec, k, units->centre[k], spread);
        units->scale[k] = spread;
        units->zero[k] = (zero - units->centre[k]) / units->scale[k];
    }
    for (size_t k = 0; !spec->scaling && k < data->d; k++) {
        units->centre[k] = units->zero[k] = 0;
        units->scale[k] = 1;
    }
    return fill_inputs(ctx, spec, data, (double)steps, units);
}

sock_status sk_scaling_choose(sock_context *ctx, const sk_tune_spec *spec, const sock_data *data, sk_units **out)
{
    *out = NULL;
    if (!spec->scaling && !data->inputs) return SOCK_OK;
    sk_units *units = NULL;
    SK_TRY(new_units(ctx, data->d + data->inputs, &units));
    sock_status status = fill_units(ctx, spec, data, units);
    if (status < 0)
        sk_units_free(units);
    else
        *out = units;
    return status;
}

/* floor * I of the scaled model as columns sqrt(floor) s_k, each for its own component. */
sock_status sk_floor_as_term(sock_context *ctx, const double *scale, sock_model *model)
{
    size_t d = model->d;
    sk_kernel *one = NULL;
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = term->rank = d;
    term->v = sk_doubles(ctx, d, d);
    term->owner = sk_alloc(ctx, d, sizeof *term->owner);
    sock_status status = term->v && term->owner ? sk_kernel_parse(ctx, "floor", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "floor", one, sk_model_in(model), 0, NULL, &term->map);
    sk_kernel_free(one);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    for (size_t k = 0; k < d; k++) {
        term->v[k * d + k] = sqrt(model->floor) * (scale ? scale[k] : 1);
        term->owner[k] = k;
    }
    model->floor = 0;
    return sk_model_add_diffusion(ctx, model, term);
}

sock_status sk_scaling_restore(sock_context *ctx, const sk_units *units, sock_model *model)
{
    const size_t d = model->d;
    const double *scale = units->scale;
    if (model->spread) SK_TRY(sk_spread_rescale(ctx, units->centre, scale, model));
    for (size_t i = 0; model->spread && i < model->spread->peers; i++)
        SK_TRY(sk_scaling_restore(ctx, units, model->spread->peer[i]));
    for (size_t i = 0; i < model->drift_terms; i++) {
        sk_drift_term *term = model->drift[i];
        SK_TRY(sk_features_set_units(ctx, term->map, units->centre, scale));
        for (size_t j = 0; j < sk_features_count(term->map) * d; j++) term->weight[j] *= scale[j % d];
    }
    for (size_t i = 0; i < model->diffusion_terms; i++) {
        sk_diffusion_term *term = model->diffusion[i];
        size_t block = sk_features_count(term->map) * term->rank;
        SK_TRY(sk_features_set_units(ctx, term->map, units->centre, scale));
        for (size_t j = 0; j < d * block; j++) term->v[j] *= scale[j / block];
    }
    return model->floor > 0 ? sk_floor_as_term(ctx, scale, model) : SOCK_OK;
}

static bool all_one(size_t count, const double *value)
{
    while (count && value[count - 1] == 1) count--;
    return !count;
}

static sock_status copy_numbers(sock_context *ctx, size_t count, const double *from, sk_numbers *to)
{
    *to = (sk_numbers){count, sk_doubles(ctx, count, 1)};
    if (!to->value) return SOCK_ENOMEM;
    memcpy(to->value, from, count * sizeof *from);
    return SOCK_OK;
}

sock_status sk_scaling_finish(sock_context *ctx, const sk_units *units, sock_model *model, sk_tune_outcome *told)
{
    told->floor = (sk_numbers){model->d, sk_doubles(ctx, model->d, 1)};
    if (!told->floor.value) return SOCK_ENOMEM;
    for (size_t k = 0; k < model->d; k++)
        told->floor.value[k] = model->floor * (units ? units->scale[k] * units->scale[k] : 1);
    if (!units) return SOCK_OK;
    if (!all_one(model->d, units->scale)) SK_TRY(copy_numbers(ctx, model->d, units->scale, &told->scale));
    SK_TRY(copy_numbers(ctx, model->d, units->centre, &told->centre));
    return sk_scaling_restore(ctx, units, model);
}
