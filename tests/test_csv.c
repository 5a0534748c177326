/* test_csv.c - CSV texts: what is read, what is dropped and counted, what is refused and how it is said. */
#define _GNU_SOURCE
#include "csvtexts.h"

#include <jansson.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(const sock_data *data, size_t trajectories, size_t points, const double *t, const double *x)
{
    assert_int_equal(data->trajectories, trajectories);
    assert_int_equal(data->points, points);
    for (size_t i = 0; i < points; i++) assert_true(data->t[i] == t[i]);
    for (size_t i = 0; i < points * data->d; i++) assert_true(data->x[i] == x[i]);
}

/* Two trajectories in every spelling of line ends and quotes that is allowed. */
static void test_csv__spellings_of_the_same_table(void **state)
{
    (void)state;
    const char *const texts[] = {
        "id,t,x,y\na,0,1,2\na,1,3,4\nb,0,5,6\nb,2,7,8\n",
        "id,t,x,y\na,0,1,2\na,1,3,4\nb,0,5,6\nb,2,7,8",
        "id,t,x,y\r\na,0,1,2\r\na,1,3,4\r\nb,0,5,6\r\nb,2,7,8\r\n",
        "id,t,x,y\ra,0,1,2\ra,1,3,4\rb,0,5,6\rb,2,7,8",
        "\xef\xbb\xbfid,t,x,y\na,0,1,2\na,1,3,4\nb,0,5,6\nb,2,7,8\n",
        "\n\n  \nid,t,x,y\n\na,0,1,2\n\r\na,1,3,4\n \t \nb,0,5,6\nb,2,7,8\n\n\n",
        "\"id\",\"t\",\"x\",\"y\"\n\"a\",\"0\",\"1\",\"2\"\n\"a\",1,3,4\n\"b\",0,5,6\n\"b\",2,7,8\n",
        "id, t ,x,\ty\na, 0, 1, 2\na ,1 , +3 ,4.0\n\"b\" ,0,5e0, .6e1 \n b,2,7.,0.8E+1\n",
        "id,t,x,y\na,0,\"1 \",\" 2\"\na,1,\" 3 \",4\nb,0,5,6\nb,2,7,8\n",
        "y,x,t,id\n2,1,0,a\n4,3,1,a\n6,5,0,b\n8,7,2,b\n",
        "id,t,x,y\nb,2,7,8\na,1,3,4\na,0,1,2\nb,0,5,6\n",
        "traj,time,x,y\na,0,1,2\na,1,3,4\nb,0,5,6\nb,2,7,8\n",
        "trajectory,t,x,y\na,0,1,2\na,1,3,4\nb,0,5,6\nb,2,7,8\n",
        "id,t,x,y,note\na,0,1,2,\"one, two\"\na,1,3,4,\"say \"\"hi\"\"\"\nb,0,5,6,\"two\nlines\"\nb,2,7,8,\n",
    };
    const double t[] = {0, 1, 0, 2}, x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sock_data *data = good(texts[i], (const option[]){{"state", "x,y"}, {0}});
        bool b_first = data->id[0][0] == 'b'; /* trajectories stand in order of first appearance */
        const double tb[] = {0, 2, 0, 1}, xb[] = {5, 6, 7, 8, 1, 2, 3, 4};
        expect(data, 2, 4, b_first ? tb : t, b_first ? xb : x);
        assert_string_equal(data->id[b_first], "a");
        assert_string_equal(data->id[!b_first], "b");
        assert_string_equal(sock_data_name(data, 0), "x");
        assert_string_equal(sock_data_name(data, 1), "y");
        assert_int_equal(data->rows_read, 4);
        sock_data_free(data);
    }
}

static void test_csv__ids_and_names_keep_their_quotes_commas_and_lines(void **state)
{
    (void)state;
    sock_data *data =
        good("id,t,\"x, \"\"left\"\"\",two words\n\"a,1\",0,1,2\n\"a,1\",1,1,2\n\"b\"\"\nc\",0,3,4\n", NULL);
    assert_int_equal(data->trajectories, 2);
    assert_string_equal(data->id[0], "a,1");
    assert_string_equal(data->id[1], "b\"\nc");
    assert_string_equal(data->state[0], "x, \"left\"");
    assert_string_equal(data->state[1], "two words");
    assert_int_equal(data->single, 1);
    sock_data_free(data);
    data = good("id,t,\"x, left\",two words\na,0,1,2\na,1,3,4\n",
                (const option[]){{"state", "two words,\"x, left\""}, {0}});
    assert_string_equal(data->state[0], "two words");
    assert_true(data->x[0] == 2 && data->x[1] == 1);
    sock_data_free(data);
}

