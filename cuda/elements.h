/* elements.h - what is done for one element of many: an entry of a matrix, a feature of a point, a step of a path. The
 * same text for a card and for a processor. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "base/device.h"

#include <math.h>
#include <string.h>

#ifdef __CUDACC__
#define EACH __host__ __device__ static inline
#else
#define EACH static inline
#endif

/* Arrays whose places are all known when the code is compiled live in registers. */
#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED
#endif

enum {
    EACH_SVEC,     /* b of rows */
    EACH_WEIGHTED, /* times the root of a weight */
    EACH_PAIR,     /* sums of twice the digits += those of a block, which are zero then */
    EACH_UNPACK,   /* svec of blocks to a matrix */
    EACH_PACK,     /* and back */
    EACH_OMEGA,    /* the derivative of the projection, in coordinates of eigenvectors */
    EACH_COLUMNS,  /* columns times eigenvalues that are positive */
    EACH_SHIFTED,  /* a matrix plus a multiple of 1 */
    EACH_MIRROR,   /* upper triangle := lower, times a factor */
    EACH_SQUARES,  /* sum of the squares of the rows' matrices, from the products of their entries */
    EACH_TURN,     /* svec of matrices on a few axes, as svec of all features */
    EACH_ENTRY,    /* of W k(X, X) W' */
    EACH_START,    /* paths */
    EACH_FEATURE,  /* at the place of a path */
    EACH_STEP,
    EACH_WALK, /* steps of a path, its features and fields too */
    EACH_WRITE,
    EACH_KINDS
};

enum { MOST_STATES = 16, WALK_STATES = 4, WALK_PIECES = 8, WALK_COLUMNS = 32 };

typedef struct each_svec {
    size_t p, q, first;
    const double *phi, *weight;
    const size_t *row, *node;
    const unsigned *one, *other; /* features of each product */
    double *out;                 /* q x rows */
} each_svec;

typedef struct each_weighted {
    size_t q, systems, system, first;
    const double *b, *w;
    double *out;
} each_weighted;

typedef struct each_pair {
    double *block, *whole, *low;
} each_pair;

typedef struct each_matrix { /* of the order p d; v: q x pairs */
    size_t p, d, q;
    const double *v, *minus, *mu;
    double scale;
    double *m;
} each_matrix;

typedef struct each_turn {
    size_t p, q;                 /* features, and products of them */
    const unsigned *one, *other; /* features of each product */
    const double *from;          /* squares: q x q; turn: p x p, axes in columns, the last is the first */
    double *out;                 /* squares: p x p; turn: q x products of the axes */
} each_turn;

typedef struct each_entry {
    size_t n, d, terms;
    const double *x, *weight;
    const size_t *row, *node;
    const sk_device_term *term;
    double shift, *l;
} each_entry;

typedef struct each_feature {
    sk_device_piece piece; /* pointers to memory of the device */
    size_t paths, d;
    const double *x; /* paths x d, paths running fastest */
    double *phi;     /* paths x p, the same way */
} each_feature;

typedef struct each_step {
    size_t paths, first, each, d, step, factors, times, time;
    const double *x0;
    const sk_device_factor *factor;
    const double *const *fields; /* of each piece: paths x columns, paths running fastest */
    const int *drift;            /* of each piece */
    size_t pieces;
    uint64_t seed, purpose, first_start;
    double h, root, floor, to;
    int noisy, bounds;
    const double *lower, *upper;
    double *x, *lost_at, *out;
} each_step;

/* As a path reads it by itself: coefficients of FEW features of a column lie together, with zeros behind the last
 * feature; and behind the last column, where there are fewer than BAND. */
enum { FEW = 8, BAND = 4 };

typedef struct walk_piece {
    sk_device_piece of; /* with pointers to memory of the device */
    const double *packed;
} walk_piece;

