/* test_arrow.c - Arrow streams from a producer of our own (arrowtable.h): every type against the CSV file with the same
 * cells, tables in pieces and with offsets, what breaks the rules of the interface, and releases, each exactly once. */
#include "arrowtable.h"
#include "data/readers.h"
#include "onecontext.h"

#include <math.h>
#include <stdio.h>

static void option(sock_options *opts, const char *key, const char *value)
{
    assert_int_equal(sock_options_set(ctx, opts, key, value), SOCK_OK);
}

static sock_status read_table(arrow_table *t, const sock_options *opts, sock_data **out)
{
    struct ArrowArrayStream stream = arrow_stream(t);
    *out = NULL;
    t->schemas_released = t->tables_released = t->streams_released = 0;
    const sock_status status = sock_data_from_arrow_stream(ctx, &stream, opts, out);
    assert_int_equal(t->streams_released, 1);
    assert_null(stream.release);
    assert_int_equal(t->schemas_released, t->schema_error ? 0 : 1);
    assert_int_equal(t->tables_released, (int)t->next);
    assert_true((status >= 0) == (*out != NULL));
    return status;
}

static void assert_same(const sock_data *a, const sock_data *b)
{
    assert_int_equal(a->points, b->points);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->trajectories, b->trajectories);
    assert_int_equal(a->missing, b->missing);
    assert_true(a->hash == b->hash && (a->unit == b->unit));
    for (size_t k = 0; k < a->d; k++) assert_string_equal(a->state[k], b->state[k]);
    for (size_t j = 0; j < a->trajectories; j++) assert_string_equal(a->id[j], b->id[j]);
    assert_int_equal(a->ignored_count, b->ignored_count);
}

/* The table against the text of a CSV file. */
static void assert_reads(arrow_table *t, const char *csv, const sock_options *opts)
{
    sock_data *table = NULL, *text = NULL;
    if (sk_csv_parse(ctx, "text", csv, strlen(csv), opts, &text) < 0) fail_msg("%s", sock_message(ctx));
    if (read_table(t, opts, &table) < 0) fail_msg("%s", sock_message(ctx));
    assert_same(table, text);
    sock_data_free(table);
    sock_data_free(text);
}

static const int64_t four[] = {4};

/* Columns traj (text), t, x: the least table that is data. */
static void small_table(arrow_table *t)
{
    static const int32_t at[] = {0, 1, 2, 3, 4};
    static const double time[] = {0, 1, 0, 1}, x[] = {0.1, 0.2, 0.3, 1e-17};
    *t = (arrow_table){0};
    arrow_buffers(t, 0, arrow_column(t, "u", "traj"), 4, 0, 3, NULL, at, "aabb");
    arrow_buffers(t, 0, arrow_column(t, "g", "t"), 4, 0, 2, NULL, time, NULL);
    arrow_buffers(t, 0, arrow_column(t, "g", "x"), 4, 0, 2, NULL, x, NULL);
    arrow_finish(t, 1, four);
}

static void test_arrow__a_table(void **state)
{
    arrow_table t;
    (void)state;
    small_table(&t);
    assert_reads(&t, "traj,t,x\na,0,0.1\na,1,0.2\nb,0,0.3\nb,1,1e-17\n", NULL);
}

