/* infostream.c - what files hold that stay on the disk. Counts, ranges and correlations are sums over all steps, made
 * in one pass; the median of steps that differ is found in up to four more, digit by digit; what needs many values side
 * by side (codes, copies, angles, smooth states, the order) is looked for in the sample that a fit of the stream has.
 */
#include "api/fitjob.h"
#include "api/orderstat.h"
#include "data/dates.h"
#include "data/source.h"
#include "data/summary.h"
#include "tune/policy.h"
#include "tune/streamrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 2,                 /* rows: so many times the sample are described as a whole */
    CARRIED = 2 * SK_THIN_MOST /* points that pairs with those of the next piece may need */
};

typedef struct named_step {
    double size;
    json_t *told;
} named_step;

/* The last points of a trajectory that goes on. */
typedef struct carry {
    size_t points;
    double *t, *x;
    bool *skip;
} carry;

typedef struct survey {
    size_t d, lags, points, trajectories, single;
    char **name;
    sk_range *range;   /* d */
    sk_lag_sums *sums; /* d x lags */
    sk_times times;
    sk_reading reading;
    size_t wild, gaps, named;
    bool other_times;              /* some are no clock's */
    named_step step[SK_WILD_TOLD]; /* the largest, falling */
    carry tail;
    bool failed;
} survey;

static void survey_clear(survey *s)
{
    for (size_t k = 0; s->name && k < s->d; k++) sk_free(s->name[k]);
    for (size_t i = 0; i < s->named; i++) json_decref(s->step[i].told);
    sk_free(s->name);
    sk_free(s->range);
    sk_free(s->sums);
    sk_free(s->tail.t);
    sk_free(s->tail.x);
    sk_free(s->tail.skip);
    sk_reading_clear(&s->reading);
}

static sock_status begin(sock_context *ctx, survey *s, const sock_data *data)
{
    s->d = data->d;
    s->lags = sk_summary_lags();
    s->name = sk_alloc(ctx, s->d, sizeof *s->name);
    s->range = sk_alloc(ctx, s->d, sizeof *s->range);
    s->sums = sk_alloc(ctx, s->d * s->lags, sizeof *s->sums);
    s->tail.t = sk_doubles(ctx, CARRIED, 1);
    s->tail.x = sk_doubles(ctx, CARRIED, s->d);
    s->tail.skip = sk_alloc(ctx, CARRIED, sizeof *s->tail.skip);
    if (!s->name || !s->range || !s->sums || !s->tail.t || !s->tail.x || !s->tail.skip) return SOCK_ENOMEM;
    for (size_t k = 0; k < s->d; k++) {
        s->range[k] = (sk_range){(double)INFINITY, -(double)INFINITY, 0, 0};
        if (!(s->name[k] = sk_strdup(ctx, data->state[k]))) return SOCK_ENOMEM;
    }
    s->times = (sk_times){.low = (double)INFINITY, .high = -(double)INFINITY, .least = (double)INFINITY};
    return SOCK_OK;
}

/* ---- Sums ---- */

/* Of `more` points, where there are `points` by now. */
static void join_range(size_t points, size_t more, const sk_range *part, sk_range *to)
{
    const double share = (double)more / (double)(points + more), apart = part->mean - to->mean;
    to->low = fmin(to->low, part->low);
    to->high = fmax(to->high, part->high);
    to->squares += part->squares + apart * apart * share * (double)points;
    to->mean = fmin(fmax(to->mean + apart * share, to->low), to->high);
}

static void add_points(survey *s, const sock_data *data, size_t begin)
{
    const size_t n = data->points - begin;
    for (size_t k = 0; n && k < s->d; k++) {
        const sk_range part = sk_range_of(n, data->x + begin * s->d + k, s->d);
        join_range(s->points, n, &part, &s->range[k]);
    }
    s->points += n;
    for (size_t i = 0; i < data->points; i++) {
        s->times.low = fmin(s->times.low, data->t[i]);
        s->times.high = fmax(s->times.high, data->t[i]);
    }
}

static void add_steps(survey *s, const sock_data *data)
{
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double step = data->t[i + 1] - data->t[i];
            s->times.least = fmin(s->times.least, step);
            s->times.most = fmax(s->times.most, step);
            s->times.steps++;
        }
}

static void add_lags(survey *s, const sock_data *data, const bool *skip, size_t seen)
{
    for (size_t k = 0; k < s->d; k++)
        for (size_t i = 0; i < s->lags; i++) {
            const sk_lag_sums part = sk_lag_gather(data, skip, seen, k, sk_summary_lag(i));
            sk_lag_join(&part, &s->sums[k * s->lags + i]);
        }
}

