/* monomials.c - see monomials.h.
 *
 * (x - b)^p = sum over q of C(p, q) (a - b)^(p - q) (x - a)^q, coordinate by coordinate; where a = b, one term. */
#include "api/monomials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sock_status sk_monomials_init(sock_context *ctx, size_t d, size_t values, const double *origin, sk_monomial_sum *out)
{
    *out = (sk_monomial_sum){.ctx = ctx, .d = d, .values = values, .origin = sk_doubles(ctx, d, 1)};
    if (!out->origin) return SOCK_ENOMEM;
    memcpy(out->origin, origin, d * sizeof *origin);
    return SOCK_OK;
}

void sk_monomials_clear(sk_monomial_sum *s)
{
    sk_free(s->origin);
    sk_free(s->power);
    sk_free(s->number);
}

double *sk_monomials_at(sk_monomial_sum *s, const unsigned *power)
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

/* ---- Adding ---- */

/* A monomial on its way to another origin: the powers of coordinates below k are decided. */
typedef struct moving {
    const unsigned *power;
    const double *from, *value;
    unsigned *made;
} moving;

static sock_status move_from(sk_monomial_sum *s, const moving *m, size_t k, double factor)
{
    if (k == s->d) {
        double *number = sk_monomials_at(s, m->made);
        for (size_t v = 0; number && v < s->values; v++) number[v] += factor * m->value[v];
        return number ? SOCK_OK : SOCK_ENOMEM;
    }
    const double gap = s->origin[k] - (m->from ? m->from[k] : 0);
    double binomial = 1;
    for (unsigned q = m->power[k];; q--) {
        m->made[k] = q;
        SK_TRY(move_from(s, m, k + 1, factor * binomial * pow(gap, m->power[k] - q)));
        if (q == 0 || gap == 0) return SOCK_OK;
        binomial *= (double)q / (double)(m->power[k] - q + 1);
    }
}

sock_status sk_monomials_add(sk_monomial_sum *s, const unsigned *power, const double *from, const double *value)
{
    const moving m = {power, from, value, sk_alloc(s->ctx, s->d, sizeof *m.made)};
    const sock_status status = m.made ? move_from(s, &m, 0, 1) : SOCK_ENOMEM;
    sk_free(m.made);
    return status;
}

/* Features that were learned away add nothing, not even their names. */
sock_status sk_monomials_add_drift(sk_monomial_sum *s, const sk_drift_term *term, double factor)
{
    unsigned *power = sk_alloc(s->ctx, s->d, sizeof *power);
    double *value = sk_doubles(s->ctx, term->d, 1);
    sock_status status = power && value ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < sk_features_count(term->map); j++) {
        double weight, largest = 0;
        sk_features_monomial(term->map, j, power, &weight);
        for (size_t k = 0; k < term->d; k++) {
            value[k] = factor * weight * term->weight[j * term->d + k];
            largest = fmax(largest, fabs(value[k]));
        }
        if (largest > 0) status = sk_monomials_add(s, power, sk_features_origin(term->map), value);
    }
    sk_free(power);
    sk_free(value);
    return status;
}

/* ---- Names ---- */

/* text * state^power; the text is freed. */
static char *longer_label(const sk_monomial_sum *s, const char *name, size_t k, unsigned power, char *text)
{
    char number[32], exponent[24] = "";
    const bool moved = s->origin[k] != 0;
    sk_print_double(number, fabs(s->origin[k]));
    if (power > 1) snprintf(exponent, sizeof exponent, "^%u", power);
    char *longer = sk_format(s->ctx, "%s%s%s%s%s%s%s%s", text, *text ? "*" : "", moved ? "(" : "", name,
                             !moved             ? ""
                             : s->origin[k] < 0 ? " + "
                                                : " - ",
                             moved ? number : "", moved ? ")" : "", exponent);
    sk_free(text);
    return longer;
}

char *sk_monomials_label(const sk_monomial_sum *s, const char *const *names, const unsigned *power)
{
    char *text = sk_strdup(s->ctx, "");
    for (size_t k = 0; text && k < s->d; k++)
        if (power[k]) text = longer_label(s, names[k], k, power[k], text);
    if (!text || *text) return text;
    sk_free(text);
    return sk_strdup(s->ctx, "1");
}

/* ---- The origin ---- */

/* More digits than anyone would write: a mean of the data. */
enum { MANY_DIGITS = 7 };

/* Of two origins of a coordinate the one with fewer digits, the older where they have as many. */
static void take_rounder(const sk_features *map, size_t k, bool *any, double *origin, double *scale)
{
    const double *zero = map ? sk_features_origin(map) : NULL;
    if (!zero || !sk_features_polynomial(map)) return;
    if (!*any || sk_decimal_digits(zero[k]) < sk_decimal_digits(*origin)) *origin = zero[k];
    if (!*any) *scale = sk_features_scale(map)[k];
    *any = true;
}

void sk_model_origin(const sock_model *model, double *origin, double *scale)
{
    static const double reach = 3; /* units */
    for (size_t k = 0; k < sk_model_in(model); k++) {
        bool any = false;
        origin[k] = 0;
        scale[k] = 1;
        for (size_t i = 0; i < model->drift_terms; i++)
            take_rounder(model->drift[i]->map, k, &any, &origin[k], &scale[k]);
        for (size_t i = 0; i < model->diffusion_terms; i++)
            take_rounder(model->diffusion[i]->map, k, &any, &origin[k], &scale[k]);
        if (sk_decimal_digits(origin[k]) >= MANY_DIGITS) origin[k] = sk_roundest(origin[k], reach * scale[k]);
    }
}
