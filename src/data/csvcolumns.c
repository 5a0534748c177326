/* csvcolumns.c - which column is what.
 *
 * 1. Columns that options name get their roles first; inputs are named, never guessed.
 * 2. Then the usual names: id, traj, trajectory; t, time, else time with its unit (time_s), else what is called like a
 *    date or a unit of time, else age; group. Small letters first, then any case. Two candidates for one role are
 *    refused.
 * 3. With a group column and no id column, a column real, realisation, realization or replicate numbers the
 *    trajectories of each group; without such a column, each group is one trajectory.
 * 4. All other columns whose first cell (of those not missing) is a number, or TRUE or FALSE, are state columns; the
 *    others are ignored and reported.
 * 5. The first time tells whether times are dates. */
#include "csvcolumns.h"

#include "base/nearest.h"
#include "csvwide.h"
#include "dates.h"
#include "labels.h"
#include "readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const id_names[] = {"id", "traj", "trajectory", NULL};
static const char *const time_names[] = {"t", "time", NULL};
static const char *const date_names[] = {"date",    "datetime", "timestamp", "second", "seconds", "minute",
                                         "minutes", "hour",     "hours",     "day",    "days",    "week",
                                         "weeks",   "month",    "months",    "year",   "years",   NULL};
static const char *const late_names[] = {"times", "age", "ages", "elapsed",
                                         NULL}; /* states as often: where nothing else is */
static const char *const unit_names[] = {"ns", "us",  "ms", "s",  "sec", "secs", "min", "mins", "h",
                                         "hr", "hrs", "d",  "wk", "wks", "mo",   "yr",  "yrs",  NULL};
static const char *const group_names[] = {"group", NULL};
static const char *const replicate_names[] = {"real", "realisation", "realization", "replicate", NULL};

enum { LIST_SIZE = 400, SHOWN = 40, MONTHS = 12 };

void sk_columns_clear(sk_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) sk_free(columns->column[i].name);
    sk_free(columns->column);
    *columns = (sk_columns){0};
}

/* "a, b, c" for messages, cut when it is long. */
static const char *list_columns(const sk_columns *columns, char list[LIST_SIZE])
{
    size_t used = 0;
    list[0] = 0;
    for (size_t i = 0; i < columns->count; i++) {
        int length = snprintf(list + used, LIST_SIZE - used, "%s%s", i ? ", " : "", columns->column[i].name);
        if (used + (size_t)length + 6 > LIST_SIZE) {
            snprintf(list + used, 6, i ? ", ..." : "...");
            break;
        }
        used += (size_t)length;
    }
    return list;
}

/* ---- The header ---- */

static sock_status refuse_twin(sock_context *ctx, const sk_cursor *at, size_t line, const sk_columns *columns, size_t i)
{
    size_t j = 0;
    while (strcmp(columns->column[j].name, columns->column[i].name) != 0) j++;
    return sk_fail(ctx, SOCK_EINPUT, "%s: line %zu: columns %zu and %zu are both named '%s'", at->source, line, j + 1,
                   i + 1, columns->column[i].name);
}

/* Programs write an index column without a name, or end each line with a comma: such columns are left out. */
static sock_status leave_unnamed(sock_context *ctx, sk_column *column, size_t number)
{
    char *name = sk_format(ctx, "(column %zu)", number);
    if (!name) return SOCK_ENOMEM;
    sk_free(column->name);
    *column = (sk_column){.name = name, .role = SK_ROLE_IGNORED, .why = "it has no name"};
    return SOCK_OK;
}

static sock_status check_names(sock_context *ctx, const sk_cursor *at, size_t line, sk_columns *columns)
{
    sk_labels seen = {0};
    sock_status status = SOCK_OK;
    for (size_t i = 0; i < columns->count; i++) {
        sk_column *column = &columns->column[i];
        size_t label;
        bool is_new;
        if (!column->name[0]) {
            SK_GO(leave_unnamed(ctx, column, i + 1));
            continue;
        }
        if (!sk_is_utf8(column->name)) {
            status = sk_fail(ctx, SOCK_EINPUT,
                             "%s: line %zu: the name of column %zu is not valid UTF-8; save the file "
                             "as \"CSV UTF-8\", or: iconv -f windows-1252 -t utf-8",
                             at->source, line, i + 1);
            goto out;
        }
        SK_GO(sk_labels_find(ctx, &seen, column->name, strlen(column->name), &label, &is_new));
        if (!is_new) {
            status = refuse_twin(ctx, at, line, columns, i);
            goto out;
        }
    }
out:
    sk_labels_clear(&seen);
    return status;
}

