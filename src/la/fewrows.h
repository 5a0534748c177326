/* fewrows.h - C (m x n) = alpha A B, alpha A' B or alpha A B', or that more, for an A (or A') of few rows. */
#ifndef SK_FEWROWS_H
#define SK_FEWROWS_H

#include <stdbool.h>
#include <stddef.h>

enum { SK_FEW_ROWS = 4 };

typedef struct sk_few {
    size_t m, n, k; /* m from 1 to SK_FEW_ROWS */
    bool turned_a;  /* A is k x m, not m x k, */
    bool turned_b;  /* B n x k, not k x n; not both */
    bool add;       /* to C */
    double alpha;
    const double *a;
    size_t lda;
    const double *b;
    size_t ldb;
    double *c;
    size_t ldc;
} sk_few;

void sk_few_rows(const sk_few *f);

#endif
