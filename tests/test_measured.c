/* test_measured.c - states given measurements: the smoothed law of a linear model beside Rauch, Tung and Striebel's
 * recursion written out; lone points; what is refused. */
#include "tunefits.h"

#include "model/structure.h"

#include <math.h>

enum { PATHS = 6, POINTS = 40, ALL = PATHS * POINTS };
static const double H = 0.1, R = 0.05;

/* f = c + b x and a constant a, by the plain estimator; no noise is known of yet. */
static sock_model *linear_model(const sock_data *data)
{
    const char *const plain[] = {"tune",     "no",           "drift", "affine",           "diffusion",
                                 "constant", "drift-lambda", "0.001", "diffusion-lambda", "0.001",
                                 NULL};
    return fit(data, plain);
}

static void give_noise(sock_model *model, double r)
{
    model->structure->noise = sk_doubles(ctx, 1, 1);
    model->structure->noise[0] = r;
}

static double field(const sock_model *model, bool drift, double at)
{
    double value = 0;
    assert_int_equal((drift ? sock_model_drift : sock_model_diffusion)(ctx, model, 1, &at, &value), SOCK_OK);
    return value;
}

/* Of one path: forward from N(y_0, r), backward from the last. */
static void slow_smoother(const sock_model *model, const double *y, double *mean, double *sd)
{
    const double c = field(model, true, 0), b = field(model, true, 1) - c, a = field(model, false, 0);
    const double phi = exp(b * H), q = a * (phi * phi - 1) / (2 * b), shift = c * (phi - 1) / b;
    double m[POINTS] = {y[0]}, p[POINTS] = {R}, early[POINTS], wide[POINTS];
    for (int i = 1; i < POINTS; i++) {
        early[i] = phi * m[i - 1] + shift;
        wide[i] = phi * phi * p[i - 1] + q;
        m[i] = early[i] + wide[i] / (wide[i] + R) * (y[i] - early[i]);
        p[i] = wide[i] * R / (wide[i] + R);
    }
    mean[POINTS - 1] = m[POINTS - 1];
    sd[POINTS - 1] = sqrt(p[POINTS - 1]);
    for (int i = POINTS - 2; i >= 0; i--) {
        const double g = p[i] * phi / wide[i + 1];
        mean[i] = m[i] + g * (mean[i + 1] - early[i + 1]);
        sd[i] = sqrt(p[i] + g * g * (sd[i + 1] * sd[i + 1] - wide[i + 1]));
    }
}

static void test_measured__linear_models_are_smoothed_exactly(void **state)
{
    (void)state;
    sock_data *data = data_of(1, PATHS, POINTS, H, ou_paths(1, PATHS, POINTS, H, 1, 71));
    sock_model *model = linear_model(data);
    double mean[ALL], sd[ALL], slow[POINTS], slow_sd[POINTS];
    give_noise(model, R);
    assert_int_equal(sock_smooth(ctx, model, data, mean, sd), SOCK_OK);
    for (size_t j = 0; j < PATHS; j++) {
        slow_smoother(model, data->x + j * POINTS, slow, slow_sd);
        for (size_t i = 0; i < POINTS; i++) {
            assert_close(mean[j * POINTS + i], slow[i], 1e-3, 1);
            assert_close(sd[j * POINTS + i], slow_sd[i], 1e-3, 0);
        }
    }
    double alone[ALL]; /* the means are the same without their errors */
    assert_int_equal(sock_smooth(ctx, model, data, alone, NULL), SOCK_OK);
    assert_memory_equal(alone, mean, sizeof mean);
    sock_model_free(model);
    sock_data_free(data);
}

/* A point without a neighbour is what was observed, with the error of an observation. */
static void test_measured__lone_points_are_what_was_seen(void **state)
{
    (void)state;
    sock_data *data = data_of(1, PATHS, POINTS, H, ou_paths(1, PATHS, POINTS, H, 1, 71)), *mixed = NULL;
    const size_t length[] = {1, 3, 1};
    const double t[] = {0, 0, H, 2 * H, 0}, x[] = {0.7, 0.1, 0.2, 0.3, -0.4};
    double mean[5], sd[5];
    sock_model *model = linear_model(data);
    give_noise(model, R);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, NULL, NULL, &mixed), SOCK_OK);
    assert_int_equal(sock_smooth(ctx, model, mixed, mean, sd), SOCK_OK);
    assert_true(mean[0] == 0.7 && mean[4] == -0.4);
    assert_close(sd[0], sqrt(R), 1e-12, 0);
    assert_close(sd[4], sqrt(R), 1e-12, 0);
    assert_true(sd[2] > 0 && sd[2] < 0.99 * sqrt(R));
    sock_data_free(mixed);
    sock_model_free(model);
    sock_data_free(data);
}

static void check_refusal(sock_status status, sock_status wanted, const char *words)
{
    assert_int_equal(status, wanted);
    if (!strstr(sock_message(ctx), words)) fail_msg("\"%s\" is not in \"%s\"", words, sock_message(ctx));
}

static void test_measured__what_is_refused(void **state)
{
    (void)state;
    sock_data *data = data_of(1, PATHS, POINTS, H, ou_paths(1, PATHS, POINTS, H, 1, 71));
    sock_data *plane = data_of(2, PATHS, POINTS, H, ou_paths(2, PATHS, POINTS, H, 1, 72));
    sock_model *model = linear_model(data);
    double mean[2 * ALL];
    check_refusal(sock_smooth(ctx, model, data, mean, NULL), SOCK_EUSAGE, "the model knows of no measurement noise");
    give_noise(model, R);
    check_refusal(sock_smooth(ctx, model, plane, mean, NULL), SOCK_EINPUT, "the model has 1 states that data hold");
    check_refusal(sock_smooth(ctx, NULL, data, mean, NULL), SOCK_EUSAGE, "must not be NULL");
    check_refusal(sock_smooth(ctx, model, NULL, mean, NULL), SOCK_EUSAGE, "must not be NULL");
    check_refusal(sock_smooth(ctx, model, data, NULL, NULL), SOCK_EUSAGE, "must not be NULL");
    assert_int_equal(sock_smooth(NULL, model, data, mean, NULL), SOCK_EUSAGE);
    sock_model_free(model);
    sock_data_free(plane);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured__linear_models_are_smoothed_exactly),
        cmocka_unit_test(test_measured__lone_points_are_what_was_seen),
        cmocka_unit_test(test_measured__what_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
