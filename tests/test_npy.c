/* test_npy.c - NumPy arrays, made byte by byte: every type, order and version, and what is refused. */
#define _GNU_SOURCE
#include "data/readers.h"
#include "onecontext.h"

#include <string.h>
#include <unistd.h>

typedef struct file {
    char bytes[8192];
    size_t size;
} file;

/* Magic, version, the dictionary padded as NumPy pads it, then room for the numbers. */
static file header(int version, const char *dictionary)
{
    file f = {{0}, 0};
    size_t start = version == 1 ? 10 : 12, length = strlen(dictionary) + 1;
    length += (64 - (start + length) % 64) % 64;
    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = (char)version;
    f.bytes[8] = (char)(length & 255);
    f.bytes[9] = (char)(length >> 8);
    memset(f.bytes + start, ' ', length);
    memcpy(f.bytes + start, dictionary, strlen(dictionary));
    f.bytes[start + length - 1] = '\n';
    f.size = start + length;
    return f;
}

/* Appends width bytes of bits, in the given order. */
static void append(file *f, uint64_t bits, size_t width, bool big)
{
    for (size_t i = 0; i < width; i++) f->bytes[f->size++] = (char)(bits >> 8 * (big ? width - 1 - i : i));
}

static void append_double(file *f, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append(f, bits, 8, big);
}

static sock_status parse_with(const file *f, const char *const *options, sock_data **out)
{
    sock_options *opts = sock_options_new(ctx);
    for (; options && *options; options += 2)
        assert_int_equal(sock_options_set(ctx, opts, options[0], options[1]), SOCK_OK);
    sk_begin(ctx);
    char *copy = malloc(f->size ? f->size : 1); /* of the exact size, so that a read beyond it is seen */
    memcpy(copy, f->bytes, f->size);
    sock_status status = sk_npy_parse(ctx, "f.npy", copy, f->size, opts, out);
    free(copy);
    sock_options_free(opts);
    return status;
}

static const char *const with_dt[] = {"dt", "0.5", NULL};

static sock_data *good(const file *f, const char *const *options)
{
    sock_data *data = NULL;
    sock_status status = parse_with(f, options, &data);
    if (status != SOCK_OK) print_error("refused: %s\n", sock_message(ctx));
    assert_int_equal(status, SOCK_OK);
    return data;
}

static void refused(const file *f, const char *const *options, sock_status expected, const char *part)
{
    sock_data *data = NULL;
    sock_status status = parse_with(f, options, &data);
    if (status != expected || !strstr(sock_message(ctx), part) || !strstr(sock_message(ctx), "f.npy"))
        print_error("status %d, expected %d with '%s': %s\n", status, expected, part, sock_message(ctx));
    assert_int_equal(status, expected);
    assert_non_null(strstr(sock_message(ctx), part));
    assert_non_null(strstr(sock_message(ctx), "f.npy"));
    assert_null(data);
}

/* Value of path j, time i, state k in all arrays below: whole and small, so that every type holds it. */
static double entry(size_t j, size_t i, size_t k) { return (double)(j * 20 + i * 4 + k); }

static void check_entries(const sock_data *data, size_t paths, size_t times, size_t d, double sign)
{
    assert_int_equal(data->trajectories, paths);
    assert_int_equal(data->points, paths * times);
    assert_int_equal(data->d, d);
    for (size_t j = 0; j < paths; j++)
        for (size_t i = 0; i < times; i++) {
            assert_true(data->t[j * times + i] == 0.5 * (double)i);
            for (size_t k = 0; k < d; k++) assert_true(data->x[(j * times + i) * d + k] == sign * entry(j, i, k));
        }
}

static uint64_t bits_of(double value, char kind, size_t width)
{
    uint64_t bits = 0;
    if (kind != 'f') return (uint64_t)(int64_t)value;
    if (width == 8) memcpy(&bits, &value, 8);
    if (width == 4) {
        float narrow = (float)value;
        uint32_t small;
        memcpy(&small, &narrow, 4);
        bits = small;
    }
    return bits;
}

