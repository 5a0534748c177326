/* bandrules.c - see bandrules.h. */
#include "model/bandrules.h"

#include "base/base.h"
#include "tune/policy.h"

#include <math.h>

size_t sk_band_measured_steps(size_t d, double moving)
{
    const double kept = SK_BAND_NUMBERS / ((double)(d + d * d) * moving), passes = SK_BAND_PASSES / moving;
    return (size_t)fmax(fmin(fmin(kept, passes), SK_BAND_MEASURED), SK_BAND_MEASURED_LEAST);
}

size_t sk_band_other_steps(double substeps)
{
    return (size_t)fmax(SK_BAND_OTHER_PASSES / (SK_BAND_OTHERS * substeps), SK_BAND_MEASURED_LEAST);
}

bool sk_band_has_room(size_t columns, size_t taken) { return taken + columns <= SK_BAND_OTHERS; }

double sk_band_known(double left) { return fmax(left, SK_BAND_LEAST_KNOWN); }

double sk_band_calm(double most) { return most > SK_BAND_SURPLUS ? SK_BAND_SURPLUS / most : 1; }

size_t sk_band_tail(size_t n) { return (size_t)(SK_BAND_TAIL * (double)n); }

bool sk_band_is_outside(double lower, double upper, double value)
{
    const double margin = SK_BAND_MARGIN * (upper - lower);
    return value < lower - margin || value > upper + margin;
}

double sk_band_own_a(double own, double a) { return fmax(own, SK_BAND_LEAST_RATIO * a); }

size_t sk_band_sup_place(double level)
{
    const size_t at = (size_t)ceil(level * SK_SUP_DRAWS);
    return SK_MIN(SK_MAX(at, 1), SK_SUP_DRAWS) - 1;
}

size_t sk_band_sigma_tail(double level) { return (size_t)((1 - level) / 2 * SK_SIGMA_DRAWS); }
