/* test_axes.c - round ticks for any range, and labels that say what stands at them. */
#include "report/axes.h"

#include "test.h"

/* Numbers from a small generator of its own. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double power(uint64_t *state, double low, double high) { return pow(10, low + (high - low) * uniform(state)); }

static void check_ticks(double low, double high, int wanted)
{
    const ticks t = ticks_of(low, high, wanted);
    const double digit = t.step / pow(10, floor(log10(t.step) + 1e-9)), slack = 1e-5 * t.step;
    assert_true(t.count >= 3 && t.count <= TICKS_MOST);
    assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
    assert_true((double)t.first * t.step >= low - slack);
    assert_true((double)(t.first + t.count - 1) * t.step <= high + slack);
    /* all of the round numbers in the range are there */
    assert_true((double)(t.first - 1) * t.step < low + slack && (double)(t.first + t.count) * t.step > high - slack);
}

static void prop_ticks_are_round_and_cover_the_range(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        const double length = power(&seed, -250, 250), middle = (uniform(&seed) - 0.5) * length * power(&seed, -2, 6);
        check_ticks(middle - length / 2, middle + length / 2, 2 + i % 7);
    }
}

/* A label, times its power of ten, is the tick's value to a hundredth of a step. */
static void prop_labels_say_the_value(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 5000; i++) {
        const double length = power(&seed, -12, 12), middle = (uniform(&seed) - 0.5) * length * 20;
        const ticks t = ticks_of(middle - length / 2, middle + length / 2, 5);
        for (int k = 0; k < t.count; k++) {
            char text[48];
            ticks_label(&t, k, sizeof text, text);
            const int negative = strncmp(text, "\xe2\x88\x92", 3) == 0;
            const double shown = strtod(text + (negative ? 3 : 0), NULL) * (negative ? -1 : 1) * pow(10, t.exponent);
            assert_true(fabs(shown - (double)(t.first + k) * t.step) <= 0.01 * t.step);
            assert_true(strlen(text) <= 14);
        }
    }
}

static void prop_widened_ranges_can_be_divided(void **state)
{
    (void)state;
    const double values[] = {0,    1,      -1,      1e300,  -1e300,    1.7e308,  -1.7e308, 5e-324,
                             1e-9, 1e-300, -1e-300, 123456, 1 + 1e-15, INFINITY, -INFINITY};
    const size_t count = sizeof values / sizeof *values;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            range r = range_empty();
            range_see(&r, values[i]);
            range_see(&r, values[j]);
            r = range_widen(r, 0.05);
            assert_true(isfinite(r.low) && isfinite(r.high) && r.low < r.high && isfinite(r.high - r.low));
            check_ticks(r.low, r.high, 5);
        }
}

static void test_axes__pixels_are_affine_in_the_value(void **state)
{
    (void)state;
    const axis a = {-2, 6, 300, 100};
    assert_close(axis_at(&a, -2), 300, 1e-14, 0);
    assert_close(axis_at(&a, 6), 100, 1e-14, 0);
    assert_close(axis_at(&a, 0), 250, 1e-14, 0);
    assert_close(axis_scale(&a), -25, 1e-14, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_ticks_are_round_and_cover_the_range),
        cmocka_unit_test(prop_labels_say_the_value),
        cmocka_unit_test(prop_widened_ranges_can_be_divided),
        cmocka_unit_test(test_axes__pixels_are_affine_in_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
