/* sampler.c - the terms of a model sorted by the features they need, so that each feature is computed once a point.
 *
 * A piece is a set of features h(x) in R^p with a matrix C (p x columns): the columns are coefficients of f, and
 * factors V of a. With pivots, gamma(x) = L^-1 k(pivots, x), the triangular solve goes into the coefficients: h =
 * k(pivots, x) and C = L^-T V. Pivoted factors of one kernel on the same nodes choose the same pivots, one perhaps
 * fewer than the other; the drift and the diffusion then share a piece.
 *
 *  1. Every term finds a piece with its kernel and its points (or those and more), or opens one.
 *  2. C is filled; columns that together hold less than NEGLIGIBLE of every |V_k|^2 are left out. As |gamma(x)|^2 <=
 *     k(x, x), that changes a_kk(x) by less than NEGLIGIBLE k(x, x) |V_k|^2, far below what the solver's gap leaves
 * open.
 *  3. L^-T costs digits when L is near singular: f and a are compared with the model's own at the points of each
 *     piece, and where they differ by more than AGREED the solve stays with the evaluation.
 *
 * Evaluation of a piece: one kernel block, one product C' h for all points, sums of squares along the points; with many
 * states, where rank d^2 outweighs the rest, a = B B' of each point by itself in BLAS. Cost a point: p (d + 10) +
 * 2 p columns + rank d^2. */
#include "model/sampler.h"

#include "base/device.h"
#include "la/la.h"
#include "model/fieldtable.h"
#include "model/modelfields.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-10
#define AGREED 1e-8 /* rounding */

enum {
    MOST_CENTRES = 1024, /* beyond, the tiles of sk_drift_term_add are kinder to the cache */
    MANY_STATES = 16     /* from here on a product of its own for each point pays */
};

typedef struct piece {
    const sk_features *map;  /* features; NULL: kernel values at the points */
    const sk_kernel *kernel; /* then: the kernel and the points (p x in), borrowed from a term */
    const double *point;
    const double *origin, *scale; /* the points and the kernel are in these units; NULL: 0 and 1 */
    size_t p, columns;
    bool drift; /* the first d columns are coefficients of f */
    double *c;  /* p x columns */
} piece;

/* Where the columns of a diffusion term stand in its piece. */
typedef struct factor {
    const sk_diffusion_term *term;
    size_t piece, first, rank;
    size_t *kept; /* rank columns of V */
} factor;

struct sk_sampler {
    const sock_model *model;
    size_t d, in, pieces, factors;
    piece *piece;          /* room for all terms */
    factor *factor;        /* diffusion_terms */
    size_t *drift_piece;   /* drift_terms; SIZE_MAX: evaluated by sk_drift_term_add */
    bool stable;           /* gamma as it is, without L^-T in the coefficients */
    sk_field_table *table; /* NULL: there is none */
};

void sk_sampler_free(sk_sampler *s)
{
    if (!s) return;
    sk_field_table_free(s->table);
    for (size_t i = 0; i < s->pieces; i++) sk_free(s->piece[i].c);
    for (size_t i = 0; i < s->factors; i++) sk_free(s->factor[i].kept);
    sk_free(s->piece);
    sk_free(s->factor);
    sk_free(s->drift_piece);
    sk_free(s);
}

/* ---- Step 1: pieces ---- */

static sock_status same_kernel(sock_context *ctx, const sk_kernel *one, const sk_kernel *other, bool *same)
{
    char *a = sk_kernel_format(ctx, one), *b = sk_kernel_format(ctx, other);
    *same = a && b && strcmp(a, b) == 0;
    sock_status status = a && b ? SOCK_OK : SOCK_ENOMEM;
    sk_free(a);
    sk_free(b);
    return status;
}

static bool same_units(const sk_sampler *s, const double *one, const double *other)
{
    return one && other ? memcmp(one, other, s->in * sizeof *one) == 0 : one == other;
}

