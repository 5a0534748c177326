/* test_noisesteps.c - steps of the fit of measured data, again by slow loops: the test of neighbouring residuals, the
 * Newton step for R and the scale of a, rows of the diffusion, pilots of long steps; and memory that ends anywhere. */
#include "noise/noisefit.h"
#include "noise/noiseregression.h"
#include "noisecases.h"
#include "tune/policy.h"

/* The trajectories of the oracle with what a fit makes of them. */
typedef struct bench {
    example e;
    sk_transitions *rows;
    sk_candidates none;
    sk_measured m;
} bench;

static void bench_init(bench *b)
{
    *b = (bench){0};
    example_init(&b->e);
    b->rows = transitions_of(b->e.data, 1);
    assert_int_equal(sk_measured_new(ctx, b->rows, &b->none, NULL, &b->m), SOCK_OK);
}

static void bench_clear(bench *b)
{
    sk_measured_clear(&b->m);
    sk_transitions_free(b->rows);
    example_clear(&b->e);
}

/* ---- Neighbouring residuals ---- */

enum { D = 2, DD = 4 };

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(size_t n, size_t stride, const double *x)
{
    double *copy = calloc(n, sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = x[i * stride];
    qsort(copy, n, sizeof *copy, by_size);
    const double middle = (copy[n / 2] + copy[(n - 1) / 2]) / 2;
    free(copy);
    return middle;
}

/* Sums over neighbours in units of sd (a clearing has a penalty of 1e-8 in it): B and G of G R + R G = 2 B, and the
 * z-scores of what was cleared. */
typedef struct sums {
    double sd[D], b[DD], g[DD], sum[DD], square[DD];
    size_t pairs;
} sums;

static void add_pair(sums *s, const double *slope, const double *variance, const double *before, const double *after,
                     const double *cleared)
{
    double j[DD], norm = 0, back[D] = {0}, v = 0;
    for (size_t k = 0; k < DD; k++) {
        j[k] = slope ? slope[k] * s->sd[k % D] / s->sd[k / D] : k % 3 == 0;
        norm += j[k] * j[k];
    }
    for (size_t k = 0; norm > 8 && k < DD; k++) j[k] *= sqrt(8 / norm); /* at most 2 sqrt 2 */
    for (size_t k = 0; k < D; k++) {
        v += (variance[k] + variance[k - D]) / (2 * D * s->sd[k] * s->sd[k]);
        for (size_t l = 0; l < D; l++) back[k] += j[l * D + k] * after[l] / s->sd[l];
    }
    const double weight = 1 / ((v + 0.3) * (v + 0.3));
    for (size_t k = 0; k < D; k++)
        for (size_t l = 0; l < D; l++) {
            const double p = -(back[k] * cleared[l] / s->sd[l] + back[l] * cleared[k] / s->sd[k]) / 2;
            s->b[k * D + l] -= weight * (back[k] * before[l] / s->sd[l] + back[l] * before[k] / s->sd[k]) / 2;
            s->sum[k * D + l] += weight * p;
            s->square[k * D + l] += pow(weight * p, 2);
            for (size_t a = 0; a < D; a++) s->g[k * D + l] += weight * j[a * D + k] * j[a * D + l];
        }
    s->pairs++;
}

static void compare_lagged(const sk_measured *m, const double *e, const double *slope, const double *variance,
                           const double *cleared, const sk_lagged *got)
{
    const sk_series *s = &m->series;
    sums want = {0};
    for (size_t k = 0; k < D; k++) want.sd[k] = sqrt(median(s->steps, D, variance + k));
    for (size_t r = 0; r < s->runs; r++)
        for (size_t i = s->first[r] + 1; i < s->first[r + 1]; i++)
            add_pair(&want, slope ? slope + i * DD : NULL, variance + i * D, e + (i - 1) * D, e + i * D,
                     cleared ? cleared + i * D : e + (i - 1) * D);
    assert_int_equal(got->pairs, want.pairs);
    for (size_t k = 0; k < D; k++)
        for (size_t l = 0; l < D; l++) {
            double sum = 0;
            for (size_t a = 0; a < D; a++)
                sum += want.g[k * D + a] * got->r[a * D + l] / (want.sd[a] * want.sd[l]) +
                       got->r[k * D + a] / (want.sd[k] * want.sd[a]) * want.g[a * D + l];
            assert_close(sum, 2 * want.b[k * D + l], 1e-10, 1);
            assert_close(got->z[k * D + l], want.sum[k * D + l] / sqrt(want.square[k * D + l]), cleared ? 1e-6 : 1e-8,
                         1);
        }
}

static void prop_lag__solves_its_equations(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    const size_t n = b.m.series.steps;
    double *e = calloc(n * D, sizeof *e), *slope = calloc(n * DD, sizeof *slope), *v = calloc(n * D, sizeof *v);
    double r[DD], z[DD];
    sk_lagged out = {.r = r, .z = z};
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 1, 0, 0, n * D, e);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 2, 0, 0, n * DD, slope); /* some beyond the largest norm */
    for (size_t i = 0; i < n * D; i++) v[i] = (1 + (double)(i % 5)) * (i % 2 ? 100 : 0.01);
    for (size_t i = 0; i < n * DD; i++) slope[i] = slope[i] * (i % 4 == 1 ? 0.01 : i % 4 == 2 ? 100 : 1) + (i % 3 == 0);
    assert_int_equal(sk_lag_test(&b.m, e, slope, v, &out), SOCK_OK);
    compare_lagged(&b.m, e, slope, v, NULL, &out);
    assert_int_equal(sk_lag_test(&b.m, e, NULL, v, &out), SOCK_OK);
    compare_lagged(&b.m, e, NULL, v, NULL, &out);
    free(e), free(slope), free(v);
    bench_clear(&b);
}

