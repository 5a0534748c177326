/* inertiadiffusion.c - diffusions of velocities on the rows of a filter over positions and velocities.
 *
 *   1. svec rows by fold; targets: products of what the force leaves of the innovations, less the noise.
 *   2. Q without each fold, penalty after penalty, large to small.
 *   3. Held out: the variance of the innovations by the rows of the fold, and their density. */
#include "inertia/inertiafit.h"

#include "la/la.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double LOG_2PI = 1.83787706640934548356;

typedef struct attempt {
    const sk_inertial *w;
    const sk_inertial_kicks *kicks;
    const sk_sweep *sweep;
    bool folds; /* solutions without each of them are wanted */
    sk_diffusion_sweep s;
    double *e, *z;  /* n x d, n x d x d: recoloured residuals, targets */
    double *weight; /* systems x n */
} attempt;

static void attempt_clear(attempt *t)
{
    sk_diffusion_sweep_clear(&t->s);
    sk_free(t->e);
    sk_free(t->z);
    sk_free(t->weight);
}

/* ---- Step 1 ---- */

static void find_targets(const attempt *t)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t d = r->d;
    for (size_t i = 0; i < r->n; i++) {
        double *e = t->e + i * d, *z = t->z + i * d * d;
        for (size_t k = 0; k < d; k++) e[k] = sk_dot(d, r->tint + (i * d + k) * d, t->kicks->e + i * d);
        for (size_t k = 0; k < d * d; k++)
            z[k] = e[k / d] * e[k % d] - (t->kicks->noise ? r->noise[i] * t->kicks->noise[k] : 0);
    }
}

static sock_status add(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t n = end - begin, p = t->s.trial->p, systems = sk_trial_systems(t->s.trial), d = r->d;
    sock_context *ctx = t->w->ctx;
    double *b = sk_doubles_unset(ctx, n, p * (p + 1) / 2), *weight = sk_doubles_unset(ctx, systems, n);
    sk_rule rule = {.n = n, .in = 2 * d, .out = d, .h = r->length + begin};
    const sk_given_rows given = {fold, &rule, 0, n, t->z + begin * d * d, weight, b};
    sock_status status =
        b && weight ? sk_inertial_products(t->w, r, t->s.trial->map, begin, end, b, t->s.sums->square) : SOCK_ENOMEM;
    for (size_t s = 0; status >= 0 && s < systems; s++)
        memcpy(weight + s * n, t->weight + s * r->n + begin, n * sizeof *weight);
    if (status >= 0) status = sk_diffusion_sums_add_given(ctx, t->s.sums, &given);
    t->s.sums->nodes += n * SK_LIFT_NODES * 2 * d;
    sk_free(b);
    sk_free(weight);
    return status;
}

static sock_status sum_up(attempt *t)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const sk_row_sizes sizes = {r->n, r->spread, r->typical, SK_INERTIA_SHARE, r->good};
    sk_row_weights(&sizes, t->s.trial, t->weight);
    SK_TRY(sk_diffusion_sweep_open(t->w->ctx, &t->s, t->folds || t->sweep->all));
    SK_TRY(sk_inertial_each(t->w, add, t));
    sk_diffusion_sweep_close(&t->s);
    return SOCK_OK;
}

/* ---- Step 3 ---- */

/* The log density of the recoloured residual of step i with the part `of_a` (d x d, spoilt) of its variance. */
static double density(const attempt *t, size_t i, double *of_a, double *u)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t d = r->d;
    const double *e = t->e + i * d;
    double sum = -0.5 * (double)d * LOG_2PI;
    for (size_t k = 0; k < d * d; k++) of_a[k] += t->kicks->noise ? r->noise[i] * t->kicks->noise[k] : 0;
    for (size_t k = 0; k < d; k++) of_a[k * (d + 1)] += r->length[i] * t->kicks->floor[k];
    if (sk_factor_small(d, 0, of_a)) return SK_STEP_LEAST;
    for (size_t k = 0; k < d; k++) {
        u[k] = (e[k] - sk_dot(k, of_a + k * d, u)) / of_a[k * (d + 1)];
        sum -= 0.5 * u[k] * u[k] + log(of_a[k * (d + 1)]);
    }
    return isfinite(sum) ? fmax(sum, SK_STEP_LEAST) : SK_STEP_LEAST;
}

static sock_status score(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t n = end - begin, p = t->s.trial->p, d = r->d, clusters = t->w->rows.clusters;
    sock_context *ctx = t->w->ctx;
    if (fold == t->w->rows.folds) return SOCK_OK;
    double *b = sk_doubles_unset(ctx, n, p * (p + 1) / 2), *held = sk_doubles(ctx, n, d * d),
           *u = sk_doubles(ctx, d, 1);
    sock_status status =
        b && held && u ? sk_inertial_products(t->w, r, t->s.trial->map, begin, end, b, NULL) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < t->s.lambdas; j++) {
        status = sk_trial_integrate(ctx, t->s.trial, t->s.q + (fold * t->s.lambdas + j) * t->s.trial->size, n, b, held);
        for (size_t i = 0; status >= 0 && i < n; i++)
            if (r->good[begin + i])
                t->s.score[j * clusters + t->w->rows.cluster[begin + i]] += density(t, begin + i, held + i * d * d, u);
    }
    sk_free(b);
    sk_free(held);
    sk_free(u);
    return status;
}

/* Which penalty is the best, by the folds. */
static sock_status choose(attempt *t, size_t *best)
{
    for (size_t f = 0; f < t->s.trial->folds; f++) SK_TRY(sk_diffusion_sweep_fold(t->w->ctx, &t->s, f));
    SK_TRY(sk_inertial_each(t->w, score, t));
    return sk_diffusion_sweep_choose(&t->s, t->w->rows.clusters, best);
}

/* ---- One and all ---- */

static sock_status attempt_new(attempt *t, size_t c)
{
    const sk_inertial *w = t->w;
    const size_t n = w->rows.n, d = w->rows.d;
    SK_TRY(sk_diffusion_sweep_new(w->ctx, &w->rows, &w->list.diffusion[c], t->sweep, &t->s));
    t->s.tolerance = w->m.tolerance;
    t->e = sk_doubles(w->ctx, n, d);
    t->z = sk_doubles(w->ctx, n, d * d);
    t->weight = sk_doubles(w->ctx, sk_trial_systems(t->s.trial), n);
    return t->e && t->z && t->weight ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status try_one(attempt *t, size_t c)
{
    size_t best = sk_lambda_place(SK_THIN_LAMBDAS, sk_thin_lambdas, t->sweep->l);
    SK_TRY(attempt_new(t, c));
    find_targets(t);
    SK_TRY(sum_up(t));
    if (t->sweep->all) SK_TRY(choose(t, &best));
    return sk_diffusion_sweep_finish(t->w->ctx, &t->s, best, t->sweep->all, t->folds);
}

static sock_status try_candidate(void *arg, size_t c, sk_trial **out)
{
    attempt t = *(const attempt *)arg;
    const sock_status status = sk_sweep_hand_over(try_one(&t, c), &t.s.trial, out);
    attempt_clear(&t);
    return status;
}

sock_status sk_inertial_diffusions(const sk_inertial *w, const sk_inertial_kicks *k, const sk_sweep *sweep, bool folds,
                                   sk_trial **trial, size_t *best)
{
    attempt t = {.w = w, .kicks = k, .sweep = sweep, .folds = folds};
    const sk_sweep_field field = {
        &w->list, false, w->rows.clusters, trial, "no diffusion could be fitted to these positions", try_candidate, &t};
    return sk_sweep_each(w->ctx, sweep, &field, best);
}
