/* fieldsplane.c - the fields of a model in the plane of two of its states: arrows for f, ellipses for a.
 *
 * 1. The plane is cut into cells; each cell that holds data gets one place, the mean of its points in all states. So
 * the fields are shown where the model has been taught, also when the states hang together (fractions that add to one).
 * 2. An arrow at x ends at x + tau f(x): where the drift alone leads in a time tau, chosen so that long arrows fill a
 * cell. So arrows are right also where the axes have different scales.
 * 3. An ellipse at x is the set x + (tau' a(x))^(1/2) u, |u| = 1: one standard deviation of the noise over a time tau'.
 *    Where its short half axis is a small part of the long one, it is a line.
 * 4. Evidence: in boxes with alike many steps of the data, the model's arrow and an outline that holds, nine times of
 * ten, the tip of the arrow that these steps give; of a, where they put the edges of the model's ellipse. */
#define _GNU_SOURCE
#include "cells.h"
#include "databoxes.h"
#include "driven.h"
#include "evidence.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 16, FEW = 400 };

/* Places of one panel, and the fields there; f and a hold the two states' part: count x 2 and count x 3 (a11, a12,
 * a22). */
typedef struct places {
    size_t count;
    double *x; /* count x d */
    double model[CELLS_MOST * CELLS_MOST][3], truth[CELLS_MOST * CELLS_MOST][3];
} places;

typedef struct plane {
    sock_context *ctx;
    const fig_input *in;
    size_t d, u, v;      /* the states across and up */
    range across, up;    /* of the data, widened */
    int is_pair;         /* one of several */
    size_t outside;      /* values of either state beyond them */
    double tau_f, tau_a; /* times that arrows and ellipses stand for; 0: none are shown */
    double tau_box;      /* that of arrows in boxes */
    places arrows, rings;
    boxes data;          /* step 4, with the model's fields there: */
    places box_f, box_a; /* x is that of data */
} plane;

/* ---- Places ---- */

static size_t cell_of(range r, double value, size_t cells)
{
    const double share = (value - r.low) / (r.high - r.low);
    return (size_t)fmax(0, fmin((double)cells - 1, floor(share * (double)cells)));
}

static int is_within(range r, double value) { return value >= r.low && value <= r.high; }

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
            if (!is_within(p->across, at[p->u]) || !is_within(p->up, at[p->v])) continue;
            const size_t cell = cell_of(p->across, at[p->u], cells) * cells + cell_of(p->up, at[p->v], cells);
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
    const sock_status status =
        (want_a ? driven_diffusion : driven_drift)(p->ctx, model, p->in->model, at->count, at->x, value);
    for (size_t i = 0; status >= 0 && i < at->count; i++) {
        const double *at_i = value + i * each;
        out[i][0] = want_a ? at_i[p->u * d + p->u] : at_i[p->u];
        out[i][1] = want_a ? at_i[p->u * d + p->v] : at_i[p->v];
        out[i][2] = want_a ? at_i[p->v * d + p->v] : 0;
    }
    free(value);
    return status;
}