/* The last points of data, which goes on. skip: NULL where no step is left out. */
static void keep_tail(survey *s, const sock_data *data, const bool *skip)
{
    const size_t count = SK_MIN(data->points, (size_t)CARRIED), from = data->points - count;
    s->tail.points = count;
    memmove(s->tail.t, data->t + from, count * sizeof *data->t);
    memmove(s->tail.x, data->x + from * s->d, count * s->d * sizeof *data->x);
    for (size_t i = 0; i < count; i++) s->tail.skip[i] = skip && skip[from + i];
}

/* Pairs of a piece of a trajectory, some of which began in the piece before. shared: whether it begins with the last
 * point of that. */
static sock_status add_piece(sock_context *ctx, survey *s, const sk_chunk *chunk, const bool *skip, bool shared)
{
    const sock_data *data = chunk->data;
    const carry *c = &s->tail;
    const size_t seen = c->points, more = data->points - shared, all = seen + more;
    size_t first[2] = {0, all};
    sock_data whole = {.d = s->d, .trajectories = 1, .points = all, .first = first};
    whole.t = sk_doubles_unset(ctx, all, 1);
    whole.x = sk_doubles_unset(ctx, all, s->d);
    bool *left = sk_alloc(ctx, all, sizeof *left);
    const bool room = whole.t && whole.x && left;
    if (room) {
        memcpy(whole.t, c->t, seen * sizeof *whole.t);
        memcpy(whole.x, c->x, seen * s->d * sizeof *whole.x);
        memcpy(left, c->skip, seen * sizeof *left);
        memcpy(whole.t + seen, data->t + shared, more * sizeof *whole.t);
        memcpy(whole.x + seen * s->d, data->x + shared * s->d, more * s->d * sizeof *whole.x);
        for (size_t i = 0; skip && i < data->points; i++) left[seen - shared + i] = skip[i];
        add_lags(s, &whole, left, seen);
        if (chunk->goes_on) keep_tail(s, &whole, left);
    }
    sk_free(whole.t);
    sk_free(whole.x);
    sk_free(left);
    return room ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Wild steps ---- */

static void name_steps(sock_context *ctx, survey *s, const sock_data *data, const sk_wild *wild)
{
    s->wild += wild->count;
    s->gaps += wild->gaps;
    for (size_t i = 0; i < wild->named; i++) {
        const double size = wild->name[i].size;
        if (s->named == SK_WILD_TOLD && s->step[SK_WILD_TOLD - 1].size >= size) return;
        json_t *told = sk_summary_wild_step(ctx, data, &wild->name[i], &s->failed);
        if (s->named == SK_WILD_TOLD)
            json_decref(s->step[SK_WILD_TOLD - 1].told);
        else
            s->named++;
        size_t at = s->named - 1;
        for (; at > 0 && s->step[at - 1].size < size; at--) s->step[at] = s->step[at - 1];
        s->step[at] = (named_step){size, told};
    }
}

/* ---- The pass ---- */

static sock_status look(sock_context *ctx, survey *s, const sk_chunk *chunk, const sk_wild *wild)
{
    const sock_data *data = chunk->data;
    const bool goes_on = chunk->before > 0, carried = goes_on && s->tail.points > 0;
    const bool shared = carried && s->tail.t[s->tail.points - 1] == data->t[0];
    bool clock;
    SK_TRY(sk_times_are_clock(ctx, data, &clock));
    s->other_times = s->other_times || !clock;
    add_points(s, data, shared);
    add_steps(s, data);
    name_steps(ctx, s, data, wild);
    s->trajectories += data->trajectories - goes_on;
    for (size_t j = 0; j < data->trajectories; j++)
        s->single += !goes_on && !chunk->goes_on && sk_data_length(data, j) == 1;
    if (carried) return add_piece(ctx, s, chunk, wild->step, shared);
    add_lags(s, data, wild->step, 0);
    s->tail.points = 0;
    if (chunk->goes_on) keep_tail(s, data, wild->step);
    return SOCK_OK;
}

static sock_status survey_chunk(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    survey *s = arg;
    const sock_data *data = chunk->data;
    sk_wild wild = {0};
    if (!s->name) SK_TRY(begin(ctx, s, data));
    if (data->d != s->d)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: has parts with %zu and with %zu states; --state names those that all have", data->source,
                       s->d, data->d);
    SK_TRY(sk_reading_add(ctx, data, &s->reading));
    SK_TRY(sk_wild_find(ctx, data, &wild));
    const sock_status status = look(ctx, s, chunk, &wild);
    sk_wild_clear(&wild);
    return status;
}

/* ---- The median of the steps ---- */

enum { BUCKETS = 1 << 16 };

