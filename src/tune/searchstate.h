/* searchstate.h - what the stages of the search share; private to it (search.c and the files named below). */
#ifndef SK_SEARCHSTATE_H
#define SK_SEARCHSTATE_H

#include "tune/candidates.h"

enum { SK_MOST = 64 }; /* candidates of a field */

enum { SK_FINE = 11, SK_THIN = 5 };
extern const double sk_fine_grid[SK_FINE], sk_thin_grid[SK_THIN]; /* l of diffusions, falling */

/* What the search ends with: shares of the results that add up to 1, drifts and diffusions apart. */
typedef struct sk_choice {
    size_t drift; /* the one with the largest share */
    double drift_share[SK_MOST], share[SK_MOST];
    double floor;
} sk_choice;

typedef struct sk_search {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sk_problem *full, *screen; /* screen is full where there are few rows */
    sk_candidates list;
    sk_drift_result *drift[SK_MOST]; /* of the last stage on all folds; NULL: not alive */
    sk_diffusion_result *diffusion[SK_MOST];
    double *leftover; /* (folds + 1) x n x d */
    size_t best_drift, best_diffusion;
    double score; /* of the current model, held out */
    sock_model *model;
    bool model_diagonal;
    bool unpolished[SK_MOST];              /* the polish lost clearly: it is not tried again */
    double calibration;                    /* of the final model */
    double final_score;                    /* the same, held out, with shares and floor */
    double *final_cluster;                 /* clusters; for their Euler likelihood another so many */
    double constant_score, constant_euler; /* by the likelihood of the search, and by Euler's */
    sk_drift_result *constant_drift;       /* constant coefficients, what every model should beat */
    sk_diffusion_result *constant_diffusion;
    double start;
    bool limited;
    size_t skipped;        /* candidates that the budget left out */
    sk_tune_outcome *told; /* the table of the search and the stages left out, as it goes on; the rest at the end */
} sk_search;

/* ---- searchstate.c ---- */

/* A candidate that cannot be computed drops out; only real trouble stops the search. */
sock_status sk_tolerate(sock_status status);

/* Whether the name is in the list, which ends with NULL. */
bool sk_is_one_of(const char *name, const char *const *list);

/* Standard error of a difference of scores, over clusters. */
double sk_paired_error(size_t clusters, const double *a, const double *b);

/* The gap to which convex problems are solved. */
double sk_search_tolerance(const sk_search *s);
double sk_last_tolerance(const sk_search *s); /* of what the model is made of in the end */

/* *out ((folds + 1) x n x d; the old one is freed): what a drift leaves over without each fold, and in all rows; or
 * what shares (SK_MOST) of the drifts of the search do. */
sock_status sk_fill_leftover(sk_search *s, const sk_problem *p, const sk_drift_result *r, double **out);
sock_status sk_fill_leftovers(sk_search *s, const double *share, double **out);

/* A model of the fits to all rows: one drift and one diffusion; the shares and the floor of a choice. */
sock_status sk_model_of_two(sk_search *s, const sk_problem *p, sk_drift_result *f, sk_diffusion_result *a,
                            sock_model **out);
sock_status sk_search_mixture(sk_search *s, const sk_choice *choice, sock_model **out);

/* The model becomes the current one and belongs to the search. */
void sk_search_take_model(sk_search *s, sock_model *model, bool diagonal);

void sk_clear_drifts(sk_drift_result **results);
void sk_clear_diffusions(sk_diffusion_result **results);

/* ---- searchlog.c ---- */

/* Share of the whole search done when a stage begins; -1: not known. */
double sk_search_share_done(const char *stage, bool diffusion);

double sk_search_seconds_left(const sk_search *s);

/* Whether the budget has no room for this stage; then it is noted as left out. */
bool sk_search_leave_out(sk_search *s, const char *stage);

/* One row of the search table. */
void sk_search_log(sk_search *s, const char *stage, const char *field, const char *name, double l, double score,
                   bool edge, double seconds);

/* To the row written last: the score over the penalties, but for pilot and screen. */
void sk_search_log_curve(sk_search *s, const char *stage, size_t lambdas, const double *l, const double *by_l);

/* What was chosen, into the outcome; scale and floor are left to sk_scaling_finish. */
sock_status sk_search_describe(const sk_search *s, const sk_choice *choice);

/* ---- trials.c ---- */

/* All candidates of the list that are alive, side by side, with the first `folds` folds. out (SK_MOST): old results are
 * freed; NULL where a candidate failed or the budget skipped it. *best: on entry that of an earlier stage, or SK_MOST.
 * SOCK_ENUMERIC when none is left. */
sock_status sk_run_drifts(sk_search *s, const char *stage, const sk_problem *p, const sk_candidates *list, size_t folds,
                          const bool *alive, sk_drift_result **out, size_t *best);
sock_status sk_run_diffusions(sk_search *s, const char *stage, const sk_problem *p, const sk_candidates *list,
                              const sk_leftover *leftover, const sk_diffusion_options *options, const bool *alive,
                              sk_diffusion_result **out, size_t *best);

/* ---- screening.c ---- */

/* The first model, from few rows and candidates. */
sock_status sk_search_pilot(sk_search *s);

/* All candidates on two folds of few rows: who is alive (SK_MOST) after that. f (SK_MOST), *best: the drifts; the
 * diffusions are judged on what f leaves over. */
sock_status sk_screen_drifts(sk_search *s, sk_drift_result **f, size_t *best, bool *alive);
sock_status sk_screen_diffusions(sk_search *s, const sk_drift_result *f, bool *alive);

/* ---- rounds.c ---- */

/* Drift candidates, all folds, under the current model; then diffusion candidates on what the search's leftover is. */
sock_status sk_sweep_drifts(sk_search *s, const char *stage, const bool *drifts);
sock_status sk_sweep_diffusions(sk_search *s, const char *stage, const bool *diffusions, double tolerance);

/* Two rounds; afterwards drifts and diffusions (SK_MOST) say who is near the best. */
sock_status sk_search_rounds(sk_search *s, bool *drifts, bool *diffusions);

/* ---- ending.c ---- */

/* One pass of the end: drift and diffusions anew under the current model, polish, shares and floor. tolerance: of the
 * convex problems. */
sock_status sk_last_pass(sk_search *s, const char *stage, const bool *drifts, const bool *diffusions, double tolerance,
                         sk_choice *choice);

/* A diffusion polished by quasi-likelihood, in its place if the held-out score is better by that (*gain; 0: no polish).
 */
sock_status sk_polish_result(sk_search *s, const char *name, const sk_leftover *leftover, sk_diffusion_result **result,
                             double *gain);

/* A floor c mean(a) I for the shares of the choice; the held-out scores of that model go to the search. */
sock_status sk_choose_floor(sk_search *s, const sk_leftover *leftover, sk_choice *choice);

/* Drift i and diffusion j alone. */
void sk_choose_one(size_t i, size_t j, sk_choice *choice);

/* Whether every diffusion with a share is diagonal. */
bool sk_all_diagonal(const sk_search *s, const sk_choice *choice);

/* ---- fewdata.c ---- */

/* Constant drift and diffusion, held out: what every model should beat. They and their scores go to the search. */
sock_status sk_constant_score(sk_search *s);

/* A final model that is no clear gain over a linear or affine drift with a constant a gives way to those (*plain). */
sock_status sk_prefer_plain(sk_search *s, sk_choice *choice, bool *plain);

/* A final model that is two nats worse than constant coefficients, or no clear gain over them, gives way to them. */
sock_status sk_prefer_constant(sk_search *s, bool plain, sk_choice *choice);

#endif
