/* test_problem.c - the rows of the search: what conditioning on a model gives, and the score against the formula
 * written out. */
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static void prop_score_is_the_gaussian_formula(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        sk_problem *p = case_problem(ctx, d, false);
        sock_model *model = case_model(ctx, d, NULL);
        assert_int_equal(sk_problem_condition(ctx, p, model, true, false), SOCK_OK);
        double *space = sk_doubles(ctx, sk_scores_space(d), 1), *e = sk_doubles(ctx, p->n, d);
        double *score = sk_doubles(ctx, p->n, 1), *a = sk_doubles(ctx, p->n, d * d);
        for (int round = 0; round < 3; round++) {
            p->eps = round == 1 ? 0 : 2e-3;
            p->density = round == 2 ? 1.75 : 0;
            double floor = round == 2 ? 0.3 : 0;
            for (size_t i = 0; i < p->n * d; i++) e[i] = p->steps->dy[i] - 0.01;
            for (size_t i = 0; i < p->n * d * d; i++)
                a[i] = p->integral[i] + (i % (d * d) % (d + 1) ? 0 : floor * p->steps->h[i / (d * d)]);
            for (size_t begin = 0; begin < 3; begin++) { /* not all steps stand in the first lane */
                sk_problem_scores(p, begin, p->n, e, p->integral, floor, score, space);
                for (size_t i = begin; i < p->n; i++)
                    assert_close(score[i - begin], p->density + dense_score(p, i, e + i * d, a + i * d * d), 1e-12, 1);
            }
        }
        sk_free(space), sk_free(e), sk_free(score), sk_free(a);
        sock_model_free(model);
        sk_problem_free(p);
    }
}

static void prop_quick_score_is_the_score(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int blind = 0; blind < 2; blind++) {
            sk_problem *p = case_problem(ctx, d, true);
            sock_model *model = case_model(ctx, d, NULL);
            p->density = -0.4;
            assert_int_equal(sk_problem_condition(ctx, p, blind ? NULL : model, true, false), SOCK_OK);
            double *space = sk_doubles(ctx, sk_scores_space(d), 1), *score = sk_doubles(ctx, p->n, 1);
            sk_problem_scores(p, 0, p->n, p->steps->dy, p->integral, 0, score, space);
            for (size_t i = 0; i < p->n; i++)
                assert_close(sk_problem_quick_score(p, i, p->steps->dy + i * d), score[i], 1e-11, 1);
            sk_free(space), sk_free(score);
            sock_model_free(model);
            sk_problem_free(p);
        }
}

/* With e of covariance C0 = F A F', the mean score is largest at A itself: the jitter does not pull a down. */
static void prop_jitter_in_the_data_term_leaves_the_best_a_alone(void **state)
{
    (void)state;
    sk_problem *p = case_problem(ctx, 1, false);
    sock_model *model = case_model(ctx, 1, NULL);
    assert_int_equal(sk_problem_condition(ctx, p, model, true, true), SOCK_OK);
    p->eps = 0.5 * p->integral[0]; /* far larger than any in use */
    double *space = sk_doubles(ctx, sk_scores_space(1), 1), best = -(double)INFINITY, where = 0;
    double c0 = p->left[0] * p->left[0] * p->integral[0];
    for (double share = 0.2; share < 3; share += 0.01) {
        double a = share * p->integral[0], root = sqrt(c0); /* e = +-root has the second moment C0 */
        double score;
        sk_problem_scores(p, 0, 1, &root, &a, 0, &score, space);
        if (score > best) best = score, where = share;
    }
    assert_close(where, 1, 0.011, 1);
    sk_free(space);
    sock_model_free(model);
    sk_problem_free(p);
}

