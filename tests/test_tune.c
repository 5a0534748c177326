/* test_tune.c - the tuned fit as users meet it: known processes are found again, the answer does not depend on threads,
 * order or units, the budget and the monitor are obeyed, and poor data end in a model or in a message. */
#include "data/data.h"
#include "model/model.h"
#include "model/sampler.h"
#include "systems/systems.h"
#include "test.h"

#include <jansson.h>
#include <unistd.h>

static sock_context *ctx;

static int setup(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

/* ---- Helpers ---- */

/* key, value, key, value, ..., NULL */
static sock_options *options(const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    for (; pairs && *pairs; pairs += 2)
        if (sock_options_set(ctx, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(ctx));
    return opts;
}

static sock_model *fit(const sock_data *data, const char *const *pairs)
{
    sock_options *opts = options(pairs);
    sock_model *model = NULL;
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static json_t *info_of(const sock_model *model)
{
    char *text = NULL;
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    json_t *info = json_loads(text, 0, NULL);
    assert_non_null(info);
    sock_string_free(text);
    return info;
}

static bool warns(const sock_model *model, const char *words)
{
    json_t *info = info_of(model), *entry;
    size_t i;
    bool found = false;
    json_array_foreach(json_object_get(info, "warnings"), i, entry)
    {
        found = found || strstr(json_string_value(entry), words);
    }
    json_decref(info);
    return found;
}

/* trajectories x points in d dimensions, spaced h; x is taken over. */
static sock_data *data_of(size_t d, size_t trajectories, size_t points, double h, double *x)
{
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(trajectories * points, sizeof *t);
    sock_data *data = NULL;
    for (size_t j = 0; j < trajectories; j++) length[j] = points;
    for (size_t i = 0; i < trajectories * points; i++) t[i] = h * (double)(i % points);
    if (sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    free(length), free(t), free(x);
    return data;
}

/* Exact steps of dx = -x dt + dW from N(0, 1/2); groups of `members` share their start. */
static double *ou_paths(size_t d, size_t trajectories, size_t points, double h, size_t members, uint64_t seed)
{
    double *x = calloc(trajectories * points * d, sizeof *x), keep = exp(-h), noise = sqrt(0.5 * (1 - keep * keep));
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 40, 0, 0, trajectories * points * d, x);
    for (size_t j = 0; j < trajectories; j++)
        for (size_t i = 0; i < points * d; i++) {
            double *at = x + j * points * d + i;
            if (i >= d)
                *at = keep * at[-(ptrdiff_t)d] + noise * *at;
            else
                *at = j % members ? x[(j - j % members) * points * d + i] : sqrt(0.5) * *at;
        }
    return x;
}

static double slope(const sock_model *model)
{
    double at[] = {-1, 1}, f[2];
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    return 0.5 * (f[1] - f[0]);
}

/* ---- Known processes ---- */

/* h = 0.05, 20000 intervals: the standard error of the slope is 1 / sqrt(1000 / 2) = 0.045. */
static void test_tune__finds_the_slope_of_ornstein_uhlenbeck(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 200, 101, 0.05, ou_paths(1, 200, 101, 0.05, 1, 1));
    sock_model *model = fit(data, NULL);
    assert_close(slope(model), -1, 0.12, 1);
    double at[] = {-0.7, 0, 0.7}, a[3];
    assert_int_equal(sock_model_diffusion(ctx, model, 3, at, a), SOCK_OK);
    for (int i = 0; i < 3; i++) assert_close(a[i], 1, 0.06, 1);
    sock_model_free(model);
    sock_data_free(data);
}

/* The slope that the trapezoid converges to with M realisations of each of many starts: least squares of the mean
 * increment on the mean trapezoid. E xbar_t^2 = e^{-2t}/2 + (1 - e^{-2t})/(2 M): 0 for M = 1, and -1 in the limit. */
static double trapezoid_limit(size_t members, size_t steps, double h)
{
    double top = 0, bottom = 0, keep = exp(-h);
    for (size_t i = 0; i < steps; i++) {
        double here = exp(-2 * h * (double)i), there = here * keep * keep, m = (double)members;
        double now = 0.5 * here + 0.5 * (1 - here) / m, next = 0.5 * there + 0.5 * (1 - there) / m;
        top += 0.5 * (next - now);
        bottom += 0.25 * h * (now + next + 2 * keep * now);
    }
    return top / bottom;
}

/* The paper's rule is biased with one realisation, and the bias fades like 1/M. */
static void test_tune__trapezoid_is_biased_with_one_realisation(void **state)
{
    (void)state;
    static const char *const pairs[] = {"tune",      "no",   "quadrature",   "trapezoid", "drift", "linear",
                                        "diffusion", "none", "drift-lambda", "1e-14",     NULL};
    static const char *const left[] = {"tune",      "no",   "quadrature",   "left",  "drift", "linear",
                                       "diffusion", "none", "drift-lambda", "1e-14", NULL};
    static const size_t members[] = {1, 5, 50};
    double found[3];
    for (size_t c = 0; c < 3; c++) {
        size_t trajectories = members[c] == 1 ? 1000 : members[c] == 5 ? 5000 : 10000;
        sock_data *data = data_of(1, trajectories, 21, 0.05, ou_paths(1, trajectories, 21, 0.05, members[c], 2));
        sock_model *model = fit(data, pairs);
        found[c] = slope(model);
        assert_close(found[c], trapezoid_limit(members[c], 20, 0.05), 0.09, 1);
        sock_model_free(model);
        if (members[c] == 1) { /* the left point has no such bias: (exp(-h) - 1)/h */
            model = fit(data, left);
            assert_close(slope(model), (exp(-0.05) - 1) / 0.05, 0.12, 1);
            sock_model_free(model);
        }
        sock_data_free(data);
    }
    assert_true(fabs(found[0]) < 0.09);
    assert_true(found[1] < -0.5 && found[2] < -0.9 && found[2] < found[1]);
}

static double relative_error(size_t n, const double *value, const double *truth)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += (value[i] - truth[i]) * (value[i] - truth[i]);
        size += truth[i] * truth[i];
    }
    return 100 * sqrt(difference / size);
}

