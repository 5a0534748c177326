/* test_neuraltrain.c - the neural rivals from the outside: training, tuning, paths, and their rows in a comparison. */
#include "compare/compare.h"
#include "compare/neural/neural.h"
#include "onecontext.h"
#include "truths.h"

static sock_data *generate(const char *system, sys_set set, size_t trajectories)
{
    sys_instance *instance = NULL;
    sock_data *data = NULL;
    assert_int_equal(sys_new(ctx, sys_find(system), 4, &instance), SOCK_OK);
    instance->trajectories[set] = trajectories;
    assert_int_equal(sys_generate(ctx, instance, set, &data), SOCK_OK);
    sys_free(instance);
    return data;
}

static nn_settings small(nn_kind kind, size_t epochs)
{
    nn_settings s = nn_default_settings(kind);
    s.width = 8;
    s.epochs = epochs;
    s.step = 0.2;
    return s;
}

static nn_model *train(const nn_settings *settings, const sock_data *data)
{
    nn_model *model = NULL;
    if (nn_train(ctx, settings, data, &model) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    return model;
}

/* ---- Training ---- */

static void test_train__loss_falls_on_a_fixed_seed(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 20);
    for (int kind = 0; kind < NN_KINDS; kind++) {
        nn_settings s = small((nn_kind)kind, 120);
        nn_model *model = train(&s, data);
        double begin = 0, end = 0;
        for (size_t i = 0; i < 10; i++) begin += model->loss[i], end += model->loss[s.epochs - 1 - i];
        assert_int_equal(model->diverged, 0);
        assert_true(end < begin / 3);
        nn_model_free(model);
    }
    sock_data_free(data);
}

/* On equal steps the data's own times are the unit times; on others they are not. */
static void test_train__own_times_are_unit_times_on_equal_steps(void **state)
{
    (void)state;
    const size_t length[3] = {4, 3, 4};
    const double t[11] = {0, 2, 4, 6, 1, 1.5, 6, 0, 1, 2, 6}, x[11] = {1, 2, 2, 3, 0, 1, 2, 1, 0, 1, 0};
    sock_data *equal = generate("expdyn", SYS_TRAIN, 6), *other = NULL;
    assert_true(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, NULL, NULL, &other) >= 0);
    for (int which = 0; which < 2; which++) {
        nn_settings s = small(NN_LNSDE, 5);
        nn_model *unit = train(&s, which ? other : equal);
        s.times = NN_TIMES_OWN;
        nn_model *own = train(&s, which ? other : equal);
        if (which)
            assert_true(fabs(unit->loss[4] - own->loss[4]) > 1e-6);
        else
            assert_all_close(unit->parameters, own->theta, unit->theta, 1e-9);
        nn_model_free(unit);
        nn_model_free(own);
    }
    sock_data_free(other);
    sock_data_free(equal);
}

static void test_train__bad_settings_are_refused(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 3), *points = NULL;
    const size_t length[2] = {1, 1};
    const double t[2] = {0, 0}, x[2] = {1, 2};
    nn_model *model = NULL;
    nn_settings s = small(NN_SDE, 0);
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_EUSAGE);
    s = small(NN_SDE, 1), s.width = 0;
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "width is 0; allowed: 1 to 1024"));
    s = small(NN_SDE, 1), s.layers = 9;
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_EUSAGE);
    s = small(NN_SDE, 1), s.rate = NAN;
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_EUSAGE);
    s = small(NN_SDE, 1), s.step = 0;
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_EUSAGE);
    s = small(NN_SDE, 1);
    if (sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &points) >= 0)
        assert_int_equal(nn_train(ctx, &s, points, &model), SOCK_EINPUT);
    assert_null(model);
    sock_data_free(points);
    sock_data_free(data);
}

static void test_train__divergence_names_the_epoch(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 10);
    nn_settings s = small(NN_GSDE, 5);
    s.rate = 1e200; /* one batch an epoch: the first step is the last */
    nn_model *model = train(&s, data);
    assert_int_equal(model->diverged, 2);
    assert_true(model->loss[0] > 0 && model->loss[1] == 0);
    nn_model_free(model);
    sock_data_free(data);
}

static int stop_later(void *user, const char *stage, double fraction)
{
    int *left = user;
    assert_true(fraction <= 1 && stage[0]);
    return --*left <= 0;
}

