/* tabletext.c - see tabletext.h. */
#include "experiments/tabletext.h"
#include "experiments/resultrows.h"
#include "experiments/tablerows.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Scores of a summary, and in which tables they are compared with the default's. MMD^2 is not: with one test path a
 * start the truth itself is often beaten in it. */
static const struct {
    const char *name;
    size_t column;
    int compared; /* 1, 2, or 3 for both */
} scores[] = {{"P", ROW_P, 1},
              {"P_raw", ROW_P_RAW, 2},
              {"PM", ROW_PM, 0},
              {"PM_raw", ROW_PM_RAW, 2},
              {"RE_f", ROW_RE_F, 3},
              {"RE_a", ROW_RE_A, 3},
              {"mmd2", ROW_MMD2, 0},
              {"mmd2_truth", ROW_MMD2_TRUTH, 0},
              {"cpu_seconds", ROW_CPU, 0}};

/* Whether the row was scored in this column: an older one is null in a newer column. */
static int is_scored(const json_t *row, size_t column)
{
    return column < ROW_PM || !json_is_null(json_array_get(row, column));
}

/* ---- The rows of an entry ---- */

static int is_shown(const exp_table_view *view, uint64_t seed)
{
    return !view->seeds || (seed >= view->first && seed < view->first + view->seeds);
}

/* The rows of a method, seed by seed; with `projected` the projected row where there is one. *any: there is. */
static json_t *rows_of(const exp_table_set *set, const exp_table_view *view, const json_t *rows, const char *method,
                       int projected, int *any)
{
    json_t *list = json_array();
    *any = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const uint64_t seed = (uint64_t)json_integer_value(json_array_get(row, ROW_SEED));
        if (strcmp(exp_text_at(row, ROW_SET), set->name) != 0 || strcmp(exp_text_at(row, ROW_METHOD), method) != 0 ||
            exp_text_at(row, ROW_PROJECTED)[0] || !is_shown(view, seed))
            continue;
        json_t *other = exp_row_find(rows, set->name, method, seed, 1);
        if (other) *any = 1;
        json_array_append(list, projected && other ? other : row);
    }
    return list;
}

static json_int_t missing_in(const json_t *list, size_t column)
{
    json_int_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) count += isnan(exp_number_at(json_array_get(list, i), column));
    return count;
}

/* [P, RE_f, RE_a, MMD] as the paper prints them. */
static json_t *paper_of(const exp_table_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < EXP_PAPER_SCORES; i++) {
        const double value = row->paper[i];
        json_array_append_new(list, isnan(value) ? json_null() : value > 0 ? json_real(value) : json_false());
    }
    return list;
}

/* NULL when out of memory. */
static json_t *entry_of(const exp_table_set *set, const exp_table_row *row, const json_t *list, int projected)
{
    const size_t judged = set->system && set->table == 1 ? ROW_P : ROW_P_RAW;
    json_t *entry =
        json_pack("{s:s, s:b, s:s, s:I, s:I, s:o}", "method", row->method, "projected", projected, "spec",
                  exp_text_at(json_array_get(list, 0), ROW_SPEC), "seeds", (json_int_t)json_array_size(list), "missing",
                  missing_in(list, judged), "paper", paper_of(row));
    int lacking = 0;
    for (size_t i = 0; i < COUNT(scores); i++) {
        json_t *some = json_array();
        for (size_t k = 0; k < json_array_size(list); k++)
            if (is_scored(json_array_get(list, k), scores[i].column)) json_array_append(some, json_array_get(list, k));
        lacking |= json_object_set_new(entry, scores[i].name, exp_quantiles(some, scores[i].column));
        if (scores[i].column == ROW_PM)
            json_object_set_new(entry, "PM_seeds", json_integer((json_int_t)json_array_size(some)));
        json_decref(some);
    }
    if (!lacking) return entry;
    json_decref(entry);
    return NULL;
}

/* ---- Who beats the default ---- */

