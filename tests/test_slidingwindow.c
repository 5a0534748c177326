/* test_slidingwindow.c - a window that slides says what selections among its numbers say. */
#include "data/slidingwindow.h"

#include "test.h"

enum { N = 300, WIDE = 33 };

/* Medians by selection: of the others, and of their distances where these are not 0. */
static void slow(const double *x, size_t from, size_t to, size_t own, double *middle, double *distance)
{
    double other[WIDE];
    size_t count = 0, moves = 0;
    for (size_t i = from; i < to; i++)
        if (i != own) other[count++] = x[i];
    *middle = sk_select(count, other, count / 2);
    for (size_t i = 0; i < count; i++)
        if (other[i] != *middle) other[moves++] = fabs(other[i] - *middle);
    *distance = moves ? sk_select(moves, other, moves / 2) : 0;
}

/* grain: numbers are multiples of it, so that many are equal; 0: none is. */
static void check(double grain, size_t wide)
{
    double x[N], middle, distance, slow_middle, slow_distance;
    sk_window w = {0};
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, N, x);
    for (size_t i = 0; i < N && grain > 0; i++) x[i] = grain * round(x[i] / grain);
    for (size_t i = 0; i < wide; i++) sk_window_add(&w, x[i]);
    for (size_t from = 0; from + wide < N; from++) {
        for (size_t own = from; own < from + wide; own++) {
            sk_window_others(&w, x[own], &middle, &distance);
            slow(x, from, from + wide, own, &slow_middle, &slow_distance);
            assert_true(middle == slow_middle && distance == slow_distance);
        }
        sk_window_take(&w, x[from]);
        sk_window_add(&w, x[from + wide]);
        assert_int_equal(w.count, wide);
    }
}

static void test_slidingwindow__agrees_with_selections(void **state)
{
    (void)state;
    static const double grain[] = {0, 0.01, 0.5, 2};
    for (size_t g = 0; g < 4; g++) {
        check(grain[g], WIDE);
        check(grain[g], 9);
        check(grain[g], 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slidingwindow__agrees_with_selections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
