/* databuild.c - raw rows become a data set.
 *
 * 1. Refuse numbers that are not finite; mark rows with something missing.
 * 2. Gather the rows of each trajectory (counting sort, stable).
 * 3. Sort each trajectory in time where it is not; refuse equal times.
 * 4. Thin.
 * 5. Leave out trajectories without a point; part states from inputs; move the names over.
 * 6. Group, and sign with a hash.
 * Cost: a few passes over the rows; m log m only for trajectories that came unsorted. */
#include "grouping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stamped {
    double t;
    size_t row;
} stamped;

/* Working arrays of one build. */
typedef struct build {
    const sk_rows *rows;
    size_t *start; /* rows->trajectories + 1: where the kept rows of a trajectory begin in order */
    size_t *order; /* kept rows, trajectory after trajectory, in time */
    size_t kept;
    size_t *missing; /* values each column lacks: the time, then those of rows->x */
    size_t unsorted, unsorted_at, twins[2];
    stamped *stamps; /* to sort one trajectory; as long as the longest that is unsorted */
    size_t stamp_capacity;
} build;

static void release(build *b)
{
    sk_free(b->start);
    sk_free(b->order);
    sk_free(b->missing);
    sk_free(b->stamps);
}

static sock_status refuse_infinite(sock_context *ctx, const sk_rows *rows, size_t i, const char *column, double value)
{
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: trajectory '%s', %s %zu, column '%s': the value is %s; finite numbers are allowed",
                   sk_rows_source(rows, i), rows->id[rows->label[i]], sk_rows_place(rows, i), rows->line[i], column,
                   value > 0 ? "infinite" : "minus infinite");
}

/* *complete: nothing of row i is missing; what is, is counted. */
static sock_status check_row(sock_context *ctx, const build *b, size_t i, bool *complete)
{
    const sk_rows *rows = b->rows;
    const double *x = rows->x + i * rows->d;
    if (isinf(rows->t[i])) return refuse_infinite(ctx, rows, i, rows->time, rows->t[i]);
    *complete = !isnan(rows->t[i]);
    b->missing[0] += !*complete;
    for (size_t k = 0; k < rows->d; k++) {
        if (isinf(x[k])) return refuse_infinite(ctx, rows, i, rows->state[k], x[k]);
        *complete &= !isnan(x[k]);
        b->missing[1 + k] += isnan(x[k]) != 0;
    }
    return SOCK_OK;
}

/* Steps 1 and 2. While counting, start[j + 1] is the number of kept rows of j; then the place of its next row. */
static sock_status gather(sock_context *ctx, build *b)
{
    const sk_rows *rows = b->rows;
    bool *complete = sk_alloc(ctx, rows->count, sizeof *complete);
    b->start = sk_alloc(ctx, rows->trajectories + 2, sizeof *b->start);
    b->order = sk_alloc(ctx, rows->count, sizeof *b->order);
    b->missing = sk_alloc(ctx, rows->d + 1, sizeof *b->missing);
    sock_status status = SOCK_ENOMEM;
    if (!complete || !b->start || !b->order || !b->missing) goto out;
    for (size_t i = 0; i < rows->count; i++) {
        SK_GO(check_row(ctx, b, i, &complete[i]));
        if (!complete[i]) continue;
        b->start[rows->label[i] + 2]++;
        b->kept++;
    }
    for (size_t j = 0; j < rows->trajectories; j++) b->start[j + 2] += b->start[j + 1];
    for (size_t i = 0; i < rows->count; i++)
        if (complete[i]) b->order[b->start[rows->label[i] + 1]++] = i;
    status = SOCK_OK;
out:
    sk_free(complete);
    return status;
}

/* By time, then as the rows came: stable. */
static int earlier(const void *left, const void *right)
{
    const stamped *a = left, *b = right;
    if (a->t != b->t) return a->t < b->t ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static sock_status sort_trajectory(sock_context *ctx, build *b, size_t *order, size_t length)
{
    SK_TRY(sk_grow(ctx, &b->stamps, &b->stamp_capacity, length, sizeof *b->stamps));
    for (size_t i = 0; i < length; i++) b->stamps[i] = (stamped){b->rows->t[order[i]], order[i]};
    qsort(b->stamps, length, sizeof *b->stamps, earlier);
    for (size_t i = 0; i < length; i++) order[i] = b->stamps[i].row;
    return SOCK_OK;
}

static sock_status refuse_twins(sock_context *ctx, const sk_rows *rows, size_t j, size_t one, size_t other)
{
    const char *first = sk_rows_source(rows, one), *second = sk_rows_source(rows, other);
    if (first != second)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s, %s %zu, and %s, %s %zu: trajectory '%s' has two points at the same time %.17g; without "
                       "--files joined names are a file's own",
                       first, sk_rows_place(rows, one), rows->line[one], second, sk_rows_place(rows, other),
                       rows->line[other], rows->id[j], rows->t[one]);
    char time[32];
    sk_print_double(time, rows->t[one]);
    const bool has_columns = strcmp(sk_rows_place(rows, one), "line") == 0;
    return sk_fail(ctx, SOCK_EINPUT, "%s: %ss %zu and %zu: trajectory '%s' has two points at the same time %s%s", first,
                   sk_rows_place(rows, one), rows->line[one], rows->line[other], rows->id[j], time,
                   has_columns ? "; where two columns together name a trajectory, --id A,B takes both" : "");
}