typedef struct each_walk {
    each_step step; /* without fields */
    const walk_piece *piece;
    size_t done, steps, of; /* of the steps between two times: before, now, in all */
    double from, gap;       /* those times */
} each_walk;

typedef struct element_args {
    union {
        each_svec svec;
        each_weighted weighted;
        each_pair pair;
        each_matrix matrix;
        each_turn turn;
        each_entry entry;
        each_feature feature;
        each_step step;
        each_walk walk;
    } of;
} element_args;

#define COSINE_FAR 1e15
#define ROOT_TWO 1.41421356237309504880
#define ROOT_HALF 0.70710678118654752440

/* e = *low + n * *high. A card has no division of 64 bits: it takes some seventy instructions, and one of 32 bits ten.
 */
EACH void split(size_t e, size_t n, size_t *low, size_t *high)
{
    if ((e | n) >> 32 == 0) {
        const uint32_t small = (uint32_t)e, by = (uint32_t)n, many = small / by;
        *high = many;
        *low = small - many * by;
        return;
    }
    *high = e / n;
    *low = e % n;
}

/* ---- Sums ---- */

EACH void each_svec_do(const each_svec *a, size_t e)
{
    size_t i, j;
    split(e, a->q, &j, &i);
    const size_t row = a->first + i, k = a->one[j], l = a->other[j];
    double sum = 0;
    for (size_t at = a->row[row]; at < a->row[row + 1]; at++) {
        const double *phi = a->phi + a->node[at] * a->p;
        sum += a->weight[at] * phi[k] * phi[l];
    }
    a->out[e] = k == l ? sum : ROOT_TWO * sum;
}

EACH void each_weighted_do(const each_weighted *a, size_t e)
{
    size_t i, j;
    split(e, a->q, &j, &i);
    a->out[e] = sqrt(a->w[(a->first + i) * a->systems + a->system]) * a->b[e];
}

/* As base/sums.h; no compiler may reorder it. */
EACH void each_pair_do(const each_pair *a, size_t e)
{
    const double x = a->block[e], s = a->whole[e], sum = s + x, back = sum - s;
    a->block[e] = 0;
    if (!isfinite(sum)) {
        a->whole[e] = sum;
        return;
    }
    const double rest = (s - (sum - back)) + (x - back) + a->low[e], all = sum + rest, over = all - sum;
    a->whole[e] = all;
    a->low[e] = (sum - (all - over)) + (rest - over);
}

/* ---- Matrices of the problem ---- */

EACH size_t place_of_pair(size_t k, size_t l) { return k < l ? l * (l + 1) / 2 + k : k * (k + 1) / 2 + l; }

EACH void each_unpack_do(const each_matrix *a, size_t e)
{
    const size_t order = a->p * a->d, r = e % order, c = e / order, k = r / a->p, l = c / a->p;
    const size_t i = r % a->p, j = c % a->p, at = place_of_pair(i, j) + a->q * place_of_pair(k, l);
    const double half = (i == j ? 1 : ROOT_HALF) * (k == l ? 1 : ROOT_HALF);
    a->m[e] = a->scale * half * (a->minus ? a->v[at] - a->minus[at] : a->v[at]);
}

/* l (l + 1) / 2 + k = at, k <= l. */
EACH void split_pair(size_t at, size_t *k, size_t *l)
{
    size_t b = (size_t)((sqrt(8.0 * (double)at + 1) - 1) / 2);
    while ((b + 1) * (b + 2) / 2 <= at) b++;
    while (b * (b + 1) / 2 > at) b--;
    *l = b;
    *k = at - b * (b + 1) / 2;
}

/* v := svec of the blocks of the matrix `minus`. */
EACH void each_pack_do(const each_matrix *a, size_t e)
{
    const size_t order = a->p * a->d;
    size_t i, j, k, l;
    split_pair(e % a->q, &i, &j);
    split_pair(e / a->q, &k, &l);
    const double twice = 0.5 * (i == j ? 1 : ROOT_TWO) * (k == l ? 1 : ROOT_TWO);
    a->m[e] =
        twice * (a->minus[k * a->p + i + order * (l * a->p + j)] + a->minus[k * a->p + j + order * (l * a->p + i)]);
}

