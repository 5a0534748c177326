/* within.c - data outside the bounds that are said of their states: refused by one sentence, whoever asks. */
#include "data.h"

static sock_status outside(sock_context *ctx, const sock_data *data, size_t i, size_t k, bool below, double bound,
                           const char *advice)
{
    size_t j = 0;
    while (data->first[j + 1] <= i) j++;
    return sk_fail(ctx, SOCK_EINPUT, "%s: %s%s%sstate %s is %g at time %g, %s its bound %g; %s", data->source,
                   data->trajectories > 1 ? "trajectory " : "", data->trajectories > 1 ? data->id[j] : "",
                   data->trajectories > 1 ? ", " : "", data->state[k], data->x[i * data->d + k], data->t[i],
                   below ? "below" : "above", bound, advice);
}

sock_status sk_data_within(sock_context *ctx, const sock_data *data, const double *lower, const double *upper,
                           const char *const advice[2])
{
    for (size_t i = 0; i < data->points; i++)
        for (size_t k = 0; k < data->d; k++) {
            const double x = data->x[i * data->d + k];
            if (x < lower[k]) return outside(ctx, data, i, k, true, lower[k], advice[0]);
            if (x > upper[k]) return outside(ctx, data, i, k, false, upper[k], advice[1]);
        }
    return SOCK_OK;
}
