/* innerstep.h - the largest inner step of each start of a simulation whose user gives none. */
#ifndef SK_INNERSTEP_H
#define SK_INNERSTEP_H

#include "simulate.h"

/* Of the gaps between output times; infinite where there is one time alone. */
double sk_smallest_gap(const sock_simulation *spec);

/* step[starts]: spec->step where it is above 0. Else a tenth of the smallest gap between output times, halved until it
 * is no more than a tenth of the time in which f changes by itself around the start; bounds of spec are numbers. */
sock_status sk_choose_inner_steps(sock_context *ctx, const sock_model *model, const sock_simulation *spec,
                                  double *step);

#endif
