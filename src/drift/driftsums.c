/* driftsums.c - see driftsums.h. Cost: n p^2 (times d or d^2) for the sums, order^3 for each fold and system. */
#include "drift/driftsums.h"

#include "base/comm.h"
#include "base/sums.h"
#include "drift/sparsebayes.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rows that are weighted and multiplied at once. */
enum { AT_ONCE = 512 };

static size_t squares(const sk_drift_sums *s) { return s->systems * s->order * s->order; }
static size_t sides(const sk_drift_sums *s) { return s->systems * s->order * s->rhs; }

/* Each fold, always, total; of rows without folds one part is all. */
static size_t parts(const sk_drift_sums *s) { return s->folds ? s->folds + 2 : 1; }

void sk_drift_sums_shape(size_t p, size_t d, sk_coupling coupling, sk_drift_sums *s)
{
    s->p = p;
    s->d = d;
    s->coupling = d == 1 ? SK_JOINT : coupling;
    s->systems = s->coupling == SK_APART ? d : 1;
    s->order = s->coupling == SK_JOINT ? p * d : p;
    s->rhs = s->coupling == SK_SHARED ? d : 1;
}

double sk_drift_sums_bytes(size_t p, size_t d, size_t folds, sk_coupling coupling)
{
    sk_drift_sums s = {0};
    sk_drift_sums_shape(p, d, coupling, &s);
    return 8.0 * (double)(folds + 4) * (double)squares(&s);
}

/* Room for sums of the given shape, whose arrays are not there yet. */
static sock_status make(sock_context *ctx, const sk_drift_sums *like, sk_drift_sums **out)
{
    sk_drift_sums *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = *like;
    s->h = sk_doubles(ctx, parts(s), squares(s));
    s->g = sk_doubles(ctx, parts(s), sides(s));
    s->rows = sk_alloc(ctx, parts(s), sizeof *s->rows);
    if (!s->h || !s->g || !s->rows) {
        sk_drift_sums_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

sock_status sk_drift_sums_new(sock_context *ctx, size_t p, size_t d, size_t folds, sk_coupling coupling,
                              sk_drift_sums **out)
{
    sk_drift_sums like = {.folds = folds};
    sk_drift_sums_shape(p, d, coupling, &like);
    return make(ctx, &like, out);
}

sock_status sk_drift_sums_listed(sock_context *ctx, size_t p, size_t d, size_t folds, size_t each, const size_t *list,
                                 sk_drift_sums **out)
{
    const sk_drift_sums like = {
        .p = p, .d = d, .folds = folds, .coupling = SK_APART, .systems = d, .order = each, .rhs = 1, .list = list};
    return make(ctx, &like, out);
}

void sk_drift_sums_free(sk_drift_sums *s)
{
    if (!s) return;
    sk_free(s->h);
    sk_free(s->g);
    sk_free(s->rows);
    sk_free(s->low);
    sk_free(s);
}

sock_status sk_drift_sums_pair(sock_context *ctx, sk_drift_sums *s)
{
    s->low = sk_doubles(ctx, parts(s), squares(s) + sides(s));
    return s->low ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Sums ---- */

/* The weight of row i for components k and l: the precision matrix where they are fitted jointly; else the inverse of
 * the component's own variance, or of the mean variance when the components share a system. */
double sk_drift_sums_weight(const sk_drift_sums *s, const sk_view *v, size_t i, size_t k, size_t l)
{
    const size_t d = s->d;
    if (!v->precision) return k == l;
    if (s->coupling == SK_JOINT || !v->spec.weighted) return v->precision[(i * d + k) * d + l];
    const double *variance = v->part + i * d;
    double sum = 0;
    if (k != l) return 0;
    for (size_t m = 0; s->rhs > 1 && m < d; m++) sum += variance[m] / (double)d;
    return 1 / ((s->rhs > 1 ? sum : variance[k]) + SK_VARIANCE_SHARE * v->typical->mean);
}

/* Block (k, l) of H += Psi' diag(P_kl) Psi over some rows. */
static void add_block(sock_context *ctx, const sk_drift_sums *s, const sk_view *v, const double *psi, size_t k,
                      size_t l, double *scaled, double *target)
{
    const size_t p = s->p;
    for (size_t begin = 0; begin < v->n; begin += AT_ONCE) {
        const size_t rows = SK_MIN(AT_ONCE, v->n - begin);
        for (size_t i = 0; i < rows; i++) {
            double w = sk_drift_sums_weight(s, v, begin + i, k, l);
            for (size_t j = 0; j < p; j++) scaled[i * p + j] = w * psi[(begin + i) * p + j];
        }
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, p, p, rows, 1, psi + begin * p, p, scaled, p, 1, target, s->order);
    }
}

static void add_weighted(sock_context *ctx, const sk_drift_sums *s, const sk_view *v, const double *psi, double *scaled,
                         double *h, double *g)
{
    const size_t p = s->p, d = s->d, order = s->order;
    const bool apart = s->coupling != SK_JOINT || d == 1, alone = apart && v->spec.weighted;
    for (size_t k = 0; k < (s->rhs > 1 ? 1 : d); k++)
        for (size_t l = apart ? k : 0; l < (apart ? k + 1 : d); l++)
            add_block(ctx, s, v, psi, k, l, scaled, apart ? h + k * order * order : h + k * p * order + l * p);
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < d; k++) {
            double target = 0;
            for (size_t l = alone ? k : 0; l < (alone ? k + 1 : d); l++)
                target += sk_drift_sums_weight(s, v, i, k, l) * v->t[i * d + l];
            sk_axpy(p, target, psi + i * p, g + k * p); /* systems of order p stand one behind the other */
        }
}

/* The features of system k at some rows, rows x order: zeros where the list has none. */
static void take_listed(const sk_drift_sums *s, size_t k, size_t rows, const double *psi, double *out)
{
    const size_t *list = s->list + k * s->order;
    for (size_t i = 0; i < rows; i++, psi += s->p)
        for (size_t j = 0; j < s->order; j++) *out++ = list[j] == SIZE_MAX ? 0 : psi[list[j]];
}

/* H and g of every system from features of its own. space: 2 AT_ONCE x order. */
static void add_listed(sock_context *ctx, const sk_drift_sums *s, const sk_view *v, const double *psi, double *space,
                       double *h, double *g)
{
    const size_t order = s->order;
    double *part = space, *scaled = space + AT_ONCE * order;
    for (size_t begin = 0; begin < v->n; begin += AT_ONCE)
        for (size_t k = 0; k < s->d; k++) {
            const size_t rows = SK_MIN(AT_ONCE, v->n - begin);
            take_listed(s, k, rows, psi + begin * s->p, part);
            for (size_t i = 0; i < rows; i++) {
                const double w = sk_drift_sums_weight(s, v, begin + i, k, k);
                for (size_t j = 0; j < order; j++) scaled[i * order + j] = w * part[i * order + j];
                sk_axpy(order, v->t[(begin + i) * s->d + k], scaled + i * order, g + k * order);
            }
            sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, order, order, rows, 1, part, order, scaled, order, 1,
                    h + k * order * order, order);
        }
}

