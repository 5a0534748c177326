/* steprows.h - data as the rivals see them: one row for each step of each trajectory, never across a trajectory's end.
 */
#ifndef CMP_STEPROWS_H
#define CMP_STEPROWS_H

#include "base/base.h"

typedef struct cmp_steps {
    size_t count, d, trajectories;
    double *x;             /* count x d: where the step begins */
    double *dx;            /* count x d: what it adds */
    double *h;             /* count: how long it takes, > 0 */
    size_t *trajectory;    /* count: whose it is */
    double *lower, *upper; /* d each: the box of all points, ends of steps too */
} cmp_steps;

/* SOCK_EINPUT when there is no step. Freed with cmp_steps_free (NULL is fine). */
sock_status cmp_steps_new(sock_context *ctx, const sock_data *data, cmp_steps **out);
void cmp_steps_free(cmp_steps *steps);

/* Standard deviation of coordinate k where steps begin. */
double cmp_steps_deviation(const cmp_steps *steps, size_t k);

/* Number of pairs k <= l, and the place of a pair in that order (row by row of the upper triangle). */
static inline size_t cmp_pairs(size_t d) { return d * (d + 1) / 2; }
static inline size_t cmp_pair(size_t d, size_t k, size_t l)
{
    size_t low = k < l ? k : l, high = k < l ? l : k;
    return low * d - low * (low + 1) / 2 + high;
}

#endif
