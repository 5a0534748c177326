/* Rows of results on their way to a CSV file and back, quantiles, and the oracle of the accuracy study. */
#include "test.h"

#include "experiments/resultrows.h"
#include "experiments/scalefit.h"

#include <math.h>
#include <unistd.h>

static sock_context *ctx;

static int set_up(void **state)
{
    (void)state;
    return !(ctx = sock_context_new());
}

static int tear_down(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(sock_write_file(ctx, path, text, strlen(text)), SOCK_OK);
}

static void test_resultrows__cells_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const names[] = {"kernel", "with, comma", "said \"so\"", "number", "count", "none"};
    json_t *columns = exp_columns(6, names), *back = NULL;
    json_t *rows = json_pack("[[s, s, s, f, i, n], [s, s, s, f, i, n]]", "fourier:p=100,seed=0", "two\nlines", "\"",
                             0.1, -7, "linear", "3 of 4", "a,b", 1e300, 0);
    assert_int_equal(exp_rows_write(ctx, "test_resultrows.csv", columns, rows), SOCK_OK);
    assert_int_equal(exp_rows_read("test_resultrows.csv", columns, json_array_size(columns), NULL, &back),
                     EXP_READ_DONE);
    assert_true(json_equal(rows, back));
    unlink("test_resultrows.csv");
    json_decref(columns);
    json_decref(rows);
    json_decref(back);
}

static void test_resultrows__cells_of_every_kind(void **state)
{
    (void)state;
    static const char *const names[] = {"yes", "no", "not a number", "carriage", "hollow"};
    json_t *columns = exp_columns(5, names), *back = NULL, *row = json_array(), *rows = json_array();
    json_t *expected = json_pack("[[s, s, n, s, s]]", "yes", "no", "a b", "nan");
    json_array_append_new(row, json_true());
    json_array_append_new(row, json_false());
    json_array_append_new(row, json_null());
    json_array_append_new(row, json_string("a b"));
    json_array_append_new(row, json_string("nan"));
    json_array_append_new(rows, row);
    assert_int_equal(exp_rows_write(ctx, "test_resultrows.csv", columns, rows), SOCK_OK);
    assert_int_equal(exp_rows_read("test_resultrows.csv", columns, 5, NULL, &back), EXP_READ_DONE);
    assert_true(json_equal(back, expected));
    json_decref(back);
    /* as another program may have left it: line ends of two signs, no line end behind the last row */
    char text[] = "yes,no,not a number,carriage,hollow\r\nyes,no,,a b,nan";
    assert_int_equal(exp_rows_parse(text, columns, 5, NULL, &back), EXP_READ_DONE);
    assert_true(json_equal(back, expected));
    unlink("test_resultrows.csv");
    json_decref(columns), json_decref(rows), json_decref(expected), json_decref(back);
}

static void hear(void *user, const char *line) { snprintf(user, 400, "%s", line); }

static void test_resultrows__foreign_and_missing_files_are_told_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    static const struct {
        const char *text;
        size_t size; /* 0: that of the text */
        const char *fault;
    } foreign[] = {{"a,c\n1,2\n", 0, "line 1, column 2: 'c', where this experiment has 'b'"},
                   {"a,b\n1,2,3\n", 0, "line 2, column 3: 3 cells; the header has 2"},
                   {"a,b\n1,\"2\n\"\n1\n", 0, "line 4, column 2: 1 cells; the header has 2"},
                   {"a,b,c\n1,2,3\n", 0, "line 1, column 3: this experiment has 2 columns"},
                   {"a\n1\n", 0, "line 1: 1 columns; this experiment has 'b' next"},
                   {"", 0, "line 1, column 1: '', where this experiment has 'a'"},
                   {"\n", 0, "line 1, column 1: '', where this experiment has 'a'"},
                   {"a,b\n1,\"2\n3,4\n", 0, "line 2: a quote is opened and never closed"}, /* it swallows rows */
                   {"a,\"b\n1,2\n", 0, "line 1: a quote is opened and never closed"},      /* and the header */
                   {"a,b\n1,2\n3,\0\n5,6\n", 15, "line 3: a zero byte"}, /* what stands behind it would be lost */
                   {"a,b\n1,\xff\n", 0, "line 2, column 2: not UTF-8"}};
    json_t *columns = exp_columns(2, names), *rows = NULL;
    const char *path = "test_resultrows_foreign.csv";
    char said[400];
    assert_int_equal(exp_rows_read("test_resultrows_none.csv", columns, 2, NULL, &rows), EXP_READ_MISSING);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        size_t size = foreign[i].size ? foreign[i].size : strlen(foreign[i].text);
        assert_int_equal(sock_write_file(ctx, path, foreign[i].text, size), SOCK_OK);
        if (exp_rows_read(path, columns, 2, NULL, &rows) != EXP_READ_FOREIGN) fail_msg("case %zu was read", i);
        assert_int_equal(exp_rows_resume(path, columns, 2, hear, said, &rows), SOCK_EINPUT);
        char expected[300];
        snprintf(expected, sizeof expected, "%s: %s; mend it, or give another place", path, foreign[i].fault);
        assert_string_equal(said, expected);
        assert_null(rows);
    }
    assert_int_equal(exp_rows_resume(path, columns, 2, NULL, NULL, &rows), SOCK_EINPUT);
    unlink(path);
    json_decref(columns);
}

