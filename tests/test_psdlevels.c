/* Large matrices: products by panels of rows, and Newton's method by levels of features. */
#include "psd_cases.h"

#include "psd/panels.h"

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

/* pd = 336: three levels. The answer is that of the plain accelerated gradient method. Steps are all alike, so
 * sanitizers and Valgrind look at fewer of them. */
static void test_psdlevels__large_matrices_reach_the_gap(void **state)
{
    sock_context *ctx = *state;
    const double tolerance = is_slow_run() ? 1e-2 : 1e-6;
    const double lambdas[] = {1e-1, 1e-3};
    for (size_t k = 0; k < 2; k++) {
        psd_case c = psd_case_new(k, (psd_shape){400, 350, 42, 8, k ? 6 : 2, k == 1, 0.5});
        let_features_decay(&c, 0.85);
        size_t D = 42 * 8;
        sk_psd_options by_levels = {.tolerance = tolerance}, slow = {.solver = "fista-restart", .tolerance = tolerance};
        sk_psd_result *a = psd_solve_case(ctx, &c, lambdas[k], &by_levels);
        psd_check_certificate(ctx, &c, lambdas[k], tolerance, a);
        if (k == 0) {
            sk_psd_result *b = psd_solve_case(ctx, &c, lambdas[k], &slow);
            double *qa = test_doubles(D * D), *qb = test_doubles(D * D);
            sk_psd_dense(ctx, a, qa);
            sk_psd_dense(ctx, b, qb);
            assert_true(distance(D * D, qa, qb) <= 2 * sqrt(tolerance * a->primal / lambdas[k]));
            assert_close(a->primal, b->primal, 2 * tolerance, 0);
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
    const double tolerance = is_slow_run() ? 1e-8 : 1e-10;
    psd_case c = psd_case_new(5, (psd_shape){300, 250, 40, 8, 2, false, 0.5});
    let_features_decay(&c, 0.85);
    sk_psd_result *result = psd_solve_case(ctx, &c, 1e-2, &(sk_psd_options){.tolerance = tolerance});
    psd_check_certificate(ctx, &c, 1e-2, tolerance, result);
    sk_psd_result_free(result);
    psd_case_free(&c);
}

/* Many rows that do not compress, d = 1: levels as well. */
static void test_psdlevels__one_dimension_many_rows(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(6, (psd_shape){2700, 2700, 72, 1, 2, false, 0.5});
    let_features_decay(&c, 0.95);
    const double tolerance = is_slow_run() ? 1e-2 : 1e-6;
    sk_psd_result *result = psd_solve_case(ctx, &c, 1e-2, &(sk_psd_options){.tolerance = tolerance});
    assert_int_equal(result->rows, 2700); /* not compressed */
    psd_check_certificate(ctx, &c, 1e-2, tolerance, result);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_panels_are_products_with_the_rows),
        cmocka_unit_test(test_psdlevels__large_matrices_reach_the_gap),
        cmocka_unit_test(test_psdlevels__tight_tolerance),
        cmocka_unit_test(test_psdlevels__one_dimension_many_rows),
        cmocka_unit_test(test_psdlevels__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