static void test_npy__every_type_order_and_version(void **state)
{
    (void)state;
    static const char *const types[] = {"f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
    for (size_t n = 0; n < 10 * 2 * 2 * 3; n++) {
        const char *type = types[n % 10];
        bool big = n / 10 % 2, fortran = n / 20 % 2;
        int version = 1 + (int)(n / 40);
        size_t width = (size_t)(type[1] - '0'), paths = 2, times = 3, d = 4;
        char dictionary[128], order = width == 1 ? '|' : big ? '>' : '<';
        double sign = type[0] == 'u' ? 1 : -1; /* negative numbers where the type has them */
        snprintf(dictionary, sizeof dictionary, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3, 4), }", order,
                 type, fortran ? "True" : "False");
        file f = header(version, dictionary);
        for (size_t m = 0; m < paths * times * d; m++) {
            size_t j = fortran ? m % paths : m / (times * d), i = fortran ? m / paths % times : m / d % times,
                   k = fortran ? m / (paths * times) : m % d;
            append(&f, bits_of(sign * entry(j, i, k), type[0], width), width, big);
        }
        sock_data *data = good(&f, with_dt);
        check_entries(data, paths, times, d, sign);
        assert_string_equal(data->state[3], "x3");
        assert_string_equal(data->id[1], "1");
        assert_string_equal(data->time, "t");
        sock_data_free(data);
    }
}

static void test_npy__extreme_whole_numbers(void **state)
{
    (void)state;
    file f = header(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3), }");
    append(&f, 1ull << 63, 8, false);
    append(&f, ~0ull, 8, false);
    append(&f, ~0ull >> 1, 8, false);
    sock_data *data = good(&f, with_dt);
    assert_true(data->x[0] == -0x1p63 && data->x[1] == -1 && data->x[2] == 0x1p63);
    sock_data_free(data);
    f = header(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2), }");
    append(&f, 0x80, 1, false);
    append(&f, 0x7f, 1, false);
    data = good(&f, with_dt);
    assert_true(data->x[0] == -128 && data->x[1] == 127);
    sock_data_free(data);
}

static file paths_by_times(void)
{
    file f = header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
    const double x[] = {1, 2, 3, 1, (double)NAN, 5};
    for (size_t i = 0; i < 6; i++) append_double(&f, x[i], false);
    return f;
}

static void test_npy__two_dimensions_and_missing_points(void **state)
{
    (void)state;
    file f = paths_by_times();
    sock_data *data = good(&f, with_dt);
    assert_int_equal(data->d, 1);
    assert_int_equal(data->points, 5);
    assert_int_equal(data->missing, 1);
    assert_int_equal(data->groups, 2); /* the grids differ now */
    assert_true(data->t[4] == 1.0 && data->x[4] == 5);
    sock_data_free(data);
}

static void test_npy__options(void **state)
{
    (void)state;
    file f = paths_by_times();
    refused(&f, NULL, SOCK_EUSAGE, "--dt");
    refused(&f, (const char *const[]){"dt", "auto", NULL}, SOCK_EUSAGE, "--dt");
    refused(&f, (const char *const[]){"dt", "1", "id", "run", NULL}, SOCK_EUSAGE, "id is 'run'");
    refused(&f, (const char *const[]){"dt", "1", "group", "g", NULL}, SOCK_EUSAGE, "group is 'g'");
    refused(&f, (const char *const[]){"dt", "1", "state", "a,b", NULL}, SOCK_EUSAGE, "2 names");
    sock_data *data = good(&f, (const char *const[]){"dt", "2", "state", "\"my, x\"", "time", "s", "id", "none", NULL});
    assert_string_equal(data->state[0], "my, x");
    assert_string_equal(data->time, "s");
    assert_true(data->t[1] == 2);
    sock_data_free(data);
    f = header(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 2), }");
    append(&f, 1, 2, false);
    refused(&f, (const char *const[]){"dt", "1", "state", "a,a", NULL}, SOCK_EUSAGE, "both named 'a'");
    refused(&f, (const char *const[]){"dt", "1", "state", "a,", NULL}, SOCK_EUSAGE, "empty");
    refused(&f, (const char *const[]){"dt", "1", "state", "a", NULL}, SOCK_EUSAGE, "1 names");
    refused(&f, (const char *const[]){"dt", "1", "state", "a,\xff", NULL}, SOCK_EUSAGE, "state 1 is not valid UTF-8");
    sock_data *none = NULL;
    assert_int_equal(parse_with(&f, (const char *const[]){"dt", "1", "state", "a,\"b", NULL}, &none), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "the option state: line 1: a quote is opened and never closed"));
    assert_null(none);
}

