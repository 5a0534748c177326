/* landmarks.c - features of any scalar kernel in closed form on chosen points: gamma(x) = L^-1 k(pivots, x), where L L'
 * is the kernel's matrix at the pivots. gamma(x).gamma(y) = k(x, y) whenever x or y lies in the span of the pivots.
 *
 *   1. The points: all of the data (sk_features_pivoted), or m of them drawn by the seed (nystrom).
 *   2. Pivoted Cholesky of their kernel matrix, column by column, until the tolerance: r pivots, factor F (r x count).
 *   3. L = F' at the pivots; the features of the points themselves are the columns of F.
 *
 * Cost: r columns of the kernel and count r^2 operations; a point evaluated later costs r (d + 10) + r^2. */
#include "kernel/featuremap.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

static const double *points_of(const sk_part *part) { return part->array[SK_LANDMARKS].values; }
static const double *factor_of(const sk_part *part) { return part->array[SK_FACTOR].values; }

/* ---- Evaluation ---- */

static size_t landmark_space(const sk_part *part, size_t block)
{
    (void)block;
    return sk_kernel_space(part->d, part->p);
}

static void landmark_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                          double *space)
{
    sk_kernel_block(ctx, part->kernel, part->d, count, x, part->p, points_of(part), phi, ld, space);
    sk_solve_lower_right(ctx, SK_TRANSPOSED, count, part->p, factor_of(part), part->p, phi, ld);
}

static void landmark_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    (void)space;
    const size_t d = part->d;
    memset(out, 0, part->p * d * sizeof *out);
    for (size_t j = 0; j < part->p; j++)
        for (size_t q = 0; q < part->kernel->terms; q++) {
            const sk_term *term = &part->kernel->term[q];
            term->family->add_gradient(term, d, x, points_of(part) + j * d, out + j * d);
        }
    sk_solve_lower(ctx, SK_PLAIN, part->p, d, factor_of(part), part->p, out, d);
}

static char *landmark_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    (void)part, (void)names;
    *weight = 1;
    return sk_format(ctx, "k(., pivot %zu)", j + 1);
}

static const sk_part_kind landmark_kind = {
    .space = landmark_space, .eval = landmark_eval, .jacobian = landmark_jacobian, .label = landmark_label};

/* ---- Columns of the kernel matrix ---- */

enum { COLUMN_GRAIN = 16384 }; /* fewer entries than that are sooner made than a thread */

typedef struct columns {
    sock_context *ctx;
    const sk_kernel *kernel;
    size_t d, count;
    const double *x;
    size_t pivot;
    double *column, *space; /* space: sk_kernel_space for each worker */
} columns;

static sock_status column_range(void *arg, size_t begin, size_t end, int worker)
{
    const columns *c = arg;
    double *space = c->space + (size_t)worker * sk_kernel_space(c->d, COLUMN_GRAIN);
    sk_kernel_block(c->ctx, c->kernel, c->d, 1, c->x + c->pivot * c->d, end - begin, c->x + begin * c->d,
                    c->column + begin, end - begin, space);
    return SOCK_OK;
}

static sock_status kernel_column(void *arg, size_t pivot, double *column)
{
    columns *c = arg;
    c->pivot = pivot;
    c->column = column;
    return sk_parallel_for(c->ctx, c->count, COLUMN_GRAIN, column_range, c);
}

static sock_status pivoted_kernel(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                  double tolerance, size_t max_rank, bool give_up_early, sk_pivoted **out)
{
    columns c = {.ctx = ctx, .kernel = kernel, .d = d, .count = count, .x = x};
    double *diagonal = sk_doubles(ctx, count, 1);
    sock_status status = SOCK_ENOMEM;
    c.space = sk_doubles(ctx, (size_t)sk_workers(ctx), sk_kernel_space(d, COLUMN_GRAIN));
    if (!diagonal || !c.space) goto out;
    sk_kernel_diagonal(kernel, d, count, x, diagonal);
    SK_GO(sk_pivoted_cholesky(ctx, count, diagonal, kernel_column, &c, tolerance, max_rank, give_up_early, out));
out:
    sk_free(diagonal);
    sk_free(c.space);
    return status;
}

/* ---- Parts ---- */

