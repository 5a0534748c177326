/* dates.c - see dates.h. Days by the calendar of Gregory, without leap seconds, as all clocks of computers count. */
#include "dates.h"

#include "datarules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    double seconds;
} units[] = {{"second", 1},  {"minute", 60},        {"hour", 3600},
             {"day", 86400}, {"week", 7 * 86400.0}, {"year", 365.25 * 86400}};

enum { UNITS = sizeof units / sizeof *units };

/* ---- The calendar ---- */

static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days before the first of January of a year, from the year 1 on. */
static long days_before(long year)
{
    const long y = year - 1;
    return 365 * y + y / 4 - y / 100 + y / 400;
}

static long day_number(int year, int month, int day)
{
    long days = days_before(year) - days_before(1970) + day - 1;
    for (int m = 1; m < month; m++) days += month_days(year, m);
    return days;
}

/* ---- Reading ---- */

typedef struct scan {
    const char *p, *end;
} scan;

/* A number of exactly so many digits. */
static bool digits(scan *s, int count, int *value)
{
    *value = 0;
    if (s->end - s->p < count) return false;
    for (int i = 0; i < count; i++, s->p++) {
        if (*s->p < '0' || *s->p > '9') return false;
        *value = 10 * *value + (*s->p - '0');
    }
    return true;
}

static bool sign(scan *s, char c)
{
    if (s->p == s->end || *s->p != c) return false;
    s->p++;
    return true;
}

/* A number of one digit or two. */
static bool one_or_two(scan *s, int *value)
{
    const char *from = s->p;
    if (digits(s, 2, value)) return true;
    s->p = from;
    return digits(s, 1, value);
}

/* Two numbers and a year, with that sign between. */
static bool year_last(scan *s, char between, int number[2], int *year)
{
    return one_or_two(s, &number[0]) && sign(s, between) && one_or_two(s, &number[1]) && sign(s, between) &&
           digits(s, 4, year);
}

bool sk_slashed_date(const char *text, size_t length, int number[2])
{
    int year;
    scan s = {text, text + length};
    return year_last(&s, '/', number, &year) && (s.p == s.end || *s.p == ' ' || *s.p == 'T');
}

static bool year_first(scan *s, int *year, int *month, int *day)
{
    if (!digits(s, 4, year)) return false;
    const char between = s->p < s->end && *s->p == '/' ? '/' : '-';
    return sign(s, between) && digits(s, 2, month) && sign(s, between) && digits(s, 2, day);
}

/* "Jan" or "January" is the first month. */
static bool month_name(scan *s, int *month)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    if (s->end - s->p < 3) return false;
    for (*month = 1; *month <= 12; ++*month) {
        const char *name = names[*month - 1];
        const size_t length = strlen(name), left = (size_t)(s->end - s->p);
        if (strncasecmp(s->p, name, 3) != 0) continue;
        s->p += left >= length && strncasecmp(s->p, name, length) == 0 ? length : 3;
        return true;
    }
    return false;
}

/* 31-Jan-2024, 31 Jan 2024, Jan 31, 2024, January 31 2024. */
static bool month_in_words(scan *s, int *year, int *month, int *day)
{
    const char *from = s->p;
    if (one_or_two(s, day) && (sign(s, '-') || sign(s, ' ')) && month_name(s, month) &&
        (sign(s, '-') || sign(s, ' ')) && digits(s, 4, year))
        return true;
    s->p = from;
    if (!month_name(s, month) || !sign(s, ' ') || !one_or_two(s, day)) return false;
    const bool comma = sign(s, ',');
    return (sign(s, ' ') || comma) && digits(s, 4, year);
}

bool sk_is_short_year(const char *text, size_t length)
{
    scan s = {text, text + length};
    int number[3], year;
    const bool found = one_or_two(&s, &number[0]) && s.p < s.end && strchr("./-", *s.p);
    if (!found) return false;
    const char between = *s.p++, *from = s.p;
    bool month = one_or_two(&s, &number[1]);
    if (!month) {
        s.p = from;
        month = between == '-' && month_name(&s, &number[1]);
    }
    return month && sign(&s, between) && digits(&s, 2, &year) && (s.p == s.end || *s.p == ' ');
}

/* A month or a quarter with its year, and nothing behind: 2024-01, Jan 2024, 2024-Q1, 2024 Q1. */
static bool month_alone(scan *s, int *year, int *month)
{
    const char *from = s->p;
    if (month_name(s, month) && (sign(s, ' ') || sign(s, '-')) && digits(s, 4, year) && s->p == s->end) return true;
    s->p = from;
    if (!digits(s, 4, year)) return false;
    const bool line = sign(s, '-'), blank = !line && sign(s, ' ');
    if (line && digits(s, 2, month)) return s->p == s->end;
    s->p = from + 4 + (line || blank);
    if ((!sign(s, 'Q') && !sign(s, 'q')) || !digits(s, 1, month) || *month < 1 || *month > 4) return false;
    *month = 3 * *month - 2;
    return s->p == s->end;
}

