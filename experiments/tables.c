/* tables.c - the paper's tables, repeated: data sets x seeds x methods, one row of results each.
 *
 * Every method gets the same data and is scored by the same code (compare.h). A row is kept as soon as it is known;
 * with a folder, only what is not in its file of rows is computed, so a run that was broken off goes on where it was. A
 * method that takes longer than the set's cap of processor time has a row without scores that says so.
 *
 * --quick: fewer trajectories, no simulated paths, the default and the paper's protocol only; it then fails unless the
 * default has the lower median of P (P' where there is no truth) on every set. */
#define _POSIX_C_SOURCE 200809L
#include "compare/compare.h"
#include "experiments/deadline.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "experiments/tablerows.h"
#include "experiments/tabletext.h"
#include "report/memtext.h"
#include "systems/systems.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char quick_methods[] = "sock,sock-paper,bisde,gedmd,constant";

/* What all pieces of work share. */
typedef struct job {
    sock_context *ctx;
    const exp_settings *settings;
    int tables; /* 1, 2, or 3 for both */
    char *file; /* of the rows; NULL: nowhere */
    json_t *columns, *rows;
    json_t *remarks; /* set -> why it could not be made */
    size_t done, planned;
} job;

/* The data of one set and seed. */
typedef struct study {
    job *job;
    const exp_table_set *set;
    uint64_t seed;
    sys_instance *instance;
    sock_model *truth;
    sock_data *part[SYS_SETS];
    sock_options *options; /* of the scores */
} study;

static void say(const job *j, const char *line)
{
    if (j->settings->say) j->settings->say(j->settings->user, line);
}

/* ---- What is wanted ---- */

static int is_wanted_set(const job *j, const exp_table_set *set)
{
    if (!(j->tables & set->table)) return 0;
    if (j->settings->names) return exp_is_named(j->settings->names, set->name);
    return !j->settings->quick || set->quick[SYS_TRAIN];
}

/* A neural row of a program without that family is passed over. */
static int is_wanted_row(const job *j, const exp_table_row *row)
{
    const char *list = j->settings->presets ? j->settings->presets : j->settings->quick ? quick_methods : NULL;
    if (list && !exp_is_named(list, row->method)) return 0;
    if (j->settings->quick && !j->settings->presets && row->quick && !row->quick[0]) return 0;
    return !exp_method_find(row->method)->neural || cmp_method_find(row->spec) != NULL;
}

static size_t seeds_of(const job *j, const exp_table_set *set)
{
    const size_t asked = j->settings->seeds;
    if (!asked) return j->settings->quick ? 3 : set->seeds;
    return j->settings->full || asked < set->seeds ? asked : set->seeds;
}

static const char *paths_of(const job *j, const exp_table_set *set)
{
    return j->settings->quick ? "0" : set->mmd_paths;
}

static exp_piece piece_of(const job *j, const exp_table_set *set, const exp_table_row *row, uint64_t seed)
{
    return (exp_piece){.set = set,
                       .row = row,
                       .spec = j->settings->quick && row->quick && row->quick[0] ? row->quick : row->spec,
                       .seed = seed,
                       .mmd_paths = paths_of(j, set),
                       .cap = j->settings->cap > 0 ? j->settings->cap : set->cap};
}

/* Whether there is work: a row that is not there; with --fill, one that is there without the newer columns. */
static int is_due(const job *j, const exp_table_row *row, const exp_piece *piece)
{
    if (!is_wanted_row(j, row)) return 0;
    return j->settings->fill ? exp_row_is_older(j->rows, piece) : !exp_row_is_known(j->rows, piece);
}

static size_t count_planned(const job *j)
{
    size_t count = 0;
    for (const exp_table_set *set = exp_table_sets; set->name; set++)
        for (size_t k = 0; is_wanted_set(j, set) && k < seeds_of(j, set); k++)
            for (const exp_table_row *row = set->rows; row->method; row++) {
                const exp_piece piece = piece_of(j, set, row, j->settings->seed + k);
                count += (size_t)is_due(j, row, &piece);
            }
    return count;
}

/* ---- Data ---- */

