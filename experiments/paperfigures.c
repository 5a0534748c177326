/* paperfigures.c - the paper's figures, drawn anew from one seed:
 *
 *   dense-data.svg     the data of the dense set, training and validation
 *   dense-fields.svg   its drift and diffusion, true and learned
 *   expdyn-fields.svg  f and a of the exponential set, true and learned
 *   sir-data.svg       the trajectories of the epidemic
 *   sir-paths.svg      (not in the paper) what a fitted model makes of them
 *
 * The models are those of the default fit to training and validation data. */
#define _POSIX_C_SOURCE 200809L
#include "compare/compare.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "report/axes.h"
#include "report/datalook.h"
#include "report/figures.h"
#include "systems/systems.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* One set with its model. */
typedef struct gallery {
    sock_context *ctx;
    const exp_settings *settings;
    const char *system;
    sys_instance *instance;
    sock_model *truth;
    sock_data *part[SYS_SETS];
    cmp_fitted fitted;
} gallery;

/* ---- Data and model ---- */

static sock_status make_data(gallery *g)
{
    sock_status status = sys_new(g->ctx, sys_find(g->system), g->settings->seed, &g->instance);
    if (status >= 0) status = sys_truth(g->ctx, g->instance, &g->truth);
    for (int i = 0; status >= 0 && i < SYS_SETS; i++)
        status = sys_generate(g->ctx, g->instance, (sys_set)i, &g->part[i]);
    return status;
}

static sock_status fit(gallery *g)
{
    cmp_spec spec;
    const cmp_case c = {.train = g->part[SYS_TRAIN],
                        .validation = g->part[SYS_VALIDATION],
                        .test = g->part[SYS_TEST],
                        .truth = g->truth};
    sock_status status = cmp_spec_parse(g->ctx, g->settings->quick ? "constant" : "sock", &spec);
    return status < 0 ? status : cmp_fit(g->ctx, &spec, &c, &g->fitted);
}

static void free_gallery(gallery *g)
{
    cmp_fitted_clear(&g->fitted);
    for (int i = 0; i < SYS_SETS; i++) sock_data_free(g->part[i]);
    sock_model_free(g->truth);
    sys_free(g->instance);
}

/* ---- Trajectories ---- */

enum { LEFT = 66, TOP = 84, WIDE = 420, TALL = 330 };

static range range_of(const sock_data *const *data, size_t count, size_t k)
{
    range r = range_empty();
    for (size_t i = 0; i < count; i++) {
        const size_t d = sock_data_dim(data[i]);
        for (size_t j = 0; j < sock_data_trajectories(data[i]); j++) {
            const double *x;
            const size_t length = sock_data_trajectory(data[i], j, NULL, &x);
            for (size_t u = 0; u < length; u++) range_see(&r, x[u * d + k]);
        }
    }
    return r;
}

/* One trajectory: coordinate `up` over coordinate `across`, or over time where across is d. */
static int draw_trajectory(const panel *p, const sock_data *data, size_t j, size_t across, size_t up, const char *klass)
{
    const double *t, *x;
    const size_t d = sock_data_dim(data), length = sock_data_trajectory(data, j, &t, &x);
    double *xy = calloc(2 * length + 1, sizeof *xy);
    if (!xy) return 0;
    for (size_t i = 0; i < length; i++) {
        xy[2 * i] = axis_at(&p->x, across < d ? x[i * d + across] : t[i]);
        xy[2 * i + 1] = axis_at(&p->y, x[i * d + up]);
    }
    svg_polyline(p->s, klass, length, xy);
    free(xy);
    return 1;
}

static int draw_all(const panel *p, const sock_data *data, size_t across, size_t up, const char *klass)
{
    int good = 1;
    for (size_t j = 0; j < sock_data_trajectories(data); j++)
        good = draw_trajectory(p, data, j, across, up, klass) && good;
    return good;
}

static panel frame(svg *s, range across, range up, const char *title, const char *x_name)
{
    panel p = {s, {across.low, across.high, LEFT, LEFT + WIDE}, {up.low, up.high, TOP + TALL, TOP}, TOP + TALL};
    panel_frame(&p, title, x_name);
    return p;
}

static sock_status close_picture(svg *s, int good, char **text, size_t *size)
{
    char *made = svg_close(s, size);
    if (good && made) {
        *text = made;
        return SOCK_OK;
    }
    free(made);
    return SOCK_ENOMEM;
}

/* The plane of the dense set; a dot marks each start. */
static sock_status draw_dense_data(gallery *g, char **text, size_t *size)
{
    static const char *const klass[] = {"series1", "series2"}, *const name[] = {"training", "validation"};
    const sock_data *data[] = {g->part[SYS_TRAIN], g->part[SYS_VALIDATION]};
    svg *s = svg_new("densedata", LEFT + WIDE + 24, TOP + TALL + 52, "Training and validation data of the dense set");
    double x = 20;
    int good = 1;
    if (!s) return SOCK_ENOMEM;
    svg_text(s, "head", (double[]){20, 26}, SVG_START, 0, "Dense matrix-valued diffusion: the data");
    for (size_t i = 0; i < 2; i++) legend_entry(s, &x, 50, LEGEND_LINE, klass[i], name[i]);
    const panel p = frame(s, range_widen(range_of(data, 2, 0), 0.05), range_widen(range_of(data, 2, 1), 0.05), "",
                          sock_data_name(data[0], 0));
    svg_text_up(s, "", (double[]){LEFT - 48, TOP + TALL / 2}, 36, sock_data_name(data[0], 1));
    for (size_t i = 0; i < 2; i++) good = draw_all(&p, data[i], 0, 1, klass[i]) && good;
    return close_picture(s, good, text, size);
}