EACH void each_omega_do(const each_matrix *a, size_t e)
{
    const size_t order = a->p * a->d;
    const double one = a->mu[e % order], two = a->mu[e / order];
    a->m[e] *= one > 0 && two > 0 ? 1 : one <= 0 && two <= 0 ? 0 : one > 0 ? one / (one - two) : two / (two - one);
}

EACH void each_columns_do(const each_matrix *a, size_t e)
{
    const double mu = a->mu[e / (a->p * a->d)];
    a->m[e] = mu > 0 ? a->v[e] * mu * a->scale : 0;
}

/* Of order q. */
EACH void each_shifted_do(const each_matrix *a, size_t e) { a->m[e] = a->v[e] + (e % a->q == e / a->q ? a->scale : 0); }

EACH void each_mirror_do(const each_matrix *a, size_t e)
{
    size_t i, j;
    split(e, a->q, &i, &j);
    if (i < j) return;
    const double value = a->m[e] * a->scale;
    a->m[e] = value;
    a->m[j + i * a->q] = value;
}

/* Entry (a, b) of sum_i M_i M_i, where G has the sums of svec(M_i) svec(M_i)'. */
EACH void each_squares_do(const each_turn *t, size_t e)
{
    const size_t a = e % t->p, b = e / t->p;
    double sum = 0;
    for (size_t c = 0; c < t->p; c++)
        sum += (a == c ? 1 : ROOT_HALF) * (b == c ? 1 : ROOT_HALF) *
               t->from[place_of_pair(a, c) + t->q * place_of_pair(b, c)];
    t->out[e] = sum;
}

/* Of product (i, j) of features and product (k, l) of axes u: svec of (u_k u_l' + u_l u_k') / sqrt 2, or u_k u_k'. */
EACH void each_turn_do(const each_turn *t, size_t e)
{
    const size_t row = e % t->q, i = t->one[row], j = t->other[row];
    size_t k, l;
    split_pair(e / t->q, &k, &l);
    const double *one = t->from + (t->p - 1 - k) * t->p, *two = t->from + (t->p - 1 - l) * t->p;
    const double both = k == l ? one[i] * one[j] : ROOT_HALF * (one[i] * two[j] + two[i] * one[j]);
    t->out[e] = i == j ? both : ROOT_TWO * both;
}

/* ---- Kernels ---- */

EACH double term_value(const sk_device_term *t, size_t d, const double *x, size_t step, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        const double a = x[k * step];
        sum += t->gauss ? (a - y[k]) * (a - y[k]) : a * y[k];
    }
    if (t->gauss) {
        const double exponent = t->factor * sum;
        return t->scale * exp(exponent < -600 ? -600 : exponent);
    }
    double value = 1;
    for (unsigned i = 0; i < t->degree; i++) value *= sum + t->shift;
    return t->scale * value;
}

EACH double kernel_value(size_t terms, const sk_device_term *term, size_t d, const double *x, size_t step,
                         const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < terms; i++) sum += term_value(&term[i], d, x, step, y);
    return sum;
}

EACH void each_entry_do(const each_entry *a, size_t e)
{
    size_t i, j;
    split(e, a->n, &i, &j);
    if (i < j) return;
    double sum = i == j ? a->shift : 0;
    for (size_t r = a->row[i]; r < a->row[i + 1]; r++)
        for (size_t c = a->row[j]; c < a->row[j + 1]; c++)
            sum += a->weight[r] * a->weight[c] *
                   kernel_value(a->terms, a->term, a->d, a->x + a->node[r] * a->d, 1, a->x + a->node[c] * a->d);
    a->l[e] = sum;
}