static sock_status make_system(study *s)
{
    sock_context *ctx = s->job->ctx;
    sock_status status = sys_new(ctx, sys_find(s->set->system), s->seed, &s->instance);
    if (status >= 0 && s->job->settings->quick && s->set->quick[SYS_TRAIN])
        memcpy(s->instance->trajectories, s->set->quick, sizeof s->instance->trajectories);
    if (status >= 0) status = sys_truth(ctx, s->instance, &s->truth);
    for (int i = 0; status >= 0 && i < SYS_SETS; i++) status = sys_generate(ctx, s->instance, (sys_set)i, &s->part[i]);
    return status;
}

static sock_status make_options(study *s)
{
    sock_context *ctx = s->job->ctx;
    char delta[40], seed[40];
    snprintf(delta, sizeof delta, "%.17g", s->instance ? s->instance->system->delta : 0);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
    const char *const wanted[][2] = {{"delta", delta},
                                     {"seed", seed},
                                     {"mmd-paths", s->job->settings->fill ? "0" : paths_of(s->job, s->set)},
                                     {"bounds", s->set->unit_box ? "clip" : "none"},
                                     {"lower", s->set->unit_box ? "0" : "none"},
                                     {"upper", s->set->unit_box ? "1" : "none"}};
    s->options = sock_options_new(ctx);
    sock_status status = s->options ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < COUNT(wanted); i++)
        status = sock_options_set(ctx, s->options, wanted[i][0], wanted[i][1]);
    return status;
}

static sock_status make_data(study *s)
{
    sock_status status = s->set->system ? make_system(s) : sys_pbcseq(s->job->ctx, s->seed, s->part);
    return status < 0 ? status : make_options(s);
}

static void free_data(study *s)
{
    for (int i = 0; i < SYS_SETS; i++) sock_data_free(s->part[i]);
    sock_options_free(s->options);
    sock_model_free(s->truth);
    sys_free(s->instance);
}

/* ---- One piece of work ---- */

static void say_row(job *j, const json_t *row)
{
    static const struct {
        const char *name;
        size_t column;
        int digits;
    } shown[] = {{"P", ROW_P, 5},       {"P'", ROW_P_RAW, 4},  {"PM", ROW_PM, 5},    {"RE_f", ROW_RE_F, 3},
                 {"RE_a", ROW_RE_A, 3}, {"MMD2", ROW_MMD2, 4}, {"cpu s", ROW_CPU, 3}};
    char line[700];
    const int size = sizeof line;
    int used =
        snprintf(line, sizeof line, "[%zu/%zu] %-8s %-13s%s seed %lld", j->done, j->planned, exp_text_at(row, ROW_SET),
                 exp_text_at(row, ROW_METHOD), exp_text_at(row, ROW_PROJECTED)[0] ? " psd" : "    ",
                 (long long)json_integer_value(json_array_get(row, ROW_SEED)));
    for (size_t i = 0; i < sizeof shown / sizeof *shown && used < size; i++)
        if (json_is_number(json_array_get(row, shown[i].column)))
            used += snprintf(line + used, (size_t)(size - used), "  %s %.*g", shown[i].name, shown[i].digits,
                             exp_number_at(row, shown[i].column));
    if (isnan(exp_number_at(row, ROW_P_RAW)) && used < size)
        snprintf(line + used, (size_t)(size - used), "  (%.200s)", exp_text_at(row, ROW_REASON));
    say(j, line);
}

static void take_row(job *j, json_t *row)
{
    say_row(j, row);
    exp_rows_insert(j->rows, row);
    json_decref(row);
}

/* The newer columns of the rows that are there, from a new fit: only where that is the same fit. */
static void fill_rows(job *j, const exp_piece *piece, size_t count, const cmp_row *made)
{
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        json_t *row = exp_row_find(j->rows, piece->set->name, piece->row->method, piece->seed, made[i].projected);
        json_t *other = exp_row_of(piece, &made[i]);
        if (row && exp_row_fill(row, other)) {
            say_row(j, row);
            filled++;
        }
        json_decref(other);
    }
    if (filled < count || !count) {
        char line[300];
        snprintf(line, sizeof line, "[%zu/%zu] %s %s seed %llu: %s; the row stays without the newer columns", j->done,
                 j->planned, piece->set->name, piece->row->method, (unsigned long long)piece->seed,
                 count ? "a new fit has another P'" : "the cap ended the new fit");
        say(j, line);
    }
}

