/* test_diffusionsystem.c - features of the convex problem of a, how many there are, its unit of penalties, reports; a
 * diagonal a as one problem for each component. */
#include "diffusion/diffusion.h"
#include "tunecases.h"

#include "onecontext.h"

/* n intervals in trajectories of two points, standard normal in d dimensions, of lengths 0.1 ... 0.2. */
static sk_rule *rule_of(size_t n, size_t d, const char *quadrature)
{
    double *t = sk_doubles(ctx, 2 * n, 1), *x = sk_doubles(ctx, 2 * n, d);
    size_t *length = sk_alloc(ctx, n, sizeof *length);
    sock_data *data = NULL;
    sk_rule *rule = NULL;
    sk_normals((sk_key){12, SK_PURPOSE_TEST}, d, 0, 0, 2 * n * d, x);
    for (size_t i = 0; i < n; i++) {
        length[i] = 2;
        t[2 * i + 1] = 0.1 + 0.1 * (double)i / (double)n;
    }
    assert_int_equal(sock_data_from_arrays(ctx, d, n, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, quadrature, &rule), SOCK_OK);
    sk_free(t), sk_free(x), sk_free(length);
    sock_data_free(data);
    return rule;
}

static sk_diffusion_system *system_of(const sk_rule *rule, const double *z, sk_diffusion_spec spec, const char *kernel)
{
    sk_diffusion_system *system = NULL;
    sk_kernel *made = case_kernel(ctx, kernel);
    spec.kernel = made;
    spec.lambda = 1e-3;
    spec.solver.tolerance = 1e-10;
    if (sk_diffusion_system_new(ctx, rule, z, &spec, &system) < 0) fail_msg("%s", sock_message(ctx));
    sk_kernel_free(made);
    return system;
}

/* Positive semi-definite targets of size h. */
static double *targets_of(const sk_rule *rule)
{
    const size_t d = rule->out;
    double *z = sk_doubles(ctx, rule->n, d * d), e[4];
    for (size_t i = 0; i < rule->n; i++) {
        sk_normals((sk_key){13, SK_PURPOSE_TEST}, i, 0, 0, d, e);
        for (size_t k = 0; k < d; k++) e[k] *= sqrt(rule->h[i]) * (1 + (double)k);
        for (size_t k = 0; k < d * d; k++) z[i * d * d + k] = e[k / d] * e[k % d];
    }
    return z;
}

/* ---- Features ---- */

/* l times the mean square of h and the square of the mean k(x, x), by features or by the kernel. */
static void prop_unit_is_that_of_steps_and_kernel(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(9, 2, "trapezoid");
    double *z = sk_doubles(ctx, rule->n, 4);
    double h2 = 0, k = 0;
    for (size_t i = 0; i < rule->n; i++) h2 += rule->h[i] * rule->h[i] / (double)rule->n;
    for (size_t a = 0; a < rule->nodes; a++) {
        const double *x = rule->x + 2 * a;
        k += (1 + x[0] * x[0] + x[1] * x[1]) / (double)rule->nodes;
    }
    sk_diffusion_system *affine = system_of(rule, z, (sk_diffusion_spec){0}, "affine");
    assert_close(sk_diffusion_unit(affine), h2 * k * k, 1e-13, 0);
    sk_diffusion_system *gauss = system_of(rule, z, (sk_diffusion_spec){0}, "gauss:eta=0.5");
    assert_close(sk_diffusion_unit(gauss), h2, 1e-9, 0);
    sk_diffusion_system_free(affine), sk_diffusion_system_free(gauss);
    sk_rule_free(rule);
    sk_free(z);
}

typedef struct solved {
    sk_diffusion_term *term[3];
    sk_diffusion_report report[3];
    double *beta;
} solved;

