/* csvcells.c - the CSV grammar, and nothing of trajectories. */
#include "csvcells.h"

#include "base/printable.h"

#include <math.h>
#include <string.h>

enum { LONGEST_NUMBER = 400, SEPARATORS = 3 };

static const char separators[SEPARATORS] = {',', ';', '\t'};

/* Blanks around a cell; a tab is none where tabs separate. */
static inline bool is_blank(const sk_cursor *at, char c) { return c == ' ' || (c == '\t' && at->separator != '\t'); }
static inline char separator_of(const sk_cursor *at) { return (char)(at->separator ? at->separator : ','); }
static inline bool is_line_end(char c) { return c == '\n' || c == '\r' || c == 0; }

/* Over one line end: LF, CRLF or CR. At the end of the text it stays. */
static inline void pass_line_end(sk_cursor *at)
{
    if (!*at->p) return;
    at->p += at->p[0] == '\r' && at->p[1] == '\n' ? 2 : 1;
    at->line++;
}

/* ---- What separates ---- */

/* How often the line at p holds each of the three, outside quotes; *next: where the line behind it begins. */
static void count_separators(const char *p, size_t count[SEPARATORS], const char **next)
{
    bool quoted = false;
    for (size_t k = 0; k < SEPARATORS; k++) count[k] = 0;
    for (; *p && (quoted || !is_line_end(*p)); p++) {
        if (*p == '"') quoted = !quoted;
        for (size_t k = 0; k < SEPARATORS && !quoted; k++) count[k] += *p == separators[k];
    }
    while (*p == '\n' || *p == '\r') p++;
    *next = p;
}

char sk_csv_separator(const sk_cursor *at)
{
    size_t head[SEPARATORS], row[SEPARATORS], best = 0;
    sk_cursor here = *at;
    const char *next;
    if (!sk_next_row(&here)) return ',';
    count_separators(here.p, head, &next);
    count_separators(next, row, &next);
    for (size_t k = 1; k < SEPARATORS; k++)
        if (head[k] == row[k] && (head[k] > head[best] || (head[k] > 0 && head[best] != row[best]))) best = k;
    return separators[best];
}

void sk_csv_begin(sk_cursor *at)
{
    while (strncmp(at->p, "\xef\xbb\xbf", 3) == 0) at->p += 3; /* the byte order mark of UTF-8, which some put twice */
    const bool told =
        strncmp(at->p, "sep=", 4) == 0 && at->p[4] && memchr(separators, at->p[4], SEPARATORS) && is_line_end(at->p[5]);
    if (told) {
        at->separator = at->p[4];
        at->p += 5;
        pass_line_end(at);
    } else {
        at->separator = sk_csv_separator(at);
    }
}

/* ---- Rows and cells ---- */

bool sk_next_row(sk_cursor *at)
{
    for (;;) {
        const char *p = at->p;
        while (*p == ' ' || *p == '\t' || (at->separator && *p == at->separator)) p++; /* spreadsheets leave ",,," */
        if (!*p) return false;
        if (!is_line_end(*p)) return true;
        at->p = p;
        pass_line_end(at);
    }
}

/* Behind a cell: a separator, or the end of the row. */
static inline void pass_delimiter(sk_cursor *at, bool *last)
{
    *last = *at->p != separator_of(at);
    if (*last)
        pass_line_end(at);
    else
        at->p++;
}

/* The cursor stands behind the opening quote. */
static sock_status quoted_cell(sock_context *ctx, sk_cursor *at, sk_cell *cell)
{
    size_t opened = at->line;
    const char *p = at->p;
    *cell = (sk_cell){p, 0, false};
    for (;; p++) {
        if (!*p)
            return sk_fail(ctx, SOCK_EINPUT, "%s: line %zu: a quote is opened and never closed", at->source, opened);
        if (*p == '\n' || (*p == '\r' && p[1] != '\n')) at->line++;
        if (*p != '"') continue;
        if (p[1] != '"') break;
        cell->escaped = true;
        p++;
    }
    cell->length = (size_t)(p - cell->text);
    for (p++; is_blank(at, *p); p++) {}
    if (*p != separator_of(at) && !is_line_end(*p))
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: line %zu: text follows a closing quote; a %s or the line's end is allowed", at->source,
                       at->line,
                       at->separator == ';'    ? "semicolon"
                       : at->separator == '\t' ? "tab"
                                               : "comma");
    at->p = p;
    return SOCK_OK;
}

