/* page.h - small writers of HTML. Text that comes from a user reaches the page through page_text alone (and through
 * svg_text in pictures): markup becomes entities, so that it is text in an element and in a quoted attribute alike. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "figtable.h"

#include <jansson.h>
#include <stdio.h>

void page_text(FILE *out, const char *text);

/* Base64 of the bytes; and of a hash written in hexadecimal digits, as content security policies want it. */
void page_base64(FILE *out, size_t size, const unsigned char *bytes);
void page_hash(FILE *out, const char *hex);

/* A word for a shell, in single quotes where it needs them. */
void page_shell_word(FILE *out, const char *word);

/* An option of a command: --key=value, with a space before. */
void page_option(FILE *out, const char *key, const char *value);

/* A link that holds the file: <a download="NAME" href="data:...">label</a>. name and type are the program's own. */
typedef struct page_file {
    const char *name, *type, *chart; /* chart: for the script, or NULL */
    const void *bytes;
    size_t size;
} page_file;
void page_link(FILE *out, const page_file *file);

/* A table's CSV as such a link. 0 when memory ran out. */
int page_table_link(FILE *out, const fig_table *table);

/* Numbers for people: so many significant digits, a real minus sign, 34230 rather than 3.423e+04; a number has 4. */
void page_figures(FILE *out, double value, int figures);

/* How many times as likely so many nats make a step: to two digits of what is more than once. */
void page_times(FILE *out, double nats);
void page_number(FILE *out, double value);

/* 0.97 ± 0.14: the standard error has 2 digits, and the value as many as these reach. */
void page_measured(FILE *out, double value, double se);

/* The value of it alone, with the same digits. */
void page_rounded(FILE *out, double value, double se);

/* 37 (19 to 86): two digits of the width count, and at least two of each number; ends are rounded outwards. A high that
 * is not finite: "or more"; a low: the value alone. */
void page_between(FILE *out, double value, double low, double high);

/* "37 %", "<1 %": a share of an average. */
void page_share(FILE *out, double share);

/* ---- JSON that may lack anything ---- */

/* NULL when memory ran out, or the text is none. The memory that it takes is seen to be there first, because the JSON
 * library does not bear a failed allocation. */
json_t *info_parse(const char *text);

const char *info_text(json_t *object, const char *key); /* "" when it is not there */
double info_number(json_t *object, const char *key);    /* NaN when it is not there */
long long info_count(json_t *object, const char *key);  /* 0 when it is not there */

#endif