static void test_problem__score_of_an_indefinite_covariance_is_minus_infinity(void **state)
{
    (void)state;
    sk_problem *p = case_problem(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    assert_int_equal(sk_problem_condition(ctx, p, model, true, false), SOCK_OK);
    double bad[] = {0.1, 0.3, 0.3, 0.1, 0.1, 0.01, 0.01, 0.1}, e[] = {0, 0, 0, 0}, score[2];
    double *space = sk_doubles(ctx, sk_scores_space(2), 1);
    p->eps = 0;
    sk_problem_scores(p, 0, 2, e, bad, 0, score, space);
    assert_true(score[0] == -(double)INFINITY);
    assert_close(score[1], dense_score(p, 1, e + 2, bad + 4), 1e-12, 1); /* its neighbour does not mind */
    sk_free(space);
    sock_model_free(model);
    sk_problem_free(p);
}

/* F = 1 + h/2 J; I a by the sigma points is exact for a quadratic a; weights from h a. */
static void test_problem__conditioning_gives_the_models_moments(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            bool flat = diagonal;
            sk_problem *p = case_problem(ctx, d, false);
            sock_model *model = case_model(ctx, d, &flat);
            assert_int_equal(sk_problem_condition(ctx, p, model, true, flat), SOCK_OK);
            for (size_t i = 0; i < p->n; i++) {
                double h = p->steps->h[i], f[3], a[9], jacobian[9] = {0}, expected[9];
                const double *y = p->steps->y + i * d;
                case_drift(NULL, 1, d, y, f);
                case_diffusion(&flat, 1, d, y, a);
                for (size_t k = 0; k < d; k++) {
                    jacobian[k * d + k] -= 1;
                    jacobian[k * d + (k + 1) % d] += 0.3;
                }
                for (size_t k = 0; k < d * d; k++) {
                    bool own = k % (d + 1) == 0;
                    size_t r = k / d;
                    double next = y[r] + h * f[r];
                    double mean = own ? 0.4 + 0.1 * (next * next + h * a[k]) : a[k];
                    expected[k] = 0.5 * h * (a[k] + mean);
                    assert_close(p->left[i * d * d + k], own + 0.5 * h * jacobian[k], 1e-9, 1);
                }
                assert_all_close(d * d, p->integral + i * d * d, expected, 1e-12);
                double product[9] = {0}, square = 0; /* P (h a + 0.1 median) = 1 */
                for (size_t k = 0; k < d * d; k++) {
                    for (size_t m = 0; m < d; m++)
                        product[k] += p->precision[i * d * d + k / d * d + m] *
                                      (h * a[m * d + k % d] + (m == k % d ? 0.1 * p->middle : 0));
                    assert_close(product[k], k % (d + 1) == 0, 1e-11, 1);
                    square += h * a[k] * h * a[k];
                }
                assert_close(p->size[i], sqrt(square), 1e-13, 0);
                for (size_t k = 0; k < d; k++) assert_close(p->part[i * d + k], h * a[k * d + k], 1e-13, 0);
            }
            sock_model_free(model);
            sk_problem_free(p);
        }
}

static void test_problem__without_weights_all_steps_count_alike(void **state)
{
    (void)state;
    sk_problem *p = case_problem(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    p->weighted = false;
    assert_int_equal(sk_problem_condition(ctx, p, model, true, false), SOCK_OK);
    for (size_t i = 0; i < p->n; i++) {
        assert_memory_equal(p->precision + 4 * i, p->precision, 4 * sizeof(double));
        assert_true(p->precision[4 * i] == p->precision[4 * i + 3] && p->precision[4 * i + 1] == 0);
    }
    sock_model_free(model);
    sk_problem_free(p);
}

static void test_problem__subset_keeps_folds_and_jitter(void **state)
{
    (void)state;
    sk_problem *p = case_problem(ctx, 2, true), *few = NULL;
    size_t keep[] = {3, 19, 20, 41, 59};
    p->density = 0.3;
    assert_int_equal(sk_problem_subset(ctx, p, 5, keep, &few), SOCK_OK);
    static const size_t first[] = {0, 2, 3, 5};
    for (size_t f = 0; f < 4; f++) assert_int_equal(few->first[f], first[f]);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(few->fold[i], p->fold[keep[i]]);
        assert_int_equal(few->cluster[i], p->cluster[keep[i]]);
        assert_memory_equal(few->steps->dy + 2 * i, p->steps->dy + 2 * keep[i], 2 * sizeof(double));
    }
    assert_true(few->eps == p->eps && few->density == p->density);
    sk_problem_free(few);
    sk_problem_free(p);
}

