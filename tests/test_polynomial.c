/* The terms of a model are the model: polynomials with their coefficients give f and a at any point. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { TRAJECTORIES = 12, STEPS = 15, D = 2 };

static double noise(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0 - 0.5;
}

static sock_data *some_data(sock_context *ctx, size_t d, double scale, double shift)
{
    size_t length[TRAJECTORIES];
    double t[TRAJECTORIES * STEPS], x[TRAJECTORIES * STEPS * 3];
    unsigned state = 7;
    for (size_t j = 0; j < TRAJECTORIES; j++) {
        length[j] = STEPS;
        for (size_t i = 0; i < STEPS; i++) {
            const size_t at = j * STEPS + i;
            t[at] = 0.1 * (double)i;
            for (size_t k = 0; k < d; k++)
                x[at * d + k] =
                    scale * (i ? x[(at - 1) * d + k] / scale * 0.9 + 0.4 * noise(&state) : 2 * noise(&state));
        }
    }
    for (size_t i = 0; i < TRAJECTORIES * STEPS * d; i++) x[i] += shift;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, TRAJECTORIES, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static sock_model *fit(sock_context *ctx, const sock_data *data, const char *const *options)
{
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    for (; *options; options += 2) assert_true(sock_options_set(ctx, opts, options[0], options[1]) >= 0);
    const sock_status status = sock_fit(ctx, data, opts, &model);
    if (status < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static json_t *terms_of(sock_context *ctx, const sock_model *model)
{
    char *text = NULL;
    assert_int_equal(sock_model_terms(ctx, model, &text), SOCK_OK);
    json_t *terms = json_loads(text, 0, NULL);
    assert_non_null(terms);
    sock_string_free(text);
    return terms;
}

/* Value v of a list of terms at x - origin. */
static double sum_at(json_t *list, size_t d, const double *x, size_t v)
{
    double sum = 0;
    size_t i;
    json_t *term;
    json_array_foreach(list, i, term)
    {
        double product = json_number_value(json_array_get(json_object_get(term, "coefficients"), v));
        for (size_t k = 0; k < d; k++)
            product *= pow(x[k], (double)json_integer_value(json_array_get(json_object_get(term, "powers"), k)));
        sum += product;
    }
    return sum;
}

static void check_fields(sock_context *ctx, const sock_model *model, double scale, double origin)
{
    const size_t d = sock_model_dim(model);
    json_t *terms = terms_of(ctx, model), *drift = json_object_get(terms, "drift"),
           *diffusion = json_object_get(terms, "diffusion");
    unsigned state = 3;
    assert_true(json_is_array(drift) && json_is_array(diffusion));
    for (int n = 0; n < 20; n++) {
        double x[3], f[3], a[9];
        for (size_t k = 0; k < d; k++) x[k] = origin + 3 * scale * noise(&state);
        assert_int_equal(sock_model_drift(ctx, model, 1, x, f), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, 1, x, a), SOCK_OK);
        for (size_t k = 0; k < d; k++) {
            assert_true(json_number_value(json_array_get(json_object_get(terms, "origin"), k)) == origin);
            x[k] -= origin;
        }
        for (size_t k = 0, v = 0; k < d; k++) {
            assert_true(fabs(sum_at(drift, d, x, k) - f[k]) <= 1e-10 * (fabs(f[k]) + scale));
            for (size_t l = k; l < d; l++, v++)
                assert_true(fabs(sum_at(diffusion, d, x, v) - a[k * d + l]) <=
                            1e-10 * (fabs(a[k * d + k]) + fabs(a[l * d + l]) + scale * scale));
        }
    }
    json_decref(terms);
}

static void prop_terms_are_the_fields(void **arg)
{
    (void)arg;
    static const char *const kinds[][7] = {
        {"tune", "no", "drift", "poly:degree=3", "diffusion", "poly:degree=2", NULL},
        {"tune", "no", "drift", "linear", "diffusion", "affine", NULL},
        {"tune", "no", "drift", "affine+poly:degree=2", "diffusion", "constant+linear", NULL}};
    sock_context *ctx = sock_context_new();
    for (size_t d = 1; d <= 3; d++)
        for (size_t kind = 0; kind < 3; kind++) {
            sock_data *data = some_data(ctx, d, 1, 0);
            sock_model *model = fit(ctx, data, kinds[kind]);
            check_fields(ctx, model, 1, 0);
            sock_model_free(model);
            sock_data_free(data);
        }
    sock_context_free(ctx);
}

static void prop_terms_of_diagonal_diffusions(void **arg)
{
    (void)arg;
    static const char *const options[] = {"tune",          "no",       "drift", "affine", "diffusion",
                                          "poly:degree=2", "diagonal", "yes",   NULL};
    sock_context *ctx = sock_context_new();
    sock_data *data = some_data(ctx, D, 1, 0);
    sock_model *model = fit(ctx, data, options);
    check_fields(ctx, model, 1, 0);
    sock_model_free(model);
    sock_data_free(data);
    sock_context_free(ctx);
}

/* Searched for about a zero and in units of each state: coefficients come back in those of the data, about a round
 * number near them, averages and floors add up. A linear kernel that is named means the zero of the data. */
static void prop_terms_of_a_searched_model_in_far_units(void **arg)
{
    (void)arg;
    static const char *const options[][7] = {{"drift", "affine", "diffusion", "affine", "folds", "2", NULL},
                                             {"drift", "poly:degree=2", "diffusion", "affine", "folds", "2", NULL},
                                             {"drift", "linear", "diffusion", "affine", "folds", "2", NULL}};
    static const double scale[] = {1000, 1, 1}, origin[] = {0, 300, 300}, printed[] = {0, 300, 0};
    sock_context *ctx = sock_context_new();
    for (int c = 0; c < 3; c++) {
        sock_data *data = some_data(ctx, D, scale[c], origin[c]);
        sock_model *model = fit(ctx, data, options[c]);
        check_fields(ctx, model, scale[c], printed[c]);
        sock_model_free(model);
        sock_data_free(data);
    }
    sock_context_free(ctx);
}

static void zero_field(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    memset(out, 0, count * d * sizeof *out);
}

static void test_polynomial__null_where_there_is_none(void **arg)
{
    (void)arg;
    static const char *const options[] = {"tune", "no", "drift", "gauss:eta=1", "diffusion", "none", NULL};
    sock_context *ctx = sock_context_new();
    sock_data *data = some_data(ctx, 1, 1, 0);
    sock_model *fitted = fit(ctx, data, options), *wrapped = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, zero_field, zero_field, NULL, &wrapped), SOCK_OK);
    const sock_model *models[] = {fitted, wrapped};
    for (int i = 0; i < 2; i++) {
        json_t *terms = terms_of(ctx, models[i]);
        assert_true(json_is_null(json_object_get(terms, "drift")));
        assert_true(json_is_null(json_object_get(terms, "diffusion")));
        json_decref(terms);
    }
    char *text = NULL;
    assert_int_equal(sock_model_terms(ctx, NULL, &text), SOCK_EUSAGE);
    assert_null(text);
    sock_model_free(fitted);
    sock_model_free(wrapped);
    sock_data_free(data);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prop_terms_are_the_fields),
                                       cmocka_unit_test(prop_terms_of_diagonal_diffusions),
                                       cmocka_unit_test(prop_terms_of_a_searched_model_in_far_units),
                                       cmocka_unit_test(test_polynomial__null_where_there_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