/* Doubled quotes count once, in a quoted cell only: these are two ids. */
static void test_csv__escaped_and_plain_ids_differ(void **state)
{
    (void)state;
    sock_data *data = good("id,t,x\n\"a\"\"\"\"b\",0,1\na\"\"\"\"b,0,2\n", NULL);
    assert_int_equal(data->trajectories, 2);
    assert_string_equal(data->id[0], "a\"\"b");
    sock_data_free(data);
}

static void test_csv__no_id_is_one_trajectory(void **state)
{
    (void)state;
    sock_data *data = good("t,x\n0,1\n2,3\n1,2\n", NULL);
    expect(data, 1, 3, (const double[]){0, 1, 2}, (const double[]){1, 2, 3});
    assert_int_equal(sock_data_intervals(data), 2);
    sock_data_free(data);
    data = good("id,t,x\n1,0,1\n2,2,3\n3,1,2\n", (const option[]){{"id", "none"}, {0}});
    expect(data, 1, 3, (const double[]){0, 1, 2}, (const double[]){1, 2, 3});
    assert_int_equal(data->ignored_count, 1);
    assert_string_equal(data->ignored[0].name, "id");
    sock_data_free(data);
}

static void test_csv__options_choose_columns(void **state)
{
    (void)state;
    const char *text = "run,clock,a,b,c\nr,0,1,2,3\nr,1,4,5,6\ns,0,7,8,9\n";
    sock_data *data =
        good(text, (const option[]){{"id", "run"}, {"time", "clock"}, {"state", "c, a"}, {"grouping", "none"}, {0}});
    expect(data, 2, 3, (const double[]){0, 1, 0}, (const double[]){3, 1, 6, 4, 9, 7});
    assert_string_equal(data->time, "clock");
    assert_int_equal(data->ignored_count, 1);
    assert_string_equal(data->ignored[0].name, "b");
    sock_data_free(data);
    /* a usual name that an option uses for something else is not taken twice */
    data = good("id,t,x\n5,0,1\n6,1,2\n", (const option[]){{"state", "id,x"}, {0}});
    expect(data, 1, 2, (const double[]){0, 1}, (const double[]){5, 1, 6, 2});
    sock_data_free(data);
    data = good("t,time,x\n5,0,1\n6,1,2\n", (const option[]){{"time", "time"}, {0}});
    expect(data, 1, 2, (const double[]){0, 1}, (const double[]){5, 1, 6, 2});
    sock_data_free(data);
    data = good("id,t,x\n5,0,1\n6,1,2\n", (const option[]){{"state", "id,x"}, {"id", "none"}, {0}});
    expect(data, 1, 2, (const double[]){0, 1}, (const double[]){5, 1, 6, 2});
    assert_int_equal(data->ignored_count, 0);
    sock_data_free(data);
}

static void test_csv__options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const char *text = "id,t,x,y\na,0,1,2\n";
    refused(text, (const option[]){{"id", "run"}, {0}}, SOCK_EUSAGE, "f.csv|id is 'run'|id, t, x, y");
    refused(text, (const option[]){{"time", "s"}, {0}}, SOCK_EUSAGE, "time is 's'|id, t, x, y");
    refused(text, (const option[]){{"group", "g"}, {0}}, SOCK_EUSAGE, "group is 'g'|id, t, x, y");
    refused(text, (const option[]){{"state", "x,z"}, {0}}, SOCK_EUSAGE, "state is 'z'|id, t, x, y");
    refused(text, (const option[]){{"state", "x,"}, {0}}, SOCK_EUSAGE, "state is ''");
    refused(text, (const option[]){{"state", "x,x"}, {0}}, SOCK_EUSAGE, "'x'|twice");
    refused(text, (const option[]){{"state", "x,t"}, {"time", "t"}, {0}}, SOCK_EUSAGE, "'t'|both time and state");
    refused(text, (const option[]){{"state", "x,t"}, {0}}, SOCK_EUSAGE,
            "'t'|both state and time|another one with --time");
    refused(text, (const option[]){{"state", "\"x"}, {0}}, SOCK_EUSAGE, "state|quote");
    refused(text, (const option[]){{"state", "x\ny"}, {0}}, SOCK_EUSAGE, "state is 'x\ny'|column names with commas");
    refused(text, (const option[]){{"id", "t"}, {"time", "t"}, {0}}, SOCK_EUSAGE, "f.csv|'t'|both time and id");
    refused(text, (const option[]){{"group", "id"}, {"id", "id"}, {0}}, SOCK_EUSAGE, "'id'|both id and group");
    refused(text, (const option[]){{"group", "y"}, {"state", "x,y"}, {0}}, SOCK_EUSAGE, "'y'|both group and state");
    const char *unnamed = "id,t,,x\na,0,1,2\n";
    refused(unnamed, (const option[]){{"time", "(column 3)"}, {0}}, SOCK_EUSAGE,
            "f.csv|time is '(column 3)'|no name in the header");
    refused(unnamed, (const option[]){{"state", "x,(column 3)"}, {0}}, SOCK_EUSAGE, "state is '(column 3)'|no name");
}

