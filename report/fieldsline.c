/* fieldsline.c - the fields of a one-dimensional model: f and a as curves over the data's range, a histogram of the
 * data along the axis, the truth dashed. */
#define _GNU_SOURCE
#include "curvepanel.h"
#include "driven.h"
#include "evidence.h"
#include "leaving.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { GRID = 241 };

typedef struct curves {
    size_t count;         /* of data values */
    const double *values; /* of the data, sorted */
    double x[GRID];
    double f[GRID], a[GRID], true_f[GRID], true_a[GRID];
    double f_band[2 * GRID], a_band[2 * GRID];
    int outside[GRID];
    curve_ends ends; /* borrows these three */
    dots f_dots, a_dots;
    int which, has_truth, truth_has_a;
} curves;

static sock_status evaluate(sock_context *ctx, const fig_input *in, curves *c)
{
    double end[2];
    curve_reach(in->model, 0, c->values[0], c->values[c->count - 1], end);
    for (size_t i = 0; i < GRID; i++) c->x[i] = end[0] + (end[1] - end[0]) * (double)i / (GRID - 1);
    c->has_truth = in->truth != NULL;
    c->truth_has_a = in->truth && sock_model_has_diffusion(in->truth);
    sock_status status = driven_drift(ctx, in->model, NULL, GRID, c->x, c->f);
    if (status >= 0 && c->which & FIG_A) status = driven_diffusion(ctx, in->model, NULL, GRID, c->x, c->a);
    c->ends = (curve_ends){.f = c->f_band, .a = c->a_band, .outside = c->outside};
    if (status >= 0) status = curve_bands(ctx, in->model, 0, GRID, c->x, &c->ends);
    if (status >= 0 && c->has_truth) status = driven_drift(ctx, in->truth, in->model, GRID, c->x, c->true_f);
    if (status >= 0 && c->truth_has_a) status = driven_diffusion(ctx, in->truth, in->model, GRID, c->x, c->true_a);
    if (status >= 0) status = dots_of(ctx, in, 0, 'f', &c->f_dots);
    if (status >= 0 && c->which & FIG_A) status = dots_of(ctx, in, 0, 'a', &c->a_dots);
    return status;
}

/* What is drawn of f or a. */
static curve_set set_of(const curves *c, const char *name, int field)
{
    const int is_a = field == FIG_A, known = is_a ? c->truth_has_a : c->has_truth;
    const double *truth = is_a ? c->true_a : c->true_f, *band = is_a ? c->a_band : c->f_band;
    return (curve_set){.count = GRID,
                       .x = c->x,
                       .model = is_a ? c->a : c->f,
                       .truth = known ? truth : NULL,
                       .band = (is_a ? c->ends.has_a : c->ends.has_f) ? band : NULL,
                       .outside = c->outside,
                       .dots = is_a ? &c->a_dots : &c->f_dots,
                       .values = c->count,
                       .sorted = c->values,
                       .state = name,
                       .from_zero = is_a};
}

static int draw_field(sheet *s, const fig_input *in, const curves *c, int field)
{
    const char *name = sock_model_name(in->model, 0);
    size_t length;
    const int is_a = field == FIG_A, logs = unit_inside_log(name, &length) != NULL;
    const curve_set set = set_of(c, name, field);
    char unit[64], title[128];
    unit_of_field(name, fig_time_name(in), is_a ? 2 : 1, sizeof unit, unit);
    snprintf(title, sizeof title, "%s%s%.60s%s", is_a ? "diffusion a = \xcf\x83\xc2\xb2" : "drift f",
             logs ? " of " : "", logs ? name : "", unit);
    return curve_panel(s, &set, title, name);
}

static void keep_numbers(const fig_input *in, const curves *c)
{
    const double *columns[] = {c->x, c->f, c->true_f, c->a, c->true_a};
    static const char *const names[] = {"", "f", "f_truth", "a", "a_truth"};
    const int wanted[] = {1, 1, c->has_truth, c->which & FIG_A, c->truth_has_a && c->which & FIG_A};
    const char *chart = c->has_truth ? c->truth_has_a ? "lines:1,2;3,4" : "lines:1,2;3" : "lines:1;2";
    size_t used = 0, place = 0;
    for (size_t i = 0; i < 5; i++) used += wanted[i] != 0;
    if (!(c->which & FIG_A)) chart = c->has_truth ? "lines:1,2" : "lines:1";
    fig_table *t = tables_add(in->tables, used, GRID, chart, "fields");
    for (size_t i = 0; t && i < 5; i++) {
        if (!wanted[i]) continue;
        table_column(in->tables, t, place, i ? names[i] : sock_model_name(in->model, 0), "");
        for (size_t r = 0; r < GRID; r++) t->value[r * used + place] = columns[i][r];
        place++;
    }
}

static char *draw(const fig_input *in, const curves *c, size_t *size)
{
    static const char *const heading[] = {"", "Drift", "Diffusion", "Drift and diffusion"};
    const char *name = sock_model_name(in->model, 0);
    const curve_set f = set_of(c, name, FIG_F), a = set_of(c, name, FIG_A);
    leaving left = {.used = 0};
    if (c->which & FIG_F) leaving_see(&left, &f, "f");
    if (c->which & FIG_A) leaving_see(&left, &a, "a");
    const sheet_plan plan = {.id = "fields",
                             .notes = left.places ? LEAVING_LINES : left.dots > 0,
                             .heading = heading[c->which],
                             .form = in->form,
                             .panels = c->which == (FIG_F | FIG_A) ? 2 : 1,
                             .columns = 2,
                             .wide = 312,
                             .tall = 180,
                             .strip = CURVE_STRIP};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    curve_keys(s, &(curve_key){.band = c->which & FIG_F ? c->ends.has_f : c->ends.has_a,
                               .truth = (c->which & FIG_F && curve_shows_truth(&f)) ||
                                        (c->which & FIG_A && curve_shows_truth(&a)),
                               .dots = c->f_dots.count > 0,
                               .moved = sock_model_inputs(in->model) > 0,
                               .guess = curve_guesses(c->which & FIG_F ? &f : &a)});
    if (c->which & FIG_F) good = draw_field(s, in, c, FIG_F);
    if (good && c->which & FIG_A) good = draw_field(s, in, c, FIG_A);
    leaving_write(&left, s);
    return sheet_close(s, good, size);
}

sock_status fig_fields_line(sock_context *ctx, const fig_input *in, int which, char **text, size_t *size)
{
    curves *c = calloc(1, sizeof *c);
    if (!c) return SOCK_ENOMEM;
    c->which = which;
    sock_status status = evidence_sorted(in, 0, &c->values, &c->count);
    if (status >= 0) status = evaluate(ctx, in, c);
    char *made = status < 0 ? NULL : draw(in, c, size);
    if (made) keep_numbers(in, c);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(c);
    return status;
}
