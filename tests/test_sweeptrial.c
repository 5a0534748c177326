/* test_sweeptrial.c - trials over the rows of a filter: weights of rows, solutions of each system, fold and penalty in
 * their places, and the penalty that the scores choose. */
#include "tune/policy.h"
#include "tune/sweeptrial.h"
#include "tunecases.h"

#include "onecontext.h"

enum { N = 60, D = 2, FOLDS = 3, P = 3, ORDER2 = P * P, SIZE = D * ORDER2, LAMBDAS = 4 };

static const double grid[LAMBDAS] = {1, 1e-1, 1e-2, 1e-3};

typedef struct bench {
    sk_features *map;
    sk_rule *rule;
    double z[N * D * D], weight[D * N];
    sk_diffusion_sums *sums;
    double q[FOLDS * LAMBDAS * SIZE], solution[(FOLDS + 1) * SIZE];
    sk_trial trial;
} bench;

/* A diagonal a of two components that are nothing alike, in three folds of 20 rows. */
static void bench_open(bench *b)
{
    double x[N * D], ones[N], e[N * D];
    sk_kernel *kernel = case_kernel(ctx, "affine");
    sk_normals((sk_key){21, SK_PURPOSE_TEST}, 0, 0, 0, N * D, x);
    sk_normals((sk_key){22, SK_PURPOSE_TEST}, 0, 0, 0, N * D, e);
    for (size_t i = 0; i < N; i++) ones[i] = 0.1;
    assert_int_equal(sk_rule_nodes(ctx, N, 1, D, x, ones, ones, &b->rule), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, D, N, x, &b->map), SOCK_OK);
    sk_kernel_free(kernel);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < D; k++) {
            const double size = k ? 3 + x[i * D] : 0.5 * (1 + x[i * D + 1]), u = e[i * D + k] * size;
            b->z[i * D * D + k * (D + 1)] = 0.1 * u * u;
            b->weight[k * N + i] = k ? 1 + (double)(i % 2) : 1;
        }
    const sk_view like = {.d = D, .folds = FOLDS};
    assert_int_equal(sk_diffusion_sums_new(ctx, b->map, &like, true, FOLDS, &b->sums), SOCK_OK);
    for (size_t f = 0; f < FOLDS; f++) {
        const sk_given_rows rows = {f, b->rule, f * N / FOLDS, (f + 1) * N / FOLDS, b->z, b->weight, NULL};
        assert_int_equal(sk_diffusion_sums_add_given(ctx, b->sums, &rows), SOCK_OK);
    }
    sk_diffusion_sums_close(b->sums);
    b->trial = (sk_trial){.field = SK_DIFFUSION,
                          .map = b->map,
                          .p = P,
                          .d = D,
                          .folds = FOLDS,
                          .diagonal = true,
                          .size = SIZE,
                          .solution = b->solution,
                          .converged = true};
}

static void bench_close(bench *b)
{
    sk_diffusion_sums_free(b->sums);
    sk_features_free(b->map);
    sk_rule_free(b->rule);
}

/* Q of one system without fold f, down the grid to penalty `last`; by_l (or NULL): Q at each on the way. */
static void slow_path(const bench *b, size_t f, size_t system, size_t last, double tolerance, double *by_l, double *q)
{
    sk_diffusion_path *path = NULL;
    assert_int_equal(sk_diffusion_path_new(ctx, b->sums, f, system, false, &path), SOCK_OK);
    for (size_t j = 0; j <= last; j++) {
        assert_int_equal(sk_diffusion_path_solve(ctx, path, grid[j], tolerance, q), SOCK_OK);
        for (size_t i = 0; by_l && i < ORDER2; i++) by_l[j * ORDER2 + i] = q[i];
    }
    sk_diffusion_path_free(path);
}

static sk_diffusion_sweep sweep_of(bench *b)
{
    return (sk_diffusion_sweep){&b->trial, b->sums, grid, LAMBDAS, 1e-9, b->q, NULL};
}

static void prop_solutions_of_each_system_stand_in_their_places(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b);
    const sk_diffusion_sweep s = sweep_of(&b);
    double by_l[LAMBDAS * ORDER2], q[ORDER2];
    for (size_t f = 0; f < FOLDS; f++) assert_int_equal(sk_diffusion_sweep_fold(ctx, &s, f), SOCK_OK);
    for (size_t f = 0; f < FOLDS; f++)
        for (size_t k = 0; k < D; k++) {
            slow_path(&b, f, k, LAMBDAS - 1, SK_SWEEP_TOLERANCE, by_l, q);
            for (size_t j = 0; j < LAMBDAS; j++)
                for (size_t i = 0; i < ORDER2; i++)
                    assert_close(b.q[(f * LAMBDAS + j) * SIZE + k * ORDER2 + i], by_l[j * ORDER2 + i], 1e-12, 1e-3);
        }
    bench_close(&b);
}