/* x := what is left of the residual before, beside 1 and the state where the step begins: least squares by Gram and
 * Schmidt over the steps that have one before. */
static void clear_slowly(const sk_series *s, const double *e, double *out)
{
    const size_t n = s->steps;
    double *basis = calloc(3 * n, sizeof *basis);
    for (size_t r = 0; r < s->runs; r++)
        for (size_t i = s->first[r] + 1; i < s->first[r + 1]; i++) {
            for (size_t k = 0; k < D; k++)
                basis[(k + 1) * n + i] = s->y[i * D + k], out[i * D + k] = e[(i - 1) * D + k];
            basis[i] = 1;
        }
    for (size_t j = 0; j < 3; j++) {
        double *one = basis + j * n;
        for (size_t k = 0; k < j; k++) sk_axpy(n, -sk_dot(n, basis + k * n, one), basis + k * n, one);
        sk_scale(n, 1 / sk_norm(n, one), one);
        for (size_t k = 0; k < D; k++) {
            double along = 0;
            for (size_t i = 0; i < n; i++) along += one[i] * out[i * D + k];
            for (size_t i = 0; i < n; i++) out[i * D + k] -= along * one[i];
        }
    }
    free(basis);
}

static void prop_lag__of_a_model_is_cleared_of_the_state(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    const sk_series *s = &b.m.series;
    const sk_noisy clean = {.model = b.e.model, .substeps = {2, false}};
    const sk_filter_spec spec = sk_noisy_spec(&b.m, &clean);
    const sk_ends ends = {s->steps, s->y, s->next, s->h, NULL};
    double *e = calloc(s->steps * D, sizeof *e), *v = calloc(s->steps * D, sizeof *v);
    double *cleared = calloc(s->steps * D, sizeof *cleared), r[DD], z[DD];
    sk_lagged out = {.r = r, .z = z};
    sk_pulled *q = NULL;
    assert_int_equal(sk_pulled_new(ctx, &spec, &ends, &q), SOCK_OK);
    for (size_t i = 0; i < s->steps * D; i++) {
        e[i] = s->next[i] - q->mean[i];
        v[i] = q->cov[i / D * DD + i % D * (D + 1)];
    }
    clear_slowly(s, e, cleared);
    assert_int_equal(sk_lag_test_model(&b.m, &clean, &out), SOCK_OK);
    compare_lagged(&b.m, e, q->slope, v, cleared, &out);
    sk_pulled_free(q);
    free(e), free(v), free(cleared);
    bench_clear(&b);
}

