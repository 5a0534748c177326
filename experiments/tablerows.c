/* tablerows.c - see tablerows.h. */
#include "experiments/tablerows.h"
#include "experiments/resultrows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const exp_row_names[ROW_COLUMNS] = {
    "set",   "method",  "seed",        "projected",    "spec",    "status", "P",       "P_raw",
    "RE_f",  "RE_a",    "mmd2",        "mmd2_truth",   "paths",   "lost",   "not_psd", "worst_eigenvalue",
    "terms", "nonzero", "cpu_seconds", "wall_seconds", "kernels", "reason", "version", "PM",
    "PM_raw"};

/* ---- A row from a result ---- */

static void set_cell(json_t *row, size_t column, json_t *value) { json_array_set_new(row, column, value); }

static void set_text(json_t *row, size_t column, const char *text)
{
    if (text && text[0]) set_cell(row, column, json_string(text));
}

static void set_number(json_t *row, size_t column, double value)
{
    if (isfinite(value)) set_cell(row, column, json_real(value));
}

static void set_value(json_t *row, size_t column, const sock_value *value)
{
    if (value->valid) set_number(row, column, value->value);
}

/* A newer column, which must not look like one of an older file. */
static void set_newer(json_t *row, size_t column, const sock_value *value)
{
    set_text(row, column, "NA");
    set_value(row, column, value);
}

json_t *exp_row_without(const exp_piece *piece, sock_status status, const char *reason)
{
    json_t *row = json_array();
    for (size_t i = 0; i < ROW_COLUMNS; i++) json_array_append_new(row, json_null());
    set_text(row, ROW_SET, piece->set->name);
    set_text(row, ROW_METHOD, piece->row->method);
    set_cell(row, ROW_SEED, json_integer((json_int_t)piece->seed));
    set_text(row, ROW_SPEC, piece->spec);
    set_text(row, ROW_STATUS, sock_status_name(status));
    set_cell(row, ROW_MMD_PATHS, json_integer(strtol(piece->mmd_paths, NULL, 10)));
    set_text(row, ROW_REASON, reason);
    set_text(row, ROW_VERSION, sock_version());
    return row;
}

/* The first reason that matters: no row at all, no density, a caveat of the method. */
static const char *reason_of(const cmp_row *result)
{
    const sock_scores *s = &result->scores;
    if (!result->made) return result->reason;
    if (!s->perplexity_raw.valid) return s->perplexity_raw.reason;
    if (!s->mmd2.valid && s->mmd2.failed) return s->mmd2.reason;
    return result->note;
}

json_t *exp_row_of(const exp_piece *piece, const cmp_row *result)
{
    json_t *row = exp_row_without(piece, result->status, reason_of(result));
    const sock_scores *s = &result->scores;
    if (result->projected) set_text(row, ROW_PROJECTED, "psd");
    set_number(row, ROW_CPU, result->cpu_seconds);
    set_number(row, ROW_WALL, result->wall_seconds);
    if (!result->made) return row;
    const sock_value *const values[] = {&s->perplexity, &s->perplexity_raw, &s->re_f,
                                        &s->re_a,       &s->mmd2,           &s->mmd2_truth};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) set_value(row, ROW_P + i, values[i]);
    set_newer(row, ROW_PM, &s->perplexity_moments);
    set_newer(row, ROW_PM_RAW, &s->perplexity_moments_raw);
    if (s->mmd2.valid) set_cell(row, ROW_MMD_LOST, json_integer((json_int_t)s->mmd_lost));
    set_number(row, ROW_NOT_PSD, isfinite(result->worst_eigenvalue) ? 100 * result->psd_fraction : (double)NAN);
    set_number(row, ROW_WORST, result->worst_eigenvalue);
    if (result->terms) {
        set_cell(row, ROW_TERMS, json_integer((json_int_t)result->terms));
        set_cell(row, ROW_NONZERO, json_integer((json_int_t)result->nonzero));
    }
    set_text(row, ROW_KERNELS, result->kernels);
    return row;
}

/* ---- Finding ---- */

static int is_row_of(const json_t *row, const char *set, const char *method, uint64_t seed)
{
    return strcmp(exp_text_at(row, ROW_SET), set) == 0 && strcmp(exp_text_at(row, ROW_METHOD), method) == 0 &&
           json_integer_value(json_array_get(row, ROW_SEED)) == (json_int_t)seed;
}

