/* test_csvwide.c - wide form: rows or columns that are trajectories. The law: the same numbers in long form give the
 * same data. */
#include "csvtexts.h"

#include <math.h>

static const option wide[] = {{"wide", "yes"}, {0}};

/* The wide text and the long one hold the same points of the same trajectories. */
static void same_data(const char *text, const option *options, const char *long_text)
{
    sock_data *one = good(text, options), *other = good(long_text, (const option[]){{"grouping", "auto"}, {0}});
    assert_int_equal(one->d, other->d);
    assert_int_equal(one->trajectories, other->trajectories);
    assert_int_equal(one->points, other->points);
    for (size_t k = 0; k < one->d; k++) assert_string_equal(one->state[k], other->state[k]);
    for (size_t j = 0; j < one->trajectories; j++) {
        assert_string_equal(one->id[j], other->id[j]);
        assert_int_equal(one->first[j], other->first[j]);
    }
    for (size_t i = 0; i < one->points; i++) assert_true(fabs(one->t[i] - other->t[i]) < 1e-12);
    for (size_t i = 0; i < one->points * one->d; i++) assert_true(one->x[i] == other->x[i]);
    sock_data_free(one);
    sock_data_free(other);
}

static void test_csvwide__columns_are_trajectories(void **state)
{
    (void)state;
    same_data("t,a,b\n0,1,5\n1,2,6\n3,4,\n", wide, "id,t,x\na,0,1\na,1,2\na,3,4\nb,0,5\nb,1,6\n");
    same_data("day;p 1;p 2;note\n0;1,5;5;\n1;2;6,25;z\n", wide, "id,t,x\np 1,0,1.5\np 1,1,2\np 2,0,5\np 2,1,6.25\n");
    same_data("t,b,a\n0,1,5\n1,2,6\n", (const option[]){{"wide", "yes"}, {"state", "size"}, {0}},
              "id,t,size\nb,0,1\nb,1,2\na,0,5\na,1,6\n");
}

static void test_csvwide__columns_of_several_states(void **state)
{
    (void)state;
    const char *const text = "t,x_1,y_1,x_2,y_2\n0,1,2,3,4\n1,5,6,7,8\n";
    same_data(text, wide, "id,t,x,y\n1,0,1,2\n1,1,5,6\n2,0,3,4\n2,1,7,8\n");
    same_data(text, (const option[]){{"wide", "yes"}, {"state", "y"}, {0}}, "id,t,y\n1,0,2\n1,1,6\n2,0,4\n2,1,8\n");
    same_data("t,x1,x2,y1\n0,1,2,3\n1,5,6,7\n", wide, /* not the same numbers: six trajectories */
              "id,t,x\nx1,0,1\nx1,1,5\nx2,0,2\nx2,1,6\ny1,0,3\ny1,1,7\n");
}

/* Wells are no states, and one name that is no stem says so of any columns. */
static void test_csvwide__plates_are_trajectories(void **state)
{
    (void)state;
    const char *plate = "t,A1,A2,B1,B2\n0,1,2,3,4\n1,5,6,7,8\n";
    const char *wells = "id,t,x\nA1,0,1\nA1,1,5\nA2,0,2\nA2,1,6\nB1,0,3\nB1,1,7\nB2,0,4\nB2,1,8\n";
    same_data(plate, wide, wells);
    same_data(plate, (const option[]){{"wide", "yes"}, {"state", "od"}, {0}},
              "id,t,od\nA1,0,1\nA1,1,5\nA2,0,2\nA2,1,6\nB1,0,3\nB1,1,7\nB2,0,4\nB2,1,8\n");
    same_data("t,c_1,c_2,d_1,d_2\n0,1,2,3,4\n1,5,6,7,8\n", (const option[]){{"wide", "yes"}, {"state", "od"}, {0}},
              "id,t,od\nc_1,0,1\nc_1,1,5\nc_2,0,2\nc_2,1,6\nd_1,0,3\nd_1,1,7\nd_2,0,4\nd_2,1,8\n");
    same_data("t,X1,X2,Y1,Y2\n0,1,2,3,4\n1,5,6,7,8\n", wide, "id,t,X,Y\n1,0,1,3\n1,1,5,7\n2,0,2,4\n2,1,6,8\n");
}

