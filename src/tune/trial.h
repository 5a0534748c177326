/* trial.h - candidates for a field, and one of them after the folds: fitted without each fold, judged on what the fold
 * holds out. Both fields have the same type; a trial is never changed once it is made. */
#ifndef SK_TRIAL_H
#define SK_TRIAL_H

#include "diffusion/diffusionsums.h"
#include "model/model.h"
#include "tune/policy.h"

typedef enum sk_field { SK_DRIFT, SK_DIFFUSION } sk_field;

/* What a candidate stands for. Rules ask these, never names. */
enum {
    SK_ROLE_PILOT = 1,   /* tried in the pilot */
    SK_ROLE_BASIC = 2,   /* the screen may not throw it out */
    SK_ROLE_SHORT = 4,   /* an equation to read */
    SK_ROLE_PLAIN = 8,   /* a plain model is made of it: linear or affine drift, constant a */
    SK_ROLE_AFFINE = 16, /* the plain drift where the chosen one is not plain itself */
};

typedef struct sk_candidate {
    sk_field field;
    char *name;
    sk_kernel *kernel;  /* resolved */
    bool diagonal;      /* diffusions */
    bool own;           /* diagonal ones: a component depends on its own coordinate alone */
    bool screened;      /* learned drifts: of the features each equation sees only those that a screen leaves it */
    bool free;          /* drifts: no penalty, so that the estimate is the mean and its error that of a mean */
    bool learned;       /* learned feature weights: of a drift instead of a ridge, of a diffusion after it */
    bool own_zero;      /* its features are about the states' own zero, not about the middle of the data */
    bool in_data_units; /* a length scale that the user named: its features see the rows in the units of the data */
    const bool *use;    /* one for each input: it may depend on it; NULL: on all */
    const bool *flat;   /* and with no power above the first; NULL: on none so. Both are borrowed */
    int simplicity;     /* simpler candidates have smaller numbers */
    size_t max_rank;    /* gauss: most pivoted features */
    unsigned roles;
} sk_candidate;

void sk_candidate_clear(sk_candidate *candidate);

typedef struct sk_trial {
    sk_field field;
    sk_features *map;
    size_t p, d, folds;
    bool diagonal, learned;
    sk_picks picks;      /* of a diffusion by own coordinates; its list belongs to the trial */
    double score;        /* held-out log likelihood at the best l */
    double *cluster;     /* clusters: the same for each */
    double l;            /* best; 0: no penalty */
    double lambda_scale; /* lambda = l * lambda_scale */
    bool edge;           /* l is at an end of the grid where the score is not flat */
    size_t lambdas;
    const double *grid; /* the l that were to be tried, borrowed; NULL: none */
    double *by_l;       /* lambdas; -infinity: no score, or not tried */
    size_t size;        /* numbers of one solution */
    double *solution;   /* (folds + 1) x size: without each fold, and from all rows. A drift: p x d. A diffusion: Q of
                           every system, order x order */
    const sk_transitions *rows; /* that it was tried on, borrowed: to be known again */
    double *held; /* what it says of these rows where they are few, else NULL. A drift: I f without each fold and from
                     all rows, (folds + 1) x n x d. A diffusion: I a without the row's own fold, n x d x d */
    double dof;   /* drift: of the fit to all rows */
    double gap;   /* diffusion: largest relative gap of the fits to all rows */
    sk_psd_bounds whole; /* of the fits to all rows, added up; before reweighting and polish */
    bool converged, polished;
    uint64_t remembered_rates; /* of a trial without features, of which no more is known than the best penalty */
    double seconds;
} sk_trial;

/* The left ends of rows in memory in the units of the data, about the zero of the rows: n x in, freed with sk_free. */
sock_status sk_left_in_data_units(sock_context *ctx, const sk_transitions *rows, double **left);

/* The features of a candidate's kernel, which see points in the units of the rows. */
sock_status sk_candidate_map(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate,
                             sk_features **out);

/* With features and room for its numbers; grid: lambdas penalties, or NULL. */
sock_status sk_trial_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate, size_t lambdas,
                         const double *grid, sk_trial **out);
void sk_trial_free(sk_trial *trial);

/* Systems of a diffusion and the order of Q in each. */
size_t sk_trial_systems(const sk_trial *trial);
size_t sk_trial_order(const sk_trial *trial);

/* The features of each component that depend on its own coordinate alone; the map is one of monomials. */
sock_status sk_own_picks(sock_context *ctx, const sk_features *map, size_t d, sk_picks *out);