/* Each kind of number once, for the same values. */
static void test_arrow__numbers(void **state)
{
    static const int8_t c[] = {1, -2, 3, 4};
    static const uint8_t uc[] = {1, 254, 3, 4};
    static const int16_t s[] = {1, -2, 300, 4};
    static const uint16_t us[] = {1, 65534, 3, 4}, e[] = {0x3c00, 0xc000, 0x0001, 0x7bff};
    static const int32_t i[] = {1, -2, 300000, 4};
    static const uint32_t ui[] = {1, 4294967294u, 3, 4};
    static const int64_t l[] = {1, -2, 9007199254740993, 4};
    static const uint64_t ul[] = {1, 18446744073709551615u, 3, 4};
    static const float f[] = {0.1f, -2, 3, 4};
    static const unsigned char b[] = {0x0a};
    static const struct {
        const char *format, *text[4];
        const void *values;
    } kind[] = {{"c", {"1", "-2", "3", "4"}, c},
                {"C", {"1", "254", "3", "4"}, uc},
                {"s", {"1", "-2", "300", "4"}, s},
                {"S", {"1", "65534", "3", "4"}, us},
                {"i", {"1", "-2", "300000", "4"}, i},
                {"I", {"1", "4294967294", "3", "4"}, ui},
                {"l", {"1", "-2", "9007199254740993", "4"}, l},
                {"L", {"1", "18446744073709551615", "3", "4"}, ul},
                {"e", {"1", "-2", "5.9604644775390625e-08", "65504"}, e},
                {"f", {"0.10000000149011612", "-2", "3", "4"}, f},
                {"b", {"0", "1", "0", "1"}, b}};
    (void)state;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        arrow_table t;
        char csv[512];
        small_table(&t);
        t.column[2].format = kind[k].format;
        t.buffer[0][2][1] = kind[k].values;
        snprintf(csv, sizeof csv, "traj,t,x\na,0,%s\na,1,%s\nb,0,%s\nb,1,%s\n", kind[k].text[0], kind[k].text[1],
                 kind[k].text[2], kind[k].text[3]);
        assert_reads(&t, csv, NULL);
    }
}

/* Dates of every unit; a leap day, a day before 1970. */
static void test_arrow__dates(void **state)
{
    static const int32_t days[] = {-1, 0, 11016, 11017};
    static int64_t stamps[4];
    static const struct {
        const char *format;
        int64_t per_second;
    } unit[] = {{"tss:", 1}, {"tsm:UTC", 1000}, {"tsu:", 1000000}, {"tsn:Europe/Berlin", 1000000000}, {"tdm", 1000}};
    const char *csv = "t,x\n1969-12-31,0.1\n1970-01-01,0.2\n2000-02-29,0.3\n2000-03-01,1e-17\n";
    arrow_table t;
    (void)state;
    small_table(&t);
    t.columns_of[0] = t.columns_of[1];
    t.columns_of[1] = t.columns_of[2];
    t.arrays_of[0][0] = t.arrays_of[0][1];
    t.arrays_of[0][1] = t.arrays_of[0][2];
    t.schema.n_children = t.table[0].n_children = 2;
    t.column[1].format = "tdD";
    t.buffer[0][1][1] = days;
    assert_reads(&t, csv, NULL);
    for (size_t k = 0; k < sizeof unit / sizeof *unit; k++) {
        for (size_t i = 0; i < 4; i++) stamps[i] = days[i] * 86400 * unit[k].per_second;
        t.column[1].format = unit[k].format;
        t.buffer[0][1][1] = stamps;
        t.next = 0;
        assert_reads(&t, csv, NULL);
        stamps[3] += 3661 * unit[k].per_second;
        t.next = 0;
        assert_reads(&t, "t,x\n1969-12-31,0.1\n1970-01-01,0.2\n2000-02-29,0.3\n2000-03-01T01:01:01,1e-17\n", NULL);
    }
    stamps[0] = INT64_MIN;
    t.column[1].format = "tss:";
    t.next = 0;
    sock_data *data;
    assert_int_equal(read_table(&t, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "column 't' (format 'tss:'): a date is outside of the years 1 to 9999"));
}