/* Where place i is on the screen. */
static void locate(const panel *p, const plane *q, const places *at, size_t i, double out[2])
{
    out[0] = axis_at(&p->x, at->x[i * q->d + q->u]);
    out[1] = axis_at(&p->y, at->x[i * q->d + q->v]);
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
static void draw_ellipses_at(const panel *p, const plane *q, const places *at, int truth)
{
    static const double flat = 0.06;
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

static void draw_ellipses(const panel *p, const plane *q, int truth) { draw_ellipses_at(p, q, &q->rings, truth); }

static void draw_model_ellipses(const panel *p, const plane *q, const places *at) { draw_ellipses_at(p, q, at, 0); }

/* The data as shades of their density; few points as dots. */
static int draw_data(const panel *p, const plane *q)
{
    size_t count = 0;
    double *points = look_points(q->in->data, CELLS_POINTS, &count);
    if (!points) return 0;
    if (count > FEW) cells_shade(p, count, points + q->u, points + q->v, q->d, "den");
    for (size_t i = 0; i < count && count <= FEW; i++) { /* no dot is before its point in memory: d >= 2 */
        const double at[2] = {axis_at(&p->x, points[i * q->d + q->u]), axis_at(&p->y, points[i * q->d + q->v])};
        points[2 * i] = at[0], points[2 * i + 1] = at[1];
    }
    if (count <= FEW) svg_dots(p->s, "speck", count, points, 1.5);
    free(points);
    return 1;
}

enum { PANEL = 320, LEFT = 72, ARROW_CELLS = 12, RING_CELLS = 9, BOX_CELLS = 6 };
#define NINETY 1.6448536269514722 /* standard deviations on each side that hold 90 % */

/* ---- Evidence ---- */

/* How far the centres of boxes are from their nearest neighbours, in pixels, in the median. */
static double box_distance(const panel *p, const plane *q)
{
    double nearest[CELLS_MOST * CELLS_MOST];
    for (size_t i = 0; i < q->data.count; i++) {
        double here[2];
        locate(p, q, &q->box_f, i, here);
        nearest[i] = PANEL;
        for (size_t j = 0; j < q->data.count; j++) {
            double there[2];
            locate(p, q, &q->box_f, j, there);
            if (j != i) nearest[i] = fmin(nearest[i], hypot(here[0] - there[0], here[1] - there[1]));
        }
    }
    look_sort(q->data.count, nearest);
    return look_quantile(q->data.count, nearest, 0.5);
}

/* A round time in which nine of ten arrows and outlines of the data stay within a box, and half of the outlines hide
 * little of their neighbours. */
static double box_arrow_time(const panel *p, const plane *q)
{
    static const double beside = 0.6; /* of the distance */
    double lengths[CELLS_MOST * CELLS_MOST], radius[CELLS_MOST * CELLS_MOST];
    for (size_t i = 0; i < q->data.count; i++) {
        double c[3];
        boxes_covariance(&q->data.at[i], c);
        radius[i] = sqrt(q->data.at[i].reach) * ellipse_of(p, c, 1).radius[0];
        lengths[i] =
            fmax(hypot(q->box_f.model[i][0] * axis_scale(&p->x), q->box_f.model[i][1] * axis_scale(&p->y)), radius[i]);
    }
    look_sort(q->data.count, radius);
    const double whole = time_for(q->data.count, lengths, 1.0 * PANEL / BOX_CELLS);
    return fmin(whole, round_down(beside * box_distance(p, q) / look_quantile(q->data.count, radius, 0.5)));
}

static void draw_box_arrow(const panel *p, const plane *q, size_t i)
{
    const box *b = &q->data.at[i];
    const double across = q->tau_box * axis_scale(&p->x), up = q->tau_box * axis_scale(&p->y);
    const double *f = q->box_f.model[i];
    double c[3], from[2];
    boxes_covariance(b, c);
    locate(p, q, &q->box_f, i, from);
    const ellipse e = ellipse_of(p, c, b->reach * q->tau_box * q->tau_box);
    svg_ellipse(p->s, boxes_off(b) ? "off" : "error",
                (double[]){from[0] + across * (f[0] + b->f[0]), from[1] + up * (f[1] + b->f[1])}, e.radius, e.degrees);
    svg_arrow(p->s, "fine", from, (double[]){from[0] + across * f[0], from[1] + up * f[1]});
}

/* Where the data put the right and the upper edge of an ellipse. */
static void draw_box_edges(const panel *p, const plane *q, size_t i)
{
    const box *b = &q->data.at[i];
    double at[2];
    locate(p, q, &q->box_a, i, at);
    for (size_t w = 0; w < 2; w++) {
        const double a = q->box_a.model[i][2 * w] + b->a[w], se = NINETY * b->a_se[w];
        const double scale = w ? axis_scale(&p->y) : axis_scale(&p->x);
        if (!isfinite(a) || !isfinite(se)) continue;
        double end[2][2];
        for (int s = 0; s < 2; s++) {
            const double far = scale * sqrt(fmax(0, a + (s ? se : -se)) * q->tau_a);
            end[s][0] = at[0] + (w ? 0 : far), end[s][1] = at[1] + (w ? far : 0);
        }
        const int off = fabs(b->a[w]) > se;
        svg_line(p->s, off ? "off edge" : "error edge", end[0], end[1]);
    }
}

static sock_status find_boxes(plane *q, int which)
{
    sock_status status = boxes_of(q->ctx, q->in, q->u, q->v, &q->data);
    q->box_f.x = q->box_a.x = q->data.centre;
    q->box_f.count = q->box_a.count = q->data.count;
    if (status >= 0 && q->data.count) status = evaluate(q, q->in->model, 0, &q->box_f, q->box_f.model);
    if (status >= 0 && q->data.count && which & FIG_A) status = evaluate(q, q->in->model, 1, &q->box_a, q->box_a.model);
    return status;
}

/* ---- The picture ---- */

static sock_status evaluate_both(const plane *q, int want_a, places *at)
{
    sock_status status = evaluate(q, q->in->model, want_a, at, at->model);
    if (status < 0 || !q->in->truth || (want_a && !sock_model_has_diffusion(q->in->truth))) return status;
    return evaluate(q, q->in->truth, want_a, at, at->truth);
}

static void draw_frame(const panel *p, const plane *q, const char *title)
{
    panel_plane(p, title, sock_model_name(q->in->model, q->u), sock_model_name(q->in->model, q->v));
}

static int drift_panel(plane *q, sheet *s)
{
    panel p;
    if (!sheet_panel(s, q->across, q->up, &p)) return 0;
    q->tau_f = arrow_time(&p, &q->arrows, 1.1 * PANEL / ARROW_CELLS);
    draw_frame(&p, q, "drift f");
    panel_clip(&p);
    const int good = draw_data(&p, q);
    if (q->in->truth) draw_arrows(&p, q, 1);
    draw_arrows(&p, q, 0);
    svg_clip_end(p.s);
    return good;
}

static int diffusion_panel(plane *q, sheet *s)
{
    panel p;
    if (!sheet_panel(s, q->across, q->up, &p)) return 0;
    q->tau_a = ellipse_time(&p, &q->rings, 0.5 * PANEL / RING_CELLS);
    draw_frame(&p, q, "diffusion a = \xcf\x83\xcf\x83\xe1\xb5\x80");
    panel_clip(&p);
    const int good =
        q->is_pair || draw_data(&p, q); /* of many pairs the data are behind the arrows alone: a smaller page */
    if (q->in->truth && sock_model_has_diffusion(q->in->truth)) draw_ellipses(&p, q, 1);
    draw_ellipses(&p, q, 0);
    svg_clip_end(p.s);
    return good;
}

static int box_panel(plane *q, sheet *s, int is_a)
{
    panel p;
    if (!sheet_panel(s, q->across, q->up, &p)) return 0;
    if (!is_a) q->tau_box = box_arrow_time(&p, q); /* that of a is the time of the panel beside */
    draw_frame(&p, q, is_a ? "a: do the data's steps agree?" : "f: do the data's steps agree?");
    panel_clip(&p);
    if (is_a) draw_model_ellipses(&p, q, &q->box_a);
    for (size_t i = 0; i < q->data.count; i++) (is_a ? draw_box_edges : draw_box_arrow)(&p, q, i);
    svg_clip_end(p.s);
    return 1;
}

static void draw_keys(const plane *q, sheet *s, int which)
{
    const legend_mark mark = which & FIG_F ? LEGEND_ARROW : LEGEND_RING;
    const int many = sock_data_points(q->in->data) > FEW;
    sheet_key(s, mark, "fine", "model");
    if (q->in->truth) sheet_key(s, mark, mark == LEGEND_RING ? "shade" : "under", "truth");
    sheet_key(s, many ? LEGEND_BOX : LEGEND_DOT, many ? "den4" : "speck", many ? "density of the data" : "data");
    if (!q->data.count) return;
    sheet_key(s, LEGEND_RING, "error", "what the data's steps say, 90 %");
    sheet_key(s, LEGEND_RING, "off", "they disagree");
}

typedef struct misses {
    size_t off_f, off_a, edges;
    double chance_a; /* how many edges would miss by chance */
} misses;

static misses count_misses(const plane *q)
{
    misses m = {0};
    for (size_t i = 0; i < q->data.count; i++) {
        const box *b = &q->data.at[i];
        m.off_f += boxes_off(b) != 0;
        for (size_t w = 0; w < 2 && isfinite(b->a[w] + b->a_se[w]); w++, m.edges++)
            m.off_a += fabs(b->a[w]) > NINETY * b->a_se[w], m.chance_a += b->chance;
    }
    return m;
}

/* Outlines that would miss by chance: they hold nine of ten. */
static double by_chance(const plane *q) { return 0.1 * (double)q->data.count; }

/* How many boxes disagree, and how many would by chance. */
static void box_note(const plane *q, sheet *s, int which, const char *unit)
{
    char text[280];
    const misses m = count_misses(q);
    int used = 0;
    if (which & FIG_F)
        used = snprintf(text, sizeof text,
                        "f: %zu of %zu outlines miss the tip of the model's arrow (time %g%s%s), by chance %.2g would",
                        m.off_f, q->data.count, q->tau_box, *unit ? " " : "", unit, by_chance(q));
    if (which & FIG_A && m.edges)
        snprintf(text + used, sizeof text - (size_t)used,
                 "%sa: %zu of %zu bars miss the model's outline, by chance %.2g would", used ? "; " : "", m.off_a,
                 m.edges, m.chance_a);
    sheet_note(s, text);
}

static void outside_note(size_t outside, sheet *s)
{
    char text[120];
    snprintf(text, sizeof text, "beyond the frame: %zu value%s of the data", outside, outside == 1 ? "" : "s");
    if (outside) sheet_note(s, text);
}

/* What lengths mean. */
static void draw_notes(const plane *q, sheet *s, int which)
{
    char text[160], unit[32];
    unit_of(fig_time_name(q->in), sizeof unit, unit);
    snprintf(text, sizeof text, "two of %zu states, the others at their mean nearby", q->d);
    if (q->d > 2) sheet_note(s, text);
    snprintf(text, sizeof text, "arrows: where the drift leads in time %g%s%s", q->tau_f, *unit ? " " : "", unit);
    if (which & FIG_F && q->tau_f > 0) sheet_note(s, text);
    snprintf(text, sizeof text, "outlines: a standard deviation of noise in time %g%s%s", q->tau_a, *unit ? " " : "",
             unit);
    if (which & FIG_A && q->tau_a > 0) sheet_note(s, text);
    if (q->data.count) box_note(q, s, which, unit);
    outside_note(q->outside, s);
}

static int draw_panels(plane *q, sheet *s, int which)
{
    int good = 1;
    if (which & FIG_F) good = drift_panel(q, s);
    if (good && which & FIG_A) good = diffusion_panel(q, s);
    if (good && q->data.count && which & FIG_F) good = box_panel(q, s, 0);
    if (good && q->data.count && which & FIG_A) good = box_panel(q, s, 1);
    return good;
}

static sock_status see_ranges(plane *q)
{
    size_t beyond = 0;
    sock_status status = evidence_most(q->in, q->u, 0.07, &q->across, &q->outside);
    if (status >= 0) status = evidence_most(q->in, q->v, 0.07, &q->up, &beyond);
    q->outside += beyond;
    return status;
}

static sock_status prepare(plane *q, int which)
{
    sock_status status = see_ranges(q);
    if (status >= 0) status = find_places(q, ARROW_CELLS, &q->arrows);
    if (status >= 0) status = find_places(q, RING_CELLS, &q->rings);
    if (status >= 0) status = evaluate_both(q, 0, &q->arrows);
    if (status >= 0 && which & FIG_A) status = evaluate_both(q, 1, &q->rings);
    if (status >= 0) status = find_boxes(q, which);
    return status;
}

static void clear(plane *q)
{
    free(q->arrows.x);
    free(q->rings.x);
    boxes_clear(&q->data);
}

/* Numbers: the two states, f in both, where the arrows are; the same for a. */
static void keep_numbers(const plane *q, int which)
{
    static const char *const parts[2][3] = {{"f_1", "f_2", ""}, {"a_11", "a_12", "a_22"}};
    fig_tables *tables = q->in->tables;
    for (int is_a = 0; is_a < 2; is_a++) {
        const places *at = is_a ? &q->rings : &q->arrows;
        const size_t each = is_a ? 3 : 2, columns = 2 + each;
        char name[48];
        if (!(which & (is_a ? FIG_A : FIG_F))) continue;
        snprintf(name, sizeof name, "%s-%zu-%zu", is_a ? "diffusion" : "drift", q->u + 1, q->v + 1);
        fig_table *t = tables_add(tables, columns, at->count, NULL, name);
        table_column(tables, t, 0, sock_model_name(q->in->model, q->u), "");
        table_column(tables, t, 1, sock_model_name(q->in->model, q->v), "");
        for (size_t c = 0; c < each; c++) table_column(tables, t, 2 + c, parts[is_a][c], "");
        for (size_t i = 0; t && i < at->count; i++) {
            t->value[i * columns] = at->x[i * q->d + q->u];
            t->value[i * columns + 1] = at->x[i * q->d + q->v];
            for (size_t c = 0; c < each; c++) t->value[i * columns + 2 + c] = at->model[i][c];
        }
    }
}

/* Of the boxes: the model's fields, what the data say of them, and standard errors. */
static void keep_boxes(const plane *q, int which)
{
    static const char *const name_f[] = {"f_1", "f_1_data", "f_1_se", "f_2", "f_2_data", "f_2_se"},
                             *const name_a[] = {"a_11", "a_11_data", "a_11_se", "a_22", "a_22_data", "a_22_se"};
    fig_tables *tables = q->in->tables;
    for (int is_a = 0; is_a < 2 && q->data.count; is_a++) {
        char name[48];
        if (!(which & (is_a ? FIG_A : FIG_F))) continue;
        snprintf(name, sizeof name, "%s-evidence-%zu-%zu", is_a ? "diffusion" : "drift", q->u + 1, q->v + 1);
        fig_table *t = tables_add(tables, 8, q->data.count, NULL, name);
        table_column(tables, t, 0, sock_model_name(q->in->model, q->u), "");
        table_column(tables, t, 1, sock_model_name(q->in->model, q->v), "");
        for (size_t c = 0; c < 6; c++) table_column(tables, t, 2 + c, (is_a ? name_a : name_f)[c], "");
        for (size_t i = 0; t && i < q->data.count; i++) {
            const box *b = &q->data.at[i];
            double *row = t->value + 8 * i;
            row[0] = q->data.centre[i * q->d + q->u], row[1] = q->data.centre[i * q->d + q->v];
            for (size_t w = 0; w < 2; w++) {
                const double value = is_a ? q->box_a.model[i][2 * w] : q->box_f.model[i][w];
                row[2 + 3 * w] = value;
                row[3 + 3 * w] = value + (is_a ? b->a : b->f)[w];
                row[4 + 3 * w] = (is_a ? b->a_se : b->f_se)[w];
            }
        }
    }
}

static void write_heading(const plane *q, int which, size_t size, char *text)
{
    static const char *const what[] = {"", "Drift", "Diffusion", "Drift and diffusion"};
    const char *states = q->u == 0 && q->v == 1 ? "the first two" : "two";
    if (q->d > 2)
        snprintf(text, size, "%s: %s of %zu states, the others at their mean nearby", what[which], states, q->d);
    else
        snprintf(text, size, "%s", what[which]);
}

static char *draw(plane *q, int which, size_t *size)
{
    char heading[160];
    write_heading(q, which, sizeof heading, heading);
    const size_t fields = which == (FIG_F | FIG_A) ? 2 : 1;
    const sheet_plan plan = {.id = "fields",
                             .heading = heading,
                             .form = q->in->form,
                             .panels = q->data.count ? 2 * fields : fields,
                             .columns = 2,
                             .wide = PANEL,
                             .tall = PANEL,
                             .left = LEFT,
                             .notes =
                                 fields + (q->data.count ? 2u : 0) + (q->d > 2 ? 1u : 0) + (q->outside > 0 ? 1u : 0)};
    sheet *s = sheet_new(&plan);
    if (!s) return NULL;
    draw_keys(q, s, which);
    const int good = draw_panels(q, s, which);
    draw_notes(q, s, which);
    return sheet_close(s, good, size);
}

sock_status fig_fields_plane(sock_context *ctx, const fig_input *in, int which, char **text, size_t *size)
{
    plane *q = calloc(1, sizeof *q);
    if (!q) return SOCK_ENOMEM;
    q->ctx = ctx, q->in = in, q->d = sock_model_dim(in->model);
    q->u = in->pair[0], q->v = in->pair[0] == in->pair[1] ? 1 : in->pair[1];
    sock_status status = prepare(q, which);
    char *made = status < 0 ? NULL : draw(q, which, size);
    if (made) keep_numbers(q, which), keep_boxes(q, which);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    clear(q);
    free(q);
    return status;
}

/* ---- Several pairs ---- */

enum { PAIRS_MOST = 4 };

/* Of three states all pairs; of more each with the next, and the last with the first. */
static size_t choose_pairs(size_t d, size_t pair[PAIRS_MOST][2])
{
    const size_t ring = d < PAIRS_MOST ? d : PAIRS_MOST;
    for (size_t i = 0; i < ring; i++) {
        const size_t next = (i + 1) % ring;
        pair[i][0] = i < next ? i : next;
        pair[i][1] = i < next ? next : i;
    }
    return ring;
}

/* What the data's own steps say, and what chance gives, pair by pair: pairs share states, and so do not add up. */
static void pair_misses(const plane *planes, size_t count, sheet *s, int which)
{
    char text[700];
    size_t used = (size_t)snprintf(text, sizeof text, "f: outlines that miss the tip of the model's arrow");
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %zu of %zu (time %g; by chance %.2g)",
                                 i ? "," : ":", count_misses(&planes[i]).off_f, planes[i].data.count, planes[i].tau_box,
                                 by_chance(&planes[i]));
    }
    if (which & FIG_A) {
        used += (size_t)snprintf(text + used, sizeof text - used, "; a: bars that miss the model's outline");
        for (size_t i = 0; i < count; i++) {
            const misses m = count_misses(&planes[i]);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %zu of %zu (by chance %.2g)", i ? "," : ":",
                                     m.off_a, m.edges, m.chance_a);
        }
    }
    sheet_note(s, text);
}