sock_status sk_columns_read(sock_context *ctx, sk_cursor *at, sk_columns *columns)
{
    if (!sk_next_row(at)) return sk_fail(ctx, SOCK_EINPUT, "%s: the file is empty: no header line", at->source);
    size_t line = at->line;
    for (bool last = false; !last;) {
        sk_cell cell;
        SK_TRY(sk_next_cell(ctx, at, &cell, &last));
        sk_cell_disarm(&cell);
        SK_TRY(sk_grow(ctx, &columns->column, &columns->capacity, columns->count + 1, sizeof *columns->column));
        char *name = sk_cell_copy(ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        columns->column[columns->count++] = (sk_column){.name = name};
    }
    return check_names(ctx, at, line, columns);
}

/* ---- Roles ---- */

static sk_column *find_column(const sk_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->column[i].name, name) == 0) return &columns->column[i];
    return NULL;
}

/* The same, or, for a name log(NAME) that no column has, the column NAME. */
static sk_column *find_state(const sk_columns *columns, const char *name, bool *logged)
{
    size_t from, length;
    sk_column *column = find_column(columns, name);
    *logged = !column && sk_log_name(name, &from, &length);
    for (size_t i = 0; *logged && i < columns->count; i++)
        if (strlen(columns->column[i].name) == length && strncmp(columns->column[i].name, name + from, length) == 0)
            column = &columns->column[i];
    return column;
}

static const char *role_name(sk_role role)
{
    return role == SK_ROLE_TIME    ? "time"
           : role == SK_ROLE_ID    ? "id"
           : role == SK_ROLE_GROUP ? "group"
           : role == SK_ROLE_INPUT ? "input"
                                   : "state";
}

/* A file of one column whose header holds another separator, or begins with a remark: the way out, or nothing. */
static const char *separator_hint(const sk_columns *columns)
{
    const char *name = columns->count == 1 ? columns->column[0].name : "";
    if (*name == '#') return "; lines that begin with # are not skipped: take them out";
    if (strchr(name, ';')) return "; are they separated by semicolons? The first row has not as many as the header";
    if (strchr(name, '\t')) return "; are they separated by tabs? The first row has not as many as the header";
    if (strchr(name, ' ')) return "; are they separated by blanks? Commas, semicolons and tabs are understood";
    return "";
}

static sock_status no_such_column(sock_context *ctx, const char *source, const char *option, const char *name,
                                  const sk_columns *columns)
{
    char list[LIST_SIZE], meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(name, strlen(name));
    for (size_t c = 0; c < columns->count; c++) sk_nearest_try(&near, columns->column[c].name);
    return sk_fail(ctx, SOCK_EUSAGE, "%s: %s is '%s', and there is no such column%s; there are: %s%s", source, option,
                   name, sk_meant(&near, meant), list_columns(columns, list), separator_hint(columns));
}

/* A column that an option names. */
static sock_status take_named(sock_context *ctx, const char *source, const char *option, const char *name, sk_role role,
                              sk_columns *columns)
{
    bool logged = false;
    sk_column *column = name[0] ? find_state(columns, name, &logged) : NULL;
    if (!column || (logged && role != SK_ROLE_STATE)) return no_such_column(ctx, source, option, name, columns);
    if (column->role == role)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s names the column '%s' twice", source, option, name);
    const bool rows = column == columns->column && role == SK_ROLE_TIME; /* numbers of rows may be times */
    if (column->role == SK_ROLE_IGNORED && !rows)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s is '%s', which has no name in the header: give it one", source, option,
                       name);
    if (column->role != SK_ROLE_OPEN && column->role != SK_ROLE_IGNORED)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: the column '%s' cannot be both %s and %s", source, name,
                       role_name(column->role), option);
    column->role = role;
    column->logged = logged;
    return SOCK_OK;
}

/* Whether the first column counts the rows, 1, 2, 3 or 0, 1, 2, as programs write it that number them. */
static sock_status counts_rows(sock_context *ctx, sk_cursor at, bool *counts)
{
    double first = 0, value;
    *counts = true;
    for (size_t row = 0; *counts && sk_next_row(&at); row++) {
        bool last = false;
        for (size_t c = 0; !last; c++) {
            sk_cell cell;
            SK_TRY(sk_next_cell(ctx, &at, &cell, &last));
            if (c > 0) continue;
            *counts = sk_cell_value(&at, &cell, &value) == SK_CELL_NUMBER;
            if (*counts && row == 0) first = value;
            *counts = *counts && (first == 0 || first == 1) && value == first + (double)row;
        }
    }
    return SOCK_OK;
}