static void test_tune__finds_known_systems_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double f, a; /* percent; medians over seeds are a third of these */
    } known[] = {{"gbm", 12, 6}, {"expdyn", 25, 35}, {"dense", 3, 10}};
    for (size_t c = 0; c < 3; c++) {
        sys_instance *system = NULL;
        sock_model *truth = NULL;
        sock_data *data = NULL;
        assert_int_equal(sys_new(ctx, sys_find(known[c].name), 3, &system), SOCK_OK);
        if (c == 0) system->trajectories[SYS_TRAIN] = 40;
        assert_int_equal(sys_generate(ctx, system, SYS_TRAIN, &data), SOCK_OK);
        assert_int_equal(sys_truth(ctx, system, &truth), SOCK_OK);
        sock_model *model = fit(data, NULL);
        size_t n = data->points, d = data->d;
        double *f = calloc(2 * n * d, sizeof *f), *a = calloc(2 * n * d * d, sizeof *a);
        assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
        assert_int_equal(sock_model_drift(ctx, truth, n, data->x, f + n * d), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, n, data->x, a), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, truth, n, data->x, a + n * d * d), SOCK_OK);
        double error_f = relative_error(n * d, f, f + n * d), error_a = relative_error(n * d * d, a, a + n * d * d);
        if (error_f > known[c].f || error_a > known[c].a)
            fail_msg("%s: errors of f and a are %.1f %% and %.1f %%", known[c].name, error_f, error_a);
        json_t *info = info_of(model);
        double gain = json_number_value(json_object_get(info, "score")) -
                      json_number_value(json_object_get(info, "score_constant"));
        assert_true(gain > 10);
        json_decref(info);
        free(f), free(a);
        sock_model_free(model);
        sock_model_free(truth);
        sock_data_free(data);
        sys_free(system);
    }
}

/* ---- What the answer does not depend on ---- */

/* Without full matrices a and the polish, which take most of the time in two dimensions. */
static const char *const quick[] = {"diagonal", "yes", "polish", "no", NULL};

