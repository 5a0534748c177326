/* datarows.c - raw rows of one file or of several: which columns, in which order, from which file. */
#include "base/nearest.h"
#include "csvcells.h"
#include "dates.h"
#include "labels.h"
#include "readers.h"

#include <string.h>

/* ---- Where a row is from ---- */

static const sk_rows_part *part_of(const sk_rows *rows, size_t i)
{
    size_t low = 0, high = rows->parts;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (rows->part[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return &rows->part[low];
}

const char *sk_rows_source(const sk_rows *rows, size_t i)
{
    return rows->parts ? part_of(rows, i)->source : rows->source;
}
const char *sk_rows_place(const sk_rows *rows, size_t i) { return rows->parts ? part_of(rows, i)->place : rows->place; }

/* ---- Columns by name ---- */

/* Column of that name among the first `count`, or count. */
static size_t find_column(char *const *name, size_t count, const char *wanted, size_t length)
{
    size_t k = 0;
    while (k < count && (strlen(name[k]) != length || memcmp(name[k], wanted, length) != 0)) k++;
    return k;
}

/* Columns pick[0 .. count-1] in this order; others are ignored for that reason. */
static sock_status pick_columns(sock_context *ctx, sk_rows *rows, size_t count, const size_t *pick, const char *why)
{
    const size_t d = rows->d;
    char **name = sk_alloc(ctx, count, sizeof *name);
    double *x = sk_doubles_unset(ctx, rows->count, count);
    sk_ignored *ignored = sk_alloc(ctx, rows->ignored_count + d, sizeof *ignored);
    if (!name || !x || !ignored) {
        sk_free(name);
        sk_free(x);
        sk_free(ignored);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0; k < count; k++) x[i * count + k] = rows->x[i * d + pick[k]];
    for (size_t k = 0; k < count; k++) {
        name[k] = rows->state[pick[k]];
        rows->state[pick[k]] = NULL;
    }
    if (rows->ignored_count) memcpy(ignored, rows->ignored, rows->ignored_count * sizeof *ignored);
    for (size_t k = 0; k < d; k++)
        if (rows->state[k]) ignored[rows->ignored_count++] = (sk_ignored){rows->state[k], why};
    sk_free(rows->x);
    sk_free(rows->state);
    sk_free(rows->ignored);
    rows->x = x;
    rows->state = name;
    rows->ignored = ignored;
    rows->d = count;
    return SOCK_OK;
}

static sock_status refuse_column(sock_context *ctx, const sk_rows *rows, const char *option, const char *list,
                                 const char *name, bool twice)
{
    char meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(name, strlen(name));
    for (size_t k = 0; k < rows->d && !twice; k++) sk_nearest_try(&near, rows->state[k]);
    return sk_fail(ctx, SOCK_EUSAGE, "%s: %s is '%s': %s '%s'%s", rows->source, option, list,
                   twice ? "it is a state or input already:" : "there is no column", name, sk_meant(&near, meant));
}

/* The columns that an option names, behind the first *count of pick. */
static sock_status list_columns(sock_context *ctx, const char *option, const char *list, const sk_rows *rows,
                                size_t *pick, bool *logged, size_t *count)
{
    sk_cursor at = {.p = list, .line = 1, .source = option};
    for (bool last = false; !last;) {
        sk_cell cell;
        if (sk_next_cell(ctx, &at, &cell, &last) < 0) return SOCK_EUSAGE;
        char *name = sk_cell_copy(ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        size_t k = find_column(rows->state, rows->d, name, strlen(name)), from = 0, length = 0;
        logged[*count] = k == rows->d && strcmp(option, "state") == 0 && sk_log_name(name, &from, &length);
        if (logged[*count]) k = find_column(rows->state, rows->d, name + from, length);
        bool twice = false;
        for (size_t i = 0; i < *count; i++) twice |= pick[i] == k;
        sock_status status = SOCK_OK;
        if (k == rows->d || twice) status = refuse_column(ctx, rows, option, list, name, twice);
        sk_free(name);
        if (status < 0) return status;
        pick[(*count)++] = k;
    }
    return SOCK_OK;
}

sock_status sk_rows_select(sock_context *ctx, const sock_options *opts, sk_rows *rows)
{
    const char *state = sk_option_text(opts, "state"), *input = sk_option_text(opts, "input");
    if (strcmp(state, "auto") == 0) return SOCK_OK; /* inputs are moved later */
    size_t *pick = sk_alloc(ctx, rows->d + 1, sizeof *pick), count = 0;
    sk_free(rows->logged);
    bool *logged = rows->logged = sk_alloc(ctx, rows->d + 1, sizeof *logged);
    sock_status status = pick && logged ? list_columns(ctx, "state", state, rows, pick, logged, &count) : SOCK_ENOMEM;
    if (status >= 0 && strcmp(input, "none") != 0)
        status = list_columns(ctx, "input", input, rows, pick, logged, &count);
    if (status >= 0) status = pick_columns(ctx, rows, count, pick, "it is neither named as a state nor as an input");
    sk_free(pick);
    return status;
}

/* ---- Several files ---- */

/* The columns of the first file, in its order. */
static sock_status match_columns(sock_context *ctx, const sk_rows *rows, sk_rows *other)
{
    size_t *pick = sk_alloc(ctx, rows->d, sizeof *pick);
    bool same = rows->d == other->d;
    sock_status status = pick ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < rows->d; k++) {
        pick[k] = find_column(other->state, other->d, rows->state[k], strlen(rows->state[k]));
        same = same && pick[k] == k;
        if (pick[k] == other->d)
            status = sk_fail(ctx, SOCK_EINPUT, "%s: has no column '%s', as %s has; --state names columns that all have",
                             other->source, rows->state[k], rows->part[0].source);
    }
    if (status >= 0 && !same) status = pick_columns(ctx, other, rows->d, pick, "the first file has no such column");
    sk_free(pick);
    return status;
}

/* What another file has besides, each name once. */
static sock_status join_ignored(sock_context *ctx, sk_rows *rows, sk_rows *other)
{
    sk_ignored *all = sk_alloc(ctx, rows->ignored_count + other->ignored_count, sizeof *all);
    if (!all) return SOCK_ENOMEM;
    if (rows->ignored_count) memcpy(all, rows->ignored, rows->ignored_count * sizeof *all);
    sk_free(rows->ignored);
    rows->ignored = all;
    for (size_t i = 0; i < other->ignored_count; i++) {
        bool known = false;
        for (size_t k = 0; k < rows->ignored_count; k++) known |= strcmp(all[k].name, other->ignored[i].name) == 0;
        if (known) continue;
        all[rows->ignored_count++] = other->ignored[i];
        other->ignored[i].name = NULL;
    }
    return SOCK_OK;
}

static sock_status refuse_unlike(sock_context *ctx, const sk_rows *rows, const sk_rows *other)
{
    const char *first = rows->part[0].source;
    if (rows->dated != other->dated)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the times are %s, those of %s %s", other->source,
                       other->dated ? "dates" : "numbers", first, rows->dated ? "dates" : "numbers");
    if (!rows->group != !other->group)
        return sk_fail(ctx, SOCK_EINPUT, "%s: has %s groups, %s %s; --group none uses none", other->source,
                       other->group ? "named" : "no named", first, rows->group ? "has" : "has none");
    if (rows->inputs != other->inputs)
        return sk_fail(ctx, SOCK_EINPUT, "%s: has %zu inputs, %s %zu", other->source, other->inputs, first,
                       rows->inputs);
    return SOCK_OK;
}

/* The numbers of names in a set that grows. A name that another file has already gets its file's name before it, unless
 * names hold for all files. */
static sock_status number_names(sock_context *ctx, const char *source, bool joined, size_t count, char *const *name,
                                sk_labels *labels, size_t *number)
{
    for (size_t j = 0; j < count; j++) {
        bool is_new;
        SK_TRY(sk_labels_find(ctx, labels, name[j], strlen(name[j]), &number[j], &is_new));
        for (size_t again = 1; !is_new && !joined; again++) {
            char *longer = again > 1 ? sk_format(ctx, "%s:%s (%zu)", source, name[j], again)
                                     : sk_format(ctx, "%s:%s", source, name[j]);
            if (!longer) return SOCK_ENOMEM;
            const sock_status status = sk_labels_find(ctx, labels, longer, strlen(longer), &number[j], &is_new);
            sk_free(longer);
            if (status < 0) return status;
        }
    }
    return SOCK_OK;
}

/* A trajectory that goes on in another file stays in its group. */
static sock_status join_groups(sock_context *ctx, sk_joining *j, const sk_rows *other, size_t before,
                               const size_t *label, const size_t *group)
{
    SK_TRY(sk_grow(ctx, &j->group, &j->capacity, j->id.count, sizeof *j->group));
    for (size_t i = 0; i < other->trajectories; i++) {
        const size_t own = group[other->group[i]], at = label[i];
        if (at < before && j->group[at] != own)
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: trajectory '%s' is in group '%s', and in group '%s' in a file before it", other->source,
                           j->id.text[at], j->group_name.text[own], j->group_name.text[j->group[at]]);
        j->group[at] = own;
    }
    return SOCK_OK;
}

