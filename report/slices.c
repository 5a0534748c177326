/* slices.c - the fields of a model of several states along one state at a time.
 *
 * Along state k the other states stand at their mean nearby: the mean of the data weighted by a Gaussian of their
 * distance in x_k, a twelfth of the range wide. So the model is asked where it has been taught, also where the states
 * hang together. Of order 2 it is the force, and its noise, that are drawn along positions and velocities alike. */
#define _GNU_SOURCE
#include "curvepanel.h"
#include "driven.h"
#include "evidence.h"
#include "leaving.h"
#include "lifted.h"
#include "memtext.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 121, STATES_MOST = 4, POINTS_MOST = 2000 };

typedef struct slice {
    size_t k, field;      /* the state, and the one whose f and a are drawn along it */
    size_t count;         /* data values */
    const double *values; /* sorted */
    double at[GRID];      /* x_k */
    double f[GRID], a[GRID], true_f[GRID], true_a[GRID];
    double f_band[2 * GRID], a_band[2 * GRID];
    int outside[GRID];
    curve_ends ends; /* borrows these three */
    dots f_dots, a_dots;
    double alone; /* share of the variance of f over the data that x_k alone tells; NaN: not known */
} slice;

/* The points of the slice (GRID x d). points: count x d of the data. */
static void place_points(const sock_model *model, slice *s, size_t count, const double *points, double *out)
{
    const size_t d = sock_model_dim(model);
    const double width = fmax((s->values[s->count - 1] - s->values[0]) / 12, 1e-300);
    double end[2];
    curve_reach(model, s->k, s->values[0], s->values[s->count - 1], end);
    const double low = end[0], high = end[1];
    for (size_t g = 0; g < GRID; g++, out += d) {
        double total = 0;
        s->at[g] = low + (high - low) * (double)g / (GRID - 1);
        memset(out, 0, d * sizeof *out);
        for (size_t i = 0; i < count; i++) {
            const double away = (points[i * d + s->k] - s->at[g]) / width, weight = exp(-0.5 * away * away) + 1e-200;
            for (size_t l = 0; l < d; l++) out[l] += weight * points[i * d + l];
            total += weight;
        }
        for (size_t l = 0; l < d; l++) out[l] /= total;
        out[s->k] = s->at[g];
    }
}

/* like: the model whose medians of inputs count. */
static sock_status evaluate(sock_context *ctx, const sock_model *model, const sock_model *like, size_t k,
                            const double *x, double *f, double *a)
{
    const size_t d = sock_model_dim(model);
    double *value = calloc(GRID * d * d, sizeof *value);
    if (!value) return SOCK_ENOMEM;
    sock_status status = driven_drift(ctx, model, like, GRID, x, value);
    for (size_t g = 0; status >= 0 && g < GRID; g++) f[g] = value[g * d + k];
    if (status >= 0 && sock_model_has_diffusion(model)) {
        status = driven_diffusion(ctx, model, like, GRID, x, value);
        for (size_t g = 0; status >= 0 && g < GRID; g++) a[g] = value[(g * d + k) * d + k];
    }
    free(value);
    return status;
}

enum { ALONE_BINS = 24, ALONE_LEAST = 100 };

/* 1 - (variance within bins of x_k) / (variance), both without bias. f: of the field, for each of count points. */
static double share_alone(const slice *s, size_t count, size_t d, const double *points, const double *f)
{
    double sum[ALONE_BINS] = {0}, all = 0, square = 0, between = 0;
    size_t hits[ALONE_BINS] = {0}, used = 0;
    const double low = s->values[0], length = s->values[s->count - 1] - low;
    for (size_t i = 0; i < count; i++) {
        const size_t bin = (size_t)fmax(0, fmin(ALONE_BINS - 1, ALONE_BINS * (points[i * d + s->k] - low) / length));
        sum[bin] += f[i], all += f[i], square += f[i] * f[i], hits[bin]++;
    }
    for (size_t b = 0; b < ALONE_BINS; b++)
        if (hits[b]) between += sum[b] * sum[b] / (double)hits[b], used++;
    const double n = (double)count, total = square - all * all / n;
    if (count < ALONE_LEAST || !(length > 0) || !(total > 1e-12 * square)) return (double)NAN; /* rounding */
    return fmax(0, 1 - (square - between) / (n - (double)used) / (total / (n - 1)));
}

