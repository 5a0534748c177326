/* accuracy.c - how near the estimators come to the truth: data sets x seeds x ways to fit (presets).
 *
 *   default  the search of `sock fit` on training and validation data joined
 *   paper    the paper's protocol: fitted on the training data, chosen on the validation data
 *   oracle   the true form of f and a with one factor of each estimated (scalefit.h): the floor of the data
 *
 * All are scored on the test data of the same seed with the delta of the system. A row is kept as soon as it is known;
 * with a file of rows, only those that are not there are computed. */
#include "api/record.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "experiments/scalefit.h"
#include "experiments/tablespec.h"
#include "systems/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Goals for the medians of the default: P, RE_f, RE_a, P'; 0: none. seeds: how many when nothing is said. */
typedef struct study_set {
    const char *name;
    double goal[4];
    size_t seeds;
} study_set;

static const study_set sets[] = {{"gbm", {100.1, 4, 2, 0}, 10},
                                 {"expdyn", {101.3, 9, 14, 0}, 10},
                                 {"dense", {100.1, 0.6, 3, 0}, 10},
                                 {"lorenz96", {100.1, 2.5, 3, 0}, 3},
                                 {"sir", {0, 0, 0, 8.3}, 5}};
static const char *const set_names[] = {"gbm", "expdyn", "dense", "lorenz96", "sir", NULL};

enum { DEFAULT, PAPER, ORACLE };
static const char *const preset_names[] = {"default", "paper", "oracle", NULL};
enum { PRESETS = 3 };

static const char *const columns[] = {"set",       "preset",    "seed",  "status",     "P",       "P_raw",
                                      "RE_f",      "RE_a",      "mmd2",  "mmd2_truth", "seconds", "drift",
                                      "drift_dof", "diffusion", "floor", "remark"};
enum {
    SET,
    PRESET,
    SEED,
    STATUS,
    P,
    P_RAW,
    RE_F,
    RE_A,
    MMD2,
    MMD2_TRUTH,
    SECONDS,
    DRIFT,
    DOF,
    DIFFUSION,
    FLOOR,
    REMARK
};

/* The data of one set and seed. */
typedef struct study {
    sock_context *ctx;
    const exp_settings *settings;
    const study_set *set;
    uint64_t seed;
    sys_instance *instance;
    sock_model *truth;
    sock_data *part[SYS_SETS], *joined;
    json_t *columns, *rows;
} study;

static double wall_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const exp_settings *settings, const char *line)
{
    if (settings->say) settings->say(settings->user, line);
}

/* ---- Data ---- */

static sock_status make_data(study *s)
{
    sock_status status = sys_new(s->ctx, sys_find(s->set->name), s->seed, &s->instance);
    if (status >= 0) status = sys_truth(s->ctx, s->instance, &s->truth);
    for (int i = 0; status >= 0 && i < SYS_SETS; i++)
        status = sys_generate(s->ctx, s->instance, (sys_set)i, &s->part[i]);
    if (status >= 0) status = sock_data_join(s->ctx, s->part[SYS_TRAIN], s->part[SYS_VALIDATION], NULL, &s->joined);
    return status;
}

static void free_data(study *s)
{
    for (int i = 0; i < SYS_SETS; i++) sock_data_free(s->part[i]);
    sock_data_free(s->joined);
    sock_model_free(s->truth);
    sys_free(s->instance);
}

/* ---- One fit ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The paper adds delta = 1e-3 to the covariance of a step where a is singular. Where the noise of a step is smaller
 * than that, which the seed decides, a = 0 then has the best likelihood; so never more than a hundredth of the median
 * squared step that is not zero. */
static double delta_for_search(const study *s)
{
    const sock_data *data = s->part[SYS_TRAIN];
    size_t d = sock_data_dim(data), count = 0;
    double delta = s->instance->system->delta, *square = malloc(sock_data_points(data) * sizeof *square);
    for (size_t j = 0; square && j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) sum += pow(x[(i + 1) * d + k] - x[i * d + k], 2) / (double)d;
            if (sum > 0) square[count++] = sum;
        }
    }
    if (count) {
        qsort(square, count, sizeof *square, ascending);
        delta = fmin(delta, 0.01 * square[count / 2]);
    }
    free(square);
    return delta;
}

