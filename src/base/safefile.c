/* safefile.c - temporary file beside the target, fsync, rename: a reader sees the old file or the new one. */
#define _GNU_SOURCE
#include "safefile.h"
#include "comm.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sk_file {
    FILE *stream;
    char *path, *temporary, *folder; /* the last two are NULL where no file is replaced: standard output, devices */
    int error;                       /* errno of the first failed write */
};

static void release(sk_file *file)
{
    if (file->stream && file->stream != stdout) fclose(file->stream);
    sk_free(file->path);
    sk_free(file->temporary);
    sk_free(file->folder);
    sk_free(file);
}

/* A device, a pipe: written in place. Replacing /dev/null by a file would be a way to break a machine. */
static int open_in_place(sk_file *file)
{
    file->stream = fopen(file->path, "wbe");
    return file->stream ? 0 : errno;
}

/* The file that a path stands for: a link is written through, not over. */
static int open_target(sock_context *ctx, sk_file *file, const char *path)
{
    struct stat info, link;
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT) return errno;
    if (!exists && (!path[0] || lstat(path, &link) == 0)) return ENOENT; /* no name, or a link to nothing */
    if (exists && S_ISDIR(info.st_mode)) return EISDIR;
    char *real = exists && S_ISREG(info.st_mode) ? realpath(path, NULL) : NULL;
    file->path = sk_strdup(ctx, real ? real : path);
    free(real);
    if (!file->path) return ENOMEM;
    if (exists && !S_ISREG(info.st_mode)) return open_in_place(file);
    file->folder = sk_strdup(ctx, file->path);
    if (!file->folder) return ENOMEM;
    sk_temporaries_remove(file->path);
    return sk_temporary_create(ctx, file->path, exists ? &info : NULL, &file->temporary, &file->stream);
}

sock_status sk_file_create(sock_context *ctx, const char *path, sk_file **out)
{
    sk_file *file = sk_alloc(ctx, 1, sizeof *file);
    if (!file) return SOCK_ENOMEM;
    int error = 0;
    if (sk_rank(ctx) > 0) path = "/dev/null"; /* of several processes one writes */
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        file->path = sk_strdup(ctx, "standard output");
        error = file->path ? 0 : ENOMEM;
    } else {
        error = open_target(ctx, file, path);
    }
    if (error) {
        release(file);
        sock_status status = error == ENOMEM ? SOCK_ENOMEM : SOCK_EIO;
        return sk_fail(ctx, status, "%s: cannot be written: %s", path, strerror(error));
    }
    *out = file;
    return SOCK_OK;
}

void sk_write(sk_file *file, const void *bytes, size_t count)
{
    if (!file->error && count && fwrite(bytes, 1, count, file->stream) != count) file->error = errno ? errno : EIO;
}

void sk_writef(sk_file *file, const char *format, ...)
{
    if (file->error) return;
    va_list args;
    va_start(args, format);
    if (vfprintf(file->stream, format, args) < 0) file->error = errno ? errno : EIO;
    va_end(args);
}

/* The rename itself is durable once the folder is. A file system that cannot do it (EINVAL) is not our failure. */
static int sync_folder(char *path)
{
    int handle = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
    if (handle >= 0 && fsync(handle) != 0 && errno != EINVAL) error = errno;
    if (handle >= 0) close(handle);
    return error;
}

/* Bytes to the disk first, then the name. */
static int replace_target(sk_file *file, int error)
{
    if (!error && fsync(fileno(file->stream)) != 0) error = errno;
    if (fclose(file->stream) != 0 && !error) error = errno;
    file->stream = NULL;
    if (!error && rename(file->temporary, file->path) != 0) error = errno;
    if (!error) return sync_folder(file->folder);
    unlink(file->temporary);
    return error;
}

sock_status sk_file_commit(sock_context *ctx, sk_file *file)
{
    int error = file->error;
    if (!error && fflush(file->stream) != 0) error = errno;
    if (file->temporary) error = replace_target(file, error);
    sock_status status = SOCK_OK;
    if (error) status = sk_fail(ctx, SOCK_EIO, "%s: cannot be written: %s", file->path, strerror(error));
    release(file);
    return status;
}