/* How much of what f does where the data are shows in the curve along x_k. Of a model with inputs f moves with these,
 * too. */
static sock_status look_alone(sock_context *ctx, const fig_input *in, size_t count, const double *points, slice *s)
{
    const size_t d = sock_model_dim(in->model);
    s->alone = (double)NAN;
    if (sock_model_inputs(in->model)) return SOCK_OK;
    double *f = calloc(count * d + 1, sizeof *f);
    const sock_status status = f ? driven_drift(ctx, in->model, in->model, count, points, f) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) f[i] = f[i * d + s->field];
    if (status >= 0) s->alone = share_alone(s, count, d, points, f);
    free(f);
    return status;
}

static sock_status make_slice(sock_context *ctx, const fig_input *in, size_t count, const double *points, slice *s)
{
    const size_t d = sock_model_dim(in->model);
    double *x = calloc(GRID * d, sizeof *x);
    sock_status status = x ? evidence_sorted(in, s->k, &s->values, &s->count) : SOCK_ENOMEM;
    if (status >= 0) {
        place_points(in->model, s, count, points, x);
        status = evaluate(ctx, in->model, in->model, s->field, x, s->f, s->a);
    }
    s->ends = (curve_ends){.f = s->f_band, .a = s->a_band, .outside = s->outside};
    if (status >= 0) status = curve_bands(ctx, in->model, s->field, GRID, x, &s->ends);
    if (status >= 0 && in->truth) status = evaluate(ctx, in->truth, in->model, s->field, x, s->true_f, s->true_a);
    if (status >= 0) status = look_alone(ctx, in, count, points, s);
    if (status >= 0) status = dots_of(ctx, in, s->k, 'f', &s->f_dots);
    if (status >= 0) status = dots_of(ctx, in, s->k, 'a', &s->a_dots);
    free(x);
    return status;
}

static void keep_numbers(const fig_input *in, const slice *s, int has_a)
{
    char name[40];
    const char *state = sock_model_name(in->model, s->k), *field = sock_model_name(in->model, s->field);
    const double *column[] = {s->at, s->f, s->a, s->true_f, s->true_a};
    static const char *const before[] = {"", "f_", "a_", "f_truth_", "a_truth_"};
    const int truth_a = has_a && in->truth && sock_model_has_diffusion(in->truth);
    const int wanted[] = {1, 1, has_a, in->truth != NULL, truth_a};
    size_t used = 0, place = 0;
    for (size_t i = 0; i < 5; i++) used += wanted[i] != 0;
    snprintf(name, sizeof name, "slice-%zu", s->k + 1);
    fig_table *t = tables_add(in->tables, used, GRID, NULL, name);
    for (size_t i = 0; t && i < 5; i++) {
        if (!wanted[i]) continue;
        table_column(in->tables, t, place, before[i], i ? field : state);
        for (size_t g = 0; g < GRID; g++) t->value[g * used + place] = column[i][g];
        place++;
    }
}

static curve_set set_of(const fig_input *in, const slice *s, int is_a)
{
    const int known = in->truth && (!is_a || sock_model_has_diffusion(in->truth));
    const double *truth = is_a ? s->true_a : s->true_f, *band = is_a ? s->a_band : s->f_band;
    return (curve_set){.count = GRID,
                       .x = s->at,
                       .model = is_a ? s->a : s->f,
                       .truth = known ? truth : NULL,
                       .band = (is_a ? s->ends.has_a : s->ends.has_f) ? band : NULL,
                       .outside = s->outside,
                       .dots = is_a ? &s->a_dots : &s->f_dots,
                       .values = s->count,
                       .sorted = s->values,
                       .state = sock_model_name(in->model, s->k),
                       .from_zero = is_a};
}

static int draw_slice(sheet *sh, const fig_input *in, const slice *s, int is_a)
{
    const char *name = sock_model_name(in->model, s->field);
    const curve_set set = set_of(in, s, is_a);
    char unit[64], title[200], shown[120];
    unit_of_field(name, fig_time_name(in), is_a ? 2 : 1, sizeof unit, unit);
    snprintf(shown, sizeof shown, "%s", name);
    snprintf(title, sizeof title, "%s of %.60s%s", is_a ? "noise a" : "drift f", shown, unit);
    return curve_panel(sh, &set, title, sock_model_name(in->model, s->k));
}

