/* polynomial.c - the fields of a model as polynomials, where every feature is a monomial.
 *
 * f_k = sum_j w_jk phi_j is a list of monomials as it stands. a_kl = phi' V_k V_l' phi is one of products of two
 * features: x^p x^q = x^(p + q), collected power by power; the terms of an average add up, and the floor joins the
 * constant on the diagonal. Cost: p^2 d^2 rank for each term, plus p^2 times the number of monomials for the search. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { DRIFT_MOST = 1000, DIFFUSION_MOST = 120 }; /* features */

/* Monomials with `values` coefficients each. */
typedef struct sum {
    sock_context *ctx;
    size_t d, values, count, powers_room, numbers_room;
    unsigned *power; /* count x d */
    double *number;  /* count x values */
} sum;

/* The coefficients of the monomial, new ones at zero; NULL when out of memory. */
static double *at(sum *s, const unsigned *power)
{
    for (size_t i = 0; i < s->count; i++)
        if (memcmp(s->power + i * s->d, power, s->d * sizeof *power) == 0) return s->number + i * s->values;
    const size_t count = s->count + 1;
    if (sk_grow(s->ctx, &s->power, &s->powers_room, count * s->d, sizeof *s->power) < 0 ||
        sk_grow(s->ctx, &s->number, &s->numbers_room, count * s->values, sizeof *s->number) < 0)
        return NULL;
    memcpy(s->power + s->count * s->d, power, s->d * sizeof *power);
    double *number = s->number + s->count * s->values;
    memset(number, 0, s->values * sizeof *number);
    s->count = count;
    return number;
}

static bool named(const sk_features *map, size_t most)
{
    return map && sk_features_polynomial(map) && sk_features_count(map) <= most;
}

static sock_status add_drift(sum *s, const sk_drift_term *term, unsigned *power)
{
    for (size_t j = 0; j < sk_features_count(term->map); j++) {
        double weight;
        sk_features_monomial(term->map, j, power, &weight);
        double *number = at(s, power);
        if (!number) return SOCK_ENOMEM;
        for (size_t k = 0; k < s->d; k++) number[k] += weight * term->weight[j * s->d + k];
    }
    return SOCK_OK;
}

/* out (for k <= l, row by row) += weight times row i of V_k times row j of V_l. */
static void add_products(const sk_diffusion_term *term, size_t i, size_t j, double weight, double *out)
{
    const size_t p = sk_features_count(term->map), r = term->rank;
    for (size_t k = 0; k < term->d; k++)
        for (size_t l = k; l < term->d; l++, out++) {
            const double *left = term->v + (k * p + i) * r, *right = term->v + (l * p + j) * r;
            double product = 0;
            for (size_t c = 0; c < r; c++)
                if (!term->owner || (term->owner[c] == k && k == l)) product += left[c] * right[c];
            *out += weight * product;
        }
}

static sock_status add_diffusion(sum *s, const sk_diffusion_term *term, unsigned *power)
{
    const size_t p = sk_features_count(term->map), d = s->d;
    unsigned *first = power, *second = power + d, *both = power + 2 * d;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double u, v;
            sk_features_monomial(term->map, i, first, &u);
            sk_features_monomial(term->map, j, second, &v);
            for (size_t k = 0; k < d; k++) both[k] = first[k] + second[k];
            double *number = at(s, both);
            if (!number) return SOCK_ENOMEM;
            add_products(term, i, j, u * v, number);
        }
    return SOCK_OK;
}

static sock_status add_floor(sum *s, double floor, unsigned *power)
{
    memset(power, 0, s->d * sizeof *power);
    double *number = floor > 0 ? at(s, power) : NULL;
    if (!number) return floor > 0 ? SOCK_ENOMEM : SOCK_OK;
    for (size_t k = 0, place = 0; k < s->d; place += s->d - k++) number[place] += floor;
    return SOCK_OK;
}

