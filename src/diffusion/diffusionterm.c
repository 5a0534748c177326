/* diffusionterm.c - evaluation of one summand of a on a block of points. */
#include "diffusion/diffusion.h"

#include <math.h>
#include <string.h>

void sk_diffusion_term_free(sk_diffusion_term *term)
{
    if (!term) return;
    sk_features_free(term->map);
    sk_free(term->v);
    sk_free(term->owner);
    sk_free(term);
}

sock_status sk_diffusion_term_copy(sock_context *ctx, const sk_diffusion_term *term, sk_diffusion_term **out)
{
    sk_diffusion_term *copy = sk_alloc(ctx, 1, sizeof *copy);
    if (!copy) return SOCK_ENOMEM;
    copy->d = term->d;
    copy->rank = term->rank;
    const size_t rows = term->d * sk_features_count(term->map);
    sock_status status;
    SK_GO(sk_features_copy(ctx, term->map, &copy->map));
    copy->v = sk_doubles(ctx, rows, term->rank);
    copy->owner = term->owner ? sk_alloc(ctx, term->rank, sizeof *copy->owner) : NULL;
    SK_GO(copy->v && (copy->owner || !term->owner) ? SOCK_OK : SOCK_ENOMEM);
    memcpy(copy->v, term->v, rows * term->rank * sizeof *copy->v);
    if (term->owner) memcpy(copy->owner, term->owner, term->rank * sizeof *copy->owner);
    *out = copy;
    return SOCK_OK;
out:
    sk_diffusion_term_free(copy);
    return status;
}

size_t sk_diffusion_term_space(const sk_diffusion_term *term, size_t block)
{
    size_t p = sk_features_count(term->map), b = block * term->rank * (term->owner ? 1 : term->d);
    return block * p + SK_MAX(sk_features_space(term->map, block), b);
}

/* Columns of one owner stand together, so a diagonal term is d small products: a_kk += |phi' V_k|^2. */
static void add_diagonal(sock_context *ctx, const sk_diffusion_term *term, size_t count, const double *phi, double *a,
                         double *b)
{
    size_t d = term->d, p = sk_features_count(term->map), r = term->rank;
    for (size_t begin = 0, end; begin < r; begin = end) {
        size_t k = term->owner[begin];
        for (end = begin; end < r && term->owner[end] == k;) end++;
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, end - begin, p, 1, phi, p, term->v + k * p * r + begin, r, 0, b,
                end - begin);
        for (size_t i = 0; i < count; i++) {
            const double *row = b + i * (end - begin);
            a[(i * d + k) * d + k] += sk_dot(end - begin, row, row);
        }
    }
}

/* B_k = Phi V_k for each component k (count x rank each), then a_kl += B_k . B_l row by row: a is a Gram matrix of the
 * rows of B, so it is positive semi-definite to rounding whatever x is. */
static void add_full(sock_context *ctx, const sk_diffusion_term *term, size_t count, const double *phi, double *a,
                     double *b)
{
    size_t d = term->d, p = sk_features_count(term->map), r = term->rank;
    for (size_t k = 0; k < d; k++)
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, r, p, 1, phi, p, term->v + k * p * r, r, 0, b + k * count * r, r);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l <= k; l++) {
                double sum = sk_dot(r, b + (k * count + i) * r, b + (l * count + i) * r);
                a[(i * d + k) * d + l] += sum;
                if (l < k) a[(i * d + l) * d + k] += sum;
            }
}

void sk_diffusion_term_add(sock_context *ctx, const sk_diffusion_term *term, size_t count, const double *x, double *a,
                           double *space)
{
    size_t p = sk_features_count(term->map);
    double *phi = space, *b = space + count * p;
    sk_features_block(ctx, term->map, count, x, phi, p, b);
    if (term->owner)
        add_diagonal(ctx, term, count, phi, a, b);
    else
        add_full(ctx, term, count, phi, a, b);
}

sock_status sk_leading_factor(sock_context *ctx, size_t order, const double *q, size_t most, double share, double **u,
                              size_t *rank)
{
    double *vectors = sk_doubles(ctx, order, order), *values = sk_doubles(ctx, order, 1), *out = NULL;
    sock_status status = vectors && values ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(vectors, q, order * order * sizeof *q);
        status = sk_eigh(ctx, order, vectors, order, values);
    }
    size_t kept = 0;
    while (status >= 0 && kept < SK_MIN(most, order) && values[order - 1 - kept] > share * values[order - 1]) kept++;
    if (status >= 0 && !(values[order - 1] > 0)) kept = 0;
    if (status >= 0 && !(out = sk_doubles(ctx, order, SK_MAX(kept, 1)))) status = SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < kept; j++)
        for (size_t i = 0; i < order; i++)
            out[i * kept + j] = sqrt(values[order - 1 - j]) * vectors[(order - 1 - j) * order + i];
    sk_free(vectors);
    sk_free(values);
    if (status < 0) return status;
    *u = out;
    *rank = kept;
    return SOCK_OK;
}