/* The first open column whose first cell is a date, *brief: with a year of two digits; NULL: none. */
static sock_status find_dates(sock_context *ctx, sk_cursor at, const sk_columns *columns, const sk_column **found,
                              bool *brief)
{
    bool last = !sk_next_row(&at);
    *found = NULL;
    for (size_t c = 0; !last && !*found && c < columns->count; c++) {
        sk_cell cell;
        double value;
        SK_TRY(sk_next_cell(ctx, &at, &cell, &last));
        *brief = sk_is_short_year(cell.text, cell.length);
        if (columns->column[c].role == SK_ROLE_OPEN &&
            (*brief || sk_parse_date(cell.text, cell.length, SK_DAY_FIRST, &value)))
            *found = &columns->column[c];
    }
    return SOCK_OK;
}

/* Whether the row at the cursor looks like a header: all of it text, one of it a time. */
static bool is_header(sock_context *ctx, sk_cursor at)
{
    size_t cells = 0, times = 0;
    bool words = true;
    at.separator = sk_csv_separator(&at);
    for (bool last = false; !last && words; cells++) {
        sk_cell cell;
        double value;
        char name[SHOWN];
        words = sk_next_cell(ctx, &at, &cell, &last) >= 0;
        if (!words) break;
        words = sk_cell_value(&at, &cell, &value) == SK_CELL_TEXT;
        snprintf(name, sizeof name, "%.*s", (int)SK_MIN(cell.length, (size_t)SHOWN), cell.text);
        times += sk_is_time_name(name);
    }
    return words && cells > 1 && times > 0;
}

/* The line below a header without a time that looks like the true one, under what a device or a program wrote above
 * it; 0: none. */
static size_t header_below(sock_context *ctx, sk_cursor at)
{
    enum { LOOKED_AT = 100 };
    size_t line = 0;
    for (size_t row = 0; row < LOOKED_AT && !line && sk_next_row(&at); row++) {
        if (is_header(ctx, at)) line = at.line;
        while (*at.p && *at.p != '\n' && *at.p != '\r') at.p++;
        if (*at.p) at.line++, at.p += at.p[0] == '\r' && at.p[1] == '\n' ? 2 : 1;
    }
    sk_begin(ctx); /* what a row that is none says of its quotes is no failure */
    return line;
}

/* Whether the first line holds numbers alone: there is no header. */
static bool is_headless(const sk_columns *columns)
{
    const char *end;
    size_t numbers = 0;
    for (size_t c = 0; c < columns->count; c++)
        numbers += isfinite(sk_parse_double(columns->column[c].name, &end)) && !*end;
    return numbers == columns->count;
}

/* What to do about a header that names no time. */
static sock_status timeless_hint(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns, const char **hint)
{
    bool counts;
    const char *wide = sk_wide_hint(columns);
    *hint = separator_hint(columns);
    if (!**hint && is_headless(columns))
        *hint = *wide
                    ? "; the first line holds numbers alone: where there is no header, put one in front, like t,x; if "
                      "they are times and each row is a trajectory (wide form), --wide reads them so"
                    : "; the first line holds numbers alone: is there no header? Put one in front, like t,x";
    if (!**hint) *hint = wide;
    if (**hint) return SOCK_OK;
    *hint =
        "; where rows follow one another at equal steps, --dt 1 takes the step for the unit of time; a table without "
        "a course in time is none for this program";
    if (columns->count < 2 || columns->column[0].role != SK_ROLE_IGNORED) return SOCK_OK;
    SK_TRY(counts_rows(ctx, *rows, &counts));
    *hint = counts ? "; the first column, which has no name, numbers the rows: where they are points at equal steps, "
                     "--time '(column 1)' takes it as the time; else name the time with --time"
                   : "; the first column has no name in the header: give it one, t where it is the time";
    return SOCK_OK;
}

static bool is_one_of(const char *name, const char *const *usual, bool any_case)
{
    for (; *usual; usual++)
        if ((any_case ? strcasecmp(name, *usual) : strcmp(name, *usual)) == 0) return true;
    return false;
}

static sock_status refuse_two(sock_context *ctx, const char *source, const char *option, const sk_column *a,
                              const sk_column *b)
{
    const bool dates = is_one_of(a->name, date_names, true) && is_one_of(b->name, date_names, true);
    if (!dates)
        return sk_fail(ctx, SOCK_EINPUT, "%s: columns '%s' and '%s' could both be the %s; choose with --%s NAME",
                       source, a->name, b->name, option, option);
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: columns '%s' and '%s' could both be the %s; choose with --%s NAME. Where they are parts of one "
                   "date, put it into one column, like 2024-01-31, or let each %s be a trajectory: --id %s --time %s",
                   source, a->name, b->name, option, option, a->name, a->name, b->name);
}