/* ---- Paths ---- */

EACH double in_unit(const sk_device_piece *q, size_t k, double x)
{
    return q->unit ? (x - q->origin[k]) / q->unit[k] : x;
}

/* cos x to 4e-16 for |x| < COSINE_FAR, beyond which k has too few digits: x = k pi + r, cos x = (-1)^k cos r, and
 * Taylor's series up to r^20 / 20! for |r| <= pi / 2. A third of the work of a cosine whose small values have all their
 * digits, and no table. */
EACH double cosine_near(double x)
{
    const double whole = 6755399441055744.0; /* 1.5 * 2^52: what is added to it is rounded to a whole number */
    const double sum = x * 0.31830988618379067154 + whole, k = sum - whole;
    const double r = fma(-k, 1.2246467991473532072e-16, fma(-k, 3.1415926535897931160, x)), y = r * r;
    uint64_t odd;
    memcpy(&odd, &sum, sizeof odd);
    double value = 1.0 / 2432902008176640000.0;
    value = fma(y, value, -1.0 / 6402373705728000.0);
    value = fma(y, value, 1.0 / 20922789888000.0);
    value = fma(y, value, -1.0 / 87178291200.0);
    value = fma(y, value, 1.0 / 479001600.0);
    value = fma(y, value, -1.0 / 3628800.0);
    value = fma(y, value, 1.0 / 40320.0);
    value = fma(y, value, -1.0 / 720.0);
    value = fma(y, value, 1.0 / 24.0);
    value = fma(y, value, -0.5);
    value = fma(y, value, 1.0);
    return odd & 1 ? -value : value;
}

EACH double cosine(double x) { return fabs(x) < COSINE_FAR ? cosine_near(x) : cos(x); }

/* x: in units of the piece. */
EACH double feature(const sk_device_piece *q, size_t d, const double *x, size_t j)
{
    double value = 0;
    if (q->kind == SK_DEVICE_FOURIER) {
        for (size_t k = 0; k < d; k++) value += q->omega[j * d + k] * x[k];
        return q->size * cosine(q->frequency * value + q->beta[j]);
    }
    if (q->kind != SK_DEVICE_MONOMIALS) return kernel_value(q->terms, q->term, d, x, 1, q->point + j * d);
    value = q->beta[j];
    for (size_t k = 0; k < d; k++)
        for (unsigned i = 0; i < q->power[j * d + k]; i++) value *= x[k];
    return value;
}

EACH void each_feature_do(const each_feature *a, size_t e)
{
    const sk_device_piece *q = &a->piece;
    size_t path, j;
    split(e, a->paths, &path, &j);
    double x[MOST_STATES];
    for (size_t k = 0; k < a->d; k++) x[k] = in_unit(q, k, a->x[path + k * a->paths]);
    a->phi[e] = feature(q, a->d, x, j);
}

/* Philox4x64-10 and Box-Muller, as the library has them (base/random.c). */
EACH uint64_t upper_half(uint64_t x, uint64_t y)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(x, y);
#else
    const uint64_t a = x >> 32, b = x & 0xffffffffu, c = y >> 32, d = y & 0xffffffffu;
    const uint64_t low = b * d, one = a * d + (low >> 32), two = b * c + (one & 0xffffffffu);
    return a * c + (one >> 32) + (two >> 32);
#endif
}

EACH double unit_of(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0); }