/* Unit weights: one product for H, one for g. */
static void add_plain(sock_context *ctx, const sk_drift_sums *s, const sk_view *v, const double *psi, double *h,
                      double *g)
{
    const size_t p = s->p;
    assert(s->coupling == SK_SHARED || s->d == 1);
    sk_syrk(ctx, SK_TRANSPOSED, p, v->n, 1, psi, p, 1, h, p);
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, s->d, p, v->n, 1, v->t, s->d, psi, p, 1, g, p);
}

/* H and g of a view; *size and *weight as the sums have them. */
static sock_status add_view(sock_context *ctx, const sk_drift_sums *s, const sk_view *v, const double *psi, double *h,
                            double *g, double *size, double *weight)
{
    if (s->list) {
        double *space = sk_doubles_unset(ctx, 2 * AT_ONCE, s->order);
        if (!space) return SOCK_ENOMEM;
        add_listed(ctx, s, v, psi, space, h, g);
        sk_free(space);
        return SOCK_OK;
    }
    if (!v->precision) {
        add_plain(ctx, s, v, psi, h, g);
        return SOCK_OK;
    }
    double *scaled = sk_doubles_unset(ctx, SK_MIN(AT_ONCE, v->n), s->p);
    if (!scaled) return SOCK_ENOMEM;
    add_weighted(ctx, s, v, psi, scaled, h, g);
    sk_free(scaled);
    for (size_t i = 0; i < v->n; i++) {
        *size += sk_dot(s->p, psi + i * s->p, psi + i * s->p);
        for (size_t k = 0; k < s->d; k++) *weight += sk_drift_sums_weight(s, v, i, k, k) / (double)s->d;
    }
    return SOCK_OK;
}

