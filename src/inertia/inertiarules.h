/* inertiarules.h - the rules of fits of second order, each a function of its own. */
#ifndef SK_INERTIARULES_H
#define SK_INERTIARULES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether so many second differences say something about a force. */
bool sk_inertia_has_rows(size_t rows);

/* The mean square velocity: of products of mean velocities two steps apart, which share no noise, or of neighbours,
 * where the products are as small as chance makes them. */
double sk_inertia_square_speed(double apart, double near);

/* ---- The iterations, numbered from 1 ---- */

/* Whether velocities are only being found: polynomials and a constant a alone; whether all candidates are compared; and
 * whether it may be the last. */
bool sk_inertia_begins(size_t iteration);
bool sk_inertia_sweeps(size_t iteration);
bool sk_inertia_may_end(size_t iteration);

/* ---- Rows ---- */

/* The least a_kk at the start, by that of the mean square second difference. */
double sk_inertia_least_a(double a, double all);

/* What is added to the variance of a row before it is inverted, by the typical one. */
double sk_inertia_shift(double typical);

/* Whether the square of d white innovations says anything. */
bool sk_inertia_row_counts(double square, size_t d);

/* The weight of a product of two innovations with these variances, in units of the typical one. */
double sk_inertia_pair_weight(double one, double other);

#endif
