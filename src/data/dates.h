/* dates.h - dates and times of day as numbers. */
#ifndef SK_DATES_H
#define SK_DATES_H

#include "base/options.h"
#include "data.h"

/* Seconds since 1970-01-01 UTC of an ISO 8601 date, 2024-01-31, with or without a time, 2024-01-31T12:30 or
 * 2024-01-31 12:30:05.25, and with or without a zone, Z or +01:00 (none: UTC). Slashes in place of the hyphens are
 * taken. False: it is none, or there is no such day. */
bool sk_parse_date(const char *text, size_t length, double *seconds);

enum { SK_DATE_ROOM = 40 };

/* The other way: the date, with the time of day where that is not midnight. */
void sk_format_date(double seconds, char text[SK_DATE_ROOM]);

/* Seconds in a unit of the option time-unit; 0 for none. */
double sk_unit_seconds(const char *unit);

/* Times of rows that are dates, in seconds, become times in the unit of the option time-unit; auto: the largest of
 * second, minute, hour, day and year that the median step is not shorter than. Sets rows->unit. */
sock_status sk_rows_unit(sock_context *ctx, const sock_options *opts, sk_rows *rows);

#endif
