/* polynomial.c - the fields of a model as polynomials, where every feature is a monomial.
 *
 * f_k = sum_j w_jk phi_j is a list of monomials as it stands. a_kl = phi' V_k V_l' phi is one of products of two
 * features: x^p x^q = x^(p + q), collected power by power; the terms of an average add up, about one origin, and the
 * floor joins the constant on the diagonal. Cost: p^2 d^2 rank for each term, plus p^2 times the number of monomials
 * for the search.
 *
 * Standard errors, where the model tells how far it can be trusted: with the coefficient c of each part of an average
 * as a field of its own and its variance v, the root of sum share (v + c^2) - mean^2. c is linear in the weights of a
 * drift (termerrors.h); of a diffusion it is a square in V, and v that of its tangent. */
#include "api/termerrors.h"
#include "model/bands.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef sk_monomial_sum sum;

static bool named(const sk_features *map, size_t most)
{
    return map && sk_features_polynomial(map) && sk_features_count(map) <= most;
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

/* about: a sum about the origin of the map, which is where products of features are monomials. */
static sock_status multiply_features(sum *about, const sk_diffusion_term *term, unsigned *power)
{
    const size_t p = sk_features_count(term->map), d = about->d;
    unsigned *first = power, *second = power + d, *both = power + 2 * d;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double u, v;
            sk_features_monomial(term->map, i, first, &u);
            sk_features_monomial(term->map, j, second, &v);
            for (size_t k = 0; k < d; k++) both[k] = first[k] + second[k];
            double *number = sk_monomials_at(about, both);
            if (!number) return SOCK_ENOMEM;
            add_products(term, i, j, u * v, number);
        }
    return SOCK_OK;
}

/* factor: times the term. */
static sock_status add_diffusion(sum *s, const sk_diffusion_term *term, double factor, unsigned *power)
{
    const double *origin = sk_features_origin(term->map);
    sum about;
    sock_status status;
    SK_TRY(sk_monomials_init(s->ctx, s->d, s->values, s->origin, &about));
    for (size_t k = 0; k < s->d; k++) about.origin[k] = origin ? origin[k] : 0;
    SK_GO(multiply_features(&about, term, power));
    for (size_t i = 0; i < about.count * s->values; i++) about.number[i] *= factor;
    for (size_t i = 0; i < about.count; i++)
        SK_GO(sk_monomials_add(s, about.power + i * s->d, about.origin, about.number + i * s->values));
out:
    sk_monomials_clear(&about);
    return status;
}

static sock_status add_floor(sum *s, size_t d, double floor, unsigned *power)
{
    memset(power, 0, s->d * sizeof *power);
    double *number = floor > 0 ? sk_monomials_at(s, power) : NULL;
    if (!number) return floor > 0 ? SOCK_ENOMEM : SOCK_OK;
    for (size_t k = 0, place = 0; k < d; place += d - k++) number[place] += floor;
    return SOCK_OK;
}

/* ---- Standard errors of a diffusion ---- */

/* squares += share times the squares of the coefficients of `own`. */
static sock_status add_squares(const sum *own, double share, sum *squares)
{
    for (size_t m = 0; m < own->count; m++) {
        double *square = sk_monomials_at(squares, own->power + m * own->d);
        if (!square) return SOCK_ENOMEM;
        for (size_t v = 0; v < own->values; v++)
            square[v] += share * own->number[m * own->values + v] * own->number[m * own->values + v];
    }
    return SOCK_OK;
}

/* How the coefficients move with one normal number: half of c(V + R) - c(V - R). moved: V of its own. */
static sock_status add_tangent(const sk_diffusion_term *term, const sk_factor *f, size_t column, double share,
                               sk_diffusion_term *moved, unsigned *power, sum *squares)
{
    const size_t size = term->d * sk_features_count(term->map) * term->rank;
    sum tangent;
    sock_status status;
    SK_TRY(sk_monomials_init(squares->ctx, squares->d, squares->values, squares->origin, &tangent));
    for (int side = -1; side < 2; side += 2) {
        for (size_t e = 0; e < size; e++) moved->v[e] = term->v[e] / sqrt(share);
        for (size_t e = 0; e < f->count; e++)
            if (f->group[e] == column / f->rank)
                moved->v[f->entry[e]] += side * f->value[e * f->rank + column % f->rank];
        SK_GO(add_diffusion(&tangent, moved, side / 2.0, power));
    }
    SK_GO(add_squares(&tangent, share, squares));
out:
    sk_monomials_clear(&tangent);
    return status;
}

