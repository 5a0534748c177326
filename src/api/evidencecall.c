/* evidencecall.c - sock_evidence: what is given is looked at, check/binned.c does the work; its table as JSON. */
#include "api/checkcall.h"
#include "check/binned.h"
#include "check/checkrules.h"
#include "data/absorbed.h"
#include "tune/policy.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* The columns of the table, those of f before those of a. */
static const char *const keys[] = {"x",       "f_shift", "f_se",  "f_raw",    "f_raw_se",  "f_expected",
                                   "a_shift", "a_se",    "a_raw", "a_raw_se", "a_expected"};
enum { COLUMNS = sizeof keys / sizeof *keys };

static double value_of(const sk_bin *b, size_t column)
{
    const double row[COLUMNS] = {b->x, b->f,    b->f_se,  b->raw_f,    b->raw_f_se, b->model_f,
                                 b->a, b->a_se, b->raw_a, b->raw_a_se, b->model_a};
    return row[column];
}

static json_t *binned_object(const sock_model *model, const sk_binned *b)
{
    json_t *count = json_array();
    json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:f, s:o}", "state", model->structure->state[b->state], "index",
                               (json_int_t)b->state, "every", (json_int_t)b->every, "steps", (json_int_t)b->steps, "h",
                               b->h, "n", count);
    for (size_t i = 0; i < b->bins; i++) json_array_append_new(count, json_integer((json_int_t)b->bin[i].n));
    for (size_t c = 0; object && c < COLUMNS; c++) {
        if (keys[c][0] == 'a' && !model->has_diffusion) continue;
        json_t *list = json_array();
        for (size_t i = 0; i < b->bins; i++) json_array_append_new(list, number(value_of(&b->bin[i], c)));
        json_object_set_new(object, keys[c], list);
    }
    return object;
}

/* A number of each box for the one state and for the other: column c of the table. */
static json_t *both_states(const sk_boxed *p, size_t c)
{
    json_t *both = json_array();
    for (size_t w = 0; w < 2; w++) {
        json_t *list = json_array();
        for (size_t b = 0; b < p->boxes; b++) json_array_append_new(list, number(value_of(&p->bin[2 * b + w], c)));
        json_array_append_new(both, list);
    }
    return both;
}

static json_t *plane_object(const sock_model *model, const sk_boxed *p)
{
    json_t *count = json_array(), *centre = json_array(), *together = json_array(), *reach = json_array(),
           *chance = json_array();
    for (size_t b = 0; b < p->boxes; b++) {
        json_t *at = json_array();
        for (size_t k = 0; k < model->d; k++) json_array_append_new(at, number(p->centre[b * model->d + k]));
        json_array_append_new(centre, at);
        json_array_append_new(count, json_integer((json_int_t)p->bin[2 * b].n));
        json_array_append_new(together, number(p->together[b]));
        json_array_append_new(reach, number(sk_binned_reach(p->bin[2 * b].n)));
        json_array_append_new(chance, number(sk_binned_chance(p->bin[2 * b].n)));
    }
    char *const *name = model->structure->state;
    json_t *object =
        json_pack("{s:[s, s], s:[I, I], s:I, s:f, s:o, s:o, s:o, s:o}", "states", name[p->pair[0]], name[p->pair[1]],
                  "index", (json_int_t)p->pair[0], (json_int_t)p->pair[1], "steps", (json_int_t)p->steps, "h", p->h,
                  "n", count, "centre", centre, "f_correlation", together, "reach", reach);
    if (model->has_diffusion)
        json_object_set_new(object, "chance", chance);
    else
        json_decref(chance);
    for (size_t c = 1; object && c < COLUMNS; c++)
        if (keys[c][0] == 'f' || model->has_diffusion) json_object_set_new(object, keys[c], both_states(p, c));
    return object;
}

static sock_status write_text(sock_context *ctx, const sock_model *model, const sk_binned_all *all, char **json)
{
    SK_TRY(sk_reserve(ctx, SK_JSON_SMALL));
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++) json_array_append_new(list, binned_object(model, &all->of[i]));
    json_t *planes = json_array();
    for (size_t i = 0; i < all->planes; i++) json_array_append_new(planes, plane_object(model, &all->plane[i]));
    json_t *object = json_pack("{s:o, s:o}", "moments", list, "planes", planes);
    char *made = object ? json_dumps(object, JSON_REAL_PRECISION(12) | JSON_INDENT(1)) : NULL;
    if (!made) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the evidence could not be written");
    char *copy = made ? sk_strdup(ctx, made) : NULL;
    json_decref(object);
    free(made);
    if (!copy) return SOCK_ENOMEM;
    *json = copy;
    return SOCK_OK;
}

/* ---- The call ---- */

/* Wild steps, and those at rest on a bound. */
static sock_status left_out(sock_context *ctx, const sock_model *model, const sock_data *data, bool *skip)
{
    sk_record record;
    sk_wild wild = {0};
    sock_status status = sk_record_of_model(ctx, model, &record);
    if (status >= 0 && !sk_record_kept_wild(&record)) status = sk_wild_find(ctx, data, &wild);
    for (size_t i = 0; status >= 0 && wild.step && i < data->points; i++) skip[i] = wild.step[i];
    if (status >= 0) sk_absorbed_mark(data, model->structure->lower, model->structure->upper, skip);
    sk_wild_clear(&wild);
    sk_record_clear(&record);
    return status;
}

sock_status sock_evidence(sock_context *ctx, const sock_model *model, const sock_data *data, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !data || !json) return sk_fail(ctx, SOCK_EUSAGE, "model, data and output must not be NULL");
    SK_TRY(sk_refuse_second(ctx, model, "evidence"));
    if (model->d != data->d)
        return sk_fail(ctx, SOCK_EUSAGE, "the model has dimension %zu, the data %zu", model->d, data->d);
    sk_binned_all all = {0};
    bool *skip = sk_alloc(ctx, data->points + 1, sizeof *skip);
    sock_status status = skip ? left_out(ctx, model, data, skip) : SOCK_ENOMEM;
    if (status >= 0) status = sk_binned_make(ctx, model, data, skip, SK_MIN(data->d, (size_t)SK_EVIDENCE_STATES), &all);
    if (status >= 0) status = write_text(ctx, model, &all, json);
    sk_binned_clear(&all);
    sk_free(skip);
    return status;
}
