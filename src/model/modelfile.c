/* modelfile.c - a model as named arrays and metadata, and back.
 *
 *   metadata   format, format_version, model (what the terms are, JSON), info (provenance and certificate, JSON)
 *   arrays     drift.I.centre, drift.I.weight, drift.I.map.*, diffusion.I.v, diffusion.I.owner, diffusion.I.map.*
 *
 * Format version 1 where the first programs know every array, else 2: see version_of. */
#include "model/modelfile.h"

#include "base/safefile.h"
#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "sock-model"
#define FIRST_VERSION "1"
#define SECOND_VERSION "2"
#define NOISE "noise.R"

/* ---- The version ---- */

/* Arrays that version 0.1.0 knows, by the end of the name; factor: of a map, not of a spread. */
static bool first_knows(const char *name)
{
    static const char *const known[] = {"centre", "weight", "v", "owner", "omega", "beta", "landmarks", "scale"};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof known / sizeof *known; i++)
        if (strcmp(end + 1, known[i]) == 0) return true;
    return end && strcmp(end, ".factor") == 0 && strstr(name, ".map.");
}

/* Programs of version 0.1.0 refuse arrays that they do not know (origin and kept of a map, all that a spread has); a
 * file with one, or with bounds, inputs or order 2, has version 2, so that they can name the reason. A file without any
 * stays as they wrote it. */
static const char *version_of(const sk_structure *structure, const sk_tensors *t)
{
    if (structure->inputs || structure->order == 2 || sk_structure_is_bounded(structure)) return SECOND_VERSION;
    for (size_t i = 0; i < t->count; i++)
        if (!first_knows(t->at[i].name)) return SECOND_VERSION;
    return FIRST_VERSION;
}

/* ---- Saving ---- */

sock_status sk_save_array(sk_saving *s, const char *room, size_t i, const char *what, size_t rows, size_t cols,
                          const double *values)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%zu.%s", room, i, what);
    return sk_tensors_add(s->ctx, &s->tensors, name, rows, cols, values);
}

double *sk_save_own(sk_saving *s, size_t rows, size_t cols)
{
    if (sk_grow(s->ctx, &s->owned, &s->owned_capacity, s->owned_count + 1, sizeof *s->owned) < 0) return NULL;
    return s->owned[s->owned_count++] = sk_doubles(s->ctx, rows, cols);
}

/* The arrays of a feature map under ROOM.I.map.*; *entry gets its text under "features". */
static sock_status save_map(sk_saving *s, const char *room, size_t i, const sk_features *map, json_t *entry)
{
    char *text = NULL;
    sk_array *arrays = NULL;
    size_t count = 0;
    SK_TRY(sk_features_export(s->ctx, map, &text, &arrays, &count));
    json_object_set_new(entry, "features", json_string(text));
    sk_free(text);
    sock_status status = sk_grow(s->ctx, &s->lists, &s->list_capacity, s->list_count + 1, sizeof *s->lists);
    if (status < 0) {
        sk_free(arrays);
        return status;
    }
    s->lists[s->list_count++] = arrays;
    for (size_t a = 0; a < count; a++) {
        char what[64];
        snprintf(what, sizeof what, "map.%s", arrays[a].name);
        SK_TRY(sk_save_array(s, room, i, what, arrays[a].rows, arrays[a].cols, arrays[a].values));
    }
    return SOCK_OK;
}

sock_status sk_save_drift(sk_saving *s, const char *room, const sk_drift_term *term, size_t i, json_t *list)
{
    json_t *entry = json_object();
    json_array_append_new(list, entry);
    if (term->map) {
        SK_TRY(save_map(s, room, i, term->map, entry));
        return sk_save_array(s, room, i, "weight", sk_features_count(term->map), term->d, term->weight);
    }
    if (!sk_kernel_has_text(term->kernel))
        return sk_fail(s->ctx, SOCK_EUSAGE, "a model with a kernel given as a function cannot be saved");
    char *text = sk_kernel_format(s->ctx, term->kernel);
    if (!text) return SOCK_ENOMEM;
    json_object_set_new(entry, "kernel", json_string(text));
    sk_free(text);
    SK_TRY(sk_save_array(s, room, i, "centre", term->centres, term->d, term->centre));
    return sk_save_array(s, room, i, "weight", term->centres, term->d, term->weight);
}

