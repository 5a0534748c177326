/* trajfolder.c - the folder form of a data set, read into memory. Its files are read in pieces, so that there is no
 * copy of them beside the rows. */
#define _GNU_SOURCE
#include "trajfolder.h"

#include "base/safefile.h"
#include "readers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Opening ---- */

bool sk_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static sock_status open_one(sock_context *ctx, const char *path, const char *name, char **own, sk_npy_file *out)
{
    *own = sk_format(ctx, "%s/%s", path, name);
    return *own ? sk_npy_open(ctx, *own, out) : SOCK_ENOMEM;
}

static sock_status check_shapes(sock_context *ctx, sk_folder *f)
{
    const sk_npy *x = &f->x.array;
    f->points = x->shape[0];
    f->columns = x->dimensions == 2 ? x->shape[1] : 1;
    if (f->points == 0 || f->columns == 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the array of shape (%zu, %zu) is empty", x->source, f->points,
                       f->columns);
    if (f->t.array.dimensions != 1 || f->t.count != f->points)
        return sk_fail(ctx, SOCK_EINPUT, "%s: holds %zu numbers; x.npy has %zu points, and each has one time",
                       f->t.array.source, f->t.count, f->points);
    if (f->first.array.dimensions != 1 || f->first.array.kind == 'f' || f->first.count < 2)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: must be a list of whole numbers, one for each trajectory and the number of all points",
                       f->first.array.source);
    f->trajectories = f->first.count - 1;
    if (f->group.handle >= 0 &&
        (f->group.array.dimensions != 1 || f->group.array.kind == 'f' || f->group.count != f->trajectories))
        return sk_fail(ctx, SOCK_EINPUT, "%s: must be a list of whole numbers, one for each of the %zu trajectories",
                       f->group.array.source, f->trajectories);
    return SOCK_OK;
}

void sk_folder_close(sk_folder *f)
{
    sk_npy_close(&f->x);
    sk_npy_close(&f->t);
    sk_npy_close(&f->first);
    sk_npy_close(&f->group);
    for (size_t i = 0; i < SK_FOLDER_FILES; i++) sk_free(f->file[i]);
    for (size_t k = 0; f->name && k < f->columns; k++) sk_free(f->name[k]);
    sk_free(f->name);
}

/* The names are the lines of names.txt. */
static sock_status split_names(sock_context *ctx, const char *path, char *text, sk_folder *f)
{
    size_t count = 0;
    const char **list = sk_alloc(ctx, f->columns, sizeof *list);
    if (!list) return SOCK_ENOMEM;
    for (char *at = text; *at;) {
        char *end = at + strcspn(at, "\r\n");
        const bool ends = *end == 0;
        *end = 0;
        if (*at && count < f->columns) list[count] = at;
        count += *at != 0;
        at = ends ? end : end + 1;
    }
    sock_status status = SOCK_OK;
    if (count != f->columns)
        status = sk_fail(ctx, SOCK_EINPUT, "%s: has %zu lines; x.npy has %zu columns, and each has a name", path, count,
                         f->columns);
    if (status >= 0) status = sk_state_names(ctx, path, f->columns, list, &f->name);
    sk_free((void *)list);
    return status == SOCK_EUSAGE ? SOCK_EINPUT : status;
}

static sock_status read_names(sock_context *ctx, const char *path, sk_folder *f)
{
    char *file = sk_format(ctx, "%s/names.txt", path), *text = NULL;
    size_t size = 0;
    if (!file) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    if (access(file, F_OK) == 0) {
        status = sk_file_read(ctx, file, &text, &size);
        if (status >= 0 && memchr(text, 0, size)) status = sk_fail(ctx, SOCK_EINPUT, "%s: holds a zero byte", file);
        if (status >= 0) status = split_names(ctx, file, text, f);
    }
    sk_free(text);
    sk_free(file);
    return status;
}

static sock_status folder_has(sock_context *ctx, const char *path, const char *name, bool *there)
{
    char *file = sk_format(ctx, "%s/%s", path, name);
    if (!file) return SOCK_ENOMEM;
    *there = access(file, F_OK) == 0;
    sk_free(file);
    return SOCK_OK;
}

/* A folder of training and test data, as `sock split` and `sock dataset` make them, is no data set. */
static sock_status require_states(sock_context *ctx, const char *path)
{
    bool there, train;
    SK_TRY(folder_has(ctx, path, "x.npy", &there));
    SK_TRY(folder_has(ctx, path, "train.csv", &train));
    if (there) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: cannot be read: it is a folder without x.npy%s%s%s; the folder form of data has x.npy, t.npy "
                   "and first.npy",
                   path, train ? " (did you mean " : "", train ? path : "", train ? "/train.csv?)" : "");
}

sock_status sk_folder_open(sock_context *ctx, const char *path, sk_folder *out)
{
    sk_folder f = {.x.handle = -1, .t.handle = -1, .first.handle = -1, .group.handle = -1};
    sock_status status;
    char *group = NULL;
    SK_GO(require_states(ctx, path));
    SK_GO(open_one(ctx, path, "x.npy", &f.file[0], &f.x));
    SK_GO(open_one(ctx, path, "t.npy", &f.file[1], &f.t));
    SK_GO(open_one(ctx, path, "first.npy", &f.file[2], &f.first));
    group = sk_format(ctx, "%s/group.npy", path);
    if (!group) SK_GO(SOCK_ENOMEM);
    if (access(group, F_OK) == 0) SK_GO(open_one(ctx, path, "group.npy", &f.file[3], &f.group));
    SK_GO(check_shapes(ctx, &f));
    SK_GO(read_names(ctx, path, &f));
    *out = f;
    f = (sk_folder){.x.handle = -1, .t.handle = -1, .first.handle = -1, .group.handle = -1};
out:
    sk_free(group);
    sk_folder_close(&f);
    return status;
}

