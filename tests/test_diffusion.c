/* test_diffusion.c - the diffusion through the public door: oracle values, agreement of forms and solvers, PSD, hard
 * cases. */
#include "base/base.h"
#include "la/la.h"
#include "oracle.h"
#include "sock.h"

typedef struct bench {
    sock_context *ctx;
    sock_options *opts;
    sock_model *cubic; /* f = x - x^3, componentwise, in two dimensions */
} bench;

static void cubic_drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) out[i] = x[i] - x[i] * x[i] * x[i];
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    b->ctx = sock_context_new();
    b->opts = sock_options_new(b->ctx);
    assert_int_equal(sock_options_set(b->ctx, b->opts, "tune", "no"), SOCK_OK);
    assert_int_equal(sock_model_wrap(b->ctx, 2, NULL, cubic_drift, NULL, NULL, &b->cubic), SOCK_OK);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    sock_model_free(b->cubic);
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

/* ---- Oracle ---- */

static void check_oracle(bench *b, const char *file, const char *kernel, const char *lambda, const char *form,
                         size_t rank)
{
    json_t *root = oracle_load(file);
    sock_data *data = read_data(b, json_string_value(json_object_get(root, "input")));
    set(b, "quadrature", "trapezoid");
    set(b, "diffusion", kernel);
    set(b, "diffusion-form", form);
    set(b, "diffusion-lambda", lambda);
    set(b, "tolerance", "1e-12");
    size_t n = sock_data_intervals(data), count;
    assert_int_equal(n, json_integer_value(json_object_get(root, "n")));
    double *z = calloc(n * 4, sizeof *z), *beta = calloc(n * 4, sizeof *beta);
    sock_certificate certificate;
    sock_status status = sock_diffusion_system(b->ctx, data, b->cubic, b->opts, z, beta, &certificate);
    if (status != SOCK_OK) fail_msg("%s", sock_message(b->ctx));
    double *expected = oracle_numbers(root, "z", &count);
    assert_int_equal(count, n * 4);
    assert_all_close(count, z, expected, 1e-12);
    free(expected);
    expected = oracle_numbers(root, "beta", NULL);
    assert_all_close(n * 4, beta, expected, 1e-5);
    free(expected);
    double primal = json_number_value(json_object_get(root, "primal"));
    assert_close(certificate.primal, primal, 1e-9, 0);
    assert_close(certificate.dual, primal, 1e-9, 0);
    assert_true(certificate.gap >= 0 && certificate.gap <= 1e-12 * certificate.primal);
    assert_int_equal(certificate.features, rank);
    if (json_object_get(root, "normQ"))
        assert_close(certificate.norm_q, json_number_value(json_object_get(root, "normQ")), 1e-6, 0);
    sock_model *model = NULL;
    assert_int_equal(sock_fit_diffusion(b->ctx, data, b->cubic, b->opts, &model), SOCK_OK);
    double *x = oracle_numbers(root, "x_test", &count), a[20];
    assert_int_equal(count, 10);
    assert_int_equal(sock_model_diffusion(b->ctx, model, 5, x, a), SOCK_OK);
    expected = oracle_numbers(root, "a_test", NULL);
    assert_all_close(20, a, expected, 1e-6);
    free(expected), free(x), free(z), free(beta);
    sock_model_free(model);
    sock_data_free(data);
    json_decref(root);
}

static void test_diffusion__oracle_linear(void **state)
{
    check_oracle(*state, "diff_linear.json", "linear", "0.001", "explicit", 2);
}
static void test_diffusion__oracle_linear_implicit(void **state)
{
    check_oracle(*state, "diff_linear.json", "linear", "0.001", "implicit", 2);
}
static void test_diffusion__oracle_gauss(void **state)
{
    check_oracle(*state, "diff_gauss.json", "gauss:eta=0.9", "0.001", "auto", 11);
}
static void test_diffusion__oracle_gauss_small_lambda(void **state)
{
    check_oracle(*state, "diff_gauss_smalllam.json", "gauss:eta=0.9", "1e-6", "auto", 11);
}
static void test_diffusion__oracle_gauss_all_landmarks(void **state)
{
    check_oracle(*state, "diff_gauss.json", "gauss:eta=0.9", "0.001", "nystrom", 11);
}

/* ---- Made data ---- */

