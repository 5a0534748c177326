/* driftspread.c - see driftspread.h. Cost: n p^2 (times d or d^2) for the sums, as those of the fit; order^3 for the
 * covariance of each system. */
#include "drift/driftspread.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Rows that are weighted and multiplied at once. */
enum { AT_ONCE = 512 };

void sk_drift_spread_free(sk_drift_spread *s)
{
    if (!s) return;
    sk_free(s->list);
    sk_free(s->h);
    sk_free(s->g);
    sk_free(s->pull);
    sk_free(s);
}

/* Room for its sums; takes it over. */
static sock_status give_room(sock_context *ctx, sk_drift_spread *s, sk_drift_spread **out)
{
    s->h = sk_doubles(ctx, s->systems * s->order, s->order);
    s->g = sk_doubles(ctx, s->systems * s->order, s->order);
    if (!s->h || !s->g) {
        sk_drift_spread_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

sock_status sk_drift_spread_new(sock_context *ctx, size_t p, size_t d, sk_coupling coupling, sk_drift_spread **out)
{
    sk_drift_spread *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    sk_drift_sums_shape(p, d, coupling, &s->shape);
    s->systems = s->shape.coupling == SK_JOINT ? 1 : d;
    s->order = s->shape.coupling == SK_JOINT ? p * d : p;
    return give_room(ctx, s, out);
}

/* The features with a weight in component k into list (NULL: they are only counted); answers how many. */
static size_t list_features(size_t p, size_t d, const double *w, size_t k, size_t *list)
{
    size_t found = 0;
    for (size_t j = 0; j < p; j++) {
        if (w[j * d + k] == 0) continue;
        if (list) list[found] = j;
        found++;
    }
    return found;
}

sock_status sk_drift_spread_listed(sock_context *ctx, size_t p, size_t d, const double *w, sk_drift_spread **out)
{
    sk_drift_spread *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    sk_drift_sums_shape(p, d, SK_APART, &s->shape);
    s->systems = d;
    s->order = 1;
    for (size_t k = 0; k < d; k++) s->order = SK_MAX(s->order, list_features(p, d, w, k, NULL));
    s->list = sk_alloc(ctx, d * s->order, sizeof *s->list);
    for (size_t i = 0; s->list && i < d * s->order; i++) s->list[i] = SIZE_MAX;
    for (size_t k = 0; s->list && k < d; k++) list_features(p, d, w, k, s->list + k * s->order);
    if (s->list) return give_room(ctx, s, out);
    sk_drift_spread_free(s);
    return SOCK_ENOMEM;
}

/* ---- Sums ---- */

/* P and P (I a) P of every row, n x d x d each. */
static void row_weights(const sk_drift_spread *s, const sk_view *v, double *weight, double *noise)
{
    const size_t d = s->shape.d;
    assert(d > 0);
    for (size_t i = 0; i < v->n; i++, weight += d * d, noise += d * d) {
        const double *a = v->integral + i * d * d;
        for (size_t k = 0; k < d * d; k++) weight[k] = sk_drift_sums_weight(&s->shape, v, i, k / d, k % d);
        for (size_t k = 0; k < d; k++)
            for (size_t m = 0; m < d; m++) {
                double sum = 0; /* (P (I a))_km */
                for (size_t l = 0; l < d; l++) sum += weight[k * d + l] * a[l * d + m];
                for (size_t l = 0; l < d; l++) noise[k * d + l] += sum * weight[m * d + l];
            }
    }
}

/* One block of H or G += Psi' diag(weight) Psi; weight: of the first row, d2 apart. */
static void add_block(sock_context *ctx, const sk_drift_spread *s, const sk_view *v, const double *psi,
                      const double *weight, double *scaled, double *target)
{
    const size_t p = s->shape.p, d2 = s->shape.d * s->shape.d;
    for (size_t begin = 0; begin < v->n; begin += AT_ONCE) {
        const size_t rows = SK_MIN(AT_ONCE, v->n - begin);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < p; j++) scaled[i * p + j] = weight[(begin + i) * d2] * psi[(begin + i) * p + j];
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, p, p, rows, 1, psi + begin * p, p, scaled, p, 1, target, s->order);
    }
}