static sock_status save_diffusion(sk_saving *s, const sk_diffusion_term *term, size_t i, json_t *list)
{
    json_t *entry = json_pack("{s:b}", "diagonal", term->owner != NULL);
    json_array_append_new(list, entry);
    SK_TRY(save_map(s, "diffusion", i, term->map, entry));
    SK_TRY(sk_save_array(s, "diffusion", i, "v", term->d * sk_features_count(term->map), term->rank, term->v));
    if (!term->owner) return SOCK_OK;
    double *owner = sk_save_own(s, term->rank, 1);
    if (!owner) return SOCK_ENOMEM;
    for (size_t j = 0; j < term->rank; j++) owner[j] = (double)term->owner[j];
    return sk_save_array(s, "diffusion", i, "owner", term->rank, 1, owner);
}

static const char *const hold_name[] = {"previous", "linear", "time"};

static json_t *describe_inputs(const sk_structure *structure)
{
    json_t *list = json_array();
    for (size_t k = 0; k < structure->inputs; k++) {
        const sk_input *input = &structure->input[k];
        json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "name", input->name, "hold", hold_name[input->hold],
                                              "usual", input->usual));
    }
    return list;
}

sock_status sk_save_terms(sk_saving *s, const sock_model *model, json_t *description)
{
    json_t *state = json_array(), *drift = json_array(), *diffusion = json_array();
    for (size_t k = 0; k < model->d; k++) json_array_append_new(state, json_string(model->structure->state[k]));
    json_object_set_new(description, "d", json_integer((json_int_t)model->d));
    json_object_set_new(description, "state", state);
    if (model->structure->order == 2) json_object_set_new(description, "order", json_integer(2));
    if (sk_structure_is_bounded(model->structure)) sk_save_bounds(model->structure, description);
    if (model->structure->inputs) json_object_set_new(description, "inputs", describe_inputs(model->structure));
    json_object_set_new(description, "has_diffusion", json_boolean(model->has_diffusion));
    json_object_set_new(description, "floor", json_real(model->floor));
    json_object_set_new(description, "drift", drift);
    json_object_set_new(description, "diffusion", diffusion);
    for (size_t i = 0; i < model->drift_terms; i++) SK_TRY(sk_save_drift(s, "drift", model->drift[i], i, drift));
    for (size_t i = 0; i < model->diffusion_terms; i++) SK_TRY(save_diffusion(s, model->diffusion[i], i, diffusion));
    return model->spread ? sk_save_spread(s, model, description) : SOCK_OK;
}

void sk_saving_clear(sk_saving *s)
{
    for (size_t i = 0; i < s->list_count; i++) sk_free(s->lists[i]);
    for (size_t i = 0; i < s->owned_count; i++) sk_free(s->owned[i]);
    sk_free(s->lists);
    sk_free(s->owned);
    sk_tensors_clear(&s->tensors);
}

sock_status sock_model_save(sock_context *ctx, const sock_model *model, const char *path)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !path) return sk_fail(ctx, SOCK_EUSAGE, "model and path must not be NULL");
    if (model->wrapped_drift) return sk_fail(ctx, SOCK_EUSAGE, "%s: a model made of functions cannot be saved", path);
    SK_TRY(sk_reserve(ctx, SK_JSON_GROWTH * (strlen(model->info) + 64 * model->d) + SK_JSON_SMALL));
    sk_saving s = {.ctx = ctx};
    json_t *description = json_object();
    char *text = NULL;
    const double *noise = sk_structure_is_plain(model->structure) ? NULL : model->structure->noise;
    sock_status status = sk_save_terms(&s, model, description);
    if (status >= 0 && noise) status = sk_tensors_add(ctx, &s.tensors, NOISE, model->d, model->d, noise);
    if (status >= 0) {
        text = json_dumps(description, JSON_COMPACT | JSON_REAL_PRECISION(17));
        s.tensors.metadata =
            json_pack("{s:s, s:s, s:s, s:s}", "format", FORMAT, "format_version",
                      version_of(model->structure, &s.tensors), "model", text ? text : "", "info", model->info);
        status = text && s.tensors.metadata ? sk_tensors_write(ctx, &s.tensors, path)
                                            : sk_fail(ctx, SOCK_ENOMEM, "%s: out of memory while writing", path);
    }
    free(text);
    json_decref(description);
    sk_saving_clear(&s);
    return status;
}

