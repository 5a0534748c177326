/* streamrows.c - see streamrows.h. Memory: some 50 bytes a trajectory, and the sample. */
#include "tune/streamrows.h"

#include "base/comm.h"
#include "data/absorbed.h"
#include "data/readers.h"
#include "data/wild.h"
#include "occupation/rowstore.h"
#include "tune/policy.h"
#include "tune/rules.h"
#include "tune/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a trajectory. */
typedef struct known {
    uint64_t hash, times; /* of its states; of its times */
    size_t steps;
    size_t before; /* steps of those before it, in their order; a copy has its original's. In pieces alone */
    unsigned fold, cluster;
    bool sampled; /* as a whole */
} known;

/* Points of the sample, as they come. */
typedef struct gathered {
    double *t, *x;
    size_t points, t_room, x_room;
    size_t *length, *fold, *cluster; /* of each of its trajectories */
    size_t count, room[3];
} gathered;

struct sk_stream {
    const sk_source *source;
    char *scratch;
    size_t wanted, folds, clusters, pieces; /* pieces: 0: whole trajectories stand or fall together */
    known *of;
    size_t trajectories, d, steps, points, with_points, total; /* total: steps that differ; of pieces alone */
    double *low, *high;
    bool windows; /* the sample is a window of each run of steps that stand together */
    gathered some;
    sock_data *sample;
    char **name;
    size_t sampled, left_out;
};

static void free_names(sk_stream *s)
{
    for (size_t k = 0; s->name && k < s->d; k++) sk_free(s->name[k]);
    sk_free(s->name);
}

void sk_stream_free(sk_stream *s)
{
    if (!s) return;
    free_names(s);
    sk_free(s->scratch);
    sk_free(s->of);
    sk_free(s->low);
    sk_free(s->high);
    sk_free(s->some.t);
    sk_free(s->some.x);
    sk_free(s->some.length);
    sk_free(s->some.fold);
    sk_free(s->some.cluster);
    sock_data_free(s->sample);
    sk_free(s);
}

sk_stream_told sk_stream_tell(const sk_stream *s)
{
    uint64_t hash = SK_HASH_START, digest = SK_HASH_START;
    for (size_t j = 0; j < s->trajectories; j++) {
        hash = sk_hash(hash, &s->of[j].hash, sizeof s->of[j].hash);
        digest = sk_hash(digest, &s->of[j].times, sizeof s->of[j].times);
    }
    digest = sk_hash(digest, &hash, sizeof hash);
    return (sk_stream_told){s->steps,   s->points,   s->with_points, hash,   digest,
                            s->sampled, s->left_out, s->low,         s->high};
}

const sock_data *sk_stream_sample(const sk_stream *s) { return s->sample; }

/* ---- Survey ---- */

static sock_status take_names(sock_context *ctx, sk_stream *s, const sock_data *data)
{
    s->d = data->d;
    s->name = sk_alloc(ctx, s->d, sizeof *s->name);
    s->low = sk_doubles(ctx, s->d, 1);
    s->high = sk_doubles(ctx, s->d, 1);
    if (!s->name || !s->low || !s->high) return SOCK_ENOMEM;
    for (size_t k = 0; k < s->d; k++) {
        if (!(s->name[k] = sk_strdup(ctx, data->state[k]))) return SOCK_ENOMEM;
        s->low[k] = (double)INFINITY;
        s->high[k] = -(double)INFINITY;
    }
    return SOCK_OK;
}

static sock_status survey_chunk(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    sk_stream *s = arg;
    const sock_data *data = chunk->data;
    if (!s->name) SK_TRY(take_names(ctx, s, data));
    if (data->d != s->d)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: has parts with %zu and with %zu states; --state names those that all have",
                       sk_source_name(s->source), s->d, data->d);
    for (size_t j = 0; j < data->trajectories; j++) {
        known *k = &s->of[chunk->trajectory[j]];
        const size_t points = sk_data_length(data, j);
        const bool goes_on = j == 0 && chunk->before > 0;
        k->hash = sk_hash(k->hash, data->x + data->first[j] * s->d, points * s->d * sizeof(double));
        k->times = sk_hash(k->times, data->t + data->first[j], points * sizeof(double));
        k->steps += points - 1;
        s->steps += points - 1;
        s->points += points - (j == 0 && chunk->shared);
        s->with_points += !goes_on;
    }
    for (size_t i = 0; i < data->points * s->d; i++) {
        s->low[i % s->d] = fmin(s->low[i % s->d], data->x[i]);
        s->high[i % s->d] = fmax(s->high[i % s->d], data->x[i]);
    }
    return SOCK_OK;
}

