/* test_secondmoments.c - integrals of polynomials from the moments of a row's nodes, against the features at the nodes;
 * and which maps are such polynomials. */
#include "occupation/secondmoments.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static sk_features *features(const char *text, size_t d)
{
    sk_kernel *kernel = case_kernel(ctx, text);
    sk_features *map = NULL;
    if (sk_features_new(ctx, "drift", kernel, d, 0, NULL, &map) < 0) fail_msg("%s", sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

static void prop_moments_integrate_polynomials(void **state)
{
    (void)state;
    enum { D = 12, BEGIN = 3, END = 9 };
    static const char *const kernels[] = {"poly:degree=2", "affine", "linear", "constant", "poly:degree=2,scale=0.3"};
    sk_transitions *rows = case_rows(ctx, D, false);
    case_bench b = case_bench_of(ctx, rows, true, 0);
    const sk_rule *rule = b.v->rule;
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++) {
        sk_features *map = features(kernels[c], D);
        double origin[D], scale[D];
        for (size_t k = 0; k < D; k++) origin[k] = 0.5 - 0.2 * (double)k, scale[k] = 1 + 0.1 * (double)k;
        if (c % 2 == 0) assert_int_equal(sk_features_set_units(ctx, map, origin, c == 4 ? scale : NULL), SOCK_OK);
        const size_t p = sk_features_count(map), ld = p + 2;
        double *psi = sk_doubles(ctx, END - BEGIN, ld), *phi = sk_doubles(ctx, p, 1);
        assert_int_equal(sk_occupation_features(ctx, rule, map, BEGIN, END, psi, ld), SOCK_OK);
        for (size_t i = BEGIN; i < END; i++) {
            double *expected = sk_doubles(ctx, p, 1);
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
                assert_int_equal(sk_features_eval(ctx, map, 1, rule->x + rule->node[e] * D, phi, p), SOCK_OK);
                for (size_t j = 0; j < p; j++) expected[j] += rule->weight[e] * phi[j];
            }
            assert_all_close(p, psi + (i - BEGIN) * ld, expected, 1e-13);
            sk_free(expected);
        }
        sk_free(psi), sk_free(phi);
        sk_features_free(map);
    }
    case_bench_clear(&b);
}

static void test_secondmoments__know_what_they_can_do(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        size_t d, p;
    } cases[] = {{"poly:degree=2", 11, 78},    {"poly:degree=2", 10, 0}, {"poly:degree=3", 11, 0},
                 {"fourier:p=4,eta=1", 11, 0}, {"affine", 11, 12},       {"linear", 11, 11}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sk_quadratic q;
        sk_features *map = features(cases[c].kernel, cases[c].d);
        assert_int_equal(sk_quadratic_new(ctx, map, cases[c].d, &q), SOCK_OK);
        assert_int_equal(q.p, cases[c].p);
        sk_quadratic_clear(&q);
        sk_features_free(map);
    }
}

typedef struct trying {
    const sk_rule *rule;
    const sk_features *map;
    double *psi;
} trying;

static sock_status integrate(sock_context *own, void *arg)
{
    const trying *t = arg;
    return sk_occupation_features(own, t->rule, t->map, 0, 2, t->psi, sk_features_count(t->map));
}

static void test_secondmoments__survive_every_failed_allocation(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 11, false);
    case_bench b = case_bench_of(ctx, rows, true, 0);
    sk_features *map = features("poly:degree=2", 11);
    trying t = {b.v->rule, map, sk_doubles(ctx, 2, 78)};
    sock_set_threads(ctx, 1);
    assert_true(for_each_allocation(ctx, integrate, &t) > 4);
    sk_free(t.psi);
    sk_features_free(map);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_moments_integrate_polynomials),
        cmocka_unit_test(test_secondmoments__know_what_they_can_do),
        cmocka_unit_test(test_secondmoments__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
