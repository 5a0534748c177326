/* gedmd.h - gEDMD as a function of steps and a library, for the table of methods and for tests. */
#ifndef CMP_GEDMD_H
#define CMP_GEDMD_H

#include "compare/expansion.h"

typedef struct cmp_gedmd_options {
    bool commutator;  /* a from L(x_k x_l) - f_k x_l - f_l x_k; else r r' / h is regressed itself */
    bool corrected;   /* r = dx - h f; else r = dx */
    bool by_qr;       /* least squares by QR, which needs full rank; else by SVD */
    double ridge;     /* penalty on the coefficients, in units of the mean square of a column's norm; 0: none */
    double threshold; /* coefficients below it are taken out and the rest is fitted again, 10 times; 0: none */
} cmp_gedmd_options;

/* Fills the coefficients of the expansion (whose library it uses; in commutator mode it must hold every x_k and
 * x_k x_l). *rank: of the library at the steps. */
sock_status cmp_gedmd(sock_context *ctx, const cmp_steps *steps, const cmp_gedmd_options *options,
                      cmp_expansion *expansion, size_t *rank);

#endif
