/* ratechoice.h - which monomials are in the rates of a diffusion, by held-out score: forward, the one that gains most
 * while that is enough; backward, the one that costs least while that is next to nothing. */
#ifndef SK_RATECHOICE_H
#define SK_RATECHOICE_H

#include "base/base.h"

typedef struct sk_choice_of_rates {
    size_t count;
    size_t *feature; /* rising; room for all */
    double score;
} sk_choice_of_rates;

/* The held-out score of a set; -infinity where it has none. */
typedef sock_status (*sk_rates_score_fn)(void *user, const sk_choice_of_rates *of, double *score);

/* chosen->feature: room for p; at least one is chosen. */
sock_status sk_choose_rates(sock_context *ctx, size_t p, sk_rates_score_fn score, void *user,
                            sk_choice_of_rates *chosen);

#endif
