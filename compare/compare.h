/* compare.h - methods beside each other: SOCK in several settings, its rivals, simple baselines and the truth, behind
 * one table. A method is named by text, with one grammar for all:
 *
 *     method  = name [ ":" key "=" value { "," key "=" value } ]
 *     methods = item { "," item },   item = a method, a group, or "all"
 *
 *     bisde                                    the strong setting of BISDE
 *     bisde:library=gauss,count=20             the same method with another library
 *     gedmd:mode=commutator,degree=3
 *
 * The groups are sock-all, bisde-all, gedmd-all, neural, baselines (or baselines-all), ...: every method of the group
 * with its own defaults.
 *
 * In a list, a piece with "=" before any ":" is one more parameter of the method before it. A value with a comma
 * stands in braces: sock:diffusion={fourier:p=50,eta=1}.
 *
 * The life of a comparison:
 *
 *     cmp_spec spec;
 *     cmp_row rows[CMP_MOST_ROWS];
 *     size_t count;
 *     cmp_case c = {.train = train, .test = test, .truth = truth, .options = opts};
 *     if (cmp_spec_parse(ctx, "bisde:degree=2", &spec) >= 0 && cmp_run(ctx, &spec, &c, rows, &count) >= 0) ...
 *
 * A method that cannot do its work gives a row with the reason, not a failure: a table is never lost to one rival. */
#ifndef CMP_COMPARE_H
#define CMP_COMPARE_H

#include "sock.h"

enum {
    CMP_MOST_PARAMETERS = 12,
    CMP_MOST_ROWS = 2, /* of one method: as it is, and with a projected on the positive semi-definite matrices */
    CMP_VALUE_SIZE = 96,
    CMP_TEXT_SIZE = 400
};

/* ---- The table of methods ---- */

typedef enum cmp_kind {
    CMP_NUMBER, /* between low and high, both allowed */
    CMP_COUNT,  /* a whole number between low and high */
    CMP_CHOICE, /* one of the words in `allowed`, with | between */
    CMP_TEXT    /* anything; the method itself checks it */
} cmp_kind;

typedef struct cmp_parameter {
    const char *key;      /* NULL ends a list */
    const char *fallback; /* the default */
    cmp_kind kind;
    double low, high;    /* of numbers */
    const char *allowed; /* in words, for messages and help; of a choice: the words. Where those of a number name auto,
                            that is a value too (it reads as NaN) */
    const char *help;
} cmp_parameter;

typedef struct cmp_method cmp_method;
typedef struct cmp_spec cmp_spec;
typedef struct cmp_case cmp_case;
typedef struct cmp_fitted cmp_fitted;
typedef struct cmp_row cmp_row;

struct cmp_method {
    const char *name, *group;
    const char *title; /* one line: what it is */
    const cmp_parameter *parameters;
    /* One of the two. fit: makes a model, which is then scored like any other. run: a method that has no f and a of the
     * data (a set of paths alone) fills the scores of the row itself: settings, note, status, the times of the fit, and
     * every sock_value of scores with a value or a reason. Both fail with the context's message. */
    sock_status (*fit)(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out);
    sock_status (*run)(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_row *row);
};

/* index from 0 on; NULL beyond the last, and for an unknown name. Static storage. */
const cmp_method *cmp_method_at(size_t index);
const cmp_method *cmp_method_find(const char *name);

/* ---- A method with its parameters ---- */

struct cmp_spec {
    const cmp_method *method;
    char value[CMP_MOST_PARAMETERS][CMP_VALUE_SIZE]; /* in the order of the method's parameters, checked */
};

/* One method. SOCK_EUSAGE names the word and what is allowed. */
sock_status cmp_spec_parse(sock_context *ctx, const char *text, cmp_spec *out);

/* A list with groups in it, at least one; *specs is freed with cmp_specs_free. A method that comes twice
 * with the same parameters is taken once. */
sock_status cmp_specs_parse(sock_context *ctx, const char *list, cmp_spec **specs, size_t *count);
void cmp_specs_free(cmp_spec *specs);

/* The value of a parameter, which must be one of the method's. Numbers: NaN for auto. */
double cmp_spec_number(const cmp_spec *spec, const char *key);
const char *cmp_spec_text(const cmp_spec *spec, const char *key);
int cmp_spec_is(const cmp_spec *spec, const char *key, const char *value);

/* Name and the parameters that differ from their defaults, as text that parses back: "bisde:degree=2". */
void cmp_spec_format(const cmp_spec *spec, char *buffer, size_t size);

/* All parameters in force: "library poly, degree 3, threshold 0.05". */
void cmp_spec_settings(const cmp_spec *spec, char *buffer, size_t size);

/* ---- What is compared on ---- */