/* Names and groups of a file into those of all. label: of its trajectories, the numbers they get. */
static sock_status join_names(sock_context *ctx, sk_joining *j, const sk_rows *other, size_t *label)
{
    const size_t before = j->id.count;
    SK_TRY(number_names(ctx, other->source, j->joined, other->trajectories, other->id, &j->id, label));
    if (!other->group) return SOCK_OK;
    size_t *group = sk_alloc(ctx, other->group_labels, sizeof *group);
    sock_status status = group ? number_names(ctx, other->source, j->joined, other->group_labels, other->group_name,
                                              &j->group_name, group)
                               : SOCK_ENOMEM;
    if (status >= 0) status = join_groups(ctx, j, other, before, label, group);
    sk_free(group);
    return status;
}

/* The rows themselves, with the numbers of their trajectories. */
static sock_status join_rows(sock_context *ctx, sk_rows *rows, const sk_rows *other, const size_t *label)
{
    const size_t n = rows->count, all = n + other->count, d = rows->d;
    size_t have[4];
    for (size_t k = 0; k < 4; k++) have[k] = (k == 1 ? d : 1) * SK_MAX(rows->capacity, n);
    SK_TRY(sk_grow(ctx, &rows->t, &have[0], all, sizeof *rows->t));
    SK_TRY(sk_grow(ctx, &rows->x, &have[1], all * d, sizeof *rows->x));
    SK_TRY(sk_grow(ctx, &rows->label, &have[2], all, sizeof *rows->label));
    SK_TRY(sk_grow(ctx, &rows->line, &have[3], all, sizeof *rows->line));
    rows->capacity = SK_MIN(SK_MIN(have[0], have[2]), SK_MIN(have[1] / d, have[3]));
    memcpy(rows->t + n, other->t, other->count * sizeof *rows->t);
    memcpy(rows->x + n * d, other->x, other->count * d * sizeof *rows->x);
    memcpy(rows->line + n, other->line, other->count * sizeof *rows->line);
    for (size_t i = 0; i < other->count; i++) rows->label[n + i] = label[other->label[i]];
    rows->count = all;
    return SOCK_OK;
}

