/* Every solver on small problems: the answers are checked from the returned numbers alone, never from the report. */
#include "psd_cases.h"

#include <jansson.h>

static const char *const solvers[] = {"newton", "lbfgs", "fista", "fista-restart", "projgrad", "projgrad-accelerated"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static sk_psd_result *solve_case(sock_context *ctx, const psd_case *c, double lambda, const sk_psd_options *options)
{
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result = NULL;
    sk_psd_target target = {c->d, c->z, lambda};
    sk_begin(ctx);
    sock_status status = sk_psd_prepare(ctx, &c->problem, options, &prepared);
    if (status >= 0) status = sk_psd_solve(ctx, prepared, &target, options, NULL, &result);
    if (status != SOCK_OK) print_error("%s\n", sock_message(ctx));
    assert_int_equal(status, SOCK_OK);
    sk_psd_prepared_free(prepared);
    return result;
}

static double *dense_q(sock_context *ctx, const sk_psd_result *result)
{
    size_t D = result->p * result->d;
    double *q = test_doubles(D * D);
    sk_psd_dense(ctx, result, q);
    return q;
}

/* Objective and dual value recomputed by slow loops: the gap is real, and the reported numbers are these. */
static void check_certificate(sock_context *ctx, const psd_case *c, double lambda, double tolerance,
                              const sk_psd_result *result)
{
    double *q = dense_q(ctx, result);
    double primal = slow_primal(&c->problem, c->d, c->z, lambda, q);
    double dual = slow_dual(ctx, &c->problem, c->d, c->z, lambda, result->beta);
    assert_true(result->gap >= 0);
    assert_true(result->converged);
    assert_true(primal - dual <= (tolerance + 1e-11) * primal);
    assert_true(primal - dual >= -1e-11 * primal);
    assert_close(result->primal, primal, 1e-9, 0);
    assert_close(result->dual, dual, 1e-9, 0);
    free(q);
}

/* Karush-Kuhn-Tucker from Q alone: Q >= 0, grad >= 0, <grad, Q> = 0. */
static void check_kkt(sock_context *ctx, const psd_case *c, double lambda, double accuracy, const sk_psd_result *result)
{
    size_t D = c->problem.p * c->d;
    double *q = dense_q(ctx, result), *g = test_doubles(D * D), *values = test_doubles(D);
    double *zero = test_doubles(D * D), *g0 = test_doubles(D * D);
    slow_gradient(&c->problem, c->d, c->z, lambda, q, g);
    slow_gradient(&c->problem, c->d, c->z, lambda, zero, g0);
    double scale = frobenius(D * D, g0);
    assert_close(sk_dot(D * D, g, q), 0, accuracy, scale * frobenius(D * D, q));
    assert_int_equal(sk_eigh(ctx, D, g, D, values), SOCK_OK);
    assert_true(values[0] >= -accuracy * scale);
    free(q), free(g), free(values), free(zero), free(g0);
}

static void test_psdsolvers__all_agree(void **state)
{
    sock_context *ctx = *state;
    const psd_shape shapes[] = {{30, 20, 4, 1, 2, false, 2}, {25, 40, 3, 2, 2, true, 2}, {20, 12, 3, 3, 1, true, 1}};
    for (size_t c = 0; c < 3; c++) {
        psd_case problem = psd_case_new(c, shapes[c]);
        size_t D = problem.problem.p * problem.d;
        double lambda = 0.1, tolerance = 1e-10;
        sk_psd_result *best = solve_case(ctx, &problem, lambda, &(sk_psd_options){.tolerance = 1e-13});
        check_kkt(ctx, &problem, lambda, 1e-6, best);
        double *q_best = dense_q(ctx, best);
        for (size_t s = 0; s < SOLVERS; s++)
            for (int plain = 0; plain < 2; plain++) {
                sk_psd_options options = {.solver = solvers[s], .tolerance = tolerance, .no_compression = plain};
                sk_psd_result *result = solve_case(ctx, &problem, lambda, &options);
                check_certificate(ctx, &problem, lambda, tolerance, result);
                assert_string_equal(result->solver, solvers[s]);
                /* lambda |Q - Q*|^2 <= P - P* <= gap */
                double *q = dense_q(ctx, result);
                assert_true(distance(D * D, q, q_best) <= 1.01 * sqrt(tolerance * result->primal / lambda) + 1e-6);
                free(q);
                sk_psd_result_free(result);
            }
        free(q_best);
        sk_psd_result_free(best);
        psd_case_free(&problem);
    }
}

/* From nearly no regularisation to nearly nothing else; relative to rows of order one. */
static void test_psdsolvers__newton_holds_over_lambda(void **state)
{
    sock_context *ctx = *state;
    const psd_shape shapes[] = {{40, 30, 4, 1, 2, false, 1}, {40, 30, 4, 2, 2, true, 1}, {6, 9, 8, 2, 2, false, 1}};
    for (size_t c = 0; c < 3; c++) {
        psd_case problem = psd_case_new(c, shapes[c]);
        for (double lambda = 1e6; lambda > 5e-9; lambda /= 10) {
            sk_psd_result *result = solve_case(ctx, &problem, lambda, NULL);
            check_certificate(ctx, &problem, lambda, 1e-6, result);
            sk_psd_result_free(result);
        }
        psd_case_free(&problem);
    }
}

/* Where rounding forbids the tolerance, the status says so and the numbers are still numbers. */
static void test_psdsolvers__tiny_lambda_is_honest(void **state)
{
    sock_context *ctx = *state;
    for (size_t c = 0; c < 2; c++) {
        psd_case problem = psd_case_new(c, (psd_shape){40, 30, 4, 2, 2, false, c ? 1 : 0});
        sk_psd_prepared *prepared = NULL;
        assert_int_equal(sk_psd_prepare(ctx, &problem.problem, NULL, &prepared), SOCK_OK);
        for (double lambda = 1e-9; lambda > 1e-15; lambda /= 10) {
            sk_psd_result *result = NULL;
            sk_psd_target target = {problem.d, problem.z, lambda};
            sk_begin(ctx);
            sock_status status = sk_psd_solve(ctx, prepared, &target, NULL, NULL, &result);
            assert_true(status == SOCK_OK || status == SOCK_NOT_CONVERGED);
            assert_int_equal(status == SOCK_OK, result->converged);
            assert_true(isfinite(result->primal) && isfinite(result->dual) && result->gap >= 0);
            double *q = dense_q(ctx, result), primal = slow_primal(&problem.problem, problem.d, problem.z, lambda, q);
            assert_close(result->primal, primal, 1e-6, 0);
            free(q);
            sk_psd_result_free(result);
        }
        sk_psd_prepared_free(prepared);
        psd_case_free(&problem);
    }
}

static void test_psdsolvers__zero_targets_give_zero(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(1, (psd_shape){10, 8, 3, 2, 2, true, 1});
    memset(c.z, 0, c.problem.n * 4 * sizeof *c.z);
    sk_psd_result *result = solve_case(ctx, &c, 0.1, NULL);
    assert_int_equal(result->rank, 0);
    assert_true(result->primal == 0 && result->gap == 0);
    sk_psd_result_free(result);
    /* Negative definite targets: Q = 0 is optimal although z is not 0. */
    for (size_t i = 0; i < c.problem.n; i++) c.z[i * 4] = c.z[i * 4 + 3] = -1;
    result = solve_case(ctx, &c, 0.1, &(sk_psd_options){.tolerance = 1e-12});
    assert_int_equal(result->rank, 0);
    check_certificate(ctx, &c, 0.1, 1e-12, result);
    sk_psd_result_free(result);
    /* Features that are all zero. */
    memset(c.phi, 0, 24 * sizeof *c.phi);
    c.z[0] = 3;
    result = solve_case(ctx, &c, 0.1, &(sk_psd_options){.tolerance = 1e-12});
    assert_int_equal(result->rank, 0);
    check_certificate(ctx, &c, 0.1, 1e-12, result);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

/* One row, one node, d = 1: Q = t phi phi' with t = max(0, z w |phi|^4 ... ): the scalar problem by hand.
 * M = w phi phi', <M, Q> = w t |phi|^4, |Q|^2 = t^2 |phi|^4; minimise (w t s - z)^2 + lambda t^2 s, s = |phi|^4. */
static void test_psdsolvers__one_row_by_hand(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(4, (psd_shape){1, 1, 3, 1, 1, false, 0});
    double s = pow(frobenius(3, c.phi), 4), w = c.weight[0], lambda = 0.7, z = 2.5;
    c.z[0] = z;
    sk_psd_result *result = solve_case(ctx, &c, lambda, &(sk_psd_options){.tolerance = 1e-14});
    double t = w * z / (w * w * s + lambda);
    assert_int_equal(result->rank, 1);
    for (size_t a = 0; a < 3; a++) /* the factor's sign is free */
        assert_close(result->factor[a] * result->factor[0], t * c.phi[a] * c.phi[0], 1e-9, t);
    assert_close(result->beta[0], 2 * (w * t * s - z), 1e-9, 0);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

/* A row of weight 2 is two rows: the same Q when lambda is scaled with the count. */
static void prop_weights_are_repetitions(void **state)
{
    sock_context *ctx = *state;
    psd_case once = psd_case_new(2, (psd_shape){12, 10, 3, 2, 2, true, 1});
    psd_case twice = psd_case_new(2, (psd_shape){24, 10, 3, 2, 2, false, 1});
    for (size_t i = 0; i < 12; i++) once.row_weight[i] = 2;
    for (size_t i = 0; i < 24; i++) {
        for (size_t e = 0; e < 2; e++) {
            twice.node[2 * i + e] = once.node[2 * (i / 2) + e];
            twice.weight[2 * i + e] = once.weight[2 * (i / 2) + e];
        }
        memcpy(twice.z + 4 * i, once.z + 4 * (i / 2), 4 * sizeof *once.z);
    }
    sk_psd_options tight = {.tolerance = 1e-13};
    sk_psd_result *a = solve_case(ctx, &once, 0.2, &tight), *b = solve_case(ctx, &twice, 0.1, &tight);
    double *qa = dense_q(ctx, a), *qb = dense_q(ctx, b);
    assert_true(distance(36, qa, qb) <= 1e-6 * frobenius(36, qa));
    assert_close(a->primal, 2 * b->primal, 1e-10, 0);
    free(qa), free(qb);
    sk_psd_result_free(a), sk_psd_result_free(b);
    psd_case_free(&once), psd_case_free(&twice);
}

/* z by c, phi by f, lambda by f^4: Q by c / f^2, the same relative gap: units do not matter. */
static void prop_units_do_not_matter(void **state)
{
    sock_context *ctx = *state;
    const double factors[][2] = {{1e-24, 1}, {1e24, 1}, {1, 1e-10}, {1e-24, 1e12}, {1e24, 1e-20}};
    psd_shape shape = {25, 40, 3, 2, 2, true, 1};
    psd_case plain = psd_case_new(3, shape);
    sk_psd_result *base = solve_case(ctx, &plain, 0.05, &(sk_psd_options){.tolerance = 1e-12});
    double *q = dense_q(ctx, base);
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
        double c = factors[k][0], f = factors[k][1];
        psd_case scaled = psd_case_new(3, shape);
        sk_scale(25 * 4, c, scaled.z);
        sk_scale(40 * 3, f, scaled.phi);
        sk_psd_result *result = solve_case(ctx, &scaled, 0.05 * f * f * f * f, &(sk_psd_options){.tolerance = 1e-12});
        double *qs = dense_q(ctx, result);
        sk_scale(36, f * f / c, qs);
        assert_true(distance(36, q, qs) <= 1e-5 * frobenius(36, q));
        assert_close(result->primal / c / c, base->primal, 1e-11, 0);
        free(qs);
        sk_psd_result_free(result);
        psd_case_free(&scaled);
    }
    free(q);
    sk_psd_result_free(base);
    psd_case_free(&plain);
}

static void test_psdsolvers__path_and_shared_rows(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(5, (psd_shape){50, 60, 5, 2, 2, true, 1});
    const double lambdas[] = {1e-4, 1, 1e-2};
    sk_psd_options options = {.tolerance = 1e-11};
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *path[3];
    const sk_psd_targets targets = {1, c.d, c.z};
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, &options, &prepared), SOCK_OK);
    assert_int_equal(sk_psd_paths(ctx, prepared, &targets, &options, 3, lambdas, path), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        check_certificate(ctx, &c, lambdas[i], 1e-11, path[i]);
        sk_psd_result *alone = solve_case(ctx, &c, lambdas[i], &options);
        assert_close(path[i]->primal, alone->primal, 1e-10, 0);
        sk_psd_result_free(alone);
        sk_psd_result_free(path[i]);
    }
    /* The same prepared rows with other targets and another d: one diagonal entry alone. */
    psd_case one = c;
    one.d = 1;
    one.z = test_doubles(50);
    for (size_t i = 0; i < 50; i++) one.z[i] = c.z[4 * i + 3];
    sk_psd_result *result = NULL;
    sk_psd_target single = {1, one.z, 1e-2};
    assert_int_equal(sk_psd_solve(ctx, prepared, &single, &options, NULL, &result), SOCK_OK);
    check_certificate(ctx, &one, 1e-2, 1e-11, result);
    sk_psd_result_free(result);
    sk_psd_prepared_free(prepared);
    free(one.z);
    psd_case_free(&c);
}

