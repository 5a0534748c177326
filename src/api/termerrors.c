/* termerrors.c - see termerrors.h. Coefficients are linear in the weights, c = M w: M is the list of monomials that
 * each feature is about the origin, and the variance of a coefficient the sum of squares of its row of M L, L L' the
 * law of the weights. */
#include "api/termerrors.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

double sk_term_error(double mean, double square) { return SK_BAND_FACTOR * sqrt(fmax(square - mean * mean, 0)); }

/* M: monomials with a number for each of the p features. */
static sock_status list_features(const sk_features *map, const sk_monomial_sum *like, sk_monomial_sum *m)
{
    const size_t p = sk_features_count(map);
    double *value = sk_doubles(like->ctx, p, 1);
    unsigned *power = sk_alloc(like->ctx, like->d, sizeof *power);
    sock_status status = value && power ? sk_monomials_init(like->ctx, like->d, p, like->origin, m) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < p; j++) {
        sk_features_monomial(map, j, power, &value[j]);
        status = sk_monomials_add(m, power, sk_features_origin(map), value);
        value[j] = 0;
    }
    sk_free(value);
    sk_free(power);
    return status;
}

/* What the variances of component k are made of: the numbers of one group, their columns of M (count x used) and what
 * comes out (count x rank). */
typedef struct desk {
    size_t used;
    double *left, *right, *out;
} desk;

static void gather(const sk_monomial_sum *m, const sk_factor *f, size_t d, size_t k, size_t group, desk *t)
{
    t->used = 0;
    for (size_t e = 0; e < f->count; e++) t->used += f->entry[e] % d == k && f->group[e] == group;
    for (size_t e = 0, at = 0; e < f->count; e++) {
        if (f->entry[e] % d != k || f->group[e] != group) continue;
        for (size_t i = 0; i < m->count; i++) t->left[i * t->used + at] = m->number[i * m->values + f->entry[e] / d];
        memcpy(t->right + at++ * f->rank, f->value + e * f->rank, f->rank * sizeof *t->right);
    }
}

/* out (count) += the variances of the coefficients of component k of d. */
static sock_status add_variances(const sk_monomial_sum *m, const sk_factor *f, size_t d, size_t k, double *out)
{
    desk t = {0, sk_doubles_unset(m->ctx, m->count, SK_MAX(f->count, 1)), sk_doubles_unset(m->ctx, f->count, f->rank),
              sk_doubles_unset(m->ctx, m->count, SK_MAX(f->rank, 1))};
    const sock_status status = t.left && t.right && t.out ? SOCK_OK : SOCK_ENOMEM;
    for (size_t group = 0; status >= 0 && group < f->groups; group++) {
        gather(m, f, d, k, group, &t);
        if (!t.used) continue;
        sk_gemm(m->ctx, SK_PLAIN, SK_PLAIN, m->count, f->rank, t.used, 1, t.left, t.used, t.right, f->rank, 0, t.out,
                f->rank);
        for (size_t i = 0; i < m->count; i++) out[i] += sk_dot(f->rank, t.out + i * f->rank, t.out + i * f->rank);
    }
    sk_free(t.left);
    sk_free(t.right);
    sk_free(t.out);
    return status;
}

/* squares += share (c^2 + v) of component k. */
static sock_status add_component(const sk_monomial_sum *m, const sk_drift_term *term, const sk_factor *f, double share,
                                 size_t k, sk_monomial_sum *squares)
{
    double *variance = sk_doubles(m->ctx, m->count, 1);
    sock_status status = variance ? add_variances(m, f, term->d, k, variance) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < m->count; i++) {
        double own = 0, *square = sk_monomials_at(squares, m->power + i * m->d);
        for (size_t j = 0; j < m->values; j++)
            own += m->number[i * m->values + j] * term->weight[j * term->d + k] / share;
        if (square) square[k] += share * (own * own + variance[i]);
        if (!square) status = SOCK_ENOMEM;
    }
    sk_free(variance);
    return status;
}

