/* data.h - trajectories in memory. Points of a trajectory stand together, sorted in time; a group lists trajectories
 * that share their start and times (a group of one is the rule). After occupation/ nobody looks here. */
#ifndef SK_DATA_H
#define SK_DATA_H

#include "base/base.h"

/* A column of the source that is not used, and why (static text). */
typedef struct sk_ignored {
    char *name;
    const char *why;
} sk_ignored;

struct sock_data {
    size_t d, trajectories, points, groups;
    char **state;        /* d names */
    size_t inputs;       /* known functions of time beside the states */
    char **input;        /* their names; NULL: none */
    bool timed;          /* the last input is the time itself */
    char *time;          /* name of the time column */
    const char *unit;    /* of times that were dates (static text), counted from 1970-01-01; NULL: they were numbers */
    char *source;        /* file name, or "arrays" */
    char **id;           /* a name for each trajectory */
    size_t *line;        /* of each point in its file; NULL: it is not one CSV file in long form */
    size_t *first;       /* trajectories + 1: points first[j] .. first[j+1]-1 belong to trajectory j */
    double *t;           /* points */
    double *x;           /* points x d */
    double *u;           /* points x inputs; NULL: none */
    bool labelled;       /* groups were named; else they are found by their starts */
    size_t *group_first; /* groups + 1 */
    size_t *member;      /* trajectories, group after group */
    size_t rows_read;    /* rows of the source */
    size_t missing;      /* points dropped because a value was missing */
    size_t *missing_in;  /* and how many values each column lacked: the time, the states, the inputs */
    size_t unsorted;     /* rows whose time is before the latest one above them in their trajectory */
    size_t unsorted_at;  /* where the first of them stands in the source */
    size_t thinned;      /* points that the option every left out */
    size_t single;       /* trajectories of one point: kept, they contribute nothing */
    size_t empty;        /* trajectories all of whose points were missing: gone */
    sk_ignored *ignored; /* columns of the source that are no part of the data */
    size_t ignored_count;
    uint64_t hash; /* of times, states, inputs and grouping */
};

/* An input between two of its values: the one before, on the line between them, or the time itself. */
typedef enum sk_hold { SK_HOLD_PREVIOUS, SK_HOLD_LINEAR, SK_HOLD_TIME } sk_hold;

/* Length of trajectory j: the number of its points. */
static inline size_t sk_data_length(const sock_data *data, size_t j) { return data->first[j + 1] - data->first[j]; }

/* Intervals of group g, and of all groups (n). */
size_t sk_group_intervals(const sock_data *data, size_t g);
size_t sk_data_intervals(const sock_data *data);

/* Refuses data without a step. */
sock_status sk_data_refuse_stepless(sock_context *ctx, const char *source);

/* The trajectories listed in `keep` (whole groups or parts of them), in that order, as a data set of its own. Those of
 * one group stay one group. A trajectory may be listed more than once (bootstrap). count >= 1. */
sock_status sk_data_subset(sock_context *ctx, const sock_data *data, const size_t *keep, size_t count, sock_data **out);

/* Some points of a trajectory, which follow one another. */
typedef struct sk_piece {
    size_t trajectory, from, count;
    const char *tail; /* its name is that of the trajectory, or with /tail behind it */
} sk_piece;

/* The pieces as trajectories of a data set without groups, in that order: the caller groups and signs it. */
sock_status sk_data_pieces(sock_context *ctx, const sock_data *data, const sk_piece *piece, size_t count,
                           sock_data **out);

/* The trajectories in an order that depends on their numbers alone, not on their order in the data, the zero, the units
 * or the order of the states: order[0] comes first. content (one for each trajectory): the number that it rests on,
 * different for different trajectories as a rule, and a matter of the trajectory alone where that has several steps. */
sock_status sk_data_order(sock_context *ctx, const sock_data *data, size_t *order, double *content);

/* A copy in that order; *out is NULL where the data are in it already. */
sock_status sk_data_sorted(sock_context *ctx, const sock_data *data, sock_data **out);

/* SOCK_EINPUT for the first point that is outside the bounds of its states (d each, infinite where there is none): the
 * message names trajectory, state, value, time and bound, and ends with the advice for a lower bound or an upper one.
 */
sock_status sk_data_within(sock_context *ctx, const sock_data *data, const double *lower, const double *upper,
                           const char *const advice[2]);

/* A copy with those inputs alone for which use[k]; *out is NULL where these are all. */
sock_status sk_data_keep_inputs(sock_context *ctx, const sock_data *data, const bool *use, sock_data **out);

/* Deals the groups into `parts` parts of nearly equal numbers of intervals: part_of[j] for trajectory j. Every part
 * gets a group; more parts than groups are SOCK_EUSAGE. */
sock_status sk_data_deal(sock_context *ctx, const sock_data *data, size_t parts, uint64_t seed, size_t *part_of);

/* sock_data_join for callers inside; keep_groups: the groups stay what they are, those of `other` behind. */
sock_status sk_data_join(sock_context *ctx, const sock_data *one, const sock_data *other, bool keep_groups,
                         const sock_options *opts, sock_data **out);

