/* la.c - BLAS and LAPACK behind plain row-major functions.
 *
 * A row-major matrix is its transpose to LAPACK, so "lower" here is 'U' there, and a symmetric matrix is itself. */
#define _GNU_SOURCE
#include "la.h"
#include "choleskypanels.h"
#include "fewrows.h"
#include "longcalls.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
             const int *lwork, int *info);
void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
             const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *iwork, int *info);

/* Sizes are checked where work is planned (sk_memory_check); here a size beyond the BLAS integer is a broken promise,
 * and a stop is better than numbers from a wrapped size. */
static int blas_int(size_t size)
{
    if (size > INT_MAX) {
        fprintf(stderr, "sock: a matrix dimension of %zu reached the linear algebra library\n", size);
        abort();
    }
    return (int)size;
}

static sock_status fits_blas(sock_context *ctx, size_t size)
{
    if (size <= INT_MAX) return SOCK_OK;
    return sk_fail(ctx, SOCK_ENOMEM, "a matrix dimension of %zu is more than the linear algebra library can hold",
                   size);
}

static const double THREADED_FLOPS = 2e7; /* speed only */

/* Two threads pay from some ten million operations on (waiting OpenMP threads spin, and take the processor from
 * others); the setting belongs to the calling thread, and is put back. */
static int blas_threads(sock_context *ctx, double flops)
{
    const int wanted = flops < THREADED_FLOPS || sk_in_worker() ? 1 : sock_threads(ctx);
    return SK_MIN(wanted, omp_get_thread_limit()); /* threads of a product wait for each other: all or none */
}

static int blas_threads_begin(sock_context *ctx, double flops)
{
    int before = omp_get_max_threads();
    const int wanted = blas_threads(ctx, flops);
    if (wanted != before) omp_set_num_threads(wanted);
    return before;
}

static void blas_threads_end(int before) { omp_set_num_threads(before); }

static enum CBLAS_TRANSPOSE cblas_op(sk_op op) { return op == SK_PLAIN ? CblasNoTrans : CblasTrans; }

void sk_gemm(sock_context *ctx, sk_op op_a, sk_op op_b, size_t m, size_t n, size_t k, double alpha, const double *a,
             size_t lda, const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    if (!m || !n) return;
    const double flops = 2.0 * (double)m * (double)n * (double)k;
    const bool turned_a = op_a == SK_TRANSPOSED, turned_b = op_b == SK_TRANSPOSED, add = beta == 1;
    if (m <= SK_FEW_ROWS && !(turned_a && turned_b) && (add || beta == 0) && flops < THREADED_FLOPS) {
        sk_few_rows(&(sk_few){m, n, k, turned_a, turned_b, add, alpha, a, lda, b, ldb, c, ldc});
        return;
    }
    int before = blas_threads_begin(ctx, flops);
    cblas_dgemm(CblasRowMajor, cblas_op(op_a), cblas_op(op_b), blas_int(m), blas_int(n), blas_int(k), alpha, a,
                blas_int(SK_MAX(lda, 1)), b, blas_int(SK_MAX(ldb, 1)), beta, c, blas_int(ldc));
    blas_threads_end(before);
}

void sk_gemm_f32(sock_context *ctx, sk_op op_a, sk_op op_b, size_t m, size_t n, size_t k, float alpha, const float *a,
                 size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    if (!m || !n) return;
    int before = blas_threads_begin(ctx, 2.0 * (double)m * (double)n * (double)k);
    cblas_sgemm(CblasRowMajor, cblas_op(op_a), cblas_op(op_b), blas_int(m), blas_int(n), blas_int(k), alpha, a,
                blas_int(SK_MAX(lda, 1)), b, blas_int(SK_MAX(ldb, 1)), beta, c, blas_int(ldc));
    blas_threads_end(before);
}

void sk_syrk(sock_context *ctx, sk_op op, size_t n, size_t k, double alpha, const double *a, size_t lda, double beta,
             double *c, size_t ldc)
{
    if (!n) return;
    int before = blas_threads_begin(ctx, (double)n * (double)n * (double)k);
    cblas_dsyrk(CblasRowMajor, CblasLower, cblas_op(op), blas_int(n), blas_int(k), alpha, a, blas_int(SK_MAX(lda, 1)),
                beta, c, blas_int(ldc));
    blas_threads_end(before);
}

