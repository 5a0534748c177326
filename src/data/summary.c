/* summary.c - what a data set holds, as one JSON object: what was read and dropped, counts, steps, ranges, and the
 * correlations of increments (lags.h). */
#include "summary.h"

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

json_t *sk_summary_names(sock_context *ctx, size_t d, char *const *name, bool *failed)
{
    json_t *names = json_array();
    for (size_t k = 0; k < d; k++) append(names, text(ctx, name[k]), failed);
    return names;
}

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
    put(object, "names", sk_summary_names(ctx, data->d, data->state, failed), failed);
}

static json_t *ignored_columns(sock_context *ctx, size_t columns, const sk_ignored *column, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < columns; i++) {
        json_t *one = json_object();
        put(one, "name", text(ctx, column[i].name), failed);
        put(one, "reason", text(ctx, column[i].why), failed);
        append(list, one, failed);
    }
    return list;
}

void sk_summary_dropped(sock_context *ctx, json_t *object, const sk_reading *r, char *const *name, size_t empty,
                        size_t single, bool *failed)
{
    json_t *lacking = json_object();
    for (size_t k = 0; r->missing_in && k <= r->columns; k++)
        if (r->missing_in[k]) put(lacking, k ? name[k - 1] : r->time, count(r->missing_in[k]), failed);
    json_t *dropped = json_object();
    put(dropped, "missing_values", lacking, failed);
    put(dropped, "missing_points", count(r->missing), failed);
    put(dropped, "thinned_points", count(r->thinned), failed);
    put(dropped, "empty_trajectories", count(empty), failed);
    put(dropped, "single_point_trajectories", count(single), failed);
    put(dropped, "ignored_columns", ignored_columns(ctx, r->ignored_count, r->ignored, failed), failed);
    put(object, "rows_read", count(r->rows), failed);
    put(object, "dropped", dropped, failed);
    put(object, "sorted_rows", count(r->unsorted), failed);
    if (r->unsorted) put(object, "sorted_first", count(r->unsorted_at), failed);
}

static sock_status put_dropped(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    sk_reading reading = {0};
    char **name = sk_alloc(ctx, data->d + data->inputs, sizeof *name);
    sock_status status = name ? sk_reading_add(ctx, data, &reading) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < data->d + data->inputs; k++)
        name[k] = k < data->d ? data->state[k] : data->input[k - data->d];
    if (status >= 0) sk_summary_dropped(ctx, object, &reading, name, data->empty, data->single, failed);
    sk_reading_clear(&reading);
    sk_free(name);
    return status;
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

void sk_summary_times(sock_context *ctx, json_t *object, const char *name, const char *unit, const sk_times *times,
                      bool *failed)
{
    json_t *steps = json_null();
    if (times->steps) {
        steps = json_object();
        put(steps, "min", number(times->least), failed);
        put(steps, "median", number(times->median), failed);
        put(steps, "max", number(times->most), failed);
    }
    put(object, "time_name", text(ctx, name), failed);
    if (unit) put_dates(object, unit, times->low, times->high, failed);
    put(object, "time_step", steps, failed);
    json_t *range = json_object();
    put(range, "min", number(times->low), failed);
    put(range, "max", number(times->high), failed);
    put(object, "time_range", range, failed);
}

static sock_status put_clock(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    bool clock;
    SK_TRY(sk_times_are_clock(ctx, data, &clock));
    put(object, "clock_times", json_boolean(clock), failed);
    return SOCK_OK;
}

static sock_status put_times(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    const size_t n = sk_data_intervals(data);
    double *step = sorted_steps(ctx, data, n);
    if (!step) return SOCK_ENOMEM;
    sk_times times = {.steps = n, .low = data->t[0], .high = data->t[0]};
    if (n) {
        times.least = step[0];
        times.median = 0.5 * (step[(n - 1) / 2] + step[n / 2]);
        times.most = step[n - 1];
    }
    sk_free(step);
    for (size_t i = 1; i < data->points; i++) {
        times.low = fmin(times.low, data->t[i]);
        times.high = fmax(times.high, data->t[i]);
    }
    sk_summary_times(ctx, object, data->time, data->unit, &times, failed);
    return SOCK_OK;
}

