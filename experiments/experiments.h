/* experiments.h - studies that the program can repeat: each makes a table of results, and says it in words. A guest of
 * the library: everything goes through sock.h and the known systems. */
#ifndef EXP_EXPERIMENTS_H
#define EXP_EXPERIMENTS_H

#include "sock.h"

#include <jansson.h>
#include <stdio.h>

typedef struct exp_settings {
    int quick;         /* a small part, in seconds: shows that it works */
    int full;          /* also what takes long */
    uint64_t seed;     /* of the data */
    double cap;        /* most seconds of one piece of work; 0: the experiment's own */
    const char *names; /* restricts it to these, with commas between; NULL: all */
    /* Called after each piece of work with a line for people; may be NULL. */
    void (*say)(void *user, const char *line);
    void *user;
} exp_settings;

typedef struct exp_experiment {
    const char *name, *summary;
    const char *const *sets; /* what settings->names may hold, NULL at the end */
    /* *result: an object with "columns" (names) and "rows" (lists of numbers, texts or null), and what else is worth
     * keeping. Fails with the context's message. */
    sock_status (*run)(sock_context *ctx, const exp_settings *settings, json_t **result);
    void (*print)(const json_t *result, FILE *stream);
} exp_experiment;

/* The solvers of the diffusion's convex problem on one problem each: iterations and seconds to a relative gap. */
extern const exp_experiment exp_ablation;

#endif
