/* spread.h - what is not known of a fitted model: a spread is terms with factors.
 *
 *     f   within   the law of the weights of each drift term, in proportion to its share; of candidates that have a law
 *                  of their own, this with pi, and the terms of f have the rest
 *         between  how far the candidates of the search are from f, each with its weight pi
 *     a   within   the law of V of each diffusion term; between: how far the terms, each as a model of its own, are
 *                  from their average
 *
 *     peers        whole models, each with a spread of its own and a weight: what the data were fitted by under another
 *                  law of the steps (noise or none, followed or not), where they do not tell which it is. Everything
 *                  above then counts with the weight that the peers leave
 *
 * Bands (bands.c) and draws of whole models (draw.c) are made of it. */
#ifndef SK_SPREAD_H
#define SK_SPREAD_H

#include "diffusion/diffusion.h"
#include "drift/drift.h"
#include "la/factor.h"

enum { SK_MOST_PEERS = 8 };

typedef struct sk_spread {
    size_t d, in, drifts, others, diffusions; /* in: coordinates of a point, states and inputs */
    double *share;           /* drifts: of each drift term of the model, which is its share times a drift of its own;
                                0: a term that is certain (v of order 2, clocks), and a part of every candidate */
    double *pi;              /* drifts + others: weights of the terms and the others as candidates, sum 1 */
    sk_factor **drift;       /* drifts: law of the weights of that own drift */
    sk_drift_term **other;   /* candidates that are not in f */
    sk_factor **other_law;   /* others: law of the weights of each, where it counts too; NULL: those of f alone count */
    double *diffusion_share; /* diffusions: of the first terms of a; what comes after them is the floor */
    sk_factor **diffusion;   /* diffusions: law of V / sqrt(share); NULL: too many numbers, none */
    double *lower, *upper;   /* in: range of the data */
    double *sup;             /* SK_SUP_DRAWS, rising: the largest |draw - f| at the data, in standard deviations */
    size_t peers;            /* at most SK_MOST_PEERS */
    sock_model **peer;       /* each of the same states, with a spread that has no peers */
    double *weight;          /* peers: of each, above 0; what is left of 1 is the weight of the model itself */
} sk_spread;

/* The weight of the model itself among its peers: 1 where there are none. */
double sk_spread_alone(const sk_spread *spread);

/* The model that a uniform number makes a draw of: the model itself, or one of its peers. */
const sock_model *sk_spread_who(const sock_model *model, double u);

/* A model with a spread becomes a peer; it belongs to the spread then. The weights of all add up to at most 1. */
sock_status sk_spread_add_peer(sock_context *ctx, sk_spread *spread, double weight, sock_model *peer);

/* What the terms of f have of within: 1 less the pi of candidates with laws of their own. */
double sk_spread_own(const sk_spread *spread);

/* What the numbers of term i are multiplied by to be its part of f: its share, and 1 where it is certain or there is no
 * spread (NULL). */
double sk_spread_share(const sk_spread *spread, size_t i);

/* The law of the weights of term c of f, or of candidate c - drifts; NULL: none. And what two uniform numbers make a
 * draw of: candidate *j, and the law *c that it is moved by. */
const sk_factor *sk_spread_law(const sk_spread *spread, size_t c);
void sk_spread_pick(const sk_spread *spread, const double *u, size_t *j, size_t *c);

sock_status sk_spread_new(sock_context *ctx, size_t d, size_t in, size_t drifts, size_t others, size_t diffusions,
                          sk_spread **out);
void sk_spread_free(sk_spread *spread);

/* For a term of f that was added behind the others: it is certain, and a part of every candidate. */
sock_status sk_spread_add_certain(sock_context *ctx, sk_spread *spread);

/* The states and inputs of a model with a spread in other units: x becomes centre + scale x (`in` each). The terms of
 * the model are not touched. */
sock_status sk_spread_rescale(sock_context *ctx, const double *centre, const double *scale, const sock_model *model);

/* States without noise of their own (quiet: d) have none in any draw: V does not move there. */
void sk_spread_silence(const sock_model *model, const bool *quiet);

#endif
