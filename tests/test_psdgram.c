/* test_psdgram.c - the convex problem through its Gram matrix, certified with the rows themselves. */
#include "psd_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sock_context *ctx; /* that of setup(), for all tests */

static int open_context(void **state)
{
    int failed = setup(state);
    ctx = *state;
    return failed;
}

enum { N = 60 };

typedef struct rows {
    size_t p, q;
    double phi[N * 24], z[N], w[N], *g, *c, zz;
    size_t row[N + 1], node[N];
    double weight[N];
} rows;

/* Features f_j(x), j < p, at N points; targets that are negative now and then, so that the constraint is felt. */
static rows *rows_new(size_t p, double (*feature)(size_t j, double x))
{
    rows *r = calloc(1, sizeof *r);
    const double root2 = sqrt(2);
    size_t q = p * (p + 1) / 2;
    r->p = p, r->q = q;
    r->g = calloc(q * q, sizeof(double));
    r->c = calloc(q, sizeof(double));
    for (size_t i = 0; i < N; i++) {
        double x = 2 * ((double)i + 0.5) / N - 1, *svec = calloc(q, sizeof(double));
        for (size_t j = 0; j < p; j++) r->phi[i * p + j] = feature(j, x);
        r->z[i] = cos(3 * x) + 0.5 * sin(17 * (double)i);
        r->w[i] = 1 + 0.5 * cos(5 * (double)i);
        r->row[i + 1] = i + 1, r->node[i] = i, r->weight[i] = 1;
        for (size_t b = 0, j = 0; b < p; b++)
            for (size_t a = 0; a <= b; a++, j++) svec[j] = r->phi[i * p + a] * r->phi[i * p + b] * (a < b ? root2 : 1);
        for (size_t j = 0; j < q; j++) {
            r->c[j] += r->w[i] * r->z[i] * svec[j];
            for (size_t k = 0; k < q; k++) r->g[j * q + k] += r->w[i] * svec[j] * svec[k];
        }
        r->zz += r->w[i] * r->z[i] * r->z[i];
        free(svec);
    }
    return r;
}

static void rows_free(rows *r)
{
    free(r->g), free(r->c);
    free(r);
}

typedef sock_status (*maker)(sock_context *, size_t, size_t, const double *, sk_psd_gram **);

/* Solves through G and certifies with the rows. Answers the rank of G. */
static size_t solve_and_certify(const rows *r, maker make, double lambda)
{
    sk_psd_gram *gram = NULL;
    sk_psd_bounds bounds;
    double *q = calloc(r->p * r->p, sizeof(double)), beta[N];
    sk_psd_moments z = {.d = 1, .c = r->c, .zz = r->zz, .lambda = lambda};
    sk_psd_options options = {.tolerance = 1e-13};
    assert_int_equal(make(ctx, N, r->p, r->g, &gram), SOCK_OK);
    assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, &options, NULL, false, q, &bounds), SOCK_OK);
    sk_psd_problem problem = {.n = N,
                              .nodes = N,
                              .p = r->p,
                              .phi = r->phi,
                              .ld = r->p,
                              .row = r->row,
                              .node = r->node,
                              .weight = r->weight,
                              .row_weight = r->w};
    slow_beta(&problem, 1, r->z, q, beta);
    const double primal = slow_primal(&problem, 1, r->z, lambda, q);
    const double dual = slow_dual(ctx, &problem, 1, r->z, lambda, beta);
    assert_close(primal, bounds.primal, 1e-8, 0);
    assert_true(primal - dual <= 1e-6 * primal);
    size_t m = sk_psd_gram_rows(gram);
    sk_psd_gram_free(gram);
    free(q);
    return m;
}

static double bump(size_t j, double x) { return exp(-0.5 * pow((x - 0.1 * (double)j + 1) / 0.8, 2)); }
static double hill(size_t j, double x) { return exp(-2 * pow(x - 0.4 * (double)j + 1, 2)); }
static double power(size_t j, double x) { return pow(x, (double)j); }
static double wave(size_t j, double x) { return cos(1.7 * (double)j * x + (double)j); }
static double none(size_t j, double x) { return 0 * (double)j * x; }