/* What these pictures show of f, and what they do not. */
static void note_alone(const fig_input *in, size_t states, const slice *slices, sheet *s)
{
    const double little = 0.1;
    memtext text;
    FILE *note = memtext_open(&text);
    if (!note) {
        sheet_spoil(s);
        return;
    }
    fputs("of how the drift varies over the data a state alone tells", note);
    for (size_t i = 0; i < states; i++)
        fprintf(note, "%s %.2g %% (%.60s)", i ? "," : "", 100 * fmin(slices[i].alone, 0.99),
                sock_model_name(in->model, slices[i].k));
    double most = 0;
    for (size_t i = 0; i < states; i++) most = fmax(most, slices[i].alone);
    fputs("; the rest comes with the other states", note);
    if (most < little) fputs(": look at the planes, not at these curves", note);
    if (memtext_close(note, &text) == 0)
        sheet_note(s, text.text);
    else
        sheet_spoil(s);
    free(text.text);
}

static char *draw(const fig_input *in, size_t states, const slice *slices, int has_a, size_t *size)
{
    leaving left = {.used = 0};
    for (size_t i = 0; i < 2 * states; i++) {
        const curve_set set = set_of(in, &slices[i / 2], (int)(i % 2));
        char field[120];
        snprintf(field, sizeof field, "%c of %.60s", i % 2 ? 'a' : 'f',
                 sock_model_name(in->model, slices[i / 2].field));
        if (has_a || !(i % 2)) leaving_see(&left, &set, field);
    }
    int alone = 1;
    for (size_t i = 0; i < states; i++) alone = alone && isfinite(slices[i].alone);
    const sheet_plan plan = {.id = "slices",
                             .heading = "Drift and diffusion along each state",
                             .form = in->form,
                             .panels = states * (has_a ? 2 : 1),
                             .columns = 2,
                             .wide = 312,
                             .tall = 150,
                             .strip = CURVE_STRIP,
                             .notes = (size_t)(1 + 2 * alone + (left.places ? LEAVING_LINES : left.dots > 0))};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    curve_key has = {
        .band = slices->ends.has_f, .dots = slices->f_dots.count > 0, .moved = sock_model_inputs(in->model) > 0};
    for (size_t i = 0; i < 2 * states; i++) {
        const curve_set set = set_of(in, &slices[i / 2], (int)(i % 2));
        has.truth = has.truth || ((has_a || !(i % 2)) && curve_shows_truth(&set));
        has.guess = has.guess || curve_guesses(&set);
    }
    curve_keys(s, &has);
    for (size_t i = 0; good && i < states; i++) {
        good = draw_slice(s, in, &slices[i], 0);
        if (good && has_a) good = draw_slice(s, in, &slices[i], 1);
    }
    char text[120];
    const size_t d = sock_model_dim(in->model);
    if (states < d)
        snprintf(text, sizeof text, "the other states at their mean nearby; the first %zu of %zu states", states, d);
    else
        snprintf(text, sizeof text, "the other states at their mean nearby");
    sheet_note(s, text);
    if (alone) note_alone(in, states, slices, s);
    leaving_write(&left, s);
    return sheet_close(s, good, size);
}

sock_status fig_slices(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    const size_t d = sock_model_dim(in->model), states = d < STATES_MOST ? d : STATES_MOST;
    const int has_a = sock_model_has_diffusion(in->model);
    slice *slices = calloc(states, sizeof *slices);
    size_t count = 0;
    double *points = look_points(in->data, POINTS_MOST, &count);
    sock_status status = slices && points ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < states; i++) {
        slices[i].k = i;
        slices[i].field = lifted_seen(in->model) < d ? d / 2 + i % (d / 2) : i;
        status = make_slice(ctx, in, count, points, &slices[i]);
        if (status >= 0) keep_numbers(in, &slices[i], has_a);
    }
    char *made = status < 0 ? NULL : draw(in, states, slices, has_a, size);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(slices);
    free(points);
    return status;
}