/* ---- Loading ---- */

sock_status sk_bad_model(const sk_loading *l, const char *what, const char *name)
{
    return sk_fail(l->ctx, SOCK_EINPUT, "%s: not a valid model file: %s%s%s", l->path, what, name ? " in " : "",
                   name ? name : "");
}

/* The kernel room knows no files: its message gets the file's name. */
static sock_status name_file(const sk_loading *l)
{
    char reason[512];
    snprintf(reason, sizeof reason, "%s", sock_message(l->ctx));
    sk_begin(l->ctx);
    return sk_bad_model(l, reason, NULL);
}

const sk_tensor *sk_find_array(const sk_loading *l, const char *room, size_t i, const char *what)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%zu.%s", room, i, what);
    return sk_tensors_find(&l->tensors, name);
}

sock_status sk_take_array(sk_loading *l, const char *room, size_t i, const char *what, size_t rows, size_t cols,
                          double **out)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%zu.%s", room, i, what);
    const sk_tensor *tensor = sk_tensors_find(&l->tensors, name);
    const bool empty = tensor && tensor->rows == 0 && rows == 0; /* in JSON it has no columns */
    if (!empty && (!tensor || tensor->rows != rows || tensor->cols != cols))
        return sk_bad_model(l, "an array is missing or has a wrong shape", name);
    double *copy = sk_doubles(l->ctx, rows, cols);
    if (!copy) return SOCK_ENOMEM;
    if (rows && cols) memcpy(copy, tensor->values, rows * cols * sizeof *copy);
    *out = copy;
    l->used++;
    return SOCK_OK;
}

static sock_status load_map(sk_loading *l, const char *room, size_t i, json_t *entry, sk_features **out)
{
    const char *text = json_string_value(json_object_get(entry, "features"));
    if (!text) return sk_bad_model(l, "a term has no features", room);
    char prefix[48];
    int length = snprintf(prefix, sizeof prefix, "%s.%zu.map.", room, i);
    sk_array *arrays = sk_alloc(l->ctx, l->tensors.count, sizeof *arrays);
    if (!arrays) return SOCK_ENOMEM;
    size_t count = 0;
    for (size_t t = 0; t < l->tensors.count; t++) {
        const sk_tensor *tensor = &l->tensors.at[t];
        if (strncmp(tensor->name, prefix, (size_t)length) != 0) continue;
        sk_array *array = &arrays[count++];
        snprintf(array->name, sizeof array->name, "%.*s", (int)sizeof array->name - 1, tensor->name + length);
        array->rows = tensor->rows;
        array->cols = tensor->cols;
        array->values = tensor->values;
    }
    sock_status status = sk_features_import(l->ctx, text, sk_model_in(l->model), arrays, count, out);
    sk_free(arrays);
    l->used += count;
    return status == SOCK_EINPUT ? name_file(l) : status;
}

/* The text of a kernel in a file is the file's, not an option: what is wrong with it is bad input. All of it must be
 * there; a length scale left open would be guessed from the centres. */
static sock_status load_kernel(const sk_loading *l, const char *text, const sk_tensor *centre, sk_kernel **out)
{
    sock_status status = sk_kernel_parse(l->ctx, l->path, text, out);
    if (status >= 0 && !sk_kernel_has_formula(*out)) {
        char names[SK_NAMES], reason[SK_NAMES + 64];
        snprintf(reason, sizeof reason, "a kernel expansion cannot have %s terms",
                 sk_kernel_names(SK_KIND_MAPPED, " or ", names));
        return sk_bad_model(l, reason, centre->name);
    }
    if (status >= 0 && sk_kernel_is_open(*out)) return sk_bad_model(l, "a kernel has no eta", centre->name);
    if (status >= 0) status = sk_kernel_resolve(l->ctx, l->path, *out, l->model->d, centre->rows, centre->values);
    return status == SOCK_EUSAGE ? SOCK_EINPUT : status;
}

