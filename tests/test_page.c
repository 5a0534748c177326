/* The small writers of the report's page: encodings with known answers, and text that comes back as it went in. */
#define _GNU_SOURCE
#include "test.h"

#include "report/memtext.h"
#include "report/page.h"
#include "report/units.h"

static char *written(void (*put)(FILE *out, const char *text), const char *text)
{
    memtext m;
    FILE *out = memtext_open(&m);
    assert_non_null(out);
    put(out, text);
    assert_int_equal(memtext_close(out, &m), 0);
    return m.text;
}

static void put_base64(FILE *out, const char *text) { page_base64(out, strlen(text), (const unsigned char *)text); }

/* RFC 4648, section 10. */
static void test_page__base64_has_the_answers_of_the_standard(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = written(put_base64, cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

static void measured(double value, double se, const char *wanted)
{
    memtext m;
    FILE *out = memtext_open(&m);
    assert_non_null(out);
    page_measured(out, value, se);
    assert_int_equal(memtext_close(out, &m), 0);
    assert_string_equal(m.text, wanted);
    free(m.text);
}

/* Two digits of the error, and of the value those above them: no more is known. */
static void test_page__an_error_says_how_many_digits_a_number_has(void **state)
{
    (void)state;
    measured(0.6455, 0.1123, "0.65 \xc2\xb1 0.11");
    measured(-0.9402, 0.0592,
             "\xe2\x88\x92"
             "0.940 \xc2\xb1 0.059");
    measured(2.481, 0.6, "2.48 \xc2\xb1 0.60");
    measured(-0.001, 0.2, "0.00 \xc2\xb1 0.20");
    measured(0.5, 0.0996, "0.50 \xc2\xb1 0.10");
    measured(34567, 1234, "34600 \xc2\xb1 1200");
    measured(3, 2, "3.0 \xc2\xb1 2.0");
    measured(1.2347e-9, 3.21e-10, "1.235e-09 \xc2\xb1 3.2e-10");
    measured((double)NAN, 0.5, "nan \xc2\xb1 0.5");
    measured(2.5, (double)INFINITY, "2.5 \xc2\xb1 inf");
    measured(4.56789e30, 1e28, "4.568e+30 \xc2\xb1 1e+28");
}

static void between(double value, double low, double high, const char *wanted)
{
    memtext m;
    FILE *out = memtext_open(&m);
    assert_non_null(out);
    page_between(out, value, low, high);
    assert_int_equal(memtext_close(out, &m), 0);
    assert_string_equal(m.text, wanted);
    free(m.text);
}

static void test_page__an_interval_is_rounded_outwards(void **state)
{
    (void)state;
    between(36.83, 19.03, 85.3, "37 (19 to 86)");
    between(0.5084, 0.455, 0.591, "0.51 (0.45 to 0.60)");
    between(12.25, 3.91, 48.6, "12 (3.9 to 49)");
    between(2.06, 0.0412, 260, "2.1 (0.041 to 260)");
    between(-1.5, -2.04, -0.98,
            "\xe2\x88\x92"
            "1.5 (\xe2\x88\x92"
            "2.1 to \xe2\x88\x92"
            "0.98)");
    between(0.5, 0.35, 0.65, "0.50 (0.35 to 0.65)");
    between(20, 7.3, (double)INFINITY, "20 (7.3 or more)");
    between(20, (double)NAN, 30, "20");
    between(0, 0, 1.23, "0.0 (0.0 to 1.3)");
    between(1.01571, 1.0034, 1.0311, "1.016 (1.003 to 1.032)");
}

/* SHA-256 of the empty text, as a policy writes it. */
static void test_page__hash_is_that_of_a_policy(void **state)
{
    (void)state;
    char *text = written(page_hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(text, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    free(text);
}

/* Takes the entities of page_text back. */
static void unescape(char *text)
{
    static const char *const entity[][2] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    char *to = text;
    for (const char *from = text; *from;) {
        size_t i = 0;
        while (i < 5 && strncmp(from, entity[i][0], strlen(entity[i][0])) != 0) i++;
        *to++ = i < 5 ? entity[i][1][0] : *from;
        from += i < 5 ? strlen(entity[i][0]) : 1;
    }
    *to = 0;
}

/* A shell gives every word back. */
static void prop_page__shell_words_come_back(void **state)
{
    (void)state;
    static const char *const words[] = {"plain.csv",
                                        "with space",
                                        "it's",
                                        "",
                                        "'",
                                        "a'b'c",
                                        "$(reboot)",
                                        "`id`",
                                        "a;b|c&d>e<f\\g",
                                        "*?[!x]~",
                                        "#x",
                                        "-o",
                                        "gr\xc3\xb6\xc3\x9f"
                                        "e",
                                        "\"quoted\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *text = written(page_shell_word, words[i]), command[256], got[256] = "";
        unescape(text);
        snprintf(command, sizeof command, "printf '%%s|' %s", text);
        FILE *shell = popen(command, "r");
        assert_non_null(shell);
        assert_non_null(fgets(got, sizeof got, shell));
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(got[strlen(got) - 1], '|');
        got[strlen(got) - 1] = 0;
        assert_string_equal(got, words[i]);
        free(text);
    }
}

static void test_page__tables_are_csv(void **state)
{
    (void)state;
    fig_tables tables = {0};
    fig_table *t = tables_add(&tables, 3, 2, NULL, "numbers");
    size_t size;
    table_column(&tables, t, 0, "x", "");
    table_column(&tables, t, 1, "f_", "a,b");
    table_column(&tables, t, 2, "say \"", "no\"");
    const double values[] = {1, -0.5, (double)NAN, 1e-30, 1.0 / 3, (double)INFINITY};
    memcpy(t->value, values, sizeof values);
    char *text = table_csv(t, &size);
    assert_string_equal(text, "x,\"f_a,b\",\"say \"\"no\"\"\"\n1,-0.5,\n1e-30,0.3333333,\n");
    assert_int_equal(size, strlen(text));
    assert_false(tables.failed);
    assert_null(tables_add(NULL, 1, 1, NULL, "nobody"));
    free(text);
    tables_clear(&tables);
}

static void test_page__units_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *name, *time, *first, *second;
    } cases[] = {{"height [mm]", "age [years]", " [mm/years]", " [mm\xc2\xb2/years]"},
                 {"speed (m/s)", "t (s)", " [m/s/s]", " [(m/s)\xc2\xb2/s]"},
                 {"height", "age [years]", " [per year]", " [per year]"},
                 {"height [mm]", "t", "", ""},
                 {"[mm]", "t [s]", " [per s]", " [per s]"},
                 {"log(x)", "t [ms]", " [per ms]", " [per ms]"},
                 {"x []", "t [s]", " [per s]", " [per s]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        unit_of_field(cases[i].name, cases[i].time, 1, sizeof text, text);
        assert_string_equal(text, cases[i].first);
        unit_of_field(cases[i].name, cases[i].time, 2, sizeof text, text);
        assert_string_equal(text, cases[i].second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page__base64_has_the_answers_of_the_standard),
                                       cmocka_unit_test(test_page__an_error_says_how_many_digits_a_number_has),
                                       cmocka_unit_test(test_page__an_interval_is_rounded_outwards),
                                       cmocka_unit_test(test_page__hash_is_that_of_a_policy),
                                       cmocka_unit_test(prop_page__shell_words_come_back),
                                       cmocka_unit_test(test_page__tables_are_csv),
                                       cmocka_unit_test(test_page__units_of_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