/* Two coordinates, coupled, of 24 trajectories. */
static sock_data *small_set(void)
{
    double *x = ou_paths(2, 24, 11, 0.1, 1, 5);
    for (size_t i = 0; i < 24 * 11; i++) x[2 * i + 1] = 0.8 * x[2 * i + 1] + 0.4 * x[2 * i];
    return data_of(2, 24, 11, 0.1, x);
}

static char *bytes_of(const sock_model *model, size_t *size)
{
    char path[64];
    snprintf(path, sizeof path, "test_tune_%ld.sock", (long)getpid());
    assert_int_equal(sock_model_save(ctx, model, path), SOCK_OK);
    FILE *file = fopen(path, "rb");
    char *bytes = calloc(1, 1 << 22);
    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    remove(path);
    assert_true(*size > 0 && *size < 1 << 22);
    return bytes;
}

static void test_tune__one_thread_twice_gives_the_same_bytes_and_two_the_same_model(void **state)
{
    (void)state;
    sock_data *data = small_set();
    sock_set_threads(ctx, 1);
    sock_model *one = fit(data, quick), *again = fit(data, quick);
    sock_set_threads(ctx, 2);
    sock_model *two = fit(data, quick);
    size_t size, size_again, n = data->points;
    char *bytes = bytes_of(one, &size), *bytes_again = bytes_of(again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, bytes_again, size);
    free(bytes), free(bytes_again);
    json_t *info = info_of(one), *other = info_of(two);
    assert_string_equal(json_string_value(json_object_get(info, "drift")),
                        json_string_value(json_object_get(other, "drift")));
    assert_string_equal(json_string_value(json_object_get(info, "diffusion")),
                        json_string_value(json_object_get(other, "diffusion")));
    json_decref(info), json_decref(other);
    double *f = calloc(4 * n, sizeof *f), *a = calloc(8 * n, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, one, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, two, n, data->x, f + 2 * n), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, one, n, data->x, a), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, two, n, data->x, a + 4 * n), SOCK_OK);
    assert_all_close(2 * n, f, f + 2 * n, 1e-9);
    assert_all_close(4 * n, a, a + 4 * n, 1e-9);
    free(f), free(a);
    sock_model_free(one), sock_model_free(again), sock_model_free(two);
    sock_data_free(data);
}

/* The order of the trajectories decides who is in which fold, and nothing else: with a validation set it decides
 * nothing. */
static void test_tune__order_of_trajectories_matters_through_the_folds_alone(void **state)
{
    (void)state;
    sock_data *data = small_set(), *turned = NULL, *held = NULL;
    size_t order[24], n = data->points;
    for (size_t j = 0; j < 24; j++) order[j] = 23 - j;
    assert_int_equal(sk_data_subset(ctx, data, order, 24, &turned), SOCK_OK);
    held = data_of(2, 12, 11, 0.1, ou_paths(2, 12, 11, 0.1, 1, 6));
    sock_options *opts = options(quick);
    assert_int_equal(sock_options_set_validation(ctx, opts, held), SOCK_OK);
    sock_model *one = NULL, *two = NULL;
    assert_true(sock_fit(ctx, data, opts, &one) >= 0);
    assert_true(sock_fit(ctx, turned, opts, &two) >= 0);
    double *f = calloc(4 * n, sizeof *f), *a = calloc(8 * n, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, one, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, two, n, data->x, f + 2 * n), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, one, n, data->x, a), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, two, n, data->x, a + 4 * n), SOCK_OK);
    assert_all_close(2 * n, f, f + 2 * n, 1e-6);
    assert_all_close(4 * n, a, a + 4 * n, 1e-6);
    json_t *info = info_of(one);
    assert_int_equal(json_integer_value(json_object_get(info, "folds")), 1);
    json_decref(info);
    free(f), free(a);
    sock_model_free(one), sock_model_free(two);
    sock_options_free(opts);
    sock_data_free(data), sock_data_free(turned), sock_data_free(held);
}

/* ---- Units ---- */

static sock_data *in_units(const sock_data *data, const double *unit)
{
    size_t n = data->points, d = data->d;
    double *x = calloc(n * d, sizeof *x);
    for (size_t i = 0; i < n * d; i++) x[i] = data->x[i] * unit[i % d];
    return data_of(d, data->trajectories, n / data->trajectories, data->t[1], x);
}

