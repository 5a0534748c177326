/* csv.c - a CSV file in long form, row by row, into sk_rows.
 *
 * 1. Header, and the role of each column (csvcolumns.c).
 * 2. One pass over the rows: numbers by the quick way where they are plain, ids through a hash table unless they repeat
 *    the row before.
 * 3. sk_rows_finish checks, sorts and groups.
 * Cost: one pass over the text, some 10 bytes of memory for each byte at worst. */
#include "csvcolumns.h"
#include "csvtwins.h"
#include "csvwide.h"
#include "dates.h"
#include "labels.h"
#include "readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_PER_REPORT = 1 << 16, ROWS_TO_JUDGE_BY = 1 << 12 };

typedef struct reader {
    sock_context *ctx;
    sk_cursor at;
    const char *text;
    size_t size;
    sk_columns columns;
    sk_rows rows;
    size_t t_capacity, x_capacity, label_capacity, line_capacity; /* of the arrays in rows */
    sk_labels ids, groups;
    sk_cell id[SK_ID_COLUMNS], group;           /* of the row being read */
    sk_cell last_id[SK_ID_COLUMNS], last_group; /* of the row before, whose trajectory is last_label */
    size_t last_label;
    bool any;  /* a row has been read */
    bool none; /* there is none in the slice yet */
    const sk_csv_slice *slice;
    const char *row;                /* where the one being read begins */
    const char *run;                /* where the last run of rows of one trajectory does, */
    size_t run_row, run_line, runs; /* its number and line, and how many there are, */
    bool run_new;                   /* and whether the trajectory has no rows before it */
    size_t *group_of;               /* of each trajectory */
    size_t *first_line;             /* of each trajectory */
    double dt;                      /* columns.timeless: the step between the rows of a trajectory, */
    size_t *length;                 /* and how many of each were read */
    size_t group_of_capacity, first_line_capacity, length_capacity;
    char *key; /* scratch for the text of an id */
    size_t key_capacity;
} reader;

static void release(reader *r)
{
    sk_rows_clear(&r->rows);
    sk_columns_clear(&r->columns);
    sk_labels_clear(&r->ids);
    sk_labels_clear(&r->groups);
    sk_free(r->group_of);
    sk_free(r->first_line);
    sk_free(r->length);
    sk_free(r->key);
}

/* ---- Trajectories ---- */

static bool same_cell(const sk_cell *a, const sk_cell *b)
{
    return a->length == b->length && a->escaped == b->escaped && memcmp(a->text, b->text, a->length) == 0;
}

/* Appends the cell's text, quotes undone, to r->key, which holds *length bytes. */
static sock_status append_key(reader *r, const sk_cell *cell, size_t *length)
{
    SK_TRY(sk_grow(r->ctx, &r->key, &r->key_capacity, *length + cell->length + 2, 1));
    for (size_t i = 0; i < cell->length; i++) {
        r->key[(*length)++] = cell->text[i];
        if (cell->escaped && cell->text[i] == '"') i++;
    }
    return SOCK_OK;
}

static sock_status find_group(reader *r, size_t *group)
{
    size_t length = 0;
    bool is_new;
    SK_TRY(append_key(r, &r->group, &length));
    return sk_labels_find(r->ctx, &r->groups, r->key, length, group, &is_new);
}

/* The trajectory's name: its id, one/other where several columns hold it; group/id where ids start anew in each group;
 * the group; or 0 when there is one. */
static sock_status find_trajectory(reader *r, size_t *label, bool *is_new)
{
    size_t length = 0;
    if (r->columns.id_within_group) {
        SK_TRY(append_key(r, &r->group, &length));
        if (r->columns.has_id) r->key[length++] = '/'; /* append_key leaves room for it */
    }
    for (size_t k = 0; k < r->columns.ids; k++) {
        if (k) r->key[length++] = '/';
        SK_TRY(append_key(r, &r->id[k], &length));
    }
    if (!r->columns.has_id && !r->columns.id_within_group)
        return sk_labels_find(r->ctx, &r->ids, "0", 1, label, is_new);
    return sk_labels_find(r->ctx, &r->ids, r->key, length, label, is_new);
}

