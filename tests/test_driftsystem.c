/* test_driftsystem.c - one system solved for several lambda, beyond the size where an eigendecomposition is taken. */
#include "drift/drift.h"
#include "test.h"

enum { TRAJECTORIES = 70, POINTS = 11, N = TRAJECTORIES * (POINTS - 1) };

typedef struct fixture {
    sock_context *ctx;
    sock_data *data; /* 5-D: no small rank */
    sk_rule *rule;
    sk_kernel *kernel;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    size_t length[TRAJECTORIES];
    double *t = calloc(TRAJECTORIES * POINTS, sizeof *t), *x = calloc(TRAJECTORIES * POINTS * 5, sizeof *x);
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, 0, 0, 0, TRAJECTORIES * POINTS * 5, x);
    for (size_t i = 0; i < TRAJECTORIES * POINTS; i++) {
        length[i / POINTS] = POINTS;
        t[i] = 0.1 * (double)(i % POINTS);
    }
    f->ctx = sock_context_new();
    sock_set_threads(f->ctx, 1); /* the products of BLAS are small */
    assert_int_equal(sock_data_from_arrays(f->ctx, 5, TRAJECTORIES, length, t, x, NULL, NULL, NULL, &f->data), SOCK_OK);
    assert_int_equal(sk_rule_new(f->ctx, f->data, "trapezoid", &f->rule), SOCK_OK);
    assert_int_equal(f->rule->n, N);
    assert_int_equal(sk_kernel_parse(f->ctx, "drift", "gauss:eta=1.5", &f->kernel), SOCK_OK);
    free(t), free(x);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    sk_kernel_free(f->kernel);
    sk_rule_free(f->rule);
    sock_data_free(f->data);
    sock_context_free(f->ctx);
    free(f);
    return 0;
}

static sk_drift_system *new_system(const fixture *f, sk_path path)
{
    sk_drift_spec spec = {.kernel = f->kernel, .path = path, .lambda = 1e-6};
    sk_drift_system *system = NULL;
    if (sk_drift_system_new(f->ctx, f->rule, &spec, &system) < 0) fail_msg("%s", sock_message(f->ctx));
    return system;
}

/* (L* + n lambda I) alpha - dy is zero to rounding for each lambda in turn, whatever the one before left behind. */
static void prop_driftsystem__every_lambda_solves_its_system(void **state)
{
    const fixture *f = *state;
    static const double lambdas[] = {1e-4, 1e-6, 1e-2, 1e-4};
    sk_drift_system *system = new_system(f, SK_PATH_EXACT);
    double *l = calloc((size_t)N * N, sizeof *l), *alpha = calloc(N * 5, sizeof *alpha);
    double *product = calloc(N * 5, sizeof *product);
    assert_int_equal(sk_occupation_gram(f->ctx, f->rule, f->kernel, l, N), SOCK_OK);
    for (int q = 0; q < 4; q++) {
        assert_int_equal(sk_drift_alpha(f->ctx, system, lambdas[q], alpha), SOCK_OK);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < 5; k++) {
                double sum = N * lambdas[q] * alpha[i * 5 + k];
                for (size_t j = 0; j < N; j++) sum += l[i * N + j] * alpha[j * 5 + k];
                product[i * 5 + k] = sum;
            }
        assert_all_close(N * 5, product, f->rule->dy, 1e-11);
    }
    free(l), free(alpha), free(product);
    sk_drift_system_free(system);
}

/* Several lambda at once are those one by one, bit by bit: each has its own factorisation of the same matrix. */
static void prop_driftsystem__a_path_is_its_points(void **state)
{
    const fixture *f = *state;
    static const double lambdas[] = {1e-2, 1e-3, 1e-6};
    sk_drift_term *path[3] = {0};
    sk_drift_system *system = new_system(f, SK_PATH_EXACT);
    assert_int_equal(sk_drift_solve(f->ctx, system, 3, lambdas, path, NULL), SOCK_OK);
    sk_drift_system_free(system);
    for (int q = 0; q < 3; q++) {
        sk_drift_term *alone = NULL;
        system = new_system(f, SK_PATH_EXACT);
        assert_int_equal(sk_drift_solve(f->ctx, system, 1, &lambdas[q], &alone, NULL), SOCK_OK);
        assert_int_equal(alone->centres, path[q]->centres);
        assert_memory_equal(alone->weight, path[q]->weight, alone->centres * 5 * sizeof(double));
        sk_drift_term_free(alone);
        sk_drift_term_free(path[q]);
        sk_drift_system_free(system);
    }
}

