/* Several targets over the same rows, solved together by levels of features. */
#include "psd_cases.h"

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
static void test_psdparts__together_is_each_alone(void **state)
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
            psd_check_certificate(ctx, &one, lambdas[i], 1e-6, together);
            sk_psd_result *alone = psd_solve_case(ctx, &one, lambdas[i], NULL);
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
static void test_psdparts__parts_may_have_blocks(void **state)
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
        psd_check_certificate(ctx, &one, lambda, 1e-6, result[k]);
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
static void test_psdparts__out_of_time_is_a_caveat(void **state)
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
        assert_int_equal(result[k]->converged, k == 2);           /* the zero part needs no time */
        psd_check_certificate(ctx, &one, lambda, 1e6, result[k]); /* that it is true, however poor */
        sk_psd_result_free(result[k]);
    }
    sk_psd_prepared_free(prepared);
    free(z);
    psd_case_free(&c);
}

static void test_psdparts__every_failed_allocation_is_survived(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_psdparts__together_is_each_alone),
        cmocka_unit_test(test_psdparts__parts_may_have_blocks),
        cmocka_unit_test(prop_together_does_not_depend_on_threads),
        cmocka_unit_test(test_psdparts__out_of_time_is_a_caveat),
        cmocka_unit_test(test_psdparts__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
