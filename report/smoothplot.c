/* smoothplot.c - the states behind measurements: a stretch of the data with the smoothed states, how well these are
 * known, and how far measurements of them fall.
 *
 * A point is measured as y = x + e, e ~ N(0, R). Given all observations the state has mean m and standard deviation s
 * (sock_smooth). The inner band is m -+ z s, where the state is; the outer m -+ z sqrt(R_kk), where measurements of m
 * fall; z: 90 %. */
#define _GNU_SOURCE
#include "evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MOST = 4, POINTS_MOST = 60 };

/* The stretch that is shown: points of one trajectory. */
typedef struct stretch {
    size_t d, states, trajectory, count, length;
    const double *t, *y;
    const double *mean, *sd; /* count x d, of the stretch */
    double noise[STATES_MOST];
} stretch;

/* The first points of the longest trajectory; *before: points of those in front of it. */
static void choose(const sock_data *data, stretch *w, size_t *before)
{
    size_t passed = 0;
    w->length = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *y;
        const size_t length = sock_data_trajectory(data, j, &t, &y);
        if (length > w->length) {
            w->trajectory = j, w->length = length;
            w->t = t, w->y = y;
            *before = passed;
        }
        passed += length;
    }
    w->count = w->length < POINTS_MOST ? w->length : POINTS_MOST;
}

/* y, mean and the four ends of the bands of state k: count numbers each. NULL when out of memory. */
static double *lines_of(const stretch *w, size_t k)
{
    const size_t n = w->count;
    double *all = calloc(6 * n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        const double mean = w->mean[i * w->d + k], sd = w->sd[i * w->d + k];
        all[i] = w->y[i * w->d + k];
        all[n + i] = mean;
        all[2 * n + i] = mean - LOOK_NINETY * sd, all[3 * n + i] = mean + LOOK_NINETY * sd;
        all[4 * n + i] = mean - LOOK_NINETY * w->noise[k], all[5 * n + i] = mean + LOOK_NINETY * w->noise[k];
    }
    return all;
}

static int draw_state(const fig_input *in, sheet *s, const stretch *w, size_t k)
{
    const size_t n = w->count;
    range up = range_empty();
    panel p;
    double *all = lines_of(w, k);
    if (!all) return 0;
    for (size_t i = 0; i < 6 * n; i++) range_see(&up, all[i]);
    int good = sheet_panel(s, range_widen((range){w->t[0], w->t[n - 1]}, 0.01), range_widen(up, 0.04), &p);
    if (good) {
        panel_frame(&p, sock_model_name(in->model, k), fig_time_axis(in));
        panel_clip(&p);
        good = panel_band(&p, "fan90", n, w->t, all + 4 * n, all + 5 * n) &&
               panel_band(&p, "fan50", n, w->t, all + 2 * n, all + 3 * n) && panel_curve(&p, "model", n, w->t, all + n);
        for (size_t i = 0; good && i < n; i++)
            svg_dot(p.s, "best", (double[]){axis_at(&p.x, w->t[i]), axis_at(&p.y, all[i])}, 1.8);
        svg_clip_end(p.s);
    }
    free(all);
    return good;
}

static void draw_note(sheet *s, const stretch *w)
{
    char text[300];
    int used = snprintf(text, sizeof text, "%s%zu points of the longest trajectory",
                        w->count < w->length ? "the first " : "the ", w->count);
    used += snprintf(text + used, sizeof text - (size_t)used, "; measurement noise of sd");
    for (size_t k = 0; k < w->states; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %.2g", k ? "," : "", w->noise[k]);
    if (w->states < w->d)
        snprintf(text + used, sizeof text - (size_t)used, "; the first %zu of %zu states", w->states, w->d);
    sheet_note(s, text);
}

static char *draw(const fig_input *in, const stretch *w, size_t *size)
{
    const int alone = w->states == 1;
    const sheet_plan plan = {.id = "smooth",
                             .heading = "States behind the measurements",
                             .form = in->form,
                             .panels = w->states,
                             .columns = alone ? 1 : 2,
                             .wide = alone ? 674 : 312,
                             .tall = alone ? 250 : 180,
                             .notes = 1};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    sheet_key(s, LEGEND_DOT, "best", "measured");
    sheet_key(s, LEGEND_LINE, "model", "smoothed state");
    sheet_key(s, LEGEND_NEST, "fan50", "where the state is, 90 %");
    sheet_key(s, LEGEND_BOX, "fan90", "where measurements of it fall, 90 %");
    for (size_t k = 0; good && k < w->states; k++) good = draw_state(in, s, w, k);
    draw_note(s, w);
    return sheet_close(s, good, size);
}

/* Time; measured value, state and its standard deviation for each state that is shown. */
static void keep_numbers(const fig_input *in, const stretch *w)
{
    const size_t columns = 1 + 3 * w->states;
    fig_table *t = tables_add(in->tables, columns, w->count, NULL, "smooth");
    table_column(in->tables, t, 0, fig_time_name(in), "");
    for (size_t k = 0; k < w->states; k++) {
        const char *name = sock_model_name(in->model, k);
        table_column(in->tables, t, 1 + 3 * k, name, " measured");
        table_column(in->tables, t, 2 + 3 * k, name, "");
        table_column(in->tables, t, 3 + 3 * k, name, " sd");
    }
    for (size_t i = 0; t && i < w->count; i++) {
        double *row = t->value + i * columns;
        row[0] = w->t[i];
        for (size_t k = 0; k < w->states; k++) {
            row[1 + 3 * k] = w->y[i * w->d + k];
            row[2 + 3 * k] = w->mean[i * w->d + k];
            row[3 + 3 * k] = w->sd[i * w->d + k];
        }
    }
}

/* Standard deviations of the noise of the states that are shown. */
static int read_noise(const fig_input *in, stretch *w)
{
    double *r = calloc(w->d * w->d, sizeof *r);
    const int known = r && sock_model_noise(in->model, r);
    for (size_t k = 0; known && k < w->states; k++) w->noise[k] = sqrt(r[k * (w->d + 1)]);
    free(r);
    return known;
}

sock_status fig_smooth(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    const size_t d = sock_model_dim(in->model), points = sock_data_points(in->data);
    stretch w = {.d = d, .states = d < STATES_MOST ? d : STATES_MOST};
    size_t before = 0;
    choose(in->data, &w, &before);
    double *mean = calloc(2 * points * d + 1, sizeof *mean), *sd = mean ? mean + points * d : NULL;
    sock_status status = mean && read_noise(in, &w) ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_smooth(ctx, in->model, in->data, mean, sd);
    if (status >= 0) {
        w.mean = mean + before * d, w.sd = sd + before * d;
        char *made = draw(in, &w, size);
        status = made ? SOCK_OK : SOCK_ENOMEM;
        if (made) *text = made;
        if (made) keep_numbers(in, &w);
    }
    free(mean);
    return status;
}

const char *fig_smooth_lack(const fig_input *in)
{
    const size_t d = sock_model_dim(in->model);
    if (sock_model_order(in->model) == 2) return "the model is of order 2: 'trajectories' has the smoothed states";
    double *r = calloc(d * d, sizeof *r);
    const int known = r && sock_model_noise(in->model, r), failed = !r;
    free(r);
    if (failed) return fig_no_memory;
    return known ? NULL : "the model has no measurement noise, so the states are what was observed";
}