/* The piece for kernel values at these points: one whose points begin with them, or that these begin with. */
static sock_status kernel_piece(sock_context *ctx, sk_sampler *s, const piece *wanted, size_t *found)
{
    const size_t p = wanted->p;
    const double *point = wanted->point;
    for (size_t i = 0; i < s->pieces; i++) {
        piece *old = &s->piece[i];
        bool same = false;
        if (old->map || !same_units(s, old->scale, wanted->scale) || !same_units(s, old->origin, wanted->origin) ||
            memcmp(old->point, point, SK_MIN(p, old->p) * s->in * sizeof *point) != 0)
            continue;
        SK_TRY(same_kernel(ctx, old->kernel, wanted->kernel, &same));
        if (!same) continue;
        if (p > old->p) old->point = point;
        old->p = SK_MAX(p, old->p);
        *found = i;
        return SOCK_OK;
    }
    *found = s->pieces;
    s->piece[s->pieces++] = *wanted;
    return SOCK_OK;
}

static sock_status map_piece(sock_context *ctx, sk_sampler *s, const sk_features *map, size_t *found)
{
    const size_t p = sk_features_count(map);
    const double *pivot = sk_features_pivots(map);
    const piece wanted = {.kernel = sk_features_kernel(map),
                          .origin = sk_features_origin(map),
                          .scale = sk_features_scale(map),
                          .p = p,
                          .point = pivot};
    if (pivot && !s->stable && !sk_features_bounded(map)) return kernel_piece(ctx, s, &wanted, found);
    *found = s->pieces;
    s->piece[s->pieces++] = (piece){.map = map, .p = p};
    return SOCK_OK;
}

/* Drift first, so that its columns are the first of a piece. */
static sock_status sort_drift(sock_context *ctx, sk_sampler *s)
{
    for (size_t i = 0; i < s->model->drift_terms; i++) {
        const sk_drift_term *term = s->model->drift[i];
        s->drift_piece[i] = SIZE_MAX;
        if (term->map)
            SK_TRY(map_piece(ctx, s, term->map, &s->drift_piece[i]));
        else if (!sk_kernel_is_matrix(term->kernel) && term->centres <= MOST_CENTRES)
            SK_TRY(kernel_piece(ctx, s, &(piece){.kernel = term->kernel, .p = term->centres, .point = term->centre},
                                &s->drift_piece[i]));
        if (s->drift_piece[i] == SIZE_MAX) continue;
        s->piece[s->drift_piece[i]].drift = true;
        s->piece[s->drift_piece[i]].columns = s->d;
    }
    return SOCK_OK;
}

/* share[j]: the largest part that column j has in |V_k|^2 of any component k. Each component for itself, since they may
 * be in very different units. */
static void column_shares(const sk_diffusion_term *term, double *share)
{
    const size_t p = sk_features_count(term->map), r = term->rank;
    for (size_t k = 0; k < term->d; k++) {
        const double *v = term->v + k * p * r;
        double total = 0;
        for (size_t i = 0; i < p * r; i++) total += v[i] * v[i];
        for (size_t j = 0; total > 0 && j < r; j++) {
            double sum = 0;
            for (size_t i = 0; i < p; i++) sum += v[i * r + j] * v[i * r + j];
            share[j] = fmax(share[j], sum / total);
        }
    }
}

/* Step 2: which columns of V count. The smallest goes first, while all that went are negligible together. */
sock_status sk_columns_that_count(sock_context *ctx, const sk_diffusion_term *term, size_t *kept, size_t *count)
{
    const size_t r = term->rank;
    double dropped = 0, *share = sk_doubles(ctx, r, 1);
    *count = 0;
    if (!share) return SOCK_ENOMEM;
    column_shares(term, share);
    for (size_t round = 0; round < r; round++) {
        size_t least = r;
        for (size_t j = 0; j < r; j++)
            if (share[j] >= 0 && (least == r || share[j] < share[least])) least = j;
        if (least == r || !((dropped += share[least]) <= NEGLIGIBLE)) break;
        share[least] = -1;
    }
    for (size_t j = 0; j < r; j++)
        if (!(share[j] < 0)) kept[(*count)++] = j;
    sk_free(share);
    return SOCK_OK;
}

static sock_status keep_columns(sock_context *ctx, const sk_diffusion_term *term, factor *f)
{
    f->kept = sk_alloc(ctx, term->rank, sizeof *f->kept);
    return f->kept ? sk_columns_that_count(ctx, term, f->kept, &f->rank) : SOCK_ENOMEM;
}

