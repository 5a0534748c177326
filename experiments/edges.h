/* edges.h - the claims of the study of edges, and what a claim tells. */
#ifndef EXP_EDGES_H
#define EXP_EDGES_H

#include "experiments/claimrows.h"

typedef struct edge edge;

typedef enum edge_size {
    EDGE_USUAL,
    EDGE_LARGE, /* means nothing at a small size: not in --quick */
    EDGE_SLOW   /* nor without --full or its name */
} edge_size;

typedef struct edge_claim {
    const char *name;
    size_t seeds; /* when nothing is said */
    edge_size size;
    sock_status (*measure)(edge *e);
} edge_claim;

/* One claim on one seed. */
struct edge {
    sock_context *ctx;
    const exp_settings *settings;
    const edge_claim *claim;
    uint64_t seed;
    json_t *rows; /* of this claim and seed */
};

/* In order; and their names, NULL at the end. */
extern const edge_claim edge_claims[];
extern const size_t edge_claim_count;
extern const char *const edge_claim_names[];

/* The systems of the claim "long", whose errors are followed over their lengths; NULL at the end. */
extern const char *const edge_long_systems[];

/* edgestream.c */
sock_status edge_measure_sample(edge *e);

/* A number of one case; goal: at most this, of what `of` says. */
sock_status edge_tell(edge *e, const char *name, const char *measure, double value, double goal, const char *of);

#endif
