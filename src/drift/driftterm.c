/* driftterm.c - evaluation of one summand of f on a block of points. */
#include "drift/drift.h"

#include <assert.h>

enum { CENTRES_AT_ONCE = 256 };

void sk_drift_term_free(sk_drift_term *term)
{
    if (!term) return;
    sk_kernel_free(term->kernel);
    sk_features_free(term->map);
    sk_free(term->centre);
    sk_free(term->weight);
    sk_free(term);
}

size_t sk_drift_term_space(const sk_drift_term *term, size_t block)
{
    if (term->map) return block * sk_features_count(term->map) + sk_features_space(term->map, block);
    if (sk_kernel_is_matrix(term->kernel)) return block * term->d * CENTRES_AT_ONCE * term->d;
    return block * CENTRES_AT_ONCE + sk_kernel_space(term->d, CENTRES_AT_ONCE);
}

/* f += k(X, centres) c, a tile of centres at a time so that the kernel values stay in the cache. */
void sk_drift_term_add(sock_context *ctx, const sk_drift_term *term, size_t count, const double *x, double *f,
                       double *space)
{
    size_t d = term->d;
    if (term->map) {
        size_t p = sk_features_count(term->map);
        sk_features_block(ctx, term->map, count, x, space, p, space + count * p);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, d, p, 1, space, p, term->weight, d, 1, f, d);
        return;
    }
    bool matrix = sk_kernel_is_matrix(term->kernel);
    for (size_t c = 0; c < term->centres; c += CENTRES_AT_ONCE) {
        size_t width = SK_MIN(CENTRES_AT_ONCE, term->centres - c);
        const double *centre = term->centre + c * d, *weight = term->weight + c * d;
        if (matrix) {
            sk_kernel_matrix_block(term->kernel, d, count, x, width, centre, space, width * d);
            sk_gemv(ctx, SK_PLAIN, count * d, width * d, 1, space, width * d, weight, 1, f);
        } else {
            sk_kernel_block(ctx, term->kernel, d, count, x, width, centre, space, width, space + count * width);
            sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, d, width, 1, space, width, weight, d, 1, f, d);
        }
    }
}
