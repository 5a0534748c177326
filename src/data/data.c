/* data.c - the data set itself: release, getters, counts, parts of it. */
#include "data.h"

#include "grouping.h"

#include <math.h>
#include <string.h>

static void free_texts(char **text, size_t count)
{
    for (size_t i = 0; text && i < count; i++) sk_free(text[i]);
    sk_free(text);
}

static void free_ignored(sk_ignored *ignored, size_t count)
{
    for (size_t i = 0; ignored && i < count; i++) sk_free(ignored[i].name);
    sk_free(ignored);
}

void sock_data_free(sock_data *data)
{
    if (!data) return;
    free_texts(data->state, data->d);
    free_texts(data->input, data->inputs);
    free_texts(data->id, data->trajectories);
    free_ignored(data->ignored, data->ignored_count);
    sk_free(data->time);
    sk_free(data->source);
    sk_free(data->line);
    sk_free(data->first);
    sk_free(data->t);
    sk_free(data->x);
    sk_free(data->u);
    sk_free(data->group_first);
    sk_free(data->member);
    sk_free(data->missing_in);
    sk_free(data);
}

void sk_rows_clear(sk_rows *rows)
{
    free_texts(rows->state, rows->d);
    free_texts(rows->id, rows->trajectories);
    free_texts(rows->group_name, rows->group_labels);
    free_ignored(rows->ignored, rows->ignored_count);
    sk_free(rows->time);
    sk_free(rows->source);
    for (size_t f = 0; f < rows->parts; f++) sk_free(rows->part[f].source);
    sk_free(rows->part);
    sk_free(rows->t);
    sk_free(rows->x);
    sk_free(rows->label);
    sk_free(rows->line);
    sk_free(rows->group);
    sk_free(rows->kind);
    sk_free(rows->logged);
    *rows = (sk_rows){0};
}

size_t sock_data_dim(const sock_data *data) { return data ? data->d : 0; }
size_t sock_data_trajectories(const sock_data *data) { return data ? data->trajectories : 0; }
size_t sock_data_groups(const sock_data *data) { return data ? data->groups : 0; }
size_t sock_data_points(const sock_data *data) { return data ? data->points : 0; }
const char *sock_data_id(const sock_data *data, size_t j)
{
    return data && j < data->trajectories ? data->id[j] : NULL;
}

size_t sock_data_intervals(const sock_data *data) { return data ? sk_data_intervals(data) : 0; }

const char *sock_data_name(const sock_data *data, size_t k) { return data && k < data->d ? data->state[k] : NULL; }

const char *sock_data_left_out(const sock_data *data, size_t i, const char **why)
{
    const bool there = data && i < data->ignored_count;
    if (why) *why = there ? data->ignored[i].why : NULL;
    return there ? data->ignored[i].name : NULL;
}

size_t sock_data_inputs(const sock_data *data) { return data ? data->inputs : 0; }

const char *sock_data_input_name(const sock_data *data, size_t k)
{
    return data && k < data->inputs ? data->input[k] : NULL;
}

const double *sock_data_input(const sock_data *data, size_t j)
{
    const bool there = data && data->inputs && j < data->trajectories;
    return there ? data->u + data->first[j] * data->inputs : NULL;
}

size_t sock_data_trajectory(const sock_data *data, size_t j, const double **t, const double **x)
{
    bool there = data && j < data->trajectories;
    if (t) *t = there ? data->t + data->first[j] : NULL;
    if (x) *x = there ? data->x + data->first[j] * data->d : NULL;
    return there ? sk_data_length(data, j) : 0;
}

const size_t *sock_data_lines(const sock_data *data, size_t j)
{
    return data && data->line && j < data->trajectories ? data->line + data->first[j] : NULL;
}

size_t sk_group_intervals(const sock_data *data, size_t g)
{
    return sk_data_length(data, data->member[data->group_first[g]]) - 1;
}

size_t sk_data_intervals(const sock_data *data)
{
    size_t n = 0;
    for (size_t g = 0; g < data->groups; g++) n += sk_group_intervals(data, g);
    return n;
}

sock_status sk_data_refuse_stepless(sock_context *ctx, const char *source)
{
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: no trajectory has two points, so there is no interval to learn from; where the id numbers the "
                   "rows, --id none makes them one trajectory; a table with one row a subject is none for this program",
                   source);
}

static sock_status copy_texts(sock_context *ctx, char *const *from, size_t count, char **to)
{
    for (size_t i = 0; i < count; i++)
        if (!(to[i] = sk_strdup(ctx, from[i]))) return SOCK_ENOMEM;
    return SOCK_OK;
}

