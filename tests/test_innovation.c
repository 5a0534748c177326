/* test_innovation.c - rows of a drift from innovations: the sums are those of the likelihood that candidates are scored
 * by, and the likelihood is that of a filter whose mean is pushed by another drift. */
#include "drift/innovation.h"
#include "onecontext.h"

#include <string.h>

enum { D = 2, TIMES = 3, P = 2, MOST = 600 };

static const sk_key key = {23, SK_PURPOSE_TEST};

static double slope[MOST * D * D], onward[MOST * TIMES * D * D], keep[MOST * D * D], white[MOST * D * D], e[MOST * D],
    drift[MOST * TIMES * D], psi[MOST * TIMES * P], other[MOST * TIMES * D], score[MOST];
static unsigned char begins[MOST];

/* Runs of about a dozen steps; step 3 does not count. */
static sk_innovations innovations(size_t n)
{
    sk_normals(key, 1, 0, 0, n * D * D, slope);
    sk_normals(key, 2, 0, 0, n * TIMES * D * D, onward);
    sk_normals(key, 3, 0, 0, n * D * D, keep);
    sk_normals(key, 4, 0, 0, n * D * D, white);
    sk_normals(key, 5, 0, 0, n * D, e);
    sk_normals(key, 6, 0, 0, n * TIMES * D, drift);
    sk_normals(key, 7, 0, 0, n * TIMES * P, psi);
    for (size_t i = 0; i < n * D * D; i++) slope[i] *= 0.4, keep[i] *= 0.6;
    for (size_t i = 0; i < n; i++) begins[i] = i % 13 == 0 || i == 8;
    memset(white + 3 * D * D, 0, D * D * sizeof *white);
    return (sk_innovations){.n = n,
                            .d = D,
                            .times = TIMES,
                            .fold = 0,
                            .begins = begins,
                            .slope = slope,
                            .onward = onward,
                            .keep = keep,
                            .white = white,
                            .e = e,
                            .drift = drift};
}

/* The drift with weights w (component by component): psi' w_k at every node. */
static void put_candidate(size_t n, const double *w)
{
    for (size_t i = 0; i < n * TIMES; i++)
        for (size_t k = 0; k < D; k++) {
            other[i * D + k] = 0;
            for (size_t j = 0; j < P; j++) other[i * D + k] += psi[i * P + j] * w[k * P + j];
        }
}

/* The shift of the mean, step by step: m <- J m + sum_t J_t (g - f), the residual e - m, then m <- (1 - K) m. */
static double slow_score(size_t i, double m[D])
{
    double next[D] = {0}, sum = 0;
    if (begins[i]) m[0] = m[1] = 0;
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++) {
            next[a] += slope[(i * D + a) * D + b] * m[b];
            for (size_t t = 0; t < TIMES; t++) {
                const size_t at = (i * TIMES + t) * D;
                next[a] += onward[(at + a) * D + b] * (other[at + b] - drift[at + b]);
            }
        }
    for (size_t a = 0; a < D; a++) {
        double whitened = 0;
        for (size_t b = 0; b < D; b++) whitened += white[(i * D + a) * D + b] * (e[i * D + b] - next[b]);
        sum -= whitened * whitened / 2;
    }
    for (size_t a = 0; a < D; a++) m[a] = keep[(i * D + a) * D] * next[0] + keep[(i * D + a) * D + 1] * next[1];
    return sum;
}

static void prop_innovation__scores_step_by_step(void **state)
{
    (void)state;
    const size_t n = 40;
    const sk_innovations in = innovations(n);
    double m[D] = {5, 5}; /* the first step begins a run */
    put_candidate(n, (const double[P * D]){0.3, -1, 0.5, 2});
    assert_int_equal(sk_innovation_scores(ctx, &in, other, score), SOCK_OK);
    for (size_t i = 0; i < n; i++) assert_close(score[i], slow_score(i, m), 1e-11, 1);
    assert_true(score[3] == 0);
}

/* The score of a candidate with weights w is that of the drift 0 and g'w - w'H w / 2. */
static void prop_innovation__sums_are_the_scores_of_every_candidate(void **state)
{
    (void)state;
    const size_t n = MOST; /* more than are in memory at once */
    const sk_innovations in = innovations(n);
    sk_drift_sums *sums = NULL;
    double none = 0;
    assert_int_equal(sk_drift_sums_new(ctx, P, D, 0, SK_JOINT, &sums), SOCK_OK);
    assert_int_equal(sk_drift_sums_add_innovations(ctx, sums, &in, psi), SOCK_OK);
    assert_int_equal(sums->rows[0], n);
    for (uint64_t c = 0; c < 8; c++) {
        double w[P * D] = {0}, sum = 0, expected = 0;
        if (c) sk_normals(key, 8, c, 0, P * D, w);
        put_candidate(n, w);
        assert_int_equal(sk_innovation_scores(ctx, &in, other, score), SOCK_OK);
        for (size_t i = 0; i < n; i++) sum += score[i];
        if (!c) none = sum;
        for (size_t i = 0; i < P * D; i++) {
            expected += sums->g[i] * w[i];
            for (size_t j = 0; j < P * D; j++) expected -= w[i] * sums->h[i * P * D + j] * w[j] / 2;
        }
        assert_close(sum, none + expected, 1e-10, 1);
    }
    sk_drift_sums_free(sums);
}

static sock_status add_and_score(sock_context *context, void *arg)
{
    const sk_innovations *in = arg;
    sk_drift_sums *sums = NULL;
    sock_status status;
    SK_GO(sk_drift_sums_new(context, P, D, 0, SK_JOINT, &sums));
    SK_GO(sk_drift_sums_add_innovations(context, sums, in, psi));
    SK_GO(sk_innovation_scores(context, in, other, score));
out:
    sk_drift_sums_free(sums);
    return status;
}

static void test_innovation__survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_innovations in = innovations(20);
    assert_true(for_single_allocations(ctx, add_and_score, &in) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_innovation__scores_step_by_step),
        cmocka_unit_test(prop_innovation__sums_are_the_scores_of_every_candidate),
        cmocka_unit_test(test_innovation__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
