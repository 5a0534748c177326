/* kernel.c - scalar kernels in closed form: blocks [k(x_i, y_j)], diagonals, single values and gradients.
 *
 * A block is made tile after tile of TILE columns, in the order
 *
 *   1. transpose the tile's points, so that a coordinate of neighbouring columns stands in neighbouring places;
 *   2. for every row: exponents -|x-y|^2 / (2 eta^2) from differences, the exponential, the sum into `out`.
 *
 * A tile (d * TILE numbers) stays in the first or second cache; `out` is touched once for each term. Kernels of x.y
 * take a matrix product of TILE_ROWS x TILE in place of step 2. Cost: nx ny (d + about 10) operations. */
#include "kernel/terms.h"
#include "la/la.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { TILE = 256, BAND = 256, TILE_ROWS = 16, LANES = 8 };

/* No Gaussian is less than exp(-600) = 3e-261: the difference from 0 is beyond notice, while far exponents make the
 * vector exponential slow and their results, multiplied on, denormal. */
#define LOWEST (-600.0)

size_t sk_kernel_space(size_t d, size_t ny)
{
    (void)ny; /* by tiles, whatever the number of columns */
    return (d + TILE_ROWS) * TILE;
}

double sk_power(double v, size_t degree)
{
    double result = 1;
    for (; degree; degree >>= 1, v *= v)
        if (degree & 1) result *= v;
    return result;
}

/* -1/(2 eta^2), kept away from 0 and infinity so that no product with a square is 0 * infinity. */
static double gauss_factor(double eta)
{
    double factor = -0.5 / eta / eta;
    return fmax(fmin(factor, -DBL_MIN), -DBL_MAX);
}

/* ---- Exponents of one row of a tile: out[j] = max(c sum_k (y_k[j] - x[k])^2, LOWEST), y_k[j] = yt[k * TILE + j] ----
 *
 * n is a multiple of LANES. The plain loop below says it all; the others are the same for wide registers, four of
 * which collect sums at a time. */

static void exponents_plain(size_t n, size_t d, const double *x, const double *yt, double c, double *out)
{
    for (size_t j = 0; j < n; j++) out[j] = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < n; j++) out[j] += (yt[k * TILE + j] - x[k]) * (yt[k * TILE + j] - x[k]);
    for (size_t j = 0; j < n; j++) out[j] = c * out[j] > LOWEST ? c * out[j] : LOWEST;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDE 1

#define EXPONENTS(name, isa, vec, width, bits)                                                                         \
    __attribute__((target(isa))) static void name(size_t n, size_t d, const double *x, const double *yt, double c,     \
                                                  double *out)                                                         \
    {                                                                                                                  \
        const vec factor = bits##_set1_pd(c), lowest = bits##_set1_pd(LOWEST);                                         \
        size_t j = 0;                                                                                                  \
        for (; j + 4 * (width) <= n; j += 4 * (width)) {                                                               \
            vec s0 = bits##_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;                                                   \
            for (size_t k = 0; k < d; k++) {                                                                           \
                const double *y = yt + k * TILE + j;                                                                   \
                const vec xk = bits##_set1_pd(x[k]);                                                                   \
                const vec d0 = bits##_sub_pd(bits##_loadu_pd(y), xk);                                                  \
                const vec d1 = bits##_sub_pd(bits##_loadu_pd(y + (width)), xk);                                        \
                const vec d2 = bits##_sub_pd(bits##_loadu_pd(y + 2 * (width)), xk);                                    \
                const vec d3 = bits##_sub_pd(bits##_loadu_pd(y + 3 * (width)), xk);                                    \
                s0 = bits##_fmadd_pd(d0, d0, s0);                                                                      \
                s1 = bits##_fmadd_pd(d1, d1, s1);                                                                      \
                s2 = bits##_fmadd_pd(d2, d2, s2);                                                                      \
                s3 = bits##_fmadd_pd(d3, d3, s3);                                                                      \
            }                                                                                                          \
            bits##_storeu_pd(out + j, bits##_max_pd(bits##_mul_pd(s0, factor), lowest));                               \
            bits##_storeu_pd(out + j + (width), bits##_max_pd(bits##_mul_pd(s1, factor), lowest));                     \
            bits##_storeu_pd(out + j + 2 * (width), bits##_max_pd(bits##_mul_pd(s2, factor), lowest));                 \
            bits##_storeu_pd(out + j + 3 * (width), bits##_max_pd(bits##_mul_pd(s3, factor), lowest));                 \
        }                                                                                                              \
        for (; j < n; j += (width)) {                                                                                  \
            vec s = bits##_setzero_pd();                                                                               \
            for (size_t k = 0; k < d; k++) {                                                                           \
                const vec t = bits##_sub_pd(bits##_loadu_pd(yt + k * TILE + j), bits##_set1_pd(x[k]));                 \
                s = bits##_fmadd_pd(t, t, s);                                                                          \
            }                                                                                                          \
            bits##_storeu_pd(out + j, bits##_max_pd(bits##_mul_pd(s, factor), lowest));                                \
        }                                                                                                              \
    }

