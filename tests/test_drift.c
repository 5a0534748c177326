/* test_drift.c - the drift through the public door: oracle values, agreement of forms, invariances. */
#include "base/base.h"
#include "oracle.h"
#include "sock.h"

typedef struct bench {
    sock_context *ctx;
    sock_options *opts;
} bench;

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    b->ctx = sock_context_new();
    b->opts = sock_options_new(b->ctx);
    assert_int_equal(sock_options_set(b->ctx, b->opts, "tune", "no"), SOCK_OK);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    sock_options_free(b->opts);
    sock_context_free(b->ctx);
    free(b);
    return 0;
}

static void set(bench *b, const char *key, const char *value)
{
    if (sock_options_set(b->ctx, b->opts, key, value) < 0) fail_msg("%s", sock_message(b->ctx));
}

static sock_data *read_data(bench *b, const char *name)
{
    char path[512];
    sock_data *data = NULL;
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    if (sock_data_read(b->ctx, path, b->opts, &data) < 0) fail_msg("%s", sock_message(b->ctx));
    return data;
}

/* f of a fit at the points, as an array of its own. */
static double *fit_f(bench *b, const sock_data *data, size_t count, const double *x)
{
    sock_model *model = NULL;
    if (sock_fit(b->ctx, data, b->opts, &model) < 0) fail_msg("%s", sock_message(b->ctx));
    double *f = calloc(count * sock_data_dim(data), sizeof *f);
    if (sock_model_drift(b->ctx, model, count, x, f) < 0) fail_msg("%s", sock_message(b->ctx));
    sock_model_free(model);
    return f;
}

