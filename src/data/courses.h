/* courses.h - states that are no processes of their own, from the data alone: one that never changes, the time, a copy
 * of another, a sum of others; states that are smooth, so that there is no noise to learn; and angles. */
#ifndef SK_COURSES_H
#define SK_COURSES_H

#include "data.h"

/* A state that looks like an angle which is cut at a full turn, and a sentence that says so. */
typedef struct sk_angle {
    size_t state;
    char *text;
} sk_angle;

typedef struct sk_courses {
    size_t count;
    char **text; /* a sentence for each state that follows from others, without a full stop: "y is a copy of x" */
    bool smooth; /* every other state is smooth */
    size_t angles, capacity;
    sk_angle *angle;
} sk_courses;

/* skip (points, or NULL): steps that take no part. */
sock_status sk_courses_find(sock_context *ctx, const sock_data *data, const bool *skip, sk_courses *out);
void sk_courses_clear(sk_courses *courses);

/* Angles alone, which sk_courses_find asks too (angles.c). */
sock_status sk_angles_find(sock_context *ctx, const sock_data *data, sk_courses *out);

enum { SK_COURSE_ORDERS = 7 }; /* of differences; more are those of rounding */

/* Most that the variance of noise can be, as a part of the mean square step, from the mean squares of differences of
 * orders 1 .. SK_COURSE_ORDERS: that of order m holds noise times the binomial (2m - 2 over m - 1), and it vanishes
 * with the m-th power of the step where there is none. */
double sk_course_noise(const double *square);

#endif
