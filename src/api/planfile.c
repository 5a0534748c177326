/* planfile.c - see planfile.h. */
#include "api/planfile.h"

#include "api/jsonline.h"
#include "api/recordvalues.h"
#include "base/safefile.h"
#include "model/modelfile.h"
#include "tune/policy.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "sock-plan"
enum { FORMAT_VERSION = 1 };

/* OPTIONAL: the key may be missing. */
#define PLAN(member) offsetof(sk_plan, member), HERE
static const sk_json_field data_keys[] = {{"states", TEXTS, SEARCH, PLAN(states)},
                                          {"steps", COUNT, SEARCH, PLAN(steps)},
                                          {"points", COUNT, SEARCH, PLAN(points)},
                                          {"trajectories", COUNT, SEARCH, PLAN(trajectories)},
                                          {"digest", TEXT, SEARCH, PLAN(digest)},
                                          {"sample", COUNT, SEARCH, PLAN(sample)},
                                          {"folds", COUNT, SEARCH, PLAN(folds)},
                                          {"centre", NUMBERS, SEARCH | OPTIONAL, PLAN(centre)},
                                          {"scale", NUMBERS, SEARCH | OPTIONAL, PLAN(scale)},
                                          {0}};

static const sk_json_field choice_keys[] = {{"too_few", FLAG, SEARCH, PLAN(too_few)},
                                            {"constant", FLAG, SEARCH, PLAN(fell_back)},
                                            {"free", FLAG, SEARCH, PLAN(free)},
                                            {"constants", COUNT, SEARCH, PLAN(constants)},
                                            {"lead", COUNT, SEARCH, PLAN(lead)},
                                            {"floor", NUMBER, SEARCH, PLAN(floor)},
                                            {"shrink", NUMBER, SEARCH, PLAN(shrink)},
                                            {"diagonal", FLAG, SEARCH, PLAN(diagonal)},
                                            {"noise", NOISE, SEARCH | OPTIONAL, PLAN(noise)},
                                            {0}};

/* Drifts are written as F, diffusions as A. */
#define ONE(member) offsetof(sk_planned, member), HERE
static const sk_json_field candidate_keys[] = {
    {"kernel", TEXT, F | A, ONE(kernel)},         {"share", NUMBER, F | A, ONE(share)},
    {"passes", FLAG, F | A, ONE(passes)},         {"lost", FLAG, F, ONE(lost)},
    {"unpolished", FLAG, A, ONE(unpolished)},     {"l", NUMBER, A | OPTIONAL, ONE(l)},
    {"rates", NUMBERS, A | OPTIONAL, ONE(rates)}, {0}};

#define RIVAL(member) offsetof(sk_planned_rival, member), HERE
static const sk_json_field rival_keys[] = {{"place", COUNT, SEARCH, RIVAL(place)},
                                           {"score", NUMBER, SEARCH, RIVAL(score)},
                                           {"dof", NUMBER, SEARCH, RIVAL(dof)},
                                           {0}};

static const sk_json_field log_keys[] = {{"search", ROWS, SEARCH, PLAN(search)}, {0}};

void sk_plan_file_clear(sk_plan_file *file)
{
    sk_options_given_clear(&file->options);
    sk_free(file->path);
    sk_plan_clear(&file->plan);
    *file = (sk_plan_file){0};
}

/* ---- Write ---- */

static json_t *write_candidates(size_t count, const sk_planned *list, unsigned field)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, sk_json_write_object(candidate_keys, &list[i], field));
    return array;
}

static json_t *write_rivals(const sk_plan *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->rivals; i++)
        json_array_append_new(array, sk_json_write_object(rival_keys, &plan->rival[i], SEARCH));
    return array;
}

