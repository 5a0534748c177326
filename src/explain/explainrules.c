/* explainrules.c - see explainrules.h. */
#include "explain/explainrules.h"

#include "tune/policy.h"

#include <math.h>

/* ---- Draws ---- */

size_t sk_explain_draws(size_t d) { return d > 2 ? SK_EXPLAIN_DRAWS_MANY : SK_EXPLAIN_DRAWS; }

bool sk_explain_has_error(size_t kept, size_t draws) { return (double)kept >= SK_EXPLAIN_SHARE * (double)draws; }

double sk_explain_outside(void) { return 0.5 * (1 - SK_EXPLAIN_LEVEL); }

bool sk_explain_wells_are_sure(double share) { return !(share < SK_EXPLAIN_SHARE); }

bool sk_explain_is_endless(double high, double value) { return high > SK_EXPLAIN_ENDLESS * value; }

/* ---- A line ---- */

size_t sk_explain_panels(double steep)
{
    return (size_t)fmin(fmax(steep / SK_EXPLAIN_STEEP, SK_EXPLAIN_PANELS), SK_EXPLAIN_PANELS_MOST);
}

bool sk_explain_vanishes(double a, double most) { return a <= SK_EXPLAIN_VANISHING * most; }

bool sk_explain_divides(double a, double left, double right) { return !(a > SK_EXPLAIN_DIVIDES * fmin(left, right)); }

bool sk_explain_is_dip(double change) { return fabs(change) >= SK_EXPLAIN_DIP; }

/* ---- Ends ---- */

bool sk_explain_hangs(double density) { return density > SK_EXPLAIN_HANGS; }

bool sk_explain_hangs_on_edges(double share) { return share > SK_EXPLAIN_EDGES; }

double sk_explain_near_bound(double width) { return SK_EXPLAIN_NEAR * width; }

/* ---- A plane ---- */

bool sk_explain_is_singular(double smaller, double larger)
{
    return !(smaller > SK_EXPLAIN_SINGULAR * larger && isfinite(larger));
}

bool sk_explain_is_empty(double density, double largest) { return !(density > SK_EXPLAIN_EMPTY * largest); }

bool sk_explain_grid_bears(double negative) { return negative <= SK_EXPLAIN_NEGATIVE; } /* false for NaN, too */

/* ---- Fixed points ---- */

size_t sk_explain_starts(size_t d)
{
    const double affordable = SK_EXPLAIN_ASKED / (SK_EXPLAIN_NEWTON * (2.0 * (double)d + 1));
    return (size_t)fmin(fmax(affordable, SK_EXPLAIN_STARTS_LEAST), SK_EXPLAIN_STARTS);
}

bool sk_explain_is_same(double distance) { return distance < SK_EXPLAIN_SAME; }

bool sk_explain_is_marginal(double part, double largest) { return fabs(part) <= SK_EXPLAIN_MARGINAL * largest; }

double sk_explain_beyond(double width) { return SK_EXPLAIN_BEYOND * width; }

bool sk_explain_tells_states(size_t d) { return d <= SK_EXPLAIN_STATES; }