sock_status sk_drift_sums_add(sock_context *ctx, sk_drift_sums *s, const sk_view *v, const double *psi)
{
    const size_t hs = squares(s), gs = sides(s), all = parts(s) * hs;
    double *h = s->h + v->fold * hs, *g = s->g + v->fold * gs, size = 0, weight = 0;
    if (!s->low) {
        s->rows[v->fold] += v->n;
        return add_view(ctx, s, v, psi, h, g, &s->size, &s->weight);
    }
    double *part = sk_doubles(ctx, hs + gs, 1);
    const sock_status status = part ? add_view(ctx, s, v, psi, part, part + hs, &size, &weight) : SOCK_ENOMEM;
    if (status >= 0) {
        sk_sums_lock(ctx);
        sk_sums_take(hs, part, h, s->low + v->fold * hs);
        sk_sums_take(gs, part + hs, g, s->low + all + v->fold * gs);
        sk_sum_take(size, &s->size, &s->low_size);
        sk_sum_take(weight, &s->weight, &s->low_weight);
        s->rows[v->fold] += v->n;
        sk_sums_unlock(ctx);
    }
    sk_free(part);
    return status;
}

sock_status sk_drift_sums_add_joint(sock_context *ctx, sk_drift_sums *s, size_t fold, size_t n, const double *e,
                                    const double *t)
{
    const size_t order = s->order;
    assert(s->coupling == SK_JOINT);
    double *h = s->h + fold * squares(s);
    sk_syrk(ctx, SK_TRANSPOSED, order, n, 1, e, order, 1, h, order);
    sk_symmetrise(order, h, order);
    sk_gemv(ctx, SK_TRANSPOSED, n, order, 1, e, order, t, 1, s->g + fold * sides(s));
    s->rows[fold] += n / s->d;
    s->size += sk_dot(n * order, e, e) / (double)order;
    s->weight += (double)(n / s->d);
    return SOCK_OK;
}

void sk_drift_sums_over_all(sock_context *ctx, sk_drift_sums *s)
{
    const size_t hs = parts(s) * squares(s);
    sk_sum_over_all(ctx, hs, s->h, s->low);
    sk_sum_over_all(ctx, parts(s) * sides(s), s->g, s->low + hs);
    sk_sum_over_all(ctx, 1, &s->size, &s->low_size);
    sk_sum_over_all(ctx, 1, &s->weight, &s->low_weight);
    sk_count_over_all(ctx, parts(s), s->rows);
}

void sk_drift_sums_merge(sk_drift_sums *s, const sk_drift_sums *other)
{
    sk_axpy(parts(s) * squares(s), 1, other->h, s->h);
    sk_axpy(parts(s) * sides(s), 1, other->g, s->g);
    for (size_t f = 0; f < parts(s); f++) s->rows[f] += other->rows[f];
    s->size += other->size;
    s->weight += other->weight;
}

void sk_drift_sums_close(sk_drift_sums *s)
{
    const size_t hs = squares(s), gs = sides(s), total = parts(s) - 1;
    if (!s->folds) return;
    memset(s->h + total * hs, 0, hs * sizeof *s->h);
    memset(s->g + total * gs, 0, gs * sizeof *s->g);
    s->rows[total] = 0;
    for (size_t f = 0; f <= s->folds; f++) {
        sk_axpy(hs, 1, s->h + f * hs, s->h + total * hs);
        sk_axpy(gs, 1, s->g + f * gs, s->g + total * gs);
        s->rows[total] += s->rows[f];
    }
}

/* ---- Solutions ---- */

size_t sk_drift_sums_subtract(const sk_drift_sums *s, size_t f, size_t system, double *h, double *g)
{
    const size_t square = s->order * s->order, side = s->order * s->rhs, total = parts(s) - 1;
    memcpy(h, s->h + total * squares(s) + system * square, square * sizeof *h);
    memcpy(g, s->g + total * sides(s) + system * side, side * sizeof *g);
    if (f >= s->folds) return s->rows[total];
    sk_axpy(square, -1, s->h + f * squares(s) + system * square, h);
    sk_axpy(side, -1, s->g + f * sides(s) + system * side, g);
    return s->rows[total] - s->rows[f];
}

double sk_drift_sums_unit(const sk_drift_sums *s)
{
    const double n = (double)s->rows[parts(s) - 1];
    return s->size * s->weight / (n * n);
}