/* A message names the columns that there are, as many as fit whole. */
static void test_csv__long_lists_of_columns_are_cut(void **state)
{
    (void)state;
    char text[4000], *p = text;
    for (int k = 0; k < 100; k++) p += sprintf(p, "%scolumn%03d", k ? "," : "", k);
    strcpy(p, "\n1\n");
    refused(text, NULL, SOCK_EINPUT, "f.csv|no time column|column000, column001, |column035, ...");
    assert_null(strstr(sock_message(ctx), "column036"));
    memset(text, 'n', 1000);
    strcpy(text + 1000, ",x\n1,2\n");
    refused(text, NULL, SOCK_EINPUT, "no time column|are: ...");
    assert_null(strstr(sock_message(ctx), "nnn"));
}

static void test_csv__missing_values_drop_the_point_and_are_counted(void **state)
{
    (void)state;
    sock_data *data = good("id,t,x,y\n"
                           "a,0,1,2\na,1,,3\na,2,NA,3\na,3,nan,3\na,4,NaN,3\na,5,null,3\na,6,-nan,3\na,7,3,4\n"
                           "a,,9,9\na,NA,9,9\na, \t,9,9\na,8,\"\",1\na,9,\" \",1\na,10,+NaN,1\n"
                           "gone,0,na,1\ngone,1,1,NULL\n"
                           "one,0,1,1\none,1,,\n",
                           NULL);
    expect(data, 2, 3, (const double[]){0, 7, 0}, (const double[]){1, 2, 3, 4, 1, 1});
    assert_int_equal(data->rows_read, 18);
    assert_int_equal(data->missing, 15);
    assert_int_equal(data->empty, 1);
    assert_int_equal(data->single, 1);
    assert_int_equal(sock_data_intervals(data), 1);
    assert_string_equal(data->id[1], "one");
    sock_data_free(data);
    refused("t,x\n0,\n1,NA\n", (const option[]){{"state", "x"}, {0}}, SOCK_EINPUT, "f.csv|2 of 2|missing");
}

static void test_csv__columns_without_numbers_are_left_out_and_reported(void **state)
{
    (void)state;
    sock_data *data = good("t,who,x,empty,late,,words\n0,me,1,,,8,NA\n1,7,2,NA,,9,maybe\n2,me,3,,5,9,3\n", NULL);
    assert_int_equal(data->d, 2); /* late begins with two missing values, and is a state all the same */
    assert_string_equal(data->state[0], "x");
    assert_string_equal(data->state[1], "late");
    assert_int_equal(data->points, 1);
    assert_int_equal(data->missing, 2);
    assert_int_equal(data->ignored_count, 4);
    assert_string_equal(data->ignored[0].name, "who");
    assert_string_equal(data->ignored[1].name, "empty");
    assert_string_equal(data->ignored[2].name, "(column 6)");
    assert_string_equal(data->ignored[3].name, "words");
    assert_non_null(strstr(data->ignored[1].why, "no value"));
    sock_data_free(data);
}

static void test_csv__bad_cells_name_line_column_and_value(void **state)
{
    (void)state;
    refused("t,x\n0,1\n1,abc\n", NULL, SOCK_EINPUT, "f.csv|line 3|'x'|'abc'|not a number");
    refused("t,x\n0,1\n\n\"1\",2\nz,3\n", NULL, SOCK_EINPUT, "line 5|'t'|'z'");
    refused("t,x,n\n0,1,\"a\nb\"\n1,1x,\n", NULL, SOCK_EINPUT, "line 4|'x'|'1x'");
    refused("t,x\n0,inf\n", NULL, SOCK_EINPUT, "line 2|'x'|'inf'|finite");
    refused("t,x\n0,1\n1,-Infinity\n", NULL, SOCK_EINPUT, "line 3|'x'|'-Infinity'|finite");
    refused("t,x\n0,1\n1,1e999\n", NULL, SOCK_EINPUT, "line 3|'x'|'1e999'|finite");
    refused("t,x\nINF,1\n", NULL, SOCK_EINPUT, "line 2|'t'|'INF'|finite");
    refused("t,x\n0,1\n1,0x10\n", NULL, SOCK_EINPUT, "'0x10'|not a number");
    refused("t,x\n0,1\n1,+inf\n", NULL, SOCK_EINPUT, "line 3|'x'|'+inf'|finite");
    refused("t,x\n0,1\n1,\"-abc \"\n", NULL, SOCK_EINPUT, "line 3|'x'|'-abc '|not a number");
    refused("t,x\n0,1\n1,\"1,5\"\n", NULL, SOCK_EINPUT, "line 3|'x'|'1,5'");
    refused("t,x\n0,text\n", (const option[]){{"state", "x"}, {0}}, SOCK_EINPUT, "line 2|'x'|'text'");
    refused("id,t,x\na,0,1\n,1,2\n", NULL, SOCK_EINPUT, "line 3|'id'|id is empty");
    refused("id,t,x\na,0,1\n\"\",1,2\n", NULL, SOCK_EINPUT, "line 3|id is empty");
    refused("id,group,t,x\na,g,0,1\na,,1,2\n", NULL, SOCK_EINPUT, "line 3|group is empty");
}