static void add_blocks(sock_context *ctx, sk_drift_spread *s, const sk_view *v, const double *psi, const double *weight,
                       const double *noise, double *scaled)
{
    const size_t p = s->shape.p, d = s->shape.d, order = s->order;
    const bool joint = s->systems == 1;
    for (size_t k = 0; k < d; k++)
        for (size_t l = joint ? 0 : k; l <= k; l++) {
            const size_t at = joint ? (k * order + l) * p : k * order * order;
            add_block(ctx, s, v, psi, weight + k * d + l, scaled, s->h + at);
            add_block(ctx, s, v, psi, noise + k * d + l, scaled, s->g + at);
        }
}

/* The features of the list of component k at some rows, rows x order: zeros where it has none. */
static void take_listed(const sk_drift_spread *s, size_t k, size_t rows, const double *psi, double *out)
{
    const size_t *list = s->list + k * s->order;
    for (size_t i = 0; i < rows; i++, psi += s->shape.p)
        for (size_t j = 0; j < s->order; j++) *out++ = list[j] == SIZE_MAX ? 0 : psi[list[j]];
}

/* target += Part' diag(weight) Part; weight as in add_block. part: 2 AT_ONCE x order, features and room. */
static void add_listed(sock_context *ctx, const sk_drift_spread *s, size_t rows, const double *weight, double *part,
                       double *target)
{
    const size_t order = s->order, d2 = s->shape.d * s->shape.d;
    double *scaled = part + AT_ONCE * order;
    for (size_t i = 0; i < rows * order; i++) scaled[i] = weight[i / order * d2] * part[i];
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, order, order, rows, 1, part, order, scaled, order, 1, target, order);
}

static void add_lists(sock_context *ctx, sk_drift_spread *s, const sk_view *v, const double *psi, const double *weight,
                      const double *noise, double *space)
{
    const size_t d = s->shape.d, square = s->order * s->order;
    for (size_t begin = 0; begin < v->n; begin += AT_ONCE)
        for (size_t k = 0; k < d; k++) {
            const size_t rows = SK_MIN(AT_ONCE, v->n - begin), at = begin * d * d + k * (d + 1);
            take_listed(s, k, rows, psi + begin * s->shape.p, space);
            add_listed(ctx, s, rows, weight + at, space, s->h + k * square);
            add_listed(ctx, s, rows, noise + at, space, s->g + k * square);
        }
}

/* Number `at` of all systems as an entry of the weights, p x d, where it is one. */
static bool has_entry(const sk_drift_spread *s, size_t at) { return !s->list || s->list[at] != SIZE_MAX; }

static size_t entry_of(const sk_drift_spread *s, size_t at)
{
    if (s->list) return s->list[at] * s->shape.d + at / s->order;
    return at % s->shape.p * s->shape.d + at / s->shape.p;
}

/* ---- A weight that is asked though it is 0 ---- */

sock_status sk_drift_spread_ask(sock_context *ctx, sk_drift_spread *s, size_t j, const bool *counts, const double *w)
{
    s->asked = j;
    s->counts = counts;
    s->about = w;
    s->pull = sk_doubles(ctx, s->systems, s->order);
    return s->pull ? SOCK_OK : SOCK_ENOMEM;
}

/* Whether number `at` of all systems is such a weight. */
static bool is_asked(const sk_drift_spread *s, size_t at)
{
    if (!s->counts || !has_entry(s, at)) return false;
    const size_t entry = entry_of(s, at), d = s->shape.d;
    assert(d > 0);
    return entry / d == s->asked && s->counts[entry % d];
}

