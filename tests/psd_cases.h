/* psd_cases.h - small random problems for the tests of src/psd, and slow evaluations that form every M_i. */
#ifndef SK_PSD_CASES_H
#define SK_PSD_CASES_H

#include "test.h"

#include "psd/psd.h"

#include <string.h>

typedef struct psd_case {
    sk_psd_problem problem;
    size_t d;
    double *phi, *weight, *row_weight, *z;
    size_t *row, *node;
} psd_case;

typedef struct psd_shape {
    size_t n, nodes, p, d, per_row;
    bool weighted;
    double noise; /* of the targets, against a true positive semi-definite Q */
} psd_shape;

static inline double *test_doubles(size_t count)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline void psd_case_free(psd_case *c)
{
    free(c->phi);
    free(c->weight);
    free(c->row_weight);
    free(c->z);
    free(c->row);
    free(c->node);
}

/* M_i (p x p) by its definition. */
static inline void slow_row(const sk_psd_problem *problem, size_t i, double *m)
{
    size_t p = problem->p;
    memset(m, 0, p * p * sizeof *m);
    for (size_t e = problem->row[i]; e < problem->row[i + 1]; e++) {
        const double *phi = problem->phi + problem->node[e] * problem->ld;
        for (size_t a = 0; a < p; a++)
            for (size_t b = 0; b < p; b++) m[a * p + b] += problem->weight[e] * phi[a] * phi[b];
    }
}

/* out (n x d x d) = [<M_i, Q_kl>]. */
static inline void slow_apply(const sk_psd_problem *problem, size_t d, const double *q, double *out)
{
    size_t p = problem->p, D = p * d;
    double *m = test_doubles(p * p);
    for (size_t i = 0; i < problem->n; i++) {
        slow_row(problem, i, m);
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) {
                double sum = 0;
                for (size_t a = 0; a < p; a++)
                    for (size_t b = 0; b < p; b++) sum += m[a * p + b] * q[(k * p + a) * D + l * p + b];
                out[(i * d + k) * d + l] = sum;
            }
    }
    free(m);
}

/* out (pd x pd) = blocks sum_i b_i,kl M_i. */
static inline void slow_adjoint(const sk_psd_problem *problem, size_t d, const double *b, double *out)
{
    size_t p = problem->p, D = p * d;
    double *m = test_doubles(p * p);
    memset(out, 0, D * D * sizeof *out);
    for (size_t i = 0; i < problem->n; i++) {
        slow_row(problem, i, m);
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++)
                for (size_t a = 0; a < p; a++)
                    for (size_t e = 0; e < p; e++)
                        out[(k * p + a) * D + l * p + e] += b[(i * d + k) * d + l] * m[a * p + e];
    }
    free(m);
}

static inline double slow_row_weight(const sk_psd_problem *problem, size_t i)
{
    return problem->row_weight ? problem->row_weight[i] : 1;
}

static inline double slow_primal(const sk_psd_problem *problem, size_t d, const double *z, double lambda,
                                 const double *q)
{
    size_t D = problem->p * d, block = d * d;
    double *r = test_doubles(problem->n * block), sum = 0;
    slow_apply(problem, d, q, r);
    for (size_t i = 0; i < problem->n; i++)
        for (size_t j = 0; j < block; j++) {
            double e = r[i * block + j] - z[i * block + j];
            sum += slow_row_weight(problem, i) * e * e / (double)problem->n;
        }
    for (size_t i = 0; i < D * D; i++) sum += lambda * q[i] * q[i];
    free(r);
    return sum;
}

/* The dual point that belongs to Q: b = (2/n) w (R(Q) - z), n x d x d. */
static inline void slow_beta(const sk_psd_problem *problem, size_t d, const double *z, const double *q, double *b)
{
    slow_apply(problem, d, q, b);
    for (size_t i = 0; i < problem->n * d * d; i++)
        b[i] = 2 / (double)problem->n * slow_row_weight(problem, i / (d * d)) * (b[i] - z[i]);
}

/* Of the objective at Q: R*(b) + 2 lambda Q. */
static inline void slow_gradient(const sk_psd_problem *problem, size_t d, const double *z, double lambda,
                                 const double *q, double *out)
{
    size_t D = problem->p * d;
    double *b = test_doubles(problem->n * d * d);
    slow_beta(problem, d, z, q, b);
    slow_adjoint(problem, d, b, out);
    for (size_t i = 0; i < D * D; i++) out[i] += 2 * lambda * q[i];
    free(b);
}

/* -( n/4 sum |b_i|^2 / w_i + <b, z> + |[R*b]_-|^2 / (4 lambda) ). */
static inline double slow_dual(sock_context *ctx, const sk_psd_problem *problem, size_t d, const double *z,
                               double lambda, const double *b)
{
    size_t D = problem->p * d, block = d * d;
    double *s = test_doubles(D * D), *values = test_doubles(D), sum = 0;
    for (size_t i = 0; i < problem->n; i++)
        for (size_t j = 0; j < block; j++) {
            double e = b[i * block + j];
            sum += (double)problem->n / 4 * e * e / slow_row_weight(problem, i) + e * z[i * block + j];
        }
    slow_adjoint(problem, d, b, s);
    assert_int_equal(sk_eigh(ctx, D, s, D, values), SOCK_OK);
    for (size_t i = 0; i < D; i++)
        if (values[i] < 0) sum += values[i] * values[i] / (4 * lambda);
    free(s);
    free(values);
    return -sum;
}

