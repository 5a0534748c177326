/* test_tables.c - the tables of the experiments: rows in their order whatever the order of the work, medians, who beats
 * the default, the specification itself, and the deadline. */
#define _GNU_SOURCE
#include "experiments/deadline.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "experiments/tablerows.h"
#include "experiments/tabletext.h"
#include "systems/systems.h"
#include "test.h"

#include <time.h>

static sock_context *ctx;

static int setup(void **state)
{
    (void)state;
    return (ctx = sock_context_new()) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

static const exp_table_row *row_in(const exp_table_set *set, const char *method)
{
    const exp_table_row *row = set->rows;
    while (row->method && strcmp(row->method, method) != 0) row++;
    assert_non_null(row->method);
    return row;
}

static exp_piece piece(const char *set, const char *method, uint64_t seed)
{
    const exp_table_set *s = exp_table_set_find(set);
    const exp_table_row *row = row_in(s, method);
    return (exp_piece){.set = s, .row = row, .spec = row->spec, .seed = seed, .mmd_paths = "0", .cap = 120};
}

/* A row with P and RE_f; a P of 0 is missing. */
static json_t *row_with(const char *set, const char *method, uint64_t seed, double p, double re_f, int projected)
{
    const exp_piece of = piece(set, method, seed);
    cmp_row result = {.made = 1, .projected = projected, .cpu_seconds = 1};
    cmp_scores_missing(&result.scores, "not in this test");
    if (p > 0) result.scores.perplexity = (sock_value){.valid = 1, .value = p};
    if (p > 0) result.scores.perplexity_raw = (sock_value){.valid = 1, .value = p / 2};
    result.scores.re_f = (sock_value){.valid = 1, .value = re_f};
    return exp_row_of(&of, &result);
}

static void put(json_t *rows, json_t *row)
{
    exp_rows_insert(rows, row);
    json_decref(row);
}

/* ---- The specification ---- */

static void test_tables__every_row_of_the_specification_can_be_run(void **state)
{
    (void)state;
    for (const exp_table_set *set = exp_table_sets; set->name; set++) {
        assert_true(set->table == 1 || set->table == 2);
        assert_true(!set->system || sys_find(set->system));
        assert_true(set->cap > 0 && set->seeds > 0);
        assert_string_equal(set->rows[0].method, "sock");
        for (const exp_table_row *row = set->rows; row->method; row++) {
            const exp_method *method = exp_method_find(row->method);
            cmp_spec spec;
            assert_non_null(method);
            if (method->neural && !cmp_method_find(row->spec)) continue; /* a family that may be missing */
            if (cmp_spec_parse(ctx, row->spec, &spec) < 0) fail_msg("%s: %s", row->spec, sock_message(ctx));
        }
    }
}

/* The names that the program lists are those of the specification. */
static void test_tables__the_experiments_know_all_sets_and_methods(void **state)
{
    (void)state;
    size_t count = 0;
    for (const char *const *name = exp_all.sets; *name; name++, count++)
        assert_string_equal(*name, exp_table_sets[count].name);
    assert_null(exp_table_sets[count].name);
    count = 0;
    for (const char *const *name = exp_all.presets; *name; name++, count++)
        assert_string_equal(*name, exp_methods[count].name);
    assert_null(exp_methods[count].name);
    for (const char *const *name = exp_table1.sets; *name; name++)
        assert_int_equal(exp_table_set_find(*name)->table, 1);
    for (const char *const *name = exp_table2.sets; *name; name++)
        assert_int_equal(exp_table_set_find(*name)->table, 2);
}

/* ---- Rows ---- */

static void test_tables__rows_stand_in_one_order_whatever_came_first(void **state)
{
    (void)state;
    const struct {
        const char *set, *method;
        uint64_t seed;
        int projected;
    } order[] = {{"gbm", "sock", 3, 0}, {"gbm", "bisde", 3, 0},  {"gbm", "bisde", 3, 1}, {"gbm", "truth", 3, 0},
                 {"gbm", "sock", 4, 0}, {"dense", "sock", 1, 0}, {"dense", "nw", 1, 0},  {"sir", "sock", 0, 0}};
    static const char *const own[] = {"sir", "a set of their own"}, *const methods[] = {"a method of theirs", "sock"};
    enum { COUNT = sizeof order / sizeof *order };
    for (size_t turn = 0; turn < 40; turn++) {
        size_t shuffled[COUNT];
        json_t *rows = json_array();
        sk_shuffle((sk_key){turn, SK_PURPOSE_TEST}, 0, 0, COUNT, shuffled);
        for (size_t i = 0; i < COUNT; i++) {
            const size_t k = shuffled[i];
            put(rows, row_with(order[k].set, order[k].method, order[k].seed, 100, 1, order[k].projected));
        }
        for (size_t i = 0; i < COUNT; i++) {
            const json_t *row = json_array_get(rows, i);
            assert_string_equal(exp_text_at(row, ROW_SET), order[i].set);
            assert_string_equal(exp_text_at(row, ROW_METHOD), order[i].method);
            assert_int_equal(json_integer_value(json_array_get(row, ROW_SEED)), order[i].seed);
            assert_int_equal(exp_text_at(row, ROW_PROJECTED)[0] != 0, order[i].projected);
        }
        /* Rows that somebody added by hand stand behind those of the specification, as they came. */
        for (size_t i = 0; i < 4; i++) {
            json_t *row = row_with("sir", "sock", 0, 100, 1, 0);
            json_array_set_new(row, ROW_SET, json_string(own[i / 2]));
            json_array_set_new(row, ROW_METHOD, json_string(methods[i / 2]));
            put(rows, row);
        }
        for (size_t i = 0; i < 4; i++)
            assert_string_equal(exp_text_at(json_array_get(rows, COUNT + i), ROW_SET), own[i / 2]);
        json_decref(rows);
    }
}

static void test_tables__a_row_is_known_by_its_setting_and_its_paths(void **state)
{
    (void)state;
    json_t *rows = json_array();
    exp_piece of = piece("gbm", "bisde", 3);
    put(rows, row_with("gbm", "bisde", 3, 0, 1, 0));
    put(rows, row_with("gbm", "bisde", 3, 100, 1, 1));
    put(rows, row_with("gbm", "sock", 3, 100, 1, 0));
    assert_true(exp_row_is_known(rows, &of));
    of.mmd_paths = "500"; /* the row was made without paths */
    assert_false(exp_row_is_known(rows, &of));
    of.mmd_paths = "0", of.seed = 4;
    assert_false(exp_row_is_known(rows, &of));
    of.seed = 3;
    of.spec = "bisde:degree=1";
    assert_false(exp_row_is_known(rows, &of));
    exp_rows_remove(rows, &of);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(exp_text_at(json_array_get(rows, 0), ROW_METHOD), "sock");
    json_decref(rows);
}

static void test_tables__a_larger_cap_takes_up_what_a_smaller_one_stopped(void **state)
{
    (void)state;
    const double caps[] = {120, 0.0123456789, 1000};
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        json_t *rows = json_array();
        exp_piece of = piece("gbm", "bisde", 3);
        of.cap = caps[i];
        put(rows, exp_row_stopped(&of));
        assert_true(exp_row_is_known(rows, &of));
        of.cap = caps[i] / 2;
        assert_true(exp_row_is_known(rows, &of));
        of.cap = caps[i] * 1.1;
        assert_false(exp_row_is_known(rows, &of));
        json_decref(rows);
    }
}

