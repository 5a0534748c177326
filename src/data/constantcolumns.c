/* constantcolumns.c - columns that say something of a trajectory, not of its course: a dose, a group, a weight. */
#include "data.h"

#include <math.h>
#include <string.h>

/* changes[k]: column k of rows->x takes two values within some trajectory, or shows no more than one in any;
 * differs[k]: it takes two at all. */
static sock_status find_changes(sock_context *ctx, const sk_rows *rows, bool *changes, bool *differs)
{
    const size_t d = rows->d, all = rows->trajectories;
    double *first = sk_doubles(ctx, all + 1, d); /* of each trajectory, then of all; NaN: none yet */
    bool *repeats = sk_alloc(ctx, d, sizeof *repeats);
    const sock_status status = first && repeats ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < (all + 1) * d; i++) first[i] = (double)NAN;
    for (size_t i = 0; status >= 0 && i < rows->count; i++)
        for (size_t k = 0; k < d; k++) {
            const double value = rows->x[i * d + k];
            double *own = &first[rows->label[i] * d + k], *any = &first[all * d + k];
            if (isnan(value)) continue;
            repeats[k] |= *own == value;
            changes[k] |= !isnan(*own) && *own != value;
            differs[k] |= !isnan(*any) && *any != value;
            *own = value;
            *any = value;
        }
    for (size_t k = 0; status >= 0 && k < d; k++) changes[k] |= !repeats[k];
    sk_free(first);
    sk_free(repeats);
    return status;
}

/* Room for the columns that are left out, behind those that are already. */
static sock_status grow_ignored(sock_context *ctx, sk_rows *rows)
{
    sk_ignored *ignored = sk_alloc(ctx, rows->ignored_count + rows->d, sizeof *ignored);
    if (!ignored) return SOCK_ENOMEM;
    if (rows->ignored_count) memcpy(ignored, rows->ignored, rows->ignored_count * sizeof *ignored);
    sk_free(rows->ignored);
    rows->ignored = ignored;
    return SOCK_OK;
}

/* Columns move to the left, in place: what is written has been read. */
static void keep_columns(sk_rows *rows, const bool *keep, const bool *differs)
{
    const size_t before = rows->d;
    size_t kept = 0;
    for (size_t k = 0; k < before; k++) {
        char *name = rows->state[k];
        rows->state[k] = NULL;
        if (keep[k])
            rows->state[kept++] = name;
        else
            rows->ignored[rows->ignored_count++] =
                (sk_ignored){name, differs[k] ? "it is constant within each trajectory (--input takes it as an input)"
                                              : "it never changes"};
    }
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0, to = 0; k < before; k++)
            if (keep[k]) rows->x[i * kept + to++] = rows->x[i * before + k];
    rows->d = kept;
}

sock_status sk_rows_constant(sock_context *ctx, sk_rows *rows, bool *apart)
{
    bool *keep = sk_alloc(ctx, rows->d, sizeof *keep), *differs = sk_alloc(ctx, rows->d, sizeof *differs);
    sock_status status = keep && differs ? SOCK_OK : SOCK_ENOMEM;
    size_t states = 0, left = 0;
    *apart = false;
    if (status >= 0) status = find_changes(ctx, rows, keep, differs);
    for (size_t k = 0; status >= 0 && k < rows->d; k++) {
        const bool is_input = k + rows->inputs >= rows->d;
        states += keep[k] && !is_input;
        left += !keep[k] && !is_input;
        *apart |= !keep[k] && !is_input && differs[k];
        keep[k] |= is_input;
    }
    *apart &= states > 0;
    if (status >= 0 && states && left) {
        status = grow_ignored(ctx, rows);
        if (status >= 0) keep_columns(rows, keep, differs);
    }
    sk_free(keep);
    sk_free(differs);
    return status;
}
