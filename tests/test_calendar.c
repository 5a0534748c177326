/* test_calendar.c - seasons by name: which ones data can show, their waves. */
#define _DEFAULT_SOURCE
#include "check/check.h"
#include "test.h"
#include "tune/policy.h"

static void seen(const char *unit, double step, double span, size_t count, const char *first, size_t waves)
{
    sk_calendar_season season[SK_CALENDAR_PERIODS];
    assert_int_equal(sk_calendar_seasons(unit, step, span, season), count);
    if (!count) return;
    assert_string_equal(season[0].says, first);
    assert_int_equal(season[0].waves, waves);
}

static void test_calendar__what_can_be_seen(void **state)
{
    (void)state;
    seen(NULL, 1, 1e6, 0, NULL, 0);
    seen("fortnight", 1, 1e6, 0, NULL, 0);
    seen("day", 1, 2000, 2, "7 days", 2);
    seen("day", 1, 20, 0, NULL, 0); /* not three weeks */
    seen("day", 30.44, 2000, 1, "12 months", 2);
    seen("day", 91.3, 2000, 1, "12 months", 1); /* quarters: no overtone */
    seen("day", 182.6, 2000, 0, NULL, 0);
    seen("hour", 1, 24 * 30, 2, "24 hours", 2);
    seen("minute", 30, 3 * 1440, 1, "24 hours", 2);
    seen("second", 8 * 3600, 3 * 86400, 1, "24 hours", 1);
    seen("year", 1.0 / 12, 30, 1, "12 months", 2);
}

static void test_calendar__names(void **state)
{
    (void)state;
    assert_string_equal(sk_calendar_name("hour", 24.3), "24 hours");
    assert_string_equal(sk_calendar_name("day", 7), "7 days");
    assert_string_equal(sk_calendar_name("day", 366), "12 months");
    assert_null(sk_calendar_name("day", 380));
    assert_null(sk_calendar_name("day", 0));
    assert_null(sk_calendar_name(NULL, 12));
}

static void test_calendar__waves(void **state)
{
    (void)state;
    static const double t[] = {0, 6, 24 * 1000 + 3, 11};
    static const bool used[] = {true, true, true, false};
    sk_calendar_season season[SK_CALENDAR_PERIODS];
    double out[16];
    assert_int_equal(sk_calendar_seasons("hour", 1, 100, season), 1);
    sk_calendar_waves(&season[0], 4, t, used, out);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 2; j++) {
            const double angle = M_PI / 12 * (double)(j + 1) * t[i];
            assert_close(out[4 * i + 2 * j], used[i] ? cos(angle) : 0, 1e-9, 1);
            assert_close(out[4 * i + 2 * j + 1], used[i] ? sin(angle) : 0, 1e-9, 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calendar__what_can_be_seen),
        cmocka_unit_test(test_calendar__names),
        cmocka_unit_test(test_calendar__waves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
