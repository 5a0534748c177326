/* table.h - a table of numbers as CSV, or with --json as one object; written whole or not at all. */
#ifndef SOCK_TABLE_H
#define SOCK_TABLE_H

#include "cli.h"
#include "report/memtext.h"

typedef struct table {
    const cli *c;
    const char *path; /* NULL: standard output */
    bool json;
    FILE *stream; /* into whole */
    memtext whole;
    bool failed; /* a cell could not be made */
    size_t row, column;
} table;

/* Answers a negative number when the table is open, else the exit code. */
int table_open(const cli *c, table *t, const char *path, bool json);

/* A cell of the header: prefix, first and, when not NULL, "_" and second; quoted when it must be. */
void table_name(table *t, const char *prefix, const char *first, const char *second);
void table_text(table *t, const char *text);
void table_number(table *t, double value); /* 17 significant digits; not finite: an empty cell, null in JSON */
void table_end_row(table *t);

/* Writes it; the exit code. */
int table_close(table *t);

#endif