/* Columns of the factor: orthogonal, falling; values are the eigenvalues of Q. */
static void test_psdsolvers__factor_is_ordered(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(6, (psd_shape){60, 60, 5, 2, 2, false, 1});
    sk_psd_result *result = solve_case(ctx, &c, 1e-2, NULL);
    size_t D = 10, r = result->rank;
    double *q = dense_q(ctx, result), values[10];
    assert_int_equal(sk_eigh(ctx, D, q, D, values), SOCK_OK);
    for (size_t j = 0; j < r; j++) {
        assert_close(result->values[j], values[D - 1 - j], 1e-12, values[D - 1]);
        for (size_t l = 0; l < r; l++) {
            double dot = 0;
            for (size_t i = 0; i < D; i++) dot += result->factor[i * r + j] * result->factor[i * r + l];
            assert_close(dot, j == l ? result->values[j] : 0, 1e-12, values[D - 1]);
        }
    }
    free(q);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

static void test_psdsolvers__stopping_early_is_stated(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(6, (psd_shape){60, 60, 5, 2, 2, false, 1});
    for (size_t s = 1; s < SOLVERS; s++) {
        sk_psd_options options = {.solver = solvers[s], .max_iterations = 2, .no_compression = true};
        sk_psd_prepared *prepared = NULL;
        sk_psd_result *result = NULL;
        sk_psd_target target = {c.d, c.z, 1e-4};
        sk_begin(ctx);
        assert_int_equal(sk_psd_prepare(ctx, &c.problem, &options, &prepared), SOCK_OK);
        assert_int_equal(sk_psd_solve(ctx, prepared, &target, &options, NULL, &result), SOCK_NOT_CONVERGED);
        assert_false(result->converged);
        assert_non_null(strstr(sock_message(ctx), "gap"));
        /* The certificate is true all the same. */
        double *q = dense_q(ctx, result);
        double primal = slow_primal(&c.problem, c.d, c.z, 1e-4, q);
        double dual = slow_dual(ctx, &c.problem, c.d, c.z, 1e-4, result->beta);
        assert_close(result->gap, primal - dual, 1e-8, primal + fabs(dual));
        free(q);
        sk_psd_result_free(result);
        sk_psd_prepared_free(prepared);
    }
    psd_case_free(&c);
}

/* Smooth features with many directions below rounding, rows of rank far below n: coarse and exact compression and none
 * give the same objective. */
static void prop_compression_changes_nothing(void **state)
{
    sock_context *ctx = *state;
    enum { N = 81, P = 24, ROWS = 80 };
    psd_case c = psd_case_new(7, (psd_shape){ROWS, N, P, 1, 2, false, 0});
    for (size_t a = 0; a < N; a++)
        for (size_t j = 0; j < P; j++) c.phi[a * P + j] = cos(0.9 * (double)j + (double)(a * (j % 7)) / 60);
    for (size_t i = 0; i < ROWS; i++) {
        c.node[2 * i] = i, c.node[2 * i + 1] = i + 1;
        c.weight[2 * i] = c.weight[2 * i + 1] = 0.05;
        c.z[i] = pow(sin(0.3 * (double)i), 2);
    }
    const double lambdas[] = {1, 1e-3, 1e-5};
    for (size_t k = 0; k < 3; k++) {
        double lambda = lambdas[k];
        sk_psd_options coarse = {.tolerance = 1e-7, .lambda_min = lambda},
                       exact = {.tolerance = 1e-7, .lambda_min = 1e-18},
                       none = {.tolerance = 1e-7, .no_compression = true};
        sk_psd_result *a = solve_case(ctx, &c, lambda, &coarse), *b = solve_case(ctx, &c, lambda, &exact),
                      *e = solve_case(ctx, &c, lambda, &none);
        check_certificate(ctx, &c, lambda, 1e-7, a);
        check_certificate(ctx, &c, lambda, 1e-7, b);
        check_certificate(ctx, &c, lambda, 1e-7, e);
        assert_true(a->rows < 30 && e->rows == ROWS);
        assert_close(a->primal, e->primal, 2e-7, 0);
        assert_close(b->primal, e->primal, 2e-7, 0);
        sk_psd_result_free(a), sk_psd_result_free(b), sk_psd_result_free(e);
    }
    psd_case_free(&c);
}

/* ---- The oracle ---- */

static double *json_numbers(const json_t *value, size_t *count)
{
    if (!json_is_array(value)) {
        double *x = test_doubles(1);
        x[0] = json_number_value(value);
        *count = 1;
        return x;
    }
    double *all = NULL;
    *count = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        size_t part = 0;
        double *x = json_numbers(json_array_get(value, i), &part);
        all = realloc(all, (*count + part) * sizeof *all);
        assert_non_null(all);
        memcpy(all + *count, x, part * sizeof *x);
        *count += part;
        free(x);
    }
    return all;
}

