/* partcomm.c - see partcomm.h. */
#include "api/partcomm.h"

#include <stdio.h>

/* comm is the first member */
static sk_part_comm *part_of(sk_comm *comm) { return (sk_part_comm *)comm; }

static void record(sk_part_comm *p, size_t count, const double *sum, const double *low)
{
    sk_round *own = &p->file->round[p->file->rounds - 1];
    if (p->failure >= 0) p->failure = sk_round_put(p->ctx, own, count, sum, low);
}

static void sum(sk_comm *comm, size_t count, double *whole, double *low)
{
    sk_part_comm *p = part_of(comm);
    if (p->recording) {
        record(p, count, whole, low);
        return;
    }
    const sk_round *r = p->round ? &p->file->round[p->round - 1] : NULL;
    if (!r || count > r->count - p->cursor) {
        p->foreign = true;
        return;
    }
    for (size_t i = 0; i < count; i++, p->cursor++) {
        whole[i] = r->pair[2 * p->cursor];
        if (low) low[i] = r->pair[2 * p->cursor + 1];
    }
}

/* The next round is one that all have summed up: only what this process itself cannot do is a failure. */
static int known_round(sk_part_comm *p, int status, char *message, size_t room)
{
    if (status < 0) return status;
    if (!p->file->round[p->round - 1].failed) return status;
    snprintf(message, room, "nothing can be fitted to these data");
    return SOCK_ENUMERIC;
}

static int agree(sk_comm *comm, int status, bool leaving, char *message, size_t room, bool *left)
{
    sk_part_comm *p = part_of(comm);
    *left = leaving;
    if (leaving) return status;
    if (p->foreign || p->recording) return SK_ENOUGH;
    if (status < 0 && status != SOCK_ENUMERIC) return status;
    if (p->round && p->cursor != p->file->round[p->round - 1].count) {
        p->foreign = true;
        return SK_ENOUGH;
    }
    p->cursor = 0;
    if (p->round++ < p->known) return known_round(p, status, message, room);
    p->failure = sk_sums_file_add(p->ctx, p->file);
    if (p->failure < 0) return p->failure;
    p->recording = true;
    p->file->round[p->file->rounds - 1].failed = status == SOCK_ENUMERIC;
    return status < 0 ? (int)SK_ENOUGH : status;
}

static sk_foresight foresee(const sk_comm *comm)
{
    const sk_part_comm *p = (const sk_part_comm *)comm;
    if (p->recording || p->foreign) return SK_WAITING_SUMS;
    return p->round < p->known ? SK_KNOWN_SUMS : SK_UNKNOWN_SUMS;
}

void sk_part_comm_begin(sk_part_comm *p, sock_context *ctx, sk_sums_file *file, size_t part, size_t parts)
{
    *p = (sk_part_comm){.comm = {.rank = (int)part - 1, .size = (int)parts, .sum = sum, .agree = agree},
                        .ctx = ctx,
                        .file = file,
                        .known = file->rounds};
    p->comm.foresee = foresee;
    file->part = part;
    file->parts = parts;
}
