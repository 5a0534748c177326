/* diffusionintegral.c - with features phi_i = c_i z_i, z = (x, 1), and M the second moments of z over the nodes,
 *
 *     I a_kk = sum over the columns v of component k of  sum_ij v_i v_j c_i c_j M_ij,
 *
 * over the few i, j for which v is not zero; a constant term is M_dd, the sum of the weights, times V V'. */
#include "diffusion/diffusionintegral.h"

#include "occupation/secondmoments.h"

#include <math.h>

struct sk_term_integral {
    const sk_diffusion_term *term;
    sk_quadratic linear;
    double *whole; /* d x d: a constant term; else NULL */
    size_t *first; /* rank + 1: entries first[c] .. first[c+1]-1 belong to column c */
    size_t *place; /* which coordinate of z, */
    double *value; /* and v_i c_i */
};

void sk_term_integral_free(sk_term_integral *t)
{
    if (!t) return;
    sk_quadratic_clear(&t->linear);
    sk_free(t->whole);
    sk_free(t->first);
    sk_free(t->place);
    sk_free(t->value);
    sk_free(t);
}

/* Row i of column c. */
static double entry(const sk_diffusion_term *term, size_t p, size_t i, size_t c)
{
    return term->v[((term->owner ? term->owner[c] * p : 0) + i) * term->rank + c];
}

static sock_status take_columns(sock_context *ctx, sk_term_integral *t)
{
    const sk_diffusion_term *term = t->term;
    const size_t p = t->linear.p;
    size_t count = 0;
    for (size_t c = 0; c < term->rank; c++)
        for (size_t i = 0; i < p; i++) count += entry(term, p, i, c) != 0;
    t->first = sk_alloc(ctx, term->rank + 1, sizeof *t->first);
    t->place = sk_alloc(ctx, count, sizeof *t->place);
    t->value = sk_doubles(ctx, count, 1);
    if (!t->first || !t->place || !t->value) return SOCK_ENOMEM;
    for (size_t c = 0, at = 0; c < term->rank; c++, t->first[c] = at)
        for (size_t i = 0; i < p; i++)
            if (entry(term, p, i, c) != 0) {
                t->place[at] = t->linear.a[i];
                t->value[at++] = entry(term, p, i, c) * t->linear.c[i];
            }
    return SOCK_OK;
}

/* c^2 V V' of a full term with the feature c. */
static sock_status take_whole(sock_context *ctx, sk_term_integral *t)
{
    const sk_diffusion_term *term = t->term;
    const size_t d = term->d, r = term->rank;
    t->whole = sk_doubles(ctx, d, d);
    if (!t->whole) return SOCK_ENOMEM;
    for (size_t k = 0; k < d * d; k++)
        t->whole[k] = t->linear.c[0] * t->linear.c[0] * sk_dot(r, term->v + k / d * r, term->v + k % d * r);
    return SOCK_OK;
}

/* Features that are linear, or one that is constant. */
static bool has_form(const sk_quadratic *q, bool diagonal)
{
    for (size_t j = 0; j < q->p; j++)
        if (q->b[j] < q->d) return false;
    return q->p && (diagonal || (q->p == 1 && q->a[0] == q->d));
}

sock_status sk_term_integral_new(sock_context *ctx, const sk_diffusion_term *term, sk_term_integral **out)
{
    sk_term_integral *t = sk_alloc(ctx, 1, sizeof *t);
    *out = NULL;
    if (!t) return SOCK_ENOMEM;
    t->term = term;
    sock_status status = sk_quadratic_new(ctx, term->map, sk_features_dim(term->map), &t->linear);
    const bool good = status >= 0 && has_form(&t->linear, term->owner != NULL);
    if (good) status = term->owner ? take_columns(ctx, t) : take_whole(ctx, t);
    if (good && status >= 0)
        *out = t;
    else
        sk_term_integral_free(t);
    return status;
}

void sk_term_integral_add(const sk_term_integral *t, const double *moments, double *a)
{
    const size_t d = t->term->d, in = t->linear.d;
    if (t->whole) {
        sk_axpy(d * d, moments[in * (in + 1) + in], t->whole, a);
        return;
    }
    for (size_t c = 0; c < t->term->rank; c++) {
        const size_t k = t->term->owner[c];
        double sum = 0;
        for (size_t i = t->first[c]; i < t->first[c + 1]; i++)
            for (size_t j = t->first[c]; j < t->first[c + 1]; j++)
                sum += t->value[i] * t->value[j] * sk_moment(&t->linear, moments, t->place[i], t->place[j]);
        a[k * d + k] += fmax(sum, 0); /* below 0 by rounding alone */
    }
}