/* The sample of the nodes says that the rank is large; the choice is the full system, and says so. */
static void test_driftsystem__a_large_rank_means_the_exact_path(void **state)
{
    const fixture *f = *state;
    sk_drift_system *system = new_system(f, SK_PATH_AUTO);
    assert_string_equal(sk_drift_system_report(system).path, "exact");
    assert_int_equal(sk_drift_system_report(system).rank, N);
    sk_drift_system_free(system);
}

/* A small rule in d dimensions: `count` trajectories of four points. */
static sk_rule *small_rule(sock_context *ctx, size_t d, size_t count, double size)
{
    size_t *length = calloc(count, sizeof *length);
    double *t = calloc(4 * count, sizeof *t), *x = calloc(4 * count * d, sizeof *x);
    sock_data *data = NULL;
    sk_rule *rule = NULL;
    sk_normals((sk_key){18, SK_PURPOSE_TEST}, d, 0, 0, 4 * count * d, x);
    for (size_t i = 0; i < 4 * count; i++) {
        length[i / 4] = 4;
        t[i] = 0.1 * (double)(i % 4) + 0.01 * (double)(i % 4 * (i % 4));
        for (size_t k = 0; k < d; k++) x[i * d + k] *= size;
    }
    assert_int_equal(sock_data_from_arrays(ctx, d, count, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, "trapezoid", &rule), SOCK_OK);
    sock_data_free(data);
    free(length), free(t), free(x);
    return rule;
}

static sk_kernel *kernel_of(sock_context *ctx, const char *text)
{
    sk_kernel *kernel = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "drift", text, &kernel), SOCK_OK);
    return kernel;
}

/* Mean square of h times the mean of k(x, x), or of tr K(x, x) / d. */
static void prop_driftsystem__unit(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const char *const kernels[] = {"affine", "gauss:eta=0.7", "divfree:eta=0.7", "curlfree:eta=0.6"};
    sk_rule *rule = small_rule(ctx, 3, 5, 1);
    for (size_t c = 0; c < 4; c++) {
        sk_kernel *kernel = kernel_of(ctx, kernels[c]);
        double h2 = 0, k = 0, unit = 0, block[9];
        for (size_t i = 0; i < rule->n; i++) h2 += rule->h[i] * rule->h[i] / (double)rule->n;
        for (size_t a = 0; a < rule->nodes; a++) {
            const double *x = rule->x + 3 * a;
            double value = c == 0 ? 1 + sk_dot(3, x, x) : 1;
            if (c >= 2) {
                sk_kernel_matrix_block(kernel, 3, 1, x, 1, x, block, 3);
                value = (block[0] + block[4] + block[8]) / 3;
            }
            k += value / (double)rule->nodes;
        }
        assert_int_equal(sk_drift_unit(ctx, rule, kernel, &unit), SOCK_OK);
        assert_close(unit, h2 * k, 1e-13, 0);
        sk_kernel_free(kernel);
    }
    sk_rule_free(rule);
}

