/* resultrows.h - rows of results: a list of lists of numbers, texts or null, kept as a CSV file; and medians of them.
 */
#ifndef EXP_RESULTROWS_H
#define EXP_RESULTROWS_H

#include "sock.h"

#include <jansson.h>

/* A new list of the `count` names. */
json_t *exp_columns(size_t count, const char *const *names);

/* Whether a list with commas between holds the name. */
int exp_is_named(const char *list, const char *name);

/* Writes columns and rows, whole or not at all; null and numbers that are not finite become empty cells. */
sock_status exp_rows_write(sock_context *ctx, const char *path, const json_t *columns, const json_t *rows);

typedef enum exp_read {
    EXP_READ_DONE,
    EXP_READ_MISSING, /* there is no such file */
    EXP_READ_FOREIGN, /* it has other columns, or a row of another length than its header */
    EXP_READ_FAILED,  /* it cannot be read */
    EXP_READ_NO_MEMORY
} exp_read;

/* What is wrong with a file, with line and column, fits in EXP_FAULT bytes. */
enum { EXP_FAULT = 240 };

/* *rows: the rows of such a file, a new list; made with EXP_READ_DONE only. Columns from number `least` on may be
 * missing at the end, as in a file of an older version: they are null then. fault (may be NULL) says what is wrong with
 * one that is FOREIGN. */
exp_read exp_rows_read(const char *path, const json_t *columns, size_t least, char *fault, json_t **rows);

/* The same from text, which is changed on the way. */
exp_read exp_rows_parse(char *text, const json_t *columns, size_t least, char *fault, json_t **rows);

/* A cell as a number (NaN: it holds none) and as text ("": it holds none). */
double exp_number_at(const json_t *row, size_t column);
const char *exp_text_at(const json_t *row, size_t column);

/* The rows that a file of an experiment holds already, an empty list when there is none. A file that cannot be gone on
 * with is told to `say` (may be NULL): SOCK_EINPUT when its columns are others, SOCK_EIO when it cannot be read. */
sock_status exp_rows_resume(const char *path, const json_t *columns, size_t least,
                            void (*say)(void *user, const char *line), void *user, json_t **rows);

/* [median, 10 %, 90 %] of a column; null where infinite: that many rows have no score. NULL when out of memory. */
json_t *exp_quantiles(const json_t *rows, size_t column);

/* The quantile q of the count values, by linear interpolation between neighbours; sorts them. What is not a number
 * counts as infinite: a score that could not be had is the worst. NaN for count = 0. */
double exp_quantile(size_t count, double *values, double q);

#endif
