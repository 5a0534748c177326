/* leading.c - the leading eigenpairs of a positive semi-definite matrix of low numerical rank.
 *
 *   1. Pivoted Cholesky G = L L' + rest until the trace of the rest is below share / 10 of the trace of G: r columns.
 *   2. L = Q R; R R' = E diag(v) E' (r x r); the eigenvectors of G are Q E.
 *   3. When r passes k/3 that is no bargain any more: the whole eigendecomposition instead.
 *
 * Cost k r^2 instead of 9 k^3: with k = 100 and r = 15, a fiftieth. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

/* Step 1. Rows of l (most x k) are the columns of L. Returns r, or most + 1 when that was not enough. */
static size_t pivoted_rows(sock_context *ctx, size_t k, const double *gram, double share, size_t most, double *l,
                           double *rest, double *weights)
{
    double total = 0;
    for (size_t i = 0; i < k; i++) total += rest[i] = fmax(gram[i * k + i], 0);
    for (size_t r = 0;; r++) {
        double left = 0;
        size_t pivot = 0;
        for (size_t i = 0; i < k; i++) {
            left += rest[i];
            if (rest[i] > rest[pivot]) pivot = i;
        }
        if (!(left > 0.1 * share * total)) return r;
        if (r == most) return most + 1;
        double *row = l + r * k, root = sqrt(rest[pivot]);
        for (size_t i = 0; i < k; i++) row[i] = i <= pivot ? gram[pivot * k + i] : gram[i * k + pivot];
        for (size_t j = 0; j < r; j++) weights[j] = l[j * k + pivot];
        sk_gemv(ctx, SK_TRANSPOSED, r, k, -1, l, k, weights, 1, row);
        for (size_t i = 0; i < k; i++) {
            row[i] /= root;
            rest[i] = fmax(rest[i] - row[i] * row[i], 0);
        }
        rest[pivot] = 0;
    }
}

/* Step 3. */
static sock_status whole(sock_context *ctx, size_t k, double *gram, double share, double *values, double *vectors,
                         size_t *count)
{
    double *ascending = sk_doubles(ctx, k, 1);
    sock_status status = ascending ? sk_eigh(ctx, k, gram, k, ascending) : SOCK_ENOMEM;
    *count = 0;
    for (size_t j = 0; status == SOCK_OK && j < k; j++) {
        values[j] = ascending[k - 1 - j];
        if (values[j] > share * values[0] && values[j] > 0) *count = j + 1;
        memcpy(vectors + j * k, gram + (k - 1 - j) * k, k * sizeof *vectors);
    }
    sk_free(ascending);
    return status;
}

/* Step 2, for r rows in l. */
static sock_status rotate(sock_context *ctx, size_t k, size_t r, const double *l, double share, double *values,
                          double *vectors, size_t *count)
{
    double *q = sk_doubles(ctx, k, r), *upper = sk_doubles(ctx, r, r), *small = sk_doubles(ctx, r, r),
           *e = sk_doubles(ctx, r, r);
    sock_status status = q && upper && small && e ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < r; j++) q[i * r + j] = l[j * k + i];
    SK_GO(sk_qr(ctx, k, r, q, r, upper, r));
    sk_syrk(ctx, SK_PLAIN, r, r, 1, upper, r, 0, small, r);
    SK_GO(whole(ctx, r, small, share, values, e, count));
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, r, k, r, 1, e, r, q, r, 0, vectors, k);
out:
    sk_free(q);
    sk_free(upper);
    sk_free(small);
    sk_free(e);
    return status;
}

sock_status sk_psd_leading(sock_context *ctx, size_t k, double *gram, double share, double *values, double *vectors,
                           size_t *count)
{
    size_t most = k / 3, r = 0;
    double *l = sk_doubles(ctx, most, k), *rest = sk_doubles(ctx, k, 1), *weights = sk_doubles(ctx, most, 1);
    sock_status status = l && rest && weights ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    r = pivoted_rows(ctx, k, gram, share, most, l, rest, weights);
    if (r > most)
        SK_GO(whole(ctx, k, gram, share, values, vectors, count));
    else
        SK_GO(rotate(ctx, k, r, l, share, values, vectors, count));
out:
    sk_free(l);
    sk_free(rest);
    sk_free(weights);
    return status;
}