/* (G + n lambda I) alpha = dy with the nd x nd matrix of a matrix-valued kernel, and f = sum K(x, x_a) c_a. */
static void prop_driftsystem__matrix_valued(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const double lambda = 1e-3;
    sk_rule *rule = small_rule(ctx, 2, 6, 1);
    sk_kernel *kernel = kernel_of(ctx, "divfree:eta=0.9");
    const size_t order = 2 * rule->n;
    const sk_drift_spec spec = {.kernel = kernel, .lambda = lambda};
    sk_drift_system *system = NULL;
    sk_drift_term *term = NULL;
    double dof, *gram = calloc(order * order, sizeof *gram), *c = calloc(2 * rule->nodes, sizeof *c), trace = 0;
    assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
    assert_string_equal(sk_drift_system_report(system).path, "matrix-valued");
    assert_int_equal(sk_drift_system_report(system).rank, order);
    assert_int_equal(sk_drift_solve(ctx, system, 1, &lambda, &term, &dof), SOCK_OK);
    assert_int_equal(sk_drift_alpha(ctx, system, lambda, c), SOCK_EUSAGE);
    sk_begin(ctx);
    assert_int_equal(sk_occupation_matrix_gram(ctx, rule, kernel, gram, order), SOCK_OK);
    for (size_t i = 0; i < order; i++) gram[i * order + i] += (double)rule->n * lambda;
    assert_int_equal(sk_cholesky(ctx, order, gram, order), SOCK_OK);
    double *alpha = calloc(order, sizeof *alpha), *unit = calloc(order * order, sizeof *unit);
    memcpy(alpha, rule->dy, order * sizeof *alpha);
    sk_cholesky_solve(ctx, order, 1, gram, order, alpha, 1);
    for (size_t i = 0; i < order; i++) unit[i * order + i] = 1;
    sk_cholesky_solve(ctx, order, order, gram, order, unit, order);
    for (size_t i = 0; i < order; i++) trace += unit[i * order + i];
    assert_close(dof, (double)order - (double)rule->n * lambda * trace, 1e-9, 1);
    sk_rule_adjoint(rule, 2, alpha, c);
    assert_int_equal(term->centres, rule->nodes);
    assert_all_close(2 * rule->nodes, term->weight, c, 1e-9);
    assert_memory_equal(term->centre, rule->x, 2 * rule->nodes * sizeof(double));
    free(gram), free(c), free(alpha), free(unit);
    sk_drift_term_free(term);
    sk_drift_system_free(system);
    sk_kernel_free(kernel);
    sk_rule_free(rule);
}

/* The residual of the pivoted factor follows the penalty, between 1e-15 and 1e-11. */
static void test_driftsystem__pivots_follow_the_penalty(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const struct {
        double l, tolerance;
    } cases[] = {{1, 1e-11}, {1.1e-2, 1e-11}, {1e-4, 1e-13}, {1.1e-6, 1.1e-15}, {1e-8, 1e-15}};
    sk_rule *rule = small_rule(ctx, 1, 40, 1);
    sk_kernel *kernel = kernel_of(ctx, "gauss:eta=0.3");
    double unit;
    size_t last = 0;
    assert_int_equal(sk_drift_unit(ctx, rule, kernel, &unit), SOCK_OK);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const sk_drift_spec spec = {.kernel = kernel, .path = SK_PATH_PIVOTED, .lambda = cases[c].l * unit};
        sk_drift_system *system = NULL;
        sk_features *map = NULL;
        assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
        assert_int_equal(sk_features_pivoted(ctx, kernel, 1, rule->nodes, rule->x, cases[c].tolerance, rule->nodes,
                                             false, &map, NULL, NULL),
                         SOCK_OK);
        const size_t rank = sk_drift_system_report(system).rank;
        assert_int_equal(rank, sk_features_count(map));
        assert_string_equal(sk_drift_system_report(system).path, "pivoted");
        if (c == 2) assert_true(rank > last);
        if (c == 4) assert_true(rank > last - 1);
        last = rank;
        sk_features_free(map);
        sk_drift_system_free(system);
    }
    sk_kernel_free(kernel);
    sk_rule_free(rule);
}

/* Few length scales across the data: the rank is small, and the answer that of the exact path. */
static void test_driftsystem__a_small_rank_means_the_pivoted_path(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const double lambda = 1e-4;
    sk_rule *rule = small_rule(ctx, 1, 100, 1);
    sk_kernel *kernel = kernel_of(ctx, "gauss:eta=3");
    double f[2] = {0};
    for (int exact = 0; exact < 2; exact++) {
        const sk_drift_spec spec = {.kernel = kernel, .path = exact ? SK_PATH_EXACT : SK_PATH_AUTO, .lambda = lambda};
        sk_drift_system *system = NULL;
        sk_drift_term *term = NULL;
        static const double x = 0.3;
        assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
        assert_string_equal(sk_drift_system_report(system).path, exact ? "exact" : "pivoted");
        assert_string_equal(sk_drift_system_report(system).form, "implicit");
        assert_int_equal(sk_drift_solve(ctx, system, 1, &lambda, &term, NULL), SOCK_OK);
        double *space = calloc(sk_drift_term_space(term, 1), sizeof *space);
        sk_drift_term_add(ctx, term, 1, &x, &f[exact], space);
        free(space);
        sk_drift_term_free(term);
        sk_drift_system_free(system);
    }
    assert_close(f[0], f[1], 1e-7, 1e-3);
    sk_kernel_free(kernel);
    sk_rule_free(rule);
}

