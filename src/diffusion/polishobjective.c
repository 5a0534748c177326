/* polishobjective.c - the quasi-likelihood of polish.h and its gradient.
 *
 *   1. T0 = phi0 W, T1 = phi1 W: row i of each is a d x rank matrix, and a(y_i) = T0_i T0_i'.
 *   2. Each row: C = h/2 (T0 T0' + T1 T1') + eps I, its term F = (log det C + e' C^-1 e + eps tr C^-1) / 2, and
 *      B = dF/dC = (C^-1 - C^-1 e e' C^-1 - eps C^-2) / 2. T0 := h B T0, T1 := h B T1 are dF/dT0, dF/dT1.
 *   3. Gradient = phi0' T0 + phi1' T1.
 *   4. Penalty: |U U'|^2 = |U'U|^2, with gradient 4 U (U'U).
 *
 * Cost: 8 n p d rank, and n d^2 (d + rank) for the rows. The rows are cut into at most BLOCKS blocks, each with sums of
 * its own that are added in order; a block runs in chunks that fit in cache. Neither cut depends on the threads. */
#include "diffusion/polish.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 64, BLOCK_AT_LEAST = 512, CHUNK = 256, CHUNK_AT_LEAST = 16 };

static const double worth_threads = 2e7; /* operations: some milliseconds; speed only */
static const double product_alone = 3e6; /* operations of a product on one thread; speed only */
static const double jitter = 1e-10;      /* of the metric, relative to its diagonal */

struct sk_polish_space {
    sock_context *ctx;
    const sk_polish_problem *problem;
    size_t rank, width; /* width = d rank */
    size_t block, blocks, chunk, grain;
    size_t private_size; /* doubles of each worker */
    double *private;
    double *partial, *value; /* blocks x (p width), blocks */
    double *omega;           /* n: curvature of each row */
    double *gram;            /* rank x rank: U'U */
    const double *w;
};

/* ---- Layout ---- */

void sk_polish_from_u(const sk_polish_problem *problem, size_t rank, const double *u, double *w)
{
    size_t d = problem->d, p = problem->p;
    for (size_t k = 0; k < d; k++)
        for (size_t a = 0; a < p; a++) memcpy(w + (a * d + k) * rank, u + (k * p + a) * rank, rank * sizeof(double));
}

void sk_polish_to_u(const sk_polish_problem *problem, size_t rank, const double *w, double *u)
{
    size_t d = problem->d, p = problem->p;
    for (size_t k = 0; k < d; k++)
        for (size_t a = 0; a < p; a++) memcpy(u + (k * p + a) * rank, w + (a * d + k) * rank, rank * sizeof(double));
}

/* ---- Space ---- */

static void cut_rows(sk_polish_space *s)
{
    size_t n = s->problem->n;
    const double row = 2 * (double)s->problem->p * (double)SK_MAX(s->width, 1); /* operations; speed only */
    s->block = SK_MAX((size_t)BLOCK_AT_LEAST, (n + BLOCKS - 1) / BLOCKS);       /* speed only */
    s->blocks = (n + s->block - 1) / s->block;
    s->chunk = (size_t)fmax(CHUNK_AT_LEAST, fmin(CHUNK, product_alone / row));
    s->grain = 4 * row * (double)n < worth_threads ? s->blocks : 1; /* speed only */
}