/* One or two rows, or one that says that the cap ended the work. */
static sock_status run_piece(study *s, const exp_piece *piece)
{
    job *j = s->job;
    const cmp_case c = {.train = s->part[SYS_TRAIN],
                        .validation = s->part[SYS_VALIDATION],
                        .test = s->part[SYS_TEST],
                        .truth = s->truth,
                        .options = s->options,
                        .budget = piece->row->budget,
                        .fine_delta = s->set->fine_delta};
    cmp_row made[CMP_MOST_ROWS];
    cmp_spec spec;
    size_t count = 0;
    const char *step = piece->row->mmd_step ? piece->row->mmd_step : s->set->mmd_step;
    sock_status status = cmp_spec_parse(j->ctx, piece->spec, &spec);
    if (status >= 0) status = sock_options_set(j->ctx, s->options, "mmd-step", step);
    if (status < 0) return status;
    exp_deadline *deadline = exp_deadline_new(j->ctx, piece->cap);
    status = cmp_run(j->ctx, &spec, &c, made, &count);
    const int late = exp_deadline_end(deadline);
    if (status < 0 && !late) return status;
    j->done++;
    if (j->settings->fill) {
        fill_rows(j, piece, status < 0 ? 0 : count, made);
    } else {
        exp_rows_remove(j->rows, piece);
        if (status < 0) take_row(j, exp_row_stopped(piece));
        for (size_t i = 0; status >= 0 && i < count; i++) take_row(j, exp_row_of(piece, &made[i]));
    }
    return j->file ? exp_rows_write(j->ctx, j->file, j->columns, j->rows) : SOCK_OK;
}

/* ---- The loops ---- */

/* Data that cannot be had (no R) are a remark, not a failure. */
static sock_status note_missing(study *s, sock_status status)
{
    job *j = s->job;
    if (s->set->system || status != SOCK_EIO) return status;
    if (!json_object_get(j->remarks, s->set->name)) {
        say(j, sock_message(j->ctx));
        json_object_set_new(j->remarks, s->set->name, json_string(sock_message(j->ctx)));
    }
    return SOCK_OK;
}

static sock_status run_seed(study *s)
{
    sock_status status = SOCK_OK;
    int made = 0;
    for (const exp_table_row *row = s->set->rows; status >= 0 && row->method; row++) {
        const exp_piece piece = piece_of(s->job, s->set, row, s->seed);
        if (!is_due(s->job, row, &piece)) continue;
        if (!made) {
            status = make_data(s);
            if (status < 0) return note_missing(s, status);
            made = 1;
        }
        status = run_piece(s, &piece);
    }
    return status;
}

static sock_status run_sets(job *j)
{
    sock_status status = SOCK_OK;
    j->planned = count_planned(j);
    for (const exp_table_set *set = exp_table_sets; status >= 0 && set->name; set++)
        for (size_t k = 0; status >= 0 && is_wanted_set(j, set) && k < seeds_of(j, set); k++) {
            study s = {.job = j, .set = set, .seed = j->settings->seed + k};
            status = run_seed(&s);
            free_data(&s);
        }
    return status;
}

/* ---- The result ---- */

/* NULL when out of memory. */
static json_t *summaries_of(const job *j)
{
    json_t *list = json_array();
    int lacking = 0;
    const exp_table_view view = {j->settings->seed, j->settings->seeds, j->settings->presets};
    for (const exp_table_set *set = exp_table_sets; set->name; set++) {
        if (!is_wanted_set(j, set)) continue;
        json_t *summary = exp_table_summary(set, &view, j->rows);
        json_t *remark = json_object_get(j->remarks, set->name);
        if (remark && summary) json_object_set(summary, "remark", remark);
        lacking |= json_array_append_new(list, summary);
    }
    if (!lacking) return list;
    json_decref(list);
    return NULL;
}

