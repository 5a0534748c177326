/* sheet.h - the layout that figures share: heading, legend, panels in rows, notes. Whole it is one SVG picture for a
 * file or a paper; in pieces it is HTML, a picture for each panel, which a page puts side by side or, on a telephone,
 * one beneath the other. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include "axes.h"

typedef enum sheet_form { SHEET_WHOLE, SHEET_PIECES } sheet_form;

typedef struct sheet_plan {
    const char *id;      /* a word that no other figure of the page has */
    const char *heading; /* above a whole one, and for screen readers */
    sheet_form form;
    size_t panels, columns;
    double wide, tall; /* pixels of a plot area; in pieces no wider than a telephone bears */
    double strip;      /* room beneath each plot area, above the ticks, for bars of the data */
    double below;      /* room beneath the name of each x axis, for a legend of the panel's own */
    double left;       /* room for labels on the left; 0: 64 */
    size_t notes;      /* lines at the foot of a whole one */
} sheet_plan;

typedef struct sheet sheet;

/* id and heading must outlive the sheet. NULL when out of memory. */
sheet *sheet_new(const sheet_plan *plan);

/* A line of the legend; all come before the first panel. The text is copied, the class is the program's own. */
void sheet_key(sheet *s, legend_mark mark, const char *klass, const char *text);

/* The next panel with these ranges, to be drawn before the next call. 0: out of memory, and sheet_close will say so. */
int sheet_panel(sheet *s, range across, range up, panel *out);

/* A remark at the foot, cut into lines where it is long; after all panels. */
void sheet_note(sheet *s, const char *text);

/* Something that belongs on the sheet could not be made: sheet_close will answer NULL. */
void sheet_spoil(sheet *s);

/* Ends and frees: the text (freed with free()) and its length; NULL when memory ran out on the way. good: 0 throws the
 * sheet away. */
char *sheet_close(sheet *s, int good, size_t *size);

#endif
