/* features.c - feature maps as sums of parts: a sum of kernels has the features of its terms side by side. */
#include "kernel/featuremap.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Making ---- */

double *sk_part_array(sock_context *ctx, sk_part *part, const char *name, size_t rows, size_t cols)
{
    assert(part->arrays < SK_PART_ARRAYS);
    double *values = sk_doubles(ctx, rows, cols);
    if (!values) return NULL;
    part->array[part->arrays].name = name;
    part->array[part->arrays].rows = rows;
    part->array[part->arrays].cols = cols;
    part->array[part->arrays++].values = values;
    return values;
}

static void clear_part(sk_part *part)
{
    for (size_t i = 0; i < part->arrays; i++) sk_free(part->array[i].values);
    sk_free(part->own);
    sk_kernel_free(part->kernel);
    *part = (sk_part){0};
}

void sk_features_free(sk_features *map)
{
    if (!map) return;
    for (size_t i = 0; i < map->parts; i++) clear_part(&map->part[i]);
    sk_free(map->part);
    sk_kernel_free(map->kernel);
    sk_free(map->origin);
    sk_free(map);
}

static sock_status check_term(sock_context *ctx, const char *option, const sk_term *term, bool pivoted)
{
    const sk_family *family = term->family;
    const char *with_b = term->b ? " with B" : "";
    char names[SK_NAMES];
    if (pivoted && (!sk_family_is_closed(family) || term->b))
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s%s has no pivoted features; allowed: %s and their sums, without B",
                       option, family->name, with_b, sk_kernel_names(SK_KIND_CLOSED, ", ", names));
    if (term->b || family->add_pair)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s%s is matrix-valued and has no feature map; allowed: %s, without B",
                       option, family->name, with_b, sk_kernel_names(SK_KIND_EXPLICIT, ", ", names));
    if (!family->make && !pivoted)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s has no finite features; allowed: %s, or nystrom:of=%s", option,
                       family->name, sk_kernel_names(SK_KIND_FIXED, ", ", names), family->name);
    if (sk_term_needs_eta(term) && !isfinite(term->eta))
        return sk_fail(ctx, SOCK_EUSAGE, "%s: eta of %s is not known; give it", option, family->name);
    if (sk_family_takes(family, SK_KEY_M) && !term->p)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: the number of landmarks m of %s is not known; give it", option,
                       family->name);
    return SOCK_OK;
}

/* The letters of bounds fit the states, and leave some. */
static sock_status check_sides(sock_context *ctx, const char *option, const sk_term *term, size_t d)
{
    if (!sk_term_is_bounded(term)) return SOCK_OK;
    if (d > SK_MOST_SIDES || (term->sides[0] && strlen(term->sides) != d))
        return sk_fail(ctx, SOCK_EUSAGE, "%s: bounds of %s are '%s'; allowed: %zu letters, of at most %d states",
                       option, term->family->name, term->sides, d, SK_MOST_SIDES);
    if (term->sides[0] && strspn(term->sides, "-.") == d)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s needs a state with a bound, and none has one; give lower or upper",
                       option, term->family->name);
    return SOCK_OK;
}

sock_status sk_features_start(sock_context *ctx, const char *option, const sk_kernel *kernel, size_t d, bool pivoted,
                              sk_features **out)
{
    const size_t parts = pivoted ? 1 : kernel->terms;
    sock_status status = SOCK_ENOMEM;
    for (size_t i = 0; i < kernel->terms; i++) SK_TRY(check_term(ctx, option, &kernel->term[i], pivoted));
    SK_TRY(check_sides(ctx, option, &kernel->term[0], d));
    sk_features *map = sk_alloc(ctx, 1, sizeof *map);
    if (!map) return SOCK_ENOMEM;
    *map = (sk_features){.d = d, .inner = sk_root_dim(&kernel->term[0], d), .pivoted = pivoted};
    map->part = sk_alloc(ctx, parts, sizeof *map->part);
    if (!map->part) goto fail;
    map->parts = parts;
    for (size_t i = 0; i < parts; i++) map->part[i] = (sk_part){.d = map->inner, .term = kernel->term[i]};
    status = sk_kernel_copy(ctx, kernel, &map->kernel);
    if (status < 0) goto fail;
    *out = map;
    return SOCK_OK;
fail:
    sk_features_free(map);
    return status;
}

