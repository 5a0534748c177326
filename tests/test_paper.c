/* test_paper.c - the paper's protocol: what it chose is what plain fits with those numbers score, and the model is the
 * plain fit to all data. */
#include "data/data.h"
#include "test.h"

#include <jansson.h>

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

/* dx = -x dt + (0.5 + 0.3 x^2)^(1/2) dW: 20 starts of 3 realisations, 11 points. */
static sock_data *some_data(uint64_t seed)
{
    enum { PATHS = 60, POINTS = 11 };
    static double t[PATHS * POINTS], x[PATHS * POINTS];
    size_t length[PATHS];
    sock_data *data = NULL;
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 70, 0, 0, PATHS * POINTS, x);
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        for (size_t i = 0; i < POINTS; i++) {
            double *at = x + j * POINTS + i;
            t[j * POINTS + i] = 0.1 * (double)i;
            if (i)
                *at = at[-1] - 0.1 * at[-1] + sqrt(0.1 * (0.5 + 0.3 * at[-1] * at[-1])) * *at;
            else if (j % 3)
                *at = x[(j - j % 3) * POINTS];
        }
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_data_groups(data), 20);
    return data;
}

static sock_model *fit(const sock_data *data, const sock_data *validation, const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    for (; *pairs; pairs += 2)
        if (sock_options_set(ctx, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_options_set_validation(ctx, opts, validation), SOCK_OK);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static json_t *info_of(const sock_model *model)
{
    char *text = NULL;
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    json_t *info = json_loads(text, 0, NULL);
    sock_string_free(text);
    return info;
}

/* The plain fit with the kernels and penalties of the report. */
static sock_model *plain_fit(const sock_data *data, json_t *info, bool with_diffusion)
{
    char lambda_f[40], lambda_a[40];
    sk_print_double(lambda_f, json_number_value(json_object_get(info, "drift_lambda")));
    sk_print_double(lambda_a, json_number_value(json_object_get(info, "diffusion_lambda")));
    const char *pairs[] = {"tune",
                           "no",
                           "tolerance",
                           "1e-11",
                           "quadrature",
                           "trapezoid",
                           "drift",
                           json_string_value(json_object_get(info, "drift")),
                           "drift-lambda",
                           lambda_f,
                           "diffusion",
                           with_diffusion ? json_string_value(json_object_get(info, "diffusion")) : "none",
                           with_diffusion ? "diffusion-lambda" : NULL,
                           lambda_a,
                           NULL};
    return fit(data, NULL, pairs);
}

/* sum log N(y_{i+1}; y_i + h f, h a + delta), a constant where it is given. */
static double euler_likelihood(const sock_data *data, const sock_model *model, double constant, double delta)
{
    double total = 0, *f = calloc(data->points, sizeof *f), *a = calloc(data->points, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, model, data->points, data->x, f), SOCK_OK);
    if (!(constant > 0)) assert_int_equal(sock_model_diffusion(ctx, model, data->points, data->x, a), SOCK_OK);
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            double h = data->t[i + 1] - data->t[i], e = data->x[i + 1] - data->x[i] - h * f[i];
            double c = h * (constant > 0 ? constant : a[i]) + delta;
            total -= 0.5 * (log(2 * acos(-1.0) * c) + e * e / c);
        }
    free(f), free(a);
    return total;
}

/* Variance of the increments about their mean rate, per unit of time. */
static double increments(const sock_data *data)
{
    double rate = 0, time = 0, sum = 0, n = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        rate += data->x[data->first[j + 1] - 1] - data->x[data->first[j]];
        time += data->t[data->first[j + 1] - 1] - data->t[data->first[j]];
    }
    rate /= time;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, n++) {
            double h = data->t[i + 1] - data->t[i];
            sum += pow(data->x[i + 1] - data->x[i] - h * rate, 2) / h;
        }
    return sum / n;
}

