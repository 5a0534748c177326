/* recordjson.c - the record as JSON: the one place that knows its keys. Tables name them, in the order in which they
 * are written: a key, the kind of its value, where it lies, and which fits tell it. The same rows read it back. Fits of
 * different kinds have some keys at different places, which are then rows of their own: files of equal fits stay equal,
 * byte for byte. */
#include "api/record.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Which fits tell a key. */
enum {
    F = 1,          /* plain, with a drift of its own */
    GIVEN = 2,      /* plain, with the drift given */
    A = 4,          /* plain, with a diffusion */
    NO_A = 8,       /* plain, without one */
    SEARCH = 16,    /* searched by the default estimator */
    PAPER = 32,     /* by the paper's protocol */
    OPTIONAL = 256, /* no null: the key is left out where there is nothing to tell */
    TUNED = SEARCH | PAPER,
    PLAIN = A | NO_A,
    ALL = TUNED | PLAIN
};

/* What lies in the record; the value of a kind is NULL where there is nothing to tell. */
typedef enum kind {
    NUMBER,     /* double; not finite: nothing */
    COUNT,      /* size_t */
    POSITIVE,   /* size_t; 0: nothing */
    ITERATIONS, /* long; below 0: nothing */
    FLAG,       /* bool */
    TEXT,       /* char *; NULL: nothing */
    PRESET,     /* bool: "paper", or nothing */
    VERDICT,    /* sk_verdict; unknown: nothing */
    NUMBERS,    /* sk_numbers; value NULL: nothing */
    MATRIX,     /* sk_numbers, n x n */
    LISTS,      /* sk_number_lists; empty: nothing */
    TEXTS,      /* sk_texts */
    LINES,      /* sk_texts; empty: nothing */
    OPTIONS,    /* sk_options_given */
    DRIFTS,     /* sk_parts */
    DIFFUSIONS, /* sk_parts */
    CURVE,      /* sk_search_row */
    ROWS,       /* sk_search_table */
    NOISE,      /* sk_noise_told; mode NULL: nothing */
    INPUTS,     /* sk_inputs_told; none: nothing */
    DATA,       /* sk_provenance */
    WILD,       /* sk_oddities; none: nothing */
    CODES       /* alike */
} kind;

typedef struct field {
    const char *key;
    kind kind;
    unsigned fits;
    size_t offset;
    enum { HERE, DRIFT, DIFFUSION } of; /* in the record, or in its leading part */
} field;

static json_t *write_value(kind what, const void *at, unsigned fit);
static sock_status read_value(sock_context *ctx, kind what, json_t *value, void *at);

static json_t *write_field(const field *f, const void *base, unsigned fit)
{
    return base ? write_value(f->kind, (const char *)base + f->offset, fit) : NULL;
}

static void put(json_t *object, const field *f, const void *base, unsigned fit)
{
    json_t *value = f->fits & fit ? write_field(f, base, fit) : NULL;
    if (!(f->fits & fit) || (!value && (f->fits & OPTIONAL))) return;
    json_object_set_new(object, f->key, value ? value : json_null());
}

static json_t *write_object(const field *fields, const void *base, unsigned fit)
{
    json_t *object = json_object();
    for (const field *f = fields; f->key; f++) put(object, f, base, fit);
    return object;
}

static sock_status get(sock_context *ctx, json_t *object, const field *f, void *base)
{
    json_t *value = json_object_get(object, f->key);
    return value && base ? read_value(ctx, f->kind, value, (char *)base + f->offset) : SOCK_OK;
}

static sock_status read_object(sock_context *ctx, json_t *object, const field *fields, void *base)
{
    for (const field *f = fields; f->key; f++) SK_TRY(get(ctx, object, f, base));
    return SOCK_OK;
}

/* ---- Lists. What is owned and stands in the tables twice is read once: what is there stays. ---- */

static json_t *write_numbers(size_t n, const double *value)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, isfinite(value[i]) ? json_real(value[i]) : json_null());
    return list;
}

static sock_status read_numbers(sock_context *ctx, json_t *value, sk_numbers *list)
{
    if (!json_is_array(value) || list->value) return SOCK_OK;
    list->value = sk_doubles(ctx, json_array_size(value), 1);
    if (!list->value) return SOCK_ENOMEM;
    list->count = json_array_size(value);
    for (size_t i = 0; i < list->count; i++) list->value[i] = json_number_value(json_array_get(value, i));
    return SOCK_OK;
}