/* ---- Medians ---- */

static const json_t *entry_of(const json_t *summary, const char *method, int projected)
{
    const json_t *entries = json_object_get(summary, "entries");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        if (strcmp(json_string_value(json_object_get(entry, "method")), method) == 0 &&
            json_is_true(json_object_get(entry, "projected")) == projected)
            return entry;
    }
    return NULL;
}

static double quantile(const json_t *entry, const char *score, size_t index)
{
    return json_number_value(json_array_get(json_object_get(entry, score), index));
}

static void test_tables__medians_and_quantiles_are_those_of_the_seeds(void **state)
{
    (void)state;
    static const double values[] = {104, 101, 109, 100, 103, 102, 108, 105, 107, 106, 110}; /* 100 .. 110 */
    json_t *rows = json_array();
    for (size_t i = 0; i < 11; i++) put(rows, row_with("gbm", "sock", 300 + i, values[i], 2 * values[i], 0));
    put(rows, row_with("gbm", "sock", 7, 1, 1, 0)); /* a seed that is not asked for */
    put(rows, row_with("dense", "sock", 300, 1, 1, 0));
    const exp_table_view view = {300, 11, NULL};
    json_t *summary = exp_table_summary(exp_table_set_find("gbm"), &view, rows);
    const json_t *entry = entry_of(summary, "sock", 0);
    assert_int_equal(json_integer_value(json_object_get(entry, "seeds")), 11);
    assert_close(quantile(entry, "P", 0), 105, 1e-15, 1);
    assert_close(quantile(entry, "P", 1), 101, 1e-15, 1);
    assert_close(quantile(entry, "P", 2), 109, 1e-15, 1);
    assert_close(quantile(entry, "RE_f", 0), 210, 1e-15, 1);
    json_decref(summary);
    const exp_table_view few = {300, 2, NULL}; /* 104 and 101 */
    summary = exp_table_summary(exp_table_set_find("gbm"), &few, rows);
    assert_close(quantile(entry_of(summary, "sock", 0), "P", 0), 102.5, 1e-15, 1);
    assert_close(quantile(entry_of(summary, "sock", 0), "P", 1), 101.3, 1e-15, 1);
    json_decref(summary);
    json_decref(rows);
}