/* Long text, views short and long, dictionaries of text and of numbers: the same ids. */
static void test_arrow__words(void **state)
{
    static const char *csv = "traj,t,x\n\"first, of two\",0,0.1\n\"first, of two\",1,0.2\nb,0,0.3\nb,1,1e-17\n";
    static const int64_t at[] = {0, 13, 26, 27, 28}, sizes[] = {40};
    static const char *words = "first, of twofirst, of twobb";
    static const int32_t place[] = {0, 13, 14};
    static const int8_t index[] = {0, 0, 1, 1};
    struct {
        int32_t length;
        char begin[4];
        int32_t buffer, place;
    } view[4] = {{13, "firs", 0, 5}, {13, "firs", 0, 5}, {1, "b", 0, 0}, {1, "b", 0, 0}};
    arrow_table t;
    sock_data *data;
    (void)state;
    small_table(&t);
    t.column[0].format = "U";
    t.buffer[0][0][1] = at;
    t.buffer[0][0][2] = words;
    assert_reads(&t, csv, NULL);
    small_table(&t);
    t.column[0].format = "vu";
    t.array[0][0].n_buffers = 4;
    t.buffer[0][0][1] = view;
    t.buffer[0][0][2] = "01234first, of two";
    t.buffer[0][0][3] = sizes;
    assert_reads(&t, csv, NULL);
    view[1].place = 28;
    t.next = 0;
    assert_int_equal(read_table(&t, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "a text lies outside of its buffers"));
    small_table(&t);
    t.column[0].format = "c";
    t.column[0].dictionary = &t.dictionary[0];
    t.dictionary[0] = (struct ArrowSchema){.format = "u"};
    t.array[0][0].n_buffers = 2;
    t.buffer[0][0][1] = index;
    t.array[0][0].dictionary = &t.values[0][0];
    const void *list[] = {NULL, place, words + 13};
    char both[] = "first, of twob";
    list[2] = both;
    memcpy(t.values_buffer[0][0], list, sizeof list);
    t.values[0][0] = (struct ArrowArray){.length = 2, .n_buffers = 3, .buffers = t.values_buffer[0][0]};
    assert_reads(&t, csv, NULL);
    t.values[0][0].length = 1;
    t.next = 0;
    assert_int_equal(read_table(&t, NULL, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "a place is outside of its dictionary"));
}

/* Two tables, an empty one between; offsets of the table and of a column; nulls in bits and as NaN; other columns. */
static void test_arrow__pieces_and_nulls(void **state)
{
    static const double time[] = {9, 9, 0, 1, 2, 3}, later[] = {4, 5}, y[] = {7, 7, 7, 1, 2, 3, 4}, z[] = {5, NAN};
    static const unsigned char there[] = {0x57}; /* of y: 1 1 1 0 1 0 1 */
    static const int64_t rows[] = {4, 0, 2};
    arrow_table t = {0};
    (void)state;
    const size_t a = arrow_column(&t, "g", "t"), b = arrow_column(&t, "g", "x"), c = arrow_column(&t, "+l", "list"),
                 n = arrow_column(&t, "n", "nothing");
    arrow_buffers(&t, 0, a, 6, 0, 2, NULL, time, NULL);
    arrow_buffers(&t, 0, b, 6, -1, 2, there, y, NULL);
    t.array[0][b].offset = 1;
    arrow_buffers(&t, 2, a, 2, 0, 2, NULL, later, NULL);
    arrow_buffers(&t, 2, b, 2, 0, 2, NULL, z, NULL);
    for (size_t i = 0; i < 3; i++) {
        arrow_buffers(&t, i, c, i == 0 ? 6 : rows[i], 0, 2, NULL, NULL, NULL);
        arrow_buffers(&t, i, n, i == 0 ? 6 : rows[i], i == 0 ? 6 : rows[i], 0, NULL, NULL, NULL);
    }
    arrow_buffers(&t, 1, a, 0, 0, 2, NULL, NULL, NULL);
    arrow_buffers(&t, 1, b, 0, 0, 2, NULL, NULL, NULL);
    arrow_finish(&t, 3, rows);
    t.table[0].offset = 2;
    assert_reads(&t, "t,x,list,nothing\n0,,+l,\n1,2,+l,\n2,,+l,\n3,4,+l,\n4,5,+l,\n5,,+l,\n", NULL);
    sock_options *opts = sock_options_new(ctx);
    option(opts, "state", "list");
    t.next = 0;
    sock_data *data;
    assert_int_equal(read_table(&t, opts, &data), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "arrow stream: line 2, column 'list': '+l' is not a number"));
    sock_options_free(opts);
}

