/* innerstep.h - the largest inner step of a simulation whose user gives none. */
#ifndef SK_INNERSTEP_H
#define SK_INNERSTEP_H

#include "simulate.h"

/* Of the gaps between output times; infinite where there is one time alone. */
double sk_smallest_gap(const sock_simulation *spec);

/* spec->step where it is above 0. Else a tenth of the smallest gap between output times, and no more than a tenth of
 * the time in which f changes by itself around the starts; bounds of spec are numbers. */
sock_status sk_choose_inner_step(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *step);

#endif
