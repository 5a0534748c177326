/* searchspread.h - how far the model of a search can be trusted. */
#ifndef SK_SEARCHSPREAD_H
#define SK_SEARCHSPREAD_H

#include "tune/searchstate.h"

/* The spread of the model that the choice of the search makes, in the units of the search: the model gets it, unless
 * the options want none or the numbers do not allow one. */
sock_status sk_search_spread(const sk_search *s, sock_model *model);

/* The zero of a state that is far from 0 is a guess of a learned drift, a round number near the middle of the data.
 * Where a component without a constant has terms of such a state, that the constant is 0 there says no more than that
 * it is not large: it counts among the weights whose law is told. */
typedef struct sk_guess {
    size_t constant; /* the feature */
    bool *counts;    /* d: components of which it is asked; NULL: of none */
    double *kept;    /* p x d: the weights, with a 1 for those that are asked */
} sk_guess;

/* Of a drift with weights w (p x d); units: of the rows' first `coordinates`; NULL: no zero is a guess. */
sock_status sk_guess_constant(sock_context *ctx, const sk_features *map, size_t d, const double *w,
                              const sk_units *units, size_t coordinates, sk_guess *out);
void sk_guess_clear(sk_guess *guess);

/* The range of all rows, and how far draws of f are from it at some of them. */
sock_status sk_spread_at_data(sock_context *ctx, const sk_transitions *all, const sk_transitions *some,
                              const sock_model *model);

#endif