static sock_status set_paper_options(study *s, sock_options *opts)
{
    char delta[40];
    snprintf(delta, sizeof delta, "%.17g", delta_for_search(s));
    sock_status status = sock_options_set(s->ctx, opts, "preset", "paper");
    if (status >= 0) status = sock_options_set(s->ctx, opts, "delta", delta);
    return status < 0 ? status : sock_options_set_validation(s->ctx, opts, s->part[SYS_VALIDATION]);
}

static sock_status fit(study *s, int preset, exp_oracle *oracle, sock_model **model)
{
    if (preset == ORACLE) return exp_oracle_fit(s->ctx, s->instance, s->joined, oracle, model);
    sock_options *opts = sock_options_new(s->ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && preset == PAPER) status = set_paper_options(s, opts);
    if (status >= 0) status = sock_fit(s->ctx, preset == PAPER ? s->part[SYS_TRAIN] : s->joined, opts, model);
    sock_options_free(opts);
    return status;
}

/* Scored as in the tables. */
static sock_status set_score_options(study *s, sock_options *opts)
{
    const exp_table_set *as = exp_table_set_find(s->set->name);
    const int bounded = as->unit_box;
    char delta[40], seed[40];
    snprintf(delta, sizeof delta, "%.17g", s->instance->system->delta);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
    const char *const wanted[][2] = {{"delta", delta},
                                     {"seed", seed},
                                     {"mmd-step", as->mmd_step},
                                     {"mmd-paths", s->settings->mmd ? as->mmd_paths : "0"},
                                     {"bounds", bounded ? "clip" : "none"},
                                     {"lower", bounded ? "0" : "none"},
                                     {"upper", bounded ? "1" : "none"}};
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < COUNT(wanted); i++)
        status = sock_options_set(s->ctx, opts, wanted[i][0], wanted[i][1]);
    return status;
}

static sock_status score(study *s, const sock_model *model, sock_scores *out)
{
    sock_options *opts = sock_options_new(s->ctx);
    sock_status status = opts ? set_score_options(s, opts) : SOCK_ENOMEM;
    if (status >= 0) status = sock_score(s->ctx, model, s->part[SYS_TEST], s->part[SYS_TRAIN], s->truth, opts, out);
    sock_options_free(opts);
    return status;
}

/* ---- Its row ---- */

static void set_cell(json_t *row, size_t column, json_t *value) { json_array_set_new(row, column, value); }

static void set_value(json_t *row, size_t column, const sock_value *value)
{
    if (value->valid) set_cell(row, column, json_real(value->value));
}

/* "linear 50% + affine 50%"; of a drift that is no average, and of a plain fit, the one kernel without its share. */
static void set_parts(json_t *row, size_t column, const sk_parts *parts, bool shares)
{
    char text[400] = "";
    size_t used = 0;
    if (!shares && parts->count) set_cell(row, column, json_string(parts->part->kernel));
    for (size_t i = 0; shares && i < parts->count && used < sizeof text; i++) {
        const sk_part *part = &parts->part[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s %.0f%%", i ? " + " : "", part->kernel,
                                 part->polished ? " polished" : "", 100 * part->share);
    }
    if (text[0]) set_cell(row, column, json_string(text));
}

/* What was chosen, from the model's own record. */
static sock_status describe(study *s, const sock_model *model, json_t *row)
{
    char remark[400] = "";
    sk_record r;
    sock_status status = sk_record_of_model(s->ctx, model, &r);
    if (isfinite(r.found.drift_dof)) set_cell(row, DOF, json_real(r.found.drift_dof));
    if (r.found.floor.count) set_cell(row, FLOOR, json_real(r.found.floor.value[0])); /* of the first state */
    set_parts(row, DRIFT, &r.found.drifts, r.found.drifts.count > 1);
    set_parts(row, DIFFUSION, &r.found.diffusions, r.tuned);
    for (size_t i = 0; i < r.warnings.count; i++) {
        strncat(remark, i ? "; " : "", sizeof remark - strlen(remark) - 1);
        strncat(remark, r.warnings.text[i], sizeof remark - strlen(remark) - 1);
    }
    if (remark[0]) set_cell(row, REMARK, json_string(remark));
    sk_record_clear(&r);
    return status;
}

static void describe_oracle(const exp_oracle *oracle, json_t *row)
{
    char text[80];
    snprintf(text, sizeof text, "%.4g times the truth", oracle->drift);
    set_cell(row, DRIFT, json_string(text));
    snprintf(text, sizeof text, "%.4g times the truth", oracle->diffusion);
    set_cell(row, DIFFUSION, json_string(text));
}

