/* partcomm.h - one of several processes that share a fit by a plan without knowing each other: what all have summed up
 * so far lies in a file, and the work ends at the first sum that does not. So a pass is a run of its own, wherever and
 * whenever, and everything before it is done again without visiting rows. */
#ifndef SK_PARTCOMM_H
#define SK_PARTCOMM_H

#include "api/sumsfile.h"
#include "base/comm.h"

typedef struct sk_part_comm {
    sk_comm comm; /* the first member: what is handed over */
    sock_context *ctx;
    sk_sums_file *file; /* known rounds; our own is put behind them */
    size_t known, round, cursor;
    bool recording; /* our own has begun */
    bool foreign;   /* known rounds are not those of this fit */
    sock_status failure;
} sk_part_comm;

/* file: sums of all so far (part 0), or none yet; borrowed. part: from 1 to parts. */
void sk_part_comm_begin(sk_part_comm *p, sock_context *ctx, sk_sums_file *file, size_t part, size_t parts);

#endif
