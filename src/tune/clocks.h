/* clocks.h - states that move with the time: the time itself, a parameter (at rate 0). A search fits them like any
 * state, to a few digits; here they get what they are, dx/dt = rate exactly, in f, its bands and its draws. */
#ifndef SK_CLOCKS_H
#define SK_CLOCKS_H

#include "model/model.h"
#include "model/outcome.h"

/* The rate of each state in the steps that are not skipped (skip: points, or NULL), NAN for one that is no clock.
 * *count: clocks. The list is freed with sk_free. */
sock_status sk_clocks_find(sock_context *ctx, const sock_data *data, const bool *skip, double **rate, size_t *count);

/* They move at these rates: all terms of f are silent there, and one more, of constants, is a part of every candidate.
 * A drift with a matrix-valued kernel stays as it is (*set: whether it was done). */
sock_status sk_clocks_set(sock_context *ctx, const double *rate, sock_model *model, bool *set);

#endif
