/* scoretest.c - is there something of the columns W in y that was not fitted?
 *
 * With Z orthonormal (what was fitted), R = W - Z Z'W and R'R = E diag(s^2) E', the directions B = R E / s with s above
 * SK_CHECK_LEFT are new; T = |B'y|^2 is chi-square with as many degrees of freedom r when y is normal noise of
 * variance 1. Of other noise with the kurtosis 3 + c it has the mean r as well, and the variance 2 r + c sum |b_i|^4,
 * b_i the rows of B: squares of normal numbers have c = 12, and tests of many columns would object too often. */
#include "check/check.h"

#include "check/checkrules.h"
#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Columns of norm 1, where they are not 0. */
static void normalise(size_t n, size_t q, double *z)
{
    for (size_t j = 0; j < q; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++) square += z[i * q + j] * z[i * q + j];
        const double factor = square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
        for (size_t i = 0; i < n; i++) z[i * q + j] = factor > 0 ? z[i * q + j] * factor : 0;
    }
}

/* Eigenvectors (rows of e) and values, ascending, of Z'Z. */
static sock_status gram_eigen(sock_context *ctx, size_t n, size_t q, const double *z, double *e, double *value)
{
    sk_syrk(ctx, SK_TRANSPOSED, q, n, 1, z, q, 0, e, q);
    return sk_eigh(ctx, q, e, q, value);
}

sock_status sk_orthonormal(sock_context *ctx, size_t n, size_t q, size_t most, double *z, size_t *rank)
{
    double *e = sk_doubles(ctx, q, q), *value = sk_doubles(ctx, q, 1), *made = sk_doubles(ctx, n, q);
    sock_status status = e && value && made ? SOCK_OK : SOCK_ENOMEM;
    *rank = 0;
    if (status >= 0) normalise(n, q, z);
    if (status >= 0 && q) status = gram_eigen(ctx, n, q, z, e, value);
    if (status >= 0 && q) {
        size_t r = 0; /* eigenvectors are rows: the last are the largest */
        while (r < q && r < most && value[q - 1 - r] > SK_CHECK_SINGULAR * value[q - 1]) r++;
        for (size_t j = q - r; j < q; j++) sk_scale(q, 1 / sqrt(value[j]), e + j * q);
        if (r) sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, n, r, q, 1, z, q, e + (q - r) * q, q, 0, made, r);
        memcpy(z, made, n * r * sizeof *z);
        *rank = r;
    }
    sk_free(e);
    sk_free(value);
    sk_free(made);
    return status;
}

double sk_score_slope(const sk_scored *rows, const double *column)
{
    double slope = sk_dot(rows->n, column, rows->y);
    for (size_t j = 0; j < rows->q; j++) {
        double of_column = 0, of_y = 0;
        for (size_t i = 0; i < rows->n; i++) {
            of_column += rows->z[i * rows->q + j] * column[i];
            of_y += rows->z[i * rows->q + j] * rows->y[i];
        }
        slope -= of_column * of_y;
    }
    return slope;
}

double sk_tally_stretch(const sk_tally *t) { return 1 + t->excess / (2 * t->freedom); }

double sk_tally_tail(const sk_tally *t)
{
    if (!(t->freedom > 0)) return 1;
    const double stretch = sk_tally_stretch(t);
    return sk_chi_square_tail(t->statistic / stretch, t->freedom / stretch);
}

/* Sum of the squares of |b_i|^2, b_i = (E / s)' r_i the rows of B; e: count x w. */
static double fourth_powers(size_t n, size_t w, const double *r, size_t count, const double *e)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < count; j++) {
            const double b = sk_dot(w, e + j * w, r + i * w);
            square += b * b;
        }
        sum += square * square;
    }
    return sum;
}

static sock_status add_directions(sock_context *ctx, const sk_scored *rows, size_t w, const double *r, double *space,
                                  sk_tally *tally)
{
    double *e = space, *value = e + w * w, *g = value + w;
    SK_TRY(gram_eigen(ctx, rows->n, w, r, e, value));
    sk_gemv(ctx, SK_TRANSPOSED, rows->n, w, 1, r, w, rows->y, 0, g);
    size_t first = 0; /* values ascend */
    while (first < w && sk_check_is_gone(value[first])) first++;
    for (size_t j = first; j < w; j++) {
        sk_scale(w, 1 / sqrt(value[j]), e + j * w);
        tally->statistic += pow(sk_dot(w, e + j * w, g), 2);
    }
    tally->freedom += (double)(w - first);
    if (rows->kurtosis > 0) tally->excess += rows->kurtosis * fourth_powers(rows->n, w, r, w - first, e + first * w);
    return SOCK_OK;
}

sock_status sk_score_test(sock_context *ctx, const sk_scored *rows, size_t w, double *W, sk_tally *tally)
{
    const size_t n = rows->n, q = rows->q;
    double *space = sk_doubles(ctx, w * w + 2 * w + q * w, 1);
    if (!space) return SOCK_ENOMEM;
    double *zw = space + w * w + 2 * w;
    normalise(n, w, W);
    if (q && w) {
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, q, w, n, 1, rows->z, q, W, w, 0, zw, w);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, n, w, q, -1, rows->z, q, zw, w, 1, W, w);
    }
    sock_status status = w ? add_directions(ctx, rows, w, W, space, tally) : SOCK_OK;
    sk_free(space);
    return status;
}
