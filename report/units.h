/* units.h - units that stand in column names, "length [mm]" or "time (s)", carried over to the fields. */
#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

#include <stddef.h>

/* The x of a state that is called log(x), as fits with --log call it: where it begins in the name, and its length.
 * NULL: the state is no logarithm. */
const char *unit_inside_log(const char *name, size_t *length);

/* What an axis of that state is called: the name, or "x (log scale)", for its ticks are in units of x then; of dates
 * (datemarks.h) without their unit. */
void unit_of_axis(const char *name, size_t size, char *text);

/* A value of that state, or of the x that it is the logarithm of. */
double unit_value(const char *name, double value);

/* What stands in brackets at the end of the name, with the space before it left out; "" when there is none, and for a
 * logarithm, which has no unit. */
void unit_of(const char *name, size_t size, char *text);

/* What times are counted in, by the name of their column: "years", "ms"; "" where it does not say. And one of them:
 * "a year", "1 ms", "a unit of time". */
void unit_of_time(const char *name, size_t size, char *text);
void unit_one(const char *name, size_t size, char *text);

/* " [mm/s]" (power 1) or " [mm²/s]" (power 2): the unit of f and a where both names have one, " [per s]" where the
 * time alone has, else "". */
void unit_of_field(const char *state, const char *time, int power, size_t size, char *text);

#endif
