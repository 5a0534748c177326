/* Large matrices: products by panels of rows, and Newton's method by levels of features. */
#include "psd_cases.h"

#include "psd/panels.h"

/* Features whose energy falls: what the levels are made for. */
static void let_features_decay(psd_case *c, double rate)
{
    size_t p = c->problem.p;
    for (size_t a = 0; a < c->problem.nodes; a++)
        for (size_t j = 0; j < p; j++) c->phi[a * p + j] *= pow(rate, (double)j);
}

/* Row i of B in the prepared coordinates, by its definition. */
static void slow_svec(const sk_psd_prepared *prepared, size_t i, size_t p, double *row)
{
    memset(row, 0, p * (p + 1) / 2 * sizeof *row);
    for (size_t e = prepared->row[i]; e < prepared->row[i + 1]; e++)
        for (size_t b = 0; b < p; b++)
            for (size_t a = 0; a <= b; a++) {
                const double *phi = prepared->phi + prepared->node[e] * prepared->p;
                row[b * (b + 1) / 2 + a] += prepared->weight[e] * phi[a] * phi[b] * (a < b ? sqrt(2) : 1);
            }
}

static void prop_panels_are_products_with_the_rows(void **state)
{
    sock_context *ctx = *state;
    enum { PAIRS = 3, P = 9, LEVEL = 5 };
    for (size_t per_row = 2; per_row <= 6; per_row += 4) { /* made on the fly; kept */
        psd_case c = psd_case_new(per_row, (psd_shape){300, 200, P, 2, per_row, true, 1});
        size_t n = 300, sizes[] = {LEVEL, P};
        sk_psd_prepared *prepared = NULL;
        sk_psd_panels *panels = NULL;
        assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
        assert_int_equal(prepared->p, P);
        assert_int_equal(sk_psd_panels_new(ctx, prepared, PAIRS, &panels), SOCK_OK);
        for (size_t s = 0; s < 2; s++) {
            size_t p = sizes[s], q = p * (p + 1) / 2;
            sk_psd_shape shape = {p, PAIRS};
            double *b = test_doubles(n * q), *x = test_doubles(PAIRS * q), *y = test_doubles(PAIRS * n),
                   *gram = test_doubles(PAIRS * q), *expected = test_doubles(PAIRS * n),
                   *back = test_doubles(PAIRS * q);
            for (size_t i = 0; i < n; i++) slow_svec(prepared, i, p, b + i * q);
            sk_normals((sk_key){1, SK_PURPOSE_TEST}, s, 0, 0, PAIRS * q, x);
            for (size_t k = 0; k < PAIRS; k++)
                for (size_t i = 0; i < n; i++) expected[k * n + i] = sk_dot(q, x + k * q, b + i * q);
            assert_int_equal(sk_psd_panels_rows(ctx, panels, shape, x, y), SOCK_OK);
            assert_all_close(PAIRS * n, y, expected, 1e-13);
            for (size_t k = 0; k < PAIRS; k++)
                for (size_t j = 0; j < q; j++)
                    for (size_t i = 0; i < n; i++) back[k * q + j] += expected[k * n + i] * b[i * q + j];
            assert_int_equal(sk_psd_panels_columns(ctx, panels, shape, expected, gram), SOCK_OK);
            assert_all_close(PAIRS * q, gram, back, 1e-13);
            assert_int_equal(sk_psd_panels_gram(ctx, panels, shape, x, false, gram), SOCK_OK);
            assert_all_close(PAIRS * q, gram, back, 1e-13);
            assert_int_equal(sk_psd_panels_gram(ctx, panels, shape, x, true, gram), SOCK_OK);
            assert_all_close(PAIRS * q, gram, back, 1e-5);
            const unsigned first[] = {0, 1, 0}, second[] = {0, 3, 4};
            double g[9];
            assert_int_equal(sk_psd_panels_block(ctx, panels, 3, first, second, g), SOCK_OK);
            for (size_t r = 0; r < 3; r++)
                for (size_t t = 0; t < 3; t++) {
                    double sum = 0;
                    size_t jr = second[r] * (second[r] + 1) / 2 + first[r],
                           jt = second[t] * (second[t] + 1) / 2 + first[t];
                    for (size_t i = 0; i < n; i++) sum += b[i * q + jr] * b[i * q + jt];
                    assert_close(g[3 * r + t], sum, 1e-12, (double)n);
                }
            free(b), free(x), free(y), free(gram), free(expected), free(back);
        }
        sk_psd_panels_free(panels);
        sk_psd_prepared_free(prepared);
        psd_case_free(&c);
    }
}

