/* cmd_convert.c - sock convert: data files as a folder of arrays. */
#include "cli.h"

static const char *const keys[] = {"id",      "time",  "state",     "input", "group", "grouping", "dt",
                                   "missing", "every", "time-unit", "files", "log",   "wide",     NULL};

static int run(int count, char **arguments)
{
    const char *output = NULL;
    bool single = false;
    const cli_option own[] = {
        {"output", 'o', &output, NULL, "FOLDER", "the folder, which is made; NAME.traj by custom"},
        {"float", 0, NULL, &single, NULL, "write the states with 32 bits, half as large"},
        {0}};
    cli c;
    int code = cli_begin(&c, &verb_convert, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    if (code < 0 && !output) code = cli_usage_error(&c, "give the folder with -o; usage: sock %s", verb_convert.usage);
    if (code >= 0) goto out;
    const char *const *files = (const char *const *)c.operand;
    const sock_status status = sock_data_convert(c.ctx, (size_t)c.operands, files, c.opts, single, output);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    cli_end(&c);
    return code;
}

const cli_verb verb_convert = {"convert",
                               "convert DATA... -o FOLDER [--float] [options]",
                               "write data files as a folder of NumPy arrays",
                               "  sock convert train.csv test.csv -o runs.traj\n"
                               "  sock convert train.csv -o train.traj --float",
                               keys,
                               run};