/* ---- Lots ---- */

typedef struct lot {
    uint64_t value, hash;
    size_t who;
} lot;

static int by_value(const void *left, const void *right)
{
    const lot *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->who < b->who ? -1 : a->who > b->who;
}

/* The trajectories with steps in an order by lot; copies stand together. purpose: another order. */
static sock_status draw(sock_context *ctx, const sk_stream *s, uint64_t purpose, lot **out, size_t *count)
{
    lot *list = sk_alloc(ctx, s->trajectories, sizeof *list);
    *count = 0;
    if (!list) return SOCK_ENOMEM;
    for (size_t j = 0; j < s->trajectories; j++) {
        const uint64_t mixed[2] = {s->of[j].hash, purpose};
        if (s->of[j].steps) list[(*count)++] = (lot){sk_hash(SK_HASH_START, mixed, sizeof mixed), s->of[j].hash, j};
    }
    qsort(list, *count, sizeof *list, by_value);
    *out = list;
    return SOCK_OK;
}

static bool is_copy(const lot *list, size_t i) { return i > 0 && list[i].hash == list[i - 1].hash; }

/* Ranges of the trajectories by lot with nearly equal numbers of steps; copies stand or fall with the first of them. */
static void deal_trajectories(sk_stream *s, const lot *list, size_t count, size_t different)
{
    const size_t each = sk_clusters_each(s->folds);
    size_t before = 0, rank = 0, fold = 0;
    s->clusters = sk_clusters_are_few(different) ? different : each * s->folds;
    for (size_t i = 0; i < count; i++) {
        known *k = &s->of[list[i].who];
        if (is_copy(list, i)) {
            const known *first = &s->of[list[i - 1].who];
            k->fold = first->fold;
            k->cluster = first->cluster;
            continue;
        }
        const size_t least = s->folds > different - rank ? s->folds - (different - rank) : 0;
        const size_t by_steps = (size_t)((double)before / (double)s->steps * (double)s->folds);
        fold = SK_MIN(SK_MAX(SK_MAX(fold, least), SK_MIN(by_steps, fold + (rank > 0))), s->folds - 1);
        k->fold = (unsigned)fold;
        k->cluster = (unsigned)(sk_clusters_are_few(different) ? rank : fold * each + rank % each);
        before += k->steps;
        rank++;
    }
}

/* Trajectories end to end, in the order of their lots; copies are cut as the first of them. */
static void cut_pieces(sk_stream *s, const lot *list, size_t count)
{
    s->total = 0;
    for (size_t i = 0; i < count; i++) {
        known *k = &s->of[list[i].who];
        k->before = is_copy(list, i) ? s->of[list[i - 1].who].before : s->total;
        if (!is_copy(list, i)) s->total += k->steps;
    }
    s->pieces = SK_MIN(sk_pieces_of(s->folds), s->total);
    s->clusters = s->pieces;
}

/* A fold without a trajectory in the sample gets its first one by lot. Answers the steps that this adds. */
static size_t serve_fold(sk_stream *s, const lot *list, size_t count, size_t fold)
{
    known *first = NULL;
    for (size_t i = 0; i < count; i++) {
        known *k = &s->of[list[i].who];
        if (k->fold != fold) continue;
        if (k->sampled) return 0;
        if (!first) first = k;
    }
    if (!first) return 0;
    first->sampled = true;
    return first->steps;
}

/* Whole trajectories, by lot, until there are enough steps and every fold has some; windows where that is far too many.
 */
static void choose_sample(sk_stream *s, const lot *list, size_t count)
{
    size_t steps = 0;
    s->windows = s->pieces > 0;
    for (size_t i = 0; !s->windows && i < count && steps < s->wanted; i++) {
        s->of[list[i].who].sampled = true;
        steps += s->of[list[i].who].steps;
    }
    for (size_t f = 0; !s->windows && f < s->folds; f++) steps += serve_fold(s, list, count, f);
    s->windows = s->windows || sk_take_part(steps, s->wanted);
}

