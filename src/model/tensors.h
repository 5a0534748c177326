/* tensors.h - named arrays of doubles with text metadata in one file, in the safetensors format: eight bytes with the
 * length of a JSON header, the header, the raw little-endian numbers. Nothing here knows what the arrays mean. */
#ifndef SK_TENSORS_H
#define SK_TENSORS_H

#include "base/base.h"

#include <jansson.h>

typedef struct sk_tensor {
    char name[96];
    size_t rows, cols;
    const double *values;
} sk_tensor;

typedef struct sk_tensors {
    size_t count, capacity;
    sk_tensor *at;
    json_t *metadata; /* object of strings */
    double *storage;  /* of a file that was read: owns the values; NULL when they are borrowed */
} sk_tensors;

/* Adds an array; values are borrowed until the file is written. */
sock_status sk_tensors_add(sock_context *ctx, sk_tensors *t, const char *name, size_t rows, size_t cols,
                           const double *values);

/* NULL when there is none of that name. */
const sk_tensor *sk_tensors_find(const sk_tensors *t, const char *name);

/* Whole or not at all. */
sock_status sk_tensors_write(sock_context *ctx, const sk_tensors *t, const char *path);

/* From the bytes of a file, which `path` names in messages. Every length, offset, name and number is checked;
 * SOCK_EINPUT with the file and the reason. */
sock_status sk_tensors_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_tensors *t);
void sk_tensors_clear(sk_tensors *t);

#endif
