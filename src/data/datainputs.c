/* datainputs.c - inputs of a data set: which columns they are, and which are kept. */
#include "csvcells.h"
#include "readers.h"

#include <string.h>

/* ---- Columns ---- */

/* Column k of the rows becomes the last one. */
static void move_last(sk_rows *rows, size_t k)
{
    const size_t d = rows->d;
    char *name = rows->state[k];
    memmove(rows->state + k, rows->state + k + 1, (d - k - 1) * sizeof *rows->state);
    rows->state[d - 1] = name;
    for (size_t i = 0; i < rows->count; i++) {
        double *x = rows->x + i * d, value = x[k];
        memmove(x + k, x + k + 1, (d - k - 1) * sizeof *x);
        x[d - 1] = value;
    }
}

static sock_status take_input(sock_context *ctx, sk_rows *rows, const char *name)
{
    size_t k = 0;
    while (k < rows->d && strcmp(rows->state[k], name) != 0) k++;
    if (k == rows->d)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: input is '%s', and there is no such column", rows->source, name);
    if (k + rows->inputs >= rows->d)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: input names the column '%s' twice", rows->source, name);
    move_last(rows, k);
    rows->inputs++;
    return SOCK_OK;
}

/* Readers without columns of their own (arrays) have them moved here. */
static sock_status take_inputs(sock_context *ctx, const char *list, sk_rows *rows)
{
    sk_cursor at = {.p = list, .line = 1, .source = "the option input"};
    for (bool last = false; !last;) {
        sk_cell cell;
        if (sk_next_cell(ctx, &at, &cell, &last) < 0) return SOCK_EUSAGE;
        char *name = sk_cell_copy(ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        sock_status status = take_input(ctx, rows, name);
        sk_free(name);
        if (status < 0) return status;
    }
    if (rows->inputs < rows->d) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE, "%s: input is '%s', which leaves no state", rows->source, list);
}

sock_status sk_rows_inputs(sock_context *ctx, const sock_options *opts, sk_rows *rows)
{
    const char *list = sk_option_text(opts, "input");
    if (!rows->inputs && strcmp(list, "none") != 0) SK_TRY(take_inputs(ctx, list, rows));
    rows->timed = rows->timed || sk_option_flag(opts, "time-dependent");
    return SOCK_OK;
}

/* ---- Some of them ---- */

sock_status sk_data_keep_inputs(sock_context *ctx, const sock_data *data, const bool *use, sock_data **out)
{
    size_t *all = sk_alloc(ctx, data->trajectories, sizeof *all), kept = 0;
    sock_data *part = NULL;
    *out = NULL;
    for (size_t k = 0; k < data->inputs; k++) kept += use[k];
    for (size_t j = 0; all && j < data->trajectories; j++) all[j] = j;
    sock_status status = !all                  ? SOCK_ENOMEM
                         : kept < data->inputs ? sk_data_subset(ctx, data, all, data->trajectories, &part)
                                               : SOCK_OK;
    sk_free(all);
    if (!part) return status;
    const size_t m = part->inputs;
    for (size_t i = 0; i < part->points; i++)
        for (size_t k = 0, to = 0; k < m; k++)
            if (use[k]) part->u[i * kept + to++] = part->u[i * m + k];
    for (size_t k = 0, to = 0; k < m; k++) {
        char *name = part->input[k];
        if (use[k])
            part->input[to++] = name;
        else
            sk_free(name);
    }
    part->timed = part->timed && use[m - 1];
    part->inputs = kept;
    part->missing = data->missing;
    *out = part;
    return SOCK_OK;
}
