/* folds.h - from data to the rows of the search: who is held out when, in which units, with which jitter. */
#ifndef SK_FOLDS_H
#define SK_FOLDS_H

#include "occupation/view.h"
#include "tune/tune.h"

typedef struct sk_row_sets {
    sk_transitions *all;
    sk_transitions *search; /* a part of them, or all */
    sk_transitions *screen; /* a part of that, or the same */
    sk_units *units;        /* of the rows, see scaling.h; NULL: those of the data */
    sk_view_spec look;      /* how they are looked at: jitter, density; no model yet */
    sk_bounds *bounds;      /* of the states, in the units of the rows; NULL: none */
    double *grain;          /* d: the smallest change of each coordinate that is counted or rounded, else 0 */
    double rest;            /* share of steps at rest in such a coordinate, the largest */
    double rounding;        /* variance that rounding to it makes of a step that moves, the largest share */
} sk_row_sets;

/* All steps, by trajectory in folds (or, with a validation set, its steps held out and the data's always in). One
 * trajectory alone is cut into pieces, and the step between two of them is left out. Parts are whole trajectories (or
 * pieces) with about search_rows and screen_rows steps; the same rows where there are not many more. */
sock_status sk_row_sets_new(sock_context *ctx, const sk_tune_spec *spec, size_t search_rows, size_t screen_rows,
                            sk_row_sets *out);

/* Bounds, jitter and density from rows that are in the units of r. */
sock_status sk_row_sets_look(sock_context *ctx, const sk_tune_spec *spec, sk_transitions *t, sk_row_sets *r);

/* About so many rows of all: whole clusters in their turns, or windows of each where these do not serve and windows are
 * wanted. *part: all, where there are not many more or nothing serves. */
sock_status sk_part_of(sock_context *ctx, sk_transitions *all, const size_t *turn, size_t rows, bool windows,
                       sk_transitions **part);
void sk_row_sets_clear(sk_row_sets *rows);

/* Whether coordinate k has one rate of change in all rows: the time itself, whose steps recur without being rounded. */
bool sk_is_clock(const sk_transitions *t, size_t k);

#endif
