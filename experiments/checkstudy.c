/* checkstudy.c - how often does `sock check` object to the default's models of data that they are right for, and of
 * data that they are wrong for? And to the models that made the data: what it says of these is the level of its tests,
 * what it says of fits beyond that is about the fits. A row is a model with its check; a file of rows is gone on with.
 */
#define _GNU_SOURCE
#include "experiments/checkdata.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SCENE,
    SEED,
    MODEL,
    STEPS,
    OK,
    PATTERN,
    LAG1,
    RATIO,
    SCALE,
    FIT_S,
    CHECK_S,
    FIRST_P,
    COLUMNS = FIRST_P + SOCK_CHECK_TESTS
};

static const char *const columns[COLUMNS] = {"scene",    "seed",     "model",          "steps",       "ok",
                                             "pattern",  "lag1",     "variance_ratio", "mean_square", "fit_s",
                                             "check_s",  "p_scale",  "p_distribution", "p_drift",     "p_diffusion",
                                             "p_memory", "p_cycles", "p_volatility",   "p_time",      "p_horizon"};

/* What is checked: the default's fit, or the model that made the data. */
enum { FIT, TRUTH, MODELS };
static const char *const model_names[] = {"fit", "true", NULL};

static const char *const scene_names[] = {"ou",
                                          "doublewell",
                                          "gbm",
                                          "bowl",
                                          "one-path",
                                          "noise-0.1",
                                          "noise-0.3",
                                          "hidden",
                                          "jumps",
                                          "tilt",
                                          "season",
                                          "stiff-f",
                                          "stiff-a",
                                          "long-steps",
                                          "autoregression",
                                          "ou-long",
                                          "well-long",
                                          "ou-noise",
                                          "well-noise",
                                          "harmonic",
                                          "pendulum",
                                          "duffing",
                                          "vanderpol",
                                          "harmonic-noise",
                                          "pendulum-noise",
                                          "duffing-noise",
                                          "vanderpol-noise",
                                          "subjects",
                                          NULL};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- One data set ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *row_of(const check_scene *scene, uint64_t seed, int model, const sock_checks *c, const double seconds[2])
{
    json_t *row = json_pack("[s, I, s, I, b, s, o, o, o, o, o]", scene->name, (json_int_t)seed, model_names[model],
                            (json_int_t)c->steps, c->ok, c->pattern, number(c->lag1), number(c->variance_ratio),
                            number(c->scale), number(seconds[0]), number(seconds[1]));
    if (row) json_array_set_new(row, OK, json_integer(c->ok));
    for (int i = 0; row && i < SOCK_CHECK_TESTS; i++)
        json_array_append_new(row, c->test[i].valid ? number(c->test[i].p) : json_null());
    return row;
}

static sock_status fit(sock_context *ctx, const check_scene *scene, const sock_data *data, sock_model **out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    for (const char *const *o = scene->options; status >= 0 && o < scene->options + 6 && *o; o += 2)
        status = sock_options_set(ctx, opts, o[0], o[1]);
    if (status >= 0) status = sock_fit(ctx, data, opts, out);
    sock_options_free(opts);
    return status;
}

static sock_status make_and_check(sock_context *ctx, const check_scene *scene, uint64_t seed, int which,
                                  const sock_data *data, sock_checks *out, double seconds[2])
{
    check_time now = {scene, 0};
    sock_model *model = NULL;
    const double start = cpu_seconds();
    sys_instance *instance = NULL;
    sock_status status =
        which == FIT ? fit(ctx, scene, data, &model) : check_truth(ctx, scene, seed, &now, &instance, &model);
    seconds[0] = cpu_seconds() - start;
    if (status >= 0) status = sock_check(ctx, model, data, NULL, out);
    seconds[1] = cpu_seconds() - start - seconds[0];
    sock_model_free(model);
    sys_free(instance);
    return status;
}

static sock_status run_one(sock_context *ctx, const exp_settings *settings, const check_scene *scene, uint64_t seed,
                           int model, json_t *rows)
{
    sock_data *data = NULL;
    sock_checks checks;
    double seconds[2];
    char line[120];
    sock_status status = check_data(ctx, scene, seed, &data);
    if (status >= 0) status = make_and_check(ctx, scene, seed, model, data, &checks, seconds);
    sock_data_free(data);
    if (status < 0) return status;
    snprintf(line, sizeof line, "%-12s seed %-5llu %-4s %s", scene->name, (unsigned long long)seed, model_names[model],
             checks.pattern);
    if (settings->say) settings->say(settings->user, line);
    return json_array_append_new(rows, row_of(scene, seed, model, &checks, seconds)) == 0 ? SOCK_OK : SOCK_ENOMEM;
}