/* ---- States ---- */

static json_t *range_object(size_t points, const sk_range *r, bool *failed)
{
    json_t *range = json_object();
    put(range, "min", number(r->low), failed);
    put(range, "max", number(r->high), failed);
    put(range, "mean", number(r->mean), failed);
    put(range, "sd", points > 1 ? number(sqrt(r->squares / (double)(points - 1))) : json_null(), failed);
    return range;
}

sk_range sk_range_of(size_t points, const double *x, size_t stride)
{
    sk_range r = {x[0], x[0], 0, 0};
    for (size_t i = 0; i < points; i++) {
        const double value = x[i * stride];
        r.low = fmin(r.low, value);
        r.high = fmax(r.high, value);
        r.mean += value / (double)points; /* divided first: the sum itself might be too large */
    }
    r.mean = fmin(fmax(r.mean, r.low), r.high); /* against rounding: a column that never changes has sd 0 */
    for (size_t i = 0; i < points; i++) r.squares += (x[i * stride] - r.mean) * (x[i * stride] - r.mean);
    return r;
}

sk_lag sk_summary_lag(size_t i)
{
    if (i < SK_SUMMARY_PLAIN) return (sk_lag[]){{1, 1, false}, {1, 2, false}, {1, 1, true}}[i];
    const size_t m = (size_t)2 << (i - SK_SUMMARY_PLAIN);
    return (sk_lag){m, m, false};
}

size_t sk_summary_lags(void)
{
    size_t count = SK_SUMMARY_PLAIN;
    for (size_t m = 2; m <= SK_THIN_MOST; m *= 2) count++;
    return count;
}

void sk_summary_states(json_t *object, size_t points, size_t d, const sk_range *range, const sk_lag_sums *sums,
                       bool *failed)
{
    const size_t lags = sk_summary_lags();
    static const char *const key[SK_SUMMARY_PLAIN] = {"lag1", "lag2", "second_differences"};
    json_t *ranges = json_array(), *reasons = json_array(), *plain[SK_SUMMARY_PLAIN], *thinned = json_array();
    for (size_t i = 0; i < SK_SUMMARY_PLAIN; i++) plain[i] = json_array();
    for (size_t k = 0; k < d; k++) {
        json_t *values = json_array();
        append(ranges, range_object(points, &range[k], failed), failed);
        for (size_t i = 0; i < lags; i++) {
            const char *reason;
            const double r = sk_lag_of(&sums[k * lags + i], &reason);
            append(i < SK_SUMMARY_PLAIN ? plain[i] : values, reason ? json_null() : number(r), failed);
            if (i == 0) append(reasons, reason ? json_string(reason) : json_null(), failed);
        }
        append(thinned, values, failed);
    }
    put(object, "state", ranges, failed);
    put(object, "lag1", plain[0], failed);
    put(object, "lag1_reason", reasons, failed);
    for (size_t i = 1; i < SK_SUMMARY_PLAIN; i++) put(object, key[i], plain[i], failed);
    put(object, "lag1_thinned", thinned, failed);
}

static sock_status put_states(sock_context *ctx, json_t *object, const sock_data *data, const sk_wild *wild,
                              bool *failed)
{
    const size_t lags = sk_summary_lags();
    sk_range *range = sk_alloc(ctx, data->d, sizeof *range);
    sk_lag_sums *sums = sk_alloc(ctx, data->d * lags, sizeof *sums);
    for (size_t k = 0; range && sums && k < data->d; k++) {
        range[k] = sk_range_of(data->points, data->x + k, data->d);
        for (size_t i = 0; i < lags; i++) sums[k * lags + i] = sk_lag_gather(data, wild->step, 0, k, sk_summary_lag(i));
    }
    const sock_status status = range && sums ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) sk_summary_states(object, data->points, data->d, range, sums, failed);
    sk_free(range);
    sk_free(sums);
    return status;
}

