/* datemarks.c - see datemarks.h. Days are counted from 1970-01-01 in the calendar of Gregory, as where dates are read.
 */
#include "datemarks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY 86400.0

static const struct {
    const char *name;
    double seconds;
} units[] = {{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", DAY}, {"week", 7 * DAY}, {"year", 365.25 * DAY}};

int date_axis(const char *name, double *seconds, size_t *shown)
{
    static const char before[] = " [date, ";
    const char *mark = NULL;
    for (const char *p = strstr(name, before); p; p = strstr(p + 1, before)) mark = p;
    for (size_t i = 0; mark && i < sizeof units / sizeof *units; i++) {
        const char *rest = mark + strlen(before);
        const size_t length = strlen(units[i].name);
        if (strncmp(rest, units[i].name, length) != 0 || strcmp(rest + length, "]") != 0) continue;
        *seconds = units[i].seconds;
        *shown = (size_t)(mark - name);
        return 1;
    }
    return 0;
}

/* Days from 1970-01-01 to the first of a month, counted from January = 0 on, also beyond the year's end. */
static double days_to(long long year, long long month)
{
    year += month / 12, month %= 12;
    const long long y = month < 2 ? year - 1 : year, m = (month + 10) % 12; /* years that begin in March */
    const long long era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    return (double)(era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 - 719468);
}

typedef struct civil {
    long long year, month, day; /* month from 0, day from 1 */
} civil;

static civil civil_of(double days)
{
    civil c = {(long long)floor(1970 + days / 365.2425), 0, 1};
    while (days_to(c.year, 0) > days) c.year--;
    while (days_to(c.year + 1, 0) <= days) c.year++;
    while (c.month < 11 && days_to(c.year, c.month + 1) <= days) c.month++;
    c.day = 1 + (long long)(days - days_to(c.year, c.month));
    return c;
}

/* Seconds that do not change with the calendar, and months; each is a whole part of a larger one. */
static const double even[] = {1,    2,    5,        10,       30,        60,  120,     300,     600,     1800,
                              3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY, 14 * DAY};
static const long long months[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000};

static void put_label(double seconds, double step, char label[32])
{
    const double days = floor(seconds / DAY);
    const civil c = civil_of(days);
    const long left = (long)(seconds - days * DAY);
    char date[64], hour[64];
    snprintf(date, sizeof date, "%lld-%02lld-%02lld", c.year, c.month + 1, c.day);
    snprintf(hour, sizeof hour, "%02ld:%02ld:%02ld", left / 3600, left / 60 % 60, left % 60);
    if (step >= DAY)
        snprintf(label, 32, "%.31s", date);
    else if (step >= 3600)
        snprintf(label, 32, "%.14s %.5s", date + strlen(date) - 5, hour);
    else
        snprintf(label, 32, "%.*s", step >= 60 ? 5 : 8, hour);
}

static tick_marks even_dates(double unit, double low, double high, double step)
{
    tick_marks m = {0};
    const double origin = step > DAY && fmod(step, 7 * DAY) == 0 ? 4 * DAY : 0; /* weeks begin on Mondays */
    for (double at = origin + ceil((low - origin) / step) * step; at <= high && m.count < TICKS_MOST; at += step) {
        put_label(at, step, m.label[m.count]);
        m.at[m.count++] = at / unit;
    }
    return m;
}

static tick_marks month_dates(double unit, double low, double high, long long step)
{
    tick_marks m = {0};
    const civil first = civil_of(floor(low / DAY));
    const long long start = first.year * 12 + first.month;
    for (long long at = start - ((start % step) + step) % step; m.count < TICKS_MOST; at += step) {
        const long long year = (at >= 0 ? at : at - 11) / 12, month = at - year * 12;
        const double seconds = days_to(year, month) * DAY;
        if (seconds > high) break;
        if (seconds < low) continue;
        snprintf(m.label[m.count], sizeof m.label[0], step >= 12 ? "%lld" : "%04lld-%02lld", year, month + 1);
        m.at[m.count++] = seconds / unit;
    }
    return m;
}

tick_marks date_marks(double unit, double low, double high, int wanted)
{
    const double from = low * unit, to = high * unit, most = 1e6 * 365.25 * DAY;
    if (!(fabs(from) < most && fabs(to) < most && from < to)) return (tick_marks){0};
    for (size_t i = 0; i < sizeof even / sizeof *even; i++)
        if ((to - from) / even[i] <= wanted + 1) return even_dates(unit, from, to, even[i]);
    for (size_t i = 0; i < sizeof months / sizeof *months; i++)
        if ((to - from) / ((double)months[i] * 30.44 * DAY) <= wanted + 1)
            return month_dates(unit, from, to, months[i]);
    return (tick_marks){0};
}
