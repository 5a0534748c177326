/* fieldsline.c - the fields of a one-dimensional model: f and a as curves over the data's range, a histogram of the
 * data along the axis, the truth dashed. */
#define _GNU_SOURCE
#include "axes.h"
#include "datalook.h"
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 241, BARS = 60 };

typedef struct curves {
    size_t count;   /* of data values */
    double *values; /* of the data, sorted */
    double x[GRID];
    double f[GRID], a[GRID], true_f[GRID], true_a[GRID];
    int has_a, has_truth, truth_has_a;
} curves;

static sock_status evaluate(sock_context *ctx, const fig_input *in, curves *c)
{
    const double low = c->values[0], high = c->values[c->count - 1];
    for (size_t i = 0; i < GRID; i++) c->x[i] = low + (high - low) * (double)i / (GRID - 1);
    c->has_a = sock_model_has_diffusion(in->model);
    c->has_truth = in->truth != NULL;
    c->truth_has_a = in->truth && sock_model_has_diffusion(in->truth);
    sock_status status = sock_model_drift(ctx, in->model, GRID, c->x, c->f);
    if (status >= 0 && c->has_a) status = sock_model_diffusion(ctx, in->model, GRID, c->x, c->a);
    if (status >= 0 && c->has_truth) status = sock_model_drift(ctx, in->truth, GRID, c->x, c->true_f);
    if (status >= 0 && c->truth_has_a) status = sock_model_diffusion(ctx, in->truth, GRID, c->x, c->true_a);
    return status;
}

/* All of the truth, and the model where 99 % of the data are; further out the model may leave by the length of that
 * range, and no more, so that a wild end does not flatten the rest. */
static range heights(const curves *c, const double *model, const double *truth)
{
    const double low = look_quantile(c->count, c->values, 0.005), high = look_quantile(c->count, c->values, 0.995);
    range inner = range_empty(), outer = range_empty();
    for (size_t i = 0; i < GRID; i++) {
        if (truth) range_see(&inner, truth[i]);
        if (c->x[i] >= low && c->x[i] <= high) range_see(&inner, model[i]);
        range_see(&outer, model[i]);
    }
    if (!(inner.low <= inner.high)) return outer;
    const double length = inner.high - inner.low;
    if (length > 0) {
        inner.low = fmin(inner.low, fmax(outer.low, inner.low - length));
        inner.high = fmax(inner.high, fmin(outer.high, inner.high + length));
    }
    return inner;
}

/* Bars beneath the plot area, down to the axis. */
static void histogram(const panel *p, const curves *c)
{
    size_t bars[BARS] = {0}, most = 1;
    const double low = c->values[0], high = c->values[c->count - 1], top = p->y.from + 8, tall = p->foot - top;
    for (size_t i = 0; i < c->count; i++) {
        const double share = high > low ? (c->values[i] - low) / (high - low) : 0.5;
        const size_t bar = share < 1 ? (size_t)(share * BARS) : BARS - 1;
        if (++bars[bar] > most) most = bars[bar];
    }
    const double left = axis_at(&p->x, low), wide = fmax(0.5, (axis_at(&p->x, high) - left) / BARS);
    for (size_t b = 0; b < BARS; b++) {
        const double height = tall * (double)bars[b] / (double)most;
        if (bars[b])
            svg_rect(p->s, "bar", (double[]){left + wide * (double)b, p->foot - height},
                     (double[]){wide * 0.92, height});
    }
}

static int draw_panel(panel p, const curves *c, const char *title, const char *name, const double *model,
                      const double *truth)
{
    panel_frame(&p, title, name);
    panel_zero(&p);
    histogram(&p, c);
    panel_clip(&p);
    int good = panel_curve(&p, "model", GRID, c->x, model);
    if (truth) good = panel_curve(&p, "truth", GRID, c->x, truth) && good;
    svg_clip_end(p.s);
    return good;
}

static void draw_legend(svg *s, const curves *c, double x)
{
    legend_entry(s, &x, 50, LEGEND_LINE, "model", "model");
    if (c->has_truth) legend_entry(s, &x, 50, LEGEND_LINE, "truth", "truth");
    legend_entry(s, &x, 50, LEGEND_BOX, "bar", "where the data are");
}

/* The whole picture, 760 x 350 pixels; one panel less wide when there is no diffusion. */
static char *draw(const fig_input *in, const curves *c, size_t *size)
{
    const char *name = sock_model_name(in->model, 0);
    const double width = c->has_a ? 760 : 410;
    svg *s = svg_new("fields", width, 350, "Drift and diffusion of the model where the data are");
    if (!s) return NULL;
    svg_text(s, "head", (double[]){20, 26}, SVG_START, 0, c->has_a ? "Drift and diffusion" : "Drift");
    draw_legend(s, c, 20);
    range across = {c->values[0], c->values[c->count - 1]};
    across = range_widen(across, 0.02);
    const range up = range_widen(heights(c, c->f, c->has_truth ? c->true_f : NULL), 0.06);
    panel p = {s, {across.low, across.high, 64, 385}, {up.low, up.high, 262, 94}, 302};
    int good = draw_panel(p, c, "drift f", name, c->f, c->has_truth ? c->true_f : NULL);
    if (c->has_a) {
        range above = heights(c, c->a, c->truth_has_a ? c->true_a : NULL);
        range_see(&above, 0);
        above = range_widen(above, 0.06);
        p.x.from = 434, p.x.to = 742;
        p.y.low = above.low, p.y.high = above.high;
        good =
            draw_panel(p, c, "diffusion a = \xcf\x83\xc2\xb2", name, c->a, c->truth_has_a ? c->true_a : NULL) && good;
    }
    char *text = svg_close(s, size);
    if (good) return text;
    free(text);
    return NULL;
}

sock_status fig_fields_line(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    curves *c = calloc(1, sizeof *c);
    if (!c) return SOCK_ENOMEM;
    c->values = look_sorted(in->data, 0, &c->count);
    sock_status status = c->values && c->count ? evaluate(ctx, in, c) : SOCK_ENOMEM;
    char *made = status < 0 ? NULL : draw(in, c, size);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(c->values);
    free(c);
    return status;
}
