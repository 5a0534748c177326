/* bisde.h - BISDE as a function of steps and a library, for the table of methods and for tests. */
#ifndef CMP_BISDE_H
#define CMP_BISDE_H

#include "compare/expansion.h"
#include "compare/msbl.h"

typedef struct cmp_bisde_options {
    cmp_msbl_options msbl;
    double threshold; /* a coefficient smaller than this is 0 */
} cmp_bisde_options;

/* Fills the coefficients of the expansion (whose library it uses). *passes: of all regressions together; *capped: how
 * many of them ended at the limit. */
sock_status cmp_bisde(sock_context *ctx, const cmp_steps *steps, const cmp_bisde_options *options,
                      cmp_expansion *expansion, size_t *passes, size_t *capped);

#endif
