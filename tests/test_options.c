/* test_options.c - every row of the options table keeps the table's own promises. */
#include "base/options.h"
#include "test.h"

#include <ctype.h>

typedef struct fixture {
    sock_context *ctx;
    sock_options *opts;
} fixture;

static int setup(void **state)
{
    fixture *f = malloc(sizeof *f);
    f->ctx = sock_context_new();
    f->opts = sock_options_new(f->ctx);
    *state = f;
    return f->opts ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    sock_options_free(f->opts);
    sock_context_free(f->ctx);
    free(f);
    return 0;
}

/* A refused value changes nothing, and the message names the option, the value and what is allowed. */
static void refused(fixture *f, const sock_option_info *info, const char *value)
{
    char before[256];
    snprintf(before, sizeof before, "%s", sock_options_get(f->opts, info->key));
    if (sock_options_set(f->ctx, f->opts, info->key, value) != SOCK_EUSAGE) {
        print_error("%s took '%s'\n", info->key, value);
        fail();
    }
    assert_non_null(strstr(sock_message(f->ctx), info->key));
    assert_non_null(strstr(sock_message(f->ctx), value));
    assert_non_null(strstr(sock_message(f->ctx), info->allowed));
    assert_string_equal(sock_options_get(f->opts, info->key), before);
}

static void taken(fixture *f, const char *key, const char *value)
{
    if (sock_options_set(f->ctx, f->opts, key, value) != SOCK_OK) {
        print_error("%s refused '%s': %s\n", key, value, sock_message(f->ctx));
        fail();
    }
    assert_string_equal(sock_options_get(f->opts, key), value);
    assert_true(sk_option_is_set(f->opts, key));
}

static void test_options__keys_are_unique_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sock_option_count(); i++) {
        sock_option_info info = sock_option_describe(i);
        assert_true(info.key[0] && info.help[0] && info.allowed[0] && info.fallback[0]);
        for (const char *p = info.key; *p; p++) assert_true(islower(*p) || isdigit(*p) || *p == '-');
        for (size_t j = 0; j < i; j++) assert_string_not_equal(info.key, sock_option_describe(j).key);
    }
    assert_null(sock_option_describe(sock_option_count()).key);
}

static void test_options__every_default_is_a_value_one_may_set(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sock_option_count(); i++) {
        sock_option_info info = sock_option_describe(i);
        assert_string_equal(sock_options_get(f->opts, info.key), info.fallback);
        assert_string_equal(sock_options_get(NULL, info.key), info.fallback);
        assert_string_equal(sk_option_text(NULL, info.key), info.fallback);
        assert_false(sk_option_is_set(f->opts, info.key));
        taken(f, info.key, info.fallback);
    }
}

static void test_options__choices_are_the_listed_words_and_no_others(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sock_option_count(); i++) {
        sock_option_info info = sock_option_describe(i);
        if (strcmp(info.type, "choice") != 0) continue;
        char words[512], *rest = words;
        assert_true(strlen(info.allowed) < sizeof words);
        strcpy(words, info.allowed);
        size_t count = 0;
        for (char *word = strtok_r(words, "|", &rest); word; word = strtok_r(NULL, "|", &rest), count++) {
            taken(f, info.key, word);
            char other[600];
            snprintf(other, sizeof other, "%sx", word);
            refused(f, &info, other);
            snprintf(other, sizeof other, "%.*s", (int)strlen(word) - 1, word);
            if (other[0]) refused(f, &info, other);
        }
        assert_true(count >= 2);
        refused(f, &info, info.allowed); /* all words at once */
        refused(f, &info, "");
        refused(f, &info, "|");
    }
}

static void test_options__numbers_are_checked(void **state)
{
    fixture *f = *state;
    const char *never[] = {"", "x", "1x", " 1", "1 ", "nan", "inf", "-1", "0x1", "1e999", "-1e-9", "1,5", "--1", "1e"};
    for (size_t i = 0; i < sock_option_count(); i++) {
        sock_option_info info = sock_option_describe(i);
        bool number = strcmp(info.type, "number") == 0, count = strcmp(info.type, "count") == 0;
        if (!number && !count) continue;
        for (size_t j = 0; j < sizeof never / sizeof *never; j++) refused(f, &info, never[j]);
        if (count) {
            refused(f, &info, "1.5");
            const bool few = strcmp(info.key, "substeps") == 0, many = strcmp(info.key, "search-rows") == 0;
            taken(f, info.key, few ? "16" : many ? "1021" : "21"); /* up to 16; 1000 and more */
            assert_int_equal(sk_option_count(f->opts, info.key), few ? 16 : many ? 1021 : 21);
        }
        if (strcmp(info.fallback, "auto") != 0) refused(f, &info, "auto");
    }
}

