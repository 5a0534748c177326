/* polishobjective.c - the quasi-likelihood of polish.h and its gradient.
 *
 *   1. Points: the ends of the steps, each once. The end of a step mostly is the beginning of the next one: what is
 *      computed at it serves both.
 *   2. T = phi W at every point, a d x rank matrix, and a = T T'.
 *   3. Each row: C = h/2 (a(y_i) + a(y_i+1)) + eps I, its term F = (log det C + e' C^-1 e + eps tr C^-1) / 2, and
 *      B = dF/dC = (C^-1 - C^-1 e e' C^-1 - eps C^-2) / 2; h B goes to both its points.
 *   4. T := (sum of h B) T is dF/dT; gradient = phi' T over the points.
 *   5. Penalty: |U U'|^2 = |U'U|^2, with gradient 4 U (U'U).
 *
 * Cost: 4 n p d rank, and n d^2 (d + rank) for the rows. The rows are cut into at most BLOCKS blocks, each with sums of
 * its own that are added in order; a block runs in chunks that fit in cache. Neither cut depends on the threads. */
#include "diffusion/polish.h"
#include "la/narrow.h"

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
    size_t each, wide;  /* rank, with the zeros that fill the last vector; d times that */
    size_t block, blocks, chunk, grain;
    size_t private_size; /* doubles of each worker */
    double *private;
    const double **phi;      /* features of each point, in the order of the rows */
    size_t *left;            /* n: the point where the row begins; it ends at the next one */
    double *partial, *value; /* blocks x (p wide), blocks */
    double *omega;           /* n: curvature of each row */
    double *gram;            /* rank x rank: U'U */
    double *w;               /* p x wide */
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

/* A row that begins where the one before it ends shares this point with it. */
static void find_points(sk_polish_space *s)
{
    const sk_polish_problem *q = s->problem;
    const size_t size = q->p * sizeof(double);
    for (size_t i = 0, points = 0; i < q->n; i++) {
        const double *begin = q->phi0 + i * q->p;
        if (i == 0 || memcmp(begin, q->phi1 + (i - 1) * q->p, size) != 0) s->phi[points++] = begin;
        s->left[i] = points - 1;
        s->phi[points++] = q->phi1 + i * q->p;
    }
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
    s->each = sk_narrow_wide(rank);
    s->wide = d * s->each;
    cut_rows(s);
    s->private_size = 2 * s->chunk * (s->wide + 2 * d * d + 1) + 2 * d * d + d + s->wide;
    s->private = sk_doubles_unset(ctx, (size_t)sk_workers(ctx), s->private_size);
    s->phi = sk_alloc(ctx, 2 * problem->n, sizeof *s->phi);
    s->left = sk_alloc(ctx, problem->n, sizeof *s->left);
    s->partial = sk_doubles(ctx, s->blocks, problem->p * s->wide);
    s->value = sk_doubles(ctx, s->blocks, 1);
    s->omega = sk_doubles(ctx, problem->n, 1);
    s->gram = sk_doubles(ctx, rank, rank);
    s->w = sk_doubles(ctx, problem->p, s->wide);
    if (!s->private || !s->phi || !s->left || !s->partial || !s->value || !s->omega || !s->gram || !s->w) {
        sk_polish_space_free(s);
        return SOCK_ENOMEM;
    }
    find_points(s);
    *out = s;
    return SOCK_OK;
}

void sk_polish_space_free(sk_polish_space *space)
{
    if (!space) return;
    void *const owned[] = {space->private, space->phi,   space->left, space->partial,
                           space->value,   space->omega, space->gram, space->w};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sk_free(owned[i]);
    sk_free(space);
}

/* ---- Step 3: one row ---- */

/* The vectors here have d or rank entries: a call into BLAS would cost more than the sum. */
static inline double short_dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

typedef struct row {
    size_t d;
    double h, eps, weight;
    const double *e;
    const double *begin, *end; /* a at both ends, lower triangles */
    double *to_begin, *to_end; /* take w h B */
} row;

