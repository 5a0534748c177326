/* test_stepdensity.c - the score of the rows of a view, many at once, against the formula written out. */
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static void prop_score_is_the_gaussian_formula(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        case_bench b = case_bench_new(ctx, d, false, false);
        sk_view v = *b.v;
        double *space = sk_doubles(ctx, sk_scores_space(d), 1), *e = sk_doubles(ctx, v.n, d);
        double *score = sk_doubles(ctx, v.n, 1), *a = sk_doubles(ctx, v.n, d * d);
        for (int round = 0; round < 3; round++) {
            v.spec.eps = round == 1 ? 0 : 2e-3;
            v.spec.density = round == 2 ? 1.75 : 0;
            double floor = round == 2 ? 0.3 : 0;
            for (size_t i = 0; i < v.n * d; i++) e[i] = v.t[i] - 0.01;
            for (size_t i = 0; i < v.n * d * d; i++)
                a[i] = v.integral[i] + (i % (d * d) % (d + 1) ? 0 : floor * v.h[i / (d * d)]);
            for (size_t begin = 0; begin < 3; begin++) { /* not all steps stand in the first lane */
                sk_view_scores(&v, begin, v.n, e, v.integral, floor, score, space);
                for (size_t i = begin; i < v.n; i++)
                    assert_close(score[i - begin], v.spec.density + dense_score(&v, i, e + i * d, a + i * d * d), 1e-12,
                                 1);
            }
        }
        sk_free(space), sk_free(e), sk_free(score), sk_free(a);
        case_bench_clear(&b);
    }
}

static void prop_quick_score_is_the_score_of_a_sane_a(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int blind = 0; blind < 2; blind++) {
            sk_transitions *rows = case_rows(ctx, d, true);
            sock_model *model = case_model(ctx, d, NULL);
            sk_view_spec look = case_look(blind ? NULL : model, false);
            look.density = -0.4;
            sk_views *views = case_views(ctx, rows, &look);
            for (size_t b = 0; b < rows->blocks; b++) {
                const sk_view *v = case_view(ctx, views, b);
                double *space = sk_doubles(ctx, sk_scores_space(d), 1), *score = sk_doubles(ctx, v->n, 1);
                double *integral = sk_doubles(ctx, v->n, d * d);
                for (size_t i = 0; i < v->n; i++) judged_integral(v, i, integral + i * d * d);
                sk_view_scores(v, 0, v->n, v->t, integral, 0, score, space);
                for (size_t i = 0; i < v->n; i += 3) {
                    const size_t end = SK_MIN(i + 3, v->n);
                    double quick[3];
                    sk_view_quick_scores(v, i, end, 0, v->t + i * d, quick);
                    assert_close(quick[0], score[i], 1e-11, 1);
                    sk_view_quick_scores(v, i, end, d, v->t + i * d, quick);
                    for (size_t k = i; k < end; k++) assert_close(quick[k - i], score[k], 1e-11, 1);
                }
                sk_free(space), sk_free(score), sk_free(integral);
                sk_views_give(views, v);
            }
            sk_views_free(views);
            sock_model_free(model);
            sk_transitions_free(rows);
        }
}

/* What the quick score is made of: C C^-1 = 1, and the score of a residual 0. */
static void prop_inverses_are_those_of_the_covariances(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        case_bench b = case_bench_new(ctx, d, false, false);
        const sk_view *v = b.v;
        static const double nothing[3];
        for (size_t i = 0; i < v->n; i++) {
            const double *f = v->left + i * d * d;
            double c[9] = {0}, inverse[9] = {0}, a[9];
            judged_integral(v, i, a);
            for (size_t k = 0; k < d * d; k++) {
                for (size_t u = 0; u < d * d; u++) c[k] += f[k / d * d + u / d] * a[u] * f[k % d * d + u % d];
                c[k] += k % (d + 1) ? 0 : v->spec.eps;
                inverse[k] = k % (d + 1) == 0;
            }
            dense_solve(d, c, d, inverse);
            assert_all_close(d * d, v->inverse + i * d * d, inverse, 1e-11);
            assert_close(v->offset[i], dense_score(v, i, nothing, a), 1e-12, 1);
        }
        case_bench_clear(&b);
    }
}

