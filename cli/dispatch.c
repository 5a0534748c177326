/* dispatch.c - finds the verb and runs it, for the programs `sock` and `sock-mpi`. */
#define _GNU_SOURCE
#include "cli.h"
#include "helptext.h"

#include "base/nearest.h"
#include "base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {&verb_fit,     &verb_eval,    &verb_simulate,   &verb_score,   &verb_check,
                                     &verb_explain, &verb_smooth,  &verb_plot,       &verb_report,  &verb_info,
                                     &verb_convert, &verb_plan,    &verb_pass,       &verb_merge,   &verb_split,
                                     &verb_dataset, &verb_compare, &verb_experiment, &verb_version, NULL};

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

/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so the program sets it and starts itself anew, once: the variable
 * that it sets is what keeps it from doing so again. Not when a user has set it, or SOCK_RESTART, which any value
 * switches off; not when the loader was called by name (AT_BASE is 0: the file of the process is then the loader's).
 * Nothing is allocated: an environment too large for the list, or a file that is gone, and the run goes on as it is. */
static void restart_with_fast_blas(char **arguments)
{
    enum { MOST = 2000 };
    char core[64], file[4096], *list[MOST + 3], guard[] = "SOCK_RESTART=done";
    const char *advice = sock_blas_advice();
    if (!advice || getenv("OPENBLAS_CORETYPE") || getenv("SOCK_RESTART") || !getauxval(AT_BASE)) return;
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    size_t count = 0;
    while (count < MOST && environ[count]) count++;
    if (length <= 0 || (size_t)length == sizeof file - 1 || count == MOST) return;
    file[length] = 0;
    memcpy(list, environ, count * sizeof *list);
    snprintf(core, sizeof core, "OPENBLAS_CORETYPE=%s", advice);
    list[count] = core;
    list[count + 1] = guard;
    list[count + 2] = NULL;
    execve(file, arguments, list);
}

/* Nothing is mapped: pieces of more than 32 MB would be, whatever M_MMAP_THRESHOLD says. */
void cli_keep_memory(void)
{
#if defined(__GLIBC__)
    enum { KEPT = 256 << 20 };
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

void cli_prepare(char **arguments)
{
    restart_with_fast_blas(arguments);
    keep_standard_streams();
}

int cli_run(int count, char **arguments)
{
    if (count < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = arguments[1];
    static char help[] = "--help";
    if (strcmp(name, "help") == 0 && count > 2) {
        name = arguments[2];
        count = 3;
        arguments[2] = help;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_overview(stdout);
        if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_DONE;
        fprintf(stderr, "sock: standard output cannot be written: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    if (help_overview(name)) return EXIT_DONE;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "-v") == 0) name = "version";
    if (strcmp(name, verb_options.name) == 0) return verb_options.run(count - 2, arguments + 2);
    for (size_t i = 0; cli_verbs[i]; i++)
        if (strcmp(name, cli_verbs[i]->name) == 0) return cli_verbs[i]->run(count - 2, arguments + 2);
    sk_nearest meant = sk_nearest_to(name, strlen(name));
    for (size_t i = 0; cli_verbs[i]; i++) sk_nearest_try(&meant, cli_verbs[i]->name);
    char question[SK_MEANT_ROOM];
    sk_make_printable(arguments[1], strlen(arguments[1]), 0);
    fprintf(stderr, "sock: unknown verb '%s'%s; allowed:", name, sk_meant(&meant, question));
    for (size_t i = 0; cli_verbs[i]; i++) fprintf(stderr, " %s", cli_verbs[i]->name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}
