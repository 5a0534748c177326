/* trajectories.c - the data alone: every state over time, three trajectories picked out in colour; and, with two states
 * or more, their way through the plane. */
#define _GNU_SOURCE
#include "datalines.h"
#include "evidence.h"

#include <stdlib.h>

enum { STATES_MOST = 6, PICKED = 3, TABLE_SHOWN = 60, TABLE_POINTS = 200, TABLE_ONE = 1000 };

static const char *const colour[PICKED] = {"c0", "c1", "c2"};

typedef struct ending {
    double x;
    size_t trajectory;
} ending;

static int by_end(const void *a, const void *b)
{
    const ending *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->trajectory > q->trajectory) - (p->trajectory < q->trajectory);
}

/* Those at 10, 50 and 90 % of the ends in the first state, into out; *found: how many, all where there are fewer than
 * three. 0 when memory ran out. */
static int pick(const sock_data *data, size_t out[PICKED], size_t *found)
{
    const size_t all = sock_data_trajectories(data), d = sock_data_dim(data);
    ending *list = calloc(all + 1, sizeof *list);
    size_t count = 0;
    if (!list) return 0;
    for (size_t j = 0; j < all; j++) {
        const double *x;
        const size_t length = sock_data_trajectory(data, j, NULL, &x);
        if (length > 1) list[count++] = (ending){x[(length - 1) * d], j};
    }
    qsort(list, count, sizeof *list, by_end);
    *found = count < PICKED ? count : PICKED;
    for (size_t i = 0; i < *found; i++)
        out[i] = list[count < PICKED ? i : (size_t)((0.1 + 0.4 * (double)i) * (double)(count - 1))].trajectory;
    free(list);
    return 1;
}

static int time_panel(const fig_input *in, sheet *s, const look_times *time, size_t k)
{
    range up;
    panel p;
    if (evidence_range(in, k, 0.04, &up) < 0 ||
        !sheet_panel(s, range_widen((range){time->first, time->last}, 0), up, &p))
        return 0;
    panel_frame(&p, sock_model_name(in->model, k), fig_time_axis(in));
    panel_clip(&p);
    int good = lines_draw(&p, in->data, k, "data");
    size_t chosen[PICKED] = {0}, picked = 0;
    good = pick(in->data, chosen, &picked) && good;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): as many colours as picked at most
    for (size_t i = 0; good && i < picked; i++) good = lines_one(&p, in->data, k, chosen[i], colour[i]);
    svg_clip_end(p.s);
    return good;
}

static int plane_line(const panel *p, const fig_input *in, size_t j, size_t u, size_t v, const char *klass)
{
    const double *x;
    const size_t d = sock_data_dim(in->data), length = sock_data_trajectory(in->data, j, NULL, &x);
    const size_t every = lines_every(in->data, length);
    double *xs = calloc(2 * length + 2, sizeof *xs), *ys = xs ? xs + length + 1 : NULL;
    size_t count = 0;
    for (size_t i = 0; xs && i < length; i++)
        if (i % every == 0 || i + 1 == length) xs[count] = x[i * d + u], ys[count++] = x[i * d + v];
    const int good = xs && panel_curve(p, klass, count, xs, ys);
    if (good && count) svg_dot(p->s, klass, (double[]){axis_at(&p->x, xs[0]), axis_at(&p->y, ys[0])}, 2.5);
    free(xs);
    return good;
}

static int plane_panel(const fig_input *in, sheet *s)
{
    range across, up;
    panel p;
    const size_t u = in->pair[0], v = in->pair[0] == in->pair[1] ? 1 : in->pair[1];
    char after[60];
    if (evidence_range(in, u, 0.04, &across) < 0 || evidence_range(in, v, 0.04, &up) < 0) return 0;
    if (!sheet_panel(s, across, up, &p)) return 0;
    snprintf(after, sizeof after, " over %.40s", sock_model_name(in->model, u));
    panel_frame_of(&p, sock_model_name(in->model, v), after, sock_model_name(in->model, u));
    panel_clip(&p);
    int good = 1;
    for (size_t i = 0; good && i < lines_shown(in->data); i++)
        good = plane_line(&p, in, lines_index(in->data, i), u, v, "data");
    size_t chosen[PICKED] = {0}, picked = 0;
    good = pick(in->data, chosen, &picked) && good;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): as many colours as picked at most
    for (size_t i = 0; good && i < picked; i++) good = plane_line(&p, in, chosen[i], u, v, colour[i]);
    svg_clip_end(p.s);
    return good;
}

