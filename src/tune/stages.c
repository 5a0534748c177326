/* stages.c - the stages of the search, in order. */
#include "tune/searchstate.h"

#define FINE                                                                                                           \
    {                                                                                                                  \
        SK_FINE_LAMBDAS, sk_fine_lambdas                                                                               \
    }
#define THIN                                                                                                           \
    {                                                                                                                  \
        SK_THIN_LAMBDAS, sk_thin_lambdas                                                                               \
    }
#define PILOT                                                                                                          \
    {                                                                                                                  \
        SK_PILOT_LAMBDAS, sk_thin_lambdas                                                                              \
    }

const sk_grid sk_constant_grid = THIN;

/* The polished diffusion of the first pass weights the drift of the second, which may choose again. */
static bool polishes(const sk_search *s) { return s->spec->polish; }

static bool has_more_rows(const sk_search *s) { return s->rows == s->sets.search && s->sets.all != s->sets.search; }

enum { NEVER, ROUNDS, REFIT, ALL_ROWS };

/* name, run, wanted, left out, group, folds, grid, care, whole, curves, progress of drift and diffusion */
const sk_stage sk_stages[] = {
    {"pilot", sk_stage_pilot, NULL, NULL, NEVER, SK_SCREEN_FOLDS, PILOT, SK_ROUGH, true, false, 0.02, 0.04},
    {"screen", sk_stage_screen, NULL, NULL, NEVER, SK_SCREEN_FOLDS, THIN, SK_USUAL, false, false, 0.08, 0.25},
    {"round 1", sk_stage_near, NULL, sk_retreat, ROUNDS, 0, FINE, SK_USUAL, true, true, 0.45, 0.48},
    {"confirm", sk_stage_confirm, NULL, NULL, ROUNDS, 0, FINE, SK_USUAL, true, true, -1, -1},
    {"round 2", sk_stage_round, NULL, NULL, ROUNDS, 0, FINE, SK_USUAL, true, true, 0.62, 0.64},
    {"confirm 2", sk_stage_confirm, NULL, NULL, ROUNDS, 0, FINE, SK_USUAL, true, true, -1, -1},
    {"final", sk_stage_final, NULL, NULL, NEVER, 0, FINE, SK_USUAL, true, true, 0.78, 0.80},
    {"refit", sk_stage_refit, polishes, NULL, REFIT, 0, FINE, SK_LAST, true, true, 0.92, 0.93},
    {"guards", sk_stage_guards, NULL, NULL, NEVER, 0, THIN, SK_LAST, true, true, -1, -1},
    {"constant drift", sk_stage_constant_drift, NULL, NULL, NEVER, 0, THIN, SK_LAST, true, true, -1, -1},
    {"all rows", sk_stage_all_rows, has_more_rows, NULL, ALL_ROWS, 0, FINE, SK_LAST, true, true, 0.95, 0.96},
    {"guards of all rows", sk_stage_guards, sk_on_all_rows, NULL, NEVER, 0, THIN, SK_LAST, true, true, -1, -1},
    {"constant drift of all rows", sk_stage_constant_drift, sk_on_all_rows, NULL, NEVER, 0, THIN, SK_LAST, true, true,
     -1, -1},
};
const size_t sk_stage_count = sizeof sk_stages / sizeof *sk_stages;