/* A new trajectory gets the group of its first row; later rows must agree. */
static sock_status check_group(reader *r, size_t label, bool is_new, size_t line)
{
    size_t group;
    SK_TRY(find_group(r, &group));
    if (is_new) {
        SK_TRY(sk_grow(r->ctx, &r->group_of, &r->group_of_capacity, label + 1, sizeof *r->group_of));
        SK_TRY(sk_grow(r->ctx, &r->first_line, &r->first_line_capacity, label + 1, sizeof *r->first_line));
        r->group_of[label] = group;
        r->first_line[label] = line;
    }
    if (r->group_of[label] == group) return SOCK_OK;
    return sk_fail(
        r->ctx, SOCK_EINPUT,
        "%s: trajectory '%s' is in group '%s' on line %zu and in group '%s' on line %zu; a trajectory belongs to "
        "one group",
        r->at.source, r->ids.text[label], r->groups.text[r->group_of[label]], r->first_line[label],
        r->groups.text[group], line);
}

/* The column that holds part k of the name. */
static const char *name_of_id(const sk_columns *columns, size_t k)
{
    size_t c = 0;
    while (columns->column[c].role != SK_ROLE_ID || columns->column[c].state != k) c++;
    return columns->column[c].name;
}

static const char *name_of_role(const sk_columns *columns, sk_role role)
{
    size_t c = 0;
    while (columns->column[c].role != role) c++; /* asked for roles that are there alone */
    return columns->column[c].name;
}

/* The time of the row where rows follow one another at the step dt. */
static sock_status count_time(reader *r)
{
    const size_t label = r->last_label;
    if (label >= r->length_capacity) {
        const size_t before = r->length_capacity;
        SK_TRY(sk_grow(r->ctx, &r->length, &r->length_capacity, label + 1, sizeof *r->length));
        memset(r->length + before, 0, (r->length_capacity - before) * sizeof *r->length);
    }
    r->rows.t[r->rows.count] = r->dt * (double)r->length[label]++;
    return SOCK_OK;
}

/* Which trajectory the row belongs to. Rows mostly follow one of the same trajectory: then nothing is looked up. */
static sock_status settle_label(reader *r, size_t line)
{
    const sk_columns *columns = &r->columns;
    bool repeats = r->any && (!columns->has_group || same_cell(&r->group, &r->last_group));
    for (size_t k = 0; repeats && k < columns->ids; k++) repeats = same_cell(&r->id[k], &r->last_id[k]);
    if (!repeats) {
        bool is_new;
        for (size_t k = 0; k < columns->ids; k++)
            if (r->id[k].length == 0)
                return sk_fail(r->ctx, SOCK_EINPUT, "%s: line %zu, column '%s': the trajectory's id is empty",
                               r->at.source, line, name_of_id(columns, k));
        if (columns->has_group && r->group.length == 0)
            return sk_fail(r->ctx, SOCK_EINPUT, "%s: line %zu, column '%s': the group is empty", r->at.source, line,
                           name_of_role(columns, SK_ROLE_GROUP));
        SK_TRY(find_trajectory(r, &r->last_label, &is_new));
        if (columns->has_group) SK_TRY(check_group(r, r->last_label, is_new, line));
        memcpy(r->last_id, r->id, sizeof r->id);
        r->last_group = r->group;
        r->any = true;
        r->run = r->row, r->run_row = r->rows.count, r->run_line = line, r->run_new = is_new;
        r->runs++;
    }
    r->rows.label[r->rows.count] = r->last_label;
    return columns->timeless ? count_time(r) : SOCK_OK;
}

/* ---- Rows ---- */

/* How many rows the file will have, from the length of those read so far: room for all at once, where doubling would
 * take up to twice as much. A row of fewer than 16 bytes is rare, and lets a file ask for no more than doubling would.
 */
static size_t expected_rows(const reader *r)
{
    double each = (double)(r->at.p - r->text) / (double)r->rows.count;
    return (size_t)(1.01 * (double)r->size / fmax(each, 16));
}

