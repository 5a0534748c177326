/* searchlook.h - what a model file tells of the search that made it: each candidate's score over its penalty. */
#ifndef REPORT_SEARCHLOOK_H
#define REPORT_SEARCHLOOK_H

#include "api/record.h"

/* One kernel of one field, at the last stage that it reached. */
typedef struct search_entry {
    const char *kernel, *stage; /* of the record */
    double front;               /* the best score of that stage: what `best` compares with */
    size_t order;               /* of that stage: a later one has a larger number */
    double best, l;             /* score; penalty, NaN where it has none (learned weights) */
    double eta;                 /* length scale, NaN where it has none */
    size_t count;               /* places of the curve */
    double (*curve)[2];         /* log10 l and score, l falling; the highest is best, see searchlook.c */
} search_entry;

typedef struct search_look {
    size_t count;
    search_entry *entry; /* the best first */
} search_look;

/* field: "drift" or "diffusion"; the table must outlive the result. 0 when memory ran out. An empty list where the
 * model was not searched for. */
int search_read(const sk_search_table *table, const char *field, search_look *out);

/* The last stage first, the best of each stage first in it: as scores compare. */
void search_by_stage(search_look *look);
void search_free(search_look *look);

#endif