enum { MOST_ROWS = 100 }; /* of a file that may say anything */

/* n^2 numbers, row by row. */
static json_t *write_matrix(const sk_numbers *list)
{
    size_t n = 0;
    while (n * n < list->count) n++;
    json_t *rows = list->value ? json_array() : NULL;
    for (size_t i = 0; rows && i < n; i++) json_array_append_new(rows, write_numbers(n, list->value + i * n));
    return rows;
}

static sock_status read_matrix(sock_context *ctx, json_t *value, sk_numbers *list)
{
    const size_t n = json_array_size(value);
    if (!n || n > MOST_ROWS || list->value) return SOCK_OK;
    list->value = sk_doubles(ctx, n, n);
    if (!list->value) return SOCK_ENOMEM;
    list->count = n * n;
    for (size_t i = 0; i < n * n; i++)
        list->value[i] = json_number_value(json_array_get(json_array_get(value, i / n), i % n));
    return SOCK_OK;
}

static json_t *write_lists(const sk_number_lists *lists)
{
    json_t *array = json_array();
    for (size_t i = 0; i < lists->count; i++)
        json_array_append_new(array, write_numbers(lists->list[i].count, lists->list[i].value));
    return array;
}

static sock_status read_lists(sock_context *ctx, json_t *value, sk_number_lists *lists)
{
    if (!json_is_array(value) || lists->list) return SOCK_OK;
    SK_TRY(sk_number_lists_new(ctx, json_array_size(value), lists));
    for (size_t i = 0; i < lists->count; i++) SK_TRY(read_numbers(ctx, json_array_get(value, i), &lists->list[i]));
    return SOCK_OK;
}

static json_t *write_texts(const sk_texts *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) json_array_append_new(array, json_string(list->text[i]));
    return array;
}

static sock_status read_texts(sock_context *ctx, json_t *value, sk_texts *list)
{
    if (list->count) return SOCK_OK;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *one = json_string_value(json_array_get(value, i));
        SK_TRY(sk_texts_add(ctx, list, one ? one : ""));
    }
    return SOCK_OK;
}

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
static const field part_fields[] = {{"kernel", TEXT, F | A, offsetof(sk_part, kernel), HERE},
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
        json_array_append_new(array, write_object(part_fields, &list->part[i], fit));
    return array;
}

static sock_status new_parts(sock_context *ctx, sk_parts *list, size_t n)
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

/* A part has a name, be it an empty one, and the name says whether its weights were learned. */
static sock_status name_part(sock_context *ctx, sk_part *part)
{
    if (!part->kernel) part->kernel = sk_strdup(ctx, "");
    if (!part->kernel) return SOCK_ENOMEM;
    part->learned = strstr(part->kernel, " learned") != NULL;
    return SOCK_OK;
}

static sock_status read_parts(sock_context *ctx, json_t *value, sk_parts *list)
{
    if (!json_array_size(value) || list->count) return SOCK_OK;
    SK_TRY(new_parts(ctx, list, json_array_size(value)));
    for (size_t i = 0; i < list->count; i++) {
        SK_TRY(read_object(ctx, json_array_get(value, i), part_fields, &list->part[i]));
        SK_TRY(name_part(ctx, &list->part[i]));
    }
    return SOCK_OK;
}

/* ---- The table of the search ---- */

