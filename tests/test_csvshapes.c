/* test_csvshapes.c - files as other programs write them: separators, decimal commas, dates, names of columns, columns
 * that are no states. */
#include "csvtexts.h"
#include "data/csvcells.h"
#include "data/dates.h"

#include <math.h>

static const double two_times[] = {0, 0.5}, two_values[] = {1.25, -2e3};

/* The same table, times 0 and 0.5, x 1.25 and -2000. */
static void same_table(const char *text)
{
    sock_data *data = good(text, NULL);
    assert_int_equal(data->d, 1);
    assert_int_equal(data->points, 2);
    assert_string_equal(data->state[0], "x");
    for (size_t i = 0; i < 2; i++) {
        assert_true(data->t[i] == two_times[i]);
        assert_true(data->x[i] == two_values[i]);
    }
    sock_data_free(data);
}

static void test_csvshapes__separators_and_decimal_signs(void **state)
{
    (void)state;
    same_table("t,x\n0,1.25\n0.5,-2e3\n");
    same_table("t;x\n0;1.25\n0.5;-2e3\n");
    same_table("t;x\n0;1,25\n0,5;-2e3\n");
    same_table("\"t\";\"x\"\r\n\"0\";\"1,25\"\r\n\"0,5\";\"-2e3\"\r\n");
    same_table("t\tx\n0\t1.25\n0.5\t-2e3\n");
    same_table("t\tx\n0\t1,25\n0,5\t-2e3\n");
    same_table("\xef\xbb\xbf"
               "t;x;\n0;1,25;\n0,5;-2e3;\n");
    same_table("\xef\xbb\xbf\xef\xbb\xbf"
               "t,x\n0,1.25\n0.5,-2e3\n"); /* as Excel saves what began with one */
    same_table("t;x;note, with commas\n0;1,25;a,b\n0,5;-2e3;c\n");
    same_table("t,x,\"a;b;c\"\n0,1.25,;\n0.5,-2e3,;;\n");
    same_table("sep=;\r\nt;x\r\n0;1,25\r\n0,5;-2e3\r\n"); /* as Excel writes it */
    same_table("\xef\xbb\xbfsep=,\nt,x\n0,1.25,,\n0.5,-2e3,\n,\n,,,\n");
    same_table("id,t,x\na,0,1.25\na,0.5,-2e3\n,,\n ,\t,\n");
    refused("t,x\n0,1,,2\n", NULL, SOCK_EINPUT, "line 2 has 4 cells|2 columns");
}

static void test_csvshapes__the_separator_is_what_both_lines_agree_on(void **state)
{
    (void)state;
    const struct {
        const char *text;
        char separator;
    } each[] = {{"t,x\n1,2\n", ','},
                {"t;x\n1,5;2,5\n", ';'},
                {"t\tx\n1\t2\n", '\t'},
                {"a;b,c\n1,2\n", ','},
                {"t;x\n1;2;3\n", ','},
                {"t\n1\n", ','},
                {"", ','},
                {"\"a;b\",c\n1,2\n", ','},
                {"a;b;c\n1;2;3", ';'}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const sk_cursor at = {.p = each[i].text, .line = 1};
        assert_int_equal(sk_csv_separator(&at), each[i].separator);
    }
}

static void test_csvshapes__two_decimal_signs_are_refused(void **state)
{
    (void)state;
    refused("t;x\n0;1,25\n0.5;2\n", NULL, SOCK_EINPUT, "line 3|'t'|'0.5'|decimal commas");
    refused("t;x\n0;1.25\n0,5;2\n", NULL, SOCK_EINPUT, "line 3|'t'|'0,5'|decimal points");
    refused("t;x\n0;1.234,5\n1;2\n", NULL, SOCK_EINPUT, "no state column");
    refused("t;x\n0;1,5\n1;1,234,5\n", NULL, SOCK_EINPUT, "line 3|'1,234,5'|not a number");
}

static void test_csvshapes__times_by_name(void **state)
{
    (void)state;
    const char *const names[] = {"Time", "TIME", "T",       "Date",  "day",    "Year",     "timestamp", "Hours",
                                 "age",  "Age",  "elapsed", "times", "time_s", "Time (h)", "time [ms]", "time.days"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s,x\n0,1.25\n0.5,-2e3\n", names[i]);
        same_table(text);
    }
    sock_data *data = good("T,t,day,x\n9,0,7,1\n8,1,8,2\n", NULL); /* t itself comes first; the others are states */
    assert_string_equal(data->time, "t");
    assert_int_equal(data->d, 3);
    sock_data_free(data);
    data = good("age,day,time to fail,x\n3,0,5,1\n9,1,7,2\n", NULL); /* age where nothing else is */
    assert_string_equal(data->time, "day");
    assert_int_equal(data->d, 3);
    sock_data_free(data);
    refused("Month,Day,x\n1,2,3\n", NULL, SOCK_EINPUT,
            "'Month' and 'Day'|choose with --time NAME|one column, like 2024-01-31");
    refused("time_s,time.h,x\n1,2,3\n", NULL, SOCK_EINPUT, "'time_s' and 'time.h'|choose with --time NAME");
    refused("time to fail,x\n1,2\n", NULL, SOCK_EINPUT, "no time column");
    data = good("ID,t,x\na,0,1\nb,0,2\n", NULL);
    assert_int_equal(data->trajectories, 2);
    sock_data_free(data);
}

