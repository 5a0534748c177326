/* test_codes.c - values that look like codes for missing ones, and the option that takes them out. */
#include "base/options.h"
#include "data/wild.h"

#include "onecontext.h"

enum { POINTS = 200, TRAJECTORIES = 4 };

/* Lung volumes of 2 to 4.5, in two columns. */
static double volume(size_t i, size_t k) { return 3.25 + 1.25 * sin(0.37 * (double)i + (double)k); }

static sock_data *data_of(const double *x, const char *missing)
{
    size_t length[TRAJECTORIES];
    double t[POINTS];
    for (size_t i = 0; i < POINTS; i++) t[i] = (double)(i % (POINTS / TRAJECTORIES));
    for (size_t j = 0; j < TRAJECTORIES; j++) length[j] = POINTS / TRAJECTORIES;
    sock_options *opts = sock_options_new(ctx);
    if (missing) assert_int_equal(sock_options_set(ctx, opts, "missing", missing), SOCK_OK);
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, TRAJECTORIES, length, t, x, NULL, NULL, opts, &data), SOCK_OK);
    sock_options_free(opts);
    return data;
}

static void fill(double *x)
{
    for (size_t i = 0; i < 2 * POINTS; i++) x[i] = volume(i / 2, i % 2);
}

static sk_code_list codes_of(const double *x)
{
    sk_code_list list = {0};
    sock_data *data = data_of(x, NULL);
    assert_int_equal(sk_codes_find(ctx, data, &list), SOCK_OK);
    sock_data_free(data);
    return list;
}

static void assert_none(const double *x)
{
    sk_code_list list = codes_of(x);
    assert_int_equal(list.count, 0);
    sk_free(list.code);
}

static void test_codes__value_and_number_of_each(void **state)
{
    (void)state;
    double x[2 * POINTS];
    fill(x);
    for (size_t i = 3; i < 100; i += 10) x[2 * i + 1] = 999;
    for (size_t i = 111; i < 116; i++) x[2 * i + 1] = -9;
    x[2 * 151 + 1] = x[2 * 160 + 1] = x[2 * 170 + 1] = 99999;
    x[2 * 180 + 1] = 1e9; /* alone: wild, and no code */
    sk_code_list list = codes_of(x);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const sk_code *code = &list.code[i];
        assert_int_equal(code->state, 1);
        assert_int_equal(code->count, code->value == 999 ? 10 : code->value == -9 ? 5 : 3);
    }
    sk_free(list.code);
}

/* Twice is chance; without a gap it is a bound; at the start of trajectories it is their start; a few values are all
 * that a state has; and a cluster of different values is a place. */
/* Nine numbers, each three times and beyond a gap wider than all that is below: the eight farthest out are named. */
static void test_codes__the_farthest_are_named(void **state)
{
    (void)state;
    double x[2 * POINTS];
    fill(x);
    for (size_t k = 0; k < 9; k++)
        for (size_t i = 0; i < 3; i++) x[2 * (5 + 20 * k + i) + 1] = 1e3 * pow(3, (double)k);
    sk_code_list list = codes_of(x);
    assert_int_equal(list.count, 8);
    for (size_t i = 0; i < 8; i++) assert_true(list.code[i].value == 1e3 * pow(3, 8 - (double)i));
    sk_free(list.code);
}

static void test_codes__what_is_none(void **state)
{
    (void)state;
    double x[2 * POINTS];
    fill(x);
    assert_none(x);
    x[20] = x[40] = 999;
    assert_none(x);
    x[60] = 999;
    sk_code_list list = codes_of(x);
    assert_int_equal(list.count, 1);
    sk_free(list.code);
    fill(x);
    for (size_t i = 10; i < 20; i++) x[2 * i] = 4.5 + 2.4; /* less than a range of the rest away */
    assert_none(x);
    for (size_t i = 10; i < 20; i++) x[2 * i] = 20 + 1e-3 * (double)i;
    assert_none(x);
    fill(x);
    for (size_t j = 0; j < TRAJECTORIES; j++) x[2 * j * (POINTS / TRAJECTORIES)] = 999;
    assert_none(x);
    for (size_t i = 0; i < POINTS; i++) x[2 * i] = i % 40 == 7 ? 30 : (double)(i % 3);
    assert_none(x);
}

