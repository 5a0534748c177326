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

/* Step 1. */
size_t sk_psd_pivoted_rows(sock_context *ctx, const double *gram, double share, const sk_psd_pivots *w)
{
    size_t k = w->k;
    double total = 0;
    for (size_t i = 0; i < k; i++) total += w->rest[i] = fmax(gram[i * k + i], 0);
    for (size_t r = 0;; r++) {
        double left = 0;
        size_t pivot = 0;
        for (size_t i = 0; i < k; i++) {
            left += w->rest[i];
            if (w->rest[i] > w->rest[pivot]) pivot = i;
        }
        if (!(left > 0.1 * share * total)) return r;
        if (r == w->most) return w->most + 1;
        double *row = w->l + r * k, root = sqrt(w->rest[pivot]);
        w->pivot[r] = pivot;
        for (size_t i = 0; i < k; i++) row[i] = i <= pivot ? gram[pivot * k + i] : gram[i * k + pivot];
        for (size_t j = 0; j < r; j++) w->weights[j] = w->l[j * k + pivot];
        sk_gemv(ctx, SK_TRANSPOSED, r, k, -1, w->l, k, w->weights, 1, row);
        for (size_t i = 0; i < k; i++) {
            row[i] /= root;
            w->rest[i] = fmax(w->rest[i] - row[i] * row[i], 0);
        }
        w->rest[pivot] = 0;
    }
}

sock_status sk_psd_pivots_new(sock_context *ctx, size_t k, size_t most, sk_psd_pivots *w)
{
    *w = (sk_psd_pivots){.k = k,
                         .most = most,
                         .l = sk_doubles_unset(ctx, most, k),
                         .rest = sk_doubles_unset(ctx, k, 1),
                         .weights = sk_doubles_unset(ctx, most, 1),
                         .pivot = sk_alloc(ctx, most, sizeof *w->pivot)};
    return w->l && w->rest && w->weights && w->pivot ? SOCK_OK : SOCK_ENOMEM;
}

void sk_psd_pivots_clear(sk_psd_pivots *w)
{
    sk_free(w->l);
    sk_free(w->rest);
    sk_free(w->weights);
    sk_free(w->pivot);
    *w = (sk_psd_pivots){0};
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
    *count = 0;
    if (!r) return SOCK_OK; /* nothing there */
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
    sk_psd_pivots w;
    sock_status status = sk_psd_pivots_new(ctx, k, most, &w);
    if (status < 0) goto out;
    r = sk_psd_pivoted_rows(ctx, gram, share, &w);
    if (r > most)
        SK_GO(whole(ctx, k, gram, share, values, vectors, count));
    else
        SK_GO(rotate(ctx, k, r, w.l, share, values, vectors, count));
out:
    sk_psd_pivots_clear(&w);
    return status;
}
