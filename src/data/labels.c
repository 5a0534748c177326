/* labels.c - open addressing with linear probing, at most half full. */
#include "labels.h"

#include <string.h>

static size_t home(const sk_labels *labels, const char *text, size_t length)
{
    uint64_t hash = sk_hash(SK_HASH_START, text, length);
    return (size_t)(hash ^ (hash >> 32)) & (labels->slot_count - 1);
}

/* The slot of the text, or the free one where it belongs. */
static size_t probe(const sk_labels *labels, const char *text, size_t length)
{
    size_t slot = home(labels, text, length);
    for (; labels->slots[slot]; slot = (slot + 1) & (labels->slot_count - 1)) {
        const char *other = labels->text[labels->slots[slot] - 1];
        if (strncmp(other, text, length) == 0 && other[length] == 0) break;
    }
    return slot;
}

static sock_status widen(sock_context *ctx, sk_labels *labels)
{
    size_t *old = labels->slots, slots = labels->slot_count ? 2 * labels->slot_count : 64;
    size_t *wider = sk_alloc(ctx, slots, sizeof *wider);
    if (!wider) return SOCK_ENOMEM;
    labels->slots = wider;
    labels->slot_count = slots;
    for (size_t i = 0; i < labels->count; i++) wider[probe(labels, labels->text[i], strlen(labels->text[i]))] = i + 1;
    sk_free(old);
    return SOCK_OK;
}

sock_status sk_labels_find(sock_context *ctx, sk_labels *labels, const char *text, size_t length, size_t *label,
                           bool *is_new)
{
    if (2 * (labels->count + 1) > labels->slot_count) SK_TRY(widen(ctx, labels));
    size_t slot = probe(labels, text, length);
    *is_new = labels->slots[slot] == 0;
    if (*is_new) {
        SK_TRY(sk_grow(ctx, &labels->text, &labels->capacity, labels->count + 1, sizeof *labels->text));
        char *copy = sk_alloc(ctx, length + 1, 1);
        if (!copy) return SOCK_ENOMEM;
        memcpy(copy, text, length);
        labels->text[labels->count++] = copy;
        labels->slots[slot] = labels->count;
    }
    *label = labels->slots[slot] - 1;
    return SOCK_OK;
}

void sk_labels_clear(sk_labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) sk_free(labels->text[i]);
    sk_free(labels->text);
    sk_free(labels->slots);
    *labels = (sk_labels){0};
}