/* left (d) = what the weights leave of row i. */
static void leave(const sk_drift_spread *s, const sk_view *v, size_t i, const double *psi, double *left)
{
    const size_t d = s->shape.d;
    memcpy(left, v->t + i * d, d * sizeof *left);
    for (size_t j = 0; s->about && j < s->shape.p; j++) sk_axpy(d, -psi[j], s->about + j * d, left);
}

/* weight: n x d x d, P of the rows. left: d to work with. */
static void add_pull(const sk_drift_spread *s, const sk_view *v, const double *psi, const double *weight, double *left)
{
    const size_t d = s->shape.d, p = s->shape.p;
    assert(d > 0);
    for (size_t at = 0; at < s->systems * s->order; at++) {
        if (!is_asked(s, at)) continue;
        const size_t k = entry_of(s, at) % d;
        for (size_t i = 0; i < v->n; i++) {
            const double *row = weight + (i * d + k) * d, *own = psi + i * p;
            leave(s, v, i, own, left);
            s->pull[at] += own[s->asked] * (s->systems == 1 ? sk_dot(d, row, left) : row[k] * left[k]);
        }
    }
}

sock_status sk_drift_spread_add(sock_context *ctx, sk_drift_spread *s, const sk_view *v, const double *psi)
{
    const size_t p = s->shape.p, d = s->shape.d;
    double *scaled = sk_doubles_unset(ctx, AT_ONCE, SK_MAX(p, 2 * s->order)),
           *weight = sk_doubles_unset(ctx, v->n, d * d);
    double *noise = sk_doubles(ctx, v->n + 1, d * d);
    const sock_status status = scaled && weight && noise ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        row_weights(s, v, weight, noise);
        (s->list ? add_lists : add_blocks)(ctx, s, v, psi, weight, noise, scaled);
        if (s->counts) add_pull(s, v, psi, weight, noise + v->n * d * d);
        s->rows += (double)v->n;
    }
    for (size_t i = 0; status >= 0 && i < v->n; i++) {
        s->size += sk_dot(p, psi + i * p, psi + i * p);
        for (size_t k = 0; k < d; k++) s->weight += weight[i * d * d + k * (d + 1)] / (double)d;
    }
    sk_free(scaled);
    sk_free(weight);
    sk_free(noise);
    return status;
}

void sk_drift_spread_multiply(sk_drift_spread *s, double times)
{
    sk_scale(s->systems * s->order * s->order, times, s->h);
    sk_scale(s->systems * s->order * s->order, times, s->g);
    if (s->pull) sk_scale(s->systems * s->order, times, s->pull);
    s->rows *= times;
    s->size *= times;
    s->weight *= times;
}

double sk_drift_spread_ridge(const sk_drift_spread *s, double l) { return l * s->size * s->weight / s->rows; }

/* ---- One system ---- */

/* Its numbers that are not held at 0, each in a unit in which H + Lambda has ones on the diagonal. */
typedef struct desk {
    size_t count;
    size_t *index;
    double *unit, *left, *middle, *product; /* count; count x count each */
} desk;

static void desk_clear(desk *t)
{
    sk_free(t->index);
    sk_free(t->unit);
    sk_free(t->left);
    sk_free(t->middle);
    sk_free(t->product);
    *t = (desk){0};
}

static sock_status desk_new(sock_context *ctx, size_t order, const double *h, const double *lambda, desk *t)
{
    *t = (desk){.index = sk_alloc(ctx, order, sizeof *t->index), .unit = sk_doubles(ctx, order, 1)};
    for (size_t i = 0; t->index && t->unit && i < order; i++) {
        const double size = h[i * order + i] + lambda[i];
        if (!isfinite(lambda[i]) || !(size > 0)) continue;
        t->unit[t->count] = 1 / sqrt(size);
        t->index[t->count++] = i;
    }
    t->left = sk_doubles(ctx, t->count, t->count);
    t->middle = sk_doubles(ctx, t->count, t->count);
    t->product = sk_doubles(ctx, t->count, t->count);
    if (t->index && t->unit && t->left && t->middle && t->product) return SOCK_OK;
    desk_clear(t);
    return SOCK_ENOMEM;
}

