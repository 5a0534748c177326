/* csvwide.c - see csvwide.h.
 *
 * 1. Roles (csvcolumns.c): the id, the time and the inputs; all other columns are open.
 * 2. Layout: the name of an open column is a stem and a number, "height.3", or a date. Without a time column stems are
 *    states and numbers times. With one, columns are trajectories of one state; of several, where several stems have
 *    the same numbers; and January to December are the months of one series.
 * 3. A row of the file gives as many points as there are times, or trajectories, in the header: the slots. */
#include "csvwide.h"

#include "dates.h"
#include "labels.h"
#include "readers.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MONTHS = 12, FEWEST_TIMES = 3 };

static const char *const month_names[MONTHS] = {"january", "february", "march",     "april",   "may",      "june",
                                                "july",    "august",   "september", "october", "november", "december"};

/* An open column: which state it holds, and which slot. */
typedef struct place {
    bool taken;
    size_t state, slot;
} place;

typedef struct wide {
    sock_context *ctx;
    sk_cursor *at;
    sk_columns *columns;
    sk_rows *rows;
    bool by_row;   /* a row is a trajectory */
    bool calendar; /* columns are months of one series */
    place *place;  /* of each column */
    sk_labels stems, slots, ids;
    double *offset; /* of each slot: its time, or what a month adds to the year */
    bool dated;
    size_t d, width, row_capacity[4]; /* states; states and inputs */
    double *input;                    /* of the row at hand */
} wide;

static void release(wide *w)
{
    sk_free(w->place);
    sk_free(w->offset);
    sk_free(w->input);
    sk_labels_clear(&w->stems);
    sk_labels_clear(&w->slots);
    sk_labels_clear(&w->ids);
}

/* ---- Names ---- */

/* "height.3": the length of the stem "height", and 3. A date is all number. False: there is no number at the end. */
static bool split_name(const char *name, size_t *stem, double *number, bool *date)
{
    const size_t length = strlen(name);
    const char *end;
    *date = sk_parse_date(name, length, SK_DAYS_UNKNOWN, number);
    *stem = 0;
    if (*date) return true;
    *number = sk_parse_double(name, &end);
    if (length && !*end && isfinite(*number)) return true;
    size_t from = length;
    while (from > 0 && strchr("0123456789.", name[from - 1])) from--;
    while (name[from] == '.') from++;
    *number = sk_parse_double(name + from, &end);
    if (from == length || *end || !isfinite(*number)) return false;
    while (from > 0 && strchr("._- ", name[from - 1])) from--;
    *stem = from;
    return true;
}

/* January, or Jan: which month; MONTHS: none. */
static size_t month_of(const char *name)
{
    size_t m = 0;
    while (m < MONTHS && strcasecmp(name, month_names[m]) != 0 &&
           (strlen(name) != 3 || strncasecmp(name, month_names[m], 3) != 0))
        m++;
    return m;
}

bool sk_wide_months(const sk_columns *columns)
{
    bool seen[MONTHS] = {false};
    size_t count = 0;
    for (size_t c = 0; c < columns->count; c++) {
        if (columns->column[c].role != SK_ROLE_OPEN) continue;
        const size_t m = month_of(columns->column[c].name);
        if (m == MONTHS || seen[m]) return false;
        seen[m] = true;
        count++;
    }
    return count == MONTHS;
}

const char *sk_wide_hint(const sk_columns *columns)
{
    size_t numbered = 0, stem;
    double number;
    bool date;
    for (size_t c = 0; c < columns->count; c++)
        numbered +=
            columns->column[c].role == SK_ROLE_OPEN && split_name(columns->column[c].name, &stem, &number, &date);
    return numbered < FEWEST_TIMES ? ""
                                   : "; if each row is a trajectory and the names of the columns hold its times (wide "
                                     "form), --wide reads them so";
}

/* ---- Layout ---- */

static void ignore(sk_column *column, const char *why)
{
    column->role = SK_ROLE_IGNORED;
    column->why = why;
}

/* Open columns that begin with text hold no values; by row the first of them names the trajectories, where no id does.
 */
static sock_status leave_texts(wide *w)
{
    for (size_t c = 0; c < w->columns->count; c++) {
        sk_column *column = &w->columns->column[c];
        bool text;
        if (column->role != SK_ROLE_OPEN) continue;
        SK_TRY(sk_column_is_text(w->ctx, *w->at, c, &text));
        if (text && w->by_row && !w->columns->has_id) {
            column->role = SK_ROLE_ID;
            w->columns->has_id = true;
        } else if (text) {
            ignore(column, "its first value is not a number");
        }
    }
    return SOCK_OK;
}