static void test_resultrows__what_cannot_be_read_is_told(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    json_t *columns = exp_columns(2, names), *rows = NULL;
    char said[400] = "";
    assert_int_equal(exp_rows_read("/", columns, 2, NULL, &rows), EXP_READ_FAILED);
    assert_int_equal(exp_rows_resume("/", columns, 2, hear, said, &rows), SOCK_EIO);
    assert_string_equal(said, "/: cannot be read");
    assert_null(rows);
    /* nothing to go on from, without a path or with one where nothing is yet: no rows */
    static const char *const none[] = {NULL, "test_resultrows_none.csv"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(exp_rows_resume(none[i], columns, 2, hear, said, &rows), SOCK_OK);
        assert_int_equal(json_array_size(rows), 0);
        json_decref(rows), rows = NULL;
    }
    write_text("test_resultrows.csv", "a,b\n1,x\n");
    assert_int_equal(exp_rows_resume("test_resultrows.csv", columns, 2, hear, said, &rows), SOCK_OK);
    assert_int_equal(json_array_size(rows), 1);
    assert_true(exp_number_at(json_array_get(rows, 0), 0) == 1 && isnan(exp_number_at(json_array_get(rows, 0), 1)));
    assert_string_equal(exp_text_at(json_array_get(rows, 0), 1), "x");
    unlink("test_resultrows.csv");
    json_decref(rows);
    json_decref(columns);
}

static void test_resultrows__names_in_a_list(void **state)
{
    (void)state;
    assert_true(exp_is_named("a,bc,d", "a") && exp_is_named("a,bc,d", "bc") && exp_is_named("a,bc,d", "d"));
    assert_false(exp_is_named("a,bc,d", "b") || exp_is_named("a,bc,d", "c") || exp_is_named("", "a"));
    assert_false(exp_is_named(NULL, "a") || exp_is_named("ab", "a") || exp_is_named("a", "ab"));
}

/* Columns at the end may be missing down to the number that is asked for; nothing else may differ. */
static void test_resultrows__an_older_file_has_nulls_in_newer_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    json_t *columns = exp_columns(4, names), *rows = NULL, *expected = json_pack("[[i, s, n, n]]", 1, "x");
    char two[] = "a,b\n1,x\n", one[] = "a\n1\n", other[] = "a,c\n1,x\n", broken[] = "a,b\n1,x,3\n";
    assert_int_equal(exp_rows_parse(two, columns, 2, NULL, &rows), EXP_READ_DONE);
    assert_true(json_equal(rows, expected));
    json_decref(rows);
    rows = NULL;
    assert_int_equal(exp_rows_parse(one, columns, 2, NULL, &rows), EXP_READ_FOREIGN);
    assert_int_equal(exp_rows_parse(other, columns, 2, NULL, &rows), EXP_READ_FOREIGN);
    assert_int_equal(exp_rows_parse(broken, columns, 2, NULL, &rows), EXP_READ_FOREIGN);
    assert_null(rows);
    json_decref(expected);
    json_decref(columns);
}

