/* csvslices.c - see csvslices.h. The text in memory is the header and what follows the last data set; each slice ends
 * behind a row, and its last run of rows, which may go on, is left for the next. Memory: some 10 times a slice, and the
 * names of the trajectories. */
#include "csvslices.h"

#include "base/options.h"
#include "base/safefile.h"
#include "labels.h"
#include "readers.h"

#include <string.h>
#include <unistd.h>

enum { SK_SLICE = 1 << 24, SK_PART = 1 << 18 };

typedef struct slicer {
    const sk_csv_origin *from;
    const sock_options *given;
    sock_options *own; /* from the second data set on */
    sk_text text;
    size_t slice, wanted; /* bytes of a slice; of the text that is waited for */
    size_t most;          /* that it may have; 0: any number */
    const char *why;      /* all of it is read */
    sk_watch **watch;
    size_t header, line; /* of the text from the second on; line of its first row */
    bool ended, any;
    sk_labels seen; /* names of all trajectories so far */
    char *last;     /* the name of the last trajectory, where it may go on, and its last time */
    double last_time;
    sk_csv_work work;
    void *arg;
} slicer;

char *sk_watched_names(sock_context *ctx, size_t d, char *const *name, const sk_watch *watch)
{
    const size_t count = sk_watch_count(watch);
    char **all = sk_alloc(ctx, d + count, sizeof *all), *list = NULL;
    sock_status status = all ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) all[k] = name[k];
    for (size_t k = 0; status >= 0 && k < count; k++)
        if (!(all[d + k] = sk_strdup(ctx, sk_watch_name(watch, k)))) status = SOCK_ENOMEM;
    if (status >= 0) list = sk_quoted_names(ctx, d + count, all);
    for (size_t k = 0; all && k < count; k++) sk_free(all[d + k]);
    sk_free(all);
    return list;
}

sock_status sk_options_after(sock_context *ctx, const sock_data *data, const sk_watch *watch, const sock_options *opts,
                             sock_options **out)
{
    const bool named = strcmp(sk_option_text(opts, "state"), "auto") != 0;
    sock_options *own = sock_options_new(ctx); /* first: it forgets messages */
    char *list = own && !named ? sk_watched_names(ctx, data->d, data->state, watch) : NULL;
    sock_status status = own && (list || named) ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        if (sk_option_is_set(opts, key)) status = sock_options_set(ctx, own, key, sk_option_text(opts, key));
    }
    if (status >= 0 && list) status = sock_options_set(ctx, own, "state", list);
    if (status >= 0 && data->unit) status = sock_options_set(ctx, own, "time-unit", data->unit);
    sk_free(list);
    if (status < 0)
        sock_options_free(own);
    else
        *out = own;
    return status;
}

/* ---- Text ---- */

static sock_status fill(sock_context *ctx, slicer *s)
{
    while (!s->ended && s->text.size < s->wanted) {
        SK_TRY(sk_progress(ctx, "reading", -1));
        if (s->most && s->text.size > s->most)
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: would have to be read whole, and a stream reads no more than %zu MB so: %s; sock "
                           "convert makes a folder of it, with memory for ten times its size",
                           s->from->source, s->most >> 20, s->why ? s->why : "no row of it is whole");
        if (s->text.size + SK_PART >= s->text.room)
            SK_TRY(sk_memory_check(ctx, 2 * (double)s->text.room, s->from->source,
                                   "split the file, or raise the memory limit"));
        SK_TRY(s->from->more(ctx, s->from->state, &s->text, &s->ended));
    }
    return s->text.bytes ? SOCK_OK : sk_text_put(ctx, &s->text, "", 0);
}

/* Bytes up to the end of the last row that is whole; 0: none is. */
static size_t whole_rows(const sk_text *text)
{
    size_t end = text->size;
    bool quoted = false;
    while (end > 0 && text->bytes[end - 1] != '\n') end--;
    if (!memchr(text->bytes, '"', text->size)) return end;
    end = 0;
    for (size_t i = 0; i < text->size; i++) {
        quoted ^= text->bytes[i] == '"';
        if (!quoted && text->bytes[i] == '\n') end = i + 1;
    }
    return end;
}

static bool is_blank(const sk_text *text, size_t begin)
{
    for (size_t i = begin; i < text->size; i++)
        if (!text->bytes[i] || !strchr(" \t\r\n,;", text->bytes[i])) return false;
    return true;
}

/* ---- Data sets ---- */

static sock_status goes_back(sock_context *ctx, const slicer *s, const sock_data *data, size_t j)
{
    const size_t line = data->line ? data->line[data->first[j]] : s->line;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: line %zu: trajectory '%s' has rows in places far from each other; a file that is read in "
                   "slices needs its trajectories one after the other, each in time: sort it",
                   s->from->source, line, data->id[j]);
}

