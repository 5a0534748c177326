/* kernel.c - scalar kernels in closed form: blocks [k(x_i, y_j)] and diagonals.
 *
 * A block is made tile after tile of SK_TILE columns, and a tile term after term by the rows of their families. A
 * tile's points (d * SK_TILE numbers) stay in the first or second cache; `out` is touched once for each term. Cost: nx
 * ny (d + about 10) operations. */
#include "kernel/family.h"

#include <assert.h>

enum { BAND = 256 };

size_t sk_kernel_space(size_t d, size_t ny)
{
    (void)ny; /* by tiles, whatever the number of columns */
    return (d + SK_TILE_ROWS) * SK_TILE;
}

/* out = or += scale * value. */
static void put_row(size_t n, const double *restrict value, double scale, bool first, double *restrict out)
{
    if (first)
        for (size_t j = 0; j < n; j++) out[j] = scale * value[j];
    else
        for (size_t j = 0; j < n; j++) out[j] += scale * value[j];
}

void sk_tile_put(const sk_tile *t, size_t i, const double *value, double scale)
{
    put_row(t->columns, value, scale, t->first, t->out + i * t->ld);
}

static void fill_tile(sk_tile *t, const sk_kernel *kernel)
{
    t->first = true;
    for (size_t q = 0; q < kernel->terms; q++, t->first = false) kernel->term[q].family->tile(t, &kernel->term[q]);
}

/* Rows by bands too: a long column of tiles would touch a new page of `out` with every row. */
void sk_kernel_block(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny,
                     const double *y, double *out, size_t ld, double *space)
{
    assert(sk_kernel_is_closed(kernel) && ld >= ny);
    for (size_t i = 0; i < nx; i += BAND)
        for (size_t j = 0; j < ny; j += SK_TILE) {
            sk_tile t = {.ctx = ctx,
                         .d = d,
                         .nx = SK_MIN(BAND, nx - i),
                         .columns = SK_MIN(SK_TILE, ny - j),
                         .x = x + i * d,
                         .y = y + j * d,
                         .out = out + i * ld + j,
                         .ld = ld,
                         .space = space};
            fill_tile(&t, kernel);
        }
}

void sk_kernel_diagonal(const sk_kernel *kernel, size_t d, size_t nx, const double *x, double *out)
{
    assert(sk_kernel_is_closed(kernel));
    for (size_t i = 0; i < nx; i++) {
        double sum = 0;
        for (size_t q = 0; q < kernel->terms; q++)
            sum += kernel->term[q].family->value(&kernel->term[q], d, x + i * d, x + i * d);
        out[i] = sum;
    }
}

sock_status sk_kernel_means_zero(sock_context *ctx, const sk_kernel *kernel, size_t d, bool *means)
{
    double *zero = sk_doubles(ctx, d, 1), value = 1;
    sk_kernel *closed = NULL;
    sock_status status = zero ? sk_kernel_closed_form(ctx, kernel, &closed) : SOCK_ENOMEM;
    if (status >= 0 && sk_kernel_is_closed(closed)) sk_kernel_diagonal(closed, d, 1, zero, &value);
    *means = value == 0;
    sk_kernel_free(closed);
    sk_free(zero);
    return status;
}
