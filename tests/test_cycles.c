/* test_cycles.c - cycles in scores, again by slow loops: whitened scores, the portmanteau, the spectrum by sines and
 * cosines; in pieces, with scores that are missing. */
#define _DEFAULT_SOURCE
#include "check/check.h"
#include "onecontext.h"
#include "tune/policy.h"

enum { MOST = 9000 };

static const sk_key key = {17, SK_PURPOSE_TEST};

static double v[MOST], w[MOST];
static size_t piece[MOST];

static bool scored(size_t i) { return !isnan(v[i]); }

static bool pair(size_t i, size_t lag) { return i >= lag && piece[i] == piece[i - lag]; }

/* Lag-1 correlation taken out within 0.95, then mean square 1 over the scores. */
static void whiten(size_t n)
{
    double product = 0, count = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        count += scored(i);
        if (pair(i, 1) && scored(i) && scored(i - 1)) product += v[i] * v[i - 1];
    }
    const double r = fmin(fmax(product / count, -0.95), 0.95);
    for (size_t i = 0; i < n; i++) {
        w[i] = scored(i) ? v[i] : 0;
        if (pair(i, 1) && scored(i) && scored(i - 1)) w[i] = (v[i] - r * v[i - 1]) / sqrt(1 - r * r);
        square += w[i] * w[i];
    }
    for (size_t i = 0; i < n; i++) w[i] *= sqrt(count / square);
}

static size_t longest_of(size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t end = i;
        while (end < n && piece[end] == piece[i]) end++;
        longest = SK_MAX(longest, end - i);
    }
    return longest;
}

static void add_lags(size_t n, size_t lags, sk_cycle *out)
{
    for (size_t lag = 2; lag <= lags; lag++) {
        double sum = 0, pairs = 0;
        for (size_t i = lag; i < n; i++)
            if (pair(i, lag) && scored(i) && scored(i - lag)) sum += w[i] * w[i - lag], pairs++;
        if (pairs == 0) continue;
        out->statistic += sum * sum / pairs;
        out->freedom++;
        out->size = fmax(out->size, fabs(sum / pairs));
    }
}

/* Sum over segments of at most `most` steps, at least half of them scored, of |DFT|^2 / scores. */
static double power(size_t n, size_t most, size_t m, double *segments)
{
    double total = 0;
    *segments = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double real = 0, imaginary = 0, count = 0;
        for (end = i; end < n && end - i < most && piece[end] == piece[i]; end++) {
            const double phase = 2 * M_PI * (double)m * (double)(end - i) / (double)most;
            real += w[end] * cos(phase);
            imaginary += w[end] * sin(phase);
            count += scored(end);
        }
        if (count < (double)most / 2) continue;
        total += (real * real + imaginary * imaginary) / count;
        ++*segments;
    }
    return total;
}

/* The highest of independent gamma variables: 1 - (1 - tail)^frequencies. */
static void add_peak(size_t n, size_t most, sk_cycle *out)
{
    double highest = 0, segments = 0;
    size_t at = 0, frequencies = 0;
    for (size_t m = 1; 2 * m < most; m++, frequencies++) {
        const double one = power(n, most, m, &segments);
        if (one > highest) highest = one, at = m;
    }
    if (!at) return;
    out->peak = 1 - pow(1 - sk_chi_square_tail(2 * highest, 2 * segments), (double)frequencies);
    out->period = at >= 3 ? (double)most / (double)at : 0;
    out->share = 2 * (highest / segments - 1) / (double)most;
}

static sk_cycle compare(size_t n)
{
    sk_cycle got, want = {.peak = 1};
    const size_t longest = longest_of(n);
    assert_int_equal(sk_check_cycles(ctx, &(sk_check_series){n, 1, v, piece}, &got), SOCK_OK);
    whiten(n);
    add_lags(n, SK_MIN(longest / 4, 40), &want);
    if (longest >= 15) add_peak(n, SK_MIN(longest, 4096), &want);
    assert_close(got.statistic, want.statistic, 1e-9, 1e-9);
    assert_close(got.freedom, want.freedom, 0, 1);
    assert_close(got.size, want.size, 1e-9, 1e-9);
    assert_close(got.peak, want.peak, 1e-6, 1e-7);
    assert_int_equal(got.period > 0, want.period > 0);
    if (want.period > 0) { /* within half a line of the spectrum */
        const double most = (double)SK_MIN(longest, 4096);
        assert_true(fabs(most / got.period - most / want.period) <= 0.501);
    }
    assert_close(got.share, want.share, 1e-7, 1e-9);
    return got;
}

/* Noise with the correlation r and a wave, in pieces of `length`. */
static void make(size_t n, size_t length, double r, double wave, double period)
{
    sk_normals(key, n, length, 0, n, w);
    for (size_t i = 0; i < n; i++) {
        piece[i] = i / length;
        v[i] = i % length ? r * v[i - 1] + sqrt(1 - r * r) * w[i] : w[i];
    }
    for (size_t i = 0; i < n; i++) v[i] += wave * sin(2 * M_PI * (double)i / period);
}

