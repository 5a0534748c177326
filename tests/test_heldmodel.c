/* test_heldmodel.c - models of shares of trials, and their held-out likelihoods, by slow loops over rows and features.
 */
#include "score/score.h"
#include "tune/heldmodel.h"
#include "tunecases.h"

#include "onecontext.h"

enum { PARTS = 3 };
static const double drift_share[PARTS] = {0, 0.3, 0.7}, share[PARTS] = {0.6, 0, 0.4};

typedef struct mixed {
    case_bench b;
    sk_trial *drift[PARTS], *diffusion[PARTS];
    sk_held_model model;
} mixed;

static sk_candidate candidate_of(sk_field field, const char *kernel, bool diagonal)
{
    return (sk_candidate){.field = field, .kernel = case_kernel(ctx, kernel), .diagonal = diagonal, .max_rank = 9};
}

/* The parts without a share are missing. Takes the rows. */
static mixed *mixed_of(sk_transitions *rows)
{
    static const double l = 1e-2;
    mixed *m = sk_alloc(ctx, 1, sizeof *m);
    m->b = case_bench_of(ctx, rows, false, 0);
    sk_candidate drifts[] = {candidate_of(SK_DRIFT, "constant", false), candidate_of(SK_DRIFT, "affine", false)};
    sk_candidate diffusions[] = {candidate_of(SK_DIFFUSION, "affine", false),
                                 candidate_of(SK_DIFFUSION, "constant", rows->d > 1)};
    const sk_diffusion_options options = {rows->folds, &l, 1, 1e-9, true, {false, false}, 0};
    case_left left;
    case_left_new(ctx, &m->b, true, &left);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sk_try_drift(ctx, m->b.views, &drifts[i], rows->folds, &m->drift[1 + i]), SOCK_OK);
        assert_true(sk_try_diffusion(ctx, left.remains, &diffusions[i], &options, &m->diffusion[2 * i]) >= 0);
        sk_candidate_clear(&drifts[i]);
        sk_candidate_clear(&diffusions[i]);
    }
    case_left_clear(&left);
    m->model = (sk_held_model){{PARTS, m->drift, drift_share}, {PARTS, m->diffusion, share}, 0};
    return m;
}

static void mixed_free(mixed *m)
{
    for (size_t i = 0; i < PARTS; i++) {
        sk_trial_free(m->drift[i]);
        sk_trial_free(m->diffusion[i]);
    }
    case_bench_clear(&m->b);
    sk_free(m);
}

/* f and a without fold `fold`, from features and solutions alone. */
static void slow_fields(const mixed *m, size_t fold, const double *x, double *f, double *a)
{
    const size_t d = m->b.rows->d;
    double phi[16];
    memset(f, 0, d * sizeof *f), memset(a, 0, d * d * sizeof *a);
    for (size_t part = 0; part < PARTS; part++) {
        const sk_trial *t = m->drift[part];
        if (!t) continue;
        assert_int_equal(sk_features_eval(ctx, t->map, 1, x, phi, t->p), SOCK_OK);
        for (size_t j = 0; j < t->p * d; j++)
            f[j % d] += drift_share[part] * phi[j / d] * t->solution[fold * t->size + j];
    }
    for (size_t part = 0; part < PARTS; part++) {
        const sk_trial *t = m->diffusion[part];
        if (!t) continue;
        const double *q = t->solution + fold * t->size;
        const size_t p = t->p;
        assert_int_equal(sk_features_eval(ctx, t->map, 1, x, phi, p), SOCK_OK);
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++)
                for (size_t ij = 0; ij < p * p; ij++) {
                    const size_t i = ij / p, j = ij % p;
                    const double entry = !t->diagonal ? q[(k * p + i) * p * d + l * p + j]
                                         : k == l     ? q[k * p * p + ij]
                                                      : 0;
                    a[k * d + l] += share[part] * phi[i] * phi[j] * entry;
                }
    }
}

static void prop_a_model_is_the_shares_of_its_parts(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        mixed *m = mixed_of(case_rows(ctx, d, true));
        for (size_t fold = 0; fold <= m->b.rows->folds; fold++) {
            static const char *const names[] = {"left", "right"};
            sock_model *model = NULL;
            double x[] = {0.4, -1.1}, f[2], a[4], slow_f[2], slow_a[4];
            assert_int_equal(sk_held_model_without(ctx, &m->model, fold, names, &model), SOCK_OK);
            assert_int_equal(model->d, d);
            assert_true(model->floor == 0);
            assert_int_equal(model->drift_terms, 2);
            assert_int_equal(model->diffusion_terms, 2);
            assert_string_equal(sock_model_name(model, d - 1), names[d - 1]);
            assert_int_equal(sk_model_evaluate(ctx, model, 1, x, f, a), SOCK_OK);
            slow_fields(m, fold, x, slow_f, slow_a);
            assert_all_close(d, f, slow_f, 1e-12);
            assert_all_close(d * d, a, slow_a, 1e-10);
            sock_model_free(model);
        }
        mixed_free(m);
    }
}

