/* slidingwindow.h - medians of the steps around each step, from a sorted window that slides: a step costs a shift of
 * the window instead of two selections. */
#ifndef SK_SLIDINGWINDOW_H
#define SK_SLIDINGWINDOW_H

#include "data.h"

enum { SK_WINDOW_MOST = 64 }; /* room for a window; speed only */

typedef struct sk_window {
    size_t count;
    double sorted[SK_WINDOW_MOST];
} sk_window;

void sk_window_add(sk_window *w, double value);
void sk_window_take(sk_window *w, double value); /* one that is there */

/* Median of the numbers but for one u, which is there, and the median distance from it of those that are not at it; 0
 * where there are none. The upper one of two middle ones. At least two numbers are there. */
void sk_window_others(const sk_window *w, double u, double *middle, double *distance);

#endif
