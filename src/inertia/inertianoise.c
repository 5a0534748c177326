/* inertianoise.c - the noise of observed positions, by least squares from products: of second differences at the start,
 * of innovations later. A square alone cannot tell a from R; products of neighbours can. See inertiafit.h.
 *
 *     second differences of equal steps:  E d2^2 = 2/3 a h^3 + 6 R,  E d2 d2' = a h^3/6 - 4 R,  E d2 d2'' = R
 *     innovations:                        E e_i e_{i-l} = (row of lag l) (s a, R), 0 at the current model but for l = 0
 */
#include "inertia/inertiafit.h"
#include "inertia/inertiarules.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* ---- Two unknowns ---- */

/* Normal equations of z = x s + y r, weighted, and of their sandwich. */
typedef struct two {
    double xx, xy, yy, xz, yz;
} two;

static void two_add(two *t, double weight, double x, double y, double z)
{
    t->xx += weight * x * x;
    t->xy += weight * x * y;
    t->yy += weight * y * y;
    t->xz += weight * x * z;
    t->yz += weight * y * z;
}

/* s > 0 and r >= 0; with y left out where r would be negative. */
static void two_solve(const two *t, double *s, double *r)
{
    const double det = t->xx * t->yy - t->xy * t->xy;
    *r = det > 1e-12 * t->xx * t->yy ? (t->xx * t->yz - t->xy * t->xz) / det : 0;
    if (!(*r > 0)) *r = 0;
    *s = t->xx > 0 ? (t->xz - *r * t->xy) / t->xx : 0;
}

/* ---- Start ---- */

/* The change of the mean velocity at the end of step i, and by how much a and R of the three points move it. */
typedef struct change {
    double value, from, at, to; /* coefficients of the noise of the points before, at and after */
    double h;                   /* of the first step */
} change;

static change change_at(const sk_series *s, size_t i, size_t k)
{
    const double h1 = s->h[i], h2 = s->h[i + 1];
    const double v1 = (s->next[i * s->d + k] - s->y[i * s->d + k]) / h1;
    const double v2 = (s->next[(i + 1) * s->d + k] - s->y[(i + 1) * s->d + k]) / h2;
    return (change){v2 - v1, 1 / h1, -1 / h1 - 1 / h2, 1 / h2, h1};
}

/* Products of lag 0, 1 and 2 of the changes from step i on, within a run that ends before step `end`. */
static void add_products(const sk_series *s, size_t i, size_t end, size_t k, bool noisy, two *t)
{
    const change one = change_at(s, i, k);
    const double h = s->h[i], h2 = s->h[i + 1], weight = h * h;
    two_add(t, weight, (h + h2) / 3, one.from * one.from + one.at * one.at + one.to * one.to, one.value * one.value);
    if (!noisy || i + 2 >= end) return;
    const change next = change_at(s, i + 1, k);
    two_add(t, weight, h2 / 6, one.at * next.from + one.to * next.at, one.value * next.value);
    if (i + 3 >= end) return;
    const change third = change_at(s, i + 2, k);
    two_add(t, weight, 0, one.to * third.from, one.value * third.value);
}

sock_status sk_inertial_start(const sk_inertial *w, bool noisy, double *a, double *r)
{
    const sk_series *s = &w->m.series;
    for (size_t k = 0; k < s->d; k++) {
        two t = {0};
        for (size_t run = 0; run < s->runs; run++)
            for (size_t i = s->first[run]; i + 1 < s->first[run + 1]; i++)
                add_products(s, i, s->first[run + 1], k, noisy, &t);
        if (!noisy) t.xy = t.yy = t.yz = 0;
        two_solve(&t, &a[k], &r[k]);
        const double all = t.xx > 0 ? t.xz / t.xx : 0; /* without noise */
        a[k] = sk_inertia_least_a(a[k], all);
        if (!(a[k] > 0) || !isfinite(a[k]))
            return sk_fail(w->ctx, SOCK_ENUMERIC, "the positions have no second differences to learn from");
    }
    return SOCK_OK;
}

/* ---- Products of innovations ---- */

