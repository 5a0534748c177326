/* pathsfan.c - the data's trajectories with the fan of simulated paths.
 *
 * 1. Starts are chosen among the data's (look_start), so that a fan has a trajectory to be compared with.
 * 2. From each, PATHS paths of the model are simulated to the last time of the data, at as many times as the data's
 *    median step makes, within limits: what an input does between two of them would be cut off.
 * 3. At each time the 5, 25, 50, 75 and 95 % points of the paths bound the bands; those of the truth are dashed. */
#define _GNU_SOURCE
#include "datalines.h"
#include "driven.h"
#include "evidence.h"
#include "memtext.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS = 400, TIMES_LEAST = 81, TIMES_MOST = 401, LEVELS = 5, PANELS_MOST = 4, STEP_PARTS = 10 };
enum { TOLD_LEAST = 5 }; /* trajectories from which on their share in the band is told with an error */

static const double levels[LEVELS] = {0.05, 0.25, 0.5, 0.75, 0.95};

/* The quantiles of one start's paths: of state k at level l, a number for each time from q[k][l] on. */
typedef struct fan {
    size_t times;
    double t[TIMES_MOST];
    double q[PANELS_MOST][LEVELS][TIMES_MOST];
    double one[PANELS_MOST][TIMES_MOST]; /* the first path */
    size_t lost; /* paths that left the finite numbers; they count with their last finite value */
} fan;

typedef struct bundle {
    const fig_input *in;
    size_t d, panels;
    look_times time;
    look_starts starts;
    fan model[LOOK_STARTS_MOST], truth[LOOK_STARTS_MOST];
} bundle;

/* ---- Fans ---- */

/* A path that was lost stays where it was last seen: to leave it out would hide that the model sends it away. */
static void hold_lost(size_t d, size_t times, double *x)
{
    for (size_t path = 0; path < PATHS; path++)
        for (size_t i = d; i < times * d; i++) {
            double *value = x + path * times * d + i;
            if (!isfinite(*value)) *value = value[-(ptrdiff_t)d];
        }
}

static void take_first(size_t d, size_t panels, const double *x, fan *out)
{
    for (size_t k = 0; k < panels; k++)
        for (size_t i = 0; i < out->times; i++) out->one[k][i] = x[i * d + k];
}

static void take_quantiles(size_t d, size_t panels, const double *x, fan *out)
{
    double values[PATHS];
    for (size_t k = 0; k < panels; k++)
        for (size_t i = 0; i < out->times; i++) {
            for (size_t path = 0; path < PATHS; path++) values[path] = x[(path * out->times + i) * d + k];
            look_sort(PATHS, values);
            for (size_t l = 0; l < LEVELS; l++) out->q[k][l][i] = look_quantile(PATHS, values, levels[l]);
        }
}

/* The ends of the data's steps, where these are not too few or too many. */
static size_t times_of(double length, double step)
{
    const double steps = step > 0 ? floor(length / step + 0.5) : 0;
    return (size_t)fmin(fmax(steps + 1, TIMES_LEAST), TIMES_MOST);
}

/* Steps 2 and 3 for one start. The inner step is a tenth of the data's median step, as that of `sock simulate`, but for
 * very long times. */
static sock_status make_fan(sock_context *ctx, const bundle *b, const sock_model *model, size_t number, fan *out)
{
    const double *t, *x;
    sock_data_trajectory(b->in->data, b->starts.trajectory[number], &t, &x);
    const double length = b->time.last - t[0], most = 20000; /* steps: a long gap must not hold up the picture */
    const size_t times = out->times = times_of(length, b->time.step);
    double *made = calloc(PATHS * times * b->d, sizeof *made);
    if (!made) return SOCK_ENOMEM;
    for (size_t i = 0; i < times; i++) out->t[i] = t[0] + length * (double)i / (double)(times - 1);
    const double step = fmax(fmin(b->time.step, length / (double)(times - 1)) / STEP_PARTS, length / most);
    sock_simulation spec = {.starts = 1,
                            .x0 = x,
                            .paths = PATHS,
                            .times = times,
                            .t = out->t,
                            .step = step,
                            .seed = b->in->seed,
                            .observed = !b->in->observed, /* lifted states have no errors of measurement */
                            .first_start = number,
                            .bounds = b->in->bounds,
                            .lower = b->in->lower,
                            .upper = b->in->upper};
    sock_simulation_report report;
    double *u = NULL;
    sock_status status = driven_paths(model, b->in->data, b->starts.trajectory[number], &spec, &u);
    if (status >= 0) status = sock_simulate(ctx, model, &spec, made, NULL, &report);
    free(u);
    if (status > 0) hold_lost(b->d, times, made);
    if (status >= 0) take_first(b->d, b->panels, made, out);
    if (status >= 0) take_quantiles(b->d, b->panels, made, out);
    out->lost = status >= 0 ? report.lost : 0;
    free(made);
    return status < 0 ? status : SOCK_OK;
}