/* ---- Dates ---- */

static double date(const char *text)
{
    double seconds = (double)NAN;
    return sk_parse_date(text, strlen(text), SK_DAYS_UNKNOWN, &seconds) ? seconds : (double)NAN;
}

static void test_csvshapes__dates_are_seconds_since_1970(void **state)
{
    (void)state;
    assert_true(date("1970-01-01") == 0);
    assert_true(date("1970-01-02") == 86400);
    assert_true(date("1969-12-31") == -86400);
    assert_true(date("2000-03-01") - date("2000-02-28") == 2 * 86400); /* a leap year */
    assert_true(date("1900-03-01") - date("1900-02-28") == 86400);     /* none */
    assert_true(date("2024-01-31T12:30:00Z") == 1706704200);           /* by another clock */
    assert_true(date("2024/01/31 12:30") == 1706704200);
    assert_true(date("2024-01-31T14:30:00+02:00") == 1706704200);
    assert_true(date("2024-01-31T07:00:00-0530") == 1706704200);
    assert_true(date("31.01.2024 12:30") == 1706704200); /* as Germans write */
    assert_true(date("1.2.2024") == date("2024-02-01"));
    assert_true(date("1.2.2024 8:05") == date("2024-02-01T08:05"));
    assert_true(fabs(date("2024-01-31 12:30:00.250") - 1706704200.25) < 1e-6);
    assert_true(date("31-Jan-2024") == date("2024-01-31") && date("5 sep 2024") == date("2024-09-05"));
    assert_true(date("Jan 31, 2024 12:30") == 1706704200 && date("January 31 2024") == date("2024-01-31"));
    assert_true(date("2024-01-31 12:30 PM") == 1706704200 && date("2024-01-31 12:30pm+00") == 1706704200);
    assert_true(date("31.01.2024 12:05:30 AM") == date("2024-01-31T00:05:30"));
    assert_true(date("2024-01-31 9:00 AM") == date("2024-01-31T09:00"));
    assert_true(date("2024-01-31 11:59 PM") == date("2024-01-31T23:59"));
    const char *const none[] = {"2023-02-29", "2024-13-01",  "2024-00-10",
                                "2024-1-1",   "31.01.24",    "2024-01-31T25:00",
                                "31.13.2024", "1/2/2020",    "32.1.2024",
                                "2024",       "2024-01-31x", "2024-01/31",
                                "",           "2024-01-31T", "2024-01-31T12:30:00+2",
                                "12:30",      "20240131",    "2024-13",
                                "2024-1",     "2024-Q5",     "2024 13",
                                "2024-01 ",   "Jan 24",      "Ja 2024",
                                "2024/01",    "2024--Q1",    "2024 Q",
                                "31-Jan-24",  "32-Jan-2024", "31 Feb 2024",
                                "Jan 31,24",  "31Jan2024",   "2024-01-31 13:00 PM",
                                "Jan 2024,",  "12:30 PM",    "2024-01-31 0:30 AM",
                                "31-Ja-2024", "9:00 AM",     "2024-01-31 9:00 XM"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_true(isnan(date(none[i])));
}

static void test_csvshapes__dates_are_written_as_they_are_read(void **state)
{
    (void)state;
    char text[SK_DATE_ROOM];
    for (double day = -200000; day < 200000; day += 97) { /* 1422 to 2517 */
        sk_format_date(86400 * day, text);
        assert_true(date(text) == 86400 * day);
        sk_format_date(86400 * day + 3723, text);
        assert_true(date(text) == 86400 * day + 3723);
    }
}

static void test_csvshapes__times_are_told_as_dates(void **state)
{
    (void)state;
    char text[SK_DATE_ROOM];
    const struct {
        const char *unit, *said;
        double time;
    } cases[] = {{"day", "2024-01-31", 19753},
                 {"day", "2024-01-31T12:30:00", 19753 + 12.5 / 24},
                 {"hour", "1969-12-31T23:00:00", -1},
                 {"year", "1971-01-01T06:00:00", 1},
                 {NULL, "19753", 19753},
                 {"day", "1e+09", 1e9},
                 {"year", "-3000", -3000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_time_text(cases[i].unit, cases[i].time, text);
        assert_string_equal(text, cases[i].said);
    }
}

static void unit_of(const char *text, const option *options, const char *unit, double step)
{
    sock_data *data = good(text, options);
    assert_string_equal(data->unit, unit);
    assert_true(fabs(data->t[1] - data->t[0] - step) < 1e-9);
    sock_data_free(data);
}

static void test_csvshapes__months_and_quarters_are_their_first_days(void **state)
{
    (void)state;
    assert_true(date("2024-02") == date("2024-02-01"));
    assert_true(date("Feb 2024") == date("2024-02-01") && date("DEC-1999") == date("1999-12-01"));
    assert_true(date("2024-Q1") == date("2024-01-01") && date("2024 Q3") == date("2024-07-01"));
    assert_true(date("2024q4") == date("2024-10-01"));
    unit_of("time,x\n2024-01,1\n2024-02,2\n2024-03,1\n", NULL, "day", 31);
}

/* 20240131 is a date where all times are such days, and a number otherwise. */
static void test_csvshapes__days_in_one_number(void **state)
{
    (void)state;
    const char *days = "Datum,x\n20240131,1\n20240201,2\n20240202,1\n";
    unit_of(days, (const option[]){{"time", "Datum"}, {0}}, "day", 1);
    const char *const numbers[] = {"t,x\n20240131,1\n20240133,2\n", "t,x\n20240131,1\n20240131.5,2\n",
                                   "t,x\n20240131,1\n202402010,2\n", "t,x\n16991231,1\n17000101,2\n",
                                   "t,x\n20240131,1\n2e7,2\n"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sock_data *data = good(numbers[i], NULL);
        assert_null(data->unit);
        assert_true(data->t[0] > 1e7);
        sock_data_free(data);
    }
    refused("t,x\n2024-01-30,1\n20240131,2\n", NULL, SOCK_EINPUT, "line 3|'20240131'");
}

static void test_csvshapes__the_unit_follows_from_the_spacing(void **state)
{
    (void)state;
    const char *daily = "date,x\n2024-01-30,1\n2024-01-31,2\n2024-02-01,1\n2024-02-05,3\n";
    unit_of(daily, NULL, "day", 1);
    unit_of(daily, (const option[]){{"time-unit", "hour"}, {0}}, "hour", 24);
    unit_of("date,x\n2024-02-05,3\n2024-02-01,1\n2024-01-31,2\n2024-01-30,1\n", NULL, "day", 1); /* newest first */
    unit_of("id,date,x\na,2024-01-30,1\nb,2024-01-30,2\na,2024-01-31,1\nb,2024-01-31,3\n", NULL, "day", 1); /* by day */
    unit_of("date,x\n2024-01-30T05:00,1\n2024-01-30T01:00,2\n2024-01-30T04:00,1\n2024-01-30T02:00,3\n", NULL, "hour",
            1);
    unit_of(daily, (const option[]){{"time-unit", "week"}, {0}}, "week", 1.0 / 7);
    unit_of("Date;x\n2024-01-30 00:00;1,5\n2024-01-30 00:10;2\n2024-01-30 00:20;1\n", NULL, "minute", 10);
    unit_of("year,x\n2001-01-01,1\n2003-01-01,2\n2005-01-01,1\n", NULL, "year", 730 / 365.25);
    sock_data *data = good(daily, NULL);
    assert_true(fabs(data->t[0] - 19752) < 1e-9); /* days since 1970-01-01 */
    sock_data_free(data);
    data = good("t,x\n0,1\n1,2\n", (const option[]){{"time-unit", "hour"}, {0}});
    assert_null(data->unit); /* numbers stay what they are */
    sock_data_free(data);
    refused("date,x\n2024-01-30,1\n45321,2\n", NULL, SOCK_EINPUT, "line 3|'date'|'45321'|no date");
    refused(
        "date,x\n30.01.24,1\n", NULL, SOCK_EINPUT,
        "line 2|'date'|'30.01.24'|neither a number nor a date like 2024-01-31|31.01.2024|year of two digits: write");
    refused("date,x\n1/31/24,1\n", NULL, SOCK_EINPUT, "'1/31/24'|a year of two digits: write four");
    refused("date,x\n31-Jan-24 12:30,1\n", NULL, SOCK_EINPUT, "a year of two digits: write four");
    refused("when;x\n31.01.24;1,5\n", NULL, SOCK_EINPUT, "'when' holds dates with years of two digits|--time when");
    refused("when;x\n2024-01-30;1,5\n", NULL, SOCK_EINPUT, "no time column|'when' holds dates|--time when");
}

/* 1/2/2020 may be either; a number above 12 anywhere in the column tells. */
static void test_csvshapes__dates_with_slashes(void **state)
{
    (void)state;
    sock_data *data = good("date,x\n1/2/2020,1\n2/2/2020,2\n13/2/2020,1\n", NULL);
    assert_true(fabs(86400 * data->t[0] - date("2020-02-01")) < 1e-3);
    assert_true(fabs(data->t[2] - data->t[0] - 12) < 1e-9);
    sock_data_free(data);
    data = good("date,x\n1/2/2020 0:30,1\n1/13/2020 0:30,2\n2/1/2020 0:30,1\n", NULL);
    assert_true(fabs(86400 * data->t[0] - date("2020-01-02T00:30")) < 1e-3);
    assert_true(fabs(data->t[2] - data->t[0] - 30) < 1e-9);
    sock_data_free(data);
    refused("date,x\n1/2/2020,1\n2/2/2020,2\n", NULL, SOCK_EINPUT, "'1/2/2020'|day or the month in front|2024-01-31");
    refused("date,x\n1/22/2020,1\n22/2/2020,2\n", NULL, SOCK_EINPUT, "'1/22/2020'|some have the day in front");
    refused("date,x\n1/22/2020,1\n1/32/2020,2\n", NULL, SOCK_EINPUT, "line 3|'1/32/2020'|no date");
}

/* 0 and 1: an event or a treatment, through which no diffusion goes. */
static void test_csvshapes__switches_are_no_states(void **state)
{
    (void)state;
    const char *text = "t,x,on\n0,1,0\n1,2,0\n2,1,1\n3,4,1\n4,1,1\n5,2,0\n";
    const char *why;
    sock_data *data = good(text, NULL);
    assert_int_equal(sock_data_dim(data), 1);
    assert_string_equal(sock_data_left_out(data, 0, &why), "on");
    assert_non_null(strstr(why, "0 and 1 alone (--input takes it as an input"));
    sock_data_free(data);
    data = good(text, (const option[]){{"state", "x,on"}, {0}}); /* who names it gets it */
    assert_int_equal(sock_data_dim(data), 2);
    sock_data_free(data);
    data = good("t,x,on\n0,1,0\n1,2,0\n2,1,1\n3,4,1\n4,1,2\n5,2,0\n", NULL);
    assert_int_equal(sock_data_dim(data), 2); /* 0, 1, 2 may be counts */
    sock_data_free(data);
    data = good("t,on\n0,0\n1,0\n2,1\n3,1\n4,1\n5,0\n", NULL); /* all there is */
    assert_int_equal(sock_data_dim(data), 1);
    sock_data_free(data);
}

/* TRUE and FALSE are 1 and 0 in a column that begins so, as states and as inputs; among numbers they are text. */
static void test_csvshapes__true_and_false_are_one_and_nought(void **state)
{
    (void)state;
    const char *text = "t,x,on\n0,1,NA\n1,2,FALSE\n2,1,true\n3,4,True\n4,1,FALSE\n5,2,TRUE\n6,3,false\n", *why;
    sock_data *data = good(text, NULL);
    assert_int_equal(sock_data_dim(data), 1);
    assert_string_equal(sock_data_left_out(data, 0, &why), "on");
    assert_non_null(strstr(why, "0 and 1 alone (--input takes it as an input"));
    sock_data_free(data);
    const double on[] = {0, 1, 1, 0, 1, 0};
    data = good(text, (const option[]){{"input", "on"}, {0}});
    for (size_t i = 0; i < 6; i++) assert_true(data->u[i] == on[i]);
    sock_data_free(data);
    data = good(text, (const option[]){{"state", "on"}, {0}});
    for (size_t i = 0; i < 6; i++) assert_true(data->x[i] == on[i]);
    sock_data_free(data);
    refused("t,x\n0,1.5\n1,TRUE\n2,1\n", NULL, SOCK_EINPUT, "line 3|'x'|'TRUE' is not a number");
    refused("t,x,on\n0,1,TRUE\n1,2,maybe\n2,1,TRUE\n", NULL, SOCK_EINPUT, "line 3|'on'|'maybe' is not a number");
}

/* What devices and programs write above the header. */
static void test_csvshapes__a_header_below_other_lines_is_named(void **state)
{
    (void)state;
    refused("Station,Hill\nSerial,17\n\nt,x\n0,1\n", NULL, SOCK_EINPUT, "line 4 looks like the header|tail -n +4");
    refused("Export of logger\nDate;x\n2024-01-30;1,5\n", NULL, SOCK_EINPUT, "line 2 looks like the header");
    refused("\"a\",\"b\"\n\"1\",2\n\"2\",3\n", NULL, SOCK_EINPUT,
            "no time column|--dt 1"); /* quotes of another separator */
    refused("\"a\",\"b\"\n\"1\",2\n\"2,3\n", NULL, SOCK_EINPUT, "no time column|--dt 1");
    refused("a,b\n1,2\n2,day\n", NULL, SOCK_EINPUT, "no time column|--dt 1|none for this program");
    refused("time,status,x\n5,1,2\n5,2,4\n5,1,2\n6,1,3\n", NULL, SOCK_EINPUT,
            "have the same time ('time')|--time names another time|one row a subject is none for this program");
    refused("a,b\n1,2\nthe day,after\n", NULL, SOCK_EINPUT, "no time column|--dt 1");
}

static void test_csvshapes__counters_are_no_states(void **state)
{
    (void)state;
    char text[400] = "id,t,x,visit\n", row[64];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++) {
            snprintf(row, sizeof row, "%d,%d,%d,%d\n", j, i * i + j, (3 * i + j) % 5, i + 1);
            strcat(text, row);
        }
    const char *why;
    sock_data *data = good(text, NULL);
    assert_int_equal(sock_data_dim(data), 1);
    assert_string_equal(sock_data_left_out(data, 0, &why), "visit");
    assert_string_equal(why, "it numbers the points of each trajectory");
    sock_data_free(data);
    strcat(text, "2,99,1,6\n"); /* one visit is left out: it may count something */
    data = good(text, NULL);
    assert_int_equal(sock_data_dim(data), 2);
    sock_data_free(data);
}

/* As tables with an index of dates are written. */
static void test_csvshapes__an_index_of_dates_is_the_time(void **state)
{
    (void)state;
    sock_data *data = good(",x\n2024-01-30,1\n2024-01-31,2\n2024-02-01,1\n", NULL);
    assert_string_equal(data->unit, "day");
    assert_int_equal(sock_data_dim(data), 1);
    sock_data_free(data);
    data = good(",date,x\n2024-01-30,5,1\n2024-01-31,6,2\n2024-02-01,8,1\n", NULL); /* a name comes first */
    assert_string_equal(data->time, "date");
    sock_data_free(data);
}

static void test_csvshapes__parts_of_a_date_are_told(void **state)
{
    (void)state;
    refused("id,day,test,value\n1,0,hdl,3\n1,0,ldl,5\n1,1,hdl,4\n1,1,ldl,6\n2,0,hdl,3\n2,0,ldl,5\n", NULL, SOCK_EINPUT,
            "lines 2 and 3 are of one 'id'|'test' tells them apart|give each a column of its own|--id id,test takes "
            "the two");
    refused("year,quarter,x\n2000,1,3\n2000,2,4\n2000,3,3\n2000,4,5\n2001,1,3\n2001,2,4\n2001,3,3\n2001,4,5\n", NULL,
            SOCK_EINPUT, "same 'year'|'quarter' another|make one column of them|--id quarter");
    refused("id,t,x,y\na,0,1,\na,1,,2\nb,0,,2\nb,1,1,\n", NULL, SOCK_EINPUT,
            "no point is left|: 2 in x, 2 in y|--state names");
}

static void left_out(const char *text, const char *name, const char *reason)
{
    sock_data *data = good(text, NULL);
    assert_int_equal(data->ignored_count, 1);
    assert_string_equal(data->ignored[0].name, name);
    assert_non_null(strstr(data->ignored[0].why, reason));
    assert_string_equal(data->state[0], "x");
    sock_data_free(data);
}

/* Two columns, one of which alone does not tell: a dog and its side. */
static void test_csvshapes__a_name_in_several_columns(void **state)
{
    (void)state;
    const char *const text = "dog,side,t,x\n1,L,0,1\n1,L,1,2\n1,R,0,3\n1,R,1,4\n2,L,0,5\n2,L,1,7\n2,R,0,6\n2,R,1,8\n";
    refused(text, NULL, SOCK_EINPUT, "lines 2 and 4|'dog' and 'side' together tell them apart: try --id dog,side");
    sock_data *data = good(text, (const option[]){{"id", "side,dog"}, {0}});
    assert_int_equal(sock_data_trajectories(data), 4);
    assert_int_equal(sock_data_dim(data), 1);
    assert_string_equal(sock_data_id(data, 1), "R/1");
    assert_true(data->x[4] == 5 && data->x[7] == 8);
    sock_data_free(data);
    data = good("\"a,b\",t,x\n1,0,1\n1,1,2\n2,0,3\n2,1,4\n", (const option[]){{"id", "a,b"}, {0}}); /* one name */
    assert_int_equal(sock_data_trajectories(data), 2);
    sock_data_free(data);
    refused(text, (const option[]){{"id", "dog,sid"}, {0}}, SOCK_EUSAGE, "id is 'sid'|did you mean side");
    refused(text, (const option[]){{"id", "dog,dog"}, {0}}, SOCK_EUSAGE, "id names the column 'dog' twice");
    refused("a,b,c,d,e,t,x\n1,1,1,1,1,0,1\n", (const option[]){{"id", "a,b,c,d,e"}, {0}}, SOCK_EUSAGE,
            "id names 5 columns; allowed: at most 4");
    refused("dog,side,t,x\n1,L,0,1\n1,,1,2\n", (const option[]){{"id", "dog,side"}, {0}}, SOCK_EINPUT,
            "line 3, column 'side': the trajectory's id is empty");
    refused("dog,side,t,x\n1,L,0,1\n1,L,0,2\n", (const option[]){{"id", "dog,side"}, {0}}, SOCK_EINPUT,
            "lines 2 and 3: trajectory '1/L' has two points at the same time 0");
}

/* Rows at equal steps without a column for the time; a missing value leaves a gap. */
static void test_csvshapes__steps_without_a_time(void **state)
{
    (void)state;
    const option half[] = {{"dt", "0.5"}, {0}}, both[] = {{"dt", "0.5"}, {"id", "who"}, {0}};
    refused("x,y\n1,5\n2,7\n", NULL, SOCK_EINPUT, "no time column|--dt 1 takes the step");
    sock_data *data = good("x,y\n1,5\n2,7\nNA,1\n4,8\n", half);
    assert_int_equal(sock_data_dim(data), 2);
    assert_int_equal(data->points, 3);
    assert_true(data->t[0] == 0 && data->t[1] == 0.5 && data->t[2] == 1.5);
    assert_string_equal(data->time, "t");
    sock_data_free(data);
    data = good("who,x\na,1\nb,2\na,3\nb,5\nb,4\n", both); /* each counts its own */
    assert_true(data->t[0] == 0 && data->t[1] == 0.5 && data->t[2] == 0 && data->t[4] == 1 && data->x[4] == 4);
    sock_data_free(data);
    data = good("t,x\n0,1\n3,2\n", half); /* a time that is there is taken */
    assert_true(data->t[1] == 3);
    sock_data_free(data);
}

/* Names of rows, which R and pandas write into a column: rows at uneven times, so it is no clock. */
static void test_csvshapes__numbers_of_rows_are_no_states(void **state)
{
    (void)state;
    left_out("n,id,t,x\n1,a,0,5\n2,a,1,3\n3,a,4,4\n4,b,0,4\n5,b,3,1\n", "n", "numbers the rows");
    left_out("Unnamed: 0,id,t,x\n7,a,0,5\n8,a,1,3\n3,a,4,4\n9,b,0,4\n5,b,3,1\n", "Unnamed: 0", "no name");
    const char *const states[] = {"n,id,t,x\n1,a,0,5\n2,a,1,3\n3,a,4,4\n4,b,0,4\n6,b,3,1\n",
                                  "Unnamed: x,id,t,x\n7,a,0,5\n8,a,1,3\n3,a,4,4\n9,b,0,4\n5,b,3,1\n"};
    for (size_t i = 0; i < 2; i++) {
        sock_data *data = good(states[i], NULL);
        assert_int_equal(sock_data_dim(data), 2);
        sock_data_free(data);
    }
    sock_data *data = good("t,n\n0,1\n1,2\n3,3\n7,4\n", NULL); /* all there is */
    assert_int_equal(sock_data_dim(data), 1);
    sock_data_free(data);
}

/* Where a point stood in its file, sorted or not, and in parts of the data. */
static void test_csvshapes__points_know_their_lines(void **state)
{
    (void)state;
    sock_data *data = good("id,t,x\nb,1,1\na,2,2\n\na,1,NA\na,0,3\nb,0,4\n", NULL), *rest, *held;
    const size_t *b = sock_data_lines(data, 0), *a = sock_data_lines(data, 1);
    assert_true(b[0] == 7 && b[1] == 2 && a[0] == 6 && a[1] == 3);
    assert_null(sock_data_lines(data, 2));
    assert_null(sock_data_lines(NULL, 0));
    assert_int_equal(sock_data_split(ctx, data, 2, 0, 0, &rest, &held), SOCK_OK);
    const size_t *one = sock_data_lines(rest, 0), *other = sock_data_lines(held, 0);
    assert_int_equal(one[0] + one[1] + other[0] + other[1], 18);
    sock_data_free(rest);
    sock_data_free(held);
    sock_data_free(data);
    const double t[] = {0, 1}, x[] = {0, 1};
    const size_t length = 2;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_null(sock_data_lines(data, 0)); /* of no file */
    sock_data_free(data);
}

/* ---- Columns ---- */

static void test_csvshapes__constant_columns_are_no_states(void **state)
{
    (void)state;
    const char *text = "id,t,x,dose,unit\na,0,1,5,9\na,1,2,5,9\nb,0,1,7,9\nb,1,4,7,9\n";
    sock_data *data = good(text, NULL);
    assert_int_equal(data->d, 1);
    assert_true(data->x[1] == 2 && data->x[3] == 4);
    assert_int_equal(data->ignored_count, 2);
    assert_string_equal(data->ignored[0].name, "dose");
    assert_non_null(strstr(data->ignored[0].why, "within each trajectory"));
    assert_string_equal(data->ignored[1].name, "unit");
    assert_non_null(strstr(data->ignored[1].why, "never"));
    assert_int_equal(data->groups, 2); /* other doses are no realisations of one start */
    sock_data_free(data);
    data = good(text, (const option[]){{"input", "dose"}, {0}});
    assert_int_equal(data->d, 1);
    assert_int_equal(data->inputs, 1);
    assert_true(data->u[0] == 5 && data->u[3] == 7);
    sock_data_free(data);
    data = good(text, (const option[]){{"state", "x,dose"}, {0}}); /* what is asked for is taken */
    assert_int_equal(data->d, 2);
    sock_data_free(data);
    data = good("t,x,y\n0,1,2\n1,1,2\n", NULL); /* there is nothing else */
    assert_int_equal(data->d, 2);
    sock_data_free(data);
}

/* Realisations share start, times and whatever else is said of them; a column that differs in some does not part those
 * that agree in it, whatever stands between them. */
static void test_csvshapes__realisations_agree_in_what_is_constant(void **state)
{
    (void)state;
    const char *text =
        "id,t,x,dose,site\na,0,1,5,1\na,1,2,5,1\nb,0,1,7,1\nb,1,4,7,1\nc,0,1,5,1\nc,1,3,5,1\nd,0,1,5,2\nd,1,3,5,2\n"
        "e,0,1,NA,1\ne,1,3,NA,1\nf,0,1,NA,1\nf,1,2,NA,1\ng,0,2,5,1\ng,1,2,5,1\n";
    sock_data *data = good(text, NULL);
    assert_int_equal(data->d, 1);
    assert_int_equal(data->trajectories, 7);
    assert_int_equal(data->groups, 5); /* those without a dose agree, too */
    assert_true(data->group_first[1] == 2 && data->member[0] == 0 && data->member[1] == 2);
    sock_data_free(data);
    data = good(text, (const option[]){{"state", "x"}, {0}}); /* nothing but x was asked for */
    assert_int_equal(data->groups, 2);
    sock_data_free(data);
    data = good(text, (const option[]){{"grouping", "none"}, {0}});
    assert_int_equal(data->groups, data->trajectories);
    sock_data_free(data);
}

static void test_csvshapes__clocks_and_copies_are_no_states(void **state)
{
    (void)state;
    left_out("n,t,x\n1,0,5\n2,1,3\n3,2,4\n4,3,4\n", "n", "time alone");
    left_out("id,t,ms,x\na,0,100,5\na,0.1,200,3\na,0.3,400,4\nb,0,7,4\nb,0.25,257,1\n", "ms", "time alone");
    left_out("t,x,y\n0,5,5\n1,NA,NA\n2,4,4\n3,7,7\n", "y", "copy");
    const char *const states[] = {"t,n,x\n0,1,5\n1,2,3\n2,3,4\n3,5,4\n", /* not quite a clock */
                                  "t,y,x\n0,5,5\n1,3,3\n2,4,4\n3,7,7.5\n",
                                  "t,n,x\n0,1,5\n1,2,3\n2,3,4\n"}; /* three points make no clock */
    for (size_t i = 0; i < 3; i++) {
        sock_data *data = good(states[i], NULL);
        assert_int_equal(data->d, 2);
        sock_data_free(data);
    }
}

static void test_csvshapes__a_column_that_tells_trajectories_apart_is_named(void **state)
{
    (void)state;
    refused("t,n,who,x\n0,1,ann,1\n1,2,ann,2\n0,3,bob,3\n1,4,bob,4\n", NULL, SOCK_EINPUT, "lines 2 and 4|try --id who");
    refused("t,x\n0,1\n1,2\n0,3\n1,4\n", NULL, SOCK_EINPUT,
            "lines 2 and 4|same time ('t')|no column is named as the trajectory's id|--time names another");
}

static void test_csvshapes__times_that_begin_anew_are_not_sorted_into_one(void **state)
{
    (void)state;
    const char *const text = "day,t,x\n346,840,1\n346,850,2\n346,2350,3\n347,0,4\n347,10,5\n";
    const option day[] = {{"id", "day"}, {0}}, none[] = {{"id", "none"}, {0}};
    refused(text, NULL, SOCK_EINPUT, "f.csv: line 5: the time begins anew where 'day' changes|--id day|--id none");
    sock_data *data = good(text, day);
    assert_int_equal(data->trajectories, 2);
    sock_data_free(data);
    data = good(text, none);
    assert_int_equal(data->trajectories, 1);
    assert_int_equal(data->unsorted, 2);
    sock_data_free(data);
    refused("who,t,x\n\"a\",2024-01-05,1\na,2024-01-06,2\nb,2024-01-01,3\nb,2024-01-02,4\n", NULL, SOCK_EINPUT,
            "line 4: the time begins anew where 'who' changes");
    const char *const one[] = {"k,t,x\n1,0,1\n1,1,2\n2,3,3\n2,2,4\n2,4,5\n",  /* k changes elsewhere */
                               "k,t,x\n1,3,1\n1,4,2\n2,1,3\n2,2,4\n1,0,5\n",  /* a value comes back */
                               "k,t,x\n5,4,1\n4,3,2\n3,2,3\n2,1,4\n1,0,5\n"}; /* the file runs backwards */
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) sock_data_free(good(one[i], NULL));
}