sock_status sk_polish_space_new(sock_context *ctx, const sk_polish_problem *problem, size_t rank, sk_polish_space **out)
{
    size_t d = problem->d;
    sk_polish_space *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->ctx = ctx;
    s->problem = problem;
    s->rank = rank;
    s->width = d * rank;
    cut_rows(s);
    s->private_size = 2 * s->chunk * s->width + 2 * d * d + d + s->width;
    s->private = sk_doubles(ctx, (size_t)sk_workers(ctx), s->private_size);
    s->partial = sk_doubles(ctx, s->blocks, problem->p * s->width);
    s->value = sk_doubles(ctx, s->blocks, 1);
    s->omega = sk_doubles(ctx, problem->n, 1);
    s->gram = sk_doubles(ctx, rank, rank);
    if (!s->private || !s->partial || !s->value || !s->omega || !s->gram) {
        sk_polish_space_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

void sk_polish_space_free(sk_polish_space *space)
{
    if (!space) return;
    sk_free(space->private);
    sk_free(space->partial);
    sk_free(space->value);
    sk_free(space->omega);
    sk_free(space->gram);
    sk_free(space);
}

/* ---- Step 2: one row ---- */

/* The vectors here have d or rank entries: a call into BLAS would cost more than the sum. */
static inline double short_dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

typedef struct row {
    size_t d, rank;
    double h, eps, weight;
    const double *e;
    double *t0, *t1; /* in: T; out: w dF/dT */
} row;

/* The expected second derivative in T is 2 h tr(C^-1 (C - eps I) C^-1) / d on average over the components. */
static double curvature_of(const row *r, double trace, double trace_of_square)
{
    return 2 * r->weight * r->h * fmax(trace - r->eps * trace_of_square, 0) / (double)r->d;
}

static double scalar_row(const row *r, double *omega)
{
    size_t m = r->rank;
    double c = r->h / 2 * (short_dot(m, r->t0, r->t0) + short_dot(m, r->t1, r->t1)) + r->eps;
    double data = r->e[0] * r->e[0] + r->eps, factor = r->weight * r->h * (1 - data / c) / (2 * c);
    for (size_t i = 0; i < m; i++) {
        r->t0[i] *= factor;
        r->t1[i] *= factor;
    }
    *omega = curvature_of(r, 1 / c, 1 / (c * c));
    return c > 0 ? r->weight * (log(c) + data / c) / 2 : (double)INFINITY;
}

/* C, lower triangle. */
static void row_covariance(const row *r, double *c)
{
    size_t d = r->d, m = r->rank;
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l <= k; l++)
            c[k * d + l] =
                r->h / 2 * (short_dot(m, r->t0 + k * m, r->t0 + l * m) + short_dot(m, r->t1 + k * m, r->t1 + l * m));
        c[k * d + k] += r->eps;
    }
}

/* C = L L' in place; log det C, or INFINITY when there is no factor. */
static double small_cholesky(size_t d, double *c)
{
    double log_det = 0;
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l <= k; l++) {
            double sum = c[k * d + l];
            for (size_t m = 0; m < l; m++) sum -= c[k * d + m] * c[l * d + m];
            if (l < k) {
                c[k * d + l] = sum / c[l * d + l];
            } else {
                if (!(sum > 0)) return INFINITY;
                c[k * d + k] = sqrt(sum);
                log_det += log(sum);
            }
        }
    }
    return log_det;
}

/* inverse (both triangles) = C^-1 from L, which becomes L^-1. */
static void small_inverse(size_t d, double *l, double *inverse)
{
    for (size_t j = 0; j < d; j++) {
        l[j * d + j] = 1 / l[j * d + j];
        for (size_t i = j + 1; i < d; i++) {
            double sum = 0;
            for (size_t m = j; m < i; m++) sum -= l[i * d + m] * l[m * d + j];
            l[i * d + j] = sum / l[i * d + i];
        }
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t m = i; m < d; m++) sum += l[m * d + i] * l[m * d + j];
            inverse[i * d + j] = inverse[j * d + i] = sum;
        }
}

/* T (d x rank) := factor B T; copy: d rank doubles. */
static void multiply_left(const row *r, double factor, const double *b, double *t, double *copy)
{
    size_t d = r->d, m = r->rank;
    memcpy(copy, t, d * m * sizeof *t);
    for (size_t k = 0; k < d; k++, t += m) {
        double share = factor * b[k * d];
        for (size_t c = 0; c < m; c++) t[c] = share * copy[c];
        for (size_t l = 1; l < d; l++) {
            share = factor * b[k * d + l];
            for (size_t c = 0; c < m; c++) t[c] += share * copy[l * m + c];
        }
    }
}

