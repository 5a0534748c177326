/* test_paper.c - the paper's protocol: what it chose is what plain fits with those numbers score, and the model is the
 * plain fit to all data. */
#include "data/data.h"
#include "onecontext.h"

#include "modelinfo.h"

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

/* The plain fit with these kernels and penalties; diffusion NULL: the drift alone. */
static sock_model *plain_fit(const sock_data *data, const char *drift, double lambda_f, const char *diffusion,
                             double lambda_a)
{
    char f[40], a[40];
    sk_print_double(f, lambda_f);
    sk_print_double(a, lambda_a);
    const char *pairs[] = {"tune",
                           "no",
                           "tolerance",
                           "1e-11",
                           "quadrature",
                           "trapezoid",
                           "drift",
                           drift,
                           "drift-lambda",
                           f,
                           "diffusion",
                           diffusion ? diffusion : "none",
                           diffusion ? "diffusion-lambda" : NULL,
                           a,
                           NULL};
    return fit(data, NULL, pairs);
}

/* Variance of the residuals of a drift on the steps, per unit of time. */
static double residual_variance(const sock_data *data, const sock_model *drift)
{
    double sum = 0, n = 0, *f = calloc(data->points, sizeof *f);
    assert_int_equal(sock_model_drift(ctx, drift, data->points, data->x, f), SOCK_OK);
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, n++) {
            double h = data->t[i + 1] - data->t[i];
            sum += pow(data->x[i + 1] - data->x[i] - h * f[i], 2) / h;
        }
    free(f);
    return sum / n;
}

/* sum log N(y_{i+1}; y_i + h f, h a + delta), with a from another model, or constant. */
static double euler_likelihood(const sock_data *data, const sock_model *drift, const sock_model *diffusion,
                               double constant, double delta)
{
    double total = 0, *f = calloc(data->points, sizeof *f), *a = calloc(data->points, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, drift, data->points, data->x, f), SOCK_OK);
    if (diffusion) assert_int_equal(sock_model_diffusion(ctx, diffusion, data->points, data->x, a), SOCK_OK);
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            double h = data->t[i + 1] - data->t[i], e = data->x[i + 1] - data->x[i] - h * f[i];
            double c = h * (diffusion ? a[i] : constant) + delta;
            total -= 0.5 * (log(2 * acos(-1.0) * c) + e * e / c);
        }
    free(f), free(a);
    return total;
}

/* ---- The table, computed again ---- */

static const char *text_of(json_t *row, const char *key) { return json_string_value(json_object_get(row, key)); }
static double number_of(json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }

/* The row with the best score of a stage and field. */
static json_t *best_row(json_t *table, const char *stage, const char *field)
{
    json_t *row, *best = NULL;
    size_t i;
    json_array_foreach(table, i, row)
    {
        bool counts = strcmp(text_of(row, "stage"), stage) == 0 && strcmp(text_of(row, "field"), field) == 0 &&
                      json_is_number(json_object_get(row, "score"));
        if (counts && (!best || number_of(row, "score") > number_of(best, "score"))) best = row;
    }
    assert_non_null(best);
    return best;
}

typedef struct protocol {
    const sock_data *train, *held, *all;
    double delta;
} protocol;

/* Two convex problems are solved to a gap of 1e-11, so a to 1.6 times the root of that, and each step's term to half of
 * it, as long as the step is one the model thinks possible. */
static double likelihood_error(const protocol *p)
{
    return 1.6 * sqrt(1e-11) * (double)(p->held->points - p->held->trajectories);
}

/* Each drift of a stage judged with a, or with its residuals. */
static void check_drifts(const protocol *p, json_t *table, const char *stage, const sock_model *a)
{
    double best = number_of(best_row(table, stage, "drift"), "score");
    json_t *row;
    size_t i, seen = 0;
    json_array_foreach(table, i, row)
    {
        if (strcmp(text_of(row, "stage"), stage) != 0 || strcmp(text_of(row, "field"), "drift") != 0) continue;
        if (number_of(row, "l") < 1e-7) continue; /* the pivoted features change with the smallest lambda asked for */
        if (a && number_of(row, "score") < best - 20) continue;
        sock_model *drift = plain_fit(p->train, text_of(row, "kernel"), number_of(row, "lambda"), NULL, 0);
        double again = euler_likelihood(p->held, drift, a, a ? 0 : residual_variance(p->train, drift), p->delta);
        assert_close(number_of(row, "score"), again, 1e-6, a ? 1e6 * likelihood_error(p) : 1);
        sock_model_free(drift);
        seen++;
    }
    assert_true(seen >= 30);
}

/* Each diffusion of a stage with the drift it was fitted to. */
static void check_diffusions(const protocol *p, json_t *table, const char *stage, json_t *drift)
{
    double best = number_of(best_row(table, stage, "diffusion"), "score");
    json_t *row;
    size_t i, seen = 0;
    json_array_foreach(table, i, row)
    {
        if (strcmp(text_of(row, "stage"), stage) != 0 || strcmp(text_of(row, "field"), "diffusion") != 0) continue;
        if (number_of(row, "score") < best - 5) continue;
        sock_model *both = plain_fit(p->train, text_of(drift, "kernel"), number_of(drift, "lambda"),
                                     text_of(row, "kernel"), number_of(row, "lambda"));
        double again = euler_likelihood(p->held, both, both, 0, p->delta);
        if (!(fabs(number_of(row, "score") - again) <= likelihood_error(p)))
            fail_msg("%s l %g: %.12g is not %.12g", text_of(row, "kernel"), number_of(row, "l"),
                     number_of(row, "score"), again);
        sock_model_free(both);
        seen++;
    }
    assert_true(seen >= 3);
}

