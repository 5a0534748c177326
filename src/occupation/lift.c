/* lift.c - see lift.h. Cost of a step: a few products for each column. */
#include "occupation/lift.h"

#include <string.h>

static const double share[SK_LIFT_NODES] = {1.0 / 6, 4.0 / 6, 1.0 / 6};

sk_lift sk_lift_part(const sk_lift *l, size_t begin, size_t end)
{
    return (sk_lift){end - begin,          l->begins + begin,     l->h + begin,
                     l->carry + 4 * begin, l->onward + 6 * begin, l->gain + 2 * begin};
}

/* ---- Means ---- */

sock_status sk_lift_means(sock_context *ctx, const sk_lift *l, size_t width, const double *at, double *row)
{
    double *x = sk_doubles(ctx, 2, width), *v = x ? x + width : NULL;
    if (!x) return SOCK_ENOMEM;
    for (size_t i = 0; i < l->n; i++, row += width, at += SK_LIFT_NODES * width) {
        const double *e = l->carry + 4 * i, *c = l->onward + 6 * i, *k = l->gain + 2 * i, h = l->h[i];
        for (size_t j = 0; j < width; j++) {
            if (l->begins[i]) {
                x[j] = row[j] = 0;
                v[j] = h / 2 * at[j];
                continue;
            }
            double x_new = e[0] * x[j] + e[1] * v[j], v_new = e[2] * x[j] + e[3] * v[j];
            for (size_t t = 0; t < SK_LIFT_NODES; t++) {
                x_new += h * share[t] * c[2 * t] * at[t * width + j];
                v_new += h * share[t] * c[2 * t + 1] * at[t * width + j];
            }
            row[j] = x_new;
            x[j] = (1 - k[0]) * x_new;
            v[j] = v_new - k[1] * x_new;
        }
    }
    sk_free(x);
    return SOCK_OK;
}

/* ---- Spreads ---- */

/* One column on its way: T, and the covariances D of the state with the last two innovations. */
typedef struct column {
    double xx, xv, vv;
    double x[2], v[2]; /* D of lags 1 and 2 */
    size_t known;      /* of these */
} column;

static void carry_on(const double *e, column *t)
{
    const column old = *t;
    t->xx = e[0] * e[0] * old.xx + 2 * e[0] * e[1] * old.xv + e[1] * e[1] * old.vv;
    t->xv = e[0] * e[2] * old.xx + (e[0] * e[3] + e[1] * e[2]) * old.xv + e[1] * e[3] * old.vv;
    t->vv = e[2] * e[2] * old.xx + 2 * e[2] * e[3] * old.xv + e[3] * e[3] * old.vv;
}

/* Rows of the lags from 1 on; then D moves up. row0: that of lag 0; row: of lag 1, the next `apart` further on. */
static void lag(const double *e, const double *k, double row0, size_t lags, column *t, double *row, size_t apart)
{
    double x[2] = {0}, v[2] = {0};
    for (size_t l = 0; l < t->known; l++) {
        x[l] = e[0] * t->x[l] + e[1] * t->v[l];
        v[l] = e[2] * t->x[l] + e[3] * t->v[l];
        if (l + 1 < lags) row[l * apart] = x[l];
    }
    t->x[1] = (1 - k[0]) * x[0];
    t->v[1] = v[0] - k[1] * x[0];
    t->x[0] = t->xx - k[0] * row0;
    t->v[0] = t->xv - k[1] * row0;
    t->known = t->known < 2 ? t->known + 1 : 2;
}

/* T after the observation; noise: 1 for its column, else 0. */
static void observe(const double *k, double noise, column *t)
{
    const column old = *t;
    const double rest = 1 - k[0];
    t->xx = rest * rest * old.xx + noise * k[0] * k[0];
    t->xv = rest * (old.xv - k[1] * old.xx) + noise * k[0] * k[1];
    t->vv = old.vv - 2 * k[1] * old.xv + k[1] * k[1] * old.xx + noise * k[1] * k[1];
}

/* Column j of step i; at NULL: that of the noise. */
static void push(const sk_lift *l, size_t i, size_t width, const double *at, column *t)
{
    const double h = l->h[i], *c = l->onward + 6 * i;
    if (l->begins[i]) {
        const column of_a = {.vv = at ? h / 3 * at[0] : 0}, of_r = {.xx = 1, .xv = 1 / h, .vv = 2 / (h * h)};
        *t = at ? of_a : of_r;
        return;
    }
    carry_on(l->carry + 4 * i, t);
    for (size_t k = 0; at && k < SK_LIFT_NODES; k++) {
        const double weight = h * share[k] * at[k * width];
        t->xx += weight * c[2 * k] * c[2 * k];
        t->xv += weight * c[2 * k] * c[2 * k + 1];
        t->vv += weight * c[2 * k + 1] * c[2 * k + 1];
    }
}

static sock_status spread(sock_context *ctx, const sk_lift *l, size_t width, const double *at, size_t lags, double *row)
{
    column *all = sk_alloc(ctx, width, sizeof *all);
    const double noise = at ? 0 : 1;
    const size_t apart = l->n * width;
    if (!all) return SOCK_ENOMEM;
    memset(row, 0, lags * apart * sizeof *row);
    for (size_t i = 0; i < l->n; i++)
        for (size_t j = 0; j < width; j++) {
            double *here = row + i * width + j;
            column *t = &all[j];
            push(l, i, width, at ? at + i * SK_LIFT_NODES * width + j : NULL, t);
            if (l->begins[i]) continue;
            *here = t->xx + noise;
            if (lags > 1) lag(l->carry + 4 * i, l->gain + 2 * i, *here, lags, t, here + apart, apart);
            observe(l->gain + 2 * i, noise, t);
        }
    sk_free(all);
    return SOCK_OK;
}

sock_status sk_lift_spreads(sock_context *ctx, const sk_lift *l, size_t width, const double *at, size_t lags,
                            double *row)
{
    return spread(ctx, l, width, at, lags, row);
}

sock_status sk_lift_noise(sock_context *ctx, const sk_lift *l, size_t lags, double *row)
{
    return spread(ctx, l, 1, NULL, lags, row);
}