/* Trajectories of dx = -x dt + (0.3 + 0.2 |x|) dW, each coordinate alone, times scale. */
static sock_data *make_data(bench *b, size_t d, size_t trajectories, size_t points, double scale)
{
    size_t total = trajectories * points, *length = calloc(trajectories, sizeof *length);
    double *t = calloc(total, sizeof *t), *x = calloc(total * d, sizeof *x), h = 0.05;
    for (size_t j = 0; j < trajectories; j++) {
        double *noise = calloc(points * d, sizeof *noise), *xj = x + j * points * d;
        sk_normals((sk_key){17, SK_PURPOSE_TEST}, j, 0, 0, points * d, noise);
        length[j] = points;
        for (size_t i = 0; i < points; i++) {
            t[j * points + i] = h * (double)i;
            for (size_t k = 0; k < d; k++) {
                double last = i ? xj[(i - 1) * d + k] / scale : 0;
                double now = i ? last - h * last + (0.3 + 0.2 * fabs(last)) * sqrt(h) * noise[i * d + k] : noise[k];
                xj[i * d + k] = scale * now;
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

/* a at `count` points drawn far and wide. */
static double *fit_a(bench *b, const sock_data *data, size_t count, double scale, sock_status *ended)
{
    size_t d = sock_data_dim(data);
    sock_model *model = NULL;
    *ended = sock_fit(b->ctx, data, b->opts, &model);
    if (*ended < 0) fail_msg("%s", sock_message(b->ctx));
    double *x = calloc(count * d, sizeof *x), *a = calloc(count * d * d, sizeof *a);
    sk_normals((sk_key){18, SK_PURPOSE_TEST}, 0, 0, 0, count * d, x);
    for (size_t i = 0; i < count * d; i++) x[i] *= scale;
    assert_int_equal(sock_model_diffusion(b->ctx, model, count, x, a), SOCK_OK);
    free(x);
    sock_model_free(model);
    return a;
}

/* Smallest eigenvalue of each a against its largest: positive semi-definite to rounding at any x. */
static void assert_psd(bench *b, size_t d, size_t count, const double *a)
{
    double *work = calloc(d * d, sizeof *work), *values = calloc(d, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) assert_true(a[(i * d + k) * d + l] == a[(i * d + l) * d + k]);
        memcpy(work, a + i * d * d, d * d * sizeof *work);
        assert_int_equal(sk_eigh(b->ctx, d, work, d, values), SOCK_OK);
        assert_true(isfinite(values[0]) && values[0] >= -1e-13 * fabs(values[d - 1]));
    }
    free(work), free(values);
}

static void prop_diffusion__is_psd_everywhere(void **state)
{
    bench *b = *state;
    const char *kernel[] = {"gauss:eta=1", "fourier:p=30,eta=1",          "poly:degree=2",         "linear", "affine",
                            "constant",    "nystrom:m=20,of=gauss,eta=1", "gauss:eta=0.7+constant"};
    sock_data *data = make_data(b, 3, 10, 12, 1);
    for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            set(b, "diffusion", kernel[i]);
            set(b, "diagonal", diagonal ? "yes" : "no");
            sock_status ended;
            double *a = fit_a(b, data, 200, 3, &ended);
            assert_int_equal(ended, SOCK_OK);
            assert_psd(b, 3, 200, a);
            for (size_t j = 0; diagonal && j < 200; j++) assert_true(a[9 * j + 1] == 0 && a[9 * j + 5] == 0);
            free(a);
        }
    sock_data_free(data);
}

/* Every solver, with and without compression, ends at the same a; the error is what its gap allows. */
static void prop_diffusion__solvers_agree(void **state)
{
    bench *b = *state;
    const char *solver[] = {"newton", "lbfgs", "fista", "fista-restart", "projgrad", "projgrad-accelerated"};
    sock_data *data = make_data(b, 2, 10, 12, 1);
    set(b, "diffusion", "fourier:p=15,eta=1");
    set(b, "diffusion-lambda", "1e-3");
    set(b, "tolerance", "1e-12");
    sock_status ended;
    double *expected = fit_a(b, data, 50, 1, &ended);
    assert_int_equal(ended, SOCK_OK);
    set(b, "tolerance", "1e-9");
    for (size_t i = 0; i < sizeof solver / sizeof solver[0]; i++)
        for (int compression = 0; compression < 2; compression++) {
            set(b, "solver", solver[i]);
            set(b, "compression", compression ? "yes" : "no");
            double *a = fit_a(b, data, 50, 1, &ended);
            if (ended != SOCK_OK) print_message("%s: %s\n", solver[i], sock_message(b->ctx));
            assert_int_equal(ended, SOCK_OK);
            assert_all_close(200, a, expected, 10 * sqrt(1e-9));
            free(a);
        }
    free(expected);
    sock_data_free(data);
}

/* For d = 1 diagonal and full are the same. */
static void prop_diffusion__diagonal_in_one_dimension_is_full(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 1, 10, 12, 1);
    set(b, "diffusion", "gauss:eta=1");
    set(b, "tolerance", "1e-10");
    sock_status ended;
    double *full = fit_a(b, data, 50, 1, &ended);
    set(b, "diagonal", "yes");
    double *diagonal = fit_a(b, data, 50, 1, &ended);
    assert_all_close(50, diagonal, full, 1e-12);
    free(full), free(diagonal);
    sock_data_free(data);
}

/* The convex problem of a diagonal a, from a itself at the data: h_i a_kk(y_i) against z_kk for each k, left rule. */
static double diagonal_misfit(bench *b, const sock_data *data, const sock_model *model, const double *z, double *beta)
{
    size_t row = 0, n = sock_data_intervals(data);
    double sum = 0;
    memset(beta, 0, n * 4 * sizeof *beta);
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t points = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < points; i++, row++) {
            double a[4];
            assert_int_equal(sock_model_diffusion(b->ctx, model, 1, x + 2 * i, a), SOCK_OK);
            assert_true(a[1] == 0 && a[2] == 0);
            for (size_t k = 0; k < 4; k += 3) {
                double r = (t[i + 1] - t[i]) * a[k] - z[4 * row + k];
                sum += r * r / (double)n;
                beta[4 * row + k] = 2 * r / (double)n;
            }
        }
    }
    return sum;
}