static void test_options__flags_and_texts_are_checked(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sock_option_count(); i++) {
        sock_option_info info = sock_option_describe(i);
        if (strcmp(info.type, "flag") == 0) {
            taken(f, info.key, "yes");
            assert_true(sk_option_flag(f->opts, info.key));
            taken(f, info.key, "no");
            assert_false(sk_option_flag(f->opts, info.key));
            refused(f, &info, "maybe");
            refused(f, &info, "yes|no");
        }
        if (strcmp(info.type, "text") == 0) {
            refused(f, &info, "");
            taken(f, info.key, "some words");
        }
    }
}

static void test_options__values_come_back_as_numbers(void **state)
{
    fixture *f = *state;
    assert_true(isnan(sk_option_number(f->opts, "drift-lambda")));
    taken(f, "drift-lambda", "2.5e-3");
    assert_true(sk_option_number(f->opts, "drift-lambda") == 2.5e-3);
    taken(f, "drift-lambda", "auto");
    assert_true(isnan(sk_option_number(f->opts, "drift-lambda")));
    assert_int_equal(sk_option_count(f->opts, "landmarks"), 0);
    taken(f, "seed", "9007199254740992");
    assert_true(sk_option_count(f->opts, "seed") == 9007199254740992u);
    sock_option_info seed = {"seed", "count", "0", "a whole number from 0 to 2^53", ""};
    refused(f, &seed, "9007199254740994");
    sock_option_info lambda = {"drift-lambda", "number", "auto", "a number > 0, or auto", ""};
    refused(f, &lambda, "0");
}

static void test_options__unknown_keys_name_the_known(void **state)
{
    fixture *f = *state;
    assert_null(sock_options_get(f->opts, "no-such-key"));
    assert_null(sock_options_get(f->opts, NULL));
    assert_int_equal(sock_options_set(f->ctx, f->opts, "no-such-key", "1"), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "'no-such-key'"));
    for (size_t i = 0; i < sock_option_count(); i++)
        assert_non_null(strstr(sock_message(f->ctx), sock_option_describe(i).key));
    assert_int_equal(sock_options_set(f->ctx, f->opts, NULL, "1"), SOCK_EUSAGE);
    assert_int_equal(sock_options_set(f->ctx, f->opts, "seed", NULL), SOCK_EUSAGE);
    assert_int_equal(sock_options_set(f->ctx, NULL, "seed", "1"), SOCK_EUSAGE);
    assert_int_equal(sock_options_set(NULL, f->opts, "seed", "1"), SOCK_EUSAGE);
    assert_null(sock_options_new(NULL));
}

static void some_kernel(void *user, size_t d, const double *x, const double *y, double *out)
{
    (void)user, (void)d, (void)x, (void)y, (void)out;
}

static void test_options__what_is_no_text_is_kept_too(void **state)
{
    fixture *f = *state;
    int mark = 0;
    assert_int_equal(sock_options_set_drift_kernel(f->ctx, f->opts, some_kernel, &mark), SOCK_OK);
    assert_int_equal(sock_options_set_drift_kernel(f->ctx, NULL, some_kernel, &mark), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "options must not be NULL"));
    assert_int_equal(sock_options_set_drift_kernel(NULL, f->opts, some_kernel, &mark), SOCK_EUSAGE);
    assert_int_equal(sock_options_set_validation(f->ctx, NULL, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "options must not be NULL"));
    assert_int_equal(sock_options_set_validation(NULL, f->opts, NULL), SOCK_EUSAGE);
    void *user = NULL;
    assert_true(sk_option_drift_kernel(f->opts, &user) == some_kernel);
    assert_ptr_equal(user, &mark);
    assert_true(sk_option_drift_kernel(NULL, &user) == NULL);
}

int main(void)
{
#define WITH_OPTIONS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__keys_are_unique_words),
        WITH_OPTIONS(test_options__every_default_is_a_value_one_may_set),
        WITH_OPTIONS(test_options__choices_are_the_listed_words_and_no_others),
        WITH_OPTIONS(test_options__numbers_are_checked),
        WITH_OPTIONS(test_options__flags_and_texts_are_checked),
        WITH_OPTIONS(test_options__values_come_back_as_numbers),
        WITH_OPTIONS(test_options__unknown_keys_name_the_known),
        WITH_OPTIONS(test_options__what_is_no_text_is_kept_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
