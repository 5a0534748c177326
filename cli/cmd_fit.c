/* cmd_fit.c - sock fit: data in, model out. */
#include "api/record.h"
#include "cli.h"
#include "table.h"
#include "widehint.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"tune",           "preset",         "folds",     "budget",
                                   "noise",          "substeps",       "drift",     "diffusion",
                                   "diagonal",       "quadrature",     "weights",   "learned",
                                   "correction",     "polish",         "average",   "scaling",
                                   "wild",           "bands",          "delta",     "tolerance",
                                   "seed",           "check",          "alpha",     "drift-lambda",
                                   "drift-form",     "drift-path",     "landmarks", "diffusion-lambda",
                                   "diffusion-form", "diffusion-rank", "solver",    "max-iterations",
                                   "max-seconds",    "compression",    "id",        "time",
                                   "state",          "group",          "grouping",  "dt",
                                   "missing",        "time-unit",      "files",     "stream",
                                   "search-rows",    "scratch",        "log",       "wide",
                                   "every",          "lower",          "upper",     "input",
                                   "time-dependent", "hold",           "order",     "plan",
                                   "save-plan",      "device",         NULL};

/* Numbered columns that became states because nobody named them. */
static void print_wide_hint(const cli *c, const sock_data *data)
{
    char text[512];
    if (!data || sock_data_trajectories(data) != 1 || strcmp(sock_options_get(c->opts, "state"), "auto") != 0) return;
    const size_t d = sock_data_dim(data);
    const char **names = calloc(d, sizeof *names);
    for (size_t k = 0; names && k < d; k++) names[k] = sock_data_name(data, k);
    if (names && wide_hint(d, names, sizeof text, text)) printf("%-13s%s\n", "wide form?", text);
    free(names);
}

static void print_summary(const cli *c, const sk_record *r, const sock_data *data, const char *output)
{
    sk_record_write_data(stdout, r, 13);
    const char *column, *why;
    for (size_t i = 0; (column = sock_data_left_out(data, i, &why)); i++)
        printf("%-13scolumn %s: %s\n", i ? "" : "left out", column, why);
    print_wide_hint(c, data);
    if (r->device) printf("device       %s\n", r->device);
    sk_record_write_words(stdout, r, 13, SK_LISTENER_FIT);
    printf("time         %.3f s\n", r->seconds);
    if (output) printf("model        %s\n", output);
}

/* The search as a table: stage, field, kernel, l, held-out score, whether l is at the edge of the grid, seconds. */
static int write_search(const cli *c, const sk_record *r, const char *path)
{
    static const char *const names[] = {"stage", "field", "kernel", "l", "score", "edge", "seconds", NULL};
    table out;
    if (!r->tuned) return cli_usage_error(c, "--search-log needs the search: leave --no-tune out");
    int code = table_open(c, &out, path, false);
    if (code >= 0) return code;
    for (const char *const *name = names; *name; name++) table_text(&out, *name);
    table_end_row(&out);
    for (size_t i = 0; i < r->found.search.count; i++) {
        const sk_search_row *row = &r->found.search.row[i];
        table_text(&out, row->stage);
        table_text(&out, row->field);
        table_text(&out, row->kernel);
        table_number(&out, row->l);
        table_number(&out, row->score);
        table_text(&out, row->edge ? "yes" : "no");
        table_number(&out, row->seconds);
        table_end_row(&out);
    }
    return table_close(&out);
}