/* An older row (null) does not count in a newer column, one without a score (NA) counts as the worst; only the same fit
 * fills a row. */
static void test_tables__older_rows_do_not_count_in_newer_columns(void **state)
{
    (void)state;
    json_t *rows = json_array();
    const exp_table_view view = {0, 0, NULL};
    const exp_piece of = piece("sir", "bisde", 0);
    static const double pm[] = {0, 30, 10, 50};
    for (size_t i = 0; i < 4; i++) {
        json_t *row = row_with("sir", "bisde", i, 100, 1, 0);
        assert_string_equal(exp_text_at(row, ROW_PM_RAW), "NA");
        json_array_set_new(row, ROW_PM_RAW, i ? json_real(pm[i]) : json_null());
        json_array_set_new(row, ROW_PM, i ? json_real(pm[i]) : json_null());
        put(rows, row);
        put(rows, row_with("sir", "sock", i, 100, 1, 0)); /* whose PM is NA */
    }
    json_t *summary = exp_table_summary(exp_table_set_find("sir"), &view, rows);
    assert_close(quantile(entry_of(summary, "bisde", 0), "PM", 0), 30, 1e-15, 1);
    assert_int_equal(json_integer_value(json_object_get(entry_of(summary, "bisde", 0), "PM_seeds")), 3);
    assert_true(json_is_null(json_array_get(json_object_get(entry_of(summary, "sock", 0), "PM"), 0)));
    const json_t *better = json_object_get(summary, "better");
    assert_int_equal(json_array_size(better), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(better, 0), "score")), "PM_raw");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(better, 0), "seeds")), 3);
    json_decref(summary);
    assert_true(exp_row_is_older(rows, &of));
    json_t *row = exp_row_find(rows, "sir", "bisde", 0, 0), *other = row_with("sir", "bisde", 0, 101, 1, 0);
    assert_false(exp_row_fill(row, other));
    assert_true(exp_row_is_older(rows, &of));
    json_decref(other);
    other = row_with("sir", "bisde", 0, 100 + 1e-7, 2, 0);
    assert_true(exp_row_fill(row, other));
    assert_false(exp_row_is_older(rows, &of));
    assert_true(exp_number_at(row, ROW_RE_F) == 1); /* the older columns are as they were */
    json_decref(other);
    json_decref(rows);
}

