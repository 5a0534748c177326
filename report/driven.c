/* driven.c - see driven.h. */
#include "driven.h"

#include <stdlib.h>
#include <string.h>

/* The median that counts for input k of a model: of the same name in another one, or its own. */
static double usual_of(const sock_model *model, const sock_model *like, size_t k)
{
    for (size_t i = 0; like && i < sock_model_inputs(like); i++)
        if (strcmp(sock_model_input_name(like, i), sock_model_input_name(model, k)) == 0)
            return sock_model_input_usual(like, i);
    return sock_model_input_usual(model, k);
}

/* count x inputs; at least one number. */
static double *at_rest(const sock_model *model, const sock_model *like, size_t count)
{
    const size_t m = sock_model_inputs(model);
    double *u = calloc(count * m + 1, sizeof *u);
    for (size_t i = 0; u && i < count * m; i++) u[i] = usual_of(model, like, i % m);
    return u;
}

static sock_status evaluate(sock_context *ctx, const sock_model *model, const sock_model *like, size_t count,
                            const double *x, double *f, double *a)
{
    double *u = at_rest(model, like, count);
    const sock_status status = u ? sock_model_evaluate_at(ctx, model, count, x, u, f, a) : SOCK_ENOMEM;
    free(u);
    return status;
}

sock_status driven_drift(sock_context *ctx, const sock_model *model, const sock_model *like, size_t count,
                         const double *x, double *f)
{
    return evaluate(ctx, model, like, count, x, f, NULL);
}

sock_status driven_diffusion(sock_context *ctx, const sock_model *model, const sock_model *like, size_t count,
                             const double *x, double *a)
{
    return evaluate(ctx, model, like, count, x, NULL, a);
}

sock_status driven_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                         const sock_bands *out)
{
    double *u = at_rest(model, NULL, count);
    const sock_status status = u ? sock_model_bands_at(ctx, model, count, x, u, level, out) : SOCK_ENOMEM;
    free(u);
    return status;
}

/* ---- Along the data ---- */

/* Where input k of a model stands in the data; their number: nowhere, it is the time (or is not there). */
static size_t place_of(const sock_model *model, const sock_data *data, size_t k)
{
    size_t c = 0;
    while (c < sock_data_inputs(data) && strcmp(sock_data_input_name(data, c), sock_model_input_name(model, k)) != 0)
        c++;
    return c;
}

double *driven_inputs(const sock_model *model, const sock_data *data, size_t j, int *failed)
{
    const size_t m = sock_model_inputs(model), width = sock_data_inputs(data);
    const double *t = NULL, *from = sock_data_input(data, j);
    const size_t length = sock_data_trajectory(data, j, &t, NULL);
    if (!m) return NULL;
    double *u = calloc(length * m + 1, sizeof *u);
    if (!u) *failed = 1;
    for (size_t k = 0; u && k < m; k++) {
        const size_t c = place_of(model, data, k);
        for (size_t i = 0; i < length; i++) u[i * m + k] = c < width ? from[i * width + c] : t[i];
    }
    return u;
}

sock_status driven_paths(const sock_model *model, const sock_data *data, size_t j, sock_simulation *spec, double **u)
{
    int failed = 0;
    *u = driven_inputs(model, data, j, &failed);
    if (failed) return SOCK_ENOMEM;
    if (*u) spec->input_times = sock_data_trajectory(data, j, &spec->input_t, NULL);
    spec->u = *u;
    return SOCK_OK;
}

sock_status driven_at_rest(const sock_model *model, sock_simulation *spec, double **u)
{
    *u = sock_model_inputs(model) ? at_rest(model, NULL, spec->starts) : NULL;
    if (sock_model_inputs(model) && !*u) return SOCK_ENOMEM;
    spec->input_times = 1;
    spec->input_t = spec->t;
    spec->u = *u;
    return SOCK_OK;
}

/* ---- Steps ---- */

/* Of a step that ends where an input jumps, the value before the jump. */
static const double NEARLY = 1 - 1e-9;

static int fill_steps(const sock_model *model, const sock_data *data, const driven_steps *at, double *u)
{
    const size_t m = sock_model_inputs(model);
    double *own = NULL;
    int failed = 0;
    for (size_t i = 0; !failed && i < at->count; i++) {
        const double *t = NULL;
        const size_t j = at->trajectory[i], length = sock_data_trajectory(data, j, &t, NULL);
        if (!i || j != at->trajectory[i - 1]) {
            free(own);
            own = driven_inputs(model, data, j, &failed);
        }
        if (failed) break;
        sock_model_inputs_at(model, length, t, own, at->t[i] + (at->end ? NEARLY * at->h[i] : 0), u + i * m);
    }
    free(own);
    return failed;
}

sock_status driven_fields(sock_context *ctx, const sock_model *model, const sock_data *data, const driven_steps *at,
                          double *f, double *a)
{
    const size_t m = sock_model_inputs(model);
    double *u = calloc(at->count * m + 1, sizeof *u);
    sock_status status = u && !(m && fill_steps(model, data, at, u)) ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_model_evaluate_at(ctx, model, at->count, at->x, u, f, a);
    free(u);
    return status;
}