/* time_s, Time (h), time.days: the time with its unit. */
static bool is_timed_name(const char *name)
{
    char unit[16];
    size_t length = 0;
    if (strncasecmp(name, "time", 4) != 0 || !name[4] || !strchr(" _.-([/,", name[4])) return false;
    for (const char *p = name + 4; *p; p++) {
        if (strchr(" _.-([/,)]", *p)) continue;
        if (length + 1 == sizeof unit) return false;
        unit[length++] = *p;
    }
    unit[length] = 0;
    return is_one_of(unit, unit_names, true) || is_one_of(unit, date_names, true);
}

static sock_status take_timed(sock_context *ctx, const char *source, sk_columns *columns, sk_column **found)
{
    for (size_t c = 0; c < columns->count; c++) {
        sk_column *column = &columns->column[c];
        if (column->role != SK_ROLE_OPEN || !is_timed_name(column->name)) continue;
        if (*found) return refuse_two(ctx, source, "time", *found, column);
        *found = column;
    }
    if (*found) (*found)->role = SK_ROLE_TIME;
    return SOCK_OK;
}

static sock_status take_spelled(sock_context *ctx, const char *source, const char *option, const char *const *usual,
                                bool any_case, sk_columns *columns, sk_column **found)
{
    *found = NULL;
    for (size_t c = 0; c < columns->count; c++) {
        sk_column *column = &columns->column[c];
        if (column->role != SK_ROLE_OPEN || !is_one_of(column->name, usual, any_case)) continue;
        if (*found) return refuse_two(ctx, source, option, *found, column);
        *found = column;
    }
    return SOCK_OK;
}

/* The open column with one of the usual names, in small letters or else in any case; *found is NULL when there is none.
 */
static sock_status take_usual(sock_context *ctx, const char *source, const char *option, const char *const *usual,
                              sk_role role, sk_columns *columns, sk_column **found)
{
    SK_TRY(take_spelled(ctx, source, option, usual, false, columns, found));
    if (!*found) SK_TRY(take_spelled(ctx, source, option, usual, true, columns, found));
    if (*found) (*found)->role = role;
    return SOCK_OK;
}

/* The time by its name, by step 2; *found is NULL when there is none. */
static sock_status take_time(sock_context *ctx, const char *source, sk_columns *columns, sk_column **found)
{
    SK_TRY(take_usual(ctx, source, "time", time_names, SK_ROLE_TIME, columns, found));
    if (!*found) SK_TRY(take_timed(ctx, source, columns, found));
    if (!*found) SK_TRY(take_usual(ctx, source, "time", date_names, SK_ROLE_TIME, columns, found));
    if (!*found) SK_TRY(take_usual(ctx, source, "time", late_names, SK_ROLE_TIME, columns, found));
    return SOCK_OK;
}

/* An index of dates, as programs write it: the first column, without a name. */
static sock_status take_index(sock_context *ctx, sk_cursor at, sk_columns *columns, sk_column **found)
{
    sk_cell cell;
    double value;
    bool last;
    int number[2];
    if (columns->count < 2 || columns->column[0].role != SK_ROLE_IGNORED || !sk_next_row(&at)) return SOCK_OK;
    SK_TRY(sk_next_cell(ctx, &at, &cell, &last));
    if (!sk_parse_date(cell.text, cell.length, SK_DAYS_UNKNOWN, &value) &&
        !sk_slashed_date(cell.text, cell.length, number))
        return SOCK_OK;
    *found = &columns->column[0];
    (*found)->role = SK_ROLE_TIME;
    return SOCK_OK;
}

static const char *separator_name(char separator)
{
    return separator == ';' ? "semicolons" : separator == '\t' ? "tabs" : "commas";
}

