/* test_modelfeatures.c - a model as features and weights: values made of the text are those of the model. What a page
 * makes of every other kind of feature is compared in tests/browser. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(json_t *array, size_t *count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(json_object_get(array, "base64"));
    const size_t length = strlen(text);
    unsigned char *bytes = calloc(length + 8, 1);
    for (size_t i = 0, at = 0; i + 3 < length; i += 4) {
        unsigned word = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *p = text[i + k] == '=' ? digit : strchr(digit, text[i + k]);
            word = word << 6 | (unsigned)(p - digit);
        }
        bytes[at++] = (unsigned char)(word >> 16), bytes[at++] = (unsigned char)(word >> 8),
        bytes[at++] = (unsigned char)word;
    }
    *count = (size_t)(json_integer_value(json_object_get(array, "rows")) *
                      json_integer_value(json_object_get(array, "cols")));
    return (double *)(void *)bytes;
}

/* f of a Gaussian expansion on landmarks, whose weights are solved, and a = |V' phi|^2 of a constant. */
static void test_modelfeatures__solved_weights_are_the_fields(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_options *opts = sock_options_new(ctx);
    double t[120], x[120];
    for (size_t i = 0; i < 120; i++) t[i] = 0.1 * (double)i, x[i] = sin(0.37 * (double)i) + 0.1 * cos(3.1 * (double)i);
    const size_t length = 120;
    sock_data *data = NULL;
    sock_model *model = NULL;
    char *text = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_options_set(ctx, opts, "tune", "no");
    sock_options_set(ctx, opts, "drift", "nystrom:m=9,of=gauss,eta=0.5");
    sock_options_set(ctx, opts, "diffusion", "constant");
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_model_features(ctx, model, &text), SOCK_OK);
    json_t *told = json_loads(text, 0, NULL), *drift = json_array_get(json_object_get(told, "drift"), 0),
           *arrays = json_object_get(drift, "arrays"),
           *diffusion = json_array_get(json_object_get(told, "diffusion"), 0);
    assert_true(json_is_true(json_object_get(drift, "solved")));
    assert_null(json_object_get(arrays, "0.factor"));
    size_t p, q, r;
    double *at = numbers(json_object_get(arrays, "0.landmarks"), &p),
           *w = numbers(json_object_get(drift, "weight"), &q), *v = numbers(json_object_get(diffusion, "v"), &r);
    assert_int_equal(p, q);
    const double floor = json_number_value(json_object_get(told, "floor"));
    for (double y = -1.2; y < 1.2; y += 0.1) {
        double f = 0, a = floor, expected_f, expected_a;
        for (size_t i = 0; i < p; i++) f += w[i] * exp(-0.5 * (y - at[i]) * (y - at[i]) / 0.25);
        for (size_t i = 0; i < r; i++) a += v[i] * v[i];
        assert_int_equal(sock_model_drift(ctx, model, 1, &y, &expected_f), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, 1, &y, &expected_a), SOCK_OK);
        assert_true(fabs(f - expected_f) < 1e-6 * (1 + fabs(f)));
        assert_true(fabs(a - expected_a) < 1e-9 * (1 + a));
    }
    free(at), free(w), free(v);
    json_decref(told);
    sock_string_free(text);
    sock_model_free(model);
    sock_data_free(data);
    sock_options_free(opts);
    sock_context_free(ctx);
}

/* a(y) from the landmarks l (p x 2) and V (2 p x rank) of a diffusion of two states: V' (I x k(y, l)), squared. */
static void squares(size_t p, size_t rank, const double *l, const double *v, const double *y, double *a)
{
    for (size_t r = 0; r < rank; r++) {
        double g[2] = {0};
        for (size_t i = 0; i < p; i++) {
            const double u = y[0] - l[2 * i], w = y[1] - l[2 * i + 1], k = exp(-0.5 * (u * u + w * w) / 0.49);
            for (size_t c = 0; c < 2; c++) g[c] += v[(c * p + i) * rank + r] * k;
        }
        for (size_t c = 0; c < 4; c++) a[c] += g[c / 2] * g[c % 2];
    }
}

static void test_modelfeatures__solved_columns_are_the_diffusion(void **state)
{
    (void)state;
    enum { POINTS = 150 };
    sock_context *ctx = sock_context_new();
    sock_options *opts = sock_options_new(ctx);
    double t[POINTS], x[2 * POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = 0.1 * (double)i;
        x[2 * i] = sin(0.37 * (double)i) + 0.1 * cos(3.1 * (double)i);
        x[2 * i + 1] = cos(0.53 * (double)i) + 0.2 * sin(2.3 * (double)i * (double)i);
    }
    const size_t length = POINTS;
    sock_data *data = NULL;
    sock_model *model = NULL;
    char *text = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_options_set(ctx, opts, "tune", "no");
    sock_options_set(ctx, opts, "drift", "affine");
    sock_options_set(ctx, opts, "diffusion", "nystrom:m=6,of=gauss,eta=0.7");
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_model_features(ctx, model, &text), SOCK_OK);
    json_t *told = json_loads(text, 0, NULL), *entry = json_array_get(json_object_get(told, "diffusion"), 0);
    assert_true(json_is_true(json_object_get(entry, "solved")));
    size_t p, q;
    double *l = numbers(json_object_get(json_object_get(entry, "arrays"), "0.landmarks"), &p),
           *v = numbers(json_object_get(entry, "v"), &q);
    const double floor = json_number_value(json_object_get(told, "floor"));
    for (int s = 0; s < 12; s++) {
        const double y[2] = {0.2 * s - 1.1, cos(s)};
        double a[4] = {floor, 0, 0, floor}, expected[4];
        squares(p / 2, q / p, l, v, y, a);
        assert_int_equal(sock_model_diffusion(ctx, model, 1, y, expected), SOCK_OK);
        for (size_t c = 0; c < 4; c++) assert_true(fabs(a[c] - expected[c]) < 1e-6 * (expected[0] + expected[3]));
    }
    free(l), free(v);
    json_decref(told);
    sock_string_free(text);
    sock_model_free(model);
    sock_data_free(data);
    sock_options_free(opts);
    sock_context_free(ctx);
}

static void nothing(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

static void test_modelfeatures__functions_have_none(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_model *model = NULL;
    char *text = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, nothing, NULL, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_features(ctx, model, &text), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "made of functions"));
    sock_model_free(model);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modelfeatures__solved_weights_are_the_fields),
                                       cmocka_unit_test(test_modelfeatures__solved_columns_are_the_diffusion),
                                       cmocka_unit_test(test_modelfeatures__functions_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