/* ---- Numbers ---- */

sock_status sk_folder_points(sock_context *ctx, const sk_folder *f, size_t first, size_t count, double *t, double *x)
{
    const size_t d = f->columns;
    SK_TRY(sk_npy_read(ctx, &f->t, first, count, t));
    if (!f->x.array.fortran || d == 1) return sk_npy_read(ctx, &f->x, first * d, count * d, x);
    double *column = sk_doubles_unset(ctx, count, 1);
    sock_status status = column ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        status = sk_npy_read(ctx, &f->x, k * f->points + first, count, column);
        for (size_t i = 0; status >= 0 && i < count; i++) x[i * d + k] = column[i];
    }
    sk_free(column);
    return status;
}

/* The numbers come as doubles: beyond 2^53 they would not be exact, and no file is that long. */
sock_status sk_folder_first(sock_context *ctx, const sk_folder *f, size_t *first)
{
    const size_t count = f->trajectories + 1;
    double *value = sk_doubles_unset(ctx, count, 1);
    sock_status status = value ? sk_npy_read(ctx, &f->first, 0, count, value) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < count; j++) {
        const double least = j ? value[j - 1] : 0, most = j ? (double)f->points : 0;
        const double wanted = j + 1 == count ? (double)f->points : value[j];
        if (value[j] < least || value[j] > most || value[j] != wanted)
            status = sk_fail(ctx, SOCK_EINPUT,
                             "%s: number %zu is %.17g; they begin with 0, never fall, and end with %zu, the points of "
                             "x.npy",
                             f->first.array.source, j, value[j], f->points);
        else
            first[j] = (size_t)value[j];
    }
    sk_free(value);
    return status;
}

/* ---- Rows ---- */

static sock_status read_points(sock_context *ctx, const sk_folder *f, sk_rows *rows)
{
    size_t *first = sk_alloc(ctx, f->trajectories + 1, sizeof *first);
    rows->count = f->points;
    rows->t = sk_doubles_unset(ctx, f->points, 1);
    rows->x = sk_doubles_unset(ctx, f->points, f->columns);
    rows->label = sk_alloc(ctx, f->points, sizeof *rows->label);
    rows->line = sk_alloc(ctx, f->points, sizeof *rows->line);
    const bool room = first && rows->t && rows->x && rows->label && rows->line;
    sock_status status = room ? sk_folder_first(ctx, f, first) : SOCK_ENOMEM;
    if (status >= 0) status = sk_folder_points(ctx, f, 0, f->points, rows->t, rows->x);
    for (size_t j = 0; status >= 0 && j < f->trajectories; j++)
        for (size_t i = first[j]; i < first[j + 1]; i++) {
            rows->label[i] = j;
            rows->line[i] = i - first[j];
        }
    sk_free(first);
    return status;
}

/* Labels may be any numbers: their texts are numbered in order of first appearance. */
static sock_status read_groups(sock_context *ctx, const sk_folder *f, sk_rows *rows)
{
    if (f->group.handle < 0) return SOCK_OK;
    sk_labels labels = {0};
    double *value = sk_doubles_unset(ctx, f->trajectories, 1);
    rows->group = sk_alloc(ctx, f->trajectories, sizeof *rows->group);
    sock_status status = value && rows->group ? sk_npy_read(ctx, &f->group, 0, f->trajectories, value) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < f->trajectories; j++) {
        char text[32];
        bool is_new;
        const size_t length = (size_t)snprintf(text, sizeof text, "%.0f", value[j]);
        status = sk_labels_find(ctx, &labels, text, length, &rows->group[j], &is_new);
    }
    rows->group_name = labels.text;
    rows->group_labels = labels.count;
    labels.text = NULL;
    labels.count = 0;
    sk_labels_clear(&labels);
    sk_free(value);
    return status;
}

/* Without names.txt the option state names the columns, as it does for an array. */
static sock_status name_columns(sock_context *ctx, const char *path, const sock_options *opts, sk_folder *f,
                                sk_rows *rows)
{
    const char *time = sk_option_text(opts, "time");
    rows->place = "point";
    rows->source = sk_strdup(ctx, path);
    rows->time = sk_strdup(ctx, strcmp(time, "auto") == 0 ? "t" : time);
    rows->d = f->columns;
    if (!rows->source || !rows->time) return SOCK_ENOMEM;
    if (!f->name) return sk_named_columns(ctx, path, f->columns, opts, &rows->state);
    rows->state = f->name;
    f->name = NULL;
    return SOCK_OK;
}

sock_status sk_folder_rows(sock_context *ctx, const char *path, const sock_options *opts, sk_rows *rows)
{
    sk_folder f;
    SK_TRY(sk_folder_open(ctx, path, &f));
    const bool named = f.name != NULL;
    const double each = (double)(f.columns + 3) * sizeof(double);
    sock_status status = sk_memory_check(ctx, 2 * each * (double)f.points, path, "raise the memory limit");
    if (status >= 0) status = name_columns(ctx, path, opts, &f, rows);
    if (status >= 0) status = sk_number_names(ctx, f.trajectories, &rows->id);
    if (status >= 0) rows->trajectories = f.trajectories;
    if (status >= 0) status = read_points(ctx, &f, rows);
    if (status >= 0) status = read_groups(ctx, &f, rows);
    if (status >= 0 && named) status = sk_rows_select(ctx, opts, rows);
    sk_folder_close(&f);
    return status;
}
