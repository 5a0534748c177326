/* leaving.h - where bars of the data do not reach the band of a curve: told in words, since at a peak that need not be
 * an error of the model. */
#ifndef REPORT_LEAVING_H
#define REPORT_LEAVING_H

#include "curvepanel.h"

typedef struct leaving {
    char text[480]; /* "drift f at 1.2 (a peak), 3.4" */
    size_t used, places, peaks, dots;
    double expected; /* places of a right model, by chance, if the errors of curve and data have nothing in common */
} leaving;

enum { LEAVING_LINES = 3 }; /* of sheet_plan.notes, where there are places; else one */

/* Adds the places of one curve. field: the program's own words, or a name that the page escapes. */
void leaving_see(leaving *l, const curve_set *c, const char *field);

/* A note below the panels; nothing where there are no bands or dots. */
void leaving_write(const leaving *l, sheet *s);

#endif