static int is_projected(const json_t *row) { return exp_text_at(row, ROW_PROJECTED)[0] != 0; }

json_t *exp_row_find(const json_t *rows, const char *set, const char *method, uint64_t seed, int projected)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (is_row_of(row, set, method, seed) && is_projected(row) == projected) return row;
    }
    return NULL;
}

#define STOPPED "stopped after "

json_t *exp_row_stopped(const exp_piece *piece)
{
    char reason[80];
    snprintf(reason, sizeof reason, STOPPED "%g s of processor time", piece->cap);
    return exp_row_without(piece, SOCK_ECANCELLED, reason);
}

/* The cap is kept in the reason, to six digits. */
static int was_stopped_earlier(const json_t *row, double cap)
{
    const char *reason = exp_text_at(row, ROW_REASON);
    const size_t length = sizeof STOPPED - 1;
    return strncmp(reason, STOPPED, length) == 0 && strtod(reason + length, NULL) < cap * (1 - 1e-5);
}

int exp_row_is_known(const json_t *rows, const exp_piece *piece)
{
    const json_t *row = exp_row_find(rows, piece->set->name, piece->row->method, piece->seed, 0);
    if (!row || strcmp(exp_text_at(row, ROW_SPEC), piece->spec) != 0) return 0;
    if (was_stopped_earlier(row, piece->cap)) return 0;
    const json_int_t wanted = strtol(piece->mmd_paths, NULL, 10);
    return wanted == 0 || json_integer_value(json_array_get(row, ROW_MMD_PATHS)) == wanted;
}

/* ---- Filling ---- */

/* Whether the row is of a model that was fitted: not of paths alone, nor of a failure. */
static int is_fitted(const json_t *row)
{
    const exp_method *method = exp_method_find(exp_text_at(row, ROW_METHOD));
    return method && !method->neural && strncmp(exp_text_at(row, ROW_STATUS), "SOCK_E", 6) != 0;
}

int exp_row_is_older(const json_t *rows, const exp_piece *piece)
{
    int older = 0;
    for (int projected = 0; projected < 2; projected++) {
        const json_t *row = exp_row_find(rows, piece->set->name, piece->row->method, piece->seed, projected);
        older |= row && is_fitted(row) && json_is_null(json_array_get(row, ROW_PM_RAW));
    }
    return older;
}

int exp_row_fill(json_t *row, const json_t *made)
{
    const double before = exp_number_at(row, ROW_P_RAW), now = exp_number_at(made, ROW_P_RAW);
    if (isnan(before) != isnan(now) || fabs(before - now) > 1e-6 * fabs(before)) return 0;
    for (size_t i = ROW_PM; i < ROW_COLUMNS; i++) json_array_set(row, i, json_array_get(made, i));
    return 1;
}

/* ---- Keeping ---- */

void exp_rows_remove(json_t *rows, const exp_piece *piece)
{
    for (size_t i = json_array_size(rows); i-- > 0;)
        if (is_row_of(json_array_get(rows, i), piece->set->name, piece->row->method, piece->seed))
            json_array_remove(rows, i);
}

/* Place in the specification; names that it does not know come last. */
static long set_rank(const char *name)
{
    const exp_table_set *set = exp_table_set_find(name);
    return set ? (long)(set - exp_table_sets) : 1000;
}

static long method_rank(const char *name)
{
    const exp_method *method = exp_method_find(name);
    return method ? (long)(method - exp_methods) : 1000;
}

static int is_before(const json_t *a, const json_t *b)
{
    const long keys[][2] = {
        {set_rank(exp_text_at(a, ROW_SET)), set_rank(exp_text_at(b, ROW_SET))},
        {(long)json_integer_value(json_array_get(a, ROW_SEED)), (long)json_integer_value(json_array_get(b, ROW_SEED))},
        {method_rank(exp_text_at(a, ROW_METHOD)), method_rank(exp_text_at(b, ROW_METHOD))},
        {is_projected(a), is_projected(b)}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1];
    return 0;
}

void exp_rows_insert(json_t *rows, json_t *row)
{
    size_t place = json_array_size(rows);
    while (place > 0 && is_before(row, json_array_get(rows, place - 1))) place--;
    json_array_insert(rows, place, row);
}