/* Where unknown i of system `system`, right-hand side u, stands in the weights (p x d); SIZE_MAX: nowhere. */
static size_t place_of(const sk_drift_sums *s, size_t system, size_t u, size_t i)
{
    const size_t k = s->systems > 1 ? system : s->rhs > 1 ? u : i / s->p;
    const size_t j = s->list ? s->list[system * s->order + i] : i % s->p;
    return j == SIZE_MAX ? SIZE_MAX : j * s->d + k;
}

/* The solution of system `system`, right-hand side u, into w (p x d), entry (j, k) for feature j and component k. */
static void put_weights(const sk_drift_sums *s, size_t system, size_t u, const double *solution, double *w)
{
    for (size_t i = 0; i < s->order; i++) {
        const size_t at = place_of(s, system, u, i);
        if (at != SIZE_MAX) w[at] = solution[i];
    }
}

/* Work space of one solution. */
typedef struct desk {
    sock_context *ctx;
    double *h, *g, *values, *rotated, *scaled, *solution;
} desk;

static void desk_clear(desk *t)
{
    sk_free(t->h);
    sk_free(t->g);
    sk_free(t->values);
    sk_free(t->rotated);
    sk_free(t->scaled);
    sk_free(t->solution);
}

static sock_status desk_new(sock_context *ctx, const sk_drift_sums *s, desk *t)
{
    *t = (desk){.ctx = ctx,
                .h = sk_doubles_unset(ctx, s->order, s->order),
                .g = sk_doubles_unset(ctx, s->order, s->rhs),
                .values = sk_doubles(ctx, s->order, 1),
                .rotated = sk_doubles(ctx, s->order, 1),
                .scaled = sk_doubles(ctx, s->order, 1),
                .solution = sk_doubles(ctx, s->order, 1)};
    if (t->h && t->g && t->values && t->rotated && t->scaled && t->solution) return SOCK_OK;
    desk_clear(t);
    return SOCK_ENOMEM;
}

/* One eigendecomposition gives the weights for every penalty. */
static sock_status ridge_system(sock_context *ctx, const sk_drift_sums *s, const desk *t, size_t system, size_t count,
                                const double *shift, double *path, double *dof)
{
    const size_t order = s->order;
    SK_TRY(sk_eigh(ctx, order, t->h, order, t->values));
    for (size_t u = 0; u < s->rhs; u++) {
        sk_gemv(ctx, SK_PLAIN, order, order, 1, t->h, order, t->g + u * order, 0, t->rotated);
        for (size_t j = 0; j < count; j++) {
            for (size_t i = 0; i < order; i++) {
                double value = t->values[i] > 0 ? t->values[i] : 0;
                t->scaled[i] = t->rotated[i] / (value + shift[j]);
                if (dof) dof[j] += value / (value + shift[j]);
            }
            sk_gemv(ctx, SK_TRANSPOSED, order, order, 1, t->h, order, t->scaled, 0, t->solution);
            put_weights(s, system, u, t->solution, path + j * s->p * s->d);
        }
    }
    return SOCK_OK;
}

sock_status sk_drift_sums_ridge(sock_context *ctx, const sk_drift_sums *s, size_t f, size_t count, const double *l,
                                double *path, double *dof)
{
    desk t;
    SK_TRY(desk_new(ctx, s, &t));
    double *shift = sk_doubles(ctx, count, 1);
    sock_status status = shift ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; dof && j < count; j++) dof[j] = 0;
    for (size_t system = 0; status >= 0 && system < s->systems; system++) {
        size_t rows = sk_drift_sums_subtract(s, f, system, t.h, t.g);
        for (size_t j = 0; j < count; j++) shift[j] = (double)rows * l[j] * sk_drift_sums_unit(s);
        status = ridge_system(ctx, s, &t, system, count, shift, path, dof);
    }
    sk_free(shift);
    desk_clear(&t);
    return status;
}

/* A feature must raise the likelihood by that many nats to come in: more where there are more to choose from. */
static double entry_price(size_t order) { return fmax(log((double)order), 3); }

/* And that many, at most, for it to stay: with many steps chance is what stays, not what is weak. */
double sk_idle_price(size_t rows) { return SK_IDLE_NATS + 0.5 * log(fmax((double)rows / SK_IDLE_STEPS, 1)); }

typedef sock_status (*learn_fn)(const desk *t, size_t order, size_t rows, double price, sk_sparse_bayes **out);

static sock_status forward(const desk *t, size_t order, size_t rows, double price, sk_sparse_bayes **out)
{
    (void)rows;
    return sk_sparse_bayes_fit(t->ctx, order, t->h, order, t->g, price, 0, out);
}

