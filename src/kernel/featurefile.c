/* featurefile.c - feature maps as text and named arrays, and back: what a model file holds. Nothing in it is trusted.
 *
 * Text: the kernel, or pivoted(kernel). Arrays of part i of the sum: i.omega (p x d) and i.beta (p x 1) of fourier;
 * i.landmarks (r x d) and i.factor (r x r, lower) of nystrom and pivoted; and scale (1 x d) of a map in units of its
 * own. */
#include "kernel/featuremap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char open_pivoted[] = "pivoted(";

/* ---- Writing ---- */

static void add_array(sk_array *arrays, size_t *count, size_t part, const char *name, size_t rows, size_t cols,
                      const double *values)
{
    sk_array *a = &arrays[(*count)++];
    *a = (sk_array){.rows = rows, .cols = cols, .values = values};
    snprintf(a->name, sizeof a->name, "%zu.%s", part, name);
}

sock_status sk_features_export(sock_context *ctx, const sk_features *map, char **text, sk_array **arrays, size_t *count)
{
    char *spec = sk_kernel_format(ctx, map->kernel);
    sk_array *list = spec ? sk_alloc(ctx, 2 * map->parts + 1, sizeof *list) : NULL;
    char *whole = list ? sk_format(ctx, map->pivoted ? "pivoted(%s)" : "%s", spec) : NULL;
    sk_free(spec);
    if (!whole) {
        sk_free(list);
        return SOCK_ENOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < map->parts; i++) {
        const sk_part *part = &map->part[i];
        if (part->omega) {
            add_array(list, &used, i, "omega", part->p, part->d, part->omega);
            add_array(list, &used, i, "beta", part->p, 1, part->beta);
        }
        if (part->factor) {
            add_array(list, &used, i, "landmarks", part->p, part->d, part->pivot);
            add_array(list, &used, i, "factor", part->p, part->p, part->factor);
        }
    }
    if (map->scale) {
        list[used] = (sk_array){.rows = 1, .cols = map->d, .values = map->scale};
        snprintf(list[used++].name, sizeof list->name, "scale");
    }
    *text = whole;
    *arrays = list;
    *count = used;
    return SOCK_OK;
}

/* ---- Reading ---- */

typedef struct source {
    sock_context *ctx;
    size_t d;
    const sk_array *arrays;
    size_t count, used;
} source;

static const sk_array *named(const source *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strncmp(s->arrays[i].name, name, sizeof s->arrays[i].name) == 0) return &s->arrays[i];
    return NULL;
}

/* The array of that name; every number finite. cols is known; rows 0: any number from 1 to SK_MAX_FEATURES. */
static sock_status find_array(source *s, size_t part, const char *name, size_t rows, size_t cols, const sk_array **out)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%zu.%s", part, name);
    const sk_array *a = named(s, wanted);
    if (!a) return sk_fail(s->ctx, SOCK_EINPUT, "a feature map has no array '%s'", wanted);
    const size_t least = rows ? rows : 1, most = rows ? rows : SK_MAX_FEATURES;
    if (a->cols != cols || a->rows < least || a->rows > most)
        return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map is %zu x %zu; %s%zu x %zu is needed", wanted,
                       a->rows, a->cols,
                       rows              ? ""
                       : least > a->rows ? "at least "
                                         : "at most ",
                       least > a->rows ? least : most, cols);
    for (size_t i = 0; i < a->rows * a->cols; i++)
        if (!isfinite(a->values[i]))
            return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map holds %g at place %zu", wanted,
                           a->values[i], i);
    s->used++;
    *out = a;
    return SOCK_OK;
}

static sock_status read_fourier(source *s, size_t i, sk_part *part)
{
    const sk_array *omega, *beta;
    SK_TRY(find_array(s, i, "omega", part->term.p, s->d, &omega));
    SK_TRY(find_array(s, i, "beta", part->term.p, 1, &beta));
    return sk_fourier_restore(s->ctx, omega->values, beta->values, part);
}

static sock_status check_factor(const source *s, const sk_array *a)
{
    const size_t r = a->rows;
    for (size_t i = 0; i < r; i++) {
        if (!(a->values[i * r + i] > 0))
            return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map has %g on its diagonal; it must be > 0",
                           a->name, a->values[i * r + i]);
        for (size_t j = i + 1; j < r; j++)
            if (a->values[i * r + j] != 0)
                return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map is not lower triangular", a->name);
    }
    return SOCK_OK;
}

static sock_status read_landmarks(source *s, size_t i, const sk_kernel *kernel, sk_part *part)
{
    const sk_array *landmarks, *factor;
    SK_TRY(find_array(s, i, "landmarks", 0, s->d, &landmarks));
    SK_TRY(find_array(s, i, "factor", landmarks->rows, landmarks->rows, &factor));
    SK_TRY(check_factor(s, factor));
    return sk_landmark_restore(s->ctx, kernel, landmarks->rows, landmarks->values, factor->values, part);
}