static solved solve(const sk_rule *rule, const sk_diffusion_spec *spec, const char *kernel, const double *z)
{
    static const double lambda[] = {1e-1, 1e-2, 1e-3};
    solved r = {.beta = sk_doubles(ctx, rule->n, rule->out * rule->out)};
    sk_diffusion_system *system = system_of(rule, z, *spec, kernel);
    if (sk_diffusion_solve(ctx, system, 3, lambda, r.term, r.report, r.beta) != SOCK_OK)
        fail_msg("%s", sock_message(ctx));
    sk_diffusion_system_free(system);
    return r;
}

static void solved_clear(solved *r)
{
    for (size_t i = 0; i < 3; i++) sk_diffusion_term_free(r->term[i]);
    sk_free(r->beta);
}

/* pd <= 1000, at least 20 features; of a diagonal a at least 100; at most the nodes; or what the user says. */
static void test_diffusionsystem__features_of_the_implicit_form(void **state)
{
    (void)state;
    static const struct {
        size_t n, d;
        bool diagonal;
        size_t max_rank, features;
    } cases[] = {{115, 10, false, 0, 100}, {115, 60, false, 0, 20}, {115, 20, true, 0, 100}, {115, 25, false, 0, 40},
                 {30, 10, false, 0, 60},   {30, 10, false, 7, 7},   {115, 5, true, 0, 200},  {30, 2, true, 11, 11}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t n = cases[c].n, d = cases[c].d;
        sk_rule *rule = rule_of(n, d, "trapezoid");
        double *z = sk_doubles(ctx, n, d * d);
        const sk_diffusion_spec spec = {.diagonal = cases[c].diagonal, .max_rank = cases[c].max_rank};
        sk_diffusion_system *system = system_of(rule, z, spec, "gauss:eta=0.1");
        const double lambda = 1;
        sk_diffusion_term *term = NULL;
        sk_diffusion_report report;
        assert_true(sk_diffusion_solve(ctx, system, 1, &lambda, &term, &report, NULL) >= 0); /* z = 0: Q = 0 */
        assert_int_equal(report.features, cases[c].features);
        assert_int_equal(report.complete, cases[c].features == 2 * n);
        assert_string_equal(report.form, "implicit");
        sk_diffusion_term_free(term);
        sk_diffusion_system_free(system);
        sk_rule_free(rule);
        sk_free(z);
    }
}

static void test_diffusionsystem__forms(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        sk_form form;
        const char *expected;
        size_t features;
    } cases[] = {{"affine", SK_FORM_AUTO, "explicit", 2},        {"affine", SK_FORM_EXPLICIT, "explicit", 2},
                 {"affine", SK_FORM_IMPLICIT, "implicit", 2},    {"gauss:eta=1", SK_FORM_AUTO, "implicit", 0},
                 {"gauss:eta=1", SK_FORM_NYSTROM, "nystrom", 5}, {"gauss:eta=1", SK_FORM_IMPLICIT, "implicit", 0}};
    sk_rule *rule = rule_of(20, 1, "trapezoid");
    double *z = targets_of(rule);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const sk_diffusion_spec spec = {.form = cases[c].form, .landmarks = 5, .seed = 3};
        solved r = solve(rule, &spec, cases[c].kernel, z);
        for (size_t q = 0; q < 3; q++) {
            assert_string_equal(r.report[q].form, cases[c].expected);
            if (cases[c].features) assert_int_equal(r.report[q].features, cases[c].features);
            assert_true(r.report[q].converged && r.report[q].complete);
            assert_int_equal(r.report[q].rank, r.term[q]->rank);
        }
        solved_clear(&r);
    }
    sk_rule_free(rule);
    sk_free(z);
}

static void test_diffusionsystem__refuses(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(8, 2, "left");
    double *z = targets_of(rule);
    sk_kernel *matrix = case_kernel(ctx, "divfree:eta=1"), *gauss = case_kernel(ctx, "gauss:eta=1");
    sk_diffusion_system *system = NULL;
    sk_diffusion_spec spec = {.kernel = matrix, .lambda = 1e-3};
    assert_int_equal(sk_diffusion_system_new(ctx, rule, z, &spec, &system), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "give a scalar one"));
    sk_begin(ctx);
    spec.kernel = gauss;
    spec.form = SK_FORM_EXPLICIT;
    assert_int_equal(sk_diffusion_system_new(ctx, rule, z, &spec, &system), SOCK_EUSAGE);
    assert_null(system);
    sk_begin(ctx);
    sk_diffusion_system_free(NULL);
    sk_kernel_free(matrix), sk_kernel_free(gauss);
    sk_rule_free(rule);
    sk_free(z);
}

