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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_driftsystem__every_lambda_solves_its_system),
        cmocka_unit_test(prop_driftsystem__a_path_is_its_points),
        cmocka_unit_test(prop_driftsystem__sums_of_features),
        cmocka_unit_test(test_driftsystem__a_large_rank_means_the_exact_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
