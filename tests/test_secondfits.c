/* test_secondfits.c - whole fits of positions whose velocities are not observed: what they find, beside regression on
 * the true velocities; noise; two dimensions; the model in a file and its paths; which options do not go with them. */
#define _GNU_SOURCE
#include "api/orderstat.h"
#include "inertia/inertiafit.h"
#include "la/la.h"
#include "tune/policy.h"
#include "tunefits.h"

#include <unistd.h>

enum { POINTS = 51, PATHS = 120, TERMS = 10 };

/* Positions and velocities of harmonic oscillators dv = (-q - v/2) dt + dW, h apart, after they have forgotten their
 * starts. */
typedef struct oscillators {
    double q[PATHS * POINTS], v[PATHS * POINTS];
} oscillators;

static oscillators *oscillate(double h)
{
    enum { INNER = 20, BURN = 300 };
    oscillators *o = calloc(1, sizeof *o);
    const double dt = h / INNER;
    double z[INNER * (POINTS + BURN)];
    for (size_t j = 0; j < PATHS; j++) {
        double q = 0.3, v = 0;
        sk_normals((sk_key){61, SK_PURPOSE_TEST}, j, 0, 0, sizeof z / sizeof *z, z);
        for (size_t i = 0; i < POINTS + BURN; i++) {
            if (i >= BURN) {
                o->q[j * POINTS + i - BURN] = q;
                o->v[j * POINTS + i - BURN] = v;
            }
            for (size_t k = 0; k < INNER; k++) {
                const double force = -q - 0.5 * v, kick = sqrt(dt) * z[i * INNER + k];
                q += dt * v + dt * dt / 2 * force + dt / 2 * kick;
                v += dt * force + kick;
            }
        }
    }
    return o;
}

static sock_data *positions_of(const oscillators *o, double h, double sd)
{
    double *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    sk_normals((sk_key){62, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)PATHS * POINTS, x);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) x[i] = o->q[i] + sd * x[i];
    return data_of(1, PATHS, POINTS, h, x);
}

static void cubic(double q, double v, double *phi)
{
    size_t at = 0;
    for (int i = 0; i <= 3; i++)
        for (int j = 0; i + j <= 3; j++) phi[at++] = pow(q, i) * pow(v, j);
}

/* The relative error of the force by regression on the true velocities, cubic, left rule. */
static double error_with_velocities(const oscillators *o, double h)
{
    double gram[TERMS * TERMS] = {0}, g[TERMS] = {0}, phi[TERMS], difference = 0, size = 0;
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) {
        if (i % POINTS + 1 == POINTS) continue;
        cubic(o->q[i], o->v[i], phi);
        for (size_t a = 0; a < TERMS; a++) {
            g[a] += phi[a] * (o->v[i + 1] - o->v[i]) / h;
            for (size_t b = 0; b < TERMS; b++) gram[a * TERMS + b] += phi[a] * phi[b];
        }
    }
    assert_int_equal(sk_cholesky(ctx, TERMS, gram, TERMS), SOCK_OK);
    sk_cholesky_solve(ctx, TERMS, 1, gram, TERMS, g, 1);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) {
        const double truth = -o->q[i] - 0.5 * o->v[i];
        cubic(o->q[i], o->v[i], phi);
        difference += pow(sk_dot(TERMS, phi, g) - truth, 2);
        size += truth * truth;
    }
    return sqrt(difference / size);
}

/* That of a model, and its mean a. */
static double error_of(const oscillators *o, const sock_model *model, double *mean)
{
    const size_t n = (size_t)PATHS * POINTS;
    double *x = calloc(2 * n, sizeof *x), *f = calloc(2 * n, sizeof *f), *a = calloc(4 * n, sizeof *a);
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) x[2 * i] = o->q[i], x[2 * i + 1] = o->v[i];
    assert_int_equal(sock_model_drift(ctx, model, n, x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, n, x, a), SOCK_OK);
    *mean = 0;
    for (size_t i = 0; i < n; i++) {
        const double truth = -o->q[i] - 0.5 * o->v[i];
        assert_true(f[2 * i] == o->v[i]);
        assert_true(a[4 * i] == 0 && a[4 * i + 1] == 0 && a[4 * i + 2] == 0);
        difference += pow(f[2 * i + 1] - truth, 2);
        size += truth * truth;
        *mean += a[4 * i + 3] / (double)n;
    }
    free(x), free(f), free(a);
    return sqrt(difference / size);
}

