/* bandrules.h - the rules of bands, each a function of its own: of how much they are made, and what of it counts. */
#ifndef SK_BANDRULES_H
#define SK_BANDRULES_H

#include <stdbool.h>
#include <stddef.h>

/* Steps of a filter that are followed, where so many weights of a drift of d states move: each is a pass, whose laws
 * are kept. For other drifts, whose steps have so many substeps. */
size_t sk_band_measured_steps(size_t d, double moving);
size_t sk_band_other_steps(double substeps);

/* Whether one of them, of so many columns, is followed beside those that are. */
bool sk_band_has_room(size_t columns, size_t taken);

/* What is known of a direction, by what R and a leave of it. */
double sk_band_known(double left);

/* By what the surplus of a step is multiplied that is so many times its a. */
double sk_band_calm(double most);

/* Values of n that are left out on each side of the middle of a state's. */
size_t sk_band_tail(size_t n);

/* Whether a value is outside the data. */
bool sk_band_is_outside(double lower, double upper, double value);

/* a of a part, as far as its logarithm leads somewhere, beside the whole a. */
double sk_band_own_a(double own, double a);

/* Place of the quantile of the draws for simultaneous bands, and draws left out on each side of a band of sigma. */
size_t sk_band_sup_place(double level);
size_t sk_band_sigma_tail(double level);

#endif