static sock_status read_nystrom(source *s, size_t i, sk_part *part)
{
    sk_kernel *kernel = NULL;
    sk_term base = part->term;
    base.family = base.of;
    SK_TRY(sk_kernel_from_terms(s->ctx, 1, &base, &kernel));
    sock_status status = read_landmarks(s, i, kernel, part);
    if (status == SOCK_OK && part->p > part->term.p) /* m is known: sk_features_start */
        status =
            sk_fail(s->ctx, SOCK_EINPUT, "a feature map has %zu landmarks, more than m = %zu", part->p, part->term.p);
    sk_kernel_free(kernel);
    return status;
}

/* The units of the coordinates, where the map has its own. */
static sock_status read_scale(source *s, sk_features *map)
{
    const sk_array *scale = named(s, "scale");
    if (!scale) return SOCK_OK;
    if (scale->rows != 1 || scale->cols != s->d)
        return sk_fail(s->ctx, SOCK_EINPUT, "array 'scale' of a feature map is %zu x %zu; 1 x %zu is needed",
                       scale->rows, scale->cols, s->d);
    for (size_t k = 0; k < s->d; k++)
        if (!isfinite(scale->values[k]) || !(scale->values[k] > 0))
            return sk_fail(s->ctx, SOCK_EINPUT, "array 'scale' of a feature map holds %g at place %zu; it must be > 0",
                           scale->values[k], k);
    s->used++;
    return sk_features_set_scale(s->ctx, map, scale->values);
}

static sock_status read_parts(source *s, const sk_kernel *kernel, bool pivoted, sk_features *map)
{
    for (size_t i = 0; i < map->parts; i++) {
        sk_part *part = &map->part[i];
        if (pivoted)
            SK_TRY(read_landmarks(s, i, kernel, part));
        else if (part->term.family == SK_FOURIER)
            SK_TRY(read_fourier(s, i, part));
        else if (part->term.family == SK_NYSTROM)
            SK_TRY(read_nystrom(s, i, part));
        else
            SK_TRY(sk_poly_part(s->ctx, "feature map", part));
        SK_TRY(sk_features_add(s->ctx, "feature map", map, part));
    }
    SK_TRY(read_scale(s, map));
    if (s->used == s->count) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EINPUT, "a feature map comes with %zu arrays and uses %zu", s->count, s->used);
}

/* pivoted(kernel): the kernel's text, allocated; NULL without a failure when the text is a plain kernel. */
static sock_status inside_pivoted(sock_context *ctx, const char *text, char **out)
{
    const size_t n = strlen(text), skip = sizeof open_pivoted - 1;
    *out = NULL;
    if (strncmp(text, open_pivoted, skip) != 0) return SOCK_OK;
    if (text[n - 1] != ')') return sk_fail(ctx, SOCK_EINPUT, "a feature map's text '%.60s' does not end in ')'", text);
    *out = sk_strdup(ctx, text + skip);
    if (!*out) return SOCK_ENOMEM;
    (*out)[n - skip - 1] = 0;
    return SOCK_OK;
}

/* The parser and the makers of parts speak of options; what comes from a file is bad input. */
static sock_status as_input(sock_status status) { return status == SOCK_EUSAGE ? SOCK_EINPUT : status; }

sock_status sk_features_import(sock_context *ctx, const char *text, size_t d, const sk_array *arrays, size_t count,
                               sk_features **out)
{
    source s = {.ctx = ctx, .d = d, .arrays = arrays, .count = count};
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    char *inside = NULL;
    sock_status status = SOCK_OK;
    if (!d) return sk_fail(ctx, SOCK_EINPUT, "a feature map needs at least 1 dimension");
    SK_GO(inside_pivoted(ctx, text, &inside));
    SK_GO(as_input(sk_kernel_parse(ctx, "feature map", inside ? inside : text, &kernel)));
    SK_GO(as_input(sk_features_start(ctx, "feature map", kernel, d, inside != NULL, &map)));
    SK_GO(as_input(read_parts(&s, kernel, inside != NULL, map)));
out:
    sk_free(inside);
    sk_kernel_free(kernel);
    if (status < 0)
        sk_features_free(map);
    else
        *out = map;
    return status;
}

sock_status sk_features_copy(sock_context *ctx, const sk_features *map, sk_features **out)
{
    char *text = NULL;
    sk_array *arrays = NULL;
    size_t count = 0;
    SK_TRY(sk_features_export(ctx, map, &text, &arrays, &count));
    sock_status status = sk_features_import(ctx, text, map->d, arrays, count, out);
    sk_free(text);
    sk_free(arrays);
    return status;
}
