/* plan.h - what the search on the sample of a stream decides, so that the passes over all rows can be made without it,
 * later or elsewhere: which candidates go on, with which penalties and shares; the model under which the rows are seen;
 * what is told of the search. Rows, units and features follow from the same data again. */
#ifndef SK_PLAN_H
#define SK_PLAN_H

#include "model/model.h"
#include "model/outcome.h"

struct sk_search;

/* A candidate, in the order of the list. */
typedef struct sk_planned {
    char *kernel;
    double share;     /* in the model of the sample */
    bool passes;      /* all rows are asked about it */
    bool lost;        /* drifts: more rows would not bring it back */
    bool unpolished;  /* diffusions: the polish lost clearly */
    double l;         /* diffusions: the best penalty; NaN: not tried */
    sk_numbers rates; /* diffusions: the monomials of learned rates; none: no such diffusion */
} sk_planned;

/* A drift that the model was chosen among, where a plainer one was taken. */
typedef struct sk_planned_rival {
    size_t place;
    double score, dof;
} sk_planned_rival;

typedef struct sk_plan {
    const char *place; /* where messages say it is; borrowed */
    /* the data */
    sk_texts states;
    size_t steps, points, trajectories, sample, folds;
    char *digest;
    sk_numbers centre, scale; /* units of the search; none: those of the data */
    /* the choice */
    size_t drifts, diffusions;
    sk_planned *drift, *diffusion;
    size_t constants;              /* so many drifts at the end of the list are constant, without a penalty */
    bool too_few, fell_back, free; /* fell_back: constants are all of the list; free: without a penalty */
    size_t lead;                   /* the drift with the largest share */
    double floor, shrink;          /* of a, as a choice has them */
    bool diagonal;                 /* all of a is */
    sock_model *model;             /* in the units of the search */
    size_t rivals;
    sk_planned_rival *rival;
    sock_model *rival_model; /* their drifts, in this order; NULL: none */
    /* what is told */
    sk_noise_told noise;
    sk_search_table search;
} sk_plan;

/* Of a search that has come to all rows. */
sock_status sk_plan_make(const struct sk_search *s, sk_plan *out);

/* The same state of a new search, whose plan (of the same data) it is; model and table move there. SOCK_EINPUT where
 * its candidates are others. */
sock_status sk_plan_take(struct sk_search *s);

void sk_plan_clear(sk_plan *plan);

#endif
