/* bench.h - what the benchmarks share: the best of several runs, lines with seconds and floors, and goals.
 *
 * A machine that does other work too can only make a run slower, so the smallest of several times is the one nearest
 * to the truth; and what is compared is measured in turn, in one process, so that a slow minute hits both sides. A
 * benchmark says PASS or over and always exits with 0: time is no reason for a build to fail. */
#ifndef SK_BENCH_H
#define SK_BENCH_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* for getloadavg: include this header first */
#endif

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ends the program with the context's message when a call failed: then there is nothing to measure. */
static inline void bench_need(sock_context *ctx, sock_status status)
{
    if (status >= 0) return;
    fprintf(stderr, "%s: %s\n", sock_status_name(status), sock_message(ctx));
    exit(1);
}

/* The same for a pointer that must not be NULL. */
static inline void *bench_have(sock_context *ctx, void *pointer)
{
    if (!pointer) bench_need(ctx, SOCK_ENOMEM);
    return pointer;
}

/* One candidate: what is run, and the best of its times so far, by the clock and of all processors together. */
typedef struct bench_run {
    const char *name;
    void (*fn)(void *arg);
    void *arg;
    double best, best_cpu; /* seconds */
} bench_run;

static inline double bench_cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Runs the candidates in turn, `rounds` times over. */
static inline void bench_in_turn(size_t count, bench_run *run, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double start = sk_seconds(), cpu_start = bench_cpu_seconds();
            run[i].fn(run[i].arg);
            double seconds = sk_seconds() - start, cpu = bench_cpu_seconds() - cpu_start;
            if (run[i].best == 0 || seconds < run[i].best) run[i].best = seconds;
            if (run[i].best_cpu == 0 || cpu < run[i].best_cpu) run[i].best_cpu = cpu;
        }
}

/* Says how busy the machine is before the first figure: with other work on its processors, the clock shows too much,
 * and the processor seconds beside it are the better figure for one thread. */
static inline void bench_begin(const char *name, int threads)
{
    double load[1] = {0};
    int known = getloadavg(load, 1);
    printf("%s: %d thread%s", name, threads, threads > 1 ? "s" : "");
    if (known == 1) printf(", load before the start %.1f", load[0]);
    if (load[0] > 0.5) printf(": the machine is doing other work, do not trust the clock");
    printf("\n");
}

/* A line with the seconds by the clock and of the processors, and how many times the floor (0: none) the former are. */
static inline void bench_line(const bench_run *run, double floor)
{
    printf("  %-44s %10.4f s %10.4f s cpu", run->name, run->best, run->best_cpu);
    if (floor > 0) printf(" %8.2f x floor", run->best / floor);
    printf("\n");
}

/* bench_goal("...", value, true, 100): at least 100. */
static inline void bench_goal(const char *name, double value, bool at_least, double bound)
{
    bool met = at_least ? value >= bound : value <= bound;
    printf("  %-44s %10.2f   goal: at %s %g   %s\n", name, value, at_least ? "least" : "most", bound,
           met ? "PASS" : "over");
    fflush(stdout);
}

#endif