/* Step 3. */
static sock_status take_pivots(sock_context *ctx, const sk_kernel *kernel, const sk_pivoted *found, const double *x,
                               sk_part *part)
{
    const size_t d = part->d, r = found->rank;
    if (!r)
        return sk_fail(ctx, SOCK_ENUMERIC, "the kernel is zero at all of the %zu points, so it has no features there",
                       found->n);
    part->kind = &landmark_kind;
    part->p = r;
    double *point = sk_part_array(ctx, part, "landmarks", r, d);
    double *factor = point ? sk_part_array(ctx, part, "factor", r, r) : NULL;
    if (!factor) return SOCK_ENOMEM;
    for (size_t i = 0; i < r; i++) {
        memcpy(point + i * d, x + found->pivot[i] * d, d * sizeof *x);
        for (size_t k = 0; k <= i; k++) factor[i * r + k] = found->factor[k * found->n + found->pivot[i]];
    }
    return sk_kernel_copy(ctx, kernel, &part->kernel);
}

static sock_status check_factor(const sk_stored *s, size_t r, const double *factor)
{
    for (size_t i = 0; i < r; i++) {
        if (!(factor[i * r + i] > 0))
            return sk_fail(s->ctx, SOCK_EINPUT,
                           "array '%zu.factor' of a feature map has %g on its diagonal; it must be > 0", s->place,
                           factor[i * r + i]);
        for (size_t j = i + 1; j < r; j++)
            if (factor[i * r + j] != 0)
                return sk_fail(s->ctx, SOCK_EINPUT, "array '%zu.factor' of a feature map is not lower triangular",
                               s->place);
    }
    return SOCK_OK;
}

/* The kernel as it is of the coordinates that a part sees: of roots, where it is of these. */
static sock_status kernel_inside(sock_context *ctx, const sk_kernel *kernel, sk_kernel **out)
{
    SK_TRY(sk_kernel_copy(ctx, kernel, out));
    for (size_t i = 0; i < kernel->terms; i++) (*out)->term[i].root = false, (*out)->term[i].sides[0] = 0;
    return SOCK_OK;
}

sock_status sk_landmarks_load(sk_stored *s, const sk_kernel *kernel, sk_part *part)
{
    part->kind = &landmark_kind;
    SK_TRY(sk_stored_array(s, part, "landmarks", 0, part->d));
    part->p = part->array[SK_LANDMARKS].rows;
    SK_TRY(sk_stored_array(s, part, "factor", part->p, part->p));
    SK_TRY(check_factor(s, part->p, factor_of(part)));
    return kernel_inside(s->ctx, kernel, &part->kernel);
}

/* ---- Nystrom ---- */

/* m of the points, drawn without replacement, in the order of the data. */
static sock_status draw_points(sock_context *ctx, uint64_t seed, size_t d, size_t count, size_t m, const double *x,
                               double *drawn)
{
    const sk_key key = {.seed = seed, .purpose = SK_PURPOSE_LANDMARKS};
    size_t *order = sk_alloc(ctx, count, sizeof *order);
    bool *taken = sk_alloc(ctx, count, sizeof *taken);
    sock_status status = order && taken ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        sk_shuffle(key, 0, 0, count, order);
        for (size_t i = 0; i < m; i++) taken[order[i]] = true;
        for (size_t i = 0; i < count; i++)
            if (taken[i]) memcpy(drawn, x + i * d, d * sizeof *x), drawn += d;
    }
    sk_free(order);
    sk_free(taken);
    return status;
}

/* The kernel that a nystrom term is of. */
static sock_status closed_kernel(sock_context *ctx, sk_term *term, sk_kernel **out)
{
    const sk_kernel alone = {.terms = 1, .term = term};
    return sk_kernel_closed_form(ctx, &alone, out);
}

static sock_status nystrom_make(const sk_making *m, sk_part *part)
{
    static const double tolerance = 1e-12;
    const size_t most = SK_MIN(part->term.p, m->count);
    sk_kernel *kernel = NULL;
    sk_pivoted *found = NULL;
    double *drawn = NULL;
    sock_status status = SOCK_OK;
    if (!most) return sk_fail(m->ctx, SOCK_EINPUT, "%s: nystrom needs points to choose its landmarks from", m->option);
    SK_GO(closed_kernel(m->ctx, &part->term, &kernel));
    drawn = sk_doubles(m->ctx, most, part->d);
    if (!drawn) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(draw_points(m->ctx, part->term.seed, part->d, m->count, most, m->x, drawn));
    SK_GO(pivoted_kernel(m->ctx, kernel, part->d, most, drawn, tolerance, most, false, &found));
    SK_GO(take_pivots(m->ctx, kernel, found, drawn, part));
out:
    sk_free(drawn);
    sk_pivoted_free(found);
    sk_kernel_free(kernel);
    return status;
}

