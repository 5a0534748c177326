/* comm.c - see comm.h. */
#include "comm.h"

#include "context.h"

#include <string.h>

static _Thread_local sk_comm *of_new_contexts = NULL; /* of a thread: the library has no state that is shared */

void sk_comm_set(sk_comm *comm) { of_new_contexts = comm; }

sk_comm *sk_comm_of_new(void) { return of_new_contexts; }

sk_comm *sk_comm_swap(sock_context *ctx, sk_comm *comm)
{
    sk_comm *before = ctx->comm;
    ctx->comm = comm;
    return before;
}

sk_foresight sk_foresee(const sock_context *ctx)
{
    return ctx->comm && ctx->comm->foresee ? ctx->comm->foresee(ctx->comm) : SK_UNKNOWN_SUMS;
}

int sk_rank(const sock_context *ctx) { return ctx->comm ? ctx->comm->rank : 0; }
int sk_ranks(const sock_context *ctx) { return ctx->comm ? ctx->comm->size : 1; }

static sock_status agree(sock_context *ctx, sock_status status, bool leaving)
{
    sk_comm *comm = ctx->comm;
    char message[SK_MESSAGE_SIZE];
    bool left = false;
    if (!comm || comm->over) return status;
    memcpy(message, ctx->message, sizeof message);
    const sock_status all = (sock_status)comm->agree(comm, (int)status, leaving, message, sizeof message, &left);
    comm->over = left;
    if (left && !leaving && all >= 0) return sk_fail(ctx, SOCK_EIO, "the other processes have ended");
    if (all == status || all >= 0) return all;
    return sk_fail(ctx, all, "%s", message);
}

sock_status sk_together(sock_context *ctx, sock_status status) { return agree(ctx, status, false); }

sock_status sk_leave_together(sock_context *ctx, sock_status status) { return agree(ctx, status, true); }

void sk_sum_over_all(sock_context *ctx, size_t count, double *sum, double *low)
{
    if (ctx->comm) ctx->comm->sum(ctx->comm, count, sum, low);
}

void sk_count_over_all(sock_context *ctx, size_t count, size_t *n)
{
    for (size_t i = 0; ctx->comm && i < count; i++) {
        double exact = (double)n[i];
        ctx->comm->sum(ctx->comm, 1, &exact, NULL);
        n[i] = (size_t)exact;
    }
}

bool sk_deals_out(const sock_context *ctx)
{
    const sk_comm *comm = ctx->comm;
    return comm && comm->give && comm->size > 1 && !comm->over && sk_on_callers_thread() && !sk_in_worker();
}

void sk_give(sock_context *ctx, int from, void *bytes, size_t count)
{
    if (ctx->comm) ctx->comm->give(ctx->comm, from, bytes, count);
}

sock_status sk_same_on_all(sock_context *ctx, const void *bytes, size_t count, const char *what)
{
    if (!ctx->comm) return SOCK_OK;
    enum { PARTS = 3, BITS = 22 }; /* squares and their sums are exact; equal sums of both say that all are equal */
    const uint64_t hash = sk_hash(SK_HASH_START, bytes, count);
    double own[PARTS], sum[2 * PARTS], low[2 * PARTS] = {0}, size = (double)ctx->comm->size;
    for (size_t i = 0; i < PARTS; i++) {
        own[i] = (double)(hash >> (i * BITS) & ((1u << BITS) - 1));
        sum[2 * i] = own[i];
        sum[2 * i + 1] = own[i] * own[i];
    }
    SK_TRY(sk_together(ctx, SOCK_OK));
    ctx->comm->sum(ctx->comm, 2 * PARTS, sum, low);
    bool same = true;
    for (size_t i = 0; i < PARTS; i++)
        same = same && sum[2 * i] == size * own[i] && sum[2 * i + 1] == size * own[i] * own[i];
    if (same) return SOCK_OK;
    return sk_fail(
        ctx, SOCK_EUSAGE,
        "the processes do not agree on %s: they run on processors of several kinds; OPENBLAS_CORETYPE=Prescott "
        "in the environment of all makes them alike",
        what);
}
