/* axes.c - see axes.h. */
#define _GNU_SOURCE
#include "axes.h"

#include "datemarks.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Ranges ---- */

range range_empty(void) { return (range){INFINITY, -INFINITY}; }

void range_see(range *r, double value)
{
    if (!isfinite(value)) return;
    if (value < r->low) r->low = value;
    if (value > r->high) r->high = value;
}

/* The limits keep high - low finite, and long enough that ticks differ from each other in double precision. */
range range_widen(range r, double share)
{
    if (!(r.low <= r.high)) r = (range){0, 0};
    r.low = fmax(-1e300, fmin(1e300, r.low));
    r.high = fmax(-1e300, fmin(1e300, r.high));
    const double size = fmax(fabs(r.low), fabs(r.high));
    const double least = size > 1e-290 ? 1e-9 * size : 1.0, length = r.high - r.low;
    const double more = length > least ? share * length : size > 1e-290 ? 0.1 * size : 1.0;
    return (range){r.low - more, r.high + more};
}

double axis_scale(const axis *a) { return (a->to - a->from) / (a->high - a->low); }

double axis_at(const axis *a, double value) { return a->from + (value - a->low) * axis_scale(a); }

/* ---- Ticks ---- */

/* The smallest of 1, 2, 5 times a power of ten that gives at most about `wanted` steps. */
static ticks with_steps(double low, double high, int wanted)
{
    const double raw = (high - low) / wanted, power = floor(log10(raw)), unit = pow(10, power), share = raw / unit;
    const double round = share <= 1.0001 ? 1 : share <= 2.0001 ? 2 : share <= 5.0001 ? 5 : 10;
    ticks t = {.step = round * unit};
    const int place = (int)power + (round > 9); /* of the step's digit */
    const double slack = 1e-6, first = ceil(low / t.step - slack), last = floor(high / t.step + slack);
    t.first = (long long)first;
    t.count = (int)fmin(TICKS_MOST, last - first + 1);
    const double largest = fmax(fabs(low), fabs(high));
    if (largest >= 1e5 || largest < 1e-2) t.exponent = (int)floor(log10(largest) + 1e-9);
    t.decimals = place < t.exponent ? t.exponent - place : 0;
    if (t.decimals > 12) t.decimals = 12;
    return t;
}

/* Where the round numbers fall badly, one tick or two would be left: then more steps are asked for. */
ticks ticks_of(double low, double high, int wanted)
{
    ticks t = with_steps(low, high, wanted);
    while (t.count < 3) t = with_steps(low, high, ++wanted);
    return t;
}

void ticks_label(const ticks *t, int index, size_t size, char *text)
{
    const double value = (double)(t->first + index) * t->step / pow(10, t->exponent);
    const int negative = t->first + index < 0;
    snprintf(text, size, "%s%.*f", negative ? "\xe2\x88\x92" : "", t->decimals, fabs(value));
}

