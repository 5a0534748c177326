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
    EXP_READ_FOREIGN, /* it has other columns, or a row of another length */
    EXP_READ_FAILED   /* memory, or the file cannot be read */
} exp_read;

/* *rows: the rows of such a file, a new list; made with EXP_READ_DONE only. */
exp_read exp_rows_read(const char *path, const json_t *columns, json_t **rows);

/* The same from text, which is changed on the way. */
exp_read exp_rows_parse(char *text, const json_t *columns, json_t **rows);

/* The quantile q of the count values, by linear interpolation between neighbours; sorts them. What is not a number
 * counts as infinite: a score that could not be had is the worst. NaN for count = 0. */
double exp_quantile(size_t count, double *values, double q);

#endif
