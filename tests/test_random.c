/* test_random.c - Philox against its published answers; moments and independence of the streams. */
#include "test.h"

static const sk_key key = {2026, SK_PURPOSE_TEST};

enum { MANY = 200000 };

/* Known answers of the Random123 distribution (kat_vectors, philox4x64 10). */
static void test_random__philox_known_answers(void **state)
{
    (void)state;
    uint64_t out[4], zero[4] = {0}, ones[4] = {~0ull, ~0ull, ~0ull, ~0ull};
    sk_philox((sk_key){0, 0}, zero, out);
    assert_true(out[0] == 0x16554d9eca36314cu && out[1] == 0xdb20fe9d672d0fdcu);
    assert_true(out[2] == 0xd7e772cee186176bu && out[3] == 0x7e68b68aec7ba23bu);
    sk_philox((sk_key){~0ull, ~0ull}, ones, out);
    assert_true(out[0] == 0x87b092c3013fe90bu && out[1] == 0x438c3c67be8d0224u);
    assert_true(out[2] == 0x9cc7d7c69cd777b6u && out[3] == 0xa09caebf594f0ba0u);
}

/* Five standard errors: a right generator fails once in two million. */
static void mean_is(size_t n, const double *x, int power, double expected, double variance)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow(x[i], power);
    assert_close(sum / (double)n, expected, 5 * sqrt(variance / (double)n), 1);
}

static void test_random__uniforms_have_their_moments(void **state)
{
    (void)state;
    double *u = malloc(MANY * sizeof *u);
    sk_uniforms(key, 1, 2, 0, MANY, u);
    for (size_t i = 0; i < MANY; i++) assert_true(u[i] > 0 && u[i] < 1);
    for (int power = 1; power <= 4; power++) {
        double mean = 1.0 / (power + 1);
        mean_is(MANY, u, power, mean, 1.0 / (2 * power + 1) - mean * mean);
    }
    size_t bins[16] = {0};
    double chi2 = 0, each = MANY / 16.0;
    for (size_t i = 0; i < MANY; i++) bins[(size_t)(16 * u[i])]++;
    for (int b = 0; b < 16; b++) chi2 += ((double)bins[b] - each) * ((double)bins[b] - each) / each;
    assert_true(chi2 < 15 + 5 * sqrt(30));
    free(u);
}

static void test_random__normals_have_their_moments(void **state)
{
    (void)state;
    const double moment[] = {1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};
    double *x = malloc(MANY * sizeof *x);
    sk_normals(key, 1, 2, 0, MANY, x);
    for (int power = 1; power <= 6; power++)
        mean_is(MANY, x, power, moment[power], moment[2 * power] - moment[power] * moment[power]);
    double lag[4] = {0}; /* neighbours come from one block: all pairs within it */
    for (size_t i = 0; i + 3 < MANY; i++)
        for (size_t j = 1; j <= 3; j++) lag[j] += x[i] * x[i + j];
    for (size_t j = 1; j <= 3; j++) assert_true(fabs(lag[j]) < 5 * sqrt(MANY));
    size_t beyond = 0;
    for (size_t i = 0; i < MANY; i++) beyond += fabs(x[i]) > 1.959963984540054;
    assert_true(fabs((double)beyond - 0.05 * MANY) < 5 * sqrt(0.05 * 0.95 * MANY));
    free(x);
}

/* Any part of a stream, made alone, is that part of the whole. */
static void prop_parts_are_parts_of_the_whole(void **state)
{
    (void)state;
    enum { COUNT = 101 };
    double u[COUNT], x[COUNT], part[COUNT];
    const uint64_t starts[] = {0, 1000003, UINT64_MAX - COUNT};
    for (size_t s = 0; s < 3; s++) {
        sk_uniforms(key, 3, 4, starts[s], COUNT, u);
        sk_normals(key, 3, 4, starts[s], COUNT, x);
        for (size_t first = 0; first < COUNT; first += 3)
            for (size_t count = 0; first + count <= COUNT; count += 7) {
                sk_uniforms(key, 3, 4, starts[s] + first, count, part);
                assert_memory_equal(part, u + first, count * sizeof *part);
                sk_normals(key, 3, 4, starts[s] + first, count, part);
                assert_memory_equal(part, x + first, count * sizeof *part);
            }
    }
}

