/* fieldsplane.c - the fields of a model in the plane of its first two states: arrows for f, ellipses for a.
 *
 * 1. The plane is cut into cells; each cell that holds data gets one place, the mean of its points in all states. So
 * the fields are shown where the model has been taught, also when the states hang together (fractions that add to one).
 * 2. An arrow at x ends at x + tau f(x): where the drift alone leads in a time tau, chosen so that long arrows fill a
 * cell. So arrows are right also where the axes have different scales.
 * 3. An ellipse at x is the set x + (tau' a(x))^(1/2) u, |u| = 1: one standard deviation of the noise over a time tau'.
 *    Where its short half axis is a small part of the long one, it is a line. */
#define _GNU_SOURCE
#include "axes.h"
#include "datalook.h"
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 16, SPECKS_MOST = 1500 };

/* Places of one panel, and the fields there; f and a hold the first two states' part: count x 2 and count x 3 (a11,
 * a12, a22). */
typedef struct places {
    size_t count;
    double *x; /* count x d */
    double model[CELLS_MOST * CELLS_MOST][3], truth[CELLS_MOST * CELLS_MOST][3];
} places;

typedef struct plane {
    sock_context *ctx;
    const fig_input *in;
    size_t d;
    range across, up;    /* of the data, widened */
    double tau_f, tau_a; /* times that arrows and ellipses stand for; 0: none are shown */
    places arrows, rings;
} plane;

/* ---- Places ---- */

static size_t cell_of(range r, double value, size_t cells)
{
    const double share = (value - r.low) / (r.high - r.low);
    return (size_t)fmax(0, fmin((double)cells - 1, floor(share * (double)cells)));
}

/* Step 1. A cell with fewer than a twentieth of an even share is left out: a stray point of very many. */
static sock_status find_places(const plane *p, size_t cells, places *out)
{
    static const double least = 0.05;
    const size_t all = cells * cells, d = p->d;
    size_t hits[CELLS_MOST * CELLS_MOST] = {0}, total = 0;
    out->x = calloc(all * d, sizeof *out->x);
    if (!out->x) return SOCK_ENOMEM;
    for (size_t j = 0; j < sock_data_trajectories(p->in->data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(p->in->data, j, NULL, &x);
        for (const double *at = x; at < x + length * d; at += d) {
            const size_t cell = cell_of(p->across, at[0], cells) * cells + cell_of(p->up, at[1], cells);
            for (size_t k = 0; k < d; k++) out->x[cell * d + k] += at[k];
            hits[cell]++, total++;
        }
    }
    for (size_t c = 0; c < all; c++) {
        if (!hits[c] || (double)hits[c] < least * (double)total / (double)all) continue;
        for (size_t k = 0; k < d; k++) out->x[out->count * d + k] = out->x[c * d + k] / (double)hits[c];
        out->count++;
    }
    return SOCK_OK;
}

/* The field of a model at the places: f (want_a = 0) or a. */
static sock_status evaluate(const plane *p, const sock_model *model, int want_a, const places *at, double (*out)[3])
{
    const size_t d = p->d, each = want_a ? d * d : d;
    double *value = calloc(at->count * each + 1, sizeof *value);
    if (!value) return SOCK_ENOMEM;
    const sock_status status = want_a ? sock_model_diffusion(p->ctx, model, at->count, at->x, value)
                                      : sock_model_drift(p->ctx, model, at->count, at->x, value);
    for (size_t i = 0; status >= 0 && i < at->count; i++) {
        const double *v = value + i * each;
        out[i][0] = v[0], out[i][1] = v[1];
        out[i][2] = want_a ? v[d + 1] : 0;
    }
    free(value);
    return status;
}

/* Where place i is on the screen. */
static void locate(const panel *p, const plane *q, const places *at, size_t i, double out[2])
{
    out[0] = axis_at(&p->x, at->x[i * q->d]);
    out[1] = axis_at(&p->y, at->x[i * q->d + 1]);
}

/* ---- Shapes ---- */

/* At most the value, with one digit that can be read out; 0 stays 0. */
static double round_down(double value)
{
    static const double digits[] = {7, 5, 4, 3, 2, 1.5, 1};
    if (!(value > 0)) return 0;
    const double unit = pow(10, floor(log10(value))), share = value / unit;
    size_t i = 0;
    while (i < 6 && share < digits[i]) i++;
    return unit * digits[i];
}

/* A round tau such that nine tenths of the lengths, times tau, are within `room` pixels; 0 where there is nothing to
 * show. */
static double time_for(size_t count, double *lengths, double room)
{
    size_t good = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(lengths[i]) && lengths[i] > 0) lengths[good++] = lengths[i];
    look_sort(good, lengths);
    const double typical = look_quantile(good, lengths, 0.9);
    return good ? round_down(room / typical) : 0;
}

