/* driftterm.c - evaluation of one summand of f on a block of points. */
#include "drift/drift.h"

#include <string.h>

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

sock_status sk_drift_term_copy(sock_context *ctx, const sk_drift_term *term, sk_drift_term **out)
{
    sk_drift_term *copy = sk_alloc(ctx, 1, sizeof *copy);
    if (!copy) return SOCK_ENOMEM;
    copy->d = term->d;
    copy->centres = term->centres;
    sock_status status =
        term->map ? sk_features_copy(ctx, term->map, &copy->map) : sk_kernel_copy(ctx, term->kernel, &copy->kernel);
    size_t rows = sk_drift_term_size(term);
    if (status >= 0) {
        copy->weight = sk_doubles(ctx, rows, term->d);
        copy->centre = sk_doubles(ctx, term->centres, term->d);
        if (!copy->weight || !copy->centre) status = SOCK_ENOMEM;
    }
    if (status < 0) {
        sk_drift_term_free(copy);
        return status;
    }
    memcpy(copy->weight, term->weight, rows * term->d * sizeof(double));
    if (term->centres) memcpy(copy->centre, term->centre, term->centres * term->d * sizeof(double));
    *out = copy;
    return SOCK_OK;
}

size_t sk_drift_term_size(const sk_drift_term *term)
{
    return term->map ? sk_features_count(term->map) : term->centres;
}

sock_status sk_drift_term_basis(sock_context *ctx, const sk_drift_term *term, size_t count, const double *x,
                                double *out)
{
    const size_t p = sk_drift_term_size(term);
    double *space =
        sk_doubles_unset(ctx, term->map ? sk_features_space(term->map, count) : sk_kernel_space(term->d, p), 1);
    if (!space) return SOCK_ENOMEM;
    if (term->map)
        sk_features_block(ctx, term->map, count, x, out, p, space);
    else
        sk_kernel_block(ctx, term->kernel, term->d, count, x, p, term->centre, out, p, space);
    sk_free(space);
    return SOCK_OK;
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
