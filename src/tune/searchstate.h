/* searchstate.h - what the stages of the search share; private to it. A stage makes trials and views, which never
 * change after that, and leaves pointers to them here. */
#ifndef SK_SEARCHSTATE_H
#define SK_SEARCHSTATE_H

#include "tune/candidates.h"
#include "tune/folds.h"
#include "tune/heldmodel.h"
#include "tune/rules.h"

typedef struct sk_search sk_search;
typedef struct sk_stage sk_stage;

/* Penalties of diffusions, falling. */
typedef struct sk_grid {
    size_t count;
    const double *l;
} sk_grid;

/* How tightly convex problems are solved: roughly, as a search needs it, as a model needs it. */
typedef enum sk_care { SK_ROUGH, SK_USUAL, SK_LAST } sk_care;

/* One stage; stages.c has the table. */
struct sk_stage {
    const char *name;
    sock_status (*run)(sk_search *s, const sk_stage *stage);
    bool (*wanted)(const sk_search *s); /* NULL: always */
    sock_status (*left)(sk_search *s);  /* when the budget leaves it out; NULL: nothing is to be done */
    int group;                          /* with it the later stages of its group go; 0: it is never left out */
    size_t folds;                       /* 0: all */
    sk_grid grid;
    sk_care care;
    bool whole;              /* diffusions are fitted to all rows too, for a model */
    bool curves;             /* the scores of all penalties are logged */
    double drift, diffusion; /* share of the whole search done when they begin, from where the time goes; -1: no news */
};

/* Penalties of constant coefficients, on which hardly anything depends. */
extern const sk_grid sk_constant_grid;

extern const sk_stage sk_stages[];
extern const size_t sk_stage_count;

/* What the search ends with: shares of the trials that add up to 1, drifts and diffusions apart. */
typedef struct sk_choice {
    size_t drift; /* the one with the largest share */
    double drift_share[SK_MOST], share[SK_MOST];
    double floor; /* a is (1 - shrink) times the parts, and this on the diagonal */
    double shrink;
} sk_choice;

struct sk_search {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sk_tune_outcome *told; /* the table of the search and the stages left out, as it goes on; the rest at the end */
    double start;
    bool limited;
    size_t skipped; /* candidates that the budget left out */
    sk_row_sets sets;
    const sk_transitions *rows; /* those that the search works on now */
    sk_candidates list;
    bool drifts[SK_MOST], diffusions[SK_MOST]; /* alive */
    bool lost[SK_MOST];                        /* drifts that more rows would not bring back */
    sk_trial *drift[SK_MOST];                  /* of the last stage on all folds; NULL: not alive */
    sk_trial *diffusion[SK_MOST];
    sk_trial *rival[SK_MOST]; /* drifts of the last stage, where a guard took a plainer model than these; else none */
    size_t best_drift, best_diffusion;
    sock_model *model; /* the current one */
    bool model_diagonal;
    double score;      /* of it, held out, with a floor */
    sock_model *under; /* the one under whose views that score was had; NULL: none yet */
    bool under_diagonal;
    sk_views *views;          /* of the rows, under it */
    sk_remains *remains;      /* of these, what the chosen drifts leave */
    double judged[SK_MOST];   /* scores of the diffusions by which their shares were made: each with its best floor */
    bool unpolished[SK_MOST]; /* the polish lost clearly: it is not tried again */
    sk_choice choice;
    double calibration;                    /* of the final model */
    double final_score;                    /* the same, held out, with shares and floor */
    double *final_cluster;                 /* clusters; for their Euler likelihood another so many */
    double constant_score, constant_euler; /* of constant coefficients, what every model should beat */
    double richer_score;                   /* of the model that the guards were shown last, */
    double richer_error;  /* of its gain over what they took for it; 0: nothing; NaN: Euler's likelihood refused it; */
    char *richer;         /* and what it was */
    double told_constant; /* the same, with the penalty that predicts best, when constant_score is of means */
    sk_candidates constants; /* these, as candidates; the first of each list */
    sk_trial *constant_drift, *constant_diffusion;
    bool fell_back;         /* they are the model, */
    sk_candidates given_up; /* and the list of the search was this */
};

/* ---- search.c ---- */

/* A search with its rows, before the first stage. Borrows spec and told. */
sock_status sk_search_new(sock_context *ctx, const sk_tune_spec *spec, sk_tune_outcome *told, sk_search **out);
void sk_search_free(sk_search *s);