static void prop_cycles_by_slow_loops(void **state)
{
    (void)state;
    make(200, 200, 0, 0, 1);
    assert_true(compare(200).peak > 0.01);
    make(200, 200, 0.6, 0.8, 10);
    assert_close(compare(200).period, 10, 0.02, 0);
    make(240, 60, -0.4, 0.9, 12); /* four segments */
    assert_close(compare(240).period, 12, 0.04, 0);
    make(150, 60, 0, 1, 20); /* the last segment is just long enough, */
    assert_true(compare(150).period > 0);
    make(149, 60, 0, 1, 20); /* and here one score short */
    compare(149);
    make(144, 144, 0, 1, 72); /* seen twice: no period */
    assert_true(compare(144).period == 0);
}

static void prop_cycles_without_some_scores(void **state)
{
    (void)state;
    make(180, 90, 0.3, 0.7, 9);
    for (size_t i = 0; i < 180; i += 7) v[i] = (double)NAN;
    compare(180);
    for (size_t i = 90; i < 136; i++) v[i] = (double)NAN; /* less than half of the second piece is left */
    compare(180);
}

/* A series that hardly changes: correlations beyond 0.95 count as that. */
static void prop_cycles_of_long_memory(void **state)
{
    (void)state;
    for (int sign = -1; sign < 2; sign += 2) {
        for (size_t i = 0; i < 120; i++) {
            piece[i] = 0;
            v[i] = (sign > 0 || i % 2 ? 1 : -1) * (1.5 + 0.1 * sin((double)(i * i)));
        }
        compare(120);
    }
}

/* Fifteen steps have a spectrum, fourteen have none; lags up to a quarter: of seven steps there is none. */
static void test_cycles__how_long_a_piece_must_be(void **state)
{
    (void)state;
    make(60, 15, 0, 0, 1);
    assert_true(compare(60).peak < 1);
    make(56, 14, 0, 0, 1);
    assert_true(compare(56).peak == 1);
    make(64, 8, 0, 0, 1);
    assert_close(compare(64).freedom, 1, 0, 1);
    make(63, 7, 0, 0, 1);
    assert_close(compare(63).freedom, 0, 0, 1);
    make(170, 170, 0, 0, 1);
    assert_close(compare(170).freedom, 39, 0, 1);
}

/* All scores missing, or zero: nothing is said. */
static void test_cycles__nothing_to_see(void **state)
{
    (void)state;
    for (int zero = 0; zero < 2; zero++) {
        sk_cycle got;
        for (size_t i = 0; i < 40; i++) piece[i] = 0, v[i] = zero ? 0 : (double)NAN;
        assert_int_equal(sk_check_cycles(ctx, &(sk_check_series){40, 1, v, piece}, &got), SOCK_OK);
        assert_true(got.peak == 1 && got.statistic == 0 && got.period == 0);
        assert_close(sk_check_lag1(&(sk_check_series){40, 1, v, piece}), 0, 0, 1);
    }
}

/* A spectrum is made of 4096 steps at most: of 8192 two. */
static void test_cycles__long_pieces_are_cut(void **state)
{
    (void)state;
    sk_cycle got;
    make(8192, 8192, 0, 0.4, 4096. / 32);
    assert_int_equal(sk_check_cycles(ctx, &(sk_check_series){8192, 1, v, piece}, &got), SOCK_OK);
    whiten(8192);
    double segments;
    const double highest = power(8192, 4096, 32, &segments);
    assert_close(segments, 2, 0, 1);
    assert_close(got.period, 128, 0.01, 0);
    assert_close(got.share, 2 * (highest / 2 - 1) / 4096, 1e-6, 0);
}

/* ---- Laws ---- */

/* Far out the tail is that of its continued fraction, near 0 that of its series; both sides of where they meet. */
static void prop_laws__chi_square_has_no_step(void **state)
{
    (void)state;
    for (double df = 0.5; df < 2000; df *= 3.1) {
        const double at = df + 2, below = sk_chi_square_tail(at * (1 - 1e-9), df), above = sk_chi_square_tail(at, df);
        const double slope = exp((df / 2 - 1) * log(at / 2) - at / 2 - lgamma(df / 2)) / 2;
        assert_close(below - above, slope * at * 1e-9, 1e-3, 1e-12);
    }
    assert_close(sk_chi_square_tail(18.307, 10), 0.05, 1e-4, 0);
    assert_close(sk_chi_square_tail(3.940, 10), 0.95, 1e-4, 0);
    assert_close(sk_chi_square_tail(1074.679, 1000), 0.05, 1e-4, 0);
    assert_true(sk_chi_square_tail(1e-12, 40) == 1 && sk_chi_square_tail(5000, 4) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_cycles_by_slow_loops),         cmocka_unit_test(prop_cycles_without_some_scores),
        cmocka_unit_test(prop_cycles_of_long_memory),        cmocka_unit_test(test_cycles__how_long_a_piece_must_be),
        cmocka_unit_test(test_cycles__nothing_to_see),       cmocka_unit_test(test_cycles__long_pieces_are_cut),
        cmocka_unit_test(prop_laws__chi_square_has_no_step),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
