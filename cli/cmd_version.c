/* cmd_version.c - sock version. */
#include "cli.h"

static int run(int count, char **arguments)
{
    cli c;
    int code = cli_begin(&c, &verb_version, NULL, count, arguments);
    if (code < 0) code = cli_operands(&c, 0);
    if (code < 0) {
        if (c.json)
            printf("{\"version\": \"%s\", \"blas_core\": \"%s\"}\n", sock_version(), sock_blas_core());
        else
            printf("sock %s\n", sock_version());
        code = cli_finish_output(&c);
    }
    cli_end(&c);
    return code;
}

const cli_verb verb_version = {"version", "version", "print the version", "  sock version", NULL, run};
