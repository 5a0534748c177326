/* longcalls.h - calls of LAPACK that take so long that an interrupt should not wait for them (base/awaited.h). */
#ifndef SK_LONGCALLS_H
#define SK_LONGCALLS_H

#include "base/base.h"

enum { SK_LONG_ROWS = 700 }; /* of a square matrix: some hundredths of a second */

/* Whether m x n numbers are so many. */
bool sk_is_long_call(size_t m, size_t n);

/* dsyevd of the lower triangle of A (row-major), on one thread. The work space is given back; where an interrupt came
 * it is lost: NULL. *info: LAPACK's. */
sock_status sk_long_eigen(sock_context *ctx, size_t n, double *a, size_t lda, double *values, double **work,
                          int work_size, int **integer_work, int integers, int *info);

/* dgesdd with the vectors (job "S") or without ("N", u = vt = NULL), as sk_svd has it. */
sock_status sk_long_svd(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *s, double *u, size_t ldu,
                        double *vt, size_t ldvt, int threads, int *info);

/* dgelqf and dorglq, as sk_qr has them. */
sock_status sk_long_qr(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr, int threads,
                       int *info);

#endif