/* out = M + Lambda in these units, both triangles; m: lower triangle. */
static void gather(const desk *t, size_t order, const double *m, const double *lambda, double *out)
{
    for (size_t i = 0; i < t->count; i++)
        for (size_t j = 0; j <= i; j++) {
            const size_t row = t->index[i], column = t->index[j];
            const double value = m[row * order + column] + (i == j ? lambda[row] : 0);
            out[i * t->count + j] = out[j * t->count + i] = value * t->unit[i] * t->unit[j];
        }
}

/* left := the Cholesky factor of H + Lambda. Features that are collinear to rounding get what a fit gives them: the
 * smallest ridge that makes the matrix regular. */
static sock_status invert(sock_context *ctx, const desk *t, size_t order, const double *h, const double *lambda)
{
    sock_status status = SOCK_ENUMERIC;
    /* a hundred thousand times rounding is no ridge any more */
    for (double ridge = 1e-14; status == SOCK_ENUMERIC && ridge < 1e-5; ridge *= 10) {
        gather(t, order, h, lambda, t->left);
        for (size_t i = 0; i < t->count; i++) t->left[i * t->count + i] += ridge > 2e-14 ? ridge : 0;
        status = sk_cholesky(ctx, t->count, t->left, t->count);
    }
    return status;
}

