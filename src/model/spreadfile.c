/* spreadfile.c - how far a model can be trusted, in its file.
 *
 *   description   spread: {share, pi, diffusion_share, lower, upper}, drift: the candidates that are not in f, and
 * peers, where there are any: [{weight, model}], each model as in modeljson.c, with a spread of its own arrays
 * drift.I.factor, drift.I.entry (which weight, which group), diffusion.I.factor, diffusion.I.entry, spread.drift.J.*
 * (as drift.I.*, with a factor or without), spread.0.sup */
#include "model/modelfile.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Saving ---- */

static sock_status save_factor(sk_saving *s, const char *room, size_t i, const sk_factor *f)
{
    if (!f) return SOCK_OK;
    double *entry = sk_save_own(s, f->count, 2);
    if (!entry) return SOCK_ENOMEM;
    for (size_t e = 0; e < f->count; e++) {
        entry[2 * e] = (double)f->entry[e];
        entry[2 * e + 1] = (double)f->group[e];
    }
    SK_TRY(sk_save_array(s, room, i, "entry", f->count, 2, entry));
    return sk_save_array(s, room, i, "factor", f->count, f->rank, f->value);
}

static void put_numbers(json_t *object, const char *key, size_t count, const double *value)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_real(value[i]));
    json_object_set_new(object, key, list);
}

static sock_status save_peers(sk_saving *s, const sk_spread *spread, json_t *object)
{
    if (!spread->peers) return SOCK_OK;
    json_t *list = json_array();
    json_object_set_new(object, "peers", list);
    for (size_t i = 0; i < spread->peers; i++) {
        json_t *peer = NULL;
        SK_TRY(sk_model_to_json(s->ctx, spread->peer[i], &peer));
        json_array_append_new(list, json_pack("{s:f, s:o}", "weight", spread->weight[i], "model", peer));
    }
    return SOCK_OK;
}

sock_status sk_save_spread(sk_saving *s, const sock_model *model, json_t *description)
{
    const sk_spread *spread = model->spread;
    json_t *object = json_object(), *others = json_array();
    json_object_set_new(description, "spread", object);
    put_numbers(object, "share", spread->drifts, spread->share);
    put_numbers(object, "pi", spread->drifts + spread->others, spread->pi);
    put_numbers(object, "diffusion_share", spread->diffusions, spread->diffusion_share);
    put_numbers(object, "lower", spread->in, spread->lower);
    put_numbers(object, "upper", spread->in, spread->upper);
    json_object_set_new(object, "drift", others);
    SK_TRY(save_peers(s, spread, object));
    for (size_t i = 0; i < spread->drifts; i++) SK_TRY(save_factor(s, "drift", i, spread->drift[i]));
    for (size_t i = 0; i < spread->others; i++) {
        SK_TRY(sk_save_drift(s, "spread.drift", spread->other[i], i, others));
        SK_TRY(save_factor(s, "spread.drift", i, spread->other_law[i]));
    }
    for (size_t i = 0; i < spread->diffusions; i++) SK_TRY(save_factor(s, "diffusion", i, spread->diffusion[i]));
    return sk_save_array(s, "spread", 0, "sup", SK_SUP_DRAWS, 1, spread->sup);
}

/* ---- Loading ---- */

static bool is_index(double value, size_t most) { return value >= 0 && value < (double)most && value == floor(value); }

/* Every number of a term at most once; groups below `groups`. */
static bool good_entries(size_t count, const double *entry, size_t numbers, size_t groups, bool *seen)
{
    for (size_t e = 0; e < count; e++) {
        if (!is_index(entry[2 * e], numbers) || !is_index(entry[2 * e + 1], groups)) return false;
        bool *this_one = &seen[(size_t)entry[2 * e]];
        if (*this_one) return false;
        *this_one = true;
    }
    return true;
}

