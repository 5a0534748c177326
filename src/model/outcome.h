/* outcome.h - what a search hands over: what was chosen, why, and the table of its fits. All texts and lists are owned.
 */
#ifndef SK_OUTCOME_H
#define SK_OUTCOME_H

#include "base/base.h"

typedef struct sk_texts {
    size_t count, room;
    char **text;
} sk_texts;

/* value NULL: there are none. */
typedef struct sk_numbers {
    size_t count;
    double *value;
} sk_numbers;

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

typedef struct sk_parts {
    size_t count;
    sk_part *part; /* the largest share first */
} sk_parts;

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

/* What was found of measurement noise and long steps. */
typedef struct sk_noise_told {
    char *mode;              /* that was asked for; NULL: nobody looked */
    bool used;               /* R is in the model */
    sk_texts states;         /* their names, where it is used */
    sk_numbers r, r_error;   /* d x d; d: standard errors of its diagonal. None where it is not used */
    sk_numbers sd;           /* d: standard deviations of the noise */
    sk_numbers z;            /* d: scores of the test; none: not made */
    double gain, gain_error; /* nats held out over the model without noise; NaN: not tried */
    size_t iterations, substeps;
    char *reason; /* in words */
} sk_noise_told;

/* What was found of one input of the data. */
typedef struct sk_input_told {
    char *name, *hold;     /* hold: "previous", "linear" or "time" */
    double gain_f, gain_a; /* nats held out, of f and of a; of one that is left out: what it would have gained; NaN: not
                              tried */
    bool in_f, in_a;       /* which of them depends on it */
} sk_input_told;

typedef struct sk_inputs_told {
    size_t count;
    sk_input_told *input;
} sk_inputs_told;

/* What was chosen, why, and how it was searched. */
typedef struct sk_tune_outcome {
    sk_parts drifts, diffusions;
    size_t lead;       /* the drift that stands for all, of the largest share */
    double drift_dof;  /* of the average */
    size_t drift_rank; /* features of the leading drift */
    char *drift_best;  /* the one with the best score, which a simpler one may have replaced; NULL: not told */
    double score, score_constant, calibration;
    char *richer;        /* the model for which a guard took a simpler one, "DRIFT with DIFFUSION"; NULL: none, */
    double richer_gain;  /* which scored so much more, */
    double richer_error; /* with this standard error; NaN: by Euler's likelihood it was no clear gain */
    double gain_error;   /* standard error of score - score_constant, paired; NaN: not known, infinite: not to be had */
    double loglik;       /* of the whole model on held-out steps, by Euler's density with the jitter as delta */
    size_t folds, steps;
    sk_numbers floor;  /* d numbers on the diagonal of a, in the user's units */
    sk_numbers scale;  /* d units of the search; none: those of the data */
    sk_numbers centre; /* d: its zero */
    sk_numbers jitter; /* d: variance that the likelihood of the search adds, in the user's units */
    sk_numbers grain;  /* d: smallest change of a state that is counted or rounded, else 0; none: no state is */
    bool *quiet;       /* d: states without noise of their own; NULL: none */
    double *clock;     /* d: rates of states that move with the time, NAN for others; NULL: none */
    bool limited;      /* by the budget, which left out: */
    size_t skipped;    /* candidates */
    sk_texts left_out; /* whole stages */
    bool too_few;      /* steps to choose by: constant coefficients were taken */
    sk_search_table search;
    sk_noise_told noise;
    sk_inputs_told inputs;
    bool paper;       /* the paper's protocol, which alone tells: */
    char *drift_form; /* of the last fit */
    size_t landmarks; /* in the drift's grid; 0: none */
    size_t rounds, search_rows;
    double search_tolerance, delta;
} sk_tune_outcome;

/* Leaves it as empty as it began. */
void sk_tune_outcome_clear(sk_tune_outcome *told);

void sk_inputs_told_clear(sk_inputs_told *told);

/* One row more, its texts copied; NULL when out of memory, which the table remembers. */
sk_search_row *sk_search_table_add(sock_context *ctx, sk_search_table *table, const char *stage, const char *field,
                                   const char *kernel);

/* One text more, copied. */
sock_status sk_texts_add(sock_context *ctx, sk_texts *list, const char *text);
void sk_texts_clear(sk_texts *list);

#endif
