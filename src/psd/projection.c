/* projection.c - the nearest positive semi-definite matrix, and the derivative of that map.
 *
 *   1. S = E' diag(v) E (sk_eigen: work space made once, eigenvalues ascending, so the positive ones are the last
 * rows).
 *   2. No positive eigenvalue: 0.
 *   3. Scale those rows by sqrt(v) and one syrk: S_+ = (sqrt(v) E)' (sqrt(v) E).
 *
 * Derivative in the direction H (Malick 2004; Qi and Sun 2006):  E' (Omega o (E H E')) E  with Omega = 1 where both
 * eigenvalues are positive, v_i / (v_i - v_j) for one positive and one not, 0 else. With r positive eigenvalues only r
 * rows are needed (8 n^2 r flop); when r > n/2, the complement is cheaper: H minus the same with the signs turned. */
#include "psdinner.h"

#include <math.h>

void sk_psd_positive_part(sock_context *ctx, size_t n, double *e, const double *values, size_t positive, double scale,
                          double *q)
{
    double *block = e + (n - positive) * n;
    const double *v = values + (n - positive);
    for (size_t i = 0; i < positive; i++) sk_scale(n, sqrt(scale * v[i]), block + i * n);
    sk_syrk(ctx, SK_TRANSPOSED, n, positive, 1, block, n, 0, q, n);
    sk_symmetrise(n, q, n);
    for (size_t i = 0; i < positive; i++) {
        double factor = sqrt(scale * v[i]);
        if (factor > 0) sk_scale(n, 1 / factor, block + i * n);
    }
}

static size_t count_positive(size_t n, const double *values)
{
    size_t positive = 0;
    while (positive < n && values[n - 1 - positive] > 0) positive++;
    return positive;
}

sock_status sk_psd_project(sock_context *ctx, sk_eigen *space, size_t n, double *a, size_t *rank)
{
    double *e = sk_doubles(ctx, n, n), *values = sk_doubles(ctx, n, 1);
    sock_status status = e && values ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) e[i * n + j] = a[i * n + j];
        status = sk_eigen_solve(ctx, space, n, e, n, values);
    }
    if (status == SOCK_OK) {
        size_t positive = count_positive(n, values);
        if (positive < n)
            sk_psd_positive_part(ctx, n, e, values, positive, 1, a);
        else
            sk_symmetrise(n, a, n); /* it was positive definite: untouched */
        if (rank) *rank = positive;
    }
    sk_free(e);
    sk_free(values);
    return status;
}

/* Rows of t (count x n) belong to eigenvalues first .. first+count-1 on one side of zero; weight the columns. */
static void weight_columns(size_t n, const double *v, size_t first, size_t count, size_t positive, double *t)
{
    size_t split = n - positive;
    bool side = first >= split; /* the rows are the positive side */
    for (size_t i = 0; i < count; i++) {
        double vi = v[first + i];
        for (size_t j = 0; j < n; j++) {
            if ((j >= split) == side) {
                t[i * n + j] *= 0.5; /* the transpose adds the other half */
            } else {
                double top = fabs(vi), bottom = fabs(vi - v[j]);
                t[i * n + j] *= bottom > 0 ? top / bottom : 0;
            }
        }
    }
}

void sk_psd_projection_derivative(sock_context *ctx, const sk_psd_point *at, size_t n, const double *h, double *out,
                                  double *work)
{
    bool complement = 2 * at->positive > n;
    size_t count = complement ? n - at->positive : at->positive, first = complement ? 0 : n - at->positive;
    const double *block = at->e + first * n;
    double *t = work, *u = work + count * n;
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, n, n, 1, block, n, h, n, 0, u, n);
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, count, n, n, 1, u, n, at->e, n, 0, t, n);
    weight_columns(n, at->values, first, count, at->positive, t);
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, n, n, 1, t, n, at->e, n, 0, u, n);
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, n, n, count, 1, block, n, u, n, 0, out, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double both = out[i * n + j] + out[j * n + i];
            out[i * n + j] = out[j * n + i] = complement ? h[i * n + j] - both : both;
        }
}
