/* lbfgs.c - limited-memory quasi-Newton on the dual.
 *
 *   1. H0 = 1 / (n/2 + s^2/(2 lambda)) in the compressed rows (the exact inverse Hessian where S > 0), else 1 / L.
 *   2. Direction by the two-loop recursion over the last MEMORY steps (Nocedal 1980).
 *   3. Armijo on J, first step 1, halving. J is strongly convex, so every step has positive curvature.
 *
 * Per iteration: one eigendecomposition, R and R* once, 4 MEMORY vectors. As fast as Newton when pd is small, and needs
 * nothing but gradients: the way out when Newton's method stalls. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 20, HALVINGS = 40 };

typedef struct history {
    double *s[MEMORY], *v[MEMORY]; /* steps and differences of gradients */
    double rho[MEMORY], alpha[MEMORY];
    size_t used, next;
} history;

static void initial_inverse(const sk_psd_inner *inner, double *r)
{
    const sk_psd_map *map = &inner->map;
    double half = (double)inner->n / 2;
    for (size_t pair = 0; pair < map->pairs; pair++)
        for (size_t i = 0; i < map->m; i++)
            r[pair * map->m + i] /= half + (inner->s2 ? inner->s2[i] : inner->norm2) / (2 * inner->lambda);
}

/* r := H r. */
static void two_loops(const sk_psd_inner *inner, history *past, double *r)
{
    size_t length = inner->map.pairs * inner->map.m;
    for (size_t j = 0; j < past->used; j++) {
        size_t i = (past->next + MEMORY - 1 - j) % MEMORY;
        past->alpha[i] = past->rho[i] * sk_dot(length, past->s[i], r);
        sk_axpy(length, -past->alpha[i], past->v[i], r);
    }
    initial_inverse(inner, r);
    for (size_t j = past->used; j-- > 0;) {
        size_t i = (past->next + MEMORY - 1 - j) % MEMORY;
        double beta = past->rho[i] * sk_dot(length, past->v[i], r);
        sk_axpy(length, past->alpha[i] - beta, past->s[i], r);
    }
}

static void remember(const sk_psd_inner *inner, const sk_psd_point *from, const sk_psd_point *to, history *past)
{
    size_t length = inner->map.pairs * inner->map.m, i = past->next;
    for (size_t j = 0; j < length; j++) {
        past->s[i][j] = to->y[j] - from->y[j];
        past->v[i][j] = to->g[j] - from->g[j];
    }
    double curvature = sk_dot(length, past->s[i], past->v[i]);
    if (!(curvature > 0)) return;
    past->rho[i] = 1 / curvature;
    past->next = (i + 1) % MEMORY;
    past->used = SK_MIN(past->used + 1, (size_t)MEMORY);
}

static sock_status history_new(sock_context *ctx, size_t length, history *past)
{
    for (size_t i = 0; i < MEMORY; i++) {
        past->s[i] = sk_doubles(ctx, length, 1);
        past->v[i] = sk_doubles(ctx, length, 1);
        if (!past->s[i] || !past->v[i]) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

/* trial = point + tau direction with enough descent; *moved tells. */
static sock_status search(sock_context *ctx, sk_psd_inner *inner, const double *direction, const sk_psd_point *point,
                          sk_psd_point *trial, bool *moved)
{
    size_t length = inner->map.pairs * inner->map.m;
    double slope = sk_dot(length, direction, point->g), tau = 1;
    double rounding = 1e-14 * (fabs(point->objective) + point->primal);
    *moved = false;
    for (int halving = 0; slope < 0 && halving < HALVINGS; halving++, tau /= 2) {
        for (size_t i = 0; i < length; i++) trial->y[i] = point->y[i] + tau * direction[i];
        SK_TRY(sk_psd_evaluate(ctx, inner, trial));
        if (trial->objective <= point->objective + 1e-4 * tau * slope ||
            (trial->objective <= point->objective + rounding && trial->gap < point->gap)) {
            *moved = true;
            return SOCK_OK;
        }
    }
    return SOCK_OK;
}

sock_status sk_psd_lbfgs(sock_context *ctx, sk_psd_inner *inner, sk_psd_point *point)
{
    size_t length = inner->map.pairs * inner->map.m;
    history past = {0};
    sk_psd_point trial = {0};
    bool moved = true;
    sock_status status = SOCK_OK;
    double *direction = sk_doubles(ctx, length, 1);
    if (!direction) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(history_new(ctx, length, &past));
    SK_GO(sk_psd_point_new(ctx, &inner->map, &trial));
    SK_GO(sk_psd_evaluate(ctx, inner, point));
    while (!sk_psd_done(inner, point) && !sk_psd_exhausted(inner)) {
        for (size_t i = 0; i < length; i++) direction[i] = -point->g[i];
        two_loops(inner, &past, direction);
        SK_GO(search(ctx, inner, direction, point, &trial, &moved));
        if (!moved && !past.used) break;
        if (!moved) {
            past.used = 0; /* forget and try the plain scaled gradient */
            continue;
        }
        remember(inner, point, &trial, &past);
        sk_psd_point swap = *point;
        *point = trial;
        trial = swap;
        SK_GO(sk_progress(ctx, "diffusion problem", -1));
    }
    status = sk_psd_done(inner, point) ? SOCK_OK : SOCK_NOT_CONVERGED;
out:
    for (size_t i = 0; i < MEMORY; i++) {
        sk_free(past.s[i]);
        sk_free(past.v[i]);
    }
    sk_free(direction);
    sk_psd_point_clear(&trial);
    return status;
}