/* Coordinate k of the rows: of a_kk and of the noise, 3 lags of n each, and the innovations at the rows' variance. */
typedef struct coordinate {
    const sk_inertial_rows *rows;
    size_t k;
    double now;   /* R_kk of the pass */
    double *of_a; /* 3 x n */
    const double *of_r;
    double *e;
} coordinate;

/* Where the rows are kinematic the model itself leaves products of neighbours beside 0: they are added to what is seen.
 */
static bool pair(const coordinate *c, size_t i, size_t lag, double *weight, double *z)
{
    const sk_inertial_rows *r = c->rows;
    const size_t n = r->n, d = r->d;
    if (c->of_r[lag * n + i] == 0 || !r->good[i] || !r->good[i - lag]) return false;
    const double typical = r->typical[c->k + 1];
    const double one = r->spread[i * d * d + c->k * (d + 1)], other = r->spread[(i - lag) * d * d + c->k * (d + 1)];
    const double by_rows = c->of_a[lag * n + i] + c->now * c->of_r[lag * n + i];
    *weight = (lag ? 1 : 0.5) * sk_inertia_pair_weight(one / typical, other / typical);
    *z = c->e[i] * c->e[i - lag] + (lag ? by_rows : 0);
    return true;
}

/* R_kk and its standard error: rows are heavy-tailed products, so the error is that of the sandwich. */
static void solve_coordinate(const coordinate *c, double *r, double *error, double *pull)
{
    const size_t n = c->rows->n;
    two t = {0};
    double weight, z, s, meat = 0;
    for (size_t lag = 0; lag < SK_LIFT_LAGS; lag++)
        for (size_t i = lag; i < n; i++)
            if (pair(c, i, lag, &weight, &z)) two_add(&t, weight, c->of_a[lag * n + i], c->of_r[lag * n + i], z);
    two_solve(&t, &s, r);
    const double det = t.xx * t.yy - t.xy * t.xy;
    for (size_t i = 0; i < n; i++) {
        double push = 0; /* of the products of one innovation with those before it */
        for (size_t lag = 0; lag < SK_LIFT_LAGS && lag <= i; lag++)
            if (pair(c, i, lag, &weight, &z)) {
                const double x = c->of_a[lag * n + i], y = c->of_r[lag * n + i];
                push += weight * (t.xx * y - t.xy * x) / det * (z - s * x - *r * y);
            }
        meat += push * push;
        if (pull && pair(c, i, 0, &weight, &z) && det > 0)
            pull[i * c->rows->d + c->k] = weight * (t.xx * c->of_r[i] - t.xy * c->of_a[i]) / det;
    }
    *error = det > 0 ? sqrt(meat) : (double)INFINITY;
}

static sock_status find_rows(const sk_inertial *w, const sk_inertial_rows *rows, coordinate *c, double *at)
{
    const size_t d = rows->d;
    for (size_t i = 0; i < rows->n * SK_LIFT_NODES; i++) at[i] = rows->pass->a[i * d * d + c->k * (d + 1)];
    for (size_t i = 0; i < rows->n; i++) c->e[i] = sk_dot(d, rows->tint + (i * d + c->k) * d, rows->pass->e + i * d);
    return sk_lift_spreads(w->ctx, &rows->lift, 1, at, SK_LIFT_LAGS, c->of_a);
}

sock_status sk_inertial_noise(const sk_inertial *w, const sk_inertial_rows *rows, const double *noise, double *r,
                              double *error, double *pull)
{
    const size_t n = rows->n, d = rows->d;
    double *at = sk_doubles_unset(w->ctx, n, SK_LIFT_NODES), *of_a = sk_doubles_unset(w->ctx, n, SK_LIFT_LAGS);
    double *of_r = sk_doubles_unset(w->ctx, n, SK_LIFT_LAGS), *e = sk_doubles_unset(w->ctx, n, 1);
    sock_status status = at && of_a && of_r && e ? sk_lift_noise(w->ctx, &rows->lift, SK_LIFT_LAGS, of_r) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        coordinate c = {rows, k, noise ? noise[k * (d + 1)] : 0, of_a, of_r, e};
        status = find_rows(w, rows, &c, at);
        if (status >= 0) solve_coordinate(&c, &r[k], &error[k], pull);
    }
    sk_free(at);
    sk_free(of_a);
    sk_free(of_r);
    sk_free(e);
    return status;
}
