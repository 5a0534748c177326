/* source.h - data that may be larger than memory: folders of arrays, read as numbered chunks, each a data set of its
 * own. Files of another form are written to a folder in the scratch folder first, which goes with the source. */
#ifndef SK_SOURCE_H
#define SK_SOURCE_H

#include "base/options.h"
#include "data.h"
#include "readers.h"

typedef struct sk_source sk_source;

/* A run of whole trajectories, or a piece of a long one; the next piece begins with the last point of this one. */
typedef struct sk_chunk {
    sock_data *data;    /* without groups; what the options say is done to it */
    size_t *trajectory; /* of each of its trajectories: the number among all */
    size_t before;      /* steps of the first trajectory that earlier pieces held */
    bool shared;        /* the first point is the last one of an earlier piece */
    bool goes_on;       /* its last one does, in the next chunk */
    size_t part;        /* the file that it is of */
    size_t *turn;       /* of each of its trajectories: see sk_source_turns */
} sk_chunk;

/* scratch: where folders may be made. Options: those of data. SOCK_EUSAGE for those that need all data at once. */
sock_status sk_source_open(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                           const char *scratch, sk_source **out);
void sk_source_free(sk_source *source);

size_t sk_source_trajectories(const sk_source *source);
const char *sk_source_name(const sk_source *source);

/* Files; of file i that is no folder, how it was read, else NULL; rows of all files. */
size_t sk_source_parts(const sk_source *source);
const sk_reading *sk_source_reading(const sk_source *source, size_t i);
size_t sk_source_rows(const sk_source *source);

/* Trajectories, and pieces of long ones, come in so many turns, which rise: those that begin in the same run of points
 * of all data, whose length depends on the number of all alone, have one turn, in which files they may be. Of several
 * processes (base/comm.h) each has some that follow one another. */
size_t sk_source_turns(const sk_source *source);
bool sk_source_is_mine(const sock_context *ctx, const sk_source *source, size_t turn);

/* work(arg, chunk) for each chunk, in order; dealt: for those alone in which a turn of this process may be. stage: what
 * the monitor is told. A chunk in which no point is left is passed over. */
typedef sock_status (*sk_chunk_fn)(sock_context *ctx, void *arg, const sk_chunk *chunk);
sock_status sk_source_each(sock_context *ctx, const sk_source *source, const char *stage, bool dealt, sk_chunk_fn work,
                           void *arg);

#endif
