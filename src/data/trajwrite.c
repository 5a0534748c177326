/* trajwrite.c - a data set in folder form, whole or not at all. The headers of the arrays have a fixed length and are
 * written anew at the end, when it is known how long they are. */
#define _GNU_SOURCE
#include "base/temporary.h"
#include "trajfolder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_SIZE = 128 };
enum { X, T, FIRST, GROUP, NAMES, FILES };

static const char *const names[FILES] = {"x.npy", "t.npy", "first.npy", "group.npy", "names.txt"};

struct sk_folder_writer {
    char *path, *temporary, *own[FILES]; /* the files, with the temporary folder before their names */
    FILE *file[FILES];
    bool single, labelled, any;
    size_t points, trajectories, groups, columns;
    int held;  /* the temporary folder, which is locked */
    int error; /* errno of the first failure */
};

static void release(sk_folder_writer *w)
{
    for (size_t f = 0; f < FILES; f++) {
        if (w->file[f]) fclose(w->file[f]);
        sk_free(w->own[f]);
    }
    if (w->held >= 0) close(w->held);
    sk_free(w->path);
    sk_free(w->temporary);
    sk_free(w);
}

void sk_folder_abandon(sk_folder_writer *w)
{
    if (!w) return;
    for (size_t f = 0; f < FILES; f++)
        if (w->own[f]) unlink(w->own[f]);
    if (w->temporary) rmdir(w->temporary);
    release(w);
}

/* ---- The folder ---- */

static int open_files(sock_context *ctx, sk_folder_writer *w)
{
    for (size_t f = 0; f < FILES; f++) {
        w->own[f] = sk_format(ctx, "%s/%s", w->temporary, names[f]);
        if (!w->own[f]) return ENOMEM;
        w->file[f] = fopen(w->own[f], "wbxe");
        if (!w->file[f]) return errno;
        if (f != NAMES && fseek(w->file[f], HEADER_SIZE, SEEK_SET) != 0) return errno;
    }
    return 0;
}

static sock_status cannot_write(sock_context *ctx, const char *path, int error)
{
    return sk_fail(ctx, error == ENOMEM ? SOCK_ENOMEM : SOCK_EIO, "%s: cannot be written: %s", path, strerror(error));
}

sock_status sk_folder_create(sock_context *ctx, const char *path, bool single, sk_folder_writer **out)
{
    struct stat info;
    if (!path[0] || lstat(path, &info) == 0)
        return sk_fail(ctx, SOCK_EIO, "%s: cannot be written: %s", path,
                       path[0] ? "something of that name is there; remove it or give another name" : strerror(ENOENT));
    sk_folder_writer *w = sk_alloc(ctx, 1, sizeof *w);
    if (!w) return SOCK_ENOMEM;
    w->single = single;
    w->held = -1;
    w->path = sk_strdup(ctx, path);
    size_t length = w->path ? strlen(w->path) : 0;
    while (length > 1 && w->path[length - 1] == '/') w->path[--length] = 0;
    if (w->path) sk_temporaries_remove(w->path);
    int error = w->path ? sk_temporary_folder(ctx, w->path, 0777, &w->temporary, &w->held) : ENOMEM;
    if (!error) error = open_files(ctx, w);
    if (error) {
        sk_folder_abandon(w);
        return cannot_write(ctx, path, error);
    }
    *out = w;
    return SOCK_OK;
}

/* ---- Numbers, little-endian ---- */