/* numbers: of the term; groups: most. */
static sock_status load_factor(sk_loading *l, const char *room, size_t i, size_t numbers, size_t groups,
                               sk_factor **out)
{
    const sk_tensor *value = sk_find_array(l, room, i, "factor");
    if (!value || value->rows > numbers || value->cols > numbers)
        return sk_bad_model(l, "a factor is missing or has a wrong shape", room);
    const size_t count = value->rows, rank = value->cols;
    double *entry = NULL, *copy = NULL;
    bool *seen = sk_alloc(l->ctx, numbers, sizeof *seen);
    sock_status status = seen ? sk_take_array(l, room, i, "entry", count, 2, &entry) : SOCK_ENOMEM;
    if (status >= 0) status = sk_take_array(l, room, i, "factor", count, rank, &copy);
    if (status >= 0 && !good_entries(count, entry, numbers, groups, seen))
        status = sk_bad_model(l, "a factor moves a number that is not there, or moves one twice", room);
    if (status >= 0) status = sk_factor_new(l->ctx, count, rank, 1, out);
    for (size_t e = 0; status >= 0 && e < count; e++) {
        (*out)->entry[e] = (size_t)entry[2 * e];
        (*out)->group[e] = (size_t)entry[2 * e + 1];
        (*out)->groups = SK_MAX((*out)->groups, (*out)->group[e] + 1);
    }
    if (status >= 0 && count && rank) memcpy((*out)->value, copy, count * rank * sizeof *copy);
    sk_free(seen);
    sk_free(entry);
    sk_free(copy);
    return status;
}

static sock_status take_numbers(const sk_loading *l, json_t *object, const char *key, size_t count, double *out)
{
    json_t *list = json_object_get(object, key);
    if (json_array_size(list) != count) return sk_bad_model(l, "a list has a wrong length", key);
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(list, i))) return sk_bad_model(l, "a number is not a number", key);
        out[i] = json_number_value(json_array_get(list, i));
    }
    return SOCK_OK;
}

/* Numbers of at least `least` (more than it: open) that add up to one. */
static sock_status check_shares(const sk_loading *l, const char *key, size_t count, const double *share, bool open)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(open ? share[i] > 0 : share[i] >= 0)) return sk_bad_model(l, "a share is not positive", key);
        sum += share[i];
    }
    /* rounding */
    return count && !(fabs(sum - 1) < 1e-6) ? sk_bad_model(l, "the shares do not add up to 1", key) : SOCK_OK;
}

static sock_status load_numbers(sk_loading *l, json_t *object, sk_spread *s)
{
    double *sup = NULL;
    SK_TRY(take_numbers(l, object, "share", s->drifts, s->share));
    SK_TRY(take_numbers(l, object, "pi", s->drifts + s->others, s->pi));
    SK_TRY(take_numbers(l, object, "diffusion_share", s->diffusions, s->diffusion_share));
    SK_TRY(take_numbers(l, object, "lower", s->in, s->lower));
    SK_TRY(take_numbers(l, object, "upper", s->in, s->upper));
    SK_TRY(check_shares(l, "share", s->drifts, s->share, false)); /* some terms are certain */
    SK_TRY(check_shares(l, "pi", s->drifts + s->others, s->pi, false));
    for (size_t i = 0; i < s->drifts; i++)
        if (s->pi[i] > 0 && !(s->share[i] > 0)) return sk_bad_model(l, "a candidate has no share", "pi");
    SK_TRY(check_shares(l, "diffusion_share", s->diffusions, s->diffusion_share, true));
    SK_TRY(sk_take_array(l, "spread", 0, "sup", SK_SUP_DRAWS, 1, &sup));
    memcpy(s->sup, sup, SK_SUP_DRAWS * sizeof *sup);
    sk_free(sup);
    bool rises = s->sup[0] >= 0;
    for (size_t i = 1; i < SK_SUP_DRAWS; i++) rises = rises && s->sup[i] >= s->sup[i - 1];
    return rises ? SOCK_OK : sk_bad_model(l, "the deviations of the draws do not rise", "spread.0.sup");
}