static void pair_notes(const plane *planes, size_t count, sheet *s, int which)
{
    char text[400];
    size_t outside = 0, used = (size_t)snprintf(text, sizeof text, "arrows: where the drift leads in time");
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %g", i ? "," : "", planes[i].tau_f);
    if (which & FIG_A) {
        used += (size_t)snprintf(text + used, sizeof text - used, "; outlines: a standard deviation of noise in time");
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %g", i ? "," : "", planes[i].tau_a);
    }
    snprintf(text + used, sizeof text - used, "; pair by pair");
    sheet_note(s, text);
    if (planes->data.count) pair_misses(planes, count, s, which);
    for (size_t i = 0; i < count; i++) outside += planes[i].outside;
    outside_note(outside / 2, s); /* each state is in two pairs */
}

static char *draw_pairs(plane *planes, size_t count, int which, size_t *size)
{
    char heading[120];
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): three states and more have pairs beside the first
    snprintf(heading, sizeof heading, "Pairs of the %zu states, the others at their mean nearby", planes->d);
    const sheet_plan plan = {.id = "pairs",
                             .heading = heading,
                             .form = planes->in->form, // NOLINT(clang-analyzer-core.NullDereference): d >= 3 here
                             .panels = count * (which & FIG_A ? 2 : 1) * (planes->data.count ? 2 : 1),
                             .columns = 2,
                             .wide = PANEL,
                             .tall = PANEL,
                             .left = LEFT,
                             .notes = planes->data.count ? 6 : 3};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    draw_keys(planes, s, which);
    for (size_t i = 0; good && i < count; i++) good = draw_panels(&planes[i], s, which);
    pair_notes(planes, count, s, which);
    return sheet_close(s, good, size);
}

sock_status fig_pairs(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    size_t pair[PAIRS_MOST][2];
    const size_t d = sock_model_dim(in->model), all = choose_pairs(d, pair);
    const size_t first = in->form == SHEET_PIECES, count = all - first; /* a page has the first pair in its fields */
    const int which = sock_model_has_diffusion(in->model) ? FIG_F | FIG_A : FIG_F;
    plane *planes = calloc(count, sizeof *planes);
    sock_status status = planes ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        planes[i] =
            (plane){.ctx = ctx, .in = in, .d = d, .u = pair[first + i][0], .v = pair[first + i][1], .is_pair = 1};
        status = prepare(&planes[i], which);
    }
    int boxed = 1;
    for (size_t i = 0; status >= 0 && i < count; i++) boxed = boxed && planes[i].data.count > 0;
    for (size_t i = 0; status >= 0 && i < count && !boxed; i++) planes[i].data.count = 0; /* all or none */
    char *made = status < 0 ? NULL : draw_pairs(planes, count, which, size);
    for (size_t i = 0; made && i < count; i++) keep_numbers(&planes[i], which), keep_boxes(&planes[i], which);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    for (size_t i = 0; planes && i < count; i++) clear(&planes[i]);
    free(planes);
    return status;
}