/* T = S (G + Lambda) S into middle. */
static sock_status covariance(sock_context *ctx, const desk *t, size_t order, const double *h, const double *g,
                              const double *lambda)
{
    const size_t n = t->count;
    if (!n) return SOCK_OK;
    SK_TRY(invert(ctx, t, order, h, lambda));
    gather(t, order, g, lambda, t->product);
    sk_cholesky_solve(ctx, n, n, t->left, n, t->product, n);
    sk_transpose(n, n, t->product, n, t->middle, n);
    sk_cholesky_solve(ctx, n, n, t->left, n, t->middle, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            t->middle[i * n + j] = t->middle[j * n + i] = (t->middle[i * n + j] + t->middle[j * n + i]) / 2;
    return SOCK_OK;
}

/* middle += delta delta', delta = S pull: behind covariance, which leaves the factor of H + Lambda. */
static sock_status add_shift(sock_context *ctx, const desk *t, const double *pull)
{
    double *delta = sk_doubles(ctx, SK_MAX(t->count, (size_t)1), 1);
    if (!delta) return SOCK_ENOMEM;
    for (size_t i = 0; i < t->count; i++) delta[i] = t->unit[i] * pull[t->index[i]];
    if (t->count) sk_cholesky_solve(ctx, t->count, 1, t->left, t->count, delta, 1);
    for (size_t i = 0; i < t->count; i++) sk_axpy(t->count, delta[i], delta, t->middle + i * t->count);
    sk_free(delta);
    return SOCK_OK;
}

/* ---- Learned weights ---- */

/* Diagonal of S into variance (count, in the units of the desk). */
static sock_status variances(sock_context *ctx, const desk *t, size_t order, const double *h, const double *lambda,
                             double *variance)
{
    const size_t n = t->count;
    SK_TRY(invert(ctx, t, order, h, lambda));
    memset(t->product, 0, n * n * sizeof *t->product);
    for (size_t i = 0; i < n; i++) t->product[i * n + i] = 1;
    sk_solve_lower(ctx, SK_PLAIN, n, n, t->left, n, t->product, n);
    for (size_t j = 0; j < n; j++) {
        variance[j] = 0;
        for (size_t i = j; i < n; i++) variance[j] += t->product[i * n + j] * t->product[i * n + j];
    }
    return SOCK_OK;
}

static sock_status learn_system(sock_context *ctx, size_t order, const double *h, const double *w, double *lambda)
{
    desk t;
    for (size_t i = 0; i < order; i++) lambda[i] = w[i] != 0 ? 1 / (w[i] * w[i]) : (double)INFINITY;
    for (int round = 0; round < SK_PRIOR_ROUNDS; round++) {
        SK_TRY(desk_new(ctx, order, h, lambda, &t));
        double *variance = sk_doubles(ctx, t.count, 1);
        sock_status status = variance ? SOCK_OK : SOCK_ENOMEM;
        if (status >= 0 && t.count) status = variances(ctx, &t, order, h, lambda, variance);
        for (size_t i = 0; status >= 0 && i < t.count; i++) {
            const size_t at = t.index[i];
            lambda[at] = 1 / (w[at] * w[at] + variance[i] * t.unit[i] * t.unit[i]);
        }
        sk_free(variance);
        desk_clear(&t);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

sock_status sk_drift_spread_learned(sock_context *ctx, const sk_drift_spread *s, const double *w, double *lambda)
{
    const size_t order = s->order;
    double *side = sk_doubles(ctx, s->systems, order);
    if (!side) return SOCK_ENOMEM;
    for (size_t i = 0; i < s->systems * order; i++) side[i] = has_entry(s, i) ? w[entry_of(s, i)] : 0;
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < s->systems; i++)
        status = learn_system(ctx, order, s->h + i * order * order, side + i * order, lambda + i * order);
    for (size_t at = 0; status >= 0 && at < s->systems * order; at++)
        if (is_asked(s, at)) lambda[at] = 0;
    sk_free(side);
    return status;
}

/* ---- The factor ---- */

/* The factors of all systems, each count x rank in its own units. */
typedef struct pieces {
    desk *t;
    double **l;
    size_t *rank;
} pieces;

static sock_status factor_system(sock_context *ctx, const sk_drift_spread *s, size_t i, const double *lambda, pieces *w)
{
    const size_t order = s->order, square = order * order;
    SK_TRY(desk_new(ctx, order, s->h + i * square, lambda + i * order, &w->t[i]));
    SK_TRY(covariance(ctx, &w->t[i], order, s->h + i * square, s->g + i * square, lambda + i * order));
    if (s->counts) SK_TRY(add_shift(ctx, &w->t[i], s->pull + i * order));
    return sk_factor_symmetric(ctx, w->t[i].count, w->t[i].middle, &w->l[i], &w->rank[i]);
}

static sock_status collect(sock_context *ctx, const sk_drift_spread *s, const pieces *w, sk_factor **out)
{
    size_t count = 0, rank = 0, row = 0;
    for (size_t i = 0; i < s->systems; i++) {
        count += w->t[i].count;
        rank = SK_MAX(rank, w->rank[i]);
    }
    SK_TRY(sk_factor_new(ctx, count, rank, s->systems, out));
    for (size_t i = 0; i < s->systems; i++)
        for (size_t u = 0; u < w->t[i].count; u++, row++) {
            (*out)->entry[row] = entry_of(s, i * s->order + w->t[i].index[u]);
            (*out)->group[row] = i;
            for (size_t c = 0; c < w->rank[i]; c++)
                (*out)->value[row * rank + c] = w->t[i].unit[u] * w->l[i][u * w->rank[i] + c];
        }
    return SOCK_OK;
}

sock_status sk_drift_spread_factor(sock_context *ctx, const sk_drift_spread *s, const double *lambda, sk_factor **out)
{
    pieces w = {sk_alloc(ctx, s->systems, sizeof *w.t), sk_alloc(ctx, s->systems, sizeof *w.l),
                sk_alloc(ctx, s->systems, sizeof *w.rank)};
    sock_status status = w.t && w.l && w.rank ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < s->systems; i++) status = factor_system(ctx, s, i, lambda, &w);
    if (status >= 0) status = collect(ctx, s, &w, out);
    for (size_t i = 0; w.t && w.l && i < s->systems; i++) {
        desk_clear(&w.t[i]);
        sk_free(w.l[i]);
    }
    sk_free(w.t);
    sk_free(w.l);
    sk_free(w.rank);
    return status;
}