static void test_csvshapes__missing_values_are_counted_by_column(void **state)
{
    (void)state;
    sock_data *data = good("t,x,u,y\n0,1,3,\n1,,NA,2\nNA,1,4,2\n3,2,5,3\n", (const option[]){{"input", "u"}, {0}});
    const size_t expected[] = {1, 1, 1, 1}; /* t, x, y, u */
    assert_int_equal(data->missing, 3);
    for (size_t k = 0; k < 4; k++) assert_int_equal(data->missing_in[k], expected[k]);
    sock_data_free(data);
}

static void test_csvshapes__the_unit_of_arrays_can_be_said(void **state)
{
    (void)state;
    sock_data *data = good("t,x\n0,1\n1,2\n", NULL);
    char *json = NULL;
    assert_int_equal(sock_data_set_time_unit(ctx, data, "day"), SOCK_OK);
    assert_int_equal(sock_data_summary(ctx, data, &json), SOCK_OK);
    assert_non_null(strstr(json, "\"time_unit\": \"day\""));
    sock_string_free(json);
    assert_int_equal(sock_data_set_time_unit(ctx, data, "moon"), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "'moon'; allowed: second, minute, hour, day, week or year"));
    assert_int_equal(sock_data_set_time_unit(ctx, NULL, "day"), SOCK_EUSAGE);
    sock_data_free(data);
}