/* f_k = u_k f(x/u)_k, a_kl = u_k u_l a(x/u)_kl, in units of the first model. */
static void check_rescaled(const sock_data *data, const sock_model *model, const double *unit, const double *f0,
                           const double *a0)
{
    size_t n = data->points, d = data->d;
    double *f = calloc(n * d, sizeof *f), *a = calloc(n * d * d, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, n, data->x, a), SOCK_OK);
    for (size_t i = 0; i < n * d; i++) f[i] /= unit[i % d];
    for (size_t i = 0; i < n * d * d; i++) a[i] /= unit[i / d % d] * unit[i % d];
    assert_all_close(n * d, f, f0, 1e-6);
    assert_all_close(n * d * d, a, a0, 1e-6);
    free(f), free(a);
}

/* A fit in other units is the same fit in those units: fields, equation, score, and what is made of them. */
static void test_tune__units_of_the_states_do_not_matter(void **state)
{
    (void)state;
    static const double units[3][2] = {{1e-6, 1e-6}, {1e6, 1e6}, {1e-6, 1e6}};
    sock_data *plain = small_set(), *data[3];
    sock_model *model[3];
    json_t *info[3];
    size_t n = plain->points;
    double *f = calloc(2 * n, sizeof *f), *a = calloc(4 * n, sizeof *a);
    for (int c = 0; c < 3; c++) {
        data[c] = in_units(plain, units[c]);
        model[c] = fit(data[c], quick);
        info[c] = info_of(model[c]);
        assert_int_equal(json_array_size(json_object_get(info[c], "scale")), 2);
    }
    assert_int_equal(sock_model_drift(ctx, model[0], n, data[0]->x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model[0], n, data[0]->x, a), SOCK_OK);
    for (size_t i = 0; i < 2 * n; i++) f[i] /= 1e-6;
    for (size_t i = 0; i < 4 * n; i++) a[i] /= 1e-12;
    for (int c = 0; c < 3; c++) {
        check_rescaled(data[c], model[c], units[c], f, a);
        double density = json_number_value(json_object_get(info[c], "score")) / (double)(n - 24);
        double first = json_number_value(json_object_get(info[0], "score")) / (double)(n - 24);
        assert_close(density + log(units[c][0]) + log(units[c][1]), first + 2 * log(1e-6), 1e-6, 1);
    }
    sock_model *loaded = NULL; /* the file, and the sampler of simulations */
    char path[64];
    snprintf(path, sizeof path, "test_tune_units_%ld.sock", (long)getpid());
    assert_int_equal(sock_model_save(ctx, model[2], path), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, path, &loaded), SOCK_OK);
    remove(path);
    check_rescaled(data[2], loaded, units[2], f, a);
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, loaded, &sampler), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, n), 1), *g = calloc(6 * n, sizeof *g);
    sk_sampler_fields(ctx, sampler, n, data[2]->x, g, g + 2 * n, space);
    for (size_t i = 0; i < 2 * n; i++) g[i] /= units[2][i % 2];
    for (size_t i = 0; i < 4 * n; i++) g[2 * n + i] /= units[2][i / 2 % 2] * units[2][i % 2];
    assert_all_close(2 * n, g, f, 1e-6);
    assert_all_close(4 * n, g + 2 * n, a, 1e-6);
    sk_free(space), free(g);
    sk_sampler_free(sampler);
    sock_model_free(loaded);
    for (int c = 0; c < 3; c++) {
        json_decref(info[c]);
        sock_model_free(model[c]);
        sock_data_free(data[c]);
    }
    free(f), free(a);
    sock_data_free(plain);
}