sock_status sk_features_add(sock_context *ctx, const char *option, sk_features *map, const sk_part *part)
{
    map->p += part->p; /* each at most SK_MAX_FEATURES, or the points */
    if (map->p <= SK_MAX_FEATURES) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE, "%s: the kernel has %zu features or more; allowed: at most %d", option, map->p,
                   SK_MAX_FEATURES);
}

sock_status sk_features_new(sock_context *ctx, const char *option, const sk_kernel *kernel, size_t d, size_t count,
                            const double *x, sk_features **out)
{
    sk_features *map = NULL;
    sock_status status = SOCK_OK;
    SK_GO(sk_features_start(ctx, option, kernel, d, false, &map));
    for (size_t i = 0; i < map->parts; i++) {
        const sk_making m = {.ctx = ctx, .option = option, .place = i, .count = count, .x = x};
        SK_GO(map->part[i].term.family->make(&m, &map->part[i]));
        SK_GO(sk_features_add(ctx, option, map, &map->part[i]));
    }
out:
    if (status < 0)
        sk_features_free(map);
    else
        *out = map;
    return status;
}

/* ((x - o) / s - o0) / s0 = (x - o - s o0) / (s s0), where o0 and s0 are what the map has already. */
sock_status sk_features_set_units(sock_context *ctx, sk_features *map, const double *origin, const double *scale)
{
    const size_t d = map->d;
    double *copy = sk_doubles(ctx, d, 2);
    if (!copy) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        const double unit = scale ? scale[k] : 1, both = unit * (map->scale ? map->scale[k] : 1);
        copy[k] = (origin ? origin[k] : 0) + unit * (map->origin ? map->origin[k] : 0);
        copy[d + k] = fabs(both - 1) < 2 * DBL_EPSILON ? 1 : both; /* a unit and its inverse */
    }
    sk_free(map->origin);
    map->origin = copy;
    map->scale = copy + d;
    for (size_t i = 0; i < map->parts && !sk_features_bounded(map); i++) { /* labels of roots are in their own units */
        map->part[i].origin = map->origin;
        map->part[i].scale = map->scale;
    }
    return SOCK_OK;
}

/* ---- What it is ---- */

size_t sk_features_count(const sk_features *map) { return map->p; }
size_t sk_features_dim(const sk_features *map) { return map->d; }
size_t sk_features_inner(const sk_features *map) { return map->inner; }
const double *sk_features_origin(const sk_features *map) { return map->origin; }
const double *sk_features_scale(const sk_features *map) { return map->scale; }
const sk_kernel *sk_features_kernel(const sk_features *map) { return map->parts == 1 ? map->part[0].kernel : NULL; }

const double *sk_features_pivots(const sk_features *map)
{
    return sk_features_kernel(map) ? map->part[0].array[SK_LANDMARKS].values : NULL;
}

const double *sk_features_factor(const sk_features *map)
{
    return sk_features_kernel(map) ? map->part[0].array[SK_FACTOR].values : NULL;
}

/* ---- Values ---- */

size_t sk_features_space(const sk_features *map, size_t block)
{
    size_t most = 0;
    for (size_t i = 0; i < map->parts; i++) most = SK_MAX(most, map->part[i].kind->space(&map->part[i], block));
    return most + (map->scale ? block * map->d : 0) + (sk_features_bounded(map) ? block * map->inner : 0);
}

/* The same as roots where the features are of these. */
static const double *in_roots(const sk_features *map, size_t count, const double *x, double **space)
{
    if (!sk_features_bounded(map)) return x;
    double *out = *space;
    sk_root_coordinates(&map->part[0].term, map->d, count, x, out);
    *space += count * map->inner;
    return out;
}

/* Points in the units of the features: x itself, or (x - origin) / scale at the head of the space, which moves on. */
static const double *in_units(const sk_features *map, size_t count, const double *x, double **space)
{
    if (!map->scale) return x;
    double *out = *space;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < map->d; k++) out[i * map->d + k] = (x[i * map->d + k] - map->origin[k]) / map->scale[k];
    *space += count * map->d;
    return out;
}

void sk_features_block(sock_context *ctx, const sk_features *map, size_t count, const double *x, double *phi, size_t ld,
                       double *space)
{
    assert(ld >= map->p);
    x = in_units(map, count, x, &space);
    x = in_roots(map, count, x, &space);
    for (size_t i = 0; i < map->parts; phi += map->part[i++].p)
        map->part[i].kind->eval(ctx, &map->part[i], count, x, phi, ld, space);
}

enum { EVAL_GRAIN = 256 }; /* fixed, so that the rounding of a row does not depend on the number of threads */

