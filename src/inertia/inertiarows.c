/* inertiarows.c - the rows of a filter pass over positions and velocities. See inertiafit.h. */
#include "inertia/inertiafit.h"
#include "inertia/inertiarules.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- What a pass says ---- */

void sk_inertial_rows_clear(sk_inertial_rows *r)
{
    sk_free(r->target);
    sk_free(r->white);
    sk_free(r->good);
    sk_free(r->noise);
    sk_free(r->length);
    sk_free(r->spread);
    sk_free(r->tint);
    sk_free(r->typical);
    *r = (sk_inertial_rows){0};
}

static sock_status rows_alloc(const sk_inertial *w, const sk_inertia_pass *pass, sk_inertial_rows *r)
{
    const size_t n = w->rows.n, d = w->rows.d;
    *r = (sk_inertial_rows){.pass = pass, .n = n, .d = d, .lift = sk_inertia_lift(&w->m.series, pass)};
    r->target = sk_doubles(w->ctx, n, d);
    r->white = sk_doubles(w->ctx, n, d * d);
    r->good = sk_alloc(w->ctx, n, sizeof *r->good);
    r->noise = sk_doubles(w->ctx, n, 1);
    r->length = sk_doubles(w->ctx, n, 1);
    r->spread = sk_doubles(w->ctx, n, d * d);
    r->tint = sk_doubles(w->ctx, n, d * d);
    r->typical = sk_doubles(w->ctx, 1 + d, 1);
    const bool good = r->target && r->white && r->good && r->noise && r->length && r->spread && r->tint && r->typical;
    return good ? SOCK_OK : SOCK_ENOMEM;
}

/* The row of a = 1. */
static sock_status find_lengths(const sk_inertial *w, sk_inertial_rows *r)
{
    double *one = sk_doubles_unset(w->ctx, r->n, SK_LIFT_NODES);
    if (!one) return SOCK_ENOMEM;
    for (size_t i = 0; i < r->n * SK_LIFT_NODES; i++) one[i] = 1;
    const sock_status status = sk_lift_spreads(w->ctx, &r->lift, 1, one, 1, r->length);
    sk_free(one);
    return status;
}

/* Medians over the steps that have a row; value (n) is spoilt. */
static double median_of(const sk_inertial_rows *r, double *value)
{
    size_t count = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!r->pass->begins[i]) value[count++] = value[i];
    return count ? sk_median(count, value) : 1;
}

static sock_status find_typical(const sk_inertial *w, sk_inertial_rows *r)
{
    const size_t d = r->d;
    double *value = sk_doubles_unset(w->ctx, r->n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k <= d; k++) {
        for (size_t i = 0; i < r->n; i++) {
            const double *s = r->pass->s + i * d * d;
            value[i] = k ? s[(k - 1) * (d + 1)] : sk_norm(d * d, s);
        }
        r->typical[k] = median_of(r, value);
    }
    sk_free(value);
    return SOCK_OK;
}

/* The inverse of the factor of S and a share of the typical one; c: d x d to work with. */
static void whiten(sk_inertial_rows *r, size_t i, double *c)
{
    const size_t d = r->d;
    double *white = r->white + i * d * d, square = 0;
    memset(white, 0, d * d * sizeof *white);
    if (r->pass->begins[i]) return;
    memcpy(c, r->pass->s + i * d * d, d * d * sizeof *c);
    for (size_t k = 0; k < d; k++) c[k * (d + 1)] += sk_inertia_shift(r->typical[k + 1]);
    if (sk_factor_small(d, 0, c)) return;
    for (size_t l = 0; l < d; l++)
        for (size_t k = l; k < d; k++) {
            double sum = k == l;
            for (size_t m = l; m < k; m++) sum -= c[k * d + m] * white[m * d + l];
            white[k * d + l] = sum / c[k * d + k];
        }
    for (size_t k = 0; k < d; k++) square += pow(sk_dot(d, white + k * d, r->pass->e + i * d), 2);
    r->good[i] = sk_inertia_row_counts(square, d);
    if (!r->good[i]) memset(white, 0, d * d * sizeof *white);
}

/* tint = C0 C^-1, C0 and C the factors of the rows' and of the filter's variance. space: 2 d x d. */
static void recolour(sk_inertial_rows *r, size_t i, double *space)
{
    const size_t d = r->d;
    double *tint = r->tint + i * d * d, *own = space, *c = space + d * d;
    for (size_t k = 0; k < d; k++) tint[k * (d + 1)] = 1;
    if (r->pass->begins[i] || sk_factor_copy(d, 0, r->spread + i * d * d, own) ||
        sk_factor_copy(d, 0, r->pass->s + i * d * d, c))
        return;
    for (size_t k = 0; k < d; k++) /* row k of tint times C is row k of C0 */
        for (size_t l = d; l-- > 0;) {
            double sum = own[k * d + l];
            for (size_t m = l + 1; m < d; m++) sum -= tint[k * d + m] * c[m * d + l];
            tint[k * d + l] = sum / c[l * d + l];
        }
}

static sock_status finish(const sk_inertial *w, const double *noise, sk_inertial_rows *r)
{
    const size_t d = r->d;
    double *space = sk_doubles(w->ctx, 2, d * d);
    if (!space) return SOCK_ENOMEM;
    for (size_t i = 0; i < r->n; i++) {
        sk_axpy(d, 1, r->pass->e + i * d, r->target + i * d);
        if (noise) sk_axpy(d * d, r->noise[i], noise, r->spread + i * d * d);
        whiten(r, i, space);
        recolour(r, i, space);
    }
    sk_free(space);
    return SOCK_OK;
}