static sock_status sort_diffusion(sock_context *ctx, sk_sampler *s)
{
    for (size_t i = 0; i < s->model->diffusion_terms; i++) {
        const sk_diffusion_term *term = s->model->diffusion[i];
        factor *f = &s->factor[i];
        f->term = term;
        s->factors++;
        SK_TRY(keep_columns(ctx, term, f));
        SK_TRY(map_piece(ctx, s, term->map, &f->piece));
        f->first = s->piece[f->piece].columns;
        s->piece[f->piece].columns += f->rank * (term->owner ? 1 : s->d);
    }
    return SOCK_OK;
}

/* ---- Step 2: coefficients ---- */

/* Adds values (p x columns, destroyed) to C from column `first` on, with L^-T before them where the piece has bare
 * kernel values and the map is on pivots. */
static void add_columns(sock_context *ctx, piece *to, const sk_features *map, size_t p, size_t columns, double *values,
                        size_t first)
{
    if (map && !to->map) sk_solve_lower(ctx, SK_TRANSPOSED, p, columns, sk_features_factor(map), p, values, columns);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < columns; j++) to->c[i * to->columns + first + j] += values[i * columns + j];
}

static sock_status fill_drift(sock_context *ctx, sk_sampler *s, const sk_drift_term *term, piece *to)
{
    const size_t p = term->map ? sk_features_count(term->map) : term->centres;
    double *values = sk_doubles(ctx, p, s->d);
    if (!values) return SOCK_ENOMEM;
    memcpy(values, term->weight, p * s->d * sizeof *values);
    add_columns(ctx, to, term->map, p, s->d, values, 0);
    sk_free(values);
    return SOCK_OK;
}

/* Full: the kept columns of V_0, then those of V_1, ...; diagonal: of each column the block of its owner. */
static sock_status fill_factor(sock_context *ctx, sk_sampler *s, const factor *f)
{
    const sk_diffusion_term *term = f->term;
    const size_t p = sk_features_count(term->map), r = term->rank, blocks = term->owner ? 1 : s->d;
    double *values = sk_doubles(ctx, p, f->rank * blocks);
    if (!values) return SOCK_ENOMEM;
    for (size_t k = 0; k < blocks; k++)
        for (size_t j = 0; j < f->rank; j++)
            for (size_t i = 0; i < p; i++) {
                size_t block = term->owner ? term->owner[f->kept[j]] : k;
                values[i * f->rank * blocks + k * f->rank + j] = term->v[(block * p + i) * r + f->kept[j]];
            }
    add_columns(ctx, &s->piece[f->piece], term->map, p, f->rank * blocks, values, f->first);
    sk_free(values);
    return SOCK_OK;
}

static sock_status build(sock_context *ctx, const sock_model *model, bool stable, sk_sampler **out)
{
    sk_sampler *s = sk_alloc(ctx, 1, sizeof *s);
    sock_status status = SOCK_ENOMEM;
    if (!s) return status;
    *s = (sk_sampler){.model = model, .d = model->d, .in = sk_model_in(model), .stable = stable};
    s->piece = sk_alloc(ctx, model->drift_terms + model->diffusion_terms, sizeof *s->piece);
    s->factor = sk_alloc(ctx, model->diffusion_terms, sizeof *s->factor);
    s->drift_piece = sk_alloc(ctx, model->drift_terms, sizeof *s->drift_piece);
    if (!s->piece || !s->factor || !s->drift_piece) goto out;
    SK_GO(sort_drift(ctx, s));
    SK_GO(sort_diffusion(ctx, s));
    for (size_t i = 0; i < s->pieces; i++) {
        s->piece[i].c = sk_doubles(ctx, s->piece[i].p, s->piece[i].columns);
        if (!s->piece[i].c) {
            status = SOCK_ENOMEM;
            goto out;
        }
    }
    for (size_t i = 0; i < model->drift_terms; i++)
        if (s->drift_piece[i] != SIZE_MAX) SK_GO(fill_drift(ctx, s, model->drift[i], &s->piece[s->drift_piece[i]]));
    for (size_t i = 0; i < s->factors; i++) SK_GO(fill_factor(ctx, s, &s->factor[i]));
    *out = s;
    s = NULL;
out:
    sk_sampler_free(s);
    return status;
}

/* ---- Evaluation ---- */

