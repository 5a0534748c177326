/* claimrows.c - see claimrows.h. */
#include "experiments/claimrows.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const columns[] = {"claim", "case", "measure", "seed", "value", "goal", "of"};
enum { CLAIM, CASE, MEASURE, SEED, VALUE, GOAL, OF };

static json_t *claim_columns(void) { return exp_columns(COUNT(columns), columns); }

/* ---- Rows ---- */

sock_status claim_tell(const claim_teller *to, const char *name, const char *measure, double value, double goal,
                       const char *of)
{
    const exp_settings *settings = to->settings;
    char line[160];
    if (settings->quick && strncmp(measure, "cpu", 3) == 0)
        of = CLAIM_NONE; /* quick is a test, and tests are not timed */
    json_t *row = json_pack("[s, s, s, I, o, o, s]", to->claim, name, measure, (json_int_t)to->seed,
                            isfinite(value) ? json_real(value) : json_null(),
                            strcmp(of, CLAIM_NONE) == 0 ? json_null() : json_real(goal), of);
    snprintf(line, sizeof line, "%-10s %-18s seed %-4llu %-14s %.4g", to->claim, name, (unsigned long long)to->seed,
             measure, value);
    if (settings->say) settings->say(settings->user, line);
    return row && json_array_append_new(to->rows, row) == 0 ? SOCK_OK : SOCK_ENOMEM;
}

int claim_is_done(const json_t *rows, const char *claim, const char *name, uint64_t seed)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(exp_text_at(row, CLAIM), claim) == 0 && exp_number_at(row, SEED) == (double)seed &&
            (!name || strcmp(exp_text_at(row, CASE), name) == 0))
            return 1;
    }
    return 0;
}

/* ---- Over the seeds ---- */

static int is_same_measure(const json_t *one, const json_t *other)
{
    return strcmp(exp_text_at(one, CLAIM), exp_text_at(other, CLAIM)) == 0 &&
           strcmp(exp_text_at(one, CASE), exp_text_at(other, CASE)) == 0 &&
           strcmp(exp_text_at(one, MEASURE), exp_text_at(other, MEASURE)) == 0;
}

static int is_first(const json_t *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_same_measure(json_array_get(rows, i), json_array_get(rows, row))) return 0;
    return 1;
}

typedef struct spread {
    size_t count;
    double median, worst, mean, error; /* error: of the mean */
} spread;

/* values: room for as many as there are rows. A value that there is not is infinite. */
static spread spread_of(const json_t *rows, const json_t *like, double *values)
{
    spread s = {.worst = -INFINITY};
    double squares = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!is_same_measure(row, like)) continue;
        double value = exp_number_at(row, VALUE);
        values[s.count++] = isnan(value) ? (double)INFINITY : value;
        s.worst = fmax(s.worst, values[s.count - 1]);
        s.mean += values[s.count - 1];
    }
    s.mean /= (double)s.count;
    for (size_t i = 0; i < s.count; i++) squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.error = s.count > 1 ? sqrt(squares / (double)(s.count - 1) / (double)s.count) : (double)NAN;
    s.median = exp_quantile(s.count, values, 0.5);
    return s;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static double judged(const char *of, const spread *s)
{
    return strcmp(of, CLAIM_MEDIAN) == 0 ? s->median : strcmp(of, CLAIM_WORST) == 0 ? s->worst : fabs(s->mean);
}

static json_t *summary_of(const json_t *rows, const json_t *row, double *values)
{
    const char *of = exp_text_at(row, OF);
    const int has_goal = strcmp(of, CLAIM_NONE) != 0;
    spread s = spread_of(rows, row, values);
    const double goal = exp_number_at(row, GOAL);
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "claim", exp_text_at(row, CLAIM),
                     "case", exp_text_at(row, CASE), "measure", exp_text_at(row, MEASURE), "seeds", (json_int_t)s.count,
                     "median", number(s.median), "mean", number(s.mean), "error", number(s.error), "worst",
                     number(s.worst), "goal", has_goal ? number(goal) : json_null(), "of", of, "holds",
                     has_goal ? json_boolean(judged(of, &s) <= goal) : json_null());
}

json_t *claim_summary(const json_t *rows)
{
    json_t *summary = json_array();
    double *values = malloc((json_array_size(rows) + 1) * sizeof *values);
    int lacking = !summary || !values;
    for (size_t i = 0; !lacking && i < json_array_size(rows); i++)
        if (is_first(rows, i))
            lacking |= json_array_append_new(summary, summary_of(rows, json_array_get(rows, i), values));
    free(values);
    if (!lacking) return summary;
    json_decref(summary);
    return NULL;
}

