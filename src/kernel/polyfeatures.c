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

typedef struct monomial {
    uint32_t parent, variable; /* phi_j = phi_parent * x_variable * ratio */
    double ratio;
} monomial;

static const monomial *monomials_of(const sk_part *part) { return part->own; } /* p of them, the last is 1 */

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
static size_t add_degree(const sk_part *part, size_t degree, size_t g, size_t above, size_t above_count, size_t begin,
                         uint32_t *run)
{
    monomial *m = part->own;
    size_t j = begin;
    for (size_t q = above; q < above + above_count; q++) {
        const uint32_t first = g == 1 ? 0 : m[q].variable;
        for (uint32_t v = first; v < part->d; v++, j++) {
            run[j] = g > 1 && v == first ? run[q] + 1 : 1;
            m[j] = (monomial){
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
        phi[part->p - 1] = root;
        for (size_t j = part->p - 1; j-- > 0;) {
            const monomial *m = &monomials_of(part)[j];
            phi[j] = phi[m->parent] * x[m->variable] * m->ratio;
        }
    }
}

static void poly_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    const size_t d = part->d;
    memset(out, 0, part->p * d * sizeof *out);
    poly_eval(ctx, part, 1, x, space, part->p, NULL);
    for (size_t j = part->p - 1; j-- > 0;) {
        const monomial *m = &monomials_of(part)[j];
        const double *parent = out + m->parent * d;
        for (size_t k = 0; k < d; k++) out[j * d + k] = parent[k] * x[m->variable] * m->ratio;
        out[j * d + m->variable] += space[m->parent] * m->ratio;
    }
}

/* factor ^ power, before what is there already; both are freed. */
static char *prepend(sock_context *ctx, char *factor, size_t power, char *rest)
{
    char exponent[24] = "";
    if (power > 1) snprintf(exponent, sizeof exponent, "^%zu", power);
    char *text = factor ? sk_format(ctx, "%s%s%s%s", factor, exponent, rest ? "*" : "", rest ? rest : "") : NULL;
    sk_free(factor);
    sk_free(rest);
    return text;
}

/* From the monomial up to its parents: the variables come from the last to the first. */
static char *poly_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    const monomial *m = monomials_of(part);
    char *text = NULL;
    *weight = sqrt(part->term.scale);
    if (j == part->p - 1) return sk_strdup(ctx, "1");
    while (j != part->p - 1) {
        const uint32_t variable = m[j].variable;
        size_t power = 0;
        for (; j != part->p - 1 && m[j].variable == variable; j = m[j].parent, power++)
            *weight *= m[j].ratio / (part->scale ? part->scale[variable] : 1);
        text = prepend(ctx, sk_part_state(ctx, part, names, variable), power, text);
        if (!text) return NULL;
    }
    return text;
}

/* The same walk as the label's. */
static void poly_monomial(const sk_part *part, size_t j, unsigned *power, double *weight)
{
    const monomial *m = monomials_of(part);
    memset(power, 0, part->d * sizeof *power);
    *weight = sqrt(part->term.scale);
    for (; j != part->p - 1; j = m[j].parent) {
        const uint32_t variable = m[j].variable;
        *weight *= m[j].ratio / (part->scale ? part->scale[variable] : 1);
        power[variable]++;
    }
}

static const sk_part_kind poly_kind = {
    .space = poly_space, .eval = poly_eval, .jacobian = poly_jacobian, .label = poly_label, .monomial = poly_monomial};

static sock_status check_size(const sk_making *m, const sk_part *part, size_t degree)
{
    if (monomials_up_to(part->d, degree) <= SK_MAX_FEATURES) return SOCK_OK;
    return sk_fail(m->ctx, SOCK_EUSAGE,
                   "%s: %s of degree %zu in %zu dimensions has too many features; allowed: %d "
                   "(take a lower degree, or the kernel without features)",
                   m->option, part->term.family->name, degree, part->d, SK_MAX_FEATURES);
}

sock_status sk_monomials(const sk_making *m, size_t degree, sk_part *part)
{
    SK_TRY(check_size(m, part, degree));
    part->kind = &poly_kind;
    part->p = monomials_up_to(part->d, degree);
    part->own = sk_alloc(m->ctx, part->p, sizeof(monomial));
    uint32_t *run = sk_alloc(m->ctx, part->p, sizeof *run);
    if (!part->own || !run) {
        sk_free(run);
        return SOCK_ENOMEM;
    }
    size_t above = part->p - 1, above_count = 1; /* the monomial 1 */
    for (size_t g = 1; g <= degree; g++) {
        const size_t here = monomials_up_to(part->d, g) - monomials_up_to(part->d, g - 1);
        add_degree(part, degree, g, above, above_count, above - here, run);
        above -= here;
        above_count = here;
    }
    sk_free(run);
    return SOCK_OK;
}

/* ---- x alone ---- */

static size_t linear_space(const sk_part *part, size_t block)
{
    (void)part, (void)block;
    return 0;
}

static void linear_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                        double *space)
{
    (void)ctx, (void)space;
    const double root = sqrt(part->term.scale);
    for (size_t i = 0; i < count; i++, x += part->d, phi += ld)
        for (size_t k = 0; k < part->d; k++) phi[k] = root * x[k];
}

static void linear_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    (void)ctx, (void)x, (void)space;
    const size_t d = part->d;
    memset(out, 0, d * d * sizeof *out);
    for (size_t k = 0; k < d; k++) out[k * d + k] = sqrt(part->term.scale);
}

static void linear_monomial(const sk_part *part, size_t j, unsigned *power, double *weight)
{
    memset(power, 0, part->d * sizeof *power);
    power[j] = 1;
    *weight = sqrt(part->term.scale) / (part->scale ? part->scale[j] : 1);
}

static char *linear_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    *weight = sqrt(part->term.scale) / (part->scale ? part->scale[j] : 1);
    return sk_part_state(ctx, part, names, j);
}

static const sk_part_kind linear_kind = {.space = linear_space,
                                         .eval = linear_eval,
                                         .jacobian = linear_jacobian,
                                         .label = linear_label,
                                         .monomial = linear_monomial};

sock_status sk_coordinates(const sk_making *m, sk_part *part)
{
    SK_TRY(check_size(m, part, 1));
    part->kind = &linear_kind;
    part->p = part->d;
    return SOCK_OK;
}
