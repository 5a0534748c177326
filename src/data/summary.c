/* summary.c - what a data set holds, as one JSON object: what was read and dropped, counts, steps, ranges, and the
 * correlations of increments (lags.h). */
#include "courses.h"
#include "dates.h"
#include "grouping.h"
#include "lags.h"
#include "readers.h"
#include "tune/policy.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Pieces of JSON: each takes over what it is given; NULL stands for out of memory and passes through ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }
static json_t *count(size_t value) { return json_integer((json_int_t)value); }

static json_t *text(sock_context *ctx, const char *value)
{
    char *copy = sk_utf8_copy(ctx, value);
    if (!copy) return NULL;
    json_t *plain = json_string(copy);
    sk_free(copy);
    return plain;
}

/* All failures of jansson are out of memory here; `failed` collects them. */
static void put(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value) != 0) *failed = true;
}

static void append(json_t *list, json_t *value, bool *failed)
{
    if (json_array_append_new(list, value) != 0) *failed = true;
}

/* ---- Counts ---- */

static void put_counts(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    size_t least = data->trajectories, most = 0;
    for (size_t g = 0; g < data->groups; g++) {
        size_t members = data->group_first[g + 1] - data->group_first[g];
        least = SK_MIN(least, members);
        most = SK_MAX(most, members);
    }
    put(object, "source", text(ctx, data->source), failed);
    put(object, "d", count(data->d), failed);
    put(object, "trajectories", count(data->trajectories), failed);
    put(object, "groups", count(data->groups), failed);
    put(object, "realisations", json_pack("{s:o, s:o}", "min", count(least), "max", count(most)), failed);
    put(object, "points", count(data->points), failed);
    put(object, "intervals", count(sk_data_intervals(data)), failed);
    put(object, "steps", count(data->points - data->trajectories), failed);
    json_t *names = json_array();
    for (size_t k = 0; k < data->d; k++) append(names, text(ctx, data->state[k]), failed);
    put(object, "names", names, failed);
}

static void put_dropped(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    json_t *ignored = json_array();
    for (size_t i = 0; i < data->ignored_count; i++) {
        json_t *column = json_object();
        put(column, "name", text(ctx, data->ignored[i].name), failed);
        put(column, "reason", text(ctx, data->ignored[i].why), failed);
        append(ignored, column, failed);
    }
    json_t *lacking = json_object();
    for (size_t k = 0; data->missing_in && k <= data->d + data->inputs - data->timed; k++) {
        const char *name = k == 0 ? data->time : k <= data->d ? data->state[k - 1] : data->input[k - 1 - data->d];
        if (data->missing_in[k]) put(lacking, name, count(data->missing_in[k]), failed);
    }
    json_t *dropped = json_object();
    put(dropped, "missing_values", lacking, failed);
    put(dropped, "missing_points", count(data->missing), failed);
    put(dropped, "thinned_points", count(data->thinned), failed);
    put(dropped, "empty_trajectories", count(data->empty), failed);
    put(dropped, "single_point_trajectories", count(data->single), failed);
    put(dropped, "ignored_columns", ignored, failed);
    put(object, "rows_read", count(data->rows_read), failed);
    put(object, "dropped", dropped, failed);
    put(object, "sorted_rows", count(data->unsorted), failed);
    if (data->unsorted) put(object, "sorted_first", count(data->unsorted_at), failed);
}

/* ---- Times ---- */

