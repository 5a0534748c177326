/* Where bars of the data do not reach the band of a curve, and at which of these places it turns. */
#include "test.h"

#include "report/leaving.h"

enum { GRID = 41 };

static double x[GRID], curve[GRID], band[2 * GRID];

/* A hill 2 - x^2 on -2 to 2, known to +-0.1. */
static curve_set hill(const dots *d)
{
    for (size_t i = 0; i < GRID; i++) {
        x[i] = -2 + 4 * (double)i / (GRID - 1);
        curve[i] = 2 - x[i] * x[i];
        band[i] = curve[i] - 0.1, band[GRID + i] = curve[i] + 0.1;
    }
    return (curve_set){.count = GRID, .x = x, .model = curve, .band = band, .dots = d, .state = "x"};
}

/* At 0.05 the data are above the hill's top, at -1.5 below its slope, at 1.5 their bar of 1.645 * 0.1 just reaches the
 * band, at 1.0 it does not by a little. */
static void test_leaving__tells_places_and_peaks(void **state)
{
    (void)state;
    const dots d = {
        .count = 4, .x = {-1.5, 0.05, 1, 1.5}, .shift = {-0.5, 0.5, -0.27, 0.26}, .se = {0.1, 0.1, 0.1, 0.1}};
    const curve_set set = hill(&d);
    leaving l = {.used = 0};
    leaving_see(&l, &set, "f");
    assert_string_equal(l.text, "f at -1.5, 0.05 (a peak), 1");
    assert_int_equal(l.places, 3);
    assert_int_equal(l.peaks, 1);
    leaving_see(&l, &set, "a of x");
    assert_string_equal(l.text, "f at -1.5, 0.05 (a peak), 1; a of x at -1.5, 0.05 (a peak), 1");
}

static void test_leaving__below_a_top_is_no_peak(void **state)
{
    (void)state;
    const dots d = {.count = 3, .x = {-1, 0, 1}, .shift = {0, -0.5, 0}, .se = {0.1, 0.1, 0.1}};
    const curve_set set = hill(&d);
    leaving l = {.used = 0};
    leaving_see(&l, &set, "f");
    assert_string_equal(l.text, "f at 0");
    assert_int_equal(l.peaks, 0);
}

static void test_leaving__nothing_without_bands_or_dots(void **state)
{
    (void)state;
    const dots d = {.count = 1, .x = {0}, .shift = {5}, .se = {0.1}};
    curve_set set = hill(&d);
    leaving l = {.used = 0};
    set.band = NULL;
    leaving_see(&l, &set, "f");
    set = hill(NULL);
    leaving_see(&l, &set, "f");
    assert_int_equal(l.places, 0);
    assert_string_equal(l.text, "");
}

/* Many places are counted, not all told. */
static void test_leaving__many_places_are_counted(void **state)
{
    (void)state;
    dots d = {.count = 20};
    for (size_t i = 0; i < 20; i++) d.x[i] = -1.9 + 0.2 * (double)i, d.shift[i] = -3, d.se[i] = 0.1;
    const curve_set set = hill(&d);
    leaving l = {.used = 0};
    leaving_see(&l, &set, "f");
    assert_int_equal(l.places, 20);
    assert_non_null(strstr(l.text, " and 12 more"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaving__tells_places_and_peaks),
        cmocka_unit_test(test_leaving__below_a_top_is_no_peak),
        cmocka_unit_test(test_leaving__nothing_without_bands_or_dots),
        cmocka_unit_test(test_leaving__many_places_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
