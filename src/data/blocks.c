/* blocks.c - data split in time: a block of each trajectory is held out.
 *
 * Block p of a trajectory of m steps holds its steps floor(m p / parts) to floor(m (p + 1) / parts); what is before and
 * behind stays. Pieces share the points where they meet, so every step is in exactly one of the two, and over all p
 * each step is held out once. A piece without a step is left out. */
#include "grouping.h"

typedef struct cut {
    const sock_data *data;
    size_t parts, part;
} cut;

/* The points of the block of trajectory j: the first and the last. */
static void block_of(const cut *c, size_t j, size_t *low, size_t *high)
{
    const size_t steps = sk_data_length(c->data, j) - 1, each = steps / c->parts, left = steps % c->parts;
    /* floor(steps p / parts) without a product that could overflow */
    *low = each * c->part + left * c->part / c->parts;
    *high = each * (c->part + 1) + left * (c->part + 1) / c->parts;
}

/* The pieces of trajectory j that are held, or stay; at most two. */
static size_t pieces_of(const cut *c, size_t j, bool held, sk_piece piece[2])
{
    size_t low, high, count = 0;
    const size_t last = sk_data_length(c->data, j) - 1;
    block_of(c, j, &low, &high);
    const sk_piece all[] = {{j, low, high - low + 1, NULL},
                            {j, 0, low + 1, high < last && low > 0 ? "before" : NULL},
                            {j, high, last - high + 1, high < last && low > 0 ? "after" : NULL}};
    for (size_t i = held ? 0 : 1; i < (held ? 1 : 3); i++)
        if (all[i].count > 1) piece[count++] = all[i];
    return count;
}

static sock_status group_pieces(sock_context *ctx, const sock_data *whole, sock_data *part)
{
    const bool alone = whole->groups == whole->trajectories;
    SK_TRY(alone ? sk_group_none(ctx, part) : sk_group_by_start(ctx, part, NULL));
    sk_data_sign(part);
    return SOCK_OK;
}

static sock_status take(sock_context *ctx, const cut *c, bool held, sock_data **out)
{
    const size_t most = 2 * c->data->trajectories;
    size_t count = 0;
    sock_data *part = NULL;
    sk_piece *piece = sk_alloc(ctx, most, sizeof *piece);
    if (!piece) return SOCK_ENOMEM;
    for (size_t j = 0; j < c->data->trajectories; j++) count += pieces_of(c, j, held, piece + count);
    sock_status status = SOCK_OK;
    if (!count)
        status = sk_fail(ctx, SOCK_EINPUT, "%s: block %zu of %zu holds no step%s; fewer parts are allowed",
                         c->data->source, c->part, c->parts, held ? "" : " less than all");
    if (status >= 0) status = sk_data_pieces(ctx, c->data, piece, count, &part);
    if (status >= 0) status = group_pieces(ctx, c->data, part);
    sk_free(piece);
    if (status < 0)
        sock_data_free(part);
    else
        *out = part;
    return status;
}

sock_status sock_data_split_time(sock_context *ctx, const sock_data *data, size_t parts, size_t part, sock_data **rest,
                                 sock_data **held)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data) return sk_fail(ctx, SOCK_EUSAGE, "data must not be NULL");
    if (parts < 2)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %zu parts were asked for; allowed: 2 or more", data->source, parts);
    if (part >= parts) return sk_fail(ctx, SOCK_EUSAGE, "part is %zu; allowed: 0 to %zu", part, parts - 1);
    const cut c = {data, parts, part};
    sock_data *others = NULL, *chosen = NULL;
    sock_status status = SOCK_OK;
    if (rest) SK_GO(take(ctx, &c, false, &others));
    if (held) SK_GO(take(ctx, &c, true, &chosen));
    if (rest) *rest = others;
    if (held) *held = chosen;
    others = chosen = NULL;
out:
    sock_data_free(others);
    sock_data_free(chosen);
    return status;
}