static sock_status deal(sock_context *ctx, sk_stream *s, size_t folds)
{
    lot *list = NULL;
    size_t count = 0, different = 0;
    SK_TRY(draw(ctx, s, 1, &list, &count));
    for (size_t i = 0; i < count; i++) different += !is_copy(list, i);
    const size_t wished = folds ? folds : SK_FOLDS, typical = count ? s->steps / count : 0;
    sock_status status = SOCK_OK;
    if (typical * different < 2)
        status =
            sk_fail(ctx, SOCK_EINPUT, "%s: one interval is not enough to choose a model", sk_source_name(s->source));
    if (status >= 0 && sk_folds_are_trajectories(different, typical)) {
        s->folds = SK_MIN(wished, different);
        deal_trajectories(s, list, count, different);
    } else if (status >= 0) {
        s->folds = SK_MAX(SK_MIN(wished, typical * different), 2);
        cut_pieces(s, list, count);
    }
    sk_free(list);
    if (status < 0) return status;
    SK_TRY(draw(ctx, s, 2, &list, &count));
    choose_sample(s, list, count);
    sk_free(list);
    return SOCK_OK;
}

/* ---- Steps ---- */

/* Step k of a trajectory: its fold and cluster, and the run of steps of the trajectory that stand together. */
typedef struct step {
    size_t fold, cluster, first, end;
    bool gap; /* between two pieces: it takes no part */
} step;

/* The first place of piece p. */
static size_t piece_begins(const sk_stream *s, size_t p) { return (p * s->total + s->pieces - 1) / s->pieces; }

static step step_of(const sk_stream *s, size_t trajectory, size_t k)
{
    const known *of = &s->of[trajectory];
    if (!s->pieces) return (step){of->fold, of->cluster, 0, of->steps, false};
    const size_t place = SK_MIN(of->before + k, s->total - 1), piece = place * s->pieces / s->total;
    const size_t first = piece_begins(s, piece), end = piece_begins(s, piece + 1);
    const bool gap = k > 0 && place == first && sk_fold_has_gaps(s->total, s->pieces);
    return (step){piece % s->folds, piece, SK_MAX(first, of->before) - of->before,
                  SK_MIN(end, of->before + of->steps) - of->before, gap};
}

static bool is_sampled(const sk_stream *s, size_t trajectory, size_t k, const step *at)
{
    if (at->gap) return false;
    if (!s->windows) return s->of[trajectory].sampled;
    const size_t count = at->end - at->first;
    const double share = fmin(1, (double)s->wanted / (double)s->steps);
    const size_t wanted = SK_MAX(1, (size_t)((double)count * share)), begin = at->first + (count - wanted) / 2;
    return k >= begin && k < begin + wanted;
}

/* ---- Sample ---- */

static sock_status put_point(sock_context *ctx, sk_stream *s, const sock_data *data, size_t i)
{
    gathered *g = &s->some;
    SK_TRY(sk_grow(ctx, &g->t, &g->t_room, g->points + 1, sizeof *g->t));
    SK_TRY(sk_grow(ctx, &g->x, &g->x_room, (g->points + 1) * s->d, sizeof *g->x));
    g->t[g->points] = data->t[i];
    memcpy(g->x + g->points * s->d, data->x + i * s->d, s->d * sizeof *g->x);
    g->points++;
    g->length[g->count - 1]++;
    return SOCK_OK;
}

static sock_status begin_run(sock_context *ctx, sk_stream *s, const step *at)
{
    gathered *g = &s->some;
    SK_TRY(sk_grow(ctx, &g->length, &g->room[0], g->count + 1, sizeof *g->length));
    SK_TRY(sk_grow(ctx, &g->fold, &g->room[1], g->count + 1, sizeof *g->fold));
    SK_TRY(sk_grow(ctx, &g->cluster, &g->room[2], g->count + 1, sizeof *g->cluster));
    g->length[g->count] = 0;
    g->fold[g->count] = at->fold;
    g->cluster[g->count] = at->cluster;
    g->count++;
    return SOCK_OK;
}

static sock_status sample_chunk(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    sk_stream *s = arg;
    const sock_data *data = chunk->data;
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t before = j == 0 ? chunk->before : 0;
        bool goes_on = false;
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const size_t k = before + i - data->first[j];
            const step at = step_of(s, chunk->trajectory[j], k);
            if (!is_sampled(s, chunk->trajectory[j], k, &at)) {
                goes_on = false;
                continue;
            }
            if (goes_on && s->some.cluster[s->some.count - 1] != at.cluster) goes_on = false;
            if (!goes_on) {
                SK_TRY(begin_run(ctx, s, &at));
                SK_TRY(put_point(ctx, s, data, i));
            }
            SK_TRY(put_point(ctx, s, data, i + 1));
            goes_on = true;
            s->sampled++;
        }
    }
    return SOCK_OK;
}