static sock_status load_kernel_term(sk_loading *l, const char *room, size_t i, const char *text, sk_drift_term *term)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%zu.centre", room, i);
    const sk_tensor *centre = sk_tensors_find(&l->tensors, name);
    if (!centre || centre->cols != term->d) return sk_bad_model(l, "an array is missing or has a wrong shape", name);
    term->centres = centre->rows;
    SK_TRY(load_kernel(l, text, centre, &term->kernel));
    SK_TRY(sk_take_array(l, room, i, "centre", term->centres, term->d, &term->centre));
    return sk_take_array(l, room, i, "weight", term->centres, term->d, &term->weight);
}

sock_status sk_load_drift(sk_loading *l, const char *room, size_t i, json_t *entry, sk_drift_term **out)
{
    sk_drift_term *term = sk_alloc(l->ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = l->model->d;
    const char *kernel = json_string_value(json_object_get(entry, "kernel"));
    sock_status status;
    if (kernel && l->model->structure->inputs) {
        status = sk_bad_model(l, "a kernel expansion has no inputs", "drift");
    } else if (kernel) {
        status = load_kernel_term(l, room, i, kernel, term);
    } else {
        status = load_map(l, room, i, entry, &term->map);
        if (status >= 0)
            status = sk_take_array(l, room, i, "weight", sk_features_count(term->map), term->d, &term->weight);
    }
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    *out = term;
    return SOCK_OK;
}

static sock_status load_drift(sk_loading *l, size_t i, json_t *entry)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_load_drift(l, "drift", i, entry, &term));
    return sk_model_add_drift(l->ctx, l->model, term);
}

static sock_status load_owner(sk_loading *l, size_t i, sk_diffusion_term *term)
{
    double *owner = NULL;
    SK_TRY(sk_take_array(l, "diffusion", i, "owner", term->rank, 1, &owner));
    term->owner = sk_alloc(l->ctx, term->rank, sizeof *term->owner);
    sock_status status = term->owner ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < term->rank; j++) {
        if (!(owner[j] >= 0) || owner[j] >= (double)l->model->d || owner[j] != floor(owner[j]))
            status = sk_bad_model(l, "a column belongs to no component", "diffusion owner");
        else
            term->owner[j] = (size_t)owner[j];
    }
    sk_free(owner);
    return status;
}