/* space: 2 d^2 + d + d rank doubles. */
static double matrix_row(const row *r, double *omega, double *space)
{
    size_t d = r->d;
    double *c = space, *inverse = c + d * d, *x = inverse + d * d, *copy = x + d;
    row_covariance(r, c);
    double log_det = small_cholesky(d, c), trace = 0, trace_of_square = 0;
    if (!isfinite(log_det)) return INFINITY;
    small_inverse(d, c, inverse);
    for (size_t k = 0; k < d; k++) {
        x[k] = short_dot(d, inverse + k * d, r->e);
        trace += inverse[k * d + k];
    }
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            double square = short_dot(d, inverse + k * d, inverse + l * d);
            c[k * d + l] = (inverse[k * d + l] - x[k] * x[l] - r->eps * square) / 2;
            if (k == l) trace_of_square += square;
        }
    multiply_left(r, r->weight * r->h, c, r->t0, copy);
    multiply_left(r, r->weight * r->h, c, r->t1, copy);
    *omega = curvature_of(r, trace, trace_of_square);
    return r->weight * (log_det + short_dot(d, x, r->e) + r->eps * trace) / 2;
}

/* ---- Steps 1 to 3: a block of rows ---- */

static double one_chunk(sk_polish_space *s, size_t first, size_t rows, double *partial, double *space)
{
    const sk_polish_problem *q = s->problem;
    size_t p = q->p, width = s->width;
    double *t0 = space, *t1 = t0 + s->chunk * width, *small = t1 + s->chunk * width, sum = 0;
    const double *phi0 = q->phi0 + first * p, *phi1 = q->phi1 + first * p;
    sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, rows, width, p, 1, phi0, p, s->w, width, 0, t0, width);
    sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, rows, width, p, 1, phi1, p, s->w, width, 0, t1, width);
    for (size_t i = 0; i < rows; i++) {
        size_t at = first + i;
        row r = {.d = q->d, .rank = s->rank, .h = q->h[at], .eps = q->eps, .e = q->e + at * q->d};
        r.weight = q->row_weight ? q->row_weight[at] : 1;
        r.t0 = t0 + i * width;
        r.t1 = t1 + i * width;
        sum += q->d == 1 ? scalar_row(&r, s->omega + at) : matrix_row(&r, s->omega + at, small);
    }
    sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, p, width, rows, 1, phi0, p, t0, width, 1, partial, width);
    sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, p, width, rows, 1, phi1, p, t1, width, 1, partial, width);
    return sum;
}

static sock_status some_blocks(void *arg, size_t begin, size_t end, int worker)
{
    sk_polish_space *s = arg;
    size_t count = s->problem->p * s->width;
    for (size_t b = begin; b < end; b++) {
        size_t last = SK_MIN((b + 1) * s->block, s->problem->n);
        double *partial = s->partial + b * count;
        memset(partial, 0, count * sizeof(double));
        s->value[b] = 0;
        for (size_t i = b * s->block; i < last; i += s->chunk)
            s->value[b] +=
                one_chunk(s, i, SK_MIN(s->chunk, last - i), partial, s->private + (size_t)worker * s->private_size);
    }
    return SOCK_OK;
}

/* ---- Step 4, and all together ---- */

/* U'U = sum_k U_k'U_k. */
static void make_gram(sk_polish_space *s)
{
    size_t r = s->rank;
    memset(s->gram, 0, r * r * sizeof(double));
    for (size_t k = 0; k < s->problem->d; k++)
        sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, r, r, s->problem->p, 1, s->w + k * r, s->width, s->w + k * r, s->width,
                1, s->gram, r);
}

