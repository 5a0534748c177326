/* newton.c - semismooth Newton on the dual.
 *
 *     minimise J(y) = n/4 |y|^2 + <y, t> + |S_+(y)|^2 / (4 lambda),   S(y) = -R*(y)
 *
 *   1. Start: the given y. (The caller starts at the solution without the constraint; if its Q is positive
 *      semi-definite the gradient there is 0 and the work is done.)
 *   2. grad = n/2 y + t - R(Q);  stop when |grad|^2 / n, which is the duality gap, is small against the primal value.
 *   3. Direction: (n/2 I + R dPi R* / (2 lambda)) dy = -grad, dPi the derivative of the projection at S.
 *      d = 1 and few rows: the matrix itself, F = sqrt(Omega) o (E mat(c_i) E') row by row, n/2 I + F F' / (2 lambda),
 * by Cholesky. Else conjugate gradients with the preconditioner n/2 + s^2/(2 lambda), the Hessian where S > 0, to a
 *      relative residual that falls with the gradient.
 *   4. Armijo on J with halving; near the end, where J is flat to rounding, a smaller gradient is as good.
 *
 * Qi and Sun 2006; Malick 2004. Locally quadratic; cost per step one eigendecomposition of size pd, two products, and
 * per conjugate gradient step two products and 8 (pd)^2 min(r, pd - r) flop. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

enum { DENSE_ROWS = 2000, CG_MOST = 400, CG_GUESS = 15, HALVINGS = 40, AT_ONCE = 64 };

typedef struct space {
    double *dy, *r, *v, *hv, *zeta; /* pairs x m */
    double *direction, *image;      /* D x D */
    double *work;                   /* 2 D^2 */
    double *matrix, *f;             /* when the matrix is formed: it, and F */
    double *batch, *root;           /* and what its rows are made of */
} space;

static void space_clear(space *w)
{
    double *const all[] = {w->dy,    w->r,    w->v,      w->hv, w->zeta,  w->direction,
                           w->image, w->work, w->matrix, w->f,  w->batch, w->root};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
}

static double matrix_flops(const sk_psd_map *map)
{
    double rows = (double)(map->m * map->pairs), p = (double)map->p, D = p * (double)map->d;
    return rows * 2 * D * p * (D + p) + rows * rows * (D * D / 2 + rows / 3);
}

static double cg_step_flops(const sk_psd_map *map, const sk_psd_point *at)
{
    double D = (double)(map->p * map->d), side = (double)SK_MIN(at->positive, map->p * map->d - at->positive);
    return 4 * (double)(map->m * map->h * map->pairs) + 8 * D * D * side + 20 * D * D;
}

/* The matrix is worth its price against the steps that conjugate gradients needed last; its products are large, theirs
 * small, so a flop of it costs half as much. Rows without a spectrum have no preconditioner either. */
static bool use_matrix(const sk_psd_inner *inner, const sk_psd_point *at, size_t steps)
{
    const sk_psd_map *map = &inner->map;
    return map->c && map->m * map->pairs <= DENSE_ROWS &&
           (!inner->s2 || matrix_flops(map) < 2 * (double)steps * cg_step_flops(map, at));
}

