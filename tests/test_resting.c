/* test_resting.c - data that are counted or rounded and rest between their moves: what the likelihood may resolve, what
 * a typical step is, and that a keeps the size of the residuals. */
#include "onecontext.h"
#include "systems/systems.h"
#include "tune/folds.h"

#include <jansson.h>

enum { PATHS = 8, POINTS = 26 };

/* Two coordinates: a random walk rounded to multiples of unit, at rest in most steps, and one of any real numbers
 * (still: at rest together with the first). unit 0: not rounded. */
static sk_row_sets rounded_walks(double unit, bool still)
{
    size_t length[PATHS], n = (size_t)PATHS * POINTS;
    double *t = calloc(n, sizeof *t), *x = calloc(2 * n, sizeof *x), z[2], sum[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        length[i / POINTS] = POINTS;
        t[i] = (double)(i % POINTS);
        sk_normals((sk_key){77, SK_PURPOSE_TEST}, i, 0, 0, 2, z);
        sum[0] += 0.3 * z[0];
        double before = i ? x[2 * (i - 1)] : 0;
        x[2 * i] = unit > 0 ? unit * rint(sum[0] / unit) : sum[0];
        if (!still || x[2 * i] != before) sum[1] += z[1];
        x[2 * i + 1] = sum[1];
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sk_tune_spec spec = {.data = data, .drift = "auto", .diffusion = "auto", .weighted = true};
    sk_row_sets sets = {0};
    if (sk_row_sets_new(ctx, &spec, 1000000, 1000000, &sets) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    free(t), free(x);
    return sets;
}

static void test_resting__unit_of_rounded_data_bounds_the_jitter(void **state)
{
    (void)state;
    for (int still = 0; still < 2; still++) {
        sk_row_sets sets = rounded_walks(0.5, still);
        const sk_view_spec *look = &sets.look;
        assert_close(look->resolution, 0.5 * 0.5 / 2, 1e-12, 1); /* the mean over both; the second has none */
        assert_true(look->eps >= look->resolution);
        sk_row_sets_clear(&sets);
    }
    sk_row_sets sets = rounded_walks(0, false);
    assert_true(sets.look.resolution == 0);
    sk_row_sets_clear(&sets);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Resting steps do not count: adding more of them leaves the middle of the others where it is. */
static void test_resting__middle_is_that_of_the_steps_that_move(void **state)
{
    (void)state;
    sk_row_sets sets = rounded_walks(1, true);
    sk_transitions *p = sets.all;
    double *value = calloc(p->n, sizeof *value), *moving = calloc(p->n, sizeof *moving), middle;
    size_t count = 0;
    for (size_t i = 0; i < p->n; i++) {
        value[i] = pow(p->next[2 * i] - p->y[2 * i], 2) + pow(p->next[2 * i + 1] - p->y[2 * i + 1], 2);
        assert_int_equal(sk_transitions_moves(p, i), value[i] > 0);
        if (value[i] > 0) moving[count++] = value[i];
    }
    assert_true(count > 0 && 2 * count < p->n); /* the plain median is zero */
    qsort(moving, count, sizeof *moving, ascending);
    assert_int_equal(sk_typical_value(ctx, p, 1, value, &middle), SOCK_OK);
    assert_true(middle == moving[count / 2]);
    memcpy(p->next, p->y, 2 * p->n * sizeof *p->y); /* none moves: all count, and 0 gives way to the largest */
    assert_int_equal(sk_typical_value(ctx, p, 1, value, &middle), SOCK_OK);
    assert_true(middle == moving[count - 1]);
    free(value), free(moving);
    sk_row_sets_clear(&sets);
}

/* sum |dy - h/2 (f + f')|^2 over sum tr h/2 (a + a'). */
static double calibration(const sock_data *data, const sock_model *model)
{
    size_t d = sock_data_dim(data);
    double squares = 0, traces = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        double *f = calloc(length * d, sizeof *f), *a = calloc(length * d * d, sizeof *a);
        assert_int_equal(sock_model_drift(ctx, model, length, x, f), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, length, x, a), SOCK_OK);
        for (size_t i = 0; i + 1 < length; i++)
            for (size_t k = 0; k < d; k++) {
                double half = (t[i + 1] - t[i]) / 2, dy = x[(i + 1) * d + k] - x[i * d + k];
                squares += pow(dy - half * (f[i * d + k] + f[(i + 1) * d + k]), 2);
                traces += half * (a[(i * d + k) * d + k] + a[((i + 1) * d + k) * d + k]);
            }
        free(f), free(a);
    }
    return squares / traces;
}

/* An epidemic of 200 people: half of the steps rest, and S + I + R = 1. A likelihood that resolves less than one person
 * makes a too small by half and more here. */
static void test_resting__epidemic_keeps_the_size_of_its_residuals(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        sys_instance *instance = NULL;
        sock_data *data = NULL;
        sock_model *model = NULL;
        sock_options *opts = sock_options_new(ctx);
        assert_int_equal(sys_new(ctx, sys_find("sir"), seed, &instance), SOCK_OK);
        assert_int_equal(sys_generate(ctx, instance, SYS_TRAIN, &data), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "drift", "poly:degree=2"), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "diffusion", "affine"), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "diagonal", "no"), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "lower", "none"), SOCK_OK); /* with bounds, ends do not count */
        if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
        double ratio = calibration(data, model), told;
        char *text = NULL;
        assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
        json_t *info = json_loads(text, 0, NULL);
        told = json_number_value(json_object_get(info, "calibration")); /* of held-out steps, conditional rule */
        assert_true(ratio > 0.8 && ratio < 1.2);
        assert_close(told, ratio, 0.1, 1);
        json_decref(info);
        sock_string_free(text);
        sock_model_free(model);
        sock_data_free(data);
        sock_options_free(opts);
        sys_free(instance);
    }
}

