/* streamrows.h - the rows of a search over data that are larger than memory.
 *
 *   survey  a pass: steps, trajectories and a hash of each; from these alone, who is held out when, and who is in the
 * sample sample  a pass: whole trajectories, or a window of each piece of a few long ones, as a data set in memory.
 * Units, bounds, jitter, typical sizes, features, and the choice of kernels come from it rows    a pass: all steps, in
 * the units of the sample, into a store that is read block by block
 *
 * Lots are drawn by hash, so nothing depends on the order of the files but the last bits. */
#ifndef SK_STREAMROWS_H
#define SK_STREAMROWS_H

#include "data/source.h"
#include "tune/folds.h"

typedef struct sk_stream sk_stream;

/* wanted: steps of the sample, 0: as a search takes them. folds: wished for, 0: the usual number. */
sock_status sk_stream_new(sock_context *ctx, const sk_source *source, const char *scratch, size_t wanted, size_t folds,
                          sk_stream **out);
void sk_stream_free(sk_stream *stream);

/* What was counted. */
typedef struct sk_stream_told {
    size_t steps, points, trajectories; /* trajectories: with a point */
    uint64_t hash, digest;              /* of all, in their order: of their states; of their times, too */
    size_t sampled;                     /* steps of the sample */
    size_t left_out;          /* of all: wild ones, and those at rest on a bound; known once the rows are stored */
    const double *low, *high; /* of each state */
} sk_stream_told;
sk_stream_told sk_stream_tell(const sk_stream *stream);

const sock_data *sk_stream_sample(const sk_stream *stream);

/* As sk_row_sets_new does; spec->data is the sample. */
sock_status sk_stream_row_sets(sock_context *ctx, const sk_tune_spec *spec, size_t screen_rows, sk_row_sets *out);

#endif