/* The median of a method's score. why: "" or why there is none. */
static double median_of(const json_t *summary, const char *method, const char *score, char why[60])
{
    const json_t *entries = json_object_get(summary, "entries");
    snprintf(why, 60, "%s has no row", method);
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i), *list = json_object_get(entry, score);
        if (strcmp(json_string_value(json_object_get(entry, "method")), method) != 0) continue;
        const json_t *median = json_array_get(list, 0);
        snprintf(why, 60, "%s", "");
        if (json_is_number(median)) return json_number_value(median);
        snprintf(why, 60, "%s lacks it on half of the seeds or more", method);
    }
    return (double)NAN;
}

/* Why the default does not beat the paper's protocol on a set: "" when it does. */
static void compare_with_paper(const json_t *summary, char line[200])
{
    const char *set = json_string_value(json_object_get(summary, "set"));
    const int known = exp_table_set_find(set)->system != NULL; /* what made the data */
    const char *score = known ? "P" : "P_raw", *name = known ? "P" : "P'";
    char why[2][60];
    const double ours = median_of(summary, "sock", score, why[0]);
    const double theirs = median_of(summary, "sock-paper", score, why[1]);
    line[0] = 0;
    if (why[0][0] || why[1][0])
        snprintf(line, 200, "%s: the medians of %s cannot be compared: %s%s%s", set, name, why[0],
                 why[0][0] && why[1][0] ? ", " : "", why[1]);
    else if (!(ours < theirs))
        snprintf(line, 200, "%s: the median of %s is %.4f for the default and %.4f for the paper's protocol", set, name,
                 ours, theirs);
}

/* With --quick the default must beat the paper's protocol on every set, but where the data could not be had; unless
 * --methods leaves one of the two out: then there is nothing to show. */
static json_t *failures_of(const job *j, const json_t *summaries)
{
    const char *methods = j->settings->presets;
    json_t *list = json_array();
    if (!j->settings->quick) return list;
    if (methods && !(exp_is_named(methods, "sock") && exp_is_named(methods, "sock-paper"))) return list;
    for (size_t i = 0; i < json_array_size(summaries); i++) {
        const json_t *summary = json_array_get(summaries, i);
        char line[200];
        compare_with_paper(summary, line);
        if (line[0] && !json_object_get(summary, "remark")) json_array_append_new(list, json_string(line));
    }
    return list;
}

/* ---- Files ---- */