static void test_npy__infinite_numbers_are_refused(void **state)
{
    (void)state;
    file f = header(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2, 1), }");
    append_double(&f, 1, true);
    append_double(&f, -INFINITY, true);
    refused(&f, with_dt, SOCK_EINPUT, "trajectory '0', point 1, column 'x0'");
}

static void test_npy__sizes_that_do_not_match_are_refused(void **state)
{
    (void)state;
    file f = paths_by_times();
    f.size--;
    refused(&f, with_dt, SOCK_EINPUT, "cut off");
    f.size += 2;
    refused(&f, with_dt, SOCK_EINPUT, "trailing");
    for (size_t size = 0; size < f.size - 1; size++) { /* cut anywhere */
        file cut = f;
        cut.size = size;
        refused(&cut, with_dt, SOCK_EINPUT, size < 6 ? "not a .npy file" : "cut off");
    }
    static const char *const huge[] = {"(4294967296, 4294967296, 2)", "(18446744073709551615, 1, 1)",
                                       "(9223372036854775807, 2)", "(1, 1, 18446744073709551615)"};
    for (size_t i = 0; i < 4; i++) {
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", huge[i]);
        f = header(1, dictionary);
        refused(&f, with_dt, SOCK_EINPUT, "cut off");
    }
}

static void test_npy__headers_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "1 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "4 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3, 1), }", "empty"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3, 1), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999999, 1), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 3), }", "fortran_order"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3), }", "'<c16'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "'<f2'"},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }", "'|b1'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "'|O'"},
        {"{'descr': '|f8', 'fortran_order': False, 'shape': (2, 3), }", "'|f8'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", "''"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", "descr"},
        {"{'fortran_order': False, 'shape': (2, 3), }", "descr"},
        {"{'descr': '<f8', 'shape': (2, 3), }", "fortran_order"},
        {"{'descr': '<f8', 'fortran_order': False}", "shape"},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "twice"},
        {"{'descr': '<f8', 'fortran_order': False, 'fortran_order': False, 'shape': (2, 3)}", "twice"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'shape': (2, 3)}", "twice"},
        {"{'descr': '<f\\8', 'fortran_order': False, 'shape': (2, 3)}", "descr is not one plain type"},
        {"{'descr': '<f8888888888888888888888888888888888888888888888888888888888888888', 'shape': (2, 3)}",
         "descr is not one plain type"},
        {"{'a key that is longer than any that a header has': 1, 'shape': (2, 3)}", "a key in quotes"},
        {"{'descr', '<f8', 'fortran_order': False, 'shape': (2, 3)}", "a key in quotes and ':'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "'}' expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 6}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2x, 3)}", "shape"},
        {"{'descr': '<f9', 'fortran_order': False, 'shape': (2, 3)}", "'<f9'"},
        {"{'descr': '<fx', 'fortran_order': False, 'shape': (2, 3)}", "'<fx'"},
        {"{'descr': '<f ', 'fortran_order': False, 'shape': (2, 3)}", "'<f '"},
        {"{'descr': '=f8', 'fortran_order': False, 'shape': (2, 3)}", "'=f8'"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (2, 3)}", "'<i3'"},
        {"{'descr': '<f8', 'more': 1, 'fortran_order': False, 'shape': (2, 3)}", "unknown"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x", "follows"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}", "'}' expected"},
        {"{'descr", "key"},
        {"hello", "'{'"},
        {"", "'{'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f = header(1, cases[i][0]);
        f.size += 48;
        refused(&f, with_dt, SOCK_EINPUT, cases[i][1]);
    }
    file f = paths_by_times();
    f.bytes[6] = 4;
    refused(&f, with_dt, SOCK_EINPUT, "version is 4.0");
    f.bytes[6] = 0;
    refused(&f, with_dt, SOCK_EINPUT, "version is 0.0; allowed: 1 to 3");
    f.bytes[1] = 'n';
    refused(&f, with_dt, SOCK_EINPUT, "not a .npy file");
}

