/* binned.h - the evidence under the fields: moments of the data's steps in bins of the state, beside what the model
 * expects of these same steps.
 *
 * Of a step y -> y' of length h the model gives the law of y' given the observations up to y: mean m' and variance S (a
 * filter, score/filter.h: measurement noise and long steps are in them). In a bin of the state's mean at the start,
 * with H the sum of the h of its n steps,
 *
 *     raw f = sum (y' - y) / H          model's = sum (m' - y) / H
 *     raw a = sum (y' - y - h raw f)^2 / H      model's = sum (S + (m' - y - h raw f)^2) / H
 *
 * Neither uses what lies ahead of a step, so both have the same expectation when the model is right, however long
 * steps are and however much noise there is. What misses is put at the fields themselves, as a shift that is constant
 * in the bin: a shift of f moves the mean of an end by g = (e^(Jh) - 1) / J, one of a its variance by (e^(2Jh) - 1) /
 * 2J, J the slope of f in the state; with noise the filter carries it on by c from step to step (1 / (1 - c), 1 / (1 -
 * c^2)):
 *
 *     f + (mean of y' - m') / g        a + (mean of (y' - m')^2 - S) / g
 *
 * For short steps without noise that is the raw moment, but for the curvature within the bin.
 *
 * Of a model with inputs the fields are shown at the medians of these. A bin in which an input never was as low, or as
 * high, as its median has no shift: NaN. */
#ifndef SK_BINNED_H
#define SK_BINNED_H

#include "data/data.h"
#include "model/model.h"

typedef struct sk_bin {
    size_t n;
    double x;                /* mean of the state at the starts */
    double f, f_se, a, a_se; /* moments as above, with standard errors; a: NaN without a diffusion */
    double raw_f, model_f, raw_a, model_a, raw_f_se, raw_a_se;
} sk_bin;

/* Bins of one state over steps of `every` intervals. */
typedef struct sk_binned {
    size_t state, every, steps, bins;
    double h;    /* mean length of a step */
    double turn; /* mean of |J| over the bins, times h */
    sk_bin *bin;
} sk_binned;

/* Boxes of the plane of two states, over steps of one interval. */
typedef struct sk_boxed {
    size_t pair[2], steps, boxes;
    double h;
    double *centre;   /* boxes x d: means of the starts */
    sk_bin *bin;      /* boxes x 2: of the one state and of the other */
    double *together; /* boxes: correlation of what is missed of the two f */
} sk_boxed;

typedef struct sk_binned_all {
    size_t count;
    sk_binned *of; /* state by state, every 1, 2, 4, ... for each */
    size_t planes;
    sk_boxed *plane; /* pair by pair */
} sk_binned_all;

/* Points (count x d) in boxes of a plane: place[i], before SIZE_MAX for a point that is in none, becomes the number of
 * its box. order: room for count. Answers how many boxes there are. */
size_t sk_boxes_place(size_t count, size_t d, const double *x, const size_t pair[2], size_t *order, size_t *place);

/* skip: points, steps that begin there are left out; NULL: none. states: of the first so many. */
sock_status sk_binned_make(sock_context *ctx, const sock_model *model, const sock_data *data, const bool *skip,
                           size_t states, sk_binned_all *out);
void sk_binned_clear(sk_binned_all *all);

#endif