static void prop_both_factorisations_give_a_certified_solution(void **state)
{
    (void)state;
    double (*const kinds[])(size_t, double) = {hill, power, wave};
    for (size_t kind = 0; kind < 3; kind++)
        for (size_t p = 1; p <= 6; p++) {
            rows *r = rows_new(p, kinds[kind]);
            for (double lambda = 1; lambda > 1e-5; lambda *= 1e-2) {
                size_t m = solve_and_certify(r, sk_psd_gram_new, lambda);
                assert_true(m <= r->q && solve_and_certify(r, sk_psd_gram_quick, lambda) <= r->q);
                if (kinds[kind] == power) assert_true(m <= 2 * p - 1); /* products of powers are powers */
            }
            rows_free(r);
        }
}

/* The dual point that a solution leaves is its own certificate: from there one iteration is enough, from nothing not.
 */
static void test_psdgram__the_dual_point_is_where_it_ended(void **state)
{
    (void)state;
    enum { P = 6, Q = P * (P + 1) / 2 };
    rows *r = rows_new(P, hill);
    double dual[Q] = {0}, q[P * P], again[P * P];
    sk_psd_gram *gram = NULL;
    sk_psd_moments z = {.d = 1, .c = r->c, .zz = r->zz, .lambda = 1e-3};
    sk_psd_options options = {.tolerance = 1e-8}, once = {.tolerance = 1e-8, .max_iterations = 1};
    assert_int_equal(sk_psd_gram_new(ctx, N, P, r->g, &gram), SOCK_OK);
    assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, &options, dual, false, q, NULL), SOCK_OK);
    assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, &once, dual, true, again, NULL), SOCK_OK);
    for (size_t k = 0; k < P * P; k++) assert_close(again[k], q[k], 1e-6, 1);
    assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, &once, dual, false, again, NULL), SOCK_NOT_CONVERGED);
    sk_psd_gram_free(gram);
    rows_free(r);
}

/* beta_i = (2/n) w_i (R(X0)_i - z_i), X0 from its svec. */
static void beta_of_point(const sk_psd_problem *problem, const rows *r, const double *point, double *beta)
{
    double *x0 = calloc(r->p * r->p, sizeof(double));
    for (size_t b = 0, j = 0; b < r->p; b++)
        for (size_t a = 0; a <= b; a++, j++) x0[a * r->p + b] = x0[b * r->p + a] = point[j] * (a < b ? 1 / sqrt(2) : 1);
    slow_beta(problem, 1, r->z, x0, beta);
    free(x0);
}

/* Of a result of the sums: the objective at Q and the dual one at its point, by the rows, wherever the solver stopped;
 * starting again from there takes no more steps. */
static void prop_results_of_sums_have_the_certificate_of_the_rows(void **state)
{
    (void)state;
    double (*const kinds[])(size_t, double) = {hill, power, wave};
    for (size_t kind = 0; kind < 3; kind++)
        for (size_t p = 1; p <= 5; p++)
            for (size_t limit = 0; limit <= 2; limit++) {
                rows *r = rows_new(p, kinds[kind]);
                const sk_psd_problem problem = {N, N, p, r->phi, p, r->row, r->node, r->weight, r->w};
                const sk_psd_options options = {.tolerance = 1e-9, .max_iterations = limit};
                sk_psd_gram *gram = NULL;
                sk_psd_result *result = NULL, *again = NULL;
                double *q = calloc(p * p, sizeof(double)), beta[N];
                assert_int_equal(sk_psd_gram_new(ctx, N, p, r->g, &gram), SOCK_OK);
                const sk_psd_moments z = {1, r->c, r->zz, 1e-3};
                const sock_status ended = sk_psd_gram_result(ctx, gram, N, r->g, &z, &options, NULL, &result);
                sk_psd_dense(ctx, result, q);
                beta_of_point(&problem, r, result->point, beta);
                const double primal = slow_primal(&problem, 1, r->z, z.lambda, q);
                const double dual = slow_dual(ctx, &problem, 1, r->z, z.lambda, beta);
                assert_close(result->primal, primal, 1e-10, 0);
                assert_close(result->dual, dual, 1e-10, primal);
                assert_close(result->gap, primal - dual, 1e-5, 1e-9 * primal);
                assert_true(result->converged == (result->gap <= 1e-9 * result->primal));
                assert_int_equal(ended, result->converged ? SOCK_OK : SOCK_NOT_CONVERGED);
                assert_true(limit || result->converged);
                assert_null(result->beta);
                sk_begin(ctx);
                if (!limit) {
                    assert_int_equal(sk_psd_gram_result(ctx, gram, N, r->g, &z, &options, result, &again), SOCK_OK);
                    assert_true(again->iterations == 0 && again->gap <= 1e-9 * primal);
                }
                sk_psd_result_free(result), sk_psd_result_free(again);
                sk_psd_gram_free(gram);
                free(q);
                rows_free(r);
            }
}