/* A diagonal fit is d problems with the targets z_kk: objective, dual point and certificate belong to their sum. */
static void prop_diffusion__diagonal_is_one_problem_a_component(void **state)
{
    bench *b = *state;
    const char *tolerance[] = {"1e-2", "1e-12"}, *solver[] = {"fista", "newton"};
    sock_data *data = make_data(b, 2, 10, 12, 1);
    size_t n = sock_data_intervals(data);
    double *z = calloc(n * 4, sizeof *z), *beta = calloc(n * 4, sizeof *z), *own = calloc(n * 4, sizeof *z);
    set(b, "diffusion", "gauss:eta=0.7");
    set(b, "diffusion-lambda", "1e-6");
    set(b, "diagonal", "yes");
    set(b, "quadrature", "left");
    for (int i = 0; i < 2; i++) {
        sock_certificate c;
        sock_model *model = NULL;
        set(b, "tolerance", tolerance[i]);
        set(b, "solver", solver[i]);
        assert_int_equal(sock_diffusion_system(b->ctx, data, b->cubic, b->opts, z, beta, &c), SOCK_OK);
        assert_int_equal(sock_fit_diffusion(b->ctx, data, b->cubic, b->opts, &model), SOCK_OK);
        double fit = diagonal_misfit(b, data, model, z, own);
        assert_close(c.primal, fit + 1e-6 * c.norm_q * c.norm_q, 1e-10, 0);
        assert_close(c.gap, c.primal - c.dual, 1e-11, c.primal);
        if (i == 0) assert_true(c.gap > 1e-5 * c.primal); /* else the line above says nothing */
        if (i == 1) assert_all_close(n * 4, beta, own, 1e-4);
        sock_model_free(model);
    }
    free(z), free(beta), free(own);
    sock_data_free(data);
}

/* The first component stops early, the second (at rest at a zero of the drift, z = 0) is done at once: the whole is
 * not converged. */
