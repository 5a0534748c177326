/* sparsebayes.c - maximises the evidence over the prior precisions alpha, one feature at a time (Tipping & Faul 2003).
 *
 * With A the active features, Sigma = (H_AA + diag alpha)^-1 and mu = Sigma g_A, the log evidence depends on one
 * alpha_j as
 *
 *     l_j(alpha) = (q_j^2 / (alpha + s_j) - log(1 + s_j / alpha)) / 2,   l_j(infinity) = 0 (feature j is out),
 *
 * where s_j, q_j are S_j = H_jj - H_jA Sigma H_Aj and Q_j = g_j - H_jA mu without j itself in A. It is largest at
 * alpha = s^2 / theta when theta = q^2 - s > 0, and at infinity otherwise.
 *
 *   1. Scale the features so that H_jj = 1. A is empty: S_j = 1, Q_j = g_j.
 *   2. For each j: the best alpha_j and its gain l_j(best) - l_j(now): add, re-estimate or delete.
 *   3. Take the largest gain; stop when it is below the threshold.
 *   4. Update Sigma, mu, S, Q by one rank, p |A|. Every REFRESH steps, and before stopping, compute them anew from a
 *      Cholesky factor, p |A|^2, so that rounding does not pile up. Go to 2.
 *
 * Memory: 2 p |A|. */
#include "drift/sparsebayes.h"

#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { REFRESH = 16, STEPS_AT_LEAST = 200, STEPS_PER_FEATURE = 20 };

/* What is left of a scaled feature beyond the active ones; less than this is rounding of H. */
static const double collinear = 1e-12;

/* Re-estimates that change alpha by less than this share do not pay for the step. */
static const double same_alpha = 1e-3;

typedef struct search {
    sock_context *ctx;
    size_t p, limit; /* at most `limit` active features */
    const double *h;
    size_t ld;
    double *unit;      /* p: H_jj^-1/2; 0 bars the feature */
    double *g, *S, *Q; /* p, scaled */
    size_t *place;     /* p: slot in A + 1, or 0 */
    double *change;    /* p: work */

    /* A in order of entry */
    size_t count, capacity;
    size_t *active;             /* limit */
    double *alpha, *mu, *along; /* limit */
    double *rows, *solved;      /* capacity x p: H_Aj scaled; L^-1 of it */
    double *sigma, *factor;     /* capacity x limit: Sigma (both triangles), L */
    bool fresh;                 /* S, Q, Sigma, mu are from the factor */
    double gain;                /* log evidence, when fresh */
} search;

typedef struct move {
    size_t feature;
    double alpha, gain; /* alpha infinite: delete */
} move;

/* ---- Step 1 ---- */

static sock_status check_input(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g)
{
    for (size_t j = 0; j < p; j++) {
        bool finite = isfinite(g[j]);
        for (size_t k = 0; k < p; k++) finite &= isfinite(h[j * ld + k]) != 0;
        if (!finite)
            return sk_fail(ctx, SOCK_ENUMERIC, "sparse drift: the sums over the data for feature %zu are not finite",
                           j);
    }
    return SOCK_OK;
}

static void scale_features(search *f, const double *g)
{
    for (size_t j = 0; j < f->p; j++) {
        double diagonal = f->h[j * f->ld + j];
        f->unit[j] = diagonal >= DBL_MIN ? 1 / sqrt(diagonal) : 0;
        f->g[j] = g[j] * f->unit[j];
    }
}

static sock_status search_init(search *f, const double *g)
{
    sock_context *ctx = f->ctx;
    f->unit = sk_doubles(ctx, f->p, 1);
    f->g = sk_doubles(ctx, f->p, 1);
    f->S = sk_doubles(ctx, f->p, 1);
    f->Q = sk_doubles(ctx, f->p, 1);
    f->change = sk_doubles(ctx, f->p, 1);
    f->place = sk_alloc(ctx, f->p, sizeof *f->place);
    f->active = sk_alloc(ctx, f->limit, sizeof *f->active);
    f->alpha = sk_doubles(ctx, f->limit, 1);
    f->mu = sk_doubles(ctx, f->limit, 1);
    f->along = sk_doubles(ctx, f->limit, 1);
    if (!f->unit || !f->g || !f->S || !f->Q || !f->change || !f->place || !f->active || !f->alpha || !f->mu ||
        !f->along)
        return SOCK_ENOMEM;
    scale_features(f, g);
    return SOCK_OK;
}

