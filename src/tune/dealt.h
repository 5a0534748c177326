/* dealt.h - candidates on rows in memory that several processes deal out: each makes some, and gives them to the
 * others.
 */
#ifndef SK_DEALT_H
#define SK_DEALT_H

#include "tune/trial.h"

/* Who makes which: the most expensive first, each to the process that has least. owner: of each; a cost of 0: nobody.
 */
void sk_deal_owners(int processes, size_t count, const double *cost, int *owner);

/* One trial of process `owner` (NULL: it could not be fitted) to all others, who have it then as if they had made it;
 * called by all, with the status that each has so far. grid: the penalties of which those of the trial are a part. */
sock_status sk_deal_trial(sock_context *ctx, sock_status status, int owner, const sk_transitions *rows,
                          const sk_candidate *candidate, const double *grid, sk_trial **trial);

#endif
