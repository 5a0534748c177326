/* progress.c - the monitor of the program. A signal handler can only reach what is global, so these few variables are
 * the program's, never the library's. */
#define _GNU_SOURCE
#include "progress.h"

#include "cli.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic(sock_context *) active;
static bool drawn;
static double started, last, share;
static double begun, left; /* of the work at hand: when it began, what was last said to be left of it, */
static double advanced;    /* and when its share was last heard to grow */
static char told[64], farewell[64];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The work did not look at the flag in time: it is in a long call of the linear algebra library, or in a library that
 * tries for ever to get memory. Files appear whole or not at all, so nothing is lost by leaving now. */
static void leave(int number)
{
    (void)number;
    if (write(STDERR_FILENO, farewell + !drawn, strlen(farewell + !drawn)) < 0) _exit(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

/* Work that has seen the flag says so in its message, and ends by itself. */
static void leave_unless_seen(int number)
{
    const sock_context *ctx = atomic_load(&active);
    // NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): it answers a place in the context, and does nothing else
    if (ctx && sock_message(ctx)[0] == 0) leave(number);
}

static void on_signal(int number)
{
    enum { GRACE = 10 }; /* seconds, for an orderly end */
    const struct itimerval look = {{.tv_usec = 100000},
                                   {.tv_usec = 400000}}; /* of processor, for the flag to be seen */
    sock_context *ctx = atomic_load(&active);
    if (ctx) sock_cancel(ctx);
    signal(number, SIG_DFL); /* the next one does not ask */
    signal(SIGPROF, leave_unless_seen);
    setitimer(ITIMER_PROF, &look, NULL);
    signal(SIGALRM, leave);
    alarm(GRACE);
}

/* What is left, by the share that is done. It falls: a longer guess is believed only where it is more than twice as
 * long and some seconds. */
static double guess_left(double time)
{
    const double guess = (time - begun) * (1 - share) / share;
    if (guess < left || guess > 2 * left + 5) left = guess;
    return left;
}

/* Where a share has stood for longer than all the rest should have taken, it was no share of the time. */
static bool stands(double time) { return time - advanced > 3 + (advanced - begun) * (1 - share) / share; }

/* "drift: poly:degree=2   42%  3 s, about 4 s left": the share is the last one told, the stage the one at hand. A share
 * that falls far back is that of other work. */
static int draw(void *user, const char *stage, double fraction)
{
    (void)user;
    double time = now(), passed = time - started;
    if (fraction >= 0 && fraction < share - 0.3) {
        begun = time;
        share = 0;
        left = HUGE_VAL;
    }
    if (fraction > share && fraction <= 1) {
        share = fraction;
        advanced = time;
    }
    if (passed < 0.3 || time - last < 0.1) return 0;
    last = time;
    drawn = true;
    fprintf(stderr, "\r\033[K%-44.60s ", stage);
    if (share > 0.02 && !stands(time))
        fprintf(stderr, "%3.0f%%  %.0f s, about %.0f s left", 100 * share, passed, guess_left(time));
    else
        fprintf(stderr, "      %.0f s", passed);
    fflush(stderr);
    return 0;
}

/* For a log: a line when the stage changes and the share is known; or, after some silence, what goes on. */
static int tell(void *user, const char *stage, double fraction)
{
    enum { SILENCE = 10 }; /* seconds */
    (void)user;
    const double passed = now() - started;
    if (strncmp(stage, told, sizeof told - 1) == 0) return 0;
    if (fraction < 0 && passed - last < SILENCE) return 0;
    snprintf(told, sizeof told, "%s", stage);
    last = passed;
    if (fraction < 0)
        fprintf(stderr, "%6.1f s    -  %s\n", passed, stage);
    else
        fprintf(stderr, "%6.1f s %3.0f%%  %s\n", passed, 100 * fraction, stage);
    return 0;
}

void progress_install(sock_context *ctx, const char *verb, bool show, bool lines)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    atomic_store(&active, ctx);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) sigaction(SIGHUP, &action, NULL); /* nohup had it ignored */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, with a message */
    signal(SIGXFSZ, SIG_IGN); /* so is a file beyond the limit of its size; its unfinished copy is taken away */
    snprintf(farewell, sizeof farewell, "\nsock %s: interrupted\n", verb);
    started = begun = advanced = now();
    share = last = 0;
    left = HUGE_VAL;
    if (lines)
        sock_set_monitor(ctx, tell, NULL);
    else if (show && isatty(STDERR_FILENO)) {
        setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* so that the line is wiped before anything is seen */
        sock_set_monitor(ctx, draw, NULL);
    }
}

void progress_remove(void)
{
    progress_clear();
    alarm(0);
    atomic_store(&active, NULL);
}

void progress_clear(void)
{
    if (!drawn) return;
    fputs("\r\033[K", stderr);
    drawn = false;
}