static double arrow_time(const panel *p, const places *at, double room)
{
    double lengths[CELLS_MOST * CELLS_MOST];
    for (size_t i = 0; i < at->count; i++)
        lengths[i] = hypot(at->model[i][0] * axis_scale(&p->x), at->model[i][1] * axis_scale(&p->y));
    return time_for(at->count, lengths, room);
}

typedef struct ellipse {
    double radius[2], degrees; /* in pixels; the long one first */
} ellipse;

/* Half axes and direction of the ellipse of the covariance tau a, on the screen: the eigenvalues of S (tau a) S with S
 * the scales of the axes. An eigenvalue below 0, by rounding, is 0. */
static ellipse ellipse_of(const panel *p, const double a[3], double tau)
{
    const double sx = axis_scale(&p->x), sy = axis_scale(&p->y);
    const double xx = tau * a[0] * sx * sx, xy = tau * a[1] * sx * sy, yy = tau * a[2] * sy * sy;
    const double middle = (xx + yy) / 2, swing = hypot((xx - yy) / 2, xy);
    return (ellipse){{sqrt(fmax(0, middle + swing)), sqrt(fmax(0, middle - swing))},
                     0.5 * atan2(2 * xy, xx - yy) * 180 / 3.14159265358979323846};
}

/* A half axis grows with the square root of tau. */
static double ellipse_time(const panel *p, const places *at, double room)
{
    double lengths[CELLS_MOST * CELLS_MOST];
    for (size_t i = 0; i < at->count; i++) {
        const double radius = ellipse_of(p, at->model[i], 1).radius[0];
        lengths[i] = radius * radius;
    }
    return time_for(at->count, lengths, room * room);
}

/* Step 2. */
static void draw_arrows(const panel *p, const plane *q, int truth)
{
    const places *at = &q->arrows;
    const double(*f)[3] = truth ? at->truth : at->model;
    const double across = q->tau_f * axis_scale(&p->x), up = q->tau_f * axis_scale(&p->y);
    for (size_t i = 0; i < at->count; i++) {
        double from[2];
        locate(p, q, at, i, from);
        svg_arrow(p->s, truth ? "under" : "fine", from, (double[]){from[0] + across * f[i][0], from[1] + up * f[i][1]});
    }
}

/* Step 3. */
static void draw_ellipses(const panel *p, const plane *q, int truth)
{
    static const double flat = 0.06;
    const places *at = &q->rings;
    const double(*a)[3] = truth ? at->truth : at->model;
    const char *klass = truth ? "shade" : "fine", *line = truth ? "under" : "fine";
    for (size_t i = 0; i < at->count; i++) {
        const ellipse e = ellipse_of(p, a[i], q->tau_a);
        double centre[2];
        locate(p, q, at, i, centre);
        if (e.radius[1] > flat * e.radius[0]) {
            svg_ellipse(p->s, klass, centre, e.radius, e.degrees);
            continue;
        }
        const double angle = e.degrees * 3.14159265358979323846 / 180;
        const double dx = e.radius[0] * cos(angle), dy = e.radius[0] * sin(angle);
        svg_line(p->s, line, (double[]){centre[0] - dx, centre[1] - dy}, (double[]){centre[0] + dx, centre[1] + dy});
    }
}

static void draw_specks(const panel *p, const plane *q)
{
    const sock_data *data = q->in->data;
    const size_t points = sock_data_points(data), every = points / SPECKS_MOST + 1;
    size_t number = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(data, j, NULL, &x);
        for (size_t i = 0; i < length; i++)
            if (number++ % every == 0)
                svg_dot(p->s, "speck", (double[]){axis_at(&p->x, x[i * q->d]), axis_at(&p->y, x[i * q->d + 1])}, 1.3);
    }
}

/* ---- The picture ---- */

enum { PANEL = 320, LEFT = 66, TOP = 98, BETWEEN = 80, ARROW_CELLS = 12, RING_CELLS = 9 };

static sock_status evaluate_both(const plane *q, int want_a, places *at)
{
    sock_status status = evaluate(q, q->in->model, want_a, at, at->model);
    if (status < 0 || !q->in->truth || (want_a && !sock_model_has_diffusion(q->in->truth))) return status;
    return evaluate(q, q->in->truth, want_a, at, at->truth);
}

static panel new_panel(const plane *q, svg *s, int number)
{
    const double left = LEFT + number * (PANEL + BETWEEN), foot = TOP + PANEL;
    return (panel){s, {q->across.low, q->across.high, left, left + PANEL}, {q->up.low, q->up.high, foot, TOP}, foot};
}

