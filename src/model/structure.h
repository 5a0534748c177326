/* structure.h - what is known of the state, whatever the fields are: its names, bounds, inputs, order, the noise of its
 * measurement. A model owns one. By default nothing is known but the names. */
#ifndef SK_STRUCTURE_H
#define SK_STRUCTURE_H

#include "data/data.h"

typedef struct sk_input {
    char *name;
    sk_hold hold;
    double usual; /* its median in the data of the fit: where figures hold it */
} sk_input;

/* Bounds of a state where everything comes to rest. */
enum { SK_ABSORBS_LOWER = 1, SK_ABSORBS_UPPER = 2 };

typedef struct sk_structure {
    size_t d;
    char **state;          /* d names */
    double *lower, *upper; /* d bounds, infinite where there is none; NULL: none at all */
    unsigned *absorbing;   /* d: bounds that are never left again, SK_ABSORBS_...; NULL: none */
    size_t inputs;         /* known functions of time beside the state */
    sk_input *input;       /* of that many; NULL when there are none */
    int order;             /* 1: dx = f dt + ...; 2: the velocity has the equation */
    double *noise;         /* R, d x d: covariance of the measurement noise; NULL: none */
} sk_structure;

/* Names are copied; NULL: x0, x1, .... */
sock_status sk_structure_new(sock_context *ctx, size_t d, const char *const *names, sk_structure **out);
sock_status sk_structure_copy(sock_context *ctx, const sk_structure *structure, sk_structure **out);
void sk_structure_free(sk_structure *structure);

/* Known inputs, in place of none; names are copied (NULL: u0, u1, ...), usual may be NULL: 0. */
sock_status sk_structure_set_inputs(sock_context *ctx, sk_structure *structure, size_t inputs, const char *const *names,
                                    const sk_hold *hold, const double *usual);

/* The same in every name and number. No bounds and bounds that are all infinite are the same. */
bool sk_structure_equal(const sk_structure *one, const sk_structure *other);

/* Whether x (d) is on a bound that is never left again. */
bool sk_structure_absorbs(const sk_structure *structure, const double *x);

/* Some state has a bound. */
bool sk_structure_is_bounded(const sk_structure *structure);

/* Nothing but names: what a model file of format version 1 can hold. */
bool sk_structure_is_plain(const sk_structure *structure);

#endif