static sk_psd_result *solve_case(sock_context *ctx, const psd_case *c, double lambda, const sk_psd_options *options)
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

static void check_certificate(sock_context *ctx, const psd_case *c, double lambda, double tolerance,
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

/* pd = 336: three levels. The answer is that of the plain accelerated gradient method. */
static void test_psdlevels__large_matrices_reach_the_gap(void **state)
{
    sock_context *ctx = *state;
    const double lambdas[] = {1e-1, 1e-3};
    for (size_t k = 0; k < 2; k++) {
        psd_case c = psd_case_new(k, (psd_shape){400, 350, 42, 8, k ? 6 : 2, k == 1, 0.5});
        let_features_decay(&c, 0.85);
        size_t D = 42 * 8;
        sk_psd_options by_levels = {.tolerance = 1e-6}, slow = {.solver = "fista-restart", .tolerance = 1e-6};
        sk_psd_result *a = solve_case(ctx, &c, lambdas[k], &by_levels);
        check_certificate(ctx, &c, lambdas[k], 1e-6, a);
        if (k == 0) {
            sk_psd_result *b = solve_case(ctx, &c, lambdas[k], &slow);
            double *qa = test_doubles(D * D), *qb = test_doubles(D * D);
            sk_psd_dense(ctx, a, qa);
            sk_psd_dense(ctx, b, qb);
            assert_true(distance(D * D, qa, qb) <= 2 * sqrt(1e-6 * a->primal / lambdas[k]));
            assert_close(a->primal, b->primal, 2e-6, 0);
            free(qa), free(qb);
            sk_psd_result_free(b);
        }
        sk_psd_result_free(a);
        psd_case_free(&c);
    }
}

/* A tolerance beyond single precision. */
static void test_psdlevels__tight_tolerance(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(5, (psd_shape){300, 250, 40, 8, 2, false, 0.5});
    let_features_decay(&c, 0.85);
    sk_psd_result *result = solve_case(ctx, &c, 1e-2, &(sk_psd_options){.tolerance = 1e-10});
    check_certificate(ctx, &c, 1e-2, 1e-10, result);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

/* Many rows that do not compress, d = 1: levels as well. */
static void test_psdlevels__one_dimension_many_rows(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(6, (psd_shape){2700, 2700, 72, 1, 2, false, 0.5});
    let_features_decay(&c, 0.95);
    sk_psd_result *result = solve_case(ctx, &c, 1e-2, NULL);
    assert_int_equal(result->rows, 2700); /* not compressed */
    check_certificate(ctx, &c, 1e-2, 1e-6, result);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

static void test_psdlevels__every_failed_allocation_is_survived(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(8, (psd_shape){30, 20, 4, 2, 2, true, 1});
    sock_set_threads(ctx, 1);
    sk_psd_prepared *prepared = NULL;
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
    double *z = test_doubles(3 * 30);
    random_symmetric(4, 30, 1, z);
    for (size_t i = 0; i < 90; i++) z[i] = fabs(z[i % 30]) * (double)(1 + i / 30);
    sk_scale(90, sqrt(30) / sk_norm(90, z), z);
    sock_status status = SOCK_ENOMEM;
    long k = 0;
    while (status == SOCK_ENOMEM) {
        sk_psd_effort effort = {0};
        sk_psd_point point = {0};
        sk_psd_inner full = {.map = sk_psd_full_map(prepared, 2),
                             .n = 30,
                             .t = z,
                             .lambda = 1e-3,
                             .tolerance = 1e-6,
                             .max_iterations = 100,
                             .effort = &effort};
        sk_begin(ctx);
        sk_fail_allocation(ctx, ++k);
        status = sk_eigen_new(ctx, prepared->p * 2, &full.eigen);
        if (status >= 0) status = sk_psd_map_work(ctx, &full.map);
        if (status >= 0) status = sk_psd_point_new(ctx, &full.map, &point);
        if (status >= 0) status = sk_psd_levels(ctx, prepared, 1, &(sk_psd_inner *){&full}, &(sk_psd_point *){&point});
        sk_fail_allocation(ctx, 0);
        if (status >= 0) assert_true(point.gap <= 1e-6 * point.primal);
        sk_psd_map_clear(&full.map);
        sk_psd_point_clear(&point);
        sk_eigen_free(full.eigen);
        assert_true(k < 2000);
    }
    assert_int_equal(status, SOCK_OK);
    assert_true(k > 40);
    free(z);
    sk_psd_prepared_free(prepared);
    psd_case_free(&c);
}

/* ---- Several targets over the same rows ---- */

enum { PARTS = 4, MANY_ROWS = 460, MANY_FEATURES = 30 }; /* 465 pairs: large enough to be solved together */

/* The diagonal of the case's targets, the third all zero: PARTS x n. */
static double *many_targets(const psd_case *c)
{
    size_t n = c->problem.n;
    double *z = test_doubles(PARTS * n);
    for (size_t k = 0; k < PARTS; k++)
        for (size_t i = 0; i < n && k != 2; i++) z[k * n + i] = (double)(1 + k) * c->z[(i * PARTS + k) * PARTS + k];
    return z;
}

static psd_case many_case(uint64_t stream)
{
    psd_case c = psd_case_new(stream, (psd_shape){MANY_ROWS, 500, MANY_FEATURES, PARTS, 2, true, 0.5});
    let_features_decay(&c, 0.9);
    return c;
}

/* Together: each as if alone, where the rows are compressed instead, and each with a certificate that holds. */
static void test_psdlevels__together_is_each_alone(void **state)
{
    sock_context *ctx = *state;
    enum { COUNT = 3 };
    const double lambdas[COUNT] = {1e-3, 1e-1, 1e-2};
    psd_case c = many_case(11);
    size_t n = MANY_ROWS, p = MANY_FEATURES;
    double *z = many_targets(&c), *a = test_doubles(p * p), *b = test_doubles(p * p);
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result[COUNT * PARTS];
    sk_begin(ctx);
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
    sk_psd_targets targets = {PARTS, 1, z};
    assert_int_equal(sk_psd_paths(ctx, prepared, &targets, NULL, COUNT, lambdas, result), SOCK_OK);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < PARTS; k++) {
            const sk_psd_result *together = result[i * PARTS + k];
            psd_case one = c;
            one.d = 1;
            one.z = z + k * n;
            assert_close(together->lambda, lambdas[i], 1e-12, 0);
            check_certificate(ctx, &one, lambdas[i], 1e-6, together);
            sk_psd_result *alone = solve_case(ctx, &one, lambdas[i], NULL);
            sk_psd_dense(ctx, together, a);
            sk_psd_dense(ctx, alone, b);
            assert_true(distance(p * p, a, b) <= 2 * sqrt(1e-6 * alone->primal / lambdas[i]));
            assert_close(together->primal, alone->primal, 2e-6, 0);
            if (k != 2) {
                assert_int_equal(together->rows, n); /* by levels */
                assert_true(alone->rank > 0 && together->effort.eigendecompositions > 0);
            } else {
                assert_int_equal(together->rank, 0);
            }
            sk_psd_result_free(alone);
        }
    for (size_t i = 0; i < COUNT * PARTS; i++) sk_psd_result_free(result[i]);
    sk_psd_prepared_free(prepared);
    free(z), free(a), free(b);
    psd_case_free(&c);
}

/* Parts of dimension 2: the shared solve is not only for d = 1. */
static void test_psdlevels__parts_may_have_blocks(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(13, (psd_shape){MANY_ROWS, 500, MANY_FEATURES, 2, 2, false, 0.5});
    let_features_decay(&c, 0.9);
    size_t length = MANY_ROWS * 4;
    double *z = test_doubles(2 * length);
    memcpy(z, c.z, length * sizeof *z);
    for (size_t i = 0; i < length; i++) z[length + i] = c.z[length - 4 - i / 4 * 4 + i % 4]; /* rows turned round */
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result[2];
    const double lambda = 1e-2;
    sk_begin(ctx);
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
    assert_int_equal(sk_psd_paths(ctx, prepared, &(sk_psd_targets){2, 2, z}, NULL, 1, &lambda, result), SOCK_OK);
    for (size_t k = 0; k < 2; k++) {
        psd_case one = c;
        one.z = z + k * length;
        assert_int_equal(result[k]->rows, MANY_ROWS);
        check_certificate(ctx, &one, lambda, 1e-6, result[k]);
        sk_psd_result_free(result[k]);
    }
    sk_psd_prepared_free(prepared);
    free(z);
    psd_case_free(&c);
}

/* The number of threads changes sums by rounding alone, and those in single precision only steer: same answers to a
 * small part of what the gap allows. */
static void prop_together_does_not_depend_on_threads(void **state)
{
    sock_context *ctx = *state;
    psd_case c = many_case(12);
    size_t p = MANY_FEATURES;
    double *z = many_targets(&c), *a = test_doubles(p * p), *b = test_doubles(p * p);
    sk_psd_result *result[2][PARTS];
    const double lambda = 1e-2;
    for (int threads = 1; threads <= 2; threads++) {
        sk_psd_prepared *prepared = NULL;
        sock_set_threads(ctx, threads == 1 ? 1 : 3);
        sk_begin(ctx);
        assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
        sk_psd_targets targets = {PARTS, 1, z};
        assert_int_equal(sk_psd_paths(ctx, prepared, &targets, NULL, 1, &lambda, result[threads - 1]), SOCK_OK);
        sk_psd_prepared_free(prepared);
    }
    for (size_t k = 0; k < PARTS; k++) {
        assert_int_equal(result[0][k]->iterations, result[1][k]->iterations);
        assert_close(result[0][k]->primal, result[1][k]->primal, 1e-9, 0);
        sk_psd_dense(ctx, result[0][k], a);
        sk_psd_dense(ctx, result[1][k], b);
        assert_true(distance(p * p, a, b) <= 1e-5 * frobenius(p * p, a));
        sk_psd_result_free(result[0][k]);
        sk_psd_result_free(result[1][k]);
    }
    free(z), free(a), free(b);
    psd_case_free(&c);
}

/* No time at all: a true certificate and a caveat for each part, not a failure. */
static void test_psdlevels__together_out_of_time(void **state)
{
    sock_context *ctx = *state;
    psd_case c = many_case(14);
    double *z = many_targets(&c);
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result[PARTS];
    const double lambda = 1e-3;
    sk_psd_options options = {.seconds = 1e-9};
    sk_begin(ctx);
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, &options, &prepared), SOCK_OK);
    sock_status status = sk_psd_paths(ctx, prepared, &(sk_psd_targets){PARTS, 1, z}, &options, 1, &lambda, result);
    assert_int_equal(status, SOCK_NOT_CONVERGED);
    for (size_t k = 0; k < PARTS; k++) {
        psd_case one = c;
        one.d = 1;
        one.z = z + k * MANY_ROWS;
        assert_int_equal(result[k]->converged, k == 2);       /* the zero part needs no time */
        check_certificate(ctx, &one, lambda, 1e6, result[k]); /* that it is true, however poor */
        sk_psd_result_free(result[k]);
    }
    sk_psd_prepared_free(prepared);
    free(z);
    psd_case_free(&c);
}