/* A symmetric matrix G G' of the given rank with entries of order one. */
static inline void random_psd(uint64_t stream, size_t n, size_t rank, double *q)
{
    double *g = test_doubles(n * rank);
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, stream, 0, 0, n * rank, g);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            q[i * n + j] = 0;
            for (size_t k = 0; k < rank; k++) q[i * n + j] += g[i * rank + k] * g[j * rank + k] / (double)rank;
        }
    free(g);
}

static inline void random_symmetric(uint64_t stream, size_t count, size_t d, double *b)
{
    sk_normals((sk_key){6, SK_PURPOSE_TEST}, stream, 0, 0, count * d * d, b);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < k; l++) b[(i * d + k) * d + l] = b[(i * d + l) * d + k];
}

static inline psd_case psd_case_new(uint64_t stream, psd_shape s)
{
    sk_key key = {3, SK_PURPOSE_TEST};
    size_t entries = s.n * s.per_row, D = s.p * s.d;
    psd_case c = {.d = s.d,
                  .phi = test_doubles(s.nodes * s.p),
                  .weight = test_doubles(entries),
                  .row_weight = test_doubles(s.n),
                  .z = test_doubles(s.n * s.d * s.d),
                  .row = calloc(s.n + 1, sizeof(size_t)),
                  .node = calloc(entries + 1, sizeof(size_t))};
    assert_non_null(c.row);
    assert_non_null(c.node);
    sk_normals(key, stream, 0, 0, s.nodes * s.p, c.phi);
    sk_uniforms(key, stream, 1, 0, entries, c.weight);
    sk_uniforms(key, stream, 2, 0, s.n, c.row_weight);
    for (size_t i = 0; i < s.n; i++) {
        c.row_weight[i] += 0.2;
        c.row[i + 1] = (i + 1) * s.per_row;
        for (size_t e = 0; e < s.per_row; e++) c.node[i * s.per_row + e] = (i * 2 + e * 3 + stream) % s.nodes;
    }
    c.problem =
        (sk_psd_problem){s.n, s.nodes, s.p, c.phi, s.p, c.row, c.node, c.weight, s.weighted ? c.row_weight : NULL};
    double *q = test_doubles(D * D), *noise = test_doubles(s.n * s.d * s.d);
    random_psd(stream, D, 2, q);
    slow_apply(&c.problem, s.d, q, c.z);
    random_symmetric(stream + 100, s.n, s.d, noise);
    for (size_t i = 0; i < s.n * s.d * s.d; i++) c.z[i] += s.noise * noise[i];
    free(q);
    free(noise);
    return c;
}

static inline double frobenius(size_t count, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static inline double distance(size_t count, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* Features whose energy falls: what the levels are made for. */
static inline void let_features_decay(psd_case *c, double rate)
{
    size_t p = c->problem.p;
    for (size_t a = 0; a < c->problem.nodes; a++)
        for (size_t j = 0; j < p; j++) c->phi[a * p + j] *= pow(rate, (double)j);
}

static inline sk_psd_result *psd_solve_case(sock_context *ctx, const psd_case *c, double lambda,
                                            const sk_psd_options *options)
{
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result = NULL;
    sk_psd_target target = {c->d, c->z, lambda};
    sk_begin(ctx);
    assert_int_equal(sk_psd_prepare(ctx, &c->problem, options, &prepared), SOCK_OK);
    sock_status status = sk_psd_solve(ctx, prepared, &target, options, NULL, &result);
    if (status != SOCK_OK) print_error("%s\n", sock_message(ctx));
    assert_int_equal(status, SOCK_OK);
    sk_psd_prepared_free(prepared);
    return result;
}

/* The certificate of a result, recomputed. */
static inline void psd_check_certificate(sock_context *ctx, const psd_case *c, double lambda, double tolerance,
                                         const sk_psd_result *result)
{
    size_t D = c->problem.p * c->d;
    double *q = test_doubles(D * D);
    sk_psd_dense(ctx, result, q);
    double primal = slow_primal(&c->problem, c->d, c->z, lambda, q);
    double dual = slow_dual(ctx, &c->problem, c->d, c->z, lambda, result->beta);
    assert_true(result->gap >= 0);
    assert_true(primal - dual <= (tolerance + 1e-11) * primal);
    assert_true(primal - dual >= -1e-11 * primal);
    assert_close(result->primal, primal, 1e-9, 0);
    free(q);
}

/* For cmocka: the state of each test is the context of its program. */
static inline int setup(void **state) { return (*state = sock_context_new()) ? 0 : -1; }

static inline int teardown(void **state)
{
    sock_context_free(*state);
    return 0;
}

#endif