/* ---- Drawing ---- */

static void see_fan(const fan *f, size_t k, range *r)
{
    for (size_t i = 0; i < f->times; i++) range_see(r, f->q[k][0][i]), range_see(r, f->q[k][LEVELS - 1][i]);
}

/* The data and the fans; of the fans no more than the data's range once more on each side, and *cut says when more
 * of them there is. */
static range heights(const bundle *b, size_t k, size_t count, const double *sorted, int *cut)
{
    range data = {sorted[0], sorted[count - 1]}, all = data;
    const double length = data.high - data.low;
    for (size_t s = 0; s < b->starts.count; s++) {
        see_fan(&b->model[s], k, &all);
        if (b->in->truth) see_fan(&b->truth[s], k, &all);
    }
    if (length > 0) {
        *cut |= all.low < data.low - length || all.high > data.high + length;
        for (size_t s = 0; s < b->starts.count; s++)
            for (size_t i = 0; i < b->model[s].times; i++) range_see(&all, b->model[s].one[k][i]);
        all.low = fmax(all.low, data.low - length);
        all.high = fmin(all.high, data.high + length);
    }
    return all;
}

static int draw_fan(const panel *p, const fan *f, size_t k)
{
    const double(*q)[TIMES_MOST] = f->q[k];
    return panel_band(p, "fan90", f->times, f->t, q[0], q[4]) && panel_band(p, "fan50", f->times, f->t, q[1], q[3]) &&
           panel_curve(p, "model", f->times, f->t, q[2]) && panel_curve(p, "c3", f->times, f->t, f->one[k]);
}

static int draw_truth(const panel *p, const fan *f, size_t k)
{
    int good = 1;
    for (size_t l = 0; l < LEVELS; l += 2) good = panel_curve(p, "dash", f->times, f->t, f->q[k][l]) && good;
    return good;
}

/* Fans of several starts, one above the other, cannot be told apart: each has a panel. */
static int draw_panel(const panel *p, const bundle *b, size_t k, size_t start)
{
    const char *name = sock_model_name(b->in->model, k);
    char after[50] = "";
    const double *x;
    if (b->starts.count > 1 && sock_data_trajectory(b->in->data, b->starts.trajectory[start], NULL, &x)) {
        const double from = unit_value(name, x[k]);
        snprintf(after, sizeof after, ", from %s%.3g", from < 0 ? "\xe2\x88\x92" : "", fabs(from));
    }
    panel_frame_of(p, name, after, fig_time_axis(b->in));
    panel_clip(p);
    int good = lines_draw(p, b->in->data, k, "data");
    if (b->starts.count) good = draw_fan(p, &b->model[start], k) && good;
    if (b->in->truth && b->starts.count) good = draw_truth(p, &b->truth[start], k) && good;
    if (b->starts.sharing == 1 && b->starts.count)
        good = lines_one(p, b->in->data, k, b->starts.trajectory[start], "chosen") && good;
    svg_clip_end(p->s);
    return good;
}