/* ---- Newton ---- */

/* The frozen likelihood with R_kk exp(x_k0) and a_kk exp(x_k1). */
static double frozen_at(const bench *b, const sk_frozen *z, const double *x)
{
    double noise[DD], scale[D], sum = 0, *term = calloc(b->m.series.steps, sizeof *term);
    for (size_t k = 0; k < DD; k++) noise[k] = z->spec.noise[k] * exp((x[k / D * 2] + x[k % D * 2]) / 2);
    for (size_t k = 0; k < D; k++) scale[k] = exp(x[2 * k + 1]);
    const sk_frozen_change change = {.scale = scale, .noise = noise};
    assert_int_equal(sk_frozen_scores(ctx, z, 0, b->m.series.runs, &change, term), SOCK_OK);
    for (size_t i = 0; i < b->m.series.steps; i++) sum += term[i];
    free(term);
    return sum;
}

/* Gradient and Hessian of state k by differences of 0.02. */
static void differentiate(const bench *b, const sk_frozen *z, size_t k, double g[2], double h[3])
{
    const double e = 0.02;
    double l[3][3];
    for (int i = -1; i < 2; i++)
        for (int j = -1; j < 2; j++) {
            double x[2 * D] = {0};
            x[2 * k] = e * i, x[2 * k + 1] = e * j;
            l[i + 1][j + 1] = frozen_at(b, z, x);
        }
    g[0] = (l[2][1] - l[0][1]) / (2 * e);
    g[1] = (l[1][2] - l[1][0]) / (2 * e);
    h[0] = (l[2][1] - 2 * l[1][1] + l[0][1]) / (e * e);
    h[2] = (l[1][2] - 2 * l[1][1] + l[1][0]) / (e * e);
    h[1] = (l[2][2] - l[2][1] - l[1][2] + l[1][1]) / (e * e);
}

/* |H|^-1 g by the eigenvalues of a 2 x 2 matrix, the smaller raised to a hundredth of the larger; at most log 4. */
static void newton_step(const double g[2], const double h[3], double step[2])
{
    const double half = (h[0] + h[2]) / 2, off = hypot((h[0] - h[2]) / 2, h[1]);
    const double angle = 0.5 * atan2(2 * h[1], h[0] - h[2]), c = cos(angle), s = sin(angle);
    const double first = fabs(half + off), second = fabs(half - off), least = 0.01 * fmax(first, second);
    const double along = (c * g[0] + s * g[1]) / fmax(first, least),
                 across = (c * g[1] - s * g[0]) / fmax(second, least);
    step[0] = along * c - across * s;
    step[1] = along * s + across * c;
    const double most = fmax(fabs(step[0]), fabs(step[1])) / log(4);
    for (int i = 0; most > 1 && i < 2; i++) step[i] /= most;
}

static void prop_newton__is_the_best_share_of_a_newton_step(void **state)
{
    (void)state;
    static const double start[][DD] = {
        {0.2, 0, 0, 0.002}, {0.03, 0.01, 0.01, 0.02}, {1e-5, 0, 0, 1e-5}, {5, 0, 0, 1e-4}, {0.01, 0, 0, 0.9}};
    bench b;
    bench_init(&b);
    for (size_t c = 0; c < 5; c++) {
        double noise[DD], scale[D], kappa[D], error[D], x[2 * D], step[2 * D] = {0}, best, taken = 0;
        const double floor[D] = {1e-7, 0.5}; /* the second is raised */
        sk_filter_spec spec = b.e.spec;
        sk_frozen *z = NULL;
        spec.noise = start[c];
        assert_int_equal(sk_frozen_new(ctx, &b.m.series, &spec, &z), SOCK_OK);
        assert_int_equal(sk_noise_newton(&b.m, z, floor, &(sk_newton){noise, scale, kappa, error}), SOCK_OK);
        for (size_t k = 0; k < D; k++) {
            double g[2], h[3];
            differentiate(&b, z, k, g, h);
            newton_step(g, h, step + 2 * k);
            assert_close(kappa[k], fmin(fmax((double)b.m.series.steps / 2 / fmax(-h[2], 1e-9), 1), 8), 1e-6, 0);
            const double variance = -h[2] / (h[0] * h[2] - h[1] * h[1]);
            if (variance > 0) assert_close(error[k], start[c][k * 3] * sqrt(variance), 1e-6, 0);
            if (!(variance > 0)) assert_true(isnan(error[k]));
        }
        best = frozen_at(&b, z, (const double[2 * D]){0});
        for (double share = 1; share > 0.2; share /= 2) {
            for (size_t k = 0; k < 2 * D; k++) x[k] = share * step[k];
            const double value = frozen_at(&b, z, x);
            if (value > best) best = value, taken = share;
        }
        for (size_t k = 0; k < D; k++) {
            const double moved = start[c][k * 3] * exp(taken * step[2 * k]);
            assert_close(scale[k], exp(taken * step[2 * k + 1]), 1e-6, 0);
            assert_close(noise[k * 3], fmax(moved, floor[k]), 1e-6, 0);
        }
        assert_close(noise[1], start[c][1] * exp(taken * (step[0] + step[2]) / 2), 1e-6, 1e-12);
        sk_frozen_free(z);
    }
    bench_clear(&b);
}

