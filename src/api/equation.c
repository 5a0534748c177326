/* equation.c - "dx/dt = 1.02*x - 0.98*x^3": the drift of named features; what the terms of an average have in common
 * is added up. An average with kernels that have no formula is none either; then its other parts make one, divided by
 * their share: an average of drifts that do about as well, and a drift in its own right.
 *
 * Polynomials are written about the origin in which they are short (monomials.h): 0 where the data surround it, else
 * "-1.3*(x - 300.4)" where that is all, or powers of (x - 300). */
#include "api/equation.h"
#include "api/termerrors.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The features of pivots and random cosines are exact but say nothing to a reader. */
static bool has_names(const sk_drift_term *term)
{
    if (!term->map || sk_features_pivots(term->map)) return false;
    return sk_features_count(term->map) <= SK_EQUATION_FEATURES;
}

/* The features of all terms by their names, with a coefficient, a size (the coefficient in units of the feature) and a
 * mean square (of the coefficient as the parts of an average have it, with the variance of each) for each component. */
enum { COEFFICIENT, SIZE, SQUARE, NUMBERS };

typedef struct formula {
    size_t d, in, count, labels_room, numbers_room;
    char **label;
    double *number;     /* count x NUMBERS x d */
    double *origin;     /* in, of polynomials, and as many units behind; NULL: of none */
    unsigned *power;    /* count x in, likewise */
    const char **names; /* in: of states and inputs */
} formula;

static void formula_clear(formula *all)
{
    for (size_t i = 0; i < all->count; i++) sk_free(all->label[i]);
    sk_free(all->label);
    sk_free(all->number);
    sk_free(all->origin);
    sk_free(all->power);
    sk_free(all->names);
}

/* The numbers of the feature of this name, new ones at zero; takes the name over. NULL when out of memory. */
static double *numbers_of(sock_context *ctx, formula *all, char *label)
{
    size_t i = 0, width = NUMBERS * all->d;
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

/* The variance of each weight of a term as a drift of its own: p x d, zero where it does not move. */
static sock_status variances(sock_context *ctx, const sock_model *model, size_t i, double **out)
{
    const sk_factor *f = model->spread ? model->spread->drift[i] : NULL;
    double *variance = sk_doubles(ctx, sk_features_count(model->drift[i]->map), model->d);
    if (!variance) return SOCK_ENOMEM;
    for (size_t e = 0; f && e < f->count; e++)
        variance[f->entry[e]] = sk_dot(f->rank, f->value + e * f->rank, f->value + e * f->rank);
    *out = variance;
    return SOCK_OK;
}

static sock_status collect(sock_context *ctx, const sock_model *model, size_t i, formula *all)
{
    const sk_drift_term *term = model->drift[i];
    const double share = sk_spread_share(model->spread, i);
    double *variance = NULL;
    sock_status status = variances(ctx, model, i, &variance);
    for (size_t j = 0; status >= 0 && j < sk_features_count(term->map); j++) {
        double weight = 1;
        char *label = sk_features_label(ctx, term->map, all->names, j, &weight);
        double *number = label ? numbers_of(ctx, all, label) : NULL;
        if (!number) status = SOCK_ENOMEM;
        for (size_t k = 0; number && k < all->d; k++) {
            const size_t at = j * all->d + k;
            const double own = term->weight[at] / share;
            number[COEFFICIENT * all->d + k] += weight * term->weight[at];
            number[SIZE * all->d + k] += term->weight[at];
            number[SQUARE * all->d + k] += share * weight * weight * (own * own + variance[at]);
        }
    }
    sk_free(variance);
    return status;
}

/* ---- Polynomials ---- */

static double units_of(const formula *all, const unsigned *power)
{
    double units = 1;
    for (size_t k = 0; k < all->in; k++) units *= pow(all->origin[all->in + k], power[k]);
    return units;
}

/* A change of the origin leaves rounding where coefficients cancel: no term of the equation. */
static const double ROUNDING = 1e-12;

static void drop_rounding(formula *all)
{
    const size_t d = all->d;
    for (size_t k = 0; k < d; k++) {
        double most = 0;
        for (size_t j = 0; j < all->count; j++) most = fmax(most, fabs(all->number[(NUMBERS * j + SIZE) * d + k]));
        for (size_t j = 0; j < all->count; j++) {
            double *number = all->number + NUMBERS * d * j + k;
            if (fabs(number[SIZE * d]) <= ROUNDING * most) number[COEFFICIENT * d] = number[SIZE * d] = 0;
        }
    }
}

/* squares: of the coefficients, see sk_drift_squares; nothing is known where it is empty. */
static sock_status take_monomials(sock_context *ctx, sk_monomial_sum *sum, sk_monomial_sum *squares, formula *all)
{
    const size_t d = all->d;
    for (size_t i = 0; i < sum->count; i++) {
        const unsigned *power = sum->power + i * all->in;
        char *label = sk_monomials_label(sum, all->names, power);
        double *number = label ? numbers_of(ctx, all, label) : NULL;
        const double *square = sk_monomials_at(squares, power);
        if (!number || !square) return SOCK_ENOMEM;
        for (size_t k = 0; k < d; k++) {
            number[COEFFICIENT * d + k] = sum->number[i * d + k];
            number[SIZE * d + k] = sum->number[i * d + k] * units_of(all, power);
            number[SQUARE * d + k] = square[k];
        }
    }
    drop_rounding(all);
    all->power = sum->power;
    sum->power = NULL;
    return SOCK_OK;
}

static sock_status collect_polynomials(sock_context *ctx, const sock_model *model, formula *all)
{
    sk_monomial_sum sum = {0}, squares = {0};
    sock_status status = SOCK_OK;
    all->origin = sk_doubles(ctx, all->in, 2);
    if (!all->origin) return SOCK_ENOMEM;
    sk_model_origin(model, all->origin, all->origin + all->in);
    SK_GO(sk_monomials_init(ctx, all->in, all->d, all->origin, &sum));
    SK_GO(sk_monomials_init(ctx, all->in, all->d, all->origin, &squares));
    if (model->spread) SK_GO(sk_drift_squares(model, has_names, &squares));
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) SK_GO(sk_monomials_add_drift(&sum, model->drift[i], 1));
    SK_GO(take_monomials(ctx, &sum, &squares, all));
out:
    sk_monomials_clear(&sum);
    sk_monomials_clear(&squares);
    return status;
}