static void test_csvshapes__rows_out_of_order_are_counted(void **state)
{
    (void)state;
    sock_data *data = good("id,t,x\na,0,1\na,2,3\nb,5,1\na,1,2\nb,4,0\nb,6,1\n", NULL);
    assert_int_equal(data->unsorted, 2);
    assert_int_equal(data->unsorted_at, 5);
    assert_true(data->x[1] == 2 && data->x[2] == 3);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csvshapes__separators_and_decimal_signs),
        cmocka_unit_test(test_csvshapes__the_separator_is_what_both_lines_agree_on),
        cmocka_unit_test(test_csvshapes__two_decimal_signs_are_refused),
        cmocka_unit_test(test_csvshapes__times_by_name),
        cmocka_unit_test(test_csvshapes__dates_are_seconds_since_1970),
        cmocka_unit_test(test_csvshapes__dates_are_written_as_they_are_read),
        cmocka_unit_test(test_csvshapes__months_and_quarters_are_their_first_days),
        cmocka_unit_test(test_csvshapes__days_in_one_number),
        cmocka_unit_test(test_csvshapes__the_unit_follows_from_the_spacing),
        cmocka_unit_test(test_csvshapes__dates_with_slashes),
        cmocka_unit_test(test_csvshapes__times_are_told_as_dates),
        cmocka_unit_test(test_csvshapes__switches_are_no_states),
        cmocka_unit_test(test_csvshapes__points_know_their_lines),
        cmocka_unit_test(test_csvshapes__true_and_false_are_one_and_nought),
        cmocka_unit_test(test_csvshapes__a_header_below_other_lines_is_named),
        cmocka_unit_test(test_csvshapes__counters_are_no_states),
        cmocka_unit_test(test_csvshapes__an_index_of_dates_is_the_time),
        cmocka_unit_test(test_csvshapes__parts_of_a_date_are_told),
        cmocka_unit_test(test_csvshapes__a_name_in_several_columns),
        cmocka_unit_test(test_csvshapes__steps_without_a_time),
        cmocka_unit_test(test_csvshapes__numbers_of_rows_are_no_states),
        cmocka_unit_test(test_csvshapes__constant_columns_are_no_states),
        cmocka_unit_test(test_csvshapes__realisations_agree_in_what_is_constant),
        cmocka_unit_test(test_csvshapes__clocks_and_copies_are_no_states),
        cmocka_unit_test(test_csvshapes__a_column_that_tells_trajectories_apart_is_named),
        cmocka_unit_test(test_csvshapes__times_that_begin_anew_are_not_sorted_into_one),
        cmocka_unit_test(test_csvshapes__missing_values_are_counted_by_column),
        cmocka_unit_test(test_csvshapes__the_unit_of_arrays_can_be_said),
        cmocka_unit_test(test_csvshapes__rows_out_of_order_are_counted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