/* A slot for each number, in order of appearance. */
static sock_status take_slot(wide *w, size_t c, double offset, const char *key, size_t length)
{
    bool is_new;
    SK_TRY(sk_labels_find(w->ctx, &w->slots, key, length, &w->place[c].slot, &is_new));
    if (is_new) w->offset[w->place[c].slot] = offset;
    w->place[c].taken = true;
    return SOCK_OK;
}

static sock_status refuse_dates(const wide *w, const char *name)
{
    return sk_fail(w->ctx, SOCK_EINPUT, "%s: wide form: some names of columns are dates and '%s' is none",
                   w->at->source, name);
}

/* Without a time column, and with one where several stems share their numbers. */
static sock_status place_stems(wide *w)
{
    bool any = false;
    for (size_t c = 0; c < w->columns->count; c++) {
        sk_column *column = &w->columns->column[c];
        size_t stem;
        double number;
        bool date, is_new;
        char key[32];
        if (column->role != SK_ROLE_OPEN) continue;
        if (!split_name(column->name, &stem, &number, &date)) {
            ignore(column, "its name holds no time (wide form)");
            continue;
        }
        if (any && date != w->dated) return refuse_dates(w, column->name);
        any = true;
        w->dated = date;
        const size_t length = sk_print_double(key, number);
        SK_TRY(sk_labels_find(w->ctx, &w->stems, column->name, stem, &w->place[c].state, &is_new));
        SK_TRY(take_slot(w, c, number, key, length));
    }
    return SOCK_OK;
}

static void forget_places(wide *w)
{
    sk_labels_clear(&w->stems);
    sk_labels_clear(&w->slots);
    for (size_t c = 0; c < w->columns->count; c++) w->place[c] = (place){0};
}

/* The wells of a plate, A1 to D6: rows A, B, C, ... of columns 1, 2, 3, ..., nothing between. */
static bool is_plate(const wide *w)
{
    size_t row = 0;
    for (; row < w->stems.count; row++)
        if (w->stems.text[row][0] != (char)('A' + row) || w->stems.text[row][1]) return false;
    for (size_t c = 0; c < w->columns->count; c++)
        if (w->columns->column[c].role == SK_ROLE_OPEN && strpbrk(w->columns->column[c].name, "._- ")) return false;
    return row > 1;
}

/* Whether the option state gives one name, which is no stem: that of the state that all columns hold. */
static bool is_one_state(const wide *w, const char *list)
{
    bool stem = strcmp(list, "auto") == 0 || strpbrk(list, ",\"(") != NULL;
    for (size_t k = 0; !stem && k < w->stems.count; k++) stem = strcmp(w->stems.text[k], list) == 0;
    return !stem;
}

/* Whether every open column is a stem with a number, and there are several stems with the same numbers each, each a
 * state. */
static sock_status has_stems(wide *w, const char *list, bool *several)
{
    size_t open = 0, stem, length;
    double number;
    bool date;
    *several = true;
    for (size_t c = 0; c < w->columns->count; c++) {
        const sk_column *column = &w->columns->column[c];
        if (column->role != SK_ROLE_OPEN) continue;
        bool is_new;
        char key[32];
        open++;
        *several &= split_name(column->name, &stem, &number, &date) && stem > 0;
        if (!*several) break;
        length = sk_print_double(key, number);
        SK_TRY(sk_labels_find(w->ctx, &w->stems, column->name, stem, &w->place[c].state, &is_new));
        SK_TRY(sk_labels_find(w->ctx, &w->slots, key, length, &w->place[c].slot, &is_new));
    }
    *several &= w->stems.count > 1 && w->slots.count > 1 && open == w->stems.count * w->slots.count;
    *several = *several && !is_plate(w) && !is_one_state(w, list);
    forget_places(w);
    return SOCK_OK;
}

static sock_status place_columns(wide *w, const char *list)
{
    w->calendar = sk_wide_months(w->columns);
    bool several = false;
    if (!w->calendar) SK_TRY(has_stems(w, list, &several));
    if (several) {
        SK_TRY(place_stems(w));
        w->dated = false; /* the numbers are no times */
        return SOCK_OK;
    }
    for (size_t c = 0; c < w->columns->count; c++) {
        const char *name = w->columns->column[c].name;
        if (w->columns->column[c].role != SK_ROLE_OPEN) continue;
        SK_TRY(take_slot(w, c, w->calendar ? (double)month_of(name) / MONTHS : 0, name, strlen(name)));
    }
    return SOCK_OK;
}