static sock_status make_sample(sock_context *ctx, sk_stream *s)
{
    const gathered *g = &s->some;
    SK_TRY(sk_source_each(ctx, s->source, "sample", false, sample_chunk, s));
    sock_options *plain = sock_options_new(ctx);
    sock_status status = plain ? sock_options_set(ctx, plain, "grouping", "none") : SOCK_ENOMEM;
    const sk_arrays from = {.columns = s->d,
                            .trajectories = g->count,
                            .length = g->length,
                            .t = g->t,
                            .x = g->x,
                            .names = (const char *const *)s->name};
    if (status >= 0) status = sk_data_of_arrays(ctx, &from, plain, &s->sample);
    sock_options_free(plain);
    char *name = status >= 0 ? sk_strdup(ctx, sk_source_name(s->source)) : NULL;
    if (status >= 0 && !name) status = SOCK_ENOMEM;
    if (!name) return status;
    sk_free(s->sample->source);
    s->sample->source = name;
    return status;
}

sock_status sk_stream_new(sock_context *ctx, const sk_source *source, const char *scratch, size_t wanted, size_t folds,
                          sk_stream **out)
{
    sk_stream *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->source = source;
    s->wanted = wanted;
    s->trajectories = sk_source_trajectories(source);
    s->scratch = sk_strdup(ctx, scratch);
    s->of = sk_alloc(ctx, s->trajectories, sizeof *s->of);
    sock_status status = s->scratch && s->of ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < s->trajectories; j++) s->of[j].hash = s->of[j].times = SK_HASH_START;
    if (status >= 0) status = sk_source_each(ctx, source, "survey", false, survey_chunk, s);
    if (status >= 0 && s->steps == 0) status = sk_data_refuse_stepless(ctx, sk_source_name(source));
    if (status >= 0 && !s->wanted) s->wanted = sk_search_rows(s->d);
    if (status >= 0) status = deal(ctx, s, folds);
    if (status >= 0) status = make_sample(ctx, s);
    if (status < 0)
        sk_stream_free(s);
    else
        *out = s;
    return status;
}

/* ---- Rows ---- */

typedef struct storing {
    sk_stream *s;
    const sk_tune_spec *spec;
    const sk_units *units; /* NULL: those of the data */
    sk_row_store *store;
    double *y, *next; /* d each */
} storing;

static void scale_point(const storing *w, const double *x, double *z)
{
    for (size_t k = 0; k < w->s->d; k++) z[k] = w->units ? (x[k] - w->units->centre[k]) / w->units->scale[k] : x[k];
}

/* Steps of a chunk that take no part: wild ones, where they are left out, and those at rest on a bound. out: points. */
static sock_status find_strays(sock_context *ctx, const storing *w, const sk_chunk *chunk, bool *out)
{
    const sock_data *data = chunk->data;
    sk_wild wild = {0};
    if (w->spec->leave_wild) SK_TRY(sk_wild_find(ctx, data, &wild));
    if (wild.step) memcpy(out, wild.step, data->points * sizeof *out);
    sk_wild_clear(&wild);
    if (!chunk->goes_on) sk_absorbed_mark(data, w->spec->lower, w->spec->upper, out);
    return SOCK_OK;
}

static sock_status store_trajectory(sock_context *ctx, const storing *w, const sk_chunk *chunk, size_t j,
                                    const bool *stray)
{
    const sock_data *data = chunk->data;
    const size_t d = w->s->d, before = j == 0 ? chunk->before : 0;
    if (!sk_source_is_mine(ctx, w->s->source, chunk->turn[j])) return SOCK_OK;
    SK_TRY(sk_row_store_turn(ctx, w->store, chunk->turn[j]));
    for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
        const step at = step_of(w->s, chunk->trajectory[j], before + i - data->first[j]);
        w->s->left_out += stray[i];
        if (at.gap || stray[i]) continue;
        scale_point(w, data->x + i * d, w->y);
        scale_point(w, data->x + (i + 1) * d, w->next);
        SK_TRY(sk_row_store_add(ctx, w->store, at.fold, at.cluster, w->y, w->next, data->t[i + 1] - data->t[i]));
    }
    return SOCK_OK;
}

