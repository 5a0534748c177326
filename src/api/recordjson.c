/* recordjson.c - what a fit tells of itself, as JSON. */
#include "api/record.h"

#include <math.h>

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }
static json_t *count(size_t value) { return json_integer((json_int_t)value); }

static void put_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, number(value));
}

static void put_count(json_t *object, const char *key, size_t value) { json_object_set_new(object, key, count(value)); }

static json_t *numbers(size_t n, const double *value)
{
    json_t *list = value ? json_array() : json_null();
    for (size_t i = 0; value && i < n; i++) json_array_append_new(list, number(value[i]));
    return list;
}

static json_t *drift_part(const sk_part *part)
{
    json_t *entry = json_pack("{s:s}", "kernel", part->kernel);
    put_number(entry, "share", part->share);
    put_number(entry, "l", part->l);
    put_number(entry, "lambda", part->lambda);
    put_number(entry, "dof", part->dof);
    put_number(entry, "score", part->score);
    return entry;
}

static json_t *diffusion_part(const sk_part *part)
{
    json_t *entry = json_pack("{s:s, s:b, s:b, s:b}", "kernel", part->kernel, "polished", part->polished, "edge",
                              part->edge, "converged", part->converged);
    put_number(entry, "share", part->share);
    put_number(entry, "l", part->l);
    put_number(entry, "lambda", part->lambda);
    put_number(entry, "score", part->score);
    put_number(entry, "relative_gap", part->relative_gap);
    put_number(entry, "primal", part->primal);
    put_number(entry, "dual", part->dual);
    put_number(entry, "gap", part->gap);
    if (part->iterations >= 0) put_count(entry, "iterations", (size_t)part->iterations);
    return entry;
}

static json_t *parts(size_t n, const sk_part *part, json_t *(*write)(const sk_part *part))
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, write(&part[i]));
    return list;
}

static json_t *row_json(const sk_search_row *row, bool paper)
{
    json_t *entry = json_pack("{s:s, s:s, s:s}", "stage", row->stage, "field", row->field, "kernel", row->kernel);
    put_number(entry, "l", row->l);
    if (paper) put_number(entry, "lambda", row->lambda);
    if (!paper) put_number(entry, "score", row->score);
    json_object_set_new(entry, "edge", json_boolean(row->edge));
    if (paper) put_number(entry, "score", row->score);
    json_t *curve = row->curve ? json_array() : NULL;
    for (size_t i = 0; curve && i < row->places; i++) json_array_append_new(curve, numbers(2, row->curve + 2 * i));
    if (curve) json_object_set_new(entry, "by_l", curve);
    return entry;
}

static void put_search(const sk_tune_outcome *told, json_t *report)
{
    json_t *rows = json_array(), *times = json_array();
    for (size_t i = 0; i < told->search.count; i++) {
        json_array_append_new(rows, row_json(&told->search.row[i], told->paper));
        json_array_append_new(times, json_real(told->search.row[i].seconds));
    }
    json_object_set_new(report, "search", rows);
    json_object_set_new(report, "search_seconds", times);
}

static void put_paper(const sk_tune_outcome *told, json_t *report)
{
    json_object_set_new(report, "drift_form", json_string(told->drift_form));
    json_object_set_new(report, "search_landmarks", told->landmarks ? count(told->landmarks) : json_null());
    put_count(report, "rounds", told->rounds);
    put_count(report, "search_rows", told->search_rows);
    put_number(report, "search_tolerance", told->search_tolerance);
    put_number(report, "delta", told->delta);
}

static void put_drift(const sk_tune_outcome *told, json_t *report)
{
    const sk_part *lead = &told->drift[told->lead];
    json_object_set_new(report, "drift", json_string(lead->kernel));
    put_number(report, "drift_l", lead->l);
    put_number(report, "drift_lambda", lead->lambda);
    if (!told->paper) json_object_set_new(report, "drifts", parts(told->drifts, told->drift, drift_part));
    put_number(report, "drift_dof", told->drift_dof);
    put_count(report, "drift_rank", told->drift_rank);
    json_object_set_new(report, "drift_edge", json_boolean(lead->edge));
    if (told->paper) put_paper(told, report);
    put_number(report, "drift_score", lead->score);
    if (told->drift_best) json_object_set_new(report, "drift_best", json_string(told->drift_best));
}

json_t *sk_outcome_json(const sk_tune_outcome *told)
{
    json_t *report = json_object(), *left_out = json_array();
    for (size_t i = 0; i < told->stages; i++) json_array_append_new(left_out, json_string(told->left_out[i]));
    json_object_set_new(report, "tuned", json_true());
    if (told->paper) json_object_set_new(report, "preset", json_string("paper"));
    put_drift(told, report);
    json_object_set_new(report, "diffusion", json_string(told->diffusion[0].kernel));
    json_object_set_new(report, "diffusions", parts(told->diffusions, told->diffusion, diffusion_part));
    json_object_set_new(report, "floor", numbers(told->d, told->floor));
    if (told->paper) json_object_set_new(report, "scale", json_null());
    put_number(report, "score", told->score);
    put_number(report, "score_constant", told->score_constant);
    if (!told->paper) put_number(report, "calibration", told->calibration);
    put_count(report, "folds", told->folds);
    put_count(report, "steps", told->steps);
    json_object_set_new(report, "limited", json_boolean(told->limited));
    if (told->paper) put_count(report, "skipped", told->skipped);
    json_object_set_new(report, "left_out", left_out);
    if (!told->paper) put_count(report, "skipped", told->skipped);
    put_search(told, report);
    if (!told->paper) json_object_set_new(report, "scale", numbers(told->d, told->scale));
    return report;
}