static void test_csvwide__rows_are_trajectories(void **state)
{
    (void)state;
    const char *const long_text = "id,t,x\nu,0,1\nu,0.5,2\nu,2,4\nv,0,5\nv,2,6\n";
    same_data("id,0,0.5,2\nu,1,2,4\nv,5,NA,6\n", wide, long_text);
    same_data("Subject,t0,t0.5,t2\nu,1,2,4\nv,5,NA,6\n", wide, long_text); /* the first column of text is the name */
    same_data("0,2,0.5\n1,4,2\n5,6,\n", wide, "id,t,x\n1,0,1\n1,0.5,2\n1,2,4\n2,0,5\n2,2,6\n");
    same_data("dose,h.0,w.0,h.1,w.1\n9,1,2,3,4\n8,5,6,7,8\n", wide, "id,t,h,w\n1,0,1,2\n1,1,3,4\n2,0,5,6\n2,1,7,8\n");
    same_data("h.0,w.0,h.1,w.1\n1,2,3,4\n5,6,7,8\n", (const option[]){{"wide", "yes"}, {"state", "w,h"}, {0}},
              "id,t,w,h\n1,0,2,1\n1,1,4,3\n2,0,6,5\n2,1,8,7\n");
}

static void test_csvwide__dates_in_the_header(void **state)
{
    (void)state;
    sock_data *data = good("place,2024-01-01,2024-01-03,2024-01-04\nu,1,2,3\n", wide);
    assert_string_equal(data->unit, "day");
    assert_true(data->t[1] - data->t[0] == 2 && data->t[2] - data->t[1] == 1);
    sock_data_free(data);
}

static void test_csvwide__months_are_one_series(void **state)
{
    (void)state;
    const char *const text = "year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec\n1990,1,2,3,4,5,6,7,8,9,10,11,12\n"
                             "1991,13,14,15,16,17,18,19,20,21,22,23,24\n";
    sock_data *data = good(text, wide);
    assert_int_equal(data->trajectories, 1);
    assert_int_equal(data->points, 24);
    for (size_t i = 0; i < 24; i++) {
        assert_true(data->x[i] == (double)i + 1);
        assert_true(fabs(data->t[i] - 1990 - (double)i / 12) < 1e-9);
    }
    sock_data_free(data);
    refused(text, NULL, SOCK_EINPUT, "twelve months|--wide");
    data = good(text, (const option[]){{"state", "Jan,Feb"}, {0}});
    sock_data_free(data);
}

static void test_csvwide__inputs_go_with_each_point(void **state)
{
    (void)state;
    const option input[] = {{"wide", "yes"}, {"input", "u"}, {0}};
    sock_data *data = good("u,0,1\n7,1,2\n8,3,4\n", input);
    const double by_row[] = {7, 7, 8, 8};
    assert_int_equal(data->inputs, 1);
    for (size_t i = 0; i < 4; i++) assert_true(data->u[i] == by_row[i] && data->x[i] == (double)i + 1);
    sock_data_free(data);
    data = good("t,a,u,b\n0,1,7,3\n1,2,8,4\n", input);
    const double by_column[] = {7, 8, 7, 8};
    for (size_t i = 0; i < 4; i++) assert_true(data->u[i] == by_column[i] && data->x[i] == (double)i + 1);
    sock_data_free(data);
}

static void test_csvwide__is_named_where_it_is_seen(void **state)
{
    (void)state;
    refused("who,w.0,w.1,w.2\na,1,2,3\n", NULL, SOCK_EINPUT, "no time column|each row is a trajectory|--wide");
    refused(",a,b\n1,2,3\n", NULL, SOCK_EINPUT,
            "no time column|first column, which has no name, numbers the rows|--time");
    const option rows[] = {{"time", "(column 1)"}, {0}};
    sock_data *data = good(",a\n1,5\n2,6\n3,8\n", rows);
    assert_int_equal(data->d, 1);
    assert_true(data->t[0] == 1 && data->t[2] == 3 && data->x[0] == 5 && data->x[2] == 8);
    sock_data_free(data);
    refused(",a\n1,5\n2,6\n", (const option[]){{"state", "(column 1)"}, {"time", "a"}, {0}}, SOCK_EUSAGE,
            "no name in the header");
    refused(",a,b\n1962.25,2,3\n", NULL, SOCK_EINPUT, "no time column|first column has no name|t where it is the time");
}