static sock_status add_part(sock_context *ctx, sk_rows *rows, const sk_rows *of, size_t first)
{
    SK_TRY(sk_grow(ctx, &rows->part, &rows->part_capacity, rows->parts + 1, sizeof *rows->part));
    char *source = sk_strdup(ctx, of->source);
    if (!source) return SOCK_ENOMEM;
    rows->part[rows->parts++] = (sk_rows_part){source, of->place, first};
    return SOCK_OK;
}

sock_status sk_rows_append(sock_context *ctx, sk_joining *joining, sk_rows *rows, sk_rows *other)
{
    size_t *label = sk_alloc(ctx, SK_MAX(rows->trajectories, other->trajectories), sizeof *label);
    sock_status status = label ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && !rows->parts) {
        SK_GO(add_part(ctx, rows, rows, 0));
        SK_GO(join_names(ctx, joining, rows, label));
    }
    if (status < 0) goto out;
    SK_GO(refuse_unlike(ctx, rows, other));
    SK_GO(match_columns(ctx, rows, other));
    if (other->ignored_count) SK_GO(join_ignored(ctx, rows, other));
    SK_GO(add_part(ctx, rows, other, rows->count));
    SK_GO(join_names(ctx, joining, other, label));
    SK_GO(join_rows(ctx, rows, other, label));
out:
    sk_free(label);
    return status;
}

static void free_texts(size_t count, char **text)
{
    for (size_t i = 0; text && i < count; i++) sk_free(text[i]);
    sk_free(text);
}

void sk_rows_joined(sk_joining *j, sk_rows *rows)
{
    if (!rows->parts) return;
    free_texts(rows->trajectories, rows->id);
    rows->id = j->id.text;
    rows->trajectories = j->id.count;
    j->id.text = NULL;
    j->id.count = 0;
    if (!rows->group) return;
    free_texts(rows->group_labels, rows->group_name);
    sk_free(rows->group);
    rows->group = j->group;
    rows->group_name = j->group_name.text;
    rows->group_labels = j->group_name.count;
    j->group = NULL;
    j->group_name.text = NULL;
    j->group_name.count = 0;
}

void sk_joining_clear(sk_joining *j)
{
    sk_labels_clear(&j->id);
    sk_labels_clear(&j->group_name);
    sk_free(j->group);
}

/* ---- The end ---- */

/* What the whole is called: the first file, and how many there are besides. */
static sock_status name_whole(sock_context *ctx, sk_rows *rows)
{
    if (rows->parts < 2) return SOCK_OK;
    char *name = sk_format(ctx, "%s and %zu more", rows->part[0].source, rows->parts - 1);
    if (!name) return SOCK_ENOMEM;
    sk_free(rows->source);
    rows->source = name;
    return SOCK_OK;
}

sock_status sk_rows_finish(sock_context *ctx, const sock_options *opts, sk_rows *rows, sock_data **out)
{
    SK_TRY(name_whole(ctx, rows));
    sk_rows_missing(sk_option_text(opts, "missing"), rows);
    for (size_t k = 0; rows->logged && k < rows->d; k++)
        if (rows->logged[k]) SK_TRY(sk_rows_take_log(ctx, rows, k));
    rows->every = sk_option_count(opts, "every");
    if (rows->dated) SK_TRY(sk_rows_unit(ctx, opts, rows));
    SK_TRY(sk_rows_inputs(ctx, opts, rows));
    if (rows->unnamed) SK_TRY(sk_rows_idle(ctx, rows));
    if (!rows->unnamed && rows->watch && *rows->watch) SK_TRY(sk_rows_watch(ctx, rows));
    SK_TRY(sk_rows_logs(ctx, opts, rows));
    return sk_data_build(ctx, rows, sk_option_text(opts, "grouping"), out);
}