/* Degrees of freedom are told where an eigendecomposition is made: up to order 600. */
static void test_driftsystem__degrees_of_freedom(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    for (size_t n = 30; n <= 603; n += 573)
        for (size_t count = 1; count <= (n > 600 ? 1 : 20); count += 19) {
            sk_rule *rule = small_rule(ctx, 5, n / 3, 1);
            sk_kernel *kernel = kernel_of(ctx, "gauss:eta=1");
            const sk_drift_spec spec = {.kernel = kernel, .path = SK_PATH_EXACT, .lambda = 1e-4};
            sk_drift_system *system = NULL;
            sk_drift_term *term[20] = {0};
            double lambda[20], dof[20];
            for (size_t i = 0; i < count; i++) lambda[i] = 1e-4 * (1 + (double)i);
            assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
            assert_int_equal(sk_drift_solve(ctx, system, count, lambda, term, dof), SOCK_OK);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(isnan(dof[i]), n > 600 && count == 1);
                if (i) assert_true(dof[i] < dof[i - 1] && dof[i] > 0);
                sk_drift_term_free(term[i]);
            }
            sk_drift_system_free(system);
            sk_kernel_free(kernel);
            sk_rule_free(rule);
        }
}

/* A penalty for which there is no solution: no term is left of the others. */
static void test_driftsystem__hopeless_penalties(void **state)
{
    const fixture *f = *state;
    static const double lambda[] = {1e-3, -1};
    sk_drift_term *term[2] = {NULL};
    sk_drift_system *system = new_system(f, SK_PATH_EXACT);
    assert_int_equal(sk_drift_solve(f->ctx, system, 2, lambda, term, NULL), SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(f->ctx), "drift-lambda is -1, too small"));
    assert_true(!term[0] && !term[1]);
    sk_begin(f->ctx);
    sk_drift_system_free(system);
    sk_rule *rule = small_rule(f->ctx, 1, 5, 1);
    sk_kernel *kernel = kernel_of(f->ctx, "constant");
    static const double none[] = {1e-3, 0};
    const sk_drift_spec spec = {.kernel = kernel, .form = SK_FORM_IMPLICIT, .path = SK_PATH_EXACT, .lambda = 1e-3};
    assert_int_equal(sk_drift_system_new(f->ctx, rule, &spec, &system), SOCK_OK);
    double values[5 * 3];
    assert_int_equal(sk_drift_alpha(f->ctx, system, 1e-3, values), SOCK_OK); /* before and after the decomposition */
    const sock_status status = sk_drift_solve(f->ctx, system, 2, none, term, NULL);
    if (status < 0) assert_true(status == SOCK_ENUMERIC && !term[0] && !term[1]);
    sk_begin(f->ctx);
    double again[5 * 3];
    assert_int_equal(sk_drift_alpha(f->ctx, system, 1e-3, again), SOCK_OK);
    assert_all_close(rule->n, again, values, 1e-9);
    sk_drift_term_free(term[0]), sk_drift_term_free(term[1]);
    sk_drift_system_free(system);
    sk_kernel_free(kernel);
    sk_rule_free(rule);
}