/* A row that is null as a whole has no cell. */
static void test_arrow__rows_that_are_null(void **state)
{
    static const unsigned char there[] = {0x0d};
    static const void *rows[] = {there};
    arrow_table t;
    sock_data *data;
    (void)state;
    small_table(&t);
    t.columns_of[0] = t.columns_of[1];
    t.arrays_of[0][0] = t.arrays_of[0][1];
    t.columns_of[1] = t.columns_of[2];
    t.arrays_of[0][1] = t.arrays_of[0][2];
    t.schema.n_children = t.table[0].n_children = 2;
    t.buffer[0][1][1] = (const double[]){0, 1, 2, 3};
    t.table[0].buffers = rows;
    t.table[0].null_count = 1;
    assert_int_equal(read_table(&t, NULL, &data), SOCK_OK);
    assert_int_equal(data->points, 3); /* as an empty row of a file */
    sock_data_free(data);
}

/* ---- What breaks the rules ---- */

typedef void (*harm)(arrow_table *t);
static void no_format(arrow_table *t) { t->schema.format = NULL; }
static void no_struct(arrow_table *t) { t->schema.format = "g"; }
static void no_columns(arrow_table *t) { t->schema.n_children = 0; }
static void fewer_than_none(arrow_table *t) { t->schema.n_children = -3; }
static void no_children(arrow_table *t) { t->schema.children = NULL; }
static void no_child(arrow_table *t) { t->columns_of[1] = NULL; }
static void no_kind(arrow_table *t) { t->column[1].format = NULL; }
static void schema_is_gone(arrow_table *t) { t->schema.release = NULL; }
static void negative_rows(arrow_table *t) { t->table[0].length = -4; }
static void negative_offset(arrow_table *t) { t->table[0].offset = -1; }
static void too_long(arrow_table *t) { t->table[0].length = INT64_MAX, t->table[0].offset = 2; }
static void other_columns(arrow_table *t) { t->table[0].n_children = 2; }
static void no_arrays(arrow_table *t) { t->table[0].children = NULL; }
static void no_array(arrow_table *t) { t->arrays_of[0][2] = NULL; }
static void short_column(arrow_table *t) { t->array[0][2].length = 3; }
static void negative_column(arrow_table *t) { t->array[0][2].length = -1; }
static void wrong_buffers(arrow_table *t) { t->array[0][2].n_buffers = 3; }
static void no_buffers(arrow_table *t) { t->array[0][2].buffers = NULL; }
static void no_values(arrow_table *t) { t->buffer[0][2][1] = NULL; }
static void nulls_nowhere(arrow_table *t) { t->array[0][2].null_count = 1; }
static void too_many_nulls(arrow_table *t) { t->array[0][2].null_count = 5; }
static void no_text(arrow_table *t) { t->buffer[0][0][2] = NULL; }
static void falling_text(arrow_table *t)
{
    static const int32_t places[] = {0, 3, 2, 3, 4};
    t->buffer[0][0][1] = places;
}
static void null_rows(arrow_table *t) { t->table[0].null_count = 1; }
static void real_places(arrow_table *t) { t->column[2].dictionary = &t->dictionary[2]; }
static void no_words(arrow_table *t)
{
    t->column[0].format = "i";
    t->column[0].dictionary = &t->dictionary[0];
    t->dictionary[0].format = "u";
    t->array[0][0].n_buffers = 2;
}
static void schema_fails(arrow_table *t) { t->schema_error = EIO, t->said = "the disk is gone"; }
static void next_fails(arrow_table *t) { t->next_error = EIO; }

