/* wild.h - values and steps that do not belong to the rest of the data: codes for missing values, single outliers,
 * jumps, gaps in time. Found from the data alone, before any model, so that one rule serves every estimator; nothing is
 * removed here.
 *
 * A step is wild only where three things meet:
 *   1. it is far from the steps around it in time and from those that begin near the same state, in robust deviations
 *      of each: bursts of noise, and noise that grows with the state, have company in one or the other;
 *   2. there is a gap: the steps below it do not lead up to it. With tail index alpha (Hill, of the steps below)
 *      k ln(z_k / z_k+1) is exponential of mean 1/alpha for any heavy tail; wild steps are far beyond that;
 *   3. it is not what the state always does there: a threshold, a reset, a second well that is reached in one step; nor
 * do such steps come in bursts.
 *
 * A step across a gap in time, far longer than the rest, tells next to nothing of what happened in there, and would
 * weigh in a fit as the time it took: a few are left out, too. */
#ifndef SK_WILD_H
#define SK_WILD_H

#include "data.h"

typedef struct sk_wild_step {
    size_t point; /* where it begins */
    size_t state; /* the coordinate that is farthest out */
    double size;  /* in deviations of its surroundings */
} sk_wild_step;

typedef struct sk_wild {
    size_t count;       /* wild steps */
    size_t gaps;        /* steps that are far longer than the rest */
    size_t left;        /* both, and those that lie between wild steps in an excursion: what a fit should leave out */
    bool *step;         /* points: whether the step that begins there is one of the last; NULL where there is none */
    size_t named;       /* at most SK_WILD_TOLD */
    sk_wild_step *name; /* named, the largest first */
} sk_wild;

sock_status sk_wild_find(sock_context *ctx, const sock_data *data, sk_wild *out);
void sk_wild_clear(sk_wild *wild);

/* How many of the `far` largest of count sizes (falling) are beyond a gap that the tail below does not explain. back
 * (far, or NULL): whether so many largest steps all go there and back, which others do once in count. */
size_t sk_wild_gap(size_t count, const double *size, size_t far, const bool *back);

/* Whether so many wild steps among k neighbours are more than a share of all steps makes likely: then it is the state
 * that makes them. */
bool sk_wild_is_local(size_t among, size_t k, double share);

/* Whether so many of the events follow each other closely that chance does not explain it; share: events in all steps.
 */
bool sk_wild_in_bursts(size_t close, size_t events, double share);

/* ---- Codes (codes.c) ---- */

typedef struct sk_code {
    size_t state; /* or input: those stand behind the states */
    double value;
    size_t count;
} sk_code;

typedef struct sk_code_list {
    size_t count;
    sk_code *code;
} sk_code_list;

/* Values that look like codes for missing ones: an exact number that recurs at one end, far from all others; 0 is none
 * of an input. */
const char *sk_code_column(const sock_data *data, const sk_code *code);
sock_status sk_codes_find(sock_context *ctx, const sock_data *data, sk_code_list *out);

#endif
