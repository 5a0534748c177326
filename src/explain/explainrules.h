/* explainrules.h - the rules of what an equation means, each a function of its own: what is told, and how much is
 * looked at. */
#ifndef SK_EXPLAINRULES_H
#define SK_EXPLAINRULES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- Draws ---- */

/* Models drawn for the errors of a model of d states. */
size_t sk_explain_draws(size_t d);

/* Whether so many draws with a number give it an error; and the share of them on each side of its interval. */
bool sk_explain_has_error(size_t kept, size_t draws);
double sk_explain_outside(void);

/* Whether most draws have the model's wells; and whether an interval of a time has no upper end worth a number. */
bool sk_explain_wells_are_sure(double share);
bool sk_explain_is_endless(double high, double value);

/* ---- A line ---- */

/* Panels for a density that changes by this power of e over the range at its steepest. */
size_t sk_explain_panels(double steep);

/* Whether a vanishes at an end, by its largest value; whether paths hardly cross a point, by the largest a to its left
 * and to its right; and whether a change of the log density is a dip between two wells. */
bool sk_explain_vanishes(double a, double most);
bool sk_explain_divides(double a, double left, double right);
bool sk_explain_is_dip(double change);

/* ---- Ends ---- */

/* Whether what is told hangs on an end of the range: by the density there over its largest; in a plane by the share in
 * the outermost cells. And how far a bound of the model may be beyond an end of a range of this width to be looked up
 * to. */
bool sk_explain_hangs(double density);
bool sk_explain_hangs_on_edges(double share);
double sk_explain_near_bound(double width);

/* ---- A plane ---- */

/* Whether a is singular, by its eigenvalues; whether a cell is so empty that a current through it is rounding; and
 * whether a grid bears a model that has so much mass below 0. */
bool sk_explain_is_singular(double smaller, double larger);
bool sk_explain_is_empty(double density, double largest);
bool sk_explain_grid_bears(double negative);

/* ---- Fixed points ---- */

/* Starts of Newton's method in d states. */
size_t sk_explain_starts(size_t d);

/* Whether two points are one, by their distance over the range; whether a part of an eigenvalue is 0 beside the largest
 * one; how far beyond a range of this width the nearest fixed point is looked for; and whether one of so many states is
 * told. */
bool sk_explain_is_same(double distance);
bool sk_explain_is_marginal(double part, double largest);
double sk_explain_beyond(double width);
bool sk_explain_tells_states(size_t d);

#endif
