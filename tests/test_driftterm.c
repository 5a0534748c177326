/* test_driftterm.c - one summand of f: sums over centres or features, term by term; copies. */
#include "drift/drift.h"
#include "tunecases.h"

#include "onecontext.h"

enum { D = 2, COUNT = 3 };
static const double points[COUNT * D] = {0.3, -0.2, 1.1, 0.4, -0.7, 0.9};

/* A kernel on so many centres. */
static sk_drift_term *kernel_term(const char *text, size_t centres)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    *term = (sk_drift_term){.kernel = case_kernel(ctx, text), .d = D, .centres = centres};
    term->centre = sk_doubles(ctx, centres, D);
    term->weight = sk_doubles(ctx, centres, D);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 1, 0, 0, centres * D, term->centre);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 2, 0, 0, centres * D, term->weight);
    return term;
}

static sk_drift_term *feature_term(void)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    sk_kernel *kernel = case_kernel(ctx, "poly:degree=2");
    *term = (sk_drift_term){.d = D};
    assert_int_equal(sk_features_new(ctx, "drift", kernel, D, 0, NULL, &term->map), SOCK_OK);
    term->weight = sk_doubles(ctx, sk_features_count(term->map), D);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 3, 0, 0, sk_features_count(term->map) * D, term->weight);
    sk_kernel_free(kernel);
    return term;
}

/* 1 + the term at all points. */
static void evaluate(const sk_drift_term *term, double *f)
{
    double *space = sk_doubles(ctx, sk_drift_term_space(term, COUNT), 1);
    for (size_t i = 0; i < COUNT * D; i++) f[i] = 1;
    sk_drift_term_add(ctx, term, COUNT, points, f, space);
    sk_free(space);
}

static void slow(const sk_drift_term *term, double *f)
{
    double phi[16], block[D * D];
    for (size_t i = 0; i < COUNT; i++) {
        const double *x = points + i * D;
        for (size_t k = 0; k < D; k++) f[i * D + k] = 1;
        if (term->map) {
            const size_t p = sk_features_count(term->map);
            assert_int_equal(sk_features_eval(ctx, term->map, 1, x, phi, p), SOCK_OK);
            for (size_t j = 0; j < p * D; j++) f[i * D + j % D] += phi[j / D] * term->weight[j];
        }
        for (size_t c = 0; c < term->centres; c++) {
            const double *centre = term->centre + c * D, *weight = term->weight + c * D;
            const bool matrix = sk_kernel_is_matrix(term->kernel);
            double distance = 0;
            for (size_t k = 0; k < D; k++) distance += (x[k] - centre[k]) * (x[k] - centre[k]);
            if (matrix) sk_kernel_matrix_block(term->kernel, D, 1, x, 1, centre, block, D);
            for (size_t k = 0; k < D; k++)
                f[i * D + k] += matrix ? block[k * D] * weight[0] + block[k * D + 1] * weight[1]
                                       : exp(-distance / (2 * 0.8 * 0.8)) * weight[k];
        }
    }
}

/* Centres are taken 256 at a time. */
static sk_drift_term *term_of(size_t which)
{
    static const size_t centres[] = {1, 255, 256, 600};
    if (which == 8) return feature_term();
    return kernel_term(which < 4 ? "gauss:eta=0.8" : "divfree:eta=0.8", centres[which % 4]);
}
enum { TERMS = 9 };

static void prop_term_is_the_sum_over_centres_or_features(void **state)
{
    (void)state;
    for (size_t which = 0; which < TERMS; which++) {
        sk_drift_term *term = term_of(which);
        double f[COUNT * D], expected[COUNT * D];
        evaluate(term, f);
        slow(term, expected);
        assert_all_close(COUNT * D, f, expected, 1e-11);
        sk_drift_term_free(term);
    }
}

static void prop_copy_is_the_same_term(void **state)
{
    (void)state;
    for (size_t which = 0; which < TERMS; which++) {
        sk_drift_term *term = term_of(which), *copy = NULL;
        double f[COUNT * D], again[COUNT * D];
        evaluate(term, f);
        assert_int_equal(sk_drift_term_copy(ctx, term, &copy), SOCK_OK);
        assert_true(copy->d == term->d && copy->centres == term->centres);
        sk_drift_term_free(term);
        evaluate(copy, again);
        assert_memory_equal(f, again, sizeof f);
        sk_drift_term_free(copy);
    }
    sk_drift_term_free(NULL);
}

static sock_status copy_once(sock_context *context, void *arg)
{
    sk_drift_term *copy = NULL;
    const sock_status status = sk_drift_term_copy(context, arg, &copy);
    sk_drift_term_free(copy);
    return status;
}

static void test_driftterm__survives_failed_allocations(void **state)
{
    (void)state;
    for (size_t which = 0; which < TERMS; which += 4) {
        sk_drift_term *term = term_of(which);
        assert_true(for_single_allocations(ctx, copy_once, term) >= 4);
        sk_drift_term_free(term);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_term_is_the_sum_over_centres_or_features),
        cmocka_unit_test(prop_copy_is_the_same_term),
        cmocka_unit_test(test_driftterm__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