sock_status sk_inertial_rows_new(const sk_inertial *w, const sk_inertia_pass *pass, const double *noise,
                                 sk_inertial_rows *out)
{
    sock_status status = rows_alloc(w, pass, out);
    if (status >= 0) status = sk_lift_means(w->ctx, &out->lift, out->d, pass->f, out->target);
    if (status >= 0) status = sk_lift_spreads(w->ctx, &out->lift, out->d * out->d, pass->a, 1, out->spread);
    if (status >= 0) status = sk_lift_noise(w->ctx, &out->lift, 1, out->noise);
    if (status >= 0) status = find_lengths(w, out);
    if (status >= 0) status = find_typical(w, out);
    if (status >= 0) status = finish(w, noise, out);
    if (status < 0) sk_inertial_rows_clear(out);
    return status;
}

/* ---- Pieces ---- */

sock_status sk_inertial_each(const sk_inertial *w, sk_inertial_work work, void *arg)
{
    const size_t *first = w->m.series.first;
    for (size_t f = 0; f <= w->rows.folds; f++)
        for (size_t r = w->m.run_first[f], end; r < w->m.run_first[f + 1]; r = end) {
            for (end = r + 1; end < w->m.run_first[f + 1] && first[end] - first[r] < SK_INERTIA_PIECE;) end++;
            SK_TRY(work(arg, first[r], first[end], f));
        }
    return SOCK_OK;
}

/* Features at the points of all nodes of some steps: (end - begin) x 3 x 2d x p. */
static sock_status features_at(const sk_inertial *w, const sk_inertial_rows *r, const sk_features *map, size_t begin,
                               size_t end, double **out)
{
    const size_t d = r->d, points = SK_LIFT_NODES * 2 * d, p = sk_features_count(map);
    *out = sk_doubles_unset(w->ctx, (end - begin) * points, p);
    if (!*out) return SOCK_ENOMEM;
    return sk_features_eval(w->ctx, map, (end - begin) * points, r->pass->node + begin * points * 2 * d, *out, p);
}

sock_status sk_inertial_means(const sk_inertial *w, const sk_inertial_rows *r, const sk_features *map, size_t begin,
                              size_t end, double *psi)
{
    const size_t points = 2 * r->d, p = sk_features_count(map), nodes = (end - begin) * SK_LIFT_NODES;
    const sk_lift lift = sk_lift_part(&r->lift, begin, end);
    double *phi = NULL, *at = sk_doubles(w->ctx, nodes, p);
    sock_status status = at ? features_at(w, r, map, begin, end, &phi) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < nodes * points; i++)
        sk_axpy(p, 1 / (double)points, phi + i * p, at + i / points * p);
    if (status >= 0) status = sk_lift_means(w->ctx, &lift, p, at, psi);
    sk_free(phi);
    sk_free(at);
    return status;
}

static void add_svec(size_t p, double weight, const double *phi, double *row)
{
    const double root2 = 1.41421356237309504880;
    for (size_t b = 0, j = 0; b < p; b++) {
        for (size_t a = 0; a < b; a++, j++) row[j] += weight * root2 * phi[b] * phi[a];
        row[j++] += weight * phi[b] * phi[b];
    }
}

sock_status sk_inertial_products(const sk_inertial *w, const sk_inertial_rows *r, const sk_features *map, size_t begin,
                                 size_t end, double *b, double *square)
{
    const size_t points = 2 * r->d, p = sk_features_count(map), q = p * (p + 1) / 2;
    const size_t nodes = (end - begin) * SK_LIFT_NODES;
    const sk_lift lift = sk_lift_part(&r->lift, begin, end);
    double *phi = NULL, *at = sk_doubles(w->ctx, nodes, q);
    sock_status status = at ? features_at(w, r, map, begin, end, &phi) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < nodes * points; i++) {
        add_svec(p, 1 / (double)points, phi + i * p, at + i / points * q);
        for (size_t m = 0; square && m < p; m++) square[m] += phi[i * p + m] * phi[i * p + m];
    }
    if (status >= 0) status = sk_lift_spreads(w->ctx, &lift, q, at, 1, b);
    sk_free(phi);
    sk_free(at);
    return status;
}

/* ---- Residuals ---- */

typedef struct leaving {
    const sk_inertial *w;
    const sk_inertial_rows *rows;
    const sk_trial *trial;
    const double *weight;
    double *out;
} leaving;

static sock_status leave(void *arg, size_t begin, size_t end, size_t fold)
{
    const leaving *l = arg;
    const size_t d = l->rows->d, p = l->trial->p, n = end - begin;
    double *psi = sk_doubles_unset(l->w->ctx, n, p);
    (void)fold;
    sock_status status = psi ? sk_inertial_means(l->w, l->rows, l->trial->map, begin, end, psi) : SOCK_ENOMEM;
    memcpy(l->out + begin * d, l->rows->target + begin * d, n * d * sizeof *l->out);
    if (status >= 0)
        sk_gemm(l->w->ctx, SK_PLAIN, SK_PLAIN, n, d, p, -1, psi, p, l->weight, d, 1, l->out + begin * d, d);
    sk_free(psi);
    return status;
}

sock_status sk_inertial_residuals(const sk_inertial *w, const sk_inertial_rows *r, const sk_trial *trial, size_t f,
                                  double *out)
{
    leaving l = {w, r, trial, trial->solution + f * trial->size, out};
    return sk_inertial_each(w, leave, &l);
}
