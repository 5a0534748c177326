/* comparetable.c - see comparetable.h. */
#define _GNU_SOURCE
#include "comparetable.h"
#include "table.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The scores in the order of all outputs. */
typedef struct score_column {
    const char *key, *title;
    size_t offset;
    bool needs_truth, in_text;
} score_column;

static const score_column scores[] = {
    {"perplexity", "P", offsetof(sock_scores, perplexity), true, true},
    {"perplexity_raw", "P'", offsetof(sock_scores, perplexity_raw), false, true},
    {"perplexity_moments", "PM", offsetof(sock_scores, perplexity_moments), true, true},
    {"perplexity_moments_raw", "PM'", offsetof(sock_scores, perplexity_moments_raw), false, true},
    {"re_f", "RE_f %", offsetof(sock_scores, re_f), true, true},
    {"re_a", "RE_a %", offsetof(sock_scores, re_a), true, true},
    {"mmd2", "MMD^2", offsetof(sock_scores, mmd2), false, true},
    {"mmd2_truth", "MMD^2 of the truth", offsetof(sock_scores, mmd2_truth), true, false},
    {"loglik", "loglik", offsetof(sock_scores, loglik), false, false},
};
enum { SCORES = sizeof scores / sizeof scores[0] };

static const sock_value *value_of(const cmp_row *row, size_t score)
{
    return (const sock_value *)(const void *)((const char *)&row->scores + scores[score].offset);
}

bool comparison_has_score(const cmp_row *row)
{
    for (size_t s = 0; s < SCORES; s++)
        if (row->made && scores[s].in_text && value_of(row, s)->valid) return true;
    return false;
}

/* With a truth P says all that P' says, and PM all that PM' says. */
static bool is_shown(const comparison *all, size_t score)
{
    const char *key = scores[score].key;
    if (!scores[score].in_text) return false;
    if (strcmp(key, "perplexity_raw") == 0 || strcmp(key, "perplexity_moments_raw") == 0) return !all->truth;
    return all->truth || !scores[score].needs_truth;
}

/* ---- For people ---- */

static void row_name(const cmp_row *row, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s", row->label, row->projected ? " [a projected]" : row->leaks ? " [LEAK]" : "");
}

static int name_width(const comparison *all)
{
    size_t width = strlen("method");
    for (size_t i = 0; i < all->count; i++) {
        char name[sizeof all->rows[i].label + 20];
        row_name(&all->rows[i], name, sizeof name);
        width = strlen(name) > width ? strlen(name) : width;
    }
    return (int)(width < 48 ? width : 48);
}

static void print_cell(const sock_value *value)
{
    if (value->valid && fabs(value->value) >= 1e6)
        printf("  %9.3g", value->value);
    else if (value->valid)
        printf("  %9.*f", value->value < 10 ? 4 : 2, value->value);
    else
        printf("  %9s", "NA");
}

static void print_row(const comparison *all, const cmp_row *row, int width)
{
    char name[sizeof row->label + 20];
    row_name(row, name, sizeof name);
    printf("%-*s", width, name);
    for (size_t s = 0; s < SCORES; s++)
        if (is_shown(all, s)) print_cell(value_of(row, s));
    if (row->made)
        printf("  %9.3f  %9.3f\n", row->wall_seconds, row->cpu_seconds);
    else
        printf("  %9s  %9s\n", "-", "-");
}

/* "1 trajectory", "70 trajectories" */
static void print_trajectories(const sock_data *data)
{
    size_t count = sock_data_trajectories(data);
    printf("%zu %s", count, count == 1 ? "trajectory" : "trajectories");
}

static void print_heading(const comparison *all)
{
    printf("training data   ");
    print_trajectories(all->train);
    printf(", %zu points, dimension %zu", sock_data_points(all->train), sock_data_dim(all->train));
    if (all->validation) {
        printf("; validation data ");
        print_trajectories(all->validation);
    }
    printf("\ntest data       ");
    print_trajectories(all->test);
    printf(", %zu points; delta %g%s%s\n", sock_data_points(all->test), all->delta, all->delta_source ? ", " : "",
           all->delta_source ? all->delta_source : "");
    if (all->budget > 0)
        printf("budget          %g s for each search of SOCK; other methods are not bounded\n", all->budget);
    if (all->truth)
        printf("truth           %s%s\n", all->truth,
               all->truth_approximate ? ", an approximation of the process that made the data" : "");
}

