/* datarules.h - the rules by which data are looked at before a fit, each a function of its own: wild steps, codes for
 * missing values, states that follow others, angles. */
#ifndef SK_DATARULES_H
#define SK_DATARULES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- Wild steps: what a step is compared with ---- */

/* Whether so many steps tell what the rest is. */
bool sk_wild_has_steps(size_t steps);

/* Steps among which neighbours in d states are looked for, and how many neighbours of so many. */
size_t sk_wild_sample(size_t d);
size_t sk_wild_neighbours(size_t sample);

/* The steps around s in a trajectory from begin to end, as many to each side, more to one where the other ends; and
 * whether a trajectory has too few of them to tell. */
void sk_wild_around(size_t s, size_t begin, size_t end, size_t *from, size_t *to);
bool sk_wild_is_alone(size_t steps);

/* Whether a deviation belongs to the rest whatever the rest is; whether it is looked at; and whether so many of n steps
 * are an exception. */
bool sk_wild_is_body(double deviation);
bool sk_wild_is_looked_at(double deviation);
bool sk_wild_is_exception(size_t far, size_t n);

/* Whether a step is far longer than the median one. */
bool sk_is_gap(double step, double median);

/* Whether times read a clock, 959 and then 1000: an hour begins so often, where the numbers leap, and so many of the
 * steps are alike in minutes. */
bool sk_reads_clock(size_t leaps, size_t regular, size_t steps);

/* Spacings that tell a tail index: of few data the uppermost fifth, since the body has none; and the index of the tail
 * below place a of sizes that fall, a standard error and a half on the safe side. */
size_t sk_wild_tail(size_t count);
double sk_wild_tail_index(size_t count, const double *size, size_t a);

/* ---- Wild steps: what a state does by itself ---- */

/* Whether two places are one, by the step that leads from one of them. */
bool sk_wild_is_near(double place, double other, double step);

/* Whether a place with so many inhabitants of a sample is lived in, or out of the way of all; whether one with so many
 * lies between two wells, the emptier with so many. */
bool sk_wild_is_lived_in(size_t inhabitants, size_t sample);
bool sk_wild_is_lonely(size_t inhabitants, size_t sample);
bool sk_wild_lies_between(size_t inhabitants, size_t well);

/* Whether far steps are so many that only their neighbours tell; whether so many that are alike are resets, where
 * `beyond` steps begin as far out; and whether two so far apart in time are part of one stretch, of one burst, or of
 * one excursion that ends where it began. */
bool sk_wild_are_many(size_t far);
bool sk_wild_are_resets(size_t alike, size_t beyond);
bool sk_wild_in_stretch(size_t apart);
bool sk_wild_in_burst(size_t apart);
bool sk_wild_in_excursion(size_t apart);

/* ---- Codes ---- */

/* Whether so many different values are many; whether a value is apart from the others by its gap, by their range and
 * the range of their middle half; and whether one that recurs so often is a code. */
bool sk_code_others_vary(size_t different);
bool sk_code_is_apart(double gap, double range, double middle);
bool sk_code_recurs(size_t same);

/* ---- Courses ---- */

/* Whether a state follows from others that leave so much of the square of its increments; whether so many steps tell it
 * of c columns; and whether a state is smooth that has so much noise over so many windows. */
bool sk_course_follows(double left, double all);
bool sk_course_has_steps(size_t steps, size_t columns);
bool sk_course_is_smooth(double noise, size_t windows);

/* ---- Angles ---- */

/* Steps of a state whose range is 1, by their sizes: whether the usual one is short enough to see an angle; whether one
 * jumps; whether one is between a jump and a step; and whether a jump closes the circle but for a few usual steps. */
bool sk_angle_is_seen(double usual);
bool sk_angle_jumps(double size);
bool sk_angle_between(double size);
bool sk_angle_closes(double size, double usual);

/* Whether so many jumps, steps between, jumps that close and points in the middle half of all are those of an angle. */
bool sk_angle_found(size_t far, size_t between, size_t closed, size_t within, size_t points);

#endif
