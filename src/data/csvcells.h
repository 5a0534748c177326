/* csvcells.h - the cells of a CSV text (RFC 4180): quotes with separators, quotes and line ends inside; LF, CRLF or CR;
 * blank lines are skipped; blanks around a cell do not count. Cells are separated by commas, semicolons or tabs; where
 * it is not commas, numbers may have decimal commas. The text ends with a 0 byte and has none before. */
#ifndef SK_CSVCELLS_H
#define SK_CSVCELLS_H

#include "base/base.h"

typedef struct sk_cursor {
    const char *p;
    size_t line;        /* of p, from 1 */
    const char *source; /* for messages */
    char separator;     /* of cells: , ; or a tab; 0: a comma */
    char decimal;       /* of the numbers so far: . or , ; 0: none had one. Commas separate: always . */
} sk_cursor;

typedef struct sk_cell {
    const char *text; /* inside the source, without the outer quotes */
    size_t length;
    bool escaped; /* holds doubled quotes */
} sk_cell;

/* What a cell holds, as a number. */
typedef enum sk_cell_kind { SK_CELL_MISSING, SK_CELL_NUMBER, SK_CELL_INFINITE, SK_CELL_TEXT } sk_cell_kind;

/* What separates the cells of a text that begins with a header at `at`: of comma, semicolon and tab the one that the
 * header and the row behind it hold equally often, and most often. */
char sk_csv_separator(const sk_cursor *at);

/* At the beginning of a text: steps over the byte order mark and over a first line sep=; of Excel, and settles the
 * separator. */
void sk_csv_begin(sk_cursor *at);

/* Moves to the next row that is not blank (no text outside blanks and separators); false at the end of the text. */
bool sk_next_row(sk_cursor *at);

/* The next cell; *last tells that the row ends behind it (the cursor is then on the next line). SOCK_EINPUT for an open
 * quote or text behind a closing one. */
sock_status sk_next_cell(sock_context *ctx, sk_cursor *at, sk_cell *cell, bool *last);

/* The common case of a plain number between delimiters: reads it and answers true, or leaves all as it was. */
bool sk_quick_number(sk_cursor *at, double *value, bool *last);

/* MISSING: empty, NA, nan, null in any case. NUMBER: *value is set. INFINITE: inf, infinity, or too large. The first
 * decimal sign is remembered at the cursor; a number with the other one is TEXT. */
sk_cell_kind sk_cell_value(sk_cursor *at, const sk_cell *cell, double *value);

/* Whether the cell is TRUE or FALSE in any case: 1 or 0, in a column that begins so. */
bool sk_cell_truth(const sk_cell *cell, double *value);

/* What to do about a cell that is text where a number belongs, behind a message; "" for most. */
const char *sk_cell_hint(const sk_cell *cell);

/* Takes away the apostrophe that a writer puts in front of what a spreadsheet would run (base/printable.h). */
void sk_cell_disarm(sk_cell *cell);

/* The cell's text with doubled quotes undone; freed with sk_free. NULL when out of memory. */
char *sk_cell_copy(sock_context *ctx, const sk_cell *cell);

#endif