/* ---- Rows of the diffusion ---- */

static void compare_sizes(const sk_rows_of_a *r)
{
    const sk_pulled *q = r->pulled;
    double *size = calloc(q->n, sizeof *size), mean[D] = {0}, time = 0;
    for (size_t i = 0; i < q->n; i++) {
        assert_true(q->good[i]);
        size[i] = sqrt(sk_dot(DD, q->diffusion + i * DD, q->diffusion + i * DD));
        time += q->rule->h[i];
        for (size_t k = 0; k < D; k++) mean[k] += q->z[i * DD + k * 3];
    }
    assert_close(r->typical[0], median(q->n, 1, size), 1e-12, 0);
    for (size_t k = 0; k < D; k++) {
        const double least = 1e-3 * (fabs(mean[0]) + fabs(mean[1])) / 2;
        assert_close(r->typical[1 + k], median(q->n, DD, q->diffusion + k * 3), 1e-12, 0);
        assert_close(r->floor[k], 1e-3 * fmax(mean[k], least) / time, 1e-12, 0);
    }
    free(size);
}

/* Without noise a row goes from observation to observation; kappa stretches z away from I a. */
static void test_rows__sizes_and_stretch(void **state)
{
    (void)state;
    const double kappa[D] = {4, 2.25};
    bench b;
    bench_init(&b);
    for (int noisy = 0; noisy < 2; noisy++) {
        const sk_noisy now = {.model = b.e.model, .noise = noisy ? b.e.noise : NULL, .substeps = {2, false}};
        sk_rows_of_a plain, wide;
        assert_int_equal(sk_rows_of_a_new(&b.m, &now, NULL, &plain), SOCK_OK);
        assert_int_equal(sk_rows_of_a_new(&b.m, &now, kappa, &wide), SOCK_OK);
        assert_int_equal(plain.each, 1 + noisy);
        assert_int_equal(plain.pulled->n, b.m.series.steps * plain.each);
        assert_int_equal(plain.residual != NULL, noisy);
        compare_sizes(&plain);
        for (size_t i = 0; i < plain.pulled->n * DD; i++) {
            const double own = plain.pulled->diffusion[i], root[] = {2, 1.5};
            const double stretched = own + root[i / 2 % 2] * root[i % 2] * (plain.pulled->z[i] - own);
            assert_close(wide.pulled->z[i], stretched, 1e-12, 1);
        }
        sk_rows_of_a_clear(&plain), sk_rows_of_a_clear(&wide);
    }
    bench_clear(&b);
}

/* ---- Long steps ---- */

/* dx = A x dt + dW in exact steps of 1, A a turn by 2 radians that shrinks by exp(-0.3): from the left point it looks
 * like a strong pull, and only the logarithm of the regression leads to the turn. */
