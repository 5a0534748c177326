/* cmd_score.c - sock score: how good a model is on data it has not seen. */
#define _GNU_SOURCE
#include "knowntruth.h"
#include "modeldata.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"delta", "mmd-paths", "mmd-step", "seed",   "bounds",  "lower",     "upper", "id",
                                   "time",  "state",     "group",    "dt",     "missing", "time-unit", "log",   "wide",
                                   "every", "noise",     "files",    "stream", "scratch", "device",    NULL};

/* ---- Output ---- */

typedef struct score_row {
    const char *key;
    const sock_value *value, *beside; /* beside: the same score of the truth; NULL: there is none */
    double ideal;                     /* what the truth has by definition; NaN: it is measured, or unknown */
    const char *meaning;
} score_row;

enum { ROWS = 14 };

static void make_rows(const sock_scores *s, score_row rows[ROWS])
{
    const score_row all[ROWS] = {
        {"score", &s->score, NULL, NAN, "nats a step and dimension, to compare models by; larger is better"},
        {"loglik", &s->loglik, &s->loglik_truth, NAN, "sum of log densities of the test steps; larger is better"},
        {"loglik_constant", &s->loglik_constant, NULL, NAN,
         "loglik of constant f and a fitted to these very steps: a model should beat it"},
        {"perplexity", &s->perplexity, NULL, 100, "P: 100 is as good as the truth; smaller is better"},
        {"perplexity_raw", &s->perplexity_raw, NULL, NAN, "P': the same without the truth; smaller is better"},
        {"loglik_moments", &s->loglik_moments, &s->loglik_moments_truth, NAN,
         "loglik with mean and covariance that follow the model over the step"},
        {"perplexity_moments", &s->perplexity_moments, NULL, 100, "PM: P from loglik_moments, for steps not short"},
        {"perplexity_moments_raw", &s->perplexity_moments_raw, NULL, NAN, "PM': P' from loglik_moments"},
        {"loglik_filter", &s->loglik_filter, &s->loglik_filter_truth, NAN,
         "of observations with the model's measurement noise; those above take them for states"},
        {"perplexity_filter", &s->perplexity_filter, NULL, 100, "PF: P from loglik_filter"},
        {"perplexity_filter_raw", &s->perplexity_filter_raw, NULL, NAN, "PF': P' from loglik_filter"},
        {"re_f", &s->re_f, NULL, 0, "relative error of the drift on the test points, percent"},
        {"re_a", &s->re_a, NULL, 0, "relative error of the diffusion on the test points, percent"},
        {"mmd2", &s->mmd2, &s->mmd2_truth, NAN, "squared distance of simulated and test paths; compare with the truth"},
    };
    memcpy(rows, all, sizeof all);
}

static void print_cell(const sock_value *value)
{
    if (value->valid)
        printf("  %12.6g", value->value);
    else
        printf("  %12s", "NA");
}

static void print_reason(const char *key, const sock_value *value)
{
    if (value && !value->valid) printf("NA: %s: %s\n", key, value->reason);
}

/* What needs a file that was not given is no row of the table: one line for each such reason says what there would be.
 */
static bool is_wanted(const sock_value *value) { return value->valid || value->failed; }

/* Scores of noise are told of where the model knows of it. */
static bool is_untold(const sock_scores *s, const score_row *row)
{
    return !s->noisy && strstr(row->key, "_filter") != NULL;
}

static void print_unwanted(const sock_scores *s, const score_row rows[ROWS])
{
    for (int i = 0; i < ROWS; i++) {
        int same = 0;
        if (is_wanted(rows[i].value) || is_untold(s, &rows[i])) continue;
        for (int j = 0; j < ROWS; j++) {
            if (is_wanted(rows[j].value) || is_untold(s, &rows[j]) ||
                strcmp(rows[i].value->reason, rows[j].value->reason) != 0)
                continue;
            if (j < i) break; /* told already */
            printf("%s%s", same++ ? ", " : "not computed: ", rows[j].key);
        }
        const char *reason = rows[i].value->reason;
        if (same)
            printf(": %s%s\n", reason,
                   strstr(reason, "training data") ? " (--train FILE)"
                   : strstr(reason, "no truth")    ? " (--truth TRUTH)"
                                                   : "");
    }
}

static void print_truth_cell(const score_row *row, bool truth_given)
{
    const sock_value ideal = {.valid = 1, .value = row->ideal};
    if (!truth_given || (!row->beside && isnan(row->ideal)))
        printf("  %12s", "");
    else
        print_cell(row->beside ? row->beside : &ideal);
}

/* Of states log(x): the sum of log x over the ends of all steps, by which a log density of x is less than that of
 * log(x). False: there are none. */
static bool log_units(const sock_data *test, double *sum)
{
    const size_t d = sock_data_dim(test);
    bool any = false;
    *sum = 0;
    for (size_t k = 0; k < d; k++) {
        if (strncmp(sock_data_name(test, k), "log(", 4) != 0) continue;
        any = true;
        for (size_t j = 0; j < sock_data_trajectories(test); j++) {
            const double *x;
            const size_t length = sock_data_trajectory(test, j, NULL, &x);
            for (size_t i = 1; i < length; i++) *sum += x[i * d + k];
        }
    }
    return any;
}

