/* Tiny problems against an interior-point solver that shares nothing with ours: DSDP (Benson, Ye, Zhang 2000).
 *
 * Variables: the entries of Q (K of them) and u. With the quadratic objective |F q - g|^2 = |L' q - c|^2 + constant,
 * L L' = F'F, c = L^-1 F'g, the problem is
 *
 *     minimise u   subject to   Q(q) >= 0,   [ I, L'q - c ; ., u ] >= 0      (Schur complement: u >= |L'q - c|^2). */
#include "psd_cases.h"

#include <dsdp/dsdp5.h>

typedef struct quadratic {
    size_t K;
    double *h, *f, constant; /* K x K = F'F, K = F'g, |g|^2 */
    int *row, *col;          /* entry (row >= col) of each variable */
} quadratic;

/* Derivatives of the residuals by every entry of Q, from slow_apply on unit matrices. */
static quadratic quadratic_new(const psd_case *c, double lambda)
{
    size_t D = c->problem.p * c->d, length = c->problem.n * c->d * c->d;
    quadratic out = {.K = D * (D + 1) / 2};
    out.h = test_doubles(out.K * out.K), out.f = test_doubles(out.K);
    out.row = calloc(out.K, sizeof(int)), out.col = calloc(out.K, sizeof(int));
    assert_non_null(out.row);
    assert_non_null(out.col);
    double *images = test_doubles(out.K * length), *unit = test_doubles(D * D);
    for (size_t i = 0, k = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++, k++) {
            out.row[k] = (int)i, out.col[k] = (int)j;
            unit[i * D + j] = unit[j * D + i] = 1;
            slow_apply(&c->problem, c->d, unit, images + k * length);
            unit[i * D + j] = unit[j * D + i] = 0;
            out.h[k * out.K + k] += lambda * (i == j ? 1 : 2);
        }
    for (size_t r = 0; r < length; r++) {
        double w = slow_row_weight(&c->problem, r / (c->d * c->d)) / (double)c->problem.n;
        out.constant += w * c->z[r] * c->z[r];
        for (size_t k = 0; k < out.K; k++) {
            out.f[k] += w * images[k * length + r] * c->z[r];
            for (size_t l = 0; l < out.K; l++)
                out.h[k * out.K + l] += w * images[k * length + r] * images[l * length + r];
        }
    }
    free(images), free(unit);
    return out;
}

static void quadratic_free(quadratic *q) { free(q->h), free(q->f), free(q->row), free(q->col); }

