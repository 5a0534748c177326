/* test_inputs.c - known inputs u(t): columns, nodes of both ends, values between two points, model files, the choice of
 * inputs, simulation. */
#include "data/absorbed.h"
#include "model/bands.h"
#include "model/modelinputs.h"
#include "occupation/bounds.h"
#include "occupation/view.h"
#include "tune/inputchoice.h"
#include "tune/policy.h"
#include "tunefits.h"

/* Columns x, u, w of trajectories of `points` points, spaced h; x is taken over. */
static sock_data *data_with(const char *inputs, size_t columns, size_t trajectories, size_t points, double h, double *x)
{
    static const char *const names[] = {"x", "u", "w"};
    const char *const pairs[] = {"input", inputs, NULL};
    sock_options *opts = options(pairs);
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(trajectories * points, sizeof *t);
    sock_data *data = NULL;
    for (size_t j = 0; j < trajectories; j++) length[j] = points;
    for (size_t i = 0; i < trajectories * points; i++) t[i] = h * (double)(i % points);
    if (sock_data_from_arrays(ctx, columns, trajectories, length, t, x, names, NULL, opts, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    free(length), free(t), free(x);
    return data;
}

static double *copy_of(size_t n, const double *x)
{
    double *copy = calloc(n, sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    return copy;
}

/* Two trajectories of three points: x, u, w. */
static const double few[] = {1, 10, 5, 2, 20, 5, 3, 40, 5, 4, 10, 7, 6, 20, 7, 5, 10, 7};

/* ---- Data ---- */

static void test_inputs__are_columns_of_their_own(void **state)
{
    (void)state;
    sock_data *data = data_with("w,u", 3, 2, 3, 0.1, copy_of(18, few));
    assert_int_equal(sock_data_dim(data), 1);
    assert_int_equal(sock_data_inputs(data), 2);
    assert_string_equal(sock_data_name(data, 0), "x");
    assert_string_equal(sock_data_input_name(data, 0), "w"); /* as the option names them */
    assert_string_equal(sock_data_input_name(data, 1), "u");
    assert_null(sock_data_input_name(data, 2));
    static const double x[] = {1, 2, 3, 4, 6, 5}, u[] = {5, 10, 5, 20, 5, 40, 7, 10, 7, 20, 7, 10};
    assert_memory_equal(data->x, x, sizeof x);
    assert_memory_equal(sock_data_input(data, 0), u, sizeof u);
    assert_ptr_equal(sock_data_input(data, 1), data->u + 6);
    sock_data *joined = NULL, *some = NULL;
    assert_int_equal(sock_data_join(ctx, data, data, NULL, &joined), SOCK_OK);
    assert_int_equal(joined->inputs, 2);
    assert_memory_equal(joined->u + 12, u, sizeof u);
    const bool use[] = {false, true};
    assert_int_equal(sk_data_keep_inputs(ctx, data, use, &some), SOCK_OK);
    static const double left[] = {10, 20, 40, 10, 20, 10};
    assert_int_equal(some->inputs, 1);
    assert_string_equal(some->input[0], "u");
    assert_memory_equal(some->u, left, sizeof left);
    sock_data_free(joined), sock_data_free(some), sock_data_free(data);
}

/* Realisations of one law have the same inputs. */
static void test_inputs__part_groups(void **state)
{
    (void)state;
    static const double same[] = {1, 10, 2, 20, 3, 40, 1, 10, 6, 20, 5, 40},
                        other[] = {1, 10, 2, 20, 3, 40, 1, 10, 6, 20, 5, 41};
    sock_data *one = data_with("u", 2, 2, 3, 0.1, copy_of(12, same)),
              *two = data_with("u", 2, 2, 3, 0.1, copy_of(12, other));
    assert_int_equal(sock_data_groups(one), 1);
    assert_int_equal(sock_data_groups(two), 2);
    assert_true(one->hash != two->hash);
    sock_data_free(one), sock_data_free(two);
}

static void test_inputs__a_missing_value_drops_the_point(void **state)
{
    (void)state;
    double *x = copy_of(18, few);
    x[4] = (double)NAN;
    sock_data *data = data_with("u", 3, 2, 3, 0.1, x);
    assert_int_equal(data->points, 5);
    assert_int_equal(data->missing, 1);
    sock_data_free(data);
}

static void refused(const double *x, const char *inputs, const char *words)
{
    static const char *const names[] = {"x", "u", "w"};
    const char *const pairs[] = {"input", inputs, NULL};
    static const size_t length[] = {3, 3};
    static const double t[] = {0, 1, 2, 0, 1, 2};
    sock_options *opts = options(pairs);
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, 3, 2, length, t, x, names, NULL, opts, &data) < 0);
    if (!strstr(sock_message(ctx), words)) fail_msg("'%s' is not in: %s", words, sock_message(ctx));
    sock_options_free(opts);
}

static void test_inputs__names_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    refused(few, "v", "input is 'v', and there is no such column");
    refused(few, "u,u", "names the column 'u' twice");
    refused(few, "x,u,w", "which leaves no state");
}

/* ---- Nodes ---- */

