/* test_fitted.c - rows of the check and the directions that were fitted, by their definitions; paths that leave the
 * range; how long a step is. */
#define _DEFAULT_SOURCE
#include "check/check.h"
#include "la/la.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"

enum { D = 2, POINTS = 60, N = POINTS - 2 };

static const sk_key key = {29, SK_PURPOSE_TEST};

/* ---- A model and its rows ---- */

static sk_features *features(const char *text)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "drift", text, &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, D, 0, NULL, &map), SOCK_OK);
    sk_kernel_free(kernel);
    return map;
}

/* Two trajectories of 30 points with gaps of several lengths. */
static sock_data *some_data(void)
{
    const size_t length[] = {POINTS / 2, POINTS / 2};
    double t[POINTS], x[POINTS * D];
    sock_data *data = NULL;
    sk_normals(key, 1, 0, 0, POINTS * D, x);
    for (size_t i = 0; i < POINTS; i++) t[i] = i % 30 ? t[i - 1] + 0.05 * (double)(1 + i % 4) : 3;
    assert_int_equal(sock_data_from_arrays(ctx, D, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

/* Drift of degree 2 with one feature learned away in the second state; a of three columns of affine features. */
static sock_model *some_model(const char *drift, size_t rank, bool diagonal)
{
    sock_model *model = NULL;
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    sk_drift_term *f = sk_alloc(ctx, 1, sizeof *f);
    f->d = D;
    f->map = features(drift);
    const size_t p = sk_features_count(f->map);
    f->weight = sk_doubles(ctx, p, D);
    for (size_t j = 0; j < p * D; j++) f->weight[j] = j == 3 ? 0 : 0.1 * sin((double)j + 1);
    assert_int_equal(sk_model_add_drift(ctx, model, f), SOCK_OK);
    sk_diffusion_term *a = sk_alloc(ctx, 1, sizeof *a);
    a->d = D;
    a->rank = rank;
    a->map = features("affine");
    a->v = sk_doubles(ctx, D * 3, rank);
    if (diagonal) a->owner = sk_alloc(ctx, rank, sizeof *a->owner);
    for (size_t i = 0; i < D * 3; i++)
        for (size_t c = 0; c < rank; c++) {
            const bool there = !diagonal || c % D == i / 3;
            if (diagonal) a->owner[c] = c % D;
            a->v[i * rank + c] = there ? cos(3 * (double)i + (double)c) + (i % 3 == 2) : 0;
        }
    assert_int_equal(sk_model_add_diffusion(ctx, model, a), SOCK_OK);
    return model;
}

typedef struct bench {
    sock_data *data;
    sock_model *model;
    sk_check_steps steps;
    sk_check_rows rows;
    bool used[N];
} bench;

static void bench_init(bench *b, const char *drift, size_t rank, bool diagonal)
{
    *b = (bench){.data = some_data(), .model = some_model(drift, rank, diagonal)};
    assert_int_equal(sk_check_choose(ctx, b->data, NULL, 1000, &b->steps), SOCK_OK);
    assert_int_equal(sk_check_rows_new(ctx, b->model, b->data, &b->steps, &b->rows), SOCK_OK);
    assert_int_equal(b->rows.n, N);
    for (size_t i = 0; i < N; i++) b->used[i] = i % 9 != 4;
}

static void bench_clear(bench *b)
{
    sk_check_rows_free(&b->rows);
    sk_check_steps_free(&b->steps);
    sock_model_free(b->model);
    sock_data_free(b->data);
}

static void test_rows__are_where_steps_begin(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, "affine", 2, false);
    for (size_t reach = 1; reach <= 4; reach += 3) {
        sk_check_steps runs;
        sk_check_rows rows;
        assert_int_equal(sk_check_runs(ctx, &b.steps, reach, &runs), SOCK_OK);
        assert_int_equal(sk_check_rows_new(ctx, b.model, b.data, &runs, &rows), SOCK_OK);
        assert_int_equal(rows.n, reach == 1 ? N : 14);
        for (size_t i = 0; i < rows.n; i++) {
            const size_t at = runs.from[i];
            double a[D * D];
            assert_true(rows.t[i] == b.data->t[at] && rows.x[i * D + 1] == b.data->x[at * D + 1]);
            assert_close(rows.h[i], b.data->t[at + reach] - b.data->t[at], 1e-14, 0);
            assert_int_equal(sk_model_evaluate(ctx, b.model, 1, b.data->x + at * D, NULL, a), SOCK_OK);
            assert_all_close(D * D, rows.a + i * D * D, a, 1e-13);
            for (size_t k = 0; k < D; k++) assert_close(rows.variance[i * D + k], rows.h[i] * a[k * 3], 1e-13, 0);
        }
        sk_check_rows_free(&rows);
        sk_check_steps_free(&runs);
    }
    bench_clear(&b);
}

/* ---- Directions ---- */

/* Z is orthonormal, 0 in rows without a score, and a column that was fitted is of it alone. */
static void expect_orthonormal(const bench *b, size_t columns, const double *z)
{
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = 0; r < N; r++) sum += z[r * columns + i] * z[r * columns + j];
            assert_close(sum, i == j, 1e-9, 1);
        }
    for (size_t r = 0; r < N; r++)
        for (size_t j = 0; !b->used[r] && j < columns; j++) assert_true(z[r * columns + j] == 0);
}