/* The optimal value and Q by DSDP. */
static double dsdp_solve(sock_context *ctx, const quadratic *quad, size_t D, double *q)
{
    int K = (int)quad->K, size = K + 1, corner = size * (size + 1) / 2 - 1;
    double *l = test_doubles(quad->K * quad->K), *c = test_doubles(quad->K), *y = test_doubles(quad->K + 1);
    memcpy(l, quad->h, quad->K * quad->K * sizeof *l);
    memcpy(c, quad->f, quad->K * sizeof *c);
    assert_int_equal(sk_cholesky(ctx, quad->K, l, quad->K), SOCK_OK);
    sk_solve_lower(ctx, SK_PLAIN, quad->K, 1, l, quad->K, c, 1);
    DSDP dsdp;
    SDPCone cone;
    assert_int_equal(DSDPCreate(K + 1, &dsdp), 0);
    assert_int_equal(DSDPCreateSDPCone(dsdp, 2, &cone), 0);
    assert_int_equal(SDPConeSetBlockSize(cone, 0, (int)D), 0);
    assert_int_equal(SDPConeSetBlockSize(cone, 1, size), 0);
    /* DSDP keeps pointers to these arrays. */
    int *index = calloc((size_t)(K + 1) * (size_t)(K + 2), sizeof *index), *next = index;
    double *value = test_doubles((size_t)(K + 1) * (size_t)(K + 2)), *put = value;
    assert_non_null(index);
    for (int k = 0; k < K; k++) { /* S = C - sum y A: minus signs */
        *next = quad->row[k] * (quad->row[k] + 1) / 2 + quad->col[k], *put = -1;
        assert_int_equal(SDPConeSetASparseVecMat(cone, 0, k + 1, (int)D, 1, 0, next++, put++, 1), 0);
        for (int i = 0; i < K; i++) { /* column k of L' */
            next[i] = size * (size - 1) / 2 + i;
            put[i] = i <= k ? -l[(size_t)k * quad->K + (size_t)i] : 0;
        }
        assert_int_equal(SDPConeSetASparseVecMat(cone, 1, k + 1, size, 1, 0, next, put, K), 0);
        next += K, put += K;
    }
    *next = corner, *put = -1;
    assert_int_equal(SDPConeSetASparseVecMat(cone, 1, K + 1, size, 1, 0, next++, put++, 1), 0);
    int *c_index = calloc((size_t)(2 * K + 1), sizeof *c_index);
    double *c_value = test_doubles((size_t)(2 * K + 1));
    assert_non_null(c_index);
    for (int i = 0; i < K; i++) {
        c_index[i] = i * (i + 1) / 2 + i, c_value[i] = 1;
        c_index[K + i] = size * (size - 1) / 2 + i, c_value[K + i] = -c[i];
    }
    assert_int_equal(SDPConeSetASparseVecMat(cone, 1, 0, size, 1, 0, c_index, c_value, 2 * K), 0);
    assert_int_equal(DSDPSetDualObjective(dsdp, K + 1, -1), 0); /* maximise -u */
    assert_int_equal(DSDPSetGapTolerance(dsdp, 1e-10), 0);
    assert_int_equal(DSDPSetPNormTolerance(dsdp, 1e30), 0);
    assert_int_equal(DSDPSetup(dsdp), 0);
    assert_int_equal(DSDPSolve(dsdp), 0);
    DSDPTerminationReason reason;
    assert_int_equal(DSDPStopReason(dsdp, &reason), 0);
    assert_int_equal(DSDPGetY(dsdp, y, K + 1), 0);
    for (int k = 0; k < K; k++)
        q[quad->row[k] * (int)D + quad->col[k]] = q[quad->col[k] * (int)D + quad->row[k]] = y[k];
    double best = y[K] + quad->constant - sk_dot(quad->K, c, c);
    assert_int_equal(DSDPDestroy(dsdp), 0);
    free(l), free(c), free(y), free(index), free(value), free(c_index), free(c_value);
    return best;
}

static void test_psddsdp__interior_point_agrees(void **state)
{
    sock_context *ctx = *state;
    const psd_shape shapes[] = {
        {10, 8, 3, 1, 2, false, 2}, {8, 6, 2, 2, 2, true, 2}, {5, 9, 4, 1, 2, true, 1}, {6, 6, 2, 2, 1, false, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        psd_case c = psd_case_new(20 + s, shapes[s]);
        size_t D = c.problem.p * c.d;
        double lambda = 0.1, *q = test_doubles(D * D), *ours = test_doubles(D * D);
        quadratic quad = quadratic_new(&c, lambda);
        double best = dsdp_solve(ctx, &quad, D, q);
        sk_psd_prepared *prepared = NULL;
        sk_psd_result *result = NULL;
        sk_psd_options options = {.tolerance = 1e-12};
        sk_psd_target target = {c.d, c.z, lambda};
        assert_int_equal(sk_psd_prepare(ctx, &c.problem, &options, &prepared), SOCK_OK);
        assert_int_equal(sk_psd_solve(ctx, prepared, &target, &options, NULL, &result), SOCK_OK);
        sk_psd_dense(ctx, result, ours);
        print_message("D = %zu: DSDP %.12g, ours %.12g, distance of Q %.2g\n", D, best, result->primal,
                      distance(D * D, q, ours) / frobenius(D * D, ours));
        assert_true(result->rank < D); /* the constraint is active: a real test */
        assert_close(best, result->primal, 1e-8, 0);
        assert_true(distance(D * D, q, ours) <= 1e-5 * frobenius(D * D, ours));
        sk_psd_result_free(result);
        sk_psd_prepared_free(prepared);
        quadratic_free(&quad);
        free(q), free(ours);
        psd_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_psddsdp__interior_point_agrees)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
