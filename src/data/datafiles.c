/* datafiles.c - files as a data set: one or several, of any form; and as a folder. */
#define _GNU_SOURCE
#include "base/safefile.h"
#include "csvslices.h"
#include "readers.h"
#include "trajfolder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *text, const char *tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

static const char *opened(const char *path) { return strcmp(path, "-") == 0 ? "/dev/stdin" : path; }

static sock_status read_rows(sock_context *ctx, const char *path, const sock_options *opts, sk_rows *rows)
{
    char *bytes = NULL;
    size_t size = 0;
    if (sk_is_folder(path)) return sk_folder_rows(ctx, path, opts, rows);
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    const sock_status status = (ends_in(path, ".npy") ? sk_npy_rows : sk_csv_rows)(ctx, path, bytes, size, opts, rows);
    sk_free(bytes);
    return status;
}

/* ---- One ---- */

static sock_status read_folder(sock_context *ctx, const char *path, const sock_options *opts, sock_data **out)
{
    sk_rows rows = {0};
    sock_status status = sk_folder_rows(ctx, path, opts, &rows);
    if (status >= 0) status = sk_rows_finish(ctx, opts, &rows, out);
    sk_rows_clear(&rows);
    return status;
}

static sock_status read_one(sock_context *ctx, const char *path, const sock_options *opts, sock_data **out)
{
    char *bytes = NULL;
    size_t size = 0;
    if (sk_is_folder(path)) return read_folder(ctx, path, opts, out);
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    const sock_status status = (ends_in(path, ".npy") ? sk_npy_parse : sk_csv_parse)(ctx, path, bytes, size, opts, out);
    sk_free(bytes);
    return status;
}

sock_status sock_data_read(sock_context *ctx, const char *path, const sock_options *opts, sock_data **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || !out) return sk_fail(ctx, SOCK_EUSAGE, "path and out must not be NULL");
    return read_one(ctx, path, opts, out);
}

/* ---- Several ---- */

typedef struct place {
    dev_t device;
    ino_t file;
    size_t number;
} place;

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The same file twice is a slip: its rows would count double. What cannot be found is for the reader to say. */
static sock_status refuse_twice(sock_context *ctx, size_t count, const char *const *path)
{
    place *list = sk_alloc(ctx, count, sizeof *list);
    size_t found = 0;
    if (!list) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        if (stat(opened(path[i]), &info) == 0) list[found++] = (place){info.st_dev, info.st_ino, i};
    }
    qsort(list, found, sizeof *list, by_place);
    sock_status status = SOCK_OK;
    for (size_t i = 1; status >= 0 && i < found; i++) {
        const char *one = path[list[i - 1].number], *other = path[list[i].number];
        if (list[i].device != list[i - 1].device || list[i].file != list[i - 1].file) continue;
        const bool same = strcmp(one, other) == 0;
        status = sk_fail(ctx, SOCK_EUSAGE, "%s is given twice%s%s; give each file once", one, same ? "" : ", also as ",
                         same ? "" : other);
    }
    sk_free(list);
    return status;
}

sock_status sk_files_check(sock_context *ctx, size_t count, const char *const *path)
{
    if (count == 0) return sk_fail(ctx, SOCK_EUSAGE, "count is 0; allowed: 1 or more files");
    for (size_t i = 0; i < count; i++)
        if (!path[i]) return sk_fail(ctx, SOCK_EUSAGE, "path %zu is NULL", i);
    return refuse_twice(ctx, count, path);
}

static bool are_joined(const sock_options *opts) { return strcmp(sk_option_text(opts, "files"), "joined") == 0; }

static sock_status read_several(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                                sock_data **out)
{
    sk_rows rows = {0}, other = {0};
    sk_joining joining = {.joined = are_joined(opts)};
    sock_status status = read_rows(ctx, path[0], opts, &rows);
    for (size_t i = 1; status >= 0 && i < count; i++) {
        status = read_rows(ctx, path[i], opts, &other);
        if (status >= 0) status = sk_rows_append(ctx, &joining, &rows, &other);
        sk_rows_clear(&other);
    }
    if (status >= 0) sk_rows_joined(&joining, &rows);
    if (status >= 0) status = sk_rows_finish(ctx, opts, &rows, out);
    sk_joining_clear(&joining);
    sk_rows_clear(&rows);
    return status;
}

sock_status sock_data_read_files(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                                 sock_data **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || !out) return sk_fail(ctx, SOCK_EUSAGE, "path and out must not be NULL");
    SK_TRY(sk_files_check(ctx, count, path));
    return count == 1 ? read_one(ctx, path[0], opts, out) : read_several(ctx, count, path, opts, out);
}

/* ---- To a folder ---- */