/* The expected second derivative in T is 2 h tr(C^-1 (C - eps I) C^-1) / d on average over the components. */
static double curvature_of(const row *r, double trace, double trace_of_square)
{
    return 2 * r->weight * r->h * fmax(trace - r->eps * trace_of_square, 0) / (double)r->d;
}

static double scalar_row(const row *r, double c, double log_c, double *omega)
{
    const double inverse = 1 / c, data = r->e[0] * r->e[0] + r->eps;
    const double factor = r->weight * r->h * (1 - data * inverse) * inverse / 2;
    *r->to_begin += factor;
    *r->to_end += factor;
    *omega = curvature_of(r, inverse, inverse * inverse);
    return c > 0 ? r->weight * (log_c + data * inverse) / 2 : (double)INFINITY;
}

/* C, lower triangle. */
static void row_covariance(const row *r, double *c)
{
    size_t d = r->d;
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l <= k; l++) c[k * d + l] = r->h / 2 * (r->begin[k * d + l] + r->end[k * d + l]);
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

/* space: 2 d^2 + d doubles. */
static double matrix_row(const row *r, double *omega, double *space)
{
    size_t d = r->d;
    double *c = space, *inverse = c + d * d, *x = inverse + d * d;
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
            double b = (inverse[k * d + l] - x[k] * x[l] - r->eps * square) / 2;
            r->to_begin[k * d + l] += r->weight * r->h * b;
            r->to_end[k * d + l] += r->weight * r->h * b;
            if (k == l) trace_of_square += square;
        }
    *omega = curvature_of(r, trace, trace_of_square);
    return r->weight * (log_det + short_dot(d, x, r->e) + r->eps * trace) / 2;
}

/* ---- Steps 2 to 4: a block of rows ---- */

/* The points of a chunk. */
typedef struct points {
    size_t count;
    const double *const *phi;
    double *t;    /* count x wide */
    double *a;    /* count x d x d, lower triangles */
    double *turn; /* count x d x d: the sum of w h B */
    double *small;
} points;

/* C of each row and its logarithm, which is quicker for all of them. */
static void scalar_covariances(const sk_polish_space *s, size_t first, size_t rows, const double *a, double *c)
{
    const sk_polish_problem *q = s->problem;
    for (size_t i = 0; i < rows; i++) {
        const double *begin = a + s->left[first + i] - s->left[first];
        c[i] = q->h[first + i] / 2 * (begin[0] + begin[1]) + q->eps;
    }
    sk_vlog(rows, c, c + s->chunk);
}

static double add_rows(sk_polish_space *s, size_t first, size_t rows, const points *x)
{
    const sk_polish_problem *q = s->problem;
    const size_t d2 = q->d * q->d;
    double sum = 0;
    if (q->d == 1) scalar_covariances(s, first, rows, x->a, x->small);
    for (size_t i = 0; i < rows; i++) {
        const size_t at = (s->left[first + i] - s->left[first]) * d2;
        const row r = {.d = q->d,
                       .h = q->h[first + i],
                       .eps = q->eps,
                       .weight = q->row_weight ? q->row_weight[first + i] : 1,
                       .e = q->e + (first + i) * q->d,
                       .begin = x->a + at,
                       .end = x->a + at + d2,
                       .to_begin = x->turn + at,
                       .to_end = x->turn + at + d2};
        double *omega = s->omega + first + i;
        sum += q->d == 1 ? scalar_row(&r, x->small[i], x->small[s->chunk + i], omega) : matrix_row(&r, omega, x->small);
    }
    return sum;
}

static double one_chunk(sk_polish_space *s, size_t first, size_t rows, double *partial, double *space)
{
    const sk_polish_problem *q = s->problem;
    const size_t begin = s->left[first], d2 = q->d * q->d, most = 2 * s->chunk;
    points x = {s->left[first + rows - 1] + 2 - begin, s->phi + begin, space, NULL, NULL, NULL};
    x.a = x.t + most * s->wide;
    x.turn = x.a + most * d2;
    x.small = x.turn + most * d2;
    sk_narrow_rows(x.count, q->p, x.phi, s->wide, s->w, x.t);
    sk_narrow_squares(x.count, q->d, s->each, x.t, x.a);
    memset(x.turn, 0, x.count * d2 * sizeof *x.turn);
    const double sum = add_rows(s, first, rows, &x);
    sk_narrow_turn(x.count, q->d, s->each, x.turn, x.t, x.small);
    sk_narrow_add(x.count, q->p, x.phi, s->wide, x.t, partial);
    return sum;
}

