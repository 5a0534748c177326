/* density.c - where the states are: the data, the model's paths from the same starts at the same times, and the model
 * in the long run.
 *
 * With one state the stationary density is that of "What it means": one law, told once. With more states
 * it is the histogram of the second half of long paths, shown where they stay around the data. */
#define _GNU_SOURCE
#include "densitypanel.h"
#include "evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 801, STATES_MOST = 6 };

typedef struct stationary {
    int known;
    const char *refused; /* why sock_explain tells nothing of the long run; borrowed; NULL: it does, or was not asked */
    size_t points;       /* one state */
    double x[GRID], p[GRID];
    companion run; /* more */
} stationary;

/* ---- One state ---- */

static void by_meaning(json_t *told, stationary *out)
{
    json_t *table = json_object_get(told, "table");
    json_t *x = json_object_get(table, "x"), *density = json_object_get(table, "density");
    const size_t points = json_array_size(density) < GRID ? json_array_size(density) : GRID;
    for (size_t i = 0; i < points; i++) {
        out->x[i] = json_number_value(json_array_get(x, i));
        json_t *p = json_array_get(density, i); /* none where it is infinite, at a bound */
        out->p[i] = json_is_number(p) ? json_number_value(p) : (double)NAN;
    }
    out->points = json_array_size(x) >= points ? points : 0;
    out->known = out->points > 1;
}

/* ---- More states ---- */

/* Into *out: whether state k of the run stays near the data. */
static sock_status stays(const fig_input *in, const companion *run, size_t k, int *out)
{
    const size_t d = sock_model_dim(in->model);
    range r;
    const sock_status status = evidence_range(in, k, 0.25, &r);
    if (status >= 0) *out = companion_outside(run->count, run->x + k, d, r) <= 0.05;
    return status;
}

static sock_status in_the_long_run(sock_context *ctx, const fig_input *in, stationary *out)
{
    sock_status status = companion_long_run(ctx, in, &out->run);
    int near = status >= 0 && out->run.count > 0 && out->run.lost < 0.02;
    for (size_t k = 0; status >= 0 && near && k < sock_model_dim(in->model); k++)
        status = stays(in, &out->run, k, &near);
    out->known = near;
    return status;
}

/* What "What it means" refuses is not drawn here: one law, one decision. Beyond two states it has none to tell. */
static sock_status look_long(sock_context *ctx, const fig_input *in, stationary *out)
{
    const size_t d = sock_model_dim(in->model);
    json_t *told = NULL;
    if (!sock_model_has_diffusion(in->model)) return SOCK_OK;
    sock_status status = d <= 2 ? evidence_meaning(ctx, in, &told) : SOCK_OK;
    const char *reason = info_text(told, "stationary_reason"), *caveat = info_text(told, "stationary_caveat");
    if (*reason || *caveat) out->refused = *reason ? reason : caveat;
    if (status < 0 || out->refused) return status;
    if (d > 1) return in_the_long_run(ctx, in, out);
    by_meaning(told, out);
    return SOCK_OK;
}

/* ---- The picture ---- */

static int draw_stationary(const panel *p, const fig_input *in, const stationary *st, size_t k, range across)
{
    double bins[DENSITY_BINS];
    const size_t d = sock_model_dim(in->model);
    if (!st->known) return 1;
    if (d == 1) return panel_curve(p, "c2", st->points, st->x, st->p);
    companion_histogram(st->run.count, st->run.x + k, d, across, DENSITY_BINS, bins);
    return density_steps(p, "c2", across, bins);
}

static double tallest_of(const fig_input *in, const stationary *st, const density_look *look, size_t k)
{
    double tallest = look->tallest;
    double bins[DENSITY_BINS];
    const size_t d = sock_model_dim(in->model);
    for (size_t i = 0; i < st->points && st->known && d == 1; i++) tallest = fmax(tallest, st->p[i]);
    if (st->known && d > 1) {
        companion_histogram(st->run.count, st->run.x + k, d, look->across, DENSITY_BINS, bins);
        for (size_t b = 0; b < DENSITY_BINS; b++) tallest = fmax(tallest, bins[b]);
    }
    return fmin(tallest, 4 * look->tallest);
}

