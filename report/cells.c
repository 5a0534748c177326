/* cells.c - see cells.h. */
#include "cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 36, SHADES = 5 };

/* The cell along one axis, or SIDE for a point outside of it. */
static size_t cell_along(const axis *a, double value)
{
    const double share = (value - a->low) / (a->high - a->low);
    return share >= 0 && share < 1 ? (size_t)(share * SIDE) : SIDE;
}

static int shade_of(unsigned hits, unsigned most)
{
    return hits ? (int)fmin(SHADES, 1 + floor(SHADES * sqrt((double)hits / most) * 0.999)) : 0;
}

/* The boxes of one shade in a row, neighbours as one; their number. */
static size_t boxes_of_row(const panel *p, const unsigned *hits, unsigned most, size_t row, int shade, double *box)
{
    const double wide = (p->x.to - p->x.from) / SIDE, tall = (p->y.from - p->y.to) / SIDE;
    size_t count = 0;
    for (size_t c = 0, end; c < SIDE; c = end) {
        end = c + 1;
        if (shade_of(hits[c], most) != shade) continue;
        while (end < SIDE && shade_of(hits[end], most) == shade) end++;
        const double made[4] = {p->x.from + wide * (double)c, p->y.from - tall * (double)(row + 1),
                                wide * (double)(end - c), tall};
        memcpy(box + 4 * count++, made, sizeof made);
    }
    return count;
}

void cells_shade(const panel *p, size_t count, const double *x, const double *y, size_t stride, const char *klass)
{
    unsigned hits[SIDE][SIDE] = {{0}}, most = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t across = cell_along(&p->x, x[i * stride]), up = cell_along(&p->y, y[i * stride]);
        if (across < SIDE && up < SIDE && ++hits[up][across] > most) most = hits[up][across];
    }
    for (int shade = 1; shade <= SHADES; shade++) {
        double box[2 * SIDE * SIDE]; /* in a row half as many as cells */
        char name[16];
        size_t boxes = 0;
        for (size_t row = 0; row < SIDE; row++) boxes += boxes_of_row(p, hits[row], most, row, shade, box + 4 * boxes);
        snprintf(name, sizeof name, "%s%d", klass, shade);
        svg_boxes(p->s, name, boxes, box);
    }
}
