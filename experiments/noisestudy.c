/* noisestudy.c - measurement noise and long steps: the default beside an oracle that is given the true terms, on
 * systems of 1 to 10 states, at levels of noise and lengths of steps.
 *
 * A row is kept as soon as a case is through with a level and a seed; with a file of rows only what is not there is
 * computed, so parts may run side by side with files of their own, which are joined and shown. */
#include "experiments/noiseclaims.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 10 };

/* ---- Rows ---- */

typedef struct study {
    sock_context *ctx;
    const exp_settings *settings;
    const json_t *names;
    json_t *rows;
} study;

static sock_status run_one(const study *w, const noise_case *c, const char *level, uint64_t seed)
{
    const claim_teller to = {w->settings, c->name, seed, json_array()};
    char name[40];
    noise_level_case(level, name, sizeof name);
    sock_status status = SOCK_OK;
    if (!claim_is_done(w->rows, c->name, name, seed)) {
        status = to.rows ? noise_case_measure(w->ctx, &to, c, level) : SOCK_ENOMEM;
        if (status >= 0 && json_array_extend(w->rows, to.rows) != 0) status = SOCK_ENOMEM;
        if (status >= 0 && w->settings->output) status = exp_rows_write(w->ctx, w->settings->output, w->names, w->rows);
    }
    json_decref(to.rows);
    return status < 0 ? status : SOCK_OK;
}

/* In a quick run one case with noise and one of long steps. */
static int is_wanted(const exp_settings *s, const noise_case *c, const char *level)
{
    if (s->names && !exp_is_named(s->names, c->name)) return 0;
    if (s->presets && !exp_is_named(s->presets, level)) return 0;
    if (!s->quick || s->names) return 1;
    return (strcmp(c->name, "gbm") == 0 && strcmp(level, "0.3") == 0) ||
           (strcmp(c->name, "ou_long") == 0 && strcmp(level, "0") == 0);
}

static sock_status run_all(sock_context *ctx, const exp_settings *s, const json_t *names, json_t *rows)
{
    const study w = {ctx, s, names, rows};
    const size_t seeds = s->seeds ? s->seeds : s->quick ? 1 : SEEDS;
    sock_status status = SOCK_OK;
    for (size_t i = 0; i < noise_case_count; i++)
        for (size_t l = 0; noise_level_names[l]; l++)
            for (size_t k = 0; status >= 0 && k < seeds && is_wanted(s, &noise_cases[i], noise_level_names[l]); k++)
                status = run_one(&w, &noise_cases[i], noise_level_names[l], s->seed + k);
    return status;
}

/* ---- Numbers made of others ---- */

static double goal_or_none(double goal) { return goal > 0 ? goal : (double)NAN; }

static int add_ratios(json_t *summary, const noise_case *c)
{
    const double clean = claim_median(summary, c->name, "noise 0", "RE_f, %");
    int lacking = 0;
    for (size_t l = 0; noise_level_names[l]; l++) {
        char name[40];
        noise_level_case(noise_level_names[l], name, sizeof name);
        const double f = claim_median(summary, c->name, name, "RE_f, %"),
                     best = claim_median(summary, c->name, name, "oracle RE_f, %");
        if (!isnan(f))
            lacking |= claim_add(summary, c->name, name, "RE_f / oracle's", f / best, goal_or_none(c->ratio));
        if (!isnan(f) && !isnan(clean) && strcmp(noise_level_names[l], "1") == 0)
            lacking |= claim_add(summary, c->name, name, "RE_f / clean", f / clean, goal_or_none(c->worse));
    }
    return lacking;
}

/* With noise 1, beside the fit that knows of neither noise nor long steps. */
static int add_beside_plain(json_t *summary, const noise_case *c)
{
    static const char *const measure[][3] = {{"RE_f, %", "plain RE_f, %", "RE_f / plain fit's"},
                                             {"RE_a, %", "plain RE_a, %", "RE_a / plain fit's"}};
    int lacking = 0;
    for (size_t i = 0; i < 2; i++) {
        const double own = claim_median(summary, c->name, "noise 1", measure[i][0]),
                     plain = claim_median(summary, c->name, "noise 1", measure[i][1]);
        if (!isnan(own) && c->plain > 0)
            lacking |= claim_add(summary, c->name, "noise 1", measure[i][2], own / plain, c->plain);
    }
    return lacking;
}

/* Over all cases: the mean of a measure's means, or the median of its medians. */
static double over_all(const json_t *summary, const char *measure, const char *key)
{
    double values[400];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(summary) && count < 400; i++) {
        const json_t *entry = json_array_get(summary, i), *value = json_object_get(entry, key);
        if (strcmp(json_string_value(json_object_get(entry, "measure")), measure) == 0 && json_is_number(value))
            values[count++] = json_number_value(value);
    }
    if (strcmp(key, "median") == 0) return exp_quantile(count, values, 0.5);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : (double)NAN;
}