size_t sk_sampler_exact_space(const sk_sampler *s, size_t block)
{
    size_t most = 0;
    for (size_t i = 0; i < s->pieces; i++) {
        const piece *q = &s->piece[i];
        size_t inner = q->map ? sk_features_space(q->map, block) : sk_kernel_space(s->in, q->p);
        if (!q->map && q->scale) inner += block * s->in;
        most = SK_MAX(most, block * q->p + SK_MAX(inner, q->columns * block));
    }
    for (size_t i = 0; i < s->model->drift_terms; i++)
        if (s->drift_piece[i] == SIZE_MAX) most = SK_MAX(most, sk_drift_term_space(s->model->drift[i], block));
    return most + (sk_structure_is_bounded(s->model->structure) ? 2 * block * s->in : 0);
}

enum { ABREAST = 64 };

/* One entry of a at up to ABREAST points, `stride` apart: the sum of `rank` products. Kept in a row of their own, the
 * sums do not leave the cache, which entries d^2 numbers apart would. */
static void add_entry(size_t rank, size_t points, size_t row, const double *one, const double *other, size_t stride,
                      double *a)
{
    double sum[ABREAST] = {0};
    for (size_t j = 0; j < rank; j++, one += row, other += row)
        for (size_t i = 0; i < points; i++) sum[i] += one[i] * other[i];
    for (size_t i = 0; i < points; i++) a[i * stride] += sum[i];
}

/* Sums along the points, which stand side by side: rows of b are columns of C. */
static void add_products(const factor *f, size_t d, size_t count, const double *b, double *a)
{
    b += f->first * count;
    for (size_t j = 0; f->term->owner && j < f->rank; j++) {
        size_t k = f->term->owner[f->kept[j]];
        for (size_t i = 0; i < count; i++) a[(i * d + k) * d + k] += b[j * count + i] * b[j * count + i];
    }
    for (size_t k = 0; !f->term->owner && k < d; k++)
        for (size_t l = 0; l <= k; l++)
            for (size_t i = 0; i < count; i += ABREAST)
                add_entry(f->rank, SK_MIN(count - i, (size_t)ABREAST), count, b + k * f->rank * count + i,
                          b + l * f->rank * count + i, d * d, a + (i * d + k) * d + l);
}

/* The same with the columns of a point side by side: B is d x rank in one piece. */
static void add_squares(sock_context *ctx, const factor *f, size_t d, size_t count, const double *b, size_t row,
                        double *a)
{
    b += f->first;
    for (size_t i = 0; i < count; i++, b += row, a += d * d) {
        if (!f->term->owner) sk_syrk(ctx, SK_PLAIN, d, f->rank, 1, b, f->rank, 1, a, d);
        for (size_t j = 0; f->term->owner && j < f->rank; j++) {
            size_t k = f->term->owner[f->kept[j]];
            a[k * d + k] += b[j] * b[j];
        }
    }
}

/* Only the lower triangle was summed. */
static void mirror(size_t d, size_t count, double *a)
{
    for (size_t i = 0; i < count; i++, a += d * d)
        for (size_t k = 1; k < d; k++)
            for (size_t l = 0; l < k; l++) a[l * d + k] = a[k * d + l];
}

static void eval_piece(sock_context *ctx, const sk_sampler *s, size_t index, size_t count, const double *x, double *f,
                       double *a, double *space)
{
    const piece *q = &s->piece[index];
    const size_t d = s->d, in = s->in, columns = a ? q->columns : q->drift ? d : 0;
    double *h = space, *b = space + count * q->p;
    if (!columns) return;
    if (q->map) {
        sk_features_block(ctx, q->map, count, x, h, q->p, b);
    } else {
        for (size_t i = 0; q->scale && i < count * in; i++) b[i] = (x[i] - q->origin[i % in]) / q->scale[i % in];
        sk_kernel_block(ctx, q->kernel, in, count, q->scale ? b : x, q->p, q->point, h, q->p,
                        q->scale ? b + count * in : b);
    }
    const bool by_point = d >= MANY_STATES;
    if (by_point)
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, columns, q->p, 1, h, q->p, q->c, q->columns, 0, b, columns);
    else
        sk_gemm(ctx, SK_TRANSPOSED, SK_TRANSPOSED, columns, count, q->p, 1, q->c, q->columns, h, q->p, 0, b, count);
    for (size_t k = 0; q->drift && k < d; k++)
        for (size_t i = 0; i < count; i++) f[i * d + k] += by_point ? b[i * columns + k] : b[k * count + i];
    for (size_t i = 0; a && i < s->factors; i++) {
        if (s->factor[i].piece != index) continue;
        if (by_point)
            add_squares(ctx, &s->factor[i], d, count, b, columns, a);
        else
            add_products(&s->factor[i], d, count, b, a);
    }
}

