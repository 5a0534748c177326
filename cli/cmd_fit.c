/* cmd_fit.c - sock fit: data in, model out. */
#include "cli.h"

#include <jansson.h>
#include <string.h>

static const char *const keys[] = {
    "drift",          "drift-lambda",   "drift-form", "drift-path", "diffusion", "diffusion-lambda",
    "diffusion-form", "diffusion-rank", "diagonal",   "solver",     "tolerance", "max-iterations",
    "compression", "tune", "folds", "budget", "weights", "learned", "correction", "polish", "average",    "landmarks",      "quadrature", "id",         "time",      "state",
    "group",          "grouping",       "dt",         "seed",       NULL};

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

static void print_summary(const char *json, const char *output)
{
    json_t *info = json_loads(json, 0, NULL);
    if (!info) return;
    printf("data         %.0f intervals, %.0f points, dimension %.0f\n", number(info, "n"), number(info, "points"),
           number(info, "d"));
    printf("drift        %s\n", text(info, "drift"));
    printf("             lambda %.6g, %s form, %s, rank %.0f, %s quadrature\n", number(info, "drift_lambda"),
           text(info, "drift_form"), text(info, "drift_path"), number(info, "drift_rank"), text(info, "quadrature"));
    print_diffusion(info);
    printf("time         %.3f s\n", number(json_object_get(info, "seconds"), "total"));
    if (output) printf("model        %s\n", output);
    json_decref(info);
}

static int run(int count, char **arguments)
{
    const char *output = NULL;
    const cli_option own[] = {{"output", 'o', &output, NULL, "FILE", "where the model goes"}, {0}};
    cli c;
    sock_data *data = NULL;
    sock_model *model = NULL;
    char *info = NULL;
    int code = cli_begin(&c, &verb_fit, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    bool piped = output && strcmp(output, "-") == 0; /* the model itself goes to standard output */
    if (code < 0 && piped && c.json) code = cli_usage_error(&c, "--json and -o - both want standard output");
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    sock_status status = sock_data_read(c.ctx, c.operand[0], c.opts, &data);
    if (status >= 0) status = sock_fit(c.ctx, data, c.opts, &model);
    if (status >= 0) cli_caveat(&c, status);
    if (status >= 0 && output) status = sock_model_save(c.ctx, model, output);
    if (status >= 0) status = sock_model_info(c.ctx, model, &info);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    if (c.json)
        printf("%s\n", info);
    else if (!piped)
        print_summary(info, output);
    if (!output) cli_note(&c, "the model was not saved: give -o FILE to keep it");
    code = cli_finish_output(&c);
out:
    sock_string_free(info);
    sock_model_free(model);
    sock_data_free(data);
    cli_end(&c);
    return code;
}

const cli_verb verb_fit = {"fit",
                           "fit DATA [-o MODEL] [options]",
                           "learn a model from trajectories",
                           "  sock fit train.csv -o model.sock\n"
                           "  sock fit train.csv --drift gauss:eta=0.8 --drift-lambda 1e-4 -o model.sock",
                           keys,
                           run};