/* The coefficients of the equation belong to the user's units: dx/dt = -x whatever x is measured in. */
static void test_tune__equation_is_in_the_users_units(void **state)
{
    (void)state;
    double *x = ou_paths(1, 60, 21, 0.1, 1, 8), coefficient;
    for (size_t i = 0; i < 60 * 21; i++) x[i] *= 1e5;
    sock_data *data = data_of(1, 60, 21, 0.1, x);
    sock_model *model = fit(data, (const char *const[]){"drift", "linear", NULL});
    json_t *info = info_of(model);
    const char *text = json_string_value(json_array_get(json_object_get(info, "equation"), 0));
    assert_int_equal(sscanf(text, "dx0/dt = %lf*x0", &coefficient), 1);
    double at = 1e5, f;
    assert_int_equal(sock_model_drift(ctx, model, 1, &at, &f), SOCK_OK);
    assert_close(coefficient * at, f, 1e-3, 0);
    assert_close(coefficient, -1, 0.4, 1);
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* A length scale that the user names is meant in the units of the data. */
static void test_tune__named_length_scale_stays_in_the_datas_units(void **state)
{
    (void)state;
    double *x = ou_paths(1, 30, 11, 0.1, 1, 9);
    for (size_t i = 0; i < 30 * 11; i++) x[i] *= 100;
    sock_data *data = data_of(1, 30, 11, 0.1, x);
    sock_model *model = fit(data, (const char *const[]){"drift", "gauss:eta=80", "diffusion", "constant", NULL});
    json_t *info = info_of(model);
    assert_true(json_is_null(json_object_get(info, "scale")));
    assert_string_equal(json_string_value(json_object_get(info, "drift")), "gauss:eta=80");
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* The drift of a scaled model can be given to sock_fit_diffusion. */
static void test_tune__scaled_drift_serves_another_diffusion(void **state)
{
    (void)state;
    static const double unit[] = {1e4, 1e-4};
    sock_data *plain = small_set(), *data = in_units(plain, unit);
    sock_model *model = fit(data, quick), *other = NULL;
    sock_options *opts = options((const char *const[]){"diffusion", "constant", NULL});
    size_t n = data->points;
    assert_true(sock_fit_diffusion(ctx, data, model, opts, &other) >= 0);
    double *f = calloc(4 * n, sizeof *f);
    assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, other, n, data->x, f + 2 * n), SOCK_OK);
    assert_memory_equal(f, f + 2 * n, 2 * n * sizeof *f);
    free(f);
    sock_options_free(opts);
    sock_model_free(model), sock_model_free(other);
    sock_data_free(plain), sock_data_free(data);
}

/* ---- Warnings ---- */

static void test_tune__measurement_noise_is_told(void **state)
{
    (void)state;
    double *x = ou_paths(1, 40, 51, 0.02, 1, 12), *noise = calloc(40 * 51, sizeof *noise);
    sk_normals((sk_key){12, SK_PURPOSE_TEST}, 41, 0, 0, 40 * 51, noise);
    sock_data *clean = data_of(1, 40, 51, 0.02, memcpy(calloc(40 * 51, sizeof *x), x, 40 * 51 * sizeof *x));
    for (size_t i = 0; i < 40 * 51; i++) x[i] += 0.15 * noise[i];
    sock_data *noisy = data_of(1, 40, 51, 0.02, x);
    sock_model *one = fit(clean, NULL), *two = fit(noisy, NULL);
    assert_false(warns(one, "correlated"));
    assert_true(warns(two, "negatively correlated: measurement noise"));
    sock_model_free(one), sock_model_free(two);
    sock_data_free(clean), sock_data_free(noisy);
    free(noise);
}

static void test_tune__random_walk_is_no_better_than_constant(void **state)
{
    (void)state;
    double *x = calloc(30 * 21, sizeof *x);
    sk_normals((sk_key){13, SK_PURPOSE_TEST}, 42, 0, 0, 30 * 21, x);
    for (size_t i = 0; i < 30 * 21; i++) x[i] = i % 21 ? x[i - 1] + 0.3 * x[i] : x[i];
    sock_data *data = data_of(1, 30, 21, 0.1, x);
    sock_model *model = fit(data, NULL);
    assert_true(warns(model, "no better than that of constant coefficients"));
    sock_model_free(model);
    sock_data_free(data);
}

/* Nonlinear steps are not memory: second order residuals of a fast drift have no correlation. */
static void test_tune__long_steps_are_not_taken_for_memory(void **state)
{
    (void)state;
    sys_instance *system = NULL;
    sock_data *data = NULL;
    assert_int_equal(sys_new(ctx, sys_find("dense"), 1, &system), SOCK_OK);
    assert_int_equal(sys_generate(ctx, system, SYS_TRAIN, &data), SOCK_OK);
    sock_model *model = fit(data, NULL);
    assert_false(warns(model, "correlated"));
    sock_model_free(model);
    sock_data_free(data);
    sys_free(system);
}