static sock_status trim(const desk *t, size_t order, size_t rows, double price, sk_sparse_bayes **out)
{
    return sk_sparse_bayes_trim(t->ctx, order, t->h, order, t->g, price, sk_idle_price(rows), out);
}

static sock_status join(const desk *t, size_t order, size_t rows, double price, sk_sparse_bayes **out)
{
    SK_TRY(trim(t, order, rows, price, out));
    const sock_status status = sk_sparse_bayes_join(t->ctx, order, t->h, order, t->g, price, *out);
    if (status >= 0) return status;
    sk_sparse_bayes_free(*out);
    *out = NULL;
    return status;
}

static sock_status prune(const desk *t, size_t order, size_t rows, double price, sk_sparse_bayes **out)
{
    (void)rows;
    return sk_sparse_bayes_prune(t->ctx, order, t->h, order, t->g, price, 0, out);
}

static sock_status learn(sock_context *ctx, const sk_drift_sums *s, size_t f, learn_fn fn, double *w, double *dof)
{
    desk t;
    SK_TRY(desk_new(ctx, s, &t));
    sock_status status = SOCK_OK;
    if (dof) *dof = 0;
    for (size_t system = 0; status >= 0 && system < s->systems; system++) {
        sk_sparse_bayes *fit = NULL;
        const size_t rows = sk_drift_sums_subtract(s, f, system, t.h, t.g);
        const double price = entry_price(s->list ? s->p : s->order); /* a screen has seen them all */
        status = fn(&t, s->order, rows, price, &fit);
        if (status < 0) break;
        memset(t.solution, 0, s->order * sizeof *t.solution);
        for (size_t a = 0; a < fit->active; a++) {
            t.solution[fit->index[a]] = fit->mean[a];
            if (dof) *dof += 1 - fit->alpha[a] * fit->covariance[a * fit->active + a];
        }
        put_weights(s, system, 0, t.solution, w);
        sk_sparse_bayes_free(fit);
    }
    desk_clear(&t);
    return status;
}

sock_status sk_drift_sums_learned(sock_context *ctx, const sk_drift_sums *s, size_t f, double *w, double *dof)
{
    return learn(ctx, s, f, forward, w, dof);
}

sock_status sk_drift_sums_trimmed(sock_context *ctx, const sk_drift_sums *s, size_t f, double *w, double *dof)
{
    return learn(ctx, s, f, trim, w, dof);
}

sock_status sk_drift_sums_joined(sock_context *ctx, const sk_drift_sums *s, size_t f, double *w, double *dof)
{
    return learn(ctx, s, f, join, w, dof);
}

sock_status sk_drift_sums_pruned(sock_context *ctx, const sk_drift_sums *s, size_t f, double *w, double *dof)
{
    return learn(ctx, s, f, prune, w, dof);
}

static const double ROUNDING = 1e-10; /* of the diagonal: terms may depend on each other */

/* Rows and columns of unknowns that are none become those of the identity. */
static void leave_out(const sk_drift_sums *s, size_t system, size_t u, const double *like, const desk *t)
{
    const size_t order = s->order;
    for (size_t i = 0; i < order; i++) {
        const size_t at = place_of(s, system, u, i);
        double *own = t->h + i * (order + 1);
        *own *= 1 + ROUNDING;
        t->solution[i] = t->g[u * order + i];
        if (at != SIZE_MAX && like[at] != 0) continue;
        for (size_t k = 0; k < order; k++) t->h[i * order + k] = t->h[k * order + i] = 0;
        *own = 1;
        t->solution[i] = 0;
    }
}

sock_status sk_drift_sums_among(sock_context *ctx, const sk_drift_sums *s, size_t f, const double *like, double *w)
{
    desk t;
    SK_TRY(desk_new(ctx, s, &t));
    sock_status status = SOCK_OK;
    for (size_t system = 0; status >= 0 && system < s->systems; system++)
        for (size_t u = 0; status >= 0 && u < s->rhs; u++) {
            sk_drift_sums_subtract(s, f, system, t.h, t.g);
            leave_out(s, system, u, like, &t);
            status = sk_cholesky(ctx, s->order, t.h, s->order);
            if (status < 0) break;
            sk_cholesky_solve(ctx, s->order, 1, t.h, s->order, t.solution, 1);
            put_weights(s, system, u, t.solution, w);
        }
    desk_clear(&t);
    return status;
}
