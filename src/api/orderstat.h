/* orderstat.h - does a data set look like positions whose velocities were not observed? */
#ifndef SK_ORDERSTAT_H
#define SK_ORDERSTAT_H

#include "data/wild.h"

/* What is left of the increments of a state once a polynomial of all states is taken out of them, over every 1st, 2nd,
 * 4th and 8th point: the largest correlation of neighbouring differences of it (-1/2: of first order; +1/4: a velocity;
 * -2/3: measurement noise; near 1: smooth), and there the share of the variance of the increments that is left. */
typedef struct sk_order_statistic {
    double correlation, left; /* NaN: too few points */
} sk_order_statistic;

/* One for each state. skip (points, or NULL): steps that begin there are passed over. */
sock_status sk_order_statistics(sock_context *ctx, const sock_data *data, const bool *skip, sk_order_statistic *out);

/* The degree of the polynomials of d states; whether so many rows tell what is left of so many functions, and so many
 * pairs of differences a correlation. */
size_t sk_order_degree(size_t d);
bool sk_order_has_rows(size_t rows, size_t functions);
bool sk_order_has_pairs(size_t pairs);

/* Whether such a state looks like a position of second order: its increments go on smoothly, and what they go on with
 * is no function of the states. A smooth path of first order fails the second: Lorenz 63 and 96 have less than 0.03
 * left. */
bool sk_looks_second(const sk_order_statistic *s);

#endif
