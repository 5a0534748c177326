/* warnings.c - see warnings.h. */
#include "api/warnings.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* The sentences stand in model files: one that changes goes to the old ones below. */
static const struct {
    const char *name, *text;
    sk_severity severity;
} known[SK_WARNINGS] = {
    [SK_WARN_NONE] = {"none", "", SK_NOTE},
    [SK_WARN_NOISE] = {"noise",
                       "residuals of neighbouring steps are negatively correlated: measurement noise on the states, "
                       "which inflates a, or steps that are long against the dynamics",
                       SK_GRAVE},
    [SK_WARN_MEMORY] = {"memory",
                        "residuals of neighbouring steps are positively correlated: the process has memory, or a "
                        "hidden state",
                        SK_GRAVE},
    [SK_WARN_CONSTANT] = {"constant",
                          "no clear difference from constant coefficients, held out: the data support no more",
                          SK_CAUTION},
    [SK_WARN_DOUBTED] = {"doubted",
                         "no clear difference from constant coefficients, held out, though the verdict finds that "
                         "f or a misses something: more data may tell more",
                         SK_CAUTION},
    [SK_WARN_BESIDE] = {"beside",
                        "no clear difference from constant coefficients, held out: these states tell no more, and the "
                        "verdict finds what they do not tell",
                        SK_CAUTION},
    [SK_WARN_WORSE] = {"worse", "held out, the model is worse than constant coefficients: other kernels may do better",
                       SK_GRAVE},
    [SK_WARN_SMALL_A] = {"small-a",
                         "a is less than half of what the squared residuals say: wild steps, or the wrong kernels",
                         SK_GRAVE},
    [SK_WARN_LARGE_A] = {"large-a",
                         "a is more than twice what the squared residuals say: wild steps, or the wrong kernels",
                         SK_GRAVE},
    [SK_WARN_DRIFT_EDGE] = {"drift-edge", "the penalty of the drift is at the edge of its grid", SK_NOTE},
    [SK_WARN_DIFFUSION_EDGE] = {"diffusion-edge", "the penalty of the diffusion is at the edge of its grid", SK_NOTE},
    [SK_WARN_UNSOLVED] = {"unsolved", "a convex problem stopped before its tolerance; its gap is stated", SK_CAUTION},
    [SK_WARN_EARLY] =
        {"early", "the score is no better than that of constant coefficients, but the budget ended the search early",
         SK_CAUTION},
    [SK_WARN_FEW] = {"few", "fewer than 15 steps are too few to choose a model by: constant coefficients were taken",
                     SK_GRAVE},
    [SK_WARN_WILD] = {"wild",
                      "some steps are far larger than those around them and those from the same states: they are "
                      "left out of the fit (--wild keep takes them in)",
                      SK_CAUTION},
    [SK_WARN_WILD_KEPT] = {"wild-kept",
                           "some steps are far larger than those around them and those from the same states, and they "
                           "are in the fit",
                           SK_GRAVE},
    [SK_WARN_GAPS] =
        {"gaps",
         "a few steps are far longer than the rest, gaps in time: they are left out of the fit (--wild keep "
         "takes them in)",
         SK_CAUTION},
    [SK_WARN_GAPS_KEPT] =
        {"gaps-kept",
         "a few steps are far longer than the rest, gaps in time, and they are in the fit, where they "
         "weigh as the time they took",
         SK_GRAVE},
    [SK_WARN_CLOCK] = {"clock",
                       "times look like those of a clock, hours and minutes in one number, where 959 and 1000 are a "
                       "minute apart: give dates, or minutes",
                       SK_GRAVE},
    [SK_WARN_TIME_STATE] =
        {"time-state",
         "a state is called like a time: where it is one, leave it out (--state takes those that are none)",
         SK_CAUTION},
    [SK_WARN_CODE] = {"code",
                      "a value recurs far outside the rest, as codes for missing values do: --missing leaves it out",
                      SK_GRAVE},
    [SK_WARN_QUIET] = {"quiet",
                       "a state has no noise of its own: a is zero there, and steps have a density by moments alone "
                       "(loglik_moments), or with a delta",
                       SK_NOTE},
    [SK_WARN_FOLLOWER] = {"follower",
                          "a state follows exactly from other states or from the time: their parts in f cannot be told "
                          "apart, and steps have no density; leave it out",
                          SK_CAUTION},
    [SK_WARN_SMOOTH] =
        {"smooth",
         "the states are smooth: there is no noise to learn, and a says only what f misses. They solve an "
         "ordinary differential equation, or are positions without their velocities (--order 2)",
         SK_GRAVE},
    [SK_WARN_ANGLE] =
        {"angle",
         "a state goes from one end of its range to the other in single steps, as an angle does that is cut "
         "at a full turn, or a counter that is reset: these are no steps of a diffusion, and f and a are "
         "wrong there; join the turns, or take cosine and sine as states",
         SK_GRAVE},
    [SK_WARN_LEVELS] = {"levels",
                        "an input holds a few whole numbers, one for each trajectory, and is taken as a quantity: "
                        "where they are codes of groups, give a column of 0 and 1 for each group but one",
                        SK_NOTE},
    [SK_WARN_MANY] =
        {"many-states",
         "there are as many states as steps, or more: nothing can be learned of them. Where each column is "
         "a trajectory of one state (wide form), --wide reads them so",
         SK_GRAVE},
    [SK_WARN_OTHER] = {"other", "", SK_CAUTION},
};

