/* csvtexts.h - CSV texts in memory as data sets, for tests. Needs onecontext.h. */
#ifndef TESTS_CSVTEXTS_H
#define TESTS_CSVTEXTS_H

#include "data/readers.h"
#include "onecontext.h"

#include <string.h>

typedef struct option {
    const char *key, *value;
} option;

static sock_status parse_with(const char *text, const option *options, sock_data **out)
{
    sock_options *opts = sock_options_new(ctx);
    for (; options && options->key; options++)
        assert_int_equal(sock_options_set(ctx, opts, options->key, options->value), SOCK_OK);
    sk_begin(ctx);
    sock_status status = sk_csv_parse(ctx, "f.csv", text, strlen(text), opts, out);
    sock_options_free(opts);
    return status;
}

static sock_data *good(const char *text, const option *options)
{
    sock_data *data = NULL;
    sock_status status = parse_with(text, options, &data);
    if (status != SOCK_OK) print_error("refused: %s\n", sock_message(ctx));
    assert_int_equal(status, SOCK_OK);
    assert_non_null(data);
    return data;
}

/* Each of the parts, with | between. */
static void message_holds(const char *parts)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *part = strtok(copy, "|"); part; part = strtok(NULL, "|"))
        if (!strstr(sock_message(ctx), part)) {
            print_error("'%s' is not in the message: %s\n", part, sock_message(ctx));
            fail();
        }
}

/* Refused with this status, a message that has all the parts (separated by |), and nothing handed out. */
static void refused(const char *text, const option *options, sock_status expected, const char *parts)
{
    sock_data *data = NULL;
    sock_status status = parse_with(text, options, &data);
    assert_null(data);
    if (status != expected) print_error("'%s' gave %d: %s\n", text, status, sock_message(ctx));
    assert_int_equal(status, expected);
    message_holds(parts);
}

#endif