/* previous: u of the left end at both; linear: u of the next point at the right one. */
static void test_inputs__stand_at_both_ends(void **state)
{
    (void)state;
    sock_data *data = data_with("u", 3, 2, 3, 0.1, copy_of(18, few));
    size_t point[] = {0, 1}, fold[] = {0, 0}, cluster[] = {0, 0};
    for (int linear = 0; linear < 2; linear++) {
        const sk_hold hold[] = {linear ? SK_HOLD_LINEAR : SK_HOLD_PREVIOUS};
        const sk_split split = {2, 1, 1, point, fold, cluster, hold};
        sk_transitions *t = NULL;
        sk_rule *rule = NULL;
        assert_int_equal(sk_transitions_new(ctx, data, &split, NULL, &t), SOCK_OK);
        assert_int_equal(t->in, 3); /* x and w are states */
        const double left[] = {1, 5, 10, 2, 5, 20}, right[] = {2, 5, linear ? 20 : 10, 3, 5, linear ? 40 : 20};
        assert_memory_equal(t->left, left, sizeof left);
        assert_memory_equal(t->right, right, sizeof right);
        const double f0[] = {1, 0, 1, 0}, a0[] = {1, 0, 0, 1, 1, 0, 0, 1};
        assert_int_equal(sk_rule_conditional(ctx, t, 0, 2, f0, a0, &rule), SOCK_OK);
        assert_int_equal(rule->in, 3);
        assert_int_equal(rule->out, 2);
        assert_true(rule->x[2] == 10); /* of the left end; then four sigma points */
        for (size_t e = 1; e < 5; e++) assert_true(rule->x[3 * e + 2] == right[2]);
        assert_close(rule->x[3], 1 + 0.1 + sqrt(2 * 0.1), 1e-14, 1);
        sk_rule_free(rule);
        assert_int_equal(sk_rule_ends(ctx, t, 0, 2, &rule), SOCK_OK);
        assert_memory_equal(rule->x + 3, right, 3 * sizeof *right);
        sk_rule_free(rule);
        sk_transitions_free(t);
    }
    sock_data_free(data);
}

/* ---- Values between two points ---- */

static sock_model *model_with(size_t inputs, const sk_hold *hold)
{
    static const char *const state[] = {"x"}, *const names[] = {"u", "v", "t"};
    sock_model *model = NULL;
    assert_int_equal(sk_model_new(ctx, 1, state, &model), SOCK_OK);
    assert_int_equal(sk_structure_set_inputs(ctx, model->structure, inputs, names, hold, NULL), SOCK_OK);
    return model;
}

static void test_inputs__hold_or_move(void **state)
{
    (void)state;
    static const sk_hold hold[] = {SK_HOLD_PREVIOUS, SK_HOLD_LINEAR, SK_HOLD_TIME};
    sock_model *model = model_with(3, hold);
    static const double t[] = {1, 2, 4}, u[] = {5, 5, 101, 7, 7, 102, 9, 1, 104}; /* the clock is 100 ahead */
    static const double when[] = {0, 1, 1.25, 2, 3, 4, 6};
    static const double expected[][3] = {{5, 5, 100}, {5, 5, 101}, {5, 5.5, 101.25}, {7, 7, 102},
                                         {7, 4, 103}, {9, 1, 104}, {9, 1, 106}};
    const sk_input_table table = {3, t, u};
    size_t near = 0;
    for (size_t i = 0; i < 7; i++) {
        double got[3];
        sk_inputs_at_time(model, &table, when[i], &near, got);
        assert_all_close(3, got, expected[i], 1e-14);
        sock_model_inputs_at(model, 3, t, u, when[i], got);
        assert_all_close(3, got, expected[i], 1e-14);
    }
    sock_model_free(model);
    model = model_with(1, hold + 2);
    double got;
    sock_model_inputs_at(model, 0, NULL, NULL, 3.5, &got);
    assert_true(got == 3.5);
    sock_model_free(model);
}

static void test_inputs__of_data_are_found_by_name(void **state)
{
    (void)state;
    static const sk_hold hold[] = {SK_HOLD_LINEAR, SK_HOLD_TIME};
    sock_model *model = model_with(1, hold);
    sock_data *data = data_with("w,u", 3, 2, 3, 0.1, copy_of(18, few)),
              *bare = data_with("w", 3, 2, 3, 0.1, copy_of(18, few));
    size_t *place = NULL;
    double u;
    assert_int_equal(sk_inputs_find(ctx, model, data, &place), SOCK_OK);
    assert_int_equal(place[0], 1);
    sk_inputs_at(model, place, data, 1, 0.25, &u);
    assert_true(u == 25);
    sk_inputs_at(model, place, data, 2, 0, &u); /* the last point of a trajectory */
    assert_true(u == 40);
    sk_free(place);
    assert_int_equal(sk_inputs_find(ctx, model, bare, &place), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "the model needs the input 'u', which the data do not have"));
    sock_data_free(data), sock_data_free(bare);
    sock_model_free(model);
}

/* ---- Rules ---- */

static void test_inputs__rules(void **state)
{
    (void)state;
    assert_int_equal(sk_usual_hold(0, 0), SK_HOLD_PREVIOUS);
    assert_int_equal(sk_usual_hold(19, 100), SK_HOLD_PREVIOUS);
    assert_int_equal(sk_usual_hold(20, 100), SK_HOLD_LINEAR);
    assert_false(sk_input_joins(3, 1));
    assert_true(sk_input_joins(3.001, 1.5));
    assert_false(sk_input_joins(5, 2.5));
    assert_true(sk_input_joins(5.001, 2.5));
    assert_false(sk_input_joins((double)NAN, 0));
}

static void check_fails(const double *x, const char *words)
{
    sock_data *data = data_with("u,w", 3, 2, 3, 0.1, copy_of(18, x));
    assert_int_equal(sk_inputs_check(ctx, data), SOCK_EINPUT);
    if (!strstr(sock_message(ctx), words)) fail_msg("'%s' is not in: %s", words, sock_message(ctx));
    sock_data_free(data);
}

