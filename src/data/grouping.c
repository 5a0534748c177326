/* grouping.c - who shares a start and a time grid with whom; the data set's own hash. */
#include "grouping.h"

#include <string.h>

/* Counting sort by group, stable. */
sock_status sk_group_by_key(sock_context *ctx, sock_data *data, const size_t *key, size_t keys)
{
    size_t trajectories = data->trajectories;
    size_t *number = sk_alloc(ctx, keys, sizeof *number); /* of the group with this key, from 1; 0: not met */
    data->group_first = sk_alloc(ctx, trajectories + 2, sizeof *data->group_first);
    data->member = sk_alloc(ctx, trajectories, sizeof *data->member);
    sock_status status = SOCK_ENOMEM;
    if (!number || !data->group_first || !data->member) goto out;
    /* first[g + 2] counts group g, then first[g + 1] is where its next member goes; at the end first[g] is its start */
    size_t *first = data->group_first;
    for (size_t j = 0; j < trajectories; j++) {
        if (!number[key[j]]) number[key[j]] = ++data->groups;
        first[number[key[j]] + 1]++;
    }
    for (size_t g = 0; g < data->groups; g++) first[g + 2] += first[g + 1];
    for (size_t j = 0; j < trajectories; j++) data->member[first[number[key[j]]]++] = j;
    status = SOCK_OK;
out:
    sk_free(number);
    return status;
}

sock_status sk_group_none(sock_context *ctx, sock_data *data)
{
    size_t *key = sk_alloc(ctx, data->trajectories, sizeof *key);
    if (!key) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++) key[j] = j;
    sock_status status = sk_group_by_key(ctx, data, key, data->trajectories);
    sk_free(key);
    return status;
}

/* ---- By start and times ---- */

