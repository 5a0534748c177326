/* deadline.h - an end to work that takes too long: a thread that cancels a context when the process has used so many
 * seconds of processor time. Processor time, so that the same row ends the same way on a busy machine. */
#ifndef EXP_DEADLINE_H
#define EXP_DEADLINE_H

#include "sock.h"

typedef struct exp_deadline exp_deadline;

/* Watches from now on. NULL when out of memory or threads; the work then has no end but its own. */
exp_deadline *exp_deadline_new(sock_context *ctx, double seconds);

/* Stops watching and frees it. 1: it has cancelled the work; the cancellation is taken back. NULL: 0. */
int exp_deadline_end(exp_deadline *deadline);

#endif