static void draw_frame(const panel *p, const plane *q, const char *title)
{
    panel_frame(p, title, sock_model_name(q->in->model, 0));
    svg_text_up(p->s, "", (double[]){p->x.from - 48, TOP + PANEL / 2}, 36, sock_model_name(q->in->model, 1));
}

static void drift_panel(plane *q, svg *s)
{
    const panel p = new_panel(q, s, 0);
    q->tau_f = arrow_time(&p, &q->arrows, 1.1 * PANEL / ARROW_CELLS);
    draw_frame(&p, q, "drift f");
    panel_clip(&p);
    draw_specks(&p, q);
    if (q->in->truth) draw_arrows(&p, q, 1);
    draw_arrows(&p, q, 0);
    svg_clip_end(s);
}

static void diffusion_panel(plane *q, svg *s)
{
    const panel p = new_panel(q, s, 1);
    q->tau_a = ellipse_time(&p, &q->rings, 0.5 * PANEL / RING_CELLS);
    draw_frame(&p, q, "diffusion a = \xcf\x83\xcf\x83\xe1\xb5\x80");
    panel_clip(&p);
    draw_specks(&p, q);
    if (q->in->truth && sock_model_has_diffusion(q->in->truth)) draw_ellipses(&p, q, 1);
    draw_ellipses(&p, q, 0);
    svg_clip_end(s);
}

static void draw_heading(const plane *q, svg *s, int has_a)
{
    const char *what = has_a ? "Drift and diffusion" : "Drift";
    char text[160];
    double x = 20;
    if (q->d > 2)
        snprintf(text, sizeof text, "%s: the first two of %zu states, the others at their mean nearby", what, q->d);
    else
        snprintf(text, sizeof text, "%s", what);
    svg_text(s, "head", (double[]){20, 26}, SVG_START, 0, text);
    legend_entry(s, &x, 52, LEGEND_ARROW, "fine", "model");
    if (q->in->truth) legend_entry(s, &x, 52, LEGEND_ARROW, "under", "truth");
    legend_entry(s, &x, 52, LEGEND_DOT, "speck", "data");
}

/* What lengths mean, under each panel. */
static void draw_notes(const plane *q, svg *s, int has_a)
{
    char text[160];
    const double y = TOP + PANEL + 58, right = LEFT + PANEL + BETWEEN;
    snprintf(text, sizeof text, "arrows: where the drift leads in time %g", q->tau_f);
    if (q->tau_f > 0) svg_text(s, "muted", (double[]){LEFT, y}, SVG_START, 0, text);
    snprintf(text, sizeof text, "outlines: a standard deviation of noise in time %g", q->tau_a);
    if (has_a && q->tau_a > 0) svg_text(s, "muted", (double[]){right, y}, SVG_START, 0, text);
}

static char *draw(plane *q, size_t *size)
{
    const int has_a = sock_model_has_diffusion(q->in->model);
    const double width = LEFT + PANEL + 20 + (has_a ? PANEL + BETWEEN : 0);
    svg *s = svg_new("fields", width, TOP + PANEL + 74, "Drift and diffusion of the model where the data are");
    if (!s) return NULL;
    draw_heading(q, s, has_a);
    drift_panel(q, s);
    if (has_a) diffusion_panel(q, s);
    draw_notes(q, s, has_a);
    return svg_close(s, size);
}

static sock_status prepare(plane *q)
{
    size_t count[2] = {0, 0};
    double *values[2] = {look_sorted(q->in->data, 0, &count[0]), look_sorted(q->in->data, 1, &count[1])};
    const int good = values[0] && values[1] && count[0] && count[1];
    if (good) {
        q->across = range_widen((range){values[0][0], values[0][count[0] - 1]}, 0.07);
        q->up = range_widen((range){values[1][0], values[1][count[1] - 1]}, 0.07);
    }
    free(values[0]);
    free(values[1]);
    if (!good) return SOCK_ENOMEM;
    const sock_status status = find_places(q, ARROW_CELLS, &q->arrows);
    return status < 0 ? status : find_places(q, RING_CELLS, &q->rings);
}

sock_status fig_fields_plane(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    plane *q = calloc(1, sizeof *q);
    if (!q) return SOCK_ENOMEM;
    q->ctx = ctx, q->in = in, q->d = sock_model_dim(in->model);
    sock_status status = prepare(q);
    if (status >= 0) status = evaluate_both(q, 0, &q->arrows);
    if (status >= 0 && sock_model_has_diffusion(in->model)) status = evaluate_both(q, 1, &q->rings);
    char *made = status < 0 ? NULL : draw(q, size);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(q->arrows.x);
    free(q->rings.x);
    free(q);
    return status;
}
