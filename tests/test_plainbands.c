/* test_plainbands.c - bands of the plain estimator, against closed forms and slow loops over the steps. */
#define _GNU_SOURCE
#include "model/bands.h"
#include "modelcases.h"
#include "occupation/occupation.h"
#include "tune/policy.h"

enum { PATHS = 4, POINTS = 26, STEPS = PATHS * (POINTS - 1) };

/* dx = -x dt + 0.4 dW, or with slope: dx = 0.5 x dt + 0.4 x dW, times `unit`; every two paths may be one group. */
static sock_data *steps_of(fixture *f, bool growth, bool grouped, double unit)
{
    static const size_t length[PATHS] = {POINTS, POINTS, POINTS, POINTS}, group[PATHS] = {0, 0, 1, 1};
    double t[PATHS * POINTS], x[PATHS * POINTS];
    normals(3, PATHS * POINTS, x);
    for (size_t j = 0; j < PATHS; j++) {
        x[j * POINTS] = unit * (growth ? 1 + 0.2 * (double)(j / 2) : x[j * POINTS]);
        t[j * POINTS] = 0;
        for (size_t i = j * POINTS + 1; i < (j + 1) * POINTS; i++) {
            const double h = grouped || i % 2 ? 0.1 : 0.05, last = x[i - 1];
            t[i] = t[i - 1] + (grouped ? 0.1 : h);
            x[i] = growth ? last * (1 + 0.5 * h + 0.4 * sqrt(h) * x[i]) : last * (1 - h) + unit * 0.4 * sqrt(h) * x[i];
        }
    }
    sock_data *data = NULL;
    good(f, sock_data_from_arrays(f->ctx, 1, PATHS, length, t, x, NULL, grouped ? group : NULL, NULL, &data));
    return data;
}

static void set(fixture *f, const char *key, const char *value)
{
    good(f, sock_options_set(f->ctx, f->opts, key, value));
}

static sock_model *plain(fixture *f, const sock_data *data, const char *drift, const char *diffusion)
{
    sock_model *model = NULL;
    set(f, "drift", drift);
    set(f, "diffusion", diffusion);
    good(f, sock_fit(f->ctx, data, f->opts, &model));
    return model;
}

/* Standard deviations that the bands at x tell: of f, of log a. */
static void told(fixture *f, const sock_model *model, double x, double *sd_f, double *sd_a)
{
    double f_ends[2], a_ends[2];
    const double z = 2 * SK_BAND_FACTOR * sk_normal_reach(0.9);
    good(f,
         sock_model_bands(f->ctx, model, 1, &x, 0.9,
                          &(sock_bands){.f_low = f_ends, .f_high = f_ends + 1, .a_low = a_ends, .a_high = a_ends + 1}));
    *sd_f = (f_ends[1] - f_ends[0]) / z;
    *sd_a = log(a_ends[1] / a_ends[0]) / z;
}

static double a_at(fixture *f, const sock_model *model, double x)
{
    double a;
    good(f, sock_model_diffusion(f->ctx, model, 1, &x, &a));
    return a;
}

static void close_to(double value, double truth, double tolerance)
{
    if (!(fabs(value - truth) <= tolerance * fabs(truth))) fail_msg("%.12g, not %.12g", value, truth);
}

/* What the left rule takes for h a of a step of dx = w x dt + sqrt(own + v^2 x^2) dW from x beyond it: by the exact
 * moments of the step. */
static double beyond(double w, double own, double v, double x, double h)
{
    const double mean = x * expm1(w * h), grown = exp((2 * w + v * v) * h) - exp(2 * w * h);
    return own * expm1(2 * w * h) / (2 * w) + x * x * grown + pow(mean - w * h * x, 2) - h * (own + v * v * x * x);
}

static double slope_at_one(fixture *f, const sock_model *model)
{
    const double x = 1;
    double slope;
    good(f, sock_model_drift(f->ctx, model, 1, &x, &slope));
    return slope;
}

