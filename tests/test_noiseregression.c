/* test_noiseregression.c - regressions that a fit of measured data begins with, by slow loops: rows from the left point
 * and along a model, instruments, weights, residuals, constant a and R. */
#include "noise/noiseregression.h"
#include "noisecases.h"
#include "tune/policy.h"

enum { D = 2, DD = 4, P = 3 };

/* The trajectories of the oracle, affine features, and the oracle's model with two substeps. */
typedef struct bench {
    example e;
    sk_transitions *rows;
    sk_candidates none;
    sk_measured m;
    sk_features *map;
    sk_noisy now;
    size_t n;
} bench;

static void bench_init(bench *b)
{
    sk_features *map[SK_NOISE_MAPS] = {0};
    *b = (bench){0};
    example_init(&b->e);
    b->rows = transitions_of(b->e.data, 1);
    assert_int_equal(sk_measured_new(ctx, b->rows, &b->none, NULL, &b->m), SOCK_OK);
    assert_int_equal(sk_noise_maps(&b->m, map), SOCK_OK);
    assert_null(map[SK_NOISE_RICH]);
    b->map = map[SK_NOISE_AFFINE];
    assert_int_equal(sk_features_count(b->map), P);
    b->now = (sk_noisy){.model = b->e.model, .noise = b->e.noise, .substeps = {2, false}};
    b->n = b->m.series.steps;
}

static void bench_clear(bench *b)
{
    sk_features_free(b->map);
    sk_measured_clear(&b->m);
    sk_transitions_free(b->rows);
    example_clear(&b->e);
}

