/* The operators, the objective and the projection, against slow loops and their own laws. */
#include "psd_cases.h"

#include "psd/psdinner.h"

static const psd_shape shapes[] = {
    {20, 15, 4, 1, 2, false, 1}, {12, 30, 5, 2, 3, true, 1}, {9, 6, 3, 3, 1, true, 1}, {400, 300, 8, 2, 2, false, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The operators of the solver, which keep pairs k <= l and multiply by sqrt(2) where k < l, for n x d x d numbers and
 * the rows as given. */

static sk_psd_map given_map(const sk_psd_problem *problem, size_t d)
{
    return (sk_psd_map){.m = problem->n,
                        .p = problem->p,
                        .d = d,
                        .phi = problem->phi,
                        .nodes = problem->nodes,
                        .ld = problem->ld,
                        .row = problem->row,
                        .node = problem->node,
                        .weight = problem->weight};
}

static sock_status apply(sock_context *ctx, const sk_psd_problem *problem, size_t d, const double *q, double *out)
{
    sk_psd_map map = given_map(problem, d);
    double *y = sk_doubles(ctx, d * (d + 1) / 2, problem->n);
    sock_status status = y ? sk_psd_map_work(ctx, &map) : SOCK_ENOMEM;
    if (status == SOCK_OK) status = sk_psd_map_apply(ctx, &map, q, y);
    for (size_t l = 0; status == SOCK_OK && l < d; l++)
        for (size_t k = 0; k <= l; k++)
            for (size_t i = 0; i < problem->n; i++)
                out[(i * d + k) * d + l] = out[(i * d + l) * d + k] =
                    y[(l * (l + 1) / 2 + k) * problem->n + i] * (k < l ? sqrt(0.5) : 1);
    sk_psd_map_clear(&map);
    sk_free(y);
    return status;
}

static sock_status adjoint(sock_context *ctx, const sk_psd_problem *problem, size_t d, const double *b, double *out)
{
    sk_psd_map map = given_map(problem, d);
    double *y = sk_doubles(ctx, d * (d + 1) / 2, problem->n);
    sock_status status = y ? sk_psd_map_work(ctx, &map) : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        for (size_t l = 0; l < d; l++)
            for (size_t k = 0; k <= l; k++)
                for (size_t i = 0; i < problem->n; i++)
                    y[(l * (l + 1) / 2 + k) * problem->n + i] =
                        (b[(i * d + k) * d + l] + b[(i * d + l) * d + k]) * (k < l ? sqrt(0.5) : 0.5);
        status = sk_psd_map_adjoint(ctx, &map, y, out);
    }
    sk_psd_map_clear(&map);
    sk_free(y);
    return status;
}

static void prop_the_adjoint_is_the_adjoint(void **state)
{
    sock_context *ctx = *state;
    for (size_t c = 0; c < SHAPES; c++) {
        psd_case problem = psd_case_new(c, shapes[c]);
        size_t d = problem.d, D = problem.problem.p * d, length = problem.problem.n * d * d;
        double *q = test_doubles(D * D), *b = test_doubles(length), *rq = test_doubles(length),
               *rb = test_doubles(D * D);
        random_symmetric(c, 1, D, q);
        random_symmetric(c + 50, problem.problem.n, d, b);
        assert_int_equal(apply(ctx, &problem.problem, d, q, rq), SOCK_OK);
        assert_int_equal(adjoint(ctx, &problem.problem, d, b, rb), SOCK_OK);
        double left = sk_dot(length, rq, b), right = sk_dot(D * D, q, rb);
        assert_close(left, right, 1e-12, frobenius(length, rq) * frobenius(length, b));
        double *slow = test_doubles(length), *slow_b = test_doubles(D * D);
        slow_apply(&problem.problem, d, q, slow);
        assert_all_close(length, rq, slow, 1e-12);
        slow_adjoint(&problem.problem, d, b, slow_b);
        assert_all_close(D * D, rb, slow_b, 1e-12);
        free(q), free(b), free(rq), free(rb), free(slow), free(slow_b);
        psd_case_free(&problem);
    }
}

/* The objective is quadratic, so a central difference is exact up to rounding. (The gradient by which the tests of the
 * solvers judge.) */
static void prop_the_gradient_is_the_derivative(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        psd_case problem = psd_case_new(c, shapes[c]);
        size_t d = problem.d, D = problem.problem.p * d;
        double lambda = 0.3, *q = test_doubles(D * D), *g = test_doubles(D * D), *h = test_doubles(D * D),
               *at = test_doubles(D * D);
        random_psd(c, D, D, q);
        random_symmetric(c + 9, 1, D, h);
        slow_gradient(&problem.problem, d, problem.z, lambda, q, g);
        double value[2];
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < D * D; i++) at[i] = q[i] + (side ? 0.5 : -0.5) * h[i];
            value[side] = slow_primal(&problem.problem, d, problem.z, lambda, at);
        }
        assert_close(sk_dot(D * D, g, h), value[1] - value[0], 1e-11, value[0] + value[1]);
        free(q), free(g), free(h), free(at);
        psd_case_free(&problem);
    }
}