static void test_inputs__nothing_can_be_learned_from_constants_and_copies(void **state)
{
    (void)state;
    static const double still[] = {1, 10, 5, 2, 20, 5, 3, 40, 5, 4, 10, 5, 6, 20, 5, 5, 10, 5};
    static const double copy[] = {1, 11, 5, 2, 12, 5, 3, 13, 5, 4, 14, 7, 6, 16, 7, 5, 15, 7};
    static const double near_copy[] = {1, 10, 20, 2, 20, 40, 3, 40, 80.5, 4, 10, 20, 6, 20, 40, 5, 10, 20};
    check_fails(still, "the input w is 5 everywhere");
    check_fails(copy, "the input u is a copy of x");
    check_fails(near_copy, "the input w is a copy of u (correlation 0.99999");
    sock_data *data = data_with("u,w", 3, 2, 3, 0.1, copy_of(18, few));
    assert_int_equal(sk_inputs_check(ctx, data), SOCK_OK);
    data->timed = true; /* two trajectories over the same times are too few */
    assert_int_equal(sk_inputs_check(ctx, data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "at least 3 trajectories over the same times"));
    sock_data_free(data);
}

/* ---- Files ---- */

static void test_inputs__are_kept_in_a_file(void **state)
{
    (void)state;
    static const sk_hold hold[] = {SK_HOLD_PREVIOUS, SK_HOLD_LINEAR, SK_HOLD_TIME};
    const char *path = "inputs.sock";
    sock_model *model = model_with(3, hold), *back = NULL;
    model->structure->input[1].usual = 0.25;
    const double lower[] = {-2}, upper[] = {INFINITY};
    assert_int_equal(sock_model_set_bounds(ctx, model, lower, upper), SOCK_OK);
    sk_kernel *kernel = NULL;
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    term->d = 1;
    assert_int_equal(sk_kernel_parse(ctx, "drift", "affine", &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 4, 0, NULL, &term->map), SOCK_OK);
    term->weight = sk_doubles(ctx, 5, 1);
    for (size_t i = 0; i < 5; i++) term->weight[i] = (double)(i + 1);
    sk_kernel_free(kernel);
    assert_int_equal(sk_model_add_drift(ctx, model, term), SOCK_OK);
    if (sock_model_save(ctx, model, path) < 0 || sock_model_load(ctx, path, &back) < 0)
        fail_msg("%s", sock_message(ctx));
    assert_true(sk_structure_equal(model->structure, back->structure));
    assert_string_equal(sock_model_input_hold(back, 2), "time");
    assert_true(sock_model_input_usual(back, 1) == 0.25);
    const double x[] = {1}, u[] = {1, 1, 1};
    double f = 0;
    assert_int_equal(sock_model_evaluate_at(ctx, back, 1, x, u, &f, NULL), SOCK_OK);
    assert_close(f, 15, 1e-14, 1);
    assert_int_equal(sock_model_drift(ctx, back, 1, x, &f), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "the input u and more: its values are needed"));
    remove(path);
    sock_model_free(model), sock_model_free(back);
}

/* ---- Simulation ---- */

static void pull(void *user, size_t count, size_t d, const double *z, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = 2 * z[2 * i + 1] - z[2 * i];
}
static void pull_at_one(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = 2 - x[i];
}
static void shake(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d, (void)x;
    for (size_t i = 0; i < count; i++) a[i] = 0.25;
}

/* a = x u^2, wherever x is. */
static void spread_out(void *user, size_t count, size_t d, const double *z, double *a)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) a[i] = z[2 * i] * z[2 * i + 1] * z[2 * i + 1];
}

/* a is taken inside, with the inputs of the point; f is not. Inputs have no bounds. Paths stop at those of states. */
static void test_inputs__go_together_with_bounds_in_a_model(void **state)
{
    (void)state;
    static const char *const names[] = {"x"}, *const inputs[] = {"u"}, *const holds[] = {"linear"};
    const double lower[] = {0.5}, upper[] = {2}, x[] = {-1, 1, 3}, u[] = {-3, 3, 2}, out[] = {-5, 5, 1},
                 squares[] = {4.5, 9, 8};
    double f[3], a[3], t[21], path[3 * 21], ends[] = {0, 10}, forcing[] = {-5, 5}, least = 9, most = -9;
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, names, pull, spread_out, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_inputs(ctx, model, 1, inputs, holds), SOCK_OK);
    assert_int_equal(sock_model_set_bounds(ctx, model, lower, upper), SOCK_OK);
    assert_int_equal(sock_model_evaluate_at(ctx, model, 3, x, u, f, a), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_close(f[i], out[i], 1e-14, 1);
        assert_close(a[i], squares[i], 1e-14, 1);
    }
    for (size_t i = 0; i < 21; i++) t[i] = 0.5 * (double)i;
    const sock_simulation spec = {.starts = 1,
                                  .x0 = x + 1,
                                  .paths = 3,
                                  .times = 21,
                                  .t = t,
                                  .seed = 5,
                                  .bounds = SOCK_BOUNDS_AUTO,
                                  .input_times = 2,
                                  .input_t = ends,
                                  .u = forcing};
    if (sock_simulate(ctx, model, &spec, path, NULL, NULL) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    for (size_t i = 0; i < 3 * 21; i++) {
        least = fmin(least, path[i]);
        most = fmax(most, path[i]);
    }
    assert_true(least == 0.5 && most == 2); /* pushed down first, up at the end */
    sock_model_free(model);
}

static void test_inputs__at_rest_on_a_bound_are_cut_with_the_states(void **state)
{
    (void)state;
    static const double rows[] = {1, 10, 0, 20, 0, 40, 0, 41, 4, 11, 6, 21, 5, 12, 7, 13};
    static const double x[] = {1, 0, 4, 6, 5, 7}, u[] = {10, 20, 11, 21, 12, 13};
    const double lower[] = {0};
    sock_data *data = data_with("u", 2, 2, 4, 0.1, copy_of(16, rows)), *cut = NULL;
    assert_int_equal(sk_absorbed_cut(ctx, data, lower, NULL, &cut), SOCK_OK);
    assert_non_null(cut);
    assert_int_equal(cut->points, 6);
    assert_memory_equal(cut->x, x, sizeof x);
    assert_memory_equal(cut->u, u, sizeof u);
    sk_absorbed_free(cut);
    sock_data_free(data);
}

