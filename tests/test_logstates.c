/* test_logstates.c - states that are logarithms: the data are those of a file that holds the logarithms. */
#include "csvtexts.h"

#include <math.h>

static void same_numbers(const char *text, const option *options, const char *name)
{
    const double expected[] = {0, log(2), log(3.5)};
    sock_data *data = good(text, options);
    assert_int_equal(data->d, 1);
    assert_int_equal(data->points, 3);
    assert_string_equal(data->state[0], name);
    for (size_t i = 0; i < 3; i++) assert_true(data->x[i] == expected[i]);
    sock_data_free(data);
}

static void test_logstates__by_option_and_by_name(void **state)
{
    (void)state;
    const char *const text = "t,x\n0,1\n1,2\n2,3.5\n";
    same_numbers(text, (const option[]){{"log", "x"}, {0}}, "log(x)");
    same_numbers(text, (const option[]){{"state", "log(x)"}, {0}}, "log(x)");
    same_numbers(text, (const option[]){{"state", "log(x)"}, {"log", "x"}, {0}}, "log(x)"); /* once */
    same_numbers("t,y,x\n0,5,1\n1,6,2\n2,4,3.5\n", (const option[]){{"state", "x"}, {"log", "x"}, {0}}, "log(x)");
    same_numbers("id,0,1,2\nu,1,2,3.5\n", (const option[]){{"wide", "yes"}, {"log", "x"}, {0}}, "log(x)");
    same_numbers("id,h0,h1,h2\nu,1,2,3.5\n", (const option[]){{"wide", "yes"}, {"state", "log(h)"}, {0}}, "log(h)");
    same_numbers("t,x\n0,1\n1,2\n1.5,-9\n2,3.5\n", (const option[]){{"log", "x"}, {"missing", "-9"}, {0}}, "log(x)");
    sock_data *data =
        good("t,log(x),x\n0,1,9\n1,2,9\n", (const option[]){{"state", "log(x)"}, {0}}); /* a column first */
    assert_true(data->x[0] == 1 && data->x[1] == 2);
    sock_data_free(data);
    data = good("t,x,y,u\n0,1,2,3\n1,2,4,5\n", (const option[]){{"log", "y"}, {"input", "u"}, {0}});
    assert_true(data->x[0] == 1 && data->x[3] == log(4) && data->u[1] == 5);
    assert_string_equal(data->state[0], "x");
    assert_string_equal(data->state[1], "log(y)");
    sock_data_free(data);
}

static void test_logstates__refusals(void **state)
{
    (void)state;
    const option by[] = {{"log", "x"}, {0}};
    refused("t,x\n0,1\n1,0\n", by, SOCK_EINPUT, "line 3|'x'|0 has no logarithm|above 0");
    refused("t,x\n0,1\n1,-2.5\n", (const option[]){{"state", "log(x)"}, {0}}, SOCK_EINPUT,
            "line 3|'x'|-2.5 has no logarithm");
    refused("t,x\n0,1\n1,2\n", (const option[]){{"log", "y"}, {0}}, SOCK_EUSAGE, "log is 'y'|no such state");
    refused("t,x,u\n0,1,1\n1,2,1\n", (const option[]){{"log", "u"}, {"input", "u"}, {0}}, SOCK_EUSAGE,
            "log is 'u'|no such state");
    refused("t,x\n0,1\n1,2\n", (const option[]){{"state", "log(y)"}, {0}}, SOCK_EUSAGE, "'log(y)'|no such column");
    refused("t,x\n0,1\n1,2\n", (const option[]){{"time", "log(x)"}, {0}}, SOCK_EUSAGE, "'log(x)'|no such column");
}

static void test_logstates__arrays(void **state)
{
    (void)state;
    const size_t length[] = {2};
    const double t[] = {0, 1}, x[] = {1, 2, 3, 4};
    const char *names[] = {"p", "q"};
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    sock_options_set(ctx, opts, "log", "q");
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, length, t, x, names, NULL, opts, &data), SOCK_OK);
    assert_string_equal(sock_data_name(data, 1), "log(q)");
    assert_true(data->x[0] == 1 && data->x[1] == log(2) && data->x[3] == log(4));
    sock_data_free(data);
    sock_options_free(opts);
}

static sock_status try_read(sock_context *context, void *user)
{
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(context);
    sock_status status = opts ? sock_options_set(context, opts, "log", "x,y") : SOCK_ENOMEM;
    if (status >= 0) status = sk_csv_parse(context, "f.csv", user, strlen(user), opts, &data);
    sock_options_free(opts);
    sock_data_free(data);
    return status;
}

static void test_logstates__no_memory(void **state)
{
    (void)state;
    char text[] = "t,x,y\n0,1,2\n1,3,4\n";
    assert_true(for_single_allocations(ctx, try_read, text) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logstates__by_option_and_by_name),
        cmocka_unit_test(test_logstates__refusals),
        cmocka_unit_test(test_logstates__arrays),
        cmocka_unit_test(test_logstates__no_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