static sock_status describe(sock_context *ctx, const sk_plan_file *file, json_t *whole)
{
    const sk_plan *plan = &file->plan;
    json_t *model = NULL, *rivals = NULL;
    json_object_set_new(whole, "format", json_string(FORMAT));
    json_object_set_new(whole, "format_version", json_integer(FORMAT_VERSION));
    json_object_set_new(whole, "version", json_string(SOCK_VERSION));
    json_object_set_new(whole, "options", sk_json_write_part(OPTIONS, &file->options, SEARCH));
    json_object_set_new(whole, "data", sk_json_write_object(data_keys, plan, SEARCH));
    json_object_set_new(whole, "choice", sk_json_write_object(choice_keys, plan, SEARCH));
    json_object_set_new(whole, "drifts", write_candidates(plan->drifts, plan->drift, F));
    json_object_set_new(whole, "diffusions", write_candidates(plan->diffusions, plan->diffusion, A));
    SK_TRY(sk_model_to_json(ctx, plan->model, &model));
    json_object_set_new(whole, "model", model);
    json_object_set_new(whole, "rivals", write_rivals(plan));
    if (plan->rivals) {
        SK_TRY(sk_model_to_json(ctx, plan->rival_model, &rivals));
        json_object_set_new(whole, "rival_model", rivals);
    }
    for (const sk_json_field *f = log_keys; f->key; f++) sk_json_put(whole, f, plan, SEARCH);
    return SOCK_OK;
}

sock_status sk_plan_write(sock_context *ctx, const sk_plan_file *file)
{
    sk_file *out = NULL;
    json_t *whole = json_object();
    SK_TRY(sk_reserve(ctx, 16 * (size_t)SK_JSON_SMALL));
    sock_status status = describe(ctx, file, whole);
    char *text = status >= 0 ? json_dumps(whole, JSON_REAL_PRECISION(17) | JSON_INDENT(1)) : NULL;
    json_decref(whole);
    if (status >= 0 && !text) status = sk_fail(ctx, SOCK_ENOMEM, "%s: out of memory while writing", file->path);
    if (status >= 0) status = sk_file_create(ctx, file->path, &out);
    if (status >= 0) {
        sk_write(out, text, strlen(text));
        sk_write(out, "\n", 1);
        status = sk_file_commit(ctx, out);
    }
    free(text);
    return status;
}

/* ---- Read: what is wrong with it ---- */

typedef struct reading {
    sock_context *ctx;
    const char *path, *text;
} reading;

/* "PATH: line 3: drifts[2].share is REASON". */
static sock_status bad(const reading *r, const char *place, const char *reason)
{
    return sk_fail(r->ctx, SOCK_EINPUT, "%s: line %zu: %s %s", r->path, sk_json_line(r->text, place), place, reason);
}

static sock_status bad_in(const reading *r, const char *place, const char *key, const char *reason)
{
    char at[256];
    snprintf(at, sizeof at, "%.128s.%.64s", place, key);
    return bad(r, at, reason);
}

static bool all_are(json_t *list, bool (*is)(const json_t *value))
{
    bool whole = json_is_array(list);
    for (size_t i = 0; whole && i < json_array_size(list); i++) whole = is(json_array_get(list, i));
    return whole;
}

static bool is_number(const json_t *value) { return json_is_number(value); }
static bool is_text(const json_t *value) { return json_is_string(value); }
static bool is_object(const json_t *value) { return json_is_object(value); }

/* NULL: the value is of its kind; else what it must be. */
static const char *missed(sk_json_kind kind, json_t *value)
{
    switch (kind) {
    case NUMBER: return json_is_number(value) ? NULL : "must be a number";
    case COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0 ? NULL : "must be a whole number from 0 on";
    case FLAG: return json_is_boolean(value) ? NULL : "must be true or false";
    case TEXT: return json_is_string(value) ? NULL : "must be a text";
    case TEXTS: return all_are(value, is_text) ? NULL : "must be a list of texts";
    case NUMBERS: return all_are(value, is_number) ? NULL : "must be a list of numbers";
    case ROWS: return all_are(value, is_object) ? NULL : "must be a list of objects";
    default: return json_is_object(value) ? NULL : "must be an object";
    }
}

static const sk_json_field *key_of(const sk_json_field *fields, unsigned fit, const char *key)
{
    for (; fields->key; fields++)
        if ((fields->fits & fit) && strcmp(fields->key, key) == 0) return fields;
    return NULL;
}