static const char *const second[] = {"order", "2", "noise", "none", NULL};

static void test_secondfits__velocities_are_found(void **state)
{
    (void)state;
    const double h = 0.1;
    oscillators *o = oscillate(h);
    sock_data *data = positions_of(o, h, 0);
    sock_model *model = fit(data, second);
    double mean, naive = 0;
    const double error = error_of(o, model, &mean);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++)
        if (i % POINTS + 2 < POINTS)
            naive += pow(o->q[i + 2] - 2 * o->q[i + 1] + o->q[i] + h * h * (o->q[i + 1] + 0.5 * o->v[i + 1]), 2) /
                     (h * h * h) / (PATHS * (POINTS - 2.0));
    assert_close(mean, 1, 0.04, 1);
    assert_true(naive < 0.7); /* 2/3: what differences make of it, with the true force taken out */
    assert_true(error <= 1.3 * error_with_velocities(o, h));
    assert_int_equal(sock_model_order(model), 2);
    assert_int_equal(sock_model_dim(model), 2);
    assert_string_equal(sock_model_name(model, 1), "v_x0");
    json_t *info = info_of(model);
    assert_int_equal(json_integer_value(json_object_get(info, "order")), 2);
    assert_string_equal(json_string_value(json_array_get(json_object_get(info, "equation"), 0)), "dx0/dt = 1*v_x0");
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

