/* tabletext.h - from rows to tables: medians over the seeds, who beats the default, and Markdown for people. */
#ifndef EXP_TABLETEXT_H
#define EXP_TABLETEXT_H

#include "experiments/tablespec.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* What of the rows is shown. */
typedef struct exp_table_view {
    uint64_t first;      /* seeds from here on, */
    size_t seeds;        /* so many; 0: all that there are */
    const char *methods; /* a list with commas between; NULL: all */
} exp_table_view;

/* A new object for one data set:
 *   "set", "title", "table"
 *   "entries": for each method with a row: "method", "projected", "spec", "seeds" (how many), "missing" (seeds without
 *       P, or P' where there is no truth), for each score [median, 10 %, 90 %], and "paper": [P, RE_f, RE_a, MMD]
 *       (null: NA; false: none)
 *   "better": whose median of P (P' and PM' in table 2), RE_f or RE_a is below the default's, over the seeds that both
 *       have: "method", "projected", "score", "median", "default", "seeds", "wins" (seeds in which it is better)
 *
 * A projected entry stands for the method on all seeds, with a projected where it had to be. NULL: out of memory. */
json_t *exp_table_summary(const exp_table_set *set, const exp_table_view *view, const json_t *rows);

/* One set, as Markdown: a table, then who beats the default. */
void exp_table_print(const json_t *summary, FILE *stream);

#endif
