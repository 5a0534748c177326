/* la.h - the gate to dense linear algebra. Row-major, size_t; the only room that knows of BLAS and LAPACK and of their
 * 32-bit integers (a size beyond them is a failure, never a wrap). Symmetric matrices: the lower triangle is read and
 * written unless said otherwise.
 *
 * BLAS threads: products and Cholesky factorisations of some size use the context's threads; eigendecompositions use
 * one (at n = 1000 they are several times slower with two). Inside a parallel loop everything uses one. */
#ifndef SK_LA_H
#define SK_LA_H

#include "base/base.h"

/* What OPENBLAS_CORETYPE should be, when OpenBLAS takes a processor with these abilities for `core`; NULL: leave it. */
const char *sk_blas_advice(const char *core, bool has_avx2, bool has_avx512);

typedef enum sk_op { SK_PLAIN, SK_TRANSPOSED } sk_op;

/* C (m x n) = alpha op(A) op(B) + beta C, op(A) is m x k, op(B) is k x n; ld* are row lengths in memory. */
void sk_gemm(sock_context *ctx, sk_op op_a, sk_op op_b, size_t m, size_t n, size_t k, double alpha, const double *a,
             size_t lda, const double *b, size_t ldb, double beta, double *c, size_t ldc);
void sk_gemm_f32(sock_context *ctx, sk_op op_a, sk_op op_b, size_t m, size_t n, size_t k, float alpha, const float *a,
                 size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);

/* Lower triangle of C (n x n) = alpha A A' + beta C with A n x k (SK_PLAIN), or alpha A' A with A k x n
 * (SK_TRANSPOSED). */
void sk_syrk(sock_context *ctx, sk_op op, size_t n, size_t k, double alpha, const double *a, size_t lda, double beta,
             double *c, size_t ldc);

/* y = alpha op(A) x + beta y, A is m x n. */
void sk_gemv(sock_context *ctx, sk_op op, size_t m, size_t n, double alpha, const double *a, size_t lda,
             const double *x, double beta, double *y);

double sk_dot(size_t n, const double *x, const double *y);
double sk_norm(size_t n, const double *x); /* no overflow, no underflow */
void sk_axpy(size_t n, double alpha, const double *x, double *y);
void sk_scale(size_t n, double alpha, double *x);

/* Upper triangle := lower triangle; and the other way. */
void sk_symmetrise(size_t n, double *a, size_t lda);
void sk_restore_lower(size_t n, double *a, size_t lda);

/* B (cols x rows) := A', A is rows x cols. They must not overlap. */
void sk_transpose(size_t rows, size_t cols, const double *a, size_t lda, double *b, size_t ldb);

/* A = L L' in place (lower; what stands above the diagonal is untouched). SOCK_ENUMERIC, without a message, when A is
 * not positive definite to rounding: the caller knows what to say. SOCK_ECANCELLED, with one, where an interrupt came.
 */
sock_status sk_cholesky(sock_context *ctx, size_t n, double *a, size_t lda);

/* The factor of a small positive semi-definite matrix, on the calling thread and without BLAS: the lower triangle of A
 * (d x d) := C, A = C C'; what stands above the diagonal is untouched. A pivot of at most `share` of its diagonal entry
 * is rounding: its column becomes zero. Answers how many there were; 0: A is positive definite. NaN comes out as NaN.
 */
size_t sk_factor_small(size_t d, double share, double *a);

/* C alone, with zeros above the diagonal: A (its lower triangle) is kept. */
size_t sk_factor_copy(size_t d, double share, const double *a, double *c);

/* Whether a small symmetric matrix is diagonal; its lower half is read. */
bool sk_is_diagonal(size_t d, const double *a);

/* The eigenvalues of such a matrix (all of A is read) by rotations: A becomes diagonal, the rows of V (d x d) its
 * eigenvectors. */
void sk_jacobi(size_t d, double *a, double *v);

/* A small M = P L U in place, with pivots (d) by rows; false when one is not above `least` in size: M is spoilt. Then
 * v := M^-1 v. */
bool sk_eliminate(size_t d, double least, double *m, size_t *pivot);
void sk_unwind(size_t d, const double *m, const size_t *pivot, double *v);

/* A small M := log M, M at most SK_LOGARITHM_MOST wide; false where it has no real one (an eigenvalue is not positive):
 * M is spoilt. */
enum { SK_LOGARITHM_MOST = 11 };
bool sk_matrix_logarithm(size_t n, double *m);