/* Near a bound too the points of the end have the inputs of the end, and the mean and variance of the states. */
static void test_inputs__skewed_points_keep_the_inputs(void **state)
{
    (void)state;
    const double rows[] = {0.1, 10, 0.2, 20}, lower[] = {0}, upper[] = {INFINITY}, f0[] = {0.1}, a0[] = {0.8};
    sk_hold hold[] = {SK_HOLD_LINEAR};
    size_t point[] = {0}, fold[] = {SK_ALWAYS}, cluster[] = {0};
    sock_data *data = data_with("u", 2, 1, 2, 0.5, copy_of(4, rows));
    const sk_split split = {1, 0, 1, point, fold, cluster, hold};
    sk_transitions *t = NULL;
    sk_rule *rule = NULL;
    sk_bounds *bounds = NULL;
    assert_int_equal(sk_transitions_new(ctx, data, &split, NULL, &t), SOCK_OK);
    assert_int_equal(sk_bounds_new(ctx, 1, lower, upper, 1, t->y, &bounds), SOCK_OK);
    t->bounds = bounds;
    assert_int_equal(sk_rule_conditional(ctx, t, 0, 1, f0, a0, &rule), SOCK_OK);
    assert_true(rule->nodes == 3 && rule->x[1] == 10 && rule->x[3] == 20 && rule->x[5] == 20);
    const double one = rule->weight[1] / 0.25, two = rule->weight[2] / 0.25, mean = 0.15;
    assert_true(rule->x[2] >= -1e-12 && rule->x[4] >= -1e-12);
    assert_close(one + two, 1, 1e-12, 1);
    assert_close(one * rule->x[2] + two * rule->x[4], mean, 1e-12, 1);
    assert_close(one * pow(rule->x[2] - mean, 2) + two * pow(rule->x[4] - mean, 2), 0.4, 1e-12, 1);
    sk_rule_free(rule), sk_transitions_free(t), sk_bounds_free(bounds);
    sock_data_free(data);
}

/* A constant input is the model at that value, path by path. */
static void test_inputs__a_constant_one_is_a_parameter(void **state)
{
    (void)state;
    static const char *const names[] = {"u"};
    sock_model *driven = NULL, *plain = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, pull, shake, NULL, &driven), SOCK_OK);
    assert_int_equal(sock_model_set_inputs(ctx, driven, 1, names, NULL), SOCK_OK);
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, pull_at_one, shake, NULL, &plain), SOCK_OK);
    static const double x0[] = {0, 1}, t[] = {0, 0.5, 1}, when[] = {0}, u[] = {1, 1};
    double one[12], other[12];
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 2, .times = 3, .t = t, .step = 0.01, .seed = 3};
    assert_int_equal(sock_simulate(ctx, plain, &spec, one, NULL, NULL), SOCK_OK);
    assert_int_equal(sock_simulate(ctx, driven, &spec, other, NULL, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "the model has the input u; its values are needed"));
    spec.input_times = 1;
    spec.input_t = when;
    spec.u = u;
    assert_int_equal(sock_simulate(ctx, driven, &spec, other, NULL, NULL), SOCK_OK);
    assert_all_close(12, other, one, 1e-14);
    sock_model_free(driven), sock_model_free(plain);
}

/* ---- Fits ---- */

enum { PATHS = 40, POINTS = 41 };

/* dx = -(x - 2 u) dt + 0.5 dW with u = sin(2 pi t + phase), ten substeps; w: another wave that does nothing. */
static double *season(uint64_t seed, double h)
{
    enum { SUB = 10 };
    double *z = calloc((size_t)PATHS * POINTS * 3, sizeof *z), *e = calloc((size_t)PATHS * POINTS * SUB, sizeof *e);
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 41, 0, 0, (size_t)PATHS * POINTS * SUB, e);
    for (size_t j = 0; j < PATHS; j++) {
        double x = e[j * POINTS * SUB];
        const double phase = 0.7 * (double)j, slow = 0.4 * (double)(j * j);
        for (size_t i = 0; i < (size_t)POINTS * SUB; i++) {
            const double tau = h / SUB, t = tau * (double)i;
            double *at = z + (j * POINTS + i / SUB) * 3;
            if (i % SUB == 0) {
                at[0] = x;
                at[1] = sin(6.283185307179586 * t + phase);
                at[2] = cos(1.3 * t + slow);
            }
            x += tau * (2 * sin(6.283185307179586 * (t + tau / 2) + phase) - x) +
                 0.5 * sqrt(tau) * e[j * POINTS * SUB + i];
        }
    }
    free(e);
    return z;
}

/* The terms are x and u; the idle one is chosen for neither field. */
static void test_inputs__of_a_season_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sock_data *data = data_with("u,w", 3, PATHS, POINTS, 0.1, season(seed, 0.1));
        sock_model *model = fit(data, NULL);
        assert_int_equal(sock_model_inputs(model), 1);
        assert_string_equal(sock_model_input_name(model, 0), "u");
        assert_string_equal(sock_model_input_hold(model, 0), "linear");
        double difference = 0, norm = 0;
        for (double x = -1.5; x <= 1.5; x += 0.5)
            for (double u = -1; u <= 1; u += 0.5) {
                double f, a, truth = 2 * u - x;
                assert_int_equal(sock_model_evaluate_at(ctx, model, 1, &x, &u, &f, &a), SOCK_OK);
                difference += (f - truth) * (f - truth);
                norm += truth * truth;
                assert_close(a, 0.25, 0.2, 0);
            }
        print_message("RE_f %.3f\n", sqrt(difference / norm));
        assert_true(difference <= 0.01 * norm);
        json_t *info = info_of(model), *told = json_object_get(info, "inputs");
        assert_int_equal(json_array_size(told), 2);
        assert_true(json_number_value(json_object_get(json_array_get(told, 0), "gain_f")) > 100);
        assert_true(json_is_false(json_object_get(json_array_get(told, 0), "in_a")));
        assert_true(json_is_false(json_object_get(json_array_get(told, 1), "in_f")));
        assert_true(json_is_false(json_object_get(json_array_get(told, 1), "in_a")));
        json_decref(info);
        sock_model_free(model);
        sock_data_free(data);
    }
}