/* The step of a rank: its bits, which rise with positive numbers, are between low and high. */
typedef struct selection {
    uint64_t low, high, width;
    size_t rank; /* among those between */
    size_t *count;
} selection;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double number_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static sock_status count_steps(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    selection *two = arg;
    const sock_data *data = chunk->data;
    (void)ctx;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const uint64_t bits = bits_of(data->t[i + 1] - data->t[i]);
            for (selection *s = two; s < two + 2; s++)
                if (bits >= s->low && bits <= s->high) s->count[(bits - s->low) / s->width]++;
        }
    return SOCK_OK;
}

static void narrow(selection *s)
{
    size_t b = 0;
    while (b + 1 < BUCKETS && s->rank >= s->count[b]) s->rank -= s->count[b++];
    s->low += b * s->width;
    s->high = SK_MIN(s->high, s->low + s->width - 1);
}

static sock_status find_median(sock_context *ctx, const sk_source *source, sk_times *times)
{
    const size_t n = times->steps;
    const uint64_t low = bits_of(times->least), high = bits_of(times->most);
    size_t *count = sk_alloc(ctx, 2 * (size_t)BUCKETS, sizeof *count);
    selection two[2] = {{low, high, 1, (n - 1) / 2, count}, {low, high, 1, n / 2, count + BUCKETS}};
    sock_status status = count ? SOCK_OK : SOCK_ENOMEM;
    while (status >= 0 && (two[0].low < two[0].high || two[1].low < two[1].high)) {
        memset(count, 0, 2 * (size_t)BUCKETS * sizeof *count);
        for (size_t i = 0; i < 2; i++) two[i].width = (two[i].high - two[i].low) / BUCKETS + 1;
        status = sk_source_each(ctx, source, "info: steps", false, count_steps, two);
        for (size_t i = 0; status >= 0 && i < 2; i++) narrow(&two[i]);
    }
    times->median = 0.5 * (number_of(two[0].low) + number_of(two[1].low));
    sk_free(count);
    return status;
}

/* ---- Words ---- */

static void put(survey *s, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) s->failed = true;
}

static json_t *whole(size_t value) { return json_integer((json_int_t)value); }

static void put_counts(sock_context *ctx, survey *s, const char *source, json_t *object)
{
    char *name = sk_utf8_copy(ctx, source);
    json_t *list = json_array();
    put(s, object, "source", name ? json_string(name) : NULL);
    put(s, object, "d", whole(s->d));
    put(s, object, "trajectories", whole(s->trajectories));
    put(s, object, "groups", json_null());
    put(s, object, "realisations", json_null());
    put(s, object, "points", whole(s->points));
    put(s, object, "intervals", whole(s->times.steps));
    put(s, object, "steps", whole(s->times.steps));
    put(s, object, "clock_times", json_boolean(!s->other_times));
    put(s, object, "names", sk_summary_names(ctx, s->d, s->name, &s->failed));
    put(s, object, "wild_steps", whole(s->wild));
    put(s, object, "gaps", whole(s->gaps));
    for (size_t i = 0; i < s->named; i++)
        if (json_array_append(list, s->step[i].told) != 0) s->failed = true;
    put(s, object, "wild", list);
    sk_free(name);
}

