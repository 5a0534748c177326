/* banded.c - band matrices and eigenvalues of matrices that are not symmetric, by LAPACK. */
#define _GNU_SOURCE
#include "la.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <omp.h>

void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *ipiv,
             int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *ipiv, double *b, const int *ldb, int *info);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda, double *wr, double *wi,
            double *vl, const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info);

/* ---- Band matrices ---- */

struct sk_band {
    int n, width, rows; /* LAPACK keeps 3 width + 1 numbers of a column: what pivoting fills in is among them */
    double *entry;
    int *pivot;
};

sock_status sk_band_new(sock_context *ctx, size_t n, size_t width, sk_band **out)
{
    assert(n > width && n <= INT_MAX / 4);
    sk_band *band = sk_alloc(ctx, 1, sizeof *band);
    if (!band) return SOCK_ENOMEM;
    band->n = (int)n;
    band->width = (int)width;
    band->rows = 3 * band->width + 1;
    band->entry = sk_doubles(ctx, n, (size_t)band->rows);
    band->pivot = sk_alloc(ctx, n, sizeof *band->pivot);
    if (!band->entry || !band->pivot) {
        sk_band_free(band);
        return SOCK_ENOMEM;
    }
    *out = band;
    return SOCK_OK;
}

void sk_band_free(sk_band *band)
{
    if (!band) return;
    sk_free(band->entry);
    sk_free(band->pivot);
    sk_free(band);
}

double *sk_band_at(sk_band *band, size_t i, size_t j)
{
    assert((i > j ? i - j : j - i) <= (size_t)band->width);
    return band->entry + j * (size_t)band->rows + (size_t)(2 * band->width) + i - j;
}

/* On one thread: the matrices are narrow. */
sock_status sk_band_factor(sock_context *ctx, sk_band *band)
{
    const int before = omp_get_max_threads();
    int info = 0;
    omp_set_num_threads(1);
    dgbtrf_(&band->n, &band->n, &band->width, &band->width, band->entry, &band->rows, band->pivot, &info);
    omp_set_num_threads(before);
    if (info) return sk_fail(ctx, SOCK_ENUMERIC, "a band matrix of order %d is singular (%d)", band->n, info);
    return SOCK_OK;
}

void sk_band_solve(const sk_band *band, double *x)
{
    const int before = omp_get_max_threads(), one = 1;
    int info = 0;
    omp_set_num_threads(1);
    dgbtrs_("N", &band->n, &band->width, &band->width, &one, band->entry, &band->rows, band->pivot, x, &band->n, &info);
    omp_set_num_threads(before);
    assert(info == 0);
}

/* ---- Eigenvalues ---- */

/* A row-major matrix is its transpose to LAPACK, which has the same eigenvalues. */
sock_status sk_eigenvalues(sock_context *ctx, size_t n, double *a, double *re, double *im)
{
    if (!n) return SOCK_OK;
    for (size_t i = 0; i < n * n; i++) /* LAPACK may loop for ever on NaN */
        if (!isfinite(a[i])) return sk_fail(ctx, SOCK_ENUMERIC, "a matrix of size %zu is not finite", n);
    assert(n <= INT_MAX / 8);
    const int order = (int)n, room = 8 * order, before = omp_get_max_threads();
    double none = 0, *work = sk_doubles(ctx, 8, n);
    int info = 0;
    if (!work) return SOCK_ENOMEM;
    omp_set_num_threads(1);
    dgeev_("N", "N", &order, a, &order, re, im, &none, &order, &none, &order, work, &room, &info);
    omp_set_num_threads(before);
    sk_free(work);
    if (info) return sk_fail(ctx, SOCK_ENUMERIC, "the eigenvalues of a matrix of size %zu did not converge", n);
    return SOCK_OK;
}
