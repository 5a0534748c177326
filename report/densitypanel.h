/* densitypanel.h - how often the values of one state occur: bars of the data, steps of the model and of the truth. */
#ifndef REPORT_DENSITYPANEL_H
#define REPORT_DENSITYPANEL_H

#include "companion.h"

enum { DENSITY_BINS = 40 };

typedef struct density_look {
    range across; /* of the data, widened */
    double data[DENSITY_BINS], model[DENSITY_BINS], truth[DENSITY_BINS];
    double tallest;
    int has_truth;
} density_look;

/* State k. truth: NULL, or paths of the truth. 0 when memory ran out. */
int density_of(const fig_input *in, size_t k, const companion *model, const companion *truth, density_look *out);

/* Draws bars and steps into the panel, whose x axis is across and whose y axis is a density. 0 when memory ran out. */
int density_draw(const panel *p, const density_look *look);

/* The outline of a histogram over the range. */
int density_steps(const panel *p, const char *klass, range across, const double *bins);

#endif
