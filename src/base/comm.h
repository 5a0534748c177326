/* comm.h - several processes that do one piece of work together. The context has one; alone it is process 0 of 1, and
 * all of this does nothing.
 *
 * A process that failed must not leave the others waiting, so: sums over all processes stand behind sk_together, which
 * brings the failure of one to all; between two of these a function may return early, for whoever returns ends at
 * sk_leave_together, and the others, wherever they stand, hear of it. What all processes compute alike needs nothing.
 */
#ifndef SK_COMM_H
#define SK_COMM_H

#include "base.h"

/* What is known of the next sums: nothing, so the pass is made; all of them, so it is left out; and nothing that could
 * still be used, since the last ones wait for other processes: the work ends here with SK_ENOUGH. */
typedef enum sk_foresight { SK_UNKNOWN_SUMS, SK_KNOWN_SUMS, SK_WAITING_SUMS } sk_foresight;

/* What a guest brings. Both calls are made by all processes, in the same order. */
typedef struct sk_comm {
    int rank, size;
    /* += of pairs (sums.h) over all processes, the same result on all */
    void (*sum)(struct sk_comm *comm, size_t count, double *sum, double *low);
    /* The worst of all statuses (the lowest failure, else the highest caveat) with the message of the first who has it;
     * *left: whether anybody leaves. message: room for so many bytes. */
    int (*agree)(struct sk_comm *comm, int status, bool leaving, char *message, size_t room, bool *left);
    /* Asked before a pass over rows, of which all that remains are the sums behind the next agreement. NULL: never
     * known. */
    sk_foresight (*foresee)(const struct sk_comm *comm);
    /* Bytes of process `from`, into those of all others. NULL: what is not summed up is computed by all alike. */
    void (*give)(struct sk_comm *comm, int from, void *bytes, size_t count);
    bool over; /* the others have left, or been left */
} sk_comm;

/* The status of work that ends before its end because all that was wanted of it is there: no failure, no message. */
#define SK_ENOUGH ((sock_status)-1000)

/* Of every context that this thread makes from now on, borrowed; NULL: alone. */
void sk_comm_set(sk_comm *comm);

/* In place of that of a context, which is answered. */
sk_comm *sk_comm_swap(sock_context *ctx, sk_comm *comm);

sk_foresight sk_foresee(const sock_context *ctx);

int sk_rank(const sock_context *ctx);
int sk_ranks(const sock_context *ctx);

/* The worst status of all processes, with its message. */
sock_status sk_together(sock_context *ctx, sock_status status);

/* The same, at the end of the work that is done together. */
sock_status sk_leave_together(sock_context *ctx, sock_status status);

/* Right behind an sk_together that went well: pairs summed over all processes. low: NULL where there is none. */
void sk_sum_over_all(sock_context *ctx, size_t count, double *sum, double *low);
void sk_count_over_all(sock_context *ctx, size_t count, size_t *n);

/* Whether fits to rows in memory are dealt out, each to one process that gives it to the others: on the caller's thread
 * of several processes that stand together. */
bool sk_deals_out(const sock_context *ctx);

/* Right behind an sk_together that went well: bytes of process `from`, the same number on all, which all have then. */
void sk_give(sock_context *ctx, int from, void *bytes, size_t count);

/* SOCK_EUSAGE where the processes do not hold the same bytes: their processors differ. what: which numbers. */
sock_status sk_same_on_all(sock_context *ctx, const void *bytes, size_t count, const char *what);

#endif