void sk_file_abandon(sk_file *file)
{
    if (!file) return;
    if (file->temporary) unlink(file->temporary);
    release(file);
}

/* What can be read whole: files and pipes. A device may never end. */
static int open_readable(const char *path, int *handle, struct stat *info)
{
    *handle = open(strcmp(path, "-") == 0 ? "/dev/stdin" : path, O_RDONLY | O_CLOEXEC);
    if (*handle < 0 || fstat(*handle, info) != 0) return errno;
    if (S_ISDIR(info->st_mode)) return EISDIR;
    return S_ISREG(info->st_mode) || S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode) ? 0 : ENODEV;
}

/* A name that stands for nothing readable is the user's to mend; the rest is the machine's. */
static bool is_wrong_name(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES || error == EPERM ||
           error == ELOOP || error == ENAMETOOLONG || error == ENODEV || error == ENXIO;
}

static sock_status read_failed(sock_context *ctx, const char *path, int error)
{
    if (error == EINTR && sk_cancelled(ctx))
        return sk_fail(ctx, SOCK_ECANCELLED, "%s: interrupted while reading", path);
    const char *reason = error == ENODEV ? "it is a device, not a file" : strerror(error);
    return sk_fail(ctx, is_wrong_name(error) ? SOCK_EINPUT : SOCK_EIO, "%s: cannot be read: %s", path, reason);
}

sock_status sk_file_open_parts(sock_context *ctx, const char *path, int *handle)
{
    struct stat info = {0};
    const int error = open_readable(path, handle, &info);
    if (error && *handle >= 0) close(*handle);
    return error ? read_failed(ctx, path, error) : SOCK_OK;
}

sock_status sk_file_read_part(sock_context *ctx, const char *path, int handle, char *out, size_t room, size_t *got)
{
    for (;;) {
        const ssize_t count = read(handle, out, room);
        if (count < 0 && errno == EINTR && !sk_cancelled(ctx)) continue;
        if (count < 0) return read_failed(ctx, path, errno);
        *got = (size_t)count;
        return SOCK_OK;
    }
}

sock_status sk_file_read(sock_context *ctx, const char *path, char **bytes, size_t *size)
{
    int handle = -1;
    struct stat info = {0};
    char *buffer = NULL;
    size_t capacity = 0, length = 0;
    sock_status status = SOCK_OK;
    int error = open_readable(path, &handle, &info);
    if (error) SK_GO(read_failed(ctx, path, error));
    SK_GO(sk_grow(ctx, &buffer, &capacity, 65536, 1));
    for (;;) {
        size_t wanted = SK_MAX(length + 2, S_ISREG(info.st_mode) ? (size_t)info.st_size + 2 : 0);
        if (wanted > capacity) {
            double growth = (double)SK_MAX(wanted, 2 * capacity);
            SK_GO(sk_memory_check(ctx, growth, path, "split the file, or raise the memory limit"));
            SK_GO(sk_grow(ctx, &buffer, &capacity, wanted, 1));
        }
        size_t got = 0;
        SK_GO(sk_file_read_part(ctx, path, handle, buffer + length, capacity - length - 1, &got));
        if (got == 0) break;
        length += got;
    }
    buffer[length] = 0;
    *bytes = buffer;
    *size = length;
    buffer = NULL;
out:
    if (handle >= 0) close(handle);
    sk_free(buffer);
    return status;
}

sock_status sock_write_file(sock_context *ctx, const char *path, const void *bytes, size_t size)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || (size && !bytes)) return sk_fail(ctx, SOCK_EUSAGE, "path and bytes must not be NULL");
    sk_file *file = NULL;
    SK_TRY(sk_file_create(ctx, path, &file));
    sk_write(file, bytes, size);
    return sk_file_commit(ctx, file);
}