static void test_train__can_be_stopped(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 10);
    nn_settings s = small(NN_SDE, 1000000);
    nn_model *model = NULL;
    const size_t width[2] = {4, 8}, layers[2] = {1, 1};
    nn_grid grid = {.count = 2, .width = width, .layers = layers};
    int left = 5;
    sock_set_monitor(ctx, stop_later, &left);
    assert_int_equal(nn_train(ctx, &s, data, &model), SOCK_ECANCELLED);
    sock_cancel_reset(ctx);
    left = 5;
    assert_int_equal(nn_tune(ctx, &s, data, data, NULL, &grid, &model), SOCK_ECANCELLED);
    sock_cancel_reset(ctx);
    sock_set_monitor(ctx, NULL, NULL);
    assert_null(model);
    sock_data_free(data);
}

/* ---- Paths and tuning ---- */

static void test_paths__do_not_depend_on_their_number(void **state)
{
    (void)state;
    enum { T = 11 };
    sock_data *data = generate("expdyn", SYS_TRAIN, 10);
    nn_settings s = small(NN_LSDE, 3);
    nn_model *model = train(&s, data);
    const double *t, *x;
    const size_t member = 0;
    double few[3 * T], many[40 * T];
    assert_int_equal(sock_data_trajectory(data, 0, &t, &x), T);
    nn_source source = {ctx, model, data};
    sock_path_request q = {.start = 2, .seed = 5, .d = 1, .paths = 3, .x0 = x, .times = T, .t = t, .members = 1};
    q.member = &member;
    assert_int_equal(nn_paths(&source, &q, few), SOCK_OK);
    q.paths = 40;
    assert_int_equal(nn_paths(&source, &q, many), SOCK_OK);
    assert_all_close(3 * T, few, many, 1e-12);
    assert_true(fabs(many[T - 1] - many[2 * T - 1]) > 1e-6); /* paths differ */
    q.seed = 6, q.paths = 3;
    assert_int_equal(nn_paths(&source, &q, few), SOCK_OK);
    assert_true(fabs(many[T - 1] - few[T - 1]) > 1e-6); /* and so do seeds */
    const double far[2] = {0, 1e9};
    model->settings.times = NN_TIMES_OWN;
    q.times = 2, q.t = far;
    assert_int_equal(nn_paths(&source, &q, few), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "need more than 1000000 steps"));
    nn_model_free(model);
    sock_data_free(data);
}

static double mmd2_of(const nn_model *model, const sock_data *test, const sock_data *data, const sock_options *opts)
{
    sock_scores scores;
    nn_source source = {ctx, model, test};
    assert_int_equal(sock_score_paths(ctx, nn_paths, &source, test, data, NULL, opts, &scores), SOCK_OK);
    assert_true(scores.mmd2.valid && !scores.re_f.valid && !scores.perplexity.valid);
    return scores.mmd2.value;
}

static void test_tune__keeps_the_least_mmd(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 12), *validation = generate("expdyn", SYS_VALIDATION, 4);
    sock_options *opts = sock_options_new(ctx);
    const size_t width[4] = {2, 12, 6, 6}, layers[4] = {1, 1, 1, 2};
    double mmd2[4], least = INFINITY;
    nn_grid grid = {.count = 4, .width = width, .layers = layers, .mmd2 = mmd2};
    nn_settings s = small(NN_SDE, 60);
    nn_model *best = NULL;
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "30"), SOCK_OK);
    assert_int_equal(nn_tune(ctx, &s, data, validation, opts, &grid, &best), SOCK_OK);
    for (size_t i = 0; i < 4; i++) {
        s.width = width[i], s.layers = layers[i];
        nn_model *alone = train(&s, data);
        assert_close(mmd2[i], mmd2_of(alone, validation, data, opts), 1e-9, 1);
        nn_model_free(alone);
        least = fmin(least, mmd2[i]);
    }
    assert_close(mmd2_of(best, validation, data, opts), least, 1e-9, 1);
    nn_model_free(best);
    sock_options_free(opts);
    sock_data_free(validation);
    sock_data_free(data);
}

