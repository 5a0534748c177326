/* cells.h - how often the cells of a plane are visited, as shades. */
#ifndef REPORT_CELLS_H
#define REPORT_CELLS_H

#include "axes.h"

enum { CELLS_POINTS = 20000 }; /* points that are counted are enough for the shades */

/* Shades the cells of the panel by the number of points (x[i * stride], y[i * stride]) in each: five shades, steps of
 * the square root of the density. klass: "den" (data) or "sim" (model). */
void cells_shade(const panel *p, size_t count, const double *x, const double *y, size_t stride, const char *klass);

#endif
