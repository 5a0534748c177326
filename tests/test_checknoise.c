/* test_checknoise.c - the check where observations have noise, steps are long, and wild steps are left out. */
#define _DEFAULT_SOURCE
#include "check/check.h"
#include "la/la.h"
#include "onecontext.h"
#include "score/filter.h"
#include "truths.h"
#include "tune/policy.h"

#include <math.h>

static const sk_key key = {6, SK_PURPOSE_TEST};

/* dx = -x dt + dW, observed with noise of variance R, every `gap`. */
enum { PATHS = 40, POINTS = 51 };

static void back(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void one(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] = 1;
}

static sock_model *with_noise(size_t d, double r)
{
    sock_model *model = wrap_fields(ctx, d, back, one, NULL);
    if (r > 0) model->structure->noise = sk_doubles(ctx, d, d);
    for (size_t k = 0; r > 0 && k < d; k++) model->structure->noise[k * (d + 1)] = r;
    return model;
}

/* Exact transitions. */
static sock_data *make_data(size_t d, uint64_t seed, double gap, double r)
{
    const size_t all = (size_t)PATHS * POINTS;
    double *t = calloc(all, sizeof *t), *x = calloc(all * d, sizeof *x), *z = calloc(2 * all * d, sizeof *z);
    size_t length[PATHS];
    const double slope = exp(-gap), sd = sqrt((1 - slope * slope) / 2);
    sk_normals(key, seed, 1, 0, 2 * all * d, z);
    for (size_t i = 0; i < all * d; i++) {
        const size_t point = i / d % POINTS;
        x[i] = point ? slope * x[i - d] + sd * z[i] : sqrt(0.5) * z[i];
        t[i / d] = gap * (double)point;
    }
    for (size_t i = 0; i < all * d; i++) x[i] += sqrt(r) * z[all * d + i];
    for (size_t j = 0; j < PATHS; j++) length[j] = POINTS;
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "grouping", "none"), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, d, PATHS, length, t, x, NULL, NULL, opts, &data), SOCK_OK);
    sock_options_free(opts);
    free(t);
    free(x);
    free(z);
    return data;
}

/* ---- Starts ---- */

/* Kalman's recursion in one dimension, by hand. */
static void test_starts__are_those_of_the_scalar_filter(void **state)
{
    (void)state;
    const double h = 0.05, r = 0.02, slope = exp(-h), q = (1 - slope * slope) / 2;
    sock_data *data = make_data(1, 1, h, r);
    sock_model *model = with_noise(1, r);
    sk_check_steps steps;
    sk_check_starts starts;
    assert_int_equal(sk_check_choose(ctx, data, NULL, 5000, &steps), SOCK_OK);
    assert_int_equal(sk_check_starts_new(ctx, model, data, &steps, &starts), SOCK_OK);
    double m = 0, p = 0, kept = 0;
    for (size_t i = 0; i < steps.count; i++) {
        const bool first = i % (POINTS - 1) == 0;
        if (first) {
            m = data->x[steps.from[i]];
            p = r;
        }
        assert_close(starts.m[i], m, 5e-4, 1);
        assert_close(starts.root[i], sqrt(p), 2e-3, 0);
        const double cov = slope * slope * p + q, s = cov + r, gain = cov / s;
        assert_close(starts.end[i], s, 2e-3, 0);
        assert_close(starts.kept[i], first ? 0 : slope * kept, 2e-3, 1);
        m = slope * m + gain * (data->x[steps.from[i] + 1] - slope * m);
        p = (1 - gain) * cov;
        kept = 1 - gain;
    }
    assert_close(starts.r[0], sqrt(r), 1e-14, 0);
    sk_check_starts_free(&starts);
    sk_check_steps_free(&steps);
    sock_model_free(model);
    sock_data_free(data);
}