static void draw_keys(const bundle *b, sheet *s)
{
    const int picked = b->starts.sharing == 1 && b->starts.count, alone = sock_data_trajectories(b->in->data) == 1;
    if (!picked || !alone) sheet_key(s, LEGEND_LINE, "datakey", "data");
    if (picked) sheet_key(s, LEGEND_LINE, "chosen", alone ? "data" : "data, same start");
    sheet_key(s, LEGEND_LINE, "model", "model, median");
    sheet_key(s, LEGEND_LINE, "c3", "one of its paths");
    sheet_key(s, LEGEND_NEST, "fan50", "50 %");
    sheet_key(s, LEGEND_BOX, "fan90", "90 %");
    if (b->in->truth) sheet_key(s, LEGEND_LINE, "dash", "truth, 5-50-95 %");
}

/* Of the points of trajectories: those that the wide band holds; of the shares of each the sum and that of squares. */
typedef struct inside {
    size_t points, within, paths;
    double sum, square;
} inside;

/* Points of a trajectory that the wide band holds, its ends taken between the times of the fan. */
static void count_within(const bundle *b, const fan *f, size_t trajectory, inside *sum)
{
    const double *t, *x;
    const size_t length = sock_data_trajectory(b->in->data, trajectory, &t, &x);
    const double step = f->t[1] - f->t[0];
    for (size_t i = 1; i < length && step > 0; i++) {
        const double place = (t[i] - t[0]) / step;
        const size_t left = (size_t)fmin(fmax(place, 0), (double)f->times - 2);
        const double share = place - (double)left;
        for (size_t k = 0; k < b->panels; k++) {
            const double low = f->q[k][0][left] + share * (f->q[k][0][left + 1] - f->q[k][0][left]);
            const double high = f->q[k][4][left] + share * (f->q[k][4][left + 1] - f->q[k][4][left]);
            if (!isfinite(x[i * b->d + k])) continue;
            sum->points++;
            sum->within += x[i * b->d + k] >= low && x[i * b->d + k] <= high;
        }
    }
}

static void count_path(const bundle *b, const fan *f, size_t trajectory, inside *sum)
{
    inside one = {0};
    count_within(b, f, trajectory, &one);
    if (!one.points) return;
    const double share = (double)one.within / (double)one.points;
    sum->points += one.points, sum->within += one.within, sum->paths++;
    sum->sum += share, sum->square += share * share;
}

/* The standard error of the mean share: points of one trajectory go together, trajectories do not. */
static double error_of(const inside *in)
{
    const double n = (double)in->paths, mean = in->sum / n;
    return sqrt(fmax(in->square / n - mean * mean, 0) / (n - 1));
}

static int starts_alike(const bundle *b, size_t one, size_t other)
{
    const double *x, *y;
    if (!sock_data_trajectory(b->in->data, one, NULL, &x) || !sock_data_trajectory(b->in->data, other, NULL, &y))
        return 0;
    return memcmp(x, y, b->d * sizeof *x) == 0;
}

/* Of all trajectories from the starts shown. */
static inside count_inside(const bundle *b)
{
    inside sum = {0};
    for (size_t s = 0; s < b->starts.count; s++)
        for (size_t j = 0; j < sock_data_trajectories(b->in->data); j++)
            if (starts_alike(b, b->starts.trajectory[s], j)) count_path(b, &b->model[s], j, &sum);
    return sum;
}

/* Where the paths start, and what is not shown. */
static void draw_notes(const bundle *b, sheet *s, int cut)
{
    const size_t trajectories = sock_data_trajectories(b->in->data), shown = lines_shown(b->in->data);
    size_t lost = 0;
    memtext text;
    FILE *note = memtext_open(&text);
    if (!note) {
        sheet_spoil(s);
        return;
    }
    fprintf(note, "%d simulated paths from ", PATHS);
    for (size_t i = 0; i < b->starts.count; i++) lost += b->model[i].lost;
    if (b->starts.sharing > 1)
        fprintf(note, "the start that %zu of %zu trajectories share", b->starts.sharing, trajectories);
    else
        fputs(b->starts.count > 1 ? "each of three starts"
              : trajectories > 1  ? "the start of one trajectory (\"data, same start\")"
                                  : "its start",
              note);
    const inside in = count_inside(b);
    if (in.paths >= TOLD_LEAST)
        fprintf(note,
                "; of the points of %zu trajectories from there %.0f \xc2\xb1 %.1f %% are in the wide band, on average "
                "90 %% would",
                in.paths, 100 * (double)in.within / (double)in.points, 100 * error_of(&in));
    if (shown < trajectories) fprintf(note, "; %zu of %zu trajectories shown", shown, trajectories);
    if (b->d > b->panels) fprintf(note, "; the first %zu of %zu states", b->panels, b->d);
    if (lost) fprintf(note, "; %zu path%s left the finite numbers", lost, lost == 1 ? "" : "s");
    if (cut) fputs("; the bands go on beyond the frame", note);
    if (memtext_close(note, &text) == 0)
        sheet_note(s, text.text);
    else
        sheet_spoil(s);
    free(text.text);
}