typedef struct oracle {
    json_t *json;
    size_t points, n, *group;
    double *t, *x; /* points x 2 */
    psd_case c;
} oracle;

/* The CSV (group, real, t, x0, x1): trapezoid weights averaged over the realisations of a group. */
static void oracle_rows(oracle *o, const char *path)
{
    enum { MOST = 100 };
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t real[MOST];
    char line[200];
    o->t = test_doubles(MOST), o->x = test_doubles(2 * MOST), o->group = calloc(MOST, sizeof(size_t));
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        size_t i = o->points++;
        assert_int_equal(
            sscanf(line, "%zu,%zu,%lf,%lf,%lf", &o->group[i], &real[i], &o->t[i], &o->x[2 * i], &o->x[2 * i + 1]), 5);
    }
    fclose(file);
    psd_case *c = &o->c;
    c->row = calloc(MOST, sizeof(size_t)), c->node = calloc(4 * MOST, sizeof(size_t)),
    c->weight = test_doubles(4 * MOST);
    size_t entries = 0;
    for (size_t begin = 0, end; begin < o->points; begin = end) {
        size_t members = 0;
        for (end = begin; end < o->points && o->group[end] == o->group[begin]; end++)
            members += o->t[end] == o->t[begin];
        size_t length = (end - begin) / members;
        for (size_t step = 0; step + 1 < length; step++, o->n++) {
            for (size_t u = 0; u < members; u++)
                for (size_t side = 0; side < 2; side++) {
                    size_t a = begin + u * length + step;
                    c->node[entries] = a + side;
                    c->weight[entries++] = (o->t[a + 1] - o->t[a]) / (2 * (double)members);
                }
            c->row[o->n + 1] = entries;
        }
    }
}