/* The first row in which the truth's own MMD is known. */
static void print_truth_mmd(const comparison *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const sock_value *value = &all->rows[i].scores.mmd2_truth;
        if (!value->valid) continue;
        printf("MMD^2 of the truth itself: %.4f (compare with it, not with 0)\n", value->value);
        return;
    }
}

/* The shown scores of a row that are missing for this reason, as bits. */
static unsigned missing_for(const comparison *all, const cmp_row *row, const char *reason)
{
    unsigned bits = 0;
    for (size_t s = 0; row->made && s < SCORES; s++)
        if (is_shown(all, s) && !value_of(row, s)->valid && strcmp(value_of(row, s)->reason, reason) == 0)
            bits |= 1u << s;
    return bits;
}

/* "P, MMD^2 of bisde, gedmd" or "... of every method": the rows that miss just these scores for this reason. */
static void print_who(const comparison *all, const char *reason, unsigned bits)
{
    size_t rows = 0, made = 0, told = 0;
    for (size_t i = 0; i < all->count; i++) {
        made += all->rows[i].made != 0;
        rows += missing_for(all, &all->rows[i], reason) == bits;
    }
    for (size_t s = 0, before = 0; s < SCORES; s++)
        if (bits >> s & 1) printf("%s%s", before++ ? ", " : "", scores[s].title);
    printf(" of ");
    if (rows == made && rows > 1) printf("every method");
    for (size_t i = 0; (rows < made || rows == 1) && i < all->count; i++) {
        char name[sizeof all->rows[i].label + 20];
        if (missing_for(all, &all->rows[i], reason) != bits) continue;
        row_name(&all->rows[i], name, sizeof name);
        printf("%s%s", told++ ? ", " : "", name);
    }
}

/* Each reason once: "NA  P, MMD^2 of bisde: a is not positive semi-definite on ...". */
static void explain_missing(const comparison *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t s = 0; s < SCORES; s++) {
            const char *reason = value_of(&all->rows[i], s)->reason;
            unsigned bits = missing_for(all, &all->rows[i], reason), lower = (1u << s) - 1;
            bool told = !(bits >> s & 1) || bits & lower;
            for (size_t j = 0; !told && j < i; j++) told = missing_for(all, &all->rows[j], reason) == bits;
            if (told) continue;
            printf("NA  ");
            print_who(all, reason, bits);
            printf(": %s\n", reason);
        }
    for (size_t i = 0; i < all->count; i++)
        if (!all->rows[i].made) printf("--  %s: no row: %s\n", all->rows[i].label, all->rows[i].reason);
}

static void print_settings(const cmp_row *row, int width)
{
    printf("%-*s  %s", width, row->label, row->settings[0] ? row->settings : "-");
    if (row->terms) printf("; %zu of %zu coefficients are not 0", row->nonzero, row->terms);
    printf("\n");
    if (row->kernels[0]) printf("%-*s  chosen: %s\n", width, "", row->kernels);
    if (row->note[0]) printf("%-*s  note: %s\n", width, "", row->note);
}

void comparison_print(const comparison *all)
{
    int width = name_width(all);
    print_heading(all);
    printf("\n%-*s", width, "method");
    for (size_t s = 0; s < SCORES; s++)
        if (is_shown(all, s)) printf("  %9s", scores[s].title);
    printf("  %9s  %9s\n", "seconds", "cpu");
    for (size_t i = 0; i < all->count; i++) print_row(all, &all->rows[i], width);
    printf("\n");
    print_truth_mmd(all);
    explain_missing(all);
    printf("\nsettings\n");
    for (size_t i = 0; i < all->count; i++)
        if (!all->rows[i].projected) print_settings(&all->rows[i], width);
}

void comparison_say(const cli *c, const cmp_row *row)
{
    char name[sizeof row->label + 20], line[300] = "";
    size_t used = 0;
    row_name(row, name, sizeof name);
    for (size_t s = 0; s < SCORES && used < sizeof line; s++)
        if (scores[s].in_text && value_of(row, s)->valid)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %.4g, ", scores[s].title,
                                     value_of(row, s)->value);
    if (row->made)
        cli_note(c, "%s: %s%.2f s", name, line, row->wall_seconds);
    else
        cli_note(c, "%s: no row: %s", name, row->reason);
}

/* ---- CSV ---- */

static void write_texts(table *t, const cmp_row *row)
{
    table_text(t, row->note);
    table_text(t, row->made ? "" : row->reason);
    for (size_t s = 0; s < SCORES; s++)
        table_text(t, row->made && !value_of(row, s)->valid ? value_of(row, s)->reason : "");
}

