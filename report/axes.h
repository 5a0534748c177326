/* axes.h - panels with axes: from numbers to pixels, round ticks, a legend. */
#ifndef REPORT_AXES_H
#define REPORT_AXES_H

#include "svg.h"

/* An interval that grows as it sees numbers. Empty: low > high. */
typedef struct range {
    double low, high;
} range;

range range_empty(void);
void range_see(range *r, double value);   /* what is not finite is passed over */
range range_widen(range r, double share); /* by a share of its length at each end; never empty, never of length 0 */

/* Numbers low..high lie at the pixels from..to (for a vertical axis from > to: up is larger). */
typedef struct axis {
    double low, high, from, to;
} axis;

double axis_at(const axis *a, double value);
double axis_scale(const axis *a); /* pixels for a unit, with sign */

/* Ticks first * step, (first + 1) * step, ..., count of them, all within the range, step 1, 2 or 5 times a power of
 * ten: 3 to 10 of them for wanted = 5. */
enum { TICKS_MOST = 16 };
typedef struct ticks {
    double step;
    long long first;
    int count;
    int decimals, exponent; /* labels have so many decimals, after division by 10^exponent */
} ticks;

ticks ticks_of(double low, double high, int wanted);
void ticks_label(const ticks *t, int index, size_t size, char *text);

/* Where ticks stand and what they say. name: of what the axis shows; where it is log(x) the labels are round numbers of
 * x, at their logarithms. */
typedef struct tick_marks {
    int count, exponent; /* labels are in units of 10^exponent */
    double at[TICKS_MOST];
    char label[TICKS_MOST][32];
} tick_marks;

tick_marks marks_of(const char *name, double low, double high, int wanted);

/* A plot area. foot: where the ticks of the x axis hang, y.from or lower. */
typedef struct panel {
    svg *s;
    axis x, y;
    double foot;
} panel;

/* Grid lines and axes with their ticks; title above on the left, which names the y axis where it is a state, name of
 * the x axis below in the middle, each with the power of ten that the labels of its axis are in. */
void panel_frame(const panel *p, const char *title, const char *x_name);

/* The same with words after the title, which is the name of a state. */
void panel_frame_of(const panel *p, const char *y_name, const char *after, const char *x_name);

/* The same of a plane: the name of the y axis reads upwards beside it. */
void panel_plane(const panel *p, const char *title, const char *x_name, const char *y_name);

/* A horizontal line at 0, where 0 is in range. */
void panel_zero(const panel *p);
void panel_clip(const panel *p); /* svg_clip_begin at the plot area */

/* Lines through (x[i], y[i]); and the band between low and high. Up to count points; out of memory: nothing is drawn
 * and the answer is 0. */
int panel_curve(const panel *p, const char *klass, size_t count, const double *x, const double *y);
int panel_band(const panel *p, const char *klass, size_t count, const double *x, const double *low, const double *high);

/* A legend in one row: each call draws a sample and its text and moves *x to the right of it. */
typedef enum legend_mark {
    LEGEND_LINE,
    LEGEND_BOX,
    LEGEND_DOT,
    LEGEND_ARROW,
    LEGEND_RING,
    LEGEND_NEST,
    LEGEND_MOMENT
} legend_mark;
void legend_entry(svg *s, double *x, double y, legend_mark mark, const char *klass, const char *text);

/* The sample alone, 24 pixels wide from x, centred at y (LEGEND_NEST: a box of the class on one of fan90); and how far
 * an entry moves *x. */
void legend_sample(svg *s, double x, double y, legend_mark mark, const char *klass);
double legend_width(const char *text);

#endif