/* Moreau: A = A_+ - A_-, both positive semi-definite and orthogonal. */
static void prop_projection_splits_a_matrix(void **state)
{
    sock_context *ctx = *state;
    const size_t sizes[] = {1, 2, 7, 40};
    for (size_t c = 0; c < 4; c++) {
        size_t n = sizes[c], rank = 0;
        double *a = test_doubles(n * n), *plus = test_doubles(n * n), *values = test_doubles(n);
        sk_eigen *space = NULL;
        assert_int_equal(sk_eigen_new(ctx, n, &space), SOCK_OK);
        random_symmetric(c, 1, n, a);
        memcpy(plus, a, n * n * sizeof *a);
        assert_int_equal(sk_psd_project(ctx, space, n, plus, &rank), SOCK_OK);
        double size = frobenius(n * n, a), product = 0;
        double *minus = test_doubles(n * n), *copy = test_doubles(n * n);
        for (size_t i = 0; i < n * n; i++) minus[i] = plus[i] - a[i], product += plus[i] * minus[i];
        assert_close(product, 0, 1e-12, size * size);
        memcpy(copy, plus, n * n * sizeof *a);
        assert_int_equal(sk_eigh(ctx, n, copy, n, values), SOCK_OK);
        size_t positive = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(values[i] > -1e-13 * size);
            positive += values[i] > 1e-10 * size;
        }
        assert_int_equal(positive, rank);
        memcpy(copy, minus, n * n * sizeof *a);
        assert_int_equal(sk_eigh(ctx, n, copy, n, values), SOCK_OK);
        for (size_t i = 0; i < n; i++) assert_true(values[i] > -1e-13 * size);
        /* Projecting again changes nothing; minus a positive semi-definite matrix goes to zero. */
        memcpy(copy, plus, n * n * sizeof *a);
        assert_int_equal(sk_psd_project(ctx, space, n, copy, NULL), SOCK_OK);
        assert_true(distance(n * n, copy, plus) <= 1e-13 * size);
        random_psd(c, n, n, copy);
        for (size_t i = 0; i < n * n; i++) copy[i] = -copy[i];
        assert_int_equal(sk_psd_project(ctx, space, n, copy, &rank), SOCK_OK);
        assert_int_equal(rank, 0);
        assert_true(frobenius(n * n, copy) == 0);
        sk_eigen_free(space);
        free(a), free(plus), free(values), free(minus), free(copy);
    }
}

