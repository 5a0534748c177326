/* residuals.h - what a drift leaves of one step, of plain numbers, for all who have fields at hand, guests too. Rows of
 * data and of views: occupation.h, view.h. No other file than residuals.c forms residuals. */
#ifndef SK_RESIDUALS_H
#define SK_RESIDUALS_H

#include <stddef.h>

/* e (d) = next - y - h f; e may be f or next. */
void sk_residual_euler(size_t d, double h, const double *y, const double *next, const double *f, double *e);

/* e / sqrt(h a), e and a one of a state; NaN where the model has no noise. */
double sk_residual_standard(double h, double a, double e);

#endif