static oracle oracle_read(const char *name, const char *csv)
{
    oracle o = {0};
    char path[512];
    size_t count;
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    o.json = json_load_file(path, 0, NULL);
    assert_non_null(o.json);
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, csv);
    oracle_rows(&o, path);
    o.c.d = 2;
    o.c.z = json_numbers(json_object_get(o.json, "z"), &count);
    assert_int_equal(count, 4 * o.n);
    assert_int_equal(json_integer_value(json_object_get(o.json, "n")), (json_int_t)o.n);
    return o;
}

static void oracle_free(oracle *o)
{
    json_decref(o->json);
    free(o->t), free(o->x), free(o->group);
    psd_case_free(&o->c);
}

static void expect(const oracle *o, const char *key, size_t count, const double *value, double tolerance)
{
    size_t expected_count;
    double *expected = json_numbers(json_object_get(o->json, key), &expected_count);
    assert_int_equal(count, expected_count);
    assert_all_close(count, value, expected, tolerance);
    free(expected);
}

/* a_kl(x) = phi' Q_kl phi at the test points. */
static void expect_a(const oracle *o, size_t p, const double *phi, const double *q)
{
    double a[5 * 4];
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 2; k++)
            for (size_t l = 0; l < 2; l++) {
                double sum = 0;
                for (size_t b = 0; b < p; b++)
                    for (size_t e = 0; e < p; e++)
                        sum += phi[i * p + b] * q[(k * p + b) * 2 * p + l * p + e] * phi[i * p + e];
                a[(i * 2 + k) * 2 + l] = sum;
            }
    expect(o, "a_test", 20, a, 1e-6);
}