/* Trajectories are new, but for a first one that goes on. */
static sock_status check_names(sock_context *ctx, slicer *s, const sock_data *data, bool *goes_on)
{
    *goes_on = s->last && strcmp(s->last, data->id[0]) == 0;
    if (*goes_on && !(data->t[0] > s->last_time)) return goes_back(ctx, s, data, 0);
    for (size_t j = *goes_on; j < data->trajectories; j++) {
        bool is_new;
        size_t label;
        SK_TRY(sk_labels_find(ctx, &s->seen, data->id[j], strlen(data->id[j]), &label, &is_new));
        if (!is_new) return goes_back(ctx, s, data, j);
    }
    return SOCK_OK;
}

static sock_status remember_last(sock_context *ctx, slicer *s, const sock_data *data, bool cut)
{
    sk_free(s->last);
    s->last = NULL;
    if (!cut) return SOCK_OK;
    s->last = sk_strdup(ctx, data->id[data->trajectories - 1]);
    s->last_time = data->t[data->points - 1];
    return s->last ? SOCK_OK : SOCK_ENOMEM;
}

/* A data set; the text is left with the header and what follows. */
static sock_status take(sock_context *ctx, slicer *s, const sk_csv_slice *slice, bool cut)
{
    bool goes_on = false;
    const bool alone = !s->any && s->ended && slice->used == s->text.size;
    if (!alone) SK_TRY(check_names(ctx, s, slice->data, &goes_on));
    if (!alone && !s->own) SK_TRY(sk_options_after(ctx, slice->data, s->watch ? *s->watch : NULL, s->given, &s->own));
    s->any = true;
    SK_TRY(s->work(ctx, s->arg, slice->data, goes_on));
    SK_TRY(remember_last(ctx, s, slice->data, cut));
    const size_t rest = s->text.size - slice->used;
    memmove(s->text.bytes + slice->header, s->text.bytes + slice->used, rest);
    s->text.size = slice->header + rest;
    s->text.bytes[s->text.size] = 0;
    s->header = slice->header;
    s->line = slice->next_line;
    s->wanted = slice->header + s->slice;
    return SOCK_OK;
}

/* The next data set, or more text. */
static sock_status step(sock_context *ctx, slicer *s)
{
    const size_t end = s->ended ? s->text.size : whole_rows(&s->text);
    if (s->ended && s->any && is_blank(&s->text, s->header)) {
        s->text.size = s->header;
        return SOCK_OK;
    }
    sk_csv_slice slice = {.goes_on = !s->ended, .others = s->any, .line = s->line, .watch = s->watch};
    sock_status status = SOCK_OK;
    if (end > s->header || s->ended) {
        const char kept = s->text.bytes[end];
        s->text.bytes[end] = 0;
        status = sk_csv_take_slice(ctx, s->from->source, s->text.bytes, end, s->own ? s->own : s->given, &slice);
        s->text.bytes[end] = kept;
    }
    const bool cut = slice.goes_on && slice.used == end;
    if (status >= 0 && slice.data) status = take(ctx, s, &slice, cut);
    if (status >= 0 && !slice.data && s->ended) s->text.size = s->header; /* what is left has no point */
    s->why = slice.why;
    if (status >= 0 && !slice.data) s->wanted = slice.needs_all ? SIZE_MAX : 2 * SK_MAX(s->wanted, s->slice);
    sock_data_free(slice.data);
    return status;
}

sock_status sk_csv_slices(sock_context *ctx, const sk_csv_origin *from, const sk_slicing *how, const sock_options *opts,
                          sk_csv_work work, void *arg)
{
    slicer s = {.from = from,
                .given = opts,
                .slice = how->slice ? how->slice : SK_SLICE,
                .most = how->most,
                .watch = how->watch,
                .work = work,
                .arg = arg};
    sock_status status = SOCK_OK;
    s.wanted = s.slice;
    if (how->watch) sk_watch_next_file(*how->watch);
    do {
        status = fill(ctx, &s);
        if (status >= 0) status = step(ctx, &s);
    } while (status >= 0 && !(s.ended && s.any && s.text.size == s.header));
    sk_labels_clear(&s.seen);
    sock_options_free(s.own);
    sk_free(s.text.bytes);
    sk_free(s.last);
    return status;
}

/* ---- Files ---- */

typedef struct open_file {
    const char *path;
    int handle;
} open_file;

static sock_status more_of_file(sock_context *ctx, void *state, sk_text *text, bool *ended)
{
    const open_file *file = state;
    size_t got = 0;
    SK_TRY(sk_grow(ctx, &text->bytes, &text->room, text->size + SK_PART + 1, 1));
    SK_TRY(sk_file_read_part(ctx, file->path, file->handle, text->bytes + text->size, SK_PART, &got));
    text->size += got;
    text->bytes[text->size] = 0;
    *ended = got == 0;
    return SOCK_OK;
}

sock_status sk_csv_file_slices(sock_context *ctx, const char *path, const sk_slicing *how, const sock_options *opts,
                               sk_csv_work work, void *arg)
{
    open_file file = {path, -1};
    const sk_csv_origin from = {path, &file, more_of_file};
    SK_TRY(sk_file_open_parts(ctx, path, &file.handle));
    const sock_status status = sk_csv_slices(ctx, &from, how, opts, work, arg);
    close(file.handle);
    return status;
}