/* An input that is constant in every trajectory is the same however it is held. */
/* dx = (u - x / 2) dt + 0.4 dW under a slow u: x follows 2 u, so that neither x nor u says anything of the next step
 * alone, and both together nearly all. h = 0.5, ten substeps, 40 points a path, one long wave through all of them. */
static double *slow_forcing(uint64_t seed)
{
    enum { SUB = 10 };
    const size_t count = (size_t)PATHS * POINTS;
    double *z = calloc(count * 2, sizeof *z), *e = calloc(count * SUB, sizeof *e), x = 6;
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 43, 0, 0, count * SUB, e);
    for (size_t i = 0; i < count * SUB; i++) {
        const double tau = 0.5 / SUB, t = tau * (double)i, u = 3 + 2 * sin(0.04 * t);
        if (i % SUB == 0) z[i / SUB * 2] = x, z[i / SUB * 2 + 1] = u;
        x += tau * (u - 0.5 * x) + 0.4 * sqrt(tau) * e[i];
    }
    free(e);
    return z;
}

static void test_inputs__that_a_state_follows_are_found_with_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sock_data *data = data_with("u", 2, PATHS, POINTS, 0.5, slow_forcing(seed));
        sock_model *model = fit(data, NULL);
        assert_int_equal(sock_model_inputs(model), 1);
        double f[4], a, x[] = {4, 4, 8, 8}, u[] = {2, 4, 2, 4};
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(sock_model_evaluate_at(ctx, model, 1, &x[i], &u[i], &f[i], &a), SOCK_OK);
        assert_close((f[1] - f[0] + f[3] - f[2]) / 4, 1, 0.25, 1);
        assert_close((f[2] - f[0] + f[3] - f[1]) / 8, -0.5, 0.12, 1);
        json_t *info = info_of(model), *told = json_array_get(json_object_get(info, "inputs"), 0);
        assert_true(json_number_value(json_object_get(told, "gain_f")) > 30);
        json_decref(info);
        sock_model_free(model);
        sock_data_free(data);
    }
}

static void prop_inputs__constant_ones_are_held_alike(void **state)
{
    (void)state;
    sock_model *model[2];
    double f[2][3], a[2][3];
    static const double x[3] = {-1, 0, 1}, u[3] = {0, 1, 1};
    for (int i = 0; i < 2; i++) {
        double *z = season(9, 0.1);
        for (size_t j = 0; j < PATHS; j++) /* half of the trajectories are moved by the arm that they are in */
            for (size_t k = 0; k < POINTS; k++) {
                double *at = z + (j * POINTS + k) * 3;
                at[1] = j % 2;
                at[0] += j % 2 ? 3 : 0;
            }
        const char *const pairs[] = {"hold", i ? "linear" : "previous", NULL};
        sock_data *data = data_with("u,w", 3, PATHS, POINTS, 0.1, z);
        model[i] = fit(data, pairs);
        assert_int_equal(sock_model_inputs(model[i]) > 0, 1);
        assert_string_equal(sock_model_input_name(model[i], 0), "u");
        if (sock_model_inputs(model[i]) == 1)
            assert_int_equal(sock_model_evaluate_at(ctx, model[i], 3, x, u, f[i], a[i]), SOCK_OK);
        sock_data_free(data);
    }
    assert_true(sock_model_inputs(model[0]) == 1 && sock_model_inputs(model[1]) == 1);
    assert_all_close(3, f[1], f[0], 1e-9);
    assert_all_close(3, a[1], a[0], 1e-9);
    sock_model_free(model[0]), sock_model_free(model[1]);
}

/* ---- Bounds ---- */

/* Letters of the states first, then those of the inputs; one that does not count is nowhere. */
static void test_inputs__have_letters_in_kernels_of_bounds(void **state)
{
    (void)state;
    const double lower[] = {0, -INFINITY}, upper[] = {INFINITY, INFINITY}, y[] = {4, 1, 2, 1};
    const double z[] = {12, 5, 7, -3, 12, 5, 99, -3};
    const bool use[] = {false, true};
    char letters[SK_MOST_SIDES + 1];
    double phi[2][8], units[4];
    sk_bounds *b = NULL;
    assert_int_equal(sk_bounds_new(ctx, 2, lower, upper, 2, y, &b), SOCK_OK);
    assert_int_equal(sk_bounds_widen(ctx, 4, b), SOCK_OK);
    assert_true(sk_bounds_letters(b, NULL, letters));
    assert_string_equal(letters, "l---");
    assert_true(sk_bounds_letters(b, use, letters));
    assert_string_equal(letters, "l-.-");
    sk_bounds_units(b, 1, z, units);
    assert_true(units[0] == 4 && units[1] == 5 && units[2] == 7 && units[3] == -3);
    for (int i = 0; i < 2; i++) {
        sk_kernel *kernel = NULL;
        sk_features *map = NULL;
        assert_int_equal(sk_kernel_parse(ctx, "k", i ? "rates:degree=1" : "linear:in=root", &kernel), SOCK_OK);
        sk_kernel_set_sides(kernel, letters);
        assert_int_equal(sk_features_new(ctx, "k", kernel, 4, 0, NULL, &map), SOCK_OK);
        assert_int_equal(sk_features_set_units(ctx, map, b->origin, b->scale), SOCK_OK);
        assert_int_equal(sk_features_count(map), i ? 2 : 3);
        assert_int_equal(sk_features_eval(ctx, map, 2, z, phi[i], 4), SOCK_OK);
        sk_kernel_free(kernel), sk_features_free(map);
    }
    for (size_t i = 0; i < 2; i++) { /* the third coordinate differs between the points */
        const double *root = phi[0] + 4 * i, *rate = phi[1] + 4 * i;
        assert_true(root[0] == 2 && root[1] == 5 && root[2] == -3);
        assert_close(rate[0] * rate[0] + rate[1] * rate[1], 5, 1e-14, 1); /* 1 and x */
    }
    sk_bounds_free(b);
}

