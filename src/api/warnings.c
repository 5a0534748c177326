/* warnings.c - see warnings.h. */
#include "api/warnings.h"

#include <math.h>
#include <string.h>

/* The sentences stand in model files: one that changes is not found again in old ones. */
static const struct {
    const char *name, *text;
    sk_severity severity;
} known[SK_WARNINGS] = {
    [SK_WARN_NONE] = {"none", "", SK_NOTE},
    [SK_WARN_NOISE] = {"noise",
                       "residuals of neighbouring steps are negatively correlated: measurement noise on the states "
                       "inflates a",
                       SK_GRAVE},
    [SK_WARN_MEMORY] = {"memory",
                        "residuals of neighbouring steps are positively correlated: the process has memory, or a "
                        "hidden state",
                        SK_GRAVE},
    [SK_WARN_CONSTANT] = {"constant",
                          "the score is no better than that of constant coefficients: the data support no more",
                          SK_CAUTION},
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
    [SK_WARN_FEW] = {"few",
                     "fewer than 15 steps are too few to choose a model by: constant coefficients, and no equation",
                     SK_GRAVE},
    [SK_WARN_OTHER] = {"other", "", SK_CAUTION},
};

const char *sk_warning_text(sk_warning_code code) { return known[code].text; }
sk_severity sk_warning_severity(sk_warning_code code) { return known[code].severity; }
const char *sk_warning_name(sk_warning_code code) { return known[code].name; }

sk_warning_code sk_warning_of(const char *text)
{
    for (int code = SK_WARN_NOISE; code < SK_WARN_OTHER; code++)
        if (strcmp(known[code].text, text) == 0) return (sk_warning_code)code;
    return SK_WARN_OTHER;
}

sk_warning_code sk_warn_lag1(double correlation, double n)
{
    if (!(fabs(correlation) > fmax(SK_LAG1_LEAST, SK_LAG1_ERRORS / sqrt(fmax(n, 0))))) return SK_WARN_NONE;
    return correlation < 0 ? SK_WARN_NOISE : SK_WARN_MEMORY;
}

static double finite_or_zero(double value) { return isfinite(value) ? value : 0; }

sk_warning_code sk_warn_gain(double score, double constant, bool limited)
{
    if (!(finite_or_zero(score) - finite_or_zero(constant) < SK_GAIN_LEAST)) return SK_WARN_NONE;
    return limited ? SK_WARN_EARLY : SK_WARN_CONSTANT;
}

sk_warning_code sk_warn_moments(double calibration)
{
    if (calibration > SK_MOMENTS_MOST && isfinite(calibration)) return SK_WARN_SMALL_A;
    return calibration > 0 && calibration < 1 / SK_MOMENTS_MOST ? SK_WARN_LARGE_A : SK_WARN_NONE;
}
