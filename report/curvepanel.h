/* curvepanel.h - one field over one state: the model's curve, the truth's, and beneath them where the data are. */
#ifndef REPORT_CURVEPANEL_H
#define REPORT_CURVEPANEL_H

#include "sheet.h"

typedef struct curve_set {
    size_t count; /* points of the curves */
    const double *x, *model;
    const double *truth;  /* NULL: unknown */
    size_t values;        /* of the data along the axis, at least one, */
    const double *sorted; /* sorted */
    int from_zero;        /* the axis shows 0: what cannot be negative */
} curve_set;

enum { CURVE_STRIP = 40 }; /* sheet_plan.strip for these panels */

/* The next panel of the sheet. 0 when memory ran out. */
int curve_panel(sheet *s, const curve_set *c, const char *title, const char *x_name);

/* Lines of the legend: model, truth where known, bars. */
void curve_keys(sheet *s, int has_truth);

#endif