/* timed: what a fit costs has a goal too; tests are not timed. */
static int add_totals(json_t *summary, int timed)
{
    static const struct {
        const char *measure, *key;
        double goal;
    } total[] = {{"false alarm", "mean", 0.1}, {"cost, nothing found", "median", 1.1}, {"cost, found", "median", 4}};
    double value[sizeof total / sizeof *total];
    int lacking = 0;
    for (size_t i = 0; i < sizeof total / sizeof *total; i++)
        value[i] = over_all(summary, total[i].measure, total[i].key);
    for (size_t i = 0; i < sizeof total / sizeof *total; i++)
        if (!isnan(value[i]))
            lacking |= claim_add(summary, "all", "all", total[i].measure, value[i],
                                 timed || i == 0 ? total[i].goal : (double)NAN);
    return lacking;
}

/* NULL when out of memory. */
static json_t *summarise(const exp_settings *settings, const json_t *rows)
{
    json_t *summary = claim_summary(rows);
    int lacking = !summary;
    for (size_t i = 0; !lacking && i < noise_case_count; i++) {
        lacking = add_ratios(summary, &noise_cases[i]);
        lacking |= add_beside_plain(summary, &noise_cases[i]);
    }
    if (!lacking) lacking = add_totals(summary, !settings->quick);
    if (!lacking) return summary;
    json_decref(summary);
    return NULL;
}

/* ---- For people ---- */

static const struct {
    const char *measure, *title;
} shown[] = {{"RE_f, %", "RE_f"},
             {"RE_a, %", "RE_a"},
             {"oracle RE_f, %", "oracle"},
             {"oracle RE_a, %", "RE_a"},
             {"plain RE_f, %", "plain"},
             {"plain RE_a, %", "RE_a"},
             {"R over truth", "R-hat/R"},
             {"z", "z"},
             {"gain, nats", "gain"},
             {"substeps", "substeps"},
             {"cpu s", "cpu s"}};
enum { SHOWN = sizeof shown / sizeof *shown };

static double mean_of(const json_t *summary, const char *claim, const char *name, const char *measure)
{
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        if (strcmp(json_string_value(json_object_get(entry, "claim")), claim) == 0 &&
            strcmp(json_string_value(json_object_get(entry, "case")), name) == 0 &&
            strcmp(json_string_value(json_object_get(entry, "measure")), measure) == 0)
            return json_number_value(json_object_get(entry, "mean"));
    }
    return (double)NAN;
}

/* Medians; the last column is the share of the seeds where noise was found. */
static void print_line(const json_t *summary, const char *claim, const char *level, FILE *stream)
{
    char name[40];
    noise_level_case(level, name, sizeof name);
    if (isnan(claim_median(summary, claim, name, shown[0].measure))) return;
    const double alarm = mean_of(summary, claim, name, "false alarm"), missed = mean_of(summary, claim, name, "missed");
    fprintf(stream, "%-13s %-5s", claim, level);
    for (size_t k = 0; k < SHOWN; k++) {
        const double value = claim_median(summary, claim, name, shown[k].measure);
        if (isnan(value))
            fprintf(stream, " %9s", "-");
        else
            fprintf(stream, " %9.3g", value);
    }
    fprintf(stream, " %9.2g\n", isnan(alarm) ? 1 - missed : alarm);
}

static void print_noise(const json_t *result, FILE *stream)
{
    const json_t *summary = json_object_get(result, "summary");
    json_t *goals = json_array();
    fprintf(stream, "%-13s %-5s", "case", "noise");
    for (size_t k = 0; k < SHOWN; k++) fprintf(stream, " %9s", shown[k].title);
    fprintf(stream, " %9s\n", "found");
    for (size_t i = 0; i < noise_case_count; i++)
        for (size_t l = 0; noise_level_names[l]; l++)
            print_line(summary, noise_cases[i].name, noise_level_names[l], stream);
    for (size_t i = 0; i < json_array_size(summary); i++)
        if (!json_is_null(json_object_get(json_array_get(summary, i), "goal")))
            json_array_append(goals, json_array_get(summary, i));
    fprintf(stream, "\n");
    json_t *part = json_pack("{s:o}", "summary", goals);
    claim_print(part, stream);
    json_decref(part);
}

/* ---- The study ---- */

static sock_status run_noise(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return claim_run(ctx, settings, &(claim_study){"noise", run_all, summarise}, result);
}

const exp_experiment exp_noise = {.name = "noise",
                                  .summary = "measurement noise and long steps, beside an oracle that knows the terms",
                                  .takes = EXP_TAKES_SEEDS | EXP_TAKES_SHOW,
                                  .sets = noise_case_names,
                                  .presets = noise_level_names,
                                  .presets_option = "levels",
                                  .resumes = 1,
                                  .run = run_noise,
                                  .print = print_noise};