/* Headers that end where something is still to come, without the spaces behind. */
static void test_npy__headers_that_are_cut(void **state)
{
    (void)state;
    static const char whole[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (22, 3)}";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char part[sizeof whole];
        snprintf(part, sizeof part, "%.*s", (int)length, whole);
        file f = header(1, part);
        f.bytes[8] = (char)length;
        f.size = 10 + length > 12 ? 10 + length : 12;
        refused(&f, with_dt, SOCK_EINPUT, "header cannot be understood");
    }
}

/* What other writers may produce: other order of keys, double quotes, no comma at the end, L of Python 2. */
static void test_npy__other_spellings_of_the_header(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"|u1\"}",
        "{'fortran_order': False, 'descr': '|u1', 'shape': (1L, 2L), }",
        "{ 'descr' : '<u1' , 'fortran_order' : True , 'shape' : ( 1 , 2 , ) , } \n\n",
        "{\t'descr':\r\n'|u1',\t'fortran_order': False,\r\n'shape': (1, 2)}"};
    for (size_t i = 0; i < 4; i++) {
        file f = header(2, spellings[i]);
        append(&f, 0x0907, 2, false);
        sock_data *data = good(&f, with_dt);
        assert_true(data->points == 2 && data->x[0] == 7 && data->x[1] == 9);
        sock_data_free(data);
    }
}

static void test_npy__damaged_headers_never_break_the_reader(void **state)
{
    (void)state;
    static const char bytes[] = "'\"(){},:09L<>x\xff";
    file whole = paths_by_times();
    for (size_t i = 0; i < 100; i++)
        for (size_t k = 0; k < sizeof bytes; k++) {
            file f = whole;
            sock_data *data = NULL;
            f.bytes[i] = bytes[k];
            sock_status status = parse_with(&f, with_dt, &data);
            assert_true(status == SOCK_OK || (status == SOCK_EINPUT && sock_message(ctx)[0] && !data));
            sock_data_free(data);
        }
}

static void test_npy__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    char path[] = "/tmp/test_npy_XXXXXX.npy";
    int handle = mkstemps(path, 4);
    file f = paths_by_times();
    assert_true(handle >= 0 && write(handle, f.bytes, f.size) == (ssize_t)f.size);
    close(handle);
    sock_options *opts = sock_options_new(ctx);
    sock_options_set(ctx, opts, "dt", "0.1");
    sock_options_set(ctx, opts, "state", "velocity");
    long k = 1;
    for (;; k++) {
        sock_data *data = NULL;
        sk_fail_allocation(ctx, k);
        sock_status status = sock_data_read(ctx, path, opts, &data);
        sk_fail_allocation(ctx, 0);
        if (status == SOCK_OK) {
            assert_string_equal(sock_data_name(data, 0), "velocity");
            sock_data_free(data);
            break;
        }
        assert_int_equal(status, SOCK_ENOMEM);
        assert_null(data);
    }
    assert_true(k > 15);
    sock_options_free(opts);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy__every_type_order_and_version),
        cmocka_unit_test(test_npy__extreme_whole_numbers),
        cmocka_unit_test(test_npy__two_dimensions_and_missing_points),
        cmocka_unit_test(test_npy__options),
        cmocka_unit_test(test_npy__infinite_numbers_are_refused),
        cmocka_unit_test(test_npy__sizes_that_do_not_match_are_refused),
        cmocka_unit_test(test_npy__headers_that_make_no_sense_are_refused),
        cmocka_unit_test(test_npy__headers_that_are_cut),
        cmocka_unit_test(test_npy__other_spellings_of_the_header),
        cmocka_unit_test(test_npy__damaged_headers_never_break_the_reader),
        cmocka_unit_test(test_npy__every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