static void print_log_units(const sock_data *test, const sock_scores *s)
{
    double sum;
    if (!log_units(test, &sum)) return;
    printf("in the units of the file: every log likelihood is %.6g less", sum);
    if (s->loglik.valid) printf(", loglik %.6g", s->loglik.value - sum);
    if (s->loglik_moments.valid) printf(", loglik_moments %.6g", s->loglik_moments.value - sum);
    printf("\n");
}

static void print_table(const sock_scores *s, const truth *t, const char *unit)
{
    score_row rows[ROWS];
    make_rows(s, rows);
    printf("test set        %zu steps, %zu points, dimension %zu%s; delta %g\n", s->intervals, s->points, s->d, unit,
           s->delta);
    if (t->model)
        printf("truth           %s%s%s\n", t->instance->system->name, sys_find(t->source) ? "" : " of ",
               sys_find(t->source) ? "" : t->source);
    printf("\n%-22s  %12s  %12s\n", "score", "model", t->model ? "truth" : "");
    for (int i = 0; i < ROWS; i++) {
        if (!is_wanted(rows[i].value)) continue;
        printf("%-22s", rows[i].key);
        print_cell(rows[i].value);
        print_truth_cell(&rows[i], t->model != NULL);
        printf("  %s%s%s\n", rows[i].meaning, i || !s->score_of ? "" : ": of ", i || !s->score_of ? "" : s->score_of);
    }
    printf("\n");
    for (int i = 0; i < ROWS; i++)
        if (is_wanted(rows[i].value)) print_reason(rows[i].key, rows[i].value);
    print_unwanted(s, rows);
    if (t->model && is_wanted(&s->loglik)) print_reason("loglik of the truth", &s->loglik_truth);
    if (s->mmd2.valid)
        printf("mmd2: %zu starts, %zu paths each, %zu lost; scale %g from %zu pairs of training trajectories\n",
               s->mmd_starts, s->mmd_paths, s->mmd_lost, s->mmd_eta, s->mmd_pairs);
    printf("time: %.3f s\n", s->seconds);
}

/* The value, or null with the reason under the key with _reason behind it. */
static void put_value(json_t *object, const char *key, const sock_value *value)
{
    char name[40];
    json_object_set_new(object, key, value->valid ? json_real(value->value) : json_null());
    snprintf(name, sizeof name, "%s_reason", key);
    if (!value->valid) json_object_set_new(object, name, json_string(value->reason));
}

/* Nothing is missing where the model knows of no noise. */
static void put_filter(json_t *object, bool noisy, const char *key, const sock_value *value)
{
    if (noisy)
        put_value(object, key, value);
    else
        json_object_set_new(object, key, json_null());
}

