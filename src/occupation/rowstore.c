/* rowstore.c - see rowstore.h. A block is y (n x d), next (n x d), h (n) and cluster (n), as doubles. Blocks come into
 * the file as they get full, and are numbered fold by fold, as those in memory are. */
#define _GNU_SOURCE
#include "occupation/rowstore.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct stored {
    size_t fold, n, offset;
} stored;

struct sk_row_store {
    int handle;
    size_t d, folds, most; /* most: rows of a block */
    size_t size;           /* of the file */
    double **open;         /* of each fold: room for a block */
    size_t *filled;
    double *range; /* d lowest, d highest */
    stored *block;
    size_t blocks, capacity;
};

static size_t row_numbers(size_t d) { return 2 * d + 2; }

static sock_status failed(sock_context *ctx, const char *what, int error)
{
    if (error == EINTR && sk_cancelled(ctx)) return sk_fail(ctx, SOCK_ECANCELLED, "interrupted");
    return sk_fail(ctx, SOCK_EIO, "the scratch file of the stream cannot be %s: %s; --scratch names a folder with room",
                   what, strerror(error));
}

/* A file without a name, or one whose name is taken away at once. */
static int open_scratch(sock_context *ctx, const char *folder)
{
    int handle = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (handle >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return handle;
    char *name = sk_format(ctx, "%s/sock-XXXXXX", folder);
    handle = name ? mkostemp(name, O_CLOEXEC) : -1;
    const int error = errno;
    if (handle >= 0) unlink(name);
    sk_free(name);
    errno = error;
    return handle;
}

sock_status sk_row_store_new(sock_context *ctx, const char *folder, size_t d, size_t folds, sk_row_store **out)
{
    sk_row_store *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = (sk_row_store){.handle = -1, .d = d, .folds = folds, .most = sk_block_rows(d)};
    s->open = sk_alloc(ctx, folds, sizeof *s->open);
    s->filled = sk_alloc(ctx, folds, sizeof *s->filled);
    s->range = sk_doubles(ctx, 2, d);
    bool room = s->open && s->filled && s->range;
    for (size_t f = 0; room && f < folds; f++) room = (s->open[f] = sk_doubles(ctx, s->most, row_numbers(d))) != NULL;
    for (size_t k = 0; room && k < d; k++) s->range[k] = (double)INFINITY, s->range[d + k] = -(double)INFINITY;
    sock_status status = room ? SOCK_OK : SOCK_ENOMEM;
    if (room) s->handle = open_scratch(ctx, folder);
    if (room && s->handle < 0)
        status = sk_fail(ctx, SOCK_EIO, "%s: no scratch file can be made there: %s; --scratch names another folder",
                         folder, strerror(errno));
    if (status < 0)
        sk_row_store_free(s);
    else
        *out = s;
    return status;
}

void sk_row_store_free(sk_row_store *s)
{
    if (!s) return;
    if (s->handle >= 0) close(s->handle);
    for (size_t f = 0; s->open && f < s->folds; f++) sk_free(s->open[f]);
    sk_free(s->open);
    sk_free(s->filled);
    sk_free(s->range);
    sk_free(s->block);
    sk_free(s);
}

/* ---- Writing ---- */

static sock_status write_block(sock_context *ctx, sk_row_store *s, size_t fold)
{
    const size_t n = s->filled[fold], bytes = n * row_numbers(s->d) * sizeof(double);
    const char *from = (const char *)s->open[fold];
    SK_TRY(sk_grow(ctx, &s->block, &s->capacity, s->blocks + 1, sizeof *s->block));
    for (size_t done = 0; done < bytes;) {
        const ssize_t some = pwrite(s->handle, from + done, bytes - done, (off_t)(s->size + done));
        if (some < 0 && errno == EINTR && !sk_cancelled(ctx)) continue;
        if (some <= 0) return failed(ctx, "written", some < 0 ? errno : ENOSPC);
        done += (size_t)some;
    }
    s->block[s->blocks++] = (stored){fold, n, s->size};
    s->size += bytes;
    s->filled[fold] = 0;
    return SOCK_OK;
}

sock_status sk_row_store_add(sock_context *ctx, sk_row_store *s, size_t fold, size_t cluster, const double *y,
                             const double *next, double h)
{
    const size_t d = s->d, i = s->filled[fold]++, n = s->most;
    double *to = s->open[fold];
    memcpy(to + i * d, y, d * sizeof *to);
    memcpy(to + (n + i) * d, next, d * sizeof *to);
    to[2 * n * d + i] = h;
    to[2 * n * d + n + i] = (double)cluster;
    for (size_t k = 0; k < d; k++) {
        s->range[k] = fmin(s->range[k], fmin(y[k], next[k]));
        s->range[d + k] = fmax(s->range[d + k], fmax(y[k], next[k]));
    }
    return s->filled[fold] == n ? write_block(ctx, s, fold) : SOCK_OK;
}

/* A block that is not full: its columns move together. */
static void pack(sk_row_store *s, size_t fold)
{
    const size_t d = s->d, n = s->filled[fold], most = s->most;
    double *at = s->open[fold];
    memmove(at + n * d, at + most * d, n * d * sizeof *at);
    memmove(at + 2 * n * d, at + 2 * most * d, n * sizeof *at);
    memmove(at + 2 * n * d + n, at + 2 * most * d + most, n * sizeof *at);
}

/* ---- The whole ---- */

static int by_fold(const void *left, const void *right)
{
    const stored *a = left, *b = right;
    if (a->fold != b->fold) return a->fold < b->fold ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static sock_status allocate(sock_context *ctx, const sk_row_store *s, const sk_transitions *like, sk_transitions **out)
{
    sk_transitions *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    *t = (sk_transitions){.d = s->d, .in = s->d, .folds = s->folds, .clusters = like->clusters, .like = like};
    t->first = sk_alloc(ctx, s->folds + 2, sizeof *t->first);
    t->block = sk_alloc(ctx, s->blocks + 1, sizeof *t->block);
    t->reach = sk_doubles(ctx, s->d, 1);
    t->zero = sk_doubles(ctx, s->d, 1);
    t->range = sk_doubles(ctx, 2, s->d);
    if (!t->first || !t->block || !t->reach || !t->zero || !t->range) {
        sk_transitions_free(t);
        return SOCK_ENOMEM;
    }
    *out = t;
    return SOCK_OK;
}

/* Row numbers as if the rows stood fold by fold. */
static void number_rows(const sk_row_store *s, sk_transitions *t)
{
    for (size_t b = 0, f = 0; b < s->blocks; b++) {
        while (f < s->block[b].fold) t->first[++f] = t->n;
        t->block[b] = t->n;
        t->n += s->block[b].n;
        for (size_t g = f + 1; g <= s->folds + 1; g++) t->first[g] = t->n;
    }
    t->blocks = s->blocks;
    t->block[t->blocks] = t->n;
}

static sock_status finish(sock_context *ctx, sk_row_store *s, const sk_transitions *like, sk_transitions **out)
{
    for (size_t f = 0; f < s->folds; f++) {
        if (s->filled[f]) {
            pack(s, f);
            SK_TRY(write_block(ctx, s, f));
        }
        sk_free(s->open[f]);
        s->open[f] = NULL;
    }
    if (!s->blocks) return sk_fail(ctx, SOCK_EINPUT, "no step is left to learn from");
    qsort(s->block, s->blocks, sizeof *s->block, by_fold);
    SK_TRY(allocate(ctx, s, like, out));
    number_rows(s, *out);
    (*out)->bounds = like->bounds;
    memcpy((*out)->reach, like->reach, s->d * sizeof(double));
    memcpy((*out)->zero, like->zero, s->d * sizeof(double));
    memcpy((*out)->range, s->range, 2 * s->d * sizeof(double));
    return SOCK_OK;
}

sock_status sk_row_store_close(sock_context *ctx, sk_row_store *s, const sk_transitions *like, sk_transitions **out)
{
    const sock_status status = finish(ctx, s, like, out);
    if (status < 0)
        sk_row_store_free(s);
    else
        (*out)->store = s;
    return status;
}

/* ---- Reading ---- */

static sock_status read_bytes(sock_context *ctx, const sk_row_store *s, void *to, size_t bytes, size_t offset)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t some = pread(s->handle, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (some < 0 && errno == EINTR && !sk_cancelled(ctx)) continue;
        if (some <= 0) return failed(ctx, "read", some < 0 ? errno : EIO);
        done += (size_t)some;
    }
    return SOCK_OK;
}

sock_status sk_row_store_read(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **out)
{
    const sk_row_store *s = t->store;
    const stored *at = &s->block[b];
    const size_t side = at->n * s->d * sizeof(double), column = at->n * sizeof(double);
    sk_transitions *rows = NULL;
    double *cluster = sk_doubles_unset(ctx, at->n, 1);
    sock_status status = cluster ? sk_transitions_empty(ctx, t, at->n, &rows) : SOCK_ENOMEM;
    if (status >= 0) status = read_bytes(ctx, s, rows->y, side, at->offset);
    if (status >= 0) status = read_bytes(ctx, s, rows->next, side, at->offset + side);
    if (status >= 0) status = read_bytes(ctx, s, rows->h, column, at->offset + 2 * side);
    if (status >= 0) status = read_bytes(ctx, s, cluster, column, at->offset + 2 * side + column);
    for (size_t i = 0; status >= 0 && i < at->n; i++) rows->cluster[i] = (size_t)cluster[i];
    sk_free(cluster);
    if (status < 0)
        sk_transitions_free(rows);
    else
        *out = rows;
    return status;
}