static void test_csv__rows_of_a_wrong_length_are_refused(void **state)
{
    (void)state;
    refused("id,t,x\na,0,1\na,1\n", NULL, SOCK_EINPUT, "f.csv|line 3|2 cells|3 columns");
    refused("id,t,x\na,0,1\na\nb,0,1\n", NULL, SOCK_EINPUT, "line 3|1 cells|3 columns");
    refused("id,t,x\na,0,1,2,3\n", NULL, SOCK_EINPUT, "line 2|5 cells|3 columns");
    refused("id,t,x\na,0,1\na,1,2,,5\n", NULL, SOCK_EINPUT, "line 3|5 cells|3 columns");
    refused("id,t,x\n\"a\n\",0,1\na,1,2,3", NULL, SOCK_EINPUT, "line 4|4 cells|3 columns");
    /* the rest of a row that is too long may be broken itself */
    refused("id,t,x\na,0,1\na,1,2,\"open", (const option[]){{"state", "x"}, {0}}, SOCK_EINPUT, "line 3|never closed");
}

static void test_csv__broken_quotes_are_refused(void **state)
{
    (void)state;
    refused("id,t,x\n\"a,0,1\na,1,2\n", NULL, SOCK_EINPUT, "f.csv|line 2|never closed");
    refused("id,t,x\n\"a\"b,0,1\n", NULL, SOCK_EINPUT, "line 2|closing quote");
    refused("id,t,\"x\na,0,1", NULL, SOCK_EINPUT, "line 1|never closed");
    refused("t,x,note\n0,1,a\n1,2,\"open\n", NULL, SOCK_EINPUT, "line 3|never closed"); /* in a column left out */
}

