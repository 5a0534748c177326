/* calendar.c - seasons by name: where times were dates, they are counted from a midnight and a new year, and a cycle of
 * the day, the week or the year has its length before anything is looked at. Two waves each, one where steps are long:
 * they see a season in short trajectories and at irregular times, too, where a spectrum sees none. */
#define _DEFAULT_SOURCE
#include "check/check.h"

#include "data/dates.h"
#include "tune/policy.h"

#include <math.h>

static const struct {
    const char *unit, *says;
} periods[SK_CALENDAR_PERIODS] = {{"day", "24 hours"}, {"week", "7 days"}, {"year", "12 months"}};

/* Of period i in a unit of dates; NAN where times were numbers. */
static double length_of(size_t i, const char *unit)
{
    return unit ? sk_unit_seconds(periods[i].unit) / sk_unit_seconds(unit) : (double)NAN;
}

size_t sk_calendar_seasons(const char *unit, double step, double span, sk_calendar_season out[SK_CALENDAR_PERIODS])
{
    size_t count = 0;
    for (size_t i = 0; i < SK_CALENDAR_PERIODS; i++) {
        const double length = length_of(i, unit);
        if (!(span >= SK_CHECK_PERIODS * length) || !(step * SK_CHECK_SEASON_STEPS <= length)) continue;
        const size_t waves = 2 * step * SK_CHECK_SEASON_STEPS <= length ? 2 : 1;
        out[count++] = (sk_calendar_season){length, periods[i].says, waves};
    }
    return count;
}

const char *sk_calendar_name(const char *unit, double period)
{
    for (size_t i = 0; i < SK_CALENDAR_PERIODS; i++)
        if (fabs(period / length_of(i, unit) - 1) < SK_CHECK_SEASON_NEAR) return periods[i].says;
    return NULL;
}

void sk_calendar_waves(const sk_calendar_season *season, size_t n, const double *t, const bool *used, double *out)
{
    const size_t width = 2 * season->waves;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < season->waves; j++) {
            const double angle = 2 * M_PI * (double)(j + 1) * fmod(t[i] / season->length, 1);
            out[i * width + 2 * j] = used[i] ? cos(angle) : 0;
            out[i * width + 2 * j + 1] = used[i] ? sin(angle) : 0;
        }
}