static sock_status space_new(sock_context *ctx, const sk_psd_map *map, space *w)
{
    size_t length = map->pairs * map->m, D = map->p * map->d;
    *w = (space){.dy = sk_doubles(ctx, length, 1),
                 .r = sk_doubles(ctx, length, 1),
                 .v = sk_doubles(ctx, length, 1),
                 .hv = sk_doubles(ctx, length, 1),
                 .zeta = sk_doubles(ctx, length, 1),
                 .direction = sk_doubles(ctx, D, D),
                 .image = sk_doubles(ctx, D, D),
                 .work = sk_doubles(ctx, 2 * D, D)};
    bool all = w->dy && w->r && w->v && w->hv && w->zeta && w->direction && w->image && w->work;
    return all ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Step 3 with the matrix ---- */

/* Rows of F are made AT_ONCE rows of C at a time: products of many small matrices as few large ones. */
typedef struct batch {
    double *stack; /* rows p x p: mat(c_i), one below the other */
    double *side;  /* rows p x D: mat(c_i) E_l' */
    double *wide;  /* p x rows D: the same, side by side */
    double *image; /* D x rows D: E_k mat(c_i) E_l', side by side */
} batch;

static batch batch_of(const sk_psd_map *map, double *memory)
{
    size_t p = map->p, D = p * map->d, rows = SK_MIN(map->m, AT_ONCE);
    batch b = {.stack = memory};
    b.side = b.stack + rows * p * p;
    b.wide = b.side + rows * p * D;
    b.image = b.wide + rows * p * D;
    return b;
}

static sock_status dense_space(sock_context *ctx, const sk_psd_map *map, space *w)
{
    size_t p = map->p, D = p * map->d, length = map->pairs * map->m, rows = SK_MIN(map->m, AT_ONCE);
    if (w->matrix) return SOCK_OK;
    w->f = sk_doubles_unset(ctx, length, D * (D + 1) / 2);
    w->batch = sk_doubles_unset(ctx, rows, p * p + 2 * p * D + D * D);
    w->root = sk_doubles_unset(ctx, D, D);
    w->matrix = sk_doubles_unset(ctx, length, length);
    return w->matrix && w->f && w->batch && w->root ? SOCK_OK : SOCK_ENOMEM;
}

/* Roots of the weights that the derivative gives the entries (b, a <= b), b from the first positive eigenvalue on. */
static size_t root_weights(const sk_psd_point *at, size_t D, double *root)
{
    size_t split = D - at->positive, count = 0;
    for (size_t b = split; b < D; b++)
        for (size_t a = 0; a <= b; a++) {
            double va = at->values[a], vb = at->values[b];
            root[count++] = sqrt(a >= split ? (a == b ? 1 : 2) : 2 * vb / (vb - fmin(va, 0)));
        }
    return count;
}

/* The weighted entries of E R*(unit vector of row i, pair (k, l)) E' = E_k mat(c_i) E_l', symmetrised, into row. */
static void weighted_entries(const double *image, size_t ld, bool symmetric, size_t D, size_t split, const double *root,
                             double *row)
{
    for (size_t b = split; b < D; b++, row += b, root += b)
        for (size_t a = 0; a <= b; a++)
            row[a] = root[a] * (symmetric ? image[b * ld + a] : SK_ROOT_HALF * (image[b * ld + a] + image[a * ld + b]));
}

/* Rows first .. first+rows-1 of C, all pairs, into F. E_k: columns of block k of E. */
static void dense_rows(sock_context *ctx, const sk_psd_map *map, const sk_psd_point *at, size_t first, size_t rows,
                       space *w)
{
    size_t p = map->p, D = p * map->d, wide = D * (D + 1) / 2, split = D - at->positive, ld = rows * D;
    batch b = batch_of(map, w->batch);
    for (size_t i = 0; i < rows; i++)
        sk_psd_unpack(p, 1, map->h, map->first, map->second, map->c + (first + i) * map->h, b.stack + i * p * p);
    for (size_t l = 0, pair = 0; l < map->d; l++) {
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, rows * p, D, p, 1, b.stack, p, at->e + l * p, D, 0, b.side, D);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < p; j++)
                memcpy(b.wide + j * ld + i * D, b.side + (i * p + j) * D, D * sizeof(double));
        for (size_t k = 0; k <= l; k++, pair++) {
            size_t from = k == l ? split : 0; /* a symmetric one needs no rows above */
            sk_gemm(ctx, SK_PLAIN, SK_PLAIN, D - from, ld, p, 1, at->e + from * D + k * p, D, b.wide, ld, 0,
                    b.image + from * ld, ld);
            for (size_t i = 0; i < rows; i++)
                weighted_entries(b.image + i * D, ld, k == l, D, split, w->root,
                                 w->f + (pair * map->m + first + i) * wide);
        }
    }
}

static sock_status dense_direction(sock_context *ctx, const sk_psd_inner *inner, const sk_psd_point *at, space *w)
{
    const sk_psd_map *map = &inner->map;
    size_t D = map->p * map->d, length = map->pairs * map->m, wide = D * (D + 1) / 2;
    SK_TRY(dense_space(ctx, map, w));
    size_t count = root_weights(at, D, w->root);
    for (size_t i = 0; i < map->m; i += AT_ONCE) dense_rows(ctx, map, at, i, SK_MIN(AT_ONCE, map->m - i), w);
    sk_syrk(ctx, SK_PLAIN, length, count, 1 / (2 * inner->lambda), w->f, wide, 0, w->matrix, length);
    for (size_t i = 0; i < length; i++) {
        w->matrix[i * length + i] += (double)inner->n / 2;
        w->dy[i] = -at->g[i];
    }
    SK_TRY(sk_cholesky(ctx, length, w->matrix, length));
    sk_cholesky_solve(ctx, length, 1, w->matrix, length, w->dy, 1);
    return SOCK_OK;
}

/* ---- Step 3 with conjugate gradients ---- */

static sock_status hessian(sock_context *ctx, const sk_psd_inner *inner, const sk_psd_point *at, const double *v,
                           space *w)
{
    const sk_psd_map *map = &inner->map;
    size_t length = map->pairs * map->m;
    SK_TRY(sk_psd_map_adjoint(ctx, map, v, w->direction));
    sk_psd_projection_derivative(ctx, at, map->p * map->d, w->direction, w->image, w->work);
    SK_TRY(sk_psd_map_apply(ctx, map, w->image, w->hv));
    for (size_t i = 0; i < length; i++) w->hv[i] = (double)inner->n / 2 * v[i] + w->hv[i] / (2 * inner->lambda);
    return SOCK_OK;
}