static int is_of(const json_t *row, const check_scene *scene, int model)
{
    return strcmp(exp_text_at(row, SCENE), scene->name) == 0 &&
           strcmp(exp_text_at(row, MODEL), model_names[model]) == 0;
}

static int is_done(const json_t *rows, const check_scene *scene, uint64_t seed, int model)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_of(row, scene, model) && exp_number_at(row, SEED) == (double)seed) return 1;
    }
    return 0;
}

/* A wrapped model knows no measurement noise, so it is the truth of data without it alone. */
static int is_asked(const exp_settings *settings, const check_scene *scene, int model)
{
    if (model == TRUTH && !(scene->right && scene->noise == 0)) return 0;
    return !settings->presets || exp_is_named(settings->presets, model_names[model]);
}

/* Quick: the sets of the quick promise, others are for the study. */
static int is_wanted(const exp_settings *settings, const check_scene *scene)
{
    static const char *const quick = "ou,doublewell,gbm,noise-0.3,hidden,jumps,tilt";
    if (settings->names) return exp_is_named(settings->names, scene->name);
    return !settings->quick || exp_is_named(quick, scene->name);
}

static sock_status run_all(sock_context *ctx, const exp_settings *settings, const json_t *names, json_t *rows)
{
    const size_t seeds = settings->seeds ? settings->seeds : 40;
    sock_status status = SOCK_OK;
    for (size_t i = 0; i < check_scene_count * MODELS; i++) {
        const check_scene *scene = &check_scenes[i / MODELS];
        const int model = (int)(i % MODELS);
        if (!is_wanted(settings, scene) || !is_asked(settings, scene, model)) continue;
        for (size_t k = 0; status >= 0 && k < seeds; k++) {
            if (is_done(rows, scene, settings->seed + k, model)) continue;
            status = run_one(ctx, settings, scene, settings->seed + k, model, rows);
            if (status >= 0 && settings->output) status = exp_rows_write(ctx, settings->output, names, rows);
        }
    }
    return status;
}

/* ---- Over the seeds ---- */

typedef struct tally {
    size_t sets, objections, named, rejected[SOCK_CHECK_TESTS];
    double lag1, ratio, scale, fit, check;
} tally;

static void add_row(const json_t *row, const check_scene *scene, tally *t)
{
    t->sets++;
    t->objections += exp_number_at(row, OK) == 0;
    t->named += scene->pattern && strncmp(exp_text_at(row, PATTERN), scene->pattern, strlen(scene->pattern)) == 0;
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) t->rejected[i] += exp_number_at(row, (size_t)FIRST_P + (size_t)i) < 0.05;
    t->lag1 += exp_number_at(row, LAG1);
    t->ratio += exp_number_at(row, RATIO);
    t->scale += exp_number_at(row, SCALE);
    t->fit += exp_number_at(row, FIT_S);
    t->check += exp_number_at(row, CHECK_S);
}

static json_t *summary_of(const check_scene *scene, int model, const tally *t)
{
    const double sets = (double)t->sets;
    json_t *rejected = json_array();
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        json_array_append_new(rejected, json_real((double)t->rejected[i] / sets));
    return json_pack("{s:s, s:s, s:s, s:b, s:I, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "scene", scene->name,
                     "model", model_names[model], "says", scene->says, "right", scene->right, "sets",
                     (json_int_t)t->sets, "rejected", rejected, "objections", (double)t->objections / sets, "named",
                     (double)t->named / sets, "goal", scene->goal, "lag1", number(t->lag1 / sets), "variance_ratio",
                     number(t->ratio / sets), "mean_square", number(t->scale / sets), "fit_s", number(t->fit / sets),
                     "check_s", number(t->check / sets));
}