static void test_secondfits__noise_is_told_from_kicks(void **state)
{
    (void)state;
    static const char *const any[] = {"order", "2", "drift", "poly:degree=2", "diffusion", "affine", NULL};
    const double h = 0.1, sd = 0.02;
    oscillators *o = oscillate(h);
    sock_data *data = positions_of(o, h, sd);
    sock_model *model = fit(data, any);
    double mean, noise[4];
    error_of(o, model, &mean);
    assert_close(mean, 1, 0.06, 1);
    assert_int_equal(sock_model_noise(model, noise), 1);
    assert_close(noise[0], sd * sd, 0.05, sd * sd);
    assert_true(noise[1] == 0 && noise[2] == 0 && noise[3] == 0);
    json_t *info = info_of(model), *told = json_object_get(info, "noise");
    assert_true(json_is_true(json_object_get(told, "used")));
    assert_true(json_number_value(json_object_get(told, "gain")) > 100);
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

static void test_secondfits__clean_positions_have_no_noise(void **state)
{
    (void)state;
    static const char *const any[] = {"order", "2", "drift", "affine", "diffusion", "constant", NULL};
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    sock_model *model = fit(data, any);
    assert_int_equal(sock_model_noise(model, NULL), 0);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

/* Rows of one dimension by the transition of free motion, as several dimensions have them: the same answer. */
static void test_secondfits__kinematic_rows_say_the_same(void **state)
{
    (void)state;
    oscillators *o = oscillate(0.2);
    sock_data *data = positions_of(o, 0.2, 0);
    const sk_tune_spec spec = {
        .data = data, .drift = "affine", .diffusion = "affine", .scaling = true, .weighted = true};
    double error[2], mean[2];
    for (int turn = 0; turn < 2; turn++) {
        sk_inertial w;
        sk_inertial_fit found;
        sock_model *model = NULL;
        assert_int_equal(sk_inertial_new(ctx, &spec, &w), SOCK_OK);
        w.kinematic = turn;
        assert_int_equal(sk_inertial_run(&w, false, SK_INERTIA_ITERATIONS, &found), SOCK_OK);
        assert_int_equal(sk_inertial_restore(&w, found.now.model, NULL, &model), SOCK_OK);
        error[turn] = error_of(o, model, &mean[turn]);
        sock_model_free(model);
        sk_inertial_fit_clear(&found);
        sk_inertial_clear(&w);
    }
    assert_close(error[1], error[0], 0.01, 1);
    assert_close(mean[1], mean[0], 0.01, 1);
    sock_data_free(data);
    free(o);
}

/* ---- Two dimensions ---- */

static void pull(const double *z, double *f)
{
    f[0] = -z[0] - 0.3 * z[1] - 0.5 * z[2] - 0.8 * z[3];
    f[1] = -0.3 * z[0] - 0.6 * z[1] + 0.8 * z[2] - 0.5 * z[3];
}

static void test_secondfits__two_dimensions_with_rotation(void **state)
{
    (void)state;
    enum { INNER = 20, MANY = 100 };
    const double h = 0.1, dt = h / INNER;
    static double x[MANY * POINTS * 2], at[MANY * POINTS * 4], z[INNER * POINTS * 2];
    for (size_t j = 0; j < MANY; j++) {
        double s[4] = {sin((double)j), cos(2.0 * (double)j), 0, 0}, f[2];
        sk_normals((sk_key){63, SK_PURPOSE_TEST}, j, 0, 0, sizeof z / sizeof *z, z);
        for (size_t i = 0; i < POINTS; i++) {
            memcpy(x + (j * POINTS + i) * 2, s, 2 * sizeof *s);
            memcpy(at + (j * POINTS + i) * 4, s, 4 * sizeof *s);
            for (size_t k = 0; k < INNER; k++) {
                const double *n = z + (i * INNER + k) * 2, kick[2] = {0.8 * n[0], 0.2 * n[0] + 0.6 * n[1]};
                pull(s, f);
                for (size_t c = 0; c < 2; c++) {
                    s[c] += dt * s[2 + c] + dt * dt / 2 * f[c] + dt * sqrt(dt) / 2 * kick[c];
                    s[2 + c] += dt * f[c] + sqrt(dt) * kick[c];
                }
            }
        }
    }
    double *copy = calloc((size_t)MANY * POINTS * 2, sizeof *copy);
    memcpy(copy, x, sizeof x);
    sock_data *data = data_of(2, MANY, POINTS, h, copy);
    static const char *const few[] = {"order", "2", "noise", "none", "drift", "affine", "diffusion", "affine", NULL};
    sock_model *model = fit(data, few);
    double difference = 0, size = 0, f[4], a[16], truth[2];
    for (size_t i = 0; i < (size_t)MANY * POINTS; i += 7) {
        assert_int_equal(sock_model_drift(ctx, model, 1, at + 4 * i, f), SOCK_OK);
        pull(at + 4 * i, truth);
        for (size_t c = 0; c < 2; c++) {
            difference += pow(f[2 + c] - truth[c], 2);
            size += truth[c] * truth[c];
        }
    }
    assert_true(sqrt(difference / size) < 0.12);
    assert_int_equal(sock_model_diffusion(ctx, model, 1, at, a), SOCK_OK);
    assert_close(a[10], 0.64, 0.08, 0.64);
    assert_close(a[11], 0.16, 0.08, 0.64);
    assert_close(a[15], 0.40, 0.08, 0.40);
    assert_true(a[0] == 0 && a[2] == 0 && a[5] == 0 && a[7] == 0);
    double low[4], high[4], inside = 0, all = 0;
    const sock_bands bands = {.f_low = low, .f_high = high};
    for (size_t i = 0; i < (size_t)MANY * POINTS; i += 7) {
        assert_int_equal(sock_model_bands(ctx, model, 1, at + 4 * i, 0.9, &bands), SOCK_OK);
        pull(at + 4 * i, truth);
        for (size_t c = 0; c < 2; c++, all++) inside += truth[c] >= low[2 + c] && truth[c] <= high[2 + c];
    }
    assert_true(inside / all > 0.6); /* points hang together: one fit may be off in a corner */
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Bands ---- */

/* Half the width of the band of 90 % in standard deviations of what it says: the factor of policy.h and 1.645. */
static double deviation(const double *low, const double *high, size_t i)
{
    return (high[i] - low[i]) / (2 * 1.6448536 * SK_BAND_FACTOR);
}

/* Of an oscillator in equilibrium weights of 1, q and v are apart, with the variances a / T, a / (T <q^2>) and a / (T
 * <v^2>) over a time T, were velocities observed; that positions alone are hardly widens them. Of n innovations a has
 * the relative variance 2 / n. */
static void test_secondfits__bands_are_those_of_regression(void **state)
{
    (void)state;
    static const char *const plain[] = {"order",  "2",         "noise",    "none", "drift",
                                        "affine", "diffusion", "constant", NULL};
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    sock_model *model = fit(data, plain);
    const double at[] = {0, 0, 1, 0, 0, 1}, time = PATHS * (POINTS - 2) * 0.1, steps = PATHS * (POINTS - 2);
    double f_low[6], f_high[6], a_low[12], a_high[12], square[2] = {0}, a[4];
    assert_true(sock_model_has_bands(model));
    const sock_bands bands = {.f_low = f_low, .f_high = f_high, .a_low = a_low, .a_high = a_high};
    assert_int_equal(sock_model_bands(ctx, model, 3, at, 0.9, &bands), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 1, at, a), SOCK_OK);
    for (size_t i = 0; i < (size_t)PATHS * POINTS; i++) {
        square[0] += o->q[i] * o->q[i] / (PATHS * POINTS);
        square[1] += o->v[i] * o->v[i] / (PATHS * POINTS);
    }
    const double still = a[3] / time,
                 sd[] = {sqrt(still), sqrt(still * (1 + 1 / square[0])), sqrt(still * (1 + 1 / square[1]))};
    for (size_t i = 0; i < 3; i++) {
        const double ratio = deviation(f_low, f_high, 2 * i + 1) / sd[i];
        if (!(ratio > 0.9 && ratio < 1.2)) fail_msg("point %zu: %g", i, ratio);
        assert_true(f_low[2 * i] == at[2 * i + 1] && f_high[2 * i] == at[2 * i + 1]); /* v is certain */
        assert_true(a_low[4 * i] == 0 && a_high[4 * i] == 0);
    }
    assert_close(deviation(a_low, a_high, 3) / (a[3] * sqrt(2 / steps)), 1, 0.1, 1);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

/* Draws are models of order 2 about f and a, as far from them as the bands say, also out of a file. */
static void test_secondfits__draws_are_of_order_two(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    char path[] = "/tmp/second-XXXXXX";
    static const char *const plain[] = {"order",  "2",         "noise",    "none", "drift",
                                        "affine", "diffusion", "constant", NULL};
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    sock_model *model = fit(data, plain), *loaded = NULL;
    const double at[] = {1, -0.5};
    double low[2], high[2], f[2], a[4], drawn[2], kicks[4], mean = 0, square = 0, a_mean = 0, a_square = 0;
    double a_low[4], a_high[4];
    const sock_bands bands = {.f_low = low, .f_high = high, .a_low = a_low, .a_high = a_high};
    assert_int_equal(sock_model_bands(ctx, model, 1, at, 0.9, &bands), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, model, 1, at, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 1, at, a), SOCK_OK);
    close(mkstemp(path));
    assert_int_equal(sock_model_save(ctx, model, path), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, path, &loaded), SOCK_OK);
    unlink(path);
    for (uint64_t i = 0; i < DRAWS; i++) {
        sock_model *draw = NULL;
        assert_int_equal(sock_model_draw(ctx, i % 2 ? model : loaded, 3, i, &draw), SOCK_OK);
        assert_int_equal(sock_model_order(draw), 2);
        assert_int_equal(sock_model_drift(ctx, draw, 1, at, drawn), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, draw, 1, at, kicks), SOCK_OK);
        assert_true(drawn[0] == -0.5 && kicks[0] == 0 && kicks[1] == 0);
        mean += (drawn[1] - f[1]) / DRAWS;
        square += (drawn[1] - f[1]) * (drawn[1] - f[1]) / DRAWS;
        a_mean += (kicks[3] - a[3]) / DRAWS;
        a_square += (kicks[3] - a[3]) * (kicks[3] - a[3]) / DRAWS;
        sock_model_free(draw);
    }
    const double sd = deviation(low, high, 1), a_sd = deviation(a_low, a_high, 3);
    assert_close(mean / sd, 0, 0.2, 1);
    assert_close(sqrt(square) / sd, 1, 0.12, 1);
    assert_close(a_mean / a_sd, 0, 0.2, 1);
    assert_close(sqrt(a_square) / a_sd, 1, 0.12, 1);
    sock_model_free(loaded);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

/* ---- The file, and paths ---- */

static void test_secondfits__a_file_keeps_the_order(void **state)
{
    (void)state;
    char path[] = "/tmp/second-XXXXXX";
    static const char *const plain[] = {"order",  "2",         "noise",    "none", "drift",
                                        "affine", "diffusion", "constant", NULL};
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    sock_model *model = fit(data, plain), *loaded = NULL;
    const double at[] = {0.3, -0.7};
    double f[2][2], a[2][4];
    close(mkstemp(path));
    assert_int_equal(sock_model_save(ctx, model, path), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, path, &loaded), SOCK_OK);
    assert_int_equal(sock_model_order(loaded), 2);
    assert_true(sk_structure_equal(model->structure, loaded->structure));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sock_model_drift(ctx, i ? loaded : model, 1, at, f[i]), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, i ? loaded : model, 1, at, a[i]), SOCK_OK);
    }
    assert_memory_equal(f[0], f[1], sizeof f[0]);
    assert_memory_equal(a[0], a[1], sizeof a[0]);
    unlink(path);
    sock_model_free(loaded);
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