static json_t *write_curve(const sk_search_row *row)
{
    json_t *list = row->curve ? json_array() : NULL;
    for (size_t i = 0; list && i < row->places; i++) json_array_append_new(list, write_numbers(2, row->curve + 2 * i));
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

static const field row_fields[] = {{"stage", TEXT, TUNED, offsetof(sk_search_row, stage), HERE},
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
        json_array_append_new(array, write_object(row_fields, &table->row[i], fit));
    return array;
}

static const char *text_or_none(json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

static sock_status read_rows(sock_context *ctx, json_t *value, sk_search_table *table)
{
    size_t i;
    json_t *entry;
    json_array_foreach(value, i, entry)
    {
        sk_search_row *row = sk_search_table_add(ctx, table, text_or_none(entry, "stage"), text_or_none(entry, "field"),
                                                 text_or_none(entry, "kernel"));
        if (!row) return SOCK_ENOMEM;
        SK_TRY(read_object(ctx, entry, row_fields, row));
    }
    return SOCK_OK;
}

/* ---- The data ---- */

static const field data_fields[] = {{"source", TEXT, ALL, offsetof(sk_provenance, source), HERE},
                                    {"hash", TEXT, ALL, offsetof(sk_provenance, hash), HERE},
                                    {"trajectories", COUNT, ALL, offsetof(sk_provenance, trajectories), HERE},
                                    {"groups", COUNT, ALL, offsetof(sk_provenance, groups), HERE},
                                    {"time_unit", TEXT, ALL | OPTIONAL, offsetof(sk_provenance, time_unit), HERE},
                                    {0}};

/* ---- What is odd about them ---- */

static const field wild_fields[] = {{"trajectory", TEXT, ALL, offsetof(sk_wild_told, trajectory), HERE},
                                    {"time", NUMBER, ALL, offsetof(sk_wild_told, time), HERE},
                                    {"state", TEXT, ALL, offsetof(sk_wild_told, state), HERE},
                                    {"from", NUMBER, ALL, offsetof(sk_wild_told, from), HERE},
                                    {"to", NUMBER, ALL, offsetof(sk_wild_told, to), HERE},
                                    {"deviations", NUMBER, ALL, offsetof(sk_wild_told, deviations), HERE},
                                    {0}};

static const field code_fields[] = {{"state", TEXT, ALL, offsetof(sk_code_told, state), HERE},
                                    {"value", NUMBER, ALL, offsetof(sk_code_told, value), HERE},
                                    {"count", COUNT, ALL, offsetof(sk_code_told, count), HERE},
                                    {0}};

static json_t *write_odd(const sk_oddities *odd, bool wild, unsigned fit)
{
    json_t *list = (wild ? odd->wilds : odd->codes) ? json_array() : NULL;
    for (size_t i = 0; list && wild && i < odd->wilds; i++)
        json_array_append_new(list, write_object(wild_fields, &odd->wild[i], fit));
    for (size_t i = 0; list && !wild && i < odd->codes; i++)
        json_array_append_new(list, write_object(code_fields, &odd->code[i], fit));
    return list;
}

static sock_status read_wild(sock_context *ctx, json_t *value, sk_oddities *odd)
{
    if (!json_array_size(value) || odd->wild) return SOCK_OK;
    odd->wild = sk_alloc(ctx, json_array_size(value), sizeof *odd->wild);
    if (!odd->wild) return SOCK_ENOMEM;
    odd->wilds = json_array_size(value);
    for (size_t i = 0; i < odd->wilds; i++)
        SK_TRY(read_object(ctx, json_array_get(value, i), wild_fields, &odd->wild[i]));
    return SOCK_OK;
}

static sock_status read_codes(sock_context *ctx, json_t *value, sk_oddities *odd)
{
    if (!json_array_size(value) || odd->code) return SOCK_OK;
    odd->code = sk_alloc(ctx, json_array_size(value), sizeof *odd->code);
    if (!odd->code) return SOCK_ENOMEM;
    odd->codes = json_array_size(value);
    for (size_t i = 0; i < odd->codes; i++)
        SK_TRY(read_object(ctx, json_array_get(value, i), code_fields, &odd->code[i]));
    return SOCK_OK;
}

/* ---- Noise ---- */

static const field noise_fields[] = {{"mode", TEXT, SEARCH, offsetof(sk_noise_told, mode), HERE},
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
    return told->mode ? write_object(noise_fields, told, fit) : NULL;
}

/* ---- Inputs ---- */

static const field input_fields[] = {{"name", TEXT, SEARCH, offsetof(sk_input_told, name), HERE},
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
        json_array_append_new(list, write_object(input_fields, &told->input[i], fit));
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
        SK_TRY(read_object(ctx, json_array_get(value, i), input_fields, &told->input[i]));
    }
    return SOCK_OK;
}

/* ---- Any value ---- */

static json_t *write_value(kind what, const void *at, unsigned fit)
{
    const sk_numbers *list = at;
    const sk_number_lists *lists = at;
    const sk_texts *lines = at;
    char *const *text = at;
    switch (what) {
    case NUMBER: return isfinite(*(const double *)at) ? json_real(*(const double *)at) : NULL;
    case COUNT: return json_integer((json_int_t) * (const size_t *)at);
    case POSITIVE: return *(const size_t *)at ? json_integer((json_int_t) * (const size_t *)at) : NULL;
    case ITERATIONS: return *(const long *)at >= 0 ? json_integer(*(const long *)at) : NULL;
    case FLAG: return json_boolean(*(const bool *)at);
    case TEXT: return *text ? json_string(*text) : NULL;
    case PRESET: return *(const bool *)at ? json_string("paper") : NULL;
    case VERDICT: return json_string(sk_verdict_name(*(const sk_verdict *)at));
    case MATRIX: return write_matrix(at);
    case NUMBERS: return list->value ? write_numbers(list->count, list->value) : NULL;
    case LISTS: return lists->count ? write_lists(lists) : NULL;
    case TEXTS: return write_texts(lines);
    case LINES: return lines->count ? write_texts(lines) : NULL;
    case OPTIONS: return write_options(at);
    case DRIFTS: return write_parts(at, F);
    case DIFFUSIONS: return write_parts(at, A);
    case CURVE: return write_curve(at);
    case ROWS: return write_rows(at, fit);
    case NOISE: return write_noise(at, fit);
    case INPUTS: return write_inputs(at, fit);
    case DATA: return write_object(data_fields, at, fit);
    case WILD: return write_odd(at, true, fit);
    case CODES: return write_odd(at, false, fit);
    }
    return NULL;
}

static sock_status read_text(sock_context *ctx, json_t *value, char **text)
{
    if (!json_is_string(value) || *text) return SOCK_OK;
    *text = sk_strdup(ctx, json_string_value(value));
    return *text ? SOCK_OK : SOCK_ENOMEM;
}

/* What is of the wrong type changes nothing. */
static sock_status read_value(sock_context *ctx, kind what, json_t *value, void *at)
{
    const bool natural = json_is_integer(value) && json_integer_value(value) >= 0;
    switch (what) {
    case NUMBER:
        if (json_is_number(value)) *(double *)at = json_number_value(value);
        return SOCK_OK;
    case COUNT:
    case POSITIVE:
        if (natural) *(size_t *)at = (size_t)json_integer_value(value);
        return SOCK_OK;
    case ITERATIONS:
        if (natural) *(long *)at = (long)json_integer_value(value);
        return SOCK_OK;
    case FLAG:
        if (json_is_boolean(value)) *(bool *)at = json_is_true(value);
        return SOCK_OK;
    case PRESET: *(bool *)at = json_string_length(value) > 0; return SOCK_OK;
    case VERDICT: *(sk_verdict *)at = sk_verdict_of(json_string_value(value)); return SOCK_OK;
    case TEXT: return read_text(ctx, value, at);
    case MATRIX: return read_matrix(ctx, value, at);
    case NUMBERS: return read_numbers(ctx, value, at);
    case LISTS: return read_lists(ctx, value, at);
    case TEXTS:
    case LINES: return read_texts(ctx, value, at);
    case OPTIONS: return read_options(ctx, value, at);
    case DRIFTS:
    case DIFFUSIONS: return read_parts(ctx, value, at);
    case CURVE: return read_curve(ctx, value, at);
    case ROWS: return read_rows(ctx, value, at);
    case NOISE: return read_object(ctx, value, noise_fields, at);
    case INPUTS: return read_inputs(ctx, value, at);
    case DATA: return read_object(ctx, value, data_fields, at);
    case WILD: return read_wild(ctx, value, at);
    case CODES: return read_codes(ctx, value, at);
    }
    return SOCK_OK;
}

/* ---- The record ---- */

#define IN(member) offsetof(sk_record, member), HERE
#define LEAD(member) offsetof(sk_part, member), DRIFT
#define BEST(member) offsetof(sk_part, member), DIFFUSION

static const field fields[] = {
    {"tuned", FLAG, TUNED, IN(tuned)},
    {"preset", PRESET, PAPER, IN(found.paper)},
    {"drift", TEXT, ALL, LEAD(kernel)},
    {"drift_l", NUMBER, TUNED, LEAD(l)},
    {"drift_lambda", NUMBER, TUNED | F, LEAD(lambda)},
    {"drifts", DRIFTS, SEARCH, IN(found.drifts)},
    {"drift_form", TEXT, F, IN(found.drift_form)},
    {"drift_path", TEXT, F, IN(drift_path)},
    {"drift_rank", COUNT, F, IN(found.drift_rank)},
    {"drift_dof", NUMBER, TUNED | F, IN(found.drift_dof)},
    {"drift_rank", COUNT, TUNED, IN(found.drift_rank)},
    {"drift_edge", FLAG, TUNED, LEAD(edge)},
    {"drift_form", TEXT, PAPER, IN(found.drift_form)},
    {"search_landmarks", POSITIVE, PAPER, IN(found.landmarks)},
    {"rounds", COUNT, PAPER, IN(found.rounds)},
    {"search_rows", COUNT, PAPER, IN(found.search_rows)},
    {"search_tolerance", NUMBER, PAPER, IN(found.search_tolerance)},
    {"delta", NUMBER, PAPER, IN(found.delta)},
    {"drift_score", NUMBER, TUNED, LEAD(score)},
    {"drift_best", TEXT, SEARCH, IN(found.drift_best)},
    {"diffusion", TEXT, ALL, BEST(kernel)},
    {"diffusion_lambda", NUMBER, A, BEST(lambda)},
    {"diffusion_form", TEXT, A, IN(diffusion_form)},
    {"diagonal", FLAG, A, IN(diagonal)},
    {"features", COUNT, A, IN(features)},
    {"features_complete", FLAG, A, IN(features_complete)},
    {"rank", COUNT, A, IN(rank)},
    {"solver", TEXT, A, IN(solver)},
    {"tolerance", NUMBER, A, IN(tolerance)},
    {"primal", NUMBER, A, IN(certificate.primal)},
    {"dual", NUMBER, A, IN(certificate.dual)},
    {"gap", NUMBER, A, IN(certificate.gap)},
    {"relative_gap", NUMBER, A, IN(certificate.relative_gap)},
    {"iterations", ITERATIONS, A, IN(certificate.iterations)},
    {"converged", FLAG, A, IN(certificate.converged)},
    {"diffusions", DIFFUSIONS, TUNED, IN(found.diffusions)},
    {"floor", NUMBERS, TUNED, IN(found.floor)},
    {"scale", NUMBERS, PAPER, IN(found.scale)},
    {"score", NUMBER, TUNED, IN(found.score)},
    {"score_constant", NUMBER, TUNED, IN(found.score_constant)},
    {"gain_error", NUMBER, TUNED, IN(found.gain_error)},
    {"against_constant", VERDICT, TUNED, IN(against_constant)},
    {"calibration", NUMBER, SEARCH, IN(found.calibration)},
    {"noise", NOISE, SEARCH | OPTIONAL, IN(found.noise)},
    {"inputs", INPUTS, SEARCH | OPTIONAL, IN(found.inputs)},
    {"folds", COUNT, TUNED, IN(found.folds)},
    {"steps", COUNT, TUNED, IN(found.steps)},
    {"limited", FLAG, TUNED, IN(found.limited)},
    {"skipped", COUNT, PAPER, IN(found.skipped)},
    {"left_out", TEXTS, TUNED, IN(found.left_out)},
    {"skipped", COUNT, SEARCH, IN(found.skipped)},
    {"search", ROWS, TUNED, IN(found.search)},
    {"scale", NUMBERS, SEARCH, IN(found.scale)},
    {"centre", NUMBERS, SEARCH, IN(found.centre)},
    {"diffusion_lambda", NUMBER, TUNED, BEST(lambda)},
    {"relative_gap", NUMBER, TUNED, IN(certificate.relative_gap)},
    {"converged", FLAG, TUNED, IN(certificate.converged)},
    {"rank", COUNT, TUNED, IN(rank)},
    {"primal", NUMBER, TUNED, IN(certificate.primal)},
    {"primal_reason", TEXT, TUNED | OPTIONAL, IN(certificate.reason)},
    {"dual", NUMBER, TUNED, IN(certificate.dual)},
    {"dual_reason", TEXT, TUNED | OPTIONAL, IN(certificate.reason)},
    {"gap", NUMBER, TUNED, IN(certificate.gap)},
    {"gap_reason", TEXT, TUNED | OPTIONAL, IN(certificate.reason)},
    {"iterations", ITERATIONS, TUNED, IN(certificate.iterations)},
    {"iterations_reason", TEXT, TUNED | OPTIONAL, IN(certificate.iterations_reason)},
    {"drift_lambda_reason", TEXT, TUNED | OPTIONAL, IN(lambda_reason)},
    {"quadrature", TEXT, ALL, IN(quadrature)},
    {"n", COUNT, ALL, IN(n)},
    {"points", COUNT, ALL, IN(points)},
    {"d", COUNT, ALL, IN(d)},
    {"rank", COUNT, NO_A, IN(rank)},
    {"status", TEXT, ALL, IN(status)},
    {"options", OPTIONS, ALL, IN(options)},
    {"data", DATA, ALL, IN(data)},
    {"version", TEXT, ALL, IN(version)},
    {"equation", LINES, TUNED, IN(equation)},
    {"equation_part", LINES, TUNED | OPTIONAL, IN(equation_part)},
    {"equation_part_share", NUMBER, TUNED | OPTIONAL, IN(equation_part_share)},
    {"errors", LISTS, SEARCH | OPTIONAL, IN(errors)},
    {"equation_part_errors", LISTS, SEARCH | OPTIONAL, IN(equation_part_errors)},
    {"bands", FLAG, ALL, IN(bands)},
    {"bands_reason", TEXT, ALL | OPTIONAL, IN(bands_reason)},
    {"f_sup", NUMBER, SEARCH | OPTIONAL, IN(f_sup)},
    {"warnings", TEXTS, TUNED, IN(warnings)},
    {"warnings", LINES, PLAIN | OPTIONAL, IN(warnings)},
    {"wild_steps", POSITIVE, ALL | OPTIONAL, IN(odd.wild_steps)},
    {"wild", WILD, ALL | OPTIONAL, IN(odd)},
    {"codes", CODES, ALL | OPTIONAL, IN(odd)},
    {"quiet", LINES, SEARCH | OPTIONAL, IN(quiet)},
    {"bounds", LINES, ALL | OPTIONAL, IN(bounds)},
    {"absorbed_steps", POSITIVE, SEARCH | OPTIONAL, IN(absorbed)},
    {"diffusion_equation", TEXT, SEARCH | OPTIONAL, IN(diffusion_equation)},
    {"diffusion_equation_share", NUMBER, SEARCH | OPTIONAL, IN(diffusion_equation_share)},
    {"score_loglik", NUMBER, SEARCH | OPTIONAL, IN(found.loglik)},
    {"jitter", NUMBERS, SEARCH | OPTIONAL, IN(found.jitter)},
    {"grain", NUMBERS, SEARCH | OPTIONAL, IN(found.grain)},
    {"residual_lag1", NUMBER, TUNED, IN(residual_lag1)},
    {"verdict", TEXT, TUNED | OPTIONAL, IN(verdict)},
    {"advice", TEXT, TUNED | OPTIONAL, IN(advice)},
    {"pattern", TEXT, TUNED | OPTIONAL, IN(pattern)},
    {"objections", LINES, TUNED | OPTIONAL, IN(objections)},
    {0},
};

const char *sk_record_key(size_t i) { return i < sizeof fields / sizeof *fields ? fields[i].key : NULL; }

static const void *base_of(const field *f, const sk_record *record)
{
    return f->of == DRIFT       ? (const void *)sk_record_drift(record)
           : f->of == DIFFUSION ? (const void *)sk_record_diffusion(record)
                                : record;
}

/* ---- Write ---- */

static unsigned fit_of(const sk_record *record)
{
    const sk_part *drift = sk_record_drift(record);
    if (record->tuned) return record->found.paper ? PAPER : SEARCH;
    return (drift && strcmp(drift->kernel, "given") != 0 ? F : GIVEN) | (sk_record_diffusion(record) ? A : NO_A);
}

/* Seconds of the fits of each stage, added up; fits side by side in several threads count each. */
static json_t *stage_seconds(const sk_search_table *table)
{
    json_t *stages = json_object();
    for (size_t i = 0; i < table->count; i++) {
        const sk_search_row *row = &table->row[i];
        double before = json_number_value(json_object_get(stages, row->stage));
        json_object_set_new(stages, row->stage, json_real(before + row->seconds));
    }
    return stages;
}

static json_t *write_seconds(const sk_record *record)
{
    const sk_search_table *table = &record->found.search;
    json_t *object = json_object(), *each = json_array();
    for (size_t i = 0; i < record->phases; i++)
        json_object_set_new(object, record->phase[i].name, json_real(record->phase[i].seconds));
    for (size_t i = 0; i < table->count; i++) json_array_append_new(each, json_real(table->row[i].seconds));
    if (record->tuned) {
        json_object_set(object, "search", each);
        json_object_set_new(object, "stages", stage_seconds(table));
    }
    json_object_set_new(object, "total", json_real(record->seconds));
    json_decref(each);
    return object;
}

/* Takes the object over. */
static char *dump(sock_context *ctx, json_t *object)
{
    char *made = json_dumps(object, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    char *copy = made ? sk_strdup(ctx, made) : NULL;
    if (!made) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the information of the model could not be written");
    json_decref(object);
    free(made);
    return copy;
}

sock_status sk_record_write(sock_context *ctx, const sk_record *record, char **info, char **seconds)
{
    SK_TRY(sk_reserve(ctx, (record->tuned ? 4 : 1) * (size_t)SK_JSON_SMALL)); /* 4: with the table of the search */
    json_t *object = json_object();
    for (const field *f = fields; f->key; f++) put(object, f, base_of(f, record), fit_of(record));
    char *told = dump(ctx, object), *times = told ? dump(ctx, write_seconds(record)) : NULL;
    if (!times) {
        sk_free(told);
        return SOCK_ENOMEM;
    }
    *info = told;
    *seconds = times;
    return SOCK_OK;
}

/* ---- Read ---- */

/* The parts: those of the lists, or the one that a key names. */
static sock_status read_choice(sock_context *ctx, json_t *object, sk_tune_outcome *found)
{
    SK_TRY(read_parts(ctx, json_object_get(object, "drifts"), &found->drifts));
    SK_TRY(read_parts(ctx, json_object_get(object, "diffusions"), &found->diffusions));
    if (!found->drifts.count && json_is_string(json_object_get(object, "drift")))
        SK_TRY(new_parts(ctx, &found->drifts, 1));
    if (!found->diffusions.count && json_is_string(json_object_get(object, "diffusion")))
        SK_TRY(new_parts(ctx, &found->diffusions, 1));
    const char *lead = text_or_none(object, "drift");
    for (size_t i = 0; i < found->drifts.count; i++)
        if (found->drifts.part[i].kernel && strcmp(found->drifts.part[i].kernel, lead) == 0) {
            found->lead = i;
            break;
        }
    return SOCK_OK;
}

/* A part that stands alone, without a list: what is told of the whole is told of it. */
static void fill_parts(json_t *object, sk_record *record)
{
    sk_parts *f = &record->found.drifts, *a = &record->found.diffusions;
    const sk_certificate *c = &record->certificate;
    if (f->count && !json_array_size(json_object_get(object, "drifts"))) {
        f->part->share = 1;
        f->part->dof = record->found.drift_dof;
    }
    if (!a->count || json_array_size(json_object_get(object, "diffusions"))) return;
    a->part->share = 1;
    a->part->converged = c->converged;
    a->part->relative_gap = c->relative_gap;
}

static void read_seconds(json_t *object, sk_record *record)
{
    sk_search_table *table = &record->found.search;
    json_t *each = json_object_get(object, "search"), *total = json_object_get(object, "total");
    for (size_t i = 0; i < table->count; i++) table->row[i].seconds = json_number_value(json_array_get(each, i));
    if (json_is_number(total)) record->seconds = json_number_value(total);
}

static sock_status read_all(sock_context *ctx, json_t *object, sk_record *record)
{
    SK_TRY(read_choice(ctx, object, &record->found));
    for (const field *f = fields; f->key; f++) SK_TRY(get(ctx, object, f, (void *)(uintptr_t)base_of(f, record)));
    for (size_t i = 0; i < record->found.drifts.count; i++) SK_TRY(name_part(ctx, &record->found.drifts.part[i]));
    for (size_t i = 0; i < record->found.diffusions.count; i++)
        SK_TRY(name_part(ctx, &record->found.diffusions.part[i]));
    fill_parts(object, record);
    read_seconds(json_object_get(object, "seconds"), record);
    return SOCK_OK;
}

sock_status sk_record_read(sock_context *ctx, const char *info, sk_record *record)
{
    sk_record_init(record);
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * strlen(info) + SK_JSON_SMALL));
    json_t *object = json_loads(info, 0, NULL);
    if (!object) return sk_fail(ctx, SOCK_EINPUT, "the information of the model is no JSON object");
    sock_status status = read_all(ctx, object, record);
    json_decref(object);
    return status;
}

sock_status sk_record_of_model(sock_context *ctx, const sock_model *model, sk_record *record)
{
    char *info = NULL;
    sk_record_init(record);
    SK_TRY(sock_model_info(ctx, model, &info));
    sock_status status = sk_record_read(ctx, info, record);
    sock_string_free(info);
    return status;
}