static void search_free(search *f)
{
    void *owned[] = {f->unit,  f->g,  f->S,     f->Q,    f->change, f->place, f->active,
                     f->alpha, f->mu, f->along, f->rows, f->solved, f->sigma, f->factor};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) sk_free(owned[i]);
}

/* Room for one more active feature. */
static sock_status reserve(search *f)
{
    struct {
        void *array;
        size_t width;
    } part[] = {{&f->rows, f->p}, {&f->solved, f->p}, {&f->sigma, f->limit}, {&f->factor, f->limit}};
    size_t capacity = f->capacity;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        capacity = f->capacity;
        SK_TRY(sk_grow(f->ctx, part[i].array, &capacity, f->count + 1, part[i].width * sizeof(double)));
    }
    f->capacity = capacity;
    return SOCK_OK;
}

/* ---- Step 4, anew ---- */

static bool factorise(search *f)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k <= i; k++) f->factor[i * f->limit + k] = f->rows[i * f->p + f->active[k]];
        f->factor[i * f->limit + i] += f->alpha[i];
    }
    return sk_cholesky(f->ctx, f->count, f->factor, f->limit) == SOCK_OK;
}

/* H is positive semi-definite up to rounding only: when the factor fails, the newest feature is barred. A factor of
 * order 1 cannot fail. */
static void factorise_or_bar(search *f)
{
    while (f->count && !factorise(f)) {
        size_t j = f->active[--f->count];
        f->place[j] = 0;
        f->unit[j] = 0;
    }
}

/* Sigma = (L L')^-1. */
static void invert(search *f)
{
    for (size_t i = 0; i < f->count; i++) {
        memset(f->sigma + i * f->limit, 0, f->count * sizeof(double));
        f->sigma[i * f->limit + i] = 1;
    }
    sk_cholesky_solve(f->ctx, f->count, f->count, f->factor, f->limit, f->sigma, f->limit);
    sk_symmetrise(f->count, f->sigma, f->limit);
}

/* mu = L^-T v, v = L^-1 g_A; the log evidence is (|v|^2 + log det diag alpha - log det L L') / 2. */
static void solve_mean(search *f)
{
    f->gain = 0;
    for (size_t i = 0; i < f->count; i++) f->mu[i] = f->g[f->active[i]];
    sk_solve_lower(f->ctx, SK_PLAIN, f->count, 1, f->factor, f->limit, f->mu, 1);
    for (size_t i = 0; i < f->count; i++) {
        f->along[i] = f->mu[i];
        f->gain += f->mu[i] * f->mu[i] / 2 + log(f->alpha[i]) / 2 - log(f->factor[i * f->limit + i]);
    }
    sk_solve_lower(f->ctx, SK_TRANSPOSED, f->count, 1, f->factor, f->limit, f->mu, 1);
}

/* S_j = 1 - |L^-1 H_Aj|^2, Q_j = g_j - (L^-1 H_Aj)' L^-1 g_A. */
static void refresh(search *f)
{
    factorise_or_bar(f);
    invert(f);
    solve_mean(f);
    for (size_t j = 0; j < f->p; j++) f->S[j] = 1;
    memcpy(f->Q, f->g, f->p * sizeof(double));
    if (f->count) memcpy(f->solved, f->rows, f->count * f->p * sizeof(double));
    sk_solve_lower(f->ctx, SK_PLAIN, f->count, f->p, f->factor, f->limit, f->solved, f->p);
    for (size_t i = 0; i < f->count; i++) {
        const double *v = f->solved + i * f->p;
        for (size_t j = 0; j < f->p; j++) {
            f->S[j] -= v[j] * v[j];
            f->Q[j] -= v[j] * f->along[i];
        }
    }
    f->fresh = true;
}

/* ---- Step 4, by one rank ---- */

/* Sigma += w a a', mu += m a on the active features; S_j -= w c_j^2, Q_j -= m c_j on all, with c = `change`. */
static void update(search *f, double w, double m)
{
    const double *a = f->along;
    for (size_t i = 0; i < f->count; i++) {
        sk_axpy(f->count, w * a[i], a, f->sigma + i * f->limit);
        f->mu[i] += m * a[i];
    }
    for (size_t j = 0; j < f->p; j++) {
        double c = f->change[j];
        f->S[j] -= w * c * c;
        f->Q[j] -= m * c;
    }
    f->fresh = false;
}

