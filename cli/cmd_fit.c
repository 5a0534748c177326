/* cmd_fit.c - sock fit: data in, model out. */
#include "cli.h"
#include "table.h"
#include "tunedtext.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const keys[] = {"tune",
                                   "preset",
                                   "folds",
                                   "budget",
                                   "drift",
                                   "diffusion",
                                   "diagonal",
                                   "quadrature",
                                   "weights",
                                   "learned",
                                   "correction",
                                   "polish",
                                   "average",
                                   "scaling",
                                   "delta",
                                   "tolerance",
                                   "seed",
                                   "drift-lambda",
                                   "drift-form",
                                   "drift-path",
                                   "landmarks",
                                   "diffusion-lambda",
                                   "diffusion-form",
                                   "diffusion-rank",
                                   "solver",
                                   "max-iterations",
                                   "max-seconds",
                                   "compression",
                                   "id",
                                   "time",
                                   "state",
                                   "group",
                                   "grouping",
                                   "dt",
                                   NULL};

static const char *text(json_t *info, const char *key)
{
    const char *value = json_string_value(json_object_get(info, key));
    return value ? value : "";
}

static double number(json_t *info, const char *key) { return json_number_value(json_object_get(info, key)); }

static void print_diffusion(json_t *info)
{
    if (!json_is_string(json_object_get(info, "diffusion"))) {
        printf("diffusion    not fitted\n");
        return;
    }
    bool converged = json_is_true(json_object_get(info, "converged"));
    printf("diffusion    %s\n", text(info, "diffusion"));
    printf("             lambda %.6g, %s form%s, %.0f features, rank %.0f\n", number(info, "diffusion_lambda"),
           text(info, "diffusion_form"), json_is_true(json_object_get(info, "diagonal")) ? ", diagonal" : "",
           number(info, "features"), number(info, "rank"));
    printf("certificate  relative duality gap %.2g after %.0f iterations of %s%s\n", number(info, "relative_gap"),
           number(info, "iterations"), text(info, "solver"), converged ? "" : ": NOT within the tolerance");
}

static void print_plain(json_t *info)
{
    printf("drift        %s\n", text(info, "drift"));
    printf("             lambda %.6g, %s form, %s, rank %.0f, %s quadrature\n", number(info, "drift_lambda"),
           text(info, "drift_form"), text(info, "drift_path"), number(info, "drift_rank"), text(info, "quadrature"));
    print_diffusion(info);
}

static void print_summary(const char *json, const char *output)
{
    json_t *info = json_loads(json, 0, NULL);
    if (!info) return;
    printf("data         %.0f intervals, %.0f points, dimension %.0f\n", number(info, "n"), number(info, "points"),
           number(info, "d"));
    if (json_is_true(json_object_get(info, "tuned")))
        tuned_print(info, 13, false);
    else
        print_plain(info);
    printf("time         %.3f s\n", number(json_object_get(info, "seconds"), "total"));
    if (output) printf("model        %s\n", output);
    json_decref(info);
}

/* The search as a table: stage, field, kernel, l, held-out score, whether l is at the edge of the grid, seconds. */
static int write_search(const cli *c, const char *json, const char *path)
{
    static const char *const names[] = {"stage", "field", "kernel", "l", "score", "edge", "seconds", NULL};
    json_t *info = json_loads(json, 0, NULL), *row;
    json_t *search = json_object_get(info, "search"),
           *times = json_object_get(json_object_get(info, "seconds"), "search");
    table out;
    size_t i;
    int code = json_is_array(search) ? table_open(c, &out, path, false)
                                     : cli_usage_error(c, "--search-log needs the search: leave --no-tune out");
    if (code < 0) {
        for (const char *const *name = names; *name; name++) table_text(&out, *name);
        table_end_row(&out);
        json_array_foreach(search, i, row)
        {
            for (int k = 0; k < 3; k++) table_text(&out, text(row, names[k]));
            for (int k = 3; k < 5; k++) {
                json_t *value = json_object_get(row, names[k]);
                table_number(&out, json_is_number(value) ? json_number_value(value) : (double)NAN);
            }
            table_text(&out, json_is_true(json_object_get(row, "edge")) ? "yes" : "no");
            table_number(&out, json_number_value(json_array_get(times, i)));
            table_end_row(&out);
        }
        code = table_close(&out);
    }
    json_decref(info);
    return code;
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
    int code = cli_begin(&c, &verb_fit, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    bool piped = output && strcmp(output, "-") == 0; /* the model itself goes to standard output */
    if (code < 0 && piped && c.json) code = cli_usage_error(&c, "--json and -o - both want standard output");
    if (code < 0) code = cli_check_output(&c, output);
    if (code < 0) code = cli_check_output(&c, log);
    if (code < 0 && output && log && strcmp(output, log) == 0 && strcmp(log, "/dev/null") != 0)
        code = cli_usage_error(&c, "-o and --search-log both want %s; give two names", piped ? "standard output" : log);
    if (code < 0 && plain && (validation || log))
        code = cli_usage_error(&c, "--%s belongs to the search; leave --no-tune out",
                               validation ? "validation" : "search-log");
    if (code >= 0) goto out;
    sock_status status = plain ? sock_options_set(c.ctx, c.opts, "tune", "no") : SOCK_OK;
    if (status >= 0) status = sock_data_read(c.ctx, c.operand[0], c.opts, &data);
    if (status >= 0 && validation) status = sock_data_read(c.ctx, validation, c.opts, &held);
    if (status >= 0) status = sock_options_set_validation(c.ctx, c.opts, held);
    if (status >= 0) status = sock_fit(c.ctx, data, c.opts, &model);
    if (status >= 0) cli_caveat(&c, status);
    if (status >= 0) status = sock_model_info(c.ctx, model, &info); /* first: a file that is saved is the last word */
    if (status >= 0 && output) status = sock_model_save(c.ctx, model, output);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    if (c.json)
        printf("%s\n", info);
    else if (!piped)
        print_summary(info, output);
    if (log && write_search(&c, info, log) != EXIT_DONE) { /* after the model: a long fit is not lost with its log */
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
    sock_string_free(info);
    sock_model_free(model);
    sock_data_free(data);
    sock_data_free(held);
    cli_end(&c);
    return code;
}

const cli_verb verb_fit = {"fit",
                           "fit DATA [-o MODEL] [options]",
                           "learn a model from trajectories",
                           "  sock fit train.csv -o model.sock\n"
                           "  sock fit train.csv --no-tune --drift gauss:eta=0.8 --drift-lambda 1e-4 -o model.sock",
                           keys,
                           run};