static sock_status make_room(reader *r)
{
    size_t needed = r->rows.count + 1;
    if (r->rows.count == ROWS_TO_JUDGE_BY) needed = SK_MAX(needed, expected_rows(r));
    sock_context *ctx = r->ctx;
    SK_TRY(sk_grow(ctx, &r->rows.t, &r->t_capacity, needed, sizeof(double)));
    SK_TRY(sk_grow(ctx, &r->rows.x, &r->x_capacity, needed * r->columns.d, sizeof(double)));
    SK_TRY(sk_grow(ctx, &r->rows.label, &r->label_capacity, needed, sizeof(size_t)));
    return sk_grow(ctx, &r->rows.line, &r->line_capacity, needed, sizeof(size_t));
}

static sock_status refuse_value(reader *r, size_t line, size_t c, const sk_cell *cell, const char *what)
{
    return sk_fail(r->ctx, SOCK_EINPUT, "%s: line %zu, column '%s': '%.*s' is %s", r->at.source, line,
                   r->columns.column[c].name, (int)SK_MIN(cell->length, (size_t)80), cell->text, what);
}

static sock_status refuse_text(reader *r, size_t line, size_t c, const sk_cell *cell)
{
    static const char missing[] = "missing values: empty, NA, nan or null";
    sk_cursor other = r->at;
    char what[256];
    double value;
    other.decimal = 0;
    if (r->at.decimal && sk_cell_value(&other, cell, &value) == SK_CELL_NUMBER)
        return refuse_value(r, line, c, cell,
                            r->at.decimal == ',' ? "no number here: those before it have decimal commas"
                                                 : "no number here: those before it have decimal points");
    if (r->columns.column[c].role == SK_ROLE_TIME)
        snprintf(what, sizeof what,
                 "neither a number nor a date like 2024-01-31, 2024-01-31T12:30 or 31.01.2024 (%s)%s", missing,
                 sk_is_short_year(cell->text, cell->length) ? "; a year of two digits: write four"
                                                            : sk_cell_hint(cell));
    else
        snprintf(what, sizeof what, "not a number (%s)%s", missing, sk_cell_hint(cell));
    return refuse_value(r, line, c, cell, what);
}

/* A cell of a time or state column; NaN when it is missing. */
static sock_status number_cell(reader *r, size_t line, size_t c, double *value, bool *last)
{
    sk_cell cell;
    if (sk_quick_number(&r->at, value, last)) return SOCK_OK;
    SK_TRY(sk_next_cell(r->ctx, &r->at, &cell, last));
    switch (sk_cell_value(&r->at, &cell, value)) {
    case SK_CELL_NUMBER: break;
    case SK_CELL_MISSING: *value = (double)NAN; break;
    case SK_CELL_INFINITE: return refuse_value(r, line, c, &cell, "not finite; finite numbers are allowed");
    case SK_CELL_TEXT:
        if (!r->columns.column[c].truths || !sk_cell_truth(&cell, value)) return refuse_text(r, line, c, &cell);
    }
    return SOCK_OK;
}

static sock_status date_cell(reader *r, size_t line, size_t c, double *value, bool *last)
{
    sk_cell cell;
    double number;
    SK_TRY(sk_next_cell(r->ctx, &r->at, &cell, last));
    if (sk_parse_date(cell.text, cell.length, r->columns.order, value)) return SOCK_OK;
    *value = (double)NAN;
    if (sk_cell_value(&r->at, &cell, &number) == SK_CELL_MISSING) return SOCK_OK;
    return refuse_value(r, line, c, &cell,
                        "no date like 2024-01-31, 2024-01-31T12:30:00 or 31.01.2024, as those before it are");
}

/* Spreadsheets end rows, but not the header, with separators: empty cells too many are none. */
static sock_status refuse_length(reader *r, size_t line, size_t cells, bool last)
{
    const bool longer = cells == r->columns.count;
    size_t filled = 0;
    sk_cell cell;
    for (; !last; cells++) {
        SK_TRY(sk_next_cell(r->ctx, &r->at, &cell, &last));
        filled += cell.length > 0;
    }
    if (longer && !filled) return SOCK_OK;
    return sk_fail(r->ctx, SOCK_EINPUT, "%s: line %zu has %zu cells; the header has %zu columns", r->at.source, line,
                   cells, r->columns.count);
}

static sock_status next_name(reader *r, sk_cell *cell, bool *last)
{
    SK_TRY(sk_next_cell(r->ctx, &r->at, cell, last));
    sk_cell_disarm(cell);
    return SOCK_OK;
}