EXPONENTS(exponents_avx512, "avx512f", __m512d, 8, _mm512)
EXPONENTS(exponents_avx2, "avx2,fma", __m256d, 4, _mm256)
#endif

typedef void (*exponents_fn)(size_t, size_t, const double *, const double *, double, double *);

static exponents_fn choose_exponents(void)
{
#ifdef WIDE
    if (__builtin_cpu_supports("avx512f")) return exponents_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return exponents_avx2;
#endif
    return exponents_plain;
}

/* ---- Tiles ---- */

typedef struct tile {
    sock_context *ctx;
    size_t d, nx, columns;
    const double *x, *y; /* y: the tile's points */
    double *out;         /* the tile's first column */
    size_t ld;
    bool first;    /* set out, do not add to it */
    double *space; /* d * TILE for the transposed points, then TILE_ROWS * TILE */
} tile;

/* Columns beyond the last, up to a whole vector, are copies of the first: harmless numbers. */
static size_t transpose_points(const tile *t, double *yt)
{
    size_t padded = (t->columns + LANES - 1) / LANES * LANES;
    for (size_t k = 0; k < t->d; k++) {
        double *row = yt + k * TILE;
        for (size_t j = 0; j < t->columns; j++) row[j] = t->y[j * t->d + k];
        for (size_t j = t->columns; j < padded; j++) row[j] = t->y[k];
    }
    return padded;
}

/* out = or += scale * value. */
static void put_row(size_t n, const double *restrict value, double scale, bool first, double *restrict out)
{
    if (first)
        for (size_t j = 0; j < n; j++) out[j] = scale * value[j];
    else
        for (size_t j = 0; j < n; j++) out[j] += scale * value[j];
}

static void gauss_tile(const tile *t, const sk_term *term)
{
    const exponents_fn exponents = choose_exponents();
    const double c = gauss_factor(term->eta), scale = term->scale;
    double *yt = t->space, *value = t->space + t->d * TILE;
    const size_t padded = transpose_points(t, yt);
    for (size_t i = 0; i < t->nx; i++) {
        double *out = t->out + i * t->ld;
        exponents(padded, t->d, t->x + i * t->d, yt, c, value);
        sk_vexp(padded, value, value);
        put_row(t->columns, value, scale, t->first, out);
    }
}

/* v = (v + shift)^degree. */
static void raise_row(size_t n, double shift, size_t degree, double *v)
{
    if (shift != 0)
        for (size_t j = 0; j < n; j++) v[j] += shift;
    if (degree == 2)
        for (size_t j = 0; j < n; j++) v[j] *= v[j];
    else if (degree == 3)
        for (size_t j = 0; j < n; j++) v[j] *= v[j] * v[j];
    else if (degree > 3)
        for (size_t j = 0; j < n; j++) v[j] = sk_power(v[j], degree);
}

