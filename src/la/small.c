/* small.c - matrices of the size of a state: the plain loops, which beat any call of BLAS there. */
#include "la.h"

#include <math.h>
#include <string.h>

size_t sk_factor_small(size_t d, double share, double *a)
{
    size_t lost = 0;
    for (size_t k = 0; k < d; k++) {
        double *row = a + k * d, whole = row[k], left = whole;
        for (size_t j = 0; j < k; j++) left -= row[j] * row[j];
        const bool empty = left <= share * whole; /* false for NaN: it must come out */
        lost += empty;
        row[k] = empty ? 0 : sqrt(left);
        for (size_t l = k + 1; l < d; l++) {
            double *below = a + l * d, sum = below[k];
            for (size_t j = 0; j < k; j++) sum -= below[j] * row[j];
            below[k] = empty ? 0 : sum / row[k];
        }
    }
    return lost;
}

bool sk_is_diagonal(size_t d, const double *a)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < k; l++)
            if (a[k * d + l] != 0) return false;
    return true;
}

/* Of a diagonal matrix, d steps instead of d^3. */
static size_t factor_diagonal(size_t d, double *a)
{
    size_t lost = 0;
    for (size_t k = 0; k < d; k++) {
        double *own = a + k * (d + 1);
        const bool empty = *own <= 0; /* false for NaN: it must come out */
        lost += empty;
        *own = empty ? 0 : sqrt(*own);
    }
    return lost;
}

size_t sk_factor_copy(size_t d, double share, const double *a, double *c)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) c[k * d + l] = l > k ? 0 : a[k * d + l];
    return share < 1 && sk_is_diagonal(d, c) ? factor_diagonal(d, c) : sk_factor_small(d, share, c);
}

/* ---- Eigenvalues: cyclic Jacobi ---- */

enum { MOST_SWEEPS = 60 };

/* One rotation that makes a_pq zero; a stays symmetric. Rows of v are the eigenvectors so far. */
static void rotate(size_t d, double *a, double *v, size_t p, size_t q)
{
    double app = a[p * d + p], aqq = a[q * d + q], apq = a[p * d + q], theta = (aqq - app) / (2 * apq);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta)), c = 1 / sqrt(1 + t * t), s = t * c;
    double *row_p = a + p * d, *row_q = a + q * d, *v_p = v + p * d, *v_q = v + q * d;
    for (size_t k = 0; k < d; k++) {
        double x = row_p[k], y = row_q[k], z = v_p[k], w = v_q[k];
        row_p[k] = c * x - s * y;
        row_q[k] = s * x + c * y;
        v_p[k] = c * z - s * w;
        v_q[k] = s * z + c * w;
    }
    for (size_t k = 0; k < d; k++) {
        a[k * d + p] = row_p[k];
        a[k * d + q] = row_q[k];
    }
    row_p[p] = app - t * apq;
    row_q[q] = aqq + t * apq;
    row_p[q] = row_q[p] = 0;
}

/* The power of 2 at the largest entry. In units of it squares neither overflow nor vanish, and no digit changes. */
static double unit_of(size_t d, const double *a)
{
    double largest = 0;
    for (size_t i = 0; i < d * d; i++) largest = fmax(largest, fabs(a[i]));
    return isfinite(largest) && largest > 0 ? exp2(logb(largest)) : 1;
}

void sk_jacobi(size_t d, double *a, double *v)
{
    const double unit = unit_of(d, a);
    double size = 0;
    memset(v, 0, d * d * sizeof *v);
    for (size_t k = 0; k < d; k++) v[k * d + k] = 1;
    for (size_t i = 0; i < d * d; i++) a[i] /= unit;
    for (size_t i = 0; i < d * d; i++) size += a[i] * a[i];
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double off = 0;
        for (size_t p = 0; p < d; p++)
            for (size_t q = p + 1; q < d; q++) off += a[p * d + q] * a[p * d + q];
        if (!(off > 1e-31 * size)) break;
        for (size_t p = 0; p < d; p++)
            for (size_t q = p + 1; q < d; q++)
                if (a[p * d + q] * a[p * d + q] > 1e-36 * size) rotate(d, a, v, p, q);
    }
    for (size_t i = 0; i < d * d; i++) a[i] *= unit;
}

bool sk_eliminate(size_t d, double least, double *m, size_t *pivot)
{
    for (size_t k = 0; k < d; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < d; r++)
            if (fabs(m[r * d + k]) > fabs(m[best * d + k])) best = r;
        if (!(fabs(m[best * d + k]) > least)) return false;
        pivot[k] = best;
        for (size_t j = 0; best != k && j < d; j++) {
            double kept = m[k * d + j];
            m[k * d + j] = m[best * d + j];
            m[best * d + j] = kept;
        }
        for (size_t r = k + 1; r < d; r++) {
            double factor = m[r * d + k] /= m[k * d + k];
            for (size_t j = k + 1; j < d; j++) m[r * d + j] -= factor * m[k * d + j];
        }
    }
    return true;
}

void sk_unwind(size_t d, const double *m, const size_t *pivot, double *v)
{
    for (size_t k = 0; k < d; k++) {
        double kept = v[k];
        v[k] = v[pivot[k]];
        v[pivot[k]] = kept;
    }
    for (size_t k = 1; k < d; k++)
        for (size_t j = 0; j < k; j++) v[k] -= m[k * d + j] * v[j];
    for (size_t k = d; k-- > 0;) {
        for (size_t j = k + 1; j < d; j++) v[k] -= m[k * d + j] * v[j];
        v[k] /= m[k * d + k];
    }
}

/* ---- Products and solutions ---- */

void sk_small_product(size_t d, const double *a, const double *b, bool transposed, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) sum += a[i * d + k] * (transposed ? b[j * d + k] : b[k * d + j]);
            out[i * d + j] = sum;
        }
}

void sk_small_solve(size_t d, const double *c, double *x)
{
    for (size_t k = 0; k < d; k++) {
        for (size_t j = 0; j < k; j++) x[k] -= c[k * d + j] * x[j];
        x[k] /= c[k * d + k];
    }
    for (size_t k = d; k-- > 0;) {
        for (size_t j = k + 1; j < d; j++) x[k] -= c[j * d + k] * x[j];
        x[k] /= c[k * d + k];
    }
}

bool sk_all_finite(size_t n, const double *a)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

void sk_small_mean(size_t d, double *a)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) a[i * d + j] = a[j * d + i] = 0.5 * (a[i * d + j] + a[j * d + i]);
}
