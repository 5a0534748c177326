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

/* y -> D y: R -> D R D, z and gain stay, and f and a are the same law in other units. */
static void prop_noisyfits__units_do_not_matter(void **state)
{
    (void)state;
    const double unit = 300, at[] = {-1, 0.2, 1}, far[] = {unit * at[0], unit * at[1], unit * at[2]};
    sock_data *data = wells(16, 0.05, 0.02), *other = wells(16, 0.05, 0.02);
    for (size_t i = 0; i < other->points; i++) other->x[i] *= unit;
    sock_model *model[] = {fit(data, NULL), fit(other, NULL)};
    double f[2][3], a[2][3], r[2], z[2], gain[2];
    for (int i = 0; i < 2; i++) {
        json_t *noise = noise_of(model[i]);
        assert_int_equal(sock_model_noise(model[i], &r[i]), 1);
        z[i] = json_number_value(json_array_get(json_object_get(noise, "z"), 0));
        gain[i] = json_number_value(json_object_get(noise, "gain"));
        assert_int_equal(sock_model_drift(ctx, model[i], 3, i ? far : at, f[i]), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model[i], 3, i ? far : at, a[i]), SOCK_OK);
        json_decref(noise);
        sock_model_free(model[i]);
    }
    assert_close(r[1], unit * unit * r[0], 1e-6, 0);
    assert_close(z[1], z[0], 1e-6, 1);
    assert_close(gain[1], gain[0], 1e-6, 1);
    for (int i = 0; i < 3; i++) {
        assert_close(f[1][i], unit * f[0][i], 1e-6, 0);
        assert_close(a[1][i], unit * unit * a[0][i], 1e-6, 0);
    }
    sock_data_free(data);
    sock_data_free(other);
}

/* Rounding to a grain is noise of a twelfth of its square, however it is written down; a fit that takes it for movement
 * has f and a too large. Grains of one and two steps; 60 % of the steps rest then. */
static void test_noisyfits__rounding_is_noise(void **state)
{
    (void)state;
    static const double grains[] = {1, 2};
    const double h = 0.05, at = 1;
    for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
        const double grain = grains[g] * sqrt(0.5 * h), r = grain * grain / 12;
        sock_data *data = wells(16, h, 0);
        for (size_t i = 0; i < data->points * data->d; i++) data->x[i] = grain * round(data->x[i] / grain);
        sock_model *model = fit(data, NULL);
        json_t *noise = noise_of(model);
        double a;
        assert_true(json_is_true(json_object_get(noise, "used")));
        assert_close(json_number_value(json_array_get(json_array_get(json_object_get(noise, "R"), 0), 0)), r, 0.35, r);
        assert_int_equal(sock_model_diffusion(ctx, model, 1, &at, &a), SOCK_OK);
        assert_close(a, 0.5, 0.2, 0.5);
        json_decref(noise);
        sock_model_free(model);
        sock_data_free(data);
    }
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

/* OU seen at h = 1 without noise is an AR(1): phi = exp(-theta) and the variance v have estimates with a known law, and
 * log a = log(2 theta v / (1 - phi^2)) has the variance g^2 (1 - phi^2) / n + 2 / n, g = 2 phi / (1 - phi^2) - 1 / (phi
 * theta). Answers theta; *log_a and *sd: of log a. */
static double autoregression(const double *x, size_t paths, double *log_a, double *sd)
{
    const double n = (double)(paths * (POINTS - 1));
    double xx = 0, xy = 0, v = 0;
    for (size_t i = 0; i < paths * POINTS; i++) {
        if (i % POINTS == POINTS - 1) continue;
        xx += x[i] * x[i];
        xy += x[i] * x[i + 1];
    }
    const double phi = xy / xx, left = 1 - phi * phi, theta = -log(phi), slope = 2 * phi / left - 1 / (phi * theta);
    for (size_t i = 0; i < paths * POINTS; i++)
        if (i % POINTS != POINTS - 1) v += pow(x[i + 1] - phi * x[i], 2) / n;
    *log_a = log(2 * theta * v / left);
    *sd = sqrt((slope * slope * left + 2) / n);
    return theta;
}

/* f, a at 0.7 and 0, and half of the width of log a in standard deviations of bands. */
static void trusted(const sock_model *model, double *theta, double *log_a, double *sd)
{
    const double x[] = {0.7, 0};
    double f[2], a[2], low[2], high[2];
    assert_int_equal(sock_model_drift(ctx, model, 2, x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, x, a), SOCK_OK);
    assert_int_equal(sock_model_bands(ctx, model, 2, x, 0.9, &(sock_bands){.a_low = low, .a_high = high}), SOCK_OK);
    *theta = -(f[0] - f[1]) / 0.7;
    *log_a = log(a[1]);
    *sd = log(high[1] / low[1]) / 2 / (1.1 * 1.6448536269514722);
}

static void prop_long_steps_are_trusted_as_an_autoregression(void **state)
{
    (void)state;
    enum { PATHS = 10 };
    static const char *const none[] = {"noise", "none", "drift", "linear", "diffusion", "constant", NULL};
    for (uint64_t seed = 3; seed < 6; seed++) {
        double *x = ou_paths(1, PATHS, POINTS, 1, 1, seed), want_a, want_sd, theta, log_a, sd;
        const double want = autoregression(x, PATHS, &want_a, &want_sd);
        sock_data *data = data_of(1, PATHS, POINTS, 1, x);
        sock_model *model = fit(data, none);
        json_t *noise = noise_of(model);
        const bool followed = json_integer_value(json_object_get(noise, "substeps")) > 1;
        trusted(model, &theta, &log_a, &sd);
        assert_int_equal(followed, seed > 3);
        if (followed) {
            assert_close(theta, want, 0.015, 0); /* a fifth of its error */
            assert_true(fabs(log_a - want_a) < 0.05 * want_sd);
            assert_close(sd, want_sd, 0.02, 0);
        } else { /* the rule of the clean fit is off, by more than its error: the fit that followed the steps counts */
            assert_int_equal(model->spread->peers, 1);
            assert_true(fabs(log_a - want_a) > 1.5 * want_sd);
            assert_true(fabs(log_a - want_a) < 1.1 * 1.6448536269514722 * sd);
        }
        json_decref(noise);
        sock_model_free(model);
        sock_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisyfits__noise_is_found),
        cmocka_unit_test(prop_noisyfits__units_do_not_matter),
        cmocka_unit_test(test_noisyfits__rounding_is_noise),
        cmocka_unit_test(test_noisyfits__clean_data_have_none),
        cmocka_unit_test(test_noisyfits__long_steps_are_followed),
        cmocka_unit_test(prop_long_steps_are_trusted_as_an_autoregression),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