/* The features that a diffusion of rates has a matrix for, as bits; 0: it is no such diffusion, or has too many. */
uint64_t sk_trial_rates(const sk_trial *trial);

/* I a (n x d x d) of n rows with svec rows b by a solution q of a diffusion. */
sock_status sk_trial_integrate(sock_context *ctx, const sk_trial *trial, const double *q, size_t n, const double *b,
                               double *out);

/* A drift of monomials is left with those that any of its fits has a weight for. */
sock_status sk_trial_shrink(sock_context *ctx, sk_trial *trial);

/* What a trial says of the rows of a view without their own fold: I f (n x d) or I a (n x d x d). */
sock_status sk_trial_held(sock_context *ctx, const sk_trial *trial, const sk_view *v, double *out);

/* A share of the fit without fold f as a term of a model. */
sock_status sk_trial_drift_term(sock_context *ctx, const sk_trial *trial, size_t f, double share, sk_drift_term **out);
sock_status sk_trial_diffusion_term(sock_context *ctx, const sk_trial *trial, size_t f, double share,
                                    sk_diffusion_term **out);

/* ---- Residuals of a drift, for the diffusions ---- */

/* Shares of drifts. */
typedef struct sk_mixture {
    size_t count;
    sk_trial *const *trial; /* count; may be NULL where the share is 0 */
    const double *share;    /* count */
} sk_mixture;

/* What a drift leaves of every block of the views; kept where the views are. Borrows views and trials, which must live
 * as long; not the lists of the mixture. */
typedef struct sk_remains sk_remains;
sock_status sk_remains_new(sock_context *ctx, const sk_views *views, const sk_mixture *drift, bool correct,
                           sk_remains **out);
void sk_remains_free(sk_remains *r);
const sk_views *sk_remains_views(const sk_remains *r);
bool sk_remains_corrected(const sk_remains *r);
sock_status sk_remains_take(sock_context *ctx, const sk_remains *r, size_t b, sk_block *out);
void sk_remains_give(const sk_remains *r, const sk_block *block);

/* ---- Trials (drifttrial.c, diffusiontrial.c, polishtrial.c) ---- */

/* A drift on the first `folds` folds. SOCK_ENUMERIC when it cannot be fitted: the search goes on without it. */
sock_status sk_try_drift(sock_context *ctx, const sk_views *views, const sk_candidate *candidate, size_t folds,
                         sk_trial **out);

typedef struct sk_diffusion_options {
    size_t folds;    /* use the first so many */
    const double *l; /* natural units, falling */
    size_t lambdas;
    double tolerance;
    bool solve_all; /* also the fit to all rows, for a term */
    bool beyond[2]; /* the grid that l is a part of goes on before its first, after its last: they are no edge */
    uint64_t
        rates; /* bits: the monomials that learned rates had on fewer rows, taken where views are not kept; 0: all */
} sk_diffusion_options;

sock_status sk_try_diffusion(sock_context *ctx, const sk_remains *remains, const sk_candidate *candidate,
                             const sk_diffusion_options *options, sk_trial **out);

/* Several at once, for views that are not kept: every block is made once for all of them. options: one for each. out:
 * count; NULL where one cannot be fitted. */
sock_status sk_try_drifts(sock_context *ctx, const sk_views *views, size_t count, const sk_candidate *const *candidate,
                          size_t folds, sk_trial **out);
sock_status sk_try_diffusions(sock_context *ctx, const sk_remains *remains, size_t count,
                              const sk_candidate *const *candidate, const sk_diffusion_options *options,
                              sk_trial **out);

/* Quasi-likelihood polish of every fold's Q and of the one from all rows, on the rows of `few`; *out is a new trial
 * with its own score on the rows of `all` (may be the same). SOCK_ENUMERIC when it cannot be done. */
sock_status sk_try_polish(sock_context *ctx, const sk_remains *few, const sk_remains *all, const sk_trial *trial,
                          sk_trial **out);

/* Held-out score of a diffusion on the residuals: its sum, and by cluster (clusters, zero on entry). */
sock_status sk_held_score(sock_context *ctx, const sk_remains *remains, const sk_trial *trial, double *cluster,
                          double *score);

/* Pivoted features of a kernel on some of the left ends that stand for all. */
sock_status sk_pivoted_map(sock_context *ctx, const sk_kernel *kernel, const sk_transitions *rows, double tolerance,
                           size_t max_rank, sk_features **out);

/* A candidate that cannot be computed drops out; only real trouble stops the search. */
sock_status sk_tolerate(sock_status status);

#endif