/* The bulk version: the same numbers to rounding, and its parts are parts of its whole to the bit. */
static void prop_bulk_normals_are_the_same_numbers(void **state)
{
    (void)state;
    enum { COUNT = 1003 };
    double x[COUNT], bulk[COUNT], part[COUNT];
    const uint64_t starts[] = {0, 1, 2, 3, 1000003, UINT64_MAX - COUNT};
    for (size_t s = 0; s < 6; s++) {
        sk_normals(key, 3, 4, starts[s], COUNT, x);
        sk_normals_bulk(key, 3, 4, starts[s], COUNT, bulk);
        for (size_t i = 0; i < COUNT; i++) assert_close(bulk[i], x[i], 1e-14, 1);
        for (size_t first = 0; first < COUNT; first += 41)
            for (size_t count = 0; first + count <= COUNT; count += 97) {
                sk_normals_bulk(key, 3, 4, starts[s] + first, count, part);
                assert_memory_equal(part, bulk + first, count * sizeof *part);
            }
    }
}

static double correlation(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum / (double)n;
}

/* Seed, purpose and both counters each make another stream, without correlation to the first. */
static void test_random__streams_differ_in_every_word(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    sk_normals(key, 1, 2, 0, COUNT, x);
    const struct {
        sk_key key;
        uint64_t a, b;
    } other[] = {
        {{2027, SK_PURPOSE_TEST}, 1, 2}, {{2026, SK_PURPOSE_SIMULATE}, 1, 2}, {key, 2, 2}, {key, 1, 3}, {key, 2, 1}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        sk_normals(other[i].key, other[i].a, other[i].b, 0, COUNT, y);
        assert_true(fabs(correlation(COUNT, x, y)) < 5 / sqrt(COUNT));
    }
    sk_uniforms(key, 1, 2, 0, COUNT, y); /* uniforms and normals of one stream do not share numbers either */
    for (size_t i = 0; i < COUNT; i++) y[i] = (y[i] - 0.5) * sqrt(12);
    assert_true(fabs(correlation(COUNT, x, y)) < 5 / sqrt(COUNT));
    free(x);
    free(y);
}

static void test_random__shuffle_is_a_permutation(void **state)
{
    (void)state;
    enum { MOST = 300 };
    size_t order[MOST], again[MOST];
    for (size_t count = 0; count <= MOST; count += count < 10 ? 1 : 29) {
        char seen[MOST] = {0};
        sk_shuffle(key, 5, count, count, order);
        for (size_t i = 0; i < count; i++) {
            assert_true(order[i] < count && !seen[order[i]]);
            seen[order[i]] = 1;
        }
        sk_shuffle(key, 5, count, count, again);
        assert_memory_equal(order, again, count * sizeof *order);
    }
}

/* All 24 orders of four things come up equally often. */
static void test_random__shuffle_has_no_favourites(void **state)
{
    (void)state;
    enum { ROUNDS = 24000 };
    double seen[256] = {0}, chi2 = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        size_t o[4];
        sk_shuffle(key, 6, round, 4, o);
        seen[o[0] * 64 + o[1] * 16 + o[2] * 4 + o[3]]++;
    }
    size_t kinds = 0;
    for (size_t i = 0; i < 256; i++)
        if (seen[i] > 0) {
            kinds++;
            chi2 += (seen[i] - ROUNDS / 24.0) * (seen[i] - ROUNDS / 24.0) / (ROUNDS / 24.0);
        }
    assert_int_equal(kinds, 24);
    assert_true(chi2 < 23 + 5 * sqrt(46));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random__philox_known_answers),
        cmocka_unit_test(test_random__uniforms_have_their_moments),
        cmocka_unit_test(test_random__normals_have_their_moments),
        cmocka_unit_test(prop_parts_are_parts_of_the_whole),
        cmocka_unit_test(prop_bulk_normals_are_the_same_numbers),
        cmocka_unit_test(test_random__streams_differ_in_every_word),
        cmocka_unit_test(test_random__shuffle_is_a_permutation),
        cmocka_unit_test(test_random__shuffle_has_no_favourites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