void sk_gemv(sock_context *ctx, sk_op op, size_t m, size_t n, double alpha, const double *a, size_t lda,
             const double *x, double beta, double *y)
{
    if (!m || !n) {
        size_t length = op == SK_PLAIN ? m : n;
        for (size_t i = 0; i < length; i++) y[i] = beta == 0 ? 0 : beta * y[i];
        return;
    }
    int before = blas_threads_begin(ctx, 2.0 * (double)m * (double)n);
    cblas_dgemv(CblasRowMajor, cblas_op(op), blas_int(m), blas_int(n), alpha, a, blas_int(lda), x, 1, beta, y, 1);
    blas_threads_end(before);
}

/* Vectors go to BLAS in pieces: their length may be a product of dimensions and more than its integer holds, and a
 * piece this long is not shared among threads, so that sums do not depend on their number. */
enum { PIECE = 8192 };

double sk_dot(size_t n, const double *x, const double *y)
{
    double total = 0;
    for (size_t i = 0; i < n; i += PIECE) total += cblas_ddot((int)SK_MIN(n - i, PIECE), x + i, 1, y + i, 1);
    return total;
}

/* The plain sum of squares where it is safe from both ends of the range; otherwise in units of the largest entry. */
double sk_norm(size_t n, const double *x)
{
    double square = sk_dot(n, x, x), largest = 0, sum = 0;
    if ((square > 1e-250 && square < 1e300) || isnan(square)) return sqrt(square);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0 || isinf(largest)) return largest;
    for (size_t i = 0; i < n; i++) sum += x[i] / largest * (x[i] / largest);
    return largest * sqrt(sum);
}

void sk_axpy(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i += PIECE) cblas_daxpy((int)SK_MIN(n - i, PIECE), alpha, x + i, 1, y + i, 1);
}

void sk_scale(size_t n, double alpha, double *x)
{
    for (size_t i = 0; i < n; i += PIECE) cblas_dscal((int)SK_MIN(n - i, PIECE), alpha, x + i, 1);
}

/* These three go by tiles, so that neither the reading nor the writing walks down columns of the whole matrix. */

void sk_symmetrise(size_t n, double *a, size_t lda)
{
    enum { TILE = 32 };
    for (size_t bi = 0; bi < n; bi += TILE)
        for (size_t bj = 0; bj <= bi; bj += TILE)
            for (size_t i = bi; i < SK_MIN(bi + TILE, n); i++)
                for (size_t j = bj; j < SK_MIN(bj + TILE, i); j++) a[j * lda + i] = a[i * lda + j];
}

void sk_restore_lower(size_t n, double *a, size_t lda)
{
    enum { TILE = 32 };
    for (size_t bi = 0; bi < n; bi += TILE)
        for (size_t bj = 0; bj <= bi; bj += TILE)
            for (size_t i = bi; i < SK_MIN(bi + TILE, n); i++)
                for (size_t j = bj; j < SK_MIN(bj + TILE, i); j++) a[i * lda + j] = a[j * lda + i];
}

/* A tile is one cache line wide: rows that are a power of two apart share few places of the cache. */
void sk_transpose(size_t rows, size_t cols, const double *a, size_t lda, double *b, size_t ldb)
{
    enum { TILE = 8 };
    for (size_t bi = 0; bi < rows; bi += TILE)
        for (size_t bj = 0; bj < cols; bj += TILE)
            for (size_t j = bj; j < SK_MIN(bj + TILE, cols); j++)
                for (size_t i = bi; i < SK_MIN(bi + TILE, rows); i++) b[j * ldb + i] = a[i * lda + j];
}

enum { BY_PANELS = 2000 }; /* a larger factorisation takes so long that an interrupt should not wait for it */

sock_status sk_cholesky(sock_context *ctx, size_t n, double *a, size_t lda)
{
    if (!n) return SOCK_OK;
    SK_TRY(fits_blas(ctx, SK_MAX(n, lda)));
    if (n > BY_PANELS) return sk_cholesky_by_panels(ctx, n, a, lda);
    int order = (int)n, stride = (int)lda, info = 0;
    int before = blas_threads_begin(ctx, (double)n * (double)n * (double)n / 3);
    dpotrf_("U", &order, a, &stride, &info);
    blas_threads_end(before);
    for (size_t i = 0; i < n && info == 0; i++) /* OpenBLAS lets NaN pass; it always reaches the diagonal of its row */
        if (!(a[i * lda + i] > 0)) info = 1;
    return info == 0 ? SOCK_OK : SOCK_ENUMERIC;
}