/* No column is called like a time: one that was asked for as something else, or none at all. */
static sock_status refuse_timeless(sock_context *ctx, const sk_cursor *rows, const sk_columns *columns)
{
    char list[LIST_SIZE];
    const char *hint;
    for (size_t c = 0; c < columns->count; c++) {
        const sk_column *column = &columns->column[c];
        if (column->role != SK_ROLE_OPEN && column->role != SK_ROLE_IGNORED && sk_is_time_name(column->name))
            return sk_fail(ctx, SOCK_EUSAGE,
                           "%s: the column '%s' cannot be both %s and time; leave it out there, or name another "
                           "one with --time",
                           rows->source, column->name, role_name(column->role));
    }
    const sk_column *dates;
    bool brief = false;
    SK_TRY(find_dates(ctx, *rows, columns, &dates, &brief));
    if (dates && brief)
        return sk_fail(
            ctx, SOCK_EINPUT,
            "%s: no time column: the header should name one t, time or date; the column '%s' holds dates with "
            "years of two digits: write four, like 2024-01-31, then --time %s takes it",
            rows->source, dates->name, dates->name);
    const size_t line = dates ? 0 : header_below(ctx, *rows);
    if (line)
        return sk_fail(
            ctx, SOCK_EINPUT,
            "%s: the first line names no time column, and line %zu looks like the header: take out the lines "
            "above it (tail -n +%zu does)",
            rows->source, line, line);
    if (dates)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: no time column: the header should name one t, time or date; the column '%s' holds dates: "
                       "--time %s takes it",
                       rows->source, dates->name, dates->name);
    SK_TRY(timeless_hint(ctx, rows, columns, &hint));
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: no time column: the header should name one t, time or date, or --time names it; the "
                   "columns, separated by %s, are: %s%s",
                   rows->source, separator_name(rows->separator), list_columns(columns, list), hint);
}

/* The option says none: its usual columns are not states either. */
static void leave_out(const char *const *usual, const char *why, sk_columns *columns)
{
    for (size_t c = 0; c < columns->count; c++) {
        sk_column *column = &columns->column[c];
        if (column->role != SK_ROLE_OPEN || !is_one_of(column->name, usual, true)) continue;
        column->role = SK_ROLE_IGNORED;
        column->why = why;
    }
}

/* The options state and input are CSV rows themselves: names with commas between, quoted where they hold commas. count:
 * how many columns have this role. */
static sock_status take_list(sock_context *ctx, const char *source, const char *option, const char *list, sk_role role,
                             size_t *count, sk_columns *columns)
{
    char place[32];
    snprintf(place, sizeof place, "the option %s", option);
    sk_cursor at = {.p = list, .line = 1, .source = place};
    for (bool last = false; !last;) {
        sk_cell cell;
        if (sk_next_cell(ctx, &at, &cell, &last) < 0) return SOCK_EUSAGE;
        char *name = sk_cell_copy(ctx, &cell);
        if (!name) return SOCK_ENOMEM;
        sock_status status = take_named(ctx, source, option, name, role, columns);
        bool logged;
        if (status >= 0) find_state(columns, name, &logged)->state = (*count)++;
        sk_free(name);
        if (status < 0) return status;
    }
    if (*at.p) return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'; allowed: column names with commas between", option, list);
    return SOCK_OK;
}

static bool is(const char *value, const char *word) { return strcmp(value, word) == 0; }

/* One column, whatever its name holds, or several, which name a trajectory together. */
static sock_status take_ids(sock_context *ctx, const char *source, const char *id, sk_columns *columns)
{
    columns->ids = find_column(columns, id) != NULL;
    if (columns->ids) return take_named(ctx, source, "id", id, SK_ROLE_ID, columns);
    SK_TRY(take_list(ctx, source, "id", id, SK_ROLE_ID, &columns->ids, columns));
    if (columns->ids <= SK_ID_COLUMNS) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE, "%s: id names %zu columns; allowed: at most %d", source, columns->ids,
                   (int)SK_ID_COLUMNS);
}

/* Step 1. */
static sock_status assign_named(sock_context *ctx, const char *source, const sock_options *opts, sk_columns *columns)
{
    const char *id = sk_option_text(opts, "id"), *time = sk_option_text(opts, "time"),
               *group = sk_option_text(opts, "group"), *state = sk_option_text(opts, "state"),
               *input = sk_option_text(opts, "input");
    if (!is(time, "auto")) SK_TRY(take_named(ctx, source, "time", time, SK_ROLE_TIME, columns));
    if (!is(id, "auto") && !is(id, "none")) SK_TRY(take_ids(ctx, source, id, columns));
    if (!is(group, "auto") && !is(group, "none"))
        SK_TRY(take_named(ctx, source, "group", group, SK_ROLE_GROUP, columns));
    if (!is(input, "none")) SK_TRY(take_list(ctx, source, "input", input, SK_ROLE_INPUT, &columns->inputs, columns));
    if (!is(state, "auto")) SK_TRY(take_list(ctx, source, "state", state, SK_ROLE_STATE, &columns->d, columns));
    columns->has_id = !is(id, "auto") && !is(id, "none");
    columns->has_group = !is(group, "auto") && !is(group, "none");
    return SOCK_OK;
}