/* Part i as a diffusion of its own, with the floor. */
static sock_status own_diffusion(const sock_model *model, size_t i, unsigned *power, sum *own)
{
    SK_TRY(add_diffusion(own, model->diffusion[i], 1 / model->spread->diffusion_share[i], power));
    for (size_t j = model->spread->diffusions; j < model->diffusion_terms; j++)
        SK_TRY(add_diffusion(own, model->diffusion[j], 1, power));
    return add_floor(own, model->d, model->floor, power);
}

static sock_status part_squares(const sock_model *model, size_t i, unsigned *power, sum *squares)
{
    const double share = model->spread->diffusion_share[i];
    const sk_factor *f = model->spread->diffusion[i];
    sk_diffusion_term moved = *model->diffusion[i]; /* with a V of its own */
    sum own;
    sock_status status;
    SK_TRY(sk_monomials_init(squares->ctx, squares->d, squares->values, squares->origin, &own));
    moved.v = sk_doubles(squares->ctx, moved.d * sk_features_count(moved.map), moved.rank);
    SK_GO(moved.v ? own_diffusion(model, i, power, &own) : SOCK_ENOMEM);
    SK_GO(add_squares(&own, share, squares));
    for (size_t column = 0; f && column < f->groups * f->rank; column++)
        SK_GO(add_tangent(model->diffusion[i], f, column, share, &moved, power, squares));
out:
    sk_monomials_clear(&own);
    sk_free(moved.v);
    return status;
}

static sock_status diffusion_squares(const sock_model *model, unsigned *power, sum *squares)
{
    for (size_t i = 0; i < model->spread->diffusions; i++) SK_TRY(part_squares(model, i, power, squares));
    return SOCK_OK;
}

static bool any_term(const sk_drift_term *term) { return term->map != NULL; }

static sock_status drift_squares(const sock_model *model, unsigned *power, sum *squares)
{
    (void)power;
    return sk_drift_squares(model, any_term, squares);
}

/* ---- Text ---- */

static bool all_zero(size_t count, const double *number)
{
    while (count && number[count - 1] == 0) count--;
    return !count;
}

/* A list for one monomial. */
static json_t *errors_of(const sum *s, const double *number, const double *square)
{
    json_t *list = json_array();
    for (size_t v = 0; v < s->values; v++) json_array_append_new(list, json_real(sk_term_error(number[v], square[v])));
    return list;
}

/* squares: NULL where no errors are told. */
static sock_status to_json(const sum *s, const char *const *names, sum *squares, json_t *list)
{
    for (size_t i = 0; i < s->count; i++) {
        if (all_zero(s->values, s->number + i * s->values)) continue; /* learned away */
        char *label = sk_monomials_label(s, names, s->power + i * s->d);
        if (!label) return SOCK_ENOMEM;
        json_t *powers = json_array(), *numbers = json_array();
        for (size_t k = 0; k < s->d; k++) json_array_append_new(powers, json_integer(s->power[i * s->d + k]));
        for (size_t v = 0; v < s->values; v++) json_array_append_new(numbers, json_real(s->number[i * s->values + v]));
        json_t *entry = json_pack("{s:s, s:o, s:o}", "term", label, "powers", powers, "coefficients", numbers);
        json_array_append_new(list, entry);
        sk_free(label);
        if (!squares) continue;
        const double *square = sk_monomials_at(squares, s->power + i * s->d);
        if (!square) return SOCK_ENOMEM;
        json_object_set_new(entry, "se", errors_of(s, s->number + i * s->values, square));
    }
    return SOCK_OK;
}

