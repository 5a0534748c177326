/* absorbed.c - see absorbed.h. */
#include "absorbed.h"

#include <string.h>

static bool on_bound(size_t d, const double *x, const double *lower, const double *upper)
{
    for (size_t k = 0; k < d; k++)
        if ((lower && x[k] == lower[k]) || (upper && x[k] == upper[k])) return true;
    return false;
}

/* The last point of trajectory j that is not followed by such steps alone. */
static size_t last_alive(const sock_data *data, size_t j, const double *lower, const double *upper)
{
    const size_t d = data->d, begin = data->first[j];
    size_t last = data->first[j + 1] - 1;
    if (!on_bound(d, data->x + last * d, lower, upper)) return last;
    while (last > begin && memcmp(data->x + last * d, data->x + (last - 1) * d, d * sizeof *data->x) == 0) last--;
    return last;
}

/* Points of trajectory j that stay. */
static size_t kept_of(const sock_data *data, size_t j, const double *lower, const double *upper)
{
    return data->first[j + 1] > data->first[j] ? last_alive(data, j, lower, upper) + 1 - data->first[j] : 0;
}

size_t sk_absorbed_mark(const sock_data *data, const double *lower, const double *upper, bool *step)
{
    size_t count = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j] + kept_of(data, j, lower, upper); i < data->first[j + 1]; i++, count++)
            if (step) step[i - 1] = true;
    return count;
}

bool sk_absorbed_at(const sock_data *data, size_t k, double bound)
{
    const size_t d = data->d;
    bool seen = false;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            if (data->x[i * d + k] != bound) continue;
            if (memcmp(data->x + i * d, data->x + (i + 1) * d, d * sizeof *data->x) != 0) return false;
            seen = true;
        }
    return seen;
}

sock_status sk_absorbed_cut(sock_context *ctx, const sock_data *data, const double *lower, const double *upper,
                            sock_data **out)
{
    const size_t d = data->d, m = data->inputs;
    *out = NULL;
    if (!sk_absorbed_mark(data, lower, upper, NULL)) return SOCK_OK;
    sock_data *cut = sk_alloc(ctx, 1, sizeof *cut);
    if (!cut) return SOCK_ENOMEM;
    *cut = *data;
    cut->first = sk_alloc(ctx, data->trajectories + 1, sizeof *cut->first);
    cut->t = sk_doubles(ctx, data->points, 1);
    cut->x = sk_doubles(ctx, data->points, d);
    cut->u = m ? sk_doubles(ctx, data->points, m) : NULL;
    if (!cut->first || !cut->t || !cut->x || (m && !cut->u)) {
        sk_absorbed_free(cut);
        return SOCK_ENOMEM;
    }
    cut->points = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t kept = kept_of(data, j, lower, upper), from = data->first[j];
        memcpy(cut->t + cut->points, data->t + from, kept * sizeof *cut->t);
        memcpy(cut->x + cut->points * d, data->x + from * d, kept * d * sizeof *cut->x);
        if (m) memcpy(cut->u + cut->points * m, data->u + from * m, kept * m * sizeof *cut->u);
        cut->points += kept;
        cut->first[j + 1] = cut->points;
    }
    *out = cut;
    return SOCK_OK;
}

void sk_absorbed_free(sock_data *cut)
{
    if (!cut) return;
    sk_free(cut->first);
    sk_free(cut->t);
    sk_free(cut->x);
    sk_free(cut->u);
    sk_free(cut);
}
