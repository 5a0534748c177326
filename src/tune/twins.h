/* twins.h - candidates that came to the same field: polynomials of degree two and three that learned the same terms, a
 * learned kernel that kept all of its features. In an average they are one opinion and count once. */
#ifndef SK_TWINS_H
#define SK_TWINS_H

#include "tune/searchstate.h"

/* Whether the two say the same of every held-out step, to SK_TWIN_ERROR of the size of what they say. */
#define SK_TWIN_ERROR 1e-7
bool sk_same_drift(const sk_problem *p, const sk_drift_result *a, const sk_drift_result *b);
bool sk_same_diffusion(const sk_problem *p, const sk_diffusion_result *a, const sk_diffusion_result *b);

/* The simplest candidate with the field of candidate i, the first of equally simple ones: mostly i itself. */
size_t sk_first_drift(const sk_search *s, size_t i);
size_t sk_first_diffusion(const sk_search *s, size_t i);

#endif
