/* data.h - trajectories in memory. Points of a trajectory stand together, sorted in time; a group lists trajectories
 * that share their start and times (a group of one is the rule). After occupation/ nobody looks here. */
#ifndef SK_DATA_H
#define SK_DATA_H

#include "base/base.h"

struct sock_data {
    size_t d, trajectories, points, groups;
    char **state;        /* d names */
    char *time;          /* name of the time column */
    char *source;        /* file name, or "arrays" */
    char **id;           /* a name for each trajectory */
    size_t *first;       /* trajectories + 1: points first[j] .. first[j+1]-1 belong to trajectory j */
    double *t;           /* points */
    double *x;           /* points x d */
    size_t *group_first; /* groups + 1 */
    size_t *member;      /* trajectories, group after group */
    size_t rows_read;    /* rows of the source */
    size_t missing;      /* points dropped because a value was missing */
    size_t single;       /* trajectories of one point: kept, they contribute nothing */
    size_t empty;        /* trajectories all of whose points were missing: gone */
    uint64_t hash;       /* of times, states and grouping */
};

/* Intervals of group g, and of all groups (n). */
size_t sk_group_intervals(const sock_data *data, size_t g);
size_t sk_data_intervals(const sock_data *data);

/* The trajectories listed in `keep` (whole groups or parts of them), as a data set of its own. */
sock_status sk_data_subset(sock_context *ctx, const sock_data *data, const size_t *keep, size_t count, sock_data **out);

/* Deals the groups into `parts` parts of nearly equal numbers of intervals: part_of[j] for trajectory j. */
sock_status sk_data_deal(sock_context *ctx, const sock_data *data, size_t parts, uint64_t seed, size_t *part_of);

/* Mean time step over all intervals. */
double sk_data_mean_step(const sock_data *data);

/* Raw rows on their way to a data set; the readers (CSV, NumPy, arrays) fill it and sk_data_build checks, sorts,
 * groups. line[i]: where row i came from, for messages; label[i]: which id (index into id names); group label likewise.
 */
typedef struct sk_rows {
    size_t count, capacity, d;
    double *t, *x; /* x: count x d, NaN where missing */
    size_t *label; /* trajectory number of each row, 0 .. trajectories-1 */
    size_t *line;  /* line in the file, or the point's number */
    size_t trajectories;
    char **id;     /* name of each trajectory */
    size_t *group; /* group label of each trajectory, or NULL: default grouping */
    size_t group_labels;
    char **group_name; /* for messages, or NULL */
    char **state;      /* d names */
    char *time;
    char *source;
    const char *place; /* "line" or "point": what line[] counts */
} sk_rows;

/* Takes the names and arrays out of rows (which is left empty but valid). grouping: "auto" or "none". */
sock_status sk_data_build(sock_context *ctx, sk_rows *rows, const char *grouping, sock_data **out);
void sk_rows_clear(sk_rows *rows);

#endif
