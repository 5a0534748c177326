/* leaving.c - see leaving.h. A peak is a dot beyond a local extremum of the curve that lies no further from it than its
 * neighbour dots do: a smooth curve cuts off what is sharper than its kernel, and the band, which is made of curves of
 * the same kind, does not hold that error. */
#include "leaving.h"

#include "datalook.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACES_MOST = 8 };

/* The grid interval in which x lies: its right end. */
static size_t interval(const curve_set *c, double x)
{
    size_t right = 1;
    while (right + 1 < c->count && c->x[right] < x) right++;
    return right;
}

static double between(const curve_set *c, const double *y, size_t right, double x)
{
    const double share = (x - c->x[right - 1]) / (c->x[right] - c->x[right - 1]);
    return y[right - 1] + share * (y[right] - y[right - 1]);
}

/* -1: the bar of dot i is below the band, 1: above, 0: they meet. */
static int side_of(const curve_set *c, size_t i)
{
    const double x = c->dots->x[i], y = dots_height(c->dots, i, c->count, c->x, c->model);
    const double bar = c->dots->se[i] * LOOK_NINETY;
    const size_t right = interval(c, x);
    if (!(x >= c->x[0] && x <= c->x[c->count - 1])) return 0;
    if (y - bar > between(c, c->band + c->count, right, x)) return 1;
    return y + bar < between(c, c->band, right, x) ? -1 : 0;
}

/* The chance of a right model that bar i does not reach the band: both miss by normal errors b and s, and the bar does
 * not reach where they differ by more than z (b + s). */
static double chance_of(const curve_set *c, size_t i)
{
    const double x = c->dots->x[i], se = c->dots->se[i];
    if (!(x >= c->x[0] && x <= c->x[c->count - 1]) || !(se > 0)) return 0;
    const size_t right = interval(c, x);
    const double b = (between(c, c->band + c->count, right, x) - between(c, c->band, right, x)) / 2 / LOOK_NINETY;
    return erfc(LOOK_NINETY * (b + se) / hypot(b, se) / sqrt(2));
}

/* Whether the curve turns near dot i towards its side. */
static int at_peak(const curve_set *c, size_t i, int side)
{
    const dots *d = c->dots;
    if (!i || i + 1 == d->count) return 0; /* at an end of the data nothing says that it turns back */
    const double low = d->x[i - 1], high = d->x[i + 1];
    for (size_t g = 1; g + 1 < c->count; g++)
        if (c->x[g] > low && c->x[g] < high && side * (c->model[g] - c->model[g - 1]) > 0 &&
            side * (c->model[g] - c->model[g + 1]) > 0)
            return 1;
    return 0;
}

/* As far as there is room. */
static void append(leaving *l, const char *words)
{
    const size_t length = strlen(words);
    if (length >= sizeof l->text - l->used) return;
    memcpy(l->text + l->used, words, length + 1);
    l->used += length;
}

static void add(leaving *l, const char *before, double x, const char *after)
{
    char words[240];
    snprintf(words, sizeof words, "%s%.4g%s", before, x, after);
    append(l, words);
}

void leaving_see(leaving *l, const curve_set *c, const char *field)
{
    char before[160];
    size_t here = 0;
    for (size_t i = 0; c->dots && c->band && i < c->dots->count; i++) {
        const int side = side_of(c, i), peak = side && at_peak(c, i, side);
        l->dots++, l->expected += chance_of(c, i);
        if (!side) continue;
        l->places++, l->peaks += peak != 0;
        snprintf(before, sizeof before, "%s%.100s at ", l->used ? "; " : "", field);
        if (here < PLACES_MOST)
            add(l, here ? ", " : before, unit_value(c->state, c->dots->x[i]),
                peak ? side > 0 ? " (a peak)" : " (a dip)" : "");
        here++;
    }
    if (here > PLACES_MOST) {
        char more[40];
        snprintf(more, sizeof more, " and %zu more", here - PLACES_MOST);
        append(l, more);
    }
}

void leaving_write(const leaving *l, sheet *s)
{
    char text[900];
    if (!l->dots) return;
    int used = snprintf(text, sizeof text,
                        "%zu of %zu bars of the data do not reach the band; by chance about "
                        "%.2g would not%s%s.",
                        l->places, l->dots, l->expected, l->places ? ": " : "", l->text);
    if ((double)(l->places - l->peaks) > 2 * l->expected + 2 && used > 0)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, " Several in a row say that the curve is wrong there.");
    if (l->peaks && used > 0)
        snprintf(text + used, sizeof text - (size_t)used,
                 " At a peak or a dip a smooth curve cuts off what is sharp, and its band does not know by how much.");
    sheet_note(s, text);
}
