/* recordparts.c - what the record holds that has keys of its own, as JSON: parts of an average, rows of the search,
 * what is odd about the data, noise, inputs. See recordvalues.h. */
#include "api/recordvalues.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- Options ---- */

static json_t *write_options(const sk_options_given *list)
{
    json_t *object = json_object();
    for (size_t i = 0; i < list->count; i++)
        json_object_set_new(object, list->option[i].key, json_string(list->option[i].value));
    return object;
}

static sock_status read_options(sock_context *ctx, json_t *object, sk_options_given *list)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        SK_TRY(sk_options_given_add(ctx, list, key, json_is_string(value) ? json_string_value(value) : ""));
    }
    return SOCK_OK;
}

/* ---- Parts ---- */

/* Drifts are written as F, diffusions as A. */
static const sk_json_field part_fields[] = {
    {"kernel", TEXT, F | A, offsetof(sk_part, kernel), HERE},
    {"polished", FLAG, A, offsetof(sk_part, polished), HERE},
    {"edge", FLAG, A, offsetof(sk_part, edge), HERE},
    {"converged", FLAG, A, offsetof(sk_part, converged), HERE},
    {"share", NUMBER, F | A, offsetof(sk_part, share), HERE},
    {"l", NUMBER, F | A, offsetof(sk_part, l), HERE},
    {"lambda", NUMBER, F | A, offsetof(sk_part, lambda), HERE},
    {"dof", NUMBER, F, offsetof(sk_part, dof), HERE},
    {"score", NUMBER, F | A, offsetof(sk_part, score), HERE},
    {"relative_gap", NUMBER, A, offsetof(sk_part, relative_gap), HERE},
    {"primal", NUMBER, A, offsetof(sk_part, primal), HERE},
    {"dual", NUMBER, A, offsetof(sk_part, dual), HERE},
    {"gap", NUMBER, A, offsetof(sk_part, gap), HERE},
    {"iterations", ITERATIONS, A | OPTIONAL, offsetof(sk_part, iterations), HERE},
    {0}};

static json_t *write_parts(const sk_parts *list, unsigned fit)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, sk_json_write_object(part_fields, &list->part[i], fit));
    return array;
}

sock_status sk_parts_new(sock_context *ctx, sk_parts *list, size_t n)
{
    list->part = sk_alloc(ctx, n, sizeof *list->part);
    if (!list->part) return SOCK_ENOMEM;
    list->count = n;
    for (size_t i = 0; i < n; i++) {
        sk_part *part = &list->part[i];
        part->share = part->l = part->lambda = part->score = part->dof = (double)NAN;
        part->relative_gap = part->primal = part->dual = part->gap = (double)NAN;
        part->iterations = -1;
    }
    return SOCK_OK;
}

sock_status sk_part_name(sock_context *ctx, sk_part *part)
{
    if (!part->kernel) part->kernel = sk_strdup(ctx, "");
    if (!part->kernel) return SOCK_ENOMEM;
    part->learned = strstr(part->kernel, " learned") != NULL;
    return SOCK_OK;
}

sock_status sk_parts_read(sock_context *ctx, json_t *value, sk_parts *list)
{
    if (!json_array_size(value) || list->count) return SOCK_OK;
    SK_TRY(sk_parts_new(ctx, list, json_array_size(value)));
    for (size_t i = 0; i < list->count; i++) {
        SK_TRY(sk_json_read_object(ctx, json_array_get(value, i), part_fields, &list->part[i]));
        SK_TRY(sk_part_name(ctx, &list->part[i]));
    }
    return SOCK_OK;
}

/* ---- The table of the search ---- */

static json_t *write_curve(const sk_search_row *row)
{
    json_t *list = row->curve ? json_array() : NULL;
    for (size_t i = 0; list && i < row->places; i++)
        json_array_append_new(list, sk_json_write_numbers(2, row->curve + 2 * i));
    return list;
}

static sock_status read_curve(sock_context *ctx, json_t *value, sk_search_row *row)
{
    if (!json_is_array(value) || row->curve) return SOCK_OK;
    row->curve = sk_doubles(ctx, json_array_size(value), 2);
    if (!row->curve) return SOCK_ENOMEM;
    row->places = json_array_size(value);
    for (size_t i = 0; i < 2 * row->places; i++)
        row->curve[i] = json_number_value(json_array_get(json_array_get(value, i / 2), i % 2));
    return SOCK_OK;
}