/* " [10^-3]" with the digits raised, behind a name: labels are in that unit. Nothing for 10^0. */
static void unit_label(int exponent, size_t size, char *text)
{
    static const char *const raised[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                         "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                         "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char digits[16];
    text[0] = 0;
    if (!exponent) return;
    snprintf(digits, sizeof digits, "%d", abs(exponent));
    int used = snprintf(text, size, " [10%s", exponent < 0 ? "\xe2\x81\xbb" : "");
    for (const char *p = digits; *p; p++) used += snprintf(text + used, size - (size_t)used, "%s", raised[*p - '0']);
    snprintf(text + used, size - (size_t)used, "]");
}

/* ---- Marks ---- */

static tick_marks even_marks(double low, double high, int wanted)
{
    const ticks t = ticks_of(low, high, wanted);
    tick_marks m = {.count = t.count, .exponent = t.exponent};
    for (int i = 0; i < t.count; i++) {
        m.at[i] = (double)(t.first + i) * t.step;
        ticks_label(&t, i, sizeof m.label[i], m.label[i]);
    }
    return m;
}

/* The round numbers of a set, times powers of ten from one to the next of every `apart`, whose logarithms are within
 * low..high; 0: there are more than `most`. */
static int round_marks(const char *digits, int apart, double low, double high, int most, tick_marks *out)
{
    const int first = (int)floor(low / log(10)), last = (int)ceil(high / log(10));
    *out = (tick_marks){.count = 0};
    for (int power = first; power <= last; power++)
        for (const char *digit = digits; *digit && power % apart == 0; digit++) {
            const double at = log(*digit - '0') + power * log(10);
            if (at < low - 1e-9 || at > high + 1e-9) continue;
            if (out->count == most) return 0;
            char *label = out->label[out->count];
            if (abs(power) > 5)
                snprintf(label, sizeof *out->label, "%ce%d", *digit, power);
            else
                snprintf(label, sizeof *out->label, "%.*f", power < 0 ? -power : 0, (*digit - '0') * pow(10, power));
            out->at[out->count++] = at;
        }
    return 1;
}

/* Of x at log x. Over less than a decade or so the ticks are even in x. */
static tick_marks log_marks(double low, double high, int wanted)
{
    static const char *const digits[] = {"125", "13", "1", "1", "1", "1"};
    static const int apart[] = {1, 1, 1, 2, 5, 10};
    tick_marks m;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (round_marks(digits[i], apart[i], low, high, wanted + 2, &m)) break;
    if (m.count >= 3) return m;
    m = even_marks(exp(low), exp(high), wanted);
    for (int i = 0; i < m.count; i++) m.at[i] = m.at[i] > 0 ? log(m.at[i]) : low;
    return m;
}

tick_marks marks_of(const char *name, double low, double high, int wanted)
{
    const double most = 600; /* e^600 is a number yet */
    double seconds;
    size_t length;
    if (date_axis(name, &seconds, &length)) {
        const tick_marks dates = date_marks(seconds, low, high, wanted);
        if (dates.count) return dates;
    }
    if (!unit_inside_log(name, &length) || low < -most || high > most) return even_marks(low, high, wanted);
    return log_marks(low, high, wanted);
}

/* ---- Panels ---- */

static void y_ticks(const panel *p, const tick_marks *t)
{
    for (int i = 0; i < t->count; i++) {
        const double y = axis_at(&p->y, t->at[i]);
        svg_line(p->s, "grid", (double[]){p->x.from, y}, (double[]){p->x.to, y});
        svg_line(p->s, "spine", (double[]){p->x.from - 4, y}, (double[]){p->x.from, y});
        svg_text(p->s, "tick", (double[]){p->x.from - 7, y + 4}, SVG_END, 0, t->label[i]);
    }
}

static void x_ticks(const panel *p, const tick_marks *t)
{
    for (int i = 0; i < t->count; i++) {
        const double x = axis_at(&p->x, t->at[i]);
        svg_line(p->s, "spine", (double[]){x, p->foot}, (double[]){x, p->foot + 4});
        svg_text(p->s, "tick", (double[]){x, p->foot + 17}, SVG_MIDDLE, 0, t->label[i]);
    }
}

/* Whether no label comes near its neighbour. */
static int labels_fit(const panel *p, const tick_marks *t)
{
    for (int i = 1; i < t->count; i++) {
        const double letters = (double)(svg_length(t->label[i - 1], 0) + svg_length(t->label[i], 0)) / 2;
        if (7 * letters + 10 > fabs(axis_at(&p->x, t->at[i]) - axis_at(&p->x, t->at[i - 1]))) return 0;
    }
    return 1;
}

/* About a tick for every 40 pixels upwards and, where labels are wide, as many sideways as fit. */
static tick_marks x_marks_that_fit(const panel *p, const char *name)
{
    for (int wanted = 6;; wanted--) {
        const tick_marks t = marks_of(name, p->x.low, p->x.high, wanted);
        if (wanted == 2 || labels_fit(p, &t)) return t;
    }
}

/* The two axes; unit: of the labels of the y axis. */
static void draw_axes(const panel *p, const char *x_name, const char *y_name, size_t size, char *unit)
{
    char name[256], x_unit[48];
    const int rows = (int)fmax(3, fmin(6, fabs(p->y.to - p->y.from) / 35));
    const tick_marks ty = marks_of(y_name, p->y.low, p->y.high, rows), tx = x_marks_that_fit(p, x_name);
    y_ticks(p, &ty);
    x_ticks(p, &tx);
    svg_line(p->s, "spine", (double[]){p->x.from, p->y.from}, (double[]){p->x.from, p->y.to});
    svg_line(p->s, "spine", (double[]){p->x.from, p->foot}, (double[]){p->x.to, p->foot});
    unit_label(tx.exponent, sizeof x_unit, x_unit);
    unit_label(ty.exponent, size, unit);
    unit_of_axis(x_name, sizeof name, name);
    svg_label(p->s, "", (double[]){(p->x.from + p->x.to) / 2, p->foot + 34}, SVG_MIDDLE, 36, name, x_unit);
}

void panel_frame(const panel *p, const char *title, const char *x_name) { panel_frame_of(p, title, "", x_name); }

void panel_frame_of(const panel *p, const char *y_name, const char *after, const char *x_name)
{
    char unit[48], shown[200], name[256];
    draw_axes(p, x_name, y_name, sizeof unit, unit);
    unit_of_axis(y_name, sizeof shown, shown);
    snprintf(name, sizeof name, "%s%.50s", shown, after);
    svg_label(p->s, "panel", (double[]){p->x.from, p->y.to - 10}, SVG_START, 36, name, unit);
}

void panel_plane(const panel *p, const char *title, const char *x_name, const char *y_name)
{
    char unit[48], name[256];
    draw_axes(p, x_name, y_name, sizeof unit, unit);
    unit_of_axis(y_name, sizeof name, name);
    svg_label(p->s, "panel", (double[]){p->x.from, p->y.to - 10}, SVG_START, 36, title, unit);
    svg_text_up(p->s, "", (double[]){p->x.from - 52, (p->y.from + p->y.to) / 2}, 36, name);
}

void panel_zero(const panel *p)
{
    if (!(p->y.low < 0 && p->y.high > 0)) return;
    const double y = axis_at(&p->y, 0);
    svg_line(p->s, "zero", (double[]){p->x.from, y}, (double[]){p->x.to, y});
}

void panel_clip(const panel *p)
{
    svg_clip_begin(p->s, (double[]){p->x.from, p->y.to}, (double[]){p->x.to - p->x.from, p->y.from - p->y.to});
}

int panel_curve(const panel *p, const char *klass, size_t count, const double *x, const double *y)
{
    double *xy = calloc(2 * count + 1, sizeof *xy);
    if (!xy) return 0;
    for (size_t i = 0; i < count; i++) {
        xy[2 * i] = axis_at(&p->x, x[i]);
        xy[2 * i + 1] = axis_at(&p->y, y[i]);
    }
    svg_polyline(p->s, klass, count, xy);
    free(xy);
    return 1;
}

int panel_band(const panel *p, const char *klass, size_t count, const double *x, const double *low, const double *high)
{
    double *xy = calloc(4 * count + 1, sizeof *xy);
    if (!xy) return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t back = 2 * count - 1 - i;
        xy[2 * i] = xy[2 * back] = axis_at(&p->x, x[i]);
        xy[2 * i + 1] = axis_at(&p->y, low[i]);
        xy[2 * back + 1] = axis_at(&p->y, high[i]);
    }
    svg_polygon(p->s, klass, 2 * count, xy);
    free(xy);
    return 1;
}

