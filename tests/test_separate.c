/* test_separate.c - rates: a matrix for each monomial, from rows and from sums; mass-action noise is found exactly. */
#include "diffusion/diffusion.h"
#include "diffusion/polish.h"
#include "onecontext.h"

#include <string.h>

enum { N = 200, D = 2 };

/* Intervals with two nodes each, all in x >= 0. */
static sk_rule *rule_of(size_t d, uint64_t seed)
{
    double x[2 * N * D], weight[2 * N], h[N];
    sk_rule *rule = NULL;
    sk_uniforms((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, 2 * N * d, x);
    for (size_t i = 0; i < 2 * N * d; i++) x[i] = 0.05 + 2 * x[i];
    for (size_t i = 0; i < N; i++) h[i] = 0.1;
    for (size_t i = 0; i < 2 * N; i++) weight[i] = 0.05;
    assert_int_equal(sk_rule_nodes(ctx, N, 2, d, x, weight, h, &rule), SOCK_OK);
    return rule;
}

/* a of Lotka and Volterra: reactions (1, 0) at x, (-1, 1) at x y, (0, -1) at y. */
static void lotka(const double *x, double *a)
{
    a[0] = x[0] + x[0] * x[1];
    a[1] = a[2] = -x[0] * x[1];
    a[3] = x[0] * x[1] + x[1];
}

/* z_i = integral of a. */
static void targets(const sk_rule *rule, void (*field)(const double *, double *), double *z)
{
    const size_t d2 = rule->out * rule->out;
    double a[D * D] = {0};
    memset(z, 0, rule->n * d2 * sizeof *z);
    for (size_t i = 0; i < rule->n; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            field(rule->x + rule->node[e] * rule->in, a);
            for (size_t k = 0; k < d2; k++) z[i * d2 + k] += rule->weight[e] * a[k];
        }
}

static sk_kernel *kernel_of(const char *text)
{
    sk_kernel *kernel = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", text, &kernel), SOCK_OK);
    return kernel;
}

static sk_diffusion_term *solve(const sk_rule *rule, const char *kernel, const double *z, double lambda, bool diagonal,
                                sk_diffusion_report *report)
{
    sk_kernel *parsed = kernel_of(kernel);
    const sk_diffusion_spec spec = {.kernel = parsed, .lambda = lambda, .diagonal = diagonal};
    sk_diffusion_system *system = NULL;
    sk_diffusion_term *term = NULL;
    assert_int_equal(sk_diffusion_system_new(ctx, rule, z, &spec, &system), SOCK_OK);
    assert_int_equal(sk_diffusion_solve(ctx, system, 1, &lambda, &term, report, NULL), SOCK_OK);
    sk_diffusion_system_free(system);
    sk_kernel_free(parsed);
    return term;
}

static void value(const sk_diffusion_term *term, const double *x, double *a)
{
    double *space = sk_doubles(ctx, sk_diffusion_term_space(term, 1), 1);
    memset(a, 0, term->d * term->d * sizeof *a);
    sk_diffusion_term_add(ctx, term, 1, x, a, space);
    sk_free(space);
}

static void test_separate__finds_mass_action_noise_exactly(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(D, 1);
    double z[N * D * D], expected[D * D], found[D * D];
    sk_diffusion_report report;
    targets(rule, lotka, z);
    sk_diffusion_term *term = solve(rule, "rates:degree=2", z, 1e-12, false, &report);
    assert_true(report.converged && report.gap >= 0 && report.gap <= 1e-6 * report.primal);
    for (uint64_t i = 0; i < 20; i++) {
        double x[D];
        sk_uniforms((sk_key){i, SK_PURPOSE_TEST}, 7, 0, 0, D, x);
        lotka(x, expected);
        value(term, x, found);
        assert_all_close(D * D, found, expected, 1e-4);
    }
    value(term, (const double[]){0, 0}, found); /* what vanishes there does */
    for (size_t k = 0; k < D * D; k++) assert_close(found[k], 0, 1e-4, 1);
    sk_diffusion_term_free(term);
    sk_rule_free(rule);
}

/* No product of two features: V V' is a matrix for each of them. */
static void prop_q_is_a_matrix_for_each_feature(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(D, 2);
    double z[N * D * D];
    sk_diffusion_report report;
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, N * D * D, z);
    for (size_t i = 0; i < N; i++) z[i * 4 + 1] = z[i * 4 + 2];
    sk_diffusion_term *term = solve(rule, "rates:degree=2", z, 1e-3, false, &report);
    const size_t p = sk_features_count(term->map), r = term->rank;
    double largest = 0;
    for (size_t i = 0; i < D * p; i++) largest = fmax(largest, sk_dot(r, term->v + i * r, term->v + i * r));
    assert_true(largest > 0);
    for (size_t i = 0; i < D * p; i++)
        for (size_t j = 0; j < D * p; j++)
            if (i % p != j % p) assert_close(sk_dot(r, term->v + i * r, term->v + j * r), 0, 1e-10 * largest, 1);
    sk_diffusion_term_free(term);
    sk_rule_free(rule);
}