static void set_scores(const sock_scores *scores, json_t *row)
{
    const sock_value *const values[] = {&scores->perplexity, &scores->perplexity_raw, &scores->re_f,
                                        &scores->re_a,       &scores->mmd2,           &scores->mmd2_truth};
    for (size_t i = 0; i < COUNT(values); i++) set_value(row, P + i, values[i]);
    if (!scores->perplexity_raw.valid) set_cell(row, REMARK, json_string(scores->perplexity_raw.reason));
}

static json_t *empty_row(const study *s, int preset)
{
    json_t *row = json_array();
    for (size_t i = 0; i < COUNT(columns); i++) json_array_append_new(row, json_null());
    set_cell(row, SET, json_string(s->set->name));
    set_cell(row, PRESET, json_string(preset_names[preset]));
    set_cell(row, SEED, json_integer((json_int_t)s->seed));
    return row;
}

static void say_row(const study *s, const json_t *row)
{
    char line[900];
    const char *status = exp_text_at(row, STATUS);
    int size = sizeof line;
    int used = snprintf(line, sizeof line, "%-8s %-7s seed %-4llu P %.2f  P' %.3f  RE_f %.2f %%  RE_a %.2f %%",
                        s->set->name, exp_text_at(row, PRESET), (unsigned long long)s->seed, exp_number_at(row, P),
                        exp_number_at(row, P_RAW), exp_number_at(row, RE_F), exp_number_at(row, RE_A));
    if (s->settings->mmd && used < size)
        used += snprintf(line + used, (size_t)(size - used), "  MMD2 %.4f (truth %.4f)", exp_number_at(row, MMD2),
                         exp_number_at(row, MMD2_TRUTH));
    if (json_is_number(json_array_get(row, SECONDS)) && used < size)
        used += snprintf(line + used, (size_t)(size - used), "  %.2f s", exp_number_at(row, SECONDS));
    if (used < size)
        snprintf(line + used, (size_t)(size - used), "  f: %s; a: %s%s%s", exp_text_at(row, DRIFT),
                 exp_text_at(row, DIFFUSION), strcmp(status, "SOCK_OK") == 0 ? "" : "  ",
                 strcmp(status, "SOCK_OK") == 0 ? "" : status);
    say(s->settings, line);
}

/* A fit that fails on its numbers is a result; one that was interrupted, or has no memory, is none. */
static int is_result(sock_status status) { return status >= 0 || status == SOCK_ENUMERIC || status == SOCK_EINPUT; }

static sock_status run_fit(study *s, int preset, json_t *row)
{
    exp_oracle oracle = {0};
    sock_model *model = NULL;
    sock_scores scores;
    double begun = wall_seconds();
    sock_status ended = fit(s, preset, &oracle, &model), status = ended;
    if (preset != ORACLE) set_cell(row, SECONDS, json_real(wall_seconds() - begun));
    set_cell(row, STATUS, json_string(sock_status_name(ended)));
    if (ended < 0) set_cell(row, REMARK, json_string(sock_message(s->ctx)));
    if (status >= 0 && preset != ORACLE) status = describe(s, model, row);
    if (status >= 0 && preset == ORACLE) describe_oracle(&oracle, row);
    if (status >= 0) status = score(s, model, &scores);
    if (status >= 0) set_scores(&scores, row);
    sock_model_free(model);
    return ended < 0 && is_result(ended) ? SOCK_OK : status;
}

/* ---- Rows that are there already ---- */

static json_t *find_row(const json_t *rows, const char *set, const char *preset, uint64_t seed)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(exp_text_at(row, SET), set) == 0 && strcmp(exp_text_at(row, PRESET), preset) == 0 &&
            json_integer_value(json_array_get(row, SEED)) == (json_int_t)seed)
            return row;
    }
    return NULL;
}

/* A row without the scores of simulated paths is computed again when these are asked for. */
static int is_known(const study *s, int preset)
{
    const json_t *row = find_row(s->rows, s->set->name, preset_names[preset], s->seed);
    if (!row) return 0;
    return !s->settings->mmd || json_is_number(json_array_get(row, MMD2)) ||
           !json_is_number(json_array_get(row, P_RAW));
}