/* dx = (1 - x + 0.6 u x) dt + sqrt(0.8 x) dW, kept at 0 and above; u as in a season, w does nothing. */
static double *population(uint64_t seed, double h, bool driven)
{
    enum { SUB = 20 };
    double *z = calloc((size_t)PATHS * POINTS * 3, sizeof *z), *e = calloc((size_t)PATHS * POINTS * SUB, sizeof *e);
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 43, 0, 0, (size_t)PATHS * POINTS * SUB, e);
    for (size_t j = 0; j < PATHS; j++) {
        double x = 0.1 + 0.04 * (double)j;
        const double phase = 0.7 * (double)j, slow = 0.4 * (double)(j * j);
        for (size_t i = 0; i < (size_t)POINTS * SUB; i++) {
            const double tau = h / SUB, t = tau * (double)i;
            double *at = z + (j * POINTS + i / SUB) * 3;
            if (i % SUB == 0) {
                at[0] = x;
                at[1] = sin(3 * t + phase);
                at[2] = cos(1.3 * t + slow);
            }
            const double u = driven ? sin(3 * (t + tau / 2) + phase) : 0;
            x += tau * (1 - x + 0.6 * u * x) + sqrt(0.8 * x * tau) * e[j * POINTS * SUB + i];
            x = fmax(x, 0);
        }
    }
    free(e);
    return z;
}

/* A population with an input: the bound is found, a vanishes there and is linear, f has the product of both. */
static void test_inputs__drive_a_population(void **state)
{
    (void)state;
    sock_data *data = data_with("u,w", 3, PATHS, POINTS, 0.1, population(1, 0.1, true));
    sock_model *model = fit(data, NULL);
    double lower, upper, worst = 0;
    assert_int_equal(sock_model_bounds(model, &lower, &upper), 1);
    assert_true(lower == 0 && isinf(upper) && sock_model_inputs(model) == 1);
    for (double x = 0; x < 2; x += 0.25)
        for (double u = -1; u <= 1; u += 1) {
            double f, a;
            assert_int_equal(sock_model_evaluate_at(ctx, model, 1, &x, &u, &f, &a), SOCK_OK);
            worst = fmax(worst, fabs(a - 0.8 * x));
            assert_close(f, 1 - x + 0.6 * u * x, 0.5, 1);
        }
    print_message("a off by %.3f\n", worst);
    assert_true(worst < 0.16);
    sock_checks told;
    assert_int_equal(sock_check(ctx, model, data, NULL, &told), SOCK_OK);
    assert_true(told.ok && sock_model_has_bands(model));
    sock_model_free(model);
    sock_data_free(data);
}

/* Inputs that nobody needs leave the bounds, too, to the last bit. */
static void prop_inputs__idle_ones_leave_the_bounds(void **state)
{
    (void)state;
    double *z = population(2, 0.1, false), *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) x[i] = z[3 * i];
    sock_data *with = data_with("u,w", 3, PATHS, POINTS, 0.1, z),
              *without = data_with("none", 1, PATHS, POINTS, 0.1, x);
    static const char *const pairs[] = {"noise", "none", NULL};
    sock_model *one = fit(with, pairs), *other = fit(without, pairs);
    const double at[] = {0, 0.01, 0.7};
    double a[6];
    assert_int_equal(sock_model_inputs(one), 0);
    assert_true(sock_model_bounds(one, NULL, NULL) && sock_model_bounds(other, NULL, NULL));
    assert_int_equal(sk_model_evaluate(ctx, one, 3, at, NULL, a), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, other, 3, at, NULL, a + 3), SOCK_OK);
    assert_memory_equal(a, a + 3, 3 * sizeof *a);
    sock_model_free(one), sock_model_free(other);
    sock_data_free(with), sock_data_free(without);
}

/* ---- Check ---- */

static void pull_wrong(void *user, size_t count, size_t d, const double *z, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = 1.5 * z[2 * i + 1] - z[2 * i];
}

static void pull_alone(void *user, size_t count, size_t d, const double *z, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = -z[2 * i];
}

static void pull_plain(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = -x[i];
}

static sock_model *driven_by(sock_field_fn f, const char *hold)
{
    static const char *const names[] = {"u"};
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, f, shake, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_inputs(ctx, model, 1, names, &hold), SOCK_OK);
    return model;
}

static sock_step_scores scores_of(const sock_model *model, const sock_data *data)
{
    sock_step_scores s;
    if (sock_check_scores(ctx, model, data, NULL, &s) < 0) fail_msg("%s", sock_message(ctx));
    return s;
}

static void assert_same_scores(const sock_model *one, const sock_data *its, const sock_model *other,
                               const sock_data *theirs)
{
    sock_step_scores a = scores_of(one, its), b = scores_of(other, theirs);
    assert_true(a.count == b.count && a.count > 1000);
    assert_memory_equal(a.v, b.v, a.count * sizeof *a.v);
    sock_step_scores_free(&a), sock_step_scores_free(&b);
}