/* ---- Solutions ---- */

static void values_at(const sk_diffusion_term *term, const double *x, double *a)
{
    double *space = sk_doubles(ctx, sk_diffusion_term_space(term, 1), 1);
    memset(a, 0, term->d * term->d * sizeof *a);
    sk_diffusion_term_add(ctx, term, 1, x, a, space);
    sk_free(space);
}

/* A diagonal a in two dimensions is two problems of one component on the same rows: the same values, certificates added
 * up, betas side by side. */
static void prop_diagonal_is_one_problem_a_component(void **state)
{
    (void)state;
    static const double x[] = {0.4, -0.3};
    sk_rule *rule = rule_of(25, 2, "trapezoid");
    const size_t n = rule->n;
    double *z = targets_of(rule), *own = sk_doubles(ctx, n, 1);
    const sk_diffusion_spec diagonal = {.diagonal = true}, full = {0};
    solved both = solve(rule, &diagonal, "affine", z), part[2];
    sk_rule one = *rule; /* the same nodes, one target */
    one.out = 1;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) own[i] = z[i * 4 + 3 * k];
        part[k] = solve(&one, &full, "affine", own);
        for (size_t i = 0; i < n; i++) {
            assert_close(both.beta[i * 4 + 3 * k], part[k].beta[i], 1e-6, 1e-3);
            assert_true(both.beta[i * 4 + 1] == 0 && both.beta[i * 4 + 2] == 0);
        }
    }
    for (size_t q = 0; q < 3; q++) {
        const sk_diffusion_report *r = &both.report[q], *r0 = &part[0].report[q], *r1 = &part[1].report[q];
        double a[4], a0, a1;
        values_at(both.term[q], x, a);
        values_at(part[0].term[q], x, &a0);
        values_at(part[1].term[q], x, &a1);
        assert_close(a[0], a0, 1e-5, 1e-3);
        assert_close(a[3], a1, 1e-5, 1e-3);
        assert_true(a[1] == 0 && a[2] == 0);
        assert_int_equal(both.term[q]->rank, part[0].term[q]->rank + part[1].term[q]->rank);
        assert_int_equal(r->rank, both.term[q]->rank);
        assert_close(r->primal, r0->primal + r1->primal, 1e-8, 1e-3);
        assert_close(r->dual, r0->dual + r1->dual, 1e-8, 1e-3);
        assert_true(r->gap >= 0 && fabs(r->gap - (r->primal - r->dual)) <= 1e-9 * r->primal);
        assert_true(r->converged && r->rows == SK_MAX(r0->rows, r1->rows) && r->features == 3 && r->complete);
        assert_int_equal(r->iterations, r0->iterations + r1->iterations);
        assert_string_equal(r->solver, r0->solver);
    }
    solved_clear(&both), solved_clear(&part[0]), solved_clear(&part[1]);
    sk_free(z), sk_free(own);
    sk_rule_free(rule);
}

/* Intervals of one trajectory that share their nodes, in d dimensions. */
static sk_rule *long_rule(size_t n, size_t d)
{
    double *t = sk_doubles(ctx, n + 1, 1), *x = sk_doubles(ctx, n + 1, d);
    const size_t length = n + 1;
    sock_data *data = NULL;
    sk_rule *rule = NULL;
    sk_normals((sk_key){14, SK_PURPOSE_TEST}, d, 0, 0, (n + 1) * d, x);
    for (size_t i = 0; i <= n; i++) t[i] = 0.1 * (double)i + 0.03 * sin((double)i);
    assert_int_equal(sock_data_from_arrays(ctx, d, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, "trapezoid", &rule), SOCK_OK);
    sk_free(t), sk_free(x);
    sock_data_free(data);
    return rule;
}