static sock_status load_diffusion(sk_loading *l, size_t i, json_t *entry)
{
    char name[64];
    snprintf(name, sizeof name, "diffusion.%zu.v", i);
    const sk_tensor *v = sk_tensors_find(&l->tensors, name);
    if (!v) return sk_bad_model(l, "an array is missing", name);
    sk_diffusion_term *term = sk_alloc(l->ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = l->model->d;
    term->rank = v->cols;
    sock_status status = load_map(l, "diffusion", i, entry, &term->map);
    if (status >= 0)
        status = sk_take_array(l, "diffusion", i, "v", term->d * sk_features_count(term->map), term->rank, &term->v);
    if (status >= 0 && !json_is_boolean(json_object_get(entry, "diagonal")))
        status = sk_bad_model(l, "diagonal is not true or false", name);
    if (status >= 0 && json_is_true(json_object_get(entry, "diagonal"))) status = load_owner(l, i, term);
    if (status >= 0) return sk_model_add_diffusion(l->ctx, l->model, term);
    sk_diffusion_term_free(term);
    return status;
}

static sock_status load_names(sk_loading *l, json_t *description)
{
    json_t *state = json_object_get(description, "state");
    json_int_t d = json_integer_value(json_object_get(description, "d"));
    if (d < 1 || (size_t)d != json_array_size(state)) return sk_bad_model(l, "d and state do not agree", NULL);
    const char **names = sk_alloc(l->ctx, (size_t)d, sizeof *names);
    if (!names) return SOCK_ENOMEM;
    json_t *seen = json_object(); /* a set: a file may name millions of states */
    sock_status status = seen ? SOCK_OK : sk_fail(l->ctx, SOCK_ENOMEM, "%s: out of memory while reading", l->path);
    for (size_t k = 0; status >= 0 && k < (size_t)d; k++) {
        names[k] = json_string_value(json_array_get(state, k));
        if (!names[k] || !names[k][0])
            status = sk_bad_model(l, "a state name is not text", NULL);
        else if (json_object_get(seen, names[k]))
            status = sk_bad_model(l, "two states have the name", names[k]);
        else if (json_object_set_new(seen, names[k], json_true()) != 0)
            status = sk_fail(l->ctx, SOCK_ENOMEM, "%s: out of memory while reading", l->path);
    }
    if (status >= 0) status = sk_model_new(l->ctx, (size_t)d, names, &l->model);
    json_decref(seen);
    sk_free(names);
    return status;
}

/* Whether the name is that of a state, or of an input before k. */
static bool is_taken(const sk_structure *s, const char *const *names, size_t k)
{
    for (size_t i = 0; i < s->d; i++)
        if (strcmp(s->state[i], names[k]) == 0) return true;
    for (size_t i = 0; i < k; i++)
        if (strcmp(names[i], names[k]) == 0) return true;
    return false;
}

/* One input: everything about it must be there and make sense. */
static sock_status read_input(const sk_loading *l, json_t *entry, const char **name, sk_hold *hold, double *usual)
{
    json_t *number = json_object_get(entry, "usual");
    const char *text = json_string_value(json_object_get(entry, "hold"));
    *name = json_string_value(json_object_get(entry, "name"));
    if (!*name || !**name) return sk_bad_model(l, "the name of an input is not text", NULL);
    if (!json_is_number(number)) return sk_bad_model(l, "usual is not a number", *name);
    *usual = json_number_value(number);
    *hold = SK_HOLD_PREVIOUS;
    for (int i = 0; i < 3; i++)
        if (text && strcmp(text, hold_name[i]) == 0) {
            *hold = (sk_hold)i;
            return SOCK_OK;
        }
    return sk_bad_model(l, "hold is none of previous, linear, time", *name);
}

enum { MOST_INPUTS = 1000 }; /* a file may claim anything */

static sock_status load_inputs(sk_loading *l, json_t *list)
{
    const size_t count = json_array_size(list);
    sk_structure *s = l->model->structure;
    if (!list) return SOCK_OK;
    if (!count || count > MOST_INPUTS) return sk_bad_model(l, "inputs is not a list of 1 to 1000 of them", NULL);
    const char **names = sk_alloc(l->ctx, count, sizeof *names);
    sk_hold *hold = sk_alloc(l->ctx, count, sizeof *hold);
    double *usual = sk_doubles(l->ctx, count, 1);
    sock_status status = names && hold && usual ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < count; k++) {
        status = read_input(l, json_array_get(list, k), &names[k], &hold[k], &usual[k]);
        if (status >= 0 && is_taken(s, names, k))
            status = sk_bad_model(l, "two states or inputs have the name", names[k]);
        if (status >= 0 && hold[k] == SK_HOLD_TIME && k + 1 < count)
            status = sk_bad_model(l, "the time is not the last", names[k]);
    }
    if (status >= 0) status = sk_structure_set_inputs(l->ctx, s, count, names, hold, usual);
    sk_free(names);
    sk_free(hold);
    sk_free(usual);
    return status;
}

/* R: symmetric, no eigenvalue below 0 but for rounding. */
static bool is_covariance(size_t d, const double *r)
{
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], v[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    for (size_t i = 0; i < d * d; i++)
        if (r[i] != r[i % d * d + i / d]) return false;
    memcpy(a, r, d * d * sizeof *a);
    sk_jacobi(d, a, v);
    double least = 0, most = 0;
    for (size_t k = 0; k < d; k++) {
        least = fmin(least, a[k * d + k]);
        most = fmax(most, a[k * d + k]);
    }
    return least >= -1e-9 * most;
}

static sock_status load_noise(sk_loading *l)
{
    const size_t d = l->model->d;
    const sk_tensor *r = sk_tensors_find(&l->tensors, NOISE);
    if (!r) return SOCK_OK;
    if (r->rows != d || r->cols != d) return sk_bad_model(l, "an array has a wrong shape", NOISE);
    if (d > SK_NOISE_MOST_DIM) return sk_bad_model(l, "noise is known in up to 10 dimensions", NOISE);
    if (!is_covariance(d, r->values)) return sk_bad_model(l, "it is no covariance matrix", NOISE);
    l->model->structure->noise = sk_doubles(l->ctx, d, d);
    if (!l->model->structure->noise) return SOCK_ENOMEM;
    memcpy(l->model->structure->noise, r->values, d * d * sizeof *r->values);
    l->used++;
    return SOCK_OK;
}

