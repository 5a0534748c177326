/* marginals.c - the first states two by two: on the diagonal the density of each, beneath it the data, above it the
 * model's paths from the same starts at the same times. */
#define _GNU_SOURCE
#include "cells.h"
#include "densitypanel.h"
#include "evidence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { STATES_MOST = 4, GAP = 8 };

typedef struct matrix {
    const fig_input *in;
    size_t states, d;
    const companion *model;
    size_t count; /* points of the data */
    double *points;
    density_look look[STATES_MOST];
} matrix;

/* Ticks on the outer edges alone, of a panel that shows one state over another. */
static void outer_ticks(const panel *p, const char *across, const char *up, int below, int beside)
{
    const tick_marks tx = marks_of(across, p->x.low, p->x.high, 3), ty = marks_of(up, p->y.low, p->y.high, 3);
    for (int i = 0; below && i < tx.count; i++) {
        const double x = axis_at(&p->x, tx.at[i]);
        svg_line(p->s, "spine", (double[]){x, p->foot}, (double[]){x, p->foot + 4});
        const double half = 3.5 * (double)svg_length(tx.label[i], 0), room = GAP / 2.0; /* not into its neighbours' */
        if (i % (tx.count > 4 ? 2 : 1) == 0 && x - half > p->x.from - room && x + half < p->x.to + room)
            svg_text(p->s, "tick", (double[]){x, p->foot + 16}, SVG_MIDDLE, 0, tx.label[i]);
    }
    for (int i = 0; beside && i < ty.count; i++) {
        const double y = axis_at(&p->y, ty.at[i]);
        svg_line(p->s, "spine", (double[]){p->x.from - 4, y}, (double[]){p->x.from, y});
        svg_text(p->s, "tick", (double[]){p->x.from - 7, y + 4}, SVG_END, 0, ty.label[i]);
    }
}

static void box(const panel *p)
{
    svg_rect(p->s, "spine", (double[]){p->x.from, p->y.to}, (double[]){p->x.to - p->x.from, p->y.from - p->y.to});
}

/* Row and column of the matrix as a panel of its own inside the large one. */
static panel cell(const panel *whole, const matrix *m, size_t row, size_t column)
{
    const double n = (double)m->states, wide = (whole->x.to - whole->x.from - GAP * (n - 1)) / n;
    const double tall = (whole->y.from - whole->y.to - GAP * (n - 1)) / n;
    const double left = whole->x.from + (double)column * (wide + GAP), top = whole->y.to + (double)row * (tall + GAP);
    const range across = m->look[column].across, up = m->look[row].across;
    panel p = {whole->s, {across.low, across.high, left, left + wide}, {up.low, up.high, top + tall, top}, top + tall};
    if (row == column) p.y.low = 0, p.y.high = 1.08 * m->look[row].tallest;
    return p;
}

static int draw_cell(const panel *p, const matrix *m, size_t row, size_t column)
{
    int good = 1;
    const char *name = sock_model_name(m->in->model, row);
    panel_clip(p);
    if (row == column)
        good = density_draw(p, &m->look[row]);
    else if (row > column)
        cells_shade(p, m->count, m->points + column, m->points + row, m->d, "den");
    else
        cells_shade(p, m->model->count, m->model->x + column, m->model->x + row, m->d, "sim");
    svg_clip_end(p->s);
    box(p);
    outer_ticks(p, sock_model_name(m->in->model, column), name, row + 1 == m->states, column == 0 && row > 0);
    const size_t letters = (size_t)fmax(3, (p->x.to - p->x.from - 10) / 8.5);
    if (row == column) svg_name(p->s, "panel", (double[]){p->x.from + 5, p->y.to + 14}, letters, name);
    return good;
}

static char *draw(const matrix *m, size_t *size)
{
    const double side = m->in->form == SHEET_PIECES ? 360 : 560;
    const sheet_plan plan = {.id = "marginals",
                             .heading = "States two by two",
                             .form = m->in->form,
                             .panels = 1,
                             .columns = 1,
                             .wide = side,
                             .tall = side,
                             .left = 56,
                             .notes = 1};
    sheet *s = sheet_new(&plan);
    panel whole;
    char text[120];
    if (!s) return NULL;
    sheet_key(s, LEGEND_BOX, "den4", "data, beneath the diagonal");
    sheet_key(s, LEGEND_BOX, "sim4", "model, above it");
    sheet_key(s, LEGEND_BOX, "bar", "data");
    sheet_key(s, LEGEND_LINE, "model", "model");
    int good = sheet_panel(s, (range){0, 1}, (range){0, 1}, &whole);
    assert(m->states > 0);
    for (size_t i = 0; good && i < m->states * m->states; i++) {
        const panel p = cell(&whole, m, i / m->states, i % m->states);
        good = draw_cell(&p, m, i / m->states, i % m->states);
    }
    const int used = snprintf(text, sizeof text, "model: paths from the data's starts at the data's times");
    if (m->states < m->d)
        snprintf(text + used, sizeof text - (size_t)used, "; the first %zu of %zu states", m->states, m->d);
    sheet_note(s, text);
    return sheet_close(s, good, size);
}

sock_status fig_marginals(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    matrix *m = calloc(1, sizeof *m);
    if (!m) return SOCK_ENOMEM;
    m->in = in, m->d = sock_model_dim(in->model);
    m->states = m->d < STATES_MOST ? m->d : STATES_MOST;
    m->points = look_points(in->data, CELLS_POINTS, &m->count);
    sock_status status = m->points ? evidence_model_paths(ctx, in, &m->model) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < m->states; k++)
        if (!density_of(in, k, m->model, NULL, &m->look[k])) status = SOCK_ENOMEM;
    char *made = status < 0 ? NULL : draw(m, size);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(m->points);
    free(m);
    return status < 0 ? status : SOCK_OK;
}