/* "x^2*y", "1". */
static sock_status label_of(sock_context *ctx, const sock_model *model, const unsigned *power, char **out)
{
    char *text = sk_strdup(ctx, "");
    for (size_t k = 0; text && k < model->d; k++) {
        if (!power[k]) continue;
        const char *join = *text ? "*" : "";
        char *longer = power[k] > 1 ? sk_format(ctx, "%s%s%s^%u", text, join, model->structure->state[k], power[k])
                                    : sk_format(ctx, "%s%s%s", text, join, model->structure->state[k]);
        sk_free(text);
        text = longer;
    }
    if (text && !*text) {
        sk_free(text);
        text = sk_strdup(ctx, "1");
    }
    *out = text;
    return text ? SOCK_OK : SOCK_ENOMEM;
}

static bool all_zero(size_t count, const double *number)
{
    while (count && number[count - 1] == 0) count--;
    return !count;
}

static sock_status to_json(const sum *s, const sock_model *model, json_t *list)
{
    for (size_t i = 0; i < s->count; i++) {
        char *label = NULL;
        if (all_zero(s->values, s->number + i * s->values)) continue; /* learned away */
        SK_TRY(label_of(s->ctx, model, s->power + i * s->d, &label));
        json_t *powers = json_array(), *numbers = json_array();
        for (size_t k = 0; k < s->d; k++) json_array_append_new(powers, json_integer(s->power[i * s->d + k]));
        for (size_t v = 0; v < s->values; v++) json_array_append_new(numbers, json_real(s->number[i * s->values + v]));
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "term", label, "powers", powers, "coefficients", numbers));
        sk_free(label);
    }
    return SOCK_OK;
}

static sock_status collect_drift(sum *s, const sock_model *model, unsigned *power, bool *known)
{
    *known = model->drift_terms > 0;
    for (size_t i = 0; i < model->drift_terms; i++) *known = *known && named(model->drift[i]->map, DRIFT_MOST);
    for (size_t i = 0; *known && i < model->drift_terms; i++) SK_TRY(add_drift(s, model->drift[i], power));
    return SOCK_OK;
}

static sock_status collect_diffusion(sum *s, const sock_model *model, unsigned *power, bool *known)
{
    *known = model->has_diffusion && !model->wrapped_diffusion;
    for (size_t i = 0; i < model->diffusion_terms; i++)
        *known = *known && named(model->diffusion[i]->map, DIFFUSION_MOST);
    if (!*known) return SOCK_OK;
    for (size_t i = 0; i < model->diffusion_terms; i++) SK_TRY(add_diffusion(s, model->diffusion[i], power));
    return add_floor(s, model->floor, power);
}

typedef sock_status (*collect_fn)(sum *s, const sock_model *model, unsigned *power, bool *known);

/* One field under its key: a list of terms, or null. */
static sock_status put_field(sock_context *ctx, const sock_model *model, const char *key, size_t values,
                             collect_fn collect, json_t *object)
{
    sum s = {.ctx = ctx, .d = model->d, .values = values};
    unsigned *power = sk_alloc(ctx, 3 * model->d, sizeof *power);
    json_t *list = json_array();
    bool known = false;
    sock_status status = power ? collect(&s, model, power, &known) : SOCK_ENOMEM;
    if (status >= 0 && known) status = to_json(&s, model, list);
    json_object_set_new(object, key, known ? json_incref(list) : json_null());
    json_decref(list);
    sk_free(power);
    sk_free(s.power);
    sk_free(s.number);
    return status;
}

sock_status sock_model_terms(sock_context *ctx, const sock_model *model, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    json_t *object = json_object();
    sock_status status = put_field(ctx, model, "drift", model->d, collect_drift, object);
    if (status >= 0)
        status = put_field(ctx, model, "diffusion", model->d * (model->d + 1) / 2, collect_diffusion, object);
    char *text = status >= 0 ? json_dumps(object, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
    char *copy = text ? sk_strdup(ctx, text) : NULL;
    json_decref(object);
    free(text);
    if (status >= 0 && !copy) status = sk_fail(ctx, SOCK_ENOMEM, "out of memory: the terms could not be written");
    if (copy) *json = copy;
    return status;
}