static sock_status store_chunk(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    const storing *w = arg;
    bool *stray = sk_alloc(ctx, chunk->data->points, sizeof *stray);
    sock_status status = stray ? find_strays(ctx, w, chunk, stray) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < chunk->data->trajectories; j++)
        status = store_trajectory(ctx, w, chunk, j, stray);
    sk_free(stray);
    return status;
}

static sock_status store_all(sock_context *ctx, const sk_tune_spec *spec, const sk_row_sets *r, sk_transitions **out)
{
    sk_stream *s = spec->stream;
    storing w = {s, spec, r->units, NULL, sk_doubles(ctx, s->d, 1), sk_doubles(ctx, s->d, 1)};
    s->left_out = 0;
    const size_t turns = sk_source_turns(s->source);
    sock_status status = w.y && w.next ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_row_store_new(ctx, s->scratch, s->d, s->folds, turns, &w.store);
    if (status >= 0) status = sk_source_each(ctx, s->source, "rows", true, store_chunk, &w);
    if (status >= 0) {
        status = sk_row_store_close(ctx, w.store, r->search, out);
        if (status >= 0) status = sk_together(ctx, status);
        if (status >= 0) sk_count_over_all(ctx, 1, &s->left_out);
        w.store = NULL;
    }
    sk_row_store_free(w.store);
    sk_free(w.y);
    sk_free(w.next);
    return status;
}

/* ---- Row sets ---- */

/* The steps of the sample, with the folds and clusters that they have among all. */
static sock_status split_sample(sock_context *ctx, const sk_tune_spec *spec, sk_split *out)
{
    const sk_stream *s = spec->stream;
    const sock_data *data = s->sample;
    const size_t n = s->sampled;
    *out = (sk_split){.folds = s->folds, .clusters = s->clusters};
    out->point = sk_alloc(ctx, n, sizeof *out->point);
    out->fold = sk_alloc(ctx, n, sizeof *out->fold);
    out->cluster = sk_alloc(ctx, n, sizeof *out->cluster);
    if (!out->point || !out->fold || !out->cluster) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            if (spec->wild && spec->wild[i]) continue;
            out->point[out->n] = i;
            out->fold[out->n] = s->some.fold[j];
            out->cluster[out->n++] = s->some.cluster[j];
        }
    return SOCK_OK;
}

static void split_clear(sk_split *split)
{
    sk_free(split->point);
    sk_free(split->fold);
    sk_free(split->cluster);
}

/* In which order the screen takes clusters: their numbers are by lot; pieces by multiples of the golden ratio. */
static sock_status take_turns(sock_context *ctx, const sk_stream *s, size_t **out)
{
    lot *list = sk_alloc(ctx, s->clusters, sizeof *list);
    *out = sk_alloc(ctx, s->clusters, sizeof **out);
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    for (size_t u = 0; list && *out && u < s->clusters; u++) list[u] = (lot){golden * (u + 1), 0, u};
    if (list && *out) qsort(list, s->clusters, sizeof *list, by_value);
    for (size_t u = 0; list && *out && u < s->clusters; u++) (*out)[u] = list[u].who;
    const bool room = list && *out;
    sk_free(list);
    return room ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_stream_row_sets(sock_context *ctx, const sk_tune_spec *spec, size_t screen_rows, sk_row_sets *out)
{
    sk_row_sets r = {0};
    sk_split split = {0};
    size_t *turn = NULL;
    sock_status status;
    SK_GO(split_sample(ctx, spec, &split));
    SK_GO(sk_scaling_choose(ctx, spec, spec->data, &r.units));
    SK_GO(sk_transitions_new(ctx, spec->data, &split, r.units, &r.search));
    r.screen = r.search;
    SK_GO(sk_row_sets_look(ctx, spec, r.search, &r));
    SK_GO(store_all(ctx, spec, &r, &r.all));
    SK_GO(take_turns(ctx, spec->stream, &turn));
    SK_GO(sk_part_of(ctx, r.search, turn, screen_rows, true, &r.screen));
    *out = r;
    r = (sk_row_sets){0};
out:
    sk_row_sets_clear(&r);
    split_clear(&split);
    sk_free(turn);
    return status;
}