/* What sock_data_from_arrays takes, and which of the columns are inputs. */
typedef struct sk_arrays {
    size_t columns; /* states, then inputs */
    size_t inputs;  /* the last so many; 0: those that the options name */
    bool timed;     /* the time is an input too */
    size_t trajectories;
    const size_t *length;
    const double *t, *x;
    const char *const *names; /* of the columns, or NULL */
    const char *const *ids;   /* of the trajectories, or NULL: 0, 1, ... */
    const size_t *group;      /* or NULL */
} sk_arrays;
sock_status sk_data_of_arrays(sock_context *ctx, const sk_arrays *from, const sock_options *opts, sock_data **out);

/* Rows of one of several files. */
typedef struct sk_rows_part {
    char *source;
    const char *place; /* as in sk_rows */
    size_t first;      /* of its rows */
} sk_rows_part;

/* Raw rows on their way to a data set; the readers (CSV, NumPy, arrays) fill it and sk_data_build checks, sorts,
 * groups. NaN marks what is missing, in times and states. */
typedef struct sk_rows {
    size_t count, d;
    size_t inputs; /* the last so many of the d columns are inputs */
    bool timed;    /* and so is the time */
    double *t, *x; /* x: count x d */
    size_t *label; /* trajectory number of each row, 0 .. trajectories-1 */
    size_t *line;  /* where the row stands, for messages: line in the file, or the point's number in its trajectory */
    size_t trajectories;
    char **id;     /* name of each trajectory */
    size_t *group; /* group label of each trajectory, 0 .. group_labels-1, or NULL: default grouping */
    size_t group_labels;
    size_t *kind;      /* of each trajectory: by columns left out that are constant within it; NULL: there are none */
    char **group_name; /* group_labels names, for messages */
    char **state;      /* d names, of inputs too */
    char *time;
    const char *unit; /* see sock_data */
    bool *logged;     /* d: states whose logarithm is asked for by their name; NULL: none */
    char *source;
    const char *place;                     /* "line" or "point": what line[] counts */
    sk_rows_part *part;                    /* of several files; NULL: one */
    size_t parts, part_capacity, capacity; /* the last: rows that there is room for, where several files are joined */
    sk_ignored *ignored;
    size_t ignored_count;
    size_t twins[2];         /* lines of two points of one trajectory at one time, where that was refused; else 0 */
    size_t every;            /* of the points of a trajectory in time every so many-th is taken; 0 or 1: all */
    bool dated;              /* t are seconds of dates: their unit is still to be chosen */
    bool lined;              /* a row is a line of one CSV file, which stands in line[] */
    bool unnamed;            /* nobody named the states: columns that are none are left out */
    struct sk_watch **watch; /* where the rows are a part of the data; NULL: they are all of them */
} sk_rows;

/* There is at least one file, and none is given twice. */
sock_status sk_files_check(sock_context *ctx, size_t count, const char *const *path);

/* The file that row i is of, and what line[i] counts there. */
const char *sk_rows_source(const sk_rows *rows, size_t i);
const char *sk_rows_place(const sk_rows *rows, size_t i);

/* The columns that the options state and input name, in this order; the others are ignored. For readers whose columns
 * have names that the options do not decide. */
sock_status sk_rows_select(sock_context *ctx, const sock_options *opts, sk_rows *rows);

/* What is done to the rows of any file, by the options; then sk_data_build. */
sock_status sk_rows_finish(sock_context *ctx, const sock_options *opts, sk_rows *rows, sock_data **out);

/* Values of states and inputs that the option `missing` lists become NaN; "none": none do. */
void sk_rows_missing(const char *list, sk_rows *rows);

/* The columns that the option `input` names move behind the others; time-dependent: the time is an input too. A reader
 * that has moved them by itself has set rows->inputs. SOCK_EUSAGE for a name that is no column. */
sock_status sk_rows_inputs(sock_context *ctx, const sock_options *opts, sk_rows *rows);

/* Columns of rows->x that are no states move to those that are left out, with the reason: constant within each
 * trajectory, growing with the time alone, copies. All stay where they are all there are. Trajectories that differ in
 * one that is constant are no realisations of one law: rows->kind. */
sock_status sk_rows_idle(sock_context *ctx, sk_rows *rows);

/* What the first part of long data left out may be a state further on. *rows->watch is made by sk_rows_idle where it is
 * NULL; in later parts those columns are the last of the states, in the same order, and go again: SOCK_EINPUT, with the
 * line, where one is no longer what it was left out for. */
typedef struct sk_watch sk_watch;
sock_status sk_rows_watch(sock_context *ctx, sk_rows *rows);
size_t sk_watch_count(const sk_watch *watch); /* of those columns; 0 for NULL */
const char *sk_watch_name(const sk_watch *watch, size_t i);
void sk_watch_next_file(sk_watch *watch); /* nothing goes on in the one that comes; NULL: nothing */
void sk_watch_free(sk_watch *watch);

/* Makes a data set of the rows: drops points with something missing, sorts each trajectory in time, refuses equal times
 * and numbers that are not finite (SOCK_EINPUT), thins, groups. grouping: "auto" (by label, or without labels by equal
 * starts and times) or "none". The names move from rows to the data; clear the rest with sk_rows_clear in any case. */
sock_status sk_data_build(sock_context *ctx, sk_rows *rows, const char *grouping, sock_data **out);
void sk_rows_clear(sk_rows *rows);

#endif
