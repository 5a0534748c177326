/* rowstore.h - transitions that are too many for memory: they lie in a file of their own, block by block, and a block
 * is read when it is visited. */
#ifndef SK_ROWSTORE_H
#define SK_ROWSTORE_H

#include "transitions.h"

/* A store that is being filled: one block of each fold is in memory, and goes to the file when it is full. The file has
 * no name: it is gone with the store, however the process ends. folder: where it is made. turns: rows come in so many
 * portions, and no block goes on from one to the next. */
sock_status sk_row_store_new(sock_context *ctx, const char *folder, size_t d, size_t folds, size_t turns,
                             sk_row_store **out);
void sk_row_store_free(sk_row_store *store);

/* The rows that follow are those of this turn; turns rise, and of several processes each has its own. */
sock_status sk_row_store_turn(sock_context *ctx, sk_row_store *store, size_t turn);

/* One row of a fold. */
sock_status sk_row_store_add(sock_context *ctx, sk_row_store *store, size_t fold, size_t cluster, const double *y,
                             const double *next, double h);

/* After the last row, by all processes together: the transitions of all, which own the store (whatever happens). like:
 * rows in memory that stand for them, of the same folds, clusters and units, borrowed. SOCK_EINPUT without a row. */
sock_status sk_row_store_close(sock_context *ctx, sk_row_store *store, const sk_transitions *like,
                               sk_transitions **out);

/* Whether block b lies here, not with another process. */
bool sk_row_store_has(const sk_transitions *t, size_t b);

/* The rows of block b, which lies here, as transitions of their own. */
sock_status sk_row_store_read(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **out);

#endif
