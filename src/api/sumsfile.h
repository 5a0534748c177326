/* sumsfile.h - sums over all steps of a stream, or over a part of them, as a file, between passes that processes make
 * which do not know each other. Words of 8 bytes, little-endian: "SOCKSUMS", version, hash of the plan, part (from 1;
 * 0: sums of all), parts, rounds, 0; of each round whether it failed, count, and count pairs of numbers (base/sums.h);
 * last a hash of all before it. */
#ifndef SK_SUMSFILE_H
#define SK_SUMSFILE_H

#include "base/base.h"

/* What was summed up after one agreement of all processes. */
typedef struct sk_round {
    bool failed; /* SOCK_ENUMERIC in one of them: there are no sums */
    size_t count, room;
    double *pair; /* 2 x count: sum, low */
} sk_round;

typedef struct sk_sums_file {
    uint64_t plan;
    size_t part, parts;
    size_t rounds, room; /* of a part the last one is its own; all others are those of all */
    sk_round *round;
} sk_sums_file;

/* One more round, empty. */
sock_status sk_sums_file_add(sock_context *ctx, sk_sums_file *file);
sock_status sk_round_put(sock_context *ctx, sk_round *round, size_t count, const double *sum, const double *low);
void sk_sums_file_clear(sk_sums_file *file);

sock_status sk_sums_write(sock_context *ctx, const sk_sums_file *file, const char *path);

/* Whether bytes begin as such a file does. Parsing trusts nothing: SOCK_EINPUT with the file and the reason. */
bool sk_is_sums_file(const char *bytes, size_t size);
sock_status sk_sums_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_sums_file *out);
sock_status sk_sums_read(sock_context *ctx, const char *path, sk_sums_file *out);

#endif