/* Many smooth features: G has far fewer dimensions than entries, and only those are computed. */
static void test_psdgram__smooth_features_have_few_products(void **state)
{
    (void)state;
    rows *r = rows_new(20, bump);
    for (double lambda = 1; lambda > 1e-5; lambda *= 1e-2)
        assert_true(solve_and_certify(r, sk_psd_gram_new, lambda) < r->q / 5);
    rows_free(r);
}

static void test_psdgram__features_that_vanish_give_nothing(void **state)
{
    (void)state;
    rows *r = rows_new(3, none);
    double q[9];
    const maker makers[] = {sk_psd_gram_new, sk_psd_gram_quick};
    for (int i = 0; i < 2; i++) {
        sk_psd_gram *gram = NULL;
        sk_psd_moments z = {.d = 1, .c = r->c, .zz = r->zz, .lambda = 1};
        assert_int_equal(makers[i](ctx, N, 3, r->g, &gram), SOCK_OK);
        assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, NULL, NULL, false, q, NULL), SOCK_OK);
        for (int k = 0; k < 9; k++) assert_true(q[k] == 0);
        sk_psd_gram_free(gram);
    }
    rows_free(r);
}

/* The features of a point in the plane, which x names. */
static double plane(size_t j, double x) { return j == 0 ? 2 * cos(40 * x) : j == 1 ? 3 * sin(23 * x) : 1; }

/* Targets e e' of noise in one direction: a is singular. */
static void test_psdgram__noise_of_rank_one_is_solved(void **state)
{
    (void)state;
    enum { ORDER = 6, PAIRS = 3 };
    const double root2 = sqrt(2), u[2] = {0.8, -0.6};
    rows *r = rows_new(3, plane);
    double c[PAIRS * 6] = {0}, zz = 0, q[ORDER * ORDER];
    for (size_t i = 0; i < N; i++) {
        double normal = 0, svec[6];
        sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, i, 1, &normal);
        const double *phi = r->phi + i * 3, size = (phi[0] - 0.5 * phi[1] + 0.2) * normal;
        for (size_t b = 0, j = 0; b < 3; b++)
            for (size_t a = 0; a <= b; a++, j++) svec[j] = phi[a] * phi[b] * (a < b ? root2 : 1);
        for (size_t l = 0, pair = 0; l < 2; l++)
            for (size_t k = 0; k <= l; k++, pair++) {
                double z = u[k] * u[l] * size * size * (k < l ? root2 : 1);
                zz += r->w[i] * z * z;
                for (size_t j = 0; j < 6; j++) c[pair * 6 + j] += r->w[i] * z * svec[j];
            }
    }
    sk_psd_gram *gram = NULL;
    assert_int_equal(sk_psd_gram_new(ctx, N, 3, r->g, &gram), SOCK_OK);
    for (double lambda = 1e-3; lambda > 3e-9; lambda /= 10) {
        sk_psd_moments z = {.d = 2, .c = c, .zz = zz, .lambda = lambda};
        sk_psd_bounds bounds;
        assert_int_equal(sk_psd_gram_solve(ctx, gram, N, &z, NULL, NULL, false, q, &bounds), SOCK_OK);
        assert_true(bounds.gap <= 1e-6 * bounds.primal);
    }
    sk_psd_gram_free(gram);
    rows_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_both_factorisations_give_a_certified_solution),
        cmocka_unit_test(prop_results_of_sums_have_the_certificate_of_the_rows),
        cmocka_unit_test(test_psdgram__the_dual_point_is_where_it_ended),
        cmocka_unit_test(test_psdgram__smooth_features_have_few_products),
        cmocka_unit_test(test_psdgram__features_that_vanish_give_nothing),
        cmocka_unit_test(test_psdgram__noise_of_rank_one_is_solved),
    };
    return cmocka_run_group_tests(tests, open_context, teardown);
}