sock_status sk_polish_evaluate(sk_polish_space *space, const double *w, double *value, double *gradient)
{
    sk_polish_space *s = space;
    size_t r = s->rank, p = s->problem->p;
    double mu = s->problem->mu, sum = 0;
    s->w = w;
    SK_TRY(sk_parallel_for(s->ctx, s->blocks, s->grain, some_blocks, s));
    memset(gradient, 0, p * s->width * sizeof(double));
    for (size_t b = 0; b < s->blocks; b++) {
        sum += s->value[b];
        sk_axpy(p * s->width, 1, s->partial + b * p * s->width, gradient);
    }
    make_gram(s);
    sum += mu * sk_dot(r * r, s->gram, s->gram);
    for (size_t k = 0; k < s->problem->d; k++)
        sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, p, r, r, 4 * mu, w + k * r, s->width, s->gram, r, 1, gradient + k * r,
                s->width);
    *value = isfinite(sum) ? sum : (double)INFINITY;
    return SOCK_OK;
}

/* sum_i omega_i / 2 phi phi' over `rows` rows, scratch: chunk rows of p. */
static void add_curvature(sk_polish_space *s, const double *phi, size_t rows, double *scratch, double *l)
{
    size_t p = s->problem->p;
    for (size_t first = 0; first < s->problem->n; first += rows) {
        size_t count = SK_MIN(rows, s->problem->n - first);
        for (size_t i = 0; i < count; i++) {
            double root = sqrt(s->omega[first + i] / 2);
            for (size_t a = 0; a < p; a++) scratch[i * p + a] = root * phi[(first + i) * p + a];
        }
        sk_syrk(s->ctx, SK_TRANSPOSED, p, count, 1, scratch, p, 1, l, p);
    }
}

sock_status sk_polish_metric(sk_polish_space *space, double *l)
{
    sk_polish_space *s = space;
    size_t p = s->problem->p, r = s->rank;
    double diagonal = 0, penalty = 0;
    const double fitting = product_alone / ((double)p * (double)p); /* rows; speed only */
    const size_t rows = (size_t)fmax(1, fmin(CHUNK, fitting));      /* speed only */
    double *scratch = sk_doubles(s->ctx, rows, p);
    if (!scratch) return SOCK_ENOMEM;
    memset(l, 0, p * p * sizeof(double));
    add_curvature(s, s->problem->phi0, rows, scratch, l);
    add_curvature(s, s->problem->phi1, rows, scratch, l);
    sk_free(scratch);
    for (size_t c = 0; c < r; c++) penalty += 4 * s->problem->mu * s->gram[c * r + c] / (double)r;
    for (size_t a = 0; a < p; a++) {
        l[a * p + a] += penalty;
        diagonal += l[a * p + a] / (double)p;
    }
    if (!(diagonal > 0) || !isfinite(diagonal)) return SOCK_ENUMERIC;
    for (size_t a = 0; a < p; a++) /* a feature that is 0 everywhere may have any curvature but 0 */
        l[a * p + a] = l[a * p + a] > 0 ? l[a * p + a] * (1 + jitter) : diagonal;
    return sk_cholesky(s->ctx, p, l, p);
}

sock_status sk_polish_objective(sock_context *ctx, const sk_polish_problem *problem, size_t rank, const double *u,
                                double *value, double *gradient)
{
    sk_polish_space *space = NULL;
    sock_status status = SOCK_OK;
    size_t width = problem->d * rank;
    double *w = sk_doubles(ctx, problem->p, width), *g = sk_doubles(ctx, problem->p, width);
    SK_GO(w && g ? SOCK_OK : SOCK_ENOMEM);
    SK_GO(sk_polish_space_new(ctx, problem, rank, &space));
    sk_polish_from_u(problem, rank, u, w);
    SK_GO(sk_polish_evaluate(space, w, value, g));
    if (gradient) sk_polish_to_u(problem, rank, g, gradient);
out:
    sk_polish_space_free(space);
    sk_free(w);
    sk_free(g);
    return status;
}