/* The observed path as control knows what it is asked to predict: it beats the truth itself. */
static void test_paths__control_by_the_test_path_is_a_leak(void **state)
{
    (void)state;
    truth gbm = truth_of(ctx, "gbm");
    sock_data *data = NULL, *test = NULL;
    sock_options *opts = sock_options_new(ctx);
    sock_scores scores;
    gbm.instance->trajectories[SYS_TRAIN] = 40;
    gbm.instance->trajectories[SYS_TEST] = 8;
    assert_int_equal(sys_generate(ctx, gbm.instance, SYS_TRAIN, &data), SOCK_OK);
    assert_int_equal(sys_generate(ctx, gbm.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "40"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.01"), SOCK_OK);
    assert_int_equal(sock_score(ctx, gbm.model, test, data, NULL, opts, &scores), SOCK_OK);
    for (int control = 0; control < 3; control++) {
        nn_settings s = small(NN_LSDE, 300);
        s.control = (nn_control)control;
        s.width = 16;
        s.step = 0.1;
        s.rate = 3e-3;
        nn_model *model = train(&s, data);
        const double mmd2 = mmd2_of(model, test, data, opts);
        if (control == NN_CONTROL_PATH)
            assert_true(mmd2 < scores.mmd2.value / 2);
        else
            assert_true(mmd2 > scores.mmd2.value);
        nn_model_free(model);
    }
    sock_options_free(opts);
    sock_data_free(test);
    sock_data_free(data);
    truth_free(gbm);
}

/* Standard deviation of the last state over the paths. */
static double spread(size_t paths, size_t times, const double *x)
{
    double mean = 0, square = 0;
    for (size_t p = 0; p < paths; p++) mean += x[p * times + times - 1] / (double)paths;
    for (size_t p = 0; p < paths; p++) square += pow(x[p * times + times - 1] - mean, 2) / (double)paths;
    return sqrt(square);
}

/* The squared error of one path each is least without noise: the paths are far thinner than the truth's. */
static void test_paths__the_squared_error_takes_the_noise_away(void **state)
{
    (void)state;
    enum { P = 200, T = 11 };
    static double model_paths[P * T], true_paths[P * T];
    truth exponential = truth_of(ctx, "expdyn");
    sock_data *data = generate("expdyn", SYS_TRAIN, 40);
    const double start = 0.1, t[T] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    const size_t member = 0;
    sock_simulation spec = {.starts = 1, .x0 = &start, .paths = P, .times = T, .t = t, .step = 0.01};
    sock_path_request q = {.d = 1, .paths = P, .x0 = &start, .times = T, .t = t, .members = 1, .member = &member};
    assert_int_equal(sock_simulate(ctx, exponential.model, &spec, true_paths, NULL, NULL), SOCK_OK);
    for (int kind = 0; kind < NN_KINDS; kind++) {
        nn_settings s = small((nn_kind)kind, 200);
        s.width = 16;
        s.rate = 3e-3;
        nn_model *model = train(&s, data);
        nn_source source = {ctx, model, data};
        assert_int_equal(nn_paths(&source, &q, model_paths), SOCK_OK);
        assert_true(spread(P, T, model_paths) < 0.5 * spread(P, T, true_paths));
        nn_model_free(model);
    }
    sock_data_free(data);
    truth_free(exponential);
}

/* ---- Rows of a comparison ---- */

static void run_row(const char *text, const cmp_case *c, cmp_row *row)
{
    cmp_spec spec;
    cmp_row rows[CMP_MOST_ROWS];
    size_t count = 0;
    if (cmp_spec_parse(ctx, text, &spec) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    assert_int_equal(cmp_run(ctx, &spec, c, rows, &count), SOCK_OK);
    assert_int_equal(count, 1);
    *row = rows[0];
}

static void test_rows__are_scored_by_their_paths(void **state)
{
    (void)state;
    static cmp_row row;
    sock_data *data = generate("expdyn", SYS_TRAIN, 12), *other = generate("expdyn", SYS_TEST, 4);
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "20"), SOCK_OK);
    cmp_case c = {.train = data, .validation = other, .test = other, .options = opts};
    run_row("gsde:epochs=4,width=5,step=0.2", &c, &row); /* layers are left open */
    assert_true(row.made && row.scores.mmd2.valid && !row.scores.re_f.valid && row.wall_seconds > 0);
    assert_non_null(strstr(row.settings, "width 5, layers "));
    assert_non_null(strstr(row.settings, "by validation MMD"));
    assert_non_null(strstr(row.kernels, "of 2 candidates"));
    assert_string_equal(row.note, "");
    run_row("lsde:epochs=2,width=4,layers=1,step=0.2,control=path", &c, &row);
    assert_true(row.made && row.scores.mmd2.valid && row.leaks);
    assert_non_null(strstr(row.note, "LEAK"));
    assert_non_null(strstr(row.kernels, "LEAK"));
    c.validation = NULL;
    run_row("neural-sde:epochs=2,step=0.5", &c, &row);
    assert_non_null(strstr(row.settings, "width 32, layers 1, 7585 parameters"));
    assert_false(row.leaks);
    sock_options_free(opts);
    sock_data_free(other);
    sock_data_free(data);
}

/* Seeds are numbers, however they are written. */
static void test_rows__the_seed_is_that_of_the_options(void **state)
{
    (void)state;
    static cmp_row row;
    static const char *const seeds[3] = {"10", "1e1", "1"};
    sock_data *data = generate("expdyn", SYS_TRAIN, 6);
    double mmd2[3];
    for (int i = 0; i < 3; i++) {
        sock_options *opts = sock_options_new(ctx);
        assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "5"), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "seed", seeds[i]), SOCK_OK);
        const cmp_case c = {.train = data, .test = data, .options = opts};
        run_row("neural-sde:epochs=2,width=4,layers=1,step=0.5", &c, &row);
        mmd2[i] = row.scores.mmd2.value;
        sock_options_free(opts);
    }
    assert_close(mmd2[1], mmd2[0], 1e-12, 0);
    assert_true(fabs(mmd2[2] - mmd2[0]) > 1e-9);
    sock_data_free(data);
}