/* Step 3 for trajectory j. */
static sock_status put_in_time(sock_context *ctx, build *b, size_t j)
{
    const sk_rows *rows = b->rows;
    size_t *order = b->order + b->start[j], length = b->start[j + 1] - b->start[j];
    const size_t found = b->unsorted;
    double latest = length ? rows->t[order[0]] : 0;
    for (size_t i = 1; i < length; i++) {
        if (rows->t[order[i]] >= latest) {
            latest = rows->t[order[i]];
            continue;
        }
        if (b->unsorted++ == 0 || rows->line[order[i]] < b->unsorted_at) b->unsorted_at = rows->line[order[i]];
    }
    if (b->unsorted > found) SK_TRY(sort_trajectory(ctx, b, order, length));
    for (size_t i = 1; i < length; i++) {
        if (rows->t[order[i - 1]] != rows->t[order[i]]) continue;
        b->twins[0] = rows->line[order[i - 1]];
        b->twins[1] = rows->line[order[i]];
        return refuse_twins(ctx, rows, j, order[i - 1], order[i]);
    }
    return SOCK_OK;
}

/* Step 4: what has gone no longer counts as kept. */
static void thin(build *b)
{
    const size_t every = SK_MAX(b->rows->every, 1);
    size_t kept = 0, begin = 0;
    for (size_t j = 0; j < b->rows->trajectories; j++) {
        const size_t end = b->start[j + 1];
        for (size_t i = begin; i < end; i += every) b->order[kept++] = b->order[i];
        begin = end;
        b->start[j + 1] = kept;
    }
    b->kept = kept;
}

/* Step 5: the inputs; the time is the last of them. */
static sock_status fill_inputs(sock_context *ctx, const build *b, sock_data *data)
{
    const sk_rows *rows = b->rows;
    const size_t m = rows->inputs, width = m + rows->timed;
    data->u = sk_doubles(ctx, b->kept, width);
    if (!data->u) return SOCK_ENOMEM;
    for (size_t i = 0; i < b->kept; i++) {
        double *u = data->u + i * width;
        const double *from = rows->x + b->order[i] * rows->d + rows->d - m;
        for (size_t k = 0; k < m; k++) u[k] = from[k];
        if (rows->timed) u[m] = data->t[i];
    }
    return SOCK_OK;
}

/* Step 5: the numbers. Trajectories keep their order; to[i] is the old number of trajectory i. */
static sock_status fill(sock_context *ctx, const build *b, sock_data *data, size_t *to)
{
    const sk_rows *rows = b->rows;
    const size_t m = rows->inputs, d = rows->d - m;
    data->points = b->kept;
    data->t = sk_doubles(ctx, b->kept, 1);
    data->x = sk_doubles(ctx, b->kept, d);
    data->first = sk_alloc(ctx, rows->trajectories + 1, sizeof *data->first);
    if (!data->t || !data->x || !data->first) return SOCK_ENOMEM;
    for (size_t i = 0; i < b->kept; i++) {
        data->t[i] = rows->t[b->order[i]];
        memcpy(data->x + i * d, rows->x + b->order[i] * (d + m), d * sizeof(double));
    }
    if (m || rows->timed) SK_TRY(fill_inputs(ctx, b, data));
    const bool lined = rows->lined && !rows->parts;
    if (lined && !(data->line = sk_alloc(ctx, b->kept, sizeof *data->line))) return SOCK_ENOMEM;
    for (size_t i = 0; lined && i < b->kept; i++) data->line[i] = rows->line[b->order[i]];
    size_t count = 0;
    for (size_t j = 0; j < rows->trajectories; j++) {
        size_t length = b->start[j + 1] - b->start[j];
        data->single += length == 1;
        if (length == 0) continue;
        to[count++] = j;
        data->first[count] = b->start[j + 1];
    }
    data->rows_read = rows->count;
    data->empty = rows->trajectories - count;
    data->trajectories = count;
    return SOCK_OK;
}

