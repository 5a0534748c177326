/* cmd_experiment.c - sock experiment: studies that can be repeated, one row of the table each. */
#define _GNU_SOURCE
#include "cli.h"
#include "experiments/experiments.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"seed", NULL};

static const exp_experiment *const experiments[] = {&exp_ablation};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

static int list_experiments(const cli *c)
{
    json_t *list = json_object();
    for (int i = 0; i < EXPERIMENTS; i++) {
        if (!c->json) printf("%-12s %s\n", experiments[i]->name, experiments[i]->summary);
        json_object_set_new(list, experiments[i]->name, json_string(experiments[i]->summary));
    }
    char *text = c->json ? json_dumps(list, 0) : NULL;
    if (text) printf("%s\n", text);
    free(text);
    json_decref(list);
    return cli_finish_output(c);
}

static int find_experiment(const cli *c, const exp_experiment **out)
{
    char list[256] = "";
    for (int i = 0; i < EXPERIMENTS; i++) {
        if (strcmp(experiments[i]->name, c->operand[0]) == 0) {
            *out = experiments[i];
            return -1;
        }
        strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, experiments[i]->name, sizeof list - strlen(list) - 1);
    }
    return cli_usage_error(c, "unknown experiment '%s'; allowed: %s", c->operand[0], list);
}

/* Every name of the list must be one of the experiment's. */
static int check_sets(const cli *c, const exp_experiment *experiment, const char *names)
{
    for (const char *p = names; p && *p; p += *p == ',') {
        size_t length = strcspn(p, ",");
        const char *const *set = experiment->sets;
        char list[256] = "";
        while (*set && (strlen(*set) != length || strncmp(*set, p, length) != 0)) {
            strncat(list, set == experiment->sets ? "" : ", ", sizeof list - strlen(list) - 1);
            strncat(list, *set++, sizeof list - strlen(list) - 1);
        }
        if (!*set) return cli_usage_error(c, "--sets: '%.*s' is not known; allowed: %s", (int)length, p, list);
        p += length;
    }
    return -1;
}

/* The rows of the result as a CSV file. */
static int write_csv(const cli *c, const json_t *result, const char *path)
{
    const json_t *columns = json_object_get(result, "columns"), *rows = json_object_get(result, "rows");
    table out;
    int code = table_open(c, &out, path, false);
    if (code >= 0) return code;
    for (size_t j = 0; j < json_array_size(columns); j++)
        table_text(&out, json_string_value(json_array_get(columns, j)));
    table_end_row(&out);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        for (size_t j = 0; j < json_array_size(columns); j++) {
            const json_t *cell = json_array_get(json_array_get(rows, i), j);
            if (json_is_string(cell))
                table_text(&out, json_string_value(cell));
            else if (json_is_boolean(cell))
                table_text(&out, json_is_true(cell) ? "yes" : "no");
            else
                table_number(&out, json_is_number(cell) ? json_number_value(cell) : (double)NAN);
        }
        table_end_row(&out);
    }
    code = table_close(&out);
    return code == EXIT_DONE ? -1 : code;
}

static int show(const cli *c, const exp_experiment *experiment, const json_t *result)
{
    if (c->json) {
        char *text = json_dumps(result, JSON_REAL_PRECISION(17));
        if (!text) return cli_fail(c, SOCK_ENOMEM);
        printf("%s\n", text);
        free(text);
    } else {
        experiment->print(result, stdout);
    }
    return cli_finish_output(c);
}

static void say(void *user, const char *line) { cli_note(user, "%s", line); }

static int parse_cap(const cli *c, const char *text, double *out)
{
    char *end;
    if (!text) return -1;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out > 0) || !isfinite(*out))
        return cli_usage_error(c, "--cap is '%s'; allowed: seconds, a number > 0", text);
    return -1;
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *cap = NULL, *names = NULL;
    bool quick = false, full = false;
    const cli_option own[] = {
        {"sets", 0, &names, NULL, "A,B,...", "only these data sets"},
        {"cap", 0, &cap, NULL, "S", "most seconds of one piece of work (default: the experiment's own)"},
        {"quick", 0, NULL, &quick, NULL, "a small part of it, in seconds"},
        {"full", 0, NULL, &full, NULL, "also what takes long"},
        {"output", 'o', &output, NULL, "FILE", "where the rows go, as CSV"},
        {0}};
    cli c;
    const exp_experiment *experiment = NULL;
    json_t *result = NULL;
    exp_settings settings = {0};
    int code = cli_begin(&c, &verb_experiment, own, count, arguments);
    if (code < 0 && c.operands == 0) {
        code = list_experiments(&c);
        goto out;
    }
    if (code < 0) code = cli_operands(&c, 1);
    if (code < 0) code = find_experiment(&c, &experiment);
    if (code < 0) code = check_sets(&c, experiment, names);
    if (code < 0) code = parse_cap(&c, cap, &settings.cap);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    settings.quick = quick;
    settings.full = full;
    settings.names = names;
    settings.say = say;
    settings.user = &c;
    settings.seed = (uint64_t)strtod(sock_options_get(c.opts, "seed"), NULL);
    sock_status status = experiment->run(c.ctx, &settings, &result);
    if (status < 0)
        code = cli_fail(&c, status);
    else
        code = output ? write_csv(&c, result, output) : -1;
    if (code < 0) code = show(&c, experiment, result);
out:
    json_decref(result);
    cli_end(&c);
    return code;
}

const cli_verb verb_experiment = {"experiment",
                                  "experiment NAME [-o FILE] [options]",
                                  "repeat a study (without NAME: list them)",
                                  "  sock experiment ablation --quick\n"
                                  "  sock experiment",
                                  keys,
                                  run};