static void precondition(const sk_psd_inner *inner, const double *r, double *zeta)
{
    const sk_psd_map *map = &inner->map;
    double half = (double)inner->n / 2;
    for (size_t pair = 0; pair < map->pairs; pair++)
        for (size_t i = 0; i < map->m; i++) {
            size_t e = pair * map->m + i;
            zeta[e] = inner->s2 ? r[e] / (half + inner->s2[i] / (2 * inner->lambda)) : r[e] / half;
        }
}

static sock_status cg_direction(sock_context *ctx, const sk_psd_inner *inner, const sk_psd_point *at, double forcing,
                                space *w)
{
    size_t length = inner->map.pairs * inner->map.m;
    for (size_t i = 0; i < length; i++) {
        w->dy[i] = 0;
        w->r[i] = -at->g[i];
    }
    precondition(inner, w->r, w->zeta);
    memcpy(w->v, w->zeta, length * sizeof *w->v);
    double rz = sk_dot(length, w->r, w->zeta), target = forcing * forcing * rz;
    for (size_t step = 0; step < CG_MOST && rz > target && rz > 0; step++) {
        if (inner->deadline > 0 && sk_seconds() > inner->deadline) break;
        SK_TRY(hessian(ctx, inner, at, w->v, w));
        inner->effort->cg_steps++;
        double curvature = sk_dot(length, w->v, w->hv);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature;
        sk_axpy(length, alpha, w->v, w->dy);
        sk_axpy(length, -alpha, w->hv, w->r);
        precondition(inner, w->r, w->zeta);
        double next = sk_dot(length, w->r, w->zeta), beta = next / rz;
        for (size_t i = 0; i < length; i++) w->v[i] = w->zeta[i] + beta * w->v[i];
        rz = next;
    }
    return sk_progress(ctx, "diffusion problem", -1);
}

/* ---- Step 4 ---- */

/* point (evaluated) moves along dy into trial; swapped so that point is the new one. *moved: a step was accepted. */
static sock_status line_search(sock_context *ctx, sk_psd_inner *inner, const space *w, sk_psd_point *point,
                               sk_psd_point *trial, bool *moved)
{
    size_t length = inner->map.pairs * inner->map.m;
    double slope = sk_dot(length, w->dy, point->g), tau = 1;
    double rounding = 1e-14 * (fabs(point->objective) + point->primal);
    *moved = false;
    if (!(slope < 0)) return SOCK_OK;
    for (int halving = 0; halving < HALVINGS; halving++, tau /= 2) {
        for (size_t i = 0; i < length; i++) trial->y[i] = point->y[i] + tau * w->dy[i];
        SK_TRY(sk_psd_evaluate(ctx, inner, trial));
        bool armijo = trial->objective <= point->objective + 1e-4 * tau * slope;
        bool flat = trial->objective <= point->objective + rounding && trial->gap < point->gap;
        if (armijo || flat) {
            sk_psd_point swap = *point;
            *point = *trial;
            *trial = swap;
            *moved = true;
            return SOCK_OK;
        }
        if (-tau * slope < rounding && halving > 3) break; /* nothing to be gained that could be seen */
    }
    return SOCK_OK;
}

sock_status sk_psd_newton(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point)
{
    space w = {0};
    sk_psd_point trial = {0};
    sock_status status = SOCK_OK;
    bool moved = true, definite = true;
    size_t steps = CG_GUESS;
    SK_GO(space_new(ctx, &inner->map, &w));
    SK_GO(sk_psd_point_new(ctx, &inner->map, &trial));
    SK_GO(sk_psd_evaluate(ctx, inner, point));
    double first = sqrt(point->gap);
    while (!sk_psd_done(inner, point) && moved) {
        if (sk_psd_exhausted(inner)) break;
        double start = sk_seconds();
        bool dense = definite && use_matrix(inner, point, steps);
        if (dense) {
            status = dense_direction(ctx, inner, point, &w);
            if (status == SOCK_ENUMERIC)
                definite = dense = false; /* not definite to rounding */
            else if (status < 0)
                goto out;
        }
        if (!dense) {
            size_t before = inner->effort->cg_steps;
            SK_GO(cg_direction(ctx, inner, point, fmin(0.05, fmax(sqrt(sqrt(point->gap) / first), 1e-3)), &w));
            steps = SK_MAX(inner->effort->cg_steps - before, 1);
        }
        inner->effort->linear += sk_seconds() - start;
        SK_GO(line_search(ctx, inner, &w, point, &trial, &moved));
    }
    status = sk_psd_done(inner, point) ? SOCK_OK : SOCK_NOT_CONVERGED;
out:
    space_clear(&w);
    sk_psd_point_clear(&trial);
    return status;
}