/* Everything is borrowed. */
struct cmp_case {
    const sock_data *train;
    const sock_data *validation; /* NULL: none. Methods that need none join it to the training data (see fit-on) */
    const sock_data *test;
    const sock_model *truth;     /* NULL: unknown */
    const sock_options *options; /* of the scores: delta, mmd-paths, mmd-step, seed, bounds, lower, upper. NULL:
                                    defaults. Fits use its seed, delta and grouping */
    double budget;               /* seconds for methods that search; 0: no limit */
    double fine_delta;           /* the delta of the likelihood by moments, without paths; 0: that of the options */
};

/* ---- A fitted method ---- */

struct cmp_fitted {
    const sock_model *model; /* what was made: own, or somebody else's (the truth) */
    sock_model *own;
    /* A wrapped model's own functions, which the projection calls again; NULL: the model is no wrapped one, and its a
     * is positive semi-definite by construction. */
    sock_field_fn drift, diffusion;
    void *state; /* what they use, freed after the model */
    void (*free_state)(void *state);
    size_t terms, nonzero;        /* coefficients of f and a together, and how many are not 0; 0: does not apply */
    char settings[CMP_TEXT_SIZE]; /* in words, with what was chosen */
    char kernels[CMP_TEXT_SIZE];  /* chosen kernels, or "" */
    char note[CMP_TEXT_SIZE];     /* what a reader must know, or "" */
    sock_status status;           /* how it ended: SOCK_OK or a caveat */
    double wall_seconds, cpu_seconds;
};

/* Fits alone, for those who want the model: drawing, simulating. Only for methods with `fit`. */
sock_status cmp_fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out);
void cmp_fitted_clear(cmp_fitted *fitted);

/* ---- Rows ---- */

struct cmp_row {
    const cmp_method *method;
    char label[CMP_VALUE_SIZE * 2]; /* as cmp_spec_format */
    char settings[CMP_TEXT_SIZE], kernels[CMP_TEXT_SIZE], note[CMP_TEXT_SIZE];
    int projected;      /* a was projected on the positive semi-definite matrices */
    int leaks;          /* the method saw the test trajectories that it is scored on: every table must say so */
    int made;           /* 1: scores hold (each value valid or with its reason); 0: no row, reason says why */
    sock_status status; /* of the fit */
    char reason[CMP_TEXT_SIZE];
    sock_scores scores;
    double psd_fraction;     /* share of the test points where a is not positive semi-definite, before projection */
    double worst_eigenvalue; /* smallest of a over the test points, before projection; NaN: there is no a */
    size_t terms, nonzero;   /* see cmp_fitted */
    double wall_seconds, cpu_seconds; /* of the fit */
};

/* Fits and scores one method: one row, or two where a is not positive semi-definite on some test point. In the first of
 * the two the scores that need a density or paths are not valid and say the share and the worst eigenvalue; the second
 * has a projected. (Paths of a rival
 * come to other points too: where a is not positive semi-definite there, it is projected in any row.) Every failure of
 * the method but an interruption becomes a row with a reason (made = 0), so that the status is negative with
 * SOCK_ECANCELLED only. rows: CMP_MOST_ROWS of them. */
sock_status cmp_run(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_row *rows, size_t *count);

/* Scores a model that is fitted already: the rows of cmp_run without the fit. */
sock_status cmp_score(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, const cmp_fitted *fitted,
                      cmp_row *rows, size_t *count);

/* Seconds of the processor that the whole process has taken, in all its threads. */
double cmp_cpu_seconds(void);

/* ---- For the methods in this folder ---- */

/* The tables, each ended by a method without a name. */
extern const cmp_method cmp_sock_methods[], cmp_bisde_methods[], cmp_gedmd_methods[], cmp_neural_methods[],
    cmp_baseline_methods[];

/* The parameter that most methods have: which data they are fitted to. `value`: the method's default. */
#define CMP_FIT_ON(value)                                                                                              \
    {                                                                                                                  \
        "fit-on", value, CMP_CHOICE, 0, 0, "all|train",                                                                \
            "all: training and validation data joined; train: without the latter"                                      \
    }

/* The data to fit to, by the parameter fit-on. *own: made here, for the caller to free (sock_data_free), or NULL. */
sock_status cmp_training_data(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, const sock_data **data,
                              sock_data **own);

/* Wraps fitted->drift, diffusion and state as fitted->own and model; the names of the states are those of the data. */
sock_status cmp_wrap(sock_context *ctx, const sock_data *data, cmp_fitted *fitted);

/* Projects count matrices (d x d, symmetric) on the positive semi-definite ones, in place; d > 48: NaN where memory ran
 * out. Safe from several threads. */
void cmp_project(size_t count, size_t d, double *a);

/* Marks every score of the row as missing for one reason, for methods with `run`. */
void cmp_scores_missing(sock_scores *scores, const char *reason);

#endif