/* Of all rows to the tolerance asked for; without the folds out of q, or solved for, or left alone. */
static void prop_the_trial_keeps_those_of_the_best_penalty(void **state)
{
    (void)state;
    enum { BEST = 2 };
    for (int how = 0; how < 3; how++) {
        bench b = {0};
        bench_open(&b);
        const sk_diffusion_sweep s = sweep_of(&b);
        double q[ORDER2];
        for (size_t i = 0; i < FOLDS * LAMBDAS * SIZE; i++) b.q[i] = (double)i;
        assert_int_equal(sk_diffusion_sweep_finish(ctx, &s, BEST, how == 0, how == 1), SOCK_OK);
        assert_true(b.trial.l == grid[BEST] && b.trial.converged && b.trial.whole.primal > 0);
        for (size_t f = 0; f <= FOLDS; f++)
            for (size_t k = 0; k < D; k++) {
                slow_path(&b, f, k, BEST, 1e-9, NULL, q);
                for (size_t i = 0; i < ORDER2; i++) {
                    const double made = b.solution[f * SIZE + k * ORDER2 + i];
                    if (f == FOLDS || how == 1)
                        assert_close(made, q[i], 1e-12, 1e-3);
                    else
                        assert_true(made == (how ? 0 : (double)((f * LAMBDAS + BEST) * SIZE + k * ORDER2 + i)));
                }
            }
        bench_close(&b);
    }
}

/* The best of the sums over clusters; what is not finite is no score; a constant takes the last penalty. */
static void test_sweeptrial__chooses_by_the_scores(void **state)
{
    (void)state;
    enum { CLUSTERS = 2 };
    double score[LAMBDAS * CLUSTERS] = {1, -5, 2, 3, 40, NAN, 3, 1}, by_l[LAMBDAS] = {0}, cluster[CLUSTERS];
    sk_trial trial = {.p = P, .by_l = by_l, .cluster = cluster};
    sk_diffusion_sweep s = {.trial = &trial, .grid = grid, .lambdas = LAMBDAS, .score = score};
    size_t best;
    assert_int_equal(sk_diffusion_sweep_choose(&s, CLUSTERS, &best), SOCK_OK);
    assert_int_equal(best, 1);
    assert_true(trial.score == 5 && cluster[0] == 2 && cluster[1] == 3 && !trial.edge);
    assert_true(by_l[0] == -4 && by_l[2] == -(double)INFINITY && by_l[3] == 4);
    memset(by_l, 0, sizeof by_l);
    trial.p = 1;
    assert_int_equal(sk_diffusion_sweep_choose(&s, CLUSTERS, &best), SOCK_OK);
    assert_true(best == LAMBDAS - 1 && trial.score == 4);
    memset(by_l, 0, sizeof by_l);
    for (size_t i = 0; i < LAMBDAS * CLUSTERS; i++) score[i] = NAN;
    assert_int_equal(sk_diffusion_sweep_choose(&s, CLUSTERS, &best), SOCK_ENUMERIC);
}

/* 1 / (size / typical + share)^2, of |a| or of each component; no typical size: all alike. */
static void prop_rows_weigh_by_their_size(void **state)
{
    (void)state;
    const double spread[] = {3, 1, 1, 2, 0.5, 0, 0, 8}, typical[] = {2, 4, 0}, share = 0.3;
    unsigned char good[2] = {1, 1};
    const sk_row_sizes sizes = {2, spread, typical, share, good};
    double weight[4];
    sk_trial trial = {.d = 2, .diagonal = true};
    sk_row_weights(&sizes, &trial, weight);
    assert_close(weight[0], 1 / pow(3.0 / 4 + share, 2), 1e-14, 0);
    assert_close(weight[1], 1 / pow(0.5 / 4 + share, 2), 1e-14, 0);
    assert_true(weight[2] == 1 && weight[3] == 1);
    trial.diagonal = false;
    sk_row_weights(&sizes, &trial, weight);
    assert_close(weight[0], 1 / pow(sqrt(15) / 2 + share, 2), 1e-14, 0);
    assert_close(weight[1], 1 / pow(sqrt(64.25) / 2 + share, 2), 1e-14, 0);
    good[0] = 0;
    sk_row_weights(&sizes, &trial, weight);
    assert_true(weight[0] == 0 && weight[1] > 0);
    trial.diagonal = true;
    sk_row_weights(&sizes, &trial, weight);
    assert_true(weight[0] == 0 && weight[1] > 0 && weight[2] == 0 && weight[3] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_solutions_of_each_system_stand_in_their_places),
        cmocka_unit_test(prop_the_trial_keeps_those_of_the_best_penalty),
        cmocka_unit_test(test_sweeptrial__chooses_by_the_scores),
        cmocka_unit_test(prop_rows_weigh_by_their_size),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
