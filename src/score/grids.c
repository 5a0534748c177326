/* grids.c - which trajectories can be compared as functions of time: those with the same time grid. */
#include "score.h"

#include <math.h>
#include <string.h>

/* Times counted from the start: the SDE does not know the clock. 1e-9 of the span: what printing and adding leaves. */
static bool same_grid(const sock_data *data, size_t i, size_t j)
{
    const double *s = data->t + data->first[i], *t = data->t + data->first[j];
    size_t length = data->first[i + 1] - data->first[i];
    if (data->first[j + 1] - data->first[j] != length) return false;
    double slack = 1e-9 * (s[length - 1] - s[0]);
    for (size_t k = length; k-- > 1;)
        if (!(fabs((s[k] - s[0]) - (t[k] - t[0])) <= slack)) return false;
    return true;
}

static bool same_start(const sock_data *data, size_t i, size_t j)
{
    const double *x = data->x + data->first[i] * data->d, *y = data->x + data->first[j] * data->d;
    for (size_t k = 0; k < data->d; k++)
        if (x[k] != y[k]) return false;
    return true;
}

/* Each trajectory against one of every label so far, the newest first. */
sock_status sk_label_trajectories(sock_context *ctx, const sock_data *data, bool by_start, size_t *label,
                                  size_t *labels)
{
    size_t found = 0, *example = sk_alloc(ctx, data->trajectories, sizeof *example);
    if (!example) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++) {
        label[j] = SIZE_MAX;
        if (data->first[j + 1] - data->first[j] < 2) continue;
        for (size_t c = found; c-- > 0 && label[j] == SIZE_MAX;)
            if ((!by_start || same_start(data, example[c], j)) && same_grid(data, example[c], j)) label[j] = c;
        if (label[j] == SIZE_MAX) {
            label[j] = found;
            example[found++] = j;
        }
    }
    sk_free(example);
    *labels = found;
    return SOCK_OK;
}

void sk_trapezoid_weights(size_t times, const double *t, double *w)
{
    for (size_t i = 0; i < times; i++) {
        double before = i ? t[i] - t[i - 1] : 0, after = i + 1 < times ? t[i + 1] - t[i] : 0;
        w[i] = (before + after) / 2;
    }
}