static void test_csv__headers_that_say_too_little_are_refused(void **state)
{
    (void)state;
    refused("", NULL, SOCK_EINPUT, "f.csv|empty");
    refused("\xef\xbb\xbf", NULL, SOCK_EINPUT, "f.csv|empty");
    refused(" \n\n", NULL, SOCK_EINPUT, "f.csv|empty");
    refused("id,t,x\n", NULL, SOCK_EINPUT, "header and no rows");
    refused("id,t,x\n\n", (const option[]){{"state", "x"}, {0}}, SOCK_EINPUT, "header and no rows");
    refused("id,s,x\na,0,1\n", NULL, SOCK_EINPUT, "no time column|id, s, x");
    refused("when;x\n0,5;1,5\n1,5;2\n", NULL, SOCK_EINPUT,
            "no time column|--time|separated by semicolons, are: when, x");
    refused("t;x\n0;1;2\n", NULL, SOCK_EINPUT, "no time column|commas|t;x|semicolons");
    refused("t\tx\n0\t1\t2\n", NULL, SOCK_EINPUT, "no time column|tabs");
    refused("t x\n0 1\n", NULL, SOCK_EINPUT, "no time column|blanks");
    refused("0,1\n1,2\n", NULL, SOCK_EINPUT, "no time column|is there no header? Put one in front, like t,x");
    refused("0,1,5\n1,2,3\n", NULL, SOCK_EINPUT, "numbers alone|no header|--wide reads them so");
    refused("0,x\n1,2\n", NULL, SOCK_EINPUT, "no time column|--dt 1 takes the step");
    refused("t;Gr\xf6\xdf\x65\n0;1\n", NULL, SOCK_EINPUT, "column 2 is not valid UTF-8|iconv -f windows-1252");
    refused("# of a logger\nt,x\n0,1\n", NULL, SOCK_EINPUT, "no time column|line 2 looks like the header|tail -n +2");
    refused("t;x\n0;1;2\n", (const option[]){{"time", "t"}, {0}}, SOCK_EUSAGE, "time is 't'|semicolons");
    refused("id,t\na,0\n", NULL, SOCK_EINPUT, "no state column|id, t");
    refused("id,t,note\na,0,hello\n", NULL, SOCK_EINPUT, "no state column");
    refused("t,x,y\n0,NA,\n1,,nan\n", NULL, SOCK_EINPUT, "no column holds a value");
    refused("t,x,y\n0,1,2\n1,2,3\n", (const option[]){{"input", "x,y"}, {0}}, SOCK_EINPUT,
            "all columns of numbers are inputs");
    static const char *const cells[][2] = {{"<0.5", "beyond the limit"},
                                           {"> 9", "beyond the limit"},
                                           {"#DIV/0!", "spreadsheet"},
                                           {"35%", "leave the % out"},
                                           {"\xe2\x88\x92"
                                            "1.5",
                                            "U+2212"},
                                           {"12:30", "a clock time"}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (size_t row = 0; row < 2; row++) { /* of the first row, which makes it no state, and of a later one */
            char text[64];
            snprintf(text, sizeof text, "t,x\n0,%s\n1,%s\n", row ? "5" : cells[i][0], row ? cells[i][0] : "5");
            refused(text, NULL, SOCK_EINPUT, cells[i][1]);
        }
    refused("time,x\n12:10,1\n12:20,2\n", NULL, SOCK_EINPUT, "line 2, column 'time'|a clock time: with its day");
    refused("id,t,x,x\na,0,1,2\n", NULL, SOCK_EINPUT, "line 1|columns 3 and 4|'x'");
    refused("t,time,x\n0,0,1\n", NULL, SOCK_EINPUT, "'t' and 'time'|choose with --time NAME");
    refused("id,traj,t,x\n0,0,0,1\n", NULL, SOCK_EINPUT, "'id' and 'traj'|choose with --id NAME");
    refused("group,real,replicate,t,x\ng,0,0,0,1\n", NULL, SOCK_EINPUT, "'real' and 'replicate'|choose with --id NAME");
}

/* RFC 3629: the shortest form alone, no surrogates, nothing beyond U+10FFFF. */
static void test_csv__names_are_valid_utf8(void **state)
{
    (void)state;
    static const char *const valid[] = {"\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",     "\xed\x9f\xbf",
                                        "\xee\x80\x80",     "\xef\xbf\xbf",     "\xf0\x90\x80\x80", "\xf1\xbf\xbf\xbf",
                                        "\xf4\x8f\xbf\xbf", "\xcf\x83\xc2\xb2", "x\xe2\x82\x81"};
    static const char *const invalid[] = {"\x80",
                                          "\xbf",
                                          "\xc0\x80",
                                          "\xc1\xbf",
                                          "\xe0\x9f\xbf",
                                          "\xed\xa0\x80",
                                          "\xed\xbf\xbf",
                                          "\xf0\x8f\xbf\xbf",
                                          "\xf4\x90\x80\x80",
                                          "\xf5\x80\x80\x80",
                                          "\xff",
                                          "\xc2",
                                          "\xc2x",
                                          "\xe2\x82",
                                          "\xe2\x82x",
                                          "\xe2\x82\xc0",
                                          "\xf1\x80\x80",
                                          "\xf1\x80\x80\x7f",
                                          "\xf1\x80\x7f\x80",
                                          "\xe1\xc0\x80"};
    char text[64];
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        snprintf(text, sizeof text, "t,%s\n0,1\n", valid[i]);
        sock_data *data = good(text, NULL);
        assert_string_equal(data->state[0], valid[i]);
        sock_data_free(data);
    }
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        snprintf(text, sizeof text, "id,t,x%s\na,0,1\n", invalid[i]);
        refused(text, NULL, SOCK_EINPUT, "f.csv|line 1|column 3|UTF-8");
    }
}

static void test_csv__equal_times_name_both_lines(void **state)
{
    (void)state;
    refused("id,t,x\na,0,1\nb,0,1\na,0.5,2\nb,1,2\na,0,3\n", NULL, SOCK_EINPUT, "f.csv|lines 2 and 6|'a'|time 0");
    refused("id,t,x\na,0,1\na,-0.0,3\n", NULL, SOCK_EINPUT, "lines 2 and 3|'a'");
    sock_data_free(good("id,t,x\na,0,1\na,0,NA\na,1,2\n", NULL)); /* a dropped point does not count */
}

static void test_csv__group_column(void **state)
{
    (void)state;
    sock_data *data = good("id,group,t,x\na,g,0,1\na,g,1,2\nb,h,0,1\nb,h,1,2\nc,g,0,1\nc,g,1,5\n", NULL);
    assert_int_equal(data->groups, 2);
    assert_int_equal(sock_data_intervals(data), 2);
    assert_true(data->group_first[1] == 2 && data->group_first[2] == 3);
    assert_true(data->member[0] == 0 && data->member[1] == 2 && data->member[2] == 1);
    assert_int_equal(data->d, 1);
    sock_data_free(data);
    const char *text = "id,group,t,x\na,g,0,1\na,g,1,2\nc,g,0,7\nc,g,1,5\n";
    refused(text, NULL, SOCK_EINPUT, "f.csv|group 'g'|'a' and 'c'|start|'x' is 1 and 7");
    refused("id,group,t,x\na,g,0,1\na,g,1,2\nc,g,0,1\nc,g,1.5,5\n", NULL, SOCK_EINPUT,
            "group 'g'|'a' and 'c'|time 2: 1 and 1.5");
    refused("id,group,t,x\na,g,0,1\na,g,1,2\nc,g,0,1\nc,g,1,NA\n", NULL, SOCK_EINPUT,
            "group 'g'|2 and 1 points|missing");
    refused("id,group,t,x\na,g,0,1\na,h,1,2\n", NULL, SOCK_EINPUT, "'a'|'g' on line 2|'h' on line 3");
    data = good(text, (const option[]){{"grouping", "none"}, {0}});
    assert_int_equal(data->groups, 2);
    sock_data_free(data);
    data = good(text, (const option[]){{"group", "none"}, {0}});
    assert_int_equal(data->groups, 2);
    assert_int_equal(data->d, 1);
    sock_data_free(data);
    data = good("id,set,t,x\na,g,0,1\nb,g,0,1\n", (const option[]){{"group", "set"}, {0}});
    assert_int_equal(data->groups, 1);
    sock_data_free(data);
}

