/* source.c - see source.h. A chunk is the least number of whole trajectories with SK_CHUNK points, or so many points of
 * a longer one: a matter of the data alone. What a fit computes does not depend on it. */
#define _GNU_SOURCE
#include "source.h"

#include "base/comm.h"
#include "base/temporary.h"
#include "csvslices.h"
#include "trajfolder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SK_CHUNK = 1 << 16,
    SK_TURNS = 64,       /* at least, so that processes get equal parts; */
    SK_TURN = 1 << 12,   /* but none has fewer points: each ends blocks of rows */
    SK_WHOLE = 100 << 20 /* bytes of a file that cannot be read in slices: memory of a stream is a gigabyte at most */
};

typedef struct part {
    sk_folder folder;
    bool open;
    size_t *first;
    size_t before; /* trajectories of the parts before it */
    size_t points; /* and their points */
} part;

/* A folder of our own: `data` in a temporary folder, which is locked as long as it is there. */
typedef struct made {
    char *folder, *data;
    int held;
    sk_reading reading; /* of the file */
} made;

struct sk_source {
    size_t parts;
    part *part;
    made *made; /* of each part; data is NULL where the folder was given */
    char *name;
    sock_options *opts;  /* of every chunk, */
    sock_options *later; /* and of files behind the first */
    sk_watch *watch;     /* what files before the next one left out */
    size_t every, trajectories;
    size_t turn; /* points that have one turn */
};

static void remove_made(made *m)
{
    static const char *const names[] = {"x.npy", "t.npy", "first.npy", "group.npy", "names.txt"};
    char path[PATH_MAX];
    for (size_t i = 0; m->data && i < sizeof names / sizeof *names; i++)
        if (snprintf(path, sizeof path, "%s/%s", m->data, names[i]) < (int)sizeof path) unlink(path);
    if (m->data) rmdir(m->data);
    if (m->folder) {
        rmdir(m->folder);
        close(m->held);
    }
    sk_reading_clear(&m->reading);
    sk_free(m->data);
    sk_free(m->folder);
}

void sk_source_free(sk_source *s)
{
    if (!s) return;
    for (size_t i = 0; s->part && i < s->parts; i++) {
        if (s->part[i].open) sk_folder_close(&s->part[i].folder);
        sk_free(s->part[i].first);
    }
    for (size_t i = 0; s->made && i < s->parts; i++) remove_made(&s->made[i]);
    sk_free(s->part);
    sk_free(s->made);
    sk_free(s->name);
    sock_options_free(s->opts);
    sock_options_free(s->later);
    sk_watch_free(s->watch);
    sk_free(s);
}

size_t sk_source_trajectories(const sk_source *s) { return s->trajectories; }
const char *sk_source_name(const sk_source *s) { return s->name; }

size_t sk_source_rows(const sk_source *s)
{
    size_t rows = 0;
    for (size_t i = 0; i < s->parts; i++) {
        const part *p = &s->part[i];
        rows += s->made[i].data ? s->made[i].reading.rows : p->first[p->folder.trajectories];
    }
    return rows;
}

const sk_reading *sk_source_reading(const sk_source *s, size_t i)
{
    return s->made[i].data ? &s->made[i].reading : NULL;
}

size_t sk_source_parts(const sk_source *s) { return s->parts; }

/* ---- Opening ---- */

/* What would have to see all data at once. */
static sock_status refuse(sock_context *ctx, const sock_options *opts)
{
    static const struct {
        const char *key, *allowed, *why;
    } none[] = {{"files", "apart", "a trajectory cannot go on in another file"},
                {"input", "none", "inputs are fitted in memory"},
                {"time-dependent", "no", "inputs are fitted in memory"}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(sk_option_text(opts, none[i].key), none[i].allowed) != 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'; allowed where the data stream: %s (%s)", none[i].key,
                           sk_option_text(opts, none[i].key), none[i].allowed, none[i].why);
    return SOCK_OK;
}

/* The options of data for one file after the other; state: that of all, or NULL. */
static sock_status own_options(sock_context *ctx, const sock_options *opts, bool read_already, const char *state,
                               sock_options **out)
{
    static const char *const done[] = {"missing", "every", "id", "group", "dt", "wide", "time-unit", "log"};
    sock_options *own = sock_options_new(ctx);
    sock_status status = own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        bool skipped = !sk_option_is_set(opts, key);
        for (size_t k = 0; read_already && k < sizeof done / sizeof *done; k++) skipped |= strcmp(key, done[k]) == 0;
        if (!skipped) status = sock_options_set(ctx, own, key, sk_option_text(opts, key));
    }
    if (status >= 0) status = sock_options_set(ctx, own, "grouping", "none");
    if (status >= 0 && state) status = sock_options_set(ctx, own, "state", state);
    if (status < 0)
        sock_options_free(own);
    else
        *out = own;
    return status;
}

