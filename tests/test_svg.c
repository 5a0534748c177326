/* test_svg.c - text in pictures: whatever a name holds, it stays text; and the well-formedness of shapes. */
#define _GNU_SOURCE
#include "report/svg.h"

#include "test.h"

static char *escaped(const char *text, size_t most)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    svg_escape(stream, text, most);
    assert_int_equal(fclose(stream), 0);
    return out;
}

static void assert_escaped(const char *text, size_t most, const char *expected)
{
    char *out = escaped(text, most);
    assert_string_equal(out, expected);
    free(out);
}

static void test_svg__markup_becomes_entities(void **state)
{
    (void)state;
    assert_escaped("<b a=\"1\" c='2'>&amp;</b>", 0, "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
    assert_escaped("]]><script>", 0, "]]&gt;&lt;script&gt;");
    assert_escaped("gr\xc3\xb6\xc3\x9f"
                   "e \xf0\x9f\x90\x88",
                   0,
                   "gr\xc3\xb6\xc3\x9f"
                   "e \xf0\x9f\x90\x88");
}

#define BAD "\xef\xbf\xbd"

/* Broken and overlong forms, surrogates, beyond the end, controls, non-characters, marks that turn the writing. */
static void test_svg__what_xml_forbids_is_replaced(void **state)
{
    (void)state;
    assert_escaped("a\x01\x1b\x7f"
                   "b",
                   0, "a" BAD BAD BAD "b");
    assert_escaped("a\tb\nc\rd", 0, "a b c d");
    assert_escaped("\xff<", 0, BAD "&lt;");
    assert_escaped("\xc0\xbc", 0, BAD BAD); /* an overlong '<' */
    assert_escaped("\xe0\x80\xbc", 0, BAD BAD BAD);
    assert_escaped("\xed\xa0\x80", 0, BAD BAD BAD); /* U+D800 */
    assert_escaped("\xf4\x90\x80\x80", 0, BAD BAD BAD BAD);
    assert_escaped("\xc3<", 0, BAD "&lt;"); /* a first byte that would swallow the next */
    assert_escaped("x\xe2\x82", 0, "x" BAD BAD);
    assert_escaped("\xef\xbf\xbe\xef\xbf\xbf", 0, BAD BAD);
    assert_escaped("\xe2\x80\xae"
                   "gvs",
                   0, BAD "gvs");
}

static void test_svg__long_text_is_cut_between_characters(void **state)
{
    (void)state;
    assert_escaped("abcdef", 6, "abcdef");
    assert_escaped("abcdefg", 6, "abcde\xe2\x80\xa6");
    assert_escaped("<<<<", 3, "&lt;&lt;\xe2\x80\xa6");
    assert_escaped("\xc3\xb6\xc3\xb6\xc3\xb6", 2, "\xc3\xb6\xe2\x80\xa6");
    assert_int_equal(svg_length("\xc3\xb6x\xff", 0), 3);
    assert_int_equal(svg_length("abc", 2), 2);
}

/* Every byte string of length two: the output holds no raw markup and no control byte. */
static void prop_nothing_raw_comes_through(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            const char text[3] = {(char)a, (char)b, 0};
            char *out = escaped(text, 0);
            for (const char *p = out; *p; p++) {
                assert_null(strchr("<>\"'", *p));
                assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
                if (*p == '&') assert_non_null(strchr(p, ';'));
            }
            free(out);
        }
}

/* Numbers: two decimals, no zeros at the end, no minus zero, nothing that is not finite. */
static void test_svg__numbers_are_short_and_finite(void **state)
{
    (void)state;
    svg *s = svg_new("t", 100, 50, "a <title>");
    const double xy[] = {1, 2.5, 3.125, -0.001, (double)NAN, 1, 4, 1e12, 5, 6};
    size_t size;
    assert_non_null(s);
    svg_polyline(s, "model", 5, xy);
    svg_dot(s, "speck", (double[]){INFINITY, 1}, 2);
    svg_line(s, "grid", (double[]){(double)NAN, 1}, (double[]){1, 1});
    char *text = svg_close(s, &size);
    assert_non_null(text);
    assert_int_equal(size, strlen(text));
    assert_non_null(strstr(text, "d=\"M1 2.5L3.12 0M4 100000L5 6\"/>"));
    assert_non_null(strstr(text, "<title>a &lt;title&gt;</title>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strstr(text, "<circle"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svg__markup_becomes_entities),
        cmocka_unit_test(test_svg__what_xml_forbids_is_replaced),
        cmocka_unit_test(test_svg__long_text_is_cut_between_characters),
        cmocka_unit_test(prop_nothing_raw_comes_through),
        cmocka_unit_test(test_svg__numbers_are_short_and_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