static sock_status some_blocks(void *arg, size_t begin, size_t end, int worker)
{
    sk_polish_space *s = arg;
    size_t count = s->problem->p * s->wide;
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

/* ---- Step 5, and all together ---- */

/* U'U = sum_k U_k'U_k. */
static void make_gram(sk_polish_space *s)
{
    size_t r = s->rank;
    memset(s->gram, 0, r * r * sizeof(double));
    for (size_t k = 0; k < s->problem->d; k++) {
        const double *w = s->w + k * s->each;
        sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, r, r, s->problem->p, 1, w, s->wide, w, s->wide, 1, s->gram, r);
    }
}

sock_status sk_polish_evaluate(sk_polish_space *space, const double *w, double *value, double *gradient)
{
    sk_polish_space *s = space;
    size_t r = s->rank, p = s->problem->p;
    double mu = s->problem->mu, sum = 0;
    for (size_t a = 0; a < p * s->problem->d; a++) memcpy(s->w + a * s->each, w + a * r, r * sizeof *w);
    SK_TRY(sk_parallel_for(s->ctx, s->blocks, s->grain, some_blocks, s));
    memset(gradient, 0, p * s->width * sizeof(double));
    for (size_t b = 0; b < s->blocks; b++) {
        sum += s->value[b];
        for (size_t i = 0; i < p * s->width; i++) gradient[i] += s->partial[b * p * s->wide + i / r * s->each + i % r];
    }
    make_gram(s);
    sum += mu * sk_dot(r * r, s->gram, s->gram);
    for (size_t k = 0; k < s->problem->d; k++)
        sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, p, r, r, 4 * mu, w + k * r, s->width, s->gram, r, 1, gradient + k * r,
                s->width);
    *value = isfinite(sum) ? sum : (double)INFINITY;
    return SOCK_OK;
}

/* The curvature at each point. */
static void weigh_points(const sk_polish_space *s, double *weight)
{
    for (size_t i = 0; i < s->problem->n; i++)
        for (size_t end = 0; end < 2; end++) weight[s->left[i] + end] += s->omega[i] / 2;
}

/* sum over the points of weight phi phi', `rows` of them at a time. */
static sock_status add_curvature(sk_polish_space *s, size_t rows, double *l)
{
    const size_t p = s->problem->p, n = s->problem->n, count = n ? s->left[n - 1] + 2 : 0;
    double *weight = sk_doubles(s->ctx, count, 1), *scratch = sk_doubles_unset(s->ctx, rows, p);
    const sock_status status = weight && scratch ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) weigh_points(s, weight);
    for (size_t first = 0; status >= 0 && first < count; first += rows) {
        const size_t some = SK_MIN(rows, count - first);
        for (size_t i = 0; i < some; i++) {
            const double root = sqrt(weight[first + i]);
            for (size_t a = 0; a < p; a++) scratch[i * p + a] = root * s->phi[first + i][a];
        }
        sk_syrk(s->ctx, SK_TRANSPOSED, p, some, 1, scratch, p, 1, l, p);
    }
    sk_free(weight);
    sk_free(scratch);
    return status;
}

sock_status sk_polish_metric(sk_polish_space *space, double *l)
{
    sk_polish_space *s = space;
    size_t p = s->problem->p, r = s->rank;
    double diagonal = 0, penalty = 0;
    const double fitting = product_alone / ((double)p * (double)p); /* rows; speed only */
    const size_t rows = (size_t)fmax(1, fmin(CHUNK, fitting));      /* speed only */
    memset(l, 0, p * p * sizeof(double));
    SK_TRY(add_curvature(s, rows, l));
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