static char *path_in(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static void print_preface(const json_t *result, int table, FILE *stream)
{
    const json_int_t seeds = json_integer_value(json_object_get(result, "seeds"));
    fprintf(stream, "## Table %d of the paper\n\n", table);
    fprintf(stream, "Version %s, seeds from %lld on", sock_version(),
            (long long)json_integer_value(json_object_get(result, "first")));
    if (seeds) fprintf(stream, " (at most %lld)", (long long)seeds);
    fputs(". Median [10 %, 90 %] over the seeds; \"paper\" is what the paper prints, one draw.\n", stream);
    if (table == 2)
        fputs("PM and PM' are P and P' by the moments of the step (docs/scores.md), on the epidemic with delta 2.5e-5, "
              "one person of 200 squared, in place of the paper's 1e-3; \"-\": not computed.\n",
              stream);
    if (json_is_true(json_object_get(result, "quick")))
        fputs("Quick: fewer trajectories, no simulated paths, few methods; pbcseq is left out.\n", stream);
    fputc('\n', stream);
}

static void print_table(const json_t *result, int table, FILE *stream)
{
    const json_t *summaries = json_object_get(result, "summary");
    int any = 0;
    for (size_t i = 0; i < json_array_size(summaries); i++) {
        const json_t *summary = json_array_get(summaries, i);
        if (json_integer_value(json_object_get(summary, "table")) != table) continue;
        if (!any) print_preface(result, table, stream);
        any = 1;
        exp_table_print(summary, stream);
    }
}

static sock_status write_table(const job *j, const json_t *result, int table)
{
    char name[32];
    memtext text = {0};
    snprintf(name, sizeof name, j->settings->quick ? "quick-table%d.md" : "table%d.md", table);
    char *path = path_in(j->settings->output, name);
    FILE *stream = path ? memtext_open(&text) : NULL;
    if (stream) print_table(result, table, stream);
    sock_status status = stream && memtext_close(stream, &text) == 0 ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_write_file(j->ctx, path, text.text, text.size);
    free(text.text);
    free(path);
    return status;
}

/* ---- The experiments ---- */

static sock_status finish(const job *j, json_t **result)
{
    json_t *summaries = summaries_of(j);
    if (!summaries) return SOCK_ENOMEM;
    json_t *made =
        json_pack("{s:s, s:s, s:I, s:I, s:b, s:o, s:O, s:O}", "experiment", "tables", "version", sock_version(),
                  "first", (json_int_t)j->settings->seed, "seeds", (json_int_t)j->settings->seeds, "quick",
                  j->settings->quick, "failures", failures_of(j, summaries), "columns", j->columns, "rows", j->rows);
    json_object_set_new(made, "summary", summaries);
    sock_status status = SOCK_OK;
    for (int table = 1; table <= 2 && j->settings->output && status >= 0; table++)
        if (j->tables & table) status = write_table(j, made, table);
    if (status < 0)
        json_decref(made);
    else
        *result = made;
    return status;
}

static sock_status nothing_to_show(const job *j)
{
    char line[400];
    snprintf(line, sizeof line, "%.300s: no rows to show%s", j->file ? j->file : "--show without --output",
             j->settings->quick ? "" : "; those of --quick have a file of their own");
    say(j, line);
    return SOCK_EINPUT;
}

static sock_status run_tables(sock_context *ctx, const exp_settings *settings, int tables, json_t **result)
{
    job j = {.ctx = ctx,
             .settings = settings,
             .tables = tables,
             .columns = exp_columns(ROW_COLUMNS, exp_row_names),
             .remarks = json_object()};
    sock_status status = SOCK_OK;
    if (settings->output && !(j.file = path_in(settings->output, settings->quick ? "quick.csv" : "rows.csv")))
        status = SOCK_ENOMEM;
    if (status >= 0) status = exp_rows_resume(j.file, j.columns, ROW_PM, settings->say, settings->user, &j.rows);
    if (status >= 0 && settings->show && !json_array_size(j.rows)) status = nothing_to_show(&j);
    if (status >= 0 && !settings->show) status = run_sets(&j);
    if (status == SOCK_ECANCELLED && j.file)
        say(&j, "the rows so far are kept, and the same command goes on from there");
    if (status >= 0) status = finish(&j, result);
    json_decref(j.columns);
    json_decref(j.rows);
    json_decref(j.remarks);
    free(j.file);
    return status;
}

static sock_status run_table1(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return run_tables(ctx, settings, 1, result);
}

static sock_status run_table2(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return run_tables(ctx, settings, 2, result);
}

static sock_status run_all(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return run_tables(ctx, settings, 3, result);
}

static void print(const json_t *result, FILE *stream)
{
    for (int table = 1; table <= 2; table++) print_table(result, table, stream);
}

static const char *const sets1[] = {"gbm", "expdyn", "dense", "lorenz96", NULL};
static const char *const sets2[] = {"sir", "amyloid", "pbcseq", NULL};
static const char *const sets3[] = {"gbm", "expdyn", "dense", "lorenz96", "sir", "amyloid", "pbcseq", NULL};
static const char *const method_names[] = {
    "sock", "sock-paper", "adapted",    "adapted-paper", "bisde", "bisde-free", "bisde-paper", "gedmd", "gedmd-paper",
    "nw",   "constant",   "neural-sde", "lsde",          "lnsde", "gsde",       "truth",       NULL};

/* What the three have in common. */
#define TABLES                                                                                                         \
    .print = print, .presets = method_names, .presets_option = "methods", .resumes = 1, .folder = 1,                   \
    .takes = EXP_TAKES_SEEDS | EXP_TAKES_CAP | EXP_TAKES_FULL | EXP_TAKES_SHOW

const exp_experiment exp_table1 = {.name = "table1",
                                   .summary = "the paper's table 1: known systems, all methods, over many seeds",
                                   .sets = sets1,
                                   .run = run_table1,
                                   TABLES};
const exp_experiment exp_table2 = {.name = "table2",
                                   .summary = "the paper's table 2: epidemic and amyloid stand-ins",
                                   .sets = sets2,
                                   .run = run_table2,
                                   TABLES};
const exp_experiment exp_all = {.name = "all", .summary = "both tables", .sets = sets3, .run = run_all, TABLES};