/* f = w x, a constant: sd of w by hand, and of log a sqrt(2 / n), beside what the rule does to a. */
static void test_plainbands__a_slope_and_a_constant(void **state)
{
    fixture *f = *state;
    sock_data *data = steps_of(f, false, false, 1);
    set(f, "drift-lambda", "0.003");
    set(f, "diffusion-lambda", "1e-14");
    sock_model *model = plain(f, data, "linear", "constant");
    const double a = a_at(f, model, 0), lambda = 0.003 * STEPS;
    const double w = slope_at_one(f, model);
    double square = 0, noise = 0, mean = 0, sd_f, sd_a, wide = 0, one = 0, off = 0;
    for (size_t j = 0; j < PATHS; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double h = data->t[i + 1] - data->t[i], psi = h * data->x[i];
            square += psi * psi;
            noise += psi * psi * h * a;
            mean += h * a / STEPS;
            one += h * h;
            wide += 2 * pow(h * h * a, 2); /* of sum h z, z = h a (normal)^2 */
            off += h * beyond(w, a, 0, data->x[i], h);
        }
    told(f, model, 1, &sd_f, &sd_a);
    close_to(sd_f, sqrt(noise + mean * lambda) / (square + lambda), 1e-8);
    assert_true(off < 0 && -off / one / a > 0.02); /* of the order of h / 2 times the slope */
    close_to(sd_a, hypot(sqrt(wide), off) / one / a, 1e-4);
    told(f, model, -3, &sd_f, &sd_a);
    close_to(sd_f, 3 * sqrt(noise + mean * lambda) / (square + lambda), 1e-8);
    sock_model_free(model);
    sock_data_free(data);
}

/* a = v^2 x^2 by unweighted squares of two realisations: var v = B / A^2. */
static void test_plainbands__growth_of_two_realisations(void **state)
{
    fixture *f = *state;
    sock_data *data = steps_of(f, true, true, 1);
    set(f, "drift-lambda", "1e-14");
    set(f, "diffusion-lambda", "1e-16");
    sock_model *model = plain(f, data, "linear", "linear");
    const double v = sqrt(a_at(f, model, 1)), h = 0.1, w = slope_at_one(f, model);
    double square = 0, noise = 0, a = 0, b = 0, off = 0, sd_f, sd_a;
    for (size_t j = 0; j < PATHS; j += 2)
        for (size_t i = 0; i + 1 < POINTS; i++) {
            const double x = data->x[data->first[j] + i], y = data->x[data->first[j + 1] + i];
            const double psi = h * (x + y) / 2, both = h * (x * x + y * y) / 2;
            square += psi * psi;
            noise += psi * psi * v * v * both / 2;
            a += pow(2 * v * both, 2);
            b += 2 * pow(2 * v * both * v * v * both, 2) / 2;
            off += 2 * v * both * (beyond(w, 0, v, x, h) + beyond(w, 0, v, y, h)) / 2;
        }
    told(f, model, 1.5, &sd_f, &sd_a);
    close_to(sd_f, 1.5 * sqrt(noise) / square, 1e-6);
    assert_true(off > 0.1 * sqrt(b));                      /* it shows */
    close_to(sd_a, 2 * hypot(sqrt(b), off) / a / v, 2e-3); /* Heun's rule over four substeps */
    sock_model_free(model);
    sock_data_free(data);
}

/* The solution of the symmetric positive definite L r = k, by elimination. */
static void solve(size_t n, double *l, double *r)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) {
            const double factor = l[i * n + j] / l[j * n + j];
            for (size_t m = j; m < n; m++) l[i * n + m] -= factor * l[j * n + m];
            r[i] -= factor * r[j];
        }
    for (size_t j = n; j-- > 0;) {
        for (size_t m = j + 1; m < n; m++) r[j] -= l[j * n + m] * r[m];
        r[j] /= l[j * n + j];
    }
}