static double left_of(size_t columns, const double *z, double *column)
{
    const double before = sk_norm(N, column);
    for (size_t j = 0; j < columns; j++) {
        double along = 0;
        for (size_t r = 0; r < N; r++) along += z[r * columns + j] * column[r];
        for (size_t r = 0; r < N; r++) column[r] -= along * z[r * columns + j];
    }
    return sk_norm(N, column) / before;
}

/* h phi_j / sqrt(h a_kk) of the features whose weight is not 0. */
static void test_fitted__the_mean_along_active_features(void **state)
{
    (void)state;
    bench b;
    sk_fitted fitted;
    bench_init(&b, "poly:degree=2", 2, false);
    assert_int_equal(sk_fitted_new(ctx, b.model, &b.rows, (double)NAN, &fitted), SOCK_OK);
    assert_int_equal(fitted.p, 6);
    for (size_t k = 0; k < D; k++) {
        double *z = NULL, phi[6], column[N];
        size_t columns;
        assert_int_equal(sk_fitted_mean(ctx, &fitted, &b.rows, k, b.used, &z, &columns), SOCK_OK);
        assert_int_equal(columns, k ? 5 : 6);
        expect_orthonormal(&b, columns, z);
        for (size_t j = 0; j < 6; j++) {
            for (size_t r = 0; r < N; r++) {
                assert_int_equal(sk_features_eval(ctx, b.model->drift[0]->map, 1, b.rows.x + r * D, phi, 6), SOCK_OK);
                column[r] = b.used[r] ? sqrt(b.rows.h[r]) * phi[j] / sqrt(b.rows.a[(r * D + k) * D + k]) : 0;
            }
            const double left = left_of(columns, z, column);
            assert_true(k == 1 && j == 1 ? left > 0.05 : left < 1e-6);
        }
        sk_free(z);
    }
    sk_fitted_free(&fitted);
    bench_clear(&b);
}

/* 1, and h phi_j (phi' V_c) / (h a_kk) of the columns of V that a_kk has. */
static void test_fitted__the_variance_along_its_factor(void **state)
{
    (void)state;
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        bench b;
        sk_fitted fitted;
        bench_init(&b, "affine", 2, diagonal);
        const sk_diffusion_term *term = b.model->diffusion[0];
        assert_int_equal(sk_fitted_new(ctx, b.model, &b.rows, (double)NAN, &fitted), SOCK_OK);
        for (size_t k = 0; k < D; k++) {
            double *z = NULL, phi[3], column[N];
            size_t columns;
            assert_int_equal(sk_fitted_variance(ctx, &fitted, &b.rows, k, b.used, &z, &columns), SOCK_OK);
            expect_orthonormal(&b, columns, z);
            assert_int_equal(columns, diagonal ? 3 : 5); /* 1 is among them, and the product of both columns twice */
            for (size_t r = 0; r < N; r++) column[r] = b.used[r];
            assert_true(left_of(columns, z, column) < 1e-6);
            for (size_t c = 0; c < 2; c++)
                for (size_t j = 0; j < 3 && (!diagonal || c == k); j++) {
                    for (size_t r = 0; r < N; r++) {
                        double own = 0;
                        assert_int_equal(sk_features_eval(ctx, term->map, 1, b.rows.x + r * D, phi, 3), SOCK_OK);
                        for (size_t i = 0; i < 3; i++) own += phi[i] * term->v[(k * 3 + i) * 2 + c];
                        column[r] = b.used[r] ? phi[j] * own / b.rows.a[(r * D + k) * D + k] : 0;
                    }
                    assert_true(left_of(columns, z, column) < 1e-6);
                }
            sk_free(z);
        }
        sk_fitted_free(&fitted);
        bench_clear(&b);
    }
}