/* Steps 2 and 3. */
static sock_status assign_usual(sock_context *ctx, const sk_cursor *rows, const sock_options *opts, sk_columns *columns)
{
    const char *id = sk_option_text(opts, "id"), *group = sk_option_text(opts, "group"), *source = rows->source;
    sk_column *found;
    if (is(sk_option_text(opts, "time"), "auto")) {
        SK_TRY(take_time(ctx, source, columns, &found));
        if (!found) SK_TRY(take_index(ctx, *rows, columns, &found));
        columns->timeless = !found && !isnan(sk_option_number(opts, "dt"));
        if (!found && !columns->timeless) return refuse_timeless(ctx, rows, columns);
    }
    if (is(group, "auto")) {
        SK_TRY(take_usual(ctx, source, "group", group_names, SK_ROLE_GROUP, columns, &found));
        columns->has_group = found != NULL;
    } else if (is(group, "none")) {
        leave_out(group_names, "the option group is none", columns);
    }
    if (is(id, "none")) leave_out(id_names, "the option id is none", columns);
    if (!is(id, "auto")) return SOCK_OK;
    SK_TRY(take_usual(ctx, source, "id", id_names, SK_ROLE_ID, columns, &found));
    if (!found && columns->has_group) {
        SK_TRY(take_usual(ctx, source, "id", replicate_names, SK_ROLE_ID, columns, &found));
        columns->id_within_group = true;
    }
    columns->ids = found != NULL;
    columns->has_id = found != NULL;
    return SOCK_OK;
}

/* Where the first text stands that was to be a number: often one with a separator of thousands. */
static void tell_text(size_t line, const sk_cell *cell, const char *name, char text[LIST_SIZE])
{
    const int shown = (int)SK_MIN(cell->length, SHOWN);
    bool thousands = cell->length && strchr(".,' ", cell->text[0]) == NULL;
    for (size_t i = 0; i < cell->length; i++)
        thousands = thousands && cell->text[i] && strchr("0123456789.,' -+", cell->text[i]);
    snprintf(text, LIST_SIZE, ": line %zu, column '%.*s' has '%.*s'%s", line, SHOWN, name, shown, cell->text,
             thousands ? "; numbers are read without a separator of thousands" : sk_cell_hint(cell));
}

const char sk_csv_no_value[] = "it holds no value";

/* Whether the first cell of the column that is not missing is to be seen: it tells whether an open column is a state,
 * and whether TRUE and FALSE are numbers in it. */
static bool is_unseen(const sk_column *column)
{
    return column->role == SK_ROLE_OPEN || column->role == SK_ROLE_STATE || column->role == SK_ROLE_INPUT;
}

static void see(sk_column *column, const sk_cell *cell, sk_cell_kind kind, size_t line, char text[LIST_SIZE])
{
    double value;
    column->truths = kind == SK_CELL_TEXT && sk_cell_truth(cell, &value);
    if (column->role != SK_ROLE_OPEN) return;
    const bool words = kind == SK_CELL_TEXT && !column->truths;
    if (words && !text[0]) tell_text(line, cell, column->name, text);
    column->role = words ? SK_ROLE_IGNORED : SK_ROLE_STATE;
    column->why = "it holds text: its first value is not a number (as numbers it could be an --input)";
}

/* Step 4: reads rows until every such column has shown a cell that is not missing. Rows of a wrong length are found
 * again, and refused, when the data are read. */
static sock_status assign_states(sock_context *ctx, sk_cursor at, sk_columns *columns, char text[LIST_SIZE])
{
    const bool unnamed = columns->d == 0; /* no option names states */
    size_t unseen = 0;
    bool *seen = sk_alloc(ctx, columns->count, sizeof *seen);
    sock_status status = seen ? SOCK_OK : SOCK_ENOMEM;
    text[0] = 0;
    for (size_t c = 0; seen && c < columns->count; c++) {
        seen[c] = !is_unseen(&columns->column[c]);
        unseen += !seen[c];
    }
    while (unseen && status >= 0 && sk_next_row(&at)) {
        const size_t line = at.line;
        bool last = false;
        for (size_t c = 0; !last; c++) {
            sk_cell cell;
            double value;
            SK_GO(sk_next_cell(ctx, &at, &cell, &last));
            if (c >= columns->count || seen[c]) continue;
            const sk_cell_kind kind = sk_cell_value(&at, &cell, &value);
            if (kind == SK_CELL_MISSING) continue;
            see(&columns->column[c], &cell, kind, line, text);
            seen[c] = true;
            unseen--;
        }
    }
out:
    sk_free(seen);
    if (status < 0) return status;
    for (size_t c = 0; c < columns->count; c++) {
        sk_column *column = &columns->column[c];
        if (column->role == SK_ROLE_OPEN) {
            column->role = SK_ROLE_IGNORED;
            column->why = sk_csv_no_value;
        }
        if (column->role == SK_ROLE_STATE && unnamed) column->state = columns->d++;
    }
    return SOCK_OK;
}

