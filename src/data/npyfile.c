/* npyfile.c - numbers of a .npy file that is too large to be in memory: read where they stand, some at a time. */
#define _GNU_SOURCE
#include "npyarray.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 1 << 16, AT_ONCE = 1 << 16 };

static sock_status cannot_read(sock_context *ctx, const char *path, int error)
{
    const bool wrong = error == ENOENT || error == ENOTDIR || error == EACCES || error == EISDIR;
    return sk_fail(ctx, wrong ? SOCK_EINPUT : SOCK_EIO, "%s: cannot be read: %s", path, strerror(error));
}

/* `size` bytes from `offset` on, or as many as there are (*got). */
static sock_status read_bytes(sock_context *ctx, const sk_npy_file *file, size_t offset, size_t size, void *bytes,
                              size_t *got)
{
    *got = 0;
    while (*got < size) {
        const ssize_t some = pread(file->handle, (char *)bytes + *got, size - *got, (off_t)(offset + *got));
        if (some < 0 && errno == EINTR && !sk_cancelled(ctx)) continue;
        if (some < 0 && errno == EINTR)
            return sk_fail(ctx, SOCK_ECANCELLED, "%s: interrupted while reading", file->array.source);
        if (some < 0) return cannot_read(ctx, file->array.source, errno);
        if (some == 0) return SOCK_OK;
        *got += (size_t)some;
    }
    return SOCK_OK;
}

/* How many numbers the shape asks for, and whether the file has just these. */
static sock_status check_length(sock_context *ctx, size_t size, sk_npy_file *f)
{
    const sk_npy *a = &f->array;
    size_t wanted = 1;
    if (a->dimensions < 1 || a->dimensions > 2)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the array has %zu dimensions; allowed: 1 or 2", a->source, a->dimensions);
    for (size_t k = 0; k < a->dimensions; k++)
        wanted = a->shape[k] && wanted > SIZE_MAX / 16 / a->shape[k] ? SIZE_MAX / 16 : wanted * a->shape[k];
    f->count = wanted;
    if (size >= a->start && (size - a->start) / a->width == wanted && (size - a->start) % a->width == 0) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: the shape needs %zu numbers of %zu bytes, and there are %zu bytes: the file is %s", a->source,
                   wanted, a->width, size - a->start, (size - a->start) / a->width < wanted ? "cut off" : "too long");
}

static sock_status read_head(sock_context *ctx, const char *path, sk_npy_file *f)
{
    struct stat info;
    char *head = sk_alloc(ctx, HEAD, 1);
    size_t got = 0;
    if (!head) return SOCK_ENOMEM;
    f->array.source = path;
    sock_status status = fstat(f->handle, &info) == 0 ? SOCK_OK : cannot_read(ctx, path, errno);
    if (status >= 0 && !S_ISREG(info.st_mode))
        status = sk_fail(ctx, SOCK_EINPUT, "%s: cannot be read: it is no plain file", path);
    if (status >= 0) status = read_bytes(ctx, f, 0, HEAD, head, &got);
    if (status >= 0) status = sk_npy_header(ctx, path, head, got, &f->array);
    f->array.bytes = NULL;
    f->array.size = 0;
    if (status >= 0) status = check_length(ctx, (size_t)info.st_size, f);
    if (status >= 0) {
        f->size = (size_t)info.st_size;
        f->written[0] = info.st_mtim.tv_sec;
        f->written[1] = info.st_mtim.tv_nsec;
    }
    sk_free(head);
    return status;
}

sock_status sk_npy_open(sock_context *ctx, const char *path, sk_npy_file *out)
{
    sk_npy_file f = {.handle = open(path, O_RDONLY | O_CLOEXEC)};
    if (f.handle < 0) return cannot_read(ctx, path, errno);
    const sock_status status = read_head(ctx, path, &f);
    if (status < 0)
        close(f.handle);
    else
        *out = f;
    return status;
}

sock_status sk_npy_unchanged(sock_context *ctx, const sk_npy_file *f)
{
    struct stat info;
    if (fstat(f->handle, &info) != 0) return cannot_read(ctx, f->array.source, errno);
    if ((size_t)info.st_size == f->size && info.st_mtim.tv_sec == f->written[0] &&
        info.st_mtim.tv_nsec == f->written[1])
        return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT, "%s: the file has changed while it was read; a fit reads it several times",
                   f->array.source);
}

void sk_npy_close(sk_npy_file *file)
{
    if (file->handle >= 0) close(file->handle);
    file->handle = -1;
}

sock_status sk_npy_read(sock_context *ctx, const sk_npy_file *file, size_t first, size_t count, double *out)
{
    const sk_npy *a = &file->array;
    unsigned char *bytes = sk_alloc(ctx, AT_ONCE, a->width);
    sock_status status = bytes ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < count; at += AT_ONCE) {
        const size_t some = SK_MIN(AT_ONCE, count - at);
        size_t got = 0;
        status = read_bytes(ctx, file, a->start + (first + at) * a->width, some * a->width, bytes, &got);
        if (status >= 0 && got < some * a->width)
            status = sk_fail(ctx, SOCK_EINPUT, "%s: the file has become shorter while it was read", a->source);
        for (size_t i = 0; status >= 0 && i < some; i++) out[at + i] = sk_npy_number(a, bytes, i);
    }
    sk_free(bytes);
    return status;
}