static sock_status collect_all(sock_context *ctx, const sock_model *model, formula *all)
{
    bool polynomial = true;
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) polynomial = polynomial && sk_features_polynomial(model->drift[i]->map);
    if (polynomial) return collect_polynomials(ctx, model, all);
    for (size_t i = 0; i < model->drift_terms; i++)
        if (has_names(model->drift[i])) SK_TRY(collect(ctx, model, i, all));
    return SOCK_OK;
}

/* ---- Text ---- */

/* The state or input whose first power is all there is beside a constant in component k, with an origin that is not 0;
 * `in` where there is none. *slope and *constant: the two coefficients. */
static size_t only_state(const formula *all, size_t k, double *slope, double *constant)
{
    const size_t d = all->d, in = all->in;
    size_t found = in;
    *slope = *constant = 0;
    for (size_t j = 0; all->power && j < all->count; j++) {
        const double value = all->number[NUMBERS * d * j + k];
        size_t degree = 0, state = in;
        for (size_t l = 0; l < in; l++) {
            degree += all->power[j * in + l];
            if (all->power[j * in + l]) state = l;
        }
        if (value == 0) continue;
        if (degree == 0) *constant = value;
        if (degree > 1 || (degree == 1 && found < in)) return in;
        if (degree == 1) found = state, *slope = value;
    }
    return found < in && all->origin[found] != 0 ? found : in;
}

/* The standard errors of the slope and of the root: about the root the constant is 0, and its error that of the root
 * times the slope. factor: as in write_all. */
static sock_status root_errors(sock_context *ctx, const sock_model *model, const formula *all, size_t k, size_t state,
                               double root, double factor, sk_numbers *out)
{
    const size_t in = all->in;
    double *about = sk_doubles(ctx, in, 1), slope = 0, constant;
    unsigned *power = sk_alloc(ctx, in, sizeof *power);
    sk_monomial_sum squares = {0};
    sock_status status;
    *out = (sk_numbers){2, sk_doubles(ctx, 2, 1)};
    SK_GO(about && power && out->value ? SOCK_OK : SOCK_ENOMEM);
    memcpy(about, all->origin, in * sizeof *about);
    about[state] = root;
    only_state(all, k, &slope, &constant);
    SK_GO(sk_monomials_init(ctx, in, all->d, about, &squares));
    SK_GO(sk_drift_squares(model, has_names, &squares));
    for (unsigned one = 0; one < 2; one++) {
        power[state] = 1 - one;
        const double *square = sk_monomials_at(&squares, power);
        SK_GO(square ? SOCK_OK : SOCK_ENOMEM);
        out->value[one] = sk_term_error(one ? 0 : slope, factor * square[k]) / (one ? fabs(slope) : 1);
    }
out:
    sk_monomials_clear(&squares);
    sk_free(about);
    sk_free(power);
    return status;
}

/* *out stays NULL where component k is no -1.3*(x - 300.4). The root has three digits behind the unit of the state.
 * errors: NULL where the model tells none. */
