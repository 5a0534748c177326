/* wild.h - values and steps that do not belong to the rest of the data: codes for missing values, single outliers,
 * jumps. Found from the data alone, before any model, so that one rule serves every estimator; nothing is removed here.
 *
 * A step is wild only where three things meet:
 *   1. it is far from the steps around it in time and from those that begin near the same state, in robust deviations
 *      of each: bursts of noise, and noise that grows with the state, have company in one or the other;
 *   2. there is a gap: the steps below it do not lead up to it. With tail index alpha (Hill, of the steps below)
 *      k ln(z_k / z_k+1) is exponential of mean 1/alpha for any heavy tail; wild steps are far beyond that;
 *   3. it is not what the state always does there: a threshold, a reset, a second well that is reached in one step; nor
 * do such steps come in bursts. */
#ifndef SK_WILD_H
#define SK_WILD_H

#include "data.h"

#define SK_WILD_CUT 5.0           /* robust deviations, the least that is looked at; what decides is the gap */
#define SK_WILD_MOST 0.03         /* of the steps: more are no exception. An outlier in 1 % of the points spoils 2 % */
#define SK_WILD_LEAST_STEPS 60    /* with fewer nothing is known of the rest */
#define SK_WILD_BODY 3.0          /* deviations up to which a step belongs to the rest whatever the rest is */
#define SK_WILD_CHANCE 1e-4       /* that one of a data set with heavy tails is called wild */
#define SK_WILD_TAIL 50           /* steps below that tell the tail index, */
#define SK_WILD_TAIL_SHARE 0.005  /* or this share of all */
#define SK_WILD_WINDOW 16         /* steps to each side in time */
#define SK_WILD_ALONE 8           /* with fewer others in its trajectory a step is compared by its state alone */
#define SK_WILD_NEIGHBOURS 100    /* steps that begin near the same state, at most a quarter of all */
#define SK_WILD_SAMPLE 10000      /* steps among which neighbours are looked for */
#define SK_WILD_NUMBERS 100000    /* or so many numbers: in many dimensions, where all are far, fewer do */
#define SK_WILD_SAMPLE_LEAST 1000 /* and never fewer than this */
#define SK_WILD_RETURN 10         /* points of an excursion that ends where it began */
#define SK_WILD_BURST 5           /* steps from one wild step to the next that make a burst */
enum { SK_WILD_TOLD = 20 };       /* wild steps that are named, the largest first */

typedef struct sk_wild_step {
    size_t point; /* where it begins */
    size_t state; /* the coordinate that is farthest out */
    double size;  /* in deviations of its surroundings */
} sk_wild_step;

typedef struct sk_wild {
    size_t count;       /* wild steps */
    size_t left;        /* with those that lie between two of them in an excursion: what a fit should leave out */
    bool *step;         /* points: whether the step that begins there is one of the latter; NULL where there is none */
    size_t named;       /* at most SK_WILD_TOLD */
    sk_wild_step *name; /* named, the largest first */
} sk_wild;

sock_status sk_wild_find(sock_context *ctx, const sock_data *data, sk_wild *out);
void sk_wild_clear(sk_wild *wild);

/* How many of the `far` largest of count sizes (falling) are beyond a gap that the tail below does not explain. */
size_t sk_wild_gap(size_t count, const double *size, size_t far);

/* Whether so many wild steps among k neighbours are more than a share of all steps makes likely: then it is the state
 * that makes them. */
bool sk_wild_is_local(size_t among, size_t k, double share);

/* Whether so many of the events follow each other closely that chance does not explain it; share: events in all steps.
 */
bool sk_wild_in_bursts(size_t close, size_t events, double share);

/* ---- Codes (codes.c) ---- */

#define SK_CODE_REPEATS 3   /* a value that stands for a missing one recurs */
#define SK_CODE_VALUES 10   /* among others that are many, */
#define SK_CODE_RANGES 1.0  /* beyond a gap of so many ranges of the others */
#define SK_CODE_QUARTILES 5 /* and so many interquartile ranges */
enum { SK_CODES = 8 };      /* that are named of each coordinate */

typedef struct sk_code {
    size_t state;
    double value;
    size_t count;
} sk_code;

typedef struct sk_code_list {
    size_t count;
    sk_code *code;
} sk_code_list;

/* Values that look like codes for missing ones: an exact number that recurs at one end, far from all others. */
sock_status sk_codes_find(sock_context *ctx, const sock_data *data, sk_code_list *out);

#endif
