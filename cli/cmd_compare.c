/* cmd_compare.c - sock compare: SOCK, its rivals and simple baselines on one data set, in one table. */
#define _GNU_SOURCE
#include "comparetable.h"
#include "knowntruth.h"
#include "modeldata.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const keys[] = {"delta",     "mmd-paths", "mmd-step", "seed",  "bounds",   "lower", "upper",
                                   "id",        "time",      "state",    "group", "grouping", "dt",    "missing",
                                   "time-unit", "log",       "wide",     "every", "budget",   NULL};

/* Without --methods: what is quick enough to try first. The truth joins where it is known. */
#define DEFAULT_METHODS "sock,bisde,bisde-free,gedmd,nw,constant"

/* ---- The list of methods ---- */

static void list_parameters(const cmp_method *m)
{
    for (const cmp_parameter *p = m->parameters; p && p->key; p++)
        printf("      %-10s %-12s %s: %s\n", p->key, p->fallback, p->help, p->allowed);
}

static json_t *method_to_json(const cmp_method *m)
{
    json_t *parameters = json_object();
    for (const cmp_parameter *p = m->parameters; p && p->key; p++)
        json_object_set_new(
            parameters, p->key,
            json_pack("{s:s, s:s, s:s}", "default", p->fallback, "allowed", p->allowed, "help", p->help));
    return json_pack("{s:s, s:s, s:o}", "group", m->group, "title", m->title, "parameters", parameters);
}

static int list_methods(const cli *c)
{
    json_t *list = c->json ? json_object() : NULL;
    const cmp_method *m;
    for (size_t i = 0; (m = cmp_method_at(i)) != NULL; i++) {
        if (c->json) {
            json_object_set_new(list, m->name, method_to_json(m));
            continue;
        }
        printf("%-18s %s\n", m->name, m->title);
        if (c->verbose) list_parameters(m);
    }
    char *text = c->json ? json_dumps(list, JSON_INDENT(1)) : NULL;
    if (text) printf("%s\n", text);
    if (!c->json && !c->verbose) printf("\nWith --verbose: their parameters, as NAME:KEY=VALUE takes them.\n");
    free(text);
    json_decref(list);
    return cli_finish_output(c);
}

/* ---- Files ---- */

typedef struct sources {
    char *train, *test, *validation, *truth; /* paths; NULL: none */
    sock_data *train_data, *test_data, *validation_data;
} sources;

static void free_sources(sources *s)
{
    free(s->train);
    free(s->test);
    free(s->validation);
    free(s->truth);
    sock_data_free(s->train_data);
    sock_data_free(s->test_data);
    sock_data_free(s->validation_data);
}

/* *out: folder/name when there is such a file. Answers as cli_begin. */
static int find_in(const cli *c, const char *folder, const char *name, char **out)
{
    char *path = NULL;
    struct stat info;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return cli_fail(c, SOCK_ENOMEM);
    if (stat(path, &info) == 0)
        *out = path;
    else
        free(path);
    return -1;
}

