/* experiments.h - studies that the program can repeat: each makes a table of results, and says it in words. A guest of
 * the library: everything goes through sock.h and the known systems. */
#ifndef EXP_EXPERIMENTS_H
#define EXP_EXPERIMENTS_H

#include "sock.h"

#include <jansson.h>
#include <stdio.h>

typedef struct exp_settings {
    int quick;           /* a small part, in seconds: shows that it works */
    int full;            /* also what takes long */
    uint64_t seed;       /* of the data; the first one where there are several */
    size_t seeds;        /* how many, one after the other; 0: the experiment's own */
    double cap;          /* most seconds of one piece of work; 0: the experiment's own */
    int fill;            /* only score rows that lack newer columns, by fitting again without paths */
    int show;            /* compute nothing: make the tables of the rows that are there */
    int mmd;             /* score simulated paths too */
    const char *names;   /* restricts it to these data sets, with commas between; NULL: all */
    const char *presets; /* the same for the ways to fit */
    const char *output;  /* the file (or folder) where an experiment that resumes keeps its rows; NULL: nowhere */
    /* Called after each piece of work with a line for people; may be NULL. */
    void (*say)(void *user, const char *line);
    void *user;
} exp_settings;

/* What of the settings an experiment heeds, beside quick, names and say. */
enum {
    EXP_TAKES_SEED = 1,
    EXP_TAKES_CAP = 2,
    EXP_TAKES_FULL = 4,
    EXP_TAKES_SEEDS = 8,
    EXP_TAKES_MMD = 16,
    EXP_TAKES_SHOW = 32
};

typedef struct exp_experiment {
    const char *name, *summary;
    unsigned takes;
    const char *const *sets;    /* what settings->names may hold, NULL at the end */
    const char *const *presets; /* what settings->presets may hold, NULL at the end; NULL: there are none */
    const char *presets_option; /* what the program calls them; NULL: presets */
    int resumes;                /* reads and writes the rows of settings->output itself, after each piece of work */
    int folder;                 /* settings->output is a folder, which is made */
    int needs_output;           /* settings->output must be given */
    /* *result: an object with "columns" (names) and "rows" (lists of numbers, texts or null), and what else is worth
     * keeping; "failures" (texts), where there are any, mean that the experiment did not show what it should. Fails
     * with the context's message. */
    sock_status (*run)(sock_context *ctx, const exp_settings *settings, json_t **result);
    void (*print)(const json_t *result, FILE *stream);
} exp_experiment;

/* The solvers of the diffusion's convex problem on one problem each: iterations and seconds to a relative gap. */
extern const exp_experiment exp_ablation;

/* How near the default and the paper's protocol come to the truth on the paper's data sets, over many seeds. */
extern const exp_experiment exp_accuracy;

/* The default at its edges: data told in another way, long, wild, of many dimensions; one claim after the other. */
extern const exp_experiment exp_edges;

/* Do the bands hold the truth? Known systems over many seeds. */
extern const exp_experiment exp_coverage;

/* How often the check objects to models that are right, and to models that are wrong in a known way. */
extern const exp_experiment exp_check;

/* Measurement noise and long steps: the default beside an oracle that is given the true terms. */
extern const exp_experiment exp_noise;

/* What people know of their system: boundaries, inputs. */
extern const exp_experiment exp_structure;

/* The paper's tables, with every rival: table 1, table 2, both (tables.c). */
extern const exp_experiment exp_table1, exp_table2, exp_all;

/* The paper's figures, as SVG. */
extern const exp_experiment exp_figures;

#endif
