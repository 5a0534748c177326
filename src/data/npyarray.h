/* npyarray.h - an array of NumPy's .npy format: its header, and numbers of it as doubles, from bytes or from a file
 * that stays on the disk. */
#ifndef SK_NPYARRAY_H
#define SK_NPYARRAY_H

#include "base/base.h"

enum { SK_NPY_DIMENSIONS = 8 };

typedef struct sk_npy {
    const char *source;
    char kind; /* 'f', 'i' or 'u' */
    size_t width;
    bool big_endian, fortran;
    size_t shape[SK_NPY_DIMENSIONS], dimensions;
    bool has_descr, has_order, has_shape;
    size_t start; /* where the numbers begin */
    const unsigned char *bytes;
    size_t size; /* of bytes */
} sk_npy;

/* The header at the beginning of `size` bytes; numbers are what is behind it. SOCK_EINPUT with what is wrong. */
sock_status sk_npy_header(sock_context *ctx, const char *source, const char *bytes, size_t size, sk_npy *out);

/* Number `index` of those at bytes. */
double sk_npy_number(const sk_npy *a, const unsigned char *bytes, size_t index);

/* ---- Of a file (npyfile.c) ---- */

typedef struct sk_npy_file {
    sk_npy array; /* without bytes */
    int handle;   /* -1: not open */
    size_t count; /* numbers */
    size_t size;  /* of the file, and when it was written: to see whether it changes */
    int64_t written[2];
} sk_npy_file;

/* A file of at most two dimensions, of which `path` must live as long; one that is as long as its shape says. */
sock_status sk_npy_open(sock_context *ctx, const char *path, sk_npy_file *out);
void sk_npy_close(sk_npy_file *file);

/* SOCK_EINPUT where the file is no longer as it was when it was opened. */
sock_status sk_npy_unchanged(sock_context *ctx, const sk_npy_file *file);

/* `count` numbers from number `first` on, in the order of the file. SOCK_EINPUT where the file has become shorter. */
sock_status sk_npy_read(sock_context *ctx, const sk_npy_file *file, size_t first, size_t count, double *out);

#endif