/* The next cell of the time column that is not missing, from `at` on; *found: there is one. */
static sock_status next_time(sock_context *ctx, sk_cursor *at, const sk_columns *columns, sk_cell *time, bool *found)
{
    for (*found = false; !*found && sk_next_row(at);) {
        bool last = false;
        for (size_t c = 0; !last; c++) {
            sk_cell cell;
            double value;
            SK_TRY(sk_next_cell(ctx, at, &cell, &last));
            if (*found || c >= columns->count || columns->column[c].role != SK_ROLE_TIME) continue;
            *found = sk_cell_value(at, &cell, &value) != SK_CELL_MISSING;
            *time = cell;
        }
    }
    return SOCK_OK;
}

/* Dates with slashes, 1/2/2020: one with a number above 12 tells which of the two is the day, for the whole column. */
static sock_status settle_slashes(sock_context *ctx, sk_cursor at, sk_columns *columns)
{
    sk_cell cell = {.text = ""}, first = cell;
    int most[2] = {0, 0}, number[2];
    for (bool found = true; found;) {
        SK_TRY(next_time(ctx, &at, columns, &cell, &found));
        if (!found || !sk_slashed_date(cell.text, cell.length, number)) continue;
        if (!first.length) first = cell;
        for (int k = 0; k < 2; k++) most[k] = SK_MAX(most[k], number[k]);
    }
    columns->order = most[0] > MONTHS ? SK_DAY_FIRST : SK_MONTH_FIRST; /* said before it is known to be one */
    if (most[0] <= MONTHS && most[1] <= MONTHS)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: '%.*s' and the other dates may have the day or the month in front, and none of them tells; "
                       "write them like 2024-01-31 or 31.01.2024",
                       at.source, (int)SK_MIN(first.length, (size_t)SHOWN), first.text);
    if (most[0] > MONTHS && most[1] > MONTHS)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: of dates like '%.*s' some have the day in front and some the month; write them like "
                       "2024-01-31 or 31.01.2024",
                       at.source, (int)SK_MIN(first.length, (size_t)SHOWN), first.text);
    return SOCK_OK;
}

/* Whether all times are days like 20240131, which are no numbers: the step from one month to the next is 70 there. */
static sock_status are_joined(sock_context *ctx, sk_cursor at, const sk_columns *columns, bool *joined)
{
    sk_cell cell;
    bool found;
    double value;
    *joined = true;
    SK_TRY(next_time(ctx, &at, columns, &cell, &found));
    while (found && *joined) {
        *joined = cell.length == 8 && sk_parse_date(cell.text, cell.length, SK_DAYS_JOINED, &value);
        SK_TRY(next_time(ctx, &at, columns, &cell, &found));
    }
    return SOCK_OK;
}

/* Step 5: reads rows until a time shows that is not missing. */
static sock_status look_at_time(sock_context *ctx, sk_cursor at, sk_columns *columns)
{
    sk_cell cell;
    bool found;
    int number[2];
    double value;
    const sk_cursor rows = at;
    SK_TRY(next_time(ctx, &at, columns, &cell, &found));
    if (!found) return SOCK_OK;
    if (sk_slashed_date(cell.text, cell.length, number)) SK_TRY(settle_slashes(ctx, rows, columns));
    columns->dated = sk_parse_date(cell.text, cell.length, columns->order, &value);
    if (columns->dated) return SOCK_OK;
    SK_TRY(are_joined(ctx, rows, columns, &columns->dated));
    if (columns->dated) columns->order = SK_DAYS_JOINED;
    return SOCK_OK;
}

sock_status sk_column_is_text(sock_context *ctx, sk_cursor at, size_t c, bool *text)
{
    *text = false;
    while (sk_next_row(&at)) {
        bool last = false;
        for (size_t i = 0; !last; i++) {
            sk_cell cell;
            double value;
            SK_TRY(sk_next_cell(ctx, &at, &cell, &last));
            if (i != c) continue;
            const sk_cell_kind kind = sk_cell_value(&at, &cell, &value);
            *text = kind == SK_CELL_TEXT;
            if (kind != SK_CELL_MISSING) return SOCK_OK;
        }
    }
    return SOCK_OK;
}

bool sk_is_time_name(const char *name)
{
    return is_one_of(name, time_names, true) || is_one_of(name, date_names, true) || is_timed_name(name) ||
           is_one_of(name, late_names, true);
}