static bool equal_numbers(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* All along: realisations of one law have the same inputs at the same times. */
static bool same_inputs(const sock_data *data, size_t i, size_t j)
{
    const size_t m = data->inputs;
    return !m || equal_numbers(data->u + data->first[i] * m, data->u + data->first[j] * m, m * sk_data_length(data, i));
}

static bool same_start_and_times(const sock_data *data, size_t i, size_t j)
{
    size_t a = data->first[i], b = data->first[j], length = sk_data_length(data, i);
    return length == sk_data_length(data, j) && equal_numbers(data->x + a * data->d, data->x + b * data->d, data->d) &&
           equal_numbers(data->t + a, data->t + b, length) && same_inputs(data, i, j);
}

/* Equal numbers must give equal hashes: adding 0 turns -0 into 0. */
static uint64_t mix_numbers(uint64_t hash, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double plain = x[i] + 0.0;
        uint64_t bits;
        memcpy(&bits, &plain, sizeof bits);
        hash = (hash ^ bits ^ (bits >> 32)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_start_and_times(const sock_data *data, size_t j)
{
    size_t first = data->first[j];
    uint64_t hash = mix_numbers(SK_HASH_START, data->x + first * data->d, data->d);
    hash = mix_numbers(hash, data->t + first, sk_data_length(data, j));
    return data->inputs ? mix_numbers(hash, data->u + first * data->inputs, data->inputs * sk_data_length(data, j))
                        : hash;
}

/* A hash table of the first trajectory of each group; the contents decide, the hash only finds candidates. */
sock_status sk_group_by_start(sock_context *ctx, sock_data *data, const size_t *kind)
{
    size_t trajectories = data->trajectories, slots = 16;
    while (slots < 2 * trajectories) slots *= 2;
    size_t *table = sk_alloc(ctx, slots, sizeof *table); /* trajectory + 1, or 0 */
    uint64_t *hash = sk_alloc(ctx, trajectories, sizeof *hash);
    size_t *key = sk_alloc(ctx, trajectories, sizeof *key);
    sock_status status = SOCK_ENOMEM;
    if (!table || !hash || !key) goto out;
    for (size_t j = 0; j < trajectories; j++) {
        hash[j] = hash_start_and_times(data, j) + (kind ? kind[j] : 0);
        size_t slot = (size_t)(hash[j] ^ (hash[j] >> 32)) & (slots - 1);
        for (; table[slot]; slot = (slot + 1) & (slots - 1)) {
            size_t i = table[slot] - 1;
            if (kind && kind[i] != kind[j]) continue;
            if (hash[i] == hash[j] && same_start_and_times(data, i, j)) break;
        }
        if (!table[slot]) table[slot] = j + 1;
        key[j] = table[slot] - 1;
    }
    status = sk_group_by_key(ctx, data, key, trajectories);
out:
    sk_free(table);
    sk_free(hash);
    sk_free(key);
    return status;
}

/* ---- By the user's labels ---- */

static sock_status check_member(sock_context *ctx, const sock_data *data, size_t i, size_t j, const char *group)
{
    const char *note = data->missing ? " (points with missing values were dropped)" : "";
    size_t a = data->first[i], b = data->first[j], m = sk_data_length(data, i), d = data->d;
    if (m != sk_data_length(data, j))
        return sk_fail(
            ctx, SOCK_EINPUT,
            "%s: group '%s': trajectories '%s' and '%s' have %zu and %zu points; the realisations of a group "
            "must share their times%s",
            data->source, group, data->id[i], data->id[j], m, sk_data_length(data, j), note);
    for (size_t k = 0; k < m; k++)
        if (data->t[a + k] != data->t[b + k])
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: group '%s': trajectories '%s' and '%s' differ in time %zu: %.17g and %.17g; the "
                           "realisations of a group must share their times%s",
                           data->source, group, data->id[i], data->id[j], k + 1, data->t[a + k], data->t[b + k], note);
    for (size_t k = 0; k < d; k++)
        if (data->x[a * d + k] != data->x[b * d + k])
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: group '%s': trajectories '%s' and '%s' start at different states: '%s' is %.17g and "
                           "%.17g; the realisations of a group must share their start%s",
                           data->source, group, data->id[i], data->id[j], data->state[k], data->x[a * d + k],
                           data->x[b * d + k], note);
    if (!same_inputs(data, i, j))
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: group '%s': trajectories '%s' and '%s' have different inputs; the realisations of a group "
                       "must share them",
                       data->source, group, data->id[i], data->id[j]);
    return SOCK_OK;
}

sock_status sk_group_by_label(sock_context *ctx, sock_data *data, const size_t *label, size_t labels,
                              char *const *label_name)
{
    SK_TRY(sk_group_by_key(ctx, data, label, labels));
    for (size_t g = 0; g < data->groups; g++) {
        size_t i = data->member[data->group_first[g]];
        for (size_t k = data->group_first[g] + 1; k < data->group_first[g + 1]; k++)
            SK_TRY(check_member(ctx, data, i, data->member[k], label_name[label[i]]));
    }
    return SOCK_OK;
}

/* ---- Hash ---- */

uint64_t sk_data_states_hash(const sock_data *data)
{
    uint64_t hash = sk_hash(SK_HASH_START, &data->d, sizeof data->d);
    hash = sk_hash(hash, data->first, (data->trajectories + 1) * sizeof *data->first);
    hash = sk_hash(hash, data->t, data->points * sizeof *data->t);
    return sk_hash(hash, data->x, data->points * data->d * sizeof *data->x);
}

void sk_data_sign(sock_data *data)
{
    uint64_t hash = sk_hash(SK_HASH_START, &data->d, sizeof data->d);
    hash = sk_hash(hash, data->first, (data->trajectories + 1) * sizeof *data->first);
    hash = sk_hash(hash, data->group_first, (data->groups + 1) * sizeof *data->group_first);
    hash = sk_hash(hash, data->member, data->trajectories * sizeof *data->member);
    hash = sk_hash(hash, data->t, data->points * sizeof *data->t);
    data->hash = sk_hash(hash, data->x, data->points * data->d * sizeof *data->x);
    if (data->inputs) data->hash = sk_hash(data->hash, data->u, data->points * data->inputs * sizeof *data->u);
}