static void test_driftsystem__refuses(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const struct {
        const char *kernel;
        sk_form form;
        sk_path path;
        double size;
        sock_status status;
        const char *words;
    } cases[] = {
        {"divfree:eta=1", SK_FORM_EXPLICIT, SK_PATH_AUTO, 1, SOCK_EUSAGE, "the implicit form only"},
        {"divfree:eta=1", SK_FORM_NYSTROM, SK_PATH_AUTO, 1, SOCK_EUSAGE, "the implicit form only"},
        {"divfree:eta=1", SK_FORM_AUTO, SK_PATH_PIVOTED, 1, SOCK_EUSAGE, "the exact path only"},
        {"divfree:eta=1", SK_FORM_IMPLICIT, SK_PATH_EXACT, 1, SOCK_OK, ""},
        {"affine", SK_FORM_AUTO, SK_PATH_EXACT, 1, SOCK_EUSAGE, "only the implicit form has a choice of path"},
        {"affine", SK_FORM_EXPLICIT, SK_PATH_PIVOTED, 1, SOCK_EUSAGE, "only the implicit form has a choice of path"},
        {"affine", SK_FORM_IMPLICIT, SK_PATH_PIVOTED, 1, SOCK_OK, ""},
        {"gauss:eta=1", SK_FORM_AUTO, SK_PATH_EXACT, 1, SOCK_OK, ""},
        {"gauss:eta=1", SK_FORM_NYSTROM, SK_PATH_EXACT, 1, SOCK_EUSAGE, "only the implicit form has a choice of path"},
        {"gauss:eta=1", SK_FORM_EXPLICIT, SK_PATH_AUTO, 1, SOCK_EUSAGE, "drift"},
        {"linear", SK_FORM_AUTO, SK_PATH_AUTO, 1e160, SOCK_ENUMERIC, "beyond the range of numbers"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sk_rule *rule = small_rule(ctx, 2, 4, cases[c].size);
        sk_kernel *kernel = kernel_of(ctx, cases[c].kernel);
        const sk_drift_spec spec = {
            .kernel = kernel, .form = cases[c].form, .path = cases[c].path, .landmarks = 3, .lambda = 1e-3};
        sk_drift_system *system = NULL;
        assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), cases[c].status);
        if (*cases[c].words) assert_non_null(strstr(sock_message(ctx), cases[c].words));
        assert_int_equal(system != NULL, cases[c].status == SOCK_OK);
        sk_begin(ctx);
        sk_drift_system_free(system);
        sk_kernel_free(kernel);
        sk_rule_free(rule);
    }
}

typedef struct small_case {
    const sk_rule *rule;
    sk_drift_spec spec;
} small_case;

static sock_status solve_small(sock_context *ctx, void *arg)
{
    const small_case *w = arg;
    static const double lambda[] = {1e-2, 1e-3};
    sk_drift_system *system = NULL;
    sk_drift_term *term[2] = {NULL};
    sock_status status = sk_drift_system_new(ctx, w->rule, &w->spec, &system);
    if (status >= 0) status = sk_drift_solve(ctx, system, 2, lambda, term, NULL);
    if (status < 0) assert_true(!term[0] && !term[1]);
    sk_drift_term_free(term[0]), sk_drift_term_free(term[1]);
    sk_drift_system_free(system);
    return status;
}

static void test_driftsystem__survives_failed_allocations(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const char *const kernels[] = {"affine", "gauss:eta=1", "divfree:eta=1", "gauss:eta=1"};
    sk_rule *rule = small_rule(ctx, 2, 20, 1);
    sock_set_threads(ctx, 1);
    for (size_t c = 0; c < 4; c++) {
        sk_kernel *kernel = kernel_of(ctx, kernels[c]);
        small_case w = {rule, {.kernel = kernel, .lambda = 1e-3, .form = c == 3 ? SK_FORM_NYSTROM : SK_FORM_AUTO}};
        assert_true(for_single_allocations(ctx, solve_small, &w) > 10);
        sk_kernel_free(kernel);
    }
    sk_rule_free(rule);
}

/* w of an explicit fit of 3000 intervals with the given number of threads. */
static sk_drift_term *fit_features(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, int threads)
{
    sk_drift_spec spec = {.kernel = kernel, .lambda = 1e-6};
    sk_drift_system *system = NULL;
    sk_drift_term *term = NULL;
    sock_set_threads(ctx, threads);
    assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
    assert_string_equal(sk_drift_system_report(system).form, "explicit");
    assert_int_equal(sk_drift_solve(ctx, system, 1, &spec.lambda, &term, NULL), SOCK_OK);
    sk_drift_system_free(system);
    return term;
}

