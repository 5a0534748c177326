/* tune.h - the default estimator: chooses kernels and penalties by cross-validation and fits the model they give. The
 * stages are the rows of a table (stages.c), which search.c walks over; the numbers that decide are in policy.h, the
 * decisions in rules.c.
 *
 *   pilot      a rough f and a from few rows, left point                                        (screening.c)
 *   screen     all candidates on two folds and few rows                                         (screening.c)
 *   rounds     the survivors on all folds, twice; the best few are confirmed under their own
 *              conditional quadrature, and a round that is worse is rejected                    (rounds.c)
 *   final      simplest drift near the best if it is a short equation, else an average; polish
 *              of the best diffusions, kept where the held-out score is better; average of the
 *              near-best diffusions, a floor for a
 *   refit      once more with the weights of that model                                         (ending.c)
 *   guards     the model must be a clear gain over a plain one and over constants               (guards.c)
 *   all rows   where the search saw a part of them: what it chose, fitted to all                (allrows.c) */
#ifndef SK_TUNE_H
#define SK_TUNE_H

#include "model/model.h"

typedef struct sk_tune_spec {
    const sock_data *data;
    const sock_data *validation; /* NULL: cross-validation on the data */
    size_t folds;                /* 0: 6 */
    uint64_t seed;
    double budget;         /* seconds; 0: none */
    const char *drift;     /* a kernel, or "auto" */
    const char *diffusion; /* a kernel, or "auto" */
    bool full_only, diagonal_only;
    /* each piece can be switched off */
    bool conditional, weighted, learned, correct, polish, average;
    bool scaling;     /* bring coordinates in very different units to the same one, see scaling.h */
    double delta;     /* the paper's protocol: added to the diagonal of a step's covariance in the likelihood */
    double tolerance; /* of the convex problems; 0: 1e-6, or 1e-4 for more than three dimensions while searching */
} sk_tune_spec;

/* One candidate in the model, with its share. A number that there is not is NaN. */
typedef struct sk_part {
    char *kernel;
    double share, l, lambda, score; /* l: the penalty in natural units; learned weights have neither l nor lambda */
    double dof;                     /* of a drift */
    bool edge;                      /* l is at the edge of its grid */
    bool learned;
    bool polished, converged;               /* of a diffusion, as all below */
    double relative_gap, primal, dual, gap; /* of its convex problem */
    long iterations;                        /* -1: not counted */
} sk_part;

/* One fit of the search. */
typedef struct sk_search_row {
    char *stage, *field, *kernel;
    double l, lambda, score; /* NaN: none */
    bool edge;
    double seconds;
    size_t places;
    double *curve; /* places x 2: l and the score there; NULL: not kept */
} sk_search_row;

typedef struct sk_search_table {
    size_t count, room;
    sk_search_row *row;
    sock_status status; /* below 0: out of memory on the way, and rows are missing */
} sk_search_table;

/* What was chosen, why, and how it was searched. */
typedef struct sk_tune_outcome {
    size_t drifts, diffusions; /* parts, the largest share first */
    sk_part *drift, *diffusion;
    size_t lead;       /* the drift that stands for all, of the largest share */
    double drift_dof;  /* of the average */
    size_t drift_rank; /* features of the leading drift */
    char *drift_best;  /* the one with the best score, which a simpler one may have replaced; NULL: not told */
    double score, score_constant, calibration;
    size_t folds, steps;
    double *floor,
        *scale; /* d numbers: on the diagonal of a, in the user's units; units of the search, NULL: the data's */
    size_t d;
    bool limited;   /* by the budget, which left out: */
    size_t skipped; /* candidates */
    size_t stages;
    char **left_out; /* whole stages */
    sk_search_table search;
    bool paper;       /* the paper's protocol, which alone tells: */
    char *drift_form; /* of the last fit */
    size_t landmarks; /* in the drift's grid; 0: none */
    size_t rounds, search_rows;
    double search_tolerance, delta;
} sk_tune_outcome;

/* *out: the model without its information; *told (all zero on entry) belongs to the caller and is cleared here when the
 * search fails. SOCK_LIMITED when the budget cut the search short. */
sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told);

void sk_tune_outcome_clear(sk_tune_outcome *told);

/* One row more, its texts copied; NULL when out of memory, which the table remembers. */
sk_search_row *sk_search_table_add(sock_context *ctx, sk_search_table *table, const char *stage, const char *field,
                                   const char *kernel);

/* One stage more that was left out, its name copied. */
sock_status sk_tune_outcome_leave_out(sock_context *ctx, sk_tune_outcome *told, const char *stage);

#endif