static void half_x(const double *x, double *a) { a[0] = 0.5 * x[0]; }

/* One feature in one dimension: the usual problem of linear in the root. */
static void test_separate__one_feature_is_the_usual_problem(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(1, 4);
    double z[N], one, x = 0.7;
    sk_diffusion_report report;
    targets(rule, half_x, z);
    for (size_t i = 0; i < N; i++) z[i] += 0.01 * (double)(i % 7);
    sk_diffusion_term *usual = solve(rule, "linear:in=root", z, 1e-4, false, &report);
    const double primal = report.primal;
    sk_diffusion_term *both = solve(rule, "rates:degree=1", z, 1e-4, false, &report);
    assert_true(report.primal <= primal * (1 + 1e-9)); /* x and 1 do better than x */
    sk_diffusion_term_free(usual);
    sk_diffusion_term_free(both);
    targets(rule, half_x, z);
    usual = solve(rule, "linear:in=root", z, 1e-10, false, &report);
    value(usual, &x, &one);
    assert_close(one, 0.35, 1e-6, 1);
    sk_diffusion_term_free(usual);
    sk_rule_free(rule);
}

/* A diagonal a is a problem for each state. */
static void test_separate__diagonal(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(D, 5);
    double z[N * D * D], found[D * D];
    const double x[D] = {0.4, 1.5};
    sk_diffusion_report report;
    targets(rule, lotka, z);
    sk_diffusion_term *term = solve(rule, "rates:degree=2", z, 1e-12, true, &report);
    value(term, x, found);
    assert_close(found[0], 0.4 + 0.6, 1e-4, 1);
    assert_close(found[3], 0.6 + 1.5, 1e-4, 1);
    assert_true(found[1] == 0 && found[2] == 0);
    sk_diffusion_term_free(term);
    sk_rule_free(rule);
}

/* The polish of rates moves the rows of each column's own feature, and gains. */
static void test_separate__polish_keeps_features_apart(void **state)
{
    (void)state;
    enum { P = 3 };
    double phi[N * P], h[N], e[N * D], u[D * P * 2] = {0}, before, after;
    const size_t owner[2] = {0, 2};
    sk_uniforms((sk_key){8, SK_PURPOSE_TEST}, 0, 0, 0, N * P, phi);
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, 1, 0, 0, N * D, e);
    for (size_t i = 0; i < N; i++) h[i] = 0.1;
    u[0 * 2] = u[P * 2] = 1;                   /* column 0: feature 0 of both components */
    u[2 * 2 + 1] = 1, u[(P + 2) * 2 + 1] = -1; /* column 1: feature 2 */
    const sk_polish_problem problem = {
        .n = N, .d = D, .p = P, .phi0 = phi, .phi1 = phi, .h = h, .e = e, .eps = 1e-2, .owner = owner};
    assert_int_equal(sk_polish(ctx, &problem, 2, u, 40, &before, &after), SOCK_OK);
    assert_true(after < before - 1);
    for (size_t k = 0; k < D; k++)
        for (size_t a = 0; a < P; a++)
            for (size_t c = 0; c < 2; c++)
                if (owner[c] != a)
                    assert_true(u[(k * P + a) * 2 + c] == 0);
                else
                    assert_true(u[(k * P + a) * 2 + c] != 0);
}

static sock_status solve_again(sock_context *context, void *arg)
{
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    sk_diffusion_term *term = NULL;
    sk_diffusion_report report;
    const double lambda = 1e-3;
    double z[N * D * D];
    sock_status status = SOCK_OK;
    targets(arg, lotka, z);
    SK_GO(sk_kernel_parse(context, "diffusion", "rates:degree=2", &kernel));
    const sk_diffusion_spec spec = {.kernel = kernel, .lambda = lambda};
    SK_GO(sk_diffusion_system_new(context, arg, z, &spec, &system));
    SK_GO(sk_diffusion_solve(context, system, 1, &lambda, &term, &report, NULL));
out:
    sk_diffusion_term_free(term);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
    return status;
}

static void test_separate__survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(D, 1);
    assert_true(for_each_allocation(ctx, solve_again, rule) > 10);
    sk_rule_free(rule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separate__finds_mass_action_noise_exactly),
        cmocka_unit_test(prop_q_is_a_matrix_for_each_feature),
        cmocka_unit_test(test_separate__one_feature_is_the_usual_problem),
        cmocka_unit_test(test_separate__diagonal),
        cmocka_unit_test(test_separate__polish_keeps_features_apart),
        cmocka_unit_test(test_separate__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
