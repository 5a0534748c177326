/* cmd_options.c - sock options: the options table as Markdown, the source of docs/options.md. Not in the overview: the
 * help of each verb says the same to people. */
#include "cli.h"

#include <string.h>

/* The words of a cell: '|' would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_verbs(const char *key)
{
    const char *separator = "";
    for (size_t i = 0; cli_verbs[i]; i++)
        for (const char *const *k = cli_verbs[i]->keys; k && *k; k++)
            if (strcmp(*k, key) == 0) {
                printf("%s`%s`", separator, cli_verbs[i]->name);
                separator = ", ";
            }
    if (!*separator) printf("none yet");
}

static int run(int count, char **arguments)
{
    cli c;
    int code = cli_begin(&c, &verb_options, NULL, count, arguments);
    if (code < 0) code = cli_operands(&c, 0);
    if (code < 0) {
        printf(
            "# Options\n\n"
            "Made by `sock options` from the table in `src/base/options.c`; a test compares the two. The program takes "
            "them as\n`--key value`, the library by `sock_options_set(ctx, opts, \"key\", \"value\")`.\n\n"
            "| key | type | default | allowed | what it does | verbs |\n|---|---|---|---|---|---|\n");
        for (size_t i = 0; i < sock_option_count(); i++) {
            sock_option_info info = sock_option_describe(i);
            printf("| `%s` | %s | `%s` | ", info.key, info.type, info.fallback);
            print_cell(info.allowed);
            printf(" | ");
            print_cell(info.help);
            printf(" | ");
            print_verbs(info.key);
            printf(" |\n");
        }
        printf("\nEvery verb also takes `--json`, `--threads N`, `--memory-limit GB`, `--quiet`, `--verbose` and "
               "`--help`.\n");
        code = cli_finish_output(&c);
    }
    cli_end(&c);
    return code;
}

const cli_verb verb_options = {"options",        "options", "print the options table as Markdown",
                               "  sock options", NULL,      run};