/* (x.y + shift)^degree: linear, affine and poly. */
static void dot_tile(const tile *t, const sk_term *term)
{
    const double shift = term->family == SK_LINEAR ? 0 : 1, scale = term->scale;
    const size_t degree = term->family == SK_POLY ? term->degree : 1;
    double *value = t->space + t->d * TILE;
    for (size_t i = 0; i < t->nx; i += TILE_ROWS) {
        const size_t rows = SK_MIN(TILE_ROWS, t->nx - i);
        sk_gemm(t->ctx, SK_PLAIN, SK_TRANSPOSED, rows, t->columns, t->d, 1, t->x + i * t->d, t->d, t->y, t->d, 0, value,
                TILE);
        for (size_t r = 0; r < rows; r++) {
            double *v = value + r * TILE;
            raise_row(t->columns, shift, degree, v);
            put_row(t->columns, v, scale, t->first, t->out + (i + r) * t->ld);
        }
    }
}

static void constant_tile(const tile *t, const sk_term *term)
{
    for (size_t i = 0; i < t->nx; i++) {
        double *out = t->out + i * t->ld;
        for (size_t j = 0; j < t->columns; j++) out[j] = t->first ? term->scale : out[j] + term->scale;
    }
}

static void fill_tile(tile *t, const sk_kernel *kernel)
{
    t->first = true;
    for (size_t q = 0; q < kernel->terms; q++, t->first = false) {
        const sk_term *term = &kernel->term[q];
        if (term->family == SK_GAUSS)
            gauss_tile(t, term);
        else if (term->family == SK_CONSTANT)
            constant_tile(t, term);
        else
            dot_tile(t, term);
    }
}

/* Rows by bands too: a long column of tiles would touch a new page of `out` with every row. */
void sk_kernel_block(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny,
                     const double *y, double *out, size_t ld, double *space)
{
    assert(sk_kernel_is_closed(kernel) && ld >= ny);
    for (size_t i = 0; i < nx; i += BAND)
        for (size_t j = 0; j < ny; j += TILE) {
            tile t = {.ctx = ctx,
                      .d = d,
                      .nx = SK_MIN(BAND, nx - i),
                      .columns = SK_MIN(TILE, ny - j),
                      .x = x + i * d,
                      .y = y + j * d,
                      .out = out + i * ld + j,
                      .ld = ld,
                      .space = space};
            fill_tile(&t, kernel);
        }
}

/* ---- One pair ---- */

static double square_distance(size_t d, const double *x, const double *y)
{
    double square = 0;
    for (size_t k = 0; k < d; k++) square += (x[k] - y[k]) * (x[k] - y[k]);
    return square;
}

static double dot(size_t d, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) sum += x[k] * y[k];
    return sum;
}

double sk_term_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    switch (term->family) {
    case SK_GAUSS: return term->scale * exp(fmax(gauss_factor(term->eta) * square_distance(d, x, y), LOWEST));
    case SK_POLY: return term->scale * sk_power(dot(d, x, y) + 1, term->degree);
    case SK_LINEAR: return term->scale * dot(d, x, y);
    case SK_AFFINE: return term->scale * (dot(d, x, y) + 1);
    default: assert(term->family == SK_CONSTANT); return term->scale;
    }
}

/* gauss: k(x, y) (y - x) / eta^2;  poly: degree (x.y + 1)^(degree - 1) y;  linear and affine: y. */
void sk_term_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient)
{
    double factor = term->scale;
    if (term->family == SK_CONSTANT) return;
    if (term->family == SK_GAUSS) {
        factor = sk_term_value(term, d, x, y) / term->eta / term->eta;
        for (size_t k = 0; k < d; k++) gradient[k] += factor * (y[k] - x[k]);
        return;
    }
    if (term->family == SK_POLY) factor *= (double)term->degree * sk_power(dot(d, x, y) + 1, term->degree - 1);
    for (size_t k = 0; k < d; k++) gradient[k] += factor * y[k];
}

void sk_kernel_diagonal(const sk_kernel *kernel, size_t d, size_t nx, const double *x, double *out)
{
    assert(sk_kernel_is_closed(kernel));
    for (size_t i = 0; i < nx; i++) {
        double sum = 0;
        for (size_t q = 0; q < kernel->terms; q++) sum += sk_term_value(&kernel->term[q], d, x + i * d, x + i * d);
        out[i] = sum;
    }
}