static sock_status keep_row(study *s, int preset, json_t *row)
{
    json_t *old = find_row(s->rows, s->set->name, preset_names[preset], s->seed);
    for (size_t i = 0; old && i < json_array_size(s->rows); i++)
        if (json_array_get(s->rows, i) == old) {
            json_array_set(s->rows, i, row);
            old = NULL;
            row = NULL;
        }
    if (row) json_array_append(s->rows, row);
    return s->settings->output ? exp_rows_write(s->ctx, s->settings->output, s->columns, s->rows) : SOCK_OK;
}

/* ---- The loops ---- */

static int is_available(int preset, const study_set *set)
{
    if (preset == ORACLE) return exp_oracle_exists(set->name);
    for (size_t i = 0; preset == PAPER && i < sock_option_count(); i++)
        if (strcmp(sock_option_describe(i).key, "preset") == 0) return 1;
    return preset == DEFAULT;
}

static int is_wanted_preset(const exp_settings *settings, int preset)
{
    return settings->presets ? exp_is_named(settings->presets, preset_names[preset]) : 1;
}

static int is_wanted_set(const exp_settings *settings, const study_set *set)
{
    if (settings->names) return exp_is_named(settings->names, set->name);
    return !settings->quick || strcmp(set->name, "expdyn") == 0;
}

static size_t seeds_of(const exp_settings *settings, const study_set *set)
{
    return settings->seeds ? settings->seeds : settings->quick ? 2 : set->seeds;
}

/* All presets of one set and seed that are not known yet. */
static sock_status run_seed(study *s)
{
    sock_status status = SOCK_OK;
    for (int preset = 0; status >= 0 && preset < PRESETS; preset++) {
        if (!is_wanted_preset(s->settings, preset) || !is_available(preset, s->set) || is_known(s, preset)) continue;
        if (!s->instance) status = make_data(s);
        json_t *row = empty_row(s, preset);
        if (status >= 0) status = run_fit(s, preset, row);
        if (status >= 0) say_row(s, row);
        if (status >= 0) status = keep_row(s, preset, row);
        json_decref(row);
    }
    free_data(s);
    return status;
}

static void say_missing(const exp_settings *settings, const study_set *set)
{
    for (int preset = 0; preset < PRESETS; preset++) {
        if (!is_wanted_preset(settings, preset) || is_available(preset, set)) continue;
        char line[120];
        snprintf(line, sizeof line, "%s %s: not available", set->name, preset_names[preset]);
        say(settings, line);
    }
}

static sock_status run_sets(sock_context *ctx, const exp_settings *settings, json_t *names, json_t *rows)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < COUNT(sets); i++) {
        if (!is_wanted_set(settings, &sets[i])) continue;
        say_missing(settings, &sets[i]);
        for (size_t k = 0; status >= 0 && k < seeds_of(settings, &sets[i]); k++) {
            study s = {.ctx = ctx,
                       .settings = settings,
                       .set = &sets[i],
                       .seed = settings->seed + k,
                       .columns = names,
                       .rows = rows};
            status = run_seed(&s);
        }
    }
    return status;
}

/* ---- Medians ---- */

static const size_t summarised[] = {P, P_RAW, RE_F, RE_A, MMD2, MMD2_TRUTH, SECONDS};

/* The rows of the set and preset among the seeds asked for. */
static json_t *rows_of(const exp_settings *settings, const study_set *set, int preset, const json_t *rows)
{
    json_t *list = json_array();
    for (size_t k = 0; k < seeds_of(settings, set); k++) {
        json_t *row = find_row(rows, set->name, preset_names[preset], settings->seed + k);
        if (row) json_array_append(list, row);
    }
    return list;
}

/* NULL when out of memory. */
static json_t *summarise(const exp_settings *settings, const json_t *rows)
{
    json_t *summary = json_array();
    int lacking = 0;
    for (size_t i = 0; i < COUNT(sets); i++)
        for (int preset = 0; preset < PRESETS; preset++) {
            if (!is_wanted_set(settings, &sets[i]) || !is_wanted_preset(settings, preset)) continue;
            json_t *list = rows_of(settings, &sets[i], preset, rows), *entry;
            if (json_array_size(list) > 0) {
                entry = json_pack("{s:s, s:s, s:I}", "set", sets[i].name, "preset", preset_names[preset], "seeds",
                                  (json_int_t)json_array_size(list));
                for (size_t k = 0; k < COUNT(summarised); k++)
                    lacking |= json_object_set_new(entry, columns[summarised[k]], exp_quantiles(list, summarised[k]));
                lacking |= json_array_append_new(summary, entry);
            }
            json_decref(list);
        }
    if (!lacking) return summary;
    json_decref(summary);
    return NULL;
}