static void test_resultrows__quantiles_interpolate_and_count_what_is_missing_as_worst(void **state)
{
    (void)state;
    double four[] = {4, 1, 3, 2}, gap[] = {NAN, 1, 2}, one[] = {5};
    assert_true(exp_quantile(4, four, 0.5) == 2.5);
    assert_true(fabs(exp_quantile(4, four, 0.1) - 1.3) < 1e-15);
    assert_true(exp_quantile(4, four, 1) == 4);
    assert_true(exp_quantile(3, gap, 0.5) == 2);
    assert_true(isinf(exp_quantile(3, gap, 0.9)));
    assert_true(exp_quantile(1, one, 0.1) == 5);
    assert_true(isnan(exp_quantile(0, one, 0.5)));
}

/* Over many seeds the factors are 1 on average with the spread that theory gives: that of f is a mean of normals, that
 * of a a mean of n squares of normals. */
static void check_oracle(const char *name, double drift_sd, size_t n)
{
    enum { SEEDS = 24 };
    double drift = 0, diffusion = 0, drift2 = 0, diffusion2 = 0, a_sd = sqrt(2 / (double)n);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sys_instance *instance = NULL;
        sock_data *data = NULL;
        sock_model *model = NULL;
        exp_oracle oracle;
        assert_int_equal(sys_new(ctx, sys_find(name), seed, &instance), SOCK_OK);
        assert_int_equal(sys_generate(ctx, instance, SYS_TRAIN, &data), SOCK_OK);
        assert_int_equal(sock_data_intervals(data), n);
        assert_int_equal(exp_oracle_fit(ctx, instance, data, &oracle, &model), SOCK_OK);
        double x[2] = {0.3, -0.4}, f[2], f_true[2], a[4], a_true[4];
        size_t d = instance->system->d;
        assert_int_equal(sock_model_drift(ctx, model, 1, x, f), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, model, 1, x, a), SOCK_OK);
        instance->system->drift(instance, 1, d, x, f_true);
        instance->system->diffusion(instance, 1, d, x, a_true);
        for (size_t k = 0; k < d; k++) assert_true(fabs(f[k] - oracle.drift * f_true[k]) < 1e-14);
        for (size_t k = 0; k < d * d; k++) assert_true(fabs(a[k] - oracle.diffusion * a_true[k]) < 1e-14);
        drift += (oracle.drift - 1) / SEEDS;
        diffusion += (oracle.diffusion - 1) / SEEDS;
        drift2 += (oracle.drift - 1) * (oracle.drift - 1) / SEEDS;
        diffusion2 += (oracle.diffusion - 1) * (oracle.diffusion - 1) / SEEDS;
        sock_model_free(model);
        sock_data_free(data);
        sys_free(instance);
    }
    assert_true(fabs(diffusion) < 3.5 * a_sd / sqrt(SEEDS));
    assert_true(diffusion2 > 0.3 * a_sd * a_sd && diffusion2 < 2.2 * a_sd * a_sd); /* chi-square of 24 */
    if (drift_sd == 0) return;
    assert_true(fabs(drift) < 3.5 * drift_sd / sqrt(SEEDS));
    assert_true(drift2 > 0.3 * drift_sd * drift_sd && drift2 < 2.2 * drift_sd * drift_sd);
}

static void test_scalefit__errors_are_those_of_theory(void **state)
{
    (void)state;
    check_oracle("gbm", 0.3 / sqrt(70), 7000);
    check_oracle("expdyn", 0.3 / sqrt(42), 420);
    check_oracle("dense", 0, 700);
    assert_false(exp_oracle_exists("lorenz96"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resultrows__cells_come_back_as_they_were),
        cmocka_unit_test(test_resultrows__an_older_file_has_nulls_in_newer_columns),
        cmocka_unit_test(test_resultrows__cells_of_every_kind),
        cmocka_unit_test(test_resultrows__foreign_and_missing_files_are_told_apart),
        cmocka_unit_test(test_resultrows__what_cannot_be_read_is_told),
        cmocka_unit_test(test_resultrows__names_in_a_list),
        cmocka_unit_test(test_resultrows__quantiles_interpolate_and_count_what_is_missing_as_worst),
        cmocka_unit_test(test_scalefit__errors_are_those_of_theory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
