/* structureclaims.h - the claims of the study of what people know of their system, part by part: a part is a table that
 * structurestudy.c lists. */
#ifndef EXP_STRUCTURECLAIMS_H
#define EXP_STRUCTURECLAIMS_H

#include "experiments/claimrows.h"
#include "systems/systems.h"

typedef struct structure_claim {
    const char *name;
    size_t seeds; /* when nothing is said */
    int quick;    /* in the quick form too */
    sock_status (*measure)(sock_context *ctx, const struct structure_claim *claim, const claim_teller *to);
} structure_claim;

/* A known system with its data and truth, and the model that is fitted to them (none at first). test: trajectories of
 * the test set; 0: as many as usual. To be cleared in any case. */
typedef struct structure_sets {
    sys_instance *instance;
    sock_data *train, *test;
    sock_model *truth, *model;
} structure_sets;

sock_status structure_make(sock_context *ctx, const char *name, uint64_t seed, size_t test, structure_sets *out);
void structure_clear(structure_sets *sets);

double structure_value(const sock_value *value); /* NaN where there is none */

/* Boundaries, inputs, inertia; a claim without a name ends the table. */
extern const structure_claim structure_bounds[];
extern const structure_claim structure_inputs[];
extern const structure_claim structure_second[];

#endif