/* Three seeds: without a projection one has no P, so the 90 % point has none; with it all have. */
static void test_tables__a_projected_entry_stands_for_all_seeds(void **state)
{
    (void)state;
    json_t *rows = json_array();
    const exp_table_view view = {0, 0, NULL};
    put(rows, row_with("gbm", "bisde", 0, 101, 1, 0));
    put(rows, row_with("gbm", "bisde", 1, 0, 2, 0));
    put(rows, row_with("gbm", "bisde", 1, 111, 2, 1));
    put(rows, row_with("gbm", "bisde", 2, 103, 3, 0));
    put(rows, row_with("gbm", "gedmd", 2, 103, 3, 0));
    json_t *summary = exp_table_summary(exp_table_set_find("gbm"), &view, rows);
    const json_t *plain = entry_of(summary, "bisde", 0), *projected = entry_of(summary, "bisde", 1);
    assert_close(quantile(plain, "P", 0), 103, 1e-15, 1);
    assert_true(json_is_null(json_array_get(json_object_get(plain, "P"), 2)));
    assert_int_equal(json_integer_value(json_object_get(plain, "missing")), 1);
    assert_int_equal(json_integer_value(json_object_get(projected, "seeds")), 3);
    assert_close(quantile(projected, "P", 2), 103 + 0.8 * 8, 1e-15, 1);
    assert_non_null(entry_of(summary, "gedmd", 0));
    assert_null(entry_of(summary, "gedmd", 1));
    json_decref(summary);
    json_decref(rows);
}

static const json_t *better_of(const json_t *summary, const char *method, const char *score)
{
    const json_t *list = json_object_get(summary, "better");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *e = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(e, "method")), method) == 0 &&
            strcmp(json_string_value(json_object_get(e, "score")), score) == 0)
            return e;
    }
    return NULL;
}

/* nw has seeds 1 and 2 only. There the default's P is 102, 106 and nw's 103, 104: the same median but for 0.5. Over
 * all three seeds of the default its median 102 would be lower. RE_f is lower in each. */
static void test_tables__who_beats_the_default_is_judged_on_common_seeds(void **state)
{
    (void)state;
    json_t *rows = json_array();
    const exp_table_view view = {0, 0, NULL};
    const double ours[] = {100, 102, 106};
    for (size_t i = 0; i < 3; i++) put(rows, row_with("gbm", "sock", i, ours[i], 5, 0));
    put(rows, row_with("gbm", "nw", 1, 103, 4, 0));
    put(rows, row_with("gbm", "nw", 2, 104, 4, 0));
    for (size_t i = 0; i < 3; i++) put(rows, row_with("gbm", "constant", i, 100 + 3 * (double)i, 6, 0));
    for (size_t i = 0; i < 3; i++) put(rows, row_with("gbm", "truth", i, 99, 0, 0)); /* no rival */
    json_t *summary = exp_table_summary(exp_table_set_find("gbm"), &view, rows);
    const json_t *e = better_of(summary, "nw", "P");
    assert_non_null(e);
    assert_close(json_number_value(json_object_get(e, "median")), 103.5, 1e-15, 1);
    assert_close(json_number_value(json_object_get(e, "default")), 104, 1e-15, 1);
    assert_int_equal(json_integer_value(json_object_get(e, "seeds")), 2);
    assert_int_equal(json_integer_value(json_object_get(e, "wins")), 1);
    assert_int_equal(json_integer_value(json_object_get(better_of(summary, "nw", "RE_f"), "wins")), 2);
    assert_null(better_of(summary, "constant", "P"));
    assert_null(better_of(summary, "constant", "RE_f"));
    assert_null(better_of(summary, "truth", "P"));
    json_decref(summary);
    json_decref(rows);
}

