/* main.c - the program `sock`: finds the verb and runs it. */
#include "cli.h"

#include <string.h>

static const cli_verb *const verbs[] = {&verb_fit, &verb_eval, &verb_info, &verb_dataset, &verb_version};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void print_overview(FILE *stream)
{
    fprintf(stream,
            "sock %s - learn a stochastic differential equation dx = f(x) dt + sigma(x) dW from trajectories\n\n"
            "Usage: sock VERB [arguments]\n\n",
            sock_version());
    for (size_t i = 0; i < VERBS; i++) fprintf(stream, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(stream, "\n'sock VERB --help' explains a verb, with an example.\n"
                    "Exit codes: 0 done; 1 the work could not be done; 2 wrong usage or bad input; 130 interrupted.\n");
}

int main(int count, char **arguments)
{
    if (count < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) name = "version";
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(name, verbs[i]->name) == 0) return verbs[i]->run(count - 2, arguments + 2);
    fprintf(stderr, "sock: unknown verb '%s'; allowed:", name);
    for (size_t i = 0; i < VERBS; i++) fprintf(stderr, " %s", verbs[i]->name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}