static const sk_json_field row_fields[] = {{"stage", TEXT, TUNED, offsetof(sk_search_row, stage), HERE},
                                           {"field", TEXT, TUNED, offsetof(sk_search_row, field), HERE},
                                           {"kernel", TEXT, TUNED, offsetof(sk_search_row, kernel), HERE},
                                           {"l", NUMBER, TUNED, offsetof(sk_search_row, l), HERE},
                                           {"lambda", NUMBER, PAPER, offsetof(sk_search_row, lambda), HERE},
                                           {"score", NUMBER, SEARCH, offsetof(sk_search_row, score), HERE},
                                           {"edge", FLAG, TUNED, offsetof(sk_search_row, edge), HERE},
                                           {"score", NUMBER, PAPER, offsetof(sk_search_row, score), HERE},
                                           {"by_l", CURVE, SEARCH | OPTIONAL, 0, HERE},
                                           {0}};

static json_t *write_rows(const sk_search_table *table, unsigned fit)
{
    json_t *array = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_append_new(array, sk_json_write_object(row_fields, &table->row[i], fit));
    return array;
}

static sock_status read_rows(sock_context *ctx, json_t *value, sk_search_table *table)
{
    size_t i;
    json_t *entry;
    json_array_foreach(value, i, entry)
    {
        sk_search_row *row = sk_search_table_add(ctx, table, sk_json_text(entry, "stage"), sk_json_text(entry, "field"),
                                                 sk_json_text(entry, "kernel"));
        if (!row) return SOCK_ENOMEM;
        SK_TRY(sk_json_read_object(ctx, entry, row_fields, row));
    }
    return SOCK_OK;
}

/* ---- The data ---- */

static const sk_json_field data_fields[] = {
    {"source", TEXT, ALL, offsetof(sk_provenance, source), HERE},
    {"hash", TEXT, ALL, offsetof(sk_provenance, hash), HERE},
    {"states_hash", TEXT, ALL | OPTIONAL, offsetof(sk_provenance, states_hash), HERE},
    {"trajectories", COUNT, ALL, offsetof(sk_provenance, trajectories), HERE},
    {"groups", COUNT, ALL, offsetof(sk_provenance, groups), HERE},
    {"time_unit", TEXT, ALL | OPTIONAL, offsetof(sk_provenance, time_unit), HERE},
    {0}};

/* ---- What is odd about them ---- */

static const sk_json_field wild_fields[] = {{"trajectory", TEXT, ALL, offsetof(sk_wild_told, trajectory), HERE},
                                            {"time", NUMBER, ALL, offsetof(sk_wild_told, time), HERE},
                                            {"state", TEXT, ALL, offsetof(sk_wild_told, state), HERE},
                                            {"from", NUMBER, ALL, offsetof(sk_wild_told, from), HERE},
                                            {"to", NUMBER, ALL, offsetof(sk_wild_told, to), HERE},
                                            {"deviations", NUMBER, ALL, offsetof(sk_wild_told, deviations), HERE},
                                            {0}};

static const sk_json_field code_fields[] = {{"state", TEXT, ALL, offsetof(sk_code_told, state), HERE},
                                            {"value", NUMBER, ALL, offsetof(sk_code_told, value), HERE},
                                            {"count", COUNT, ALL, offsetof(sk_code_told, count), HERE},
                                            {0}};

static json_t *write_odd(const sk_oddities *odd, bool wild, unsigned fit)
{
    json_t *list = (wild ? odd->wilds : odd->codes) ? json_array() : NULL;
    for (size_t i = 0; list && wild && i < odd->wilds; i++)
        json_array_append_new(list, sk_json_write_object(wild_fields, &odd->wild[i], fit));
    for (size_t i = 0; list && !wild && i < odd->codes; i++)
        json_array_append_new(list, sk_json_write_object(code_fields, &odd->code[i], fit));
    return list;
}

static sock_status read_wild(sock_context *ctx, json_t *value, sk_oddities *odd)
{
    if (!json_array_size(value) || odd->wild) return SOCK_OK;
    odd->wild = sk_alloc(ctx, json_array_size(value), sizeof *odd->wild);
    if (!odd->wild) return SOCK_ENOMEM;
    odd->wilds = json_array_size(value);
    for (size_t i = 0; i < odd->wilds; i++)
        SK_TRY(sk_json_read_object(ctx, json_array_get(value, i), wild_fields, &odd->wild[i]));
    return SOCK_OK;
}

static sock_status read_codes(sock_context *ctx, json_t *value, sk_oddities *odd)
{
    if (!json_array_size(value) || odd->code) return SOCK_OK;
    odd->code = sk_alloc(ctx, json_array_size(value), sizeof *odd->code);
    if (!odd->code) return SOCK_ENOMEM;
    odd->codes = json_array_size(value);
    for (size_t i = 0; i < odd->codes; i++)
        SK_TRY(sk_json_read_object(ctx, json_array_get(value, i), code_fields, &odd->code[i]));
    return SOCK_OK;
}