static int draw_panel(sheet *s, const fig_input *in, const density_look *look, const stationary *st, size_t k)
{
    panel p;
    if (!sheet_panel(s, look->across, (range){0, 1.08 * tallest_of(in, st, look, k)}, &p)) return 0;
    panel_frame(&p, "density", sock_model_name(in->model, k));
    panel_clip(&p);
    const int good = density_draw(&p, look) && draw_stationary(&p, in, st, k, look->across);
    svg_clip_end(p.s);
    return good;
}

static void draw_notes(sheet *s, const fig_input *in, const companion *model, const stationary *st)
{
    char text[480];
    const size_t d = sock_model_dim(in->model);
    int used = snprintf(text, sizeof text, "model: paths from the data's starts at the data's times");
    if (model->lost > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %.1f %% of them left the finite numbers",
                         100 * model->lost);
    if (!st->known)
        used += snprintf(text + used, sizeof text - (size_t)used, "; no stationary density: %s",
                         st->refused ? st->refused
                         : d > 1     ? "more than 5 % of long paths of the model lie outside of the data"
                                     : "the model has none within the range of the data");
    if (d > STATES_MOST)
        snprintf(text + used, sizeof text - (size_t)used, "; the first %d of %zu states", STATES_MOST, d);
    sheet_note(s, text);
}

typedef struct densities {
    const companion *model, *truth; /* truth: NULL when unknown */
    stationary st;
    density_look look[STATES_MOST];
    size_t states;
} densities;

static char *draw(const fig_input *in, const densities *all, size_t *size)
{
    const int alone = all->states == 1;
    const sheet_plan plan = {.id = "density",
                             .heading = "Where the states are",
                             .form = in->form,
                             .panels = all->states,
                             .columns = alone ? 1 : 2,
                             .wide = alone ? 480 : 312,
                             .tall = alone ? 220 : 160,
                             .notes = 2};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    sheet_key(s, LEGEND_BOX, "bar", "data");
    sheet_key(s, LEGEND_LINE, "model", "model");
    if (in->truth) sheet_key(s, LEGEND_LINE, "truth", "truth");
    if (all->st.known) sheet_key(s, LEGEND_LINE, "c2", "model, stationary");
    for (size_t k = 0; good && k < all->states; k++) good = draw_panel(s, in, &all->look[k], &all->st, k);
    draw_notes(s, in, all->model, &all->st);
    return sheet_close(s, good, size);
}

static void keep_numbers(const fig_input *in, const densities *all)
{
    for (size_t k = 0; k < all->states; k++) {
        const density_look *look = &all->look[k];
        const size_t columns = look->has_truth ? 4 : 3;
        char name[40];
        snprintf(name, sizeof name, "density-%zu", k + 1);
        fig_table *t = tables_add(in->tables, columns, DENSITY_BINS, NULL, name);
        table_column(in->tables, t, 0, sock_model_name(in->model, k), "");
        table_column(in->tables, t, 1, "data", "");
        table_column(in->tables, t, 2, "model", "");
        if (columns > 3) table_column(in->tables, t, 3, "truth", "");
        for (size_t b = 0; t && b < DENSITY_BINS; b++) {
            double *row = t->value + b * columns;
            row[0] = look->across.low + (look->across.high - look->across.low) * ((double)b + 0.5) / DENSITY_BINS;
            row[1] = look->data[b], row[2] = look->model[b];
            if (columns > 3) row[3] = look->truth[b];
        }
    }
}

static sock_status prepare(sock_context *ctx, const fig_input *in, densities *all)
{
    const size_t d = sock_model_dim(in->model);
    all->states = d < STATES_MOST ? d : STATES_MOST;
    sock_status status = evidence_model_paths(ctx, in, &all->model);
    if (status >= 0 && in->truth) status = evidence_true_paths(ctx, in, &all->truth);
    if (status >= 0) status = look_long(ctx, in, &all->st);
    for (size_t k = 0; status >= 0 && k < all->states; k++)
        if (!density_of(in, k, all->model, all->truth, &all->look[k])) status = SOCK_ENOMEM;
    return status;
}

sock_status fig_density(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    densities *all = calloc(1, sizeof *all);
    if (!all) return SOCK_ENOMEM;
    sock_status status = prepare(ctx, in, all);
    char *made = status < 0 ? NULL : draw(in, all, size);
    if (made) keep_numbers(in, all);
    if (status >= 0 && !made) status = SOCK_ENOMEM;
    if (made) *text = made;
    companion_free(&all->st.run);
    free(all);
    return status < 0 ? status : SOCK_OK;
}
