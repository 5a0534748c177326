/* addresslimit.c - refuses to start where OpenBLAS could not: under a limit of the address space (ulimit -v) that is
 * too low for its buffers it tries for ever to get them, some of them before main. So this runs before the libraries'
 * own initialisers, with system calls alone. How much that is: BUFFER for each thread of BLAS, and one to work with. */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PROGRAM_MB = 64, BUFFER_MB = 135 }; /* of OpenBLAS for all kinds of x86: 32 << 22 bytes */

/* The first characters of a number in the environment; 0: it is not there. */
static long number_in(char *const *environment, const char *name)
{
    const size_t length = strlen(name);
    long value = 0;
    for (size_t i = 0; environment[i]; i++) {
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=') continue;
        for (const char *c = environment[i] + length + 1; *c >= '0' && *c <= '9' && value < 100000; c++)
            value = 10 * value + (*c - '0');
    }
    return value;
}

static long blas_threads(char *const *environment)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"};
    cpu_set_t set;
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long wanted = number_in(environment, names[i]);
        if (wanted > 0 && wanted < count) count = wanted;
    }
    return count;
}

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* there is nobody to tell */
}

static void say_number(long value)
{
    char digits[24], *place = digits + sizeof digits - 1;
    *place = 0;
    for (; value > 0 || place == digits + sizeof digits - 1; value /= 10) *--place = (char)('0' + value % 10);
    say(place);
}

__attribute__((no_sanitize("address", "thread", "undefined"))) static void check_limit(int count, char **arguments,
                                                                                       char **environment)
{
    struct rlimit limit;
    (void)count;
    (void)arguments;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const long needed = PROGRAM_MB + (blas_threads(environment) + 1) * BUFFER_MB,
               allowed = (long)(limit.rlim_cur >> 20);
    if (allowed >= needed) return;
    say("sock: the address space is limited to ");
    say_number(allowed);
    say(" MiB (ulimit -v), and the linear algebra library needs ");
    say_number(needed);
    say(" MiB to start; allowed: so much or more, or less with OMP_NUM_THREADS=1 in the environment (");
    say_number(PROGRAM_MB + 2 * BUFFER_MB);
    say(" MiB)\n");
    _exit(1);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(int, char **,
                                                                                       char **) = check_limit;