static void test_diffusion__one_component_that_stops_early_is_told(void **state)
{
    bench *b = *state;
    size_t points = 40;
    double t[40], x[80] = {0}, noise[40];
    sk_normals((sk_key){23, SK_PURPOSE_TEST}, 0, 0, 0, points, noise);
    for (size_t i = 0; i < points; i++) {
        t[i] = 0.1 * (double)i;
        x[2 * i] = noise[i];
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(b->ctx, 2, 1, &points, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    set(b, "diffusion", "gauss:eta=0.3");
    set(b, "diffusion-lambda", "1e-9");
    set(b, "diagonal", "yes");
    set(b, "solver", "fista");
    set(b, "max-iterations", "1");
    sock_certificate c;
    assert_int_equal(sock_diffusion_system(b->ctx, data, b->cubic, b->opts, NULL, NULL, &c), SOCK_NOT_CONVERGED);
    assert_non_null(strstr(sock_message(b->ctx), "gap"));
    assert_false(c.converged);
    assert_true(c.gap > 0);
    sock_data_free(data);
}

/* Left open, lambda is in units of (mean k)^2, so a factor on the kernel changes nothing. */
static void prop_diffusion__automatic_lambda_follows_the_kernel(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 8, 10, 1);
    sock_status ended;
    set(b, "tolerance", "1e-12");
    set(b, "diffusion", "gauss:eta=1");
    double *expected = fit_a(b, data, 30, 1, &ended);
    set(b, "diffusion", "gauss:eta=1,scale=9");
    double *a = fit_a(b, data, 30, 1, &ended);
    assert_int_equal(ended, SOCK_OK);
    assert_all_close(120, a, expected, 1e-5);
    free(a), free(expected);
    sock_data_free(data);
}

/* x -> c x with lambda in natural units, eta from the data: a -> c^2 a. */
static void prop_diffusion__follows_the_scale_of_the_data(void **state)
{
    bench *b = *state;
    double scale[] = {1e-6, 1e6};
    set(b, "tolerance", "1e-10");
    sock_data *data = make_data(b, 2, 8, 10, 1);
    sock_status ended;
    double *expected = fit_a(b, data, 30, 1, &ended);
    assert_int_equal(ended, SOCK_OK);
    sock_data_free(data);
    for (int i = 0; i < 2; i++) {
        data = make_data(b, 2, 8, 10, scale[i]);
        double *a = fit_a(b, data, 30, scale[i], &ended);
        assert_int_equal(ended, SOCK_OK);
        for (size_t j = 0; j < 120; j++) a[j] /= scale[i] * scale[i];
        assert_all_close(120, a, expected, 1e-4);
        free(a);
        sock_data_free(data);
    }
    free(expected);
}

/* Equal steps h: the best constant a is the mean of z / h as the penalty vanishes. */
static void test_diffusion__constant_kernel_has_a_closed_form(void **state)
{
    bench *b = *state;
    sock_data *data = read_data(b, "diff_gauss.csv");
    size_t n = sock_data_intervals(data);
    double *z = calloc(n * 4, sizeof *z), expected[4] = {0}, a[4], x[2] = {5, -3}, h = 1.0 / 3;
    set(b, "diffusion", "constant");
    set(b, "diffusion-lambda", "1e-8");
    set(b, "tolerance", "1e-9");
    assert_int_equal(sock_diffusion_system(b->ctx, data, b->cubic, b->opts, z, NULL, NULL), SOCK_OK);
    sock_model *model = NULL;
    assert_int_equal(sock_fit_diffusion(b->ctx, data, b->cubic, b->opts, &model), SOCK_OK);
    assert_int_equal(sock_model_diffusion(b->ctx, model, 1, x, a), SOCK_OK);
    for (size_t i = 0; i < n * 4; i++) expected[i % 4] += z[i] / ((double)n * h);
    assert_all_close(4, a, expected, 1e-5);
    free(z);
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Hard cases: a certificate or a clear status each time, no NaN ---- */

static void check_hard(bench *b, const sock_data *data, double scale)
{
    size_t d = sock_data_dim(data);
    sock_status ended;
    double *a = fit_a(b, data, 20, scale, &ended);
    assert_true(ended == SOCK_OK || (ended == SOCK_NOT_CONVERGED && strstr(sock_message(b->ctx), "gap")));
    assert_psd(b, d, 20, a);
    free(a);
}

static void test_diffusion__hard_lambdas(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 6, 8, 1);
    const char *kernel[] = {"gauss:eta=1", "linear", "fourier:p=100,eta=1"};
    for (int k = 0; k < 3; k++)
        for (int e = -12; e <= 6; e += 3) {
            char lambda[16];
            snprintf(lambda, sizeof lambda, "1e%d", e);
            set(b, "diffusion", kernel[k]);
            set(b, "diffusion-lambda", lambda);
            check_hard(b, data, 1);
        }
    sock_data_free(data);
}

static void test_diffusion__hard_data(void **state)
{
    bench *b = *state;
    /* one interval */
    size_t two = 2;
    double t[] = {0, 0.5}, x[] = {1, 2, 1.5, 2.5};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(b->ctx, 2, 1, &two, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    check_hard(b, data, 1);
    sock_data_free(data);
    /* constant data: no residual, a = 0 */
    size_t four = 4;
    double t4[] = {0, 1, 2, 3}, still[] = {1, 1, 1, 1};
    assert_int_equal(sock_data_from_arrays(b->ctx, 1, 1, &four, t4, still, NULL, NULL, NULL, &data), SOCK_OK);
    sock_status ended;
    double *a = fit_a(b, data, 5, 1, &ended);
    assert_int_equal(ended, SOCK_OK);
    for (int i = 0; i < 5; i++) assert_true(a[i] == 0);
    free(a);
    sock_data_free(data);
    /* twenty dimensions, few intervals */
    data = make_data(b, 20, 4, 6, 1);
    set(b, "diffusion-rank", "8");
    check_hard(b, data, 1);
    set(b, "diffusion", "affine");
    check_hard(b, data, 1);
    set(b, "diagonal", "yes");
    check_hard(b, data, 1);
    sock_data_free(data);
}

/* Noise along one direction only: a has rank one, and the fit keeps it nearly so. */
static void test_diffusion__rank_one_truth(void **state)
{
    bench *b = *state;
    size_t length[30];
    double t[330], x[660], noise[330];
    sk_normals((sk_key){19, SK_PURPOSE_TEST}, 0, 0, 0, 330, noise);
    for (size_t j = 0; j < 30; j++) {
        length[j] = 11;
        for (size_t i = 0; i < 11; i++) {
            size_t at = 11 * j + i;
            t[at] = 0.1 * (double)i;
            double step = i ? 0.5 * sqrt(0.1) * noise[at] : 0;
            x[2 * at] = i ? x[2 * at - 2] + step : (double)j / 10;
            x[2 * at + 1] = i ? x[2 * at - 1] - 2 * step : 0;
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(b->ctx, 2, 30, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    set(b, "drift", "constant");
    set(b, "drift-lambda", "1e6"); /* f = 0 */
    set(b, "diffusion", "constant");
    set(b, "diffusion-lambda", "1e-9");
    sock_status ended;
    double *a = fit_a(b, data, 1, 1, &ended);
    assert_close(a[1], -2 * a[0], 1e-6, 0);
    assert_close(a[3], 4 * a[0], 1e-6, 0);
    assert_close(a[0], 0.25, 0.15, 0);
    free(a);
    sock_data_free(data);
}

/* ---- Failures ---- */

static void test_diffusion__refuses_what_cannot_be(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 3, 6, 1);
    const char *kernel[] = {"curlfree", "gauss:B=[1 0;0 1]", "nonsense"};
    for (int i = 0; i < 3; i++) {
        sock_model *model = NULL;
        set(b, "diffusion", kernel[i]);
        assert_int_equal(sock_fit(b->ctx, data, b->opts, &model), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(b->ctx), "diffusion"));
        assert_null(model);
    }
    set(b, "diffusion", "none");
    sock_model *model = NULL;
    double x[2] = {0}, a[4];
    assert_int_equal(sock_fit(b->ctx, data, b->opts, &model), SOCK_OK);
    assert_false(sock_model_has_diffusion(model));
    assert_int_equal(sock_model_diffusion(b->ctx, model, 1, x, a), SOCK_EUSAGE);
    sock_model_free(model);
    sock_data_free(data);
}

static void test_diffusion__every_allocation_may_fail(void **state)
{
    bench *b = *state;
    sock_data *data = make_data(b, 2, 2, 5, 1);
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        set(b, "diagonal", diagonal ? "yes" : "no");
        for (long k = 1;; k++) {
            sock_model *model = NULL;
            sk_fail_allocation(b->ctx, k);
            sock_status status = sock_fit(b->ctx, data, b->opts, &model);
            sk_fail_allocation(b->ctx, 0);
            sock_model_free(model);
            if (status == SOCK_OK) break;
            assert_int_equal(status, SOCK_ENOMEM);
            assert_true(k < 5000);
        }
    }
    sock_data_free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_diffusion__oracle_linear),
        TEST(test_diffusion__oracle_linear_implicit),
        TEST(test_diffusion__oracle_gauss),
        TEST(test_diffusion__oracle_gauss_small_lambda),
        TEST(test_diffusion__oracle_gauss_all_landmarks),
        TEST(prop_diffusion__is_psd_everywhere),
        TEST(prop_diffusion__solvers_agree),
        TEST(prop_diffusion__diagonal_in_one_dimension_is_full),
        TEST(prop_diffusion__diagonal_is_one_problem_a_component),
        TEST(test_diffusion__one_component_that_stops_early_is_told),
        TEST(prop_diffusion__automatic_lambda_follows_the_kernel),
        TEST(prop_diffusion__follows_the_scale_of_the_data),
        TEST(test_diffusion__constant_kernel_has_a_closed_form),
        TEST(test_diffusion__hard_lambdas),
        TEST(test_diffusion__hard_data),
        TEST(test_diffusion__rank_one_truth),
        TEST(test_diffusion__refuses_what_cannot_be),
        TEST(test_diffusion__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
