/* temporary.h - files and folders beside their target, under a name of their own until they are whole. The writer holds
 * a lock (flock) for as long as it lives; one that nobody holds was left by a run that was killed, and the next run
 * that writes the same target takes it away. */
#ifndef SK_TEMPORARY_H
#define SK_TEMPORARY_H

#include "base.h"

#include <stdio.h>
#include <sys/stat.h>

/* What killed runs left beside path. What cannot be looked at stays. */
void sk_temporaries_remove(const char *path);

/* A new, empty, locked file beside path, of the mode of `replaced` (NULL: what a plain creation gives), with its name,
 * which is freed with sk_free: errno, or 0. Without memory ENOMEM and a message. */
int sk_temporary_create(sock_context *ctx, const char *path, const struct stat *replaced, char **name, FILE **stream);

/* A new, empty, locked folder beside path; *held is closed when it has got its name or is gone: errno, or 0. */
int sk_temporary_folder(sock_context *ctx, const char *path, unsigned mode, char **name, int *held);

#endif
