/* structureclaims.h - the claims of the study of what people know of their system, part by part: a part is a table that
 * structurestudy.c lists. */
#ifndef EXP_STRUCTURECLAIMS_H
#define EXP_STRUCTURECLAIMS_H

#include "experiments/claimrows.h"

typedef struct structure_claim {
    const char *name;
    size_t seeds; /* when nothing is said */
    int quick;    /* in the quick form too */
    sock_status (*measure)(sock_context *ctx, const struct structure_claim *claim, const claim_teller *to);
} structure_claim;

/* Boundaries, inputs; a claim without a name ends the table. */
extern const structure_claim structure_bounds[];
extern const structure_claim structure_inputs[];

#endif
