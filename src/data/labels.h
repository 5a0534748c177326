/* labels.h - a set of texts, each with a number in order of first appearance; a hash table stands behind it. */
#ifndef SK_LABELS_H
#define SK_LABELS_H

#include "base/base.h"

typedef struct sk_labels {
    size_t count, capacity;
    char **text;   /* count texts; may be taken out (set text to NULL and count to 0) */
    size_t *slots; /* slot_count places: label + 1, or 0 when free */
    size_t slot_count;
} sk_labels;

/* *label: the number of the text (length bytes, no 0 needed); *is_new tells whether it was added now. */
sock_status sk_labels_find(sock_context *ctx, sk_labels *labels, const char *text, size_t length, size_t *label,
                           bool *is_new);
void sk_labels_clear(sk_labels *labels);

#endif