static void draw_note(const fig_input *in, sheet *s, size_t states)
{
    const size_t count = sock_data_trajectories(in->data), shown = lines_shown(in->data), d = sock_data_dim(in->data);
    char text[160];
    int used = 0;
    if (shown < count)
        used = snprintf(text, sizeof text, "%zu of %zu trajectories shown, %zu points in all", shown, count,
                        sock_data_points(in->data));
    else
        used = snprintf(text, sizeof text, "all of %zu trajector%s, %zu points", count, count == 1 ? "y" : "ies",
                        sock_data_points(in->data));
    if (states < d) snprintf(text + used, sizeof text - (size_t)used, "; the first %zu of %zu states", states, d);
    sheet_note(s, text);
}

static char *draw(const fig_input *in, const look_times *time, size_t *size)
{
    const size_t d = sock_model_dim(in->model), states = d < STATES_MOST ? d : STATES_MOST;
    const int alone = d == 1;
    const sheet_plan plan = {.id = "trajectories",
                             .heading = "Trajectories of the data",
                             .form = in->form,
                             .panels = states + !alone,
                             .columns = alone ? 1 : 2,
                             .wide = alone ? 674 : 312,
                             .tall = alone ? 230 : 180,
                             .notes = 1};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    if (sock_data_trajectories(in->data) >= PICKED) {
        sheet_key(s, LEGEND_LINE, "datakey", "data");
        sheet_key(s, LEGEND_LINE, "c0", "three of them picked out");
    } else
        sheet_key(s, LEGEND_LINE, "c0", sock_data_trajectories(in->data) > 1 ? "data, a colour for each" : "data");
    for (size_t k = 0; good && k < states; k++) good = time_panel(in, s, time, k);
    if (good && !alone) good = plane_panel(in, s);
    draw_note(in, s, states);
    return sheet_close(s, good, size);
}

/* How many points of a trajectory have numbers at most: of few more than of many. */
static size_t tabled_points(const sock_data *data)
{
    const size_t shown = lines_shown(data), each = shown ? TABLE_ONE / shown : TABLE_ONE;
    return each > TABLE_POINTS ? each : TABLE_POINTS;
}

/* How many trajectories have numbers: as many as a table holds, some in any case. */
static size_t tabled(const sock_data *data)
{
    const size_t length = sock_data_points(data) / sock_data_trajectories(data) + 1;
    const size_t rows = FIG_NUMBERS_MOST / (2 + sock_data_dim(data));
    size_t most = rows / (length < tabled_points(data) ? length : tabled_points(data));
    most = most < PICKED ? PICKED : most < TABLE_SHOWN ? most : TABLE_SHOWN;
    return lines_shown(data) < most ? lines_shown(data) : most;
}

/* Trajectory, time, states: of some that are drawn, thinned. */
static void keep_numbers(const fig_input *in)
{
    const sock_data *data = in->data;
    const size_t d = sock_data_dim(data), shown = tabled(data), points = tabled_points(data);
    size_t rows = 0;
    for (size_t i = 0; i < shown; i++) {
        const size_t length = sock_data_trajectory(data, i * sock_data_trajectories(data) / shown, NULL, NULL);
        rows += (length + length / points) / (length / points + 1);
    }
    fig_table *t = tables_add(in->tables, 2 + d, rows, "trajectories", "trajectories");
    if (t && rows && rows < sock_data_points(data)) t->every = (sock_data_points(data) + rows / 2) / rows;
    table_column(in->tables, t, 0, "trajectory", "");
    table_column(in->tables, t, 1, fig_time_name(in), "");
    for (size_t k = 0; k < d; k++) table_column(in->tables, t, 2 + k, sock_model_name(in->model, k), "");
    double *out = t ? t->value : NULL;
    for (size_t i = 0; t && i < shown; i++) {
        const double *time, *x;
        const size_t j = i * sock_data_trajectories(data) / shown, length = sock_data_trajectory(data, j, &time, &x);
        for (size_t n = 0; n < length; n += length / points + 1, out += 2 + d) {
            out[0] = (double)j, out[1] = time[n];
            for (size_t k = 0; k < d; k++) out[2 + k] = x[n * d + k];
        }
    }
}

sock_status fig_trajectories(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    look_times time;
    (void)ctx;
    const sock_status status = evidence_time(in, &time);
    char *made = status < 0 ? NULL : draw(in, &time, size);
    if (status >= 0 && !made) return SOCK_ENOMEM;
    if (made) *text = made;
    if (made) keep_numbers(in);
    return status;
}
