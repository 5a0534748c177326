/* samples.c - see samples.h. */
#include "data/samples.h"

#include "tune/policy.h"

#include <math.h>

static size_t every(size_t n, size_t most) { return n > most ? (n + most - 1) / most : 1; }

static size_t at_most(size_t n, size_t most) { return n < most ? n : most; }

size_t sk_pivot_stride(size_t n) { return every(n, SK_PIVOT_ROWS); }
size_t sk_typical_stride(size_t n) { return every(n, SK_TYPICAL_ROWS); }
size_t sk_band_row_stride(size_t n) { return every(n, SK_BAND_ROWS); }
size_t sk_band_step_stride(size_t n) { return every(n, SK_BAND_STEPS); }
size_t sk_band_point_stride(size_t n) { return every(n, SK_BAND_POINTS); }
size_t sk_moments_stride(size_t n) { return every(n, SK_MOMENTS_FIRST); }
size_t sk_bound_stride(size_t n) { return 1 + n / SK_BOUND_POINTS; }
size_t sk_smooth_stride(size_t n) { return n > SK_SMOOTH_ROWS ? n / SK_SMOOTH_ROWS : 1; }

size_t sk_order_rows(size_t n) { return at_most(n, SK_ORDER_ROWS); }
size_t sk_substeps_asked(size_t n) { return at_most(n, SK_SUBSTEPS_ASKED); }
size_t sk_binned_most(size_t d) { return d < SK_BINNED_STEPS ? SK_BINNED_STEPS / d : 1; }

size_t sk_quiet_rows(size_t d)
{
    const double affordable = SK_QUIET_NUMBERS / pow((double)d, 3);
    return (size_t)fmin(SK_QUIET_ROWS, fmax(SK_QUIET_LEAST_ROWS, affordable));
}

size_t sk_places_of_jacobian(size_t n) { return at_most(n, SK_CHECK_PLACES); }
size_t sk_centres_of_kernel(size_t n) { return at_most(n, SK_CHECK_CENTRES); }

/* The place moves on by one or more for each of them where they are few enough. */
bool sk_mmd_stands_for_all(size_t i, size_t n)
{
    return (i + 1) * SK_MMD_TRAJECTORIES / n > i * SK_MMD_TRAJECTORIES / n;
}
