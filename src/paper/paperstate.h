/* paperstate.h - what the files of the paper's protocol share: paper.c (the order of the steps), papergrid.c (grids
 * that grow), papertrials.c (the fits of one eta, judged on the validation data), paperending.c (the last fit and what
 * is told). */
#ifndef SK_PAPERSTATE_H
#define SK_PAPERSTATE_H

#include "paper/paper.h"

/* Most lambdas of one call of a trial; landmarks of the drift where its full system has too many rows. */
enum { SK_PAPER_LAMBDAS = 16, SK_PAPER_LANDMARKS = 500 };

/* Rows beyond which the grid of the drift has landmarks and that of the diffusion a part of the groups. */
enum { SK_PAPER_MANY_ROWS = 2500 };

/* A grid: eta from least times the median distance in factors of 2, l from 1 in factors of step. */
typedef struct sk_paper_grid {
    size_t etas;
    double least;
    size_t lambdas;
    double step;
    size_t growths, grown; /* how often an edge may move, and by how many lambdas */
} sk_paper_grid;

/* One place of a grid. */
typedef struct sk_paper_place {
    double eta; /* NaN: the kernel has none, or the user named it */
    double l, lambda, score;
} sk_paper_place;

typedef struct sk_paper {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sock_data *train_own, *held_own, *all_own; /* made here */
    const sock_data *train, *held, *all;
    sk_rule *rule;   /* of the training data */
    double distance; /* median distance of the training points: the unit of eta */
    sock_data *part; /* the groups of which the diffusion's grid is searched; NULL: all */
    sk_rule *part_rule;
    const sk_paper_grid *diffusion; /* by the number of unknowns */
    bool large;                     /* so many that its grid is coarse and its gaps loose */
    bool landmarks;                 /* in the drift's grid */
    int round;
    sock_model *base; /* what was chosen so far */
    double start, constant_score;
    bool limited;
    size_t skipped;
    sk_tune_outcome *told; /* the table of the search, as it goes on; the rest at the end */
} sk_paper;

/* The best place of a grid and what was fitted there. */
typedef struct sk_paper_found {
    sk_paper_place best;
    bool any, edge;
    sk_drift_term *drift;
    sk_diffusion_term *diffusion;
    double dof;
    size_t rank;
    const char *form;           /* of the last fit of the drift */
    sk_diffusion_report solved; /* of the last fit of the diffusion */
    char *kernel;
} sk_paper_found;

/* The likelihood of the validation data under constant coefficients: what every model should beat. */
sock_status sk_paper_score_constant(sk_paper *p);

/* A kernel with its numbers: the one named where eta is NaN, else the family with this eta. */
sock_status sk_paper_kernel(sk_paper *p, const char *option, const char *named, const char *family, double eta,
                            const sk_rule *rule, sk_kernel **out);

/* Fits for one eta and falling l; the best goes to *best when it is better than what is there. */
typedef sock_status (*sk_paper_trial)(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best);
sock_status sk_paper_try_drift(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best);
sock_status sk_paper_try_diffusion(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best);

/* The grid of the drift; that of the diffusion by the number of unknowns, and whether they are many; and the same grid
 * around an eta that was found before (NaN: there is none). */
extern const sk_paper_grid sk_paper_drift_grid;
const sk_paper_grid *sk_paper_grid_of(size_t unknowns, bool *large);
sk_paper_grid sk_paper_grid_near(const sk_paper_grid *grid, double eta, double distance);

/* The best place of a grid that grows where the best is on its edge; named: the kernel, "auto" where eta is free. A
 * best place on the edge in the end is told. */
sock_status sk_paper_search_grid(sk_paper *p, const char *named, sk_paper_trial attempt, const sk_paper_grid *grid,
                                 sk_paper_found *best);

/* Whether the budget is spent; then a step of the grid is left out, and that is counted. */
bool sk_paper_out_of_time(sk_paper *p);

/* The rows of which the diffusion's grid is searched. */
const sk_rule *sk_paper_searched(const sk_paper *p);

/* The relative gap that the diffusion's problems end with, in the grid or in the last fit, and that problem. */
double sk_paper_tolerance(const sk_paper *p, bool last);
sk_diffusion_spec sk_paper_diffusion_spec(const sk_paper *p, const sk_kernel *kernel, bool last);

/* e e' of the residuals of the model's drift on the n intervals of the data, n x d x d; to be freed. */
sock_status sk_paper_residuals(sk_paper *p, const sock_data *data, size_t n, const sock_model *drift, double **out);

/* The chosen pairs fitted to all data; notes in both what the last fits were like. */
sock_status sk_paper_refit(sk_paper *p, sk_paper_found *drift, sk_paper_found *a, sock_model **out);
sock_status sk_paper_describe(const sk_paper *p, const sk_paper_found *drift, const sk_paper_found *a);

#endif