typedef struct evaluation {
    sock_context *ctx;
    const sk_features *map;
    const double *x;
    double *phi;
    size_t ld;
    double *space;
    size_t space_size;
} evaluation;

static sock_status eval_range(void *arg, size_t begin, size_t end, int worker)
{
    const evaluation *e = arg;
    for (size_t i = begin; i < end; i += EVAL_GRAIN) /* one loop of a single thread gets pieces of the grain too */
        sk_features_block(e->ctx, e->map, SK_MIN(EVAL_GRAIN, end - i), e->x + i * e->map->d, e->phi + i * e->ld, e->ld,
                          e->space + (size_t)worker * e->space_size);
    return SOCK_OK;
}

sock_status sk_features_eval(sock_context *ctx, const sk_features *map, size_t nx, const double *x, double *phi,
                             size_t ld)
{
    evaluation e = {.ctx = ctx, .map = map, .x = x, .phi = phi, .ld = ld};
    const size_t workers = SK_MIN((size_t)sk_workers(ctx), nx / EVAL_GRAIN + 1);
    e.space_size = (sk_features_space(map, EVAL_GRAIN) + 7) / 8 * 8; /* whole cache lines */
    e.space = sk_doubles(ctx, workers, e.space_size);
    if (!e.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, nx, EVAL_GRAIN, eval_range, &e);
    sk_free(e.space);
    return status;
}

/* out (p x d) from the slopes in the roots (p x inner) at z. */
static void chain(const sk_features *map, const double *z, const double *slope, double *out)
{
    memset(out, 0, map->p * map->d * sizeof *out);
    for (size_t j = 0; j < map->inner; j++) {
        size_t k;
        const double factor = sk_root_slope(&map->part[0].term, map->d, j, z, &k);
        for (size_t i = 0; i < map->p; i++) out[i * map->d + k] += factor * slope[i * map->inner + j];
    }
}

sock_status sk_features_jacobian(sock_context *ctx, const sk_features *map, const double *x, double *out)
{
    const size_t wide = map->inner;
    double *space = sk_doubles(ctx, sk_features_space(map, 1) + map->p * wide, 1);
    if (!space) return SOCK_ENOMEM;
    double *inner = space + map->p * wide, *at = sk_features_bounded(map) ? space : out;
    const double *z = in_units(map, 1, x, &inner);
    const double *u = in_roots(map, 1, z, &inner);
    for (size_t i = 0; i < map->parts; at += map->part[i++].p * wide)
        map->part[i].kind->jacobian(ctx, &map->part[i], u, at, inner);
    if (sk_features_bounded(map)) chain(map, z, space, out);
    for (size_t j = 0; map->scale && j < map->p * map->d; j++) out[j] /= map->scale[j % map->d];
    sk_free(space);
    return SOCK_OK;
}

char *sk_part_state(sock_context *ctx, const sk_part *part, const char *const *names, size_t k)
{
    char number[32];
    if (!part->origin || part->origin[k] == 0) return sk_strdup(ctx, names[k]);
    sk_print_double(number, fabs(part->origin[k]));
    return sk_format(ctx, "(%s %c %s)", names[k], part->origin[k] < 0 ? '+' : '-', number);
}

static char *label_of(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight)
{
    const sk_part *part = map->part;
    for (; j >= part->p; part++) j -= part->p;
    return part->kind->label(ctx, part, names, j, weight);
}

/* A state in the units of the map: (x - origin) / scale, shorter where that is 0 or 1. */
static char *scaled_state(sock_context *ctx, const sk_features *map, const char *name, size_t k)
{
    char origin[32], scale[32];
    const double zero = map->origin ? map->origin[k] : 0, unit = map->scale ? map->scale[k] : 1;
    sk_print_double(origin, fabs(zero));
    sk_print_double(scale, unit);
    if (zero == 0) return unit == 1 ? sk_strdup(ctx, name) : sk_format(ctx, "%s/%s", name, scale);
    if (unit == 1) return sk_format(ctx, "%s %c %s", name, zero < 0 ? '+' : '-', origin);
    return sk_format(ctx, "(%s %c %s)/%s", name, zero < 0 ? '+' : '-', origin, scale);
}

