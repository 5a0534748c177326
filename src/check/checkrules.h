/* checkrules.h - the rules of the check of a model, each a function of its own: what is looked at, how much of it, and
 * when it says something. When a test objects stands in verdict.c. */
#ifndef SK_CHECKRULES_H
#define SK_CHECKRULES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- How much is looked at ---- */

/* Whether a fit of this order is checked whole at once. */
bool sk_check_second_at_once(int order);

/* Whole paths at the end of a fit of d states; whole: as many as a whole check makes. */
size_t sk_check_quick_exits(size_t d, bool whole);

/* What an end costs, as a multiple of that of a short step of first order. */
double sk_check_cost(size_t inner, size_t run_inner, bool heun, bool second);

/* Steps of one piece, of `all` steps of which at most `most` are taken. */
size_t sk_check_longest_piece(size_t all, size_t most);

/* Whether all whole paths are made, by the shares of a few that leave the range and that run off. */
bool sk_check_asks_all_paths(const double share[2]);

/* ---- What says something ---- */

/* Whether a state that has so many scores in n steps is tested; so many runs; trajectories and pieces of them, which
 * may differ. */
bool sk_check_is_tested(double scored, size_t n);
bool sk_check_has_runs(size_t runs);
bool sk_check_has_subjects(size_t trajectories, size_t pieces);

/* The chi-square that is as rare as this statistic of so many pieces, by F. */
double sk_check_subjects_surprise(double statistic, size_t pieces);

/* Whether a step is so far out that no diffusion makes it. */
bool sk_check_is_wild(double deviations);

/* Whether a state follows from those before it, by the square of its pivot and what of that the floor has put there. */
bool sk_check_is_found(double square, double floor);

/* Whether so little is left of a column, in squares, that it is not tested. */
bool sk_check_is_gone(double square);

/* ---- What it is compared with ---- */

/* Cosines of the rank of each of d states; and of how many states. */
size_t sk_check_waves_of_state(size_t d);
size_t sk_check_states_with_waves(size_t d);

/* The bin of a state's values, by a rank from 0 to 1. */
size_t sk_check_bin(double rank);

/* Directions that are taken of many features, by the degrees of freedom of the fit (negative: not known), and of so
 * many columns. */
size_t sk_check_directions(double freedom);
size_t sk_check_directions_of(size_t columns, size_t leading);

/* ---- Cycles ---- */

/* The longest lag, and the steps of one spectrum, by the longest piece. */
size_t sk_cycle_lags(size_t longest);
size_t sk_cycle_spectrum(size_t longest);

/* The lag-1 correlation that is taken out first. */
double sk_cycle_whitened(double r);

/* Whether the period of line m is seen often enough to be one; whether line m may be an overtone of the line at m /
 * part; and whether the peak there, so high beside the highest and so rare by chance, is that of the ground. */
bool sk_cycle_is_seen(double m);
bool sk_cycle_may_be_part(int part, double m);
bool sk_cycle_is_ground(double power, double highest, double chance);

/* ---- Binned moments ---- */

/* The bin of a value at this share of the range; the steps that a bin has at least, and a box of a plane, of so many;
 * and states that have planes of two. */
size_t sk_binned_bin(double share);
size_t sk_binned_least(size_t steps);
size_t sk_binned_box_least(size_t steps);

/* Of two means of n steps: the square of what is missed, by the law that these steps estimate, that a right model stays
 * below nine times of ten; and the chance that 1.645 standard errors of a variance do not hold that of a right model.
 */
double sk_binned_reach(size_t n);
double sk_binned_chance(size_t n);

/* Fewer than four boxes show no plane. */
bool sk_binned_shows_plane(size_t steps);
size_t sk_binned_planes(size_t d);

/* Whether so many steps of single intervals, or of longer ones, are enough; whether the ends of steps that are twice as
 * long would know nothing of their starts, by slope times step; that number as far as it is followed; and the share of
 * a shift that a filter carries on. */
bool sk_binned_has_steps(size_t steps, bool longer);
bool sk_binned_forgets(double turn);
double sk_binned_turn(double turn);
double sk_binned_kept(double kept);

/* ---- Whole paths ---- */

/* Times of a path beside a trajectory of so many points; and how far out of a range of this width a path leaves, or,
 * of the wider one, has run off. */
size_t sk_exit_times(size_t points);
double sk_exit_wider(double width);
double sk_exit_off(double width);

#endif
