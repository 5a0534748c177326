/* tablespec.h - the paper's two tables as one specification: data sets, the rows of each, how they are scored, and what
 * the paper prints. */
#ifndef EXP_TABLESPEC_H
#define EXP_TABLESPEC_H

#include <math.h>
#include <stddef.h>

/* A score in the paper's tables is a number, NaN where it prints NA, 0 where it prints none. */
#define EXP_NA ((double)NAN)

enum { EXP_PAPER_P, EXP_PAPER_RE_F, EXP_PAPER_RE_A, EXP_PAPER_MMD, EXP_PAPER_SCORES };

typedef enum exp_kind {
    EXP_KIND_DEFAULT, /* the estimator under test */
    EXP_KIND_OWN,     /* SOCK in another setting */
    EXP_KIND_ADAPTED, /* SOCK with kernels chosen in knowledge of the truth */
    EXP_KIND_RIVAL,
    EXP_KIND_BASELINE,
    EXP_KIND_TRUTH
} exp_kind;

/* One way to fit. The name is what --methods takes and what the rows of the file hold. */
typedef struct exp_method {
    const char *name, *title;
    exp_kind kind;
    int neural; /* a row of the neural family: it is left out where the program does not have it */
} exp_method;

/* A method on one data set: its setting (compare.h), and the paper's scores (EXP_PAPER_*; all 0: no row). */
typedef struct exp_table_row {
    const char *method, *spec;
    double paper[EXP_PAPER_SCORES];
    double budget;        /* seconds of a search, which then answers with what it has; 0: it may take the set's cap */
    const char *mmd_step; /* of the simulated paths; NULL: the set's */
    const char *quick;    /* the setting with --quick; NULL: spec; "": not part of it unless named */
} exp_table_row;

enum { EXP_TABLE_ROWS = 18 };

typedef struct exp_table_set {
    const char *name, *title;
    int table;                          /* 1 or 2 */
    const char *system;                 /* of systems.h; NULL: the liver study, from R */
    size_t seeds;                       /* how many when nothing is said */
    const char *mmd_paths;              /* simulated paths a start, */
    const char *mmd_step;               /* and their step */
    int unit_box;                       /* simulated paths are clipped to [0, 1] */
    double cap;                         /* seconds of processor time for a row */
    double fine_delta;                  /* of PM and PM'; 0: the system's, as for P */
    size_t quick[3];                    /* trajectories of the three sets with --quick; 0: not part of it */
    exp_table_row rows[EXP_TABLE_ROWS]; /* ended by one without a method */
} exp_table_set;

/* Both lists end with an entry without a name. */
extern const exp_method exp_methods[];
extern const exp_table_set exp_table_sets[];

const exp_method *exp_method_find(const char *name);       /* NULL: unknown */
const exp_table_set *exp_table_set_find(const char *name); /* NULL: unknown */

#endif
