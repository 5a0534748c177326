/* dotkernels.c - kernels of x.y: (x.y + 1)^degree, x.y, x.y + 1 and 1. Their features are in polyfeatures.c. */
#include "kernel/featuremap.h"
#include "la/la.h"

/* v^degree by squaring. */
static double power(double v, size_t degree)
{
    double result = 1;
    for (; degree; degree >>= 1, v *= v)
        if (degree & 1) result *= v;
    return result;
}

/* ---- Tiles ---- */

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
        for (size_t j = 0; j < n; j++) v[j] = power(v[j], degree);
}

/* scale (x.y + shift)^degree: a matrix product of SK_TILE_ROWS x SK_TILE at a time. */
static void dot_tile(const sk_tile *t, double scale, double shift, size_t degree)
{
    double *value = t->space + t->d * SK_TILE;
    for (size_t i = 0; i < t->nx; i += SK_TILE_ROWS) {
        const size_t rows = SK_MIN(SK_TILE_ROWS, t->nx - i);
        sk_gemm(t->ctx, SK_PLAIN, SK_TRANSPOSED, rows, t->columns, t->d, 1, t->x + i * t->d, t->d, t->y, t->d, 0, value,
                SK_TILE);
        for (size_t r = 0; r < rows; r++) {
            raise_row(t->columns, shift, degree, value + r * SK_TILE);
            sk_tile_put(t, i + r, value + r * SK_TILE, scale);
        }
    }
}

static void poly_tile(const sk_tile *t, const sk_term *term) { dot_tile(t, term->scale, 1, term->degree); }
static void linear_tile(const sk_tile *t, const sk_term *term) { dot_tile(t, term->scale, 0, 1); }
static void affine_tile(const sk_tile *t, const sk_term *term) { dot_tile(t, term->scale, 1, 1); }

static void constant_tile(const sk_tile *t, const sk_term *term)
{
    for (size_t i = 0; i < t->nx; i++) {
        double *out = t->out + i * t->ld;
        for (size_t j = 0; j < t->columns; j++) out[j] = t->first ? term->scale : out[j] + term->scale;
    }
}

/* ---- One pair ---- */

static double dot(size_t d, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) sum += x[k] * y[k];
    return sum;
}

static double poly_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    return term->scale * power(dot(d, x, y) + 1, term->degree);
}

static double linear_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    return term->scale * dot(d, x, y);
}

static double affine_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    return term->scale * (dot(d, x, y) + 1);
}

static double constant_value(const sk_term *term, size_t d, const double *x, const double *y)
{
    (void)d, (void)x, (void)y;
    return term->scale;
}

/* degree (x.y + 1)^(degree - 1) y */
static void poly_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient)
{
    const double factor = term->scale * ((double)term->degree * power(dot(d, x, y) + 1, term->degree - 1));
    for (size_t k = 0; k < d; k++) gradient[k] += factor * y[k];
}

/* Of x.y and x.y + 1 alike: y */
static void linear_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient)
{
    (void)x;
    for (size_t k = 0; k < d; k++) gradient[k] += term->scale * y[k];
}

static void constant_add_gradient(const sk_term *term, size_t d, const double *x, const double *y, double *gradient)
{
    (void)term, (void)d, (void)x, (void)y, (void)gradient;
}

/* ---- Features ---- */

static sock_status poly_make(const sk_making *m, sk_part *part) { return sk_monomials(m, part->term.degree, part); }
static sock_status poly_load(sk_stored *s, sk_part *part) { return sk_monomials_load(s, part->term.degree, part); }
static sock_status affine_make(const sk_making *m, sk_part *part) { return sk_monomials(m, 1, part); }
static sock_status affine_load(sk_stored *s, sk_part *part) { return sk_monomials_load(s, 1, part); }
static sock_status constant_load(sk_stored *s, sk_part *part) { return sk_monomials_load(s, 0, part); }
static sock_status constant_make(const sk_making *m, sk_part *part) { return sk_monomials(m, 0, part); }

/* C(d + degree, degree); each partial product is a binomial, so nothing is rounded while it fits. */
static double poly_count(const sk_term *term, size_t d, size_t max_rank)
{
    const size_t inner = sk_root_dim(term, d);
    double count = 1;
    (void)max_rank;
    for (size_t i = 1; i <= term->degree; i++) count = count * (double)(inner + i) / (double)i;
    return count;
}

static double linear_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)max_rank;
    return (double)sk_root_dim(term, d);
}

static double affine_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)max_rank;
    return (double)(sk_root_dim(term, d) + 1);
}

static double constant_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)term, (void)d, (void)max_rank;
    return 1;
}

/* ---- Rows ---- */

enum { COMMON = SK_BIT(SK_KEY_SCALE) | SK_BIT(SK_KEY_B), ROOTS = COMMON | SK_BIT(SK_KEY_IN) | SK_BIT(SK_KEY_BOUNDS) };

const sk_family sk_poly_family = {.name = "poly",
                                  .keys = SK_BIT(SK_KEY_DEGREE) | ROOTS,
                                  .polynomial = true,
                                  .value = poly_value,
                                  .add_gradient = poly_add_gradient,
                                  .tile = poly_tile,
                                  .make = poly_make,
                                  .load = poly_load,
                                  .count = poly_count};

/* sqrt(x^m) is the monomial m of the roots; what makes rates of them is that each stands alone (rootcoordinates.c). */
const sk_family sk_rates_family = {.name = "rates",
                                   .keys = SK_BIT(SK_KEY_DEGREE) | SK_BIT(SK_KEY_SCALE) | SK_BIT(SK_KEY_BOUNDS),
                                   .separate = true,
                                   .make = poly_make,
                                   .count = poly_count};

const sk_family sk_linear_family = {.name = "linear",
                                    .keys = ROOTS,
                                    .polynomial = true,
                                    .value = linear_value,
                                    .add_gradient = linear_add_gradient,
                                    .tile = linear_tile,
                                    .make = sk_coordinates,
                                    .count = linear_count};

const sk_family sk_affine_family = {.name = "affine",
                                    .keys = ROOTS,
                                    .polynomial = true,
                                    .value = affine_value,
                                    .add_gradient = linear_add_gradient,
                                    .tile = affine_tile,
                                    .make = affine_make,
                                    .load = affine_load,
                                    .count = affine_count};

const sk_family sk_constant_family = {.name = "constant",
                                      .keys = COMMON,
                                      .polynomial = true,
                                      .value = constant_value,
                                      .add_gradient = constant_add_gradient,
                                      .tile = constant_tile,
                                      .make = constant_make,
                                      .load = constant_load,
                                      .count = constant_count};