/* Of a kernel without naming its features: with L = W k W', r = (L + n lambda)^-1 W k(x), the variance of f is
 * r' V r + s / (n lambda) (k(x, x) - 2 r' W k(x) + r' L r). */
static void test_plainbands__pivoted_kernel(void **state)
{
    fixture *f = *state;
    sock_data *data = steps_of(f, false, false, 1);
    const double lambda = 1e-4, x = 0.3;
    set(f, "drift-lambda", "1e-4");
    set(f, "drift-path", "pivoted");
    sock_model *model = plain(f, data, "gauss:eta=0.7", "constant");
    const double a = a_at(f, model, 0), shift = lambda * STEPS;
    double *l = calloc(STEPS * STEPS, sizeof *l), *left = calloc(STEPS * STEPS, sizeof *left);
    double h[STEPS], y[STEPS], k[STEPS], r[STEPS], variance = 0, mean = 0, sd_f, sd_a;
    for (size_t j = 0, n = 0; j < PATHS; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, n++) {
            h[n] = data->t[i + 1] - data->t[i];
            y[n] = data->x[i];
            r[n] = k[n] = h[n] * exp(-(x - y[n]) * (x - y[n]) / (2 * 0.7 * 0.7));
            mean += h[n] * a / STEPS;
        }
    for (size_t i = 0; i < STEPS * STEPS; i++) {
        const double apart = y[i / STEPS] - y[i % STEPS];
        l[i] = h[i / STEPS] * h[i % STEPS] * exp(-apart * apart / (2 * 0.7 * 0.7));
        left[i] = l[i] + (i % (STEPS + 1) ? 0 : shift);
    }
    solve(STEPS, left, r);
    double rest = 1;
    for (size_t i = 0; i < STEPS; i++) {
        variance += r[i] * r[i] * h[i] * a;
        rest -= 2 * r[i] * k[i];
        for (size_t j = 0; j < STEPS; j++) rest += r[i] * l[i * STEPS + j] * r[j];
    }
    told(f, model, x, &sd_f, &sd_a);
    close_to(sd_f, sqrt(variance + mean / shift * rest), 1e-3); /* features reproduce the kernel to its tolerance */
    free(l), free(left);
    sock_model_free(model);
    sock_data_free(data);
}

/* x in other units: f and its band scale, log a keeps its error. Saved and loaded the bands are the same. */
static void test_plainbands__units_and_files(void **state)
{
    fixture *f = *state;
    sock_data *data = steps_of(f, false, false, 1), *large = steps_of(f, false, false, 1000);
    sock_model *one = plain(f, data, "gauss:eta=0.7", "gauss:eta=0.9"), *again = NULL;
    sock_model *other = plain(f, large, "gauss:eta=700", "gauss:eta=900");
    double sd[2], scaled[2];
    told(f, one, 0.2, &sd[0], &sd[1]);
    told(f, other, 200, &scaled[0], &scaled[1]);
    close_to(scaled[0], 1000 * sd[0], 1e-6);
    close_to(scaled[1], sd[1], 1e-4); /* the convex problem stops at its tolerance */
    good(f, sock_model_save(f->ctx, one, f->path));
    good(f, sock_model_load(f->ctx, f->path, &again));
    told(f, again, 0.2, &scaled[0], &scaled[1]);
    assert_true(scaled[0] == sd[0] && scaled[1] == sd[1]);
    sock_model_free(one), sock_model_free(again), sock_model_free(other);
    sock_data_free(data), sock_data_free(large);
}

