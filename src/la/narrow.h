/* narrow.h - products with matrices of few columns.
 *
 * BLAS wants its rows in one piece and copies both sides into an order of its own; for a dozen columns that takes
 * longer than the product. Columns come in whole vectors, of SK_NARROW numbers: those beyond the last column are 0.
 * Every sum is made in the same order on every processor. */
#ifndef SK_NARROW_H
#define SK_NARROW_H

#include <stddef.h>

enum { SK_NARROW = 4 };

/* Columns with those that fill the last vector. */
size_t sk_narrow_wide(size_t columns);

/* A: m rows of k numbers, each anywhere; wide: columns of the others. */
void sk_narrow_rows(size_t m, size_t k, const double *const *a, size_t wide, const double *b, double *c); /* C = A B */
void sk_narrow_add(size_t m, size_t k, const double *const *a, size_t wide, const double *t, double *c); /* C += A' T */

/* For each T of `count` (d x wide): out (d x d, lower triangle) = T T';  T := M T, M symmetric (d x d); space: d x
 * wide.
 */
void sk_narrow_squares(size_t count, size_t d, size_t wide, const double *t, double *out);
void sk_narrow_turn(size_t count, size_t d, size_t wide, const double *m, double *t, double *space);

#endif
