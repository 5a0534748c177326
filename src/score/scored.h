/* scored.h - what the scores of first order are made of: sums over the steps of a test set, which may come chunk by
 * chunk; and the scores of such sums. */
#ifndef SK_SCORED_H
#define SK_SCORED_H

#include "score/score.h"

typedef struct sk_scored {
    size_t d;
    char **state;  /* d names, borrowed */
    bool *resting; /* d: the state stays the same within every trajectory */
    sk_loglik euler, euler_truth, moments, moments_truth, constant;
} sk_scored;

/* resting (d): false where a state of these data changes; else it stays as it was. */
void sk_find_resting(const sock_data *data, bool *resting);

/* All likelihoods but that of constants, of these data alone. truth: NULL: there is none. */
sock_status sk_step_sums(sock_context *ctx, const sock_model *model, const sock_data *test, const sock_model *truth,
                         double delta, sk_scored *out);

/* Sums as values, with the reasons where there are none; scores that a stream does not have; the first score that was
 * asked for and failed, as the message of a caveat. */
void sk_tell_likelihoods(const sock_model *model, const sock_model *truth, const sk_scored *test, sock_scores *out);
void sk_tell_errors(const sock_model *model, const sock_model *truth, const sk_field_errors *e, sock_scores *out);
void sk_tell_stream(sock_scores *out);
sock_status sk_scores_verdict(sock_context *ctx, const sock_scores *s);

/* ---- constlik.c: constants by parts of the data, in three passes: rates, a, the likelihood ---- */

typedef struct sk_constants {
    size_t d, intervals;
    double time, *rate, *a, *space; /* rate: d, a: d x d; space: d + d x d */
} sk_constants;

sock_status sk_constants_new(sock_context *ctx, size_t d, sk_constants *out);
void sk_constants_clear(sk_constants *c);
void sk_constants_add(const sock_data *data, sk_constants *c);        /* first pass: steps, time and way */
void sk_constants_mean(sk_constants *c);                              /* after it */
void sk_constants_add_square(const sock_data *data, sk_constants *c); /* second pass: a */
sock_status sk_constants_likelihood(sock_context *ctx, const sock_data *data, double delta, const sk_constants *c,
                                    sk_loglik *out); /* third pass: += */

#endif
