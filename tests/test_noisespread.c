/* test_noisespread.c - bands of models that were fitted along a filter, where their theory is known. */
#include "model/bands.h"
#include "noise/noisespread.h"
#include "noisecases.h"

enum { PATHS = 20, MANY = 60, STEPS = 100 };

/* Paths x' = r x + N(0, v), in their stationary law or from 0, seen as x + N(0, noise). */
static sock_data *paths(size_t count, size_t steps, double h, double r, double v, double noise)
{
    static double t[MANY * (STEPS + 1)], x[MANY * (STEPS + 1)], u[MANY * (STEPS + 1)], e[MANY * (STEPS + 1)];
    const size_t points = steps + 1, n = count * points;
    size_t length[MANY];
    sock_data *data = NULL;
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 1, 0, 0, n, u);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 2, 0, 0, n, e);
    double state = 0;
    for (size_t i = 0; i < n; i++) {
        state = i % points ? r * state + sqrt(v) * u[i] : r < 1 ? sqrt(v / (1 - r * r)) * u[i] : 0;
        t[i] = h * (double)(i % points);
        x[i] = state + sqrt(noise) * e[i];
    }
    for (size_t j = 0; j < count; j++) length[j] = points;
    assert_true(sock_data_from_arrays(ctx, 1, count, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

/* A fit with one drift kernel and a constant a about a known model; noise 0: none. */
typedef struct known {
    sock_data *data;
    sk_transitions *rows;
    sk_candidate drift[2], diffusion;
    sk_candidates list;
    sk_measured m;
    sk_noise_fit fit;
} known;

static sk_candidate candidate_of(sk_field field, const char *kernel, bool learned)
{
    sk_candidate c = {.field = field, .learned = learned, .max_rank = 9};
    c.name = sk_strdup(ctx, kernel);
    assert_int_equal(sk_kernel_parse(ctx, "drift", kernel, &c.kernel), SOCK_OK);
    return c;
}

static void known_model(known *k, double slope, double a, double noise)
{
    sk_noisy *now = &k->fit.now;
    const sk_substeps substeps = {8, false};
    const double one = slope;
    sk_features *map = NULL;
    assert_int_equal(sk_features_new(ctx, "drift", k->drift[0].kernel, 1, 0, NULL, &map), SOCK_OK);
    assert_int_equal(sk_noisy_like(&k->m, noise > 0 ? &noise : NULL, substeps, now), SOCK_OK);
    assert_int_equal(sk_add_weights(ctx, map, &one, now->model), SOCK_OK);
    assert_int_equal(sk_add_constant(ctx, &a, now->model), SOCK_OK);
    sk_features_free(map);
}

static void known_init(known *k, sock_data *data, const char *kernel, double slope, double a, double noise)
{
    *k = (known){.data = data, .rows = transitions_of(data, 4)};
    k->drift[0] = candidate_of(SK_DRIFT, kernel, false);
    k->drift[1] = candidate_of(SK_DRIFT, "affine", false);
    k->diffusion = candidate_of(SK_DIFFUSION, "constant", false);
    k->list = (sk_candidates){2, 2, k->drift, 1, 1, &k->diffusion};
    assert_int_equal(sk_measured_new(ctx, k->rows, &k->list, NULL, &k->m), SOCK_OK);
    k->m.mode = noise > 0 ? SK_NOISE_DIAGONAL : SK_NOISE_NONE;
    known_model(k, slope, a, noise);
    sk_sweep sweep = {.alive = {true}, .l = 1e-8};
    const sk_filter_spec spec = sk_noisy_spec(&k->m, &k->fit.now);
    sk_frozen *z = NULL;
    sk_rows_of_a rows = {0};
    assert_int_equal(sk_frozen_new(ctx, &k->m.series, &spec, &z), SOCK_OK);
    assert_int_equal(sk_noise_drifts(&k->m, z, &sweep, k->fit.drift, &k->fit.f), SOCK_OK);
    assert_int_equal(sk_rows_of_a_new(&k->m, &k->fit.now, NULL, &rows), SOCK_OK);
    assert_int_equal(sk_noise_diffusions(&k->m, &rows, NULL, &sweep, false, k->fit.diffusion, &k->fit.a), SOCK_OK);
    sk_rows_of_a_clear(&rows);
    sk_frozen_free(z);
}

static void known_clear(known *k)
{
    sk_noise_fit_clear(&k->fit);
    sk_measured_clear(&k->m);
    for (size_t i = 0; i < 2; i++) sk_candidate_clear(&k->drift[i]);
    sk_candidate_clear(&k->diffusion);
    sk_transitions_free(k->rows);
    sock_data_free(k->data);
}

/* The variances that the law of f alone, and of log a, say at a point. */
static double within_at(const sock_model *model, double x)
{
    const sk_factor *f = model->spread->drift[0];
    double phi, space[8], sum = 0;
    sk_features_block(ctx, model->drift[0]->map, 1, &x, &phi, 1, space);
    for (size_t c = 0; c < f->rank; c++) sum += phi * phi * f->value[c] * f->value[c];
    return sum;
}

static double variance_of_log_a(const sock_model *model)
{
    const double x = 0.3;
    double a, var;
    assert_int_equal(sk_model_evaluate(ctx, model, 1, &x, NULL, &a), SOCK_OK);
    assert_int_equal(sk_diffusion_variance(ctx, model, 1, &x, &a, &var), SOCK_OK);
    return var;
}

/* An Ornstein-Uhlenbeck process with h = 1: theta is -log of a regression's slope, and log a moves with it. */
static void test_noisespread__of_long_steps_adds_the_errors_of_the_drift(void **state)
{
    (void)state;
    const double h = 1, theta = 1, rho = exp(-theta * h), v = (1 - rho * rho) / (2 * theta);
    known k;
    known_init(&k, paths(PATHS, STEPS, h, rho, v, 0), "linear", -theta, 1, 0);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    const sock_model *model = k.fit.now.model;
    double squares = 0;
    for (size_t i = 0; i < k.rows->n; i++) squares += k.rows->y[i] * k.rows->y[i];
    const double var_theta = v / squares / (rho * rho * h * h);
    const double move = 1 / theta - 2 * h * rho * rho / (1 - rho * rho); /* d log a / d theta */
    assert_close(within_at(model, 1), var_theta, 0.02, 0);
    assert_close(variance_of_log_a(model), 2 / (double)k.rows->n + move * move * var_theta, 0.02, 0);
    assert_true(move * move * var_theta > 1 / (double)k.rows->n); /* it matters */
    known_clear(&k);
}

/* Of 6000 steps every second run is looked at, and stands for two. */
static void test_noisespread__of_many_steps_is_made_of_some(void **state)
{
    (void)state;
    const double h = 0.1, rho = exp(-h), v = (1 - rho * rho) / 2;
    known k;
    known_init(&k, paths(MANY, STEPS, h, rho, v, 0), "linear", -1, 1, 0);
    assert_int_equal(k.rows->n, MANY * STEPS);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    double squares = 0;
    for (size_t i = 0; i < k.rows->n; i++) squares += k.rows->y[i] * k.rows->y[i];
    const double var_theta = v / squares / (rho * rho * h * h), move = 1 - 2 * h * rho * rho / (1 - rho * rho);
    assert_close(within_at(k.fit.now.model, 1), var_theta, 0.1, 0);
    assert_close(variance_of_log_a(k.fit.now.model), 2 / (double)k.rows->n + move * move * var_theta, 0.02, 0);
    known_clear(&k);
}

/* A random walk with noise: increments are a moving average, whose information about (a h, R) is an integral over
 * frequencies of the slopes of log(a h + 2 R (1 - cos w)). */
static void test_noisespread__of_noise_has_what_noise_leaves(void **state)
{
    (void)state;
    const double h = 0.1, a = 1, noise = 0.5 * h * a;
    enum { WAVES = 4000 };
    double f[3] = {0};
    known k;
    known_init(&k, paths(PATHS, STEPS, h, 1, a * h, noise), "constant", 0, a, noise);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    for (size_t i = 0; i < WAVES; i++) {
        const double wave = 2 * (1 - cos(3.14159265358979 * ((double)i + 0.5) / WAVES));
        const double one = a * h / (a * h + noise * wave), other = noise * wave / (a * h + noise * wave);
        f[0] += one * one / WAVES;
        f[1] += one * other / WAVES;
        f[2] += other * other / WAVES;
    }
    const double expected = 2 / (double)k.rows->n * f[2] / (f[0] * f[2] - f[1] * f[1]);
    assert_close(variance_of_log_a(k.fit.now.model), expected, 0.05, 0);
    assert_true(expected > 2 * 2 / (double)k.rows->n); /* noise takes more than half */
    known_clear(&k);
}

/* Slopes of the log spectrum of an Ornstein-Uhlenbeck process with noise, v / |1 - rho e^iw|^2 + R: in theta, log a,
 * log R. */
static void spectrum_slopes(double h, double theta, double noise, double w, double out[3])
{
    const double rho = exp(-theta * h), v = (1 - rho * rho) / (2 * theta), lag = 1 + rho * rho - 2 * rho * cos(w);
    const double dv = h * rho * rho / theta - v / theta, dlag = -h * rho * (2 * rho - 2 * cos(w));
    const double own = v / lag, share = own / (own + noise);
    out[0] = share * (dv / v - dlag / lag);
    out[1] = share;
    out[2] = 1 - share;
}

/* Its information about all three for each observation, an integral over the frequencies: what theta has beside a and
 * R, and given R. */
static void spectrum_variance(double h, double theta, double noise, double *beside, double *given)
{
    enum { WAVES = 4000 };
    double f[9] = {0};
    for (size_t i = 0; i < WAVES; i++) {
        double s[3];
        spectrum_slopes(h, theta, noise, 3.14159265358979 * ((double)i + 0.5) / WAVES, s);
        for (size_t k = 0; k < 9; k++) f[k] += s[k / 3] * s[k % 3] / (2 * WAVES);
    }
    *given = 1 / (f[0] - f[1] * f[1] / f[4]);
    for (size_t k = 0; k < 4; k++) f[k / 2 * 3 + k % 2] -= f[k / 2 * 3 + 2] * f[k % 2 * 3 + 2] / f[8];
    *beside = 1 / (f[0] - f[1] * f[1] / f[4]);
}

/* At long steps with noise theta, a and R are hard to tell apart: the law of f knows it. */
static void test_noisespread__of_f_is_that_beside_noise(void **state)
{
    (void)state;
    const double h = 1, theta = 1, noise = 0.2, rho = exp(-h), v = (1 - rho * rho) / 2;
    double beside, given;
    known k;
    known_init(&k, paths(MANY, STEPS, h, rho, v, noise), "linear", -theta, 1, noise);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    spectrum_variance(h, theta, noise, &beside, &given);
    assert_true(beside > 7 * given);
    /* what is left of the information is a seventh: errors of a few per cent of its parts are seven times as large */
    assert_close(within_at(k.fit.now.model, 1), beside / (double)k.rows->n, 0.25, 0);
    known_clear(&k);
}

/* The other drift is kept with its law, and weights of all of them add up to one. */
static void test_noisespread__keeps_the_other_drifts_with_their_laws(void **state)
{
    (void)state;
    const double rho = exp(-0.1), x = 0.7;
    known k;
    known_init(&k, paths(PATHS, STEPS, 0.1, rho, (1 - rho * rho) / 2, 0), "linear", -1, 1, 0);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    const sk_spread *s = k.fit.now.model->spread;
    assert_int_equal(s->drifts, 1);
    assert_int_equal(s->others, 1);
    assert_non_null(s->other_law[0]);
    assert_close(s->pi[0] + s->pi[1], 1, 1e-12, 0);
    assert_true(s->pi[0] > 0.1 && s->pi[1] > 0.1);
    assert_close(sk_spread_own(s), s->pi[0], 1e-12, 0);
    double f, var, other, law = 0;
    assert_int_equal(sk_model_evaluate(ctx, k.fit.now.model, 1, &x, &f, NULL), SOCK_OK);
    assert_int_equal(sk_drift_variance(ctx, k.fit.now.model, 1, &x, &f, &var), SOCK_OK);
    const double phi[2] = {x, 1};
    other = s->other[0]->weight[0] * x + s->other[0]->weight[1];
    for (size_t c = 0; c < s->other_law[0]->rank; c++) {
        double sum = 0;
        for (size_t e = 0; e < 2; e++)
            sum += phi[s->other_law[0]->entry[e]] * s->other_law[0]->value[e * s->other_law[0]->rank + c];
        law += sum * sum;
    }
    assert_close(var, s->pi[0] * within_at(k.fit.now.model, x) + s->pi[1] * (law + (other - f) * (other - f)), 1e-9, 0);
    known_clear(&k);
}

/* A part of a step that was taken last leaves two terms on the same features: they are one drift. */
static void test_noisespread__joins_parts_of_a_drift(void **state)
{
    (void)state;
    const double rho = exp(-0.1);
    known k;
    known_init(&k, paths(PATHS, STEPS, 0.1, rho, (1 - rho * rho) / 2, 0), "linear", -0.4, 1, 0);
    sock_model *model = k.fit.now.model;
    const double more = -0.6;
    assert_int_equal(sk_add_weights(ctx, model->drift[0]->map, &more, model), SOCK_OK);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    assert_int_equal(model->drift_terms, 1);
    assert_close(model->drift[0]->weight[0], -1, 1e-15, 0);
    assert_non_null(model->spread);
    sk_spread_free(model->spread);
    model->spread = NULL;
    sk_features *other = NULL;
    assert_int_equal(sk_features_new(ctx, "drift", k.drift[1].kernel, 1, 0, NULL, &other), SOCK_OK);
    const double two[2] = {0, 0};
    assert_int_equal(sk_add_weights(ctx, other, two, model), SOCK_OK);
    assert_int_equal(sk_noise_spread(&k.m, &k.fit), SOCK_OK);
    assert_int_equal(model->drift_terms, 2);
    assert_null(model->spread);
    sk_features_free(other);
    known_clear(&k);
}

static sock_status spread_once(sock_context *own, void *arg)
{
    const known *k = arg;
    (void)own;
    const sock_status status = sk_noise_spread(&k->m, &k->fit);
    sk_spread_free(k->fit.now.model->spread);
    k->fit.now.model->spread = NULL;
    return status;
}

static void test_noisespread__survives_every_failed_allocation(void **state)
{
    (void)state;
    const double rho = exp(-0.1);
    known k;
    sock_set_threads(ctx, 1);
    known_init(&k, paths(4, 8, 0.1, rho, (1 - rho * rho) / 2, 0.01), "linear", -1, 1, 0.01);
    assert_true(for_each_allocation(ctx, spread_once, &k) > 40);
    known_clear(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisespread__of_long_steps_adds_the_errors_of_the_drift),
        cmocka_unit_test(test_noisespread__of_many_steps_is_made_of_some),
        cmocka_unit_test(test_noisespread__of_noise_has_what_noise_leaves),
        cmocka_unit_test(test_noisespread__of_f_is_that_beside_noise),
        cmocka_unit_test(test_noisespread__keeps_the_other_drifts_with_their_laws),
        cmocka_unit_test(test_noisespread__joins_parts_of_a_drift),
        cmocka_unit_test(test_noisespread__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
