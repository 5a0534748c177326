/* cells.c - see cells.h. */
#include "cells.h"

#include <math.h>
#include <stdio.h>

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

/* Neighbours of one shade in a row are one box. */
static void draw_row(const panel *p, const unsigned *hits, unsigned most, size_t row, const char *klass)
{
    const double wide = (p->x.to - p->x.from) / SIDE, tall = (p->y.from - p->y.to) / SIDE;
    for (size_t c = 0; c < SIDE;) {
        const int shade = shade_of(hits[c], most);
        size_t end = c + 1;
        while (end < SIDE && shade_of(hits[end], most) == shade) end++;
        char name[16];
        snprintf(name, sizeof name, "%s%d", klass, shade);
        if (shade)
            svg_rect(p->s, name, (double[]){p->x.from + wide * (double)c, p->y.from - tall * (double)(row + 1)},
                     (double[]){wide * (double)(end - c), tall});
        c = end;
    }
}

void cells_shade(const panel *p, size_t count, const double *x, const double *y, size_t stride, const char *klass)
{
    unsigned hits[SIDE][SIDE] = {{0}}, most = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t across = cell_along(&p->x, x[i * stride]), up = cell_along(&p->y, y[i * stride]);
        if (across < SIDE && up < SIDE && ++hits[up][across] > most) most = hits[up][across];
    }
    for (size_t row = 0; row < SIDE; row++) draw_row(p, hits[row], most, row, klass);
}
