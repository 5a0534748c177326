/* featurefile.c - feature maps as text and named arrays, and back: what a model file holds. Nothing in it is trusted.
 *
 * Text: the kernel, or pivoted(kernel). Arrays of part i of the sum: i.omega (p x d) and i.beta (p x 1) of fourier;
 * i.landmarks (r x d) and i.factor (r x r, lower) of nystrom and pivoted; i.kept (r x 1) of poly, affine and constant,
 * when r of its monomials are all of the map; and scale (1 x d) of a map in units of its own, with origin (1 x d) where
 * its zero is not that of the states. Which they are is the families' matter. */
#include "kernel/featuremap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char open_pivoted[] = "pivoted(";

/* ---- Writing ---- */

/* The arrays of a part behind those in the list. */
static size_t list_part(const sk_part *part, size_t place, sk_array *list)
{
    for (size_t i = 0; i < part->arrays; i++) {
        list[i] = (sk_array){.rows = part->array[i].rows, .cols = part->array[i].cols, .values = part->array[i].values};
        snprintf(list[i].name, sizeof list[i].name, "%zu.%s", place, part->array[i].name);
    }
    return part->arrays;
}

static sk_array unit_array(const sk_features *map, const char *name, const double *values)
{
    sk_array made = {.rows = 1, .cols = map->d, .values = values};
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

static bool all_zero(size_t d, const double *values)
{
    while (d && values[d - 1] == 0) d--;
    return !d;
}

sock_status sk_features_export(sock_context *ctx, const sk_features *map, char **text, sk_array **arrays, size_t *count)
{
    char *spec = sk_kernel_format(ctx, map->kernel);
    sk_array *list = spec ? sk_alloc(ctx, SK_PART_ARRAYS * map->parts + 2, sizeof *list) : NULL;
    char *whole = list ? sk_format(ctx, map->pivoted ? "pivoted(%s)" : "%s", spec) : NULL;
    sk_free(spec);
    if (!whole) {
        sk_free(list);
        return SOCK_ENOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < map->parts; i++) used += list_part(&map->part[i], i, list + used);
    if (map->scale) list[used++] = unit_array(map, "scale", map->scale);
    if (map->scale && !all_zero(map->d, map->origin)) list[used++] = unit_array(map, "origin", map->origin);
    *text = whole;
    *arrays = list;
    *count = used;
    return SOCK_OK;
}

/* ---- Reading ---- */

static const sk_array *named(const sk_stored *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strncmp(s->arrays[i].name, name, sizeof s->arrays[i].name) == 0) return &s->arrays[i];
    return NULL;
}

bool sk_stored_has(const sk_stored *s, const char *name)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%zu.%s", s->place, name);
    return named(s, wanted) != NULL;
}

sock_status sk_stored_array(sk_stored *s, sk_part *part, const char *name, size_t rows, size_t cols)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%zu.%s", s->place, name);
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
    double *values = sk_part_array(s->ctx, part, name, a->rows, a->cols);
    if (!values) return SOCK_ENOMEM;
    memcpy(values, a->values, a->rows * a->cols * sizeof *values);
    return SOCK_OK;
}

/* An array with a number for each state; *out is NULL where the map has none of this name. */
static sock_status read_units(sk_stored *s, size_t d, const char *name, bool positive, const double **out)
{
    const sk_array *a = named(s, name);
    *out = a ? a->values : NULL;
    if (!a) return SOCK_OK;
    if (a->rows != 1 || a->cols != d)
        return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map is %zu x %zu; 1 x %zu is needed", name,
                       a->rows, a->cols, d);
    for (size_t k = 0; k < d; k++)
        if (!isfinite(a->values[k]) || (positive && !(a->values[k] > 0)))
            return sk_fail(s->ctx, SOCK_EINPUT, "array '%s' of a feature map holds %g at place %zu; it must be %s",
                           name, a->values[k], k, positive ? "> 0" : "finite");
    s->used++;
    return SOCK_OK;
}

/* Zero and units of the coordinates, where the map has its own. */
static sock_status read_scale(sk_stored *s, sk_features *map)
{
    const double *scale, *origin;
    SK_TRY(read_units(s, map->d, "scale", true, &scale));
    SK_TRY(read_units(s, map->d, "origin", false, &origin));
    return scale || origin ? sk_features_set_units(s->ctx, map, origin, scale) : SOCK_OK;
}

/* What is not stored is made again. */
static sock_status read_part(sk_stored *s, sk_part *part)
{
    const sk_making m = {.ctx = s->ctx, .option = "feature map", .place = s->place};
    return part->term.family->load ? part->term.family->load(s, part) : part->term.family->make(&m, part);
}

static sock_status read_parts(sk_stored *s, const sk_kernel *kernel, bool pivoted, sk_features *map)
{
    for (s->place = 0; s->place < map->parts; s->place++) {
        sk_part *part = &map->part[s->place];
        SK_TRY(pivoted ? sk_landmarks_load(s, kernel, part) : read_part(s, part));
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
    sk_stored s = {.ctx = ctx, .arrays = arrays, .count = count};
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
