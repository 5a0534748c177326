/* density.c - where the states are: the data, the model's paths from the same starts at the same times, and the model
 * in the long run.
 *
 * With one state and with two the stationary density is that of "What it means": one law, told once. With more states
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
    size_t points;       /* up to two states */
    double x[2][GRID], p[2][GRID];
    double astray;        /* share of long paths that is far outside of the data */
    const companion *run; /* more states */
} stationary;

/* ---- Up to two states ---- */

static double number_at(json_t *list, size_t i)
{
    json_t *value = json_array_get(list, i); /* none where a density is infinite, at a bound */
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void by_line(json_t *x, json_t *density, stationary *out)
{
    out->points = json_array_size(density) < GRID ? json_array_size(density) : GRID;
    for (size_t i = 0; i < out->points; i++) out->x[0][i] = number_at(x, i), out->p[0][i] = number_at(density, i);
    out->known = out->points > 1 && json_array_size(x) >= out->points;
}

/* Of each state what the cells of the other hold. */
static void by_plane(json_t *x, json_t *density, stationary *out)
{
    const size_t n = json_array_size(density) < GRID ? json_array_size(density) : GRID;
    for (size_t k = 0; k < 2; k++) {
        json_t *own = json_array_get(x, k), *other = json_array_get(x, 1 - k);
        const double wide = number_at(other, 1) - number_at(other, 0);
        for (size_t i = 0; i < n; i++) {
            out->x[k][i] = number_at(own, i), out->p[k][i] = 0;
            for (size_t j = 0; j < n; j++)
                out->p[k][i] += wide * number_at(json_array_get(density, k ? j : i), k ? i : j);
        }
    }
    out->points = n;
    out->known = n > 1;
}

static void by_meaning(size_t d, json_t *told, stationary *out)
{
    json_t *table = json_object_get(told, "table");
    (d == 1 ? by_line : by_plane)(json_object_get(table, "x"), json_object_get(table, "density"), out);
}

/* ---- More states ---- */

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
    status = evidence_long_run(ctx, in, &out->run, &out->astray);
    if (status < 0) return status;
    if (d <= 2)
        by_meaning(d, told, out);
    else
        out->known = out->run->lost < 0.02 && out->astray <= COMPANION_ASTRAY;
    return SOCK_OK;
}

/* ---- The picture ---- */

static int draw_stationary(const panel *p, const fig_input *in, const stationary *st, size_t k, range across)
{
    double bins[DENSITY_BINS];
    const size_t d = sock_model_dim(in->model);
    if (!st->known) return 1;
    if (d <= 2) return panel_curve(p, "c2", st->points, st->x[k], st->p[k]);
    companion_histogram(st->run->count, st->run->x + k, d, across, DENSITY_BINS, bins);
    return density_steps(p, "c2", across, bins);
}

static double tallest_of(const fig_input *in, const stationary *st, const density_look *look, size_t k)
{
    double tallest = look->tallest;
    double bins[DENSITY_BINS];
    const size_t d = sock_model_dim(in->model);
    for (size_t i = 0; i < st->points && st->known && d <= 2; i++) tallest = fmax(tallest, st->p[k][i]);
    if (st->known && d > 2) {
        companion_histogram(st->run->count, st->run->x + k, d, look->across, DENSITY_BINS, bins);
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
                         : d > 2     ? "more than 5 % of long paths of the model lie outside of the data"
                                     : "the model has none within the range of the data");
    if (st->known && st->astray > COMPANION_ASTRAY)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "; stationary: of paths that are kept within the data; of those that are not %.0f %% of the "
                         "time is far outside",
                         100 * st->astray);
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
    free(all);
    return status < 0 ? status : SOCK_OK;
}