static void check_protocol(const sock_data *train, const sock_data *held, const sock_data *all, const sock_model *model,
                           double delta)
{
    json_t *info = info_of(model);
    sock_model *drift = plain_fit(train, info, false), *both = plain_fit(train, info, true);
    sock_model *final = plain_fit(all, info, true);
    assert_close(json_number_value(json_object_get(info, "drift_score")),
                 euler_likelihood(held, drift, increments(train), delta), 1e-9, 1);
    assert_close(json_number_value(json_object_get(info, "score")), euler_likelihood(held, both, 0, delta), 1e-6, 1);
    double at[] = {-1, -0.3, 0, 0.6, 1.2}, f[10], a[10];
    assert_int_equal(sock_model_drift(ctx, model, 5, at, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, final, 5, at, f + 5), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 5, at, a), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, final, 5, at, a + 5), SOCK_OK);
    assert_all_close(5, f, f + 5, 1e-6); /* pivots of the same points in another order */
    assert_all_close(5, a, a + 5, 2e-5); /* both to a gap of 1e-11: a to about its root */
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(info, "search"), i, row) /* nothing in the table is better than the choice */
    {
        const char *field = json_string_value(json_object_get(row, "field"));
        double best = json_number_value(json_object_get(info, strcmp(field, "drift") == 0 ? "drift_score" : "score"));
        assert_true(json_number_value(json_object_get(row, "score")) <= best ||
                    json_is_null(json_object_get(row, "score")));
    }
    assert_true(i >= 60);
    assert_string_equal(json_string_value(json_object_get(info, "preset")), "paper");
    assert_string_equal(json_string_value(json_object_get(info, "quadrature")), "trapezoid");
    json_decref(info);
    sock_model_free(drift), sock_model_free(both), sock_model_free(final);
}

static void test_paper__holds_out_a_fifth_of_the_groups(void **state)
{
    (void)state;
    sock_data *data = some_data(1), *train = NULL, *held = NULL;
    assert_int_equal(sock_data_split(ctx, data, 5, 0, 0, &train, &held), SOCK_OK);
    sock_model *model = fit(data, NULL, (const char *const[]){"preset", "paper", "tolerance", "1e-11", NULL});
    check_protocol(train, held, data, model, 0);
    sock_model_free(model);
    sock_data_free(data), sock_data_free(train), sock_data_free(held);
}

static void test_paper__judges_on_the_validation_set_with_delta(void **state)
{
    (void)state;
    sock_data *data = some_data(2), *train = NULL, *held = NULL;
    assert_int_equal(sock_data_split(ctx, data, 4, 1, 3, &train, &held), SOCK_OK);
    sock_model *model =
        fit(train, held, (const char *const[]){"preset", "paper", "delta", "0.002", "tolerance", "1e-11", NULL});
    check_protocol(train, held, data, model, 0.002);
    sock_model_free(model);
    sock_data_free(data), sock_data_free(train), sock_data_free(held);
}

static void test_paper__named_kernels_are_taken_as_they_are(void **state)
{
    (void)state;
    sock_data *data = some_data(3);
    sock_model *model = fit(
        data, NULL, (const char *const[]){"preset", "paper", "drift", "linear", "diffusion", "poly:degree=1", NULL});
    json_t *info = info_of(model);
    assert_string_equal(json_string_value(json_object_get(info, "drift")), "linear");
    assert_string_equal(json_string_value(json_object_get(info, "diffusion")), "poly:degree=1");
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

static void test_paper__says_what_it_cannot_do(void **state)
{
    (void)state;
    double t[] = {0, 0.1, 0.2}, x[] = {1, 1.1, 0.9};
    size_t length = 3;
    sock_data *one = NULL, *data = some_data(4);
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &one), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "preset", "paper"), SOCK_OK);
    assert_int_equal(sock_fit(ctx, one, opts, &model), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "--validation"));
    assert_int_equal(sock_options_set(ctx, opts, "quadrature", "left"), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "trapezoid"));
    assert_int_equal(sock_options_set(ctx, opts, "quadrature", "auto"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "budget", "1e-6"), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_LIMITED);
    sock_model_free(model);
    sock_options_free(opts);
    sock_data_free(one), sock_data_free(data);
}

static sock_status fit_once(sock_context *c, void *arg)
{
    sock_options *opts = sock_options_new(c);
    sock_model *model = NULL;
    sock_status status = opts ? sock_options_set(c, opts, "preset", "paper") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(c, opts, "drift", "linear");
    if (status >= 0) status = sock_options_set(c, opts, "diffusion", "constant");
    if (status >= 0) status = sock_fit(c, arg, opts, &model);
    sock_model_free(model);
    sock_options_free(opts);
    return status;
}

static void test_paper__survives_every_failed_allocation(void **state)
{
    (void)state;
    double t[12], x[12] = {1, 1.1, 0.9, 0.5, 0.4, 0.6, -1, -0.8, -0.9, 2, 1.7, 1.5};
    size_t length[] = {3, 3, 3, 3};
    sock_data *data = NULL;
    for (size_t i = 0; i < 12; i++) t[i] = 0.1 * (double)(i % 3);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_set_threads(ctx, 1);
    assert_true(for_each_allocation(ctx, fit_once, data) > 100);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper__holds_out_a_fifth_of_the_groups),
        cmocka_unit_test(test_paper__judges_on_the_validation_set_with_delta),
        cmocka_unit_test(test_paper__named_kernels_are_taken_as_they_are),
        cmocka_unit_test(test_paper__says_what_it_cannot_do),
        cmocka_unit_test(test_paper__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
