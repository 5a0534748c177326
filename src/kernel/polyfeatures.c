/* polyfeatures.c - the exact features of (x.y + 1)^D, x.y and 1: weighted monomials.
 *
 * (x.y + 1)^D = sum over |a| <= D of D! / (a! (D - |a|)!) x^a y^a, so phi_a(x) = sqrt(D! / (a! (D - |a|)!)) x^a.
 * Order: degree D first, then D - 1, ..., 1; inside a degree lexicographic, x0^2, x0 x1, ..., x1^2, ....
 * Every monomial is an earlier found one (its parent) times one variable, so that each costs two multiplications:
 * x_i1 ... x_ig with i1 <= ... <= ig has the parent x_i1 ... x_i(g-1), and the weights' ratio is
 * sqrt((D - g + 1) / a_ig). */
#include "kernel/featuremap.h"

#include <assert.h>
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

/* ---- Some of them ---- */

/* The monomials that are kept and their parents, whose values stand in the work space: `place` says where those that
 * are kept are among them. */
typedef struct chosen {
    size_t count;     /* with the parents; the last is 1 */
    size_t *place;    /* p */
    monomial *member; /* count; parents are places among them */
} chosen;

enum { KEPT }; /* p numbers: the places of the features among all monomials, rising */

static size_t chosen_space(const sk_part *part, size_t block)
{
    const chosen *c = part->own;
    (void)block;
    return c->count * (1 + part->d); /* values, and the jacobian of all */
}

static void chosen_values(const sk_part *part, const double *x, double *value)
{
    const chosen *c = part->own;
    value[c->count - 1] = sqrt(part->term.scale);
    for (size_t j = c->count - 1; j-- > 0;)
        value[j] = value[c->member[j].parent] * x[c->member[j].variable] * c->member[j].ratio;
}

static void chosen_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                        double *space)
{
    const chosen *c = part->own;
    (void)ctx;
    for (size_t i = 0; i < count; i++, x += part->d, phi += ld) {
        chosen_values(part, x, space);
        for (size_t j = 0; j < part->p; j++) phi[j] = space[c->place[j]];
    }
}

static void chosen_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    const chosen *c = part->own;
    const size_t d = part->d;
    double *slope = space + c->count;
    (void)ctx;
    chosen_values(part, x, space);
    memset(slope, 0, c->count * d * sizeof *slope);
    for (size_t j = c->count - 1; j-- > 0;) {
        const monomial *m = &c->member[j];
        for (size_t k = 0; k < d; k++) slope[j * d + k] = slope[m->parent * d + k] * x[m->variable] * m->ratio;
        slope[j * d + m->variable] += space[m->parent] * m->ratio;
    }
    for (size_t j = 0; j < part->p; j++) memcpy(out + j * d, slope + c->place[j] * d, d * sizeof *out);
}

/* Feature j as one of a part that has the members as all its monomials. */
static sk_part whole_of(const sk_part *part, const chosen *c)
{
    sk_part whole = *part;
    whole.p = c->count;
    whole.own = c->member;
    return whole;
}

static char *chosen_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    const chosen *c = part->own;
    const sk_part whole = whole_of(part, c);
    return poly_label(ctx, &whole, names, c->place[j], weight);
}

static void chosen_monomial(const sk_part *part, size_t j, unsigned *power, double *weight)
{
    const chosen *c = part->own;
    const sk_part whole = whole_of(part, c);
    poly_monomial(&whole, c->place[j], power, weight);
}

static const sk_part_kind chosen_kind = {.space = chosen_space,
                                         .eval = chosen_eval,
                                         .jacobian = chosen_jacobian,
                                         .label = chosen_label,
                                         .monomial = chosen_monomial};

/* Marks the kept monomials and all their ancestors; answers how many there are. needed: one for each monomial. */
static size_t mark_needed(const sk_part *part, size_t *needed)
{
    const double *kept = part->array[KEPT].values;
    const monomial *m = monomials_of(part);
    size_t count = 0;
    needed[part->p - 1] = 1;
    for (size_t i = 0; i < part->array[KEPT].rows; i++)
        for (size_t j = (size_t)kept[i]; !needed[j]; j = m[j].parent) needed[j] = 1;
    for (size_t j = 0; j < part->p; j++) count += needed[j];
    return count;
}

