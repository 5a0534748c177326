/* test_noisyfits.c - whole fits of measured data and of long steps, small: noise that is there is found, none is found
 * where there is none, and long steps are followed. */
#include "tunefits.h"

#include <math.h>

enum { POINTS = 101 };

/* dx = 2 (x - x^3) dt + sqrt(0.5) dW in small Euler steps, every 10th seen with variance r. */
static sock_data *wells(size_t paths, double h, double r)
{
    double *x = calloc(paths * POINTS, sizeof *x), w[10 * POINTS], e[POINTS];
    const double dt = h / 10;
    for (size_t j = 0; j < paths; j++) {
        double at = j % 2 ? 1 : -1;
        sk_normals((sk_key){41, SK_PURPOSE_TEST}, j, 0, 0, sizeof w / sizeof *w, w);
        sk_normals((sk_key){42, SK_PURPOSE_TEST}, j, 0, 0, POINTS, e);
        for (size_t i = 0; i < POINTS; i++) {
            x[j * POINTS + i] = at + sqrt(r) * e[i];
            for (size_t k = 0; k < 10; k++) at += 2 * (at - at * at * at) * dt + sqrt(0.5 * dt) * w[10 * i + k];
        }
    }
    return data_of(1, paths, POINTS, h, x);
}

/* The record of the noise; the caller's. */
static json_t *noise_of(const sock_model *model)
{
    json_t *info = info_of(model), *noise = json_incref(json_object_get(info, "noise"));
    assert_non_null(noise);
    json_decref(info);
    return noise;
}

static void test_noisyfits__noise_is_found(void **state)
{
    (void)state;
    const double h = 0.05, r = 0.02; /* 0.8 a h */
    sock_data *data = wells(16, h, r);
    sock_model *model = fit(data, NULL);
    json_t *noise = noise_of(model);
    const double at[] = {-1, 1},
                 seen = json_number_value(json_array_get(json_array_get(json_object_get(noise, "R"), 0), 0));
    double a[2], own, *mean = calloc(data->points, sizeof *mean), *sd = calloc(data->points, sizeof *sd);
    assert_true(json_is_true(json_object_get(noise, "used")));
    assert_close(seen, r, 0.2, r);
    assert_true(json_number_value(json_object_get(noise, "gain")) > 20);
    assert_int_equal(sock_model_noise(model, &own), 1);
    assert_close(own, seen, 1e-12, 1);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, at, a), SOCK_OK);
    for (int i = 0; i < 2; i++) assert_close(a[i], 0.5, 0.25, 0.5); /* without noise it is 1.3 */
    assert_int_equal(sock_smooth(ctx, model, data, mean, sd), SOCK_OK);
    for (size_t i = 0; i < data->points; i++) assert_true(sd[i] > 0 && sd[i] < 1.01 * sqrt(own));
    free(mean);
    free(sd);
    json_decref(noise);
    sock_model_free(model);
    sock_data_free(data);
}

/* The same numbers as if nobody had looked for noise. */
static void test_noisyfits__clean_data_have_none(void **state)
{
    (void)state;
    static const char *const none[] = {"noise", "none", "substeps", "1", NULL};
    sock_data *data = wells(12, 0.02, 0);
    sock_model *model = fit(data, NULL), *plain = fit(data, none);
    json_t *noise = noise_of(model);
    const double at[] = {-1.3, -0.5, 0, 0.4, 1.2};
    double f[2][5], a[2][5], r;
    assert_true(json_is_false(json_object_get(noise, "used")));
    assert_int_equal(sock_model_noise(model, &r), 0);
    assert_int_equal(sock_model_drift(ctx, model, 5, at, f[0]), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, plain, 5, at, f[1]), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 5, at, a[0]), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, plain, 5, at, a[1]), SOCK_OK);
    assert_memory_equal(f[0], f[1], sizeof f[0]);
    assert_memory_equal(a[0], a[1], sizeof a[0]);
    json_decref(noise);
    sock_model_free(plain);
    sock_model_free(model);
    sock_data_free(data);
}

/* Ornstein and Uhlenbeck at h = 1: Euler's slope is -0.63, its a 0.43. Without noise by the word of the user: whether
 * there is none is hard to tell over such steps, and where it is in doubt the clean fit stands. */
static void test_noisyfits__long_steps_are_followed(void **state)
{
    (void)state;
    static const char *const none[] = {"noise", "none", NULL};
    sock_data *data = data_of(1, 12, POINTS, 1, ou_paths(1, 12, POINTS, 1, 1, 3));
    sock_model *model = fit(data, none);
    json_t *noise = noise_of(model);
    const double at[] = {-0.7, 0.7};
    double f[2], a[2];
    assert_true(json_integer_value(json_object_get(noise, "substeps")) >= 4);
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, at, a), SOCK_OK);
    assert_close((f[1] - f[0]) / 1.4, -1, 0.2, 1);
    for (int i = 0; i < 2; i++) assert_close(a[i], 1, 0.2, 1);
    json_decref(noise);
    sock_model_free(model);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisyfits__noise_is_found),
        cmocka_unit_test(test_noisyfits__clean_data_have_none),
        cmocka_unit_test(test_noisyfits__long_steps_are_followed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