/* Trajectories of dx = sin(x) dt + 0.3 dW in d coordinates, irregular steps. */
static sock_data *make_data(bench *b, size_t d, size_t trajectories, size_t points, const size_t *order, double shift)
{
    size_t total = trajectories * points, *length = calloc(trajectories, sizeof *length);
    double *t = calloc(total, sizeof *t), *x = calloc(total * d, sizeof *x);
    for (size_t j = 0; j < trajectories; j++) {
        size_t source = order ? order[j] : j;
        double *noise = calloc(points * (d + 1), sizeof *noise), *tj = t + j * points, *xj = x + j * points * d;
        sk_normals((sk_key){7, SK_PURPOSE_TEST}, source, 0, 0, points * (d + 1), noise);
        length[j] = points;
        for (size_t i = 0; i < points; i++) {
            double h = 0.05 + 0.02 * fabs(noise[i * (d + 1)]);
            tj[i] = i ? tj[i - 1] + h : shift;
            for (size_t k = 0; k < d; k++) {
                double e = noise[i * (d + 1) + 1 + k];
                xj[i * d + k] = i ? xj[(i - 1) * d + k] + sin(xj[(i - 1) * d + k]) * h + 0.3 * sqrt(h) * e : 2 * e;
            }
        }
        free(noise);
    }
    sock_data *data = NULL;
    if (sock_data_from_arrays(b->ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(b->ctx));
    free(length), free(t), free(x);
    return data;
}

static void probe_points(size_t count, double *x) { sk_normals((sk_key){8, SK_PURPOSE_TEST}, 0, 0, 0, count, x); }

/* ---- Oracle ---- */

static void oracle_gauss(bench *b, const char *quadrature, const char *branch)
{
    json_t *root = oracle_load("drift_gauss.json");
    set(b, "drift", "gauss:eta=0.8");
    set(b, "drift-lambda", "0.001");
    set(b, "quadrature", quadrature);
    sock_data *data = read_data(b, "drift_gauss.csv");
    size_t n = sock_data_intervals(data), count;
    assert_int_equal(n, 14);
    char path[64];
    double L[14 * 14], dy[28], alpha[28];
    assert_int_equal(sock_drift_system(b->ctx, data, b->opts, L, dy, alpha), SOCK_OK);
    snprintf(path, sizeof path, "%s.L", branch);
    double *expected = oracle_numbers(root, path, &count);
    assert_int_equal(count, 14 * 14);
    assert_all_close(count, L, expected, 1e-12);
    free(expected);
    snprintf(path, sizeof path, "%s.alpha", branch);
    expected = oracle_numbers(root, path, &count);
    assert_all_close(count, alpha, expected, 1e-10);
    free(expected);
    double *x = oracle_numbers(root, "x_test", &count);
    snprintf(path, sizeof path, "%s.f_test", branch);
    expected = oracle_numbers(root, path, NULL);
    const char *paths[] = {"exact", "pivoted", "auto"};
    for (int i = 0; i < 3; i++) {
        set(b, "drift-path", paths[i]);
        double *f = fit_f(b, data, count / 2, x);
        assert_all_close(count, f, expected, 1e-10);
        free(f);
    }
    free(x), free(expected);
    sock_data_free(data);
    json_decref(root);
}

static void test_drift__oracle_gauss_trapezoid(void **state) { oracle_gauss(*state, "trapezoid", "trap"); }
static void test_drift__oracle_gauss_left(void **state) { oracle_gauss(*state, "left", "left"); }

/* Three realisations of each start: gauss, poly and linear, implicit and explicit. */
static void test_drift__oracle_groups(void **state)
{
    bench *b = *state;
    json_t *root = oracle_load("drift_groups.json");
    set(b, "drift-lambda", "0.001");
    set(b, "quadrature", "trapezoid");
    sock_data *data = read_data(b, "drift_groups.csv");
    assert_int_equal(sock_data_intervals(data), 6);
    assert_int_equal(sock_data_groups(data), 2);
    size_t count;
    double *x = oracle_numbers(root, "x_test", &count);
    double *dy_expected = oracle_numbers(root, "dy_mean", NULL);
    const char *spec[] = {"gauss:eta=0.7", "poly:degree=2", "linear"}, *name[] = {"gauss", "poly", "linear"};
    for (int i = 0; i < 3; i++) {
        char path[64];
        double dy[12], alpha[12];
        set(b, "drift", spec[i]);
        set(b, "drift-form", "implicit");
        assert_int_equal(sock_drift_system(b->ctx, data, b->opts, NULL, dy, alpha), SOCK_OK);
        assert_all_close(12, dy, dy_expected, 1e-13);
        snprintf(path, sizeof path, "kernels.%s.alpha", name[i]);
        double *expected = oracle_numbers(root, path, NULL);
        assert_all_close(12, alpha, expected, 1e-10);
        free(expected);
        snprintf(path, sizeof path, "kernels.%s.f_test", name[i]);
        expected = oracle_numbers(root, path, NULL);
        for (int form = 0; form < (i == 0 ? 1 : 2); form++) {
            set(b, "drift-form", form == 0 ? "implicit" : "explicit");
            double *f = fit_f(b, data, count / 2, x);
            assert_all_close(count, f, expected, 1e-10);
            free(f);
        }
        free(expected);
    }
    free(x), free(dy_expected);
    sock_data_free(data);
    json_decref(root);
}

/* ---- Agreement of forms ---- */

static void prop_drift__implicit_is_explicit(void **state)
{
    bench *b = *state;
    const char *kernel[] = {"linear",        "affine",        "constant",
                            "poly:degree=2", "poly:degree=3", "linear+poly:degree=2,scale=0.5"};
    sock_data *data = make_data(b, 2, 12, 15, NULL, 0);
    double x[40];
    probe_points(40, x);
    set(b, "drift-lambda", "1e-4");
    for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++) {
        set(b, "drift", kernel[i]);
        set(b, "drift-form", "explicit");
        double *explicit_f = fit_f(b, data, 20, x);
        const char *paths[] = {"exact", "pivoted"};
        set(b, "drift-form", "implicit");
        for (int p = 0; p < 2; p++) {
            set(b, "drift-path", paths[p]);
            double *f = fit_f(b, data, 20, x);
            assert_all_close(40, f, explicit_f, 1e-10);
            free(f);
        }
        set(b, "drift-path", "auto");
        free(explicit_f);
    }
    sock_data_free(data);
}

/* The low-rank path is the exact one to rounding; both on more points than a block holds. */
static void prop_drift__pivoted_is_exact(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 1, 40, 20, NULL, 0);
    double x[100];
    probe_points(100, x);
    set(b, "drift", "gauss:eta=0.9");
    const char *lambda[] = {"1e-2", "1e-5", "1e-8"};
    for (int i = 0; i < 3; i++) {
        set(b, "drift-lambda", lambda[i]);
        set(b, "drift-path", "exact");
        double *exact = fit_f(b, data, 100, x);
        set(b, "drift-path", "pivoted");
        double *pivoted = fit_f(b, data, 100, x);
        assert_all_close(100, pivoted, exact, 1e-8);
        free(exact), free(pivoted);
    }
    sock_data_free(data);
}

