/* searchspread.h - how far the model of a search can be trusted. */
#ifndef SK_SEARCHSPREAD_H
#define SK_SEARCHSPREAD_H

#include "tune/searchstate.h"

/* The spread of the model that the choice of the search makes, in the units of the search: the model gets it, unless
 * the options want none or the numbers do not allow one. */
sock_status sk_search_spread(const sk_search *s, sock_model *model);

/* The range of all rows, and how far draws of f are from it at some of them. */
sock_status sk_spread_at_data(sock_context *ctx, const sk_transitions *all, const sk_transitions *some,
                              const sock_model *model);

#endif
