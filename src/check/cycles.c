/* cycles.c - what is left of the scores in time beyond lag 1: seasons, slow cycles.
 *
 * The correlation r of neighbours is taken out first (w_t = (v_t - r v_{t-1}) / sqrt(1 - r^2)): it is the business of
 * `memory`, and would look like a slow cycle here. Then
 *  - the portmanteau sum over lags 2 .. L of (sum w_t w_{t-l})^2 / pairs, chi-square with L - 1 degrees of freedom;
 *  - the highest peak of the spectrum, sum over pieces of |sum w_t e^{i omega t}|^2 / length, a gamma variable at each
 *    frequency: the chance that the highest of all is as high (Fisher). */
#define _DEFAULT_SOURCE
#include "check/check.h"

#include "check/checkrules.h"
#include "tune/policy.h"

#include <math.h>

static double value(const sk_check_series *s, size_t i)
{
    const double v = s->v[i * s->stride];
    return isnan(v) ? 0 : v;
}

static bool follows(const sk_check_series *s, size_t i, size_t lag)
{
    return i >= lag && s->piece[i] == s->piece[i - lag];
}

double sk_check_lag1(const sk_check_series *s)
{
    double product = 0, scored = 0;
    for (size_t i = 0; i < s->count; i++) {
        scored += !isnan(s->v[i * s->stride]);
        if (follows(s, i, 1)) product += value(s, i) * value(s, i - 1);
    }
    return scored > 0 ? product / scored : 0;
}

static bool is_scored(const sk_check_series *s, size_t i) { return !isnan(s->v[i * s->stride]); }

/* Then to mean square 1: both statistics are of the fourth order in w. Without a score w is 0. */
static void whiten(const sk_check_series *s, double r, double *w)
{
    double square = 0, scored = 0;
    for (size_t i = 0; i < s->count; i++) {
        const bool both = follows(s, i, 1) && is_scored(s, i) && is_scored(s, i - 1);
        w[i] = both ? (value(s, i) - r * value(s, i - 1)) / sqrt(1 - r * r) : value(s, i);
        square += w[i] * w[i];
        scored += is_scored(s, i);
    }
    for (size_t i = 0; i < s->count; i++) w[i] *= square > 0 ? sqrt(scored / square) : 1;
}

static size_t longest_piece(const sk_check_series *s)
{
    size_t longest = 0, length = 0;
    for (size_t i = 0; i < s->count; i++) {
        length = follows(s, i, 1) ? length + 1 : 1;
        longest = SK_MAX(longest, length);
    }
    return longest;
}

static void portmanteau(const sk_check_series *s, const double *w, size_t lags, sk_cycle *out)
{
    for (size_t lag = 2; lag <= lags; lag++) {
        double sum = 0, pairs = 0;
        for (size_t i = lag; i < s->count; i++) {
            if (!follows(s, i, lag) || !is_scored(s, i) || !is_scored(s, i - lag)) continue;
            sum += w[i] * w[i - lag];
            pairs++;
        }
        if (pairs < 1) continue;
        out->statistic += sum * sum / pairs;
        out->freedom += 1;
        out->size = fmax(out->size, fabs(sum) / pairs);
    }
}

/* |sum_t w_t e^{i omega t}|^2 by Goertzel's recursion. */
static double power_at(size_t n, const double *w, double omega)
{
    const double turn = 2 * cos(omega);
    double one = 0, two = 0;
    for (size_t i = 0; i < n; i++) {
        const double now = w[i] + turn * one - two;
        two = one;
        one = now;
    }
    return one * one + two * two - turn * one * two;
}

/* The end of the segment that begins at i: of one piece, at most `most` steps. */
static size_t segment_end(const sk_check_series *s, size_t i, size_t most)
{
    size_t end = i + 1;
    while (end < s->count && end - i < most && s->piece[end] == s->piece[i]) end++;
    return end;
}

static size_t scored_in(const sk_check_series *s, size_t begin, size_t end)
{
    size_t count = 0;
    for (size_t i = begin; i < end; i++) count += is_scored(s, i);
    return count;
}