/* S with the given number of positive eigenvalues, so that both sides of the cheap formula are used. */
static void prop_projection_derivative_is_the_derivative(void **state)
{
    sock_context *ctx = *state;
    enum { N = 9 };
    for (size_t positive = 0; positive <= N; positive += 3) {
        double s[N * N], e[N * N], values[N], h[N * N], out[N * N], work[2 * N * N], side[2][N * N], step = 1e-6;
        random_symmetric(positive, 1, N, e);
        assert_int_equal(sk_eigh(ctx, N, e, N, values), SOCK_OK);
        for (size_t i = 0; i < N; i++) values[i] = (double)i - (double)(N - positive) + 0.5;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                s[i * N + j] = 0;
                for (size_t k = 0; k < N; k++) s[i * N + j] += values[k] * e[k * N + i] * e[k * N + j];
            }
        sk_psd_point at = {.e = e, .values = values, .positive = positive};
        random_symmetric(positive + 30, 1, N, h);
        sk_psd_projection_derivative(ctx, &at, N, h, out, work);
        sk_eigen *space = NULL;
        assert_int_equal(sk_eigen_new(ctx, N, &space), SOCK_OK);
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < N * N; i++) side[k][i] = s[i] + (k ? step : -step) * h[i];
            assert_int_equal(sk_psd_project(ctx, space, N, side[k], NULL), SOCK_OK);
        }
        for (size_t i = 0; i < N * N; i++)
            assert_close(out[i], (side[1][i] - side[0][i]) / (2 * step), 1e-7, frobenius(N * N, h));
        sk_eigen_free(space);
    }
}

static void test_psd__leading_eigenpairs_are_eigenpairs(void **state)
{
    sock_context *ctx = *state;
    enum { K = 30 };
    for (size_t rank = 2; rank <= K; rank += 14) { /* by pivoted Cholesky, then by the whole decomposition */
        double g[K * K], copy[K * K], values[K], vectors[K * K], all[K], image[K];
        size_t count = 0;
        random_psd(rank, K, rank, g);
        memcpy(copy, g, sizeof g);
        assert_int_equal(sk_psd_leading(ctx, K, copy, 1e-13, values, vectors, &count), SOCK_OK);
        assert_int_equal(count, rank);
        memcpy(copy, g, sizeof g);
        assert_int_equal(sk_eigh(ctx, K, copy, K, all), SOCK_OK);
        for (size_t j = 0; j < count; j++) {
            assert_close(values[j], all[K - 1 - j], 1e-12, all[K - 1]);
            sk_gemv(ctx, SK_PLAIN, K, K, 1, g, K, vectors + j * K, 0, image);
            for (size_t i = 0; i < K; i++) assert_close(image[i], values[j] * vectors[j * K + i], 1e-12, all[K - 1]);
            for (size_t l = 0; l <= j; l++) assert_close(sk_dot(K, vectors + j * K, vectors + l * K), j == l, 1e-12, 1);
        }
    }
}

/* U (n x m) column by column, by expanding unit vectors. */
static double *left_vectors(sock_context *ctx, const sk_psd_prepared *prepared)
{
    size_t n = prepared->n, m = prepared->m;
    double *unit = test_doubles(m * m), *u = test_doubles(m * n);
    for (size_t j = 0; j < m; j++) unit[j * m + j] = 1;
    assert_int_equal(sk_psd_expand_rows(ctx, prepared, m, unit, u), SOCK_OK);
    free(unit);
    return u;
}

