/* cmd_experiment.c - sock experiment: studies that can be repeated, one row of the table each. */
#define _GNU_SOURCE
#include "cli.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"

#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const keys[] = {"seed", NULL};

static const exp_experiment *const experiments[] = {&exp_table1,   &exp_table2,   &exp_all,      &exp_figures,
                                                    &exp_ablation, &exp_accuracy, &exp_edges,    &exp_coverage,
                                                    &exp_check,    &exp_noise,    &exp_structure};
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
    char list[256] = "", meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(c->operand[0], strlen(c->operand[0]));
    for (int i = 0; i < EXPERIMENTS; i++) {
        sk_nearest_try(&near, experiments[i]->name);
        if (strcmp(experiments[i]->name, c->operand[0]) == 0) {
            *out = experiments[i];
            return -1;
        }
        strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, experiments[i]->name, sizeof list - strlen(list) - 1);
    }
    return cli_usage_error(c, "unknown experiment '%s'%s; allowed: %s", c->operand[0], sk_meant(&near, meant), list);
}

/* Every name of the list must be one of the experiment's. */
static int check_names(const cli *c, const char *option, const char *const *allowed, const char *names)
{
    for (const char *p = names; p && *p; p += *p == ',') {
        size_t length = strcspn(p, ",");
        const char *const *name = allowed;
        char list[400] = "";
        while (*name && (strlen(*name) != length || strncmp(*name, p, length) != 0)) {
            strncat(list, name == allowed ? "" : ", ", sizeof list - strlen(list) - 1);
            strncat(list, *name++, sizeof list - strlen(list) - 1);
        }
        if (!*name) return cli_usage_error(c, "--%s: '%.*s' is not known; allowed: %s", option, (int)length, p, list);
        p += length;
    }
    return -1;
}

/* An option that the experiment would not heed is refused. */
static int check_taken(const cli *c, const exp_experiment *experiment, unsigned needs, bool given, const char *option)
{
    if (!given || (experiment->takes & needs)) return -1;
    return cli_usage_error(c, "--%s does not belong to %s", option, experiment->name);
}

/* An experiment that did not show what it should is a failed run, after its result was given out. */
static int verdict(const cli *c, const json_t *result)
{
    const json_t *failures = json_object_get(result, "failures");
    int code = cli_finish_output(c);
    for (size_t i = 0; i < json_array_size(failures); i++)
        code = cli_failure(c, "%s", json_string_value(json_array_get(failures, i)));
    return code;
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
    return verdict(c, result);
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

static int parse_count(const cli *c, const char *option, const char *text, unsigned long least, uint64_t *out)
{
    char *end;
    if (!text) return -1;
    unsigned long long value;
    if (!cli_whole(text, &end, &value) || *end || value < least || value > 1000000)
        return cli_usage_error(c, "--%s is '%s'; allowed: a whole number from %lu to 10^6", option, text, least);
    *out = value;
    return -1;
}

/* As the options came; NULL: not given. */
typedef struct given {
    const char *names, *presets, *methods, *levels, *cap, *seeds, *first, *output;
    bool quick, full, mmd, show, fill;
} given;

/* The ways to fit, by the name that the experiment has for them. */
static int check_choice(const cli *c, const exp_experiment *experiment, const char *option, const char *names)
{
    const char *own = experiment->presets_option ? experiment->presets_option : "presets";
    if (!names) return -1;
    if (!experiment->presets || strcmp(own, option) != 0)
        return cli_usage_error(c, "--%s does not belong to %s", option, experiment->name);
    return check_names(c, option, experiment->presets, names);
}

/* Makes the folder where the files go. */
static int check_folder(const cli *c, const char *folder)
{
    struct stat there;
    if (!folder) return -1;
    if (strcmp(folder, "-") == 0)
        return cli_usage_error(c, "the files need a folder: -o DIR; the text goes to standard output without -o");
    if (mkdir(folder, 0777) == 0) return -1;
    if (errno == EEXIST && stat(folder, &there) == 0 && S_ISDIR(there.st_mode)) return -1;
    return cli_failure(c, "%s: the folder cannot be made: %s", folder, strerror(errno));
}

static int check_given(const cli *c, const exp_experiment *experiment, const given *g)
{
    bool seed = strcmp(sock_options_get(c->opts, "seed"), "0") != 0;
    int code = check_names(c, "sets", experiment->sets, g->names);
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_SEED, seed, "seed");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_CAP, g->cap, "cap");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_FULL, g->full, "full");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_SEEDS, g->seeds, "seeds");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_SEEDS, g->first, "first");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_MMD, g->mmd, "mmd");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_SHOW, g->show, "show");
    if (code < 0) code = check_taken(c, experiment, EXP_TAKES_SHOW, g->fill, "fill");
    if (code < 0 && g->fill && g->show) code = cli_usage_error(c, "--fill computes and --show does not: give one");
    if (code < 0 && g->fill && !g->output) code = cli_usage_error(c, "--fill needs the folder of the rows: -o DIR");
    if (code < 0) code = check_choice(c, experiment, "presets", g->presets);
    if (code < 0) code = check_choice(c, experiment, "methods", g->methods);
    if (code < 0) code = check_choice(c, experiment, "levels", g->levels);
    if (code < 0 && experiment->needs_output && !g->output)
        code = cli_usage_error(c, "%s: give the folder for the files: -o DIR", experiment->name);
    if (code < 0 && experiment->folder && !g->show) return check_folder(c, g->output);
    if (code < 0 && g->show) return code;
    return code < 0 ? cli_check_output(c, g->output) : code;
}