EACH void four_normals(uint64_t seed, uint64_t purpose, uint64_t block, uint64_t a, uint64_t b, double z[4])
{
    uint64_t c0 = block, c1 = a, c2 = b, c3 = 1, k0 = seed, k1 = purpose;
    for (int round = 0; round < 10; round++) {
        const uint64_t m0 = 0xD2E7470EE14C6C93u, m1 = 0xCA5A826395121157u;
        const uint64_t h0 = upper_half(m0, c0), l0 = m0 * c0, h1 = upper_half(m1, c2), l1 = m1 * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B97F4A7C15u;
        k1 += 0xBB67AE8584CAA73Bu;
    }
    const uint64_t bits[4] = {c0, c1, c2, c3};
    for (int j = 0; j < 4; j += 2) {
        const double radius = sqrt(-2 * log(unit_of(bits[j]))), angle = 6.283185307179586476925 * unit_of(bits[j + 1]);
        z[j] = radius * cos(angle);
        z[j + 1] = radius * sin(angle);
    }
}

EACH double kept_within(const each_step *a, size_t k, double x)
{
    const double low = a->lower[k], high = a->upper[k];
    if (a->bounds == 1) return x < low ? low : x > high ? high : x;
    if (x >= low && x <= high) return x;
    if (isinf(high)) return 2 * low - x;
    if (isinf(low)) return 2 * high - x;
    const double width = high - low;
    if (width <= 0) return low;
    const double y = fmod(fabs(x - low), 2 * width);
    return y > width ? high - (y - width) : low + y;
}

EACH void each_start_do(const each_step *a, size_t path)
{
    for (size_t k = 0; k < a->d; k++) a->x[path + k * a->paths] = a->x0[(a->first + path) / a->each * a->d + k];
    a->lost_at[path] = INFINITY;
}

/* C C' = A, the lower triangle (rows of MOST_STATES); zero columns where A is singular, as la/small.c. */
EACH void factor_in_place(size_t d, double *a)
{
    int diagonal = 1;
    for (size_t k = 1; k < d; k++)
        for (size_t l = 0; l < k; l++) diagonal = diagonal && a[k * MOST_STATES + l] == 0;
    for (size_t k = 0; k < d; k++) {
        double *row = a + k * MOST_STATES;
        const double whole = row[k];
        double left = whole;
        for (size_t j = 0; j < k; j++) left -= row[j] * row[j];
        const int empty = diagonal ? left <= 0 : left <= 1e-14 * whole;
        row[k] = empty ? 0 : sqrt(left);
        for (size_t l = k + 1; l < d; l++) {
            double *below = a + l * MOST_STATES, sum = below[k];
            for (size_t j = 0; j < k; j++) sum -= below[j] * row[j];
            below[k] = empty ? 0 : sum / row[k];
        }
    }
}

/* Fields at the place of a path: column c of a piece is field[piece][first + stride * c]. */
typedef struct fields {
    const double *const *field;
    size_t first, stride;
} fields;

EACH void covariance(const each_step *a, const fields *at, double *out)
{
    const size_t n = at->stride, d = a->d;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l <= k; l++) out[k * MOST_STATES + l] = 0;
    for (size_t f = 0; f < a->factors; f++) {
        const sk_device_factor *factor = &a->factor[f];
        const double *b = at->field[factor->piece] + at->first + n * factor->first;
        for (size_t j = 0; j < factor->rank; j++)
            for (size_t k = 0; k < d; k++) {
                if (factor->owner && factor->owner[j] != k) continue;
                const double one = b[n * (factor->owner ? j : k * factor->rank + j)];
                for (size_t l = factor->owner ? k : 0; l <= k; l++)
                    out[k * MOST_STATES + l] += one * b[n * (factor->owner ? j : l * factor->rank + j)];
            }
    }
    for (size_t k = 0; k < d; k++) out[k * MOST_STATES + k] += a->floor;
}

/* Four normals at a time, which may serve several steps. */
typedef struct normals {
    int some;
    uint64_t block;
    double z[4];
} normals;

EACH double next_normal(const each_step *a, normals *have, uint64_t number, uint64_t start, uint64_t path)
{
    if (!have->some || number / 4 != have->block) {
        have->some = 1;
        have->block = number / 4;
        four_normals(a->seed, a->purpose, have->block, start, path, have->z);
    }
    return have->z[number % 4];
}

