/* cmd_plan.c - sock plan: what the search on the sample of a stream decides, as a file. */
#include "cli.h"

static const char *const keys[] = {
    "folds",      "noise",  "substeps", "drift",       "diffusion", "diagonal", "weights", "quadrature", "learned",
    "correction", "polish", "average",  "scaling",     "wild",      "bands",    "delta",   "tolerance",  "seed",
    "check",      "alpha",  "id",       "time",        "state",     "group",    "dt",      "missing",    "time-unit",
    "files",      "log",    "wide",     "search-rows", "scratch",   "every",    "lower",   "upper",      NULL};

static int run(int count, char **arguments)
{
    const char *output = NULL;
    const cli_option own[] = {{"output", 'o', &output, NULL, "FILE", "where the plan goes"}, {0}};
    cli c;
    int code = cli_begin(&c, &verb_plan, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    if (code < 0 && !output) code = cli_usage_error(&c, "give the file with -o; usage: sock %s", verb_plan.usage);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    const char *const *files = (const char *const *)c.operand;
    cli_keep_memory();
    const sock_status status = sock_plan_files(c.ctx, (size_t)c.operands, files, c.opts, output);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    cli_end(&c);
    return code;
}

const cli_verb verb_plan = {"plan",
                            "plan DATA... -o PLAN [options]",
                            "choose kernels on a sample of large data, for fits by passes alone",
                            "  sock plan runs.traj -o runs.plan\n"
                            "  sock fit runs.traj --plan runs.plan -o model.sock",
                            keys,
                            run};