/* 20240131: of these days, so that few numbers are taken for dates. */
static bool day_joined(scan *s, int *year, int *month, int *day)
{
    return digits(s, 4, year) && digits(s, 2, month) && digits(s, 2, day) && s->p == s->end && *year >= 1700 &&
           *year < 2200;
}

static bool whole_day(scan *s, sk_day_order order, int *year, int *month, int *day)
{
    const char *from = s->p;
    *day = 1;
    if (month_alone(s, year, month)) return true;
    s->p = from;
    if (order == SK_DAYS_JOINED && day_joined(s, year, month, day)) return true;
    s->p = from;
    if (month_in_words(s, year, month, day)) return true;
    s->p = from;
    return year_first(s, year, month, day);
}

static bool read_day(scan *s, sk_day_order order, double *seconds)
{
    int year, month, day, number[2];
    const char *from = s->p;
    if (!whole_day(s, order, &year, &month, &day)) {
        s->p = from;
        bool found = year_last(s, '.', number, &year);
        if (found) order = SK_DAY_FIRST;
        if (!found) s->p = from;
        if (!found && (order == SK_DAYS_UNKNOWN || order == SK_DAYS_JOINED || !year_last(s, '/', number, &year)))
            return false;
        day = number[order == SK_MONTH_FIRST];
        month = number[order != SK_MONTH_FIRST];
    }
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) return false;
    *seconds = 86400.0 * (double)day_number(year, month, day);
    return true;
}

static bool read_fraction(scan *s, double *seconds)
{
    double weight = 0.1;
    int digit;
    if (!digits(s, 1, &digit)) return false;
    do {
        *seconds += weight * digit;
        weight /= 10;
    } while (digits(s, 1, &digit));
    return true;
}

/* "AM" or "PM" behind a clock of twelve hours, or nothing. */
static bool read_half(scan *s, int *hour)
{
    const char *from = s->p;
    if (s->p < s->end && *s->p == ' ') s->p++;
    const bool before = s->end - s->p >= 2 && strncasecmp(s->p, "am", 2) == 0;
    if (!before && !(s->end - s->p >= 2 && strncasecmp(s->p, "pm", 2) == 0)) {
        s->p = from;
        return true;
    }
    s->p += 2;
    if (*hour < 1 || *hour > 12) return false;
    *hour = *hour % 12 + (before ? 0 : 12);
    return true;
}

/* HH:MM, HH:MM:SS, HH:MM:SS.fff, 09:30 PM */
static bool read_clock(scan *s, double *seconds)
{
    int hour, minute, second = 0;
    if (!one_or_two(s, &hour) || !sign(s, ':') || !digits(s, 2, &minute)) return false;
    if (sign(s, ':')) {
        if (!digits(s, 2, &second)) return false;
        if ((sign(s, '.') || sign(s, ',')) && !read_fraction(s, seconds)) return false;
    }
    if (!read_half(s, &hour)) return false;
    *seconds += 3600.0 * hour + 60.0 * minute + second;
    return hour < 24 && minute < 60 && second < 60;
}

/* Z, +01, +0100 or +01:00: the clock shows so much more than UTC. */
static bool read_zone(scan *s, double *seconds)
{
    int hour, minute = 0;
    if (sign(s, 'Z')) return true;
    const double ahead = sign(s, '+') ? 1 : -1;
    if (ahead < 0 && !sign(s, '-')) return false;
    if (!digits(s, 2, &hour)) return false;
    if (s->p < s->end && (sign(s, ':'), !digits(s, 2, &minute))) return false;
    *seconds -= ahead * (3600.0 * hour + 60.0 * minute);
    return hour < 24 && minute < 60;
}

bool sk_parse_date(const char *text, size_t length, sk_day_order order, double *seconds)
{
    scan s = {text, text + length};
    if (!read_day(&s, order, seconds)) return false;
    if (s.p == s.end) return true;
    if (!sign(&s, 'T') && !sign(&s, ' ')) return false;
    if (!read_clock(&s, seconds)) return false;
    if (s.p < s.end && !read_zone(&s, seconds)) return false;
    return s.p == s.end;
}

/* ---- Writing ---- */

void sk_format_date(double seconds, char text[SK_DATE_ROOM])
{
    const double whole = floor(seconds / 86400);
    const long day = (long)whole + days_before(1970);
    long year = 1 + (long)((double)day / 365.2425), rest;
    while (days_before(year) > day) year--;
    while (days_before(year + 1) <= day) year++;
    rest = day - days_before(year);
    int month = 1;
    while (rest >= month_days((int)year, month)) rest -= month_days((int)year, month++);
    int used = snprintf(text, SK_DATE_ROOM, "%04ld-%02d-%02ld", year, month, rest + 1);
    const long second = lrint(seconds - 86400 * whole);
    if (second > 0 && second < 86400)
        snprintf(text + used, SK_DATE_ROOM - (size_t)used, "T%02ld:%02ld:%02ld", second / 3600, second / 60 % 60,
                 second % 60);
}

/* ---- Clocks ---- */

/* Minutes since midnight of hours and minutes in one number; -1: it is none. */
static double minutes_of(double time)
{
    if (!(time >= 0) || time != floor(time) || time >= 2400 || fmod(time, 100) >= 60) return -1;
    return 60 * floor(time / 100) + fmod(time, 100);
}