/* S, I and R over time, all realisations. */
static sock_status draw_sir_data(gallery *g, char **text, size_t *size)
{
    static const char *const klass[] = {"series1", "series2", "series3"};
    static const char *const name[] = {"susceptible", "infected", "recovered"};
    const sock_data *data = g->part[SYS_TRAIN];
    look_times time;
    if (look_time(data, &time) < 0) return SOCK_ENOMEM;
    svg *s = svg_new("sirdata", LEFT + WIDE + 24, TOP + TALL + 52, "Trajectories of the epidemic");
    double x = 20;
    int good = 1;
    if (!s) return SOCK_ENOMEM;
    svg_text(s, "head", (double[]){20, 26}, SVG_START, 0, "Stochastic SIR: the training data");
    for (size_t k = 0; k < 3; k++) legend_entry(s, &x, 50, LEGEND_LINE, klass[k], name[k]);
    const panel p =
        frame(s, (range){time.first, time.last}, range_widen((range){0, 1}, 0.03), "share of the people", "time");
    for (size_t k = 0; k < 3; k++) good = draw_all(&p, data, 3, k, klass[k]) && good;
    return close_picture(s, good, text, size);
}

/* ---- Fields and paths, by report/ ---- */

static fig_input input_of(const gallery *g)
{
    return (fig_input){
        .model = g->fitted.model, .data = g->part[SYS_TRAIN], .truth = g->truth, .seed = g->settings->seed};
}

static sock_status draw_fields(gallery *g, char **text, size_t *size)
{
    const fig_input in = input_of(g);
    return fig_draw(g->ctx, fig_find("fields"), &in, text, size);
}

static sock_status draw_paths(gallery *g, char **text, size_t *size)
{
    static const double lower[] = {0, 0, 0}, upper[] = {1, 1, 1};
    fig_input in = input_of(g);
    in.bounds = SOCK_BOUNDS_CLIP;
    in.lower = lower;
    in.upper = upper;
    return fig_draw(g->ctx, fig_find("paths"), &in, text, size);
}

/* ---- The list ---- */

typedef struct picture {
    const char *name, *system, *what;
    int needs_model;
    sock_status (*draw)(gallery *g, char **text, size_t *size);
} picture;

static const picture pictures[] = {
    {"dense-data.svg", "dense", "the dense set, training and validation data", 0, draw_dense_data},
    {"dense-fields.svg", "dense", "its drift and diffusion, true and learned", 1, draw_fields},
    {"expdyn-fields.svg", "expdyn", "f and a of the exponential set, true and learned", 1, draw_fields},
    {"sir-data.svg", "sir", "trajectories of the epidemic", 0, draw_sir_data},
    {"sir-paths.svg", "sir", "the epidemic as the fitted model makes it", 1, draw_paths}};

static sock_status write_picture(gallery *g, const picture *p)
{
    char *text = NULL, path[4096], line[200];
    size_t size = 0;
    sock_status status = SOCK_OK;
    if (p->needs_model && !g->fitted.model) status = fit(g);
    if (status >= 0) status = p->draw(g, &text, &size);
    snprintf(path, sizeof path, "%s/%s", g->settings->output, p->name);
    if (status >= 0) status = sock_write_file(g->ctx, path, text, size);
    free(text);
    snprintf(line, sizeof line, "%-18s %s", p->name, p->what);
    if (status >= 0 && g->settings->say) g->settings->say(g->settings->user, line);
    return status < 0 ? status : SOCK_OK;
}

/* The pictures of one system, one after the other: the model is fitted once. */
static sock_status draw_system(sock_context *ctx, const exp_settings *settings, const char *system, json_t *rows)
{
    gallery g = {.ctx = ctx, .settings = settings, .system = system};
    sock_status status = make_data(&g);
    for (size_t i = 0; status >= 0 && i < COUNT(pictures); i++) {
        const picture *p = &pictures[i];
        if (strcmp(p->system, system) != 0) continue;
        status = write_picture(&g, p);
        if (status >= 0) json_array_append_new(rows, json_pack("[s, s, s]", p->name, system, p->what));
    }
    free_gallery(&g);
    return status;
}

static const char *const set_names[] = {"dense", "expdyn", "sir", NULL};

static sock_status run_figures(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    static const char *const columns[] = {"file", "set", "what"};
    json_t *rows = json_array();
    sock_status status = SOCK_OK;
    for (const char *const *name = set_names; status >= 0 && *name; name++)
        if (!settings->names || exp_is_named(settings->names, *name)) status = draw_system(ctx, settings, *name, rows);
    if (status < 0) {
        json_decref(rows);
        return status;
    }
    *result = json_pack("{s:s, s:I, s:o, s:o}", "experiment", "figures", "seed", (json_int_t)settings->seed, "columns",
                        exp_columns(COUNT(columns), columns), "rows", rows);
    return SOCK_OK;
}

static void print_figures(const json_t *result, FILE *stream)
{
    const json_t *rows = json_object_get(result, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(stream, "%-18s %s\n", exp_text_at(row, 0), exp_text_at(row, 2));
    }
}

const exp_experiment exp_figures = {.name = "figures",
                                    .summary = "the paper's figures, as SVG files in a folder",
                                    .takes = EXP_TAKES_SEED,
                                    .sets = set_names,
                                    .resumes = 1,
                                    .folder = 1,
                                    .needs_output = 1,
                                    .run = run_figures,
                                    .print = print_figures};
