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
                 {"height", "age [years]", "", ""},
                 {"height [mm]", "t", "", ""},
                 {"[mm]", "t [s]", "", ""},
                 {"x []", "t [s]", "", ""}};
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page__base64_has_the_answers_of_the_standard),
        cmocka_unit_test(test_page__hash_is_that_of_a_policy), cmocka_unit_test(prop_page__shell_words_come_back),
        cmocka_unit_test(test_page__tables_are_csv), cmocka_unit_test(test_page__units_of_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
