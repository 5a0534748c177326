/* sheet.c - see sheet.h. The picture is begun with the first panel, when the legend's height is known. */
#define _GNU_SOURCE
#include "sheet.h"

#include "memtext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 16, RIGHT = 18, OVER = 30, UNDER = 46, ROW = 20, NOTE = 16, PIECE = 330, PIECE_ALONE = 360 };

typedef struct key {
    legend_mark mark;
    const char *klass;
    char *text;
} key;

struct sheet {
    sheet_plan plan;
    FILE *out; /* into text */
    memtext text;
    key keys[KEYS_MOST];
    size_t key_count, rows; /* rows: of the legend */
    size_t drawn;           /* panels */
    size_t noted;           /* lines */
    svg *picture;           /* the whole, or the piece at work */
    char id[64];
    int failed;
};

sheet *sheet_new(const sheet_plan *plan)
{
    sheet *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->plan = *plan;
    if (!s->plan.left) s->plan.left = 64;
    const double most = plan->columns == 1 ? PIECE_ALONE : PIECE;
    if (plan->form == SHEET_PIECES && s->plan.wide > most) s->plan.wide = most;
    s->out = memtext_open(&s->text);
    if (s->out) return s;
    free(s);
    return NULL;
}

void sheet_key(sheet *s, legend_mark mark, const char *klass, const char *text)
{
    if (s->key_count == KEYS_MOST) return;
    key *next = &s->keys[s->key_count];
    *next = (key){mark, klass, strdup(text)};
    if (next->text)
        s->key_count++;
    else
        s->failed = 1;
}

static double cell_width(const sheet *s) { return s->plan.left + s->plan.wide + RIGHT; }
static double cell_height(const sheet *s) { return OVER + s->plan.tall + s->plan.strip + UNDER + s->plan.below; }

static double whole_width(const sheet *s)
{
    const double columns = (double)(s->plan.panels < s->plan.columns ? s->plan.panels : s->plan.columns);
    return fmax(columns * cell_width(s), 360);
}

/* Where the cells begin, and how high the whole is. */
static double cells_top(const sheet *s) { return 60 + ROW * ((double)s->rows - 1); }

static double whole_height(const sheet *s)
{
    const size_t rows = (s->plan.panels + s->plan.columns - 1) / s->plan.columns;
    return cells_top(s) + (double)rows * cell_height(s) + NOTE * (double)s->plan.notes + 8;
}

/* ---- The legend ---- */

/* Draws the entries, or only counts the rows they take (picture NULL). */
static size_t lay_keys(sheet *s, svg *picture)
{
    size_t rows = 1;
    double x = 20;
    for (size_t i = 0; i < s->key_count; i++) {
        const double wide = legend_width(s->keys[i].text);
        if (x > 20 && x + wide > whole_width(s)) rows++, x = 20;
        double at = x;
        if (picture)
            legend_entry(picture, &at, 50 + ROW * ((double)rows - 1), s->keys[i].mark, s->keys[i].klass,
                         s->keys[i].text);
        x += wide;
    }
    return rows;
}

static void take_piece(sheet *s, svg *picture)
{
    size_t size = 0;
    char *text = svg_close(picture, &size);
    if (!text) s->failed = 1;
    if (text) fwrite(text, 1, size, s->out);
    free(text);
}

static void html_keys(sheet *s)
{
    if (!s->key_count) return;
    fputs("<p class=\"keys\">", s->out);
    for (size_t i = 0; i < s->key_count; i++) {
        svg *sample = svg_new_plain("key", 28, 14, s->keys[i].text);
        if (!sample) s->failed = 1;
        if (!sample) continue;
        legend_sample(sample, 2, 7, s->keys[i].mark, s->keys[i].klass);
        fputs("<span class=\"key\">", s->out);
        take_piece(s, sample);
        fputc(' ', s->out);
        svg_escape(s->out, s->keys[i].text, 0);
        fputs("</span> ", s->out);
    }
    fputs("</p>\n", s->out);
}