/* out = a b, or a b' (transposed), all d x d; out must be neither. x := (C C')^-1 x, C lower d x d. a := (a + a')/2. */
void sk_small_product(size_t d, const double *a, const double *b, bool transposed, double *out);
void sk_small_solve(size_t d, const double *c, double *x);
void sk_small_mean(size_t d, double *a);
bool sk_all_finite(size_t n, const double *a);

/* B (n x m) := L^-1 B (SK_PLAIN) or L^-T B (SK_TRANSPOSED), L lower n x n. */
void sk_solve_lower(sock_context *ctx, sk_op op, size_t n, size_t m, const double *l, size_t ldl, double *b,
                    size_t ldb);

/* B (m x n) := B L^-1 (SK_PLAIN) or B L^-T (SK_TRANSPOSED). */
void sk_solve_lower_right(sock_context *ctx, sk_op op, size_t m, size_t n, const double *l, size_t ldl, double *b,
                          size_t ldb);

/* B (n x m) := A^-1 B from the factor L of sk_cholesky. */
void sk_cholesky_solve(sock_context *ctx, size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb);

/* Symmetric eigendecomposition with work space made once. values ascending; on return row i of A is the eigenvector of
 * values[i]: A_in = A_out' diag(values) A_out. n may be anything up to the size the space was made for. */
typedef struct sk_eigen sk_eigen;
sock_status sk_eigen_new(sock_context *ctx, size_t n, sk_eigen **out);
void sk_eigen_free(sk_eigen *space);
sock_status sk_eigen_solve(sock_context *ctx, sk_eigen *space, size_t n, double *a, size_t lda, double *values);

/* The same with space made and freed inside. */
sock_status sk_eigh(sock_context *ctx, size_t n, double *a, size_t lda, double *values);

/* Thin QR of A (m x n, m >= n): A := Q (m x n, orthonormal columns), R (n x n upper, row-major, zeros below). */
sock_status sk_qr(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr);

/* Thin SVD of A (m x n), k = min(m, n): A = U diag(s) Vt, U m x k, Vt k x n, s descending. A is destroyed.
 * U and Vt may be NULL together (singular values only). */
sock_status sk_svd(sock_context *ctx, size_t m, size_t n, double *a, size_t lda, double *s, double *u, size_t ldu,
                   double *vt, size_t ldvt);

/* ---- Band matrices, and matrices that are not symmetric ---- */

/* n x n with `width` < n diagonals on each side of the main one, zero at first; entries are written through sk_band_at,
 * then factored, then b := A^-1 b as often as wanted. SOCK_ENUMERIC: singular. */
typedef struct sk_band sk_band;
sock_status sk_band_new(sock_context *ctx, size_t n, size_t width, sk_band **out);
void sk_band_free(sk_band *band);
double *sk_band_at(sk_band *band, size_t i, size_t j);
sock_status sk_band_factor(sock_context *ctx, sk_band *band);
void sk_band_solve(const sk_band *band, double *b);

/* The eigenvalues of A (n x n), real and imaginary parts; A is destroyed. SOCK_ENUMERIC: A is not finite. */
sock_status sk_eigenvalues(sock_context *ctx, size_t n, double *a, double *re, double *im);

/* ---- Pivoted Cholesky of a positive semi-definite matrix that is never stored ---- */

/* Writes column `pivot` (N numbers) of the matrix. */
typedef sock_status (*sk_column_fn)(void *arg, size_t pivot, double *column);

typedef struct sk_pivoted {
    size_t n, rank;
    size_t *pivot;    /* rank pivots, in order */
    double *factor;   /* rank x N: row k holds column k of the factor, so matrix ~ factor' factor */
    double *residual; /* N: what is left of the diagonal */
    bool complete;    /* the tolerance was reached within max_rank */
} sk_pivoted;

/* Stops when the largest remaining diagonal entry is at most tolerance * the largest of the start, at max_rank, or,
 * with give_up_early, as soon as the decay so far says that the tolerance will not be reached by max_rank, or nearly
 * (looked at after 128, 256, 512, ... columns). diagonal: N numbers, read only. */
sock_status sk_pivoted_cholesky(sock_context *ctx, size_t n, const double *diagonal, sk_column_fn column, void *arg,
                                double tolerance, size_t max_rank, bool give_up_early, sk_pivoted **out);
void sk_pivoted_free(sk_pivoted *p);

#endif