/* ---- Noise ---- */

static const sk_json_field noise_fields[] = {{"mode", TEXT, SEARCH, offsetof(sk_noise_told, mode), HERE},
                                             {"used", FLAG, SEARCH, offsetof(sk_noise_told, used), HERE},
                                             {"states", LINES, SEARCH, offsetof(sk_noise_told, states), HERE},
                                             {"R", MATRIX, SEARCH, offsetof(sk_noise_told, r), HERE},
                                             {"R_se", NUMBERS, SEARCH, offsetof(sk_noise_told, r_error), HERE},
                                             {"sd", NUMBERS, SEARCH, offsetof(sk_noise_told, sd), HERE},
                                             {"z", NUMBERS, SEARCH, offsetof(sk_noise_told, z), HERE},
                                             {"gain", NUMBER, SEARCH, offsetof(sk_noise_told, gain), HERE},
                                             {"gain_se", NUMBER, SEARCH, offsetof(sk_noise_told, gain_error), HERE},
                                             {"iterations", COUNT, SEARCH, offsetof(sk_noise_told, iterations), HERE},
                                             {"substeps", COUNT, SEARCH, offsetof(sk_noise_told, substeps), HERE},
                                             {"reason", TEXT, SEARCH, offsetof(sk_noise_told, reason), HERE},
                                             {0}};

static json_t *write_noise(const sk_noise_told *told, unsigned fit)
{
    return told->mode ? sk_json_write_object(noise_fields, told, fit) : NULL;
}

/* ---- Inputs ---- */

static const sk_json_field input_fields[] = {{"name", TEXT, SEARCH, offsetof(sk_input_told, name), HERE},
                                             {"hold", TEXT, SEARCH, offsetof(sk_input_told, hold), HERE},
                                             {"gain_f", NUMBER, SEARCH, offsetof(sk_input_told, gain_f), HERE},
                                             {"gain_a", NUMBER, SEARCH, offsetof(sk_input_told, gain_a), HERE},
                                             {"in_f", FLAG, SEARCH, offsetof(sk_input_told, in_f), HERE},
                                             {"in_a", FLAG, SEARCH, offsetof(sk_input_told, in_a), HERE},
                                             {0}};

static json_t *write_inputs(const sk_inputs_told *told, unsigned fit)
{
    json_t *list = told->count ? json_array() : NULL;
    for (size_t i = 0; i < told->count; i++)
        json_array_append_new(list, sk_json_write_object(input_fields, &told->input[i], fit));
    return list;
}

static sock_status read_inputs(sock_context *ctx, json_t *value, sk_inputs_told *told)
{
    if (!json_array_size(value) || told->input) return SOCK_OK;
    told->input = sk_alloc(ctx, json_array_size(value), sizeof *told->input);
    if (!told->input) return SOCK_ENOMEM;
    told->count = json_array_size(value);
    for (size_t i = 0; i < told->count; i++) {
        told->input[i].gain_f = told->input[i].gain_a = (double)NAN;
        SK_TRY(sk_json_read_object(ctx, json_array_get(value, i), input_fields, &told->input[i]));
    }
    return SOCK_OK;
}

/* ---- Any of them ---- */

json_t *sk_json_write_part(sk_json_kind what, const void *at, unsigned fit)
{
    switch (what) {
    case OPTIONS: return write_options(at);
    case DRIFTS: return write_parts(at, F);
    case DIFFUSIONS: return write_parts(at, A);
    case CURVE: return write_curve(at);
    case ROWS: return write_rows(at, fit);
    case NOISE: return write_noise(at, fit);
    case INPUTS: return write_inputs(at, fit);
    case DATA: return sk_json_write_object(data_fields, at, fit);
    case WILD: return write_odd(at, true, fit);
    case CODES: return write_odd(at, false, fit);
    default: return NULL;
    }
}

sock_status sk_json_read_part(sock_context *ctx, sk_json_kind what, json_t *value, void *at)
{
    switch (what) {
    case OPTIONS: return read_options(ctx, value, at);
    case DRIFTS:
    case DIFFUSIONS: return sk_parts_read(ctx, value, at);
    case CURVE: return read_curve(ctx, value, at);
    case ROWS: return read_rows(ctx, value, at);
    case NOISE: return sk_json_read_object(ctx, value, noise_fields, at);
    case INPUTS: return read_inputs(ctx, value, at);
    case DATA: return sk_json_read_object(ctx, value, data_fields, at);
    case WILD: return read_wild(ctx, value, at);
    case CODES: return read_codes(ctx, value, at);
    default: return SOCK_OK;
    }
}