/* ---- searchstate.c ---- */

/* The gap to which the convex problems of a stage are solved. */
double sk_search_tolerance(const sk_search *s, sk_care care);

sk_field_trials sk_drift_trials(const sk_search *s);
sk_field_trials sk_diffusion_trials(const sk_search *s);

/* Views of rows under a model (NULL: none), as the options of the search want them. */
sock_status sk_search_views(const sk_search *s, const sk_transitions *rows, const sock_model *model, bool diagonal,
                            sk_views **out);

/* Whether it works on all rows after a part of them. */
bool sk_on_all_rows(const sk_search *s);

/* What one drift leaves of the rows of views: to first order in h, if the options want it and the views have a model.
 */
sock_status sk_search_remains(const sk_search *s, const sk_views *views, sk_trial *const *drift, sk_remains **out);

/* Views under the current model, and remains by shares of the search's drifts, in place of the old ones. */
sock_status sk_renew_views(sk_search *s);
sock_status sk_renew_remains(sk_search *s, const double *share);

/* Rows to polish on. */
typedef struct sk_few {
    sk_views *views; /* NULL: all are few enough */
    sk_remains *own;
    const sk_remains *remains;
} sk_few;

/* All of them, or the part of the search: under the same model, and left by the same drifts. */
sock_status sk_few_new(const sk_search *s, const sk_remains *all, const sk_mixture *drift, sk_few *out);
void sk_few_clear(sk_few *few);

/* A model of the fits to all rows: one drift and one diffusion; the shares and the floor of a choice. */
sock_status sk_model_of_two(const sk_search *s, sk_trial *f, sk_trial *a, sock_model **out);
sock_status sk_search_mixture(const sk_search *s, const sk_choice *choice, sock_model **out);

/* A fit beside that of the search, under the views of its own model (NULL: none), which they may ask again and again.
 */
typedef struct sk_side_fit {
    sock_model *model;
    sk_views *views;
    sk_trial *f, *a;
    sk_remains *remains;
} sk_side_fit;

/* The drift anew, held out, under views of the rows of the search; what it leaves. */
sock_status sk_side_drift(const sk_search *s, const sk_candidate *drift, bool diagonal, sk_side_fit *fit);
sock_status sk_side_remains(const sk_search *s, sk_side_fit *fit);
void sk_side_fit_clear(sk_side_fit *fit);

/* The model becomes the current one and belongs to the search. */
void sk_search_take_model(sk_search *s, sock_model *model, bool diagonal);

/* The trial takes the place of an old one, which is freed. */
void sk_replace(sk_trial **place, sk_trial *trial);
void sk_clear_trials(sk_trial **trials);

/* Drift i and diffusion j alone. */
void sk_choose_one(size_t i, size_t j, sk_choice *choice);

/* The shares of a choice. */
sk_held_model sk_chosen(const sk_search *s, const sk_choice *choice);

/* ---- searchlog.c ---- */

double sk_search_seconds_left(const sk_search *s);

/* Whether the budget has no room for this stage; then it is noted as left out. */
bool sk_search_leave_out(sk_search *s, const char *stage);

/* One row of the search table: a trial, or NULL for one that failed. */
void sk_search_log(sk_search *s, const char *stage, const char *field, const char *name, double l, double score,
                   bool edge, double seconds);
void sk_search_log_trial(sk_search *s, const sk_stage *stage, const sk_candidate *candidate, const sk_trial *trial);

/* SOCK_ENOMEM when a row or a name was lost on the way: those who write go on, and the end looks. */
sock_status sk_search_logged(const sk_search *s);

/* What was chosen, into the outcome; scale and floor are left to sk_scaling_finish. */
sock_status sk_search_describe(const sk_search *s, const sk_choice *choice);

/* ---- crowd.c ---- */

/* All candidates of the list that are alive, side by side. out (SK_MOST): old trials are freed; NULL where a candidate
 * failed or the budget skipped it. *best: on entry that of an earlier stage, or SK_MOST. SOCK_ENUMERIC when none is
 * left. */
sock_status sk_run_drifts(sk_search *s, const sk_stage *stage, const sk_views *views, const sk_candidates *list,
                          const bool *alive, sk_trial **out, size_t *best);