static void check_oracle(sock_context *ctx, const oracle *o, const double *phi_test)
{
    double lambda = json_number_value(json_object_get(o->json, "lam"));
    size_t p = o->c.problem.p, D = 2 * p;
    for (size_t s = 0; s < 2; s++) {
        sk_psd_options options = {.solver = solvers[s], .tolerance = 1e-12};
        sk_psd_result *result = solve_case(ctx, &o->c, lambda, &options);
        check_certificate(ctx, &o->c, lambda, 1e-12, result);
        expect(o, "primal", 1, &result->primal, 1e-10);
        expect(o, "beta", 4 * o->n, result->beta, 1e-6);
        double *q = dense_q(ctx, result), norm = frobenius(D * D, q), *values = test_doubles(D);
        expect_a(o, p, phi_test, q);
        if (json_object_get(o->json, "normQ")) expect(o, "normQ", 1, &norm, 1e-6);
        if (json_object_get(o->json, "Q")) expect(o, "Q", D * D, q, 1e-6);
        assert_int_equal(sk_eigh(ctx, D, q, D, values), SOCK_OK);
        expect(o, "eigvals_Q", D, values, 1e-6);
        free(q), free(values);
        sk_psd_result_free(result);
    }
}

static void test_psdsolvers__oracle_linear(void **state)
{
    oracle o = oracle_read("diff_linear.json", "diff_linear.csv");
    o.c.problem = (sk_psd_problem){o.n, o.points, 2, o.x, 2, o.c.row, o.c.node, o.c.weight, NULL};
    size_t count;
    double *x_test = json_numbers(json_object_get(o.json, "x_test"), &count);
    check_oracle(*state, &o, x_test);
    free(x_test);
    oracle_free(&o);
}