/* Enough intervals for several parts of the sums: the same bits with one thread and with three, and the normal
 * equations (Psi'Psi + n lambda I) w = Psi'dy hold with Psi made whole. */
static void prop_driftsystem__sums_of_features(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    enum { LENGTH = 3001, P = 40 };
    static double t[LENGTH], x[LENGTH], psi[(LENGTH - 1) * P];
    size_t length[] = {LENGTH};
    sk_normals((sk_key){9, SK_PURPOSE_TEST}, 0, 0, 0, LENGTH, x);
    for (size_t i = 0; i < LENGTH; i++) t[i] = 0.1 * (double)i;
    sock_data *data = NULL;
    sk_rule *rule = NULL;
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, "trapezoid", &rule), SOCK_OK);
    assert_int_equal(sk_kernel_parse(ctx, "drift", "fourier:p=40,eta=0.5", &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 1, 0, NULL, &map), SOCK_OK);
    sk_drift_term *one = fit_features(ctx, rule, kernel, 1), *three = fit_features(ctx, rule, kernel, 3);
    sock_set_threads(ctx, 1);
    assert_memory_equal(one->weight, three->weight, P * sizeof(double));
    assert_int_equal(sk_occupation_features(ctx, rule, map, 0, rule->n, psi, P), SOCK_OK);
    double left[P] = {0}, right[P] = {0};
    for (size_t i = 0; i < rule->n; i++) {
        double fitted = 0;
        for (size_t j = 0; j < P; j++) fitted += psi[i * P + j] * one->weight[j];
        for (size_t j = 0; j < P; j++) {
            left[j] += psi[i * P + j] * fitted;
            right[j] += psi[i * P + j] * rule->dy[i];
        }
    }
    for (size_t j = 0; j < P; j++) left[j] += (double)rule->n * 1e-6 * one->weight[j];
    assert_all_close(P, left, right, 1e-10);
    sk_drift_term_free(one), sk_drift_term_free(three);
    sk_features_free(map);
    sk_kernel_free(kernel);
    sk_rule_free(rule);
    sock_data_free(data);
}

/* Increments at the end of the range: sums of them are beyond it, and so are coefficients. */
static void test_driftsystem__coefficients_beyond_the_numbers_are_a_failure(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    static const char *const kernels[] = {"affine", "gauss:eta=0.7"};
    for (size_t c = 0; c < 2; c++) {
        sk_rule *rule = small_rule(ctx, 1, 8, 1);
        sk_kernel *kernel = kernel_of(ctx, kernels[c]);
        sk_drift_system *system = NULL;
        sk_drift_term *term = NULL;
        const double lambda = 1e-6;
        for (size_t i = 0; i < rule->n; i++) rule->dy[i] = 1.7e308;
        const sk_drift_spec spec = {.kernel = kernel, .lambda = lambda};
        assert_int_equal(sk_drift_system_new(ctx, rule, &spec, &system), SOCK_OK);
        assert_int_equal(sk_drift_solve(ctx, system, 1, &lambda, &term, NULL), SOCK_ENUMERIC);
        assert_non_null(strstr(sock_message(ctx), "rescale the data"));
        assert_null(term);
        sk_drift_system_free(system);
        sk_kernel_free(kernel);
        sk_rule_free(rule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_driftsystem__every_lambda_solves_its_system),
        cmocka_unit_test(prop_driftsystem__a_path_is_its_points),
        cmocka_unit_test(prop_driftsystem__sums_of_features),
        cmocka_unit_test(test_driftsystem__a_large_rank_means_the_exact_path),
        cmocka_unit_test(prop_driftsystem__unit),
        cmocka_unit_test(prop_driftsystem__matrix_valued),
        cmocka_unit_test(test_driftsystem__pivots_follow_the_penalty),
        cmocka_unit_test(test_driftsystem__a_small_rank_means_the_pivoted_path),
        cmocka_unit_test(test_driftsystem__degrees_of_freedom),
        cmocka_unit_test(test_driftsystem__hopeless_penalties),
        cmocka_unit_test(test_driftsystem__refuses),
        cmocka_unit_test(test_driftsystem__coefficients_beyond_the_numbers_are_a_failure),
        cmocka_unit_test(test_driftsystem__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
