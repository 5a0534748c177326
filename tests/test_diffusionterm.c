/* test_diffusionterm.c - one summand of a, entry by entry; copies; leading factors of a matrix. */
#include "diffusion/diffusion.h"
#include "tunecases.h"

#include "onecontext.h"

enum { D = 3, COUNT = 2, RANK = 5, P = 4 };
static const double points[COUNT * D] = {0.3, -0.2, 1.1, 0.4, -0.7, 0.9};

/* Affine features; owners 0, 0, 2, 2, 2: the second component has no noise. */
static sk_diffusion_term *term_of(bool diagonal)
{
    static const size_t owner[RANK] = {0, 0, 2, 2, 2};
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    sk_kernel *kernel = case_kernel(ctx, "affine");
    *term = (sk_diffusion_term){.d = D, .rank = RANK};
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, D, 0, NULL, &term->map), SOCK_OK);
    assert_int_equal(sk_features_count(term->map), P);
    sk_kernel_free(kernel);
    term->v = sk_doubles(ctx, D * P, RANK);
    sk_normals((sk_key){4, SK_PURPOSE_TEST}, 1, 0, 0, D * P * RANK, term->v);
    if (!diagonal) return term;
    term->owner = sk_alloc(ctx, RANK, sizeof *term->owner);
    memcpy(term->owner, owner, sizeof owner);
    for (size_t i = 0; i < D * P * RANK; i++)
        if (i / RANK / P != owner[i % RANK]) term->v[i] = 0;
    return term;
}

/* 1 + the term at all points. */
static void evaluate(const sk_diffusion_term *term, double *a)
{
    double *space = sk_doubles(ctx, sk_diffusion_term_space(term, COUNT), 1);
    for (size_t i = 0; i < COUNT * D * D; i++) a[i] = 1;
    sk_diffusion_term_add(ctx, term, COUNT, points, a, space);
    sk_free(space);
}

static void prop_term_is_the_square_of_its_columns(void **state)
{
    (void)state;
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        sk_diffusion_term *term = term_of(diagonal);
        double a[COUNT * D * D], expected[COUNT * D * D], phi[P];
        evaluate(term, a);
        for (size_t i = 0; i < COUNT; i++) {
            double b[D * RANK] = {0};
            assert_int_equal(sk_features_eval(ctx, term->map, 1, points + i * D, phi, P), SOCK_OK);
            for (size_t k = 0; k < D * P * RANK; k++)
                b[k / RANK / P * RANK + k % RANK] += phi[k / RANK % P] * term->v[k];
            for (size_t kl = 0; kl < D * D; kl++) {
                expected[i * D * D + kl] = 1;
                for (size_t j = 0; j < RANK; j++)
                    expected[i * D * D + kl] += b[kl / D * RANK + j] * b[kl % D * RANK + j];
            }
        }
        assert_all_close(COUNT * D * D, a, expected, 1e-13);
        sk_diffusion_term_free(term);
    }
}

static void prop_copy_is_the_same_term(void **state)
{
    (void)state;
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        sk_diffusion_term *term = term_of(diagonal), *copy = NULL;
        double a[COUNT * D * D], again[COUNT * D * D];
        evaluate(term, a);
        assert_int_equal(sk_diffusion_term_copy(ctx, term, &copy), SOCK_OK);
        assert_true(copy->d == D && copy->rank == RANK && !copy->owner == !diagonal);
        if (diagonal) assert_memory_equal(copy->owner, term->owner, RANK * sizeof *copy->owner);
        sk_diffusion_term_free(term);
        evaluate(copy, again);
        assert_memory_equal(a, again, sizeof a);
        sk_diffusion_term_free(copy);
    }
    sk_diffusion_term_free(NULL);
}

static sock_status copy_once(sock_context *context, void *arg)
{
    sk_diffusion_term *copy = NULL;
    const sock_status status = sk_diffusion_term_copy(context, arg, &copy);
    sk_diffusion_term_free(copy);
    return status;
}

/* ---- Leading factors ---- */

enum { ORDER = 4 };

/* Q = sum of values times squares of orthonormal vectors, those of a Hadamard matrix. */
static void matrix_of(const double *value, double *q)
{
    static const double sign[ORDER][ORDER] = {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
    for (size_t ij = 0; ij < ORDER * ORDER; ij++) {
        q[ij] = 0;
        for (size_t k = 0; k < ORDER; k++) q[ij] += value[k] * sign[k][ij / ORDER] * sign[k][ij % ORDER] / ORDER;
    }
}

static void test_diffusionterm__leading_factor(void **state)
{
    (void)state;
    static const struct {
        double value[ORDER];
        size_t most;
        double share;
        size_t rank;
    } cases[] = {{{8, 4, 2, 1}, 9, 1e-12, 4},   {{8, 4, 2, 1}, 4, 1e-12, 4},  {{8, 4, 2, 1}, 3, 1e-12, 3},
                 {{8, 4, 2, 1}, 1, 1e-12, 1},   {{8, 4, 2, 1}, 9, 0.2, 3},    {{8, 4, 2, 1}, 9, 0.3, 2},
                 {{8, 4, 2, 1}, 9, 0.6, 1},     {{8, 0, 0, 0}, 9, 1e-12, 1},  {{0, 0, 0, 0}, 9, 1e-12, 0},
                 {{-1, -2, -3, -4}, 9, 0.5, 0}, {{8, 4, -2, -1}, 9, 1e-9, 2}, {{8, 4, 2, 1}, 0, 1e-12, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double q[ORDER * ORDER], kept[ORDER * ORDER], value[ORDER] = {0}, *u = NULL;
        size_t rank = 77;
        matrix_of(cases[c].value, q);
        assert_int_equal(sk_leading_factor(ctx, ORDER, q, cases[c].most, cases[c].share, &u, &rank), SOCK_OK);
        assert_int_equal(rank, cases[c].rank);
        memcpy(value, cases[c].value, rank * sizeof *value);
        matrix_of(value, kept);
        for (size_t ij = 0; ij < ORDER * ORDER; ij++) {
            double sum = 0;
            for (size_t j = 0; j < rank; j++) sum += u[ij / ORDER * rank + j] * u[ij % ORDER * rank + j];
            assert_close(sum, kept[ij], 1e-12, 8);
        }
        sk_free(u);
    }
}

static sock_status factor_once(sock_context *context, void *arg)
{
    double *u = NULL;
    size_t rank;
    const sock_status status = sk_leading_factor(context, ORDER, arg, 9, 1e-12, &u, &rank);
    if (status < 0) assert_null(u);
    sk_free(u);
    return status;
}

static void test_diffusionterm__survives_failed_allocations(void **state)
{
    (void)state;
    static const double value[] = {8, 4, 2, 1};
    double q[ORDER * ORDER];
    matrix_of(value, q);
    assert_true(for_single_allocations(ctx, factor_once, q) >= 3);
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        sk_diffusion_term *term = term_of(diagonal);
        assert_true(for_single_allocations(ctx, copy_once, term) >= 3);
        sk_diffusion_term_free(term);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_term_is_the_square_of_its_columns),
        cmocka_unit_test(prop_copy_is_the_same_term),
        cmocka_unit_test(test_diffusionterm__leading_factor),
        cmocka_unit_test(test_diffusionterm__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