static sock_status lay_out(wide *w, const char *list)
{
    const size_t count = w->columns->count;
    w->place = sk_alloc(w->ctx, count, sizeof *w->place);
    w->offset = sk_doubles(w->ctx, count, 1);
    w->input = sk_doubles(w->ctx, w->columns->inputs + 1, 1);
    if (!w->place || !w->offset || !w->input) return SOCK_ENOMEM;
    SK_TRY(leave_texts(w));
    SK_TRY(w->by_row ? place_stems(w) : place_columns(w, list));
    if (!w->slots.count)
        return sk_fail(w->ctx, SOCK_EINPUT, "%s: wide form: %s", w->at->source,
                       w->by_row ? "there is no time column, and no name of a column ends in a number, its time"
                                 : "there is no column of numbers beside the time");
    if (w->by_row && w->slots.count < 2)
        return sk_fail(w->ctx, SOCK_EINPUT, "%s: wide form: the names of the columns hold one time; two are needed",
                       w->at->source);
    w->d = SK_MAX(w->stems.count, 1);
    for (size_t k = 0; w->d > 1 && k < w->d; k++)
        if (!w->stems.text[k][0])
            return sk_fail(w->ctx, SOCK_EINPUT,
                           "%s: wide form: some names of columns are times alone, and others have a name before the "
                           "time, such as %s",
                           w->at->source, w->stems.text[k ? 0 : 1]);
    return SOCK_OK;
}

/* ---- States by name ---- */

/* Stems that say nothing of a state: none, what R makes of numbers, words for the time. */
static const char *state_name(const wide *w, size_t k)
{
    const char *stem = w->stems.count ? w->stems.text[k] : "";
    const bool empty = !*stem || strcasecmp(stem, "X") == 0 || strcasecmp(stem, "V") == 0 || sk_is_time_name(stem);
    return empty && w->d == 1 ? "x" : stem;
}

static sock_status refuse_state(const wide *w, const char *list)
{
    return sk_fail(w->ctx, SOCK_EUSAGE, "%s: state is '%s'; allowed in wide form: %s", w->at->source, list,
                   w->d == 1 ? "one name, for the state that the columns hold"
                             : "stems of the names of columns, such as height for height.1 and height.2");
}

/* The option state: with one state its name; with several which of them, in which order. number[k]: the new place of
 * state k, d where it is left out. */