static sock_status copy_names(sock_context *ctx, const sock_data *data, sock_data *part)
{
    part->time = sk_strdup(ctx, data->time);
    part->source = sk_strdup(ctx, data->source);
    part->state = sk_alloc(ctx, data->d, sizeof *part->state);
    part->input = data->inputs ? sk_alloc(ctx, data->inputs, sizeof *part->input) : NULL;
    if (!part->time || !part->source || !part->state || (data->inputs && !part->input)) return SOCK_ENOMEM;
    part->inputs = data->inputs;
    part->timed = data->timed;
    part->unit = data->unit;
    if (part->input) SK_TRY(copy_texts(ctx, data->input, data->inputs, part->input));
    return copy_texts(ctx, data->state, data->d, part->state);
}

static sock_status copy_pieces(sock_context *ctx, const sock_data *data, const sk_piece *piece, sock_data *part)
{
    part->t = sk_doubles(ctx, part->points, 1);
    part->x = sk_doubles(ctx, part->points, part->d);
    part->id = sk_alloc(ctx, part->trajectories, sizeof *part->id);
    part->first = sk_alloc(ctx, part->trajectories + 1, sizeof *part->first);
    const size_t m = part->inputs;
    part->u = m ? sk_doubles(ctx, part->points, m) : NULL;
    part->line = data->line ? sk_alloc(ctx, part->points, sizeof *part->line) : NULL;
    if (!part->t || !part->x || !part->id || !part->first || (m && !part->u) || (data->line && !part->line))
        return SOCK_ENOMEM;
    for (size_t i = 0; i < part->trajectories; i++) {
        const size_t length = piece[i].count, to = part->first[i], j = piece[i].trajectory;
        const size_t from = data->first[j] + piece[i].from;
        memcpy(part->t + to, data->t + from, length * sizeof(double));
        memcpy(part->x + to * part->d, data->x + from * part->d, length * part->d * sizeof(double));
        if (part->line) memcpy(part->line + to, data->line + from, length * sizeof *part->line);
        if (m) memcpy(part->u + to * m, data->u + from * m, length * m * sizeof(double));
        part->first[i + 1] = to + length;
        part->single += length == 1;
        part->id[i] = piece[i].tail ? sk_format(ctx, "%s/%s", data->id[j], piece[i].tail) : sk_strdup(ctx, data->id[j]);
        if (!part->id[i]) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

/* key[i]: the old group of trajectory keep[i]. */
static sock_status copy_groups(sock_context *ctx, const sock_data *data, const size_t *keep, sock_data *part)
{
    size_t *group_of = sk_alloc(ctx, data->trajectories, sizeof *group_of);
    size_t *key = sk_alloc(ctx, part->trajectories, sizeof *key);
    sock_status status = SOCK_ENOMEM;
    if (!group_of || !key) goto out;
    for (size_t g = 0; g < data->groups; g++)
        for (size_t i = data->group_first[g]; i < data->group_first[g + 1]; i++) group_of[data->member[i]] = g;
    for (size_t i = 0; i < part->trajectories; i++) key[i] = group_of[keep[i]];
    status = sk_group_by_key(ctx, part, key, data->groups);
out:
    sk_free(group_of);
    sk_free(key);
    return status;
}

sock_status sk_data_pieces(sock_context *ctx, const sock_data *data, const sk_piece *piece, size_t count,
                           sock_data **out)
{
    sock_data *part = sk_alloc(ctx, 1, sizeof *part);
    if (!part) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    part->d = data->d;
    part->trajectories = count;
    for (size_t i = 0; i < count; i++) part->points += piece[i].count;
    part->rows_read = part->points;
    SK_GO(copy_names(ctx, data, part));
    SK_GO(copy_pieces(ctx, data, piece, part));
    *out = part;
    part = NULL;
out:
    sock_data_free(part);
    return status;
}

sock_status sk_data_subset(sock_context *ctx, const sock_data *data, const size_t *keep, size_t count, sock_data **out)
{
    sock_data *part = NULL;
    sock_status status = SOCK_OK;
    sk_piece *piece = sk_alloc(ctx, count, sizeof *piece);
    if (!piece) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) piece[i] = (sk_piece){keep[i], 0, sk_data_length(data, keep[i]), NULL};
    SK_GO(sk_data_pieces(ctx, data, piece, count, &part));
    SK_GO(copy_groups(ctx, data, keep, part));
    sk_data_sign(part);
    *out = part;
    part = NULL;
out:
    sk_free(piece);
    sock_data_free(part);
    return status;
}
