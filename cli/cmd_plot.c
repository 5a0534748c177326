/* cmd_plot.c - sock plot: a figure of a model beside data, as SVG. */
#define _GNU_SOURCE
#include "knowntruth.h"
#include "modeldata.h"
#include "report/datalook.h"
#include "report/figures.h"
#include "report/lifted.h"
#include "report/memtext.h"

#include "base/nearest.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const keys[] = {"seed", "bounds",  "lower",     "upper", "id",   "time",  "state", "group",
                                   "dt",   "missing", "time-unit", "log",   "wide", "every", NULL};

#define FIGURES "fields|drift|diffusion|pairs|slices|trajectories|paths|density|marginals|residuals|check|smooth|search"

static int unknown_figure(const cli *c, const char *name)
{
    char list[512] = "", meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(name ? name : "", name ? strlen(name) : 0);
    for (size_t i = 0; fig_at(i); i++) {
        sk_nearest_try(&near, fig_at(i)->name);
        strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, fig_at(i)->name, sizeof list - strlen(list) - 1);
    }
    if (!name) return cli_usage_error(c, "give the figure: --figure NAME; allowed: %s", list);
    return cli_usage_error(c, "--figure is '%s'%s; allowed: %s", name, sk_meant(&near, meant), list);
}

static int no_such_state(const cli *c, const sock_model *model, const char *pair)
{
    memtext list;
    FILE *out = memtext_open(&list);
    for (size_t k = 0; out && k < sock_model_dim(model); k++)
        fprintf(out, "%s%s", k ? ", " : "", sock_model_name(model, k));
    if (!out || memtext_close(out, &list) != 0) return cli_fail(c, SOCK_ENOMEM);
    const int code = cli_usage_error(c, "--pair is '%s'; allowed: two different states with a comma between, of: %s",
                                     pair, list.text);
    free(list.text);
    return code;
}

/* The states of a plane, by name: the comma is where it makes two names of the model. */
static int read_pair(const cli *c, const sock_model *model, const char *text, size_t pair[2])
{
    const size_t d = sock_model_dim(model);
    for (size_t u = 0; text && u < d; u++)
        for (size_t v = 0; v < d; v++) {
            const char *first = sock_model_name(model, u);
            const size_t length = strlen(first);
            if (u == v || strncmp(text, first, length) != 0 || text[length] != ',') continue;
            if (strcmp(text + length + 1, sock_model_name(model, v)) != 0) continue;
            pair[0] = u, pair[1] = v;
            return -1;
        }
    return text ? no_such_state(c, model, text) : -1;
}

static int check_truth(const cli *c, const sock_model *model, const truth *t)
{
    if (!t->model || sock_model_dim(t->model) == sock_model_dim(model)) return -1;
    return cli_usage_error(c, "--truth is '%s': it has %zu states, the model %zu", t->source, sock_model_dim(t->model),
                           sock_model_dim(model));
}

static void print_json(const char *figure, const char *output, size_t size)
{
    json_t *object = json_pack("{s:s, s:s, s:I}", "figure", figure, "output", output, "bytes", (json_int_t)size);
    char *text = object ? json_dumps(object, 0) : NULL;
    if (text) printf("%s\n", text);
    free(text);
    json_decref(object);
}

/* Draws and writes; the exit code. `bounds`: 2 d numbers of room. */
static int make(const cli *c, const fig_figure *figure, fig_input *in, double *bounds, const char *output)
{
    const size_t d = sock_model_dim(in->model);
    char *text = NULL;
    size_t size = 0;
    assert(figure); /* fig_find found it */
    const char *lack = fig_lack(figure, in);
    if (lack == fig_no_memory) return cli_fail(c, SOCK_ENOMEM);
    if (lack) return cli_usage_error(c, "--figure %s: %s", figure->name, lack);
    in->seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    in->lower = bounds, in->upper = bounds + d;
    sock_status status = sock_simulation_bounds(c->ctx, c->opts, d, &in->bounds, bounds, bounds + d);
    sock_data *lifted = NULL;
    if (status >= 0) status = lifted_take(c->ctx, in->data, in, &lifted);
    if (status >= 0) status = fig_draw(c->ctx, figure, in, &text, &size);
    if (status >= 0) status = sock_write_file(c->ctx, output ? output : "-", text, size);
    sock_data_free(lifted);
    free(text);
    if (status < 0) return cli_fail(c, status);
    if (c->json) print_json(figure->name, output, size);
    return cli_finish_output(c);
}

static int run_figure(const cli *c, const fig_figure *figure, fig_input *in, const char *pair, const char *output)
{
    int code = read_pair(c, in->model, pair, in->pair);
    if (code >= 0) return code;
    double *bounds = calloc(2 * sock_model_dim(in->model), sizeof *bounds);
    char *time_name = look_time_name(c->ctx, in->data), *time_axis = look_time_axis(c->ctx, in->data);
    in->time_name = time_name, in->time_axis = time_axis;
    code = bounds && time_name && time_axis ? make(c, figure, in, bounds, output) : cli_fail(c, SOCK_ENOMEM);
    free(bounds);
    free(time_name);
    free(time_axis);
    return code;
}

/* A name that promises what the file would not be. */
static bool is_other_picture(const char *output)
{
    static const char *const other[] = {".png", ".jpg", ".jpeg", ".pdf", ".gif", ".eps", ".tif", ".tiff", NULL};
    const char *end = output ? strrchr(output, '.') : NULL;
    for (size_t i = 0; end && other[i]; i++)
        if (strcasecmp(end, other[i]) == 0) return true;
    return false;
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *name = NULL, *pair = NULL;
    truth t = {0};
    const cli_option own[] = {{"figure", 0, &name, NULL, FIGURES, "what is drawn (docs/figures.md)"},
                              {"pair", 0, &pair, NULL, "X,Y", "the two states of a plane (default: the first two)"},
                              {"truth", 0, &t.source, NULL, "TRUTH", TRUTH_HELP},
                              {"output", 'o', &output, NULL, "FILE", "where the SVG goes (default: standard output)"},
                              {0}};
    cli c;
    sock_model *model = NULL;
    sock_data *data = NULL;
    int code = cli_begin(&c, &verb_plot, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 2);
    const fig_figure *figure = name ? fig_find(name) : NULL;
    if (code < 0 && !figure) code = unknown_figure(&c, name);
    if (code < 0 && c.json && (!output || strcmp(output, "-") == 0))
        code = cli_usage_error(&c, "--json and the figure both want standard output; give -o FILE");
    if (code < 0 && is_other_picture(output))
        code = cli_usage_error(&c, "-o is %s; the figure is an SVG: give a name that ends in .svg", output);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    const sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    code = status < 0 ? cli_fail(&c, status) : truth_load(&c, &t);
    if (code < 0) code = models_data_read(&c, model, t.model, c.operand[1], &data);
    if (code < 0) code = check_truth(&c, model, &t);
    if (code >= 0) goto out;
    fig_input in = {.model = model, .data = data, .truth = t.model};
    code = run_figure(&c, figure, &in, pair, output);
out:
    truth_clear(&t);
    sock_data_free(data);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_plot = {"plot",
                            "plot MODEL DATA --figure NAME [-o FILE] [--truth TRUTH] [options]",
                            "draw a model beside data, as SVG",
                            "  sock plot model.sock train.csv --figure fields -o fields.svg\n"
                            "  sock plot model.sock train.csv --figure residuals -o residuals.svg\n"
                            "  sock plot model.sock train.csv --figure paths --truth truth.json -o paths.svg",
                            keys,
                            run};