static int smaller(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The n steps, one for each interval of each group, in rising order. */
static double *sorted_steps(sock_context *ctx, const sock_data *data, size_t n)
{
    double *step = sk_doubles(ctx, n, 1);
    if (!step) return NULL;
    size_t i = 0;
    for (size_t g = 0; g < data->groups; g++) {
        const double *t = data->t + data->first[data->member[data->group_first[g]]];
        for (size_t k = 0; k < sk_group_intervals(data, g); k++) step[i++] = t[k + 1] - t[k];
    }
    qsort(step, n, sizeof *step, smaller);
    return step;
}

/* Times that were dates: their unit, and the first and last date. */
static void put_dates(json_t *object, const char *unit, double low, double high, bool *failed)
{
    char first[SK_DATE_ROOM], last[SK_DATE_ROOM];
    sk_format_date(low * sk_unit_seconds(unit), first);
    sk_format_date(high * sk_unit_seconds(unit), last);
    put(object, "time_unit", json_string(unit), failed);
    put(object, "dates", json_pack("{s:s, s:s}", "first", first, "last", last), failed);
}

static sock_status put_times(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    size_t n = sk_data_intervals(data);
    double *step = sorted_steps(ctx, data, n), low = data->t[0], high = data->t[0];
    if (!step) return SOCK_ENOMEM;
    json_t *steps = json_null();
    if (n) {
        steps = json_object();
        put(steps, "min", number(step[0]), failed);
        put(steps, "median", number(0.5 * (step[(n - 1) / 2] + step[n / 2])), failed);
        put(steps, "max", number(step[n - 1]), failed);
    }
    sk_free(step);
    for (size_t i = 1; i < data->points; i++) {
        low = fmin(low, data->t[i]);
        high = fmax(high, data->t[i]);
    }
    put(object, "time_name", text(ctx, data->time), failed);
    if (data->unit) put_dates(object, data->unit, low, high, failed);
    put(object, "time_step", steps, failed);
    json_t *range = json_object();
    put(range, "min", number(low), failed);
    put(range, "max", number(high), failed);
    put(object, "time_range", range, failed);
    return SOCK_OK;
}

/* ---- States ---- */

static json_t *state_range(const sock_data *data, size_t k, bool *failed)
{
    const double *x = data->x + k;
    double low = x[0], high = x[0], sum = 0, squares = 0;
    for (size_t i = 0; i < data->points; i++) {
        double value = x[i * data->d];
        low = fmin(low, value);
        high = fmax(high, value);
        sum += value / (double)data->points; /* divided first: the sum itself might be too large */
    }
    sum = fmin(fmax(sum, low), high); /* against rounding: a column that never changes has sd 0 */
    for (size_t i = 0; i < data->points; i++) squares += (x[i * data->d] - sum) * (x[i * data->d] - sum);
    json_t *range = json_object();
    put(range, "min", number(low), failed);
    put(range, "max", number(high), failed);
    put(range, "mean", number(sum), failed);
    put(range, "sd", data->points > 1 ? number(sqrt(squares / (double)(data->points - 1))) : json_null(), failed);
    return range;
}

static void put_correlation(const sock_data *data, const sk_wild *wild, size_t k, sk_lag lag, json_t *values,
                            bool *failed)
{
    const char *reason;
    const double r = sk_lag_correlation(data, wild, k, lag, &reason);
    append(values, reason ? json_null() : number(r), failed);
}

/* Correlations of neighbouring increments over 2, 4, 8.. steps. */
static json_t *thinned_lags(const sock_data *data, const sk_wild *wild, size_t k, bool *failed)
{
    json_t *values = json_array();
    for (size_t m = 2; m <= SK_THIN_MOST; m *= 2) put_correlation(data, wild, k, (sk_lag){m, m, false}, values, failed);
    return values;
}

static void put_states(json_t *object, const sock_data *data, const sk_wild *wild, bool *failed)
{
    json_t *ranges = json_array(), *values = json_array(), *reasons = json_array(), *two = json_array();
    json_t *second = json_array(), *thinned = json_array();
    for (size_t k = 0; k < data->d; k++) {
        const char *reason;
        const double r = sk_lag_correlation(data, wild, k, (sk_lag){1, 1, false}, &reason);
        append(ranges, state_range(data, k, failed), failed);
        append(values, reason ? json_null() : number(r), failed);
        append(reasons, reason ? json_string(reason) : json_null(), failed);
        put_correlation(data, wild, k, (sk_lag){1, 2, false}, two, failed);
        put_correlation(data, wild, k, (sk_lag){1, 1, true}, second, failed);
        append(thinned, thinned_lags(data, wild, k, failed), failed);
    }
    put(object, "state", ranges, failed);
    put(object, "lag1", values, failed);
    put(object, "lag1_reason", reasons, failed);
    put(object, "lag2", two, failed);
    put(object, "second_differences", second, failed);
    put(object, "lag1_thinned", thinned, failed);
}

/* ---- Wild values ---- */

static json_t *wild_step(sock_context *ctx, const sock_data *data, const sk_wild_step *step, bool *failed)
{
    const double *x = data->x + step->point * data->d + step->state;
    size_t j = 0;
    while (data->first[j + 1] <= step->point) j++;
    json_t *one = json_object();
    put(one, "trajectory", text(ctx, data->id[j]), failed);
    put(one, "time", number(data->t[step->point]), failed);
    put(one, "state", text(ctx, data->state[step->state]), failed);
    put(one, "from", number(x[0]), failed);
    put(one, "to", number(x[data->d]), failed);
    put(one, "deviations", number(step->size), failed);
    return one;
}

static sock_status put_wild(sock_context *ctx, json_t *object, const sock_data *data, const sk_wild *wild, bool *failed)
{
    sk_code_list codes = {0};
    json_t *steps = json_array(), *values = json_array();
    for (size_t i = 0; i < wild->named; i++) append(steps, wild_step(ctx, data, &wild->name[i], failed), failed);
    put(object, "wild_steps", count(wild->count), failed);
    put(object, "wild", steps, failed);
    sock_status status = sk_codes_find(ctx, data, &codes);
    for (size_t i = 0; i < codes.count; i++) {
        json_t *one = json_object();
        put(one, "state", text(ctx, sk_code_column(data, &codes.code[i])), failed);
        put(one, "value", number(codes.code[i].value), failed);
        put(one, "count", count(codes.code[i].count), failed);
        append(values, one, failed);
    }
    put(object, "codes", values, failed);
    sk_free(codes.code);
    return status;
}

/* States that are no processes of their own. */
static sock_status put_courses(sock_context *ctx, json_t *object, const sock_data *data, const sk_wild *wild,
                               bool *failed)
{
    sk_courses courses;
    json_t *list = json_array();
    const sock_status status = sk_courses_find(ctx, data, wild->step, &courses);
    for (size_t i = 0; i < courses.count; i++) append(list, text(ctx, courses.text[i]), failed);
    put(object, "followers", list, failed);
    list = json_array();
    for (size_t i = 0; i < courses.angles; i++) append(list, text(ctx, courses.angle[i].text), failed);
    put(object, "angles", list, failed);
    put(object, "smooth", json_boolean(courses.smooth), failed);
    sk_courses_clear(&courses);
    return status;
}

sock_status sock_data_summary(sock_context *ctx, const sock_data *data, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !json) return sk_fail(ctx, SOCK_EUSAGE, "data and json must not be NULL");
    SK_TRY(sk_reserve(ctx, (1024 + 512 * SK_CODES) * data->d + 1024 * SK_WILD_TOLD + SK_JSON_SMALL));
    bool failed = false;
    json_t *object = json_object();
    sk_wild wild = {0};
    char *dumped = NULL, *copy = NULL;
    sock_status status = SOCK_OK;
    put_counts(ctx, object, data, &failed);
    SK_GO(put_times(ctx, object, data, &failed));
    SK_GO(sk_wild_find(ctx, data, &wild));
    put_states(object, data, &wild, &failed);
    SK_GO(put_wild(ctx, object, data, &wild, &failed));
    SK_GO(put_courses(ctx, object, data, &wild, &failed));
    put_dropped(ctx, object, data, &failed);
    put(object, "hash", json_sprintf("%016llx", (unsigned long long)data->hash), &failed);
    put(object, "states_hash", json_sprintf("%016llx", (unsigned long long)sk_data_states_hash(data)), &failed);
    if (!failed) dumped = json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(2));
    copy = dumped ? sk_strdup(ctx, dumped) : NULL;
    if (copy)
        *json = copy;
    else
        status = sk_fail(ctx, SOCK_ENOMEM, "out of memory while the summary was written");
out:
    sk_wild_clear(&wild);
    free(dumped);
    json_decref(object);
    return status;
}