/* Two states of different size: each has the error of its own noise. */
static void test_plainbands__two_states(void **state)
{
    enum { N = 60 };
    fixture *f = *state;
    static const size_t length[1] = {N + 1};
    double t[N + 1], x[2 * (N + 1)], a[4], low[2], high[2];
    normals(4, 2 * (N + 1), x);
    for (size_t i = 0; i <= N; i++) {
        t[i] = 0.1 * (double)i;
        x[2 * i + 1] = 30 * x[2 * i + 1] + 5 * x[2 * i];
        for (size_t k = 0; i && k < 2; k++) x[2 * i + k] = x[2 * i - 2 + k] + sqrt(0.1) * x[2 * i + k];
    }
    sock_data *data = NULL;
    good(f, sock_data_from_arrays(f->ctx, 2, 1, length, t, x, NULL, NULL, NULL, &data));
    set(f, "drift-lambda", "1e-14");
    sock_model *model = plain(f, data, "constant", "constant");
    good(f, sock_model_diffusion(f->ctx, model, 1, x, a));
    good(f, sock_model_bands(f->ctx, model, 1, x, 0.9, &(sock_bands){.f_low = low, .f_high = high}));
    for (size_t k = 0; k < 2; k++)
        close_to((high[k] - low[k]) / 2, SK_BAND_FACTOR * sk_normal_reach(0.9) * sqrt(a[3 * k] / (0.1 * N)), 1e-6);
    sock_model_free(model);
    sock_data_free(data);
}

/* Draws move as the bands say. */
static void test_plainbands__draws(void **state)
{
    enum { DRAWS = 600 };
    fixture *f = *state;
    sock_data *data = steps_of(f, false, false, 1);
    sock_model *model = plain(f, data, "gauss:eta=0.7", "constant");
    const double x = -0.1;
    double sd_f, sd_a, centre, sum = 0;
    told(f, model, x, &sd_f, &sd_a);
    good(f, sock_model_drift(f->ctx, model, 1, &x, &centre));
    for (uint64_t i = 0; i < DRAWS; i++) {
        sock_model *draw = NULL;
        double value;
        good(f, sock_model_draw(f->ctx, model, 5, i, &draw));
        good(f, sock_model_drift(f->ctx, draw, 1, &x, &value));
        sum += (value - centre) * (value - centre) / DRAWS;
        sock_model_free(draw);
    }
    close_to(sqrt(sum), sd_f, 0.12); /* four standard errors */
    sock_model_free(model);
    sock_data_free(data);
}

static void refused(fixture *f, const sock_data *data, const char *key, const char *value, const char *why)
{
    sock_model *model = NULL;
    double x = 0, low;
    set(f, key, value);
    good(f, sock_fit(f->ctx, data, f->opts, &model));
    assert_int_equal(sock_model_has_bands(model), 0);
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.f_low = &low}), SOCK_EUSAGE);
    if (!strstr(sock_message(f->ctx), why)) fail_msg("'%s' is not in: %s", why, sock_message(f->ctx));
    sock_model_free(model);
}

static void test_plainbands__where_there_are_none(void **state)
{
    fixture *f = *state;
    sock_data *data = steps_of(f, false, false, 1);
    set(f, "diffusion", "constant");
    refused(f, data, "quadrature", "trapezoid", "trapezoid");
    set(f, "quadrature", "left");
    refused(f, data, "bands", "no", "--bands=no");
    set(f, "bands", "yes");
    refused(f, data, "diffusion", "none", "--diffusion none");
    set(f, "diffusion", "constant");
    set(f, "drift", "gauss:eta=1");
    refused(f, data, "drift-path", "exact", "--drift-path pivoted");
    set(f, "drift-path", "auto");
    sock_model *drift = plain(f, data, "linear", "constant"), *model = NULL;
    double x = 0, low;
    good(f, sock_fit_diffusion(f->ctx, data, drift, f->opts, &model));
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.f_low = &low}), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "was given"));
    sock_model_free(drift), sock_model_free(model);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plainbands__a_slope_and_a_constant, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__growth_of_two_realisations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__pivoted_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__units_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__two_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__draws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plainbands__where_there_are_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