/* The scores of both on the seeds that both lists have: count of them. */
static size_t pair_up(const json_t *ours, const json_t *theirs, size_t column, double *our, double *their)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(ours); i++)
        for (size_t j = 0; j < json_array_size(theirs); j++) {
            const json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, j);
            if (!json_equal(json_array_get(a, ROW_SEED), json_array_get(b, ROW_SEED))) continue;
            if (!is_scored(a, column) || !is_scored(b, column)) continue;
            our[count] = exp_number_at(a, column);
            their[count++] = exp_number_at(b, column);
        }
    return count;
}

/* A projection leaves f alone. */
static int is_compared(size_t score, int table, int projected)
{
    return (scores[score].compared & table) && !(projected && scores[score].column == ROW_RE_F);
}

/* -1 when out of memory, else 0. */
static int compare(int table, const json_t *ours, const json_t *theirs, const char *method, int projected,
                   json_t *better)
{
    const size_t room = json_array_size(ours) * json_array_size(theirs) + 1;
    double *our = malloc(room * sizeof *our), *their = malloc(room * sizeof *their);
    const int enough = our && their;
    for (size_t i = 0; enough && i < COUNT(scores); i++) {
        if (!is_compared(i, table, projected)) continue;
        const size_t count = pair_up(ours, theirs, scores[i].column, our, their);
        json_int_t wins = 0;
        for (size_t k = 0; k < count; k++) wins += their[k] < our[k] || (isnan(our[k]) && !isnan(their[k]));
        const double mine = exp_quantile(count, our, 0.5), other = exp_quantile(count, their, 0.5);
        if (!(other < mine)) continue;
        json_array_append_new(better, json_pack("{s:s, s:b, s:s, s:f, s:o, s:I, s:I}", "method", method, "projected",
                                                projected, "score", scores[i].name, "median", other, "default",
                                                isfinite(mine) ? json_real(mine) : json_null(), "seeds",
                                                (json_int_t)count, "wins", wins));
    }
    free(our);
    free(their);
    return enough ? 0 : -1;
}

/* ---- The summary ---- */

json_t *exp_table_summary(const exp_table_set *set, const exp_table_view *view, const json_t *rows)
{
    json_t *entries = json_array(), *better = json_array(), *ours = NULL;
    int any, lacking = 0;
    ours = rows_of(set, view, rows, "sock", 0, &any);
    for (const exp_table_row *row = set->rows; row->method; row++) {
        const exp_kind kind = exp_method_find(row->method)->kind;
        if (view->methods && !exp_is_named(view->methods, row->method)) continue;
        for (int projected = 0, has = 1; projected < 1 + (has != 0) && projected < 2; projected++) {
            json_t *list = rows_of(set, view, rows, row->method, projected, &has);
            if (json_array_size(list)) lacking |= json_array_append_new(entries, entry_of(set, row, list, projected));
            if (kind != EXP_KIND_DEFAULT && kind != EXP_KIND_TRUTH)
                lacking |= compare(set->table, ours, list, row->method, projected, better);
            json_decref(list);
        }
    }
    json_decref(ours);
    if (lacking) {
        json_decref(entries);
        json_decref(better);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:i, s:o, s:o}", "set", set->name, "title", set->title, "table", set->table, "entries",
                     entries, "better", better);
}

/* ---- For people ---- */

enum { CELL = 64, COLUMNS_MOST = 12 };

/* One row; its cells are made twice, once for their widths and once to be printed, so that no memory is needed. */
typedef struct sheet {
    size_t columns, width[COLUMNS_MOST];
    char cell[COLUMNS_MOST][CELL];
} sheet;

static void clear_row(sheet *s) { memset(s->cell, 0, sizeof s->cell); }

static void widen(sheet *s)
{
    for (size_t j = 0; j < s->columns; j++)
        if (strlen(s->cell[j]) > s->width[j]) s->width[j] = strlen(s->cell[j]);
}

/* Cells with equal widths, as Markdown wants them and people read them. */
static void print_row(const sheet *s, FILE *stream)
{
    for (size_t j = 0; j < s->columns; j++) fprintf(stream, "| %-*s ", (int)s->width[j], s->cell[j]);
    fputs("|\n", stream);
}

static void print_line(const sheet *s, FILE *stream)
{
    for (size_t j = 0; j < s->columns; j++) {
        fputs("|", stream);
        for (size_t k = 0; k < s->width[j] + 2; k++) fputc('-', stream);
    }
    fputs("|\n", stream);
}