/* The sums, and the rows that a plain method keeps: one problem, one unit of lambda, the same answers; and where lambda
 * is so small that the sums know it from rounding only, the rows answer. */
static void prop_sums_and_rows_give_the_same(void **state)
{
    (void)state;
    static const double x[] = {0.4, -0.3}, tiny = 1e-9;
    sk_rule *rules[] = {rule_of(700, 2, "trapezoid"), long_rule(700, 2)};
    for (int form = 0; form < 4; form++) {
        const sk_rule *rule = rules[form % 2];
        double *z = targets_of(rule), a[4], expected[4], beta_size = 0;
        const sk_diffusion_spec by_sums = {.diagonal = form < 2, .max_rank = 12};
        sk_diffusion_spec by_rows = by_sums;
        by_rows.solver.no_compression = true;
        solved s = solve(rule, &by_sums, "gauss:eta=2", z), r = solve(rule, &by_rows, "gauss:eta=2", z);
        for (size_t i = 0; i < rule->n * 4; i++) beta_size = fmax(beta_size, fabs(r.beta[i]));
        for (size_t i = 0; i < rule->n * 4; i++) assert_close(s.beta[i], r.beta[i], 1e-5, beta_size);
        for (size_t q = 0; q < 3; q++) {
            assert_close(s.report[q].primal, r.report[q].primal, 1e-8, 0);
            assert_true(s.report[q].rows < r.report[q].rows && s.report[q].effort.total > 0);
            values_at(s.term[q], x, a);
            values_at(r.term[q], x, expected);
            for (size_t k = 0; k < 4; k++) assert_close(a[k], expected[k], 1e-4, 1);
        }
        sk_diffusion_system *sums = system_of(rule, z, by_sums, "gauss:eta=2"),
                            *rows = system_of(rule, z, by_rows, "gauss:eta=2");
        assert_close(sk_diffusion_unit(sums), sk_diffusion_unit(rows), 1e-12, 0);
        sk_diffusion_term *term = NULL;
        sk_diffusion_report report;
        assert_int_equal(sk_diffusion_solve(ctx, sums, 1, &tiny, &term, &report, NULL), SOCK_OK);
        assert_true(report.gap <= 2e-10 * report.primal && report.rows > s.report[2].rows);
        sk_diffusion_term_free(term);
        sk_diffusion_system_free(sums), sk_diffusion_system_free(rows);
        solved_clear(&s), solved_clear(&r);
        sk_free(z);
    }
    sk_rule_free(rules[0]), sk_rule_free(rules[1]);
}

/* One that stops early says so, and all it made is usable. */
static void test_diffusionsystem__stops_early(void **state)
{
    (void)state;
    static const double lambda = 1e-6;
    sk_rule *rule = rule_of(25, 2, "trapezoid");
    double *z = targets_of(rule), *beta = sk_doubles(ctx, rule->n, 4), largest = 0;
    sk_diffusion_system *system = system_of(
        rule, z, (sk_diffusion_spec){.solver = {.max_iterations = 1}, .form = SK_FORM_IMPLICIT}, "gauss:eta=1");
    sk_diffusion_term *term = NULL;
    sk_diffusion_report report;
    assert_int_equal(sk_diffusion_solve(ctx, system, 1, &lambda, &term, &report, beta), SOCK_NOT_CONVERGED);
    assert_false(report.converged);
    assert_non_null(term);
    for (size_t i = 0; i < 4 * rule->n; i++) largest = fmax(largest, fabs(beta[i]));
    assert_true(largest > 0);
    sk_begin(ctx);
    sk_diffusion_term_free(term);
    sk_diffusion_system_free(system);
    sk_free(z), sk_free(beta);
    sk_rule_free(rule);
}