/* sqrt of that, of its opposite, of 1 less it; the state alone where it has no bound. */
static char *root_name(sock_context *ctx, const sk_features *map, const char *const *names, size_t j)
{
    bool upper;
    char sides[SK_MOST_SIDES + 1];
    const size_t k = sk_root_state(&map->part[0].term, map->d, j, &upper);
    char *state = scaled_state(ctx, map, names[k], k), *text = NULL;
    sk_kernel_sides(map->kernel, map->d, sides);
    if (state)
        text = sides[k] == '-' ? sk_format(ctx, "(%s)", state)
               : !upper        ? sk_format(ctx, "sqrt(%s)", state)
                               : sk_format(ctx, "sqrt(%s(%s))", sides[k] == 'b' ? "1 - " : "-", state);
    sk_free(state);
    return text;
}

/* The same of roots, by the names of these. */
static char *root_label(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight)
{
    char **root = sk_alloc(ctx, map->inner, sizeof *root), *text = NULL;
    bool good = root;
    for (size_t i = 0; good && i < map->inner; i++) good = (root[i] = root_name(ctx, map, names, i));
    if (good) text = label_of(ctx, map, (const char *const *)root, j, weight);
    for (size_t i = 0; root && i < map->inner; i++) sk_free(root[i]);
    sk_free(root);
    return text;
}

char *sk_features_label(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight)
{
    double found = 1;
    assert(j < map->p);
    char *text = (sk_features_bounded(map) ? root_label : label_of)(ctx, map, names, j, &found);
    if (weight) *weight = found;
    return text;
}

bool sk_features_bounded(const sk_features *map) { return sk_term_is_bounded(&map->part[0].term); }
bool sk_features_separate(const sk_features *map) { return map->part[0].term.family->separate; }

void sk_features_snap(sk_features *map, const double *lower, const double *upper)
{
    char sides[SK_MOST_SIDES + 1];
    if (!map->origin || !sk_features_bounded(map)) return;
    sk_kernel_sides(map->kernel, map->d, sides);
    for (size_t k = 0; k < map->d; k++) {
        if (sides[k] == 'l' || sides[k] == 'b') map->origin[k] = lower[k];
        if (sides[k] == 'u') map->origin[k] = upper[k];
        if (sides[k] == 'b') map->scale[k] = upper[k] - lower[k];
    }
}

/* x, (x - 2), or their distance to the upper bound, (1 - x). */
static char *rate_state(sock_context *ctx, const sk_features *map, const char *const *names, size_t j)
{
    bool upper;
    char number[32], sides[SK_MOST_SIDES + 1];
    const size_t k = sk_root_state(&map->part[0].term, map->d, j, &upper);
    const double zero = map->origin ? map->origin[k] : 0, unit = map->scale ? map->scale[k] : 1;
    sk_kernel_sides(map->kernel, map->d, sides);
    const double bound = upper && sides[k] == 'b' ? zero + unit : zero;
    sk_print_double(number, upper ? bound : fabs(bound));
    if (upper) return sk_format(ctx, "(%s - %s)", number, names[k]);
    return bound == 0 ? sk_strdup(ctx, names[k])
                      : sk_format(ctx, "(%s %c %s)", names[k], bound < 0 ? '+' : '-', number);
}

char *sk_features_rate(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight)
{
    unsigned power[SK_MOST_SIDES * 2];
    char *text = NULL;
    assert(sk_features_separate(map) && j < map->p);
    sk_features_monomial(map, j, power, weight);
    *weight *= *weight;
    for (size_t i = 0; i < map->inner; i++) {
        bool upper;
        const size_t k = sk_root_state(&map->part[0].term, map->d, i, &upper);
        if (!power[i]) continue;
        *weight /= pow(map->scale ? map->scale[k] : 1, power[i]);
        char *state = rate_state(ctx, map, names, i), exponent[16] = "";
        if (power[i] > 1) snprintf(exponent, sizeof exponent, "^%u", power[i]);
        char *longer = state ? sk_format(ctx, "%s%s%s%s", text ? text : "", text ? "*" : "", state, exponent) : NULL;
        sk_free(state);
        sk_free(text);
        if (!longer) return NULL;
        text = longer;
    }
    return text ? text : sk_strdup(ctx, "1");
}

bool sk_features_polynomial(const sk_features *map)
{
    if (sk_features_bounded(map)) return false;
    for (size_t i = 0; i < map->parts; i++)
        if (!map->part[i].kind->monomial) return false;
    return true;
}

void sk_features_monomial(const sk_features *map, size_t j, unsigned *power, double *weight)
{
    const sk_part *part = map->part;
    assert(j < map->p);
    for (; j >= part->p; part++) j -= part->p;
    part->kind->monomial(part, j, power, weight);
}