/* ---- Budget, cancelling, memory ---- */

static void test_tune__small_budget_gives_a_usable_model(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 400, 11, 0.1, ou_paths(1, 400, 11, 0.1, 1, 14));
    sock_options *opts = options((const char *const[]){"budget", "1e-6", NULL});
    sock_model *model = NULL;
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_LIMITED);
    assert_non_null(strstr(sock_message(ctx), "were left out"));
    double at[] = {-0.5, 0.5}, f[2], a[2];
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, at, a), SOCK_OK);
    assert_close(a[0], 1, 0.3, 1);
    assert_true(isfinite(f[0]) && isfinite(f[1]) && a[1] > 0);
    json_t *info = info_of(model);
    assert_true(json_is_true(json_object_get(info, "limited")));
    assert_true(json_array_size(json_object_get(info, "left_out")) > 0);
    json_decref(info);
    sock_model_free(model);
    sock_options_free(opts);
    sock_data_free(data);
}

static int stop_after(void *user, const char *stage, double fraction)
{
    (void)fraction;
    assert_non_null(stage);
    long *left = user;
    return --*left == 0;
}

static void test_tune__monitor_cancels_at_any_time(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 12, 9, 0.1, ou_paths(1, 12, 9, 0.1, 1, 15));
    sock_set_threads(ctx, 1);
    for (long k = 1;; k = k < 8 ? k + 1 : k * 2) {
        long left = k;
        sock_model *model = NULL;
        sock_set_monitor(ctx, stop_after, &left);
        sock_status status = sock_fit(ctx, data, NULL, &model);
        sock_set_monitor(ctx, NULL, NULL);
        sock_cancel_reset(ctx);
        if (status >= 0) { /* it was over before */
            assert_true(k > 100);
            sock_model_free(model);
            break;
        }
        assert_int_equal(status, SOCK_ECANCELLED);
        assert_null(model);
    }
    sock_set_threads(ctx, 2);
    sock_data_free(data);
}

/* Every allocation in turn would take minutes: about fifteen of them, spread over the whole search. */
static void test_tune__survives_failed_allocations(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 6, 5, 0.1, ou_paths(1, 6, 5, 0.1, 1, 16));
    sock_model *model = NULL;
    sock_set_threads(ctx, 1);
    long before = sk_allocations(ctx);
    assert_true(sock_fit(ctx, data, NULL, &model) >= 0);
    long total = sk_allocations(ctx) - before;
    sock_model_free(model);
    for (long k = 1; k <= total; k += 1 + total / 15) {
        model = NULL;
        sk_fail_allocation(ctx, k);
        sock_status status = sock_fit(ctx, data, NULL, &model);
        sk_fail_allocation(ctx, 0);
        assert_int_equal(status, SOCK_ENOMEM);
        assert_non_null(strstr(sock_message(ctx), "out of memory"));
        assert_null(model);
    }
    sock_set_threads(ctx, 2);
    sock_data_free(data);
}

/* ---- Options ---- */

static void test_tune__options_of_the_plain_estimator_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"drift-lambda", "1"}, {"solver", "fista"}, {"quadrature", "trapezoid"},
                                           {"diffusion", "none"}, {"landmarks", "10"}, {"drift", "curlfree"}};
    sock_data *data = small_set();
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++) {
        sock_options *opts = options((const char *const[]){wrong[c][0], wrong[c][1], NULL});
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
        assert_true(strlen(sock_message(ctx)) > 10);
        assert_null(model);
        sock_options_free(opts);
    }
    sock_data_free(data);
}