/* Every place of the grids is what a plain fit there scores; the choice is the best of them; the model is the plain
 * fit of the choice to all data. */
static void check_protocol(const protocol *p, const sock_model *model)
{
    json_t *info = info_of(model), *table = json_object_get(info, "search");
    json_t *drift = best_row(table, "grid 1", "drift"), *a = best_row(table, "grid 1", "diffusion");
    check_drifts(p, table, "grid 1", NULL);
    check_diffusions(p, table, "grid 1", drift);
    sock_model *found = plain_fit(p->train, text_of(drift, "kernel"), number_of(drift, "lambda"), text_of(a, "kernel"),
                                  number_of(a, "lambda"));
    check_drifts(p, table, "grid 2", found);
    json_t *again = best_row(table, "grid 2", "drift");
    bool same = strcmp(text_of(drift, "kernel"), text_of(again, "kernel")) == 0 &&
                number_of(drift, "l") == number_of(again, "l");
    if (!same) {
        check_diffusions(p, table, "grid 2", again);
        a = best_row(table, "grid 2", "diffusion");
    }
    assert_string_equal(text_of(info, "drift"), text_of(again, "kernel"));
    assert_true(number_of(info, "drift_lambda") == number_of(again, "lambda"));
    assert_string_equal(text_of(info, "diffusion"), text_of(a, "kernel"));
    assert_true(number_of(info, "diffusion_lambda") == number_of(a, "lambda"));
    assert_true(number_of(info, "score") == number_of(a, "score"));
    assert_int_equal(json_integer_value(json_object_get(info, "steps")), p->held->points - p->held->trajectories);
    sock_model *final = plain_fit(p->all, text_of(info, "drift"), number_of(info, "drift_lambda"),
                                  text_of(info, "diffusion"), number_of(info, "diffusion_lambda"));
    double at[] = {-1, -0.3, 0, 0.6, 1.2}, f[10], b[10];
    assert_int_equal(sock_model_drift(ctx, model, 5, at, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, final, 5, at, f + 5), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 5, at, b), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, final, 5, at, b + 5), SOCK_OK);
    assert_all_close(5, f, f + 5, 1e-6); /* pivots of the same points in another order */
    assert_all_close(5, b, b + 5, 2e-5); /* both to a gap of 1e-11: a to about its root */
    assert_string_equal(text_of(info, "preset"), "paper");
    assert_string_equal(text_of(info, "quadrature"), "trapezoid");
    assert_int_equal(json_integer_value(json_object_get(info, "rounds")), 2);
    json_decref(info);
    sock_model_free(found), sock_model_free(final);
}

static void test_paper__holds_out_a_fifth_of_the_groups(void **state)
{
    (void)state;
    sock_data *data = some_data(1), *train = NULL, *held = NULL;
    assert_int_equal(sock_data_split(ctx, data, 5, 0, 0, &train, &held), SOCK_OK);
    sock_model *model = fit(data, NULL, (const char *const[]){"preset", "paper", "tolerance", "1e-11", NULL});
    check_protocol(&(protocol){train, held, data, 0}, model);
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
    check_protocol(&(protocol){train, held, data, 0.002}, model);
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

/* Training data that grow and validation data that decay: the largest penalty of the drift is best, and that is told.
 */
static void test_paper__edge_of_a_grid_is_told(void **state)
{
    (void)state;
    enum { PATHS = 20, POINTS = 11 };
    double t[PATHS * POINTS], x[PATHS * POINTS];
    size_t length[PATHS], i, least = 0;
    sock_data *data[2] = {NULL, NULL};
    for (int c = 0; c < 2; c++) {
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, 71, (uint64_t)c, 0, PATHS * POINTS, x);
        for (i = 0; i < PATHS * POINTS; i++) {
            length[i / POINTS] = POINTS;
            t[i] = 0.1 * (double)(i % POINTS);
            if (i % POINTS) x[i] = (c ? 0.9 : 1.1) * x[i - 1] + 0.1 * x[i];
        }
        assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data[c]), SOCK_OK);
    }
    sock_model *model = fit(data[0], data[1],
                            (const char *const[]){"preset", "paper", "drift", "linear", "diffusion", "constant", NULL});
    json_t *info = info_of(model), *entry;
    bool told = false;
    assert_true(number_of(info, "drift_l") == 1);
    assert_true(json_is_true(json_object_get(info, "drift_edge")));
    json_array_foreach(json_object_get(info, "warnings"), i, entry)
    {
        told = told || strstr(json_string_value(entry), "drift is at the edge of its grid");
    }
    assert_true(told);
    json_array_foreach(json_object_get(info, "search"), i, entry)
    {
        if (strcmp(text_of(entry, "field"), "drift") == 0) least += number_of(entry, "l") < 0.99e-9;
    }
    assert_int_equal(least, 0); /* the end that is not best does not grow */
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data[0]), sock_data_free(data[1]);
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
        cmocka_unit_test(test_paper__edge_of_a_grid_is_told),
        cmocka_unit_test(test_paper__says_what_it_cannot_do),
        cmocka_unit_test(test_paper__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
