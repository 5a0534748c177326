/* gauss.c - the Gaussian kernel exp(-|x-y|^2 / (2 eta^2)).
 *
 * A tile: transpose its points, so that a coordinate of neighbouring columns stands in neighbouring places; then for
 * every row exponents from differences, the exponential, the sum into `out`. */
#include "kernel/family.h"

#include <float.h>
#include <math.h>

enum { LANES = 8 };

/* No Gaussian is less than exp(-600) = 3e-261: the difference from 0 is beyond notice, while far exponents make the
 * vector exponential slow and their results, multiplied on, denormal. What is no number stays none: a maximum of two is
 * the second where they cannot be compared. */
#define LOWEST (-600.0)

/* -1/(2 eta^2), kept away from 0 and infinity so that no product with a square is 0 * infinity. */
static double gauss_factor(double eta)
{
    double factor = -0.5 / eta / eta;
    return fmax(fmin(factor, -DBL_MIN), -DBL_MAX);
}

/* ---- Exponents of one row of a tile: out[j] = max(c sum_k (y_k[j] - x[k])^2, LOWEST), y_k[j] = yt[k * SK_TILE + j]
 * ----
 *
 * n is a multiple of LANES. The plain loop below says it all; the others are the same for wide registers, four of
 * which collect sums at a time. */

static void exponents_plain(size_t n, size_t d, const double *x, const double *yt, double c, double *out)
{
    for (size_t j = 0; j < n; j++) out[j] = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < n; j++) out[j] += (yt[k * SK_TILE + j] - x[k]) * (yt[k * SK_TILE + j] - x[k]);
    for (size_t j = 0; j < n; j++) out[j] = c * out[j] < LOWEST ? LOWEST : c * out[j];
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
                const double *y = yt + k * SK_TILE + j;                                                                \
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
            bits##_storeu_pd(out + j, bits##_max_pd(lowest, bits##_mul_pd(s0, factor)));                               \
            bits##_storeu_pd(out + j + (width), bits##_max_pd(lowest, bits##_mul_pd(s1, factor)));                     \
            bits##_storeu_pd(out + j + 2 * (width), bits##_max_pd(lowest, bits##_mul_pd(s2, factor)));                 \
            bits##_storeu_pd(out + j + 3 * (width), bits##_max_pd(lowest, bits##_mul_pd(s3, factor)));                 \
        }                                                                                                              \
        for (; j < n; j += (width)) {                                                                                  \
            vec s = bits##_setzero_pd();                                                                               \
            for (size_t k = 0; k < d; k++) {                                                                           \
                const vec t = bits##_sub_pd(bits##_loadu_pd(yt + k * SK_TILE + j), bits##_set1_pd(x[k]));              \
                s = bits##_fmadd_pd(t, t, s);                                                                          \
            }                                                                                                          \
            bits##_storeu_pd(out + j, bits##_max_pd(lowest, bits##_mul_pd(s, factor)));                                \
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

/* Columns beyond the last, up to a whole vector, are copies of the first: harmless numbers. */
static size_t transpose_points(const sk_tile *t, double *yt)
{
    size_t padded = (t->columns + LANES - 1) / LANES * LANES;
    for (size_t k = 0; k < t->d; k++) {
        double *row = yt + k * SK_TILE;
        for (size_t j = 0; j < t->columns; j++) row[j] = t->y[j * t->d + k];
        for (size_t j = t->columns; j < padded; j++) row[j] = t->y[k];
    }
    return padded;
}

static void gauss_tile(const sk_tile *t, const sk_term *term)
{
    const exponents_fn exponents = choose_exponents();
    const double c = gauss_factor(term->eta);
    double *yt = t->space, *value = t->space + t->d * SK_TILE;
    const size_t padded = transpose_points(t, yt);
    for (size_t i = 0; i < t->nx; i++) {
        exponents(padded, t->d, t->x + i * t->d, yt, c, value);
        sk_vexp(padded, value, value);
        sk_tile_put(t, i, value, term->scale);
    }
}

/* ---- One pair ---- */

static double square_distance(size_t d, const double *x, const double *y)
{
    double square = 0;
    for (size_t k = 0; k < d; k++) square += (x[k] - y[k]) * (x[k] - y[k]);
    return square;
}

static double gauss_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    return term->scale * exp(fmax(gauss_factor(term->eta) * square_distance(d, x, y), LOWEST));
}

/* k(x, y) (y - x) / eta^2 */
static void gauss_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient)
{
    const double factor = gauss_value(term, d, x, y) / term->eta / term->eta;
    for (size_t k = 0; k < d; k++) gradient[k] += factor * (y[k] - x[k]);
}

static double gauss_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)term, (void)d;
    return (double)max_rank;
}

const sk_family sk_gauss_family = {.name = "gauss",
                                   .keys = SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_SCALE) | SK_BIT(SK_KEY_B) |
                                           SK_BIT(SK_KEY_IN) | SK_BIT(SK_KEY_BOUNDS),
                                   .value = gauss_value,
                                   .add_gradient = gauss_add_gradient,
                                   .tile = gauss_tile,
                                   .count = gauss_count};