static sock_status read_row(reader *r)
{
    const size_t line = r->at.line, row = r->rows.count, columns = r->columns.count;
    bool last = false;
    sk_cell cell;
    r->row = r->at.p;
    SK_TRY(make_room(r));
    for (size_t c = 0; c < columns; c++) {
        const sk_column *column = &r->columns.column[c];
        if (last) return refuse_length(r, line, c, last);
        switch (column->role) {
        case SK_ROLE_STATE:
        case SK_ROLE_INPUT:
            SK_TRY(number_cell(r, line, c, &r->rows.x[row * r->columns.d + column->state], &last));
            break;
        case SK_ROLE_TIME:
            SK_TRY(r->columns.dated ? date_cell(r, line, c, &r->rows.t[row], &last)
                                    : number_cell(r, line, c, &r->rows.t[row], &last));
            break;
        case SK_ROLE_ID: SK_TRY(next_name(r, &r->id[column->state], &last)); break;
        case SK_ROLE_GROUP: SK_TRY(next_name(r, &r->group, &last)); break;
        default: SK_TRY(sk_next_cell(r->ctx, &r->at, &cell, &last)); break;
        }
    }
    if (!last) SK_TRY(refuse_length(r, line, columns, last));
    SK_TRY(settle_label(r, line));
    r->rows.line[row] = line;
    r->rows.count++;
    return SOCK_OK;
}

static sock_status read_rows(reader *r)
{
    while (sk_next_row(&r->at)) {
        if (r->rows.count % ROWS_PER_REPORT == 0)
            SK_TRY(sk_progress(r->ctx, "reading", (double)(r->at.p - r->text) / (double)r->size));
        SK_TRY(read_row(r));
    }
    return SOCK_OK;
}

/* ---- The whole ---- */

/* A copy of a column's name goes to the place for its role. */
static sock_status put_name(reader *r, const sk_column *column)
{
    sk_rows *rows = &r->rows;
    char *name = sk_strdup(r->ctx, column->name);
    if (!name) return SOCK_ENOMEM;
    switch (column->role) {
    case SK_ROLE_STATE:
        rows->logged[column->state] = column->logged; /* and its name, as that of an input */
    /* fall through */
    case SK_ROLE_INPUT: rows->state[column->state] = name; break;
    case SK_ROLE_TIME: rows->time = name; break;
    case SK_ROLE_IGNORED: rows->ignored[rows->ignored_count++] = (sk_ignored){name, column->why}; break;
    default: sk_free(name); break;
    }
    return SOCK_OK;
}

/* Names, labels and groups from the reader to its rows. */
static sock_status finish_rows(reader *r)
{
    sk_rows *rows = &r->rows;
    size_t ignored = 0;
    for (size_t c = 0; c < r->columns.count; c++) ignored += r->columns.column[c].role == SK_ROLE_IGNORED;
    rows->place = "line";
    rows->source = sk_strdup(r->ctx, r->at.source);
    rows->state = sk_alloc(r->ctx, r->columns.d, sizeof *rows->state);
    rows->ignored = sk_alloc(r->ctx, ignored, sizeof *rows->ignored);
    rows->logged = sk_alloc(r->ctx, r->columns.d, sizeof *rows->logged);
    if (!rows->source || !rows->state || !rows->ignored || !rows->logged) return SOCK_ENOMEM;
    rows->d = r->columns.d;
    rows->inputs = r->columns.inputs;
    for (size_t c = 0; c < r->columns.count; c++) SK_TRY(put_name(r, &r->columns.column[c]));
    if (r->columns.timeless && !(rows->time = sk_strdup(r->ctx, "t"))) return SOCK_ENOMEM;
    rows->id = r->ids.text;
    rows->trajectories = r->ids.count;
    r->ids.text = NULL;
    r->ids.count = 0;
    if (r->columns.has_group) {
        rows->group = r->group_of;
        rows->group_name = r->groups.text;
        rows->group_labels = r->groups.count;
        r->group_of = NULL;
        r->groups.text = NULL;
        r->groups.count = 0;
    }
    return SOCK_OK;
}