static sock_status run_accuracy(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    json_t *names = exp_columns(COUNT(columns), columns), *rows = NULL;
    sock_status status =
        exp_rows_resume(settings->output, names, json_array_size(names), settings->say, settings->user, &rows);
    if (status >= 0) status = run_sets(ctx, settings, names, rows);
    if (status == SOCK_ECANCELLED && settings->output)
        say(settings, "the rows so far are kept, and the same command goes on from there");
    json_t *summary = status >= 0 ? summarise(settings, rows) : NULL;
    if (status >= 0 && !summary) status = SOCK_ENOMEM;
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    *result = json_pack("{s:s, s:I, s:b, s:o, s:o, s:o}", "experiment", "accuracy", "first", (json_int_t)settings->seed,
                        "mmd", settings->mmd, "summary", summary, "columns", names, "rows", rows);
    return SOCK_OK;
}

/* ---- For people ---- */

/* "100.05 [99.98, 100.2]" */
static void print_quantiles(const json_t *entry, size_t column, FILE *stream)
{
    const json_t *list = json_object_get(entry, columns[column]);
    char cell[80], part[3][20];
    if (!json_is_number(json_array_get(list, 1))) { /* not even the best has it */
        fprintf(stream, "  %-24s", "-");
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(list, i);
        double number = json_number_value(value);
        if (json_is_number(value))
            snprintf(part[i], sizeof part[i], number >= 99 && number < 1e4 ? "%.2f" : "%.3g", number);
        else
            snprintf(part[i], sizeof part[i], "NA");
    }
    snprintf(cell, sizeof cell, "%s [%s, %s]", part[0], part[1], part[2]);
    fprintf(stream, "  %-24s", cell);
}

static void print_goal(const study_set *set, FILE *stream)
{
    static const size_t order[] = {0, 3, 1, 2}; /* P, P', RE_f, RE_a */
    fprintf(stream, "%-9s %-8s %5s", "", "goal", "");
    for (size_t i = 0; i < COUNT(order); i++) {
        char cell[20] = "";
        if (set->goal[order[i]] > 0) snprintf(cell, sizeof cell, "%.4g", set->goal[order[i]]);
        fprintf(stream, "  %-24s", cell);
    }
    fputc('\n', stream);
}

static void print_accuracy(const json_t *result, FILE *stream)
{
    const json_t *summary = json_object_get(result, "summary");
    const int mmd = json_is_true(json_object_get(result, "mmd"));
    static const char *const titles[] = {"P", "P'", "RE_f %", "RE_a %", "MMD^2", "MMD^2 of the truth", "seconds"};
    fprintf(stream, "median [10 %%, 90 %%] over the seeds from %lld on\n%-9s %-8s %5s",
            (long long)json_integer_value(json_object_get(result, "first")), "set", "preset", "seeds");
    for (size_t k = 0; k < COUNT(summarised); k++)
        if (mmd || (summarised[k] != MMD2 && summarised[k] != MMD2_TRUTH)) fprintf(stream, "  %-24s", titles[k]);
    fputc('\n', stream);
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        const char *set = json_string_value(json_object_get(entry, "set"));
        const char *preset = json_string_value(json_object_get(entry, "preset"));
        fprintf(stream, "%-9s %-8s %5lld", set, preset, (long long)json_integer_value(json_object_get(entry, "seeds")));
        for (size_t k = 0; k < COUNT(summarised); k++)
            if (mmd || (summarised[k] != MMD2 && summarised[k] != MMD2_TRUTH))
                print_quantiles(entry, summarised[k], stream);
        fputc('\n', stream);
        for (size_t k = 0; k < COUNT(sets); k++)
            if (strcmp(sets[k].name, set) == 0 && strcmp(preset, preset_names[DEFAULT]) == 0)
                print_goal(&sets[k], stream);
    }
}

const exp_experiment exp_accuracy = {.name = "accuracy",
                                     .summary =
                                         "default, paper's protocol and oracle against the truth, over many seeds",
                                     .takes = EXP_TAKES_SEEDS | EXP_TAKES_MMD,
                                     .sets = set_names,
                                     .presets = preset_names,
                                     .resumes = 1,
                                     .run = run_accuracy,
                                     .print = print_accuracy};