/* ---- Panels ---- */

static void begin_whole(sheet *s)
{
    s->rows = s->key_count ? lay_keys(s, NULL) : 0;
    s->picture = svg_new(s->plan.id, whole_width(s), whole_height(s), s->plan.heading);
    if (!s->picture) return;
    svg_text(s->picture, "head", (double[]){20, 26}, SVG_START, 0, s->plan.heading);
    lay_keys(s, s->picture);
}

static void begin_piece(sheet *s)
{
    if (s->picture) take_piece(s, s->picture);
    snprintf(s->id, sizeof s->id, "%s-%zu", s->plan.id, s->drawn);
    s->picture = svg_new_plain(s->id, cell_width(s), cell_height(s), s->plan.heading);
}

int sheet_panel(sheet *s, range across, range up, panel *out)
{
    double left = 0, top = 0;
    if (s->failed) return 0;
    if (s->plan.form == SHEET_WHOLE) {
        if (!s->picture) begin_whole(s);
        left = (double)(s->drawn % s->plan.columns) * cell_width(s);
        top = cells_top(s) + (double)(s->drawn / s->plan.columns) * cell_height(s);
    } else {
        if (!s->drawn) html_keys(s);
        if (!s->drawn) fprintf(s->out, "<div class=\"panels%s\">\n", s->plan.columns == 1 ? " alone" : "");
        begin_piece(s);
    }
    s->drawn++;
    if (!s->picture) s->failed = 1;
    left += s->plan.left, top += OVER;
    const double foot = top + s->plan.tall;
    *out = (panel){s->picture,
                   {across.low, across.high, left, left + s->plan.wide},
                   {up.low, up.high, foot, top},
                   foot + s->plan.strip};
    return !s->failed;
}

/* ---- Notes ---- */

/* The longest beginning of words that fits in `most` characters; at least one word. */
static size_t line_length(const char *text, size_t most)
{
    size_t end = 0, length = strlen(text);
    if (length <= most) return length;
    for (size_t i = 1; i < length && (i <= most || !end); i++)
        if (text[i] == ' ') end = i;
    return end ? end : length;
}

static void whole_note(sheet *s, const char *text)
{
    const size_t most = (size_t)(whole_width(s) / 5.6);
    while (*text && s->noted < s->plan.notes && s->picture) {
        const size_t length = line_length(text, most);
        char *line = strndup(text, length);
        const double y = whole_height(s) - 10 - NOTE * (double)(s->plan.notes - 1 - s->noted++);
        if (!line) s->failed = 1;
        if (line) svg_text(s->picture, "muted", (double[]){20, y}, SVG_START, 0, line);
        free(line);
        for (text += length; *text == ' ';) text++;
    }
}

static void end_pieces(sheet *s)
{
    if (s->picture) take_piece(s, s->picture);
    if (s->drawn) fputs("</div>\n", s->out);
    s->picture = NULL;
    s->drawn = 0;
}

void sheet_spoil(sheet *s) { s->failed = 1; }

void sheet_note(sheet *s, const char *text)
{
    if (s->plan.form == SHEET_WHOLE) {
        whole_note(s, text);
        return;
    }
    end_pieces(s);
    fputs("<p class=\"note\">", s->out);
    svg_escape(s->out, text, 0);
    fputs("</p>\n", s->out);
}

char *sheet_close(sheet *s, int good, size_t *size)
{
    if (s->plan.form == SHEET_PIECES)
        end_pieces(s);
    else if (s->picture)
        take_piece(s, s->picture);
    if (memtext_close(s->out, &s->text) != 0) s->failed = 1;
    char *text = s->text.text;
    *size = s->text.size;
    if (s->failed || !good) {
        free(text);
        text = NULL;
    }
    for (size_t i = 0; i < s->key_count; i++) free(s->keys[i].text);
    free(s);
    return text;
}