/* ---- Wild values ---- */

json_t *sk_summary_wild_step(sock_context *ctx, const sock_data *data, const sk_wild_step *step, bool *failed)
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

sock_status sk_summary_codes(sock_context *ctx, json_t *object, const sock_data *data, bool *failed)
{
    sk_code_list codes = {0};
    json_t *values = json_array();
    const sock_status status = sk_codes_find(ctx, data, &codes);
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

static void put_wild(sock_context *ctx, json_t *object, const sock_data *data, const sk_wild *wild, bool *failed)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < wild->named; i++)
        append(steps, sk_summary_wild_step(ctx, data, &wild->name[i], failed), failed);
    put(object, "wild_steps", count(wild->count), failed);
    put(object, "gaps", count(wild->gaps), failed);
    put(object, "wild", steps, failed);
}

/* States that are no processes of their own. */
sock_status sk_summary_courses(sock_context *ctx, json_t *object, const sock_data *data, const bool *skip, bool *failed)
{
    sk_courses courses;
    json_t *list = json_array();
    const sock_status status = sk_courses_find(ctx, data, skip, &courses);
    for (size_t i = 0; i < courses.count; i++) append(list, text(ctx, courses.text[i]), failed);
    put(object, "followers", list, failed);
    list = json_array();
    for (size_t i = 0; i < courses.angles; i++) append(list, text(ctx, courses.angle[i].text), failed);
    put(object, "angles", list, failed);
    put(object, "smooth", json_boolean(courses.smooth), failed);
    sk_courses_clear(&courses);
    return status;
}

/* ---- The whole ---- */

sock_status sk_summary_reserve(sock_context *ctx, size_t d)
{
    return sk_reserve(ctx, (1024 + 512 * SK_CODES) * d + 1024 * SK_WILD_TOLD + SK_JSON_SMALL);
}

sock_status sk_summary_write(sock_context *ctx, const json_t *object, bool failed, char **json)
{
    char *dumped = failed ? NULL : json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(2));
    char *copy = dumped ? sk_strdup(ctx, dumped) : NULL;
    free(dumped);
    if (!copy) return sk_fail(ctx, SOCK_ENOMEM, "out of memory while the summary was written");
    *json = copy;
    return SOCK_OK;
}

sock_status sock_data_summary(sock_context *ctx, const sock_data *data, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !json) return sk_fail(ctx, SOCK_EUSAGE, "data and json must not be NULL");
    SK_TRY(sk_summary_reserve(ctx, data->d));
    bool failed = false;
    json_t *object = json_object();
    sk_wild wild = {0};
    sock_status status = SOCK_OK;
    put_counts(ctx, object, data, &failed);
    SK_GO(put_times(ctx, object, data, &failed));
    SK_GO(put_clock(ctx, object, data, &failed));
    SK_GO(sk_wild_find(ctx, data, &wild));
    SK_GO(put_states(ctx, object, data, &wild, &failed));
    put_wild(ctx, object, data, &wild, &failed);
    SK_GO(sk_summary_codes(ctx, object, data, &failed));
    SK_GO(sk_summary_courses(ctx, object, data, wild.step, &failed));
    SK_GO(put_dropped(ctx, object, data, &failed));
    put(object, "hash", json_sprintf("%016llx", (unsigned long long)data->hash), &failed);
    put(object, "states_hash", json_sprintf("%016llx", (unsigned long long)sk_data_states_hash(data)), &failed);
    status = sk_summary_write(ctx, object, failed, json);
out:
    sk_wild_clear(&wild);
    json_decref(object);
    return status;
}