static void put(sk_folder_writer *w, size_t f, uint64_t bits, size_t width)
{
    unsigned char bytes[8] = {0};
    for (size_t i = 0; i < width; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
    if (!w->error && fwrite(bytes, 1, width, w->file[f]) != width) w->error = errno ? errno : EIO;
}

static void put_number(sk_folder_writer *w, size_t f, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(w, f, bits, 8);
}

static void put_state(sk_folder_writer *w, double value)
{
    const float less = (float)value;
    uint32_t bits;
    memcpy(&bits, &less, sizeof bits);
    if (w->single)
        put(w, X, bits, 4);
    else
        put_number(w, X, value);
}

/* ---- Data ---- */

static void put_names(sk_folder_writer *w, const sock_data *data)
{
    for (size_t k = 0; k < w->columns; k++)
        if (fprintf(w->file[NAMES], "%s\n", k < data->d ? data->state[k] : data->input[k - data->d]) < 0)
            w->error = errno ? errno : EIO;
}

static sock_status begin(sock_context *ctx, sk_folder_writer *w, const sock_data *data)
{
    w->any = true;
    w->labelled = data->labelled;
    w->columns = data->d + data->inputs - data->timed;
    for (size_t k = 0; k < w->columns; k++) {
        const char *name = k < data->d ? data->state[k] : data->input[k - data->d];
        if (strpbrk(name, "\r\n"))
            return sk_fail(ctx, SOCK_EINPUT, "%s: the name of column %zu has two lines; a folder holds one for each",
                           data->source, k + 1);
    }
    put_names(w, data);
    return SOCK_OK;
}

static sock_status check_alike(sock_context *ctx, const sk_folder_writer *w, const sock_data *data)
{
    if (data->d + data->inputs - data->timed != w->columns)
        return sk_fail(ctx, SOCK_EINPUT, "%s: has %zu columns, the files before it %zu", data->source,
                       data->d + data->inputs - data->timed, w->columns);
    if (data->labelled != w->labelled)
        return sk_fail(ctx, SOCK_EINPUT, "%s: has %s groups, the files before it %s; --group none uses none",
                       data->source, data->labelled ? "named" : "no named", w->labelled ? "have" : "have none");
    return SOCK_OK;
}

static void put_points(sk_folder_writer *w, const sock_data *data, size_t j)
{
    const size_t inputs = data->inputs - data->timed;
    for (size_t i = data->first[j]; i < data->first[j + 1]; i++) {
        put_number(w, T, data->t[i]);
        for (size_t k = 0; k < data->d; k++) put_state(w, data->x[i * data->d + k]);
        for (size_t k = 0; k < inputs; k++) put_state(w, data->u[i * data->inputs + k]);
    }
}

static void begin_trajectory(sk_folder_writer *w, const sock_data *data, size_t j, size_t group)
{
    put(w, FIRST, w->points + data->first[j], 8);
    put(w, GROUP, w->groups + group, 8);
    w->trajectories++;
}

sock_status sk_folder_add(sock_context *ctx, sk_folder_writer *w, const sock_data *data, bool goes_on)
{
    enum { EACH = 1 << 10 };
    if (!w->any) SK_TRY(begin(ctx, w, data));
    SK_TRY(check_alike(ctx, w, data));
    size_t *group = sk_alloc(ctx, data->trajectories, sizeof *group);
    if (!group) return SOCK_ENOMEM;
    for (size_t g = 0; g < data->groups; g++)
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) group[data->member[m]] = g;
    sock_status status = SOCK_OK;
    for (size_t j = 0; status >= 0 && j < data->trajectories; j++) {
        if (j % EACH == 0) status = sk_progress(ctx, "writing", -1);
        if (j > 0 || !goes_on) begin_trajectory(w, data, j, group[j]);
        put_points(w, data, j);
    }
    sk_free(group);
    w->points += data->points;
    w->groups += data->groups;
    if (status >= 0 && w->error) status = cannot_write(ctx, w->path, w->error);
    return status;
}

/* ---- The end ---- */

/* The header that NumPy itself writes, filled up with blanks to a fixed length. */
static int put_header(FILE *file, const char *type, const char *shape)
{
    char text[HEADER_SIZE + 1];
    const int length =
        snprintf(text, sizeof text, "%c%s%c%c%c%c{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", 0x93,
                 "NUMPY", 1, 1, HEADER_SIZE - 10, 1, type, shape);
    if (length < 0 || length >= HEADER_SIZE) return EOVERFLOW;
    memset(text + length, ' ', HEADER_SIZE - (size_t)length);
    text[7] = text[9] = 0; /* version 1.0; the high byte of the length */
    text[HEADER_SIZE - 1] = '\n';
    return fseek(file, 0, SEEK_SET) == 0 && fwrite(text, 1, HEADER_SIZE, file) == HEADER_SIZE ? 0 : errno;
}

static int put_headers(sk_folder_writer *w)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu, %zu", w->points, w->columns);
    int error = put_header(w->file[X], w->single ? "<f4" : "<f8", shape);
    snprintf(shape, sizeof shape, "%zu,", w->points);
    if (!error) error = put_header(w->file[T], "<f8", shape);
    snprintf(shape, sizeof shape, "%zu,", w->trajectories + 1);
    if (!error) error = put_header(w->file[FIRST], "<u8", shape);
    snprintf(shape, sizeof shape, "%zu,", w->trajectories);
    return error ? error : put_header(w->file[GROUP], "<u8", shape);
}

/* Bytes to the disk first, then the name of the folder. */
static int close_files(sk_folder_writer *w, bool durable)
{
    put(w, FIRST, w->points, 8);
    int error = w->error ? w->error : put_headers(w);
    for (size_t f = 0; f < FILES; f++) {
        if (!error && (fflush(w->file[f]) != 0 || (durable && fsync(fileno(w->file[f])) != 0))) error = errno;
        if (fclose(w->file[f]) != 0 && !error) error = errno;
        w->file[f] = NULL;
    }
    if (!error && !w->labelled && unlink(w->own[GROUP]) != 0) error = errno; /* as the reader groups them */
    return error;
}

sock_status sk_folder_commit(sock_context *ctx, sk_folder_writer *w, bool durable)
{
    int error = close_files(w, durable);
    if (!error && rename(w->temporary, w->path) != 0) error = errno;
    if (error) {
        const sock_status status = cannot_write(ctx, w->path, error);
        sk_folder_abandon(w);
        return status;
    }
    release(w);
    return SOCK_OK;
}