/* Each piece can be switched off, and the search still ends in a model. */
static void test_tune__pieces_can_be_switched_off(void **state)
{
    (void)state;
    static const char *const off[][2] = {
        {"weights", "no"}, {"learned", "no"},      {"correction", "no"}, {"polish", "no"},   {"average", "no"},
        {"scaling", "no"}, {"quadrature", "left"}, {"diagonal", "yes"},  {"diagonal", "no"}, {"folds", "3"}};
    sock_data *data = data_of(2, 12, 9, 0.1, ou_paths(2, 12, 9, 0.1, 1, 17));
    for (size_t c = 0; c < sizeof off / sizeof *off; c++) {
        sock_model *model =
            fit(data, (const char *const[]){off[c][0], off[c][1], "drift", "affine", "diffusion", "affine", NULL});
        json_t *info = info_of(model), *list = json_object_get(info, "diffusions"), *entry;
        size_t i;
        json_array_foreach(list, i, entry)
        {
            const char *name = json_string_value(json_object_get(entry, "kernel"));
            if (strcmp(off[c][0], "diagonal") == 0)
                assert_true((strstr(name, "diagonal") != NULL) == (strcmp(off[c][1], "yes") == 0));
            if (strcmp(off[c][0], "polish") == 0) assert_true(json_is_false(json_object_get(entry, "polished")));
        }
        if (strcmp(off[c][0], "average") == 0) assert_int_equal(json_array_size(list), 1);
        if (strcmp(off[c][0], "folds") == 0) assert_int_equal(json_integer_value(json_object_get(info, "folds")), 3);
        json_decref(info);
        sock_model_free(model);
    }
    sock_data_free(data);
}

/* ---- Poor data ---- */

typedef struct poor {
    const char *name;
    size_t d, trajectories, points;
    const char *message; /* NULL: a model is expected */
} poor;

static void spoil(const char *name, size_t d, size_t n, size_t points, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double *at = x + i * d, step = (double)(i % points);
        if (strcmp(name, "constant") == 0) at[0] = 2;
        if (strcmp(name, "equal increments") == 0) at[0] = 0.5 * step;
        if (strcmp(name, "equal increments in two") == 0) at[0] = 0.5 * step, at[1] = 0.25 * step;
        if (strcmp(name, "a coordinate stands still") == 0) at[1] = 3e4;
        if (strcmp(name, "copies") == 0 && i >= points) memcpy(at, x + (i % points) * d, d * sizeof *x);
        if (strcmp(name, "collinear") == 0) at[1] = 2 * at[0];
        if (strcmp(name, "no noise") == 0) at[0] = (1 + (double)(i / points)) * exp(-0.1 * step);
        if (strcmp(name, "far from zero") == 0) at[0] += 1e6;
        if (strcmp(name, "up and down") == 0) at[0] = (double)(i % 2);
        if (strcmp(name, "one jump") == 0) at[0] = i + 1 == n;
        if (strcmp(name, "scales") == 0) at[0] *= 1e-6, at[2] *= 1e6;
        if (strcmp(name, "huge") == 0) at[0] *= 1e160;
    }
}