/* x += root C z with random numbers of the step. */
EACH void add_normals(const each_step *a, size_t path, size_t step, const double *c, normals *have, double *x)
{
    const size_t d = a->d, whole = a->first + path;
    const uint64_t start = a->first_start + whole / a->each, number = whole % a->each, first = (uint64_t)step * d;
    double z[MOST_STATES];
    for (size_t k = 0; k < d; k++) z[k] = next_normal(a, have, first + k, start, number);
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t l = 0; l <= k; l++) sum += c[k * MOST_STATES + l] * z[l];
        x[k] += a->root * sum;
    }
}

/* x: before the step, and behind it, but for bounds. 0: the path is lost. */
EACH int euler_step(const each_step *a, const fields *at, size_t path, size_t step, normals *have, double *x)
{
    double c[MOST_STATES * MOST_STATES];
    const size_t d = a->d;
    int finite = 1;
    for (size_t k = 0; k < d; k++) {
        double f = 0;
        for (size_t i = 0; i < a->pieces; i++)
            if (a->drift[i]) f += at->field[i][at->first + at->stride * k];
        x[k] += a->h * f;
    }
    if (a->noisy) {
        covariance(a, at, c);
        factor_in_place(d, c);
        add_normals(a, path, step, c, have, x);
    }
    for (size_t k = 0; k < d; k++) finite = finite && isfinite(x[k]);
    for (size_t k = 0; finite && a->bounds && k < d; k++) x[k] = kept_within(a, k, x[k]);
    return finite;
}

/* A path that is lost waits where it began. */
EACH void put_path(const each_step *a, size_t path, int finite, double lost_at, const double *x)
{
    if (!finite) a->lost_at[path] = lost_at;
    for (size_t k = 0; k < a->d; k++)
        a->x[path + a->paths * k] = finite ? x[k] : a->x0[(a->first + path) / a->each * a->d + k];
}

EACH void each_step_do(const each_step *a, size_t path)
{
    const fields at = {a->fields, path, a->paths};
    double x[MOST_STATES];
    normals have = {0};
    if (!isinf(a->lost_at[path])) return;
    for (size_t k = 0; k < a->d; k++) x[k] = a->x[path + a->paths * k];
    put_path(a, path, euler_step(a, &at, path, a->step, &have, x), a->to, x);
}

/* FEW features from j on, those beyond the last like the last: their coefficients are 0. Cosines side by side, as one
 * alone is a chain of steps that wait for each other. */
EACH void fourier_few(const sk_device_piece *q, size_t d, const double *x, size_t j, double *phi)
{
    int near = 1;
    UNROLLED
    for (int u = 0; u < FEW; u++) {
        const size_t at = j + u < q->p ? j + u : q->p - 1;
        double sum = 0;
        for (size_t k = 0; k < d; k++) sum += q->omega[at * d + k] * x[k];
        phi[u] = q->frequency * sum + q->beta[at];
        near = near && fabs(phi[u]) < COSINE_FAR;
    }
    if (!near) {
        for (int u = 0; u < FEW; u++) phi[u] = q->size * cos(phi[u]);
        return;
    }
    UNROLLED
    for (int u = 0; u < FEW; u++) phi[u] = q->size * cosine_near(phi[u]);
}

EACH void few_features(const sk_device_piece *q, size_t d, const double *x, size_t j, double *phi)
{
    if (q->kind == SK_DEVICE_FOURIER) {
        fourier_few(q, d, x, j, phi);
        return;
    }
    for (size_t u = 0; u < FEW; u++) phi[u] = j + u < q->p ? feature(q, d, x, j + u) : 0;
}

