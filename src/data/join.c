/* join.c - two data sets as one. */
#include "base/options.h"
#include "data.h"

#include <string.h>

/* The labels of the groups of `data` from `first` on, for its trajectories. */
static void label_groups(const sock_data *data, size_t first, size_t *group)
{
    for (size_t g = 0; g < data->groups; g++)
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) group[data->member[m]] = first + g;
}

sock_status sk_data_join(sock_context *ctx, const sock_data *one, const sock_data *other, bool keep_groups,
                         const sock_options *opts, sock_data **out)
{
    const sock_data *part[] = {one, other};
    const size_t trajectories = one->trajectories + other->trajectories, points = one->points + other->points;
    const size_t d = one->d;
    /* The parts were thinned when they were read. First, since a public call forgets the message of what failed before.
     */
    sock_options *plain = sock_options_new(ctx);
    size_t *length = sk_alloc(ctx, trajectories, sizeof *length), *group = sk_alloc(ctx, trajectories, sizeof *group);
    double *t = sk_doubles_unset(ctx, points, 1), *x = sk_doubles_unset(ctx, points, d);
    sock_status status = length && group && t && x && plain ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(ctx, plain, "grouping", sk_option_text(opts, "grouping"));
    for (size_t s = 0, j = 0, at = 0; status >= 0 && s < 2; s++) {
        const sock_data *data = part[s];
        label_groups(data, s ? one->groups : 0, group + j);
        for (size_t u = 0; u < data->trajectories; u++) length[j + u] = sk_data_length(data, u);
        memcpy(t + at, data->t, data->points * sizeof *t);
        memcpy(x + at * d, data->x, data->points * d * sizeof *x);
        j += data->trajectories;
        at += data->points;
    }
    if (status >= 0)
        status = sock_data_from_arrays(ctx, d, trajectories, length, t, x, (const char *const *)one->state,
                                       keep_groups ? group : NULL, plain, out);
    sock_options_free(plain);
    sk_free(length);
    sk_free(group);
    sk_free(t);
    sk_free(x);
    return status;
}

sock_status sock_data_join(sock_context *ctx, const sock_data *one, const sock_data *other, const sock_options *opts,
                           sock_data **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!one || !other || !out)
        return sk_fail(ctx, SOCK_EUSAGE, "join: both data sets and the output must not be NULL");
    if (one->d != other->d)
        return sk_fail(ctx, SOCK_EINPUT, "join: %s has %zu states, %s %zu", one->source, one->d, other->source,
                       other->d);
    return sk_data_join(ctx, one, other, false, opts, out);
}