static void test_psdlevels__together_every_failed_allocation_is_survived(void **state)
{
    sock_context *ctx = *state;
    psd_case c = many_case(15);
    double *z = many_targets(&c);
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result[PARTS];
    const double lambda = 1;
    sock_set_threads(ctx, 1);
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
    sock_status status = SOCK_ENOMEM;
    long k = 0;
    while (status == SOCK_ENOMEM) {
        sk_begin(ctx);
        sk_fail_allocation(ctx, ++k);
        status = sk_psd_paths(ctx, prepared, &(sk_psd_targets){PARTS, 1, z}, NULL, 1, &lambda, result);
        sk_fail_allocation(ctx, 0);
        for (size_t i = 0; i < PARTS && status < 0; i++) assert_null(result[i]);
        assert_true(k < 2000);
    }
    assert_int_equal(status, SOCK_OK);
    assert_true(k > 100);
    for (size_t i = 0; i < PARTS; i++) sk_psd_result_free(result[i]);
    sk_psd_prepared_free(prepared);
    free(z);
    psd_case_free(&c);
}

static int setup(void **state) { return (*state = sock_context_new()) ? 0 : -1; }

static int teardown(void **state)
{
    sock_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_panels_are_products_with_the_rows),
        cmocka_unit_test(test_psdlevels__large_matrices_reach_the_gap),
        cmocka_unit_test(test_psdlevels__tight_tolerance),
        cmocka_unit_test(test_psdlevels__one_dimension_many_rows),
        cmocka_unit_test(test_psdlevels__every_failed_allocation_is_survived),
        cmocka_unit_test(test_psdlevels__together_is_each_alone),
        cmocka_unit_test(test_psdlevels__parts_may_have_blocks),
        cmocka_unit_test(prop_together_does_not_depend_on_threads),
        cmocka_unit_test(test_psdlevels__together_out_of_time),
        cmocka_unit_test(test_psdlevels__together_every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