static bool is_stream(const sock_options *opts)
{
    return strcmp(sock_options_get(opts, "stream"), "yes") == 0 ||
           strcmp(sock_options_get(opts, "plan"), "none") != 0 ||
           strcmp(sock_options_get(opts, "save-plan"), "none") != 0;
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *validation = NULL, *log = NULL;
    bool plain = false;
    const cli_option own[] = {
        {"output", 'o', &output, NULL, "FILE", "where the model goes"},
        {"no-tune", 0, NULL, &plain, NULL, "the plain estimator with the kernels and penalties given (--tune=no)"},
        {"validation", 0, &validation, NULL, "FILE", "judge the candidates on these data instead of cross-validation"},
        {"search-log", 0, &log, NULL, "FILE", "write every candidate with its score as CSV"},
        {0}};
    cli c;
    sock_data *data = NULL, *held = NULL;
    sock_model *model = NULL;
    char *info = NULL;
    sk_record record;
    sk_record_init(&record);
    int code = cli_begin(&c, &verb_fit, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    bool piped = output && strcmp(output, "-") == 0; /* the model itself goes to standard output */
    if (code < 0 && piped && c.json) code = cli_usage_error(&c, "--json and -o - both want standard output");
    if (code < 0) code = cli_check_output(&c, output);
    if (code < 0) code = cli_check_output(&c, log);
    const char *plan = code < 0 ? sock_options_get(c.opts, "save-plan") : "none";
    if (code < 0 && strcmp(plan, "none") != 0) code = cli_check_output(&c, plan);
    if (code < 0 && output && strcmp(output, plan) == 0)
        code = cli_usage_error(&c, "-o and --save-plan both want %s; give two names", plan);
    if (code < 0 && output && log && strcmp(output, log) == 0 && strcmp(log, "/dev/null") != 0)
        code = cli_usage_error(&c, "-o and --search-log both want %s; give two names", piped ? "standard output" : log);
    if (code < 0 && plain && (validation || log))
        code = cli_usage_error(&c, "--%s belongs to the search; leave --no-tune out",
                               validation ? "validation" : "search-log");
    if (code >= 0) goto out;
    sock_status status = plain ? sock_options_set(c.ctx, c.opts, "tune", "no") : SOCK_OK;
    const bool streams = status >= 0 && is_stream(c.opts);
    const char *const *files = (const char *const *)c.operand;
    if (status >= 0 && !streams) status = sock_data_read_files(c.ctx, (size_t)c.operands, files, c.opts, &data);
    if (status >= 0 && validation) status = sock_data_read(c.ctx, validation, c.opts, &held);
    if (status >= 0) status = sock_options_set_validation(c.ctx, c.opts, held);
    cli_keep_memory();
    if (status >= 0)
        status = streams ? sock_fit_files(c.ctx, (size_t)c.operands, files, c.opts, &model)
                         : sock_fit(c.ctx, data, c.opts, &model);
    if (status >= 0) cli_caveat(&c, status);
    if (status >= 0) status = sock_model_info(c.ctx, model, &info); /* first: a file that is saved is the last word */
    if (status >= 0 && (!c.json || log)) status = sk_record_read(c.ctx, info, &record);
    if (status >= 0 && output) status = sock_model_save(c.ctx, model, output);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    if (c.json)
        printf("%s\n", info);
    else if (!piped)
        print_summary(&c, &record, data, output);
    if (log && write_search(&c, &record, log) != EXIT_DONE) { /* after the model: a long fit is not lost with its log */
        if (output)
            cli_failure(&c, "only the search log is missing: the model %s is whole",
                        piped ? "that was written" : output);
        else
            cli_failure(&c, "the model was not saved either: give -o FILE to keep it");
        code = EXIT_FAILED;
        goto out;
    }
    if (!output) cli_note(&c, "the model was not saved: give -o FILE to keep it");
    code = cli_finish_output(&c);
out:
    sk_record_clear(&record);
    sock_string_free(info);
    sock_model_free(model);
    sock_data_free(data);
    sock_data_free(held);
    cli_end(&c);
    return code;
}

const cli_verb verb_fit = {"fit",
                           "fit DATA... [-o MODEL] [options]",
                           "learn a model from trajectories",
                           "  sock fit train.csv -o model.sock\n"
                           "  sock fit train.csv --no-tune --drift gauss:eta=0.8 --drift-lambda 1e-4 -o model.sock",
                           keys,
                           run};