/* What is printed: our median, the paper's value beside it, NA where there is none. */
static void test_tables__the_text_holds_medians_and_the_papers_values(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    json_t *rows = json_array();
    const exp_table_view view = {0, 0, NULL};
    put(rows, row_with("gbm", "sock", 0, 100.25, 5, 0));
    put(rows, row_with("gbm", "bisde-paper", 0, 0, 4.5, 0));
    json_t *summary = exp_table_summary(exp_table_set_find("gbm"), &view, rows);
    FILE *stream = open_memstream(&text, &size);
    exp_table_print(summary, stream);
    fclose(stream);
    assert_non_null(strstr(text, "### Geometric Brownian motion"));
    assert_non_null(strstr(text, "| **SOCK, default**"));
    assert_non_null(strstr(text, "| 100.25 "));
    assert_non_null(strstr(text, "| NA     | NA    | 4.5    | 33.62 |"));
    assert_non_null(strstr(text, "RE_f of BISDE, as in the paper: median 4.5 against 5 of the default"));
    free(text);
    json_decref(summary);
    json_decref(rows);
}

/* ---- The deadline ---- */

static sock_status simulate(sock_context *c)
{
    sys_instance *instance = NULL;
    sock_model *model = NULL;
    const double x0 = 1, t[] = {0, 1};
    enum { PATHS = 400000 };
    double *out = calloc(2 * PATHS, sizeof *out);
    assert_non_null(out);
    assert_int_equal(sys_new(c, sys_find("gbm"), 1, &instance), SOCK_OK);
    assert_int_equal(sys_truth(c, instance, &model), SOCK_OK);
    const sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = PATHS, .times = 2, .t = t, .step = 1e-4};
    const sock_status status = sock_simulate(c, model, &spec, out, NULL, NULL);
    free(out);
    sock_model_free(model);
    sys_free(instance);
    return status;
}

/* 4 10^9 steps take longer than a tenth of a second; afterwards the context works as before. */
static void test_tables__a_deadline_ends_long_work_and_only_that(void **state)
{
    (void)state;
    exp_deadline *deadline = exp_deadline_new(ctx, 0.1);
    assert_non_null(deadline);
    assert_int_equal(simulate(ctx), SOCK_ECANCELLED);
    assert_true(exp_deadline_end(deadline));
    deadline = exp_deadline_new(ctx, 1000);
    sock_data *data = NULL;
    sys_instance *instance = NULL;
    assert_int_equal(sys_new(ctx, sys_find("expdyn"), 1, &instance), SOCK_OK);
    assert_int_equal(sys_generate(ctx, instance, SYS_TEST, &data), SOCK_OK);
    assert_false(exp_deadline_end(deadline));
    assert_false(exp_deadline_end(NULL));
    sock_data_free(data);
    sys_free(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables__every_row_of_the_specification_can_be_run),
                                       cmocka_unit_test(test_tables__the_experiments_know_all_sets_and_methods),
                                       cmocka_unit_test(test_tables__rows_stand_in_one_order_whatever_came_first),
                                       cmocka_unit_test(test_tables__a_row_is_known_by_its_setting_and_its_paths),
                                       cmocka_unit_test(test_tables__a_larger_cap_takes_up_what_a_smaller_one_stopped),
                                       cmocka_unit_test(test_tables__medians_and_quantiles_are_those_of_the_seeds),
                                       cmocka_unit_test(test_tables__older_rows_do_not_count_in_newer_columns),
                                       cmocka_unit_test(test_tables__a_projected_entry_stands_for_all_seeds),
                                       cmocka_unit_test(test_tables__who_beats_the_default_is_judged_on_common_seeds),
                                       cmocka_unit_test(test_tables__the_text_holds_medians_and_the_papers_values),
                                       cmocka_unit_test(test_tables__a_deadline_ends_long_work_and_only_that)};
    return cmocka_run_group_tests_name("tables", tests, setup, teardown);
}
