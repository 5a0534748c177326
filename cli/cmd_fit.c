/* cmd_fit.c - sock fit: data in, model out. */
#include "cli.h"

#include <jansson.h>

static const char *const keys[] = {"drift",      "drift-lambda", "drift-form", "drift-path", "landmarks",
                                   "quadrature", "id",           "time",       "state",      "group",
                                   "grouping",   "dt",           "seed",       NULL};

static void print_summary(const char *json, const char *output)
{
    json_t *info = json_loads(json, 0, NULL);
    if (!info) return;
    const char *text = "", *form = "", *path = "", *quadrature = "";
    double lambda = 0, total = 0;
    json_int_t n = 0, points = 0, d = 0, rank = 0;
    json_unpack(info, "{s:s, s:F, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:{s:F}}", "drift", &text, "drift_lambda", &lambda,
                "drift_form", &form, "drift_path", &path, "quadrature", &quadrature, "n", &n, "points", &points, "d",
                &d, "drift_rank", &rank, "seconds", "total", &total);
    printf("data         %lld intervals, %lld points, dimension %lld\n", (long long)n, (long long)points, (long long)d);
    printf("drift        %s\n", text);
    printf("             lambda %.6g, %s form, %s, rank %lld, %s quadrature\n", lambda, form, path, (long long)rank,
           quadrature);
    printf("diffusion    not fitted: this version learns the drift only\n");
    printf("time         %.3f s\n", total);
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
    else
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