static sock_status own_squares(const sock_model *model, bool (*wanted)(const sk_drift_term *term),
                               sk_monomial_sum *squares)
{
    const sk_spread *s = model->spread;
    for (size_t i = 0; i < model->drift_terms; i++) {
        sk_monomial_sum m = {0};
        if (!wanted(model->drift[i])) continue;
        sock_status status = list_features(model->drift[i]->map, squares, &m);
        for (size_t k = 0; status >= 0 && k < model->d; k++)
            status = add_component(&m, model->drift[i], s->drift[i], sk_spread_share(s, i), k, squares);
        sk_monomials_clear(&m);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* ---- Peers ---- */

/* The coefficients of a drift, and whether it is a polynomial. */
static sock_status coefficients(const sock_model *model, bool (*wanted)(const sk_drift_term *term),
                                sk_monomial_sum *sum, bool *polynomial)
{
    *polynomial = true;
    for (size_t i = 0; i < model->drift_terms; i++)
        if (wanted(model->drift[i]))
            *polynomial = *polynomial && model->drift[i]->map && sk_features_polynomial(model->drift[i]->map);
    for (size_t i = 0; *polynomial && i < model->drift_terms; i++)
        if (wanted(model->drift[i])) SK_TRY(sk_monomials_add_drift(sum, model->drift[i], 1));
    return SOCK_OK;
}

/* squares += weight (v_p + (c_p - c)^2 + c^2) of every monomial of the model or the peer; `weight` is taken from
 * *alone. mean: c. A peer that is no polynomial has no coefficients. */
static sock_status add_peer(const sock_model *peer, double weight, bool (*wanted)(const sk_drift_term *term),
                            sk_monomial_sum *mean, sk_monomial_sum *squares, double *alone)
{
    sk_monomial_sum own = {0}, own_mean = {0};
    bool polynomial = false;
    sock_status status;
    SK_GO(sk_monomials_init(mean->ctx, mean->d, mean->values, mean->origin, &own));
    SK_GO(sk_monomials_init(mean->ctx, mean->d, mean->values, mean->origin, &own_mean));
    SK_GO(coefficients(peer, wanted, &own_mean, &polynomial));
    if (!polynomial) goto out;
    SK_GO(own_squares(peer, wanted, &own));
    for (size_t i = 0; i < mean->count; i++) /* all that either has; own has those of its own mean */
        SK_GO(sk_monomials_at(&own, mean->power + i * mean->d) ? SOCK_OK : SOCK_ENOMEM);
    for (size_t i = 0; i < own.count; i++) {
        const unsigned *power = own.power + i * own.d;
        double *square = sk_monomials_at(squares, power);
        const double *c = sk_monomials_at(mean, power), *c_p = sk_monomials_at(&own_mean, power);
        SK_GO(square && c && c_p ? SOCK_OK : SOCK_ENOMEM);
        for (size_t k = 0; k < own.values; k++)
            square[k] += weight * (own.number[i * own.values + k] - 2 * c[k] * (c_p[k] - c[k]));
    }
    *alone -= weight;
out:
    sk_monomials_clear(&own);
    sk_monomials_clear(&own_mean);
    return status;
}

/* squares += factor times others. */
static sock_status add_squares(sk_monomial_sum *squares, const sk_monomial_sum *others, double factor)
{
    for (size_t i = 0; i < others->count; i++) {
        double *square = sk_monomials_at(squares, others->power + i * others->d);
        if (!square) return SOCK_ENOMEM;
        sk_axpy(others->values, factor, others->number + i * others->values, square);
    }
    return SOCK_OK;
}

/* Coefficients of a part of a drift, a share of it each, do not compare with those of whole drifts. */
static bool is_part(const sock_model *model, bool (*wanted)(const sk_drift_term *term))
{
    for (size_t i = 0; i < model->drift_terms; i++)
        if (!wanted(model->drift[i])) return true;
    return false;
}

sock_status sk_drift_squares(const sock_model *model, bool (*wanted)(const sk_drift_term *term),
                             sk_monomial_sum *squares)
{
    const sk_spread *s = model->spread;
    sk_monomial_sum own = {0}, mean = {0};
    bool polynomial = false;
    double alone = 1;
    sock_status status;
    if (!s->peers || is_part(model, wanted)) return own_squares(model, wanted, squares);
    SK_GO(sk_monomials_init(squares->ctx, squares->d, squares->values, squares->origin, &own));
    SK_GO(sk_monomials_init(squares->ctx, squares->d, squares->values, squares->origin, &mean));
    SK_GO(coefficients(model, wanted, &mean, &polynomial));
    SK_GO(own_squares(model, wanted, &own));
    for (size_t i = 0; polynomial && i < s->peers; i++)
        SK_GO(add_peer(s->peer[i], s->weight[i], wanted, &mean, squares, &alone));
    SK_GO(add_squares(squares, &own, fmax(alone, 0)));
out:
    sk_monomials_clear(&own);
    sk_monomials_clear(&mean);
    return status;
}
