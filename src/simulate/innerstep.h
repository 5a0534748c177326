/* innerstep.h - the largest inner step of each start of a simulation whose user gives none. */
#ifndef SK_INNERSTEP_H
#define SK_INNERSTEP_H

#include "simulate.h"

/* spec->step where it is above 0, else a tenth of the smallest gap between output times (infinite: one time alone). */
double sk_widest_step(const sock_simulation *spec);

/* A step, halved until f, which changes at this rate, hardly does within it, or a path of this span has a million. */
double sk_halved_step(double step, double rate, double span);

/* step[starts]: the widest; where the user gave none, in up to 64 states, halved by the rate of f around each start.
 * Bounds of spec are numbers. */
sock_status sk_choose_inner_steps(sock_context *ctx, const sock_model *model, const sock_simulation *spec,
                                  double *step);

#endif