static void drifting(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[2 * i] = x[2 * i + 1], f[2 * i + 1] = 3;
}

static void kicked(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d, (void)x;
    for (size_t i = 0; i < count; i++) a[4 * i] = a[4 * i + 1] = a[4 * i + 2] = 0, a[4 * i + 3] = 2;
}

/* One step has the pair of Gaussians of covariance a [[h^3/3, h^2/2], [h^2/2, h]] about x + h v + h^2 F / 2. */
static void test_secondfits__a_step_has_the_right_law(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    const double x0[] = {1, -2}, t[] = {0, 0.5}, h = 0.5;
    const sock_simulation spec = {.starts = 1, .x0 = x0, .times = 2, .t = t, .paths = MANY, .step = h, .seed = 5};
    double *out = calloc((size_t)MANY * 4, sizeof *out), mean[2] = {0}, c[3] = {0};
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 2, NULL, drifting, kicked, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_OK);
    assert_int_equal(sock_simulate(ctx, model, &spec, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < MANY; i++)
        for (size_t k = 0; k < 2; k++) mean[k] += out[4 * i + 2 + k] / MANY;
    for (size_t i = 0; i < MANY; i++) {
        const double x = out[4 * i + 2] - mean[0], v = out[4 * i + 3] - mean[1];
        c[0] += x * x / MANY, c[1] += x * v / MANY, c[2] += v * v / MANY;
    }
    assert_close(mean[0], 1 - 2 * h + 3 * h * h / 2, 0.01, 1);
    assert_close(mean[1], -2 + 3 * h, 0.02, 1);
    assert_close(c[0], 2 * h * h * h / 3, 0.03, 0);
    assert_close(c[1], 2 * h * h / 2, 0.03, 0);
    assert_close(c[2], 2 * h, 0.03, 0);
    sock_model_free(model);
    free(out);
}

