/* rowstore.c - see rowstore.h. A block is y (n x d), next (n x d), h (n) and cluster (n), as doubles. Blocks come into
 * the file as they get full, or their turn ends, and are numbered fold by fold and turn by turn: the same for any
 * number of processes, each of which has the blocks of its own turns. */
#define _GNU_SOURCE
#include "occupation/rowstore.h"

#include "base/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct stored {
    size_t fold, n, offset;
    size_t turn;
} stored;

struct sk_row_store {
    int handle;
    size_t d, folds, most; /* most: rows of a block */
    size_t turns, turn;    /* how many, and now */
    size_t size;           /* of the file */
    double **open;         /* of each fold: room for a block */
    size_t *filled;
    double *range; /* d lowest, d highest */
    stored *block;
    size_t blocks, capacity;
    size_t *place; /* of each block of all processes: its number here, or SIZE_MAX */
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

sock_status sk_row_store_new(sock_context *ctx, const char *folder, size_t d, size_t folds, size_t turns,
                             sk_row_store **out)
{
    sk_row_store *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = (sk_row_store){.handle = -1, .d = d, .folds = folds, .most = sk_block_rows(d), .turns = turns};
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
    sk_free(s->place);
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
    s->block[s->blocks++] = (stored){fold, n, s->size, s->turn};
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

static sock_status end_turn(sock_context *ctx, sk_row_store *s)
{
    for (size_t f = 0; f < s->folds; f++) {
        if (!s->filled[f]) continue;
        pack(s, f);
        SK_TRY(write_block(ctx, s, f));
    }
    return SOCK_OK;
}

sock_status sk_row_store_turn(sock_context *ctx, sk_row_store *s, size_t turn)
{
    if (turn != s->turn) SK_TRY(end_turn(ctx, s));
    s->turn = turn;
    return SOCK_OK;
}

/* ---- The whole ---- */

/* Turns rise with the places in the file. */
static int by_fold(const void *left, const void *right)
{
    const stored *a = left, *b = right;
    if (a->fold != b->fold) return a->fold < b->fold ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Rows of each fold in each turn (folds x turns), and the range, of all processes. */
static sock_status count_rows(sock_context *ctx, sk_row_store *s, double *rows)
{
    const size_t d = s->d, ranks = (size_t)sk_ranks(ctx);
    double *ends = sk_doubles(ctx, ranks, 2 * d);
    const sock_status status = sk_together(ctx, ends ? SOCK_OK : SOCK_ENOMEM);
    if (!ends || status < 0) {
        sk_free(ends);
        return status;
    }
    for (size_t b = 0; b < s->blocks; b++)
        rows[s->block[b].fold * s->turns + s->block[b].turn] += (double)s->block[b].n;
    if (s->blocks) /* else 0, and left out below */
        memcpy(ends + (size_t)sk_rank(ctx) * 2 * d, s->range, 2 * d * sizeof *ends);
    sk_sum_over_all(ctx, s->folds * s->turns, rows, NULL);
    sk_sum_over_all(ctx, ranks * 2 * d, ends, NULL);
    for (size_t r = 0; r < ranks; r++)
        for (size_t k = 0; k < d; k++) {
            if (ends[r * 2 * d + k] == 0 && ends[(r * 2 + 1) * d + k] == 0)
                continue; /* without rows, or at rest at 0 */
            s->range[k] = fmin(s->range[k], ends[r * 2 * d + k]);
            s->range[d + k] = fmax(s->range[d + k], ends[(r * 2 + 1) * d + k]);
        }
    sk_free(ends);
    return status;
}

static size_t count_blocks(const sk_row_store *s, const double *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < s->folds * s->turns; i++) count += ((size_t)rows[i] + s->most - 1) / s->most;
    return count;
}

static sock_status allocate(sock_context *ctx, sk_row_store *s, size_t blocks, const sk_transitions *like,
                            sk_transitions **out)
{
    sk_transitions *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    *t = (sk_transitions){.d = s->d, .in = s->d, .folds = s->folds, .clusters = like->clusters, .like = like};
    t->first = sk_alloc(ctx, s->folds + 2, sizeof *t->first);
    t->block = sk_alloc(ctx, blocks + 1, sizeof *t->block);
    s->place = sk_alloc(ctx, blocks, sizeof *s->place);
    t->reach = sk_doubles(ctx, s->d, 1);
    t->zero = sk_doubles(ctx, s->d, 1);
    t->scale = sk_doubles(ctx, s->d, 1);
    t->range = sk_doubles(ctx, 2, s->d);
    if (!t->first || !t->block || !s->place || !t->reach || !t->zero || !t->scale || !t->range) {
        sk_transitions_free(t);
        return SOCK_ENOMEM;
    }
    *out = t;
    return SOCK_OK;
}

/* Row numbers as if the rows of all stood fold by fold; the blocks that lie here, sorted, are met in that order. */
static void number_rows(const sk_row_store *s, const double *rows, sk_transitions *t)
{
    size_t mine = 0;
    for (size_t f = 0; f < s->folds; f++) {
        for (size_t turn = 0; turn < s->turns; turn++)
            for (size_t left = (size_t)rows[f * s->turns + turn]; left; left -= SK_MIN(left, s->most)) {
                const bool here = mine < s->blocks && s->block[mine].fold == f && s->block[mine].turn == turn;
                s->place[t->blocks] = here ? mine++ : SIZE_MAX;
                t->block[t->blocks++] = t->n;
                t->n += SK_MIN(left, s->most);
            }
        t->first[f + 1] = t->n;
    }
    t->first[s->folds + 1] = t->n;
    t->block[t->blocks] = t->n;
}

static sock_status finish(sock_context *ctx, sk_row_store *s, const sk_transitions *like, double *rows,
                          sk_transitions **out)
{
    SK_TRY(end_turn(ctx, s));
    for (size_t f = 0; f < s->folds; f++) {
        sk_free(s->open[f]);
        s->open[f] = NULL;
    }
    if (s->blocks) qsort(s->block, s->blocks, sizeof *s->block, by_fold);
    SK_TRY(count_rows(ctx, s, rows));
    const size_t blocks = count_blocks(s, rows);
    if (!blocks) return sk_fail(ctx, SOCK_EINPUT, "no step is left to learn from");
    SK_TRY(allocate(ctx, s, blocks, like, out));
    number_rows(s, rows, *out);
    (*out)->bounds = like->bounds;
    memcpy((*out)->reach, like->reach, s->d * sizeof(double));
    memcpy((*out)->zero, like->zero, s->d * sizeof(double));
    memcpy((*out)->scale, like->scale, s->d * sizeof(double));
    memcpy((*out)->range, s->range, 2 * s->d * sizeof(double));
    return SOCK_OK;
}

sock_status sk_row_store_close(sock_context *ctx, sk_row_store *s, const sk_transitions *like, sk_transitions **out)
{
    double *rows = sk_doubles(ctx, s->folds, s->turns);
    const sock_status status = rows ? finish(ctx, s, like, rows, out) : SOCK_ENOMEM;
    sk_free(rows);
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

bool sk_row_store_has(const sk_transitions *t, size_t b) { return t->store->place[b] != SIZE_MAX; }

sock_status sk_row_store_read(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **out)
{
    const sk_row_store *s = t->store;
    const stored *at = &s->block[s->place[b]];
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