sock_status sk_run_diffusions(sk_search *s, const sk_stage *stage, const sk_remains *remains, const sk_candidates *list,
                              const bool *alive, sk_trial **out, size_t *best);

/* ---- The stages ---- */

sock_status sk_stage_pilot(sk_search *s,
                           const sk_stage *stage); /* screening.c: the first model, few rows, few candidates */
sock_status sk_stage_screen(sk_search *s,
                            const sk_stage *stage); /* screening.c: all candidates on two folds of few rows */
sock_status sk_stage_round(sk_search *s, const sk_stage *stage); /* rounds.c: the survivors, all folds */
sock_status sk_stage_near(sk_search *s, const sk_stage *stage);  /* rounds.c: ... and who is near the best after that */
sock_status sk_stage_confirm(sk_search *s,
                             const sk_stage *stage);             /* rounds.c: the finalists, each under its own model */
sock_status sk_retreat(sk_search *s);                            /* rounds.c: from all rows to those of the screen */
sock_status sk_stage_final(sk_search *s, const sk_stage *stage); /* refitting.c: shares, polish, floor */
sock_status sk_stage_refit(sk_search *s,
                           const sk_stage *stage); /* refitting.c: once more, under the model of the first */
sock_status sk_stage_guards(sk_search *s, const sk_stage *stage);         /* guards.c: a clear gain over plain models */
sock_status sk_stage_constant_drift(sk_search *s, const sk_stage *stage); /* constantdrift.c: means and their errors */
sock_status sk_stage_all_rows(sk_search *s, const sk_stage *stage); /* allrows.c: what was chosen, fitted to all rows */

/* ---- rounds.c ---- */

/* The drifts that are alive, under the views of the search; and those that were dropped, where the model under which
 * that was done judged far worse. */
sock_status sk_judge_drifts(sk_search *s, const sk_stage *stage);

/* ---- ending.c ---- */

/* A diffusion polished by quasi-likelihood on the rows of `few`, in its place if the held-out score on those of `all`
 * is better by that (*gain; 0: no polish). */
sock_status sk_polish_trial(sk_search *s, const char *name, const sk_remains *few, const sk_remains *all,
                            sk_trial **trial, double *gain);

/* The held-out score of a diffusion with the floor that is best for it: one that is too small in a few places would be
 * judged by these alone, and a floor mends them. Its own score where rows are too many to ask. */
sock_status sk_floored_score(const sk_search *s, const sk_remains *remains, sk_trial *trial, double *score);

/* And by cluster (clusters of the rows; may be those of the trial, or NULL). */
sock_status sk_floored_clusters(const sk_search *s, const sk_remains *remains, sk_trial *trial, double *score,
                                double *cluster);

/* Drift and diffusions anew under the current model; polish, shares and floor. */
sock_status sk_last_pass(sk_search *s, const sk_stage *stage);

/* A floor c mean(a) 1 for the shares of the choice, and by how much they give way to it; the held-out scores of that
 * model go to the search. */
sock_status sk_choose_floor(sk_search *s, const sk_remains *remains, sk_choice *choice);

/* Whether every diffusion with a share is diagonal. */
bool sk_all_diagonal(const sk_search *s, const sk_choice *choice);

/* ---- boundevidence.c ---- */

/* Whether the noise of a state vanishes at a bound of it, by the fit of a diffusion to all rows. */
sock_status sk_vanishes_at_bounds(const sk_search *s, sk_trial *a, bool *vanishes);

/* ---- guards.c ---- */

/* Constant drift and diffusion, held out: what every model should beat. They and their scores go to the search. */
sock_status sk_constant_score(sk_search *s);

/* They become the model, and the list. */
void sk_fall_back(sk_search *s);

/* The list that was given up is that of the search again, without trials; constants are beside it. */
void sk_take_back(sk_search *s);

/* The same constants without a penalty on the drift. */
sock_status sk_free_constants(sk_search *s);

/* A constant drift without a penalty in the list, once; *place: where. The list must have room for it. */
sock_status sk_list_free_constant(const sk_search *s, sk_candidates *list, size_t *place);

/* The drifts that the model was chosen among stay with the search where a guard takes a plainer one: the first guard
 * saw them all. */
void sk_keep_rivals(sk_search *s);

/* Whether the user left both kernels to the search. */
bool sk_free_choice(const sk_search *s);

#endif
