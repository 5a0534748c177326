/* datemarks.h - axes of times that were dates: round dates of the calendar in the place of numbers since 1970. */
#ifndef REPORT_DATEMARKS_H
#define REPORT_DATEMARKS_H

#include "axes.h"

/* An axis is one of dates when its name is "t [date, day]" (look_time_axis): seconds of its unit, and the length of the
 * name that is shown. 0: it is another. */
int date_axis(const char *name, double *seconds, size_t *shown);

/* Years, months, days, hours, minutes or seconds, about `wanted` of them; count 0 where dates are beyond the calendar.
 */
tick_marks date_marks(double seconds, double low, double high, int wanted);

#endif
