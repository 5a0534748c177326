/* longcalls.c - see longcalls.h. Each call has copies of what it reads and writes: it may outlive who asked for it. */
#define _GNU_SOURCE
#include "longcalls.h"

#include "base/awaited.h"

#include <omp.h>
#include <string.h>

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
             const int *lwork, int *info);
void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
             const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *iwork, int *info);

/* m x n to LAPACK (column-major), k = min(m, n); what a call does not use is NULL. */
typedef struct lapack_call {
    sk_awaited awaited;
    int m, n, threads, work_size, integers, info;
    double *a, *values, *left, *right, *work;
    int *integer_work;
} lapack_call;

bool sk_is_long_call(size_t m, size_t n)
{
    return (double)m * (double)n * (double)SK_MIN(m, n) >= (double)SK_LONG_ROWS * SK_LONG_ROWS * SK_LONG_ROWS;
}

static void clear(sk_awaited *awaited)
{
    lapack_call *c = (lapack_call *)awaited;
    sk_free(c->a), sk_free(c->values), sk_free(c->left), sk_free(c->right), sk_free(c->work), sk_free(c->integer_work);
}

static lapack_call *new_call(sock_context *ctx, void (*run)(sk_awaited *), int m, int n, int threads)
{
    lapack_call *c = sk_alloc(ctx, 1, sizeof *c);
    if (!c) return NULL;
    c->awaited.run = run, c->awaited.clear = clear;
    c->m = m, c->n = n, c->threads = threads;
    c->a = sk_doubles_unset(ctx, (size_t)m, (size_t)n);
    c->values = sk_doubles_unset(ctx, (size_t)SK_MIN(m, n), 1);
    if (c->a && c->values) return c;
    sk_awaited_free(&c->awaited);
    return NULL;
}

/* rows x cols, row by row. */
static void copy(size_t rows, size_t cols, const double *from, size_t ld_from, double *to, size_t ld_to)
{
    for (size_t i = 0; i < rows; i++) memcpy(to + i * ld_to, from + i * ld_from, cols * sizeof *to);
}

/* ---- Eigendecomposition ---- */

static void run_eigen(sk_awaited *awaited)
{
    lapack_call *c = (lapack_call *)awaited;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    dsyevd_("V", "U", &c->n, c->a, &c->n, c->values, c->work, &c->work_size, c->integer_work, &c->integers, &c->info);
    omp_set_num_threads(before);
}

sock_status sk_long_eigen(sock_context *ctx, size_t n, double *a, size_t lda, double *values, double **work,
                          int work_size, int **integer_work, int integers, int *info)
{
    lapack_call *c = new_call(ctx, run_eigen, (int)n, (int)n, 1);
    if (!c) return SOCK_ENOMEM;
    copy(n, n, a, lda, c->a, n);
    c->work = *work, c->work_size = work_size, c->integer_work = *integer_work, c->integers = integers;
    *work = NULL, *integer_work = NULL;
    SK_TRY(sk_await(ctx, &c->awaited, "an eigendecomposition"));
    copy(n, n, c->a, n, a, lda);
    memcpy(values, c->values, n * sizeof *values);
    *info = c->info;
    *work = c->work, *integer_work = c->integer_work;
    c->work = NULL, c->integer_work = NULL;
    sk_awaited_free(&c->awaited);
    return SOCK_OK;
}

/* ---- Singular values ---- */

/* With work_size -1 it asks how much is needed. */
static void gesdd(lapack_call *c, double *work)
{
    const int k = SK_MIN(c->m, c->n), one = 1;
    dgesdd_(c->left ? "S" : "N", &c->m, &c->n, c->a, &c->m, c->values, c->left, c->left ? &c->m : &one, c->right,
            c->right ? &k : &one, work, &c->work_size, c->integer_work, &c->info);
}

static void run_svd(sk_awaited *awaited)
{
    lapack_call *c = (lapack_call *)awaited;
    const int before = omp_get_max_threads();
    omp_set_num_threads(c->threads);
    gesdd(c, c->work);
    omp_set_num_threads(before);
}