static int copy_path(const cli *c, const char *path, char **out)
{
    if (!path) return -1;
    *out = strdup(path);
    return *out ? -1 : cli_fail(c, SOCK_ENOMEM);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int look_into_folder(const cli *c, const char *folder, const char *validation, const char *known, sources *s)
{
    int code = find_in(c, folder, "train.csv", &s->train);
    if (code < 0) code = find_in(c, folder, "test.csv", &s->test);
    if (code < 0 && !validation) code = find_in(c, folder, "validation.csv", &s->validation);
    if (code < 0 && !known) code = find_in(c, folder, "truth.json", &s->truth);
    if (code < 0 && (!s->train || !s->test))
        code = cli_usage_error(c, "%s: holds no %s; give a folder of 'sock dataset', or the files themselves", folder,
                               s->train ? "test.csv" : "train.csv");
    return code;
}

/* A folder as 'sock dataset' writes it, training and test file, or one file to be split. */
static int find_sources(const cli *c, const char *validation, const char *known, sources *s)
{
    int code = c->operands > 2 ? cli_operands(c, 2) : -1;
    if (code >= 0) return code;
    if (c->operands == 1 && is_folder(c->operand[0]))
        code = look_into_folder(c, c->operand[0], validation, known, s);
    else
        code = copy_path(c, c->operand[0], &s->train);
    if (code < 0 && c->operands == 2) code = copy_path(c, c->operand[1], &s->test);
    if (code < 0) code = copy_path(c, validation, &s->validation);
    return code < 0 ? copy_path(c, known, &s->truth) : code;
}

/* A file that is read must not be written. */
static int check_output(const cli *c, const sources *s, const char *output)
{
    char *inputs[] = {s->train, s->test, s->validation, s->truth};
    cli with = *c;
    char *given[4];
    with.operands = 0;
    with.operand = given;
    for (int i = 0; i < 4; i++)
        if (inputs[i]) given[with.operands++] = inputs[i];
    return cli_check_output(&with, output);
}

/* A fifth of the groups. Where one group has most of the trajectories (the others lost a point, say), the first part
 * that leaves at least half of them to the fit; some part does. */
static sock_status hold_out(const cli *c, const sock_data *all, size_t parts, sources *s)
{
    uint64_t seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    sock_status status = SOCK_OK;
    for (size_t part = 0; status >= 0 && !s->train_data; part++) {
        status = sock_data_split(c->ctx, all, parts, part, seed, &s->train_data, &s->test_data);
        if (status < 0 || 2 * sock_data_trajectories(s->test_data) <= sock_data_trajectories(all)) return status;
        sock_data_free(s->train_data);
        sock_data_free(s->test_data);
        s->train_data = s->test_data = NULL;
    }
    return status;
}

/* One file: a part of it is held out. */
static int split_data(const cli *c, sources *s)
{
    sock_data *all = s->train_data;
    size_t groups = sock_data_groups(all), parts = groups < 5 ? groups : 5;
    if (groups < 2 && sock_data_trajectories(all) > 1)
        return cli_usage_error(c,
                               "%s: its trajectories form one group, so no part can be held out; give test data as "
                               "well, or --grouping none",
                               s->train);
    if (groups < 2)
        return cli_usage_error(c, "%s: holds one trajectory, so no part can be held out; give test data as well",
                               s->train);
    s->train_data = NULL;
    sock_status status = hold_out(c, all, parts, s);
    sock_data_free(all);
    if (status < 0) return cli_fail(c, status);
    cli_note(c, "%s: %zu of %zu trajectories are held out as test data", s->train, sock_data_trajectories(s->test_data),
             sock_data_trajectories(s->test_data) + sock_data_trajectories(s->train_data));
    return -1;
}

static int read_data(const cli *c, sources *s)
{
    sock_status status = sock_data_read(c->ctx, s->train, c->opts, &s->train_data);
    if (status < 0) return cli_fail(c, status);
    cli_caveat(c, status);
    size_t d = sock_data_dim(s->train_data);
    const char **names = calloc(d, sizeof *names);
    int code = names ? -1 : cli_fail(c, SOCK_ENOMEM);
    for (size_t k = 0; names && k < d; k++) names[k] = sock_data_name(s->train_data, k);
    if (code < 0 && s->test) code = named_data_read(c, d, names, "the training data", s->test, &s->test_data);
    if (code < 0 && s->validation)
        code = named_data_read(c, d, names, "the training data", s->validation, &s->validation_data);
    free((void *)names);
    cli_keep_memory();
    return code < 0 && !s->test ? split_data(c, s) : code;
}

static int check_truth(const cli *c, const truth *t, const sources *s)
{
    if (t->model && sock_model_order(t->model) == 2)
        return cli_usage_error(c, "the truth %s is of order 2; compare knows order 1", t->source);
    if (t->model && sock_model_inputs(t->model))
        return cli_usage_error(c, "the truth %s has the input %s; compare knows no inputs", t->source,
                               sock_model_input_name(t->model, 0));
    if (!t->model || sock_model_dim(t->model) == sock_data_dim(s->train_data)) return -1;
    return cli_usage_error(c, "the truth %s has %zu states, the data %zu", t->source, sock_model_dim(t->model),
                           sock_data_dim(s->train_data));
}

/* ---- The scores' delta ---- */

static bool is_given(int count, char **arguments, const char *option)
{
    size_t length = strlen(option);
    for (int i = 0; i < count; i++)
        if (strncmp(arguments[i], option, length) == 0 && (!arguments[i][length] || arguments[i][length] == '='))
            return true;
    return false;
}

/* Where the true diffusion is singular its system says with which delta it is scored. */
static int take_delta(const cli *c, const truth *t, bool given, comparison *all)
{
    char text[40];
    if (!given && t->model && t->instance->system->delta > 0) {
        snprintf(text, sizeof text, "%.17g", t->instance->system->delta);
        sock_status status = sock_options_set(c->ctx, c->opts, "delta", text);
        if (status < 0) return cli_fail(c, status);
        all->delta_source = "as is usual for this truth, whose a is singular";
    }
    const char *budget = sock_options_get(c->opts, "budget");
    all->delta = strtod(sock_options_get(c->opts, "delta"), NULL);
    all->budget = strcmp(budget, "auto") == 0 ? 0 : strtod(budget, NULL);
    return -1;
}

/* ---- The run ---- */

static cmp_case make_case(const cli *c, const comparison *all, const truth *t)
{
    return (cmp_case){.train = all->train,
                      .validation = all->validation,
                      .test = all->test,
                      .truth = t->model,
                      .options = c->opts,
                      .budget = all->budget};
}

/* Every method in turn; with a file for the table, it holds the rows so far at any time. */
static int run_methods(const cli *c, const cmp_spec *specs, size_t count, const truth *t, const char *output,
                       comparison *all)
{
    const cmp_case the_case = make_case(c, all, t);
    const bool file = output && strcmp(output, "-") != 0;
    for (size_t i = 0; i < count; i++) {
        size_t made = 0;
        sock_status status = cmp_run(c->ctx, &specs[i], &the_case, all->rows + all->count, &made);
        if (status < 0) {
            if (file && all->count) cli_note(c, "%s holds the rows so far", output);
            return cli_fail(c, status);
        }
        for (size_t k = 0; k < made && isatty(STDERR_FILENO); k++) comparison_say(c, &all->rows[all->count + k]);
        all->count += made;
        if (file && comparison_write(c, all, output) != EXIT_DONE) return EXIT_FAILED;
    }
    return -1;
}

/* A comparison without any number is no comparison, whatever was fitted. */
static int judge(const cli *c, const comparison *all)
{
    bool fitted = false, scored = false;
    for (size_t i = 0; i < all->count; i++) {
        fitted = fitted || all->rows[i].made;
        scored = scored || comparison_has_score(&all->rows[i]);
    }
    if (!fitted) return cli_failure(c, "no method could be fitted to the data; the table says why");
    if (!scored) return cli_failure(c, "no method has a score on these data; the table says why");
    return EXIT_DONE;
}

static int show(const cli *c, const comparison *all, const char *output)
{
    if (output && strcmp(output, "-") == 0) {
        int code = comparison_write(c, all, output);
        if (code != EXIT_DONE) return code;
    } else if (c->json) {
        int code = comparison_print_json(c, all);
        if (code >= 0) return code;
    } else {
        comparison_print(all);
    }
    int code = cli_finish_output(c);
    return code == EXIT_DONE ? judge(c, all) : code;
}

static int run(int count, char **arguments)
{
    const char *methods = NULL, *validation = NULL, *output = NULL;
    truth t = {0};
    const cli_option own[] = {
        {"methods", 0, &methods, NULL, "LIST",
         "NAME or NAME:KEY=VALUE,..., commas between; groups: bisde-all, neural, all, ... (default: the quick ones)"},
        {"validation", 0, &validation, NULL, "FILE",
         "for methods that choose on such data; the others are fitted to it as well"},
        {"truth", 0, &t.source, NULL, "TRUTH", TRUTH_HELP},
        {"output", 'o', &output, NULL, "FILE", "the table as CSV, with every column"},
        {0}};
    cli c;
    sources s = {0};
    cmp_spec *specs = NULL;
    size_t wanted = 0;
    comparison all = {0};
    int code = cli_begin(&c, &verb_compare, own, count, arguments);
    if (code < 0 && c.operands == 0) {
        code = list_methods(&c);
        goto out;
    }
    if (code < 0) code = find_sources(&c, validation, t.source, &s);
    if (code < 0) code = check_output(&c, &s, output);
    if (code >= 0) goto out;
    const char *fallback = s.truth ? DEFAULT_METHODS ",truth" : DEFAULT_METHODS;
    sock_status status = cmp_specs_parse(c.ctx, methods ? methods : fallback, &specs, &wanted);
    code = status < 0 ? cli_fail(&c, status) : read_data(&c, &s);
    t.source = s.truth;
    if (code < 0) code = truth_load(&c, &t);
    if (code < 0) code = check_truth(&c, &t, &s);
    if (code < 0) code = take_delta(&c, &t, is_given(count, arguments, "--delta"), &all);
    if (code < 0) all.rows = calloc(wanted * CMP_MOST_ROWS, sizeof *all.rows);
    if (code < 0 && !all.rows) code = cli_fail(&c, SOCK_ENOMEM);
    if (code >= 0) goto out;
    all.train = s.train_data;
    all.validation = s.validation_data;
    all.test = s.test_data;
    all.truth = t.model ? t.instance->system->name : NULL;
    all.truth_approximate = t.model && t.instance->system->approximate;
    code = run_methods(&c, specs, wanted, &t, output, &all);
    if (code < 0) code = show(&c, &all, output);
out:
    free(all.rows);
    cmp_specs_free(specs);
    truth_clear(&t);
    free_sources(&s);
    cli_end(&c);
    return code;
}

const cli_verb verb_compare = {"compare",
                               "compare DIR|DATA|TRAIN TEST [--methods LIST] [--truth TRUTH] [-o FILE] [options]",
                               "SOCK, its rivals and baselines on the same data (without arguments: list them)",
                               "  sock compare data --methods bisde,gedmd,constant,truth --mmd-paths 50\n"
                               "  sock compare train.csv test.csv --methods sock,bisde:degree=2,gedmd -o table.csv",
                               keys,
                               run};