/* One block: the struct, the places, the members. */
static chosen *new_chosen(sock_context *ctx, size_t kept, size_t count)
{
    chosen *c = sk_alloc(ctx, 1, sizeof *c + kept * sizeof *c->place + count * sizeof *c->member);
    if (!c) return NULL;
    c->count = count;
    c->member = (monomial *)(void *)(c + 1);
    c->place = (size_t *)(void *)(c->member + count);
    return c;
}

/* The part, which has all monomials and the array of those to be kept, becomes one of these. */
static sock_status reduce(sock_context *ctx, sk_part *part)
{
    size_t *needed = sk_alloc(ctx, part->p, sizeof *needed), at = 0;
    if (!needed) return SOCK_ENOMEM;
    const size_t count = mark_needed(part, needed), kept = part->array[KEPT].rows;
    chosen *c = new_chosen(ctx, kept, count);
    if (c) {
        const monomial *m = monomials_of(part);
        for (size_t j = 0; j < part->p; j++)
            if (needed[j]) {
                c->member[at] = m[j];
                needed[j] = at++;
            }
        for (size_t j = 0; j + 1 < count; j++) c->member[j].parent = (uint32_t)needed[c->member[j].parent];
        for (size_t i = 0; i < kept; i++) c->place[i] = needed[(size_t)part->array[KEPT].values[i]];
        sk_free(part->own);
        part->own = c;
        part->p = kept;
        part->kind = &chosen_kind;
    }
    sk_free(needed);
    return c ? SOCK_OK : SOCK_ENOMEM;
}

/* Rising places of monomials. */
static sock_status check_kept(sock_context *ctx, const sk_part *part)
{
    const double *kept = part->array[KEPT].values;
    for (size_t i = 0; i < part->array[KEPT].rows; i++)
        if (!(kept[i] >= (i ? kept[i - 1] + 1 : 0)) || kept[i] >= (double)part->p || kept[i] != floor(kept[i]))
            return sk_fail(ctx, SOCK_EINPUT,
                           "array 'kept' of a feature map holds %g at place %zu; it must hold rising whole numbers "
                           "below %zu",
                           kept[i], i, part->p);
    return SOCK_OK;
}

sock_status sk_monomials_load(sk_stored *s, size_t degree, sk_part *part)
{
    const sk_making m = {.ctx = s->ctx, .option = "feature map", .place = s->place};
    SK_TRY(sk_monomials(&m, degree, part));
    if (!sk_stored_has(s, "kept")) return SOCK_OK;
    SK_TRY(sk_stored_array(s, part, "kept", 0, 1));
    SK_TRY(check_kept(s->ctx, part));
    return reduce(s->ctx, part);
}

sock_status sk_features_select(sock_context *ctx, const sk_features *map, size_t count, const size_t *keep,
                               sk_features **out)
{
    sk_features *made = NULL;
    assert(map->parts == 1 && (map->part->kind == &poly_kind || map->part->kind == &chosen_kind) && count);
    const double *before = map->part->kind == &chosen_kind ? map->part->array[KEPT].values : NULL;
    SK_TRY(sk_features_new(ctx, "features", map->kernel, map->d, 0, NULL, &made));
    double *kept = sk_part_array(ctx, made->part, "kept", count, 1);
    sock_status status = kept ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) kept[i] = before ? before[keep[i]] : (double)keep[i];
    if (status >= 0) status = reduce(ctx, made->part);
    if (status >= 0 && map->scale) status = sk_features_set_units(ctx, made, map->origin, map->scale);
    if (status < 0) {
        sk_features_free(made);
        return status;
    }
    made->p = count;
    *out = made;
    return SOCK_OK;
}

/* ---- Making ---- */

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