static void test_csvwide__refusals(void **state)
{
    (void)state;
    refused("id,0,1\na,1,2\na,3,4\n", wide, SOCK_EINPUT, "line 3|'a'|each row is one trajectory");
    refused("id,0,1\n,1,2\n", wide, SOCK_EINPUT, "line 2|id is empty");
    refused("id,0,1\nb,1,2\na,1,z\n", wide, SOCK_EINPUT, "line 3|column '1'|'z'|not a number");
    refused("id,0,1\na,1,inf\n", wide, SOCK_EINPUT, "line 2|column '1'|'inf'|not finite");
    refused("id,0,1\na,1\n", wide, SOCK_EINPUT, "line 2 has 2 cells|3 columns");
    refused("id,0,1\na,1,2,3\n", wide, SOCK_EINPUT, "line 2 has 4 cells|3 columns");
    refused("a,b,c\n1,2,3\n", wide, SOCK_EINPUT, "no time column|no name of a column ends in a number");
    refused("w1,note\n1,2\n", wide, SOCK_EINPUT, "one time; two are needed");
    refused("0,1,w1,w2\n1,2,3,4\n", wide, SOCK_EINPUT, "times alone|such as w");
    refused("0,2024-01-01,2\n1,2,3\n", wide, SOCK_EINPUT, "'2024-01-01'|dates");
    refused("t,note\n1,abc\n", wide, SOCK_EINPUT, "no column of numbers beside the time");
    refused("id,t,a\n1,2,3\n", wide, SOCK_EUSAGE, "id is 'id'|with wide");
    refused("t,a,b\n1,2,3\n", (const option[]){{"wide", "yes"}, {"group", "a"}, {0}}, SOCK_EUSAGE,
            "group is 'a'|with wide");
    refused("t,a,b\n1,2,3\n", (const option[]){{"wide", "yes"}, {"state", "a,b"}, {0}}, SOCK_EUSAGE, "'a,b'|one name");
    refused("h1,w1,h2,w2\n1,2,3,4\n", (const option[]){{"wide", "yes"}, {"state", "z"}, {0}}, SOCK_EUSAGE, "'z'|stems");
}

static sock_status try_read(sock_context *context, void *user)
{
    const char *text = user;
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(context);
    sock_status status = opts ? sock_options_set(context, opts, "wide", "yes") : SOCK_ENOMEM;
    if (status >= 0) status = sk_csv_parse(context, "f.csv", text, strlen(text), opts, &data);
    sock_options_free(opts);
    sock_data_free(data);
    return status;
}

static void test_csvwide__no_memory(void **state)
{
    (void)state;
    char rows[] = "h1,w1,h2,w2,id,u\n1,2,3,4,u,9\n5,6,7,8,v,9\n", columns[] = "t,a,b\n0,1,2\n1,3,4\n";
    assert_true(for_single_allocations(ctx, try_read, rows) > 20);
    assert_true(for_single_allocations(ctx, try_read, columns) > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csvwide__columns_are_trajectories),
        cmocka_unit_test(test_csvwide__columns_of_several_states),
        cmocka_unit_test(test_csvwide__plates_are_trajectories),
        cmocka_unit_test(test_csvwide__rows_are_trajectories),
        cmocka_unit_test(test_csvwide__dates_in_the_header),
        cmocka_unit_test(test_csvwide__months_are_one_series),
        cmocka_unit_test(test_csvwide__inputs_go_with_each_point),
        cmocka_unit_test(test_csvwide__is_named_where_it_is_seen),
        cmocka_unit_test(test_csvwide__refusals),
        cmocka_unit_test(test_csvwide__no_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
