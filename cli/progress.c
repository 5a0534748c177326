/* progress.c - the monitor of the program. A signal handler can only reach what is global, so these few variables are
 * the program's, never the library's. */
#define _GNU_SOURCE
#include "progress.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic(sock_context *) active;
static bool drawn;
static double started, last;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_signal(int number)
{
    sock_context *ctx = atomic_load(&active);
    if (ctx) sock_cancel(ctx);
    signal(number, SIG_DFL); /* the next one does not ask */
}

static int draw(void *user, const char *stage, double fraction)
{
    (void)user;
    double time = now();
    if (time - started < 0.3 || time - last < 0.1) return 0;
    last = time;
    drawn = true;
    if (fraction >= 0 && fraction <= 1)
        fprintf(stderr, "\r\033[K%-40.60s %3.0f%%  %.0f s", stage, 100 * fraction, time - started);
    else
        fprintf(stderr, "\r\033[K%-40.60s       %.0f s", stage, time - started);
    fflush(stderr);
    return 0;
}

void progress_install(sock_context *ctx, bool show)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    atomic_store(&active, ctx);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, with a message */
    started = now();
    if (show && isatty(STDERR_FILENO)) sock_set_monitor(ctx, draw, NULL);
}

void progress_remove(void)
{
    progress_clear();
    atomic_store(&active, NULL);
}

void progress_clear(void)
{
    if (!drawn) return;
    fputs("\r\033[K", stderr);
    drawn = false;
}