/* Short segments, and those of few scores, have no spectrum to speak of. */
static double spectrum_at(const sk_check_series *s, const double *w, size_t most, double omega, size_t *segments)
{
    double sum = 0;
    *segments = 0;
    for (size_t i = 0, end; i < s->count; i = end) {
        end = segment_end(s, i, most);
        const size_t scored = scored_in(s, i, end);
        if (2 * scored < most) continue;
        sum += power_at(end - i, w + i, omega) / (double)scored;
        ++*segments;
    }
    return sum;
}

/* The frequency within half a line of m where the spectrum is highest, in lines: periods are not parts of the length.
 */
static double finest(const sk_check_series *s, const double *w, size_t most, double m, double *power, size_t *segments)
{
    double best = m;
    *power = 0;
    for (int i = 0; i <= SK_CHECK_LINE_PARTS; i++) {
        const double at = m + (double)i / SK_CHECK_LINE_PARTS - 0.5;
        const double now = spectrum_at(s, w, most, 2 * M_PI * at / (double)most, segments);
        if (now > *power) *power = now, best = at;
    }
    return best;
}

/* Whether powers that together are so high, of that many lines, say that a season is there. */
static bool is_ground(double power, double lines, size_t segments, double highest)
{
    return sk_cycle_is_ground(power, highest, sk_chi_square_tail(2 * power, 2 * lines * (double)segments));
}

/* The first overtones of m / part together, without those of m / known. */
static double overtones(const sk_check_series *s, const double *w, size_t most, double m, int part, int known,
                        double *lines)
{
    double sum = 0;
    size_t segments;
    *lines = 0;
    for (int i = 1; i <= SK_CHECK_OVERTONES && 2 * i * m / part < (double)most; i++) {
        if (i * known % part == 0) continue;
        sum += spectrum_at(s, w, most, 2 * M_PI * i * m / part / (double)most, &segments);
        ++*lines;
    }
    return sum;
}

/* The highest peak may be an overtone: a season that is no sine has peaks at parts of its period, too. The longest
 * period that it is a part of and that has a peak of its own, or whose overtones together say more than those of the
 * shorter one. */
static double ground(const sk_check_series *s, const double *w, size_t most, double m, double highest)
{
    double found = m, power, lines;
    size_t segments;
    int known = 1;
    for (int part = 2; sk_cycle_may_be_part(part, m); part++) {
        const double at = finest(s, w, most, m / part, &power, &segments);
        const bool alone = is_ground(power, 1, segments, highest);
        power = overtones(s, w, most, m, part, known, &lines);
        if (!alone && !is_ground(power, lines, segments, highest)) continue;
        found = alone ? at : m / part;
        known = part;
    }
    return found;
}

static void highest_peak(const sk_check_series *s, const double *w, size_t most, sk_cycle *out)
{
    double highest = 0;
    size_t at = 0, segments = 0;
    const size_t frequencies = (most - 1) / 2;
    for (size_t m = 1; m <= frequencies; m++) {
        const double power = spectrum_at(s, w, most, 2 * M_PI * (double)m / (double)most, &segments);
        if (power > highest) highest = power, at = m;
    }
    if (!at || !segments) return;
    const double tail = sk_chi_square_tail(2 * highest, 2 * (double)segments);
    out->peak = -expm1((double)frequencies * log1p(-fmin(tail, 1 - 1e-16)));
    double power;
    const double m = finest(s, w, most, (double)at, &power, &segments);
    out->period = sk_cycle_is_seen((double)at) ? (double)most / ground(s, w, most, m, power) : 0;
    out->share = 2 * (highest - (double)segments) / ((double)segments * (double)most);
}

sock_status sk_check_cycles(sock_context *ctx, const sk_check_series *s, sk_cycle *out)
{
    const size_t longest = longest_piece(s), lags = sk_cycle_lags(longest), most = sk_cycle_spectrum(longest);
    double *w = sk_doubles(ctx, s->count, 1);
    *out = (sk_cycle){.peak = 1};
    if (!w) return SOCK_ENOMEM;
    whiten(s, sk_cycle_whitened(sk_check_lag1(s)), w);
    portmanteau(s, w, lags, out);
    if (most) highest_peak(s, w, most, out);
    sk_free(w);
    return SOCK_OK;
}