char *sk_quoted_names(sock_context *ctx, size_t d, char *const *name)
{
    size_t room = 1, at = 0;
    for (size_t k = 0; k < d; k++) room += 2 * strlen(name[k]) + 3;
    char *list = sk_alloc(ctx, room, 1);
    for (size_t k = 0; list && k < d; k++) {
        if (k) list[at++] = ',';
        list[at++] = '"';
        for (const char *p = name[k]; *p; p++) {
            if (*p == '"') list[at++] = '"';
            list[at++] = *p;
        }
        list[at++] = '"';
    }
    return list;
}

/* A folder that is being written. */
typedef struct adding {
    const sock_options *given;
    sock_options *own; /* later files have the states of the first, whatever theirs look like */
    bool keeps_own;    /* this one decides them */
    sk_folder_writer *writer;
    sk_slicing how;
    sk_reading *reading; /* may be NULL */
} adding;

static sock_status add(sock_context *ctx, void *arg, const sock_data *data, bool goes_on)
{
    adding *a = arg;
    SK_TRY(sk_folder_add(ctx, a->writer, data, goes_on));
    if (a->reading) SK_TRY(sk_reading_add(ctx, data, a->reading));
    return !a->own && a->keeps_own ? sk_options_after(ctx, data, a->how.watch ? *a->how.watch : NULL, a->given, &a->own)
                                   : SOCK_OK;
}

/* An array is read whole. */
static sock_status refuse_large(sock_context *ctx, const char *path, size_t most)
{
    struct stat info;
    if (!most || sk_is_folder(path) || stat(opened(path), &info) != 0 || (size_t)info.st_size <= most) return SOCK_OK;
    return sk_fail(
        ctx, SOCK_EINPUT,
        "%s: an array is read whole, and a stream reads no more than %zu MB so: write it as a folder of x.npy "
        "(points x columns), t.npy and first.npy, or sock convert makes one, with memory for some seven "
        "times its size",
        path, most >> 20);
}

static sock_status add_file(sock_context *ctx, const char *path, adding *a)
{
    const sock_options *opts = a->own ? a->own : a->given; /* the first file: what was given, to its end */
    a->keeps_own = !ends_in(path, ".npy");
    if (a->keeps_own && !sk_is_folder(path)) return sk_csv_file_slices(ctx, path, &a->how, opts, add, a);
    SK_TRY(refuse_large(ctx, path, a->how.most));
    sock_data *data = NULL;
    SK_TRY(read_one(ctx, path, opts, &data));
    const sock_status status = add(ctx, a, data, false);
    sock_data_free(data);
    return status;
}

/* One file after the other, so that only one is in memory, and of a long CSV only a slice. */
static sock_status add_each(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                            sk_folder_writer *writer, const sk_slicing *how, sk_reading *reading)
{
    adding a = {.given = opts, .writer = writer, .how = *how, .reading = reading};
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < count; i++) status = add_file(ctx, path[i], &a);
    sock_options_free(a.own);
    return status;
}

static sock_status add_joined(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                              sk_folder_writer *writer, sk_reading *reading)
{
    sock_data *data = NULL;
    SK_TRY(read_several(ctx, count, path, opts, &data));
    sock_status status = sk_folder_add(ctx, writer, data, false);
    if (status >= 0 && reading) status = sk_reading_add(ctx, data, reading);
    sock_data_free(data);
    return status;
}

sock_status sk_files_to_folder(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                               bool single, bool durable, const char *folder, const sk_slicing *how,
                               sk_reading *reading)
{
    sk_folder_writer *writer = NULL;
    SK_TRY(sk_folder_create(ctx, folder, single, &writer));
    const bool joined = count > 1 && are_joined(opts);
    const sock_status status = joined ? add_joined(ctx, count, path, opts, writer, reading)
                                      : add_each(ctx, count, path, opts, writer, how, reading);
    if (status >= 0) return sk_folder_commit(ctx, writer, durable);
    sk_folder_abandon(writer);
    return status;
}

sock_status sk_text_to_folder(sock_context *ctx, const sk_csv_origin *from, const sock_options *opts, bool single,
                              const char *folder)
{
    sk_watch *watch = NULL;
    adding a = {.given = opts, .how = {.watch = &watch}};
    SK_TRY(sk_folder_create(ctx, folder, single, &a.writer));
    const sock_status status = sk_csv_slices(ctx, from, &a.how, opts, add, &a);
    sk_watch_free(watch);
    if (status >= 0) return sk_folder_commit(ctx, a.writer, true);
    sk_folder_abandon(a.writer);
    return status;
}

sock_status sock_data_convert(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                              int single, const char *folder)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || !folder) return sk_fail(ctx, SOCK_EUSAGE, "path and folder must not be NULL");
    SK_TRY(sk_files_check(ctx, count, path));
    sk_watch *watch = NULL;
    const sk_slicing how = {.watch = &watch};
    const sock_status status = sk_files_to_folder(ctx, count, path, opts, single != 0, true, folder, &how, NULL);
    sk_watch_free(watch);
    return status;
}