/* With e of covariance C0 = F A F', the mean score is largest at A itself: the jitter does not pull a down. */
static void prop_jitter_in_the_data_term_leaves_the_best_a_alone(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 1, true, false);
    sk_view v = *b.v;
    v.spec.eps = 0.5 * v.integral[0]; /* far larger than any in use */
    double *space = sk_doubles(ctx, sk_scores_space(1), 1), best = -(double)INFINITY, where = 0;
    double c0 = v.left[0] * v.left[0] * v.integral[0];
    for (double share = 0.2; share < 3; share += 0.01) {
        double a = share * v.integral[0], root = sqrt(c0); /* e = +-root has the second moment C0 */
        double score;
        sk_view_scores(&v, 0, 1, &root, &a, 0, &score, space);
        if (score > best) best = score, where = share;
    }
    assert_close(where, 1, 0.011, 1);
    sk_free(space);
    case_bench_clear(&b);
}

static void test_stepdensity__of_an_indefinite_covariance_is_minus_infinity(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 2, false, false);
    sk_view v = *b.v;
    double bad[] = {0.1, 0.3, 0.3, 0.1, 0.1, 0.01, 0.01, 0.1}, e[] = {0, 0, 0, 0}, score[2];
    double *space = sk_doubles(ctx, sk_scores_space(2), 1);
    v.spec.eps = 0;
    sk_view_scores(&v, 0, 2, e, bad, 0, score, space);
    assert_true(score[0] == -(double)INFINITY);
    assert_close(score[1], dense_score(&v, 1, e + 2, bad + 4), 1e-12, 1); /* its neighbour does not mind */
    sk_free(space);
    case_bench_clear(&b);
}

/* One covariance at a time: the same formula. */
static void prop_log_density_is_the_score_with_a_left_factor_of_one(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int with = 0; with < 2; with++) {
            double one[9] = {0}, c[9], e[3], space[12], plain[9];
            sk_view v = {.d = d, .n = 1, .left = one, .spec = {.eps = with ? 0.05 : 0}};
            for (size_t k = 0; k < d; k++) one[k * d + k] = 1, e[k] = 0.3 - 0.4 * (double)k;
            for (size_t k = 0; k < d * d; k++) {
                plain[k] = k % (d + 1) ? 0.11 : 0.4 + 0.1 * (double)k;
                c[k] = plain[k] + (k % (d + 1) ? 0 : v.spec.eps);
            }
            assert_close(sk_log_density(d, c, e, v.spec.eps, space), dense_score(&v, 0, e, plain), 1e-13, 1);
            c[0] = -1;
            assert_true(sk_log_density(d, c, e, v.spec.eps, space) == -(double)INFINITY);
        }
}

/* A diagonal covariance has a shorter way to the same numbers. */
static void prop_log_density_of_a_diagonal_covariance(void **state)
{
    (void)state;
    double c[16] = {0}, full[16], e[] = {0.3, -1, 0.2, 2}, space[20];
    for (size_t k = 0; k < 4; k++) c[k * 5] = 0.5 + (double)k;
    memcpy(full, c, sizeof c);
    full[4] = 1e-300; /* row 1, column 0 */
    for (int jitter = 0; jitter < 2; jitter++)
        assert_close(sk_log_density(4, c, e, 0.1 * jitter, space), sk_log_density(4, full, e, 0.1 * jitter, space),
                     1e-15, 1);
    c[10] = 0;
    assert_true(isinf(sk_log_density(4, c, e, 0, space)) && sk_log_density(4, c, e, 0, space) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_score_is_the_gaussian_formula),
        cmocka_unit_test(prop_quick_score_is_the_score_of_a_sane_a),
        cmocka_unit_test(prop_inverses_are_those_of_the_covariances),
        cmocka_unit_test(prop_jitter_in_the_data_term_leaves_the_best_a_alone),
        cmocka_unit_test(test_stepdensity__of_an_indefinite_covariance_is_minus_infinity),
        cmocka_unit_test(prop_log_density_is_the_score_with_a_left_factor_of_one),
        cmocka_unit_test(prop_log_density_of_a_diagonal_covariance),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