static int make_settings(cli *c, const exp_experiment *experiment, const given *g, exp_settings *settings)
{
    uint64_t seeds = 0, first = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    bool keeps = experiment->resumes && g->output && strcmp(g->output, "-") != 0;
    int code = check_given(c, experiment, g);
    if (code < 0) code = parse_cap(c, g->cap, &settings->cap);
    if (code < 0) code = parse_count(c, "seeds", g->seeds, 1, &seeds);
    if (code < 0) code = parse_count(c, "first", g->first, 0, &first);
    settings->seeds = (size_t)seeds;
    settings->seed = first;
    settings->quick = g->quick;
    settings->full = g->full;
    settings->mmd = g->mmd;
    settings->show = g->show;
    settings->fill = g->fill;
    settings->names = g->names;
    settings->presets = g->methods ? g->methods : g->levels ? g->levels : g->presets;
    settings->output = keeps ? g->output : NULL;
    settings->say = say;
    settings->user = c;
    return code;
}

static int run(int count, char **arguments)
{
    cli_keep_memory();
    given g = {0};
    const cli_option own[] = {
        {"sets", 0, &g.names, NULL, "A,B,...", "only these data sets"},
        {"methods", 0, &g.methods, NULL, "A,B,...", "only these rows (tables)"},
        {"presets", 0, &g.presets, NULL, "A,B,...", "only these ways to fit (accuracy), or fit, true (check)"},
        {"levels", 0, &g.levels, NULL, "A,B,...", "only these levels of noise (noise)"},
        {"seeds", 0, &g.seeds, NULL, "K", "so many data sets of each kind (tables, accuracy, coverage)"},
        {"first", 0, &g.first, NULL, "S", "the first of these seeds (tables, accuracy, coverage; default 0)"},
        {"mmd", 0, NULL, &g.mmd, NULL, "score simulated paths too (accuracy)"},
        {"cap", 0, &g.cap, NULL, "S", "most seconds of one piece of work (tables, ablation)"},
        {"quick", 0, NULL, &g.quick, NULL, "a small part of it, in seconds"},
        {"full", 0, NULL, &g.full, NULL, "also what takes long (ablation); slow sets with all seeds (tables)"},
        {"fill", 0, NULL, &g.fill, NULL,
         "only give older rows the newer columns, by fitting again without paths (tables)"},
        {"show", 0, NULL, &g.show, NULL, "compute nothing, only show the rows that are there (tables, noise)"},
        {"output", 'o', &g.output, NULL, "FILE|DIR",
         "where the rows go, as CSV (tables, figures: a folder); tables, accuracy and coverage go on with those in it"},
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
    if (code < 0) code = make_settings(&c, experiment, &g, &settings);
    if (code >= 0) goto out;
    sock_status status = experiment->run(c.ctx, &settings, &result);
    if (status >= 0 && g.output && !settings.output && !experiment->folder)
        status = exp_rows_write(c.ctx, g.output, json_object_get(result, "columns"), json_object_get(result, "rows"));
    code = status < 0 ? cli_fail(&c, status) : show(&c, experiment, result);
out:
    json_decref(result);
    cli_end(&c);
    return code;
}

const cli_verb verb_experiment = {"experiment",
                                  "experiment NAME [-o FILE|DIR] [options]",
                                  "repeat a study (without NAME: list them)",
                                  "  sock experiment table1 --quick --seeds 1 --sets expdyn -o results\n"
                                  "  sock experiment figures --sets expdyn -o figures\n"
                                  "  sock experiment ablation --quick\n"
                                  "  sock experiment accuracy --seeds 3 --sets gbm,expdyn -o accuracy.csv",
                                  keys,
                                  run};