static void features_at(const bench *b, const double *x, double *phi)
{
    assert_int_equal(sk_features_eval(ctx, b->map, 1, x, phi, P), SOCK_OK);
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(size_t n, double *x)
{
    qsort(x, n, sizeof *x, by_size);
    return (x[n / 2] + x[(n - 1) / 2]) / 2;
}

/* ---- Rows ---- */

static void test_regression__from_the_left_point(void **state)
{
    (void)state;
    bench b;
    sk_regression g;
    double square = 0;
    bench_init(&b);
    const sk_series *s = &b.m.series;
    assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
    assert_int_equal(sk_regression_left(&g), SOCK_OK);
    for (size_t i = 0; i < b.n * D; i++) square += pow(s->next[i] - s->y[i], 2) / (double)(b.n * D);
    for (size_t i = 0; i < b.n; i++) {
        double phi[P];
        features_at(&b, s->y + i * D, phi);
        for (size_t j = 0; j < P; j++) assert_close(g.psi[i * P + j], s->h[i] * phi[j], 1e-13, 1);
        for (size_t k = 0; k < D; k++) assert_close(g.t[i * D + k], s->next[i * D + k] - s->y[i * D + k], 1e-15, 1);
        for (size_t k = 0; k < DD; k++) assert_close(g.precision[i * DD + k], k % 3 ? 0 : 1 / square, 1e-12, 1);
    }
    assert_null(g.pulled);
    sk_regression_clear(&g);
    bench_clear(&b);
}

/* psi: integrals over the nodes of the flow; targets F^-1 (x1 - m) + I f; precisions of I a and a share of the median
 * of its mean diagonal. */
static void test_regression__along_a_model(void **state)
{
    (void)state;
    bench b;
    sk_regression g;
    bench_init(&b);
    double *size = calloc(b.n, sizeof *size);
    assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
    assert_int_equal(sk_regression_along(&g, &b.now), SOCK_OK);
    const sk_pulled *q = g.pulled;
    for (size_t i = 0; i < b.n; i++) size[i] = (q->diffusion[i * DD] + q->diffusion[i * DD + 3]) / 2;
    const double share = SK_VARIANCE_SHARE * median(b.n, size);
    for (size_t i = 0; i < b.n; i++) {
        double sum[P] = {0}, phi[P];
        const double *w = g.precision + i * DD, *a = q->diffusion + i * DD;
        for (size_t e = q->rule->row[i]; e < q->rule->row[i + 1]; e++) {
            features_at(&b, q->rule->x + e * D, phi);
            for (size_t j = 0; j < P; j++) sum[j] += q->rule->weight[e] * phi[j];
        }
        assert_true(q->good[i]);
        for (size_t j = 0; j < P; j++) assert_close(g.psi[i * P + j], sum[j], 1e-12, 1);
        for (size_t k = 0; k < D; k++) assert_close(g.t[i * D + k], q->u[i * D + k] + q->drift[i * D + k], 1e-14, 1);
        for (size_t k = 0; k < DD; k++) { /* w (I a + share 1) = 1 */
            double product = share * w[k];
            for (size_t l = 0; l < D; l++) product += w[k / D * D + l] * a[l * D + k % D];
            assert_close(product, k % 3 == 0, 1e-11, 1);
        }
    }
    free(size);
    sk_regression_clear(&g);
    bench_clear(&b);
}

/* What is left of psi has nothing of the features of the observation before, and rows without one do not count. */
static void prop_regression__instruments_are_projections(void **state)
{
    (void)state;
    bench b;
    sk_regression g;
    bench_init(&b);
    const sk_series *s = &b.m.series;
    double *z = calloc(b.n * P, sizeof *z);
    assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
    assert_int_equal(sk_regression_left(&g), SOCK_OK);
    assert_int_equal(sk_regression_instrument(&g), SOCK_OK);
    for (size_t r = 0; r < s->runs; r++)
        for (size_t i = s->first[r] + 1; i < s->first[r + 1]; i++) features_at(&b, s->y + (i - 1) * D, z + i * P);
    for (size_t j = 0; j < P; j++)
        for (size_t l = 0; l < P; l++) {
            double sum = 0, size = 0;
            for (size_t i = 0; i < b.n; i++) {
                sum += z[i * P + l] * (g.psi[i * P + j] - g.used[i * P + j]);
                size += fabs(z[i * P + l] * g.psi[i * P + j]);
            }
            assert_close(sum, 0, 1e-6 * size, 1);
        }
    for (size_t r = 0; r < s->runs; r++)
        for (size_t j = 0; j < P; j++) assert_true(g.used[s->first[r] * P + j] == 0);
    free(z);
    sk_regression_clear(&g);
    bench_clear(&b);
}

/* ---- Weights and residuals ---- */

/* sum_i psi_ij P_i (t_i - psi_i w) = 0, but for next to no penalty. */
static void expect_solved(const bench *b, const sk_regression *g, const double *psi)
{
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < D; k++) {
            double sum = 0, size = 0;
            for (size_t i = 0; i < b->n; i++)
                for (size_t l = 0; l < D; l++) {
                    double left = g->t[i * D + l];
                    const double weight = psi[i * P + j] * g->precision[(i * D + k) * D + l];
                    for (size_t q = 0; q < P; q++) left -= psi[i * P + q] * g->w[q * D + l];
                    sum += weight * left;
                    size += fabs(weight * g->t[i * D + l]);
                }
            assert_close(sum, 0, 1e-5 * size, 1);
        }
}

static void test_regression__weights_and_residuals(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    for (int along = 0; along < 2; along++) {
        sk_regression g;
        double mean[D] = {0};
        assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
        assert_int_equal(along ? sk_regression_along(&g, &b.now) : sk_regression_left(&g), SOCK_OK);
        assert_int_equal(sk_regress(&g, g.psi), SOCK_OK);
        expect_solved(&b, &g, g.psi);
        sk_regression_residuals(&g);
        for (size_t i = 0; i < b.n; i++) {
            double u[D];
            for (size_t k = 0; k < D; k++) {
                u[k] = g.t[i * D + k];
                for (size_t j = 0; j < P; j++) u[k] -= g.psi[i * P + j] * g.w[j * D + k];
                assert_close(g.u[i * D + k], u[k], 1e-11, 1);
            }
            for (size_t k = 0; k < D; k++) {
                const double *f = along ? g.pulled->average + i * DD + k * D : NULL;
                const double e = along ? f[0] * u[0] + f[1] * u[1] : u[k];
                assert_close(g.e[i * D + k], e, 1e-11, 1);
                mean[k] += e * e / (double)b.n;
            }
        }
        for (size_t i = 0; i < b.n * D; i++)
            assert_close(g.variance[i], along ? g.pulled->cov[i / D * DD + i % D * 3] : mean[i % D], 1e-10, 1e-6);
        assert_int_equal(sk_regression_instrument(&g), SOCK_OK);
        assert_int_equal(sk_regress(&g, g.used), SOCK_OK);
        expect_solved(&b, &g, g.used);
        sk_regression_clear(&g);
    }
    bench_clear(&b);
}