/* Sentences of earlier versions. */
static const struct {
    const char *text;
    sk_warning_code code;
} old[] = {
    {"residuals of neighbouring steps are negatively correlated: measurement noise on the states inflates a",
     SK_WARN_NOISE},
    {"the score is no better than that of constant coefficients: the data support no more", SK_WARN_CONSTANT},
    {"fewer than 15 steps are too few to choose a model by: constant coefficients, and no equation", SK_WARN_FEW}};

const char *sk_warning_text(sk_warning_code code) { return known[code].text; }
sk_severity sk_warning_severity(sk_warning_code code) { return known[code].severity; }
const char *sk_warning_name(sk_warning_code code) { return known[code].name; }

sk_warning_code sk_warning_of(const char *text)
{
    for (int code = SK_WARN_NOISE; code < SK_WARN_OTHER; code++)
        if (strcmp(known[code].text, text) == 0) return (sk_warning_code)code;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strcmp(old[i].text, text) == 0) return old[i].code;
    return SK_WARN_OTHER;
}

sk_warning_code sk_warn_lag1(double correlation, double n)
{
    if (!(fabs(correlation) > fmax(SK_LAG1_LEAST, SK_LAG1_ERRORS / sqrt(fmax(n, 0))))) return SK_WARN_NONE;
    return correlation < 0 ? SK_WARN_NOISE : SK_WARN_MEMORY;
}

/* ---- Increments ---- */

static const char *const lag_words[SK_LAG_KINDS] = {
    [SK_LAG_DIFFUSION] = "near 0, as for a diffusion seen without noise",
    [SK_LAG_FEW] = "not told from 0 by so few steps",
    [SK_LAG_CYCLE] = "near 0, but not at lag 2: a cycle or a season of a few steps, or a hidden state",
    [SK_LAG_NOISE] = "below 0, gone at lag 2: measurement noise",
    [SK_LAG_LONG] = "below 0, also at lag 2: the steps are long against the dynamics",
    [SK_LAG_FAST] = ("below 0, also at lag 2, but not over longer steps: noise with a memory, or a fast part of the "
                     "dynamics that the steps are long against"),
    [SK_LAG_EITHER] = "below 0: measurement noise, or steps as long as the memory of the process",
    [SK_LAG_INERTIA] = "above 0, and smooth: the path has inertia, a velocity that is not among the states",
    [SK_LAG_SWING] =
        ("above 0, and smooth, but below 0 over longer steps: it swings, as a season does, or a path whose "
         "velocity is not among the states"),
    [SK_LAG_SMOOTH] = "above 0, and smooth: the drift is large against the noise",
    [SK_LAG_MEMORY] = "above 0: memory, a hidden state, or a trend or growth within each trajectory"};

const char *sk_lag_words(sk_lag_kind kind) { return lag_words[kind]; }

/* Over longer steps a pull back takes the correlation on to -1/2; a slow part beside it brings it back to 0. */
static bool comes_back(const sk_lags *lags, double n)
{
    for (size_t i = 0, m = 2; i < lags->thinnings; i++, m *= 2)
        if (lags->thinned[i] > 0.5 * lags->one + SK_LAG2_ERRORS / sqrt(n / (double)m)) return true;
    return false;
}