static void put_count(json_t *object, const char *key, size_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void put_truth(json_t *object, const truth *t)
{
    json_object_set_new(object, "truth", t->model ? json_string(t->instance->system->name) : json_null());
    if (t->model) json_object_set_new(object, "truth_approximate", json_boolean(t->instance->system->approximate));
}

static void print_json(const sock_scores *s, const truth *t, const sock_data *test, sock_status status)
{
    json_t *object = json_object();
    put_value(object, "score", &s->score);
    json_object_set_new(object, "score_of", s->score_of ? json_string(s->score_of) : json_null());
    put_value(object, "loglik", &s->loglik);
    put_value(object, "loglik_truth", &s->loglik_truth);
    put_value(object, "loglik_constant", &s->loglik_constant);
    double units; /* states that are logarithms do not stream */
    json_object_set_new(object, "log_units", test && log_units(test, &units) ? json_real(units) : json_null());
    json_object_set_new(object, "worse_than_constant", json_boolean(s->worse_than_constant));
    put_value(object, "perplexity", &s->perplexity);
    put_value(object, "perplexity_raw", &s->perplexity_raw);
    json_object_set_new(object, "noisy", json_boolean(s->noisy));
    put_filter(object, s->noisy, "loglik_filter", &s->loglik_filter);
    put_filter(object, s->noisy, "loglik_filter_truth", &s->loglik_filter_truth);
    put_filter(object, s->noisy, "perplexity_filter", &s->perplexity_filter);
    put_filter(object, s->noisy, "perplexity_filter_raw", &s->perplexity_filter_raw);
    put_value(object, "loglik_moments", &s->loglik_moments);
    put_value(object, "loglik_moments_truth", &s->loglik_moments_truth);
    put_value(object, "perplexity_moments", &s->perplexity_moments);
    put_value(object, "perplexity_moments_raw", &s->perplexity_moments_raw);
    put_value(object, "re_f", &s->re_f);
    put_value(object, "re_a", &s->re_a);
    put_value(object, "mmd2", &s->mmd2);
    put_value(object, "mmd2_truth", &s->mmd2_truth);
    put_count(object, "intervals", s->intervals);
    put_count(object, "points", s->points);
    put_count(object, "d", s->d);
    json_object_set_new(object, "delta", json_real(s->delta));
    put_count(object, "singular", s->singular);
    put_count(object, "mmd_starts", s->mmd_starts);
    put_count(object, "mmd_paths", s->mmd_paths);
    put_count(object, "mmd_lost", s->mmd_lost);
    json_object_set_new(object, "mmd_eta", json_real(s->mmd_eta));
    put_count(object, "mmd_pairs", s->mmd_pairs);
    put_truth(object, t);
    json_object_set_new(object, "status", json_string(sock_status_text(status)));
    json_object_set_new(object, "seconds", json_real(s->seconds));
    char *text = json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    if (text) printf("%s\n", text);
    free(text);
    json_decref(object);
}

/* A singular covariance, where the paper scores with a delta: say which. */
static void hint_delta(const cli *c, const sock_scores *s, const truth *t)
{
    if (!t->model || s->delta > 0 || !(t->instance->system->delta > 0)) return;
    if (s->loglik.valid && s->loglik_truth.valid) return;
    cli_note(c, "%s has a singular diffusion: it is scored with --delta %g", t->instance->system->name,
             t->instance->system->delta);
}

static const double STRANGE = 2; /* nats a step and dimension: data of another level, process or unit */

/* A model that predicts worse than nothing is told on standard error, whatever else is printed. */
static void warn_of_constants(const cli *c, const sock_scores *s)
{
    if (!s->worse_than_constant) return;
    const bool moments = s->loglik_moments.valid;
    const bool by_moments = !s->loglik.valid || (moments && s->loglik_moments.value > s->loglik.value);
    const double own = by_moments ? s->loglik_moments.value : s->loglik.value;
    const bool far = s->loglik_constant.value - own > STRANGE * (double)(s->intervals * s->d);
    cli_usage_error(c,
                    "warning: the model is worse than constant coefficients on these data: log likelihood %.6g%s, "
                    "theirs, fitted to these very steps, wild ones too, %.6g; %s",
                    own,
                    by_moments ? " (by moments)"
                    : moments  ? ""
                               : " (by Euler's steps, no judge of long ones)",
                    s->loglik_constant.value,
                    far ? "are they of the same process, in the same units?" : "sock check says where it fails");
}

/* Is there a value that says anything of the model? */
static bool has_score(const sock_scores *s)
{
    return s->loglik.valid || s->loglik_moments.valid || s->loglik_filter.valid || s->re_f.valid || s->re_a.valid ||
           s->mmd2.valid;
}

static int run(int count, char **arguments)
{
    const char *train_path = NULL;
    truth t = {0};
    const cli_option own[] = {
        {"train", 0, &train_path, NULL, "FILE", "the data of the fit: their distances set the scale of the MMD"},
        {"truth", 0, &t.source, NULL, "TRUTH", TRUTH_HELP},
        {0}};
    cli c;
    sock_model *model = NULL;
    sock_data *test = NULL, *train = NULL;
    sock_scores scores;
    int code = cli_begin(&c, &verb_score, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 2);
    if (code >= 0) goto out;
    sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    code = status < 0 ? cli_fail(&c, status) : truth_load(&c, &t);
    const bool streams = code < 0 && strcmp(sock_options_get(c.opts, "stream"), "yes") == 0;
    const char *const *files = (const char *const *)c.operand + 1;
    const size_t tests = (size_t)c.operands - 1;
    if (streams && train_path)
        code = cli_usage_error(&c, "--train sets the scale of the MMD, which needs all data in memory: leave --stream "
                                   "out, or --train");
    if (code < 0)
        code = streams ? model_options(&c, model, tests, files)
                       : models_files_read(&c, model, t.model, tests, files, &test);
    if (code < 0 && train_path) code = models_data_read(&c, model, t.model, train_path, &train);
    if (code >= 0) goto out;
    status = streams ? sock_score_files(c.ctx, model, tests, files, t.model, c.opts, &scores)
                     : sock_score(c.ctx, model, test, train, t.model, c.opts, &scores);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    cli_caveat(&c, status);
    hint_delta(&c, &scores, &t);
    warn_of_constants(&c, &scores);
    if (c.json)
        print_json(&scores, &t, test, status);
    else {
        char unit[UNIT_ROOM];
        print_table(&scores, &t, model_unit_words(&c, model, unit));
        if (test) print_log_units(test, &scores);
    }
    code = cli_finish_output(&c);
    if (code == EXIT_DONE && !has_score(&scores)) code = cli_failure(&c, "no score of the model could be computed");
out:
    truth_clear(&t);
    sock_data_free(train);
    sock_data_free(test);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_score = {"score",
                             "score MODEL TEST... [--train FILE] [--truth TRUTH] [options]",
                             "score a model on test data",
                             "  sock score model.sock test.csv --train train.csv --truth truth.json\n"
                             "  sock score model.sock test.csv --train train.csv --truth gbm --json",
                             keys,
                             run};
