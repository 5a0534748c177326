/* main.c - the program `sock`. */
#include "cli.h"

int main(int count, char **arguments)
{
    cli_prepare(arguments);
    return cli_run(count, arguments);
}
