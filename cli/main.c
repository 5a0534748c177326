/* main.c - the program `sock`: finds the verb and runs it. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {&verb_fit,     &verb_eval,       &verb_simulate, &verb_score,
                                     &verb_plot,    &verb_report,     &verb_info,     &verb_dataset,
                                     &verb_compare, &verb_experiment, &verb_version,  NULL};

static void print_overview(FILE *stream)
{
    fprintf(stream,
            "sock %s - learn a stochastic differential equation dx = f(x) dt + sigma(x) dW from trajectories\n\n"
            "Usage: sock VERB [arguments]\n\n",
            sock_version());
    for (size_t i = 0; cli_verbs[i]; i++) fprintf(stream, "  %-10s %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    fprintf(stream, "\n'sock VERB --help' explains a verb, with an example.\n"
                    "Exit codes: 0 done; 1 the work could not be done; 2 wrong usage or bad input; 130 interrupted.\n");
}

/* A standard stream that was closed would give its number to the next file opened, and messages would land in it. A
 * stream that cannot be written takes its place, so that output fails as it should. */
static void keep_standard_streams(void)
{
    int handle;
    do handle = open("/dev/null", O_RDONLY);
    while (handle >= 0 && handle <= 2);
    if (handle > 2) close(handle);
}

int main(int count, char **arguments)
{
    keep_standard_streams();
    if (count < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_overview(stdout);
        if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_DONE;
        fprintf(stderr, "sock: standard output cannot be written: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    if (strcmp(name, "--version") == 0) name = "version";
    if (strcmp(name, verb_options.name) == 0) return verb_options.run(count - 2, arguments + 2);
    for (size_t i = 0; cli_verbs[i]; i++)
        if (strcmp(name, cli_verbs[i]->name) == 0) return cli_verbs[i]->run(count - 2, arguments + 2);
    fprintf(stderr, "sock: unknown verb '%s'; allowed:", name);
    for (size_t i = 0; cli_verbs[i]; i++) fprintf(stderr, " %s", cli_verbs[i]->name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}
