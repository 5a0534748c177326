/* join.c - two data sets as one. */
#include "base/options.h"
#include "data.h"
#include "dates.h"

#include <string.h>

/* The labels of the groups of `data` from `first` on, for its trajectories. */
static void label_groups(const sock_data *data, size_t first, size_t *group)
{
    for (size_t g = 0; g < data->groups; g++)
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) group[data->member[m]] = first + g;
}

/* States and inputs of a point side by side, as columns of an array; the time is none of them. */
static void put_columns(const sock_data *data, double *x)
{
    const size_t d = data->d, m = data->inputs - data->timed, width = d + m;
    for (size_t i = 0; i < data->points; i++) {
        memcpy(x + i * width, data->x + i * d, d * sizeof *x);
        if (m) memcpy(x + i * width + d, data->u + i * data->inputs, m * sizeof *x);
    }
}

static void put_part(const sock_data *data, size_t first_group, size_t *length, size_t *group, double *t, double *x)
{
    label_groups(data, first_group, group);
    for (size_t u = 0; u < data->trajectories; u++) length[u] = sk_data_length(data, u);
    memcpy(t, data->t, data->points * sizeof *t);
    put_columns(data, x);
}

static void list_names(const sock_data *data, const char **names)
{
    for (size_t k = 0; k < data->d; k++) names[k] = data->state[k];
    for (size_t k = 0; k + data->timed < data->inputs; k++) names[data->d + k] = data->input[k];
}

sock_status sk_data_join(sock_context *ctx, const sock_data *one, const sock_data *other, bool keep_groups,
                         const sock_options *opts, sock_data **out)
{
    const size_t trajectories = one->trajectories + other->trajectories, points = one->points + other->points;
    const size_t width = one->d + one->inputs - one->timed;
    /* The parts were thinned, and their inputs found, when they were read. First, since a public call forgets the
     * message of what failed before. */
    sock_options *plain = sock_options_new(ctx);
    size_t *length = sk_alloc(ctx, trajectories, sizeof *length), *group = sk_alloc(ctx, trajectories, sizeof *group);
    double *t = sk_doubles_unset(ctx, points, 1), *x = sk_doubles_unset(ctx, points, width);
    const char **names = sk_alloc(ctx, width, sizeof *names);
    sock_status status = length && group && t && x && names && plain ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(ctx, plain, "grouping", sk_option_text(opts, "grouping"));
    if (status >= 0) {
        put_part(one, 0, length, group, t, x);
        put_part(other, one->groups, length + one->trajectories, group + one->trajectories, t + one->points,
                 x + one->points * width);
        list_names(one, names);
        const sk_arrays from = {.columns = width,
                                .inputs = width - one->d,
                                .timed = one->timed,
                                .trajectories = trajectories,
                                .length = length,
                                .t = t,
                                .x = x,
                                .names = names,
                                .group = keep_groups ? group : NULL};
        status = sk_data_of_arrays(ctx, &from, plain, out);
        if (status >= 0) (*out)->unit = one->unit;
    }
    sock_options_free(plain);
    sk_free(length);
    sk_free(group);
    sk_free(t);
    sk_free(x);
    sk_free(names);
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
    if (one->inputs != other->inputs || one->timed != other->timed)
        return sk_fail(ctx, SOCK_EINPUT, "join: %s has %zu inputs, %s %zu", one->source, one->inputs, other->source,
                       other->inputs);
    if (sk_unit_seconds(one->unit) != sk_unit_seconds(other->unit))
        return sk_fail(ctx, SOCK_EINPUT,
                       "join: the times of %s are in %ss, those of %s in %ss; choose with --time-unit", one->source,
                       one->unit ? one->unit : "number", other->source, other->unit ? other->unit : "number");
    return sk_data_join(ctx, one, other, false, opts, out);
}