/* Step 5: the names of the inputs. */
static sock_status move_inputs(sock_context *ctx, sk_rows *rows, sock_data *data)
{
    const size_t m = rows->inputs, d = rows->d - m;
    data->input = sk_alloc(ctx, m + rows->timed, sizeof *data->input);
    if (!data->input) return SOCK_ENOMEM;
    data->inputs = m + rows->timed;
    data->timed = rows->timed;
    for (size_t k = 0; k < m; k++) {
        data->input[k] = rows->state[d + k];
        rows->state[d + k] = NULL;
    }
    if (rows->timed && !(data->input[m] = sk_strdup(ctx, rows->time))) return SOCK_ENOMEM;
    return SOCK_OK;
}

/* Step 5: the names, taken out of rows. Ids of trajectories that are gone stay there. */
static sock_status move_names(sock_context *ctx, sk_rows *rows, sock_data *data, const size_t *to)
{
    data->id = sk_alloc(ctx, data->trajectories, sizeof *data->id);
    if (!data->id) return SOCK_ENOMEM;
    for (size_t i = 0; i < data->trajectories; i++) {
        data->id[i] = rows->id[to[i]];
        rows->id[to[i]] = NULL;
    }
    if (rows->inputs || rows->timed) SK_TRY(move_inputs(ctx, rows, data));
    data->d = rows->d - rows->inputs;
    data->labelled = rows->group != NULL;
    data->state = rows->state;
    data->time = rows->time;
    data->unit = rows->unit;
    data->source = rows->source;
    data->ignored = rows->ignored;
    data->ignored_count = rows->ignored_count;
    rows->state = NULL;
    rows->time = rows->source = NULL;
    rows->ignored = NULL;
    rows->ignored_count = 0;
    return SOCK_OK;
}

/* Step 6. */
static sock_status group(sock_context *ctx, const sk_rows *rows, const char *grouping, size_t *to, sock_data *data)
{
    if (strcmp(grouping, "none") == 0) return sk_group_none(ctx, data);
    if (!rows->group && !rows->kind) return sk_group_by_start(ctx, data, NULL);
    if (!rows->group) {
        for (size_t i = 0; i < data->trajectories; i++) to[i] = rows->kind[to[i]];
        return sk_group_by_start(ctx, data, to);
    }
    for (size_t i = 0; i < data->trajectories; i++) to[i] = rows->group[to[i]];
    return sk_group_by_label(ctx, data, to, rows->group_labels, rows->group_name);
}

/* Which columns it is that lack values. */
static sock_status refuse_nothing_left(sock_context *ctx, const build *b)
{
    const sk_rows *rows = b->rows;
    char list[256] = "";
    size_t used = 0, lacking = 0;
    for (size_t k = 0; k <= rows->d && used < sizeof list; k++) {
        if (!b->missing[k]) continue;
        lacking++;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu in %s", used ? ", " : ": ", b->missing[k],
                                 k ? rows->state[k - 1] : rows->time);
    }
    return sk_fail(ctx, SOCK_EINPUT, "%s: no point is left: %zu of %zu rows have a missing value%s%s", rows->source,
                   rows->count, rows->count, list, lacking > 1 ? "; --state names the columns that count" : "");
}

sock_status sk_data_build(sock_context *ctx, sk_rows *rows, const char *grouping, sock_data **out)
{
    build b = {.rows = rows};
    sock_status status = SOCK_OK;
    sock_data *data = sk_alloc(ctx, 1, sizeof *data);
    size_t *to = sk_alloc(ctx, rows->trajectories, sizeof *to);
    if (!data || !to) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(gather(ctx, &b));
    if (b.kept == 0) {
        status = refuse_nothing_left(ctx, &b);
        goto out;
    }
    for (size_t j = 0; j < rows->trajectories; j++) SK_GO(put_in_time(ctx, &b, j));
    data->missing = rows->count - b.kept;
    data->missing_in = b.missing;
    b.missing = NULL;
    data->unsorted = b.unsorted;
    data->unsorted_at = b.unsorted_at;
    thin(&b);
    data->thinned = rows->count - data->missing - b.kept;
    SK_GO(fill(ctx, &b, data, to));
    SK_GO(move_names(ctx, rows, data, to));
    SK_GO(group(ctx, rows, grouping, to, data));
    sk_data_sign(data);
    *out = data;
    data = NULL;
out:
    memcpy(rows->twins, b.twins, sizeof b.twins);
    sock_data_free(data);
    sk_free(to);
    release(&b);
    return status;
}
