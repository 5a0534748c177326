/* sockmpi.c - the program `sock-mpi`: `sock fit DATA... --stream` by several processes, which share the steps out.
 * Process 0 writes and speaks. */
#define _GNU_SOURCE
#include "commmpi.h"
#include "exactmpi.h"

#include "base/comm.h"
#include "base/plugins.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MESSAGE = 1024 }; /* as long as messages of all processes are */

/* Threads of each process, the same for all: their numbers must be. */
static int threads_each(void)
{
    MPI_Comm node;
    cpu_set_t set;
    int here = 1, fewest;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    const int all = (int)sysconf(_SC_NPROCESSORS_ONLN) / here;
    const int bound = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
    int mine = all < bound ? all : bound;
    if (mine < 1) mine = 1;
    MPI_Allreduce(&mine, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return fewest;
}

static void become(int handle, int stream)
{
    if (handle < 0) return;
    dup2(handle, stream);
    close(handle);
}

/* What is said stays in memory: process 0 tells the last of it where this one fails. */
static void be_silent(void)
{
    const int said = memfd_create("sock-mpi", MFD_CLOEXEC);
    become(said >= 0 ? said : open("/dev/null", O_WRONLY), STDERR_FILENO);
    become(open("/dev/null", O_WRONLY), STDOUT_FILENO);
}

/* The last line that was said here, without the name of program and verb. */
static void last_words(char *out, size_t room)
{
    char text[2048];
    const off_t size = lseek(STDERR_FILENO, 0, SEEK_END);
    const off_t from = size > (off_t)sizeof text ? size - (off_t)sizeof text : 0;
    const ssize_t found = pread(STDERR_FILENO, text, sizeof text - 1, from);
    if (found <= 0) return;
    text[found] = 0;
    for (char *end = text + found; end > text && (end[-1] == '\n' || end[-1] == ' ');) *--end = 0;
    const char *line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
    if (strncmp(line, "sock ", 5) == 0 && strstr(line, ": ")) line = strstr(line, ": ") + 2;
    if (*line) snprintf(out, room, "%.*s", (int)room - 1, line);
}

/* A plain fit, in memory: the exact drift is what is done together. */
static bool is_plain(int count, char **arguments)
{
    bool plain = false;
    for (int i = 2; i < count; i++)
        plain = plain || strcmp(arguments[i], "--no-tune") == 0 || strcmp(arguments[i], "--tune=no") == 0 ||
                (i + 1 < count && strcmp(arguments[i], "--tune") == 0 && strcmp(arguments[i + 1], "no") == 0);
    return plain;
}

/* The arguments, with --stream unless the fit is plain, and --threads where nobody said how many. */
static char **complete(int count, char **arguments, int *found)
{
    static char stream[] = "--stream=yes", memory[] = "--stream=no", threads[32];
    snprintf(threads, sizeof threads, "--threads=%d", threads_each());
    char **list = calloc((size_t)count + 3, sizeof *list);
    if (!list) return NULL;
    bool said = false;
    for (int i = 0; i < count; i++) said = said || strncmp(arguments[i], "--threads", 9) == 0;
    *found = 0;
    for (int i = 0; i < 2; i++) list[(*found)++] = arguments[i];
    list[(*found)++] = is_plain(count, arguments) ? memory : stream;
    if (!said) list[(*found)++] = threads;
    for (int i = 2; i < count; i++) list[(*found)++] = arguments[i];
    return list;
}

static int run(int count, char **arguments)
{
    int found = count;
    if (count < 2 || strcmp(arguments[1], "fit") != 0) {
        if (count == 2 && strcmp(arguments[1], "--version") == 0) return cli_run(count, arguments);
        fprintf(stderr, "sock-mpi: what several processes do together is 'sock-mpi fit DATA... [-o MODEL] [options]'; "
                        "'sock' has all other verbs\n");
        return EXIT_USAGE;
    }
    if (is_plain(count, arguments) && !sk_device_of_new()) {
        fprintf(stderr,
                "sock-mpi: plain fits by several processes need ScaLAPACK, which this program was built without\n");
        return EXIT_USAGE;
    }
    char **list = complete(count, arguments, &found);
    if (!list) return EXIT_FAILED;
    const int code = cli_run(found, list);
    free(list);
    return code;
}

/* Whoever failed before the work that is done together still has to tell the others. */
static void leave(sk_comm *comm, int code)
{
    char message[MESSAGE] = "one of the processes could not begin";
    bool left;
    if (comm->over) return;
    if (code != EXIT_DONE && comm->rank > 0) last_words(message, sizeof message);
    const int all = comm->agree(comm, code == EXIT_DONE ? SOCK_OK : SOCK_EIO, true, message, sizeof message, &left);
    if (all < 0 && code == EXIT_DONE && comm->rank == 0) fprintf(stderr, "sock-mpi: %s\n", message);
}

int main(int count, char **arguments)
{
    int level, worst = EXIT_FAILED;
    cli_prepare(arguments);
    if (MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return EXIT_FAILED;
    sk_comm *comm = commmpi_begin();
    sk_comm_set(comm);
    sk_device_set(exactmpi_device(comm));
    if (comm->rank > 0) be_silent();
    int code = run(count, arguments);
    leave(comm, code);
    if (fflush(stdout) != 0 && code == EXIT_DONE) code = EXIT_FAILED;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    sk_comm_set(NULL);
    sk_device_set(NULL);
    commmpi_end();
    MPI_Finalize();
    return worst;
}