/* Whether the path turns back over longer steps. */
static bool turns_back(const sk_lags *lags, double n)
{
    for (size_t i = 0, m = 2; i < lags->thinnings; i++, m *= 2)
        if (lags->thinned[i] < -fmax(SK_LAG_SWINGS, SK_LAG2_ERRORS / sqrt(n / (double)m))) return true;
    return false;
}

/* A trend makes all of them a little larger: a cycle is what only lag 2 has. So few steps that hardly anything could be
 * told from 0 say nothing. */
static sk_lag_kind say_near_0(const sk_lags *lags, double n)
{
    const double clear = fmax(SK_LAG1_LEAST, SK_LAG2_ERRORS / sqrt(n));
    if (fabs(lags->two) > clear && fabs(lags->two - lags->one) > clear) return SK_LAG_CYCLE;
    return fabs(lags->one) > SK_LAG1_LEAST || SK_LAG1_TOLD / sqrt(n) > SK_LAG1_BLIND ? SK_LAG_FEW : SK_LAG_DIFFUSION;
}

/* A pull back by rho a step gives -(1 - rho) / 2 at lag 1 and rho times this at lag 2; noise gives 0 there. */
sk_lag_kind sk_lags_say(const sk_lags *lags, double n)
{
    const double expected = lags->one * fmax(1 + 2 * lags->one, 0);
    if (!(fabs(lags->one) > fmax(SK_LAG1_LEAST, SK_LAG1_TOLD / sqrt(n)))) return say_near_0(lags, n);
    if (lags->one > 0 && !(lags->second > SK_SECOND_INERTIA)) return SK_LAG_MEMORY;
    if (lags->one > 0) return turns_back(lags, n) ? SK_LAG_SWING : SK_LAG_INERTIA;
    if (lags->two < -SK_LAG2_ERRORS / sqrt(n) && lags->two < expected / 2)
        return comes_back(lags, n) ? SK_LAG_FAST : SK_LAG_LONG;
    if (!(fabs(expected) > SK_LAG2_ERRORS / sqrt(n))) return SK_LAG_EITHER;
    return lags->two > expected / 2 ? SK_LAG_NOISE : SK_LAG_EITHER;
}

size_t sk_lags_end(const sk_lags *lags, double n)
{
    for (size_t i = 0, m = 2; i < lags->thinnings; i++, m *= 2)
        if (sk_warn_lag1(lags->thinned[i], n / (double)m) == SK_WARN_NONE && !isnan(lags->thinned[i])) return m;
    return 0;
}

/* ---- Beside constant coefficients ---- */

static const struct {
    const char *name, *words;
} verdicts[SK_VERDICTS] = {[SK_UNKNOWN] = {NULL, ""},
                           [SK_BETTER] = {"better", "clearly better"},
                           [SK_SAME] = {"same", "no clear difference"},
                           [SK_WORSE] = {"worse", "worse"}};

sk_verdict sk_against_constant(double gain, double error)
{
    const double clear = fmax(SK_GAIN_LEAST, error); /* of NaN and a number the number */
    if (isnan(gain)) return SK_UNKNOWN;
    return gain >= clear ? SK_BETTER : gain <= -clear ? SK_WORSE : SK_SAME;
}

const char *sk_verdict_name(sk_verdict verdict) { return verdicts[verdict].name; }
const char *sk_verdict_words(sk_verdict verdict) { return verdicts[verdict].words; }

sk_verdict sk_verdict_of(const char *name)
{
    for (int v = SK_BETTER; v < SK_VERDICTS; v++)
        if (name && strcmp(verdicts[v].name, name) == 0) return (sk_verdict)v;
    return SK_UNKNOWN;
}

sk_warning_code sk_warn_gain(sk_verdict verdict, bool limited)
{
    if (verdict == SK_WORSE) return SK_WARN_WORSE;
    if (verdict != SK_SAME) return SK_WARN_NONE;
    return limited ? SK_WARN_EARLY : SK_WARN_CONSTANT;
}

sk_warning_code sk_warn_moments(double calibration)
{
    if (calibration > SK_MOMENTS_MOST && isfinite(calibration)) return SK_WARN_SMALL_A;
    return calibration > 0 && calibration < 1 / SK_MOMENTS_MOST ? SK_WARN_LARGE_A : SK_WARN_NONE;
}