static void test_start__finds_a_turn_within_a_step(void **state)
{
    (void)state;
    enum { N = 600 };
    const double turn = 2, pull = 0.3, keep = exp(-pull), spread = sqrt((1 - keep * keep) / (2 * pull));
    static double t[N], x[N * D], w[N * D];
    const size_t length = N;
    sk_normals((sk_key){9, SK_PURPOSE_TEST}, 1, 0, 0, N * D, w);
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)i;
        if (i) {
            const double *last = x + (i - 1) * D;
            x[i * D] = keep * (cos(turn) * last[0] - sin(turn) * last[1]) + spread * w[i * D];
            x[i * D + 1] = keep * (sin(turn) * last[0] + cos(turn) * last[1]) + spread * w[i * D + 1];
        }
    }
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, D, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    sk_transitions *rows = transitions_of(data, 1);
    const sk_candidates none = {0};
    const double at[] = {1, 0, -1, 0, 0, 1, 0, -1};
    double least[D], f[8], a[16];
    sk_measured m;
    sk_noisy now;
    assert_int_equal(sk_measured_new(ctx, rows, &none, NULL, &m), SOCK_OK);
    assert_int_equal(sk_noise_start(&m, &now, least), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, now.model, 4, at, f, a), SOCK_OK);
    assert_close((f[0] - f[2]) / 2, -pull, 0.1, 1);
    assert_close((f[1] - f[3]) / 2, turn, 0.1, 1);
    assert_close((f[4] - f[6]) / 2, -turn, 0.1, 1);
    assert_close((f[5] - f[7]) / 2, -pull, 0.1, 1);
    assert_close(a[0], 1, 0.2, 1);
    assert_close(a[3], 1, 0.2, 1);
    sk_noisy_clear(&now);
    sk_measured_clear(&m);
    sk_transitions_free(rows);
    sock_data_free(data);
}

/* ---- Memory ---- */

static sock_status steps_once(sock_context *context, void *arg)
{
    bench *b = arg;
    double r[DD], z[DD], scale[D], kappa[D], error[D], noise[DD], promise;
    const double floor[D] = {1e-7, 1e-7};
    const sk_noisy now = {.model = b->e.model, .noise = b->e.noise, .substeps = {2, false}};
    const sk_noisy clean = {.model = b->e.model, .substeps = {2, false}};
    const sk_filter_spec spec = sk_noisy_spec(&b->m, &now);
    sk_rows_of_a rows = {0};
    sk_frozen *frozen = NULL;
    sock_status status;
    b->m.ctx = context;
    SK_GO(sk_lag_test_model(&b->m, &clean, &(sk_lagged){.r = r, .z = z}));
    SK_GO(sk_frozen_new(context, &b->m.series, &spec, &frozen));
    SK_GO(sk_noise_newton(&b->m, frozen, floor, &(sk_newton){noise, scale, kappa, error}));
    SK_GO(sk_rows_of_a_new(&b->m, &now, kappa, &rows));
    SK_GO(sk_noise_promise(&b->m, &clean, &promise));
out:
    sk_frozen_free(frozen);
    sk_rows_of_a_clear(&rows);
    return status;
}

static sock_status start_once(sock_context *context, void *arg)
{
    bench *b = arg;
    double least[D];
    sk_noisy now;
    b->m.ctx = context;
    const sock_status status = sk_noise_start(&b->m, &now, least);
    sk_noisy_clear(&now);
    return status;
}

static void test_noisesteps__memory_may_end_anywhere(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    sock_context *other = sock_context_new();
    assert_int_equal(sock_set_threads(other, 1), SOCK_OK);
    assert_true(for_single_allocations(other, steps_once, &b) > 40);
    b.m.mode = SK_NOISE_DIAGONAL;
    b.m.substeps = 2;
    assert_true(for_single_allocations(other, start_once, &b) > 40);
    b.m.ctx = ctx;
    sock_context_free(other);
    bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_lag__solves_its_equations),
        cmocka_unit_test(prop_lag__of_a_model_is_cleared_of_the_state),
        cmocka_unit_test(prop_newton__is_the_best_share_of_a_newton_step),
        cmocka_unit_test(test_rows__sizes_and_stretch),
        cmocka_unit_test(test_start__finds_a_turn_within_a_step),
        cmocka_unit_test(test_noisesteps__memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
