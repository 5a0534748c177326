/* smalleigen.c - the eigendecomposition of a symmetric matrix of few rows, without LAPACK, whose calls cost more than
 * the work there.
 *
 *   1. Reflections make it tridiagonal: A := H A H, row by row from the top.
 *   2. Their product Q, from the last reflection on, and its transpose.
 *   3. Implicit QL steps with Wilkinson's shift (Golub and Van Loan, section 8.3); each rotation turns two rows of Q'.
 *   4. Ascending order.
 *
 * All long loops add multiples of rows: what is summed, and in which order, is the same on every processor. */
#include "smalleigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
enum { STEPS_EACH = 60 };
static const double nothing = 1e-150; /* beside entries about 1: its square is 0 */

INLINE void add_row(size_t n, double weight, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) y[i] += weight * x[i];
}

/* The reflection that turns x (m) to a multiple of the first unit vector: x becomes v, H = 1 - beta v v'. Answers beta;
 * *top: what stands there then. */
static double reflection(size_t m, double *x, double *top)
{
    double square = 0;
    for (size_t i = 1; i < m; i++) square += x[i] * x[i];
    *top = x[0];
    if (!(square > 0)) return 0;
    *top = -copysign(sqrt(x[0] * x[0] + square), x[0]);
    x[0] -= *top;
    return 2 / (x[0] * x[0] + square);
}

/* Step 1. A: n x n, both triangles; row k keeps v_k behind its diagonal. p: n numbers. */
INLINE void reduce(size_t n, double *a, double *d, double *e, double *beta, double *p)
{
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t m = n - k - 1;
        double *v = a + k * n + k + 1, *rest = a + (k + 1) * n + k + 1, middle = 0;
        d[k] = a[k * n + k];
        beta[k] = reflection(m, v, e + k);
        if (beta[k] == 0) continue;
        memset(p, 0, m * sizeof *p);
        for (size_t i = 0; i < m; i++) add_row(m, beta[k] * v[i], rest + i * n, p);
        for (size_t i = 0; i < m; i++) middle += p[i] * v[i];
        add_row(m, -beta[k] / 2 * middle, v, p);
        for (size_t i = 0; i < m; i++) {
            add_row(m, -v[i], p, rest + i * n);
            add_row(m, -p[i], v, rest + i * n);
        }
    }
    d[n - 1] = a[n * n - 1];
}

/* Step 2: a := Q'. q: n x n, t: n. */
INLINE void accumulate(size_t n, double *a, const double *beta, double *q, double *t)
{
    memset(q, 0, n * n * sizeof *q);
    for (size_t i = 0; i < n; i++) q[i * n + i] = 1;
    for (size_t k = n - 1; k-- > 0;) {
        const size_t m = n - k - 1;
        const double *v = a + k * n + k + 1;
        double *rest = q + (k + 1) * n + k + 1;
        memset(t, 0, m * sizeof *t);
        for (size_t i = 0; i < m; i++) add_row(m, v[i], rest + i * n, t);
        for (size_t i = 0; i < m; i++) add_row(m, -beta[k] * v[i], t, rest + i * n);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i * n + j] = q[j * n + i];
}

INLINE void rotate(size_t n, double c, double s, double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        const double old = y[i];
        y[i] = s * x[i] + c * old;
        x[i] = c * x[i] - s * old;
    }
}

/* Rows begin .. end - 1 are split from the next where what couples them is rounding. */
static size_t block_end(size_t n, size_t begin, const double *d, const double *e)
{
    size_t m = begin;
    while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])) + nothing) m++;
    return m;
}

/* One step on rows begin .. last. */
INLINE void ql_step(size_t n, size_t begin, size_t last, double *d, double *e, double *z)
{
    const double half = (d[begin + 1] - d[begin]) / (2 * e[begin]);
    double g = d[last] - d[begin] + e[begin] / (half + copysign(sqrt(half * half + 1), half));
    double s = 1, c = 1, shifted = 0;
    for (size_t i = last; i-- > begin;) {
        const double f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (!(r > 0)) { /* it falls apart here */
            d[i + 1] -= shifted;
            e[last] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        const double low = d[i + 1] - shifted, turn = (d[i] - low) * s + 2 * c * b;
        shifted = s * turn;
        d[i + 1] = low + shifted;
        g = c * turn - b;
        rotate(n, c, s, z + i * n, z + (i + 1) * n);
    }
    d[begin] -= shifted;
    e[begin] = g;
    e[last] = 0;
}

/* Step 4. */
static void sort(size_t n, double *d, double *z, double *row)
{
    for (size_t i = 0; i + 1 < n; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < n; j++)
            if (d[j] < d[least]) least = j;
        if (least == i) continue;
        const double value = d[i];
        d[i] = d[least];
        d[least] = value;
        memcpy(row, z + i * n, n * sizeof *row);
        memcpy(z + i * n, z + least * n, n * sizeof *row);
        memcpy(z + least * n, row, n * sizeof *row);
    }
}

INLINE bool decompose(size_t n, double *a, double *d)
{
    double e[SK_SMALL_EIGEN], beta[SK_SMALL_EIGEN], t[SK_SMALL_EIGEN], q[SK_SMALL_EIGEN * SK_SMALL_EIGEN];
    reduce(n, a, d, e, beta, t);
    e[n - 1] = 0;
    accumulate(n, a, beta, q, t);
    for (size_t begin = 0, steps = 0; begin < n;) {
        const size_t last = block_end(n, begin, d, e);
        if (last == begin)
            begin++;
        else if (steps++ == STEPS_EACH * n)
            return false;
        else
            ql_step(n, begin, last, d, e, a);
    }
    sort(n, d, a, t);
    return true;
}

static bool decompose_plain(size_t n, double *a, double *d) { return decompose(n, a, d); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool decompose_avx2(size_t n, double *a, double *d)
{
    return decompose(n, a, d);
}

__attribute__((target("avx512f"))) static bool decompose_avx512(size_t n, double *a, double *d)
{
    return decompose(n, a, d);
}
#endif

bool sk_small_eigen(size_t n, double *a, double *values)
{
    bool (*widest)(size_t, double *, double *) = decompose_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        widest = decompose_avx512;
    else if (__builtin_cpu_supports("avx2"))
        widest = decompose_avx2;
#endif
    return widest(n, a, values);
}
