/* dealt.c - see dealt.h. Features are made anew by those who are given a trial: they follow from candidate and rows. */
#include "tune/dealt.h"

#include "base/comm.h"

#include <assert.h>
#include <string.h>

void sk_deal_owners(int processes, size_t count, const double *cost, int *owner)
{
    double load[SK_MOST] = {0}; /* processes beyond so many have nothing */
    const int most = processes < SK_MOST ? processes : SK_MOST;
    for (size_t i = 0; i < count; i++) owner[i] = -1;
    for (size_t done = 0; done < count; done++) {
        size_t next = count;
        for (size_t i = 0; i < count; i++)
            if (owner[i] < 0 && cost[i] > 0 && (next == count || cost[i] > cost[next])) next = i;
        if (next == count) return;
        int least = 0;
        for (int r = 1; r < most; r++)
            if (load[r] < load[least]) least = r;
        owner[next] = least;
        load[least] += cost[next];
    }
}

/* What is told of a trial before its numbers. */
typedef struct head {
    bool there, held;
    size_t lambdas, grid; /* grid: the first penalty's place; SIZE_MAX: none */
    sk_trial told;        /* its pointers mean nothing elsewhere */
} head;

static head head_of(const sk_trial *t, const double *grid)
{
    head h;
    memset(&h, 0, sizeof h);
    if (!t) return h;
    h.there = true;
    h.held = t->held != NULL;
    h.lambdas = t->lambdas;
    h.grid = t->grid ? (size_t)(t->grid - grid) : SIZE_MAX;
    h.told = *t;
    return h;
}

/* I f without each fold and from all rows, or I a. */
static size_t held_numbers(const sk_trial *t, const sk_transitions *rows)
{
    return rows->n * t->d * (t->field == SK_DRIFT ? t->folds + 1 : t->d);
}

/* A trial with room for what the head tells. */
static sock_status make_room(sock_context *ctx, const head *h, const sk_transitions *rows,
                             const sk_candidate *candidate, const double *grid, sk_trial **out)
{
    const double *own = h->grid == SIZE_MAX ? NULL : grid + h->grid;
    sk_trial *t = NULL;
    SK_TRY(sk_trial_new(ctx, rows, candidate, h->lambdas, own, &t));
    sock_status status = SOCK_OK;
    if (t->size != h->told.size)
        status = sk_fail(ctx, SOCK_EUSAGE, "the processes do not agree on %s: they run on processors of several kinds",
                         candidate->name);
    if (status >= 0 && h->held && !(t->held = sk_doubles_unset(ctx, held_numbers(t, rows), 1))) status = SOCK_ENOMEM;
    if (status < 0)
        sk_trial_free(t);
    else
        *out = t;
    return status;
}

/* What was found, beside the numbers. */
static void take_head(const head *h, sk_trial *t)
{
    sk_trial all = h->told;
    all.map = t->map;
    all.picks = t->picks;
    all.cluster = t->cluster;
    all.grid = t->grid;
    all.by_l = t->by_l;
    all.solution = t->solution;
    all.rows = t->rows;
    all.held = t->held;
    *t = all;
}

static void give_numbers(sock_context *ctx, int owner, const sk_transitions *rows, sk_trial *t)
{
    const size_t each = sizeof(double);
    sk_give(ctx, owner, t->cluster, rows->clusters * each);
    sk_give(ctx, owner, t->by_l, t->lambdas * each);
    sk_give(ctx, owner, t->solution, (t->folds + 1) * t->size * each);
    if (t->held) sk_give(ctx, owner, t->held, held_numbers(t, rows) * each);
}

sock_status sk_deal_trial(sock_context *ctx, sock_status status, int owner, const sk_transitions *rows,
                          const sk_candidate *candidate, const double *grid, sk_trial **trial)
{
    const bool mine = sk_rank(ctx) == owner;
    status = sk_together(ctx, status);
    if (status < 0) return status;
    head h = head_of(mine ? *trial : NULL, grid);
    sk_give(ctx, owner, &h, sizeof h);
    if (!h.there) return status;
    sk_trial *t = mine ? *trial : NULL;
    sock_status own = mine ? SOCK_OK : make_room(ctx, &h, rows, candidate, grid, &t);
    own = sk_together(ctx, own);
    assert(t || own < 0); /* the owner has said that it is there, and the others have room for it */
    if (own >= 0) give_numbers(ctx, owner, rows, t);
    if (mine) return own < 0 ? own : status;
    if (own < 0) {
        sk_trial_free(t);
        return own;
    }
    take_head(&h, t);
    *trial = t;
    return status;
}
