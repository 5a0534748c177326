/* equation.c - "dx/dt = 1.02*x - 0.98*x^3": the drift of named features; what the terms of an average have in common
 * is added up. An average with kernels that have no formula is none either; then its other parts make one, divided by
 * their share: an average of drifts that do about as well, and a drift in its own right.
 *
 * Polynomials are written about the origin in which they are short (monomials.h): 0 where the data surround it, else
 * "-1.3*(x - 300.4)" where that is all, or powers of (x - 300). */
#include "api/equation.h"
#include "api/monomials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TERMS = 12 };

/* Parts of less than that are not worth an equation of their own. */
#define SMALL_SHARE 0.05

/* The features of pivots and random cosines are exact but say nothing to a reader. */
static bool has_names(const sk_drift_term *term)
{
    if (!term->map || sk_features_pivots(term->map)) return false;
    return sk_features_count(term->map) <= 400;
}

/* The features of all terms by their names, with a coefficient and a size (the coefficient in units of the feature) for
 * each component. */
typedef struct formula {
    size_t d, count, labels_room, numbers_room;
    char **label;
    double *number;  /* count x 2 x d: coefficients, sizes */
    double *origin;  /* d, of polynomials, and as many units behind; NULL: of none */
    unsigned *power; /* count x d, likewise */
} formula;

static void formula_clear(formula *all)
{
    for (size_t i = 0; i < all->count; i++) sk_free(all->label[i]);
    sk_free(all->label);
    sk_free(all->number);
    sk_free(all->origin);
    sk_free(all->power);
}

/* The numbers of the feature of this name, new ones at zero; takes the name over. NULL when out of memory. */
static double *numbers_of(sock_context *ctx, formula *all, char *label)
{
    size_t i = 0, width = 2 * all->d;
    while (i < all->count && strcmp(all->label[i], label) != 0) i++;
    if (i < all->count) {
        sk_free(label);
        return all->number + i * width;
    }
    if (sk_grow(ctx, &all->label, &all->labels_room, i + 1, sizeof *all->label) < 0 ||
        sk_grow(ctx, &all->number, &all->numbers_room, (i + 1) * width, sizeof *all->number) < 0) {
        sk_free(label);
        return NULL;
    }
    all->label[all->count++] = label;
    memset(all->number + i * width, 0, width * sizeof *all->number);
    return all->number + i * width;
}

static sock_status collect(sock_context *ctx, const sock_model *model, const sk_drift_term *term, formula *all)
{
    for (size_t j = 0; j < sk_features_count(term->map); j++) {
        double weight = 1;
        char *label = sk_features_label(ctx, term->map, (const char *const *)model->structure->state, j, &weight);
        double *number = label ? numbers_of(ctx, all, label) : NULL;
        if (!number) return SOCK_ENOMEM;
        for (size_t k = 0; k < all->d; k++) {
            number[k] += weight * term->weight[j * all->d + k];
            number[all->d + k] += term->weight[j * all->d + k];
        }
    }
    return SOCK_OK;
}

/* ---- Polynomials ---- */

static double units_of(const formula *all, const unsigned *power)
{
    double units = 1;
    for (size_t k = 0; k < all->d; k++) units *= pow(all->origin[all->d + k], power[k]);
    return units;
}

/* A change of the origin leaves rounding where coefficients cancel: no term of the equation. */
#define ROUNDING 1e-12

static void drop_rounding(formula *all)
{
    const size_t d = all->d, width = 2 * d;
    for (size_t k = 0; k < d; k++) {
        double most = 0;
        for (size_t j = 0; j < all->count; j++) most = fmax(most, fabs(all->number[width * j + d + k]));
        for (size_t j = 0; j < all->count; j++)
            if (fabs(all->number[width * j + d + k]) <= ROUNDING * most)
                all->number[width * j + k] = all->number[width * j + d + k] = 0;
    }
}

static sock_status take_monomials(sock_context *ctx, const sock_model *model, sk_monomial_sum *sum, formula *all)
{
    const size_t d = all->d;
    for (size_t i = 0; i < sum->count; i++) {
        const unsigned *power = sum->power + i * d;
        char *label = sk_monomials_label(sum, (const char *const *)model->structure->state, power);
        double *number = label ? numbers_of(ctx, all, label) : NULL;
        if (!number) return SOCK_ENOMEM;
        for (size_t k = 0; k < d; k++) {
            number[k] = sum->number[i * d + k];
            number[d + k] = number[k] * units_of(all, power);
        }
    }
    drop_rounding(all);
    all->power = sum->power;
    sum->power = NULL;
    return SOCK_OK;
}

static sock_status collect_polynomials(sock_context *ctx, const sock_model *model, formula *all)
{
    sk_monomial_sum sum = {0};
    sock_status status = SOCK_OK;
    all->origin = sk_doubles(ctx, all->d, 2);
    if (!all->origin) return SOCK_ENOMEM;
    sk_model_origin(model, all->origin, all->origin + all->d);
    SK_GO(sk_monomials_init(ctx, all->d, all->d, all->origin, &sum));
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) SK_GO(sk_monomials_add_drift(&sum, model->drift[i], 1));
    SK_GO(take_monomials(ctx, model, &sum, all));
out:
    sk_monomials_clear(&sum);
    return status;
}

static sock_status collect_all(sock_context *ctx, const sock_model *model, formula *all)
{
    bool polynomial = true;
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) polynomial = polynomial && sk_features_polynomial(model->drift[i]->map);
    if (polynomial) return collect_polynomials(ctx, model, all);
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) SK_TRY(collect(ctx, model, model->drift[i], all));
    return SOCK_OK;
}

/* ---- Text ---- */

