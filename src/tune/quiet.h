/* quiet.h - states without noise of their own: x with dx = v dt, the time, a parameter. What such a state does beyond
 * its drift is the noise of others that its drift passes on, of order h^3 where noise of its own would be of order h:
 *
 *     E e e' = int_0^h exp(J s) a exp(J s)' ds,   a with the rows and columns of the state set to zero.
 *
 * Where that accounts for the residuals of a state, its rows and columns of a are set to zero exactly, in every part
 * and in the floor. That a sum of squares is small enough is no evidence: what is passed on must be seen to come from
 * the others (of it e_k - (h / 2) sum_l J_kl e_l leaves a quarter), and rounding to turn back (neighbouring residuals
 * of a rounded state have the correlation -1/2). Steps that are long for the system say nothing of it. */
#ifndef SK_QUIET_H
#define SK_QUIET_H

#include "model/model.h"
#include "model/outcome.h"

/* Mean squares of a state over all steps. */
typedef struct sk_quiet_squares {
    double residual;  /* of what the drift leaves */
    double passed_on; /* ... of what others' noise accounts for */
    double increment;
    double grain; /* the smallest change that the data can show; 0: none is known */
    double apart; /* ... of residuals without what those of the others say of them */
    double next;  /* mean product of neighbouring residuals, */
    size_t pairs; /* so many */
} sk_quiet_squares;

bool sk_is_quiet(const sk_quiet_squares *squares);

/* Finds them in a finished model and its data, silences them there, and tells; skip (points, or NULL): steps that begin
 * there are passed over. Nothing where no state would be left with noise. */
sock_status sk_silence(sock_context *ctx, sock_model *model, const sock_data *data, const bool *skip,
                       sk_tune_outcome *told);

#endif
