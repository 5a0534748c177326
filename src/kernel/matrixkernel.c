/* matrixkernel.c - matrix-valued kernels K(x, y), d x d: sums of k_q(x, y) B_q and of families that are matrix-valued
 * themselves. */
#include "kernel/family.h"

static void add_separable(const sk_pair *b, const sk_term *term)
{
    const double value = term->family->value(term, b->d, b->x, b->y);
    for (size_t k = 0; !term->b && k < b->d; k++) b->out[k * b->ld + k] += value;
    for (size_t k = 0; term->b && k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += value * term->b[k * b->d + l];
}

static void fill_pair(const sk_pair *b, const sk_kernel *kernel)
{
    for (size_t k = 0; k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] = 0;
    for (size_t q = 0; q < kernel->terms; q++) {
        const sk_term *term = &kernel->term[q];
        if (term->family->add_pair)
            term->family->add_pair(b, term);
        else
            add_separable(b, term);
    }
}

void sk_kernel_matrix_block(const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny, const double *y,
                            double *out, size_t ld)
{
    for (size_t i = 0; i < nx; i++)
        for (size_t j = 0; j < ny; j++) {
            const sk_pair b = {.d = d, .ld = ld, .x = x + i * d, .y = y + j * d, .out = out + i * d * ld + j * d};
            fill_pair(&b, kernel);
        }
}