/* With t = Sigma H_Aj and v = 1 / (alpha + S_j), the new Sigma is [Sigma + v t t', -v t; -v t', v]: a rank-one change
 * along a = (-t, 1), and c = H a. */
static sock_status add(search *f, size_t j, double alpha)
{
    SK_TRY(reserve(f));
    size_t k = f->count, p = f->p;
    double *row = f->rows + k * p, v = 1 / (alpha + f->S[j]), m = v * f->Q[j];
    for (size_t i = 0; i < p; i++) row[i] = f->h[j * f->ld + i] * f->unit[j] * f->unit[i];
    row[j] = 1;
    for (size_t i = 0; i < k; i++) f->change[i] = row[f->active[i]];
    sk_gemv(f->ctx, SK_PLAIN, k, k, -1, f->sigma, f->limit, f->change, 0, f->along);
    memcpy(f->change, row, p * sizeof(double));
    if (k) sk_gemv(f->ctx, SK_TRANSPOSED, k, p, 1, f->rows, p, f->along, 1, f->change);
    f->along[k] = 1;
    for (size_t i = 0; i <= k; i++) f->sigma[k * f->limit + i] = f->sigma[i * f->limit + k] = 0;
    f->mu[k] = 0;
    f->active[k] = j;
    f->alpha[k] = alpha;
    f->place[j] = ++f->count;
    update(f, v, m);
    return SOCK_OK;
}

/* A change of alpha_i by delta (infinite: delete) takes kappa a a' off Sigma, a = column i of Sigma, kappa = 1 /
 * (Sigma_ii + 1 / delta). */
static void shift_alpha(search *f, size_t i, double delta)
{
    const double *column = f->sigma + i * f->limit;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an active feature has its column, add() made room for it
    double kappa = 1 / (column[i] + 1 / delta), m = kappa * f->mu[i];
    memcpy(f->along, column, f->count * sizeof(double));
    sk_gemv(f->ctx, SK_TRANSPOSED, f->count, f->p, 1, f->rows, f->p, f->along, 0, f->change);
    update(f, -kappa, -m);
    f->alpha[i] += delta;
}

static void take_out(search *f, size_t i)
{
    size_t behind = f->count - i - 1, limit = f->limit;
    f->place[f->active[i]] = 0;
    memmove(f->active + i, f->active + i + 1, behind * sizeof *f->active);
    memmove(f->alpha + i, f->alpha + i + 1, behind * sizeof(double));
    memmove(f->mu + i, f->mu + i + 1, behind * sizeof(double));
    memmove(f->rows + i * f->p, f->rows + (i + 1) * f->p, behind * f->p * sizeof(double));
    memmove(f->sigma + i * limit, f->sigma + (i + 1) * limit, behind * limit * sizeof(double));
    f->count--;
    for (size_t k = 0; k < f->count; k++) {
        double *row = f->sigma + k * limit;
        memmove(row + i, row + i + 1, behind * sizeof(double));
    }
    for (size_t k = i; k < f->count; k++) f->place[f->active[k]] = k + 1;
}

static sock_status apply(search *f, move step)
{
    size_t slot = f->place[step.feature];
    if (!slot) return add(f, step.feature, step.alpha);
    shift_alpha(f, slot - 1, step.alpha - f->alpha[slot - 1]);
    if (isinf(step.alpha))
        take_out(f, slot - 1);
    else
        f->alpha[slot - 1] = step.alpha;
    return SOCK_OK;
}

/* ---- Steps 2 and 3 ---- */

/* s_j and q_j. For an active feature two forms are equal; each is used where it does not cancel. */
static void leave_one_out(const search *f, size_t j, double *s, double *q)
{
    *s = f->S[j];
    *q = f->Q[j];
    if (!f->place[j]) return;
    size_t i = f->place[j] - 1;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an active feature has its column
    double alpha = f->alpha[i], variance = f->sigma[i * f->limit + i];
    if (alpha * variance < 0.5) {
        *s = (1 - alpha * variance) / variance;
        *q = f->mu[i] / variance;
    } else {
        double ratio = alpha / (alpha - f->S[j]);
        *s *= ratio;
        *q *= ratio;
    }
}

static double evidence(double s, double q, double alpha)
{
    return isinf(alpha) ? 0 : (q * q / (alpha + s) - log1p(s / alpha)) / 2;
}