/* ---- Constant a and R ---- */

/* c := a^-1 b a^-T of 2 x 2 matrices. */
static void pull_back(const double *a, const double *b, double *c)
{
    const double det = a[0] * a[3] - a[1] * a[2], i[DD] = {a[3] / det, -a[1] / det, -a[2] / det, a[0] / det};
    for (size_t k = 0; k < DD; k++) {
        c[k] = 0;
        for (size_t l = 0; l < DD; l++) c[k] += i[k / D * D + l / D] * b[l] * i[k % D * D + l % D];
    }
}

/* Mean of u u' + F^-1 (Z - V) F^-T + I a over the time, less what R at both ends makes of it. */
static void slow_diffusion(const bench *b, const sk_regression *g, const double *noise, double *a, double *plain)
{
    double time = 0;
    memset(a, 0, DD * sizeof *a);
    memset(plain, 0, D * sizeof *plain);
    for (size_t i = 0; i < b->n; i++) {
        double both[DD], less[DD] = {0};
        const double *u = g->u + i * D, *own = g->pulled ? g->pulled->u + i * D : NULL;
        for (size_t k = 0; noise && k < DD; k++) {
            const double *j = g->pulled ? g->pulled->slope + i * DD : NULL;
            both[k] = noise[k] + (j ? 0 : noise[k]);
            for (size_t l = 0; j && l < DD; l++) both[k] += j[k / D * D + l / D] * noise[l] * j[k % D * D + l % D];
        }
        if (noise && g->pulled) pull_back(g->pulled->average + i * DD, both, less);
        if (noise && !g->pulled) memcpy(less, both, sizeof less);
        for (size_t k = 0; k < DD; k++) {
            a[k] += u[k / D] * u[k % D] - less[k];
            if (own) a[k] += g->pulled->z[i * DD + k] - own[k / D] * own[k % D];
        }
        for (size_t k = 0; k < D; k++) plain[k] += u[k] * u[k];
        time += b->m.series.h[i];
    }
    for (size_t k = 0; k < DD; k++) a[k] /= time;
    for (size_t k = 0; k < D; k++) plain[k] /= time;
}

static void test_regression__mean_diffusion(void **state)
{
    (void)state;
    static const double noises[][DD] = {{1e-4, 2e-5, 2e-5, 1e-4}, {0.5, 0, 0, 0.4}};
    bench b;
    bench_init(&b);
    for (int along = 0; along < 2; along++) {
        sk_regression g;
        assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
        assert_int_equal(along ? sk_regression_along(&g, &b.now) : sk_regression_left(&g), SOCK_OK);
        assert_int_equal(sk_regress(&g, g.psi), SOCK_OK);
        sk_regression_residuals(&g);
        for (int c = -1; c < 2; c++) {
            const double *noise = c < 0 ? NULL : noises[c];
            double a[DD], want[DD], plain[D];
            sk_mean_diffusion(&g, noise, a);
            slow_diffusion(&b, &g, noise, want, plain);
            if (c == 1) assert_true(want[0] < 0 || want[3] < 0); /* more than there is */
            sk_nearest_psd(D, 0, want);
            for (size_t k = 0; k < D; k++) want[k * 3] = fmax(want[k * 3], 0.1 * plain[k]);
            for (size_t k = 0; k < DD; k++) assert_close(a[k], want[k], 1e-9, 1e-3);
        }
        sk_regression_clear(&g);
    }
    bench_clear(&b);
}