static void test_arrow__what_breaks_the_rules(void **state)
{
    static const struct {
        harm harm;
        const char *said;
    } cases[] = {{no_format, "its format is '(none)'; allowed: +s, a table"},
                 {no_struct, "its format is 'g'; allowed: +s"},
                 {no_columns, "the table has no columns"},
                 {fewer_than_none, "the table has no columns"},
                 {no_children, "the table has no columns"},
                 {no_child, "column 2 has no schema"},
                 {no_kind, "column 2 has no format"},
                 {schema_is_gone, "its schema was released already"},
                 {negative_rows, "the length or offset of a table is negative or too large"},
                 {negative_offset, "the length or offset of a table is negative or too large"},
                 {too_long, "the length or offset of a table is negative or too large"},
                 {other_columns, "a table has not the columns of the schema"},
                 {no_arrays, "a table has not the columns of the schema"},
                 {no_array, "column 'x' (format 'g'): it has no array"},
                 {short_column, "column 'x' (format 'g'): it is shorter than the table"},
                 {negative_column, "column 'x' (format 'g'): its length or offset is negative"},
                 {wrong_buffers, "column 'x' (format 'g'): it has another number of buffers than its format"},
                 {no_buffers, "column 'x' (format 'g'): it has no buffers"},
                 {no_values, "column 'x' (format 'g'): its values are missing"},
                 {nulls_nowhere, "column 'x' (format 'g'): it has nulls, and nothing says where"},
                 {too_many_nulls, "column 'x' (format 'g'): its number of nulls is not between -1 and its length"},
                 {no_text, "column 'traj' (format 'u'): its text is missing"},
                 {falling_text, "column 'traj' (format 'u'): places of its text do not rise"},
                 {null_rows, "the rows of a table are said to be missing, and nothing says which"},
                 {real_places, "column 'x' (format 'g'): places in a dictionary must be integers"},
                 {no_words, "column '' (format 'u'): it has no array"},
                 {schema_fails, "its producer failed: Input/output error: the disk is gone"},
                 {next_fails, "its producer failed: Input/output error"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arrow_table t;
        sock_data *data = NULL;
        small_table(&t);
        cases[i].harm(&t);
        struct ArrowArrayStream stream = arrow_stream(&t);
        const sock_status status = sock_data_from_arrow_stream(ctx, &stream, NULL, &data);
        assert_true(status == SOCK_EINPUT || status == SOCK_EIO);
        if (!strstr(sock_message(ctx), cases[i].said)) fail_msg("case %zu: %s", i, sock_message(ctx));
        assert_null(data);
        assert_int_equal(t.streams_released, 1);
        assert_int_equal(t.tables_released, (int)t.next);
        assert_true(t.schemas_released <= 1);
    }
}

static void test_arrow__streams_that_are_none(void **state)
{
    arrow_table t;
    sock_data *data = NULL;
    (void)state;
    small_table(&t);
    struct ArrowArrayStream stream = arrow_stream(&t);
    assert_int_equal(sock_data_from_arrow_stream(ctx, NULL, NULL, &data), SOCK_EUSAGE);
    assert_int_equal(sock_data_from_arrow_stream(NULL, &stream, NULL, &data), SOCK_EUSAGE);
    assert_int_equal(sock_data_from_arrow_stream(ctx, &stream, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(t.streams_released, 1);
    assert_int_equal(sock_data_from_arrow_stream(ctx, &stream, NULL, &data), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "arrow stream: it was released already");
    stream = arrow_stream(&t);
    stream.get_next = NULL;
    assert_int_equal(sock_data_from_arrow_stream(ctx, &stream, NULL, &data), SOCK_EUSAGE);
    assert_int_equal(t.streams_released, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrow__a_table),
                                       cmocka_unit_test(test_arrow__numbers),
                                       cmocka_unit_test(test_arrow__dates),
                                       cmocka_unit_test(test_arrow__words),
                                       cmocka_unit_test(test_arrow__pieces_and_nulls),
                                       cmocka_unit_test(test_arrow__rows_that_are_null),
                                       cmocka_unit_test(test_arrow__what_breaks_the_rules),
                                       cmocka_unit_test(test_arrow__streams_that_are_none)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