static sock_status write_root(sock_context *ctx, const sock_model *model, const formula *all, size_t k, double factor,
                              char **out, sk_numbers *errors)
{
    double slope, constant;
    const size_t state = only_state(all, k, &slope, &constant);
    if (state == all->in) return SOCK_OK;
    assert(all->origin); /* there is a polynomial */
    const double unit = all->origin[all->in + state], root = all->origin[state] - constant / slope;
    if (!(fabs(constant / slope) <= SK_FAR_ROOT * unit) || root == 0) return SOCK_OK;
    const int digits = 4 + (int)fmax(0, fmin(12, floor(log10(fabs(root) / unit))));
    *out = sk_format(ctx, "d%s/dt = %.4g*(%s %c %.*g)", model->structure->state[k], slope, all->names[state],
                     root < 0 ? '+' : '-', digits, fabs(root));
    if (!*out) return SOCK_ENOMEM;
    return errors ? root_errors(ctx, model, all, k, state, root, factor, errors) : SOCK_OK;
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

/* The order in which the terms of component k are shown, the largest contribution first, at most `most`; answers how
 * many there are in all. order: `most` places. */
static size_t sort_terms(const formula *all, size_t k, size_t most, size_t *order)
{
    size_t count = 0;
    for (size_t j = 0; j < all->count; j++) {
        const double size = fabs(all->number[(j * NUMBERS + SIZE) * all->d + k]);
        if (size == 0) continue;
        size_t at = SK_MIN(count, most);
        count++;
        for (; at > 0 && size > fabs(all->number[(order[at - 1] * NUMBERS + SIZE) * all->d + k]); at--)
            if (at < most) order[at] = order[at - 1];
        if (at < most) order[at] = j;
    }
    return count;
}

/* Component k: coefficient by coefficient. */
static sock_status component(sock_context *ctx, const sock_model *model, const formula *all, size_t k, char **out)
{
    size_t order[SK_EQUATION_TERMS] = {0};
    const size_t count = sort_terms(all, k, SK_EQUATION_TERMS, order);
    char *text = sk_format(ctx, "d%s/dt = ", model->structure->state[k]);
    if (!text) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < SK_MIN(count, SK_EQUATION_TERMS); i++)
        status = append(ctx, &text, all->number[order[i] * NUMBERS * all->d + k], all->label[order[i]], i == 0);
    if (status >= 0 && (count > SK_EQUATION_TERMS || !count)) {
        char *longer = count ? sk_format(ctx, "%s + %zu smaller terms", text, count - SK_EQUATION_TERMS)
                             : sk_format(ctx, "%s0", text);
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

/* The standard errors of what component k shows. */
static sock_status component_errors(sock_context *ctx, const formula *all, size_t k, sk_numbers *out)
{
    size_t order[SK_EQUATION_TERMS] = {0};
    const size_t count = SK_MIN(sort_terms(all, k, SK_EQUATION_TERMS, order), SK_EQUATION_TERMS);
    *out = (sk_numbers){count, sk_doubles(ctx, count, 1)};
    if (!out->value) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const double *number = all->number + order[i] * NUMBERS * all->d + k;
        out->value[i] = sk_term_error(number[COEFFICIENT * all->d], number[SQUARE * all->d]);
    }
    return SOCK_OK;
}

/* A text for each component: the named terms times `factor`, but for clocks (NULL: none); and their errors where the
 * model tells them. */
static sock_status write_all(sock_context *ctx, const sock_model *model, double factor, const double *clock,
                             sk_texts *list, sk_number_lists *errors)
{
    formula all = {.d = model->d, .in = sk_model_in(model), .names = sk_model_coordinates(ctx, model)};
    sock_status status = all.names ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && model->spread) status = sk_number_lists_new(ctx, model->d, errors);
    if (status >= 0) status = collect_all(ctx, model, &all);
    for (size_t i = 0; status >= 0 && i < NUMBERS * all.d * all.count; i++)
        if (!clock || isnan(clock[i % all.d])) all.number[i] *= factor;
    for (size_t k = 0; status >= 0 && k < model->d; k++) {
        sk_numbers *own = model->spread ? &errors->list[k] : NULL;
        char *text = NULL;
        status = write_root(ctx, model, &all, k, factor, &text, own);
        const bool written = text != NULL;
        if (status >= 0 && !written) status = component(ctx, model, &all, k, &text);
        if (status >= 0 && !written && own) status = component_errors(ctx, &all, k, own);
        if (status >= 0) status = sk_texts_add(ctx, list, text);
        sk_free(text);
    }
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

/* Of the terms of f among all candidates, and of the model among its peers. */
static double weight_of(const sock_model *model)
{
    const sk_spread *spread = model->spread;
    double sum = 0;
    if (!spread) return (double)NAN;
    for (size_t i = 0; i < spread->drifts; i++) sum += spread->pi[i];
    return fmin(sum, 1) * sk_spread_alone(spread);
}

sock_status sk_equation_add(sock_context *ctx, const sock_model *model, sk_record *record)
{
    size_t named = 0, parts;
    const double *clock = record->found.clock;
    const size_t terms = model->drift_terms - (clock ? 1 : 0); /* that of clocks is the last, and no part */
    for (size_t i = 0; i < terms; i++) named += has_names(model->drift[i]);
    double share = polynomial_share(&record->found.drifts, &parts);
    const bool whole = named && named == terms;
    if (whole) record->equation_weight = weight_of(model);
    if (whole) return write_all(ctx, model, 1, clock, &record->equation, &record->errors);
    if (named != parts || share < SK_EQUATION_SHARE) return SOCK_OK;
    record->equation_part_share = share;
    return write_all(ctx, model, 1 / share, clock, &record->equation_part, &record->equation_part_errors);
}