static double gauss(double eta, const double *x, const double *y)
{
    double dx = x[0] - y[0], dy = x[1] - y[1];
    return exp(-(dx * dx + dy * dy) / (2 * eta * eta));
}

/* Features gamma(x) = diag(e)^-1/2 E k(points, x) from the eigendecomposition of the Gram matrix: R'R = G. */
static void oracle_gauss(sock_context *ctx, const char *name)
{
    oracle o = oracle_read(name, "diff_gauss.csv");
    double eta = json_number_value(json_object_get(o.json, "eta"));
    size_t N = o.points, rank = (size_t)json_integer_value(json_object_get(o.json, "rank")), count;
    double *g = test_doubles(N * N), *values = test_doubles(N), *k = test_doubles(N);
    double *x_test = json_numbers(json_object_get(o.json, "x_test"), &count), *phi_test = test_doubles(5 * rank);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) g[i * N + j] = gauss(eta, o.x + 2 * i, o.x + 2 * j);
    assert_int_equal(sk_eigh(ctx, N, g, N, values), SOCK_OK);
    o.c.phi = test_doubles(N * rank);
    for (size_t i = 0; i < N + 5; i++) {
        const double *x = i < N ? o.x + 2 * i : x_test + 2 * (i - N);
        double *phi = i < N ? o.c.phi + i * rank : phi_test + (i - N) * rank;
        for (size_t j = 0; j < N; j++) k[j] = gauss(eta, o.x + 2 * j, x);
        for (size_t r = 0; r < rank; r++) phi[r] = sk_dot(N, g + (N - 1 - r) * N, k) / sqrt(values[N - 1 - r]);
    }
    o.c.problem = (sk_psd_problem){o.n, N, rank, o.c.phi, rank, o.c.row, o.c.node, o.c.weight, NULL};
    check_oracle(ctx, &o, phi_test);
    free(g), free(values), free(k), free(x_test), free(phi_test);
    oracle_free(&o);
}