/* What people have, by its first bytes, and what to do about it; NULL: nothing that is known here. */
static const char *kind_of_file(const char *text, size_t size)
{
    static const struct {
        const char *bytes, *says;
    } kinds[] = {{"PK\x03\x04", "a spreadsheet (xlsx, ods) or another zip file; save the sheet as CSV"},
                 {"\xd0\xcf\x11\xe0", "a spreadsheet (xls); save the sheet as CSV"},
                 {"\xff\xfe", "UTF-16 text; save it as \"CSV UTF-8\", or: iconv -f utf-16 -t utf-8"},
                 {"\xfe\xff", "UTF-16 text; save it as \"CSV UTF-8\", or: iconv -f utf-16 -t utf-8"},
                 {"PAR1", "a Parquet file; Python reads it: sock.Trajectories(polars.read_parquet(...))"},
                 {"\x1f\x8b", "a packed file; gunzip unpacks it"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size > strlen(kinds[i].bytes) && memcmp(text, kinds[i].bytes, strlen(kinds[i].bytes)) == 0)
            return kinds[i].says;
    return NULL;
}

/* What is no text at all is better said than reported as a strange header. */
static sock_status check_text(sock_context *ctx, const char *source, const char *text, size_t size)
{
    const char *zero = memchr(text, 0, size);
    if (!zero) return SOCK_OK;
    if (size >= 9 && !text[6] && !text[7] && text[8] == '{')
        return sk_fail(ctx, SOCK_EINPUT, "%s: this is a model file; data are needed here", source);
    if (size >= 6 && memcmp(text, "\x93NUMPY", 6) == 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: this is a NumPy array; its name must end in .npy", source);
    const char *kind = kind_of_file(text, size);
    if (kind) return sk_fail(ctx, SOCK_EINPUT, "%s: this is %s", source, kind);
    size_t line = 1;
    for (const char *p = text; p < zero; p++) line += *p == '\n';
    return sk_fail(ctx, SOCK_EINPUT, "%s: line %zu: a zero byte: this is a binary file or UTF-16; UTF-8 text is needed",
                   source, line);
}

/* Two points of what was taken for one trajectory have the same time: which column would part them? */
static sock_status explain_twins(reader *r, const sk_cursor *rows)
{
    const sk_column *teller, *both[2];
    SK_TRY(sk_csv_teller(r->ctx, rows, &r->columns, &teller));
    if (!teller) SK_TRY(sk_csv_tellers(r->ctx, rows, &r->columns, both));
    const char *time = name_of_role(&r->columns, SK_ROLE_TIME);
    sk_begin(r->ctx);
    if (!teller && both[0])
        return sk_fail(r->ctx, SOCK_EINPUT,
                       "%s: lines %zu and %zu have the same time, and no column is named as the trajectory's id; '%s' "
                       "and '%s' together tell them apart: try --id %s,%s",
                       r->at.source, r->rows.twins[0], r->rows.twins[1], both[0]->name, both[1]->name, both[0]->name,
                       both[1]->name);
    if (!teller)
        return sk_fail(r->ctx, SOCK_EINPUT,
                       "%s: lines %zu and %zu have the same time ('%s'), and no column is named as the trajectory's "
                       "id; --id names it, or several that do so together (--id A,B), --time names another time; a "
                       "table with one row "
                       "a subject is none for this program",
                       r->at.source, r->rows.twins[0], r->rows.twins[1], time);
    if (sk_is_part_of(teller->name, time))
        return sk_fail(r->ctx, SOCK_EINPUT,
                       "%s: lines %zu and %zu have the same '%s': it seems to be a part of the time, and '%s' another; "
                       "make one column of them, a date like 2024-01-31 or a number, or let each '%s' be a trajectory: "
                       "--id %s",
                       r->at.source, r->rows.twins[0], r->rows.twins[1], time, teller->name, teller->name,
                       teller->name);
    return sk_fail(
        r->ctx, SOCK_EINPUT,
        "%s: lines %zu and %zu have the same time, and no column is named as the trajectory's id; try --id %s",
        r->at.source, r->rows.twins[0], r->rows.twins[1], teller->name);
}

/* Two points of a trajectory that was named have the same time: the column that parts them has the name of what was
 * measured, or of a part of the trajectory. */
static sock_status explain_pair(reader *r, const sk_cursor *rows)
{
    const sk_column *teller;
    SK_TRY(sk_csv_teller(r->ctx, rows, &r->columns, &teller));
    if (!teller) return SOCK_EINPUT; /* what was said stands */
    const char *id = name_of_role(&r->columns, SK_ROLE_ID);
    sk_begin(r->ctx);
    return sk_fail(r->ctx, SOCK_EINPUT,
                   "%s: lines %zu and %zu are of one '%s' at the same time, and '%s' tells them apart: where it names "
                   "what was measured, give each a column of its own; where it and '%s' together name a "
                   "trajectory, --id %s,%s takes the two",
                   r->at.source, r->rows.twins[0], r->rows.twins[1], id, teller->name, id, id, teller->name);
}

/* Times that begin anew where another column changes: one trajectory of them all would mix what was measured apart. */
static sock_status refuse_restart(reader *r, const sk_cursor *rows)
{
    const sk_column *column;
    size_t line = 0;
    SK_TRY(sk_csv_restart(r->ctx, rows, &r->columns, &column, &line));
    if (!column) return SOCK_OK;
    return sk_fail(r->ctx, SOCK_EINPUT,
                   "%s: line %zu: the time begins anew where '%s' changes; --id %s makes a trajectory of each part, "
                   "--id none one of all, sorted; a day and a time of day have to become one column",
                   r->at.source, line, column->name, column->name);
}

/* Of a text that goes on the last run of rows is left for later: it may go on, too. */
static void leave_last_run(reader *r)
{
    if (!r->slice || !r->slice->goes_on || r->run_row == 0) return;
    r->rows.count = r->run_row;
    if (r->run_new) sk_free(r->ids.text[--r->ids.count]);
}

/* Steps 1 and 2 of the long form. */
static sock_status read_long(reader *r, const sock_options *opts)
{
    SK_TRY(sk_columns_assign(r->ctx, &r->at, opts, &r->columns));
    r->dt = sk_option_number(opts, "dt");
    SK_TRY(read_rows(r));
    leave_last_run(r);
    return finish_rows(r);
}

/* Everything but what is done to rows of any file. */
static sock_status read_text(reader *r, const sock_options *opts, sk_cursor *rows)
{
    SK_TRY(check_text(r->ctx, r->at.source, r->text, r->size));
    sk_csv_begin(&r->at);
    SK_TRY(sk_columns_read(r->ctx, &r->at, &r->columns));
    const bool found = sk_next_row(&r->at);
    r->none = !found && r->slice && r->slice->goes_on;
    if (r->none) return SOCK_OK;
    if (!found) return sk_fail(r->ctx, SOCK_EINPUT, "%s: the file holds a header and no rows", r->at.source);
    if (r->slice && r->slice->line) r->at.line = r->slice->line;
    *rows = r->at;
    const bool wide = sk_option_flag(opts, "wide");
    SK_TRY(wide ? sk_wide_read(r->ctx, &r->at, opts, &r->columns, &r->rows, &r->columns.dated) : read_long(r, opts));
    r->rows.dated = r->columns.dated;
    r->rows.lined = !wide;
    r->rows.unnamed = strcmp(sk_option_text(opts, "state"), "auto") == 0 && !wide;
    return SOCK_OK;
}

static reader reader_of(sock_context *ctx, const char *source, const char *text, size_t size)
{
    return (reader){.ctx = ctx, .at = {.p = text, .line = 1, .source = source}, .text = text, .size = size};
}

sock_status sk_csv_rows(sock_context *ctx, const char *source, const char *text, size_t size, const sock_options *opts,
                        sk_rows *rows)
{
    reader r = reader_of(ctx, source, text, size);
    sk_cursor begin;
    const sock_status status = read_text(&r, opts, &begin);
    if (status >= 0) {
        *rows = r.rows;
        r.rows = (sk_rows){0};
    }
    release(&r);
    return status;
}

/* What was read as a data set; rows: where they begin in the text. */
static sock_status finish(reader *r, const sk_cursor *rows, const sock_options *opts, sock_data **out)
{
    const bool unnamed = !sk_option_flag(opts, "wide") && !r->columns.has_id && !r->columns.has_group;
    sock_status status = sk_rows_finish(r->ctx, opts, &r->rows, out);
    if (status == SOCK_EINPUT && r->rows.twins[0] && unnamed) status = explain_twins(r, rows);
    if (status == SOCK_EINPUT && r->rows.twins[0] && r->columns.ids == 1 && !r->columns.has_group)
        status = explain_pair(r, rows);
    if (status >= 0 && unnamed && (*out)->unsorted && strcmp(sk_option_text(opts, "id"), "auto") == 0) {
        status = refuse_restart(r, rows);
        if (status < 0) sock_data_free(*out);
        if (status < 0) *out = NULL;
    }
    return status;
}

sock_status sk_csv_parse(sock_context *ctx, const char *source, const char *text, size_t size, const sock_options *opts,
                         sock_data **out)
{
    reader r = reader_of(ctx, source, text, size);
    sk_cursor rows;
    sock_status status = read_text(&r, opts, &rows);
    if (status >= 0) status = finish(&r, &rows, opts, out);
    release(&r);
    return status;
}

/* ---- A slice of a text ---- */

static const char day_of_dates[] = "what is the day in dates like 1/2/2020 is told by all of them; write 2020-02-01";

/* Groups may come again anywhere, as trajectories do here; wide rows stand side by side; and what order dates have is
 * told by all of them. NULL: that is not so. */
static const char *needs_all(const reader *r, const sock_options *opts)
{
    const size_t trajectories = r->rows.trajectories + (r->run_row > 0 && r->run_new);
    if (sk_option_flag(opts, "wide")) return "in wide form a trajectory stands in all rows; bring it into long form";
    if (r->columns.has_group) return "groups may come again anywhere; leave them out with --group none";
    if (r->columns.order != SK_DAYS_UNKNOWN) return day_of_dates;
    if (r->runs > trajectories) return "rows of several trajectories stand mixed; sort it by trajectory, then time";
    return NULL;
}

/* Points of a trajectory that are counted are counted from its first. NULL: none are. */
static const char *counts_from_first(const reader *r, const sock_options *opts)
{
    if (r->columns.timeless) return "one trajectory without times (--dt) is counted from its first row; add a time";
    return sk_option_count(opts, "every") > 1 ? "--every counts from the first row of a trajectory; leave it out"
                                              : NULL;
}

/* Columns that are only watched do not count: the last of the states. */
static bool has_a_point(const sk_rows *rows)
{
    const bool watched = !rows->unnamed && rows->watch;
    const size_t states = rows->d - rows->inputs, kept = states - (watched ? sk_watch_count(*rows->watch) : 0);
    for (size_t i = 0; i < rows->count; i++) {
        bool whole = !isnan(rows->t[i]);
        for (size_t k = 0; whole && k < rows->d; k++)
            whole = (k >= kept && k < states) || !isnan(rows->x[i * rows->d + k]);
        if (whole) return true;
    }
    return false;
}

sock_status sk_csv_take_slice(sock_context *ctx, const char *source, const char *text, size_t size,
                              const sock_options *opts, sk_csv_slice *slice)
{
    reader r = reader_of(ctx, source, text, size);
    sk_cursor rows;
    r.slice = slice;
    r.rows.watch = slice->watch;
    sock_status status = read_text(&r, opts, &rows);
    if (status == SOCK_EINPUT && slice->goes_on && r.columns.order != SK_DAYS_UNKNOWN) {
        sk_begin(ctx); /* the rest may tell the day from the month */
        slice->needs_all = true;
        slice->why = day_of_dates;
        status = SOCK_OK;
    }
    if (status >= 0 && !r.none && !slice->needs_all) {
        const bool whole = !slice->goes_on || r.run_row > 0;
        slice->header = (size_t)(rows.p - text);
        slice->used = whole && slice->goes_on ? (size_t)(r.run - text) : size;
        slice->next_line = whole && slice->goes_on ? r.run_line : r.at.line;
        slice->why = needs_all(&r, opts);
        slice->needs_all = slice->goes_on && slice->why;
        if (!slice->why && !whole) slice->why = counts_from_first(&r, opts);
        const bool nothing = slice->others && !has_a_point(&r.rows);
        const bool comes = !slice->why || whole; /* all of one trajectory: its points so far are data */
        const bool enough = slice->goes_on ? has_a_point(&r.rows) && !slice->needs_all && comes : !nothing;
        if (enough) status = finish(&r, &rows, opts, &slice->data);
    }
    release(&r);
    return status;
}