void sk_solve_lower(sock_context *ctx, sk_op op, size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb)
{
    if (!n || !m) return;
    int before = blas_threads_begin(ctx, (double)n * (double)n * (double)m);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, cblas_op(op), CblasNonUnit, blas_int(n), blas_int(m), 1, l,
                blas_int(ldl), b, blas_int(ldb));
    blas_threads_end(before);
}

void sk_solve_lower_right(sock_context *ctx, sk_op op, size_t m, size_t n, const double *l, size_t ldl, double *b,
                          size_t ldb)
{
    if (!n || !m) return;
    int before = blas_threads_begin(ctx, (double)n * (double)n * (double)m);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, cblas_op(op), CblasNonUnit, blas_int(m), blas_int(n), 1, l,
                blas_int(ldl), b, blas_int(ldb));
    blas_threads_end(before);
}

void sk_cholesky_solve(sock_context *ctx, size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb)
{
    sk_solve_lower(ctx, SK_PLAIN, n, m, l, ldl, b, ldb);
    sk_solve_lower(ctx, SK_TRANSPOSED, n, m, l, ldl, b, ldb);
}

/* ---- Eigendecomposition ---- */

struct sk_eigen {
    size_t n;
    int work_size, integers;
    double *work;
    int *integer_work;
};

sock_status sk_eigen_new(sock_context *ctx, size_t n, sk_eigen **out)
{
    SK_TRY(fits_blas(ctx, n));
    double size = 1 + 6.0 * (double)n + 2.0 * (double)n * (double)n;
    if (size > INT_MAX)
        return sk_fail(ctx, SOCK_ENOMEM,
                       "an eigendecomposition of size %zu is more than the linear algebra library can hold", n);
    sk_eigen *space = sk_alloc(ctx, 1, sizeof *space);
    if (!space) return SOCK_ENOMEM;
    space->n = n;
    /* A query gives the size LAPACK works fastest with; the formula is its documented minimum. */
    int order = (int)SK_MAX(n, 1), query = -1, info = 0, integers = 0;
    double best = 0, none = 0;
    dsyevd_("V", "U", &order, &none, &order, &none, &best, &query, &integers, &query, &info);
    space->work_size = (int)SK_MAX(best, size);
    space->integers = SK_MAX(integers, 3 + 5 * order);
    space->work = sk_doubles(ctx, (size_t)space->work_size, 1);
    space->integer_work = sk_alloc(ctx, (size_t)space->integers, sizeof(int));
    if (!space->work || !space->integer_work) {
        sk_eigen_free(space);
        return SOCK_ENOMEM;
    }
    *out = space;
    return SOCK_OK;
}

void sk_eigen_free(sk_eigen *space)
{
    if (!space) return;
    sk_free(space->work);
    sk_free(space->integer_work);
    sk_free(space);
}

static void eigen_now(sk_eigen *space, size_t n, double *a, size_t lda, double *values, int *info)
{
    int order = (int)n, stride = blas_int(lda);
    int before = omp_get_max_threads();
    omp_set_num_threads(1);
    dsyevd_("V", "U", &order, a, &stride, values, space->work, &space->work_size, space->integer_work, &space->integers,
            info);
    omp_set_num_threads(before);
}

sock_status sk_eigen_solve(sock_context *ctx, sk_eigen *space, size_t n, double *a, size_t lda, double *values)
{
    assert(n <= space->n && space->work);
    if (!n) return SOCK_OK;
    for (size_t i = 0; i < n; i++) /* LAPACK may loop for ever on NaN */
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(a[i * lda + j]))
                return sk_fail(ctx, SOCK_ENUMERIC, "eigendecomposition of a matrix with numbers that are not finite");
    if (n == 1) {
        values[0] = a[0];
        a[0] = 1;
        return SOCK_OK;
    }
    int info = 0;
    if (sk_is_long_call(n, n))
        SK_TRY(sk_long_eigen(ctx, n, a, lda, values, &space->work, space->work_size, &space->integer_work,
                             space->integers, &info));
    else
        eigen_now(space, n, a, lda, values, &info);
    if (info != 0)
        return sk_fail(ctx, SOCK_ENUMERIC, "an eigendecomposition of size %zu did not converge (%d)", n, info);
    return SOCK_OK;
}

sock_status sk_eigh(sock_context *ctx, size_t n, double *a, size_t lda, double *values)
{
    sk_eigen *space = NULL;
    SK_TRY(sk_eigen_new(ctx, n, &space));
    sock_status status = sk_eigen_solve(ctx, space, n, a, lda, values);
    sk_eigen_free(space);
    return status;
}