/* One dimension is diagonal and full at once: no owners. */
static void test_diffusionsystem__one_dimension_is_both(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(25, 1, "trapezoid");
    double *z = targets_of(rule);
    const sk_diffusion_spec diagonal = {.diagonal = true}, full = {0};
    solved one = solve(rule, &diagonal, "affine", z), other = solve(rule, &full, "affine", z);
    for (size_t q = 0; q < 3; q++) {
        assert_null(one.term[q]->owner);
        assert_int_equal(one.term[q]->rank, other.term[q]->rank);
        assert_memory_equal(one.term[q]->v, other.term[q]->v, 2 * one.term[q]->rank * sizeof(double));
    }
    solved_clear(&one), solved_clear(&other);
    sk_free(z);
    sk_rule_free(rule);
}

/* A constant a without much of a penalty: the mean of z over h, weighted by the squares of h. */
static void test_diffusionsystem__constant_is_the_weighted_mean(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(25, 2, "trapezoid");
    double *z = targets_of(rule), sum[4] = {0}, weight = 0, a[4];
    static const double lambda = 1e-9;
    for (size_t i = 0; i < rule->n; i++) {
        weight += rule->h[i] * rule->h[i];
        for (size_t k = 0; k < 4; k++) sum[k] += rule->h[i] * z[i * 4 + k];
    }
    sk_diffusion_system *system = system_of(rule, z, (sk_diffusion_spec){0}, "constant");
    sk_diffusion_term *term = NULL;
    sk_diffusion_report report;
    assert_true(sk_diffusion_solve(ctx, system, 1, &lambda, &term, &report, NULL) >= 0);
    values_at(term, rule->x, a);
    for (size_t k = 0; k < 4; k++) assert_close(a[k], sum[k] / weight, 1e-5, 1);
    sk_diffusion_term_free(term);
    sk_diffusion_system_free(system);
    sk_free(z);
    sk_rule_free(rule);
}

typedef struct once {
    const sk_rule *rule;
    const double *z;
    sk_diffusion_spec spec;
} once;

static sock_status solve_once(sock_context *context, void *arg)
{
    static const double lambda[] = {1e-1, 1e-2};
    const once *w = arg;
    sk_diffusion_system *system = NULL;
    sk_diffusion_term *term[2] = {NULL};
    sk_diffusion_report report[2];
    sock_status status = sk_diffusion_system_new(context, w->rule, w->z, &w->spec, &system);
    if (status >= 0) status = sk_diffusion_solve(context, system, 2, lambda, term, report, NULL);
    if (status < 0) assert_true(!term[0] && !term[1]);
    for (size_t i = 0; i < 2; i++) sk_diffusion_term_free(term[i]);
    sk_diffusion_system_free(system);
    return status;
}

static void test_diffusionsystem__survives_failed_allocations(void **state)
{
    (void)state;
    sk_rule *rule = rule_of(8, 2, "trapezoid");
    double *z = targets_of(rule);
    sock_set_threads(ctx, 1);
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        sk_kernel *kernel = case_kernel(ctx, diagonal ? "affine" : "gauss:eta=1");
        once w = {rule, z, {.kernel = kernel, .diagonal = diagonal, .max_rank = 4, .lambda = 1e-3}};
        w.spec.solver.tolerance = 1e-3;
        assert_true(for_single_allocations(ctx, solve_once, &w) > 10);
        sk_kernel_free(kernel);
    }
    sk_free(z);
    sk_rule_free(rule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_unit_is_that_of_steps_and_kernel),
        cmocka_unit_test(test_diffusionsystem__features_of_the_implicit_form),
        cmocka_unit_test(test_diffusionsystem__forms),
        cmocka_unit_test(test_diffusionsystem__refuses),
        cmocka_unit_test(prop_diagonal_is_one_problem_a_component),
        cmocka_unit_test(prop_sums_and_rows_give_the_same),
        cmocka_unit_test(test_diffusionsystem__stops_early),
        cmocka_unit_test(test_diffusionsystem__one_dimension_is_both),
        cmocka_unit_test(test_diffusionsystem__constant_is_the_weighted_mean),
        cmocka_unit_test(test_diffusionsystem__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