/* Many features: as many directions as the drift has degrees of freedom; without that number twelve. */
static void test_fitted__of_many_features_the_leading_directions(void **state)
{
    (void)state;
    const struct {
        double freedom;
        size_t directions;
    } cases[] = {{(double)NAN, 12}, {3.2, 4}, {4, 4}, {0, 1}, {1e9, 15}};
    bench b;
    bench_init(&b, "poly:degree=4", 2, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_fitted fitted;
        double *z = NULL;
        size_t columns;
        assert_int_equal(sk_fitted_new(ctx, b.model, &b.rows, cases[i].freedom, &fitted), SOCK_OK);
        assert_int_equal(fitted.freedom, cases[i].freedom > 1e8 ? 40 : cases[i].directions);
        assert_int_equal(sk_fitted_mean(ctx, &fitted, &b.rows, 0, b.used, &z, &columns), SOCK_OK);
        assert_int_equal(columns, cases[i].directions);
        expect_orthonormal(&b, columns, z);
        sk_free(z);
        sk_fitted_free(&fitted);
    }
    bench_clear(&b);
}

/* A kernel at points: its values at 100 of the centres, evenly chosen; all, where they are fewer. */
static void test_fitted__kernels_at_some_of_the_centres(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, "affine", 2, false);
    for (size_t centres = 7; centres < 300; centres += 243) {
        sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
        sk_fitted fitted;
        term->d = D;
        term->centres = centres;
        term->centre = sk_doubles(ctx, centres, D);
        term->weight = sk_doubles(ctx, centres, D);
        assert_int_equal(sk_kernel_parse(ctx, "drift", "gauss:eta=1.3", &term->kernel), SOCK_OK);
        sk_normals(key, 2, 0, 0, centres * D, term->centre);
        sk_drift_term_free(b.model->drift[0]);
        b.model->drift[0] = term;
        assert_int_equal(sk_fitted_new(ctx, b.model, &b.rows, 5, &fitted), SOCK_OK);
        const size_t p = SK_MIN(centres, 100);
        assert_int_equal(fitted.p, p);
        for (size_t r = 0; r < N; r++)
            for (size_t j = 0; j < p; j++) {
                const double *c = term->centre + j * centres / p * D, *x = b.rows.x + r * D;
                const double far = pow(x[0] - c[0], 2) + pow(x[1] - c[1], 2);
                assert_close(fitted.drift[r * p + j], exp(-far / (2 * 1.3 * 1.3)), 1e-12, 1);
            }
        sk_fitted_free(&fitted);
    }
    bench_clear(&b);
}

/* ---- Away from single steps ---- */

static void go(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)x;
    for (size_t i = 0; i < count * d; i++) f[i] = *(const double *)user;
}

static void nothing(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
}

static double exits(const sock_data *data, double speed)
{
    sock_model *model = wrap_fields(ctx, 1, go, nothing, &speed);
    const sk_check_spec spec = {.seed = 1};
    double share[2];
    assert_int_equal(sk_check_exits(ctx, model, data, &spec, SK_CHECK_EXIT_PATHS, share), SOCK_OK);
    assert_true(share[1] <= share[0] && (isnan(speed) || fabs(speed) > 200) == (share[1] == 1));
    sock_model_free(model);
    return share[0];
}

/* Data in [0, 1], so that paths leave at -0.5 and 1.5. Without noise a path goes from x0 to x0 + speed T; a single
 * point has none. */
static void test_exits__by_straight_paths(void **state)
{
    (void)state;
    const size_t length[] = {2, 2, 1, 2};
    const double t[] = {0, 1, 0, 1, 0, 0, 1}, x[] = {0, 0.5, 0.75, 1, 0.5, 1, 0};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_close(exits(data, 1.2), 2. / 3, 1e-12, 0);
    assert_close(exits(data, -1.2), 1. / 3, 1e-12, 0);
    assert_close(exits(data, 0.45), 0, 0, 1);
    assert_close(exits(data, 1.6), 1, 1e-12, 0);
    assert_close(exits(data, 199), 1, 1e-12, 0); /* 200 beyond 1.5 they are off */
    assert_close(exits(data, 202), 1, 1e-12, 0);
    assert_close(exits(data, (double)NAN), 1, 1e-12, 0);
    sock_data_free(data);
}