static void fields_at(sock_context *ctx, const sk_sampler *s, size_t count, const double *x, double *f, double *a,
                      double *space)
{
    const sock_model *model = s->model;
    const size_t d = s->d;
    if (model->wrapped_drift)
        model->wrapped_drift(model->wrapped_user, count, d, x, f);
    else
        memset(f, 0, count * d * sizeof *f);
    if (a) memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < model->drift_terms; i++)
        if (s->drift_piece[i] == SIZE_MAX) sk_drift_term_add(ctx, model->drift[i], count, x, f, space);
    for (size_t i = 0; i < s->pieces; i++) eval_piece(ctx, s, i, count, x, f, a, space);
    if (!a) return;
    if (model->wrapped_diffusion) {
        model->wrapped_diffusion(model->wrapped_user, count, d, x, a);
        return;
    }
    mirror(d, count, a);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] += model->floor;
}

/* a of points outside the bounds of the model is that of the nearest ones inside; f is not. */
void sk_sampler_exact(sock_context *ctx, const sk_sampler *s, size_t count, const double *x, double *f, double *a,
                      double *space)
{
    if (!a || !sk_structure_is_bounded(s->model->structure)) {
        fields_at(ctx, s, count, x, f, a, space);
        return;
    }
    const size_t size = count * s->in;
    const double *inside = sk_model_inside(s->model, count, x, space);
    const bool same = memcmp(inside, x, size * sizeof *x) == 0;
    fields_at(ctx, s, count, inside, same ? f : space + size, a, space + 2 * size);
    if (!same) fields_at(ctx, s, count, x, f, NULL, space + 2 * size);
}

size_t sk_sampler_space(const sk_sampler *s, size_t block)
{
    return s->table ? sk_field_table_space(s->table, block) : sk_sampler_exact_space(s, block);
}

void sk_sampler_fields(sock_context *ctx, const sk_sampler *s, size_t count, const double *x, double *f, double *a,
                       double *space)
{
    if (s->table)
        sk_field_table_fields(ctx, s->table, count, x, f, a, space);
    else
        sk_sampler_exact(ctx, s, count, x, f, a, space);
}

bool sk_model_has_tables(const sock_model *model)
{
    const bool own = !model->wrapped_drift && !model->wrapped_diffusion;
    return own && model->has_diffusion && model->d == 1 && sk_model_in(model) == 1;
}

sock_status sk_sampler_tabulate(sock_context *ctx, sk_sampler *s, double low, double high, double evaluations)
{
    const bool worth = evaluations > SK_TABLE_WORTH && high > low && isfinite(high - low);
    if (s->table || !worth || !sk_model_has_tables(s->model)) return SOCK_OK;
    return sk_field_table_new(ctx, s, low, high, &s->table);
}

/* ---- Step 3 ---- */

/* Rows of `width` numbers, number k in units of unit[k]. */
static bool agree(size_t n, size_t width, const double *unit, const double *one, const double *other)
{
    double largest = 0, worst = 0;
    assert(width > 0);
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(one[i]) / unit[i % width]);
        worst = fmax(worst, fabs(one[i] - other[i]) / unit[i % width]);
        if (isnan(other[i] - one[i])) return false;
    }
    return worst <= AGREED * largest;
}