/* log N(e; 0, C) - charge tr C^-1 / 2 of row i, C = h a + (h floor + eps) 1. */
static double slow_euler(const mixed *m, size_t i, double floor, double eps, double charge)
{
    const sk_transitions *t = m->b.rows;
    const size_t d = t->d;
    double f[2], a[4], e[2], c[4], inverse[4] = {0}, sum = 0;
    slow_fields(m, sk_transitions_fold(t, i), t->y + i * d, f, a);
    for (size_t k = 0; k < d; k++) e[k] = t->next[i * d + k] - t->y[i * d + k] - t->h[i] * f[k];
    for (size_t k = 0; k < d * d; k++) {
        const bool on = k / d == k % d;
        c[k] = t->h[i] * a[k] + (on ? t->h[i] * floor + eps : 0);
        inverse[k] = on;
    }
    const double logdet = dense_solve(d, c, d, inverse);
    for (size_t k = 0; k < d * d; k++) sum += inverse[k] * (e[k / d] * e[k % d] + (k / d == k % d ? charge : 0));
    return -0.5 * ((double)d * log(2 * acos(-1.0)) + logdet + sum);
}

static void check_euler(const mixed *m)
{
    static const double floor[] = {0, 0.25};
    const sk_transitions *t = m->b.rows;
    const sk_view_spec look = {.eps = 2e-3, .density = 0.75};
    double score[2], *cluster = sk_doubles(ctx, 2, t->clusters), *slow = sk_doubles(ctx, 2, t->clusters);
    assert_int_equal(sk_euler_score(ctx, t, &look, &m->model, 2, floor, score, cluster), SOCK_OK);
    for (size_t g = 0; g < 2; g++) {
        double sum = 0;
        for (size_t i = 0; i < t->first[t->folds]; i++)
            slow[g * t->clusters + t->cluster[i]] += 0.75 + slow_euler(m, i, floor[g], look.eps, look.eps);
        for (size_t u = 0; u < t->clusters; u++) sum += slow[g * t->clusters + u];
        assert_close(score[g], sum, 1e-9, 1);
        double plain = 0, loglik;
        for (size_t i = 0; i < t->first[t->folds]; i++) plain += 0.75 + slow_euler(m, i, floor[g], look.eps, 0);
        assert_int_equal(sk_euler_likelihood(ctx, t, &look, &m->model, floor[g], &loglik), SOCK_OK);
        assert_close(loglik, plain, 1e-9, 1);
    }
    assert_all_close(2 * t->clusters, cluster, slow, 1e-9);
    sk_free(cluster), sk_free(slow);
}

static void prop_euler_score_is_the_sum_over_held_out_rows(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        mixed *m = mixed_of(case_rows(ctx, d, true));
        check_euler(m);
        mixed_free(m);
    }
}

/* More rows in a fold than are looked at together; and a fold without any. */
static void prop_euler_score_of_long_folds(void **state)
{
    (void)state;
    sock_data *data = case_data(ctx, 2 * SK_BLOCK + 300, 1, 50, 9);
    mixed *m = mixed_of(case_transitions(ctx, data, 2, 2));
    assert_true(m->b.rows->first[1] > SK_BLOCK);
    check_euler(m);
    mixed_free(m);
    sock_data_free(data);
}

/* The same terms, one data set of two points for each row. */
static void prop_moment_score_is_the_sum_over_held_out_rows(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        mixed *m = mixed_of(case_rows(ctx, d, true));
        const sk_transitions *t = m->b.rows;
        const sk_view_spec look = {.eps = 2e-3, .density = 0.75};
        double score = 0, total = 0, *cluster = sk_doubles(ctx, 2, t->clusters), *slow = cluster + t->clusters;
        assert_int_equal(sk_moment_score(ctx, t, &look, &m->model, &score, cluster), SOCK_OK);
        for (size_t i = 0; i < t->first[t->folds]; i++) {
            const size_t two = 2;
            double at[] = {0, t->h[i]}, x[4], term;
            memcpy(x, t->y + i * d, d * sizeof *x), memcpy(x + d, t->next + i * d, d * sizeof *x);
            sock_data *pair = NULL;
            sock_model *model = NULL;
            assert_int_equal(sock_data_from_arrays(ctx, d, 1, &two, at, x, NULL, NULL, NULL, &pair), SOCK_OK);
            assert_int_equal(sk_held_model_without(ctx, &m->model, sk_transitions_fold(t, i), NULL, &model), SOCK_OK);
            assert_int_equal(sk_moment_terms(ctx, model, pair, look.eps, &term), SOCK_OK);
            slow[t->cluster[i]] += 0.75 + term;
            total += 0.75 + term;
            sock_data_free(pair);
            sock_model_free(model);
        }
        assert_close(score, total, 1e-10, 1);
        assert_all_close(t->clusters, cluster, slow, 1e-10);
        sk_free(cluster);
        mixed_free(m);
    }
}

static sock_status scores(sock_context *context, void *arg)
{
    static const double floor = 0.1;
    const mixed *m = arg;
    const sk_transitions *t = m->b.rows;
    const sk_view_spec look = {.eps = 2e-3};
    double score = 0, *cluster = sk_doubles(context, 1, t->clusters);
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_euler_score(context, t, &look, &m->model, 1, &floor, &score, cluster);
    if (status >= 0) status = sk_moment_score(context, t, &look, &m->model, &score, cluster);
    sk_free(cluster);
    return status;
}

static void test_heldmodel__survives_failed_allocations(void **state)
{
    (void)state;
    mixed *m = mixed_of(case_rows(ctx, 2, true));
    sock_set_threads(ctx, 1);
    assert_true(for_single_allocations(ctx, scores, m) > 20);
    mixed_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_a_model_is_the_shares_of_its_parts),
        cmocka_unit_test(prop_euler_score_is_the_sum_over_held_out_rows),
        cmocka_unit_test(prop_euler_score_of_long_folds),
        cmocka_unit_test(prop_moment_score_is_the_sum_over_held_out_rows),
        cmocka_unit_test(test_heldmodel__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
