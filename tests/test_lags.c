/* Correlations of increments: by slow sums, for processes whose correlations are known, and what they say. */
#include "test.h"

#include "api/warnings.h"
#include "data/lags.h"

static sock_context *ctx;

static int set_up(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

enum { N = 20000 };

static void normals(size_t count, uint64_t seed, double *out)
{
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 1, 2, 0, count, out);
}

static double correlation(size_t n, const double *x, sk_lag lag)
{
    sock_data *data = NULL;
    double *t = malloc(n * sizeof *t);
    const char *reason;
    for (size_t i = 0; i < n; i++) t[i] = (double)i;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &n, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    const sk_lag_sums sums = sk_lag_gather(data, NULL, 0, 0, lag);
    const double r = sk_lag_of(&sums, &reason);
    assert_null(reason);
    sock_data_free(data);
    free(t);
    return r;
}

/* Pairs of increments over two steps, one step apart, of seven points. */
static void test_lags__by_slow_sums(void **state)
{
    const double x[] = {0, 1, -1, 4, 2, 2.5, 7};
    (void)state;
    /* u: x2 - x0, x3 - x1, ..; v: the same from i + 1 on */
    double a[4], b[4], ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (int i = 0; i < 4; i++) {
        a[i] = (x[i + 2] - x[i]) / sqrt(2);
        b[i] = (x[i + 3] - x[i + 1]) / sqrt(2);
        ma += a[i] / 4, mb += b[i] / 4;
    }
    for (int i = 0; i < 4; i++)
        aa += (a[i] - ma) * (a[i] - ma), bb += (b[i] - mb) * (b[i] - mb), ab += (a[i] - ma) * (b[i] - mb);
    assert_close(correlation(7, x, (sk_lag){2, 1, false}), ab / sqrt(aa * bb), 1e-14, 0);
}

/* Brownian motion, with noise of variance 1 for a h = 1, an OU process with rho = 1/2, a path with a velocity. */
static void prop_lags__of_processes_that_are_known(void **state)
{
    double *e = malloc(2 * N * sizeof *e), *x = calloc(N, sizeof *x), *y = malloc(N * sizeof *y), v = 0;
    (void)state;
    const sk_lag one = {1, 1, false}, two = {1, 2, false}, second = {1, 1, true};
    normals(2 * N, 5, e);
    for (size_t i = 1; i < N; i++) x[i] = x[i - 1] + e[i];
    for (size_t i = 0; i < N; i++) y[i] = x[i] + e[N + i];
    assert_close(correlation(N, x, one), 0, 0.03, 1);
    assert_close(correlation(N, x, two), 0, 0.03, 1);
    assert_close(correlation(N, x, second), -0.5, 0.03, 1);
    assert_close(correlation(N, y, one), -1.0 / 3, 0.03, 1);
    assert_close(correlation(N, y, two), 0, 0.03, 1);
    for (size_t i = 1; i < N; i++) x[i] = 0.5 * x[i - 1] + e[i];
    assert_close(correlation(N, x, one), -0.25, 0.03, 1);
    assert_close(correlation(N, x, two), -0.125, 0.03, 1);
    for (size_t i = 1; i < N; i++) { /* the mean of the velocity over a step: a second difference is an MA(1) of 1/4 */
        const double before = v;
        v += e[i];
        x[i] = x[i - 1] + 0.5 * (before + v) + e[N + i] / sqrt(12);
    }
    assert_close(correlation(N, x, second), 0.25, 0.03, 1);
    free(e);
    free(x);
    free(y);
}

static void test_lags__what_they_say(void **state)
{
    const double gone[] = {0.4, 0.2, 0.01}, stays[] = {0.4, 0.4, 0.4}, pulled[] = {-0.44, -0.49, -0.5},
                 spots[] = {-0.38, -0.28, 0.1}, season[] = {0.29, -0.497, -0.488};
    const struct {
        sk_lags lags;
        double n;
        sk_lag_kind kind;
    } cases[] = {{{0.05, 0, -0.5, 0, NULL}, 3000, SK_LAG_DIFFUSION},
                 {{-0.4, -0.04, -0.5, 0, NULL}, 99, SK_LAG_EITHER}, /* the Nile: near 0 it is not */
                 {{0.29, 0.39, -0.5, 0, NULL}, 22, SK_LAG_FEW},
                 {{-0.2, 0, -0.5, 0, NULL}, 100, SK_LAG_FEW},
                 {{-0.02, -0.95, -0.5, 0, NULL}, 106, SK_LAG_CYCLE},      /* quarters of a year */
                 {{0.094, 0.109, -0.5, 0, NULL}, 6930, SK_LAG_DIFFUSION}, /* growth: a little of it at every lag */
                 {{-0.037, 0.02, -0.5, 0, NULL}, 26, SK_LAG_FEW},         /* 0.6 could not be told */
                 {{0.708, 0.247, 0.288, 3, season}, 466, SK_LAG_SWING},   /* carbon dioxide by months */
                 {{-0.33, 0, -0.6, 0, NULL}, 3000, SK_LAG_NOISE},
                 {{-0.316, -0.116, -0.55, 0, NULL}, 3000, SK_LAG_LONG},
                 {{-0.14, -0.31, -0.5, 0, NULL}, 1200, SK_LAG_LONG}, /* rotation */
                 {{-0.316, -0.116, -0.55, 3, pulled}, 3000, SK_LAG_LONG},
                 {{-0.3, -0.1, -0.5, 3, spots}, 3176, SK_LAG_FAST},      /* a slow cycle under noise with a memory */
                 {{-0.5, 0, -0.66, 0, NULL}, 3000, SK_LAG_EITHER},       /* independent observations */
                 {{-0.316, -0.116, -0.55, 0, NULL}, 300, SK_LAG_EITHER}, /* too few */
                 {{0.9, 0.8, 0.2, 3, stays}, 3000, SK_LAG_INERTIA},
                 {{0.4, 0.2, -0.4, 3, gone}, 3000, SK_LAG_MEMORY},
                 {{0.4, 0.2, -0.13, 3, gone}, 3000, SK_LAG_MEMORY}, /* half way from -1/2 to a velocity's 1/4 */
                 {{0.4, 0.2, -0.12, 3, gone}, 3000, SK_LAG_INERTIA}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_lags_say(&cases[i].lags, cases[i].n), cases[i].kind);
    assert_int_equal(sk_lags_end(&cases[16].lags, 3000), 8);
    assert_int_equal(sk_lags_end(&cases[15].lags, 3000), 0);
    for (int kind = 0; kind < SK_LAG_KINDS; kind++) assert_non_null(sk_lag_words((sk_lag_kind)kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lags__by_slow_sums),
        cmocka_unit_test(prop_lags__of_processes_that_are_known),
        cmocka_unit_test(test_lags__what_they_say),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