/* group,real,t,...: realisations are numbered within each group. */
static void test_csv__realisations_numbered_within_groups(void **state)
{
    (void)state;
    const char *const names[] = {"real", "realisation", "realization", "replicate"};
    for (size_t i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text, "group,%s,t,x\n0,0,0,1\n0,0,1,2\n0,1,0,1\n0,1,1,3\n1,0,0,9\n1,0,2,8\n", names[i]);
        sock_data *data = good(text, NULL);
        expect(data, 3, 6, (const double[]){0, 1, 0, 1, 0, 2}, (const double[]){1, 2, 1, 3, 9, 8});
        assert_int_equal(data->groups, 2);
        assert_string_equal(data->id[1], "0/1");
        assert_int_equal(data->d, 1);
        sock_data_free(data);
    }
    /* with an id column, or without a group column, real is a column like any other */
    sock_data *data = good("id,real,t,x\na,5,0,1\na,6,1,2\n", NULL);
    assert_int_equal(data->d, 2);
    sock_data_free(data);
    /* a group column alone: each group is one trajectory */
    data = good("group,t,x\ng,0,1\ng,1,2\nh,0,1\n", NULL);
    assert_int_equal(data->trajectories, 2);
    assert_string_equal(data->id[1], "h");
    sock_data_free(data);
    /* names that run together are refused rather than mixed up */
    refused("group,real,t,x\na,b/c,0,1\na/b,c,1,1\n", NULL, SOCK_EINPUT, "'a/b/c'|one group");
}

static void test_csv__default_groups_share_start_and_times(void **state)
{
    (void)state;
    const char *text = "id,t,x\na,0,1\na,1,2\nb,0,1\nb,2,2\nc,0,1\nc,1,5\nd,0,1.5\nd,1,2\ne,-0,1\ne,1,9\n";
    sock_data *data = good(text, NULL);
    assert_int_equal(data->groups, 3); /* {a, c, e}, {b}, {d} */
    assert_int_equal(data->group_first[1], 3);
    assert_true(data->member[0] == 0 && data->member[1] == 2 && data->member[2] == 4);
    assert_true(data->member[3] == 1 && data->member[4] == 3);
    sock_data_free(data);
    data = good(text, (const option[]){{"grouping", "none"}, {0}});
    assert_int_equal(data->groups, 5);
    sock_data_free(data);
}

static void test_csv__binary_files_are_named_so(void **state)
{
    (void)state;
    sock_data *data = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_csv_parse(ctx, "f.csv", "t,x\n0,1\n\0,2\n", 12, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "f.csv: line 3: a zero byte"));
    sk_begin(ctx);
    assert_int_equal(sk_csv_parse(ctx, "f.csv", "\x93NUMPY\1\0", 8, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), ".npy"));
    sk_begin(ctx);
    assert_int_equal(sk_csv_parse(ctx, "f.csv", "\0", 1, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "f.csv: line 1: a zero byte"));
    static const struct {
        const char *bytes, *said;
    } kinds[] = {{"PK\3\4\24\0", "xlsx|save the sheet as CSV"},
                 {"\xd0\xcf\x11\xe0\xa1\0", "xls|save"},
                 {"\xff\xfet\0,\0", "UTF-16 text|CSV UTF-8"},
                 {"\xfe\xff\0t\0,", "UTF-16 text|iconv"},
                 {"PAR1\25\0", "Parquet|polars"},
                 {"\x1f\x8b\b\0\0\0", "gunzip"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        sk_begin(ctx);
        assert_int_equal(sk_csv_parse(ctx, "f.csv", kinds[i].bytes, 6, NULL, &data), SOCK_EINPUT);
        message_holds(kinds[i].said);
    }
    assert_null(data);
}

/* ---- Files ---- */

static char folder[64];