static int place_panel(const bundle *b, sheet *s, size_t k, size_t start, int *cut)
{
    const double *sorted;
    size_t count;
    panel p;
    if (evidence_sorted(b->in, k, &sorted, &count) < 0) return 0;
    const range up = range_widen(heights(b, k, count, sorted, cut), 0.04);
    return sheet_panel(s, range_widen((range){b->time.first, b->time.last}, 0), up, &p) && draw_panel(&p, b, k, start);
}

static char *draw(const bundle *b, size_t *size)
{
    const size_t fans = b->starts.count ? b->starts.count : 1;
    const int alone = b->panels * fans == 1;
    const sheet_plan plan = {.id = "paths",
                             .heading = "Trajectories and simulated paths",
                             .form = b->in->form,
                             .panels = b->panels * fans,
                             .columns = alone ? 1 : 2,
                             .wide = alone ? 674 : 312,
                             .tall = alone ? 250 : 180,
                             .notes = 2};
    sheet *s = sheet_new(&plan);
    int good = s != NULL, cut = 0;
    if (!s) return NULL;
    draw_keys(b, s);
    for (size_t i = 0; good && i < b->panels * fans; i++) good = place_panel(b, s, i / fans, i % fans, &cut);
    draw_notes(b, s, cut);
    return sheet_close(s, good, size);
}

/* Start, time, and five quantiles for each state shown. */
static void keep_numbers(const bundle *b)
{
    static const char *const level_names[LEVELS] = {" 5 %", " 25 %", " 50 %", " 75 %", " 95 %"};
    const size_t columns = 2 + b->panels * LEVELS;
    fig_tables *tables = b->in->tables;
    size_t rows = 0;
    for (size_t s = 0; s < b->starts.count; s++) rows += b->model[s].times;
    fig_table *t = tables_add(tables, columns, rows, "fan", "paths");
    table_column(tables, t, 0, "start", "");
    table_column(tables, t, 1, fig_time_name(b->in), "");
    for (size_t k = 0; t && k < b->panels; k++)
        for (size_t l = 0; l < LEVELS; l++) {
            const size_t c = 2 + k * LEVELS + l;
            table_column(tables, t, c, sock_model_name(b->in->model, k), level_names[l]);
        }
    double *out = t ? t->value : NULL;
    for (size_t s = 0; t && s < b->starts.count; s++)
        for (size_t i = 0; i < b->model[s].times; i++, out += columns) {
            out[0] = (double)(s + 1), out[1] = b->model[s].t[i];
            for (size_t c = 2; c < columns; c++) out[c] = b->model[s].q[(c - 2) / LEVELS][(c - 2) % LEVELS][i];
        }
}

sock_status fig_paths(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    bundle *b = calloc(1, sizeof *b);
    if (!b) return SOCK_ENOMEM;
    b->in = in, b->d = sock_model_dim(in->model);
    b->panels = b->d < PANELS_MOST ? b->d : PANELS_MOST;
    sock_status status = evidence_time(in, &b->time);
    if (status >= 0) status = look_start(in->data, &b->starts);
    for (size_t s = 0; status >= 0 && s < b->starts.count; s++) {
        status = make_fan(ctx, b, in->model, s, &b->model[s]);
        if (status >= 0 && in->truth) status = make_fan(ctx, b, in->truth, s, &b->truth[s]);
    }
    char *made = status < 0 ? NULL : draw(b, size);
    if (made) keep_numbers(b);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    free(b);
    return status;
}
