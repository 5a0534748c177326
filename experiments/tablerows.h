/* tablerows.h - the rows of the tables' file: one for each data set, method and seed, and a second one where a had to
 * be projected. Kept in the order of the specification, so that the file does not show in which order the work was
 * done. */
#ifndef EXP_TABLEROWS_H
#define EXP_TABLEROWS_H

#include "compare/compare.h"
#include "experiments/tablespec.h"

#include <jansson.h>

enum {
    ROW_SET,
    ROW_METHOD,
    ROW_SEED,
    ROW_PROJECTED, /* "psd": a projected on the positive semi-definite matrices; null: as it is */
    ROW_SPEC,
    ROW_STATUS,
    ROW_P,
    ROW_P_RAW,
    ROW_RE_F,
    ROW_RE_A,
    ROW_MMD2,
    ROW_MMD2_TRUTH,
    ROW_MMD_PATHS, /* asked for */
    ROW_MMD_LOST,
    ROW_NOT_PSD, /* percent of the test points where a is not positive semi-definite */
    ROW_WORST,   /* smallest eigenvalue there */
    ROW_TERMS,
    ROW_NONZERO,
    ROW_CPU,
    ROW_WALL,
    ROW_KERNELS,
    ROW_REASON, /* why P is missing, or the row */
    ROW_VERSION,
    ROW_PM, /* from here on: columns that older files do not have, null in their rows; a score that is missing for
               another reason is the text NA */
    ROW_PM_RAW,
    ROW_COLUMNS
};

extern const char *const exp_row_names[ROW_COLUMNS];

/* Which piece of work a row is of. */
typedef struct exp_piece {
    const exp_table_set *set;
    const exp_table_row *row;
    const char *spec; /* the row's setting, or that of --quick */
    uint64_t seed;
    const char *mmd_paths;
    double cap; /* most seconds of processor time */
} exp_piece;

/* A new row of results; and one for work that came to no result. */
json_t *exp_row_of(const exp_piece *piece, const cmp_row *result);
json_t *exp_row_without(const exp_piece *piece, sock_status status, const char *reason);

/* A row that says that the piece's cap ended the work. */
json_t *exp_row_stopped(const exp_piece *piece);

/* The row, or NULL. Borrowed. */
json_t *exp_row_find(const json_t *rows, const char *set, const char *method, uint64_t seed, int projected);

/* Whether the piece need not be computed: the row is there, with the same setting and as many simulated paths (or none
 * are asked for), and was not stopped by a smaller cap. */
int exp_row_is_known(const json_t *rows, const exp_piece *piece);

/* Whether a row of the piece lacks the newer columns, though a model was fitted. */
int exp_row_is_older(const json_t *rows, const exp_piece *piece);

/* Copies the newer columns of `made`, a row of the same piece computed again, into `row`. 0: its P' is another one (by
 * more than rounding), so it is not the same fit, and nothing was copied. */
int exp_row_fill(json_t *row, const json_t *made);

/* Takes the piece's rows out; and puts a row in at its place. */
void exp_rows_remove(json_t *rows, const exp_piece *piece);
void exp_rows_insert(json_t *rows, json_t *row);

#endif