/* ---- Legend ---- */

/* A guess at the width of text of 12 pixels, on the wide side of the usual fonts. */
static double text_width(const char *text)
{
    double width = 0;
    for (; *text; text++) width += strchr("iljtfr.,'! ", *text) ? 4.6 : strchr("mwMW%", *text) ? 11.2 : 7.4;
    return width;
}

enum { SAMPLE = 24 };

double legend_width(const char *text) { return SAMPLE + 8 + text_width(text) + 18; }

void legend_sample(svg *s, double x, double y, legend_mark mark, const char *klass)
{
    const double from[2] = {x, y}, to[2] = {x + SAMPLE, y}, centre[2] = {x + SAMPLE / 2.0, y};
    const double corner[2] = {x, y - 5}, box[2] = {SAMPLE, 10};
    switch (mark) {
    case LEGEND_LINE: svg_line(s, klass, from, to); break;
    case LEGEND_BOX: svg_rect(s, klass, corner, box); break;
    case LEGEND_DOT: svg_dot(s, klass, centre, 3); break;
    case LEGEND_ARROW: svg_arrow(s, klass, from, to); break;
    case LEGEND_RING: svg_ellipse(s, klass, centre, (double[]){11, 5.5}, -15); break;
    case LEGEND_MOMENT:
        svg_line(s, "error", (double[]){centre[0], y - 7}, (double[]){centre[0], y + 7});
        svg_dot(s, klass, centre, 2.6);
        break;
    case LEGEND_NEST:
        svg_rect(s, "fan90", corner, box);
        svg_rect(s, klass, corner, box);
        break;
    }
}

void legend_entry(svg *s, double *x, double y, legend_mark mark, const char *klass, const char *text)
{
    legend_sample(s, *x, y - 4, mark, klass);
    svg_text(s, "", (double[]){*x + SAMPLE + 8, y}, SVG_START, 0, text);
    *x += legend_width(text);
}
