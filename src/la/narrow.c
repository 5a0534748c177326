/* narrow.c - see narrow.h. A tile of C, some rows by one vector or two, stays in registers while the sum runs over one
 * row of B (or of T) after the other; how many rows there are is a matter of registers, not of sums. */
#include "narrow.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
enum { LANES = SK_NARROW, TALL = 4, PAIR = 2 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Vector by vector: what is copied together does not stay in registers. */
INLINE void load(const double *x, lanes *v) { memcpy(v, x, sizeof *v); }
INLINE void store(const lanes *v, double *x) { memcpy(x, v, sizeof *v); }

/* What is multiplied; turned: C += A' T, else C = A B. */
typedef struct product {
    size_t rows, count; /* of C; of what is summed over */
    bool turned;
    const double *const *a;
    size_t wide;
    const double *b;
    double *c;
} product;

/* Many small matrices. */
typedef struct small {
    size_t count, d, wide;
    const double *m; /* NULL: their squares are wanted */
    const double *t;
    double *out, *space;
} small;

size_t sk_narrow_wide(size_t columns) { return (columns + LANES - 1) / LANES * LANES; }

/* ---- Rows that lie anywhere ---- */

/* Rows first .. first + tall - 1 of C, `across` vectors from column j on. */
INLINE void tile(size_t tall, size_t across, bool turned, const product *f, size_t first, size_t j)
{
    lanes sum[TALL][PAIR] = {{{0}}}, row[PAIR] = {{0}};
    double *c = f->c + first * f->wide + j;
    for (size_t r = 0; turned && r < tall; r++)
        for (size_t v = 0; v < across; v++) load(c + r * f->wide + v * LANES, &sum[r][v]);
    for (size_t l = 0; l < f->count; l++) {
        for (size_t v = 0; v < across; v++) load(f->b + l * f->wide + j + v * LANES, &row[v]);
        for (size_t r = 0; r < tall; r++)
            for (size_t v = 0; v < across; v++)
                sum[r][v] += row[v] * (turned ? f->a[l][first + r] : f->a[first + r][l]);
    }
    for (size_t r = 0; r < tall; r++)
        for (size_t v = 0; v < across; v++) store(&sum[r][v], c + r * f->wide + v * LANES);
}

INLINE void columns(size_t across, bool turned, const product *f, size_t j)
{
    size_t first = 0;
    for (; first + TALL <= f->rows; first += TALL) tile(TALL, across, turned, f, first, j);
    for (; first < f->rows; first++) tile(1, across, turned, f, first, j);
}

INLINE void multiply(bool turned, const product *f)
{
    size_t j = 0;
    for (; j + PAIR * LANES <= f->wide; j += PAIR * LANES) columns(PAIR, turned, f, j);
    if (j < f->wide) columns(1, turned, f, j);
}

/* ---- Many small matrices ---- */

INLINE double total(const lanes *x) { return ((*x)[0] + (*x)[2]) + ((*x)[1] + (*x)[3]); }

INLINE double dot(size_t wide, const double *x, const double *y)
{
    lanes sum = {0}, one, other;
    for (size_t j = 0; j < wide; j += LANES) {
        load(x + j, &one);
        load(y + j, &other);
        sum += one * other;
    }
    return total(&sum);
}

INLINE void squares(size_t d, const small *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l <= k; l++)
                f->out[(i * d + k) * d + l] = dot(f->wide, f->t + (i * d + k) * f->wide, f->t + (i * d + l) * f->wide);
}

/* y = sum of weight[l] times row l of x. */
INLINE void combine(size_t d, size_t wide, const double *weight, const double *x, double *y)
{
    for (size_t j = 0; j < wide; j += LANES) {
        lanes sum = {0}, row;
        for (size_t l = 0; l < d; l++) {
            load(x + l * wide + j, &row);
            sum += row * weight[l];
        }
        store(&sum, y + j);
    }
}

INLINE void turn(size_t d, const small *f)
{
    const size_t size = d * f->wide;
    for (size_t i = 0; i < f->count; i++) {
        memcpy(f->space, f->t + i * size, size * sizeof *f->space);
        for (size_t k = 0; k < d; k++)
            combine(d, f->wide, f->m + (i * d + k) * d, f->space, f->out + i * size + k * f->wide);
    }
}

/* With what is most frequent known to the compiler. */
INLINE void work_on_small(const small *f)
{
    if (f->d == 1)
        f->m ? turn(1, f) : squares(1, f);
    else
        f->m ? turn(f->d, f) : squares(f->d, f);
}

/* ---- Processors ---- */

/* Either a product or small matrices. */
INLINE void work(const product *f, const small *g)
{
    if (!f)
        work_on_small(g);
    else
        f->turned ? multiply(true, f) : multiply(false, f);
}

static void work_plain(const product *f, const small *g) { work(f, g); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void work_avx2(const product *f, const small *g) { work(f, g); }
#endif

static void work_widest(const product *f, const small *g)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        work_avx2(f, g);
        return;
    }
#endif
    work_plain(f, g);
}

void sk_narrow_rows(size_t m, size_t k, const double *const *a, size_t wide, const double *b, double *c)
{
    work_widest(&(product){m, k, false, a, wide, b, c}, NULL);
}

void sk_narrow_add(size_t m, size_t k, const double *const *a, size_t wide, const double *t, double *c)
{
    work_widest(&(product){k, m, true, a, wide, t, c}, NULL);
}

void sk_narrow_squares(size_t count, size_t d, size_t wide, const double *t, double *out)
{
    work_widest(NULL, &(small){count, d, wide, NULL, t, out, NULL});
}

void sk_narrow_turn(size_t count, size_t d, size_t wide, const double *m, double *t, double *space)
{
    work_widest(NULL, &(small){count, d, wide, m, t, t, space});
}
