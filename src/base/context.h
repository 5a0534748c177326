/* context.h - the inside of sock_context; only base and the tests that inject faults look here. */
#ifndef SK_CONTEXT_H
#define SK_CONTEXT_H

#include "base.h"
#include "comm.h"

#include <pthread.h>

enum { SK_MESSAGE_SIZE = 1024 };

struct sock_context {
    int threads;
    sk_comm *comm;            /* NULL: alone */
    struct sk_plugin *plugin; /* a device; NULL: nobody asked for one */
    size_t memory_limit;      /* of the whole process; 0: what the machine has free */
    double group_limit;       /* where there is no memory_limit: that of the control groups; 0: none */
    double beside;          /* what the process had when a limit was set, beside what was handed out by the allocator */
    atomic_size_t unlooked; /* bytes allocated since the process was last held against the limit */
    sock_monitor_fn monitor;
    void *monitor_user;
    atomic_int cancelled;
    pthread_mutex_t message_lock;
    pthread_mutex_t sums_lock; /* of whatever blocks of rows are added to, side by side */
    char message[SK_MESSAGE_SIZE];
    sock_status message_status;                             /* of the message: a caveat gives way to a failure */
    atomic_long allocations, fail_allocation, last_to_fail; /* these fail, by number; fail_allocation = 0: none */
};

/* What sk_comm_set said. */
sk_comm *sk_comm_of_new(void);

#endif
