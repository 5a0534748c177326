/* memtext.h - a stream into memory that tells when memory ran out. open_memstream of the C library loses what it has no
 * room for and goes on; a text with a hole in it must not reach a file. */
#ifndef REPORT_MEMTEXT_H
#define REPORT_MEMTEXT_H

#include <stddef.h>
#include <stdio.h>

typedef struct memtext {
    char *text; /* ends with a 0 that size does not count */
    size_t size, capacity;
} memtext;

/* A stream that writes to *m, which must live as long. NULL when out of memory. */
FILE *memtext_open(memtext *m);

/* Ends the stream. 0: m->text is whole, freed with free(). Else memory ran out on the way, and m->text is NULL. */
int memtext_close(FILE *stream, memtext *m);

/* A text as a cell of CSV: one that a spreadsheet could misread is quoted as RFC 4180 says. */
void memtext_csv(FILE *stream, const char *text);

#endif