static sock_status nystrom_load(sk_stored *s, sk_part *part)
{
    sk_kernel *kernel = NULL;
    SK_TRY(closed_kernel(s->ctx, &part->term, &kernel));
    sock_status status = sk_landmarks_load(s, kernel, part);
    if (status == SOCK_OK && part->p > part->term.p) /* m is known: sk_features_start */
        status =
            sk_fail(s->ctx, SOCK_EINPUT, "a feature map has %zu landmarks, more than m = %zu", part->p, part->term.p);
    sk_kernel_free(kernel);
    return status;
}

/* One for each landmark, and not more than the kernel has. */
static double nystrom_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)max_rank;
    return fmin((double)term->p, term->of->count(term, d, term->p));
}

const sk_family sk_nystrom_family = {.name = "nystrom",
                                     .keys = SK_BIT(SK_KEY_M) | SK_BIT(SK_KEY_OF) | SK_BIT(SK_KEY_ETA) |
                                             SK_BIT(SK_KEY_DEGREE) | SK_BIT(SK_KEY_SEED) | SK_BIT(SK_KEY_SCALE),
                                     .make = nystrom_make,
                                     .load = nystrom_load,
                                     .count = nystrom_count};

/* ---- All of the data ---- */

static double *features_of_points(sock_context *ctx, const sk_pivoted *found)
{
    enum { TILE = 32 };
    const size_t n = found->n, r = found->rank;
    double *phi = sk_doubles(ctx, n, r);
    for (size_t b = 0; phi && b < n; b += TILE)
        for (size_t k = 0; k < r; k++)
            for (size_t a = b; a < SK_MIN(b + TILE, n); a++) phi[a * r + k] = found->factor[k * n + a];
    return phi;
}

/* *x := the points in the coordinates that the map's part sees; *own: theirs, where they are others. */
static sock_status points_inside(sock_context *ctx, const sk_features *map, size_t count, const double **x,
                                 double **own)
{
    if (!sk_features_bounded(map)) return SOCK_OK;
    if (!(*own = sk_doubles_unset(ctx, count, map->inner))) return SOCK_ENOMEM;
    sk_root_coordinates(&map->part[0].term, map->d, count, *x, *own);
    *x = *own;
    return SOCK_OK;
}

sock_status sk_features_pivoted(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                double tolerance, size_t max_rank, bool give_up_early, sk_features **out, double **phi,
                                bool *complete)
{
    sk_pivoted *found = NULL;
    sk_features *map = NULL;
    sk_kernel *inside = NULL;
    double *own = NULL, *root = NULL;
    sock_status status = SOCK_OK;
    SK_GO(sk_features_start(ctx, "pivoted features", kernel, d, true, &map));
    SK_GO(kernel_inside(ctx, kernel, &inside));
    SK_GO(points_inside(ctx, map, count, &x, &root));
    SK_GO(pivoted_kernel(ctx, inside, map->inner, count, x, tolerance, max_rank, give_up_early, &found));
    SK_GO(take_pivots(ctx, inside, found, x, &map->part[0]));
    SK_GO(sk_features_add(ctx, "pivoted features", map, &map->part[0]));
    if (phi && !(own = features_of_points(ctx, found))) status = SOCK_ENOMEM;
out:
    if (status < 0) {
        sk_features_free(map);
    } else {
        *out = map;
        if (phi) *phi = own;
        if (complete) *complete = found->complete;
    }
    sk_free(root);
    sk_kernel_free(inside);
    sk_pivoted_free(found);
    return status;
}

sock_status sk_features_landmarks(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                  size_t m, uint64_t seed, sk_features **out)
{
    static const double tolerance = 1e-12;
    const size_t wanted = SK_MIN(m ? m : 500, count);
    double *drawn = sk_doubles(ctx, wanted, d);
    if (!drawn) return SOCK_ENOMEM;
    sock_status status = draw_points(ctx, seed, d, count, wanted, x, drawn);
    if (status >= 0)
        status = sk_features_pivoted(ctx, kernel, d, wanted, drawn, tolerance, wanted, false, out, NULL, NULL);
    sk_free(drawn);
    return status;
}