static void test_drift__auto_takes_the_pivoted_path_when_the_rank_is_small(void **state)
{
    bench *b = *state;
    sock_data *small = make_data(b, 1, 40, 20, NULL, 0), *large = make_data(b, 8, 40, 20, NULL, 0);
    const sock_data *data[] = {small, large};
    const char *expected[] = {"\"drift_path\":\"pivoted\"", "\"drift_path\":\"exact\""};
    for (int i = 0; i < 2; i++) {
        sock_model *model = NULL;
        char *info = NULL;
        assert_int_equal(sock_fit(b->ctx, data[i], b->opts, &model), SOCK_OK);
        assert_int_equal(sock_model_info(b->ctx, model, &info), SOCK_OK);
        if (!strstr(info, expected[i])) fail_msg("%s is not in %s", expected[i], info);
        sock_string_free(info);
        sock_model_free(model);
    }
    sock_data_free(small), sock_data_free(large);
}

/* All points as landmarks: Nystrom is the full method. Fewer: close to it. */
static void prop_drift__nystrom_with_all_landmarks_is_exact(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 10, 12, NULL, 0);
    double x[40];
    probe_points(40, x);
    set(b, "drift", "gauss:eta=1");
    set(b, "drift-lambda", "1e-3");
    set(b, "drift-path", "exact");
    double *exact = fit_f(b, data, 20, x);
    set(b, "drift-path", "auto");
    set(b, "drift-form", "nystrom");
    set(b, "landmarks", "1000");
    double *all = fit_f(b, data, 20, x);
    assert_all_close(40, all, exact, 1e-7);
    set(b, "drift-form", "auto");
    set(b, "landmarks", "auto");
    set(b, "drift", "nystrom:m=1000,of=gauss,eta=1");
    double *spelled = fit_f(b, data, 20, x);
    assert_all_close(40, spelled, exact, 1e-7);
    free(exact), free(all), free(spelled);
    sock_data_free(data);
}

static void scalar_as_callback(void *user, size_t d, const double *x, const double *y, double *out)
{
    double r2 = 0, eta = *(const double *)user;
    for (size_t k = 0; k < d; k++) r2 += (x[k] - y[k]) * (x[k] - y[k]);
    for (size_t i = 0; i < d * d; i++) out[i] = i % (d + 1) == 0 ? exp(-r2 / (2 * eta * eta)) : 0;
}

/* B = I, two halves of I, and a callback: all are the separable kernel. */
static void prop_drift__matrix_valued_with_identity_is_separable(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 5, 12, NULL, 0);
    double x[40], eta = 0.9;
    probe_points(40, x);
    set(b, "drift-lambda", "1e-3");
    set(b, "drift", "gauss:eta=0.9");
    set(b, "drift-path", "exact");
    double *expected = fit_f(b, data, 20, x);
    set(b, "drift-path", "auto");
    const char *kernel[] = {"gauss:eta=0.9,B=[1 0;0 1]", "gauss:eta=0.9,B=[1 0;0 0]+gauss:eta=0.9,B=[0 0;0 1]"};
    for (int i = 0; i < 2; i++) {
        set(b, "drift", kernel[i]);
        double *f = fit_f(b, data, 20, x);
        assert_all_close(40, f, expected, 1e-10);
        free(f);
    }
    assert_int_equal(sock_options_set_drift_kernel(b->ctx, b->opts, scalar_as_callback, &eta), SOCK_OK);
    double *f = fit_f(b, data, 20, x);
    assert_all_close(40, f, expected, 1e-10);
    free(f), free(expected);
    sock_data_free(data);
}

/* A coupled B lets one coordinate teach the other: with B = [1 1;1 1] both components of f are equal. */
static void prop_drift__rank_one_coupling(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 5, 12, NULL, 0);
    double x[40];
    probe_points(40, x);
    set(b, "drift", "gauss:eta=0.9,B=[1 1;1 1]");
    double *f = fit_f(b, data, 20, x), largest = 0;
    for (size_t i = 0; i < 20; i++) {
        assert_close(f[2 * i], f[2 * i + 1], 1e-9, 1e-3);
        largest = fmax(largest, fabs(f[2 * i]));
    }
    assert_true(largest > 0.01);
    free(f);
    sock_data_free(data);
}

/* ---- Invariances ---- */

