/* smalleigen.h - eigendecompositions of symmetric matrices of few rows. */
#ifndef SK_SMALLEIGEN_H
#define SK_SMALLEIGEN_H

#include <stdbool.h>
#include <stddef.h>

enum { SK_SMALL_EIGEN = 48 };

/* A (n x n, n <= SK_SMALL_EIGEN, both triangles, entries about 1 in size): its rows become the eigenvectors of the
 * ascending values. False where that does not end; A is spoilt then. */
bool sk_small_eigen(size_t n, double *a, double *values);

#endif