/* Every key there, none that is unknown, every value of its kind; then it is read. place: of the object. */
static sock_status read_object(const reading *r, const char *place, json_t *object, const sk_json_field *fields,
                               unsigned fit, void *base)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) return bad(r, place, "must be an object");
    for (const sk_json_field *f = fields; f->key; f++) {
        if (!(f->fits & fit)) continue;
        value = json_object_get(object, f->key);
        if (!value && (f->fits & OPTIONAL)) continue;
        const char *what = value ? missed(f->kind, value) : "is missing";
        if (what) return bad_in(r, place, f->key, what);
    }
    json_object_foreach(object, key, value)
    {
        if (!key_of(fields, fit, key)) return bad_in(r, place, key, "is not known");
    }
    return sk_json_read_object(r->ctx, object, fields, base);
}

/* ---- Read: the parts ---- */

static sock_status read_candidate(const reading *r, const char *place, json_t *value, unsigned field, sk_planned *out)
{
    const double bits = 8 * sizeof(uint64_t);
    out->l = (double)NAN;
    SK_TRY(read_object(r, place, value, candidate_keys, field, out));
    if (!(out->share >= 0 && out->share <= 1)) return bad_in(r, place, "share", "must be from 0 to 1");
    if (out->share > 0 && field == F && !out->passes)
        return bad_in(r, place, "passes", "must be true where there is a share");
    if (out->l < 0) return bad_in(r, place, "l", "must not be below 0");
    for (size_t k = 0; k < out->rates.count; k++) {
        const double bit = out->rates.value[k];
        if (!(bit >= 0 && bit < bits && bit == floor(bit)))
            return bad_in(r, place, "rates", "must hold whole numbers from 0 to 63");
    }
    return SOCK_OK;
}

static sock_status read_candidates(const reading *r, const char *key, json_t *list, unsigned field, sk_planned **out,
                                   size_t *count)
{
    char at[128];
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || !n || n > SK_MOST) return bad(r, key, "must be a list of 1 to 64 candidates");
    *out = sk_alloc(r->ctx, n, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    *count = n;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        snprintf(at, sizeof at, "%s[%zu]", key, i);
        SK_TRY(read_candidate(r, at, json_array_get(list, i), field, &(*out)[i]));
        any = any || (*out)[i].passes;
    }
    return any ? SOCK_OK : bad(r, key, "must hold one with passes = true");
}

static sock_status read_model(const reading *r, const char *key, json_t *value, size_t d, sock_model **out)
{
    char place[512];
    if (!json_is_object(value)) return bad(r, key, "must be an object");
    snprintf(place, sizeof place, "%s: line %zu: %s", r->path, sk_json_line(r->text, key), key);
    SK_TRY(sk_model_of_json(r->ctx, place, value, out));
    return (*out)->d == d ? SOCK_OK : bad(r, key, "must have the states of data.states");
}

static sock_status read_rivals(const reading *r, json_t *whole, sk_plan *plan)
{
    char at[128];
    json_t *list = json_object_get(whole, "rivals");
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || n > SK_MOST) return bad(r, "rivals", "must be a list of at most 64");
    if (!n) return SOCK_OK;
    plan->rival = sk_alloc(r->ctx, n, sizeof *plan->rival);
    if (!plan->rival) return SOCK_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        snprintf(at, sizeof at, "rivals[%zu]", i);
        SK_TRY(read_object(r, at, json_array_get(list, i), rival_keys, SEARCH, &plan->rival[i]));
        const bool rises = !i || plan->rival[i].place > plan->rival[i - 1].place;
        if (plan->rival[i].place >= SK_MOST || !rises) return bad(r, at, "must have a place from 0 to 63, which rises");
    }
    plan->rivals = n;
    SK_TRY(read_model(r, "rival_model", json_object_get(whole, "rival_model"), plan->states.count, &plan->rival_model));
    bool maps = plan->rival_model->drift_terms == n;
    for (size_t i = 0; maps && i < n; i++) maps = plan->rival_model->drift[i]->map != NULL;
    return maps ? SOCK_OK : bad(r, "rival_model", "must have a drift of features for each of rivals");
}

static sock_status read_head(const reading *r, json_t *whole, sk_plan_file *out)
{
    const char *key;
    json_t *options = json_object_get(whole, "options"), *value;
    const json_t *version = json_object_get(whole, "format_version");
    if (strcmp(sk_json_text(whole, "format"), FORMAT) != 0) return bad(r, "format", "must be " FORMAT);
    if (!json_is_integer(version) || json_integer_value(version) != FORMAT_VERSION)
        return bad(r, "format_version", "must be 1, the version that this program reads");
    if (!json_is_object(options)) return bad(r, "options", "must be an object");
    json_object_foreach(options, key, value)
    {
        char at[128];
        snprintf(at, sizeof at, "options.%.60s", key);
        if (!json_is_string(value)) return bad(r, at, "must be a text");
    }
    return sk_json_read_part(r->ctx, OPTIONS, options, &out->options);
}