/* The best alpha of feature j; a gain of 0 when there is nothing to do. */
static move propose(const search *f, size_t j)
{
    move none = {.feature = j}, best = {.feature = j, .alpha = INFINITY};
    double s, q, now = f->place[j] ? f->alpha[f->place[j] - 1] : (double)INFINITY;
    if (f->unit[j] == 0 || (isinf(now) && f->count == f->limit)) return none;
    leave_one_out(f, j, &s, &q);
    double theta = q * q - s;
    if (!(s > collinear) || !isfinite(theta)) return none;
    if (theta > 0) best.alpha = s * s / theta;
    if (isinf(best.alpha) && isinf(now)) return none;
    if (fabs(best.alpha / now - 1) < same_alpha) return none;
    best.gain = evidence(s, q, best.alpha) - evidence(s, q, now);
    return isfinite(best.gain) ? best : none; /* not where alpha is 0 by underflow */
}

static move best_move(const search *f)
{
    move best = {0};
    for (size_t j = 0; j < f->p; j++) {
        move one = propose(f, j);
        if (one.gain > best.gain) best = one;
    }
    return best;
}

/* Steps 2 to 4 until nothing gains the threshold (true) or too many steps (false); ends fresh. */
static sock_status climb(search *f, double threshold, size_t *steps, bool *settled)
{
    size_t most = STEPS_AT_LEAST + STEPS_PER_FEATURE * f->p;
    refresh(f);
    for (*steps = 0; *steps < most;) {
        if (sk_cancelled(f->ctx)) return sk_fail(f->ctx, SOCK_ECANCELLED, "interrupted");
        move best = best_move(f);
        *settled = best.gain <= 0 || best.gain < threshold;
        if (*settled && f->fresh) return SOCK_OK;
        if (!*settled) {
            SK_TRY(apply(f, best));
            ++*steps;
        }
        if (*settled || *steps % REFRESH == 0) refresh(f);
    }
    *settled = false;
    refresh(f);
    return SOCK_OK;
}

/* ---- The answer, in the features' own scale and order ---- */

static sock_status make_result(const search *f, sk_sparse_bayes *fit)
{
    size_t n = f->count, at = 0;
    fit->active = n;
    fit->gain = f->gain;
    fit->index = sk_alloc(f->ctx, n, sizeof *fit->index);
    fit->mean = sk_doubles(f->ctx, n, 1);
    fit->alpha = sk_doubles(f->ctx, n, 1);
    fit->covariance = sk_doubles(f->ctx, n, n);
    if (!fit->index || !fit->mean || !fit->alpha || !fit->covariance) return SOCK_ENOMEM;
    for (size_t j = 0; j < f->p; j++)
        if (f->place[j]) fit->index[at++] = j;
    for (size_t i = 0; i < n; i++) {
        size_t j = fit->index[i], slot = f->place[j] - 1;
        fit->mean[i] = f->mu[slot] * f->unit[j];
        fit->alpha[i] = f->alpha[slot] / f->unit[j] / f->unit[j];
        for (size_t k = 0; k < n; k++) {
            size_t other = fit->index[k];
            fit->covariance[i * n + k] = f->sigma[slot * f->limit + f->place[other] - 1] * f->unit[j] * f->unit[other];
        }
    }
    return SOCK_OK;
}

sock_status sk_sparse_bayes_fit(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                double threshold, size_t max_active, sk_sparse_bayes **out)
{
    if (!(threshold >= 0))
        return sk_fail(ctx, SOCK_EUSAGE, "sparse drift: the threshold on the gain of evidence is %g; it must be >= 0",
                       threshold);
    SK_TRY(check_input(ctx, p, h, ld, g));
    search f = {.ctx = ctx, .p = p, .h = h, .ld = ld, .limit = max_active ? SK_MIN(max_active, p) : p};
    sk_sparse_bayes *fit = NULL;
    sock_status status = SOCK_OK;
    SK_GO(search_init(&f, g));
    fit = sk_alloc(ctx, 1, sizeof *fit);
    SK_GO(fit ? SOCK_OK : SOCK_ENOMEM);
    fit->p = p;
    SK_GO(climb(&f, threshold, &fit->steps, &fit->settled));
    SK_GO(make_result(&f, fit));
    *out = fit;
    fit = NULL;
out:
    search_free(&f);
    sk_sparse_bayes_free(fit);
    return status;
}

void sk_sparse_bayes_free(sk_sparse_bayes *fit)
{
    if (!fit) return;
    sk_free(fit->index);
    sk_free(fit->mean);
    sk_free(fit->alpha);
    sk_free(fit->covariance);
    sk_free(fit);
}
