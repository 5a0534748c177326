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

/* ---- Evaluation ---- */

static size_t landmark_space(const sk_part *part, size_t block)
{
    (void)block;
    return sk_kernel_space(part->d, part->p);
}

static void landmark_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                          double *space)
{
    sk_kernel_block(ctx, part->kernel, part->d, count, x, part->p, part->pivot, phi, ld, space);
    sk_solve_lower_right(ctx, SK_TRANSPOSED, count, part->p, part->factor, part->p, phi, ld);
}

static void landmark_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    (void)space;
    const size_t d = part->d;
    memset(out, 0, part->p * d * sizeof *out);
    for (size_t j = 0; j < part->p; j++)
        for (size_t q = 0; q < part->kernel->terms; q++)
            sk_term_add_gradient(&part->kernel->term[q], d, x, part->pivot + j * d, out + j * d);
    sk_solve_lower(ctx, SK_PLAIN, part->p, d, part->factor, part->p, out, d);
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

static sock_status make_arrays(sock_context *ctx, const sk_kernel *kernel, size_t p, sk_part *part)
{
    part->kind = &landmark_kind;
    part->p = p;
    part->pivot = sk_doubles(ctx, p, part->d);
    part->factor = sk_doubles(ctx, p, p);
    if (!part->pivot || !part->factor) return SOCK_ENOMEM;
    return sk_kernel_copy(ctx, kernel, &part->kernel);
}

/* Step 3. */
static sock_status take_pivots(sock_context *ctx, const sk_kernel *kernel, const sk_pivoted *found, const double *x,
                               sk_part *part)
{
    const size_t d = part->d, r = found->rank;
    if (!r)
        return sk_fail(ctx, SOCK_ENUMERIC, "the kernel is zero at all of the %zu points, so it has no features there",
                       found->n);
    SK_TRY(make_arrays(ctx, kernel, r, part));
    for (size_t i = 0; i < r; i++) {
        memcpy(part->pivot + i * d, x + found->pivot[i] * d, d * sizeof *x);
        for (size_t k = 0; k <= i; k++) part->factor[i * r + k] = found->factor[k * found->n + found->pivot[i]];
    }
    return SOCK_OK;
}

sock_status sk_landmark_restore(sock_context *ctx, const sk_kernel *kernel, size_t p, const double *pivot,
                                const double *factor, sk_part *part)
{
    SK_TRY(make_arrays(ctx, kernel, p, part));
    memcpy(part->pivot, pivot, p * part->d * sizeof *pivot);
    memcpy(part->factor, factor, p * p * sizeof *factor);
    return SOCK_OK;
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

sock_status sk_nystrom_part(sock_context *ctx, const char *option, size_t count, const double *x, sk_part *part)
{
    static const double tolerance = 1e-12;
    const size_t m = SK_MIN(part->term.p, count);
    sk_term base = part->term;
    sk_kernel *kernel = NULL;
    sk_pivoted *found = NULL;
    double *drawn = NULL;
    sock_status status = SOCK_OK;
    base.family = base.of;
    if (!m) return sk_fail(ctx, SOCK_EINPUT, "%s: nystrom needs points to choose its landmarks from", option);
    SK_GO(sk_kernel_from_terms(ctx, 1, &base, &kernel));
    drawn = sk_doubles(ctx, m, part->d);
    if (!drawn) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(draw_points(ctx, part->term.seed, part->d, count, m, x, drawn));
    SK_GO(pivoted_kernel(ctx, kernel, part->d, m, drawn, tolerance, m, false, &found));
    SK_GO(take_pivots(ctx, kernel, found, drawn, part));
out:
    sk_free(drawn);
    sk_pivoted_free(found);
    sk_kernel_free(kernel);
    return status;
}

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

sock_status sk_features_pivoted(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                double tolerance, size_t max_rank, bool give_up_early, sk_features **out, double **phi,
                                bool *complete)
{
    sk_pivoted *found = NULL;
    sk_features *map = NULL;
    double *own = NULL;
    sock_status status = SOCK_OK;
    SK_GO(sk_features_start(ctx, "pivoted features", kernel, d, true, &map));
    SK_GO(pivoted_kernel(ctx, kernel, d, count, x, tolerance, max_rank, give_up_early, &found));
    SK_GO(take_pivots(ctx, kernel, found, x, &map->part[0]));
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