/* ---- What does not go together ---- */

static void refuses(const sock_data *data, const char *const *pairs, const char *words)
{
    sock_options *opts = options(pairs);
    sock_model *model = NULL;
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), words)) fail_msg("'%s' does not say '%s'", sock_message(ctx), words);
    sock_options_free(opts);
}

static void test_secondfits__what_does_not_go_with_it_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"lower", "0"},    {"upper", "1"},    {"quadrature", "left"}, {"weights", "no"},    {"polish", "no"},
        {"average", "no"}, {"substeps", "2"}, {"budget", "10"},       {"correction", "no"}, {"hold", "linear"}};
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const pairs[] = {"order", "2", wrong[i][0], wrong[i][1], NULL};
        refuses(data, pairs, wrong[i][0]);
    }
    refuses(data, (const char *const[]){"order", "2", "tune", "no", NULL}, "tune");
    refuses(data, (const char *const[]){"order", "2", "preset", "paper", NULL}, "preset");
    refuses(data, (const char *const[]){"order", "2", "noise", "full", NULL}, "noise is 'full'");
    refuses(data, (const char *const[]){"order", "2", "diffusion", "rates:degree=1", NULL}, "rates");
    sock_data_free(data);
    free(o);
}

/* A model of second order and what knows order 1; positions and velocities that are both observed. */
static void test_secondfits__who_knows_order_one_says_so(void **state)
{
    (void)state;
    sock_model *model = NULL;
    oscillators *o = oscillate(0.1);
    sock_data *data = positions_of(o, 0.1, 0);
    assert_int_equal(sock_model_wrap(ctx, 2, NULL, drifting, kicked, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_order(ctx, model, 3), SOCK_EUSAGE);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_OK);
    sock_model_free(model);
    assert_int_equal(sock_model_wrap(ctx, 3, NULL, drifting, kicked, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "3 states"));
    sock_model_free(model);
    sock_data_free(data);
    free(o);
}

/* Memory that ends anywhere ends the fit, with a message, and nothing is left. Some of the places: all would take long.
 */
