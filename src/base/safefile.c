/* safefile.c - temporary file beside the target, fsync, rename: a reader sees the old file or the new one. */
#define _GNU_SOURCE
#include "safefile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sk_file {
    FILE *stream;
    char *path, *temporary; /* temporary is NULL for standard output */
    int error;              /* errno of the first failed write */
};

static void release(sk_file *file)
{
    sk_free(file->path);
    sk_free(file->temporary);
    sk_free(file);
}

/* The mode a plain creation would give: 0666 less the umask, or the mode of the file that will be replaced. */
static mode_t wanted_mode(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

sock_status sk_file_create(sock_context *ctx, const char *path, sk_file **out)
{
    sk_file *file = sk_alloc(ctx, 1, sizeof *file);
    if (!file) return SOCK_ENOMEM;
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        file->path = sk_strdup(ctx, "standard output");
        if (!file->path) {
            release(file);
            return SOCK_ENOMEM;
        }
        *out = file;
        return SOCK_OK;
    }
    struct stat info;
    char *real = realpath(path, NULL); /* write through a link, not over it */
    file->path = sk_strdup(ctx, real ? real : path);
    free(real);
    file->temporary = file->path ? sk_format(ctx, "%s.tmp-XXXXXX", file->path) : NULL;
    if (!file->temporary) {
        release(file);
        return SOCK_ENOMEM;
    }
    if (stat(file->path, &info) == 0 && S_ISDIR(info.st_mode)) {
        release(file);
        return sk_fail(ctx, SOCK_EIO, "%s: cannot be written: it is a folder", path);
    }
    mode_t mode = wanted_mode(file->path);
    int handle = mkostemp(file->temporary, O_CLOEXEC);
    if (handle >= 0) {
        (void)!fchmod(handle, mode);
        file->stream = fdopen(handle, "wb");
    }
    if (!file->stream) {
        int reason = errno;
        if (handle >= 0) {
            close(handle);
            unlink(file->temporary);
        }
        release(file);
        return sk_fail(ctx, SOCK_EIO, "%s: cannot be written: %s", path, strerror(reason));
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
static int sync_folder(sock_context *ctx, const char *path)
{
    char *copy = sk_strdup(ctx, path);
    if (!copy) return ENOMEM;
    int handle = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
    if (handle >= 0 && fsync(handle) != 0 && errno != EINVAL) error = errno;
    if (handle >= 0) close(handle);
    sk_free(copy);
    return error;
}

sock_status sk_file_commit(sock_context *ctx, sk_file *file)
{
    int error = file->error;
    if (!error && fflush(file->stream) != 0) error = errno;
    if (file->temporary) {
        if (!error && fsync(fileno(file->stream)) != 0) error = errno;
        if (fclose(file->stream) != 0 && !error) error = errno;
        if (!error && rename(file->temporary, file->path) != 0) error = errno;
        if (error)
            unlink(file->temporary);
        else
            error = sync_folder(ctx, file->path);
    }
    sock_status status = SOCK_OK;
    if (error) status = sk_fail(ctx, SOCK_EIO, "%s: cannot be written: %s", file->path, strerror(error));
    release(file);
    return status;
}

void sk_file_abandon(sk_file *file)
{
    if (!file) return;
    if (file->temporary) {
        fclose(file->stream);
        unlink(file->temporary);
    }
    release(file);
}

sock_status sk_file_read(sock_context *ctx, const char *path, char **bytes, size_t *size)
{
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (handle < 0) return sk_fail(ctx, SOCK_EIO, "%s: cannot be read: %s", path, strerror(errno));
    if (fstat(handle, &info) != 0 || S_ISDIR(info.st_mode)) {
        int reason = S_ISDIR(info.st_mode) ? EISDIR : errno;
        close(handle);
        return sk_fail(ctx, SOCK_EIO, "%s: cannot be read: %s", path, strerror(reason));
    }
    char *buffer = NULL;
    size_t capacity = 0, length = 0;
    sock_status status = SOCK_OK;
    if (S_ISREG(info.st_mode) && info.st_size > 0)
        SK_GO(sk_memory_check(ctx, (double)info.st_size, path, "split the file, or raise the memory limit"));
    SK_GO(sk_grow(ctx, &buffer, &capacity, S_ISREG(info.st_mode) ? (size_t)info.st_size + 2 : 65536, 1));
    for (;;) {
        SK_GO(sk_grow(ctx, &buffer, &capacity, length + 2, 1));
        ssize_t got = read(handle, buffer + length, capacity - length - 1);
        if (got < 0 && errno == EINTR && !sk_cancelled(ctx)) continue;
        if (got < 0) {
            status = sk_fail(ctx, SOCK_EIO, "%s: cannot be read: %s", path, strerror(errno));
            goto out;
        }
        if (got == 0) break;
        length += (size_t)got;
    }
    buffer[length] = 0;
    *bytes = buffer;
    *size = length;
    buffer = NULL;
out:
    close(handle);
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
