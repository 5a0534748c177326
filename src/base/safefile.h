/* safefile.h - files that are written whole or not at all, and files read whole. */
#ifndef SK_SAFEFILE_H
#define SK_SAFEFILE_H

#include "base.h"

#include <stdio.h>

/* A file under a temporary name beside its target. Write with sk_write / sk_writef (errors are kept and reported at
 * the end), then commit (flush, fsync, rename, fsync of the folder) or abandon. A file that is replaced keeps its mode;
 * a link is written through. A path of "-" is standard output; devices and pipes are written in place. */
typedef struct sk_file sk_file;

sock_status sk_file_create(sock_context *ctx, const char *path, sk_file **out);
void sk_write(sk_file *file, const void *bytes, size_t count);
void sk_writef(sk_file *file, const char *format, ...) SK_PRINTF(2, 3);
sock_status sk_file_commit(sock_context *ctx, sk_file *file); /* frees file in any case */
void sk_file_abandon(sk_file *file);                          /* NULL is fine */

/* The whole file or pipe ("-": standard input), with a 0 behind it; *size without that 0. A name that is missing, may
 * not be read, or stands for a folder or a device (which may never end) gives SOCK_EINPUT with the reason, a failing
 * read SOCK_EIO. Freed with sk_free. */
sock_status sk_file_read(sock_context *ctx, const char *path, char **bytes, size_t *size);

/* The same in parts. The handle is closed with close. */
sock_status sk_file_open_parts(sock_context *ctx, const char *path, int *handle);

/* Up to `room` bytes, at least one; *got is 0 at the end. */
sock_status sk_file_read_part(sock_context *ctx, const char *path, int handle, char *out, size_t room, size_t *got);

#endif