/* The state whose first power is all there is beside a constant in component k, with an origin that is not 0; d where
 * there is none. *slope and *constant: the two coefficients. */
static size_t only_state(const formula *all, size_t k, double *slope, double *constant)
{
    const size_t d = all->d;
    size_t found = d;
    *slope = *constant = 0;
    for (size_t j = 0; all->power && j < all->count; j++) {
        const double value = all->number[2 * d * j + k];
        size_t degree = 0, state = d;
        for (size_t l = 0; l < d; l++) {
            degree += all->power[j * d + l];
            if (all->power[j * d + l]) state = l;
        }
        if (value == 0) continue;
        if (degree == 0) *constant = value;
        if (degree > 1 || (degree == 1 && found < d)) return d;
        if (degree == 1) found = state, *slope = value;
    }
    return found < d && all->origin[found] != 0 ? found : d;
}

/* Roots that are farther from the data are no way to write a line. */
#define FAR_ROOT 10

/* *out stays NULL where component k is no -1.3*(x - 300.4). The root has three digits behind the unit of the state. */
static sock_status write_root(sock_context *ctx, const sock_model *model, const formula *all, size_t k, char **out)
{
    double slope, constant;
    const size_t state = only_state(all, k, &slope, &constant);
    if (state == all->d) return SOCK_OK;
    const double unit = all->origin[all->d + state], root = all->origin[state] - constant / slope;
    if (!(fabs(constant / slope) <= FAR_ROOT * unit) || root == 0) return SOCK_OK;
    const int digits = 4 + (int)fmax(0, fmin(12, floor(log10(fabs(root) / unit))));
    *out = sk_format(ctx, "d%s/dt = %.4g*(%s %c %.*g)", model->structure->state[k], slope,
                     model->structure->state[state], root < 0 ? '+' : '-', digits, fabs(root));
    return *out ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status append(sock_context *ctx, char **text, double value, const char *label, bool first)
{
    bool one = strcmp(label, "1") == 0;
    char *longer = sk_format(ctx, "%s%s%.4g%s%s", *text,
                             first       ? (value < 0 ? "-" : "")
                             : value < 0 ? " - "
                                         : " + ",
                             fabs(value), one ? "" : "*", one ? "" : label);
    if (!longer) return SOCK_ENOMEM;
    sk_free(*text);
    *text = longer;
    return SOCK_OK;
}

/* Component k: coefficient by coefficient, the largest contribution first. done: flags of the caller's, all false. */
static sock_status component(sock_context *ctx, const sock_model *model, const formula *all, size_t k, bool *done,
                             char **out)
{
    size_t d = all->d, shown = 0, left = 0;
    const double *value = all->number + k, *size = all->number + d + k; /* every 2 d-th */
    char *text = sk_format(ctx, "d%s/dt = ", model->structure->state[k]);
    if (!text) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    for (; status >= 0 && shown < MOST_TERMS; shown++) {
        size_t next = all->count;
        for (size_t j = 0; j < all->count; j++)
            if (!done[j] && size[2 * d * j] != 0 &&
                (next == all->count || fabs(size[2 * d * j]) > fabs(size[2 * d * next])))
                next = j;
        if (next == all->count) break;
        done[next] = true;
        status = append(ctx, &text, value[2 * d * next], all->label[next], shown == 0);
    }
    for (size_t j = 0; j < all->count; j++) left += !done[j] && size[2 * d * j] != 0;
    if (status >= 0 && (left || !shown)) {
        char *longer = left ? sk_format(ctx, "%s + %zu smaller terms", text, left) : sk_format(ctx, "%s0", text);
        if (longer) sk_free(text);
        if (longer) text = longer;
        if (!longer) status = SOCK_ENOMEM;
    }
    if (status < 0) {
        sk_free(text);
        return status;
    }
    *out = text;
    return SOCK_OK;
}

/* A text for each component: the named terms times `factor`. */
static sock_status write_all(sock_context *ctx, const sock_model *model, double factor, sk_texts *list)
{
    formula all = {.d = model->d};
    bool *done = NULL;
    sock_status status = collect_all(ctx, model, &all);
    for (size_t i = 0; status >= 0 && i < 2 * all.d * all.count; i++) all.number[i] *= factor;
    if (status >= 0) done = sk_alloc(ctx, all.count, sizeof *done);
    if (status >= 0 && !done) status = SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < model->d; k++) {
        char *text = NULL;
        memset(done, 0, all.count * sizeof *done);
        status = write_root(ctx, model, &all, k, &text);
        if (status >= 0 && !text) status = component(ctx, model, &all, k, done, &text);
        if (status >= 0) status = sk_texts_add(ctx, list, text);
        sk_free(text);
    }
    sk_free(done);
    formula_clear(&all);
    return status;
}

/* By the names of the parts: the terms of a model do not know their shares. *count: parts that are polynomials. */
static double polynomial_share(const sk_parts *drifts, size_t *count)
{
    double share = 0;
    *count = 0;
    for (size_t i = 0; i < drifts->count; i++) {
        if (!sk_kernel_text_is_polynomial(drifts->part[i].kernel)) continue;
        share += drifts->part[i].share;
        ++*count;
    }
    return share;
}

sock_status sk_equation_add(sock_context *ctx, const sock_model *model, sk_record *record)
{
    size_t named = 0, parts;
    for (size_t i = 0; i < model->drift_terms; i++) named += has_names(model->drift[i]);
    double share = polynomial_share(&record->found.drifts, &parts);
    const bool whole = named && named == model->drift_terms;
    if (whole) return write_all(ctx, model, 1, &record->equation);
    if (named != parts || share < SMALL_SHARE) return SOCK_OK;
    record->equation_part_share = share;
    return write_all(ctx, model, 1 / share, &record->equation_part);
}