sock_status sk_times_are_clock(sock_context *ctx, const sock_data *data, bool *clock)
{
    size_t steps = 0, leaps = 0, regular = 0;
    *clock = false;
    for (size_t i = 0; i < data->points; i++)
        if (minutes_of(data->t[i]) < 0) return SOCK_OK;
    double *minutes = data->unit ? NULL : sk_doubles_unset(ctx, data->points, 2);
    if (!minutes) return data->unit ? SOCK_OK : SOCK_ENOMEM;
    double *sorted = minutes + data->points;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, steps++) {
            minutes[steps] = sorted[steps] = minutes_of(data->t[i + 1]) - minutes_of(data->t[i]);
            leaps += data->t[i + 1] - data->t[i] != minutes[steps] && fmod(data->t[i], 100) > 0;
        }
    const double median = steps ? sk_select(steps, sorted, steps / 2) : 0;
    for (size_t s = 0; s < steps; s++) regular += minutes[s] == median;
    *clock = sk_reads_clock(leaps, regular, steps);
    sk_free(minutes);
    return SOCK_OK;
}

/* ---- Units ---- */

double sk_unit_seconds(const char *unit)
{
    for (size_t i = 0; unit && i < UNITS; i++)
        if (strcmp(units[i].name, unit) == 0) return units[i].seconds;
    return 0;
}

/* Seconds of a time, from the first to the last day that a date can name. */
static bool in_calendar(const char *unit, double time, double *seconds)
{
    *seconds = sk_unit_seconds(unit) * time;
    return unit && *seconds > 86400.0 * (double)day_number(1, 1, 1) &&
           *seconds < 86400.0 * (double)day_number(9999, 12, 31);
}

bool sk_times_are_dates(const char *unit, size_t count, const double *time)
{
    const double rounding = 1e-4;
    bool dates = unit && *unit;
    for (size_t i = 0; dates && i < count; i++) {
        double seconds;
        dates = in_calendar(unit, time[i], &seconds) && fabs(seconds - floor(seconds + 0.5)) < rounding;
    }
    return dates;
}

void sk_time_text(const char *unit, double time, char text[SK_DATE_ROOM])
{
    double seconds;
    if (in_calendar(unit, time, &seconds))
        sk_format_date(floor(seconds + 0.5), text);
    else
        snprintf(text, SK_DATE_ROOM, "%.6g", time);
}

typedef struct stamp {
    size_t label;
    double t;
} stamp;

static int earlier(const void *a, const void *b)
{
    const stamp *p = a, *q = b;
    if (p->label != q->label) return p->label < q->label ? -1 : 1;
    return (p->t > q->t) - (p->t < q->t);
}

/* The median of the steps of all trajectories, whatever the order of the rows; 0 where there are none. */
static sock_status median_step(sock_context *ctx, const sk_rows *rows, double *median)
{
    double *step = sk_doubles(ctx, rows->count, 1);
    stamp *stamps = sk_alloc(ctx, rows->count, sizeof *stamps);
    size_t used = 0, count = 0;
    bool sorted = true;
    if (!step || !stamps) {
        sk_free(step);
        sk_free(stamps);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (isnan(rows->t[i])) continue;
        stamps[count++] = (stamp){rows->label[i], rows->t[i]};
        sorted = sorted && (count < 2 || earlier(stamps + count - 2, stamps + count - 1) <= 0);
    }
    if (!sorted) qsort(stamps, count, sizeof *stamps, earlier);
    for (size_t i = 1; i < count; i++)
        if (stamps[i].label == stamps[i - 1].label && stamps[i].t > stamps[i - 1].t)
            step[used++] = stamps[i].t - stamps[i - 1].t;
    sk_free(stamps);
    *median = used ? sk_select(used, step, used / 2) : 0;
    sk_free(step);
    return SOCK_OK;
}

static bool is_guessed(const char *unit) { return strcmp(unit, "week") != 0; }

sock_status sk_rows_unit(sock_context *ctx, const sock_options *opts, sk_rows *rows)
{
    const char *wanted = sk_option_text(opts, "time-unit");
    double step;
    SK_TRY(median_step(ctx, rows, &step));
    rows->unit = units[0].name;
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(wanted, "auto") == 0 ? is_guessed(units[i].name) && units[i].seconds <= step
                                        : strcmp(wanted, units[i].name) == 0)
            rows->unit = units[i].name;
    const double seconds = sk_unit_seconds(rows->unit);
    for (size_t i = 0; i < rows->count; i++) rows->t[i] /= seconds;
    return SOCK_OK;
}

sock_status sock_data_set_time_unit(sock_context *ctx, sock_data *data, const char *unit)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !unit) return sk_fail(ctx, SOCK_EUSAGE, "data and unit must not be NULL");
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(units[i].name, unit) == 0) {
            data->unit = units[i].name;
            return SOCK_OK;
        }
    return sk_fail(ctx, SOCK_EUSAGE, "the unit is '%s'; allowed: second, minute, hour, day, week or year", unit);
}