/* A locked folder in the scratch folder; what killed runs left there goes. */
static sock_status make_scratch(sock_context *ctx, const char *scratch, made *m)
{
    char *name = sk_format(ctx, "%s/sock-stream", scratch);
    if (!name) return SOCK_ENOMEM;
    sk_temporaries_remove(name);
    const int error = sk_temporary_folder(ctx, name, 0700, &m->folder, &m->held);
    sk_free(name);
    if (error == ENOMEM) return sk_fail(ctx, SOCK_ENOMEM, "out of memory while a scratch folder was made");
    if (!error) return SOCK_OK;
    return sk_fail(ctx, SOCK_EIO, "%s: no folder can be made there: %s; --scratch names another one", scratch,
                   strerror(error));
}

/* A file as a folder of our own. Missing values and thinning wait for the chunks. */
static sock_status make_folder(sock_context *ctx, const char *path, const sock_options *opts, const char *scratch,
                               sk_watch **watch, made *m)
{
    const sk_slicing how = {.most = SK_WHOLE, .watch = watch};
    SK_TRY(make_scratch(ctx, scratch, m));
    m->data = sk_format(ctx, "%s/data", m->folder);
    return m->data ? sk_files_to_folder(ctx, 1, &path, opts, false, false, m->data, &how, &m->reading) : SOCK_ENOMEM;
}

static sock_status open_part(sock_context *ctx, sk_source *s, size_t i, const char *path)
{
    part *p = &s->part[i];
    SK_TRY(sk_folder_open(ctx, path, &p->folder));
    p->open = true;
    p->before = s->trajectories;
    if (p > s->part) p->points = p[-1].points + p[-1].first[p[-1].folder.trajectories];
    s->trajectories += p->folder.trajectories;
    if (p->folder.x.array.fortran && p->folder.columns > 1)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: the columns stand one behind the other (Fortran order); a stream needs points",
                       p->folder.x.array.source);
    p->first = sk_alloc(ctx, p->folder.trajectories + 1, sizeof *p->first);
    return p->first ? sk_folder_first(ctx, &p->folder, p->first) : SOCK_ENOMEM;
}

/* The states that the first part has are those of all; and behind them what is watched. */
static sock_status fix_states(sock_context *ctx, const part *first, const sock_options *opts, const sk_watch *watch,
                              sock_options **out)
{
    const bool named = strcmp(sk_option_text(opts, "state"), "auto") != 0;
    char *list = NULL;
    if (!named && first->folder.name) {
        list = sk_watched_names(ctx, first->folder.columns, first->folder.name, watch);
        if (!list) return SOCK_ENOMEM;
    }
    const sock_status status = own_options(ctx, opts, false, list, out);
    sk_free(list);
    return status;
}

/* What is done to files as they are read would be done to folders as they are visited. */
static sock_status refuse_mixed(sock_context *ctx, const sock_options *opts)
{
    static const char *const keys[] = {"every", "missing", "log"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sk_option_is_set(opts, keys[i]))
            return sk_fail(ctx, SOCK_EUSAGE,
                           "folders and other files stream together without %s; convert the files first", keys[i]);
    return SOCK_OK;
}

static sock_status open_all(sock_context *ctx, sk_source *s, const char *const *path, const sock_options *opts,
                            const char *scratch)
{
    bool files = false, given = false;
    for (size_t i = 0; i < s->parts; i++) {
        if (sk_is_folder(path[i])) {
            given = true;
        } else {
            files = true;
            SK_TRY(make_folder(ctx, path[i], s->later ? s->later : opts, scratch, &s->watch, &s->made[i]));
        }
        SK_TRY(open_part(ctx, s, i, s->made[i].data ? s->made[i].data : path[i]));
        if (i > 0) continue;
        SK_TRY(fix_states(ctx, &s->part[0], opts, NULL, &s->opts));
        if (s->parts > 1) SK_TRY(fix_states(ctx, &s->part[0], opts, s->watch, &s->later));
    }
    if (files && given) SK_TRY(refuse_mixed(ctx, opts));
    if (!files) return SOCK_OK;
    sock_options *read = NULL; /* what was done to the files is not done again */
    SK_TRY(own_options(ctx, s->opts, true, NULL, &read));
    sock_options_free(s->opts);
    s->opts = read;
    return SOCK_OK;
}

static size_t points_of(const sk_source *s)
{
    const part *last = &s->part[s->parts - 1];
    return last->points + last->first[last->folder.trajectories];
}