static sock_status condition_twice(sock_context *c, void *arg)
{
    const sock_model *model = arg;
    size_t fold[6] = {0, 0, 0, 1, 1, 1}, cluster[6] = {0, 0, 1, 1, 2, 2}, keep[] = {0, 4};
    sk_problem *p = NULL, *few = NULL;
    static const double numbers[12] = {0.1, 0.2, -0.1, 0.3, 0.2, 0.1, 0.4, -0.2, 0.1, 0.1, 0.3, 0.2};
    double t[8], x[16] = {0};
    size_t length[] = {4, 4};
    for (size_t i = 0; i < 8; i++) t[i] = 0.1 * (double)(i % 4);
    memcpy(x, numbers, sizeof numbers);
    sock_data *data = NULL;
    sk_steps *steps = NULL;
    sock_status status = sock_data_from_arrays(c, 2, 2, length, t, x, NULL, NULL, NULL, &data);
    if (status >= 0) status = sk_steps_new(c, data, &steps);
    if (status >= 0) status = sk_problem_new(c, steps, fold, 2, cluster, 3, &p);
    if (status >= 0) p->eps = 1e-3;
    if (status >= 0) status = sk_problem_condition(c, p, NULL, false, false);
    if (status >= 0) status = sk_problem_condition(c, p, model, true, false);
    if (status >= 0) status = sk_problem_subset(c, p, 2, keep, &few);
    sk_problem_free(p);
    sk_problem_free(few);
    sock_data_free(data);
    return status;
}

static void test_problem__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_model *model = case_model(ctx, 2, NULL);
    sock_set_threads(ctx, 1);
    assert_true(for_each_allocation(ctx, condition_twice, model) > 50);
    sock_model_free(model);
}

/* The process of the cases, but a is negative from the left end of two steps on: user has two states. */
static void broken_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *bad = user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++) {
            bool hit = memcmp(x + i * d, bad, d * sizeof *x) == 0 || memcmp(x + i * d, bad + d, d * sizeof *x) == 0;
            a[i * d * d + k] = k % (d + 1) ? 0 : hit ? -100 : 0.5;
        }
}

/* Steps 401 and 1001 (from 1) stand in the shares of two workers, the latter deeper in its own, so by the clock it has
 * the last word. */
static void test_problem__the_first_indefinite_step_is_named_by_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 1200, D = 8, EACH = 5 };
    size_t fold[N], cluster[N];
    double bad[2 * D];
    for (size_t i = 0; i < N; i++) {
        fold[i] = i / (N / 3);
        cluster[i] = i / EACH;
    }
    for (int weighted = 0; weighted < 2; weighted++) /* found with the weights, and with the covariances of the score */
        for (int threads = 1; threads <= 2; threads++)
            for (int round = 0; round < 5; round++) {
                sk_problem *p = NULL;
                sock_model *model = NULL;
                sock_set_threads(ctx, threads);
                assert_int_equal(sk_problem_new(ctx, case_steps(ctx, N, D, EACH, 3), fold, 3, cluster, N / EACH, &p),
                                 SOCK_OK);
                p->weighted = weighted;
                memcpy(bad, p->steps->y + 400 * D, D * sizeof *bad);
                memcpy(bad + D, p->steps->y + 1000 * D, D * sizeof *bad);
                assert_int_equal(sock_model_wrap(ctx, D, NULL, case_drift, broken_diffusion, bad, &model), SOCK_OK);
                assert_int_equal(sk_problem_condition(ctx, p, model, false, false), SOCK_ENUMERIC);
                assert_non_null(strstr(sock_message(ctx), "the covariance of step 401 is not positive definite"));
                sock_model_free(model);
                sk_problem_free(p);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_score_is_the_gaussian_formula),
        cmocka_unit_test(prop_quick_score_is_the_score),
        cmocka_unit_test(prop_jitter_in_the_data_term_leaves_the_best_a_alone),
        cmocka_unit_test(test_problem__score_of_an_indefinite_covariance_is_minus_infinity),
        cmocka_unit_test(test_problem__conditioning_gives_the_models_moments),
        cmocka_unit_test(test_problem__without_weights_all_steps_count_alike),
        cmocka_unit_test(test_problem__subset_keeps_folds_and_jitter),
        cmocka_unit_test(test_problem__the_first_indefinite_step_is_named_by_any_number_of_threads),
        cmocka_unit_test(test_problem__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