static void write_row(table *t, const cmp_row *row)
{
    table_text(t, row->label);
    table_number(t, row->projected);
    for (size_t s = 0; s < SCORES; s++)
        table_number(t, value_of(row, s)->valid ? value_of(row, s)->value : (double)NAN);
    table_number(t, row->made ? row->wall_seconds : (double)NAN);
    table_number(t, row->made ? row->cpu_seconds : (double)NAN);
    table_number(t, row->made ? row->psd_fraction : (double)NAN);
    table_number(t, row->worst_eigenvalue);
    table_number(t, row->terms ? (double)row->nonzero : (double)NAN);
    table_number(t, row->terms ? (double)row->terms : (double)NAN);
    table_text(t, sock_status_name(row->status));
    table_text(t, row->settings);
    table_text(t, row->kernels);
    write_texts(t, row);
    table_end_row(t);
}

int comparison_write(const cli *c, const comparison *all, const char *path)
{
    static const char *const after[] = {"seconds", "cpu_seconds", "not_psd", "worst_eigenvalue",
                                        "nonzero", "terms",       "status",  "settings",
                                        "kernels", "note",        "reason"};
    table t;
    int code = table_open(c, &t, path, false);
    if (code >= 0) return code;
    table_text(&t, "method");
    table_text(&t, "projected");
    for (size_t s = 0; s < SCORES; s++) table_text(&t, scores[s].key);
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) table_text(&t, after[i]);
    for (size_t s = 0; s < SCORES; s++) table_name(&t, scores[s].key, "_reason", NULL);
    table_end_row(&t);
    for (size_t i = 0; i < all->count; i++) write_row(&t, &all->rows[i]);
    return table_close(&t);
}

/* ---- JSON ---- */

static json_t *text_or_null(const char *text) { return text && text[0] ? json_string(text) : json_null(); }

static json_t *row_to_json(const cmp_row *row)
{
    json_t *object = json_pack("{s:s, s:s, s:b, s:b}", "method", row->label, "group", row->method->group, "projected",
                               row->projected, "made", row->made);
    for (size_t s = 0; s < SCORES; s++) {
        const sock_value *value = value_of(row, s);
        char key[48];
        snprintf(key, sizeof key, "%s_reason", scores[s].key);
        json_object_set_new(object, scores[s].key, value->valid ? json_real(value->value) : json_null());
        if (!value->valid) json_object_set_new(object, key, json_string(value->reason));
    }
    json_object_set_new(object, "seconds", row->made ? json_real(row->wall_seconds) : json_null());
    json_object_set_new(object, "cpu_seconds", row->made ? json_real(row->cpu_seconds) : json_null());
    json_object_set_new(object, "not_psd", row->made ? json_real(row->psd_fraction) : json_null());
    json_object_set_new(object, "worst_eigenvalue",
                        isfinite(row->worst_eigenvalue) ? json_real(row->worst_eigenvalue) : json_null());
    json_object_set_new(object, "nonzero", row->terms ? json_integer((json_int_t)row->nonzero) : json_null());
    json_object_set_new(object, "terms", row->terms ? json_integer((json_int_t)row->terms) : json_null());
    json_object_set_new(object, "status", json_string(sock_status_name(row->status)));
    json_object_set_new(object, "settings", json_string(row->settings));
    json_object_set_new(object, "kernels", text_or_null(row->kernels));
    json_object_set_new(object, "note", text_or_null(row->note));
    json_object_set_new(object, "reason", text_or_null(row->made ? NULL : row->reason));
    return object;
}

int comparison_print_json(const cli *c, const comparison *all)
{
    json_t *rows = json_array(), *object;
    for (size_t i = 0; i < all->count; i++) json_array_append_new(rows, row_to_json(&all->rows[i]));
    object = json_pack("{s:o, s:b, s:f, s:I, s:I, s:I, s:o}", "truth", text_or_null(all->truth), "truth_approximate",
                       all->truth_approximate, "delta", all->delta, "d", (json_int_t)sock_data_dim(all->train),
                       "train_points", (json_int_t)sock_data_points(all->train), "test_points",
                       (json_int_t)sock_data_points(all->test), "rows", rows);
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(1)) : NULL;
    bool made = text != NULL;
    if (made) printf("%s\n", text);
    free(text);
    json_decref(object);
    return made ? -1 : cli_fail(c, SOCK_ENOMEM);
}
