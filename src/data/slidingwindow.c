/* slidingwindow.c - see slidingwindow.h. */
#include "slidingwindow.h"

#include <string.h>

/* How many are smaller: the place of the first that is not. */
static size_t place_of(const sk_window *w, double value)
{
    size_t below = 0;
    for (size_t i = 0; i < w->count; i++) below += w->sorted[i] < value; /* without a branch */
    return below;
}

void sk_window_add(sk_window *w, double value)
{
    const size_t at = place_of(w, value);
    memmove(w->sorted + at + 1, w->sorted + at, (w->count - at) * sizeof *w->sorted);
    w->sorted[at] = value;
    w->count++;
}

void sk_window_take(sk_window *w, double value)
{
    const size_t at = place_of(w, value);
    w->count--;
    memmove(w->sorted + at, w->sorted + at + 1, (w->count - at) * sizeof *w->sorted);
}

/* The k-th smallest distance from the median: below it and above it they rise outwards. low, high: how many are below
 * it, and where those above it begin. */
static double kth_distance(size_t count, const double *other, size_t low, size_t high, size_t k)
{
    const double middle = other[low];
    for (;;) {
        const bool below = low > 0 && (high == count || middle - other[low - 1] <= other[high] - middle);
        const double distance = below ? middle - other[--low] : other[high++] - middle;
        if (k-- == 0) return distance;
    }
}

void sk_window_others(const sk_window *w, double u, double *middle, double *distance)
{
    const size_t count = w->count - 1, own = place_of(w, u);
    double other[SK_WINDOW_MOST];
    memcpy(other, w->sorted, own * sizeof *other);
    memcpy(other + own, w->sorted + own + 1, (count - own) * sizeof *other);
    size_t low = count / 2, high = low + 1;
    *middle = other[low];
    while (low > 0 && other[low - 1] == *middle) low--;
    while (high < count && other[high] == *middle) high++;
    const size_t moves = low + count - high;
    *distance = moves ? kth_distance(count, other, low, high, moves / 2) : 0;
}
