/* test_narrow.c - products with few columns against plain loops: sums in their order, so to the last bit. */
#include "la/narrow.h"
#include "test.h"

enum { MOST = 12 };

static void fill(size_t count, uint64_t place, double *x)
{
    sk_normals((sk_key){31, SK_PURPOSE_TEST}, place, 0, 0, count, x);
}

static void test_narrow__columns_fill_whole_vectors(void **state)
{
    (void)state;
    assert_int_equal(sk_narrow_wide(0), 0);
    assert_int_equal(sk_narrow_wide(1), SK_NARROW);
    assert_int_equal(sk_narrow_wide(SK_NARROW), SK_NARROW);
    assert_int_equal(sk_narrow_wide(SK_NARROW + 1), 2 * SK_NARROW);
}

/* C = A B and C + A' T, with rows of A in any order and one of them twice. */
static void one_product(size_t m, size_t k, size_t wide)
{
    double a[MOST * MOST], b[MOST * MOST], t[MOST * MOST], c[MOST * MOST], sum[MOST * MOST];
    const double *row[MOST];
    fill(m * k, 1, a);
    fill(k * wide, 2, b);
    fill(m * wide, 3, t);
    fill(k * wide, 4, sum);
    for (size_t i = 0; i < m; i++) row[i] = a + (m - 1 - i / 2) * k;
    sk_narrow_rows(m, k, row, wide, b, c);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < wide; j++) {
            double expected = 0;
            for (size_t l = 0; l < k; l++) expected += row[i][l] * b[l * wide + j];
            assert_true(c[i * wide + j] == expected);
        }
    memcpy(c, sum, k * wide * sizeof *c);
    sk_narrow_add(m, k, row, wide, t, c);
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < wide; j++) {
            double expected = sum[l * wide + j];
            for (size_t i = 0; i < m; i++) expected += row[i][l] * t[i * wide + j];
            assert_true(c[l * wide + j] == expected);
        }
}

static void test_narrow__rows_that_lie_anywhere(void **state)
{
    (void)state;
    for (size_t m = 1; m <= MOST; m++)
        for (size_t k = 1; k <= MOST; k++)
            for (size_t wide = SK_NARROW; wide <= MOST; wide += SK_NARROW) one_product(m, k, wide);
}

static void test_narrow__small_matrices(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    for (size_t d = 1; d <= 3; d++)
        for (size_t wide = SK_NARROW; wide <= 2 * SK_NARROW; wide += SK_NARROW) {
            double t[COUNT * 3 * 2 * SK_NARROW], before[COUNT * 3 * 2 * SK_NARROW], m[COUNT * 9], a[COUNT * 9];
            double space[3 * 2 * SK_NARROW];
            const size_t size = d * wide;
            fill(COUNT * size, 5, t);
            fill(COUNT * d * d, 6, m);
            memcpy(before, t, COUNT * size * sizeof *t);
            sk_narrow_squares(COUNT, d, wide, t, a);
            sk_narrow_turn(COUNT, d, wide, m, t, space);
            for (size_t i = 0; i < COUNT * d; i++) { /* row i % d of matrix i / d */
                const double *own = before + i / d * size;
                for (size_t l = 0; l <= i % d; l++) {
                    double square = 0;
                    for (size_t j = 0; j < wide; j++) square += before[i * wide + j] * own[l * wide + j];
                    assert_close(a[i * d + l], square, 1e-14, 1);
                }
                for (size_t j = 0; j < wide; j++) {
                    double turned = 0;
                    for (size_t l = 0; l < d; l++) turned += m[i * d + l] * own[l * wide + j];
                    assert_true(t[i * wide + j] == turned);
                }
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow__columns_fill_whole_vectors),
        cmocka_unit_test(test_narrow__rows_that_lie_anywhere),
        cmocka_unit_test(test_narrow__small_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