static void number_text(double value, char out[CELL])
{
    snprintf(out, CELL, value >= 98 && value < 110 ? "%.2f" : value >= 110 && value < 1e4 ? "%.4g" : "%.3g", value);
}

/* "100.05 [99.98, 100.2]"; a quantile that some seeds without a score make infinite is NA. */
static void quantile_text(const json_t *entry, const char *score, char out[CELL])
{
    const json_t *list = json_object_get(entry, score);
    const json_int_t seeds = json_integer_value(json_object_get(entry, "seeds"));
    const json_int_t scored =
        strncmp(score, "PM", 2) == 0 ? json_integer_value(json_object_get(entry, "PM_seeds")) : seeds;
    char part[3][CELL];
    if (!scored) {
        snprintf(out, CELL, "-");
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(list, i);
        if (json_is_number(value))
            number_text(json_number_value(value), part[i]);
        else
            snprintf(part[i], CELL, "NA");
    }
    if (strcmp(part[0], "NA") == 0 && strcmp(part[1], "NA") == 0)
        snprintf(out, CELL, "NA");
    else if (seeds == 1)
        snprintf(out, CELL, "%.20s", part[0]);
    else
        snprintf(out, CELL, "%.14s [%.14s, %.14s]", part[0], part[1], part[2]);
    if (scored < seeds) snprintf(out + strlen(out), CELL - strlen(out), " %lld seeds", (long long)scored);
}

static void paper_text(const json_t *entry, size_t index, char out[CELL])
{
    const json_t *value = json_array_get(json_object_get(entry, "paper"), index);
    if (json_is_false(value))
        out[0] = 0;
    else if (json_is_null(value))
        snprintf(out, CELL, "NA");
    else
        snprintf(out, CELL, "%.4g", json_number_value(value));
}

/* Columns: which score, and which of the paper's stands beside it. */
typedef struct column {
    const char *title, *score;
    int paper; /* EXP_PAPER_*; -1: none */
    enum { ALWAYS, WITH_TRUTH, WITHOUT_TRUTH } when;
} column;

static const column table1[] = {{"P", "P", EXP_PAPER_P, ALWAYS},
                                {"RE_f %", "RE_f", EXP_PAPER_RE_F, ALWAYS},
                                {"RE_a %", "RE_a", EXP_PAPER_RE_A, ALWAYS},
                                {"MMD^2", "mmd2", EXP_PAPER_MMD, ALWAYS}};
static const column table2[] = {{"P'", "P_raw", EXP_PAPER_P, ALWAYS}, {"MMD^2", "mmd2", EXP_PAPER_MMD, ALWAYS},
                                {"P", "P", -1, WITH_TRUTH},           {"PM", "PM", -1, WITH_TRUTH},
                                {"PM'", "PM_raw", -1, WITHOUT_TRUTH}, {"RE_f %", "RE_f", -1, WITH_TRUTH},
                                {"RE_a %", "RE_a", -1, WITH_TRUTH}};

/* The columns of a table, `count` of them. */
static size_t choose_columns(int table, int truth, column *out)
{
    const column *all = table == 1 ? table1 : table2;
    size_t count = 0;
    for (size_t i = 0; i < (table == 1 ? COUNT(table1) : COUNT(table2)); i++)
        if (all[i].when == ALWAYS || (all[i].when == WITH_TRUTH) == truth) out[count++] = all[i];
    return count;
}

static void fill_header(sheet *s, const column *columns, size_t count)
{
    size_t at = 2;
    clear_row(s);
    snprintf(s->cell[0], CELL, "method");
    snprintf(s->cell[1], CELL, "seeds");
    for (size_t i = 0; i < count; i++) {
        snprintf(s->cell[at++], CELL, "%s", columns[i].title);
        if (columns[i].paper >= 0) snprintf(s->cell[at++], CELL, "paper");
    }
    snprintf(s->cell[at], CELL, "cpu s");
}