/* An input that the fields ignore is no input; one that is constant is a parameter. */
static void prop_inputs__idle_and_constant_ones_leave_the_scores(void **state)
{
    (void)state;
    double *z = season(6, 0.1), *ones = calloc((size_t)PATHS * POINTS * 2, sizeof *ones);
    double *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) {
        ones[2 * i] = x[i] = z[3 * i];
        ones[2 * i + 1] = 1;
    }
    sock_data *with = data_with("u,w", 3, PATHS, POINTS, 0.1, z), *one = data_with("u", 2, PATHS, POINTS, 0.1, ones),
              *without = data_with("none", 1, PATHS, POINTS, 0.1, x);
    sock_model *alone = driven_by(pull_alone, "linear"), *plain = NULL, *driven = driven_by(pull, "linear"),
               *held = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, pull_plain, shake, NULL, &plain), SOCK_OK);
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, pull_at_one, shake, NULL, &held), SOCK_OK);
    assert_same_scores(alone, with, plain, without);
    assert_same_scores(driven, one, held, without);
    sock_model_free(alone), sock_model_free(plain), sock_model_free(driven), sock_model_free(held);
    sock_data_free(with), sock_data_free(one), sock_data_free(without);
}

/* The true model has standard scores when its input moves as it did; a wrong effect of it is named. */
static void test_inputs__are_looked_at_by_the_check(void **state)
{
    (void)state;
    sock_data *data = data_with("u,w", 3, PATHS, POINTS, 0.1, season(7, 0.1));
    sock_model *right = driven_by(pull, "linear"), *late = driven_by(pull, "previous"),
               *wrong = driven_by(pull_wrong, "linear");
    sock_step_scores s = scores_of(right, data);
    double sum = 0, square = 0;
    for (size_t i = 0; i < s.count; i++) sum += s.v[i], square += s.v[i] * s.v[i];
    assert_close(sum / (double)s.count, 0, 4 / sqrt((double)s.count), 1);
    assert_close(square / (double)s.count, 1, 4 * sqrt(2 / (double)s.count), 1);
    sock_step_scores_free(&s);
    sock_checks told;
    assert_int_equal(sock_check(ctx, right, data, NULL, &told), SOCK_OK);
    assert_true(told.ok && told.exit_share < 0.05);
    assert_int_equal(sock_check(ctx, late, data, NULL, &told), SOCK_OK);
    assert_false(told.ok);
    assert_int_equal(sock_check(ctx, wrong, data, NULL, &told), SOCK_OK);
    assert_string_equal(told.pattern, "drift");
    assert_non_null(strstr(told.verdict, "f of x0 misses a dependence on u, most near u = "));
    sock_model_free(right), sock_model_free(late), sock_model_free(wrong);
    sock_data_free(data);
}

/* ---- Bands ---- */

enum { PLACES = 4 };

typedef struct band {
    double f_low[PLACES], f_high[PLACES], a_low[PLACES], a_high[PLACES];
    int outside[PLACES];
} band;

static band band_at(const sock_model *model, const double *x, const double *u)
{
    band b;
    const sock_bands out = {
        .f_low = b.f_low, .f_high = b.f_high, .a_low = b.a_low, .a_high = b.a_high, .outside = b.outside};
    if (sock_model_bands_at(ctx, model, PLACES, x, u, 0.9, &out) < 0) fail_msg("%s", sock_message(ctx));
    return b;
}

typedef struct asking {
    const sock_model *model;
    const sock_data *data;
    const sock_options *few; /* draws */
} asking;

static sock_status ask_all(sock_context *context, void *argument)
{
    const asking *a = argument;
    const double x = 0.1, u = 0.3;
    double low;
    sock_model *draw = NULL;
    sock_checks told;
    sock_status status = sock_model_bands_at(context, a->model, 1, &x, &u, 0.9, &(sock_bands){.f_low = &low});
    if (status >= 0) status = sock_model_draw(context, a->model, 1, 2, &draw);
    if (status >= 0) status = sock_check(context, a->model, a->data, a->few, &told);
    sock_model_free(draw);
    return status;
}

/* The variance of draws, which are models with the same input, is that of the bands; files and units of the input leave
 * them, and the input counts in what lies outside. */