/* out = the columns of a piece at x: BAND columns or fewer are summed up in registers. */
EACH void piece_at(const walk_piece *w, size_t d, const double *x, double *out)
{
    const sk_device_piece *q = &w->of;
    const double *row = (const double *)__builtin_assume_aligned(w->packed, 16);
    double own[WALK_STATES], phi[FEW], sum[BAND] = {0};
    const int narrow = q->columns <= BAND;
    for (size_t k = 0; k < d; k++) own[k] = in_unit(q, k, x[k]);
    for (size_t c = 0; c < q->columns; c++) out[c] = 0;
    for (size_t j = 0; j < q->p; j += FEW) {
        few_features(q, d, own, j, phi);
        if (narrow) {
            UNROLLED
            for (int i = 0; i < BAND * FEW; i++) sum[i / FEW] += phi[i % FEW] * row[i];
            row += BAND * FEW;
            continue;
        }
        for (size_t c = 0; c < q->columns; c++, row += FEW) {
            double all = out[c];
            for (int u = 0; u < FEW; u++) all += phi[u] * row[u];
            out[c] = all;
        }
    }
    UNROLLED
    for (int c = 0; c < BAND; c++)
        if (narrow && (size_t)c < q->columns) out[c] = sum[c];
}

/* Nothing but the path itself is read or written: for few states and columns a product has more to carry than to do. */
EACH void each_walk_do(const each_walk *w, size_t path)
{
    const each_step *a = &w->step;
    double x[MOST_STATES], own[WALK_COLUMNS];
    const double *field[WALK_PIECES];
    const fields at = {field, 0, 1};
    normals have = {0};
    size_t column = 0, k = 0;
    int finite = 1;
    if (!isinf(a->lost_at[path])) return;
    for (size_t i = 0; i < a->d; i++) x[i] = a->x[path + a->paths * i];
    for (size_t i = 0; i < a->pieces; column += w->piece[i++].of.columns) field[i] = own + column;
    for (; k < w->steps && finite; k++) {
        double *to = own;
        for (size_t i = 0; i < a->pieces; to += w->piece[i++].of.columns) piece_at(&w->piece[i], a->d, x, to);
        finite = euler_step(a, &at, path, a->step + k, &have, x);
    }
    put_path(a, path, finite, w->from + w->gap * (double)(w->done + k) / (double)w->of, x);
}

EACH void each_write_do(const each_step *a, size_t path)
{
    for (size_t k = 0; k < a->d; k++)
        a->out[(path * a->times + a->time) * a->d + k] =
            isinf(a->lost_at[path]) ? a->x[path + k * a->paths] : (double)NAN;
}

/* What belongs to each kind: KIND(name, function, member of the arguments);. */
#define EACH_OF_ALL(KIND)                                                                                              \
    KIND(EACH_SVEC, each_svec_do, svec);                                                                               \
    KIND(EACH_WEIGHTED, each_weighted_do, weighted);                                                                   \
    KIND(EACH_PAIR, each_pair_do, pair);                                                                               \
    KIND(EACH_UNPACK, each_unpack_do, matrix);                                                                         \
    KIND(EACH_PACK, each_pack_do, matrix);                                                                             \
    KIND(EACH_OMEGA, each_omega_do, matrix);                                                                           \
    KIND(EACH_COLUMNS, each_columns_do, matrix);                                                                       \
    KIND(EACH_SHIFTED, each_shifted_do, matrix);                                                                       \
    KIND(EACH_MIRROR, each_mirror_do, matrix);                                                                         \
    KIND(EACH_SQUARES, each_squares_do, turn);                                                                         \
    KIND(EACH_TURN, each_turn_do, turn);                                                                               \
    KIND(EACH_ENTRY, each_entry_do, entry);                                                                            \
    KIND(EACH_START, each_start_do, step);                                                                             \
    KIND(EACH_FEATURE, each_feature_do, feature);                                                                      \
    KIND(EACH_STEP, each_step_do, step);                                                                               \
    KIND(EACH_WALK, each_walk_do, walk);                                                                               \
    KIND(EACH_WRITE, each_write_do, step);

#endif
