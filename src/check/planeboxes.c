/* planeboxes.c - see binned.h. Boxes of a plane: the points are cut in two at the middle of the state in which they
 * spread more, and so on, so that each box has as many. */
#include "check/binned.h"

#include "check/checkrules.h"

#include <math.h>

typedef struct cutting {
    size_t d;
    const size_t *pair;
    const double *x;  /* points x d */
    double spread[2]; /* of all points, in the two states */
    size_t *place, *order, least, boxes;
} cutting;

static double at(const cutting *c, size_t i, size_t which) { return c->x[c->order[i] * c->d + c->pair[which]]; }

static double variance(const cutting *c, size_t begin, size_t end, size_t which)
{
    double mean = 0, square = 0;
    for (size_t i = begin; i < end; i++) mean += at(c, i, which) / (double)(end - begin);
    for (size_t i = begin; i < end; i++) square += pow(at(c, i, which) - mean, 2) / (double)(end - begin);
    return square;
}

static void swap(size_t *order, size_t i, size_t j)
{
    const size_t kept = order[i];
    order[i] = order[j], order[j] = kept;
}

/* The `middle` smallest come first (Hoare's quickselect). */
static void part(const cutting *c, size_t begin, size_t end, size_t middle, size_t which)
{
    size_t low = begin, high = end - 1;
    while (low < high) {
        const double pivot = at(c, (low + high) / 2, which);
        size_t i = low, j = high;
        for (;;) {
            while (at(c, i, which) < pivot) i++;
            while (at(c, j, which) > pivot) j--;
            if (i >= j) break;
            swap(c->order, i++, j--);
        }
        if (middle <= j)
            high = j;
        else
            low = j + 1;
    }
}

static void cut(cutting *c, size_t begin, size_t end)
{
    double wide[2];
    for (size_t w = 0; w < 2; w++) wide[w] = c->spread[w] > 0 ? variance(c, begin, end, w) / c->spread[w] : 0;
    if (end - begin < 2 * c->least || !(fmax(wide[0], wide[1]) > 0)) {
        for (size_t i = begin; i < end; i++) c->place[c->order[i]] = c->boxes;
        c->boxes++;
        return;
    }
    const size_t middle = begin + (end - begin) / 2;
    part(c, begin, end, middle, wide[1] > wide[0]);
    cut(c, begin, middle);
    cut(c, middle, end);
}

size_t sk_boxes_place(size_t count, size_t d, const double *x, const size_t pair[2], size_t *order, size_t *place)
{
    cutting c = {d, pair, x, {0, 0}, place, order, 0, 0};
    size_t good = 0;
    for (size_t i = 0; i < count; i++)
        if (place[i] != SIZE_MAX) order[good++] = i;
    if (!sk_binned_shows_plane(good)) return 0;
    c.least = sk_binned_box_least(good);
    for (size_t w = 0; w < 2; w++) c.spread[w] = variance(&c, 0, good, w);
    cut(&c, 0, good);
    return c.boxes;
}