/* As many points as a chunk, and fewer where that would make few turns. */
static size_t turn_points(size_t points)
{
    size_t turn = SK_CHUNK;
    while (turn > SK_TURN && points / turn < SK_TURNS) turn /= 2;
    return turn;
}

sock_status sk_source_open(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                           const char *scratch, sk_source **out)
{
    SK_TRY(refuse(ctx, opts));
    sk_source *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->parts = count;
    s->part = sk_alloc(ctx, count, sizeof *s->part);
    s->made = sk_alloc(ctx, count, sizeof *s->made);
    s->name = count > 1 ? sk_format(ctx, "%s and %zu more", path[0], count - 1) : sk_strdup(ctx, path[0]);
    sock_status status = s->part && s->made && s->name ? open_all(ctx, s, path, opts, scratch) : SOCK_ENOMEM;
    if (status >= 0) s->every = SK_MAX(sk_option_count(s->opts, "every"), 1);
    if (status >= 0) s->turn = turn_points(points_of(s));
    if (status < 0)
        sk_source_free(s);
    else
        *out = s;
    return status;
}

/* ---- Chunks ---- */

/* Points begin .. end-1 of a part; from trajectory `first` of the part on. */
typedef struct range {
    size_t first, count, begin, end;
} range;

static sock_status fill_rows(sock_context *ctx, const sk_source *s, const part *p, const range *r, sk_rows *rows)
{
    const size_t n = r->end - r->begin;
    rows->place = "point";
    rows->source = sk_strdup(ctx, s->name);
    rows->time = sk_strdup(ctx, "t");
    rows->d = p->folder.columns;
    rows->count = n;
    rows->t = sk_doubles_unset(ctx, n, 1);
    rows->x = sk_doubles_unset(ctx, n, rows->d);
    rows->label = sk_alloc(ctx, n, sizeof *rows->label);
    rows->line = sk_alloc(ctx, n, sizeof *rows->line);
    rows->id = sk_alloc(ctx, r->count, sizeof *rows->id);
    if (!rows->source || !rows->time || !rows->t || !rows->x || !rows->label || !rows->line || !rows->id)
        return SOCK_ENOMEM;
    rows->trajectories = r->count;
    for (size_t j = 0; j < r->count; j++) {
        if (!(rows->id[j] = sk_format(ctx, "%zu", p->before + r->first + j))) return SOCK_ENOMEM;
        const size_t from = SK_MAX(p->first[r->first + j], r->begin), to = SK_MIN(p->first[r->first + j + 1], r->end);
        for (size_t i = from; i < to; i++) {
            rows->label[i - r->begin] = j;
            rows->line[i - r->begin] = i - p->first[r->first + j];
        }
    }
    SK_TRY(sk_folder_points(ctx, &p->folder, r->begin, n, rows->t, rows->x));
    if (!p->folder.name) return sk_named_columns(ctx, s->name, rows->d, s->opts, &rows->state);
    SK_TRY(sk_state_names(ctx, s->name, rows->d, (const char *const *)p->folder.name, &rows->state));
    return sk_rows_select(ctx, s->opts, rows);
}

static bool is_whole(size_t d, double t, const double *x)
{
    bool whole = t == t;
    for (size_t k = 0; k < d; k++) whole = whole && x[k] == x[k];
    return whole;
}

/* Whether anything of the rows is left; what is not finite says so itself. */
static bool is_empty(const sk_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (is_whole(rows->d, rows->t[i], rows->x + i * rows->d)) return false;
    return true;
}

static sock_status number_trajectories(sock_context *ctx, const sock_data *data, size_t **out)
{
    *out = sk_alloc(ctx, data->trajectories, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++) (*out)[j] = strtoull(data->id[j], NULL, 10);
    return SOCK_OK;
}

/* The turn of what begins in trajectory j of the part, or in the middle of it where the range does. */
static size_t turn_of(const sk_source *s, const part *p, const range *r, size_t j)
{
    return (p->points + SK_MAX(p->first[j], r->begin)) / s->turn;
}

static sock_status find_turns(sock_context *ctx, const sk_source *s, const part *p, const range *r, sk_chunk *chunk)
{
    chunk->turn = sk_alloc(ctx, chunk->data->trajectories, sizeof *chunk->turn);
    if (!chunk->turn) return SOCK_ENOMEM;
    for (size_t j = 0; j < chunk->data->trajectories; j++)
        chunk->turn[j] = turn_of(s, p, r, chunk->trajectory[j] - p->before);
    return SOCK_OK;
}