static int is_text(const json_t *entry, const char *key, const char *text)
{
    return strcmp(json_string_value(json_object_get(entry, key)), text) == 0;
}

double claim_median(const json_t *summary, const char *claim, const char *name, const char *measure)
{
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i), *median = json_object_get(entry, "median");
        if (is_text(entry, "claim", claim) && is_text(entry, "case", name) && is_text(entry, "measure", measure))
            return json_is_number(median) ? json_number_value(median) : (double)INFINITY;
    }
    return (double)NAN;
}

int claim_add(json_t *summary, const char *claim, const char *name, const char *measure, double value, double goal)
{
    const int has_goal = !isnan(goal);
    return json_array_append_new(summary, json_pack("{s:s, s:s, s:s, s:n, s:o, s:n, s:n, s:n, s:o, s:s, s:o}", "claim",
                                                    claim, "case", name, "measure", measure, "seeds", "median",
                                                    number(value), "mean", "error", "worst", "goal", number(goal), "of",
                                                    has_goal ? CLAIM_MEDIAN : CLAIM_NONE, "holds",
                                                    has_goal ? json_boolean(value <= goal) : json_null()));
}

static json_t *failures_of(const json_t *summary)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        if (!json_is_false(json_object_get(entry, "holds"))) continue;
        json_array_append_new(failures, json_sprintf("%s, %s: %s is beyond the goal of %g",
                                                     json_string_value(json_object_get(entry, "claim")),
                                                     json_string_value(json_object_get(entry, "case")),
                                                     json_string_value(json_object_get(entry, "measure")),
                                                     json_number_value(json_object_get(entry, "goal"))));
    }
    return failures;
}

/* {"experiment", "first", "failures", "summary", "columns", "rows"}; takes summary, columns and rows. */
static json_t *claim_result(const char *experiment, uint64_t first, json_t *summary, json_t *names, json_t *rows)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "experiment", experiment, "first", (json_int_t)first, "failures",
                     failures_of(summary), "summary", summary, "columns", names, "rows", rows);
}

sock_status claim_run(sock_context *ctx, const exp_settings *settings, const claim_study *study, json_t **result)
{
    json_t *names = claim_columns(), *rows = NULL;
    sock_status status =
        exp_rows_resume(settings->output, names, json_array_size(names), settings->say, settings->user, &rows);
    if (status >= 0 && !settings->show) status = study->measure(ctx, settings, names, rows);
    json_t *summary = status >= 0 ? study->summarise(settings, rows) : NULL;
    if (status >= 0 && !summary) status = SOCK_ENOMEM;
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    *result = claim_result(study->name, settings->seed, summary, names, rows);
    return SOCK_OK;
}

double claim_percent(size_t count, const double *truth, const double *other)
{
    double off = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        off += (other[i] - truth[i]) * (other[i] - truth[i]);
        all += truth[i] * truth[i];
    }
    return 100 * sqrt(off / all);
}

/* ---- For people ---- */

static void print_number(const json_t *entry, const char *key, FILE *stream)
{
    const json_t *value = json_object_get(entry, key);
    if (json_is_number(value))
        fprintf(stream, " %11.4g", json_number_value(value));
    else
        fprintf(stream, " %11s", "-");
}

void claim_print(const json_t *result, FILE *stream)
{
    const json_t *summary = json_object_get(result, "summary");
    static const char *const numbers[] = {"seeds", "median", "mean", "error", "worst", "goal"};
    fprintf(stream, "%-10s %-18s %-20s", "claim", "case", "measure");
    for (size_t k = 0; k < COUNT(numbers); k++) fprintf(stream, " %11s", numbers[k]);
    fprintf(stream, " %-7s holds\n", "of");
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i), *holds = json_object_get(entry, "holds");
        fprintf(stream, "%-10s %-18s %-20s", json_string_value(json_object_get(entry, "claim")),
                json_string_value(json_object_get(entry, "case")),
                json_string_value(json_object_get(entry, "measure")));
        for (size_t k = 0; k < COUNT(numbers); k++) print_number(entry, numbers[k], stream);
        fprintf(stream, " %-7s %s\n", json_string_value(json_object_get(entry, "of")),
                json_is_null(holds)   ? "-"
                : json_is_true(holds) ? "yes"
                                      : "NO");
    }
}
