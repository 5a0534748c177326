/* noiserules.c - see noiserules.h. */
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>

/* ---- The iterations ---- */

bool sk_is_listed(size_t iteration, size_t count, const size_t *list)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == iteration) return true;
    return false;
}

bool sk_noise_sweeps(size_t iteration)
{
    static const size_t sweeps[] = SK_NOISE_SWEEPS;
    return sk_is_listed(iteration, sizeof sweeps / sizeof *sweeps, sweeps);
}

bool sk_noise_polynomials_alone(size_t iteration) { return iteration <= SK_NOISE_POLYNOMIALS; }

bool sk_noise_counts_anew(size_t iteration) { return iteration > 1 && iteration <= SK_NOISE_LAST_SWEEP; }

bool sk_noise_shows_hope(size_t iteration) { return iteration == SK_NOISE_POLYNOMIALS; }

size_t sk_noise_least_passes(bool fast) { return fast ? SK_TURN_LEAST : SK_NOISE_LAST_SWEEP + 1; }

size_t sk_noise_stalled(size_t before, double sum, double best)
{
    return sum < best + SK_NOISE_SETTLED ? before + 1 : 0;
}

bool sk_noise_goes_to_and_fro(size_t stalled) { return stalled == SK_NOISE_STALLED; }

bool sk_noise_hardly_fewer(size_t next, size_t now) { return next < now && next > now / SK_SUBSTEPS_FALL; }

/* ---- Where they begin ---- */

size_t sk_pilot_runs(size_t runs, const size_t *first)
{
    size_t taken = 1;
    while (taken < runs && first[taken] < SK_PILOT_STEPS) taken++;
    return taken;
}

bool sk_noise_affords_drift(size_t p, size_t d) { return p * d <= SK_NOISE_ORDER; }

bool sk_pilot_goes_on(double gain) { return gain >= SK_PILOT_GAIN; }

bool sk_pilot_is_enough(double gain) { return gain > SK_PILOT_ENOUGH; }

bool sk_pilot_is_far_out(double size, double median) { return !(size < SK_FAR_OUT * median); }

double sk_pilot_least_a(double a, double plain) { return fmax(a, SK_PILOT_SHARE * plain); }

double sk_noise_least_later(double least) { return SK_LEAST_LATER * least; }

double sk_noise_least_first(double median) { return SK_LEAST_NOISE * median; }

double sk_noise_least_a(double mean, double trace) { return SK_NOISE_FLOOR * fmax(mean, SK_NOISE_FLOOR_TRACE * trace); }

/* ---- The look for noise ---- */

const double *sk_hint_shares(size_t *count)
{
    static const double share[] = SK_HINT_SHARES;
    *count = sizeof share / sizeof *share;
    return share;
}

const double *sk_hint_paces(size_t *count)
{
    static const double pace[] = SK_HINT_PACES;
    *count = sizeof pace / sizeof *pace;
    return pace;
}

bool sk_hint_is_hopeless(double gain, double values, double share)
{
    return gain < -SK_NOISE_HOPELESS - SK_HINT_LOSS * 0.5 * values * share * share;
}

bool sk_noise_has_pairs(size_t pairs) { return pairs >= SK_NOISE_PAIRS; }

bool sk_noise_may_clear(size_t features, size_t steps) { return features * SK_CLEARED_STEPS <= steps; }

bool sk_noise_has_subjects(size_t trajectories, size_t runs)
{
    return trajectories >= SK_CHECK_SUBJECTS && runs >= SK_CHECK_SUBJECTS;
}

bool sk_noise_is_subjects(double nats, double gain) { return nats >= SK_NOISE_SUBJECTS && nats > gain; }

double sk_long_least(double clean, bool begun_at_it) { return clean + (begun_at_it ? 1 : -1) * SK_NOISE_HOPELESS; }

bool sk_noise_other_valley(double nats) { return nats > SK_VALLEY_NATS; }

bool sk_full_noise_wins(double nats) { return nats >= SK_FULL_GAIN; }

double sk_first_correlation(double r, double product)
{
    return fmax(-SK_CORRELATION_MOST, fmin(r / sqrt(product), SK_CORRELATION_MOST));
}

double sk_step_counts_least(double median) { return median - SK_STEP_WORST; }

bool sk_noise_keeps_pass(double bytes) { return bytes <= SK_NOISE_BYTES; }

/* ---- Newton's method and the ascent ---- */

double sk_newton_curvature(double own, double larger)
{
    /* 1e-8: rounding of a likelihood, over the square of a difference */
    return fmax(own, SK_NEWTON_FLAT * larger + 1e-8);
}

double sk_newton_cut(double most)
{
    const double limit = log(SK_NEWTON_FACTOR);
    return most > limit ? limit / most : 1;
}

double sk_newton_stretch(double complete) { return fmin(fmax(complete, 1), SK_RELAXED_MOST); }

bool sk_ascent_is_short(size_t numbers) { return numbers <= SK_ASCENT_NUMBERS; }

bool sk_ascent_goes_on(double promise, double gain)
{
    return promise >= SK_ASCENT_GAIN && gain >= 0.5 * SK_ASCENT_GAIN;
}

double sk_ascent_difference(double weight, double largest)
{
    return SK_ASCENT_STEP * fmax(fabs(weight), SK_ASCENT_LEAST * largest);
}

double sk_innovation_counts(double square) { return fmin(square, SK_OUTLIER); }

bool sk_innovation_is_outlier(double square, size_t d) { return !(square < SK_OUTLIER * (double)d); }
