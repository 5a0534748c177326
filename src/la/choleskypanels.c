/* choleskypanels.c - the Cholesky factor of a large matrix by panels of columns, so that an interrupt need not wait for
 * the whole of it. Left-looking: a panel takes what the columns before it say, in pieces of PIECE multiplications, and
 * is factored.
 *
 *     A = [ D   ]  (rows of the panel)     D -= L_D L_D',     D = C C',     B := (B - L_B L_D') C^-T
 *         [ B   ]  (rows below)            L_D, L_B: the columns before, of the same rows */
#include "choleskypanels.h"

#include "la.h"

static const size_t PANEL = 512;
static const double PIECE = 2e9; /* multiplications between two looks at the flag: some hundredths of a second */

static sock_status look(sock_context *ctx)
{
    return sk_cancelled(ctx) ? sk_fail(ctx, SOCK_ECANCELLED, "interrupted during a factorisation") : SOCK_OK;
}

/* Rows `from` to n below the panel of `width` columns at k. */
static sock_status take_before(sock_context *ctx, size_t n, size_t k, size_t width, double *a, size_t lda)
{
    const size_t from = k + width, rows = (size_t)SK_MAX(64, PIECE / ((double)width * (double)SK_MAX(k, width)));
    for (size_t i = from; i < n; i += rows) {
        const size_t count = SK_MIN(rows, n - i);
        SK_TRY(look(ctx));
        if (k)
            sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, count, width, k, -1, a + i * lda, lda, a + k * lda, lda, 1,
                    a + i * lda + k, lda);
        sk_solve_lower_right(ctx, SK_TRANSPOSED, count, width, a + k * lda + k, lda, a + i * lda + k, lda);
    }
    return SOCK_OK;
}

sock_status sk_cholesky_by_panels(sock_context *ctx, size_t n, double *a, size_t lda)
{
    for (size_t k = 0; k < n; k += PANEL) {
        const size_t width = SK_MIN(PANEL, n - k);
        SK_TRY(look(ctx));
        if (k) sk_syrk(ctx, SK_PLAIN, width, k, -1, a + k * lda, lda, 1, a + k * lda + k, lda);
        SK_TRY(sk_cholesky(ctx, width, a + k * lda + k, lda));
        SK_TRY(take_before(ctx, n, k, width, a, lda));
    }
    return SOCK_OK;
}
