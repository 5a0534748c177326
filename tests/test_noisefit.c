/* test_noisefit.c - the pieces of the fit of measured data: runs, the test, R, rows of the diffusion; against an
 * independent program and where the answer is known. */
#include "noise/noisefit.h"
#include "noisecases.h"
#include "tune/policy.h"

/* ---- Transitions by hand ---- */

static sock_data *long_path(size_t length)
{
    double *t = calloc(length, sizeof *t), *x = calloc(length, sizeof *x);
    sock_data *data = NULL;
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, 7, 0, 0, length, x);
    for (size_t i = 0; i < length; i++) t[i] = 0.1 * (double)i;
    assert_true(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    free(t);
    free(x);
    return data;
}

static void test_measured__long_trajectories_are_cut(void **state)
{
    (void)state;
    sock_data *data = long_path(452);
    sk_transitions *rows = transitions_of(data, 1);
    const sk_candidates none = {0};
    sk_measured m;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    assert_int_equal(m.series.runs, 3);
    assert_int_equal(m.series.first[1], 200);
    assert_int_equal(m.series.first[3], 451);
    assert_int_equal(m.run_first[1], 3);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* ---- The test ---- */

/* Increments of y = x + N(0, r) with x at rest but for white noise of variance v: lag products are -r. */
static void test_lag__finds_the_variance_of_the_noise(void **state)
{
    (void)state;
    enum { N = 20000 };
    sock_data *data = long_path(N + 1);
    sk_transitions *rows = transitions_of(data, 1);
    const sk_candidates none = {0};
    static double e[N], variance[N], w[N];
    double r, z;
    sk_lagged out = {.r = &r, .z = &z};
    sk_measured m;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    sk_normals((sk_key){2, SK_PURPOSE_TEST}, 7, 0, 0, N, w);
    for (size_t i = 0; i < N; i++) {
        e[i] = 2 * w[i] + 0.5 * (data->x[i + 1] - data->x[i]); /* R = 0.25, V = 4 */
        variance[i] = 4;
    }
    assert_int_equal(sk_lag_test(&m, e, NULL, variance, &out), SOCK_OK);
    assert_close(r, 0.25, 0.3, 0.25);
    assert_true(z > 4 && out.pairs == N - m.series.runs);
    for (size_t i = 0; i < N; i++) e[i] = 2 * w[i];
    assert_int_equal(sk_lag_test(&m, e, NULL, variance, &out), SOCK_OK);
    assert_true(fabs(z) < 3);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* ---- Ornstein and Uhlenbeck ---- */

/* dx = -x dt + dW in exact steps of h, seen with variance r: runs of 100 steps, x from the stationary law. */
static sock_data *relaxing(size_t runs, double h, double r)
{
    enum { POINTS = 101 };
    const double keep = exp(-h), spread = sqrt((1 - keep * keep) / 2);
    double *t = calloc(runs * POINTS, sizeof *t), *x = calloc(runs * POINTS, sizeof *x), w[POINTS], e[POINTS];
    size_t *length = calloc(runs, sizeof *length);
    sock_data *data = NULL;
    for (size_t j = 0; j < runs; j++) {
        double at = 0;
        length[j] = POINTS;
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, j, 0, 0, POINTS, w);
        sk_normals((sk_key){6, SK_PURPOSE_TEST}, j, 0, 0, POINTS, e);
        for (size_t i = 0; i < POINTS; i++) {
            at = i ? keep * at + spread * w[i] : w[0] / sqrt(2);
            t[j * POINTS + i] = h * (double)i;
            x[j * POINTS + i] = at + sqrt(r) * e[i];
        }
    }
    assert_true(sock_data_from_arrays(ctx, 1, runs, length, t, x, NULL, NULL, NULL, &data) >= 0);
    free(t);
    free(x);
    free(length);
    return data;
}

static void pull(void *user, size_t count, size_t d, const double *x, double *f)
{
    for (size_t i = 0; i < count * d; i++) f[i] = -*(const double *)user * x[i];
}

static void one(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 1;
}

/* The beginning knows R, slope and a to what 4000 steps show: the errors are about 4, 7 and 4 per cent. */
static void test_start__finds_noise_slope_and_diffusion(void **state)
{
    (void)state;
    const double h = 0.1, r = 0.05;
    sock_data *data = relaxing(40, h, r);
    sk_transitions *rows = transitions_of(data, 2);
    const sk_candidates none = {0};
    const double at = 1;
    double least, f, a;
    sk_measured m;
    sk_noisy now;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    m.mode = SK_NOISE_DIAGONAL;
    assert_int_equal(sk_noise_start(&m, &now, &least), SOCK_OK);
    assert_close(now.noise[0], r, 0.2, r);
    assert_true(least > 0 && least < 1e-3 * r);
    assert_int_equal(sk_model_evaluate(ctx, now.model, 1, &at, &f, &a), SOCK_OK);
    assert_close(f, -1, 0.3, 1);
    assert_close(a, 1, 0.2, 1);
    sk_noisy_clear(&now);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* Long steps without noise: from the left point the slope is (exp(-h) - 1) / h = -0.63; the pilots find -1. */
static void test_start__follows_long_steps(void **state)
{
    (void)state;
    sock_data *data = relaxing(20, 1, 0);
    sk_transitions *rows = transitions_of(data, 2);
    const sk_candidates none = {0};
    const double at[] = {-1, 1};
    double least, f[2], a[2];
    sk_measured m;
    sk_noisy now;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    assert_int_equal(sk_noise_start(&m, &now, &least), SOCK_OK);
    assert_true(now.substeps.count >= 4 && !now.noise);
    assert_int_equal(sk_model_evaluate(ctx, now.model, 2, at, f, a), SOCK_OK);
    assert_close(0.5 * (f[1] - f[0]), -1, 0.12, 1);
    assert_close(a[0], 1, 0.15, 1);
    sk_noisy_clear(&now);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* A model that is right promises next to nothing, one with a wrong drift what a fit would gain. */
static void test_promise__is_what_a_fit_would_gain(void **state)
{
    (void)state;
    sock_data *data = relaxing(20, 0.5, 0);
    sk_transitions *rows = transitions_of(data, 2);
    const sk_candidates none = {0};
    double right = 1, wrong = 2, gain[2];
    sk_measured m;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    sk_noisy good = {.model = wrap_fields(ctx, 1, pull, one, &right), .substeps = {8, false}};
    sk_noisy bad = {.model = wrap_fields(ctx, 1, pull, one, &wrong), .substeps = {8, false}};
    assert_int_equal(sk_noise_promise(&m, &good, &gain[0]), SOCK_OK);
    assert_int_equal(sk_noise_promise(&m, &bad, &gain[1]), SOCK_OK);
    assert_true(gain[0] >= 0 && gain[0] < 2);
    assert_int_equal(sk_noisy_score(&m, &good), SOCK_OK);
    assert_int_equal(sk_noisy_score(&m, &bad), SOCK_OK);
    assert_true(gain[1] > 0.3 * (good.sum - bad.sum) && good.sum - bad.sum > 50);
    sk_noisy_clear(&good);
    sk_noisy_clear(&bad);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* R that is there gains on the rows of a fit without it, R that is not does not. */
static void test_hint__tells_noise_from_none(void **state)
{
    (void)state;
    const double h = 0.1, variance[] = {0, 0.02};
    const sk_candidates none = {0};
    for (size_t i = 0; i < 2; i++) {
        sock_data *data = relaxing(40, h, variance[i]);
        sk_transitions *rows = transitions_of(data, 2);
        double least, gain;
        sk_measured m;
        sk_noisy clean, hint;
        assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
        assert_int_equal(sk_noise_start(&m, &clean, &least), SOCK_OK);
        m.mode = SK_NOISE_DIAGONAL;
        assert_int_equal(sk_noise_hint(&m, &clean, true, &hint, &gain), SOCK_OK);
        assert_true(i ? gain > 20 : gain < 1);
        assert_close(hint.noise[0], variance[i], 0.25, 0.02);
        assert_close(hint.sum - clean.sum, gain, 0.1, 1);
        sk_noisy_clear(&hint);
        sk_noisy_clear(&clean);
        sk_measured_clear(&m);
        sk_transitions_free(rows);
        sock_data_free(data);
    }
}

/* A few steps that no law explains gain for any R: they count as in the verdict. */
static void test_hint__a_few_jumps_do_not_speak_for_noise(void **state)
{
    (void)state;
    const sk_candidates none = {0};
    sock_data *data = relaxing(40, 0.1, 0);
    sk_transitions *rows = transitions_of(data, 2);
    double least, gain;
    sk_measured m;
    sk_noisy clean, hint;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    assert_int_equal(sk_noise_start(&m, &clean, &least), SOCK_OK);
    for (size_t j = 0; j < 20; j++) /* in the middle, and relaxing */
        for (size_t i = 50; i < 101; i++) data->x[j * 101 + i] += 10 * exp(-0.1 * (double)(i - 50));
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    rows = transitions_of(data, 2);
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    m.mode = SK_NOISE_DIAGONAL;
    m.substeps = 1;
    clean.substeps = (sk_substeps){1, false};
    assert_int_equal(sk_noisy_score(&m, &clean), SOCK_OK);
    assert_int_equal(sk_noise_hint(&m, &clean, false, &hint, &gain), SOCK_OK);
    assert_true(hint.sum - clean.sum > 1000);
    assert_true(gain >= 0 && gain < 0.6);
    sk_noisy_clear(&hint);
    sk_noisy_clear(&clean);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* dx = 4 dt + 0.3 x dW through 0: an R of a share of the median step explains nothing where a vanishes. */
static void test_hint__no_noise_where_a_vanishes(void **state)
{
    (void)state;
    enum { PATHS = 40, POINTS = 41, FINE = 20 };
    const double h = 0.025;
    const sk_candidates none = {0};
    static double x[PATHS * POINTS], t[PATHS * POINTS], z[POINTS * FINE];
    size_t length[PATHS];
    double gain, at;
    sock_data *data = NULL;
    sk_measured m;
    sk_noisy clean = {.substeps = {1, false}}, hint;
    for (size_t j = 0; j < PATHS; j++) {
        sk_normals((sk_key){3, SK_PURPOSE_TEST}, j, 0, 0, POINTS * FINE, z);
        for (size_t i = 0; i < POINTS * FINE; i++) {
            at = i ? at + h / FINE * 4 + 0.3 * at * sqrt(h / FINE) * z[i] : -2;
            if (i % FINE == 0) x[j * POINTS + i / FINE] = at;
        }
        for (size_t i = 0; i < POINTS; i++) t[j * POINTS + i] = h * (double)i;
        length[j] = POINTS;
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_options *opts = sock_options_new(ctx);
    sock_options_set(ctx, opts, "tune", "no");
    sock_options_set(ctx, opts, "drift", "affine");
    sock_options_set(ctx, opts, "diffusion", "linear");
    assert_int_equal(sock_fit(ctx, data, opts, &clean.model), SOCK_OK);
    sk_transitions *rows = transitions_of(data, 2);
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    m.mode = SK_NOISE_DIAGONAL;
    m.substeps = 1;
    assert_int_equal(sk_noisy_score(&m, &clean), SOCK_OK);
    assert_int_equal(sk_noise_hint(&m, &clean, false, &hint, &gain), SOCK_OK);
    assert_true(gain < -20 && !hint.model);
    sock_options_free(opts);
    sk_noisy_clear(&hint);
    sk_noisy_clear(&clean);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* The likelihood with R times `noise` and the drift times `pace`. */
static double likelihood_beside(const sk_measured *m, const sk_noisy *at, double noise, double pace)
{
    const double r = noise * at->noise[0];
    sk_noisy one;
    assert_int_equal(sk_noisy_like(m, &r, at->substeps, &one), SOCK_OK);
    assert_int_equal(sk_add_drift_of(ctx, at->model, pace, one.model), SOCK_OK);
    assert_int_equal(sk_add_diffusion_of(ctx, at->model, NULL, one.model), SOCK_OK);
    assert_int_equal(sk_noisy_score(m, &one), SOCK_OK);
    const double sum = one.sum;
    sk_noisy_clear(&one);
    return sum;
}

/* From a beginning of long noisy steps to a point where no number moved alone gains. */
static void test_ascent__ends_at_the_top(void **state)
{
    (void)state;
    static const double noise[] = {1.05, 1 / 1.05, 1, 1}, pace[] = {1, 1, 1.02, 1 / 1.02};
    sock_data *data = relaxing(40, 0.5, 0.2);
    sk_transitions *rows = transitions_of(data, 2);
    const sk_candidates none = {0};
    double least;
    sk_measured m;
    sk_noisy now;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    m.mode = SK_NOISE_DIAGONAL;
    assert_int_equal(sk_noise_start(&m, &now, &least), SOCK_OK);
    const double before = now.sum;
    assert_int_equal(sk_noise_ascend(&m, &least, &now), SOCK_OK);
    assert_true(now.sum > before);
    for (size_t i = 0; i < 4; i++) assert_true(likelihood_beside(&m, &now, noise[i], pace[i]) < now.sum + 0.02);
    assert_close(now.noise[0], 0.2, 0.25, 0.2);
    sk_noisy_clear(&now);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* ---- Held out ---- */

/* Two clusters of two steps: gains add up, and a step counts at least 20 nats below the median one. */
static void test_compare__one_lost_step_does_not_decide(void **state)
{
    (void)state;
    const size_t length[] = {3, 3, 3};
    const double t[] = {0, 1, 2, 0, 1, 2, 0, 1, 2}, x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const double better[] = {1, 1, 1, 2, 1, 1}, worse[] = {0, 0, 0, 0, 0, -1000};
    const sk_candidates none = {0};
    sock_data *data = NULL;
    sk_measured m;
    sk_gain gain;
    assert_true(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, NULL, NULL, &data) >= 0);
    sk_transitions *rows = transitions_of(data, 3);
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    assert_int_equal(sk_noise_compare(&m, better, worse, &gain), SOCK_OK);
    assert_close(gain.nats, 5 + 1 + 21, 1e-13, 1); /* 6 steps, one of them 2, the last 1 + 20 */
    assert_int_equal(sk_noise_compare(&m, worse, better, &gain), SOCK_OK);
    assert_close(gain.nats, -27, 1e-13, 1);
    assert_close(gain.error, sqrt(3.0 / 2 * (49 + 36 + 169)), 1e-12, 1); /* 2, 3 and 22 about their mean 9 */
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* ---- Rows of the diffusion ---- */

/* Solves 2 x 2: x := m^-1 x. */
static void undo(const double *m, double *x)
{
    const double det = m[0] * m[3] - m[1] * m[2], y = x[0];
    x[0] = (m[3] * y - m[1] * x[1]) / det;
    x[1] = (m[0] * x[1] - m[2] * y) / det;
}

/* Row i of the program in the words of the oracle: its start, end, length, Z (from z), features (1, x1, x2) and target.
 */
typedef struct smooth_row {
    double x0[2], x1[2], h, zx[4], psi[3], target[2];
} smooth_row;

static smooth_row row_of(const sk_pulled *q, size_t i)
{
    smooth_row r = {.h = q->rule->h[i]};
    const double *f = q->average + 4 * i, *u = q->u + 2 * i;
    double left[4], half[4];
    memcpy(r.x0, q->rule->x + 2 * q->rule->row[i], sizeof r.x0);
    for (size_t e = q->rule->row[i]; e < q->rule->row[i + 1]; e++) {
        r.psi[0] += q->rule->weight[e];
        for (size_t k = 0; k < 2; k++) r.psi[1 + k] += q->rule->weight[e] * q->rule->x[2 * e + k];
    }
    for (size_t k = 0; k < 2; k++) {
        r.x1[k] = q->mean[2 * i + k] + f[2 * k] * u[0] + f[2 * k + 1] * u[1];
        r.target[k] = u[k] + q->drift[2 * i + k];
    }
    for (size_t k = 0; k < 4; k++) left[k] = q->z[4 * i + k] - u[k / 2] * u[k % 2] - q->diffusion[4 * i + k];
    for (size_t k = 0; k < 4; k++) half[k] = f[k / 2 * 2] * left[k % 2] + f[k / 2 * 2 + 1] * left[2 + k % 2];
    for (size_t k = 0; k < 4; k++)
        r.zx[k] = half[k / 2 * 2] * f[k % 2 * 2] + half[k / 2 * 2 + 1] * f[k % 2 * 2 + 1] + q->cov[4 * i + k];
    return r;
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* w (3 x 2) of targets on features, with precisions (I a + shift)^-1 and the penalty; the six equations by Gauss. */
static void weights_of(const sk_pulled *q, double shift, double penalty, double *w)
{
    double s[6][7] = {{0}};
    for (size_t i = 0; i < q->n; i++) {
        const smooth_row r = row_of(q, i);
        const double *ia = q->diffusion + 4 * i, m[4] = {ia[0] + shift, ia[1], ia[2], ia[3] + shift};
        double t[2] = {r.target[0], r.target[1]};
        undo(m, t);
        for (size_t k = 0; k < 6; k++) {
            for (size_t l = 0; l < 6; l++) {
                double unit[2] = {l < 3, l >= 3};
                undo(m, unit);
                s[k][l] += unit[k / 3] * r.psi[k % 3] * r.psi[l % 3];
            }
            s[k][6] += t[k / 3] * r.psi[k % 3];
        }
    }
    for (size_t k = 0; k < 6; k++) s[k][k] += (double)q->n * penalty;
    for (size_t k = 0; k < 6; k++)
        for (size_t l = 0; l < 6; l++)
            for (size_t c = 7; l != k && c-- > k;) s[l][c] -= s[l][k] / s[k][k] * s[k][c];
    for (size_t k = 0; k < 6; k++) w[k % 3 * 2 + k / 3] = s[k][6] / s[k][k];
}

/* z of row i about the drift w. */
static void z_about(const sk_pulled *q, size_t i, const double *w, double *z)
{
    const smooth_row r = row_of(q, i);
    double u[2];
    for (size_t k = 0; k < 2; k++) u[k] = r.target[k] - w[k] * r.psi[0] - w[2 + k] * r.psi[1] - w[4 + k] * r.psi[2];
    for (size_t k = 0; k < 4; k++)
        z[k] = q->z[4 * i + k] - q->u[2 * i + k / 2] * q->u[2 * i + k % 2] + u[k / 2] * u[k % 2];
}

/* The rest of that step of EM, in slow loops from the rows: shift, w, z, weights of the rows, a. */
static void check_step(json_t *root, const sk_rows_of_a *r)
{
    const sk_pulled *q = r->pulled;
    double size[14], weight[14], w[6], a[4] = {0}, time = 0;
    for (size_t i = 0; i < q->n; i++) size[i] = (q->diffusion[4 * i] + q->diffusion[4 * i + 3]) / 2;
    qsort(size, q->n, sizeof *size, by_size);
    const double shift = SK_VARIANCE_SHARE * (size[6] + size[7]) / 2;
    assert_close(shift, json_number_value(json_object_get(root, "precision_shift")), 1e-12, 1);
    weights_of(q, shift, json_number_value(json_object_get(root, "lam")), w);
    compare(root, "w", w);
    const sk_row_sizes sizes = {q->n, q->diffusion, r->typical, SK_SIZE_SHARE, q->good};
    sk_row_weights(&sizes, &(sk_trial){.d = 2}, weight);
    for (size_t i = 0; i < q->n; i++) {
        double z[4];
        z_about(q, i, w, z);
        compare(json_array_get(json_object_get(root, "rows"), i), "z", z);
        for (size_t k = 0; k < 4; k++) a[k] += weight[i] * q->rule->h[i] * z[k];
        time += weight[i] * pow(q->rule->h[i], 2);
    }
    for (size_t k = 0; k < 4; k++) a[k] /= time;
    compare(root, "row_weights", weight);
    compare(root, "a", a);
}

static void test_rows__of_smoothed_states_agree_with_the_oracle(void **state)
{
    (void)state;
    example e;
    example_init(&e);
    sk_transitions *rows = transitions_of(e.data, 1);
    json_t *root = oracle_load("noise_em.json"), *list = json_object_get(root, "rows");
    const sk_candidates none = {0};
    double reach[] = {1e-3, 2e-3};
    sk_measured m;
    sk_rows_of_a r;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    sk_free(m.frame.reach);
    m.frame = (sk_frame){reach, NULL, NULL};
    const sk_noisy now = {.model = e.model, .noise = e.noise, .substeps = {2, false}};
    assert_int_equal(sk_rows_of_a_new(&m, &now, NULL, &r), SOCK_OK);
    assert_int_equal(r.pulled->n, 14);
    assert_int_equal(json_array_size(list), 14);
    for (size_t i = 0; i < r.pulled->n; i++) {
        json_t *at = json_array_get(list, i);
        const smooth_row one = row_of(r.pulled, i);
        compare(at, "x0", one.x0);
        compare(at, "x1", one.x1);
        compare(at, "h", &one.h);
        compare(at, "zx", one.zx);
        compare(at, "psi", one.psi);
        compare(at, "target", one.target);
        compare(at, "Ia", r.pulled->diffusion + 4 * i);
        compare(at, "F", r.pulled->average + 4 * i);
        compare(at, "V", r.pulled->cov + 4 * i);
    }
    compare(root, "R", r.residual);
    check_step(root, &r);
    sk_rows_of_a_clear(&r);
    m.frame = (sk_frame){0};
    sk_measured_clear(&m);
    json_decref(root);
    sk_transitions_free(rows);
    example_clear(&e);
}

/* ---- Newton ---- */

/* From R and a that are off, steps lead to a higher likelihood; at the top they stay. */
static void test_newton__climbs(void **state)
{
    (void)state;
    example e;
    example_init(&e);
    sk_transitions *rows = transitions_of(e.data, 1);
    const sk_candidates none = {0};
    double noise[4] = {0.2, 0, 0, 0.002}, scale[2], kappa[2], error[2], floor[2] = {1e-6, 1e-6}, last = -INFINITY;
    sk_measured m;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    for (int i = 0; i < 3; i++) {
        sk_frozen *z = NULL;
        sk_filter_spec spec = e.spec;
        spec.noise = noise;
        assert_int_equal(sk_frozen_new(ctx, &m.series, &spec, &z), SOCK_OK);
        assert_true(z->sum > last - 0.5); /* the frozen likelihood rises; the filter's all but does */
        last = z->sum;
        const sk_newton out = {noise, scale, kappa, error};
        assert_int_equal(sk_noise_newton(&m, z, floor, &out), SOCK_OK);
        for (size_t k = 0; k < 2; k++) assert_true(kappa[k] >= 1 && kappa[k] <= 8 && scale[k] > 0.2 && scale[k] < 5);
        sk_frozen_free(z);
    }
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    example_clear(&e);
}

/* ---- Models ---- */

static void test_noisemodel__scales_and_shares(void **state)
{
    (void)state;
    const double a[] = {2, 0.5, 0.5, 1}, scale[] = {4, 9}, x[] = {0.3, -0.2};
    double f[2], b[4], psd[] = {1, 2, 2, 1};
    sock_model *one = NULL, *two = NULL;
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "drift", "constant", &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 2, 0, NULL, &map), SOCK_OK);
    assert_int_equal(sk_model_new(ctx, 2, NULL, &one), SOCK_OK);
    assert_int_equal(sk_model_new(ctx, 2, NULL, &two), SOCK_OK);
    assert_int_equal(sk_add_weights(ctx, map, x, one), SOCK_OK);
    assert_int_equal(sk_add_constant(ctx, a, one), SOCK_OK);
    assert_int_equal(sk_add_drift_of(ctx, one, 0.25, two), SOCK_OK);
    assert_int_equal(sk_add_diffusion_of(ctx, one, scale, two), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, two, 1, x, f, b), SOCK_OK);
    assert_close(f[0], 0.075, 1e-14, 1);
    assert_close(b[0], 8, 1e-13, 1);
    assert_close(b[1], 3, 1e-13, 1);
    assert_close(b[3], 9, 1e-13, 1);
    sk_nearest_psd(2, 0, psd); /* eigenvalues 3 and -1 */
    assert_close(psd[0], 1.5, 1e-14, 1);
    assert_close(psd[1], 1.5, 1e-14, 1);
    sk_features_free(map);
    sk_kernel_free(kernel);
    sock_model_free(one);
    sock_model_free(two);
}

/* Maps of one kernel that stand on other points have the same text and shapes, and are not the same. */
static void test_maps_are_compared_by_their_numbers(void **state)
{
    (void)state;
    static const double x[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}};
    sk_features *map[3] = {NULL};
    bool same = false;
    for (size_t i = 0; i < 3; i++) {
        sk_kernel *kernel = NULL;
        assert_int_equal(sk_kernel_parse(ctx, "drift", "nystrom:m=4,of=gauss,eta=1,seed=0", &kernel), SOCK_OK);
        assert_int_equal(sk_features_new(ctx, "drift", kernel, 1, 4, x[i / 2], &map[i]), SOCK_OK);
        sk_kernel_free(kernel);
    }
    assert_int_equal(sk_same_map(ctx, map[0], map[1], &same), SOCK_OK);
    assert_true(same);
    assert_int_equal(sk_same_map(ctx, map[0], map[2], &same), SOCK_OK);
    assert_false(same);
    for (size_t i = 0; i < 3; i++) sk_features_free(map[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps_are_compared_by_their_numbers),
        cmocka_unit_test(test_measured__long_trajectories_are_cut),
        cmocka_unit_test(test_lag__finds_the_variance_of_the_noise),
        cmocka_unit_test(test_start__finds_noise_slope_and_diffusion),
        cmocka_unit_test(test_start__follows_long_steps),
        cmocka_unit_test(test_promise__is_what_a_fit_would_gain),
        cmocka_unit_test(test_hint__tells_noise_from_none),
        cmocka_unit_test(test_hint__a_few_jumps_do_not_speak_for_noise),
        cmocka_unit_test(test_hint__no_noise_where_a_vanishes),
        cmocka_unit_test(test_ascent__ends_at_the_top),
        cmocka_unit_test(test_compare__one_lost_step_does_not_decide),
        cmocka_unit_test(test_rows__of_smoothed_states_agree_with_the_oracle),
        cmocka_unit_test(test_newton__climbs),
        cmocka_unit_test(test_noisemodel__scales_and_shares),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