/* ---- QR and SVD ---- */

static sock_status qr_failed(sock_context *ctx, int info)
{
    return sk_fail(ctx, SOCK_ENUMERIC, "a QR factorisation failed (%d)", info);
}

/* Row-major A is A' to LAPACK: A' = L Q there is A = Q' L' here. */
static sock_status qr_now(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr)
{
    int rows = (int)n, cols = (int)m, stride = (int)lda, query = -1, info = 0;
    double best = 0, best_q = 0, none = 0;
    dgelqf_(&rows, &cols, &none, &stride, &none, &best, &query, &info);
    dorglq_(&rows, &cols, &rows, &none, &stride, &none, &best_q, &query, &info);
    int size = (int)SK_MAX(SK_MAX(best, best_q), 1);
    double *work = sk_doubles(ctx, (size_t)size, 1), *tau = sk_doubles(ctx, n, 1);
    sock_status status = work && tau ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        int before = blas_threads_begin(ctx, 2.0 * (double)m * (double)n * (double)n);
        dgelqf_(&rows, &cols, a, &stride, tau, work, &size, &info);
        for (size_t i = 0; i < n; i++) /* L' of LAPACK is R here */
            for (size_t j = 0; j < n; j++) r[i * ldr + j] = j >= i ? a[i * lda + j] : 0;
        int info_q = 0;
        dorglq_(&rows, &cols, &rows, a, &stride, tau, work, &size, &info_q);
        blas_threads_end(before);
        if (info || info_q) status = qr_failed(ctx, info ? info : info_q);
    }
    sk_free(work);
    sk_free(tau);
    return status;
}

sock_status sk_qr(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr)
{
    assert(m >= n);
    if (!n) return SOCK_OK;
    SK_TRY(fits_blas(ctx, SK_MAX(m, lda)));
    if (!sk_is_long_call(m, n)) return qr_now(ctx, m, n, a, lda, r, ldr);
    int info = 0;
    SK_TRY(sk_long_qr(ctx, m, n, a, lda, r, ldr, blas_threads(ctx, THREADED_FLOPS), &info));
    return info ? qr_failed(ctx, info) : SOCK_OK;
}

static sock_status svd_failed(sock_context *ctx, size_t m, size_t n)
{
    return sk_fail(ctx, SOCK_ENUMERIC, "singular values of a %zu x %zu matrix did not converge", m, n);
}

/* A' = V S U' to LAPACK: its left vectors are our right ones. */
static sock_status svd_now(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *s, double *u,
                           size_t ldu, double *vt, size_t ldvt)
{
    size_t k = SK_MIN(m, n);
    int rows = (int)n, cols = (int)m, stride = (int)lda, query = -1, info = 0, one = 1;
    int left = u ? blas_int(ldvt) : one, right = u ? blas_int(ldu) : one;
    const char *job = u ? "S" : "N";
    double best = 0, none = 0;
    int *integers = sk_alloc(ctx, 8 * k, sizeof(int));
    if (!integers) return SOCK_ENOMEM;
    dgesdd_(job, &rows, &cols, &none, &stride, &none, &none, &left, &none, &right, &best, &query, integers, &info);
    int size = (int)SK_MAX(best, 1);
    double *work = sk_doubles(ctx, (size_t)size, 1);
    sock_status status = work ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        int before = blas_threads_begin(ctx, 4.0 * (double)m * (double)n * (double)k);
        dgesdd_(job, &rows, &cols, a, &stride, s, vt, &left, u, &right, work, &size, integers, &info);
        blas_threads_end(before);
        if (info) status = svd_failed(ctx, m, n);
    }
    sk_free(work);
    sk_free(integers);
    return status;
}

sock_status sk_svd(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *s, double *u, size_t ldu,
                   double *vt, size_t ldvt)
{
    if (!m || !n) return SOCK_OK;
    SK_TRY(fits_blas(ctx, SK_MAX(SK_MAX(m, n), lda)));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            if (!isfinite(a[i * lda + j]))
                return sk_fail(ctx, SOCK_ENUMERIC, "singular values of a matrix with numbers that are not finite");
    if (!sk_is_long_call(m, n)) return svd_now(ctx, m, n, a, lda, s, u, ldu, vt, ldvt);
    int info = 0;
    SK_TRY(sk_long_svd(ctx, m, n, a, lda, s, u, ldu, vt, ldvt, blas_threads(ctx, THREADED_FLOPS), &info));
    return info ? svd_failed(ctx, m, n) : SOCK_OK;
}
