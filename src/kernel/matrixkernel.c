/* matrixkernel.c - matrix-valued kernels K(x, y), d x d: sums of k_q(x, y) B_q, the curl-free and the divergence-free
 * Gaussian, and the user's own.
 *
 * With phi(u) = exp(-|u|^2 / (2 eta^2)), u = x - y:
 *
 *     curl-free         K = -grad grad' phi            = phi/eta^2 [ I - u u'/eta^2 ]
 *     divergence-free   K = (grad grad' - I lap) phi   = phi/eta^2 [ u u'/eta^2 + (d - 1 - |u|^2/eta^2) I ]
 *
 * so that every column of K(., y) is a gradient, or has no divergence (Narcowich and Ward 1994; Fuselier 2008). */
#include "kernel/terms.h"

#include <assert.h>
#include <math.h>

/* The d x d block at out (rows of length ld) of one pair of points. */
typedef struct pair {
    size_t d, ld;
    const double *x, *y;
    double *out;
} pair;

static void add_identity(const pair *b, double value)
{
    for (size_t k = 0; k < b->d; k++) b->out[k * b->ld + k] += value;
}

static void add_separable(const pair *b, const sk_term *term)
{
    const double value = sk_term_value(term, b->d, b->x, b->y);
    if (!term->b) {
        add_identity(b, value);
        return;
    }
    for (size_t k = 0; k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += value * term->b[k * b->d + l];
}

static void add_gradient_field(const pair *b, const sk_term *term)
{
    const double eta = term->eta;
    double square = 0;
    for (size_t k = 0; k < b->d; k++) square += (b->x[k] - b->y[k]) / eta * ((b->x[k] - b->y[k]) / eta);
    const double phi = term->scale * exp(-0.5 * square) / eta / eta;
    if (phi == 0) return; /* far apart: the square may be infinite, and 0 times it is no number */
    const bool curlfree = term->family == SK_CURLFREE;
    add_identity(b, curlfree ? phi : phi * ((double)b->d - 1 - square));
    const double factor = curlfree ? -phi : phi;
    for (size_t k = 0; k < b->d; k++) {
        const double uk = factor * ((b->x[k] - b->y[k]) / eta);
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += uk * ((b->x[l] - b->y[l]) / eta);
    }
}

static void add_own(const pair *b, const sk_term *term)
{
    double block[SK_MAX_OWN_DIM * SK_MAX_OWN_DIM];
    assert(b->d <= SK_MAX_OWN_DIM);
    term->callback(term->callback_user, b->d, b->x, b->y, block);
    for (size_t k = 0; k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += term->scale * block[k * b->d + l];
}

static void fill_pair(const pair *b, const sk_kernel *kernel)
{
    for (size_t k = 0; k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] = 0;
    for (size_t q = 0; q < kernel->terms; q++) {
        const sk_term *term = &kernel->term[q];
        if (term->family == SK_CALLBACK)
            add_own(b, term);
        else if (term->family == SK_CURLFREE || term->family == SK_DIVFREE)
            add_gradient_field(b, term);
        else
            add_separable(b, term);
    }
}

void sk_kernel_matrix_block(const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny, const double *y,
                            double *out, size_t ld)
{
    for (size_t i = 0; i < nx; i++)
        for (size_t j = 0; j < ny; j++) {
            const pair b = {.d = d, .ld = ld, .x = x + i * d, .y = y + j * d, .out = out + i * d * ld + j * d};
            fill_pair(&b, kernel);
        }
}
