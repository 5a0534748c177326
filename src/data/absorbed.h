/* absorbed.h - trajectories that have come to rest at a bound: the last steps in which nothing changes while some state
 * is exactly on its bound. They have no density: a = 0 is right there, and a likelihood pays for it without limit. */
#ifndef SK_ABSORBED_H
#define SK_ABSORBED_H

#include "data.h"

/* Marks the points where such steps begin (step: points, or NULL) and answers how many there are. lower, upper: d each,
 * infinite where there is no bound; either may be NULL. */
size_t sk_absorbed_mark(const sock_data *data, const double *lower, const double *upper, bool *step);

/* Whether state k is exactly on `bound` in the data, and whenever it is, nothing changes any more. */
bool sk_absorbed_at(const sock_data *data, size_t k, double bound);

/* The data without them, to be read and freed with sk_absorbed_free: names and groups are borrowed. *out is NULL where
 * there are none. */
sock_status sk_absorbed_cut(sock_context *ctx, const sock_data *data, const double *lower, const double *upper,
                            sock_data **out);
void sk_absorbed_free(sock_data *cut);

#endif
