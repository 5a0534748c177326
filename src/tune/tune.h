/* tune.h - the default estimator: chooses kernels and penalties by cross-validation and fits the model they give. The
 * stages are the rows of a table (stages.c), which search.c walks over; the numbers that decide are in policy.h, the
 * decisions in rules.c.
 *
 *   inputs     where the data have some: those that f and a need                               (inputchoice.c)
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
#include "model/outcome.h"

/* Inputs of the data of a search: how they go on in a step, and where they may stand. */
typedef struct sk_inputs {
    size_t count;
    sk_hold *hold;
    bool *flat;  /* it has two values: no powers above the first */
    bool *f, *a; /* the field may depend on it */
} sk_inputs;

/* What is asked about measurement noise. Nothing: neither noise nor long steps are looked at. */
typedef enum sk_noise_choice { SK_ASK_NOTHING, SK_ASK_NONE, SK_ASK_AUTO, SK_ASK_DIAGONAL, SK_ASK_FULL } sk_noise_choice;

struct sk_plan;   /* plan.h */
struct sk_search; /* a search whose stages are done: searchstate.h */

typedef struct sk_tune_spec {
    const sock_data *data;
    struct sk_stream
        *stream; /* the data are its sample, and all rows come from it (streamrows.h); NULL: they are all */
    struct sk_plan
        *plan; /* of a stream: what was decided on its sample before, in place of the search; NULL: nothing */
    /* What a stream decided on its sample is handed over (with `keeper`) before the passes. NULL: it is not wanted. */
    sock_status (*keep_plan)(void *keeper, struct sk_plan *plan);
    void *keeper;
    bool leave_wild;              /* of a stream: wild steps of all rows take no part */
    const sock_data *validation;  /* NULL: cross-validation on the data */
    const bool *wild, *wild_held; /* points of each: the step that begins there takes no part; NULL: all do */
    size_t folds;                 /* 0: 6 */
    uint64_t seed;
    double budget;         /* seconds; 0: none */
    const char *drift;     /* a kernel, or "auto" */
    const char *diffusion; /* a kernel, or "auto" */
    bool full_only, diagonal_only;
    /* each piece can be switched off */
    bool conditional, weighted, learned, correct, polish, average;
    bool scaling; /* bring coordinates in very different units to the same one, see scaling.h */
    double delta; /* the paper's protocol: added to the diagonal of a step's covariance in the likelihood */
    sk_noise_choice noise;
    /* What is asked of noise and long steps after the stages. It makes *out where a model that knows of them is the
     * better one; the choice is then that model's. NULL: nothing is asked. */
    sock_status (*after)(struct sk_search *search, sock_model **out);
    size_t substeps;  /* of a step; 0: chosen */
    double tolerance; /* of the convex problems; 0: 1e-6, or 1e-4 for more than three dimensions while searching */
    bool bands;       /* how far the model can be trusted is told with it */
    const char *hold; /* of inputs: "auto", "previous" or "linear" */
    const sk_inputs *inputs;     /* what is decided of the inputs of the data; NULL: nothing yet */
    const double *lower, *upper; /* d each: bounds of the states, infinite where there is none; NULL: none at all */
    bool bounds_said;            /* by the user; else found in the data, and a matter of evidence */
} sk_tune_spec;

/* *out: the model without its information; *told (all zero on entry) belongs to the caller and is cleared here when the
 * search fails. SOCK_LIMITED when the budget cut the search short. */
sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told);

#endif