/* Two states at once have the laws that each has alone. */
static void prop_starts__independent_states_do_not_meet(void **state)
{
    (void)state;
    sock_data *data = make_data(2, 2, 0.1, 0.05);
    sock_model *model = with_noise(2, 0.05);
    sk_check_steps steps;
    sk_check_starts starts;
    assert_int_equal(sk_check_choose(ctx, data, NULL, 5000, &steps), SOCK_OK);
    assert_int_equal(sk_check_starts_new(ctx, model, data, &steps, &starts), SOCK_OK);
    for (size_t i = 0; i < steps.count; i++) {
        assert_close(starts.root[4 * i + 2], 0, 1e-9, 1);
        assert_close(starts.root[4 * i + 3], starts.root[4 * i], 1e-9, 0);
        assert_close(starts.end[2 * i + 1], starts.end[2 * i], 1e-9, 0);
        assert_close(starts.kept[2 * i + 1], starts.kept[2 * i], 1e-9, 1);
    }
    sk_check_starts_free(&starts);
    sk_check_steps_free(&steps);
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Scores ---- */

typedef struct moments {
    double mean, square, lag, count;
} moments;

static moments moments_of(const sk_check_steps *steps, const sk_check_scores *scores)
{
    moments m = {0};
    for (size_t i = 0; i < steps->count; i++) {
        const double v = scores->v[i];
        m.mean += v;
        m.square += v * v;
        if (i && steps->piece[i] == steps->piece[i - 1]) m.lag += v * scores->v[i - 1];
    }
    m.count = (double)steps->count;
    m.mean /= m.count;
    m.square /= m.count;
    m.lag /= m.count;
    return m;
}

static moments score(const sock_model *model, const sock_data *data, size_t reach, sk_check_path path)
{
    const sk_check_spec spec = {.draws = 39, .seed = 4};
    sk_check_steps steps, runs;
    sk_check_starts starts = {0};
    sk_check_scores scores;
    assert_int_equal(sk_check_choose(ctx, data, NULL, 5000, &steps), SOCK_OK);
    if (model->structure->noise) {
        assert_int_equal(sk_check_starts_new(ctx, model, data, &steps, &starts), SOCK_OK);
        steps.starts = &starts;
    }
    assert_int_equal(sk_check_runs(ctx, &steps, reach, &runs), SOCK_OK);
    assert_int_equal(sk_check_ends(ctx, model, data, &runs, &spec, path, &scores), SOCK_OK);
    const moments m = moments_of(&runs, &scores);
    sk_check_scores_free(&scores);
    sk_check_starts_free(&starts);
    sk_check_steps_free(&runs);
    sk_check_steps_free(&steps);
    return m;
}

static void assert_white(moments m)
{
    assert_close(m.mean, 0, 4 / sqrt(m.count), 1);
    assert_close(m.square, 1, 4 * sqrt(2 / m.count), 1);
    assert_close(m.lag, 0, 4 / sqrt(m.count), 1);
}

/* Noise as large as a step, and long steps: over one step and over four. */
static void test_check__scores_of_a_true_model_with_noise_are_standard_normal(void **state)
{
    (void)state;
    const double gap[] = {0.05, 1};
    for (size_t i = 0; i < 2; i++) {
        const double r = gap[i] / 2;
        sock_data *data = make_data(1, 3 + i, gap[i], r);
        sock_model *knows = with_noise(1, r), *does_not = with_noise(1, 0);
        for (size_t reach = 1; reach <= 4; reach += 3)
            assert_white(score(knows, data, reach, sk_check_path_of(gap[i] * (double)reach, 4)));
        const moments m = score(does_not, data, 1, sk_check_path_of(gap[i], 4));
        assert_true(m.square > 1.5 && m.lag < -0.1);
        sock_model_free(knows);
        sock_model_free(does_not);
        sock_data_free(data);
    }
}

/* With h = 1 four steps of Euler's would make the variance a fifth too large. */
static void test_check__long_steps_are_followed_through(void **state)
{
    (void)state;
    sock_data *data = make_data(1, 5, 1, 0);
    sock_model *model = with_noise(1, 0);
    assert_white(score(model, data, 1, sk_check_path_of(1, 4)));
    assert_true(score(model, data, 1, (sk_check_path){4, false}).square < 0.9);
    sock_model_free(model);
    sock_data_free(data);
}

static void test_check__paths_are_as_fine_as_the_step_is_long(void **state)
{
    (void)state;
    sk_check_path p = sk_check_path_of(0.01, 4);
    assert_true(p.inner == 4 && !p.heun);
    p = sk_check_path_of(0.11, 4);
    assert_true(p.inner == 4 && p.heun);
    p = sk_check_path_of(1, 4);
    assert_true(p.inner == 8 && p.heun);
    p = sk_check_path_of(1e9, 12);
    assert_true(p.inner == 64 && p.heun);
    p = sk_check_path_of((double)NAN, 12);
    assert_true(p.inner == 12 && !p.heun);
}

/* ---- What was fitted ---- */

/* The column of a constant drift is what a change of its weight does to the predictions of the filter, each over its
 * standard deviation: by difference. */
static void prop_fitted__columns_follow_the_filter(void **state)
{
    (void)state;
    const double h = 0.05, r = 0.5, eps = 1e-4; /* more noise than there is: much is kept */
    sock_data *data = make_data(1, 6, h, 0.05);
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    const char *const given[][2] = {{"tune", "no"}, {"drift", "constant"}, {"diffusion", "constant"}};
    for (size_t i = 0; i < 3; i++) assert_int_equal(sock_options_set(ctx, opts, given[i][0], given[i][1]), SOCK_OK);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    model->structure->noise = sk_doubles(ctx, 1, 1);
    model->structure->noise[0] = r;
    sk_check_steps steps;
    sk_check_starts starts;
    sk_check_rows rows;
    sk_fitted fitted;
    assert_int_equal(sk_check_choose(ctx, data, NULL, 5000, &steps), SOCK_OK);
    assert_int_equal(sk_check_starts_new(ctx, model, data, &steps, &starts), SOCK_OK);
    steps.starts = &starts;
    assert_int_equal(sk_check_rows_new(ctx, model, data, &steps, &rows), SOCK_OK);
    assert_int_equal(sk_fitted_new(ctx, model, &rows, (double)NAN, &fitted), SOCK_OK);
    bool *used = calloc(steps.count, sizeof *used);
    double *z = NULL, *made = calloc(steps.count, sizeof *made), norm = 0, error = 0;
    size_t columns;
    for (size_t i = 0; i < steps.count; i++) used[i] = true;
    assert_int_equal(sk_fitted_mean(ctx, &fitted, &rows, 0, used, &z, &columns), SOCK_OK);
    assert_int_equal(columns, 1);

    sk_series series;
    sk_frame frame;
    assert_int_equal(sk_series_of_data(ctx, data, &series), SOCK_OK);
    assert_int_equal(sk_frame_new(ctx, &series, &frame), SOCK_OK);
    const sk_filter_spec spec = {model, &r, {{4, false}, frame.reach, frame.low, frame.high}, NULL};
    sk_drift_term *term = model->drift[0];
    for (int side = -1; side <= 1; side += 2) {
        sk_pass pass;
        assert_int_equal(sk_pass_new(ctx, &series, true, &pass), SOCK_OK);
        const size_t weights = term->map ? sk_features_count(term->map) : term->centres;
        for (size_t i = 0; i < weights; i++) term->weight[i] *= 1 + side * eps;
        assert_int_equal(sk_filter(ctx, &series, &spec, &pass), SOCK_OK);
        for (size_t i = 0; i < weights; i++) term->weight[i] /= 1 + side * eps;
        for (size_t i = 0; i < steps.count; i++) made[i] += side * pass.mean[i] / sqrt(rows.variance[i]);
        sk_pass_clear(&pass);
    }
    norm = sk_norm(steps.count, made);
    const double sign = sk_dot(steps.count, made, z) < 0 ? -1 : 1;
    for (size_t i = 0; i < steps.count; i++) error += pow(sign * made[i] / norm - z[i], 2);
    assert_close(sqrt(error), 0, 1e-4, 1);
    free(used);
    free(made);
    sk_free(z);
    sk_frame_clear(&frame);
    sk_series_clear(&series);
    sk_fitted_free(&fitted);
    sk_check_rows_free(&rows);
    sk_check_starts_free(&starts);
    sk_check_steps_free(&steps);
    sock_options_free(opts);
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Wild steps ---- */

static void test_check__a_step_left_out_ends_a_piece(void **state)
{
    (void)state;
    sock_data *data = make_data(1, 7, 0.1, 0);
    bool *skip = calloc(data->points, sizeof *skip);
    sk_check_steps steps, runs;
    skip[10] = skip[11] = skip[POINTS] = true;
    assert_int_equal(sk_check_choose(ctx, data, skip, 5000, &steps), SOCK_OK);
    assert_int_equal(steps.count, PATHS * (POINTS - 1) - 3);
    assert_true(steps.from[9] == 9 && steps.from[10] == 12 && steps.piece[9] != steps.piece[10]);
    assert_true(steps.from[47] == 49 && steps.piece[47] == steps.piece[10]);
    assert_true(steps.from[48] == POINTS + 1 && steps.piece[48] != steps.piece[47]);
    assert_int_equal(sk_check_runs(ctx, &steps, 4, &runs), SOCK_OK);
    for (size_t i = 0; i < runs.count; i++) {
        assert_int_equal(runs.from[i], steps.from[runs.single[i]]);
        assert_int_equal(steps.from[runs.single[i] + 3], runs.from[i] + 3);
    }
    sk_check_steps_free(&steps);
    sk_check_steps_free(&runs);
    sock_data_free(data);
    free(skip);
}

static sock_checks check(const sock_model *model, const sock_data *data)
{
    sock_checks checks;
    if (sock_check(ctx, model, data, NULL, &checks) < 0) fail_msg("%s", sock_message(ctx));
    return checks;
}

/* Two outliers: what a fit leaves out, the check does too, and says so. */
static void test_check__wild_steps_are_left_out_and_told(void **state)
{
    (void)state;
    sock_data *data = make_data(1, 8, 0.02, 0);
    sock_model *model = with_noise(1, 0);
    data->x[100] += 30;
    data->x[700] -= 30;
    const sock_checks c = check(model, data);
    assert_true(c.ok);
    assert_int_equal(c.steps, PATHS * (POINTS - 1) - 4);
    assert_non_null(strstr(c.verdict, "Left out: 4 wild steps."));
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Whole checks ---- */

static void test_check__noise_that_the_model_knows_is_no_objection(void **state)
{
    (void)state;
    sock_data *data = make_data(1, 9, 0.05, 0.03);
    sock_model *knows = with_noise(1, 0.03), *less = with_noise(1, 0.015);
    sock_checks c = check(knows, data);
    assert_true(c.ok);
    assert_string_equal(c.pattern, "none");
    c = check(less, data);
    assert_false(c.ok);
    assert_string_equal(c.pattern, "noise-more");
    sock_model_free(knows);
    sock_model_free(less);
    sock_data_free(data);
}

typedef struct given {
    const sock_model *model;
    const sock_data *data;
} given;

static sock_status check_given(sock_context *context, void *arg)
{
    const given *g = arg;
    sock_checks c;
    return sock_check(context, g->model, g->data, NULL, &c);
}

static void test_check__out_of_memory_with_noise_leaves_nothing(void **state)
{
    (void)state;
    sock_data *data = make_data(1, 10, 0.05, 0.03);
    sock_model *model = with_noise(1, 0.03);
    given g = {model, data};
    data->trajectories = 2; /* for speed */
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    assert_true(for_each_allocation(ctx, check_given, &g) > 30);
    data->trajectories = PATHS;
    sock_model_free(model);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts__are_those_of_the_scalar_filter),
        cmocka_unit_test(prop_starts__independent_states_do_not_meet),
        cmocka_unit_test(test_check__scores_of_a_true_model_with_noise_are_standard_normal),
        cmocka_unit_test(test_check__long_steps_are_followed_through),
        cmocka_unit_test(test_check__paths_are_as_fine_as_the_step_is_long),
        cmocka_unit_test(prop_fitted__columns_follow_the_filter),
        cmocka_unit_test(test_check__a_step_left_out_ends_a_piece),
        cmocka_unit_test(test_check__wild_steps_are_left_out_and_told),
        cmocka_unit_test(test_check__noise_that_the_model_knows_is_no_objection),
        cmocka_unit_test(test_check__out_of_memory_with_noise_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
