/* figtable.h - the numbers behind a picture: tables that a report offers as files and draws zoomable. */
#ifndef REPORT_FIGTABLE_H
#define REPORT_FIGTABLE_H

#include <stddef.h>

enum { FIG_NUMBERS_MOST = 12000 }; /* in one table of data; more would fill the page, and who wants all has the data */

typedef struct fig_table {
    char name[48]; /* of the file, without .csv: the program's own words */
    size_t columns, rows;
    size_t every;      /* one row of so many is here; 0: all */
    char **column;     /* names; may hold a user's text */
    double *value;     /* rows x columns; what is not finite is an empty cell */
    const char *chart; /* what the page's script may draw: see page.js; NULL: nothing. Static storage */
} fig_table;

typedef struct fig_tables {
    size_t count;
    fig_table **table;
    int failed; /* memory ran out */
} fig_tables;

/* A new table with nameless columns and zeros. NULL when list is NULL (nobody wants the numbers) or memory ran out. */
fig_table *tables_add(fig_tables *list, size_t columns, size_t rows, const char *chart, const char *name);

/* The name of column c: `before` and `after` joined. table may be NULL. */
void table_column(fig_tables *list, fig_table *table, size_t c, const char *before, const char *after);

/* As CSV with a header, 9 significant digits; freed with free(). NULL when out of memory. */
char *table_csv(const fig_table *table, size_t *size);
void tables_clear(fig_tables *list);

#endif
