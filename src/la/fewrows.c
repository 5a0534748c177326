/* fewrows.c - products with one to four rows on the left, read as they lie.
 *
 * BLAS copies the right-hand side into an order of its own before it multiplies. That pays for many rows; for three it
 * takes several times as long as the product, and the convex problems make such products by the hundred thousand.
 *
 *   A B, A' B: B is read once, FOUR of its rows at a time, each added to all rows of C
 *   A B':      PAIR rows of B at a time, their scalar products with all rows of A in LANES sums each
 *
 * The sums are made in the same order on every processor: vectors are LANES wide in each of the compiled forms, and
 * nothing is fused. */
#include "fewrows.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
enum { LANES = 8, FOUR = 4, PAIR = 2, MOST = SK_FEW_ROWS };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Not handed over by value: how that is done depends on the processor. */
INLINE void load(const double *x, lanes *v) { memcpy(v, x, sizeof *v); }
INLINE void store(const lanes *v, double *x) { memcpy(x, v, sizeof *v); }

/* C += the columns l .. l + deep - 1 of A times those rows of B. */
INLINE void add_rows(size_t m, size_t deep, const sk_few *f, size_t l)
{
    const double *b = f->b + l * f->ldb;
    double weight[MOST][FOUR];
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < deep; k++)
            weight[i][k] = f->alpha * (f->turned_a ? f->a[(l + k) * f->lda + i] : f->a[i * f->lda + l + k]);
    size_t j = 0;
    for (; j + LANES <= f->n; j += LANES) {
        lanes row[FOUR] = {{0}}, sum = {0};
        for (size_t k = 0; k < deep; k++) load(b + k * f->ldb + j, row + k);
        for (size_t i = 0; i < m; i++) {
            load(f->c + i * f->ldc + j, &sum);
            for (size_t k = 0; k < deep; k++) sum += row[k] * weight[i][k];
            store(&sum, f->c + i * f->ldc + j);
        }
    }
    for (; j < f->n; j++)
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < deep; k++) f->c[i * f->ldc + j] += b[k * f->ldb + j] * weight[i][k];
}

INLINE void plain(size_t m, const sk_few *f)
{
    size_t l = 0;
    for (size_t i = 0; i < m && !f->add; i++) memset(f->c + i * f->ldc, 0, f->n * sizeof *f->c);
    for (; l + FOUR <= f->k; l += FOUR) add_rows(m, FOUR, f, l);
    for (; l < f->k; l++) add_rows(m, 1, f, l);
}

INLINE double total(const lanes *v)
{
    const lanes x = *v;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* Columns j .. j + wide - 1 of C. */
INLINE void dots(size_t m, size_t wide, const sk_few *f, size_t j)
{
    const double *b = f->b + j * f->ldb;
    lanes sum[MOST][PAIR] = {{{0}}};
    double rest[MOST][PAIR] = {{0}};
    size_t l = 0;
    for (; l + LANES <= f->k; l += LANES) {
        lanes right[PAIR] = {{0}}, left = {0};
        for (size_t k = 0; k < wide; k++) load(b + k * f->ldb + l, right + k);
        for (size_t i = 0; i < m; i++) {
            load(f->a + i * f->lda + l, &left);
            for (size_t k = 0; k < wide; k++) sum[i][k] += left * right[k];
        }
    }
    for (; l < f->k; l++)
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < wide; k++) rest[i][k] += f->a[i * f->lda + l] * b[k * f->ldb + l];
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < wide; k++) {
            double *c = f->c + i * f->ldc + j + k;
            *c = f->alpha * (total(&sum[i][k]) + rest[i][k]) + (f->add ? *c : 0);
        }
}

INLINE void turned(size_t m, const sk_few *f)
{
    size_t j = 0;
    for (; j + PAIR <= f->n; j += PAIR) dots(m, PAIR, f, j);
    for (; j < f->n; j++) dots(m, 1, f, j);
}

/* With the number of rows known to the compiler, so that sums stay in registers. */
INLINE void multiply(const sk_few *f)
{
    switch (f->m) {
    case 1: f->turned_b ? turned(1, f) : plain(1, f); break;
    case 2: f->turned_b ? turned(2, f) : plain(2, f); break;
    case 3: f->turned_b ? turned(3, f) : plain(3, f); break;
    default: f->turned_b ? turned(MOST, f) : plain(MOST, f);
    }
}

static void multiply_plain(const sk_few *f) { multiply(f); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(const sk_few *f) { multiply(f); }
__attribute__((target("avx512f"))) static void multiply_avx512(const sk_few *f) { multiply(f); }
#endif

void sk_few_rows(const sk_few *f)
{
    void (*widest)(const sk_few *) = multiply_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        widest = multiply_avx512;
    else if (__builtin_cpu_supports("avx2"))
        widest = multiply_avx2;
#endif
    widest(f);
}