static sock_status svd_space(sock_context *ctx, lapack_call *c, bool vectors)
{
    const size_t m = (size_t)c->m, n = (size_t)c->n, k = SK_MIN(m, n);
    double best = 0;
    if (vectors) {
        c->left = sk_doubles_unset(ctx, m, k);
        c->right = sk_doubles_unset(ctx, k, n);
        if (!c->left || !c->right) return SOCK_ENOMEM;
    }
    c->integer_work = sk_alloc(ctx, 8 * k, sizeof(int));
    if (!c->integer_work) return SOCK_ENOMEM;
    c->work_size = -1;
    gesdd(c, &best);
    c->work_size = (int)SK_MAX(best, 1);
    c->work = sk_doubles_unset(ctx, (size_t)c->work_size, 1);
    return c->work ? SOCK_OK : SOCK_ENOMEM;
}

/* A' = V S U' to LAPACK: its left vectors are our right ones. */
sock_status sk_long_svd(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *s, double *u, size_t ldu,
                        double *vt, size_t ldvt, int threads, int *info)
{
    const size_t k = SK_MIN(m, n);
    lapack_call *c = new_call(ctx, run_svd, (int)n, (int)m, threads);
    if (!c) return SOCK_ENOMEM;
    sock_status status = svd_space(ctx, c, u != NULL);
    if (status < 0) {
        sk_awaited_free(&c->awaited);
        return status;
    }
    copy(m, n, a, lda, c->a, n);
    SK_TRY(sk_await(ctx, &c->awaited, "a singular value decomposition"));
    memcpy(s, c->values, k * sizeof *s);
    if (u) {
        copy(m, k, c->right, k, u, ldu);
        copy(k, n, c->left, n, vt, ldvt);
    }
    *info = c->info;
    sk_awaited_free(&c->awaited);
    return SOCK_OK;
}

/* ---- QR ---- */

/* `left` gets the triangle: row i of R, zeros before the diagonal. */
static void run_qr(sk_awaited *awaited)
{
    lapack_call *c = (lapack_call *)awaited;
    const size_t n = (size_t)c->m;
    const int before = omp_get_max_threads();
    int info_q = 0;
    omp_set_num_threads(c->threads);
    dgelqf_(&c->m, &c->n, c->a, &c->m, c->values, c->work, &c->work_size, &c->info);
    for (size_t i = 0; i < n; i++) /* L' of LAPACK is R here */
        for (size_t j = 0; j < n; j++) c->left[i * n + j] = j >= i ? c->a[i * n + j] : 0;
    dorglq_(&c->m, &c->n, &c->m, c->a, &c->m, c->values, c->work, &c->work_size, &info_q);
    omp_set_num_threads(before);
    if (!c->info) c->info = info_q;
}

static sock_status qr_space(sock_context *ctx, lapack_call *c)
{
    int query = -1;
    double best = 0, best_q = 0;
    dgelqf_(&c->m, &c->n, c->a, &c->m, c->values, &best, &query, &c->info);
    dorglq_(&c->m, &c->n, &c->m, c->a, &c->m, c->values, &best_q, &query, &c->info);
    c->work_size = (int)SK_MAX(SK_MAX(best, best_q), 1);
    c->work = sk_doubles_unset(ctx, (size_t)c->work_size, 1);
    c->left = sk_doubles_unset(ctx, (size_t)c->m, (size_t)c->m);
    return c->work && c->left ? SOCK_OK : SOCK_ENOMEM;
}

/* Row-major A is A' to LAPACK: A' = L Q there is A = Q' L' here. */
sock_status sk_long_qr(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr, int threads,
                       int *info)
{
    lapack_call *c = new_call(ctx, run_qr, (int)n, (int)m, threads);
    if (!c) return SOCK_ENOMEM;
    sock_status status = qr_space(ctx, c);
    if (status < 0) {
        sk_awaited_free(&c->awaited);
        return status;
    }
    copy(m, n, a, lda, c->a, n);
    SK_TRY(sk_await(ctx, &c->awaited, "a QR factorisation"));
    copy(m, n, c->a, n, a, lda);
    copy(n, n, c->left, n, r, ldr);
    *info = c->info;
    sk_awaited_free(&c->awaited);
    return SOCK_OK;
}