static char *write_file(const char *name, const char *text)
{
    static char path[128];
    snprintf(folder, sizeof folder, "/tmp/test_csv_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void remove_file(const char *path)
{
    unlink(path);
    rmdir(folder);
}

static void test_csv__files_that_cannot_be_read(void **state)
{
    (void)state;
    sock_data *data = NULL;
    assert_int_equal(sock_data_read(ctx, "/nonexistent/a.csv", NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "/nonexistent/a.csv"));
    assert_int_equal(sock_data_read(ctx, "/", NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "a folder without x.npy"));
    assert_int_equal(sock_data_read(ctx, NULL, NULL, &data), SOCK_EUSAGE);
    assert_int_equal(sock_data_read(ctx, "a.csv", NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_data_read(ctx, "a", NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "a: "));
    assert_int_equal(sock_data_read(NULL, "a.csv", NULL, &data), SOCK_EUSAGE);
    const char *path = write_file("empty.csv", "");
    assert_int_equal(sock_data_read(ctx, path, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "empty"));
    remove_file(path);
    assert_null(data);
}

static void test_csv__a_dash_is_standard_input(void **state)
{
    (void)state;
    const char *path = write_file("in.csv", "t,x\n0,1\n1,2\n");
    sock_data *data = NULL;
    assert_non_null(freopen(path, "r", stdin));
    assert_int_equal(sock_data_read(ctx, "-", NULL, &data), SOCK_OK);
    assert_int_equal(data->points, 2);
    assert_string_equal(data->source, "-");
    sock_data_free(data);
    assert_non_null(freopen("/dev/null", "r", stdin));
    remove_file(path);
}

typedef struct attempt {
    const char *path;
    const sock_options *opts;
    size_t points;
} attempt;

static sock_status try_read(sock_context *context, void *arg)
{
    const attempt *a = arg;
    sock_data *data = NULL;
    sock_status status = sock_data_read(context, a->path, a->opts, &data);
    assert_true((status >= 0) == (data != NULL));
    if (data) assert_int_equal(data->points, a->points);
    sock_data_free(data);
    return status;
}

static void test_csv__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const char *path = write_file("a.csv", "group,real,t,x,note,\n\"g\"\"\",0,1,2,a,\ng,0,0,1,b,\ng,1,1,NA,c,\n"
                                           "\"g\"\"\",0,0.5,2,a,\n");
    attempt a = {path, NULL, 3};
    assert_true(for_each_allocation(ctx, try_read, &a) > 20);
    remove_file(path);
    /* names of states from an option, and a group too long for the room that ids have */
    char text[500];
    snprintf(text, sizeof text, "id,group,t,x\na,%0200d,0,1\na,%0200d,1,2\n", 7, 7);
    path = write_file("b.csv", text);
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "state", "x"), SOCK_OK);
    a = (attempt){path, opts, 2};
    assert_true(for_each_allocation(ctx, try_read, &a) > 20);
    sock_options_free(opts);
    remove_file(path);
}

/* A locale with a decimal comma: one that is installed, or one made on the spot. */
static bool use_comma_locale(char *place, size_t size)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    char command[256];
    snprintf(place, size, "/tmp/test_locale_XXXXXX");
    if (!mkdtemp(place)) return false;
    for (size_t i = 0; i < 4; i++)
        if (setlocale(LC_ALL, names[i])) return true;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", place);
    if (system(command) != 0) return false;
    setenv("LOCPATH", place, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void leave_comma_locale(const char *place)
{
    char command[256];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", place);
    assert_int_equal(system(command), 0);
}

static void test_csv__a_locale_with_a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    char place[64], text[512], *json = NULL;
    if (!use_comma_locale(place, sizeof place)) {
        leave_comma_locale(place);
        print_message("SKIPPED: no locale with a decimal comma can be had here\n");
        skip();
    }
    char decimal[8];
    snprintf(decimal, sizeof decimal, "%.1f", 0.5);
    assert_string_equal(decimal, "0,5");
    sock_data *data = good("t,x\n0.25,0.1\n1.5,1e-400\n2.5,0.12345678901234567890123\n", NULL);
    expect(data, 1, 3, (const double[]){0.25, 1.5, 2.5}, (const double[]){0.1, 0, 0.12345678901234567890123});
    const char *path = write_file("out.csv", "");
    assert_int_equal(sock_data_write(ctx, data, path), SOCK_OK);
    FILE *file = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    assert_string_equal(text, "traj,t,x\n0,0.25,0.1\n0,1.5,0\n0,2.5,0.12345678901234568\n");
    remove_file(path);
    assert_int_equal(sock_data_summary(ctx, data, &json), SOCK_OK);
    json_t *object = json_loads(json, 0, NULL);
    assert_true(json_real_value(json_object_get(json_object_get(object, "time_range"), "max")) == 2.5);
    json_decref(object);
    sock_string_free(json);
    sock_data_free(data);
    leave_comma_locale(place);
}