static sock_status choose_states(wide *w, const char *list, size_t *number)
{
    sk_cursor at = {.p = list, .line = 1, .source = "the option state"};
    const size_t d = w->d;
    size_t chosen = 0;
    for (size_t k = 0; k < d; k++) number[k] = d;
    for (bool last = false; !last;) {
        sk_cell cell;
        size_t k = 0;
        if (sk_next_cell(w->ctx, &at, &cell, &last) < 0) return SOCK_EUSAGE;
        char *name = sk_cell_copy(w->ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        size_t from = 0, length = strlen(name);
        const bool logged = sk_log_name(name, &from, &length);
        memmove(name, name + from, length);
        name[length] = 0;
        while (d > 1 && k < d && strcmp(state_name(w, k), name) != 0) k++;
        if (k == d || !*name || chosen == d || number[k] != d) {
            sk_free(name);
            return refuse_state(w, list);
        }
        number[k] = chosen;
        w->rows->logged[chosen] = logged;
        w->rows->state[chosen++] = name;
    }
    w->rows->d = chosen; /* the names that there are */
    return SOCK_OK;
}

static sock_status name_states(wide *w, const char *list)
{
    size_t *number = sk_alloc(w->ctx, w->d, sizeof *number), inputs = w->columns->inputs;
    sock_status status = SOCK_OK;
    w->rows->state = sk_alloc(w->ctx, w->d + inputs, sizeof *w->rows->state);
    w->rows->logged = sk_alloc(w->ctx, w->d + inputs, sizeof *w->rows->logged);
    if (!number || !w->rows->state || !w->rows->logged) {
        status = SOCK_ENOMEM;
        goto out;
    }
    w->rows->d = w->d;
    const bool all = strcmp(list, "auto") == 0;
    for (size_t k = 0; all && k < w->d; k++) {
        number[k] = k;
        if (!(w->rows->state[k] = sk_strdup(w->ctx, state_name(w, k)))) SK_GO(SOCK_ENOMEM);
    }
    if (!all) SK_GO(choose_states(w, list, number));
    for (size_t c = 0; c < w->columns->count; c++) {
        place *p = &w->place[c];
        if (!p->taken) continue;
        p->taken = number[p->state] < w->d;
        p->state = number[p->state];
        if (!p->taken) ignore(&w->columns->column[c], "the option state does not name it");
    }
    w->d = w->rows->d;
    w->width = w->d + inputs;
    w->rows->inputs = inputs;
    w->rows->d = w->width;
    for (size_t c = 0; c < w->columns->count; c++) {
        const sk_column *column = &w->columns->column[c];
        if (column->role != SK_ROLE_INPUT) continue;
        if (!(w->rows->state[w->d + column->state] = sk_strdup(w->ctx, column->name))) SK_GO(SOCK_ENOMEM);
    }
out:
    sk_free(number);
    return status;
}

/* ---- Rows ---- */

static sock_status refuse_cell(const wide *w, size_t line, size_t c, const sk_cell *cell, const char *what)
{
    return sk_fail(w->ctx, SOCK_EINPUT, "%s: line %zu, column '%s': '%.*s' is %s", w->at->source, line,
                   w->columns->column[c].name, (int)SK_MIN(cell->length, (size_t)80), cell->text, what);
}

static sock_status number_of(const wide *w, size_t line, size_t c, const sk_cell *cell, double *value)
{
    switch (sk_cell_value(w->at, cell, value)) {
    case SK_CELL_NUMBER: return SOCK_OK;
    case SK_CELL_MISSING: *value = (double)NAN; return SOCK_OK;
    case SK_CELL_INFINITE: return refuse_cell(w, line, c, cell, "not finite; finite numbers are allowed");
    default: return refuse_cell(w, line, c, cell, "not a number (missing values: empty, NA, nan or null)");
    }
}

static sock_status time_of(wide *w, size_t line, size_t c, const sk_cell *cell, double *value)
{
    if (!w->dated) return number_of(w, line, c, cell, value);
    if (sk_parse_date(cell->text, cell->length, w->columns->order, value)) return SOCK_OK;
    return refuse_cell(w, line, c, cell, "no date like 2024-01-31 or 2024-01-31T12:30:00, as those before it are");
}

/* Room for one more point of each slot. */
static sock_status make_room(wide *w)
{
    sk_rows *rows = w->rows;
    const size_t needed = rows->count + w->slots.count;
    SK_TRY(sk_grow(w->ctx, &rows->t, &w->row_capacity[0], needed, sizeof *rows->t));
    SK_TRY(sk_grow(w->ctx, &rows->x, &w->row_capacity[1], needed * w->width, sizeof *rows->x));
    SK_TRY(sk_grow(w->ctx, &rows->label, &w->row_capacity[2], needed, sizeof *rows->label));
    SK_TRY(sk_grow(w->ctx, &rows->line, &w->row_capacity[3], needed, sizeof *rows->line));
    for (size_t i = rows->count * w->width; i < needed * w->width; i++) rows->x[i] = (double)NAN;
    return SOCK_OK;
}

/* By row: the trajectory's name is that of its cell, or its number. */
static sock_status name_row(wide *w, size_t line, const sk_cell *id, size_t *label)
{
    bool is_new;
    char number[32];
    char *name = id ? sk_cell_copy(w->ctx, id) : NULL;
    if (id && !name) return SOCK_ENOMEM;
    if (!id) number[sk_print_double(number, (double)w->ids.count + 1)] = 0;
    const char *text = name ? name : number;
    sock_status status =
        !*text ? sk_fail(w->ctx, SOCK_EINPUT, "%s: line %zu: the trajectory's id is empty", w->at->source, line)
               : sk_labels_find(w->ctx, &w->ids, text, strlen(text), label, &is_new);
    if (status >= 0 && !is_new)
        status =
            sk_fail(w->ctx, SOCK_EINPUT,
                    "%s: line %zu: the trajectory '%s' stands on an earlier line as well; in wide form each row is "
                    "one trajectory",
                    w->at->source, line, text);
    sk_free(name);
    return status;
}

/* What the cells of a row hold beside its values. */
typedef struct head {
    double t;
    bool has_id;
    sk_cell id;
} head;

static sock_status take_cell(wide *w, size_t line, size_t c, const sk_cell *cell, head *h)
{
    const sk_column *column = &w->columns->column[c];
    const place *p = &w->place[c];
    switch (column->role) {
    case SK_ROLE_TIME: return time_of(w, line, c, cell, &h->t);
    case SK_ROLE_INPUT: return number_of(w, line, c, cell, &w->input[column->state]);
    case SK_ROLE_ID:
        h->id = *cell;
        h->has_id = true;
        return SOCK_OK;
    default:
        if (!p->taken) return SOCK_OK;
        return number_of(w, line, c, cell, &w->rows->x[(w->rows->count + p->slot) * w->width + p->state]);
    }
}

/* The points of the row get their times, inputs and trajectories. */
static sock_status finish_row(wide *w, size_t line, const head *h)
{
    sk_rows *rows = w->rows;
    size_t label = 0;
    if (w->by_row) SK_TRY(name_row(w, line, h->has_id ? &h->id : NULL, &label));
    for (size_t s = 0; s < w->slots.count; s++, rows->count++) {
        const size_t i = rows->count;
        rows->t[i] = w->by_row ? w->offset[s] : w->calendar ? h->t + w->offset[s] : h->t;
        rows->label[i] = w->by_row ? label : w->calendar ? 0 : s;
        rows->line[i] = line;
        for (size_t k = w->d; k < w->width; k++) rows->x[i * w->width + k] = w->input[k - w->d];
    }
    return SOCK_OK;
}

static sock_status read_row(wide *w)
{
    const size_t line = w->at->line;
    head h = {.t = (double)NAN};
    size_t c = 0;
    SK_TRY(make_room(w));
    for (bool last = false; !last; c++) {
        sk_cell cell;
        SK_TRY(sk_next_cell(w->ctx, w->at, &cell, &last));
        if (c < w->columns->count)
            SK_TRY(take_cell(w, line, c, &cell, &h));
        else if (!cell.length)
            c--; /* a separator at the end of the row */
    }
    if (c != w->columns->count)
        return sk_fail(w->ctx, SOCK_EINPUT, "%s: line %zu has %zu cells; the header has %zu columns", w->at->source,
                       line, c, w->columns->count);
    return finish_row(w, line, &h);
}

/* ---- The whole ---- */

static sock_status finish(wide *w)
{
    sk_rows *rows = w->rows;
    rows->place = "line";
    rows->source = sk_strdup(w->ctx, w->at->source);
    rows->ignored = sk_alloc(w->ctx, w->columns->count, sizeof *rows->ignored);
    if (!rows->source || !rows->ignored) return SOCK_ENOMEM;
    for (size_t c = 0; c < w->columns->count; c++) {
        const sk_column *column = &w->columns->column[c];
        const bool is_time = column->role == SK_ROLE_TIME;
        if (!is_time && column->role != SK_ROLE_IGNORED) continue;
        char *name = sk_strdup(w->ctx, column->name);
        if (!name) return SOCK_ENOMEM;
        if (is_time)
            rows->time = name;
        else
            rows->ignored[rows->ignored_count++] = (sk_ignored){name, column->why};
    }
    if (!rows->time && !(rows->time = sk_strdup(w->ctx, "t"))) return SOCK_ENOMEM;
    sk_labels *names = w->by_row ? &w->ids : &w->slots;
    if (w->calendar) return sk_number_names(w->ctx, rows->trajectories = 1, &rows->id);
    rows->id = names->text;
    rows->trajectories = names->count;
    names->text = NULL;
    names->count = 0;
    return SOCK_OK;
}

sock_status sk_wide_read(sock_context *ctx, sk_cursor *at, const sock_options *opts, sk_columns *columns, sk_rows *rows,
                         bool *dated)
{
    wide w = {.ctx = ctx, .at = at, .columns = columns, .rows = rows};
    sock_status status = SOCK_OK;
    SK_GO(sk_columns_assign_wide(ctx, at, opts, columns, &w.by_row));
    SK_GO(lay_out(&w, sk_option_text(opts, "state")));
    if (!w.by_row) w.dated = columns->dated;
    SK_GO(name_states(&w, sk_option_text(opts, "state")));
    while (sk_next_row(at)) SK_GO(read_row(&w));
    SK_GO(finish(&w));
    *dated = w.dated;
out:
    release(&w);
    return status;
}