static void prop_drift__order_time_shift_and_threads_do_not_matter(void **state)
{
    bench *b = *state;
    size_t order[10];
    sk_shuffle((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 10, order);
    sock_data *data = make_data(b, 2, 10, 12, NULL, 0), *shuffled = make_data(b, 2, 10, 12, order, 0);
    sock_data *later = make_data(b, 2, 10, 12, NULL, 64);
    double x[40];
    probe_points(40, x);
    set(b, "drift-lambda", "1e-3");
    const char *kernel[] = {"gauss:eta=0.8", "poly:degree=3", "fourier:p=60,eta=1", "curlfree:eta=1"};
    for (int i = 0; i < 4; i++) {
        set(b, "drift", kernel[i]);
        sock_set_threads(b->ctx, 2);
        double *f = fit_f(b, data, 20, x), *g = fit_f(b, shuffled, 20, x), *h = fit_f(b, later, 20, x);
        sock_set_threads(b->ctx, 1);
        double *one = fit_f(b, data, 20, x);
        assert_all_close(40, g, f, 1e-9);
        assert_all_close(40, h, f, 1e-9);
        assert_all_close(40, one, f, 1e-10);
        free(f), free(g), free(h), free(one);
    }
    sock_data_free(data), sock_data_free(shuffled), sock_data_free(later);
}

/* Noise-free data of a linear system: the left rule finds (e^{Ah} - I)/h exactly as the penalty vanishes. */
static void test_drift__recovers_a_linear_map(void **state)
{
    bench *b = *state;
    size_t length[6];
    double t[60], x[120];
    for (size_t j = 0; j < 6; j++) {
        length[j] = 10;
        double u = cos((double)j), v = sin(2 * (double)j + 0.3);
        for (size_t i = 0; i < 10; i++) {
            t[j * 10 + i] = 0.1 * (double)i;
            x[(j * 10 + i) * 2] = u;
            x[(j * 10 + i) * 2 + 1] = v;
            double step_u = u + 0.1 * (-0.5 * u + 2 * v), step_v = v + 0.1 * (-2 * u - 0.5 * v);
            u = step_u;
            v = step_v;
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(b->ctx, 2, 6, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    set(b, "drift", "linear");
    set(b, "drift-lambda", "1e-14");
    double at[] = {1, 0, 0, 1};
    double *f = fit_f(b, data, 2, at), expected[] = {-0.5, -2, 2, -0.5};
    assert_all_close(4, f, expected, 1e-8);
    free(f);
    sock_data_free(data);
}

/* ---- Failures ---- */

static void expect_failure(bench *b, const sock_data *data, sock_status wanted, const char *words)
{
    sock_model *model = (sock_model *)b; /* must stay untouched */
    sock_status status = sock_fit(b->ctx, data, b->opts, &model);
    if (status != wanted || !strstr(sock_message(b->ctx), words))
        fail_msg("%s: '%s' instead of '%s'", sock_status_name(status), sock_message(b->ctx), words);
    assert_ptr_equal(model, b);
}

static void test_drift__refuses_what_cannot_be(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 5, 12, NULL, 0);
    set(b, "drift", "gauss");
    set(b, "drift-form", "explicit");
    expect_failure(b, data, SOCK_EUSAGE, "gauss has no finite features");
    set(b, "drift", "fourier:p=10");
    set(b, "drift-form", "implicit");
    expect_failure(b, data, SOCK_EUSAGE, "explicit form only");
    set(b, "drift", "curlfree");
    set(b, "drift-form", "nystrom");
    expect_failure(b, data, SOCK_EUSAGE, "implicit form only");
    set(b, "drift", "gaus");
    set(b, "drift-form", "auto");
    expect_failure(b, data, SOCK_EUSAGE, "unknown kernel");
    set(b, "drift", "gauss");
    set(b, "drift-path", "exact");
    sock_set_memory_limit(b->ctx, 1000);
    expect_failure(b, data, SOCK_ENOMEM, "nystrom");
    sock_set_memory_limit(b->ctx, 0);
    sock_cancel(b->ctx);
    expect_failure(b, data, SOCK_ECANCELLED, "interrupted");
    sock_cancel_reset(b->ctx);
    sock_data_free(data);
}

/* Every allocation fails once: a clear status each time, and success in the end. Those of the diffusion:
 * test_diffusionsystem.c, test_faults.c. */
static void test_drift__every_allocation_may_fail(void **state)
{
    bench *b = *state;
    set(b, "diffusion", "none");
    sock_data *data = make_data(b, 2, 3, 6, NULL, 0);
    const char *kernel[] = {"gauss", "poly:degree=2", "fourier:p=20", "nystrom:m=5,of=gauss", "curlfree"};
    for (int i = 0; i < 5; i++) {
        set(b, "drift", kernel[i]);
        for (long k = 1;; k++) {
            sock_model *model = NULL;
            sk_fail_allocation(b->ctx, k);
            sock_status status = sock_fit(b->ctx, data, b->opts, &model);
            sk_fail_allocation(b->ctx, 0);
            sock_model_free(model);
            if (status == SOCK_OK) break;
            assert_int_equal(status, SOCK_ENOMEM);
            assert_null(model);
            assert_true(k < 1000);
        }
    }
    sock_data_free(data);
}

/* Left open, lambda is 1e-3 mean(h^2) mean k(x, x), of matrix-valued kernels with tr K / d: known for these kernels. */
static void test_drift__automatic_lambda(void **state)
{
    static const struct {
        const char *kernel;
        double mean; /* of k(x, x); 0: that of |x|^2 at the left ends */
        size_t d;
    } row[] = {{"gauss", 1, 2},
               {"gauss:scale=3+constant:scale=0.5", 3.5, 2},
               {"fourier:p=20,scale=2", 2, 2},
               {"nystrom:m=9,of=gauss,eta=1+constant", 2, 2},
               {"nystrom:m=9,of=linear", 0, 2},
               {"gauss:eta=1,B=[2 1;1 4]", 3, 2},
               {"curlfree:eta=0.5", 4, 2},
               {"curlfree:eta=0.5", 4, 1},
               {"divfree:eta=2,scale=6", 3, 3}};
    bench *b = *state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        sock_data *data = make_data(b, row[i].d, 3, 8, NULL, 0);
        double squares = 0, mean = row[i].mean, lengths = 0;
        for (size_t j = 0; j < 3; j++) {
            const double *t, *x;
            sock_data_trajectory(data, j, &t, &x);
            for (size_t k = 0; k < 7; k++) squares += (t[k + 1] - t[k]) * (t[k + 1] - t[k]) / 21;
            for (size_t k = 0; k < 7 * row[i].d; k++) lengths += x[k] * x[k] / 21;
        }
        if (!(mean > 0)) mean = lengths;
        sock_model *model = NULL;
        char *text = NULL;
        set(b, "drift", row[i].kernel);
        if (sock_fit(b->ctx, data, b->opts, &model) < 0) fail_msg("%s", sock_message(b->ctx));
        assert_int_equal(sock_model_info(b->ctx, model, &text), SOCK_OK);
        json_t *info = json_loads(text, 0, NULL);
        assert_close(json_number_value(json_object_get(info, "drift_lambda")), 1e-3 * squares * mean, 1e-12, 0);
        json_decref(info);
        sock_string_free(text);
        sock_model_free(model);
        sock_data_free(data);
    }
}

/* On a line a matrix-valued kernel is a scalar one: B is a factor. */
static void prop_drift__matrices_of_order_one_are_numbers(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 1, 6, 9, NULL, 0);
    double x[30];
    probe_points(30, x);
    set(b, "drift-lambda", "1e-3");
    set(b, "drift", "gauss:eta=0.7,B=[2]");
    double *with_matrix = fit_f(b, data, 30, x);
    set(b, "drift", "gauss:eta=0.7,scale=2");
    set(b, "drift-path", "exact");
    double *with_scale = fit_f(b, data, 30, x);
    assert_all_close(30, with_matrix, with_scale, 1e-12);
    free(with_matrix), free(with_scale);
    sock_data_free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_drift__oracle_gauss_trapezoid),
        TEST(test_drift__oracle_gauss_left),
        TEST(test_drift__oracle_groups),
        TEST(test_drift__automatic_lambda),
        TEST(prop_drift__matrices_of_order_one_are_numbers),
        TEST(prop_drift__implicit_is_explicit),
        TEST(prop_drift__pivoted_is_exact),
        TEST(test_drift__auto_takes_the_pivoted_path_when_the_rank_is_small),
        TEST(prop_drift__nystrom_with_all_landmarks_is_exact),
        TEST(prop_drift__matrix_valued_with_identity_is_separable),
        TEST(prop_drift__rank_one_coupling),
        TEST(prop_drift__order_time_shift_and_threads_do_not_matter),
        TEST(test_drift__recovers_a_linear_map),
        TEST(test_drift__refuses_what_cannot_be),
        TEST(test_drift__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