static sock_status check_piece(sock_context *ctx, const sk_sampler *s, const piece *q, bool *good)
{
    const size_t d = s->d, in = s->in, count = SK_MIN(q->p, (size_t)ABREAST);
    const bool noisy = s->model->has_diffusion;
    double *values = sk_doubles(ctx, count, 2 * d + in + 2 * d * d), *unit = sk_doubles(ctx, d + d * d, 1);
    double *space = sk_doubles(ctx, SK_MAX(sk_sampler_space(s, count), sk_model_space(s->model, count)), 1);
    if (values && space && unit) {
        double *f = values, *g = f + count * d, *a = g + count * d, *b = a + count * d * d, *x = b + count * d * d;
        for (size_t i = 0; i < count * in; i++)
            x[i] = q->scale ? q->origin[i % in] + q->point[i] * q->scale[i % in] : q->point[i];
        sk_model_fields(ctx, s->model, count, x, f, noisy ? a : NULL, space);
        sk_sampler_fields(ctx, s, count, x, g, noisy ? b : NULL, space);
        for (size_t k = 0; k < d; k++) unit[k] = q->scale ? q->scale[k] : 1;
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a model has d >= 1
        for (size_t k = 0; k < d * d; k++) unit[d + k] = unit[k / d] * unit[k % d];
        *good = agree(count * d, d, unit, f, g) && (!noisy || agree(count * d * d, d * d, unit + d, a, b));
    }
    sock_status status = values && space && unit ? SOCK_OK : SOCK_ENOMEM;
    sk_free(values);
    sk_free(unit);
    sk_free(space);
    return status;
}

sock_status sk_sampler_new(sock_context *ctx, const sock_model *model, sk_sampler **out)
{
    sk_sampler *s = NULL;
    bool good = true;
    SK_TRY(build(ctx, model, false, &s));
    for (size_t i = 0; good && i < s->pieces; i++) {
        sock_status status = s->piece[i].map ? SOCK_OK : check_piece(ctx, s, &s->piece[i], &good);
        if (status < 0) {
            sk_sampler_free(s);
            return status;
        }
    }
    if (!good) {
        sk_sampler_free(s);
        return build(ctx, model, true, out);
    }
    *out = s;
    return SOCK_OK;
}

/* ---- For a device ---- */

void sk_sampler_export_clear(sk_sampler_export *e)
{
    for (size_t i = 0; e->piece && i < e->pieces; i++) sk_device_piece_clear(&e->piece[i]);
    sk_free(e->piece);
    sk_free(e->factor);
    *e = (sk_sampler_export){0};
}

static bool is_whole(const sk_sampler *s)
{
    const sock_model *model = s->model;
    bool whole = !model->wrapped_drift && !model->wrapped_diffusion && s->in == s->d && model->structure->order != 2 &&
                 !model->structure->absorbing && !sk_structure_is_bounded(model->structure);
    for (size_t i = 0; i < model->drift_terms; i++) whole = whole && s->drift_piece[i] != SIZE_MAX;
    return whole;
}

static sock_status export_piece(sock_context *ctx, const piece *from, sk_device_piece *to, bool *whole)
{
    if (from->map) {
        SK_TRY(sk_features_for_device(ctx, from->map, to, whole));
    } else {
        *to = (sk_device_piece){.kind = SK_DEVICE_KERNEL, .origin = from->origin, .unit = from->scale, .p = from->p};
        to->point = from->point;
        to->terms = from->kernel->terms;
        to->term = sk_kernel_device_terms(ctx, from->kernel);
        if (!to->term && sock_message(ctx)[0]) return SOCK_ENOMEM;
        *whole = to->term != NULL;
    }
    to->columns = from->columns;
    to->coefficient = from->c;
    to->drift = from->drift;
    return SOCK_OK;
}

sock_status sk_sampler_for_device(sock_context *ctx, const sk_sampler *s, sk_sampler_export *out, bool *whole)
{
    *out = (sk_sampler_export){0};
    *whole = is_whole(s);
    if (!*whole) return SOCK_OK;
    out->piece = sk_alloc(ctx, s->pieces, sizeof *out->piece);
    out->factor = sk_alloc(ctx, s->factors, sizeof *out->factor);
    sock_status status = out->piece && out->factor ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && *whole && i < s->pieces; i++) {
        status = export_piece(ctx, &s->piece[i], &out->piece[out->pieces++], whole);
        out->work += (double)s->piece[i].p * (double)s->piece[i].columns;
    }
    for (size_t i = 0; status >= 0 && i < s->factors; i++) {
        const factor *f = &s->factor[i];
        sk_device_factor *to = &out->factor[out->factors++];
        *to = (sk_device_factor){.piece = f->piece, .first = f->first, .rank = f->rank};
        if (!f->term->owner) continue;
        for (size_t j = 0; j < f->rank; j++)
            *whole = *whole && f->kept[j] == j; /* else owners would have to be sorted */
        to->owner = f->term->owner;
    }
    if (status < 0 || !*whole) sk_sampler_export_clear(out);
    return status;
}
