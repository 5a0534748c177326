/* rowstore.h - transitions that are too many for memory: they lie in a file of their own, block by block, and a block
 * is read when it is visited. */
#ifndef SK_ROWSTORE_H
#define SK_ROWSTORE_H

#include "transitions.h"

/* A store that is being filled: one block of each fold is in memory, and goes to the file when it is full. The file has
 * no name: it is gone with the store, however the process ends. folder: where it is made. */
sock_status sk_row_store_new(sock_context *ctx, const char *folder, size_t d, size_t folds, sk_row_store **out);
void sk_row_store_free(sk_row_store *store);

/* One row of a fold. */
sock_status sk_row_store_add(sock_context *ctx, sk_row_store *store, size_t fold, size_t cluster, const double *y,
                             const double *next, double h);

/* After the last row: the transitions, which own the store (whatever happens). like: rows in memory that stand for
 * them, of the same folds, clusters and units, borrowed. SOCK_EINPUT without a row. */
sock_status sk_row_store_close(sock_context *ctx, sk_row_store *store, const sk_transitions *like,
                               sk_transitions **out);

/* The rows of block b as transitions of their own. */
sock_status sk_row_store_read(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **out);

#endif