/* The jitter is told, in the units of the data, and with it sock_score counts as the fit says: held out or not makes
 * little difference for two numbers that are fitted to 800 steps. Where rounding is fitted as noise of measurement, the
 * fit's score is that of the filter, which sock_score has without a jitter. */
static void test_resting__jitter_is_told_and_score_agrees(void **state)
{
    (void)state;
    enum { STEPS = 800 };
    static double t[STEPS + 1], x[STEPS + 1];
    const size_t length = STEPS + 1;
    for (int turn = 0; turn < 4; turn++) {
        const int thousands = turn & 1, noisy = turn & 2; /* thousands: units that are scaled for the search */
        double z, sum = 0, size = thousands ? 1000 : 1;
        for (size_t i = 0; i <= STEPS; i++) {
            t[i] = 0.1 * (double)i;
            x[i] = size * 0.25 * rint(sum / 0.25);
            sk_normals((sk_key){78, SK_PURPOSE_TEST}, i, 0, 0, 1, &z);
            sum += -0.1 * sum + 0.3 * z;
        }
        sock_data *data = NULL;
        sock_model *model = NULL;
        sock_options *opts = sock_options_new(ctx);
        char *text = NULL, delta[40];
        sock_scores scores;
        sock_options_set(ctx, opts, "drift", "affine");
        sock_options_set(ctx, opts, "diffusion", "constant");
        if (!noisy) sock_options_set(ctx, opts, "noise", "none");
        assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
        assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
        json_t *info = json_loads(text, 0, NULL);
        assert_int_equal(json_is_true(json_object_get(json_object_get(info, "noise"), "used")), noisy != 0);
        const double jitter = json_number_value(json_array_get(json_object_get(info, "jitter"), 0));
        assert_close(json_number_value(json_array_get(json_object_get(info, "grain"), 0)), 0.25 * size, 1e-9, 0);
        assert_close(jitter, 0.0625 * size * size, 1e-9, 0);
        snprintf(delta, sizeof delta, "%.17g", jitter);
        sock_options_set(ctx, opts, "delta", delta);
        sock_options_set(ctx, opts, "mmd-paths", "0");
        assert_true(sock_score(ctx, model, data, NULL, NULL, opts, &scores) >= 0);
        const double steps = json_number_value(json_object_get(info, "steps"));
        assert_close(json_number_value(json_object_get(info, "score_loglik")) / steps, scores.loglik.value / STEPS,
                     0.02, 1);
        const double score = json_number_value(json_object_get(info, "score")) / steps;
        if (noisy)
            assert_close(score, scores.loglik_filter.value / STEPS, 0.02, 1);
        else
            assert_true(score < scores.loglik.value / STEPS - 0.1);
        json_decref(info);
        sock_string_free(text);
        sock_options_free(opts);
        sock_model_free(model);
        sock_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resting__unit_of_rounded_data_bounds_the_jitter),
        cmocka_unit_test(test_resting__middle_is_that_of_the_steps_that_move),
        cmocka_unit_test(test_resting__jitter_is_told_and_score_agrees),
        cmocka_unit_test(test_resting__epidemic_keeps_the_size_of_its_residuals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