static void plain_cell(sk_cursor *at, sk_cell *cell)
{
    const char *p = at->p, *end;
    while (*p != separator_of(at) && !is_line_end(*p)) p++;
    end = p;
    while (end > at->p && is_blank(at, end[-1])) end--;
    *cell = (sk_cell){at->p, (size_t)(end - at->p), false};
    at->p = p;
}

sock_status sk_next_cell(sock_context *ctx, sk_cursor *at, sk_cell *cell, bool *last)
{
    while (is_blank(at, *at->p)) at->p++;
    if (*at->p == '"') {
        at->p++;
        SK_TRY(quoted_cell(ctx, at, cell));
    } else {
        plain_cell(at, cell);
    }
    pass_delimiter(at, last);
    return SOCK_OK;
}

bool sk_quick_number(sk_cursor *at, double *value, bool *last)
{
    const char *end;
    if (separator_of(at) != ',') return false; /* the decimal sign has to be looked at */
    double number = sk_parse_double(at->p, &end);
    if (end == at->p || (*end != ',' && !is_line_end(*end)) || !isfinite(number)) return false;
    at->p = end;
    *value = number;
    pass_delimiter(at, last);
    return true;
}

/* Letters of any case; word is in small letters. */
static bool is_word(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[i]) return false;
    }
    return true;
}

/* The number that is all of the text, with a decimal comma as well where cells are not separated by commas. False: it
 * is none, or its decimal sign is not that of the numbers before. */
static bool whole_number(sk_cursor *at, const char *text, size_t length, double *value)
{
    char copy[LONGEST_NUMBER + 1], sign = 0;
    const char *end;
    if (separator_of(at) == ',' || length > LONGEST_NUMBER) {
        *value = sk_parse_double(text, &end);
        return end == text + length;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' || text[i] == ',') sign = text[i];
        copy[i] = (char)(text[i] == ',' ? '.' : text[i]);
    }
    copy[length] = 0;
    *value = sk_parse_double(copy, &end);
    if (length == 0 || end != copy + length || (sign && at->decimal && sign != at->decimal)) return false;
    if (sign) at->decimal = sign;
    return true;
}

sk_cell_kind sk_cell_value(sk_cursor *at, const sk_cell *cell, double *value)
{
    const char *text = cell->text, *stop = text + cell->length;
    double number;
    while (text < stop && is_blank(at, *text)) text++;
    while (stop > text && is_blank(at, stop[-1])) stop--;
    size_t length = (size_t)(stop - text);
    if (length == 0 || is_word(text, length, "na") || is_word(text, length, "null")) return SK_CELL_MISSING;
    if (whole_number(at, text, length, &number)) {
        *value = number;
        return isfinite(number) ? SK_CELL_NUMBER : SK_CELL_INFINITE;
    }
    if (*text == '-' || *text == '+') {
        text++;
        length--;
    }
    if (is_word(text, length, "nan")) return SK_CELL_MISSING; /* with a sign as well: some programs print -nan */
    if (is_word(text, length, "inf") || is_word(text, length, "infinity")) return SK_CELL_INFINITE;
    return SK_CELL_TEXT;
}

void sk_cell_disarm(sk_cell *cell)
{
    if (cell->length < 2 || cell->text[0] != '\'' || !sk_begins_formula(cell->text[1])) return;
    cell->text++;
    cell->length--;
}

char *sk_cell_copy(sock_context *ctx, const sk_cell *cell)
{
    char *copy = sk_alloc(ctx, cell->length + 1, 1);
    if (!copy) return NULL;
    size_t written = 0;
    for (size_t i = 0; i < cell->length; i++) {
        copy[written++] = cell->text[i];
        if (cell->escaped && cell->text[i] == '"') i++;
    }
    copy[written] = 0;
    return copy;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool sk_cell_truth(const sk_cell *cell, double *value)
{
    *value = is_word(cell->text, cell->length, "true");
    return *value != 0 || is_word(cell->text, cell->length, "false");
}

const char *sk_cell_hint(const sk_cell *cell)
{
    const char *text = cell->text, *end = text + cell->length;
    if (text == end) return "";
    if (*text == '<' || *text == '>') return "; beyond the limit of a device: leave it empty, or give a number";
    if (*text == '#') return "; an error of the spreadsheet: leave it empty";
    if (end[-1] == '%') return "; leave the % out";
    for (const char *p = text; p + 2 < end; p++)
        if (memcmp(p, "\xe2\x88\x92", 3) == 0) return "; its minus is the sign U+2212: write -";
    const char *colon = memchr(text, ':', cell->length);
    if (colon && colon - text <= 2 && is_digit(*text) && colon + 1 < end && is_digit(colon[1]))
        return "; a clock time: with its day in the same column, 2024-01-31 12:30, it is a date";
    return "";
}