static json_t *known(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static sock_status put_order(sock_context *ctx, survey *s, const sock_data *data, const bool *skip, json_t *object)
{
    sk_order_statistic *all = sk_alloc(ctx, data->d, sizeof *all);
    const sock_status status = all ? sk_order_statistics(ctx, data, skip, all) : SOCK_ENOMEM;
    json_t *statistic = json_array(), *left = json_array(), *looks = json_array();
    for (size_t k = 0; status >= 0 && k < data->d; k++)
        if (json_array_append_new(statistic, known(all[k].correlation)) != 0 ||
            json_array_append_new(left, known(all[k].left)) != 0 ||
            json_array_append_new(looks, json_boolean(sk_looks_second(&all[k]))) != 0)
            s->failed = true;
    put(s, object, "order_statistic", statistic);
    put(s, object, "order_left", left);
    put(s, object, "second_order", looks);
    sk_free(all);
    return status;
}

static sock_status put_sample(sock_context *ctx, survey *s, const sock_data *data, size_t steps, json_t *object)
{
    sk_wild wild = {0};
    SK_TRY(sk_wild_find(ctx, data, &wild));
    sock_status status = sk_summary_codes(ctx, object, data, &s->failed);
    if (status >= 0) status = sk_summary_courses(ctx, object, data, wild.step, &s->failed);
    if (status >= 0) status = put_order(ctx, s, data, wild.step, object);
    put(s, object, "stream", json_pack("{s:I}", "sample_steps", (json_int_t)steps));
    sk_wild_clear(&wild);
    return status;
}

/* Files that are no folders were read when the source was opened; what is missing in folders is known at the end. */
static void settle_reading(const sk_source *source, survey *s, sk_reading *r)
{
    size_t told = 0;
    r->rows = sk_source_rows(source);
    for (size_t i = 0; i < sk_source_parts(source); i++) {
        const sk_reading *part = sk_source_reading(source, i);
        if (!part) continue;
        r->unit = part->unit;
        if (part->unsorted && !r->unsorted) r->unsorted_at = part->unsorted_at;
        r->unsorted += part->unsorted;
        r->thinned += part->thinned;
        for (size_t k = 0; k <= r->columns && part->columns == r->columns; k++) r->missing_in[k] += part->missing_in[k];
    }
    r->missing = r->rows - r->thinned - s->points;
    for (size_t k = 0; k <= r->columns; k++) told += r->missing_in[k];
    if (told < r->missing) memset(r->missing_in, 0, (r->columns + 1) * sizeof *r->missing_in); /* whole chunks */
}

static sock_status put_reading(sock_context *ctx, const sk_source *source, survey *s, json_t *object)
{
    const sk_reading *first = sk_source_reading(source, 0);
    sk_reading *r = &s->reading;
    settle_reading(source, s, r);
    sk_reading told = *r;
    if (first && first->time) told.time = first->time;
    if (first) {
        told.ignored = first->ignored;
        told.ignored_count = first->ignored_count;
    }
    sk_summary_times(ctx, object, told.time, told.unit, &s->times, &s->failed);
    sk_summary_states(object, s->points, s->d, s->range, s->sums, &s->failed);
    sk_summary_dropped(ctx, object, &told, s->name, sk_source_trajectories(source) - s->trajectories, s->single,
                       &s->failed);
    return SOCK_OK;
}

/* ---- The call ---- */

/* Steps of the sample; 0: as a search takes them. */
static size_t sample_of(const sock_options *opts) { return sk_option_count(opts, "search-rows"); }

static sock_status describe(sock_context *ctx, const sk_source *source, const sock_options *opts, survey *s,
                            json_t *object)
{
    sk_stream *stream = NULL;
    SK_TRY(sk_source_each(ctx, source, "info: points", false, survey_chunk, s));
    if (!s->name) return sk_fail(ctx, SOCK_EINPUT, "%s: no point is left", sk_source_name(source));
    SK_TRY(sk_summary_reserve(ctx, s->d));
    s->times.median = s->times.most;
    if (s->times.steps && s->times.least < s->times.most) SK_TRY(find_median(ctx, source, &s->times));
    SK_TRY(sk_stream_new(ctx, source, sk_scratch_folder(opts), sample_of(opts), 0, &stream));
    put_counts(ctx, s, sk_source_name(source), object);
    sock_status status = put_reading(ctx, source, s, object);
    if (status >= 0) status = put_sample(ctx, s, sk_stream_sample(stream), sk_stream_tell(stream).sampled, object);
    sk_stream_free(stream);
    return status;
}

/* So few rows are described as any data set is. */
static sock_status describe_in_memory(sock_context *ctx, size_t count, const char *const *path,
                                      const sock_options *opts, survey *s, json_t **out)
{
    sock_data *data = NULL;
    char *text = NULL;
    sk_wild wild = {0};
    sock_status status = sock_data_read_files(ctx, count, path, opts, &data);
    if (status >= 0) status = sock_data_summary(ctx, data, &text);
    if (status >= 0) status = sk_wild_find(ctx, data, &wild);
    json_t *object = status >= 0 ? json_loads(text, 0, NULL) : NULL;
    if (status >= 0) status = object ? put_order(ctx, s, data, wild.step, object) : SOCK_ENOMEM;
    if (status >= 0) {
        json_decref(*out);
        *out = object;
        object = NULL;
    }
    json_decref(object);
    sk_wild_clear(&wild);
    sock_string_free(text);
    sock_data_free(data);
    return status;
}

sock_status sock_info_files(sock_context *ctx, size_t count, const char *const *paths, const sock_options *opts,
                            char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!paths || !json) return sk_fail(ctx, SOCK_EUSAGE, "paths and json must not be NULL");
    SK_TRY(sk_files_check(ctx, count, paths));
    survey s = {0};
    sk_source *source = NULL;
    const size_t wanted = sample_of(opts) ? sample_of(opts) : SK_SEARCH_ROWS;
    json_t *object = json_object();
    sock_status status = object ? SOCK_OK : sk_fail(ctx, SOCK_ENOMEM, "out of memory while the summary was written");
    if (status >= 0 && sk_option_flag(opts, "stream"))
        status = sk_source_open(ctx, count, paths, opts, sk_scratch_folder(opts), &source);
    if (status >= 0 && source && sk_source_rows(source) > WHOLE * wanted)
        status = describe(ctx, source, opts, &s, object);
    else if (status >= 0)
        status = describe_in_memory(ctx, count, paths, opts, &s, &object);
    if (status >= 0) status = sk_summary_write(ctx, object, s.failed, json);
    sk_source_free(source);
    survey_clear(&s);
    json_decref(object);
    return status;
}