static sock_status load_terms(sk_loading *l, json_t *others, sk_spread *s)
{
    const sock_model *model = l->model;
    for (size_t i = 0; i < s->drifts; i++) {
        if (!model->drift[i]->map && sk_kernel_is_matrix(model->drift[i]->kernel))
            return sk_bad_model(l, "a drift with a matrix-valued kernel has no factor", "spread");
        const size_t numbers = sk_drift_term_size(model->drift[i]) * s->d;
        SK_TRY(load_factor(l, "drift", i, numbers, s->d, &s->drift[i]));
    }
    for (size_t i = 0; i < s->others; i++) {
        SK_TRY(sk_load_drift(l, "spread.drift", i, json_array_get(others, i), &s->other[i]));
        if (!s->other[i]->map) return sk_bad_model(l, "a candidate has no features", "spread");
        const size_t numbers = sk_features_count(s->other[i]->map) * s->d;
        if (sk_find_array(l, "spread.drift", i, "factor"))
            SK_TRY(load_factor(l, "spread.drift", i, numbers, s->d, &s->other_law[i]));
    }
    for (size_t i = 0; i < s->diffusions; i++) {
        const sk_diffusion_term *term = model->diffusion[i];
        const size_t numbers = s->d * sk_features_count(term->map) * term->rank;
        if (!sk_find_array(l, "diffusion", i, "factor")) continue;
        SK_TRY(load_factor(l, "diffusion", i, numbers, s->d, &s->diffusion[i]));
    }
    return SOCK_OK;
}

/* A peer is a model of the same states, and says how far it can be trusted; it has no inputs, and no peers itself. */
static bool is_peer(const sock_model *model, const sock_model *peer)
{
    const sk_spread *s = peer->spread;
    bool same = peer->d == model->d && s && !s->peers && sk_model_in(peer) == peer->d &&
                peer->structure->order == model->structure->order && peer->has_diffusion == model->has_diffusion &&
                (s->diffusions > 0) == (model->spread->diffusions > 0);
    for (size_t k = 0; same && k < model->d; k++)
        same = strcmp(peer->structure->state[k], model->structure->state[k]) == 0;
    return same;
}

static sock_status load_peer(sk_loading *l, json_t *entry)
{
    json_t *weight = json_object_get(entry, "weight");
    const double value = json_number_value(weight);
    sock_model *peer = NULL;
    if (!json_is_number(weight) || !(value > 0) || value > sk_spread_alone(l->model->spread) * (1 + 1e-9))
        return sk_bad_model(l, "the weights of peers are not positive numbers whose sum is at most 1", "spread");
    if (sk_model_in(l->model) != l->model->d) return sk_bad_model(l, "a model with inputs has no peers", "spread");
    SK_TRY(sk_model_of_json(l->ctx, l->path, json_object_get(entry, "model"), &peer));
    sock_status status = is_peer(l->model, peer) ? SOCK_OK : sk_bad_model(l, "a peer is no model like it", "spread");
    if (status >= 0) status = sk_spread_add_peer(l->ctx, l->model->spread, value, peer);
    if (status < 0) sock_model_free(peer);
    return status;
}

static sock_status load_peers(sk_loading *l, json_t *peers)
{
    size_t i;
    json_t *entry;
    if (!peers) return SOCK_OK;
    if (!json_is_array(peers) || json_array_size(peers) > SK_MOST_PEERS)
        return sk_bad_model(l, "peers is not a list of at most 8", "spread");
    json_array_foreach(peers, i, entry) SK_TRY(load_peer(l, entry));
    return SOCK_OK;
}

sock_status sk_load_spread(sk_loading *l, json_t *object)
{
    sock_model *model = l->model;
    json_t *others = json_object_get(object, "drift");
    const size_t diffusions = json_array_size(json_object_get(object, "diffusion_share"));
    if (!json_is_object(object) || !json_is_array(others)) return sk_bad_model(l, "spread is not an object", NULL);
    if (!model->drift_terms || diffusions > model->diffusion_terms)
        return sk_bad_model(l, "spread does not agree with the terms", NULL);
    SK_TRY(sk_spread_new(l->ctx, model->d, sk_model_in(model), model->drift_terms, json_array_size(others), diffusions,
                         &model->spread));
    SK_TRY(load_numbers(l, object, model->spread));
    SK_TRY(load_terms(l, others, model->spread));
    return load_peers(l, json_object_get(object, "peers"));
}
