/* inertiarules.c - see inertiarules.h. */
#include "inertia/inertiarules.h"

#include "noise/noiserules.h"
#include "tune/policy.h"

#include <math.h>

bool sk_inertia_has_rows(size_t rows) { return rows >= SK_INERTIA_ROWS; }

double sk_inertia_square_speed(double apart, double near) { return apart > SK_INERTIA_SPEED * near ? apart : near; }

bool sk_inertia_begins(size_t iteration) { return iteration <= SK_INERTIA_BEGINS; }

bool sk_inertia_sweeps(size_t iteration)
{
    static const size_t sweeps[] = SK_INERTIA_SWEEPS;
    return sk_is_listed(iteration, sizeof sweeps / sizeof *sweeps, sweeps);
}

bool sk_inertia_may_end(size_t iteration) { return iteration > SK_INERTIA_LAST_SWEEP; }

double sk_inertia_least_a(double a, double all) { return fmax(a, SK_INERTIA_LEAST * all); }

double sk_inertia_shift(double typical) { return SK_INERTIA_SHIFT * typical; }

bool sk_inertia_row_counts(double square, size_t d) { return square <= SK_INERTIA_FAR * (double)d; }

double sk_inertia_pair_weight(double one, double other)
{
    return 1 / ((one + SK_INERTIA_SHARE) * (other + SK_INERTIA_SHARE));
}