static json_t *summarise(const json_t *rows)
{
    json_t *summary = json_array();
    for (size_t s = 0; s < check_scene_count * MODELS; s++) {
        const check_scene *scene = &check_scenes[s / MODELS];
        const int model = (int)(s % MODELS);
        tally t = {0};
        for (size_t i = 0; i < json_array_size(rows); i++)
            if (is_of(json_array_get(rows, i), scene, model)) add_row(json_array_get(rows, i), scene, &t);
        if (t.sets) json_array_append_new(summary, summary_of(scene, model, &t));
    }
    return summary;
}

/* Right models are judged together: so many sets tell 6 % from 10 %. Quick allows 10 %. */
static void judge_right(const json_t *summary, int model, double most, json_t *failures)
{
    double sets = 0, objections = 0;
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        const double count = json_number_value(json_object_get(entry, "sets"));
        if (!json_is_true(json_object_get(entry, "right")) ||
            strcmp(json_string_value(json_object_get(entry, "model")), model_names[model]) != 0)
            continue;
        sets += count;
        objections += json_number_value(json_object_get(entry, "objections")) * count;
    }
    if (objections > most * sets)
        json_array_append_new(failures,
                              json_sprintf("objections to %.1f %% of %s, the goal is %.0f %%", 100 * objections / sets,
                                           model == FIT ? "the fits that are right" : "the true models", 100 * most));
}

static json_t *failures_of(const json_t *summary, int quick)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        const double share = json_number_value(json_object_get(entry, "objections"));
        const double goal = json_number_value(json_object_get(entry, "goal"));
        if (!json_is_true(json_object_get(entry, "right")) && share < goal)
            json_array_append_new(failures, json_sprintf("%s: objections to %.0f %% of the models, the goal is %.0f %%",
                                                         json_string_value(json_object_get(entry, "scene")),
                                                         100 * share, 100 * goal));
    }
    for (int model = 0; model < MODELS; model++) judge_right(summary, model, quick ? 0.1 : 0.06, failures);
    return failures;
}

static sock_status run_study(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    json_t *names = exp_columns(COLUMNS, columns), *rows = NULL;
    sock_status status =
        exp_rows_resume(settings->output, names, json_array_size(names), settings->say, settings->user, &rows);
    if (status >= 0 && !settings->show) status = run_all(ctx, settings, names, rows);
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    json_t *summary = summarise(rows);
    *result = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "experiment", "check", "first", (json_int_t)settings->seed,
                        "failures", failures_of(summary, settings->quick), "summary", summary, "columns", names, "rows",
                        rows);
    return *result ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- For people ---- */

static void print_numbers(const json_t *entry, FILE *stream)
{
    static const char *const shown[] = {"objections",  "named", "lag1",   "variance_ratio",
                                        "mean_square", "fit_s", "check_s"};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const json_t *value = json_object_get(entry, shown[k]);
        if (json_is_number(value))
            fprintf(stream, " %7.2f", json_number_value(value));
        else
            fprintf(stream, " %7s", "-");
    }
}

static void print_study(const json_t *result, FILE *stream)
{
    const json_t *summary = json_object_get(result, "summary");
    fprintf(stream,
            "share of the tests below 5 %%; objections after Holm; verdicts of the kind expected\n\n%-14s %-5s %4s",
            "scene", "model", "sets");
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) fprintf(stream, " %5.5s", columns[FIRST_P + i] + 2);
    fprintf(stream, " %7s %7s %7s %7s %7s %7s %7s\n", "objects", "named", "lag1", "ratio", "v^2", "fit s", "check s");
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i), *rejected = json_object_get(entry, "rejected");
        fprintf(stream, "%-14s %-5s %4lld", json_string_value(json_object_get(entry, "scene")),
                json_string_value(json_object_get(entry, "model")),
                (long long)json_integer_value(json_object_get(entry, "sets")));
        for (size_t k = 0; k < SOCK_CHECK_TESTS; k++)
            fprintf(stream, "  %4.2f", json_number_value(json_array_get(rejected, k)));
        print_numbers(entry, stream);
        fprintf(stream, "  %s\n", json_string_value(json_object_get(entry, "says")));
    }
}

const exp_experiment exp_check = {
    .name = "check",
    .summary = "what sock check says of models that are right and of models that are wrong",
    .takes = EXP_TAKES_SEEDS | EXP_TAKES_SHOW,
    .sets = scene_names,
    .presets = model_names,
    .resumes = 1,
    .run = run_study,
    .print = print_study,
};