static void prop_inputs__bands_are_those_of_the_draws(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    static const double x[PLACES] = {-1, 0, 0.5, 1}, u[PLACES] = {0.5, -1, 1, 9}, other[PLACES] = {11, 8, 12, 28};
    const char *path = "inputbands.sock";
    double *z = season(8, 0.1), *moved = copy_of((size_t)PATHS * POINTS * 3, z), sum[PLACES] = {0},
           square[PLACES] = {0};
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) moved[3 * i + 1] = 10 + 2 * moved[3 * i + 1];
    sock_data *data = data_with("u,w", 3, PATHS, POINTS, 0.1, z),
              *again = data_with("u,w", 3, PATHS, POINTS, 0.1, moved);
    sock_model *model = fit(data, NULL), *loaded = NULL, *shifted = fit(again, NULL);
    const band b = band_at(model, x, u);
    for (uint64_t k = 0; k < DRAWS; k++) {
        sock_model *draw = NULL;
        double f[PLACES];
        assert_int_equal(sock_model_draw(ctx, model, 5, k, &draw), SOCK_OK);
        assert_int_equal(sock_model_evaluate_at(ctx, draw, PLACES, x, u, f, NULL), SOCK_OK);
        for (size_t i = 0; i < PLACES; i++) sum[i] += f[i] / DRAWS, square[i] += f[i] * f[i] / DRAWS;
        sock_model_free(draw);
    }
    for (size_t i = 0; i < PLACES; i++) {
        const double sd = (b.f_high[i] - b.f_low[i]) / 2 / (SK_BAND_FACTOR * sk_normal_reach(0.9));
        assert_close(sqrt(square[i] - sum[i] * sum[i]), sd, 0.15, 0);
        assert_close(sum[i], (b.f_high[i] + b.f_low[i]) / 2, 0.25 * sd, 1);
        assert_true(b.a_low[i] < 0.25 * 1.1 && b.a_high[i] > 0.25 / 1.1);
        assert_int_equal(b.outside[i], i == 3);
    }
    if (sock_model_save(ctx, model, path) < 0 || sock_model_load(ctx, path, &loaded) < 0)
        fail_msg("%s", sock_message(ctx));
    const band kept = band_at(loaded, x, u), moves = band_at(shifted, x, other);
    assert_memory_equal(&kept, &b, sizeof b);
    double more[PLACES - 1]; /* the last is where nobody was */
    for (size_t i = 0; i < PLACES - 1; i++) {
        const double own = b.f_high[i] - b.f_low[i], wide = moves.f_high[i] - moves.f_low[i];
        assert_close((moves.f_low[i] + moves.f_high[i]) / 2, (b.f_low[i] + b.f_high[i]) / 2, 1e-3, 1);
        more[i] = wide * wide - own * own;
    }
    /* a zero that is a guess, 10, has an error, 0 has none: that of a constant, the same everywhere */
    assert_true(more[0] > 0 && fabs(more[1] / more[0] - 1) < 0.3 && fabs(more[2] / more[0] - 1) < 0.3);
    sock_set_threads(ctx, 1);
    sock_options *draws = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, draws, "draws", "19"), SOCK_OK);
    static const size_t two[] = {0, 1}; /* again and again, so of few rows */
    sock_data *some = NULL;
    assert_int_equal(sk_data_subset(ctx, data, two, 2, &some), SOCK_OK);
    assert_true(for_each_allocation(ctx, ask_all, &(asking){model, some, draws}) > 60);
    sock_data_free(some);
    sock_options_free(draws);
    sock_set_threads(ctx, 2);
    const sock_bands wanted = {.f_low = sum};
    assert_int_equal(sock_model_bands(ctx, model, PLACES, x, 0.9, &wanted), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "its values are needed (sock_model_bands_at)"));
    remove(path);
    sock_model_free(model), sock_model_free(loaded), sock_model_free(shifted);
    sock_data_free(data), sock_data_free(again);
}

/* Inputs that no field needs leave the model that it is without them, to the last bit. */
static void test_inputs__that_do_nothing_change_nothing(void **state)
{
    (void)state;
    double *z = season(4, 0.1), *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    double *ou = ou_paths(1, PATHS, POINTS, 0.1, 1, 77);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) z[3 * i] = x[i] = ou[i];
    sock_data *with = data_with("u,w", 3, PATHS, POINTS, 0.1, z),
              *without = data_with("none", 1, PATHS, POINTS, 0.1, x);
    static const char *const pairs[] = {"noise", "none", NULL};
    sock_model *one = fit(with, pairs), *other = fit(without, pairs);
    assert_int_equal(sock_model_inputs(one), 0);
    const double at[] = {-1, 0, 0.7};
    double f[6], a[6];
    assert_int_equal(sk_model_evaluate(ctx, one, 3, at, f, a), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, other, 3, at, f + 3, a + 3), SOCK_OK);
    assert_memory_equal(f, f + 3, 3 * sizeof *f);
    assert_memory_equal(a, a + 3, 3 * sizeof *a);
    sock_model_free(one), sock_model_free(other);
    sock_data_free(with), sock_data_free(without);
    free(ou);
}

static void test_inputs__what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *words;
    } cases[] = {{"noise", "diag", "measurement noise and inputs"},
                 {"substeps", "2", "allowed with inputs: 1"},
                 {"preset", "paper", "the paper's preset has no inputs"},
                 {"tune", "no", "the plain estimator has no inputs"}};
    sock_data *data = data_with("u", 3, 2, 3, 0.1, copy_of(18, few));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const pairs[] = {cases[i].key, cases[i].value, NULL};
        sock_options *opts = options(pairs);
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
        if (!strstr(sock_message(ctx), cases[i].words)) fail_msg("%s", sock_message(ctx));
        sock_options_free(opts);
    }
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs__are_columns_of_their_own),
        cmocka_unit_test(test_inputs__part_groups),
        cmocka_unit_test(test_inputs__a_missing_value_drops_the_point),
        cmocka_unit_test(test_inputs__names_that_do_not_fit_are_refused),
        cmocka_unit_test(test_inputs__stand_at_both_ends),
        cmocka_unit_test(test_inputs__hold_or_move),
        cmocka_unit_test(test_inputs__of_data_are_found_by_name),
        cmocka_unit_test(test_inputs__rules),
        cmocka_unit_test(test_inputs__nothing_can_be_learned_from_constants_and_copies),
        cmocka_unit_test(test_inputs__are_kept_in_a_file),
        cmocka_unit_test(test_inputs__a_constant_one_is_a_parameter),
        cmocka_unit_test(test_inputs__go_together_with_bounds_in_a_model),
        cmocka_unit_test(test_inputs__at_rest_on_a_bound_are_cut_with_the_states),
        cmocka_unit_test(test_inputs__skewed_points_keep_the_inputs),
        cmocka_unit_test(test_inputs__of_a_season_are_found),
        cmocka_unit_test(test_inputs__that_a_state_follows_are_found_with_it),
        cmocka_unit_test(prop_inputs__constant_ones_are_held_alike),
        cmocka_unit_test(test_inputs__have_letters_in_kernels_of_bounds),
        cmocka_unit_test(test_inputs__drive_a_population),
        cmocka_unit_test(prop_inputs__idle_ones_leave_the_bounds),
        cmocka_unit_test(prop_inputs__idle_and_constant_ones_leave_the_scores),
        cmocka_unit_test(test_inputs__are_looked_at_by_the_check),
        cmocka_unit_test(prop_inputs__bands_are_those_of_the_draws),
        cmocka_unit_test(test_inputs__that_do_nothing_change_nothing),
        cmocka_unit_test(test_inputs__what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