/* B = U C with orthonormal U and C C' = diag(s2), for n > h and n < h, through Gram matrices and by SVD. */
static void prop_compression_is_a_factorisation(void **state)
{
    sock_context *ctx = *state;
    const psd_shape two[] = {{60, 50, 4, 1, 2, true, 1}, {9, 12, 5, 1, 2, false, 1}};
    for (int c = 0; c < 4; c++) {
        psd_case problem = psd_case_new((uint64_t)c, two[c / 2]);
        sk_psd_prepared *prepared = NULL;
        assert_int_equal(sk_psd_prepare(ctx, &problem.problem, NULL, &prepared), SOCK_OK);
        assert_int_equal(sk_psd_compress(ctx, prepared, 1e-3, 1e-6, c % 2), SOCK_OK);
        assert_int_equal(prepared->accurate, c % 2);
        size_t n = prepared->n, m = prepared->m, h = prepared->h;
        assert_int_equal(m, SK_MIN(n, prepared->p * (prepared->p + 1) / 2));
        double *u = left_vectors(ctx, prepared), *back = test_doubles(m * m), *unit = test_doubles(m * m);
        for (size_t j = 0; j < m; j++) unit[j * m + j] = 1;
        for (size_t j = 0; j < m * m; j++) back[j] = 7;                            /* what was there does not count */
        assert_int_equal(sk_psd_project_rows(ctx, prepared, m, u, back), SOCK_OK); /* U' U */
        for (size_t j = 0; j < m * m; j++) assert_close(back[j], unit[j], 1e-9, 1);
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k <= j; k++)
                assert_close(sk_dot(h, prepared->c + j * h, prepared->c + k * h), j == k ? prepared->s2[j] : 0, 1e-12,
                             prepared->s2[0]);
        for (size_t i = 0; i < n; i++)
            for (size_t e = 0; e < h; e++) {
                double expected = 0, value = 0;
                size_t a = prepared->first[e], b = prepared->second[e];
                for (size_t k = prepared->row[i]; k < prepared->row[i + 1]; k++) {
                    const double *phi = prepared->phi + prepared->node[k] * prepared->p;
                    expected += prepared->weight[k] * phi[a] * phi[b] * (a < b ? sqrt(2) : 1);
                }
                for (size_t j = 0; j < m; j++) value += u[j * n + i] * prepared->c[j * h + e];
                assert_close(value, expected, 1e-12, sqrt(prepared->s2[0]));
            }
        free(u), free(back), free(unit);
        sk_psd_prepared_free(prepared);
        psd_case_free(&problem);
    }
}

static sock_status prepare_only(sock_context *ctx, const sk_psd_problem *problem)
{
    sk_psd_prepared *prepared = NULL;
    sk_begin(ctx);
    sock_status status = sk_psd_prepare(ctx, problem, NULL, &prepared);
    if (status < 0) assert_null(prepared);
    sk_psd_prepared_free(prepared);
    return status;
}

static void test_psd__bad_input_is_refused_by_name(void **state)
{
    sock_context *ctx = *state;
    psd_case c = psd_case_new(1, shapes[1]);
    c.row_weight[3] = -1;
    assert_int_equal(prepare_only(ctx, &c.problem), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "row 3"));
    c.row_weight[3] = 1;
    c.phi[7] = NAN;
    assert_int_equal(prepare_only(ctx, &c.problem), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "feature 2 at node 1"));
    c.phi[7] = 0;
    c.node[4] = 1000;
    assert_int_equal(prepare_only(ctx, &c.problem), SOCK_EINPUT);
    c.node[4] = 0;
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result = NULL;
    assert_int_equal(sk_psd_prepare(ctx, &c.problem, NULL, &prepared), SOCK_OK);
    sk_psd_target bad = {c.d, c.z, 0};
    assert_int_equal(sk_psd_solve(ctx, prepared, &bad, NULL, NULL, &result), SOCK_EUSAGE);
    bad.lambda = 1;
    sk_begin(ctx);
    assert_int_equal(sk_psd_solve(ctx, prepared, &bad, &(sk_psd_options){.solver = "magic"}, NULL, &result),
                     SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "magic"));
    c.z[2] = INFINITY;
    assert_int_equal(sk_psd_solve(ctx, prepared, &bad, NULL, NULL, &result), SOCK_EINPUT);
    assert_null(result);
    sk_psd_prepared_free(prepared);
    psd_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_the_adjoint_is_the_adjoint),
        cmocka_unit_test(prop_the_gradient_is_the_derivative),
        cmocka_unit_test(prop_projection_splits_a_matrix),
        cmocka_unit_test(prop_projection_derivative_is_the_derivative),
        cmocka_unit_test(test_psd__leading_eigenpairs_are_eigenpairs),
        cmocka_unit_test(prop_compression_is_a_factorisation),
        cmocka_unit_test(test_psd__bad_input_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