/* Inputs as states are, by their names; but an input of 0 is switched off, and the time is no input that could lack. */
static void test_codes__of_inputs(void **state)
{
    (void)state;
    double x[2 * POINTS];
    size_t length[TRAJECTORIES];
    double t[POINTS];
    for (size_t i = 0; i < POINTS; i++) t[i] = (double)(i % (POINTS / TRAJECTORIES));
    for (size_t j = 0; j < TRAJECTORIES; j++) length[j] = POINTS / TRAJECTORIES;
    for (size_t turn = 0; turn < 2; turn++) {
        static const char *const names[] = {"volume", "dose"};
        sk_code_list list = {0};
        sock_data *data = NULL;
        sock_options *opts = sock_options_new(ctx);
        assert_int_equal(sock_options_set(ctx, opts, "input", "dose"), SOCK_OK);
        assert_int_equal(sock_options_set(ctx, opts, "time-dependent", "yes"), SOCK_OK);
        fill(x);
        for (size_t i = 3; i < 100; i += 10) x[2 * i + 1] = turn ? 0 : 999;
        if (turn) /* doses of 100 or so, and none */
            for (size_t i = 0; i < POINTS; i++) x[2 * i + 1] += x[2 * i + 1] > 0 ? 100 : 0;
        assert_int_equal(sock_data_from_arrays(ctx, 2, TRAJECTORIES, length, t, x, names, NULL, opts, &data), SOCK_OK);
        assert_int_equal(data->d, 1);
        assert_int_equal(sk_codes_find(ctx, data, &list), SOCK_OK);
        assert_int_equal(list.count, turn ? 0 : 1);
        if (!turn) {
            assert_string_equal(sk_code_column(data, &list.code[0]), "dose");
            assert_true(list.code[0].value == 999 && list.code[0].count == 10);
        }
        sk_free(list.code);
        sock_data_free(data);
        sock_options_free(opts);
    }
}

static void test_codes__missing_takes_them_out(void **state)
{
    (void)state;
    double x[2 * POINTS];
    fill(x);
    x[2 * 7] = 999, x[2 * 8 + 1] = -9, x[2 * 50] = 999, x[2 * 50 + 1] = -9;
    static const struct {
        const char *list;
        size_t missing;
    } cases[] = {{NULL, 0}, {"none", 0}, {"999", 2}, {"-9", 2}, {"999,-9", 3}, {" -9 , 9.99e2", 3}, {"998", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_data *data = data_of(x, cases[i].list);
        assert_int_equal(data->missing, cases[i].missing);
        assert_int_equal(data->points, POINTS - cases[i].missing);
        sock_data_free(data);
    }
}

static void test_codes__missing_wants_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "x", "999,", ",999", "9 9", "999;-9", "inf", "nan", "none,9"};
    sock_options *opts = sock_options_new(ctx);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sock_options_set(ctx, opts, "missing", bad[i]), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), "missing is '"));
        assert_non_null(strstr(sock_message(ctx), "numbers with commas between, or none"));
    }
    sock_options_free(opts);
}

static sock_status find(sock_context *c, void *data)
{
    sk_code_list list = {0};
    SK_TRY(sk_codes_find(c, data, &list));
    sk_free(list.code);
    return SOCK_OK;
}

static void test_codes__survives_failed_allocations(void **state)
{
    (void)state;
    double x[2 * POINTS];
    fill(x);
    sock_data *data = data_of(x, NULL);
    assert_int_equal(for_single_allocations(ctx, find, data), 2);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes__value_and_number_of_each),    cmocka_unit_test(test_codes__of_inputs),
        cmocka_unit_test(test_codes__the_farthest_are_named),      cmocka_unit_test(test_codes__what_is_none),
        cmocka_unit_test(test_codes__missing_takes_them_out),      cmocka_unit_test(test_codes__missing_wants_numbers),
        cmocka_unit_test(test_codes__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
