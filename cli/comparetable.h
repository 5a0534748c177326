/* comparetable.h - the rows of a comparison for people (text), for spreadsheets (CSV) and for programs (JSON). */
#ifndef SOCK_COMPARETABLE_H
#define SOCK_COMPARETABLE_H

#include "cli.h"
#include "compare/compare.h"

typedef struct comparison {
    const sock_data *train, *validation, *test; /* validation may be NULL */
    const char *truth;                          /* name of the system, or NULL */
    bool truth_approximate;
    double delta;
    const char *delta_source; /* "given", or why it is what it is */
    double budget;            /* seconds of a search; 0: no limit */
    size_t count;
    cmp_row *rows;
} comparison;

/* Whether the row has a number of its own in the table. */
bool comparison_has_score(const cmp_row *row);

/* The table, then under it what NA means, the settings and the notes. */
void comparison_print(const comparison *all);

/* One line: "bisde: P 100.43, RE_f 5.27 %, RE_a 11.69 %, 0.002 s", or why there is none. */
void comparison_say(const cli *c, const cmp_row *row);

/* Writes every column to path, whole or not at all; the exit code. */
int comparison_write(const cli *c, const comparison *all, const char *path);

/* One object on standard output; answers as cli_begin. */
int comparison_print_json(const cli *c, const comparison *all);

#endif
