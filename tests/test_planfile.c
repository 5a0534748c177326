/* test_planfile.c - the file of a plan: what is written reads back to the last bit, the format stays as it is, and what
 * is wrong with a file is named by line and key. */
#define _GNU_SOURCE
#include "api/jsonline.h"
#include "api/planfile.h"
#include "base/safefile.h"
#include "onecontext.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const golden = TEST_DATA "/format.plan";

static void read_text(const char *path, char **out)
{
    size_t size;
    assert_int_equal(sk_file_read(ctx, path, out, &size), SOCK_OK);
}

/* ---- Lines ---- */

static void test_planfile__line_of_a_value(void **state)
{
    (void)state;
    static const char text[] =
        "{\n \"a\": [1,\n  {\"b\": \"}]\\\"\",\n   \"c\": [\n    2, 3]}],\n \"ab\": {},\n \"d\": null}";
    static const struct {
        const char *path;
        size_t line;
    } cases[] = {{"", 1},       {"a", 2},         {"a[0]", 2},      {"a[1]", 3}, {"a[1].b", 3},
                 {"a[1].c", 4}, {"a[1].c[0]", 5}, {"a[1].c[1]", 5}, {"ab", 6},   {"d", 7},
                 {"none", 1},   {"a[7]", 2},      {"a[1].none", 3}, {"ab.x", 6}, {"d[0]", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_json_line(text, cases[i].path), cases[i].line);
}

/* ---- The format ---- */

/* The file of this version, whatever its number is; every key of the format stands in it. */
static void test_planfile__the_format_stays(void **state)
{
    (void)state;
    char path[] = "/tmp/sock-plan-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    sk_plan_file file;
    assert_int_equal(sk_plan_read(ctx, golden, &file), SOCK_OK);
    assert_int_equal(file.plan.rivals, 1);
    assert_int_equal(file.plan.diffusion[0].rates.count, 2);
    assert_int_equal(file.plan.search.count, 2);
    sk_free(file.path);
    file.path = sk_strdup(ctx, path);
    assert_int_equal(sk_plan_write(ctx, &file), SOCK_OK);
    char *before = NULL, *after = NULL;
    read_text(golden, &before);
    read_text(path, &after);
    char *known = strstr(before, "\"version\": \"0.1.0\""), *now = strstr(after, "\"version\": \"" SOCK_VERSION "\"");
    assert_non_null(known);
    assert_non_null(now);
    assert_int_equal(known - before, now - after);
    assert_memory_equal(before, after, (size_t)(known - before));
    assert_string_equal(strchr(known, '\n'), strchr(now, '\n'));
    sk_free(before);
    sk_free(after);
    sk_plan_file_clear(&file);
    unlink(path);
}

/* ---- What is wrong ---- */

/* The golden file with `from` in place of `to`, the first time it stands there; *line: where. */
static char *damaged(const char *from, const char *to, size_t *line)
{
    char *text = NULL;
    read_text(golden, &text);
    char *at = strstr(text, from);
    assert_non_null(at);
    *line = 1;
    for (const char *p = text; p < at; p++) *line += *p == '\n';
    *at = 0;
    char *made = sk_format(ctx, "%s%s%s", text, to, at + strlen(from));
    assert_non_null(made);
    sk_free(text);
    return made;
}

static void test_planfile__what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *said;
        int more; /* lines after that of the change */
    } cases[] = {
        {"\"format\": \"sock-plan\"", "\"format\": \"plan\"", "format must be sock-plan", 0},
        {"\"format_version\": 1", "\"format_version\": 2", "format_version must be 1", 0},
        {"\"search-rows\": \"1000\"", "\"search-rows\": 1000", "options.search-rows must be a text", 0},
        {"\"steps\": 1200", "\"steps\": -1", "data.steps must be a whole number from 0 on", 0},
        {"\"folds\": 6", "\"folds\": 6.5", "data.folds must be a whole number", 0},
        {"\"digest\": \"", "\"digset\": \"", "data.digest is missing", -7},
        {"\"too_few\": false", "\"too_few\": 0", "choice.too_few must be true or false", 0},
        {"\"too_few\": false", "\"too_few\": false, \"odd\": 1", "choice.odd is not known", 0},
        {"\"floor\": 0", "\"floor\": -0", "choice.floor must not be below 0", 0},
        {"\"shrink\": 0", "\"shrink\": 1", "choice.shrink must be from 0 to below 1", 0},
        {"\"lead\": 0", "\"lead\": 1", "choice.lead must be a place in drifts", 0},
        {"\"constants\": 0", "\"constants\": 1", "choice.constants must be below", 0},
        {"\"share\": 1.0", "\"share\": 1.5", "drifts[0].share must be from 0 to 1", 0},
        {"\"share\": 1.0", "\"share\": null", "drifts[0].share must be a number", 0},
        {"\"passes\": true", "\"passes\": false", "drifts[0].passes must be true where there is a share", 0},
        {"\"kernel\": \"affine\"", "\"kernel\": 3", "diffusions[0].kernel must be a text", 0},
        {"\"l\": 1", "\"l\": -1", "diffusions[0].l must not be below 0", 0},
        {"\"rates\": [", "\"rates\": [64,", "diffusions[0].rates must hold whole numbers from 0 to 63", 0},
        {"\"rates\": [", "\"rates\": [\"a\",", "diffusions[0].rates must be a list of numbers", 0},
        {"\"model\": {", "\"modal\": {", "modal is not known", 0},
        {"\"features\": \"poly:degree=2\"", "\"features\": \"poly:degree=x\"", "model: not a valid model file", -10},
        {"\"drift.0.weight\": [", "\"drift.0.weights\": [", "model: not a valid model file", -21},
        {"\"place\": 0", "\"place\": 64", "rivals[0] must have a place from 0 to 63", -1},
        {"\"rivals\": [", "\"rivals\": [3,", "rivals[0] must be an object", 0},
        {"\"rival_model\": {", "\"rival_model\": 3, \"a\": {", "a is not known", 0},
        {"\"search\": [", "\"search\": [3,", "search must be a list of objects", 0},
        {"\"choice\": {", "\"data\": {", "this is no plan: duplicate object key", -100},
        {"\"choice\"", "choice", "this is no plan", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t line;
        char *text = damaged(cases[i].from, cases[i].to, &line), said[256];
        sk_plan_file file;
        sk_begin(ctx);
        assert_int_equal(sk_plan_parse(ctx, "p.plan", text, strlen(text), &file), SOCK_EINPUT);
        snprintf(said, sizeof said, "p.plan: line %zu: %s", line + (size_t)cases[i].more, cases[i].said);
        const char *found = strstr(sock_message(ctx), cases[i].more > -100 ? said : cases[i].said);
        if (!found || (cases[i].more > -100 && found != sock_message(ctx))) {
            print_error("%s, not %s\n", sock_message(ctx), said);
            fail();
        }
        sk_free(text);
    }
}

/* Cut anywhere it is refused, and says so. */
static void test_planfile__a_cut_file_is_refused(void **state)
{
    (void)state;
    char *text = NULL;
    read_text(golden, &text);
    const size_t size = strlen(text);
    for (size_t cut = 0; cut + 3 < size; cut += 7) {
        sk_plan_file file;
        sk_begin(ctx);
        char *part = sk_strdup(ctx, text);
        part[cut] = 0;
        assert_int_equal(sk_plan_parse(ctx, "p.plan", part, cut, &file), SOCK_EINPUT);
        assert_non_null(strstr(sock_message(ctx), "p.plan: line "));
        sk_free(part);
    }
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planfile__line_of_a_value),
        cmocka_unit_test(test_planfile__the_format_stays),
        cmocka_unit_test(test_planfile__what_is_wrong_is_named),
        cmocka_unit_test(test_planfile__a_cut_file_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
