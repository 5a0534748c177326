/* cmd_merge.c - sock merge: what the parts of a pass have summed up, put together. */
#include "cli.h"

#include <string.h>

static const char *const keys[] = {NULL};

static int run(int count, char **arguments)
{
    const char *output = NULL, *plan = NULL, *next = NULL;
    const cli_option own[] = {{"output", 'o', &output, NULL, "FILE", "where the model goes, after the last pass"},
                              {"plan", 0, &plan, NULL, "FILE", "what sock plan wrote"},
                              {"next", 0, &next, NULL, "FILE", "where the sums of all parts go, for the next pass"},
                              {0}};
    cli c;
    int done = 0, code = cli_begin(&c, &verb_merge, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    if (code < 0 && (!output || !plan || !next))
        code = cli_usage_error(&c, "give --plan, --next and -o; usage: sock %s", verb_merge.usage);
    if (code < 0 && strcmp(output, next) == 0)
        code = cli_usage_error(&c, "-o and --next both want %s; give two names", next);
    if (code < 0) code = cli_check_output(&c, output);
    if (code < 0) code = cli_check_output(&c, next);
    if (code >= 0) goto out;
    const sock_status status =
        sock_merge(c.ctx, plan, (size_t)c.operands, (const char *const *)c.operand, next, output, &done);
    if (status >= 0) printf("%s\n", done ? output : next);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    cli_end(&c);
    return code;
}

const cli_verb verb_merge = {"merge",
                             "merge PART... --plan PLAN --next SUMS -o MODEL",
                             "put the parts of a pass together: sums for the next one, or the model",
                             "  sock merge 1.part 2.part --plan runs.plan --next all.sums -o model.sock",
                             keys,
                             run};
