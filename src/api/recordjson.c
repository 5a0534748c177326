/* recordjson.c - the record as JSON. A table names its keys, in the order in which they are written (those of what lies
 * in it: recordparts.c): a key, the kind of its value, where it lies, and which fits tell it. The same rows read it
 * back. Fits of different kinds have some keys at different places, which are then rows of their own: files of equal
 * fits stay equal, byte for byte. */
#include "api/recordvalues.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- The record ---- */

#define IN(member) offsetof(sk_record, member), HERE
#define LEAD(member) offsetof(sk_part, member), DRIFT
#define BEST(member) offsetof(sk_part, member), DIFFUSION

static const sk_json_field fields[] = {
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
    {"richer", TEXT, SEARCH | OPTIONAL, IN(found.richer)},
    {"richer_gain", NUMBER, SEARCH | OPTIONAL, IN(found.richer_gain)},
    {"richer_error", NUMBER, SEARCH | OPTIONAL, IN(found.richer_error)},
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
    {"device", TEXT, ALL | OPTIONAL, IN(device)},
    {"equation", LINES, TUNED, IN(equation)},
    {"equation_part", LINES, TUNED | OPTIONAL, IN(equation_part)},
    {"equation_part_share", NUMBER, TUNED | OPTIONAL, IN(equation_part_share)},
    {"equation_weight", NUMBER, SEARCH | OPTIONAL, IN(equation_weight)},
    {"errors", LISTS, SEARCH | OPTIONAL, IN(errors)},
    {"equation_part_errors", LISTS, SEARCH | OPTIONAL, IN(equation_part_errors)},
    {"bands", FLAG, ALL, IN(bands)},
    {"bands_reason", TEXT, ALL | OPTIONAL, IN(bands_reason)},
    {"f_sup", NUMBER, ALL | OPTIONAL, IN(f_sup)},
    {"warnings", TEXTS, TUNED, IN(warnings)},
    {"warnings", LINES, PLAIN | OPTIONAL, IN(warnings)},
    {"wild_steps", POSITIVE, ALL | OPTIONAL, IN(odd.wild_steps)},
    {"wild", WILD, ALL | OPTIONAL, IN(odd)},
    {"codes", CODES, ALL | OPTIONAL, IN(odd)},
    {"followers", LINES, ALL | OPTIONAL, IN(odd.followers)},
    {"angles", LINES, ALL | OPTIONAL, IN(odd.angles)},
    {"quiet", LINES, SEARCH | OPTIONAL, IN(quiet)},
    {"clock", LINES, SEARCH | OPTIONAL, IN(clock)},
    {"bounds", LINES, ALL | OPTIONAL, IN(bounds)},
    {"order", POSITIVE, SEARCH | OPTIONAL, IN(order)},
    {"stream_sample", POSITIVE, SEARCH | OPTIONAL, IN(sample)},
    {"stream_left_out", POSITIVE, SEARCH | OPTIONAL, IN(left_out)},
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

static const void *base_of(const sk_json_field *f, const sk_record *record)
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
    for (const sk_json_field *f = fields; f->key; f++) sk_json_put(object, f, base_of(f, record), fit_of(record));
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
    SK_TRY(sk_parts_read(ctx, json_object_get(object, "drifts"), &found->drifts));
    SK_TRY(sk_parts_read(ctx, json_object_get(object, "diffusions"), &found->diffusions));
    if (!found->drifts.count && json_is_string(json_object_get(object, "drift")))
        SK_TRY(sk_parts_new(ctx, &found->drifts, 1));
    if (!found->diffusions.count && json_is_string(json_object_get(object, "diffusion")))
        SK_TRY(sk_parts_new(ctx, &found->diffusions, 1));
    const char *lead = sk_json_text(object, "drift");
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
    for (const sk_json_field *f = fields; f->key; f++)
        SK_TRY(sk_json_get(ctx, object, f, (void *)(uintptr_t)base_of(f, record)));
    for (size_t i = 0; i < record->found.drifts.count; i++) SK_TRY(sk_part_name(ctx, &record->found.drifts.part[i]));
    for (size_t i = 0; i < record->found.diffusions.count; i++)
        SK_TRY(sk_part_name(ctx, &record->found.diffusions.part[i]));
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
