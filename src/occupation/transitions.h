/* transitions.h - trajectories as single transitions y -> next over a step of length h, each realisation for itself,
 * for the estimators that condition on the left end; who is held out when; and quadrature rules of a block of them.
 *
 * Rows stand fold by fold, and blocks of them are what everything above visits: no block crosses the border of a fold,
 * and none is longer than SK_BLOCK, so nothing with a row for each transition and a column for each feature is ever
 * whole in memory. */
#ifndef SK_TRANSITIONS_H
#define SK_TRANSITIONS_H

#include "occupation/bounds.h"
#include "occupation/occupation.h"

/* The fold of a transition that is in the training part of every fold. */
#define SK_ALWAYS SIZE_MAX

enum { SK_BLOCK = 8192 };

/* Rows of a block in d dimensions: fewer beyond twenty, where each has several matrices of d x d. */
size_t sk_block_rows(size_t d);

typedef struct sk_row_store sk_row_store; /* rowstore.h */

typedef struct sk_transitions {
    size_t n, d, folds, clusters;
    double *y, *next; /* n x d: left and right ends */
    double *h;        /* n */
    size_t *cluster;  /* n: transitions of one trajectory (or piece of one) stand or fall together */
    size_t *first;    /* folds + 2: rows first[f] .. first[f+1]-1 are fold f; the last range is SK_ALWAYS */
    size_t blocks;
    size_t *block;           /* blocks + 1: block b is the rows block[b] .. block[b+1]-1 */
    double *reach;           /* d: a thousandth of the spread of each coordinate, for differences */
    double *zero;            /* in: where states and inputs have their own zero, in the units of the rows */
    double *scale;           /* in: a unit of the rows in those of the data, 1 of an input; NULL: 1 for all */
    const sk_bounds *bounds; /* where states end, in these units, borrowed; NULL: nowhere */
    size_t in;               /* coordinates of a node: d states, then inputs */
    double *left, *right; /* n x in: nodes of both ends, y and next with the inputs there; without inputs y and next */
    sk_hold *hold;        /* in - d: how inputs go on in a step; a previous one is the same at both ends */
    sk_row_store *store;  /* the rows are there and not in memory: y, next, h and cluster are NULL. No inputs then */
    const struct sk_transitions *like; /* rows in memory that stand for those of a store, borrowed; else NULL */
    double *range;                     /* of a store: the lowest d values, then the highest; else NULL */
} sk_transitions;

/* Rows in memory that stand for all: those of a store have some, others are themselves. */
const sk_transitions *sk_transitions_in_memory(const sk_transitions *t);

/* The rows of block b: rows *begin on of *rows, which are t, or in *own, which is the caller's to free (NULL: none). */
sock_status sk_transitions_block(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **own,
                                 const sk_transitions **rows, size_t *begin);

/* work(arg, b) for every block; of rows in a store that several processes share, for every one that lies here, and the
 * status is that of all (base/comm.h): sums over all blocks are to be summed over the processes then. apart: on all
 * threads, each alone, so that what a block gives is the same for any number of them; else one after the other. */
typedef sock_status (*sk_block_fn)(sock_context *ctx, void *arg, size_t b);
sock_status sk_blocks_each(sock_context *ctx, const sk_transitions *t, bool apart, sk_block_fn work, void *arg);

/* Rows without numbers, for a reader to fill: n of dimension d in the units of `like`, as one fold of one block. */
sock_status sk_transitions_empty(sock_context *ctx, const sk_transitions *like, size_t n, sk_transitions **out);

/* Where the transitions of a data set stand: row i goes from point `point[i]` of it to the next one. */
typedef struct sk_split {
    size_t n, folds, clusters;
    size_t *point;       /* n: in the order of the data */
    size_t *fold;        /* n: the fold that holds it out, or SK_ALWAYS */
    size_t *cluster;     /* n */
    const sk_hold *hold; /* of the inputs; NULL: all previous */
} sk_split;

/* Zero and units of rows: z = (x - centre) / scale, and there is the states' own zero. All of d numbers, and one
 * more for each input. */
typedef struct sk_units {
    double *centre, *scale, *zero;
} sk_units;

/* The rows of a split, sorted by fold and in the order of the split inside one; units: NULL for those of the data. */
sock_status sk_transitions_new(sock_context *ctx, const sock_data *data, const sk_split *split, const sk_units *units,
                               sk_transitions **out);

/* The rows listed in keep (rising), with their folds. */
sock_status sk_transitions_subset(sock_context *ctx, const sk_transitions *t, size_t count, const size_t *keep,
                                  sk_transitions **out);
void sk_transitions_free(sk_transitions *t);

/* The fold of a row or of a block; `folds` for SK_ALWAYS. */
size_t sk_transitions_fold(const sk_transitions *t, size_t row);

/* Whether anything changes in the step; steps at rest say nothing about typical sizes. */
bool sk_transitions_moves(const sk_transitions *t, size_t row);

/* A rule with one row for each transition begin .. end-1 and next - y as targets.
 *
 *     f0 and a0 NULL: the left point, h g(y).
 *     else the trapezoid of E[g(x_t) | y]: h/2 g(y) + h/2 mean of g over the 2d sigma points of N(y + h f0, h a0),
 *     f0 (rows x d) and a0 (rows x d x d) at the left ends.
 *
 * Near a bound the points are skewed (bounds.h): they stay inside with the same mean and covariance. Nodes of a row
 * stand together, the left end first; inputs stand behind the states, those of the end at the points of the end. */
sock_status sk_rule_conditional(sock_context *ctx, const sk_transitions *t, size_t begin, size_t end, const double *f0,
                                const double *a0, sk_rule **out);

/* A rule of the trapezoid over the two ends of each transition: nodes y_0, next_0, y_1, ... */
sock_status sk_rule_ends(sock_context *ctx, const sk_transitions *t, size_t begin, size_t end, sk_rule **out);

#endif