static sock_status check_data(const reading *r, const sk_plan *plan)
{
    const size_t d = plan->states.count;
    if (!d) return bad(r, "data.states", "must name a state");
    if (plan->centre.count != plan->scale.count || (plan->centre.count && plan->centre.count != d))
        return bad(r, "data.centre", "and data.scale must have a number for each of data.states");
    for (size_t k = 0; k < plan->scale.count; k++)
        if (!(plan->scale.value[k] > 0)) return bad(r, "data.scale", "must be above 0");
    return SOCK_OK;
}

static sock_status check_choice(const reading *r, const sk_plan *plan)
{
    if (!(plan->floor >= 0)) return bad(r, "choice.floor", "must not be below 0");
    if (!(plan->shrink >= 0 && plan->shrink < 1)) return bad(r, "choice.shrink", "must be from 0 to below 1");
    if (plan->lead >= plan->drifts) return bad(r, "choice.lead", "must be a place in drifts");
    if (plan->constants >= plan->drifts) return bad(r, "choice.constants", "must be below the number of drifts");
    if (plan->fell_back && plan->drifts + plan->diffusions > 2)
        return bad(r, "choice.constant", "must be false where there are several candidates");
    return SOCK_OK;
}

static sock_status read_whole(const reading *r, json_t *whole, sk_plan_file *out)
{
    static const char *const known[] = {"format", "format_version", "version", "options", "data",        "choice",
                                        "drifts", "diffusions",     "model",   "rivals",  "rival_model", "search"};
    sk_plan *plan = &out->plan;
    const char *key;
    json_t *value;
    if (!json_is_object(whole)) return sk_fail(r->ctx, SOCK_EINPUT, "%s: line 1: a plan is an object", r->path);
    SK_TRY(read_head(r, whole, out));
    json_object_foreach(whole, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) found = found || strcmp(key, known[i]) == 0;
        if (!found) return bad(r, key, "is not known");
    }
    SK_TRY(read_object(r, "data", json_object_get(whole, "data"), data_keys, SEARCH, plan));
    SK_TRY(check_data(r, plan));
    SK_TRY(read_object(r, "choice", json_object_get(whole, "choice"), choice_keys, SEARCH, plan));
    SK_TRY(read_candidates(r, "drifts", json_object_get(whole, "drifts"), F, &plan->drift, &plan->drifts));
    SK_TRY(
        read_candidates(r, "diffusions", json_object_get(whole, "diffusions"), A, &plan->diffusion, &plan->diffusions));
    SK_TRY(check_choice(r, plan));
    SK_TRY(read_model(r, "model", json_object_get(whole, "model"), plan->states.count, &plan->model));
    SK_TRY(read_rivals(r, whole, plan));
    const char *what = missed(ROWS, json_object_get(whole, "search"));
    return what ? bad(r, "search", what) : sk_json_read_object(r->ctx, whole, log_keys, plan);
}

sock_status sk_plan_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_plan_file *out)
{
    json_error_t error;
    const reading r = {ctx, path, bytes};
    *out = (sk_plan_file){.path = sk_strdup(ctx, path)};
    if (!out->path) return SOCK_ENOMEM;
    out->plan.noise.gain = out->plan.noise.gain_error = (double)NAN;
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * size + SK_JSON_SMALL));
    json_t *whole = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    sock_status status = whole ? read_whole(&r, whole, out)
                               : sk_fail(ctx, SOCK_EINPUT, "%s: line %d: this is no plan: %s", path,
                                         error.line > 0 ? error.line : 1, error.text);
    json_decref(whole);
    out->plan.place = out->path;
    if (status < 0) sk_plan_file_clear(out);
    return status;
}

sock_status sk_plan_read(sock_context *ctx, const char *path, sk_plan_file *out)
{
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    const sock_status status = sk_plan_parse(ctx, path, bytes, size, out);
    sk_free(bytes);
    return status;
}
