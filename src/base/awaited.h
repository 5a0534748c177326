/* awaited.h - a long call that cannot look at the flag, in a thread of its own. The thread that waits looks, and leaves
 * when an interrupt came: the call then goes on by itself, with numbers of its own, and clears them at its end. A
 * process that exits before does not take the libraries down under it: it ends without their last words. Where the
 * system cannot do that (no on_exit), the interrupt waits. */
#ifndef SK_AWAITED_H
#define SK_AWAITED_H

#include "base/base.h"

#include <pthread.h>

/* The first member of a structure that sk_alloc made, with what the call reads and writes: nothing that belongs to
 * others, the context neither. */
typedef struct sk_awaited {
    void (*run)(struct sk_awaited *call);
    void (*clear)(struct sk_awaited *call); /* frees what the structure has, but not the structure */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    struct sk_left *left; /* NULL: it is waited for */
} sk_awaited;

/* Runs it. SOCK_OK: the results are there, and sk_awaited_free is due. SOCK_ECANCELLED, with a message: it is the
 * caller's no more. */
sock_status sk_await(sock_context *ctx, sk_awaited *call, const char *stage);

void sk_awaited_free(sk_awaited *call);

#endif
