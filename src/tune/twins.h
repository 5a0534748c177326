/* twins.h - candidates that came to the same field: polynomials of degree two and three that learned the same terms, a
 * learned kernel that kept all of its features. In an average they are one part. */
#ifndef SK_TWINS_H
#define SK_TWINS_H

#include "tune/searchstate.h"

/* Whether the two say the same of every held-out step, to SK_TWIN_ERROR of the size of what they say. */
#define SK_TWIN_ERROR 1e-7
bool sk_same_drift(const sk_problem *p, const sk_drift_result *a, const sk_drift_result *b);
bool sk_same_diffusion(const sk_problem *p, const sk_diffusion_result *a, const sk_diffusion_result *b);

/* Parts of an average that are twins become one, under the simplest name, with the shares of all; the part with the
 * largest share leads. */
void sk_join_twins(sk_search *s, sk_choice *choice);

#endif
