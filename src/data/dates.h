/* dates.h - dates and times of day as numbers. */
#ifndef SK_DATES_H
#define SK_DATES_H

#include "base/options.h"
#include "data.h"

/* What 1/2/2020 means: nothing, for all that one can know, unless other dates of its column tell. */
typedef enum sk_day_order {
    SK_DAYS_UNKNOWN,
    SK_DAY_FIRST,
    SK_MONTH_FIRST,
    SK_DAYS_JOINED /* and 20240131 is a date, no number */
} sk_day_order;

/* Seconds since 1970-01-01 UTC of a date: by ISO 8601, 2024-01-31 or 2024/01/31, or as written in German, 31.1.2024,
 * in words, 31-Jan-2024 or Jan 31, 2024, or, where the order is known, 31/1/2024 or 1/31/2024. With or without a time,
 * 2024-01-31T12:30, 31.01.2024 12:30:05.25 or 2024-01-31 12:30 PM, and with or without a zone, Z or +01:00 (none: UTC).
 * A month, 2024-01 or Jan 2024, and a quarter, 2024-Q1 or 2024 Q1, are their first day. False: it is none, or there is
 * no such day. */
bool sk_parse_date(const char *text, size_t length, sk_day_order order, double *seconds);

/* Whether the text begins like 1/2/2020, and its two numbers before the year. */
bool sk_slashed_date(const char *text, size_t length, int number[2]);

/* Whether the text begins like a date whose year has two digits, 31.01.24, 1/31/24, 31-Jan-24: none, since nobody knows
 * the century, nor which of them is the year. */
bool sk_is_short_year(const char *text, size_t length);

enum { SK_DATE_ROOM = 40 };

/* The other way: the date, with the time of day where that is not midnight. */
void sk_format_date(double seconds, char text[SK_DATE_ROOM]);

/* A time in a unit of the option time-unit as a date; without one, or beyond the calendar, as a number. */
void sk_time_text(const char *unit, double time, char text[SK_DATE_ROOM]);

/* Whether all of them are whole seconds of the calendar, to a ten thousandth: times that were dates are then written as
 * these. */
bool sk_times_are_dates(const char *unit, size_t count, const double *time);

/* Whether times without a unit look like those of a clock, hours and minutes in one number: 950, 959, 1000, which is
 * no step of 41. */
sock_status sk_times_are_clock(sock_context *ctx, const sock_data *data, bool *clock);

/* Seconds in a unit of the option time-unit; 0 for none. */
double sk_unit_seconds(const char *unit);

/* Times of rows that are dates, in seconds, become times in the unit of the option time-unit; auto: the largest of
 * second, minute, hour, day and year that the median step is not shorter than. Sets rows->unit. */
sock_status sk_rows_unit(sock_context *ctx, const sock_options *opts, sk_rows *rows);

#endif
