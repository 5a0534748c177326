/* cmd_report.c - sock report: everything about a model in one HTML file. */
#define _GNU_SOURCE
#include "knowntruth.h"
#include "modeldata.h"
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"seed", "bounds",  "lower",     "upper", "id",   "time",  "state", "group",
                                   "dt",   "missing", "time-unit", "log",   "wide", "every", NULL};
enum { KEYS = sizeof keys / sizeof *keys };

static void print_json(const char *output)
{
    json_t *object = json_pack("{s:s}", "output", output);
    char *text = object ? json_dumps(object, 0) : NULL;
    if (text) printf("%s\n", text);
    free(text);
    json_decref(object);
}

static int check_truth(const cli *c, const sock_model *model, const truth *t)
{
    if (!t->model || sock_model_dim(t->model) == sock_model_dim(model)) return -1;
    return cli_usage_error(c, "--truth is '%s': it has %zu states, the model %zu", t->source, sock_model_dim(t->model),
                           sock_model_dim(model));
}

/* What the commands in the page repeat: the options that are not at their defaults, key and value in turn; the seed
 * has its own place. `state` was set by the reading of the data unless the user gave it. */
static void options_given(const cli *c, bool own_state, const char *given[2 * KEYS])
{
    size_t used = 0;
    for (size_t i = 0; i < sock_option_count(); i++) {
        const sock_option_info row = sock_option_describe(i);
        const char *value = sock_options_get(c->opts, row.key);
        bool wanted = false;
        for (size_t k = 0; keys[k]; k++) wanted = wanted || strcmp(keys[k], row.key) == 0;
        if (strcmp(row.key, "seed") == 0 || (strcmp(row.key, "state") == 0 && !own_state)) continue;
        if (!wanted || strcmp(value, row.fallback) == 0) continue;
        given[used++] = row.key, given[used++] = value;
    }
    given[used] = NULL;
}

/* Everything is read: makes the page. The exit code. */
static int make(const cli *c, const sock_model *model, const sock_data *data, rep_settings *s, const char *output)
{
    const size_t d = sock_model_dim(model);
    double *bounds = calloc(2 * d, sizeof *bounds);
    if (!bounds) return cli_fail(c, SOCK_ENOMEM);
    s->seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    s->lower = bounds, s->upper = bounds + d;
    sock_status status = sock_simulation_bounds(c->ctx, c->opts, d, &s->bounds, bounds, bounds + d);
    if (status >= 0) status = rep_write(c->ctx, model, data, s, output);
    free(bounds);
    if (status < 0) return cli_fail(c, status);
    if (c->json) print_json(output);
    if (!c->json && strcmp(output, "-") != 0) printf("report       %s\n", output);
    return cli_finish_output(c);
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *test_path = NULL;
    truth t = {0};
    const cli_option own[] = {{"output", 'o', &output, NULL, "FILE", "where the page goes: report.html"},
                              {"truth", 0, &t.source, NULL, "TRUTH", TRUTH_HELP},
                              {"test", 0, &test_path, NULL, "FILE", "data that the fit has not seen, to score it on"},
                              {0}};
    cli c;
    sock_model *model = NULL;
    sock_data *data = NULL, *test = NULL;
    int code = cli_begin(&c, &verb_report, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 2);
    if (code < 0 && !output) code = cli_usage_error(&c, "give the file: -o report.html");
    if (code < 0 && c.json && strcmp(output, "-") == 0)
        code = cli_usage_error(&c, "--json and the report both want standard output; give -o FILE");
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    const bool own_state = strcmp(sock_options_get(c.opts, "state"), "auto") != 0;
    const sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    code = status < 0 ? cli_fail(&c, status) : truth_load(&c, &t);
    if (code < 0) code = models_data_read(&c, model, t.model, c.operand[1], &data);
    if (code < 0 && test_path) code = models_data_read(&c, model, t.model, test_path, &test);
    if (code < 0) code = check_truth(&c, model, &t);
    if (code >= 0) goto out;
    const char *given[2 * KEYS];
    options_given(&c, own_state, given);
    rep_settings settings = {.truth = t.model,
                             .truth_name = t.source,
                             .test = test,
                             .model_path = c.operand[0],
                             .data_path = c.operand[1],
                             .test_path = test_path,
                             .options = given};
    code = make(&c, model, data, &settings, output);
out:
    truth_clear(&t);
    sock_data_free(test);
    sock_data_free(data);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_report = {"report",
                              "report MODEL DATA -o FILE [--test FILE] [--truth TRUTH] [options]",
                              "write all about a model into one HTML file",
                              "  sock report model.sock train.csv -o report.html\n"
                              "  sock report model.sock train.csv --test test.csv --truth truth.json -o report.html",
                              keys,
                              run};