static sock_status collect_drift(sum *s, const sock_model *model, unsigned *power, bool *known)
{
    (void)power;
    *known = model->drift_terms > 0;
    for (size_t i = 0; i < model->drift_terms; i++) *known = *known && named(model->drift[i]->map, SK_POLYNOMIAL_DRIFT);
    for (size_t i = 0; *known && i < model->drift_terms; i++) SK_TRY(sk_monomials_add_drift(s, model->drift[i], 1));
    return SOCK_OK;
}

static sock_status collect_diffusion(sum *s, const sock_model *model, unsigned *power, bool *known)
{
    *known = model->has_diffusion && !model->wrapped_diffusion;
    for (size_t i = 0; i < model->diffusion_terms; i++)
        *known = *known && named(model->diffusion[i]->map, SK_POLYNOMIAL_DIFFUSION);
    if (!*known) return SOCK_OK;
    for (size_t i = 0; i < model->diffusion_terms; i++) SK_TRY(add_diffusion(s, model->diffusion[i], 1, power));
    return add_floor(s, model->d, model->floor, power);
}

typedef sock_status (*collect_fn)(sum *s, const sock_model *model, unsigned *power, bool *known);

/* What is needed of one field; squares: NULL where the model tells no errors. */
typedef struct field {
    const char *key;
    collect_fn collect;
    sock_status (*squares)(const sock_model *model, unsigned *power, sum *squares);
} field;

/* One field under its key: a list of terms, or null. */
static sock_status put_field(sum *s, const sock_model *model, const field *f, json_t *object)
{
    unsigned *power = sk_alloc(s->ctx, 3 * s->d, sizeof *power);
    const char **names = sk_model_coordinates(s->ctx, model);
    json_t *list = json_array();
    bool known = false;
    sum squares = {0};
    sock_status status = power && names ? f->collect(s, model, power, &known) : SOCK_ENOMEM;
    if (status >= 0) status = sk_monomials_init(s->ctx, s->d, s->values, s->origin, &squares);
    if (status >= 0 && known && f->squares) status = f->squares(model, power, &squares);
    if (status >= 0 && known) status = to_json(s, names, f->squares ? &squares : NULL, list);
    sk_monomials_clear(&squares);
    json_object_set_new(object, f->key, known ? json_incref(list) : json_null());
    json_decref(list);
    sk_free(names);
    sk_free(power);
    return status;
}

/* Both fields about the same origin, and that origin. */
static sock_status put_fields(sock_context *ctx, const sock_model *model, const double *origin, json_t *object)
{
    const size_t d = model->d, in = sk_model_in(model);
    sum drift, diffusion = {0};
    json_t *list = json_array();
    sock_status status;
    for (size_t k = 0; k < in; k++) json_array_append_new(list, json_real(origin[k]));
    json_object_set_new(object, "origin", list);
    SK_GO(sk_monomials_init(ctx, in, d, origin, &drift));
    SK_GO(sk_monomials_init(ctx, in, d * (d + 1) / 2, origin, &diffusion));
    const bool banded = model->spread != NULL, a_banded = banded && sk_spread_has_diffusion(model->spread);
    const field f = {"drift", collect_drift, banded ? drift_squares : NULL};
    const field a = {"diffusion", collect_diffusion, a_banded ? diffusion_squares : NULL};
    SK_GO(put_field(&drift, model, &f, object));
    SK_GO(put_field(&diffusion, model, &a, object));
out:
    sk_monomials_clear(&drift);
    sk_monomials_clear(&diffusion);
    return status;
}

sock_status sock_model_terms(sock_context *ctx, const sock_model *model, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !json) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    double *origin = sk_doubles(ctx, sk_model_in(model), 2);
    if (!origin) return SOCK_ENOMEM;
    json_t *object = json_object();
    sk_model_origin(model, origin, origin + sk_model_in(model));
    sock_status status = put_fields(ctx, model, origin, object);
    char *text = status >= 0 ? json_dumps(object, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
    char *copy = text ? sk_strdup(ctx, text) : NULL;
    json_decref(object);
    free(text);
    sk_free(origin);
    if (status >= 0 && !copy) status = sk_fail(ctx, SOCK_ENOMEM, "out of memory: the terms could not be written");
    if (copy) *json = copy;
    return status;
}
