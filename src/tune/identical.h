/* identical.h - candidates that came to the same field: polynomials of degree two and three that learned the same
 * terms, a learned kernel that kept all of its features. In an average they are one part. */
#ifndef SK_IDENTICAL_H
#define SK_IDENTICAL_H

#include "tune/searchstate.h"

/* Whether two trials of one field say the same of every held-out row of the views, to rounding. */
sock_status sk_same_field(sock_context *ctx, const sk_views *views, const sk_trial *a, const sk_trial *b, bool *same);

/* Identical parts of the average become one, under the simplest name, with the shares of all; the part with the largest
 * share leads. */
sock_status sk_join_identical(sk_search *s, sk_choice *choice);

#endif
