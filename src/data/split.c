/* split.c - parts of nearly equal numbers of intervals, made of whole groups.
 *
 * 1. Shuffle the groups by the seed; then put them in order of falling numbers of intervals, equal ones as shuffled.
 * 2. Deal: each group goes to the part that has the fewest intervals so far (then the fewest groups, then the lowest
 *    number), kept in a heap. So the fullest part leads the emptiest by no more than the last group it got, and longest
 *    first makes that a short one; equal groups take turns.
 * Cost: G log G for G groups. */
#include "data.h"

#include <stdlib.h>

typedef struct hand {
    size_t intervals, groups, part;
} hand;

typedef struct card {
    size_t intervals, rank, group; /* rank: place in the shuffle */
} card;

static int longer_first(const void *left, const void *right)
{
    const card *a = left, *b = right;
    if (a->intervals != b->intervals) return a->intervals > b->intervals ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool is_lighter(const hand *a, const hand *b)
{
    if (a->intervals != b->intervals) return a->intervals < b->intervals;
    if (a->groups != b->groups) return a->groups < b->groups;
    return a->part < b->part;
}

/* The top of the heap has grown: let it sink. */
static void sink(hand *heap, size_t count)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && is_lighter(&heap[child + 1], &heap[child])) child++;
        if (!is_lighter(&heap[child], &heap[i])) return;
        hand kept = heap[i];
        heap[i] = heap[child];
        heap[child] = kept;
    }
}

/* Step 1. */
static sock_status order_groups(sock_context *ctx, const sock_data *data, uint64_t seed, card *cards)
{
    size_t *shuffled = sk_alloc(ctx, data->groups, sizeof *shuffled);
    if (!shuffled) return SOCK_ENOMEM;
    sk_shuffle((sk_key){seed, SK_PURPOSE_SPLIT}, 0, 0, data->groups, shuffled);
    for (size_t i = 0; i < data->groups; i++) cards[i] = (card){sk_group_intervals(data, shuffled[i]), i, shuffled[i]};
    qsort(cards, data->groups, sizeof *cards, longer_first);
    sk_free(shuffled);
    return SOCK_OK;
}

sock_status sk_data_deal(sock_context *ctx, const sock_data *data, size_t parts, uint64_t seed, size_t *part_of)
{
    if (parts == 0 || parts > data->groups)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "%s: %zu parts were asked for; allowed: 1 to %zu, the number of groups (trajectories "
                       "with one start and the same times are one; with grouping none each is by itself)",
                       data->source, parts, data->groups);
    card *cards = sk_alloc(ctx, data->groups, sizeof *cards);
    hand *heap = sk_alloc(ctx, parts, sizeof *heap);
    sock_status status = SOCK_ENOMEM;
    if (!cards || !heap) goto out;
    SK_GO(order_groups(ctx, data, seed, cards));
    for (size_t p = 0; p < parts; p++) heap[p].part = p;
    for (size_t i = 0; i < data->groups; i++) {
        size_t g = cards[i].group;
        for (size_t k = data->group_first[g]; k < data->group_first[g + 1]; k++)
            part_of[data->member[k]] = heap[0].part;
        heap[0].intervals += cards[i].intervals;
        heap[0].groups++;
        sink(heap, parts);
    }
out:
    sk_free(cards);
    sk_free(heap);
    return status;
}

/* The trajectories whose part is (held) or is not (!held) `part`. */
static sock_status take_part(sock_context *ctx, const sock_data *data, const size_t *part_of, size_t part, bool held,
                             sock_data **out)
{
    size_t *keep = sk_alloc(ctx, data->trajectories, sizeof *keep), count = 0;
    if (!keep) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++)
        if ((part_of[j] == part) == held) keep[count++] = j;
    sock_status status = sk_data_subset(ctx, data, keep, count, out);
    sk_free(keep);
    return status;
}

sock_status sock_data_split(sock_context *ctx, const sock_data *data, size_t parts, size_t part, uint64_t seed,
                            sock_data **rest, sock_data **held)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data) return sk_fail(ctx, SOCK_EUSAGE, "data must not be NULL");
    if (parts < 2 || parts > data->groups)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "%s: %zu parts were asked for; allowed: 2 to %zu, the number of groups (trajectories "
                       "with one start and the same times are one; with grouping none each is by itself)",
                       data->source, parts, data->groups);
    if (part >= parts) return sk_fail(ctx, SOCK_EUSAGE, "part is %zu; allowed: 0 to %zu", part, parts - 1);
    sock_data *others = NULL, *chosen = NULL;
    size_t *part_of = sk_alloc(ctx, data->trajectories, sizeof *part_of);
    sock_status status = part_of ? SOCK_OK : SOCK_ENOMEM;
    if (!part_of) goto out;
    SK_GO(sk_data_deal(ctx, data, parts, seed, part_of));
    if (rest) SK_GO(take_part(ctx, data, part_of, part, false, &others));
    if (held) SK_GO(take_part(ctx, data, part_of, part, true, &chosen));
    if (rest) *rest = others;
    if (held) *held = chosen;
    others = chosen = NULL;
out:
    sock_data_free(others);
    sock_data_free(chosen);
    sk_free(part_of);
    return status;
}
