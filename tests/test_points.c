/* test_points.c - points for an evaluation, from CSV files: columns by name, whatever stands around them; what is
 * refused, with the file, the line, the column and the value. */
#define _GNU_SOURCE
#include "onecontext.h"

#include <unistd.h>

static const char *const names[] = {"x", "y"};

typedef struct table {
    char path[32];
    size_t count;
    double *x;
} table;

static void write_file(table *r, const char *text, size_t size)
{
    *r = (table){.path = "/tmp/test_points_XXXXXX"};
    int handle = mkstemp(r->path);
    assert_true(handle >= 0 && write(handle, text, size) == (ssize_t)size);
    close(handle);
}

static sock_status read_points(sock_context *context, void *arg)
{
    table *r = arg;
    return sock_points_read(context, r->path, 2, names, &r->count, &r->x);
}

static void forget(table *r)
{
    unlink(r->path);
    sock_array_free(r->x);
}

static void test_points__columns_are_found_by_name(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x,y\n1,2\n3,4\n",
        "y,x\n2,1\n4,3\n",
        "\xef\xbb\xbfname,\"y\",,x\r\n\"a, b\",2,?,1\r\nc,\"4\",, 3 \r\n",
        "\nt,x,y\n\n0,1,2\n \n1,+3,.4e1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        table r;
        write_file(&r, texts[i], strlen(texts[i]));
        if (read_points(ctx, &r) != SOCK_OK) fail_msg("%s", sock_message(ctx));
        assert_int_equal(r.count, 2);
        assert_true(r.x[0] == 1 && r.x[1] == 2 && r.x[2] == 3 && r.x[3] == 4);
        forget(&r);
    }
    table r;
    write_file(&r, "x,y\n", 4); /* no points are points too */
    assert_int_equal(read_points(ctx, &r), SOCK_OK);
    assert_int_equal(r.count, 0);
    forget(&r);
}

static void test_points__what_does_not_fit_is_refused_by_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size; /* 0: that of the text */
        const char *reason;
    } cases[] = {
        {"", 0, ": the file is empty; a header with the state's columns is needed"},
        {"\xef\xbb\xbf \n", 0, ": the file is empty; a header"},
        {"x,z\n1,2\n", 0, ": there is no column 'y', which the model's state needs"},
        {"x,y,x\n1,2,3\n", 0, ": line 1: columns 1 and 3 are both named 'x'"},
        {"x,y\xff\n1,2\n", 0, ": line 1: the name of column 2 is not valid UTF-8"},
        {"x,\"y\n1,2\n", 0, ": line 1: a quote is opened and never closed"},
        {"x,y\n1,2\n3,two\n", 0, ": line 3, column y: 'two' is not a finite number"},
        {"x,y\n1,\n", 0, ": line 2, column y: '' is not a finite number"},
        {"x,y\nnan,1\n", 0, ": line 2, column x: 'nan' is not a finite number"},
        {"x,y\n1,1e999\n", 0, ": line 2, column y: '1e999' is not a finite number"},
        {"x,y\n1,0123456789012345678901234567890123456789012345678901234567890123456789x\n", 0,
         ": line 2, column y: '012345678901234567890123456789012345678901234567890123456789' is not a finite number"},
        {"x,y\n1,2\n3\n", 0, ": line 3 has 1 cells; the header has 2"},
        {"x,y\n1,2,3\n", 0, ": line 2 has 3 cells; the header has 2"},
        {"x,y\n1,\"2\n", 0, ": line 2: a quote is opened and never closed"},
        {"x,y\n1,\"2\"3\n", 0, ": line 2: text follows a closing quote"},
        {"x,y\n1,2\n\0", 9, ": not a text file: it holds a 0 byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table r;
        write_file(&r, cases[i].text, cases[i].size ? cases[i].size : strlen(cases[i].text));
        assert_int_equal(read_points(ctx, &r), SOCK_EINPUT);
        assert_null(r.x);
        const size_t place = strlen(r.path);
        if (strncmp(sock_message(ctx), r.path, place) != 0 ||
            strncmp(sock_message(ctx) + place, cases[i].reason, strlen(cases[i].reason)) != 0)
            fail_msg("'%s' does not say '%s'", sock_message(ctx), cases[i].reason);
        forget(&r);
    }
    table gone = {.path = "/tmp/no such file"};
    assert_int_equal(read_points(ctx, &gone), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "/tmp/no such file"));
}

static void test_points__arguments_are_checked(void **state)
{
    (void)state;
    size_t count = 7;
    double *x = NULL;
    assert_int_equal(sock_points_read(NULL, "p", 2, names, &count, &x), SOCK_EUSAGE);
    assert_int_equal(sock_points_read(ctx, NULL, 2, names, &count, &x), SOCK_EUSAGE);
    assert_int_equal(sock_points_read(ctx, "p", 0, names, &count, &x), SOCK_EUSAGE);
    assert_int_equal(sock_points_read(ctx, "p", 2, NULL, &count, &x), SOCK_EUSAGE);
    assert_int_equal(sock_points_read(ctx, "p", 2, names, NULL, &x), SOCK_EUSAGE);
    assert_int_equal(sock_points_read(ctx, "p", 2, names, &count, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "must not be NULL, d must be at least 1"));
    assert_true(count == 7 && !x);
}

static void test_points__every_allocation_may_fail(void **state)
{
    (void)state;
    table r;
    write_file(&r, "x,y,\n1,2,3\n", 11);
    assert_true(for_each_allocation(ctx, read_points, &r) > 5);
    assert_int_equal(r.count, 1);
    forget(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points__columns_are_found_by_name),
        cmocka_unit_test(test_points__what_does_not_fit_is_refused_by_line_and_column),
        cmocka_unit_test(test_points__arguments_are_checked),
        cmocka_unit_test(test_points__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