static sock_status work_on(sock_context *ctx, const sk_source *s, const part *p, const range *r, sk_chunk_fn work,
                           void *arg)
{
    sk_rows rows = {0};
    sk_chunk chunk = {0};
    const bool piece = r->count == 1 && (r->begin > p->first[r->first] || r->end < p->first[r->first + 1]);
    sock_status status = fill_rows(ctx, s, p, r, &rows);
    if (status >= 0) chunk.shared = r->begin > p->first[r->first] && is_whole(rows.d, rows.t[0], rows.x);
    if (status >= 0) sk_rows_missing(sk_option_text(s->opts, "missing"), &rows);
    if (status < 0 || is_empty(&rows)) goto out;
    SK_GO(sk_rows_finish(ctx, s->opts, &rows, &chunk.data));
    if (piece && chunk.data->unsorted)
        SK_GO(
            sk_fail(ctx, SOCK_EINPUT,
                    "%s: trajectory %zu, point %zu: the times of a long trajectory must rise; sock convert sorts them",
                    s->name, p->before + r->first, chunk.data->unsorted_at));
    chunk.goes_on = piece && r->end < p->first[r->first + 1];
    chunk.part = (size_t)(p - s->part);
    chunk.before = (r->begin - SK_MIN(r->begin, p->first[r->first])) / s->every;
    SK_GO(number_trajectories(ctx, chunk.data, &chunk.trajectory));
    SK_GO(find_turns(ctx, s, p, r, &chunk));
    status = work(ctx, arg, &chunk);
out:
    sk_rows_clear(&rows);
    sk_free(chunk.trajectory);
    sk_free(chunk.turn);
    sock_data_free(chunk.data);
    return status;
}

/* The range from a point on: whole trajectories, or a piece of one. */
static range next_range(const part *p, size_t every, size_t j, size_t begin)
{
    const size_t most = SK_CHUNK * every;
    range r = {j, 1, begin, p->first[j + 1]};
    if (r.end - begin > most + 1) {
        r.end = begin + most + 1;
        return r;
    }
    while (begin == p->first[j] && j + r.count < p->folder.trajectories && p->first[j + r.count + 1] - begin <= most)
        r.end = p->first[j + r.count++ + 1];
    return r;
}

/* A piece ends on a point of which nothing is missing, so that the step to the next one is not lost; a gap of more than
 * a chunk is one. */
static sock_status end_on_a_point(sock_context *ctx, const sk_source *s, const part *p, range *r)
{
    const size_t most = SK_MIN(r->end + SK_CHUNK * s->every, p->first[r->first + r->count]);
    double t, *x = sk_doubles(ctx, p->folder.columns, 1);
    sock_status status = x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t end = r->end; status >= 0 && end < most; end += s->every) {
        status = sk_folder_points(ctx, &p->folder, end - 1, 1, &t, x);
        if (status < 0 || !is_whole(p->folder.columns, t, x)) continue;
        r->end = end;
        break;
    }
    sk_free(x);
    return status;
}

size_t sk_source_turns(const sk_source *s) { return points_of(s) / s->turn + 1; }

/* Turns that follow one another, so that few chunks are visited by two processes. */
bool sk_source_is_mine(const sock_context *ctx, const sk_source *s, size_t turn)
{
    return turn * (size_t)sk_ranks(ctx) / sk_source_turns(s) == (size_t)sk_rank(ctx);
}

static bool has_mine(const sock_context *ctx, const sk_source *s, const part *p, const range *r)
{
    const size_t first = turn_of(s, p, r, r->first), last = turn_of(s, p, r, r->first + r->count - 1);
    bool mine = false;
    for (size_t turn = first; turn <= last; turn++) mine = mine || sk_source_is_mine(ctx, s, turn);
    return mine;
}

sock_status sk_source_each(sock_context *ctx, const sk_source *s, const char *stage, bool dealt, sk_chunk_fn work,
                           void *arg)
{
    for (size_t i = 0; i < s->parts; i++) {
        const part *p = &s->part[i];
        for (size_t j = 0, at = 0; j < p->folder.trajectories;) {
            SK_TRY(sk_progress(ctx, stage, -1));
            range r = next_range(p, s->every, j, at);
            if (r.end < p->first[j + r.count]) SK_TRY(end_on_a_point(ctx, s, p, &r));
            const bool wanted = r.end > r.begin && (!dealt || has_mine(ctx, s, p, &r));
            if (wanted) SK_TRY(work_on(ctx, s, p, &r, work, arg));
            const bool whole = r.end == p->first[j + r.count];
            j = whole ? j + r.count : j;
            at = whole ? r.end : r.end - 1; /* pieces share a point */
        }
        SK_TRY(sk_npy_unchanged(ctx, &p->folder.x));
        SK_TRY(sk_npy_unchanged(ctx, &p->folder.t));
    }
    return SOCK_OK;
}
