/* lifted.c - see lifted.h. */
#include "lifted.h"

#include <stdlib.h>
#include <string.h>

size_t lifted_seen(const sock_model *model)
{
    return sock_model_dim(model) / (size_t)(sock_model_order(model) == 2 ? 2 : 1);
}

const sock_data *lifted_observed(const fig_input *in) { return in->observed ? in->observed : in->data; }

/* Times and lengths of the trajectories. */
static void take_times(const sock_data *data, double *t, size_t *length)
{
    for (size_t j = 0, at = 0; j < sock_data_trajectories(data); j++) {
        const double *own;
        length[j] = sock_data_trajectory(data, j, &own, NULL);
        if (length[j]) memcpy(t + at, own, length[j] * sizeof *t);
        at += length[j];
    }
}

static sock_status from_states(sock_context *ctx, const sock_model *model, const sock_data *data, const double *x,
                               sock_data **out)
{
    const size_t w = sock_model_dim(model), runs = sock_data_trajectories(data);
    const char **name = calloc(w, sizeof *name);
    size_t *length = calloc(runs + 1, sizeof *length);
    double *t = calloc(sock_data_points(data) + 1, sizeof *t);
    sock_status status = SOCK_ENOMEM;
    if (name && length && t) {
        for (size_t k = 0; k < w; k++) name[k] = sock_model_name(model, k);
        take_times(data, t, length);
        status = sock_data_from_arrays(ctx, w, runs, length, t, x, name, NULL, NULL, out);
    }
    free((void *)name);
    free(length);
    free(t);
    return status;
}

sock_status lifted_new(sock_context *ctx, const sock_model *model, const sock_data *data, sock_data **out)
{
    *out = NULL;
    if (sock_model_order(model) != 2) return SOCK_OK;
    double *x = calloc(sock_data_points(data) * sock_model_dim(model) + 1, sizeof *x);
    sock_status status = x ? sock_smooth(ctx, model, data, x, NULL) : SOCK_ENOMEM;
    if (status >= 0) status = from_states(ctx, model, data, x, out);
    free(x);
    return status < 0 ? status : SOCK_OK;
}

sock_status lifted_take(sock_context *ctx, const sock_data *data, fig_input *in, sock_data **out)
{
    const sock_status status = lifted_new(ctx, in->model, data, out);
    in->data = data;
    in->observed = NULL;
    if (status < 0 || !*out) return status;
    in->data = *out;
    in->observed = data;
    return status;
}