static void test_rows__a_divergence_is_no_score(void **state)
{
    (void)state;
    static cmp_row row;
    const size_t length[2] = {2, 2};
    const double t[4] = {0, 1, 0, 1}, x[4] = {1, 1e200, 2, 3};
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data) >= 0);
    cmp_case c = {.train = data, .validation = data, .test = data};
    run_row("lnsde:width=4,step=0.5", &c, &row);
    assert_int_equal(row.status, SOCK_PARTIAL);
    assert_true(row.made && !row.scores.mmd2.valid);
    assert_non_null(strstr(row.scores.mmd2.reason, "lnsde diverged in epoch 1 of 200"));
    sock_data_free(data);
}

static sock_status tune_once(sock_context *c, void *arg)
{
    const sock_data *data = arg;
    const size_t width[2] = {2, 3}, layers[2] = {1, 2};
    nn_grid grid = {.count = 2, .width = width, .layers = layers};
    nn_settings s = small(NN_GSDE, 1);
    nn_model *model = NULL;
    sock_options *opts = sock_options_new(c);
    sock_status status = opts ? sock_options_set(c, opts, "mmd-paths", "2") : SOCK_ENOMEM;
    s.control = NN_CONTROL_PATH;
    if (status >= 0) status = nn_tune(c, &s, data, data, opts, &grid, &model);
    nn_model_free(model);
    sock_options_free(opts);
    return status;
}

static void test_tune__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = generate("expdyn", SYS_TRAIN, 3);
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    assert_true(for_each_allocation(ctx, tune_once, data) > 30);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_train__loss_falls_on_a_fixed_seed),
        cmocka_unit_test(test_train__own_times_are_unit_times_on_equal_steps),
        cmocka_unit_test(test_train__bad_settings_are_refused),
        cmocka_unit_test(test_train__divergence_names_the_epoch),
        cmocka_unit_test(test_train__can_be_stopped),
        cmocka_unit_test(test_paths__do_not_depend_on_their_number),
        cmocka_unit_test(test_tune__keeps_the_least_mmd),
        cmocka_unit_test(test_paths__control_by_the_test_path_is_a_leak),
        cmocka_unit_test(test_paths__the_squared_error_takes_the_noise_away),
        cmocka_unit_test(test_rows__are_scored_by_their_paths),
        cmocka_unit_test(test_rows__the_seed_is_that_of_the_options),
        cmocka_unit_test(test_rows__a_divergence_is_no_score),
        cmocka_unit_test(test_tune__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