/* At most a thousand steps are followed. */
static void test_exits__of_long_trajectories_the_beginning(void **state)
{
    (void)state;
    enum { LONG = 1201 };
    static double t[LONG], x[LONG];
    const size_t length = LONG;
    sock_data *data = NULL;
    for (size_t i = 0; i < LONG; i++) t[i] = (double)i, x[i] = i == 1;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_close(exits(data, 1.49e-3), 0, 0, 1);
    assert_close(exits(data, 1.51e-3), 1, 0, 1);
    sock_data_free(data);
}

/* f = A x: h times the root mean square of the entries of A in units of the states' spread. */
static void linear(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double *a = user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) f[i * d + k] = sk_dot(d, a + k * d, x + i * d);
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void prop_long_step__is_the_jacobian_in_units_of_the_spread(void **state)
{
    (void)state;
    enum { MANY = 350 };
    double a[] = {-1, 30, -0.02, 0.5};
    static double x[MANY * D], h[MANY], sorted[MANY];
    sock_model *model = wrap_fields(ctx, D, linear, nothing, a);
    sk_normals(key, 3, 0, 0, MANY * D, x);
    for (size_t i = 0; i < MANY; i++) x[i * D] = 7 + 40 * x[i * D], h[i] = 0.01 * (1 + (double)(i * 37 % 101));
    for (size_t n = 150; n <= MANY; n += 200) {
        const sk_check_rows rows = {.n = n, .d = D, .in = D, .x = x, .z = x, .h = h};
        const size_t places = SK_MIN(n, 200);
        double out[2], spread[D], sum = 0;
        for (size_t k = 0; k < D; k++) {
            double mean = 0, square = 0;
            for (size_t i = 0; i < n; i++) mean += x[i * D + k] / (double)n;
            for (size_t i = 0; i < n; i++) square += pow(x[i * D + k] - mean, 2) / (double)n;
            spread[k] = sqrt(square);
        }
        for (size_t k = 0; k < D * D; k++) sum += pow(a[k] * spread[k % D] / spread[k / D], 2) / D;
        for (size_t i = 0; i < places; i++) sorted[i] = h[i * n / places];
        qsort(sorted, places, sizeof *sorted, by_size);
        assert_int_equal(sk_check_long_step(ctx, model, &rows, out), SOCK_OK);
        assert_close(out[0], sqrt(sum) * (sorted[places / 2] + sorted[(places - 1) / 2]) / 2, 1e-6, 0);
        assert_close(out[1], sqrt(sum) * sorted[places * 9 / 10], 1e-6, 0);
    }
    sock_model_free(model);
}

/* ---- Memory ---- */

static sock_status fit_once(sock_context *context, void *arg)
{
    const bench *b = arg;
    sk_check_rows rows = {0};
    sk_fitted fitted = {0};
    double *mean = NULL, *variance = NULL, share[2], lengths[2];
    size_t columns;
    sock_status status;
    SK_GO(sk_check_rows_new(context, b->model, b->data, &b->steps, &rows));
    SK_GO(sk_check_long_step(context, b->model, &rows, lengths));
    SK_GO(sk_fitted_new(context, b->model, &rows, 3, &fitted));
    SK_GO(sk_fitted_mean(context, &fitted, &rows, 0, b->used, &mean, &columns));
    SK_GO(sk_fitted_variance(context, &fitted, &rows, 1, b->used, &variance, &columns));
    SK_GO(sk_check_exits(context, b->model, b->data, &(sk_check_spec){.seed = 1}, SK_CHECK_EXIT_PATHS, share));
out:
    sk_free(mean);
    sk_free(variance);
    sk_fitted_free(&fitted);
    sk_check_rows_free(&rows);
    return status;
}

static void test_fitted__survives_every_failed_allocation(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, "poly:degree=2", 2, false);
    sock_context *other = sock_context_new();
    assert_int_equal(sock_set_threads(other, 1), SOCK_OK);
    assert_true(for_single_allocations(other, fit_once, &b) > 25);
    sock_context_free(other);
    bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__are_where_steps_begin),
        cmocka_unit_test(test_fitted__the_mean_along_active_features),
        cmocka_unit_test(test_fitted__the_variance_along_its_factor),
        cmocka_unit_test(test_fitted__of_many_features_the_leading_directions),
        cmocka_unit_test(test_fitted__kernels_at_some_of_the_centres),
        cmocka_unit_test(test_exits__by_straight_paths),
        cmocka_unit_test(test_exits__of_long_trajectories_the_beginning),
        cmocka_unit_test(prop_long_step__is_the_jacobian_in_units_of_the_spread),
        cmocka_unit_test(test_fitted__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
