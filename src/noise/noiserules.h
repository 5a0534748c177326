/* noiserules.h - the rules of the fit of measured data and long steps, each a function of its own: when a pass is the
 * last, what is kept, where a search begins. What candidates must gain stands in tune/rules.h. */
#ifndef SK_NOISERULES_H
#define SK_NOISERULES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- The iterations, numbered from 1 ---- */

/* Whether it is one of a list: of order 2, too. */
bool sk_is_listed(size_t iteration, size_t count, const size_t *list);

/* Whether all candidates are compared in it; whether sums of bumps stay out of it; and whether it may take far fewer
 * substeps than the last one. */
bool sk_noise_sweeps(size_t iteration);
bool sk_noise_polynomials_alone(size_t iteration);
bool sk_noise_counts_anew(size_t iteration);

/* Whether the first sweeps are over, in which a hopeless fit shows. */
bool sk_noise_shows_hope(size_t iteration);

/* The first pass that may be the last. fast: the choice is fixed, and R has no correlations. */
size_t sk_noise_least_passes(bool fast);

/* Passes in a row that did not raise the best likelihood so far, after one more with this likelihood; and whether these
 * are too many to go on. */
size_t sk_noise_stalled(size_t before, double sum, double best);
bool sk_noise_goes_to_and_fro(size_t stalled);

/* Whether so few substeps, where there were more, are asked about again from these on: a few fewer may be a whim. */
bool sk_noise_hardly_fewer(size_t next, size_t now);

/* ---- Where they begin ---- */

/* Runs of steps that a pilot looks at, which only asks for substeps: whole ones of about so many steps. first
 * (runs + 1): where each begins. */
size_t sk_pilot_runs(size_t runs, const size_t *first);

/* Whether a polynomial drift of p features of d states is among the beginnings. */
bool sk_noise_affords_drift(size_t p, size_t d);

/* Whether a pilot goes on after a pass with this gain, and whether a share of the way is taken without a look at
 * shorter ones. */
bool sk_pilot_goes_on(double gain);
bool sk_pilot_is_enough(double gain);

/* Whether a residual of this size says nothing about a pilot's a. */
bool sk_pilot_is_far_out(double size, double median);

/* a_kk that a constant a keeps beside the noise: of the mean square of its residuals over h. */
double sk_pilot_least_a(double a, double plain);

/* The least R of the iterations, by that of the start, and the least of the start, by the median of square residuals.
 */
double sk_noise_least_later(double least);
double sk_noise_least_first(double median);

/* The least a_kk of a model with noise, by the mean of its rows and of the trace's share of each coordinate. */
double sk_noise_least_a(double mean, double trace);

/* ---- The look for noise ---- */

/* Where it begins: shares of the variance of a step, rising, and, where steps are long, paces of the drift, falling. */
const double *sk_hint_shares(size_t *count);
const double *sk_hint_paces(size_t *count);

/* Whether the smallest R loses far more than it would cost a model without noise: `values` numbers with neighbours tell
 * of a share r by values r^2 / 2 nats. */
bool sk_hint_is_hopeless(double gain, double values, double share);

/* Whether so many pairs of neighbouring steps say something, and whether residuals may be cleared of so many features.
 */
bool sk_noise_has_pairs(size_t pairs);
bool sk_noise_may_clear(size_t features, size_t steps);

/* Whether so many trajectories, in so many runs, can be told to differ; and whether that, worth so many nats, is what
 * noise seems to be, with its gain. */
bool sk_noise_has_subjects(size_t trajectories, size_t runs);
bool sk_noise_is_subjects(double nats, double gain);

/* The likelihood that a fit of long steps has to reach: begun anew, or at the clean model. */
double sk_long_least(double clean, bool begun_at_it);

/* Whether a fit from another start, so much better held out, shows that the first ended in a wrong valley. */
bool sk_noise_other_valley(double nats);

/* Whether a full R is taken for its gain held out over the diagonal one; the correlation that it begins with; and the
 * least that a step counts in a comparison, by the median one. */
bool sk_full_noise_wins(double nats);
double sk_first_correlation(double r, double product);
double sk_step_counts_least(double median);

/* Whether a pass of so many bytes is kept whole. */
bool sk_noise_keeps_pass(double bytes);

/* ---- Newton's method and the ascent ---- */

/* Raises a curvature that is flat beside the larger one of its coordinate. */
double sk_newton_curvature(double own, double larger);

/* What a step is multiplied with whose longest move of a logarithm is `most`. */
double sk_newton_cut(double most);

/* How far steps of the diffusion are stretched, by complete over observed information. */
double sk_newton_stretch(double complete);

/* Whether so many numbers go up together; whether there is more to gain after a pass; the difference that is taken of a
 * weight; and the part of a square that an outlier counts for. */
bool sk_ascent_is_short(size_t numbers);
bool sk_ascent_goes_on(double promise, double gain);
double sk_ascent_difference(double weight, double largest);

/* The square of an innovation over its variance, as far as it counts for a drift or an a; and whether the squares of d
 * of them say anything at all. */
double sk_innovation_counts(double square);
bool sk_innovation_is_outlier(double square, size_t d);

#endif