static void fill_entry(sheet *s, const column *columns, size_t count, const json_t *entry)
{
    const exp_method *method = exp_method_find(json_string_value(json_object_get(entry, "method")));
    const int projected = json_is_true(json_object_get(entry, "projected"));
    const json_int_t seeds = json_integer_value(json_object_get(entry, "seeds"));
    const json_int_t missing = json_integer_value(json_object_get(entry, "missing"));
    size_t at = 2;
    clear_row(s);
    const char *mark = method->kind == EXP_KIND_DEFAULT ? "**" : method->kind == EXP_KIND_ADAPTED ? "*" : "";
    snprintf(s->cell[0], CELL, "%s%s%s%s", mark, method->title, projected ? ", a projected" : "", mark);
    if (missing && missing < seeds)
        snprintf(s->cell[1], CELL, "%lld, %lld NA", (long long)seeds, (long long)missing);
    else
        snprintf(s->cell[1], CELL, "%lld", (long long)seeds);
    for (size_t i = 0; i < count; i++) {
        quantile_text(entry, columns[i].score, s->cell[at++]);
        if (columns[i].paper >= 0 && !projected) paper_text(entry, (size_t)columns[i].paper, s->cell[at]);
        at += columns[i].paper >= 0;
    }
    const json_t *cpu = json_array_get(json_object_get(entry, "cpu_seconds"), 0);
    if (json_is_number(cpu)) snprintf(s->cell[at], CELL, "%.2g", json_number_value(cpu));
}

static void print_better(const json_t *summary, FILE *stream)
{
    const json_t *better = json_object_get(summary, "better");
    for (size_t i = 0; i < json_array_size(better); i++) {
        const json_t *e = json_array_get(better, i), *mine = json_object_get(e, "default");
        const exp_method *method = exp_method_find(json_string_value(json_object_get(e, "method")));
        const char *score = json_string_value(json_object_get(e, "score"));
        char ours[CELL] = "NA";
        if (json_is_number(mine)) snprintf(ours, sizeof ours, "%.5g", json_number_value(mine));
        fprintf(stream, "- %s of %s%s: median %.5g against %s of the default (better in %lld of %lld seeds)\n",
                strcmp(score, "P_raw") == 0    ? "P'"
                : strcmp(score, "PM_raw") == 0 ? "PM'"
                                               : score,
                method->title, json_is_true(json_object_get(e, "projected")) ? ", a projected" : "",
                json_number_value(json_object_get(e, "median")), ours,
                (long long)json_integer_value(json_object_get(e, "wins")),
                (long long)json_integer_value(json_object_get(e, "seeds")));
    }
}

/* Whether some method has a P: there is a truth. */
static int has_truth(const json_t *entries)
{
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *list = json_object_get(json_array_get(entries, i), "P");
        if (json_is_number(json_array_get(list, 0)) || json_is_number(json_array_get(list, 1))) return 1;
    }
    return 0;
}

void exp_table_print(const json_t *summary, FILE *stream)
{
    const int table = (int)json_integer_value(json_object_get(summary, "table"));
    const json_t *entries = json_object_get(summary, "entries"), *remark = json_object_get(summary, "remark");
    column columns[COLUMNS_MOST];
    const size_t count = choose_columns(table, has_truth(entries), columns);
    sheet s = {.columns = 3 + count};
    for (size_t i = 0; i < count; i++) s.columns += columns[i].paper >= 0;
    fprintf(stream, "### %s\n\n", json_string_value(json_object_get(summary, "title")));
    if (json_is_string(remark)) fprintf(stream, "Not run: %s.\n\n", json_string_value(remark));
    if (!json_array_size(entries)) return;
    for (int printing = 0; printing < 2; printing++) {
        fill_header(&s, columns, count);
        printing ? print_row(&s, stream) : widen(&s);
        if (printing) print_line(&s, stream);
        for (size_t i = 0; i < json_array_size(entries); i++) {
            fill_entry(&s, columns, count, json_array_get(entries, i));
            printing ? print_row(&s, stream) : widen(&s);
        }
    }
    if (json_array_size(json_object_get(summary, "better"))) {
        fputs("\nBelow the default's median, on the seeds that both have:\n\n", stream);
        print_better(summary, stream);
    }
    fputc('\n', stream);
}