/* Any cutting and any single changed byte: an answer or a refusal with a message, never a fault. */
static void test_csv__damaged_texts_never_break_the_reader(void **state)
{
    (void)state;
    const char *text =
        "\xef\xbb\xbfgroup,id,t,\"x \"\"1\"\"\",y\r\ng,\"a,1\",0,1.5e-3,NA\r\ng,\"a,1\",1,2,3\n\nh,b,0,\"4\",inf\n";
    static const char bytes[] = "\",\n\r 0e.-x\xff\x01";
    size_t length = strlen(text);
    for (size_t i = 0; i <= length; i++)
        for (size_t k = 0; k <= sizeof bytes; k++) {
            char copy[256];
            sock_data *data = NULL;
            memcpy(copy, text, length + 1);
            if (k == sizeof bytes)
                copy[i] = 0;
            else if (i < length && bytes[k])
                copy[i] = bytes[k];
            sock_status status = parse_with(copy, NULL, &data);
            assert_true(status == SOCK_OK || (status == SOCK_EINPUT && sock_message(ctx)[0] && !data));
            sock_data_free(data);
        }
}

static void test_csv__many_columns_and_trajectories(void **state)
{
    (void)state;
    enum { COLUMNS = 300, TRAJECTORIES = 5000 };
    char *text = malloc(200000), *p = text;
    p += sprintf(p, "t");
    for (int k = 0; k < COLUMNS; k++) p += sprintf(p, ",c%d", k);
    p += sprintf(p, "\n0");
    for (int k = 0; k < COLUMNS; k++) p += sprintf(p, ",%d", k);
    sock_data *data = good(text, NULL);
    assert_int_equal(data->d, COLUMNS);
    for (int k = 0; k < COLUMNS; k++) assert_true(data->x[k] == k);
    sock_data_free(data);
    p = text + sprintf(text, "id,t,x\n");
    for (int i = 0; i < 2 * TRAJECTORIES; i++)
        p += sprintf(p, "n%d,%d,%d\n", i % TRAJECTORIES, i / TRAJECTORIES, i % TRAJECTORIES % 7);
    data = good(text, NULL);
    assert_int_equal(data->trajectories, TRAJECTORIES);
    assert_int_equal(data->groups, 7);
    for (int j = 0; j < TRAJECTORIES; j++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", j);
        assert_string_equal(data->id[j], name);
        assert_true(data->x[2 * j] == j % 7 && data->t[2 * j + 1] == 1);
    }
    sock_data_free(data);
    p = text + sprintf(text, "t,x\n"); /* rows of few bytes: more of them than the first ones led to expect */
    for (int i = 0; i < TRAJECTORIES; i++) p += sprintf(p, "%d,1\n", i);
    data = good(text, NULL);
    assert_int_equal(data->points, TRAJECTORIES);
    assert_true(data->t[TRAJECTORIES - 1] == TRAJECTORIES - 1);
    sock_data_free(data);
    free(text);
}

static int stop_at_once(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return 1;
}

static void test_csv__reading_can_be_cancelled(void **state)
{
    (void)state;
    sock_set_monitor(ctx, stop_at_once, NULL);
    refused("t,x\n0,1\n", NULL, SOCK_ECANCELLED, "interrupted");
    sock_set_monitor(ctx, NULL, NULL);
    sock_cancel_reset(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv__spellings_of_the_same_table),
        cmocka_unit_test(test_csv__ids_and_names_keep_their_quotes_commas_and_lines),
        cmocka_unit_test(test_csv__escaped_and_plain_ids_differ),
        cmocka_unit_test(test_csv__no_id_is_one_trajectory),
        cmocka_unit_test(test_csv__options_choose_columns),
        cmocka_unit_test(test_csv__options_that_do_not_fit_are_refused),
        cmocka_unit_test(test_csv__long_lists_of_columns_are_cut),
        cmocka_unit_test(test_csv__missing_values_drop_the_point_and_are_counted),
        cmocka_unit_test(test_csv__columns_without_numbers_are_left_out_and_reported),
        cmocka_unit_test(test_csv__bad_cells_name_line_column_and_value),
        cmocka_unit_test(test_csv__rows_of_a_wrong_length_are_refused),
        cmocka_unit_test(test_csv__broken_quotes_are_refused),
        cmocka_unit_test(test_csv__headers_that_say_too_little_are_refused),
        cmocka_unit_test(test_csv__names_are_valid_utf8),
        cmocka_unit_test(test_csv__equal_times_name_both_lines),
        cmocka_unit_test(test_csv__group_column),
        cmocka_unit_test(test_csv__realisations_numbered_within_groups),
        cmocka_unit_test(test_csv__default_groups_share_start_and_times),
        cmocka_unit_test(test_csv__binary_files_are_named_so),
        cmocka_unit_test(test_csv__files_that_cannot_be_read),
        cmocka_unit_test(test_csv__a_dash_is_standard_input),
        cmocka_unit_test(test_csv__every_failed_allocation_is_reported),
        cmocka_unit_test(test_csv__a_locale_with_a_decimal_comma_changes_nothing),
        cmocka_unit_test(test_csv__damaged_texts_never_break_the_reader),
        cmocka_unit_test(test_csv__many_columns_and_trajectories),
        cmocka_unit_test(test_csv__reading_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