/* Second order: the second half of the states are the velocities of the first. */
static sock_status load_order(sk_loading *l, json_t *order)
{
    if (!order) return SOCK_OK;
    if (!json_is_integer(order) || json_integer_value(order) != 2)
        return sk_bad_model(l, "order is not 2, the only one that is written", NULL);
    if (l->model->d % 2 || l->model->structure->inputs)
        return sk_bad_model(l, "a model of order 2 has as many velocities as positions, and no inputs", NULL);
    l->model->structure->order = 2;
    return SOCK_OK;
}

sock_status sk_load_terms(sk_loading *l, json_t *description, json_t *spread)
{
    size_t i;
    json_t *entry, *drift = json_object_get(description, "drift"),
                   *diffusion = json_object_get(description, "diffusion");
    json_t *floor = json_object_get(description, "floor"), *has = json_object_get(description, "has_diffusion");
    SK_TRY(load_names(l, description));
    SK_TRY(load_inputs(l, json_object_get(description, "inputs")));
    SK_TRY(load_order(l, json_object_get(description, "order")));
    if (!json_is_array(drift) || !json_is_array(diffusion))
        return sk_bad_model(l, "drift or diffusion is not a list", NULL);
    json_array_foreach(drift, i, entry) SK_TRY(load_drift(l, i, entry));
    json_array_foreach(diffusion, i, entry) SK_TRY(load_diffusion(l, i, entry));
    if (spread) SK_TRY(sk_load_spread(l, spread));
    SK_TRY(load_noise(l));
    SK_TRY(sk_load_bounds(l, description));
    if (l->used != l->tensors.count) return sk_bad_model(l, "it holds an array that belongs to no term", NULL);
    l->model->floor = json_number_value(floor);
    if (!json_is_number(floor) || l->model->floor < 0) /* numbers of JSON are finite */
        return sk_bad_model(l, "floor is not a number >= 0", NULL);
    if (!json_is_boolean(has) || (json_is_false(has) && json_array_size(diffusion)))
        return sk_bad_model(l, "has_diffusion does not agree with the terms", NULL);
    l->model->has_diffusion = json_is_true(has);
    return SOCK_OK;
}

static const char *metadata(const sk_loading *l, const char *key)
{
    const char *text = json_string_value(json_object_get(l->tensors.metadata, key));
    return text ? text : "";
}

static sock_status load(sk_loading *l, const char *bytes, size_t size)
{
    SK_TRY(sk_tensors_parse(l->ctx, l->path, bytes, size, &l->tensors));
    if (strcmp(metadata(l, "format"), FORMAT) != 0) return sk_bad_model(l, "it was not written by sock", NULL);
    const bool second = strcmp(metadata(l, "format_version"), SECOND_VERSION) == 0;
    if (!second && strcmp(metadata(l, "format_version"), FIRST_VERSION) != 0)
        return sk_fail(l->ctx, SOCK_EINPUT,
                       "%s: format version '%s' is not known; this program reads versions %s and %s", l->path,
                       metadata(l, "format_version"), FIRST_VERSION, SECOND_VERSION);
    json_t *description = json_loads(metadata(l, "model"), JSON_REJECT_DUPLICATES, NULL);
    json_t *info = json_loads(metadata(l, "info"), JSON_REJECT_DUPLICATES, NULL);
    sock_status status = json_is_object(description) && json_is_object(info)
                             ? sk_load_terms(l, description, second ? json_object_get(description, "spread") : NULL)
                             : sk_bad_model(l, "its description is not JSON", NULL);
    if (status >= 0) status = sk_model_set_info(l->ctx, l->model, info, NULL);
    json_decref(description);
    json_decref(info);
    return status;
}

sock_status sk_model_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sock_model **out)
{
    sk_loading l = {.ctx = ctx, .path = path};
    sock_status status = load(&l, bytes, size);
    sk_tensors_clear(&l.tensors);
    if (status < 0) {
        sock_model_free(l.model);
        return status;
    }
    *out = l.model;
    return SOCK_OK;
}

sock_status sock_model_load(sock_context *ctx, const char *path, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!path || !out) return sk_fail(ctx, SOCK_EUSAGE, "path and output must not be NULL");
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    sock_status status = sk_model_parse(ctx, path, bytes, size, out);
    sk_free(bytes);
    return status;
}
