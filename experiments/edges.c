/* edges.c - the default at its edges: one claim after the other (edgeclaims.c), each with its goal, on data made for
 * it.
 *
 * A claim measures numbers on one seed; the study asks of their medians (or of the worst, or of the absolute mean, as
 * the measure says) whether they are within the goal. A row is kept as soon as its claim is through with a seed; with a
 * file of rows, only what is not there is computed. */
#include "experiments/edges.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const columns[] = {"claim", "case", "measure", "seed", "value", "goal", "of"};
enum { CLAIM, CASE, MEASURE, SEED, VALUE, GOAL, OF };

/* ---- Numbers ---- */

sock_status edge_tell(edge *e, const char *name, const char *measure, double value, double goal, const char *of)
{
    char line[160];
    if (e->settings->quick && strncmp(measure, "cpu", 3) == 0)
        of = EDGE_NONE; /* quick is a test, and tests are not timed */
    json_t *row = json_pack("[s, s, s, I, o, o, s]", e->claim->name, name, measure, (json_int_t)e->seed,
                            isfinite(value) ? json_real(value) : json_null(),
                            strcmp(of, EDGE_NONE) == 0 ? json_null() : json_real(goal), of);
    snprintf(line, sizeof line, "%-10s %-18s seed %-4llu %-14s %.4g", e->claim->name, name, (unsigned long long)e->seed,
             measure, value);
    if (e->settings->say) e->settings->say(e->settings->user, line);
    return row && json_array_append_new(e->rows, row) == 0 ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- The study ---- */

static int is_wanted(const exp_settings *settings, const edge_claim *c)
{
    if (settings->names) return exp_is_named(settings->names, c->name);
    return c->size == EDGE_USUAL || (!settings->quick && (c->size == EDGE_LARGE || settings->full));
}

static size_t seeds_of(const exp_settings *settings, const edge_claim *c)
{
    return settings->seeds ? settings->seeds : settings->quick ? 1 : c->seeds;
}

static int is_done(const json_t *rows, const edge_claim *c, uint64_t seed)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(exp_text_at(row, CLAIM), c->name) == 0 && exp_number_at(row, SEED) == (double)seed) return 1;
    }
    return 0;
}

static sock_status run_seed(edge *e, const json_t *names, json_t *rows)
{
    e->rows = json_array();
    sock_status status = e->rows ? e->claim->measure(e) : SOCK_ENOMEM;
    if (status >= 0 && json_array_extend(rows, e->rows) != 0) status = SOCK_ENOMEM;
    json_decref(e->rows);
    if (status >= 0 && e->settings->output) status = exp_rows_write(e->ctx, e->settings->output, names, rows);
    return status < 0 ? status : SOCK_OK;
}

static sock_status run_claims(sock_context *ctx, const exp_settings *settings, const json_t *names, json_t *rows)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; i < edge_claim_count; i++)
        for (size_t k = 0; status >= 0 && k < seeds_of(settings, &edge_claims[i]); k++) {
            edge e = {.ctx = ctx, .settings = settings, .claim = &edge_claims[i], .seed = settings->seed + k};
            if (is_wanted(settings, &edge_claims[i]) && !is_done(rows, &edge_claims[i], e.seed))
                status = run_seed(&e, names, rows);
        }
    return status;
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
    return strcmp(of, EDGE_MEDIAN) == 0 ? s->median : strcmp(of, EDGE_WORST) == 0 ? s->worst : fabs(s->mean);
}

static json_t *summary_of(const json_t *rows, const json_t *row, double *values)
{
    const char *of = exp_text_at(row, OF);
    const int has_goal = strcmp(of, EDGE_NONE) != 0;
    spread s = spread_of(rows, row, values);
    const double goal = exp_number_at(row, GOAL);
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "claim", exp_text_at(row, CLAIM),
                     "case", exp_text_at(row, CASE), "measure", exp_text_at(row, MEASURE), "seeds", (json_int_t)s.count,
                     "median", number(s.median), "mean", number(s.mean), "error", number(s.error), "worst",
                     number(s.worst), "goal", has_goal ? number(goal) : json_null(), "of", of, "holds",
                     has_goal ? json_boolean(judged(of, &s) <= goal) : json_null());
}

/* ---- Slopes of long data ---- */

/* Of log RE_f over log n, by least squares on the medians. */
static double slope_of(const json_t *summary, const char *system)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        const char *measure = json_string_value(json_object_get(entry, "measure")), *at = strstr(measure, "n = ");
        if (strcmp(json_string_value(json_object_get(entry, "claim")), "long") != 0 ||
            strcmp(json_string_value(json_object_get(entry, "case")), system) != 0 || !at ||
            strncmp(measure, "RE_f", 4) != 0)
            continue;
        double u = log(strtod(at + 4, NULL)), v = log(json_number_value(json_object_get(entry, "median")));
        n++, x += u, y += v, xx += u * u, xy += u * v;
    }
    return n < 2 ? (double)NAN : (n * xy - x * y) / (n * xx - x * x);
}

static int add_slopes(json_t *summary)
{
    static const double goal = -0.4;
    int lacking = 0;
    for (const char *const *system = edge_long_systems; *system; system++) {
        double slope = slope_of(summary, *system);
        if (isnan(slope)) continue;
        lacking |= json_array_append_new(
            summary, json_pack("{s:s, s:s, s:s, s:n, s:f, s:n, s:n, s:n, s:f, s:s, s:b}", "claim", "long", "case",
                               *system, "measure", "slope of log RE_f", "seeds", "median", slope, "mean", "error",
                               "worst", "goal", goal, "of", EDGE_MEDIAN, "holds", slope <= goal));
    }
    return lacking;
}

/* NULL when out of memory. */
static json_t *summarise(const json_t *rows)
{
    json_t *summary = json_array();
    double *values = malloc((json_array_size(rows) + 1) * sizeof *values);
    int lacking = !summary || !values;
    for (size_t i = 0; !lacking && i < json_array_size(rows); i++)
        if (is_first(rows, i))
            lacking |= json_array_append_new(summary, summary_of(rows, json_array_get(rows, i), values));
    free(values);
    if (!lacking) lacking = add_slopes(summary);
    if (!lacking) return summary;
    json_decref(summary);
    return NULL;
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

static sock_status run_edges(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    json_t *names = exp_columns(COUNT(columns), columns), *rows = NULL;
    sock_status status =
        exp_rows_resume(settings->output, names, json_array_size(names), settings->say, settings->user, &rows);
    if (status >= 0) status = run_claims(ctx, settings, names, rows);
    json_t *summary = status >= 0 ? summarise(rows) : NULL;
    if (status >= 0 && !summary) status = SOCK_ENOMEM;
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    *result = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "experiment", "edges", "first", (json_int_t)settings->seed,
                        "failures", failures_of(summary), "summary", summary, "columns", names, "rows", rows);
    return SOCK_OK;
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

static void print_edges(const json_t *result, FILE *stream)
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

const exp_experiment exp_edges = {.name = "edges",
                                  .summary = "the default at its edges: shifted, long, wild, high-dimensional data",
                                  .takes = EXP_TAKES_SEEDS | EXP_TAKES_FULL,
                                  .sets = edge_claim_names,
                                  .resumes = 1,
                                  .run = run_edges,
                                  .print = print_edges};
