/* dataread.c - data from arrays in memory. */
#include "labels.h"
#include "readers.h"

#include <stdio.h>
#include <string.h>

static sock_status check_arguments(sock_context *ctx, size_t d, size_t trajectories, const size_t *length,
                                   const double *t, const double *x, sock_data **out)
{
    if (!length || !t || !x || !out) return sk_fail(ctx, SOCK_EUSAGE, "length, t, x and out must not be NULL");
    if (d == 0) return sk_fail(ctx, SOCK_EUSAGE, "d is 0; allowed: 1 or more state columns");
    if (trajectories == 0) return sk_fail(ctx, SOCK_EUSAGE, "trajectories is 0; allowed: 1 or more");
    return SOCK_OK;
}

static sock_status count_points(sock_context *ctx, size_t trajectories, const size_t *length, size_t *points)
{
    *points = 0;
    for (size_t j = 0; j < trajectories; j++) {
        if (length[j] > SIZE_MAX - *points)
            return sk_fail(ctx, SOCK_EUSAGE, "the lengths of the trajectories add up to more than can be addressed");
        *points += length[j];
    }
    if (*points == 0) return sk_fail(ctx, SOCK_EINPUT, "arrays: no trajectory has a point");
    return SOCK_OK;
}

/* Labels may be any numbers: their texts are numbered in order of first appearance. */
static sock_status number_groups(sock_context *ctx, const size_t *group, sk_rows *rows)
{
    sk_labels labels = {0};
    sock_status status = SOCK_OK;
    rows->group = sk_alloc(ctx, rows->trajectories, sizeof *rows->group);
    if (!rows->group) return SOCK_ENOMEM;
    for (size_t j = 0; j < rows->trajectories; j++) {
        char text[32];
        bool is_new;
        int length = snprintf(text, sizeof text, "%zu", group[j]);
        SK_GO(sk_labels_find(ctx, &labels, text, (size_t)length, &rows->group[j], &is_new));
    }
    rows->group_name = labels.text;
    rows->group_labels = labels.count;
    labels.text = NULL;
    labels.count = 0;
out:
    sk_labels_clear(&labels);
    return status;
}

static sock_status copy_rows(sock_context *ctx, const size_t *length, const double *t, const double *x, sk_rows *rows)
{
    rows->t = sk_doubles(ctx, rows->count, 1);
    rows->x = sk_doubles(ctx, rows->count, rows->d);
    rows->label = sk_alloc(ctx, rows->count, sizeof *rows->label);
    rows->line = sk_alloc(ctx, rows->count, sizeof *rows->line);
    if (!rows->t || !rows->x || !rows->label || !rows->line) return SOCK_ENOMEM;
    memcpy(rows->t, t, rows->count * sizeof *t);
    memcpy(rows->x, x, rows->count * rows->d * sizeof *x);
    size_t row = 0;
    for (size_t j = 0; j < rows->trajectories; j++)
        for (size_t i = 0; i < length[j]; i++, row++) {
            rows->label[row] = j;
            rows->line[row] = i;
        }
    return SOCK_OK;
}

/* The user's names, which need not differ: two of them are told apart by their place alone. */
static sock_status name_trajectories(sock_context *ctx, const sk_arrays *from, sk_rows *rows)
{
    if (!from->ids) SK_TRY(sk_number_names(ctx, from->trajectories, &rows->id));
    rows->trajectories = from->trajectories;
    if (from->ids) rows->id = sk_alloc(ctx, from->trajectories, sizeof *rows->id);
    if (!rows->id) return SOCK_ENOMEM;
    for (size_t j = 0; from->ids && j < from->trajectories; j++) {
        if (!from->ids[j]) return sk_fail(ctx, SOCK_EUSAGE, "the name of trajectory %zu is NULL", j);
        rows->id[j] = sk_strdup(ctx, from->ids[j]);
        if (!rows->id[j]) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

sock_status sk_data_of_arrays(sock_context *ctx, const sk_arrays *from, const sock_options *opts, sock_data **out)
{
    sk_rows rows = {.place = "point"};
    sock_status status = SOCK_OK;
    SK_GO(count_points(ctx, from->trajectories, from->length, &rows.count));
    SK_GO(sk_state_names(ctx, "arrays", from->columns, from->names, &rows.state));
    rows.d = from->columns;
    rows.inputs = from->inputs;
    rows.timed = from->timed;
    SK_GO(name_trajectories(ctx, from, &rows));
    rows.time = sk_strdup(ctx, "t");
    rows.source = sk_strdup(ctx, "arrays");
    if (!rows.time || !rows.source) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(copy_rows(ctx, from->length, from->t, from->x, &rows));
    if (from->group) SK_GO(number_groups(ctx, from->group, &rows));
    SK_GO(sk_rows_finish(ctx, opts, &rows, out));
out:
    sk_rows_clear(&rows);
    return status;
}

sock_status sock_data_from_arrays(sock_context *ctx, size_t d, size_t trajectories, const size_t *length,
                                  const double *t, const double *x, const char *const *names, const size_t *group,
                                  const sock_options *opts, sock_data **out)
{
    return sock_data_from_named_arrays(ctx, d, trajectories, NULL, length, t, x, names, group, opts, out);
}

sock_status sock_data_from_named_arrays(sock_context *ctx, size_t d, size_t trajectories, const char *const *ids,
                                        const size_t *length, const double *t, const double *x,
                                        const char *const *names, const size_t *group, const sock_options *opts,
                                        sock_data **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(check_arguments(ctx, d, trajectories, length, t, x, out));
    const sk_arrays from = {.columns = d,
                            .trajectories = trajectories,
                            .length = length,
                            .t = t,
                            .x = x,
                            .names = names,
                            .ids = ids,
                            .group = group};
    return sk_data_of_arrays(ctx, &from, opts, out);
}