static void test_tune__poor_data_end_in_a_model_or_a_message(void **state)
{
    (void)state;
    static const poor cases[] = {{"two trajectories", 1, 2, 30, NULL},
                                 {"two steps", 1, 2, 2, NULL},
                                 {"one trajectory", 1, 1, 60, NULL},
                                 {"three points", 1, 1, 3, NULL},
                                 {"one interval", 1, 1, 2, "one interval is not enough"},
                                 {"constant", 1, 4, 8, "never change"},
                                 {"two points each", 1, 30, 2, NULL},
                                 {"ten dimensions, 20 intervals", 10, 2, 11, NULL},
                                 {"ten dimensions, 20 starts", 10, 20, 2, NULL},
                                 {"scales", 3, 6, 21, NULL},
                                 {"equal increments", 1, 4, 10, NULL},
                                 {"equal increments in two", 2, 4, 10, NULL},
                                 {"a coordinate stands still", 2, 8, 11, NULL},
                                 {"copies", 1, 8, 21, NULL},
                                 {"collinear", 2, 8, 11, NULL},
                                 {"no noise", 1, 5, 15, NULL},
                                 {"far from zero", 1, 8, 21, NULL},
                                 {"up and down", 1, 5, 10, NULL},
                                 {"one jump", 1, 5, 10, NULL},
                                 {"huge", 1, 5, 10, "rescale the data"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t d = cases[c].d, n = cases[c].trajectories * cases[c].points;
        double *x = ou_paths(d, cases[c].trajectories, cases[c].points, 0.1, 1, 20 + c);
        spoil(cases[c].name, d, n, cases[c].points, x);
        sock_data *data = data_of(d, cases[c].trajectories, cases[c].points, 0.1, x);
        sock_options *opts = options((const char *const[]){"budget", d > 2 ? "1" : "20", NULL});
        sock_model *model = NULL;
        sock_status status = sock_fit(ctx, data, opts, &model);
        if (cases[c].message) {
            assert_int_equal(status, SOCK_EINPUT);
            if (!strstr(sock_message(ctx), cases[c].message)) fail_msg("%s: %s", cases[c].name, sock_message(ctx));
        } else {
            if (status < 0) fail_msg("%s: %s", cases[c].name, sock_message(ctx));
            double *f = calloc(n * d, sizeof *f), *a = calloc(n * d * d, sizeof *a);
            assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
            assert_int_equal(sock_model_sigma(ctx, model, n, data->x, a), SOCK_OK);
            for (size_t i = 0; i < n * d; i++)
                if (!isfinite(f[i])) fail_msg("%s: f is %g", cases[c].name, f[i]);
            for (size_t i = 0; i < n * d * d; i++)
                if (!isfinite(a[i])) fail_msg("%s: sigma is %g", cases[c].name, a[i]);
            free(f), free(a);
        }
        sock_model_free(model);
        sock_options_free(opts);
        sock_data_free(data);
    }
}

/* Steps from a microsecond to a second. */
static void test_tune__steps_of_all_lengths_go_together(void **state)
{
    (void)state;
    enum { PATHS = 12, POINTS = 31 };
    double *t = calloc(PATHS * POINTS, sizeof *t), *x = calloc(PATHS * POINTS, sizeof *x);
    size_t length[PATHS];
    sk_normals((sk_key){51, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * POINTS, x);
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        for (size_t i = 1; i < POINTS; i++) {
            double h = pow(10, -6 + 0.2 * (double)((7 * i + j) % 31)), *at = x + j * POINTS + i;
            t[j * POINTS + i] = t[j * POINTS + i - 1] + h;
            *at = exp(-h) * at[-1] + sqrt(0.5 * (1 - exp(-2 * h))) * *at;
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_model *model = fit(data, NULL);
    double at = 0.2, a;
    assert_int_equal(sock_model_diffusion(ctx, model, 1, &at, &a), SOCK_OK);
    assert_close(a, 1, 0.35, 1);
    sock_model_free(model);
    sock_data_free(data);
    free(t), free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tune__finds_the_slope_of_ornstein_uhlenbeck),
        cmocka_unit_test(test_tune__trapezoid_is_biased_with_one_realisation),
        cmocka_unit_test(test_tune__finds_known_systems_again),
        cmocka_unit_test(test_tune__one_thread_twice_gives_the_same_bytes_and_two_the_same_model),
        cmocka_unit_test(test_tune__order_of_trajectories_matters_through_the_folds_alone),
        cmocka_unit_test(test_tune__units_of_the_states_do_not_matter),
        cmocka_unit_test(test_tune__equation_is_in_the_users_units),
        cmocka_unit_test(test_tune__named_length_scale_stays_in_the_datas_units),
        cmocka_unit_test(test_tune__scaled_drift_serves_another_diffusion),
        cmocka_unit_test(test_tune__measurement_noise_is_told),
        cmocka_unit_test(test_tune__random_walk_is_no_better_than_constant),
        cmocka_unit_test(test_tune__long_steps_are_not_taken_for_memory),
        cmocka_unit_test(test_tune__small_budget_gives_a_usable_model),
        cmocka_unit_test(test_tune__monitor_cancels_at_any_time),
        cmocka_unit_test(test_tune__survives_failed_allocations),
        cmocka_unit_test(test_tune__options_of_the_plain_estimator_are_refused),
        cmocka_unit_test(test_tune__pieces_can_be_switched_off),
        cmocka_unit_test(test_tune__poor_data_end_in_a_model_or_a_message),
        cmocka_unit_test(test_tune__steps_of_all_lengths_go_together),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
