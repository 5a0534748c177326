/* msbl.h - sparse Bayesian regression by expectation-maximisation with a learned noise level (M-SBL; Wipf and Rao
 * 2007), in the form that BISDE uses. Nothing here knows of SDEs. */
#ifndef CMP_MSBL_H
#define CMP_MSBL_H

#include "base/base.h"

typedef struct cmp_msbl_options {
    double gamma; /* prior variance of every coefficient at the start, > 0 */
    double prune; /* a column whose variance is at most this is dropped */
    double eps;   /* stop when no coefficient moves more, in a pass that drops none */
    size_t passes;
} cmp_msbl_options;

/* A matrix made ready for any number of regressions: Phi = Q R once. */
typedef struct cmp_msbl cmp_msbl;
sock_status cmp_msbl_new(sock_context *ctx, size_t rows, size_t columns, const double *phi, cmp_msbl **out);
void cmp_msbl_free(cmp_msbl *problem);

typedef struct cmp_msbl_report {
    size_t passes; /* done */
    bool converged;
} cmp_msbl_report;

/* w (columns): the posterior mean for the target y (rows); zeros where columns were dropped, all of them if need be.
 * report may be NULL. */
sock_status cmp_msbl_solve(sock_context *ctx, cmp_msbl *problem, const double *y, const cmp_msbl_options *options,
                           double *w, cmp_msbl_report *report);

#endif