static void test_psdsolvers__oracle_gauss(void **state) { oracle_gauss(*state, "diff_gauss.json"); }

static void test_psdsolvers__oracle_gauss_small_lambda(void **state)
{
    oracle_gauss(*state, "diff_gauss_smalllam.json");
}

/* ---- Failing allocations ---- */

static void test_psdsolvers__every_failed_allocation_is_survived(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(8, (psd_shape){12, 10, 3, 2, 2, true, 2});
    sock_set_threads(ctx, 1);
    for (size_t s = 0; s < SOLVERS; s++)
        for (int plain = 0; plain < 2; plain++) {
            sk_psd_options options = {
                .solver = solvers[s], .tolerance = 1e-4, .no_compression = plain, .lambda_min = plain};
            sk_psd_target target = {c.d, c.z, 1};
            sock_status status = SOCK_ENOMEM;
            long k = 0;
            while (status == SOCK_ENOMEM) {
                sk_psd_prepared *prepared = NULL;
                sk_psd_result *result = NULL;
                sk_begin(ctx);
                sk_fail_allocation(ctx, ++k);
                status = sk_psd_prepare(ctx, &c.problem, &options, &prepared);
                if (status >= 0) status = sk_psd_solve(ctx, prepared, &target, &options, NULL, &result);
                sk_fail_allocation(ctx, 0);
                if (status < 0) assert_null(result);
                sk_psd_result_free(result);
                sk_psd_prepared_free(prepared);
                assert_true(k < 1000);
            }
            assert_int_equal(status, SOCK_OK);
            assert_true(k > 10);
        }
    psd_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_psdsolvers__all_agree),
        cmocka_unit_test(test_psdsolvers__newton_holds_over_lambda),
        cmocka_unit_test(test_psdsolvers__tiny_lambda_is_honest),
        cmocka_unit_test(test_psdsolvers__zero_targets_give_zero),
        cmocka_unit_test(test_psdsolvers__one_row_by_hand),
        cmocka_unit_test(prop_weights_are_repetitions),
        cmocka_unit_test(prop_units_do_not_matter),
        cmocka_unit_test(test_psdsolvers__path_and_shared_rows),
        cmocka_unit_test(test_psdsolvers__factor_is_ordered),
        cmocka_unit_test(test_psdsolvers__stopping_early_is_stated),
        cmocka_unit_test(prop_compression_changes_nothing),
        cmocka_unit_test(test_psdsolvers__oracle_linear),
        cmocka_unit_test(test_psdsolvers__oracle_gauss),
        cmocka_unit_test(test_psdsolvers__oracle_gauss_small_lambda),
        cmocka_unit_test(test_psdsolvers__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
