/* polyfeatures.c - the exact features of (x.y + 1)^D, x.y and 1: weighted monomials.
 *
 * (x.y + 1)^D = sum over |a| <= D of D! / (a! (D - |a|)!) x^a y^a, so phi_a(x) = sqrt(D! / (a! (D - |a|)!)) x^a.
 * Order: degree D first, then D - 1, ..., 1; inside a degree lexicographic, x0^2, x0 x1, ..., x1^2, ....
 * Every monomial is an earlier found one (its parent) times one variable, so that each costs two multiplications:
 * x_i1 ... x_ig with i1 <= ... <= ig has the parent x_i1 ... x_i(g-1), and the weights' ratio is
 * sqrt((D - g + 1) / a_ig). */
#include "kernel/featuremap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t degree_of(const sk_term *term)
{
    return term->family == SK_POLY ? term->degree : term->family == SK_CONSTANT ? 0 : 1;
}

/* C(d + degree, degree), or SIZE_MAX when it is more than the features allowed: each partial product is a binomial. */
static size_t monomials_up_to(size_t d, size_t degree)
{
    size_t count = 1;
    for (size_t i = 1; i <= degree; i++) {
        if (d > SK_MAX_FEATURES || count * (d + i) / i > SK_MAX_FEATURES) return SIZE_MAX;
        count = count * (d + i) / i;
    }
    return count;
}

/* Degree g from degree g - 1: children of a monomial multiply it by its last variable or a later one, which keeps the
 * lexicographic order. run[j]: the power of j's last variable. */
static size_t add_degree(const sk_part *part, size_t g, size_t above, size_t above_count, size_t begin, uint32_t *run)
{
    sk_monomial *m = part->monomial;
    const size_t degree = degree_of(&part->term);
    size_t j = begin;
    for (size_t q = above; q < above + above_count; q++) {
        const uint32_t first = g == 1 ? 0 : m[q].variable;
        for (uint32_t v = first; v < part->d; v++, j++) {
            run[j] = g > 1 && v == first ? run[q] + 1 : 1;
            m[j] = (sk_monomial){
                .parent = (uint32_t)q, .variable = v, .ratio = sqrt((double)(degree - g + 1) / (double)run[j])};
        }
    }
    return j - begin;
}

static size_t poly_space(const sk_part *part, size_t block)
{
    (void)block;
    return part->p; /* the jacobian wants the features beside it */
}

static void poly_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                      double *space)
{
    (void)ctx, (void)space;
    const double root = sqrt(part->term.scale);
    for (size_t i = 0; i < count; i++, x += part->d, phi += ld) {
        if (part->term.family == SK_LINEAR) {
            for (size_t k = 0; k < part->d; k++) phi[k] = root * x[k];
            continue;
        }
        phi[part->p - 1] = root;
        for (size_t j = part->p - 1; j-- > 0;) {
            const sk_monomial *m = &part->monomial[j];
            phi[j] = phi[m->parent] * x[m->variable] * m->ratio;
        }
    }
}

static void poly_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    const size_t d = part->d;
    memset(out, 0, part->p * d * sizeof *out);
    if (part->term.family == SK_LINEAR) {
        for (size_t k = 0; k < d; k++) out[k * d + k] = sqrt(part->term.scale);
        return;
    }
    poly_eval(ctx, part, 1, x, space, part->p, NULL);
    for (size_t j = part->p - 1; j-- > 0;) {
        const sk_monomial *m = &part->monomial[j];
        const double *parent = out + m->parent * d;
        for (size_t k = 0; k < d; k++) out[j * d + k] = parent[k] * x[m->variable] * m->ratio;
        out[j * d + m->variable] += space[m->parent] * m->ratio;
    }
}

/* factor ^ power, before what is there already. */
static char *prepend(sock_context *ctx, const char *factor, size_t power, char *rest)
{
    char exponent[24] = "";
    if (power > 1) snprintf(exponent, sizeof exponent, "^%zu", power);
    char *text = sk_format(ctx, "%s%s%s%s", factor, exponent, rest ? "*" : "", rest ? rest : "");
    sk_free(rest);
    return text;
}

/* From the monomial up to its parents: the variables come from the last to the first. */
static char *poly_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    char *text = NULL;
    *weight = sqrt(part->term.scale);
    if (part->term.family == SK_LINEAR) {
        if (part->scale) *weight /= part->scale[j];
        return sk_strdup(ctx, names[j]);
    }
    if (j == part->p - 1) return sk_strdup(ctx, "1");
    while (j != part->p - 1) {
        const uint32_t variable = part->monomial[j].variable;
        size_t power = 0;
        for (; j != part->p - 1 && part->monomial[j].variable == variable; j = part->monomial[j].parent, power++)
            *weight *= part->monomial[j].ratio / (part->scale ? part->scale[variable] : 1);
        text = prepend(ctx, names[variable], power, text);
        if (!text) return NULL;
    }
    return text;
}

/* The same walk as the label's. */
static void poly_monomial(const sk_part *part, size_t j, unsigned *power, double *weight)
{
    memset(power, 0, part->d * sizeof *power);
    *weight = sqrt(part->term.scale);
    if (part->term.family == SK_LINEAR) {
        power[j] = 1;
        if (part->scale) *weight /= part->scale[j];
        return;
    }
    for (; j != part->p - 1; j = part->monomial[j].parent) {
        const uint32_t variable = part->monomial[j].variable;
        *weight *= part->monomial[j].ratio / (part->scale ? part->scale[variable] : 1);
        power[variable]++;
    }
}

static const sk_part_kind poly_kind = {
    .space = poly_space, .eval = poly_eval, .jacobian = poly_jacobian, .label = poly_label, .monomial = poly_monomial};

sock_status sk_poly_part(sock_context *ctx, const char *option, sk_part *part)
{
    const size_t degree = degree_of(&part->term), d = part->d;
    const size_t count = monomials_up_to(d, degree);
    part->kind = &poly_kind;
    if (count > SK_MAX_FEATURES)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "%s: %s of degree %zu in %zu dimensions has too many features; allowed: %d "
                       "(take a lower degree, or the kernel without features)",
                       option, sk_family_name(part->term.family), degree, d, SK_MAX_FEATURES);
    if (part->term.family == SK_LINEAR) {
        part->p = d;
        return SOCK_OK;
    }
    part->p = count;
    part->monomial = sk_alloc(ctx, count, sizeof *part->monomial);
    uint32_t *run = sk_alloc(ctx, count, sizeof *run);
    if (!part->monomial || !run) {
        sk_free(run);
        return SOCK_ENOMEM;
    }
    size_t above = count - 1, above_count = 1; /* the monomial 1 */
    for (size_t g = 1; g <= degree; g++) {
        const size_t here = monomials_up_to(d, g) - monomials_up_to(d, g - 1);
        add_degree(part, g, above, above_count, above - here, run);
        above -= here;
        above_count = here;
    }
    sk_free(run);
    return SOCK_OK;
}
