/* test_smalldata.c - tuned fits to few and irregular steps, judged by many others of the same process beside constant
 * coefficients; and the held-out Euler likelihood that protects them, against everything written out. */
#include "tune/heldmodel.h"
#include "tunecases.h"
#include "tunefits.h"

/* ---- The Euler likelihood of held-out steps ---- */

static sk_drift_result *some_drift(const sk_problem *p)
{
    sk_drift_candidate candidate = {.name = sk_strdup(ctx, "affine"), .kernel = case_kernel(ctx, "affine")};
    sk_drift_result *r = NULL;
    if (sk_drift_cross_validate(ctx, p, &candidate, p->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_drift_candidate_clear(&candidate);
    return r;
}

static sk_diffusion_result *some_diffusion(const sk_problem *p, const sk_drift_result *f, const char *kernel)
{
    static const double l = 1e-4;
    sk_diffusion_candidate candidate = {.name = sk_strdup(ctx, kernel), .kernel = case_kernel(ctx, kernel)};
    double *e = sk_doubles(ctx, p->folds + 1, p->n * p->d);
    for (size_t k = 0; k <= p->folds; k++) sk_drift_residuals(ctx, p, f, k, e + k * p->n * p->d);
    sk_leftover leftover = {.e = e};
    sk_diffusion_options options = {p->folds, &l, 1, 1e-8, true};
    sk_diffusion_result *r = NULL;
    if (sk_diffusion_cross_validate(ctx, p, &candidate, &leftover, &options, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_diffusion_candidate_clear(&candidate);
    sk_free(e);
    return r;
}

/* I a of step i under the fit without its fold, at the left point: h (share sum + floor). */
static void left_point(const sk_problem *p, size_t i, const sk_held_model *m, double floor, double *out)
{
    size_t d = p->d;
    for (size_t k = 0; k < d * d; k++) out[k] = k % (d + 1) ? 0 : p->steps->h[i] * floor;
    for (size_t part = 0; part < m->parts; part++) {
        sk_diffusion_term *term = NULL;
        double *one = sk_doubles(ctx, p->n, d * d);
        assert_int_equal(sk_diffusion_result_term(ctx, m->diffusion[part], p->fold[i], d, m->share[part], &term),
                         SOCK_OK);
        assert_int_equal(sk_integrate_term(ctx, p, term, i, i + 1, one), SOCK_OK);
        for (size_t k = 0; k < d * d; k++) out[k] += one[i * d * d + k];
        sk_diffusion_term_free(term);
        sk_free(one);
    }
}

/* With the rule of the left point and F = 1, the score of the search is the Euler likelihood. */
static void prop_euler_score_is_the_left_point_without_the_fold(void **state)
{
    (void)state;
    static const double share[] = {0.3, 0.7}, floor[] = {0, 0.05};
    for (size_t d = 1; d <= 3; d++) {
        sk_problem *p = case_problem(ctx, d, d == 2);
        assert_int_equal(sk_problem_condition(ctx, p, NULL, false, false), SOCK_OK);
        sk_drift_result *f = some_drift(p);
        sk_diffusion_result *a[] = {some_diffusion(p, f, "constant"), some_diffusion(p, f, "affine")};
        sk_held_model model = {1, &f, NULL, 2, a, share};
        double score[2], *cluster = sk_doubles(ctx, 2, p->clusters), *e = sk_doubles(ctx, p->n, d);
        assert_int_equal(sk_euler_score(ctx, p, &model, 2, floor, score, cluster), SOCK_OK);
        for (size_t g = 0; g < 2; g++) {
            double total = 0, clusters = 0;
            for (size_t i = 0; i < p->n; i++) {
                double integral[64];
                if (p->fold[i] == SK_ALWAYS) continue;
                sk_drift_residuals(ctx, p, f, p->fold[i], e);
                left_point(p, i, &model, floor[g], integral);
                total += dense_score(p, i, e + i * d, integral);
            }
            for (size_t u = 0; u < p->clusters; u++) clusters += cluster[g * p->clusters + u];
            assert_close(score[g], total, 1e-9, fabs(total));
            assert_close(clusters, score[g], 1e-12, fabs(total));
        }
        sk_drift_result_free(f);
        sk_diffusion_result_free(a[0]), sk_diffusion_result_free(a[1]);
        sk_free(cluster), sk_free(e);
        sk_problem_free(p);
    }
}

static void test_smalldata__needed_gain_grows_with_trials_and_errors(void **state)
{
    (void)state;
    assert_close(sk_needed_gain(1, 100), log(100), 1e-15, 1);
    assert_close(sk_needed_gain(7, 100), 7, 1e-15, 1);
    assert_true(sk_needed_gain(0, 1) == 0);
    /* ten rows: the error counts up to 50 nats; many rows: up to two */
    assert_true(sk_drift_allowance(40, 1, 10) == 40 && sk_drift_allowance(60, 1, 10) == 50);
    assert_true(sk_drift_allowance(40, 1, 1000) == 2);
}

/* ---- The model of shares ---- */

static sk_drift_result *drift_of(const sk_problem *p, const char *kernel)
{
    sk_drift_candidate candidate = {.name = sk_strdup(ctx, kernel), .kernel = case_kernel(ctx, kernel), .max_rank = 20};
    sk_drift_result *r = NULL;
    if (sk_drift_cross_validate(ctx, p, &candidate, p->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_drift_candidate_clear(&candidate);
    return r;
}

/* f (count x d) of drifts with shares, from the fit without fold `fold`. */
static void fields_of(const sk_problem *p, size_t drifts, sk_drift_result *const *f, const double *share, size_t fold,
                      size_t count, const double *x, double *out)
{
    const sk_held_model held = {.drifts = drifts, .drift = f, .drift_share = share};
    sock_model *model = NULL;
    assert_int_equal(sk_held_model_without(ctx, p, &held, fold, NULL, &model), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, model, count, x, out, NULL), SOCK_OK);
    sock_model_free(model);
}

/* The drift of an average is the average of the drifts at any point, whatever their order, without any fold; a drift
 * with share 0 need not be there. */
static void prop_drift_of_shares_is_the_weighted_sum(void **state)
{
    (void)state;
    enum { PARTS = 3, POINTS = 7 };
    static const double share[PARTS + 1] = {0.2, 0.5, 0.3, 0}, turned[PARTS] = {0.3, 0.2, 0.5};
    for (size_t d = 1; d <= 2; d++) {
        sk_problem *p = case_problem(ctx, d, false);
        assert_int_equal(sk_problem_condition(ctx, p, NULL, false, false), SOCK_OK);
        sk_drift_result *f[PARTS + 1] = {drift_of(p, "affine"), drift_of(p, "poly:degree=3"),
                                         drift_of(p, "gauss:eta=1.5"), NULL};
        sk_drift_result *other[PARTS] = {f[2], f[0], f[1]};
        double x[POINTS * 2], one[POINTS * 2], sum[POINTS * 2], all[POINTS * 2];
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, 60, d, 0, POINTS * d, x);
        for (size_t fold = 0; fold <= p->folds; fold++) {
            memset(sum, 0, sizeof sum);
            for (size_t part = 0; part < PARTS; part++) {
                fields_of(p, 1, &f[part], NULL, fold, POINTS, x, one);
                for (size_t i = 0; i < POINTS * d; i++) sum[i] += share[part] * one[i];
            }
            fields_of(p, PARTS + 1, f, share, fold, POINTS, x, all);
            for (size_t i = 0; i < POINTS * d; i++) assert_close(all[i], sum[i], 1e-12, 1 + fabs(sum[i]));
            fields_of(p, PARTS, other, turned, fold, POINTS, x, all);
            for (size_t i = 0; i < POINTS * d; i++) assert_close(all[i], sum[i], 1e-12, 1 + fabs(sum[i]));
        }
        for (size_t part = 0; part < PARTS; part++) sk_drift_result_free(f[part]);
        sk_problem_free(p);
    }
}

/* ---- Few steps ---- */

typedef enum process { RELAX, DRIFTING, GROWTH, MESSY } process;

/* One short Euler step. */
static void advance(process kind, double h, const double *z, double *x)
{
    double root = sqrt(h), x0 = x[0];
    if (kind == RELAX) x[0] += -1.5 * x0 * h + 0.5 * root * z[0];
    if (kind == DRIFTING) x[0] += 0.3 * h + 0.5 * root * z[0];
    if (kind == GROWTH) x[0] += 0.3 * x0 * h + 0.4 * x0 * root * z[0];
    if (kind != MESSY) return;
    x[0] += -x0 * h + 0.3 * root * z[0];
    x[1] += (x0 - x[1]) * h + 0.2 * fabs(x[1]) * root * z[1];
}

/* Trajectories of 1 to `longest` steps, each 0.01 to 0.7 long (0.05 to 0.15 for the growth). */
static sock_data *short_paths(process kind, size_t trajectories, size_t longest, uint64_t seed)
{
    enum { INNER = 20 };
    size_t d = kind == MESSY ? 2 : 1, points = 0, *length = calloc(trajectories, sizeof *length);
    double *t = calloc(trajectories * (longest + 1), sizeof *t),
           *x = calloc(trajectories * (longest + 1) * d, sizeof *x);
    sk_key key = {seed, SK_PURPOSE_TEST};
    sock_data *data = NULL;
    for (size_t j = 0; j < trajectories; j++) {
        double u[2], z[2 * INNER], now[2];
        sk_uniforms(key, 50, j, 0, 1, u);
        sk_normals(key, 51, j, 0, 2, now);
        length[j] = 2 + (size_t)(u[0] * (double)longest);
        if (kind == GROWTH) now[0] = exp(0.5 * now[0]);
        if (kind == MESSY) now[0] = 1 + 0.5 * now[0], now[1] *= 0.5;
        for (size_t i = 0; i < length[j]; i++, points++) {
            sk_uniforms(key, 52, j, 2 * i, 2, u);
            sk_normals(key, 53, j, 2 * INNER * i, 2 * INNER, z);
            double h = kind == GROWTH ? 0.05 + 0.1 * u[0] : 0.01 + u[1] * (u[0] < 0.3 ? 0.1 : u[0] < 0.6 ? 0.25 : 0.7);
            memcpy(x + points * d, now, d * sizeof *x);
            if (i + 1 < length[j]) t[points + 1] = t[points] + h;
            for (int k = 0; k < INNER; k++) advance(kind, h / INNER, z + 2 * k, now);
        }
    }
    if (sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    free(length), free(t), free(x);
    return data;
}

/* Nats a step and dimension that the default gains over constant coefficients on 200 other trajectories. */
static double gain(process kind, size_t trajectories, size_t longest, uint64_t seed)
{
    static const char *const constant[] = {"drift", "constant", "diffusion", "constant", NULL};
    static const char *const no_paths[] = {"mmd-paths", "0", NULL};
    sock_data *train = short_paths(kind, trajectories, longest, seed);
    sock_data *test = short_paths(kind, 200, longest, seed + 1000);
    double value[2];
    for (int plain = 0; plain < 2; plain++) {
        sock_model *model = fit(train, plain ? constant : NULL);
        sock_options *opts = options(no_paths);
        sock_scores score;
        if (sock_score(ctx, model, test, NULL, NULL, opts, &score) < 0) fail_msg("%s", sock_message(ctx));
        value[plain] = log(score.perplexity_raw.value);
        sock_options_free(opts);
        sock_model_free(model);
    }
    sock_data_free(train);
    sock_data_free(test);
    return value[1] - value[0];
}

enum { SEEDS = 2 };

/* The mean over data sets, none of which may lose more than three per cent. */
static double mean_gain(process kind, size_t trajectories, size_t longest)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double one = gain(kind, trajectories, longest, seed);
        if (!(one > -0.03)) fail_msg("seed %d loses %g nats a step", (int)seed, -one);
        sum += one / SEEDS;
    }
    return sum;
}

/* Steps so long that the Euler likelihood of the truth itself is useless where y is near 0, and some 90 of them. */
static void test_smalldata__messy_paths_beat_constant_coefficients(void **state)
{
    (void)state;
    assert_true(mean_gain(MESSY, 20, 8) > 0.1);
}

/* 40 steps: the pull to the middle is found, and no polynomial that leaves the range of the data with it. */
static void test_smalldata__relaxation_is_learnt_from_few_steps(void **state)
{
    (void)state;
    assert_true(mean_gain(RELAX, 12, 6) > 0.05);
}

static void test_smalldata__constant_coefficients_stay_constant(void **state)
{
    (void)state;
    assert_true(fabs(mean_gain(DRIFTING, 12, 7)) < 0.03);
}

/* 600 exact steps of 0.2 to 2 units of time from dx = (2 - x) dt + 0.7 dW: within the long ones the state comes home,
 * so that an Euler step with the true drift overshoots and constants have the higher Euler likelihood. The pull is
 * found nevertheless; its standard error is about 0.07. */
static void test_smalldata__a_pull_within_long_steps_is_learnt(void **state)
{
    (void)state;
    enum { PATHS = 30, EACH = 20, POINTS = PATHS * (EACH + 1) };
    sk_key key = {3, SK_PURPOSE_TEST};
    size_t length[PATHS];
    double t[POINTS], x[POINTS], h[POINTS], z[POINTS], f[2], at[2] = {1.5, 2.5};
    sk_uniforms(key, 72, 0, 0, POINTS, h);
    sk_normals(key, 73, 0, 0, POINTS, z);
    for (size_t i = 0; i < POINTS; i++) {
        h[i] = 0.2 + 1.8 * h[i];
        const bool begins = i % (EACH + 1) == 0;
        const double decay = begins ? 0 : exp(-h[i]);
        t[i] = begins ? 0 : t[i - 1] + h[i];
        x[i] = 2 + (begins ? 0 : (x[i - 1] - 2) * decay) + 0.7 * sqrt((1 - decay * decay) / 2) * z[i];
    }
    for (size_t j = 0; j < PATHS; j++) length[j] = EACH + 1;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_model *model = fit(data, NULL);
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    assert_close(f[1] - f[0], -1, 0.3, 1);
    sock_model_free(model);
    sock_data_free(data);
}

/* 200 steps of 0.02 to 2 units of time each from x' = 0.3 + 0.5 noise: the constants are those of the highest
 * likelihood, a = mean (dy - h f)^2 / h, and not those of least squares, which look at the long steps. */
static void test_smalldata__constants_have_the_highest_likelihood(void **state)
{
    (void)state;
    enum { PATHS = 40, EACH = 5, POINTS = PATHS * (EACH + 1) };
    sk_key key = {3, SK_PURPOSE_TEST};
    size_t length[PATHS];
    double t[POINTS], x[POINTS], h[POINTS], z[POINTS], f, a;
    sk_uniforms(key, 70, 0, 0, POINTS, h);
    sk_normals(key, 71, 0, 0, POINTS, z);
    for (size_t i = 0; i < POINTS; i++) {
        h[i] = 0.02 * pow(100, h[i]);
        t[i] = i % (EACH + 1) ? t[i - 1] + h[i] : 0;
        x[i] = i % (EACH + 1) ? x[i - 1] + 0.3 * h[i] + 0.5 * sqrt(h[i]) * z[i] : 0;
    }
    for (size_t j = 0; j < PATHS; j++) length[j] = EACH + 1;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_model *model = fit(data, NULL);
    double origin = 0, likely = 0, squares = 0, times = 0;
    assert_int_equal(sk_model_evaluate(ctx, model, 1, &origin, &f, &a), SOCK_OK);
    for (size_t i = 0; i < POINTS; i++) {
        double e = i % (EACH + 1) ? x[i] - x[i - 1] - h[i] * f : 0;
        likely += e * e / h[i] / (PATHS * EACH);
        squares += h[i] * e * e;
        times += i % (EACH + 1) ? h[i] * h[i] : 0;
    }
    assert_close(a, likely, 2e-3, likely);
    assert_true(fabs(squares / times - likely) > 0.02 * likely); /* least squares is another number */
    sock_model_free(model);
    sock_data_free(data);
}

/* 200 steps show noise in proportion to the state. */
static void test_smalldata__growing_noise_is_learnt(void **state)
{
    (void)state;
    assert_true(mean_gain(GROWTH, 30, 12) > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_euler_score_is_the_left_point_without_the_fold),
        cmocka_unit_test(prop_drift_of_shares_is_the_weighted_sum),
        cmocka_unit_test(test_smalldata__constants_have_the_highest_likelihood),
        cmocka_unit_test(test_smalldata__needed_gain_grows_with_trials_and_errors),
        cmocka_unit_test(test_smalldata__messy_paths_beat_constant_coefficients),
        cmocka_unit_test(test_smalldata__relaxation_is_learnt_from_few_steps),
        cmocka_unit_test(test_smalldata__a_pull_within_long_steps_is_learnt),
        cmocka_unit_test(test_smalldata__constant_coefficients_stay_constant),
        cmocka_unit_test(test_smalldata__growing_noise_is_learnt),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
