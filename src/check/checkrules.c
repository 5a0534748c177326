/* checkrules.c - see checkrules.h. */
#include "check/checkrules.h"

#include "base/base.h"
#include "tune/policy.h"

#include <math.h>

/* ---- How much is looked at ---- */

bool sk_check_second_at_once(int order) { return order == 2; }

size_t sk_check_quick_exits(size_t d, bool whole)
{
    if (whole) return SK_CHECK_EXIT_PATHS;
    return d <= SK_CHECK_QUICK_STATES ? SK_CHECK_QUICK_EXITS : 0;
}

/* Fields that are evaluated for a step and its part of a run. */
static double evaluations(size_t inner, size_t run_inner, bool heun)
{
    return ((double)inner + (double)run_inner / SK_CHECK_RUN) * (heun ? 2 : 1);
}

double sk_check_cost(size_t inner, size_t run_inner, bool heun, bool second)
{
    return (second ? SK_CHECK_SECOND : 1) * evaluations(inner, run_inner, heun) /
           evaluations(SK_CHECK_INNER, SK_CHECK_RUN_INNER, false);
}

size_t sk_check_longest_piece(size_t all, size_t most) { return all <= most ? all : SK_MAX(most / SK_CHECK_PIECES, 1); }

bool sk_check_asks_all_paths(const double share[2]) { return share[0] > SK_CHECK_QUICK_EXIT || share[1] > 0; }

/* ---- What says something ---- */

bool sk_check_is_tested(double scored, size_t n)
{
    return scored >= SK_CHECK_LEAST && scored >= SK_CHECK_SCORED * (double)n;
}

bool sk_check_has_runs(size_t runs) { return runs >= SK_CHECK_RUNS_LEAST; }

bool sk_check_has_subjects(size_t trajectories, size_t pieces)
{
    return trajectories >= SK_CHECK_SUBJECTS && pieces >= SK_CHECK_SUBJECTS;
}

double sk_check_subjects_surprise(double statistic, size_t pieces)
{
    const double freedom = SK_CHECK_SUBJECT_FREEDOM * (double)pieces;
    return freedom * log1p(statistic / freedom); /* exact where two columns are left */
}

bool sk_check_is_wild(double deviations) { return fabs(deviations) > SK_CHECK_WILD; }

bool sk_check_is_found(double square, double floor) { return square > SK_CHECK_FLOOR * floor; }

bool sk_check_is_gone(double square) { return !(square > SK_CHECK_LEFT * SK_CHECK_LEFT); }

/* ---- What it is compared with ---- */

size_t sk_check_waves_of_state(size_t d)
{
    return d == 1 ? SK_CHECK_WAVES_ONE : SK_MIN(SK_MAX(SK_CHECK_WAVES / d, 1), (size_t)SK_CHECK_WAVES_MANY);
}

size_t sk_check_states_with_waves(size_t d) { return SK_MIN(d, (size_t)SK_CHECK_WAVES); }

size_t sk_check_bin(double rank) { return (size_t)fmin(rank * SK_CHECK_BINS, SK_CHECK_BINS - 1); }

size_t sk_check_directions(double freedom)
{
    return freedom >= 0 ? (size_t)fmin(fmax(ceil(freedom), 1), SK_CHECK_DIRECTIONS) : SK_CHECK_FEATURES;
}

size_t sk_check_directions_of(size_t columns, size_t leading)
{
    return columns > SK_CHECK_FEATURES ? leading : columns;
}

/* ---- Cycles ---- */

size_t sk_cycle_lags(size_t longest) { return SK_MIN(longest / 4, (size_t)SK_CHECK_CYCLE_LAGS); }

size_t sk_cycle_spectrum(size_t longest)
{
    return longest >= SK_CHECK_LEAST ? SK_MIN(longest, (size_t)SK_CHECK_SPECTRUM) : 0;
}

double sk_cycle_whitened(double r) { return fmin(fmax(r, -SK_CHECK_WHITENED), SK_CHECK_WHITENED); }

bool sk_cycle_is_seen(double m) { return m >= SK_CHECK_PERIODS; }

bool sk_cycle_may_be_part(int part, double m) { return part <= SK_CHECK_OVERTONES && sk_cycle_is_seen(m / part); }

bool sk_cycle_is_ground(double power, double highest, double chance)
{
    return power > SK_CHECK_GROUND * highest && chance < SK_CHECK_GROUND_RARE;
}

/* ---- Binned moments ---- */

size_t sk_binned_bin(double share)
{
    return share > 0 ? SK_MIN((size_t)(share * SK_BINNED_BINS), (size_t)SK_BINNED_BINS - 1) : 0;
}

size_t sk_binned_least(size_t steps) { return SK_MAX(steps / SK_BINNED_SHARE, (size_t)SK_BINNED_LEAST); }

size_t sk_binned_box_least(size_t steps) { return SK_MAX(steps / SK_BINNED_BOXES, (size_t)SK_BINNED_LEAST); }

/* Hotelling: T^2 (n - 2) / 2 (n - 1) has the law F(2, n - 2), which is beyond q with the chance (1 + 2 q / (n -
 * 2))^(-(n - 2) / 2). Of many steps that is -2 log 0.1 = 4.6. */
double sk_binned_reach(size_t n)
{
    const double beyond = 0.1; /* by theory: one in ten */
    return n > 2 ? ((double)n - 1) * expm1(-2 * log(beyond) / ((double)n - 2)) : (double)INFINITY;
}

/* Fewer than one in ten, since the error is at least the model's own, and large where the variance came out large.
 * By theory of normal numbers: simulated, 200000 variances for each n; between them over log n. */
double sk_binned_chance(size_t n)
{
    static const double /* by theory */ known[][2] = {{10, 0.038},  {20, 0.050},  {40, 0.059},
                                                      {100, 0.069}, {400, 0.082}, {2000, 0.091}};
    enum { KNOWN = sizeof known / sizeof *known };
    size_t i = 1;
    while (i + 1 < KNOWN && (double)n > known[i][0]) i++;
    const double share = log((double)SK_MAX(n, (size_t)1) / known[i - 1][0]) / log(known[i][0] / known[i - 1][0]);
    return known[i - 1][1] + fmax(0, fmin(1, share)) * (known[i][1] - known[i - 1][1]);
}

bool sk_binned_shows_plane(size_t steps) { return steps >= 4 * (size_t)SK_BINNED_LEAST; }

size_t sk_binned_planes(size_t d) { return SK_MIN(d, (size_t)SK_EVIDENCE_PLANES); }

bool sk_binned_has_steps(size_t steps, bool longer) { return steps >= (longer ? SK_BINNED_ENOUGH : SK_BINNED_LEAST); }

bool sk_binned_forgets(double turn) { return 2 * turn > SK_BINNED_TURN; }

double sk_binned_turn(double turn) { return fmax(-SK_BINNED_TURN, fmin(SK_BINNED_TURN, turn)); }

double sk_binned_kept(double kept) { return fmin(fabs(kept), SK_BINNED_KEPT); }

/* ---- Whole paths ---- */

size_t sk_exit_times(size_t points) { return SK_MIN(points, (size_t)SK_CHECK_EXIT_STEPS + 1); }

double sk_exit_wider(double width) { return SK_CHECK_EXIT_WIDER * width; }

double sk_exit_off(double width) { return SK_CHECK_OFF * width; }
