/* cmd_pass.c - sock pass: the next pass of a fit by a plan over a part of the steps. */
#include "cli.h"

#include <string.h>

static const char *const keys[] = {"scratch", NULL};

/* "3/20". */
static bool read_part(const char *text, size_t *part, size_t *parts)
{
    unsigned long long k, n;
    char *end;
    if (!cli_whole(text, &end, &k) || *end != '/' || !cli_whole(end + 1, &end, &n) || *end) return false;
    *part = (size_t)k;
    *parts = (size_t)n;
    return true;
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *plan = NULL, *part = NULL, *sums = NULL;
    size_t k = 0, n = 0;
    const cli_option own[] = {
        {"output", 'o', &output, NULL, "FILE", "where the sums of this part go; after the last pass, the model"},
        {"plan", 0, &plan, NULL, "FILE", "what sock plan wrote"},
        {"part", 0, &part, NULL, "K/N", "which of how many parts of the steps"},
        {"sums", 0, &sums, NULL, "FILE", "sums of all passes before this one, of sock merge; not for the first"},
        {0}};
    cli c;
    int code = cli_begin(&c, &verb_pass, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    if (code < 0 && (!output || !plan || !part))
        code = cli_usage_error(&c, "give --plan, --part and -o; usage: sock %s", verb_pass.usage);
    if (code < 0 && !read_part(part, &k, &n))
        code = cli_usage_error(&c, "part is '%s'; allowed: K/N with K from 1 to N", part);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    cli_keep_memory();
    const sock_status status =
        sock_pass(c.ctx, plan, sums, (size_t)c.operands, (const char *const *)c.operand, c.opts, k, n, output);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    cli_end(&c);
    return code;
}

const cli_verb verb_pass = {"pass",
                            "pass DATA... --plan PLAN --part K/N [--sums SUMS] -o PART [options]",
                            "a pass of a fit by a plan over a part of the steps, for batch clusters",
                            "  sock pass runs.traj --plan runs.plan --part 1/2 -o 1.part\n"
                            "  sock pass runs.traj --plan runs.plan --part 2/2 -o 2.part\n"
                            "  sock merge 1.part 2.part --plan runs.plan --next all.sums -o model.sock",
                            keys,
                            run};