static void test_regression__least_and_first_noise(void **state)
{
    (void)state;
    bench b;
    sk_regression g;
    double least[D], noise[DD], r[DD], z[DD], *value;
    bench_init(&b);
    value = calloc(b.n, sizeof *value);
    assert_int_equal(sk_regression_new(&b.m, b.map, &g), SOCK_OK);
    assert_int_equal(sk_regression_along(&g, &b.now), SOCK_OK);
    assert_int_equal(sk_regress(&g, g.psi), SOCK_OK);
    sk_regression_residuals(&g);
    assert_int_equal(sk_least_noise(&g, least), SOCK_OK);
    for (size_t k = 0; k < D; k++) {
        for (size_t i = 0; i < b.n; i++) value[i] = pow(g.e[i * D + k], 2);
        assert_close(least[k], SK_LEAST_NOISE * median(b.n, value) / 0.455, 1e-12, 0);
    }
    sk_lagged lagged = {.r = r, .z = z};
    assert_int_equal(sk_lag_test(&b.m, g.e, g.pulled->slope, g.variance, &lagged), SOCK_OK);
    for (int low = 0; low < 2; low++) {
        if (low) least[0] = 10 * fabs(r[0]), least[1] = 20 * fabs(r[3]);
        b.m.mode = SK_NOISE_DIAGONAL;
        assert_int_equal(sk_first_noise(&g, least, noise), SOCK_OK);
        for (size_t k = 0; k < DD; k++) assert_close(noise[k], k % 3 ? 0 : fmax(r[k], least[k / D]), 1e-14, 1);
        b.m.mode = SK_NOISE_FULL;
        assert_int_equal(sk_first_noise(&g, least, noise), SOCK_OK);
        double full[DD];
        memcpy(full, r, sizeof full);
        sk_nearest_psd(D, fmin(least[0], least[1]), full);
        assert_all_close(DD, noise, full, 1e-12);
    }
    free(value);
    sk_regression_clear(&g);
    bench_clear(&b);
}

/* Left of two: the one with the larger likelihood, that is a number; with its least R. */
static void test_regression__the_better_goes_on(void **state)
{
    (void)state;
    const struct {
        double best, now;
        bool taken;
    } cases[] = {{-3, -2, true},           {-2, -3, false},
                 {-2, -2, false},          {-(double)INFINITY, -9, true},
                 {-2, (double)NAN, false}, {-2, (double)INFINITY, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases + 1; i++) {
        const bool none = i == sizeof cases / sizeof *cases;
        sk_noisy best = {.sum = none ? 0 : cases[i].best}, now = {.sum = none ? -5 : cases[i].now};
        double kept[D] = {1, 2};
        const double least[D] = {3, 4};
        if (!none) assert_int_equal(sk_model_new(ctx, D, NULL, &best.model), SOCK_OK);
        assert_int_equal(sk_model_new(ctx, D, NULL, &now.model), SOCK_OK);
        const sock_model *first = best.model, *second = now.model;
        sk_keep_better(&best, kept, &now, least, D);
        const bool taken = none || cases[i].taken;
        assert_true(best.model == (taken ? second : first) && !now.model);
        assert_true(kept[0] == (taken ? 3 : 1) && kept[1] == (taken ? 4 : 2));
        sk_noisy_clear(&best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regression__from_the_left_point),
        cmocka_unit_test(test_regression__along_a_model),
        cmocka_unit_test(prop_regression__instruments_are_projections),
        cmocka_unit_test(test_regression__weights_and_residuals),
        cmocka_unit_test(test_regression__mean_diffusion),
        cmocka_unit_test(test_regression__least_and_first_noise),
        cmocka_unit_test(test_regression__the_better_goes_on),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