static void test_secondfits__memory_may_end_anywhere(void **state)
{
    (void)state;
    static const char *const few[] = {"order", "2", "drift", "affine", "diffusion", "affine", "folds", "2", NULL};
    enum { SOME = 12, SHORT = 16 };
    double *x = calloc((size_t)SOME * SHORT, sizeof *x);
    sk_normals((sk_key){65, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)SOME * SHORT, x);
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 1; i < (size_t)SOME * SHORT; i++)
            if (i % SHORT) x[i] = 0.9 * x[i - 1] + 0.1 * x[i];
    sock_data *data = data_of(1, SOME, SHORT, 0.1, x);
    sock_options *opts = options(few);
    sock_status status = SOCK_ENOMEM;
    for (long k = 1; status == SOCK_ENOMEM; k += 1 + k / 6) {
        sock_model *model = NULL;
        sk_begin(ctx);
        sk_fail_allocation(ctx, k);
        status = sock_fit(ctx, data, opts, &model);
        sk_fail_allocation(ctx, 0);
        if (status < 0) assert_non_null(strstr(sock_message(ctx), "out of memory"));
        assert_true((status >= 0) == (model != NULL));
        sock_model_free(model);
    }
    assert_int_equal(status, SOCK_OK);
    sock_options_free(opts);
    sock_data_free(data);
}

/* ---- The order statistic ---- */

static sk_order_statistic order_of(sock_data *data)
{
    sk_order_statistic s;
    assert_int_equal(sk_order_statistics(ctx, data, NULL, &s), SOCK_OK);
    sock_data_free(data);
    return s;
}

static void test_order__positions_are_told_from_states(void **state)
{
    (void)state;
    oscillators *o = oscillate(0.1);
    const sk_order_statistic clean = order_of(positions_of(o, 0.1, 0)), noisy = order_of(positions_of(o, 0.1, 0.02));
    sk_order_statistic own;
    assert_true(sk_looks_second(&clean) && clean.correlation > 0.2 && clean.left > 0.9);
    assert_true(sk_looks_second(&noisy)); /* thinning shows what noise hides */
    double *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    sk_normals((sk_key){64, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)PATHS * POINTS, x);
    for (size_t i = 1; i < (size_t)PATHS * POINTS; i++)
        if (i % POINTS) x[i] = 0.9 * x[i - 1] + 0.4 * x[i];
    own = order_of(data_of(1, PATHS, POINTS, 0.1, x)); /* Ornstein-Uhlenbeck */
    assert_true(!sk_looks_second(&own) && own.correlation < -0.4);
    free(o);
}

/* Relaxation with hardly any noise is smooth, but its increments are a function of the state. */
static void test_order__a_smooth_path_of_first_order_is_no_position(void **state)
{
    (void)state;
    double *x = calloc((size_t)PATHS * POINTS, sizeof *x);
    for (size_t j = 0; j < PATHS; j++) {
        double at = 3 * sin((double)j);
        for (size_t i = 0; i < POINTS; i++) {
            x[j * POINTS + i] = at;
            for (size_t k = 0; k < 50; k++) at += 0.001 * sin(3 * at);
        }
    }
    const sk_order_statistic s = order_of(data_of(1, PATHS, POINTS, 0.05, x));
    assert_true(!sk_looks_second(&s) && s.left < 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secondfits__velocities_are_found),
        cmocka_unit_test(test_secondfits__noise_is_told_from_kicks),
        cmocka_unit_test(test_secondfits__clean_positions_have_no_noise),
        cmocka_unit_test(test_secondfits__kinematic_rows_say_the_same),
        cmocka_unit_test(test_secondfits__two_dimensions_with_rotation),
        cmocka_unit_test(test_secondfits__bands_are_those_of_regression),
        cmocka_unit_test(test_secondfits__draws_are_of_order_two),
        cmocka_unit_test(test_secondfits__a_file_keeps_the_order),
        cmocka_unit_test(test_secondfits__a_step_has_the_right_law),
        cmocka_unit_test(test_secondfits__what_does_not_go_with_it_is_refused_by_name),
        cmocka_unit_test(test_secondfits__who_knows_order_one_says_so),
        cmocka_unit_test(test_secondfits__memory_may_end_anywhere),
        cmocka_unit_test(test_order__positions_are_told_from_states),
        cmocka_unit_test(test_order__a_smooth_path_of_first_order_is_no_position),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