bool sk_is_part_of(const char *finer, const char *coarser)
{
    static const char *const parts[] = {"year", "quarter", "month", "week", "day", "hour", "minute", "second", NULL};
    size_t fine = 0, coarse = 0;
    while (parts[fine] && strncasecmp(parts[fine], finer, strlen(parts[fine])) != 0) fine++;
    while (parts[coarse] && strncasecmp(parts[coarse], coarser, strlen(parts[coarse])) != 0) coarse++;
    return parts[fine] && coarse < fine;
}

static sock_status refuse_wide(sock_context *ctx, const char *source, const char *option, const char *value)
{
    return sk_fail(ctx, SOCK_EUSAGE,
                   "%s: %s is '%s'; allowed with wide: none (with a time column each column is a trajectory, without "
                   "one each row)",
                   source, option, value);
}

sock_status sk_columns_assign_wide(sock_context *ctx, const sk_cursor *rows, const sock_options *opts,
                                   sk_columns *columns, bool *timeless)
{
    const char *source = rows->source, *time = sk_option_text(opts, "time"), *id = sk_option_text(opts, "id"),
               *group = sk_option_text(opts, "group"), *input = sk_option_text(opts, "input");
    sk_column *found = NULL, *named = NULL;
    if (!is(group, "auto") && !is(group, "none")) return refuse_wide(ctx, source, "group", group);
    if (!is(time, "auto")) SK_TRY(take_named(ctx, source, "time", time, SK_ROLE_TIME, columns));
    if (!is(id, "auto") && !is(id, "none")) SK_TRY(take_named(ctx, source, "id", id, SK_ROLE_ID, columns));
    if (!is(input, "none")) SK_TRY(take_list(ctx, source, "input", input, SK_ROLE_INPUT, &columns->inputs, columns));
    if (is(time, "auto")) SK_TRY(take_time(ctx, source, columns, &found));
    *timeless = is(time, "auto") && !found;
    columns->has_id = !is(id, "auto") && !is(id, "none");
    if (columns->has_id && !*timeless) return refuse_wide(ctx, source, "id", id);
    if (is(id, "none")) leave_out(id_names, "the option id is none", columns);
    leave_out(group_names, "groups are not read in wide form", columns);
    if (is(id, "auto")) SK_TRY(take_usual(ctx, source, "id", id_names, SK_ROLE_ID, columns, &named));
    if (named && !*timeless) return refuse_wide(ctx, source, "id", named->name);
    columns->has_id |= named != NULL;
    return *timeless ? SOCK_OK : look_at_time(ctx, *rows, columns);
}

static void ignore_open(sk_columns *columns, const char *why)
{
    for (size_t c = 0; c < columns->count; c++)
        if (columns->column[c].role == SK_ROLE_OPEN) {
            columns->column[c].role = SK_ROLE_IGNORED;
            columns->column[c].why = why;
        }
}

/* text: a cell that is no number, or nothing. */
static const char *why_stateless(const sk_columns *columns, const char *text)
{
    bool empty = false;
    for (size_t c = 0; c < columns->count; c++)
        empty = empty || (columns->column[c].role == SK_ROLE_IGNORED && columns->column[c].why == sk_csv_no_value);
    if (*text) return "apart from id, time and group no column begins with a number";
    if (columns->inputs) return "all columns of numbers are inputs";
    if (empty) return "apart from id, time and group no column holds a value (empty, NA, nan and null are none)";
    return "there is none apart from id, time and group that begins with a number";
}

sock_status sk_columns_assign(sock_context *ctx, const sk_cursor *rows, const sock_options *opts, sk_columns *columns)
{
    char list[LIST_SIZE], text[LIST_SIZE] = "";
    SK_TRY(assign_named(ctx, rows->source, opts, columns));
    SK_TRY(assign_usual(ctx, rows, opts, columns));
    SK_TRY(look_at_time(ctx, *rows, columns));
    if (is(sk_option_text(opts, "state"), "auto") && sk_wide_months(columns))
        return sk_fail(
            ctx, SOCK_EINPUT,
            "%s: the columns are the twelve months: one series, a row a year (wide form); --wide reads it so, "
            "and --state NAME,... takes columns as states",
            rows->source);
    if (!is(sk_option_text(opts, "state"), "auto")) ignore_open(columns, "the option state does not name it");
    SK_TRY(assign_states(ctx, *rows, columns, text));
    if (columns->d == 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: no state column: %s%s; the columns, separated by commas, are: %s",
                       rows->source, why_stateless(columns, text), text, list_columns(columns, list));
    for (size_t c = 0; c < columns->count; c++) /* inputs stand behind the states */
        if (columns->column[c].role == SK_ROLE_INPUT) columns->column[c].state += columns->d;
    columns->d += columns->inputs;
    return SOCK_OK;
}
